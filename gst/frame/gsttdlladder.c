/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlladder.h"

#define BUSY 0.9 /* shares of a frame's duration: more is too much, … */
#define ROOM 0.6 /* … and this leaves the neighbours their part */
#define HOPE 0.5 /* share of the shortest run so far, which may have been measured under load */
#define PATIENCE 30
#define MOST_PATIENCE 960
#define SETTLING 2 /* means of two models, and frames late by the change */
#define LATE 2     /* a single one is an accident */
#define LOADING 5  /* seconds in which what is loaded makes the device busy itself */

/* How many times longer than a run of the one below a run takes at least. */
static const gdouble rises[GST_TDL_RUNGS] = { 1, 4, 1.1, 1 };

void gst_tdl_ladder_init(struct gst_tdl_ladder *ladder, guint here, gint at, guint64 ns,
                         gboolean processor)
{
    *ladder = (struct gst_tdl_ladder){ .here = here | 1u << at,
                                       .at = at,
                                       .wanted = at,
                                       .from_top = !processor,
                                       .begins = TRUE,
                                       .patience = PATIENCE };
    ladder->least[at] = ns;
}

static gboolean is_usable(const struct gst_tdl_ladder *ladder, gint rung)
{
    return (ladder->here & ~ladder->failed) >> rung & 1;
}

static void note(struct gst_tdl_ladder *ladder, gint rung, guint64 ns)
{
    if (ns && (!ladder->least[rung] || ns < ladder->least[rung]))
        ladder->least[rung] = ns;
}

static gboolean fits(const struct gst_tdl_strain *strain, gdouble network, gdouble share)
{
    return strain->cost.frame + (strain->cost.picture + network) * strain->runs <=
           share * strain->duration;
}

/* TRUE if the network fits beside the load of other streams. A running stream gives way only when
 * it is too slow itself, or late; otherwise all streams would give way at once. */
static gboolean has_room(const struct gst_tdl_strain *strain, gdouble network)
{
    return fits(strain, network, ROOM - strain->others);
}

/* ns of a run, at least, by those of smaller models. */
static gdouble guess_up(const struct gst_tdl_ladder *ladder, gint rung)
{
    gdouble ns = 0;

    for (gint i = 0; i < rung; i++)
        ns = MAX(ns, ladder->least[i]) * rises[i + 1];
    return ns;
}

/* … and at most, by those of larger ones. */
static gdouble guess_down(const struct gst_tdl_ladder *ladder, gint rung)
{
    gdouble rise = 1;

    for (gint i = rung; i < GST_TDL_RUNGS; i++) {
        rise *= i > rung ? rises[i] : 1;
        if (ladder->least[i])
            return ladder->least[i] / rise;
    }
    return 0;
}

/* At the beginning times that were measured count as they are. Later they may have been those
 * of a busy device, and only what is beyond hope is left alone. */
static gboolean is_worth_trying(const struct gst_tdl_ladder *ladder, gint rung,
                                const struct gst_tdl_strain *strain)
{
    const gdouble ns = !ladder->least[rung] ? guess_up(ladder, rung)
                       : ladder->begins     ? ladder->least[rung]
                                            : HOPE * ladder->least[rung];

    return is_usable(ladder, rung) && has_room(strain, ns);
}

/* Above the one that works: at the beginning of a device that most likely holds the best from
 * there down, else step by step. */
static gint choose(const struct gst_tdl_ladder *ladder, const struct gst_tdl_strain *strain)
{
    gint found = GST_TDL_NO_RUNG;

    for (gint i = GST_TDL_RUNGS - 1; i > ladder->at; i--) {
        if (!is_worth_trying(ladder, i, strain))
            continue;
        found = i;
        if (ladder->begins && ladder->from_top)
            break;
    }
    return found;
}

static void lose_hope(struct gst_tdl_ladder *ladder)
{
    ladder->patience = MIN(2 * ladder->patience, MOST_PATIENCE);
}

