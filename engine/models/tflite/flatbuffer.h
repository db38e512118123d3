/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of FlatBuffers that trusts nothing: every offset is checked against
 * the file before it is followed, every value is read by memcpy (files may lie
 * at any address), all sums are done in 64 bits.
 *
 * Errors stick: the first wrong offset is noted in `error`, and from then on
 * every getter returns its default or an empty vector, string or table. Read
 * a group of fields, then look at `error` once.
 *
 * The format, in short (FlatBuffers "internals" page): a table at position p
 * starts with a signed 32-bit distance back to its vtable; the vtable is
 * uint16 {own size, table size, field offset…}, 0 for an absent field.
 * Strings, vectors and sub-tables are reached by an unsigned 32-bit offset
 * from where that offset is stored. Little-endian throughout.
 */
#ifndef TDL_FLATBUFFER_H
#define TDL_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdl_flatbuffer {
    const uint8_t *data;
    uint64_t size;      /* bytes */
    const char *error;  /* NULL, or what was wrong first */
    uint64_t error_pos; /* byte where it was wrong */
};

/* A table; `pos` 0 means absent, and then every field has its default. */
struct tdl_fb_table {
    uint64_t pos, size;
    uint64_t vtable, vtable_size;
};

/* `count` elements from byte `pos`, inside the file; count 0 when absent. */
struct tdl_fb_vector {
    uint64_t pos;
    uint32_t count;
    bool present;
};

/* The root table, after the check of size and of the 4-byte file identifier. */
struct tdl_fb_table tdl_fb_root(struct tdl_flatbuffer *fb, const char identifier[4]);

/* Scalar fields by their number in the schema. */
uint8_t tdl_fb_u8(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field,
                  uint8_t fallback);
int32_t tdl_fb_i32(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field,
                   int32_t fallback);
uint64_t tdl_fb_u64(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field,
                    uint64_t fallback);
/* TRUE where the field is stored at all. */
bool tdl_fb_has(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table, uint32_t field);

struct tdl_fb_table tdl_fb_sub_table(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                                     uint32_t field);
/* A vector of elements of `element_size` bytes. */
struct tdl_fb_vector tdl_fb_vector_of(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                                      uint32_t field, uint32_t element_size);
/* A NUL-terminated string in the file, or NULL when the field is absent. */
const char *tdl_fb_string(struct tdl_flatbuffer *fb, const struct tdl_fb_table *table,
                          uint32_t field);

/* Elements; an index past the end is an error of the file. */
int64_t tdl_fb_vector_i64(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                          uint32_t index); /* for elements of 8 bytes */
float tdl_fb_vector_f32(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                        uint32_t index);
int32_t tdl_fb_vector_i32(struct tdl_flatbuffer *fb, const struct tdl_fb_vector *vector,
                          uint32_t index);
struct tdl_fb_table tdl_fb_vector_table(struct tdl_flatbuffer *fb,
                                        const struct tdl_fb_vector *vector, uint32_t index);

#endif
