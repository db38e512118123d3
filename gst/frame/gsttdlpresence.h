/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Presence of people. After each run of the network the device counts the foreground pixels of the
 * mask and copies the share, four bytes, to memory of the CPU. The CPU reads it when the run is
 * done and never waits for it. A change counts when it has lasted for a while of the stream's time.
 */
#ifndef GST_TDL_PRESENCE_H
#define GST_TDL_PRESENCE_H

#include "network/gsttdlflight.h"
#include "network/gsttdlinfer.h"

/* When a frame is shown; either may be GST_CLOCK_TIME_NONE. */
struct gst_tdl_moment {
    GstClockTime timestamp, running;
};

/* Pure: what was seen last, and what holds. */
struct gst_tdl_watch {
    gboolean present;
    gdouble share;               /* share of the frame that was seen last */
    struct gst_tdl_moment since; /* from when on it is otherwise; none: it is not */
};
/* TRUE: what holds has changed, to `present`, at the moment `out_since`. */
gboolean gst_tdl_watch_see(struct gst_tdl_watch *watch, const struct gst_tdl_live *live,
                           gdouble share, const struct gst_tdl_moment *moment,
                           struct gst_tdl_moment *out_since);

#define GST_TDL_SHARES (2 * GST_TDL_FLIGHT_SLOTS) /* more than runs can be under way */

struct gst_tdl_presence {
    struct gst_tdl_watch watch;
    /* Made for masks of that size when first wanted. */
    guint width, height;
    struct tdl_graph *graph;
    struct tdl_tensor *share;
    struct tdl_buffer *shares; /* a place for each below */
    struct gst_tdl_share {
        guint64 point; /* when it is there; 0: not submitted */
        gdouble scale; /* from the mask to the frame */
        guint prompt;  /* serial of the one that was asked */
        struct gst_tdl_moment moment;
    } ring[GST_TDL_SHARES];
    guint first, count; /* shares that are not read yet */
};

/* What was seen of a run. */
struct gst_tdl_seen {
    gdouble share; /* of the frame */
    guint prompt;
    struct gst_tdl_moment moment;
};

void gst_tdl_presence_finish(struct gst_tdl_presence *presence);
/* Add to the batch, behind the run: the share of its mask. Blocks the first time, while
 * that is compiled. */
enum tdl_result gst_tdl_presence_record(struct gst_tdl_presence *presence,
                                        struct tdl_context *context, struct tdl_batch *batch,
                                        const struct gst_tdl_infer *infer,
                                        const struct gst_tdl_moment *moment);
/* The batch with it was submitted; 0: it will not be. */
void gst_tdl_presence_submitted(struct gst_tdl_presence *presence, guint64 point);
/* Look at one share that is there; FALSE: there is none (more). */
gboolean gst_tdl_presence_look(struct gst_tdl_presence *presence, struct tdl_context *context,
                               struct gst_tdl_seen *out_seen);

#endif
