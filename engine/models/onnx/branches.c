/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * If by a condition that depends on numbers, as of there being no boxes: both graphs run, and
 * each output is chosen element by element. Where their sizes differ an output has the larger
 * one, and a count that is chosen, too.
 */
#include "onnx.h"

#include <string.h>

#define MOST_OUTPUTS 16

struct branch {
    struct onnx_value outputs[MOST_OUTPUTS];
    uint32_t count;
};

static bool read_outputs(struct onnx_import *im, const struct tdl_pb *graph, struct branch *out)
{
    struct tdl_pb g = *graph;
    struct tdl_pb_field f, h;

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
            return tdl_kit_damaged(&im->kit, "no node of the branch writes output %u", out->count);
        if (!onnx_refuse_wide(im, v))
            return false;
        if (out->count == MOST_OUTPUTS)
            return tdl_kit_lacks(&im->kit, "a branch of more than %d outputs", MOST_OUTPUTS);
        out->outputs[out->count++] = *v;
    }
    return true;
}

/* The names in a branch are its own. */
static bool add_branch(struct onnx_import *im, const char *name, struct branch *out)
{
    struct tdl_pb attribute, graph = {0};
    struct tdl_map outside = im->names;
    struct tdl_pb_field f;
    bool ok;

    if (!onnx_attribute(im, name, &attribute))
        return tdl_kit_damaged(&im->kit, "it has no %s", name);
    while (tdl_pb_next(&attribute, &f))
        if (f.number == ONNX_ATTRIBUTE_GRAPH)
            graph = f.in;
    /* A file of many branches would copy many names. */
    if (!tdl_kit_spend(&im->kit, outside.capacity * sizeof(*outside.entries)))
        return false;
    if (!tdl_map_copy(&outside, &im->names)) {
        im->names = outside;
        return tdl_kit_fail_memory(&im->kit);
    }
    ok = onnx_add_graph(im, &graph) && read_outputs(im, &graph, out);
    tdl_map_finish(&im->names);
    im->names = outside;
    return ok;
}

static struct tdl_tensor_params desc_of(const struct onnx_value *v)
{
    return v->operand ? *tdl_kit_desc(v->operand) : v->empty;
}

/* The value's elements in a larger shape; NULL where it has none. */
static struct tdl_operand *grow(struct onnx_import *im, const struct onnx_value *v,
                                const struct tdl_tensor_params *to)
{
    struct tdl_pad_params pad = {{0}};
    bool grows = false;

    for (uint32_t d = 0; v->operand && d < to->rank; d++) {
        pad.after[d] = to->shape[d] - tdl_kit_shape(v->operand)[d];
        grows |= pad.after[d] > 0;
    }
    return grows ? tdl_builder_pad(im->builder, v->operand, &pad) : v->operand;
}

static struct tdl_operand *count_of(struct onnx_import *im, const struct onnx_value *v, uint32_t d)
{
    const struct tdl_tensor_params desc = desc_of(v);

    return v->counts && v->counts->of[d] ? v->counts->of[d]
                                         : onnx_count_number(im, d < desc.rank ? desc.shape[d] : 0);
}

/* The shape that both fit into; false where there is none. What has no elements may have
 * another rank. */
static bool join_shapes(const struct onnx_value *a, const struct onnx_value *b,
                        struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params p = desc_of(a), q = desc_of(b);

    *out = a->operand ? p : q;
    if (p.dtype != q.dtype || (p.rank != q.rank && a->operand && b->operand))
        return false;
    for (uint32_t d = 0; d < out->rank && p.rank == q.rank; d++)
        out->shape[d] = p.shape[d] > q.shape[d] ? p.shape[d] : q.shape[d];
    return true;
}

static bool differs(const struct onnx_value *a, const struct onnx_value *b, uint32_t d)
{
    const struct tdl_tensor_params p = desc_of(a), q = desc_of(b);

    if ((a->counts && a->counts->of[d]) || (b->counts && b->counts->of[d]))
        return true;
    return p.rank == q.rank ? p.shape[d] != q.shape[d] : d == 0;
}

static bool choose(struct onnx_import *im, struct tdl_operand *is, uint32_t i,
                   const struct onnx_value *a, const struct onnx_value *b)
{
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct tdl_operand *x, *y;

    if (!join_shapes(a, b, &desc))
        return tdl_kit_lacks(&im->kit, "output %u has another rank or type in each branch", i);
    if (!a->operand && !b->operand)
        return onnx_give_empty(im, i, &desc);
    x = grow(im, a, &desc);
    y = grow(im, b, &desc);
    x = !x ? y : !y ? x : tdl_builder_where(im->builder, is, x, y);
    for (uint32_t d = 0; d < desc.rank; d++)
        if (differs(a, b, d))
            counts.of[d] =
                tdl_builder_where(im->builder, is, count_of(im, a, d), count_of(im, b, d));
    return onnx_give_at(im, i, x) && onnx_set_counts(im, i, &counts);
}

bool onnx_add_either(struct onnx_import *im)
{
    struct branch *both = tdl_kit_make(&im->kit, 2 * sizeof(*both));
    struct tdl_operand *is = both ? onnx_operand(im, 0) : NULL;

    if (!is || !add_branch(im, "then_branch", &both[0]) || !add_branch(im, "else_branch", &both[1]))
        return false;
    if (tdl_kit_elements(is) != 1 || both[0].count != both[1].count)
        return tdl_kit_damaged(&im->kit, "its branches have %u and %u outputs, and %llu conditions",
                               both[0].count, both[1].count,
                               (unsigned long long)tdl_kit_elements(is));
    is = onnx_reshape(im, is, 0, NULL);
    for (uint32_t i = 0; is && i < both[0].count; i++)
        if (!choose(im, is, i, &both[0].outputs[i], &both[1].outputs[i]))
            return false;
    return is != NULL;
}
