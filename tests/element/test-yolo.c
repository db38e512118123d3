/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heads of YOLO segmentation networks, with boxes and masks that are made here: what the
 * decoder's operators make of them, fused and not, against loops over candidates, boxes
 * and pixels.
 */
#include <gst/check/gstcheck.h>

#include "model/gsttdldecode.h"
#include "model/gsttdlyolo.h"
#include "util.h"

#include <math.h>

#define MOST 1100 /* candidates */
#define MOST_ROWS 32
#define MOST_M 8
#define MOST_AREA (32 * 32)

enum form { CLASSES, TURNED, OBJECTNESS, CHOSEN, FORMS };

struct object {
    gdouble box[4]; /* corners, px of the prototypes */
    gdouble scores[5], coefficients[MOST_M];
    guint best;
};

/* A head, and what its network would say. */
struct fixture {
    struct gst_tdl_settings settings;
    struct tdl_context *context;
    GRand *rand;
    enum form form;
    gboolean nhwc, shares;
    guint w, h, m, classes, count, rows;
    struct object objects[MOST];
    gdouble prototypes[MOST_M][MOST_AREA];
    gfloat candidates_raw[MOST * MOST_ROWS], prototypes_raw[MOST_M * MOST_AREA];
    gdouble mask[MOST_AREA];
};

static void setup(struct fixture *f, guint32 seed)
{
    gst_tdl_settings_init(&f->settings);
    f->rand = g_rand_new_with_seed(seed);
    fail_unless(tdl_context_create(NULL, &f->context) == TDL_OK, "%s", tdl_last_error());
}

static void teardown(struct fixture *f)
{
    gst_tdl_settings_finish(&f->settings);
    tdl_context_destroy(&f->context);
    g_rand_free(f->rand);
    g_free(f);
}

/* -------------------------------------------------------------------- a head */

/* Corners on eighths, which no pixel's centre has; near others that are there. */
static void draw_box(struct fixture *f, struct object *o, guint before)
{
    const struct object *near = before ? &f->objects[g_rand_int_range(f->rand, 0, before)] : NULL;
    const gint size[] = {f->w, f->h};

    for (guint i = 0; i < 2; i++) {
        gint low = g_rand_int_range(f->rand, -1, size[i]), extent;

        extent = g_rand_int_range(f->rand, 1, size[i]);
        if (near && g_rand_boolean(f->rand)) {
            low = floor(near->box[i]) + g_rand_int_range(f->rand, -1, 2);
            extent = near->box[i + 2] - near->box[i] + g_rand_int_range(f->rand, 0, 2);
        }
        low = MIN(low, size[i] - 1);
        extent = CLAMP(extent, 1, size[i] * 3 / 2 - low - 1); /* shares are below 2 */
        o->box[i] = low + (g_rand_boolean(f->rand) ? 0.125 : 0.875);
        o->box[i + 2] = o->box[i] + extent;
    }
}

/* No two scores are the same, most of them nothing. */
static void draw_objects(struct fixture *f)
{
    for (guint n = 0; n < f->count; n++) {
        struct object *o = &f->objects[n];
        const gdouble most = g_rand_int_range(f->rand, 0, f->count) < 20 ? 0.95 : 0.2;

        draw_box(f, o, MIN(n, 6));
        o->best = g_rand_int_range(f->rand, 0, f->classes);
        for (guint c = 0; c < f->classes; c++)
            o->scores[c] = c == o->best ? most * (0.9 + 0.1 * n / f->count) : most * 0.8;
        for (guint m = 0; m < f->m; m++)
            o->coefficients[m] = g_rand_double_range(f->rand, -1, 1);
    }
    for (guint m = 0; m < f->m; m++)
        for (guint i = 0; i < f->w * f->h; i++)
            f->prototypes[m][i] = g_rand_double_range(f->rand, -2, 2);
}

