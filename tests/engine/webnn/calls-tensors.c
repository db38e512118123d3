/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions, moves of elements, matrices and recurrent networks: see calls.c. */
#include "calls.h"

/* ----------------------------------------------------------------- reductions */

static O reduce(const struct at *a)
{
    static const char *const names[] = {"Mean", "Sum", "Max",       "Min",    "Product",
                                        "L1",   "L2",  "SumSquare", "LogSum", "LogSumExp"};
    const int32_t count = at_length(a, "axes");
    struct tdl_reduce_params p = {.axis_count = count > 0 ? (uint32_t)count : 0,
                                  .keep_dimensions = at_number(a, "keepDimensions", 0) != 0};
    enum tdl_reduction kind = 0;
    while (kind < TDL_REDUCE_LOG_SUM_EXP && strcmp(names[kind], a->call->name + 6))
        kind++;
    at_naturals(a, "axes", p.axes, p.axis_count, 0);
    if (count || !rank_of(at_operand(a, "input")))
        return tdl_builder_reduce(a->b, at_operand(a, "input"), kind, &p);
    p = (struct tdl_reduce_params){.axes = {rank_of(at_operand(a, "input"))}, .axis_count = 1};
    return tdl_builder_reduce(a->b, with_one(a, at_operand(a, "input")), kind, &p);
}

static O arg(const struct at *a)
{
    const struct argument *dtype = call_argument(a->call, "outputDataType");
    const struct tdl_arg_min_max_params p = {
        .keep_dimensions = at_number(a, "keepDimensions", 0) != 0,
        .output_dtype = dtype ? dtype_named(dtype->text) : TDL_INT32,
    };
    return (!strcmp(a->call->name, "argMax") ? tdl_builder_arg_max : tdl_builder_arg_min)(
        a->b, at_operand(a, "input"), at_natural(a, "axis", 0, 0), &p);
}

static O cumulative_sum(const struct at *a)
{
    const struct tdl_cumulative_sum_params p = {.exclusive = at_number(a, "exclusive", 0) != 0,
                                                .reversed = at_number(a, "reversed", 0) != 0};
    return tdl_builder_cumulative_sum(a->b, at_operand(a, "input"), at_natural(a, "axis", 0, 0),
                                      &p);
}

static O softmax(const struct at *a)
{
    return tdl_builder_softmax(a->b, at_operand(a, "input"), at_natural(a, "axis", 0, 0));
}

/* ---------------------------------------------------------------------- moves */

static O concat(const struct at *a)
{
    O inputs[MOST_VALUES];
    const uint32_t count = (uint32_t)at_length(a, "inputs");
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = call_operand(a->c, a->call, "inputs", i);
    return tdl_builder_concat(a->b, inputs, count, at_natural(a, "axis", 0, 0));
}

static O expand(const struct at *a)
{
    uint32_t shape[TDL_MAX_RANK];
    at_naturals(a, "newShape", shape, TDL_MAX_RANK, 1);
    return tdl_builder_expand(a->b, at_operand(a, "input"), (uint32_t)at_length(a, "newShape"),
                              shape);
}

static O reshape(const struct at *a)
{
    uint32_t shape[TDL_MAX_RANK];
    at_naturals(a, "newShape", shape, TDL_MAX_RANK, 1);
    return tdl_builder_reshape(a->b, at_operand(a, "input"), (uint32_t)at_length(a, "newShape"),
                               shape);
}

static O gather(const struct at *a)
{
    return tdl_builder_gather(a->b, at_operand(a, "input"), at_operand(a, "indices"),
                              at_natural(a, "axis", 0, 0));
}

static O gather_elements(const struct at *a)
{
    return tdl_builder_gather_elements(a->b, at_operand(a, "input"), at_operand(a, "indices"),
                                       at_natural(a, "axis", 0, 0));
}

static O gather_nd(const struct at *a)
{
    return tdl_builder_gather_nd(a->b, at_operand(a, "input"), at_operand(a, "indices"), 0);
}

static O scatter_elements(const struct at *a)
{
    return tdl_builder_scatter_elements(a->b, at_operand(a, "input"), at_operand(a, "indices"),
                                        at_operand(a, "updates"), at_natural(a, "axis", 0, 0),
                                        NULL);
}

static O scatter_nd(const struct at *a)
{
    return tdl_builder_scatter_nd(a->b, at_operand(a, "input"), at_operand(a, "indices"),
                                  at_operand(a, "updates"), NULL);
}

