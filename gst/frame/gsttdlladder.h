/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which model of the ladder works (model=auto). A run of each candidate is timed while the
 * one before works on, and it takes over where that leaves room. Frames that are late, or take
 * longer than there is, ask for a smaller one at once. A larger one is tried again after
 * seconds with room, which become more each time that this was too hopeful. Pure but for what
 * it is told, once a second of the stream's time.
 */
#ifndef GST_TDL_LADDER_H
#define GST_TDL_LADDER_H

#include "gsttdlload.h"
#include "model/gsttdlrung.h"

/* What is judged by. */
struct gst_tdl_strain {
    struct gst_tdl_cost cost; /* of the model that works */
    gdouble duration;         /* of a frame, ns */
    gdouble runs;             /* of the network, a frame */
    gdouble others;           /* share of the device's time that other streams take */
    gboolean late;            /* frames were */
    gboolean thinned;         /* it runs less often than the user wants */
};

struct gst_tdl_ladder {
    guint here, failed;           /* bits of those that are fetched, and that could not be loaded */
    guint64 least[GST_TDL_RUNGS]; /* ns that a run has taken at least; 0: it was never seen */
    gint at, wanted;              /* who works, and who is loaded; the same: nobody is */
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
/* Who is to be loaded now; GST_TDL_NO_RUNG: nobody (else). */
gint gst_tdl_ladder_judge(struct gst_tdl_ladder *ladder, const struct gst_tdl_strain *strain);
/* It is loaded, and a run of it took `ns`. Whether it takes over, or goes again. */
gboolean gst_tdl_ladder_admits(struct gst_tdl_ladder *ladder, gint rung, guint64 ns,
                               const struct gst_tdl_strain *strain);
/* Who was wanted cannot be loaded, and is not asked for again. */
void gst_tdl_ladder_fail(struct gst_tdl_ladder *ladder);
/* Something else was loaded while frames waited: what they took says nothing. */
void gst_tdl_ladder_settle(struct gst_tdl_ladder *ladder);
/* Whether a smaller model comes before the network runs less often, or what is loaded is what
 * keeps the device busy. */
gboolean gst_tdl_ladder_can_fall(const struct gst_tdl_ladder *ladder);

#endif
