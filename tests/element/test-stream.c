/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams: renegotiation, flush, seek, the end with frames in flight, latency,
 * QoS, interval, several elements, stop and start again. */
#include "util.h"

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"

/* --------------------------------------------------------- renegotiation */

static const char *const streams[] = {
    "video/x-raw,format=NV12,width=64,height=48,framerate=30/1",
    "video/x-raw,format=NV12,width=130,height=34,framerate=30/1",
    "video/x-raw,format=RGB,width=130,height=34,framerate=30/1",
    "video/x-raw,format=YUY2,width=37,height=23,framerate=30/1",
    "video/x-raw,format=I420,width=320,height=240,framerate=30/1",
    "video/x-raw,format=NV12,width=64,height=48,framerate=30/1",
};

/* All outputs are looked at after the last input went in, so that frames of
 * one size are in flight while the next is negotiated. */
GST_START_TEST(renegotiation_in_flight)
{
    struct filter filter;
    GstBuffer *inputs[2 * G_N_ELEMENTS(streams)];
    GstVideoInfo info;

    filter_start(&filter, "mode=overlay opacity=0", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
        gst_harness_set_src_caps_str(filter.harness, streams[i]);
        caps_info(streams[i], &info);
        for (guint k = 0; k < 2; k++) {
            inputs[2 * i + k] = picture_new(&info, i + k);
            fail_unless_equals_int(
                gst_harness_push(filter.harness, gst_buffer_ref(inputs[2 * i + k])), GST_FLOW_OK);
        }
    }
    fail_unless_equals_int(gst_harness_buffers_in_queue(filter.harness), G_N_ELEMENTS(inputs));
    for (guint i = 0; i < G_N_ELEMENTS(inputs); i++) {
        GstBuffer *output = gst_harness_pull(filter.harness);

        caps_info(streams[i / 2], &info);
        picture_compare(output, inputs[i], &info, 2, "renegotiated");
        gst_buffer_unref(output);
        gst_buffer_unref(inputs[i]);
    }
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* ------------------------------------------------------------------- masks */

static GstBuffer *portrait(void)
{
    g_autofree gchar *path =
        g_build_filename(g_getenv("TDL_TEST_DATA"), "grace_hopper.256.rgb", NULL);
    gchar *data;
    gsize size;

    fail_unless(g_file_get_contents(path, &data, &size, NULL), "cannot read %s", path);
    return gst_buffer_new_wrapped(data, size);
}

static GstBuffer *blank(void)
{
    return gst_buffer_new_wrapped(g_malloc0(256 * 256 * 3), 256 * 256 * 3);
}

/* Share of the picture that is foreground; takes the buffer. */
static gdouble foreground(GstBuffer *mask)
{
    GstMapInfo map;
    guint64 sum = 0;

    fail_unless(gst_buffer_map(mask, &map, GST_MAP_READ));
    for (gsize i = 0; i < map.size; i++)
        sum += map.data[i];
    gst_buffer_unmap(mask, &map);
    gst_buffer_unref(mask);
    return sum / 255.0 / (256 * 256);
}

#define RGB "video/x-raw,format=RGB,width=256,height=256,framerate=30/1"
#define PERSON 0.2 /* more foreground than this: a person is seen */
#define NOBODY 0.02

GST_START_TEST(exact_masks_belong_to_their_frames)
{
    struct filter filter;

    filter_start(&filter, "mode=mask smoothing=0", RGB);
    for (guint i = 0; i < 4; i++) {
        gdouble share = foreground(filter_run(&filter, i % 2 ? blank() : portrait()));

        fail_unless(i % 2 ? share < NOBODY : share > PERSON, "frame %u: %f", i, share);
    }
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), 4);
    filter_stop(&filter);
}
GST_END_TEST;

/* Waits for all queued work: elements here share one device and queue, so work that is queued last
 * is done last. */
static void finish_all_work(void)
{
    struct filter other;
    GstBuffer *output;
    GstMapInfo map;

    filter_start(&other, "mode=mask", RGB);
    output = filter_run(&other, blank());
    fail_unless(gst_buffer_map(output, &map, GST_MAP_READ)); /* waits for the frame */
    gst_buffer_unmap(output, &map);
    gst_buffer_unref(output);
    filter_stop(&other);
}

/* Frame n is composed before the network has seen it: a person that leaves is
 * seen one frame longer, and no frame is held up or lost. */
