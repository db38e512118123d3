/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN gru and gruCell: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gru */
#include "recurrent.h"

typedef struct tdl_operand *O;

/* The gates for updates and resets lie together, in either order, and the new one last. */
static O first_two(struct tdl_builder *b, const struct tdl_recurrence *r, O x, uint32_t axis)
{
    return tdl_part_of(b, x, axis, 0, 2 * r->hidden);
}

static O last_of(struct tdl_builder *b, const struct tdl_recurrence *r, O x, uint32_t axis)
{
    return tdl_part_of(b, x, axis, 2 * r->hidden, r->hidden);
}

static void prepare(struct tdl_builder *b, const struct tdl_recurrence *r, struct tdl_cell *cell)
{
    const struct tdl_gru_params *p = r->params;
    if (!p->reset_before)
        return;
    cell->parts[0] = first_two(b, r, cell->recurrent, 0);
    cell->parts[1] = last_of(b, r, cell->recurrent, 0);
}

static O multiply(struct tdl_builder *b, O state, O weight, O c)
{
    return tdl_builder_gemm(b, state, weight,
                            &(struct tdl_gemm_params){.c = c, .b_transpose = true});
}

static void step(struct tdl_builder *b, const struct tdl_recurrence *r, const struct tdl_cell *cell,
                 O x, O states[2])
{
    const struct tdl_gru_params *p = r->params;
    const uint32_t h = r->hidden, update = p->layout == TDL_GRU_RZN ? h : 0;
    O old = states[0], both = first_two(b, r, x, 1), fresh = last_of(b, r, x, 1), given = NULL;
    if (p->reset_before) {
        both = multiply(b, old, cell->parts[0], both);
    } else {
        given = multiply(b, old, cell->recurrent, cell->recurrent_bias);
        both = tdl_builder_add(b, both, first_two(b, r, given, 1));
    }
    both = tdl_builder_activation(b, both,
                                  tdl_activation_or(p->activations[0], TDL_ACTIVATION_SIGMOID));
    O z = tdl_part_of(b, both, 1, update, h), reset = tdl_part_of(b, both, 1, h - update, h);
    if (p->reset_before)
        fresh = multiply(b, tdl_builder_mul(b, reset, old), cell->parts[1], fresh);
    else
        fresh = tdl_builder_add(b, fresh, tdl_builder_mul(b, reset, last_of(b, r, given, 1)));
    fresh =
        tdl_builder_activation(b, fresh, tdl_activation_or(p->activations[1], TDL_ACTIVATION_TANH));
    /* z · old + (1 − z) · fresh */
    states[0] = tdl_builder_add(b, fresh, tdl_builder_mul(b, z, tdl_builder_sub(b, old, fresh)));
}

static bool known(struct tdl_builder *b, const char *name, const struct tdl_gru_params *p)
{
    const struct tdl_op op = {.name = name};
    bool ok = tdl_builder_known(b, &op, "layout", p->layout, TDL_GRU_RZN);
    for (uint32_t i = 0; i < TDL_COUNT(p->activations); i++)
        ok = ok && tdl_builder_known(b, &op, "activation", p->activations[i], TDL_ACTIVATION_TANH);
    return ok;
}

static struct tdl_recurrence recurrence(const char *name, O input, O weight, O recurrent_weight,
                                        uint32_t steps, uint32_t hidden_size,
                                        const struct tdl_gru_params *p)
{
    return (struct tdl_recurrence){
        .name = name,
        .gates = 3,
        .states = 1,
        .steps = steps,
        .hidden = hidden_size,
        .one_bias = p->reset_before,
        .input = input,
        .all = {weight, recurrent_weight, p->bias, p->recurrent_bias, NULL, {NULL}},
        .prepare = prepare,
        .step = step,
        .params = p,
    };
}

enum tdl_result tdl_builder_gru(struct tdl_builder *b, O input, O weight, O recurrent_weight,
                                uint32_t steps, uint32_t hidden_size,
                                const struct tdl_gru_params *params, O *out_outputs)
{
    if (TDL_IS_UNKNOWN(params)) {
        tdl_builder_fail(b, tdl_fail_unknown(__func__), "%s", tdl_last_error());
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    const struct tdl_gru_params none = {0}, *p = params ? params : &none;
    struct tdl_recurrence r =
        recurrence("gru", input, weight, recurrent_weight, steps, hidden_size, p);
    r.direction = p->direction;
    r.return_sequence = p->return_sequence;
    r.initial[0] = p->initial_hidden;
    known(b, r.name, p);
    return tdl_recurrence_run(b, &r, out_outputs);
}

struct tdl_operand *tdl_builder_gru_cell(struct tdl_builder *b, O input, O weight,
                                         O recurrent_weight, O hidden_state, uint32_t hidden_size,
                                         const struct tdl_gru_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    const struct tdl_gru_params none = {0}, *p = params ? params : &none;
    struct tdl_recurrence r =
        recurrence("gruCell", input, weight, recurrent_weight, 0, hidden_size, p);
    O states[2] = {NULL, NULL};
    r.initial[0] = hidden_state;
    if (!hidden_state)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "gruCell: there is no state");
    if (known(b, r.name, p))
        tdl_recurrence_once(b, &r, states);
    return tdl_builder_status(b) == TDL_OK ? states[0] : NULL;
}
