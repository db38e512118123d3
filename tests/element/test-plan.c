/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of frames: single cases as a table, then rules that hold in all cases. Pure functions; no
 * device is needed. */
#include "frame/gsttdlplan.h"

#include <gst/check/gstcheck.h>

#include <string.h>

#define RUN (GST_TDL_STEP_PICTURE | GST_TDL_STEP_NETWORK)
#define OWN (RUN | GST_TDL_STEP_COMPOSE)
#define LAST GST_TDL_STEP_COMPOSE
#define HEIGHT 720

struct situation {
    struct gst_tdl_live live;
    struct gst_tdl_plan_state state;
    struct gst_tdl_plan_network runs;
    struct gst_tdl_plan_request wanted;
    gboolean others; /* at the batcher */
};

static struct gst_tdl_plan plan_of(const struct situation *s)
{
    struct gst_tdl_plan plan;

    memset(&plan, 0xa5, sizeof(plan));
    gst_tdl_plan_frame(&s->live, &s->state, &s->runs, &s->wanted, &plan);
    if (s->others && plan.notice == GST_TDL_NOTICE_RUN)
        gst_tdl_plan_share(&plan);
    return plan;
}

/* A camera in mode=blur whose network is a mask's, in the middle of its stream. */
static struct situation usual(void)
{
    return (struct situation){
        .live = { .mode = GST_TDL_MODE_BLUR, .blur_radius = 8, .fail_closed = TRUE },
        .state = { .has_mask = TRUE },
        .runs = { .kind = GST_TDL_OUTPUT_MASK, .interval = 1, .may_run = TRUE },
        .wanted = { .pictures = { TRUE }, .mode = GST_TDL_MODE_BLUR, .height = HEIGHT },
    };
}

/* -------------------------------------------------------------------- single cases */

static void change_nothing(struct situation *s) { (void)s; }
static void interval(struct situation *s) { s->runs.interval = 3; }
static void interval_over(struct situation *s) { s->runs.interval = 3; s->state.since_run = 2; }
static void interval_discontinuity(struct situation *s)
{
    s->runs.interval = 3;
    s->state.discontinuity = TRUE;
}
static void first(struct situation *s) { s->state.has_mask = FALSE; }
static void interval_first(struct situation *s) { interval(s); first(s); }
static void rate(struct situation *s) { s->runs.may_run = FALSE; }
static void rate_first(struct situation *s) { rate(s); first(s); }
static void others(struct situation *s) { s->others = TRUE; }
static void others_interval(struct situation *s) { s->others = TRUE; s->runs.interval = 3; }
static void others_watched(struct situation *s) { s->others = s->live.presence = TRUE; }
static void freshest(struct situation *s) { s->live.latency_mode = GST_TDL_LATENCY_FRESHEST; }
static void freshest_first(struct situation *s) { freshest(s); first(s); }
static void freshest_discontinuity(struct situation *s)
{
    freshest(s);
    s->state.discontinuity = TRUE;
}
static void freshest_busy(struct situation *s) { freshest(s); s->state.running = TRUE; }
static void freshest_done(struct situation *s) { freshest_busy(s); s->runs.finished = TRUE; }
static void freshest_others(struct situation *s) { freshest(s); s->others = TRUE; }
static void watched(struct situation *s) { s->live.presence = TRUE; }

