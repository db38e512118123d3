/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlexport.h"

#include "gsttdlexporter.h"
#include "gsttdlexportdmabufpool.h"
#include "memory/gsttdlpool.h"

/* Upstream needs this many buffers while the GPU holds its own. */
#define POOL_MIN (GST_TDL_FLIGHT_SLOTS + 1)
/* How far upstream an element that imports dma-bufs is looked for. */
#define MAX_HOPS 16

static const struct gst_tdl_export_method *const methods[] = {
    &gst_tdl_export_vulkan,  &gst_tdl_export_downstream,    &gst_tdl_export_downstream_mapped,
    &gst_tdl_export_dma_buf, &gst_tdl_export_dma_buf_image, &gst_tdl_export_pool,
};

/* -------------------------------------------------------------------- pools */

void gst_tdl_export_asked(GstQuery *query, GstCaps **out_caps, GstBufferPool **out_pool,
                          guint *out_size, guint *out_min, guint *out_max)
{
    GstBufferPool *pool = NULL;
    guint size = 0, min = 0, max = 0;

    gst_query_parse_allocation(query, out_caps, NULL);
    if (gst_query_get_n_allocation_pools(query) > 0)
        gst_query_parse_nth_allocation_pool(query, 0, out_pool ? &pool : NULL, &size, &min, &max);
    if (out_pool)
        *out_pool = pool;
    if (out_size)
        *out_size = size;
    if (out_min)
        *out_min = min;
    if (out_max)
        *out_max = max;
}

void gst_tdl_export_set_pool(GstQuery *query, GstBufferPool *pool, gsize size, guint min, guint max)
{
    if (gst_query_get_n_allocation_pools(query) > 0)
        gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max);
    else
        gst_query_add_allocation_pool(query, pool, size, min, max);
}

gboolean gst_tdl_export_configure(GstBufferPool *pool, GstCaps *caps, gsize size, guint min,
                                  guint max, gboolean meta)
{
    GstStructure *config = gst_buffer_pool_get_config(pool);

    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    if (meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (gst_buffer_pool_has_option(pool, "GstBufferPoolOptionKMSPrimeExport"))
        gst_buffer_pool_config_add_option(config, "GstBufferPoolOptionKMSPrimeExport");
    if (gst_buffer_pool_set_config(pool, config))
        return TRUE;
    config = gst_buffer_pool_get_config(pool); /* the pool has put in what it can do */
    return gst_buffer_pool_config_validate_params(config, caps, size, min, max) &&
           gst_buffer_pool_set_config(pool, config);
}

const gchar *gst_tdl_export_from(const struct gst_tdl_export_request *request, GstBufferPool *pool,
                                 GError **error)
{
    const GstVideoInfo *info = &request->video->info;
    gboolean ok;
    GstCaps *caps;
    guint min;

    gst_tdl_export_asked(request->query, &caps, NULL, NULL, &min, NULL);
    ok = gst_tdl_export_configure(pool, caps, info->size, min, 0, request->meta);
    gst_tdl_export_set_pool(request->query, pool, info->size, min, 0);
    gst_object_unref(pool);
    if (ok)
        return NULL;
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "The output's pool cannot be set up for %dx%d px of %s. Please report this with a "
                "log of GST_DEBUG=tdl*:6.",
                info->width, info->height, GST_VIDEO_INFO_NAME(info));
    return "the pool cannot be set up";
}

/* --------------------------------------------------------------- downstream */

const gchar *gst_tdl_export_decide(struct gst_tdl_session *session, GstQuery *query,
                                   const struct gst_tdl_video *out, GString *reason, GError **error)
{
    struct gst_tdl_export_request request = {
        .session = session,
        .query = query,
        .video = out,
        .meta = out->memory == GST_TDL_MEMORY_DMA_BUF ||
                gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL),
    };
    GError *failure = NULL;

    g_string_truncate(reason, 0);
    for (guint i = 0; i < G_N_ELEMENTS(methods) && !failure; i++) {
        const gchar *why;

        if (!methods[i]->is_for(out) || (methods[i]->maps && !session->device->able.maps))
            continue;
        why = methods[i]->export(&request, &failure);
        if (!why)
            return methods[i]->path;
        g_string_append_printf(reason, "%s%s: %s", reason->len ? "; " : "", methods[i]->path, why);
        request.declined = why;
    }
    if (failure)
        g_propagate_error(error, failure);
    return NULL;
}

