/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kinds of layers, each as the nodes that compute it. */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ options */

static const char *text_of(const struct tfjs_lower *l, const char *key)
{
    const char *text = json_string_value(json_object_get(l->config, key));

    return text ? text : "";
}

static double number_of(const struct tfjs_lower *l, const char *key, double fallback)
{
    const json_t *number = json_object_get(l->config, key);

    return json_is_number(number) ? json_number_value(number) : fallback;
}

/* A number for both, or a list of two. */
static void pair_of(const json_t *json, int64_t fallback, int64_t out[2])
{
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_is_array(json) ? json_array_get(json, i) : json;

        out[i] = json_is_integer(one) ? json_integer_value(one) : fallback;
    }
}

static bool is_first(const struct tfjs_lower *l)
{
    return !strcmp(text_of(l, "data_format"), "channels_first");
}

/* Attributes hold bytes, which may be a list. */
static json_t *bytes(const char *text)
{
    json_t *list = json_array();

    for (; *text; text++)
        json_array_append_new(list, json_integer(*text));
    return json_pack("{s:o}", "s", list);
}

/* Height and width as four numbers. */
static json_t *four(const struct tfjs_lower *l, const int64_t pair[2])
{
    const int at = is_first(l) ? 2 : 1;
    int64_t list[4] = {1, 1, 1, 1};

    list[at] = pair[0];
    list[at + 1] = pair[1];
    return json_pack("{s:{s:[I,I,I,I]}}", "list", "i", (json_int_t)list[0], (json_int_t)list[1],
                     (json_int_t)list[2], (json_int_t)list[3]);
}

static json_t *window_attributes(const struct tfjs_lower *l)
{
    int64_t stride[2], dilation[2];

    pair_of(json_object_get(l->config, "strides"), 1, stride);
    pair_of(json_object_get(l->config, "dilation_rate"), 1, dilation);
    return json_pack("{s:o, s:o, s:o, s:o}", "strides", four(l, stride), "dilations",
                     four(l, dilation), "padding",
                     bytes(!strcmp(text_of(l, "padding"), "same") ? "SAME" : "VALID"),
                     "data_format", bytes(is_first(l) ? "NCHW" : "NHWC"));
}

/* --------------------------------------------------------------- activations */

const char *tfjs_lower_activation(struct tfjs_lower *l, const char *activation, const char *x)
{
    static const struct {
        const char *name, *op;
    } plain[] = {{"relu", "Relu"},       {"relu6", "Relu6"},       {"sigmoid", "Sigmoid"},
                 {"tanh", "Tanh"},       {"elu", "Elu"},           {"selu", "Selu"},
                 {"softmax", "Softmax"}, {"softplus", "Softplus"}, {"softsign", "Softsign"},
                 {"exponential", "Exp"}};

    if (!*activation || !strcmp(activation, "linear"))
        return x;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (!strcmp(plain[i].name, activation))
            return tfjs_lower_node(l, plain[i].op, x, NULL, NULL);
    if (!strcmp(activation, "swish") || !strcmp(activation, "silu"))
        return tfjs_lower_node(l, "Mul", x, tfjs_lower_node(l, "Sigmoid", x, NULL, NULL), NULL);
    if (!strcmp(activation, "hard_sigmoid") || !strcmp(activation, "hardSigmoid")) {
        x = tfjs_lower_node(l, "Mul", x, tfjs_lower_number(l, 0.2), NULL);
        x = tfjs_lower_node(l, "AddV2", x, tfjs_lower_number(l, 0.5), NULL);
        x = tfjs_lower_node(l, "Minimum", x, tfjs_lower_number(l, 1), NULL);
        return tfjs_lower_node(l, "Maximum", x, tfjs_lower_number(l, 0), NULL);
    }
    return tfjs_lower_fail(l, "this activation");
}

static const char *add_activation(struct tfjs_lower *l)
{
    return tfjs_lower_activation(l, text_of(l, "activation"), l->inputs[0]);
}

