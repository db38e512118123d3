/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slices, joins and other moves of elements. */
#include "onnx-net.h"

#include <stdlib.h>
#include <string.h>

/* One axis of a Slice: ONNX's bounds, which may be negative and far outside. */
static bool slice_axis(struct tdl_slice_params *p, uint32_t axis, int64_t length, int64_t start,
                       int64_t end, int64_t step)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
    start += start < 0 ? length : 0;
    end += end < 0 && end >= -length ? length : 0;
    start = start < 0 ? 0 : start > high ? high : start;
    end = end < low ? low : end > length ? length : end;
    int64_t size = step < 0 ? start - end : end - start;
    p->start[axis] = (uint32_t)start;
    p->size[axis] = (uint32_t)size;
    p->step[axis] = (int32_t)step;
    return size > 0;
}

static struct tdl_operand *add_slice(struct onnx_net *net)
{
    const Onnx__TensorProto *start = onnx_tensor(net, 1), *end = onnx_tensor(net, 2);
    const Onnx__TensorProto *axes = onnx_given(net, 3) ? onnx_tensor(net, 3) : NULL;
    const Onnx__TensorProto *steps = onnx_given(net, 4) ? onnx_tensor(net, 4) : NULL;
    struct tdl_operand *x = onnx_operand(net, 0);
    struct tdl_slice_params p = {0};
    if (*net->missing || !start || !end || !x)
        return onnx_lacks(net, "Slice by computed bounds");
    for (size_t i = 0; i < onnx_tensor_count(start); i++) {
        uint32_t axis = axes ? onnx_axis(onnx_tensor_int(axes, i), onnx_rank(x)) : (uint32_t)i;
        if (!slice_axis(&p, axis, tdl_operand_get_desc(x)->shape[axis], onnx_tensor_int(start, i),
                        onnx_tensor_int(end, i), steps ? onnx_tensor_int(steps, i) : 1))
            return onnx_lacks(net, "Slice without elements");
    }
    return tdl_builder_slice(net->builder, x, &p);
}

static struct tdl_operand *add_split(struct onnx_net *net)
{
    const Onnx__TensorProto *list = onnx_given(net, 1) ? onnx_tensor(net, 1) : NULL;
    const uint32_t count = (uint32_t)net->node->n_output;
    struct tdl_operand *x = onnx_operand(net, 0);
    uint32_t sizes[ONNX_MAX_TENSORS];
    for (uint32_t i = 0; i < count && list; i++)
        if (!(sizes[i] = (uint32_t)onnx_tensor_int(list, i)))
            return onnx_lacks(net, "Split into parts without elements");
    if (count > ONNX_MAX_TENSORS)
        return onnx_lacks(net, "Split into %u", count);
    tdl_builder_split(net->builder, x, count, list ? sizes : NULL,
                      onnx_axis(onnx_attribute_int(net, "axis", 0), onnx_rank(x)), net->more);
    return net->more[0];
}

static struct tdl_operand *add_concat(struct onnx_net *net)
{
    struct tdl_operand *inputs[ONNX_MAX_TENSORS];
    uint32_t count = 0;
    for (size_t i = 0; i < net->node->n_input && i < ONNX_MAX_TENSORS; i++)
        inputs[count++] = onnx_operand(net, i);
    return tdl_builder_concat(net->builder, inputs, count,
                              onnx_axis(onnx_attribute_int(net, "axis", 0), onnx_rank(inputs[0])));
}

static struct tdl_operand *add_pad(struct onnx_net *net)
{
    const Onnx__TensorProto *pads = onnx_tensor(net, 1);
    const Onnx__TensorProto *value = onnx_given(net, 2) ? onnx_tensor(net, 2) : NULL;
    struct tdl_operand *x = onnx_operand(net, 0);
    struct tdl_pad_params p = {.mode = TDL_PAD_CONSTANT};
    size_t size;
    if (*net->missing || !pads || !x)
        return NULL;
    if (onnx_attribute_is(net, "mode", "edge"))
        p.mode = TDL_PAD_EDGE;
    else if (onnx_attribute_is(net, "mode", "reflect"))
        p.mode = TDL_PAD_REFLECTION;
    for (uint32_t i = 0; i < onnx_rank(x); i++) {
        p.before[i] = (uint32_t)onnx_tensor_int(pads, i);
        p.after[i] = (uint32_t)onnx_tensor_int(pads, onnx_rank(x) + i);
    }
    if (value && tdl_operand_get_desc(x)->dtype == TDL_FLOAT32) {
        float *number = onnx_tensor_data(value, &size);
        p.value = (double)*number;
        free(number);
    } else if (value) {
        p.value = (double)onnx_tensor_int(value, 0);
    }
    return tdl_builder_pad(net->builder, x, &p);
}

static struct tdl_operand *add_blocks(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    const uint32_t block = (uint32_t)onnx_attribute_int(net, "blocksize", 1);
    if (!strcmp(net->node->op_type, "SpaceToDepth"))
        return tdl_builder_space_to_depth(net->builder, x, block, TDL_BLOCK_DEPTH_FIRST);
    return tdl_builder_depth_to_space(net->builder, x, block,
                                      onnx_attribute_is(net, "mode", "CRD")
                                          ? TDL_BLOCK_COLUMN_FIRST
                                          : TDL_BLOCK_DEPTH_FIRST);
}

