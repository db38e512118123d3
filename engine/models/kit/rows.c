/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of operators, which readers have a row type of their own for. */
#include "kit.h"

#include <string.h>

/* A pointer to a row is one to its first field. */
static const char *name_of(const void *row)
{
    return *(const char *const *)row;
}

const void *tdl_kit_find_row(const struct tdl_kit_tables *tables, const char *name, size_t length)
{
    for (size_t t = 0; t < tables->count; t++)
        for (const char *row = tables->tables[t]; name_of(row); row += tables->size)
            if (length && strlen(name_of(row)) == length && !memcmp(name_of(row), name, length))
                return row;
    return NULL;
}

const char *tdl_kit_row_name(const struct tdl_kit_tables *tables, uint32_t index)
{
    for (size_t t = 0; t < tables->count; t++)
        for (const char *row = tables->tables[t]; name_of(row); row += tables->size)
            if (index-- == 0)
                return name_of(row);
    return NULL;
}
