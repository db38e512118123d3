/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between a bound tensor or a constant and the graph's own packs; made by the
 * layout pass. */
#include "ops.h"

#include <string.h>

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    const float *constant = tdl_constant_data(n->inputs[0]);
    bool to_packs = constant || n->inputs[0]->external;
    struct tdl_operand *plain = to_packs ? n->inputs[0] : n->output;
    uint32_t pixels = d.h * d.w, local = 64, packs = tdl_packs(d.c);
    struct {
        uint32_t channel, pixel, group, image;
    } stride = {1, d.c, 4, pixels * d.c}; /* floats; NHWC */
    if (plain->desc.layout == TDL_LAYOUT_NCHW) {
        stride.channel = pixels;
        stride.pixel = 1;
        stride.group = 4 * pixels;
    } else if (plain->desc.layout == TDL_LAYOUT_NC4HW4) {
        stride.pixel = 4;
        stride.group = 4 * pixels;
        stride.image = 4 * pixels * packs;
    }
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "convert", n, local, 1, 1);
    const uint32_t values[] = {to_packs,     d.c,          pixels,      stride.channel,
                               stride.pixel, stride.group, stride.image};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    if (constant) {
        uint64_t count = (uint64_t)d.n * pixels * d.c;
        float *w = tdl_plan_weights(plan, s, 0, count);
        if (w)
            memcpy(w, constant, count * sizeof(float));
    } else {
        tdl_plan_read(s, to_packs ? 0 : 1, n->inputs[0]);
    }
    tdl_plan_write(s, to_packs ? 3 : 2, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), packs, d.n);
    return plan->status;
}

const struct tdl_op tdl_op_convert = {.name = "convert", .lower = lower};
