/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of frames, tensors and masks, made before a device gets them. */
#ifndef TDL_FRAME_CHECK_H
#define TDL_FRAME_CHECK_H

#include "core.h"

#include "frame/format.h"

/* TDL_OK, or what is wrong with a frame that `what` names ("source"). Frames
 * that are written need offsets and strides that are multiples of 4. */
enum tdl_result tdl_frame_check(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                bool written, const char *what);
/* What source, target and params say is possible together. */
enum tdl_result tdl_compose_check(const struct tdl_frame *source, const struct tdl_frame *target,
                                  const struct tdl_compose_params *params);
/* UNSUPPORTED with text: of a device that has no frame steps. */
enum tdl_result tdl_fail_no_frames(const struct tdl_context *ctx);
/* As tdl_frame_check(), for a mask of tdl_compose(). */
enum tdl_result tdl_mask_check(const struct tdl_context *ctx, const struct tdl_tensor *mask);

#endif
