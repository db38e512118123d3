/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random values that keep sums over `fan_in` terms near 1. */
static struct tdl_operand *random_constant(struct tdl_builder *builder, uint32_t rank,
                                           const uint32_t *shape, uint32_t fan_in)
{
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = rank};
    const float scale = 1.0f / sqrtf((float)fan_in);
    uint64_t state = 0x9e3779b97f4a7c15u + rank;
    size_t size;
    float *data;

    memcpy(desc.shape, shape, rank * sizeof(*shape));
    size = tdl_tensor_params_size(&desc);
    data = size ? malloc(size) : NULL;
    if (!data)
        return tdl_builder_fail(builder, TDL_ERROR_OUT_OF_MEMORY,
                                "no memory for %zu bytes of "
                                "weights",
                                size);
    for (size_t i = 0; i < size / sizeof(*data); i++)
        data[i] = tool_random(&state) * scale;
    tdl_builder_own(builder, data, free);
    return tdl_builder_constant(builder, &desc, data, size);
}

static struct tdl_operand *add_conv2d(const struct bench_operator *op, struct tdl_builder *builder,
                                      struct tdl_operand *input)
{
    const uint32_t out = op->out ? op->out : op->shape[3];
    const uint32_t in = op->shape[3] / op->groups;
    const uint32_t shape[4] = {out, op->kernel[0], op->kernel[1], in};
    struct tdl_conv2d_params params = {
        .stride = {op->stride, op->stride},
        .dilation = {op->dilation, op->dilation},
        .padding = TDL_PADDING_SAME_UPPER,
        .groups = op->groups,
        .activation = op->activation,
    };
    struct tdl_operand *filter;

    if (op->shape[3] % op->groups || out % op->groups)
        return tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT,
                                "%u groups do not divide %u input and %u output channels",
                                op->groups, op->shape[3], out);
    filter = random_constant(builder, 4, shape, shape[1] * shape[2] * in);
    params.bias = random_constant(builder, 1, &out, 1);
    return tdl_builder_conv2d(builder, input, filter, &params);
}

static struct tdl_operand *add_conv_transpose2d(const struct bench_operator *op,
                                                struct tdl_builder *builder,
                                                struct tdl_operand *input)
{
    const uint32_t out = op->out ? op->out : op->shape[3];
    const uint32_t shape[4] = {out, op->kernel[0], op->kernel[1], op->shape[3]};
    struct tdl_conv_transpose2d_params params = {
        .stride = {op->stride, op->stride},
        .padding = TDL_PADDING_SAME_UPPER,
        .activation = op->activation,
    };
    struct tdl_operand *filter = random_constant(builder, 4, shape, shape[1] * shape[2] * shape[3]);

    params.bias = random_constant(builder, 1, &out, 1);
    return tdl_builder_conv_transpose2d(builder, input, filter, &params);
}

static struct tdl_operand *add_pool(const struct bench_operator *op, struct tdl_builder *builder,
                                    struct tdl_operand *input)
{
    const struct tdl_pool2d_params params = {
        .window = {op->kernel[0], op->kernel[1]},
        .stride = {op->stride, op->stride},
        .padding = TDL_PADDING_SAME_UPPER,
    };

    return tdl_builder_average_pool2d(builder, input, &params);
}

static struct tdl_operand *add_mean(const struct bench_operator *op, struct tdl_builder *builder,
                                    struct tdl_operand *input)
{
    (void)op;
    return tdl_builder_global_average_pool(builder, input);
}

static struct tdl_operand *add_resample(const struct bench_operator *op,
                                        struct tdl_builder *builder, struct tdl_operand *input)
{
    const struct tdl_resample2d_params params = {
        .mode = TDL_RESAMPLE_LINEAR,
        .size = {op->size[0] ? op->size[0] : 2 * op->shape[1],
                 op->size[1] ? op->size[1] : 2 * op->shape[2]},
    };

    return tdl_builder_resample2d(builder, input, &params);
}

static struct tdl_operand *add_max_pool(const struct bench_operator *op,
                                        struct tdl_builder *builder, struct tdl_operand *input)
{
    const struct tdl_pool2d_params params = {
        .window = {op->kernel[0], op->kernel[1]},
        .stride = {op->stride, op->stride},
        .padding = TDL_PADDING_SAME_UPPER,
    };

    return tdl_builder_max_pool2d(builder, input, &params);
}

static struct tdl_operand *add_nearest(const struct bench_operator *op, struct tdl_builder *builder,
                                       struct tdl_operand *input)
{
    const struct tdl_resample2d_params params = {
        .size = {op->size[0] ? op->size[0] : 2 * op->shape[1],
                 op->size[1] ? op->size[1] : 2 * op->shape[2]},
    };

    return tdl_builder_resample2d(builder, input, &params);
}

static struct tdl_operand *add_instance_norm(const struct bench_operator *op,
                                             struct tdl_builder *builder, struct tdl_operand *input)
{
    (void)op;
    return tdl_builder_instance_normalization(builder, input, NULL);
}

/* Over the channels of a pixel. */
static struct tdl_operand *add_layer_norm(const struct bench_operator *op,
                                          struct tdl_builder *builder, struct tdl_operand *input)
{
    const struct tdl_layer_normalization_params params = {.axes = {3}, .axis_count = 1};

    (void)op;
    return tdl_builder_layer_normalization(builder, input, &params);
}

