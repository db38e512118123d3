/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quantize: models whose values are quantized between operators say so by element-wise
 * functions: x / scale is rounded, a zero point added, and the sum cut to eight bits; then
 * (q − zero) · scale follows. Here each half becomes one operator, `quantized`. What is computed
 * between the halves goes into it, and what only moves elements moves bytes. All is exact: each
 * result is what it was before.
 */
#include "passes.h"

#include "ops/ops.h"
#include "ops/quantized.h"

#include <float.h>
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_small(const struct tdl_operand *o)
{
    return o->desc.dtype == TDL_INT8 || o->desc.dtype == TDL_UINT8;
}

static bool is_real(const struct tdl_operand *o)
{
    return o->desc.dtype == TDL_FLOAT32;
}

/* The node that makes the value by this function alone. */
static struct tdl_node *made_by(const struct tdl_operand *o, enum tdl_function f)
{
    struct tdl_node *n = o ? o->producer : NULL;
    return n && !n->chain.count && n->op == &tdl_op_eltwise[f] ? n : NULL;
}

/* Is it one number that is known? */
static bool is_number(const struct tdl_operand *o, float *out)
{
    const float *data = o && tdl_operand_count(o) == 1 ? tdl_constant_data(o) : NULL;
    if (data)
        *out = *data;
    return data != NULL;
}

/* The other input of a node, one of whose inputs is a number. */
static struct tdl_operand *beside_number(const struct tdl_node *n, float *out)
{
    for (uint32_t i = 0; n && i < 2; i++)
        if (is_number(n->inputs[1 - i], out))
            return n->inputs[i];
    return NULL;
}

static bool same_count(const struct tdl_operand *a, const struct tdl_operand *b)
{
    return tdl_operand_count(a) == tdl_operand_count(b);
}

static void become_quantized(struct tdl_ir *ir, struct tdl_node *n, struct tdl_operand *input,
                             const struct tdl_quantized_attr *attr)
{
    n->op = &tdl_op_quantized;
    n->attr = (union tdl_attr){.quantized = *attr};
    tdl_ir_set_input(ir, n, 0, input);
    n->input_count = 1;
}

/* --------------------------------------------------------------- the halves */

/* Behind a clamp to the type's range, which a cast does, too. */
static struct tdl_operand *before_clamp(struct tdl_operand *o, enum tdl_dtype dtype)
{
    const float least = dtype == TDL_INT8 ? -128 : 0, most = dtype == TDL_INT8 ? 127 : 255;
    const struct tdl_node *clamp = made_by(o, TDL_CLAMP);
    return clamp && clamp->attr.eltwise.a <= least && clamp->attr.eltwise.b >= most
               ? clamp->inputs[0]
               : o;
}

/* cast(clamp(round(x / scale) + zero)). A convolution may have taken the division into its
 * filter: the scale is 1 then. */
static bool find_quantize(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_quantized_attr p = {.function = TDL_IDENTITY, .out.scale = 1};
    if (n->op != &tdl_op_cast || !is_small(n->output) || !is_real(n->inputs[0]))
        return false;
    struct tdl_operand *o = before_clamp(n->inputs[0], n->output->desc.dtype);
    struct tdl_operand *rounded = beside_number(made_by(o, TDL_ADD), &p.out.zero);
    const struct tdl_node *round = made_by(rounded ? rounded : o, TDL_ROUND_EVEN);
    if (!round || !(p.out.zero >= -128 && p.out.zero <= 255))
        return false;
    struct tdl_operand *x = round->inputs[0];
    const struct tdl_node *divide = made_by(x, TDL_DIV);
    if (divide && is_number(divide->inputs[1], &p.out.scale))
        x = divide->inputs[0];
    if (!same_count(x, n->output))
        return false;
    become_quantized(ir, n, x, &p);
    return true;
}

