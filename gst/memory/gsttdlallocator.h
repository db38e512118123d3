/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that both sides reach without a copy: a GstMemory that is a tdl_buffer, and its
 * allocator. Mapping waits for the GPU, so frames may travel on while it still works on
 * them. Mapping never fails: after the loss of the device the contents are undefined. */
#ifndef GST_TDL_ALLOCATOR_H
#define GST_TDL_ALLOCATOR_H

#include "gsttdldevice.h"

/* `access`: UPLOAD for what upstream writes, READBACK for what downstream
 * reads. The allocator, and all memory of it, holds the device. */
GstAllocator *gst_tdl_allocator_new(struct gst_tdl_device *device, enum tdl_buffer_access access);

/* Context of the allocator's device, borrowed. */
struct tdl_context *gst_tdl_allocator_context(GstAllocator *allocator);

/* Bytes of its memories that anybody has mapped so far. */
guint64 gst_tdl_allocator_mapped_bytes(GstAllocator *allocator);

/* The buffer behind `memory` and where memory starts in it; NULL when the
 * memory is not of our making or belongs to another device. Borrowed. */
struct tdl_buffer *gst_tdl_allocator_find_buffer(GstMemory *memory,
                                                 const struct gst_tdl_device *device,
                                                 gsize *out_offset);

#endif
