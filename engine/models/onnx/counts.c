/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes that depend on numbers, as of boxes that are left. A value has its largest shape, and
 * beside it a count for each dimension of which only the first elements exist; count_rules.c
 * has what becomes of counts in each operator. Elements behind them are any numbers: whoever
 * joins elements of such a dimension masks them first, and the graph's outputs are masked, too.
 *
 * A list of sizes that depends on counts is a value like others. What it is where all counts
 * are at their largest, and at none, is known: the first is taken where an operator needs
 * numbers, and where both differ a dimension has a count.
 */
#include "onnx.h"

#include <string.h>

/* -------------------------------------------------------------------- counts */

static struct onnx_value *value_of(struct onnx_import *im, const struct tdl_pb *name)
{
    return im->has_counts && name->size > 0 ? onnx_find(im, name) : NULL;
}

const struct onnx_counts *onnx_counts(struct onnx_import *im, uint32_t i)
{
    const struct onnx_value *v =
        i < im->node.input_count ? value_of(im, &im->node.inputs[i]) : NULL;

    return v ? v->counts : NULL;
}

struct tdl_operand *onnx_count(struct onnx_import *im, uint32_t i, uint32_t axis)
{
    const struct onnx_counts *counts = onnx_counts(im, i);

    return counts && axis < TDL_MAX_RANK ? counts->of[axis] : NULL;
}

bool onnx_set_counts(struct onnx_import *im, uint32_t i, const struct onnx_counts *counts)
{
    struct onnx_counts *own = NULL;
    bool any = false;

    for (uint32_t d = 0; d < TDL_MAX_RANK; d++)
        any |= counts->of[d] != NULL;
    if (!any || !onnx_wanted(im, i))
        return true;
    own = tdl_kit_make(&im->kit, sizeof(*own));
    if (!own)
        return false;
    *own = *counts;
    im->has_counts = true;
    onnx_find(im, &im->node.outputs[i])->counts = own;
    return true;
}

bool onnx_set_count(struct onnx_import *im, uint32_t i, uint32_t axis, struct tdl_operand *count)
{
    struct onnx_counts counts = {{NULL}};

    counts.of[axis] = count;
    return count && onnx_set_counts(im, i, &counts);
}

struct tdl_operand *onnx_count_number(struct onnx_import *im, int64_t number)
{
    const int32_t n = (int32_t)(number > INT32_MAX    ? INT32_MAX
                                : number < -INT32_MAX ? -INT32_MAX
                                                      : number);

    return onnx_constant(im, TDL_INT32, 1, &(uint32_t){1}, &n);
}

struct tdl_operand *onnx_below(struct onnx_import *im, uint32_t rank, const uint32_t *shape,
                               uint32_t axis, struct tdl_operand *count)
{
    struct tdl_operand *place = tdl_kit_range(&im->kit, TDL_INT32, shape[axis], 0, 1);
    uint32_t ones[TDL_MAX_RANK];

    for (uint32_t d = 0; d < rank; d++)
        ones[d] = d == axis ? shape[axis] : 1;
    place = onnx_reshape(im, place, rank, ones);
    return place && count ? tdl_builder_lesser(im->builder, place, count) : NULL;
}

struct tdl_operand *onnx_mask(struct onnx_import *im, struct tdl_operand *x,
                              const struct onnx_counts *counts, double value)
{
    for (uint32_t d = 0; counts && x && d < tdl_kit_rank(x); d++) {
        if (!counts->of[d])
            continue;
        struct tdl_operand *is =
            onnx_below(im, tdl_kit_rank(x), tdl_kit_shape(x), d, counts->of[d]);
        struct tdl_operand *none = is ? tdl_kit_like(&im->kit, x, value) : NULL;

        x = none ? tdl_builder_where(im->builder, is, x, none) : NULL;
    }
    return x;
}

