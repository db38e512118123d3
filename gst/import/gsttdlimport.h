/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a GstBuffer to a tdl_frame that the GPU can read, or write. The
 * importers live in import/, one a file. */
#ifndef GST_TDL_IMPORT_H
#define GST_TDL_IMPORT_H

#include "memory/gsttdlaccess.h"
#include "memory/gsttdldevice.h"

/* Buffers in which importers that copy put a frame: one per frame in flight, as the GPU
 * still reads the one before. Zero-initialise; clear with gst_tdl_staging_clear. */
struct gst_tdl_staging {
    struct tdl_buffer *upload; /* copied by the CPU */
    struct tdl_buffer *device; /* copied by the GPU, from images and from over a bus */
    struct tdl_buffer *target; /* composed here, then copied into images */
};
void gst_tdl_staging_clear(struct gst_tdl_staging *staging);

struct gst_tdl_import_stats {
    guint64 imports;          /* memories made known to the GPU */
    guint64 cache_hits;       /* memories that it knew already */
    guint64 cpu_mapped_bytes; /* bytes of frames that the element mapped */
    guint64 cpu_copied_bytes; /* by the copying importer */
    guint64 copied_frames;    /* likewise */
    guint64 pool_frames;      /* that upstream wrote into our own memory */
    guint64 cpu_waits;        /* for fences that the GPU could not wait for or give */
    guint64 gpu_bytes;        /* bytes of the last frame's pixels, read and written by the device */
};

/* A buffer as the GPU sees it while a batch is recorded and submitted. */
struct gst_tdl_import {
    struct tdl_frame frame;
    gint fds[TDL_MAX_PLANES]; /* dma-bufs behind it, each once; borrowed */
    guint n_fds;
    /* Images that it is a copy of, or is to be copied into; borrowed. */
    struct tdl_image *images[TDL_MAX_PLANES];
    struct tdl_image_state *states[TDL_MAX_PLANES]; /* states of `uses`, or NULL for imports */
    guint n_images;
    struct gst_tdl_image_use { /* a neighbour's image, one for each memory */
        struct gst_tdl_import_cached *cached;
        gpointer memory; /* GstVulkanImageMemory */
        struct tdl_image_state state;
        VkSemaphore semaphore; /* the image's timeline, or none */
        guint64 value;         /* the point that the timeline has reached before us */
    } uses[TDL_MAX_PLANES];
    guint n_uses;
    /* Memories that the CPU, where it is the device, has in its hands. */
    struct gst_tdl_access *accesses[TDL_MAX_PLANES];
    GstMemory *accessed[TDL_MAX_PLANES];       /* borrowed */
    struct tdl_buffer *mapped[TDL_MAX_PLANES]; /* mapped planes, or NULL */
    guint n_accesses;
};

#define GST_TDL_DECLINED_MAX 1024
struct gst_tdl_importer {
    struct gst_tdl_device *device; /* borrowed */
    struct gst_tdl_import_stats stats;
    const gchar *path;                    /* name of the importer that took the last frame */
    gboolean gpu;                         /* the frame was never in the CPU's hands */
    gchar declined[GST_TDL_DECLINED_MAX]; /* why those before it did not */
    struct gst_tdl_known *known;          /* dma-bufs that came before */
};

void gst_tdl_importer_init(struct gst_tdl_importer *importer, struct gst_tdl_device *device);
/* Let go of dma-bufs that came again and again: another stream begins, or none. */
void gst_tdl_importer_forget(struct gst_tdl_importer *importer);

#define GST_TDL_MISFIT_ADVICE                                                                      \
    "The element before tdlfilter sends other pictures than its caps say: put a videoconvert "     \
    "between them, or correct the caps."
/* TRUE where the planes that `video` and the buffer's GstVideoMeta describe lie inside
 * the buffer; FALSE with `error`. The imports below check it, too. */
gboolean gst_tdl_import_fits(GstBuffer *buffer, const struct gst_tdl_video *video, GError **error);

/* Describe `buffer` as a frame, trying importer after importer. The frame
 * borrows the buffer's memory (or `staging`): hold both until the GPU is done.
 * Release it when the batch is submitted, or will not be.
 * `batch` is begun and takes copies from images. FALSE with `error` when all
 * decline; the copying one does so without `may_copy`. */
gboolean gst_tdl_import(struct gst_tdl_importer *importer, GstBuffer *buffer,
                        const struct gst_tdl_video *video, gboolean may_copy,
                        struct tdl_batch *batch, struct gst_tdl_staging *staging,
                        struct gst_tdl_import *out_import, GError **error);

/* Like gst_tdl_import(), for a buffer to be written to: our own pool's, a dma-buf,
 * or images (Vulkan's, tiled dma-bufs), which take `staging`. Leaves the path alone. */
gboolean gst_tdl_import_target(struct gst_tdl_importer *importer, GstBuffer *buffer,
                               const struct gst_tdl_video *video, struct gst_tdl_staging *staging,
                               struct gst_tdl_import *out_import, GError **error);
/* When the target is composed: copy it into the images, if it has any. */
enum tdl_result gst_tdl_import_images_write(const struct gst_tdl_importer *importer,
                                            struct gst_tdl_import *target, struct tdl_batch *batch);
/* When the batch has been submitted: tell the images' next users. */
void gst_tdl_import_submitted(const struct gst_tdl_import *import, guint64 point);
/* After that, or instead: others may use its images, and memory that is in nobody
 * else's hands either. Same thread. */
void gst_tdl_import_release(struct gst_tdl_import *import);

/* `buffer` as what `memory` is on this device, from now on. For memory that
 * was made of a buffer; takes the buffer. */
void gst_tdl_import_cache_put_buffer(struct gst_tdl_device *device, GstMemory *memory,
                                     struct tdl_buffer *buffer);
/* As above, with the image of plane `plane` of a tiled picture. */
void gst_tdl_import_cache_put_image(struct gst_tdl_device *device, GstMemory *memory,
                                    const struct gst_tdl_video *video, guint plane,
                                    struct tdl_image *image);

/* gst_tdl_importer.path of the importer that copies. */
extern const gchar gst_tdl_import_copy_path[];

#endif
