/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldecode.h"

#include "gsttdlforeground.h"
#include "gsttdlinstances.h"
#include "gsttdlobjects.h"
#include "gsttdloutput.h"
#include "gsttdlshape.h"

#include <math.h>
#include <string.h>

#define DEFAULT_SIZE 256 /* px, of models that leave it open */
#define MAX_CLASSES 4096

/* ---------------------------------------------------------------- the input */

/* Numbers between commas, or `separator`. */
static gboolean parse(const gchar *text, gchar separator, gdouble *out, guint count)
{
    gchar *end = NULL;

    for (guint i = 0; i < count; i++, text = end + 1) {
        out[i] = g_ascii_strtod(text, &end);
        if (end == text || *end != (i + 1 < count ? separator : 0) || !(fabs(out[i]) <= G_MAXFLOAT))
            return FALSE;
    }
    return TRUE;
}

static gboolean fail(GError **error, const gchar *property, const gchar *text, const gchar *wanted)
{
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "\"%s\" is \"%s\": give it as %s.", property, text, wanted);
    return FALSE;
}

gboolean gst_tdl_decode_size(const struct gst_tdl_sources *sources, uint32_t out_size[2],
                             GError **error)
{
    gdouble size[2] = { DEFAULT_SIZE, DEFAULT_SIZE };
    const gboolean follows = gst_tdl_shape_follows(sources->model_size);

    if (*sources->model_size && strcmp(sources->model_size, "frame") != 0 &&
        (!parse(sources->model_size + follows, 'x', size, 2) ||
         !(size[0] >= 1 && size[0] <= GST_TDL_MODEL_SIDE) ||
         !(size[1] >= 1 && size[1] <= GST_TDL_MODEL_SIDE)))
        return fail(error, "model-size", sources->model_size,
                    "WIDTHxHEIGHT of up to 8192 px, such as 320x320, as ~512x288 for as many px in "
                    "the frame's shape, or as frame");
    if (follows)
        gst_tdl_shape_fit(size, sources->aspect);
    out_size[0] = size[1];
    out_size[1] = size[0];
    return TRUE;
}

gboolean gst_tdl_decode_picture(const struct gst_tdl_sources *sources,
                                struct tdl_frame_to_tensor_params *out, GError **error)
{
    gdouble range[2] = { 0, 1 }, mean[3] = { 0, 0, 0 }, deviation[3] = { 1, 1, 1 };

    if (*sources->input_range &&
        (!parse(sources->input_range, ',', range, 2) || range[0] == range[1]))
        return fail(error, "input-range", sources->input_range,
                    "two numbers that differ, such as -1,1");
    if (*sources->input_mean && !parse(sources->input_mean, ',', mean, 3))
        return fail(error, "input-mean", sources->input_mean,
                    "three numbers, such as 0.485,0.456,0.406");
    if (*sources->input_deviation && (!parse(sources->input_deviation, ',', deviation, 3) ||
                                      deviation[0] == 0 || deviation[1] == 0 || deviation[2] == 0 ||
                                      isnan(deviation[0] + deviation[1] + deviation[2])))
        return fail(error, "input-deviation", sources->input_deviation,
                    "three numbers other than 0, such as 0.229,0.224,0.225");
    *out = (struct tdl_frame_to_tensor_params){ 0 };
    out->bgr = sources->input_order == GST_TDL_ORDER_BGR;
    out->filter = sources->input_filter == GST_TDL_FILTER_BILINEAR ? TDL_FILTER_BILINEAR
                                                                   : TDL_FILTER_TRIANGLE;
    for (guint c = 0; c < 3; c++) {
        const guint channel = out->bgr ? 2 - c : c;

        out->scale[channel] = (range[1] - range[0]) / deviation[c];
        out->bias[channel] = (range[0] - mean[c]) / deviation[c];
    }
    return TRUE;
}

/* --------------------------------------------------------------- the output */

