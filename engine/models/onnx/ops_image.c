/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's convolutions and pools. What has one dimension of space instead of two is a
 * picture of one row. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEP 16384 /* strides, windows and dilations beyond are nonsense */

/* Windows over height and width. */
struct window {
    uint32_t kernel[2], stride[2], dilation[2], pad[4]; /* pads: top, bottom, left, right */
    uint32_t spatial;                                   /* dimensions of the file: 1 or 2 */
    bool alone;                                         /* a picture without a batch */
    enum tdl_kit_same same;
};

static bool take_list(struct onnx_import *im, const char *name, const struct window *w,
                      uint32_t least, uint32_t out[2])
{
    int64_t list[2];
    uint32_t count;

    if (!onnx_int_list(im, name, list, 2, &count))
        return false;
    if (count && count != w->spatial)
        return tdl_kit_damaged(&im->kit, "%u numbers of %s for %u dimensions", count, name,
                               w->spatial);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] < least || list[i] > MAX_STEP)
            return tdl_kit_damaged(&im->kit, "%s of %lld", name, (long long)list[i]);
        out[2 - count + i] = (uint32_t)list[i];
    }
    return true;
}

static bool take_pads(struct onnx_import *im, struct window *w)
{
    int64_t list[4];
    uint32_t count;

    if (!onnx_int_list(im, "pads", list, 4, &count))
        return false;
    if (count && count != 2 * w->spatial)
        return tdl_kit_damaged(&im->kit, "%u paddings for %u dimensions", count, w->spatial);
    for (uint32_t i = 0; i < count; i++) { /* all begins, then all ends */
        const uint32_t axis = 2 - w->spatial + i % w->spatial, end = i / w->spatial;

        if (list[i] < 0 || list[i] > MAX_STEP)
            return tdl_kit_damaged(&im->kit, "padding of %lld pixels", (long long)list[i]);
        w->pad[2 * axis + end] = (uint32_t)list[i];
    }
    return true;
}

static bool take_window(struct onnx_import *im, uint32_t rank, struct window *w)
{
    *w = (struct window){
        .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .spatial = rank - 2};
    if (rank != 3 && rank != 4)
        return tdl_kit_lacks(&im->kit,
                             "%u dimensions; libtdl has windows over one or two, and of "
                             "convolutions, MaxPool and AveragePool over three",
                             rank - 2);
    w->same = onnx_auto_pad(im);
    return take_list(im, "kernel_shape", w, 1, w->kernel) &&
           take_list(im, "strides", w, 1, w->stride) &&
           take_list(im, "dilations", w, 1, w->dilation) &&
           (w->same != TDL_KIT_AS_GIVEN || take_pads(im, w));
}

static void resolve_same(struct window *w, const uint32_t in[2])
{
    for (uint32_t i = 0; i < 2; i++)
        tdl_kit_pad_same(w->same, in[i], w->kernel[i], w->dilation[i], w->stride[i],
                         w->pad + 2 * i);
}

/* A picture of one row, where there is only one dimension of space. */
static struct tdl_operand *to_picture(struct onnx_import *im, struct tdl_operand *x)
{
    const uint32_t *s = tdl_kit_shape(x);

    if (tdl_kit_rank(x) != 3)
        return x;
    x = onnx_reshape(im, x, 4, (const uint32_t[]){s[0], s[1], 1, s[2]});
    if (x)
        tdl_builder_evaluate(im->builder, x);
    return x;
}

/* The result in the input's dimensions. */
static struct tdl_operand *from_picture(struct onnx_import *im, const struct window *w,
                                        struct tdl_operand *y)
{
    const uint32_t *s = tdl_kit_shape(y);

    return w->spatial == 1 ? onnx_reshape(im, y, 3, (const uint32_t[]){s[0], s[1], s[3]})
           : w->alone      ? onnx_reshape(im, y, 3, s + 1)
                           : y;
}

static bool give_picture(struct onnx_import *im, const struct window *w, struct tdl_operand *y)
{
    return y && onnx_give(im, from_picture(im, w, y));
}

