/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builders used wrongly: the first mistake is kept, its text names the
 * operator and the shapes, and nothing crashes. No device is needed.
 */
#include "subject.h"

#include <math.h>

struct bench {
    struct tdl_builder *b, *other;
    struct rng rng;
    struct tdl_operand *x;       /* 1×8×6×4 */
    struct tdl_operand *foreign; /* operand of another builder */
};
typedef struct bench *B;

static struct tdl_operand *filter(B t, uint32_t out, uint32_t k, uint32_t in)
{
    return subject_filter(t->b, &t->rng, out, k, k, in);
}

static struct tdl_operand *input(B t, const char *name, uint32_t n, uint32_t h, uint32_t w,
                                 uint32_t c)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, n, h, w, c);
    return tdl_builder_input(t->b, name, &p);
}

static const float values[16];
static const struct tdl_tensor_params four = {.rank = 1, .shape = {4}};

#define CASE(name) static void name(B t)
#define CONV(filter, ...)                                                                          \
    tdl_builder_conv2d(t->b, t->x, filter, &(struct tdl_conv2d_params){__VA_ARGS__})
#define TRANSPOSE(filter, ...)                                                                     \
    tdl_builder_conv_transpose2d(t->b, t->x, filter,                                               \
                                 &(struct tdl_conv_transpose2d_params){__VA_ARGS__})
#define POOL(...) tdl_builder_average_pool2d(t->b, t->x, &(struct tdl_pool2d_params){__VA_ARGS__})
#define RESAMPLE(...)                                                                              \
    tdl_builder_resample2d(t->b, t->x, &(struct tdl_resample2d_params){__VA_ARGS__})

