/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models whose output is shown itself, in mode=picture and mode=classes: as ncnn's
 * text, which small ones without weights can be written in, whole frames through the
 * element; what comes out is computed here from what goes in.
 */
#include "util.h"

#include <glib/gstdio.h>
#include <string.h>

#define W 32
#define H 18
#define CAPS(format, w, h)                                                                         \
    "video/x-raw,format=" format ",width=" G_STRINGIFY(w) ",height=" G_STRINGIFY(                  \
        h) ",framerate=30/1,pixel-aspect-ratio=2/1"

static gchar *folder;

/* Layers behind the picture "data", to "out"; returns properties that load it. */
static gchar *model(const gchar *name, const gchar *layer, const gchar *properties)
{
    g_autofree gchar *path = g_strdup_printf("%s/%s.param", folder, name);
    g_autofree gchar *weights = g_strdup_printf("%s/%s.bin", folder, name);
    g_autofree gchar *text = g_strdup_printf("7767517\n2 2\nInput in 0 1 data 0=%d 1=%d 2=3\n%s\n",
                                             W, H, layer);

    fail_unless(g_file_set_contents(path, text, -1, NULL));
    fail_unless(g_file_set_contents(weights, "", 0, NULL));
    return g_strdup_printf("model=%s model-size=%dx%d %s", path, W, H, properties);
}
static gchar *twice(const gchar *properties) /* as large, pixel by pixel */
{
    return model("twice", "Interp up 1 1 data out 0=1 1=2.0 2=2.0", properties);
}
static gchar *same(const gchar *properties)
{
    return model("same", "ReLU same 1 1 data out", properties);
}
static gchar *red(const gchar *properties)
{
    return model("red", "Crop red 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=1", properties);
}

/* The mean of nine, as large again: what is near a border knows little. */
static gchar *blurred(const gchar *size, const gchar *properties)
{
    g_autofree gchar *path = g_strdup_printf("%s/blurred.param", folder);
    g_autofree gchar *weights = g_strdup_printf("%s/blurred.bin", folder);

    fail_unless(g_file_set_contents(path, "7767517\n3 3\nInput in 0 1 data 2=3\n"
                                          "Pooling mean 1 1 data mean 0=1 1=3 2=1 3=1 6=1\n"
                                          "Interp up 1 1 mean out 0=1 1=2.0 2=2.0\n", -1, NULL));
    fail_unless(g_file_set_contents(weights, "", 0, NULL));
    return g_strdup_printf("model=%s mode=picture model-size=%s %s", path, size, properties);
}

static gchar *any_size(void)
{
    gchar *text = same(""), *end = strstr(text, " model-size");
    gchar *properties;

    *end = 0;
    properties = g_strdup_printf("%s mode=picture model-size=frame", text);

    g_free(text);
    return properties;
}

static void start(struct filter *f, gchar *properties, const gchar *caps)
{
    filter_start(f, properties, caps);
    g_free(properties);
}

/* Byte c of pixel (x, y), of three bytes a pixel. */
static gint byte_at(GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y, gint c)
{
    GstVideoFrame frame;
    gint value;

    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_READ));
    value = ((guint8 *)frame.data[0])[y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 3 * x + c];
    gst_video_frame_unmap(&frame);
    return value;
}

static void expect_rgb(GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y, guint rgb,
                       const gchar *what)
{
    for (gint c = 0; c < 3; c++) {
        const gint got = byte_at(buffer, info, x, y, c), want = rgb >> (16 - 8 * c) & 255;

        fail_unless(ABS(got - want) <= 1, "%s: channel %d of %d,%d is %d, not %d", what, c, x, y,
                    got, want);
    }
}

