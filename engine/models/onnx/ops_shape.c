/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators whose results are known when a model is loaded: shapes, lists of
 * numbers, constants; and the choice among graphs by one of them. */
#include "onnx.h"

#include <math.h>
#include <string.h>

#define MAX_LIST 65536 /* numbers that Range may give */

static bool give_ints(struct onnx_import *im, const int64_t *list, uint32_t count)
{
    const struct tdl_tensor_params none = {.dtype = TDL_INT64, .rank = 1};

    if (count == 0)
        return onnx_give_empty(im, 0, &none);
    return onnx_give(im, onnx_constant(im, TDL_INT64, 1, &count, list));
}

/* The dimensions from `start` to `end`, which may count from the last. */
static bool add_shape(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    int64_t list[TDL_MAX_RANK], start, end;
    uint32_t count = 0;

    if (!onnx_desc(im, 0, &desc))
        return false;
    start = onnx_int(im, "start", 0);
    end = onnx_int(im, "end", desc.rank);
    start += start < 0 ? desc.rank : 0;
    end += end < 0 ? desc.rank : 0;
    start = start < 0 ? 0 : start;
    end = end > desc.rank ? desc.rank : end;
    for (int64_t d = start; d < end; d++)
        if (onnx_count(im, 0, (uint32_t)d))
            return onnx_give_shape(im, (uint32_t)start, (uint32_t)end, false);
    for (int64_t i = start; i < end; i++)
        list[count++] = desc.shape[i];
    return give_ints(im, list, count);
}

static bool add_size(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    int64_t count = 1;

    if (!onnx_desc(im, 0, &desc))
        return false;
    if (onnx_counts(im, 0))
        return onnx_give_shape(im, 0, desc.rank, true);
    for (uint32_t i = 0; i < desc.rank; i++)
        count *= desc.shape[i];
    return onnx_give(im, onnx_constant(im, TDL_INT64, 0, NULL, &count));
}

/* A shape from a list of sizes, of which some may be 0. */
static bool read_sizes(struct onnx_import *im, uint32_t i, struct tdl_tensor_params *out,
                       bool *out_empty)
{
    int64_t sizes[TDL_MAX_RANK];

    *out_empty = false;
    if (!onnx_ints(im, i, sizes, TDL_MAX_RANK, &out->rank))
        return false;
    for (uint32_t d = 0; d < out->rank; d++) {
        if (sizes[d] < 0 || sizes[d] > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a dimension of %lld elements", (long long)sizes[d]);
        out->shape[d] = (uint32_t)sizes[d];
        *out_empty |= sizes[d] == 0;
    }
    return true;
}

/* One element, 0.0 by default, as often as the shape asks for: the device repeats it. */
static bool add_constant_of_shape(struct onnx_import *im)
{
    struct tdl_tensor_params desc = {0};
    struct onnx_tensor value = {.desc.dtype = TDL_FLOAT32};
    struct tdl_operand *one;
    bool empty;

    if (!read_sizes(im, 0, &desc, &empty) ||
        (onnx_has(im, "value") && !onnx_attribute_tensor(im, "value", &value)))
        return false;
    desc.dtype = value.desc.dtype;
    if (empty)
        return onnx_give_empty(im, 0, &desc);
    if (onnx_has(im, "value")) {
        if (value.count != 1)
            return tdl_kit_damaged(&im->kit,
                                   "the value has %llu elements instead of "
                                   "one",
                                   (unsigned long long)value.count);
        value.desc.rank = 0;
        one = onnx_tensor_operand(im, &value);
    } else {
        one = tdl_kit_number(&im->kit, TDL_FLOAT32, 0);
    }
    if (one && desc.rank)
        one = tdl_builder_expand(im->builder, one, desc.rank, desc.shape);
    return onnx_give(im, one);
}

/* start, start + delta, … before limit. */
static bool add_range(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    double bounds[3], count;
    uint32_t ones[3], length;

    if (!onnx_desc(im, 0, &desc))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!onnx_floats(im, i, &bounds[i], 1, &ones[i]) || ones[i] != 1)
            return tdl_kit_damaged(&im->kit, "a bound is not one number");
    count = ceil((bounds[1] - bounds[0]) / bounds[2]);
    if (isnan(count) || count > MAX_LIST)
        return tdl_kit_lacks(&im->kit, "a list of %g numbers; libtdl makes up to %d", count,
                             MAX_LIST);
    length = count > 0 ? (uint32_t)count : 0;
    desc.rank = 1;
    desc.shape[0] = length;
    if (length == 0)
        return onnx_give_empty(im, 0, &desc);
    return onnx_give(im, onnx_sequence(im, desc.dtype, length, bounds[0], bounds[2]));
}

/* ----------------------------------------------------------------- constants */

