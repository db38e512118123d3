/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between linear memory (a bound tensor, a value, a constant) and the graph's
 * packs; made by the layout pass. */
#include "ops.h"

struct strides {
    uint32_t channel, pixel, group, image; /* elements */
};

/* The places of the plain side's elements, which may be packs themselves. */
static struct strides strides_of(bool packs, enum tdl_layout layout, struct tdl_dims d)
{
    uint32_t pixels = d.h * d.w;
    if (packs)
        return (struct strides){1, 4, 4 * pixels, 4 * pixels * tdl_packs(d.c)};
    if (layout == TDL_LAYOUT_NCHW)
        return (struct strides){pixels, 1, 4 * pixels, pixels * d.c};
    return (struct strides){1, d.c, 4, pixels * d.c};
}

bool tdl_is_between_widths(const struct tdl_node *n)
{
    const struct tdl_operand *from = n->inputs[0], *to = n->output;
    return from->storage == TDL_STORAGE_PACKED && to->storage == TDL_STORAGE_PACKED &&
           !from->external && !to->external && from->wide != to->wide;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_operand *from = n->inputs[0], *to = n->output;
    struct tdl_dims d = tdl_operand_dims(to);
    const bool between = tdl_is_between_widths(n);
    bool to_packs = between ? from->wide : to->storage == TDL_STORAGE_PACKED,
         half = !between && from->desc.dtype == TDL_FLOAT16;
    /* The side that is not the graph's own packs. A value of lower rank is read
     * in the order of the images it goes to. */
    const struct tdl_operand *plain = to_packs ? from : to;
    const struct strides stride = strides_of(between || plain->bound.packing, to->layout, d);
    uint32_t pixels = d.h * d.w, local = 64, packs = tdl_packs(d.c);
    uint64_t count = (uint64_t)d.n * pixels * d.c;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "repack", n, local, 1, 1);
    const struct tdl_repack_spec spec =
        tdl_repack_spec(.to_packs = to_packs, .channels = d.c, .pixels = pixels,
                        .channel_stride = stride.channel, .pixel_stride = stride.pixel,
                        .group_stride = stride.group, .image_stride = stride.image, .half = half,
                        .count = (uint32_t)count);
    TDL_PLAN_SPECS(s, repack, spec);
    tdl_plan_read(s, to_packs ? 0 : 1, from);
    tdl_plan_write(s, to_packs ? 3 : 2, to);
    if (half && !to_packs)
        tdl_plan_linear_groups(s, to);
    else
        tdl_plan_groups(s, TDL_DIV_UP(pixels, local), packs, d.n);
    return plan->status;
}

const struct tdl_op tdl_op_repack = {.name = "repack", .lower = lower};