/* Missing and foreign operands. */
CASE(conv_null_input) { tdl_builder_conv2d(t->b, NULL, filter(t, 4, 1, 4), NULL); }
CASE(conv_null_filter) { tdl_builder_conv2d(t->b, t->x, NULL, NULL); }
CASE(conv_foreign_input) { tdl_builder_conv2d(t->b, t->foreign, filter(t, 4, 1, 4), NULL); }
CASE(conv_foreign_bias) { CONV(filter(t, 4, 1, 4), .bias = t->foreign); }
CASE(transpose_null) { tdl_builder_conv_transpose2d(t->b, NULL, NULL, NULL); }
CASE(pool_null) { tdl_builder_average_pool2d(t->b, NULL, NULL); }
CASE(global_pool_foreign) { tdl_builder_global_average_pool(t->b, t->foreign); }
CASE(resample_null)
{
    tdl_builder_resample2d(t->b, NULL, &(struct tdl_resample2d_params){.size = {1, 1}});
}
CASE(resample_null_params) { tdl_builder_resample2d(t->b, t->x, NULL); }
CASE(max_pool_unseen)
{
    tdl_builder_max_pool2d(t->b, t->x, &(struct tdl_pool2d_params){.window = {2, 2},
                                                                   .dilation = {9, 1},
                                                                   .pad = {1, 8}});
}
CASE(pool_output_size) { POOL(.window = {2, 2}, .output_size = {9, 5}); }
CASE(wrong_rounding) { POOL(.rounding = (enum tdl_rounding)99); }
CASE(transpose_groups) { TRANSPOSE(filter(t, 4, 2, 4), .groups = 3); }
CASE(transpose_output_padding)
{
    TRANSPOSE(filter(t, 4, 2, 4), .stride = {2, 2}, .output_padding = {2, 0});
}
CASE(transpose_output_size)
{
    TRANSPOSE(filter(t, 4, 2, 4), .stride = {2, 2}, .output_size = {18, 12});
}
CASE(resample_one_size) { RESAMPLE(.scale = {-1, 2}); }
CASE(wrong_mode) { RESAMPLE(.size = {1, 1}, .mode = (enum tdl_resample_mode)99); }
CASE(slice_start)
{
    tdl_builder_slice(t->b, t->x, &(struct tdl_slice_params){.start = {0, 8}});
}
CASE(slice_backwards)
{
    tdl_builder_slice(t->b, t->x, &(struct tdl_slice_params){.start = {0, 3}, .size = {0, 5},
                                                             .step = {0, -1}});
}
CASE(split_rest) { tdl_builder_split(t->b, t->x, 3, NULL, 1, (struct tdl_operand *[3]){0}); }
CASE(split_axis) { tdl_builder_split(t->b, t->x, 1, NULL, 4, (struct tdl_operand *[1]){0}); }
CASE(concat_nothing) { tdl_builder_concat(t->b, NULL, 0, 0); }
CASE(concat_null) { tdl_builder_concat(t->b, (struct tdl_operand *[]){t->x, NULL}, 2, 0); }
CASE(concat_shapes)
{
    tdl_builder_concat(t->b, (struct tdl_operand *[]){t->x, input(t, "y", 1, 8, 5, 4)}, 2, 3);
}
CASE(concat_axis) { tdl_builder_concat(t->b, &t->x, 1, 4); }
CASE(pad_reflection)
{
    tdl_builder_pad(t->b, t->x, &(struct tdl_pad_params){.before = {0, 0, 0, 4},
                                                         .mode = TDL_PAD_REFLECTION});
}
CASE(pad_too_much)
{
    tdl_builder_pad(t->b, t->x, &(struct tdl_pad_params){.before = {UINT32_MAX}});
}
CASE(depth_to_space_channels)
{
    tdl_builder_depth_to_space(t->b, t->x, 3, TDL_BLOCK_DEPTH_FIRST);
}
CASE(space_to_depth_nothing)
{
    tdl_builder_space_to_depth(t->b, t->x, 0, TDL_BLOCK_DEPTH_FIRST);
}
CASE(batch_norm_without_mean) { tdl_builder_batch_normalization(t->b, t->x, NULL, NULL, NULL); }
CASE(instance_norm_scale)
{
    struct tdl_instance_normalization_params p = {.scale = subject_bias(t->b, &t->rng, 5)};
    tdl_builder_instance_normalization(t->b, t->x, &p);
}
CASE(layer_norm_axes)
{
    struct tdl_layer_normalization_params p = {.axes = {2, 1}, .axis_count = 2};
    tdl_builder_layer_normalization(t->b, t->x, &p);
}
CASE(layer_norm_scale)
{
    struct tdl_layer_normalization_params p = {.scale = subject_bias(t->b, &t->rng, 4)};
    tdl_builder_layer_normalization(t->b, t->x, &p);
}
CASE(add_null) { tdl_builder_add(t->b, t->x, NULL); }
CASE(add_foreign) { tdl_builder_add(t->b, t->foreign, t->x); }
CASE(mul_null) { tdl_builder_mul(t->b, NULL, t->x); }
CASE(activation_null) { tdl_builder_activation(t->b, NULL, TDL_ACTIVATION_RELU); }
CASE(activation_foreign) { tdl_builder_activation(t->b, t->foreign, TDL_ACTIVATION_RELU); }
CASE(cast_null) { tdl_builder_cast(t->b, NULL, TDL_FLOAT32); }
CASE(cast_to_nothing) { tdl_builder_cast(t->b, t->x, (enum tdl_dtype)99); }

