/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Importers stand in a table in the order of what they cost. Each either
 * fills in the planes of the frame or says why it declines; the last one
 * copies, and the element announces that.
 *
 * A host import is expensive (the driver pins the pages), so it is kept at
 * the GstMemory and goes with it: upstreams recycle a handful of memories.
 */
#include "gsttdlimport.h"

#include "gsttdlcaps.h"
#include "gsttdlerror.h"
#include "gsttdlpool.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* A plane of the incoming buffer: where it is, whatever kind of memory. */
struct place {
    GstMemory *memory; /* borrowed; NULL when the plane spans several */
    gsize skip;        /* bytes from the memory's start */
    gint stride;
    gsize row, rows;
};

struct request {
    GstBuffer *buffer;
    const GstVideoInfo *info;
    struct gst_tdl_staging *staging;
    gboolean may_copy;
    guint planes;
    struct place places[TDL_MAX_PLANES];
};

/* ------------------------------------------------------------------ planes */

/* Bytes from the first pixel's to one past the last, or 0 for rows that run
 * upwards, which only the copying importer reads. */
static gsize place_size(const struct place *place)
{
    return place->stride < 0 ? 0 : place->stride * (place->rows - 1) + place->row;
}

static gboolean fits(const struct place *place, gsize offset, gsize size)
{
    gint64 last = (gint64)offset + (gint64)place->stride * ((gint64)place->rows - 1);

    return MIN((gint64)offset, last) >= 0 && MAX((gint64)offset, last) + place->row <= size;
}

static gboolean find_places(struct request *request, GError **error)
{
    const GstVideoInfo *info = request->info;
    GstVideoMeta *meta = gst_buffer_get_video_meta(request->buffer);
    gsize size = gst_buffer_get_size(request->buffer);

    request->planes = GST_VIDEO_INFO_N_PLANES(info);
    for (guint p = 0; p < request->planes; p++) {
        struct place *place = &request->places[p];
        gsize offset = meta ? meta->offset[p] : GST_VIDEO_INFO_PLANE_OFFSET(info, p);
        guint index, count;

        *place = (struct place){
            .stride = meta ? meta->stride[p] : GST_VIDEO_INFO_PLANE_STRIDE(info, p),
            .row = gst_tdl_plane_row(info->finfo, p, GST_VIDEO_INFO_WIDTH(info)),
            .rows = gst_tdl_plane_rows(info->finfo, p, GST_VIDEO_INFO_HEIGHT(info)),
        };
        if ((meta && meta->n_planes <= p) || !fits(place, offset, size)) {
            g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                        "A frame of %" G_GSIZE_FORMAT " bytes is too small for %dx%d px of %s. The "
                        "element before tdlfilter sends other pictures than its caps say: put a "
                        "videoconvert between them, or correct the caps.",
                        size, GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info),
                        GST_VIDEO_INFO_NAME(info));
            return FALSE;
        }
        if (place_size(place) &&
            gst_buffer_find_memory(request->buffer, offset, place_size(place), &index, &count,
                                   &place->skip) && count == 1)
            place->memory = gst_buffer_peek_memory(request->buffer, index);
    }
    return TRUE;
}

static void set_plane(struct tdl_frame *frame, guint plane, struct tdl_buffer *buffer,
                      gsize offset, gint stride)
{
    frame->planes[plane] =
        (struct tdl_plane){ .buffer = buffer, .offset = offset, .stride = stride };
}

/* ------------------------------------------------------- our pool's memory */

static const gchar *import_pool(struct gst_tdl_importer *importer, struct request *request,
                                struct tdl_frame *frame)
{
    for (guint p = 0; p < request->planes; p++) {
        const struct place *place = &request->places[p];
        struct tdl_buffer *buffer;
        gsize offset;

        if (!place->memory)
            return "a plane is spread over several memories, or upside down";
        buffer = gst_tdl_memory_buffer(place->memory, importer->context, &offset);
        if (!buffer)
            return "the memory is not of tdlfilter's pool on this device";
        set_plane(frame, p, buffer, offset + place->skip, place->stride);
    }
    return NULL;
}

