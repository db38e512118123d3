/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How frames come into the window: by GStreamer's own sink for GTK 4 where it is
 * installed, else by an appsink, whose frames GTK draws from memory. Nothing else here
 * knows which. Main thread.
 */
#ifndef WINDOW_DISPLAY_H
#define WINDOW_DISPLAY_H

#include <gst/gst.h>
#include <gtk/gtk.h>
#include <stdbool.h>

struct display;

/* `both`: for the frames before the filter, too. `in_memory`: filtered frames come in the
 * system's memory, for a device that can give no other. */
struct display *display_new(bool both, bool in_memory);
/* After the pipeline that has the sinks has stopped. */
void display_destroy(struct display *display);

/* The display's own references; each is for one pipeline. */
GstElement *display_filtered_sink(struct display *display);
GstElement *display_before_sink(struct display *display); /* NULL without `both` */

GdkPaintable *display_filtered(struct display *display);
GdkPaintable *display_before(struct display *display); /* NULL without `both` */

/* May frames come in other memory than the system's without `in_memory`? */
bool display_takes_any_memory(const struct display *display);

/* How frames reach the window, in words. */
const char *display_way(const struct display *display);

#endif
