/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlcaps.h"

#include "settings/gsttdlsettings.h"

#include <string.h>

/* The first of equal formats is preferred, when the peer leaves the choice. DRM names the
 * order of bits in a little-endian word, GStreamer that of bytes. */
static const struct {
    GstVideoFormat video;
    enum tdl_format tdl;
    const gchar *name;
    const gchar *drm;     /* NULL: it has none */
    GstVideoFormat alpha; /* the nearest format with alpha */
    gboolean image;       /* GStreamer's Vulkan library has images of it */
} formats[] = {
#define F(name) GST_VIDEO_FORMAT_##name
    { F(NV12), TDL_FORMAT_NV12, "NV12", "NV12", F(RGBA), TRUE },
    { F(I420), TDL_FORMAT_I420, "I420", "YU12", F(RGBA), FALSE },
    { F(YUY2), TDL_FORMAT_YUY2, "YUY2", "YUYV", F(RGBA), FALSE },
    { F(UYVY), TDL_FORMAT_UYVY, "UYVY", "UYVY", F(RGBA), FALSE },
    { F(P010_10LE), TDL_FORMAT_P010, "P010_10LE", "P010", F(RGBA), FALSE },
    { F(RGBA), TDL_FORMAT_RGBA, "RGBA", "AB24", F(RGBA), TRUE },
    { F(BGRA), TDL_FORMAT_BGRA, "BGRA", "AR24", F(BGRA), TRUE },
    { F(ARGB), TDL_FORMAT_ARGB, "ARGB", "BA24", F(ARGB), FALSE },
    { F(ABGR), TDL_FORMAT_ABGR, "ABGR", "RA24", F(ABGR), FALSE },
    { F(RGBx), TDL_FORMAT_RGBX, "RGBx", "XB24", F(RGBA), TRUE },
    { F(BGRx), TDL_FORMAT_BGRX, "BGRx", "XR24", F(BGRA), TRUE },
    { F(xRGB), TDL_FORMAT_XRGB, "xRGB", "BX24", F(ARGB), FALSE },
    { F(xBGR), TDL_FORMAT_XBGR, "xBGR", "RX24", F(ABGR), FALSE },
    { F(RGB), TDL_FORMAT_RGB, "RGB", "BG24", F(RGBA), FALSE },
    { F(BGR), TDL_FORMAT_BGR, "BGR", "RG24", F(BGRA), FALSE },
    { F(NV21), TDL_FORMAT_NV21, "NV21", "NV21", F(RGBA), FALSE },
    { F(NV16), TDL_FORMAT_NV16, "NV16", "NV16", F(RGBA), FALSE },
    { F(YV12), TDL_FORMAT_YV12, "YV12", "YV12", F(RGBA), FALSE },
    { F(Y42B), TDL_FORMAT_Y42B, "Y42B", "YU16", F(RGBA), FALSE },
    { F(Y444), TDL_FORMAT_Y444, "Y444", "YU24", F(RGBA), FALSE },
    { F(I420_10LE), TDL_FORMAT_I420_10, "I420_10LE", NULL, F(RGBA), FALSE },
    { F(I422_10LE), TDL_FORMAT_I422_10, "I422_10LE", NULL, F(RGBA), FALSE },
    { F(Y444_10LE), TDL_FORMAT_Y444_10, "Y444_10LE", NULL, F(RGBA), FALSE },
    { F(GRAY8), TDL_FORMAT_GRAY8, "GRAY8", "R8  ", F(RGBA), FALSE },
    { F(GRAY16_LE), TDL_FORMAT_GRAY16, "GRAY16_LE", "R16 ", F(RGBA), FALSE },
#undef F
};

static gint index_of(GstVideoFormat format)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].video == format)
            return i;
    return -1;
}

enum tdl_format gst_tdl_caps_format(GstVideoFormat format)
{
    gint i = index_of(format);

    return i < 0 ? TDL_FORMAT_UNKNOWN : formats[i].tdl;
}

/* --------------------------------------------------------------------- DRM */

guint32 gst_tdl_caps_drm_fourcc(GstVideoFormat format)
{
    gint i = index_of(format);
    const gchar *name = i < 0 ? NULL : formats[i].drm;

    return name ? GST_MAKE_FOURCC(name[0], name[1], name[2], name[3]) : 0;
}