/* ------------------------------------------------------------ host pointer */

struct host_import {
    struct tdl_buffer *buffer; /* NULL: the driver refused these pages */
    guint64 offset;            /* of the memory's first byte in it */
};

static void host_import_free(gpointer data)
{
    struct host_import *import = data;

    tdl_buffer_destroy(&import->buffer);
    g_free(import);
}

/* Per context, as elements on two devices may see the same memory. */
static GQuark host_import_quark(const struct tdl_context *context)
{
    gchar name[48];

    g_snprintf(name, sizeof(name), "tdl-host-import-%p", (const void *)context);
    return g_quark_from_string(name);
}

/* Two branches of a tee may come with the same memory at once. */
static GMutex host_import_lock;

static struct host_import *host_import_get(struct gst_tdl_importer *importer, GstMemory *memory,
                                           gpointer data)
{
    GQuark quark = host_import_quark(importer->context);
    struct host_import *import;

    g_mutex_lock(&host_import_lock);
    import = gst_mini_object_get_qdata(GST_MINI_OBJECT(memory), quark);
    if (import) {
        importer->stats.cache_hits += import->buffer != NULL;
    } else {
        import = g_new0(struct host_import, 1);
        if (tdl_buffer_import_host(importer->context, data, memory->size, &import->buffer,
                                   &import->offset) == TDL_OK)
            importer->stats.imports++;
        else
            GST_DEBUG("host import of %p declined: %s", data, tdl_last_error());
        gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark, import, host_import_free);
    }
    g_mutex_unlock(&host_import_lock);
    return import;
}

/* Only the address is of interest; system memory keeps it for life. */
static guint8 *memory_address(GstMemory *memory)
{
    GstMapInfo map;

    if (!gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) ||
        !gst_memory_map(memory, &map, GST_MAP_READ))
        return NULL;
    gst_memory_unmap(memory, &map);
    return map.data;
}

static const gchar *import_host_plane(struct gst_tdl_importer *importer,
                                      const struct place *place, guint p, struct tdl_frame *frame)
{
    GstMemory *root;
    struct host_import *import;
    guint8 *root_data, *data;

    if (!place->memory)
        return "a plane is spread over several memories, or upside down";
    root = place->memory->parent ? place->memory->parent : place->memory;
    root_data = memory_address(root);
    data = memory_address(place->memory);
    if (!root_data || !data)
        return "the memory is not plain system memory";
    if (data < root_data || data + place->skip + place_size(place) > root_data + root->size)
        return "the memory reaches out of its parent";
    import = host_import_get(importer, root, root_data);
    if (!import->buffer)
        return "the device does not take this address";
    set_plane(frame, p, import->buffer, import->offset + (data - root_data) + place->skip,
              place->stride);
    return NULL;
}

static const gchar *import_host(struct gst_tdl_importer *importer, struct request *request,
                                struct tdl_frame *frame)
{
    if (!tdl_context_device(importer->context)->external_memory_host)
        return "the device lacks VK_EXT_external_memory_host";
    for (guint p = 0; p < request->planes; p++) {
        const gchar *why = import_host_plane(importer, &request->places[p], p, frame);

        if (why)
            return why;
    }
    return NULL;
}

/* -------------------------------------------------------------------- copy */

static gboolean staging_reserve(struct gst_tdl_staging *staging, struct tdl_context *context,
                                gsize size)
{
    if (staging->buffer && tdl_buffer_size(staging->buffer) >= size)
        return TRUE;
    tdl_buffer_destroy(&staging->buffer);
    return tdl_buffer_create(context, size, TDL_BUFFER_UPLOAD, &staging->buffer) == TDL_OK;
}

