/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fusion on small graphs, without a device. After it a graph is written as one
 * word a node, and a row of the table says which words must come out: for what
 * a pattern wants, and for what only looks like it.
 */
#include "sketch.h"

#include <compile/passes.h>
#include <ops/ops.h>

/* ------------------------------------------------------- graphs of the table */

#define RELU TDL_ACTIVATION_RELU
#define SIGMOID TDL_ACTIVATION_SIGMOID
#define NONE TDL_ACTIVATION_NONE

static struct tdl_dims dims(O o)
{
    return subject_dims(o);
}

#define GRAPH(name) static O name(S s)

/* Activation. */
GRAPH(conv_relu) { return sketch_relu(s, sketch_conv3(s, s->x)); }
GRAPH(add_relu) { return sketch_relu(s, sketch_add(s, s->x, sketch_input(s, "y", 1, 8, 8, 4))); }
GRAPH(pool_relu) { return sketch_relu(s, sketch_pool(s, s->x)); }
GRAPH(transpose_sigmoid) { return sketch_act(s, sketch_transpose(s, s->x), SIGMOID); }
GRAPH(two_activations) { return sketch_act(s, sketch_relu(s, sketch_conv3(s, s->x)), SIGMOID); }
static O per_channel(S s, O x) { return subject_bias(s->b, &s->rng, dims(x).c); }
static O one(S s, float v) { return subject_constant(s->b, 0, NULL, &v); }
GRAPH(conv_scale_shift)
{
    O x = sketch_conv3(s, s->x);
    x = sketch_mul(s, per_channel(s, x), x);
    return sketch_relu(s, sketch_add(s, x, per_channel(s, x)));
}
GRAPH(conv_constant_minus) { return tdl_builder_sub(s->b, one(s, 1), sketch_conv3(s, s->x)); }
GRAPH(conv_over_constant) { return tdl_builder_div(s->b, sketch_conv3(s, s->x), one(s, 3)); }
GRAPH(conv_relu_scale)
{
    return sketch_mul(s, sketch_relu(s, sketch_conv3(s, s->x)), one(s, 0.5f));
}
GRAPH(conv_relu_channels)
{
    O x = sketch_relu(s, sketch_conv3(s, s->x));
    return sketch_mul(s, x, per_channel(s, x));
}
GRAPH(chain_of_four)
{
    O x = tdl_builder_gelu(s->b, sketch_add(s, s->x, sketch_input(s, "y", 1, 8, 8, 4)));
    return tdl_builder_max(s->b, tdl_builder_leaky_relu(s->b, x, 0.1f), one(s, -1));
}
GRAPH(chain_of_integers)
{
    struct tdl_tensor_params p = {.dtype = TDL_INT32, .rank = 1, .shape = {7}};
    O x = tdl_builder_input(s->b, "i", &p);
    return tdl_builder_abs(s->b, tdl_builder_neg(s->b, sketch_add(s, x, x)));
}
GRAPH(chain_read_inside)
{
    O x = tdl_builder_exp(s->b, sketch_conv3(s, s->x));
    return sketch_add(s, tdl_builder_floor(s->b, x), x);
}
GRAPH(input_relu) { return sketch_relu(s, s->x); }
GRAPH(resample_relu) { return sketch_relu(s, sketch_resample(s, s->x, 16)); }
GRAPH(activation_of_output)
{
    O c = sketch_conv3(s, s->x);
    sketch_output(s, "middle", c);
    return sketch_relu(s, c);
}
GRAPH(activation_and_reader)
{
    O c = sketch_conv3(s, s->x);
    return sketch_mul(s, sketch_relu(s, c), c);
}

/* A scalar before or behind what cannot take it in. */
GRAPH(scalar_and_input) { return tdl_builder_sub(s->b, one(s, 1), s->x); }
GRAPH(input_and_scalar) { return tdl_builder_div(s->b, s->x, one(s, 3)); }
GRAPH(scalar_and_chain) { return sketch_relu(s, tdl_builder_min(s->b, one(s, 2), s->x)); }
GRAPH(scalar_behind_read)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, x, sketch_mul(s, one(s, 2), x));
}
GRAPH(scalar_that_widens)
{
    const uint32_t shape[] = {2, 1, 1, 1};
    const float v[] = {1, 2};
    return sketch_add(s, s->x, subject_constant(s->b, 4, shape, v));
}

/* hardSwish of operators: where the sixth stands, how the clamp is written, and in which
 * order. */
