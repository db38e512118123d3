/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks whose picture has the frame's size: model-size=frame. */
#ifndef GST_TDL_FITTED_H
#define GST_TDL_FITTED_H

#include "gsttdlbegin.h"
#include "gsttdlinfer.h"

/* The model of `sources`, whose size is replaced, compiled for pictures of that size (width,
 * height). Blocking. NULL with `error`, or without when `begin` was cancelled. */
struct gst_tdl_infer *gst_tdl_fitted_load(struct tdl_context *context,
                                          struct gst_tdl_sources *sources, const gint size[2],
                                          struct gst_tdl_begin *begin, GError **error);

#endif
