/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlexportdmabufpool.h"

#include "base/gsttdlerror.h"
#include "memory/gsttdlpool.h"

#include <gst/allocators/gstdmabuf.h>
#include <unistd.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

typedef struct {
    GstBufferPool base;
    struct gst_tdl_device *device;
    GstAllocator *allocator;
    struct gst_tdl_video video; /* linear buffers have the strides of ours */
    GWeakRef element;           /* says it when there is no memory */
} GstTdlDmaBufPool;
typedef struct {
    GstBufferPoolClass base;
} GstTdlDmaBufPoolClass;

GType gst_tdl_dma_buf_pool_get_type(void);
G_DEFINE_TYPE(GstTdlDmaBufPool, gst_tdl_dma_buf_pool, GST_TYPE_BUFFER_POOL)

/* V4L2 knows one stride for all planes: that of chroma at half width is half of
 * luma's. */
gboolean gst_tdl_export_dma_buf_layout(GstVideoInfo *info, gboolean padded)
{
    gboolean halves = GST_VIDEO_INFO_N_PLANES(info) == 3 &&
                      GST_VIDEO_FORMAT_INFO_W_SUB(info->finfo, GST_VIDEO_COMP_U) == 1;
    GstVideoAlignment align;

    if (!padded)
        return TRUE;
    gst_video_alignment_reset(&align);
    for (guint i = 0; i < GST_VIDEO_MAX_PLANES; i++)
        align.stride_align[i] = GST_TDL_EXPORT_DMA_BUF_ROW_ALIGN * (halves && i == 0 ? 2 : 1) - 1;
    return gst_video_info_align(info, &align);
}

/* The memory owns the descriptor; what it is to our device is kept at it. */
static GstMemory *wrap(GstTdlDmaBufPool *self, int fd, gsize size)
{
    GstMemory *memory = gst_dmabuf_allocator_alloc_with_flags(self->allocator, fd, size,
                                                              GST_FD_MEMORY_FLAG_KEEP_MAPPED);

    if (!memory)
        close(fd);
    return memory;
}

static void add_meta(GstTdlDmaBufPool *self, GstBuffer *buffer, const gsize *offsets,
                     const gint *strides)
{
    const GstVideoInfo *info = &self->video.info;

    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
                                   info->width, info->height, GST_VIDEO_INFO_N_PLANES(info),
                                   (gsize *)offsets, (gint *)strides);
}

/* ------------------------------------------------------------ linear frames */

static GstBuffer *make_linear(GstTdlDmaBufPool *self)
{
    const GstVideoInfo *info = &self->video.info;
    struct tdl_buffer *frame = NULL;
    GstBuffer *buffer;
    GstMemory *memory;
    int fd = -1;

    if (tdl_buffer_create_exportable(self->device->context, TDL_HANDLE_DMA_BUF, info->size,
                                     &frame) != TDL_OK ||
        tdl_buffer_export_fd(frame, &fd) != TDL_OK) {
        GST_ERROR_OBJECT(self, "cannot make a dma-buf of %" G_GSIZE_FORMAT " bytes: %s", info->size,
                         tdl_last_error());
        tdl_buffer_destroy(&frame);
        return NULL;
    }
    memory = wrap(self, fd, info->size);
    if (!memory) {
        tdl_buffer_destroy(&frame);
        return NULL;
    }
    gst_tdl_import_cache_put_buffer(self->device, memory, frame);
    buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, memory);
    add_meta(self, buffer, info->offset, info->stride);
    return buffer;
}

/* ------------------------------------------------------------- tiled frames */

/* A plane in a dma-buf of its own. */
static GstMemory *make_plane(GstTdlDmaBufPool *self, guint plane, struct tdl_image_place *out_place)
{
    const struct tdl_image_create_params params = {
        .format = gst_tdl_caps_format(GST_VIDEO_INFO_FORMAT(&self->video.info)),
        .plane = plane,
        .width = GST_VIDEO_INFO_WIDTH(&self->video.info),
        .height = GST_VIDEO_INFO_HEIGHT(&self->video.info),
        .modifier = self->video.modifier,
    };
    const struct gst_tdl_device_ops *ops = self->device->ops;
    struct tdl_image *image = NULL;
    GstMemory *memory;

    if (ops->create_image(self->device->context, TDL_HANDLE_DMA_BUF, &params, &image) != TDL_OK ||
        ops->export_image(image, out_place) != TDL_OK) {
        GST_ERROR_OBJECT(self, "cannot make a tiled dma-buf: %s", tdl_last_error());
        ops->destroy_image(&image);
        return NULL;
    }
    memory = wrap(self, out_place->fd, lseek(out_place->fd, 0, SEEK_END));
    if (memory)
        gst_tdl_import_cache_put_image(self->device, memory, &self->video, plane, image);
    else
        ops->destroy_image(&image);
    return memory;
}

