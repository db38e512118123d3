/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite's non-maximum suppression: the places of as many boxes as may be left, the
 * best first, and how many there are. What is behind these is 0.
 */
#include "ops.h"

#include <math.h>

#define MOST_BOXES 65536 /* as the builder's operator takes */

struct suppression {
    uint32_t boxes, left, most; /* left: of the boxes, at most */
    float iou, score;
};

static bool read_number(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                        const char *what, double *out)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[number]);
    uint32_t count;

    if (!x || !tdl_kit_floats(&im->kit, x, what, out, 1, &count))
        return false;
    return count == 1 || tdl_kit_damaged(&im->kit, "%s has %u numbers", what, count);
}

static bool read_suppression(struct tflite_import *im, const struct tflite_op *op,
                             const struct tdl_operand *boxes, const struct tdl_operand *scores,
                             struct suppression *s)
{
    const uint32_t *b = tdl_kit_shape(boxes);
    double most, iou, score, sigma = 0;

    if (tdl_kit_rank(boxes) != 2 || b[1] != 4 || tdl_kit_rank(scores) != 1 ||
        tdl_kit_shape(scores)[0] != b[0])
        return tdl_kit_damaged(&im->kit, "boxes are [boxes, 4], and scores [boxes]");
    if (!read_number(im, op, 2, "the most boxes", &most) ||
        !read_number(im, op, 3, "the overlap's threshold", &iou) ||
        !read_number(im, op, 4, "the scores' threshold", &score) ||
        (op->row->least == 6 && !read_number(im, op, 5, "sigma", &sigma)))
        return false;
    if (!(most >= 1 && most <= 1 << 20) || sigma != 0)
        return tdl_kit_lacks(&im->kit, "up to %g boxes with a sigma of %g; libtdl has 0", most,
                             sigma);
    s->boxes = b[0];
    if (s->boxes > MOST_BOXES)
        return tdl_kit_lacks(&im->kit, "%u boxes; libtdl takes up to %d", s->boxes, MOST_BOXES);
    s->most = (uint32_t)most;
    s->left = s->most < s->boxes ? s->most : s->boxes;
    /* TensorFlow Lite removes what overlaps by as much, too; the builder what does by more. */
    s->iou = nextafterf((float)iou, -1);
    s->score = (float)score;
    return true;
}

/* The first of the list, and zeros up to as many as there may be. */
static struct tdl_operand *filled(struct tflite_import *im, const struct suppression *s,
                                  struct tdl_operand *x)
{
    const struct tdl_pad_params pad = {.after = {s->most - s->left}};

    return s->most > s->left ? tdl_builder_pad(im->builder, x, &pad) : x;
}

static bool add_non_max_suppression(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *boxes = tflite_operand(im, op->inputs[0]), *order, *stays, *first;
    struct tdl_operand *scores = boxes ? tflite_operand(im, op->inputs[1]) : NULL, *high;
    const bool has_scores = op->row->least == 6;
    struct suppression s = {0};

    if (!scores || !read_suppression(im, op, boxes, scores, &s))
        return false;
    if (op->output_count != (has_scores ? 3 : 2))
        return tdl_kit_damaged(&im->kit, "%u outputs instead of %d", op->output_count,
                               has_scores ? 3 : 2);
    order = tdl_builder_top_k(b, scores, 0, &(struct tdl_top_k_params){.count = s.boxes});
    scores = tdl_builder_gather(b, scores, order, 0);
    high = tdl_builder_greater(b, scores, tdl_kit_like(&im->kit, scores, (double)s.score));
    stays = tdl_builder_non_max_suppression(b, tdl_builder_gather(b, boxes, order, 0), s.iou);
    stays = tdl_builder_mul(b, stays, tdl_builder_cast(b, high, TDL_INT32));
    /* Boxes that stay, in their order, come before those that do not. */
    first = tdl_builder_top_k(b, stays, 0, &(struct tdl_top_k_params){.count = s.left});
    stays = tdl_builder_gather(b, stays, first, 0);
    order = tdl_builder_mul(b, tdl_builder_gather(b, order, first, 0), stays);
    scores = tdl_builder_where(b, tdl_builder_cast(b, stays, TDL_UINT8),
                               tdl_builder_gather(b, scores, first, 0),
                               tdl_kit_like(&im->kit, scores, 0));
    return tflite_give_at(im, op, 0, filled(im, &s, order)) &&
           (!has_scores || tflite_give_at(im, op, 1, filled(im, &s, scores))) &&
           tflite_give_at(im, op, has_scores ? 2 : 1,
                          tdl_builder_reduce(b, stays, TDL_REDUCE_SUM, NULL));
}

const struct tflite_op_row tflite_rows_detect[] = {
    TFLITE_OP(NON_MAX_SUPPRESSION_V4, 1, 5, 5, add_non_max_suppression, .outputs = 3),
    TFLITE_OP(NON_MAX_SUPPRESSION_V5, 1, 6, 6, add_non_max_suppression, .outputs = 3),
    {0},
};
