/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The beginning: a thread compiles the network while the element goes to
 * PAUSED, and the streaming thread waits for it with the first frame. The
 * struct is part of the element; start and stop are called in its start and
 * stop, the others from any thread.
 */
#ifndef GST_TDL_BEGIN_H
#define GST_TDL_BEGIN_H

#include "gsttdldevice.h"
#include "gsttdlinfer.h"

struct gst_tdl_begin {
    GstElement *element;                   /* borrowed: who owns this */
    void (*compiled)(GstElement *element); /* called in the thread, when all went well */

    GThread *thread;               /* NULL: stopped */
    struct gst_tdl_device *device; /* borrowed, as `infer`, from start to stop */
    struct gst_tdl_infer *infer;

    GMutex lock; /* guards the rest */
    GCond changed;
    GstFlowReturn flow; /* GST_FLOW_CUSTOM_SUCCESS: still at it */
    gboolean canceled, flushing;
};

void gst_tdl_begin_init(struct gst_tdl_begin *begin, GstElement *element,
                        void (*compiled)(GstElement *element));
void gst_tdl_begin_finish(struct gst_tdl_begin *begin);

/* Begin to compile `infer`. An error is posted by the thread, or here and FALSE returned where
 * there can be no thread. */
gboolean gst_tdl_begin_start(struct gst_tdl_begin *begin, struct gst_tdl_device *device,
                             struct gst_tdl_infer *infer);
/* Wait for the thread: cancelled, it finishes the kernel that it is at. */
void gst_tdl_begin_stop(struct gst_tdl_begin *begin);
/* The element goes down: no more kernels, and nobody waits. Never blocks. */
void gst_tdl_begin_cancel(struct gst_tdl_begin *begin);
/* While flushing nobody waits, but the thread goes on. Never blocks. */
void gst_tdl_begin_set_flushing(struct gst_tdl_begin *begin, gboolean flushing);
/* A tdl_progress_fn, whose data is the struct, for what is compiled elsewhere. */
bool gst_tdl_begin_goes_on(void *begin, uint32_t done, uint32_t total);
/* GST_FLOW_OK when `infer` can be used, at once if it can already. Blocking. */
GstFlowReturn gst_tdl_begin_wait(struct gst_tdl_begin *begin);

#endif
