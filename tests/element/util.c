/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "util.h"

#include <tdl/tdl.h>
#include <stdio.h>
#include <unistd.h>

static GstElement *keeper; /* keeps the device open; NULL: each case opens its own */

static void keep_device(void)
{
    /* A process that has threads cannot fork. */
    if (g_strcmp0(g_getenv("CK_FORK"), "no") != 0)
        return;
    keeper = gst_object_ref_sink(gst_element_factory_make("tdlfilter", NULL));
    gst_element_set_state(keeper, GST_STATE_PAUSED);
}

void util_drop_device(void)
{
    if (keeper)
        gst_element_set_state(keeper, GST_STATE_NULL);
    gst_clear_object(&keeper);
}

/* A case that fails leaves its pipelines as they are, and GStreamer waits for their streaming
 * threads when the process ends: for ever. */
static gboolean failed;

static void leave(void)
{
    if (!failed)
        return;
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static int run(int argc, char **argv, Suite *suite, const char *name, gboolean one_device)
{
    struct tdl_device_info infos[8];
    uint32_t count = 0, usable = 0;
    gboolean of_vulkan = !g_strcmp0(g_getenv("TDL_DEVICE"), "vulkan");

    if (one_device)
        g_setenv("CK_FORK", "no", FALSE);
    gst_check_init(&argc, &argv);
    atexit(leave); /* before what gst_check_init() wants called there */
    if (tdl_device_list(infos, G_N_ELEMENTS(infos), &count) == TDL_OK)
        for (uint32_t i = 0; i < MIN(count, G_N_ELEMENTS(infos)); i++)
            usable += infos[i].usable && !(of_vulkan && infos[i].type == TDL_DEVICE_CPU);
    if (!usable) {
        g_printerr("skipped: no usable Vulkan device\n");
        return 77;
    }
    if (one_device)
        keep_device();
    failed = gst_check_run_suite(suite, name, "element") > 0;
    util_drop_device();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

guint32 util_seed(void)
{
    static guint32 seed;
    const gchar *text = g_getenv("TDL_TEST_SEED");

    if (!seed) {
        seed = text ? (guint32)g_ascii_strtoull(text, NULL, 0) : g_random_int();
        g_print("TDL_TEST_SEED=%u\n", seed);
    }
    return seed;
}

gboolean util_in_turn(guint row, guint n)
{
    const gchar *text = g_getenv("TDL_TEST_CASES");
    const gint cases = text ? atoi(text) : 0;

    return cases >= 100 || (row + util_seed()) % (cases == 1 ? 4 * n : n) == 0;
}

int util_main(int argc, char **argv, Suite *suite, const char *name)
{
    return run(argc, argv, suite, name, FALSE);
}

int util_main_one_device(int argc, char **argv, Suite *suite, const char *name)
{
    return run(argc, argv, suite, name, TRUE);
}

/* ------------------------------------------------------------------ filter */

void filter_start(struct filter *filter, const char *properties, const char *caps)
{
    g_autofree gchar *line = g_strdup_printf("tdlfilter %s", properties);

    filter->element = gst_parse_launch(line, NULL);
    fail_unless(filter->element != NULL, "cannot make %s", line);
    gst_object_ref_sink(filter->element);
    filter->bus = gst_bus_new(); /* first: the harness starts what it is given */
    gst_element_set_bus(filter->element, filter->bus);
    filter->harness = gst_harness_new_with_element(filter->element, "sink", "src");
    gst_harness_play(filter->harness);
    if (caps)
        gst_harness_set_src_caps_str(filter->harness, caps);
}

void filter_stop(struct filter *filter)
{
    gst_element_set_bus(filter->element, NULL);
    gst_bus_set_flushing(filter->bus, TRUE);
    gst_object_unref(filter->bus);
    gst_harness_teardown(filter->harness);
    gst_object_unref(filter->element);
}

GstMessage *filter_message(struct filter *filter, GstMessageType type)
{
    GstMessage *newest = NULL, *message;

    while ((message = gst_bus_pop_filtered(filter->bus, type))) {
        g_clear_pointer(&newest, gst_message_unref);
        newest = message;
    }
    return newest;
}

static GError *message_error(GstMessage *message)
{
    GError *error = NULL;

    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &error, NULL);
    else
        gst_message_parse_warning(message, &error, NULL);
    return error;
}

void filter_expect_no_error(struct filter *filter)
{
    GstMessage *message = filter_message(filter, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);

    if (message)
        fail("unexpected: %s", message_error(message)->message);
}

void message_expect(GstMessage *message, GstMessageType type, const char *const *words)
{
    g_autoptr(GError) error = NULL;

    fail_unless(message && GST_MESSAGE_TYPE(message) == type, "no %s of \"%s\", but %s",
                gst_message_type_get_name(type), *words,
                message ? GST_MESSAGE_TYPE_NAME(message) : "nothing");
    error = message_error(message);
    for (; *words; words++)
        fail_unless(strstr(error->message, *words) != NULL, "no \"%s\" in: %s", *words,
                    error->message);
    gst_message_unref(message);
}

GstMessage *pipeline_play(GstElement *pipeline, GstMessageType others)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message;

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered(bus, UTIL_HANG,
                                         others | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless(message != NULL, "neither end nor error");
    gst_object_unref(bus);
    return message;
}

void pipeline_play_to_end(GstElement *pipeline)
{
    GstMessage *message = pipeline_play(pipeline, 0);

    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        fail("%s", message_error(message)->message);
    gst_message_unref(message);
}

guint64 filter_stat(struct filter *filter, const char *field)
{
    GstStructure *stats = NULL;
    guint64 value = G_MAXUINT64;

    g_object_get(filter->element, "stats", &stats, NULL);
    fail_unless(gst_structure_get_uint64(stats, field, &value), "no %s in stats", field);
    gst_structure_free(stats);
    return value;
}

GstBuffer *filter_run(struct filter *filter, GstBuffer *input)
{
    GstFlowReturn flow = gst_harness_push(filter->harness, input);

    if (flow != GST_FLOW_OK) {
        filter_expect_no_error(filter);
        fail("pushing a frame returned %s", gst_flow_get_name(flow));
    }
    return gst_harness_pull(filter->harness);
}

void caps_info(const char *text, GstVideoInfo *info)
{
    GstCaps *caps = gst_caps_from_string(text);

    fail_unless(gst_video_info_from_caps(info, caps));
    gst_caps_unref(caps);
}

void filter_output_info(struct filter *filter, GstVideoInfo *info)
{
    GstCaps *caps = gst_pad_get_current_caps(filter->harness->sinkpad);

    fail_unless(caps && gst_video_info_from_caps(info, caps));
    gst_caps_unref(caps);
}

void filter_all_foreground(struct filter *filter)
{
    g_object_set(filter->element, "threshold", 1.0f, "feather", 0.0f, "refine", FALSE, "smoothing",
                 0.0f, "invert", TRUE, NULL);
}

void filter_all_background(struct filter *filter)
{
    g_object_set(filter->element, "threshold", 1.0f, "feather", 0.0f, "refine", FALSE, "smoothing",
                 0.0f, "invert", FALSE, NULL);
}

/* ---------------------------------------------------------------- pictures */

static GstBuffer *buffer_for(const GstVideoInfo *info)
{
    return gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
}

GstBuffer *picture_convert(GstBuffer *buffer, const GstVideoInfo *from, const GstVideoInfo *to)
{
    GstBuffer *result = buffer_for(to);
    GstVideoInfo source = *from, target = *to;
    GstVideoConverter *converter;
    GstVideoFrame in, out;

    target.fps_n = source.fps_n; /* the converter insists */
    target.fps_d = source.fps_d;
    converter = gst_video_converter_new(
        &source, &target,
        gst_structure_new("options", GST_VIDEO_CONVERTER_OPT_DITHER_METHOD,
                          GST_TYPE_VIDEO_DITHER_METHOD, GST_VIDEO_DITHER_NONE,
                          GST_VIDEO_CONVERTER_OPT_PRIMARIES_MODE, GST_TYPE_VIDEO_PRIMARIES_MODE,
                          GST_VIDEO_PRIMARIES_MODE_NONE, NULL));
    fail_unless(gst_video_frame_map(&in, &source, buffer, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&out, &target, result, GST_MAP_WRITE));
    gst_video_converter_frame(converter, &in, &out);
    gst_video_frame_unmap(&in);
    gst_video_frame_unmap(&out);
    gst_video_converter_free(converter);
    return result;
}

static GstBuffer *convert_rgba(GstBuffer *rgba, const GstVideoInfo *rgba_info,
                               const GstVideoInfo *info)
{
    GstBuffer *result = picture_convert(rgba, rgba_info, info);

    gst_buffer_unref(rgba);
    return result;
}

/* Slow ramps, so that how chroma is sub-sampled makes little difference. */
GstBuffer *picture_new(const GstVideoInfo *info, guint phase)
{
    gint width = GST_VIDEO_INFO_WIDTH(info), height = GST_VIDEO_INFO_HEIGHT(info);
    GstVideoInfo rgba;
    GstBuffer *buffer;
    GstMapInfo map;

    gst_video_info_set_format(&rgba, GST_VIDEO_FORMAT_RGBA, width, height);
    buffer = buffer_for(&rgba);
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gint y = 0; y < height; y++) {
        for (gint x = 0; x < width; x++) {
            guint8 *p = map.data + (gsize)y * rgba.stride[0] + 4 * x;

            p[0] = 40 + 150 * x / width;
            p[1] = 60 + 120 * y / height;
            p[2] = 200 - 100 * x / width + phase % 32;
            p[3] = 255;
        }
    }
    gst_buffer_unmap(buffer, &map);
    return convert_rgba(buffer, &rgba, info);
}

