/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Outputs of networks that find objects, made here: what the decoders' operators make of them,
 * fused and not, against loops over objects and pixels. Masks in boxes are sampled here pixel by
 * pixel from their four neighbours.
 */
#include <gst/check/gstcheck.h>

#include "model/gsttdldecode.h"
#include "util.h"

#include <math.h>

#define MOST 80     /* objects */
#define MOST_BEST 64 /* objects that have masks */
#define MOST_AREA (40 * 40)
#define MOST_CLASSES 7

enum kind {
    MASK2FORMER,      /* scores, masks */
    MASK2FORMER_NHWC, /* masks before scores, and a table of something else */
    RF_DETR,          /* boxes, scores, masks */
    RF_DETR_SQUARE,   /* with as many classes as a box has numbers */
    MASK_RCNN,        /* masks of the whole picture [N, 1, H, W] */
    MASK_RCNN_BOXED,  /* [N, 1, 7, 7] */
    MASK_RCNN_SCORED, /* boxes with scores, all behind a dimension of 1, masks [1, N, 9, 9] */
    MASK_RCNN_BYTES,  /* masks of truth values [N, H, W] */
    SOLO,             /* the same in shares, without boxes */
    KINDS
};

static const gint decoders[] = {
    GST_TDL_DECODE_MASK2FORMER, GST_TDL_DECODE_MASK2FORMER, GST_TDL_DECODE_RF_DETR_SEG,
    GST_TDL_DECODE_RF_DETR_SEG, GST_TDL_DECODE_MASK_RCNN,   GST_TDL_DECODE_MASK_RCNN,
    GST_TDL_DECODE_MASK_RCNN,   GST_TDL_DECODE_MASK_RCNN,   GST_TDL_DECODE_MASK_RCNN,
};

struct object {
    gdouble logits[MOST_CLASSES], score, box[4];
    guint label;
    gfloat mask[MOST_AREA];
};

struct output {
    const gchar *name;
    struct tdl_tensor_params params;
    gpointer values; /* of its type */
};

struct fixture {
    struct gst_tdl_settings settings;
    struct tdl_context *context;
    GRand *rand;
    enum kind kind;
    guint count, classes, height, width; /* of the picture */
    guint h, w, out_h, out_w;            /* of the objects' masks, and of their union */
    struct object objects[MOST];
    struct output outputs[4];
    guint output_count;
    gdouble expected[MOST_AREA];
};

static void setup(struct fixture *f, guint32 seed)
{
    gst_tdl_settings_init(&f->settings);
    f->rand = g_rand_new_with_seed(seed);
    fail_unless(tdl_context_create(NULL, &f->context) == TDL_OK, "%s", tdl_last_error());
}

static void clear_outputs(struct fixture *f)
{
    for (guint i = 0; i < f->output_count; i++)
        g_free(f->outputs[i].values);
    f->output_count = 0;
}

static void teardown(struct fixture *f)
{
    clear_outputs(f);
    gst_tdl_settings_finish(&f->settings);
    tdl_context_destroy(&f->context);
    g_rand_free(f->rand);
    g_free(f);
}

/* ------------------------------------------------------------------- objects */

static gboolean is_rcnn(const struct fixture *f)
{
    return f->kind >= MASK_RCNN;
}

static gboolean is_boxed(const struct fixture *f)
{
    return f->kind == MASK_RCNN_BOXED || f->kind == MASK_RCNN_SCORED;
}

/* Boxes that reach out of the picture, and one without an area. */
static void draw_box(struct fixture *f, struct object *o, gboolean empty)
{
    const gdouble side[] = {f->width, f->height};

    for (guint i = 0; i < 2; i++) {
        o->box[i] = g_rand_double_range(f->rand, -0.2, 0.8) * side[i];
        o->box[i + 2] = o->box[i] + (empty ? 0 : g_rand_double_range(f->rand, 0.1, 0.6) * side[i]);
    }
}