gboolean gst_tdl_caps_parse_drm(const gchar *text, GstVideoFormat *out_format,
                                guint64 *out_modifier)
{
    const gchar *colon = text ? strchr(text, ':') : NULL;
    gsize length = colon ? (gsize)(colon - text) : text ? strlen(text) : 0;

    *out_modifier = GST_TDL_LINEAR;
    if (colon &&
        !g_ascii_string_to_unsigned(g_str_has_prefix(colon + 1, "0x") ? colon + 3 : colon + 1, 16,
                                    0, G_MAXUINT64, out_modifier, NULL))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        if (length == 4 && formats[i].drm && !strncmp(formats[i].drm, text, 4)) {
            *out_format = formats[i].video;
            return TRUE;
        }
    }
    return FALSE;
}

/* ------------------------------------------------------------- format lists */

/* Formats as bits of indices into the table: sets keep the table's order, a
 * list of a peer's is kept by copying its structure. */
#define ALL_FORMATS ((1u << G_N_ELEMENTS(formats)) - 1)

static guint bit_of(GstVideoFormat format)
{
    gint i = index_of(format);

    return i < 0 ? 0 : 1u << i;
}

static gboolean is_on_side(const struct gst_tdl_tiling *tiling, GstPadDirection direction)
{
    return direction == GST_PAD_SINK ? tiling->in : tiling->out;
}

static gboolean is_tiling(const struct gst_tdl_abilities *abilities, GstPadDirection direction,
                          GstVideoFormat format, guint64 modifier)
{
    for (guint i = 0; i < abilities->n_tilings; i++) {
        const struct gst_tdl_tiling *tiling = &abilities->tilings[i];

        if (tiling->format == format && tiling->modifier == modifier)
            return is_on_side(tiling, direction);
    }
    return FALSE;
}

static guint read_format(const gchar *text, gboolean drm, GstPadDirection direction,
                         const struct gst_tdl_abilities *abilities)
{
    GstVideoFormat format;
    guint64 modifier;

    if (!drm)
        return text ? bit_of(gst_video_format_from_string(text)) : 0;
    if (!gst_tdl_caps_parse_drm(text, &format, &modifier))
        return 0;
    if (modifier != GST_TDL_LINEAR && !is_tiling(abilities, direction, format, modifier))
        return 0;
    return bit_of(format);
}

static gboolean is_drm(const GstStructure *structure)
{
    return !g_strcmp0(gst_structure_get_string(structure, "format"), "DMA_DRM");
}

/* Ours among the formats that the structure, on side `direction`, allows. */
static guint read_formats(const GstStructure *structure, GstPadDirection direction,
                          const struct gst_tdl_abilities *abilities)
{
    gboolean drm = is_drm(structure);
    const GValue *value = gst_structure_get_value(structure, drm ? "drm-format" : "format");
    guint set = 0;

    if (!value)
        return ALL_FORMATS;
    if (G_VALUE_HOLDS_STRING(value))
        return read_format(g_value_get_string(value), drm, direction, abilities);
    for (guint i = 0; GST_VALUE_HOLDS_LIST(value) && i < gst_value_list_get_size(value); i++) {
        const GValue *item = gst_value_list_get_value(value, i);

        if (G_VALUE_HOLDS_STRING(item))
            set |= read_format(g_value_get_string(item), drm, direction, abilities);
    }
    return set;
}

static void append_string(GValue *list, const gchar *text)
{
    GValue item = G_VALUE_INIT;

    g_value_init(&item, G_TYPE_STRING);
    g_value_set_string(&item, text);
    gst_value_list_append_and_take_value(list, &item);
}

/* A list of one is a plain string. */
static void take_list(GstStructure *structure, const gchar *field, GValue *list)
{
    if (gst_value_list_get_size(list) == 1) {
        gst_structure_set_value(structure, field, gst_value_list_get_value(list, 0));
        g_value_unset(list);
    } else {
        gst_structure_take_value(structure, field, list);
    }
}

/* `first`, if it is one of them, before the others. */
static void write_formats(GstStructure *structure, guint set, GstVideoFormat first)
{
    GValue list = G_VALUE_INIT;

    g_value_init(&list, GST_TYPE_LIST);
    for (guint pass = 0; pass < 2; pass++)
        for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
            if (set & 1u << i && (formats[i].video == first) == (pass == 0))
                append_string(&list, formats[i].name);
    take_list(structure, "format", &list);
}