/* A list of sizes with ONNX's 0 (the input's) and −1 (the rest). */
static struct tdl_operand *add_reshape(struct onnx_net *net)
{
    const Onnx__TensorProto *list = onnx_tensor(net, 1);
    struct tdl_operand *x = onnx_operand(net, 0);
    uint32_t shape[TDL_MAX_RANK], rest = TDL_MAX_RANK;
    size_t rank = list ? onnx_tensor_count(list) : 0, count = 1, known = 1;
    if (!x || !list || rank > TDL_MAX_RANK || onnx_attribute_int(net, "allowzero", 0))
        return onnx_lacks(net,
                          "Reshape by a computed shape, to no element, or too many dimensions");
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    for (uint32_t i = 0; i < p->rank; i++)
        count *= p->shape[i];
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = onnx_tensor_int(list, i);
        shape[i] = size > 0 ? (uint32_t)size : size == 0 && i < p->rank ? p->shape[i] : 1;
        if (size < 0)
            rest = i;
        known *= shape[i];
    }
    if (rest < rank)
        shape[rest] = (uint32_t)(count / known);
    return tdl_builder_reshape(net->builder, x, (uint32_t)rank, shape);
}

static struct tdl_operand *add_flatten(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    return tdl_builder_flatten(net->builder, x,
                               onnx_axis(onnx_attribute_int(net, "axis", 1), onnx_rank(x)));
}

/* Squeeze: drop the dimensions of 1 that are listed, or all. */
static struct tdl_operand *add_squeeze(struct onnx_net *net)
{
    const Onnx__TensorProto *axes = onnx_given(net, 1) ? onnx_tensor(net, 1) : NULL;
    struct tdl_operand *x = onnx_operand(net, 0);
    uint32_t shape[TDL_MAX_RANK], rank = 0, dropped = 0;
    if (*net->missing || !x)
        return NULL;
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    for (size_t i = 0; axes && i < onnx_tensor_count(axes); i++)
        dropped |= 1u << onnx_axis(onnx_tensor_int(axes, i), p->rank);
    for (uint32_t i = 0; i < p->rank; i++)
        if (axes ? !(dropped >> i & 1) : p->shape[i] != 1)
            shape[rank++] = p->shape[i];
    return tdl_builder_reshape(net->builder, x, rank, shape);
}

static struct tdl_operand *add_unsqueeze(struct onnx_net *net)
{
    const Onnx__TensorProto *axes = onnx_tensor(net, 1);
    struct tdl_operand *x = onnx_operand(net, 0);
    uint32_t shape[TDL_MAX_RANK], added = 0, from = 0;
    size_t rank = axes ? onnx_rank(x) + onnx_tensor_count(axes) : 0;
    if (!axes || !x || rank > TDL_MAX_RANK)
        return onnx_lacks(net, "Unsqueeze by computed axes, or to too many dimensions");
    for (size_t i = 0; i < onnx_tensor_count(axes); i++)
        added |= 1u << onnx_axis(onnx_tensor_int(axes, i), (uint32_t)rank);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = added >> i & 1 ? 1 : tdl_operand_get_desc(x)->shape[from++];
    return tdl_builder_reshape(net->builder, x, (uint32_t)rank, shape);
}

/* ONNX's expand goes both ways: a dimension of the shape may be 1, too. */
static struct tdl_operand *add_expand(struct onnx_net *net)
{
    const Onnx__TensorProto *list = onnx_tensor(net, 1);
    struct tdl_operand *x = onnx_operand(net, 0);
    size_t rank = list ? onnx_tensor_count(list) : 0;
    uint32_t shape[TDL_MAX_RANK];
    if (!list || !x || rank > TDL_MAX_RANK || rank < onnx_rank(x))
        return onnx_lacks(net, "Expand by a computed shape, or of such ranks");
    for (uint32_t i = 0; i < rank; i++) {
        size_t at = i + onnx_rank(x) - rank;
        uint32_t own = i + onnx_rank(x) >= rank ? tdl_operand_get_desc(x)->shape[at] : 1;
        shape[i] = (uint32_t)onnx_tensor_int(list, i);
        shape[i] = shape[i] == 1 ? own : shape[i];
    }
    return tdl_builder_expand(net->builder, x, (uint32_t)rank, shape);
}

const struct onnx_operator onnx_operators_moving[] = {
    {"Concat", add_concat},
    {"DepthToSpace", add_blocks},
    {"Expand", add_expand},
    {"Flatten", add_flatten},
    {"Pad", add_pad},
    {"Reshape", add_reshape},
    {"Slice", add_slice},
    {"SpaceToDepth", add_blocks},
    {"Split", add_split},
    {"Squeeze", add_squeeze},
    {"Unsqueeze", add_unsqueeze},
    {0},
};
