/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences above the picture, and the bar of what takes long. */
#ifndef WINDOW_BANNER_H
#define WINDOW_BANNER_H

#include <gtk/gtk.h>

struct banner {
    GtkWidget *box, *bar, *text, *retry, *progress;
};

/* `retry` is called by its button, which is there behind errors. */
void banner_init(struct banner *banner, GCallback retry, gpointer user);

/* `kind` says how bad it is; an error has the button. It stays until the user has it go. */
void banner_say(struct banner *banner, GtkMessageType kind, const char *text);
void banner_hide(struct banner *banner);

void banner_progress(struct banner *banner, int percent, const char *text); /* 100: over */

#endif