/* A bias, if there is one, and the activation. */
static const char *finish(struct tfjs_lower *l, const char *y)
{
    const char *bias = tfjs_lower_weights(l, "bias");

    if (y && bias && !json_is_false(json_object_get(l->config, "use_bias")))
        y = tfjs_lower_node(
            l, "BiasAdd", y, bias,
            json_pack("{s:o}", "data_format", bytes(is_first(l) ? "NCHW" : "NHWC")));
    return y ? tfjs_lower_activation(l, text_of(l, "activation"), y) : NULL;
}

static const char *add_relu(struct tfjs_lower *l)
{
    const double slope = number_of(l, "negative_slope", 0), most = number_of(l, "max_value", -1);
    const char *x = l->inputs[0];

    if (number_of(l, "threshold", 0) != 0)
        return tfjs_lower_fail(l, "a threshold");
    x = slope == 0
            ? tfjs_lower_node(l, "Relu", x, NULL, NULL)
            : tfjs_lower_node(l, "LeakyRelu", x, NULL, json_pack("{s:{s:f}}", "alpha", "f", slope));
    return most < 0 ? x : tfjs_lower_node(l, "Minimum", x, tfjs_lower_number(l, most), NULL);
}

static const char *add_leaky_relu(struct tfjs_lower *l)
{
    return tfjs_lower_node(l, "LeakyRelu", l->inputs[0], NULL,
                           json_pack("{s:{s:f}}", "alpha", "f",
                                     number_of(l, "alpha", number_of(l, "negative_slope", 0.3))));
}

static const char *add_elu(struct tfjs_lower *l)
{
    return number_of(l, "alpha", 1) == 1 ? tfjs_lower_node(l, "Elu", l->inputs[0], NULL, NULL)
                                         : tfjs_lower_fail(l, "an alpha that is not 1");
}

static const char *add_prelu(struct tfjs_lower *l)
{
    const char *slope = tfjs_lower_weights(l, "alpha");

    return slope ? tfjs_lower_node(l, "Prelu", l->inputs[0], slope, NULL) : NULL;
}

static const char *add_softmax(struct tfjs_lower *l)
{
    return number_of(l, "axis", -1) == -1 ? tfjs_lower_node(l, "Softmax", l->inputs[0], NULL, NULL)
                                          : tfjs_lower_fail(l, "an axis that is not the last");
}

/* --------------------------------------------------- convolutions and matrices */

static const char *add_conv(struct tfjs_lower *l)
{
    const char *kernel = tfjs_lower_weights(l, "kernel");

    return kernel
               ? finish(l, tfjs_lower_node(l, "Conv2D", l->inputs[0], kernel, window_attributes(l)))
               : NULL;
}

static const char *add_depthwise(struct tfjs_lower *l)
{
    const char *kernel = tfjs_lower_weights(l, "depthwise_kernel");

    return kernel ? finish(l, tfjs_lower_node(l, "DepthwiseConv2dNative", l->inputs[0], kernel,
                                              window_attributes(l)))
                  : NULL;
}

static const char *add_separable(struct tfjs_lower *l)
{
    const char *depthwise = tfjs_lower_weights(l, "depthwise_kernel");
    const char *pointwise = tfjs_lower_weights(l, "pointwise_kernel"), *x;
    const int64_t one[2] = {1, 1};

    if (!depthwise || !pointwise)
        return NULL;
    x = tfjs_lower_node(l, "DepthwiseConv2dNative", l->inputs[0], depthwise, window_attributes(l));
    return finish(l, tfjs_lower_node(l, "Conv2D", x, pointwise,
                                     json_pack("{s:o, s:o, s:o}", "strides", four(l, one),
                                               "padding", bytes("VALID"), "data_format",
                                               bytes(is_first(l) ? "NCHW" : "NHWC"))));
}

