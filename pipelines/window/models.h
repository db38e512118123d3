/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models that the element knows by name, as far as their files are there. */
#ifndef WINDOW_MODELS_H
#define WINDOW_MODELS_H

#include <glib.h>
#include <stdbool.h>

/* Names; the person models always, as they may be built in. g_strfreev. */
GStrv models_list(void);

/* True if the model's file is there, and for names that models.ini does not have. */
bool models_has(const char *name);

/* Value of `key` in models.ini; NULL: none. g_free. */
char *models_text(const char *name, const char *key);

#endif
