/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlmaskdecoder.h"

#include "base/gsttdlfile.h"
#include "gsttdllinks.h"
#include "gsttdltensors.h"

#include <string.h>

#define STRIDE 4            /* px of the picture a pixel of the masks that decoders take */
#define MOST 32             /* a logit that goes in again, as SAM 2 has it (Ravi et al. 2024) */
#define CERTAIN 10          /* a logit, of masks that are truth values */
#define MAX_DECODER_DIMS 64 /* that the reader of files tells apart */

/* ---------------------------------------------------------- inputs of decoders */

enum role { POINTS, LABELS, LAST_MASK, HAS_MASK, SIZE };

/* Names that exports have: of Segment Anything and what is exported like it, of EfficientSAM, and
 * of Hugging Face's and ONNX Runtime's tools. With the rank, where sizes may be open. */
static const struct input {
    const gchar *name;
    enum role role;
    guint rank;
} inputs[] = {
    { "point_coords", POINTS, 3 },         { "point_labels", LABELS, 2 },
    { "batched_point_coords", POINTS, 4 }, { "batched_point_labels", LABELS, 3 },
    { "input_points", POINTS, 4 },         { "input_labels", LABELS, 3 },
    { "mask_input", LAST_MASK, 4 },        { "input_masks", LAST_MASK, 4 },
    { "has_mask_input", HAS_MASK, 1 },     { "has_input_masks", HAS_MASK, 1 },
    { "orig_im_size", SIZE, 1 },           { "original_image_size", SIZE, 1 },
};

static const struct input *input_of(const gchar *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(inputs); i++)
        if (!strcmp(inputs[i].name, name))
            return &inputs[i];
    return NULL;
}

gboolean gst_tdl_mask_decoder_wanted(const struct gst_tdl_sources *sources)
{
    return sources->output == GST_TDL_OUTPUT_MASK && gst_tdl_sources_room(sources) > 0;
}

/* Elements in dimension `d`: one object, the points, and two numbers for each, or for the size. */
static guint size_of(const struct input *input, guint d, guint room)
{
    const guint points = input->rank - (input->role == POINTS ? 2 : 1);

    if (input->role > LABELS)
        return input->role == SIZE ? 2 : 1;
    return d == points ? room : d > points ? 2 : 1;
}

guint gst_tdl_mask_decoder_dimensions(guint room, struct tdl_model_dimension *dimensions,
                                      gchar **places)
{
    guint count = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(inputs); i++) {
        const struct input *input = &inputs[i];
        const guint known = input->role == LAST_MASK ? 2 : input->rank;

        for (guint d = 0; d < known; d++) {
            places[count] = g_strdup_printf("%s:%u", input->name, d);
            dimensions[count] =
                (struct tdl_model_dimension){ places[count], size_of(input, d, room), true };
            count++;
        }
    }
    return count;
}

static guint64 elements(const struct tdl_tensor_params *p)
{
    return tdl_tensor_params_size(p) / tdl_dtype_size(p->dtype);
}

/* FALSE, and the builder has failed, where the input has no room. */
static gboolean check_room(const struct gst_tdl_mask_decoder *d, struct tdl_builder *b,
                           const char *name, const struct tdl_tensor_params *p, guint numbers)
{
    g_autofree gchar *is = gst_tdl_links_shape_text(p);

    if (elements(p) % numbers == 0 && elements(p) / numbers >= d->follow.room)
        return TRUE;
    tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                     "its input \"%s\" is %s, and the prompt needs room for %u points: export it "
                     "with an open number of points, or ask for fewer",
                     name, is, d->follow.room);
    return FALSE;
}

/* Rows that fill the list up. */
static struct tdl_operand *with_rest(struct tdl_builder *b, struct tdl_operand *x, guint rows,
                                     gfloat value)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const guint columns = p ? p->shape[1] : 1, have = p ? p->shape[0] : rows;
    g_autofree gfloat *rest = g_new(gfloat, MAX(rows - have, 1) * columns);

    if (!p || rows == have)
        return x;
    for (guint i = 0; i < (rows - have) * columns; i++)
        rest[i] = value;
    return tdl_builder_concat(
        b, (struct tdl_operand *[]){ x, gst_tdl_objects_numbers(b, rest, 2, rows - have, columns) },
        2, 0);
}

