/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Padding that files give by name, or by the output's size. */
#include "kit.h"
#include "shape.h"

void tdl_kit_pad_same(enum tdl_kit_same same, uint32_t in, uint32_t window, uint32_t dilation,
                      uint32_t stride, uint32_t pad[2])
{
    if (same == TDL_KIT_AS_GIVEN)
        return;
    const uint32_t total = tdl_same_padding(in, (uint64_t)(window - 1) * dilation + 1, stride);
    const uint32_t less = total / 2;

    pad[0] = same == TDL_KIT_SAME_LOWER ? total - less : less;
    pad[1] = total - pad[0];
}

/* Pixels that the windows of a transposed convolution reach over. */
static int64_t reach(const struct tdl_conv_transpose2d_params *p, int axis, uint32_t in,
                     uint32_t window)
{
    const int64_t dilation = p->dilation[axis] ? p->dilation[axis] : 1;

    return (int64_t)(in - 1) * p->stride[axis] + (window - 1) * dilation + 1;
}

void tdl_kit_crop(enum tdl_kit_same same, const uint32_t in[2], const uint32_t window[2],
                  const uint32_t out[2], struct tdl_conv_transpose2d_params *p)
{
    for (int i = 0; i < 2; i++) {
        const int64_t over = reach(p, i, in[i], window[i]) + p->output_padding[i] - out[i];
        const uint32_t cut = over > 0 ? (uint32_t)over : 0, less = cut / 2;

        p->pad[2 * i] = same == TDL_KIT_SAME_LOWER ? cut - less : less;
        p->pad[2 * i + 1] = cut - p->pad[2 * i];
        if (over < 0)
            p->output_padding[i] += (uint32_t)-over;
    }
    p->padding = TDL_PADDING_EXPLICIT;
}

bool tdl_kit_crop_gradient(struct tdl_kit *kit, const uint32_t in[2], const uint32_t window[2],
                           const int64_t out[2], struct tdl_conv_transpose2d_params *p)
{
    const bool same = p->padding == TDL_PADDING_SAME_UPPER;
    uint32_t size[2];

    for (int i = 0; i < 2; i++) {
        const int64_t stride = p->stride[i];
        const int64_t least =
            reach(p, i, in[i], window[i]) - p->pad[2 * i] - (int64_t)p->pad[2 * i + 1];
        const bool fits = same ? (out[i] + stride - 1) / stride == in[i]
                               : out[i] >= least && out[i] < least + stride;

        if (out[i] < 1 || out[i] > INT32_MAX || !fits)
            return tdl_kit_damaged(kit,
                                   "an output of %lld px from %u px with a stride of %lld and a "
                                   "window of %u",
                                   (long long)out[i], in[i], (long long)stride, window[i]);
        size[i] = (uint32_t)out[i];
        if (!same)
            p->output_padding[i] = (uint32_t)(out[i] - least);
    }
    if (same)
        tdl_kit_crop(TDL_KIT_SAME_UPPER, in, window, size, p);
    return true;
}
