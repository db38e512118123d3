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
    TDL_PADDING_EXPLICIT = 0, /**< `pad` as given */
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

/** WebNN's names for the order of a filter's dimensions. */
enum tdl_filter_layout {
    TDL_FILTER_OHWI = 0, /**< out, height, width, in */
    TDL_FILTER_OIHW = 1, /**< WebNN's default, and ONNX's */
    TDL_FILTER_HWIO = 2,
    TDL_FILTER_IHWO = 3,
};

/** WebNN conv2d. Zero strides, dilations and groups mean 1. */
struct tdl_conv2d_params {
    uint32_t stride[2];                   /**< vertical, horizontal */
    uint32_t dilation[2];                 /**< vertical, horizontal */
    uint32_t pad[4];                      /**< top, bottom, left, right, px */
    enum tdl_padding padding;             /**< SAME_UPPER: with a `pad` of 0 alone */
    uint32_t groups;                      /**< of channels that do not meet */
    struct tdl_operand *bias;             /**< [out channels], or NULL */
    enum tdl_activation activation;       /**< of the sum with the bias */
    enum tdl_filter_layout filter_layout; /**< the order of the filter's dimensions */
    uint64_t input_layout;                /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];                 /**< 0: room for later versions */
};
/**
 * @param filter  a constant, float32 or float16, as `filter_layout` says; of "ohwi":
 *                [out, kh, kw, in / groups]; a depthwise filter (groups == in) is
 *                [in · multiplier, kh, kw, 1].
 *                Other orders are put into "ohwi" here, in a copy that the
 *                builder owns. One that is computed or bound at dispatch, of the
 *                input's data type, becomes a product of matrices by im2col, which is
 *                slower. So is a bias that is no constant, which is added behind.
 * The output has its channels where the input has them. How it is computed is
 * chosen when the graph is built: tdl_build_params.conv2d_algorithm, tdl_tune().
 */
TDL_API struct tdl_operand *tdl_builder_conv2d(struct tdl_builder *builder,
                                               struct tdl_operand *input,
                                               struct tdl_operand *filter,
                                               const struct tdl_conv2d_params *params);
/** The window of im2col. Zero sizes, strides and dilations mean 1. */
struct tdl_im2col_params {
    uint32_t kernel[2];       /**< height, width, px */
    uint32_t stride[2];       /**< vertical, horizontal */
    uint32_t dilation[2];     /**< vertical, horizontal */
    uint32_t pad[4];          /**< top, bottom, left, right, px; zeros */
    enum tdl_padding padding; /**< SAME_UPPER: with a `pad` of 0 alone */
    uint64_t input_layout;    /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];     /**< 0: room for later versions */
};
/**
 * The matrix that makes a convolution a product: an image whose pixels are the
 * convolution's output pixels and whose channels, kh · kw · C of them, are the
 * input under the window: tap by tap, row by row, all channels of a tap
 * together. With NHWC that is, row-major, the matrix [N · out_h · out_w,
 * kh · kw · C], and a filter in "ohwi" is [out, kh · kw · C]: its transpose is
 * the right side of the product.
 * @param input  [N, H, W, C] or [N, C, H, W] float32
 */
TDL_API struct tdl_operand *tdl_builder_im2col(struct tdl_builder *builder,
                                               struct tdl_operand *input,
                                               const struct tdl_im2col_params *params);
/** WebNN convTranspose2d. Zero strides, dilations and groups mean 1. */
struct tdl_conv_transpose2d_params {
    uint32_t stride[2];   /**< vertical, horizontal, px of the output */
    uint32_t dilation[2]; /**< vertical, horizontal */
    uint32_t pad[4];      /**< top, bottom, left, right, px of the output cut away */
    /** SAME_UPPER: out = in · stride; takes no output padding and size. */
    enum tdl_padding padding;
    uint32_t output_padding[2]; /**< px more at bottom and right; below the stride */
    /** Height, width, px; 0: from the rest. Overrides `output_padding`; within
     *  a stride above the smallest output. */
    uint32_t output_size[2];
    uint32_t groups;
    struct tdl_operand *bias;       /**< [out channels], or NULL */
    enum tdl_activation activation; /**< of the sum with the bias */
    uint64_t input_layout;          /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];           /**< 0: room for later versions */
};
/**
 * @param filter  "ohwi": [out / groups, kh, kw, in], a constant, float32 or
 *                float16. One that is computed or bound at dispatch, of the input's data
 *                type, makes it a conv2d by such a filter of an input with zeros between
 *                its pixels, which is slower.
 * out size = (in − 1) · stride + (k − 1) · dilation + 1 − pads + output padding.
 * The output has its channels where the input has them.
 */
TDL_API struct tdl_operand *tdl_builder_conv_transpose2d(
    struct tdl_builder *builder, struct tdl_operand *input, struct tdl_operand *filter,
    const struct tdl_conv_transpose2d_params *params);

/** How a pool's output size is rounded. */
enum tdl_rounding {
    TDL_ROUNDING_FLOOR = 0,
    TDL_ROUNDING_CEIL = 1, /**< but no window starts behind the image (ONNX) */
};
/** Parameters of the pools over windows. Zero strides and dilations mean 1. */
struct tdl_pool2d_params {
    uint32_t window[2];         /**< height, width, px; 0 means the whole image */
    uint32_t stride[2];         /**< vertical, horizontal, px */
    uint32_t dilation[2];       /**< vertical, horizontal, px */
    uint32_t pad[4];            /**< top, bottom, left, right, px */
    enum tdl_padding padding;   /**< SAME_UPPER: with a `pad` of 0 alone */
    enum tdl_rounding rounding; /**< of the output size, where none is asked for */
    /** Height, width, px; 0: from `rounding`. What either rounding gives. */
    uint32_t output_size[2];
    /** averagePool2d: padding counts as pixels of 0 (ONNX count_include_pad),
     *  as far as `pad` goes; else the mean is that of the pixels inside. */
    bool count_include_pad;
    enum tdl_activation activation;
    uint64_t input_layout; /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];  /**< 0: room for later versions */
};
/**
 * WebNN averagePool2d, maxPool2d, l2Pool2d: mean, largest value, or root of
 * the sum of squares of the pixels of each window that are inside the image,
 * for each channel. The input is float32 or float16 of rank 4.
 * Every window must see a pixel.
 */
