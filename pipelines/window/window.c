/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window.h"

#include "banner.h"
#include "panel.h"
#include "settings.h"
#include "sources.h"
#include "stream.h"
#include "tell.h"
#include "values.h"
#include "view.h"

#include <glib-unix.h>

struct window {
    GtkWidget *widget, *view, *layout;
    GstElement *filter;
    struct settings settings;
    struct banner banner;
    struct stream *stream;
    struct sources *sources;
    const struct source *source; /* what is shown, of the list */
    guint signals[2];            /* sources of SIGINT and SIGTERM */
};

/* ---------------------------------------------------------------------- stream */

static enum view_layout layout_of(const struct window *window)
{
    return (enum view_layout)gtk_drop_down_get_selected(GTK_DROP_DOWN(window->layout));
}

static void reopen(struct window *window)
{
    banner_hide(&window->banner);
    if (window->source)
        stream_open(window->stream, window->source, layout_of(window) != VIEW_ALONE);
}

static void on_source(void *user, const struct source *source)
{
    struct window *window = user;

    window->source = source;
    reopen(window);
}

static void on_failed(void *user, const char *text)
{
    struct window *window = user;

    banner_progress(&window->banner, 100, "");
    banner_say(&window->banner, GTK_MESSAGE_ERROR, text);
}

static void on_warned(void *user, const char *text)
{
    banner_say(&((struct window *)user)->banner, GTK_MESSAGE_WARNING, text);
}

static void on_progressed(void *user, int percent, const char *text)
{
    banner_progress(&((struct window *)user)->banner, percent, text);
}

static void on_told(void *user, const GstStructure *message)
{
    (void)user;
    (void)message;
}

static void on_changed(void *user)
{
    struct window *window = user;

    view_set_pictures(WINDOW_VIEW(window->view), stream_filtered(window->stream),
                      stream_before(window->stream));
    tell("playing", "%d", stream_is_playing(window->stream));
}

/* -------------------------------------------------------------------- controls */

/* What cannot change while frames flow: the stream begins anew. */
static void on_set(void *user, GParamSpec *spec, const GValue *value)
{
    struct window *window = user;
    const bool is_live = values_is_live(spec) || !stream_is_open(window->stream);

    if (!is_live)
        stream_close(window->stream);
    g_object_set_property(G_OBJECT(window->filter), spec->name, value);
    if (!is_live)
        reopen(window);
}

static void on_notify(GObject *filter, GParamSpec *spec, struct window *window)
{
    g_autofree char *text = NULL;

    (void)window;
    if (spec->owner_type != G_OBJECT_TYPE(filter) || !(spec->flags & G_PARAM_WRITABLE))
        return;
    text = values_get(GST_ELEMENT(filter), spec);
    tell(spec->name, "%s", text ? text : "");
}

static void on_layout(GtkDropDown *widget, GParamSpec *spec, struct window *window)
{
    const bool both = layout_of(window) != VIEW_ALONE;

    (void)widget;
    (void)spec;
    view_set_layout(WINDOW_VIEW(window->view), layout_of(window));
    tell("layout", "%d", layout_of(window));
    if (stream_is_open(window->stream) && both != (stream_before(window->stream) != NULL))
        reopen(window);
}

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        struct window *window)
{
    GSList *files = g_value_get_boxed(value);
    g_autofree char *uri = files ? g_file_get_uri(files->data) : NULL;

    (void)target;
    (void)x;
    (void)y;
    if (uri)
        sources_choose(window->sources, uri);
    return uri != NULL;
}

/* -------------------------------------------------------------------- the window */

static void save(struct window *window)
{
    GKeyFile *to = window->settings.file;
    g_autoptr(GError) error = NULL;
    int width, height;

    gtk_window_get_default_size(GTK_WINDOW(window->widget), &width, &height);
    g_key_file_set_integer(to, SETTINGS_WINDOW, "width", width);
    g_key_file_set_integer(to, SETTINGS_WINDOW, "height", height);
    g_key_file_set_integer(to, SETTINGS_WINDOW, "layout", (int)layout_of(window));
    if (window->source)
        g_key_file_set_string(to, SETTINGS_WINDOW, "source", window->source->id);
    values_save(window->filter, to);
    error = settings_write(&window->settings);
    if (error)
        g_printerr("tdl-demo: settings are lost: %s\n", error->message);
}