/* Linear first: that is read and written in place, tilings cost a copy by the GPU. */
static void write_drm_formats(GstStructure *structure, guint set, GstPadDirection direction,
                              const struct gst_tdl_abilities *abilities)
{
    GValue list = G_VALUE_INIT;

    g_value_init(&list, GST_TYPE_LIST);
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        if (!(set & 1u << i))
            continue;
        append_string(&list, formats[i].drm);
        for (guint t = 0; t < abilities->n_tilings; t++) {
            gchar text[32];

            if (abilities->tilings[t].format != formats[i].video ||
                !is_on_side(&abilities->tilings[t], direction))
                continue;
            g_snprintf(text, sizeof(text), "%s:0x%016" G_GINT64_MODIFIER "x", formats[i].drm,
                       abilities->tilings[t].modifier);
            append_string(&list, text);
        }
    }
    gst_structure_set(structure, "format", G_TYPE_STRING, "DMA_DRM", NULL);
    take_list(structure, "drm-format", &list);
}

static guint image_formats(void)
{
    guint set = 0;

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        set |= (guint)formats[i].image << i;
    return set;
}

static guint drm_formats(void)
{
    guint set = 0;

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        set |= (guint)(formats[i].drm != NULL) << i;
    return set;
}

static guint alpha_formats(void)
{
    guint set = 0;

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        set |= (guint)(formats[i].alpha == formats[i].video) << i;
    return set;
}

/* mode=alpha makes formats with alpha of these: with bytes in the order of the input's,
 * nothing downstream has to turn them round. */
static GstVideoFormat nearest_alpha(guint set)
{
    GstVideoFormat nearest = GST_VIDEO_FORMAT_UNKNOWN;

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        if (!(set & 1u << i))
            continue;
        if (nearest != GST_VIDEO_FORMAT_UNKNOWN && nearest != formats[i].alpha)
            return GST_VIDEO_FORMAT_UNKNOWN;
        nearest = formats[i].alpha;
    }
    return nearest;
}

/* ---------------------------------------------------------------- transform */

/* How caps of a kind of memory are written. */
enum style { SYSTEM, DMA_BUF, DMA_DRM, VULKAN, STYLES };

