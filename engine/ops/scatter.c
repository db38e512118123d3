/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * WebNN scatterElements and scatterND, with the reductions of ONNX's:
 * https://www.w3.org/TR/webnn/#api-mlgraphbuilder-scatterelements
 *
 * On a GPU an invocation writes one word, so it is elements that look for their updates,
 * not the other way round. What replaces needs no search: each update leaves its number at
 * its place, where the highest stays. With a reduction an element goes through all updates
 * that may be its own, in their order, so that sums are the same in every run.
 */
#include "places.h"

#include <string.h>

/* The node's places, and how many elements lie together behind each. */
static struct tdl_places_part places_of(const struct tdl_node *n, uint32_t *inner)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const struct tdl_places_part s = n->op == &tdl_op_scatter_nd
                                         ? tdl_places_of_tuples(x, indices, 0)
                                         : tdl_places_along(x, indices, n->attr.scatter.axis);
    *inner = (uint32_t)tdl_places_count(x, s.rank, x->rank);
    return s;
}

static enum tdl_result refuse(const struct tdl_node *n, const char *rule)
{
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s by indices %s with updates %s; %s",
                    n->op->name, tdl_operand_text(n->inputs[0]), tdl_operand_text(n->inputs[1]),
                    tdl_operand_text(n->inputs[2]), rule);
}

static enum tdl_result infer_common(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    if (!tdl_is_index(n->inputs[1]->desc.dtype))
        return refuse(n, "indices are int32, uint32 or int64");
    if (n->inputs[2]->desc.dtype != n->inputs[0]->desc.dtype)
        return refuse(n, "updates have the input's data type");
    *out = n->inputs[0]->desc;
    return TDL_OK;
}

static enum tdl_result infer_elements(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const struct tdl_tensor_params *updates = &n->inputs[2]->desc;
    const uint32_t axis = n->attr.scatter.axis;
    enum tdl_result r = tdl_axis_check(n, axis);
    if (r != TDL_OK)
        return r;
    bool fits = indices->rank == x->rank && updates->rank == x->rank;
    for (uint32_t i = 0; i < x->rank && fits; i++)
        fits = updates->shape[i] == indices->shape[i] &&
               (i == axis || indices->shape[i] <= x->shape[i]);
    return fits ? infer_common(n, out)
                : refuse(n, "updates have the shape of the indices, which is in no dimension but "
                            "the axis larger than the input");
}

static enum tdl_result infer_nd(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const struct tdl_tensor_params *updates = &n->inputs[2]->desc;
    const uint32_t last = indices->rank - 1, tuple = indices->rank ? indices->shape[last] : 0;
    bool fits = indices->rank > 0 && tuple <= x->rank && updates->rank == last + x->rank - tuple;
    for (uint32_t i = 0; fits && i < updates->rank; i++)
        fits = updates->shape[i] == (i < last ? indices->shape[i] : x->shape[tuple + i - last]);
    return fits ? infer_common(n, out)
                : refuse(n, "the last dimension of the indices are tuples for the input's first "
                            "dimensions, and updates the others of both");
}

/* --------------------------------------------------------------- reference */

static uint64_t reduce_whole(enum tdl_scatter_reduction reduction, bool has_sign, uint64_t a,
                             uint64_t b)
{
    const bool less = has_sign ? (int64_t)a < (int64_t)b : a < b;
    switch (reduction) {
    case TDL_SCATTER_ADD:
        return a + b;
    case TDL_SCATTER_MUL:
        return a * b;
    case TDL_SCATTER_MAX:
        return less ? b : a;
    case TDL_SCATTER_MIN:
        return less ? a : b;
    default:
        return b;
    }
}

static float reduce_real(enum tdl_scatter_reduction reduction, float a, float b)
{
    if (reduction == TDL_SCATTER_ADD)
        return a + b;
    if (reduction == TDL_SCATTER_MUL)
        return a * b;
    if (a != a || b != b)
        return a + b;
    return (reduction == TDL_SCATTER_MAX) == (a < b) ? b : a;
}

static void reduce_at(enum tdl_dtype dtype, enum tdl_scatter_reduction reduction, void *to,
                      size_t i, const void *from, size_t k)
{
    const bool has_sign = dtype == TDL_INT8 || dtype == TDL_INT32 || dtype == TDL_INT64;
    if (tdl_is_float(dtype))
        tdl_element_set(dtype, to, i,
                        reduce_real(reduction, (float)tdl_element_get(dtype, to, i),
                                    (float)tdl_element_get(dtype, from, k)));
    else
        tdl_element_set_bits(dtype, to, i,
                             reduce_whole(reduction, has_sign, tdl_element_bits(dtype, to, i),
                                          tdl_element_bits(dtype, from, k)));
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc;
    const enum tdl_scatter_reduction reduction = n->attr.scatter.reduction;
    const size_t size = tdl_dtype_size(x->dtype);
    uint32_t inner;
    const struct tdl_places_part places = places_of(n, &inner);
    memcpy(output, inputs[0], tdl_tensor_params_size(x));
    for (size_t t = 0, tuples = tdl_operand_count(n->inputs[2]) / inner; t < tuples; t++) {
        const size_t to = tdl_places_at(&places, inputs[1], t) * inner, from = t * inner;
        if (reduction == TDL_SCATTER_REPLACE)
            memcpy((uint8_t *)output + to * size, (const uint8_t *)inputs[2] + from * size,
                   inner * size);
        for (size_t i = 0; i < inner && reduction != TDL_SCATTER_REPLACE; i++)
            reduce_at(x->dtype, reduction, output, to + i, inputs[2], from + i);
    }
}

/* ------------------------------------------------------------------- lower */