static void draw(struct fixture *f, enum form form)
{
    f->form = form;
    f->nhwc = f->shares = g_rand_boolean(f->rand);
    f->w = 8 * g_rand_int_range(f->rand, 1, 4);
    f->h = f->w == 8 ? 16 : 8 * g_rand_int_range(f->rand, 1, 4);
    f->m = g_rand_boolean(f->rand) ? 4 : 7;
    f->classes = g_rand_int_range(f->rand, 1, 6);
    f->count = f->w * f->h * 21 / 64 * (form == OBJECTNESS ? 3 : 1);
    f->rows = 4 + f->classes + f->m;
    if (form == CHOSEN) {
        f->rows = 6 + f->m;
        f->count = 30;
    } else if (form == OBJECTNESS) {
        f->rows++;
    }
    draw_objects(f);
}

static void write_row(struct fixture *f, guint row, guint n, gdouble value)
{
    const gboolean turned = f->form != CLASSES;

    f->candidates_raw[turned ? n * f->rows + row : row * f->count + n] = value;
}

static void write_object(struct fixture *f, guint n)
{
    const struct object *o = &f->objects[n];
    guint row = 4;

    for (guint i = 0; i < 2; i++) {
        const gdouble scale = f->shares ? 1.0 / (i ? f->h : f->w) : 4;
        const gdouble low = o->box[i] * scale, high = o->box[i + 2] * scale;

        write_row(f, i, n, f->form == CHOSEN ? low : (low + high) / 2);
        write_row(f, i + 2, n, f->form == CHOSEN ? high : high - low);
    }
    if (f->form == CHOSEN) {
        write_row(f, row++, n, o->scores[o->best]);
        write_row(f, row++, n, o->best);
    } else {
        if (f->form == OBJECTNESS)
            write_row(f, row++, n, 0.97);
        for (guint c = 0; c < f->classes; c++)
            write_row(f, row++, n, o->scores[c]);
    }
    for (guint m = 0; m < f->m; m++)
        write_row(f, row++, n, o->coefficients[m]);
}

static void write_down(struct fixture *f)
{
    const guint area = f->w * f->h;

    for (guint n = 0; n < f->count; n++)
        write_object(f, n);
    for (guint m = 0; m < f->m; m++)
        for (guint i = 0; i < area; i++)
            f->prototypes_raw[f->nhwc ? i * f->m + m : m * area + i] = f->prototypes[m][i];
}

/* ------------------------------------------------------------------ what is right */

static gdouble overlap(const struct object *a, const struct object *b)
{
    gdouble both = 1, area_a = 1, area_b = 1;

    for (guint i = 0; i < 2; i++) {
        both *= MAX(MIN(a->box[i + 2], b->box[i + 2]) - MAX(a->box[i], b->box[i]), 0);
        area_a *= a->box[i + 2] - a->box[i];
        area_b *= b->box[i + 2] - b->box[i];
    }
    return both / (area_a + area_b - both);
}

static gdouble score_of(const struct fixture *f, const struct object *o)
{
    return o->scores[o->best] * (f->form == OBJECTNESS ? 0.97 : 1);
}

static gboolean counts(const struct fixture *f, const struct object *o)
{
    const GArray *classes = f->settings.sources.classes;

    for (guint i = 0; i < classes->len; i++)
        if (g_array_index(classes, gint, i) == (gint)o->best)
            return TRUE;
    return !classes->len;
}

static void paint(struct fixture *f, const struct object *o)
{
    for (guint y = 0; y < f->h; y++)
        for (guint x = 0; x < f->w; x++) {
            gdouble *pixel = &f->mask[y * f->w + x], sum = 0;

            for (guint m = 0; m < f->m; m++)
                sum += o->coefficients[m] * f->prototypes[m][y * f->w + x];
            if (x + 0.5 >= o->box[0] && x + 0.5 < o->box[2] && y + 0.5 >= o->box[1] &&
                y + 0.5 < o->box[3])
                *pixel = MAX(*pixel, 1 / (1 + exp(-sum)));
        }
}

