/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlreport.h"

GST_DEBUG_CATEGORY_STATIC(performance);

void gst_tdl_report_fallback(struct gst_tdl_report *report, GstElement *element,
                             enum gst_tdl_side side, const gchar *path, const gchar *reason)
{
    const gchar *name = side == GST_TDL_INPUT ? "input" : "output";

    if (report->said[side])
        return;
    report->said[side] = TRUE;
    GST_DEBUG_CATEGORY_GET(performance, "GST_PERFORMANCE");
    if (side == GST_TDL_INPUT)
        GST_CAT_WARNING_OBJECT(performance, element,
                               "the CPU copies every frame into GPU memory (%s)", reason);
    else
        GST_CAT_WARNING_OBJECT(performance, element,
                               "frames come from a device and go on in memory for the CPU (%s)",
                               reason);
    gst_element_post_message(
        element, gst_message_new_element(GST_OBJECT(element),
                                         gst_structure_new("tdl-fallback", "side", G_TYPE_STRING,
                                                           name, "path", G_TYPE_STRING, path,
                                                           "reason", G_TYPE_STRING, reason, NULL)));
}

GError *gst_tdl_report_output_error(const gchar *path, const gchar *reason)
{
    return g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       "require-zero-copy is set, frames come in as dma-bufs or Vulkan images, and "
                       "the output would go through the CPU's memory (path \"%s\"; %s). Use a sink "
                       "that takes dma-bufs (kmssink, waylandsink, glimagesink) or Vulkan images, "
                       "or set require-zero-copy=false.", path, reason);
}