GstBuffer *picture_portrait(GstClockTime time)
{
    g_autofree gchar *path =
        g_build_filename(g_getenv("TDL_TEST_DATA"), "grace_hopper.256.rgb", NULL);
    GstBuffer *buffer;
    gchar *data;
    gsize size;

    fail_unless(g_file_get_contents(path, &data, &size, NULL), "cannot read %s", path);
    buffer = gst_buffer_new_wrapped(data, size);
    GST_BUFFER_PTS(buffer) = time;
    GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
    return buffer;
}

GstBuffer *picture_portrait_as(const char *caps, GstClockTime time)
{
    GstBuffer *square = picture_portrait(time), *frame;
    GstVideoInfo from, to, rgb;

    gst_video_info_set_format(&from, GST_VIDEO_FORMAT_RGB, 256, 256);
    caps_info(caps, &to);
    gst_video_info_set_format(&rgb, GST_VIDEO_FORMAT_RGB, to.width, to.height);
    frame = picture_convert(square, &from, &rgb);
    gst_buffer_unref(square);
    square = frame;
    frame = picture_convert(square, &rgb, &to);
    gst_buffer_unref(square);
    GST_BUFFER_PTS(frame) = time;
    return frame;
}

GstBuffer *picture_new_color(const GstVideoInfo *info, guint argb)
{
    GstVideoInfo rgba;
    GstBuffer *buffer;
    GstMapInfo map;

    gst_video_info_set_format(&rgba, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_INFO_WIDTH(info),
                              GST_VIDEO_INFO_HEIGHT(info));
    buffer = buffer_for(&rgba);
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gsize i = 0; i < map.size; i += 4)
        GST_WRITE_UINT32_BE(map.data + i, argb << 8 | argb >> 24);
    gst_buffer_unmap(buffer, &map);
    return convert_rgba(buffer, &rgba, info);
}

