/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the operators share that move elements without looking at them.
 *
 * In packs: slice, pad, concat, depthToSpace and spaceToDepth fill regions of
 * their output, and one kernel knows all ways to do so (shaders/move.comp).
 *
 * In linear memory: operators whose elements lie at strides in their input,
 * transpose, tile, slice, depthToSpace and spaceToDepth, have one kernel in
 * common (move_linear.comp); those that choose by element, pad, concat,
 * gather, gatherElements, triangular and the scatters, have one each. All see elements as
 * parts of at most four bytes (shaders/common/move.glsl).
 */
#ifndef TDL_MOVE_H
#define TDL_MOVE_H

#include "ir/builder.h"
#include "packs.h"
#include "rows.h"

/* ---------------------------------------------------------------- in packs */

/* Inputs of a concat's kernel, whose output is bound behind them. */
#define TDL_MAX_CONCAT 7

/* KIND of shaders/move.comp. */
enum tdl_move_kind { TDL_MOVE_WINDOW = 0, TDL_MOVE_DEPTH_TO_SPACE, TDL_MOVE_SPACE_TO_DEPTH };

/* A region of an output in packs, and where its elements are in the input;
 * lists are n, c, y, x. */
struct tdl_move {
    enum tdl_move_kind kind;
    enum tdl_pad_mode mode;
    struct tdl_dims region;
    uint32_t offset[4]; /* place of the region in the output */
    int32_t start[4], step[4];
    float value;
    uint32_t block;
    enum tdl_block_order order;
};
/* One dispatch that fills the region from an input in packs. */
void tdl_move_packed(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *input,
                     struct tdl_operand *output, const struct tdl_move *m);

/* --------------------------------------------------------- in linear memory */

/* How kernels see an element: 1, 2 or 4 bytes; 8 are two parts of 4. */
struct tdl_parts {
    uint32_t size; /* bytes */
    uint32_t count;
};
struct tdl_parts tdl_parts_of(enum tdl_dtype dtype);

/* The constants of shaders/common/move.glsl for the node's output. */
struct tdl_move_part tdl_move_parts(const struct tdl_node *n);
/* A step of a kernel with shaders/common/move.glsl that makes the node's output
 * of its inputs, at bindings from 0 on, and wants its constants yet. */
struct tdl_plan_step *tdl_move_step(struct tdl_plan *plan, const char *shader, struct tdl_node *n);
/* As above, with other inputs than the node's. */
struct tdl_plan_step *tdl_move_step_of(struct tdl_plan *plan, const char *shader,
                                       struct tdl_node *n, struct tdl_operand *const *inputs,
                                       uint32_t count);

/* out[o][j][i] = x[o][index j][i]: x is […, length, inner]. */
struct tdl_gather {
    enum tdl_dtype index_type;
    uint32_t length, indices, inner;
};
/* The step that makes the node's output of its first input so. */
void tdl_gather_step(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *indices,
                     const struct tdl_gather *gather);

/* out[c] = x[offset + Σ (c[i] mod period[i]) · stride[i]], in elements of x and
 * modulo 2³²: strides of dimensions that run backwards wrap. */
struct tdl_strided {
    uint32_t rank, offset;
    uint32_t size[TDL_MAX_RANK + 1], period[TDL_MAX_RANK + 1], stride[TDL_MAX_RANK + 1];
};
/* The steps that move the node's only input so; none where nothing moves. */
enum tdl_result tdl_move_linear(struct tdl_plan *plan, struct tdl_node *n,
                                const struct tdl_strided *strided);

/* ---------------------------------------------------------- for references */

/* The coordinates of element `i` in a row-major shape, and back. */
void tdl_move_coordinates(const struct tdl_tensor_params *p, size_t i, int64_t *at);
size_t tdl_move_index(const struct tdl_tensor_params *p, const int64_t *at);

#endif
