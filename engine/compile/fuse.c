/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuse: operators that can share one dispatch become one node. Every rewrite
 * is exact in real arithmetic; what each one relies on stands above it. A row
 * of the table looks at one node and returns true if it changed the graph; the
 * rows run in order, each until nothing changes.
 */
#include "fuse.h"
#include "passes.h"

#include "ops/matmul.h"
#include "ops/ops.h"

#include <stdio.h>
#include <string.h>

static bool is(const struct tdl_operand *o, const struct tdl_op *op)
{
    return o && o->producer && o->producer->op == op;
}

static bool same_dims(const struct tdl_operand *a, const struct tdl_operand *b)
{
    struct tdl_dims x = tdl_operand_dims(a), y = tdl_operand_dims(b);
    return a->desc.rank == 4 && b->desc.rank == 4 && x.n == y.n && x.h == y.h && x.w == y.w &&
           x.c == y.c;
}

/* One value a channel, for each image of `x`. */
static bool is_gate_of(const struct tdl_operand *o, const struct tdl_operand *x)
{
    struct tdl_dims d = tdl_operand_dims(o), e = tdl_operand_dims(x);
    return o->desc.rank == 4 && d.n == e.n && d.h == 1 && d.w == 1 && d.c == e.c;
}

static struct tdl_operand *slot(const struct tdl_node *n, uint32_t i)
{
    return i < n->input_count ? n->inputs[i] : NULL;
}

/* conv1×1(resample(x)) = resample(conv1×1(x)): both are linear, one mixes
 * channels and the other pixels, and the resampling weights of a pixel sum to
 * 1, so the bias passes through. The convolution then works on fewer pixels. */
static bool commute_resample(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *resampled = slot(n, TDL_CONV_INPUT);
    if (!tdl_fuse_is_pointwise(n) || n->attr.conv.pre != TDL_PRE_NONE ||
        slot(n, TDL_CONV_RESIDUAL) || n->attr.conv.p.activation != TDL_ACTIVATION_NONE ||
        !is(resampled, &tdl_op_resample2d) || tdl_ir_only_user(ir, resampled) != n)
        return false;
    struct tdl_node *resample = resampled->producer;
    struct tdl_operand *x = resample->inputs[0];
    struct tdl_dims small = tdl_operand_dims(x), out = tdl_operand_dims(n->output);
    if ((uint64_t)small.h * small.w >= (uint64_t)out.h * out.w)
        return false;
    struct tdl_tensor_params desc =
        tdl_desc_like(x, (struct tdl_dims){small.n, small.h, small.w, out.c});
    struct tdl_operand *middle = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &desc);
    if (!middle)
        return false;
    struct tdl_operand *result = n->output;
    middle->layout = x->layout;
    tdl_ir_set_input(ir, n, TDL_CONV_INPUT, x);
    tdl_node_resolve(n);
    n->output = middle;
    middle->producer = n;
    tdl_ir_set_input(ir, resample, 0, middle);
    resample->output = result;
    result->producer = resample;
    return true;
}

/* If `o` is a 2× half-pixel resampling of a tensor, that tensor: its mean is
 * the mean of the larger one, since every input pixel's weights over all
 * output pixels sum to 4 (borders included, by clamping). */
static struct tdl_operand *same_mean(struct tdl_operand *o)
{
    if (!is(o, &tdl_op_resample2d))
        return o;
    struct tdl_operand *low = o->producer->inputs[0];
    struct tdl_dims d = tdl_operand_dims(o), l = tdl_operand_dims(low);
    return tdl_resample2d_is_linear(o->producer) &&
                   o->producer->attr.resample.coordinates == TDL_RESAMPLE_HALF_PIXEL &&
                   d.h == 2 * l.h && d.w == 2 * l.w
               ? low
               : o;
}

static bool is_global_pool(const struct tdl_node *n)
{
    return n->op == &tdl_op_average_pool2d && n->attr.pool.activation == TDL_ACTIVATION_NONE &&
           tdl_pool2d_is_global(n);
}

