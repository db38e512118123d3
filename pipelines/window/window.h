/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The window: its parts, and what happens between them. */
#ifndef WINDOW_WINDOW_H
#define WINDOW_WINDOW_H

#include "options.h"

#include <gst/gst.h>
#include <gtk/gtk.h>

/* `filter` is the tdlfilter that it shows. It lives until it is closed. */
void window_open(GtkApplication *application, GstElement *filter, const struct options *options);

#endif