static GstBuffer *make_tiled(GstTdlDmaBufPool *self)
{
    GstBuffer *buffer = gst_buffer_new();
    gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
    gint strides[GST_VIDEO_MAX_PLANES] = { 0 };

    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&self->video.info); p++) {
        struct tdl_image_place place;
        gsize begin = gst_buffer_get_size(buffer); /* offsets count through all memories */
        GstMemory *memory = make_plane(self, p, &place);

        if (!memory) {
            gst_buffer_unref(buffer);
            return NULL;
        }
        offsets[p] = begin + place.offset;
        strides[p] = place.stride;
        gst_buffer_append_memory(buffer, memory);
    }
    add_meta(self, buffer, offsets, strides);
    return buffer;
}

/* The driver decides how large they are, and the base class wants to know:
 * buffers of another size do not come back. */
static gboolean measure_tiled(GstTdlDmaBufPool *self)
{
    GstBuffer *buffer = make_tiled(self);

    if (!buffer)
        return FALSE;
    self->video.info.size = gst_buffer_get_size(buffer);
    gst_buffer_unref(buffer);
    return TRUE;
}

/* --------------------------------------------------------------------- pool */

static const gchar **pool_get_options(GstBufferPool *pool)
{
    static const gchar *options[] = { GST_BUFFER_POOL_OPTION_VIDEO_META, NULL };

    (void)pool;
    return options;
}

static gboolean pool_set_config(GstBufferPool *pool, GstStructure *config)
{
    GstTdlDmaBufPool *self = (GstTdlDmaBufPool *)pool;
    GstCaps *caps = NULL;
    guint size, min, max;
    gboolean padded, ok;

    if (!gst_buffer_pool_config_get_params(config, &caps, &size, &min, &max) || !caps ||
        !gst_tdl_video_from_caps(caps, &self->video)) {
        GST_WARNING_OBJECT(pool, "a pool cannot be made for caps %" GST_PTR_FORMAT, caps);
        return FALSE;
    }
    padded = gst_buffer_pool_config_has_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    ok = self->video.modifier == GST_TDL_LINEAR
             ? gst_tdl_export_dma_buf_layout(&self->video.info, padded)
             : measure_tiled(self);
    if (!ok)
        return FALSE;
    gst_buffer_pool_config_set_params(config, caps, self->video.info.size, min, max);
    gst_buffer_pool_config_set_allocator(config, self->allocator, NULL);
    return GST_BUFFER_POOL_CLASS(gst_tdl_dma_buf_pool_parent_class)->set_config(pool, config);
}

static gboolean pool_start(GstBufferPool *pool)
{
    return gst_tdl_pool_start(pool, gst_tdl_dma_buf_pool_parent_class);
}

static GstFlowReturn pool_alloc_buffer(GstBufferPool *pool, GstBuffer **out,
                                       GstBufferPoolAcquireParams *params)
{
    GstTdlDmaBufPool *self = (GstTdlDmaBufPool *)pool;

    (void)params;
    *out = self->video.modifier == GST_TDL_LINEAR ? make_linear(self) : make_tiled(self);
    if (!*out) {
        GstElement *element = g_weak_ref_get(&self->element);

        gst_tdl_error_post_no_frame(element, self->device->context, &self->video.info);
        gst_clear_object(&element);
    }
    return *out ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static void pool_finalize(GObject *object)
{
    GstTdlDmaBufPool *self = (GstTdlDmaBufPool *)object;

    g_weak_ref_clear(&self->element);
    gst_clear_object(&self->allocator);
    g_clear_pointer(&self->device, gst_tdl_device_unref);
    G_OBJECT_CLASS(gst_tdl_dma_buf_pool_parent_class)->finalize(object);
}

static void gst_tdl_dma_buf_pool_class_init(GstTdlDmaBufPoolClass *klass)
{
    GstBufferPoolClass *pool = GST_BUFFER_POOL_CLASS(klass);

    G_OBJECT_CLASS(klass)->finalize = pool_finalize;
    pool->get_options = pool_get_options;
    pool->set_config = pool_set_config;
    pool->start = pool_start;
    pool->alloc_buffer = pool_alloc_buffer;
}

static void gst_tdl_dma_buf_pool_init(GstTdlDmaBufPool *self)
{
    self->allocator = gst_dmabuf_allocator_new();
    g_weak_ref_init(&self->element, NULL);
}

GstBufferPool *gst_tdl_export_dma_buf_pool_new(struct gst_tdl_device *device, GstElement *element)
{
    GstTdlDmaBufPool *self = g_object_new(gst_tdl_dma_buf_pool_get_type(), NULL);

    self->device = gst_tdl_device_ref(device);
    g_weak_ref_set(&self->element, element);
    return gst_object_ref_sink(self);
}