static void draw_object(struct fixture *f, guint n)
{
    struct object *o = &f->objects[n];

    for (guint c = 0; c < f->classes; c++)
        o->logits[c] = g_rand_double_range(f->rand, -4, 3);
    o->label = g_rand_int_range(f->rand, 0, f->classes);
    o->score = g_rand_double(f->rand);
    draw_box(f, o, n == 1);
    for (guint i = 0; i < f->h * f->w; i++)
        o->mask[i] = f->kind == MASK_RCNN_BYTES ? g_rand_int_range(f->rand, 0, 4) == 0
                     : is_rcnn(f)               ? g_rand_double(f->rand)
                                                : g_rand_double_range(f->rand, -5, 3);
}

static void draw(struct fixture *f, enum kind kind)
{
    f->kind = kind;
    f->height = 8 * g_rand_int_range(f->rand, 2, 5);
    f->width = f->height == 16 ? 32 : 8 * g_rand_int_range(f->rand, 2, 5);
    f->classes = kind == RF_DETR_SQUARE ? 4 : g_rand_int_range(f->rand, 5, MOST_CLASSES + 1);
    f->count = g_rand_boolean(f->rand) ? MOST : g_rand_int_range(f->rand, 3, 20);
    f->h = f->out_h = is_rcnn(f) ? f->height : f->height / 4;
    f->w = f->out_w = is_rcnn(f) ? f->width : f->width / 4;
    if (kind == SOLO) { /* of the whole picture, without being as large */
        f->h = f->out_h = f->height / 2;
        f->w = f->out_w = f->width / 2;
    }
    if (is_boxed(f)) {
        f->out_h = f->height / 4;
        f->out_w = f->width / 4;
        f->h = f->w = kind == MASK_RCNN_BOXED ? 7 : 9;
    }
    if (f->count == f->h) /* then [1, h, w, Q] is [1, Q, h, w] as well */
        f->count++;
    for (guint n = 0; n < f->count; n++)
        draw_object(f, n);
}

/* ------------------------------------------------------------------- outputs */

static gfloat *add(struct fixture *f, const gchar *name, guint rank, const guint *shape)
{
    struct output *o = &f->outputs[f->output_count++];

    *o = (struct output){name, {.rank = rank}, NULL};
    memcpy(o->params.shape, shape, rank * sizeof(*shape));
    o->values = g_malloc0(tdl_tensor_params_size(&o->params));
    return o->values;
}

static void add_scores(struct fixture *f)
{
    gfloat *x = add(f, "logits", 3, (guint[]){1, f->count, f->classes});

    for (guint i = 0; i < f->count * f->classes; i++)
        x[i] = f->objects[i / f->classes].logits[i % f->classes];
}

/* One number behind the other: by object, or by pixel. */
static void add_masks(struct fixture *f, guint rank, const guint *shape, gboolean by_pixel)
{
    const guint area = f->h * f->w;
    gfloat *x = add(f, "masks", rank, shape);

    for (guint n = 0; n < f->count; n++)
        for (guint i = 0; i < area; i++)
            x[by_pixel ? i * f->count + n : n * area + i] = f->objects[n].mask[i];
}

static void add_boxes(struct fixture *f, guint rank, guint columns)
{
    const guint shape[] = {1, f->count, columns};
    gfloat *x = add(f, "boxes", rank, shape + 3 - rank);

    for (guint n = 0; n < f->count; n++) {
        for (guint i = 0; i < 4; i++)
            x[n * columns + i] = f->objects[n].box[i];
        if (columns == 5)
            x[n * columns + 4] = f->objects[n].score;
    }
}

static void add_labels(struct fixture *f, guint rank, enum tdl_dtype type)
{
    const guint shape[] = {1, f->count};
    struct output *o;

    add(f, "labels", rank, shape + 2 - rank);
    o = &f->outputs[f->output_count - 1];
    o->params.dtype = type;
    g_free(o->values);
    o->values = g_malloc0(tdl_tensor_params_size(&o->params));
    for (guint n = 0; n < f->count; n++)
        if (type == TDL_INT64)
            ((gint64 *)o->values)[n] = f->objects[n].label;
        else
            ((gint32 *)o->values)[n] = f->objects[n].label;
}

