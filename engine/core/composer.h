/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lives between frames. At mask resolution: `state`, the smoothed mask of the last
 * frame and what it is held against; `pairs` and `grown`, guide and mask to be cleaned and
 * fitted; `lines`, the fits; `coefficients`, which the full size reads; and buffers of the
 * device's own. At reduced size: the blur's pictures, or the means of fore- and background
 * and the light. And the replacement picture in the target's format and size. Works that
 * are queued hold the buffers, so that a composer may go, or see another size, before they
 * have run.
 */
#ifndef TDL_COMPOSER_H
#define TDL_COMPOSER_H

#include "kept_picture.h"

struct tdl_composer {
    struct tdl_context *ctx;
    struct tdl_mask_part part; /* the last new mask's */
    /* The target that the foreground's colours of that mask came for; its format is 0 where
     * they did not. A device finds in `more` what counts. */
    struct tdl_frame colors_for;

    uint32_t mask_width, mask_height;
    struct tdl_buffer *state, *pairs, *grown, *lines, *coefficients; /* 4 bytes a pixel or more */
    /* As tdl_device.composer_mask has them. Those that it does not have are the device's to
     * make and the core's to drop. */
    struct tdl_buffer *own[TDL_COMPOSER_ROOMS];
    bool have_state;  /* `state` holds a mask */
    bool have_colors; /* the device has made room for the foreground's colours; it sets this */

    uint32_t blur_width, blur_height;            /* of the frames that the buffers are for */
    uint32_t blur_pictures;                      /* that they have room for, one behind the other */
    struct tdl_buffer *blur[TDL_COMPOSER_ROOMS]; /* as tdl_device.composer_blur has them */

    struct tdl_kept_picture picture;
    struct tdl_buffer *scratch; /* a device's, while it prepares */
};

/* Make a buffer of a composer's own, cleared where the device wants that. */
enum tdl_result tdl_composer_buffer(struct tdl_composer *composer, size_t size, const char *name,
                                    struct tdl_buffer **out_buffer);

#endif
