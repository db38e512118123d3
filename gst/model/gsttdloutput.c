/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdloutput.h"

#include "gsttdlobjects.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ settings */

/* PASCAL VOC's colours: bits 0, 1, 2 of a class are the highest of red, green, blue,
 * the next three those below, and so on (its development kit, appendix). */
static guint32 computed_color(guint class)
{
    guint rgb[3] = { 0, 0, 0 };

    for (guint bit = 0; bit < 8; bit++, class >>= 3)
        for (guint c = 0; c < 3; c++)
            rgb[c] |= (class >> c & 1) << (7 - bit);
    return rgb[0] << 16 | rgb[1] << 8 | rgb[2];
}

/* Colours between commas. FALSE: they are not. */
static gboolean parse_palette(const gchar *text, guint32 *out, guint *count)
{
    g_auto(GStrv) items = g_strsplit(text, ",", -1);

    for (guint i = 0; items[i]; i++) {
        const gchar *item = g_strstrip(items[i]);
        guint64 value;

        item += g_str_has_prefix(item, "0x") ? 2 : g_str_has_prefix(item, "#") ? 1 : 0;
        if (i == GST_TDL_MAX_COLORS ||
            !g_ascii_string_to_unsigned(item, 16, 0, 0xffffff, &value, NULL))
            return FALSE;
        out[i] = value;
        *count = i + 1;
    }
    return TRUE;
}

guint gst_tdl_output_colors(const gchar *palette, guint32 *out)
{
    guint count = 0;

    for (guint i = 0; i < GST_TDL_MAX_COLORS; i++)
        out[i] = computed_color(i);
    parse_palette(palette, out, &count);
    return count;
}

gboolean gst_tdl_output_range(const struct gst_tdl_sources *sources, gdouble out[2])
{
    gchar *end = NULL;

    out[0] = 0;
    out[1] = 1;
    if (!*sources->output_range)
        return TRUE;
    out[0] = g_ascii_strtod(sources->output_range, &end);
    out[1] = *end == ',' ? g_ascii_strtod(end + 1, &end) : out[0];
    return !*end && isfinite(1 / (out[1] - out[0]));
}

gboolean gst_tdl_output_read(const struct gst_tdl_sources *sources,
                             struct tdl_frame_from_tensor_params *out, GError **error)
{
    guint32 colors[GST_TDL_MAX_COLORS];
    gdouble range[2];
    guint count = 0;

    *out = (struct tdl_frame_from_tensor_params){ .opacity = 1 };
    if (!gst_tdl_output_range(sources, range)) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "\"output-range\" is \"%s\": give it as two numbers that differ, such as "
                    "0,255.",
                    sources->output_range);
        return FALSE;
    }
    if (*sources->palette && !parse_palette(sources->palette, colors, &count)) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "\"palette\" is \"%s\": give it as up to %d colours 0xRRGGBB, such as "
                    "0x000000,0xff0000,0x00ff00 (without alpha: \"opacity\" is for all).",
                    sources->palette, GST_TDL_MAX_COLORS);
        return FALSE;
    }
    for (guint c = 0; c < 3 && sources->output == GST_TDL_OUTPUT_PICTURE; c++) {
        out->scale[c] = 1 / (range[1] - range[0]);
        out->bias[c] = -range[0] / (range[1] - range[0]);
    }
    return TRUE;
}

/* ------------------------------------------------------------------ pictures */

/* A rainbow from blue to red that grows evenly in lightness, by the polynomial of
 * degree 5 that was published for "Turbo" (A. Mikhailov, "Turbo, an improved rainbow
 * colormap for visualization", Google AI blog, 2019). */
static void turbo(gdouble x, gfloat rgb[3])
{
    static const gdouble terms[3][6] = {
        { 0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943 },
        { 0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604 },
        { 0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973 },
    };

    for (guint c = 0; c < 3; c++) {
        gdouble sum = 0;

        for (gint i = 5; i >= 0; i--)
            sum = sum * x + terms[c][i];
        rgb[c] = CLAMP(sum, 0, 1);
    }
}

/* Rows of a table, by whole numbers [1, h, w] or [1, h, w, 1]. */
static struct tdl_operand *look_up(struct tdl_builder *b, struct tdl_operand *index, gfloat *table,
                                   guint rows, guint channels)
{
    const struct tdl_tensor_params desc = { .dtype = TDL_FLOAT32,
                                            .rank = 2,
                                            .shape = { rows, channels } };
    const struct tdl_tensor_params *p = tdl_operand_get_desc(index);
    tdl_builder_own(b, table, g_free);
    if (!p)
        return NULL;
    index = tdl_builder_reshape(b, index, 3, p->shape); /* for several pictures as for one */
    return tdl_builder_gather(
        b, tdl_builder_constant(b, &desc, table, rows * channels * sizeof(gfloat)), index, 0);
}