static void sharp(struct situation *s)
{
    s->live.blur_radius = 0;
}
static void sharp_watched(struct situation *s)
{
    s->live.blur_radius = 0;
    s->live.presence = TRUE;
}
/* The element passes frames on, and somebody is looked for. */
static void presence_alone(struct situation *s)
{
    s->live.mode = GST_TDL_MODE_PASSTHROUGH;
    s->live.presence = TRUE;
    s->wanted = (struct gst_tdl_plan_request){ .height = HEIGHT };
    s->state.has_mask = FALSE;
}
static void presence_freshest(struct situation *s)
{
    presence_alone(s);
    freshest(s);
}
static void labels_behind_presence(struct situation *s)
{
    presence_alone(s);
    s->runs.interval = 3;
    s->wanted.pictures[GST_TDL_PICTURE_LABELS] = TRUE;
}
static void tensor(struct situation *s)
{
    presence_alone(s);
    s->live.presence = FALSE;
    s->runs.interval = 3;
    s->wanted.tensor = TRUE;
}
static void tensor_due(struct situation *s)
{
    tensor(s);
    s->wanted.tensor_due = TRUE;
}
static void other_output(struct situation *s)
{
    s->runs.kind = GST_TDL_OUTPUT_PICTURE;
}
static void other_output_open(struct situation *s)
{
    s->runs.kind = GST_TDL_OUTPUT_PICTURE;
    s->live.fail_closed = FALSE;
}
static void other_output_freshest(struct situation *s)
{
    other_output(s);
    freshest_done(s);
}
static void tiles(struct situation *s)
{
    s->runs.kind = GST_TDL_OUTPUT_PICTURE;
    s->runs.in_tiles = TRUE;
    s->runs.interval = 3;
    s->live.mode = s->wanted.mode = GST_TDL_MODE_PICTURE;
}
static void tiles_freshest(struct situation *s)
{
    tiles(s);
    freshest(s);
}

