/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The gate of a squeeze-and-excite block, made by the fuse pass. */
#include "ops.h"

#include <string.h>

/* How a workgroup shares the work. */
struct split {
    uint32_t local; /* invocations */
    uint32_t teams; /* of them for each input pack, 2ⁿ */
};

static struct split split_of(uint32_t local, uint32_t packs, uint32_t pixels)
{
    struct split split = {local, 1};
    while ((uint64_t)split.teams * 2 * packs <= local && split.teams * 2 <= pixels)
        split.teams *= 2;
    return split;
}

/* Shared memory that shaders/squeeze_excite.comp declares. */
static uint64_t shared_bytes(struct split split, uint32_t packs, uint32_t middle,
                             uint32_t out_packs)
{
    uint64_t middle1 = TDL_MAX(middle, 1), inner = middle ? middle : (uint64_t)packs * 4;
    uint64_t teams1 = TDL_MAX(split.local / middle1, 1);
    uint64_t teams2 = TDL_MAX(split.local / out_packs, 1);
    return 16 * ((uint64_t)packs * split.teams + out_packs * teams2) +
           4 * ((uint64_t)packs * 4 + middle1 * teams1 + inner);
}

enum { LEAST_LOCAL = 32 };

static struct split choose_split(const struct tdl_device_info *device, uint32_t packs,
                                 uint32_t middle, uint32_t out_packs, uint32_t pixels)
{
    uint32_t most =
        TDL_MIN(device->max_workgroup_invocations, tdl_heuristics_of(device)->lone_group);
    struct split split = split_of(most, packs, pixels);
    while (split.local > LEAST_LOCAL &&
           shared_bytes(split, packs, middle, out_packs) > device->max_shared_memory)
        split = split_of(split.local / 2, packs, pixels);
    return split;
}

bool tdl_squeeze_excite_fits(uint32_t in, uint32_t middle, uint32_t out)
{
    return shared_bytes((struct split){LEAST_LOCAL, 1}, tdl_packs(in), middle, tdl_packs(out)) <=
           TDL_LEAST_SHARED_MEMORY;
}

/* Outputs of the first of two layers; 0 where there is just one. */
static uint32_t middle_of(const struct tdl_node *n)
{
    return n->attr.gate.layers == 2 ? tdl_operand_dims(n->inputs[TDL_GATE_WEIGHT1]).n : 0;
}

