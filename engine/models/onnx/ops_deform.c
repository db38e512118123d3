/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's DeformConv (Operators.md): each tap of the window lies where an offset says, between
 * pixels that are sampled, and may have a factor. A convolution of 1 × 1 pixels is left, whose
 * channels are the taps of all channels.
 */
#include "onnx.h"

typedef struct tdl_operand *O;

struct deform {
    uint32_t kernel[2], stride[2], dilation[2], pad[4]; /* top, left, bottom, right */
    uint32_t in[4], out[2], taps, parts;                /* parts: of channels with own offsets */
};

static bool take_window(struct onnx_import *im, O x, O filter, struct deform *d)
{
    *d = (struct deform){.stride = {1, 1}, .dilation = {1, 1}};
    if (tdl_kit_rank(x) != 4 || tdl_kit_rank(filter) != 4)
        return tdl_kit_lacks(&im->kit, "%u dimensions; libtdl has pictures", tdl_kit_rank(x));
    if (!onnx_steps(im, "strides", 2, 1, d->stride) ||
        !onnx_steps(im, "dilations", 2, 1, d->dilation) || !onnx_steps(im, "pads", 4, 0, d->pad))
        return false;
    for (uint32_t i = 0; i < 4; i++)
        d->in[i] = tdl_kit_shape(x)[i];
    for (uint32_t i = 0; i < 2; i++) {
        d->kernel[i] = tdl_kit_shape(filter)[2 + i];
        const uint64_t room = (uint64_t)d->in[2 + i] + d->pad[i] + d->pad[2 + i];
        const uint64_t reach = (uint64_t)(d->kernel[i] - 1) * d->dilation[i] + 1;

        if (room < reach)
            return tdl_kit_damaged(&im->kit, "a window of %llu pixels in %llu",
                                   (unsigned long long)reach, (unsigned long long)room);
        d->out[i] = (uint32_t)(room - reach) / d->stride[i] + 1;
    }
    d->taps = d->kernel[0] * d->kernel[1];
    return true;
}

/* Has it the output's pixels, for each part of the channels `each` many? */
static bool fits(struct onnx_import *im, const struct deform *d, const char *what, O o,
                 uint32_t each)
{
    const uint32_t *s = tdl_kit_shape(o);

    return (tdl_kit_rank(o) == 4 && s[0] == d->in[0] && s[1] == d->parts * each &&
            s[2] == d->out[0] && s[3] == d->out[1]) ||
           tdl_kit_damaged(&im->kit, "%s that do not fit the output", what);
}

/* Where the taps lie without offsets along one axis, as grids have it: [1, taps · pixels, 1]. */
static O places(struct onnx_import *im, const struct deform *d, uint32_t axis)
{
    const uint32_t count = d->taps * d->out[0] * d->out[1], size = d->in[2 + axis];
    float *data = tdl_kit_make(&im->kit, (uint64_t)count * sizeof(*data));

    for (uint32_t i = 0; data && i < count; i++) {
        const uint32_t tap = i / (d->out[0] * d->out[1]);
        const uint32_t to = axis ? i % d->out[1] : i / d->out[1] % d->out[0];
        const uint32_t k = axis ? tap % d->kernel[1] : tap / d->kernel[1];
        const double at =
            (double)to * d->stride[axis] + (double)k * d->dilation[axis] - d->pad[axis];

        data[i] = (float)((2 * at + 1) / size - 1);
    }
    return data ? tdl_builder_constant(
                      im->builder, &(struct tdl_tensor_params){.rank = 3, .shape = {1, count, 1}},
                      data, (size_t)count * sizeof(*data))
                : NULL;
}