GST_START_TEST(freshest_masks_are_one_frame_old)
{
    struct filter filter;
    gdouble share;

    filter_start(&filter, "mode=mask smoothing=0 latency-mode=freshest", RGB);
    share = foreground(filter_run(&filter, portrait()));
    fail_unless(share > PERSON, "the first frame has its own mask: %f", share);
    share = foreground(filter_run(&filter, blank()));
    fail_unless(share > PERSON, "the second has the first one's: %f", share);
    finish_all_work();
    share = foreground(filter_run(&filter, portrait()));
    fail_unless(share < NOBODY, "the third has the second one's: %f", share);
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), 3);
    fail_unless_equals_uint64(filter_stat(&filter, "frames"), 3);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(interval)
{
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=blur interval=3", CAPS);
    for (guint i = 0; i < 10; i++)
        gst_buffer_unref(filter_run(&filter, picture_new(&info, i)));
    fail_unless_equals_uint64(filter_stat(&filter, "frames"), 10);
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), 4); /* 0, 3, 6, 9 */
    filter_stop(&filter);
}
GST_END_TEST;

/* The frames between keep the mask of the network's last run. */
GST_START_TEST(interval_keeps_the_mask)
{
    struct filter filter;
    gdouble share;

    filter_start(&filter, "mode=mask smoothing=0 interval=2", RGB);
    share = foreground(filter_run(&filter, portrait()));
    fail_unless(share > PERSON, "%f", share);
    share = foreground(filter_run(&filter, blank()));
    fail_unless(share > PERSON, "kept: %f", share);
    share = foreground(filter_run(&filter, blank()));
    fail_unless(share < NOBODY, "run again: %f", share);
    filter_stop(&filter);
}
GST_END_TEST;

/* A frame behind a break does not wear the outline of before. With `forgets`,
 * smoothing does not bring that back, either. */
static const struct {
    const char *what;
    gboolean discont, segment, gap, forgets, follows;
    guint64 ms; /* time of the second frame; the first one's is 0 */
} breaks[] = {
    { "the next frame", .follows = TRUE, .ms = 33 },
    { "a slow frame", .follows = TRUE, .ms = 400 },
    { "DISCONT", .discont = TRUE, .ms = 33 },
    { "a new segment", .segment = TRUE, .forgets = TRUE, .ms = 33 },
    { "a gap event", .gap = TRUE, .forgets = TRUE, .ms = 33 },
    { "a gap in time", .forgets = TRUE, .ms = 2000 },
};

static GstBuffer *at(GstBuffer *buffer, guint64 ms)
{
    GST_BUFFER_PTS(buffer) = ms * GST_MSECOND;
    return buffer;
}

static void make_break(struct filter *filter, gsize row)
{
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    if (breaks[row].segment)
        fail_unless(gst_harness_push_event(filter->harness, gst_event_new_segment(&segment)));
    if (breaks[row].gap)
        fail_unless(gst_harness_push_event(filter->harness, gst_event_new_gap(0, GST_MSECOND)));
}

GST_START_TEST(breaks_run_the_network)
{
    const gsize row = __i__ / 2;
    const guint64 runs = breaks[row].follows ? 1 : 2;
    struct filter filter;
    GstBuffer *input;
    gdouble share;

    filter_start(&filter, __i__ % 2 ? "mode=mask interval=100 latency-mode=freshest"
                                    : "mode=mask interval=100", RGB);
    g_object_set(filter.element, "smoothing", breaks[row].forgets ? 0.9f : 0.0f, NULL);
    share = foreground(filter_run(&filter, at(portrait(), 0)));
    fail_unless(share > PERSON, "%f", share);
    make_break(&filter, row);
    input = at(blank(), breaks[row].ms);
    if (breaks[row].discont)
        GST_BUFFER_FLAG_SET(input, GST_BUFFER_FLAG_DISCONT);
    share = foreground(filter_run(&filter, input));
    fail_unless(breaks[row].follows ? share > PERSON : share < NOBODY, "%s: %f", breaks[row].what,
                share);
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), runs);
    gst_buffer_unref(filter_run(&filter, at(blank(), breaks[row].ms + 33)));
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), runs); /* once is enough */
    filter_stop(&filter);
}
GST_END_TEST;

