# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the engine shares with others, where the kernel has dma-bufs and the
# driver exports memory and sync files: here no part may be left out.
. "$(dirname "$0")/lib.sh"

export VK_LAYER_SETTINGS_PATH=/src/tests/engine
whole() { # whole PROGRAM PATTERN: it passes, and ran what PATTERN names
    local text
    text=$("$build/tests/engine/test-$1" 2>&1) || { printf '%s\n' "$text"; return 1; }
    printf '%s\n' "$text"
    ! grep -E "^not run: .*($2)" <<<"$text"
}

check "memory by fd" whole external "opaque|dma-buf"
check "devices, semaphores, sync files" whole vulkan "sync|fences"
check "images" whole image "planes of dma-bufs"
check "rent" whole rent "opaque|dma-buf"
for log in "$logs"/*.log; do
    grep -hE "^(not run|dma-buf|opaque|planes)" "$log" | sed 's/^/| /'
done
