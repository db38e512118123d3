/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams that break: frames that contradict the caps, neighbours that do not agree,
 * discontinuities. */
#include "util.h"

#define SMALL "video/x-raw,format=I420,width=320,height=180,framerate=30/1"
#define LARGE "video/x-raw,format=NV12,width=640,height=360,framerate=30/1"
#define RUN_MAX 300 /* frames in a row that are dropped before it is an error */

/* -------------------------------------------------- not what the caps say */

/* A frame of `caps`, with a GstVideoMeta. */
static GstBuffer *described(const char *caps)
{
    GstBuffer *plain, *result;
    GstVideoInfo info;

    caps_info(caps, &info);
    plain = picture_new(&info, 0);
    result = picture_restride(plain, &info, 0);
    gst_buffer_unref(plain);
    return result;
}

static void expect_dropped(struct filter *filter, GstBuffer *input, guint times)
{
    for (guint i = 0; i < times; i++)
        fail_unless_equals_int(gst_harness_push(filter->harness, gst_buffer_ref(input)),
                               GST_FLOW_OK);
    gst_buffer_unref(input);
    fail_unless_equals_int(gst_harness_buffers_in_queue(filter->harness), 0);
}

static void expect_frame(struct filter *filter)
{
    GstVideoInfo info;
    GstBuffer *input, *output;

    caps_info(SMALL, &info);
    input = picture_new(&info, 3);
    output = filter_run(filter, gst_buffer_ref(input));
    picture_compare(output, input, &info, 2, "a frame that fits");
    gst_buffer_unref(output);
    gst_buffer_unref(input);
}

/* A source that is switched off lets a frame pass behind the other source's caps. */
GST_START_TEST(frame_of_another_source)
{
    static const char *const words[] = { "640x360", "NV12", "320x180", "I420", "switched",
                                         "input-selector", "mismatched", NULL };
    struct filter filter;

    filter_start(&filter, "opacity=0", SMALL);
    expect_frame(&filter);
    expect_dropped(&filter, described(LARGE), 1);
    message_expect(gst_bus_pop_filtered(filter.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING),
                   GST_MESSAGE_WARNING, words);
    expect_frame(&filter);
    expect_dropped(&filter, described(LARGE), 2);
    fail_unless_equals_uint64(filter_stat(&filter, "mismatched"), 3);
    fail_unless_equals_uint64(filter_stat(&filter, "dropped"), 3);
    fail_unless_equals_uint64(filter_stat(&filter, "frames"), 2);
    filter_expect_no_error(&filter); /* the message came already */
    gst_harness_set_src_caps_str(filter.harness, LARGE); /* the switch is complete */
    gst_buffer_unref(filter_run(&filter, described(LARGE)));
    filter_stop(&filter);
}
GST_END_TEST;

