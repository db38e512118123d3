/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame of GStreamer's as something that GTK draws. */
#ifndef WINDOW_FRAME_H
#define WINDOW_FRAME_H

#include <gst/gst.h>
#include <gtk/gtk.h>

/* Caps formats that frame_texture() takes. */
#if GTK_CHECK_VERSION(4, 14, 0)
#define FRAME_FORMATS "{BGRx,BGRA}"
#else
#define FRAME_FORMATS "{RGB,BGRA}" /* older GTK has no format with an unused alpha */
#endif

/* The frame as a texture on the same memory, or NULL where that cannot be mapped. Any thread. */
GdkTexture *frame_texture(GstSample *sample);

/* Paints the texture that it was given last. Main thread. */
G_DECLARE_FINAL_TYPE(FramePaintable, frame_paintable, FRAME, PAINTABLE, GObject)
FramePaintable *frame_paintable_new(void);
void frame_paintable_set(FramePaintable *self, GdkTexture *texture);

#endif
