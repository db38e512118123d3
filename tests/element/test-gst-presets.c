/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's presets: those of GstTdlFilter.prs, and what a user's are made of. */
#include "util.h"

#include <glib/gstdio.h>

static gchar *folder; /* the user's data */

static const gchar *const of_presets[] = {
    "mode",         "background-color", "overlay-color", "opacity",   "blur-radius",
    "blur-share",   "threshold",        "feather",       "smoothing", "refine",
    "close-holes",  "min-area",         "grow",          "invert",    "interval",
    "latency-mode", "despill",          "light-wrap",    NULL};

/* Properties of a model, a machine or a pipeline; presets must not have them. */
static const gchar *const not_of_presets[] = {"name",
                                              "parent",
                                              "qos",
                                              "model",
                                              "device",
                                              "threads",
                                              "precision",
                                              "fuse",
                                              "classes",
                                              "model-size",
                                              "model-output",
                                              "model-outputs",
                                              "boxes-in-frame",
                                              "foreground-output",
                                              "model-state",
                                              "model-constants",
                                              "model-pictures",
                                              "decoder",
                                              "decoder-model",
                                              "prompt",
                                              "fail-closed",
                                              "max-interval",
                                              "max-rate",
                                              "presence",
                                              "presence-share",
                                              "presence-delay",
                                              "meta",
                                              "roi",
                                              "score-threshold",
                                              "iou-threshold",
                                              "input-range",
                                              "input-mean",
                                              "input-deviation",
                                              "input-fit",
                                              "tile-overlap",
                                              "input-order",
                                              "input-filter",
                                              "output-range",
                                              "colormap",
                                              "background",
                                              "palette",
                                              "labels",
                                              "batch-size",
                                              "batch-timeout",
                                              "require-zero-copy",
                                              "import-path",
                                              "export-path",
                                              "stats",
                                              NULL};

static GstElement *element_new(void)
{
    return gst_object_ref_sink(gst_element_factory_make("tdlfilter", NULL));
}

/* A new property belongs to one of the two. */
GST_START_TEST(names)
{
    GstElement *element = element_new();
    g_auto(GStrv) got = gst_preset_get_property_names(GST_PRESET(element));
    GParamSpec **specs;
    guint count;

    specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    for (guint i = 0; i < count; i++) {
        gboolean is = g_strv_contains((const gchar *const *)got, specs[i]->name);

        fail_unless(is == g_strv_contains(of_presets, specs[i]->name), "%s", specs[i]->name);
        fail_unless(is != g_strv_contains(not_of_presets, specs[i]->name), "%s", specs[i]->name);
    }
    fail_unless_equals_int(g_strv_length(got), g_strv_length((gchar **)of_presets));
    g_free(specs);
    gst_object_unref(element);
}
GST_END_TEST;

/* ------------------------------------------------------------------- the file */

static GKeyFile *presets_read(const gchar *path)
{
    GKeyFile *file = g_key_file_new();
    GError *error = NULL;

    fail_unless(g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error), "%s",
                error ? error->message : "");
    return file;
}

static void expect_value(GstElement *element, const gchar *preset, const gchar *name,
                         const gchar *text)
{
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
    GValue wanted = G_VALUE_INIT, got = G_VALUE_INIT;

    fail_unless(spec && g_strv_contains(of_presets, name), "%s: %s", preset, name);
    g_value_init(&wanted, spec->value_type);
    g_value_init(&got, spec->value_type);
    fail_unless(gst_value_deserialize(&wanted, text), "%s: %s=%s", preset, name, text);
    fail_if(g_param_value_validate(spec, &wanted), "%s: %s=%s", preset, name, text);
    g_object_get_property(G_OBJECT(element), name, &got);
    fail_unless_equals_int(g_param_values_cmp(spec, &wanted, &got), 0);
    g_value_unset(&wanted);
    g_value_unset(&got);
}

/* The preset's values are taken, and its description can be read. Nothing of the preset before
 * still affects the mask. */
static void expect_preset(GstElement *element, GKeyFile *file, const gchar *name)
{
    static const gchar *const always[] = {
        "mode", "threshold", "feather",  "smoothing",    "refine",  "close-holes", "min-area",
        "grow", "invert",    "interval", "latency-mode", "despill", "light-wrap"};
    g_auto(GStrv) keys = g_key_file_get_keys(file, name, NULL, NULL);
    g_autofree gchar *comment = NULL;

    fail_unless(gst_preset_get_meta(GST_PRESET(element), name, "comment", &comment), "%s", name);
    fail_unless(comment && *comment, "%s has no comment", name);
    for (guint i = 0; i < G_N_ELEMENTS(always); i++)
        fail_unless(g_key_file_has_key(file, name, always[i], NULL), "%s: no %s", name, always[i]);
    fail_unless(gst_preset_load_preset(GST_PRESET(element), name), "%s", name);
    for (guint i = 0; keys[i]; i++) {
        g_autofree gchar *text = g_key_file_get_value(file, name, keys[i], NULL);

        if (!g_str_has_prefix(keys[i], "_meta/"))
            expect_value(element, name, keys[i], text);
    }
}

