# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the engine shares with others, and the element in tiles, where the kernel
# has dma-bufs and the driver exports memory and sync files: here no part may be
# left out.
. "$(dirname "$0")/lib.sh"

export VK_LAYER_SETTINGS_PATH=/src/tests/engine
# whole PROGRAM PATTERN: it passes, and leaves out nothing that PATTERN names.
whole() {
    local told=/tmp/whole.txt
    "$1" 2>&1 | tee "$told"
    [ "${PIPESTATUS[0]}" = 0 ] && ! grep -qE "^not run: .*($2)" "$told"
}
export -f whole
check_whole() { # WHAT PROGRAM PATTERN [FOLDER]
    # shellcheck disable=SC2016 # expanded by the inner shell
    check "$1" bash -c 'whole "$@"' - "$build/tests/${4:-engine}/test-$2" "$3"
    grep -hE "^(not run|dma-buf|opaque|planes|our planes)" "$(log_of "$1")" | sed 's/^/| /'
}

check_whole "memory by fd" external "opaque|dma-buf"
check_whole "devices, semaphores, sync files" vulkan "sync|fences"
check_whole "images" image "nothing"
check_whole "modifiers" modifiers "dma-bufs"
check_whole "rent" rent "opaque|dma-buf"
# Without its fakes, which need no virtual machine.
export GST_CHECKS=pixels
check_whole "tiled pictures" tiled "tiled" element