static O clamp(S s, O x, float least, float most)
{
    return tdl_builder_clamp(s->b, x, &least, &most);
}
static O relu6_plus(S s, O x, float v) { return clamp(s, sketch_add(s, x, one(s, v)), 0, 6); }
GRAPH(swish_sixth_first)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, sketch_mul(s, one(s, 1 / 6.0f), x), relu6_plus(s, x, 3));
}
GRAPH(swish_sixth_behind_x)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, relu6_plus(s, x, 3), sketch_mul(s, x, one(s, 1 / 6.0f)));
}
GRAPH(swish_sixth_of_clamp)
{
    O x = sketch_conv3(s, s->x), gate = clamp(s, sketch_add(s, one(s, 3), x), 0, 6);
    return sketch_mul(s, x, tdl_builder_div(s->b, gate, one(s, 6)));
}
GRAPH(swish_sixth_last)
{
    O x = sketch_conv3(s, s->x);
    return tdl_builder_div(s->b, sketch_mul(s, x, relu6_plus(s, x, 3)), one(s, 6));
}
GRAPH(swish_sixth_before_all)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, one(s, 1 / 6.0f), sketch_mul(s, relu6_plus(s, x, 3), x));
}
GRAPH(swish_of_min_max)
{
    O x = sketch_conv3(s, s->x), y = sketch_add(s, x, one(s, 3));
    y = tdl_builder_max(s->b, one(s, 0), tdl_builder_min(s->b, y, one(s, 6)));
    return sketch_mul(s, sketch_mul(s, one(s, 1 / 6.0f), y), x);
}
GRAPH(swish_of_half)
{
    O x = sketch_conv3(s, s->x), y = sketch_mul(s, one(s, 1 / 6.0f), x);
    return sketch_mul(s, clamp(s, sketch_add(s, one(s, 0.5f), y), 0, 1), x);
}
GRAPH(swish_of_hard_sigmoid)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, x, tdl_builder_hard_sigmoid(s->b, x, 1 / 6.0f, 0.5f));
}
GRAPH(swish_of_fifth)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, x, tdl_builder_hard_sigmoid(s->b, x, 0.2f, 0.5f));
}
GRAPH(swish_of_two)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, sketch_mul(s, x, one(s, 1 / 6.0f)), relu6_plus(s, x, 2));
}
GRAPH(swish_of_other)
{
    O x = sketch_conv3(s, s->x), y = sketch_conv3(s, x);
    return sketch_mul(s, sketch_mul(s, x, one(s, 1 / 6.0f)), relu6_plus(s, y, 3));
}

/* gelu of operators: where the half stands, and how the argument of erf is made. */
static O erf_of(S s, O x, float by) { return tdl_builder_erf(s->b, sketch_mul(s, x, one(s, by))); }
GRAPH(gelu_half_behind_x)
{
    O x = sketch_conv3(s, s->x), y = tdl_builder_div(s->b, x, one(s, 1.41421356f));
    O gate = sketch_add(s, tdl_builder_erf(s->b, y), one(s, 1));
    return sketch_mul(s, sketch_mul(s, x, one(s, 0.5f)), gate);
}
GRAPH(gelu_half_last)
{
    O x = sketch_conv3(s, s->x), gate = sketch_add(s, one(s, 1), erf_of(s, x, 0.70710678f));
    return sketch_mul(s, sketch_mul(s, gate, x), one(s, 0.5f));
}
GRAPH(gelu_half_of_erf)
{
    O x = sketch_conv3(s, s->x), half = sketch_mul(s, erf_of(s, x, 0.70710678f), one(s, 0.5f));
    return sketch_mul(s, x, sketch_add(s, half, one(s, 0.5f)));
}
GRAPH(gelu_of_one)
{
    O x = sketch_conv3(s, s->x), gate = sketch_add(s, one(s, 1), erf_of(s, x, 1));
    return sketch_mul(s, sketch_mul(s, x, one(s, 0.5f)), gate);
}
GRAPH(gelu_without_half)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, x, sketch_add(s, one(s, 1), erf_of(s, x, 0.70710678f)));
}
GRAPH(gelu_of_other)
{
    O x = sketch_conv3(s, s->x), y = sketch_conv3(s, x);
    O gate = sketch_add(s, one(s, 1), erf_of(s, y, 0.70710678f));
    return sketch_mul(s, sketch_mul(s, x, one(s, 0.5f)), gate);
}

/* swish of operators. */
GRAPH(swish_by_sigmoid)
{
    O x = sketch_conv3(s, s->x);
    return sketch_mul(s, x, sketch_act(s, x, SIGMOID));
}
GRAPH(swish_by_sigmoid_of_part)
{
    O x = sketch_conv3(s, s->x), gate = sketch_act(s, sketch_mul(s, one(s, 1.702f), x), SIGMOID);
    return sketch_mul(s, gate, x);
}
GRAPH(swish_of_sum)
{
    O x = sketch_conv3(s, s->x), gate = sketch_act(s, sketch_add(s, one(s, 1), x), SIGMOID);
    return sketch_mul(s, gate, x);
}

