/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One control for one property, of the kind that its GParamSpec asks for. Main thread. */
#ifndef WINDOW_CONTROL_H
#define WINDOW_CONTROL_H

#include <gst/gst.h>
#include <gtk/gtk.h>
#include <stdbool.h>

/* Sets a property, by whatever that takes. */
struct control_setter {
    void (*set)(void *user, GParamSpec *spec, const GValue *value);
    void *user;
};

struct control {
    GstElement *filter;
    GParamSpec *spec;
    struct control_setter setter;
    GtkWidget *widget;
    bool is_showing; /* the widget is being set from the filter's value, not by the user */
};

struct control_kind {
    bool (*fits)(const GParamSpec *spec);
    GtkWidget *(*make)(struct control *control); /* calls the functions below when it is used */
    void (*show)(struct control *control, const GValue *value);
};
extern const struct control_kind control_switch, control_choice, control_colour, control_scale,
    control_number, control_model, control_file, control_text;

/* Show a value as if the user had chosen it. */
void control_set(struct control *control, const GValue *value);
void control_set_text(struct control *control, const char *text);

/* The control with its name; the first kind that fits. It follows the property. */
GtkWidget *control_new(GstElement *filter, GParamSpec *spec, const struct control_setter *setter);

/* Ask for a file and set it. */
void control_choose_file(struct control *control);

#endif
