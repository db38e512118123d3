/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "places.h"

static struct tdl_places_part begin(const struct tdl_tensor_params *x,
                                    const struct tdl_tensor_params *indices, uint32_t rank)
{
    struct tdl_places_part s =
        tdl_places_part(.index_type = indices->dtype, .rank = rank, .named = 0, .tuple = 1,
                        .size = {0}, .span = {0}, .step = {0});
    _Static_assert(TDL_COUNT(s.size) == TDL_MAX_RANK, "dimensions");
    for (uint32_t d = 0; d < TDL_MAX_RANK; d++) {
        s.size[d] = d < rank ? x->shape[d] : 1;
        s.span[d] = s.step[d] = 1;
    }
    return s;
}

struct tdl_places_part tdl_places_of_tuples(const struct tdl_tensor_params *x,
                                            const struct tdl_tensor_params *indices, uint32_t batch)
{
    const uint32_t last = indices->rank - 1, tuple = indices->shape[last];
    struct tdl_places_part s = begin(x, indices, batch + tuple);
    s.tuple = tuple;
    for (uint32_t d = 0; d < batch; d++) {
        s.span[d] = x->shape[d];
        s.step[d] = (uint32_t)tdl_places_count(indices, d + 1, last);
    }
    for (uint32_t d = batch; d < s.rank; d++)
        s.named |= 1u << d;
    return s;
}

struct tdl_places_part tdl_places_along(const struct tdl_tensor_params *x,
                                        const struct tdl_tensor_params *indices, uint32_t axis)
{
    struct tdl_places_part s = begin(x, indices, x->rank);
    s.named = 1u << axis;
    for (uint32_t d = 0; d < x->rank; d++) {
        s.span[d] = indices->shape[d];
        s.step[d] = (uint32_t)tdl_places_count(indices, d + 1, x->rank);
    }
    return s;
}

size_t tdl_places_at(const struct tdl_places_part *s, const void *indices, size_t t)
{
    size_t place = 0, number = t * s->tuple;
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t at;
        if (s->named & 1u << d) {
            at = (int64_t)tdl_element_bits((enum tdl_dtype)s->index_type, indices, number++);
            if (at < 0)
                at += s->size[d];
            at = TDL_MIN(TDL_MAX(at, 0), (int64_t)s->size[d] - 1);
        } else {
            at = (int64_t)(t / s->step[d] % s->span[d]);
        }
        place = place * s->size[d] + (size_t)at;
    }
    return place;
}
