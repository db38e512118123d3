/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks at the frames that leave the filter: counts them, keeps the last, hands them to outlets. */
#ifndef WINDOW_TAP_H
#define WINDOW_TAP_H

#include "outlet.h"

struct tap;
enum tap_use { TAP_RECORD, TAP_CAMERA, TAP_USES };

struct tap *tap_new(GstElement *filter);
void tap_destroy(struct tap *tap);

guint64 tap_frames(struct tap *tap);  /* since it was made */
GstSample *tap_last(struct tap *tap); /* NULL before the first; gst_sample_unref */
void tap_forget(struct tap *tap);     /* the last one: its memory is free again */

/* Frames go there, too, from now on; NULL: no more. It stays the caller's. */
void tap_set_outlet(struct tap *tap, enum tap_use use, struct outlet *outlet);

#endif
