/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MODEL.modelinfo beside a model: what it says, and what is wrong with it. */
#include "model/gsttdldecode.h"
#include "model/gsttdlmodelinfo.h"

#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#define HEAD "[modelinfo]\nversion=1.0\ngroup-id=g\n"
#define PICTURE HEAD "[picture]\nid=p\ntype=float32\ndims=1,3,192,320\ndir=input\n"

struct fixture {
    struct gst_tdl_settings settings;
    gchar *folder, *model, *info;
};

static void setup(struct fixture *f, const gchar *name, const gchar *text)
{
    gst_tdl_settings_init(&f->settings);
    f->folder = g_dir_make_tmp("tdl-modelinfo-XXXXXX", NULL);
    f->model = g_build_filename(f->folder, "net.v2.onnx", NULL);
    f->info = g_build_filename(f->folder, name, NULL);
    fail_unless(!text || g_file_set_contents(f->info, text, -1, NULL));
}

static void teardown(struct fixture *f)
{
    g_unlink(f->info);
    g_rmdir(f->folder);
    g_free(f->info);
    g_free(f->model);
    g_free(f->folder);
    gst_tdl_settings_finish(&f->settings);
}

static void apply(struct fixture *f)
{
    GError *error = NULL;

    fail_unless(gst_tdl_modelinfo_apply(&f->settings.sources, f->model, &error), "%s",
                error ? error->message : "");
}

/* The numbers that the channels then have for black and white. */
static void expect_range(struct fixture *f, guint channel, gdouble black, gdouble white)
{
    struct tdl_frame_to_tensor_params p;

    fail_unless(gst_tdl_decode_picture(&f->settings.sources, &p, NULL));
    fail_unless(fabs((gdouble)p.bias[channel] - black) < 1e-5 &&
                    fabs((gdouble)(p.bias[channel] + p.scale[channel]) - white) < 1e-5,
                "channel %u is %g to %g", channel, (gdouble)p.bias[channel],
                (gdouble)(p.bias[channel] + p.scale[channel]));
}

GST_START_TEST(without)
{
    struct fixture f;

    setup(&f, "other.modelinfo", NULL);
    apply(&f);
    fail_unless_equals_string(f.settings.sources.model_size, "");
    expect_range(&f, 0, 0, 1);
    teardown(&f);
}
GST_END_TEST;

static const gchar *const names[] = { "net.v2.onnx.modelinfo", "net.v2.modelinfo" };

GST_START_TEST(one_range)
{
    struct fixture f;

    setup(&f, names[__i__],
          PICTURE "ranges=-1.0,1.0\n[mask]\ntype=float32\ndir=output\ndims-order=row-major\n");
    apply(&f);
    fail_unless_equals_string(f.settings.sources.model_size, "320x192");
    fail_unless_equals_string(f.settings.sources.model_output, "mask");
    for (guint c = 0; c < 3; c++)
        expect_range(&f, c, -1, 1);
    teardown(&f);
}
GST_END_TEST;

/* An output is the mask by being alone; of two outputs neither is. */
GST_START_TEST(range_per_channel)
{
    struct fixture f;

    setup(&f, names[0],
          PICTURE "ranges=-2.1,2.6; -2, 2.4;0,255\n[a]\ndir=output\n[b]\ndir=output\n"
                  "[tdlfilter]\ndecoder=logit\nclasses=<15,7>\ninput-filter=bilinear\n");
    apply(&f);
    fail_unless_equals_int(f.settings.sources.input_filter, GST_TDL_FILTER_BILINEAR);
    fail_unless_equals_string(f.settings.sources.model_output, "");
    fail_unless_equals_int(f.settings.sources.decoder, GST_TDL_DECODE_LOGIT);
    fail_unless_equals_int(f.settings.sources.classes->len, 2);
    expect_range(&f, 0, -2.1, 2.6);
    expect_range(&f, 1, -2, 2.4);
    expect_range(&f, 2, 0, 255);
    teardown(&f);
}
GST_END_TEST;

GST_START_TEST(numbers_with_limits)
{
    struct fixture f;

    setup(&f, names[0], HEAD "[tdlfilter]\nscore-threshold=0.85\niou-threshold=1\n");
    apply(&f);
    fail_unless(f.settings.sources.score_threshold == 0.85f);
    fail_unless(f.settings.sources.iou_threshold == 1);
    teardown(&f);
    setup(&f, names[0], HEAD "[tdlfilter]\nscore-threshold=0.85\n");
    f.settings.sources.score_threshold = 0.5f;
    apply(&f);
    fail_unless(f.settings.sources.score_threshold == 0.5f);
    teardown(&f);
}
GST_END_TEST;

GST_START_TEST(link_to_nowhere)
{
    struct fixture f;
    g_autoptr(GError) error = NULL;
    g_autofree gchar *link = NULL;

    setup(&f, "other.modelinfo", NULL);
    link = g_strconcat(f.model, ".modelinfo", NULL);
    fail_unless(!symlink("/nonexistent", link));
    fail_unless(!gst_tdl_modelinfo_apply(&f.settings.sources, f.model, &error));
    fail_unless(strstr(error->message, link) != NULL, "%s", error->message);
    g_unlink(link);
    teardown(&f);
}
GST_END_TEST;

GST_START_TEST(properties_come_first)
{
    struct fixture f;

    setup(&f, names[0], PICTURE "ranges=-1.0,1.0\n[tdlfilter]\nmodel-size=64x64\n");
    gst_tdl_sources_fill(&f.settings.sources, "input-deviation", "0.5,0.5,0.5");
    apply(&f);
    fail_unless_equals_string(f.settings.sources.model_size, "64x64");
    expect_range(&f, 1, 0, 2); /* the ranges would mean something else with that */
    teardown(&f);
}
GST_END_TEST;