/* (cast(q) − zero) · scale */
static bool find_dequantize(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_quantized_attr p = {.function = TDL_IDENTITY};
    if (n->op != &tdl_op_mul || n->chain.count || !is_real(n->output))
        return false;
    struct tdl_operand *o = beside_number(n, &p.in[0].scale);
    const struct tdl_node *sub = made_by(o, TDL_SUB);
    if (sub && is_number(sub->inputs[1], &p.in[0].zero))
        o = sub->inputs[0];
    const struct tdl_node *cast = o ? o->producer : NULL;
    if (!cast || cast->op != &tdl_op_cast || !is_small(cast->inputs[0]) ||
        !same_count(cast->inputs[0], n->output))
        return false;
    become_quantized(ir, n, cast->inputs[0], &p);
    return true;
}

/* -------------------------------------------------------------- what follows */

static bool is_plain(const struct tdl_node *n)
{
    return n && n->op == &tdl_op_quantized && n->attr.quantized.function == TDL_IDENTITY;
}

/* Are its values the reals of quantized ones? */
static struct tdl_node *dequantizes(const struct tdl_operand *o)
{
    struct tdl_node *n = o ? o->producer : NULL;
    return is_plain(n) && is_small(n->inputs[0]) && is_real(n->output) ? n : NULL;
}

static bool quantizes(const struct tdl_node *n)
{
    return is_plain(n) && is_real(n->inputs[0]) && is_small(n->output);
}

static bool same(const struct tdl_quantization *a, const struct tdl_quantization *b)
{
    return a->scale == b->scale && a->zero == b->zero;
}

/* A function of floats whose inputs go in step with its output, or are numbers. */
static bool is_function(const struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    const uint32_t count = f < TDL_ADD ? 1 : 2;
    float number;
    if (f > TDL_PRELU || n->chain.count || !is_real(n->output) || n->input_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_real(n->inputs[i]) ||
            (!same_count(n->inputs[i], n->output) && !is_number(n->inputs[i], &number)))
            return false;
    return true;
}

static void become_function(struct tdl_node *n)
{
    const struct tdl_quantized_attr p = {
        .function = tdl_function_of(n), .a = n->attr.eltwise.a, .b = n->attr.eltwise.b};
    n->op = &tdl_op_quantized;
    n->attr = (union tdl_attr){.quantized = p};
}

/* f(dequantize(q)): the function reads q. */
static bool read_quantized(struct tdl_ir *ir, struct tdl_node *n)
{
    if (!is_function(n) ||
        (!dequantizes(n->inputs[0]) && (n->input_count < 2 || !dequantizes(n->inputs[1]))))
        return false;
    become_function(n);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct tdl_node *from = dequantizes(n->inputs[i]);
        if (!from)
            continue;
        n->attr.quantized.in[i] = from->attr.quantized.in[0];
        tdl_ir_set_input(ir, n, i, from->inputs[0]);
    }
    return true;
}

static void take_output(struct tdl_node *n, struct tdl_node *last)
{
    const size_t used = strlen(n->label);
    snprintf(n->label + used, sizeof(n->label) - used, " + %s", last->label);
    n->output = last->output;
    n->output->producer = n;
    last->dead = true;
    last->output = last->inputs[0]; /* of which it does not look like the producer */
    last->input_count = 0;
}

/* quantize(f(x)) for a function that nobody else reads. */
static bool write_quantized(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *f = quantizes(n) ? n->inputs[0]->producer : NULL;
    if (!f || tdl_ir_only_user(ir, f->output) != n ||
        (f->op != &tdl_op_quantized && !is_function(f)))
        return false;
    if (f->op != &tdl_op_quantized)
        become_function(f);
    f->attr.quantized.out = n->attr.quantized.out;
    take_output(f, n);
    return true;
}

/* quantize(dequantize(q)) of one scale is q. */
static bool drop_requantize(struct tdl_ir *ir, struct tdl_node *n)
{
    if (!is_plain(n) || !is_small(n->inputs[0]) || !is_small(n->output) || n->output->is_output ||
        n->inputs[0]->desc.dtype != n->output->desc.dtype ||
        n->inputs[0]->desc.rank != n->output->desc.rank ||
        !same(&n->attr.quantized.in[0], &n->attr.quantized.out))
        return false;
    tdl_ir_replace(ir, n->output, n->inputs[0]);
    n->dead = true;
    return true;
}