/* ----------------------------------------------------------------- upstream */

static gboolean imports_dma_bufs(GstElement *element)
{
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "io-mode");
    GValue value = G_VALUE_INIT;
    const GEnumValue *choice;
    gboolean yes;

    if (!spec || !G_IS_PARAM_SPEC_ENUM(spec))
        return FALSE;
    g_value_init(&value, spec->value_type);
    g_object_get_property(G_OBJECT(element), "io-mode", &value);
    choice = g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, g_value_get_enum(&value));
    yes = choice && !g_strcmp0(choice->value_nick, "dmabuf-import");
    g_value_unset(&value);
    return yes;
}

/* Nothing in the query says so: the element that will write is asked, past
 * those that only pass on (queues, caps filters). */
static gboolean upstream_imports(GstPad *pad)
{
    gboolean yes = FALSE;

    gst_object_ref(pad);
    for (guint hop = 0; pad && !yes && hop < MAX_HOPS; hop++) {
        GstElement *element = gst_pad_get_parent_element(pad);
        GstPad *sink;

        gst_clear_object(&pad);
        if (!element)
            break;
        yes = imports_dma_bufs(element);
        sink = gst_element_get_static_pad(element, "sink");
        if (sink)
            pad = gst_pad_get_peer(sink);
        gst_clear_object(&sink);
        gst_object_unref(element);
    }
    gst_clear_object(&pad);
    return yes;
}

/* NULL where the device makes none for these caps. The rows of mapped memory are GStreamer's
 * unless upstream asks for GstVideoMeta: sources that write tightly keep what they find. */
static GstBufferPool *offered_pool(const struct gst_tdl_offer *offer, GstCaps *caps, gsize size,
                                   gboolean dma_buf)
{
    GstBufferPool *pool = dma_buf ? gst_tdl_export_dma_buf_pool_new(offer->device, offer->element)
                                  : gst_tdl_pool_new(offer->upload, offer->element);
    GstStructure *config = gst_buffer_pool_get_config(pool);

    gst_buffer_pool_config_set_params(config, caps, size, POOL_MIN, 0);
    if (dma_buf)
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_buffer_pool_set_config(pool, config))
        gst_clear_object(&pool);
    return pool;
}

/* A pool entry is there in any case: without one v4l2src copies when it runs
 * low on buffers. */
gboolean gst_tdl_export_propose(const struct gst_tdl_offer *offer, GstQuery *query,
                                GstPad *upstream)
{
    GstBufferPool *pool = NULL;
    struct gst_tdl_video video;
    gboolean need_pool, dma_buf;
    gsize size;
    GstCaps *caps;

    gst_query_parse_allocation(query, &caps, &need_pool);
    if (!caps || !gst_tdl_video_from_caps(caps, &video))
        return FALSE;
    dma_buf = offer->device->able.dma_buf_out &&
              (video.memory == GST_TDL_MEMORY_DMA_BUF || (upstream && upstream_imports(upstream)));
    size = video.info.size;
    if (dma_buf && gst_tdl_export_dma_buf_layout(&video.info, TRUE))
        size = video.info.size;
    if (need_pool && (dma_buf || video.memory == GST_TDL_MEMORY_SYSTEM))
        pool = offered_pool(offer, caps, size, dma_buf);
    if (video.memory == GST_TDL_MEMORY_SYSTEM && !dma_buf)
        gst_query_add_allocation_param(query, offer->upload, NULL);
    gst_query_add_allocation_pool(query, pool, size, POOL_MIN, 0);
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL);
    gst_clear_object(&pool);
    return TRUE;
}
