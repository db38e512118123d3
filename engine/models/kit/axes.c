/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Axes as files name them, and shapes with a dimension more or fewer. */
#include "kit.h"

bool tdl_kit_axis(struct tdl_kit *kit, int64_t axis, uint32_t rank, uint32_t *out)
{
    const int64_t place = axis < 0 ? axis + rank : axis;

    if (place < 0 || place >= rank)
        return tdl_kit_damaged(kit, "there is no axis %lld in %u dimensions", (long long)axis,
                               rank);
    *out = (uint32_t)place;
    return true;
}

bool tdl_kit_axes(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                  uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (!tdl_kit_axis(kit, list[i], rank, &out[i]))
            return false;
    return true;
}

bool tdl_kit_axis_bits(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                       uint32_t *out)
{
    uint32_t axis = 0;

    *out = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!tdl_kit_axis(kit, list[i], rank, &axis))
            return false;
        *out |= 1u << axis;
    }
    return true;
}

bool tdl_kit_reduce_axes(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                         struct tdl_reduce_params *out)
{
    uint32_t bits;

    if (!tdl_kit_axis_bits(kit, list, count, rank, &bits))
        return false;
    out->axis_count = 0;
    for (uint32_t d = 0; d < rank; d++)
        if (bits >> d & 1)
            out->axes[out->axis_count++] = d;
    return true;
}

bool tdl_kit_permutation(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                         uint32_t *out)
{
    uint32_t bits;

    if (count != rank)
        return tdl_kit_damaged(kit, "a permutation of %u for %u dimensions", count, rank);
    if (!tdl_kit_axis_bits(kit, list, count, rank, &bits) ||
        !tdl_kit_axes(kit, list, count, rank, out))
        return false;
    return bits == (1u << rank) - 1 ||
           tdl_kit_damaged(kit, "a permutation names a dimension twice");
}

uint32_t tdl_kit_without(const struct tdl_tensor_params *in, uint32_t bits, uint32_t *out)
{
    uint32_t rank = 0;

    for (uint32_t d = 0; d < in->rank; d++)
        if (!(bits >> d & 1))
            out[rank++] = in->shape[d];
    return rank;
}

bool tdl_kit_squeeze(struct tdl_kit *kit, const struct tdl_tensor_params *in, const int64_t *list,
                     uint32_t count, uint32_t *out, uint32_t *out_rank)
{
    uint32_t gone;

    if (!tdl_kit_axis_bits(kit, list, count, in->rank, &gone))
        return false;
    for (uint32_t d = 0; d < in->rank; d++) {
        if (!count && in->shape[d] == 1)
            gone |= 1u << d;
        else if ((gone >> d & 1) && in->shape[d] != 1)
            return tdl_kit_damaged(kit, "dimension %u has %u elements, not one", d, in->shape[d]);
    }
    *out_rank = tdl_kit_without(in, gone, out);
    return true;
}

bool tdl_kit_with(struct tdl_kit *kit, const struct tdl_tensor_params *in, int64_t axis,
                  uint32_t *out_axis, uint32_t *out)
{
    if (in->rank >= TDL_MAX_RANK)
        return tdl_kit_lacks(kit, "more than %d dimensions", TDL_MAX_RANK);
    if (!tdl_kit_axis(kit, axis, in->rank + 1, out_axis))
        return false;
    for (uint32_t d = 0; d <= in->rank; d++)
        out[d] = d < *out_axis ? in->shape[d] : d == *out_axis ? 1 : in->shape[d - 1];
    return true;
}