/* A picture that no batch is round, as PyTorch writes it, by as many sizes of the window. */
static bool is_alone(struct onnx_import *im, const struct tdl_operand *x)
{
    int64_t list[6];
    uint32_t count = 0;

    return tdl_kit_rank(x) == 3 && onnx_int_list(im, "kernel_shape", list, 6, &count) && count == 2;
}

/* `x` and its window; NULL with the builder in error, or where x is NULL. */
static struct tdl_operand *take_picture_of(struct onnx_import *im, struct tdl_operand *x,
                                           struct window *w)
{
    const bool alone = x && is_alone(im, x);

    if (alone) {
        const uint32_t *s = tdl_kit_shape(x);

        x = onnx_reshape(im, x, 4, (const uint32_t[]){1, s[0], s[1], s[2]});
    }
    if (!x || !take_window(im, tdl_kit_rank(x), w))
        return NULL;
    w->alone = alone;
    x = to_picture(im, x);
    if (x)
        resolve_same(w, tdl_kit_shape(x) + 2);
    return x;
}

/* The same of input 0. */
static struct tdl_operand *take_picture(struct onnx_import *im, struct window *w)
{
    return take_picture_of(im, onnx_operand(im, 0), w);
}

/* -------------------------------------------------------------- convolutions */

/* Whose size is the window's. */
static struct tdl_operand *take_filter(struct onnx_import *im, struct window *w)
{
    struct tdl_operand *filter = onnx_operand(im, 1);

    if (!filter)
        return NULL;
    if (tdl_kit_rank(filter) != w->spatial + 2) {
        tdl_kit_damaged(&im->kit, "a filter of %u dimensions", tdl_kit_rank(filter));
        return NULL;
    }
    filter = to_picture(im, filter);
    if (filter)
        memcpy(w->kernel, tdl_kit_shape(filter) + 2, sizeof(w->kernel));
    return filter;
}

/* In the file's order, or in the builder's, without a copy. */
static struct tdl_operand *take_conv_filter(struct onnx_import *im, struct window *w,
                                            enum tdl_filter_layout *layout)
{
    struct tdl_operand *turned = onnx_turned_filter(im, 1, w->spatial + 2);

    *layout = turned ? TDL_FILTER_OHWI : TDL_FILTER_OIHW;
    if (turned)
        memcpy(w->kernel, tdl_kit_shape(turned) + 1, sizeof(w->kernel));
    return turned || tdl_builder_status(im->builder) != TDL_OK ? turned : take_filter(im, w);
}

static bool take_groups(struct onnx_import *im, uint32_t *out)
{
    const int64_t groups = onnx_int(im, "group", 1);

    if (groups < 1 || groups > INT32_MAX)
        return tdl_kit_damaged(&im->kit, "%lld groups", (long long)groups);
    *out = (uint32_t)groups;
    return true;
}

/* float32, as filters and biases are taken. */
static struct tdl_operand *widened(struct onnx_import *im, struct tdl_operand *o)
{
    if (o && tdl_kit_desc(o)->dtype == TDL_FLOAT16)
        o = tdl_builder_cast(im->builder, o, TDL_FLOAT32);
    return o;
}

/* What the node and its window say, once the kernel's size is known. */
static bool fill_conv(struct onnx_import *im, struct window *w, const struct tdl_operand *x,
                      struct tdl_conv2d_params *p)
{
    resolve_same(w, tdl_kit_shape(x) + 2);
    memcpy(p->stride, w->stride, sizeof(p->stride));
    memcpy(p->dilation, w->dilation, sizeof(p->dilation));
    memcpy(p->pad, w->pad, sizeof(p->pad));
    return take_groups(im, &p->groups);
}

bool onnx_convolve(struct onnx_import *im, struct tdl_operand *x, struct tdl_operand *filter,
                   struct tdl_operand *bias, onnx_then *then)
{
    struct tdl_conv2d_params p = {
        .filter_layout = TDL_FILTER_OIHW, .bias = bias, .input_layout = TDL_LAYOUT_NCHW};
    struct window w;

