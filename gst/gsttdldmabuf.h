/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of dma-bufs that our device has allocated: for downstreams that take
 * dma-bufs and have no pool, and for upstreams that write into ours. */
#ifndef GST_TDL_DMA_BUF_H
#define GST_TDL_DMA_BUF_H

#include "gsttdlcaps.h"

/* Rows of it are whole multiples of this, which every display and camera takes. */
#define GST_TDL_DMA_BUF_ROW_ALIGN 256

/* The layout of a frame in one of its buffers: strides, offsets and size. FALSE
 * where the size is too large. */
gboolean gst_tdl_dma_buf_layout(GstVideoInfo *info, gboolean padded);

/* `keeper` (or NULL) is held as long as the context. Buffers hold one GstDmaBufMemory and a GstVideoMeta. Without the option
 * GST_BUFFER_POOL_OPTION_VIDEO_META, caps of plain formats have GStreamer's
 * default strides. */
GstBufferPool *gst_tdl_dma_buf_pool_new(struct tdl_context *context, GObject *keeper);

#endif
