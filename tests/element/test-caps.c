/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps, geometry and settings as tables: one row, one named case. */
#include "gsttdlcaps.h"
#include "gsttdlcompose.h"

#include <gst/check/gstcheck.h>

#define MODES_KEEPING                                                                              \
    (1 << TDL_MODE_OVERLAY | 1 << TDL_MODE_BLUR | 1 << TDL_MODE_REPLACE | 1 << TDL_MODE_PASSTHROUGH)
#define MASK (1 << TDL_MODE_MASK)
#define ALPHA (1 << TDL_MODE_ALPHA)

static const struct {
    const char *name;
    guint modes; /* bits of enum tdl_mode */
    GstPadDirection direction;
    const char *caps, *expected;
} transforms[] = {
    { "the format stays", MODES_KEEPING, GST_PAD_SINK,
      "video/x-raw,format=NV12,width=64,height=48,framerate=30/1,colorimetry=bt709",
      "video/x-raw,format=NV12,width=64,height=48,framerate=30/1,colorimetry=bt709" },
    { "the format stays, backwards", MODES_KEEPING, GST_PAD_SRC, "video/x-raw,format=RGB,width=5",
      "video/x-raw,format=RGB,width=5" },
    { "a mask is grey", MASK, GST_PAD_SINK,
      "video/x-raw,format=YUY2,width=64,height=48,pixel-aspect-ratio=4/3,colorimetry=bt709,"
      "chroma-site=mpeg2",
      "video/x-raw,format=GRAY8,width=64,height=48,pixel-aspect-ratio=4/3" },
    { "a mask comes of any format", MASK, GST_PAD_SRC, "video/x-raw,format=GRAY8,width=64",
      "video/x-raw,width=64,format={NV12,I420,YUY2,UYVY,P010_10LE,RGBA,BGRA,RGBx,BGRx,RGB,BGR,GRAY8}" },
    { "a mask is never NV12", MASK, GST_PAD_SRC, "video/x-raw,format=NV12", "EMPTY" },
    { "a mask is among many", MASK, GST_PAD_SRC, "video/x-raw,format={NV12,GRAY8}",
      "video/x-raw,format={NV12,I420,YUY2,UYVY,P010_10LE,RGBA,BGRA,RGBx,BGRx,RGB,BGR,GRAY8}" },
    { "alpha of YUV", ALPHA, GST_PAD_SINK, "video/x-raw,format=I420,colorimetry=bt601",
      "video/x-raw,format={RGBA,BGRA}" },
    { "alpha keeps the byte order", ALPHA, GST_PAD_SINK, "video/x-raw,format=BGRx",
      "video/x-raw,format={BGRA,RGBA}" },
    { "alpha comes of any format", ALPHA, GST_PAD_SRC, "video/x-raw,format=BGRA",
      "video/x-raw,format={NV12,I420,YUY2,UYVY,P010_10LE,RGBA,BGRA,RGBx,BGRx,RGB,BGR,GRAY8}" },
    { "alpha is never RGB", ALPHA, GST_PAD_SRC, "video/x-raw,format=RGB", "EMPTY" },
    { "other memory is declined", MODES_KEEPING | MASK | ALPHA, GST_PAD_SINK,
      "video/x-raw(memory:GLMemory),format=RGBA", "EMPTY" },
    { "of several memories ours stays", MODES_KEEPING, GST_PAD_SINK,
      "video/x-raw(memory:GLMemory),format=RGBA;video/x-raw,format=RGB",
      "video/x-raw,format=RGB" },
};

GST_START_TEST(transform)
{
    for (gint mode = TDL_MODE_MASK; mode <= TDL_MODE_PASSTHROUGH; mode++) {
        GstCaps *caps, *expected, *result;

        if (!(transforms[__i__].modes & 1 << mode))
            continue;
        caps = gst_caps_from_string(transforms[__i__].caps);
        expected = gst_caps_from_string(transforms[__i__].expected);
        result = gst_tdl_caps_transform(mode, transforms[__i__].direction, caps, NULL);
        /* Strictly: the order of formats is the preference. */
        fail_unless(gst_caps_is_strictly_equal(result, expected), "%s, mode %d: %s",
                    transforms[__i__].name, mode, gst_caps_to_string(result));
        gst_caps_unref(caps);
        gst_caps_unref(expected);
        gst_caps_unref(result);
    }
}
GST_END_TEST;

