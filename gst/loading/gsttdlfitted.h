/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks that follow the frames: their picture has the frame's size (model-size=frame), or
 * they are the person model for frames of that shape. */
#ifndef GST_TDL_FITTED_H
#define GST_TDL_FITTED_H

#include "gsttdlfirstload.h"
#include "network/gsttdlinfer.h"

/* Is the network's picture to have the frame's size? */
gboolean gst_tdl_fitted_is_sized(const struct gst_tdl_sources *sources);

/* The model of `sources`, compiled for frames of that size (width, height) and of the aspect
 * that `sources` has. "frame" in `sources` is replaced by the size. Blocking. NULL with
 * `error`, or without when `first_load` was cancelled. */
struct gst_tdl_infer *gst_tdl_fitted_load(struct tdl_context *context,
                                          struct gst_tdl_sources *sources, const gint size[2],
                                          struct gst_tdl_first_load *first_load, GError **error);

#endif
