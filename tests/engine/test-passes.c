/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The compiler's passes on small graphs, without a device. After fuse a graph
 * is written as one word a node, and a row of the table says which words must
 * come out: for what a pattern wants, and for what only looks like it.
 */
#include "random-graph.h"

#include <ops/ops.h>

#include <unistd.h>

/* ------------------------------------------------------- graphs of the table */

struct sketch {
    struct tdl_builder *b;
    struct rng rng;
    struct tdl_operand *x; /* 8×8×4 */
};
typedef struct sketch *S;
typedef struct tdl_operand *O;

#define RELU TDL_ACTIVATION_RELU
#define SIGMOID TDL_ACTIVATION_SIGMOID
#define NONE TDL_ACTIVATION_NONE

static struct tdl_dims dims(O o)
{
    return tdl_operand_dims(o);
}

static O conv(S s, O x, uint32_t out, uint32_t k, uint32_t groups, enum tdl_activation activation)
{
    return tdl_builder_conv2d(s->b, x,
                              subject_filter(s->b, &s->rng, out, k, k, dims(x).c / groups),
                              &(struct tdl_conv2d_params){
                                  .padding = TDL_PADDING_SAME_UPPER,
                                  .groups = groups,
                                  .activation = activation,
                                  .bias = subject_bias(s->b, &s->rng, out),
                              });
}

static O conv1(S s, O x)
{
    return conv(s, x, 4, 1, 1, NONE);
}

static O conv3(S s, O x)
{
    return conv(s, x, 4, 3, 1, NONE);
}

static O depthwise(S s, O x)
{
    return conv(s, x, dims(x).c, 3, dims(x).c, NONE);
}

static O act(S s, O x, enum tdl_activation activation)
{
    return tdl_builder_activation(s->b, x, activation);
}

static O relu(S s, O x)
{
    return act(s, x, RELU);
}

static O add(S s, O x, O y)
{
    return tdl_builder_add(s->b, x, y);
}

static O mul(S s, O x, O y)
{
    return tdl_builder_mul(s->b, x, y);
}

static O pool(S s, O x)
{
    return tdl_builder_global_average_pool(s->b, x);
}

static O resample(S s, O x, uint32_t size)
{
    struct tdl_resample2d_params p = {.mode = TDL_RESAMPLE_LINEAR, .size = {size, size}};
    return tdl_builder_resample2d(s->b, x, &p);
}

static O input(S s, const char *name, uint32_t n, uint32_t h, uint32_t w, uint32_t c)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, n, h, w, c);
    return tdl_builder_input(s->b, name, &p);
}

static O transpose(S s, O x)
{
    return tdl_builder_conv_transpose2d(
        s->b, x, subject_filter(s->b, &s->rng, 1, 2, 2, dims(x).c),
        &(struct tdl_conv_transpose2d_params){.stride = {2, 2}});
}

static void out(S s, const char *name, O o)
{
    tdl_builder_output(s->b, name, o);
}

#define GRAPH(name) static O name(S s)

/* Activation. */
GRAPH(conv_relu) { return relu(s, conv3(s, s->x)); }
GRAPH(add_relu) { return relu(s, add(s, s->x, input(s, "y", 1, 8, 8, 4))); }
GRAPH(pool_relu) { return relu(s, pool(s, s->x)); }
GRAPH(transpose_sigmoid) { return act(s, transpose(s, s->x), SIGMOID); }
GRAPH(two_activations) { return act(s, relu(s, conv3(s, s->x)), SIGMOID); }
static O per_channel(S s, O x) { return subject_bias(s->b, &s->rng, dims(x).c); }
static O one(S s, float v) { return subject_constant(s->b, 0, NULL, &v); }
GRAPH(conv_scale_shift)
{
    O x = conv3(s, s->x);
    x = mul(s, per_channel(s, x), x);
    return relu(s, add(s, x, per_channel(s, x)));
}
GRAPH(conv_constant_minus) { return tdl_builder_sub(s->b, one(s, 1), conv3(s, s->x)); }
GRAPH(conv_over_constant) { return tdl_builder_div(s->b, conv3(s, s->x), one(s, 3)); }
GRAPH(conv_relu_scale) { return mul(s, relu(s, conv3(s, s->x)), one(s, 0.5f)); }
GRAPH(conv_relu_channels)
{
    O x = relu(s, conv3(s, s->x));
    return mul(s, x, per_channel(s, x));
}
GRAPH(chain_of_four)
{
    O x = tdl_builder_gelu(s->b, add(s, s->x, input(s, "y", 1, 8, 8, 4)));
    return tdl_builder_max(s->b, tdl_builder_leaky_relu(s->b, x, 0.1f), one(s, -1));
}
GRAPH(chain_of_integers)
{
    struct tdl_tensor_params p = {.dtype = TDL_INT32, .rank = 1, .shape = {7}};
    O x = tdl_builder_input(s->b, "i", &p);
    return tdl_builder_abs(s->b, tdl_builder_neg(s->b, add(s, x, x)));
}
GRAPH(chain_read_inside)
{
    O x = tdl_builder_exp(s->b, conv3(s, s->x));
    return add(s, tdl_builder_floor(s->b, x), x);
}
GRAPH(input_relu) { return relu(s, s->x); }
GRAPH(resample_relu) { return relu(s, resample(s, s->x, 16)); }
GRAPH(activation_of_output)
{
    O c = conv3(s, s->x);
    out(s, "middle", c);
    return relu(s, c);
}
GRAPH(activation_and_reader)
{
    O c = conv3(s, s->x);
    return mul(s, relu(s, c), c);
}

