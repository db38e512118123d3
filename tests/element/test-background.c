/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture behind the person: files of every kind, transparent, turned,
 * large, of pixels that are not square, and what is no picture at all. */
#include "util.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

static gchar *temp_name(const char *end)
{
    g_autofree gchar *pattern = g_strdup_printf("tdl-test-XXXXXX%s", end);
    gchar *path;
    gint fd = g_file_open_tmp(pattern, &path, NULL);

    fail_unless(fd >= 0);
    close(fd);
    return path;
}

/* Encodes the buffer by `encoder` ("pngenc"); takes it. */
static gchar *save(GstBuffer *buffer, const GstVideoInfo *info, const char *encoder,
                   const char *end)
{
    gchar *path = temp_name(end);
    g_autofree gchar *line =
        g_strdup_printf("appsrc name=s format=time ! %s ! filesink location=%s", encoder, path);
    GstElement *pipeline = gst_parse_launch(line, NULL), *source;
    GstCaps *caps = gst_video_info_to_caps(info);
    GstFlowReturn flow;

    fail_unless(pipeline != NULL, "this test needs %s", encoder);
    source = gst_bin_get_by_name(GST_BIN(pipeline), "s");
    g_object_set(source, "caps", caps, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_signal_emit_by_name(source, "push-buffer", buffer, &flow);
    g_signal_emit_by_name(source, "end-of-stream", &flow);
    pipeline_play_to_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_buffer_unref(buffer);
    gst_caps_unref(caps);
    gst_object_unref(source);
    gst_object_unref(pipeline);
    return path;
}

static void pixel_of(GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y, guint8 out[4])
{
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_READ));
    memcpy(out, (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                    y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) +
                    x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0),
           GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0));
    gst_video_frame_unmap(&frame);
}

static void expect_pixel(GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y, guint rgb,
                         const char *what)
{
    guint8 p[4];

    pixel_of(buffer, info, x, y, p);
    for (guint c = 0; c < 3; c++)
        fail_unless(ABS((gint)p[c] - (gint)(rgb >> (16 - 8 * c) & 255)) <= 6,
                    "%s: #%02x%02x%02x at %d,%d, not #%06x", what, p[0], p[1], p[2], x, y, rgb);
}

/* A tdlfilter that shows nothing but the background. */
static void start(struct filter *filter, const char *background, const char *more,
                  const char *caps)
{
    g_autofree gchar *line = g_strdup_printf("mode=replace background=\"%s\" %s", background, more);

    filter_start(filter, line, caps);
    filter_all_background(filter);
}

static GstBuffer *run(struct filter *filter, const char *caps)
{
    GstVideoInfo info;

    caps_info(caps, &info);
    return filter_run(filter, picture_new(&info, 0));
}

/* ------------------------------------------------------------- transparency */

/* Left half opaque green, right half transparent over a hidden red. */
static gchar *half_transparent(void)
{
    GstVideoInfo info;
    GstBuffer *buffer;
    GstMapInfo map;

    caps_info("video/x-raw,format=RGBA,width=64,height=48,framerate=1/1", &info);
    buffer = gst_buffer_new_allocate(NULL, info.size, NULL);
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gint i = 0; i < 64 * 48; i++)
        GST_WRITE_UINT32_BE(map.data + 4 * i, i % 64 < 32 ? 0x20d040ff : 0xff000000);
    gst_buffer_unmap(buffer, &map);
    return save(buffer, &info, "pngenc", ".png");
}

GST_START_TEST(color_shows_through)
{
    g_autofree gchar *path = half_transparent();
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;

    caps_info(CAPS, &info);
    start(&filter, path, "background-color=0xff1030e0", CAPS);
    output = run(&filter, CAPS);
    expect_pixel(output, &info, 8, 24, 0x20d040, "the picture");
    expect_pixel(output, &info, 56, 24, 0x1030e0, "the colour behind it");
    gst_buffer_unref(output);
    g_object_set(filter.element, "background-color", 0xffc0c0c0u, NULL);
    output = run(&filter, CAPS);
    expect_pixel(output, &info, 8, 24, 0x20d040, "the picture stays");
    expect_pixel(output, &info, 56, 24, 0xc0c0c0, "another colour");
    gst_buffer_unref(output);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    g_unlink(path);
}
GST_END_TEST;

