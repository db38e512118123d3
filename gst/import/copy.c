/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last resort: the CPU copies, which is counted and announced. */
#include "importer.h"

#include <string.h>

const gchar gst_tdl_import_copy[] = "copy";

const gchar *gst_tdl_staging_reserve(struct tdl_buffer **buffer, struct gst_tdl_device *device,
                                     gsize size, enum tdl_buffer_access access)
{
    if (*buffer && tdl_buffer_size(*buffer) >= size)
        return NULL;
    tdl_buffer_destroy(buffer);
    return tdl_buffer_create(device->context, size, access, buffer) == TDL_OK ? NULL
                                                                              : tdl_last_error();
}

static void copy_plane(const struct gst_tdl_place *place, const guint8 *from,
                       const struct tdl_plane *plane, guint8 *to)
{
    for (gsize y = 0; y < place->rows; y++)
        memcpy(to + plane->offset + y * plane->stride, from + (gssize)y * place->stride,
               place->row);
}

static const gchar *import(struct gst_tdl_importer *importer, struct gst_tdl_request *request,
                           struct gst_tdl_import *out)
{
    struct tdl_buffer **upload = &request->staging->upload;
    struct tdl_frame layout;
    gsize size =
        tdl_frame_layout(&layout, out->frame.format, out->frame.width, out->frame.height, 64);
    GstVideoFrame video;
    const gchar *why;

    if (!request->may_copy)
        return "require-zero-copy forbids it";
    if (request->video->memory == GST_TDL_MEMORY_VULKAN)
        return "the CPU does not see Vulkan images";
    if (request->video->modifier != GST_TDL_LINEAR)
        return "the CPU cannot read this tiling";
    why = size ? gst_tdl_staging_reserve(upload, importer->device, size, TDL_BUFFER_UPLOAD)
               : tdl_last_error();
    if (why || tdl_buffer_wait(*upload, true) != TDL_OK)
        return why ? why : tdl_last_error();
    if (!gst_video_frame_map(&video, &request->video->info, request->buffer,
                             GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
        return "the frame cannot be mapped";
    for (guint p = 0; p < request->planes; p++) {
        const struct gst_tdl_place *place = &request->places[p];

        copy_plane(place, GST_VIDEO_FRAME_PLANE_DATA(&video, p), &layout.planes[p],
                   tdl_buffer_data(*upload));
        importer->stats.cpu_copied_bytes += place->row * place->rows;
        gst_tdl_set_plane(out, p, *upload, layout.planes[p].offset, layout.planes[p].stride);
    }
    importer->stats.cpu_mapped_bytes += gst_buffer_get_size(request->buffer);
    gst_video_frame_unmap(&video);
    return NULL;
}

const struct gst_tdl_import_way gst_tdl_import_by_copy = {
    .path = gst_tdl_import_copy,
    .import = import,
};
