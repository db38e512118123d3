/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlpreset.h"

#include <dlfcn.h>
#include <string.h>

extern const char gst_tdl_presets[]; /* models.ini */

static GKeyFile *open_presets(void)
{
    GKeyFile *presets = g_key_file_new();
    gboolean ok = g_key_file_load_from_data(presets, gst_tdl_presets, strlen(gst_tdl_presets),
                                            G_KEY_FILE_NONE, NULL);

    g_assert(ok); /* the tests look at every line */
    return presets;
}

gchar *gst_tdl_preset_names(void)
{
    g_autoptr(GKeyFile) presets = open_presets();
    g_auto(GStrv) names = g_key_file_get_groups(presets, NULL);

    return g_strjoinv(", ", names);
}

/* The folder beside the plugin, which only a build's folder has. */
static gchar *build_folder(void)
{
    g_autofree gchar *folder = NULL;
    Dl_info us;

    if (!dladdr(gst_tdl_presets, &us) || !us.dli_fname)
        return NULL;
    folder = g_path_get_dirname(us.dli_fname);
    return g_build_filename(folder, "models", NULL);
}

/* The user's, where tdl-fetch-models puts them for all, this prefix's, the system's. */
static GStrv folders(void)
{
    const gchar *const *system = g_get_system_data_dirs();
    GPtrArray *list = g_ptr_array_new();
    gchar *build = build_folder();

    if (build)
        g_ptr_array_add(list, build);
    g_ptr_array_add(list, g_build_filename(g_get_user_data_dir(), "tdlfilter", "models", NULL));
    g_ptr_array_add(list, g_strdup(TDL_MODELS_DIR));
    g_ptr_array_add(list, g_build_filename(TDL_DATA_DIR, "tdlfilter", "models", NULL));
    for (guint i = 0; system[i]; i++)
        g_ptr_array_add(list, g_build_filename(system[i], "tdlfilter", "models", NULL));
    g_ptr_array_add(list, NULL);
    return (GStrv)g_ptr_array_free(list, FALSE);
}

/* `beside`: what lies with it, or NULL. */
static gchar *find_file(const gchar *name, const gchar *file, const gchar *beside, GError **error)
{
    g_auto(GStrv) where = folders();

    for (guint i = 0; where[i]; i++) {
        g_autofree gchar *path = g_build_filename(where[i], file, NULL);
        g_autofree gchar *other = g_build_filename(where[i], beside ? beside : file, NULL);

        if (g_file_test(path, G_FILE_TEST_EXISTS) && g_file_test(other, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&path);
    }
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                "Model \"%s\" is not fetched yet: run tdl-fetch-models %s (in the source tree of "
                "tdlfilter it is pipelines/fetch-models.sh %s), or put %s%s%s into "
                "%s/tdlfilter/models, or set model=FILE to a TensorFlow Lite, TensorFlow.js, "
                "ONNX or ncnn model.",
                name, name, name, file, beside ? " and " : "", beside ? beside : "",
                g_get_user_data_dir());
    return NULL;
}

/* The preset's file in the folders; NULL with `error`. */
static gchar *find_named(GKeyFile *presets, const gchar *name, GError **error)
{
    g_autofree gchar *file = g_key_file_get_string(presets, name, "file", NULL);
    g_autofree gchar *beside = g_key_file_get_string(presets, name, "beside", NULL);

    return find_file(name, file, beside, error);
}

gboolean gst_tdl_preset_exists(const gchar *name)
{
    g_autoptr(GKeyFile) presets = open_presets();
    g_autofree gchar *path =
        g_key_file_has_group(presets, name) ? find_named(presets, name, NULL) : NULL;

    return path != NULL;
}

const gchar *gst_tdl_preset_finds(const gchar *model)
{
    g_autoptr(GKeyFile) presets = open_presets();
    g_auto(GStrv) names = g_key_file_get_groups(presets, NULL);
    const gchar *finds = NULL;

    for (guint i = 0; names[i] && !finds; i++) {
        g_autofree gchar *text = g_key_file_get_string(presets, names[i], "finds", NULL);
        g_autofree gchar *path = text ? find_named(presets, names[i], NULL) : NULL;

        if (text && (!strcmp(model, names[i]) || !g_strcmp0(model, path)))
            finds = g_intern_string(text);
    }
    return finds;
}

/* Keys that are no properties are the script's. */
static void fill(struct gst_tdl_sources *sources, GKeyFile *presets, const gchar *name)
{
    g_auto(GStrv) keys = g_key_file_get_keys(presets, name, NULL, NULL);

    for (guint i = 0; keys && keys[i]; i++) {
        g_autofree gchar *text = g_key_file_get_string(presets, name, keys[i], NULL);

        gst_tdl_sources_fill(sources, keys[i], text);
    }
}

static const gchar *name_of(const struct gst_tdl_sources *sources)
{
    return *sources->model ? sources->model : "person";
}

void gst_tdl_preset_fill(struct gst_tdl_sources *sources)
{
    g_autoptr(GKeyFile) presets = open_presets();

    fill(sources, presets, name_of(sources));
}

gboolean gst_tdl_preset_apply(struct gst_tdl_sources *sources, GError **error)
{
    g_autoptr(GKeyFile) presets = open_presets();
    const gchar *name = name_of(sources);
    gchar *path;

    if (!g_key_file_has_group(presets, name))
        return TRUE;
    path = find_named(presets, name, error);
    if (!path)
        return FALSE;
    fill(sources, presets, name);
    g_free(sources->model);
    sources->model = path;
    return TRUE;
}