/* Pixels that come in transparent stay so. */
GST_START_TEST(alpha_keeps_the_inputs)
{
    static const char caps[] = "video/x-raw,format=BGRA,width=64,height=48,framerate=30/1";
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;
    guint8 pixel[4];

    caps_info(caps, &info);
    filter_start(&filter, "mode=alpha", caps);
    filter_all_foreground(&filter);
    output = filter_run(&filter, picture_new_color(&info, 0x50204060));
    filter_output_info(&filter, &info);
    pixel_of(output, &info, 30, 20, pixel);
    fail_unless(ABS((gint)pixel[3] - 0x50) <= 1, "alpha is %u", pixel[3]);
    gst_buffer_unref(output);
    filter_all_background(&filter);
    caps_info(caps, &info);
    output = filter_run(&filter, picture_new_color(&info, 0x50204060));
    pixel_of(output, &info, 30, 20, pixel);
    fail_unless_equals_int(pixel[3], 0);
    gst_buffer_unref(output);
    filter_stop(&filter);
}
GST_END_TEST;

/* ----------------------------------------------------------------- geometry */

/* A photograph of 48 megapixels, which lavapipe's buffers do not hold as RGBA. */
GST_START_TEST(large)
{
    g_autofree gchar *path = NULL;
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;

    caps_info("video/x-raw,format=GRAY8,width=8000,height=6000,framerate=1/1", &info);
    output = gst_buffer_new_allocate(NULL, info.size, NULL);
    gst_buffer_memset(output, 0, 0x40, info.size / 2);
    gst_buffer_memset(output, info.size / 2, 0xc0, info.size / 2);
    path = save(output, &info, "pngenc compression-level=1", ".png");
    caps_info(CAPS, &info);
    start(&filter, path, "", CAPS);
    output = run(&filter, CAPS);
    expect_pixel(output, &info, 32, 8, 0x404040, "upper half");
    expect_pixel(output, &info, 32, 40, 0xc0c0c0, "lower half");
    gst_buffer_unref(output);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    g_unlink(path);
}
GST_END_TEST;

/* White on black: a disc that is round where pixels are square, in the middle. */
static gchar *disc(const char *caps, gdouble pixel_aspect, gdouble radius)
{
    GstVideoInfo info;
    GstBuffer *buffer;
    GstMapInfo map;

    caps_info(caps, &info);
    buffer = gst_buffer_new_allocate(NULL, info.size, NULL);
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gint y = 0; y < info.height; y++)
        for (gint x = 0; x < info.width; x++) {
            gdouble u = (x + 0.5 - info.width / 2.0) * pixel_aspect,
                    v = y + 0.5 - info.height / 2.0;

            map.data[y * info.stride[0] + x] = u * u + v * v < radius * radius ? 255 : 0;
        }
    gst_buffer_unmap(buffer, &map);
    return save(buffer, &info, "pngenc", ".png");
}

/* Pixels that are more white than black, through the middle. */
static guint extent(GstBuffer *buffer, const GstVideoInfo *info, gboolean across)
{
    guint count = 0;
    guint8 p[4];

    for (gint i = 0; i < (across ? info->width : info->height); i++) {
        pixel_of(buffer, info, across ? i : info->width / 2, across ? info->height / 2 : i, p);
        count += p[0] > 127;
    }
    return count;
}

static const struct {
    const char *caps;
    /* position of the disc in the frame: 40 px wide, in a picture of 120×120 px */
    guint across, down;
} aspects[] = {
    /* The picture's side covers the frame's longer one, as the screen shows it. */
    { "video/x-raw,format=RGB,width=120,height=120,framerate=30/1", 40, 40 },
    { "video/x-raw,format=RGB,width=120,height=120,pixel-aspect-ratio=2/1,framerate=30/1", 40, 80 },
    { "video/x-raw,format=RGB,width=120,height=60,pixel-aspect-ratio=1/2,framerate=30/1", 40, 20 },
    { "video/x-raw,format=NV12,width=240,height=120,pixel-aspect-ratio=1/2,framerate=30/1", 80,
      40 },
};

GST_START_TEST(circles_stay_circles)
{
    g_autofree gchar *path =
        disc("video/x-raw,format=GRAY8,width=120,height=120,framerate=1/1", 1, 20);
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;
    guint across, down;

    caps_info(aspects[__i__].caps, &info);
    start(&filter, path, "", aspects[__i__].caps);
    output = run(&filter, aspects[__i__].caps);
    if (GST_VIDEO_INFO_N_PLANES(&info) > 1) /* luma alone */
        caps_info("video/x-raw,format=GRAY8,width=240,height=120", &info);
    across = extent(output, &info, TRUE);
    down = extent(output, &info, FALSE);
    fail_unless(ABS((gint)across - (gint)aspects[__i__].across) <= 2 &&
                ABS((gint)down - (gint)aspects[__i__].down) <= 2, "%u×%u px", across, down);
    gst_buffer_unref(output);
    filter_stop(&filter);
    g_unlink(path);
}
GST_END_TEST;

