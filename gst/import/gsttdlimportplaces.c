/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of a frame's planes in its memories. */
#include "caps/gsttdlgeometry.h"
#include "gsttdlimporter.h"

gsize gst_tdl_import_place_size(const struct gst_tdl_import_place *place)
{
    return place->stride < 0 ? 0 : place->stride * (place->rows - 1) + place->row;
}

GstMemory *gst_tdl_import_root_memory(GstMemory *memory)
{
    while (memory->parent)
        memory = memory->parent;
    return memory;
}

void gst_tdl_import_set_plane(struct gst_tdl_import *out, guint plane, struct tdl_buffer *buffer,
                              gsize offset, gint stride)
{
    out->frame.planes[plane] =
        (struct tdl_plane){ .buffer = buffer, .offset = offset, .stride = stride };
}

static gboolean fits(const struct gst_tdl_import_place *place, gsize offset, gsize size)
{
    gint64 last = (gint64)offset + (gint64)place->stride * ((gint64)place->rows - 1);

    return MIN((gint64)offset, last) >= 0 && MAX((gint64)offset, last) + place->row <= size;
}

static gboolean set_size_error(const struct gst_tdl_import_request *request, GError **error)
{
    const GstVideoInfo *info = &request->video->info;

    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "A frame of %" G_GSIZE_FORMAT
                " bytes is too small for %dx%d px of %s. " GST_TDL_MISFIT_ADVICE,
                gst_buffer_get_size(request->buffer), GST_VIDEO_INFO_WIDTH(info),
                GST_VIDEO_INFO_HEIGHT(info), GST_VIDEO_INFO_NAME(info));
    return FALSE;
}

gboolean gst_tdl_import_find_places(struct gst_tdl_import_request *request, GError **error)
{
    const GstVideoInfo *info = &request->video->info;
    GstVideoMeta *meta = gst_buffer_get_video_meta(request->buffer);
    gsize size = gst_buffer_get_size(request->buffer);

    request->planes = GST_VIDEO_INFO_N_PLANES(info);
    if (request->video->modifier != GST_TDL_LINEAR ||
        request->video->memory == GST_TDL_MEMORY_VULKAN)
        return TRUE;
    for (guint p = 0; p < request->planes; p++) {
        struct gst_tdl_import_place *place = &request->places[p];
        gsize offset = meta ? meta->offset[p] : GST_VIDEO_INFO_PLANE_OFFSET(info, p);
        guint index, count;

        *place = (struct gst_tdl_import_place){
            .offset = offset,
            .stride = meta ? meta->stride[p] : GST_VIDEO_INFO_PLANE_STRIDE(info, p),
            .row = gst_tdl_geometry_plane_row(info->finfo, p, GST_VIDEO_INFO_WIDTH(info)),
            .rows = gst_tdl_geometry_plane_rows(info->finfo, p, GST_VIDEO_INFO_HEIGHT(info)),
        };
        if ((meta && meta->n_planes <= p) || !fits(place, offset, size))
            return set_size_error(request, error);
        if (gst_tdl_import_place_size(place) &&
            gst_buffer_find_memory(request->buffer, offset, gst_tdl_import_place_size(place),
                                   &index, &count, &place->skip) &&
            count == 1)
            place->memory = gst_buffer_peek_memory(request->buffer, index);
    }
    return TRUE;
}
