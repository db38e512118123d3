/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cache_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tdl_cache_folder(const char *wanted)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[1024];
    int length;
    if (wanted)
        return *wanted ? strdup(wanted) : NULL;
    if (base && *base == '/') /* others are to be ignored (XDG Base Directory Specification) */
        length = snprintf(path, sizeof(path), "%s/tdl", base);
    else if (home && *home)
        length = snprintf(path, sizeof(path), "%s/.cache/tdl", home);
    else
        return NULL;
    return length < (int)sizeof(path) ? strdup(path) : NULL;
}
