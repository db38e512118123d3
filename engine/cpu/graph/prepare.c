/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rewriting the operators for the CPU, in three walks over them in their order:
 *   packs     bound tensors in NC4HW4 are unpacked first and packed last;
 *   halves    what computes with float16 computes with float32 between casts;
 *   channels  windows work on NHWC; what stands behind them does so, too, where its
 *             attributes can say so. The value in the other order is the operand's
 *             `twin`, and is made where somebody reads it.
 * Constants of the other type or order are folded then, and what is quantized is computed in
 * bytes (compile/quantize.c).
 */
#include "graph.h"
#include "ops.h"

#include "compile/passes.h"
#include "ops/ops.h"

#include <stdlib.h>

struct walk {
    struct tdl_ir *ir;
    struct tdl_node **order;
    uint32_t count, capacity;
    bool failed; /* out of memory */
};

static enum tdl_result out_of_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning a graph for the CPU");
}

static void place(struct walk *w, struct tdl_node *n)
{
    if (w->count == w->capacity) {
        uint32_t capacity = w->capacity ? 2 * w->capacity : 256;
        struct tdl_node **order = realloc(w->order, capacity * sizeof(*order));
        if (!order) {
            w->failed = true;
            return;
        }
        w->order = order;
        w->capacity = capacity;
    }
    w->order[w->count++] = n;
}

/* A node from one value to another, at this place of the order. */
static struct tdl_node *add(struct walk *w, const struct tdl_op *op, struct tdl_operand *from,
                            struct tdl_operand *to, const char *label)
{
    struct tdl_node *n = to ? tdl_ir_add_node(w->ir, op) : NULL;
    if (!n) {
        w->failed = true;
        return NULL;
    }
    n->inputs[0] = from;
    n->input_count = 1;
    n->output = to;
    to->producer = n;
    memcpy(n->label, label, TDL_MIN(strlen(label), sizeof(n->label) - 1));
    place(w, n);
    return n;
}

static struct tdl_operand *add_value(struct walk *w, const struct tdl_tensor_params *desc,
                                     enum tdl_layout layout)
{
    struct tdl_operand *o = tdl_ir_add_operand(w->ir, TDL_OPERAND_VALUE, desc);
    w->failed |= !o;
    if (o)
        o->layout = layout;
    return o;
}

/* Every node has been placed once. */
static enum tdl_result finish(struct walk *w)
{
    if (!w->failed)
        memcpy(w->ir->nodes, w->order, w->count * sizeof(*w->order));
    free(w->order);
    return w->failed ? out_of_memory() : TDL_OK;
}

/* -------------------------------------------------------------------- packs */

static struct tdl_tensor_params desc_in(const struct tdl_operand *o, enum tdl_layout layout)
{
    struct tdl_tensor_params like = o->desc;
    const struct tdl_dims d = tdl_operand_dims(o);
    const uint32_t nhwc[] = {d.n, d.h, d.w, d.c}, nchw[] = {d.n, d.c, d.h, d.w};
    memcpy(like.shape, layout == TDL_LAYOUT_NCHW ? nchw : nhwc, sizeof(nhwc));
    return like;
}

static void move_axes(struct walk *w, struct tdl_operand *from, struct tdl_operand *to,
                      const char *label)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    const struct tdl_dims d = tdl_operand_dims(from);
    /* Nothing moves where there is one channel, or one pixel. */
    const bool renames = d.c == 1 || (uint64_t)d.h * d.w == 1;
    struct tdl_node *n =
        add(w, renames ? tdl_cpu_made.reshape : tdl_cpu_made.transpose, from, to, label);
    if (!n)
        return;
    if (renames) {
        n->attr.shape.rank = 4;
        memcpy(n->attr.shape.size, to->desc.shape, 4 * sizeof(*to->desc.shape));
    } else {
        memcpy(n->attr.transpose.permutation, to->layout == TDL_LAYOUT_NCHW ? to_nchw : to_nhwc,
               sizeof(to_nchw));
    }
}

static void unpack_input(struct walk *w, struct tdl_operand *input)
{
    const struct tdl_tensor_params nhwc = desc_in(input, TDL_LAYOUT_NHWC);
    struct tdl_operand *pixels = add_value(w, &nhwc, TDL_LAYOUT_NHWC), *value = pixels;
    if (w->failed)
        return;
    if (input->layout == TDL_LAYOUT_NCHW) {
        value = add_value(w, &input->desc, input->layout);
        if (!value)
            return;
        value->twin = pixels;
    }
    tdl_ir_replace(w->ir, input, value);
    add(w, tdl_cpu_made.repack, input, pixels, "unpack");
    if (value != pixels)
        move_axes(w, pixels, value, "to NCHW");
}