GST_START_TEST(grows)
{
    struct filter f;
    GstVideoInfo in, out;
    GstBuffer *picture, *made;

    caps_info(CAPS("RGB", 32, 18), &in);
    start(&f, twice("mode=picture"), CAPS("RGB", 32, 18));
    picture = picture_new(&in, 0);
    made = filter_run(&f, gst_buffer_ref(picture));
    filter_output_info(&f, &out);
    fail_unless(out.width == 2 * W && out.height == 2 * H && out.par_n == 2 && out.fps_n == 30);
    for (gint y = 0; y < 2 * H; y++)
        for (gint x = 0; x < 2 * W; x++)
            for (gint c = 0; c < 3; c++) {
                const gint got = byte_at(made, &out, x, y, c);
                const gint want = byte_at(picture, &in, x / 2, y / 2, c);

                fail_unless(ABS(got - want) <= 1, "%d,%d,%d: %d, not %d", x, y, c, got, want);
            }
    filter_expect_no_error(&f);
    gst_buffer_unref(made);
    gst_buffer_unref(picture);
    filter_stop(&f);
}
GST_END_TEST;

/* The largest difference of two pictures. */
static gint difference(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info)
{
    GstVideoFrame frames[2];
    gint most = 0;

    fail_unless(gst_video_frame_map(&frames[0], info, a, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&frames[1], info, b, GST_MAP_READ));
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(info); c++)
        for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frames[0], c); y++)
            for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frames[0], c); x++) {
                gint at[2];

                for (guint i = 0; i < 2; i++)
                    at[i] = ((guint8 *)GST_VIDEO_FRAME_COMP_DATA(&frames[i], c))
                        [y * GST_VIDEO_FRAME_COMP_STRIDE(&frames[i], c) +
                         x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frames[i], c)];
                most = MAX(most, ABS(at[0] - at[1]));
            }
    gst_video_frame_unmap(&frames[0]);
    gst_video_frame_unmap(&frames[1]);
    return most;
}

static GstBuffer *enlarge(const gchar *caps, gchar *properties, GstVideoInfo *out_info)
{
    struct filter f;
    GstVideoInfo in;
    GstBuffer *made;

    caps_info(caps, &in);
    start(&f, properties, caps);
    made = filter_run(&f, picture_new(&in, 0));
    filter_output_info(&f, out_info);
    filter_expect_no_error(&f);
    filter_stop(&f);
    return made;
}

/* Tile by tile a picture is what it is as a whole, unless tiles are cut where they see
 * too little. */
GST_START_TEST(tiles)
{
    static const struct {
        const gchar *caps, *size, *tile;
        gint overlap;
        gboolean seams;
    } rows[] = {
        { CAPS("RGB", 101, 71), "101x71", "48x20", 1, FALSE },
        { CAPS("RGB", 101, 71), "101x71", "48x20", 0, TRUE },
        { CAPS("NV12", 130, 66), "130x66", "33x41", 5, FALSE },
        { CAPS("I420", 98, 50), "98x50", "40x50", 16, FALSE },
        { CAPS("YUY2", 48, 10), "48x10", "23x7", 1000, FALSE },
        { CAPS("RGB", 64, 40), "64x40", "64x40", 16, FALSE }, /* one */
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree gchar *how = g_strdup_printf("input-fit=tiles tile-overlap=%d", rows[i].overlap);
        GstVideoInfo info, in_tiles;
        GstBuffer *whole = enlarge(rows[i].caps, blurred(rows[i].size, ""), &info);
        GstBuffer *made = enlarge(rows[i].caps, blurred(rows[i].tile, how), &in_tiles);
        gint most;

        fail_unless_equals_int(in_tiles.width, info.width);
        fail_unless_equals_int(in_tiles.height, info.height);
        most = difference(whole, made, &info);
        fail_unless(rows[i].seams ? most > 8 : most <= 1, "%s in tiles of %s: %d", rows[i].caps,
                    rows[i].tile, most);
        gst_buffer_unref(whole);
        gst_buffer_unref(made);
    }
}
GST_END_TEST;

static GstBuffer *run_color(struct filter *f, const GstVideoInfo *info, guint rgb)
{
    return filter_run(f, picture_new_color(info, 0xff000000 | rgb));
}

