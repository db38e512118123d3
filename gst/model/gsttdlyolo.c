/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A YOLO network gives a fixed number of candidates, most of them nothing, with a box, a
 * score for each class and M coefficients. The best MOST_CANDIDATES by their scores go
 * through the greedy suppression of overlapping boxes of one class; of those that are
 * left, the best GST_TDL_OBJECTS_MOST have masks: the sum of the prototypes by the coefficients
 * through a sigmoid, within the box. A sigmoid rises, so the largest of the masks at a
 * pixel is that of the largest sum.
 *
 * Forms that are told apart, by the numbers of Ultralytics' exports: prototypes have a
 * quarter of the picture's size, and candidates sit on grids of an eighth, a sixteenth and
 * a thirty-second of it.
 */
#include "gsttdlyolo.h"

#include "gsttdlfollow.h"
#include "gsttdlobjects.h"

#define MOST_CANDIDATES 300
#define STRIDE 4 /* px of the picture a prototype's pixel */

enum form {
    CLASSES,    /* centre, size, a score for each class (v8, v11, v12) */
    OBJECTNESS, /* centre, size, objectness, a score for each class beside it (v5, v7) */
    CHOSEN,     /* two corners, score, class: the network has suppressed already (v26) */
};

/* The kinds of the two outputs. */
struct head {
    enum form form;
    gboolean turned; /* [1, N, rows] */
    guint rows, candidates, classes, m, h, w;
};

static gboolean is_form(struct head *head, guint rows, guint candidates, gboolean turned)
{
    const guint64 grid = (guint64)head->h * head->w * 21;
    const guint64 n = (guint64)candidates * 64;

    head->rows = rows;
    head->candidates = candidates;
    head->turned = turned;
    head->form = n == grid ? CLASSES : n == 3 * grid ? OBJECTNESS : CHOSEN;
    if (head->form == CHOSEN)
        return turned && rows == head->m + 6 && candidates <= 1000;
    head->classes = rows - MIN(rows, head->m + (head->form == CLASSES ? 4 : 5));
    return head->classes > 0;
}

static gboolean find_head(const struct tdl_tensor_params *c, const struct tdl_tensor_params *p,
                          enum tdl_layout layout, gboolean sure, struct head *out)
{
    const gboolean nchw = layout == TDL_LAYOUT_NCHW;

    if (c->rank != 3 || c->shape[0] != 1 || p->rank != 4 || p->shape[0] != 1 ||
        !gst_tdl_objects_is_real(c) || !gst_tdl_objects_is_real(p))
        return FALSE;
    *out = (struct head){ .m = p->shape[nchw ? 1 : 3],
                          .h = p->shape[nchw ? 2 : 1],
                          .w = p->shape[nchw ? 3 : 2] };
    if (is_form(out, c->shape[1], c->shape[2], FALSE) ||
        is_form(out, c->shape[2], c->shape[1], TRUE))
        return TRUE;
    out->form = CLASSES;
    out->turned = c->shape[1] > c->shape[2];
    out->rows = c->shape[out->turned ? 2 : 1];
    out->candidates = c->shape[out->turned ? 1 : 2];
    out->classes = out->rows - MIN(out->rows, out->m + 4);
    return sure && out->classes > 0;
}

gboolean gst_tdl_yolo_fits(const struct tdl_tensor_params *candidates,
                           const struct tdl_tensor_params *prototypes, enum tdl_layout layout,
                           gboolean sure)
{
    struct head head;

    return find_head(candidates, prototypes, layout, sure, &head);
}

/* ------------------------------------------------------------------- pieces */

/* Rows of a matrix. */
static struct tdl_operand *rows(struct tdl_builder *b, struct tdl_operand *x, guint start,
                                guint count)
{
    const struct tdl_slice_params p = { .start = { start }, .size = { count } };

    return tdl_builder_slice(b, x, &p);
}

/* -------------------------------------------------------------------- boxes */

/* [N]: the best class's score, where that class counts. */
static struct tdl_operand *score(struct tdl_builder *b, const struct head *head,
                                 struct tdl_operand *x, const GArray *classes)
{
    const guint first = head->form == OBJECTNESS ? 5 : 4, n = head->candidates;
    struct tdl_operand *s, *class;

