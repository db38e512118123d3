/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a model's outputs to a mask, and from properties to a model's numbers: the
 * expectations are computed here, from what the properties promise. */
#include <gst/check/gstcheck.h>

#include "model/gsttdldecode.h"

#include <math.h>

#define W 3
#define H 2
#define MAX_VALUES (W * H * 4)

struct fixture {
    struct gst_tdl_settings settings;
    struct tdl_context *context;
    struct gst_tdl_decode decode;
};

static void setup(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    gst_tdl_settings_init(&f->settings);
    f->decode.sources = &f->settings.sources;
    f->decode.others = g_string_new(NULL);
    fail_unless(tdl_context_create(NULL, &f->context) == TDL_OK, "%s", tdl_last_error());
}

static void teardown(struct fixture *f)
{
    gst_tdl_decode_clear(&f->decode);
    gst_tdl_settings_finish(&f->settings);
    tdl_context_destroy(&f->context);
}

static void add_class(struct fixture *f, gint class)
{
    g_array_append_val(f->settings.sources.classes, class);
}

static gfloat value_at(guint i)
{
    return (gfloat)((i * 37 + 11) % 23) / 11 - 1; /* -1 to 1 */
}

/* As the files say it whose outputs these are. */
static enum tdl_layout layout_of(const struct tdl_tensor_params *p)
{
    return p->rank == 4 && p->shape[2] == H ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
}

/* Runs the decoder over an output of that shape, whose element i is value_at(i), or a
 * label: what comes out is a mask of W x H. */
static void run(struct fixture *f, const struct tdl_tensor_params *params, gfloat mask[W * H])
{
    struct tdl_tensor_params desc = *params;
    const gsize size = tdl_tensor_params_size(&desc);
    const guint count = size / tdl_dtype_size(desc.dtype);
    struct tdl_binding in = { "x", NULL }, out = { "x", NULL };
    struct tdl_builder *b;
    struct tdl_graph *graph;
    guint8 bytes[8 * MAX_VALUES];

    for (guint i = 0; i < count; i++) {
        const gfloat real = value_at(i);
        const gint64 label = i % 4;

        if (desc.dtype == TDL_FLOAT32)
            memcpy(bytes + 4 * i, &real, 4);
        else
            memcpy(bytes + tdl_dtype_size(desc.dtype) * i, &label, tdl_dtype_size(desc.dtype));
    }
    fail_unless(tdl_builder_create(f->context, &b) == TDL_OK);
    tdl_builder_set_input_layout(b, layout_of(&desc));
    struct tdl_operand *x = tdl_builder_input(b, "x", &desc);
    struct tdl_operand *y = gst_tdl_decode_output(&f->decode, b, "x", x);
    if (y)
        tdl_builder_output(b, "x", y);
    else
        gst_tdl_decode_finish(&f->decode, b);
    g_clear_pointer(&f->decode.kept, g_array_unref);
    fail_unless(f->decode.found, "%s", tdl_builder_error(b));
    fail_unless(tdl_builder_build(b, NULL, &graph) == TDL_OK, "%s", tdl_last_error());
    const struct tdl_tensor_params *p = tdl_graph_output(graph, 0, NULL);
    fail_unless(p->rank == 4 && !p->packing && p->dtype == TDL_FLOAT32 &&
                p->shape[0] == 1 && p->shape[1] == H && p->shape[2] == W && p->shape[3] == 1);
    struct tdl_tensor_params q = *p;
    q.usage = desc.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    fail_unless(tdl_tensor_create(f->context, &desc, &in.tensor) == TDL_OK);
    fail_unless(tdl_tensor_create(f->context, &q, &out.tensor) == TDL_OK);
    fail_unless(tdl_tensor_write(in.tensor, bytes, size, NULL) == TDL_OK);
    fail_unless(tdl_graph_dispatch(graph, &in, 1, &out, 1, NULL) == TDL_OK, "%s", tdl_last_error());
    fail_unless(tdl_tensor_read(out.tensor, mask, W * H * sizeof(*mask)) == TDL_OK);
    tdl_tensor_destroy(&in.tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
}

static const struct tdl_tensor_params four_nchw = {
    .rank = 4, .shape = { 1, 4, H, W } };
static const struct tdl_tensor_params two_nhwc = { .rank = 4, .shape = { 1, H, W, 2 } };

/* Value at pixel i of channel c, of four, NCHW. */
static gfloat channel(guint c, guint i)
{
    return value_at(c * W * H + i);
}

static gdouble softmax(guint c, guint i)
{
    gdouble sum = 0;

    for (guint k = 0; k < 4; k++)
        sum += exp((gdouble)channel(k, i));
    return exp((gdouble)channel(c, i)) / sum;
}

static void expect(const gfloat *mask, guint i, gdouble wanted)
{
    fail_unless(fabs((gdouble)mask[i] - wanted) < 1e-5, "pixel %u is %g instead of %g", i,
                (gdouble)mask[i], wanted);
}

GST_START_TEST(several_classes)
{
    struct fixture f;
    gfloat mask[W * H];

    setup(&f);
    f.decode.trusted = TRUE; /* numbers below 0 are taken for probabilities */
    run(&f, &four_nchw, mask); /* a softmax, and all but the first */
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, 1 - softmax(0, i));
    add_class(&f, 3);
    add_class(&f, 1);
    f.decode.found = FALSE;
    run(&f, &four_nchw, mask);
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, softmax(1, i) + softmax(3, i));
    f.decode.found = FALSE;
    f.settings.sources.decoder = GST_TDL_DECODE_PROBABILITY;
    run(&f, &four_nchw, mask);
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, (gdouble)(channel(1, i) + channel(3, i)));
    f.decode.found = FALSE;
    f.settings.sources.decoder = GST_TDL_DECODE_LOGIT;
    run(&f, &four_nchw, mask);
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, 1 / (1 + exp(-(gdouble)channel(1, i))) +
                            1 / (1 + exp(-(gdouble)channel(3, i))));
    teardown(&f);
}
GST_END_TEST;

