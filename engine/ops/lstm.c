/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN lstm and lstmCell: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-lstm; what the
 * peephole sees as in ONNX LSTM. */
#include "recurrent.h"

typedef struct tdl_operand *O;

enum { INPUT, OUTPUT, FORGET, CELL, GATES };

static void prepare(struct tdl_builder *b, const struct tdl_recurrence *r, struct tdl_cell *cell)
{
    for (uint32_t i = 0; i < 3; i++) /* input, output, forget */
        cell->parts[i] = tdl_part_of(b, cell->peephole, 0, i * r->hidden, r->hidden);
}

/* The activation of a gate, to which the peephole lets a state through. */
static O gate_of(struct tdl_builder *b, const struct tdl_recurrence *r, const struct tdl_cell *cell,
                 O gates, uint32_t gate, O seen)
{
    static const uint8_t places[][GATES] = {
        [TDL_LSTM_IOFG] = {0, 1, 2, 3}, [TDL_LSTM_IFGO] = {0, 3, 1, 2}};
    const struct tdl_lstm_params *p = r->params;
    O x = tdl_part_of(b, gates, 1, places[p->layout][gate] * r->hidden, r->hidden);
    if (seen && cell->peephole)
        x = tdl_builder_add(b, x, tdl_builder_mul(b, seen, cell->parts[gate]));
    return tdl_builder_activation(
        b, x,
        gate == CELL ? tdl_activation_or(p->activations[1], TDL_ACTIVATION_TANH)
                     : tdl_activation_or(p->activations[0], TDL_ACTIVATION_SIGMOID));
}

static void step(struct tdl_builder *b, const struct tdl_recurrence *r, const struct tdl_cell *cell,
                 O x, O states[2])
{
    const struct tdl_lstm_params *p = r->params;
    const enum tdl_activation last = tdl_activation_or(p->activations[2], TDL_ACTIVATION_TANH);
    O gates = tdl_builder_gemm(b, states[0], cell->recurrent,
                               &(struct tdl_gemm_params){.c = x, .b_transpose = true});
    O old = states[1], in = gate_of(b, r, cell, gates, INPUT, old);
    O forget = gate_of(b, r, cell, gates, FORGET, old), c = gate_of(b, r, cell, gates, CELL, NULL);
    states[1] = tdl_builder_add(b, tdl_builder_mul(b, forget, old), tdl_builder_mul(b, in, c));
    states[0] = tdl_builder_mul(b, gate_of(b, r, cell, gates, OUTPUT, states[1]),
                                tdl_builder_activation(b, states[1], last));
}

static bool known(struct tdl_builder *b, const char *name, const struct tdl_lstm_params *p)
{
    const struct tdl_op op = {.name = name};
    bool ok = tdl_builder_known(b, &op, "layout", p->layout, TDL_LSTM_IFGO);
    for (uint32_t i = 0; i < TDL_COUNT(p->activations); i++)
        ok = ok && tdl_builder_known(b, &op, "activation", p->activations[i], TDL_ACTIVATION_TANH);
    return ok;
}

static struct tdl_recurrence recurrence(const char *name, O input, O weight, O recurrent_weight,
                                        uint32_t steps, uint32_t hidden_size,
                                        const struct tdl_lstm_params *p)
{
    return (struct tdl_recurrence){
        .name = name,
        .gates = GATES,
        .states = 2,
        .steps = steps,
        .hidden = hidden_size,
        .one_bias = true,
        .input = input,
        .all = {weight, recurrent_weight, p->bias, p->recurrent_bias, p->peephole, {NULL}},
        .prepare = prepare,
        .step = step,
        .params = p,
    };
}

enum tdl_result tdl_builder_lstm(struct tdl_builder *b, O input, O weight, O recurrent_weight,
                                 uint32_t steps, uint32_t hidden_size,
                                 const struct tdl_lstm_params *params, O *out_outputs)
{
    if (TDL_IS_UNKNOWN(params)) {
        tdl_builder_fail(b, tdl_fail_unknown(__func__), "%s", tdl_last_error());
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    const struct tdl_lstm_params none = {0}, *p = params ? params : &none;
    struct tdl_recurrence r =
        recurrence("lstm", input, weight, recurrent_weight, steps, hidden_size, p);
    r.direction = p->direction;
    r.return_sequence = p->return_sequence;
    r.initial[0] = p->initial_hidden;
    r.initial[1] = p->initial_cell;
    known(b, r.name, p);
    return tdl_recurrence_run(b, &r, out_outputs);
}

enum tdl_result tdl_builder_lstm_cell(struct tdl_builder *b, O input, O weight, O recurrent_weight,
                                      O hidden_state, O cell_state, uint32_t hidden_size,
                                      const struct tdl_lstm_params *params, O *out_states)
{
    if (TDL_IS_UNKNOWN(params)) {
        tdl_builder_fail(b, tdl_fail_unknown(__func__), "%s", tdl_last_error());
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    const struct tdl_lstm_params none = {0}, *p = params ? params : &none;
    struct tdl_recurrence r =
        recurrence("lstmCell", input, weight, recurrent_weight, 0, hidden_size, p);
    O states[2] = {NULL, NULL};
    r.initial[0] = hidden_state;
    r.initial[1] = cell_state;
    if (!hidden_state || !cell_state || !out_states)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "lstmCell: there are no states");
    else if (known(b, r.name, p))
        tdl_recurrence_once(b, &r, states);
    for (uint32_t i = 0; i < 2 && out_states; i++)
        out_states[i] = tdl_builder_status(b) == TDL_OK ? states[i] : NULL;
    return tdl_builder_status(b);
}