/* The filter's order wins, as the core asks of transform_caps. */
GST_START_TEST(filter)
{
    GstCaps *caps = gst_caps_from_string("video/x-raw,format=NV12");
    GstCaps *wanted = gst_caps_from_string("video/x-raw,format=BGRA;video/x-raw,format=RGBA");
    GstCaps *result = gst_tdl_caps_transform(TDL_MODE_ALPHA, GST_PAD_SINK, caps, wanted);

    fail_unless(gst_caps_is_strictly_equal(result, wanted), "%s",
                gst_caps_to_string(result));
    gst_caps_unref(caps);
    gst_caps_unref(wanted);
    gst_caps_unref(result);
}
GST_END_TEST;

static const struct {
    enum tdl_mode wanted, expected;
    GstVideoFormat in, out;
} modes[] = {
    { TDL_MODE_BLUR, TDL_MODE_BLUR, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV12 },
    { TDL_MODE_MASK, TDL_MODE_MASK, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY8 },
    { TDL_MODE_MASK, TDL_MODE_MASK, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8 },
    { TDL_MODE_ALPHA, TDL_MODE_ALPHA, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_BGRA },
    /* The property is ahead of the caps. */
    { TDL_MODE_BLUR, TDL_MODE_MASK, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY8 },
    { TDL_MODE_BLUR, TDL_MODE_ALPHA, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBA },
    { TDL_MODE_MASK, TDL_MODE_PASSTHROUGH, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV12 },
    { TDL_MODE_ALPHA, TDL_MODE_PASSTHROUGH, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGB },
};

GST_START_TEST(mode)
{
    fail_unless_equals_int(gst_tdl_caps_mode(modes[__i__].wanted, modes[__i__].in, modes[__i__].out),
                           modes[__i__].expected);
}
GST_END_TEST;

static const struct {
    const char *caps;
    enum tdl_format format;
    enum tdl_matrix matrix;
    enum tdl_range range;
} frames[] = {
    { "format=NV12,width=640,height=480", TDL_FORMAT_NV12, TDL_MATRIX_BT601, TDL_RANGE_LIMITED },
    { "format=NV12,width=1280,height=720", TDL_FORMAT_NV12, TDL_MATRIX_BT709, TDL_RANGE_LIMITED },
    { "format=P010_10LE,width=3840,height=2160,colorimetry=bt2020", TDL_FORMAT_P010, TDL_MATRIX_BT2020,
      TDL_RANGE_LIMITED },
    { "format=I420,width=1280,height=720,colorimetry=bt601", TDL_FORMAT_I420, TDL_MATRIX_BT601,
      TDL_RANGE_LIMITED },
    { "format=YUY2,width=64,height=48,colorimetry=bt709", TDL_FORMAT_YUY2, TDL_MATRIX_BT709,
      TDL_RANGE_LIMITED },
    { "format=UYVY,width=64,height=48,colorimetry=bt2020", TDL_FORMAT_UYVY, TDL_MATRIX_BT2020,
      TDL_RANGE_LIMITED },
    { "format=I420,width=64,height=48,colorimetry=1:4:0:0", TDL_FORMAT_I420, TDL_MATRIX_BT601,
      TDL_RANGE_FULL },
    { "format=I420,width=64,height=48,colorimetry=smpte240m", TDL_FORMAT_I420, TDL_MATRIX_BT709,
      TDL_RANGE_LIMITED },
    { "format=BGRx,width=64,height=48", TDL_FORMAT_BGRX, TDL_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=RGB,width=64,height=48,colorimetry=sRGB", TDL_FORMAT_RGB, TDL_MATRIX_BT601,
      TDL_RANGE_FULL },
    { "format=GRAY8,width=64,height=48", TDL_FORMAT_GRAY8, TDL_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=BGR,width=7,height=5", TDL_FORMAT_BGR, TDL_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=RGBA,width=7,height=5", TDL_FORMAT_RGBA, TDL_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=BGRA,width=7,height=5", TDL_FORMAT_BGRA, TDL_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=RGBx,width=7,height=5", TDL_FORMAT_RGBX, TDL_MATRIX_BT601, TDL_RANGE_FULL },
};

GST_START_TEST(frame)
{
    g_autofree gchar *text = g_strconcat("video/x-raw,", frames[__i__].caps, NULL);
    GstCaps *caps = gst_caps_from_string(text);
    struct tdl_frame result;
    GstVideoInfo info;

    fail_unless(gst_video_info_from_caps(&info, caps));
    gst_tdl_caps_frame(&info, &result);
    fail_unless_equals_int(result.format, frames[__i__].format);
    fail_unless_equals_int(result.width, info.width);
    fail_unless_equals_int(result.height, info.height);
    fail_unless_equals_int(result.range, frames[__i__].range);
    if (GST_VIDEO_INFO_IS_YUV(&info)) /* others have no use for it */
        fail_unless_equals_int(result.matrix, frames[__i__].matrix);
    gst_caps_unref(caps);
}
GST_END_TEST;

