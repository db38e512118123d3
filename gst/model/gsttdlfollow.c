/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of several objects is meant: of those behind a prompt, the one that most of the points of
 * the foreground are in, and none of the background, and whose pixels have most in common with the
 * box; of those behind a mask, the one that has most in common with it. Both is measured as
 * intersection over union. Sums of pixels are made smaller, as halves end at 65504.
 */
#include "gsttdlfollow.h"

#define UNIT (1 / 256.f) /* of sums, a pixel */
#define LEAST_OVERLAP 0.1f
#define NOWHERE -1e4f /* a logit whose sigmoid is 0 */

static struct tdl_operand *number(struct tdl_builder *b, gfloat value)
{
    return gst_tdl_objects_numbers(b, &value, 2, 1, 1);
}

static struct tdl_operand *largest(struct tdl_builder *b, struct tdl_operand *x)
{
    const struct tdl_reduce_params all = { 0 };

    return tdl_builder_reshape(b, tdl_builder_reduce(b, x, TDL_REDUCE_MAX, &all), 2,
                               (guint[]){ 1, 1 });
}

void gst_tdl_follow_begin(struct gst_tdl_follow *f, struct tdl_builder *b,
                          const struct gst_tdl_sources *sources, guint height, guint width)
{
    const guint room = gst_tdl_sources_room(sources);
    const struct tdl_tensor_params prompt = { .rank = 2, .shape = { room, 3 } };
    const struct tdl_tensor_params last = { .rank = 3, .shape = { 1, height, width } };

    *f = (struct gst_tdl_follow){ b, room, height, width };
    f->prompt = tdl_builder_input(b, GST_TDL_PROMPT, &prompt);
    f->last = tdl_builder_input(b, GST_TDL_LAST, &last);
    f->tracked = tdl_builder_greater(b, largest(b, f->last), number(b, 0));
}

struct tdl_operand *gst_tdl_follow_column(const struct gst_tdl_follow *f, guint column)
{
    const struct tdl_slice_params p = { .start = { 0, column }, .size = { 0, 1 } };

    return tdl_builder_slice(f->builder, f->prompt, &p);
}

/* [1, size]: places along a side, `at` px behind the first edge of each. */
static struct tdl_operand *places(struct tdl_builder *b, guint size, gfloat at)
{
    g_autofree gfloat *list = g_new(gfloat, size);

    for (guint i = 0; i < size; i++)
        list[i] = i + at;
    return gst_tdl_objects_numbers(b, list, 2, 1, size);
}

void gst_tdl_follow_box(const struct gst_tdl_follow *f, gboolean vertical,
                        struct tdl_operand *out_ends[2])
{
    const struct tdl_reduce_params over = { .axes = { vertical ? 2 : 1 }, .axis_count = 1 };
    const struct tdl_reduce_params along = { .axes = { 1 },
                                             .axis_count = 1,
                                             .keep_dimensions = true };
    const guint size = vertical ? f->height : f->width;
    struct tdl_builder *b = f->builder;
    struct tdl_operand *is =
        tdl_builder_greater(b, tdl_builder_reduce(b, f->last, TDL_REDUCE_MAX, &over), number(b, 0));

    for (guint i = 0; i < 2; i++) {
        struct tdl_operand *end =
            tdl_builder_where(b, is, places(b, size, i), number(b, i ? 0 : size));

        end = tdl_builder_reduce(b, end, i ? TDL_REDUCE_MAX : TDL_REDUCE_MIN, &along);
        out_ends[i] = tdl_builder_linear(b, end, 1.f / size, 0);
    }
}

void gst_tdl_follow_keep(const struct gst_tdl_follow *f, struct tdl_operand *mask,
                         struct tdl_operand *found)
{
    const guint shape[] = { 1, f->height, f->width };

    mask = tdl_builder_reshape(f->builder, mask, 3, shape);
    tdl_builder_output(f->builder, GST_TDL_FOLLOWED,
                       tdl_builder_where(f->builder, found, mask, f->last));
}

/* ------------------------------------------------------- which of them is meant */

/* What the objects are compared by. */
struct choice {
    struct gst_tdl_follow follow;
    struct tdl_operand *are;  /* [N, h · w]: 1 where the object is, else 0 */
    struct tdl_operand *area; /* [N, 1], in UNIT */
};

static struct tdl_operand *sum(struct tdl_builder *b, struct tdl_operand *x, guint axis)
{
    const struct tdl_reduce_params p = { .axes = { axis },
                                         .axis_count = 1,
                                         .keep_dimensions = true };

    return tdl_builder_reduce(b, x, TDL_REDUCE_SUM, &p);
}

/* [N, 1]: intersection over union with a mask [h · w, 1] of 0 and 1. */
static struct tdl_operand *overlap(const struct choice *c, struct tdl_operand *with)
{
    const struct tdl_gemm_params in_units = { .alpha = UNIT };
    struct tdl_builder *b = c->follow.builder;
    struct tdl_operand *common = tdl_builder_gemm(b, c->are, with, &in_units);
    struct tdl_operand *both = sum(b, tdl_builder_linear(b, with, UNIT, 0), 0);

    both = tdl_builder_sub(b, tdl_builder_add(b, c->area, both), common);
    return tdl_builder_div(b, common, tdl_builder_max(b, both, number(b, UNIT / 2)));
}

