/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fail-closed: what leaves in mode=blur and mode=replace while there is no mask, or only one
 * of another frame. The room is a chequerboard of single pixels, which the networks here
 * hold for background: of what leaves no pixel may look like it. They take the red channel
 * for the mask, and are written as ncnn's text.
 */
#include "util.h"

#include <glib/gstdio.h>
#include <string.h>

#define SIZE "width=64,height=48,framerate=30/1"
#define CAPS "video/x-raw,format=RGB," SIZE
#define COLOR 0x30a010 /* in the room's place with mode=replace */
#define HIDE                                                                                       \
    "background-color=0xff30a010 blur-radius=8 threshold=0.8 feather=0 smoothing=0.9 "             \
    "close-holes=false "

static gchar *folder;

/* `layers` from the picture "data" to "out", as a file's path. */
static gchar *model(const gchar *name, const gchar *layers)
{
    static const guint8 one[] = { 0, 0, 0, 0, 0, 0, 0x80, 0x3f }; /* a filter of float32 */
    gchar *path = g_strdup_printf("%s/%s.param", folder, name);
    g_autofree gchar *weights = g_strdup_printf("%s/%s.bin", folder, name);
    g_autofree gchar *text = NULL;
    const gboolean has_filter = strstr(layers, "Convolution") != NULL;
    guint count = 2;

    for (const gchar *c = layers; *c; c++)
        count += *c == '\n';
    text = g_strdup_printf("7767517\n%u %u\nInput in 0 1 data 0=64 1=48 2=3\n%s\n", count, count,
                           layers);
    fail_unless(g_file_set_contents(path, text, -1, NULL));
    fail_unless(g_file_set_contents(weights, has_filter ? (const gchar *)one : "",
                                    has_filter ? sizeof(one) : 0, NULL));
    return path;
}
static gchar *red(void)
{
    return model("red", "Crop red 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=1");
}
#define RED_ONLY "Crop red 1 1 data red 0=0 1=0 2=0 3=0 4=0 5=1\n"
/* A recurrent network: foreground stays foreground. */
static gchar *keeper(void)
{
    return model("keeper", "Input before 0 1 before 0=64 1=48 2=1\n" RED_ONLY
                           "BinaryOp most 2 1 red before out 0=4");
}
static gchar *(*const memories[])(void) = { red, keeper };
static const gchar *const states[] = { "", "model-state=before=out" };
/* Networks whose red channel becomes NaN or infinite. */
static const struct no_number {
    const gchar *name, *range, *layers;
} no_number[] = {
    { "log", "-2,-1", RED_ONLY "UnaryOp log 1 1 red out 0=8" },
    { "log-conv", "-2,-1",
      RED_ONLY "UnaryOp log 1 1 red log 0=8\n"
               "Convolution conv 1 1 log out 0=1 1=1 6=1" },
    { "log-conv-sigmoid", "-2,-1",
      RED_ONLY "UnaryOp log 1 1 red log 0=8\n"
               "Convolution conv 1 1 log conv 0=1 1=1 6=1\n"
               "Sigmoid sigmoid 1 1 conv out" },
    { "exp", "100,200", RED_ONLY "UnaryOp exp 1 1 red out 0=7" },
    { "exp-neg", "100,200",
      RED_ONLY "UnaryOp exp 1 1 red exp 0=7\n"
               "UnaryOp neg 1 1 exp out 0=1" },
};

static void start(struct filter *f, gchar *path, const gchar *properties)
{
    g_autofree gchar *line =
        g_strdup_printf("model=%s model-size=64x48 " HIDE "%s", path, properties);

    g_free(path);
    filter_start(f, line, CAPS);
}

static guint frames; /* for their times */

static GstBuffer *timed(GstBuffer *buffer)
{
    GST_BUFFER_PTS(buffer) = frames++ * GST_SECOND / 30;
    return buffer;
}

static GstBuffer *room(const GstVideoInfo *info)
{
    GstBuffer *buffer = picture_new_color(info, 0xff000000);
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
    for (gint y = 0; y < info->height; y++)
        for (gint x = 0; x < info->width; x++) {
            guint8 *p =
                (guint8 *)frame.data[0] + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 3 * x;

            p[0] = (x + y) % 2 ? 160 : 20;
            p[1] = (x + y) % 2 ? 20 : 240;
            p[2] = (x + y) % 2 ? 40 : 200;
        }
    gst_video_frame_unmap(&frame);
    return timed(buffer);
}

/* All foreground. */
static GstBuffer *person(const GstVideoInfo *info)
{
    return timed(picture_new_color(info, 0xffff8080));
}

