/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything that can fail ends in an error message that says what failed and what to do, and in
 * nothing worse. */
#include "util.h"

#include <glib/gstdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"
#define MAX_WORDS 5 /* with the NULL behind them */

static void check_text(GstMessage *message, const char *const *words)
{
    message_expect(message, GST_MESSAGE_ERROR, words);
}

/* ------------------------------------------------------------ READY → PAUSED */

static void expect_start_error(const char *property, const char *value, const char *const *words)
{
    GstElement *element = gst_element_factory_make("tdlfilter", NULL);
    GstBus *bus = gst_bus_new();

    gst_object_ref_sink(element);
    gst_element_set_bus(element, bus);
    gst_util_set_object_arg(G_OBJECT(element), "mode", "replace"); /* needs the background */
    g_object_set(element, property, value, NULL);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    check_text(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), words);
    /* The next try, with the mistake corrected, works. */
    g_object_set(element, property, "", NULL);
    fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

static const struct {
    const char *property, *value, *words[MAX_WORDS];
} starts[] = {
    { "device", "no-such-gpu", { "no-such-gpu", "tdl-info", "Vulkan driver" } },
    { "model", "/nonexistent/model.tflite", { "/nonexistent/model.tflite", "person-landscape" } },
    { "model", "persson", { "persson", "person-landscape" } },
    { "model", "/", { "Cannot load model \"/\"" } },
    { "model-output", "alpha", { "names none of its outputs", "[1,144,256,1]" } },
    { "input-range", "0-255", { "two numbers", "input-range" } },
    { "input-mean", "0.5", { "three numbers" } },
    { "model-size", "big", { "WIDTHxHEIGHT" } },
    { "model-size", "~x", { "WIDTHxHEIGHT" } },
    { "background", "/nonexistent/picture.jpg", { "/nonexistent/picture.jpg", "does not exist",
                                                  "background-color" } },
    { "background", "/", { "cannot be decoded" } },
};

GST_START_TEST(wrong_property)
{
    expect_start_error(starts[__i__].property, starts[__i__].value, starts[__i__].words);
}
GST_END_TEST;

static gchar *write_file(const char *data, gsize size)
{
    gchar *path;
    gint fd = g_file_open_tmp("tdl-test-XXXXXX", &path, NULL);

    fail_unless(fd >= 0);
    close(fd);
    fail_unless(g_file_set_contents(path, data, size, NULL));
    return path;
}

static gchar *read_model(gsize *out_size)
{
    g_autofree gchar *path =
        g_build_filename(g_getenv("TDL_TEST_MODELS"), "selfie_segmentation.tflite", NULL);
    gchar *data;

    fail_unless(g_file_get_contents(path, &data, out_size, NULL), "cannot read %s", path);
    return data;
}

GST_START_TEST(truncated_model)
{
    static const char *const words[MAX_WORDS] = { "Cannot load model", "Give a model that",
                                                  "leave \"model\" empty" };
    static const gsize sizes[] = { 0, 10, 1000, 100000 };
    g_autofree gchar *path = NULL, *data = NULL;
    gsize size;

    data = read_model(&size);
    fail_unless(size > 100000);
    path = write_file(data, sizes[__i__]);
    expect_start_error("model", path, words);
    g_unlink(path);
}
GST_END_TEST;

/* ONNX: a graph of one Relu, on x[1,n,3,w]. */
GST_START_TEST(open_sizes)
{
    static const char *const words[MAX_WORDS] = { "by the name 'n'. \"model-size\"" };
    static const char image[] = "\x0a\x01%c\x12\x18\x0a\x16\x08\x01\x12\x12\x0a\x02\x08\x01"
                                "\x0a\x03\x12\x01n\x0a\x02\x08\x03\x0a\x03\x12\x01w";
    GString *model = g_string_new("\x08\x08\x3a\x4f\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu"
                                  "\x12\x01g\x5a\x1d");
    g_autofree gchar *path = NULL;

    g_string_append_printf(model, image, 'x');
    g_string_append_len(model, "\x62\x1d", 2);
    g_string_append_printf(model, image, 'y');
    g_string_append_len(model, "\x42\x04\x0a\x00\x10\x0d", 6);
    path = write_file(model->str, model->len);
    expect_start_error("model", path, words);
    g_unlink(path);
    g_string_free(model, TRUE);
}
GST_END_TEST;

static gchar *find_bytes(gchar *data, gsize size, const char *text)
{
    for (gsize i = 0; i + strlen(text) <= size; i++)
        if (!memcmp(data + i, text, strlen(text)))
            return data + i;
    return NULL;
}

/* The person model with its custom operator given a name that nobody knows. */
GST_START_TEST(unsupported_operator)
{
    static const char *const words[MAX_WORDS] = { "Convolution2DTransposeXXXX", "operator",
                                                  "Choose another model" };
    g_autofree gchar *path = NULL, *data = NULL;
    gchar *name;
    gsize size;

    data = read_model(&size);
    name = find_bytes(data, size, "Convolution2DTransposeBias");
    fail_unless(name != NULL, "no custom operator in the model");
    memcpy(name + strlen("Convolution2DTranspose"), "XXXX", 4);
    path = write_file(data, size);
    expect_start_error("model", path, words);
    g_unlink(path);
}
GST_END_TEST;

GST_START_TEST(background_is_text)
{
    static const char *const words[MAX_WORDS] = { "cannot be decoded", "leave it empty" };
    static const char text[] = "This is a letter, not a picture.\n";
    g_autofree gchar *path = write_file(text, strlen(text));

    expect_start_error("background", path, words);
    g_unlink(path);
}
GST_END_TEST;

