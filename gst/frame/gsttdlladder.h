/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the model of the ladder (model=auto). A candidate is timed while the model before it
 * works on, and takes over if there is room. Late frames, or runs longer than there is time for,
 * ask for a smaller model at once. A larger one is tried again after some seconds with room; each
 * failed try makes that wait longer. The functions are pure: state comes in as arguments, once a
 * second of the stream's time.
 */
#ifndef GST_TDL_LADDER_H
#define GST_TDL_LADDER_H

#include "gsttdlload.h"
#include "model/gsttdlrung.h"

/* Measurements that a judgement is made from. */
struct gst_tdl_strain {
    struct gst_tdl_cost cost; /* cost of the model that works */
    gdouble duration;         /* duration of a frame, ns */
    gdouble runs;             /* runs of the network per frame */
    gdouble others;           /* share of the device's time that other streams take */
    gboolean late;            /* frames were */
    gboolean thinned;         /* the network runs less often than the user wants */
};

struct gst_tdl_ladder {
    guint here, failed;           /* bits of those that are fetched, and that could not be loaded */
    guint64 least[GST_TDL_RUNGS]; /* ns that a run has taken at least; 0: it was never seen */
    gint at, wanted;              /* rung that works, and rung that is loaded; equal if none is */
    gboolean from_top;            /* the best is tried first */
    gboolean begins;              /* no try was in vain yet */
    gboolean climbed;             /* the last change */
    guint calm, patience;         /* seconds with room, and how many are asked for */
    guint settling, late, waited; /* seconds: not to be judged, late in a row, of loading */
    const gchar *reason;          /* why that is wanted: "start", "room", "busy", "late" */
};

/* Begin with `at`, whose run takes `ns`. `processor`: time grows with the pictures, and trying
 * the best first takes long. */
void gst_tdl_ladder_init(struct gst_tdl_ladder *ladder, guint here, gint at, guint64 ns,
                         gboolean processor);
/* Rung to load now; GST_TDL_NO_RUNG: no other one. */
gint gst_tdl_ladder_judge(struct gst_tdl_ladder *ladder, const struct gst_tdl_strain *strain);
/* A candidate is loaded, and its run took `ns`. TRUE if it takes over; else it is dropped. */
gboolean gst_tdl_ladder_admits(struct gst_tdl_ladder *ladder, gint rung, guint64 ns,
                               const struct gst_tdl_strain *strain);
/* The candidate cannot be loaded; it is not asked for again. */
void gst_tdl_ladder_fail(struct gst_tdl_ladder *ladder);
/* Something else was loaded while frames waited: what they took says nothing. */
void gst_tdl_ladder_settle(struct gst_tdl_ladder *ladder);
/* TRUE if a smaller model is to come before the network runs less often, or if a candidate's load
 * keeps the device busy. */
gboolean gst_tdl_ladder_can_fall(const struct gst_tdl_ladder *ladder);

#endif
