/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask in a box is put into the picture by bilinear interpolation, with zeros around it and
 * pixels' centres at halves, as Detectron2's heads do. It is separable: two matrix products for
 * each object, by weights that fall from 1 to 0 over one pixel of the mask.
 */
#include "gsttdlmaskrcnn.h"

#include "gsttdlfollow.h"

#define STRIDE 4           /* px of the picture a pixel of the union, of masks in boxes */
#define LEAST_EXTENT 1e-3f /* px, of a box that is empty */

enum { MASKS, LABELS, BOXES, SCORES };

/* Lists of N entries, and tables of N rows, perhaps behind a dimension of 1. */
static gboolean is_list(const struct tdl_tensor_params *p, guint n)
{
    return (p->rank == 1 && p->shape[0] == n) ||
           (p->rank == 2 && p->shape[0] == 1 && p->shape[1] == n);
}

static gboolean is_table(const struct tdl_tensor_params *p, guint n, guint columns)
{
    const guint first = p->rank == 3;

    return (p->rank == 2 || (first && p->shape[0] == 1)) && p->shape[first] == n &&
           p->shape[first + 1] == columns;
}

/* Masks of N objects; with N = 1, boxes look like them but for their size. */
static gboolean are_masks(const struct tdl_tensor_params *p, guint n)
{
    if (!gst_tdl_objects_is_real(p) && p->dtype != TDL_UINT8)
        return FALSE;
    if (p->rank == 3)
        return p->shape[0] == n && p->shape[2] > 5;
    return p->rank == 4 &&
           ((p->shape[0] == n && p->shape[1] == 1) || (p->shape[0] == 1 && p->shape[1] == n));
}

static gboolean is_part(const struct tdl_tensor_params *p, guint part, guint n)
{
    const gboolean real = gst_tdl_objects_is_real(p);

    switch (part) {
    case MASKS:
        return are_masks(p, n);
    case BOXES:
        return real && (is_table(p, n, 4) || is_table(p, n, 5));
    case SCORES:
        return real && is_list(p, n);
    default:
        return !real && is_list(p, n);
    }
}

static struct tdl_operand *find_part(const struct gst_tdl_objects *o, guint part, guint n)
{
    for (guint i = 0; i < o->count; i++)
        if (is_part(tdl_operand_get_desc(o->outputs[i]), part, n))
            return o->outputs[i];
    return NULL;
}

/* The last dimension. */
static guint columns_of(const struct tdl_operand *x)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);

    return p->shape[p->rank - 1];
}

/* The labels say how many objects there are. */
gboolean gst_tdl_mask_rcnn_find(const struct gst_tdl_objects *o, struct tdl_operand **parts)
{
    for (guint i = 0; i < o->count; i++) {
        const struct tdl_tensor_params *p = tdl_operand_get_desc(o->outputs[i]);
        const guint n = p->rank ? p->shape[p->rank - 1] : 0;

        if (!n || !is_part(p, LABELS, n))
            continue;
        for (guint part = MASKS; part <= SCORES; part++)
            parts[part] = find_part(o, part, n);
        parts[LABELS] = o->outputs[i];
        if (parts[MASKS] && (parts[SCORES] || (parts[BOXES] && columns_of(parts[BOXES]) == 5)))
            return TRUE;
    }
    return FALSE;
}

/* Columns of a table [N, C]. */
static struct tdl_operand *columns(struct tdl_builder *b, struct tdl_operand *x, guint start,
                                   guint count)
{
    const struct tdl_slice_params p = { .start = { 0, start }, .size = { 0, count } };

    return tdl_builder_slice(b, x, &p);
}

/* How much each pixel of a mask of `size` px counts at each of `places` along a side of `extent` px
 * of the picture: [objects, places, size], or for the other factor [objects, size, places]. */
static struct tdl_operand *weights(struct tdl_builder *b, struct tdl_operand *boxes, guint low,
                                   guint size, guint places, guint extent)
{
    const gboolean turned = low == 0;
    const guint list[] = { tdl_operand_get_desc(boxes)->shape[0], 1, 1 };
    g_autofree gfloat *at = g_new(gfloat, places), *pixel = g_new(gfloat, size);
    struct tdl_operand *start, *side, *where, *distance;

    for (guint i = 0; i < places; i++)
        at[i] = (i + 0.5f) * extent / places;
    for (guint i = 0; i < size; i++)
        pixel[i] = (i + 0.5f) / size;
    start = columns(b, boxes, low, 1);
    side = tdl_builder_max(b, tdl_builder_sub(b, columns(b, boxes, low + 2, 1), start),
                           gst_tdl_objects_number(b, LEAST_EXTENT));
    start = tdl_builder_reshape(b, start, 3, list);
    side = tdl_builder_reshape(b, side, 3, list);
    where = gst_tdl_objects_numbers(b, at, 2, turned ? 1 : places, turned ? places : 1);
    where = tdl_builder_div(b, tdl_builder_sub(b, where, start), side);
    distance = tdl_builder_sub(
        b, where, gst_tdl_objects_numbers(b, pixel, 2, turned ? size : 1, turned ? 1 : size));
    return tdl_builder_relu(b,
                            tdl_builder_linear(b, tdl_builder_abs(b, distance), -(gfloat)size, 1));
}