/* How much neighbours differ at most, and how far pixels are from COLOR, inside or outside
 * of a rectangle. */
struct look {
    gint contrast, away;
};
static struct look look_at(GstBuffer *buffer, const GstVideoInfo *info, const gint *except)
{
    struct look look = { 0, 0 };
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_READ));
    for (gint y = 0; y < info->height; y++)
        for (gint x = 0; x < info->width; x++) {
            const guint8 *p =
                (const guint8 *)frame.data[0] + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 3 * x;

            if (except && x >= except[0] && x < except[2] && y >= except[1] && y < except[3])
                continue;
            for (gint c = 0; c < 3; c++) {
                look.away = MAX(look.away, ABS(p[c] - (COLOR >> (16 - 8 * c) & 255)));
                if (x)
                    look.contrast = MAX(look.contrast, ABS(p[c] - p[c - 3]));
            }
        }
    gst_video_frame_unmap(&frame);
    return look;
}

/* Takes the buffer. */
static void expect_hidden(GstBuffer *output, const GstVideoInfo *info, const gchar *mode,
                          const gchar *what)
{
    const struct look look = look_at(output, info, NULL);
    const gboolean hidden = !strcmp(mode, "replace") ? look.away == 0 : look.contrast <= 6;

    fail_unless(hidden, "%s, mode=%s: the room is seen (contrast %d, %d from the colour)", what,
                mode, look.contrast, look.away);
    gst_buffer_unref(output);
}
static void expect_seen(GstBuffer *output, const GstVideoInfo *info, const gchar *what)
{
    const struct look look = look_at(output, info, NULL);

    fail_unless(look.contrast > 60, "%s: the room is hidden (contrast %d)", what, look.contrast);
    gst_buffer_unref(output);
}

/* Neither the colour nor what a blur makes of the room. */
static void expect_person(struct filter *f, const GstVideoInfo *info)
{
    GstBuffer *output = filter_run(f, person(info));
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, output, GST_MAP_READ));
    for (gint x = 0; x < 3 * info->width; x++)
        fail_unless_equals_int(((const guint8 *)frame.data[0])[x], x % 3 ? 128 : 255);
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(output);
}

static const gchar *const modes[] = { "replace", "blur" };
static const gchar *const ways[] = { "", "interval=100", "latency-mode=freshest",
                                     "latency-mode=freshest interval=100", "batch-size=0" };

/* --------------------------------------------------------------------- masks */

/* The first frame has its own mask, whatever the way. */
GST_START_TEST(first_frames)
{
    const gchar *mode = modes[__i__ % 2], *way = ways[__i__ / 2];
    g_autofree gchar *properties = g_strdup_printf("mode=%s %s", mode, way);
    struct filter f;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    start(&f, red(), properties);
    for (guint i = 0; i < 4; i++)
        expect_hidden(filter_run(&f, room(&info)), &info, mode, way);
    fail_unless_equals_uint64(filter_stat(&f, "closed"), 0);
    filter_expect_no_error(&f);
    filter_stop(&f);
}
GST_END_TEST;

enum breach {
    FLUSH,
    SEGMENT,
    GAP,
    DISCONT,
    JUMP,
    CAPS_CHANGE,
    CROP,
    BLUR_OFF,
    PASSTHROUGH,
    STREAM_START,
    BREACHES
};
static const gchar *const breaches[] = { "a flush",           "a segment",           "a gap event",
                                         "DISCONT",           "a gap in time",       "other caps",
                                         "a crop that moves", "no blur for a while", "passthrough",
                                         "another stream" };

static GstBuffer *crop(GstBuffer *buffer, guint x, guint y)
{
    GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(buffer);

    meta->x = x;
    meta->y = y;
    meta->width = 40;
    meta->height = 32;
    return buffer;
}

static void push_event(struct filter *f, GstEvent *event)
{
    fail_unless(gst_harness_push_event(f->harness, event));
}