/* Blue, green, red. */
static struct tdl_operand *swap(struct tdl_builder *b, struct tdl_operand *x)
{
    static const gint32 order[] = { 2, 1, 0 };
    const struct tdl_tensor_params desc = { .dtype = TDL_INT32, .rank = 1, .shape = { 3 } };

    return tdl_builder_gather(b, x, tdl_builder_constant(b, &desc, order, sizeof(order)), 3);
}

/* A number of its own, which the builder keeps. */
static struct tdl_operand *number(struct tdl_builder *b, gfloat value)
{
    const struct tdl_tensor_params one = { .dtype = TDL_FLOAT32 };
    gfloat *copy = g_new(gfloat, 1);

    *copy = value;
    tdl_builder_own(b, copy, g_free);
    return tdl_builder_constant(b, &one, copy, sizeof(*copy));
}

/* Between the least and the greatest value of this frame, with 0 for what is no number. */
static struct tdl_operand *normalise(struct tdl_builder *b, struct tdl_operand *x)
{
    const struct tdl_reduce_params all = { { 0, 1, 2, 3 }, 4, .keep_dimensions = true };
    static const gfloat least = 1e-9f; /* width of a range whose values are all equal */
    struct tdl_operand *missing =
        tdl_builder_logical_or(b, tdl_builder_is_nan(b, x), tdl_builder_is_infinite(b, x));
    struct tdl_operand *low = tdl_builder_where(b, missing, number(b, G_MAXFLOAT), x);
    struct tdl_operand *high = tdl_builder_where(b, missing, number(b, -G_MAXFLOAT), x);
    struct tdl_operand *range;

    low = tdl_builder_reduce(b, low, TDL_REDUCE_MIN, &all);
    high = tdl_builder_reduce(b, high, TDL_REDUCE_MAX, &all);
    range = tdl_builder_clamp(b, tdl_builder_sub(b, high, low), &least, NULL);
    x = tdl_builder_div(b, tdl_builder_sub(b, x, low), range);
    return tdl_builder_where(b, missing, number(b, 0), x);
}

static struct tdl_operand *in_colors(struct tdl_builder *b, struct tdl_operand *x,
                                     const struct gst_tdl_sources *sources)
{
    enum { ROWS = 256 };
    static const gfloat low = 0, high = ROWS - 1;
    struct tdl_frame_from_tensor_params range;
    gfloat *table = g_new(gfloat, 3 * ROWS);

    for (guint i = 0; i < ROWS; i++)
        turbo(i / (gdouble)(ROWS - 1), table + 3 * i);
    if (sources->decoder != GST_TDL_DECODE_DEPTH &&
        gst_tdl_output_read(sources, &range, NULL)) /* the range was read before */
        x = tdl_builder_linear(b, x, range.scale[0], range.bias[0]);
    x = tdl_builder_clamp(b, tdl_builder_linear(b, x, high, 0.5f), &low, &high);
    x = look_up(b, tdl_builder_cast(b, x, TDL_INT32), table, ROWS, 3);
    /* From 0…1 to what the range will be taken of. */
    if (sources->decoder != GST_TDL_DECODE_DEPTH && gst_tdl_output_read(sources, &range, NULL))
        x = tdl_builder_linear(b, x, 1 / range.scale[0], -range.bias[0] / range.scale[0]);
    return x;
}

static struct tdl_operand *decode_picture(struct tdl_builder *b, struct tdl_operand *x,
                                          const struct gst_tdl_sources *sources)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const guint channels = p->shape[3];

    if (channels != 1 && channels != 3)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "mode=picture wants an output of 1 or 3 channels, and this one "
                                "has %u",
                                channels);
    if (channels == 3 && sources->colormap)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "\"colormap\" is for an output of one channel, and this one has 3 "
                                "channels: leave it \"none\"");
    if (p->dtype != TDL_FLOAT32)
        x = tdl_builder_cast(b, x, TDL_FLOAT32);
    if (sources->decoder == GST_TDL_DECODE_LOGIT)
        x = tdl_builder_sigmoid(b, x);
    if (sources->decoder == GST_TDL_DECODE_DEPTH)
        x = normalise(b, x);
    if (channels == 3 && sources->input_order == GST_TDL_ORDER_BGR) /* the output is BGR, too */
        x = swap(b, x);
    return channels == 1 && sources->colormap ? in_colors(b, x, sources) : x;
}