static gsize row_bytes(const GstVideoFrame *frame, guint plane)
{
    gsize bytes = 0;

    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(frame); c++)
        if (frame->info.finfo->plane[c] == plane)
            bytes = MAX(bytes, (gsize)GST_VIDEO_FRAME_COMP_WIDTH(frame, c) *
                                   GST_VIDEO_FRAME_COMP_PSTRIDE(frame, c));
    return bytes;
}

static guint plane_rows(const GstVideoFrame *frame, guint plane)
{
    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(frame); c++)
        if (frame->info.finfo->plane[c] == plane)
            return GST_VIDEO_FRAME_COMP_HEIGHT(frame, c);
    return 0;
}

GstBuffer *picture_restride(GstBuffer *buffer, const GstVideoInfo *info, guint extra)
{
    gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size = extra;
    gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
    GstVideoFrame frame;
    GstBuffer *result;
    GstMapInfo map;

    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_READ));
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        offset[p] = size;
        stride[p] = row_bytes(&frame, p) + extra;
        size += (gsize)stride[p] * plane_rows(&frame, p) + extra;
    }
    result = gst_buffer_new_allocate(NULL, size, NULL);
    gst_buffer_map(result, &map, GST_MAP_WRITE);
    memset(map.data, 0xa5, map.size); /* a pattern that must not be seen */
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
        for (guint y = 0; y < plane_rows(&frame, p); y++)
            memcpy(map.data + offset[p] + (gsize)y * stride[p],
                   (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, p) +
                       (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
                   row_bytes(&frame, p));
    gst_buffer_unmap(result, &map);
    gst_video_frame_unmap(&frame);
    gst_buffer_add_video_meta_full(result, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
                                   GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info),
                                   GST_VIDEO_INFO_N_PLANES(info), offset, stride);
    return result;
}