/* One image of rank 4; [1, h, w] and [h, w] become one. A single number, or a row of
 * them, is none. */
static struct tdl_operand *as_image(struct tdl_builder *builder, struct tdl_operand *x,
                                    enum tdl_layout layout)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const guint h = p->rank == 3 ? 1 : 0, channels = layout == TDL_LAYOUT_NCHW ? 1 : 3;
    uint32_t shape[4] = { 1, 1, 1, 1 };

    if (p->rank == 4)
        return p->shape[0] == 1 &&
                       tdl_tensor_params_size(p) > p->shape[channels] * tdl_dtype_size(p->dtype)
                   ? x
                   : NULL;
    if ((p->rank != 3 && p->rank != 2) || (p->rank == 3 && p->shape[0] != 1) ||
        MIN(p->shape[h], p->shape[h + 1]) == 1)
        return NULL;
    shape[channels == 1 ? 2 : 1] = p->shape[h];
    shape[channels == 1 ? 3 : 2] = p->shape[h + 1];
    return tdl_builder_reshape(builder, x, 4, shape);
}

/* How far h × w px are from the frame's aspect, as it comes to the model; G_MAXINT64: too far. */
static gint64 misfit(const struct gst_tdl_decode *d, gint64 h, gint64 w)
{
    const guint first = d->layout == TDL_LAYOUT_NCHW ? 2 : 1;
    const gint64 height = d->picture.shape[first], width = d->picture.shape[first + 1];
    const gint64 off = ABS(h * width - w * height);

    return off <= 2 * (height + width) ? off : G_MAXINT64;
}

/* Where an output has its channels. Not every file says it: without a word it is taken for
 * NCHW. Where that is no shape of the picture, and NHWC is one, it is that; where the
 * picture itself is NHWC, of two that fit equally well, too. 0: there it is neither. */
static enum tdl_layout find_channels(const struct gst_tdl_decode *d, const struct tdl_builder *b,
                                     const struct tdl_operand *x)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const gboolean last = d->layout != TDL_LAYOUT_NCHW;
    const enum tdl_layout layout = p->rank == 4 ? gst_tdl_objects_layout(b, x) : TDL_LAYOUT_NHWC;
    gint64 nchw, nhwc;

    if (!d->picture.rank || p->rank != 4 || layout != TDL_LAYOUT_NCHW)
        return layout;
    nchw = misfit(d, p->shape[2], p->shape[3]);
    nhwc = misfit(d, p->shape[1], p->shape[2]);
    if (nhwc == G_MAXINT64)
        return last && nchw == G_MAXINT64 ? TDL_LAYOUT_DEFAULT : layout;
    return (last ? nhwc <= nchw : nchw == G_MAXINT64) ? TDL_LAYOUT_NHWC : layout;
}

/* Class of each pixel, in whole numbers: those that count become 1. */
static struct tdl_operand *decode_labels(struct tdl_builder *b, struct tdl_operand *x,
                                         const GArray *classes)
{
    const struct tdl_tensor_params one = { .dtype = TDL_FLOAT32 };
    struct tdl_operand *mask = NULL;

    x = tdl_builder_cast(b, x, TDL_FLOAT32);
    for (guint i = 0; i < MAX(classes->len, 1); i++) {
        gfloat *class = g_new(gfloat, 1);
        struct tdl_operand *number, *is;

        *class = classes->len ? g_array_index(classes, gint, i) : 0;
        tdl_builder_own(b, class, g_free);
        number = tdl_builder_constant(b, &one, class, sizeof(*class));
        is = classes->len ? tdl_builder_equal(b, x, number) : tdl_builder_not_equal(b, x, number);
        mask = mask ? tdl_builder_logical_or(b, mask, is) : is;
    }
    return tdl_builder_cast(b, mask, TDL_FLOAT32);
}

