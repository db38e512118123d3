/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlexport.h"

#include "gsttdldmabuf.h"
#include "gsttdlerror.h"
#include "gsttdlpool.h"

#include <gst/allocators/gstdmabuf.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Upstream needs this many buffers while the GPU holds its own. */
#define POOL_MIN (GST_TDL_FLIGHT_SLOTS + 1)
/* How far upstream an element that imports dma-bufs is looked for. */
#define MAX_HOPS 16

const gchar *const gst_tdl_export_downstream = "dma-buf-downstream";
const gchar *const gst_tdl_export_dma_buf = "dma-buf";
const gchar *const gst_tdl_export_dma_buf_image = "dma-buf-image";
const gchar *const gst_tdl_export_vulkan = "vulkan-image";
const gchar *const gst_tdl_export_pool = "pool";

/* --------------------------------------------------------------- downstream */

static void set_pool(GstQuery *query, GstBufferPool *pool, gsize size, guint min, guint max)
{
    if (gst_query_get_n_allocation_pools(query) > 0)
        gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max);
    else
        gst_query_add_allocation_pool(query, pool, size, min, max);
}

static gboolean configure(GstBufferPool *pool, GstCaps *caps, gsize size, guint min, guint max,
                          gboolean meta)
{
    GstStructure *config = gst_buffer_pool_get_config(pool);

    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    if (meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (gst_buffer_pool_has_option(pool, "GstBufferPoolOptionKMSPrimeExport"))
        gst_buffer_pool_config_add_option(config, "GstBufferPoolOptionKMSPrimeExport");
    if (gst_buffer_pool_set_config(pool, config))
        return TRUE;
    config = gst_buffer_pool_get_config(pool); /* it has put in what it can do */
    return gst_buffer_pool_config_validate_params(config, caps, size, min, max) &&
           gst_buffer_pool_set_config(pool, config);
}

/* Only a buffer of it says of what a pool is. */
static const gchar *try_buffer(struct gst_tdl_session *session, GstBufferPool *pool,
                               const struct gst_tdl_video *out)
{
    struct gst_tdl_staging staging = { NULL };
    struct gst_tdl_import import = { .n_uses = 0 };
    GError *error = NULL;
    GstBuffer *buffer = NULL;
    const gchar *why = NULL;

    if (!gst_buffer_pool_set_active(pool, TRUE) ||
        gst_buffer_pool_acquire_buffer(pool, &buffer, NULL) != GST_FLOW_OK)
        return "it gives no buffer";
    for (guint i = 0; i < gst_buffer_n_memory(buffer) && !why; i++)
        if (!gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, i)))
            why = "its buffers are not dma-bufs";
    if (!why && !gst_tdl_import_target(&session->importer, buffer, out, &staging, &import,
                                        &error)) {
        GST_INFO("downstream's dma-bufs cannot be written: %s", error->message);
        why = "the device cannot import its dma-bufs";
        g_error_free(error);
    }
    gst_tdl_import_release(&import);
    gst_tdl_staging_clear(&staging);
    gst_buffer_unref(buffer);
    return why;
}

/* Under caps of system memory trying a pool out would make it allocate frames
 * that nobody needs; sinks that have dma-bufs there are known by their signs. */
static gboolean may_have_dma_bufs(GstBufferPool *pool, const struct gst_tdl_video *out)
{
    GstStructure *config;
    GstAllocator *allocator = NULL;
    gboolean yes;

    if (out->memory == GST_TDL_MEMORY_DMA_BUF ||
        gst_buffer_pool_has_option(pool, "GstBufferPoolOptionKMSPrimeExport"))
        return TRUE;
    config = gst_buffer_pool_get_config(pool);
    yes = gst_buffer_pool_config_get_allocator(config, &allocator, NULL) && allocator &&
          GST_IS_DMABUF_ALLOCATOR(allocator);
    gst_structure_free(config);
    return yes;
}

static const gchar *try_downstream(struct gst_tdl_session *session, GstQuery *query,
                                   const struct gst_tdl_video *out, gboolean meta)
{
    GstBufferPool *pool = NULL;
    guint size = 0, min = 0, max = 0;
    const gchar *why = NULL;
    GstCaps *caps;

    gst_query_parse_allocation(query, &caps, NULL);
    if (gst_query_get_n_allocation_pools(query) > 0)
        gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    if (!pool)
        return "downstream has no pool";
    if (!session->device->able.dma_buf_in)
        why = "the device cannot import dma-bufs";
    else if (!may_have_dma_bufs(pool, out))
        why = "downstream's pool is not of dma-bufs";
    else if (!configure(pool, caps, MAX(size, out->info.size), min, max, meta))
        why = "downstream's pool refuses its configuration";
    else
        why = try_buffer(session, pool, out);
    if (why)
        gst_buffer_pool_set_active(pool, FALSE);
    else
        set_pool(query, pool, MAX(size, out->info.size), min, max);
    gst_object_unref(pool);
    return why;
}

