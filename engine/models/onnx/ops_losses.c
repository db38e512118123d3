/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's losses, by their definitions in Operators.md. */
#include "onnx.h"

#include <string.h>

/* −weight[target] · log p[target] of each target, and what it weighs; both 0 where it is to
 * be ignored. */
static bool add_up(struct onnx_import *im, struct tdl_operand *log_p, struct tdl_operand **weights,
                   struct tdl_operand **losses)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *target = onnx_operand(im, 1), *zero, *index, *counts = NULL;
    uint32_t shape[TDL_MAX_RANK], rank = onnx_rank(log_p);

    if (!target || !onnx_optional(im, 2, weights))
        return false;
    if (rank < 2 || onnx_rank(target) != rank - 1)
        return onnx_fail(im, TDL_ERROR_INVALID_MODEL, "a target of %u dimensions for %u",
                         onnx_rank(target), rank);
    memcpy(shape, onnx_shape(log_p), sizeof(shape));
    shape[1] = 1;
    zero = onnx_scalar(im, log_p, 0);
    index = onnx_reshape(im, target, rank, shape);
    *losses = tdl_builder_neg(b, tdl_builder_gather_elements(b, log_p, index, 1));
    *losses = onnx_reshape(im, *losses, rank - 1, onnx_shape(target));
    *weights = *weights
                   ? tdl_builder_gather(b, *weights, target, 0)
                   : tdl_builder_expand(b, onnx_scalar(im, log_p, 1), rank - 1, onnx_shape(target));
    *losses = onnx_as_nchw(im, *losses);
    *weights = onnx_as_nchw(im, *weights);
    target = onnx_as_nchw(im, target);
    if (onnx_has(im, "ignore_index")) {
        counts = tdl_builder_not_equal(
            b, target, onnx_scalar(im, target, (double)onnx_int(im, "ignore_index", 0)));
        *weights = tdl_builder_where(b, counts, *weights, zero);
    }
    *losses = tdl_builder_mul(b, *losses, *weights);
    if (counts)
        *losses = tdl_builder_where(b, counts, *losses, zero);
    return tdl_builder_status(b) == TDL_OK;
}

static bool add_loss(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *weights = NULL, *losses = NULL;
    const struct tdl_reduce_params classes = {{1}, 1, .keep_dimensions = true};

    if (x && !strcmp(im->node.row->type, "SoftmaxCrossEntropyLoss")) {
        x = tdl_builder_sub(b, x, tdl_builder_reduce(b, x, TDL_REDUCE_LOG_SUM_EXP, &classes));
        if (onnx_wanted(im, 1) && !onnx_give_at(im, 1, x))
            return false;
    }
    if (!x || !add_up(im, x, &weights, &losses))
        return false;
    if (onnx_string_is(im, "reduction", "none"))
        return onnx_give(im, losses);
    losses = tdl_builder_reduce(b, losses, TDL_REDUCE_SUM, NULL);
    if (!onnx_string_is(im, "reduction", "sum"))
        losses = tdl_builder_div(b, losses, tdl_builder_reduce(b, weights, TDL_REDUCE_SUM, NULL));
    return onnx_give(im, losses);
}

const struct onnx_row onnx_rows_losses[] = {
    {"NegativeLogLikelihoodLoss", 2, 3, add_loss},
    {"SoftmaxCrossEntropyLoss", 2, 3, add_loss},
    {0},
};
