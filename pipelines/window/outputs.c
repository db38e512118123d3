/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "outputs.h"

#include "encoders.h"
#include "loopback.h"
#include "snapshot.h"
#include "tell.h"

#include <glib/gstdio.h>

#define NO_FRAME "There is no frame yet."
#define NO_CAMERA                                                                                  \
    "There is no virtual camera. Make one with the kernel module v4l2loopback (on Debian: "        \
    "install v4l2loopback-dkms and the kernel's headers, then run: sudo modprobe v4l2loopback "    \
    "video_nr=10 card_label=tdlfilter exclusive_caps=1)."

struct outputs {
    struct tap *tap;
    struct banner *banner;
    GtkWidget *box, *record, *camera;
    GtkWidget *devices; /* choice of the virtual camera, where there are several */
    struct outlet *recording, *feeding;
    char *path;                 /* file of the recording */
    bool is_ending, is_setting; /* a recording; a button by us */
};

static void set_button(struct outputs *outputs, GtkWidget *button, bool active)
{
    outputs->is_setting = true;
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), active);
    outputs->is_setting = false;
}

/* In the user's folder for such things, named by the time. */
static char *new_path(GUserDirectory where, const char *suffix)
{
    const char *folder = g_get_user_special_dir(where);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *time = g_date_time_format(now, "%Y-%m-%d-%H%M%S");
    g_autofree char *name = g_strdup_printf("tdlfilter-%s-%03d.%s", time,
                                            g_date_time_get_microsecond(now) / 1000, suffix);

    if (!folder)
        folder = g_get_home_dir();
    g_mkdir_with_parents(folder, 0755); /* opening the file will report a failure */
    return g_build_filename(folder, name, NULL);
}

/* ------------------------------------------------------------------- pictures */

static void on_snapshot(void *user, const char *path, const char *error)
{
    struct banner *banner = user;
    g_autofree char *text = path ? g_strdup_printf("The picture is in %s", path)
                                 : g_strdup_printf("The picture could not be written: %s", error);

    banner_say(banner, path ? GTK_MESSAGE_INFO : GTK_MESSAGE_WARNING, text);
    if (path)
        tell("snapshot", "%s", path);
}

void outputs_snapshot(struct outputs *outputs)
{
    g_autoptr(GstSample) sample = tap_last(outputs->tap);
    g_autofree char *path = new_path(G_USER_DIRECTORY_PICTURES, "png");

    if (sample)
        snapshot_take(sample, path, on_snapshot, outputs->banner);
    else
        banner_say(outputs->banner, GTK_MESSAGE_WARNING, NO_FRAME);
}

/* ------------------------------------------------------------------ recordings */

/* Message to the user about a recording that has ended; g_free. */
static char *recorded_text(const struct outputs *outputs, const char *error)
{
    const guint64 lost = outlet_lost(outputs->recording);

    if (!outlet_taken(outputs->recording))
        return g_strdup_printf("Nothing was recorded: %s", error ? error : "no frame came");
    if (error)
        return g_strdup_printf("The recording broke, what came before is in %s: %s", outputs->path,
                               error);
    return lost ? g_strdup_printf("The video is in %s; the encoder had no time for "
                                  "%" G_GUINT64_FORMAT " frames",
                                  outputs->path, lost)
                : g_strdup_printf("The video is in %s", outputs->path);
}

static void on_recorded(void *user, const char *error)
{
    struct outputs *outputs = user;
    const bool empty = !outlet_taken(outputs->recording);
    const bool wrong = error || empty;
    g_autofree char *text = recorded_text(outputs, error);

    tap_set_outlet(outputs->tap, TAP_RECORD, NULL);
    g_clear_pointer(&outputs->recording, outlet_destroy);
    if (empty)
        g_unlink(outputs->path);
    outputs->is_ending = false;
    set_button(outputs, outputs->record, false);
    banner_say(outputs->banner, wrong ? GTK_MESSAGE_WARNING : GTK_MESSAGE_INFO, text);
    if (!wrong)
        tell("recorded", "%s", outputs->path);
}

static void begin_recording(struct outputs *outputs)
{
    g_autoptr(GstSample) sample = tap_last(outputs->tap);
    const struct encoder *encoder = encoders_find();
    g_autoptr(GError) error = NULL;

    if (!encoder || !sample) {
        banner_say(outputs->banner, GTK_MESSAGE_WARNING, encoder ? NO_FRAME : encoders_missing());
        return;
    }
    g_free(outputs->path);
    outputs->path = new_path(G_USER_DIRECTORY_VIDEOS, encoder->suffix);
    outputs->recording = outlet_new(gst_sample_get_caps(sample), encoder->line, "location",
                                    outputs->path, on_recorded, outputs, &error);
    if (outputs->recording)
        tap_set_outlet(outputs->tap, TAP_RECORD, outputs->recording);
    else
        banner_say(outputs->banner, GTK_MESSAGE_WARNING, error->message);
}

static void end_recording(struct outputs *outputs)
{
    tap_set_outlet(outputs->tap, TAP_RECORD, NULL);
    outputs->is_ending = true;
    outlet_end(outputs->recording);
}

static void on_record(GtkToggleButton *button, struct outputs *outputs)
{
    if (outputs->is_setting)
        return;
    if (outputs->recording && !outputs->is_ending)
        end_recording(outputs);
    else if (!outputs->recording)
        begin_recording(outputs);
    set_button(outputs, GTK_WIDGET(button), outputs->recording && !outputs->is_ending);
    tell("recording", "%d", outputs->recording && !outputs->is_ending);
}

