/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlplan.h"

#include "gsttdlcompose.h"

gboolean gst_tdl_plan_covers(const struct gst_tdl_live *live, enum gst_tdl_output kind)
{
    return gst_tdl_live_guards(live) && kind != GST_TDL_OUTPUT_MASK;
}

gboolean gst_tdl_plan_watches(const struct gst_tdl_live *live, enum gst_tdl_output kind)
{
    return (live->presence || live->prompt.count) && kind == GST_TDL_OUTPUT_MASK;
}

/* TRUE if any picture shows the mask. */
static gboolean shows_mask(const struct gst_tdl_live *live,
                           const struct gst_tdl_plan_request *wanted)
{
    if (wanted->pictures[GST_TDL_PICTURE_MASK] || wanted->pictures[GST_TDL_PICTURE_LABELS])
        return TRUE;
    if (!wanted->pictures[GST_TDL_PICTURE_FRAME] || wanted->mode == GST_TDL_MODE_PASSTHROUGH)
        return FALSE;
    return wanted->mode != GST_TDL_MODE_BLUR || gst_tdl_compose_blur(live, wanted->height) > 0;
}

/* TRUE if the frame needs a mask of its own: earlier results do not serve it. */
static gboolean needs_own_mask(const struct gst_tdl_plan_state *state,
                               const struct gst_tdl_plan_request *wanted, gboolean shown)
{
    return state->discontinuity || (shown && !state->has_mask) ||
           (wanted->tensor && wanted->tensor_due);
}

/* Is it time for the network? The interval counts frames, run or not. */
static gboolean is_due(const struct gst_tdl_plan_network *runs, struct gst_tdl_plan *plan)
{
    return ++plan->after.since_run >= runs->interval && runs->may_run;
}

static void plan_batch(struct gst_tdl_plan *plan, guint lane, guint steps)
{
    plan->batches[plan->count++] = (struct gst_tdl_plan_batch){ steps, lane };
}

static guint run_steps(const struct gst_tdl_plan *plan)
{
    return GST_TDL_STEP_PICTURE | GST_TDL_STEP_NETWORK | (plan->watches ? GST_TDL_STEP_WATCH : 0);
}

static void plan_exact(struct gst_tdl_plan *plan, gboolean run, gboolean shown)
{
    plan_batch(plan, 0, GST_TDL_STEP_COMPOSE | (run ? run_steps(plan) : 0));
    plan->notice = run ? GST_TDL_NOTICE_RUN : GST_TDL_NOTICE_REST;
    plan->new_mask = run;
    if (!run)
        return;
    plan->after.since_run = 0;
    plan->after.has_mask = shown;
    plan->after.discontinuity = FALSE;
    plan->after.running = FALSE; /* the new mask replaces that of any run before */
}

static void plan_freshest(struct gst_tdl_plan *plan, const struct gst_tdl_plan_network *runs,
                          gboolean due)
{
    plan_batch(plan, 0, GST_TDL_STEP_COMPOSE);
    plan->notice = GST_TDL_NOTICE_ALONE;
    plan->new_mask = plan->after.running && runs->finished;
    plan->after.running = plan->after.running && !runs->finished;
    if (!due || plan->after.running)
        return;
    plan_batch(plan, 1, run_steps(plan));
    plan->after.since_run = 0;
    plan->after.running = TRUE;
}

void gst_tdl_plan_frame(const struct gst_tdl_live *live, const struct gst_tdl_plan_state *state,
                        const struct gst_tdl_plan_network *runs,
                        const struct gst_tdl_plan_request *wanted, struct gst_tdl_plan *out_plan)
{
    const gboolean framed = wanted->pictures[GST_TDL_PICTURE_FRAME];
    const gboolean shown = shows_mask(live, wanted);
    const gboolean own = needs_own_mask(state, wanted, shown);
    gboolean due;

    *out_plan =
        (struct gst_tdl_plan){ .watches = gst_tdl_plan_watches(live, runs->kind), .after = *state };
    if (framed && gst_tdl_plan_covers(live, runs->kind)) {
        plan_batch(out_plan, 0, GST_TDL_STEP_COVER);
        return;
    }
    if (framed && wanted->mode == GST_TDL_MODE_PICTURE && runs->in_tiles) {
        plan_batch(out_plan, 0, GST_TDL_STEP_TILES); /* every frame, as the network keeps none */
        out_plan->notice = GST_TDL_NOTICE_ALONE;
        out_plan->after.since_run = 0;
        return;
    }
    out_plan->after.has_mask &= shown; /* the mask would be outdated when one is wanted again */
    out_plan->forgets = !shown && !wanted->tensor && !out_plan->watches;
    due = !out_plan->forgets && (own || is_due(runs, out_plan));
    /* A frame whose picture shows no mask, and of which nothing else is wanted, is one batch: it
     * waits for no older mask. */
    if (live->latency_mode == GST_TDL_LATENCY_FRESHEST && !own &&
        (shown || wanted->tensor || !framed))
        plan_freshest(out_plan, runs, due);
    else
        plan_exact(out_plan, due, shown);
}

void gst_tdl_plan_share(struct gst_tdl_plan *plan)
{
    const guint steps = plan->batches[0].steps;

    plan->shared = TRUE;
    plan->batches[0].steps = GST_TDL_STEP_PICTURE;
    plan_batch(plan, 0, steps & ~(guint)(GST_TDL_STEP_PICTURE | GST_TDL_STEP_NETWORK));
}
