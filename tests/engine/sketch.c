/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sketch.h"

#include <ops/ops.h>

static struct tdl_dims dims(O o)
{
    return subject_dims(o);
}

O sketch_conv(S s, O x, uint32_t out, uint32_t k, uint32_t groups, enum tdl_activation activation)
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

O sketch_conv1(S s, O x)
{
    return sketch_conv(s, x, 4, 1, 1, TDL_ACTIVATION_NONE);
}

O sketch_conv3(S s, O x)
{
    return sketch_conv(s, x, 4, 3, 1, TDL_ACTIVATION_NONE);
}

O sketch_depthwise(S s, O x)
{
    return sketch_conv(s, x, dims(x).c, 3, dims(x).c, TDL_ACTIVATION_NONE);
}

O sketch_act(S s, O x, enum tdl_activation activation)
{
    return tdl_builder_activation(s->b, x, activation);
}

O sketch_relu(S s, O x)
{
    return sketch_act(s, x, TDL_ACTIVATION_RELU);
}

O sketch_add(S s, O x, O y)
{
    return tdl_builder_add(s->b, x, y);
}

O sketch_mul(S s, O x, O y)
{
    return tdl_builder_mul(s->b, x, y);
}

O sketch_pool(S s, O x)
{
    return tdl_builder_global_average_pool(s->b, x);
}

O sketch_resample(S s, O x, uint32_t size)
{
    struct tdl_resample2d_params p = {.mode = TDL_RESAMPLE_LINEAR, .size = {size, size}};
    return tdl_builder_resample2d(s->b, x, &p);
}

O sketch_input(S s, const char *name, uint32_t n, uint32_t h, uint32_t w, uint32_t c)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, n, h, w, c);
    return tdl_builder_input(s->b, name, &p);
}

O sketch_transpose(S s, O x)
{
    return tdl_builder_conv_transpose2d(
        s->b, x, subject_filter(s->b, &s->rng, 1, 2, 2, dims(x).c),
        &(struct tdl_conv_transpose2d_params){.stride = {2, 2}});
}

void sketch_output(S s, const char *name, O o)
{
    tdl_builder_output(s->b, name, o);
}

/* Passes may have changed inputs and options; the windows know how. */
static void check_windows(const struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node n = *ir->nodes[i];
        tdl_node_resolve(&n);
        CHECK(!memcmp(&n.window, &ir->nodes[i]->window, sizeof(n.window)),
              "node %u (%s) has a window of other inputs", i, n.op->name);
        CHECK(!n.op->resolve || (n.window.out[0] == tdl_operand_dims(n.output).h &&
                                 n.window.out[1] == tdl_operand_dims(n.output).w),
              "node %u (%s) makes %ux%u pixels", i, n.op->name, n.window.out[0], n.window.out[1]);
    }
}

void sketch_check_order(const struct tdl_ir *ir)
{
    bool *made = calloc(ir->operand_count, sizeof(*made));
    REQUIRE(made, "out of memory");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        made[i] = ir->operands[i]->kind != TDL_OPERAND_VALUE;
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        for (uint32_t j = 0; j < n->input_count; j++)
            CHECK(!n->inputs[j] || made[n->inputs[j]->id],
                  "node %u (%s) reads %u before it is made", i, n->op->name, n->inputs[j]->id);
        CHECK(!made[n->output->id], "value %u is made twice", n->output->id);
        CHECK(n->output->producer == n, "value %u has a wrong producer", n->output->id);
        made[n->output->id] = true;
        if (n->means) {
            CHECK(n->means->producer == n, "value %u has a wrong producer", n->means->id);
            made[n->means->id] = true;
        }
    }
    for (uint32_t i = 0; i < ir->output_count; i++)
        CHECK(made[ir->outputs[i]->id], "output %s is not made", ir->outputs[i]->name);
    free(made);
    check_windows(ir);
}
