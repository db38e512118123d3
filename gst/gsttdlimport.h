/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a GstBuffer to a tdl_frame that the GPU can read, or write. The
 * importers live in import/, one a file. */
#ifndef GST_TDL_IMPORT_H
#define GST_TDL_IMPORT_H

#include "gsttdlcaps.h"
#include "import/ops.h"

/* Where importers that copy put a frame: one per frame in flight, as the GPU
 * still reads the one before. Zero-initialise; clear with gst_tdl_staging_clear. */
struct gst_tdl_staging {
    struct tdl_buffer *upload; /* copied by the CPU */
    struct tdl_buffer *device; /* copied by the GPU, from images */
};
void gst_tdl_staging_clear(struct gst_tdl_staging *staging);

struct gst_tdl_import_stats {
    guint64 imports;          /* memories made known to the GPU */
    guint64 cache_hits;       /* memories that it knew already */
    guint64 cpu_mapped_bytes; /* of frames that the element mapped */
    guint64 cpu_copied_bytes; /* by the copying importer */
    guint64 cpu_waits;        /* for fences that the GPU could not wait for or give */
    guint64 gpu_bytes;        /* of pixels of the last frame, read and written by the GPU */
};

/* A buffer as the GPU sees it while a batch is recorded and submitted. */
struct gst_tdl_import {
    struct tdl_frame frame;
    gint fds[TDL_MAX_PLANES]; /* dma-bufs behind it, each once; borrowed */
    guint n_fds;
};

struct gst_tdl_importer {
    struct tdl_context *context; /* borrowed */
    const struct gst_tdl_import_ops *ops;
    struct { /* what the device is able to do */
        gboolean host_pointer, dma_buf, sync_fd;
    } able;
    struct gst_tdl_import_stats stats;
    const gchar *path;    /* name of the importer that took the last frame */
    gchar declined[1024]; /* why those before it did not */
};

void gst_tdl_importer_init(struct gst_tdl_importer *importer, struct tdl_context *context);

/* Describe `buffer` as a frame, trying importer after importer. The frame
 * borrows the buffer's memory (or `staging`): hold both until the GPU is done.
 * `batch` is begun and takes copies from images. FALSE with `error` when all
 * decline; the copying one does so without `may_copy`. */
gboolean gst_tdl_import(struct gst_tdl_importer *importer, GstBuffer *buffer,
                        const struct gst_tdl_video *video, gboolean may_copy,
                        struct tdl_batch *batch, struct gst_tdl_staging *staging,
                        struct gst_tdl_import *out_import, GError **error);

/* The same for a buffer to be written to: our own pool's, or a dma-buf. Leaves
 * the path alone. */
gboolean gst_tdl_import_target(struct gst_tdl_importer *importer, GstBuffer *buffer,
                               const struct gst_tdl_video *video,
                               struct gst_tdl_import *out_import, GError **error);

/* `buffer` as what `memory` is on this context, from now on. For memory that
 * was made of a buffer; takes the buffer. */
void gst_tdl_cache_put(struct tdl_context *context, GstMemory *memory, struct tdl_buffer *buffer);

/* gst_tdl_importer.path of the importer that copies. */
extern const gchar *const gst_tdl_import_copy;
/* Whether frames of this path never were in the CPU's hands. */
gboolean gst_tdl_import_is_gpu(const gchar *path);

#endif
