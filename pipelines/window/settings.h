/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings that the window keeps between two runs. */
#ifndef WINDOW_SETTINGS_H
#define WINDOW_SETTINGS_H

#include <glib.h>

struct settings {
    char *path;
    GKeyFile *file;
};

/* `path`: NULL for the one in the user's folder. A missing file is as an empty one. */
void settings_init(struct settings *settings, const char *path);
void settings_finish(struct settings *settings);

/* NULL, or why it could not be written. g_error_free. */
GError *settings_write(const struct settings *settings);

/* Values of the window's group; g_free. */
char *settings_text(const struct settings *settings, const char *key, const char *otherwise);
int settings_number(const struct settings *settings, const char *key, int otherwise);

#define SETTINGS_WINDOW "window"

#endif
