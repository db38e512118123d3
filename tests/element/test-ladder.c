/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* model=auto: what is judged of times that are made up, and what the element makes of that
 * with networks that stand for the real ones. No time is measured here: those of runs are
 * replaced at link time, and the caps give a second to each frame. */
#include "frame/gsttdlsession.h"
#include "util.h"

#include <glib/gstdio.h>

#define MS 1000000
#define FRAME (GST_SECOND / 30)
#define ALL 15
enum { NONE = GST_TDL_NO_RUNG, PERSON, SMALL, MATTING, HD };

/* ------------------------------------------------------------------ judgements */

/* A frame has 33.3 ms: of these 30 are too many, and up to 20 leave room. */
static struct gst_tdl_ladder ladder;

static struct gst_tdl_strain strain_of(gdouble network, gdouble frame, gboolean late)
{
    return (struct gst_tdl_strain){ .cost = { 0, network * MS, frame * MS }, .duration = FRAME,
                                    .runs = 1, .late = late };
}

/* `times` judgements, of which the last one wants `rung`, and those before nobody. */
static void judge(guint times, gdouble network, gdouble frame, gboolean late, gint rung,
                  const gchar *reason)
{
    const struct gst_tdl_strain strain = strain_of(network, frame, late);

    for (guint i = 1; i <= times; i++) {
        const gint got = gst_tdl_ladder_judge(&ladder, &strain);

        fail_unless(got == (i == times ? rung : NONE), "judgement %u of %u: %d, not %d", i, times,
                    got, rung);
    }
    if (rung != NONE)
        fail_unless_equals_string(ladder.reason, reason);
}

/* Reports a model as loaded; the next two seconds are not judged. */
static void loaded(gint rung, gdouble ns, gdouble frame, gboolean admitted)
{
    const struct gst_tdl_strain strain = strain_of(0, frame, FALSE);
    const gint before = ladder.at;

    fail_unless(gst_tdl_ladder_admits(&ladder, rung, ns * MS, &strain) == admitted,
                "rung %d with %.1f ms", rung, ns);
    fail_unless_equals_int(ladder.at, admitted ? rung : before);
    judge(2, 99, 99, TRUE, NONE, NULL);
}

/* The best is tried at once. */
GST_START_TEST(gpu)
{
    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS / 10, FALSE);
    fail_if(gst_tdl_ladder_can_fall(&ladder));
    judge(1, 0.1, 0.1, FALSE, HD, "start");
    fail_unless(gst_tdl_ladder_can_fall(&ladder), "or what is loaded is the reason");
    loaded(HD, 2, 0.1, TRUE);
    judge(5000, 2, 0.1, FALSE, NONE, NULL);
    fail_unless(gst_tdl_ladder_can_fall(&ladder));
}
GST_END_TEST;

/* From there downwards; what took too long is not asked again but with hope, and ever more
 * seldom. */
GST_START_TEST(weak_gpu)
{
    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS, FALSE);
    judge(1, 1, 1, FALSE, HD, "start");
    loaded(HD, 25, 1, FALSE);
    judge(1, 1, 1, FALSE, MATTING, "start");
    loaded(MATTING, 15, 1, TRUE);
    judge(1, 15, 1, FALSE, NONE, NULL); /* the beginning is over */
    judge(30, 15, 1, FALSE, HD, "room");
    loaded(HD, 24, 1, FALSE);
    judge(60, 15, 1, FALSE, HD, "room");
    loaded(HD, 24, 1, FALSE);
    judge(119, 15, 1, FALSE, NONE, NULL);
    judge(1, 21, 1, FALSE, NONE, NULL); /* no room for a moment: anew */
    judge(120, 15, 1, FALSE, HD, "room");
    loaded(HD, 18, 1, TRUE);
}
GST_END_TEST;

/* Step by step: of a matting network not even the least time is to be had. */
GST_START_TEST(two_cores)
{
    gst_tdl_ladder_init(&ladder, ALL, PERSON, 2 * MS, TRUE);
    judge(1, 2, 6, FALSE, SMALL, "start");
    loaded(SMALL, 39, 6, FALSE);
    judge(5000, 2, 6, FALSE, NONE, NULL);
    gst_tdl_ladder_init(&ladder, ALL, PERSON, 6 * MS, TRUE);
    judge(5000, 6, 1, FALSE, NONE, NULL); /* the person model takes a third itself */
}
GST_END_TEST;

