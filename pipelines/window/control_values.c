/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Controls for what is no text: switches, choices, numbers, colours. */
#include "control.h"

#include <math.h>

#define WIDEST_SCALE 200 /* a wider range is one for typing */

static void set_from(struct control *control, double number)
{
    g_auto(GValue) from = G_VALUE_INIT, value = G_VALUE_INIT;

    g_value_init(&from, G_TYPE_DOUBLE);
    g_value_set_double(&from, number);
    g_value_init(&value, control->spec->value_type);
    g_value_transform(&from, &value);
    control_set(control, &value);
}

/* ---------------------------------------------------------------------- switch */

static bool is_switch(const GParamSpec *spec)
{
    return spec->value_type == G_TYPE_BOOLEAN;
}

static void on_switch(GtkSwitch *widget, GParamSpec *spec, struct control *control)
{
    g_auto(GValue) value = G_VALUE_INIT;

    (void)spec;
    g_value_init(&value, G_TYPE_BOOLEAN);
    g_value_set_boolean(&value, gtk_switch_get_active(widget));
    control_set(control, &value);
}

static GtkWidget *make_switch(struct control *control)
{
    GtkWidget *widget = gtk_switch_new();

    g_signal_connect(widget, "notify::active", G_CALLBACK(on_switch), control);
    return widget;
}

static void show_switch(struct control *control, const GValue *value)
{
    gtk_switch_set_active(GTK_SWITCH(control->widget), g_value_get_boolean(value));
}

const struct control_kind control_switch = {is_switch, make_switch, show_switch};

/* ---------------------------------------------------------------------- choice */

static bool is_choice(const GParamSpec *spec)
{
    return G_TYPE_IS_ENUM(spec->value_type);
}

static GEnumClass *enum_of(const struct control *control)
{
    return G_PARAM_SPEC_ENUM(control->spec)->enum_class;
}

static void on_choice(GtkDropDown *widget, GParamSpec *spec, struct control *control)
{
    g_auto(GValue) value = G_VALUE_INIT;
    const guint chosen = gtk_drop_down_get_selected(widget);

    (void)spec;
    if (chosen >= enum_of(control)->n_values)
        return;
    g_value_init(&value, control->spec->value_type);
    g_value_set_enum(&value, enum_of(control)->values[chosen].value);
    control_set(control, &value);
}

static GtkWidget *make_choice(struct control *control)
{
    GtkStringList *names = gtk_string_list_new(NULL);
    GtkWidget *widget = gtk_drop_down_new(G_LIST_MODEL(names), NULL);

    for (guint i = 0; i < enum_of(control)->n_values; i++)
        gtk_string_list_append(names, enum_of(control)->values[i].value_nick);
    gtk_widget_set_hexpand(widget, TRUE);
    g_signal_connect(widget, "notify::selected", G_CALLBACK(on_choice), control);
    return widget;
}

static void show_choice(struct control *control, const GValue *value)
{
    for (guint i = 0; i < enum_of(control)->n_values; i++)
        if (enum_of(control)->values[i].value == g_value_get_enum(value))
            gtk_drop_down_set_selected(GTK_DROP_DOWN(control->widget), i);
}

const struct control_kind control_choice = {is_choice, make_choice, show_choice};

/* ---------------------------------------------------------------------- colour */

static bool is_colour(const GParamSpec *spec)
{
    return spec->value_type == G_TYPE_UINT && g_str_has_suffix(spec->name, "-color");
}

static guint byte_of(float share)
{
    return (guint)lrintf(share * 255);
}

static void on_colour(GtkColorChooser *widget, GParamSpec *spec, struct control *control)
{
    g_auto(GValue) value = G_VALUE_INIT;
    GdkRGBA c;

    (void)spec;
    gtk_color_chooser_get_rgba(widget, &c);
    g_value_init(&value, G_TYPE_UINT);
    g_value_set_uint(&value, byte_of(c.alpha) << 24 | byte_of(c.red) << 16 | byte_of(c.green) << 8 |
                                 byte_of(c.blue));
    control_set(control, &value);
}

