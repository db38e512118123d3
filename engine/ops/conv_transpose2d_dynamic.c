/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* convTranspose2d by a filter that is computed or bound at dispatch: conv2d, by the filter
 * turned round, of the input with zeros between its pixels. */
#include "conv2d_dynamic.h"

typedef struct tdl_operand *O;

/* How many zeros, or fewer pixels where it is below 0, come before and behind the stuffed
 * input in one dimension. */
struct border {
    int64_t before, behind;
};

/* x [n, h, w, c] with stride − 1 rows and columns of zeros behind each of its own, as far as
 * the output reaches. */
static O stuff(struct tdl_builder *b, O x, const uint32_t stride[2], const struct border border[2])
{
    const uint32_t n = x->desc.shape[0], c = x->desc.shape[3];
    const uint32_t h = x->desc.shape[1], w = x->desc.shape[2];
    const uint32_t size[] = {h * stride[0], w * stride[1]};
    struct tdl_slice_params part = {0};
    x = tdl_builder_reshape(b, x, 6, (const uint32_t[]){n, h, 1, w, 1, c});
    x = tdl_builder_pad(
        b, x, &(struct tdl_pad_params){.after = {0, 0, stride[0] - 1, 0, stride[1] - 1, 0}});
    x = tdl_builder_reshape(b, x, 4, (const uint32_t[]){n, size[0], size[1], c});
    for (int i = 0; i < 2; i++) {
        part.start[1 + i] = (uint32_t)TDL_MAX(-border[i].before, 0);
        part.size[1 + i] = size[i] - part.start[1 + i] - (uint32_t)TDL_MAX(-border[i].behind, 0);
    }
    return tdl_builder_slice(b, x, &part);
}

/* [out / groups, kh, kw, in] as conv2d's [out, kh, kw, in / groups], turned round. */
static O turn(struct tdl_builder *b, O filter, uint32_t groups)
{
    const uint32_t *s = filter->desc.shape, o = s[0], h = s[1], w = s[2], in = s[3] / groups;
    filter = tdl_builder_reverse(b, filter, 2, (const uint32_t[]){1, 2});
    if (groups == 1)
        return filter;
    filter = tdl_builder_reshape(b, filter, 5, (const uint32_t[]){o, h, w, groups, in});
    filter = tdl_builder_transpose(b, filter, (const uint32_t[]){3, 0, 1, 2, 4});
    return tdl_builder_reshape(b, filter, 4, (const uint32_t[]){groups * o, h, w, in});
}

O tdl_conv_transpose2d_dynamic(struct tdl_builder *b, O x, O filter,
                               const struct tdl_conv_transpose2d_params *p,
                               const struct tdl_window *w)
{
    const enum tdl_layout layout = (enum tdl_layout)p->input_layout;
    struct tdl_conv2d_params inner = {.groups = p->groups,
                                      .bias = p->bias,
                                      .activation = p->activation,
                                      .input_layout = TDL_LAYOUT_NHWC};
    struct border border[2];
    if (x->desc.dtype != filter->desc.dtype)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "convTranspose2d: a filter that is no constant is of the input's "
                                "data type; %s with %s",
                                tdl_operand_text(x), tdl_operand_text(filter));
    const struct tdl_operand *given = x; /* messages have the caller's order of dimensions */
    x = tdl_to_nhwc(b, x, layout);
    for (int i = 0; x && i < 2; i++) {
        const int64_t in = (int64_t)x->desc.shape[1 + i] * w->stride[i];
        if (in > INT32_MAX)
            return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                    "convTranspose2d: a stride of %u is too large for %s and a "
                                    "filter that is no constant",
                                    w->stride[i], tdl_operand_text(given));
        inner.dilation[i] = w->dilation[i];
        const int64_t reach = (int64_t)(filter->desc.shape[1 + i] - 1) * inner.dilation[i];
        border[i].before = reach - w->pad[2 * i];
        border[i].behind = (int64_t)w->out[i] + reach - in - border[i].before;
        inner.pad[2 * i] = (uint32_t)TDL_MAX(border[i].before, 0);
        inner.pad[2 * i + 1] = (uint32_t)TDL_MAX(border[i].behind, 0);
    }
    x = x ? stuff(b, x, w->stride, border) : NULL;
    filter = turn(b, filter, inner.groups);
    if (!x || !filter)
        return NULL;
    return tdl_from_nhwc(b, tdl_conv2d_dynamic(b, x, filter, &inner), layout);
}