struct tdl_operand *tdl_fuse_part_means(struct tdl_ir *ir, struct tdl_operand *o, uint32_t parts,
                                        bool late)
{
    struct tdl_dims d = tdl_operand_dims(o);
    if (!o->producer || d.h % parts || d.w % parts)
        return o;
    struct tdl_tensor_params desc = tdl_desc_like(o, (struct tdl_dims){d.n, parts, parts, d.c});
    struct tdl_operand *small = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &desc);
    struct tdl_node *pool = !small ? NULL
                            : late ? tdl_ir_add_node(ir, &tdl_op_average_pool2d)
                                   : tdl_ir_insert_after(ir, o->producer, &tdl_op_average_pool2d);
    if (!pool)
        return o;
    small->layout = o->layout;
    const uint32_t size[2] = {d.h / parts, d.w / parts};
    memcpy(pool->attr.pool.window, size, sizeof(size));
    memcpy(pool->attr.pool.stride, size, sizeof(size));
    pool->input_count = 1;
    tdl_ir_set_input(ir, pool, 0, o);
    tdl_node_resolve(pool);
    pool->output = small;
    small->producer = pool;
    snprintf(pool->label, sizeof(pool->label), "part means of %.60s", o->producer->label);
    return small;
}

/* The gate works in one workgroup; means of parts use the whole device, and can start as
 * soon as `o` is there. */
static struct tdl_operand *shrink_for_mean(struct tdl_ir *ir, struct tdl_operand *o)
{
    enum { PARTS = 8, LARGE = 8192 };
    struct tdl_dims d = tdl_operand_dims(o);
    return (uint64_t)d.h * d.w < LARGE ? o : tdl_fuse_part_means(ir, o, PARTS, false);
}

/* Weights that one workgroup reads sooner than the device begins two more dispatches. */
#define MOST_GATE_WEIGHTS 32768

static uint64_t gate_weights(const struct tdl_node *pool, const struct tdl_node *first,
                             const struct tdl_node *second)
{
    const uint64_t in = tdl_operand_dims(pool->output).c, out = tdl_operand_dims(first->output).c;
    return out * (in + (second ? tdl_operand_dims(second->output).c : 0));
}

/* pool → fully connected (→ fully connected): one squeeze-and-excite gate.
 * A pooled sum of two tensors that nobody else reads is the sum of two means. */
static bool fuse_gate(struct tdl_ir *ir, struct tdl_node *pool)
{
    if (!is_global_pool(pool))
        return false;
    struct tdl_node *first = tdl_ir_only_user(ir, pool->output);
    if (!first || !tdl_fuse_is_pointwise(first) || first->attr.conv.pre != TDL_PRE_NONE ||
        slot(first, TDL_CONV_RESIDUAL))
        return false;
    struct tdl_node *second = tdl_ir_only_user(ir, first->output);
    if (second &&
        (!tdl_fuse_is_pointwise(second) || second->attr.conv.pre != TDL_PRE_NONE ||
         slot(second, TDL_CONV_RESIDUAL) || second->inputs[TDL_CONV_INPUT] != first->output))
        second = NULL;
    struct tdl_node *last = second ? second : first;
    if (second && first->chain.count) /* a kernel has one chain, at its end */
        return false;
    if (gate_weights(pool, first, second) > MOST_GATE_WEIGHTS)
        return false;
    if (!tdl_squeeze_excite_fits(tdl_operand_dims(pool->output).c,
                                 second ? tdl_operand_dims(first->output).c : 0,
                                 tdl_operand_dims(last->output).c))
        return false;
    struct tdl_operand *a = pool->inputs[0], *b = NULL;
    if (is(a, &tdl_op_add) && !a->producer->chain.count && tdl_ir_only_user(ir, a) == pool) {
        struct tdl_node *add = a->producer;
        if (same_dims(add->inputs[0], add->inputs[1])) {
            a = same_mean(add->inputs[0]);
            b = same_mean(add->inputs[1]);
        }
    }
    struct tdl_node *gate = tdl_ir_add_node(ir, &tdl_op_squeeze_excite);
    if (!gate)
        return false;
    gate->input_count = TDL_GATE_BIAS2 + 1;
    tdl_ir_set_input(ir, gate, TDL_GATE_INPUT, shrink_for_mean(ir, a));
    tdl_ir_set_input(ir, gate, TDL_GATE_INPUT2, b ? shrink_for_mean(ir, b) : NULL);
    if (second) {
        tdl_ir_set_input(ir, gate, TDL_GATE_WEIGHT1, first->inputs[TDL_CONV_FILTER]);
        tdl_ir_set_input(ir, gate, TDL_GATE_BIAS1, first->inputs[TDL_CONV_BIAS]);
        gate->attr.gate.activation[0] = first->attr.conv.p.activation;
    }
    tdl_ir_set_input(ir, gate, TDL_GATE_WEIGHT2, last->inputs[TDL_CONV_FILTER]);
    tdl_ir_set_input(ir, gate, TDL_GATE_BIAS2, last->inputs[TDL_CONV_BIAS]);
    gate->attr.gate.activation[1] = last->attr.conv.p.activation;
    gate->chain = last->chain;
    gate->attr.gate.layers = second ? 2 : 1;
    snprintf(gate->label, sizeof(gate->label), "%s", pool->label);
    if (second)
        tdl_fuse_append_label(gate, first);
    tdl_fuse_take_output(gate, last);
    pool->dead = true;
    first->dead = true;
    return true;
}

