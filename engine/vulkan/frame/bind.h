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

/* The specialization constants of all frame kernels, in the order of their
 * ids; a kernel ignores what it does not declare. */
struct tdl_frame_spec {
    uint32_t group[3]; /* 0 to 2: workgroup size */
    uint32_t source, source_aligned, target;
    uint32_t rematrix;   /* tdl_color_rematrix() */
    uint32_t guided;     /* the mask is refined by luma */
    uint32_t mode;       /* the kernel's own */
    uint32_t rolling;    /* see shaders/common/frame_mask.glsl */
    uint32_t few;        /* few invocations that each do much */
    uint32_t despill;    /* see shaders/common/frame_spill.glsl */
    uint32_t light;      /* see shaders/common/frame_light.glsl */
    uint32_t foreground; /* see shaders/common/frame_foreground.glsl */
};
#define TDL_FRAME_SPEC_COUNT (sizeof(struct tdl_frame_spec) / sizeof(uint32_t))

/* A CPU's time goes into reads, which neighbours in one invocation share; a
 * GPU wants many invocations. */
bool tdl_frame_wants_few(const struct tdl_context *ctx);

#endif