/* Quadrants: red, green / blue, white. */
static gchar *quadrants(guint orientation)
{
    static const guint colors[] = { 0xf01010, 0x10d010, 0x1010f0, 0xf0f0f0 };
    guint8 exif[] = { 0xff, 0xe1, 0, 34, 'E', 'x',         'i', 'f', 0,    0,    'M', 'M',
                      0,    42,   0, 0,  0,   8,           0,   1,   0x01, 0x12, 0,   3,
                      0,    0,    0, 1,  0,   orientation, 0,   0,   0,    0,    0,   0 };
    g_autofree gchar *plain = NULL, *data = NULL;
    gchar *path = temp_name(".jpg");
    g_autoptr(GByteArray) file = g_byte_array_new();
    GstVideoInfo info;
    GstBuffer *buffer;
    GstMapInfo map;
    gsize size;

    caps_info("video/x-raw,format=RGB,width=96,height=48,framerate=1/1", &info);
    buffer = gst_buffer_new_allocate(NULL, info.size, NULL);
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gint y = 0; y < 48; y++)
        for (gint x = 0; x < 96; x++)
            for (gint c = 0; c < 3; c++)
                map.data[y * info.stride[0] + 3 * x + c] =
                    colors[y / 24 * 2 + x / 48] >> (16 - 8 * c);
    gst_buffer_unmap(buffer, &map);
    plain = save(buffer, &info, "videoconvert ! jpegenc quality=95", ".jpg");
    fail_unless(g_file_get_contents(plain, &data, &size, NULL));
    g_byte_array_append(file, (guint8 *)data, 2); /* begin of image */
    g_byte_array_append(file, exif, sizeof(exif));
    g_byte_array_append(file, (guint8 *)data + 2, size - 2);
    fail_unless(g_file_set_contents(path, (gchar *)file->data, file->len, NULL));
    g_unlink(plain);
    return path;
}

/* By EXIF 2.3: where the file's first row and column are when it is looked at.
 * Here, which quadrant of the file is seen: upper left, upper right, lower left,
 * lower right. */
static const char seen[8][5] = { "RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB" };

GST_START_TEST(right_side_up)
{
    g_autofree gchar *path = quadrants(__i__ + 1);
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;

    caps_info(CAPS, &info);
    start(&filter, path, "", CAPS);
    output = run(&filter, CAPS);
    for (guint q = 0; q < 4; q++) {
        char letter = seen[__i__][q];

        expect_pixel(output, &info, q % 2 ? 48 : 16, q / 2 ? 36 : 12,
                     letter == 'R' ? 0xf01010 : letter == 'G' ? 0x10d010
                                            : letter == 'B'   ? 0x1010f0
                                                              : 0xf0f0f0, seen[__i__]);
    }
    gst_buffer_unref(output);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    g_unlink(path);
}
GST_END_TEST;

/* -------------------------------------------------------------- what it names */

static void expect_message(struct filter *filter, GstMessageType type, const char *text)
{
    message_expect(gst_bus_timed_pop_filtered(filter->bus, 60 * GST_SECOND, type), type,
                   (const char *[]){ text, NULL });
}

/* Modes that show no picture do without; the colour takes its place when they
 * change. */
GST_START_TEST(not_needed_not_missed)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=blur background=/nonexistent.png background-color=0xff20c060",
                 CAPS);
    expect_message(&filter, GST_MESSAGE_WARNING, "does not exist");
    gst_buffer_unref(run(&filter, CAPS));
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "replace");
    filter_all_background(&filter);
    output = run(&filter, CAPS);
    expect_pixel(output, &info, 32, 24, 0x20c060, "the colour");
    gst_buffer_unref(output);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(uri)
{
    g_autofree gchar *path = half_transparent();
    g_autofree gchar *name = g_strdup_printf("%s with space.png", path);
    g_autofree gchar *text = NULL;
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;

    fail_unless_equals_int(g_rename(path, name), 0);
    text = g_filename_to_uri(name, NULL, NULL);
    caps_info(CAPS, &info);
    start(&filter, text, "", CAPS);
    output = run(&filter, CAPS);
    expect_pixel(output, &info, 8, 24, 0x20d040, "by its URI");
    gst_buffer_unref(output);
    g_object_set(filter.element, "background", "http://localhost/picture.png", NULL);
    expect_message(&filter, GST_MESSAGE_WARNING, "file://");
    filter_stop(&filter);
    g_unlink(name);
}
GST_END_TEST;

