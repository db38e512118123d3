/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often the network runs where the device cannot hold the frame rate
 * (max-interval), or is not to (max-rate). Once a second of the stream's time
 * it is weighed: frames that were late by QoS events, or took the device longer
 * than there is, raise the interval by one; it is lowered when the next shorter
 * one would have left room for some seconds, which become more each time that
 * was not so. Pure but for what it is told.
 */
#ifndef GST_TDL_LOAD_H
#define GST_TDL_LOAD_H

#include "settings/gsttdlsettings.h"

/* ns of the device; 0: not known. */
struct gst_tdl_cost {
    guint64 picture, network; /* cost of a run: of its input picture, and of the network */
    guint64 frame;            /* cost of a frame without the run */
};

struct gst_tdl_load {
    guint raised;          /* the interval in effect; less than the property: that */
    guint calm, patience;  /* seconds with room, and how many are asked for */
    gboolean lowered;      /* the last change */
    GstClockTime weighed;  /* running times: of the last judgement, … */
    GstClockTime last_run; /* … when the network's last run was due by max-rate */
};

void gst_tdl_load_init(struct gst_tdl_load *load);
/* Frames from one run to the next. */
guint gst_tdl_load_interval(const struct gst_tdl_load *load, const struct gst_tdl_live *live);
/* TRUE if max-rate lets the network run at the running time `now`. */
gboolean gst_tdl_load_may_run(const struct gst_tdl_load *load, const struct gst_tdl_live *live,
                              GstClockTime now);
/* The network runs at `now`, whether or not that was asked. */
void gst_tdl_load_ran(struct gst_tdl_load *load, const struct gst_tdl_live *live, GstClockTime now);
/* A second has passed since the last judgement. */
gboolean gst_tdl_load_is_due(struct gst_tdl_load *load, GstClockTime now);
/* `late`: frames were since then. Why the interval has changed: "late", "busy",
 * "room"; NULL: it has not. */
const gchar *gst_tdl_load_judge(struct gst_tdl_load *load, const struct gst_tdl_live *live,
                                const struct gst_tdl_cost *cost, GstClockTime duration,
                                gboolean late);

#endif