/* The sum over channels that count; without any listed, all but the first. */
static struct tdl_operand *sum_classes(struct tdl_builder *b, struct tdl_operand *x, guint axis,
                                       guint count, const GArray *classes)
{
    const struct tdl_reduce_params over = { { axis }, 1, .keep_dimensions = true };
    struct tdl_tensor_params list = { .dtype = TDL_INT32, .rank = 1, .shape = { classes->len } };
    struct tdl_slice_params one = { 0 };
    struct tdl_operand *indices;
    gint32 *copy;

    if (!classes->len) {
        one.start[axis] = count == 2;
        one.size[axis] = 1;
        x = tdl_builder_slice(b, x, &one);
        return count == 2 ? x : tdl_builder_linear(b, x, -1, 1);
    }
    if (!gst_tdl_objects_check_classes(b, classes, count))
        return NULL;
    copy = g_memdup2(classes->data, classes->len * sizeof(gint32));
    tdl_builder_own(b, copy, g_free);
    indices = tdl_builder_constant(b, &list, copy, classes->len * sizeof(gint32));
    return tdl_builder_reduce(b, tdl_builder_gather(b, x, indices, axis), TDL_REDUCE_SUM, &over);
}

static struct tdl_operand *decode_channels(struct tdl_builder *b, struct tdl_operand *x, guint axis,
                                           gint decoder, const GArray *classes)
{
    const guint count = tdl_operand_get_desc(x)->shape[axis];

    if (decoder == GST_TDL_DECODE_AUTO)
        decoder = count > 1 ? GST_TDL_DECODE_SOFTMAX : GST_TDL_DECODE_PROBABILITY;
    if (decoder == GST_TDL_DECODE_SOFTMAX && count > 1)
        x = tdl_builder_softmax(b, x, axis);
    else if (decoder == GST_TDL_DECODE_SOFTMAX || decoder == GST_TDL_DECODE_LOGIT)
        x = tdl_builder_sigmoid(b, x); /* a softmax against 0 */
    if (count > 1)
        return sum_classes(b, x, axis, count, classes);
    return gst_tdl_objects_check_classes(b, classes, count) ? x : NULL;
}

/* The class of each pixel, or what else whole numbers say; bytes of one channel are shares of
 * 255, unless classes of them are named. */
static gboolean are_labels(const struct tdl_tensor_params *p, guint channels,
                           const struct gst_tdl_sources *sources)
{
    const gboolean real = p->dtype == TDL_FLOAT32 || p->dtype == TDL_FLOAT16;

    return sources->decoder == GST_TDL_DECODE_LABELS ||
           (sources->decoder == GST_TDL_DECODE_AUTO && !real &&
            (p->dtype != TDL_UINT8 || sources->classes->len || channels != 1));
}

/* A value far from 0 to 1 is no probability, and then nobody knows what it says: NaN,
 * which is background whatever is asked for. */
static struct tdl_operand *without_strangers(struct tdl_builder *b, struct tdl_operand *x)
{
    const struct tdl_tensor_params one = { .dtype = TDL_FLOAT32 };
    static const gfloat far = 1, nan = NAN;
    struct tdl_operand *distance = tdl_builder_abs(b, tdl_builder_linear(b, x, 1, -0.5f));
    struct tdl_operand *in_range =
        distance ? tdl_builder_lesser_or_equal(b, distance,
                                               tdl_builder_constant(b, &one, &far, sizeof(far)))
                 : NULL;

    return in_range
               ? tdl_builder_where(b, in_range, x, tdl_builder_constant(b, &one, &nan, sizeof(nan)))
               : NULL;
}

/* One channel of probabilities, or several of them, as "output-range" has them. */
static struct tdl_operand *in_range(struct tdl_builder *b, struct tdl_operand *x,
                                    const struct gst_tdl_sources *sources, gboolean bytes)
{
    gdouble range[2];

    if (x && *sources->output_range && gst_tdl_output_range(sources, range))
        return tdl_builder_linear(b, x, 1 / (range[1] - range[0]),
                                  -range[0] / (range[1] - range[0]));
    /* Always: bytes of 1 in an empty picture must not become somebody. */
    return x && bytes ? tdl_builder_linear(b, x, 1 / 255.f, 0) : x;
}