/* [2, 2]: left and top, right and bottom of the last mask, in shares of the picture. */
static struct tdl_operand *corners(const struct gst_tdl_mask_decoder *d)
{
    struct tdl_builder *b = d->follow.builder;
    struct tdl_operand *x[2], *y[2], *rows[2];

    gst_tdl_follow_box(&d->follow, FALSE, x);
    gst_tdl_follow_box(&d->follow, TRUE, y);
    for (guint i = 0; i < 2; i++)
        rows[i] = tdl_builder_concat(b, (struct tdl_operand *[]){ x[i], y[i] }, 2, 1);
    return tdl_builder_concat(b, rows, 2, 0);
}

/* [room, 2], px of the picture. */
static struct tdl_operand *points(const struct gst_tdl_mask_decoder *d)
{
    const struct tdl_slice_params places = { .size = { 0, 2 } };
    const gfloat size[] = { d->width, d->height };
    struct tdl_builder *b = d->follow.builder;
    struct tdl_operand *asked = tdl_builder_slice(b, d->follow.prompt, &places);
    struct tdl_operand *last = with_rest(b, corners(d), d->follow.room, 0);

    return tdl_builder_mul(b, tdl_builder_where(b, d->follow.tracked, last, asked),
                           gst_tdl_objects_numbers(b, size, 2, 1, 2));
}

/* [room, 1] */
static struct tdl_operand *labels(const struct gst_tdl_mask_decoder *d)
{
    const gfloat box[] = { GST_TDL_POINT_BOX_FIRST, GST_TDL_POINT_BOX_LAST };
    struct tdl_builder *b = d->follow.builder;
    struct tdl_operand *last =
        with_rest(b, gst_tdl_objects_numbers(b, box, 2, 2, 1), d->follow.room, GST_TDL_POINT_NONE);

    return tdl_builder_where(b, d->follow.tracked, last, gst_tdl_follow_column(&d->follow, 2));
}

/* An image [1, h, w, 1] of h × w px. */
static struct tdl_operand *resized(struct tdl_builder *b, struct tdl_operand *x, guint from_h,
                                   guint from_w, guint h, guint w)
{
    const struct tdl_resample2d_params p = { .mode = TDL_RESAMPLE_LINEAR,
                                             .size = { h, w },
                                             .input_layout = TDL_LAYOUT_NHWC };

    x = tdl_builder_reshape(b, x, 4, (guint[]){ 1, from_h, from_w, 1 });
    return from_h == h && from_w == w ? x : tdl_builder_resample2d(b, x, &p);
}

static struct tdl_operand *last_mask(const struct gst_tdl_mask_decoder *d, const char *name,
                                     const struct tdl_tensor_params *p)
{
    struct tdl_builder *b = d->follow.builder;
    const guint h = p->rank > 1 ? p->shape[p->rank - 2] : 0,
                w = p->rank ? p->shape[p->rank - 1] : 0;

    if (p->rank < 2 || elements(p) != (guint64)h * w)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "its input \"%s\" is no single mask [1, 1, h, w]", name);
    return resized(b, d->follow.last, d->follow.height, d->follow.width, h, w);
}

/* [1, 2] */
static struct tdl_operand *size(const struct gst_tdl_mask_decoder *d)
{
    const gfloat size[] = { d->height, d->width };

    return gst_tdl_objects_numbers(d->follow.builder, size, 2, 1, 2);
}

static struct tdl_operand *fill(const struct gst_tdl_mask_decoder *d, enum role role,
                                const char *name, const struct tdl_tensor_params *p)
{
    struct tdl_builder *b = d->follow.builder;

    switch (role) {
    case POINTS:
        return check_room(d, b, name, p, 2) ? with_rest(b, points(d), elements(p) / 2, 0) : NULL;
    case LABELS:
        return check_room(d, b, name, p, 1)
                   ? with_rest(b, labels(d), elements(p), GST_TDL_POINT_NONE)
                   : NULL;
    case LAST_MASK:
        return last_mask(d, name, p);
    case HAS_MASK:
        return gst_tdl_objects_as_float(b, d->follow.tracked);
    default:
        return size(d);
    }
}

