/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data types, shapes and single values: what a tensor is without its memory. */
#ifndef TDL_SHAPE_H
#define TDL_SHAPE_H

#include "base.h"

/* TDL_OK, or what is wrong with the params. */
enum tdl_result tdl_tensor_params_check(const struct tdl_tensor_params *params);
/* "float32[1,256,256,3]" into `text`; returns `text`. */
char *tdl_tensor_params_text(const struct tdl_tensor_params *params, char *text, size_t size);

static inline bool tdl_is_float(enum tdl_dtype dtype)
{
    return dtype == TDL_FLOAT32 || dtype == TDL_FLOAT16;
}

/* A rank-4 shape whatever its layout; lower ranks fill from C, and the first
 * dimensions of higher ones are n together. */
struct tdl_dims {
    uint32_t n, h, w, c;
};
struct tdl_dims tdl_dims_in(const struct tdl_tensor_params *params, enum tdl_layout layout);
/* Of a picture of so many channels, which are the last dimension, or else the second. */
bool tdl_has_channels_first(const struct tdl_tensor_params *params, uint32_t channels);
static inline struct tdl_dims tdl_picture_dims(const struct tdl_tensor_params *params,
                                               uint32_t channels)
{
    return tdl_dims_in(params, tdl_has_channels_first(params, channels) ? TDL_LAYOUT_NCHW
                                                                        : TDL_LAYOUT_NHWC);
}
/* Of a tensor: frames and packs have channels last. */
struct tdl_dims tdl_tensor_params_dims(const struct tdl_tensor_params *params);

/* float16 bits to float, and back to the nearest. */
float tdl_half_to_float(uint16_t half);
uint16_t tdl_float_to_half(float value);
/* An integer of that type, its sign in all 64 bits: towards zero, saturated,
 * NaN as 0. */
uint64_t tdl_double_to_integer(enum tdl_dtype dtype, double value);

/* The padding that TensorFlow's SAME adds along an axis: as many pixels that ⌈in /
 * stride⌉ windows of `extent` pixels fit. Half of them lie before, the odd one behind
 * (https://www.tensorflow.org/api_docs/python/tf/nn). */
static inline uint32_t tdl_same_padding(uint64_t in, uint64_t extent, uint64_t stride)
{
    const uint64_t covered = ((in + stride - 1) / stride - 1) * stride + extent;
    return covered > in ? (uint32_t)(covered - in) : 0;
}
/* SAME's padding where a convolution is transposed, as its gradient: that one's input is
 * a multiple of the stride. */
static inline uint32_t tdl_same_padding_transposed(uint64_t extent, uint64_t stride)
{
    return tdl_same_padding(stride, extent, stride);
}

#endif