static bool add_constant(struct onnx_import *im)
{
    struct onnx_tensor t;
    int64_t ints[1024];
    float reals[1024], real;
    uint32_t count;

    if (onnx_has(im, "value")) {
        if (!onnx_attribute_tensor(im, "value", &t))
            return false;
        t.movable = !im->call; /* which may be repeated */
        return t.count ? onnx_give(im, onnx_tensor_operand(im, &t))
                       : onnx_give_empty(im, 0, &t.desc);
    }
    if (onnx_has(im, "value_int")) {
        ints[0] = onnx_int(im, "value_int", 0);
        return onnx_give(im, onnx_constant(im, TDL_INT64, 0, NULL, ints));
    }
    if (onnx_has(im, "value_float")) {
        real = onnx_float(im, "value_float", 0);
        return onnx_give(im, onnx_constant(im, TDL_FLOAT32, 0, NULL, &real));
    }
    if (onnx_has(im, "value_ints"))
        return onnx_int_list(im, "value_ints", ints, 1024, &count) && give_ints(im, ints, count);
    if (onnx_has(im, "value_floats")) {
        const struct tdl_tensor_params none = {.dtype = TDL_FLOAT32, .rank = 1};

        if (!onnx_float_list(im, "value_floats", reals, 1024, &count))
            return false;
        return count ? onnx_give(im, onnx_constant(im, TDL_FLOAT32, 1, &count, reals))
                     : onnx_give_empty(im, 0, &none);
    }
    return tdl_kit_lacks(&im->kit, "a constant that is neither a tensor nor a number");
}

static bool add_eye_like(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    const int64_t k = onnx_int(im, "k", 0), type = onnx_int(im, "dtype", 0);
    struct tdl_operand *ones;

    if (!onnx_desc(im, 0, &desc) || (type && !onnx_dtype(im, type, &desc.dtype)))
        return false;
    if (desc.rank != 2)
        return tdl_kit_damaged(&im->kit, "a matrix of %u dimensions", desc.rank);
    /* Elements both on and above the diagonal, and on and below. */
    ones = tdl_builder_expand(im->builder, tdl_kit_number(&im->kit, desc.dtype, 1), 2, desc.shape);
    for (uint32_t i = 0; i < 2; i++)
        ones = tdl_builder_triangular(
            im->builder, ones, &(struct tdl_triangular_params){.lower = i, .diagonal = (int32_t)k});
    return onnx_give(im, ones);
}

/* --------------------------------------------------------------------- choices */

/* Names that the chosen graph gives become the node's. */
static bool give_outputs(struct onnx_import *im, const struct tdl_pb *graph)
{
    struct tdl_pb g = *graph;
    struct tdl_pb_field f, h;
    uint32_t i = 0;

    while (tdl_pb_next(&g, &f)) {
        struct tdl_pb name = {0};
        struct onnx_value *v;

        if (f.number != ONNX_GRAPH_OUTPUT)
            continue;
        while (tdl_pb_next(&f.in, &h))
            if (h.number == ONNX_VALUE_NAME)
                name = h.in;
        v = onnx_find(im, &name);
        if (!v || !onnx_settle(im, v))
            return tdl_kit_damaged(&im->kit, "no node of the branch writes output %u", i);
        if (v->list) {
            if (onnx_wanted(im, i) &&
                !onnx_add_alias(im, &im->node.outputs[i], (uint64_t)(v - im->values)))
                return false;
            i++;
            continue;
        }
        const struct onnx_value from = *v; /* which moves */
        if (!onnx_refuse_wide(im, v) ||
            !(v->operand ? onnx_give_at(im, i, v->operand) : onnx_give_empty(im, i, &v->empty)))
            return false;
        v = onnx_wanted(im, i) ? onnx_find(im, &im->node.outputs[i]) : NULL;
        if (v) {
            v->counts = from.counts;
            memcpy(v->range, from.range, sizeof(v->range));
        }
        i++;
    }
    return true;
}

/* Adds the one of two graphs that the condition chooses, or both where it is not known. */
static bool add_if(struct onnx_import *im)
{
    int64_t condition;
    uint32_t count;
    struct tdl_pb attribute, graph = {0};
    struct tdl_pb_field f;

    if (onnx_given(im, 0) && onnx_find(im, &im->node.inputs[0]) && !onnx_is_constant(im, 0))
        return onnx_add_either(im);
    if (!onnx_ints(im, 0, &condition, 1, &count))
        return false;
    if (count != 1 || !onnx_attribute(im, condition ? "then_branch" : "else_branch", &attribute))
        return tdl_kit_damaged(&im->kit, "it has no condition, or no such branch");
    while (tdl_pb_next(&attribute, &f))
        if (f.number == ONNX_ATTRIBUTE_GRAPH)
            graph = f.in;
    return onnx_add_graph(im, &graph) && give_outputs(im, &graph);
}

const struct onnx_row onnx_rows_shape[] = {
    {"Constant", 0, 0, add_constant},
    {"ConstantOfShape", 1, 1, add_constant_of_shape},
    {"EyeLike", 1, 1, add_eye_like},
    {"If", 1, 1, add_if},
    {"Loop", 2, TDL_KIT_MANY, onnx_add_loop},
    {"Range", 3, 3, add_range},
    {"Shape", 1, 1, add_shape},
    {"Size", 1, 1, add_size},
    {0},
};
