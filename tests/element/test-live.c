/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties changed while frames flow: each takes effect with the next frame
 * or, where something is loaded, without losing one. */
#include "util.h"

#include <glib/gstdio.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

/* The colour of the output's middle as 0xRRGGBB. */
static guint run_middle(struct filter *filter, const GstVideoInfo *info, GstBuffer *input)
{
    GstBuffer *output = filter_run(filter, gst_buffer_ref(input));
    GstVideoFrame frame;
    const guint8 *p;
    guint color;

    fail_unless(gst_video_frame_map(&frame, info, output, GST_MAP_READ));
    p = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
        info->height / 2 * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + info->width / 2 * 3;
    color = p[0] << 16 | p[1] << 8 | p[2];
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(output);
    return color;
}

static void expect_color(guint got, guint expected, const char *what)
{
    for (guint shift = 0; shift < 24; shift += 8) {
        gint difference = (gint)(got >> shift & 0xff) - (gint)(expected >> shift & 0xff);

        fail_unless(ABS(difference) <= 2, "%s: #%06x, not #%06x", what, got, expected);
    }
}

GST_START_TEST(colors_and_opacity)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input;

    caps_info(CAPS, &info);
    input = picture_new_color(&info, 0xff406080);
    filter_start(&filter, "mode=replace background-color=0xffff0000", CAPS);
    filter_all_background(&filter);
    expect_color(run_middle(&filter, &info, input), 0xff0000, "replaced");
    g_object_set(filter.element, "background-color", 0xff00ff00u, NULL);
    expect_color(run_middle(&filter, &info, input), 0x00ff00, "another colour");
    filter_all_foreground(&filter);
    expect_color(run_middle(&filter, &info, input), 0x406080, "foreground");
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "overlay");
    g_object_set(filter.element, "overlay-color", 0xff000000u, "opacity", 0.5f, NULL);
    expect_color(run_middle(&filter, &info, input), 0x203040, "half an overlay");
    g_object_set(filter.element, "opacity", 1.0f, NULL);
    expect_color(run_middle(&filter, &info, input), 0x000000, "all of it");
    g_object_set(filter.element, "invert", FALSE, NULL);
    expect_color(run_middle(&filter, &info, input), 0x406080, "nothing to tint");
    gst_buffer_unref(input);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* Blur: a step between black and white becomes wider with the radius. */
static guint step_width(struct filter *filter, const GstVideoInfo *info)
{
    GstBuffer *input = gst_buffer_new_allocate(NULL, info->size, NULL), *output;
    GstMapInfo map;
    guint width = 0;

    gst_buffer_map(input, &map, GST_MAP_WRITE);
    for (gint y = 0; y < info->height; y++)
        for (gint x = 0; x < info->stride[0]; x++)
            map.data[y * info->stride[0] + x] = x < info->width * 3 / 2 ? 0 : 255;
    gst_buffer_unmap(input, &map);
    output = filter_run(filter, input);
    gst_buffer_map(output, &map, GST_MAP_READ);
    for (gint x = 0; x < info->width; x++) {
        guint8 value = map.data[info->height / 2 * info->stride[0] + 3 * x];

        width += value > 10 && value < 245;
    }
    gst_buffer_unmap(output, &map);
    gst_buffer_unref(output);
    return width;
}

GST_START_TEST(blur_radius)
{
    struct filter filter;
    GstVideoInfo info;
    guint none, small, large;

    caps_info("video/x-raw,format=RGB,width=256,height=64,framerate=30/1", &info);
    filter_start(&filter, "mode=blur blur-radius=0",
                 "video/x-raw,format=RGB,width=256,height=64,framerate=30/1");
    filter_all_background(&filter);
    none = step_width(&filter, &info);
    g_object_set(filter.element, "blur-radius", 4.0f, NULL);
    small = step_width(&filter, &info);
    g_object_set(filter.element, "blur-radius", 16.0f, NULL);
    large = step_width(&filter, &info);
    fail_unless(none == 0 && small > 6 && large > 2 * small, "%u, %u, %u px", none, small, large);
    filter_stop(&filter);
}
GST_END_TEST;

