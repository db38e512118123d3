/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's places of maxima: output 1 of MaxPool, and MaxUnpool, which puts elements there. Each
 * tap of the window is a slice of the picture; the first that is the largest gives its place.
 */
#include "onnx.h"

#include <math.h>
#include <string.h>

#define MAX_TAPS 256
#define MAX_STEP 16384

typedef struct tdl_operand *O;

/* Pixels that all windows reach to, those outside less than any other. */
static O padded(struct onnx_import *im, O x, const struct tdl_pool2d_params *p, const uint32_t *out)
{
    struct tdl_pad_params pad = {.value = -INFINITY};

    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t size = tdl_kit_shape(x)[2 + i] + p->pad[2 * i];
        const uint32_t all = (out[i] - 1) * p->stride[i] + (p->window[i] - 1) * p->dilation[i] + 1;

        pad.before[2 + i] = p->pad[2 * i];
        pad.after[2 + i] = all > size ? all - size : 0;
    }
    return tdl_builder_pad(im->builder, x, &pad);
}

/* Where the tap of each window lies on its plane of that size, [height, width] of the result. */
static O places(struct onnx_import *im, const struct tdl_pool2d_params *p, const uint32_t *size,
                const uint32_t *out, const uint32_t tap[2])
{
    const bool columns = onnx_int(im, "storage_order", 0) != 0;
    int32_t *data = tdl_kit_make(&im->kit, (uint64_t)out[0] * out[1] * sizeof(*data));

    for (uint32_t i = 0; data && i < out[0] * out[1]; i++) {
        const int64_t y =
            (int64_t)(i / out[1]) * p->stride[0] + (int64_t)tap[0] * p->dilation[0] - p->pad[0];
        const int64_t x =
            (int64_t)(i % out[1]) * p->stride[1] + (int64_t)tap[1] * p->dilation[1] - p->pad[2];

        data[i] = (int32_t)(columns ? x * size[0] + y : y * size[1] + x);
    }
    return data
               ? tdl_builder_constant(im->builder,
                                      &(struct tdl_tensor_params){
                                          .dtype = TDL_INT32, .rank = 2, .shape = {out[0], out[1]}},
                                      data, (size_t)out[0] * out[1] * sizeof(*data))
               : NULL;
}

/* The tap of all windows. */
static O tap_of(struct onnx_import *im, O x, const struct tdl_pool2d_params *p, const uint32_t *out,
                const uint32_t tap[2])
{
    struct tdl_slice_params s = {{0}};

    memcpy(s.size, tdl_kit_shape(x), 4 * sizeof(*s.size));
    for (uint32_t i = 0; i < 2; i++) {
        s.start[2 + i] = tap[i] * p->dilation[i];
        s.size[2 + i] = (out[i] - 1) * p->stride[i] + 1;
        s.step[2 + i] = (int32_t)p->stride[i];
    }
    return tdl_builder_slice(im->builder, x, &s);
}

/* The first element of each plane, [images, channels, 1, 1]. */
static O planes(struct onnx_import *im, const uint32_t *s)
{
    const uint32_t count = s[0] * s[1], shape[] = {s[0], s[1], 1, 1};

    return onnx_reshape(im, tdl_kit_range(&im->kit, TDL_INT32, count, 0, (double)s[2] * s[3]), 4,
                        shape);
}

struct tdl_operand *onnx_max_places(struct onnx_import *im, O x, const struct tdl_pool2d_params *p,
                                    const uint32_t *out)
{
    struct tdl_builder *b = im->builder;
    O most = NULL, place = NULL;
    uint32_t s[4];

    memcpy(s, tdl_kit_shape(x), sizeof(s));
    if (p->window[0] * p->window[1] > MAX_TAPS || (double)s[0] * s[1] * s[2] * s[3] > INT32_MAX) {
        tdl_kit_lacks(&im->kit,
                      "the places of maxima in windows of %u × %u; libtdl finds those of "
                      "up to %d pixels",
                      p->window[0], p->window[1], MAX_TAPS);
        return NULL;
    }
    x = padded(im, x, p, out);
    for (uint32_t i = 0; x && i < p->window[0] * p->window[1]; i++) {
        const uint32_t tap[] = {i / p->window[1], i % p->window[1]};
        O v = tap_of(im, x, p, out, tap), at = places(im, p, s + 2, out, tap);

        if (!v || !at)
            return NULL;
        place = place ? tdl_builder_where(b, tdl_builder_greater(b, v, most), at, place) : at;
        most = most ? tdl_builder_max(b, most, v) : v;
    }
    place = place ? tdl_builder_add(b, place, planes(im, s)) : NULL;
    return place ? tdl_builder_cast(b, place, TDL_INT64) : NULL;
}

