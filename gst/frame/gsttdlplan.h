/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is done for a frame, as a pure function of the settings, of what frames before have
 * left, and of what is wanted of this one: which batches, on which queue, with what in them.
 *
 * exact: one batch a frame, picture → network → composition. The frame is finished when its
 * own mask is.
 *
 * freshest: the composition goes first, with the newest mask that is already finished, and the
 * network's run for this frame behind it in a batch of its own, unless the run before has not
 * finished yet. So a frame never waits for its own mask, nor, where the device has several
 * queues, for any, and a network that is too slow for the frame rate runs on as many frames as
 * it has time for.
 *
 * shared, where other streams are at the model's batcher: exact in two batches, the picture,
 * then the composition, and between the two the run for all of them.
 *
 * covered, where the modes that hide have no mask of the frame and will get none: all of it is
 * background.
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

/* Of a stream: what the frames before have left. */
struct gst_tdl_plan_state {
    gboolean discontinuity; /* the next frame does not follow the last one */
    gboolean has_mask;      /* the composer has one to use again */
    guint since_run;        /* frames since the network's last run */
    gboolean running;       /* freshest: a run was submitted, its mask not yet used; */
    guint64 running_point;  /* … when it is finished */
};

/* The network, as far as it decides. */
struct gst_tdl_plan_network {
    enum gst_tdl_output kind; /* what its output was made */
    gboolean in_tiles;        /* a frame is several runs */
    guint interval;           /* frames from one run to the next */
    gboolean may_run;         /* max-rate lets it */
    gboolean finished;        /* the run that state.running speaks of */
};

/* What is wanted of a frame. */
struct gst_tdl_plan_request {
    gboolean pictures[GST_TDL_PICTURES];
    enum gst_tdl_mode mode; /* of the frame's picture */
    guint height;           /* of the source, px: blurs may be shares of it */
    gboolean tensor;        /* what the network says itself … */
    gboolean tensor_due;    /* … and there is none of a frame before */
};

/* What a batch has, in this order. */
enum gst_tdl_plan_step {
    GST_TDL_STEP_COVER = 1 << 0,   /* the frame as background */
    GST_TDL_STEP_TILES = 1 << 1,   /* the network on all of them, and its pictures */
    GST_TDL_STEP_PICTURE = 1 << 2, /* the frame as the network's input */
    GST_TDL_STEP_NETWORK = 1 << 3,
    GST_TDL_STEP_WATCH = 1 << 4,   /* what presence looks at */
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
    gboolean new_mask; /* it is composed with one that no frame has used; else the last one */
    gboolean forgets;  /* what the network remembers will be old when it is wanted again */
    gboolean watches;  /* presence looks at the runs */
    enum gst_tdl_plan_notice notice;
    struct gst_tdl_plan_state after; /* if all goes well; running_point is the run's then */
};

/* Whether a mode hides frames of which the network makes no mask. */
gboolean gst_tdl_plan_covers(const struct gst_tdl_live *live, enum gst_tdl_output kind);
/* Whether the network is to run on frames whose mask nobody sees, too. */
gboolean gst_tdl_plan_watches(const struct gst_tdl_live *live, enum gst_tdl_output kind);

void gst_tdl_plan_frame(const struct gst_tdl_live *live, const struct gst_tdl_plan_state *state,
                        const struct gst_tdl_plan_network *runs,
                        const struct gst_tdl_plan_request *wanted, struct gst_tdl_plan *out_plan);
/* Other streams are there to run the network with. */
void gst_tdl_plan_share(struct gst_tdl_plan *plan);

#endif