GST_START_TEST(many_cores)
{
    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS, TRUE);
    judge(1, 1, 1, FALSE, SMALL, "start");
    loaded(SMALL, 8, 1, TRUE);
    judge(1, 8, 1, FALSE, MATTING, "start");
    loaded(MATTING, 18, 1, TRUE);
    judge(1, 18, 1, FALSE, HD, "start"); /* 18 ms may be enough, too */
    loaded(HD, 40, 1, FALSE);
    judge(5000, 18, 1, FALSE, NONE, NULL);
}
GST_END_TEST;

/* A model that is not fetched, or could not be loaded, is not asked for. */
GST_START_TEST(missing)
{
    gst_tdl_ladder_init(&ladder, 1 << PERSON, PERSON, MS / 10, FALSE);
    judge(5000, 0.1, 0.1, FALSE, NONE, NULL);
    judge(1, 50, 50, FALSE, NONE, NULL);
    gst_tdl_ladder_init(&ladder, 1 << PERSON | 1 << SMALL | 1 << HD, PERSON, MS / 10, FALSE);
    judge(1, 0.1, 0.1, FALSE, HD, "start");
    gst_tdl_ladder_fail(&ladder);
    judge(3, 0.1, 0.1, FALSE, SMALL, "start");
    loaded(SMALL, 1, 0.1, TRUE);
    judge(5000, 1, 0.1, FALSE, NONE, NULL);
}
GST_END_TEST;

/* To the best that would hold on a device that is so much slower now. */
static const struct {
    gdouble matting, network, frame; /* ms: a run at its best, and now */
    gint rung;
} falls[] = {
    { 5, 29, 2, MATTING }, { 15, 29, 2, SMALL }, { 18, 120, 2, PERSON }, { 1, 5, 31, PERSON },
    { 5, 27, 2, NONE },
};

GST_START_TEST(falling)
{
    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS / 10, FALSE);
    ladder.begins = FALSE;
    ladder.least[SMALL] = 3 * MS;
    ladder.least[MATTING] = falls[__i__].matting * MS;
    ladder.least[HD] = 18 * MS;
    ladder.at = ladder.wanted = HD;
    judge(1, falls[__i__].network, falls[__i__].frame, FALSE, falls[__i__].rung, "busy");
}
GST_END_TEST;

/* By one of those that were never timed: at most what a larger one takes. */
GST_START_TEST(lateness)
{
    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS / 10, FALSE);
    judge(1, 0, 0, FALSE, HD, "start"); /* a device without timestamps */
    loaded(HD, 2, 0, TRUE);
    judge(1, 0, 0, TRUE, NONE, NULL); /* an accident */
    judge(1, 0, 0, FALSE, NONE, NULL);
    judge(2, 0, 0, TRUE, MATTING, "late");
    loaded(MATTING, 2, 0, TRUE);
    judge(2, 0, 0, TRUE, SMALL, "late");
    judge(4, 0, 0, TRUE, NONE, NULL); /* the candidate is loaded */
    judge(2, 0, 0, TRUE, PERSON, "late"); /* takes too long */
    loaded(PERSON, 1, 0, TRUE);
    judge(9, 0, 0, TRUE, NONE, NULL);
    fail_if(gst_tdl_ladder_can_fall(&ladder));
}
GST_END_TEST;

/* Ten minutes of a neighbour that is there every other minute: it climbs four times. */
GST_START_TEST(no_flapping)
{
    guint climbs = 0, falls_seen = 0;

    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS / 10, FALSE);
    judge(1, 0.1, 0.1, FALSE, HD, "start");
    loaded(HD, 10, 0.1, TRUE);
    for (guint second = 0; second < 600; second++) {
        const gboolean busy = second / 60 % 2 == 0;
        gboolean up;
        static const gdouble ms[] = { 0.1, 6, 9, 10 };
        const struct gst_tdl_strain strain =
            strain_of(ms[ladder.at] * (busy ? 4 : 1), 0.1, busy && ladder.at > PERSON);
        const gint rung = gst_tdl_ladder_judge(&ladder, &strain);

        if (rung == NONE)
            continue;
        falls_seen += rung < ladder.at;
        up = rung > ladder.at;
        up &= gst_tdl_ladder_admits(&ladder, rung, ms[rung] * (busy ? 4 : 1) * MS, &strain);
        fail_unless(!up || !busy, "it climbs while the device is busy");
        climbs += up;
    }
    fail_unless(climbs >= 1 && climbs <= 4, "%u climbs", climbs);
    fail_unless(falls_seen >= 1 && falls_seen <= 4, "%u falls", falls_seen);
}
GST_END_TEST;

