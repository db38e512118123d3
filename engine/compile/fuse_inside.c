/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inside: the gate of a squeeze-and-excite block without a dispatch of its own. What
 * makes the tensor that it is the mean of writes means of its tiles, too; and every
 * workgroup of what multiplies by the gate computes all of it from these.
 */
#include "fuse.h"

#include "ops/ops.h"

/* Bound of a workgroup's reads for a gate: packs of four values. */
enum { MOST_WEIGHTS = 4096, MOST_VALUES = 4096, MOST_OF_ALL = 1 << 21 };
enum { MANY_PIXELS = 256, MOST_CHANNELS = 256 };
/* The bound for kernels of many registers, of which few workgroups run at once: each
 * waits for it. */
enum { MOST_EXPANDING = 640 };

/* In how many parts, along both sides, the mean of `o` is best taken before. */
static uint32_t parts_of(const struct tdl_operand *o)
{
    const struct tdl_dims d = tdl_operand_dims(o);
    if (!o->producer || (uint64_t)d.h * d.w <= MANY_PIXELS)
        return 0;
    for (uint32_t parts = 8; parts > 1; parts /= 2)
        if (d.h % parts == 0 && d.w % parts == 0)
            return parts;
    return 0;
}

/* Convolutions of many pixels that multiply what they read: there is one kernel for them. */
static bool works_by_pixels(const struct tdl_node *n)
{
    return n->op == &tdl_op_conv2d && n->attr.conv.pre != TDL_PRE_NONE && parts_of(n->output);
}

static bool works_by_tiles(const struct tdl_node *n)
{
    return n->op == &tdl_op_expand_depthwise || works_by_pixels(n) ||
           (n->op == &tdl_op_bottleneck && !n->attr.bottleneck.block);
}

/* The operand with the mean of `o` that its maker has at hand. */
static struct tdl_operand *means_of(struct tdl_ir *ir, struct tdl_operand *o)
{
    struct tdl_node *maker = o->producer;
    if (!maker || !works_by_tiles(maker))
        return NULL;
    if (!maker->means) {
        const struct tdl_dims d = tdl_operand_dims(o);
        const struct tdl_tensor_params desc = tdl_desc_like(o, (struct tdl_dims){d.n, 1, 1, d.c});
        maker->means = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &desc);
        if (maker->means) {
            maker->means->layout = o->layout;
            maker->means->producer = maker;
        }
    }
    return maker->means;
}

/* A gate of what a kernel makes by tiles reads their means. */
bool tdl_fuse_means(struct tdl_ir *ir, struct tdl_node *n)
{
    bool changed = false;
    if (n->op != &tdl_op_squeeze_excite)
        return false;
    for (uint32_t i = TDL_GATE_INPUT; i <= TDL_GATE_INPUT2; i++) {
        struct tdl_operand *means = n->inputs[i] ? means_of(ir, n->inputs[i]) : NULL;
        if (!means || means == n->inputs[i])
            continue;
        tdl_ir_set_input(ir, n, i, means);
        changed = true;
    }
    return changed;
}

/* Workgroups of `n`, which multiplies by the gate, about: a pixel of a pack an invocation.
 * 0: it reads the gate otherwise. */
static uint64_t groups_of(const struct tdl_node *n, const struct tdl_operand *gate)
{
    enum { GROUP = 64 };
    const struct tdl_dims d = tdl_operand_dims(n->output);
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] == gate &&
            (i != TDL_CONV_GATE || (n->op != &tdl_op_conv2d && n->op != &tdl_op_expand_depthwise &&
                                    n->op != &tdl_op_bottleneck)))
            return 0;
    if (n->op == &tdl_op_expand_depthwise || n->op == &tdl_op_bottleneck) {
        const uint64_t groups =
            n->op == &tdl_op_bottleneck ? tdl_bottleneck_groups(n) : tdl_expand_depthwise_groups(n);
        return groups <= MOST_EXPANDING ? groups : 0;
    }
    return TDL_DIV_UP((uint64_t)d.h * d.w, GROUP) * tdl_packs(d.c) * d.n;
}

static bool reads(const struct tdl_node *n, const struct tdl_operand *o)
{
    bool found = false;
    for (uint32_t i = 0; i < n->input_count && !n->dead; i++)
        found |= n->inputs[i] == o;
    return found;
}

/* The sum over all readers; 0 if one of them reads it otherwise. */
static uint64_t groups_reading(const struct tdl_ir *ir, const struct tdl_operand *gate)
{
    const struct tdl_use *state = NULL;
    const struct tdl_node *n;
    uint64_t sum = 0;
    for (uint32_t i = 0; (n = ir->indexed          ? tdl_ir_next_reader(gate, &state)
                              : i < ir->node_count ? ir->nodes[i]
                                                   : NULL);
         i++) {
        if (!reads(n, gate))
            continue;
        const uint64_t groups = groups_of(n, gate);
        if (!groups)
            return 0;
        sum += groups;
    }
    return sum;
}

/* Does a kernel make it by tiles? */
static bool has_tiles(const struct tdl_operand *o)
{
    return o->producer && works_by_tiles(o->producer) &&
           (o->producer->output == o || o->producer->means == o);
}

