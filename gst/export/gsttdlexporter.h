/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the export room: one way for frames to go downstream a file, which ends
 * with its row of the ordered table in gsttdlexport.c. Each puts the pool that
 * the output comes from into downstream's answer, or says in a sentence why it
 * declines; with an error nothing after it is tried.
 */
#ifndef GST_TDL_EXPORT_EXPORTER_H
#define GST_TDL_EXPORT_EXPORTER_H

#include "gsttdlexport.h"

struct gst_tdl_export_request {
    struct gst_tdl_session *session;
    GstQuery *query; /* ALLOCATION, answered by downstream */
    const struct gst_tdl_video *video;
    gboolean meta;         /* downstream reads a GstVideoMeta */
    const gchar *declined; /* why the way before did; NULL: there is none */
};

struct gst_tdl_export_method {
    const gchar *path; /* the property export-path */
    /* TRUE where the exporter is for these caps; the reasons of those that are not are
     * nobody's business. */
    gboolean (*is_for)(const struct gst_tdl_video *video);
    gboolean maps; /* only where the CPU is the device */
    /* NULL: done; else why not. */
    const gchar *(*export)(const struct gst_tdl_export_request *request, GError **error);
};
extern const struct gst_tdl_export_method gst_tdl_export_vulkan, gst_tdl_export_downstream,
    gst_tdl_export_downstream_mapped, gst_tdl_export_dma_buf, gst_tdl_export_dma_buf_image,
    gst_tdl_export_pool;

/* Downstream's words about its pool, or zeros; each may be NULL. The pool is the
 * caller's. */
void gst_tdl_export_asked(GstQuery *query, GstCaps **out_caps, GstBufferPool **out_pool,
                          guint *out_size, guint *out_min, guint *out_max);
void gst_tdl_export_set_pool(GstQuery *query, GstBufferPool *pool, gsize size, guint min,
                             guint max);
gboolean gst_tdl_export_configure(GstBufferPool *pool, GstCaps *caps, gsize size, guint min,
                                  guint max, gboolean meta);
/* Let the output come from `pool`, ours, which is taken. */
const gchar *gst_tdl_export_from(const struct gst_tdl_export_request *request, GstBufferPool *pool,
                                 GError **error);

#endif
