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
exec "$@"