/* By what people type. */
GST_START_TEST(names_in_any_case)
{
    static const struct {
        const gchar *name;
        gboolean there;
        gfloat threshold;
    } rows[] = { { "studio", TRUE, 0.6f },      { "CALL", TRUE, 0.5f },
                 { "chroma-key", TRUE, -1 },    { "Chroma key", TRUE, -1 },
                 { "chromakey", TRUE, -1 },     { "stud", FALSE, 0 },
                 { "studios", FALSE, 0 },       { "", FALSE, 0 } };
    GstElement *element = element_new();

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        gfloat threshold;

        g_object_set(element, "threshold", 0.123, NULL);
        fail_unless(gst_preset_load_preset(GST_PRESET(element), rows[i].name) == rows[i].there,
                    "\"%s\"", rows[i].name);
        g_object_get(element, "threshold", &threshold, NULL);
        if (rows[i].threshold >= 0) {
            const gfloat wanted = rows[i].there ? rows[i].threshold : 0.123f;

            fail_unless_equals_float(threshold, wanted);
        } else {
            fail_if(threshold == 0.123f, "\"%s\" sets nothing", rows[i].name);
        }
    }
    gst_object_unref(element);
}
GST_END_TEST;

/* All of them, one after the other while frames go through. */
GST_START_TEST(every_preset)
{
    g_autoptr(GKeyFile) file = presets_read(PRESETS "/GstTdlFilter.prs");
    struct filter filter;
    GstVideoInfo info;
    guint count = 0;

    caps_info("video/x-raw,format=RGB,width=64,height=48,framerate=30/1", &info);
    filter_start(&filter, "mode=overlay",
                 "video/x-raw,format=RGB,width=64,height=48,framerate=30/1");
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    g_auto(GStrv) got = gst_preset_get_preset_names(GST_PRESET(filter.element));
    for (; got[count]; count++) {
        expect_preset(filter.element, file, got[count]);
        gst_buffer_unref(filter_run(&filter, picture_new(&info, count)));
    }
    fail_unless_equals_int(count, 5);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* A user's own: what was saved comes back, and there is nothing else in the file. */
GST_START_TEST(saved)
{
    g_autofree gchar *path =
        g_build_filename(folder, "gstreamer-1.0", "presets", "GstTdlFilter.prs", NULL);
    GstElement *element = element_new(), *other = element_new();
    g_autofree gchar *device = NULL, *model = NULL;
    gfloat grow;
    guint color, batch;
    gint mode;

    gst_util_set_object_arg(G_OBJECT(element), "mode", "replace");
    g_object_set(element, "grow", -2.5, "background-color", 0x80123456u, "device", "gpu", "model",
                 "own.onnx", "batch-size", 4, NULL);
    fail_unless(gst_preset_save_preset(GST_PRESET(element), "Mine"));

    g_autoptr(GKeyFile) file = presets_read(path);
    g_auto(GStrv) keys = g_key_file_get_keys(file, "Mine", NULL, NULL);
    for (guint i = 0; keys[i]; i++)
        fail_unless(g_strv_contains(of_presets, keys[i]), "%s is stored", keys[i]);
    fail_unless_equals_int(g_strv_length(keys), g_strv_length((gchar **)of_presets));

    fail_unless(gst_preset_load_preset(GST_PRESET(other), "Mine"));
    g_object_get(other, "mode", &mode, "grow", &grow, "background-color", &color, "device", &device,
                 "model", &model, "batch-size", &batch, NULL);
    fail_unless_equals_int(mode, 3); /* replace */
    fail_unless_equals_float(grow, -2.5);
    fail_unless_equals_int_hex(color, 0x80123456u);
    fail_unless_equals_string(device, "auto");
    fail_unless_equals_string(model, "person");
    fail_unless_equals_int(batch, 1);
    fail_unless(gst_preset_delete_preset(GST_PRESET(other), "Mine"));
    fail_if(gst_preset_load_preset(GST_PRESET(other), "Mine"));
    gst_object_unref(element);
    gst_object_unref(other);
}
GST_END_TEST;

static void folder_remove(const gchar *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    const gchar *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree gchar *inside = g_build_filename(path, name, NULL);

        folder_remove(inside);
    }
    g_clear_pointer(&dir, g_dir_close);
    g_remove(path);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("tdlfilter-gst-presets");
    TCase *all = tcase_create("all");
    int failed;

    folder = g_dir_make_tmp("tdl-gst-presets-XXXXXX", NULL);
    g_setenv("XDG_DATA_HOME", folder, TRUE);
    g_setenv("GST_PRESET_PATH", PRESETS, TRUE);
    tcase_set_timeout(all, 300);
    tcase_add_test(all, names);
    tcase_add_test(all, every_preset);
    tcase_add_test(all, names_in_any_case);
    tcase_add_test(all, saved);
    suite_add_tcase(suite, all);
    failed = util_main(argc, argv, suite, __FILE__);
    folder_remove(folder);
    g_free(folder);
    return failed;
}