bool onnx_refuse_count(struct onnx_import *im, uint32_t i, const char *why)
{
    char name[64];

    return tdl_kit_refuse(&im->kit,
                          "the size of input %u, '%s', is known only when the model runs, %s; cut "
                          "the model off at '%s' (onnx.utils.extract_model)",
                          i, tdl_pb_text(&im->node.inputs[i], name, sizeof(name)), why, name);
}

/* -------------------------------------------------------------------- numbers */

bool onnx_is_counted(struct onnx_import *im, uint32_t i)
{
    const struct onnx_value *v =
        i < im->node.input_count ? value_of(im, &im->node.inputs[i]) : NULL;

    return v && v->range[0];
}

struct tdl_operand *onnx_counted_at(struct onnx_import *im, uint32_t i, uint32_t element)
{
    const struct onnx_value *v =
        i < im->node.input_count ? value_of(im, &im->node.inputs[i]) : NULL;

    if (!v || !v->range[0] || element >= tdl_kit_elements(v->operand))
        return NULL;
    const struct tdl_tensor_params *desc = tdl_kit_desc(v->range[0]);
    const void *most = tdl_builder_evaluate(im->builder, v->range[0]);
    const void *least = tdl_builder_evaluate(im->builder, v->range[1]);
    const struct tdl_slice_params p = {.start = {element}, .size = {1}};
    const uint32_t count = (uint32_t)tdl_kit_elements(v->operand);

    if (!most || !least ||
        tdl_kit_int_at(desc->dtype, most, element) == tdl_kit_int_at(desc->dtype, least, element))
        return NULL;
    struct tdl_operand *flat = onnx_reshape(im, v->operand, 1, &count);

    return tdl_builder_cast(im->builder, tdl_builder_slice(im->builder, flat, &p), TDL_INT32);
}

/* The inputs are numbers that are known, or known for the largest counts and for none. */
static bool are_counted(struct onnx_import *im)
{
    bool any = false;

    for (uint32_t i = 0; i < im->node.input_count; i++) {
        if (!onnx_given(im, i))
            continue;
        if (onnx_counts(im, i) || (!onnx_is_counted(im, i) && !onnx_is_constant(im, i)))
            return false;
        any |= onnx_is_counted(im, i);
    }
    return any;
}

/* The node's result, of the numbers with the largest counts (0) or none (1); false where there
 * is none. */
static bool try_node(struct onnx_import *im, uint32_t which, struct onnx_trial *trial)
{
    bool ok;

    *trial = (struct onnx_trial){.which = which};
    im->trial = trial;
    ok = im->node.row->add(im);
    im->trial = NULL;
    for (uint32_t i = 0; i < ONNX_TRIED && ok; i++)
        if (trial->outputs[i] && !tdl_builder_evaluate(im->builder, trial->outputs[i]))
            trial->outputs[i] = NULL;
    return ok;
}

/* The value depends on counts between these numbers; or it is the number that both are. */
static void set_range(struct onnx_import *im, struct onnx_value *v, struct tdl_operand *most,
                      struct tdl_operand *least)
{
    const void *a = tdl_builder_evaluate(im->builder, most);
    const void *b = tdl_builder_evaluate(im->builder, least);

    if (!a || !b)
        return;
    if (!memcmp(a, b, tdl_tensor_params_size(tdl_kit_desc(most)))) {
        v->operand = most;
        return;
    }
    v->range[0] = most;
    v->range[1] = least;
}

static bool have_one_shape(const struct tdl_operand *a, const struct tdl_operand *b)
{
    const struct tdl_tensor_params *p = tdl_kit_desc(a), *q = tdl_kit_desc(b);

    return p->rank == q->rank && !memcmp(p->shape, q->shape, p->rank * sizeof(*p->shape));
}

bool onnx_add_counted(struct onnx_import *im)
{
    struct onnx_trial most = {0}, least = {0};
    const bool counted = are_counted(im) && onnx_keeps_order(im);

    if (counted && (!try_node(im, 0, &most) || !try_node(im, 1, &least)))
        return false;
    if (!im->node.row->add(im))
        return false;
    for (uint32_t i = 0; counted && i < ONNX_TRIED; i++) {
        if (!onnx_wanted(im, i) || !most.outputs[i] || !least.outputs[i] ||
            !have_one_shape(most.outputs[i], least.outputs[i]))
            continue;
        struct onnx_value *v = onnx_find(im, &im->node.outputs[i]);

        if (v && v->operand && have_one_shape(v->operand, most.outputs[i]))
            set_range(im, v, most.outputs[i], least.outputs[i]);
    }
    return true;
}