/* A quantized output's ranges are those of its integers. */
GST_START_TEST(quantized)
{
    struct fixture f;

    setup(&f, names[0], HEAD "[x]\ntype=uint8\ndims=-1,-1,-1,3\ndir=input\nranges=0.0,255.0;\n");
    apply(&f);
    fail_unless_equals_string(f.settings.sources.model_size, "");
    expect_range(&f, 0, 0, 1);
    teardown(&f);
}
GST_END_TEST;

static const struct {
    const gchar *text, *words[3];
} wrong[] = {
    { "no key file", { "net.v2.onnx.modelinfo", "take it away" } },
    { "[x]\ndir=input\n", { "[modelinfo]", "\"version\"", "missing" } },
    { "[modelinfo]\nversion=2.0\n", { "[modelinfo]", "\"2.0\"", "versions 1.x" } },
    { "[modelinfo]\nversion=1\n", { "\"1\"", "version=1.0" } },
    { HEAD "[tdlfilter]\nscore-threshold=7\n", { "score-threshold", "\"7\"" } },
    { HEAD "[tdlfilter]\nrefine=maybe\n", { "refine", "\"maybe\"" } },
    { HEAD "[tdlfilter]\nfeather=2\n", { "feather", "\"2\"" } },
    { HEAD "[tdlfilter]\niou-threshold=nan\n", { "iou-threshold", "\"nan\"" } },
    { HEAD "[tdlfilter]\nclasses=<-5>\n", { "classes", "<-5>" } },
    { PICTURE "ranges=-1e300,1e300\n", { "ranges", "two numbers" } },
    { HEAD "[x]\ndir=input\nranges=0,1\ndims=3\n", { "dims", "four sizes" } },
    { HEAD "[x]\ntype=float32\n", { "[x]", "\"dir\"", "missing" } },
    { HEAD "[x]\ndir=sideways\n", { "[x]", "\"sideways\"" } },
    { HEAD "[x]\ndir=input\ntype=float31\n", { "\"type\"", "\"float31\"" } },
    { HEAD "[x]\ndir=input\ndims-order=col-major\n", { "\"dims-order\"", "row-major" } },
    { HEAD "[x]\ndir=input\ndims=1,3,a\n", { "[x]", "\"dims\"", "\"1,3,a\"" } },
    { HEAD "[x]\ndir=input\ndims=1,3,0.5\n", { "\"dims\"" } },
    { PICTURE "ranges=0\n", { "[picture]", "\"ranges\"", "MIN,MAX" } },
    { PICTURE "ranges=0,1;0,1\n", { "\"ranges\"", "one pair", "three" } },
    { PICTURE "ranges=1,1\n", { "\"ranges\"", "differ" } },
    { PICTURE "ranges=0,inf\n", { "\"ranges\"" } },
    { PICTURE "ranges=0,1,2\n", { "\"ranges\"" } },
    { HEAD "[tdlfilter]\nblur-radius=3\n", { "[tdlfilter]", "\"blur-radius\"" } },
    { HEAD "[tdlfilter]\npalette=zz\n", { "[tdlfilter]", "\"palette\" is \"zz\"", "0xRRGGBB" } },
    { HEAD "[tdlfilter]\ninput-range=x\n", { "[tdlfilter]", "\"input-range\" is \"x\"" } },
    { HEAD "[tdlfilter]\nmodel-size=9\n", { "[tdlfilter]", "\"model-size\" is \"9\"" } },
    { HEAD "[tdlfilter]\nmodel-state=r\n", { "[tdlfilter]", "\"model-state\" is \"r\"" } },
    { HEAD "[x]\ndir=side\xffways\n", { "[x]", "side", "ways" } },
    { HEAD "[tdlfilter]\npalette=z\xe9z\n", { "[tdlfilter]", "\"palette\"" } },
    { HEAD "[tdlfilter]\ndecoder=none\n", { "[tdlfilter]", "\"decoder\"", "\"none\"" } },
};

GST_START_TEST(wrong_files)
{
    GError *error = NULL;
    struct fixture f;

    setup(&f, names[0], wrong[__i__].text);
    fail_unless(!gst_tdl_modelinfo_apply(&f.settings.sources, f.model, &error));
    fail_unless(strstr(error->message, f.info) != NULL, "%s", error->message);
    fail_unless(g_utf8_validate(error->message, -1, NULL), "%s", error->message);
    for (guint i = 0; i < 3 && wrong[__i__].words[i]; i++)
        fail_unless(strstr(error->message, wrong[__i__].words[i]) != NULL, "%s", error->message);
    g_error_free(error);
    teardown(&f);
}
GST_END_TEST;

static Suite *modelinfo_suite(void)
{
    Suite *suite = suite_create("modelinfo");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, without);
    tcase_add_loop_test(tcase, one_range, 0, G_N_ELEMENTS(names));
    tcase_add_test(tcase, range_per_channel);
    tcase_add_test(tcase, properties_come_first);
    tcase_add_test(tcase, numbers_with_limits);
    tcase_add_test(tcase, link_to_nowhere);
    tcase_add_test(tcase, quantized);
    tcase_add_loop_test(tcase, wrong_files, 0, G_N_ELEMENTS(wrong));
    return suite;
}

GST_CHECK_MAIN(modelinfo);