/* Offsets [n, parts · taps · 2, height, width] as a grid [n · parts, taps · height, width, 2]. */
static O grid_of(struct onnx_import *im, const struct deform *d, O offset)
{
    struct tdl_builder *b = im->builder;
    const uint32_t batch = d->in[0] * d->parts, pixels = d->out[0] * d->out[1];
    O axes[2];

    offset = onnx_reshape(im, offset, 4, (const uint32_t[]){batch, d->taps, 2, pixels});
    for (uint32_t i = 0; i < 2; i++) { /* x before y */
        const uint32_t axis = 1 - i;
        const struct tdl_slice_params p = {.start = {0, 0, axis}, .size = {0, 0, 1}};
        O o = tdl_builder_slice(b, offset, &p);

        o = onnx_reshape(im, o, 3, (const uint32_t[]){batch, d->taps * pixels, 1});
        o = o ? tdl_builder_linear(b, o, 2 / (float)d->in[2 + axis], 0) : NULL;
        axes[i] = o ? tdl_builder_add(b, o, places(im, d, axis)) : NULL;
        if (!axes[i])
            return NULL;
    }
    return onnx_reshape(im, tdl_builder_concat(b, axes, 2, 2), 4,
                        (const uint32_t[]){batch, d->taps * d->out[0], d->out[1], 2});
}

/* All taps of all channels as channels, [n, channels · taps, height, width]. */
static O sample(struct onnx_import *im, const struct deform *d, O x, O grid, O mask)
{
    const uint32_t batch = d->in[0] * d->parts, channels = d->in[1] / d->parts;

    x = onnx_reshape(im, x, 4, (const uint32_t[]){batch, channels, d->in[2], d->in[3]});
    x = tdl_builder_grid_sample(im->builder, x, grid,
                                &(struct tdl_grid_sample_params){.mode = TDL_GRID_LINEAR,
                                                                 .padding = TDL_GRID_ZEROS,
                                                                 .input_layout = TDL_LAYOUT_NCHW});
    mask = onnx_reshape(im, mask, 4, (const uint32_t[]){batch, 1, d->taps * d->out[0], d->out[1]});
    if (mask)
        x = tdl_builder_mul(im->builder, x, mask);
    return onnx_reshape(im, x, 4,
                        (const uint32_t[]){d->in[0], d->in[1] * d->taps, d->out[0], d->out[1]});
}

bool onnx_add_deform_conv(struct onnx_import *im)
{
    O x = onnx_operand(im, 0), filter = x ? onnx_operand(im, 1) : NULL;
    O offset = filter ? onnx_operand(im, 2) : NULL, bias = NULL, mask = NULL;
    const int64_t groups = onnx_int(im, "group", 1), parts = onnx_int(im, "offset_group", 1);
    struct deform d;

    if (!offset || !onnx_optional(im, 3, &bias) || !onnx_optional(im, 4, &mask) ||
        !take_window(im, x, filter, &d))
        return false;
    if (groups < 1 || parts < 1 || d.in[1] % parts || d.in[1] % groups)
        return tdl_kit_damaged(&im->kit, "%lld groups, and %lld of offsets, of %u channels",
                               (long long)groups, (long long)parts, d.in[1]);
    d.parts = (uint32_t)parts;
    if (!fits(im, &d, "offsets", offset, 2 * d.taps) ||
        (mask && !fits(im, &d, "factors", mask, d.taps)))
        return false;
    x = sample(im, &d, x, grid_of(im, &d, offset), mask);
    const uint32_t *f = tdl_kit_shape(filter);
    filter = onnx_reshape(im, filter, 4, (const uint32_t[]){f[0], f[1] * d.taps, 1, 1});
    if (filter) /* a constant's bytes in another shape */
        tdl_builder_evaluate(im->builder, filter);
    if (!x || !filter)
        return false;
    return onnx_give(
        im, tdl_builder_conv2d(im->builder, x, filter,
                               &(struct tdl_conv2d_params){.groups = (uint32_t)groups,
                                                           .bias = bias,
                                                           .filter_layout = TDL_FILTER_OIHW,
                                                           .input_layout = TDL_LAYOUT_NCHW}));
}
