/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX RNN: https://onnx.ai/onnx/operators/onnx__RNN.html */
#include "recurrent.h"

typedef struct tdl_operand *O;

static void prepare(struct tdl_builder *b, const struct tdl_recurrence *r, struct tdl_cell *cell)
{
    (void)b, (void)r, (void)cell;
}

static void step(struct tdl_builder *b, const struct tdl_recurrence *r, const struct tdl_cell *cell,
                 O x, O states[2])
{
    const struct tdl_rnn_params *p = r->params;
    const struct tdl_gemm_params gemm = {
        .c = x,
        .b_transpose = true,
        .activation = tdl_activation_or(p->activation, TDL_ACTIVATION_TANH),
    };
    states[0] = tdl_builder_gemm(b, states[0], cell->recurrent, &gemm);
}

enum tdl_result tdl_builder_rnn(struct tdl_builder *b, O input, O weight, O recurrent_weight,
                                uint32_t steps, uint32_t hidden_size,
                                const struct tdl_rnn_params *params, O *out_outputs)
{
    if (TDL_IS_UNKNOWN(params)) {
        tdl_builder_fail(b, tdl_fail_unknown(__func__), "%s", tdl_last_error());
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    const struct tdl_rnn_params none = {0}, *p = params ? params : &none;
    struct tdl_recurrence r = {
        .name = "rnn",
        .gates = 1,
        .states = 1,
        .steps = steps,
        .hidden = hidden_size,
        .direction = p->direction,
        .return_sequence = p->return_sequence,
        .one_bias = true,
        .input = input,
        .all = {weight, recurrent_weight, p->bias, p->recurrent_bias, NULL, {NULL}},
        .initial = {p->initial_hidden},
        .prepare = prepare,
        .step = step,
        .params = p,
    };
    return tdl_recurrence_run(b, &r, out_outputs);
}
