/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's windows over three dimensions of space, as windows over two of them and then over
 * the third. A pool's window is a box: the maximum of maxima, the mean of means, since each
 * row of a box sees as many elements as the others. A convolution is the sum of those by
 * each slice of the filter. A transposed one is that of the slices, whose results are added where
 * they lie.
 */
#include "onnx.h"

#include <string.h>

typedef struct tdl_operand *O;

/* Depth, height, width. */
struct box {
    uint32_t kernel[3], stride[3], dilation[3], before[3], after[3];
};

/* `kernel`: a filter's, or NULL. `in` is the size of space. */
static bool take_box(struct onnx_import *im, const uint32_t *in, const uint32_t *kernel,
                     struct box *w)
{
    uint32_t pads[6] = {0}, pad[2];

    *w = (struct box){.kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    if (!onnx_steps(im, "kernel_shape", 3, 1, w->kernel) ||
        !onnx_steps(im, "strides", 3, 1, w->stride) ||
        !onnx_steps(im, "dilations", 3, 1, w->dilation) || !onnx_steps(im, "pads", 6, 0, pads))
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        if (kernel)
            w->kernel[i] = kernel[i];
        pad[0] = pads[i];
        pad[1] = pads[3 + i];
        tdl_kit_pad_same(onnx_auto_pad(im), in[i], w->kernel[i], w->dilation[i], w->stride[i], pad);
        w->before[i] = pad[0];
        w->after[i] = pad[1];
    }
    return true;
}

/* x as pictures of this shape. */
static O as_pictures(struct onnx_import *im, O x, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
    return onnx_reshape(im, x, 4, (const uint32_t[]){n, c, h, w});
}

/* -------------------------------------------------------------------------- pools */

typedef O (*pool_fn)(struct tdl_builder *, O, const struct tdl_pool2d_params *);

static struct tdl_pool2d_params plane_of(struct onnx_import *im, const struct box *w)
{
    return (struct tdl_pool2d_params){
        .window = {w->kernel[1], w->kernel[2]},
        .stride = {w->stride[1], w->stride[2]},
        .dilation = {w->dilation[1], w->dilation[2]},
        .pad = {w->before[1], w->after[1], w->before[2], w->after[2]},
        .rounding = onnx_int(im, "ceil_mode", 0) ? TDL_ROUNDING_CEIL : TDL_ROUNDING_FLOOR,
        .count_include_pad = onnx_int(im, "count_include_pad", 0) != 0,
        .input_layout = TDL_LAYOUT_NCHW,
    };
}

bool onnx_add_volume_pool(struct onnx_import *im, O x, bool max, onnx_then *then)
{
    const pool_fn pool = max ? tdl_builder_max_pool2d : tdl_builder_average_pool2d;
    const enum tdl_dtype dtype = tdl_kit_desc(x)->dtype;
    const bool narrow = dtype == TDL_UINT8 || dtype == TDL_INT8;
    uint32_t s[5], planes;
    struct box w;

    memcpy(s, tdl_kit_shape(x), sizeof(s));
    if (!take_box(im, s + 2, NULL, &w))
        return false;
    planes = s[0] * s[1];
    struct tdl_pool2d_params p = plane_of(im, &w);
    onnx_fit_window(&p, s + 3);
    if (narrow)
        x = tdl_builder_cast(im->builder, x, TDL_FLOAT32);
    x = pool(im->builder, as_pictures(im, x, planes, s[2], s[3], s[4]), &p);
    s[3] = tdl_kit_shape(x)[2];
    s[4] = tdl_kit_shape(x)[3];
    p.window[0] = w.kernel[0];
    p.stride[0] = w.stride[0];
    p.dilation[0] = w.dilation[0];
    p.pad[0] = w.before[0];
    p.pad[1] = w.after[0];
    p.window[1] = p.stride[1] = p.dilation[1] = 1;
    p.pad[2] = p.pad[3] = 0;
    onnx_fit_window(&p, (const uint32_t[]){s[2], 1});
    x = pool(im->builder, as_pictures(im, x, planes, 1, s[2], s[3] * s[4]), &p);
    s[2] = tdl_kit_shape(x)[2];
    if (narrow)
        x = tdl_builder_cast(im->builder, x, dtype);
    x = onnx_reshape(im, x, 5, s);
    return x && onnx_give(im, then ? then(im, x) : x);
}

/* ------------------------------------------------------------------- convolutions */

/* Slice `k` of the filter, [out, in, height, width]. */
static O filter_slice(struct onnx_import *im, O filter, uint32_t k)
{
    const uint32_t *s = tdl_kit_shape(filter);
    struct tdl_slice_params p = {.start = {0, 0, k}};

    memcpy(p.size, s, 5 * sizeof(*s));
    p.size[2] = 1;
    return as_pictures(im, tdl_builder_slice(im->builder, filter, &p), s[0], s[1], s[3], s[4]);
}

