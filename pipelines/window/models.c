/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models.h"

#include <gst/gst.h>
#include <string.h>

extern const char gst_tdl_presets[]; /* gst/models.ini */

static bool is_in(const char *folder, const char *below, const char *file)
{
    g_autofree char *path = g_build_filename(folder, below, file, NULL);

    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* Looks in the folders that the element looks in. */
static bool is_there(const char *file)
{
    const char *const *system = g_get_system_data_dirs();
    g_autoptr(GstPlugin) plugin = gst_registry_find_plugin(gst_registry_get(), "tdlfilter");
    const char *plugin_file = plugin ? gst_plugin_get_filename(plugin) : NULL;
    g_autofree char *folder = plugin_file ? g_path_get_dirname(plugin_file) : NULL;
    bool found = is_in(g_get_user_data_dir(), "tdlfilter/models", file) ||
                 is_in(TDL_MODELS_DIR, ".", file) || (folder && is_in(folder, "models", file));

    for (int i = 0; !found && system[i]; i++)
        found = is_in(system[i], "tdlfilter/models", file);
    return found;
}

static GKeyFile *open_known(void)
{
    GKeyFile *known = g_key_file_new();

    g_key_file_load_from_data(known, gst_tdl_presets, strlen(gst_tdl_presets), G_KEY_FILE_NONE,
                              NULL);
    return known;
}

char *models_text(const char *name, const char *key)
{
    g_autoptr(GKeyFile) known = open_known();

    return g_key_file_get_string(known, name, key, NULL);
}

bool models_has(const char *name)
{
    g_autofree char *file = models_text(name, "file");

    return !file || is_there(file);
}

GStrv models_list(void)
{
    g_autoptr(GKeyFile) known = open_known();
    g_auto(GStrv) names = NULL;
    GPtrArray *list = g_ptr_array_new();

    names = g_key_file_get_groups(known, NULL);
    for (int i = 0; names[i]; i++) {
        g_autofree char *file = g_key_file_get_string(known, names[i], "file", NULL);

        if (g_str_has_prefix(names[i], "person") || (file && is_there(file)))
            g_ptr_array_add(list, g_strdup(names[i]));
    }
    g_ptr_array_add(list, g_strdup("auto"));
    g_ptr_array_add(list, NULL);
    return (GStrv)g_ptr_array_free(list, FALSE);
}
