/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* max-interval and max-rate: what is judged of costs and late frames, in numbers that are
 * made up, and what the element makes of QoS events. No time is measured here: the caps
 * give the device a second for each frame. */
#include "frame/gsttdlload.h"
#include "util.h"

#include <glib/gstdio.h>
#include <sys/resource.h>

#define FRAME (GST_SECOND / 30)
#define MS 1000000

/* ------------------------------------------------------------------ judgements */

static struct gst_tdl_load load;
static struct gst_tdl_live live;

static void begin(guint interval, guint max_interval)
{
    gst_tdl_load_init(&load);
    live = (struct gst_tdl_live){ .interval = interval, .max_interval = max_interval };
}

/* `times` judgements, of which the last one says `reason`, and those before nothing. */
static void judge(guint times, guint64 network, gboolean late, const gchar *reason, guint interval)
{
    const struct gst_tdl_cost cost = { .picture = network ? MS : 0, .network = network,
                                       .frame = network ? 4 * MS : 0 };

    for (guint i = 1; i <= times; i++) {
        const gchar *got = gst_tdl_load_judge(&load, &live, &cost, FRAME, late);

        fail_unless(!g_strcmp0(got, i == times ? reason : NULL), "judgement %u: %s, not %s", i, got,
                    reason);
    }
    fail_unless_equals_int(gst_tdl_load_interval(&load, &live), interval);
}

/* A frame has 33.3 ms: of these 30 are too many, and less than 23.3 are room. */
GST_START_TEST(costs)
{
    begin(1, 8);
    judge(5, 20 * MS, FALSE, NULL, 1);  /* 25 ms */
    judge(1, 59 * MS, FALSE, "busy", 2); /* 34 ms with two */
    judge(1, 59 * MS, FALSE, "busy", 3); /* 24 */
    judge(9, 59 * MS, FALSE, NULL, 3);
    judge(3, 29 * MS, FALSE, "room", 2); /* 19 ms with two */
    judge(9, 29 * MS, FALSE, NULL, 2);
    judge(2, 9 * MS, FALSE, NULL, 2);
    judge(1, 29 * MS, FALSE, NULL, 2); /* three in a row */
    judge(3, 9 * MS, FALSE, "room", 1);
    judge(9, 9 * MS, FALSE, NULL, 1);
}
GST_END_TEST;

/* A device without timestamps is judged by late frames alone; the patience grows. */
GST_START_TEST(lateness)
{
    begin(1, 3);
    judge(1, 0, TRUE, "late", 2);
    judge(1, 0, TRUE, "late", 3);
    judge(4, 0, TRUE, NULL, 3);
    judge(3, 0, FALSE, "room", 2);
    judge(1, 0, TRUE, "late", 3); /* too hopeful */
    judge(6, 0, FALSE, "room", 2);
    judge(6, 0, FALSE, "room", 1);
    judge(9, 0, FALSE, NULL, 1);
}
GST_END_TEST;

GST_START_TEST(bounds)
{
    begin(1, 1);
    judge(5, 90 * MS, TRUE, NULL, 1);
    begin(2, 4);
    judge(1, 0, TRUE, "late", 3);
    judge(3, 0, FALSE, "room", 2);
    judge(9, 0, FALSE, NULL, 2);
    judge(1, 0, TRUE, "late", 3);
    live.max_interval = 1; /* changed while it plays */
    fail_unless_equals_int(gst_tdl_load_interval(&load, &live), 2);
    judge(5, 0, TRUE, NULL, 2);
}
GST_END_TEST;

static const struct {
    gfloat rate;
    guint runs; /* in 90 frames, of 30 in a second */
} rates[] = { { 0, 90 }, { 30, 90 }, { 10, 30 }, { 15, 45 }, { 20, 60 }, { 25, 75 },
            { 29.9f, 89 }, { 0.5, 2 }, { 100, 90 } };

