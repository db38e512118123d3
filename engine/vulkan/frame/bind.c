/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bind.h"

void tdl_frame_bind(const struct tdl_frame *frame, bool written,
                    struct tdl_bind binds[TDL_MAX_PLANES], uint32_t push[4])
{
    const struct tdl_format_info *info = tdl_format_info(frame->format);
    const uint32_t planes = info->planes;
    const bool swap = planes == 3 && tdl_format_has(info, TDL_TRAIT_CR_FIRST);
    push[0] = 0;
    for (uint32_t p = 0; p < TDL_MAX_PLANES; p++) {
        uint32_t used = p >= planes ? 0 : swap && p ? 3 - p : p;
        const struct tdl_plane *plane = &frame->planes[used];
        /* Descriptors begin at multiples of 256, the most that any device asks
         * for; the shader adds the rest. */
        uint64_t rest = plane->offset % 256;
        binds[p] = (struct tdl_bind){
            .buffer = plane->buffer,
            .offset = plane->offset - rest,
            .size = TDL_ALIGN(rest + tdl_frame_extent(frame, used), 4),
            .read = !written,
            .write = written,
        };
        push[0] |= (uint32_t)rest << (8 * p);
        push[p + 1] = plane->stride;
    }
}

bool tdl_frame_wants_few(const struct tdl_context *ctx)
{
    return tdl_heuristics_of(&ctx->info)->few_invocations;
}
