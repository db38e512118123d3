# SPDX-License-Identifier: LGPL-2.1-or-later
# What these tests begin with: a folder that goes when they end, and one line a check.
# Sourced. shellcheck shell=bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        echo "ok       $what"
    else
        echo "FAILED   $what"
        failed=1
    fi
}