static O pad(const struct at *a)
{
    struct tdl_pad_params p = {.mode = call_is(a->call, "mode", "edge")         ? TDL_PAD_EDGE
                                       : call_is(a->call, "mode", "reflection") ? TDL_PAD_REFLECTION
                                                                                : TDL_PAD_CONSTANT,
                               .value = at_number(a, "value", 0)};
    at_naturals(a, "beginningPadding", p.before, TDL_MAX_RANK, 0);
    at_naturals(a, "endingPadding", p.after, TDL_MAX_RANK, 0);
    return tdl_builder_pad(a->b, at_operand(a, "input"), &p);
}

static O reverse(const struct at *a)
{
    uint32_t axes[TDL_MAX_RANK];
    const int32_t count = at_length(a, "axes");
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        axes[i] = count < 0 ? i : at_natural(a, "axes", i, 0);
    if (count == 0 || !rank_of(at_operand(a, "input")))
        return tdl_builder_identity(a->b, at_operand(a, "input"));
    return tdl_builder_reverse(a->b, at_operand(a, "input"),
                               count < 0 ? rank_of(at_operand(a, "input")) : (uint32_t)count, axes);
}

static O slice(const struct at *a)
{
    struct tdl_slice_params p = {0};
    at_naturals(a, "starts", p.start, TDL_MAX_RANK, 0);
    at_naturals(a, "sizes", p.size, TDL_MAX_RANK, 0);
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        p.step[i] = (int32_t)at_natural(a, "strides", i, 1);
    return tdl_builder_slice(a->b, at_operand(a, "input"), &p);
}

static O tile(const struct at *a)
{
    uint32_t repetitions[TDL_MAX_RANK];
    at_naturals(a, "repetitions", repetitions, TDL_MAX_RANK, 1);
    return tdl_builder_tile(a->b, at_operand(a, "input"), repetitions);
}

static O transpose(const struct at *a)
{
    uint32_t permutation[TDL_MAX_RANK];
    at_naturals(a, "permutation", permutation, TDL_MAX_RANK, 0);
    return tdl_builder_transpose(a->b, at_operand(a, "input"),
                                 at_length(a, "permutation") < 0 ? NULL : permutation);
}

static O triangular(const struct at *a)
{
    const struct tdl_triangular_params p = {.lower = at_number(a, "upper", 1) == 0,
                                            .diagonal = (int32_t)at_number(a, "diagonal", 0)};
    return tdl_builder_triangular(a->b, at_operand(a, "input"), &p);
}

/* ------------------------------------------------------- matrices, recurrent */

static O gemm(const struct at *a)
{
    const bool beta = at_number(a, "beta", 1) != 0;
    const struct tdl_gemm_params p = {
        .c = beta ? at_operand(a, "c") : NULL,
        .alpha = (float)at_number(a, "alpha", 1),
        .beta = beta ? (float)at_number(a, "beta", 1) : 1,
        .a_transpose = at_number(a, "aTranspose", 0) != 0,
        .b_transpose = at_number(a, "bTranspose", 0) != 0,
    };
    return tdl_builder_gemm(a->b, at_operand(a, "a"), at_operand(a, "b"), &p);
}

static void activations(const struct at *a, enum tdl_activation *out, uint32_t count)
{
    const struct argument *names = call_argument(a->call, "activations");
    const char *name = names ? names->text : "";
    for (uint32_t i = 0; i < count && *name; i++) {
        out[i] = *name == 'r'   ? TDL_ACTIVATION_RELU
                 : *name == 's' ? TDL_ACTIVATION_SIGMOID
                                : TDL_ACTIVATION_TANH;
        name += strcspn(name, ",");
        name += *name == ',';
    }
}

static enum tdl_recurrent_direction direction(const struct at *a)
{
    return call_is(a->call, "direction", "backward") ? TDL_RECURRENT_BACKWARD
           : call_is(a->call, "direction", "both")   ? TDL_RECURRENT_BOTH
                                                     : TDL_RECURRENT_FORWARD;
}

