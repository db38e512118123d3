/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds discontinuities in a stream by the timestamps of its frames. */
#ifndef GST_TDL_DISCONTINUITY_H
#define GST_TDL_DISCONTINUITY_H

#include <gst/gst.h>

/* More than this between two frames is a gap, unless frames are that slow. */
#define GST_TDL_DISCONTINUITY_GAP (GST_SECOND / 2)

struct gst_tdl_discontinuity {  /* start with gst_tdl_discontinuity_init() */
    GstClockTime last, spacing; /* time of the last frame, and distance from the one before it */
};

void gst_tdl_discontinuity_init(struct gst_tdl_discontinuity *state);
/* TRUE if there is a gap before the frame of time `pts`, which may be none. Frames may also run
 * backwards. */
gboolean gst_tdl_discontinuity_before(struct gst_tdl_discontinuity *state, GstClockTime pts);

#endif