static void check_color(gchar *properties, guint in, guint out)
{
    g_autofree gchar *what = g_strdup(properties);
    struct filter f;
    GstVideoInfo info;
    GstBuffer *made;

    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, properties, CAPS("RGB", 32, 18));
    made = run_color(&f, &info, in);
    expect_rgb(made, &info, 0, 0, out, what);
    expect_rgb(made, &info, W - 1, H - 1, out, what);
    gst_buffer_unref(made);
    filter_stop(&f);
}

/* The largest of red, green and blue is the class. */
GST_START_TEST(classes_in_color)
{
    check_color(same("mode=classes opacity=1"), 0xf01020, 0xf01020); /* class 0 is clear */
    check_color(same("mode=classes opacity=1"), 0x10f020, 0x800000);
    check_color(same("mode=classes opacity=0.5"), 0x10f020, 0x487810);
    check_color(same("mode=classes opacity=1"), 0x1020f0, 0x008000);
    check_color(same("mode=classes opacity=1 palette=1,2,0x304050"), 0x1020f0, 0x304050);
    check_color(same("mode=classes opacity=1 classes=<2>"), 0x10f020, 0x10f020);
    check_color(same("mode=classes opacity=1 classes=<0>"), 0xf01020, 0x000000);
    check_color(red("mode=classes opacity=1"), 0xf00000, 0x800000); /* one class, or none */
    check_color(red("mode=classes opacity=1"), 0x400000, 0x400000);
}
GST_END_TEST;

GST_START_TEST(grey_and_colors)
{
    check_color(red("mode=picture"), 0x803020, 0x808080);
    check_color(red("mode=picture output-range=1,0"), 0x803020, 0x7f7f7f);
    check_color(same("mode=picture input-range=0,255 output-range=0,255"), 0x803020, 0x803020);
    check_color(same("mode=picture input-order=bgr"), 0x803020, 0x803020);
    check_color(same("mode=picture input-fit=letterbox"), 0x803020, 0x803020);
    check_color(same("mode=classes opacity=1 input-fit=letterbox"), 0x10f020, 0x800000);
    /* The polynomial at 0, and at the middle whatever the range. */
    check_color(red("mode=picture colormap=turbo"), 0x003020, 0x23171b);
    check_color(red("mode=picture colormap=turbo input-range=0,2 output-range=0,2"), 0x003020,
                0x23171b);
    check_color(red("mode=picture colormap=turbo decoder=depth"), 0x803020, 0x23171b);
}
GST_END_TEST;

/* Between the least and the greatest value of the frame. */
GST_START_TEST(depth)
{
    struct filter f;
    GstVideoInfo info;
    GstBuffer *picture;
    GstMapInfo map;

    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, red("mode=picture decoder=depth"), CAPS("RGB", 32, 18));
    picture = picture_new_color(&info, 0xff404040);
    fail_unless(gst_buffer_map(picture, &map, GST_MAP_WRITE));
    map.data[0] = 0x30; /* the first pixel's red, and the second's */
    map.data[3] = 0x50;
    gst_buffer_unmap(picture, &map);
    picture = filter_run(&f, picture);
    expect_rgb(picture, &info, 0, 0, 0x000000, "the least");
    expect_rgb(picture, &info, 1, 0, 0xffffff, "the greatest");
    expect_rgb(picture, &info, 9, 9, 0x808080, "between");
    gst_buffer_unref(picture);
    filter_stop(&f);
}
GST_END_TEST;