/* The portrait under noise of its own. */
static GstBuffer *noisy_portrait(guint32 seed, GstClockTime pts)
{
    GRand *rand = g_rand_new_with_seed(seed);
    GstBuffer *buffer = portrait();
    GstMapInfo map;

    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READWRITE));
    for (gsize i = 0; i < map.size; i++)
        map.data[i] = CLAMP(map.data[i] + g_rand_int_range(rand, -12, 13), 0, 255);
    gst_buffer_unmap(buffer, &map);
    g_rand_free(rand);
    GST_BUFFER_PTS(buffer) = pts;
    return buffer;
}

static GstBuffer *second_mask(const gchar *properties, GstClockTime later)
{
    struct filter filter;
    GstBuffer *mask;

    filter_start(&filter, properties, RGB);
    gst_buffer_unref(filter_run(&filter, noisy_portrait(1, 0)));
    mask = filter_run(&filter, noisy_portrait(2, later));
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    return mask;
}

static guint64 difference(GstBuffer *a, GstBuffer *b)
{
    GstMapInfo one, other;
    guint64 sum = 0;

    fail_unless(gst_buffer_map(a, &one, GST_MAP_READ) && gst_buffer_map(b, &other, GST_MAP_READ));
    fail_unless_equals_uint64(one.size, other.size);
    for (gsize i = 0; i < one.size; i++)
        sum += ABS(one.data[i] - other.data[i]);
    gst_buffer_unmap(a, &one);
    gst_buffer_unmap(b, &other);
    gst_buffer_unref(b);
    return sum;
}

/* The previous mask counts by the time that has passed, not by frames. */
GST_START_TEST(smoothing_goes_by_time)
{
    GstBuffer *plain = second_mask("mode=mask smoothing=0", GST_SECOND / 30);
    guint64 at_60 = difference(plain, second_mask("mode=mask smoothing=0.6", GST_SECOND / 60));
    guint64 at_15 = difference(plain, second_mask("mode=mask smoothing=0.6", GST_SECOND / 15));
    guint64 late = difference(plain, second_mask("mode=mask smoothing=0.6", 100 * GST_SECOND));

    fail_unless(at_15 > 1000, "nothing was smoothed: %" G_GUINT64_FORMAT, at_15);
    fail_unless(at_60 > at_15 + at_15 / 4, "%" G_GUINT64_FORMAT " after 1/60 s, %" G_GUINT64_FORMAT
                " after 1/15 s", at_60, at_15);
    fail_unless_equals_uint64(late, 0);
    gst_buffer_unref(plain);
}
GST_END_TEST;

/* A flush forgets what is kept between frames: with both interval and smoothing, the next frame has
 * a mask of its own. */
GST_START_TEST(flush_forgets)
{
    struct filter filter;
    GstSegment segment;
    gdouble share;

    filter_start(&filter, "mode=mask smoothing=0.9 interval=100", RGB);
    share = foreground(filter_run(&filter, portrait()));
    fail_unless(share > PERSON, "%f", share);
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_flush_start()));
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_flush_stop(TRUE)));
    gst_segment_init(&segment, GST_FORMAT_TIME);
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_segment(&segment)));
    share = foreground(filter_run(&filter, blank()));
    fail_unless(share < NOBODY, "after the flush: %f", share);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* --------------------------------------------------------- latency and QoS */

GST_START_TEST(latency)
{
    struct filter filter;
    GstClockTime exact, freshest;
    GstMessage *message;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, "", CAPS);
    gst_harness_set_upstream_latency(filter.harness, 10 * GST_MSECOND);
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    exact = gst_harness_query_latency(filter.harness);
    fail_unless(exact > 10 * GST_MSECOND && exact < 10 * GST_SECOND, "%" GST_TIME_FORMAT,
                GST_TIME_ARGS(exact));
    message = filter_message(&filter, GST_MESSAGE_LATENCY); /* drop messages of earlier changes */
    g_clear_pointer(&message, gst_message_unref);
    g_object_set(filter.element, "latency-mode", 1, NULL);
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    freshest = gst_harness_query_latency(filter.harness);
    fail_unless_equals_uint64(freshest, 10 * GST_MSECOND);
    message = filter_message(&filter, GST_MESSAGE_LATENCY);
    fail_unless(message != NULL, "the pipeline is not told");
    gst_message_unref(message);
    /* Nothing is waited for in this one, either, so there is no news. */
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "passthrough");
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    fail_unless_equals_uint64(gst_harness_query_latency(filter.harness), 10 * GST_MSECOND);
    fail_unless(filter_message(&filter, GST_MESSAGE_LATENCY) == NULL, "told of what is no news");
    filter_stop(&filter);
}
GST_END_TEST;

