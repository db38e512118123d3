/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "setup.h"

#include <stdlib.h>
#include <string.h>

bool tdl_setup_has(const struct tdl_setup *setup, const char *extension)
{
    for (uint32_t i = 0; i < setup->extension_count; i++)
        if (!strcmp(setup->extensions[i], extension))
            return true;
    return false;
}

void tdl_setup_finish(struct tdl_setup *setup)
{
    for (uint32_t i = 0; i < setup->extension_count; i++)
        free((char *)setup->extensions[i]);
    free(setup->extensions);
    setup->extensions = NULL;
    setup->extension_count = 0;
}
