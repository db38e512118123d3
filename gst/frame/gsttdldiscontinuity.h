/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a frame follows the one before it, by their times. */
#ifndef GST_TDL_DISCONTINUITY_H
#define GST_TDL_DISCONTINUITY_H

#include <gst/gst.h>

/* More than this between two frames is a gap, unless frames are that slow. */
#define GST_TDL_DISCONTINUITY_GAP (GST_SECOND / 2)

struct gst_tdl_discontinuity {  /* start with gst_tdl_discontinuity_init() */
    GstClockTime last, spacing; /* of the last frame, and from the one before it */
};

void gst_tdl_discontinuity_init(struct gst_tdl_discontinuity *state);
/* Whether there is a gap before the frame of that time (which may be none), in
 * either direction: as frames may run backwards. */
gboolean gst_tdl_discontinuity_before(struct gst_tdl_discontinuity *state, GstClockTime pts);

#endif