/* -------------------------------------------------------------------- moves */

/* The largest number of a window's pixels that lie side by side. Of those of a pool one is
 * always in the picture. */
static bool is_dense_max(const struct tdl_node *n)
{
    return n->op == &tdl_op_max_pool2d && n->attr.pool.activation == TDL_ACTIVATION_NONE &&
           n->window.dilation[0] == 1 && n->window.dilation[1] == 1;
}

/* What takes bytes as well as floats, and gives some of its inputs' elements. */
static bool moves(const struct tdl_node *n)
{
    return n->op == &tdl_op_transpose || n->op == &tdl_op_reshape || n->op == &tdl_op_slice ||
           n->op == &tdl_op_concat || n->op == &tdl_op_depth_to_space ||
           n->op == &tdl_op_space_to_depth || is_dense_max(n);
}

/* The node gives bytes, of which what it gave is made. */
static bool sink(struct tdl_ir *ir, struct tdl_node *n, const struct tdl_quantization *q,
                 enum tdl_dtype dtype)
{
    struct tdl_operand *old = n->output;
    struct tdl_tensor_params desc = old->desc;
    desc.dtype = dtype;
    struct tdl_operand *bytes = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &desc);
    struct tdl_node *behind = bytes ? tdl_ir_add_node(ir, &tdl_op_quantized) : NULL;
    if (!behind)
        return false;
    for (uint32_t i = 0; i < n->input_count; i++)
        tdl_ir_set_input(ir, n, i, n->inputs[i]->producer->inputs[0]);
    bytes->layout = old->layout;
    bytes->producer = n;
    n->output = bytes;
    memcpy(behind->label, n->label, sizeof(behind->label));
    become_quantized(ir, behind, bytes,
                     &(struct tdl_quantized_attr){.function = TDL_IDENTITY, .in = {*q}});
    behind->output = old;
    old->producer = behind;
    return true;
}

/* move(dequantize(q)) = dequantize(move(q)), where all that moves has one scale. */
static bool move_bytes(struct tdl_ir *ir, struct tdl_node *n)
{
    const struct tdl_node *first = n->input_count ? dequantizes(n->inputs[0]) : NULL;
    if (!first || !moves(n))
        return false;
    const enum tdl_dtype dtype = first->inputs[0]->desc.dtype;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct tdl_node *from = dequantizes(n->inputs[i]);
        if (!from || from->inputs[0]->desc.dtype != dtype ||
            from->inputs[0]->desc.rank != n->inputs[i]->desc.rank ||
            !same(&from->attr.quantized.in[0], &first->attr.quantized.in[0]) ||
            (n->op->renames && tdl_ir_only_user(ir, n->inputs[i]) != n))
            return false;
    }
    return sink(ir, n, &first->attr.quantized.in[0], dtype);
}

/* What is quantized of reals `o`, as node `like` quantizes. NULL when out of memory. */
static struct tdl_operand *requantize(struct tdl_ir *ir, const struct tdl_operand *o,
                                      const struct tdl_node *like)
{
    const struct tdl_node *from = o->producer;
    struct tdl_quantized_attr p = from->attr.quantized;
    struct tdl_tensor_params desc = o->desc;
    desc.dtype = like->output->desc.dtype;
    struct tdl_operand *bytes = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &desc);
    struct tdl_node *n = bytes ? tdl_ir_add_node(ir, &tdl_op_quantized) : NULL;
    if (!n)
        return NULL;
    p.out = like->attr.quantized.out;
    memcpy(n->label, from->label, sizeof(n->label));
    become_quantized(ir, n, from->inputs[0], &p);
    n->output = bytes;
    bytes->producer = n;
    bytes->layout = o->layout;
    return bytes;
}

