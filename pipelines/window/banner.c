/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "banner.h"

#include "tell.h"

static void on_response(GtkInfoBar *bar, int response, gpointer unused)
{
    (void)response;
    (void)unused;
    gtk_info_bar_set_revealed(bar, FALSE);
}

void banner_init(struct banner *banner, GCallback retry, GCallback defaults, gpointer user)
{
    banner->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    banner->bar = gtk_info_bar_new();
    banner->text = gtk_label_new("");
    banner->progress = gtk_progress_bar_new();
    banner->retry = gtk_button_new_with_label("Try again");
    banner->defaults = gtk_button_new_with_label("Default settings");
    gtk_label_set_wrap(GTK_LABEL(banner->text), TRUE);
    gtk_label_set_xalign(GTK_LABEL(banner->text), 0);
    gtk_label_set_selectable(GTK_LABEL(banner->text), TRUE);
    gtk_widget_set_hexpand(banner->text, TRUE);
    gtk_info_bar_add_child(GTK_INFO_BAR(banner->bar), banner->text);
    gtk_info_bar_add_child(GTK_INFO_BAR(banner->bar), banner->retry);
    gtk_info_bar_add_child(GTK_INFO_BAR(banner->bar), banner->defaults);
    gtk_info_bar_set_show_close_button(GTK_INFO_BAR(banner->bar), TRUE);
    gtk_info_bar_set_revealed(GTK_INFO_BAR(banner->bar), FALSE);
    gtk_progress_bar_set_show_text(GTK_PROGRESS_BAR(banner->progress), TRUE);
    gtk_widget_set_visible(banner->progress, FALSE);
    gtk_box_append(GTK_BOX(banner->box), banner->bar);
    gtk_box_append(GTK_BOX(banner->box), banner->progress);
    tell_place(banner->retry, "retry");
    tell_place(banner->defaults, "defaults");
    g_signal_connect(banner->bar, "response", G_CALLBACK(on_response), NULL);
    g_signal_connect_swapped(banner->retry, "clicked", retry, user);
    g_signal_connect_swapped(banner->defaults, "clicked", defaults, user);
}

void banner_say(struct banner *banner, GtkMessageType kind, const char *text)
{
    static const char *const names[] = {[GTK_MESSAGE_INFO] = "info",
                                        [GTK_MESSAGE_WARNING] = "warning",
                                        [GTK_MESSAGE_ERROR] = "error"};

    tell(names[kind], "%s", text);
    gtk_label_set_text(GTK_LABEL(banner->text), text);
    gtk_info_bar_set_message_type(GTK_INFO_BAR(banner->bar), kind);
    gtk_widget_set_visible(banner->retry, kind == GTK_MESSAGE_ERROR);
    gtk_widget_set_visible(banner->defaults, kind == GTK_MESSAGE_ERROR);
    gtk_info_bar_set_revealed(GTK_INFO_BAR(banner->bar), TRUE);
}

void banner_hide(struct banner *banner)
{
    gtk_info_bar_set_revealed(GTK_INFO_BAR(banner->bar), FALSE);
}

void banner_progress(struct banner *banner, int percent, const char *text)
{
    gtk_widget_set_visible(banner->progress, percent < 100);
    gtk_progress_bar_set_text(GTK_PROGRESS_BAR(banner->progress), text);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(banner->progress), percent / 100.0);
    tell("progress", "%d", percent);
}