GST_START_TEST(two_classes_nhwc)
{
    struct fixture f;
    gfloat mask[W * H];

    setup(&f);
    run(&f, &two_nhwc, mask);
    for (guint i = 0; i < W * H; i++) {
        const gdouble a = exp((gdouble)value_at(2 * i)), b = exp((gdouble)value_at(2 * i + 1));

        expect(mask, i, b / (a + b));
    }
    teardown(&f);
}
GST_END_TEST;

GST_START_TEST(one_channel)
{
    static const struct tdl_tensor_params shapes[] = {
        { .rank = 4, .shape = { 1, H, W, 1 } },
        { .rank = 4, .shape = { 1, 1, H, W } },
        { .rank = 3, .shape = { 1, H, W } },
        { .rank = 2, .shape = { H, W } },
    };

    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
        struct fixture f;
        gfloat mask[W * H];

        setup(&f);
    f.decode.trusted = TRUE;
        run(&f, &shapes[s], mask);
        for (guint i = 0; i < W * H; i++)
            expect(mask, i, (gdouble)value_at(i));
        f.decode.found = FALSE;
        f.settings.sources.decoder = GST_TDL_DECODE_LOGIT;
        run(&f, &shapes[s], mask);
        for (guint i = 0; i < W * H; i++)
            expect(mask, i, 1 / (1 + exp(-(gdouble)value_at(i))));
        teardown(&f);
    }
}
GST_END_TEST;

GST_START_TEST(labels)
{
    static const struct tdl_tensor_params shapes[] = {
        { .dtype = TDL_INT32, .rank = 3, .shape = { 1, H, W } },
        { .dtype = TDL_UINT8, .rank = 4, .shape = { 1, 1, H, W } },
    };

    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
        struct fixture f;
        gfloat mask[W * H];

        setup(&f);
        if (shapes[s].dtype == TDL_UINT8) /* bytes may be shares of 255 */
            f.settings.sources.decoder = GST_TDL_DECODE_LABELS;
        run(&f, &shapes[s], mask);
        for (guint i = 0; i < W * H; i++)
            expect(mask, i, i % 4 != 0);
        add_class(&f, 2);
        add_class(&f, 0);
        f.decode.found = FALSE;
        run(&f, &shapes[s], mask);
        for (guint i = 0; i < W * H; i++)
            expect(mask, i, i % 2 == 0);
        teardown(&f);
    }
}
GST_END_TEST;

