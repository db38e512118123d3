/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output: from settings, source and mask to the composed frame. */
#ifndef GST_TDL_COMPOSE_H
#define GST_TDL_COMPOSE_H

#include "model/gsttdlfit.h"
#include "caps/gsttdlgeometry.h"
#include "import/gsttdlpicture.h"
#include "settings/gsttdlsettings.h"

struct gst_tdl_compose {
    struct tdl_composer *composer;
    /* With a crop the rest of the frame is passed through, or hidden, by another one, as
     * a composer remembers one size; so are whole frames that have no mask. */
    struct tdl_composer *around;
    struct tdl_tensor *nobody;          /* a mask without foreground, of one pixel */
    struct gst_tdl_picture *picture;    /* may be NULL */
    struct gst_tdl_mask_part mask_part; /* part of the next new mask that covers its frame */
    struct tdl_compose_more colors;     /* colours of the foreground, for the next frame */
    struct gst_tdl_look look;           /* look of the model that makes these masks */
    GstClockTime mask_time;             /* time of the frame that brought the last mask, or none */
};

enum tdl_result gst_tdl_compose_init(struct gst_tdl_compose *compose, struct tdl_context *context);
void gst_tdl_compose_finish(struct gst_tdl_compose *compose);
/* Forget the masks of frames before. */
void gst_tdl_compose_reset(struct gst_tdl_compose *compose);

#define GST_TDL_BLUR_MAX 128 /* px */

/* Pure: the standard deviation of the blur in a frame of that height, px. */
gfloat gst_tdl_compose_blur(const struct gst_tdl_live *live, guint height);

/* Pure: what tdl_compose() makes of the frame: as it is, where the output is shown itself. */
enum tdl_mode gst_tdl_compose_mode(enum gst_tdl_mode mode);
/* Pure: the engine's words for the settings, but for what depends on the frame. */
void gst_tdl_compose_params(const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                            const struct tdl_frame *background,
                            struct tdl_compose_params *out_params);

/* Pure: the weight of the previous mask in that of a frame at `now`, of what is
 * left after 1/30 s. Where a time is not known, 1/30 s has passed. */
gfloat gst_tdl_compose_smoothing(gfloat left, GstClockTime before, GstClockTime now);

/* Add to the batch: the whole frame as background, whatever any mask says. */
enum tdl_result gst_tdl_compose_closed(struct gst_tdl_compose *compose, struct tdl_batch *batch,
                                       const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                       const struct gst_tdl_frames *frames);
/* Add to the batch: the whole frame as it is, or where nothing may be seen of it as
 * background, where only a part of it is composed. */
enum tdl_result gst_tdl_compose_around(struct gst_tdl_compose *compose, struct tdl_batch *batch,
                                       const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                       const struct gst_tdl_frames *frames);
/* Add to the batch. `mask` NULL: the composer's last one. `time` is the
 * frame's, or none. Never blocks. */
enum tdl_result gst_tdl_compose_record(struct gst_tdl_compose *compose, struct tdl_batch *batch,
                                       const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                       const struct gst_tdl_frames *frames, struct tdl_tensor *mask,
                                       GstClockTime time);
/* Compile what that will need. Blocking. */
enum tdl_result gst_tdl_compose_prepare(struct gst_tdl_compose *compose,
                                        const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                        const struct gst_tdl_frames *frames,
                                        const struct tdl_compile_params *compile);

#endif