static gboolean style_of(GstCaps *caps, guint index, enum style *out_style)
{
    const GstCapsFeatures *features = gst_caps_get_features(caps, index);

    if (!features || gst_caps_features_is_any(features) ||
        gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
        *out_style = SYSTEM;
    else if (gst_caps_features_get_size(features) != 1)
        return FALSE;
    else if (gst_caps_features_contains(features, GST_TDL_CAPS_DMA_BUF))
        *out_style = is_drm(gst_caps_get_structure(caps, index)) ? DMA_DRM : DMA_BUF;
    else if (gst_caps_features_contains(features, GST_TDL_CAPS_VULKAN))
        *out_style = VULKAN;
    else
        return FALSE;
    return TRUE;
}

/* From what costs least to what costs most: the kind that is on the other side
 * already, dma-bufs, Vulkan images, system memory. Dma-bufs that the device
 * cannot import are taken all the same, but behind: they will be copied. */
static guint list_styles(GstPadDirection direction, enum style from,
                         const struct gst_tdl_abilities *abilities, enum style out[STYLES])
{
    gboolean sink = direction == GST_PAD_SINK;
    gboolean dma_buf = sink ? abilities->dma_buf_in : abilities->dma_buf_out;
    guint count = 0;

    if (from == VULKAN && abilities->vulkan_image)
        out[count++] = VULKAN;
    if (dma_buf && abilities->drm_caps)
        out[count++] = DMA_DRM;
    if (dma_buf)
        out[count++] = DMA_BUF;
    if (from != VULKAN && abilities->vulkan_image)
        out[count++] = VULKAN;
    out[count++] = SYSTEM;
    if (!dma_buf && (sink || abilities->dma_buf_in) && abilities->drm_caps)
        out[count++] = DMA_DRM;
    if (!dma_buf && (sink || abilities->dma_buf_in))
        out[count++] = DMA_BUF;
    return count;
}

static GstCapsFeatures *features_of(enum style style)
{
    if (style == VULKAN)
        return gst_caps_features_new(GST_TDL_CAPS_VULKAN, NULL);
    return style == SYSTEM ? NULL : gst_caps_features_new(GST_TDL_CAPS_DMA_BUF, NULL);
}

/* Formats that the other side may have when this one has `set`. */
static guint convert_formats(enum gst_tdl_mode mode, GstPadDirection direction, guint set)
{
    guint made = ALL_FORMATS;

    if (mode == GST_TDL_MODE_MASK)
        made = bit_of(GST_VIDEO_FORMAT_GRAY8);
    else if (mode == GST_TDL_MODE_ALPHA)
        made = alpha_formats();
    else
        return set;
    if (direction == GST_PAD_SINK)
        return made;
    return set & made ? ALL_FORMATS : 0;
}

/* `from`, which has `style`, on the other side in style `to`; NULL: impossible. */
static GstStructure *transform_structure(enum gst_tdl_mode mode, GstPadDirection direction,
                                         const struct gst_tdl_abilities *abilities,
                                         const GstStructure *from, enum style style, enum style to)
{
    GstPadDirection other = direction == GST_PAD_SINK ? GST_PAD_SRC : GST_PAD_SINK;
    gboolean converts = mode == GST_TDL_MODE_MASK || mode == GST_TDL_MODE_ALPHA;
    guint had =
        read_formats(from, direction, abilities) & (style == DMA_DRM ? drm_formats() : ALL_FORMATS);
    guint set = convert_formats(mode, direction, had);
    GstStructure *structure;

    if (to == VULKAN)
        set &= image_formats();
    if (to == DMA_DRM)
        set &= drm_formats();
    if (!set && (style != to || to == DMA_DRM || to == VULKAN || converts))
        return NULL;
    structure = gst_structure_copy(from);
    if (converts) /* colorimetry and chroma-site describe the input format's samples */
        gst_structure_remove_fields(structure, "colorimetry", "chroma-site", NULL);
    if (style == DMA_DRM)
        gst_structure_remove_fields(structure, "format", "drm-format", NULL);
    if (to == DMA_DRM)
        write_drm_formats(structure, set, other, abilities);
    else if (converts)
        write_formats(structure, set,
                      direction == GST_PAD_SINK ? nearest_alpha(had) : GST_VIDEO_FORMAT_UNKNOWN);
    else if (style == DMA_DRM || to == VULKAN)
        write_formats(structure, set, GST_VIDEO_FORMAT_UNKNOWN);
    return structure;
}

/* The other side in one style; in passthrough buffers stay what they are. */
static GstCaps *append_style(GstCaps *result, enum gst_tdl_mode mode, GstPadDirection direction,
                             const struct gst_tdl_abilities *abilities, GstCaps *caps,
                             enum style to)
{
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
        const GstStructure *from = gst_caps_get_structure(caps, i);
        GstStructure *structure;
        enum style style;

        if (!style_of(caps, i, &style) || (mode == GST_TDL_MODE_PASSTHROUGH && style != to))
            continue;
        structure = mode == GST_TDL_MODE_PASSTHROUGH
                        ? gst_structure_copy(from)
                        : transform_structure(mode, direction, abilities, from, style, to);
        if (structure)
            result = gst_caps_merge_structure_full(result, structure, features_of(to));
    }
    return result;
}

GstCaps *gst_tdl_caps_transform(enum gst_tdl_mode mode, GstPadDirection direction,
                                const struct gst_tdl_abilities *abilities, GstCaps *caps,
                                GstCaps *filter)
{
    static const enum style all[STYLES] = { VULKAN, DMA_DRM, DMA_BUF, SYSTEM };
    GstPadDirection other = direction == GST_PAD_SINK ? GST_PAD_SRC : GST_PAD_SINK;
    GstCaps *result = gst_caps_new_empty();
    enum style styles[STYLES], first = SYSTEM;
    guint count = STYLES;

    if (gst_caps_get_size(caps) > 0)
        style_of(caps, 0, &first);
    if (mode == GST_TDL_MODE_PASSTHROUGH)
        memcpy(styles, all, sizeof(all));
    else
        count = list_styles(other, first, abilities, styles);
    for (guint i = 0; i < count; i++)
        result = append_style(result, mode, direction, abilities, caps, styles[i]);
    if (filter) {
        GstCaps *both = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);

        gst_caps_unref(result);
        result = both;
    }
    return result;
}

/* ------------------------------------------------------------------- scaling */

static gint scale_number(gint v, const gint by[2], gboolean up)
{
    gint64 scaled =
        up ? ((gint64)v * by[0] + by[1] / 2) / by[1] : ((gint64)v * by[1] + by[0] / 2) / by[0];

    return CLAMP(scaled, 1, G_MAXINT);
}

