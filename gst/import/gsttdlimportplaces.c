/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of a frame's planes in its memories. */
#include "caps/gsttdlgeometry.h"
#include "gsttdlimporter.h"

/* More is no alignment of rows, but something else. bytes */
#define MAX_ROW_PADDING 512

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

/* Stride of a plane that fills a memory of its own; 0 where it does not. */
static gint stride_of_memory(const GstVideoInfo *info, GstMemory *memory, guint plane)
{
    gsize rows = gst_tdl_geometry_plane_rows(info->finfo, plane, GST_VIDEO_INFO_HEIGHT(info));
    gsize row = gst_tdl_geometry_plane_row(info->finfo, plane, GST_VIDEO_INFO_WIDTH(info));
    gsize stride = rows ? memory->size / rows : 0;

    return stride * rows == memory->size && stride >= row && stride < row + MAX_ROW_PADDING
               ? (gint)stride
               : 0;
}

/* Before 0.5, libcamerasrc has a memory for each plane, with the rows of the camera, and no
 * GstVideoMeta that says so; its virtual camera adds an empty one. Where their sizes are not
 * those of the caps' picture, rows that fill them are the only ones that make sense. */
static gboolean is_in_memories(const struct gst_tdl_import_request *request)
{
    const GstVideoInfo *info = &request->video->info;
    gsize first = 0, row = 0, left = gst_buffer_get_size(request->buffer);

    if (gst_buffer_get_video_meta(request->buffer) || request->planes < 2 ||
        gst_buffer_n_memory(request->buffer) < request->planes || left == GST_VIDEO_INFO_SIZE(info))
        return FALSE;
    for (guint p = 0; p < request->planes; p++) {
        GstMemory *memory = gst_buffer_peek_memory(request->buffer, p);
        gsize stride = stride_of_memory(info, memory, p);
        gsize of_plane = gst_tdl_geometry_plane_row(info->finfo, p, GST_VIDEO_INFO_WIDTH(info));

        first = p ? first : stride;
        row = p ? row : of_plane;
        if (!stride || stride * row != first * of_plane) /* all are padded alike */
            return FALSE;
        left -= memory->size;
    }
    return left == 0;
}

/* Where the plane begins in the buffer, and its stride. */
static void find_layout(const struct gst_tdl_import_request *request, guint plane,
                        gsize *out_offset, gint *out_stride)
{
    const GstVideoInfo *info = &request->video->info;
    const GstVideoMeta *meta = gst_buffer_get_video_meta(request->buffer);

    *out_offset = meta ? meta->offset[plane] : GST_VIDEO_INFO_PLANE_OFFSET(info, plane);
    *out_stride = meta ? meta->stride[plane] : GST_VIDEO_INFO_PLANE_STRIDE(info, plane);
    if (!request->in_memories)
        return;
    *out_stride = stride_of_memory(info, gst_buffer_peek_memory(request->buffer, plane), plane);
    *out_offset = 0;
    for (guint p = 0; p < plane; p++)
        *out_offset += gst_buffer_peek_memory(request->buffer, p)->size;
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
    if (meta && meta->n_planes < request->planes)
        return set_size_error(request, error);
    request->in_memories = is_in_memories(request);
    for (guint p = 0; p < request->planes; p++) {
        struct gst_tdl_import_place *place = &request->places[p];
        guint index, count;
        gsize offset;
        gint stride;

        find_layout(request, p, &offset, &stride);
        *place = (struct gst_tdl_import_place){
            .offset = offset,
            .stride = stride,
            .row = gst_tdl_geometry_plane_row(info->finfo, p, GST_VIDEO_INFO_WIDTH(info)),
            .rows = gst_tdl_geometry_plane_rows(info->finfo, p, GST_VIDEO_INFO_HEIGHT(info)),
        };
        if (!fits(place, offset, size))
            return set_size_error(request, error);
        if (gst_tdl_import_place_size(place) &&
            gst_buffer_find_memory(request->buffer, offset, gst_tdl_import_place_size(place),
                                   &index, &count, &place->skip) &&
            count == 1)
            place->memory = gst_buffer_peek_memory(request->buffer, index);
    }
    return TRUE;
}