/* Runs on every second frame have twice the time; an interval that was raised comes first. */
GST_START_TEST(runs)
{
    struct gst_tdl_strain strain = strain_of(2, 6, FALSE);

    strain.runs = 0.5;
    gst_tdl_ladder_init(&ladder, ALL, PERSON, 2 * MS, TRUE);
    fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), SMALL);
    fail_unless(gst_tdl_ladder_admits(&ladder, SMALL, 27 * MS, &strain));
    gst_tdl_ladder_init(&ladder, ALL, PERSON, 2 * MS, TRUE);
    strain.thinned = TRUE;
    fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), NONE);
}
GST_END_TEST;

/* Time that other streams take of the device is no room for a larger model. A working model still
 * stays until frames are late. */
GST_START_TEST(beside_others)
{
    struct gst_tdl_strain strain = strain_of(1, 1, FALSE);

    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS, FALSE);
    strain.others = 0.55;
    for (guint i = 0; i < 5000; i++)
        fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), NONE);
    strain.others = 0.3;
    fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), HD);
    strain.others = 0.5; /* another one was faster */
    fail_unless(!gst_tdl_ladder_admits(&ladder, HD, 9 * MS, &strain));
    gst_tdl_ladder_init(&ladder, ALL, PERSON, MS, FALSE);
    strain.others = 0;
    fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), HD);
    fail_unless(gst_tdl_ladder_admits(&ladder, HD, 9 * MS, &strain));
    strain = strain_of(9, 1, FALSE);
    strain.others = 0.9;
    for (guint i = 0; i < 5000; i++)
        fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), NONE);
    strain.late = TRUE;
    for (guint i = 0; i < 2; i++)
        fail_unless_equals_int(gst_tdl_ladder_judge(&ladder, &strain), i ? PERSON : NONE);
}
GST_END_TEST;

/* ------------------------------------------------------------------ the element */

/* Networks whose mask is white on white, in the place of three of the ladder. */
static gchar *folder, *paths[4], *slow;
static guint here;                  /* … and which of them are fetched */
static guint64 network_ns[4];       /* a run of each */
static gint busy;                   /* atomic: the device is, with something else */
static gint refused;                /* atomic: count */
static gint begun, ended;           /* atomic: counts of runs of models that are tried */

const gchar *__real_gst_tdl_rung_name(gint rung);
const gchar *__wrap_gst_tdl_rung_name(gint rung);
guint __wrap_gst_tdl_rungs_here(const struct gst_tdl_sources *sources);
guint __real_gst_tdl_rungs_here(const struct gst_tdl_sources *sources);
gboolean __real_gst_tdl_infer_compile(struct gst_tdl_infer *infer, struct tdl_context *context,
                                      struct gst_tdl_progress *progress, GError **error);
gboolean __wrap_gst_tdl_infer_compile(struct gst_tdl_infer *infer, struct tdl_context *context,
                                      struct gst_tdl_progress *progress, GError **error);
void __real_gst_tdl_session_strain(const struct gst_tdl_session *session,
                                   const struct gst_tdl_live *live, gboolean late,
                                   struct gst_tdl_strain *out_strain);
void __wrap_gst_tdl_session_strain(const struct gst_tdl_session *session,
                                   const struct gst_tdl_live *live, gboolean late,
                                   struct gst_tdl_strain *out_strain);
gboolean __real_gst_tdl_ladder_admits(struct gst_tdl_ladder *l, gint rung, guint64 ns,
                                      const struct gst_tdl_strain *strain);
gboolean __wrap_gst_tdl_ladder_admits(struct gst_tdl_ladder *l, gint rung, guint64 ns,
                                      const struct gst_tdl_strain *strain);

enum tdl_result __real_tdl_graph_try(struct tdl_graph *graph, const struct tdl_binding *inputs,
                                     uint32_t input_count, const struct tdl_binding *outputs,
                                     uint32_t output_count, const struct tdl_compile_params *params,
                                     uint64_t *out_ns);
enum tdl_result __wrap_tdl_graph_try(struct tdl_graph *graph, const struct tdl_binding *inputs,
                                     uint32_t input_count, const struct tdl_binding *outputs,
                                     uint32_t output_count, const struct tdl_compile_params *params,
                                     uint64_t *out_ns);

const gchar *__wrap_gst_tdl_rung_name(gint rung)
{
    return paths[rung] ? paths[rung] : __real_gst_tdl_rung_name(rung);
}