/* Pictures [n · depth, channels, height, width] under slice `k` of the filter; x is
 * [n, depth, channels, height, width], padded along its depth. */
static O pictures_under(struct onnx_import *im, const struct box *w, O x, uint32_t depth,
                        uint32_t k)
{
    const uint32_t *s = tdl_kit_shape(x);
    struct tdl_slice_params p = {.start = {0, k * w->dilation[0]}};

    memcpy(p.size, s, 5 * sizeof(*s));
    p.size[1] = (depth - 1) * w->stride[0] + 1;
    p.step[1] = (int32_t)w->stride[0];
    return as_pictures(im, tdl_builder_slice(im->builder, x, &p), s[0] * depth, s[2], s[3], s[4]);
}

bool onnx_add_volume_conv(struct onnx_import *im, O x, onnx_then *then)
{
    O filter = onnx_operand(im, 1), bias, sum = NULL;
    struct tdl_builder *b = im->builder;
    const int64_t groups = onnx_int(im, "group", 1);
    struct tdl_pad_params pad = {0};
    struct box w;

    if (!filter || !onnx_optional(im, 2, &bias))
        return false;
    if (tdl_kit_rank(filter) != 5 || groups < 1 || groups > INT32_MAX)
        return tdl_kit_damaged(&im->kit, "a filter of %u dimensions in %lld groups",
                               tdl_kit_rank(filter), (long long)groups);
    if (!take_box(im, tdl_kit_shape(x) + 2, tdl_kit_shape(filter) + 2, &w))
        return false;
    pad.before[1] = w.before[0];
    pad.after[1] = w.after[0];
    x = tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 1, 3, 4});
    x = tdl_builder_pad(b, x, &pad);
    const uint64_t room = tdl_kit_shape(x)[1], reach = (uint64_t)(w.kernel[0] - 1) * w.dilation[0];
    if (!x || room <= reach || w.kernel[0] > ONNX_MAX_STEP)
        return tdl_kit_damaged(&im->kit, "a window of %u in a depth of %llu", w.kernel[0],
                               (unsigned long long)room);
    const uint32_t depth = (uint32_t)(room - reach - 1) / w.stride[0] + 1, n = tdl_kit_shape(x)[0];
    struct tdl_conv2d_params p = {
        .stride = {w.stride[1], w.stride[2]},
        .dilation = {w.dilation[1], w.dilation[2]},
        .pad = {w.before[1], w.after[1], w.before[2], w.after[2]},
        .groups = (uint32_t)groups,
        .bias = bias,
        .filter_layout = TDL_FILTER_OIHW,
        .input_layout = TDL_LAYOUT_NCHW,
    };
    for (uint32_t k = 0; k < w.kernel[0] && tdl_builder_status(b) == TDL_OK; k++) {
        O y = tdl_builder_conv2d(b, pictures_under(im, &w, x, depth, k),
                                 filter_slice(im, filter, k), &p);

        sum = sum ? tdl_builder_add(b, sum, y) : y;
        p.bias = NULL;
    }
    const uint32_t *s = tdl_kit_shape(sum);
    sum = onnx_reshape(im, sum, 5, (const uint32_t[]){n, depth, s[1], s[2], s[3]});
    sum = tdl_builder_transpose(b, sum, (const uint32_t[]){0, 2, 1, 3, 4});
    return sum && onnx_give(im, then ? then(im, sum) : sum);
}

/* ------------------------------------------------------- transposed convolutions */

/* What is cut off the output before and behind, and what is added behind, by the attributes or
 * by the size that it is to have. */
static bool take_crop(struct onnx_import *im, const uint32_t *in, struct box *w, uint32_t *more)
{
    const enum tdl_kit_same same = onnx_auto_pad(im);
    uint32_t out[3] = {0};

    if (!onnx_steps(im, "output_padding", 3, 0, more) || !onnx_steps(im, "output_shape", 3, 1, out))
        return false;
    for (uint32_t i = 0; i < 3 && (out[0] || same != TDL_KIT_AS_GIVEN); i++) {
        const int64_t wanted = out[0] ? out[i] : (int64_t)in[i] * w->stride[i];
        const int64_t whole = (int64_t)(in[i] - 1) * w->stride[i] +
                              (int64_t)(w->kernel[i] - 1) * w->dilation[i] + 1 + more[i];
        const uint32_t cut = whole > wanted ? (uint32_t)(whole - wanted) : 0;

        more[i] += wanted > whole ? (uint32_t)(wanted - whole) : 0;
        w->before[i] = same == TDL_KIT_SAME_UPPER ? cut / 2 : cut - cut / 2;
        w->after[i] = cut - w->before[i];
    }
    return true;
}

/* Slice `k` of the filter, whose results are y[:, :, :, k, :], at its places along the depth of
 * the output: [n, whole depth, the rest]. */
