/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings.h"

void settings_init(struct settings *settings, const char *path)
{
    settings->path = path
                         ? g_strdup(path)
                         : g_build_filename(g_get_user_config_dir(), "tdlfilter", "demo.ini", NULL);
    settings->file = g_key_file_new();
    g_key_file_load_from_file(settings->file, settings->path, G_KEY_FILE_KEEP_COMMENTS, NULL);
}

void settings_finish(struct settings *settings)
{
    g_key_file_unref(settings->file);
    g_free(settings->path);
}

GError *settings_write(const struct settings *settings)
{
    g_autofree char *folder = g_path_get_dirname(settings->path);
    GError *error = NULL;

    g_mkdir_with_parents(folder, 0700); /* saving the file will report a failure */
    g_key_file_save_to_file(settings->file, settings->path, &error);
    return error;
}

char *settings_text(const struct settings *settings, const char *key, const char *otherwise)
{
    char *text = g_key_file_get_string(settings->file, SETTINGS_WINDOW, key, NULL);

    return text ? text : g_strdup(otherwise);
}

int settings_number(const struct settings *settings, const char *key, int otherwise)
{
    return g_key_file_has_key(settings->file, SETTINGS_WINDOW, key, NULL)
               ? g_key_file_get_integer(settings->file, SETTINGS_WINDOW, key, NULL)
               : otherwise;
}