/* -------------------------------------------------------------------- MaxUnpool */

static bool take_list(struct onnx_import *im, const char *name, uint32_t count, int64_t *out)
{
    uint32_t got;

    if (!onnx_int_list(im, name, out, count, &got))
        return false;
    if (got && got != count)
        return tdl_kit_damaged(&im->kit, "%u numbers of %s, not %u", got, name, count);
    return true;
}

/* The size that was pooled, as far as windows tell. */
static bool unpooled(struct onnx_import *im, const struct tdl_tensor_params *in,
                     struct tdl_tensor_params *out)
{
    int64_t kernel[TDL_MAX_RANK] = {0}, stride[TDL_MAX_RANK], pads[2 * TDL_MAX_RANK] = {0};
    const uint32_t spatial = in->rank > 2 ? in->rank - 2 : 0;

    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        stride[i] = 1;
    *out = *in;
    if (!take_list(im, "kernel_shape", spatial, kernel) ||
        !take_list(im, "strides", spatial, stride) || !take_list(im, "pads", 2 * spatial, pads))
        return false;
    for (uint32_t i = 0; i < spatial; i++) {
        const int64_t size =
            (in->shape[2 + i] - (int64_t)1) * stride[i] + kernel[i] - pads[i] - pads[spatial + i];

        if (size < 1 || size > INT32_MAX || kernel[i] < 1 || stride[i] < 1 || stride[i] > MAX_STEP)
            return tdl_kit_damaged(&im->kit, "a window of %lld, %lld apart", (long long)kernel[i],
                                   (long long)stride[i]);
        out->shape[2 + i] = (uint32_t)size;
    }
    return true;
}

/* Zeros behind, where the output is to be larger. */
static O enlarged(struct onnx_import *im, O y)
{
    int64_t list[TDL_MAX_RANK];
    struct tdl_pad_params pad = {0};
    uint32_t count;

    if (!y || !onnx_given(im, 2) || !onnx_ints(im, 2, list, TDL_MAX_RANK, &count))
        return y && !onnx_given(im, 2) ? y : NULL;
    for (uint32_t i = 0; i < tdl_kit_rank(y); i++) {
        const int64_t more = count == tdl_kit_rank(y) ? list[i] - tdl_kit_shape(y)[i] : -1;

        if (more < 0 || more > INT32_MAX) {
            tdl_kit_damaged(&im->kit, "an output that is smaller than what was pooled");
            return NULL;
        }
        pad.after[i] = (uint32_t)more;
    }
    return tdl_builder_pad(im->builder, y, &pad);
}

bool onnx_add_max_unpool(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    O x = onnx_operand(im, 0), at = x ? onnx_operand(im, 1) : NULL;
    struct tdl_tensor_params out;

    if (!at || !unpooled(im, tdl_kit_desc(x), &out))
        return false;
    const uint32_t given = (uint32_t)tdl_kit_elements(x);
    struct tdl_tensor_params flat = {.dtype = out.dtype, .rank = 1, .shape = {1}};
    for (uint32_t i = 0; i < out.rank; i++)
        flat.shape[0] *= out.shape[i];
    O y = tdl_kit_fill(&im->kit, &flat, 0);
    at = onnx_reshape(im, at, 1, &given);
    x = onnx_reshape(im, x, 1, &given);
    if (!y || !at || !x)
        return false;
    y = tdl_builder_scatter_elements(b, y, at, x, 0, &(struct tdl_scatter_params){0});
    return onnx_give(im, enlarged(im, onnx_reshape(im, y, out.rank, out.shape)));
}