/* A mode may change the format: the caps come before the frame. */
GST_START_TEST(modes)
{
    static const struct {
        const char *mode;
        GstVideoFormat format;
    } rows[] = {
        { "mask", GST_VIDEO_FORMAT_GRAY8 }, { "blur", GST_VIDEO_FORMAT_RGB },
        { "alpha", GST_VIDEO_FORMAT_RGBA }, { "mask", GST_VIDEO_FORMAT_GRAY8 },
        { "passthrough", GST_VIDEO_FORMAT_RGB }, { "overlay", GST_VIDEO_FORMAT_RGB },
    };
    struct filter filter;
    GstVideoInfo info, out;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay", CAPS);
    for (guint i = 0; i < 3 * G_N_ELEMENTS(rows); i++) {
        const char *mode = rows[i % G_N_ELEMENTS(rows)].mode;
        GstBuffer *output;

        gst_util_set_object_arg(G_OBJECT(filter.element), "mode", mode);
        output = filter_run(&filter, picture_new(&info, i));
        filter_output_info(&filter, &out);
        fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&out), rows[i % G_N_ELEMENTS(rows)].format);
        fail_unless(gst_buffer_get_size(output) >= out.size);
        gst_buffer_unref(output);
    }
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(passthrough_touches_nothing)
{
    struct filter filter;
    GstBuffer *input, *output;
    GstVideoInfo info;
    g_autofree gchar *path = NULL;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=blur", CAPS);
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "passthrough");
    input = picture_new(&info, 1);
    output = filter_run(&filter, gst_buffer_ref(input));
    fail_unless(output == input, "the buffer itself passes");
    g_object_get(filter.element, "export-path", &path, NULL);
    fail_unless_equals_string(path, "passthrough");
    fail_unless_equals_uint64(gst_harness_query_latency(filter.harness), 0);
    gst_buffer_unref(output);
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "blur");
    output = filter_run(&filter, gst_buffer_ref(input));
    fail_unless(output != input);
    gst_buffer_unref(output);
    gst_buffer_unref(input);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* ------------------------------------------------------------------- model */

#define PORTRAIT "video/x-raw,format=RGB,width=256,height=256,framerate=30/1"

static guint64 differing_pixels(GstBuffer *a, GstBuffer *b)
{
    GstMapInfo ma, mb;
    guint64 count = 0;

    fail_unless(gst_buffer_map(a, &ma, GST_MAP_READ) && gst_buffer_map(b, &mb, GST_MAP_READ));
    for (gsize i = 0; i < ma.size; i++)
        count += ABS(ma.data[i] - mb.data[i]) > 8;
    gst_buffer_unmap(a, &ma);
    gst_buffer_unmap(b, &mb);
    return count;
}

/* The other network's mask of the same picture is another one; frames keep
 * coming until it takes over, and from then on they all have it. */