/* Packs that a workgroup reads for the mean of one input. */
static uint64_t values_of(const struct tdl_operand *o)
{
    enum { TILES = 16 }; /* of most tensors; lower() has their number */
    const struct tdl_dims d = tdl_operand_dims(o);
    const uint32_t parts = parts_of(o);
    uint64_t values = parts ? parts * parts : (uint64_t)d.h * d.w;
    if (has_tiles(o))
        values =
            works_by_pixels(o->producer) ? TDL_DIV_UP((uint64_t)d.h * d.w, TDL_GATE_PIXELS) : TILES;
    return values * tdl_packs(d.c);
}

/* The 1×1 that makes `o` of what a kernel makes by tiles, if that is all it does: the mean
 * of `o` is then that of the tiles, mixed so. */
static struct tdl_node *mixer_of(const struct tdl_operand *o)
{
    struct tdl_node *n = o ? o->producer : NULL;
    if (!n || !tdl_fuse_is_pointwise(n) || n->chain.count || n->attr.conv.pre != TDL_PRE_NONE ||
        n->attr.conv.p.activation != TDL_ACTIVATION_NONE ||
        (n->input_count > TDL_CONV_RESIDUAL && n->inputs[TDL_CONV_RESIDUAL]))
        return NULL;
    return has_tiles(n->inputs[TDL_CONV_INPUT]) ? n : NULL;
}

/* The parts of the gate. */
struct sources {
    struct tdl_operand *input, *input2;
    const struct tdl_node *mixer; /* before `input`, or NULL */
};

static struct sources find_sources(const struct tdl_node *n)
{
    struct tdl_operand *a = n->inputs[TDL_GATE_INPUT], *b = n->inputs[TDL_GATE_INPUT2];
    const struct tdl_node *mixer = mixer_of(a);
    if (!mixer && (mixer = mixer_of(b)))
        b = a;
    return (struct sources){mixer ? mixer->inputs[TDL_CONV_INPUT] : a, b, mixer};
}

static bool is_worth(const struct tdl_node *n, const struct sources *s, uint64_t groups)
{
    const uint32_t out = tdl_packs(tdl_operand_dims(n->output).c);
    uint64_t read = tdl_packs(tdl_operand_dims(s->input).c), weights = 0;
    uint64_t values = values_of(s->input);
    if (s->input2) {
        read += tdl_packs(tdl_operand_dims(s->input2).c);
        values += values_of(s->input2);
    }
    const uint64_t widest = TDL_MAX(read, out);
    if (n->attr.gate.layers == 2) {
        const uint32_t middle = tdl_packs(tdl_operand_dims(n->inputs[TDL_GATE_WEIGHT1]).n);
        weights = read * 4 * middle;
        read = middle;
    }
    weights += read * 4 * out;
    return TDL_MAX(widest, read) * 4 <= MOST_CHANNELS && weights <= MOST_WEIGHTS &&
           values <= MOST_VALUES && (weights + values) * groups <= MOST_OF_ALL;
}

/* Let the first layer read what the mixer reads. */
static bool take_in_mixer(struct tdl_ir *ir, struct tdl_node *n, const struct sources *s)
{
    const bool two = n->attr.gate.layers == 2;
    const uint32_t weight = two ? TDL_GATE_WEIGHT1 : TDL_GATE_WEIGHT2;
    const uint32_t bias = two ? TDL_GATE_BIAS1 : TDL_GATE_BIAS2;
    struct tdl_operand *w = n->inputs[weight], *b = n->inputs[bias];
    if (!tdl_fuse_compose_filters(ir, &w, &b, s->mixer,
                                  s->input2 ? tdl_operand_dims(s->mixer->output).c : 0, false))
        return false;
    tdl_ir_set_input(ir, n, weight, w);
    tdl_ir_set_input(ir, n, bias, b);
    tdl_ir_set_input(ir, n, TDL_GATE_INPUT, s->input);
    tdl_ir_set_input(ir, n, TDL_GATE_INPUT2, s->input2);
    n->attr.gate.joined = s->input2 != NULL;
    return true;
}

bool tdl_fuse_inside(struct tdl_ir *ir, struct tdl_node *n)
{
    if (n->op != &tdl_op_squeeze_excite || n->attr.gate.inside || n->chain.count ||
        n->output->is_output)
        return false;
    const uint64_t groups = groups_reading(ir, n->output);
    const struct sources s = find_sources(n);
    if (!groups || !is_worth(n, &s, groups) || (s.mixer && !take_in_mixer(ir, n, &s)))
        return false;
    for (uint32_t i = TDL_GATE_INPUT; i <= TDL_GATE_INPUT2; i++) {
        struct tdl_operand *o = n->inputs[i];
        if (o && has_tiles(o))
            o = means_of(ir, o);
        else if (o && parts_of(o))
            o = tdl_fuse_part_means(ir, o, parts_of(o), true);
        tdl_ir_set_input(ir, n, i, o);
    }
    n->attr.gate.inside = true;
    return true;
}
