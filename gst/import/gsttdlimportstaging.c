/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in memory that the GPU reads over a bus. The kernels read a frame twice, for the
 * network and to compose it, and in pieces; its copy engine reads it once, in one go, beside
 * the kernels of other streams. So it is fetched first, in the batch of the frame.
 */
#include "gsttdlimporter.h"

#define ALIGN 256 /* bytes; of planes in the copy */

void gst_tdl_staging_clear(struct gst_tdl_staging *staging)
{
    tdl_buffer_destroy(&staging->upload);
    tdl_buffer_destroy(&staging->device);
    tdl_buffer_destroy(&staging->target);
}

const gchar *gst_tdl_staging_reserve(struct tdl_buffer **buffer, struct gst_tdl_device *device,
                                     gsize size, enum tdl_buffer_access access)
{
    if (*buffer && tdl_buffer_size(*buffer) >= size)
        return NULL;
    tdl_buffer_destroy(buffer);
    return tdl_buffer_create(device->context, size, access, buffer) == TDL_OK ? NULL
                                                                              : tdl_last_error();
}

static gsize aligned(gsize size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static gboolean is_far(struct gst_tdl_importer *importer,
                       const struct gst_tdl_import_request *request,
                       const struct gst_tdl_import *import)
{
    if (import->n_images)
        return FALSE; /* the images were copied already */
    for (guint p = 0; p < request->planes; p++)
        if (!importer->device->ops->is_local(import->frame.planes[p].buffer))
            return TRUE;
    return FALSE;
}

const gchar *gst_tdl_staging_fetch(struct gst_tdl_importer *importer,
                                   const struct gst_tdl_import_request *request,
                                   struct gst_tdl_import *import)
{
    struct tdl_buffer **staging = &request->staging->device;
    gsize total = 0;
    const gchar *why;

    if (!is_far(importer, request, import))
        return NULL;
    for (guint p = 0; p < request->planes; p++)
        total += aligned(gst_tdl_import_place_size(&request->places[p]));
    why = gst_tdl_staging_reserve(staging, importer->device, total, TDL_BUFFER_DEVICE);
    total = 0;
    for (guint p = 0; p < request->planes && !why; p++) {
        struct tdl_plane *plane = &import->frame.planes[p];
        gsize size = gst_tdl_import_place_size(&request->places[p]);

        if (tdl_batch_copy_buffer(request->batch, plane->buffer, plane->offset, *staging, total,
                                  size) != TDL_OK)
            why = tdl_last_error();
        gst_tdl_import_set_plane(import, p, *staging, total, plane->stride);
        importer->stats.gpu_bytes += 2 * (guint64)size; /* read once more, and written */
        total += aligned(size);
    }
    return why;
}