/* (1 - z) · x + z · y. */
static O mixed(S s, float one_minus, bool swap, bool reads_rest)
{
    O z = sketch_act(s, sketch_conv3(s, s->x), SIGMOID), y = sketch_conv3(s, s->x);
    O rest = tdl_builder_sub(s->b, one(s, one_minus), z);
    O kept = swap ? sketch_mul(s, s->x, rest) : sketch_mul(s, rest, s->x);
    O taken = swap ? sketch_mul(s, y, z) : sketch_mul(s, z, y);
    if (reads_rest)
        sketch_output(s, "rest", rest);
    return swap ? sketch_add(s, taken, kept) : sketch_add(s, kept, taken);
}
GRAPH(mix_by_gate) { return mixed(s, 1, false, false); }
GRAPH(mix_by_gate_swapped) { return mixed(s, 1, true, false); }
GRAPH(mix_of_two) { return mixed(s, 2, false, false); }
GRAPH(mix_read_inside) { return mixed(s, 1, false, true); }
GRAPH(mix_of_channels)
{
    O z = sketch_act(s, sketch_pool(s, s->x), SIGMOID), y = sketch_conv3(s, s->x);
    O kept = sketch_mul(s, tdl_builder_sub(s->b, one(s, 1), z), s->x);
    return sketch_add(s, kept, sketch_mul(s, z, y));
}

/* Slices that keep all of their input. */
static O slice_rows(S s, O x, uint32_t rows, int32_t step)
{
    return tdl_builder_slice(s->b, x,
                             &(struct tdl_slice_params){.start = {0, step < 0 ? rows - 1 : 0},
                                                        .size = {0, rows}, .step = {1, step}});
}
GRAPH(slice_of_all) { return sketch_relu(s, slice_rows(s, sketch_conv3(s, s->x), 8, 1)); }
GRAPH(slice_of_some) { return sketch_relu(s, slice_rows(s, sketch_conv3(s, s->x), 7, 1)); }
GRAPH(slice_backwards) { return sketch_relu(s, slice_rows(s, sketch_conv3(s, s->x), 8, -1)); }
GRAPH(slice_of_all_is_output) { return slice_rows(s, sketch_conv3(s, s->x), 8, 1); }
GRAPH(concat_of_one)
{
    O x = sketch_conv3(s, s->x);
    return sketch_relu(s, tdl_builder_concat(s->b, &x, 1, 3));
}

/* Resampling and 1×1. */
GRAPH(up_then_pointwise) { return sketch_conv1(s, sketch_resample(s, s->x, 16)); }
GRAPH(down_then_pointwise) { return sketch_conv1(s, sketch_resample(s, s->x, 4)); }
GRAPH(up_then_conv3) { return sketch_conv3(s, sketch_resample(s, s->x, 16)); }
GRAPH(up_then_relu_pointwise)
{
    return sketch_conv(s, sketch_resample(s, s->x, 16), 4, 1, 1, RELU);
}
GRAPH(up_read_twice)
{
    O up = sketch_resample(s, s->x, 16);
    sketch_output(s, "up", up);
    return sketch_conv1(s, up);
}

/* Gates. */
GRAPH(gate_two_layers)
{
    return sketch_conv(s, sketch_conv(s, sketch_pool(s, s->x), 2, 1, 1, RELU), 4, 1, 1, SIGMOID);
}
GRAPH(gate_one_layer) { return sketch_conv(s, sketch_pool(s, s->x), 4, 1, 1, SIGMOID); }
/* More weights than one workgroup reads in time. */
GRAPH(gate_of_many_weights)
{
    O wide = sketch_conv(s, s->x, 256, 1, 1, RELU);
    return sketch_conv(s, sketch_pool(s, wide), 256, 1, 1, SIGMOID);
}
GRAPH(gate_of_sum)
{
    return sketch_conv1(s, sketch_pool(s, sketch_add(s, s->x, sketch_input(s, "y", 1, 8, 8, 4))));
}
GRAPH(gate_of_broadcast_sum)
{
    return sketch_conv1(s, sketch_pool(s, sketch_add(s, s->x, sketch_input(s, "y", 1, 8, 1, 4))));
}
GRAPH(gate_of_relu_sum)
{
    return sketch_conv1(
        s, sketch_pool(s, sketch_relu(s, sketch_add(s, s->x, sketch_input(s, "y", 1, 8, 8, 4)))));
}
GRAPH(gate_of_read_sum)
{
    O sum = sketch_add(s, s->x, sketch_input(s, "y", 1, 8, 8, 4));
    sketch_output(s, "sum", sum);
    return sketch_conv1(s, sketch_pool(s, sum));
}
GRAPH(pool_read_twice)
{
    O p = sketch_pool(s, s->x);
    sketch_output(s, "pool", p);
    return sketch_conv1(s, p);
}
GRAPH(middle_read_twice)
{
    O m = sketch_conv1(s, sketch_pool(s, s->x));
    sketch_output(s, "middle", m);
    return sketch_conv1(s, m);
}
GRAPH(windowed_pool)
{
    return sketch_conv1(s, tdl_builder_average_pool2d(s->b, s->x,
                                               &(struct tdl_pool2d_params){.window = {2, 2}}));
}
GRAPH(pool_of_batch) { return sketch_conv1(s, sketch_pool(s, sketch_input(s, "y", 2, 8, 8, 4))); }
GRAPH(gate_with_input_bias)
{
    struct tdl_tensor_params p = {.rank = 1, .shape = {4}};
    return tdl_builder_conv2d(
        s->b, sketch_pool(s, s->x), subject_filter(s->b, &s->rng, 4, 1, 1, 4),
        &(struct tdl_conv2d_params){.bias = tdl_builder_input(s->b, "bias", &p)});
}

