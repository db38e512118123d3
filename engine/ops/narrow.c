/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows.h"

void tdl_narrow(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *from,
                struct tdl_operand *to)
{
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "narrow", to->desc.dtype, n, 64, 1, 1);
    if (s)
        s->macs = 0; /* sizes of the step before */
    const struct tdl_narrow_spec spec =
        tdl_narrow_spec(.type = to->desc.dtype, .count = (uint32_t)tdl_operand_count(to));
    TDL_PLAN_SPECS(s, narrow, spec);
    tdl_plan_read(s, 0, from);
    tdl_plan_write(s, 1, to);
    tdl_plan_linear_groups(s, to);
}
