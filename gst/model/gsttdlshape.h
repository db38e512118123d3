/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of a model's picture that follow the frame's shape: "~512x288". */
#ifndef GST_TDL_SHAPE_H
#define GST_TDL_SHAPE_H

#include "settings/gsttdlsettings.h"

/* Most that a model's picture has on a side, px. */
#define GST_TDL_MODEL_SIDE 8192

/* TRUE where "model-size" says so. */
gboolean gst_tdl_shape_follows(const gchar *model_size);
/* As many pixels as `size` (width, height) in frames of `aspect`, width to height as they are
 * seen; 0: not known yet, and what most cameras send. Sides are multiples of 16 px, as networks
 * halve their picture. In place. */
void gst_tdl_shape_fit(gdouble size[2], gdouble aspect);

#endif