/* quantize(concat(dequantize(q), …)): each is brought to the one scale, and they are joined. */
static bool join_bytes(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *join = quantizes(n) ? n->inputs[0]->producer : NULL;
    if (!join || join->op != &tdl_op_concat || tdl_ir_only_user(ir, join->output) != n)
        return false;
    for (uint32_t i = 0; i < join->input_count; i++)
        if (!dequantizes(join->inputs[i]))
            return false;
    struct tdl_operand *bytes[TDL_MAX_NODE_INPUTS];
    for (uint32_t i = 0; i < join->input_count; i++)
        if (!(bytes[i] = requantize(ir, join->inputs[i], n)))
            return false; /* what was made so far nobody reads */
    for (uint32_t i = 0; i < join->input_count; i++)
        tdl_ir_set_input(ir, join, i, bytes[i]);
    take_output(join, n);
    return true;
}

/* --------------------------------------------------------------------- walk */

/* ------------------------------------------------------------- convolutions */

static struct tdl_operand *bias_of(const struct tdl_node *n)
{
    return n->input_count > TDL_CONV_BIAS ? n->inputs[TDL_CONV_BIAS] : NULL;
}

/* One that is nothing but filter, bias and bounds, all of them known. */
static bool is_plain_conv(const struct tdl_node *n)
{
    const struct tdl_operand *bias = bias_of(n);
    const enum tdl_activation a = n->attr.conv.p.activation;
    return n->attr.conv.pre == TDL_PRE_NONE && !n->chain.count &&
           n->input_count <= TDL_CONV_BIAS + 1 && n->output->desc.rank == 4 &&
           tdl_is_known(n->inputs[TDL_CONV_FILTER]) && (!bias || tdl_is_known(bias)) &&
           (a == TDL_ACTIVATION_NONE || a == TDL_ACTIVATION_RELU || a == TDL_ACTIVATION_RELU6);
}

/* Are sums of products of bytes, times the factor from them to the output's, within what
 * integers of 32 bits and their scaling hold? A bias is rounded to one in such units, which
 * then are fractions of the output's. */
static bool is_in_range(const struct tdl_node *conv, const struct tdl_quantization *in,
                        const struct tdl_quantization *out, const float *scales)
{
    const struct tdl_operand *bias = bias_of(conv);
    const uint32_t channels = tdl_operand_dims(conv->output).c;
    if (tdl_operand_count(conv->inputs[TDL_CONV_FILTER]) / channels >= 1 << 16)
        return false;
    for (uint32_t c = 0; c < channels; c++) {
        const float product = in->scale * scales[c], factor = product / out->scale;
        if (!(product >= FLT_MIN && factor > 0x1p-30f && factor < (bias ? 0.5f : 128)) ||
            (bias && !(fabsf(((const float *)bias->data)[c] / product) < 0x1p30f)))
            return false;
    }
    return true;
}

static bool is_whole(const struct tdl_node *conv, const struct tdl_quantization *in,
                     const struct tdl_quantization *out)
{
    struct tdl_operand *filter = conv->inputs[TDL_CONV_FILTER], *bias = bias_of(conv);
    float *scales = malloc(tdl_operand_dims(conv->output).c * sizeof(*scales));
    const bool ok = scales && tdl_operand_expand(filter) && (!bias || tdl_operand_expand(bias)) &&
                    tdl_quantized_scales(conv, scales) && is_in_range(conv, in, out, scales);
    tdl_operand_shrink(filter);
    if (bias)
        tdl_operand_shrink(bias);
    free(scales);
    return ok;
}