/* NaN, from the logarithm of 0 or less, is drawn dark, and nothing else is. */
GST_START_TEST(depth_without_numbers)
{
    static const struct {
        const gchar *properties;
        guint between;
    } rows[] = { { "", 0x808080 }, { "input-range=-0.1,1", 0x9e9e9e } };
    static const guint8 greys[] = { 0x00, 0x20, 0x80 };
    g_autofree gchar *all =
        g_strdup_printf("mode=picture decoder=depth %s", rows[__i__].properties);
    struct filter f;
    GstVideoInfo info;
    GstBuffer *picture;
    GstMapInfo map;

    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, model("log", "UnaryOp log 1 1 data out 0=8", all), CAPS("RGB", 32, 18));
    picture = picture_new_color(&info, 0xff404040);
    fail_unless(gst_buffer_map(picture, &map, GST_MAP_WRITE));
    for (guint i = 0; i < G_N_ELEMENTS(greys); i++)
        memset(map.data + 3 * i, greys[i], 3);
    gst_buffer_unmap(picture, &map);
    picture = filter_run(&f, picture);
    expect_rgb(picture, &info, 0, 0, 0x000000, "no number");
    expect_rgb(picture, &info, 1, 0, 0x000000, "the least");
    expect_rgb(picture, &info, 2, 0, 0xffffff, "the greatest");
    expect_rgb(picture, &info, 9, 9, rows[__i__].between, "between");
    gst_buffer_unref(picture);
    filter_stop(&f);
}
GST_END_TEST;

/* Until frames have that width. */
static void run_until(struct filter *f, const GstVideoInfo *info, gint width)
{
    GstVideoInfo out;

    do {
        g_usleep(1000);
        gst_buffer_unref(run_color(f, info, 0x10f020));
        filter_output_info(f, &out);
    } while (out.width != width);
}

/* From a picture to a mask laid over, to classes, and back, while frames come. */
GST_START_TEST(modes_change)
{
    struct filter f;
    GstVideoInfo info;

    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, twice("mode=picture"), CAPS("RGB", 32, 18));
    run_until(&f, &info, 2 * W);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "overlay");
    run_until(&f, &info, W);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "picture");
    run_until(&f, &info, 2 * W);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "passthrough");
    run_until(&f, &info, W);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "picture");
    run_until(&f, &info, 2 * W);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "classes");
    run_until(&f, &info, W);
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* A size that downstream takes becomes one that it does not. */
GST_START_TEST(too_large_for_downstream)
{
    g_autofree gchar *smaller = same("mode=picture"), *larger = twice("");
    struct filter f;
    GstVideoInfo info;
    GstFlowReturn flow;

    *strchr(larger, ' ') = 0; /* the picture is shrunk behind the decoder */
    caps_info(CAPS("RGB", 32, 18), &info);
    filter_start(&f, smaller, NULL);
    gst_harness_set_caps_str(f.harness, CAPS("RGB", 32, 18), CAPS("RGB", 32, 18));
    gst_util_set_object_arg(G_OBJECT(f.element), "model", larger + strlen("model="));
    do {
        g_usleep(1000);
        flow = gst_harness_push(f.harness, picture_new_color(&info, 0xff10f020));
        gst_clear_buffer(&(GstBuffer *){ gst_harness_try_pull(f.harness) });
    } while (flow == GST_FLOW_OK);
    fail_unless_equals_int(flow, GST_FLOW_NOT_NEGOTIATED);
    message_expect(filter_message(&f, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR,
                   (const char *[]){ "64x36 px of 32x18", "takes 32x18", "videoscale", NULL });
    filter_stop(&f);
}
GST_END_TEST;

/* The network's picture follows the frame's size. */
GST_START_TEST(frame_sized)
{
    static const gchar *const sizes[] = { CAPS("RGB", 40, 24), CAPS("RGB", 33, 17) };
    struct filter f;
    GstVideoInfo in, out;

    start(&f, any_size(), sizes[0]);
    for (guint i = 0; i < 4; i++) {
        GstBuffer *picture, *made;

        caps_info(sizes[i / 2], &in);
        if (i == 2)
            gst_harness_set_src_caps_str(f.harness, sizes[1]);
        picture = picture_new(&in, i);
        made = filter_run(&f, gst_buffer_ref(picture));
        filter_output_info(&f, &out);
        fail_unless(out.width == in.width && out.height == in.height);
        picture_compare(made, picture, &in, 1, "of the frame's size");
        gst_buffer_unref(made);
        gst_buffer_unref(picture);
    }
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* Between the network's runs its last output stays. */
GST_START_TEST(interval)
{
    struct filter f;
    GstVideoInfo info;
    GstBuffer *made;

    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, same("mode=classes opacity=1 interval=3"), CAPS("RGB", 32, 18));
    for (guint i = 0; i < 4; i++) {
        made = run_color(&f, &info, i ? 0x1020f0 : 0x10f020);
        expect_rgb(made, &info, 3, 3, i < 3 ? 0x800000 : 0x008000, "a frame");
        gst_buffer_unref(made);
    }
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), 2);
    filter_stop(&f);
}
GST_END_TEST;

