/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame as a PNG file. */
#ifndef WINDOW_SNAPSHOT_H
#define WINDOW_SNAPSHOT_H

#include <gst/gst.h>

/* In the main thread: the file, or NULL and why there is none. */
typedef void (*snapshot_done)(void *user, const char *path, const char *error);

/* Returns at once. */
void snapshot_take(GstSample *sample, const char *path, snapshot_done done, void *user);

#endif