TDL_API struct tdl_operand *tdl_builder_average_pool2d(struct tdl_builder *builder,
                                                       struct tdl_operand *input,
                                                       const struct tdl_pool2d_params *params);
TDL_API struct tdl_operand *tdl_builder_max_pool2d(struct tdl_builder *builder,
                                                   struct tdl_operand *input,
                                                   const struct tdl_pool2d_params *params);
TDL_API struct tdl_operand *tdl_builder_l2_pool2d(struct tdl_builder *builder,
                                                  struct tdl_operand *input,
                                                  const struct tdl_pool2d_params *params);
/** The same over the two spatial axes whole, kept as 1: what a window of 0 gives, too, and
 *  with that `input_layout`. */
TDL_API struct tdl_operand *tdl_builder_global_average_pool(struct tdl_builder *builder,
                                                            struct tdl_operand *input);
TDL_API struct tdl_operand *tdl_builder_global_max_pool(struct tdl_builder *builder,
                                                        struct tdl_operand *input);
TDL_API struct tdl_operand *tdl_builder_global_l2_pool(struct tdl_builder *builder,
                                                       struct tdl_operand *input);

/** The input pixel that an output pixel's centre falls on (ONNX Resize). `in / out` is 1 /
 *  scale where a scale was given. */
enum tdl_resample_coordinates {
    TDL_RESAMPLE_HALF_PIXEL = 0,    /**< (x + ½) · in / out − ½ */
    TDL_RESAMPLE_ALIGN_CORNERS = 1, /**< x · (in − 1) / (out − 1) */
    TDL_RESAMPLE_ASYMMETRIC = 2,    /**< x · in / out */
};
enum tdl_resample_mode {
    TDL_RESAMPLE_NEAREST = 0, /**< WebNN "nearest-neighbor", its default */
    TDL_RESAMPLE_LINEAR = 1,  /**< between four pixels */
};
/** Rounding of a coordinate to the nearest pixel's (ONNX nearest_mode). */
enum tdl_resample_rounding {
    TDL_RESAMPLE_PREFER_FLOOR = 0, /**< halves down */
    TDL_RESAMPLE_PREFER_CEIL = 1,  /**< halves up */
    TDL_RESAMPLE_FLOOR = 2,
    TDL_RESAMPLE_CEIL = 3,
};
/** WebNN resample2d. */
struct tdl_resample2d_params {
    enum tdl_resample_mode mode; /**< nearest element, or linear */
    uint32_t size[2];            /**< height, width, px; both 0: floor(in · scale) */
    float scale[2];              /**< vertical, horizontal, without a size; 0 means 1 */
    enum tdl_resample_coordinates coordinates; /**< where pixels lie */
    enum tdl_resample_rounding rounding;       /**< of TDL_RESAMPLE_NEAREST */
    /** Rising: which dimensions `size` and `scale` are of; both 0: height and width of the
     *  layout. Others than neighbours cost two transpositions. */
    uint32_t axes[2];
    uint64_t input_layout; /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];  /**< 0: room for later versions */
};
/** The input is float32 or float16 of rank 4. Coordinates
 *  outside the image are clamped to it. A size or a scale must be given. */
TDL_API struct tdl_operand *tdl_builder_resample2d(struct tdl_builder *builder,
                                                   struct tdl_operand *input,
                                                   const struct tdl_resample2d_params *params);

enum tdl_grid_mode {
    TDL_GRID_LINEAR = 0,  /**< between four pixels */
    TDL_GRID_NEAREST = 1, /**< the nearest one; of two the one with the even number */
    TDL_GRID_CUBIC = 2,   /**< between 16 pixels: Keys' cubic convolution with a = −¾ */
};
/** What lies around an image. */
enum tdl_grid_padding {
    TDL_GRID_ZEROS = 0,
    TDL_GRID_BORDER = 1,     /**< the nearest pixel of the image */
    TDL_GRID_REFLECTION = 2, /**< the image, mirrored about the ends −1 and 1 */
};
/** Parameters of gridSample. */
struct tdl_grid_sample_params {
    enum tdl_grid_mode mode;       /**< between which pixels */
    enum tdl_grid_padding padding; /**< what lies outside */
    bool align_corners;    /**< −1 and 1 are the outer pixels' centres, else their outer edges */
    uint64_t input_layout; /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];  /**< 0: room for later versions */
};
/**
 * ONNX GridSample of four dimensions, which WebNN has not: pixels of the input at places from
 * −1 to 1, left to right and top to bottom. A place g lies at the pixel
 * ((g + 1) · size − 1) / 2, or (g + 1) / 2 · (size − 1) with align_corners, as float32
 * computes it. Places beyond ±2²⁴ count as these, and NaN as −2²⁴. A pixel of weight 0 counts
 * for nothing, even one that is infinite.
 * @param input  float32 or float16 of rank 4
 * @param grid   [images, height, width, 2], x before y, float32 or float16, whatever the layout
 * @return as many images of height × width pixels, in the input's type
 */
TDL_API struct tdl_operand *tdl_builder_grid_sample(struct tdl_builder *builder,
                                                    struct tdl_operand *input,
                                                    struct tdl_operand *grid,
                                                    const struct tdl_grid_sample_params *params);

/* ------------------------------------------------------- moving of elements */

/* These take every data type, and any rank unless they say otherwise; axes are
 * those of the shape. The output has the input's data type. */

/** For each dimension of the input. */
struct tdl_slice_params {
    uint32_t start[TDL_MAX_RANK]; /**< the first element */
    uint32_t size[TDL_MAX_RANK];  /**< elements that are walked over; 0: to the end */
    int32_t step[TDL_MAX_RANK];   /**< below 0: backwards from the start; 0 means 1 */
    uint64_t reserved[4];         /**< 0: room for later versions */
};
/** WebNN slice: each |step|-th of `size` elements, ceil(size / |step|) in all. */
TDL_API struct tdl_operand *tdl_builder_slice(struct tdl_builder *builder,
                                              struct tdl_operand *input,
                                              const struct tdl_slice_params *params);
/**
 * WebNN reverse: the elements along some axes from the last to the first.
 * @param axes  `axis_count` different ones; none: all
 */
