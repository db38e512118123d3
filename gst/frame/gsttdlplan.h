/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plan of a frame: a pure function of the settings, of the results of earlier frames, and of the
 * outputs that are wanted. A plan has one or two batches, each with a queue and its steps.
 *
 * exact: one batch a frame, picture → network → composition. The frame is finished when its own
 * mask is.
 *
 * freshest: the frame is composed first, with the newest finished mask. The network's run for it
 * follows in a batch of its own, unless the run before is still going on. So a frame never waits
 * for its own mask, and on a device with several queues for no mask at all. A network that is too
 * slow for the frame rate runs on as many frames as it has time for.
 *
 * shared, with other streams at the model's batcher: as exact, but in two batches, the picture and
 * the composition. One run for all streams comes between them.
 *
 * covered, in modes that hide, without a mask of the frame: the whole frame becomes background.
 */
#ifndef GST_TDL_PLAN_H
#define GST_TDL_PLAN_H

#include "settings/gsttdlsettings.h"

/* Pictures that are composed of one frame. */
enum gst_tdl_picture_kind {
    GST_TDL_PICTURE_FRAME = 0,
    GST_TDL_PICTURE_MASK,
    GST_TDL_PICTURE_LABELS,
    GST_TDL_PICTURES
};

/* State of a stream: results of the frames before. */
struct gst_tdl_plan_state {
    gboolean discontinuity; /* the next frame does not follow the last one */
    gboolean has_mask;      /* the composer has one to use again */
    guint since_run;        /* frames since the network's last run */
    gboolean running;       /* freshest: a run was submitted, its mask not yet used; */
    guint64 running_point;  /* … when it is finished */
};

/* The network, as far as it decides. */
struct gst_tdl_plan_network {
    enum gst_tdl_output kind; /* meaning of its output */
    gboolean in_tiles;        /* a frame is several runs */
    guint interval;           /* frames from one run to the next */
    gboolean may_run;         /* max-rate lets it */
    gboolean finished;        /* the run that state.running speaks of */
};

/* Outputs that are wanted of a frame. */
struct gst_tdl_plan_request {
    gboolean pictures[GST_TDL_PICTURES];
    enum gst_tdl_mode mode; /* mode of the frame's picture */
    guint height;           /* height of the source, px: blurs may be shares of it */
    gboolean tensor;        /* the network's own output … */
    gboolean tensor_due;    /* … and there is none of a frame before */
};

/* Steps of a batch, in this order. */
enum gst_tdl_plan_step {
    GST_TDL_STEP_COVER = 1 << 0,   /* the frame as background */
    GST_TDL_STEP_TILES = 1 << 1,   /* the network on all of them, and its pictures */
    GST_TDL_STEP_PICTURE = 1 << 2, /* the frame as the network's input */
    GST_TDL_STEP_NETWORK = 1 << 3,
    GST_TDL_STEP_WATCH = 1 << 4,   /* measure presence */
    GST_TDL_STEP_COMPOSE = 1 << 5, /* all pictures, and the tensor */
};
#define GST_TDL_STEPS_OUT (GST_TDL_STEP_COVER | GST_TDL_STEP_TILES | GST_TDL_STEP_COMPOSE)

/* How the model's batcher hears of the frame. */
enum gst_tdl_plan_notice {
    GST_TDL_NOTICE_NONE = 0,
    GST_TDL_NOTICE_RUN,   /* one comes that may be shared: gst_tdl_plan_share() if it is */
    GST_TDL_NOTICE_ALONE, /* none comes that could be, and the user is told why */
    GST_TDL_NOTICE_REST,  /* no run comes */
};

struct gst_tdl_plan {
    struct gst_tdl_plan_batch {
        guint steps; /* bits of enum gst_tdl_plan_step */
        guint lane;  /* gsttdlflight.h */
    } batches[2];
    guint count;
    gboolean shared;   /* between the two the network runs for all streams */
    gboolean new_mask; /* composed with a mask that no frame has used; FALSE: with the last one */
    gboolean forgets;  /* recurrent states will be outdated when the network runs again */
    gboolean watches;  /* presence looks at the runs */
    enum gst_tdl_plan_notice notice;
    struct gst_tdl_plan_state after; /* if all goes well; running_point is the run's then */
};

/* TRUE if the mode hides whole frames, as the network makes no mask of them. */
gboolean gst_tdl_plan_covers(const struct gst_tdl_live *live, enum gst_tdl_output kind);
/* TRUE if the network is to run even where no output shows its mask. */
gboolean gst_tdl_plan_watches(const struct gst_tdl_live *live, enum gst_tdl_output kind);

void gst_tdl_plan_frame(const struct gst_tdl_live *live, const struct gst_tdl_plan_state *state,
                        const struct gst_tdl_plan_network *runs,
                        const struct gst_tdl_plan_request *wanted, struct gst_tdl_plan *out_plan);
/* Other streams are there to run the network with. */
void gst_tdl_plan_share(struct gst_tdl_plan *plan);

#endif
