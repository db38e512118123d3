/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Loop by which torchvision's Mask R-CNN pastes its masks into the picture
 * (roi_heads.paste_masks_in_image): one after the other, each resized to its box, whose size is
 * a number, and with zeros round it. Here all are pasted at once, as a product of rows and of
 * columns, which tell how much each of a mask's counts at each pixel.
 *
 * The body is known by what it does: of the outer graph it takes mask and box by the iteration,
 * it resizes once, linearly, and joins the result to a list of pictures.
 */
#include "onnx.h"

#include <string.h>

typedef struct tdl_operand *O;

struct paste {
    struct onnx_import *im;
    const struct tdl_pb *body, *number; /* the name of the iteration's number */
    O masks, boxes;                     /* [masks, 1, rows, columns], [masks, 4] */
    uint32_t size[2];                   /* height and width of the picture */
    uint32_t resized;                   /* nodes that resize */
    bool first;                         /* a size of 1 is of the first pixel */
};

static bool is_written(const struct paste *p, const struct tdl_pb *name)
{
    struct tdl_pb g = *p->body;
    struct tdl_pb_field f, h;

    while (tdl_pb_next(&g, &f))
        while (f.number == ONNX_GRAPH_NODE && tdl_pb_next(&f.in, &h))
            if (h.number == ONNX_NODE_OUTPUT && tdl_pb_equal(&h.in, name))
                return true;
    return false;
}

/* An outer value that the iteration takes a row of. */
static bool take_rows(struct paste *p, const struct tdl_pb *name)
{
    const struct onnx_value *v = onnx_find(p->im, name);
    O *to;

    if (!v || !v->operand || is_written(p, name))
        return true;
    const uint32_t rank = tdl_kit_rank(v->operand), *s = tdl_kit_shape(v->operand);
    if (rank == 4 && s[1] == 1)
        to = &p->masks;
    else if (rank == 2 && s[1] == 4)
        to = &p->boxes;
    else
        return false;
    if (*to && *to != v->operand)
        return false;
    *to = v->operand;
    return true;
}

/* Between pixels' centres, as PyTorch does; of a size of 1 it takes the first, or the middle. */
static bool resizes_linearly(struct paste *p, struct tdl_pb node)
{
    struct tdl_pb_field f, a;
    bool linear = false, half = false;

    while (tdl_pb_next(&node, &f))
        while (f.number == ONNX_NODE_ATTRIBUTE && tdl_pb_next(&f.in, &a)) {
            if (a.number != ONNX_ATTRIBUTE_STRING)
                continue;
            linear |= tdl_pb_is(&a.in, "linear");
            p->first |= tdl_pb_is(&a.in, "pytorch_half_pixel");
            half |= tdl_pb_is(&a.in, "half_pixel");
        }
    return linear && (half || p->first);
}

/* One node of the body; false where it is none of such a loop. */
static bool look_at(struct paste *p, const struct tdl_pb *node)
{
    static const char *const usual[] = {
        "Add",     "Cast",      "Concat", "Constant",  "ConstantOfShape",
        "Equal",   "Expand",    "Gather", "Identity",  "Max",
        "Min",     "Mul",       "Range",  "ReduceMax", "ReduceMin",
        "Reshape", "Resize",    "Shape",  "Slice",     "Squeeze",
        "Sub",     "Unsqueeze", "Where"};
    struct tdl_pb m = *node, type = {0}, inputs[2] = {{0}};
    struct tdl_pb_field f;
    uint32_t count = 0;
    size_t i = 0;

    while (tdl_pb_next(&m, &f)) {
        if (f.number == ONNX_NODE_TYPE)
            type = f.in;
        else if (f.number == ONNX_NODE_INPUT && count < 2)
            inputs[count++] = f.in;
    }
    while (i < sizeof(usual) / sizeof(*usual) && !tdl_pb_is(&type, usual[i]))
        i++;
    if (i == sizeof(usual) / sizeof(*usual))
        return false;
    if (tdl_pb_is(&type, "Resize")) {
        p->resized++;
        return resizes_linearly(p, *node);
    }
    if (tdl_pb_is(&type, "Gather") && count == 2 && tdl_pb_equal(&inputs[1], p->number))
        return take_rows(p, &inputs[0]);
    return true;
}