/* If `o` is x · gate, which `reader` alone reads: x, else NULL. */
static struct tdl_operand *find_gated(struct tdl_ir *ir, struct tdl_operand *o,
                                      const struct tdl_node *reader, struct tdl_operand **out_gate)
{
    if (!is(o, &tdl_op_mul) || o->producer->chain.count || tdl_ir_only_user(ir, o) != reader)
        return NULL;
    for (int i = 0; i < 2; i++) {
        struct tdl_operand *x = o->producer->inputs[i], *gate = o->producer->inputs[1 - i];
        if (same_dims(x, o) && is_gate_of(gate, x)) {
            *out_gate = gate;
            return x;
        }
    }
    return NULL;
}

/* Let the convolution multiply its input by a gate, and not `mul` before it. */
static void take_gate(struct tdl_ir *ir, struct tdl_node *conv, struct tdl_node *mul,
                      struct tdl_operand *x, struct tdl_operand *gate, enum tdl_conv_pre pre)
{
    conv->input_count =
        TDL_MAX(conv->input_count, (pre == TDL_PRE_MERGE ? TDL_CONV_LOW : TDL_CONV_GATE) + 1u);
    tdl_ir_set_input(ir, conv, TDL_CONV_INPUT, x);
    tdl_ir_set_input(ir, conv, TDL_CONV_GATE, gate);
    conv->attr.conv.pre = pre;
    mul->dead = true;
}

/* conv1×1(a · gate + resample(low)): the merge of a decoder, computed while
 * the convolution reads its input. */
static bool fuse_merge(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *sum = slot(n, TDL_CONV_INPUT);
    if (!tdl_fuse_is_pointwise(n) || n->attr.conv.pre != TDL_PRE_NONE || !is(sum, &tdl_op_add) ||
        sum->producer->chain.count || tdl_ir_only_user(ir, sum) != n)
        return false;
    struct tdl_node *add = sum->producer;
    for (int i = 0; i < 2; i++) {
        struct tdl_operand *product = add->inputs[i], *up = add->inputs[1 - i], *gate;
        struct tdl_operand *x = find_gated(ir, product, add, &gate);
        if (!x || !is(up, &tdl_op_resample2d) || !tdl_resample2d_is_linear(up->producer) ||
            !same_dims(product, up))
            continue;
        tdl_fuse_append_label(n, add);
        tdl_fuse_append_label(n, product->producer);
        take_gate(ir, n, product->producer, x, gate, TDL_PRE_MERGE);
        tdl_ir_set_input(ir, n, TDL_CONV_LOW, up->producer->inputs[0]);
        n->attr.conv.coordinates = up->producer->attr.resample.coordinates;
        add->dead = true;
        return true;
    }
    return false;
}

