/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow's StridedSlice: Python's x[a:b:c, …, new, i]. */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

/* A place counted from the end where it is below 0, within what steps of that sign
 * can reach. */
static int64_t clamp_place(int64_t place, int64_t size, bool forwards)
{
    place += place < 0 ? size : 0;
    if (forwards)
        return place < 0 ? 0 : place > size ? size : place;
    return place < -1 ? -1 : place > size - 1 ? size - 1 : place;
}

/* How many elements entry `i` takes of a dimension of `size`; −1 with the builder in error. */
static int64_t take(struct tdl_kit *kit, const struct tdl_kit_places *e, uint32_t i, bool one,
                    int64_t size, struct tdl_slice_params *params, uint32_t d)
{
    const bool forwards = one || e->step[i] > 0;
    const int64_t step = one ? 1 : e->step[i];
    int64_t begin = clamp_place(e->begin[i], size, forwards);
    int64_t end = clamp_place(e->end[i], size, forwards);

    if (e->begin_mask >> i & 1 && !one)
        begin = forwards ? 0 : size - 1;
    if (e->end_mask >> i & 1)
        end = forwards ? size : -1;
    if (one)
        end = begin + 1;
    if (e->step[i] == 0 || llabs(e->step[i]) > INT32_MAX || (one && begin >= size)) {
        tdl_kit_damaged(kit, "element %lld of %lld, by steps of %lld", (long long)e->begin[i],
                        (long long)size, (long long)e->step[i]);
        return -1;
    }
    if (forwards ? end > begin : begin > end) {
        params->start[d] = (uint32_t)begin;
        params->size[d] = (uint32_t)llabs(end - begin);
        params->step[d] = (int32_t)step;
        return (params->size[d] + llabs(step) - 1) / llabs(step);
    }
    if (e->may_be_empty)
        return 0;
    tdl_kit_damaged(kit, "nothing is left of %lld elements from %lld to %lld by steps of %lld",
                    (long long)size, (long long)e->begin[i], (long long)e->end[i],
                    (long long)e->step[i]);
    return -1;
}

/* The dimensions that the entries are about; those that an ellipsis skips stay whole. */
bool tdl_kit_take_places(struct tdl_kit *kit, const struct tdl_kit_places *e,
                         const struct tdl_tensor_params *in, struct tdl_slice_params *params,
                         struct tdl_tensor_params *out)
{
    const uint32_t fresh = e->new_axis & ~e->ellipsis, gone = e->shrink & ~(e->ellipsis | fresh);
    uint32_t named = 0, dimension = 0;

    *out = (struct tdl_tensor_params){.dtype = in->dtype};
    for (uint32_t i = 0; i < e->count; i++)
        named += !((e->ellipsis | fresh) >> i & 1);
    for (uint32_t i = 0; i <= e->count; i++) {
        const bool end = i == e->count, skip = end || (e->ellipsis >> i & 1);
        int64_t count = 1;

        if (named > in->rank - dimension)
            return tdl_kit_damaged(kit, "%u places in %u dimensions", e->count, in->rank);
        uint32_t whole = skip ? in->rank - dimension - (end ? 0 : named) : 0;
        if (out->rank + whole + !skip > TDL_MAX_RANK)
            return tdl_kit_lacks(kit, "more than %d dimensions", TDL_MAX_RANK);
        for (; whole > 0; whole--)
            out->shape[out->rank++] = in->shape[dimension++];
        if (skip)
            continue;
        if (!(fresh >> i & 1)) {
            count = take(kit, e, i, gone >> i & 1, in->shape[dimension], params, dimension);
            dimension++;
            named--;
        }
        if (count < 0)
            return false;
        if (!(gone >> i & 1))
            out->shape[out->rank++] = (uint32_t)count;
    }
    return true;
}

struct tdl_operand *tdl_kit_slice_places(struct tdl_kit *kit, struct tdl_operand *x,
                                         const struct tdl_slice_params *params,
                                         const struct tdl_tensor_params *out)
{
    if (tdl_kit_rank(x) > 0)
        x = tdl_builder_slice(kit->builder, x, params);
    if (x && (out->rank != tdl_kit_rank(x) ||
              memcmp(out->shape, tdl_kit_shape(x), out->rank * sizeof(*out->shape)) != 0))
        x = tdl_builder_reshape(kit->builder, x, out->rank, out->shape);
    return x;
}
