/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys of the window, and the window that shows them. */
#ifndef WINDOW_KEYS_H
#define WINDOW_KEYS_H

#include <gtk/gtk.h>

/* Keys start actions of the window's, where no control takes them for itself:
 * win.pause, win.snapshot, win.record, win.fullscreen, win.keys, win.close, and win.mode with
 * a mode's index, of which there are so many. */
void keys_add(GtkWidget *window, guint modes);

void keys_show(GtkWidget *window, guint modes);

#endif
