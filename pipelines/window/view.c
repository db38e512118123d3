/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "view.h"

#include "tell.h"

#include <math.h>

#define CHECK 16 /* px of the chequerboard behind what is transparent */
#define STEP 0.02

const char *const view_layout_names[VIEW_LAYOUTS + 1] = {"Filtered alone", "Both side by side",
                                                         "Both, divided by a slider", NULL};

struct _View {
    GtkWidget parent;
    GdkPaintable *filtered, *before;
    enum view_layout layout;
    double divider;        /* share of the picture's width that is as before */
    graphene_rect_t shown; /* place of the picture when it was drawn last */
};
G_DEFINE_TYPE(View, view, GTK_TYPE_WIDGET)

/* --------------------------------------------------------------------- drawing */

/* The largest place of the picture's shape in the middle of a part of the widget. */
static graphene_rect_t fit(GdkPaintable *picture, float left, float width, float height)
{
    const double aspect = gdk_paintable_get_intrinsic_aspect_ratio(picture);
    float w = width, h = height;

    if (aspect > 0 && w / aspect < h)
        h = (float)(w / aspect);
    else if (aspect > 0)
        w = (float)(h * aspect);
    return GRAPHENE_RECT_INIT(floorf(left + (width - w) / 2), floorf((height - h) / 2), floorf(w),
                              floorf(h));
}

static void draw_checks(GtkSnapshot *snapshot, const graphene_rect_t *place)
{
    const GdkRGBA light = {0.8f, 0.8f, 0.8f, 1}, dark = {0.6f, 0.6f, 0.6f, 1};

    gtk_snapshot_push_repeat(
        snapshot, place,
        &GRAPHENE_RECT_INIT(place->origin.x, place->origin.y, 2 * CHECK, 2 * CHECK));
    for (int i = 0; i < 4; i++)
        gtk_snapshot_append_color(snapshot, i % 3 ? &dark : &light,
                                  &GRAPHENE_RECT_INIT(place->origin.x + i % 2 * CHECK,
                                                      place->origin.y + i / 2 * CHECK, CHECK,
                                                      CHECK));
    gtk_snapshot_pop(snapshot);
}

static void draw(GtkSnapshot *snapshot, GdkPaintable *picture, const graphene_rect_t *place)
{
    if (!picture || gdk_paintable_get_intrinsic_width(picture) <= 0)
        return;
    draw_checks(snapshot, place);
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &place->origin);
    gdk_paintable_snapshot(picture, snapshot, place->size.width, place->size.height);
    gtk_snapshot_restore(snapshot);
}

static void draw_divided(View *view, GtkSnapshot *snapshot, const graphene_rect_t *place)
{
    const GdkRGBA white = {1, 1, 1, 1};
    const float x = place->origin.x + roundf((float)(view->divider * place->size.width));
    const graphene_rect_t left = GRAPHENE_RECT_INIT(place->origin.x, place->origin.y,
                                                    x - place->origin.x, place->size.height);

    draw(snapshot, view->filtered, place);
    gtk_snapshot_push_clip(snapshot, &left);
    draw(snapshot, view->before, place);
    gtk_snapshot_pop(snapshot);
    gtk_snapshot_append_color(snapshot, &white,
                              &GRAPHENE_RECT_INIT(x - 1, place->origin.y, 2, place->size.height));
}

static void view_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    View *view = WINDOW_VIEW(widget);
    const float width = (float)gtk_widget_get_width(widget);
    const float height = (float)gtk_widget_get_height(widget);
    const GdkRGBA black = {0, 0, 0, 1};

    gtk_snapshot_append_color(snapshot, &black, &GRAPHENE_RECT_INIT(0, 0, width, height));
    if (!view->filtered)
        return;
    if (view->layout == VIEW_BESIDE && view->before) {
        const float half = floorf(width / 2);
        const graphene_rect_t left = fit(view->before, 0, half, height);

        draw(snapshot, view->before, &left);
        view->shown = fit(view->filtered, half, half, height);
        draw(snapshot, view->filtered, &view->shown);
        return;
    }
    view->shown = fit(view->filtered, 0, width, height);
    if (view->layout == VIEW_DIVIDED && view->before)
        draw_divided(view, snapshot, &view->shown);
    else
        draw(snapshot, view->filtered, &view->shown);
}

