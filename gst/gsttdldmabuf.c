/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldmabuf.h"

#include "gsttdlerror.h"
#include "gsttdlimport.h"

#include <gst/allocators/gstdmabuf.h>
#include <unistd.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

typedef struct {
    GstBufferPool base;
    struct tdl_context *context;
    GObject *keeper; /* of the context's device, or NULL */
    GstAllocator *allocator;
    GstVideoInfo info; /* with the strides of our buffers */
} GstTdlDmaBufPool;
typedef struct {
    GstBufferPoolClass base;
} GstTdlDmaBufPoolClass;

GType gst_tdl_dma_buf_pool_get_type(void);
G_DEFINE_TYPE(GstTdlDmaBufPool, gst_tdl_dma_buf_pool, GST_TYPE_BUFFER_POOL)

/* V4L2 knows one stride for all planes of I420: chroma's is half of luma's. */
gboolean gst_tdl_dma_buf_layout(GstVideoInfo *info, gboolean padded)
{
    gboolean i420 = GST_VIDEO_INFO_FORMAT(info) == GST_VIDEO_FORMAT_I420;
    GstVideoAlignment align;

    if (!padded)
        return TRUE;
    gst_video_alignment_reset(&align);
    for (guint i = 0; i < GST_VIDEO_MAX_PLANES; i++)
        align.stride_align[i] = GST_TDL_DMA_BUF_ROW_ALIGN * (i420 && i == 0 ? 2 : 1) - 1;
    return gst_video_info_align(info, &align);
}

static const gchar **pool_get_options(GstBufferPool *pool)
{
    static const gchar *options[] = { GST_BUFFER_POOL_OPTION_VIDEO_META, NULL };

    (void)pool;
    return options;
}

static gboolean pool_set_config(GstBufferPool *pool, GstStructure *config)
{
    GstTdlDmaBufPool *self = (GstTdlDmaBufPool *)pool;
    struct gst_tdl_video video;
    GstCaps *caps = NULL;
    guint size, min, max;
    gboolean padded;

    if (!gst_buffer_pool_config_get_params(config, &caps, &size, &min, &max) || !caps ||
        !gst_tdl_video_from_caps(caps, &video)) {
        GST_WARNING_OBJECT(pool, "a pool cannot be made for caps %" GST_PTR_FORMAT, caps);
        return FALSE;
    }
    self->info = video.info;
    padded = gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_tdl_dma_buf_layout(&self->info, padded))
        return FALSE;
    gst_buffer_pool_config_set_params(config, caps, self->info.size, min, max);
    gst_buffer_pool_config_set_allocator(config, self->allocator, NULL);
    return GST_BUFFER_POOL_CLASS(gst_tdl_dma_buf_pool_parent_class)->set_config(pool, config);
}

/* The memory owns the descriptor; what it is to our device is kept at it. */
static GstMemory *make_memory(GstTdlDmaBufPool *self)
{
    struct tdl_buffer *buffer = NULL;
    GstMemory *memory;
    int fd = -1;

    if (tdl_buffer_create_exportable(self->context, TDL_HANDLE_DMA_BUF, self->info.size,
                                     &buffer) != TDL_OK ||
        tdl_buffer_export_fd(buffer, &fd) != TDL_OK) {
        GST_ERROR_OBJECT(self, "cannot make a dma-buf of %" G_GSIZE_FORMAT " bytes: %s",
                         self->info.size, tdl_last_error());
        tdl_buffer_destroy(&buffer);
        return NULL;
    }
    memory = gst_dmabuf_allocator_alloc_with_flags(self->allocator, fd, self->info.size,
                                                   GST_FD_MEMORY_FLAG_KEEP_MAPPED);
    if (!memory) {
        close(fd);
        tdl_buffer_destroy(&buffer);
        return NULL;
    }
    gst_tdl_cache_put(self->context, self->keeper, memory, buffer);
    return memory;
}

static GstFlowReturn pool_alloc_buffer(GstBufferPool *pool, GstBuffer **out,
                                       GstBufferPoolAcquireParams *params)
{
    GstTdlDmaBufPool *self = (GstTdlDmaBufPool *)pool;
    GstVideoInfo *info = &self->info;
    GstMemory *memory = make_memory(self);

    (void)params;
    if (!memory)
        return GST_FLOW_ERROR;
    *out = gst_buffer_new();
    gst_buffer_append_memory(*out, memory);
    gst_buffer_add_video_meta_full(*out, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
                                   info->width, info->height, GST_VIDEO_INFO_N_PLANES(info),
                                   info->offset, info->stride);
    return GST_FLOW_OK;
}

static void pool_finalize(GObject *object)
{
    GstTdlDmaBufPool *self = (GstTdlDmaBufPool *)object;

    gst_clear_object(&self->allocator);
    tdl_context_destroy(&self->context);
    g_clear_object(&self->keeper);
    G_OBJECT_CLASS(gst_tdl_dma_buf_pool_parent_class)->finalize(object);
}

static void gst_tdl_dma_buf_pool_class_init(GstTdlDmaBufPoolClass *klass)
{
    GstBufferPoolClass *pool = GST_BUFFER_POOL_CLASS(klass);

    G_OBJECT_CLASS(klass)->finalize = pool_finalize;
    pool->get_options = pool_get_options;
    pool->set_config = pool_set_config;
    pool->alloc_buffer = pool_alloc_buffer;
}

static void gst_tdl_dma_buf_pool_init(GstTdlDmaBufPool *self)
{
    self->allocator = gst_dmabuf_allocator_new();
}

GstBufferPool *gst_tdl_dma_buf_pool_new(struct tdl_context *context, GObject *keeper)
{
    GstTdlDmaBufPool *self = g_object_new(gst_tdl_dma_buf_pool_get_type(), NULL);

    self->context = tdl_context_ref(context);
    self->keeper = keeper ? g_object_ref(keeper) : NULL;
    return gst_object_ref_sink(self);
}
