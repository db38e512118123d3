/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks that give the foreground's own colours beside their mask: what is seen of them.
 * The networks are written here. */
#include "written.h"

#include <glib/gstdio.h>
#include <math.h>

#define SIDE 16 /* side of the network's picture, px */
#define BEHIND "background-color=0xff204060 "
#define WIDE "video/x-raw,format=RGB,width=64,height=32,framerate=30/1"
#define YUV "video/x-raw,format=I420,width=64,height=32,framerate=30/1,colorimetry=bt709"
#define WITH_ALPHA "video/x-raw,format=RGBA,width=64,height=32,framerate=30/1"

enum { FLOAT = 1, UINT8 = 2, INT64 = 7 };
enum { RED = 0xff804020, LIGHT = 0xffa0c0e0, BLACK = 0xff000000 };

static void add_number(struct onnx_bytes *graph, const gchar *name, gfloat value)
{
    onnx_initializer(graph, name, FLOAT, 0, NULL, &value, sizeof(value));
}

/* The picture times `shares` of its channels. */
static void add_shares(struct onnx_bytes *graph, const gchar *name, const gfloat shares[3])
{
    g_autofree gchar *weights = g_strdup_printf("w_%s", name);
    g_autofree gchar *inputs = g_strdup_printf("src %s", weights);

    onnx_initializer(graph, weights, FLOAT, 4, (const int64_t[]){ 1, 3, 1, 1 }, shares,
                     3 * sizeof(*shares));
    onnx_node(graph, "Mul", inputs, name, NULL);
}

/* "fgr" and "pha", as files of Robust Video Matting have them: the mask is a half all over,
 * "fgr" the picture with half of its first channel and nothing of its third. "last" has a
 * quarter of all, and its channels last; "bytes" 51 of 255; "small" another size; "lost" is
 * infinite. */
static gchar *matting(gboolean usual)
{
    static const gfloat half[] = { 0.5f, 1, 0 }, quarter[] = { 0.25f, 0.25f, 0.25f };
    static const gfloat none[] = { 0, 0, 0 };
    static const int64_t two[] = { 2, 2 }, last[] = { 0, 2, 3, 1 };
    struct onnx_bytes graph = { 0 }, attributes = { 0 };

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_input(&graph, "before", FLOAT, 4, (const int64_t[]){ 1, 1, SIDE, SIDE });
    add_number(&graph, "a_half", 0.5f);
    add_number(&graph, "a_fifth", 51);
    add_number(&graph, "zero", 0);
    add_number(&graph, "no_end", INFINITY);
    add_shares(&graph, usual ? "fgr" : "colors", half);
    add_shares(&graph, "quarter", quarter);
    add_shares(&graph, "nothing", none);
    onnx_attr_ints(&attributes, "perm", last, 4);
    onnx_node(&graph, "Transpose", "quarter", "last", &attributes);
    onnx_attr_ints(&attributes, "kernel_shape", two, 2);
    onnx_attr_ints(&attributes, "strides", two, 2);
    onnx_node(&graph, "AveragePool", "src", "small", &attributes);
    onnx_node(&graph, "Add", "nothing a_fifth", "fifths", NULL);
    onnx_attr_int(&attributes, "to", UINT8);
    onnx_node(&graph, "Cast", "fifths", "bytes", &attributes);
    onnx_node(&graph, "Add", "nothing no_end", "lost", NULL);
    onnx_attr_ints(&attributes, "axes", (const int64_t[]){ 1 }, 1);
    onnx_node(&graph, "ReduceMean", "nothing", "one", &attributes);
    onnx_node(&graph, "Mul", "before zero", "forgotten", NULL);
    onnx_node(&graph, "Add", "one forgotten", "after", NULL);
    onnx_node(&graph, "Add", "after a_half", usual ? "pha" : "mask", NULL);
    onnx_output(&graph, usual ? "fgr" : "colors");
    onnx_output(&graph, usual ? "pha" : "mask");
    onnx_output(&graph, "after");
    onnx_output(&graph, "last");
    onnx_output(&graph, "small");
    onnx_output(&graph, "bytes");
    onnx_output(&graph, "lost");
    return written_model(&graph);
}

#define STATE "model-state=before=after "
#define NO_STATE "model-constants=before=0 "

static void start(struct filter *f, const gchar *model, const gchar *properties, const gchar *caps)
{
    g_autofree gchar *all = g_strconcat(BEHIND, properties, NULL);

    written_start(f, model, all, caps);
}

