/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures, recordings and the virtual camera, with their buttons. */
#ifndef WINDOW_OUTPUTS_H
#define WINDOW_OUTPUTS_H

#include "banner.h"
#include "tap.h"

#include <stdbool.h>

struct outputs;

/* The banner says what was written, and what went wrong. */
struct outputs *outputs_new(struct tap *tap, struct banner *banner);
/* Ends a recording, and waits until it is written. */
void outputs_destroy(struct outputs *outputs);

GtkWidget *outputs_widget(struct outputs *outputs);

void outputs_snapshot(struct outputs *outputs);
void outputs_record(struct outputs *outputs); /* on or off */

#endif
