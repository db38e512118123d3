/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file operators.h
 * The operators that a builder takes: WebNN's names and defaults, ONNX's
 * semantics where WebNN is silent. <tdl/tdl.h> includes this file.
 *
 * Every function adds one operator and returns its output, or NULL once the
 * builder has failed (see struct tdl_builder). A `params` of NULL means a
 * zeroed one. Operands belong to their builder; a builder belongs to one
 * thread at a time; nothing here blocks or touches the device.
 */
#ifndef TDL_OPERATORS_H
#define TDL_OPERATORS_H

#include <tdl/tdl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------ windows over images */

/** How sizes of a window's padding come about. */
enum tdl_padding {
    TDL_PADDING_EXPLICIT = 0,   /**< `pad` as given */
    /** TensorFlow's SAME: out = ceil(in / stride), the odd pixel at the end. */
    TDL_PADDING_SAME_UPPER = 1,
};

enum tdl_activation {
    TDL_ACTIVATION_NONE = 0,
    TDL_ACTIVATION_RELU = 1,
    TDL_ACTIVATION_RELU6 = 2,
    TDL_ACTIVATION_SIGMOID = 3,
    TDL_ACTIVATION_HARD_SWISH = 4, /**< x · min(max(x + 3, 0), 6) / 6 */
    TDL_ACTIVATION_TANH = 5,
};

/** WebNN conv2d. Zero strides, dilations and groups mean 1. */
struct tdl_conv2d_params {
    uint32_t stride[2];   /**< vertical, horizontal */
    uint32_t dilation[2]; /**< vertical, horizontal */
    uint32_t pad[4];      /**< top, bottom, left, right, px */
    enum tdl_padding padding;
    uint32_t groups;
    struct tdl_operand *bias; /**< [out channels], or NULL */
    enum tdl_activation activation;
};
/**
 * @param filter  "ohwi": [out, kh, kw, in / groups]; a depthwise filter
 *                (groups == in) is [in · multiplier, kh, kw, 1].
 * The input's layout (NHWC or NCHW) is the output's.
 */
TDL_API struct tdl_operand *tdl_builder_conv2d(struct tdl_builder *builder,
                                               struct tdl_operand *input,
                                               struct tdl_operand *filter,
                                               const struct tdl_conv2d_params *params);
/** WebNN convTranspose2d, filter "ohwi"; pad crops the output. */
struct tdl_conv_transpose2d_params {
    uint32_t stride[2];
    uint32_t pad[4]; /**< top, bottom, left, right, px of the output cut away */
    enum tdl_padding padding; /**< SAME_UPPER: out = in · stride */
    struct tdl_operand *bias;
    enum tdl_activation activation;
};
TDL_API struct tdl_operand *
tdl_builder_conv_transpose2d(struct tdl_builder *builder, struct tdl_operand *input,
                             struct tdl_operand *filter,
                             const struct tdl_conv_transpose2d_params *params);

/** WebNN averagePool2d: the mean of the pixels inside the image. */
struct tdl_pool2d_params {
    uint32_t window[2]; /**< height, width; 0 means the whole image */
    uint32_t stride[2];
    uint32_t pad[4];
    enum tdl_padding padding;
    enum tdl_activation activation;
};
TDL_API struct tdl_operand *tdl_builder_average_pool2d(struct tdl_builder *builder,
                                                       struct tdl_operand *input,
                                                       const struct tdl_pool2d_params *params);
/** Mean over the two spatial axes, kept as 1 (WebNN reduceMean). */
TDL_API struct tdl_operand *tdl_builder_global_average_pool(struct tdl_builder *builder,
                                                            struct tdl_operand *input);

/** Which input pixel an output pixel's centre falls on. */
enum tdl_resample_coordinates {
    TDL_RESAMPLE_HALF_PIXEL = 0,    /**< (x + ½) · in / out − ½ */
    TDL_RESAMPLE_ALIGN_CORNERS = 1, /**< x · (in − 1) / (out − 1) */
    TDL_RESAMPLE_ASYMMETRIC = 2,    /**< x · in / out */
};
/** WebNN resample2d, linear, to the given spatial size. */
struct tdl_resample2d_params {
    uint32_t size[2]; /**< height, width, px */
    enum tdl_resample_coordinates coordinates;
};
TDL_API struct tdl_operand *tdl_builder_resample2d(struct tdl_builder *builder,
                                                   struct tdl_operand *input,
                                                   const struct tdl_resample2d_params *params);

/** Element-wise with broadcasting of dimensions of size 1, same rank. */
TDL_API struct tdl_operand *tdl_builder_add(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
TDL_API struct tdl_operand *tdl_builder_mul(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** Element-wise functions; NONE returns the operand itself. */
TDL_API struct tdl_operand *tdl_builder_activation(struct tdl_builder *builder,
                                                   struct tdl_operand *input,
                                                   enum tdl_activation activation);
/** Convert the element type. Constants only, for now (float16 → float32). */
TDL_API struct tdl_operand *tdl_builder_cast(struct tdl_builder *builder,
                                             struct tdl_operand *input, enum tdl_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