static void pack_output(struct walk *w, struct tdl_operand *output)
{
    struct tdl_operand *inside = add_value(w, &output->desc, output->layout);
    if (!inside)
        return;
    inside->producer = output->producer;
    inside->producer->output = inside;
    tdl_ir_replace(w->ir, output, inside);
    add(w, tdl_cpu_made.repack, inside, output, "pack");
}

static enum tdl_result convert_packs(struct tdl_ir *ir)
{
    struct walk w = {.ir = ir};
    const uint32_t count = ir->node_count;
    for (uint32_t i = 0; i < ir->input_count; i++)
        if (tdl_cpu_is_packs(ir->inputs[i]))
            unpack_input(&w, ir->inputs[i]);
    for (uint32_t i = 0; i < count; i++)
        place(&w, ir->nodes[i]);
    for (uint32_t i = 0; i < ir->output_count; i++)
        if (tdl_cpu_is_packs(ir->outputs[i]))
            pack_output(&w, ir->outputs[i]);
    return finish(&w);
}

/* ------------------------------------------------------- halves, activations */

static bool computes_in_floats(const struct tdl_node *n)
{
    return n->op->reference || n->op->floats;
}

static struct tdl_operand *cast_to(struct walk *w, struct tdl_operand *from, enum tdl_dtype dtype)
{
    struct tdl_tensor_params desc = from->desc;
    desc.dtype = dtype;
    struct tdl_operand *to = add_value(w, &desc, from->layout);
    struct tdl_node *n = add(w, tdl_cpu_made.cast, from, to, "cast");
    if (n)
        n->attr.cast.dtype = dtype;
    return to;
}

static void widen_inputs(struct walk *w, struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && n->inputs[i]->desc.dtype == TDL_FLOAT16)
            n->inputs[i] = cast_to(w, n->inputs[i], TDL_FLOAT32);
}

/* Give the node a new output of this data type; returns the old one, to be made from it. */
static struct tdl_operand *take_output(struct walk *w, struct tdl_node *n, enum tdl_dtype dtype)
{
    struct tdl_tensor_params desc = n->output->desc;
    desc.dtype = dtype;
    struct tdl_operand *old = n->output, *own = add_value(w, &desc, old->layout);
    if (own) {
        n->output = own;
        own->producer = n;
    }
    return old;
}

/* An activation that neither XNNPACK nor the kernels here end with, as a node. */
static void split_activation(struct walk *w, struct tdl_node *n)
{
    static const enum tdl_function functions[] = {
        [TDL_ACTIVATION_RELU] = TDL_RELU,       [TDL_ACTIVATION_RELU6] = TDL_CLAMP,
        [TDL_ACTIVATION_SIGMOID] = TDL_SIGMOID, [TDL_ACTIVATION_HARD_SWISH] = TDL_HARD_SWISH,
        [TDL_ACTIVATION_TANH] = TDL_TANH,
    };
    enum tdl_activation *a = n->op->activation ? n->op->activation(n) : NULL;
    const bool clamps = n->op->filter_channel;
    if (!a || *a == TDL_ACTIVATION_NONE || *a > TDL_ACTIVATION_TANH ||
        (clamps && (*a == TDL_ACTIVATION_RELU || *a == TDL_ACTIVATION_RELU6)))
        return;
    struct tdl_operand *old = take_output(w, n, n->output->desc.dtype);
    struct tdl_node *f = add(w, tdl_cpu_made.eltwise + functions[*a], n->output, old, n->label);
    if (f && *a == TDL_ACTIVATION_RELU6)
        f->attr.eltwise.b = 6;
    *a = TDL_ACTIVATION_NONE;
}

static enum tdl_result widen_halves(struct tdl_ir *ir)
{
    struct walk w = {.ir = ir};
    const uint32_t count = ir->node_count;
    for (uint32_t i = 0; i < count && !w.failed; i++) {
        struct tdl_node *n = ir->nodes[i];
        const bool floats = computes_in_floats(n);
        struct tdl_operand *narrow = NULL;
        if (floats)
            widen_inputs(&w, n);
        if (floats && n->output->desc.dtype == TDL_FLOAT16)
            narrow = take_output(&w, n, TDL_FLOAT32);
        place(&w, n);
        split_activation(&w, n);
        if (narrow && !w.failed) {
            struct tdl_node *c =
                add(&w, tdl_cpu_made.cast, w.order[w.count - 1]->output, narrow, "cast");
            if (c)
                c->attr.cast.dtype = TDL_FLOAT16;
        }
    }
    return finish(&w);
}

/* ----------------------------------------------------------------- channels */

static const uint32_t place_of[4] = {0, 3, 1, 2}; /* place in NHWC of each axis of NCHW */

static bool is_nchw(const struct tdl_operand *o)
{
    return o->desc.rank == 4 && o->layout == TDL_LAYOUT_NCHW;
}

