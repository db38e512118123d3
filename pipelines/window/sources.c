/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sources.h"

#include "tell.h"

#include <string.h>

#define OPEN "Open a file…" /* the last entry */

struct sources {
    void (*chosen)(void *user, const struct source *source);
    void *user;
    GtkWidget *widget;
    GtkStringList *names; /* names of all sources, and OPEN */
    GPtrArray *all;       /* struct source */
    struct source *now;   /* one of them, or NULL */
    GstDeviceMonitor *monitor;
    guint watch;
    bool is_listing; /* the selection moves as the list does, not by the user */
};

static guint index_of(struct sources *sources, const struct source *source)
{
    guint i = 0;

    return g_ptr_array_find(sources->all, source, &i) ? i : 0;
}

static void select_now(struct sources *sources)
{
    sources->is_listing = true;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(sources->widget), index_of(sources, sources->now));
    sources->is_listing = false;
}

static void use(struct sources *sources, struct source *source)
{
    sources->now = source;
    select_now(sources);
    tell("source", "%s", source->id);
    sources->chosen(sources->user, source);
}

static void add(struct sources *sources, struct source *source)
{
    sources->is_listing = true;
    gtk_string_list_splice(sources->names, sources->all->len, 0,
                           (const char *const[]){source->name, NULL});
    g_ptr_array_add(sources->all, source);
    sources->is_listing = false;
    if (sources->now)
        select_now(sources);
}

static void drop(struct sources *sources, guint i)
{
    struct source *source = sources->all->pdata[i];

    if (source == sources->now)
        return; /* the stream says that it is gone */
    sources->is_listing = true;
    gtk_string_list_remove(sources->names, i);
    g_ptr_array_remove_index(sources->all, i);
    sources->is_listing = false;
    select_now(sources);
}

/* --------------------------------------------------------------------- cameras */

static void drop_camera(struct sources *sources, GstDevice *device)
{
    for (guint i = 0; i < sources->all->len; i++) {
        if (((struct source *)sources->all->pdata[i])->device == device) {
            drop(sources, i);
            return;
        }
    }
}

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer data)
{
    g_autoptr(GstDevice) device = NULL;

    (void)bus;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_DEVICE_ADDED) {
        gst_message_parse_device_added(message, &device);
        add(data, source_new_camera(device));
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_DEVICE_REMOVED) {
        gst_message_parse_device_removed(message, &device);
        drop_camera(data, device);
    }
    return G_SOURCE_CONTINUE;
}

static void watch_cameras(struct sources *sources)
{
    g_autoptr(GstBus) bus = NULL;
    GList *devices;

    sources->monitor = gst_device_monitor_new();
    gst_device_monitor_add_filter(sources->monitor, "Video/Source", NULL);
    bus = gst_device_monitor_get_bus(sources->monitor);
    if (!gst_device_monitor_start(sources->monitor))
        return; /* nothing here knows devices */
    devices = gst_device_monitor_get_devices(sources->monitor);
    for (GList *at = devices; at; at = at->next)
        add(sources, source_new_camera(at->data));
    g_list_free_full(devices, gst_object_unref);
    sources->watch = gst_bus_add_watch(bus, on_message, sources);
}

/* ----------------------------------------------------------------------- files */

static void on_file(GtkNativeDialog *dialog, int answer, struct sources *sources)
{
    tell("asking", "0");
    if (answer == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        g_autofree char *uri = g_file_get_uri(file);

        sources_choose(sources, uri);
    }
    g_object_unref(dialog);
}

void sources_choose_file(struct sources *sources)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        "A video or a picture", GTK_WINDOW(gtk_widget_get_root(sources->widget)),
        GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);

    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect(dialog, "response", G_CALLBACK(on_file), sources);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
    tell("asking", "1");
}

/* ------------------------------------------------------------------------- all */

static void on_selected(GtkDropDown *widget, GParamSpec *spec, struct sources *sources)
{
    const guint i = gtk_drop_down_get_selected(widget);

    (void)spec;
    if (sources->is_listing || i == GTK_INVALID_LIST_POSITION)
        return;
    if (i < sources->all->len) {
        /* A selection that is set in here is told again when this returns. */
        if (sources->all->pdata[i] != sources->now)
            use(sources, sources->all->pdata[i]);
    } else {
        select_now(sources);
        sources_choose_file(sources);
    }
}

struct sources *sources_new(void (*chosen)(void *user, const struct source *source), void *user)
{
    struct sources *sources = g_new0(struct sources, 1);

    sources->chosen = chosen;
    sources->user = user;
    sources->all = g_ptr_array_new_with_free_func((GDestroyNotify)source_destroy);
    sources->names = gtk_string_list_new((const char *const[]){OPEN, NULL});
    sources->widget = gtk_drop_down_new(G_LIST_MODEL(sources->names), NULL);
    g_object_ref_sink(sources->widget);
    gtk_widget_set_tooltip_text(sources->widget, "What is shown");
    gtk_accessible_update_property(GTK_ACCESSIBLE(sources->widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Source", -1);
    tell_place(sources->widget, "source");
    g_signal_connect(sources->widget, "notify::selected", G_CALLBACK(on_selected), sources);
    add(sources, source_new_test());
    watch_cameras(sources);
    return sources;
}

void sources_destroy(struct sources *sources)
{
    g_signal_handlers_disconnect_by_data(sources->widget, sources);
    if (sources->watch)
        g_source_remove(sources->watch);
    gst_device_monitor_stop(sources->monitor);
    gst_object_unref(sources->monitor);
    g_object_unref(sources->widget);
    g_ptr_array_unref(sources->all);
    g_free(sources);
}

GtkWidget *sources_widget(struct sources *sources)
{
    return sources->widget;
}

void sources_choose(struct sources *sources, const char *id)
{
    struct source *file;

    for (guint i = 0; i < sources->all->len; i++) {
        if (!strcmp(((struct source *)sources->all->pdata[i])->id, id)) {
            use(sources, sources->all->pdata[i]);
            return;
        }
    }
    if (g_str_has_prefix(id, "camera:")) {
        use(sources, sources->all->pdata[0]);
        return;
    }
    file = source_new_file(id);
    for (guint i = 0; i < sources->all->len; i++) {
        if (!strcmp(((struct source *)sources->all->pdata[i])->id, file->id)) {
            source_destroy(file);
            use(sources, sources->all->pdata[i]);
            return;
        }
    }
    add(sources, file);
    use(sources, file);
}