static void gru(const struct at *a)
{
    struct tdl_gru_params p = {
        .bias = at_operand(a, "bias"),
        .recurrent_bias = at_operand(a, "recurrentBias"),
        .initial_hidden = at_operand(a, "initialHiddenState"),
        .reset_before = at_number(a, "resetAfter", 1) == 0,
        .return_sequence = at_number(a, "returnSequence", 0) != 0,
        .direction = direction(a),
        .layout = call_is(a->call, "layout", "rzn") ? TDL_GRU_RZN : TDL_GRU_ZRN,
    };
    const uint32_t hidden = at_natural(a, "hiddenSize", 0, 0);
    O out[2] = {NULL};
    activations(a, p.activations, 2);
    if (!strcmp(a->call->name, "gruCell"))
        out[0] = tdl_builder_gru_cell(a->b, at_operand(a, "input"), at_operand(a, "weight"),
                                      at_operand(a, "recurrentWeight"),
                                      at_operand(a, "hiddenState"), hidden, &p);
    else
        tdl_builder_gru(a->b, at_operand(a, "input"), at_operand(a, "weight"),
                        at_operand(a, "recurrentWeight"), at_natural(a, "steps", 0, 0), hidden, &p,
                        out);
    for (uint32_t i = 0; i < 1u + p.return_sequence; i++)
        at_result(a, i, out[i]);
}

static void lstm(const struct at *a)
{
    struct tdl_lstm_params p = {
        .bias = at_operand(a, "bias"),
        .recurrent_bias = at_operand(a, "recurrentBias"),
        .peephole = at_operand(a, "peepholeWeight"),
        .initial_hidden = at_operand(a, "initialHiddenState"),
        .initial_cell = at_operand(a, "initialCellState"),
        .return_sequence = at_number(a, "returnSequence", 0) != 0,
        .direction = direction(a),
        .layout = call_is(a->call, "layout", "ifgo") ? TDL_LSTM_IFGO : TDL_LSTM_IOFG,
    };
    const uint32_t hidden = at_natural(a, "hiddenSize", 0, 0);
    O out[3] = {NULL};
    activations(a, p.activations, 3);
    if (!strcmp(a->call->name, "lstmCell"))
        tdl_builder_lstm_cell(a->b, at_operand(a, "input"), at_operand(a, "weight"),
                              at_operand(a, "recurrentWeight"), at_operand(a, "hiddenState"),
                              at_operand(a, "cellState"), hidden, &p, out);
    else
        tdl_builder_lstm(a->b, at_operand(a, "input"), at_operand(a, "weight"),
                         at_operand(a, "recurrentWeight"), at_natural(a, "steps", 0, 0), hidden, &p,
                         out);
    for (uint32_t i = 0; i < 2u + p.return_sequence; i++)
        at_result(a, i, out[i]);
}

static void split(const struct at *a)
{
    uint32_t sizes[MOST_VALUES];
    O parts[MOST_VALUES] = {NULL};
    const uint32_t count = (uint32_t)at_length(a, "splits");
    at_naturals(a, "splits", sizes, count, 0);
    tdl_builder_split(a->b, at_operand(a, "input"), count, sizes, at_natural(a, "axis", 0, 0),
                      parts);
    for (uint32_t i = 0; i < count; i++)
        at_result(a, i, parts[i]);
}

const struct webnn_row webnn_tensors[] = {
    {"argMax", arg, NULL},
    {"argMin", arg, NULL},
    {"concat", concat, NULL},
    {"cumulativeSum", cumulative_sum, NULL},
    {"expand", expand, NULL},
    {"gather", gather, NULL},
    {"gatherElements", gather_elements, NULL},
    {"gatherND", gather_nd, NULL},
    {"gemm", gemm, NULL},
    {"gru", NULL, gru},
    {"gruCell", NULL, gru},
    {"lstm", NULL, lstm},
    {"lstmCell", NULL, lstm},
    {"pad", pad, NULL},
    {"reshape", reshape, NULL},
    {"reverse", reverse, NULL},
    {"scatterElements", scatter_elements, NULL},
    {"scatterND", scatter_nd, NULL},
    {"slice", slice, NULL},
    {"softmax", softmax, NULL},
    {"split", NULL, split},
    {"tile", tile, NULL},
    {"transpose", transpose, NULL},
    {"triangular", triangular, NULL},
    {"reduceL1", reduce, NULL},
    {"reduceL2", reduce, NULL},
    {"reduceLogSum", reduce, NULL},
    {"reduceLogSumExp", reduce, NULL},
    {"reduceMax", reduce, NULL},
    {"reduceMean", reduce, NULL},
    {"reduceMin", reduce, NULL},
    {"reduceProduct", reduce, NULL},
    {"reduceSum", reduce, NULL},
    {"reduceSumSquare", reduce, NULL},
    {NULL, NULL, NULL},
};
