/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlcaps.h"

/* Of equal formats the first is preferred, when the peer leaves the choice. */
static const struct {
    GstVideoFormat video;
    enum tdl_format tdl;
    const gchar *name;
    gboolean bgr; /* bytes run from blue to red */
} formats[] = {
    { GST_VIDEO_FORMAT_NV12, TDL_FORMAT_NV12, "NV12", FALSE },
    { GST_VIDEO_FORMAT_I420, TDL_FORMAT_I420, "I420", FALSE },
    { GST_VIDEO_FORMAT_YUY2, TDL_FORMAT_YUY2, "YUY2", FALSE },
    { GST_VIDEO_FORMAT_UYVY, TDL_FORMAT_UYVY, "UYVY", FALSE },
    { GST_VIDEO_FORMAT_P010_10LE, TDL_FORMAT_P010, "P010_10LE", FALSE },
    { GST_VIDEO_FORMAT_RGBA, TDL_FORMAT_RGBA, "RGBA", FALSE },
    { GST_VIDEO_FORMAT_BGRA, TDL_FORMAT_BGRA, "BGRA", TRUE },
    { GST_VIDEO_FORMAT_RGBx, TDL_FORMAT_RGBX, "RGBx", FALSE },
    { GST_VIDEO_FORMAT_BGRx, TDL_FORMAT_BGRX, "BGRx", TRUE },
    { GST_VIDEO_FORMAT_RGB, TDL_FORMAT_RGB, "RGB", FALSE },
    { GST_VIDEO_FORMAT_BGR, TDL_FORMAT_BGR, "BGR", TRUE },
    { GST_VIDEO_FORMAT_GRAY8, TDL_FORMAT_GRAY8, "GRAY8", FALSE },
};

enum tdl_format gst_tdl_format(GstVideoFormat format)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].video == format)
            return formats[i].tdl;
    return TDL_FORMAT_UNKNOWN;
}

static gboolean is_bgr(const gchar *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (!g_strcmp0(formats[i].name, name))
            return formats[i].bgr;
    return FALSE;
}

static void append_string(GValue *list, const gchar *text)
{
    GValue item = G_VALUE_INIT;

    g_value_init(&item, G_TYPE_STRING);
    g_value_set_string(&item, text);
    gst_value_list_append_and_take_value(list, &item);
}

/* Alpha comes in the byte order of the input, so that nothing downstream has
 * to turn it round; the other order is offered, too. */
static void set_alpha_formats(GstStructure *structure)
{
    gboolean bgr = is_bgr(gst_structure_get_string(structure, "format"));
    GValue list = G_VALUE_INIT;

    g_value_init(&list, GST_TYPE_LIST);
    append_string(&list, bgr ? "BGRA" : "RGBA");
    append_string(&list, bgr ? "RGBA" : "BGRA");
    gst_structure_take_value(structure, "format", &list);
}

static void set_all_formats(GstStructure *structure)
{
    GValue list = G_VALUE_INIT;

    g_value_init(&list, GST_TYPE_LIST);
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        append_string(&list, formats[i].name);
    gst_structure_take_value(structure, "format", &list);
}

/* Can this side's structure be what `mode` puts out? */
static gboolean output_matches(enum tdl_mode mode, const GstStructure *structure)
{
    const gchar *wanted = mode == TDL_MODE_MASK ? "{ GRAY8 }" : "{ RGBA, BGRA }";
    const GValue *format = gst_structure_get_value(structure, "format");
    GValue list = G_VALUE_INIT;
    gboolean matches; /* gst_value_can_intersect() says yes to any list */

    if (!format)
        return TRUE;
    g_value_init(&list, GST_TYPE_LIST);
    gst_value_deserialize(&list, wanted);
    matches = gst_value_intersect(NULL, format, &list);
    g_value_unset(&list);
    return matches;
}

static gboolean in_system_memory(const GstCapsFeatures *features)
{
    return !features || gst_caps_features_is_any(features) ||
           gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

/* Rows to come here: memory:VulkanImage, memory:DMABuf. */
static gboolean has_known_features(GstCaps *caps, guint index)
{
    return in_system_memory(gst_caps_get_features(caps, index));
}

GstCaps *gst_tdl_caps_transform(enum tdl_mode mode, GstPadDirection direction, GstCaps *caps,
                                GstCaps *filter)
{
    GstCaps *result = gst_caps_new_empty();
    gboolean converts = mode == TDL_MODE_MASK || mode == TDL_MODE_ALPHA;

    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
        const GstStructure *from = gst_caps_get_structure(caps, i);
        GstStructure *to;

        if (!has_known_features(caps, i))
            continue;
        if (converts && direction == GST_PAD_SRC && !output_matches(mode, from))
            continue;
        to = gst_structure_copy(from);
        if (converts) {
            /* They describe the other format's samples. */
            gst_structure_remove_fields(to, "colorimetry", "chroma-site", NULL);
            if (direction == GST_PAD_SRC)
                set_all_formats(to);
            else if (mode == TDL_MODE_MASK)
                gst_structure_set(to, "format", G_TYPE_STRING, "GRAY8", NULL);
            else
                set_alpha_formats(to);
        }
        result = gst_caps_merge_structure(result, to);
    }
    if (filter) {
        GstCaps *both = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);

        gst_caps_unref(result);
        result = both;
    }
    return result;
}

