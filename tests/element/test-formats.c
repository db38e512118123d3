/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every format in every mode. With threshold 1 the mask is known without a
 * network (all background; inverted, all foreground), so what must come out is
 * known, too: the source, the colour, or white. GStreamer's own converter says what
 * those look like in each format.
 */
#include "util.h"

static const char *const formats[] = {
    "NV12", "I420", "YUY2", "UYVY", "P010_10LE", "RGBA", "BGRA", "RGBx", "BGRx", "RGB", "BGR",
    "ARGB", "ABGR", "xRGB", "xBGR", "NV21", "NV16", "YV12", "Y42B", "Y444",
    "I420_10LE", "I422_10LE", "Y444_10LE", "GRAY8", "GRAY16_LE",
};
#define COLORED (G_N_ELEMENTS(formats) - 2)
static const struct {
    gint width, height;
    guint extra; /* bytes of padding; 0: GStreamer's default strides */
    const char *color;
} cases[] = {
    { 64, 48, 0, "" },
    { 37, 23, 13, "" }, /* odd in every way */
    { 130, 34, 4, ",colorimetry=bt709" },
    { 66, 50, 1, ",colorimetry=1:4:0:0" }, /* BT.601, full range */
};

static gboolean is_rgb(const char *format)
{
    return strstr(format, "RGB") || strstr(format, "BGR");
}

static gchar *make_caps(guint format, guint which)
{
    return g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=30/1%s",
                           formats[format], cases[which].width, cases[which].height,
                           is_rgb(formats[format]) || format >= COLORED
                               ? "" : cases[which].color);
}

static GstBuffer *run(struct filter *filter, const char *mode, GstBuffer *source,
                      GstVideoInfo *out_info)
{
    GstBuffer *output;

    gst_util_set_object_arg(G_OBJECT(filter->element), "mode", mode);
    output = filter_run(filter, gst_buffer_ref(source));
    filter_output_info(filter, out_info);
    return output;
}

static void expect_source(struct filter *filter, const char *mode, GstBuffer *source,
                          const GstVideoInfo *info)
{
    GstVideoInfo out;
    GstBuffer *output = run(filter, mode, source, &out);

    fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&out), GST_VIDEO_INFO_FORMAT(info));
    /* The way through RGB and back rounds. */
    picture_compare(output, source, info, strcmp(mode, "passthrough") ? 2 : 0, mode);
    gst_buffer_unref(output);
}

static void expect_color(struct filter *filter, const char *mode, GstBuffer *source,
                         const GstVideoInfo *info, guint argb)
{
    GstVideoInfo out;
    GstBuffer *output = run(filter, mode, source, &out);
    GstBuffer *expected = picture_new_color(&out, argb);

    fail_unless_equals_int(GST_VIDEO_INFO_WIDTH(&out), GST_VIDEO_INFO_WIDTH(info));
    picture_compare(output, expected, &out, 2, mode);
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
}

static void expect_gray(struct filter *filter, GstBuffer *source, guint8 level, const char *what)
{
    GstVideoInfo out;
    GstBuffer *output = run(filter, "mask", source, &out), *expected;

    fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&out), GST_VIDEO_FORMAT_GRAY8);
    expected = gst_buffer_new_allocate(NULL, out.size, NULL);
    gst_buffer_memset(expected, 0, level, out.size);
    picture_compare(output, expected, &out, 0, what);
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
}

static void expect_alpha(struct filter *filter, GstBuffer *source, const GstVideoInfo *info,
                         guint8 alpha)
{
    GstVideoInfo out;
    GstBuffer *output = run(filter, "alpha", source, &out), *expected;
    GstMapInfo map;

    fail_unless(GST_VIDEO_INFO_HAS_ALPHA(&out));
    fail_unless_equals_int(GST_VIDEO_INFO_COMP_PSTRIDE(&out, GST_VIDEO_COMP_A), 4);
    expected = picture_convert(source, info, &out);
    gst_buffer_map(expected, &map, GST_MAP_WRITE);
    for (gsize i = GST_VIDEO_INFO_COMP_POFFSET(&out, GST_VIDEO_COMP_A); i < map.size; i += 4)
        map.data[i] = alpha;
    gst_buffer_unmap(expected, &map);
    /* Chroma is interpolated differently on ramps, by a few steps. */
    picture_compare(output, expected, &out, 10, "alpha");
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
}

/* A constant picture blurred is the same picture, in every format. */
static void expect_blur(struct filter *filter, const GstVideoInfo *info)
{
    GstBuffer *source = picture_new_color(info, 0xff4080c0), *output;
    GstVideoInfo out;

    output = run(filter, "blur", source, &out);
    picture_compare(output, source, info, 2, "blur of one colour");
    gst_buffer_unref(output);
    gst_buffer_unref(source);
}