    if (!take_window(im, tdl_kit_rank(x), &w) || !(x = to_picture(im, x)))
        return false;
    if (tdl_kit_rank(filter) != w.spatial + 2)
        return tdl_kit_damaged(&im->kit, "a filter of %u dimensions", tdl_kit_rank(filter));
    filter = to_picture(im, filter);
    if (!filter)
        return false;
    memcpy(w.kernel, tdl_kit_shape(filter) + 2, sizeof(w.kernel));
    if (!fill_conv(im, &w, x, &p))
        return false;
    x = tdl_builder_conv2d(im->builder, x, filter, &p);
    return x && give_picture(im, &w, then(im, x));
}

bool onnx_convolve_floats(struct onnx_import *im, struct tdl_operand *x, onnx_then *then)
{
    struct tdl_conv2d_params p = {.input_layout = TDL_LAYOUT_NCHW};
    struct tdl_operand *filter;
    struct window w;

    if (x && tdl_kit_rank(x) == 5)
        return onnx_add_volume_conv(im, x, then);
    if (!x || !take_window(im, tdl_kit_rank(x), &w) || !(x = to_picture(im, x)))
        return false;
    filter = take_conv_filter(im, &w, &p.filter_layout);
    if (!filter || !onnx_optional(im, 2, &p.bias) || !fill_conv(im, &w, x, &p))
        return false;
    p.bias = widened(im, p.bias);
    x = tdl_builder_conv2d(im->builder, x, filter, &p);
    return x && give_picture(im, &w, then ? then(im, x) : x);
}

static bool add_conv(struct onnx_import *im)
{
    return onnx_convolve_floats(im, onnx_operand(im, 0), NULL);
}

/* The elements of input 1, a filter, which may still be halves. */
static const void *filter_data(struct onnx_import *im, struct tdl_operand *filter,
                               enum tdl_dtype *dtype)
{
    const struct onnx_value *v = onnx_find(im, &im->node.inputs[1]);

    *dtype = v && v->stored ? TDL_FLOAT16 : tdl_kit_desc(filter)->dtype;
    if (*dtype != TDL_FLOAT32 && *dtype != TDL_FLOAT16) {
        tdl_kit_lacks(&im->kit, "a filter of %s", tdl_dtype_name(*dtype));
        return NULL;
    }
    const void *data = v && v->stored ? v->stored : tdl_builder_evaluate(im->builder, filter);
    if (!data)
        tdl_kit_lacks(&im->kit, "a filter that is no constant");
    return data;
}

/* [in, out / groups, kh, kw] as [out / groups, kh, kw, in]. */
static struct tdl_operand *turn_filter(struct onnx_import *im, struct tdl_operand *filter)
{
    const struct onnx_value *v = onnx_find(im, &im->node.inputs[1]);
    const uint32_t *s = tdl_kit_shape(filter);
    const size_t area = (size_t)s[2] * s[3], ins = s[0], outs = s[1];

    if (v && v->kept) /* so it stays until the graph is built, which then turns it */
        return tdl_builder_transpose(im->builder, filter, (const uint32_t[]){1, 2, 3, 0});
    struct tdl_tensor_params desc = {.rank = 4, .shape = {s[1], s[2], s[3], s[0]}};
    const char *from = filter_data(im, filter, &desc.dtype);
    const size_t size = tdl_dtype_size(desc.dtype);
    char *to = from ? tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc)) : NULL;

    if (!to)
        return NULL;
    for (size_t o = 0; o < outs; o++)
        for (size_t i = 0; i < ins; i++)
            for (size_t k = 0; k < area; k++)
                memcpy(to + size * ((o * area + k) * ins + i),
                       from + size * ((i * outs + o) * area + k), size);
    return widened(im, tdl_builder_constant(im->builder, &desc, to, tdl_tensor_params_size(&desc)));
}

