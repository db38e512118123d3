/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include <gst/video/video.h>

struct _FramePaintable {
    GObject parent;
    GdkTexture *texture; /* NULL at first */
};

static void snapshot(GdkPaintable *paintable, GdkSnapshot *into, double width, double height)
{
    FramePaintable *self = FRAME_PAINTABLE(paintable);

    if (self->texture)
        gdk_paintable_snapshot(GDK_PAINTABLE(self->texture), into, width, height);
}

static int width(GdkPaintable *paintable)
{
    FramePaintable *self = FRAME_PAINTABLE(paintable);

    return self->texture ? gdk_texture_get_width(self->texture) : 0;
}

static int height(GdkPaintable *paintable)
{
    FramePaintable *self = FRAME_PAINTABLE(paintable);

    return self->texture ? gdk_texture_get_height(self->texture) : 0;
}

static void paintable_init(GdkPaintableInterface *iface)
{
    iface->snapshot = snapshot;
    iface->get_intrinsic_width = width;
    iface->get_intrinsic_height = height;
}

G_DEFINE_TYPE_WITH_CODE(FramePaintable, frame_paintable, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_init))

static void dispose(GObject *object)
{
    g_clear_object(&FRAME_PAINTABLE(object)->texture);
    G_OBJECT_CLASS(frame_paintable_parent_class)->dispose(object);
}

static void frame_paintable_class_init(FramePaintableClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

static void frame_paintable_init(FramePaintable *self)
{
    (void)self;
}

FramePaintable *frame_paintable_new(void)
{
    return g_object_new(frame_paintable_get_type(), NULL);
}

void frame_paintable_set(FramePaintable *self, GdkTexture *texture)
{
    const int old_width = width(GDK_PAINTABLE(self)), old_height = height(GDK_PAINTABLE(self));

    g_set_object(&self->texture, texture);
    if (width(GDK_PAINTABLE(self)) != old_width || height(GDK_PAINTABLE(self)) != old_height)
        gdk_paintable_invalidate_size(GDK_PAINTABLE(self));
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

/* ------------------------------------------------------------------- texture */

static void unmap(gpointer data)
{
    gst_video_frame_unmap(data);
    g_free(data);
}

static GdkMemoryFormat format_of(const GstVideoFrame *frame)
{
    switch (GST_VIDEO_FRAME_FORMAT(frame)) {
    case GST_VIDEO_FORMAT_BGRA:
        return GDK_MEMORY_B8G8R8A8;
#if GTK_CHECK_VERSION(4, 14, 0)
    case GST_VIDEO_FORMAT_BGRx:
        return GDK_MEMORY_B8G8R8X8;
#endif
    default:
        return GDK_MEMORY_R8G8B8;
    }
}

GdkTexture *frame_texture(GstSample *sample)
{
    GstVideoFrame *frame = g_new0(GstVideoFrame, 1);
    GstVideoInfo info;
    g_autoptr(GBytes) bytes = NULL;
    size_t stride;
    int rows;

    if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
        !gst_video_frame_map(frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) {
        g_free(frame);
        return NULL;
    }
    stride = (size_t)GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
    rows = GST_VIDEO_FRAME_HEIGHT(frame);
    bytes = g_bytes_new_with_free_func(GST_VIDEO_FRAME_PLANE_DATA(frame, 0), stride * (size_t)rows,
                                       unmap, frame);
    return gdk_memory_texture_new(GST_VIDEO_FRAME_WIDTH(frame), rows, format_of(frame), bytes,
                                  stride);
}