static const gchar *import_copy(struct gst_tdl_importer *importer, struct request *request,
                                struct tdl_frame *frame)
{
    struct tdl_frame layout;
    gsize size = tdl_frame_layout(&layout, frame->format, frame->width, frame->height, 64);
    GstVideoFrame video;
    guint8 *to;

    if (!request->may_copy)
        return "require-zero-copy forbids it";
    if (!size || !staging_reserve(request->staging, importer->context, size) ||
        tdl_buffer_wait(request->staging->buffer, true) != TDL_OK)
        return tdl_last_error();
    if (!gst_video_frame_map(&video, request->info, request->buffer,
                             GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
        return "the frame cannot be mapped";
    to = tdl_buffer_data(request->staging->buffer);
    for (guint p = 0; p < request->planes; p++) {
        const struct place *place = &request->places[p];
        const guint8 *from = GST_VIDEO_FRAME_PLANE_DATA(&video, p);

        for (gsize y = 0; y < place->rows; y++)
            memcpy(to + layout.planes[p].offset + y * layout.planes[p].stride,
                   from + (gssize)y * place->stride, place->row);
        importer->stats.cpu_copied_bytes += place->row * place->rows;
        set_plane(frame, p, request->staging->buffer, layout.planes[p].offset,
                  layout.planes[p].stride);
    }
    gst_video_frame_unmap(&video);
    return NULL;
}

/* ------------------------------------------------------------------- table */

const gchar *const gst_tdl_import_copy = "copy";

/* NULL: done; else why not. */
typedef const gchar *(*import_fn)(struct gst_tdl_importer *importer, struct request *request,
                                  struct tdl_frame *frame);

static const struct {
    const gchar *path;
    import_fn import;
} importers[] = {
    /* Places of those to come, in this order: "vulkan-image",
     * "dma-buf" (as a buffer), "dma-buf-image" (tiled, plane by plane). */
    { "pool", import_pool },
    { "host-pointer", import_host },
    { "copy", import_copy },
};

void gst_tdl_importer_init(struct gst_tdl_importer *importer, struct tdl_context *context)
{
    *importer = (struct gst_tdl_importer){ .context = context, .path = "none" };
}

gboolean gst_tdl_import(struct gst_tdl_importer *importer, GstBuffer *buffer,
                        const GstVideoInfo *info, gboolean may_copy,
                        struct gst_tdl_staging *staging, struct tdl_frame *out_frame,
                        GError **error)
{
    struct request request = {
        .buffer = buffer, .info = info, .staging = staging, .may_copy = may_copy
    };

    importer->declined[0] = '\0';
    if (!find_places(&request, error))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(importers); i++) {
        const gchar *why;
        gsize length = strlen(importer->declined);

        gst_tdl_caps_frame(info, out_frame);
        why = importers[i].import(importer, &request, out_frame);
        if (!why) {
            importer->path = importers[i].path;
            return TRUE;
        }
        g_snprintf(importer->declined + length, sizeof(importer->declined) - length, "%s%s: %s",
                   length ? "; " : "", importers[i].path, why);
    }
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "No way to give the frame to the GPU (%s). Let the element before tdlfilter use "
                "the buffer pool that it is offered%s.",
                importer->declined,
                may_copy ? "" : ", or set require-zero-copy=false to let the CPU copy");
    return FALSE;
}

gboolean gst_tdl_import_target(struct tdl_context *context, GstBuffer *buffer,
                               const GstVideoInfo *info, struct tdl_frame *out_frame,
                               GError **error)
{
    struct gst_tdl_importer importer = { .context = context };
    struct request request = { .buffer = buffer, .info = info };
    const gchar *why;

    gst_tdl_caps_frame(info, out_frame);
    if (!find_places(&request, error))
        return FALSE;
    why = import_pool(&importer, &request, out_frame);
    if (why)
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
                    "The output frame cannot be written by the GPU: %s. Please report this with a "
                    "log of GST_DEBUG=tdl*:6.", why);
    return !why;
}