/* By properties, and by what lies beside the model. */
GST_START_TEST(legend)
{
    g_autofree gchar *labels = g_strdup_printf("%s/labels.txt", folder);
    g_autofree gchar *beside = g_strdup_printf("%s/same.modelinfo", folder);
    g_autofree gchar *properties =
        g_strdup_printf("mode=classes labels=%s palette=1,2,3", labels);
    const GstStructure *s;
    GstVideoInfo info;
    struct filter f;
    GstMessage *message;

    fail_unless(g_file_set_contents(labels, "background\ncat\r\n dog\n\n", -1, NULL));
    if (__i__) {
        fail_unless(g_file_set_contents(beside,
                                        "[modelinfo]\nversion=1.0\n"
                                        "[tdlfilter]\nlabels=labels.txt\npalette=1,2,3\n",
                                        -1, NULL));
        *strstr(properties, " labels=") = '\0';
    }
    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, same(properties), CAPS("RGB", 32, 18));
    gst_buffer_unref(run_color(&f, &info, 0));
    message = filter_message(&f, GST_MESSAGE_ELEMENT);
    fail_unless(message != NULL);
    s = gst_message_get_structure(message);
    fail_unless_equals_string(gst_structure_get_name(s), "tdl-legend");
    const GValue *names = gst_structure_get_value(s, "names");
    const GValue *colors = gst_structure_get_value(s, "colors");
    fail_unless_equals_int(gst_value_array_get_size(names), 3);
    fail_unless_equals_int(gst_value_array_get_size(colors), 3);
    fail_unless_equals_string(g_value_get_string(gst_value_array_get_value(names, 1)), "cat");
    fail_unless_equals_string(g_value_get_string(gst_value_array_get_value(names, 2)), "dog");
    fail_unless_equals_int(g_value_get_uint(gst_value_array_get_value(colors, 2)), 3);
    gst_message_unref(message);
    filter_stop(&f);
    g_unlink(beside);
}
GST_END_TEST;

/* A class that the labels do not name, in each mode that counts them. */
GST_START_TEST(unnamed_class)
{
    static const gchar *const modes[] = { "classes", "mask" };
    g_autofree gchar *labels = g_strdup_printf("%s/labels.txt", folder);
    g_autofree gchar *properties =
        g_strdup_printf("mode=%s labels=%s decoder=softmax classes=<0,2>", modes[__i__], labels);
    GstVideoInfo info;
    struct filter f;

    fail_unless(g_file_set_contents(labels, "background\ncat\n", -1, NULL));
    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, same(properties), CAPS("RGB", 32, 18));
    gst_buffer_unref(run_color(&f, &info, 0));
    message_expect(filter_message(&f, GST_MESSAGE_WARNING), GST_MESSAGE_WARNING,
                   (const char *[]){ "\"classes\" has 2", "labels.txt", "0 to 1", NULL });
    filter_stop(&f);
}
GST_END_TEST;

/* More names than the model tells apart, which of one channel is two, in a mode that shows no
 * legend, too. */
static const struct {
    gchar *(*model)(const gchar *properties);
    const gchar *properties, *has;
} foreign[] = {
    { same, "mode=classes decoder=softmax", "has 3" },
    { same, "mode=mask decoder=softmax", "has 3" },
    { red, "mode=classes", "has 2" },
    { red, "mode=mask", "has 2" },
};