static gboolean begin(struct gst_tdl_mask_decoder *d, struct tdl_builder *b, const char *name)
{
    if (d->begun)
        return TRUE;
    if (!d->height) {
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                         "its input \"%s\" comes before any picture [1, 3, h, w]: of two files, "
                         "\"model\" is the encoder, and \"decoder-model\" this one; a file that is "
                         "both has the picture first",
                         name);
        return FALSE;
    }
    gst_tdl_follow_begin(&d->follow, b, d->sources, MAX(d->height / STRIDE, 1),
                         MAX(d->width / STRIDE, 1));
    return d->begun = TRUE;
}

struct tdl_operand *gst_tdl_mask_decoder_input(struct gst_tdl_mask_decoder *d,
                                               struct tdl_builder *b, const char *name,
                                               const struct tdl_tensor_params *p)
{
    const struct input *input = input_of(name);
    struct tdl_operand *x;

    if (!input || !gst_tdl_mask_decoder_wanted(d->sources) || !begin(d, b, name))
        return NULL;
    d->takes_points |= input->role == POINTS;
    x = fill(d, input->role, name, p);
    if (!x)
        return NULL;
    x = tdl_builder_reshape(b, x, p->rank, p->shape);
    return gst_tdl_objects_is_real(p) ? x : tdl_builder_cast(b, x, p->dtype);
}

/* ------------------------------------------------------------ the second file */

struct second {
    struct gst_tdl_mask_decoder *decoder;
    const struct gst_tdl_named *embeddings; /* of the first file */
    guint count;
    guint64 used; /* bits of these */
    GArray *outputs;
};

static gboolean fits(const struct tdl_operand *x, const struct tdl_tensor_params *p)
{
    const struct tdl_tensor_params *is = tdl_operand_get_desc(x);

    return is->rank == p->rank && !memcmp(is->shape, p->shape, p->rank * sizeof(p->shape[0])) &&
           gst_tdl_objects_is_real(is) == gst_tdl_objects_is_real(p);
}

/* By its name, or else the first of its shape that nothing has taken. */
static const struct gst_tdl_named *embedding(struct second *s, const char *name,
                                             const struct tdl_tensor_params *p)
{
    for (guint i = 0; i < s->count; i++)
        if (!strcmp(s->embeddings[i].name, name))
            return &s->embeddings[i];
    for (guint i = 0; i < s->count && i < 64; i++)
        if (!(s->used >> i & 1) && fits(s->embeddings[i].operand, p)) {
            s->used |= G_GUINT64_CONSTANT(1) << i;
            return &s->embeddings[i];
        }
    return NULL;
}

static gchar *list(const struct gst_tdl_named *named, guint count)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < count; i++) {
        g_autofree gchar *is = gst_tdl_links_shape_text(tdl_operand_get_desc(named[i].operand));

        g_string_append_printf(text, "%s\"%s\" %s", i ? ", " : "", named[i].name, is);
    }
    return g_string_free(text, FALSE);
}

static struct tdl_operand *on_input(void *data, struct tdl_builder *b, const char *name,
                                    const struct tdl_tensor_params *p)
{
    struct second *s = data;
    const struct gst_tdl_named *from;
    g_autofree gchar *is = NULL, *have = NULL;

    if (input_of(name))
        return gst_tdl_mask_decoder_input(s->decoder, b, name, p);
    from = embedding(s, name, p);
    if (from && fits(from->operand, p))
        return from->operand;
    is = gst_tdl_links_shape_text(p);
    have = list(s->embeddings, s->count);
    return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                            "its input \"%s\" is %s, and the encoder (\"model\") makes %s: the two "
                            "files must be of one model; beside what the encoder makes, a decoder "
                            "takes point_coords, point_labels, mask_input, has_mask_input and "
                            "orig_im_size",
                            name, is, have);
}

static struct tdl_operand *on_output(void *data, struct tdl_builder *b, const char *name,
                                     struct tdl_operand *operand)
{
    struct second *s = data;
    const struct gst_tdl_named one = { g_strdup(name), operand };
    gboolean moved = TRUE; /* a decoder of prompts has no boxes to be moved */

