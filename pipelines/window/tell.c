/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tell.h"

#include <stdio.h>

#define PLACE "window-place"
#define PAUSE_MS 200

static GPtrArray *placed; /* widgets; NULL: nobody asked */

static void tell_where(GtkWidget *widget)
{
    GtkRoot *root = gtk_widget_get_root(widget);
    graphene_rect_t r;
    double x = 0, y = 0; /* width of the window's shadow */
    g_autofree char *now = NULL;

    if (!root || !gtk_widget_get_mapped(widget) || !gtk_widget_get_width(GTK_WIDGET(root)) ||
        !gtk_widget_compute_bounds(widget, GTK_WIDGET(root), &r))
        return;
    gtk_native_get_surface_transform(GTK_NATIVE(root), &x, &y);
    now = g_strdup_printf("%s %.0f %.0f %.0f %.0f", gtk_widget_get_name(widget), r.origin.x + x,
                          r.origin.y + y, r.size.width, r.size.height);
    if (!g_strcmp0(now, g_object_get_data(G_OBJECT(widget), PLACE)))
        return;
    tell("at", "%s", now);
    g_object_set_data_full(G_OBJECT(widget), PLACE, g_steal_pointer(&now), g_free);
}

static gboolean tell_places(gpointer unused)
{
    (void)unused;
    for (guint i = 0; i < placed->len; i++)
        tell_where(placed->pdata[i]);
    return G_SOURCE_CONTINUE;
}

void tell_begin(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    placed = g_ptr_array_new();
    g_timeout_add(PAUSE_MS, tell_places, NULL);
}

void tell(const char *name, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list args;

    if (!placed)
        return;
    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);
    printf("%s=%s\n", name, text);
}

static void forget(gpointer unused, GObject *widget)
{
    (void)unused;
    g_ptr_array_remove_fast(placed, widget);
}

void tell_place(GtkWidget *widget, const char *name)
{
    gtk_widget_set_name(widget, name);
    if (!placed)
        return;
    g_ptr_array_add(placed, widget);
    g_object_weak_ref(G_OBJECT(widget), forget, NULL);
}

static void on_focus(GtkWindow *window, GParamSpec *spec, gpointer unused)
{
    GtkWidget *at = gtk_window_get_focus(window);

    (void)spec;
    (void)unused;
    while (at && !g_ptr_array_find(placed, at, NULL))
        at = gtk_widget_get_parent(at);
    tell("focus", "%s", at ? gtk_widget_get_name(at) : "");
}

void tell_focus(GtkWindow *window)
{
    if (placed)
        g_signal_connect(window, "notify::focus-widget", G_CALLBACK(on_focus), NULL);
}
