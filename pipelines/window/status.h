/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Line below the picture: the frames' rate, paths and times. */
#ifndef WINDOW_STATUS_H
#define WINDOW_STATUS_H

#include "tap.h"

#include <gtk/gtk.h>

struct status;

GtkWidget *status_new(GstElement *filter, struct tap *tap, struct status **out);
void status_destroy(struct status *status); /* before the filter and the tap */

void status_begin(struct status *status); /* a stream began: times are counted anew */
/* How frames come to the window, in words that stay; NULL: none do. */
void status_set_way(struct status *status, const char *way);
/* An element message of the filter's. */
void status_told(struct status *status, const GstStructure *message);

#endif
