/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models by name: the table itself, and where their files are looked for. */
#include "model/gsttdlpreset.h"
#include "model/gsttdlrung.h"
#include "settings/gsttdlproperties.h"

#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>

extern const char gst_tdl_presets[];

static gchar *folder; /* the user's data */

static GKeyFile *table(void)
{
    GKeyFile *file = g_key_file_new();
    GError *error = NULL;

    fail_unless(g_key_file_load_from_data(file, gst_tdl_presets, strlen(gst_tdl_presets),
                                          G_KEY_FILE_NONE, &error),
                "%s", error ? error->message : "");
    return file;
}

static gchar *model_path(const gchar *file)
{
    return g_build_filename(folder, "tdlfilter", "models", file, NULL);
}

static void choose(struct gst_tdl_settings *settings, const gchar *name)
{
    gst_tdl_settings_init(settings);
    g_free(settings->sources.model);
    settings->sources.model = g_strdup(name);
}

/* Keys that the script does not read are properties of models, with valid values. */
GST_START_TEST(every_line)
{
    static const gchar *const of_script[] = { "what",      "licence", "package", "version",
                                              "integrity", "file",    "sha256",  "with",
                                              "chunks",    "beside",  "beside-sha256",
                                              "finds",     NULL };
    g_autoptr(GKeyFile) file = table();
    g_auto(GStrv) names = g_key_file_get_groups(file, NULL);

    for (guint n = 0; names[n]; n++) {
        g_auto(GStrv) keys = g_key_file_get_keys(file, names[n], NULL, NULL);

        for (guint k = 0; of_script[k] && strcmp(of_script[k], "with"); k++)
            fail_unless(g_key_file_has_key(file, names[n], of_script[k], NULL), "%s: no %s",
                        names[n], of_script[k]);
        for (guint k = 0; keys[k]; k++) {
            g_autofree gchar *text = g_key_file_get_string(file, names[n], keys[k], NULL);
            struct gst_tdl_settings settings;

            gst_tdl_settings_init(&settings);
            fail_unless(g_strv_contains(of_script, keys[k]) ||
                            gst_tdl_sources_fill(&settings.sources, keys[k], text),
                        "%s: %s=%s", names[n], keys[k], text);
            gst_tdl_settings_finish(&settings);
        }
    }
}
GST_END_TEST;

