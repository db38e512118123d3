/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The beginning: a thread loads the first model and compiles its network while the element
 * goes to PAUSED. Caps wait for the model, and the first frame for the network. The struct is
 * part of the element; start and stop are called in its start and stop, the others from any
 * thread.
 */
#ifndef GST_TDL_FIRST_LOAD_H
#define GST_TDL_FIRST_LOAD_H

#include "memory/gsttdldevice.h"
#include "network/gsttdlinfer.h"

/* Calls to the element, each made in the thread. */
struct gst_tdl_first_load_calls {
    /* The model is there. Takes `infer`, which lives until the element stops. */
    void (*loaded)(GstElement *element, struct gst_tdl_infer *infer,
                   const struct gst_tdl_sources *sources);
    void (*compiled)(GstElement *element); /* … and its network */
};

struct gst_tdl_first_load_job;

struct gst_tdl_first_load {
    GstElement *element; /* borrowed: who owns this */
    const struct gst_tdl_first_load_calls *calls;
    GThread *thread; /* NULL: stopped */

    GMutex lock; /* guards the rest */
    GCond changed;
    struct gst_tdl_first_load_job *job; /* the thread's, while it loads; NULL behind that */
    GThread *worker;                    /* borrowed: whom messages may lead back here */
    GstFlowReturn model, network;       /* GST_FLOW_CUSTOM_SUCCESS: still at it */
    gboolean cancelled, flushing;
};

void gst_tdl_first_load_init(struct gst_tdl_first_load *first_load, GstElement *element,
                             const struct gst_tdl_first_load_calls *calls);
void gst_tdl_first_load_finish(struct gst_tdl_first_load *first_load);

/* Begin to load the model of `sources`. An error is posted by the thread, or here and FALSE
 * returned where there can be no thread. Both parameters are copied. */
gboolean gst_tdl_first_load_start(struct gst_tdl_first_load *first_load,
                                  struct gst_tdl_device *device,
                                  const struct gst_tdl_sources *sources);
/* Wait for the thread where it compiles: it finishes the kernel that it is at. Where it loads,
 * which cannot be cancelled, it ends later by itself and drops what it has. */
void gst_tdl_first_load_stop(struct gst_tdl_first_load *first_load);
/* The element goes down: no more kernels, and nobody waits. Never blocks. */
void gst_tdl_first_load_cancel(struct gst_tdl_first_load *first_load);
/* While flushing nobody waits, but the thread goes on. Never blocks. */
void gst_tdl_first_load_set_flushing(struct gst_tdl_first_load *first_load, gboolean flushing);
/* A tdl_progress_fn, whose data is the struct, for what is compiled elsewhere. */
bool gst_tdl_first_load_goes_on(void *first_load, uint32_t done, uint32_t total);
/* GST_FLOW_OK when the model was handed over, GST_FLOW_CUSTOM_SUCCESS when it still loads after
 * `patience` microseconds (below 0: never). Blocking. */
GstFlowReturn gst_tdl_first_load_wait_model(struct gst_tdl_first_load *first_load, gint64 patience);
/* GST_FLOW_OK when its network can be used, at once if it can already. Blocking. */
GstFlowReturn gst_tdl_first_load_wait(struct gst_tdl_first_load *first_load);

#endif