/* Without a meta only the size tells. */
GST_START_TEST(frame_too_small_in_between)
{
    struct filter filter;
    GstMessage *message;

    filter_start(&filter, "opacity=0", SMALL);
    expect_frame(&filter);
    expect_dropped(&filter, gst_buffer_new_allocate(NULL, 1000, NULL), 1);
    message = filter_message(&filter, GST_MESSAGE_WARNING);
    fail_unless(message != NULL);
    gst_message_unref(message);
    expect_frame(&filter);
    fail_unless_equals_uint64(filter_stat(&filter, "mismatched"), 1);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(a_run_of_misfits_is_an_error)
{
    static const char *const words[] = { "300 frames in a row", "640x360", NULL };
    struct filter filter;

    filter_start(&filter, "opacity=0", SMALL);
    expect_frame(&filter);
    expect_dropped(&filter, described(LARGE), RUN_MAX - 1);
    expect_frame(&filter); /* the run begins anew */
    expect_dropped(&filter, described(LARGE), RUN_MAX - 1);
    fail_unless_equals_int(gst_harness_push(filter.harness, described(LARGE)), GST_FLOW_ERROR);
    message_expect(filter_message(&filter, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    filter_stop(&filter);
}
GST_END_TEST;

/* In passthrough frames are nobody's business here. */
GST_START_TEST(misfits_pass_through)
{
    struct filter filter;
    GstBuffer *input = described(LARGE), *output;

    filter_start(&filter, "mode=passthrough", SMALL);
    output = filter_run(&filter, gst_buffer_ref(input));
    fail_unless(output == input);
    fail_unless_equals_uint64(filter_stat(&filter, "mismatched"), 0);
    gst_buffer_unref(output);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* ------------------------------------------------ neighbours that disagree */

static const struct {
    const char *mode, *says; /* NULL: they agree */
    const char *input, *output, *cure;
} neighbours[] = {
    { "mask", "mode=mask makes GRAY8", "I420", "format=BGRx", "videoconvert behind" },
    { "alpha", "mode=alpha makes RGBA or BGRA", "I420", "format=BGRx", "videoconvert behind" },
    { "blur", "this mode keeps the input's format", "I420", "format=BGRx", "videoconvert behind" },
    { "blur", "64x48 px, and downstream takes 70xany", "I420", "width=70", "videoscale behind" },
    { "mask", NULL, "I420", "format=GRAY8", NULL },
    { "alpha", NULL, "I420", "format=BGRA", NULL },
};

/* The sink says only when it is asked what it takes, as X11's do: linking works,
 * and upstream ends with a bare "not-negotiated". */
GST_START_TEST(neighbours_disagree)
{
    g_autofree gchar *line = g_strdup_printf(
        "videotestsrc num-buffers=2 ! video/x-raw,format=%s,width=64,height=48 ! "
        "tdlfilter mode=%s ! capsfilter name=late ! fakesink", neighbours[__i__].input,
        neighbours[__i__].mode);
    g_autofree gchar *caps = g_strdup_printf("video/x-raw,%s", neighbours[__i__].output);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    GstElement *late = gst_bin_get_by_name(GST_BIN(pipeline), "late");
    GstMessage *message;

    gst_util_set_object_arg(G_OBJECT(late), "caps", caps);
    message = pipeline_play(pipeline, GST_MESSAGE_WARNING);
    if (neighbours[__i__].says) {
        message_expect(message, GST_MESSAGE_ERROR,
                       (const char *[]){ neighbours[__i__].says, neighbours[__i__].cure, NULL });
    } else {
        fail_unless(GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "a message where all agree");
        gst_message_unref(message);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(late);
    gst_object_unref(pipeline);
}
GST_END_TEST;

static void ask(struct filter *filter, const char *caps, gboolean warns)
{
    GstCaps *wanted = caps ? gst_caps_from_string(caps) : NULL;
    GstCaps *got = gst_pad_peer_query_caps(filter->harness->srcpad, wanted);
    GstMessage *message = filter_message(filter, GST_MESSAGE_WARNING);

    fail_unless(gst_caps_is_empty(got));
    fail_unless_equals_int(message != NULL, warns);
    g_clear_pointer(&message, gst_message_unref);
    gst_clear_caps(&wanted);
    gst_caps_unref(got);
}

/* A query for sound gets no hint about pictures, and the hint comes once. */
GST_START_TEST(hint_is_for_pictures)
{
    struct filter filter;

    filter_start(&filter, "mode=mask", NULL);
    gst_harness_set_sink_caps_str(filter.harness, "video/x-raw,format=BGRx");
    ask(&filter, "audio/x-raw", FALSE);
    ask(&filter, NULL, TRUE);
    ask(&filter, NULL, FALSE);
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("edges");
    TCase *tc = tcase_create("edges");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, frame_of_another_source);
    tcase_add_test(tc, frame_too_small_in_between);
    tcase_add_test(tc, a_run_of_misfits_is_an_error);
    tcase_add_test(tc, misfits_pass_through);
    tcase_add_loop_test(tc, neighbours_disagree, 0, G_N_ELEMENTS(neighbours));
    tcase_add_test(tc, hint_is_for_pictures);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "edges");
}
