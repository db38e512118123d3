/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear dma-bufs as storage buffers: the kernels read the camera's pages
 * where they are. A dma-buf is imported whole and once; planes are offsets in
 * it, be they in one dma-buf or in several.
 */
#include "gsttdlimporter.h"

#include <gst/allocators/gstdmabuf.h>

static enum tdl_result make(struct gst_tdl_importer *importer, GstMemory *memory, gpointer data,
                            struct gst_tdl_import_cached *out)
{
    struct gst_tdl_device *device = importer->device;

    (void)data;
    return device->ops->import_fd(device->context, TDL_HANDLE_DMA_BUF,
                                  gst_dmabuf_memory_get_fd(memory), 0, &out->buffer);
}

static void add_fd(struct gst_tdl_import *out, gint fd)
{
    for (guint i = 0; i < out->n_fds; i++)
        if (out->fds[i] == fd)
            return;
    out->fds[out->n_fds++] = fd;
}

static const gchar *import_plane(struct gst_tdl_importer *importer,
                                 const struct gst_tdl_import_place *place, guint p,
                                 struct gst_tdl_import *out)
{
    const struct gst_tdl_import_cached *cached;
    GstMemory *root = gst_tdl_import_root_memory(place->memory);
    gsize offset =
        place->memory->offset + place->skip; /* shares count from the root's first byte */

    cached = gst_tdl_import_cache_get(importer, root, GST_TDL_IMPORT_CACHE_BUFFER, make, NULL);
    if (!cached->buffer)
        return cached->why;
    if (offset + gst_tdl_import_place_size(place) > tdl_buffer_size(cached->buffer))
        return "the plane reaches out of its dma-buf";
    gst_tdl_import_set_plane(out, p, cached->buffer, offset, place->stride);
    add_fd(out, gst_dmabuf_memory_get_fd(root));
    return NULL;
}

static const gchar *import(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out)
{
    for (guint p = 0; p < request->planes; p++) {
        if (!request->places[p].memory)
            return "a plane is spread over several memories, or upside down";
        if (!gst_is_dmabuf_memory(request->places[p].memory))
            return "the memory is not a dma-buf";
        if (request->for_write && request->places[p].stride % 4)
            return "its rows are not whole words of four bytes";
    }
    if (request->video->modifier != GST_TDL_LINEAR)
        return "its pixels are tiled";
    if (importer->device->able.maps)
        return "the device is the CPU, which maps it";
    if (!importer->device->able.dma_buf_in)
        return "the device cannot import dma-bufs (VK_EXT_external_memory_dma_buf)";
    for (guint p = 0; p < request->planes; p++) {
        const gchar *why = import_plane(importer, &request->places[p], p, out);

        if (why)
            return why;
    }
    return NULL;
}

const struct gst_tdl_import_method gst_tdl_import_dma_buf = {
    .path = "dma-buf",
    .import = import,
    .gpu = TRUE,
    .writes = TRUE,
};
