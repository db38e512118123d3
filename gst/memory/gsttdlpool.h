/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffer pools over the allocator, with rows as the GPU wants them. */
#ifndef GST_TDL_POOL_H
#define GST_TDL_POOL_H

#include "gsttdlallocator.h"

#include <gst/video/gstvideopool.h>

/* A video buffer pool that only ever hands out memory of `allocator`, with
 * rows aligned for the GPU where the user of the pool takes GstVideoMeta.
 * `element`, which may go before the pool, posts an error when there is no memory
 * for a buffer; with NULL the user of the pool has to. */
GstBufferPool *gst_tdl_pool_new(GstAllocator *allocator, GstElement *element);

/* The start of pools whose parent class is GstBufferPool or its child: where a buffer cannot be
 * had, those before it go, which GStreamer's own start keeps, and their device with them. */
gboolean gst_tdl_pool_start(GstBufferPool *pool, gpointer parent_class);

#endif