static void as_bytes(struct output *o)
{
    const gsize count = tdl_tensor_params_size(&o->params) / sizeof(gfloat);
    guint8 *bytes = g_malloc(count);

    for (gsize i = 0; i < count; i++)
        bytes[i] = ((gfloat *)o->values)[i] != 0;
    o->params.dtype = TDL_UINT8;
    g_free(o->values);
    o->values = bytes;
}

static void add_list_of_scores(struct fixture *f)
{
    gfloat *x = add(f, "scores", 1, &f->count);

    for (guint n = 0; n < f->count; n++)
        x[n] = f->objects[n].score;
}

static void write_queries(struct fixture *f)
{
    const guint nchw[] = {1, f->count, f->h, f->w}, nhwc[] = {1, f->h, f->w, f->count};

    if (f->kind == MASK2FORMER_NHWC)
        add_masks(f, 4, nhwc, TRUE);
    if (f->kind == RF_DETR || f->kind == RF_DETR_SQUARE)
        add_boxes(f, 3, 4);
    add_scores(f);
    if (f->kind == MASK2FORMER_NHWC)
        add(f, "hidden", 3, (guint[]){1, f->count, 16});
    else
        add_masks(f, 4, nchw, FALSE);
}

static void write_rcnn(struct fixture *f)
{
    const gboolean scored = f->kind == MASK_RCNN_SCORED;

    if (f->kind != SOLO)
        add_boxes(f, scored ? 3 : 2, scored ? 5 : 4);
    add_labels(f, scored ? 2 : 1, scored ? TDL_INT32 : TDL_INT64);
    if (!scored)
        add_list_of_scores(f);
    if (scored)
        add_masks(f, 4, (guint[]){1, f->count, f->h, f->w}, FALSE);
    else if (f->kind >= MASK_RCNN_BYTES)
        add_masks(f, 3, (guint[]){f->count, f->h, f->w}, FALSE);
    else
        add_masks(f, 4, (guint[]){f->count, 1, f->h, f->w}, FALSE);
    if (f->kind == MASK_RCNN_BYTES)
        as_bytes(&f->outputs[f->output_count - 1]);
}

/* ------------------------------------------------------------- what is right */

/* *out_class, and how sure it is; FALSE where rounding may decide. */
static gboolean judge(const struct fixture *f, const struct object *o, guint *out_class,
                      gdouble *out_score)
{
    gdouble sum = 0, best, second = -INFINITY;

    *out_class = o->label;
    *out_score = o->score;
    if (is_rcnn(f))
        return TRUE;
    *out_class = 0;
    for (guint c = 1; c < f->classes; c++)
        if (o->logits[c] > o->logits[*out_class])
            *out_class = c;
    best = o->logits[*out_class];
    for (guint c = 0; c < f->classes; c++) {
        sum += exp(o->logits[c] - best);
        if (c != *out_class)
            second = MAX(second, o->logits[c]);
    }
    *out_score = decoders[f->kind] == GST_TDL_DECODE_RF_DETR_SEG ? 1 / (1 + exp(-best)) : 1 / sum;
    if (decoders[f->kind] == GST_TDL_DECODE_MASK2FORMER && *out_class == f->classes - 1)
        *out_score = 0;
    return best - second > 1e-3;
}

static gboolean counts(const struct fixture *f, guint class)
{
    const GArray *classes = f->settings.sources.classes;

    for (guint i = 0; i < classes->len; i++)
        if (g_array_index(classes, gint, i) == (gint)class)
            return TRUE;
    return !classes->len;
}

static gdouble pixel(const struct fixture *f, const struct object *o, gint y, gint x)
{
    return y < 0 || x < 0 || y >= (gint)f->h || x >= (gint)f->w ? 0
                                                                  : (gdouble)o->mask[y * f->w + x];
}

