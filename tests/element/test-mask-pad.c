/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The second source pad: the mask of each frame, beside it. */
#include "util.h"

#define CAPS "video/x-raw,format=RGB,width=256,height=256,framerate=30/1"

struct pair {
    struct filter filter;
    GstHarness *mask;
};

static void pair_start(struct pair *pair, const char *properties, const char *caps)
{
    filter_start(&pair->filter, properties, NULL);
    pair->mask = gst_harness_new_with_element(pair->filter.element, NULL, "mask_src");
    fail_unless(pair->mask != NULL, "no mask_src");
    gst_harness_set_src_caps_str(pair->filter.harness, caps);
}

static void pair_stop(struct pair *pair)
{
    gst_harness_teardown(pair->mask);
    filter_stop(&pair->filter);
}

/* A grey picture behind the portrait, whose mask has a share of the portrait's. */
static GstBuffer *run_second(struct filter *filter)
{
    GstBuffer *grey = picture_portrait(GST_SECOND / 30);

    gst_buffer_unref(filter_run(filter, picture_portrait(0)));
    gst_buffer_memset(grey, 0, 128, gst_buffer_get_size(grey));
    return filter_run(filter, grey);
}

/* Frames through mode=mask, the second one with `second`. */
static GstBuffer *expected_mask(const char *properties, gboolean second)
{
    g_autofree gchar *line = g_strdup_printf("%s mode=mask", properties);
    struct filter filter;
    GstBuffer *output, *copy;

    filter_start(&filter, line, CAPS);
    output = second ? run_second(&filter) : filter_run(&filter, picture_portrait(0));
    copy = gst_buffer_copy_deep(output);
    gst_buffer_unref(output);
    filter_stop(&filter);
    return copy;
}

/* The frame as ever, its mask as mode=mask has it, and the network runs once a
 * frame; smoothing takes the mask before in once, too. */
static const char *const modes[] = { "overlay", "blur", "replace", "alpha", "mask", "passthrough" };

GST_START_TEST(mask_beside_the_frame)
{
    static const char more[] = "threshold=0.4 feather=0.6 smoothing=0.6 invert=true";
    g_autofree gchar *line = g_strdup_printf("%s mode=%s", more, modes[__i__]);
    GstBuffer *expected, *alone, *frame, *mask;
    struct filter single;
    GstVideoInfo info;
    struct pair pair;
    GstMapInfo a, b;

    if (!util_in_turn(__i__, 2))
        return;
    expected = expected_mask(more, TRUE);
    filter_start(&single, line, CAPS);
    alone = run_second(&single);
    pair_start(&pair, line, CAPS);
    frame = run_second(&pair.filter);
    fail_unless_equals_int(gst_harness_buffers_in_queue(pair.mask), 2);
    gst_buffer_unref(gst_harness_pull(pair.mask));
    mask = gst_harness_pull(pair.mask);
    caps_info("video/x-raw,format=GRAY8,width=256,height=256,framerate=30/1", &info);
    picture_compare(mask, expected, &info, 0, "the mask");
    fail_unless(gst_buffer_map(alone, &a, GST_MAP_READ) && gst_buffer_map(frame, &b, GST_MAP_READ));
    fail_unless(a.size == b.size && !memcmp(a.data, b.data, a.size), "the frame is another one");
    gst_buffer_unmap(alone, &a);
    gst_buffer_unmap(frame, &b);
    fail_unless_equals_uint64(GST_BUFFER_PTS(mask), GST_SECOND / 30);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(mask), GST_SECOND / 30);
    fail_unless_equals_uint64(filter_stat(&pair.filter, "network-runs"), 2);
    fail_unless(gst_memory_is_type(gst_buffer_peek_memory(mask, 0), "TdlMemory"));
    filter_expect_no_error(&pair.filter);
    gst_buffer_unref(alone);
    gst_buffer_unref(frame);
    gst_buffer_unref(mask);
    gst_buffer_unref(expected);
    filter_stop(&single);
    pair_stop(&pair);
}
GST_END_TEST;

