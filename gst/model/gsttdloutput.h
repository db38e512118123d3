/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks whose output is shown itself: mode=picture and mode=classes. */
#ifndef GST_TDL_OUTPUT_H
#define GST_TDL_OUTPUT_H

#include "caps/gsttdlcaps.h"
#include "settings/gsttdlsettings.h"

#define GST_TDL_MAX_COLORS 256 /* colours of classes; classes beyond have the last one's */

/* The output of mode=classes beside the picture: the class of each pixel, [1, h, w]
 * uint8. */
#define GST_TDL_CLASSES "tdl-classes"

/* Appends to an image of rank 4 what makes it shown: [1, h, w, C] float32, of 1 or 3
 * channels, or 4 with alpha, and makes GST_TDL_CLASSES an output. NULL when the builder has
 * failed. */
struct tdl_operand *gst_tdl_output_decode(struct tdl_builder *builder, struct tdl_operand *x,
                                          const struct gst_tdl_sources *sources);
/* "output-range": the numbers for black and white, or for background and foreground. FALSE:
 * it is no range. */
gboolean gst_tdl_output_range(const struct gst_tdl_sources *sources, gdouble out[2]);
/* The numbers of "output-range", and the colours of "palette". FALSE with `error`. */
gboolean gst_tdl_output_read(const struct gst_tdl_sources *sources,
                             struct tdl_frame_from_tensor_params *out, GError **error);

/* Colours of classes, 0xRRGGBB: `out` has room for GST_TDL_MAX_COLORS. Returns how many
 * the palette names, 0: none, and all were computed. */
guint gst_tdl_output_colors(const gchar *palette, guint32 *out);

/* Pure. */
struct gst_tdl_scale gst_tdl_output_scale(enum gst_tdl_output output,
                                          const struct tdl_tensor_params *in,
                                          const struct tdl_tensor_params *made);

#endif
