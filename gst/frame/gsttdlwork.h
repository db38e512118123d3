/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame's way through the batches: its buffers as the device sees them, what is
 * composed of them, and the submission. What is run when is gsttdlframe.c's business. */
#ifndef GST_TDL_WORK_H
#define GST_TDL_WORK_H

#include "caps/gsttdlgeometry.h"
#include "gsttdlsession.h"

struct gst_tdl_work {
    GstBuffer *input;
    enum gst_tdl_mode mode;
    gboolean has_target, has_mask, has_labels;
    GstBuffer *tensor; /* borrowed; NULL: not wanted */
    gboolean tensor_due, tensor_made;
    GstBuffer *classes; /* likewise */
    guint classes_size[2];
    struct gst_tdl_import source, target, mask, labels;
    struct gst_tdl_frames frames, mask_frames, label_frames; /* of one source */
    struct gst_tdl_rect crop;                                /* of these, if they are cropped */
};

/* What the element's mode is for these caps. */
enum gst_tdl_mode gst_tdl_work_mode(const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                                    const struct gst_tdl_video *out);
/* How wide a pixel is, its height being 1. */
gfloat gst_tdl_pixel_aspect(const GstVideoInfo *info);

/* Fill in `work`, which says the input. It is to be released in any case. */
gboolean gst_tdl_work_import(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                             struct gst_tdl_slot *slot, const struct gst_tdl_video *in,
                             const struct gst_tdl_target *output, const struct gst_tdl_masks *masks,
                             struct gst_tdl_work *work, GError **error);
void gst_tdl_work_release(struct gst_tdl_work *work);

/* Whether any output shows the mask. */
gboolean gst_tdl_work_shows_mask(const struct gst_tdl_live *live, const struct gst_tdl_work *work);
/* Record all outputs; `mask` NULL: with the one before. */
enum tdl_result gst_tdl_work_compose(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                     const struct gst_tdl_live *live, struct gst_tdl_work *work,
                                     struct tdl_tensor *mask);

/* What a batch of a frame does. The first one that has the input copies its images. */
enum gst_tdl_part {
    GST_TDL_PART_READS = 1,
    GST_TDL_PART_COMPOSES = 2,
    GST_TDL_PART_FIRST = 4,
};
/* The slot's batch; if that fails it is cancelled. */
enum tdl_result gst_tdl_work_submit(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    struct gst_tdl_work *work, enum gst_tdl_part part);

#endif