/* A gate's factor. */
GRAPH(gated) { return sketch_conv1(s, sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 4))); }
GRAPH(gated_from_left)
{
    return sketch_conv1(s, sketch_mul(s, sketch_input(s, "g", 1, 1, 1, 4), s->x));
}
GRAPH(gated_by_one_channel)
{
    return sketch_conv1(s, sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 1)));
}
GRAPH(gated_by_row)
{
    return sketch_conv1(s, sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 8, 4)));
}
GRAPH(gated_conv3)
{
    return sketch_conv3(s, sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 4)));
}
GRAPH(gated_batch)
{
    return sketch_conv1(
        s, sketch_mul(s, sketch_input(s, "y", 2, 8, 8, 4), sketch_input(s, "g", 1, 1, 1, 4)));
}
GRAPH(gated_batch_each)
{
    return sketch_conv1(
        s, sketch_mul(s, sketch_input(s, "y", 2, 8, 8, 4), sketch_input(s, "g", 2, 1, 1, 4)));
}
GRAPH(gated_relu)
{
    return sketch_conv1(s, sketch_relu(s, sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 4))));
}
GRAPH(gated_read_twice)
{
    O m = sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 4));
    return sketch_add(s, sketch_conv1(s, m), m);
}

/* Merges. */
static O merge(S s, uint32_t low, bool swap)
{
    O m = sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 4));
    O up = sketch_resample(s, sketch_input(s, "l", 1, low, low, 4), 8);
    return sketch_conv1(s, swap ? sketch_add(s, up, m) : sketch_add(s, m, up));
}
GRAPH(merged) { return merge(s, 4, false); }
GRAPH(merged_swapped) { return merge(s, 4, true); }
GRAPH(merged_without_gate)
{
    return sketch_conv1(
        s, sketch_add(s, s->x, sketch_resample(s, sketch_input(s, "l", 1, 4, 4, 4), 8)));
}
GRAPH(merged_and_read)
{
    O m = sketch_mul(s, s->x, sketch_input(s, "g", 1, 1, 1, 4));
    O sum = sketch_add(s, m, sketch_resample(s, sketch_input(s, "l", 1, 4, 4, 4), 8));
    sketch_output(s, "sum", sum);
    return sketch_conv1(s, sum);
}

/* Residuals. */
GRAPH(residual) { return sketch_add(s, sketch_conv3(s, s->x), s->x); }
GRAPH(residual_right) { return sketch_add(s, s->x, sketch_conv3(s, s->x)); }
GRAPH(residual_of_two)
{
    O c = sketch_conv3(s, s->x);
    return sketch_add(s, c, sketch_conv1(s, s->x));
}
GRAPH(residual_broadcast)
{
    return sketch_add(s, sketch_conv3(s, s->x), sketch_input(s, "y", 1, 1, 8, 4));
}
GRAPH(residual_of_itself)
{
    O c = sketch_conv3(s, s->x);
    return sketch_add(s, c, c);
}
GRAPH(residual_read)
{
    O c = sketch_conv3(s, s->x);
    sketch_output(s, "conv", c);
    return sketch_add(s, c, s->x);
}
GRAPH(residual_relu) { return sketch_relu(s, sketch_add(s, sketch_conv3(s, s->x), s->x)); }
GRAPH(residual_chain)
{
    O y = sketch_add(s, sketch_conv3(s, sketch_relu(s, sketch_conv3(s, s->x))), s->x);
    return sketch_add(s, sketch_conv3(s, y), y);
}

