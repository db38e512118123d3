/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The controls of all properties, and the presets. */
#ifndef WINDOW_PANEL_H
#define WINDOW_PANEL_H

#include "control.h"

GtkWidget *panel_new(GstElement *filter, const struct control_setter *setter);

#endif
