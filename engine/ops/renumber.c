/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options that name axes, when these get other numbers. */
#include "ops.h"

void tdl_renumber_list(uint32_t list[4], const uint32_t place[4])
{
    uint32_t old[4];
    memcpy(old, list, sizeof(old));
    for (uint32_t i = 0; i < 4; i++)
        list[place[i]] = old[i];
}

uint32_t tdl_renumber_axes(uint32_t axes, const uint32_t place[4])
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++)
        result |= (axes >> i & 1) << place[i];
    return result;
}

bool tdl_renumber_keeps_order(uint32_t axes, const uint32_t place[4])
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (!(axes >> i & 1))
            continue;
        if (place[i] < next)
            return false;
        next = place[i] + 1;
    }
    return true;
}

bool tdl_renumber_freely(struct tdl_node *node, const uint32_t place[4])
{
    (void)node, (void)place;
    return true;
}
