/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sends frames beside the window, by a pipeline of its own, so that the playing one stays as it is.
 * A pipeline that is too slow drops frames and counts them.
 */
#ifndef WINDOW_OUTLET_H
#define WINDOW_OUTLET_H

#include <gst/gst.h>

struct outlet;

/* Called once in the main thread, when all is written, or with why it went wrong. */
typedef void (*outlet_ended)(void *user, const char *error);

/*
 * `rest` is what follows behind the frames, as gst-launch-1.0 has it; all come to it in the
 * size of `like`, in a format that it takes. `property` of its element "to" is
 * the file or device. It begins, and a file comes to be, with the first frame. NULL and why
 * where it cannot be built.
 */
struct outlet *outlet_new(const GstCaps *like, const char *rest, const char *property,
                          const char *location, outlet_ended ended, void *user, GError **error);
/* At any time, once nothing is pushed any more. */
void outlet_destroy(struct outlet *outlet);

void outlet_push(struct outlet *outlet, GstSample *sample); /* any thread */
void outlet_end(struct outlet *outlet);                     /* write what there is */
/* ends, and waits some seconds for the rest to be written */
void outlet_wait(struct outlet *outlet);
guint64 outlet_taken(struct outlet *outlet); /* frames that it got */
guint64 outlet_lost(struct outlet *outlet);  /* frames that it had no time for */

#endif