    if (s->decoder->sources->tensors)
        gst_tdl_tensors_output(b, s->decoder->sources, name, operand, &moved);
    g_array_append_val(s->outputs, one);
    return NULL;
}

static void clear_named(gpointer named)
{
    g_free(((struct gst_tdl_named *)named)->name);
}

/* The prompt's sizes, and those that the encoder's outputs have. */
static guint open_sizes(const struct second *s, struct tdl_model_dimension *out, gchar **places)
{
    guint count =
        gst_tdl_mask_decoder_dimensions(gst_tdl_sources_room(s->decoder->sources), out, places);

    for (guint i = 0; i < s->count; i++) {
        const struct tdl_tensor_params *p = tdl_operand_get_desc(s->embeddings[i].operand);

        for (guint d = 0; d < p->rank && count < MAX_DECODER_DIMS; d++) {
            places[count] = g_strdup_printf("%s:%u", s->embeddings[i].name, d);
            out[count] = (struct tdl_model_dimension){ places[count], p->shape[d], true };
            count++;
        }
    }
    return count;
}

static void import(struct second *s, struct tdl_builder *b, const gchar *path)
{
    struct tdl_model_dimension dimensions[MAX_DECODER_DIMS];
    gchar *places[MAX_DECODER_DIMS];
    const guint count = open_sizes(s, dimensions, places);
    const struct tdl_model_params reading = {
        .dimensions = dimensions,
        .dimension_count = count,
        .size = { MAX(s->decoder->height / STRIDE, 1), MAX(s->decoder->width / STRIDE, 1) },
        .input = on_input,
        .input_data = s,
        .output = on_output,
        .output_data = s,
    };

    tdl_model_load(b, path, &reading);
    for (guint i = 0; i < count; i++)
        g_free(places[i]);
}

/* FALSE, and the builder has failed, with a text that says which file it is about. */
static gboolean load(struct second *s, struct tdl_builder *b)
{
    const gchar *text = s->decoder->sources->decoder_model;
    g_autoptr(GError) error = NULL;
    g_autofree gchar *path = gst_tdl_file_path(text, &error);

    s->decoder->file = text;
    if (path && gst_tdl_file_check(path, &error))
        import(s, b, path);
    else
        tdl_builder_fail(b, TDL_ERROR_INVALID_MODEL, "%s", error->message);
    if (tdl_builder_status(b) == TDL_OK && !s->decoder->takes_points)
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                         "it has no input for points, as point_coords: is it the mask decoder?");
    return tdl_builder_status(b) == TDL_OK;
}

/* ----------------------------------------------------------------- the masks */

static const struct gst_tdl_named *find(const struct gst_tdl_named *outputs, guint count,
                                        const gchar *const *names)
{
    for (; *names; names++)
        for (guint i = 0; i < count; i++)
            if (!strcmp(outputs[i].name, *names))
                return &outputs[i];
    return NULL;
}

/* The smaller ones are what decoders have computed, and take again. */
static const struct gst_tdl_named *find_masks(const struct gst_tdl_mask_decoder *d,
                                              const struct gst_tdl_named *outputs, guint count)
{
    static const gchar *const usual[] = { "low_res_masks", "pred_masks", "output_masks", "masks",
                                          NULL };
    const gchar *const said[] = { d->sources->model_output, NULL };
    const struct gst_tdl_named *named = find(outputs, count, *said[0] ? said : usual);
    const struct tdl_tensor_params *p = named ? tdl_operand_get_desc(named->operand) : NULL;

    return p && p->rank >= 3 && p->shape[p->rank - 1] > 1 && p->shape[p->rank - 2] > 1 ? named
                                                                                       : NULL;
}

