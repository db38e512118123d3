/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame's way through the batches: its buffers as the device sees them, what is
 * composed of them, and the submission. What is run when is gsttdlframe.c's business. */
#ifndef GST_TDL_WORK_H
#define GST_TDL_WORK_H

#include "caps/gsttdlgeometry.h"
#include "gsttdlplan.h"
#include "gsttdlsession.h"

/* A picture that is composed of the frame. */
struct gst_tdl_work_output {
    const struct gst_tdl_video *video; /* borrowed; NULL: it is not wanted */
    enum gst_tdl_mode mode;
    struct gst_tdl_import import;
    struct gst_tdl_frames frames; /* from the source to it */
};

struct gst_tdl_work {
    GstBuffer *input;
    struct gst_tdl_plan_request wanted;
    struct gst_tdl_import source;
    struct gst_tdl_work_output outputs[GST_TDL_PICTURES];
    struct gst_tdl_frames frames; /* frames of the first wanted picture: the network reads these */
    struct gst_tdl_rect crop;     /* crop of them, if they are cropped */
    GstBuffer *tensor;            /* borrowed; NULL: not wanted */
    GstBufferList *tensors;       /* likewise, for all outputs of the model */
    gboolean tensor_made;
    GstBuffer *classes; /* memory for the classes; NULL: not wanted */
    guint classes_size[2];
};

/* Mode of the element for these caps. */
enum gst_tdl_mode gst_tdl_work_mode(const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                                    const struct gst_tdl_video *out);
/* How wide a pixel is, its height being 1. */
gfloat gst_tdl_work_pixel_aspect(const GstVideoInfo *info);

/* Fill in `work`, which says the input. It is to be released in any case. */
gboolean gst_tdl_work_import(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                             struct gst_tdl_slot *slot, const struct gst_tdl_video *in,
                             const struct gst_tdl_target *output, const struct gst_tdl_masks *masks,
                             struct gst_tdl_work *work, GError **error);
void gst_tdl_work_release(struct gst_tdl_work *work);

/* Record all outputs, of the run that was recorded last with `new_mask`, or else with the mask
 * before. */
enum tdl_result gst_tdl_work_compose(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                     const struct gst_tdl_live *live, struct gst_tdl_work *work,
                                     gboolean new_mask);

/* Submit the slot's batch, which has these steps of the plan; if that fails it is cancelled.
 * The `first` one of a frame has the input's images copied. */
enum tdl_result gst_tdl_work_submit(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    struct gst_tdl_work *work, guint steps, gboolean first);

#endif
