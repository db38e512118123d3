/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels.h"

#include <stdio.h>
#include <string.h>

const struct tdl_shader *tdl_shader_find(const char *name)
{
    for (size_t i = 0; i < tdl_shader_count; i++)
        if (!strcmp(tdl_shaders[i].name, name))
            return &tdl_shaders[i];
    return NULL;
}

const struct tdl_shader *tdl_shader_variant(const char *stem, const char *variant, bool chain)
{
    char name[64];
    const struct tdl_shader *found = NULL;
    if (chain) {
        snprintf(name, sizeof(name), "%s%s_chain", stem, variant);
        found = tdl_shader_find(name);
    }
    snprintf(name, sizeof(name), "%s%s", stem, variant);
    return found ? found : tdl_shader_find(name);
}

bool tdl_shaders_have_matrices(void)
{
    for (size_t i = 0; i < tdl_shader_count; i++)
        if (tdl_shaders[i].matrices)
            return true;
    return false;
}

bool tdl_shaders_have_tensors(void)
{
    return tdl_shader_find("matmul_tensors_float") != NULL;
}