static bool add_conv_transpose(struct onnx_import *im)
{
    struct tdl_conv_transpose2d_params p = {.input_layout = TDL_LAYOUT_NCHW};
    struct tdl_operand *x = onnx_operand(im, 0), *filter;
    uint32_t out[2] = {0};
    struct window w;

    if (x && tdl_kit_rank(x) == 5)
        return onnx_add_volume_conv_transpose(im, x);
    if (!x || !take_window(im, tdl_kit_rank(x), &w) || !(x = to_picture(im, x)))
        return false;
    filter = take_filter(im, &w);
    if (!filter || !(filter = turn_filter(im, filter)) || !onnx_optional(im, 2, &p.bias) ||
        !take_groups(im, &p.groups) || !take_list(im, "output_padding", &w, 0, p.output_padding) ||
        !take_list(im, "output_shape", &w, 1, out))
        return false;
    p.bias = widened(im, p.bias);
    memcpy(p.stride, w.stride, sizeof(p.stride));
    memcpy(p.dilation, w.dilation, sizeof(p.dilation));
    memcpy(p.pad, w.pad, sizeof(p.pad));
    const uint32_t *in = tdl_kit_shape(x) + 2;
    if (out[1]) {
        out[0] = w.spatial == 1 ? 1 : out[0];
        tdl_kit_crop(w.same == TDL_KIT_SAME_UPPER ? w.same : TDL_KIT_SAME_LOWER, in, w.kernel, out,
                     &p);
    } else if (w.same != TDL_KIT_AS_GIVEN) {
        tdl_kit_crop(w.same, in, w.kernel,
                     (const uint32_t[]){in[0] * w.stride[0], in[1] * w.stride[1]}, &p);
    }
    return give_picture(im, &w, tdl_builder_conv_transpose2d(im->builder, x, filter, &p));
}

/* --------------------------------------------------------------------- pools */

void onnx_fit_window(struct tdl_pool2d_params *p, const uint32_t *in)
{
    for (int i = 0; i < 2 && p->rounding == TDL_ROUNDING_CEIL; i++) {
        const uint64_t all = (uint64_t)in[i] + p->pad[2 * i] + p->pad[2 * i + 1];

        if (p->dilation[i] == 1 && p->window[i] > all && p->window[i] - all < p->stride[i])
            p->window[i] = (uint32_t)all;
    }
}

static void fill_pool(struct onnx_import *im, const struct window *w, struct tdl_pool2d_params *p)
{
    *p = (struct tdl_pool2d_params){
        .window = {w->kernel[0], w->kernel[1]},
        .stride = {w->stride[0], w->stride[1]},
        .dilation = {w->dilation[0], w->dilation[1]},
        .pad = {w->pad[0], w->pad[1], w->pad[2], w->pad[3]},
        .rounding = onnx_int(im, "ceil_mode", 0) ? TDL_ROUNDING_CEIL : TDL_ROUNDING_FLOOR,
        .count_include_pad = onnx_int(im, "count_include_pad", 0) != 0,
        .input_layout = TDL_LAYOUT_NCHW,
    };
}

/* Pools work on floats, which hold eight bits exactly. */
bool onnx_pool(struct onnx_import *im, struct tdl_operand *x, bool max, onnx_then *then)
{
    const enum tdl_dtype dtype = x ? tdl_kit_desc(x)->dtype : TDL_FLOAT32;
    const bool narrow = max && (dtype == TDL_UINT8 || dtype == TDL_INT8);
    struct tdl_pool2d_params p;
    struct window w;

    if (x && tdl_kit_rank(x) == 5)
        return onnx_add_volume_pool(im, x, max, then);
    x = take_picture_of(im, x, &w);
    if (!x)
        return false;
    fill_pool(im, &w, &p);
    onnx_fit_window(&p, tdl_kit_shape(x) + 2);
    if (narrow)
        x = tdl_builder_cast(im->builder, x, TDL_FLOAT32);
    struct tdl_operand *y =
        (max ? tdl_builder_max_pool2d : tdl_builder_average_pool2d)(im->builder, x, &p);
    if (y && max && !then && onnx_wanted(im, 1)) {
        struct tdl_operand *places = onnx_max_places(im, x, &p, tdl_kit_shape(y) + 2);

        if (!places || !onnx_give_at(im, 1, from_picture(im, &w, places)))
            return false;
    }
    if (narrow)
        y = tdl_builder_cast(im->builder, y, dtype);
    return y && give_picture(im, &w, then ? then(im, y) : y);
}

