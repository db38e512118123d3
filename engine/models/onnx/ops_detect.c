/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's NonMaxSuppression. Its result has as many rows as may be left, those that are first,
 * and beside it how many they are (counts.c).
 */
#include "onnx.h"

#define MOST_BOXES 65536 /* a class may have so many, as in the builder */

struct suppression {
    uint32_t batches, classes, boxes, most; /* most: of a class */
    double iou, score;
};

static bool read_number(struct onnx_import *im, uint32_t i, double *out)
{
    uint32_t count;

    return !onnx_given(im, i) || onnx_floats(im, i, out, 1, &count);
}

static bool read_sizes(struct onnx_import *im, struct tdl_operand *boxes,
                       struct tdl_operand *scores, struct suppression *s)
{
    const uint32_t *b = tdl_kit_shape(boxes), *c = tdl_kit_shape(scores);
    double most = 0;

    *s = (struct suppression){.score = (double)-__builtin_inff()};
    if (tdl_kit_rank(boxes) != 3 || tdl_kit_rank(scores) != 3 || b[2] != 4 || b[0] != c[0] ||
        b[1] != c[2])
        return tdl_kit_damaged(
            &im->kit, "boxes are [batches, boxes, 4], and scores [batches, classes, boxes]");
    if (!read_number(im, 2, &most) || !read_number(im, 3, &s->iou) ||
        !read_number(im, 4, &s->score))
        return false;
    if (!(most >= 1))
        return tdl_kit_lacks(&im->kit, "no boxes (max_output_boxes_per_class of %g)", most);
    s->batches = c[0];
    s->classes = c[1];
    s->boxes = c[2];
    if (s->boxes > MOST_BOXES)
        return tdl_kit_lacks(&im->kit, "%u boxes; libtdl takes up to %d", s->boxes, MOST_BOXES);
    s->most = most < s->boxes ? (uint32_t)most : s->boxes;
    if ((uint64_t)s->batches * s->classes * s->most > 1 << 20)
        return tdl_kit_lacks(&im->kit, "up to %u boxes of each of %u classes", s->most, s->classes);
    return true;
}

/* [lists, boxes, 4]: two corners of the boxes that `order` [lists, boxes] names, a list for
 * each class of a batch. */
static struct tdl_operand *take_boxes(struct onnx_import *im, const struct suppression *s,
                                      struct tdl_operand *boxes, struct tdl_operand *order)
{
    struct tdl_builder *b = im->builder;
    const uint32_t lists = s->batches * s->classes, of_classes[] = {s->batches, s->classes, 1};
    struct tdl_operand *first = onnx_sequence(im, TDL_INT32, s->batches, 0, s->boxes);

    if (!first)
        return NULL;
    first = onnx_reshape(im, first, 3, (const uint32_t[]){s->batches, 1, 1});
    first = onnx_reshape(im, tdl_builder_expand(b, first, 3, of_classes), 2,
                         (const uint32_t[]){lists, 1});
    boxes = onnx_reshape(im, boxes, 2, (const uint32_t[]){s->batches * s->boxes, 4});
    boxes = tdl_builder_gather(b, boxes, tdl_builder_add(b, order, first), 0);
    if (!onnx_int(im, "center_point_box", 0))
        return boxes;
    const struct tdl_slice_params centre = {.size = {lists, s->boxes, 2}},
                                  size = {.start = {0, 0, 2}, .size = {lists, s->boxes, 2}};
    struct tdl_operand *middle = tdl_builder_slice(b, boxes, &centre);
    struct tdl_operand *half = tdl_builder_linear(b, tdl_builder_slice(b, boxes, &size), 0.5f, 0);
    struct tdl_operand *corners[] = {tdl_builder_sub(b, middle, half),
                                     tdl_builder_add(b, middle, half)};
    return tdl_builder_concat(b, corners, 2, 2);
}

/* 1 for each of a list that stays, [lists, boxes]. Those of low scores are given no area, so that
 * nobody looks for what they overlap. */
static struct tdl_operand *suppress(struct onnx_import *im, const struct suppression *s,
                                    struct tdl_operand *boxes, struct tdl_operand *scores)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *high =
        tdl_builder_greater(b, scores, tdl_kit_like(&im->kit, scores, s->score));
    const uint32_t shape[] = {s->batches * s->classes, s->boxes, 1};
    struct tdl_operand *of_box = onnx_reshape(im, high, 3, shape), *stays;

    if (!of_box)
        return NULL;
    boxes = tdl_builder_where(b, of_box, boxes, tdl_kit_like(&im->kit, boxes, 0));
    stays = tdl_builder_non_max_suppression(b, boxes, (float)s->iou);
    return tdl_builder_mul(b, stays, tdl_builder_cast(b, high, TDL_INT32));
}

/* Lists as rows [batch, class, box]. */
static struct tdl_operand *as_rows(struct onnx_import *im, const struct suppression *s,
                                   struct tdl_operand *places)
{
    struct tdl_builder *b = im->builder;
    const uint32_t shape[] = {s->batches, s->classes, s->most};
    const uint32_t count = s->batches * s->classes * s->most;
    struct tdl_operand *batch = onnx_sequence(im, TDL_INT32, s->batches, 0, 1);
    struct tdl_operand *class = onnx_sequence(im, TDL_INT32, s->classes, 0, 1), *columns[3];

    if (!batch || !class)
        return NULL;
    columns[0] = tdl_builder_expand(
        b, onnx_reshape(im, batch, 3, (const uint32_t[]){s->batches, 1, 1}), 3, shape);
    columns[1] = tdl_builder_expand(
        b, onnx_reshape(im, class, 3, (const uint32_t[]){1, s->classes, 1}), 3, shape);
    columns[2] = places;
    for (int i = 0; i < 3; i++)
        columns[i] = onnx_reshape(im, columns[i], 2, (const uint32_t[]){count, 1});
    return tdl_builder_concat(b, columns, 3, 1);
}

static bool add_non_max_suppression(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *boxes = onnx_operand(im, 0), *scores = boxes ? onnx_operand(im, 1) : NULL;
    struct tdl_operand *order, *stays, *first, *rows, *left;
    struct suppression s;

    if (!scores || !read_sizes(im, boxes, scores, &s))
        return false;
    const uint32_t lists = s.batches * s.classes, count = lists * s.most;
    scores = onnx_reshape(im, scores, 2, (const uint32_t[]){lists, s.boxes});
    order = tdl_builder_top_k(b, scores, 1, &(struct tdl_top_k_params){.count = s.boxes});
    scores = tdl_builder_gather_elements(b, scores, order, 1);
    stays = suppress(im, &s, take_boxes(im, &s, boxes, order), scores);
    if (s.most < s.boxes) { /* boxes that stay come before those that do not */
        first = tdl_builder_top_k(b, stays, 1, &(struct tdl_top_k_params){.count = s.most});
        stays = tdl_builder_gather_elements(b, stays, first, 1);
        order = tdl_builder_gather_elements(b, order, first, 1);
    }
    rows = as_rows(im, &s, order);
    first = onnx_find_places(im, onnx_reshape(im, stays, 1, &count), &left);
    if (!first)
        return false;
    rows = tdl_builder_cast(b, tdl_builder_gather(b, rows, first, 0), TDL_INT64);
    return onnx_give(im, rows) && onnx_set_count(im, 0, 0, left);
}

const struct onnx_row onnx_rows_detect[] = {
    {"NonMaxSuppression", 2, 5, add_non_max_suppression},
    {0},
};
