/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of the metadata that is not ours: segmentationoverlay, which GStreamer has from
 * 1.28 on, draws what tdlfilter attaches. Its colours are its own; they are taken from what
 * it has drawn, and must then explain every pixel, each label at its place. Where the labels
 * are is what mode=mask shows of the same frame, or what the picture was made of.
 */
#include "util.h"

#include <glib/gstdio.h>

enum { UNSURE = 255, LABELS = 3 };

struct scene {
    GstVideoInfo info;
    GstBuffer *plain, *drawn; /* the frame, and the frame drawn upon */
    guint8 *labels;           /* a pixel each */
    gint colors[LABELS][3];   /* as they are drawn */
};

static GstBuffer *run_line(const char *line, const char *caps, GstBuffer *input)
{
    GstHarness *harness = gst_harness_new_parse(line);
    GstBuffer *output;

    fail_unless(harness != NULL, "%s", line);
    gst_harness_set_src_caps_str(harness, caps);
    fail_unless_equals_int(gst_harness_push(harness, gst_buffer_ref(input)), GST_FLOW_OK);
    output = gst_harness_pull(harness);
    gst_harness_teardown(harness);
    return output;
}

/* -------------------------------------------------------------------- what is drawn */

static gint sample(const GstVideoFrame *frame, guint c, guint x, guint y)
{
    return ((const guint8 *)GST_VIDEO_FRAME_COMP_DATA(
        frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE(frame, c) +
                   x * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, c)];
}

/* The label there, of a mask that lies so many pixels further right and down. */
static guint8 label_at(const struct scene *s, gint x, gint y, gint right, gint down)
{
    x = CLAMP(x - right, 0, s->info.width - 1);
    y = CLAMP(y - down, 0, s->info.height - 1);
    return s->labels[y * s->info.width + x];
}

/* A label is drawn as one colour, of which half the pixel is: the mean of what that comes to. */
static void learn_colors(struct scene *s, const GstVideoFrame *plain, const GstVideoFrame *drawn)
{
    for (guint label = 0; label < LABELS; label++) {
        gint64 sum[3] = { 0 }, count = 0;

        for (gint y = 0; y < s->info.height; y++)
            for (gint x = 0; x < s->info.width; x++) {
                if (label_at(s, x, y, 0, 0) != label)
                    continue;
                for (guint c = 0; c < 3; c++)
                    sum[c] += 2 * sample(drawn, c, x, y) - sample(plain, c, x, y);
                count++;
            }
        for (guint c = 0; c < 3 && count; c++)
            s->colors[label][c] = sum[c] / count;
    }
}

/* Pixels that are not as their labels would have them. */
static guint count_wrong(const struct scene *s, const GstVideoFrame *plain,
                         const GstVideoFrame *drawn, gint right, gint down)
{
    guint wrong = 0;

    for (gint y = 0; y < s->info.height; y++)
        for (gint x = 0; x < s->info.width; x++) {
            const guint8 label = label_at(s, x, y, right, down);
            gboolean is_right = TRUE;

            for (guint c = 0; c < 3 && label != UNSURE; c++) {
                const gint was = sample(plain, c, x, y);
                const gint want = label ? (was + s->colors[label][c] + 1) / 2 : was;

                is_right &= ABS(sample(drawn, c, x, y) - want) <= (label ? 2 : 0);
            }
            wrong += !is_right;
        }
    return wrong;
}

static void expect_at_its_place(struct scene *s, guint labels, const char *what)
{
    const guint pixels = s->info.width * s->info.height;
    GstVideoFrame plain, drawn;
    guint found[LABELS] = { 0 }, wrong;
    gint apart = 0;

    fail_unless(gst_video_frame_map(&plain, &s->info, s->plain, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&drawn, &s->info, s->drawn, GST_MAP_READ));
    for (guint i = 0; i < pixels; i++)
        if (s->labels[i] != UNSURE)
            found[s->labels[i]]++;
    for (guint i = 0; i < labels; i++)
        fail_unless(found[i] > pixels / 200, "%s: %u px of label %u", what, found[i], i);
    learn_colors(s, &plain, &drawn);
    for (guint c = 0; c < 3; c++)
        apart = MAX(apart, ABS(s->colors[1][c] - s->colors[labels - 1][c]));
    fail_unless(labels == 2 || apart > 64, "%s: two labels of one colour", what);
    wrong = count_wrong(s, &plain, &drawn, 0, 0);
    fail_unless(wrong == 0, "%s: %u of %u px are not drawn as they are labelled", what, wrong,
                pixels);
    for (gint i = -1; i < 2; i += 2)
        fail_unless(count_wrong(s, &plain, &drawn, i, 0) > 10 &&
                        count_wrong(s, &plain, &drawn, 0, i) > 10,
                    "%s: one would not see that the labels are a pixel further", what);
    gst_video_frame_unmap(&drawn);
    gst_video_frame_unmap(&plain);
}

