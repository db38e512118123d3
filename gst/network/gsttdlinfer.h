/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network of one element: a shared compiled model with tensors of its
 * own. Knows nothing of caps. */
#ifndef GST_TDL_INFER_H
#define GST_TDL_INFER_H

#include "model/gsttdlfit.h"
#include "gsttdlmodel.h"
#include "base/gsttdlprogress.h"

#include <tdl/frame.h>

/* Choice that the network follows from; other frames or settings may need another network. */
struct gst_tdl_choice {
    const struct gst_tdl_person *person; /* the way to look for people; NULL: none */
    gchar *follows; /* "model-size", by the frame's shape; NULL: its size is its own */
    gint rung;      /* enum gst_tdl_rung: which one of model=auto it is */
    guint rungs;    /* bits: of those to choose from when it was loaded */
};

struct gst_tdl_infer {
    const struct gst_tdl_model *model;
    struct gst_tdl_choice choice;
    gboolean beside; /* loads while other frames go on, which must not wait for it */
    struct tdl_tensor *input, *mask; /* the mask: [1, h, w, 1] float32; NULL: there is none */
    struct tdl_tensor *output;       /* the mask's memory, as the graph writes it */
    struct tdl_tensor *indices;      /* output GST_TDL_CLASSES, or NULL */
    struct tdl_tensor *foreground;   /* output GST_TDL_FOREGROUND, or NULL */
    struct tdl_tensor *prompt;       /* input GST_TDL_PROMPT, or NULL */
    struct gst_tdl_prompt asked;     /* … of the next frame, in shares of that */
    struct gst_tdl_point told[GST_TDL_MAX_POINTS];   /* in the tensor, in shares of the picture */
    struct tdl_tensor *tensors[GST_TDL_MAX_TENSORS]; /* the model's, in their order */
    struct tdl_tensor *factors, *summands;           /* of boxes among them; NULL: there are none */
    struct gst_tdl_boxes_view view;                  /* what they were written for */
    struct gst_tdl_carry memory;                     /* states of a recurrent network */
    struct gst_tdl_aux_inputs others;                /* pictures beside the input */
    guint frame[2];                                  /* size of its last frame, px */
    guint region[4], seen[4]; /* as in gsttdlfit.h: of the next frame, and of the last one */
    guint whole[4]; /* of the next frame: where what is given lies in it, x and y, and its size */
    struct gst_tdl_mask_part part; /* part that covers the frame of the last run */
    guint64 network_ns;            /* wall time of a run on an idle device */
    guint64 looked;                /* at the mask, behind so many runs */
    gboolean strange;              /* the mask had no probabilities, and that was said */
};

/* Loads and checks the model. Blocking, some ms. NULL with `error`. */
struct gst_tdl_infer *gst_tdl_infer_new(const struct gst_tdl_model_params *params, GError **error);
/* Compiles and warms up, telling `progress`: before that, nothing can be
 * recorded. Blocking, many seconds with cold caches. FALSE with `error`, or
 * without when it was cancelled. */
gboolean gst_tdl_infer_compile(struct gst_tdl_infer *infer, struct tdl_context *context,
                               struct gst_tdl_progress *progress, GError **error);
/* ns of a run of a compiled network: the shortest of those that `moment`, in ns and more than 0,
 * has room for, and of one at least. 0: that failed, or was cancelled. Blocking. */
guint64 gst_tdl_infer_time(struct gst_tdl_infer *infer, struct tdl_context *context, guint64 moment,
                           struct gst_tdl_progress *progress);
void gst_tdl_infer_free(struct gst_tdl_infer *infer);
/* A warning about the mask of the last run, where it has no probabilities: once. NULL:
 * nothing. `runs` counts a stream's, 0 being what warmed it up. Looks at the first one,
 * then ever more seldom, as reading waits for the device. Blocking. */
GError *gst_tdl_infer_notice(struct gst_tdl_infer *infer, guint64 runs);

/* Which object is meant from the next frame on, if the network is told that. TRUE: it is another
 * prompt than before, or the same anew, and the next frame does not follow the last one. What the
 * network has no room for it leaves alone, as another one is being loaded then. */
gboolean gst_tdl_infer_ask(struct gst_tdl_infer *infer, const struct gst_tdl_prompt *prompt);
/* Compile what frames like this one need. Blocking. */
enum tdl_result gst_tdl_infer_prepare(struct gst_tdl_infer *infer, const struct tdl_frame *frame,
                                      const struct tdl_compile_params *compile);
/* Add to the batch: frame → input tensor → network → mask. `pixel_aspect` is the frame's,
 * width to height; 0: 1. Never blocks. */
enum tdl_result gst_tdl_infer_record(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                     const struct tdl_frame *frame, gfloat pixel_aspect);
/* The two parts of that: the picture, and the network's run on it. */
enum tdl_result gst_tdl_infer_picture(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                      const struct tdl_frame *frame, gfloat pixel_aspect);
enum tdl_result gst_tdl_infer_network(struct gst_tdl_infer *infer, struct tdl_batch *batch);
/* The part of that behind the fit: the picture as it is named, network. */
enum tdl_result gst_tdl_infer_run(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                  const struct tdl_frame *frame,
                                  const struct tdl_frame_to_tensor_params *picture);
/* The foreground's colours for the composer: with `ran` those of the run whose mask it gets,
 * else that it keeps them. Borrows the tensors. */
struct tdl_compose_more gst_tdl_infer_colors(const struct gst_tdl_infer *infer, gboolean ran);
/* The recorded run is submitted: its states are those of the next run. */
void gst_tdl_infer_ran(struct gst_tdl_infer *infer);
/* The next frame does not follow the last one: states begin anew. */
void gst_tdl_infer_forget(struct gst_tdl_infer *infer);

#endif
