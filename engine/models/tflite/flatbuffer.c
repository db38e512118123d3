/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flatbuffer.h"

#include <string.h>

/* The offsets of the format are 32-bit and tables reach backwards by a signed
 * distance, so no larger file can be valid. */
#define MAX_FILE_SIZE INT32_MAX

static void set_error(struct tdl_flatbuffer *fb, const char *text, uint64_t pos)
{
    if (fb->error)
        return;
    fb->error = text;
    fb->error_pos = pos;
}

/* `size` bytes at `pos`, or NULL with the error set. */
static const uint8_t *bytes_at(struct tdl_flatbuffer *fb, uint64_t pos, uint64_t size)
{
    if (fb->error)
        return NULL;
    if (pos > fb->size || size > fb->size - pos) {
        set_error(fb, "an offset points outside the file", pos);
        return NULL;
    }
    return fb->data + pos;
}

/* Assembled by hand: the machine may be big-endian. */
static uint64_t uint_at(struct tdl_flatbuffer *fb, uint64_t pos, uint32_t size, uint64_t fallback)
{
    const uint8_t *bytes = bytes_at(fb, pos, size);
    uint64_t value = 0;

    if (!bytes)
        return fallback;
    for (uint32_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static int32_t to_i32(uint64_t value)
{
    const uint32_t bits = (uint32_t)value;
    int32_t out;

    memcpy(&out, &bits, sizeof(out));
    return out;
}

static struct tdl_fb_table table_at(struct tdl_flatbuffer *fb, uint64_t pos)
{
    const struct tdl_fb_table none = {0};
    struct tdl_fb_table table = {.pos = pos};
    const int64_t back = to_i32(uint_at(fb, pos, 4, 0));
    const int64_t vtable = (int64_t)pos - back;

    if (fb->error)
        return none;
    if (vtable < 0) {
        set_error(fb, "a table's vtable lies before the file", pos);
        return none;
    }
    table.vtable = (uint64_t)vtable;
    table.vtable_size = uint_at(fb, table.vtable, 2, 0);
    table.size = uint_at(fb, table.vtable + 2, 2, 0);
    if (!fb->error && (table.vtable_size < 4 || table.vtable_size % 2 || table.size < 4))
        set_error(fb, "a table's vtable has an impossible size", table.vtable);
    bytes_at(fb, table.vtable, table.vtable_size);
    bytes_at(fb, pos, table.size);
    return fb->error ? none : table;
}

/* Position of a field's `size` bytes, or 0 when absent or wrong. */
static uint64_t field_at(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                         uint32_t field, uint32_t size)
{
    const uint64_t slot = 4 + 2 * (uint64_t)field;
    uint64_t offset;

    if (fb->error || table->pos == 0 || slot + 2 > table->vtable_size)
        return 0;
    offset = uint_at(fb, table->vtable + slot, 2, 0);
    if (offset == 0)
        return 0;
    if (offset < 4 || offset + size > table->size) {
        set_error(fb, "a field lies outside its table", table->vtable + slot);
        return 0;
    }
    return table->pos + offset;
}

/* Follows the offset stored in a field; 0 when absent or wrong. */
static uint64_t follow_field(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                             uint32_t field)
{
    const uint64_t pos = field_at(fb, table, field, 4);
    uint64_t offset;

    if (pos == 0)
        return 0;
    offset = uint_at(fb, pos, 4, 0);
    if (offset < 4)
        set_error(fb, "an offset points at itself", pos);
    return fb->error ? 0 : pos + offset;
}

struct tdl_fb_table tdl_fb_root(struct tdl_flatbuffer *fb, const char identifier[4])
{
    const struct tdl_fb_table none = {0};
    const uint8_t *id;
    uint64_t offset;

    if (fb->size > MAX_FILE_SIZE) {
        set_error(fb, "the file is larger than 2 GiB", 0);
        return none;
    }
    id = bytes_at(fb, 4, 4);
    if (id && memcmp(id, identifier, 4) != 0)
        set_error(fb, "the file identifier is missing", 4);
    offset = uint_at(fb, 0, 4, 0);
    if (!fb->error && offset < 8)
        set_error(fb, "the root table overlaps the header", 0);
    return fb->error ? none : table_at(fb, offset);
}

uint8_t tdl_fb_u8(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field,
                  uint8_t fallback)
{
    const uint64_t pos = field_at(fb, table, field, 1);

    return pos ? (uint8_t)uint_at(fb, pos, 1, fallback) : fallback;
}

int32_t tdl_fb_i32(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field,
                   int32_t fallback)
{
    const uint64_t pos = field_at(fb, table, field, 4);

    return pos ? to_i32(uint_at(fb, pos, 4, (uint32_t)fallback)) : fallback;
}

uint64_t tdl_fb_u64(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field,
                    uint64_t fallback)
{
    const uint64_t pos = field_at(fb, table, field, 8);

    return pos ? uint_at(fb, pos, 8, fallback) : fallback;
}

bool tdl_fb_has(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field)
{
    return field_at(fb, table, field, 1) != 0;
}

struct tdl_fb_table tdl_fb_sub_table(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                                     uint32_t field)
{
    const uint64_t pos = follow_field(fb, table, field);

    return pos ? table_at(fb, pos) : (struct tdl_fb_table){0};
}

struct tdl_fb_vector tdl_fb_vector_of(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                                      uint32_t field, uint32_t element_size)
{
    const struct tdl_fb_vector none = {0};
    const uint64_t pos = follow_field(fb, table, field);
    struct tdl_fb_vector vector = {.pos = pos + 4, .present = true};

    if (pos == 0)
        return none;
    vector.count = (uint32_t)uint_at(fb, pos, 4, 0);
    bytes_at(fb, vector.pos, (uint64_t)vector.count * element_size);
    return fb->error ? none : vector;
}

const char *tdl_fb_string(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                          uint32_t field)
{
    const struct tdl_fb_vector text = tdl_fb_vector_of(fb, table, field, 1);
    const uint8_t *bytes;

    if (!text.present)
        return NULL;
    bytes = bytes_at(fb, text.pos, (uint64_t)text.count + 1);
    if (bytes && bytes[text.count] != 0) {
        set_error(fb, "a string has no end", text.pos);
        return NULL;
    }
    return (const char *)bytes;
}

static uint64_t element_at(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                           uint32_t index, uint32_t size)
{
    if (fb->error)
        return 0;
    if (index >= vector->count) {
        set_error(fb, "an index is larger than its list", vector->pos);
        return 0;
    }
    return vector->pos + size * (uint64_t)index;
}

int32_t tdl_fb_vector_i32(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                          uint32_t index)
{
    const uint64_t pos = element_at(fb, vector, index, 4);

    return pos ? to_i32(uint_at(fb, pos, 4, 0)) : 0;
}

int64_t tdl_fb_vector_i64(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                          uint32_t index)
{
    const uint64_t pos = element_at(fb, vector, index, 8);
    const uint64_t bits = pos ? uint_at(fb, pos, 8, 0) : 0;
    int64_t out;

    memcpy(&out, &bits, sizeof(out));
    return out;
}

float tdl_fb_vector_f32(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                        uint32_t index)
{
    const int32_t bits = tdl_fb_vector_i32(fb, vector, index);
    float out;

    memcpy(&out, &bits, sizeof(out));
    return out;
}

struct tdl_fb_table tdl_fb_vector_table(struct tdl_flatbuffer *fb,
                                        const struct tdl_fb_vector *vector, uint32_t index)
{
    const struct tdl_fb_table none = {0};
    const uint64_t pos = element_at(fb, vector, index, 4);
    uint64_t offset;

    if (pos == 0)
        return none;
    offset = uint_at(fb, pos, 4, 0);
    if (!fb->error && offset < 4)
        set_error(fb, "an offset points at itself", pos);
    return fb->error ? none : table_at(fb, pos + offset);
}
