/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of several streams in one run of their network. Elements that share a model share
 * its batcher, at which each has a batch slot. A round fills with a frame of each stream, and
 * whoever completes it, or has waited long enough, submits the run for all: the device does
 * its work in the order of submission, so that nobody waits for it. Each then composes by
 * itself. A stream that is not there in time is not waited for again before it comes back.
 *
 * Graphs for 2, 4, 8 and 16 frames are compiled by a thread when so many streams are there;
 * a batch of 3 runs in that for 4. What is not compiled yet is not used.
 */
#ifndef GST_TDL_BATCHER_H
#define GST_TDL_BATCHER_H

#include "gsttdlinfer.h"

struct gst_tdl_batcher;
struct gst_tdl_round;

/* With its model; lives as long. */
struct gst_tdl_batcher *gst_tdl_batcher_new(const struct gst_tdl_model *model,
                                            const struct gst_tdl_model_params *params,
                                            const gchar *path);
/* Nobody sits there any more. Waits for the thread, which finishes the kernel it is at. */
void gst_tdl_batcher_free(struct gst_tdl_batcher *batcher);

/* An element's place, zeroed at first. Its fields are the batcher's but where it is said. */
struct gst_tdl_batch_slot {
    struct gst_tdl_batcher *batcher; /* NULL: none */
    struct gst_tdl_infer *infer;     /* borrowed */
    struct gst_tdl_round *round;     /* the round that has its frame now */
    GThread *thread;  /* thread of its last frame; held, so that no other is taken for it */
    guint most;       /* frames of a batch */
    gboolean present; /* rounds wait for it */
    gboolean flushing;
    /* The streaming thread's. */
    const gchar *state;               /* "off", "shared", or "alone: REASON"; never freed */
    guint64 batches, frames;          /* batches with its frames, and all frames in them */
    guint64 network_ns, network_runs; /* sum of the device's times of runs, and of how many */
};

enum gst_tdl_turn {
    GST_TDL_TURN_ALONE = 0, /* nobody came, or it went wrong: run the network yourself */
    GST_TDL_TURN_DONE,      /* the run is submitted, with the output among what it writes */
    GST_TDL_TURN_FLUSHING,
};

/* Sit down at the network's batcher, for batches of `most` frames at most (0: as many as may
 * be), or nowhere, for `why` ("alone: REASON", never freed). TRUE: other streams are there, and
 * a batch may come about. Streaming thread, before each frame that the network runs on. */
gboolean gst_tdl_batch_slot_take(struct gst_tdl_batch_slot *batch_slot, struct gst_tdl_infer *infer,
                                 guint most, const gchar *why);
/* The frame's picture is submitted: have the network run on it, within `timeout` µs from now.
 * Streaming thread; blocks for so long. */
enum gst_tdl_turn gst_tdl_batch_slot_run(struct gst_tdl_batch_slot *batch_slot, gint64 timeout);
/* No frame is to be expected for now: the stream pauses, or has ended. Any thread. */
void gst_tdl_batch_slot_rest(struct gst_tdl_batch_slot *batch_slot);
/* Get up: nobody waits for this one. While none of its frames is in a round. */
void gst_tdl_batch_slot_leave(struct gst_tdl_batch_slot *batch_slot);
/* While flushing it waits for nobody, and nobody for it. Any thread; never blocks for long. */
void gst_tdl_batch_slot_set_flushing(struct gst_tdl_batch_slot *batch_slot, gboolean flushing);
/* ns of a run for as many streams as there are, if this one may have to wait for others;
 * else 0. Any thread. */
guint64 gst_tdl_batch_slot_network_ns(const struct gst_tdl_batch_slot *batch_slot);

#endif