static bool moves_channels(const struct tdl_node *n, enum tdl_layout to)
{
    return n->op->relabels && n->output->layout == to && n->op->can_pack(n);
}

/* The value as NHWC. Of fewer dimensions, which broadcast as NCHW has them, with ones
 * in front. */
static struct tdl_operand *nhwc_of(struct walk *w, struct tdl_operand *o)
{
    if (tdl_operand_count(o) == 1 && o->desc.rank < 4)
        return o;
    if (o->desc.rank < 4) {
        struct tdl_tensor_params desc = {.dtype = o->desc.dtype, .rank = 4, .shape = {1, 1, 1, 1}};
        memcpy(desc.shape + 4 - o->desc.rank, o->desc.shape, o->desc.rank * sizeof(*desc.shape));
        struct tdl_operand *image = add_value(w, &desc, TDL_LAYOUT_NCHW);
        struct tdl_node *n = add(w, tdl_cpu_made.reshape, o, image, "reshape");
        if (!n)
            return o;
        n->attr.shape.rank = 4;
        memcpy(n->attr.shape.size, desc.shape, 4 * sizeof(*desc.shape));
        o = image;
    }
    if (!is_nchw(o) || o->twin)
        return o->twin ? o->twin : o;
    if (o->producer && moves_channels(o->producer, TDL_LAYOUT_NCHW))
        return o->twin = o->producer->inputs[0];
    const struct tdl_tensor_params desc = desc_in(o, TDL_LAYOUT_NHWC);
    struct tdl_operand *twin = add_value(w, &desc, TDL_LAYOUT_NHWC);
    if (!twin)
        return o;
    move_axes(w, o, twin, "to NHWC");
    return o->twin = twin;
}

/* Does one of its images lie in NHWC already? */
static bool stands_behind_nhwc(const struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && is_nchw(n->inputs[i]) && n->inputs[i]->twin)
            return true;
    return false;
}

/* Slots whose values are parameters, not images. */
static bool is_parameter(const struct tdl_node *n, uint32_t slot)
{
    return slot && n->op->weight_slots >> slot & 1;
}

static void to_nhwc(struct walk *w, struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && !is_parameter(n, i))
            n->inputs[i] = nhwc_of(w, n->inputs[i]);
    place(w, n);
    if (!is_nchw(n->output) || n->op == tdl_cpu_made.repack)
        return;
    const struct tdl_tensor_params desc = desc_in(n->output, TDL_LAYOUT_NHWC);
    struct tdl_operand *old = n->output, *own = add_value(w, &desc, TDL_LAYOUT_NHWC);
    if (!own)
        return;
    n->output = own;
    own->producer = n;
    old->twin = own;
    move_axes(w, own, old, "to NCHW");
}

/* transpose(x) to NHWC, where x lies so already. */
static bool is_undone(struct walk *w, struct tdl_node *n)
{
    if (!moves_channels(n, TDL_LAYOUT_NHWC) || !n->inputs[0]->twin)
        return false;
    n->op = tdl_cpu_made.reshape;
    n->inputs[0] = n->inputs[0]->twin;
    n->attr.shape.rank = 4;
    memcpy(n->attr.shape.size, n->output->desc.shape, 4 * sizeof(*n->output->desc.shape));
    place(w, n);
    return true;
}

static enum tdl_result move_channels(struct tdl_ir *ir)
{
    struct walk w = {.ir = ir};
    const uint32_t count = ir->node_count;
    for (uint32_t i = 0; i < count && !w.failed; i++) {
        struct tdl_node *n = ir->nodes[i];
        const bool images = n->op->reference || n->op == tdl_cpu_made.repack;
        const bool nchw = n->inputs[0] && (is_nchw(n->inputs[0]) || is_nchw(n->output));
        if (is_undone(&w, n))
            continue;
        if ((images && nchw && !tdl_cpu_is_packs(n->inputs[0])) ||
            (!images && stands_behind_nhwc(n) && n->op->renumber && n->op->renumber(n, place_of)))
            to_nhwc(&w, n);
        else
            place(&w, n);
    }
    return finish(&w);
}

enum tdl_result tdl_cpu_prepare(struct tdl_ir *ir, bool no_fuse,
                                const struct tdl_cpu_threads *threads)
{
    enum tdl_result r;
    TRY(convert_packs(ir));
    TRY(widen_halves(ir));
    TRY(move_channels(ir));
    tdl_ir_sweep(ir);
    TRY(tdl_pass_fold(ir));
    tdl_ir_dump(ir, "prepare");
    if (!no_fuse)
        TRY(tdl_pass_quantize(ir, tdl_cpu_threads_count(threads) > 1
                                      ? tdl_cpu_xnn_takes_bytes
                                      : tdl_cpu_xnn_takes_bytes_alone));
fail:
    return r;
}