void outputs_record(struct outputs *outputs)
{
    GtkToggleButton *button = GTK_TOGGLE_BUTTON(outputs->record);

    gtk_toggle_button_set_active(button, !gtk_toggle_button_get_active(button));
}

/* --------------------------------------------------------------- virtual camera */

static void on_camera_ended(void *user, const char *error)
{
    struct outputs *outputs = user;

    tap_set_outlet(outputs->tap, TAP_CAMERA, NULL);
    g_clear_pointer(&outputs->feeding, outlet_destroy);
    set_button(outputs, outputs->camera, false);
    if (error)
        banner_say(outputs->banner, GTK_MESSAGE_WARNING, error);
}

/* Shows those that are there now, and returns the one that is chosen, or NULL. */
static char *list_devices(struct outputs *outputs)
{
    GtkDropDown *widget = GTK_DROP_DOWN(outputs->devices);
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(widget));
    g_auto(GStrv) devices = loopback_list();
    guint chosen = gtk_drop_down_get_selected(widget);

    outputs->is_setting = true;
    gtk_string_list_splice(list, 0, g_list_model_get_n_items(G_LIST_MODEL(list)),
                           (const char *const *)devices);
    if (chosen >= g_strv_length(devices))
        chosen = 0;
    gtk_drop_down_set_selected(widget, chosen);
    outputs->is_setting = false;
    gtk_widget_set_visible(outputs->devices, g_strv_length(devices) > 1);
    return g_strdup(devices[chosen]);
}

static void begin_camera(struct outputs *outputs)
{
    g_autoptr(GstSample) sample = tap_last(outputs->tap);
    g_autofree char *device = list_devices(outputs);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    if (!device || !sample) {
        banner_say(outputs->banner, GTK_MESSAGE_WARNING, device ? NO_FRAME : NO_CAMERA);
        return;
    }
    outputs->feeding =
        outlet_new(gst_sample_get_caps(sample), "video/x-raw,format=YUY2 ! v4l2sink name=to",
                   "device", device, on_camera_ended, outputs, &error);
    if (!outputs->feeding) {
        banner_say(outputs->banner, GTK_MESSAGE_WARNING, error->message);
        return;
    }
    tap_set_outlet(outputs->tap, TAP_CAMERA, outputs->feeding);
    text = g_strdup_printf("Other programs find the picture at the camera %s", device);
    banner_say(outputs->banner, GTK_MESSAGE_INFO, text);
}

static void on_camera(GtkToggleButton *button, struct outputs *outputs)
{
    if (outputs->is_setting)
        return;
    if (outputs->feeding)
        on_camera_ended(outputs, NULL);
    else
        begin_camera(outputs);
    set_button(outputs, GTK_WIDGET(button), outputs->feeding != NULL);
    tell("virtual-camera", "%d", outputs->feeding != NULL);
}

static void on_device(GtkDropDown *widget, GParamSpec *spec, struct outputs *outputs)
{
    (void)widget;
    (void)spec;
    if (outputs->is_setting || !outputs->feeding)
        return;
    on_camera_ended(outputs, NULL);
    begin_camera(outputs);
    set_button(outputs, outputs->camera, outputs->feeding != NULL);
}

/* ------------------------------------------------------------------------ all */

static GtkWidget *add(struct outputs *outputs, GtkWidget *button, const char *icon,
                      const char *name, const char *what)
{
    gtk_button_set_icon_name(GTK_BUTTON(button), icon);
    gtk_widget_set_tooltip_text(button, what);
    gtk_widget_set_focus_on_click(button, FALSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
    tell_place(button, name);
    gtk_box_append(GTK_BOX(outputs->box), button);
    return button;
}

struct outputs *outputs_new(struct tap *tap, struct banner *banner)
{
    struct outputs *outputs = g_new0(struct outputs, 1);
    GtkWidget *picture;

    outputs->tap = tap;
    outputs->banner = banner;
    outputs->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    picture = add(outputs, gtk_button_new(), "camera-photo-symbolic", "snapshot",
                  "Write the picture into a file (S)");
    outputs->record = add(outputs, gtk_toggle_button_new(), "media-record-symbolic", "record",
                          "Record a video (R)");
    outputs->camera = add(outputs, gtk_toggle_button_new(), "camera-web-symbolic", "camera",
                          "Be a camera for other programs");
    outputs->devices = gtk_drop_down_new_from_strings((const char *const[]){NULL});
    gtk_widget_set_tooltip_text(outputs->devices, "Which virtual camera");
    gtk_accessible_update_property(GTK_ACCESSIBLE(outputs->devices), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Virtual camera", -1);
    gtk_box_append(GTK_BOX(outputs->box), outputs->devices);
    g_free(list_devices(outputs));
    g_signal_connect(outputs->devices, "notify::selected", G_CALLBACK(on_device), outputs);
    g_signal_connect_swapped(picture, "clicked", G_CALLBACK(outputs_snapshot), outputs);
    g_signal_connect(outputs->record, "toggled", G_CALLBACK(on_record), outputs);
    g_signal_connect(outputs->camera, "toggled", G_CALLBACK(on_camera), outputs);
    return outputs;
}

void outputs_destroy(struct outputs *outputs)
{
    for (int i = 0; i < TAP_USES; i++)
        tap_set_outlet(outputs->tap, (enum tap_use)i, NULL);
    if (outputs->recording)
        outlet_wait(outputs->recording);
    outlet_destroy(outputs->recording);
    outlet_destroy(outputs->feeding);
    g_free(outputs->path);
    g_free(outputs);
}

GtkWidget *outputs_widget(struct outputs *outputs)
{
    return outputs->box;
}
