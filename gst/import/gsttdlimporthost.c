/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plain system memory by its address. Expensive, as the driver pins the pages. */
#include "gsttdlimporter.h"

static enum tdl_result make(struct gst_tdl_importer *importer, GstMemory *memory, gpointer data,
                            struct gst_tdl_import_cached *out)
{
    struct gst_tdl_device *device = importer->device;

    return device->ops->import_host(device->context, data, memory->maxsize, &out->buffer,
                                    &out->offset);
}

/* The address of the first byte that the memory shows. Only the address is of interest;
 * system memory keeps it for life. */
static guint8 *memory_address(GstMemory *memory)
{
    GstMapInfo map;

    if (!gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) ||
        !gst_memory_map(memory, &map, GST_MAP_READ))
        return NULL;
    gst_memory_unmap(memory, &map);
    return map.data;
}

static const gchar *import_plane(struct gst_tdl_importer *importer,
                                 const struct gst_tdl_import_place *place, guint p,
                                 struct gst_tdl_import *out)
{
    const struct gst_tdl_import_cached *cached;
    guint8 *start, *data;
    GstMemory *root;

    if (!place->memory)
        return "a plane is spread over several memories, or upside down";
    root = gst_tdl_import_root_memory(place->memory);
    start = memory_address(root);
    data = memory_address(place->memory);
    if (!start || !data)
        return "the memory is not plain system memory";
    start -= root->offset; /* the part that a memory shows may change, its address does not */
    if (data < start ||
        data + place->skip + gst_tdl_import_place_size(place) > start + root->maxsize)
        return "the memory reaches out of its parent";
    cached = gst_tdl_import_cache_get(importer, root, GST_TDL_IMPORT_CACHE_BUFFER, make, start);
    if (!cached->buffer)
        return "the device does not take this address";
    gst_tdl_import_set_plane(out, p, cached->buffer, cached->offset + (data - start) + place->skip,
                             place->stride);
    return NULL;
}

static const gchar *import(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out)
{
    if (!importer->device->able.host_pointer)
        return "the device lacks VK_EXT_external_memory_host";
    for (guint p = 0; p < request->planes; p++) {
        const gchar *why = import_plane(importer, &request->places[p], p, out);

        if (why)
            return why;
    }
    return NULL;
}

const struct gst_tdl_import_method gst_tdl_import_host = {
    .path = "host-pointer",
    .import = import,
};