/* Shapes that do not fit. */
CASE(conv_channels) { CONV(filter(t, 4, 3, 5)); }
CASE(conv_groups) { CONV(filter(t, 4, 1, 1), .groups = 3); }
CASE(conv_more_groups_than_channels) { CONV(filter(t, 8, 1, 1), .groups = 8); }
CASE(conv_window) { CONV(filter(t, 4, 7, 4)); }
CASE(conv_dilation) { CONV(filter(t, 4, 2, 4), .dilation = {UINT32_MAX, 1}); }
CASE(conv_padding)
{
    CONV(filter(t, 4, 1, 4), .pad = {UINT32_MAX, UINT32_MAX, 0, 0});
}
CASE(conv_filter_rank) { CONV(subject_constant(t->b, 1, four.shape, values)); }
CASE(conv_input_rank)
{
    struct tdl_tensor_params p = {.rank = 2, .shape = {6, 4}};
    tdl_builder_conv2d(t->b, tdl_builder_input(t->b, "flat", &p), filter(t, 4, 1, 4), NULL);
}
CASE(conv_bias) { CONV(filter(t, 5, 1, 4), .bias = subject_constant(t->b, 1, four.shape, values)); }
static struct tdl_operand *integers(B t)
{
    const struct tdl_tensor_params p = {.dtype = TDL_INT32, .rank = 1, .shape = {5}};
    return tdl_builder_input(t->b, "integers", &p);
}
CASE(conv_integer_bias) { CONV(filter(t, 5, 1, 4), .bias = integers(t)); }
CASE(transpose_integer_bias) { TRANSPOSE(filter(t, 5, 2, 4), .bias = integers(t)); }
CASE(transpose_channels) { TRANSPOSE(filter(t, 4, 2, 3)); }
CASE(transpose_padding) { TRANSPOSE(filter(t, 4, 2, 4), .pad = {9, 9, 0, 0}); }
CASE(transpose_stride) { TRANSPOSE(filter(t, 4, 2, 4), .stride = {UINT32_MAX, UINT32_MAX}); }
CASE(transpose_bias)
{
    TRANSPOSE(filter(t, 5, 2, 4), .bias = subject_constant(t->b, 1, four.shape, values));
}
CASE(pool_window) { POOL(.window = {9, 2}); }
CASE(pool_padding) { POOL(.window = {2, 2}, .pad = {2, 0, 0, 0}); }
CASE(pool_rank)
{
    struct tdl_tensor_params p = {.rank = 3, .shape = {8, 6, 4}};
    tdl_builder_global_average_pool(t->b, tdl_builder_input(t->b, "flat", &p));
}
CASE(resample_nothing) { RESAMPLE(.size = {0, 4}); }
CASE(resample_too_much) { RESAMPLE(.size = {UINT32_MAX, UINT32_MAX}); }
CASE(add_shapes) { tdl_builder_add(t->b, t->x, input(t, "y", 1, 8, 5, 4)); }
CASE(mul_layouts)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NCHW, 1, 8, 6, 4);
    tdl_builder_mul(t->b, t->x, tdl_builder_input(t->b, "y", &p));
}
CASE(add_ranks)
{
    struct tdl_tensor_params p = {.rank = 2, .shape = {2, 4}};
    tdl_builder_add(t->b, t->x, tdl_builder_input(t->b, "y", &p));
}

/* Numbers that are in no enum. */
CASE(wrong_activation) { tdl_builder_activation(t->b, t->x, (enum tdl_activation)99); }
CASE(wrong_conv_activation) { CONV(filter(t, 4, 1, 4), .activation = (enum tdl_activation)99); }
CASE(wrong_padding) { CONV(filter(t, 4, 1, 4), .padding = (enum tdl_padding)99); }
CASE(wrong_pool_padding) { POOL(.window = {2, 2}, .padding = (enum tdl_padding)99); }
CASE(wrong_coordinates)
{
    RESAMPLE(.size = {4, 4}, .coordinates = (enum tdl_resample_coordinates)99);
}
CASE(wrong_dtype)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 1, 1, 1);
    p.dtype = (enum tdl_dtype)99;
    tdl_builder_constant(t->b, &p, values, 4);
}

