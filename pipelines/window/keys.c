/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keys.h"

#define MOST_DIGITS 9u

static const struct key {
    const char *trigger, *action, *what;
} keys[] = {
    {"space", "win.pause", "Pause, go on"},
    {"s", "win.snapshot", "Write the picture into a file"},
    {"r", "win.record", "Begin and end a recording"},
    {"F11", "win.fullscreen", "The picture alone, on the whole screen"},
    {"question", "win.keys", "Show these keys"},
    {"<Control>q", "win.close", "Close the window"},
};

static void add(GtkEventController *controller, const char *trigger, const char *action,
                GVariant *argument)
{
    GtkShortcut *shortcut =
        gtk_shortcut_new(gtk_shortcut_trigger_parse_string(trigger), gtk_named_action_new(action));

    gtk_shortcut_set_arguments(shortcut, argument);
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(controller), shortcut);
}

void keys_add(GtkWidget *window, guint modes)
{
    GtkEventController *controller = gtk_shortcut_controller_new();

    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        add(controller, keys[i].trigger, keys[i].action, NULL);
    /* On keyboards that have it there, "?" comes with a Shift of its own. */
    add(controller, "<Shift>question", "win.keys", NULL);
    for (guint i = 0; i < MIN(modes, MOST_DIGITS); i++) {
        const char digit[] = {(char)('1' + i), 0};

        add(controller, digit, "win.mode", g_variant_new_int32((gint32)i));
    }
    gtk_widget_add_controller(window, controller);
}

static void append(GString *xml, const char *trigger, const char *what)
{
    g_autofree char *text = g_markup_printf_escaped(
        "<child><object class='GtkShortcutsShortcut'><property name='accelerator'>%s</property>"
        "<property name='title'>%s</property></object></child>",
        trigger, what);

    g_string_append(xml, text);
}

/* GTK 4.8 makes such a window of XML only. */
void keys_show(GtkWidget *window, guint modes)
{
    g_autoptr(GString) xml = g_string_new(
        "<interface><object class='GtkShortcutsWindow' id='keys'><child>"
        "<object class='GtkShortcutsSection'><property name='section-name'>keys</property><child>"
        "<object class='GtkShortcutsGroup'><property name='title'>tdlfilter</property>");
    g_autofree char *digits = g_strdup_printf("1...%u", MIN(modes, MOST_DIGITS));
    g_autoptr(GtkBuilder) builder = NULL;
    GtkWindow *shown;

    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        append(xml, keys[i].trigger, keys[i].what);
    append(xml, digits, "Modes, in the order of their list");
    append(xml, "Left Right", "Move the slider, where the picture has the focus");
    g_string_append(xml, "</object></child></object></child></object></interface>");
    builder = gtk_builder_new_from_string(xml->str, -1);
    shown = GTK_WINDOW(gtk_builder_get_object(builder, "keys"));
    gtk_window_set_transient_for(shown, GTK_WINDOW(window));
    gtk_window_present(shown);
}
