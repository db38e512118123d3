/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that move elements without looking at them. */
#ifndef TDL_REARRANGE_H
#define TDL_REARRANGE_H

#include "rows.h"

/* How kernels see elements: 1, 2 or 4 bytes; those of 8 are two of 4. */
struct tdl_moved {
    uint32_t size;  /* bytes */
    uint32_t parts; /* of an element of the tensor */
};

static inline struct tdl_moved tdl_moved_of(enum tdl_dtype dtype)
{
    uint32_t size = (uint32_t)tdl_dtype_size(dtype);
    return size == 8 ? (struct tdl_moved){4, 2} : (struct tdl_moved){size, 1};
}

/* A step of a kernel with shaders/common/moving.glsl that writes the node's
 * output; more constants and inputs may follow. */
struct tdl_plan_step *tdl_plan_add_move(struct tdl_plan *plan, const char *shader,
                                        struct tdl_node *n, struct tdl_moved moved);

/* out[c] = x[Σ (c[i] mod period[i]) · stride[i]], strides in elements of x. */
struct tdl_rearrangement {
    uint32_t rank;
    uint32_t size[TDL_MAX_RANK + 1], period[TDL_MAX_RANK + 1], stride[TDL_MAX_RANK + 1];
};
enum tdl_result tdl_rearrange_lower(struct tdl_plan *plan, struct tdl_node *n,
                                    const struct tdl_rearrangement *r);

#endif