TDL_API struct tdl_operand *tdl_builder_reverse(struct tdl_builder *builder,
                                                struct tdl_operand *input, uint32_t axis_count,
                                                const uint32_t *axes);
/**
 * WebNN split along an axis.
 * @param sizes      of the parts, which make up the dimension; NULL: equal ones
 * @param out_parts  `count` operands, NULL once the builder has failed
 */
TDL_API enum tdl_result tdl_builder_split(struct tdl_builder *builder, struct tdl_operand *input,
                                          uint32_t count, const uint32_t *sizes, uint32_t axis,
                                          struct tdl_operand **out_parts);
/** WebNN concat of `count` ≥ 1 operands, which differ in dimension `axis` only. */
TDL_API struct tdl_operand *tdl_builder_concat(struct tdl_builder *builder,
                                               struct tdl_operand *const *inputs, uint32_t count,
                                               uint32_t axis);
enum tdl_pad_mode {
    TDL_PAD_CONSTANT = 0,
    TDL_PAD_EDGE = 1,       /**< the nearest element */
    TDL_PAD_REFLECTION = 2, /**< mirrored at the outermost element, which is not repeated */
};
struct tdl_pad_params {
    uint32_t before[TDL_MAX_RANK], after[TDL_MAX_RANK]; /**< elements, by dimension */
    enum tdl_pad_mode mode;                             /**< the values put there */
    double value;         /**< of TDL_PAD_CONSTANT; integers saturate, and NaN is 0 */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/** WebNN pad. Zeros round an image before a convolution become its padding. */
TDL_API struct tdl_operand *tdl_builder_pad(struct tdl_builder *builder, struct tdl_operand *input,
                                            const struct tdl_pad_params *params);

/** Channel of pixel (by, bx) of a block, of `channels` each. */
enum tdl_block_order {
    TDL_BLOCK_DEPTH_FIRST = 0,  /**< (by · block + bx) · channels + c, ONNX "DCR" */
    TDL_BLOCK_COLUMN_FIRST = 1, /**< (c · block + by) · block + bx, ONNX "CRD" */
};
/** ONNX DepthToSpace and SpaceToDepth: block² channels are a block of pixels.
 *  Rank 4, with channels where tdl_builder_set_input_layout() said. */
TDL_API struct tdl_operand *tdl_builder_depth_to_space(struct tdl_builder *builder,
                                                       struct tdl_operand *input,
                                                       uint32_t block_size,
                                                       enum tdl_block_order order);
TDL_API struct tdl_operand *tdl_builder_space_to_depth(struct tdl_builder *builder,
                                                       struct tdl_operand *input,
                                                       uint32_t block_size,
                                                       enum tdl_block_order order);

/* ----------------------------------------------------------- normalizations */

/* Scales, biases, means and variances are float32 or float16. Those that are computed or bound
 * at dispatch make batch and instanceNormalization several operators. Scale is 1 and bias 0
 * where they are NULL; an epsilon of 0 means 1e-5, one below 0 is an error. The output has
 * the input's shape. */

struct tdl_batch_normalization_params {
    struct tdl_operand *scale, *bias; /**< [channels] or NULL */
    float epsilon;                    /**< 0: 1e-5 */
    enum tdl_activation activation;   /**< of the result */
    uint64_t input_layout;            /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];             /**< 0: room for later versions */
};
/**
 * WebNN batchNormalization over the channels of the layout:
 * (x − mean) / √(variance + epsilon) · scale + bias. Behind a convolution that
 * nobody else reads it becomes part of its filter.
 * @param input  float32 or float16 of rank 4
 * @param mean, variance  [channels]
 */
TDL_API struct tdl_operand *tdl_builder_batch_normalization(
    struct tdl_builder *builder, struct tdl_operand *input, struct tdl_operand *mean,
    struct tdl_operand *variance, const struct tdl_batch_normalization_params *params);

struct tdl_instance_normalization_params {
    struct tdl_operand *scale, *bias; /**< [channels] or NULL */
    float epsilon;                    /**< 0: 1e-5 */
    enum tdl_activation activation;   /**< of the result */
    uint64_t input_layout;            /**< enum tdl_layout: NCHW, NHWC or 0 */
    uint64_t reserved[3];             /**< 0: room for later versions */
};
/** WebNN instanceNormalization: as batchNormalization, with mean and variance
 *  of each channel of each image. The input is float32 or float16 of rank 4. */
TDL_API struct tdl_operand *tdl_builder_instance_normalization(
    struct tdl_builder *builder, struct tdl_operand *input,
    const struct tdl_instance_normalization_params *params);

struct tdl_layer_normalization_params {
    /** The input's dimensions at the axes, in their order, or NULL. */
    struct tdl_operand *scale, *bias;
    uint32_t axes[TDL_MAX_RANK];    /**< rising */
    uint32_t axis_count;            /**< 0: all axes but the first */
    float epsilon;                  /**< 0: 1e-5 */
    enum tdl_activation activation; /**< of the result */
    uint64_t reserved[4];           /**< 0: room for later versions */
};
/** WebNN layerNormalization: mean and variance over the given axes. The input
 *  is float32 or float16 of any rank; scale and bias have its data type, and
 *  need not be constant. */
TDL_API struct tdl_operand *tdl_builder_layer_normalization(
    struct tdl_builder *builder, struct tdl_operand *input,
    const struct tdl_layer_normalization_params *params);

/* ----------------------------------------------------------- element-wise */

/*
 * One value of the output from one of each input. Inputs of two or three
 * broadcast to each other as in numpy: shapes are aligned at their last
 * dimensions, ranks may differ, and a dimension of 1 is read for all. They have
 * one data type.
 *
 * Floats are float32 and float16 (computed in float32). Without another word an
 * operator of two takes all data types, a function of one float32 and float16;
 * int64 and uint64 where the device has shaderInt64.
 *
 * NaN: functions, arithmetic, max, min and clamp give NaN for NaN (but x ^ 0 and
 * 1 ^ x are 1, as in C), comparisons are false except notEqual. That holds for values in linear
 * memory; images between operators on images are not checked for NaN, and a
 * convolution may turn it into a bound of the activation that is fused to it. On the CPU
 * XNNPACK makes an infinity of NaN where there is no such bound, in convolutions and in products
 * with constant matrices. Where an output follows from a convolution without another one, or
 * a product, in between, and nothing with bounds is fused to it, NaN stays.
 *
 * Float32: tanh, erf, elu, softplus, gelu, sigmoid and exp are within 1e-5 of their result,
 * near 0 and in their tails, too. What is less than 1.2e-38 in magnitude may be read and
 * written as 0, on GPUs above all, and 0 of another sign.
 *
 * Integers wrap. Their division cuts towards zero; by zero it gives 0.
 */