guint __wrap_gst_tdl_rungs_here(const struct gst_tdl_sources *sources)
{
    const guint real = __real_gst_tdl_rungs_here(sources);

    return real && sources->output == GST_TDL_OUTPUT_MASK ? here : real;
}

gboolean __wrap_gst_tdl_infer_compile(struct gst_tdl_infer *infer, struct tdl_context *context,
                                      struct gst_tdl_progress *progress, GError **error)
{
    const gboolean ok = __real_gst_tdl_infer_compile(infer, context, progress, error);

    if (infer->choice.rung != NONE)
        infer->network_ns = network_ns[infer->choice.rung];
    return ok;
}

void __wrap_gst_tdl_session_strain(const struct gst_tdl_session *session,
                                   const struct gst_tdl_live *live, gboolean late,
                                   struct gst_tdl_strain *out_strain)
{
    __real_gst_tdl_session_strain(session, live, late, out_strain);
    fail_unless(out_strain->duration == GST_SECOND && out_strain->runs == 1);
    out_strain->cost = (struct gst_tdl_cost){ .network = g_atomic_int_get(&busy) ? 950 * MS : MS };
}

gboolean __wrap_gst_tdl_ladder_admits(struct gst_tdl_ladder *l, gint rung, guint64 ns,
                                      const struct gst_tdl_strain *strain)
{
    const gboolean admits = __real_gst_tdl_ladder_admits(l, rung, ns, strain);

    if (!admits)
        g_atomic_int_inc(&refused);
    return admits;
}

enum tdl_result __wrap_tdl_graph_try(struct tdl_graph *graph, const struct tdl_binding *inputs,
                                     uint32_t input_count, const struct tdl_binding *outputs,
                                     uint32_t output_count, const struct tdl_compile_params *params,
                                     uint64_t *out_ns)
{
    enum tdl_result r;

    g_atomic_int_inc(&begun);
    r = __real_tdl_graph_try(graph, inputs, input_count, outputs, output_count, params, out_ns);
    g_atomic_int_inc(&ended);
    return r;
}

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=1/1"

GST_PLUGIN_STATIC_DECLARE(tdlfilter); /* the plugin of this program, with the replaced functions */

static GstClockTime now;

/* A white frame; whether it was foreground. */
static gboolean push(struct filter *f, GstClockTime later)
{
    GstVideoInfo info, out;
    GstBuffer *buffer;
    GstMapInfo map;
    gboolean white;

    caps_info(CAPS, &info);
    buffer = picture_new_color(&info, 0xffffffff);
    now += later;
    GST_BUFFER_PTS(buffer) = now;
    buffer = filter_run(f, buffer);
    filter_output_info(f, &out);
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
    white = map.data[map.size / 2] > 200;
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
    return white;
}

static void start(struct filter *f, const gchar *properties)
{
    g_autofree gchar *line = g_strdup_printf("qos=false model=auto %s", properties);

    now = 0;
    busy = refused = 0;
    filter_start(f, line, CAPS);
    filter_message(f, GST_MESSAGE_ELEMENT);
}

static void expect_model(struct filter *f, gint rung)
{
    GstStructure *stats = NULL;

    g_object_get(f->element, "stats", &stats, NULL);
    fail_unless_equals_string(gst_structure_get_string(stats, "model"),
                              __wrap_gst_tdl_rung_name(rung));
    gst_structure_free(stats);
}

/* Frames that come at once, until the model changes, which is said. Their masks are the old
 * model's up to then: white, if `white`. */
static void until_model(struct filter *f, gint rung, const gchar *reason, gboolean white)
{
    GstMessage *message = NULL;
    const GstStructure *s;

    do {
        const gboolean got = push(f, GST_MSECOND / 1000);

        message = filter_message(f, GST_MESSAGE_ELEMENT);
        if (message && gst_message_has_name(message, "tdl-model"))
            break;
        gst_clear_message(&message);
        fail_unless(got == white, "the mask of the model before was not there");
        g_usleep(1000);
    } while (TRUE); /* the test's timeout is the judge */
    s = gst_message_get_structure(message);
    fail_unless_equals_string(gst_structure_get_string(s, "model"), __wrap_gst_tdl_rung_name(rung));
    fail_unless_equals_string(gst_structure_get_string(s, "reason"), reason);
    gst_message_unref(message);
    expect_model(f, rung);
    fail_unless(push(f, GST_MSECOND / 1000) == (rung != PERSON));
}