/* Rows against GStreamer's own layout: its default strides are the rows,
 * rounded up to four bytes. */
GST_START_TEST(rows)
{
    static const GstVideoFormat all[] = {
        GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY,
        GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA,
        GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR,
        GST_VIDEO_FORMAT_GRAY8,
    };
    static const gint sizes[] = { 1, 2, 3, 4, 5, 17, 64, 641, 1280 };
    GstVideoInfo info;

    fail_unless(gst_tdl_format(all[__i__]) != TDL_FORMAT_UNKNOWN);
    for (guint w = 0; w < G_N_ELEMENTS(sizes); w++) {
        gst_video_info_set_format(&info, all[__i__], sizes[w], sizes[w]);
        for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++) {
            gsize row = gst_tdl_plane_row(info.finfo, p, sizes[w]);
            guint rows = gst_tdl_plane_rows(info.finfo, p, sizes[w]);
            gboolean half = p > 0; /* of the formats here, all planes but the first */

            fail_unless_equals_int(rows, half ? (sizes[w] + 1) / 2 : sizes[w]);
            fail_unless_equals_int(row <= (gsize)info.stride[p], TRUE);
            /* GStreamer rounds I420's and NV12's chroma up by more. */
            fail_unless(row + 8 > (gsize)info.stride[p], "%s plane %u width %d: %zu of %d",
                        GST_VIDEO_INFO_NAME(&info), p, sizes[w], row, info.stride[p]);
        }
    }
}
GST_END_TEST;

static const struct {
    struct gst_tdl_rect rect, expected;
    gboolean cropped;
} crops[] = { /* of 101×51 px */
    { { 0, 0, 101, 51 }, { 0, 0, 101, 51 }, FALSE },
    { { 16, 10, 32, 20 }, { 16, 10, 32, 20 }, TRUE },
    { { 17, 11, 32, 20 }, { 16, 10, 40, 22 }, TRUE },
    { { 50, 20, 1000, 1000 }, { 48, 20, 53, 31 }, TRUE },
    { { 50, 20, G_MAXUINT, G_MAXUINT }, { 48, 20, 53, 31 }, TRUE },
    { { 101, 0, 10, 10 }, { 0 }, FALSE },
    { { 10, 10, 0, 0 }, { 0 }, FALSE },
};

GST_START_TEST(crop)
{
    struct gst_tdl_rect rect = crops[__i__].rect;
    const struct gst_tdl_rect *expected = &crops[__i__].expected;

    fail_unless_equals_int(gst_tdl_caps_crop(101, 51, &rect), crops[__i__].cropped);
    if (!crops[__i__].cropped)
        return;
    fail_unless_equals_int(rect.x, expected->x);
    fail_unless_equals_int(rect.y, expected->y);
    fail_unless_equals_int(rect.width, expected->width);
    fail_unless_equals_int(rect.height, expected->height);
}
GST_END_TEST;

GST_START_TEST(colors)
{
    struct gst_tdl_live live = { .background_color = 0x80ff3300, .overlay_color = 0x00010203 };
    struct tdl_compose_params params;
    const float background[4] = { 1, 0x33 / 255.0f, 0, 0x80 / 255.0f };
    const float overlay[4] = { 1 / 255.0f, 2 / 255.0f, 3 / 255.0f, 0 };

    gst_tdl_compose_params(&live, TDL_MODE_REPLACE, NULL, &params);
    for (guint i = 0; i < 4; i++) {
        fail_unless(ABS(params.background_color[i] - background[i]) < 1e-6, "background %u", i);
        fail_unless(ABS(params.overlay_color[i] - overlay[i]) < 1e-6, "overlay %u", i);
    }
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("caps");
    TCase *tc = tcase_create("tables");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, transform, 0, G_N_ELEMENTS(transforms));
    tcase_add_test(tc, filter);
    tcase_add_loop_test(tc, mode, 0, G_N_ELEMENTS(modes));
    tcase_add_loop_test(tc, frame, 0, G_N_ELEMENTS(frames));
    tcase_add_loop_test(tc, rows, 0, 12);
    tcase_add_loop_test(tc, crop, 0, G_N_ELEMENTS(crops));
    tcase_add_test(tc, colors);
    return s;
}

int main(int argc, char **argv)
{
    gst_check_init(&argc, &argv);
    return gst_check_run_suite(suite(), "caps", __FILE__);
}