/* Expansion and depthwise. */
GRAPH(expanded) { return sketch_depthwise(s, sketch_conv(s, s->x, 12, 1, 1, RELU)); }
GRAPH(expanded_read)
{
    O e = sketch_conv1(s, s->x);
    sketch_output(s, "wide", e);
    return sketch_depthwise(s, e);
}
GRAPH(expanded_by_conv3) { return sketch_depthwise(s, sketch_conv3(s, s->x)); }
GRAPH(expanded_then_conv3) { return sketch_conv3(s, sketch_conv(s, s->x, 12, 1, 1, RELU)); }
GRAPH(expanded_own_residual)
{
    O e = sketch_conv1(s, s->x);
    return sketch_add(s, sketch_depthwise(s, e), e);
}

/* The end of one bottleneck and the expansion of the next. */
static O bottleneck_start(S s, O x)
{
    return sketch_depthwise(s, sketch_conv(s, x, 12, 1, 1, RELU));
}
GRAPH(ends_in_expansion) { return bottleneck_start(s, sketch_conv1(s, s->x)); }
GRAPH(ends_in_relu) { return bottleneck_start(s, sketch_conv(s, s->x, 4, 1, 1, RELU)); }
GRAPH(ends_in_conv3) { return bottleneck_start(s, sketch_conv3(s, s->x)); }
GRAPH(end_and_residual)
{
    return bottleneck_start(s, sketch_add(s, sketch_conv1(s, s->x), s->x));
}
GRAPH(end_read)
{
    O end = sketch_add(s, sketch_conv1(s, s->x), s->x);
    sketch_output(s, "end", end);
    return bottleneck_start(s, end);
}
GRAPH(end_of_many_pixels)
{
    return bottleneck_start(s, sketch_conv1(s, sketch_input(s, "y", 5, 64, 64, 4)));
}

/* Gates of what is made by tiles. */
static O gate_of(S s, O x)
{
    O middle = sketch_conv(s, sketch_pool(s, x), 2, 1, 1, RELU);
    return sketch_conv(s, middle, dims(x).c, 1, 1, SIGMOID);
}
GRAPH(gate_inside)
{
    O deep = bottleneck_start(s, s->x);
    return sketch_conv1(s, sketch_mul(s, deep, gate_of(s, deep)));
}
GRAPH(gate_inside_next)
{
    O deep = bottleneck_start(s, s->x);
    return bottleneck_start(s, sketch_conv1(s, sketch_mul(s, deep, gate_of(s, deep))));
}
GRAPH(gate_of_input) { return sketch_conv1(s, sketch_mul(s, s->x, gate_of(s, s->x))); }
GRAPH(gate_of_batch)
{
    O y = sketch_input(s, "y", 2, 8, 8, 4);
    return sketch_conv1(s, sketch_mul(s, y, gate_of(s, y)));
}
GRAPH(gate_of_parts)
{
    O y = sketch_conv3(s, sketch_input(s, "y", 1, 32, 32, 4));
    return sketch_conv1(s, sketch_mul(s, y, gate_of(s, y)));
}
/* The fused kernel for many pixels reads means that exist already. */
static O gated_twice(S s, uint32_t size)
{
    O x = sketch_input(s, "y", 1, size, size, 4), g = sketch_input(s, "g", 1, 1, 1, 4);
    O y = sketch_conv1(s, sketch_mul(s, x, g));
    return sketch_conv1(s, sketch_mul(s, y, gate_of(s, y)));
}
GRAPH(gate_of_gated) { return gated_twice(s, 32); }
GRAPH(gate_of_gated_few) { return gated_twice(s, 16); }
GRAPH(gate_read)
{
    O deep = bottleneck_start(s, s->x), gate = gate_of(s, deep);
    sketch_output(s, "gate", gate);
    return sketch_conv1(s, sketch_mul(s, deep, gate));
}
GRAPH(gate_of_mixed)
{
    O a = sketch_input(s, "a", 1, 8, 8, 4), b = sketch_conv1(s, bottleneck_start(s, s->x));
    return sketch_conv1(s, sketch_mul(s, a, gate_of(s, sketch_add(s, a, sketch_relu(s, b)))));
}
/* A bottleneck that is not taken in one, as somebody else reads what is inside. */
static O open_bottleneck(S s)
{
    O inside = bottleneck_start(s, s->x);
    sketch_output(s, "inside", inside);
    return sketch_conv1(s, inside);
}
GRAPH(gate_of_mixed_sum)
{
    O a = sketch_input(s, "a", 1, 16, 16, 4), b = open_bottleneck(s);
    O up = tdl_builder_resample2d(s->b, b, &(struct tdl_resample2d_params){
                                               .mode = TDL_RESAMPLE_LINEAR, .size = {16, 16}});
    O gate = gate_of(s, sketch_add(s, a, up));
    return sketch_conv1(s, sketch_add(s, sketch_mul(s, a, gate), up));
}

