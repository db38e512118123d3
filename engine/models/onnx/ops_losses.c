/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss (Operators.md), which some files
 * still end in. Classes are the second dimension; the target names one for each place.
 */
#include "onnx.h"

typedef struct tdl_operand *O;

struct loss {
    struct onnx_import *im;
    O x, target;            /* [batches, classes, places]; [batches, 1, places] int32 */
    uint32_t rank, classes; /* rank: of the target */
    uint32_t shape[TDL_MAX_RANK];
};

static bool read_loss(struct onnx_import *im, O x, struct loss *l)
{
    O target = x ? onnx_operand(im, 1) : NULL;
    uint32_t places;

    if (!target)
        return false;
    const struct tdl_tensor_params *p = tdl_kit_desc(x), *t = tdl_kit_desc(target);
    if (p->rank < 2 || t->rank + 1 != p->rank || t->shape[0] != p->shape[0] ||
        tdl_kit_elements(x) != tdl_kit_elements(target) * p->shape[1])
        return tdl_kit_damaged(&im->kit, "numbers of classes that do not fit the target");
    *l = (struct loss){.im = im, .rank = t->rank, .classes = p->shape[1]};
    for (uint32_t d = 0; d < t->rank; d++)
        l->shape[d] = t->shape[d];
    const uint32_t batches = p->shape[0], classes = p->shape[1];
    places = (uint32_t)(tdl_kit_elements(target) / batches);
    l->x = onnx_reshape(im, x, 3, (const uint32_t[]){batches, classes, places});
    l->target = onnx_reshape(im, tdl_builder_cast(im->builder, target, TDL_INT32), 3,
                             (const uint32_t[]){batches, 1, places});
    return l->x && l->target;
}

/* How much each place counts: by its class, and not at all where it is to be ignored. NULL with
 * the builder in error. */
static O weights(const struct loss *l)
{
    struct onnx_import *im = l->im;
    struct tdl_builder *b = im->builder;
    O by_class, counts = tdl_builder_expand(b, tdl_kit_number(&im->kit, TDL_FLOAT32, 1), 3,
                                            tdl_kit_shape(l->target));

    if (!onnx_optional(im, 2, &by_class))
        return NULL;
    if (by_class)
        counts = tdl_builder_gather(b, by_class, l->target, 0);
    if (counts && onnx_has(im, "ignore_index")) {
        O ignored = tdl_kit_number(&im->kit, TDL_INT32, (double)onnx_int(im, "ignore_index", 0));

        counts = tdl_builder_where(b, tdl_builder_equal(b, l->target, ignored),
                                   tdl_kit_number(&im->kit, TDL_FLOAT32, 0), counts);
    }
    return counts;
}

static bool give_loss(const struct loss *l)
{
    static const struct tdl_reduce_params all = {0};
    struct onnx_import *im = l->im;
    struct tdl_builder *b = im->builder;
    O counts = weights(l), loss;

    if (!counts)
        return false;
    loss = tdl_builder_gather_elements(b, l->x, l->target, 1);
    loss = tdl_builder_neg(b, tdl_builder_mul(b, loss, counts));
    if (onnx_string_is(im, "reduction", "none"))
        return onnx_give(im, onnx_reshape(im, loss, l->rank, l->shape));
    loss = tdl_builder_reduce(b, loss, TDL_REDUCE_SUM, &all);
    if (!onnx_string_is(im, "reduction", "sum"))
        loss = tdl_builder_div(b, loss, tdl_builder_reduce(b, counts, TDL_REDUCE_SUM, &all));
    return onnx_give(im, loss);
}

static bool add_likelihood(struct onnx_import *im)
{
    struct loss l;

    return read_loss(im, onnx_operand(im, 0), &l) && give_loss(&l);
}

static bool add_cross_entropy(struct onnx_import *im)
{
    static const struct tdl_reduce_params over = {{1}, 1, .keep_dimensions = true};
    struct tdl_builder *b = im->builder;
    O x = onnx_operand(im, 0), logarithms;
    struct loss l;

    if (!x || tdl_kit_rank(x) < 2)
        return x && tdl_kit_damaged(&im->kit, "scores without classes");
    logarithms = tdl_builder_sub(b, x, tdl_builder_reduce(b, x, TDL_REDUCE_LOG_SUM_EXP, &over));
    return (!onnx_wanted(im, 1) || onnx_give_at(im, 1, logarithms)) &&
           read_loss(im, logarithms, &l) && give_loss(&l);
}

const struct onnx_row onnx_rows_losses[] = {
    {"NegativeLogLikelihoodLoss", 2, 3, add_likelihood},
    {"SoftmaxCrossEntropyLoss", 2, 3, add_cross_entropy},
    {0},
};
