/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of classes with their colours, for who draws a legend. */
#ifndef GST_TDL_LEGEND_H
#define GST_TDL_LEGEND_H

#include "settings/gsttdlsettings.h"

/* Where classes are `shown`, posts the element message "tdl-legend" with arrays of equal
 * length, "names" and "colors" (0xRRGGBB), of the lines of `labels`; nothing if that is empty.
 * A warning if it cannot be read, where `classes` has one that it does not name, and where it
 * names more than the model's `count` (0: not known), or names what are bytes that were guessed
 * to be `shares` of 255. Returns the lines, or NULL: there are none. */
GStrv gst_tdl_legend_post(GstElement *element, const struct gst_tdl_sources *sources,
                          gboolean shown, guint count, gboolean shares);

#endif
