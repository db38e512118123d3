/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the place of gsttdlanalytics.c, where GStreamer's analytics library is not there:
 * nobody finds or attaches anything. */
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

void gst_tdl_analytics_attach_tensors(GstBuffer *frame, const struct gst_tdl_tensors *model,
                                      GstBufferList *data, GstBuffer *mask, const guint size[2])
{
    (void)frame;
    (void)model;
    (void)data;
    (void)mask;
    (void)size;
}

GstStructure *gst_tdl_analytics_groups(const struct gst_tdl_tensors *model)
{
    (void)model;
    return NULL;
}

void gst_tdl_analytics_keep_tensors(const GstBuffer *input, GstBuffer *frame)
{
    (void)input;
    (void)frame;
}

void gst_tdl_analytics_regions(GstBuffer *frame, struct gst_tdl_rect *rect)
{
    (void)frame;
    (void)rect;
}
