/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame of GStreamer's as something that GTK draws. */
#ifndef WINDOW_FRAME_H
#define WINDOW_FRAME_H

#include <gst/gst.h>
#include <gtk/gtk.h>

/* What is asked of frames for frame_texture(). */
#if GTK_CHECK_VERSION(4, 14, 0)
#define FRAME_FORMATS "{BGRx,BGRA}"
#else
#define FRAME_FORMATS "{RGB,BGRA}" /* it knows no format that has room for an alpha unused */
#endif

/* The frame as a texture on the same memory, or NULL where that cannot be mapped. Any thread. */
GdkTexture *frame_texture(GstSample *sample);

/* What shows the texture that it was given last. Main thread. */
G_DECLARE_FINAL_TYPE(FramePaintable, frame_paintable, FRAME, PAINTABLE, GObject)
FramePaintable *frame_paintable_new(void);
void frame_paintable_set(FramePaintable *self, GdkTexture *texture);

#endif