GST_START_TEST(rate)
{
    guint runs = 0;

    begin(1, 1);
    live.max_rate = rates[__i__].rate;
    for (guint i = 0; i < 90; i++) {
        const GstClockTime now = gst_util_uint64_scale(i, GST_SECOND, 30);

        if (!gst_tdl_load_may_run(&load, &live, now))
            continue;
        gst_tdl_load_ran(&load, &live, now);
        runs++;
    }
    fail_unless_equals_int(runs, rates[__i__].runs);
    fail_unless(gst_tdl_load_may_run(&load, &live, 0), "time has gone back");
}
GST_END_TEST;

/* ------------------------------------------------------------------ the element */

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=1/1"

static gchar *folder;

static void start(struct filter *f, const gchar *properties)
{
    g_autofree gchar *path = g_strdup_printf("%s/red.param", folder);
    g_autofree gchar *weights = g_strdup_printf("%s/red.bin", folder);
    g_autofree gchar *line =
        g_strdup_printf("qos=false model=%s model-size=16x16 %s", path, properties);

    fail_unless(g_file_set_contents(path, "7767517\n2 2\nInput in 0 1 data 0=16 1=16 2=3\n"
                                          "Crop red 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=1\n",
                                    -1, NULL));
    fail_unless(g_file_set_contents(weights, "", 0, NULL));
    filter_start(f, line, CAPS);
}

/* Ten frames in a second, from one to the other. */
static void push(struct filter *f, guint first_frame, guint last_frame)
{
    GstVideoInfo info;

    caps_info(CAPS, &info);
    for (guint i = first_frame; i <= last_frame; i++) {
        GstBuffer *buffer = picture_new_color(&info, 0xff404040);

        GST_BUFFER_PTS(buffer) = i * GST_SECOND / 10;
        gst_buffer_unref(filter_run(f, buffer));
    }
}

static void say_late(struct filter *f, GstQOSType type, gdouble proportion)
{
    fail_unless(gst_harness_push_upstream_event(
        f->harness, gst_event_new_qos(type, proportion, GST_SECOND / 10, 0)));
}

static void expect_load(struct filter *f, guint interval, const gchar *reason)
{
    GstMessage *message = filter_message(f, GST_MESSAGE_ELEMENT);
    GstStructure *stats = NULL;
    guint got = 0;

    fail_unless((message != NULL) == (reason != NULL), "%s, not %s", message ? "said" : "silent",
                reason);
    if (message) {
        const GstStructure *s = gst_message_get_structure(message);

        fail_unless(gst_structure_has_name(s, "tdl-load"));
        fail_unless_equals_string(gst_structure_get_string(s, "reason"), reason);
        fail_unless(gst_structure_get_uint(s, "interval", &got) && got == interval);
        gst_message_unref(message);
    }
    g_object_get(f->element, "stats", &stats, NULL);
    fail_unless(gst_structure_get_uint(stats, "interval", &got));
    fail_unless_equals_int(got, interval);
    gst_structure_free(stats);
}

GST_START_TEST(late_frames)
{
    struct filter f;

    start(&f, "mode=blur max-interval=3");
    filter_message(&f, GST_MESSAGE_ELEMENT);
    push(&f, 0, 4);
    say_late(&f, GST_QOS_TYPE_UNDERFLOW, 1.5);
    push(&f, 5, 9);
    expect_load(&f, 1, NULL); /* a second is not over */
    push(&f, 10, 10);
    expect_load(&f, 2, "late");
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 11);
    say_late(&f, GST_QOS_TYPE_THROTTLE, 2); /* nobody was late */
    say_late(&f, GST_QOS_TYPE_OVERFLOW, 0.5);
    push(&f, 11, 20);
    expect_load(&f, 2, NULL);
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 16); /* every other one */
    push(&f, 21, 39);
    expect_load(&f, 2, NULL);
    push(&f, 40, 40);
    expect_load(&f, 1, "room");
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

GST_START_TEST(off)
{
    struct filter f;

    start(&f, "mode=blur");
    for (guint second = 0; second < 3; second++) {
        say_late(&f, GST_QOS_TYPE_UNDERFLOW, 2);
        push(&f, 10 * second, 10 * second + 9);
    }
    expect_load(&f, 1, NULL);
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 30);
    filter_stop(&f);
}
GST_END_TEST;