/* Numbers of pictures: height and width times a pair of numbers, plus another. */
static const char *size_times(struct tfjs_lower *l, const char *x, const int64_t times[2],
                              const int64_t more[2])
{
    const int64_t at = is_first(l) ? 2 : 1, begin[1] = {at}, end[1] = {at + 2}, step[1] = {1};
    const char *const slice[] = {tfjs_lower_node(l, "Shape", x, NULL, NULL),
                                 tfjs_lower_ints(l, begin, 1), tfjs_lower_ints(l, end, 1),
                                 tfjs_lower_ints(l, step, 1)};
    const char *size = tfjs_lower_many(l, "StridedSlice", slice, 4, NULL);

    size = tfjs_lower_node(l, "Mul", size, tfjs_lower_ints(l, times, 2), NULL);
    return tfjs_lower_node(l, "AddV2", size, tfjs_lower_ints(l, more, 2), NULL);
}

static const char *add_conv_transpose(struct tfjs_lower *l)
{
    const char *kernel = tfjs_lower_weights(l, "kernel"), *size, *around[3];
    const bool same = !strcmp(text_of(l, "padding"), "same");
    int64_t stride[2], window[2], more[2];
    const int64_t one[] = {1}, filters[] = {(int64_t)number_of(l, "filters", 0)};

    pair_of(json_object_get(l->config, "strides"), 1, stride);
    pair_of(json_object_get(l->config, "kernel_size"), 1, window);
    if (is_first(l))
        return tfjs_lower_fail(l, "channels_first");
    for (int i = 0; i < 2; i++)
        more[i] = same || window[i] < stride[i] ? 0 : window[i] - stride[i];
    size = size_times(l, l->inputs[0], stride, more);
    around[0] = tfjs_lower_ints(l, one, 1);
    around[1] = size;
    around[2] = tfjs_lower_ints(l, filters, 1);
    const int64_t zero[] = {0};
    const char *const parts[] = {around[0], around[1], around[2], tfjs_lower_ints(l, zero, 1)};
    const char *const inputs[] = {tfjs_lower_many(l, "ConcatV2", parts, 4, NULL), kernel,
                                  l->inputs[0]};
    return kernel ? finish(l, tfjs_lower_many(l, "Conv2DBackpropInput", inputs, 3,
                                              window_attributes(l)))
                  : NULL;
}

static const char *add_dense(struct tfjs_lower *l)
{
    const char *kernel = tfjs_lower_weights(l, "kernel");

    return kernel ? finish(l, tfjs_lower_node(l, "BatchMatMulV2", l->inputs[0], kernel, NULL))
                  : NULL;
}

/* (x − mean) · scale / √(variance + epsilon) + offset, along the last axis. */
static const char *add_batch_norm(struct tfjs_lower *l)
{
    const json_t *axis = json_object_get(l->config, "axis");
    const char *mean = tfjs_lower_weights(l, "moving_mean"), *x = l->inputs[0];
    const char *variance = tfjs_lower_weights(l, "moving_variance");
    const char *gamma = tfjs_lower_weights(l, "gamma"), *beta = tfjs_lower_weights(l, "beta");
    const int64_t at = json_integer_value(json_is_array(axis) ? json_array_get(axis, 0) : axis);

    if (!mean || !variance)
        return NULL;
    if (at != -1 && at != 3)
        return tfjs_lower_fail(l, "an axis that is not the last");
    x = tfjs_lower_node(l, "Sub", x, mean, NULL);
    variance = tfjs_lower_node(l, "AddV2", variance,
                               tfjs_lower_number(l, number_of(l, "epsilon", 1e-3)), NULL);
    variance = tfjs_lower_node(l, "Rsqrt", variance, NULL, NULL);
    if (gamma)
        variance = tfjs_lower_node(l, "Mul", variance, gamma, NULL);
    x = tfjs_lower_node(l, "Mul", x, variance, NULL);
    return beta ? tfjs_lower_node(l, "AddV2", x, beta, NULL) : x;
}

/* --------------------------------------------------------------- what joins */

