/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The examples: one row an operator, in the order of operators.h. */
#include "examples.h"

#include <base.h>

typedef struct tdl_operand *O;

/* ------------------------------------------------------- calls with params */

#define CALL(name, ...)                                                                            \
    static O call_##name(struct tdl_builder *b, O const *o)                                        \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

static const uint32_t two_parts[] = {1, TDL_EXAMPLE_SIDE - 1};
static const uint32_t first_axis[] = {0};
static const uint32_t twice[TDL_MAX_RANK] = {2, 1, 1, 1, 1, 1};
static const uint64_t least = 0; /* zero in any data type */

CALL(conv2d, tdl_builder_conv2d(b, o[0], o[1], &(struct tdl_conv2d_params){.bias = o[2]}))
CALL(im2col, tdl_builder_im2col(b, o[0], &(struct tdl_im2col_params){.kernel = {2, 2}}))
CALL(conv_transpose2d,
     tdl_builder_conv_transpose2d(b, o[0], o[1],
                                  &(struct tdl_conv_transpose2d_params){.bias = o[2]}))
CALL(average_pool2d, tdl_builder_average_pool2d(b, o[0], NULL))
CALL(max_pool2d, tdl_builder_max_pool2d(b, o[0], NULL))
CALL(l2_pool2d, tdl_builder_l2_pool2d(b, o[0], NULL))
CALL(global_average_pool, tdl_builder_global_average_pool(b, o[0]))
CALL(global_max_pool, tdl_builder_global_max_pool(b, o[0]))
CALL(global_l2_pool, tdl_builder_global_l2_pool(b, o[0]))
CALL(resample2d, tdl_builder_resample2d(b, o[0], &(struct tdl_resample2d_params){.size = {6, 6}}))
CALL(grid_sample, tdl_builder_grid_sample(b, o[0], o[1], NULL))
CALL(slice, tdl_builder_slice(b, o[0],
                              &(struct tdl_slice_params){
                                  .start = {tdl_operand_get_desc(o[0])->rank ? 1u : 0}}))
CALL(reverse, tdl_builder_reverse(b, o[0], 1, first_axis))
static O call_split(struct tdl_builder *b, O const *o)
{
    O parts[2] = {NULL};
    tdl_builder_split(b, o[0], 2, two_parts, 0, parts);
    return parts[0];
}

CALL(concat, tdl_builder_concat(b, o, 2, 0))
CALL(pad, tdl_builder_pad(b, o[0],
                          &(struct tdl_pad_params){
                              .before = {tdl_operand_get_desc(o[0])->rank ? 1u : 0}}))
CALL(depth_to_space, tdl_builder_depth_to_space(b, o[0], 2, TDL_BLOCK_DEPTH_FIRST))
CALL(space_to_depth, tdl_builder_space_to_depth(b, o[0], 2, TDL_BLOCK_DEPTH_FIRST))
static O call_batch_normalization(struct tdl_builder *b, O const *o)
{
    const struct tdl_batch_normalization_params p = {.scale = o[3], .bias = o[4]};
    return tdl_builder_batch_normalization(b, o[0], o[1], o[2], &p);
}

static O call_instance_normalization(struct tdl_builder *b, O const *o)
{
    const struct tdl_instance_normalization_params p = {.scale = o[1], .bias = o[2]};
    return tdl_builder_instance_normalization(b, o[0], &p);
}

/* Over as many axes as the scale or the bias has. */
static O call_layer_normalization(struct tdl_builder *b, O const *o)
{
    const uint32_t rank = tdl_operand_get_desc(o[0])->rank;
    const O over = o[1] ? o[1] : o[2];
    struct tdl_layer_normalization_params p = {.scale = o[1], .bias = o[2]};
    p.axis_count = over ? TDL_MIN(tdl_operand_get_desc(over)->rank, rank) : 0;
    for (uint32_t i = 0; i < p.axis_count; i++)
        p.axes[i] = rank - p.axis_count + i;
    return tdl_builder_layer_normalization(b, o[0], &p);
}