/* Inputs, constants, outputs. */
CASE(input_twice) { input(t, "x", 1, 1, 1, 1); }
CASE(input_without_name) { input(t, NULL, 1, 1, 1, 1); }
CASE(input_with_empty_name) { input(t, "", 1, 1, 1, 1); }
CASE(input_with_long_name)
{
    char name[TDL_MAX_NAME + 2];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    input(t, name, 1, 1, 1, 1);
}
CASE(input_without_desc) { tdl_builder_input(t->b, "y", NULL); }
CASE(input_of_nothing) { input(t, "y", 1, 0, 1, 1); }
CASE(input_too_large) { input(t, "y", UINT32_MAX, UINT32_MAX, UINT32_MAX, 1); }
CASE(activation_of_integers)
{
    struct tdl_tensor_params p = {.dtype = TDL_INT8, .rank = 1, .shape = {4}};
    tdl_builder_activation(t->b, tdl_builder_input(t->b, "y", &p), TDL_ACTIVATION_TANH);
}
CASE(pool_of_integers)
{
    struct tdl_tensor_params p = {.dtype = TDL_INT32, .rank = 4, .shape = {1, 4, 4, 1}};
    tdl_builder_global_average_pool(t->b, tdl_builder_input(t->b, "y", &p));
}
CASE(add_dtypes)
{
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT16, .rank = 1, .shape = {4}};
    tdl_builder_add(t->b, t->x, tdl_builder_input(t->b, "y", &p));
}
CASE(input_packed)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 2, 2, 4);
    p.packing = TDL_PACKING_C4;
    tdl_builder_input(t->b, "y", &p);
}
CASE(input_rank)
{
    struct tdl_tensor_params p = {.rank = 7};
    tdl_builder_input(t->b, "y", &p);
}
CASE(inputs_many)
{
    char name[] = "0";
    for (int i = 0; i <= TDL_MAX_INPUTS; i++, ++*name)
        input(t, name, 1, 1, 1, 1);
}
CASE(constant_size) { tdl_builder_constant(t->b, &four, values, 12); }
CASE(constant_null) { tdl_builder_constant(t->b, &four, NULL, 16); }
CASE(constant_without_desc) { tdl_builder_constant(t->b, NULL, values, 16); }
CASE(output_null) { tdl_builder_output(t->b, "y", NULL); }
CASE(output_foreign) { tdl_builder_output(t->b, "y", t->foreign); }
CASE(output_without_name)
{
    tdl_builder_output(t->b, NULL, tdl_builder_global_average_pool(t->b, t->x));
}
CASE(output_names_twice)
{
    tdl_builder_output(t->b, "y", tdl_builder_global_average_pool(t->b, t->x));
    tdl_builder_output(t->b, "y", tdl_builder_global_average_pool(t->b, t->x));
}
CASE(input_layout)
{
    tdl_builder_set_input_layout(t->b, TDL_LAYOUT_NC4HW4);
}
CASE(conv_told) { CONV(filter(t, 4, 1, 4), .input_layout = 3); }
CASE(transpose_told) { TRANSPOSE(filter(t, 4, 2, 4), .input_layout = UINT64_MAX); }
CASE(im2col_told)
{
    tdl_builder_im2col(t->b, t->x,
                       &(struct tdl_im2col_params){.kernel = {1, 1}, .input_layout = 4});
}
CASE(pool_told) { POOL(.window = {2, 2}, .input_layout = 3); }
CASE(resample_told) { RESAMPLE(.size = {4, 4}, .input_layout = 3); }
CASE(batch_norm_told)
{
    struct tdl_operand *c = subject_constant(t->b, 1, four.shape, values);
    tdl_builder_batch_normalization(
        t->b, t->x, c, c, &(struct tdl_batch_normalization_params){.input_layout = 3});
}
CASE(instance_norm_told)
{
    tdl_builder_instance_normalization(
        t->b, t->x, &(struct tdl_instance_normalization_params){.input_layout = 3});
}
CASE(conv_negative_pad) { CONV(filter(t, 4, 1, 4), .pad = {0, 0, UINT32_MAX, 0}); }
CASE(conv_negative_stride) { CONV(filter(t, 4, 1, 4), .stride = {1, 1u << 31}); }
CASE(pool_negative_pad) { POOL(.window = {2, 2}, .pad = {UINT32_MAX}); }
CASE(im2col_negative_pad)
{
    tdl_builder_im2col(t->b, t->x, &(struct tdl_im2col_params){.pad = {0, UINT32_MAX}});
}
CASE(conv_computed_type)
{
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT16, .rank = 4, .shape = {4, 1, 1, 4}};
    CONV(tdl_builder_input(t->b, "f", &p), .groups = 1);
}
CASE(gemm_without_number)
{
    struct tdl_operand *m = tdl_builder_reshape(t->b, t->x, 2, (const uint32_t[]){48, 4});
    tdl_builder_gemm(t->b, m, m, &(struct tdl_gemm_params){.b_transpose = true, .beta = NAN});
}
CASE(suppression_without_number)
{
    tdl_builder_non_max_suppression(
        t->b, tdl_builder_reshape(t->b, t->x, 2, (const uint32_t[]){48, 4}), NAN);
}
CASE(failed_with_ok) { tdl_builder_fail(t->b, TDL_OK, "what was wrong"); }
/* Parts of the text: the operator, then what is wrong. */
static const struct row {
    const char *name;
    void (*run)(B t);
    enum tdl_result want;
    const char *says[4];
} rows[] = {
#define ARG TDL_ERROR_INVALID_ARGUMENT
#define UNSUPPORTED TDL_ERROR_UNSUPPORTED
#define X "float32[1,8,6,4]"
#define ROW(name, result, ...) {#name, name, result, {__VA_ARGS__}}
    ROW(conv_null_input, ARG, "conv2d", "input 0"),
    ROW(conv_null_filter, ARG, "conv2d", "input 1"),
    ROW(conv_foreign_input, ARG, "conv2d", "another builder"),
    ROW(conv_foreign_bias, ARG, "conv2d", "another builder"),
    ROW(transpose_null, ARG, "convTranspose2d", "input 0"),
    ROW(pool_null, ARG, "averagePool2d", "input 0"),
    ROW(global_pool_foreign, ARG, "averagePool2d", "another builder"),
    ROW(resample_null, ARG, "resample2d", "input 0"),
    ROW(resample_null_params, ARG, "resample2d"),
    ROW(max_pool_unseen, ARG, "maxPool2d", "2x2", X),
    ROW(pool_output_size, ARG, "averagePool2d", "another output size", X),
    ROW(wrong_rounding, ARG, "averagePool2d", "99"),
    ROW(transpose_groups, ARG, "convTranspose2d", "3 groups", X),
    ROW(transpose_output_padding, ARG, "convTranspose2d", "output size", X),
    ROW(transpose_output_size, ARG, "convTranspose2d", "output size", X),
    ROW(resample_one_size, ARG, "resample2d", "-1x2", X),
    ROW(wrong_mode, ARG, "resample2d", "99"),
    ROW(slice_start, ARG, "slice", "dimension 1", X),
    ROW(slice_backwards, ARG, "slice", "step -1", X),
    ROW(split_rest, ARG, "split", "3 parts", X),
    ROW(split_axis, ARG, "split", "axis 4"),
    ROW(concat_nothing, ARG, "concat", "no inputs"),
    ROW(concat_null, ARG, "concat", "input 1"),
    ROW(concat_shapes, ARG, "concat", X, "float32[1,8,5,4]"),
    ROW(concat_axis, ARG, "concat", "dimension 4", X),
    ROW(pad_reflection, ARG, "pad", "reflected", X),
    ROW(pad_too_much, ARG, "pad", "4294967295", X),
    ROW(depth_to_space_channels, ARG, "depthToSpace", "3x3", X),
    ROW(space_to_depth_nothing, ARG, "spaceToDepth", "0x0", X),
    ROW(batch_norm_without_mean, ARG, "batchNormalization", "mean"),
    ROW(instance_norm_scale, ARG, "instanceNormalization", "float32[5]", X),
    ROW(layer_norm_axes, ARG, "layerNormalization", "axes", X),
    ROW(layer_norm_scale, ARG, "layerNormalization", "float32[4]", X),
    ROW(add_null, ARG, "add", "input 1"),
    ROW(add_foreign, ARG, "add", "another builder"),
    ROW(mul_null, ARG, "mul", "input 0"),
    ROW(activation_null, ARG, "relu", "input 0"),
    ROW(activation_foreign, ARG, "relu", "another builder"),
    ROW(cast_null, ARG, "cast", "input 0"),
    ROW(cast_to_nothing, ARG, "cast", "99"),
    ROW(conv_channels, ARG, "conv2d", "4 outputs from 5 channels", X),
    ROW(conv_groups, ARG, "conv2d", "3 groups", X),
    ROW(conv_more_groups_than_channels, ARG, "conv2d", "8 groups", X),
    ROW(conv_window, ARG, "conv2d", "window of 7x7", X),
    ROW(conv_dilation, ARG, "conv2d", "dilation 4294967295"),
    ROW(conv_padding, ARG, "conv2d", "pad 4294967295"),
    ROW(conv_filter_rank, ARG, "conv2d", "float32[4]", X),
    ROW(conv_input_rank, ARG, "conv2d", "float32[6,4]", "rank 4"),
    ROW(conv_bias, ARG, "conv2d", "float32[4]", "5 output channels"),
    ROW(conv_integer_bias, ARG, "conv2d", "int32[5]", "no real number"),
    ROW(transpose_integer_bias, ARG, "convTranspose2d", "int32[5]", "no real number"),
    ROW(transpose_channels, ARG, "convTranspose2d", "from 3 channels", X),
    ROW(transpose_padding, ARG, "convTranspose2d", "padding", X),
    ROW(transpose_stride, ARG, "convTranspose2d"),
    ROW(transpose_bias, ARG, "convTranspose2d", "float32[4]", "5 output channels"),
    ROW(pool_window, ARG, "averagePool2d", "9x2", X),
    ROW(pool_padding, ARG, "averagePool2d", "2x2", X),
    ROW(pool_rank, ARG, "averagePool2d", "float32[8,6,4]"),
    ROW(resample_nothing, ARG, "resample2d", "0x4", X),
    ROW(resample_too_much, ARG, "resample2d", X),
    ROW(add_shapes, ARG, "add", X, "float32[1,8,5,4]"),
    ROW(mul_layouts, ARG, "mul", X, "float32[1,4,8,6]", "do not broadcast"),
    ROW(add_ranks, ARG, "add", X, "float32[2,4]"),
    ROW(wrong_activation, ARG, "activation", "99"),
    ROW(wrong_conv_activation, ARG, "conv2d", "99"),
    ROW(wrong_padding, ARG, "conv2d", "99"),
    ROW(wrong_pool_padding, ARG, "averagePool2d", "99"),
    ROW(wrong_coordinates, ARG, "resample2d", "99"),
    ROW(wrong_dtype, ARG, "99"),
    ROW(input_twice, ARG, "two inputs", "\"x\""),
    ROW(input_without_name, ARG, "name"),
    ROW(input_with_empty_name, ARG, "name"),
    ROW(input_with_long_name, ARG, "name"),
    ROW(input_without_desc, ARG, "\"y\""),
    ROW(input_of_nothing, ARG, "dimension"),
    ROW(input_too_large, ARG, "size"),
    ROW(activation_of_integers, ARG, "tanh", "int8[4]", "float16"),
    ROW(pool_of_integers, ARG, "averagePool2d", "int32[1,4,4,1]", "cast"),
    ROW(add_dtypes, ARG, "add", X, "float16[4]"),
    ROW(input_packed, ARG, "packs", "tdl_build_params"),
    ROW(input_rank, ARG, "rank 7"),
    ROW(inputs_many, UNSUPPORTED, "64 inputs"),
    ROW(constant_size, ARG, "float32[4]", "12 bytes", "16"),
    ROW(constant_null, ARG, "float32[4]", "0 bytes"),
    ROW(constant_without_desc, ARG, "constant"),
    ROW(output_null, ARG, "output"),
    ROW(output_foreign, ARG, "output"),
    ROW(output_without_name, ARG, "output", "name"),
    ROW(output_names_twice, ARG, "two outputs", "\"y\""),
    ROW(input_layout, ARG, "there is no input layout 3"),
    ROW(conv_told, ARG, "conv2d", "no input layout 3"),
    ROW(transpose_told, ARG, "convTranspose2d", "no input layout 18446744073709551615"),
    ROW(im2col_told, ARG, "im2col", "no input layout 4"),
    ROW(pool_told, ARG, "averagePool2d", "no input layout 3"),
    ROW(resample_told, ARG, "resample2d", "no input layout 3"),
    ROW(batch_norm_told, ARG, "batchNormalization", "no input layout 3"),
    ROW(instance_norm_told, ARG, "instanceNormalization", "no input layout 3"),
    ROW(conv_negative_pad, ARG, "conv2d", "pad 4294967295", "negative"),
    ROW(conv_negative_stride, ARG, "conv2d", "stride 2147483648"),
    ROW(pool_negative_pad, ARG, "averagePool2d", "pad 4294967295"),
    ROW(im2col_negative_pad, ARG, "im2col", "pad 4294967295"),
    ROW(conv_computed_type, ARG, "conv2d", "of float16", X, "cast"),
    ROW(gemm_without_number, ARG, "gemm", "beta"),
    ROW(suppression_without_number, ARG, "nonMaxSuppression", "threshold"),
    ROW(failed_with_ok, TDL_ERROR_INVALID_STATE, "what was wrong"),
};