/* Resampling and 1×1. */
GRAPH(up_then_pointwise) { return conv1(s, resample(s, s->x, 16)); }
GRAPH(down_then_pointwise) { return conv1(s, resample(s, s->x, 4)); }
GRAPH(up_then_conv3) { return conv3(s, resample(s, s->x, 16)); }
GRAPH(up_then_relu_pointwise) { return conv(s, resample(s, s->x, 16), 4, 1, 1, RELU); }
GRAPH(up_read_twice)
{
    O up = resample(s, s->x, 16);
    out(s, "up", up);
    return conv1(s, up);
}

/* Gates. */
GRAPH(gate_two_layers)
{
    return conv(s, conv(s, pool(s, s->x), 2, 1, 1, RELU), 4, 1, 1, SIGMOID);
}
GRAPH(gate_one_layer) { return conv(s, pool(s, s->x), 4, 1, 1, SIGMOID); }
GRAPH(gate_of_sum) { return conv1(s, pool(s, add(s, s->x, input(s, "y", 1, 8, 8, 4)))); }
GRAPH(gate_of_broadcast_sum) { return conv1(s, pool(s, add(s, s->x, input(s, "y", 1, 8, 1, 4)))); }
GRAPH(gate_of_relu_sum)
{
    return conv1(s, pool(s, relu(s, add(s, s->x, input(s, "y", 1, 8, 8, 4)))));
}
GRAPH(gate_of_read_sum)
{
    O sum = add(s, s->x, input(s, "y", 1, 8, 8, 4));
    out(s, "sum", sum);
    return conv1(s, pool(s, sum));
}
GRAPH(pool_read_twice)
{
    O p = pool(s, s->x);
    out(s, "pool", p);
    return conv1(s, p);
}
GRAPH(middle_read_twice)
{
    O m = conv1(s, pool(s, s->x));
    out(s, "middle", m);
    return conv1(s, m);
}
GRAPH(windowed_pool)
{
    return conv1(s, tdl_builder_average_pool2d(s->b, s->x,
                                               &(struct tdl_pool2d_params){.window = {2, 2}}));
}
GRAPH(pool_of_batch) { return conv1(s, pool(s, input(s, "y", 2, 8, 8, 4))); }
GRAPH(gate_with_input_bias)
{
    struct tdl_tensor_params p = {.rank = 1, .shape = {4}};
    return tdl_builder_conv2d(
        s->b, pool(s, s->x), subject_filter(s->b, &s->rng, 4, 1, 1, 4),
        &(struct tdl_conv2d_params){.bias = tdl_builder_input(s->b, "bias", &p)});
}