/* Breaks the stream between a frame of all foreground and the room; fills in the room's caps. */
static void breach(struct filter *f, enum breach what, const gchar *mode, GstVideoInfo *info)
{
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    if (what == FLUSH) {
        push_event(f, gst_event_new_flush_start());
        push_event(f, gst_event_new_flush_stop(TRUE));
    } else if (what == STREAM_START) {
        push_event(f, gst_event_new_stream_start("another"));
    } else if (what == GAP) {
        push_event(f, gst_event_new_gap(0, GST_MSECOND));
    } else if (what == JUMP) {
        frames += 300;
    } else if (what == CAPS_CHANGE) {
        caps_info("video/x-raw,format=RGB,width=62,height=50,framerate=30/1", info);
        gst_harness_set_src_caps_str(f->harness,
                                     "video/x-raw,format=RGB,width=62,height=50,framerate=30/1");
    }
    if (what == FLUSH || what == SEGMENT || what == STREAM_START)
        push_event(f, gst_event_new_segment(&segment));
    if (what != BLUR_OFF && what != PASSTHROUGH)
        return;
    if (what == BLUR_OFF)
        g_object_set(f->element, "blur-radius", 0.0f, NULL);
    else
        gst_util_set_object_arg(G_OBJECT(f->element), "mode", "passthrough");
    expect_seen(filter_run(f, room(info)), info, "as it was asked for");
    g_object_set(f->element, "blur-radius", 8.0f, NULL);
    gst_util_set_object_arg(G_OBJECT(f->element), "mode", mode);
}

/* A mask of before would show all of the room, and so would the memory of a network. */
GST_START_TEST(old_masks)
{
    const enum breach what = __i__ / 2;
    const gchar *mode = modes[what == BLUR_OFF ? 1 : __i__ % 2];
    g_autofree gchar *properties = NULL;
    struct filter f;
    GstVideoInfo info;

    for (guint i = 2; i < 2 * G_N_ELEMENTS(ways); i++) {
        const guint way = i / 2, kept = i % 2;
        GstBuffer *input;

        caps_info(CAPS, &info);
        g_free(properties);
        properties = g_strdup_printf("mode=%s %s %s", mode, ways[way], states[kept]);
        start(&f, memories[kept](), properties);
        input = person(&info);
        gst_buffer_unref(filter_run(&f, what == CROP ? crop(input, 0, 0) : input));
        breach(&f, what, mode, &info);
        input = room(&info);
        if (what == DISCONT)
            GST_BUFFER_FLAG_SET(input, GST_BUFFER_FLAG_DISCONT);
        expect_hidden(filter_run(&f, what == CROP ? crop(input, 16, 12) : input), &info, mode,
                      breaches[what]);
        filter_expect_no_error(&f);
        filter_stop(&f);
    }
}
GST_END_TEST;

/* A network that comes to no number says nothing of the picture: the first one with every way,
 * the others with either inversion. */
#define NO_NUMBERS (16 + 4 * (G_N_ELEMENTS(no_number) - 1))
GST_START_TEST(no_numbers)
{
    const guint other = __i__ < 16 ? 0 : __i__ - 16;
    const struct no_number *network = &no_number[__i__ < 16 ? 0 : 1 + other / 4];
    const gchar *mode = modes[__i__ % 2], *way = ways[__i__ < 16 ? 2 * (__i__ / 2 % 2) : 0];
    const gboolean refine = __i__ < 16 ? __i__ & 4 : other & 4;
    const gboolean invert = __i__ < 16 ? __i__ & 8 : other & 2;
    g_autofree gchar *properties =
        g_strdup_printf("mode=%s %s input-range=%s refine=%s invert=%s", mode, way, network->range,
                        refine ? "true" : "false", invert ? "true" : "false");
    g_autofree gchar *what = g_strdup_printf("%s, %s", network->name, properties);
    struct filter f;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    start(&f, model(network->name, network->layers), properties);
    for (guint i = 0; i < 4; i++)
        expect_hidden(filter_run(&f, room(&info)), &info, mode, what);
    filter_stop(&f);
}
GST_END_TEST;

/* ------------------------------------------------------------------ networks */

/* A network for pictures is at work, and none for masks can be had, of an output that there
 * is not. */
GST_START_TEST(no_network)
{
    static const gchar *const before[] = { "picture", "passthrough", "classes" };
    const gchar *mode = modes[__i__ % 2], *from = before[__i__ / 2];
    const gboolean shows = strcmp(from, "classes") != 0;
    struct filter f;
    GstVideoInfo info;
    GstMessage *message;
    guint64 runs;
    gint64 end;

    caps_info(CAPS, &info);
    start(&f, red(), shows ? "mode=picture" : "mode=classes decoder=probability opacity=0");
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", from);
    if (shows)
        expect_seen(filter_run(&f, room(&info)), &info, from);
    g_object_set(f.element, "model-output", "none such", NULL);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", mode);
    for (guint i = 0; i < 3; i++) /* be it loaded or not */
        expect_hidden(filter_run(&f, room(&info)), &info, mode, from);
    message = gst_bus_timed_pop_filtered(f.bus, UTIL_HANG, GST_MESSAGE_WARNING);
    fail_unless(message != NULL, "nothing is said");
    gst_message_unref(message);
    for (guint i = 0; i < 3; i++)
        expect_hidden(filter_run(&f, room(&info)), &info, mode, from);
    fail_unless_equals_uint64(filter_stat(&f, "closed"), 6);

    /* One that can: then its masks show who is there. */
    g_object_set(f.element, "model-output", "", NULL);
    runs = filter_stat(&f, "network-runs");
    end = g_get_monotonic_time() + UTIL_HANG / 1000;
    do {
        expect_hidden(filter_run(&f, room(&info)), &info, mode, "until it is there, and then");
        fail_unless(g_get_monotonic_time() < end, "no mask comes");
    } while (filter_stat(&f, "network-runs") == runs);
    expect_person(&f, &info);
    filter_stop(&f);
}
GST_END_TEST;

