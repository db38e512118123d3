/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models that the element knows by name, as far as their files are there. */
#ifndef WINDOW_MODELS_H
#define WINDOW_MODELS_H

#include <glib.h>

/* Names; the person models always, as they may be built in. g_strfreev. */
GStrv models_list(void);

#endif
