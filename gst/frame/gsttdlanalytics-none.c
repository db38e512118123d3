/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the place of gsttdlanalytics.c, where GStreamer's analytics library is not there:
 * nobody calls it. */
#include "gsttdlmeta.h"

const gboolean gst_tdl_analytics_built = FALSE;

void gst_tdl_analytics_attach(GstBuffer *frame, GstBuffer *mask, const struct gst_tdl_rect *place,
                              const GQuark *names, guint count)
{
    (void)frame;
    (void)place;
    (void)names;
    (void)count;
    gst_buffer_unref(mask);
}
