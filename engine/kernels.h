/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels that are built into the library, and what they may take. */
#ifndef TDL_KERNELS_H
#define TDL_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define TDL_MAX_BINDS 10 /* storage buffers a kernel may have */
#define TDL_MAX_PUSH 128 /* bytes of push constants, Vulkan's guaranteed least */
#define TDL_MAX_SPEC 40  /* specialization constants, all 32-bit, ids 0… */
#define TDL_MAX_CHAIN 19 /* those of common/activation.glsl, ids TDL_MAX_SPEC… */

/* SPIR-V built into the library; the table is generated (shaders/embed.py). */
struct tdl_shader {
    const char *name; /* "conv2d_f16": file stem (with its folder's "frame_") + variant */
    const uint32_t *code;
    size_t size; /* bytes */
};
extern const struct tdl_shader tdl_shaders[];
extern const size_t tdl_shader_count;

/* NULL where there is no kernel of this name in this build. */
const struct tdl_shader *tdl_shader_find(const char *name);

#endif