static gint want(struct gst_tdl_ladder *ladder, gint rung, const gchar *reason)
{
    ladder->wanted = rung;
    ladder->reason = reason;
    ladder->waited = ladder->calm = 0;
    return rung;
}

/* To the best that would leave room, if it is slowed down as the one that works is. */
static gint fall(struct gst_tdl_ladder *ladder, const struct gst_tdl_strain *strain,
                 const gchar *reason)
{
    const guint64 least = ladder->least[ladder->at];
    const gdouble slow = least ? MAX((gdouble)strain->cost.network / least, 1) : 1;
    gint rung = MIN(ladder->at, ladder->wanted) - 1;

    ladder->calm = ladder->late = 0;
    while (rung > 0 &&
           (!is_usable(ladder, rung) || !has_room(strain, slow * guess_down(ladder, rung))))
        rung--;
    if (rung < 0 || !is_usable(ladder, rung))
        return GST_TDL_NO_RUNG;
    if (ladder->climbed)
        lose_hope(ladder);
    ladder->climbed = ladder->begins = FALSE;
    return want(ladder, rung, reason);
}

static gint climb(struct gst_tdl_ladder *ladder, const struct gst_tdl_strain *strain)
{
    gint rung;

    if (strain->thinned || strain->late || !has_room(strain, strain->cost.network)) {
        ladder->calm = 0;
        return GST_TDL_NO_RUNG;
    }
    if (!ladder->begins && ++ladder->calm < ladder->patience)
        return GST_TDL_NO_RUNG;
    rung = choose(ladder, strain);
    if (rung != GST_TDL_NO_RUNG)
        return want(ladder, rung, ladder->begins ? "start" : "room");
    ladder->begins = FALSE;
    return rung;
}

gint gst_tdl_ladder_judge(struct gst_tdl_ladder *ladder, const struct gst_tdl_strain *strain)
{
    const gboolean loading = ladder->wanted != ladder->at;

    if (ladder->settling) {
        ladder->settling--;
        return GST_TDL_NO_RUNG;
    }
    if (loading && ++ladder->waited < LOADING)
        return GST_TDL_NO_RUNG;
    note(ladder, ladder->at, strain->cost.network);
    ladder->late = strain->late ? ladder->late + 1 : 0;
    if (!fits(strain, strain->cost.network, BUSY))
        return fall(ladder, strain, "busy");
    if (ladder->late >= LATE)
        return fall(ladder, strain, "late");
    return loading ? GST_TDL_NO_RUNG : climb(ladder, strain);
}

gboolean gst_tdl_ladder_admits(struct gst_tdl_ladder *ladder, gint rung, guint64 ns,
                               const struct gst_tdl_strain *strain)
{
    const gboolean up = rung > ladder->at;

    note(ladder, rung, ns);
    gst_tdl_ladder_settle(ladder);
    ladder->waited = ladder->calm = 0;
    if (up && !has_room(strain, ns)) {
        ladder->wanted = ladder->at;
        if (!ladder->begins)
            lose_hope(ladder);
        return FALSE;
    }
    ladder->climbed = up && !ladder->begins;
    ladder->at = ladder->wanted = rung;
    return TRUE;
}

void gst_tdl_ladder_fail(struct gst_tdl_ladder *ladder)
{
    if (ladder->wanted != ladder->at)
        ladder->failed |= 1u << ladder->wanted;
    ladder->wanted = ladder->at;
    gst_tdl_ladder_settle(ladder);
}

void gst_tdl_ladder_settle(struct gst_tdl_ladder *ladder)
{
    ladder->settling = SETTLING;
    ladder->late = 0;
}

gboolean gst_tdl_ladder_can_fall(const struct gst_tdl_ladder *ladder)
{
    for (gint i = 0; i < ladder->at; i++)
        if (is_usable(ladder, i))
            return TRUE;
    return ladder->wanted != ladder->at && ladder->waited < LOADING;
}
