/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that both sides reach without a copy: a GstMemory that is a
 * tdl_buffer, its allocator, and the buffer pools over it. Mapping waits for
 * the GPU, so frames may travel on while it still works on them. It never fails:
 * after the loss of the device what lies there is undefined. */
#ifndef GST_TDL_POOL_H
#define GST_TDL_POOL_H

#include "gsttdldevice.h"

#include <gst/video/gstvideopool.h>

/* `access`: UPLOAD for what upstream writes, READBACK for what downstream
 * reads. The allocator, and all memory of it, holds the device. */
GstAllocator *gst_tdl_allocator_new(struct gst_tdl_device *device, enum tdl_buffer_access access);

/* Bytes of its memories that anybody has mapped so far. */
guint64 gst_tdl_allocator_mapped_bytes(GstAllocator *allocator);

/* The buffer behind `memory` and where memory starts in it; NULL when the
 * memory is not of our making or belongs to another device. Borrowed. */
struct tdl_buffer *gst_tdl_memory_buffer(GstMemory *memory, const struct gst_tdl_device *device,
                                         gsize *out_offset);

/* A video buffer pool that only ever hands out memory of `allocator`, with
 * rows aligned for the GPU where the user of the pool takes GstVideoMeta.
 * `element`, which may go before the pool, posts an error when there is no memory
 * for a buffer; with NULL the user of the pool has to. */
GstBufferPool *gst_tdl_pool_new(GstAllocator *allocator, GstElement *element);

/* The start of pools whose parent class is GstBufferPool or its child: where a buffer cannot be
 * had, those before it go, which GStreamer's own start keeps, and their device with them. */
gboolean gst_tdl_pool_start(GstBufferPool *pool, gpointer parent_class);

#endif
