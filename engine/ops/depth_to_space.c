/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX DepthToSpace and its inverse, one shape of work. */
#include "move.h"

#include <string.h>

static bool to_space(const struct tdl_node *n)
{
    return n->op == &tdl_op_depth_to_space;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    struct tdl_dims d = tdl_operand_dims(x);
    const uint64_t block = n->attr.blocks.size, square = block * block;
    bool fits = x->desc.rank == 4 && block && block <= UINT16_MAX;
    if (fits && to_space(n))
        fits = d.c % square == 0 && d.h * block <= INT32_MAX && d.w * block <= INT32_MAX;
    else if (fits)
        fits = d.h % block == 0 && d.w % block == 0 && d.c * square <= INT32_MAX;
    if (!fits)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: blocks of %ux%u px do not fit %s (rank 4)", n->op->name,
                        n->attr.blocks.size, n->attr.blocks.size, tdl_operand_text(x));
    uint32_t b = (uint32_t)block, s = (uint32_t)square;
    *out = tdl_desc_like(x, to_space(n)
                                ? (struct tdl_dims){d.n, d.h * b, d.w * b, d.c / s}
                                : (struct tdl_dims){d.n, d.h / b, d.w / b, d.c * s});
    return TDL_OK;
}

static size_t index_of(const struct tdl_operand *o, struct tdl_dims at)
{
    struct tdl_dims d = tdl_operand_dims(o);
    return o->desc.layout == TDL_LAYOUT_NCHW
               ? (((size_t)at.n * d.c + at.c) * d.h + at.h) * d.w + at.w
               : (((size_t)at.n * d.h + at.h) * d.w + at.w) * d.c + at.c;
}

/* Walks over the deep image: channel `k` of it is pixel (by, bx) of a block
 * and channel c of the wide one. */
static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_operand *deep = to_space(n) ? n->inputs[0] : n->output;
    const struct tdl_operand *wide = to_space(n) ? n->output : n->inputs[0];
    struct tdl_dims d = tdl_operand_dims(deep), at;
    uint32_t b = n->attr.blocks.size, channels = d.c / (b * b);
    bool depth_first = n->attr.blocks.order == TDL_BLOCK_DEPTH_FIRST;
    size_t bytes = tdl_dtype_size(deep->desc.dtype);
    for (at.n = 0; at.n < d.n; at.n++)
        for (at.h = 0; at.h < d.h; at.h++)
            for (at.w = 0; at.w < d.w; at.w++)
                for (uint32_t by = 0; by < b; by++)
                    for (uint32_t bx = 0; bx < b; bx++)
                        for (uint32_t c = 0; c < channels; c++) {
                            at.c = depth_first ? (by * b + bx) * channels + c
                                               : (c * b + by) * b + bx;
                            size_t i = index_of(deep, at) * bytes;
                            size_t j = index_of(wide, (struct tdl_dims){at.n, at.h * b + by,
                                                                        at.w * b + bx, c}) *
                                       bytes;
                            memcpy((char *)output + (to_space(n) ? j : i),
                                   (const char *)inputs[0] + (to_space(n) ? i : j), bytes);
                        }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims out = tdl_operand_dims(n->output);
    struct tdl_move m = {
        .kind = to_space(n) ? TDL_MOVE_DEPTH_TO_SPACE : TDL_MOVE_SPACE_TO_DEPTH,
        .mode = TDL_PAD_EDGE,
        .region = out,
        .block = n->attr.blocks.size,
        .order = n->attr.blocks.order,
    };
    if (n->storage == TDL_STORAGE_PACKED) {
        tdl_move_packed(plan, n, n->inputs[0], &m);
        return plan->status;
    }
    struct tdl_plan_step *s = tdl_move_linear_step(plan, "blocks_linear", n);
    const uint32_t values[] = {to_space(n), m.order, n->output->desc.layout == TDL_LAYOUT_NCHW,
                               m.block,     out.c,   out.h,
                               out.w};
    tdl_plan_specs(s, values, TDL_COUNT(values));
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    return plan->status;
}

#define BLOCKS(NAME)                                                                               \
    {                                                                                              \
        .name = NAME, .infer = infer, .lower = lower, .storage = TDL_STORAGE_EITHER,               \
        .reference_linear = reference                                                              \
    }
const struct tdl_op tdl_op_depth_to_space = BLOCKS("depthToSpace");
const struct tdl_op tdl_op_space_to_depth = BLOCKS("spaceToDepth");

static struct tdl_operand *add_blocks(struct tdl_builder *b, const struct tdl_op *op,
                                      struct tdl_operand *input, uint32_t block_size,
                                      enum tdl_block_order order)
{
    const union tdl_attr attr = {.blocks = {block_size, order}};
    if (!tdl_builder_known(b, op, "order", order, TDL_BLOCK_COLUMN_FIRST))
        return NULL;
    return tdl_builder_add_node(b, op, &attr, &input, 1, 1);
}

struct tdl_operand *tdl_builder_depth_to_space(struct tdl_builder *b, struct tdl_operand *input,
                                               uint32_t block_size, enum tdl_block_order order)
{
    return add_blocks(b, &tdl_op_depth_to_space, input, block_size, order);
}

struct tdl_operand *tdl_builder_space_to_depth(struct tdl_builder *b, struct tdl_operand *input,
                                               uint32_t block_size, enum tdl_block_order order)
{
    return add_blocks(b, &tdl_op_space_to_depth, input, block_size, order);
}