/* A gate's factor. */
GRAPH(gated) { return conv1(s, mul(s, s->x, input(s, "g", 1, 1, 1, 4))); }
GRAPH(gated_from_left) { return conv1(s, mul(s, input(s, "g", 1, 1, 1, 4), s->x)); }
GRAPH(gated_by_one_channel) { return conv1(s, mul(s, s->x, input(s, "g", 1, 1, 1, 1))); }
GRAPH(gated_by_row) { return conv1(s, mul(s, s->x, input(s, "g", 1, 1, 8, 4))); }
GRAPH(gated_conv3) { return conv3(s, mul(s, s->x, input(s, "g", 1, 1, 1, 4))); }
GRAPH(gated_batch)
{
    return conv1(s, mul(s, input(s, "y", 2, 8, 8, 4), input(s, "g", 1, 1, 1, 4)));
}
GRAPH(gated_batch_each)
{
    return conv1(s, mul(s, input(s, "y", 2, 8, 8, 4), input(s, "g", 2, 1, 1, 4)));
}
GRAPH(gated_relu) { return conv1(s, relu(s, mul(s, s->x, input(s, "g", 1, 1, 1, 4)))); }
GRAPH(gated_read_twice)
{
    O m = mul(s, s->x, input(s, "g", 1, 1, 1, 4));
    return add(s, conv1(s, m), m);
}

/* Merges. */
static O merge(S s, uint32_t low, bool swap)
{
    O m = mul(s, s->x, input(s, "g", 1, 1, 1, 4));
    O up = resample(s, input(s, "l", 1, low, low, 4), 8);
    return conv1(s, swap ? add(s, up, m) : add(s, m, up));
}
GRAPH(merged) { return merge(s, 4, false); }
GRAPH(merged_swapped) { return merge(s, 4, true); }
GRAPH(merged_without_gate)
{
    return conv1(s, add(s, s->x, resample(s, input(s, "l", 1, 4, 4, 4), 8)));
}
GRAPH(merged_and_read)
{
    O m = mul(s, s->x, input(s, "g", 1, 1, 1, 4));
    O sum = add(s, m, resample(s, input(s, "l", 1, 4, 4, 4), 8));
    out(s, "sum", sum);
    return conv1(s, sum);
}

/* Residuals. */
GRAPH(residual) { return add(s, conv3(s, s->x), s->x); }
GRAPH(residual_right) { return add(s, s->x, conv3(s, s->x)); }
GRAPH(residual_of_two)
{
    O c = conv3(s, s->x);
    return add(s, c, conv1(s, s->x));
}
GRAPH(residual_broadcast) { return add(s, conv3(s, s->x), input(s, "y", 1, 1, 8, 4)); }
GRAPH(residual_of_itself)
{
    O c = conv3(s, s->x);
    return add(s, c, c);
}
GRAPH(residual_read)
{
    O c = conv3(s, s->x);
    out(s, "conv", c);
    return add(s, c, s->x);
}
GRAPH(residual_relu) { return relu(s, add(s, conv3(s, s->x), s->x)); }
GRAPH(residual_chain)
{
    O y = add(s, conv3(s, relu(s, conv3(s, s->x))), s->x);
    return add(s, conv3(s, y), y);
}

/* Expansion and depthwise. */
GRAPH(expanded) { return depthwise(s, conv(s, s->x, 12, 1, 1, RELU)); }
GRAPH(expanded_read)
{
    O e = conv1(s, s->x);
    out(s, "wide", e);
    return depthwise(s, e);
}
GRAPH(expanded_by_conv3) { return depthwise(s, conv3(s, s->x)); }
GRAPH(expanded_then_conv3) { return conv3(s, conv(s, s->x, 12, 1, 1, RELU)); }
GRAPH(expanded_own_residual)
{
    O e = conv1(s, s->x);
    return add(s, depthwise(s, e), e);
}

