/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A small plot of times over the last minute: stages on each other, and a line. */
#ifndef WINDOW_PLOT_H
#define WINDOW_PLOT_H

#include <gtk/gtk.h>

enum plot_series { PLOT_PREPROCESS, PLOT_NETWORK, PLOT_COMPOSE, PLOT_PROCESSOR, PLOT_SERIES };

struct plot;

GtkWidget *plot_new(struct plot **out); /* the plot lives as long as the widget */

/* Milliseconds a frame, of each series; the oldest go. */
void plot_add(struct plot *plot, const double ms[PLOT_SERIES]);

#endif