/* conv1×1(x · gate). */
static bool fuse_gated_input(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *product = slot(n, TDL_CONV_INPUT), *gate, *x;
    if (!tdl_fuse_is_pointwise(n) || n->attr.conv.pre != TDL_PRE_NONE ||
        !(x = find_gated(ir, product, n, &gate)))
        return false;
    tdl_fuse_append_label(n, product->producer);
    take_gate(ir, n, product->producer, x, gate, TDL_PRE_GATE);
    return true;
}

/* activate(conv(x)) + y. The add alone reads the convolution, so `y` cannot
 * depend on it. */
static bool fuse_residual(struct tdl_ir *ir, struct tdl_node *add)
{
    if (add->op != &tdl_op_add || add->chain.count || !same_dims(add->inputs[0], add->inputs[1]) ||
        add->inputs[0] == add->inputs[1])
        return false;
    for (int i = 0; i < 2; i++) {
        struct tdl_operand *o = add->inputs[i];
        if (!is(o, &tdl_op_conv2d) || tdl_ir_only_user(ir, o) != add ||
            slot(o->producer, TDL_CONV_RESIDUAL))
            continue;
        struct tdl_node *conv = o->producer;
        conv->input_count = TDL_MAX(conv->input_count, TDL_CONV_RESIDUAL + 1);
        tdl_ir_set_input(ir, conv, TDL_CONV_RESIDUAL, add->inputs[1 - i]);
        tdl_fuse_take_output(conv, add);
        return true;
    }
    return false;
}

static bool is_matmul(const struct tdl_operand *o)
{
    return is(o, &tdl_op_gemm) || is(o, &tdl_op_matmul);
}

/* matmul(a, b) + c, where c broadcasts as gemm's does. The add alone reads the
 * product, so c cannot depend on it. */
static bool fuse_bias(struct tdl_ir *ir, struct tdl_node *add)
{
    if (add->op != &tdl_op_add)
        return false;
    for (int i = 0; i < 2; i++) {
        struct tdl_operand *product = add->inputs[i], *c = add->inputs[1 - i];
        const struct tdl_tensor_params *p = &product->desc, *out = &add->output->desc;
        if (!is_matmul(product) || tdl_ir_only_user(ir, product) != add)
            continue;
        struct tdl_node *n = product->producer;
        bool fits = !slot(n, TDL_MATMUL_C) && n->attr.matmul.activation == TDL_ACTIVATION_NONE &&
                    c->desc.dtype == p->dtype && out->rank == p->rank && c->desc.rank <= p->rank &&
                    !memcmp(out->shape, p->shape, p->rank * sizeof(*p->shape));
        for (uint32_t d = 0; d + 2 < c->desc.rank && fits; d++)
            fits = c->desc.shape[d] == 1;
        if (!fits)
            continue;
        n->input_count = TDL_MATMUL_C + 1;
        tdl_ir_set_input(ir, n, TDL_MATMUL_C, c);
        n->attr.matmul.beta = 1;
        n->attr.matmul.activation = tdl_fuse_take_chain(n, &add->chain);
        tdl_fuse_take_output(n, add);
        return true;
    }
    return false;
}

/* transpose(transpose(x)): one, or none. */
static bool join_transposes(struct tdl_ir *ir, struct tdl_node *n)
{
    if (n->op != &tdl_op_transpose || !is(n->inputs[0], &tdl_op_transpose))
        return false;
    const struct tdl_node *first = n->inputs[0]->producer;
    uint32_t *permutation = n->attr.transpose.permutation;
    struct tdl_operand *x = first->inputs[0];
    bool in_order = true;
    for (uint32_t i = 0; i < x->desc.rank; i++) {
        permutation[i] = first->attr.transpose.permutation[permutation[i]];
        in_order &= permutation[i] == i;
    }
    tdl_ir_set_input(ir, n, 0, x);
    if (in_order && !n->output->is_output && x->layout == n->output->layout) {
        tdl_ir_replace(ir, n->output, x);
        n->dead = true;
    }
    return true;
}