/* Weights of each layer: [in][out], then the bias. */
static void bind_weights(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n)
{
    const float *w1 = tdl_constant_data(n->inputs[TDL_GATE_WEIGHT1]);
    const float *b1 = tdl_constant_data(n->inputs[TDL_GATE_BIAS1]);
    const float *w2 = tdl_constant_data(n->inputs[TDL_GATE_WEIGHT2]);
    const float *b2 = tdl_constant_data(n->inputs[TDL_GATE_BIAS2]);
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_GATE_INPUT]);
    struct tdl_dims out = tdl_operand_dims(n->output);
    uint32_t packs = tdl_packs(in.c), out_packs = tdl_packs(out.c), middle = middle_of(n);
    uint32_t inner = middle ? middle : packs * 4, real_inner = middle ? middle : in.c;
    if (middle) {
        const struct tdl_weights_key key = {
            TDL_WEIGHTS_LAYOUT(bind_weights),
            {n->inputs[TDL_GATE_WEIGHT1], n->inputs[TDL_GATE_BIAS1]},
            {1, in.c, middle}};
        float *w = tdl_plan_weights(plan, s, 2, (uint64_t)packs * 4 * middle + middle, &key);
        for (uint32_t i = 0; w && i < in.c; i++)
            for (uint32_t o = 0; o < middle; o++)
                w[i * middle + o] = w1[o * in.c + i];
        for (uint32_t o = 0; w && b1 && o < middle; o++)
            w[packs * 4 * middle + o] = b1[o];
    }
    const struct tdl_weights_key key = {TDL_WEIGHTS_LAYOUT(bind_weights),
                                        {n->inputs[TDL_GATE_WEIGHT2], n->inputs[TDL_GATE_BIAS2]},
                                        {2, real_inner, inner, out.c}};
    float *w = tdl_plan_weights(plan, s, 3, (uint64_t)(inner + 1) * out_packs * 4, &key);
    for (uint32_t o = 0; w && o < out.c; o++) {
        for (uint32_t i = 0; i < real_inner; i++)
            w[i * out_packs * 4 + o] = w2[o * real_inner + i];
        w[inner * out_packs * 4 + o] = b2 ? b2[o] : 0;
    }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_GATE_INPUT]);
    struct tdl_dims out = tdl_operand_dims(n->output);
    struct tdl_operand *second = n->inputs[TDL_GATE_INPUT2];
    uint32_t packs = tdl_packs(in.c), out_packs = tdl_packs(out.c), pixels = in.h * in.w;
    uint32_t middle = middle_of(n);
    struct split split = choose_split(plan->device, packs, middle, out_packs, pixels);
    if (n->attr.gate.inside)
        return TDL_OK;
    uint32_t pixels2 = 0;
    if (second)
        pixels2 = tdl_operand_dims(second).h * tdl_operand_dims(second).w;

    struct tdl_plan_step *s = tdl_plan_add_step(plan, "squeeze_excite", n, split.local, 1, 1);
    const struct tdl_squeeze_excite_spec spec =
        tdl_squeeze_excite_spec(.pixels = pixels, .pixels2 = pixels2, .in_packs = packs,
                                .middle = middle, .out_packs = out_packs,
                                .activation1 = n->attr.gate.activation[0],
                                .activation2 = n->attr.gate.activation[1], .teams = split.teams,
                                .last_channels = tdl_last_channels(out.c));
    TDL_PLAN_SPECS(s, squeeze_excite, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_GATE_INPUT]);
    if (second)
        tdl_plan_read(s, 1, second);
    tdl_plan_write(s, 4, n->output);
    tdl_plan_shared(s, shared_bytes(split, packs, middle, out_packs));
    bind_weights(plan, s, n);
    tdl_plan_groups(s, in.n, 1, 1);
    return plan->status;
}

/* ------------------------------------------------ within the kernel that reads it */

static struct tdl_node *maker_inside(const struct tdl_operand *gate)
{
    struct tdl_node *n = gate ? gate->producer : NULL;
    return n && n->op == &tdl_op_squeeze_excite && n->attr.gate.inside ? n : NULL;
}

static uint32_t pixels_of(const struct tdl_operand *o)
{
    return tdl_operand_dims(o).h * tdl_operand_dims(o).w;
}

struct tdl_gate_part tdl_gate_inside(const struct tdl_operand *gate)
{
    const struct tdl_node *n = maker_inside(gate);
    const struct tdl_operand *second = n ? n->inputs[TDL_GATE_INPUT2] : NULL;
    struct tdl_gate_part spec = tdl_gate_part(.gate_packs = 0, .gate_parts = 1, .gate_packs2 = 0,
                                              .gate_parts2 = 1, .gate_middle = 0, .gate_out = 1,
                                              .gate_activation1 = 0, .gate_activation2 = 0);
    if (gate)
        spec.gate_out = tdl_packs(tdl_operand_dims(gate).c);
    if (!n)
        return spec;
    spec.gate_packs = tdl_packs(tdl_operand_dims(n->inputs[TDL_GATE_INPUT]).c);
    spec.gate_parts = pixels_of(n->inputs[TDL_GATE_INPUT]);
    if (second) {
        spec.gate_packs2 = tdl_packs(tdl_operand_dims(second).c);
        spec.gate_parts2 = pixels_of(second);
    }
    spec.gate_middle = tdl_packs(middle_of(n));
    spec.gate_activation1 = n->attr.gate.activation[0];
    spec.gate_activation2 = n->attr.gate.activation[1];
    return spec;
}

uint64_t tdl_gate_shared(const struct tdl_gate_part *s, uint32_t local)
{
    const uint32_t read = s->gate_packs + s->gate_packs2, middle = TDL_MAX(s->gate_middle, 1);
    if (!s->gate_packs)
        return 16 * 4;
    return 16 * ((uint64_t)TDL_MAX(TDL_MAX(local, s->gate_out), TDL_MAX(read, middle)) + read +
                 middle + s->gate_out);
}

