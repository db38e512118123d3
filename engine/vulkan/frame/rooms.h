/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A composer's buffers as this device has them: `bits`, `labels` and `regions`, a mask's holes
 * and islands; the blur's two intermediate pictures, which means and light have, too, and its
 * result. Behind the coefficients lie the differences of the foreground's colours, and behind
 * these the means of fore- and background and the light.
 */
#ifndef TDL_VULKAN_FRAME_ROOMS_H
#define TDL_VULKAN_FRAME_ROOMS_H

#include "bind.h"

#include "core/composer.h"
#include "core/tensor.h"
#include "frame/color.h"

/* Of tdl_composer.own and tdl_composer.blur. */
enum { TDL_VK_BITS, TDL_VK_LABELS, TDL_VK_REGIONS };
enum { TDL_VK_SUMS, TDL_VK_SWEPT, TDL_VK_BLURRED };

/* Room behind the coefficients, for the differences and for so many small pictures. What lies
 * there is copied by the batch where it moves. */
enum tdl_result tdl_composer_need_room(struct tdl_composer *c, struct tdl_batch *batch, bool colors,
                                       const struct tdl_frame *source, uint32_t pictures);
/* Bytes from the first coefficient to the first small picture. */
size_t tdl_composer_small_offset(const struct tdl_composer *c);

#endif