GST_START_TEST(missing)
{
    g_autofree gchar *names = gst_tdl_preset_names();
    struct gst_tdl_settings settings;
    GError *error = NULL;

    fail_unless_equals_string(names, "person, person-square, person-landscape, isnet, "
                                     "text, pose, enlarge, matting, matting-small, "
                                     "matting-hd");
    choose(&settings, "text");
    fail_unless(!gst_tdl_preset_apply(&settings.sources, &error));
    fail_unless(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    fail_unless(strstr(error->message, "tdl-fetch-models text") != NULL &&
                    strstr(error->message, "pipelines/fetch-models.sh text") != NULL,
                "%s", error->message);
    g_error_free(error);
    gst_tdl_settings_finish(&settings);
    /* No name of the table: somebody else's business. */
    choose(&settings, "./text");
    fail_unless(gst_tdl_preset_apply(&settings.sources, NULL));
    fail_unless_equals_string(settings.sources.model, "./text");
    gst_tdl_settings_finish(&settings);
}
GST_END_TEST;

/* One of two files is not enough. */
GST_START_TEST(half_of_it)
{
    g_autofree gchar *path = model_path("realesr-animevideov3-x2.param");
    g_autofree gchar *beside = model_path("realesr-animevideov3-x2.bin");
    struct gst_tdl_settings settings;
    GError *error = NULL;

    fail_unless(g_file_set_contents(path, "x", 1, NULL));
    choose(&settings, "enlarge");
    fail_unless(!gst_tdl_preset_apply(&settings.sources, &error));
    fail_unless(strstr(error->message, "fetch-models.sh enlarge") != NULL &&
                    strstr(error->message, "-x2.param and realesr-animevideov3-x2.bin") != NULL,
                "%s", error->message);
    g_error_free(error);
    fail_unless(g_file_set_contents(beside, "x", 1, NULL));
    fail_unless(gst_tdl_preset_apply(&settings.sources, NULL));
    gst_tdl_settings_finish(&settings);
    g_unlink(path);
    g_unlink(beside);
}
GST_END_TEST;

GST_START_TEST(found)
{
    g_autofree gchar *path = model_path("pose_landmark_lite.tflite");
    struct gst_tdl_settings settings;
    const struct gst_tdl_sources *s = &settings.sources;

    fail_unless(g_file_set_contents(path, "x", 1, NULL));
    choose(&settings, "pose");
    fail_unless(gst_tdl_preset_apply(&settings.sources, NULL));
    fail_unless_equals_string(s->model, path);
    fail_unless_equals_string(s->model_output, "Identity_2");
    fail_unless_equals_int(s->decoder, GST_TDL_DECODE_LOGIT);
    gst_tdl_settings_finish(&settings);
    /* Values that the user has set stay. */
    choose(&settings, "pose");
    settings.sources.decoder = GST_TDL_DECODE_PROBABILITY;
    g_free(settings.sources.model_output);
    settings.sources.model_output = g_strdup("mine");
    fail_unless(gst_tdl_preset_apply(&settings.sources, NULL));
    fail_unless_equals_string(s->model_output, "mine");
    fail_unless_equals_int(s->decoder, GST_TDL_DECODE_PROBABILITY);
    gst_tdl_settings_finish(&settings);
    g_unlink(path);
}
GST_END_TEST;

/* The person model, where it is not built in. */
GST_START_TEST(person)
{
    static const gchar *const names[][2] = {
        { "", "selfie_segmentation.tflite" },
        { "person", "selfie_segmentation.tflite" },
        { "person-landscape", "selfie_segmentation_landscape.tflite" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree gchar *path = model_path(names[i][1]);
        struct gst_tdl_settings settings;

        fail_unless(g_file_set_contents(path, "x", 1, NULL));
        choose(&settings, names[i][0]);
        fail_unless(gst_tdl_preset_apply(&settings.sources, NULL));
        fail_unless_equals_string(settings.sources.model, path);
        gst_tdl_settings_finish(&settings);
        g_unlink(path);
    }
}
GST_END_TEST;

/* The foreground's output is found for each network of the table: by its name where it is built in,
 * by its file where it is fetched. */
GST_START_TEST(finds)
{
    static const gchar *const people[] = { "person", "person-square", "person-landscape", "pose",
                                           "matting", "matting-small", "matting-hd", NULL };
    g_autoptr(GKeyFile) file = table();
    g_auto(GStrv) names = g_key_file_get_groups(file, NULL);

    for (guint i = 0; names[i]; i++) {
        const gchar *wanted = g_strv_contains(people, names[i]) ? "person" : NULL;
        g_autofree gchar *its = g_key_file_get_string(file, names[i], "file", NULL);
        g_autofree gchar *with = g_key_file_get_string(file, names[i], "beside", NULL);
        g_autofree gchar *path = model_path(its), *beside = with ? model_path(with) : NULL;

        fail_unless(g_file_set_contents(path, "x", 1, NULL));
        fail_unless(!beside || g_file_set_contents(beside, "x", 1, NULL));
        fail_unless_equals_string(gst_tdl_preset_finds(names[i]), wanted);
        fail_unless_equals_string(gst_tdl_preset_finds(path), wanted);
        fail_unless_equals_string(gst_tdl_preset_finds(its), NULL); /* any file of that name */
        g_unlink(path);
        if (beside)
            g_unlink(beside);
    }
    fail_unless_equals_string(gst_tdl_preset_finds(""), NULL);
}
GST_END_TEST;

GST_START_TEST(values_from_text)
{
    struct gst_tdl_settings settings;
    struct gst_tdl_sources *s = &settings.sources;

    gst_tdl_settings_init(&settings);
    fail_unless(gst_tdl_sources_fill(s, "classes", "<3,1>"));
    fail_unless(s->classes->len == 2 && g_array_index(s->classes, gint, 1) == 1);
    fail_unless(gst_tdl_sources_fill(s, "classes", "<7>")); /* set already */
    fail_unless(s->classes->len == 2);
    fail_unless(gst_tdl_sources_fill(s, "model-size", "960x544"));
    fail_unless_equals_string(s->model_size, "960x544");
    fail_unless(!gst_tdl_sources_fill(s, "decoder", "no-such-decoder"));
    fail_unless(!gst_tdl_sources_fill(s, "model", "person"));
    fail_unless(!gst_tdl_sources_fill(s, "blur-radius", "3"));
    gst_tdl_settings_finish(&settings);
    gst_tdl_settings_init(&settings);
    fail_unless(!gst_tdl_sources_fill(s, "classes", "<0.5>"));
    fail_unless(!gst_tdl_sources_fill(s, "classes", "seven"));
    gst_tdl_settings_finish(&settings);
}
GST_END_TEST;

/* "auto" has names of the table to choose from, as far as their files are there. */
static gchar *key_of(const struct gst_tdl_settings *settings)
{
    GString *key = g_string_new(NULL);

    gst_tdl_sources_key(&settings->sources, key);
    return g_string_free(key, FALSE);
}

/* Another value than the default. */
static void change(const struct gst_tdl_property *p, gpointer field)
{
    const gint class = 3;

    if (p->kind == STRING) {
        g_free(*(gchar **)field);
        *(gchar **)field = g_strdup("other");
    } else if (p->kind == CLASSES) {
        g_array_append_val(*(GArray **)field, class);
    } else if (p->kind == FLOAT) {
        *(gfloat *)field += 1e-7f; /* another value, which the text has, too */
    } else {
        *(gint *)field += 1;
    }
}

/* Each property that a network is made by is one by which it is shared. */
GST_START_TEST(shared_by)
{
    static const gchar *const apart[] = { "model", "device", "threads", "labels", "background",
                                          "prompt", NULL };
    guint count = 0;

    for (guint i = 0; i < gst_tdl_property_count; i++) {
        const struct gst_tdl_property *p = &gst_tdl_properties[i];
        const gboolean counts = !g_strv_contains(apart, p->name);
        struct gst_tdl_settings settings;
        g_autofree gchar *before = NULL;
        g_autofree gchar *after = NULL;

        if (p->offset < GST_TDL_AT(sources) && !p->look)
            continue;
        gst_tdl_settings_init(&settings);
        before = key_of(&settings);
        change(p, p->look ? (guint8 *)&settings.sources.look + p->look
                          : (guint8 *)&settings + p->offset);
        after = key_of(&settings);
        fail_unless(!strcmp(before, after) == !counts, "%s: \"%s\", \"%s\"", p->name, before,
                    after);
        gst_tdl_settings_finish(&settings);
        count++;
    }
    fail_unless(count > 25, "only %u properties", count);
}
GST_END_TEST;

/* One text that has what stands between two is not the two. */
GST_START_TEST(texts_end)
{
    struct gst_tdl_settings one, two;
    g_autofree gchar *a = NULL;
    g_autofree gchar *b = NULL;

    gst_tdl_settings_init(&one);
    gst_tdl_settings_init(&two);
    gst_tdl_sources_fill(&one.sources, "model-state", "a|b");
    gst_tdl_sources_fill(&two.sources, "model-state", "a");
    gst_tdl_sources_fill(&two.sources, "model-constants", "b|");
    a = key_of(&one);
    b = key_of(&two);
    fail_unless(strcmp(a, b) != 0);
    gst_tdl_settings_finish(&one);
    gst_tdl_settings_finish(&two);
}
GST_END_TEST;

GST_START_TEST(ladder)
{
    g_autofree gchar *path = model_path("rvm.json"), *beside = model_path("rvm.bin");
    g_autoptr(GKeyFile) file = table();
    struct gst_tdl_settings settings;

    for (gint i = 0; i < GST_TDL_RUNGS; i++)
        fail_unless(g_key_file_has_group(file, gst_tdl_rung_name(i)), "%s", gst_tdl_rung_name(i));
    choose(&settings, "auto");
    fail_unless_equals_int(gst_tdl_rungs_here(&settings.sources), 1 << GST_TDL_RUNG_PERSON);
    fail_unless(g_file_set_contents(path, "x", 1, NULL));
    fail_unless_equals_int(gst_tdl_rungs_here(&settings.sources), 1 << GST_TDL_RUNG_PERSON);
    fail_unless(g_file_set_contents(beside, "x", 1, NULL));
    fail_unless_equals_int(gst_tdl_rungs_here(&settings.sources), (1 << GST_TDL_RUNGS) - 1);
    settings.sources.rung = GST_TDL_RUNG_MATTING;
    fail_unless_equals_int(gst_tdl_rung_of(&settings.sources), GST_TDL_RUNG_MATTING);
    settings.sources.output = GST_TDL_OUTPUT_PICTURE; /* modes without a mask */
    fail_unless_equals_int(gst_tdl_rung_of(&settings.sources), GST_TDL_RUNG_PERSON);
    fail_unless_equals_int(gst_tdl_rungs_here(&settings.sources), 1 << GST_TDL_RUNG_PERSON);
    gst_tdl_settings_finish(&settings);
    choose(&settings, "matting");
    fail_unless_equals_int(gst_tdl_rung_of(&settings.sources), GST_TDL_NO_RUNG);
    fail_unless_equals_int(gst_tdl_rungs_here(&settings.sources), 0);
    gst_tdl_settings_finish(&settings);
    g_unlink(path);
    g_unlink(beside);
}
GST_END_TEST;

static Suite *presets_suite(void)
{
    Suite *suite = suite_create("presets");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, every_line);
    tcase_add_test(tcase, missing);
    tcase_add_test(tcase, half_of_it);
    tcase_add_test(tcase, found);
    tcase_add_test(tcase, person);
    tcase_add_test(tcase, finds);
    tcase_add_test(tcase, values_from_text);
    tcase_add_test(tcase, ladder);
    tcase_add_test(tcase, shared_by);
    tcase_add_test(tcase, texts_end);
    return suite;
}

int main(int argc, char **argv)
{
    g_autofree gchar *models = NULL, *tdlfilter = NULL;
    int failed;

    folder = g_dir_make_tmp("tdl-presets-XXXXXX", NULL);
    g_setenv("XDG_DATA_HOME", folder, TRUE);
    tdlfilter = g_build_filename(folder, "tdlfilter", NULL);
    models = g_build_filename(tdlfilter, "models", NULL);
    g_mkdir_with_parents(models, 0700);
    gst_check_init(&argc, &argv);
    failed = gst_check_run_suite(presets_suite(), "presets", __FILE__);
    g_rmdir(models);
    g_rmdir(tdlfilter);
    g_rmdir(folder);
    g_free(folder);
    return failed;
}
