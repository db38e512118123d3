/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of Vulkan's functions by name, as the layer's parts put their own into their place. */
#ifndef TDL_TEST_ROWS_H
#define TDL_TEST_ROWS_H

#include <string.h>
#include <vulkan/vulkan.h>

struct row {
    const char *name;
    PFN_vkVoidFunction function;
};

/* clang-format off */
#define ROW(NAME, FUNCTION) {#NAME, (PFN_vkVoidFunction)FUNCTION}
/* clang-format on */

/* NULL where the table has no function of that name. */
static inline PFN_vkVoidFunction find(const struct row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].function;
    return NULL;
}

#define FIND(ROWS, NAME) find(ROWS, sizeof(ROWS) / sizeof(*(ROWS)), NAME)

#endif