GST_START_TEST(rate_of_runs)
{
    static const gchar *const modes[] = { "mode=blur", "mode=passthrough presence=true",
                                          "mode=blur interval=2" };
    struct filter f;
    g_autofree gchar *properties = g_strdup_printf("%s max-rate=2", modes[__i__]);

    start(&f, properties);
    push(&f, 0, 20);
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 5);
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_gap(0, GST_MSECOND)));
    push(&f, 21, 21); /* at once */
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 6);
    g_object_set(f.element, "max-rate", 0.0f, "interval", 1, NULL);
    push(&f, 22, 25);
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 10);
    filter_stop(&f);
}
GST_END_TEST;

/* ----------------------------------------------------------------- long runs */

static gdouble seconds_used(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (gdouble)usage.ru_utime.tv_sec + (gdouble)usage.ru_utime.tv_usec / 1e6;
}

/* A network whose run takes minutes: whoever stops the pipeline does not wait for it. Here
 * while the network is tried for the first time, before any frame. */
GST_START_TEST(stopped_in_a_run)
{
    enum { PICTURE = 2000, WINDOW = 1001, LAYERS = 100 };
    g_autofree gchar *path = g_strdup_printf("%s/long.param", folder);
    g_autofree gchar *weights = g_strdup_printf("%s/long.bin", folder);
    GString *text = g_string_new("7767517\n");
    g_autofree gchar *line = g_strdup_printf("videotestsrc ! video/x-raw,width=64,height=64 ! "
                                             "tdlfilter device=cpu model=%s ! fakesink", path);
    GstElement *pipeline;
    gdouble from;

    g_string_append_printf(text, "%d %d\nInput in 0 1 data 0=%d 1=%d 2=3\n"
                                 "Crop red 1 1 data v0 0=0 1=0 2=0 3=0 4=0 5=1\n",
                           LAYERS + 2, LAYERS + 2, PICTURE, PICTURE);
    for (int i = 0; i < LAYERS; i++)
        g_string_append_printf(text, "Pooling p%d 1 1 v%d v%d 0=1 1=%d 2=1 3=%d 5=1\n", i, i, i + 1,
                               WINDOW, WINDOW / 2);
    fail_unless(g_file_set_contents(path, text->str, -1, NULL));
    fail_unless(g_file_set_contents(weights, "", 0, NULL));
    g_string_free(text, TRUE);
    pipeline = gst_parse_launch(line, NULL);
    fail_unless(pipeline != NULL);
    from = seconds_used();
    fail_unless_equals_int(gst_element_set_state(pipeline, GST_STATE_PLAYING),
                           GST_STATE_CHANGE_ASYNC);
    while (seconds_used() < from + 1) /* the run is what computes for so long */
        g_usleep(1000);
    fail_unless_equals_int(gst_element_set_state(pipeline, GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
    gst_object_unref(pipeline);
    g_unlink(path);
    g_unlink(weights);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("load");
    TCase *tc = tcase_create("load");

    tcase_set_timeout(tc, 600);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, costs);
    tcase_add_test(tc, lateness);
    tcase_add_test(tc, bounds);
    tcase_add_loop_test(tc, rate, 0, G_N_ELEMENTS(rates));
    tcase_add_test(tc, late_frames);
    tcase_add_test(tc, off);
    tcase_add_loop_test(tc, rate_of_runs, 0, 3);
    tcase_add_test(tc, stopped_in_a_run);
    return s;
}

int main(int argc, char **argv)
{
    g_autofree gchar *path = NULL, *weights = NULL;
    int result;

    folder = g_dir_make_tmp("tdl-load-XXXXXX", NULL);
    path = g_strdup_printf("%s/red.param", folder);
    weights = g_strdup_printf("%s/red.bin", folder);
    result = util_main_one_device(argc, argv, suite(), "load");
    g_unlink(path);
    g_unlink(weights);
    g_rmdir(folder);
    g_free(folder);
    return result;
}