GST_START_TEST(model_switch)
{
    GstBuffer *input = picture_portrait(GST_CLOCK_TIME_NONE), *first_mask, *other_mask, *output;
    struct filter filter;
    guint frames = 0, switched = 0;
    gint64 end = g_get_monotonic_time() + UTIL_HANG / 1000;

    filter_start(&filter, "mode=mask smoothing=0 model=person-landscape", PORTRAIT);
    other_mask = filter_run(&filter, gst_buffer_ref(input));
    filter_stop(&filter);

    filter_start(&filter, "mode=mask smoothing=0", PORTRAIT);
    first_mask = filter_run(&filter, gst_buffer_ref(input));
    fail_unless(differing_pixels(first_mask, other_mask) > 500, "the models see the same");
    g_object_set(filter.element, "model", "person-landscape", NULL);
    while (switched < 3 && g_get_monotonic_time() < end) {
        output = filter_run(&filter, gst_buffer_ref(input)); /* fails if one is lost */
        frames++;
        if (differing_pixels(output, other_mask) == 0)
            switched++;
        else
            fail_unless(!switched && differing_pixels(output, first_mask) == 0,
                        "frame %u is of neither model", frames);
        gst_buffer_unref(output);
    }
    fail_unless_equals_int(switched, 3);
    fail_unless_equals_uint64(filter_stat(&filter, "frames"), frames + 1);
    filter_expect_no_error(&filter);
    gst_buffer_unref(first_mask);
    gst_buffer_unref(other_mask);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

static gchar *wait_for_warning(struct filter *filter)
{
    GstMessage *message =
        gst_bus_timed_pop_filtered(filter->bus, UTIL_HANG, GST_MESSAGE_WARNING);
    g_autoptr(GError) error = NULL;

    fail_unless(message != NULL, "no warning came");
    gst_message_parse_warning(message, &error, NULL);
    gst_message_unref(message);
    return g_strdup(error->message);
}

GST_START_TEST(wrong_model_keeps_the_old_one)
{
    GstBuffer *input = picture_portrait(GST_CLOCK_TIME_NONE), *before, *after;
    g_autofree gchar *text = NULL;
    struct filter filter;

    filter_start(&filter, "mode=mask smoothing=0", PORTRAIT);
    before = filter_run(&filter, gst_buffer_ref(input));
    g_object_set(filter.element, "model", "/nonexistent/model.tflite", NULL);
    text = wait_for_warning(&filter);
    fail_unless(strstr(text, "/nonexistent/model.tflite") != NULL, "%s", text);
    after = filter_run(&filter, gst_buffer_ref(input));
    fail_unless_equals_uint64(differing_pixels(before, after), 0);
    filter_expect_no_error(&filter);
    gst_buffer_unref(before);
    gst_buffer_unref(after);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* The last of many requests counts, and stopping waits for none. */
GST_START_TEST(model_switch_storm)
{
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay", CAPS);
    for (guint i = 0; i < 12; i++) {
        g_object_set(filter.element, "model", i % 2 ? "person" : "person-landscape", NULL);
        gst_buffer_unref(filter_run(&filter, picture_new(&info, i)));
    }
    g_object_set(filter.element, "model", "person-landscape", NULL);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* -------------------------------------------------------------- background */

/* A picture file of one colour, made by GStreamer. */
static gchar *make_picture(guint argb)
{
    g_autofree gchar *line = NULL;
    gchar *path;
    GstElement *pipeline;
    gint fd = g_file_open_tmp("tdl-test-XXXXXX.png", &path, NULL);

    fail_unless(fd >= 0);
    close(fd);
    line = g_strdup_printf("videotestsrc num-buffers=1 pattern=solid-color foreground-color=%u ! "
                           "video/x-raw,format=RGB,width=100,height=30 ! pngenc ! "
                           "filesink location=%s", argb, path);
    pipeline = gst_parse_launch(line, NULL);
    fail_unless(pipeline != NULL, "this test needs pngenc");
    pipeline_play_to_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return path;
}

static void run_until_color(struct filter *filter, const GstVideoInfo *info, GstBuffer *input,
                            guint expected, const char *what)
{
    gint64 end = g_get_monotonic_time() + UTIL_HANG / 1000;
    guint color;

    do {
        color = run_middle(filter, info, input);
        g_usleep(5000);
    } while (color >> 20 != expected >> 20 && g_get_monotonic_time() < end);
    expect_color(color, expected, what);
}

GST_START_TEST(background)
{
    g_autofree gchar *red = make_picture(0xffd02010), *blue = make_picture(0xff1020d0);
    g_autofree gchar *properties =
        g_strdup_printf("mode=replace background-color=0xff808080 background=%s", red);
    g_autofree gchar *text = NULL;
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input;

    caps_info(CAPS, &info);
    input = picture_new_color(&info, 0xffffffff);
    filter_start(&filter, properties, CAPS);
    filter_all_background(&filter);
    expect_color(run_middle(&filter, &info, input), 0xd02010, "from the start");
    g_object_set(filter.element, "background", blue, NULL);
    run_until_color(&filter, &info, input, 0x1020d0, "another picture");
    g_object_set(filter.element, "background", "/nonexistent.png", NULL);
    text = wait_for_warning(&filter);
    fail_unless(strstr(text, "/nonexistent.png") && strstr(text, "does not exist"), "%s", text);
    expect_color(run_middle(&filter, &info, input), 0x1020d0, "the old picture stays");
    g_object_set(filter.element, "background", "", NULL);
    run_until_color(&filter, &info, input, 0x808080, "back to the colour");
    filter_expect_no_error(&filter);
    gst_buffer_unref(input);
    filter_stop(&filter);
    g_unlink(red);
    g_unlink(blue);
}
GST_END_TEST;

/* -------------------------------------------------------------- controllers */

GST_START_TEST(controlled)
{
    struct filter filter;
    GstControlSource *source = gst_interpolation_control_source_new();
    GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE(source);
    GstVideoInfo info;
    GstBuffer *input;

    caps_info(CAPS, &info);
    input = picture_new_color(&info, 0xff808080);
    filter_start(&filter, "mode=overlay overlay-color=0xff000000", CAPS);
    filter_all_foreground(&filter);
    g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
    gst_timed_value_control_source_set(values, 0, 0.0);
    gst_timed_value_control_source_set(values, GST_SECOND, 1.0);
    gst_object_add_control_binding(
        GST_OBJECT(filter.element),
        gst_direct_control_binding_new(GST_OBJECT(filter.element), "opacity", source));
    GST_BUFFER_PTS(input) = 0;
    expect_color(run_middle(&filter, &info, input), 0x808080, "at 0 s");
    input = gst_buffer_make_writable(input);
    GST_BUFFER_PTS(input) = GST_SECOND / 2;
    expect_color(run_middle(&filter, &info, input), 0x404040, "at 0.5 s");
    gst_buffer_unref(input);
    gst_object_unref(source);
    filter_stop(&filter);
}
GST_END_TEST;

/* ---------------------------------------------------------------- clean-up */

static guint64 mask_sum(struct filter *filter, GstBuffer *input)
{
    GstBuffer *mask = filter_run(filter, gst_buffer_ref(input));
    GstMapInfo map;
    guint64 sum = 0;

    fail_unless(gst_buffer_map(mask, &map, GST_MAP_READ));
    for (gsize i = 0; i < map.size; i++)
        sum += map.data[i];
    gst_buffer_unmap(mask, &map);
    gst_buffer_unref(mask);
    return sum;
}

/* Changed while frames run; each way back leads to the same mask. */
GST_START_TEST(mask_clean_up)
{
    GstBuffer *input = picture_portrait(GST_CLOCK_TIME_NONE);
    guint64 plain, grown, shrunk, everything;
    struct filter filter;

    filter_start(&filter, "mode=mask smoothing=0 min-area=0 grow=0", PORTRAIT);
    plain = mask_sum(&filter, input);
    g_object_set(filter.element, "grow", 6.0f, NULL);
    grown = mask_sum(&filter, input);
    g_object_set(filter.element, "grow", -6.0f, NULL);
    shrunk = mask_sum(&filter, input);
    g_object_set(filter.element, "grow", 0.0f, "min-area", 1.0f, NULL);
    everything = mask_sum(&filter, input);
    g_object_set(filter.element, "min-area", 0.0f, NULL);
    fail_unless(grown > plain + plain / 50 && shrunk < plain - plain / 50,
                "grown %" G_GUINT64_FORMAT ", plain %" G_GUINT64_FORMAT
                ", shrunk %" G_GUINT64_FORMAT,
                grown, plain, shrunk);
    /* The background is smaller than the frame, what is left then is not. */
    fail_unless_equals_uint64(everything, 255 * 256 * 256);
    fail_unless_equals_uint64(mask_sum(&filter, input), plain);
    filter_expect_no_error(&filter);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* ------------------------------------------------------------ while it runs */

static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    GstMapInfo map;

    (void)pad;
    fail_unless(gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ));
    gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
    g_atomic_int_inc((gint *)data);
    return GST_PAD_PROBE_OK;
}

static void change_something(GstElement *filter, GRand *rand)
{
    switch (g_rand_int_range(rand, 0, 8)) {
    case 0:
        g_object_set(filter, "mode", g_rand_int_range(rand, 0, 6), NULL);
        break;
    case 1:
        g_object_set(filter, "blur-radius", g_rand_int_range(rand, 0, 128) * 1.0f, NULL);
        break;
    case 2:
        g_object_set(filter, "latency-mode", g_rand_int_range(rand, 0, 2), NULL);
        break;
    case 3:
        g_object_set(filter, "interval", g_rand_int_range(rand, 1, 4), NULL);
        break;
    case 4:
        g_object_set(filter, "refine", g_rand_boolean(rand), "despill", g_rand_boolean(rand),
                     "light-wrap", g_rand_int_range(rand, 0, 3) / 2.0, NULL);
        break;
    case 5:
        g_object_set(filter, "model", g_rand_boolean(rand) ? "" : "person-landscape", NULL);
        break;
    case 6:
        g_object_set(filter, "close-holes", g_rand_boolean(rand), "min-area",
                     g_rand_int_range(rand, 0, 3) / 20.0f, "grow",
                     g_rand_int_range(rand, -2, 3) * 4.0f, NULL);
        break;
    default:
        g_object_set(filter, "smoothing", g_rand_int_range(rand, 0, 9) / 10.0f, "threshold",
                     g_rand_int_range(rand, 0, 10) / 10.0f, NULL);
    }
}

/* From another thread, at any moment: every frame arrives. */
GST_START_TEST(changes_from_another_thread)
{
    guint32 seed = util_seed();
    GRand *rand = g_rand_new_with_seed(seed);
    GstElement *pipeline = gst_parse_launch(
        "videotestsrc num-buffers=150 ! video/x-raw,format=NV12,width=64,height=48 ! "
        "tdlfilter name=f qos=false ! fakesink name=s", NULL);
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "f");
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = NULL;
    gint frames = 0;

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, &frames, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (!message) { /* or the time limit of the test */
        change_something(filter, rand);
        message = gst_bus_timed_pop_filtered(bus, 5 * GST_MSECOND, GST_MESSAGE_EOS |
                                             GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    }
    fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "seed %u: %s", seed,
                message ? GST_MESSAGE_TYPE_NAME(message) : "no end");
    fail_unless(frames == 150, "seed %u: %d frames of 150", seed, frames);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_message_unref(message);
    gst_object_unref(bus);
    gst_object_unref(pad);
    gst_object_unref(sink);
    gst_object_unref(filter);
    gst_object_unref(pipeline);
    g_rand_free(rand);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("live");
    TCase *tc = tcase_create("live");

    tcase_set_timeout(tc, 200);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, colors_and_opacity);
    tcase_add_test(tc, blur_radius);
    tcase_add_test(tc, modes);
    tcase_add_test(tc, passthrough_touches_nothing);
    tcase_add_test(tc, model_switch);
    tcase_add_test(tc, wrong_model_keeps_the_old_one);
    tcase_add_test(tc, model_switch_storm);
    tcase_add_test(tc, background);
    tcase_add_test(tc, controlled);
    tcase_add_test(tc, mask_clean_up);
    tcase_add_test(tc, changes_from_another_thread);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "live");
}