/* Frames between two runs, and before a run has ended, have masks, too. */
GST_START_TEST(every_frame_has_one)
{
    static const char *const lines[] = { "mode=blur interval=3 smoothing=0",
                                         "mode=blur latency-mode=freshest smoothing=0",
                                         "mode=blur blur-radius=0 interval=4 smoothing=0" };
    GstBuffer *expected = expected_mask("smoothing=0", FALSE);
    GstVideoInfo info;
    struct pair pair;

    caps_info("video/x-raw,format=GRAY8,width=256,height=256,framerate=30/1", &info);
    pair_start(&pair, lines[__i__], CAPS);
    for (guint i = 0; i < 5; i++) {
        GstBuffer *mask;

        gst_buffer_unref(filter_run(&pair.filter, picture_portrait(i * GST_SECOND / 30)));
        fail_unless_equals_int(gst_harness_buffers_in_queue(pair.mask), 1);
        mask = gst_harness_pull(pair.mask);
        picture_compare(mask, expected, &info, 0, lines[__i__]);
        gst_buffer_unref(mask);
    }
    if (__i__ == 0)
        fail_unless_equals_uint64(filter_stat(&pair.filter, "network-runs"), 2);
    filter_expect_no_error(&pair.filter);
    gst_buffer_unref(expected);
    pair_stop(&pair);
}
GST_END_TEST;

static gboolean saw(GstHarness *harness, GstEventType type)
{
    gboolean found = FALSE;
    GstEvent *event;

    while (!found && (event = gst_harness_try_pull_event(harness))) {
        found = GST_EVENT_TYPE(event) == type;
        gst_event_unref(event);
    }
    return found;
}

/* In the order in which pads want them. */
GST_START_TEST(events_pass)
{
    static const GstEventType before[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
                                           GST_EVENT_SEGMENT };
    struct pair pair;
    GstHarness *in;
    GstSegment segment;

    pair_start(&pair, "", CAPS);
    in = pair.filter.harness;
    gst_buffer_unref(filter_run(&pair.filter, picture_portrait(0)));
    gst_buffer_unref(gst_harness_pull(pair.mask));
    for (guint i = 0; i < G_N_ELEMENTS(before); i++)
        fail_unless(saw(pair.mask, before[i]), "no %s", gst_event_type_get_name(before[i]));
    fail_unless(gst_harness_push_event(in, gst_event_new_gap(GST_SECOND, GST_SECOND)));
    fail_unless(saw(pair.mask, GST_EVENT_GAP), "no gap");
    fail_unless(gst_harness_push_event(in, gst_event_new_flush_start()));
    fail_unless(saw(pair.mask, GST_EVENT_FLUSH_START), "no flush-start");
    fail_unless(gst_harness_push_event(in, gst_event_new_flush_stop(TRUE)));
    fail_unless(saw(pair.mask, GST_EVENT_FLUSH_STOP), "no flush-stop");
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = segment.position = GST_SECOND;
    fail_unless(gst_harness_push_event(in, gst_event_new_segment(&segment)));
    gst_buffer_unref(filter_run(&pair.filter, picture_portrait(2 * GST_SECOND)));
    fail_unless(saw(pair.mask, GST_EVENT_SEGMENT), "no new segment");
    gst_buffer_unref(gst_harness_pull(pair.mask));
    fail_unless(gst_harness_push_event(in, gst_event_new_eos()));
    fail_unless(saw(pair.mask, GST_EVENT_EOS), "no end");
    pair_stop(&pair);
}
GST_END_TEST;