    if (head->form == CHOSEN) {
        s = tdl_builder_reshape(b, rows(b, x, 4, 1), 1, &n);
        class = tdl_builder_reshape(b, rows(b, x, 5, 1), 1, &n);
    } else {
        class = rows(b, x, first, head->classes);
        s = gst_tdl_objects_largest(b, class);
        if (head->form == OBJECTNESS)
            s = tdl_builder_mul(b, s, tdl_builder_reshape(b, rows(b, x, 4, 1), 1, &n));
        class = gst_tdl_objects_as_float(b, tdl_builder_arg_max(b, class, 0, NULL));
    }
    return gst_tdl_objects_choose(b, s, class, classes);
}

/* [4, n]: left, top, right, bottom in pixels of the prototypes. Networks say pixels of the
 * picture or shares of it: candidates are all over the picture, and shares are below 2. */
static struct tdl_operand *corners(struct tdl_builder *b, const struct head *head,
                                   struct tdl_operand *all, struct tdl_operand *picked)
{
    const gfloat shares[] = { head->w, head->h, head->w, head->h };
    const gfloat pixels[] = { 1.f / STRIDE, 1.f / STRIDE, 1.f / STRIDE, 1.f / STRIDE };
    struct tdl_operand *low = rows(b, picked, 0, 2), *high = rows(b, picked, 2, 2), *most, *scale;

    if (head->form != CHOSEN) {
        struct tdl_operand *half = tdl_builder_linear(b, high, 0.5f, 0);

        high = tdl_builder_add(b, low, half);
        low = tdl_builder_sub(b, low, half);
    }
    most =
        tdl_builder_reduce(b, rows(b, all, 0, head->form == CHOSEN ? 4 : 2), TDL_REDUCE_MAX, NULL);
    scale = tdl_builder_where(b, tdl_builder_lesser(b, most, gst_tdl_objects_number(b, 2)),
                              gst_tdl_objects_numbers(b, shares, 2, 4, 1),
                              gst_tdl_objects_numbers(b, pixels, 2, 4, 1));
    return tdl_builder_mul(b, tdl_builder_concat(b, (struct tdl_operand *[]){ low, high }, 2, 0),
                           scale);
}

/* 1 where a box stays, [n]. Boxes of different classes are moved apart. */
static struct tdl_operand *suppress(struct tdl_builder *b, const struct head *head,
                                    struct tdl_operand *x, struct tdl_operand *boxes,
                                    gfloat threshold)
{
    const guint first = head->form == OBJECTNESS ? 5 : 4;
    struct tdl_operand *class = gst_tdl_objects_as_float(
        b, tdl_builder_arg_max(b, rows(b, x, first, head->classes), 0, NULL));

    boxes = tdl_builder_add(b, boxes, tdl_builder_linear(b, class, 4.f * MAX(head->w, head->h), 0));
    boxes = tdl_builder_transpose(b, boxes, NULL);
    return gst_tdl_objects_as_float(b, tdl_builder_non_max_suppression(b, boxes, threshold));
}

/* -------------------------------------------------------------------- masks */

/* 1 where the centre of a pixel along a side of `size` px is between two corners, of each
 * object: [objects, h, 1] or [objects, 1, w]. */
static struct tdl_operand *between(struct tdl_builder *b, struct tdl_operand *boxes, guint low,
                                   guint size, guint objects, gboolean vertical)
{
    const guint line[] = { vertical ? size : 1, vertical ? 1 : size }, list[] = { objects, 1, 1 };
    g_autofree gfloat *centres = g_new(gfloat, size);
    struct tdl_operand *at, *start, *end;

    for (guint i = 0; i < size; i++)
        centres[i] = i + 0.5f;
    at = gst_tdl_objects_numbers(b, centres, 2, line[0], line[1]);
    start = tdl_builder_reshape(b, rows(b, boxes, low, 1), 3, list);
    end = tdl_builder_reshape(b, rows(b, boxes, low + 2, 1), 3, list);
    return tdl_builder_logical_and(b, tdl_builder_greater_or_equal(b, at, start),
                                   tdl_builder_lesser(b, at, end));
}

/* Sums [objects, h, w] of the prototypes by coefficients [M, objects]. */
static struct tdl_operand *add_up(struct tdl_builder *b, const struct head *head,
                                  struct tdl_operand *coefficients, struct tdl_operand *prototypes,
                                  gboolean nchw, guint objects)
{
    const guint area = head->h * head->w, shape[] = { objects, head->h, head->w };
    const guint matrix[] = { nchw ? head->m : area, nchw ? area : head->m };
    const struct tdl_gemm_params p = { .a_transpose = true, .b_transpose = !nchw };

    prototypes = tdl_builder_reshape(b, gst_tdl_objects_as_float(b, prototypes), 2, matrix);
    return tdl_builder_reshape(b, tdl_builder_gemm(b, coefficients, prototypes, &p), 3, shape);
}

