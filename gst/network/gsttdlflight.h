/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in flight: a ring of batches, each with the input buffer that the
 * GPU still reads. The CPU records into one while the GPU works on others; a
 * buffer goes back to its upstream as soon as the GPU has passed it. Threads see
 * to that, one for each lane, which is a queue of the device: an upstream with few
 * buffers sends no next frame, on whose way they could go back, before it has them.
 */
#ifndef GST_TDL_FLIGHT_H
#define GST_TDL_FLIGHT_H

#include "import/gsttdlfence.h"

#define GST_TDL_FLIGHT_SLOTS 4
#define GST_TDL_FLIGHT_LANES 2

struct gst_tdl_flight;

/* Parts of a frame's work that are timed apart. */
enum gst_tdl_stage {
    GST_TDL_STAGE_PREPROCESS,
    GST_TDL_STAGE_NETWORK,
    GST_TDL_STAGE_COMPOSE,
    GST_TDL_STAGES
};

struct gst_tdl_slot {
    struct gst_tdl_flight *flight; /* borrowed: whose it is */
    struct tdl_batch *batch;
    struct gst_tdl_staging staging;
    GstBuffer *held; /* the input that the batch reads; NULL when finished. Locked */
    /* Memory that the batch reads and writes by the CPU's hands; likewise. Locked */
    struct gst_tdl_access *accesses[3 * TDL_MAX_PLANES];
    guint n_accesses;
    guint lane;       /* written while nothing is held */
    guint64 point;    /* point of the submission that reads it; written locked */
    gboolean open;    /* submitted, and not yet seen finished */
    gboolean timed;   /* stage times not yet collected */
    gint64 submitted; /* by the monotonic clock, us; written locked */
};

/* Gives back the inputs of a lane, in the order of its work. */
struct gst_tdl_returner {
    struct gst_tdl_flight *flight; /* the flight that owns it */
    guint lane;
    GThread *thread; /* NULL before the lane's first frame */
    gint64 passed;   /* when the lane's last submission was seen finished, us. Locked */
};

struct gst_tdl_flight {
    struct tdl_context *context; /* borrowed */
    struct gst_tdl_slot slots[GST_TDL_FLIGHT_SLOTS];
    struct gst_tdl_returner returners[GST_TDL_FLIGHT_LANES];
    guint next;  /* slot */
    guint queue; /* the device's queue that has the stream's work */
    GMutex lock;
    GCond changed;
    guint giving;                       /* inputs that are being given back just now. Locked */
    gboolean ending;                    /* Locked */
    gboolean aborted;                   /* nothing more is begun. Locked */
    guint64 stage_ns[GST_TDL_STAGES];   /* sums */
    guint64 stage_runs[GST_TDL_STAGES]; /* batches with a time for the stage */
    guint64 busy_us;                    /* with submissions, as the CPU saw it. Locked */
};

/* Sends the stream's work to that queue of the device (tdl_batch_set_queue()). */
enum tdl_result gst_tdl_flight_init(struct gst_tdl_flight *flight, struct tdl_context *context,
                                    guint queue);
/* The element stops: nothing is begun any more (TDL_ERROR_CANCELED), and what is in flight and
 * not done in a second is given up, where the device can do that. Waits so long at most.
 * From any thread. */
void gst_tdl_flight_abort(struct gst_tdl_flight *flight);
gboolean gst_tdl_flight_is_aborted(struct gst_tdl_flight *flight);
/* Waits for the GPU. */
void gst_tdl_flight_finish(struct gst_tdl_flight *flight);

/* The next slot with its batch begun, on the stream's queue (lane 0), or on the next one
 * for work that others need not wait for (lane 1); waits only when all are in flight. */
enum tdl_result gst_tdl_flight_begin(struct gst_tdl_flight *flight, guint lane,
                                     struct gst_tdl_slot **out_slot);
void gst_tdl_flight_cancel(struct gst_tdl_slot *slot);
/* Submit in order with `fences`, and hold `input` until the GPU is done. */
enum tdl_result gst_tdl_flight_submit(struct gst_tdl_slot *slot, GstBuffer *input,
                                      struct gst_tdl_importer *importer,
                                      struct gst_tdl_fences *fences);

/* Give back what the GPU has finished; with `wait`, everything, and it is back
 * on return. An error: the first wait that failed, whose work may have too. The
 * streaming thread's, as all of this. */
enum tdl_result gst_tdl_flight_retire(struct gst_tdl_flight *flight, gboolean wait);

/* How long the device was at the submissions so far, by the CPU's clock: for devices without
 * timestamps. What others had it do meanwhile counts, too. From any thread. */
guint64 gst_tdl_flight_busy_ns(struct gst_tdl_flight *flight);

/* Run what the batch has, in no flight, and wait for it; it is given up when `goes_on` says
 * no (TDL_ERROR_CANCELED). Blocking. */
enum tdl_result gst_tdl_flight_run_batch(struct tdl_context *context, struct tdl_batch *batch,
                                         tdl_progress_fn goes_on, void *data);

#endif