static gboolean use_own(GstQuery *query, GstBufferPool *pool, const struct gst_tdl_video *out,
                        gboolean meta)
{
    guint size = 0, min = 0, max = 0;
    GstCaps *caps;
    gboolean ok;

    gst_query_parse_allocation(query, &caps, NULL);
    if (gst_query_get_n_allocation_pools(query) > 0)
        gst_query_parse_nth_allocation_pool(query, 0, NULL, &size, &min, &max);
    ok = configure(pool, caps, out->info.size, min, 0, meta);
    set_pool(query, pool, out->info.size, min, 0);
    gst_object_unref(pool);
    return ok;
}

/* Images that go away must not be those that the GPU still writes. */
static const gchar *decide_vulkan(struct gst_tdl_session *session, GstQuery *query,
                                  const struct gst_tdl_video *out, GError **error)
{
    GstBufferPool *pool;
    guint min = 0;
    GstCaps *caps;

    gst_query_parse_allocation(query, &caps, NULL);
    if (gst_query_get_n_allocation_pools(query) > 0)
        gst_query_parse_nth_allocation_pool(query, 0, NULL, NULL, &min, NULL);
    gst_tdl_session_drain(session);
    pool = gst_tdl_vulkan_pool(session->device, caps, out->info.size, min);
    if (!pool) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "GStreamer's Vulkan library makes no images of %s on this device. Put the caps "
                    "video/x-raw behind tdlfilter, or choose another format.",
                    GST_VIDEO_INFO_NAME(&out->info));
        return NULL;
    }
    set_pool(query, pool, out->info.size, min, 0);
    gst_object_unref(pool);
    return gst_tdl_export_vulkan;
}

const gchar *gst_tdl_export_decide(struct gst_tdl_session *session, GstQuery *query,
                                   const struct gst_tdl_video *out, GString *reason,
                                   GError **error)
{
    gboolean meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    gboolean dma_buf = out->memory == GST_TDL_MEMORY_DMA_BUF;
    const gchar *path, *why;
    GstBufferPool *pool;

    g_string_truncate(reason, 0);
    if (out->memory == GST_TDL_MEMORY_VULKAN)
        return decide_vulkan(session, query, out, error);
    why = try_downstream(session, query, out, meta || dma_buf);
    if (!why)
        return gst_tdl_export_downstream;
    g_string_append_printf(reason, "%s: %s; %s", gst_tdl_export_downstream, why,
                           gst_tdl_export_dma_buf);
    if (!dma_buf) {
        g_string_append(reason, ": the caps agreed on are of system memory");
        pool = gst_tdl_pool_new(session->readback, NULL);
        path = gst_tdl_export_pool;
    } else if (session->device->able.dma_buf_out) {
        pool = gst_tdl_dma_buf_pool_new(session->device, NULL);
        path = out->modifier == GST_TDL_LINEAR ? gst_tdl_export_dma_buf
                                               : gst_tdl_export_dma_buf_image;
    } else {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "No dma-bufs for the output: %s, and the device cannot make any itself. Put "
                    "the caps video/x-raw behind tdlfilter for frames in system memory, or choose "
                    "another device (tdl-info lists what they can do).", why);
        return NULL;
    }
    if (use_own(query, pool, out, meta || dma_buf))
        return path;
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "The output's pool cannot be set up for %dx%d px of %s. Please report this with a "
                "log of GST_DEBUG=tdl*:6.", out->info.width, out->info.height,
                GST_VIDEO_INFO_NAME(&out->info));
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

/* NULL where the device makes none for these caps. */
static GstBufferPool *offered_pool(const struct gst_tdl_offer *offer, GstCaps *caps, gsize size,
                                   gboolean dma_buf)
{
    GstBufferPool *pool =
        dma_buf ? gst_tdl_dma_buf_pool_new(offer->device, offer->element)
                : gst_tdl_pool_new(offer->upload, offer->element);
    GstStructure *config = gst_buffer_pool_get_config(pool);

    gst_buffer_pool_config_set_params(config, caps, size, POOL_MIN, 0);
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
    if (dma_buf && gst_tdl_dma_buf_layout(&video.info, TRUE))
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
