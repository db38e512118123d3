/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between a bound NHWC or NCHW tensor and packs; made by the layout pass. */
#include "ops.h"

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    bool to_packs = n->inputs[0]->external;
    struct tdl_operand *plain = to_packs ? n->inputs[0] : n->output;
    bool nchw = plain->desc.layout == TDL_LAYOUT_NCHW;
    uint32_t pixels = d.h * d.w, local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "convert", n, local, 1, 1);
    const uint32_t values[] = {to_packs, d.c, pixels, nchw ? pixels : 1, nchw ? 1 : d.c};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, to_packs ? 0 : 1, n->inputs[0]);
    tdl_plan_write(s, to_packs ? 1 : 0, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), tdl_packs(d.c), d.n);
    return plan->status;
}

const struct tdl_op tdl_op_convert = {.name = "convert", .lower = lower};