static struct tdl_operand *decode(struct tdl_builder *b, struct tdl_operand *x, gboolean nchw,
                                  const struct gst_tdl_sources *sources, gboolean trusted)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const guint axis = nchw ? 1 : 3, channels = p->shape[axis];
    const gboolean bytes = p->dtype == TDL_UINT8;
    gboolean is_probability;
    const gboolean real = p->dtype == TDL_FLOAT32 || p->dtype == TDL_FLOAT16;
    static const uint32_t to_nhwc[] = { 0, 2, 3, 1 };

    if (sources->output != GST_TDL_OUTPUT_MASK)
        return gst_tdl_output_decode(b, nchw ? tdl_builder_transpose(b, x, to_nhwc) : x, sources);
    if (sources->decoder == GST_TDL_DECODE_DEPTH)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "decoder=depth makes a picture of distances, and no mask: "
                                "mode=picture shows it");
    if (!real &&
        (sources->decoder == GST_TDL_DECODE_SOFTMAX || sources->decoder == GST_TDL_DECODE_LOGIT))
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "decoder=%s wants real numbers, and the output has %s, which "
                                "decoder=labels takes",
                                sources->decoder == GST_TDL_DECODE_LOGIT ? "logit" : "softmax",
                                tdl_dtype_name(p->dtype));
    is_probability = sources->decoder == GST_TDL_DECODE_PROBABILITY ||
                     (sources->decoder == GST_TDL_DECODE_AUTO && channels == 1);
    if (are_labels(p, channels, sources)) {
        if (channels != 1)
            return tdl_builder_fail(
                b, TDL_ERROR_UNSUPPORTED,
                "decoder=labels wants one number for each pixel, and the output "
                "has %u channels",
                channels);
        x = decode_labels(b, x, sources->classes);
    } else {
        if (p->dtype != TDL_FLOAT32)
            x = tdl_builder_cast(b, x, TDL_FLOAT32);
        if (is_probability)
            x = in_range(b, x, sources, bytes);
        if (x && is_probability && !trusted)
            x = without_strangers(b, x);
        x = x ? decode_channels(b, x, axis, sources->decoder, sources->classes) : NULL;
    }
    return x && nchw ? tdl_builder_transpose(b, x, to_nhwc) : x;
}

/* How many classes an output tells apart; 0: it has the class of each pixel as a number. */
static guint count_classes(const struct tdl_tensor_params *p, guint channels,
                           const struct gst_tdl_sources *sources)
{
    const gboolean real = p->dtype == TDL_FLOAT32 || p->dtype == TDL_FLOAT16;
    const gboolean is_mask = sources->output == GST_TDL_OUTPUT_MASK;
    const gboolean numbers = is_mask ? are_labels(p, channels, sources)
                                     : sources->decoder == GST_TDL_DECODE_LABELS || !real;

    if (numbers && (is_mask || channels == 1))
        return 0;
    return MAX(channels, 2); /* one channel stands for itself and the background */
}

/* Bytes of one channel may as well be classes. */
static gboolean are_guessed_shares(const struct tdl_tensor_params *p, guint channels,
                                   const struct gst_tdl_sources *sources)
{
    return sources->output == GST_TDL_OUTPUT_MASK && sources->decoder == GST_TDL_DECODE_AUTO &&
           p->dtype == TDL_UINT8 && !are_labels(p, channels, sources);
}

static void note(struct gst_tdl_decode *d, const char *name, const struct tdl_tensor_params *p)
{
    g_string_append_printf(d->others, "%s%s [", d->others->len ? ", " : "", name);
    for (guint i = 0; i < p->rank; i++)
        g_string_append_printf(d->others, "%s%u", i ? "," : "", p->shape[i]);
    g_string_append_c(d->others, ']');
}

