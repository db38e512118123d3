/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of classes with their colours, for who draws a legend. */
#ifndef GST_TDL_LEGEND_H
#define GST_TDL_LEGEND_H

#include "settings/gsttdlsettings.h"

/* Where classes are `shown`, posts the element message "tdl-legend" with arrays of equal length,
 * "names" and "colors" (0xRRGGBB), from the lines of `labels`; nothing if that is empty. Warns if
 * the file cannot be read, if `classes` has one without a name, if there are more names than the
 * model's `count` (0: not known), or if the classes are bytes that were taken for `shares` of 255.
 * Returns the lines; NULL: none. */
GStrv gst_tdl_legend_post(GstElement *element, const struct gst_tdl_sources *sources,
                          gboolean shown, guint count, gboolean shares);

#endif
