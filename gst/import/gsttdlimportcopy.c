/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last resort: the CPU copies, which is counted and announced. */
#include "gsttdlimporter.h"

#include <string.h>

const gchar gst_tdl_import_copy_path[] = "copy";

static void copy_plane(const struct gst_tdl_import_place *place, const guint8 *from,
                       const struct tdl_plane *plane, guint8 *to)
{
    for (gsize y = 0; y < place->rows; y++)
        memcpy(to + plane->offset + y * plane->stride, from + (gssize)y * place->stride,
               place->row);
}

/* GstVideoFrame maps of each plane the memory in which it begins, and no more. */
static gboolean is_spread(const struct gst_tdl_import_request *request)
{
    for (guint p = 0; p < request->planes; p++)
        if (!request->places[p].memory)
            return gst_buffer_n_memory(request->buffer) > 1;
    return FALSE;
}

/* The frame for the CPU; of a buffer whose planes are spread over its memories a copy in one. */
struct view {
    gboolean spread;
    GstVideoFrame video;
    GstMapInfo maps[TDL_MAX_PLANES]; /* the first of all, or each plane's own */
    guint n_own;
};

static void unmap_own(struct view *view)
{
    while (view->n_own) {
        view->n_own--;
        gst_memory_unmap(view->maps[view->n_own].memory, &view->maps[view->n_own]);
    }
}

static gboolean map_own(struct view *view, const struct gst_tdl_import_request *request)
{
    for (; view->n_own < request->planes; view->n_own++) {
        if (!gst_memory_map(request->places[view->n_own].memory, &view->maps[view->n_own],
                            GST_MAP_READ)) {
            unmap_own(view);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean view_map(struct view *view, const struct gst_tdl_import_request *request)
{
    *view = (struct view){ .spread = is_spread(request) };
    if (request->in_memories)
        return map_own(view, request);
    if (view->spread)
        return gst_buffer_map(request->buffer, &view->maps[0], GST_MAP_READ);
    return gst_video_frame_map(&view->video, &request->video->info, request->buffer,
                               GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
}

static const guint8 *view_plane(const struct view *view,
                                const struct gst_tdl_import_request *request, guint plane)
{
    const struct gst_tdl_import_place *place = &request->places[plane];

    if (view->n_own)
        return view->maps[plane].data + place->skip;
    return view->spread ? view->maps[0].data + place->offset
                        : GST_VIDEO_FRAME_PLANE_DATA(&view->video, plane);
}

static void view_unmap(struct view *view, const struct gst_tdl_import_request *request)
{
    if (view->n_own)
        unmap_own(view);
    else if (view->spread)
        gst_buffer_unmap(request->buffer, &view->maps[0]);
    else
        gst_video_frame_unmap(&view->video);
}

static const gchar *import(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out)
{
    struct tdl_buffer **upload = &request->staging->upload;
    struct tdl_frame layout;
    gsize size =
        tdl_frame_layout(&layout, out->frame.format, out->frame.width, out->frame.height, 64);
    struct view view;
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
    if (!view_map(&view, request))
        return "the frame cannot be mapped";
    for (guint p = 0; p < request->planes; p++) {
        const struct gst_tdl_import_place *place = &request->places[p];

        copy_plane(place, view_plane(&view, request, p), &layout.planes[p],
                   tdl_buffer_data(*upload));
        importer->stats.cpu_copied_bytes += place->row * place->rows;
        gst_tdl_import_set_plane(out, p, *upload, layout.planes[p].offset, layout.planes[p].stride);
    }
    importer->stats.cpu_mapped_bytes += gst_buffer_get_size(request->buffer);
    view_unmap(&view, request);
    return NULL;
}

const struct gst_tdl_import_method gst_tdl_import_copy = {
    .path = gst_tdl_import_copy_path,
    .import = import,
};
