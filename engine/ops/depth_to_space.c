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
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: blocks of %ux%u px do not fit %s (rank 4)",
                        n->op->name, n->attr.blocks.size, n->attr.blocks.size, tdl_operand_text(x));
    uint32_t b = (uint32_t)block, s = (uint32_t)square;
    *out = tdl_desc_like(x, to_space(n) ? (struct tdl_dims){d.n, d.h * b, d.w * b, d.c / s}
                                        : (struct tdl_dims){d.n, d.h / b, d.w / b, d.c * s});
    return TDL_OK;
}

static struct tdl_dims strides_of(const struct tdl_operand *o)
{
    struct tdl_dims d = tdl_operand_dims(o);
    return o->layout == TDL_LAYOUT_NCHW
               ? (struct tdl_dims){.n = d.c * d.h * d.w, .c = d.h * d.w, .h = d.w, .w = 1}
               : (struct tdl_dims){.n = d.h * d.w * d.c, .h = d.w * d.c, .w = d.c, .c = 1};
}

static size_t index_of(const struct tdl_operand *o, struct tdl_dims at)
{
    struct tdl_dims s = strides_of(o);
    return (size_t)at.n * s.n + (size_t)at.c * s.c + (size_t)at.h * s.h + (size_t)at.w * s.w;
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
                            at.c =
                                depth_first ? (by * b + bx) * channels + c : (c * b + by) * b + bx;
                            size_t i = index_of(deep, at) * bytes;
                            size_t j = index_of(wide, (struct tdl_dims){at.n, at.h * b + by,
                                                                        at.w * b + bx, c}) *
                                       bytes;
                            memcpy((char *)output + (to_space(n) ? j : i),
                                   (const char *)inputs[0] + (to_space(n) ? i : j), bytes);
                        }
}

/* Rows and columns of the wide image are those of blocks and those in a block:
 * six dimensions, in which both images are strided. */
static enum tdl_result lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_operand *deep = to_space(n) ? n->inputs[0] : n->output;
    const struct tdl_operand *wide = to_space(n) ? n->output : n->inputs[0];
    const struct tdl_dims d = tdl_operand_dims(deep), in_deep = strides_of(deep);
    const struct tdl_dims in_wide = strides_of(wide);
    const uint32_t b = n->attr.blocks.size, channels = d.c / (b * b);
    const bool depth_first = n->attr.blocks.order == TDL_BLOCK_DEPTH_FIRST;
    const struct {
        uint32_t size, deep, wide;
    } parts[] = {
        {d.n, in_deep.n, in_wide.n},
        {d.h, in_deep.h, in_wide.h * b},
        {d.w, in_deep.w, in_wide.w * b},
        {b, in_deep.c * (depth_first ? b * channels : b), in_wide.h},
        {b, in_deep.c * (depth_first ? channels : 1), in_wide.w},
        {channels, in_deep.c * (depth_first ? 1 : b * b), in_wide.c},
    };
    struct tdl_strided r = {.rank = TDL_COUNT(parts)};
    for (uint32_t i = 0; i < TDL_COUNT(parts); i++) {
        /* The output is row-major: what has longer strides there comes first. */
        uint32_t at = 0;
        for (uint32_t j = 0; j < TDL_COUNT(parts); j++) {
            uint32_t mine = to_space(n) ? parts[i].wide : parts[i].deep;
            uint32_t other = to_space(n) ? parts[j].wide : parts[j].deep;
            at += other > mine || (other == mine && j < i);
        }
        r.size[at] = r.period[at] = parts[i].size;
        r.stride[at] = to_space(n) ? parts[i].deep : parts[i].wide;
    }
    return tdl_move_linear(plan, n, &r);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    if (n->storage == TDL_STORAGE_LINEAR)
        return lower_linear(plan, n);
    const struct tdl_move m = {
        .kind = to_space(n) ? TDL_MOVE_DEPTH_TO_SPACE : TDL_MOVE_SPACE_TO_DEPTH,
        .mode = TDL_PAD_EDGE,
        .region = tdl_operand_dims(n->output),
        .block = n->attr.blocks.size,
        .order = n->attr.blocks.order,
    };
    tdl_move_packed(plan, n, n->inputs[0], n->output, &m);
    return plan->status;
}

#define BLOCKS(NAME)                                                                               \
    {                                                                                              \
        .name = NAME, .infer = infer, .resize = tdl_resize_freely, .stack = tdl_stack_first,       \
        .lower = lower, .storage = TDL_STORAGE_EITHER, .reference_linear = reference,              \
        .renumber = tdl_renumber_freely                                                            \
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
    return tdl_builder_add_told(b, op, tdl_builder_layout(b, op, TDL_LAYOUT_DEFAULT), &attr, &input,
                                1, 1);
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