/* Lets `count` judgements pass. */
static void seconds(struct filter *f, guint count)
{
    for (guint i = 0; i < count; i++)
        push(f, GST_SECOND);
}

static void until_refused(struct filter *f, gint count)
{
    while (g_atomic_int_get(&refused) < count) {
        push(f, GST_MSECOND / 1000);
        g_usleep(1000);
    }
}

GST_START_TEST(up_and_down)
{
    struct filter f;
    GstMessage *message;

    here = ALL;
    network_ns[PERSON] = 2 * MS;
    network_ns[SMALL] = 50 * MS;
    network_ns[HD] = 800 * MS;
    start(&f, "mode=mask");
    seconds(&f, 2); /* a processor knows then what its frames take */
    until_model(&f, SMALL, "start", FALSE);
    seconds(&f, 3); /* two to settle, and the next one has no file */
    do
        push(&f, GST_MSECOND / 1000);
    while (!(message = filter_message(&f, GST_MESSAGE_WARNING)));
    gst_message_unref(message);
    seconds(&f, 4); /* the best one is too slow */
    until_refused(&f, 1);
    expect_model(&f, SMALL);
    fail_unless_equals_uint64(gst_harness_query_latency(f.harness), 50 * MS);
    g_atomic_int_set(&busy, TRUE);
    network_ns[PERSON] = 700 * MS; /* while the device is, which the latency does not follow */
    seconds(&f, 3);
    until_model(&f, PERSON, "busy", TRUE);
    fail_unless_equals_uint64(gst_harness_query_latency(f.harness), MS); /* as before that */
    seconds(&f, 9);
    expect_model(&f, PERSON); /* there is nothing smaller */
    g_atomic_int_set(&busy, FALSE);
    seconds(&f, 29);
    expect_model(&f, PERSON);
    seconds(&f, 1);
    until_model(&f, SMALL, "room", FALSE);
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* A property that is set while a model is tried holds of the one that stays. */
GST_START_TEST(property_meanwhile)
{
    struct filter f;

    here = 1 << PERSON | 1 << SMALL | 1 << HD;
    network_ns[SMALL] = 5 * MS;
    network_ns[HD] = 800 * MS;
    start(&f, "mode=mask");
    seconds(&f, 2);
    until_model(&f, SMALL, "start", FALSE);
    seconds(&f, 3);
    g_object_set(f.element, "output-range", "0,-1", NULL); /* nobody is there */
    until_refused(&f, 1);
    while (push(&f, GST_MSECOND / 1000))
        g_usleep(1000);
    expect_model(&f, SMALL);
    /* Another model by name ends it, and "auto" begins anew. */
    g_object_set(f.element, "output-range", "", "model", paths[HD], NULL);
    while (!push(&f, GST_MSECOND / 1000))
        g_usleep(1000);
    g_object_set(f.element, "model", "auto", NULL);
    while (push(&f, GST_MSECOND / 1000)) /* with the person model */
        g_usleep(1000);
    seconds(&f, 1);
    until_model(&f, SMALL, "start", FALSE);
    filter_stop(&f);
}
GST_END_TEST;

/* A run of the one that is tried takes minutes: frames come out meanwhile, with the mask of the
 * one at work, and a stop does not wait, either. */
GST_START_TEST(slow_one)
{
    struct filter f;
    gchar *best = paths[HD];

    here = 1 << PERSON | 1 << HD;
    begun = ended = 0;
    paths[HD] = slow;
    start(&f, "mode=mask device=cpu");
    seconds(&f, 2);
    while (!g_atomic_int_get(&begun)) {
        push(&f, GST_MSECOND / 1000);
        g_usleep(1000);
    }
    for (guint i = 0; i < 20; i++) {
        fail_unless(!push(&f, GST_MSECOND / 1000));
        g_usleep(1000); /* for a part of the other one */
    }
    fail_unless_equals_int(g_atomic_int_get(&ended), 0);
    expect_model(&f, PERSON);
    filter_expect_no_error(&f);
    filter_stop(&f);
    paths[HD] = best;
}
GST_END_TEST;

/* The second of two streams on one device gets what the first one leaves. */
GST_START_TEST(two_streams)
{
    struct filter first, second;
    gint before;

    here = 1 << PERSON | 1 << HD;
    network_ns[HD] = 500 * MS;
    start(&first, "mode=mask");
    seconds(&first, 2);
    until_model(&first, HD, "start", FALSE);
    start(&second, "mode=mask");
    before = g_atomic_int_get(&refused);
    seconds(&second, 2);
    until_refused(&second, before + 1);
    seconds(&second, 5); /* the beginning is over */
    expect_model(&second, PERSON);
    filter_stop(&first); /* all of it when it is gone */
    seconds(&second, 60);
    until_model(&second, HD, "room", FALSE);
    filter_expect_no_error(&second);
    filter_stop(&second);
}
GST_END_TEST;

/* The person model has to do where there is no other one, or the mode has no mask. */
GST_START_TEST(person_alone)
{
    static const gchar *const modes[] = { "mode=mask", "mode=picture" };
    struct filter f;

    here = __i__ ? ALL : 1 << PERSON;
    start(&f, modes[__i__]);
    seconds(&f, 40);
    fail_unless(filter_message(&f, GST_MESSAGE_ELEMENT) == NULL);
    expect_model(&f, PERSON);
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* ----------------------------------------------------------------------- all */

static Suite *suite(void)
{
    Suite *s = suite_create("ladder");
    TCase *tc = tcase_create("ladder");

    tcase_set_timeout(tc, 600);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, gpu);
    tcase_add_test(tc, weak_gpu);
    tcase_add_test(tc, two_cores);
    tcase_add_test(tc, many_cores);
    tcase_add_test(tc, missing);
    tcase_add_loop_test(tc, falling, 0, G_N_ELEMENTS(falls));
    tcase_add_test(tc, lateness);
    tcase_add_test(tc, no_flapping);
    tcase_add_test(tc, runs);
    tcase_add_test(tc, beside_others);
    tcase_add_test(tc, up_and_down);
    tcase_add_test(tc, property_meanwhile);
    tcase_add_test(tc, two_streams);
    tcase_add_test(tc, slow_one);
    tcase_add_loop_test(tc, person_alone, 0, 2);
    return s;
}

/* A network without weights: the first channel of 16x16 px. */
static gchar *write_model(const gchar *name)
{
    g_autofree gchar *text = g_strdup_printf("%s/%s.param", folder, name);
    g_autofree gchar *weights = g_strdup_printf("%s/%s.bin", folder, name);

    if (!g_file_set_contents(text,
                             "7767517\n2 2\nInput in 0 1 data 0=16 1=16 2=3\n"
                             "Crop red 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=1\n",
                             -1, NULL) ||
        !g_file_set_contents(weights, "", 0, NULL))
        return NULL;
    return g_steal_pointer(&text);
}

/* One with thousands of means of 31x31 of 256x256 px. */
static gchar *write_slow_model(void)
{
    enum { LAYERS = 2000 };
    g_autofree gchar *path = write_model("slow");
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_printf(text,
                    "7767517\n%d %d\nInput in 0 1 data 0=256 1=256 2=3\n"
                    "Crop red 1 1 data b0 0=0 1=0 2=0 3=0 4=0 5=1\n",
                    LAYERS + 2, LAYERS + 2);
    for (guint i = 0; i < LAYERS; i++)
        g_string_append_printf(text, "Pooling p%u 1 1 b%u b%u 0=1 1=31 3=15 5=1\n", i, i, i + 1);
    return path && g_file_set_contents(path, text->str, -1, NULL) ? g_steal_pointer(&path) : NULL;
}

int main(int argc, char **argv)
{
    gchar *weights[3];
    int result;

    folder = g_dir_make_tmp("tdl-ladder-XXXXXX", NULL);
    paths[SMALL] = write_model("small");
    paths[MATTING] = g_build_filename(folder, "missing.param", NULL);
    paths[HD] = write_model("best");
    slow = write_slow_model();
    weights[0] = g_build_filename(folder, "small.bin", NULL);
    weights[1] = g_build_filename(folder, "best.bin", NULL);
    weights[2] = g_build_filename(folder, "slow.bin", NULL);
    gst_init(&argc, &argv);
    GST_PLUGIN_STATIC_REGISTER(tdlfilter);
    result = util_main_one_device(argc, argv, suite(), "ladder");
    for (guint i = 0; i < G_N_ELEMENTS(weights); i++)
        g_unlink(weights[i]), g_free(weights[i]);
    g_unlink(slow);
    g_free(slow);
    for (gint i = SMALL; i <= HD; i++) {
        g_unlink(paths[i]);
        g_free(paths[i]);
    }
    g_rmdir(folder);
    g_free(folder);
    return result;
}
