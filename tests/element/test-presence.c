/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element message tdl-presence: somebody who comes, goes for a moment, comes back and
 * goes. The network takes the red channel for the mask, and is written as ncnn's text. */
#include "util.h"

#include <glib/gstdio.h>

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"
#define AT(frame) (gst_util_uint64_scale(frame, GST_SECOND, 30))
#define SHIFT (10 * GST_SECOND) /* from running times to timestamps */

static gchar *folder;

static void start(struct filter *f, const gchar *properties)
{
    g_autofree gchar *path = g_strdup_printf("%s/red.param", folder);
    g_autofree gchar *weights = g_strdup_printf("%s/red.bin", folder);
    g_autofree gchar *line = g_strdup_printf(
        "model=%s model-size=16x16 presence=true presence-delay=500 %s", path, properties);
    GstSegment segment;

    fail_unless(g_file_set_contents(path, "7767517\n2 2\nInput in 0 1 data 0=16 1=16 2=3\n"
                                          "Crop red 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=1\n",
                                    -1, NULL));
    fail_unless(g_file_set_contents(weights, "", 0, NULL));
    filter_start(f, line, CAPS);
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = SHIFT;
    fail_unless(gst_harness_push_event(f->harness, gst_event_new_segment(&segment)));
}

/* A grey room; with somebody, a quarter of it. */
static void push(struct filter *f, guint frame, gboolean somebody, gboolean timed)
{
    GstVideoInfo info;
    GstBuffer *buffer;
    GstMapInfo map;

    caps_info(CAPS, &info);
    buffer = picture_new_color(&info, 0xff404040);
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    for (guint y = 12; y < 36 && somebody; y++)
        for (guint x = 16; x < 48; x++)
            map.data[y * (guint)info.stride[0] + 3 * x] = 250;
    gst_buffer_unmap(buffer, &map);
    if (timed)
        GST_BUFFER_PTS(buffer) = SHIFT + AT(frame);
    gst_buffer_unref(filter_run(f, buffer));
}

/* The next message; FALSE: there is none. */
static gboolean take(struct filter *f, gboolean *present, gdouble *share, GstClockTime *running,
                     GstClockTime *timestamp)
{
    GstMessage *message;
    gboolean ok = FALSE;

    while (!ok && (message = gst_bus_pop_filtered(f->bus, GST_MESSAGE_ELEMENT))) {
        const GstStructure *s = gst_message_get_structure(message);

        ok = gst_structure_has_name(s, "tdl-presence") &&
             gst_structure_get(s, "present", G_TYPE_BOOLEAN, present, "share", G_TYPE_DOUBLE,
                               share, "running-time", GST_TYPE_CLOCK_TIME, running, "timestamp",
                               GST_TYPE_CLOCK_TIME, timestamp, NULL);
        gst_message_unref(message);
    }
    return ok;
}

static void expect(struct filter *f, gboolean present, guint frame, guint slack, gdouble share,
                   gboolean timed)
{
    GstClockTime running, timestamp;
    gboolean got;
    gdouble seen;

    fail_unless(take(f, &got, &seen, &running, &timestamp), "nothing is said (%d)", present);
    fail_unless_equals_int(got, present);
    fail_unless(running + 1000 >= AT(frame) && running <= AT(frame + slack) + 1000,
                "said of %" GST_TIME_FORMAT ", not of frame %u", GST_TIME_ARGS(running), frame);
    fail_unless(ABS(seen - (present ? share : 0)) < 0.05, "a share of %f", seen);
    fail_unless(timestamp == (timed ? running + SHIFT : GST_CLOCK_TIME_NONE));
}

static void expect_nothing(struct filter *f)
{
    GstClockTime running, timestamp;
    gboolean present;
    gdouble share;

    fail_if(take(f, &present, &share, &running, &timestamp), "present %d at %" GST_TIME_FORMAT,
            present, GST_TIME_ARGS(running));
}