/* Normalization behind a convolution, zeros before a window. */
static O normalized(S s, O x)
{
    uint32_t c = dims(x).c;
    float values[16];
    REQUIRE(c <= COUNT(values), "too many channels");
    for (uint32_t i = 0; i < c; i++)
        values[i] = rng_float(&s->rng, 0.5f, 2);
    return tdl_builder_batch_normalization(s->b, x, subject_bias(s->b, &s->rng, c),
                                           subject_constant(s->b, 1, &c, values), NULL);
}
static O padded(S s, O x, double value)
{
    return tdl_builder_pad(s->b, x, &(struct tdl_pad_params){.before = {0, 1, 2}, .value = value,
                                                             .after = {0, 1, 1}});
}
static O max_pool(S s, O x)
{
    return tdl_builder_max_pool2d(s->b, x, &(struct tdl_pool2d_params){.window = {3, 3}});
}
GRAPH(conv_norm) { return normalized(s, conv3(s, s->x)); }
GRAPH(conv_norm_relu) { return relu(s, normalized(s, conv3(s, s->x))); }
GRAPH(conv_relu_norm) { return normalized(s, relu(s, conv3(s, s->x))); }
GRAPH(norm_alone) { return relu(s, normalized(s, s->x)); }
GRAPH(transpose_norm) { return normalized(s, transpose(s, s->x)); }
GRAPH(grouped_transpose_norm)
{
    struct tdl_conv_transpose2d_params p = {.groups = 2, .stride = {2, 2}};
    return normalized(s, tdl_builder_conv_transpose2d(
                             s->b, s->x, subject_filter(s->b, &s->rng, 3, 3, 2, 4), &p));
}
GRAPH(conv_read_norm)
{
    O c = conv3(s, s->x);
    out(s, "middle", c);
    return normalized(s, c);
}
GRAPH(pad_conv) { return conv3(s, padded(s, s->x, 0)); }
GRAPH(pad_value_conv) { return conv3(s, padded(s, s->x, 1)); }
GRAPH(pad_mean)
{
    struct tdl_pool2d_params p = {.window = {2, 3}, .stride = {2, 2}};
    return tdl_builder_average_pool2d(s->b, padded(s, s->x, 0), &p);
}
GRAPH(pad_max) { return max_pool(s, padded(s, s->x, 0)); }
GRAPH(relu_pad_max) { return max_pool(s, padded(s, relu(s, conv3(s, s->x)), 0)); }
GRAPH(pad_read)
{
    O p = padded(s, s->x, 0);
    out(s, "padded", p);
    return conv3(s, p);
}

static const struct row {
    const char *name;
    O (*build)(S s);
    const char *want;
    bool gpu;
} rows[] = {
#define ROW(name, want) {#name, name, want, false}
#define GPU(name, want) {#name, name, want, true}
    ROW(conv_relu, "conv2d.relu"),
    ROW(add_relu, "add.relu"),
    ROW(pool_relu, "averagePool2d.relu"),
    ROW(transpose_sigmoid, "convTranspose2d.sigmoid"),
    ROW(two_activations, "conv2d.relu.sigmoid"),
    ROW(conv_scale_shift, "conv2d.relu"),
    ROW(conv_constant_minus, "conv2d.linear"),
    ROW(conv_over_constant, "conv2d"),
    ROW(conv_relu_scale, "conv2d.relu.linear"),
    ROW(conv_relu_channels, "conv2d.relu mul"),
    ROW(chain_of_four, "add.gelu.leakyRelu.clamp"),
    ROW(chain_of_integers, "add neg abs"),
    ROW(chain_read_inside, "conv2d.exp floor add"),
    ROW(input_relu, "relu"),
    ROW(resample_relu, "resample2d relu"),
    ROW(activation_of_output, "conv2d relu"),
    ROW(activation_and_reader, "conv2d relu mul"),
    ROW(up_then_pointwise, "conv2d resample2d"),
    ROW(down_then_pointwise, "resample2d conv2d"),
    ROW(up_then_conv3, "resample2d conv2d"),
    ROW(up_then_relu_pointwise, "resample2d conv2d.relu"),
    ROW(up_read_twice, "resample2d conv2d"),
    ROW(gate_two_layers, "squeezeExcite(2).relu.sigmoid"),
    ROW(gate_one_layer, "squeezeExcite(1).sigmoid"),
    ROW(gate_of_sum, "squeezeExcite(1,sum)"),
    ROW(gate_of_broadcast_sum, "add squeezeExcite(1)"),
    ROW(gate_of_relu_sum, "add.relu squeezeExcite(1)"),
    ROW(gate_of_read_sum, "add squeezeExcite(1)"),
    ROW(pool_read_twice, "averagePool2d conv2d"),
    ROW(middle_read_twice, "squeezeExcite(1) conv2d"),
    ROW(windowed_pool, "averagePool2d conv2d"),
    ROW(pool_of_batch, "averagePool2d conv2d"),
    ROW(gate_with_input_bias, "averagePool2d conv2d"),
    ROW(gated, "conv2d(gate)"),
    ROW(gated_from_left, "conv2d(gate)"),
    ROW(gated_by_one_channel, "mul conv2d"),
    ROW(gated_by_row, "mul conv2d"),
    ROW(gated_conv3, "mul conv2d"),
    ROW(gated_batch, "mul conv2d"),
    ROW(gated_batch_each, "conv2d(gate)"),
    ROW(gated_relu, "mul.relu conv2d"),
    ROW(gated_read_twice, "mul conv2d+residual"),
    ROW(merged, "conv2d(merge)"),
    ROW(merged_swapped, "conv2d(merge)"),
    ROW(merged_without_gate, "resample2d add conv2d"),
    ROW(merged_and_read, "mul resample2d add conv2d"),
    ROW(residual, "conv2d+residual"),
    ROW(residual_right, "conv2d+residual"),
    ROW(residual_of_two, "conv2d conv2d+residual"),
    ROW(residual_broadcast, "conv2d add"),
    ROW(residual_of_itself, "conv2d add"),
    ROW(residual_read, "conv2d add"),
    ROW(residual_relu, "conv2d add.relu"),
    ROW(residual_chain, "conv2d.relu conv2d+residual conv2d+residual"),
    ROW(expanded, "conv2d.relu conv2d"),
    ROW(conv_norm, "conv2d"),
    ROW(conv_norm_relu, "conv2d.relu"),
    ROW(conv_relu_norm, "conv2d.relu batchNormalization"),
    ROW(norm_alone, "batchNormalization"),
    ROW(transpose_norm, "convTranspose2d"),
    ROW(grouped_transpose_norm, "convTranspose2d"),
    ROW(conv_read_norm, "conv2d batchNormalization"),
    ROW(pad_conv, "conv2d"),
    ROW(pad_value_conv, "pad conv2d"),
    ROW(pad_mean, "averagePool2d"),
    ROW(pad_max, "pad maxPool2d"),
    ROW(relu_pad_max, "conv2d.relu maxPool2d"),
    ROW(pad_read, "pad conv2d"),
    GPU(expanded, "expandDepthwise"),
    GPU(expanded_read, "conv2d conv2d"),
    GPU(expanded_by_conv3, "conv2d conv2d"),
    GPU(expanded_then_conv3, "conv2d.relu conv2d"),
    GPU(expanded_own_residual, "expandDepthwise"),
};