static bool is_paste(struct paste *p)
{
    struct tdl_pb g = *p->body;
    struct tdl_pb_field f;

    while (tdl_pb_next(&g, &f))
        if (f.number == ONNX_GRAPH_NODE && !look_at(p, &f.in))
            return false;
    return p->resized == 1 && p->masks && p->boxes &&
           tdl_kit_shape(p->masks)[0] == tdl_kit_shape(p->boxes)[0] &&
           tdl_kit_desc(p->masks)->dtype == TDL_FLOAT32;
}

/* 0, 1, … along one of three dimensions. */
static O steps(const struct paste *p, uint32_t count, uint32_t axis)
{
    uint32_t shape[] = {1, 1, 1};

    shape[axis] = count;
    return onnx_reshape(p->im, onnx_sequence(p->im, TDL_FLOAT32, count, 0, 1), 3, shape);
}

/* A side of the boxes, [masks, 1, 1]. */
static O side(const struct paste *p, uint32_t column)
{
    const uint32_t count = tdl_kit_shape(p->boxes)[0], shape[] = {count, 1, 1};
    const struct tdl_slice_params s = {.start = {0, column}, .size = {count, 1}};
    struct tdl_builder *b = p->im->builder;

    return onnx_reshape(p->im, tdl_builder_cast(b, tdl_builder_slice(b, p->boxes, &s), TDL_FLOAT32),
                        3, shape);
}

/* Along an axis (0: y), how much each of the mask's rows counts in each of the picture's:
 * [masks, picture's, mask's]. A box's last pixel is in it. */
static O shares(const struct paste *p, uint32_t axis)
{
    static const float zero = 0, one = 1;
    const uint32_t rows = tdl_kit_shape(p->masks)[2 + axis];
    const float last = (float)rows - 1;
    struct tdl_builder *b = p->im->builder;
    O first = side(p, 1 - axis), end = side(p, 3 - axis), length, size, at, share, inside;
    O place = steps(p, p->size[axis], 1), row = steps(p, rows, 2);

    if (!first || !end || !place || !row)
        return NULL;
    length = tdl_builder_linear(b, tdl_builder_sub(b, end, first), 1, 1);
    size = tdl_builder_clamp(b, length, &one, NULL);
    place = tdl_builder_sub(b, place, first);
    at = tdl_builder_div(b, tdl_builder_linear(b, place, (float)rows, 0.5f * (float)rows), size);
    at = tdl_builder_clamp(b, tdl_builder_linear(b, at, 1, -0.5f), &zero, &last);
    if (p->first) {
        O more = tdl_builder_greater(b, size, tdl_kit_like(&p->im->kit, size, 1));

        at = tdl_builder_mul(b, at, tdl_builder_cast(b, more, TDL_FLOAT32));
    }
    share = tdl_builder_linear(b, tdl_builder_abs(b, tdl_builder_sub(b, at, row)), -1, 1);
    share = tdl_builder_clamp(b, share, &zero, NULL);
    inside = tdl_builder_logical_and(
        b, tdl_builder_greater_or_equal(b, place, tdl_kit_like(&p->im->kit, place, 0)),
        tdl_builder_lesser(b, place, length));
    return tdl_builder_mul(b, share, tdl_builder_cast(b, inside, TDL_FLOAT32));
}

static bool give_pasted(const struct paste *p, O count)
{
    const uint32_t *s = tdl_kit_shape(p->masks), shape[] = {s[0], s[2], s[3]};
    struct tdl_builder *b = p->im->builder;
    O rows = shares(p, 0), columns = rows ? shares(p, 1) : NULL;
    O masks = columns ? onnx_reshape(p->im, p->masks, 3, shape) : NULL;

    if (!masks)
        return false;
    columns = tdl_builder_transpose(b, columns, (const uint32_t[]){0, 2, 1});
    return onnx_give(p->im, tdl_builder_matmul(b, tdl_builder_matmul(b, rows, masks), columns)) &&
           onnx_set_count(p->im, 0, 0, count);
}

bool onnx_paste_masks(struct onnx_import *im, const struct tdl_pb *body,
                      const struct tdl_pb *number, O count, bool *ok)
{
    struct paste p = {.im = im, .body = body, .number = number};
    struct tdl_tensor_params list;

    if (im->node.input_count != 3 || im->node.output_count != 1 || !onnx_is_empty(im, 2) ||
        !onnx_desc(im, 2, &list) || list.rank != 3 || !list.shape[1] || !list.shape[2] ||
        !is_paste(&p))
        return false;
    p.size[0] = list.shape[1];
    p.size[1] = list.shape[2];
    *ok = give_pasted(&p, count);
    return true;
}
