/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a GstBuffer to a tdl_frame that the GPU can read. */
#ifndef GST_TDL_IMPORT_H
#define GST_TDL_IMPORT_H

#include <gst/video/video.h>
#include <tdl/frame.h>

/* Where the copying importer puts a frame: one per frame in flight, as the
 * GPU still reads the one before. Zero-initialise; clear with tdl_buffer_destroy. */
struct gst_tdl_staging {
    struct tdl_buffer *buffer;
};

struct gst_tdl_import_stats {
    guint64 imports;          /* memories made known to the GPU */
    guint64 cache_hits;       /* memories that it knew already */
    guint64 cpu_copied_bytes; /* by the copying importer */
};

struct gst_tdl_importer {
    struct tdl_context *context; /* borrowed */
    struct gst_tdl_import_stats stats;
    const gchar *path;   /* name of the importer that took the last frame */
    gchar declined[512]; /* why those before it did not */
};

void gst_tdl_importer_init(struct gst_tdl_importer *importer, struct tdl_context *context);

/* Describe `buffer` as a frame, trying importer after importer. The frame
 * borrows the buffer's memory (or `staging`): hold both until the GPU is done.
 * FALSE with `error` when all decline; the copying one does so without
 * `may_copy`. */
gboolean gst_tdl_import(struct gst_tdl_importer *importer, GstBuffer *buffer,
                        const GstVideoInfo *info, gboolean may_copy,
                        struct gst_tdl_staging *staging, struct tdl_frame *out_frame,
                        GError **error);

/* The same for a buffer of our own output pool, which is the only memory that
 * frames are written to. */
gboolean gst_tdl_import_target(struct tdl_context *context, GstBuffer *buffer,
                               const GstVideoInfo *info, struct tdl_frame *out_frame,
                               GError **error);

/* gst_tdl_importer.path of the importer that copies. */
extern const gchar *const gst_tdl_import_copy;

#endif
