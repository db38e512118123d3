/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Offer to fetch a model that is known by name and not there yet. Main thread. */
#ifndef WINDOW_FETCH_H
#define WINDOW_FETCH_H

#include <gtk/gtk.h>

typedef void (*fetch_done_fn)(gpointer user);

/* Ask whether the model is to be fetched, with what it is, its licence and the command that does
 * it; run that if so, and say how it ended. `done` is called when the model is there, unless the
 * parent has gone. */
void fetch_offer(GtkWindow *parent, const char *name, fetch_done_fn done, gpointer user);

#endif