/* The colour of a pixel in the middle, 0xAARRGGBB. */
static guint color_of(GstBuffer *picture, const GstVideoInfo *info)
{
    GstVideoInfo plain;
    GstBuffer *rgba;
    GstVideoFrame frame;
    const guint8 *p;
    guint color;

    gst_video_info_set_format(&plain, GST_VIDEO_FORMAT_RGBA, info->width, info->height);
    rgba = picture_convert(picture, info, &plain);
    fail_unless(gst_video_frame_map(&frame, &plain, rgba, GST_MAP_READ));
    p = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
        13 * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 4 * 30;
    color = (guint)p[3] << 24 | (guint)p[0] << 16 | (guint)p[1] << 8 | p[2];
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(rgba);
    return color;
}

static void expect(struct filter *f, const gchar *caps, guint color, guint wanted, gint tolerance)
{
    GstVideoInfo in, out;
    GstBuffer *picture;
    guint got;

    caps_info(caps, &in);
    picture = filter_run(f, picture_new_color(&in, color));
    filter_output_info(f, &out);
    got = color_of(picture, &out);
    for (guint shift = 0; shift < 32; shift += 8)
        fail_unless(ABS((gint)(got >> shift & 255) - (gint)(wanted >> shift & 255)) <= tolerance,
                    "%08x becomes %08x, not %08x", color, got, wanted);
    gst_buffer_unref(picture);
}

/* Half of what is in front, half of 204060. */
static const struct {
    const gchar *properties, *caps;
    guint color, wanted;
    gint tolerance;
    gboolean unusual;
} rows[] = {
    /* Not at all, and by itself: of 804020 there remain 404000. */
    { "mode=replace model-output=mask", WIDE, RED, 0xff504040, 1, TRUE },
    { "mode=replace", WIDE, RED, 0xff304030, 1, FALSE },
    { "mode=replace model-output=pha", WIDE, RED, 0xff304030, 1, FALSE },
    { "mode=replace model-output=pha despill=true", WIDE, RED, 0xff304030, 1, FALSE },
    { "mode=replace model-output=mask foreground-output=colors", WIDE, RED, 0xff304030, 1, TRUE },
    { "mode=replace foreground-output=colors", WIDE, RED, 0xff304030, 1, TRUE },
    { "mode=alpha model-output=pha", WIDE, RED, 0x80404000, 1, FALSE },
    { "mode=alpha model-output=pha", WITH_ALPHA, RED, 0x80404000, 1, FALSE },
    /* 201008 of channels that are last, 333333 of bytes, infinite ones. */
    { "mode=replace model-output=pha foreground-output=last", WIDE, RED, 0xff202834, 1, FALSE },
    { "mode=replace model-output=pha foreground-output=bytes", WIDE, RED, 0xff2a3a4a, 1, FALSE },
    { "mode=replace model-output=pha foreground-output=lost", WIDE, RED, 0xff504040, 1, FALSE },
    /* The model's first channel is blue. Of e0 or a0 that become nothing, no more than the
     * half goes that may be the background's. */
    { "mode=replace input-order=bgr", WIDE, LIGHT, 0xff208068, 1, FALSE },
    /* −1 to 1 of a0c0e0, 41 81 c1 of 255: 20 81 60 come out. */
    { "mode=replace input-range=-1,1", WIDE, LIGHT, 0xff206060, 2, FALSE },
    /* 404040 less, 6080a0: 308060 come out. */
    { "mode=replace input-mean=0.25,0.25,0.25", WIDE, LIGHT, 0xff286060, 2, FALSE },
    { "mode=replace input-fit=letterbox", WIDE, RED, 0xff304030, 1, FALSE },
    /* GStreamer's way back is some steps off. */
    { "mode=replace", YUV, RED, 0xff304030, 6, FALSE },
    { "mode=replace invert=true", WIDE, RED, 0xff504040, 1, FALSE },
    { "mode=picture model-output=last", WIDE, RED, 0xff201008, 1, FALSE },
    { "mode=passthrough", WIDE, RED, RED, 1, FALSE },
    { "mode=blur", WIDE, RED, RED, 2, FALSE },
};

GST_START_TEST(seen)
{
    g_autofree gchar *model = matting(!rows[__i__].unusual);

    for (guint k = 0; k < 2; k++) { /* with a state the graph lays it out otherwise */
        g_autofree gchar *all = g_strconcat(k ? STATE : NO_STATE, rows[__i__].properties, NULL);
        struct filter f;

        start(&f, model, all, rows[__i__].caps);
        expect(&f, rows[__i__].caps, rows[__i__].color, rows[__i__].wanted, rows[__i__].tolerance);
        filter_expect_no_error(&f);
        filter_stop(&f);
    }
    g_unlink(model);
}
GST_END_TEST;

/* Frames between keep what the last run has found: of 804020 the half of its red and its
 * blue go, of a0c0e0 as much. */
