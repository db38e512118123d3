/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tdl_tuning_entry *find(const struct tdl_tuning *t, const char *layer)
{
    for (uint32_t i = 0; t && i < t->count; i++)
        if (!strcmp(t->entries[i].layer, layer))
            return &t->entries[i];
    return NULL;
}

const char *tdl_tuning_find(const struct tdl_tuning *tuning, const char *layer)
{
    const struct tdl_tuning_entry *e = find(tuning, layer);
    return e ? e->algorithm : NULL;
}

bool tdl_tuning_set(struct tdl_tuning *t, const char *layer, const char *algorithm, uint64_t ns)
{
    struct tdl_tuning_entry *e = find(t, layer);
    if (!e && t->count == t->capacity) {
        uint32_t capacity = t->capacity ? 2 * t->capacity : 32;
        struct tdl_tuning_entry *entries = realloc(t->entries, capacity * sizeof(*entries));
        if (!entries)
            return false;
        t->entries = entries;
        t->capacity = capacity;
    }
    if (!e)
        e = &t->entries[t->count++];
    snprintf(e->layer, sizeof(e->layer), "%s", layer);
    snprintf(e->algorithm, sizeof(e->algorithm), "%s", algorithm);
    e->ns = ns;
    return true;
}

void tdl_tuning_finish(struct tdl_tuning *t)
{
    free(t->entries);
    *t = (struct tdl_tuning){0};
}