/* From the best on, each that no better one of its class hides. FALSE where a number is so
 * near a threshold that rounding decides. */
static gboolean expect(struct fixture *f)
{
    const gdouble iou = (gdouble)f->settings.sources.iou_threshold;
    const gdouble least = (gdouble)f->settings.sources.score_threshold;
    gboolean done[MOST] = {FALSE};
    const struct object *kept[MOST];

    memset(f->mask, 0, sizeof(f->mask));
    for (guint count = 0;;) {
        const struct object *best = NULL;
        gboolean hidden = FALSE;

        for (guint n = 0; n < f->count; n++)
            if (!done[n] && counts(f, &f->objects[n]) &&
                (!best || score_of(f, &f->objects[n]) > score_of(f, best)))
                best = &f->objects[n];
        if (!best || score_of(f, best) <= least)
            return !best || score_of(f, best) < least - 1e-4;
        done[best - f->objects] = TRUE;
        for (guint k = 0; k < count && f->form != CHOSEN; k++) {
            const gdouble o = kept[k]->best == best->best ? overlap(best, kept[k]) : 0;

            if (fabs(o - iou) < 1e-3)
                return FALSE;
            hidden = hidden || o > iou;
        }
        if (hidden)
            continue;
        if (score_of(f, best) < least + 1e-4)
            return FALSE;
        kept[count++] = best;
        paint(f, best);
    }
}

/* ------------------------------------------------------------------------ runs */

static struct tdl_tensor_params candidates_desc(const struct fixture *f)
{
    struct tdl_tensor_params p = {.rank = 3, .shape = {1, f->rows, f->count}};

    if (f->form != CLASSES) {
        p.shape[1] = f->count;
        p.shape[2] = f->rows;
    }
    return p;
}

static struct tdl_tensor_params prototypes_desc(const struct fixture *f)
{
    if (f->nhwc)
        return (struct tdl_tensor_params){.rank = 4, .shape = {1, f->h, f->w, f->m}};
    return (struct tdl_tensor_params){.rank = 4, .shape = {1, f->m, f->h, f->w}};
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

static struct tdl_graph *build(struct fixture *f, gboolean fuse, gboolean prototypes_first)
{
    struct gst_tdl_decode decode = {.sources = &f->settings.sources, .others = g_string_new(NULL)};
    const struct tdl_build_params params = {.no_fuse = !fuse};
    const struct tdl_tensor_params c = candidates_desc(f), p = prototypes_desc(f);
    struct tdl_operand *outputs[2];
    struct tdl_graph *graph = NULL;
    struct tdl_builder *b;

