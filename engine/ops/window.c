/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What strides, dilations, paddings and sizes of an output stand for: 0 is 1, SAME is as many
 * pixels as TensorFlow adds, and a size that is rounded up has no window behind the image.
 * tdl_op.resolve() writes the numbers into the node, and all others read them there.
 */
#include "ir/builder.h"
#include "ops.h"

static uint32_t told(const uint32_t *values, int axis)
{
    return values ? values[axis] : 0;
}

/* Pixels from a window's first tap to its last. */
static uint64_t extent_of(const struct tdl_window *w, int axis)
{
    return (uint64_t)(w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

static void pad_same(struct tdl_window *w, int axis, uint32_t total)
{
    w->pad[2 * axis] = total / 2;
    w->pad[2 * axis + 1] = total - total / 2;
}

/* Windows along an axis of `in` pixels; 0: none fits, or other than were asked for. */
static uint32_t count_windows(struct tdl_window *w, const struct tdl_window_options *t, int axis,
                              uint32_t in)
{
    const uint64_t stride = w->stride[axis], extent = extent_of(w, axis);
    const uint64_t asked = told(t->output_size, axis);
    uint64_t low = TDL_DIV_UP(in, stride), high = low;
    if (t->padding == TDL_PADDING_SAME_UPPER) {
        pad_same(w, axis, tdl_same_padding(in, extent, stride));
    } else {
        const uint64_t begin = (uint64_t)in + w->pad[2 * axis];
        const uint64_t padded = begin + w->pad[2 * axis + 1];
        if (padded > INT32_MAX || extent > padded)
            return 0;
        low = (padded - extent) / stride + 1;
        high = TDL_DIV_UP(padded - extent, stride) + 1;
        if ((high - 1) * stride >= begin) /* ONNX: no window starts behind the image */
            high = low;
    }
    if (asked)
        return asked == low || asked == high ? (uint32_t)asked : 0;
    return (uint32_t)(t->rounding == TDL_ROUNDING_CEIL ? high : low);
}

/* Pixels of the output of windows that `in` pixels stamp; 0 likewise. */
static uint32_t count_stamped(struct tdl_window *w, const struct tdl_window_options *t, int axis,
                              uint32_t in)
{
    const uint64_t stride = w->stride[axis], extent = extent_of(w, axis);
    const uint64_t asked = told(t->output_size, axis), more = told(t->output_padding, axis);
    const uint64_t full = (in - 1) * stride + extent;
    int64_t size = 0;
    if (full > INT32_MAX)
        return 0;
    if (t->padding == TDL_PADDING_SAME_UPPER) {
        pad_same(w, axis, tdl_same_padding_transposed(extent, stride));
        size = asked || more ? 0 : (int64_t)(in * stride);
    } else {
        const int64_t least = (int64_t)full - w->pad[2 * axis] - w->pad[2 * axis + 1];
        if (asked)
            size = (int64_t)asked >= least && (int64_t)asked < least + (int64_t)stride
                       ? (int64_t)asked
                       : 0;
        else if (more < stride)
            size = TDL_MAX(least + (int64_t)more, 0);
    }
    const int64_t before = w->pad[2 * axis], behind = (int64_t)full - before - size;
    if ((uint64_t)size + (uint64_t)before + stride * extent > INT32_MAX)
        return 0; /* numbers that kernels count with */
    w->pad[2 * axis + 1] = (uint32_t)TDL_MAX(behind, 0);
    w->more[axis] = (uint32_t)TDL_MAX(-behind, 0);
    return (uint32_t)size;
}

void tdl_window_resolve(struct tdl_window *w, struct tdl_dims in,
                        const struct tdl_window_options *options)
{
    const uint32_t size[2] = {in.h, in.w};
    *w = (struct tdl_window){.kernel = {options->kernel[0], options->kernel[1]}};
    for (int i = 0; i < 2; i++) {
        w->stride[i] = tdl_or_one(told(options->stride, i));
        w->dilation[i] = tdl_or_one(told(options->dilation, i));
        w->pad[2 * i] = told(options->pad, 2 * i);
        w->pad[2 * i + 1] = told(options->pad, 2 * i + 1);
        if (w->kernel[i] && extent_of(w, i) <= INT32_MAX && w->stride[i] <= INT32_MAX)
            w->out[i] = options->transposed ? count_stamped(w, options, i, size[i])
                                            : count_windows(w, options, i, size[i]);
    }
}
