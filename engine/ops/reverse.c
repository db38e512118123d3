/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN reverse: a slice that runs backwards. */
#include "ir/builder.h"
#include "ops.h"

struct tdl_operand *tdl_builder_reverse(struct tdl_builder *b, struct tdl_operand *input,
                                        uint32_t axis_count, const uint32_t *axes)
{
    struct tdl_slice_params p = {0};
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    if (!input || input->ir != b->ir || (axis_count && !axes))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "reverse: the input or the list of axes is missing, or of another "
                                "builder");
    const uint32_t rank = input->desc.rank;
    for (uint32_t i = 0; i < rank; i++)
        p.step[i] = axis_count ? 1 : -1;
    for (uint32_t i = 0; i < axis_count; i++) {
        if (axes[i] >= rank || p.step[axes[i]] < 0)
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "reverse: axis %u of %s; each is below the rank, and given "
                                    "once",
                                    axes[i], tdl_operand_text(input));
        p.step[axes[i]] = -1;
    }
    for (uint32_t i = 0; i < rank; i++)
        p.start[i] = p.step[i] < 0 ? input->desc.shape[i] - 1 : 0;
    return tdl_builder_slice(b, input, &p);
}
