/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "panel.h"

#include "tell.h"
#include "values.h"

#include <string.h>

#define NO_PRESET "Choose…"

/* Properties by when and whom they concern, as their flags say. */
static const struct section {
    const char *title;
    bool is_live, is_of_picture, is_open;
} sections[] = {
    {"Picture and mask", true, true, true},
    {"Model, network and time", true, false, false},
    {"Device (the stream begins anew)", false, false, false},
};

static bool belongs(const GParamSpec *spec, const struct section *section)
{
    return values_is_live(spec) == section->is_live &&
           !!(spec->flags & GST_PARAM_CONTROLLABLE) == section->is_of_picture;
}

/* Properties that most users look for come first. */
static const char *const first[] = {"mode", "model", "background"};

static bool is_first(const GParamSpec *spec)
{
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        if (!strcmp(first[i], spec->name))
            return true;
    return false;
}

/* No GtkExpander: in GTK 4.18 Tab looks for a root in its child, which has none while closed. */
static GtkWidget *new_section(const struct section *section, GstElement *filter, GParamSpec **specs,
                              const struct control_setter *setter)
{
    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    GtkWidget *button = gtk_toggle_button_new_with_label(section->title);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);

    for (int i = 0; specs[i]; i++)
        if (!is_first(specs[i]) && belongs(specs[i], section))
            gtk_box_append(GTK_BOX(box), control_new(filter, specs[i], setter));
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), section->is_open);
    g_object_bind_property(button, "active", box, "visible", G_BINDING_SYNC_CREATE);
    gtk_box_append(GTK_BOX(all), button);
    gtk_box_append(GTK_BOX(all), box);
    return all;
}

static void on_preset(GtkDropDown *widget, GParamSpec *spec, GstElement *filter)
{
    GtkStringList *names = GTK_STRING_LIST(gtk_drop_down_get_model(widget));
    const guint chosen = gtk_drop_down_get_selected(widget);

    (void)spec;
    if (!chosen)
        return;
    gst_preset_load_preset(GST_PRESET(filter), gtk_string_list_get_string(names, chosen));
    tell("preset", "%s", gtk_string_list_get_string(names, chosen));
    /* back to "none": the user may change each value from here on */
    gtk_drop_down_set_selected(widget, 0);
}

static GtkWidget *new_presets(GstElement *filter)
{
    g_auto(GStrv) names = gst_preset_get_preset_names(GST_PRESET(filter));
    GtkStringList *list = gtk_string_list_new((const char *const[]){NO_PRESET, NULL});
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *label = gtk_label_new("Preset");
    GtkWidget *widget = gtk_drop_down_new(G_LIST_MODEL(list), NULL);

    for (int i = 0; names && names[i]; i++)
        gtk_string_list_append(list, names[i]);
    gtk_widget_set_sensitive(widget, names && names[0]);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_set_size_request(label, 130, -1);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY,
                                   label, NULL, -1);
    gtk_widget_set_tooltip_text(row, "Set properties that go together");
    tell_place(widget, "preset");
    g_signal_connect(widget, "notify::selected", G_CALLBACK(on_preset), filter);
    gtk_box_append(GTK_BOX(row), label);
    gtk_box_append(GTK_BOX(row), widget);
    return row;
}

GtkWidget *panel_new(GstElement *filter, const struct control_setter *setter)
{
    g_autofree GParamSpec **specs = values_list(filter);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *scrolled = gtk_scrolled_window_new();

    gtk_widget_set_margin_start(box, 8);
    gtk_widget_set_margin_end(box, 8);
    gtk_widget_set_margin_top(box, 8);
    gtk_box_append(GTK_BOX(box), new_presets(filter));
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++) {
        GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(filter), first[i]);

        if (spec)
            gtk_box_append(GTK_BOX(box), control_new(filter, spec, setter));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sections); i++)
        gtk_box_append(GTK_BOX(box), new_section(&sections[i], filter, specs, setter));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), box);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_widget_set_size_request(scrolled, 360, -1);
    return scrolled;
}
