/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the network has found, on the frames as GStreamer's standard metadata
 * (GstAnalyticsRelationMeta). The mask is composed in the frame's own batch, at the frame's
 * size, from the mask that the frame itself is composed with: what its readers see is what
 * viewers see. It lies in memory whose mapping waits for the device, so that a frame travels
 * on at once, and nothing is read back for readers that are not there.
 */
#ifndef GST_TDL_META_H
#define GST_TDL_META_H

#include "gsttdlsession.h"

/* Streaming thread. Zero-initialise. */
struct gst_tdl_meta {
    struct gst_tdl_video video; /* of the masks of the pool */
    GstBufferPool *pool;        /* NULL before the first */
};

/* FALSE with `error`: this build has no such metadata, and the settings want some. Any thread. */
gboolean gst_tdl_meta_check(const struct gst_tdl_live *live, GError **error);
/* Give the memory back. */
void gst_tdl_meta_stop(struct gst_tdl_meta *meta);
/* Whether the settings want some, and can have it. */
gboolean gst_tdl_meta_wanted(const struct gst_tdl_live *live);

/* A mask for the labels of `frame`, which is writable, attached to it, and yet to be
 * composed. `place`: of the picture of `in` there. NULL: none is wanted, or, with `error`,
 * can be had. */
GstBuffer *gst_tdl_meta_begin(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                              const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                              GstBuffer *frame, const struct gst_tdl_rect *place, GError **error);

/* ------------------------------------------------- of GStreamer 1.26, or without it */

extern const gboolean gst_tdl_analytics_built;
/* The region ids 0 to `count` - 1 have these names. Takes `mask`, which has a GstVideoMeta. */
void gst_tdl_analytics_attach(GstBuffer *frame, GstBuffer *mask, const struct gst_tdl_rect *place,
                              const GQuark *names, guint count);

#endif