/* ------------------------------------------------------------------- classes */

static gboolean is_shown(const GArray *classes, guint class)
{
    for (guint i = 0; i < classes->len; i++)
        if (g_array_index(classes, gint, i) == (gint) class)
            return TRUE;
    return !classes->len && class > 0;
}

/* Red, green, blue and alpha of each class. */
static gfloat *make_table(const struct gst_tdl_sources *sources)
{
    gfloat *table = g_new(gfloat, 4 * GST_TDL_MAX_COLORS);
    guint32 colors[GST_TDL_MAX_COLORS];

    gst_tdl_output_colors(sources->palette, colors);
    for (guint i = 0; i < GST_TDL_MAX_COLORS; i++) {
        for (guint c = 0; c < 3; c++)
            table[4 * i + c] = (colors[i] >> (16 - 8 * c) & 255) / 255.0f;
        table[4 * i + 3] = is_shown(sources->classes, i);
    }
    return table;
}

/* Numbers for who draws classes otherwise, or counts them. */
static void give_classes(struct tdl_builder *b, struct tdl_operand *index)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(index);
    const uint32_t shape[] = { 1, p ? p->shape[1] : 0, p ? p->shape[2] : 0 };

    index = tdl_builder_reshape(b, index, G_N_ELEMENTS(shape), shape);
    tdl_builder_output(b, GST_TDL_CLASSES, tdl_builder_cast(b, index, TDL_UINT8));
}

static struct tdl_operand *decode_classes(struct tdl_builder *b, struct tdl_operand *x,
                                          const struct gst_tdl_sources *sources)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const gboolean real = p->dtype == TDL_FLOAT32 || p->dtype == TDL_FLOAT16;
    static const gfloat low = 0, high = GST_TDL_MAX_COLORS - 1;
    static const gint32 last = GST_TDL_MAX_COLORS - 1;

    if (p->shape[3] > 1 && !gst_tdl_objects_check_classes(b, sources->classes, p->shape[3]))
        return NULL;
    if (p->shape[3] > 1) {
        const gboolean many = p->shape[3] > GST_TDL_MAX_COLORS;

        x = tdl_builder_arg_max(b, x, 3, NULL);
        if (many)
            x = tdl_builder_clamp(b, x, NULL, &last);
    } else {
        x = tdl_builder_cast(b, x, TDL_FLOAT32);
        if (sources->decoder == GST_TDL_DECODE_LOGIT)
            x = tdl_builder_sigmoid(b, x);
        if (real && sources->decoder != GST_TDL_DECODE_LABELS) /* one class, or none */
            x = tdl_builder_linear(b, x, 1, 0.5f);
        x = tdl_builder_cast(b, tdl_builder_clamp(b, x, &low, &high), TDL_INT32);
    }
    give_classes(b, x);
    return look_up(b, x, make_table(sources), GST_TDL_MAX_COLORS, 4);
}

struct tdl_operand *gst_tdl_output_decode(struct tdl_builder *builder, struct tdl_operand *x,
                                          const struct gst_tdl_sources *sources)
{
    if (!x)
        return NULL;
    return sources->output == GST_TDL_OUTPUT_PICTURE ? decode_picture(builder, x, sources)
                                                     : decode_classes(builder, x, sources);
}

/* --------------------------------------------------------------------- sizes */

static void reduce(gint quotient[2])
{
    gint a = quotient[0], b = quotient[1];

    while (b) {
        gint rest = a % b;

        a = b;
        b = rest;
    }
    quotient[0] /= a;
    quotient[1] /= a;
}

struct gst_tdl_scale gst_tdl_output_scale(enum gst_tdl_output output,
                                          const struct tdl_tensor_params *in,
                                          const struct tdl_tensor_params *made)
{
    struct gst_tdl_scale scale = { { 1, 1 }, { 1, 1 } };

    if (output != GST_TDL_OUTPUT_PICTURE || made->shape[1] < in->shape[1] ||
        made->shape[2] < in->shape[2])
        return scale;
    scale = (struct gst_tdl_scale){ { made->shape[2], in->shape[2] },
                                    { made->shape[1], in->shape[1] } };
    reduce(scale.width);
    reduce(scale.height);
    return scale;
}