static const struct {
    const gchar *name;
    void (*change)(struct situation *);
    guint steps[2], lanes[2];
    gboolean new_mask, forgets;
    enum gst_tdl_plan_notice notice;
    struct gst_tdl_plan_state after;
} cases[] = {
    { "exact", change_nothing, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "interval", interval, { LAST }, { 0 }, FALSE, FALSE, GST_TDL_NOTICE_REST,
      { .has_mask = TRUE, .since_run = 1 } },
    { "interval is over", interval_over, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "interval, discontinuity", interval_discontinuity, { OWN }, { 0 }, TRUE, FALSE,
      GST_TDL_NOTICE_RUN, { .has_mask = TRUE } },
    { "interval, first", interval_first, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "rate", rate, { LAST }, { 0 }, FALSE, FALSE, GST_TDL_NOTICE_REST,
      { .has_mask = TRUE, .since_run = 1 } },
    { "rate, first", rate_first, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "watched", watched, { OWN | GST_TDL_STEP_WATCH }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "others", others, { GST_TDL_STEP_PICTURE, LAST }, { 0, 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "others, watched", others_watched,
      { GST_TDL_STEP_PICTURE, GST_TDL_STEP_WATCH | LAST }, { 0, 0 }, TRUE, FALSE,
      GST_TDL_NOTICE_RUN, { .has_mask = TRUE } },
    { "others, interval", others_interval, { LAST }, { 0 }, FALSE, FALSE, GST_TDL_NOTICE_REST,
      { .has_mask = TRUE, .since_run = 1 } },
    { "freshest", freshest, { LAST, RUN }, { 0, 1 }, FALSE, FALSE, GST_TDL_NOTICE_ALONE,
      { .has_mask = TRUE, .running = TRUE } },
    { "freshest, first", freshest_first, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "freshest, discontinuity", freshest_discontinuity, { OWN }, { 0 }, TRUE, FALSE,
      GST_TDL_NOTICE_RUN, { .has_mask = TRUE } },
    { "freshest, busy", freshest_busy, { LAST }, { 0 }, FALSE, FALSE, GST_TDL_NOTICE_ALONE,
      { .has_mask = TRUE, .running = TRUE, .since_run = 1 } },
    { "freshest, done", freshest_done, { LAST, RUN }, { 0, 1 }, TRUE, FALSE, GST_TDL_NOTICE_ALONE,
      { .has_mask = TRUE, .running = TRUE } },
    { "freshest, others", freshest_others, { LAST, RUN }, { 0, 1 }, FALSE, FALSE,
      GST_TDL_NOTICE_ALONE, { .has_mask = TRUE, .running = TRUE } },
    { "no blur", sharp, { LAST }, { 0 }, FALSE, TRUE, GST_TDL_NOTICE_REST, { 0 } },
    { "no blur, watched", sharp_watched, { OWN | GST_TDL_STEP_WATCH }, { 0 }, TRUE, FALSE,
      GST_TDL_NOTICE_RUN, { 0 } },
    { "presence alone", presence_alone, { OWN | GST_TDL_STEP_WATCH }, { 0 }, TRUE, FALSE,
      GST_TDL_NOTICE_RUN, { 0 } },
    { "presence alone, freshest", presence_freshest, { LAST, RUN | GST_TDL_STEP_WATCH }, { 0, 1 },
      FALSE, FALSE, GST_TDL_NOTICE_ALONE, { .running = TRUE } },
    /* Runs for presence have left no mask to the composer. */
    { "labels behind presence", labels_behind_presence, { OWN | GST_TDL_STEP_WATCH }, { 0 }, TRUE,
      FALSE, GST_TDL_NOTICE_RUN, { .has_mask = TRUE } },
    { "tensor", tensor, { LAST }, { 0 }, FALSE, FALSE, GST_TDL_NOTICE_REST, { .since_run = 1 } },
    { "tensor, due", tensor_due, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN, { 0 } },
    { "another output", other_output, { GST_TDL_STEP_COVER }, { 0 }, FALSE, FALSE,
      GST_TDL_NOTICE_NONE, { .has_mask = TRUE } },
    { "another output, freshest", other_output_freshest, { GST_TDL_STEP_COVER }, { 0 }, FALSE,
      FALSE, GST_TDL_NOTICE_NONE, { .has_mask = TRUE, .running = TRUE } },
    { "another output, open", other_output_open, { OWN }, { 0 }, TRUE, FALSE, GST_TDL_NOTICE_RUN,
      { .has_mask = TRUE } },
    { "tiles", tiles, { GST_TDL_STEP_TILES }, { 0 }, FALSE, FALSE, GST_TDL_NOTICE_ALONE,
      { .has_mask = TRUE } },
    { "tiles, freshest", tiles_freshest, { GST_TDL_STEP_TILES }, { 0 }, FALSE, FALSE,
      GST_TDL_NOTICE_ALONE, { .has_mask = TRUE } },
};

GST_START_TEST(single_cases)
{
    struct situation s = usual();
    struct gst_tdl_plan plan;
    const gchar *name = cases[__i__].name;

    cases[__i__].change(&s);
    plan = plan_of(&s);
    fail_unless(plan.count == (cases[__i__].steps[1] ? 2 : 1), "%s: %u batches", name, plan.count);
    for (guint i = 0; i < plan.count; i++) {
        fail_unless(plan.batches[i].steps == cases[__i__].steps[i], "%s: batch %u has 0x%x", name,
                    i, plan.batches[i].steps);
        fail_unless(plan.batches[i].lane == cases[__i__].lanes[i], "%s: lane %u", name,
                    plan.batches[i].lane);
    }
    fail_unless(plan.new_mask == cases[__i__].new_mask, "%s: which mask", name);
    fail_unless(plan.forgets == cases[__i__].forgets, "%s: memory", name);
    fail_unless(plan.notice == cases[__i__].notice, "%s: batcher", name);
    fail_unless(plan.after.discontinuity == cases[__i__].after.discontinuity,
                "%s: discontinuity", name);
    fail_unless(plan.after.has_mask == cases[__i__].after.has_mask, "%s: has_mask", name);
    fail_unless(plan.after.running == cases[__i__].after.running, "%s: running", name);
    fail_unless(plan.after.since_run == cases[__i__].after.since_run, "%s: %u frames", name,
                plan.after.since_run);
}
GST_END_TEST;

/* ------------------------------------------------------------- what always must hold */

/* The digits of a number, each of its own base: one situation of all. FALSE: there is none. */
static guint digit(guint64 *number, guint base)
{
    const guint d = *number % base;

    *number /= base;
    return d;
}

static gboolean situation_get(guint64 number, struct situation *out)
{
    struct situation s = { .wanted.height = HEIGHT };

    s.live.mode = s.wanted.mode = digit(&number, GST_TDL_MODE_COUNT);
    s.live.fail_closed = digit(&number, 2);
    s.live.presence = digit(&number, 2);
    s.live.latency_mode = digit(&number, 2);
    s.live.blur_radius = digit(&number, 2);
    s.state.discontinuity = digit(&number, 2);
    s.state.has_mask = digit(&number, 2);
    s.state.running = digit(&number, 2);
    s.state.since_run = digit(&number, 2) ? 2 : 0;
    s.runs.finished = digit(&number, 2);
    s.runs.kind = digit(&number, 3);
    s.runs.in_tiles = digit(&number, 2);
    s.runs.interval = digit(&number, 2) ? 3 : 1;
    s.runs.may_run = digit(&number, 2);
    for (guint i = 0; i < GST_TDL_PICTURES; i++)
        s.wanted.pictures[i] = digit(&number, 2);
    s.wanted.tensor = digit(&number, 2);
    s.wanted.tensor_due = digit(&number, 2);
    s.others = digit(&number, 2);
    *out = s;
    return number == 0;
}

/* TRUE if any picture depends on the mask; written from the definition of the modes. */
static gboolean differs_by_mask(const struct situation *s)
{
    gboolean frame = s->wanted.pictures[GST_TDL_PICTURE_FRAME];

    switch (s->wanted.mode) {
    case GST_TDL_MODE_PASSTHROUGH:
        frame = FALSE;
        break;
    case GST_TDL_MODE_BLUR:
        frame = frame && s->live.blur_radius > 0;
        break;
    default:
        break;
    }
    return frame || s->wanted.pictures[GST_TDL_PICTURE_MASK] ||
           s->wanted.pictures[GST_TDL_PICTURE_LABELS];
}

static guint steps_of(const struct gst_tdl_plan *plan)
{
    guint steps = 0;

    for (guint i = 0; i < plan->count; i++)
        steps |= plan->batches[i].steps;
    return steps;
}

/* How often a step is in the plan. */
static guint times(const struct gst_tdl_plan *plan, guint steps)
{
    guint n = 0;

    for (guint i = 0; i < plan->count; i++)
        for (guint bit = 1; bit <= GST_TDL_STEP_COMPOSE; bit <<= 1)
            n += (plan->batches[i].steps & steps & bit) != 0;
    return n;
}

#define MUST(holds, what)                                                                          \
    do {                                                                                           \
        if (!(holds))                                                                              \
            return what;                                                                           \
    } while (0)

/* Nothing is shown that should be covered. */
static const gchar *check_covered(const struct situation *s, const struct gst_tdl_plan *plan)
{
    const gboolean frame = s->wanted.pictures[GST_TDL_PICTURE_FRAME];
    const gboolean hides = s->live.fail_closed && (s->live.mode == GST_TDL_MODE_BLUR ||
                                                   s->live.mode == GST_TDL_MODE_REPLACE);
    const guint steps = steps_of(plan);

    if (frame && hides && s->runs.kind != GST_TDL_OUTPUT_MASK)
        MUST(steps == GST_TDL_STEP_COVER, "covered");
    else
        MUST(!(steps & GST_TDL_STEP_COVER), "covered");
    /* A composed frame has a mask: its own, or an earlier one. */
    if (steps & GST_TDL_STEP_COMPOSE && differs_by_mask(s))
        MUST(plan->new_mask || (s->state.has_mask && !s->state.discontinuity), "no mask");
    /* A mask that the plan leaves behind exists. */
    if (plan->after.has_mask && !s->state.has_mask)
        MUST(plan->new_mask && differs_by_mask(s), "no mask left");
    /* A new mask was made in front of it, or is finished. */
    if (plan->new_mask && !(plan->batches[0].steps & GST_TDL_STEP_NETWORK) && !plan->shared)
        MUST(s->state.running && s->runs.finished, "not made");
    return NULL;
}

/* Everything once, in its order, on its queue. */
static const gchar *check_order(const struct situation *s, const struct gst_tdl_plan *plan)
{
    MUST(plan->count == 1 || plan->count == 2, "batches");
    MUST(times(plan, GST_TDL_STEPS_OUT) == 1, "outputs");
    MUST(times(plan, GST_TDL_STEP_NETWORK) <= 1, "runs");
    MUST(plan->batches[0].lane == 0, "lane");
    if (steps_of(plan) & GST_TDL_STEP_NETWORK || plan->shared)
        MUST(times(plan, GST_TDL_STEP_PICTURE) == 1, "picture");
    if (steps_of(plan) & GST_TDL_STEP_WATCH)
        MUST(s->live.presence && s->runs.kind == GST_TDL_OUTPUT_MASK, "watched");
    for (guint i = 0; i < plan->count; i++)
        if (plan->batches[i].steps & GST_TDL_STEP_NETWORK)
            MUST(!(plan->batches[i].steps & GST_TDL_STEP_WATCH) == !plan->watches, "not watched");
    if (plan->count == 2 && !plan->shared) { /* nobody waits for it */
        MUST(s->live.latency_mode == GST_TDL_LATENCY_FRESHEST, "two batches");
        MUST(plan->batches[1].lane == 1 && !(plan->batches[1].steps & GST_TDL_STEPS_OUT),
             "the run behind");
    }
    if (plan->shared)
        MUST(plan->batches[0].steps == GST_TDL_STEP_PICTURE && plan->batches[1].lane == 0 &&
                 s->others,
             "shared");
    return NULL;
}

/* The network runs when it has to, and not more often than it may. */
static const gchar *check_runs(const struct situation *s, const struct gst_tdl_plan *plan)
{
    const gboolean run = plan->shared || steps_of(plan) & GST_TDL_STEP_NETWORK;
    const gboolean shown = differs_by_mask(s);
    const gboolean wanted =
        shown || s->wanted.tensor || (s->live.presence && s->runs.kind == GST_TDL_OUTPUT_MASK);
    const gboolean forced = s->state.discontinuity || (shown && !s->state.has_mask) ||
                            (s->wanted.tensor && s->wanted.tensor_due);

    if (steps_of(plan) & (GST_TDL_STEP_COVER | GST_TDL_STEP_TILES)) {
        MUST(!run, "a run more");
        return NULL;
    }
    MUST(!run || wanted, "for nobody");
    MUST(plan->forgets == !wanted, "memory");
    if (wanted && forced)
        MUST(run && plan->new_mask && !plan->after.discontinuity, "due");
    if (run && !forced)
        MUST(s->runs.may_run && s->state.since_run + 1 >= s->runs.interval, "too soon");
    if (run) /* frames are counted from it on */
        MUST(plan->after.since_run == 0, "count");
    else if (wanted)
        MUST(plan->after.since_run == s->state.since_run + 1, "count");
    if (run && s->state.running && !s->runs.finished) /* never two under way but by force */
        MUST(plan->batches[0].steps & (GST_TDL_STEP_NETWORK | GST_TDL_STEP_PICTURE), "two runs");
    return NULL;
}

GST_START_TEST(always)
{
    const gchar *(*const checks[])(const struct situation *, const struct gst_tdl_plan *) = {
        check_covered, check_order, check_runs
    };
    const gchar *wrong = NULL;
    struct situation s;
    guint64 n = 0;

    while (situation_get(n, &s)) {
        struct gst_tdl_plan plan;

        plan = plan_of(&s);
        for (guint i = 0; i < G_N_ELEMENTS(checks) && !wrong; i++)
            wrong = checks[i](&s, &plan);
        if (wrong) /* not for each of them, as that takes minutes */
            fail("situation %" G_GUINT64_FORMAT ": %s", n, wrong);
        n++;
    }
    fail_unless(n > 1000000, "only %" G_GUINT64_FORMAT " situations", n);
}
GST_END_TEST;

static Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *tc = tcase_create("plan");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, single_cases, 0, G_N_ELEMENTS(cases));
    tcase_add_test(tc, always);
    return suite;
}

GST_CHECK_MAIN(plan);