/* The operator of the row, from the first input to the last. */
static const char *add_fold(struct tfjs_lower *l)
{
    const char *x = l->inputs[0];

    for (uint32_t i = 1; i < l->input_count; i++)
        x = tfjs_lower_node(l, l->row->op, x, l->inputs[i], NULL);
    return x;
}

static const char *add_average(struct tfjs_lower *l)
{
    return tfjs_lower_node(l, "Mul", add_fold(l), tfjs_lower_number(l, 1.0 / l->input_count), NULL);
}

static const char *add_concatenate(struct tfjs_lower *l)
{
    const char *list[TFJS_LAYER_INPUTS + 1];
    const int64_t axis[] = {(int64_t)number_of(l, "axis", -1)};

    memcpy(list, l->inputs, l->input_count * sizeof(*list));
    list[l->input_count] = tfjs_lower_ints(l, axis, 1);
    return tfjs_lower_many(l, "ConcatV2", list, l->input_count + 1, NULL);
}

/* ------------------------------------------------------------------- shapes */

static const char *add_identity(struct tfjs_lower *l)
{
    return l->inputs[0];
}

/* One picture at a time: the first dimension stays, and is 1. */
static const char *add_flatten(struct tfjs_lower *l)
{
    const int64_t shape[] = {1, -1};

    if (is_first(l))
        return tfjs_lower_fail(l, "channels_first");
    return tfjs_lower_node(l, "Reshape", l->inputs[0], tfjs_lower_ints(l, shape, 2), NULL);
}

/* The first dimension, and those of the config behind it. */
static const char *tail(struct tfjs_lower *l, const char *key, int64_t first)
{
    const json_t *list = json_object_get(l->config, key);
    int64_t numbers[TDL_MAX_RANK] = {first};
    const size_t count = json_array_size(list);

    if (count + 1 > TDL_MAX_RANK)
        return tfjs_lower_fail(l, "so many dimensions");
    for (size_t i = 0; i < count; i++)
        numbers[i + 1] = json_is_integer(json_array_get(list, i)) /* null: what is left */
                             ? json_integer_value(json_array_get(list, i))
                             : -1;
    return tfjs_lower_ints(l, numbers, (uint32_t)count + 1);
}

static const char *add_reshape(struct tfjs_lower *l)
{
    const char *shape = tail(l, "target_shape", 1);

    return shape ? tfjs_lower_node(l, "Reshape", l->inputs[0], shape, NULL) : NULL;
}

static const char *add_permute(struct tfjs_lower *l)
{
    const char *order = tail(l, "dims", 0);

    return order ? tfjs_lower_node(l, "Transpose", l->inputs[0], order, NULL) : NULL;
}

/* [[top, bottom], [left, right]], or [vertical, horizontal], or a number. */
static void read_borders(const struct tfjs_lower *l, const char *key, int64_t out[4])
{
    const json_t *said = json_object_get(l->config, key);

    for (size_t i = 0; i < 2; i++)
        pair_of(json_is_array(said) ? json_array_get(said, i) : said, 1, out + 2 * i);
}

static const char *add_zero_padding(struct tfjs_lower *l)
{
    const int at = is_first(l) ? 4 : 2;
    int64_t all[8] = {0};

    read_borders(l, "padding", all + at);
    return tfjs_lower_node(l, "Pad", l->inputs[0], tfjs_lower_ints(l, all, 8), NULL);
}

static const char *add_cropping(struct tfjs_lower *l)
{
    const int at = is_first(l) ? 2 : 1;
    int64_t cut[4], begin[4] = {0}, end[4] = {0}, step[4] = {1, 1, 1, 1}, mask = 15;

    read_borders(l, "cropping", cut);
    for (int i = 0; i < 2; i++) {
        begin[at + i] = cut[2 * i];
        end[at + i] = -cut[2 * i + 1];
        if (cut[2 * i + 1] > 0)
            mask &= ~(1 << (at + i));
    }
    const char *const inputs[] = {l->inputs[0], tfjs_lower_ints(l, begin, 4),
                                  tfjs_lower_ints(l, end, 4), tfjs_lower_ints(l, step, 4)};
    return tfjs_lower_many(l, "StridedSlice", inputs, 4,
                           json_pack("{s:{s:I}}", "end_mask", "i", (json_int_t)mask));
}

