/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The gate of a squeeze-and-excite block, made by the fuse pass. */
#include "ops.h"

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_GATE_INPUT]);
    struct tdl_dims out = tdl_operand_dims(n->output);
    struct tdl_operand *second = n->inputs[TDL_GATE_INPUT2];
    const float *w1 = tdl_constant_data(n->inputs[TDL_GATE_WEIGHT1]);
    const float *b1 = tdl_constant_data(n->inputs[TDL_GATE_BIAS1]);
    const float *w2 = tdl_constant_data(n->inputs[TDL_GATE_WEIGHT2]);
    const float *b2 = tdl_constant_data(n->inputs[TDL_GATE_BIAS2]);
    bool two = n->attr.gate.layers == 2;
    uint32_t middle = two ? tdl_operand_dims(n->inputs[TDL_GATE_WEIGHT1]).n : 0;
    uint32_t packs = tdl_packs(in.c), out_packs = tdl_packs(out.c), pixels = in.h * in.w;
    uint32_t inner = two ? middle : packs * 4, real_inner = two ? middle : in.c;
    uint32_t local = TDL_MIN(plan->device->max_workgroup_invocations, 512);
    if (plan->device->type == TDL_DEVICE_CPU)
        local = 64;
    uint32_t teams = 1;
    while (teams * 2 * packs <= local && teams * 2 <= pixels)
        teams *= 2;
    uint32_t pixels2 = 0;
    if (second)
        pixels2 = tdl_operand_dims(second).h * tdl_operand_dims(second).w;

    struct tdl_plan_step *s = tdl_plan_add_step(plan, "squeeze_excite", n, local, 1, 1);
    const uint32_t values[] = {pixels,
                               pixels2,
                               packs,
                               middle,
                               out_packs,
                               n->attr.gate.activation[0],
                               n->attr.gate.activation[1],
                               teams};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[TDL_GATE_INPUT]);
    if (second)
        tdl_plan_read(s, 1, second);
    tdl_plan_write(s, 4, n->output);
    if (two) {
        float *w = tdl_plan_weights(plan, s, 2, (uint64_t)packs * 4 * middle + middle);
        for (uint32_t i = 0; w && i < in.c; i++)
            for (uint32_t o = 0; o < middle; o++)
                w[i * middle + o] = w1[o * in.c + i];
        for (uint32_t o = 0; w && b1 && o < middle; o++)
            w[packs * 4 * middle + o] = b1[o];
    }
    float *w = tdl_plan_weights(plan, s, 3, (uint64_t)(inner + 1) * out_packs * 4);
    for (uint32_t o = 0; w && o < out.c; o++) {
        for (uint32_t i = 0; i < real_inner; i++)
            w[i * out_packs * 4 + o] = w2[o * real_inner + i];
        w[inner * out_packs * 4 + o] = b2 ? b2[o] : 0;
    }
    tdl_plan_groups(s, in.n, 1, 1);
    return plan->status;
}

const struct tdl_op tdl_op_squeeze_excite = {
    .name = "squeezeExcite",
    .lower = lower,
    .weight_slots = 1u << TDL_GATE_WEIGHT1 | 1u << TDL_GATE_BIAS1 | 1u << TDL_GATE_WEIGHT2 |
                    1u << TDL_GATE_BIAS2,
};
