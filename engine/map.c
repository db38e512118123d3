/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "map.h"

#include <stdlib.h>
#include <string.h>

uint64_t tdl_hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 0x100000001b3ull;
    return hash;
}

/* Finds the slot where the key is, or would be: open addressing, never more than half
 * full. */
static struct tdl_map_entry *slot_of(const struct tdl_map *map, const uint8_t *key)
{
    uint32_t mask = map->capacity - 1;
    uint64_t hash = tdl_hash_bytes(TDL_HASH_START, key, TDL_MAP_KEY);
    uint32_t i = (uint32_t)(hash ^ hash >> 32) & mask;
    while (map->entries[i].used && memcmp(map->entries[i].key, key, TDL_MAP_KEY) != 0)
        i = (i + 1) & mask;
    return &map->entries[i];
}

static void pad(uint8_t out[TDL_MAP_KEY], const void *key, size_t size)
{
    memset(out, 0, TDL_MAP_KEY);
    memcpy(out, key, size < TDL_MAP_KEY ? size : TDL_MAP_KEY);
}

uint64_t *tdl_map_find(const struct tdl_map *map, const void *key, size_t size)
{
    uint8_t padded[TDL_MAP_KEY];
    if (!map->count)
        return NULL;
    pad(padded, key, size);
    struct tdl_map_entry *e = slot_of(map, padded);
    return e->used ? &e->value : NULL;
}

static bool grow(struct tdl_map *map)
{
    struct tdl_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
    if (!larger.entries)
        return false;
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->entries[i].used)
            *slot_of(&larger, map->entries[i].key) = map->entries[i];
    larger.count = map->count;
    free(map->entries);
    *map = larger;
    return true;
}

bool tdl_map_add(struct tdl_map *map, const void *key, size_t size, uint64_t value)
{
    uint8_t padded[TDL_MAP_KEY];
    if (2 * (map->count + 1) > map->capacity && !grow(map))
        return false;
    pad(padded, key, size);
    struct tdl_map_entry *e = slot_of(map, padded);
    map->count += !e->used;
    memcpy(e->key, padded, sizeof(padded));
    e->value = value;
    e->used = true;
    return true;
}

bool tdl_map_copy(const struct tdl_map *map, struct tdl_map *out)
{
    *out = *map;
    out->entries = calloc(map->capacity + (size_t)1, sizeof(*out->entries));
    if (out->entries && map->capacity)
        memcpy(out->entries, map->entries, map->capacity * sizeof(*out->entries));
    return out->entries != NULL;
}

void tdl_map_finish(struct tdl_map *map)
{
    free(map->entries);
    *map = (struct tdl_map){0};
}
