/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The widget with the picture: alone, beside the one before the filter, or divided with it. */
#ifndef WINDOW_VIEW_H
#define WINDOW_VIEW_H

#include <gtk/gtk.h>

enum view_layout { VIEW_ALONE, VIEW_BESIDE, VIEW_DIVIDED, VIEW_LAYOUTS };
extern const char *const view_layout_names[VIEW_LAYOUTS + 1]; /* ends with NULL */

G_DECLARE_FINAL_TYPE(View, view, WINDOW, VIEW, GtkWidget)
GtkWidget *view_new(void);
void view_set_pictures(View *view, GdkPaintable *filtered, GdkPaintable *before); /* or NULL */
void view_set_layout(View *view, enum view_layout layout);

#endif
