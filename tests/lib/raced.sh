#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run a test of the build with ThreadSanitizer. What races in libraries that
# are not built with it is named in tests/tsan.supp, and nowhere else.
#
#   tests/lib/raced.sh COMMAND [ARGUMENT...]
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
export TSAN_OPTIONS=suppressions=$tests/tsan.supp:history_size=4:exitcode=66
# A layer that goes with its last instance would take what is named there along.
export LD_PRELOAD=$(cd "$(dirname "$1")/../lib" && pwd)/libkeep-loaded.so
exec "$@"
