/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control.h"

#include "tell.h"
#include "values.h"

static const struct control_kind *const kinds[] = {
    &control_switch, &control_choice, &control_colour, &control_scale,
    &control_number, &control_model,  &control_file,   &control_text,
};

static const struct control_kind *kind_of(const GParamSpec *spec)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kinds[i]->fits(spec))
            return kinds[i];
    g_return_val_if_reached(NULL); /* the last one takes all */
}

void control_set(struct control *control, const GValue *value)
{
    if (!control->is_showing)
        control->setter.set(control->setter.user, control->spec, value);
}

void control_set_text(struct control *control, const char *text)
{
    g_auto(GValue) value = G_VALUE_INIT;
    g_autofree char *now = values_get(control->filter, control->spec);

    if (!control->is_showing && g_strcmp0(now, text) && values_parse(control->spec, text, &value))
        control_set(control, &value);
}

static void show(struct control *control)
{
    g_auto(GValue) value = G_VALUE_INIT;

    g_value_init(&value, control->spec->value_type);
    g_object_get_property(G_OBJECT(control->filter), control->spec->name, &value);
    control->is_showing = true;
    kind_of(control->spec)->show(control, &value);
    control->is_showing = false;
}

static void on_notify(GObject *filter, GParamSpec *spec, struct control *control)
{
    (void)filter;
    (void)spec;
    show(control);
}

static void on_destroy(GtkWidget *row, struct control *control)
{
    (void)row;
    g_signal_handlers_disconnect_by_data(control->filter, control);
    gst_object_unref(control->filter);
    g_free(control);
}

GtkWidget *control_new(GstElement *filter, GParamSpec *spec, const struct control_setter *setter)
{
    struct control *control = g_new0(struct control, 1);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *label = gtk_label_new(g_param_spec_get_nick(spec));
    g_autofree char *signal = g_strconcat("notify::", spec->name, NULL);

    control->filter = gst_object_ref(filter);
    control->spec = spec;
    control->setter = *setter;
    control->widget = kind_of(spec)->make(control);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_set_size_request(label, 130, -1);
    gtk_widget_set_valign(control->widget, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(row), label);
    gtk_box_append(GTK_BOX(row), control->widget);
    gtk_widget_set_tooltip_text(row, g_param_spec_get_blurb(spec));
    gtk_accessible_update_relation(GTK_ACCESSIBLE(control->widget),
                                   GTK_ACCESSIBLE_RELATION_LABELLED_BY, label, NULL, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(control->widget),
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   g_param_spec_get_blurb(spec), -1);
    tell_place(control->widget, spec->name);
    g_signal_connect(filter, signal, G_CALLBACK(on_notify), control);
    g_signal_connect(row, "destroy", G_CALLBACK(on_destroy), control);
    show(control);
    return row;
}
