/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blobs of an ncnn model by their names, which stay in its text: a few bytes for
 * each, as a small file can have very many. */
#include "ncnn.h"

#include "map.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH 255 /* longest name, as ncnn has it */

/* The slot of a name, or the free one where it would be. */
static uint32_t find_slot(const struct ncnn_import *im, const char *name, uint32_t length)
{
    uint32_t slot = (uint32_t)tdl_hash_bytes(TDL_HASH_START, name, length) & (im->slot_count - 1);

    while (im->slots[slot]) {
        const struct ncnn_blob *blob = &im->blobs[im->slots[slot] - 1];

        if (blob->length == length && !memcmp(blob->name, name, length))
            break;
        slot = (slot + 1) & (im->slot_count - 1);
    }
    return slot;
}

/* Room for another one: half of the slots stay free. */
static bool grow(struct ncnn_import *im)
{
    const uint32_t capacity = 2 * im->blob_capacity + 64;
    struct ncnn_blob *blobs;
    uint32_t *slots;

    if (im->blob_count == im->blob_capacity) {
        blobs = realloc(im->blobs, capacity * sizeof(*blobs));
        if (!blobs)
            return false;
        im->blobs = blobs;
        im->blob_capacity = capacity;
    }
    if (2 * im->blob_count < im->slot_count)
        return true;
    slots = calloc(im->slot_count ? 2 * (size_t)im->slot_count : 128, sizeof(*slots));
    if (!slots)
        return false;
    free(im->slots);
    im->slots = slots;
    im->slot_count = im->slot_count ? 2 * im->slot_count : 128;
    for (uint32_t i = 0; i < im->blob_count; i++)
        slots[find_slot(im, im->blobs[i].name, im->blobs[i].length)] = i + 1;
    return true;
}

bool ncnn_find_blob(struct ncnn_import *im, const char *name, uint32_t length, bool fresh,
                    uint32_t *out)
{
    const bool is_name = length > 0 && length <= MAX_LENGTH;
    uint32_t slot;

    if (!grow(im)) {
        tdl_kit_fail_memory(&im->kit);
        return false;
    }
    slot = is_name ? find_slot(im, name, length) : 0;
    if (!is_name || !im->slots[slot] != fresh) {
        tdl_kit_damaged(&im->kit, "the model file is damaged: blob '%.*s' in line %u is %s",
                        length < 80 ? (int)length : 80, name, im->text.line,
                        !is_name ? "no name"
                        : fresh  ? "written twice"
                                 : "read before a layer writes it");
        return false;
    }
    if (fresh) {
        im->slots[slot] = ++im->blob_count;
        im->blobs[im->blob_count - 1] = (struct ncnn_blob){.name = name, .length = length};
    }
    *out = im->slots[slot] - 1;
    return true;
}