/* With slack, which frames the network runs on is a matter of time. */
static const struct {
    const gchar *properties;
    guint slack;
    gboolean untimed, none;
} rows[] = {
    { "mode=blur" },
    { "mode=blur smoothing=0.9 invert=true threshold=0.9" },
    { "mode=overlay interval=3" },
    { "mode=replace latency-mode=freshest", .slack = 12 },
    { "mode=blur batch-size=0" },
    { "mode=passthrough" },
    { "mode=passthrough interval=5" },
    { "mode=blur input-fit=letterbox" },
    { "mode=blur input-fit=crop" },
    { "mode=blur", .untimed = TRUE },
    { "mode=blur presence-share=0.3", .none = TRUE },
    { "mode=blur presence-share=0" },
    { "mode=passthrough presence=false", .none = TRUE },
};

GST_START_TEST(comes_and_goes)
{
    const gboolean timed = !rows[__i__].untimed;
    const guint slack = rows[__i__].slack;
    struct filter f;
    GstStructure *stats = NULL;
    gboolean present = TRUE;
    gdouble share = -1;

    /* Each where the CPU computes, some of them in every run elsewhere. */
    if (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") && !util_in_turn(__i__, 3))
        return;
    start(&f, rows[__i__].properties);
    for (guint i = 0; i < 200; i++)
        push(&f, i, (i >= 30 && i < 90) || (i >= 100 && i < 150), timed);
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_eos()));
    if (!rows[__i__].none) {
        /* A first frame without a time is one frame behind 0. */
        expect(&f, TRUE, 30, slack + !timed, 0.25, timed);
        expect(&f, FALSE, 150, slack + !timed, 0.25, timed);
    }
    expect_nothing(&f);
    g_object_get(f.element, "stats", &stats, NULL);
    fail_unless(gst_structure_get(stats, "present", G_TYPE_BOOLEAN, &present, "share",
                                  G_TYPE_DOUBLE, &share, NULL));
    fail_unless(!present && share == 0, "present %d, share %f", present, share);
    gst_structure_free(stats);
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* A change that is still being timed starts again behind a flush, and is not posted at the end. */
GST_START_TEST(flushed)
{
    struct filter f;
    GstSegment segment;

    start(&f, "mode=blur");
    for (guint i = 0; i < 14; i++)
        push(&f, i, TRUE, TRUE);
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_flush_start()));
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_flush_stop(TRUE)));
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = SHIFT;
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_segment(&segment)));
    for (guint i = 10; i < 24; i++)
        push(&f, i, TRUE, TRUE);
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_eos()));
    expect_nothing(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* Switched on and off while frames flow; off, it is forgotten who is there. */
GST_START_TEST(switched)
{
    struct filter f;

    start(&f, "mode=passthrough presence-delay=0");
    for (guint i = 0; i < 9; i++) {
        g_object_set(f.element, "presence", i % 3 != 2, NULL);
        push(&f, i, TRUE, TRUE);
    }
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 6);
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_eos()));
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* Presence before it was switched off does not count when it is on again. */
GST_START_TEST(forgotten)
{
    struct filter f;

    start(&f, __i__ ? "mode=blur" : "mode=passthrough");
    for (guint i = 0; i < 50; i++) {
        g_object_set(f.element, "presence", i < 10 || i >= 40, NULL);
        push(&f, i, TRUE, TRUE);
    }
    fail_unless(gst_harness_push_event(f.harness, gst_event_new_eos()));
    expect_nothing(&f);
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("presence");
    TCase *tc = tcase_create("presence");

    tcase_set_timeout(tc, 600);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, comes_and_goes, 0, G_N_ELEMENTS(rows));
    tcase_add_test(tc, flushed);
    tcase_add_test(tc, switched);
    tcase_add_loop_test(tc, forgotten, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    g_autofree gchar *path = NULL, *weights = NULL;
    int result;

    folder = g_dir_make_tmp("tdl-presence-XXXXXX", NULL);
    path = g_strdup_printf("%s/red.param", folder);
    weights = g_strdup_printf("%s/red.bin", folder);
    result = util_main_one_device(argc, argv, suite(), "presence");
    g_unlink(path);
    g_unlink(weights);
    g_rmdir(folder);
    g_free(folder);
    return result;
}