    fail_unless(tdl_builder_create(f->context, &b) == TDL_OK);
    tdl_builder_set_input_layout(b, f->nhwc ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW);
    outputs[prototypes_first] = tdl_builder_input(b, "candidates", &c);
    outputs[!prototypes_first] = tdl_builder_input(b, "prototypes", &p);
    for (guint i = 0; i < 2; i++)
        fail_unless(!gst_tdl_decode_output(&decode, b, i ? "1" : "0", outputs[i]));
    gst_tdl_decode_finish(&decode, b);
    fail_unless(decode.found);
    fail_unless(tdl_builder_build(b, &params, &graph) == TDL_OK, "%s", tdl_last_error());
    tdl_builder_destroy(&b);
    gst_tdl_decode_clear(&decode);
    return graph;
}

static void run(struct fixture *f, gboolean fuse, gboolean prototypes_first)
{
    struct tdl_graph *graph = build(f, fuse, prototypes_first);
    const struct tdl_tensor_params *p = tdl_graph_output(graph, 0, NULL);
    struct tdl_binding in[] = {
        {"candidates", tensor(f, candidates_desc(f), f->candidates_raw)},
        {"prototypes", tensor(f, prototypes_desc(f), f->prototypes_raw)},
    };
    struct tdl_binding out = {"mask", tensor(f, *p, NULL)};
    gfloat got[MOST_AREA];

    fail_unless(p->rank == 4 && p->shape[1] == f->h && p->shape[2] == f->w && p->shape[3] == 1 &&
                !tdl_graph_output(graph, 1, NULL));
    fail_unless(tdl_graph_dispatch(graph, in, 2, &out, 1, NULL) == TDL_OK, "%s", tdl_last_error());
    fail_unless(tdl_tensor_read(out.tensor, got, f->w * f->h * sizeof(*got)) == TDL_OK);
    for (guint i = 0; i < f->w * f->h; i++)
        fail_unless(fabs((gdouble)got[i] - f->mask[i]) < 1e-4,
                    "form %d, %ux%u, %u classes: pixel %u is %g instead of %g", f->form, f->w, f->h,
                    f->classes, i, (gdouble)got[i], f->mask[i]);
    tdl_tensor_destroy(&in[0].tensor);
    tdl_tensor_destroy(&in[1].tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
}

static gdouble covered(const struct fixture *f)
{
    gdouble sum = 0;

    for (guint i = 0; i < f->w * f->h; i++)
        sum += f->mask[i];
    return sum;
}

GST_START_TEST(heads)
{
    struct fixture *f;

    if (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") && !util_in_turn(__i__, FORMS))
        return; /* every shape has kernels of its own */
    f = g_new0(struct fixture, 1);
    setup(f, util_seed() + __i__);
    f->settings.sources.decoder =
        g_rand_boolean(f->rand) ? GST_TDL_DECODE_AUTO : GST_TDL_DECODE_YOLO_SEG;
    f->settings.sources.iou_threshold = 0.43f;
    do {
        gint class = 0;

        draw(f, __i__ % FORMS);
        g_array_set_size(f->settings.sources.classes, 0);
        for (; class < (gint)f->classes - 1; class ++)
            if (g_rand_int_range(f->rand, 0, 3) == 0)
                g_array_append_val(f->settings.sources.classes, class);
    } while (!expect(f) || covered(f) == 0);
    write_down(f);
    run(f, TRUE, g_rand_boolean(f->rand));
    run(f, FALSE, g_rand_boolean(f->rand));
    teardown(f);
}
GST_END_TEST;

static const struct {
    struct tdl_tensor_params candidates, prototypes;
    gboolean fits, sure;
} shapes[] = {
#define PROTOTYPES                                                                                 \
    {                                                                                              \
        .rank = 4, .shape = {1, 32, 160, 160}                                                     \
    }
    {{.rank = 3, .shape = {1, 116, 8400}}, PROTOTYPES, TRUE, TRUE},
    {{.rank = 3, .shape = {1, 8400, 116}}, PROTOTYPES, TRUE, TRUE},
    {{.rank = 3, .shape = {1, 37, 8400}}, PROTOTYPES, TRUE, TRUE},
    {{.rank = 3, .shape = {1, 25200, 117}}, PROTOTYPES, TRUE, TRUE},
    {{.rank = 3, .shape = {1, 300, 38}}, PROTOTYPES, TRUE, TRUE},
    {{.rank = 3, .shape = {1, 36, 8400}}, PROTOTYPES, FALSE, FALSE}, /* no class */
    {{.rank = 3, .shape = {1, 116, 5000}}, PROTOTYPES, FALSE, TRUE},
    {{.rank = 3, .shape = {2, 116, 8400}}, PROTOTYPES, FALSE, FALSE},
    {{.rank = 2, .shape = {116, 8400}}, PROTOTYPES, FALSE, FALSE},
    {{.rank = 3, .shape = {1, 116, 8400}, .dtype = TDL_INT32}, PROTOTYPES, FALSE, FALSE},
};

GST_START_TEST(signatures)
{
    for (guint i = 0; i < 2; i++)
        fail_unless(gst_tdl_yolo_fits(&shapes[__i__].candidates, &shapes[__i__].prototypes,
                                      TDL_LAYOUT_NCHW, i) ==
                    (i ? shapes[__i__].sure : shapes[__i__].fits));
    fail_unless(!gst_tdl_yolo_fits(&shapes[__i__].prototypes, &shapes[__i__].candidates,
                                   TDL_LAYOUT_NCHW, TRUE));
}
GST_END_TEST;

/* Outputs that are asked for and do not exist are refused. */
GST_START_TEST(refused)
{
    struct fixture *f = g_new0(struct fixture, 1);
    struct gst_tdl_decode decode = {.sources = &f->settings.sources, .others = g_string_new(NULL)};
    const gint class = 5;
    struct tdl_builder *b;

    setup(f, 1);
    f->settings.sources.decoder = GST_TDL_DECODE_YOLO_SEG;
    draw(f, CLASSES);
    const struct tdl_tensor_params c = candidates_desc(f), p = prototypes_desc(f);
    fail_unless(tdl_builder_create(f->context, &b) == TDL_OK);
    tdl_builder_set_input_layout(b, f->nhwc ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW);
    struct tdl_operand *candidates = tdl_builder_input(b, "c", &c);
    gst_tdl_decode_output(&decode, b, "boxes", candidates);
    gst_tdl_decode_finish(&decode, b);
    fail_unless(!decode.found && strstr(decode.others->str, "boxes [1,") != NULL);
    g_clear_pointer(&decode.kept, g_array_unref);
    g_array_append_val(f->settings.sources.classes, class);
    gst_tdl_decode_output(&decode, b, "boxes", candidates);
    gst_tdl_decode_output(&decode, b, "prototypes", tdl_builder_input(b, "p", &p));
    gst_tdl_decode_finish(&decode, b);
    fail_unless(strstr(tdl_builder_error(b), "\"classes\" has 5, and the model has") != NULL, "%s",
                tdl_builder_error(b));
    tdl_builder_destroy(&b);
    gst_tdl_decode_clear(&decode);
    teardown(f);
}
GST_END_TEST;

/* Nor is any part of it a picture, by itself. */
GST_START_TEST(shown_as_a_mask_only)
{
    struct fixture *f = g_new0(struct fixture, 1);
    struct gst_tdl_decode decode = {.sources = &f->settings.sources, .others = g_string_new(NULL)};
    struct tdl_builder *b;

    setup(f, 1);
    f->settings.sources.output = __i__ ? GST_TDL_OUTPUT_CLASSES : GST_TDL_OUTPUT_PICTURE;
    draw(f, CLASSES);
    const struct tdl_tensor_params c = candidates_desc(f), p = prototypes_desc(f);
    fail_unless(tdl_builder_create(f->context, &b) == TDL_OK);
    tdl_builder_set_input_layout(b, f->nhwc ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW);
    fail_unless(!gst_tdl_decode_output(&decode, b, "boxes", tdl_builder_input(b, "c", &c)));
    fail_unless(!gst_tdl_decode_output(&decode, b, "prototypes", tdl_builder_input(b, "p", &p)));
    gst_tdl_decode_finish(&decode, b);
    fail_unless(strstr(tdl_builder_error(b), "YOLO") != NULL, "%s", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    gst_tdl_decode_clear(&decode);
    teardown(f);
}
GST_END_TEST;

static Suite *yolo_suite(void)
{
    Suite *suite = suite_create("yolo");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, heads, 0, 2 * FORMS);
    tcase_add_loop_test(tcase, signatures, 0, G_N_ELEMENTS(shapes));
    tcase_add_test(tcase, refused);
    tcase_add_loop_test(tcase, shown_as_a_mask_only, 0, 2);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, yolo_suite(), "yolo");
}
