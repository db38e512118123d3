#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run a test of the build with sanitizers. What leaks in third-party libraries
# is named in tests/lsan.supp, and nowhere else.
#
#   tests/lib/sanitized.sh BUILD COMMAND [ARGUMENT...]
set -u
build=$1
shift
tests=$(cd "$(dirname "$0")/.." && pwd)
# Frames that catch uses after a return lie at 32 bytes, where GCC 14 stores vectors of 64 as if
# they lay at 64 (GCC bug 110027).
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0:halt_on_error=1
ASAN_OPTIONS=$ASAN_OPTIONS:allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$tests/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# One process for all cases of a GstCheck suite: in a fork, what the parent
# holds would look leaked. GLib's slices would hide leaks.
export CK_FORK=no G_SLICE=always-malloc G_DEBUG=gc-friendly
# A script is not under test, what it starts is: that has its sanitizers linked
# in, while the shell, Python and the compiler may leak as they please.
[[ "$(head -c 2 "$1")" != '#!' && ${1##*/} != python3* ]] || exec "$@"
exec env LD_PRELOAD="$(gcc -print-file-name=libasan.so):$build/tests/lib/libkeep-loaded.so" "$@"