/* A stream that begins without a frame has its events in their order, too. */
GST_START_TEST(begins_with_a_gap)
{
    static const GstEventType order[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
                                          GST_EVENT_SEGMENT, GST_EVENT_GAP };
    struct pair pair;

    pair_start(&pair, "mode=blur", CAPS);
    fail_unless(
        gst_harness_push_event(pair.filter.harness, gst_event_new_gap(0, GST_SECOND / 30)));
    for (guint i = 0; i < G_N_ELEMENTS(order); i++) {
        GstEvent *event = gst_harness_pull_event(pair.mask);

        fail_unless_equals_string(GST_EVENT_TYPE_NAME(event), gst_event_type_get_name(order[i]));
        gst_event_unref(event);
    }
    gst_buffer_unref(filter_run(&pair.filter, picture_portrait(GST_SECOND / 30)));
    gst_buffer_unref(gst_harness_pull(pair.mask));
    filter_expect_no_error(&pair.filter);
    pair_stop(&pair);
}
GST_END_TEST;

/* Another size, another mask. */
GST_START_TEST(new_caps)
{
    static const char small[] = "video/x-raw,format=NV12,width=64,height=48,framerate=30/1";
    GstVideoInfo info;
    struct pair pair;
    GstBuffer *mask;
    GstCaps *caps;

    pair_start(&pair, "", CAPS);
    gst_buffer_unref(filter_run(&pair.filter, picture_portrait(0)));
    gst_buffer_unref(gst_harness_pull(pair.mask));
    gst_harness_set_src_caps_str(pair.filter.harness, small);
    caps_info(small, &info);
    gst_buffer_unref(filter_run(&pair.filter, picture_new(&info, 0)));
    mask = gst_harness_pull(pair.mask);
    caps = gst_pad_get_current_caps(pair.mask->sinkpad);
    fail_unless(gst_video_info_from_caps(&info, caps));
    fail_unless(info.width == 64 && info.height == 48 &&
                GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_GRAY8);
    fail_unless(gst_buffer_get_size(mask) >= 64 * 48);
    gst_caps_unref(caps);
    gst_buffer_unref(mask);
    pair_stop(&pair);
}
GST_END_TEST;

/* Asked for and not linked, it costs as much as if it was not there: the GPU
 * writes no mask. One at a time. */
GST_START_TEST(unlinked_costs_nothing)
{
    GstPad *pad, *again;
    struct filter filter;
    guint64 bytes;

    filter_start(&filter, "", CAPS);
    gst_buffer_unref(filter_run(&filter, picture_portrait(0)));
    bytes = filter_stat(&filter, "gpu-bytes-per-frame");
    pad = gst_element_request_pad_simple(filter.element, "mask_src");
    fail_unless(pad != NULL);
    again = gst_element_request_pad(
        filter.element, gst_element_get_pad_template(filter.element, "mask_src"), NULL, NULL);
    fail_unless(again == NULL);
    gst_buffer_unref(filter_run(&filter, picture_portrait(0)));
    fail_unless_equals_uint64(filter_stat(&filter, "gpu-bytes-per-frame"), bytes);
    gst_element_release_request_pad(filter.element, pad);
    gst_object_unref(pad);
    pad = gst_element_request_pad_simple(filter.element, "mask_src");
    fail_unless(pad != NULL, "it is free again");
    gst_object_unref(pad); /* and goes with the element */
    gst_buffer_unref(filter_run(&filter, picture_portrait(0)));
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(refused)
{
    static const char *const words[] = { "mask_src", "videoconvert", NULL };
    struct pair pair;

    pair_start(&pair, "", CAPS);
    gst_harness_set_sink_caps_str(pair.mask, "video/x-raw,format=BGRx");
    fail_unless_equals_int(gst_harness_push(pair.filter.harness, picture_portrait(0)),
                           GST_FLOW_ERROR);
    message_expect(filter_message(&pair.filter, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    pair_stop(&pair);
}
GST_END_TEST;

/* --------------------------------------------------------------- pipelines */

static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    (void)pad, (void)info;
    g_atomic_int_inc((gint *)data);
    return GST_PAD_PROBE_OK;
}

static void count(GstElement *pipeline, const char *name, gint *counter)
{
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
    GstPad *pad = gst_element_get_static_pad(sink, "sink");

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, counter, NULL);
    gst_object_unref(pad);
    gst_object_unref(sink);
}

static const struct {
    const char *line;
    gint frames, masks;
} lines[] = {
    { "tdlfilter name=t ! queue ! fakesink name=frames t.mask_src ! queue ! fakesink name=masks",
      20, 20 },
    { "tdlfilter name=t mode=passthrough ! queue ! fakesink name=frames "
      "t.mask_src ! queue ! fakesink name=masks", 20, 20 },
    { "tdlfilter name=t fakesink name=frames t.mask_src ! queue ! fakesink name=masks", 0, 20 },
    /* One branch ends: the other one goes on. */
    { "tdlfilter name=t ! queue ! fakesink name=frames "
      "t.mask_src ! queue ! identity eos-after=4 ! fakesink name=masks", 20, 3 },
    { "tdlfilter name=t ! queue ! identity eos-after=4 ! fakesink name=frames "
      "t.mask_src ! queue ! fakesink name=masks", 3, 20 },
};

GST_START_TEST(pipelines)
{
    g_autofree gchar *line = g_strdup_printf(
        "videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=64,height=48 ! %s",
        lines[__i__].line);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    gint frames = 0, masks = 0;

    count(pipeline, "frames", &frames);
    count(pipeline, "masks", &masks);
    if (__i__ == 2) { /* a sink without a source would never preroll */
        GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "frames");

        gst_bin_remove(GST_BIN(pipeline), sink);
        gst_element_set_state(sink, GST_STATE_NULL);
        gst_object_unref(sink);
    }
    pipeline_play_to_end(pipeline);
    fail_unless_equals_int(frames, lines[__i__].frames);
    fail_unless_equals_int(masks, lines[__i__].masks);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}