/* Masks of 0 to 255, and what is no probability at all. */
GST_START_TEST(ranges)
{
    static const struct tdl_tensor_params bytes = { .dtype = TDL_UINT8,
                                                    .rank = 4,
                                                    .shape = { 1, 1, H, W } };
    static const struct tdl_tensor_params floats = { .rank = 4, .shape = { 1, H, W, 1 } };
    struct fixture f;
    gfloat mask[W * H];

    setup(&f);
    run(&f, &bytes, mask); /* 0 to 3 */
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, (i % 4) / 255.);
    f.decode.found = FALSE;
    f.settings.sources.decoder = GST_TDL_DECODE_PROBABILITY;
    g_free(f.settings.sources.output_range);
    f.settings.sources.output_range = g_strdup("3,1");
    run(&f, &bytes, mask);
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, (3 - i % 4) / 2.);
    f.decode.found = FALSE;
    f.settings.sources.output_range[0] = '\0';
    run(&f, &floats, mask); /* -1 to 1 */
    for (guint i = 0; i < W * H; i++)
        if (value_at(i) < -0.5f)
            fail_unless(isnan(mask[i]), "pixel %u is %g", i, (gdouble)mask[i]);
        else
            expect(mask, i, (gdouble)value_at(i));
    f.decode.found = FALSE;
    f.settings.sources.decoder = GST_TDL_DECODE_LOGIT;
    run(&f, &floats, mask);
    for (guint i = 0; i < W * H; i++)
        expect(mask, i, 1 / (1 + exp(-(gdouble)value_at(i))));
    teardown(&f);
}
GST_END_TEST;