static GstBuffer *timed(const GstVideoInfo *info, guint i)
{
    GstBuffer *buffer = picture_new(info, i);

    GST_BUFFER_PTS(buffer) = i * GST_SECOND / 30;
    GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
    return buffer;
}

GST_START_TEST(qos_drops)
{
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, __i__ == 0 ? "" : "qos=false", CAPS);
    gst_buffer_unref(filter_run(&filter, timed(&info, 0)));
    fail_unless(gst_harness_push_upstream_event(
        filter.harness, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND / 10, 0)));
    for (guint i = 1; i < 12; i++)
        fail_unless_equals_int(gst_harness_push(filter.harness, timed(&info, i)), GST_FLOW_OK);
    if (__i__ == 0)
        fail_unless(filter_stat(&filter, "dropped") >= 3, "%" G_GUINT64_FORMAT,
                    filter_stat(&filter, "dropped"));
    else
        fail_unless_equals_uint64(filter_stat(&filter, "dropped"), 0);
    fail_unless_equals_uint64(filter_stat(&filter, "frames") + filter_stat(&filter, "dropped"), 12);
    filter_stop(&filter);
}
GST_END_TEST;

/* --------------------------------------------------------------- pipelines */

struct run {
    GstElement *pipeline;
    gint frames;
};

static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    GstMapInfo map;

    (void)pad;
    fail_unless(gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ));
    gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
    g_atomic_int_inc((gint *)data);
    return GST_PAD_PROBE_OK;
}

static void run_start(struct run *run, const char *line)
{
    GstElement *sink;
    GstPad *pad;

    run->frames = 0;
    run->pipeline = gst_parse_launch(line, NULL);
    sink = gst_bin_get_by_name(GST_BIN(run->pipeline), "sink");
    pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, &run->frames, NULL);
    gst_object_unref(pad);
    gst_object_unref(sink);
}

static void run_until_frames(struct run *run, gint frames)
{
    while (g_atomic_int_get(&run->frames) < frames) /* or the time limit of the test */
        g_usleep(1000);
}