CALL(leaky_relu, tdl_builder_leaky_relu(b, o[0], 0.1f))
CALL(elu, tdl_builder_elu(b, o[0], 1))
CALL(hard_sigmoid, tdl_builder_hard_sigmoid(b, o[0], 0.2f, 0.5f))
CALL(linear, tdl_builder_linear(b, o[0], 2, 1))
CALL(clamp, tdl_builder_clamp(b, o[0], &least, NULL))
CALL(where, tdl_builder_where(b, o[2], o[0], o[1]))
static O call_reshape(struct tdl_builder *b, O const *o)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(o[0]);
    return tdl_builder_reshape(b, o[0], p->rank, p->shape);
}

CALL(flatten, tdl_builder_flatten(b, o[0], 0))
static O call_expand(struct tdl_builder *b, O const *o)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(o[0]);
    return tdl_builder_expand(b, o[0], p->rank, p->shape);
}

/* There and back. */
static O call_cast(struct tdl_builder *b, O const *o)
{
    return tdl_builder_cast(b, tdl_builder_cast(b, o[0], TDL_FLOAT32),
                            tdl_operand_get_desc(o[0])->dtype);
}

CALL(quantize_linear, tdl_builder_quantize_linear(b, o[0], o[1], o[2]))
CALL(dequantize_linear, tdl_builder_dequantize_linear(b, o[0], o[1], o[2]))
CALL(gemm, tdl_builder_gemm(b, o[0], o[1], &(struct tdl_gemm_params){.c = o[2]}))
static O call_lstm(struct tdl_builder *b, O const *o)
{
    O out[3] = {NULL};
    const struct tdl_lstm_params p = {.bias = o[3],
                                      .recurrent_bias = o[4],
                                      .peephole = o[5],
                                      .initial_hidden = o[6],
                                      .initial_cell = o[7]};
    tdl_builder_lstm(b, o[0], o[1], o[2], TDL_EXAMPLE_SIDE, TDL_EXAMPLE_SIDE, &p, out);
    return out[0];
}

static O call_lstm_cell(struct tdl_builder *b, O const *o)
{
    O out[2] = {NULL};
    const struct tdl_lstm_params p = {.bias = o[5], .recurrent_bias = o[6], .peephole = o[7]};
    tdl_builder_lstm_cell(b, o[0], o[1], o[2], o[3], o[4], TDL_EXAMPLE_SIDE, &p, out);
    return out[0];
}

static O call_gru(struct tdl_builder *b, O const *o)
{
    O out[2] = {NULL};
    const struct tdl_gru_params p = {.bias = o[3], .recurrent_bias = o[4], .initial_hidden = o[5]};
    tdl_builder_gru(b, o[0], o[1], o[2], TDL_EXAMPLE_SIDE, TDL_EXAMPLE_SIDE, &p, out);
    return out[0];
}

static O call_gru_cell(struct tdl_builder *b, O const *o)
{
    const struct tdl_gru_params p = {.bias = o[4], .recurrent_bias = o[5]};
    return tdl_builder_gru_cell(b, o[0], o[1], o[2], o[3], TDL_EXAMPLE_SIDE, &p);
}

static O call_rnn(struct tdl_builder *b, O const *o)
{
    O out[2] = {NULL};
    const struct tdl_rnn_params p = {.bias = o[3], .recurrent_bias = o[4], .initial_hidden = o[5]};
    tdl_builder_rnn(b, o[0], o[1], o[2], TDL_EXAMPLE_SIDE, TDL_EXAMPLE_SIDE, &p, out);
    return out[0];
}

