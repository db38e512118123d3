/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table of 64-bit values by keys that are plain bytes: for what is to be
 * found again while a graph is built. Zero-initialised it is empty. */
#ifndef TDL_MAP_H
#define TDL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TDL_MAP_KEY 120 /* bytes of a key, padding zeroed */

struct tdl_map {
    struct tdl_map_entry {
        uint8_t key[TDL_MAP_KEY];
        uint64_t value;
        bool used;
    } * entries;
    uint32_t count, capacity;
};

/* The value's place, which the next tdl_map_add() may move; NULL if there is none. */
uint64_t *tdl_map_find(const struct tdl_map *map, const void *key, size_t size);
/* A new key. False when out of memory: then it is not found later. */
bool tdl_map_add(struct tdl_map *map, const void *key, size_t size, uint64_t value);
/* False when out of memory; `out` then is not to be used. */
bool tdl_map_copy(const struct tdl_map *map, struct tdl_map *out);
void tdl_map_finish(struct tdl_map *map);

#define TDL_HASH_START 0xcbf29ce484222325ull
/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t tdl_hash_bytes(uint64_t hash, const void *data, size_t size);

#endif
