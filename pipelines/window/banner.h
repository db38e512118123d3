/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences above the picture, and the bar of what takes long. */
#ifndef WINDOW_BANNER_H
#define WINDOW_BANNER_H

#include <gtk/gtk.h>

struct banner {
    GtkWidget *box, *bar, *text, *retry, *defaults, *progress;
};

/* `retry` and `defaults`, which is to take settings back, are called by their buttons,
 * which are there behind errors. */
void banner_init(struct banner *banner, GCallback retry, GCallback defaults, gpointer user);

/* `kind` says how bad it is; an error has the buttons. It stays until the user has it go. */
void banner_say(struct banner *banner, GtkMessageType kind, const char *text);
void banner_hide(struct banner *banner);

void banner_progress(struct banner *banner, int percent, const char *text); /* 100: over */

#endif