static void draw(struct scene *s, const char *line, const char *caps, GstBuffer *input)
{
    g_autofree gchar *plain = g_strdup_printf("tdlfilter %s", line);
    g_autofree gchar *drawn =
        g_strdup_printf("tdlfilter %s meta=segmentation ! segmentationoverlay", line);

    s->plain = run_line(plain, caps, input);
    s->drawn = run_line(drawn, caps, input);
}

static void scene_clear(struct scene *s)
{
    gst_buffer_unref(s->plain);
    gst_buffer_unref(s->drawn);
    g_free(s->labels);
}

/* -------------------------------------------------------------------------- somebody */

static const struct {
    const char *line, *caps;
} rows[] = {
    { "mode=passthrough", "video/x-raw,format=RGB,width=256,height=256,framerate=30/1" },
    /* Rows that are no whole words, nor as long as those of the labels. */
    { "mode=passthrough", "video/x-raw,format=RGB,width=133,height=99,framerate=30/1" },
    { "mode=blur input-fit=letterbox",
      "video/x-raw,format=BGRx,width=180,height=101,framerate=30/1" },
};

GST_START_TEST(somebody)
{
    const char *caps = rows[__i__].caps, *fit = strstr(rows[__i__].line, "input-fit");
    g_autofree gchar *reference = g_strdup_printf("tdlfilter mode=mask %s", fit ? fit : "");
    GstBuffer *input = picture_portrait_as(caps, 0), *mask = run_line(reference, caps, input);
    struct scene s = { 0 };
    GstVideoInfo grey;
    GstVideoFrame frame;

    caps_info(caps, &s.info);
    gst_video_info_set_format(&grey, GST_VIDEO_FORMAT_GRAY8, s.info.width, s.info.height);
    s.labels = g_malloc(s.info.width * s.info.height);
    fail_unless(gst_video_frame_map(&frame, &grey, mask, GST_MAP_READ));
    for (gint i = 0; i < s.info.width * s.info.height; i++) {
        const gint value = sample(&frame, 0, i % s.info.width, i / s.info.width);

        s.labels[i] = value == 127 || value == 128 ? UNSURE : value > 128;
    }
    gst_video_frame_unmap(&frame);
    draw(&s, rows[__i__].line, caps, input);
    expect_at_its_place(&s, 2, rows[__i__].line);
    scene_clear(&s);
    gst_buffer_unref(mask);
    gst_buffer_unref(input);
}
GST_END_TEST;

/* ---------------------------------------------------------------------------- classes */

static gchar *folder; /* folder of the network */

/* Blots whose largest colour is their class, as it is the network's, which has no weights. */
static GstBuffer *blots(struct scene *s, GRand *rand, guint size)
{
    GstBuffer *picture = gst_buffer_new_allocate(NULL, s->info.size, NULL);
    const gint across = s->info.width / size + 1;
    g_autofree guint8 *classes = g_malloc(across * (s->info.height / size + 1));
    GstMapInfo map;

    for (gint i = 0; i < across * (s->info.height / (gint)size + 1); i++)
        classes[i] = g_rand_int_range(rand, 0, LABELS);
    s->labels = g_malloc(s->info.width * s->info.height);
    fail_unless(gst_buffer_map(picture, &map, GST_MAP_WRITE));
    for (gint y = 0; y < s->info.height; y++)
        for (gint x = 0; x < s->info.width; x++) {
            const guint8 label = classes[y / size * across + x / size];
            guint8 *rgb = map.data + y * s->info.stride[0] + 3 * x;

            for (guint c = 0; c < 3; c++)
                rgb[c] = g_rand_int_range(rand, 0, 60) + (c == label ? 150 : 0);
            s->labels[y * s->info.width + x] = label;
        }
    gst_buffer_unmap(picture, &map);
    return picture;
}