/* quantize(conv2d(dequantize(q))), of int8 both. */
static bool convolve_bytes(struct tdl_ir *ir, struct tdl_node *n)
{
    const struct tdl_node *from = n->op == &tdl_op_conv2d ? dequantizes(n->inputs[0]) : NULL;
    struct tdl_node *to = from ? tdl_ir_only_user(ir, n->output) : NULL;
    if (!to || !quantizes(to) || from->inputs[0]->desc.dtype != TDL_INT8 ||
        to->output->desc.dtype != TDL_INT8 || !is_plain_conv(n))
        return false;
    const struct tdl_quantized_conv_attr p = {n->attr.conv, from->attr.quantized.in[0],
                                              to->attr.quantized.out};
    if (!is_whole(n, &p.in, &p.out))
        return false;
    n->op = &tdl_op_quantized_conv2d;
    n->attr.quantized_conv = p;
    tdl_ir_set_input(ir, n, TDL_CONV_INPUT, from->inputs[0]);
    take_output(n, to);
    return true;
}

/* uint8 between two halves as int8: what both stand for stays what it is. (NaN, which is 0 in
 * bytes of both kinds, comes out as another number.) */
static void give_sign(struct tdl_node *n)
{
    const struct tdl_use *state = NULL;
    struct tdl_node *reader;
    if (!quantizes(n) || n->output->desc.dtype != TDL_UINT8 || n->output->is_output)
        return;
    while ((reader = tdl_ir_next_reader(n->output, &state)))
        if (reader->dead || !dequantizes(reader->output) || reader->inputs[0] != n->output)
            return;
    for (state = NULL; (reader = tdl_ir_next_reader(n->output, &state));)
        reader->attr.quantized.in[0].zero -= 128;
    n->output->desc.dtype = TDL_INT8;
    n->attr.quantized.out.zero -= 128;
}

/* Has it convolutions that are taken? Then they find int8. */
static bool has_convolutions(struct tdl_ir *ir, bool (*takes)(const struct tdl_node *conv))
{
    bool any = false;
    for (uint32_t i = 0; i < ir->node_count && takes && !any; i++) {
        const struct tdl_node *n = ir->nodes[i];
        any = n->op == &tdl_op_conv2d && is_plain_conv(n) && takes(n);
    }
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < ir->node_count && any && ir->indexed; i++)
        give_sign(ir->nodes[i]);
    return any;
}

typedef bool (*pattern_fn)(struct tdl_ir *ir, struct tdl_node *n);

/* True if something changed. */
static bool walk(struct tdl_ir *ir, const pattern_fn *patterns, size_t count)
{
    bool changed = false;
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < ir->node_count; i++)
        for (size_t p = 0; p < count; p++)
            if (!ir->nodes[i]->dead)
                changed |= patterns[p](ir, ir->nodes[i]);
    tdl_ir_sweep(ir);
    return changed;
}

static bool convolve_all(struct tdl_ir *ir, bool (*takes)(const struct tdl_node *conv))
{
    bool changed = false;
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < ir->node_count; i++)
        if (!ir->nodes[i]->dead && ir->nodes[i]->op == &tdl_op_conv2d && takes(ir->nodes[i]))
            changed |= convolve_bytes(ir, ir->nodes[i]);
    tdl_ir_sweep(ir);
    return changed;
}

/* What stands around the halves, until nothing changes. */
static void walk_all(struct tdl_ir *ir)
{
    static const pattern_fn around[] = {read_quantized, write_quantized, drop_requantize,
                                        join_bytes, move_bytes};
    enum { MAX_ROUNDS = 32 };
    for (uint32_t round = 0; round < MAX_ROUNDS && walk(ir, around, TDL_COUNT(around)); round++)
        continue;
}

/* All halves are found before any of their functions goes into another operator. */
enum tdl_result tdl_pass_quantize(struct tdl_ir *ir, bool (*takes)(const struct tdl_node *conv))
{
    static const pattern_fn halves[] = {find_quantize, find_dequantize};
    if (!walk(ir, halves, TDL_COUNT(halves)))
        return TDL_OK;
    const bool convolves = has_convolutions(ir, takes);
    walk_all(ir);
    if (convolves && convolve_all(ir, takes))
        walk_all(ir);
    const enum tdl_result r = tdl_ir_sort(ir);
    tdl_ir_dump(ir, "quantize");
    return r;
}