static enum tdl_result lower_replacing(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = 64;
    uint32_t inner;
    const struct tdl_places_part places = places_of(n, &inner);
    const struct tdl_scatter_clear_spec clear =
        tdl_scatter_clear_spec(.count = (uint32_t)(tdl_operand_count(n->output) / inner));
    const struct tdl_scatter_mark_spec mark =
        tdl_scatter_mark_spec(.places = places,
                              .tuples = (uint32_t)(tdl_operand_count(n->inputs[2]) / inner));
    const struct tdl_scatter_take_spec take =
        tdl_scatter_take_spec(.move = tdl_move_parts(n),
                              .inner = inner * tdl_parts_of(n->output->desc.dtype).count);
    struct tdl_operand *owners = tdl_plan_scratch(plan, TDL_ALIGN(4ull * clear.count, 16));
    if (!owners)
        return plan->status;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "scatter_clear", TDL_UINT32, n, local, 1, 1);
    TDL_PLAN_SPECS(s, scatter_clear, clear);
    tdl_plan_write(s, 2, owners);
    tdl_plan_flat_groups(s, TDL_DIV_UP(clear.count, local));
    s = tdl_plan_add_linear_step(plan, "scatter_mark", TDL_UINT32, n, local, 1, 1);
    TDL_PLAN_SPECS(s, scatter_mark, mark);
    tdl_plan_read(s, 1, n->inputs[1]);
    tdl_plan_write(s, 2, owners);
    tdl_plan_flat_groups(s, TDL_DIV_UP(mark.tuples, local));
    s = tdl_move_step_of(plan, "scatter_take", n,
                         (struct tdl_operand *[]){n->inputs[0], owners, n->inputs[2]}, 3);
    TDL_PLAN_SPECS(s, scatter_take, take);
    return plan->status;
}

static enum tdl_result lower_reducing(struct tdl_plan *plan, struct tdl_node *n)
{
    static const enum tdl_function functions[] = {
        [TDL_SCATTER_REPLACE] = TDL_IDENTITY, [TDL_SCATTER_ADD] = TDL_ADD,
        [TDL_SCATTER_MUL] = TDL_MUL,          [TDL_SCATTER_MAX] = TDL_MAX_OF,
        [TDL_SCATTER_MIN] = TDL_MIN_OF,
    };
    const enum tdl_dtype dtype = n->output->desc.dtype;
    const uint32_t axis = n->attr.scatter.axis;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "scatter_reduce", dtype, n, 64, 1, 1);
    uint32_t inner;
    const struct tdl_places_part places = places_of(n, &inner);
    struct tdl_scatter_reduce_spec spec =
        tdl_scatter_reduce_spec(.places = places, .type = dtype,
                                .count = (uint32_t)tdl_operand_count(n->output), .inner = inner,
                                .function = functions[n->attr.scatter.reduction],
                                .candidates = (uint32_t)(tdl_operand_count(n->inputs[2]) / inner),
                                .stride = 1);
    if (n->op == &tdl_op_scatter_elements) { /* indices of its own row */
        spec.candidates = spec.places.span[axis];
        spec.stride = spec.places.step[axis];
    }
    TDL_PLAN_SPECS(s, scatter_reduce, spec);
    for (uint32_t i = 0; i < 3; i++)
        tdl_plan_read(s, i, n->inputs[i]);
    tdl_plan_write(s, 3, n->output);
    tdl_plan_linear_groups(s, n->output);
    return plan->status;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    return n->attr.scatter.reduction == TDL_SCATTER_REPLACE ? lower_replacing(plan, n)
                                                            : lower_reducing(plan, n);
}

static uint64_t work(const struct tdl_node *n)
{
    return 2 * tdl_tensor_params_size(&n->output->desc) +
           2 * tdl_tensor_params_size(&n->inputs[2]->desc) +
           tdl_tensor_params_size(&n->inputs[1]->desc);
}

#define SCATTER(text, infers)                                                                      \
    {                                                                                              \
        .name = text, .storage = TDL_STORAGE_LINEAR, .infer = infers, .lower = lower,              \
        .reference_linear = reference_linear, .work = work,                                        \
    }
const struct tdl_op tdl_op_scatter_elements = SCATTER("scatterElements", infer_elements);
const struct tdl_op tdl_op_scatter_nd = SCATTER("scatterND", infer_nd);

static struct tdl_operand *add(struct tdl_builder *b, const struct tdl_op *op,
                               struct tdl_operand *const inputs[3], uint32_t axis,
                               const struct tdl_scatter_params *params)
{
    union tdl_attr attr = {.scatter.axis = axis};
    attr.scatter.reduction = params ? params->reduction : TDL_SCATTER_REPLACE;
    if (!tdl_builder_known(b, op, "reduction", attr.scatter.reduction, TDL_SCATTER_MIN))
        return NULL;
    return tdl_builder_add_node(b, op, &attr, inputs, 3, 3);
}

struct tdl_operand *tdl_builder_scatter_elements(struct tdl_builder *b, struct tdl_operand *input,
                                                 struct tdl_operand *indices,
                                                 struct tdl_operand *updates, uint32_t axis,
                                                 const struct tdl_scatter_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    return add(b, &tdl_op_scatter_elements, (struct tdl_operand *[]){input, indices, updates}, axis,
               params);
}

struct tdl_operand *tdl_builder_scatter_nd(struct tdl_builder *b, struct tdl_operand *input,
                                           struct tdl_operand *indices, struct tdl_operand *updates,
                                           const struct tdl_scatter_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    return add(b, &tdl_op_scatter_nd, (struct tdl_operand *[]){input, indices, updates}, 0, params);
}