/* ------------------------------------------------------------------ the table */

static void append(char *text, size_t size, const char *part)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", part);
}

static void append_activation(char *text, size_t size, enum tdl_activation activation)
{
    if (activation == NONE || activation == TDL_ACTIVATION_CHAIN)
        return;
    append(text, size, ".");
    append(text, size, tdl_activation_name(activation));
}

static void append_node(char *text, size_t size, const struct tdl_node *n)
{
    append(text, size, *text ? " " : "");
    append(text, size, n->op->name);
    if (n->op == &tdl_op_conv2d) {
        static const char *const pre[] = {"", "(gate)", "(merge)"};
        append(text, size, pre[n->attr.conv.pre]);
        append_activation(text, size, n->attr.conv.p.activation);
        if (n->input_count > TDL_CONV_RESIDUAL && n->inputs[TDL_CONV_RESIDUAL])
            append(text, size, "+residual");
    } else if (n->op == &tdl_op_squeeze_excite) {
        append(text, size, n->attr.gate.layers == 2 ? "(2" : "(1");
        append(text, size, n->inputs[TDL_GATE_INPUT2] ? ",sum)" : ")");
        for (int i = 0; i < 2; i++)
            append_activation(text, size, n->attr.gate.activation[i]);
    } else if (n->op == &tdl_op_average_pool2d) {
        append_activation(text, size, n->attr.pool.activation);
    } else if (n->op == &tdl_op_conv_transpose2d) {
        append_activation(text, size, n->attr.conv_transpose.activation);
    }
    for (uint32_t i = 0; i < n->chain.count; i++) {
        append(text, size, ".");
        append(text, size, tdl_function_name((enum tdl_function)n->chain.stages[i].function));
    }
}

/* Every value has one producer, made before it is read. */
static void check_order(const struct tdl_ir *ir)
{
    bool *made = calloc(ir->operand_count, sizeof(*made));
    REQUIRE(made, "out of memory");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        made[i] = ir->operands[i]->kind != TDL_OPERAND_VALUE;
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        for (uint32_t j = 0; j < n->input_count; j++)
            CHECK(!n->inputs[j] || made[n->inputs[j]->id], "node %u (%s) reads %u before it is made",
                  i, n->op->name, n->inputs[j]->id);
        CHECK(!made[n->output->id], "value %u is made twice", n->output->id);
        CHECK(n->output->producer == n, "value %u has a wrong producer", n->output->id);
        made[n->output->id] = true;
    }
    for (uint32_t i = 0; i < ir->output_count; i++)
        CHECK(made[ir->outputs[i]->id], "output %s is not made", ir->outputs[i]->name);
    free(made);
}