static void bench_open(B t)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 8, 6, 4);
    *t = (struct bench){.rng = {1}};
    OK(check_builder(NULL, &t->b));
    OK(check_builder(NULL, &t->other));
    t->x = tdl_builder_input(t->b, "x", &p);
    t->foreign = tdl_builder_input(t->other, "x", &p);
}

static void bench_close(B t)
{
    tdl_builder_destroy(&t->b);
    tdl_builder_destroy(&t->other);
}

static void check_row(const struct row *row)
{
    struct bench t;
    struct tdl_graph *graph;
    check_begin("%s", row->name);
    bench_open(&t);
    row->run(&t);
    const char *text = tdl_builder_error(t.b);
    CHECK(tdl_builder_status(t.b) == row->want, "\"%s\" (%s) instead of \"%s\"",
          tdl_result_string(tdl_builder_status(t.b)), text, tdl_result_string(row->want));
    for (size_t i = 0; i < COUNT(row->says) && row->says[i]; i++)
        CHECK(strstr(text, row->says[i]), "\"%s\" does not say \"%s\"", text, row->says[i]);
    /* Later calls do nothing, in silence, and the first error stays. */
    char first[512];
    snprintf(first, sizeof(first), "%s", text);
    CHECK(!tdl_builder_add(t.b, t.x, t.x) && !tdl_builder_add(t.b, NULL, NULL),
          "an operator after the error was accepted");
    CHECK(!strcmp(tdl_builder_error(t.b), first), "the first error was replaced");
    tdl_builder_create(NULL, NULL); /* another error */
    FAILS(tdl_builder_output(t.b, "late", t.x), row->want, first);
    FAILS(tdl_builder_build(t.b, NULL, &graph), row->want, first);
    CHECK(!graph, "a graph in spite of the error");
    bench_close(&t);
}