/* The union over objects, whose scores are 0 where there is none. To add is what devices do
 * fastest with so many numbers. */
static struct tdl_operand *unite(const struct gst_tdl_objects *o, const struct head *head,
                                 struct tdl_operand *sums, struct tdl_operand *boxes,
                                 struct tdl_operand *scores, guint objects)
{
    const guint list[] = { objects, 1, 1 }, image[] = { 1, head->h, head->w, 1 };
    const guint flat[] = { objects, head->h * head->w };
    struct tdl_builder *b = o->builder;
    struct tdl_operand *rows_of, *columns_of, *there;

    there = tdl_builder_greater(b, tdl_builder_reshape(b, scores, 3, list),
                                gst_tdl_objects_number(b, 0));
    rows_of = tdl_builder_logical_and(b, between(b, boxes, 1, head->h, objects, TRUE), there);
    columns_of = between(b, boxes, 0, head->w, objects, FALSE);
    sums = tdl_builder_add(b, sums, gst_tdl_objects_or_nowhere(b, rows_of));
    sums = tdl_builder_add(b, sums, gst_tdl_objects_or_nowhere(b, columns_of));
    sums = gst_tdl_follow_unite(o, tdl_builder_reshape(b, sums, 2, flat), head->h, head->w, TRUE);
    return tdl_builder_sigmoid(b, tdl_builder_reshape(b, sums, 4, image));
}

static struct tdl_operand *decode(const struct gst_tdl_objects *o, struct tdl_operand *candidates,
                                  struct tdl_operand *prototypes, enum tdl_layout layout)
{
    const struct gst_tdl_sources *sources = o->sources;
    struct tdl_builder *b = o->builder;
    struct tdl_operand *all, *x, *scores, *boxes, *indices;
    guint kept, objects;
    struct head head;

    if (!find_head(tdl_operand_get_desc(candidates), tdl_operand_get_desc(prototypes), layout, TRUE,
                   &head) ||
        (head.form != CHOSEN && !gst_tdl_objects_check_classes(b, sources->classes, head.classes)))
        return NULL;
    all = tdl_builder_reshape(b, gst_tdl_objects_as_float(b, candidates), 2,
                              (guint[]){ head.turned ? head.candidates : head.rows,
                                         head.turned ? head.rows : head.candidates });
    if (head.turned)
        all = tdl_builder_transpose(b, all, NULL);
    scores = score(b, &head, all, sources->classes);
    kept = MIN(head.candidates, MOST_CANDIDATES);
    indices = gst_tdl_objects_best(b, scores, kept);
    scores = tdl_builder_gather(b, scores, indices, 0);
    x = tdl_builder_gather(b, all, indices, 1);
    boxes = corners(b, &head, all, x);
    if (head.form != CHOSEN)
        scores = tdl_builder_mul(b, scores, suppress(b, &head, x, boxes, sources->iou_threshold));
    scores = gst_tdl_objects_above(b, scores, sources->score_threshold);
    objects = MIN(kept, GST_TDL_OBJECTS_MOST);
    indices = gst_tdl_objects_best(b, scores, objects);
    x = rows(b, x, head.rows - head.m, head.m);
    x = add_up(b, &head, tdl_builder_gather(b, x, indices, 1), prototypes,
               layout == TDL_LAYOUT_NCHW, objects);
    return unite(o, &head, x, tdl_builder_gather(b, boxes, indices, 1),
                 tdl_builder_gather(b, scores, indices, 0), objects);
}

gboolean gst_tdl_yolo_find(const struct gst_tdl_objects *o, struct tdl_operand **parts)
{
    const gboolean sure = o->sources->decoder == GST_TDL_DECODE_YOLO_SEG;

    for (guint i = 0; i < o->count; i++)
        for (guint k = 0; k < o->count; k++) {
            parts[0] = o->outputs[i];
            parts[1] = o->outputs[k];
            if (gst_tdl_yolo_fits(tdl_operand_get_desc(parts[0]), tdl_operand_get_desc(parts[1]),
                                  gst_tdl_objects_layout(o->builder, parts[1]), sure))
                return TRUE;
        }
    return FALSE;
}

struct tdl_operand *gst_tdl_yolo_mask(const struct gst_tdl_objects *o,
                                      struct tdl_operand *const *parts)
{
    return decode(o, parts[0], parts[1], gst_tdl_objects_layout(o->builder, parts[1]));
}