/* As it was: the mode of before goes on. */
GST_START_TEST(open_if_wished)
{
    struct filter f;
    GstVideoInfo info;
    GstMessage *message;

    caps_info(CAPS, &info);
    start(&f, red(), "mode=picture fail-closed=false");
    expect_seen(filter_run(&f, room(&info)), &info, "a picture");
    g_object_set(f.element, "model-output", "none such", NULL);
    gst_util_set_object_arg(G_OBJECT(f.element), "mode", "replace");
    message = gst_bus_timed_pop_filtered(f.bus, UTIL_HANG, GST_MESSAGE_WARNING);
    fail_unless(message != NULL, "nothing is said");
    gst_message_unref(message);
    expect_seen(filter_run(&f, room(&info)), &info, "still a picture");
    g_object_set(f.element, "fail-closed", TRUE, NULL); /* with the next frame */
    expect_hidden(filter_run(&f, room(&info)), &info, "replace", "set while it plays");
    filter_stop(&f);
}
GST_END_TEST;

/* --------------------------------------------------------------- round a crop */

GST_START_TEST(round_a_crop)
{
    static const gint inside[] = { 12, 8, 52, 40 };
    const gchar *mode = modes[__i__ % 2];
    const gboolean closed = __i__ < 2;
    g_autofree gchar *properties =
        g_strdup_printf("mode=%s fail-closed=%s", mode, closed ? "true" : "false");
    struct filter f;
    GstHarness *mask;
    GstVideoInfo info;
    GstBuffer *output;
    GstMapInfo map;
    struct look look;

    caps_info(CAPS, &info);
    start(&f, red(), properties);
    mask = gst_harness_new_with_element(f.element, NULL, "mask_src");
    output = filter_run(&f, crop(room(&info), inside[0], inside[1]));
    look = look_at(output, &info, inside);
    fail_unless(closed ? (__i__ % 2 ? look.contrast <= 6 : look.away == 0) : look.contrast > 60,
                "%s: contrast %d, %d from the colour", properties, look.contrast, look.away);
    gst_buffer_unref(output);
    output = gst_harness_pull(mask);
    fail_unless(gst_buffer_map(output, &map, GST_MAP_READ));
    fail_unless(closed ? map.data[0] == 0 && map.data[1] == 0 : map.data[0] != map.data[1],
                "%s: the mask's corner is %u, %u", properties, map.data[0], map.data[1]);
    gst_buffer_unmap(output, &map);
    gst_buffer_unref(output);
    filter_expect_no_error(&f);
    gst_harness_teardown(mask);
    filter_stop(&f);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("closed");
    TCase *tc = tcase_create("closed");

    tcase_set_timeout(tc, 600);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, first_frames, 0, 2 * G_N_ELEMENTS(ways));
    tcase_add_loop_test(tc, old_masks, 0, 2 * BREACHES);
    tcase_add_loop_test(tc, no_numbers, 0, NO_NUMBERS);
    tcase_add_loop_test(tc, no_network, 0, 6);
    tcase_add_test(tc, open_if_wished);
    tcase_add_loop_test(tc, round_a_crop, 0, 4);
    return s;
}

int main(int argc, char **argv)
{
    int result;

    folder = g_dir_make_tmp("tdl-closed-XXXXXX", NULL);
    result = util_main_one_device(argc, argv, suite(), "closed");
    for (guint i = 0; i < 2 * (G_N_ELEMENTS(no_number) + 1); i++) {
        g_autofree gchar *path = g_strdup_printf(
            "%s/%s.%s", folder, i < 2 ? "red" : no_number[i / 2 - 1].name, i % 2 ? "param" : "bin");

        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
    return result;
}