/* ----------------------------------------------------------- while streaming */

GST_START_TEST(frame_too_small)
{
    static const char *const words[MAX_WORDS] = { "too small", "64x48", "NV12" };
    struct filter filter;

    filter_start(&filter, "", CAPS);
    fail_unless_equals_int(
        gst_harness_push(filter.harness, gst_buffer_new_allocate(NULL, 64 * 48, NULL)),
        GST_FLOW_ERROR);
    check_text(filter_message(&filter, GST_MESSAGE_ERROR), words);
    filter_stop(&filter);
}
GST_END_TEST;

/* A VideoMeta that points out of its buffer must not be followed. */
GST_START_TEST(meta_out_of_bounds)
{
    static const char *const words[MAX_WORDS] = { "too small" };
    gsize offset[GST_VIDEO_MAX_PLANES] = { 0, 64 * 48 };
    gint stride[GST_VIDEO_MAX_PLANES] = { 64, 64 };
    GstVideoInfo info;
    GstBuffer *input;
    struct filter filter;

    caps_info(CAPS, &info);
    filter_start(&filter, "", CAPS);
    if (__i__ == 0)
        offset[1] += 2;
    else
        stride[0] = 1000;
    input = gst_buffer_new_allocate(NULL, info.size, NULL);
    gst_buffer_add_video_meta_full(input, 0, GST_VIDEO_FORMAT_NV12, 64, 48, 2, offset, stride);
    fail_unless_equals_int(gst_harness_push(filter.harness, input), GST_FLOW_ERROR);
    check_text(filter_message(&filter, GST_MESSAGE_ERROR), words);
    filter_stop(&filter);
}
GST_END_TEST;

/* The CPU takes frames of any size for which there is memory, and this one in a minute:
 * there is room for one of them only beside what the process has. */
static rlim_t limit_memory(guint frames)
{
    g_autofree gchar *text = NULL;
    struct rlimit limit;
    rlim_t before;

    fail_unless(!getrlimit(RLIMIT_AS, &limit));
    before = limit.rlim_cur;
    if (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") != 0)
        return before;
    fail_unless(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    limit.rlim_cur = g_ascii_strtoull(text, NULL, 10) * (guint64)sysconf(_SC_PAGESIZE) +
                     (frames * 1024ull + 512) * 1024 * 1024;
    fail_unless(!setrlimit(RLIMIT_AS, &limit));
    return before;
}

static void lift_limit(rlim_t before)
{
    struct rlimit limit;

    fail_unless(!getrlimit(RLIMIT_AS, &limit));
    limit.rlim_cur = before;
    fail_unless(!setrlimit(RLIMIT_AS, &limit));
}

/* Larger than the device, or the engine, can take. */
GST_START_TEST(frame_too_large)
{
    static const struct {
        const char *caps;
        const char *words[MAX_WORDS];
    } rows[] = {
        { "video/x-raw,format=GRAY8,width=100000,height=2,framerate=30/1",
          { "100000", "32767" } },
        { "video/x-raw,format=RGBA,width=16384,height=16384,framerate=30/1",
          { "16384x16384", "smaller frames" } },
    };
    struct filter filter;
    GstVideoInfo info;
    rlim_t before;

    caps_info(rows[__i__].caps, &info);
    before = limit_memory(1);
    filter_start(&filter, "", rows[__i__].caps);
    fail_unless(gst_harness_push(filter.harness, gst_buffer_new_allocate(NULL, info.size, NULL)) !=
                GST_FLOW_OK);
    check_text(gst_bus_pop_filtered(filter.bus, GST_MESSAGE_ERROR), rows[__i__].words);
    fail_unless(filter_message(&filter, GST_MESSAGE_ERROR) == NULL, "said twice");
    filter_stop(&filter);
    lift_limit(before);
}
GST_END_TEST;

/* A source that takes the pool it is offered says no more than that it failed. */
GST_START_TEST(frame_too_large_for_the_pool)
{
    static const char *const words[MAX_WORDS] = { "16384x16384", "smaller frames" };
    GstElement *pipeline = gst_parse_launch(
        "videotestsrc num-buffers=1 ! video/x-raw,format=RGBA,width=16384,height=16384 ! "
        "tdlfilter ! fakesink", NULL);
    rlim_t before = limit_memory(0);

    check_text(pipeline_play(pipeline, 0), words);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    lift_limit(before);
}
GST_END_TEST;

/* Live change to a mode whose format downstream does not take. */
GST_START_TEST(mode_refused)
{
    static const char *const words[MAX_WORDS] = { "mode=mask makes GRAY8", "videoconvert" };
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=blur", NULL);
    gst_harness_set_caps_str(filter.harness, CAPS, CAPS);
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "mask");
    fail_unless_equals_int(gst_harness_push(filter.harness, picture_new(&info, 1)),
                           GST_FLOW_NOT_NEGOTIATED);
    check_text(filter_message(&filter, GST_MESSAGE_ERROR), words);
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("errors");
    TCase *tc = tcase_create("errors");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, wrong_property, 0, G_N_ELEMENTS(starts));
    tcase_add_loop_test(tc, truncated_model, 0, 4);
    tcase_add_test(tc, open_sizes);
    tcase_add_test(tc, unsupported_operator);
    tcase_add_test(tc, background_is_text);
    tcase_add_test(tc, frame_too_small);
    tcase_add_loop_test(tc, meta_out_of_bounds, 0, 2);
    tcase_add_loop_test(tc, frame_too_large, 0, 2);
    tcase_add_test(tc, frame_too_large_for_the_pool);
    tcase_add_test(tc, mode_refused);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "errors");
}