static void scale_value(const GValue *from, const gint by[2], gboolean up, GValue *to)
{
    if (G_VALUE_HOLDS_INT(from)) {
        g_value_init(to, G_TYPE_INT);
        g_value_set_int(to, scale_number(g_value_get_int(from), by, up));
    } else if (GST_VALUE_HOLDS_INT_RANGE(from)) {
        gint low = scale_number(gst_value_get_int_range_min(from), by, up);
        gint high = scale_number(gst_value_get_int_range_max(from), by, up);

        g_value_init(to, low < high ? GST_TYPE_INT_RANGE : G_TYPE_INT);
        if (low < high)
            gst_value_set_int_range(to, low, high);
        else
            g_value_set_int(to, low);
    } else if (GST_VALUE_HOLDS_LIST(from)) {
        g_value_init(to, GST_TYPE_LIST);
        for (guint i = 0; i < gst_value_list_get_size(from); i++) {
            GValue item = G_VALUE_INIT;

            scale_value(gst_value_list_get_value(from, i), by, up, &item);
            gst_value_list_append_and_take_value(to, &item);
        }
    } else {
        g_value_init(to, G_VALUE_TYPE(from));
        g_value_copy(from, to);
    }
}

GstCaps *gst_tdl_caps_scale(GstCaps *caps, GstPadDirection direction,
                            const struct gst_tdl_scale *scale)
{
    static const gchar *const fields[] = { "width", "height" };

    caps = gst_caps_make_writable(caps);
    for (guint i = 0; i < 2 * gst_caps_get_size(caps); i++) {
        GstStructure *structure = gst_caps_get_structure(caps, i / 2);
        const gint *by = !scale ? NULL : i % 2 ? scale->height : scale->width;
        const GValue *value = gst_structure_get_value(structure, fields[i % 2]);
        GValue scaled = G_VALUE_INIT;

        if (!value || (by && by[0] == by[1]))
            continue;
        if (by) {
            scale_value(value, by, direction == GST_PAD_SINK, &scaled);
            gst_structure_take_value(structure, fields[i % 2], &scaled);
        } else {
            gst_structure_set(structure, fields[i % 2], GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
        }
    }
    return caps;
}

GstCaps *gst_tdl_caps_template(const struct gst_tdl_abilities *abilities)
{
    GstCaps *system = gst_caps_from_string(GST_VIDEO_CAPS_MAKE("NV12")), *caps;

    write_formats(gst_caps_get_structure(system, 0), ALL_FORMATS, GST_VIDEO_FORMAT_UNKNOWN);
    caps = gst_tdl_caps_transform(GST_TDL_MODE_OVERLAY, GST_PAD_SRC, abilities, system, NULL);

    for (guint i = 0; i < gst_caps_get_size(caps); i++) /* tilings are the device's */
        gst_structure_remove_field(gst_caps_get_structure(caps, i), "drm-format");
    gst_caps_unref(system);
    return caps;
}

static gboolean takes_anything(const GstCaps *caps)
{
    if (gst_caps_is_any(caps))
        return TRUE;
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
        if (gst_caps_features_is_any(gst_caps_get_features(caps, i)))
            return TRUE;
    return FALSE;
}

GstCaps *gst_tdl_caps_prefer(const struct gst_tdl_abilities *abilities, const GstCaps *input,
                             GstCaps *candidates, const GstCaps *peer)
{
    const gboolean anything = takes_anything(peer);
    GstCaps *result;
    enum style style, wanted = SYSTEM;

    if (gst_caps_is_any(candidates))
        return candidates;
    style_of((GstCaps *)input, 0, &wanted);
    result = gst_caps_new_empty();
    for (guint pass = 0; pass < 3; pass++)
        for (guint i = 0; i < gst_caps_get_size(candidates); i++) {
            const gboolean known = style_of(candidates, i, &style);
            const gboolean dma_buf = known && (style == DMA_BUF || style == DMA_DRM);
            guint rank = 1;

            if (dma_buf && !abilities->dma_buf_out)
                rank = 2;
            else if (anything && known && style == wanted)
                rank = 0;
            if (rank == pass)
                gst_caps_append(result, gst_caps_copy_nth(candidates, i));
        }
    gst_caps_unref(candidates);
    return result;
}

gboolean gst_tdl_video_from_caps(const GstCaps *caps, struct gst_tdl_video *out_video)
{
    enum style style;
    GstVideoFormat format;
    GstCaps *plain;
    gboolean ok;

    *out_video = (struct gst_tdl_video){ .modifier = GST_TDL_LINEAR };
    if (gst_caps_get_size(caps) != 1 || !style_of((GstCaps *)caps, 0, &style))
        return FALSE;
    out_video->memory = style == SYSTEM   ? GST_TDL_MEMORY_SYSTEM
                        : style == VULKAN ? GST_TDL_MEMORY_VULKAN
                                          : GST_TDL_MEMORY_DMA_BUF;
    if (style != DMA_DRM)
        return gst_video_info_from_caps(&out_video->info, caps);
    if (!gst_tdl_caps_parse_drm(
            gst_structure_get_string(gst_caps_get_structure(caps, 0), "drm-format"), &format,
            &out_video->modifier))
        return FALSE;
    plain = gst_caps_copy(caps);
    gst_caps_set_simple(plain, "format", G_TYPE_STRING, gst_video_format_to_string(format), NULL);
    ok = gst_video_info_from_caps(&out_video->info, plain);
    gst_caps_unref(plain);
    return ok;
}

gboolean gst_tdl_caps_fit(enum gst_tdl_mode mode, GstVideoFormat in, GstVideoFormat out)
{
    if (mode == GST_TDL_MODE_MASK)
        return out == GST_VIDEO_FORMAT_GRAY8;
    if (mode == GST_TDL_MODE_ALPHA)
        return (alpha_formats() & bit_of(out)) != 0;
    return in == out;
}

enum gst_tdl_mode gst_tdl_caps_mode(enum gst_tdl_mode wanted, GstVideoFormat in, GstVideoFormat out)
{
    if (gst_tdl_caps_fit(wanted, in, out))
        return wanted;
    if (gst_tdl_caps_fit(GST_TDL_MODE_MASK, in, out))
        return GST_TDL_MODE_MASK;
    if (gst_tdl_caps_fit(GST_TDL_MODE_ALPHA, in, out))
        return GST_TDL_MODE_ALPHA;
    return GST_TDL_MODE_PASSTHROUGH;
}

static enum tdl_color_matrix matrix_of(const GstVideoInfo *info)
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
        return TDL_COLOR_MATRIX_BT601;
    case GST_VIDEO_COLOR_MATRIX_BT709:
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M: /* differs as little from BT.709 */
        return TDL_COLOR_MATRIX_BT709;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
        return TDL_COLOR_MATRIX_BT2020;
    default: /* RGB and grey have none */
        return TDL_COLOR_MATRIX_BT601;
    }
}

