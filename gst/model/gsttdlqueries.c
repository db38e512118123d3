/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query's class is the one with the highest score, as in the panoptic inference of Cheng et
 * al. 2021 ("MaskFormer"): it is an object where that class counts, is not "no object", and has a
 * probability above the threshold. Of the best objects the highest logit is the union's, as a
 * sigmoid rises.
 */
#include "gsttdlqueries.h"

#include "gsttdlfollow.h"

#define BOX 4 /* numbers */

/* How many queries a table [1, Q, C] has; 0: it is none. */
static guint count_rows(const struct tdl_tensor_params *p)
{
    return p->rank == 3 && p->shape[0] == 1 && gst_tdl_objects_is_real(p) ? p->shape[1] : 0;
}

/* Where masks of so many queries have them: axis 1 or 3; 0: nowhere. */
static guint axis_of(const struct tdl_tensor_params *p, guint queries)
{
    if (p->rank != 4 || p->shape[0] != 1 || !gst_tdl_objects_is_real(p))
        return 0;
    return p->shape[1] == queries ? 1 : p->shape[3] == queries ? 3 : 0;
}

static gboolean has_aspect(const struct gst_tdl_objects *o, const struct tdl_tensor_params *p,
                           guint axis)
{
    const gint64 h = p->shape[axis == 1 ? 2 : 1], w = p->shape[axis == 1 ? 3 : 2];

    return !o->height || ABS(h * o->width - w * o->height) <= 2 * ((gint64)o->height + o->width);
}

/* The scores that masks are of. Of several tables the first counts that cannot be boxes, and
 * where all are as wide as those, the last. *out_boxed: another one is. */
static struct tdl_operand *find_scores(const struct gst_tdl_objects *o,
                                       const struct tdl_operand *masks, gboolean *out_boxed)
{
    const struct tdl_tensor_params *m = tdl_operand_get_desc(masks);
    struct tdl_operand *wide = NULL, *last = NULL;
    guint boxes = 0;

    for (guint i = 0; i < o->count; i++) {
        const struct tdl_tensor_params *p = tdl_operand_get_desc(o->outputs[i]);
        const guint queries = count_rows(p);

        if (!queries || !axis_of(m, queries))
            continue;
        last = o->outputs[i];
        boxes += p->shape[2] == BOX;
        if (p->shape[2] != BOX && !wide)
            wide = last;
    }
    *out_boxed = boxes > (wide ? 0 : 1);
    return wide ? wide : last;
}

static gboolean find(const struct gst_tdl_objects *o, gboolean boxed, struct tdl_operand **parts)
{
    const gboolean sure = o->sources->decoder != GST_TDL_DECODE_AUTO;

    for (guint i = 0; i < o->count; i++) {
        const struct tdl_tensor_params *masks = tdl_operand_get_desc(o->outputs[i]);
        gboolean has_boxes;
        struct tdl_operand *scores = find_scores(o, o->outputs[i], &has_boxes);

        if (!scores)
            continue;
        parts[0] = scores;
        parts[1] = o->outputs[i];
        if (sure || (has_boxes == boxed &&
                     has_aspect(o, masks, axis_of(masks, tdl_operand_get_desc(scores)->shape[1]))))
            return TRUE;
    }
    return FALSE;
}

gboolean gst_tdl_queries_find(const struct gst_tdl_objects *o, struct tdl_operand **parts)
{
    return find(o, FALSE, parts);
}

gboolean gst_tdl_queries_find_boxed(const struct gst_tdl_objects *o, struct tdl_operand **parts)
{
    return find(o, TRUE, parts);
}

/* [Q]: the probability of the best class where that counts, else 0, of scores [Q, C]. */
static struct tdl_operand *score(const struct gst_tdl_objects *o, struct tdl_operand *x,
                                 gboolean softmax)
{
    const struct tdl_reduce_params over_classes = { .axes = { 1 }, .axis_count = 1 };
    const guint count = tdl_operand_get_desc(x)->shape[1];
    struct tdl_builder *b = o->builder;
    struct tdl_operand *class, *s;

    class = gst_tdl_objects_as_float(b, tdl_builder_arg_max(b, x, 1, NULL));
    s = softmax ? tdl_builder_softmax(b, x, 1) : tdl_builder_sigmoid(b, x);
    s = tdl_builder_reduce(b, s, TDL_REDUCE_MAX, &over_classes);
    if (softmax) {
        struct tdl_operand *is_object =
            tdl_builder_lesser(b, class, gst_tdl_objects_number(b, count - 1));

        s = tdl_builder_mul(b, s, gst_tdl_objects_as_float(b, is_object));
    }
    return gst_tdl_objects_choose(b, s, class, o->sources->classes);
}

/* Logits [objects, h · w] of the queries with these indices. */
static struct tdl_operand *pick(struct tdl_builder *b, struct tdl_operand *masks, guint axis,
                                struct tdl_operand *indices)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(masks);
    const guint queries = p->shape[axis];
    const guint area = p->shape[2] * p->shape[axis == 1 ? 3 : 1];
    const guint shape[] = { axis == 1 ? queries : area, axis == 1 ? area : queries };

    masks = tdl_builder_gather(b, tdl_builder_reshape(b, masks, 2, shape), indices, axis == 3);
    masks = gst_tdl_objects_as_float(b, masks);
    return axis == 1 ? masks : tdl_builder_transpose(b, masks, NULL);
}

static struct tdl_operand *decode(const struct gst_tdl_objects *o, struct tdl_operand *const *parts,
                                  gboolean softmax)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(parts[0]);
    const struct tdl_tensor_params *m = tdl_operand_get_desc(parts[1]);
    const guint queries = p->shape[1], axis = axis_of(m, queries);
    const guint image[] = { 1, m->shape[axis == 1 ? 2 : 1], m->shape[axis == 1 ? 3 : 2], 1 };
    const guint objects = MIN(queries, GST_TDL_OBJECTS_MOST), list[] = { objects, 1 };
    struct tdl_builder *b = o->builder;
    struct tdl_operand *x, *scores, *indices;

    if (!gst_tdl_objects_check_classes(b, o->sources->classes, p->shape[2] - softmax))
        return NULL;
    x = tdl_builder_reshape(b, gst_tdl_objects_as_float(b, parts[0]), 2, p->shape + 1);
    scores = gst_tdl_objects_above(b, score(o, x, softmax), o->sources->score_threshold);
    indices = gst_tdl_objects_best(b, scores, objects);
    scores = tdl_builder_reshape(b, tdl_builder_gather(b, scores, indices, 0), 2, list);
    scores = tdl_builder_greater(b, scores, gst_tdl_objects_number(b, 0));
    x = pick(b, parts[1], axis, indices);
    x = tdl_builder_add(b, x, gst_tdl_objects_or_nowhere(b, scores));
    x = gst_tdl_follow_unite(o, x, image[1], image[2], TRUE);
    x = tdl_builder_reshape(b, x, 4, image);
    return tdl_builder_sigmoid(b, x);
}

struct tdl_operand *gst_tdl_queries_mask_by_softmax(const struct gst_tdl_objects *o,
                                                    struct tdl_operand *const *parts)
{
    return decode(o, parts, TRUE);
}

struct tdl_operand *gst_tdl_queries_mask_by_sigmoid(const struct gst_tdl_objects *o,
                                                    struct tdl_operand *const *parts)
{
    return decode(o, parts, FALSE);
}
