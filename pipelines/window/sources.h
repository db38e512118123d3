/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of sources to choose from: the test picture, cameras as they come and go, files. */
#ifndef WINDOW_SOURCES_H
#define WINDOW_SOURCES_H

#include "source.h"

#include <gtk/gtk.h>

struct sources;

/* `chosen` is called with the source to show, which the list keeps. */
struct sources *sources_new(void (*chosen)(void *user, const struct source *source), void *user);
void sources_destroy(struct sources *sources);

GtkWidget *sources_widget(struct sources *sources);

/* By an id of before, a file or a URI; the test picture where there is no such camera. */
void sources_choose(struct sources *sources, const char *id);
void sources_choose_file(struct sources *sources); /* asks for it */

#endif