static void view_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                         int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)widget;
    (void)for_size;
    *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 320 : 240;
    *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 640 : 480;
    *minimum_baseline = *natural_baseline = -1;
}

/* -------------------------------------------------------------------- the slider */

static void set_divider(View *view, double share)
{
    view->divider = CLAMP(share, 0, 1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_VALUE_NOW,
                                   view->divider, -1);
    tell("divider", "%.2f", view->divider);
    gtk_widget_queue_draw(GTK_WIDGET(view));
}

static void on_drag(GtkGestureDrag *gesture, double dx, double dy, View *view)
{
    double x, y;

    (void)dy;
    if (view->layout != VIEW_DIVIDED || view->shown.size.width < 1 ||
        !gtk_gesture_drag_get_start_point(gesture, &x, &y))
        return;
    set_divider(view, (x + dx - view->shown.origin.x) / view->shown.size.width);
}

static void on_press(GtkGestureDrag *gesture, double x, double y, View *view)
{
    (void)x;
    (void)y;
    gtk_widget_grab_focus(GTK_WIDGET(view));
    on_drag(gesture, 0, 0, view);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       View *view)
{
    (void)keys;
    (void)code;
    if (view->layout != VIEW_DIVIDED || (key != GDK_KEY_Left && key != GDK_KEY_Right) ||
        (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)))
        return FALSE;
    set_divider(view, view->divider + (key == GDK_KEY_Left ? -STEP : STEP));
    return TRUE;
}

/* ----------------------------------------------------------------------- the class */

static void redraw(View *view)
{
    gtk_widget_queue_draw(GTK_WIDGET(view));
}

static void take(View *view, GdkPaintable **at, GdkPaintable *picture)
{
    if (*at)
        g_signal_handlers_disconnect_by_data(*at, view);
    g_set_object(at, picture);
    if (!picture)
        return;
    g_signal_connect_swapped(picture, "invalidate-contents", G_CALLBACK(redraw), view);
    g_signal_connect_swapped(picture, "invalidate-size", G_CALLBACK(redraw), view);
}

void view_set_pictures(View *view, GdkPaintable *filtered, GdkPaintable *before)
{
    take(view, &view->filtered, filtered);
    take(view, &view->before, before);
    redraw(view);
}

void view_set_layout(View *view, enum view_layout layout)
{
    view->layout = layout;
    redraw(view);
}

static void view_dispose(GObject *object)
{
    View *view = WINDOW_VIEW(object);

    take(view, &view->filtered, NULL);
    take(view, &view->before, NULL);
    G_OBJECT_CLASS(view_parent_class)->dispose(object);
}

static void view_class_init(ViewClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = view_dispose;
    GTK_WIDGET_CLASS(klass)->snapshot = view_snapshot;
    GTK_WIDGET_CLASS(klass)->measure = view_measure;
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_SLIDER);
}

static void view_init(View *view)
{
    GtkGesture *drag = gtk_gesture_drag_new();
    GtkEventController *keys = gtk_event_controller_key_new();

    view->divider = 0.5;
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_press), view);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag), view);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), view);
    gtk_widget_add_controller(GTK_WIDGET(view), GTK_EVENT_CONTROLLER(drag));
    gtk_widget_add_controller(GTK_WIDGET(view), keys);
    gtk_widget_set_focusable(GTK_WIDGET(view), TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "The picture; arrow keys move the slider between before and "
                                   "filtered",
                                   GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0,
                                   GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, 1.0,
                                   GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, 0.5, -1);
}

GtkWidget *view_new(void)
{
    return g_object_new(view_get_type(), "hexpand", TRUE, "vexpand", TRUE, NULL);
}