static void run_stop(struct run *run)
{
    fail_unless_equals_int(gst_element_set_state(run->pipeline, GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
    gst_object_unref(run->pipeline);
}

#define SOURCE "videotestsrc num-buffers=30 ! " CAPS " ! "

GST_START_TEST(end_with_frames_in_flight)
{
    struct run run;

    run_start(&run, SOURCE "tdlfilter mode=blur ! fakesink name=sink");
    pipeline_play_to_end(run.pipeline);
    fail_unless_equals_int(run.frames, 30);
    run_stop(&run);
}
GST_END_TEST;

GST_START_TEST(seek)
{
    struct run run;

    run_start(&run, "videotestsrc ! " CAPS " ! tdlfilter mode=overlay ! fakesink name=sink");
    gst_element_set_state(run.pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int(gst_element_get_state(run.pipeline, NULL, NULL, UTIL_HANG),
                           GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(run.pipeline, GST_STATE_PLAYING);
    for (guint i = 0; i < 5; i++) {
        run_until_frames(&run, g_atomic_int_get(&run.frames) + 1);
        fail_unless(gst_element_seek(run.pipeline, 1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                     GST_SEEK_TYPE_SET, i * GST_SECOND, GST_SEEK_TYPE_SET,
                                     (i + 1) * GST_SECOND));
    }
    pipeline_play_to_end(run.pipeline);
    fail_unless(run.frames >= 30, "%d", run.frames);
    run_stop(&run);
}
GST_END_TEST;

GST_START_TEST(again_and_again)
{
    struct run run;

    run_start(&run, SOURCE "tdlfilter mode=mask ! fakesink name=sink");
    for (guint i = 0; i < 4; i++) {
        run.frames = 0;
        pipeline_play_to_end(run.pipeline);
        fail_unless_equals_int(run.frames, 30);
        gst_element_set_state(run.pipeline, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
    }
    run_stop(&run);
}
GST_END_TEST;

/* Stopped in the middle, with everything in flight. */
GST_START_TEST(stop_in_the_middle)
{
    for (guint i = 0; i < 3; i++) {
        struct run run;

        run_start(&run, "videotestsrc ! " CAPS " ! tdlfilter mode=blur latency-mode=freshest ! "
                        "queue ! fakesink name=sink");
        gst_element_set_state(run.pipeline, GST_STATE_PLAYING);
        gst_element_get_state(run.pipeline, NULL, NULL, UTIL_HANG);
        run_until_frames(&run, 2 * i);
        run_stop(&run);
    }
}
GST_END_TEST;

static gint devices_opened;

static void on_log(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                   const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                   gpointer data)
{
    (void)level, (void)file, (void)function, (void)line, (void)object, (void)data;
    if (!strcmp(gst_debug_category_get_name(category), "tdl") &&
        g_str_has_prefix(gst_debug_message_get(message), "using "))
        g_atomic_int_inc(&devices_opened);
}

/* Two branches see the same frames, a third one comes behind: one device,
 * opened once, and nobody disturbs the others. */
GST_START_TEST(several_in_one_pipeline)
{
    g_autofree gchar *text = NULL;
    GstElement *filters[3];
    struct run run;

    util_drop_device();
    gst_debug_add_log_function(on_log, NULL, NULL);
    gst_debug_set_threshold_for_name("tdl", GST_LEVEL_INFO);
    /* The third asks for the same one by another name. */
    text = g_strdup_printf(SOURCE "tee name=t ! queue ! tdlfilter name=f0 mode=blur ! "
                                  "tdlfilter name=f1 mode=mask ! fakesink name=sink "
                                  "t. ! queue ! tdlfilter name=f2 device=%s mode=alpha ! fakesink",
                           g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") ? "0" : "cpu");
    run_start(&run, text);
    pipeline_play_to_end(run.pipeline);
    fail_unless_equals_int(run.frames, 30);
    for (guint i = 0; i < 3; i++) {
        g_autofree gchar *name = g_strdup_printf("f%u", i);
        GstStructure *stats;
        guint64 frames, copied;

        filters[i] = gst_bin_get_by_name(GST_BIN(run.pipeline), name);
        g_object_get(filters[i], "stats", &stats, NULL);
        fail_unless(gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "cpu-copied-bytes",
                                      G_TYPE_UINT64, &copied, NULL));
        fail_unless_equals_uint64(frames, 30);
        if (i == 1)
            fail_unless_equals_uint64(copied, 0);
        gst_structure_free(stats);
        gst_object_unref(filters[i]);
    }
    fail_unless_equals_int(devices_opened, 1);
    run_stop(&run);
    gst_debug_remove_log_function(on_log);
}
GST_END_TEST;

/* Programs and files send frames in a segment of bytes, without times. A
 * complaint of GStreamer's fails the test. */
GST_START_TEST(segment_of_bytes)
{
    struct filter filter;
    GstVideoInfo info;
    GstSegment segment;
    GstBuffer *output;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay", CAPS);
    gst_segment_init(&segment, GST_FORMAT_BYTES);
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_segment(&segment)));
    for (guint i = 0; i < 2; i++) {
        output = filter_run(&filter, picture_new(&info, i));
        fail_if(GST_BUFFER_PTS_IS_VALID(output));
        gst_buffer_unref(output);
    }
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("stream");
    TCase *tc = tcase_create("stream");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, renegotiation_in_flight);
    tcase_add_test(tc, exact_masks_belong_to_their_frames);
    tcase_add_test(tc, freshest_masks_are_one_frame_old);
    tcase_add_test(tc, interval);
    tcase_add_test(tc, interval_keeps_the_mask);
    tcase_add_loop_test(tc, breaks_run_the_network, 0, 2 * G_N_ELEMENTS(breaks));
    tcase_add_test(tc, smoothing_goes_by_time);
    tcase_add_test(tc, flush_forgets);
    tcase_add_test(tc, latency);
    tcase_add_loop_test(tc, qos_drops, 0, 2);
    tcase_add_test(tc, end_with_frames_in_flight);
    tcase_add_test(tc, seek);
    tcase_add_test(tc, segment_of_bytes);
    tcase_add_test(tc, again_and_again);
    tcase_add_test(tc, stop_in_the_middle);
    tcase_add_test(tc, several_in_one_pipeline);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "stream");
}