/** a + b. */
TDL_API struct tdl_operand *tdl_builder_add(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** a − b. */
TDL_API struct tdl_operand *tdl_builder_sub(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** a · b. */
TDL_API struct tdl_operand *tdl_builder_mul(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** a / b. Of integers: cut towards zero; x / 0 is 0; the least value / −1 is itself. */
TDL_API struct tdl_operand *tdl_builder_div(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** The larger of both. */
TDL_API struct tdl_operand *tdl_builder_max(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** The smaller of both. */
TDL_API struct tdl_operand *tdl_builder_min(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** a to the power of b. Of integers: wraps; 0 where the result is a fraction
 *  (negative b) or infinite. Of floats as C's pow(): NaN for a negative a and a b that is
 *  not whole; 1 for −1 to the power of infinity. */
TDL_API struct tdl_operand *tdl_builder_pow(struct tdl_builder *builder, struct tdl_operand *a,
                                            struct tdl_operand *b);
/** The bits of both (ONNX BitwiseAnd); integers. */
TDL_API struct tdl_operand *tdl_builder_bitwise_and(struct tdl_builder *builder,
                                                    struct tdl_operand *a, struct tdl_operand *b);
/** The bits of either (ONNX BitwiseOr); integers. */
TDL_API struct tdl_operand *tdl_builder_bitwise_or(struct tdl_builder *builder,
                                                   struct tdl_operand *a, struct tdl_operand *b);
/** The bits of just one (ONNX BitwiseXor); integers. */
TDL_API struct tdl_operand *tdl_builder_bitwise_xor(struct tdl_builder *builder,
                                                    struct tdl_operand *a, struct tdl_operand *b);
/** a = b: 1, else 0, as uint8. */
TDL_API struct tdl_operand *tdl_builder_equal(struct tdl_builder *builder, struct tdl_operand *a,
                                              struct tdl_operand *b);
/** a ≠ b: 1, else 0, as uint8. (ONNX: Not(Equal).) */
TDL_API struct tdl_operand *tdl_builder_not_equal(struct tdl_builder *builder,
                                                  struct tdl_operand *a, struct tdl_operand *b);
/** a > b: 1, else 0, as uint8. */
TDL_API struct tdl_operand *tdl_builder_greater(struct tdl_builder *builder, struct tdl_operand *a,
                                                struct tdl_operand *b);
/** a ≥ b: 1, else 0, as uint8. */
TDL_API struct tdl_operand *tdl_builder_greater_or_equal(struct tdl_builder *builder,
                                                         struct tdl_operand *a,
                                                         struct tdl_operand *b);
/** a < b: 1, else 0, as uint8. */
TDL_API struct tdl_operand *tdl_builder_lesser(struct tdl_builder *builder, struct tdl_operand *a,
                                               struct tdl_operand *b);
/** a ≤ b: 1, else 0, as uint8. */
TDL_API struct tdl_operand *tdl_builder_lesser_or_equal(struct tdl_builder *builder,
                                                        struct tdl_operand *a,
                                                        struct tdl_operand *b);
/** Both are not 0: 1, else 0. uint8 only. */
TDL_API struct tdl_operand *tdl_builder_logical_and(struct tdl_builder *builder,
                                                    struct tdl_operand *a, struct tdl_operand *b);
/** One is not 0: 1, else 0. uint8 only. */
TDL_API struct tdl_operand *tdl_builder_logical_or(struct tdl_builder *builder,
                                                   struct tdl_operand *a, struct tdl_operand *b);
/** Just one is not 0: 1, else 0. uint8 only. */
TDL_API struct tdl_operand *tdl_builder_logical_xor(struct tdl_builder *builder,
                                                    struct tdl_operand *a, struct tdl_operand *b);
/** x is 0: 1, else 0. uint8 only. */
TDL_API struct tdl_operand *tdl_builder_logical_not(struct tdl_builder *builder,
                                                    struct tdl_operand *x);
/** WebNN isNaN: x is NaN: 1, else 0, as uint8. Of images see NaN above. */
TDL_API struct tdl_operand *tdl_builder_is_nan(struct tdl_builder *builder, struct tdl_operand *x);
/** WebNN isInfinite: x is infinite, of either sign: 1, else 0, as uint8. */
TDL_API struct tdl_operand *tdl_builder_is_infinite(struct tdl_builder *builder,
                                                    struct tdl_operand *x);
/** x where the condition (uint8) is not 0, else y. x and y of any one data type. */
TDL_API struct tdl_operand *tdl_builder_where(struct tdl_builder *builder,
                                              struct tdl_operand *condition, struct tdl_operand *x,
                                              struct tdl_operand *y);
/** x, of any data type: a copy. */
TDL_API struct tdl_operand *tdl_builder_identity(struct tdl_builder *builder,
                                                 struct tdl_operand *x);
/** |x|; float32, float16, int8, int32, int64. The least integer stays itself. */
TDL_API struct tdl_operand *tdl_builder_abs(struct tdl_builder *builder, struct tdl_operand *x);
/** −x; float32, float16, int8, int32, int64. The least integer stays itself. */
TDL_API struct tdl_operand *tdl_builder_neg(struct tdl_builder *builder, struct tdl_operand *x);
/** −1, 0 or 1; float32, float16, int8, int32, int64. */
TDL_API struct tdl_operand *tdl_builder_sign(struct tdl_builder *builder, struct tdl_operand *x);
/** The next integer up. */
TDL_API struct tdl_operand *tdl_builder_ceil(struct tdl_builder *builder, struct tdl_operand *x);
/** The next integer down. */
TDL_API struct tdl_operand *tdl_builder_floor(struct tdl_builder *builder, struct tdl_operand *x);
/** The nearest integer, of two the even one. */
TDL_API struct tdl_operand *tdl_builder_round_even(struct tdl_builder *builder,
                                                   struct tdl_operand *x);
/** e to the power of x. */
TDL_API struct tdl_operand *tdl_builder_exp(struct tdl_builder *builder, struct tdl_operand *x);
/** The natural logarithm; −∞ of 0, NaN below. */
TDL_API struct tdl_operand *tdl_builder_log(struct tdl_builder *builder, struct tdl_operand *x);
/** The square root; NaN below 0. */
TDL_API struct tdl_operand *tdl_builder_sqrt(struct tdl_builder *builder, struct tdl_operand *x);
/** 1 / x. */
TDL_API struct tdl_operand *tdl_builder_reciprocal(struct tdl_builder *builder,
                                                   struct tdl_operand *x);
/** The error function. Near 0 its series (Abramowitz and Stegun, 7.1.5). */
TDL_API struct tdl_operand *tdl_builder_erf(struct tdl_builder *builder, struct tdl_operand *x);
/** The sine; radians. */
TDL_API struct tdl_operand *tdl_builder_sin(struct tdl_builder *builder, struct tdl_operand *x);
/** The cosine; radians. */
TDL_API struct tdl_operand *tdl_builder_cos(struct tdl_builder *builder, struct tdl_operand *x);
/** The tangent; radians. */
TDL_API struct tdl_operand *tdl_builder_tan(struct tdl_builder *builder, struct tdl_operand *x);
/** max(x, 0); float32, float16, int8, int32, int64. */
TDL_API struct tdl_operand *tdl_builder_relu(struct tdl_builder *builder, struct tdl_operand *x);
/** x, below 0 alpha · x. WebNN's default is 0.01. */
TDL_API struct tdl_operand *tdl_builder_leaky_relu(struct tdl_builder *builder,
                                                   struct tdl_operand *x, float alpha);
/** x, below 0 slope · x, with broadcasting; float32, float16, int8, int32, int64. */
TDL_API struct tdl_operand *tdl_builder_prelu(struct tdl_builder *builder, struct tdl_operand *x,
                                              struct tdl_operand *slope);
/** x, below 0 alpha · (eˣ − 1). WebNN's default is 1. */
TDL_API struct tdl_operand *tdl_builder_elu(struct tdl_builder *builder, struct tdl_operand *x,
                                            float alpha);
/** x / 2 · (1 + erf(x / √2)). */
TDL_API struct tdl_operand *tdl_builder_gelu(struct tdl_builder *builder, struct tdl_operand *x);
/** 1 / (1 + e⁻ˣ). */
TDL_API struct tdl_operand *tdl_builder_sigmoid(struct tdl_builder *builder, struct tdl_operand *x);
/** alpha · x + beta within 0 … 1. WebNN's defaults are 0.2 and 0.5. */
TDL_API struct tdl_operand *tdl_builder_hard_sigmoid(struct tdl_builder *builder,
                                                     struct tdl_operand *x, float alpha,
                                                     float beta);
/** x · min(max(x + 3, 0), 6) / 6, within 1e-6 of x: next to −3 the result is smaller. */
TDL_API struct tdl_operand *tdl_builder_hard_swish(struct tdl_builder *builder,
                                                   struct tdl_operand *x);
/** The hyperbolic tangent. */
TDL_API struct tdl_operand *tdl_builder_tanh(struct tdl_builder *builder, struct tdl_operand *x);
/** log(1 + eˣ). */
TDL_API struct tdl_operand *tdl_builder_softplus(struct tdl_builder *builder,
                                                 struct tdl_operand *x);
/** x / (1 + |x|). */
TDL_API struct tdl_operand *tdl_builder_softsign(struct tdl_builder *builder,
                                                 struct tdl_operand *x);
/** alpha · x + beta. */
TDL_API struct tdl_operand *tdl_builder_linear(struct tdl_builder *builder, struct tdl_operand *x,
                                               float alpha, float beta);
/**
 * x within bounds; any data type.
 * @param least  one element of x's data type, or NULL for no such bound; read
 *               before the call returns
 * @param most   the same; not less than `least`
 */
TDL_API struct tdl_operand *tdl_builder_clamp(struct tdl_builder *builder, struct tdl_operand *x,
                                              const void *least, const void *most);
/** An enum tdl_activation as an operator; NONE returns the operand itself. Floats,
 *  RELU also as tdl_builder_relu(). */
TDL_API struct tdl_operand *tdl_builder_activation(struct tdl_builder *builder,
                                                   struct tdl_operand *x,
                                                   enum tdl_activation activation);
/**
 * WebNN reshape: the same elements in the same row-major order, of any data
 * type. No work on the device, where the output is
 * not bound to a tensor or the input is a value inside the graph.
 * @param shape  `rank` sizes with the input's count of elements; copied
 */
TDL_API struct tdl_operand *tdl_builder_reshape(struct tdl_builder *builder, struct tdl_operand *x,
                                                uint32_t rank, const uint32_t *shape);
/** ONNX Flatten: the dimensions before `axis` as one, those from it on as the other. */
TDL_API struct tdl_operand *tdl_builder_flatten(struct tdl_builder *builder, struct tdl_operand *x,
                                                uint32_t axis);
/** WebNN expand: x broadcast to a shape, of any data type. `shape` is copied. */
TDL_API struct tdl_operand *tdl_builder_expand(struct tdl_builder *builder, struct tdl_operand *x,
                                               uint32_t rank, const uint32_t *shape);
/**
 * Convert the elements to another data type, any to any.
 * Floats to integers: cut towards zero; what is outside of the integer's range
 * becomes its nearest bound, NaN 0. Integers to smaller ones, or of another
 * sign: the low bits are kept. To floats: the nearest, float16 beyond 65504
 * infinity.
 */
TDL_API struct tdl_operand *tdl_builder_cast(struct tdl_builder *builder, struct tdl_operand *input,
                                             enum tdl_dtype dtype);

/**
 * WebNN quantizeLinear: round(input / scale) + zero_point, halves to even, within the range
 * of the zero point's type. Computed in float32.
 * @param input  float32 or float16
 * @param scale  float32 or float16; aligned with the input at their last dimensions, each
 *               dimension divides the input's, which goes in so many blocks
 * @param zero_point  int8, uint8, int32 or uint32, likewise
 * @return the zero point's type
 */
TDL_API struct tdl_operand *tdl_builder_quantize_linear(struct tdl_builder *builder,
                                                        struct tdl_operand *input,
                                                        struct tdl_operand *scale,
                                                        struct tdl_operand *zero_point);
/**
 * WebNN dequantizeLinear: (input − zero_point) · scale. Computed in float32. A constant
 * of more than 4096 int8 or uint8, with constant scales along one dimension at most, becomes
 * a constant that stays as it is until what reads it is made ready for the device.
 * @param input  int8, uint8, int32 or uint32
 * @param scale  as of quantizeLinear
 * @param zero_point  of the input's type, likewise, or NULL: 0
 * @return the scale's type
 */
TDL_API struct tdl_operand *tdl_builder_dequantize_linear(struct tdl_builder *builder,
                                                          struct tdl_operand *input,
                                                          struct tdl_operand *scale,
                                                          struct tdl_operand *zero_point);

/* ------------------------------------------------------ matrices and vectors */

/**
 * WebNN gemm. A zeroed struct is alpha = beta = 1, nothing transposed, no c.
 */
struct tdl_gemm_params {
    struct tdl_operand *c;          /**< broadcast to [M, N]: rank 0, 1 or 2; or NULL */
    float alpha;                    /**< 0 means 1 */
    float beta;                     /**< 0 means 1; to leave c out, give none */
    bool a_transpose, b_transpose;  /**< a is [K, M], b is [N, K] */
    enum tdl_activation activation; /**< of the sum; float32 before it is stored */
    uint64_t reserved[4];           /**< 0: room for later versions */
};
/**
 * activation(alpha · A · B + beta · C), of one type, float32 or float16; sums
 * are float32 in any case.
 * @param a  [M, K], or [K, M] if a_transpose
 * @param b  [K, N], or [N, K] if b_transpose
 * @return [M, N]. Fails unless both K agree and c broadcasts.
 */
TDL_API struct tdl_operand *tdl_builder_gemm(struct tdl_builder *builder, struct tdl_operand *a,
                                             struct tdl_operand *b,
                                             const struct tdl_gemm_params *params);
/**
 * WebNN matmul: the matrices in the last two dimensions, for every index of
 * the dimensions before, which broadcast from the right as NumPy's do.
 * @param a  [..., M, K], rank 2 or more, float32 or float16
 * @param b  [..., K, N], of the same type; ranks may differ
 * @return [..., M, N] in the higher of both ranks.
 */
TDL_API struct tdl_operand *tdl_builder_matmul(struct tdl_builder *builder, struct tdl_operand *a,
                                               struct tdl_operand *b);

/* ------------------------------------------------------- recurrent networks */

/*
 * These become the operators of each step when they are added: sequences have a known
 * length, of up to 1024 steps. Operands are of one type, float32 or float16; sums of
 * products are float32 in any case.
 */

enum tdl_recurrent_direction {
    TDL_RECURRENT_FORWARD = 0,
    TDL_RECURRENT_BACKWARD = 1, /**< from the last step to the first */
    TDL_RECURRENT_BOTH = 2,     /**< two directions, forward first */
};
/** The order of the gates in weights and biases: input, output, forget, cell. */
enum tdl_lstm_layout {
    TDL_LSTM_IOFG = 0, /**< WebNN's default, and ONNX's */
    TDL_LSTM_IFGO = 1,
};
/** WebNN lstm and lstmCell; the operands of lstmCell lack the first dimension. */
struct tdl_lstm_params {
    struct tdl_operand *bias, *recurrent_bias; /**< [directions, 4 · hidden] or NULL */
    /** [directions, 3 · hidden] or NULL: what input, output and forget gate see of the cell's
     *  state, the output gate of the new one (as in ONNX LSTM). */
    struct tdl_operand *peephole;
    /** [directions, batch, hidden] or NULL, which is zeros; not of lstmCell. */
    struct tdl_operand *initial_hidden, *initial_cell;
    bool return_sequence;                   /**< lstm: the hidden state of each step, too */
    enum tdl_recurrent_direction direction; /**< of lstm */
    enum tdl_lstm_layout layout;            /**< the order of the gates */
    /** Of the gates, of what is new, of the cell's state; NONE: sigmoid, tanh, tanh. */
    enum tdl_activation activations[3];
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * @param input  [steps, batch, size]
 * @param weight  [directions, 4 · hidden_size, size]
 * @param recurrent_weight  [directions, 4 · hidden_size, hidden_size]
 * @param out_outputs  three: hidden state and cell's state behind the last step,
 *                     [directions, batch, hidden], and the sequence [steps, directions, batch,
 *                     hidden], or NULL. All NULL once the builder has failed.
 */
TDL_API enum tdl_result tdl_builder_lstm(struct tdl_builder *builder, struct tdl_operand *input,
                                         struct tdl_operand *weight,
                                         struct tdl_operand *recurrent_weight, uint32_t steps,
                                         uint32_t hidden_size, const struct tdl_lstm_params *params,
                                         struct tdl_operand **out_outputs);
/**
 * One step: input [batch, size], weight [4 · hidden_size, size], recurrent_weight
 * [4 · hidden_size, hidden_size], states [batch, hidden_size].
 * @param out_states  two: hidden state and cell's state; NULL once the builder has failed
 */
TDL_API enum tdl_result tdl_builder_lstm_cell(struct tdl_builder *builder,
                                              struct tdl_operand *input, struct tdl_operand *weight,
                                              struct tdl_operand *recurrent_weight,
                                              struct tdl_operand *hidden_state,
                                              struct tdl_operand *cell_state, uint32_t hidden_size,
                                              const struct tdl_lstm_params *params,
                                              struct tdl_operand **out_states);
/** The order of the gates in weights and biases: update, reset, new. */
enum tdl_gru_layout {
    TDL_GRU_ZRN = 0, /**< WebNN's default, and ONNX's */
    TDL_GRU_RZN = 1,
};
/** WebNN gru and gruCell; the operands of gruCell lack the first dimension. */
struct tdl_gru_params {
    struct tdl_operand *bias, *recurrent_bias; /**< [directions, 3 · hidden] or NULL */
    struct tdl_operand *initial_hidden;        /**< as of lstm; not of gruCell */
    /** The reset gate goes to the state before it meets its weights, as is ONNX's default
     *  (WebNN: resetAfter = false). */
    bool reset_before;
    bool return_sequence;                   /**< gru: the hidden state of each step, too */
    enum tdl_recurrent_direction direction; /**< of gru */
    enum tdl_gru_layout layout;             /**< the order of the gates */
    enum tdl_activation activations[2]; /**< of the gates, of what is new; NONE: sigmoid, tanh */
    uint64_t reserved[4];               /**< 0: room for later versions */
};
/**
 * As lstm, with 3 · hidden_size in the place of 4 · hidden_size.
 * @param out_outputs  two: hidden state, and the sequence or NULL
 */
TDL_API enum tdl_result tdl_builder_gru(struct tdl_builder *builder, struct tdl_operand *input,
                                        struct tdl_operand *weight,
                                        struct tdl_operand *recurrent_weight, uint32_t steps,
                                        uint32_t hidden_size, const struct tdl_gru_params *params,
                                        struct tdl_operand **out_outputs);
/** One step, as lstmCell; returns the next state. */
TDL_API struct tdl_operand *tdl_builder_gru_cell(
    struct tdl_builder *builder, struct tdl_operand *input, struct tdl_operand *weight,
    struct tdl_operand *recurrent_weight, struct tdl_operand *hidden_state, uint32_t hidden_size,
    const struct tdl_gru_params *params);

/** ONNX RNN. */
struct tdl_rnn_params {
    struct tdl_operand *bias, *recurrent_bias; /**< [directions, hidden] or NULL */
    struct tdl_operand *initial_hidden;        /**< as of lstm */
    bool return_sequence;                      /**< the hidden state of each step, too */
    enum tdl_recurrent_direction direction;    /**< direction through the steps */
    enum tdl_activation activation;            /**< NONE: tanh */
    uint64_t reserved[4];                      /**< 0: room for later versions */
};
/** activation(input · weightᵀ + state · recurrent_weightᵀ + both biases), step by step: as
 *  gru, with hidden_size in the place of 3 · hidden_size. */
TDL_API enum tdl_result tdl_builder_rnn(struct tdl_builder *builder, struct tdl_operand *input,
                                        struct tdl_operand *weight,
                                        struct tdl_operand *recurrent_weight, uint32_t steps,
                                        uint32_t hidden_size, const struct tdl_rnn_params *params,
                                        struct tdl_operand **out_outputs);

/* --------------------------------------------------------------- reductions */

/**
 * WebNN softmax: exp(x − max) / Σ exp(x − max) along an axis, so that large
 * values do not overflow. float32 or float16, shape of the input.
 * @param axis  below the rank
 */
TDL_API struct tdl_operand *tdl_builder_softmax(struct tdl_builder *builder,
                                                struct tdl_operand *input, uint32_t axis);

struct tdl_arg_min_max_params {
    bool keep_dimensions; /**< the axis stays, as 1 */
    /** Take the last of equal values, as ONNX's select_last_index; else the first. */
    bool select_last_index;
    /** TDL_INT32 or TDL_INT64; 0 (TDL_FLOAT32, which no index is) means int32. */
    enum tdl_dtype output_dtype;
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * WebNN argMax: where along the axis the largest element lies. Any type; of
 * NaN the result is some index of the axis.
 * @param axis  below the rank
 */
TDL_API struct tdl_operand *tdl_builder_arg_max(struct tdl_builder *builder,
                                                struct tdl_operand *input, uint32_t axis,
                                                const struct tdl_arg_min_max_params *params);
/** WebNN argMin: the same for the smallest. */
TDL_API struct tdl_operand *tdl_builder_arg_min(struct tdl_builder *builder,
                                                struct tdl_operand *input, uint32_t axis,
                                                const struct tdl_arg_min_max_params *params);

/** WebNN's reductions, after their names. */
enum tdl_reduction {
    TDL_REDUCE_MEAN = 0,
    TDL_REDUCE_SUM = 1,
    TDL_REDUCE_MAX = 2,
    TDL_REDUCE_MIN = 3,
    TDL_REDUCE_PRODUCT = 4,
    TDL_REDUCE_L1 = 5,          /**< Σ |x| */
    TDL_REDUCE_L2 = 6,          /**< √ Σ x² */
    TDL_REDUCE_SUM_SQUARE = 7,  /**< Σ x² */
    TDL_REDUCE_LOG_SUM = 8,     /**< ln Σ x */
    TDL_REDUCE_LOG_SUM_EXP = 9, /**< ln Σ exp x, without overflow on the way */
};
struct tdl_reduce_params {
    uint32_t axes[TDL_MAX_RANK]; /**< different ones, below the rank, in any order */
    uint32_t axis_count;         /**< 0: all dimensions */
    bool keep_dimensions;        /**< reduced ones stay, as 1 */
    uint64_t reserved[4];        /**< 0: room for later versions */
};
/**
 * Reduce dimensions to one value. The output has the input's type. Max and
 * min take every type; sum, product, L1 and sumSquare float32, float16 and
 * the 32- and 64-bit integers (which wrap); the others float32 and float16.
 * Halves are computed in float32. Max and min are NaN where an element is, but for images
 * between operators on images. Elements are added in an order that depends
 * on the shapes and the device only.
 */
TDL_API struct tdl_operand *tdl_builder_reduce(struct tdl_builder *builder,
                                               struct tdl_operand *input,
                                               enum tdl_reduction reduction,
                                               const struct tdl_reduce_params *params);

/** WebNN cumulativeSum: element i becomes the sum of those up to i. */
struct tdl_cumulative_sum_params {
    bool exclusive;       /**< without element i itself */
    bool reversed;        /**< from the end */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * Sums along an axis. float32, float16 and the 32- and 64-bit integers (which
 * wrap); shape and type of the input. Halves are summed in float32.
 */
TDL_API struct tdl_operand *tdl_builder_cumulative_sum(
    struct tdl_builder *builder, struct tdl_operand *input, uint32_t axis,
    const struct tdl_cumulative_sum_params *params);

/** Parameters of topK; a zeroed struct is the largest element. */
struct tdl_top_k_params {
    uint32_t count;       /**< 0 means 1; no more than the axis has */
    bool smallest;        /**< the smallest, else the largest */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * ONNX TopK: where along the axis the `count` largest elements lie, the largest first;
 * of equal ones the first comes first, and NaN is larger than all numbers. Any type.
 * tdl_builder_gather_elements() with these indices has the elements.
 * @return int32, the input's shape with `count` at the axis
 */
TDL_API struct tdl_operand *tdl_builder_top_k(struct tdl_builder *builder,
                                              struct tdl_operand *input, uint32_t axis,
                                              const struct tdl_top_k_params *params);
/**
 * The greedy choice among boxes that ONNX NonMaxSuppression makes: in their order, which is
 * from the best to the worst (topK), each that is still there removes those behind it
 * whose intersection with it over their union is above the threshold.
 * @param boxes  […, boxes, 4] float32, two opposite corners each; at most 65536
 *               boxes, of which those without area cost little
 * @return int32 […, boxes]: 1 where the box stays, else 0
 */
TDL_API struct tdl_operand *tdl_builder_non_max_suppression(struct tdl_builder *builder,
                                                            struct tdl_operand *boxes,
                                                            float iou_threshold);

/* ------------------------------------------------------------- moving around */

/**
 * WebNN transpose, of every type.
 * @param permutation  dimension i of the output is dimension permutation[i] of
 *                     the input; `rank` numbers, each once. NULL reverses them.
 * Between operators on channels, one from NHWC to NCHW, (0, 3, 1, 2), or back,
 * (0, 2, 3, 1), most often costs nothing.
 */
TDL_API struct tdl_operand *tdl_builder_transpose(struct tdl_builder *builder,
                                                  struct tdl_operand *input,
                                                  const uint32_t *permutation);
/**
 * WebNN gather: slices of the input along an axis, by index. Negative indices
 * count from the end; what is out of range after that is clamped.
 * @param indices  int32, uint32 or int64, any shape
 * @return the input's shape with the axis replaced by the shape of the
 *         indices, in the input's type. At most TDL_MAX_RANK dimensions.
 */
TDL_API struct tdl_operand *tdl_builder_gather(struct tdl_builder *builder,
                                               struct tdl_operand *input,
                                               struct tdl_operand *indices, uint32_t axis);
/**
 * WebNN gatherElements: out[i][j][k] = input[i][indices[i][j][k]][k] for axis
 * 1. Indices as for gather; their shape, in the input's rank, is the output's
 * and equals the input's in all dimensions but the axis.
 */
TDL_API struct tdl_operand *tdl_builder_gather_elements(struct tdl_builder *builder,
                                                        struct tdl_operand *input,
                                                        struct tdl_operand *indices, uint32_t axis);
/**
 * WebNN gatherND, with ONNX's batch_dims: slices of the input by tuples of indices.
 * @param indices  […, k] as for gather: tuples for the k dimensions of the input behind
 *                 the first `batch_dimensions`
 * @param batch_dimensions  so many dimensions of both, of equal sizes, go in step; 0 in
 *                 WebNN
 * @return the indices' shape without the last dimension, then the input's behind those
 *         that the tuples name. At most TDL_MAX_RANK dimensions.
 */
TDL_API struct tdl_operand *tdl_builder_gather_nd(struct tdl_builder *builder,
                                                  struct tdl_operand *input,
                                                  struct tdl_operand *indices,
                                                  uint32_t batch_dimensions);
/** How an update meets the element at its place (ONNX's reductions). Integers wrap; max and
 *  min of NaN are NaN. */
enum tdl_scatter_reduction {
    TDL_SCATTER_REPLACE = 0, /**< of several updates of one place the last (WebNN's scatters) */
    TDL_SCATTER_ADD = 1,
    TDL_SCATTER_MUL = 2,
    TDL_SCATTER_MAX = 3,
    TDL_SCATTER_MIN = 4,
};
/** Parameters of the scatters; a zeroed struct replaces. */
struct tdl_scatter_params {
    enum tdl_scatter_reduction reduction; /**< of what was there and what comes */
    uint64_t reserved[4];                 /**< 0: room for later versions */
};
/**
 * WebNN scatterElements: the input, but out[i][indices[i][j][k]][k] is updates[i][j][k]
 * for axis 1. Updates are taken in their order, so that results do not depend on the
 * device; a reduction takes time for each element with all updates in its row along the
 * axis.
 * @param indices  as for gather, in the input's rank; in no dimension but the axis larger
 *                 than the input
 * @param updates  of the input's type and the indices' shape
 * @return the input's type and shape. Every type.
 */
TDL_API struct tdl_operand *tdl_builder_scatter_elements(struct tdl_builder *builder,
                                                         struct tdl_operand *input,
                                                         struct tdl_operand *indices,
                                                         struct tdl_operand *updates, uint32_t axis,
                                                         const struct tdl_scatter_params *params);
/**
 * WebNN scatterND: the input, but slices of it, by tuples of indices, are those of the
 * updates. On a GPU a reduction takes time for each element with all tuples.
 * @param indices  […, k] as for gather: tuples for the first k dimensions of the input
 * @param updates  of the input's type; the indices' shape without the last dimension, then
 *                 the input's behind the first k
 * @return the input's type and shape. Every type.
 */
TDL_API struct tdl_operand *tdl_builder_scatter_nd(struct tdl_builder *builder,
                                                   struct tdl_operand *input,
                                                   struct tdl_operand *indices,
                                                   struct tdl_operand *updates,
                                                   const struct tdl_scatter_params *params);
/** WebNN triangular; a zeroed struct keeps the upper half with the diagonal. */
struct tdl_triangular_params {
    bool lower;           /**< keep the lower half (WebNN: upper = false) */
    int32_t diagonal;     /**< 0 the main one, k > 0 above it, k < 0 below */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * Zero what is on the other side of a diagonal, in each matrix of the last
 * two dimensions. Rank 2 or more, every type.
 */
TDL_API struct tdl_operand *tdl_builder_triangular(struct tdl_builder *builder,
                                                   struct tdl_operand *input,
                                                   const struct tdl_triangular_params *params);
/**
 * WebNN tile: repeat the input along each dimension. Every type.
 * @param repetitions  `rank` numbers, each 1 or more
 */
TDL_API struct tdl_operand *tdl_builder_tile(struct tdl_builder *builder, struct tdl_operand *input,
                                             const uint32_t *repetitions);

#ifdef __cplusplus
}
#endif
#endif