void gst_tdl_caps_frame(const GstVideoInfo *info, struct tdl_frame *out_frame)
{
    gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;

    if (info->colorimetry.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
        full = !GST_VIDEO_FORMAT_INFO_IS_YUV(info->finfo);
    *out_frame = (struct tdl_frame){
        .format = gst_tdl_caps_format(GST_VIDEO_INFO_FORMAT(info)),
        .width = GST_VIDEO_INFO_WIDTH(info),
        .height = GST_VIDEO_INFO_HEIGHT(info),
        .matrix = matrix_of(info),
        .range = full ? TDL_RANGE_FULL : TDL_RANGE_LIMITED,
    };
}

/* ------------------------------------------------------------------ tensors */

#define TENSORS "tensors"

static gboolean set_group(GQuark field, const GValue *value, gpointer into)
{
    gst_structure_id_set_value(into, field, value);
    return TRUE;
}

static void add_groups(GstStructure *s, const GstStructure *groups)
{
    const GValue *before = gst_structure_get_value(s, TENSORS);
    g_autoptr(GstStructure) all = before && GST_VALUE_HOLDS_STRUCTURE(before)
                                      ? gst_structure_copy(gst_value_get_structure(before))
                                      : gst_structure_new_empty(gst_structure_get_name(groups));

    gst_structure_foreach(groups, set_group, all);
    gst_structure_set(s, TENSORS, GST_TYPE_STRUCTURE, all, NULL);
}

GstCaps *gst_tdl_caps_tensors(GstCaps *caps, GstPadDirection direction, const GstStructure *groups)
{
    if (!groups || gst_caps_is_any(caps))
        return caps;
    caps = gst_caps_make_writable(caps);
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
        GstStructure *s = gst_caps_get_structure(caps, i);

        if (direction == GST_PAD_SINK)
            add_groups(s, groups);
        else
            gst_structure_remove_field(s, TENSORS);
    }
    return caps;
}