/* `count` columns of a fully connected layer, from `first` on, as [channel read][output],
 * both filled up to packs. */
static float *pack_columns(float *w, const struct tdl_operand *weight, uint32_t first,
                           uint32_t count)
{
    const float *values = tdl_constant_data(weight);
    const struct tdl_dims d = tdl_operand_dims(weight);
    for (uint32_t i = 0; i < tdl_packs(count) * 4; i++, w += tdl_packs(d.n) * 4)
        for (uint32_t o = 0; o < d.n && i < count; o++)
            w[o] = values[(size_t)o * d.c + first + i];
    return w;
}

static float *pack_bias(float *w, const struct tdl_operand *bias, uint32_t count)
{
    if (bias)
        memcpy(w, tdl_constant_data(bias), count * sizeof(*w));
    return w + tdl_packs(count) * 4;
}

/* The node is not the one that is made ready: see tdl_node_expand(). */
static void pack_layers(struct tdl_node *n, float *w)
{
    const uint32_t first = n->attr.gate.layers == 2 ? TDL_GATE_WEIGHT1 : TDL_GATE_WEIGHT2;
    const uint32_t in = tdl_operand_dims(n->inputs[TDL_GATE_INPUT]).c;
    const struct tdl_operand *in2 = n->inputs[TDL_GATE_INPUT2];
    const bool ok = tdl_node_expand(n) == TDL_OK;
    if (ok)
        w = pack_columns(w, n->inputs[first], 0, in);
    if (ok && in2)
        w = pack_columns(w, n->inputs[first], n->attr.gate.joined ? in : 0,
                         tdl_operand_dims(in2).c);
    if (ok && first == TDL_GATE_WEIGHT1) {
        const uint32_t middle = middle_of(n);
        w = pack_bias(w, n->inputs[TDL_GATE_BIAS1], middle);
        w = pack_columns(w, n->inputs[TDL_GATE_WEIGHT2], 0, middle);
    }
    if (ok)
        pack_bias(w, n->inputs[TDL_GATE_BIAS2], tdl_operand_dims(n->output).c);
    for (uint32_t i = TDL_GATE_WEIGHT1; i <= TDL_GATE_BIAS2; i++)
        if (n->inputs[i])
            tdl_operand_shrink(n->inputs[i]);
}

void tdl_gate_bind(struct tdl_plan_step *s, struct tdl_operand *gate)
{
    const struct tdl_node *n = maker_inside(gate);
    tdl_plan_read(s, 2, n ? n->inputs[TDL_GATE_INPUT] : gate);
    if (n && n->inputs[TDL_GATE_INPUT2])
        tdl_plan_read(s, 7, n->inputs[TDL_GATE_INPUT2]);
}

float *tdl_gate_plan_weights(struct tdl_plan *plan, struct tdl_plan_step *s,
                             const struct tdl_operand *gate, uint64_t count,
                             const struct tdl_weights_key *key)
{
    struct tdl_node *n = maker_inside(gate);
    if (!n)
        return tdl_plan_weights(plan, s, 1, count, key);
    const struct tdl_gate_part spec = tdl_gate_inside(gate);
    const uint64_t read = spec.gate_packs + spec.gate_packs2;
    const uint64_t inner = spec.gate_middle ? spec.gate_middle : read;
    const uint64_t own = 4 * ((read * 4 + 1) * spec.gate_middle + (inner * 4 + 1) * spec.gate_out);
    struct tdl_weights_key both = *key;
    both.gate = n;
    float *w = tdl_plan_weights(plan, s, 1, own + count, &both);
    if (!w)
        return NULL;
    pack_layers(n, w);
    return w + own;
}

const struct tdl_op tdl_op_squeeze_excite = {
    .name = "squeezeExcite",
    .lower = lower,
    .weight_slots = 1u << TDL_GATE_WEIGHT1 | 1u << TDL_GATE_BIAS1 | 1u << TDL_GATE_WEIGHT2 |
                    1u << TDL_GATE_BIAS2,
};