/* A video as the background stands still, and a message says so. */
GST_START_TEST(video)
{
    g_autofree gchar *path = NULL;
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *output;
    guint8 pixel[4];

    caps_info("video/x-raw,format=I420,width=64,height=48,framerate=10/1", &info);
    output = picture_new_color(&info, 0xff2040c0);
    GST_BUFFER_PTS(output) = 0;
    GST_BUFFER_DURATION(output) = GST_SECOND / 10;
    path = save(output, &info, "jpegenc ! avimux", ".avi");
    caps_info(CAPS, &info);
    start(&filter, path, "", CAPS);
    expect_message(&filter, GST_MESSAGE_WARNING, "stands still");
    output = run(&filter, CAPS);
    pixel_of(output, &info, 32, 24, pixel); /* JPEG's range is another one than video's */
    fail_unless(pixel[0] < 0x40 && pixel[1] < 0x60 && pixel[2] > 0xa0,
                "its first frame: %02x%02x%02x", pixel[0], pixel[1], pixel[2]);
    gst_buffer_unref(output);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    g_unlink(path);
}
GST_END_TEST;

/* ------------------------------------------------------------ what never ends */

static gchar *make_fifo(void)
{
    gchar *path = temp_name(".fifo");

    g_unlink(path);
    fail_unless_equals_int(mkfifo(path, 0600), 0);
    return path;
}

/* Reading a FIFO waits for a writer that never comes: refused, and what is
 * wished for next is loaded. */
GST_START_TEST(fifo_while_playing)
{
    static const char caps[] = "video/x-raw,format=RGB,width=64,height=48,framerate=30/1";
    g_autofree gchar *fifo = make_fifo(), *path = half_transparent();
    struct filter filter;
    GstVideoInfo info;
    guint8 pixel[4] = { 0 };
    gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;

    caps_info(caps, &info);
    filter_start(&filter, "mode=replace", caps);
    filter_all_background(&filter);
    g_object_set(filter.element, "background", fifo, NULL);
    expect_message(&filter, GST_MESSAGE_WARNING, "a FIFO");
    g_object_set(filter.element, "model", fifo, NULL);
    expect_message(&filter, GST_MESSAGE_WARNING, "a FIFO");
    g_object_set(filter.element, "background", path, NULL);
    while (pixel[1] != 0xd0 && g_get_monotonic_time() < end) {
        GstBuffer *output = run(&filter, caps);

        pixel_of(output, &info, 8, 24, pixel);
        gst_buffer_unref(output);
    }
    fail_unless_equals_int(pixel[1], 0xd0);
    g_object_set(filter.element, "model", "/nonexistent.tflite", NULL);
    expect_message(&filter, GST_MESSAGE_WARNING, "/nonexistent.tflite");
    filter_stop(&filter);
    g_unlink(fifo);
    g_unlink(path);
}
GST_END_TEST;

GST_START_TEST(fifo_at_start)
{
    static const char *const names[] = { "model", "background" };
    g_autofree gchar *fifo = make_fifo();
    struct filter filter;

    filter.element = gst_object_ref_sink(gst_element_factory_make("tdlfilter", NULL));
    filter.bus = gst_bus_new();
    gst_element_set_bus(filter.element, filter.bus);
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "replace");
    g_object_set(filter.element, names[__i__], fifo, NULL);
    fail_unless_equals_int(gst_element_set_state(filter.element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    expect_message(&filter, GST_MESSAGE_ERROR, "a FIFO");
    gst_element_set_state(filter.element, GST_STATE_NULL);
    gst_element_set_bus(filter.element, NULL);
    gst_object_unref(filter.bus);
    gst_object_unref(filter.element);
    g_unlink(fifo);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("background");
    TCase *tc = tcase_create("background");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, color_shows_through);
    tcase_add_test(tc, alpha_keeps_the_inputs);
    tcase_add_test(tc, large);
    tcase_add_loop_test(tc, circles_stay_circles, 0, G_N_ELEMENTS(aspects));
    tcase_add_loop_test(tc, right_side_up, 0, G_N_ELEMENTS(seen));
    tcase_add_test(tc, not_needed_not_missed);
    tcase_add_test(tc, uri);
    tcase_add_test(tc, video);
    tcase_add_test(tc, fifo_while_playing);
    tcase_add_loop_test(tc, fifo_at_start, 0, 2);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "background");
}