GST_END_TEST;

/* Linked and let go of while frames flow: they all arrive. */
GST_START_TEST(comes_and_goes)
{
    GstElement *pipeline = gst_parse_launch(
        "videotestsrc num-buffers=100 ! video/x-raw,format=NV12,width=64,height=48 ! "
        "tdlfilter name=t qos=false ! queue ! fakesink name=frames", NULL);
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "t");
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = NULL;
    gint frames = 0, masks = 0;

    count(pipeline, "frames", &frames);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (!message && g_atomic_int_get(&frames) < 100) {
        GstElement *sink = gst_element_factory_make("fakesink", NULL);
        GstPad *pad = gst_element_request_pad_simple(filter, "mask_src"), *peer;

        g_object_set(sink, "async", FALSE, NULL);
        gst_bin_add(GST_BIN(pipeline), sink);
        peer = gst_element_get_static_pad(sink, "sink");
        gst_pad_add_probe(peer, GST_PAD_PROBE_TYPE_BUFFER, on_frame, &masks, NULL);
        gst_element_sync_state_with_parent(sink);
        fail_unless_equals_int(gst_pad_link(pad, peer), GST_PAD_LINK_OK);
        message = gst_bus_timed_pop_filtered(bus, 30 * GST_MSECOND,
                                             GST_MESSAGE_ERROR);
        gst_pad_unlink(pad, peer);
        gst_element_release_request_pad(filter, pad);
        gst_object_unref(pad);
        gst_object_unref(peer);
        gst_element_set_state(sink, GST_STATE_NULL);
        gst_bin_remove(GST_BIN(pipeline), sink);
    }
    fail_if(message, "an error");
    fail_unless_equals_int(frames, 100);
    fail_unless(masks > 0 && masks <= 100, "%d masks", masks);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(filter);
    gst_object_unref(pipeline);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("mask-pad");
    TCase *tc = tcase_create("mask-pad");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, mask_beside_the_frame, 0, G_N_ELEMENTS(modes));
    tcase_add_loop_test(tc, every_frame_has_one, 0, 3);
    tcase_add_test(tc, events_pass);
    tcase_add_test(tc, begins_with_a_gap);
    tcase_add_test(tc, new_caps);
    tcase_add_test(tc, unlinked_costs_nothing);
    tcase_add_test(tc, refused);
    tcase_add_loop_test(tc, pipelines, 0, G_N_ELEMENTS(lines));
    tcase_add_test(tc, comes_and_goes);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "mask-pad");
}