static O spread(struct onnx_import *im, const struct box *w, O y, uint32_t k)
{
    struct tdl_builder *b = im->builder;
    const uint32_t *s = tdl_kit_shape(y), n = s[0], depth = s[1], rest = s[2] * s[4];
    const uint32_t stride = w->stride[0], step = w->dilation[0], last = (depth - 1) * stride + 1;
    const struct tdl_slice_params part = {.start = {0, 0, 0, k}, .size = {0, 0, 0, 1}};
    const struct tdl_slice_params used = {.size = {0, last}};
    const struct tdl_pad_params gaps = {.after = {0, 0, stride - 1}};
    const struct tdl_pad_params sides = {.before = {0, k * step},
                                         .after = {0, (w->kernel[0] - 1 - k) * step}};

    y = tdl_builder_slice(b, y, &part);
    y = onnx_reshape(im, y, 4, (const uint32_t[]){n, depth, 1, rest});
    y = stride > 1 ? tdl_builder_pad(b, y, &gaps) : y;
    y = onnx_reshape(im, y, 3, (const uint32_t[]){n, depth * stride, rest});
    y = stride > 1 ? tdl_builder_slice(b, y, &used) : y;
    return w->kernel[0] > 1 ? tdl_builder_pad(b, y, &sides) : y;
}

/* The sum of what all slices of the filter give, [n, depth, channels · rows · columns]. */
static O sum_slices(struct onnx_import *im, const struct box *w, O y, uint32_t more)
{
    const struct tdl_pad_params behind = {.after = {0, more}};
    struct tdl_slice_params crop = {.start = {0, w->before[0]}};
    O sum = NULL;

    for (uint32_t k = 0; y && k < w->kernel[0] && tdl_builder_status(im->builder) == TDL_OK; k++) {
        O part = spread(im, w, y, k);

        sum = sum ? tdl_builder_add(im->builder, sum, part) : part;
    }
    sum = sum && more ? tdl_builder_pad(im->builder, sum, &behind) : sum;
    if (!sum || w->before[0] + w->after[0] == 0)
        return sum;
    const uint32_t depth = tdl_kit_shape(sum)[1];
    if (depth <= (uint64_t)w->before[0] + w->after[0]) {
        tdl_kit_damaged(&im->kit, "%u and %u cut off a depth of %u", w->before[0], w->after[0],
                        depth);
        return NULL;
    }
    crop.size[1] = depth - w->before[0] - w->after[0];
    return tdl_builder_slice(im->builder, sum, &crop);
}

/* As transposed convolutions of all slices of the filter over height and width, whose results
 * meet along the depth. */
bool onnx_add_volume_conv_transpose(struct onnx_import *im, O x)
{
    struct tdl_builder *b = im->builder;
    O filter = onnx_operand(im, 1), bias;
    const int64_t groups = onnx_int(im, "group", 1);
    uint32_t s[5], f[5], more[3] = {0};
    struct box w;

    if (!filter || !onnx_optional(im, 2, &bias))
        return false;
    memcpy(s, tdl_kit_shape(x), sizeof(s));
    memcpy(f, tdl_kit_shape(filter), sizeof(f));
    if (tdl_kit_rank(filter) != 5 || groups < 1 || groups > 65536)
        return tdl_kit_damaged(&im->kit, "a filter of %u dimensions in %lld groups",
                               tdl_kit_rank(filter), (long long)groups);
    if (!take_box(im, s + 2, f + 2, &w) || !take_crop(im, s + 2, &w, more))
        return false;
    const struct tdl_conv_transpose2d_params p = {
        .stride = {w.stride[1], w.stride[2]},
        .dilation = {w.dilation[1], w.dilation[2]},
        .pad = {w.before[1], w.after[1], w.before[2], w.after[2]},
        .output_padding = {more[1], more[2]},
        .groups = (uint32_t)groups,
        .input_layout = TDL_LAYOUT_NCHW,
    };
    const uint32_t channels = f[1] * (uint32_t)groups;
    x = tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 1, 3, 4});
    x = as_pictures(im, x, s[0] * s[2], s[1], s[3], s[4]);
    filter = as_pictures(im, filter, f[0], f[1] * f[2], f[3], f[4]);
    filter = tdl_builder_transpose(b, filter, (const uint32_t[]){1, 2, 3, 0});
    x = tdl_builder_conv_transpose2d(b, x, filter, &p);
    if (!x)
        return false;
    const uint32_t h = tdl_kit_shape(x)[2], v = tdl_kit_shape(x)[3];
    x = onnx_reshape(im, x, 5, (const uint32_t[]){s[0], s[2], channels, f[2], h * v});
    x = sum_slices(im, &w, x, more[0]);
    if (!x)
        return false;
    const uint32_t depth = tdl_kit_shape(x)[1];
    x = onnx_reshape(im, x, 5, (const uint32_t[]){s[0], depth, channels, h, v});
    x = tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 1, 3, 4});
    if (bias)
        x = tdl_builder_add(b, x, onnx_reshape(im, bias, 4, (const uint32_t[]){channels, 1, 1, 1}));
    return onnx_give(im, x);
}