GST_START_TEST(labels_of_another_model)
{
    g_autofree gchar *labels = g_strdup_printf("%s/labels.txt", folder);
    g_autofree gchar *properties =
        g_strdup_printf("%s labels=%s", foreign[__i__].properties, labels);
    GstVideoInfo info;
    struct filter f;

    fail_unless(g_file_set_contents(labels, "a\nb\nc\nd\ne\n", -1, NULL));
    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, foreign[__i__].model(properties), CAPS("RGB", 32, 18));
    gst_buffer_unref(run_color(&f, &info, 0));
    message_expect(filter_message(&f, GST_MESSAGE_WARNING), GST_MESSAGE_WARNING,
                   (const char *[]){ "labels.txt", "5 classes", foreign[__i__].has, NULL });
    filter_stop(&f);
}
GST_END_TEST;

/* Also in modes that show no legend. */
GST_START_TEST(no_such_labels)
{
    static const gchar *const modes[] = { "classes", "mask" };
    g_autofree gchar *properties = g_strdup_printf("mode=%s labels=%s/none", modes[__i__], folder);
    GstVideoInfo info;
    struct filter f;

    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, same(properties), CAPS("RGB", 32, 18));
    gst_buffer_unref(run_color(&f, &info, 0));
    message_expect(filter_message(&f, GST_MESSAGE_WARNING), GST_MESSAGE_WARNING,
                   (const char *[]){ "Cannot read labels \"", "/none\"",
                                     "Give a file with a name in each line.", NULL });
    filter_stop(&f);
}
GST_END_TEST;

GST_START_TEST(labels_that_are_no_text)
{
    g_autofree gchar *labels = g_strdup_printf("%s/labels.txt", folder);
    g_autofree gchar *properties = g_strdup_printf("mode=classes labels=%s", labels);
    GstVideoInfo info;
    struct filter f;

    fail_unless(g_file_set_contents(labels, "cat\n\0dog\n", 9, NULL));
    caps_info(CAPS("RGB", 32, 18), &info);
    start(&f, same(properties), CAPS("RGB", 32, 18));
    gst_buffer_unref(run_color(&f, &info, 0));
    message_expect(filter_message(&f, GST_MESSAGE_WARNING), GST_MESSAGE_WARNING,
                   (const char *[]){ "labels.txt", "no text in UTF-8", NULL });
    filter_stop(&f);
}
GST_END_TEST;