/* A merge of what a 1×1 makes for it alone. */
static O merge_up(S s, O x, O low)
{
    O up = tdl_builder_resample2d(s->b, low, &(struct tdl_resample2d_params){
                                                 .mode = TDL_RESAMPLE_LINEAR, .size = {16, 16}});
    O gated = sketch_mul(s, x, sketch_input(s, "g", 1, 1, 1, 4));
    return bottleneck_start(s, sketch_add(s, gated, up));
}
GRAPH(merge_of_mixed)
{
    O a = sketch_input(s, "a", 1, 16, 16, 4);
    return merge_up(s, a, open_bottleneck(s));
}
GRAPH(merge_of_relu)
{
    return merge_up(s, sketch_input(s, "a", 1, 16, 16, 4), sketch_conv(s, s->x, 4, 1, 1, RELU));
}

/* Whole bottlenecks, and heads of masks. */
GRAPH(bottleneck) { return sketch_relu(s, sketch_conv1(s, bottleneck_start(s, s->x))); }
GRAPH(bottleneck_residual)
{
    return sketch_add(s, sketch_conv1(s, bottleneck_start(s, s->x)), s->x);
}
GRAPH(bottleneck_read) { return open_bottleneck(s); }
GRAPH(bottleneck_then_conv3) { return sketch_conv3(s, bottleneck_start(s, s->x)); }
GRAPH(bottleneck_of_many)
{
    O x = sketch_conv3(s, sketch_input(s, "many", 1, 8, 8, 80));
    return sketch_conv(s, sketch_depthwise(s, sketch_conv(s, x, 300, 1, 1, RELU)), 4, 1, 1, NONE);
}
GRAPH(bottleneck_behind_end) { return sketch_conv1(s, ends_in_expansion(s)); }
GRAPH(head_of_mask)
{
    O e = sketch_conv1(s, s->x);
    return sketch_transpose(s, sketch_add(s, sketch_depthwise(s, e), e));
}
GRAPH(head_of_two)
{
    O x = bottleneck_start(s, s->x);
    return tdl_builder_conv_transpose2d(s->b, x, subject_filter(s->b, &s->rng, 2, 2, 2, dims(x).c),
                                        &(struct tdl_conv_transpose2d_params){.stride = {2, 2}});
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
GRAPH(conv_norm) { return normalized(s, sketch_conv3(s, s->x)); }
GRAPH(conv_norm_relu) { return sketch_relu(s, normalized(s, sketch_conv3(s, s->x))); }
GRAPH(conv_relu_norm) { return normalized(s, sketch_relu(s, sketch_conv3(s, s->x))); }
GRAPH(norm_alone) { return sketch_relu(s, normalized(s, s->x)); }
GRAPH(transpose_norm) { return normalized(s, sketch_transpose(s, s->x)); }
GRAPH(grouped_transpose_norm)
{
    struct tdl_conv_transpose2d_params p = {.groups = 2, .stride = {2, 2}};
    return normalized(s, tdl_builder_conv_transpose2d(
                             s->b, s->x, subject_filter(s->b, &s->rng, 3, 3, 2, 4), &p));
}
GRAPH(conv_read_norm)
{
    O c = sketch_conv3(s, s->x);
    sketch_output(s, "middle", c);
    return normalized(s, c);
}
GRAPH(pad_conv) { return sketch_conv3(s, padded(s, s->x, 0)); }
GRAPH(pad_value_conv) { return sketch_conv3(s, padded(s, s->x, 1)); }
GRAPH(pad_mean)
{
    struct tdl_pool2d_params p = {.window = {2, 3}, .stride = {2, 2}};
    return tdl_builder_average_pool2d(s->b, padded(s, s->x, 0), &p);
}
GRAPH(pad_whole) { return tdl_builder_global_average_pool(s->b, padded(s, s->x, 0)); }
GRAPH(pad_max) { return max_pool(s, padded(s, s->x, 0)); }
GRAPH(relu_pad_max) { return max_pool(s, padded(s, sketch_relu(s, sketch_conv3(s, s->x)), 0)); }
GRAPH(pad_read)
{
    O p = padded(s, s->x, 0);
    sketch_output(s, "padded", p);
    return sketch_conv3(s, p);
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
    ROW(scalar_and_input, "identity.linear"),
    ROW(input_and_scalar, "identity.div"),
    ROW(scalar_and_chain, "identity.clamp.relu"),
    ROW(scalar_behind_read, "conv2d identity.linear mul"),
    ROW(scalar_that_widens, "add"),
    ROW(swish_sixth_first, "conv2d.hardSwish"),
    ROW(swish_sixth_behind_x, "conv2d.hardSwish"),
    ROW(swish_sixth_of_clamp, "conv2d.hardSwish"),
    ROW(swish_sixth_last, "conv2d.hardSwish"),
    ROW(swish_sixth_before_all, "conv2d.hardSwish"),
    ROW(swish_of_min_max, "conv2d.hardSwish"),
    ROW(swish_of_half, "conv2d.hardSwish"),
    ROW(swish_of_hard_sigmoid, "conv2d.hardSwish"),
    ROW(gelu_half_behind_x, "conv2d.gelu"),
    ROW(gelu_half_last, "conv2d.gelu"),
    ROW(gelu_half_of_erf, "conv2d.gelu"),
    ROW(gelu_of_one, "conv2d identity.linear.erf.linear identity.linear mul"),
    ROW(gelu_without_half, "conv2d identity.linear.erf.linear mul"),
    ROW(gelu_of_other, "conv2d conv2d.erf.linear identity.linear mul"),
    ROW(swish_by_sigmoid, "conv2d.swish"),
    ROW(swish_by_sigmoid_of_part, "conv2d.swish"),
    ROW(swish_of_sum, "conv2d identity.linear.sigmoid mul"),
    ROW(swish_of_fifth, "conv2d hardSigmoid mul"),
    ROW(swish_of_two, "conv2d identity.linear.clamp identity.linear mul"),
    ROW(swish_of_other, "conv2d conv2d.relu6 identity.linear mul"),
    ROW(mix_by_gate, "conv2d.sigmoid conv2d sub mul add"),
    ROW(mix_by_gate_swapped, "conv2d.sigmoid conv2d sub mul add"),
    ROW(mix_of_two, "conv2d.sigmoid conv2d identity.linear mul mul add"),
    ROW(mix_read_inside, "conv2d.sigmoid conv2d identity.linear mul mul add"),
    ROW(mix_of_channels,
        "averagePool2d.sigmoid conv2d identity.linear mul mul add"),
    ROW(slice_of_all, "conv2d.relu"),
    ROW(slice_of_some, "conv2d slice relu"),
    ROW(slice_backwards, "conv2d slice relu"),
    ROW(slice_of_all_is_output, "conv2d slice"),
    ROW(concat_of_one, "conv2d.relu"),
    ROW(up_then_pointwise, "conv2d resample2d"),
    ROW(down_then_pointwise, "resample2d conv2d"),
    ROW(up_then_conv3, "resample2d conv2d"),
    ROW(up_then_relu_pointwise, "resample2d conv2d.relu"),
    ROW(up_read_twice, "resample2d conv2d"),
    ROW(gate_two_layers, "squeezeExcite(2).relu.sigmoid"),
    ROW(gate_one_layer, "squeezeExcite(1).sigmoid"),
    ROW(gate_of_many_weights, "conv2d.relu averagePool2d conv2d.sigmoid"),
    ROW(gate_of_sum, "squeezeExcite(1,sum)"),
    ROW(gate_of_broadcast_sum, "add squeezeExcite(1)"),
    ROW(gate_of_relu_sum, "add.relu squeezeExcite(1)"),
    ROW(gate_of_read_sum, "add squeezeExcite(1)"),
    ROW(pool_read_twice, "averagePool2d conv2d"),
    ROW(middle_read_twice, "squeezeExcite(1) conv2d"),
    ROW(windowed_pool, "averagePool2d conv2d"),
    ROW(pool_of_batch, "squeezeExcite(1)"),
    ROW(gate_with_input_bias, "reshape squeezeExcite(1) add"),
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
    ROW(pad_whole, "averagePool2d"),
    ROW(pad_max, "pad maxPool2d"),
    ROW(relu_pad_max, "conv2d.relu maxPool2d"),
    ROW(pad_read, "pad conv2d"),
    GPU(expanded, "expandDepthwise"),
    GPU(expanded_read, "conv2d conv2d"),
    GPU(expanded_by_conv3, "conv2d conv2d"),
    GPU(expanded_then_conv3, "conv2d.relu conv2d"),
    GPU(expanded_own_residual, "expandDepthwise"),
    ROW(ends_in_expansion, "conv2d conv2d.relu conv2d"),
    GPU(ends_in_expansion, "expandDepthwise"),
    GPU(ends_in_relu, "conv2d.relu expandDepthwise"),
    GPU(ends_in_conv3, "conv2d expandDepthwise"),
    GPU(end_and_residual, "expandDepthwise(joined)"),
    GPU(end_read, "conv2d+residual expandDepthwise(joined)"),
    GPU(end_of_many_pixels, "conv2d expandDepthwise"),
    ROW(gate_inside, "conv2d.relu conv2d squeezeExcite(2).relu.sigmoid conv2d(gate)"),
    GPU(gate_inside, "expandDepthwise(means) squeezeExcite(2,inside).relu.sigmoid conv2d(gate)"),
    GPU(gate_inside_next, "expandDepthwise(means) squeezeExcite(2,inside).relu.sigmoid "
                          "expandDepthwise"),
    GPU(gate_of_input, "squeezeExcite(2,inside).relu.sigmoid conv2d(gate)"),
    GPU(gate_of_batch, "squeezeExcite(2,inside).relu.sigmoid conv2d(gate)"),
    GPU(gate_of_parts,
        "conv2d averagePool2d squeezeExcite(2,inside).relu.sigmoid conv2d(gate)"),
    GPU(gate_of_gated, "conv2d(gate)(means) squeezeExcite(2,inside).relu.sigmoid conv2d(gate)"),
    GPU(gate_of_gated_few, "conv2d(gate) squeezeExcite(2,inside).relu.sigmoid conv2d(gate)"),
    GPU(gate_read, "expandDepthwise(means) squeezeExcite(2).relu.sigmoid conv2d(gate)"),
    GPU(gate_of_mixed, "bottleneck(means) squeezeExcite(2,sum,inside).relu.sigmoid conv2d(gate)"),
    GPU(merge_of_mixed, "expandDepthwise expandDepthwise(joined)"),
    GPU(merge_of_relu, "conv2d.relu expandDepthwise"),
    GPU(gate_of_mixed_sum, "expandDepthwise(means) conv2d "
                           "squeezeExcite(2,joined,inside).relu.sigmoid conv2d(merge)"),
    ROW(bottleneck, "conv2d.relu conv2d conv2d.relu"),
    GPU(bottleneck, "bottleneck"),
    GPU(bottleneck_residual, "bottleneck"),
    GPU(bottleneck_read, "expandDepthwise conv2d"),
    GPU(bottleneck_then_conv3, "expandDepthwise conv2d"),
    GPU(bottleneck_of_many, "conv2d expandDepthwise conv2d"),
    GPU(bottleneck_behind_end, "bottleneck"),
    ROW(head_of_mask, "conv2d conv2d+residual convTranspose2d"),
    GPU(head_of_mask, "bottleneck"),
    GPU(head_of_two, "expandDepthwise convTranspose2d"),
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
        append(text, size, n->means ? "(means)" : "");
    } else if (n->op == &tdl_op_squeeze_excite) {
        append(text, size, n->attr.gate.layers == 2 ? "(2" : "(1");
        if (n->inputs[TDL_GATE_INPUT2])
            append(text, size, n->attr.gate.joined ? ",joined" : ",sum");
        append(text, size, n->attr.gate.inside ? ",inside)" : ")");
        for (int i = 0; i < 2; i++)
            append_activation(text, size, n->attr.gate.activation[i]);
    } else if (n->op == &tdl_op_expand_depthwise || n->op == &tdl_op_bottleneck) {
        append(text, size, n->attr.expand.joined ? "(joined)" : "");
        append(text, size, n->means ? "(means)" : "");
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

static void check_fusions(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sketch s = {.rng = {i}};
        char text[256] = "";
        check_begin("fuse: %s%s", rows[i].name, rows[i].gpu ? " on a GPU" : "");
        OK(check_builder(NULL, &s.b));
        s.x = sketch_input(&s, "x", 1, 8, 8, 4);
        sketch_output(&s, "result", rows[i].build(&s));
        REQUIRE(tdl_builder_status(s.b) == TDL_OK, "%s", tdl_builder_error(s.b));
        struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
        OK(tdl_pass_fold(ir));
        OK(tdl_pass_labels(ir));
        OK(tdl_pass_fuse(ir, rows[i].gpu));
        for (uint32_t k = 0; k < ir->node_count; k++)
            append_node(text, sizeof(text), ir->nodes[k]);
        CHECK(!strcmp(text, rows[i].want), "\"%s\" instead of \"%s\"", text, rows[i].want);
        sketch_check_order(ir);
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
    OK(check_builder(NULL, &s.b));
    O x = s.x = sketch_input(&s, "x", 1, 2, 2, 4);
    for (int i = 0; i < 64; i++)
        x = sketch_add(&s, sketch_conv3(&s, x), sketch_conv1(&s, x));
    sketch_output(&s, "y", x);
    OK(tdl_builder_status(s.b));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    OK(tdl_pass_labels(ir));
    OK(tdl_pass_fuse(ir, false));
    CHECK(ir->node_count == 128, "%u nodes are left of 192", ir->node_count);
    sketch_check_order(ir);
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

int main(void)
{
    check_fusions();
    check_deep_graph();
    return check_result();
}
