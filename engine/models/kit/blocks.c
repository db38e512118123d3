/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow's SpaceToBatchND and BatchToSpaceND, without their borders. */
#include "kit.h"

#include <string.h>

/* [n, h·b, w·b, c] → [n, h, b, w, b, c] → [b, b, n, h, w, c] → [b·b·n, h, w, c], or the same
 * backwards. */
struct tdl_operand *tdl_kit_exchange_blocks(struct tdl_kit *kit, struct tdl_operand *x,
                                            const uint32_t *block, uint32_t spatial, bool back)
{
    const struct tdl_tensor_params in = *tdl_kit_desc(x);
    uint32_t apart[TDL_MAX_RANK], order[TDL_MAX_RANK], shape[TDL_MAX_RANK], blocks = 1;

    if (spatial < 1 || in.rank < 1 + spatial || in.rank + spatial > TDL_MAX_RANK)
        return tdl_kit_lacks_none(
            kit, "blocks along %u of %u dimensions; libtdl has those of images", spatial, in.rank);
    for (uint32_t i = 0; i < spatial; i++)
        blocks *= block[i];
    memcpy(shape, in.shape, sizeof(shape));
    shape[0] = back ? in.shape[0] / blocks : in.shape[0] * blocks;
    apart[back ? spatial : 0] = back ? shape[0] : in.shape[0];
    order[back ? 0 : spatial] = back ? spatial : 0;
    for (uint32_t i = 0; i < spatial; i++) {
        shape[1 + i] = back ? in.shape[1 + i] * block[i] : in.shape[1 + i] / block[i];
        apart[back ? i : 2 + 2 * i] = block[i];
        apart[back ? spatial + 1 + i : 1 + 2 * i] = back ? in.shape[1 + i] : shape[1 + i];
        order[back ? 2 + 2 * i : i] = back ? i : 2 + 2 * i;
        order[back ? 1 + 2 * i : spatial + 1 + i] = back ? spatial + 1 + i : 1 + 2 * i;
    }
    for (uint32_t d = 1 + spatial; d < in.rank; d++) {
        apart[d + spatial] = in.shape[d];
        order[d + spatial] = d + spatial;
    }
    x = tdl_builder_reshape(kit->builder, x, in.rank + spatial, apart);
    x = x ? tdl_builder_transpose(kit->builder, x, order) : NULL;
    return x ? tdl_builder_reshape(kit->builder, x, in.rank, shape) : NULL;
}