/* Raised to more tiles than a frame may have, the overlap stays as it was, and once says so. */
GST_START_TEST(overlap_too_large)
{
    GstVideoInfo info;
    struct filter f;

    caps_info(CAPS("RGB", 200, 60), &info);
    start(&f, blurred("40x20", "input-fit=tiles tile-overlap=1"), CAPS("RGB", 200, 60));
    gst_buffer_unref(run_color(&f, &info, 0));
    for (guint overlap = 100; overlap < 102; overlap++) {
        g_object_set(f.element, "tile-overlap", overlap, NULL);
        for (guint i = 0; i < 2; i++)
            gst_buffer_unref(run_color(&f, &info, 0));
        message_expect(filter_message(&f, GST_MESSAGE_WARNING), GST_MESSAGE_WARNING,
                       (const char *[]){ "tile-overlap=10", "goes on with 1", NULL });
        fail_unless(filter_message(&f, GST_MESSAGE_WARNING) == NULL);
    }
    g_object_set(f.element, "tile-overlap", 2, NULL);
    gst_buffer_unref(run_color(&f, &info, 0));
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

/* Settings that cannot work are refused with an error that says what to do. */
static void refused(gchar *properties, const gchar *const *words)
{
    g_autofree gchar *line = g_strdup_printf("videotestsrc num-buffers=1 ! video/x-raw,width=2000,"
                                             "height=1100 ! tdlfilter name=t %s ! fakesink",
                                             properties);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    GstMessage *message;

    fail_unless(pipeline != NULL, "%s", line);
    g_free(properties);
    message = pipeline_play(pipeline, 0);
    message_expect(message, GST_MESSAGE_ERROR, words);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

GST_START_TEST(errors)
{
    refused(same("mode=picture output-range=3,3"),
            (const gchar *[]){ "output-range", "3,3", NULL });
    refused(same("mode=picture output-range=1"), (const gchar *[]){ "output-range", NULL });
    refused(same("mode=classes classes=<7>"), (const gchar *[]){ "classes", "0 to 2", NULL });
    refused(same("mode=picture colormap=turbo"),
            (const gchar *[]){ "colormap", "one channel", NULL });
    refused(same("mode=classes palette=red"), (const gchar *[]){ "palette", "0xff0000", NULL });
    refused(same("mode=classes palette=0x80ff0000"), (const gchar *[]){ "without alpha", NULL });
    refused(same("mode=picture t.mask_src ! fakesink t."),
            (const gchar *[]){ "mask_src", "another mode", NULL });
    refused(any_size(), (const gchar *[]){ "model-size=frame", "1920x1080", "2000x1100", NULL });
    refused(blurred("64x64", "input-fit=tiles tile-overlap=0"),
            (const gchar *[]){ "576 tiles", "60", "model-size", NULL });
    refused(same("mode=mask decoder=softmax input-fit=tiles"),
            (const gchar *[]){ "tiles", "mode=picture", NULL });
    refused(same("mode=picture decoder=depth input-fit=tiles"),
            (const gchar *[]){ "tiles", "depth", NULL });
    refused(same("mode=picture input-fit=crop"), (const gchar *[]){ "input-fit", NULL });
    refused(twice("mode=picture ! video/x-raw,width=2000"),
            (const gchar *[]){ "4000x2200 px of 2000x1100", "2000xany", "videoscale", NULL });
    refused(model("two", "Crop two 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=2", "mode=picture"),
            (const gchar *[]){ "1 or 3 channels", NULL });
}
GST_END_TEST;

int main(int argc, char **argv)
{
    Suite *suite = suite_create("pictures");
    TCase *tc = tcase_create("all");
    int failed;

    folder = g_dir_make_tmp("tdl-pictures-XXXXXX", NULL);
    tcase_set_timeout(tc, 600);
    suite_add_tcase(suite, tc);
    tcase_add_test(tc, grows);
    tcase_add_test(tc, tiles);
    tcase_add_test(tc, classes_in_color);
    tcase_add_test(tc, grey_and_colors);
    tcase_add_test(tc, depth);
    tcase_add_loop_test(tc, depth_without_numbers, 0, 2);
    tcase_add_test(tc, modes_change);
    tcase_add_test(tc, too_large_for_downstream);
    tcase_add_test(tc, frame_sized);
    tcase_add_test(tc, interval);
    tcase_add_loop_test(tc, legend, 0, 2);
    tcase_add_loop_test(tc, unnamed_class, 0, 2);
    tcase_add_loop_test(tc, labels_of_another_model, 0, G_N_ELEMENTS(foreign));
    tcase_add_loop_test(tc, no_such_labels, 0, 2);
    tcase_add_test(tc, labels_that_are_no_text);
    tcase_add_test(tc, overlap_too_large);
    tcase_add_test(tc, errors);
    failed = util_main_one_device(argc, argv, suite, "pictures");
    for (const gchar *const *name =
             (const gchar *const[]){ "twice", "same", "red", "two", "blurred", "log", NULL };
         *name; name++) {
        g_autofree gchar *param = g_strdup_printf("%s/%s.param", folder, *name);
        g_autofree gchar *bin = g_strdup_printf("%s/%s.bin", folder, *name);

        g_unlink(param);
        g_unlink(bin);
    }
    g_autofree gchar *labels = g_strdup_printf("%s/labels.txt", folder);
    g_unlink(labels);
    g_rmdir(folder);
    g_free(folder);
    return failed;
}