/* One of several that may belong together. */
static void clear_kept(gpointer kept)
{
    g_free(((struct gst_tdl_named *)kept)->name);
}

void gst_tdl_decode_clear(struct gst_tdl_decode *d)
{
    g_string_free(d->others, TRUE);
    g_clear_pointer(&d->kept, g_array_unref);
}

/* Is the mask what a prompt means? */
static gboolean is_prompted(const struct gst_tdl_decode *d)
{
    return gst_tdl_mask_decoder_wanted(d->sources) &&
           (*d->sources->decoder_model || d->prompted.takes_points);
}

/* Is it to be seen from all outputs what this one is? */
static gboolean wants_all(const struct gst_tdl_decode *d)
{
    const struct gst_tdl_sources *sources = d->sources;

    return is_prompted(d) || *sources->decoder_model || gst_tdl_instances_are(sources->decoder) ||
           (sources->decoder == GST_TDL_DECODE_AUTO && !*sources->model_output);
}

static struct tdl_operand *flatten(const struct gst_tdl_decode *d, struct tdl_builder *b,
                                   struct tdl_operand *mask)
{
    return d->flat && mask ? tdl_builder_reshape(b, mask, 3, tdl_operand_get_desc(mask)->shape + 1)
                           : mask;
}

struct tdl_tensor_params gst_tdl_decode_image(const struct tdl_tensor_params *params)
{
    struct tdl_tensor_params image = *params;

    if (image.rank == 3) {
        image.rank = 4;
        image.shape[0] = 1;
        memcpy(image.shape + 1, params->shape, 3 * sizeof(image.shape[0]));
    }
    return image;
}

struct tdl_operand *gst_tdl_decode_alone(struct gst_tdl_decode *d, struct tdl_builder *builder,
                                         const char *name, struct tdl_operand *operand)
{
    const gchar *wanted = d->sources->model_output;
    enum tdl_layout layout = TDL_LAYOUT_DEFAULT;
    struct tdl_operand *image = NULL;
    const struct tdl_tensor_params *p;
    guint channels;

    if (!d->found && !gst_tdl_instances_are(d->sources->decoder) &&
        (!*wanted || !strcmp(wanted, name)))
        layout = find_channels(d, builder, operand);
    image = layout ? as_image(builder, operand, layout) : NULL;
    if (!image) {
        note(d, name, tdl_operand_get_desc(operand));
        return NULL;
    }
    d->found = TRUE;
    d->guessed = tdl_operand_get_desc(operand)->rank < 4;
    d->usual = gst_tdl_foreground_is_beside(name);
    p = tdl_operand_get_desc(image);
    channels = p->shape[layout == TDL_LAYOUT_NCHW ? 1 : 3];
    d->classes = count_classes(p, channels, d->sources);
    d->shares = are_guessed_shares(p, channels, d->sources);
    d->mask = decode(builder, image, layout == TDL_LAYOUT_NCHW, d->sources, d->trusted);
    return flatten(d, builder, d->mask);
}

struct tdl_operand *gst_tdl_decode_output(void *data, struct tdl_builder *builder, const char *name,
                                          struct tdl_operand *operand)
{
    struct gst_tdl_decode *d = data;
    struct gst_tdl_named one = { NULL, operand };

    if (gst_tdl_foreground_may_be(d->sources, name))
        d->colors = operand;
    if (d->colors == operand && *d->sources->foreground_output)
        return NULL; /* the output is no mask */
    if (!wants_all(d))
        return gst_tdl_decode_alone(d, builder, name, operand);
    if (!d->kept) {
        d->kept = g_array_new(FALSE, FALSE, sizeof(struct gst_tdl_named));
        g_array_set_clear_func(d->kept, clear_kept);
    }
    one.name = g_strdup(name);
    g_array_append_val(d->kept, one);
    return NULL;
}

