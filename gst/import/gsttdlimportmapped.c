/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the CPU as the device: frames are read, and written, where they lie. Dma-bufs
 * are mapped once and stay so, between the ioctls that tell their exporter; other
 * memory is mapped for as long as the device works on it.
 */
#include "gsttdlimporter.h"

#include "gsttdlfence.h"

#include <errno.h>
#include <gst/allocators/gstdmabuf.h>
#include <sys/mman.h>
#include <unistd.h>

static const gchar *check(const struct gst_tdl_import_request *request)
{
    if (request->video->memory == GST_TDL_MEMORY_VULKAN)
        return "the CPU does not see Vulkan images";
    if (request->video->modifier != GST_TDL_LINEAR)
        return "the CPU cannot read this tiling";
    for (guint p = 0; p < request->planes; p++) {
        if (!request->places[p].memory)
            return "a plane is spread over several memories, or upside down";
        if (request->for_write && request->places[p].stride % 4)
            return "its rows are not whole words of four bytes";
    }
    return NULL;
}

/* ------------------------------------------------------------------ dma-bufs */

static enum tdl_result map_dma_buf(struct gst_tdl_importer *importer, GstMemory *memory,
                                   gpointer data, struct gst_tdl_import_cached *out)
{
    struct gst_tdl_device *device = importer->device;
    gint fd = gst_dmabuf_memory_get_fd(memory);
    off_t size = lseek(fd, 0, SEEK_END);

    (void)data;
    if (size <= 0)
        return TDL_ERROR_UNSUPPORTED;
    out->mapping_size = size;
    out->mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    out->read_only = out->mapping == MAP_FAILED;
    if (out->read_only)
        out->mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (out->mapping == MAP_FAILED) {
        out->mapping = NULL;
        return TDL_ERROR_UNSUPPORTED;
    }
    return device->ops->import_host(device->context, out->mapping, size, &out->buffer,
                                    &out->offset);
}

static const gchar *begin_access(struct gst_tdl_importer *importer,
                                 const struct gst_tdl_import_request *request, GstMemory *root,
                                 struct gst_tdl_import *out)
{
    gint fd = gst_dmabuf_memory_get_fd(root);

    for (guint i = 0; i < out->n_accesses; i++)
        if (out->accessed[i] == root)
            return NULL;
    if (gst_tdl_fence_wait_on_cpu(importer, fd, request->for_write) != TDL_OK)
        return "it is still being used by others";
    out->accesses[out->n_accesses] = gst_tdl_access_dma_buf(root, fd, request->for_write);
    if (!out->accesses[out->n_accesses])
        return "its exporter refuses access by the CPU (DMA_BUF_IOCTL_SYNC)";
    out->accessed[out->n_accesses++] = root;
    return NULL;
}

static const gchar *import_dma_buf(struct gst_tdl_importer *importer,
                                   struct gst_tdl_import_request *request,
                                   struct gst_tdl_import *out)
{
    const gchar *why = check(request);

    for (guint p = 0; p < request->planes && !why; p++)
        if (!gst_is_dmabuf_memory(request->places[p].memory))
            why = "the memory is not a dma-buf";
    if (!why && !request->may_copy && !request->for_write)
        why = "require-zero-copy forbids that the CPU reads what a device has made; choose a GPU "
              "by the property device";
    for (guint p = 0; p < request->planes && !why; p++) {
        const struct gst_tdl_import_place *place = &request->places[p];
        GstMemory *root = gst_tdl_import_root_memory(place->memory);
        gsize offset = place->memory->offset + place->skip;
        const struct gst_tdl_import_cached *cached = gst_tdl_import_cache_get(
            importer, root, GST_TDL_IMPORT_CACHE_BUFFER, map_dma_buf, NULL);

        if (!cached->buffer || (request->for_write && cached->read_only))
            return "it cannot be mapped";
        if (offset + gst_tdl_import_place_size(place) > tdl_buffer_size(cached->buffer))
            return "the plane reaches out of its dma-buf";
        gst_tdl_import_set_plane(out, p, cached->buffer, offset, place->stride);
        why = begin_access(importer, request, root, out);
        importer->stats.cpu_mapped_bytes += why ? 0 : gst_tdl_import_place_size(place);
    }
    return why;
}

const struct gst_tdl_import_method gst_tdl_import_mapped_dma_buf = {
    .path = "dma-buf-mapped",
    .import = import_dma_buf,
    .maps = TRUE,
    .gpu = TRUE,
    .writes = TRUE,
};

/* ------------------------------------------------------------- everything else */

/* The memory's index in the import, or a reason. */
static const gchar *map(struct gst_tdl_importer *importer,
                        const struct gst_tdl_import_request *request, GstMemory *memory,
                        struct gst_tdl_import *out, guint *out_index)
{
    struct gst_tdl_device *device = importer->device;
    guint64 offset;
    guint8 *data;
    guint i = 0;

    while (i < out->n_accesses && out->accessed[i] != memory)
        i++;
    *out_index = i;
    if (i < out->n_accesses)
        return NULL;
    out->accesses[i] = gst_tdl_access_map(memory, request->for_write, &data);
    if (!out->accesses[i])
        return "it cannot be mapped";
    out->accessed[i] = memory;
    out->n_accesses++;
    importer->stats.cpu_mapped_bytes += memory->size;
    if (device->ops->import_host(device->context, data, memory->size, &out->mapped[i], &offset) !=
        TDL_OK)
        return tdl_last_error();
    return NULL;
}

static const gchar *import_mapped(struct gst_tdl_importer *importer,
                                  struct gst_tdl_import_request *request,
                                  struct gst_tdl_import *out)
{
    const gchar *why = check(request);

    for (guint p = 0; p < request->planes && !why; p++) {
        const struct gst_tdl_import_place *place = &request->places[p];
        guint i;

        if (gst_is_dmabuf_memory(place->memory))
            return "dma-bufs have a way of their own";
        why = map(importer, request, place->memory, out, &i);
        if (!why)
            gst_tdl_import_set_plane(out, p, out->mapped[i], place->skip, place->stride);
    }
    return why;
}

const struct gst_tdl_import_method gst_tdl_import_mapped = {
    .path = "mapped",
    .import = import_mapped,
    .maps = TRUE,
    .writes = TRUE,
};