static gint sample_at(const GstVideoFrame *frame, guint component, guint x, guint y)
{
    const guint8 *row = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(
                            frame, frame->info.finfo->plane[component]) +
                        (gsize)y * GST_VIDEO_FRAME_COMP_STRIDE(frame, component);
    const guint8 *sample = row + (gsize)x * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, component);

    if (GST_VIDEO_FRAME_COMP_DEPTH(frame, component) == 8)
        return sample[GST_VIDEO_FRAME_COMP_POFFSET(frame, component)];
    /* P010: 10 bits on top of 16, little-endian; the upper byte will do. GStreamer
     * 1.22 gives the second chroma sample an offset of one byte. */
    if (GST_VIDEO_FRAME_FORMAT(frame) == GST_VIDEO_FORMAT_P010_10LE)
        return sample[component == 2 ? 3 : 1];
    return (sample[0] | sample[1] << 8) >> (GST_VIDEO_FRAME_COMP_DEPTH(frame, component) - 8);
}

gint picture_difference(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info, gchar where[64])
{
    GstVideoFrame fa, fb;
    gint worst = -1;

    fail_unless(gst_video_frame_map(&fa, info, a, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&fb, info, b, GST_MAP_READ));
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(info); c++) {
        for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&fa, c); y++) {
            for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&fa, c); x++) {
                gint got = sample_at(&fa, c, x, y), expected = sample_at(&fb, c, x, y);

                if (ABS(got - expected) <= worst)
                    continue;
                worst = ABS(got - expected);
                g_snprintf(where, 64, "component %u at %d,%d is %d, not %d", c, x, y, got,
                           expected);
            }
        }
    }
    gst_video_frame_unmap(&fa);
    gst_video_frame_unmap(&fb);
    return worst;
}

void picture_compare(GstBuffer *got, GstBuffer *expected, const GstVideoInfo *info, gint tolerance,
                     const char *what)
{
    gchar where[64] = "";
    gint difference = picture_difference(got, expected, info, where);

    fail_unless(difference <= tolerance, "%s, %dx%d %s: off by %d (%s)", what,
                GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info), GST_VIDEO_INFO_NAME(info),
                difference, where);
}