/* Outputs that are objects together. */
static struct tdl_operand *decode_objects(struct gst_tdl_decode *d, struct tdl_builder *b)
{
    const guint first = d->layout == TDL_LAYOUT_NCHW ? 2 : 1, count = d->kept->len;
    g_autofree struct tdl_operand **outputs = g_new(struct tdl_operand *, count);
    struct gst_tdl_objects o = { b, outputs, count, .sources = d->sources };

    for (guint i = 0; i < count; i++)
        outputs[i] = g_array_index(d->kept, struct gst_tdl_named, i).operand;
    if (d->picture.rank) {
        o.height = d->picture.shape[first];
        o.width = d->picture.shape[first + 1];
    }
    d->mask = gst_tdl_instances_decode(&o, &d->found);
    return flatten(d, b, d->mask);
}

/* Outputs of what is told by prompts which object to cut out. */
static struct tdl_operand *decode_prompted(struct gst_tdl_decode *d, struct tdl_builder *b)
{
    d->found = TRUE;
    d->mask = gst_tdl_mask_decoder_mask(
        &d->prompted, b, (const struct gst_tdl_named *)(const void *)d->kept->data, d->kept->len);
    return flatten(d, b, d->mask);
}

/* An encoder's output may look like a picture, or the classes of pixels. Here the message counts,
 * and not that no mask is found. */
static gboolean are_embeddings(struct gst_tdl_decode *d, struct tdl_builder *b)
{
    const gchar *name = NULL;

    for (guint i = 0; i < d->kept->len && !name; i++) {
        name = g_array_index(d->kept, struct gst_tdl_named, i).name;
        name = g_str_has_prefix(name, "image_embed") ? name : NULL;
    }
    if (*d->sources->decoder_model)
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                         "with \"decoder-model\" it makes a mask, which any other mode than "
                         "picture and classes shows");
    else if (name && d->sources->decoder == GST_TDL_DECODE_AUTO)
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                         "it makes embeddings of the picture (\"%s\"), and no mask: set "
                         "\"decoder-model\" to the file of its mask decoder, and \"prompt\"",
                         name);
    d->found |= tdl_builder_status(b) != TDL_OK;
    return tdl_builder_status(b) != TDL_OK;
}

/* A mask is there that these are the colours of. */
static gboolean lies_beside_mask(const struct gst_tdl_decode *d, const struct gst_tdl_named *kept)
{
    gboolean beside = FALSE;

    for (guint i = 0; i < d->kept->len && kept->operand == d->colors; i++)
        beside |=
            gst_tdl_foreground_is_beside(g_array_index(d->kept, struct gst_tdl_named, i).name);
    return beside;
}

void gst_tdl_decode_finish(struct gst_tdl_decode *d, struct tdl_builder *b)
{
    struct tdl_operand *mask;

    if (!d->kept || (!is_prompted(d) && are_embeddings(d, b)))
        return;
    mask = is_prompted(d) ? decode_prompted(d, b) : decode_objects(d, b);
    if (d->found && mask)
        tdl_builder_output(b, "mask", mask);
    for (guint i = 0; i < d->kept->len && !d->found; i++) {
        const struct gst_tdl_named *kept = &g_array_index(d->kept, struct gst_tdl_named, i);

        if (!lies_beside_mask(d, kept) &&
            (mask = gst_tdl_decode_alone(d, b, kept->name, kept->operand)) != NULL)
            tdl_builder_output(b, kept->name, mask);
    }
}

const gchar *gst_tdl_decode_wanted(const struct gst_tdl_sources *sources)
{
    if (gst_tdl_instances_are(sources->decoder))
        return gst_tdl_instances_wanted(sources->decoder);
    if (sources->said_output)
        return "its .modelinfo file has one output, under a name that none of its outputs that is "
               "a picture has";
    return *sources->model_output ? "\"model-output\" names none of its outputs that is a picture"
                                  : "none of its outputs is a picture of the input's aspect, [1, "
                                    "h, w] or with channels";
}
