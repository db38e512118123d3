/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the operators share that move elements without computing: slice, pad,
 * concat, depthToSpace, spaceToDepth. */
#ifndef TDL_MOVE_H
#define TDL_MOVE_H

#include "../graph/builder.h"
#include "ops.h"
#include "packs.h"

/* KIND of shaders/move.comp. */
enum tdl_move_kind { TDL_MOVE_WINDOW = 0, TDL_MOVE_DEPTH_TO_SPACE, TDL_MOVE_SPACE_TO_DEPTH };

/* A region of an output in packs, and where its elements are in the input;
 * lists are n, c, y, x. */
struct tdl_move {
    enum tdl_move_kind kind;
    enum tdl_pad_mode mode;
    struct tdl_dims region;
    uint32_t offset[4]; /* of the region in the output */
    int32_t start[4], step[4];
    float value;
    uint32_t block;
    enum tdl_block_order order;
};
/* One dispatch that fills the region from an input in packs. */
void tdl_move_packed(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *input,
                     const struct tdl_move *move);

/* slice and pad on linear memory: element i of a dimension is start + i · step
 * of the input; `value` is the bits of what lies outside. */
void tdl_move_linear(struct tdl_plan *plan, struct tdl_node *n, enum tdl_pad_mode mode,
                     const int32_t *start, const int32_t *step, uint64_t value);
/* A step of a kernel that moves elements: its constants begin with their size
 * and their number in the output. */
struct tdl_plan_step *tdl_move_linear_step(struct tdl_plan *plan, const char *shader,
                                           struct tdl_node *n);

/* For references: the coordinates of element `i` in a row-major shape, and
 * back. */
void tdl_move_coordinates(const struct tdl_tensor_params *p, size_t i, int64_t *at);
size_t tdl_move_index(const struct tdl_tensor_params *p, const int64_t *at);

#endif