GST_START_TEST(stays_with_mask)
{
    g_autofree gchar *model = matting(TRUE);
    struct filter f;

    start(&f, model, "mode=replace interval=3 " STATE, WIDE);
    expect(&f, WIDE, RED, 0xff304030, 1);
    expect(&f, WIDE, LIGHT, 0xff408090, 1);
    expect(&f, WIDE, BLACK, 0xff102030, 1); /* limited */
    expect(&f, WIDE, LIGHT, 0xff388060, 1); /* a run of its own */
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* The mask that goes out beside is made first. */
GST_START_TEST(behind_mask_pad)
{
    g_autofree gchar *model = matting(TRUE);
    GstHarness *mask;
    struct filter f;

    start(&f, model, NO_STATE "mode=replace", NULL);
    mask = gst_harness_new_with_element(f.element, NULL, "mask_src");
    gst_harness_set_src_caps_str(f.harness, WIDE);
    expect(&f, WIDE, RED, 0xff304030, 1);
    expect(&f, WIDE, LIGHT, 0xff388060, 1);
    filter_expect_no_error(&f);
    gst_harness_teardown(mask);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Whichever run's mask it is, its colours come with it. */
GST_START_TEST(freshest)
{
    g_autofree gchar *model = matting(TRUE);
    struct filter f;

    start(&f, model, "mode=replace latency-mode=freshest " NO_STATE, WIDE);
    for (guint i = 0; i < 6; i++)
        expect(&f, WIDE, RED, 0xff304030, 1);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* While it plays, and back. */
GST_START_TEST(changes)
{
    g_autofree gchar *model = matting(TRUE);
    struct filter f;

    start(&f, model, "mode=replace " NO_STATE, WIDE);
    expect(&f, WIDE, RED, 0xff304030, 1);
    g_object_set(f.element, "invert", TRUE, NULL);
    expect(&f, WIDE, RED, 0xff504040, 1);
    g_object_set(f.element, "invert", FALSE, NULL);
    expect(&f, WIDE, RED, 0xff304030, 1);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "blur");
    expect(&f, WIDE, RED, RED, 2);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "replace");
    expect(&f, WIDE, RED, 0xff304030, 1);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* An output with the usual name but another size is left alone. */
GST_START_TEST(usual_name_of_something_else)
{
    static const int64_t two[] = { 2, 2 };
    struct onnx_bytes graph = { 0 }, attributes = { 0 };
    g_autofree gchar *model = NULL;
    struct filter f;

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    add_number(&graph, "zero", 0);
    add_number(&graph, "a_half", 0.5f);
    onnx_attr_ints(&attributes, "kernel_shape", two, 2);
    onnx_attr_ints(&attributes, "strides", two, 2);
    onnx_node(&graph, "AveragePool", "src", "fgr", &attributes);
    onnx_attr_ints(&attributes, "axes", (const int64_t[]){ 1 }, 1);
    onnx_node(&graph, "ReduceMean", "src", "one", &attributes);
    onnx_node(&graph, "Mul", "one zero", "none", NULL);
    onnx_node(&graph, "Add", "none a_half", "pha", NULL);
    onnx_output(&graph, "pha");
    onnx_output(&graph, "fgr");
    model = written_model(&graph);
    start(&f, model, "mode=replace", WIDE);
    expect(&f, WIDE, RED, 0xff504040, 1);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

GST_START_TEST(refused)
{
    static const struct {
        const gchar *properties;
        const char *words[4];
    } wrong[] = {
        { "foreground-output=no", { "\"foreground-output\" is \"no\"", "no output of that name" } },
        { "foreground-output=small", { "[1,3,8,8]", "16x16 px", "[1,16,16,3]" } },
        { "foreground-output=after", { "\"after\"", "[1,1,16,16]", "no colours" } },
    };
    g_autofree gchar *model = matting(TRUE);

    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree gchar *line = g_strdup_printf("tdlfilter model=%s " STATE "model-output=pha %s",
                                                 model, wrong[i].properties);
        GstElement *element = gst_parse_launch(line, NULL);
        GstBus *bus = gst_bus_new();

        gst_object_ref_sink(element);
        gst_element_set_bus(element, bus);
        gst_element_set_state(element, GST_STATE_PAUSED);
        message_expect(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR),
                       GST_MESSAGE_ERROR, wrong[i].words);
        gst_element_set_state(element, GST_STATE_NULL);
        gst_element_set_bus(element, NULL);
        gst_object_unref(bus);
        gst_object_unref(element);
    }
    g_unlink(model);
}
GST_END_TEST;

static Suite *foreground_suite(void)
{
    Suite *suite = suite_create("foreground");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, seen, 0, G_N_ELEMENTS(rows));
    tcase_add_test(tcase, stays_with_mask);
    tcase_add_test(tcase, behind_mask_pad);
    tcase_add_test(tcase, freshest);
    tcase_add_test(tcase, changes);
    tcase_add_test(tcase, usual_name_of_something_else);
    tcase_add_test(tcase, refused);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, foreground_suite(), "foreground");
}
