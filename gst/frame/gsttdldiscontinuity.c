/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldiscontinuity.h"

/* Spacings that a slow or uneven stream may vary by. */
#define TOLERANCE 3

void gst_tdl_discontinuity_init(struct gst_tdl_discontinuity *state)
{
    state->last = state->spacing = GST_CLOCK_TIME_NONE;
}

gboolean gst_tdl_discontinuity_before(struct gst_tdl_discontinuity *state, GstClockTime pts)
{
    GstClockTime spacing, most = GST_TDL_DISCONTINUITY_GAP;

    if (!GST_CLOCK_TIME_IS_VALID(pts))
        return FALSE;
    spacing = GST_CLOCK_TIME_IS_VALID(state->last)
                  ? (GstClockTime)ABS(GST_CLOCK_DIFF(state->last, pts))
                  : GST_CLOCK_TIME_NONE;
    if (GST_CLOCK_TIME_IS_VALID(state->spacing))
        most = MAX(most, TOLERANCE * state->spacing);
    state->last = pts;
    state->spacing = spacing;
    return GST_CLOCK_TIME_IS_VALID(spacing) && spacing > most;
}
