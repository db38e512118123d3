/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mix: a convolution takes in what stands around it in a recurrent gate, where matrix units
 * compute it from a patch of the picture. It reads the parts of a concat where they lie, the
 * second also as a product of two; what is resampled it reads from the smaller picture; and
 * it goes from an old value to the new one by a third. So a gate is one dispatch for each of
 * its two convolutions. It comes after join, which finds what is mixed.
 */
#include "passes.h"

#include "ops/conv/conv.h"

struct mix {
    struct tdl_ir *ir;
    const struct tdl_device_info *device;
    enum tdl_dtype storage;
};

static bool is_pack(const struct tdl_operand *o)
{
    return o && o->kind == TDL_OPERAND_VALUE && o->storage == TDL_STORAGE_PACKED && !o->wide &&
           tdl_is_float(o->desc.dtype);
}

static bool same_picture(const struct tdl_operand *a, const struct tdl_operand *b)
{
    const struct tdl_dims p = tdl_operand_dims(a), q = tdl_operand_dims(b);
    return p.n == q.n && p.h == q.h && p.w == q.w;
}

static bool is_conv(const struct mix *m, const struct tdl_node *n)
{
    return n && !n->dead && n->op == &tdl_op_conv2d && !n->wide &&
           is_pack(n->inputs[TDL_CONV_INPUT]) && is_pack(n->output) &&
           tdl_conv_is_patch(n, m->device, m->storage);
}

static void set_input(struct mix *m, struct tdl_node *n, uint32_t slot, struct tdl_operand *o)
{
    n->input_count = TDL_MAX(n->input_count, slot + 1);
    tdl_ir_set_input(m->ir, n, slot, o);
}

static void drop(struct mix *m, struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        tdl_ir_set_input(m->ir, n, i, NULL);
    n->dead = true;
}

/* conv(concat(a, b)), of which the first ends with a pack. */
static void take_parts(struct mix *m, struct tdl_node *n)
{
    struct tdl_node *concat = n->inputs[TDL_CONV_INPUT]->producer;
    if (!concat || concat->op != &tdl_op_concat || concat->input_count != 2 ||
        concat->attr.concat.axis != (concat->output->layout == TDL_LAYOUT_NCHW ? 1 : 3))
        return;
    struct tdl_operand *a = concat->inputs[0], *b = concat->inputs[1];
    if (!is_pack(a) || !is_pack(b) || tdl_operand_dims(a).c % 4)
        return;
    const bool alone = tdl_ir_only_user(m->ir, concat->output) == n && !concat->output->is_output;
    struct tdl_node *product =
        alone && tdl_ir_only_user(m->ir, b) == concat && !b->is_output ? b->producer : NULL;
    set_input(m, n, TDL_CONV_INPUT, a);
    set_input(m, n, TDL_CONV_SECOND, b);
    if (alone)
        drop(m, concat);
    if (!product || product->op != &tdl_op_mul || product->chain.count ||
        product->input_count != 2 || !is_pack(product->inputs[0]) || !is_pack(product->inputs[1]) ||
        !same_picture(product->inputs[0], product->inputs[1]) ||
        tdl_operand_dims(product->inputs[0]).c != tdl_operand_dims(product->inputs[1]).c)
        return;
    set_input(m, n, TDL_CONV_SECOND, product->inputs[0]);
    set_input(m, n, TDL_CONV_FACTOR, product->inputs[1]);
    drop(m, product);
}

/* conv(concat(resample(low), …)): what is resampled by whole packs is so while it is read. */
static void take_low(struct mix *m, struct tdl_node *n)
{
    struct tdl_node *concat = n->inputs[TDL_CONV_INPUT]->producer;
    const uint32_t axis = n->output->layout == TDL_LAYOUT_NCHW ? 1 : 3;
    if (!concat || concat->op != &tdl_op_concat || concat->input_count < 2 ||
        concat->attr.concat.axis != axis || concat->output->is_output ||
        concat->output->layout != n->output->layout || concat->output->alias ||
        tdl_ir_only_user(m->ir, concat->output) != n)
        return;
    struct tdl_operand *up = concat->inputs[0], *rest = concat->output;
    if (!is_pack(up) || up->is_output || !up->producer || tdl_operand_dims(up).c % 4 ||
        !tdl_resample2d_is_linear(up->producer) || tdl_ir_only_user(m->ir, up) != concat ||
        !is_pack(up->producer->inputs[0]))
        return;
    struct tdl_node *resample = up->producer;
    n->attr.conv.coordinates = resample->attr.resample.coordinates;
    set_input(m, n, TDL_CONV_LOW, resample->inputs[0]);
    drop(m, resample);
    for (uint32_t i = 1; i < concat->input_count; i++)
        tdl_ir_set_input(m->ir, concat, i - 1, concat->inputs[i]);
    tdl_ir_set_input(m->ir, concat, --concat->input_count, NULL);
    if (concat->input_count == 1) {
        rest = concat->inputs[0];
        set_input(m, n, TDL_CONV_INPUT, rest);
        drop(m, concat);
        return;
    }
    const uint32_t before = tdl_packs(tdl_operand_dims(rest).c);
    rest->desc.shape[axis] -= up->desc.shape[axis];
    rest->size = rest->size / before * tdl_packs(tdl_operand_dims(rest).c);
}

/* r + (conv − r) · blend, as join leaves it. */
static void take_blend(struct mix *m, struct tdl_node *n)
{
    struct tdl_node *conv = tdl_function_of(n) == TDL_SUB ? n->inputs[0]->producer : NULL;
    const struct tdl_chain_stage *s = n->chain.stages;
    if (n->dead || !is_conv(m, conv) || tdl_ir_only_user(m->ir, conv->output) != n ||
        conv->output->is_output || tdl_conv_input(conv, TDL_CONV_RESIDUAL) || n->chain.count != 2 ||
        n->input_count != 4 || s[0].function != TDL_MUL || s[1].function != TDL_ADD ||
        (uint32_t)s[0].a != 2 || (uint32_t)s[1].a != 3 || n->inputs[1] != n->inputs[3] ||
        !is_pack(n->inputs[1]) || !is_pack(n->inputs[2]) || !is_pack(n->output) || n->wide)
        return;
    for (uint32_t i = 1; i < 3; i++)
        if (!same_picture(n->inputs[i], n->output) ||
            tdl_operand_dims(n->inputs[i]).c != tdl_operand_dims(n->output).c)
            return;
    set_input(m, conv, TDL_CONV_RESIDUAL, n->inputs[1]);
    set_input(m, conv, TDL_CONV_BLEND, n->inputs[2]);
    conv->attr.conv.blends = true;
    conv->output = n->output;
    conv->output->producer = conv;
    drop(m, n);
}

enum tdl_result tdl_pass_mix(struct tdl_ir *ir, const struct tdl_device_info *device,
                             enum tdl_dtype storage)
{
    struct mix m = {ir, device, storage};
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < ir->node_count; i++)
        take_blend(&m, ir->nodes[i]);
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        if (is_conv(&m, n))
            take_low(&m, n);
        if (is_conv(&m, n) && !tdl_conv_input(n, TDL_CONV_LOW))
            take_parts(&m, n);
    }
    tdl_ir_sweep(ir);
    enum tdl_result r = tdl_ir_sort(ir);
    tdl_ir_dump(ir, "mix");
    return r;
}
