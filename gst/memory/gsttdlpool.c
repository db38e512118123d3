/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlpool.h"

#include "base/gsttdlerror.h"

#define ROW_ALIGN 64 /* bytes: a cache line, and what GPUs like to read at once */

typedef struct {
    GstVideoBufferPool base;
    GstAllocator *allocator;
    GWeakRef element; /* says it when there is no memory */
    GstVideoInfo info;
} GstTdlPool;
typedef struct {
    GstVideoBufferPoolClass base;
} GstTdlPoolClass;

GType gst_tdl_pool_get_type(void);
G_DEFINE_TYPE(GstTdlPool, gst_tdl_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static gboolean align_rows(GstStructure *config)
{
    GstVideoAlignment align;

    if (!gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META))
        return FALSE; /* the user of the pool expects GStreamer's default strides */
    gst_video_alignment_reset(&align);
    if (gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT))
        gst_buffer_pool_config_get_video_alignment(config, &align);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
    for (guint i = 0; i < GST_VIDEO_MAX_PLANES; i++)
        align.stride_align[i] |= ROW_ALIGN - 1;
    gst_buffer_pool_config_set_video_alignment(config, &align);
    return TRUE;
}

/* Users put their own allocator, or none, into the configuration: memory of
 * any other kind would have to be copied. */
static gboolean pool_set_config(GstBufferPool *pool, GstStructure *config)
{
    GstTdlPool *self = (GstTdlPool *)pool;
    GstAllocationParams params;
    GstAllocator *ignored = NULL;
    GstCaps *caps = NULL;

    if (!gst_buffer_pool_config_get_allocator(config, &ignored, &params))
        gst_allocation_params_init(&params);
    if (align_rows(config))
        params.align |= ROW_ALIGN - 1; /* as the base class would, with a warning */
    gst_buffer_pool_config_set_allocator(config, self->allocator, &params);
    if (gst_buffer_pool_config_get_params(config, &caps, NULL, NULL, NULL) && caps)
        gst_video_info_from_caps(&self->info, caps);
    return GST_BUFFER_POOL_CLASS(gst_tdl_pool_parent_class)->set_config(pool, config);
}

gboolean gst_tdl_pool_start(GstBufferPool *pool, gpointer parent_class)
{
    GstBufferPoolClass *parent = parent_class;

    if (parent->start(pool))
        return TRUE;
    parent->stop(pool);
    return FALSE;
}

static gboolean pool_start(GstBufferPool *pool)
{
    return gst_tdl_pool_start(pool, gst_tdl_pool_parent_class);
}

static GstFlowReturn pool_alloc_buffer(GstBufferPool *pool, GstBuffer **out,
                                       GstBufferPoolAcquireParams *params)
{
    GstTdlPool *self = (GstTdlPool *)pool;
    GstFlowReturn flow =
        GST_BUFFER_POOL_CLASS(gst_tdl_pool_parent_class)->alloc_buffer(pool, out, params);

    if (flow == GST_FLOW_ERROR) {
        GstElement *element = g_weak_ref_get(&self->element);

        gst_tdl_error_post_no_frame(element, gst_tdl_allocator_context(self->allocator),
                                    &self->info);
        gst_clear_object(&element);
    }
    return flow;
}

static void pool_finalize(GObject *object)
{
    GstTdlPool *self = (GstTdlPool *)object;

    g_weak_ref_clear(&self->element);
    gst_clear_object(&self->allocator);
    G_OBJECT_CLASS(gst_tdl_pool_parent_class)->finalize(object);
}

static void gst_tdl_pool_class_init(GstTdlPoolClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = pool_finalize;
    GST_BUFFER_POOL_CLASS(klass)->set_config = pool_set_config;
    GST_BUFFER_POOL_CLASS(klass)->start = pool_start;
    GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = pool_alloc_buffer;
}

static void gst_tdl_pool_init(GstTdlPool *self)
{
    g_weak_ref_init(&self->element, NULL);
}

GstBufferPool *gst_tdl_pool_new(GstAllocator *allocator, GstElement *element)
{
    GstTdlPool *self = g_object_new(gst_tdl_pool_get_type(), NULL);

    self->allocator = gst_object_ref(allocator);
    g_weak_ref_set(&self->element, element);
    return gst_object_ref_sink(self);
}
