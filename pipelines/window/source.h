/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources of frames: a test picture, cameras, files. Main thread. */
#ifndef WINDOW_SOURCE_H
#define WINDOW_SOURCE_H

#include <gst/gst.h>
#include <stdbool.h>

struct source {
    char *id;          /* identifier in the settings: "test", "camera:NAME" or a URI */
    char *name;        /* for people */
    GstDevice *device; /* the camera, or NULL */
};

struct source *source_new_test(void);
struct source *source_new_camera(GstDevice *device);
struct source *source_new_file(const char *file_or_uri);
void source_destroy(struct source *source);

/* Is there an end to it, so that it is to begin anew there? */
bool source_has_end(const struct source *source);

/* A bin with one source pad, or NULL and why. */
GstElement *source_make(const struct source *source, GError **error);

#endif
