/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files as farm.c reads them from containers. */
#ifndef FARM_FILES_H
#define FARM_FILES_H

#include <gst/gst.h>

/* The first stream whose caps begin so goes into the element "wanted"; the others are not
 * linked. */
struct stream {
    GstElement *pipeline;
    const char *kinds[2];
    gboolean parse; /* by the parser for it, where there is one: it knows what muxers ask for */
    gboolean found;
};

/* Before the pipeline starts: from its element "streams", a demuxer or a parsebin. Where
 * there is no such stream it ends with an error. */
void farm_watch(GstElement *pipeline, struct stream *stream);

/* Contents of a file, also of one that GStreamer cannot decode here. */
struct recording {
    gboolean pictures, sound;
    char *missing;       /* the decoder for its pictures, in words, or NULL */
    GstClockTime length; /* 0 if it does not say */
};

/* Blocks until it is known, 30 s at most. To be freed: `missing`. */
struct recording farm_look_at(const char *file);

#endif
