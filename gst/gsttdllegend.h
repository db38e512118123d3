/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of classes with their colours, for who draws a legend. */
#ifndef GST_TDL_LEGEND_H
#define GST_TDL_LEGEND_H

#include <gst/gst.h>

/* Posts the element message "tdl-legend" with arrays of equal length, "names" and "colors"
 * (0xRRGGBB), of the lines of `labels`; nothing if that is empty, and a warning if it
 * cannot be read. */
void gst_tdl_legend_post(GstElement *element, const gchar *labels, const gchar *palette);

#endif