/* [room, 1]: 1 for points of that kind, else 0. */
static struct tdl_operand *points_of(const struct choice *c, enum gst_tdl_point_label label)
{
    struct tdl_builder *b = c->follow.builder;

    return gst_tdl_objects_as_float(
        b, tdl_builder_equal(b, gst_tdl_follow_column(&c->follow, 2), number(b, label)));
}

/* [size, room]: 1 for the pixel that a point is in, along a side. */
static struct tdl_operand *spot(const struct choice *c, guint column, guint size)
{
    struct tdl_builder *b = c->follow.builder;
    struct tdl_operand *x =
        tdl_builder_transpose(b, gst_tdl_follow_column(&c->follow, column), NULL);
    struct tdl_operand *edge = tdl_builder_transpose(b, places(b, size, 0), NULL), *is;

    x = tdl_builder_min(b, tdl_builder_linear(b, x, size, 0), number(b, size - 0.5f));
    is = tdl_builder_logical_and(b, tdl_builder_greater_or_equal(b, x, edge),
                                 tdl_builder_lesser(b, x, tdl_builder_linear(b, edge, 1, 1)));
    return gst_tdl_objects_as_float(b, is);
}

/* [N, 1]: the share of the foreground's points that are in an object, less those of the
 * background. */
static struct tdl_operand *by_points(const struct choice *c)
{
    const guint h = c->follow.height, w = c->follow.width, room = c->follow.room;
    struct tdl_builder *b = c->follow.builder;
    struct tdl_operand *foreground = points_of(c, GST_TDL_POINT_FOREGROUND), *count, *hits, *wrong;
    struct tdl_operand *rows = spot(c, 1, h), *columns = spot(c, 0, w);

    rows = tdl_builder_reshape(b, rows, 3, (guint[]){ h, 1, room });
    columns = tdl_builder_reshape(b, columns, 3, (guint[]){ 1, w, room });
    hits = tdl_builder_reshape(b, tdl_builder_mul(b, rows, columns), 2, (guint[]){ h * w, room });
    hits = tdl_builder_gemm(b, c->are, hits, NULL);
    count = tdl_builder_max(b, sum(b, foreground, 0), number(b, 1));
    wrong = tdl_builder_gemm(b, hits, points_of(c, GST_TDL_POINT_BACKGROUND), NULL);
    hits = tdl_builder_gemm(b, hits, foreground, NULL);
    return tdl_builder_sub(b, tdl_builder_div(b, hits, count), wrong);
}

/* [1, size]: 1 for pixels whose centres are in the box, along a side. */
static struct tdl_operand *stretch(const struct choice *c, guint column, guint size)
{
    struct tdl_builder *b = c->follow.builder;
    struct tdl_operand *x = gst_tdl_follow_column(&c->follow, column), *ends[2];
    struct tdl_operand *at = places(b, size, 0.5f);

    for (guint i = 0; i < 2; i++) {
        ends[i] = points_of(c, i ? GST_TDL_POINT_BOX_LAST : GST_TDL_POINT_BOX_FIRST);
        ends[i] = tdl_builder_linear(b, sum(b, tdl_builder_mul(b, x, ends[i]), 0), size, 0);
    }
    return gst_tdl_objects_as_float(
        b, tdl_builder_logical_and(b, tdl_builder_greater_or_equal(b, at, ends[0]),
                                   tdl_builder_lesser(b, at, ends[1])));
}

static struct tdl_operand *by_box(const struct choice *c)
{
    const guint h = c->follow.height, w = c->follow.width;
    struct tdl_builder *b = c->follow.builder;
    struct tdl_operand *box =
        tdl_builder_mul(b, tdl_builder_transpose(b, stretch(c, 1, h), NULL), stretch(c, 0, w));

    return overlap(c, tdl_builder_reshape(b, box, 2, (guint[]){ h * w, 1 }));
}

static struct tdl_operand *choose(const struct choice *c, struct tdl_operand *masks,
                                  gboolean logits)
{
    const struct gst_tdl_follow *f = &c->follow;
    struct tdl_builder *b = f->builder;
    struct tdl_operand *last, *score, *best, *found;

    last = tdl_builder_reshape(b, f->last, 2, (guint[]){ f->height * f->width, 1 });
    score = tdl_builder_add(b, by_points(c), by_box(c));
    score = tdl_builder_where(b, f->tracked, overlap(c, last), score);
    best = tdl_builder_arg_max(b, score, 0, NULL);
    found = tdl_builder_greater(b, largest(b, score), number(b, LEAST_OVERLAP));
    gst_tdl_follow_keep(f, tdl_builder_gather(b, c->are, best, 0), found);
    return tdl_builder_where(b, found, tdl_builder_gather(b, masks, best, 0),
                             number(b, logits ? NOWHERE : 0));
}

struct tdl_operand *gst_tdl_follow_unite(const struct gst_tdl_objects *o, struct tdl_operand *masks,
                                         guint h, guint w, gboolean logits)
{
    struct tdl_builder *b = o->builder;
    struct choice c;

    if (!gst_tdl_sources_room(o->sources))
        return gst_tdl_objects_largest(b, masks);
    gst_tdl_follow_begin(&c.follow, b, o->sources, h, w);
    c.are =
        gst_tdl_objects_as_float(b, tdl_builder_greater(b, masks, number(b, logits ? 0 : 0.5f)));
    c.area = sum(b, tdl_builder_linear(b, c.are, UNIT, 0), 1);
    return choose(&c, masks, logits);
}
