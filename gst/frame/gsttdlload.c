/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlload.h"

#define BUSY 0.9 /* shares of a frame's duration: more is too much, … */
#define ROOM 0.7 /* … and this is easily done */
#define PATIENCE 3
#define MOST_PATIENCE 60
#define ROUNDING GST_MSECOND /* precision of timestamps */

void gst_tdl_load_init(struct gst_tdl_load *load)
{
    *load = (struct gst_tdl_load){ .patience = PATIENCE,
                                   .weighed = GST_CLOCK_TIME_NONE,
                                   .last_run = GST_CLOCK_TIME_NONE };
}

guint gst_tdl_load_interval(const struct gst_tdl_load *load, const struct gst_tdl_live *live)
{
    return MAX(live->interval, MIN(load->raised, live->max_interval));
}

/* FALSE if `now` belongs to other times than the last run. */
static gboolean follows(const struct gst_tdl_load *load, GstClockTime now)
{
    return GST_CLOCK_TIME_IS_VALID(load->last_run) && GST_CLOCK_TIME_IS_VALID(now) &&
           now + ROUNDING >= load->last_run;
}

gboolean gst_tdl_load_may_run(const struct gst_tdl_load *load, const struct gst_tdl_live *live,
                              GstClockTime now)
{
    return live->max_rate <= 0 || !follows(load, now) ||
           now + ROUNDING - load->last_run >= GST_SECOND / live->max_rate;
}

/* The next run is due a period after this one was, not after this frame: rates of which the
 * frame rate is no multiple would not be reached. */
void gst_tdl_load_ran(struct gst_tdl_load *load, const struct gst_tdl_live *live, GstClockTime now)
{
    const GstClockTime period =
        live->max_rate > 0 ? (GstClockTime)(GST_SECOND / live->max_rate) : 0;
    const GstClockTime due = load->last_run + period;
    const gboolean in_turn =
        follows(load, now) && now + ROUNDING >= due && period > 0 && now < due + period;

    load->last_run = in_turn ? due : now;
}

gboolean gst_tdl_load_is_due(struct gst_tdl_load *load, GstClockTime now)
{
    const gboolean begins = !GST_CLOCK_TIME_IS_VALID(load->weighed) || now < load->weighed;

    if (!begins && now - load->weighed < GST_SECOND)
        return FALSE;
    load->weighed = now;
    return !begins;
}

static gboolean fits(const struct gst_tdl_cost *cost, guint interval, gdouble available)
{
    return cost->frame + (gdouble)(cost->picture + cost->network) / interval <= available;
}

static const gchar *raise_interval(struct gst_tdl_load *load, const struct gst_tdl_live *live,
                                   guint interval, const gchar *why)
{
    load->calm = 0;
    if (interval >= live->max_interval)
        return NULL;
    if (load->lowered)
        load->patience = MIN(2 * load->patience, MOST_PATIENCE);
    load->lowered = FALSE;
    load->raised = interval + 1;
    return why;
}

const gchar *gst_tdl_load_judge(struct gst_tdl_load *load, const struct gst_tdl_live *live,
                                const struct gst_tdl_cost *cost, GstClockTime duration,
                                gboolean late)
{
    const guint interval = gst_tdl_load_interval(load, live);

    load->raised = interval;
    if (late)
        return raise_interval(load, live, interval, "late");
    if (!fits(cost, interval, BUSY * duration))
        return raise_interval(load, live, interval, "busy");
    if (interval <= live->interval || !fits(cost, interval - 1, ROOM * duration)) {
        load->calm = 0;
        return NULL;
    }
    if (++load->calm < load->patience)
        return NULL;
    load->calm = 0;
    load->lowered = TRUE;
    load->raised = interval - 1;
    return "room";
}