static const struct {
    guint width, height, model[2];
    const char *fit;
    GstVideoRectangle crop;
} class_rows[] = {
    { 32, 18, { 32, 18 }, "stretch" },
    { 37, 19, { 37, 19 }, "stretch" },
    { 18, 32, { 33, 32 }, "letterbox" },
    { 64, 48, { 24, 18 }, "stretch", { 16, 6, 24, 18 } },
};

/* Round a crop nothing is drawn. */
static void crop_labels(struct scene *s, const GstVideoRectangle *crop)
{
    for (gint i = 0; i < s->info.width * s->info.height; i++) {
        const gint x = i % s->info.width - crop->x, y = i / s->info.width - crop->y;

        if (x < 0 || y < 0 || x >= crop->w || y >= crop->h)
            s->labels[i] = 0;
    }
}

static void write_network(void)
{
    g_autofree gchar *path = g_build_filename(folder, "colors.param", NULL);
    g_autofree gchar *weights = g_build_filename(folder, "colors.bin", NULL);
    static const gchar text[] = "7767517\n2 2\nInput in 0 1 data 2=3\nReLU same 1 1 data out\n";

    fail_unless(g_file_set_contents(path, text, -1, NULL));
    fail_unless(g_file_set_contents(weights, "", 0, NULL));
}

GST_START_TEST(classes)
{
    const GstVideoRectangle *crop = &class_rows[__i__].crop;
    g_autofree gchar *line = g_strdup_printf(
        "mode=classes model=%s/colors.param model-size=%ux%u input-fit=%s", folder,
        class_rows[__i__].model[0], class_rows[__i__].model[1], class_rows[__i__].fit);
    g_autofree gchar *caps =
        g_strdup_printf("video/x-raw,format=RGB,width=%u,height=%u,framerate=30/1",
                        class_rows[__i__].width, class_rows[__i__].height);
    GRand *rand = g_rand_new_with_seed(util_seed());
    struct scene s = { 0 };
    GstBuffer *input;

    write_network();
    caps_info(caps, &s.info);
    input = blots(&s, rand, 3);
    if (crop->w) {
        GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(input);

        meta->x = crop->x;
        meta->y = crop->y;
        meta->width = crop->w;
        meta->height = crop->h;
        crop_labels(&s, crop);
    }
    draw(&s, line, caps, input);
    expect_at_its_place(&s, LABELS, line);
    scene_clear(&s);
    gst_buffer_unref(input);
    g_rand_free(rand);
}
GST_END_TEST;

static void remove_network(void)
{
    static const gchar *const names[] = { "colors.param", "colors.bin" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree gchar *path = g_build_filename(folder, names[i], NULL);

        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
}

/* Why it cannot be run here; NULL: it can. */
static const char *missing(void)
{
#ifdef HAVE_ANALYTICS
    GstElementFactory *overlay = gst_element_factory_find("segmentationoverlay");

    if (!overlay)
        return "no segmentationoverlay, which GStreamer's plugins-bad have from 1.28 on";
    gst_object_unref(overlay);
    return NULL;
#else
    return "tdlfilter is built without gstreamer-analytics-1.0 >= 1.26";
#endif
}

int main(int argc, char **argv)
{
    Suite *suite;
    TCase *tests;
    int result;

    gst_init(&argc, &argv);
    if (missing()) {
        g_print("skipped: %s\n", missing());
        return 77;
    }
    suite = suite_create("overlay");
    tests = tcase_create("overlay");
    folder = g_dir_make_tmp("tdl-overlay-XXXXXX", NULL);
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, somebody, 0, G_N_ELEMENTS(rows));
    tcase_add_loop_test(tests, classes, 0, G_N_ELEMENTS(class_rows));
    suite_add_tcase(suite, tests);
    result = util_main_one_device(argc, argv, suite, "overlay");
    remove_network();
    return result;
}
