/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How frames are bound to kernels, and what these are specialised by. */
#ifndef TDL_FRAME_BIND_H
#define TDL_FRAME_BIND_H

#include "core/frame.h"
#include "vulkan/batch.h"

/* Bind the planes to three bindings: Y, Cb, Cr, in whatever order they lie;
 * unused ones repeat plane 0. Fills the shaders' `source` or `target` push
 * constant. */
void tdl_frame_bind(const struct tdl_frame *frame, bool written,
                    struct tdl_bind binds[TDL_MAX_PLANES], uint32_t push[4]);

/* Words of the specialization constants of frame kernels, in the order of their ids. */
#define TDL_FRAME_SPEC_COUNT (sizeof(struct tdl_frame_spec) / sizeof(uint32_t))

static inline void tdl_frame_set_group(struct tdl_frame_spec *spec, uint32_t x, uint32_t y)
{
    spec->group[0] = x;
    spec->group[1] = y;
    spec->group[2] = 1;
}

/* A CPU's time goes into reads, which neighbours in one invocation share; a
 * GPU wants many invocations. */
bool tdl_frame_wants_few(const struct tdl_context *ctx);

#endif
