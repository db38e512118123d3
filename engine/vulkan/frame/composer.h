/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State that lives between frames. At mask resolution: `state`, the smoothed mask of the last
 * frame and what it is held against; `pairs` and `grown`, guide and mask to be cleaned and
 * fitted; `bits`, `labels` and `regions`, its holes and islands; `lines`, the fits; and
 * `coefficients`, which the full size reads, with the differences of the foreground's colours
 * behind them, and the means of fore- and background and the light behind these. At reduced
 * size: the blur's two intermediate pictures, which means and light have, too, and its result.
 * And the replacement picture in the target's format and size.
 */
#ifndef TDL_FRAME_COMPOSER_H
#define TDL_FRAME_COMPOSER_H

#include "bind.h"

#include "frame/color.h"
#include "core/kept_picture.h"
#include "core/tensor.h"

struct tdl_vk_composer {
    struct tdl_composer base;

    uint32_t mask_width, mask_height;
    struct tdl_buffer *state, *pairs, *grown, *bits, *labels, *regions, *lines, *coefficients;
    bool have_state;  /* `state` holds a mask */
    bool have_colors; /* `coefficients` have room for differences */
    size_t coefficient_bytes;

    uint32_t blur_width, blur_height; /* of the frames that the buffers are for */
    uint32_t blur_pictures;           /* that they have room for, one behind the other */
    struct tdl_buffer *sums, *swept, *blurred;

    struct tdl_kept_picture picture;

    struct tdl_buffer *scratch; /* bound where nothing is read or written */
};

static inline struct tdl_vk_composer *tdl_vk_composer(const struct tdl_composer *composer)
{
    return (struct tdl_vk_composer *)composer;
}

/* Make the buffers that a mask or a blur needs, if they are not there. Allocates
 * device memory when a size is new. */
enum tdl_result tdl_composer_need_mask(struct tdl_vk_composer *c, uint32_t width, uint32_t height);
enum tdl_result tdl_composer_need_blur(struct tdl_vk_composer *c, uint32_t width, uint32_t height,
                                       uint32_t pictures);
/* Room behind the coefficients, for the differences and for so many small pictures. What lies
 * there is copied by the batch where it moves. */
enum tdl_result tdl_composer_need_room(struct tdl_vk_composer *c, struct tdl_batch *batch,
                                       bool colors, const struct tdl_frame *source,
                                       uint32_t pictures);
/* Bytes from the first coefficient to the first small picture. */
size_t tdl_composer_small_offset(const struct tdl_vk_composer *c);

#endif