CALL(softmax, tdl_builder_softmax(b, o[0], 0))
CALL(arg_max, tdl_builder_arg_max(b, o[0], 0, NULL))
CALL(arg_min, tdl_builder_arg_min(b, o[0], 0, NULL))
CALL(reduce_mean, tdl_builder_reduce(b, o[0], TDL_REDUCE_MEAN, NULL))
CALL(reduce_sum, tdl_builder_reduce(b, o[0], TDL_REDUCE_SUM, NULL))
CALL(reduce_max, tdl_builder_reduce(b, o[0], TDL_REDUCE_MAX, NULL))
CALL(reduce_min, tdl_builder_reduce(b, o[0], TDL_REDUCE_MIN, NULL))
CALL(reduce_product, tdl_builder_reduce(b, o[0], TDL_REDUCE_PRODUCT, NULL))
CALL(reduce_l1, tdl_builder_reduce(b, o[0], TDL_REDUCE_L1, NULL))
CALL(reduce_l2, tdl_builder_reduce(b, o[0], TDL_REDUCE_L2, NULL))
CALL(reduce_sum_square, tdl_builder_reduce(b, o[0], TDL_REDUCE_SUM_SQUARE, NULL))
CALL(reduce_log_sum, tdl_builder_reduce(b, o[0], TDL_REDUCE_LOG_SUM, NULL))
CALL(reduce_log_sum_exp, tdl_builder_reduce(b, o[0], TDL_REDUCE_LOG_SUM_EXP, NULL))
CALL(cumulative_sum, tdl_builder_cumulative_sum(b, o[0], 0, NULL))
CALL(top_k, tdl_builder_top_k(b, o[0], 0, &(struct tdl_top_k_params){.count = 2}))
CALL(non_max_suppression, tdl_builder_non_max_suppression(b, o[0], 0.5f))
CALL(transpose, tdl_builder_transpose(b, o[0], NULL))
CALL(gather, tdl_builder_gather(b, o[0], o[1], 0))
CALL(gather_elements, tdl_builder_gather_elements(b, o[0], o[1], 0))
CALL(gather_nd, tdl_builder_gather_nd(b, o[0], o[1], 0))
CALL(scatter_elements, tdl_builder_scatter_elements(b, o[0], o[1], o[2], 0, NULL))
CALL(scatter_nd, tdl_builder_scatter_nd(b, o[0], o[1], o[2], NULL))
CALL(triangular, tdl_builder_triangular(b, o[0], NULL))
CALL(tile, tdl_builder_tile(b, o[0], twice))

/* Functions of one value, and of two that broadcast. */
/* clang-format off */
#define UNARY(F)                                                                                   \
    F(logical_not) F(is_nan) F(is_infinite) F(identity) F(abs) F(neg) F(sign) F(ceil) F(floor)     \
    F(round_even) F(exp) F(log) F(sqrt) F(reciprocal) F(erf) F(sin) F(cos) F(tan) F(relu) F(gelu)  \
    F(sigmoid) F(hard_swish) F(tanh) F(softplus) F(softsign)
#define BINARY(F)                                                                                  \
    F(add) F(sub) F(mul) F(div) F(max) F(min) F(pow) F(bitwise_and) F(bitwise_or) F(bitwise_xor)   \
    F(equal) F(not_equal) F(greater) F(greater_or_equal) F(lesser) F(lesser_or_equal)              \
    F(logical_and) F(logical_or) F(logical_xor)
/* clang-format on */
#define CALL_UNARY(name) CALL(name, tdl_builder_##name(b, o[0]))
#define CALL_BINARY(name) CALL(name, tdl_builder_##name(b, o[0], o[1]))
UNARY(CALL_UNARY)
BINARY(CALL_BINARY)
CALL_BINARY(prelu)
CALL_BINARY(matmul)

/* --------------------------------------------------------------- the table */

enum {
    TYPE = TDL_EXAMPLE_SAME_TYPE,
    RANK = TDL_EXAMPLE_SAME_RANK,
    OPTIONAL = TDL_EXAMPLE_OPTIONAL,
    S = TDL_EXAMPLE_SIDE
};
#define INPUT(r)                                                                                   \
    {                                                                                              \
        .name = "input", .rank = r                                                                 \
    }
#define OPERAND(n, f, r, ...)                                                                      \
    {                                                                                              \
        .name = n, .flags = f, .rank = r, .shape = { __VA_ARGS__ }                                 \
    }
#define INDICES(f, r, ...)                                                                         \
    {                                                                                              \
        .name = "indices", .flags = f, .dtype = TDL_INT32, .rank = r, .shape = { __VA_ARGS__ }     \
    }