/* Between the four nearest; nothing is around the mask. */
static gdouble sample(const struct fixture *f, const struct object *o, gdouble y, gdouble x)
{
    const gdouble v = (y - o->box[1]) / (o->box[3] - o->box[1]) * f->h - 0.5;
    const gdouble u = (x - o->box[0]) / (o->box[2] - o->box[0]) * f->w - 0.5;
    const gdouble fy = v - floor(v), fx = u - floor(u);

    if (!(fabs(v) < 1000 && fabs(u) < 1000))
        return 0; /* of a box without an area, too */
    const gint top = floor(v), left = floor(u);
    return (1 - fy) * ((1 - fx) * pixel(f, o, top, left) + fx * pixel(f, o, top, left + 1)) +
           fy * ((1 - fx) * pixel(f, o, top + 1, left) + fx * pixel(f, o, top + 1, left + 1));
}

static void paint(struct fixture *f, const struct object *o)
{
    for (guint y = 0; y < f->out_h; y++)
        for (guint x = 0; x < f->out_w; x++) {
            gdouble *to = &f->expected[y * f->out_w + x];

            if (is_boxed(f))
                *to = MAX(*to, sample(f, o, (y + 0.5) * f->height / f->out_h,
                                      (x + 0.5) * f->width / f->out_w));
            else if (is_rcnn(f))
                *to = MAX(*to, (gdouble)o->mask[y * f->w + x]);
            else
                *to = MAX(*to, 1 / (1 + exp(-(gdouble)o->mask[y * f->w + x])));
        }
}

/* The best one after the other. *out_left: objects that are one too many. */
static gboolean expect(struct fixture *f, guint *out_left)
{
    const gdouble least = (gdouble)f->settings.sources.score_threshold;
    gdouble scores[MOST] = {0}, last = INFINITY;

    memset(f->expected, 0, sizeof(f->expected));
    *out_left = 0;
    for (guint n = 0; n < f->count; n++) {
        guint class;

        if (!judge(f, &f->objects[n], &class, &scores[n]) || fabs(scores[n] - least) < 1e-3)
            return FALSE;
        if (!counts(f, class) || scores[n] < least)
            scores[n] = 0;
    }
    for (guint taken = 0;; taken++) {
        guint best = 0;

        for (guint n = 1; n < f->count; n++)
            if (scores[n] > scores[best])
                best = n;
        if (scores[best] == 0)
            return taken > 0;
        if (taken < MOST_BEST)
            paint(f, &f->objects[best]);
        else
            ++*out_left;
        if (taken == MOST_BEST && last - scores[best] < 1e-4)
            return FALSE;
        last = scores[best];
        scores[best] = 0;
    }
}

/* ------------------------------------------------------------------------ runs */

static void decode_all(struct fixture *f, struct gst_tdl_decode *d, struct tdl_builder *b)
{
    *d = (struct gst_tdl_decode){.sources = &f->settings.sources, .others = g_string_new(NULL)};
    d->picture = (struct tdl_tensor_params){.rank = 4, .shape = {1, 3, f->height, f->width}};
    d->layout = TDL_LAYOUT_NCHW;
    for (guint i = 0; i < f->output_count; i++) {
        const struct output *o = &f->outputs[i];

        fail_unless(
            !gst_tdl_decode_output(d, b, o->name, tdl_builder_input(b, o->name, &o->params)));
    }
    gst_tdl_decode_finish(d, b);
}

static struct tdl_graph *build(struct fixture *f, gboolean fuse)
{
    const struct tdl_build_params params = {.no_fuse = !fuse};
    struct gst_tdl_decode decode;
    struct tdl_graph *graph = NULL;
    struct tdl_builder *b;

    fail_unless(tdl_builder_create(f->context, &b) == TDL_OK);
    tdl_builder_set_input_layout(b, TDL_LAYOUT_NCHW);
    decode_all(f, &decode, b);
    fail_unless(decode.found, "kind %d: %s", f->kind, decode.others->str);
    fail_unless(tdl_builder_build(b, &params, &graph) == TDL_OK, "%s", tdl_last_error());
    tdl_builder_destroy(&b);
    gst_tdl_decode_clear(&decode);
    return graph;
}

