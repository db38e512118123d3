/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A composer's buffers as this device has them: `runs`, the holes and islands;
 * `differences`, those of the foreground's colours; and one for the small pictures.
 */
#ifndef TDL_CPU_FRAME_ROOMS_H
#define TDL_CPU_FRAME_ROOMS_H

#include "setup.h"

#include "core/composer.h"

/* Of tdl_composer.own; the latter is made with the first colours. */
enum { TDL_CPU_RUNS, TDL_CPU_DIFFERENCES };

static inline uint32_t *tdl_cpu_words(const struct tdl_buffer *buffer)
{
    return (uint32_t *)(void *)tdl_cpu_memory(buffer);
}

/* mask.c: from the mask, NULL if there is no new one, to coefficients. */
enum tdl_result tdl_cpu_add_mask(struct tdl_batch *batch, const struct tdl_composer *c,
                                 const struct tdl_frame *source, struct tdl_tensor *mask,
                                 const struct tdl_compose_params *params);

/* regions.c: bytes that a mask's regions need while they are looked for, and the
 * looking. */
size_t tdl_cpu_regions_room(uint32_t width, uint32_t height, uint32_t pictures);
void tdl_cpu_clean_regions(const struct tdl_cpu_regions *work);

#endif
