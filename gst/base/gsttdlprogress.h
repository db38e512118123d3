/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages on the bus while kernels are compiled: GST_MESSAGE_PROGRESS with the code
 * "compile". It begins with START and ends with COMPLETE, CANCELED or ERROR; CONTINUE in
 * between is not posted more often than people can read. */
#ifndef GST_TDL_PROGRESS_H
#define GST_TDL_PROGRESS_H

#include "gsttdlerror.h"

struct gst_tdl_progress {
    GstElement *element;                  /* borrowed; NULL: nobody hears */
    gboolean (*cancelled)(gpointer data); /* asked after each kernel, in any thread; or NULL */
    gpointer data;
    gint64 said_at; /* the last message, µs */
};

void gst_tdl_progress_begin(struct gst_tdl_progress *progress);
/* A tdl_progress_fn, whose data is the struct. */
bool gst_tdl_progress_kernels(void *progress, uint32_t done, uint32_t total);
/* How it ended: well, with `error` (borrowed), or without either as cancelled. */
void gst_tdl_progress_end(struct gst_tdl_progress *progress, gboolean ok, const GError *error);

#endif