#define ROW(n, ...)                                                                                \
    {                                                                                              \
        .name = #n, .call = call_##n, .slots = { __VA_ARGS__ }                                     \
    }
#define ROW_UNARY(n) ROW(n, {.name = "x", .rank = 1}),
#define ROW_BINARY(n) ROW(n, {.name = "a"}, {.name = "b", .flags = TYPE}),

static const struct tdl_example examples[] = {
    ROW(conv2d, INPUT(4), OPERAND("filter", TYPE, 4), OPERAND("bias", TYPE | OPTIONAL, 1)),
    ROW(im2col, INPUT(4)),
    ROW(conv_transpose2d, INPUT(4), OPERAND("filter", TYPE, 4),
        OPERAND("bias", TYPE | OPTIONAL, 1)),
    ROW(average_pool2d, INPUT(4)),
    ROW(max_pool2d, INPUT(4)),
    ROW(l2_pool2d, INPUT(4)),
    ROW(global_average_pool, INPUT(4)),
    ROW(global_max_pool, INPUT(4)),
    ROW(global_l2_pool, INPUT(4)),
    ROW(resample2d, INPUT(4)),
    ROW(grid_sample, INPUT(4), OPERAND("grid", 0, 4, S, S, S, 2)),
    ROW(slice, INPUT(1)),
    ROW(reverse, INPUT(1)),
    ROW(split, INPUT(1)),
    ROW(concat, INPUT(1), OPERAND("others", TYPE | RANK, 1)),
    ROW(pad, INPUT(1)),
    ROW(depth_to_space, INPUT(4)),
    ROW(space_to_depth, INPUT(4)),
    ROW(batch_normalization, INPUT(4), OPERAND("mean", TYPE, 1), OPERAND("variance", TYPE, 1),
        OPERAND("scale", TYPE | OPTIONAL, 1), OPERAND("bias", TYPE | OPTIONAL, 1)),
    ROW(instance_normalization, INPUT(4), OPERAND("scale", TYPE | OPTIONAL, 1),
        OPERAND("bias", TYPE | OPTIONAL, 1)),
    ROW(layer_normalization, INPUT(2), OPERAND("scale", TYPE | RANK | OPTIONAL, 1),
        OPERAND("bias", TYPE | RANK | OPTIONAL, 1)),
    ROW(where, {.name = "x"}, {.name = "y", .flags = TYPE},
        {.name = "condition", .dtype = TDL_UINT8}),
    BINARY(ROW_BINARY) UNARY(ROW_UNARY) /**/
    ROW(leaky_relu, {.name = "x", .rank = 1}),
    ROW(prelu, {.name = "x"}, {.name = "slope", .flags = TYPE}),
    ROW(elu, {.name = "x", .rank = 1}),
    ROW(hard_sigmoid, {.name = "x", .rank = 1}),
    ROW(linear, {.name = "x", .rank = 1}),
    ROW(clamp, {.name = "x", .rank = 1}),
    ROW(reshape, {.name = "x", .rank = 1}),
    ROW(flatten, {.name = "x", .rank = 2}),
    ROW(expand, {.name = "x", .rank = 1}),
    ROW(cast, INPUT(1)),
    ROW(quantize_linear, INPUT(1), OPERAND("scale", RANK, 1),
        {.name = "zero_point", .dtype = TDL_INT8, .flags = RANK, .rank = 1}),
    ROW(dequantize_linear, {.name = "input", .dtype = TDL_INT8, .rank = 1},
        OPERAND("scale", RANK, 1),
        {.name = "zero_point", .dtype = TDL_INT8, .flags = TYPE | RANK | OPTIONAL, .rank = 1}),
    ROW(matmul, {.name = "a", .rank = 2}, OPERAND("b", TYPE, 2)),
    ROW(gemm, {.name = "a", .rank = 2}, OPERAND("b", TYPE, 2), OPERAND("c", TYPE | OPTIONAL, 2)),
    ROW(lstm, INPUT(3), OPERAND("weight", TYPE, 3, 1, 4 * S, S),
        OPERAND("recurrent_weight", TYPE, 3, 1, 4 * S, S),
        OPERAND("bias", TYPE | OPTIONAL, 2, 1, 4 * S),
        OPERAND("recurrent_bias", TYPE | OPTIONAL, 2, 1, 4 * S),
        OPERAND("peephole", TYPE | OPTIONAL, 2, 1, 3 * S),
        OPERAND("initial_hidden", TYPE | OPTIONAL, 3, 1, S, S),
        OPERAND("initial_cell", TYPE | OPTIONAL, 3, 1, S, S)),
    ROW(lstm_cell, INPUT(2), OPERAND("weight", TYPE, 2, 4 * S, S),
        OPERAND("recurrent_weight", TYPE, 2, 4 * S, S), OPERAND("hidden_state", TYPE, 2),
        OPERAND("cell_state", TYPE, 2), OPERAND("bias", TYPE | OPTIONAL, 1, 4 * S),
        OPERAND("recurrent_bias", TYPE | OPTIONAL, 1, 4 * S),
        OPERAND("peephole", TYPE | OPTIONAL, 1, 3 * S)),
    ROW(gru, INPUT(3), OPERAND("weight", TYPE, 3, 1, 3 * S, S),
        OPERAND("recurrent_weight", TYPE, 3, 1, 3 * S, S),
        OPERAND("bias", TYPE | OPTIONAL, 2, 1, 3 * S),
        OPERAND("recurrent_bias", TYPE | OPTIONAL, 2, 1, 3 * S),
        OPERAND("initial_hidden", TYPE | OPTIONAL, 3, 1, S, S)),
    ROW(gru_cell, INPUT(2), OPERAND("weight", TYPE, 2, 3 * S, S),
        OPERAND("recurrent_weight", TYPE, 2, 3 * S, S), OPERAND("hidden_state", TYPE, 2),
        OPERAND("bias", TYPE | OPTIONAL, 1, 3 * S),
        OPERAND("recurrent_bias", TYPE | OPTIONAL, 1, 3 * S)),
    ROW(rnn, INPUT(3), OPERAND("weight", TYPE, 3, 1, S, S),
        OPERAND("recurrent_weight", TYPE, 3, 1, S, S), OPERAND("bias", TYPE | OPTIONAL, 2, 1, S),
        OPERAND("recurrent_bias", TYPE | OPTIONAL, 2, 1, S),
        OPERAND("initial_hidden", TYPE | OPTIONAL, 3, 1, S, S)),
    ROW(softmax, INPUT(2)),
    ROW(arg_max, INPUT(1)),
    ROW(arg_min, INPUT(1)),
    ROW(reduce_mean, INPUT(1)),
    ROW(reduce_sum, INPUT(1)),
    ROW(reduce_max, INPUT(1)),
    ROW(reduce_min, INPUT(1)),
    ROW(reduce_product, INPUT(1)),
    ROW(reduce_l1, INPUT(1)),
    ROW(reduce_l2, INPUT(1)),
    ROW(reduce_sum_square, INPUT(1)),
    ROW(reduce_log_sum, INPUT(1)),
    ROW(reduce_log_sum_exp, INPUT(1)),
    ROW(cumulative_sum, INPUT(1)),
    ROW(top_k, INPUT(1)),
    ROW(non_max_suppression, {.name = "boxes", .rank = 2}),
    ROW(transpose, INPUT(2)),
    ROW(gather, INPUT(1), INDICES(0, 1)),
    ROW(gather_elements, INPUT(1), INDICES(RANK, 1)),
    ROW(gather_nd, INPUT(1), INDICES(TDL_EXAMPLE_TUPLES, 1)),
    ROW(scatter_elements, INPUT(1), INDICES(RANK, 1), OPERAND("updates", TYPE | RANK, 1)),
    ROW(scatter_nd, INPUT(1), INDICES(TDL_EXAMPLE_TUPLES, 2),
        OPERAND("updates", TYPE | RANK | TDL_EXAMPLE_UPDATES, 1)),
    ROW(triangular, INPUT(2)),
    ROW(tile, INPUT(1)),
};

const struct tdl_example *tdl_example_get(uint32_t index)
{
    return index < TDL_COUNT(examples) ? &examples[index] : NULL;
}
