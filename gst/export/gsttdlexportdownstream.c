/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Downstream's own pool, or memory of its allocator: what it will show or encode is
 * written in place. It is of dma-bufs, or, where the CPU is the device, of anything. */
#include "gsttdlexporter.h"

#include "base/gsttdlerror.h"

#include <gst/allocators/gstdmabuf.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

static gboolean is_for(const struct gst_tdl_video *video)
{
    return video->memory != GST_TDL_MEMORY_VULKAN;
}

/* Plain memory of downstream's is as good as ours, and ours need not be ready when it
 * goes on. */
static const gchar *check_kind(GstBuffer *buffer, gboolean mapped)
{
    for (guint i = 0; i < gst_buffer_n_memory(buffer); i++) {
        GstMemory *memory = gst_buffer_peek_memory(buffer, i);

        if (!mapped && !gst_is_dmabuf_memory(memory))
            return "its buffers are not dma-bufs";
        if (mapped && gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM))
            return "its buffers are plain memory, as ours";
    }
    return NULL;
}

/* Only a buffer of it says of what a pool is. */
static const gchar *try_buffer(struct gst_tdl_session *session, GstBufferPool *pool,
                               const struct gst_tdl_video *out, gboolean mapped)
{
    struct gst_tdl_staging staging = { NULL };
    struct gst_tdl_import import = { .n_uses = 0 };
    GError *error = NULL;
    GstBuffer *buffer = NULL;
    const gchar *why;

    if (!gst_buffer_pool_set_active(pool, TRUE) ||
        gst_buffer_pool_acquire_buffer(pool, &buffer, NULL) != GST_FLOW_OK)
        return "it gives no buffer";
    why = check_kind(buffer, mapped);
    if (!why &&
        !gst_tdl_import_target(&session->importer, buffer, out, &staging, &import, &error)) {
        GST_INFO("downstream's memory cannot be written: %s", error->message);
        why = mapped ? "its memory cannot be mapped" : "the device cannot import its dma-bufs";
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

static const gchar *try_pool(const struct gst_tdl_export_request *request, GstBufferPool *pool,
                             GstCaps *caps, gsize size, guint min, guint max, gboolean mapped)
{
    if (!mapped && !request->session->device->able.dma_buf_in)
        return "the device cannot import dma-bufs";
    if (!mapped && !may_have_dma_bufs(pool, request->video))
        return "downstream's pool is not of dma-bufs";
    if (!gst_tdl_export_configure(pool, caps, size, min, max, request->meta))
        return "downstream's pool refuses its configuration";
    return try_buffer(request->session, pool, request->video, mapped);
}

/* A pool of the allocator that downstream names without a pool, as unixfdsink does, which
 * sends the memory's descriptor on; else NULL. */
static GstBufferPool *pool_of_allocator(const struct gst_tdl_export_request *request, GstCaps *caps)
{
    GstAllocator *allocator = NULL;
    GstAllocationParams params;
    GstStructure *config;
    GstBufferPool *pool;

    if (gst_query_get_n_allocation_params(request->query) > 0)
        gst_query_parse_nth_allocation_param(request->query, 0, &allocator, &params);
    if (!allocator)
        return NULL;
    pool = gst_video_buffer_pool_new();
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, request->video->info.size, 0, 0);
    gst_buffer_pool_config_set_allocator(config, allocator, &params);
    gst_buffer_pool_set_config(pool, config);
    gst_object_unref(allocator);
    return pool;
}

static const gchar *export_to(const struct gst_tdl_export_request *request, gboolean mapped)
{
    GstBufferPool *pool;
    const gchar *why;
    guint size, min, max;
    GstCaps *caps;

    gst_tdl_export_asked(request->query, &caps, &pool, &size, &min, &max);
    if (!pool && mapped)
        pool = pool_of_allocator(request, caps);
    if (!pool)
        return "downstream has no pool";
    size = MAX(size, request->video->info.size);
    why = try_pool(request, pool, caps, size, min, max, mapped);
    if (why)
        gst_buffer_pool_set_active(pool, FALSE);
    else
        gst_tdl_export_set_pool(request->query, pool, size, min, max);
    gst_object_unref(pool);
    return why;
}

static const gchar *export_dma_bufs(const struct gst_tdl_export_request *request, GError **error)
{
    (void)error;
    return export_to(request, FALSE);
}

static const gchar *export_mapped(const struct gst_tdl_export_request *request, GError **error)
{
    (void)error;
    return export_to(request, TRUE);
}

const struct gst_tdl_export_method gst_tdl_export_downstream = {
    .path = "dma-buf-downstream",
    .is_for = is_for,
    .export = export_dma_bufs,
};

const struct gst_tdl_export_method gst_tdl_export_downstream_mapped = {
    .path = "downstream",
    .is_for = is_for,
    .maps = TRUE,
    .export = export_mapped,
};