static bool add_max_pool(struct onnx_import *im)
{
    return onnx_pool(im, onnx_operand(im, 0), true, NULL);
}

static bool add_average_pool(struct onnx_import *im)
{
    return onnx_pool(im, onnx_operand(im, 0), false, NULL);
}

/* (Σ |x|^p)^(1/p): the sum is the mean over all of the window, times their number. */
static bool add_lp_pool(struct onnx_import *im)
{
    struct tdl_pool2d_params p;
    struct window w;
    struct tdl_operand *x = take_picture(im, &w);
    const int64_t power = onnx_int(im, "p", 2);

    if (!x)
        return false;
    fill_pool(im, &w, &p);
    if (power == 2)
        return give_picture(im, &w, tdl_builder_l2_pool2d(im->builder, x, &p));
    if (power < 1 || power > 16 || p.rounding == TDL_ROUNDING_CEIL)
        return tdl_kit_lacks(&im->kit,
                             "p of %lld; libtdl has 1 to 16, and rounds sizes down but for 2",
                             (long long)power);
    p.count_include_pad = true;
    x = tdl_builder_abs(im->builder, x);
    if (power > 2)
        x = tdl_builder_pow(im->builder, x, tdl_kit_like(&im->kit, x, (double)power));
    x = tdl_builder_average_pool2d(im->builder, x, &p);
    x = tdl_builder_linear(im->builder, x, (float)(w.kernel[0] * w.kernel[1]), 0);
    if (power > 2)
        x = tdl_builder_pow(im->builder, x, tdl_kit_like(&im->kit, x, 1 / (double)power));
    return give_picture(im, &w, x);
}

/* Over all dimensions of space, however many. */
static bool add_global_pool(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    struct tdl_reduce_params p = {.keep_dimensions = true};
    const struct tdl_pool2d_params whole = {.input_layout = TDL_LAYOUT_NCHW};
    const char *type = im->node.row->name;
    const bool max = !strcmp(type, "GlobalMaxPool"), lp = !strcmp(type, "GlobalLpPool");

    if (!x)
        return false;
    if (lp && onnx_int(im, "p", 2) != 2)
        return tdl_kit_lacks(&im->kit, "p of %lld; libtdl has 2", (long long)onnx_int(im, "p", 2));
    if (tdl_kit_rank(x) == 4)
        return onnx_give(im, (max  ? tdl_builder_max_pool2d
                              : lp ? tdl_builder_l2_pool2d
                                   : tdl_builder_average_pool2d)(im->builder, x, &whole));
    for (uint32_t i = 2; i < tdl_kit_rank(x); i++)
        p.axes[p.axis_count++] = i;
    if (p.axis_count == 0)
        return tdl_kit_damaged(&im->kit, "%u dimensions have none of space", tdl_kit_rank(x));
    return onnx_give(im, tdl_builder_reduce(im->builder, x,
                                            max  ? TDL_REDUCE_MAX
                                            : lp ? TDL_REDUCE_L2
                                                 : TDL_REDUCE_MEAN,
                                            &p));
}

const struct onnx_row onnx_rows_image[] = {
    {"AffineGrid", 2, 2, onnx_add_affine_grid},
    {"AveragePool", 1, 1, add_average_pool},
    {"Conv", 2, 3, add_conv},
    {"ConvTranspose", 2, 3, add_conv_transpose},
    {"DeformConv", 3, 5, onnx_add_deform_conv},
    {"GlobalAveragePool", 1, 1, add_global_pool},
    {"GlobalLpPool", 1, 1, add_global_pool},
    {"GlobalMaxPool", 1, 1, add_global_pool},
    {"GridSample", 2, 2, onnx_add_grid_sample},
    {"LpPool", 1, 1, add_lp_pool},
    {"MaxPool", 1, 1, add_max_pool},
    {"MaxUnpool", 2, 3, onnx_add_max_unpool},
    {"Resize", 1, 4, onnx_add_resize},
    {"Upsample", 1, 2, onnx_add_upsample},
    {0},
};
