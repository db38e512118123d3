/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of others in the hands of the CPU, where that is the device: mapped, and
 * told to its owner for as long as there are references. Thread-safe.
 */
#ifndef GST_TDL_ACCESS_H
#define GST_TDL_ACCESS_H

#include <gst/gst.h>

struct gst_tdl_access;

/* Map it; NULL if it cannot be. `out_data`: its first byte. */
struct gst_tdl_access *gst_tdl_access_map(GstMemory *memory, gboolean for_write, guint8 **out_data);
/* Begin to read, or write, a dma-buf that is mapped; its exporter sees to caches.
 * `memory` keeps it. NULL if the exporter refuses. */
struct gst_tdl_access *gst_tdl_access_dma_buf(GstMemory *memory, gint fd, gboolean for_write);

struct gst_tdl_access *gst_tdl_access_ref(struct gst_tdl_access *access);
/* The last one ends it. */
void gst_tdl_access_unref(struct gst_tdl_access *access);

#endif
