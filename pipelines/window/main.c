/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tdl-demo: a window with what tdlfilter makes of a camera, a video or a picture.
 *
 * One tdlfilter lives as long as the window; pipelines are built round it (stream.c), and
 * the controls (panel.c) are made of its GParamSpecs. Frames come into the window by
 * display.c, and leave it for files and a virtual camera by way of tap.c.
 */
#include "options.h"
#include "tell.h"
#include "window.h"

#define ID "org.tdlfilter.demo"

struct start {
    struct options options;
    int status;
};

static gboolean knows_mode(GstElement *filter, const char *mode)
{
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(filter), "mode");

    return !mode || g_enum_get_value_by_nick(G_PARAM_SPEC_ENUM(spec)->enum_class, mode);
}

/* In a build tree the element's presets lie beside the plugin. */
static void find_presets(GstElement *filter)
{
    g_autoptr(GstPlugin) plugin =
        gst_plugin_feature_get_plugin(GST_PLUGIN_FEATURE(gst_element_get_factory(filter)));
    g_autofree char *folder = g_path_get_dirname(gst_plugin_get_filename(plugin));

    gst_preset_set_app_dir(folder);
}

static void on_activate(GtkApplication *application, struct start *start)
{
    GstElement *filter = gst_element_factory_make("tdlfilter", NULL);

    if (!filter) {
        g_printerr("tdl-demo: GStreamer does not find its element tdlfilter. Install "
                   "gstreamer1.0-tdlfilter, or set GST_PLUGIN_PATH to the folder of "
                   "libgsttdlfilter.so.\n");
        start->status = 1;
        return; /* without a window the application ends */
    }
    gst_object_ref_sink(filter);
    if (!knows_mode(filter, start->options.mode)) {
        g_printerr("tdl-demo: there is no mode '%s'; --help has their names.\n",
                   start->options.mode);
        gst_object_unref(filter);
        start->status = 2;
        return;
    }
    find_presets(filter);
    window_open(application, filter, &start->options);
    gst_object_unref(filter);
}

int main(int argc, char **argv)
{
    struct start start = {0};
    g_autoptr(GtkApplication) application = NULL;
    int status;

    options_read(argc, argv, &start.options);
    gst_init(NULL, NULL);
    if (!gtk_init_check()) {
        g_printerr("tdl-demo: there is no display (DISPLAY, WAYLAND_DISPLAY).\n");
        return 1;
    }
    if (start.options.tell)
        tell_begin();
    gtk_window_set_default_icon_name(ID);
    application = gtk_application_new(ID, G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(on_activate), &start);
    status = g_application_run(G_APPLICATION(application), 0, NULL);
    return status ? status : start.status;
}
