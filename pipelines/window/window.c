/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window.h"

#include "banner.h"
#include "keys.h"
#include "outputs.h"
#include "panel.h"
#include "settings.h"
#include "sources.h"
#include "status.h"
#include "stream.h"
#include "tell.h"
#include "values.h"
#include "view.h"

#include <glib-unix.h>

struct window {
    GtkWidget *widget, *view, *layout, *panel, *below, *pause;
    GstElement *filter;
    struct tap *tap;
    struct outputs *outputs;
    struct status *status;
    struct settings settings;
    struct banner banner;
    struct stream *stream;
    struct sources *sources;
    const struct source *source; /* entry of the list that is shown */
    guint signals[2];            /* sources of SIGINT and SIGTERM */
    guint saving;                /* source that will; 0: nothing has changed */
};

/* ---------------------------------------------------------------------- stream */

static enum view_layout layout_of(const struct window *window)
{
    return (enum view_layout)gtk_drop_down_get_selected(GTK_DROP_DOWN(window->layout));
}

static void reopen(struct window *window)
{
    banner_hide(&window->banner);
    status_begin(window->status);
    if (window->source)
        stream_open(window->stream, window->source, layout_of(window) != VIEW_ALONE);
}

/* A setting that this build or this device refuses ends every stream, and would be kept. */
static void begin_anew(struct window *window)
{
    stream_close(window->stream);
    values_reset(window->filter);
    reopen(window);
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
    status_told(((struct window *)user)->status, message);
}

static void on_changed(void *user)
{
    struct window *window = user;

    view_set_pictures(WINDOW_VIEW(window->view), stream_filtered(window->stream),
                      stream_before(window->stream));
    gtk_button_set_icon_name(GTK_BUTTON(window->pause), stream_is_playing(window->stream)
                                                            ? "media-playback-pause-symbolic"
                                                            : "media-playback-start-symbolic");
    status_set_way(window->status, stream_way(window->stream));
    gtk_widget_set_sensitive(window->pause, stream_is_open(window->stream));
    if (!stream_is_open(window->stream))
        tap_forget(window->tap); /* the tap's frame is the device's memory */
    tell("playing", "%d", stream_is_playing(window->stream));
}

/* -------------------------------------------------------------------- controls */

/* A property that cannot change while frames flow restarts the stream. */
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

static void save_soon(struct window *window);

static void on_notify(GObject *filter, GParamSpec *spec, struct window *window)
{
    g_autofree char *text = NULL;

    if (spec->owner_type != G_OBJECT_TYPE(filter) || !(spec->flags & G_PARAM_WRITABLE))
        return;
    text = values_get(GST_ELEMENT(filter), spec);
    tell(spec->name, "%s", text ? text : "");
    save_soon(window);
}

static void on_layout(GtkDropDown *widget, GParamSpec *spec, struct window *window)
{
    const bool both = layout_of(window) != VIEW_ALONE;

    (void)widget;
    (void)spec;
    view_set_layout(WINDOW_VIEW(window->view), layout_of(window));
    tell("layout", "%d", layout_of(window));
    save_soon(window);
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

/* --------------------------------------------------------------------- actions */

static GEnumClass *modes_of(struct window *window)
{
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(window->filter), "mode");

    return G_PARAM_SPEC_ENUM(spec)->enum_class;
}

static void on_pause(GSimpleAction *action, GVariant *argument, gpointer data)
{
    struct window *window = data;

    (void)action;
    (void)argument;
    stream_set_playing(window->stream, !stream_is_playing(window->stream));
}

static void on_mode(GSimpleAction *action, GVariant *argument, gpointer data)
{
    struct window *window = data;
    const GEnumValue *mode = &modes_of(window)->values[g_variant_get_int32(argument)];

    (void)action;
    g_object_set(window->filter, "mode", mode->value, NULL);
}

static void on_snapshot(GSimpleAction *action, GVariant *argument, gpointer data)
{
    (void)action;
    (void)argument;
    outputs_snapshot(((struct window *)data)->outputs);
}

static void on_record(GSimpleAction *action, GVariant *argument, gpointer data)
{
    (void)action;
    (void)argument;
    outputs_record(((struct window *)data)->outputs);
}

