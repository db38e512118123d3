/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models that the element knows by name, as far as their files are there. */
#ifndef WINDOW_MODELS_H
#define WINDOW_MODELS_H

#include <glib.h>
#include <stdbool.h>

/* Names; the person models always, as they may be built in. g_strfreev. */
GStrv models_list(void);

/* Whether the file of that name is there; true of names that nobody knows. */
bool models_has(const char *name);

/* What models.ini says of it; NULL: nothing. g_free. */
char *models_text(const char *name, const char *key);

#endif
