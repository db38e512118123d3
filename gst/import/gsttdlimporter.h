/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside the import room: one importer a file, which ends with its row of the
 * ordered table in gsttdlimport.c. Each fills in the planes of a frame or says in a sentence
 * why it declines. What an importer made of a GstMemory is kept at that memory
 * and goes with it: upstreams recycle a handful of memories. Some (unixfdsrc)
 * send the same dma-bufs in new memories: those are known by their inodes.
 */
#ifndef GST_TDL_IMPORT_IMPORTER_H
#define GST_TDL_IMPORT_IMPORTER_H

#include "gsttdlimport.h"

/* A plane of the buffer: where it is, whatever kind of memory. */
struct gst_tdl_import_place {
    GstMemory *memory; /* borrowed; NULL when the plane spans several */
    gsize skip;        /* bytes from the memory's start */
    gsize offset;      /* … and from the buffer's */
    gint stride;
    gsize row, rows;
};

struct gst_tdl_import_request {
    GstBuffer *buffer;
    const struct gst_tdl_video *video;
    struct gst_tdl_staging *staging;
    struct tdl_batch *batch; /* begun: for importers that copy on the GPU */
    gboolean may_copy, for_write;
    guint planes;
    gboolean in_memories; /* planes fill memories of their own, which no meta describes */
    struct gst_tdl_import_place places[TDL_MAX_PLANES];
};

/* One way for a frame to come to the GPU. */
struct gst_tdl_import_method {
    const gchar *path; /* the property import-path */
    /* NULL: done; else why not. Without the function the build lacks the way. */
    const gchar *(*import)(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out);
    gboolean maps;   /* only where the CPU is the device */
    gboolean gpu;    /* the frame came from a device, not from the CPU */
    gboolean writes; /* takes requests for_write, too */
};
extern const struct gst_tdl_import_method gst_tdl_import_vulkan, gst_tdl_import_dma_buf,
    gst_tdl_import_dma_buf_image, gst_tdl_import_mapped_dma_buf, gst_tdl_import_pool,
    gst_tdl_import_host, gst_tdl_import_mapped, gst_tdl_import_copy;

/* Finds the planes of linear pictures in the request; offsets and strides of others are
 * the driver's business. False with an error where the buffer is too small. */
gboolean gst_tdl_import_find_places(struct gst_tdl_import_request *request, GError **error);
/* Bytes from the first pixel's to one past the last, or 0 for rows that run
 * upwards, which only the copying importer reads. */
gsize gst_tdl_import_place_size(const struct gst_tdl_import_place *place);
void gst_tdl_import_set_plane(struct gst_tdl_import *out, guint plane, struct tdl_buffer *buffer,
                              gsize offset, gint stride);
/* The memory that shares of shares are parts of. */
GstMemory *gst_tdl_import_root_memory(GstMemory *memory);
/* Frames that are not in the device's own memory: copied there by the device, in the batch.
 * NULL, or a reason why not. */
const gchar *gst_tdl_staging_fetch(struct gst_tdl_importer *importer,
                                   const struct gst_tdl_import_request *request,
                                   struct gst_tdl_import *import);
/* `staging` grown to hold a frame; NULL and a reason when that fails. */
const gchar *gst_tdl_staging_reserve(struct tdl_buffer **buffer, struct gst_tdl_device *device,
                                     gsize size, enum tdl_buffer_access access);

/* An import that is kept at a memory: a buffer or images. */
struct gst_tdl_import_cached {
    gint refs;                     /* memories, and the importers that know its dma-buf; atomic */
    struct gst_tdl_device *device; /* held: all the rest is of it */
    struct tdl_buffer *buffer;     /* or NULL */
    guint64 offset;                /* offset of the memory's first byte in the buffer */
    struct tdl_image *images[TDL_MAX_PLANES];
    gpointer mapping; /* the mapped dma-buf, for the CPU as the device; or NULL */
    gsize mapping_size;
    gboolean read_only; /* the dma-buf could not be mapped to be written */
    gchar *why;         /* the driver refused; else NULL */
    guint64 point;      /* images of neighbours go only when the GPU has passed it; 0: at once */
};
/* Fills in buffer and offset, or returns an error with its text in tdl_last_error(). */
typedef enum tdl_result (*gst_tdl_import_cache_fn)(struct gst_tdl_importer *importer,
                                                   GstMemory *memory, gpointer data,
                                                   struct gst_tdl_import_cached *out);
/* Kept at `memory` for this device under the name `kind`, or made by `make`
 * now. Counts. Borrowed. */
struct gst_tdl_import_cached *gst_tdl_import_cache_get(struct gst_tdl_importer *importer,
                                                       GstMemory *memory, const gchar *kind,
                                                       gst_tdl_import_cache_fn make, gpointer data);
/* Put there what was not imported: `kind` and what it holds, taken. */
void gst_tdl_import_cache_put(struct gst_tdl_device *device, GstMemory *memory, const gchar *kind,
                              const struct gst_tdl_import_cached *contents);
#define GST_TDL_IMPORT_CACHE_BUFFER "buffer"
#define GST_TDL_IMPORT_CACHE_IMAGE "image"

/* The part of gst_tdl_import_release() that is about images. */
void gst_tdl_import_vulkan_release(struct gst_tdl_import *import);
/* For importers of images: copy these into `staging` on the GPU, and make the frame that.
 * `out` has images and states. */
const gchar *gst_tdl_import_images_read(struct gst_tdl_importer *importer,
                                        struct gst_tdl_import_request *request,
                                        struct gst_tdl_import *out);
/* Give the frame room in `staging`: what is composed there is copied into the
 * images by gst_tdl_import_images_write(). */
const gchar *gst_tdl_import_images_stage(struct gst_tdl_importer *importer,
                                         struct gst_tdl_import_request *request,
                                         struct tdl_buffer **staging, struct gst_tdl_import *out);

#endif