/* Outputs that would be decoded to nonsense are refused. */
GST_START_TEST(refused)
{
    static const struct {
        struct tdl_tensor_params params;
        gint decoder;
        const gchar *words; /* NULL: it is no picture */
        gint class;
    } rows[] = {
        { { .rank = 2, .shape = { 1, 3 } }, GST_TDL_DECODE_AUTO, NULL },
        { { .rank = 3, .shape = { 1, 1, 9 } }, GST_TDL_DECODE_PROBABILITY, NULL },
        { { .rank = 4, .shape = { 1, 1, 1, 9 } }, GST_TDL_DECODE_AUTO, NULL },
        { { .rank = 4, .shape = { 1, H, W, 1 } }, GST_TDL_DECODE_DEPTH, "mode=picture" },
        { { .rank = 4, .shape = { 1, H, W, 4 }, .dtype = TDL_INT64 }, GST_TDL_DECODE_SOFTMAX,
          "decoder=labels" },
        { { .rank = 4, .shape = { 1, H, W, 1 } }, GST_TDL_DECODE_AUTO, "has one class: 0", 1 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct tdl_builder *b;
        struct fixture f;

        setup(&f);
        if (rows[i].class > 0)
            add_class(&f, rows[i].class);
        f.settings.sources.decoder = rows[i].decoder;
        fail_unless(tdl_builder_create(f.context, &b) == TDL_OK);
        tdl_builder_set_input_layout(b, layout_of(&rows[i].params));
        fail_unless(!gst_tdl_decode_output(&f.decode, b, "x",
                                           tdl_builder_input(b, "x", &rows[i].params)));
        gst_tdl_decode_finish(&f.decode, b);
        fail_unless(f.decode.found == (rows[i].words != NULL), "row %u", i);
        fail_unless(!rows[i].words || strstr(tdl_builder_error(b), rows[i].words) != NULL,
                    "row %u: %s", i, tdl_builder_error(b));
        tdl_builder_destroy(&b);
        teardown(&f);
    }
}
GST_END_TEST;

/* The first that is a picture, or the one that is asked for. */
GST_START_TEST(chosen_by_name)
{
    const struct tdl_tensor_params batch = { .rank = 4, .shape = { 2, H, W, 1 } };
    struct tdl_builder *b;
    struct fixture f;

    setup(&f);
    fail_unless(tdl_builder_create(f.context, &b) == TDL_OK);
    struct tdl_operand *x = tdl_builder_input(b, "x", &four_nchw);
    fail_unless(!gst_tdl_decode_output(&f.decode, b, "two", tdl_builder_input(b, "b", &batch)));
    fail_unless(!gst_tdl_decode_output(&f.decode, b, "first", x));
    fail_unless(!gst_tdl_decode_output(&f.decode, b, "second", x));
    gst_tdl_decode_finish(&f.decode, b);
    fail_unless(f.decode.found && strstr(f.decode.others->str, "two [2,2,3,1]"), "%s",
                f.decode.others->str);
    f.decode.found = FALSE;
    g_free(f.settings.sources.model_output);
    f.settings.sources.model_output = g_strdup("second");
    fail_unless(!gst_tdl_decode_output(&f.decode, b, "first", x));
    fail_unless(!f.decode.found && strstr(f.decode.others->str, "first [1,4,2,3]"), "%s",
                f.decode.others->str);
    fail_unless(gst_tdl_decode_output(&f.decode, b, "second", x) != NULL);
    fail_unless(tdl_builder_status(b) == TDL_OK);
    /* Classes that there are not. */
    add_class(&f, 4);
    f.decode.found = FALSE;
    fail_unless(!gst_tdl_decode_output(&f.decode, b, "second", x));
    fail_unless(strstr(tdl_builder_error(b), "\"classes\" has 4, and the model has 4 classes") !=
                    NULL,
                "%s", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    teardown(&f);
}
GST_END_TEST;

static void set(gchar **text, const gchar *value)
{
    g_free(*text);
    *text = g_strdup(value);
}

GST_START_TEST(input_numbers)
{
    struct tdl_frame_to_tensor_params p;
    struct fixture f;
    uint32_t size[2];

    setup(&f);
    fail_unless(gst_tdl_decode_picture(&f.settings.sources, &p, NULL));
    for (guint c = 0; c < 3; c++)
        fail_unless(p.scale[c] == 1 && p.bias[c] == 0);
    set(&f.settings.sources.input_range, "-1,1");
    fail_unless(gst_tdl_decode_picture(&f.settings.sources, &p, NULL));
    fail_unless(p.scale[2] == 2 && p.bias[2] == -1);
    set(&f.settings.sources.input_range, "0,255");
    set(&f.settings.sources.input_mean, "100,50,0");
    set(&f.settings.sources.input_deviation, "1,2,5");
    fail_unless(gst_tdl_decode_picture(&f.settings.sources, &p, NULL));
    fail_unless(p.scale[0] == 255 && p.bias[0] == -100 && p.scale[1] == 127.5f &&
                p.bias[1] == -25 && p.scale[2] == 51 && p.bias[2] == 0);
    fail_unless(gst_tdl_decode_size(&f.settings.sources, size, NULL) && size[0] == 256 &&
                size[1] == 256);
    set(&f.settings.sources.model_size, "320x192");
    fail_unless(gst_tdl_decode_size(&f.settings.sources, size, NULL) && size[0] == 192 &&
                size[1] == 320);
    teardown(&f);
}
GST_END_TEST;

static const struct {
    gsize place;
    const gchar *value, *words;
} wrong[] = {
#define AT(field) offsetof(struct gst_tdl_sources, field)
    { AT(model_size), "320", "WIDTHxHEIGHT" },
    { AT(model_size), "0x1", "WIDTHxHEIGHT" },
    { AT(model_size), "1e9x1", "WIDTHxHEIGHT" },
    { AT(input_range), "1", "two numbers" },
    { AT(input_range), "1,2,3", "two numbers" },
    { AT(input_range), "1,1", "numbers that differ" },
    { AT(input_mean), "0.5", "three numbers" },
    { AT(input_mean), "a,b,c", "three numbers" },
    { AT(input_deviation), "1,0,1", "other than 0" },
    { AT(input_deviation), "1,1,nan", "other than 0" },
};

GST_START_TEST(wrong_numbers)
{
    struct tdl_frame_to_tensor_params p;
    GError *error = NULL;
    struct fixture f;
    uint32_t size[2];

    setup(&f);
    set((gchar **)((gchar *)&f.settings.sources + wrong[__i__].place), wrong[__i__].value);
    fail_unless(!gst_tdl_decode_size(&f.settings.sources, size, &error) ||
                !gst_tdl_decode_picture(&f.settings.sources, &p, &error));
    fail_unless(strstr(error->message, wrong[__i__].words) != NULL, "%s", error->message);
    g_error_free(error);
    teardown(&f);
}
GST_END_TEST;

static Suite *decode_suite(void)
{
    Suite *suite = suite_create("decode");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, several_classes);
    tcase_add_test(tcase, two_classes_nhwc);
    tcase_add_test(tcase, one_channel);
    tcase_add_test(tcase, labels);
    tcase_add_test(tcase, ranges);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, chosen_by_name);
    tcase_add_test(tcase, input_numbers);
    tcase_add_loop_test(tcase, wrong_numbers, 0, G_N_ELEMENTS(wrong));
    return suite;
}

GST_CHECK_MAIN(decode);
