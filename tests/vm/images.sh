#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Inside the trixie root, entered by tests/debian.sh when tests/vm/run.sh has
# made and built it: the tests of Vulkan images, which Debian 12 has to skip.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GST_PLUGIN_PATH=$PWD/build-vm/gst GST_REGISTRY=$PWD/build-vm/registry.bin
export XDG_CACHE_HOME=$PWD/build-vm/cache
# The pictures are small: better than quick kernels are those that are there quickly.
export GALLIVM_PERF=nopt TDL_DEVICE=vulkan
TDL_TEST_MODEL=/vm/tiny.tflite bash tests/pipelines/vulkan-images.sh
ninja -C build-vm tests/pipelines/leave-early
build-vm/tests/pipelines/leave-early
