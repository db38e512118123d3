/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX TopK, of which this is the indices: https://onnx.ai/onnx/operators/onnx__TopK.html */
#include "ir/builder.h"
#include "rows.h"

#include <math.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    const uint32_t axis = n->attr.top_k.axis, count = n->attr.top_k.p.count;
    enum tdl_result r = tdl_axis_check(n, axis);
    if (r != TDL_OK)
        return r;
    if (count < 1 || count > x->desc.shape[axis])
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "topK: %u elements of %s along axis %u; 1 to %u are there", count,
                        tdl_operand_text(x), axis, x->desc.shape[axis]);
    *out = x->desc;
    out->dtype = TDL_INT32;
    out->shape[axis] = count;
    return TDL_OK;
}

/* ---------------------------------------------------------------- reference */

/* Does element i come before element j? NaN is larger than all numbers. */
static bool precedes(const struct tdl_node *n, const void *x, size_t i, size_t j)
{
    const enum tdl_dtype dtype = n->inputs[0]->desc.dtype;
    const long double a = tdl_element_get(dtype, x, i), b = tdl_element_get(dtype, x, j);
    const bool a_nan = isnan(a), b_nan = isnan(b);
    if ((a_nan && b_nan) || a == b)
        return i < j;
    return n->attr.top_k.p.smallest ? b_nan || a < b : a_nan || a > b;
}

/* The first of those that come after the last. */
static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_rows rows = tdl_rows_of(&n->inputs[0]->desc, n->attr.top_k.axis);
    const struct tdl_rows out = tdl_rows_of(&n->output->desc, n->attr.top_k.axis);
    const void *x = inputs[0];
    for (uint32_t row = 0; row < rows.outer * rows.inner; row++) {
        const size_t base = tdl_rows_start(rows, row);
        size_t last = 0;
        for (uint32_t k = 0; k < out.length; k++) {
            size_t best = SIZE_MAX;
            for (uint32_t i = 0; i < rows.length; i++) {
                const size_t at = base + (size_t)i * rows.inner;
                if ((k == 0 || precedes(n, x, last, at)) &&
                    (best == SIZE_MAX || precedes(n, x, at, best)))
                    best = at;
            }
            last = best;
            ((int32_t *)output)[tdl_rows_start(out, row) + (size_t)k * out.inner] =
                (int32_t)((best - base) / rows.inner);
        }
    }
}

/* ------------------------------------------------------------------ kernels */

/* An element's place is the number of those that come before it. Counting them among all
 * is much work where there are many, so first those of each part are found that may be
 * among the `count` first, until few candidates are left. */
static uint32_t part_of(uint32_t candidates, uint32_t count)
{
    const uint32_t part = TDL_MAX(256, 4 * (uint64_t)count);
    return candidates > 2 * (uint64_t)part ? part : candidates;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = 64, count = n->attr.top_k.p.count;
    const struct tdl_rows rows = tdl_rows_of(&n->inputs[0]->desc, n->attr.top_k.axis);
    const uint32_t row_count = rows.outer * rows.inner;
    struct tdl_operand *list = NULL;
    for (uint32_t candidates = rows.length, next; plan->status == TDL_OK; candidates = next) {
        const uint32_t part = part_of(candidates, count), rest = candidates % part;
        const bool last = part == candidates;
        next = candidates / part * count + TDL_MIN(rest, count);
        struct tdl_operand *out =
            last ? n->output : tdl_scratch_floats(plan, (uint64_t)row_count * next);
        struct tdl_plan_step *s =
            tdl_plan_add_linear_step(plan, "top_k", TDL_UINT32, n, local, 1, 1);
        const struct tdl_top_k_spec spec =
            tdl_top_k_spec(.type = n->inputs[0]->desc.dtype, .length = rows.length,
                           .inner = rows.inner, .rows = row_count,
                           .smallest = n->attr.top_k.p.smallest, .listed = list != NULL,
                           .candidates = candidates, .part = part, .kept = count, .last = last);
        if (!out)
            return plan->status;
        TDL_PLAN_SPECS(s, top_k, spec);
        tdl_plan_read(s, 0, n->inputs[0]);
        tdl_plan_read(s, 1, list ? list : n->inputs[0]);
        tdl_plan_write(s, 2, out);
        tdl_plan_flat_groups(s, TDL_DIV_UP((uint64_t)row_count * candidates, local));
        if (last)
            break;
        list = out;
    }
    return plan->status;
}

static uint64_t work(const struct tdl_node *n)
{
    const struct tdl_rows rows = tdl_rows_of(&n->inputs[0]->desc, n->attr.top_k.axis);
    return (uint64_t)tdl_operand_count(n->inputs[0]) * (rows.length ? n->attr.top_k.p.count : 0) *
           4;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->attr.top_k.axis > 0;
}

const struct tdl_op tdl_op_top_k = {
    .name = "topK",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
    .work = work,
};

struct tdl_operand *tdl_builder_top_k(struct tdl_builder *b, struct tdl_operand *input,
                                      uint32_t axis, const struct tdl_top_k_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.top_k.axis = axis};
    if (params)
        attr.top_k.p = *params;
    if (!attr.top_k.p.count)
        attr.top_k.p.count = 1;
    return tdl_builder_add_node(b, &tdl_op_top_k, &attr, &input, 1, 1);
}