/* [1, h · w]: the logits of the mask that the decoder thinks best of. */
static struct tdl_operand *best(struct tdl_builder *b, struct tdl_operand *masks, guint area,
                                const struct gst_tdl_named *outputs, guint count)
{
    static const gchar *const names[] = { "iou_predictions", "iou_scores", "scores", NULL };
    const struct tdl_tensor_params *p = tdl_operand_get_desc(masks);
    const guint n = elements(p) / area;
    const struct gst_tdl_named *scores = find(outputs, count, names);
    const struct tdl_slice_params first = { .size = { 1 } };
    const gboolean real = gst_tdl_objects_is_real(p);

    masks = tdl_builder_reshape(b, gst_tdl_objects_as_float(b, masks), 2, (guint[]){ n, area });
    if (!real)
        masks = tdl_builder_linear(b, masks, 2 * CERTAIN, -CERTAIN);
    if (n == 1)
        return masks;
    if (!scores || elements(tdl_operand_get_desc(scores->operand)) != n)
        return tdl_builder_slice(b, masks, &first);
    return tdl_builder_gather(
        b, masks,
        tdl_builder_arg_max(b, tdl_builder_reshape(b, scores->operand, 2, (guint[]){ n, 1 }), 0,
                            NULL),
        0);
}

/* uint8 [1, 1]: the largest number is more than that. */
static struct tdl_operand *any_above(struct tdl_builder *b, struct tdl_operand *x, gfloat limit)
{
    const struct tdl_reduce_params all = { 0 };

    x = tdl_builder_reduce(b, gst_tdl_objects_as_float(b, x), TDL_REDUCE_MAX, &all);
    return tdl_builder_greater(b, tdl_builder_reshape(b, x, 2, (guint[]){ 1, 1 }),
                               gst_tdl_objects_number(b, limit));
}

/* Something was asked for, and is there. */
static struct tdl_operand *is_found(const struct gst_tdl_mask_decoder *d,
                                    struct tdl_operand *logits, const struct gst_tdl_named *outputs,
                                    guint count)
{
    static const gchar *const names[] = { "object_score_logits", "object_scores", NULL };
    const struct gst_tdl_named *score = find(outputs, count, names);
    struct tdl_builder *b = d->follow.builder;
    struct tdl_operand *found = any_above(b, logits, 0);

    found = tdl_builder_logical_and(
        b, found,
        any_above(b, gst_tdl_follow_column(&d->follow, 2), GST_TDL_POINT_BACKGROUND - 0.5f));
    return score ? tdl_builder_logical_and(b, found, any_above(b, score->operand, 0)) : found;
}

static struct tdl_operand *finish(const struct gst_tdl_mask_decoder *d,
                                  const struct gst_tdl_named *outputs, guint count)
{
    const struct gst_tdl_named *masks = find_masks(d, outputs, count);
    const struct gst_tdl_follow *f = &d->follow;
    const struct tdl_tensor_params *p = masks ? tdl_operand_get_desc(masks->operand) : NULL;
    const guint h = p ? p->shape[p->rank - 2] : 0, w = p ? p->shape[p->rank - 1] : 0;
    g_autofree gchar *have = p ? NULL : list(outputs, count);
    static const gfloat least = -MOST, most = MOST;
    struct tdl_builder *b = f->builder;
    struct tdl_operand *x, *found;

    if (!p)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "it has no output of masks, as low_res_masks or masks, but %s: "
                                "\"model-output\" names it",
                                have);
    x = best(b, masks->operand, h * w, outputs, count);
    found = is_found(d, x, outputs, count);
    gst_tdl_follow_keep(
        f, tdl_builder_clamp(b, resized(b, x, h, w, f->height, f->width), &least, &most), found);
    x = tdl_builder_where(b, found, tdl_builder_sigmoid(b, x), gst_tdl_objects_number(b, 0));
    return tdl_builder_reshape(b, x, 4, (guint[]){ 1, h, w, 1 });
}

struct tdl_operand *gst_tdl_mask_decoder_mask(struct gst_tdl_mask_decoder *d, struct tdl_builder *b,
                                              const struct gst_tdl_named *outputs, guint count)
{
    struct second s = { d, outputs, count };
    struct tdl_operand *mask = NULL;

    if (!*d->sources->decoder_model)
        return finish(d, outputs, count);
    s.outputs = g_array_new(FALSE, FALSE, sizeof(struct gst_tdl_named));
    g_array_set_clear_func(s.outputs, clear_named);
    if (load(&s, b))
        mask =
            finish(d, (const struct gst_tdl_named *)(const void *)s.outputs->data, s.outputs->len);
    g_array_unref(s.outputs);
    return mask;
}
