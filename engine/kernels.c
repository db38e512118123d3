/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels.h"

#include <string.h>

const struct tdl_shader *tdl_shader_find(const char *name)
{
    for (size_t i = 0; i < tdl_shader_count; i++)
        if (!strcmp(tdl_shaders[i].name, name))
            return &tdl_shaders[i];
    return NULL;
}