static void check_fusions(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sketch s = {.rng = {i}};
        char text[256] = "";
        check_begin("fuse: %s%s", rows[i].name, rows[i].gpu ? " on a GPU" : "");
        OK(tdl_builder_create(NULL, &s.b));
        s.x = input(&s, "x", 1, 8, 8, 4);
        out(&s, "result", rows[i].build(&s));
        REQUIRE(tdl_builder_status(s.b) == TDL_OK, "%s", tdl_builder_error(s.b));
        struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
        OK(tdl_pass_fold(ir));
        OK(tdl_pass_fuse(ir, rows[i].gpu));
        for (uint32_t k = 0; k < ir->node_count; k++)
            append_node(text, sizeof(text), ir->nodes[k]);
        CHECK(!strcmp(text, rows[i].want), "\"%s\" instead of \"%s\"", text, rows[i].want);
        check_order(ir);
        tdl_ir_destroy(&ir);
        tdl_builder_destroy(&s.b);
    }
}

/* Joins of two convolutions, each on the last join: a search along every path
 * would need 2^64 steps. */
static void check_deep_graph(void)
{
    struct sketch s = {.rng = {1}};
    check_begin("fuse: 64 joins of two branches");
    OK(tdl_builder_create(NULL, &s.b));
    O x = s.x = input(&s, "x", 1, 2, 2, 4);
    for (int i = 0; i < 64; i++)
        x = add(&s, conv3(&s, x), conv1(&s, x));
    out(&s, "y", x);
    OK(tdl_builder_status(s.b));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    OK(tdl_pass_fuse(ir, false));
    CHECK(ir->node_count == 128, "%u nodes are left of 192", ir->node_count);
    check_order(ir);
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

/* --------------------------------------------------------------- fold, layout */

static void check_fold(void)
{
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x3800, 0x4200}; /* 1 -2 0.5 3 */
    static const float want[] = {1, -2, 0.5f, 3};
    const struct tdl_tensor_params p = {.dtype = TDL_FLOAT16, .rank = 4, .shape = {1, 1, 1, 4}};
    struct sketch s = {.rng = {1}};
    check_begin("fold: a cast of a constant");
    OK(tdl_builder_create(NULL, &s.b));
    O x = input(&s, "x", 1, 2, 2, 4);
    O half = tdl_builder_constant(s.b, &p, halves, sizeof(halves));
    out(&s, "y", tdl_builder_conv2d(s.b, x, tdl_builder_cast(s.b, half, TDL_FLOAT32), NULL));
    OK(tdl_builder_status(s.b));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    OK(tdl_pass_fold(ir));
    REQUIRE(ir->node_count == 1 && ir->nodes[0]->op == &tdl_op_conv2d, "the cast is still there");
    const float *data = tdl_constant_data(ir->nodes[0]->inputs[TDL_CONV_FILTER]);
    REQUIRE(data, "the filter is not a constant");
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK(data[i] == want[i], "value %zu is %g instead of %g", i, (double)data[i],
              (double)want[i]);
    /* The builder's own graph is as it was. */
    CHECK(tdl_builder_ir(s.b)->node_count == 2, "fold reached the builder's graph");
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

GRAPH(two_outputs)
{
    O c = conv3(s, s->x);
    out(s, "middle", c);
    return conv1(s, c);
}

static void check_layout(void)
{
    static const struct {
        const char *name;
        O (*build)(S s);
        enum tdl_layout layout;
        enum tdl_dtype storage;
        uint32_t converts;
    } cases[] = {
        {"NHWC in and out", conv_relu, TDL_LAYOUT_NHWC, TDL_FLOAT32, 2},
        {"packs in", conv_relu, TDL_LAYOUT_NC4HW4, TDL_FLOAT32, 1},
        {"float packs in, 16-bit inside", conv_relu, TDL_LAYOUT_NC4HW4, TDL_FLOAT16, 2},
        {"a mask written as it is", transpose_sigmoid, TDL_LAYOUT_NC4HW4, TDL_FLOAT32, 0},
        {"an output with a reader", two_outputs, TDL_LAYOUT_NHWC, TDL_FLOAT32, 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sketch s = {.rng = {i}};
        uint32_t converts = 0;
        check_begin("layout: %s", cases[i].name);
        OK(tdl_builder_create(NULL, &s.b));
        s.x = input(&s, "x", 1, 8, 8, 4);
        out(&s, "result", cases[i].build(&s));
        OK(tdl_builder_status(s.b));
        struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
        OK(tdl_pass_fuse(ir, false));
        OK(tdl_pass_layout(ir, &(struct tdl_build_params){.input_layout = cases[i].layout},
                           cases[i].storage));
        for (uint32_t k = 0; k < ir->node_count; k++)
            converts += ir->nodes[k]->op == &tdl_op_convert;
        CHECK(converts == cases[i].converts, "%u conversions instead of %u", converts,
              cases[i].converts);
        check_order(ir);
        CHECK(ir->inputs[0]->external && ir->inputs[0]->desc.dtype == TDL_FLOAT32 &&
                  ir->inputs[0]->bound.layout == cases[i].layout,
              "the input is not bound as asked");
        tdl_ir_destroy(&ir);
        tdl_builder_destroy(&s.b);
    }
}

/* ----------------------------------------------------------------------- plan */

static struct tdl_device_info device_of(bool gpu)
{
    return (struct tdl_device_info){
        .name = "imaginary",
        .type = gpu ? TDL_DEVICE_DISCRETE_GPU : TDL_DEVICE_CPU,
        .subgroup_size = gpu ? 32 : 8,
        .max_workgroup_invocations = 1024,
        .max_shared_memory = 32 << 10,
    };
}

/* Compile as far as goes without a device. */
static void plan_open(struct tdl_plan *plan, struct tdl_builder *b,
                      const struct tdl_device_info *device, bool fuse, enum tdl_dtype storage)
{
    *plan = (struct tdl_plan){.device = device, .storage = storage,
                              .ir = tdl_ir_clone(tdl_builder_ir(b))};
    REQUIRE(plan->ir, "out of memory");
    OK(tdl_pass_fold(plan->ir));
    if (fuse)
        OK(tdl_pass_fuse(plan->ir, device->type != TDL_DEVICE_CPU));
    check_order(plan->ir);
    OK(tdl_pass_layout(plan->ir, &(struct tdl_build_params){0}, storage));
    check_order(plan->ir);
    OK(tdl_plan_build(plan));
}

/* From the steps themselves, not from what the pass noted. */
static void find_life(const struct tdl_plan *plan, const struct tdl_operand *o, uint32_t *first,
                      uint32_t *last, bool *written)
{
    *first = UINT32_MAX;
    *last = 0;
    *written = false;
    for (uint32_t i = 0; i < plan->step_count; i++)
        for (uint32_t j = 0; j < TDL_MAX_BINDS; j++) {
            const struct tdl_plan_bind *bind = &plan->steps[i].binds[j];
            if (bind->kind != TDL_PLAN_BIND_OPERAND || bind->operand != o)
                continue;
            if (*first == UINT32_MAX) {
                *first = i;
                *written = bind->write;
            }
            *last = i;
        }
}

static void check_arena(const struct tdl_plan *plan)
{
    struct life {
        uint32_t first, last;
        bool written;
    } *lives = calloc(plan->ir->operand_count, sizeof(*lives));
    REQUIRE(lives, "out of memory");
    for (uint32_t i = 0; i < plan->ir->operand_count; i++) {
        const struct tdl_operand *a = plan->ir->operands[i];
        find_life(plan, a, &lives[i].first, &lives[i].last, &lives[i].written);
        if (lives[i].first == UINT32_MAX || a->external)
            continue;
        CHECK(lives[i].written, "operand %u is read before it is written", i);
        CHECK(a->offset % 256 == 0 && a->offset + a->size <= plan->arena_size,
              "operand %u is at %llu of %llu bytes", i, (unsigned long long)a->offset,
              (unsigned long long)plan->arena_size);
        for (uint32_t k = 0; k < i; k++) {
            const struct tdl_operand *b = plan->ir->operands[k];
            if (lives[k].first == UINT32_MAX || b->external || lives[k].last < lives[i].first ||
                lives[i].last < lives[k].first)
                continue;
            CHECK(a->offset + a->size <= b->offset || b->offset + b->size <= a->offset,
                  "operands %u and %u live at the same time in the same place", i, k);
        }
    }
    free(lives);
}

static void check_steps(const struct tdl_plan *plan)
{
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct tdl_plan_step *s = &plan->steps[i];
        CHECK(s->groups[0] && s->groups[1] && s->groups[2], "step %u (%s) has no work", i,
              s->shader);
        CHECK(s->spec_count < TDL_MAX_SPEC, "step %u (%s) has too many constants", i, s->shader);
        CHECK(s->spec[0] * s->spec[1] * s->spec[2] <= plan->device->max_workgroup_invocations,
              "step %u (%s): a workgroup of %ux%ux%u", i, s->shader, s->spec[0], s->spec[1],
              s->spec[2]);
        for (uint32_t j = 0; j < TDL_MAX_BINDS; j++)
            if (s->binds[j].kind == TDL_PLAN_BIND_WEIGHTS)
                CHECK(s->binds[j].offset % 256 == 0 &&
                          s->binds[j].offset + s->binds[j].size <=
                              plan->weight_count * sizeof(float),
                      "step %u (%s): weights outside", i, s->shader);
    }
}

static void check_random_plans(uint64_t count)
{
    for (uint64_t seed = 0; seed < count; seed++) {
        struct tdl_builder *b;
        OK(tdl_builder_create(NULL, &b));
        random_graph(b, seed);
        REQUIRE(tdl_builder_status(b) == TDL_OK, "%s", tdl_builder_error(b));
        for (int variant = 0; variant < 4; variant++) {
            struct tdl_plan plan;
            struct tdl_device_info device = device_of(variant & 2);
            check_begin("plan: seed %llu, variant %d", (unsigned long long)seed, variant);
            plan_open(&plan, b, &device, variant != 0, variant & 1 ? TDL_FLOAT16 : TDL_FLOAT32);
            check_arena(&plan);
            check_steps(&plan);
            tdl_plan_finish(&plan);
        }
        tdl_builder_destroy(&b);
    }
}

static void check_person_model(const char *folder, const char *name, uint32_t max_steps)
{
    char path[1024];
    struct tdl_builder *b;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    OK(tdl_builder_create(NULL, &b));
    if (access(path, R_OK) != 0) {
        printf("skipped: %s is not there; the set-up fetches it\n", path);
        exit(EXIT_SKIP);
    }
    OK(tdl_model_load(b, path));
    for (int variant = 0; variant < 4; variant++) {
        struct tdl_plan plan;
        struct tdl_device_info device = device_of(variant & 2);
        bool fuse = variant & 1;
        check_begin("plan: %s%s%s", name, fuse ? ", fused" : "", variant & 2 ? ", on a GPU" : "");
        plan_open(&plan, b, &device, fuse, TDL_FLOAT32);
        check_arena(&plan);
        check_steps(&plan);
        CHECK(plan.arena_size < plan.tensor_bytes / 2, "an arena of %llu bytes for %llu of values",
              (unsigned long long)plan.arena_size, (unsigned long long)plan.tensor_bytes);
        CHECK(!fuse || plan.step_count <= max_steps, "%u steps; %u were enough once",
              plan.step_count, max_steps);
        tdl_plan_finish(&plan);
    }
    tdl_builder_destroy(&b);
}

/* ------------------------------------------------------------------------- ir */

static void check_sort(void)
{
    struct sketch s = {.rng = {1}};
    check_begin("sort: nodes in the wrong order, and a cycle");
    OK(tdl_builder_create(NULL, &s.b));
    s.x = input(&s, "x", 1, 2, 2, 4);
    out(&s, "y", relu(&s, conv3(&s, relu(&s, s.x))));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    struct tdl_node *first = ir->nodes[0];
    ir->nodes[0] = ir->nodes[2];
    ir->nodes[2] = first;
    OK(tdl_ir_sort(ir));
    check_order(ir);
    ir->nodes[0]->inputs[0] = ir->nodes[2]->output;
    FAILS(tdl_ir_sort(ir), TDL_ERROR_INVALID_MODEL, "cycle");
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

static int check_person_models(void)
{
    const char *folder = getenv("TDL_TEST_MODELS");
    check_person_model(folder ? folder : "models", "selfie_segmentation.tflite", 50);
    check_person_model(folder ? folder : "models", "selfie_segmentation_landscape.tflite", 50);
    return check_result();
}

/* test-passes [models | number of random graphs] */
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "models"))
        return check_person_models();
    check_fusions();
    check_deep_graph();
    check_fold();
    check_layout();
    check_sort();
    check_random_plans(argc > 1 ? strtoull(argv[1], NULL, 0) : 500);
    return check_result();
}