/* matmul(a, transpose(b)) and matmul(transpose(a), b): the kernels read either
 * way. */
static bool fuse_transpose(struct tdl_ir *ir, struct tdl_node *n)
{
    if (n->op != &tdl_op_gemm && n->op != &tdl_op_matmul)
        return false;
    for (int i = TDL_MATMUL_A; i <= TDL_MATMUL_B; i++) {
        struct tdl_operand *o = n->inputs[i];
        bool swapped = is(o, &tdl_op_transpose);
        for (uint32_t d = 0; swapped && d < o->desc.rank; d++) {
            uint32_t end = o->desc.rank - 1;
            uint32_t from = d + 1 < end ? d : d == end ? end - 1 : end;
            swapped = o->producer->attr.transpose.permutation[d] == from;
        }
        if (!swapped)
            continue;
        bool *transposed =
            i == TDL_MATMUL_A ? &n->attr.matmul.a_transpose : &n->attr.matmul.b_transpose;
        *transposed = !*transposed;
        tdl_ir_set_input(ir, n, (uint32_t)i, o->producer->inputs[0]);
        return true;
    }
    return false;
}

static bool is_depthwise(const struct tdl_node *n)
{
    return n->op == &tdl_op_conv2d && n->attr.conv.pre == TDL_PRE_NONE &&
           tdl_fuse_has_constants(n) &&
           n->attr.conv.p.groups == tdl_operand_dims(n->inputs[TDL_CONV_INPUT]).c &&
           tdl_operand_dims(n->inputs[TDL_CONV_FILTER]).n == n->attr.conv.p.groups;
}

/* depthwise(activate(conv1×1(x))): the wide tensor stays inside. Others must
 * not read it; the depthwise itself may add it to its end. */
static bool fuse_expand(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *wide = n->inputs[TDL_CONV_INPUT]; /* every convolution has one */
    if (!is_depthwise(n) || !wide->producer || !tdl_fuse_is_pointwise(wide->producer) ||
        slot(wide->producer, TDL_CONV_RESIDUAL))
        return false;
    struct tdl_node *expand = wide->producer;
    bool own = slot(n, TDL_CONV_RESIDUAL) == wide;
    if (expand->chain.count || tdl_ir_only_reader(ir, wide) != n ||
        !tdl_expand_depthwise_fits(expand, n) || (own && !same_dims(wide, n->output)))
        return false;
    struct tdl_expand_attr attr;
    memset(&attr, 0, sizeof(attr)); /* padding between members counts, too: nodes are compared */
    attr.conv = expand->attr.conv;
    attr.depthwise = n->attr.conv.p;
    attr.residual_is_own = own;
    struct tdl_operand *inputs[TDL_MAX_NODE_INPUTS] = {0};
    for (uint32_t i = 0; i <= TDL_CONV_LOW; i++)
        inputs[i] = slot(expand, i);
    inputs[TDL_CONV_RESIDUAL] = own ? NULL : slot(n, TDL_CONV_RESIDUAL);
    inputs[TDL_EXPAND_FILTER2] = n->inputs[TDL_CONV_FILTER];
    inputs[TDL_EXPAND_BIAS2] = slot(n, TDL_CONV_BIAS);
    char label[sizeof(n->label)];
    snprintf(label, sizeof(label), "%s", n->label);
    snprintf(n->label, sizeof(n->label), "%.44s + %.44s", expand->label, label);
    n->op = &tdl_op_expand_depthwise;
    memcpy(&n->attr.expand, &attr, sizeof(attr));
    n->input_count = TDL_EXPAND_BIAS2 + 1;
    for (uint32_t i = 0; i < n->input_count; i++)
        tdl_ir_set_input(ir, n, i, inputs[i]);
    expand->dead = true;
    return true;
}

