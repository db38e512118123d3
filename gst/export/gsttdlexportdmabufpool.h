/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of dma-bufs that our device has allocated: for downstreams that take
 * dma-bufs and have no pool, and for upstreams that write into ours. */
#ifndef GST_TDL_EXPORT_DMA_BUF_POOL_H
#define GST_TDL_EXPORT_DMA_BUF_POOL_H

#include "import/gsttdlimport.h"

/* Rows of linear ones are whole multiples of this, which every display and
 * camera takes. */
#define GST_TDL_EXPORT_DMA_BUF_ROW_ALIGN 256

/* The layout of a frame in one linear buffer: strides, offsets and size. FALSE
 * where the size is too large. */
gboolean gst_tdl_export_dma_buf_layout(GstVideoInfo *info, gboolean padded);

/* Holds the device. Linear buffers have one GstDmaBufMemory, tiled ones (by the
 * caps' modifier) one for each plane; a GstVideoMeta says where planes are. Without
 * the option GST_BUFFER_POOL_OPTION_VIDEO_META, caps of plain formats have GStreamer's
 * default strides. Configuring it fails for a tiling that the device does not
 * make. `element` as in gst_tdl_pool_new(). */
GstBufferPool *gst_tdl_export_dma_buf_pool_new(struct gst_tdl_device *device, GstElement *element);

#endif