static struct tdl_operand *add_depth_to_space(const struct bench_operator *op,
                                              struct tdl_builder *builder,
                                              struct tdl_operand *input)
{
    (void)op;
    return tdl_builder_depth_to_space(builder, input, 2, TDL_BLOCK_DEPTH_FIRST);
}

static struct tdl_operand *second_input(const struct bench_operator *op,
                                        struct tdl_builder *builder)
{
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = 4};

    memcpy(desc.shape, op->shape, sizeof(op->shape));
    return tdl_builder_input(builder, "input2", &desc);
}

static struct tdl_operand *add_concat(const struct bench_operator *op, struct tdl_builder *builder,
                                      struct tdl_operand *input)
{
    struct tdl_operand *inputs[] = {input, second_input(op, builder)};

    return tdl_builder_concat(builder, inputs, 2, 3);
}

static struct tdl_operand *add_add(const struct bench_operator *op, struct tdl_builder *builder,
                                   struct tdl_operand *input)
{
    return tdl_builder_add(builder, input, second_input(op, builder));
}

static struct tdl_operand *add_mul(const struct bench_operator *op, struct tdl_builder *builder,
                                   struct tdl_operand *input)
{
    return tdl_builder_mul(builder, input, second_input(op, builder));
}

/* B products M × K by K × N, as --shape says. */
static struct tdl_operand *add_matmul(const struct bench_operator *op, struct tdl_builder *builder,
                                      struct tdl_operand *input)
{
    const struct tdl_tensor_params desc = {.dtype = op->half ? TDL_FLOAT16 : TDL_FLOAT32,
                                           .rank = 3,
                                           .shape = {op->shape[0], op->shape[2], op->shape[3]}};

    return tdl_builder_matmul(builder, input, tdl_builder_input(builder, "input2", &desc));
}

/* A layer: by the transpose of constant weights, and a bias, for all B matrices. */
static struct tdl_operand *add_gemm(const struct bench_operator *op, struct tdl_builder *builder,
                                    struct tdl_operand *input)
{
    const uint32_t shape[2] = {op->shape[3], op->shape[2]};
    struct tdl_operand *weights = random_constant(builder, 2, shape, shape[1]);
    struct tdl_gemm_params params = {
        .c = random_constant(builder, 1, shape, 1),
        .b_transpose = true,
        .activation = op->activation,
    };

    if (op->half) {
        weights = tdl_builder_cast(builder, weights, TDL_FLOAT16);
        params.c = tdl_builder_cast(builder, params.c, TDL_FLOAT16);
    }
    return tdl_builder_gemm(builder, input, weights, &params);
}

static const struct {
    const char *name;
    struct tdl_operand *(*add)(const struct bench_operator *op, struct tdl_builder *builder,
                               struct tdl_operand *input);
} operators[] = {
    {"conv2d", add_conv2d},
    {"conv_transpose2d", add_conv_transpose2d},
    {"average_pool2d", add_pool},
    {"max_pool2d", add_max_pool},
    {"global_average_pool", add_mean},
    {"resample2d", add_resample},
    {"resample2d_nearest", add_nearest},
    {"instance_normalization", add_instance_norm},
    {"layer_normalization", add_layer_norm},
    {"depth_to_space", add_depth_to_space},
    {"concat", add_concat},
    {"add", add_add},
    {"mul", add_mul},
    {"matmul", add_matmul},
    {"gemm", add_gemm},
};

#define OPERATORS (sizeof(operators) / sizeof(operators[0]))

static size_t find(const char *name)
{
    size_t i = 0;

    while (i < OPERATORS && strcmp(name, operators[i].name) != 0)
        i++;
    return i;
}

int bench_check_operator(const char *name)
{
    enum tdl_activation activation;
    char names[512] = "";
    size_t used = 0;

    if (find(name) < OPERATORS || (tool_parse_activation(name, &activation) && activation))
        return TOOL_OK;
    for (size_t i = 0; i < OPERATORS && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s, ", operators[i].name);
    return tool_usage_error("there is no operator '%s'; there are %srelu, relu6, sigmoid, "
                            "hard_swish and tanh",
                            name, names);
}

/* Pictures, or the matrices a of products. */
static struct tdl_tensor_params input_of(const struct bench_operator *op)
{
    const uint32_t *s = op->shape;
    const enum tdl_dtype dtype = op->half ? TDL_FLOAT16 : TDL_FLOAT32;

    if (strcmp(op->name, "matmul") == 0)
        return (struct tdl_tensor_params){.dtype = dtype, .rank = 3, .shape = {s[0], s[1], s[2]}};
    if (strcmp(op->name, "gemm") == 0)
        return (struct tdl_tensor_params){.dtype = dtype, .rank = 2, .shape = {s[0] * s[1], s[2]}};
    return (struct tdl_tensor_params){
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {s[0], s[1], s[2], s[3]}};
}

int bench_build_operator(const struct bench_operator *op, struct tdl_builder *builder)
{
    const struct tdl_tensor_params desc = input_of(op);
    struct tdl_operand *input, *output = NULL;
    enum tdl_activation activation;
    const size_t at = find(op->name);

    tdl_builder_set_input_layout(builder, TDL_LAYOUT_NHWC);
    input = tdl_builder_input(builder, "input", &desc);
    if (at < OPERATORS && input)
        output = operators[at].add(op, builder, input);
    else if (input && tool_parse_activation(op->name, &activation))
        output = tdl_builder_activation(builder, input, activation);
    if (!output || tdl_builder_output(builder, "output", output) != TDL_OK)
        return tool_fail("%s: %s", op->name, tdl_builder_error(builder));
    return TOOL_OK;
}
