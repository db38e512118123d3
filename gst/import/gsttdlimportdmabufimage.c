/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tiled dma-bufs, a plane an image with an explicit modifier: only the driver
 * knows the layout. Offsets and strides are the driver's words, passed on.
 */
#include "gsttdlimporter.h"

#include <gst/allocators/gstdmabuf.h>

/* Under which name the images of a picture are kept: recycled memory may come
 * with another layout after a renegotiation. */
typedef gchar kind_name[80];
static const gchar *kind_of(const struct gst_tdl_video *video, kind_name name)
{
    g_snprintf(name, sizeof(kind_name), "%s-%dx%d-%" G_GINT64_MODIFIER "x",
               GST_VIDEO_INFO_NAME(&video->info), video->info.width, video->info.height,
               video->modifier);
    return name;
}

/* The beginning of a plane, by the meta in the buffer's memories, one after the other. */
struct spot {
    const struct gst_tdl_video *video;
    GstMemory *memory;
    guint plane;
    guint64 offset;
    guint32 stride;
    gboolean for_write;
};

static gboolean find_spot(const struct gst_tdl_import_request *request, guint plane,
                          struct spot *out)
{
    const GstVideoInfo *info = &request->video->info;
    GstVideoMeta *meta = gst_buffer_get_video_meta(request->buffer);
    gsize offset = meta ? meta->offset[plane] : GST_VIDEO_INFO_PLANE_OFFSET(info, plane), skip;
    guint index, count;

    if ((meta && meta->n_planes <= plane) ||
        !gst_buffer_find_memory(request->buffer, offset, 1, &index, &count, &skip))
        return FALSE;
    *out = (struct spot){
        .video = request->video,
        .memory = gst_buffer_peek_memory(request->buffer, index),
        .plane = plane,
        .for_write = request->for_write,
        .stride = meta ? meta->stride[plane] : GST_VIDEO_INFO_PLANE_STRIDE(info, plane),
    };
    out->offset = out->memory->offset + skip;
    return TRUE;
}

/* The planes of one memory share its entry; each comes when it is first asked for. */
static enum tdl_result import_plane(struct gst_tdl_importer *importer, const struct spot *spot,
                                    struct gst_tdl_import_cached *out)
{
    return importer->device->ops->import_image(
        importer->device->context,
        &(struct tdl_image_import_params){
            .format = gst_tdl_caps_format(GST_VIDEO_INFO_FORMAT(&spot->video->info)),
            .plane = spot->plane,
            .width = GST_VIDEO_INFO_WIDTH(&spot->video->info),
            .height = GST_VIDEO_INFO_HEIGHT(&spot->video->info),
            .modifier = spot->video->modifier,
            .fd = gst_dmabuf_memory_get_fd(spot->memory),
            .offset = spot->offset,
            .stride = spot->stride,
            .for_write = spot->for_write,
        },
        &out->images[spot->plane]);
}

static enum tdl_result make(struct gst_tdl_importer *importer, GstMemory *memory, gpointer data,
                            struct gst_tdl_import_cached *out)
{
    (void)memory;
    return import_plane(importer, data, out);
}

static const gchar *take_plane(struct gst_tdl_importer *importer, struct spot *spot,
                               struct gst_tdl_import *out)
{
    struct gst_tdl_import_cached *cached;
    gint fd = gst_dmabuf_memory_get_fd(spot->memory);
    kind_name kind;

    cached = gst_tdl_import_cache_get(importer, gst_tdl_import_root_memory(spot->memory),
                                      kind_of(spot->video, kind), make, spot);
    if (!cached->why && !cached->images[spot->plane] &&
        import_plane(importer, spot, cached) != TDL_OK)
        return tdl_last_error();
    if (cached->why)
        return cached->why;
    out->images[spot->plane] = cached->images[spot->plane];
    out->n_images++;
    if (!out->n_fds || out->fds[out->n_fds - 1] != fd)
        out->fds[out->n_fds++] = fd;
    return NULL;
}

static const gchar *import(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out)
{
    const gchar *why = NULL;

    if (request->video->memory != GST_TDL_MEMORY_DMA_BUF)
        return "the caps are not of dma-bufs";
    if (request->video->modifier == GST_TDL_LINEAR)
        return "its pixels are not tiled";
    if (!importer->device->able.modifiers)
        return "the device knows no tilings (VK_EXT_image_drm_format_modifier)";
    for (guint p = 0; p < request->planes && !why; p++) {
        struct spot spot;

        if (!find_spot(request, p, &spot))
            return "the buffer lacks a plane";
        if (!gst_is_dmabuf_memory(spot.memory))
            return "the memory is not a dma-buf";
        why = take_plane(importer, &spot, out);
    }
    if (why)
        return why;
    return request->for_write
               ? gst_tdl_import_images_stage(importer, request, &request->staging->target, out)
               : gst_tdl_import_images_read(importer, request, out);
}

const struct gst_tdl_import_method gst_tdl_import_dma_buf_image = {
    .path = "dma-buf-image",
    .import = import,
    .gpu = TRUE,
    .writes = TRUE,
};

void gst_tdl_import_cache_put_image(struct gst_tdl_device *device, GstMemory *memory,
                                    const struct gst_tdl_video *video, guint plane,
                                    struct tdl_image *image)
{
    struct gst_tdl_import_cached contents = { .buffer = NULL };
    kind_name kind;

    contents.images[plane] = image;
    gst_tdl_import_cache_put(device, memory, kind_of(video, kind), &contents);
}