/* The picture alone, also where no window manager enlarges it. */
static void on_fullscreen(GSimpleAction *action, GVariant *argument, gpointer data)
{
    struct window *window = data;
    const bool alone = gtk_widget_get_visible(window->panel);

    (void)action;
    (void)argument;
    gtk_widget_set_visible(window->panel, !alone);
    gtk_widget_set_visible(window->below, !alone);
    if (alone)
        gtk_window_fullscreen(GTK_WINDOW(window->widget));
    else
        gtk_window_unfullscreen(GTK_WINDOW(window->widget));
    tell("fullscreen", "%d", alone);
}

static void on_keys(GSimpleAction *action, GVariant *argument, gpointer data)
{
    struct window *window = data;

    (void)action;
    (void)argument;
    keys_show(window->widget, modes_of(window)->n_values);
    tell("keys", "1");
}

static void on_close_key(GSimpleAction *action, GVariant *argument, gpointer data)
{
    (void)action;
    (void)argument;
    gtk_window_close(GTK_WINDOW(((struct window *)data)->widget));
}

static const GActionEntry actions[] = {
    {.name = "pause", .activate = on_pause},
    {.name = "mode", .activate = on_mode, .parameter_type = "i"},
    {.name = "snapshot", .activate = on_snapshot},
    {.name = "record", .activate = on_record},
    {.name = "fullscreen", .activate = on_fullscreen},
    {.name = "keys", .activate = on_keys},
    {.name = "close", .activate = on_close_key},
};

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

static gboolean on_saving(gpointer window)
{
    ((struct window *)window)->saving = 0;
    save(window);
    return G_SOURCE_REMOVE;
}

/* Saves soon after a change, so that little is lost if the program is killed. */
static void save_soon(struct window *window)
{
    if (!window->saving)
        window->saving = g_timeout_add_seconds(1, on_saving, window);
}

static gboolean on_close(GtkWindow *widget, struct window *window)
{
    /* takes over a value that is still being typed, while the filter is there */
    gtk_window_set_focus(widget, NULL);
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
    if (window->saving)
        g_source_remove(window->saving);
    status_destroy(window->status);
    outputs_destroy(window->outputs);
    stream_destroy(window->stream);
    tap_destroy(window->tap);
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

    window->view = view_new();
    view_set_layout(WINDOW_VIEW(window->view), layout_of(window));
    tell_place(window->view, "view");
    gtk_box_append(GTK_BOX(left), window->banner.box);
    gtk_box_append(GTK_BOX(left), window->view);
    window->below = status_new(window->filter, window->tap, &window->status);
    gtk_box_append(GTK_BOX(left), window->below);
    gtk_box_append(GTK_BOX(body), left);
    window->panel = panel_new(window->filter, &setter);
    gtk_box_append(GTK_BOX(body), window->panel);
    return body;
}

static GtkWidget *new_button(const char *icon, const char *what, const char *action,
                             const char *name)
{
    GtkWidget *button = gtk_button_new_from_icon_name(icon);

    gtk_widget_set_tooltip_text(button, what);
    gtk_widget_set_focus_on_click(button, FALSE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
    tell_place(button, name);
    return button;
}

static GtkWidget *new_header(struct window *window)
{
    GtkWidget *bar = gtk_header_bar_new();

    GtkWidget *keys = new_button("help-about-symbolic", "Keys (?)", "win.keys", "keys");

    window->sources = sources_new(on_source, window);
    window->layout = new_layouts(window);
    window->outputs = outputs_new(window->tap, &window->banner);
    window->pause =
        new_button("media-playback-pause-symbolic", "Pause, go on (Space)", "win.pause", "pause");
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), sources_widget(window->sources));
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), window->layout);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), window->pause);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), keys);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), outputs_widget(window->outputs));
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
    g_action_map_add_action_entries(G_ACTION_MAP(window->widget), actions, G_N_ELEMENTS(actions),
                                    window);
    keys_add(window->widget, modes_of(window)->n_values);
    banner_init(&window->banner, G_CALLBACK(reopen), G_CALLBACK(begin_anew), window);
    window->tap = tap_new(filter);
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
    tell_focus(GTK_WINDOW(window->widget));
    g_object_notify(G_OBJECT(filter), "mode"); /* tells it */
    gtk_widget_grab_focus(window->view);
    gtk_window_present(GTK_WINDOW(window->widget));
}