/* Masks [objects, h · w] in boxes as masks [objects, out_h · out_w] of the picture. */
static struct tdl_operand *paste(const struct gst_tdl_objects *o, struct tdl_operand *masks,
                                 struct tdl_operand *boxes, guint h, guint w, const guint *out)
{
    struct tdl_builder *b = o->builder;
    const guint objects = tdl_operand_get_desc(masks)->shape[0], shape[] = { objects, h, w };
    const guint flat[] = { objects, out[0] * out[1] };

    masks = tdl_builder_reshape(b, masks, 3, shape);
    masks = tdl_builder_matmul(b, weights(b, boxes, 1, h, out[0], o->height), masks);
    masks = tdl_builder_matmul(b, masks, weights(b, boxes, 0, w, out[1], o->width));
    return tdl_builder_reshape(b, masks, 2, flat);
}

/* [N]: 0 where an object does not count. */
static struct tdl_operand *score(const struct gst_tdl_objects *o, struct tdl_operand *boxes,
                                 struct tdl_operand *const *parts)
{
    const guint n = columns_of(parts[LABELS]);
    struct tdl_builder *b = o->builder;
    struct tdl_operand *s = parts[SCORES], *label;

    s = s ? gst_tdl_objects_as_float(b, s) : columns(b, boxes, 4, 1);
    s = tdl_builder_reshape(b, s, 1, &n);
    label = tdl_builder_reshape(b, gst_tdl_objects_as_float(b, parts[LABELS]), 1, &n);
    s = gst_tdl_objects_choose(b, s, label, o->sources->classes);
    return gst_tdl_objects_above(b, s, o->sources->score_threshold);
}

/* Masks [objects, h · w] of those with these indices; bytes other than 0 are foreground. */
static struct tdl_operand *pick(struct tdl_builder *b, struct tdl_operand *masks, guint n,
                                guint area, struct tdl_operand *indices)
{
    const gboolean bytes = tdl_operand_get_desc(masks)->dtype == TDL_UINT8;

    masks = gst_tdl_objects_as_float(b, masks);
    masks =
        tdl_builder_gather(b, tdl_builder_reshape(b, masks, 2, (guint[]){ n, area }), indices, 0);
    return bytes ? tdl_builder_min(b, masks, gst_tdl_objects_number(b, 1)) : masks;
}

/* Masks over the whole picture, or of another shape than a box's. */
static gboolean are_whole(const struct gst_tdl_objects *o, struct tdl_operand *const *parts,
                          guint h, guint w)
{
    return !parts[BOXES] || h != w || (h == o->height && w == o->width);
}

struct tdl_operand *gst_tdl_mask_rcnn_mask(const struct gst_tdl_objects *o,
                                           struct tdl_operand *const *parts)
{
    const struct tdl_tensor_params *m = tdl_operand_get_desc(parts[MASKS]);
    const guint h = m->shape[m->rank - 2], w = m->shape[m->rank - 1];
    const guint n = columns_of(parts[LABELS]);
    const guint objects = MIN(n, GST_TDL_OBJECTS_MOST), list[] = { objects, 1 };
    const gboolean whole = are_whole(o, parts, h, w);
    const guint out[] = { whole ? h : (o->height + STRIDE - 1) / STRIDE,
                          whole ? w : (o->width + STRIDE - 1) / STRIDE };
    struct tdl_builder *b = o->builder;
    struct tdl_operand *boxes = NULL, *scores, *indices, *x;

    if (!whole && !o->height)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "its masks lie in boxes of a picture whose size is not known: "
                                "export it with masks of the picture's size");
    if (parts[BOXES])
        boxes = tdl_builder_reshape(b, gst_tdl_objects_as_float(b, parts[BOXES]), 2,
                                    (guint[]){ n, columns_of(parts[BOXES]) });
    scores = score(o, boxes, parts);
    indices = gst_tdl_objects_best(b, scores, objects);
    scores = tdl_builder_reshape(b, tdl_builder_gather(b, scores, indices, 0), 2, list);
    x = pick(b, parts[MASKS], n, h * w, indices);
    if (!whole)
        x = paste(o, x, tdl_builder_gather(b, boxes, indices, 0), h, w, out);
    scores = tdl_builder_greater(b, scores, gst_tdl_objects_number(b, 0));
    x = tdl_builder_mul(b, x, gst_tdl_objects_as_float(b, scores));
    x = gst_tdl_follow_unite(o, x, out[0], out[1], FALSE);
    return tdl_builder_reshape(b, x, 4, (guint[]){ 1, out[0], out[1], 1 });
}