static struct tdl_tensor *tensor(struct fixture *f, struct tdl_tensor_params p, const void *values)
{
    struct tdl_tensor *t = NULL;

    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    fail_unless(tdl_tensor_create(f->context, &p, &t) == TDL_OK, "%s", tdl_last_error());
    if (values)
        fail_unless(tdl_tensor_write(t, values, tdl_tensor_params_size(&p), NULL) == TDL_OK);
    return t;
}

/* Outputs that no mask is made of are no inputs of the graph. */
static guint bind(struct fixture *f, const struct tdl_graph *graph, struct tdl_binding *in)
{
    const gchar *name;
    guint count = 0;

    for (guint k = 0; tdl_graph_input(graph, k, &name); k++)
        for (guint i = 0; i < f->output_count; i++)
            if (!strcmp(f->outputs[i].name, name))
                in[count++] = (struct tdl_binding){
                    f->outputs[i].name, tensor(f, f->outputs[i].params, f->outputs[i].values)};
    return count;
}

static void run(struct fixture *f, gboolean fuse)
{
    struct tdl_graph *graph = build(f, fuse);
    const struct tdl_tensor_params *p = tdl_graph_output(graph, 0, NULL);
    struct tdl_binding in[4], out = {"mask", tensor(f, *p, NULL)};
    const guint count = bind(f, graph, in);
    gfloat got[MOST_AREA];

    fail_unless(p->rank == 4 && p->shape[1] == f->out_h && p->shape[2] == f->out_w &&
                p->shape[3] == 1 && !tdl_graph_output(graph, 1, NULL));
    fail_unless(tdl_graph_dispatch(graph, in, count, &out, 1, NULL) == TDL_OK, "%s",
                tdl_last_error());
    fail_unless(tdl_tensor_read(out.tensor, got, f->out_w * f->out_h * sizeof(*got)) == TDL_OK);
    for (guint i = 0; i < f->out_w * f->out_h; i++)
        fail_unless(fabs((gdouble)got[i] - f->expected[i]) < 2e-4,
                    "kind %d, %ux%u, %u objects: pixel %u is %g instead of %g", f->kind, f->width,
                    f->height, f->count, i, (gdouble)got[i], f->expected[i]);
    for (guint i = 0; i < count; i++)
        tdl_tensor_destroy(&in[i].tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
}

static void draw_until_clear(struct fixture *f, enum kind kind, gboolean crowded)
{
    guint left;

    do {
        gint class = 0;

        g_array_set_size(f->settings.sources.classes, 0);
        f->settings.sources.score_threshold = crowded ? 0.05f : 0.6f;
        draw(f, kind);
        for (; class < (gint)f->classes - 1 && !crowded; class++)
            if (g_rand_boolean(f->rand))
                g_array_append_val(f->settings.sources.classes, class);
    } while (!expect(f, &left) || crowded != (left > 0));
    clear_outputs(f);
    if (is_rcnn(f))
        write_rcnn(f);
    else
        write_queries(f);
}

/* Every other run says the decoder, and every other has more objects than get masks. */
GST_START_TEST(objects)
{
    const enum kind kind = __i__ % KINDS;
    struct fixture *f;

    if (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") && !util_in_turn(__i__, 3))
        return; /* every shape has kernels of its own */
    f = g_new0(struct fixture, 1);
    setup(f, util_seed() + __i__);
    f->settings.sources.decoder =
        g_rand_boolean(f->rand) ? GST_TDL_DECODE_AUTO : decoders[kind];
    draw_until_clear(f, kind, __i__ / KINDS % 2);
    run(f, TRUE);
    run(f, FALSE);
    teardown(f);
}
GST_END_TEST;

/* What is left out, and the decoder; the words of what is said then. Without any, nothing is found,
 * and with `auto` one output is taken for channels. */
static const struct {
    enum kind kind;
    const gchar *without;
    gint decoder;
    gint output, class;
    const gchar *words;
    gboolean stretched; /* the picture has another aspect */
} wrong[] = {
    {MASK2FORMER, NULL, GST_TDL_DECODE_AUTO, GST_TDL_OUTPUT_PICTURE, -1, "it is a Mask2Former"},
    {RF_DETR, NULL, GST_TDL_DECODE_AUTO, GST_TDL_OUTPUT_CLASSES, -1, "it is an RF-DETR"},
    {MASK_RCNN, NULL, GST_TDL_DECODE_AUTO, GST_TDL_OUTPUT_PICTURE, -1, "it is a Mask R-CNN"},
    {MASK2FORMER, NULL, GST_TDL_DECODE_MASK2FORMER, GST_TDL_OUTPUT_MASK, MOST_CLASSES,
     "\"classes\" has 7, and the model has"},
    {MASK2FORMER, "logits", GST_TDL_DECODE_MASK2FORMER, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK2FORMER, "logits", GST_TDL_DECODE_AUTO, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK2FORMER, NULL, GST_TDL_DECODE_AUTO, GST_TDL_OUTPUT_MASK, -1, NULL, TRUE},
    {RF_DETR, "masks", GST_TDL_DECODE_RF_DETR_SEG, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK_RCNN, "labels", GST_TDL_DECODE_MASK_RCNN, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK_RCNN, "scores", GST_TDL_DECODE_MASK_RCNN, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK_RCNN_SCORED, "boxes", GST_TDL_DECODE_MASK_RCNN, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK_RCNN, "masks", GST_TDL_DECODE_MASK_RCNN, GST_TDL_OUTPUT_MASK, -1, NULL},
    {MASK_RCNN, NULL, GST_TDL_DECODE_MASK2FORMER, GST_TDL_OUTPUT_MASK, -1, NULL},
};

static void leave_out(struct fixture *f, const gchar *name)
{
    for (guint i = 0; i < f->output_count; i++)
        if (!g_strcmp0(f->outputs[i].name, name)) {
            g_free(f->outputs[i].values);
            f->outputs[i] = f->outputs[--f->output_count];
        }
}

GST_START_TEST(refused)
{
    struct fixture *f = g_new0(struct fixture, 1);
    static const gchar *const wants[] = {
        [GST_TDL_DECODE_MASK2FORMER] = "decoder=mask2former wants scores",
        [GST_TDL_DECODE_RF_DETR_SEG] = "decoder=rf-detr-seg wants boxes",
        [GST_TDL_DECODE_MASK_RCNN] = "decoder=mask-rcnn wants labels",
    };
    const gint class = wrong[__i__].class;
    struct gst_tdl_decode decode;
    struct tdl_builder *b;

    setup(f, 1);
    draw_until_clear(f, wrong[__i__].kind, FALSE);
    leave_out(f, wrong[__i__].without);
    f->width *= wrong[__i__].stretched ? 4 : 1;
    f->settings.sources.decoder = wrong[__i__].decoder;
    f->settings.sources.output = wrong[__i__].output;
    g_array_set_size(f->settings.sources.classes, 0);
    if (class >= 0)
        g_array_append_val(f->settings.sources.classes, class);
    fail_unless(tdl_builder_create(f->context, &b) == TDL_OK);
    tdl_builder_set_input_layout(b, TDL_LAYOUT_NCHW);
    decode_all(f, &decode, b);
    if (wrong[__i__].words)
        fail_unless(strstr(tdl_builder_error(b), wrong[__i__].words) != NULL, "%s",
                    tdl_builder_error(b));
    else if (wrong[__i__].decoder == GST_TDL_DECODE_AUTO)
        fail_unless(decode.found && decode.classes > 0);
    else
        fail_unless(!decode.found && strstr(gst_tdl_decode_wanted(&f->settings.sources),
                                            wants[wrong[__i__].decoder]) != NULL);
    tdl_builder_destroy(&b);
    gst_tdl_decode_clear(&decode);
    teardown(f);
}
GST_END_TEST;

static Suite *instances_suite(void)
{
    Suite *suite = suite_create("instances");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, objects, 0, 4 * KINDS);
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(wrong));
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, instances_suite(), "instances");
}
