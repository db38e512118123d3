/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places that indices name: of gatherND, scatterND and scatterElements. */
#ifndef TDL_PLACES_H
#define TDL_PLACES_H

#include "move.h"

/*
 * Index number t, a tuple of `tuple` numbers, is an element of a shape `size`. In the
 * dimensions that `named` has bits for, the tuple says where; the others go in step with
 * the indices: there the coordinate is t / step % span.
 *
 * `struct tdl_places_part` has the constants of shaders/common/places.glsl.
 */

/* The indices' last dimension is a tuple for the dimensions of x behind the first
 * `batch`, which go in step. */
struct tdl_places_part tdl_places_of_tuples(const struct tdl_tensor_params *x,
                                            const struct tdl_tensor_params *indices,
                                            uint32_t batch);
/* All dimensions of the indices go in step, but for the axis. */
struct tdl_places_part tdl_places_along(const struct tdl_tensor_params *x,
                                        const struct tdl_tensor_params *indices, uint32_t axis);
/* The place of tuple t, among the product of `size`. */
size_t tdl_places_at(const struct tdl_places_part *spec, const void *indices, size_t t);

/* Elements of the dimensions from `from` up to `to`. */
static inline size_t tdl_places_count(const struct tdl_tensor_params *p, uint32_t from, uint32_t to)
{
    size_t count = 1;
    for (uint32_t i = from; i < to; i++)
        count *= p->shape[i];
    return count;
}

#endif
