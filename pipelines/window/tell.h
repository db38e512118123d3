/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints changes on standard output, for programs that started the window with --status. Main
 * thread. */
#ifndef WINDOW_TELL_H
#define WINDOW_TELL_H

#include <gtk/gtk.h>

void tell_begin(void); /* before this nothing is printed */

/* A line NAME=VALUE. */
void tell(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Say from now on where in the window the widget is: at=NAME LEFT TOP WIDTH HEIGHT. */
void tell_place(GtkWidget *widget, const char *name);

/* Say which of the widgets named so has the focus, or has one inside that has it. */
void tell_focus(GtkWindow *window);

#endif
