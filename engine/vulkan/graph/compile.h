/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiling: many kernels by several threads, told to whoever waits for them.
 */
#ifndef TDL_COMPILE_H
#define TDL_COMPILE_H

#include "vulkan/pipeline.h"

/* A kernel that somebody needs. The constants belong to the caller. */
struct tdl_kernel {
    const char *shader;
    const uint32_t *spec, *chain;
    uint32_t spec_count, chain_count;
};

/* For each kernel the first one that is like it: itself, or an earlier one; and
 * how many differ. To be freed by the caller; NULL when out of memory. */
uint32_t *tdl_kernels_match(const struct tdl_kernel *kernels, uint32_t count,
                            uint32_t *out_distinct);

/* From when on, in ms, a kernel counts as not in the cache; 0 for tests: always. */
extern uint32_t tdl_compile_cold_ms;

/* Have all these kernels compiled, so that none is when it is first dispatched;
 * equal ones once. pipelines[i] is that of kernels[i], held by the caller: NULL, or
 * what an earlier call has put there; after a failure some are there. `scratch` is bound
 * where a kernel would read or write; nothing does. params may be NULL.
 * Blocking. TDL_ERROR_CANCELED if the progress function says so. */
enum tdl_result tdl_compile_kernels(struct tdl_context *ctx, const struct tdl_kernel *kernels,
                                    uint32_t count, struct tdl_buffer *scratch,
                                    const struct tdl_compile_params *params,
                                    const struct tdl_pipeline **pipelines);

#endif