GST_START_TEST(every_mode)
{
    guint format = __i__ % G_N_ELEMENTS(formats), which = __i__ / G_N_ELEMENTS(formats);
    g_autofree gchar *text = make_caps(format, which);
    GstCaps *caps = gst_caps_from_string(text);
    GstBuffer *plain, *source;
    struct filter filter;
    GstVideoInfo info;

    /* Software Vulkan compiles a dozen kernels for each. */
    if (!util_in_turn(__i__, g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") ? 12 : 1)) {
        gst_caps_unref(caps);
        return;
    }
    fail_unless(gst_video_info_from_caps(&info, caps));
    plain = picture_new(&info, 0);
    source = cases[which].extra ? picture_restride(plain, &info, cases[which].extra)
                                : gst_buffer_ref(plain);
    filter_start(&filter, "opacity=1 overlay-color=0xff20c060 background-color=0xff3060e0", text);

    filter_all_foreground(&filter);
    expect_source(&filter, "blur", source, &info);
    expect_source(&filter, "replace", source, &info);
    expect_source(&filter, "passthrough", source, &info);
    expect_color(&filter, "overlay", source, &info, 0xff20c060);
    expect_gray(&filter, source, 255, "mask of a foreground");
    expect_alpha(&filter, source, &info, 255);

    filter_all_background(&filter);
    expect_source(&filter, "overlay", source, &info);
    expect_color(&filter, "replace", source, &info, 0xff3060e0);
    expect_gray(&filter, source, 0, "mask of a background");
    expect_alpha(&filter, source, &info, 0);
    expect_blur(&filter, &info);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    gst_buffer_unref(source);
    gst_buffer_unref(plain);
    gst_caps_unref(caps);
}
GST_END_TEST;

/* The real network on a real picture, against another runtime's mask. */
static GstBuffer *read_portrait(void)
{
    g_autofree gchar *path =
        g_build_filename(g_getenv("TDL_TEST_DATA"), "grace_hopper.256.rgb", NULL);
    gchar *data;
    gsize size;

    fail_unless(g_file_get_contents(path, &data, &size, NULL), "cannot read %s", path);
    fail_unless_equals_int(size, 256 * 256 * 3);
    return gst_buffer_new_wrapped(data, size);
}

static gdouble intersection_over_union(const guint8 *got, const gfloat *expected, gsize count)
{
    gsize both = 0, either = 0;

    for (gsize i = 0; i < count; i++) {
        both += got[i] > 127 && expected[i] > 0.5f;
        either += got[i] > 127 || expected[i] > 0.5f;
    }
    return either ? (gdouble)both / either : 0;
}

GST_START_TEST(portrait)
{
    g_autofree gchar *path =
        g_build_filename(g_getenv("TDL_TEST_DATA"), "grace_hopper.256.mask.f32", NULL);
    g_autofree gchar *reference = NULL;
    GstVideoInfo rgb, info;
    GstBuffer *input = read_portrait(), *output;
    struct filter filter;
    GstMapInfo map;
    gdouble iou;
    gsize size;

    if (!util_in_turn(__i__, 4)) {
        gst_buffer_unref(input);
        return;
    }
    fail_unless(g_file_get_contents(path, &reference, &size, NULL), "cannot read %s", path);
    fail_unless_equals_int(size, 256 * 256 * 4);
    gst_video_info_set_format(&rgb, GST_VIDEO_FORMAT_RGB, 256, 256);
    gst_video_info_set_format(&info, gst_video_format_from_string(formats[__i__]), 256, 256);
    if (GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_RGB) {
        GstBuffer *converted = picture_convert(input, &rgb, &info);

        gst_buffer_unref(input);
        input = converted;
    }
    filter_start(&filter, "mode=mask smoothing=0", NULL);
    gst_harness_set_src_caps(filter.harness, gst_video_info_to_caps(&info));
    output = filter_run(&filter, input);
    gst_buffer_map(output, &map, GST_MAP_READ);
    fail_unless_equals_int(map.size, 256 * 256);
    iou = intersection_over_union(map.data, (const gfloat *)reference, map.size);
    fail_unless(iou >= 0.97, "%s: intersection over union is %f", formats[__i__], iou);
    gst_buffer_unmap(output, &map);
    gst_buffer_unref(output);
    filter_stop(&filter);
}
GST_END_TEST;

/* The formats that are tried here are those that the element offers. */
GST_START_TEST(list)
{
    GstElement *element = gst_element_factory_make("tdlfilter", NULL);
    GstCaps *caps = gst_pad_template_get_caps(gst_element_get_pad_template(element, "sink"));
    const GValue *value = NULL;

    for (guint i = 0; i < gst_caps_get_size(caps); i++)
        if (gst_caps_features_is_equal(gst_caps_get_features(caps, i),
                                       GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
            value = gst_structure_get_value(gst_caps_get_structure(caps, i), "format");
    fail_unless(value && GST_VALUE_HOLDS_LIST(value));
    fail_unless_equals_int(gst_value_list_get_size(value), G_N_ELEMENTS(formats));
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        gboolean found = FALSE;

        for (guint k = 0; k < gst_value_list_get_size(value) && !found; k++)
            found = !strcmp(g_value_get_string(gst_value_list_get_value(value, k)), formats[i]);
        fail_unless(found, "the element does not offer %s", formats[i]);
    }
    gst_caps_unref(caps);
    gst_object_unref(element);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("formats");
    TCase *tc = tcase_create("modes");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, list);
    tcase_add_loop_test(tc, every_mode, 0, G_N_ELEMENTS(formats) * G_N_ELEMENTS(cases));
    tc = tcase_create("portrait");
    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, portrait, 0, COLORED); /* grey has no skin */
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "formats");
}