static GtkWidget *make_colour(struct control *control)
{
    GtkWidget *widget = gtk_color_button_new();

    gtk_color_chooser_set_use_alpha(GTK_COLOR_CHOOSER(widget), TRUE);
    g_signal_connect(widget, "notify::rgba", G_CALLBACK(on_colour), control);
    return widget;
}

static void show_colour(struct control *control, const GValue *value)
{
    const guint argb = g_value_get_uint(value);
    const GdkRGBA c = {(float)(argb >> 16 & 255) / 255, (float)(argb >> 8 & 255) / 255,
                       (float)(argb & 255) / 255, (float)(argb >> 24) / 255};

    gtk_color_chooser_set_rgba(GTK_COLOR_CHOOSER(control->widget), &c);
}

const struct control_kind control_colour = {is_colour, make_colour, show_colour};

/* --------------------------------------------------------------------- numbers */

static bool range_of(const GParamSpec *spec, double *low, double *high)
{
    if (spec->value_type == G_TYPE_FLOAT) {
        *low = ((const GParamSpecFloat *)spec)->minimum;
        *high = ((const GParamSpecFloat *)spec)->maximum;
    } else if (spec->value_type == G_TYPE_UINT) {
        *low = ((const GParamSpecUInt *)spec)->minimum;
        *high = ((const GParamSpecUInt *)spec)->maximum;
    } else {
        return false;
    }
    return true;
}

static int digits_of(const struct control *control, double width)
{
    return control->spec->value_type == G_TYPE_UINT ? 0 : width > 10 ? 1 : width < 0.5 ? 3 : 2;
}

static double number_of(const GValue *value)
{
    return G_VALUE_HOLDS_FLOAT(value) ? (double)g_value_get_float(value)
                                      : (double)g_value_get_uint(value);
}

static bool is_scale(const GParamSpec *spec)
{
    double low, high;

    return range_of(spec, &low, &high) && high - low <= WIDEST_SCALE;
}

static void on_scale(GtkRange *widget, struct control *control)
{
    set_from(control, gtk_range_get_value(widget));
}

static GtkWidget *make_scale(struct control *control)
{
    GtkWidget *widget;
    double low = 0, high = 0;
    int digits;

    range_of(control->spec, &low, &high);
    digits = digits_of(control, high - low);
    widget = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, low, high,
                                      digits ? (high - low) / 100 : 1);
    gtk_scale_set_draw_value(GTK_SCALE(widget), TRUE);
    gtk_scale_set_value_pos(GTK_SCALE(widget), GTK_POS_RIGHT);
    gtk_scale_set_digits(GTK_SCALE(widget), digits);
    gtk_widget_set_hexpand(widget, TRUE);
    g_signal_connect(widget, "value-changed", G_CALLBACK(on_scale), control);
    return widget;
}

static void show_scale(struct control *control, const GValue *value)
{
    gtk_range_set_value(GTK_RANGE(control->widget), number_of(value));
}

const struct control_kind control_scale = {is_scale, make_scale, show_scale};

static bool is_number(const GParamSpec *spec)
{
    double low, high;

    return range_of(spec, &low, &high);
}

static void on_number(GtkSpinButton *widget, struct control *control)
{
    set_from(control, gtk_spin_button_get_value(widget));
}

static GtkWidget *make_number(struct control *control)
{
    GtkWidget *widget;
    double low = 0, high = 0;

    range_of(control->spec, &low, &high);
    widget = gtk_spin_button_new_with_range(low, high, 1);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(widget), (guint)digits_of(control, high - low));
    gtk_spin_button_set_numeric(GTK_SPIN_BUTTON(widget), TRUE);
    g_signal_connect(widget, "value-changed", G_CALLBACK(on_number), control);
    return widget;
}

static void show_number(struct control *control, const GValue *value)
{
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(control->widget), number_of(value));
}

const struct control_kind control_number = {is_number, make_number, show_number};
