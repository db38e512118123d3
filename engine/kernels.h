/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels that are built into the library, and what they may take. */
#ifndef TDL_KERNELS_H
#define TDL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TDL_MAX_BINDS 8  /* storage buffers a kernel may have, as few as Raspberry Pis allow */
#define TDL_MAX_PUSH 128 /* bytes of push constants, Vulkan's guaranteed least */
/* Structs of kernels' constants, and how many there are: TDL_MAX_SPEC specialization constants
 * of 32 bits, ids 0…, and TDL_MAX_CHAIN of common/activation.glsl behind them. */
#include <kernel-specs.h>

/* SPIR-V built into the library; the table is generated (shaders/embed.py). */
struct tdl_shader {
    const char *name; /* "conv2d_f16": file stem (with its folder's "frame_") + variant */
    const uint32_t *code;
    size_t size; /* bytes */
    /* Facts from the SPIR-V. */
    bool chain;     /* the kernel applies a chain of functions: common/activation.glsl */
    bool matrices;  /* the kernel multiplies cooperative matrices, and wants full subgroups */
    uint32_t binds; /* a bit for each binding that it declares */
};
extern const struct tdl_shader tdl_shaders[];
extern const size_t tdl_shader_count;

/* NULL where there is no kernel of this name in this build. */
const struct tdl_shader *tdl_shader_find(const char *name);
/* A kernel's variant, "conv2d" with "_f32" say. With `chain` that one of them which
 * applies a chain, if there are two. NULL as above. */
const struct tdl_shader *tdl_shader_variant(const char *stem, const char *variant, bool chain);
/* Did this build's compiler know cooperative matrices? */
bool tdl_shaders_have_matrices(void);
/* And those that a whole workgroup holds? */
bool tdl_shaders_have_tensors(void);

#endif