static const char *add_up_sampling(struct tfjs_lower *l)
{
    const bool linear = !strcmp(text_of(l, "interpolation"), "bilinear");
    const int64_t none[2] = {0, 0};
    int64_t times[2];

    if (is_first(l))
        return tfjs_lower_fail(l, "channels_first");
    pair_of(json_object_get(l->config, "size"), 2, times);
    return tfjs_lower_node(l, linear ? "ResizeBilinear" : "ResizeNearestNeighbor", l->inputs[0],
                           size_times(l, l->inputs[0], times, none), NULL);
}

/* -------------------------------------------------------------------- pools */

static const char *add_pool(struct tfjs_lower *l)
{
    const json_t *strides = json_object_get(l->config, "strides");
    int64_t window[2], stride[2];
    json_t *attributes = window_attributes(l);

    pair_of(json_object_get(l->config, "pool_size"), 2, window);
    pair_of(json_is_null(strides) ? NULL : strides, 0, stride);
    for (int i = 0; i < 2; i++)
        if (stride[i] == 0)
            stride[i] = window[i];
    json_object_set_new(attributes, "strides", four(l, stride));
    json_object_set_new(attributes, "ksize", four(l, window));
    return tfjs_lower_node(l, l->row->op, l->inputs[0], NULL, attributes);
}

static const char *add_global(struct tfjs_lower *l)
{
    const int64_t first[] = {2, 3}, last[] = {1, 2};

    return tfjs_lower_node(l, l->row->op, l->inputs[0],
                           tfjs_lower_ints(l, is_first(l) ? first : last, 2),
                           json_pack("{s:{s:b}}", "keep_dims", "b",
                                     json_is_true(json_object_get(l->config, "keepdims"))));
}

const struct tfjs_layer_row tfjs_layers[] = {
    {"Activation", add_activation, NULL},
    {"Add", add_fold, "AddV2"},
    {"Average", add_average, "AddV2"},
    {"AveragePooling2D", add_pool, "AvgPool"},
    {"BatchNormalization", add_batch_norm, NULL},
    {"Concatenate", add_concatenate, NULL},
    {"Conv2D", add_conv, NULL},
    {"Conv2DTranspose", add_conv_transpose, NULL},
    {"Cropping2D", add_cropping, NULL},
    {"Dense", add_dense, NULL},
    {"DepthwiseConv2D", add_depthwise, NULL},
    {"Dropout", add_identity, NULL},
    {"ELU", add_elu, NULL},
    {"Flatten", add_flatten, NULL},
    {"GaussianDropout", add_identity, NULL},
    {"GaussianNoise", add_identity, NULL},
    {"GlobalAveragePooling2D", add_global, "Mean"},
    {"GlobalMaxPooling2D", add_global, "Max"},
    {"LeakyReLU", add_leaky_relu, NULL},
    {"MaxPooling2D", add_pool, "MaxPool"},
    {"Maximum", add_fold, "Maximum"},
    {"Minimum", add_fold, "Minimum"},
    {"Multiply", add_fold, "Mul"},
    {"PReLU", add_prelu, NULL},
    {"Permute", add_permute, NULL},
    {"ReLU", add_relu, NULL},
    {"Reshape", add_reshape, NULL},
    {"SeparableConv2D", add_separable, NULL},
    {"Softmax", add_softmax, NULL},
    {"SpatialDropout2D", add_identity, NULL},
    {"Subtract", add_fold, "Sub"},
    {"UpSampling2D", add_up_sampling, NULL},
    {"ZeroPadding2D", add_zero_padding, NULL},
    {0},
};