static gboolean on_close(GtkWindow *widget, struct window *window)
{
    (void)widget;
    save(window);
    stream_close(window->stream);
    return FALSE;
}

static void on_destroy(GtkWidget *widget, struct window *window)
{
    (void)widget;
    for (size_t i = 0; i < G_N_ELEMENTS(window->signals); i++)
        g_source_remove(window->signals[i]);
    g_signal_handlers_disconnect_by_data(window->filter, window);
    stream_destroy(window->stream);
    sources_destroy(window->sources);
    settings_finish(&window->settings);
    gst_object_unref(window->filter);
    g_free(window);
}

static gboolean on_signal(gpointer widget)
{
    gtk_window_close(widget);
    return G_SOURCE_CONTINUE;
}

static GtkWidget *new_layouts(struct window *window)
{
    GtkWidget *widget = gtk_drop_down_new_from_strings(view_layout_names);

    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, "Layout",
                                   -1);
    tell_place(widget, "layout");
    gtk_drop_down_set_selected(GTK_DROP_DOWN(widget),
                               (guint)settings_number(&window->settings, "layout", VIEW_ALONE));
    g_signal_connect(widget, "notify::selected", G_CALLBACK(on_layout), window);
    return widget;
}

static GtkWidget *new_body(struct window *window)
{
    const struct control_setter setter = {on_set, window};
    GtkWidget *body = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *left = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

    banner_init(&window->banner, G_CALLBACK(reopen), window);
    window->view = view_new();
    view_set_layout(WINDOW_VIEW(window->view), layout_of(window));
    tell_place(window->view, "view");
    gtk_box_append(GTK_BOX(left), window->banner.box);
    gtk_box_append(GTK_BOX(left), window->view);
    gtk_box_append(GTK_BOX(body), left);
    gtk_box_append(GTK_BOX(body), panel_new(window->filter, &setter));
    return body;
}

static GtkWidget *new_header(struct window *window)
{
    GtkWidget *bar = gtk_header_bar_new();

    window->sources = sources_new(on_source, window);
    window->layout = new_layouts(window);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), sources_widget(window->sources));
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), window->layout);
    return bar;
}

static void accept_files(struct window *window)
{
    GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

    g_signal_connect(target, "drop", G_CALLBACK(on_drop), window);
    gtk_widget_add_controller(window->widget, GTK_EVENT_CONTROLLER(target));
}

void window_open(GtkApplication *application, GstElement *filter, const struct options *options)
{
    struct window *window = g_new0(struct window, 1);
    struct stream_listener listener = {on_failed, on_warned,  on_progressed,
                                       on_told,   on_changed, window};
    g_autofree char *source = NULL;

    window->filter = gst_object_ref(filter);
    settings_init(&window->settings, options->settings);
    values_load(filter, window->settings.file);
    if (options->mode)
        gst_util_set_object_arg(G_OBJECT(filter), "mode", options->mode);
    window->widget = gtk_application_window_new(application);
    window->stream = stream_new(filter, &listener);
    gtk_window_set_title(GTK_WINDOW(window->widget), "tdlfilter");
    gtk_window_set_default_size(GTK_WINDOW(window->widget),
                                settings_number(&window->settings, "width", 1100),
                                settings_number(&window->settings, "height", 720));
    gtk_window_set_titlebar(GTK_WINDOW(window->widget), new_header(window));
    gtk_window_set_child(GTK_WINDOW(window->widget), new_body(window));
    accept_files(window);
    g_signal_connect(filter, "notify", G_CALLBACK(on_notify), window);
    g_signal_connect(window->widget, "close-request", G_CALLBACK(on_close), window);
    g_signal_connect(window->widget, "destroy", G_CALLBACK(on_destroy), window);
    window->signals[0] = g_unix_signal_add(SIGINT, on_signal, window->widget);
    window->signals[1] = g_unix_signal_add(SIGTERM, on_signal, window->widget);
    source = options->source ? g_strdup(options->source)
                             : settings_text(&window->settings, "source", "test");
    sources_choose(window->sources, source);
    gtk_widget_grab_focus(window->view);
    gtk_window_present(GTK_WINDOW(window->widget));
}
