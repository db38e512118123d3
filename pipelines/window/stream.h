/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pipeline: source, filter, display. One at a time; what changes more than a
 * property of the filter builds another one. Main thread.
 */
#ifndef WINDOW_STREAM_H
#define WINDOW_STREAM_H

#include "source.h"

#include <gtk/gtk.h>

/* Events, with text for people; called in the main thread. */
struct stream_listener {
    void (*failed)(void *user, const char *text); /* the stream has stopped */
    void (*warned)(void *user, const char *text);
    void (*progressed)(void *user, int percent, const char *text); /* 100: over */
    void (*told)(void *user, const GstStructure *message); /* the filter's element messages */
    void (*changed)(void *user);                           /* paintables, or playing */
    void *user;
};

struct stream;

/* `filter` is taken into each pipeline and out again. */
struct stream *stream_new(GstElement *filter, const struct stream_listener *listener);
void stream_destroy(struct stream *stream);

/* Show this, which stays, from now on, playing; `both`: the frames before the filter, too. */
void stream_open(struct stream *stream, const struct source *source, bool both);
void stream_close(struct stream *stream);

void stream_set_playing(struct stream *stream, bool playing);
bool stream_is_playing(const struct stream *stream); /* or will be */
bool stream_is_open(const struct stream *stream);

const char *stream_way(const struct stream *stream);        /* to the window, in words; or NULL */
GdkPaintable *stream_filtered(const struct stream *stream); /* NULL where none is open */
/* NULL where none is open, or without `both` */
GdkPaintable *stream_before(const struct stream *stream);

#endif