/* conv(input): what reads an image of few channels alone needs no packs of them. */
static bool read_plain(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *x = n->op == &tdl_op_conv2d ? n->inputs[TDL_CONV_INPUT] : NULL;
    if (!x || n->attr.conv.plain || x->kind != TDL_OPERAND_INPUT || x->desc.dtype != TDL_FLOAT32 ||
        x->layout != TDL_LAYOUT_NHWC || tdl_operand_dims(x).c > 4 || tdl_ir_only_user(ir, x) != n ||
        n->attr.conv.p.groups != 1 || n->attr.conv.pre != TDL_PRE_NONE)
        return false;
    n->attr.conv.plain = true;
    return true;
}

enum kind {
    ABSORBS,      /* the rest are operators that have references */
    FOR_KERNELS,  /* the rest only kernels compute */
    REPEATS_WORK, /* these also save a dispatch */
};

static const struct pattern {
    const char *name;
    bool (*apply)(struct tdl_ir *ir, struct tdl_node *node);
    enum kind kind;
} patterns[] = {
    {"whole", tdl_fuse_whole, ABSORBS},
    {"gated", tdl_fuse_gated, ABSORBS},
    {"mix", tdl_fuse_mix, ABSORBS},
    {"normalization", tdl_fuse_normalization, ABSORBS},
    {"channel constants", tdl_fuse_channel_constant, ABSORBS},
    {"clamp", tdl_fuse_clamp, ABSORBS},
    {"attention", tdl_fuse_attention, REPEATS_WORK},
    {"chain", tdl_fuse_chain, FOR_KERNELS},
    {"pad", tdl_fuse_pad, ABSORBS},
    {"commute resample", commute_resample, ABSORBS},
    {"gate", fuse_gate, FOR_KERNELS},
    {"merge", fuse_merge, FOR_KERNELS},
    {"gated input", fuse_gated_input, FOR_KERNELS},
    {"residual", fuse_residual, FOR_KERNELS},
    {"transposes", join_transposes, ABSORBS},
    {"matmul bias", fuse_bias, ABSORBS},
    {"matmul transpose", fuse_transpose, ABSORBS},
    {"scalar", tdl_fuse_scalar, FOR_KERNELS},
    {"expand", fuse_expand, REPEATS_WORK},
    {"project", tdl_fuse_project, REPEATS_WORK},
    {"compose", tdl_fuse_compose, REPEATS_WORK},
    {"compose low", tdl_fuse_compose_low, REPEATS_WORK},
    {"means", tdl_fuse_means, REPEATS_WORK},
    {"gate inside", tdl_fuse_inside, REPEATS_WORK},
    {"plain input", read_plain, REPEATS_WORK},
};

/* Two or three are enough for real models. With more, what moves past one node
 * a round could take as many as there are nodes. */
enum { MAX_ROUNDS = 32 };

static enum tdl_result apply_patterns(struct tdl_ir *ir, enum kind most)
{
    for (size_t p = 0; p < TDL_COUNT(patterns); p++) {
        bool changed = patterns[p].kind <= most;
        for (uint32_t round = 0; changed && round < MAX_ROUNDS; round++) {
            changed = false;
            tdl_ir_index(ir);
            for (uint32_t i = 0; i < ir->node_count; i++)
                if (!ir->nodes[i]->dead)
                    changed |= patterns[p].apply(ir, ir->nodes[i]);
            if (ir->watch_index)
                ir->unlisted += tdl_ir_count_unlisted(ir);
            tdl_ir_sweep(ir);
        }
    }
    enum tdl_result r = tdl_ir_sort(ir);
    tdl_ir_dump(ir, "fuse");
    return r;
}

enum tdl_result tdl_pass_fuse(struct tdl_ir *ir, bool few_dispatches)
{
    return apply_patterns(ir, few_dispatches ? REPEATS_WORK : FOR_KERNELS);
}

enum tdl_result tdl_pass_absorb(struct tdl_ir *ir)
{
    return apply_patterns(ir, ABSORBS);
}
