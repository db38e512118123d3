/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN split: a slice for each part, since a node has one output. */
#include "ir/builder.h"
#include "ops.h"

enum tdl_result tdl_builder_split(struct tdl_builder *b, struct tdl_operand *input, uint32_t count,
                                  const uint32_t *sizes, uint32_t axis,
                                  struct tdl_operand **out_parts)
{
    uint64_t total = 0;
    for (uint32_t i = 0; out_parts && i < count; i++)
        out_parts[i] = NULL;
    if (tdl_builder_status(b) != TDL_OK)
        return tdl_builder_status(b);
    if (!input || input->ir != b->ir || !out_parts || !count || axis >= input->desc.rank) {
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "split: the input or the list of parts is missing, or axis %u too large",
                         axis);
        return tdl_builder_status(b);
    }
    const uint32_t whole = input->desc.shape[axis];
    for (uint32_t i = 0; sizes && i < count; i++)
        total += sizes[i];
    if (sizes ? total != whole : whole % count != 0)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "split: %u parts do not make up dimension %u of %s", count, axis,
                         tdl_operand_text(input));
    struct tdl_slice_params p = {0};
    for (uint32_t i = 0; i < count && tdl_builder_status(b) == TDL_OK; i++) {
        p.size[axis] = sizes ? sizes[i] : whole / count;
        if (!p.size[axis]) {
            tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "split: part %u is empty", i);
            break;
        }
        out_parts[i] = tdl_builder_slice(b, input, &p);
        p.start[axis] += p.size[axis];
    }
    return tdl_builder_status(b);
}