static void check_build(void)
{
    struct bench t;
    struct tdl_graph *graph;
    check_begin("build");
    bench_open(&t);
    struct tdl_operand *o = tdl_builder_global_average_pool(t.b, t.x);
    FAILS(tdl_builder_build(t.b, NULL, &graph), TDL_ERROR_INVALID_STATE, "context");
    tdl_builder_output(t.b, "y", o);
    FAILS(tdl_builder_build(t.b, NULL, &graph), TDL_ERROR_INVALID_STATE, "context");
    bench_close(&t);
}

static void check_label(void)
{
    struct bench t;
    check_begin("label");
    bench_open(&t);
    tdl_builder_set_label(t.b, "operator 12 CONV_2D");
    tdl_builder_conv2d(t.b, t.x, NULL, NULL);
    CHECK(strstr(tdl_builder_error(t.b), "operator 12 CONV_2D: conv2d"), "\"%s\"",
          tdl_builder_error(t.b));
    bench_close(&t);
}

/* Names that differ behind hundreds of bytes are different, and come out whole. */
static void check_names(void)
{
    static char name[TDL_MAX_NAME + 2], other[TDL_MAX_NAME + 2];
    struct bench t;
    check_begin("names");
    bench_open(&t);
    memset(name, 'n', TDL_MAX_NAME);
    memcpy(other, name, sizeof(name));
    other[TDL_MAX_NAME - 1] = 'm';
    struct tdl_operand *a = tdl_builder_input(t.b, name, &four);
    struct tdl_operand *b = tdl_builder_input(t.b, other, &four);
    OK(tdl_builder_output(t.b, name, tdl_builder_sub(t.b, a, b)));
    OK(tdl_builder_output(t.b, other, tdl_builder_sub(t.b, b, a)));
    const struct tdl_ir *ir = tdl_builder_ir(t.b);
    CHECK(!strcmp(ir->inputs[1]->name, name) && !strcmp(ir->inputs[2]->name, other) &&
              !strcmp(ir->outputs[0]->name, name) && !strcmp(ir->outputs[1]->name, other),
          "names were changed");
    CHECK(!tdl_builder_input(t.b, other, &four) && strstr(tdl_builder_error(t.b), "two inputs"),
          "\"%s\"", tdl_builder_error(t.b));
    bench_close(&t);
    bench_open(&t);
    name[TDL_MAX_NAME] = 'n';
    CHECK(!tdl_builder_input(t.b, name, &four) && strstr(tdl_builder_error(t.b), "4095 bytes"),
          "\"%s\"", tdl_builder_error(t.b));
    bench_close(&t);
}

static unsigned released;
static void release(void *memory)
{
    (void)memory;
    released++;
}

static void check_ownership(void)
{
    struct bench t;
    check_begin("ownership");
    bench_open(&t);
    for (int i = 0; i < 3; i++)
        tdl_builder_own(t.b, &t, release);
    tdl_builder_fail(t.b, TDL_ERROR_IO, "file %s", "x");
    CHECK(tdl_builder_status(t.b) == TDL_ERROR_IO && !strcmp(tdl_builder_error(t.b), "file x"),
          "tdl_builder_fail said \"%s\"", tdl_builder_error(t.b));
    CHECK(!released, "memory was released early");
    bench_close(&t);
    CHECK(released == 3, "%u of 3 were released", released);
    tdl_builder_destroy(&t.b); /* NULL by now */
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&rows[i]);
    check_build();
    check_label();
    check_names();
    check_ownership();
    return check_result();
}