static struct tdl_operand *shape_of(struct onnx_import *im, const struct tdl_tensor_params *desc,
                                    const struct onnx_counts *counts)
{
    struct tdl_operand *sizes[TDL_MAX_RANK];

    for (uint32_t d = 0; d < desc->rank; d++) {
        sizes[d] = counts->of[d] ? counts->of[d] : onnx_count_number(im, desc->shape[d]);
        if (!sizes[d])
            return NULL;
    }
    return tdl_builder_concat(im->builder, sizes, desc->rank, 0);
}

/* Dimensions `from` to `to`, or their product, with the largest counts or none. */
static struct tdl_operand *known_shape(struct onnx_import *im, const struct tdl_tensor_params *desc,
                                       const struct onnx_counts *counts, uint32_t from, uint32_t to,
                                       bool product, bool least)
{
    int64_t list[TDL_MAX_RANK] = {0}, all = 1;
    const uint32_t count = to - from;

    for (uint32_t d = from; d < to; d++) {
        list[d - from] = least && counts->of[d] ? 0 : desc->shape[d];
        all *= list[d - from];
    }
    return product ? onnx_constant(im, TDL_INT64, 0, NULL, &all)
                   : onnx_constant(im, TDL_INT64, 1, &count, list);
}

bool onnx_give_shape(struct onnx_import *im, uint32_t from, uint32_t to, bool product)
{
    static const struct tdl_reduce_params all = {0};
    const struct onnx_counts *counts = onnx_counts(im, 0);
    const struct tdl_slice_params p = {.start = {from}, .size = {to - from}};
    struct tdl_tensor_params desc;
    struct tdl_operand *shape;

    if (!onnx_desc(im, 0, &desc) || !(shape = shape_of(im, &desc, counts)))
        return false;
    shape = tdl_builder_slice(im->builder, shape, &p);
    if (product)
        shape = tdl_builder_reduce(im->builder, shape, TDL_REDUCE_PRODUCT, &all);
    if (!onnx_give(im, tdl_builder_cast(im->builder, shape, TDL_INT64)) || !onnx_wanted(im, 0))
        return shape != NULL;
    struct tdl_operand *most = known_shape(im, &desc, counts, from, to, product, false);
    struct tdl_operand *least =
        most ? known_shape(im, &desc, counts, from, to, product, true) : NULL;

    if (!least)
        return false;
    set_range(im, onnx_find(im, &im->node.outputs[0]), most, least);
    return true;
}

/* -------------------------------------------------------------------- outputs */

struct tdl_operand *onnx_mask_output(struct onnx_import *im, const struct onnx_value *v)
{
    const enum tdl_dtype dtype = tdl_kit_desc(v->operand)->dtype;
    const bool index = dtype == TDL_INT32 || dtype == TDL_INT64;

    return v->counts ? onnx_mask(im, v->operand, v->counts, index ? -1 : 0) : v->operand;
}

bool onnx_add_shape_output(struct onnx_import *im, const struct tdl_pb *name)
{
    const struct onnx_value *v = onnx_find(im, name);
    char text[TDL_KIT_NAME + sizeof(ONNX_SHAPE_OUTPUT)];
    struct tdl_operand *shape = NULL;

    if (!v->counts)
        return true;
    tdl_pb_name(name, text, TDL_KIT_NAME);
    memcpy(text + strlen(text), ONNX_SHAPE_OUTPUT, sizeof(ONNX_SHAPE_OUTPUT));
    shape = shape_of(im, tdl_kit_desc(v->operand), v->counts);
    return shape && tdl_model_output(im->builder, im->kit.source, text, shape);
}
