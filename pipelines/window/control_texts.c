/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Controls for text: entries, files, and the model, which is a name or a file. */
#include "control.h"

#include "fetch.h"
#include "models.h"
#include "values.h"

#include <string.h>

/* ------------------------------------------------------------------------ entry */

static bool is_text(const GParamSpec *spec)
{
    (void)spec;
    return true; /* lists of numbers are written, too */
}

static void on_entry(GtkEntry *widget, struct control *control)
{
    control_set_text(control, gtk_editable_get_text(GTK_EDITABLE(widget)));
}

static void on_leave(GtkEventControllerFocus *focus, struct control *control)
{
    (void)focus;
    on_entry(GTK_ENTRY(control->widget), control);
}

static GtkWidget *make_text(struct control *control)
{
    GtkWidget *widget = gtk_entry_new();
    GtkEventController *focus = gtk_event_controller_focus_new();

    gtk_widget_set_hexpand(widget, TRUE);
    g_signal_connect(widget, "activate", G_CALLBACK(on_entry), control);
    g_signal_connect(focus, "leave", G_CALLBACK(on_leave), control);
    gtk_widget_add_controller(widget, focus);
    return widget;
}

static void show_text(struct control *control, const GValue *value)
{
    g_autofree char *text = values_get(control->filter, control->spec);

    (void)value;
    gtk_editable_set_text(GTK_EDITABLE(control->widget), text ? text : "");
}

const struct control_kind control_text = {is_text, make_text, show_text};

/* ------------------------------------------------------------------------- file */

static bool is_file(const GParamSpec *spec)
{
    return !strcmp(spec->name, "background") || !strcmp(spec->name, "labels");
}

static void on_chosen(GtkNativeDialog *dialog, int answer, struct control *control)
{
    if (answer == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        g_autofree char *path = g_file_get_path(file);

        if (path)
            control_set_text(control, path);
    }
    g_object_unref(dialog);
}

void control_choose_file(struct control *control)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        g_param_spec_get_nick(control->spec), GTK_WINDOW(gtk_widget_get_root(control->widget)),
        GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);

    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect(dialog, "response", G_CALLBACK(on_chosen), control);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void on_clear(GtkButton *button, struct control *control)
{
    (void)button;
    control_set_text(control, "");
}

static GtkWidget *make_file(struct control *control)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    GtkWidget *choose = gtk_button_new_with_label("");
    GtkWidget *clear = gtk_button_new_from_icon_name("edit-clear-symbolic");

    gtk_widget_set_hexpand(box, TRUE);
    gtk_widget_set_hexpand(choose, TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(choose))),
                            PANGO_ELLIPSIZE_START);
    gtk_widget_set_tooltip_text(clear, "No file");
    gtk_accessible_update_property(GTK_ACCESSIBLE(clear), GTK_ACCESSIBLE_PROPERTY_LABEL, "No file",
                                   -1);
    g_signal_connect_swapped(choose, "clicked", G_CALLBACK(control_choose_file), control);
    g_signal_connect(clear, "clicked", G_CALLBACK(on_clear), control);
    gtk_box_append(GTK_BOX(box), choose);
    gtk_box_append(GTK_BOX(box), clear);
    return box;
}

static void show_file(struct control *control, const GValue *value)
{
    GtkWidget *choose = gtk_widget_get_first_child(control->widget);
    const char *path = g_value_get_string(value);
    g_autofree char *name = path && *path ? g_filename_display_basename(path) : NULL;

    gtk_button_set_label(GTK_BUTTON(choose), name ? name : "Choose…");
}

const struct control_kind control_file = {is_file, make_file, show_file};

/* ------------------------------------------------------------------------ model */

static bool is_model(const GParamSpec *spec)
{
    return !strcmp(spec->name, "model");
}

static const char *name_at(GtkDropDown *widget, guint i)
{
    return gtk_string_list_get_string(GTK_STRING_LIST(gtk_drop_down_get_model(widget)), i);
}

#define OFFERED "matting"
#define OFFER OFFERED " (to be fetched)…"

/* One file has all three matting models: they take the place of the offer. */
static void on_fetched(gpointer user)
{
    static const char *const names[] = {OFFERED, OFFERED "-small", OFFERED "-hd", NULL};
    struct control *control = user;
    GtkDropDown *widget = GTK_DROP_DOWN(control->widget);
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(widget));
    const guint count = g_list_model_get_n_items(G_LIST_MODEL(list));

    control->is_showing = true;
    for (guint i = 0; i < count; i++)
        if (!strcmp(name_at(widget, i), OFFER)) {
            gtk_string_list_splice(list, i, 1, names);
            break;
        }
    control->is_showing = false;
    control_set_text(control, OFFERED);
}

/* The last entry asks for a file. */
static void on_model(GtkDropDown *widget, GParamSpec *spec, struct control *control)
{
    const guint count = g_list_model_get_n_items(gtk_drop_down_get_model(widget));
    const guint chosen = gtk_drop_down_get_selected(widget);

    (void)spec;
    if (control->is_showing || chosen >= count)
        return;
    const bool is_file = chosen == count - 1,
               is_offer = !is_file && !strcmp(name_at(widget, chosen), OFFER);
    if (!is_file && !is_offer) {
        control_set_text(control, name_at(widget, chosen));
        return;
    }
    g_object_notify(G_OBJECT(control->filter), control->spec->name); /* shows what is set */
    if (is_file)
        control_choose_file(control);
    else
        fetch_offer(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(widget))), OFFERED, on_fetched,
                    control);
}

static GtkWidget *make_model(struct control *control)
{
    g_auto(GStrv) names = models_list();
    GtkStringList *list = gtk_string_list_new((const char *const *)names);
    GtkWidget *widget = gtk_drop_down_new(G_LIST_MODEL(list), NULL);

    if (!models_has(OFFERED))
        gtk_string_list_append(list, OFFER);
    gtk_string_list_append(list, "A file…");
    gtk_widget_set_hexpand(widget, TRUE);
    g_signal_connect(widget, "notify::selected", G_CALLBACK(on_model), control);
    return widget;
}

static void show_model(struct control *control, const GValue *value)
{
    GtkDropDown *widget = GTK_DROP_DOWN(control->widget);
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(widget));
    const guint last = g_list_model_get_n_items(G_LIST_MODEL(list)) - 1;
    const char *model = g_value_get_string(value);

    if (!model || !*model)
        model = "person";
    for (guint i = 0; i < last; i++) {
        if (!strcmp(name_at(widget, i), model)) {
            gtk_drop_down_set_selected(widget, i);
            return;
        }
    }
    gtk_string_list_splice(list, last, 0, (const char *const[]){model, NULL});
    gtk_drop_down_set_selected(widget, last);
}

const struct control_kind control_model = {is_model, make_model, show_model};