gboolean gst_tdl_caps_fit(enum tdl_mode mode, GstVideoFormat in, GstVideoFormat out)
{
    if (mode == TDL_MODE_MASK)
        return out == GST_VIDEO_FORMAT_GRAY8;
    if (mode == TDL_MODE_ALPHA)
        return out == GST_VIDEO_FORMAT_RGBA || out == GST_VIDEO_FORMAT_BGRA;
    return in == out;
}

enum tdl_mode gst_tdl_caps_mode(enum tdl_mode wanted, GstVideoFormat in, GstVideoFormat out)
{
    if (gst_tdl_caps_fit(wanted, in, out))
        return wanted;
    if (gst_tdl_caps_fit(TDL_MODE_MASK, in, out))
        return TDL_MODE_MASK;
    if (gst_tdl_caps_fit(TDL_MODE_ALPHA, in, out))
        return TDL_MODE_ALPHA;
    return TDL_MODE_PASSTHROUGH;
}

static enum tdl_matrix matrix_of(const GstVideoInfo *info)
{
    GstVideoColorMatrix matrix = info->colorimetry.matrix;
    GstVideoInfo defaults;

    if (matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN && GST_VIDEO_FORMAT_INFO_IS_YUV(info->finfo) &&
        gst_video_info_set_format(&defaults, GST_VIDEO_INFO_FORMAT(info), info->width,
                                  info->height))
        matrix = defaults.colorimetry.matrix; /* GStreamer's choice for the size */
    switch (matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT601:
    case GST_VIDEO_COLOR_MATRIX_FCC: /* differs from BT.601 in the third digit */
        return TDL_MATRIX_BT601;
    case GST_VIDEO_COLOR_MATRIX_BT709:
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M: /* so does this from BT.709 */
        return TDL_MATRIX_BT709;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
        return TDL_MATRIX_BT2020;
    default: /* RGB and grey have none */
        return TDL_MATRIX_BT601;
    }
}

void gst_tdl_caps_frame(const GstVideoInfo *info, struct tdl_frame *out_frame)
{
    gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;

    if (info->colorimetry.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
        full = !GST_VIDEO_FORMAT_INFO_IS_YUV(info->finfo);
    *out_frame = (struct tdl_frame){
        .format = gst_tdl_format(GST_VIDEO_INFO_FORMAT(info)),
        .width = GST_VIDEO_INFO_WIDTH(info),
        .height = GST_VIDEO_INFO_HEIGHT(info),
        .matrix = matrix_of(info),
        .range = full ? TDL_RANGE_FULL : TDL_RANGE_LIMITED,
    };
}

gsize gst_tdl_plane_row(const GstVideoFormatInfo *format, guint plane, guint width)
{
    gsize bytes = 0;

    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++) {
        gsize samples = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format, c, width);

        if (GST_VIDEO_FORMAT_INFO_PLANE(format, c) == plane)
            bytes = MAX(bytes, samples * GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c));
    }
    return bytes;
}

guint gst_tdl_plane_rows(const GstVideoFormatInfo *format, guint plane, guint height)
{
    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++)
        if (GST_VIDEO_FORMAT_INFO_PLANE(format, c) == plane)
            return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format, c, height);
    return 0;
}

/* The GPU writes words of four bytes: a quarter of a word is two pixels of
 * I420's half-size chroma, so eight pixels are whole words in every plane. */
#define CROP_ALIGN 8

gboolean gst_tdl_caps_crop(guint width, guint height, struct gst_tdl_rect *rect)
{
    guint64 right = MIN((guint64)rect->x + rect->width, width);
    guint64 bottom = MIN((guint64)rect->y + rect->height, height);

    if (rect->x >= right || rect->y >= bottom)
        return FALSE;
    rect->x -= rect->x % CROP_ALIGN;
    rect->y -= rect->y % 2;
    rect->width = MIN(GST_ROUND_UP_8(right), width) - rect->x;
    rect->height = MIN(GST_ROUND_UP_2(bottom), height) - rect->y;
    return rect->width < width || rect->height < height;
}

void gst_tdl_frame_crop(const struct tdl_frame *frame, const GstVideoFormatInfo *format,
                        const struct gst_tdl_rect *rect, struct tdl_frame *out_part)
{
    *out_part = *frame;
    out_part->width = rect->width;
    out_part->height = rect->height;
    for (guint p = 0; p < GST_VIDEO_FORMAT_INFO_N_PLANES(format); p++)
        out_part->planes[p].offset +=
            (guint64)gst_tdl_plane_rows(format, p, rect->y) * frame->planes[p].stride +
            gst_tdl_plane_row(format, p, rect->x);
}
