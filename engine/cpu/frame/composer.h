/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State that lives between frames. At mask resolution: `state`, the smoothed mask of the last
 * frame and what it is held against; `pairs` and `grown`, guide and mask to be cleaned and
 * fitted; `lines`, the fits, and `coefficients`, which the full size reads; `runs`, the holes
 * and islands; `differences`, those of the foreground's colours. At reduced size: the blur's
 * pictures, or the means of fore- and background and the light. And the replacement picture in
 * the target's format and size. Works that are queued hold the buffers, so that a composer may
 * go, or see another size, before they have run.
 */
#ifndef TDL_CPU_COMPOSER_H
#define TDL_CPU_COMPOSER_H

#include "setup.h"

#include "core/kept_picture.h"

struct tdl_cpu_composer {
    struct tdl_composer base;

    uint32_t mask_width, mask_height;
    struct tdl_buffer *state, *pairs, *grown, *lines, *coefficients, *runs;
    struct tdl_buffer *differences; /* if there are any */
    bool have_state;                /* `state` holds a mask */

    uint32_t blur_width, blur_height; /* frame size that the buffer is for */
    uint32_t blur_pictures;           /* pictures it has room for, one behind the other */
    struct tdl_buffer *blur;

    struct tdl_kept_picture picture;
};

static inline struct tdl_cpu_composer *tdl_cpu_composer(struct tdl_composer *composer)
{
    return (struct tdl_cpu_composer *)composer;
}
static inline uint32_t *tdl_cpu_words(const struct tdl_buffer *buffer)
{
    return (uint32_t *)(void *)tdl_cpu_memory(buffer);
}

/* Make the buffers that a mask or a blur needs, if they are not there. Allocates when
 * a size is new. */
enum tdl_result tdl_cpu_composer_need_mask(struct tdl_cpu_composer *c, uint32_t width,
                                           uint32_t height);
enum tdl_result tdl_cpu_composer_need_colors(struct tdl_cpu_composer *c);
enum tdl_result tdl_cpu_composer_need_blur(struct tdl_cpu_composer *c, uint32_t width,
                                           uint32_t height, uint32_t pictures);

/* mask.c: from the mask, NULL if there is no new one, to coefficients. */
enum tdl_result tdl_cpu_add_mask(struct tdl_batch *batch, struct tdl_cpu_composer *c,
                                 const struct tdl_frame *source, struct tdl_tensor *mask,
                                 const struct tdl_compose_params *params);

/* regions.c: bytes that a mask's regions need while they are looked for, and the
 * looking. */
size_t tdl_cpu_regions_room(uint32_t width, uint32_t height);
void tdl_cpu_clean_regions(const struct tdl_cpu_regions *work);

#endif
