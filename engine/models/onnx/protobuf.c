/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protobuf.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* Up to ten bytes of seven bits each, the lowest first. */
static bool take_varint(struct tdl_pb *m, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < m->size && i < 10; i++) {
        value |= (uint64_t)(m->data[i] & 0x7f) << (7 * i);
        if (!(m->data[i] & 0x80)) {
            *out = value;
            m->data += i + 1;
            m->size -= i + 1;
            return true;
        }
    }
    return false;
}

static bool take_fixed(struct tdl_pb *m, size_t size, uint64_t *out)
{
    *out = 0;
    if (m->size < size)
        return false;
    for (size_t i = 0; i < size; i++)
        *out |= (uint64_t)m->data[i] << (8 * i);
    m->data += size;
    m->size -= size;
    return true;
}

static bool take_bytes(struct tdl_pb *m, struct tdl_pb *out)
{
    uint64_t size;

    if (!take_varint(m, &size) || size > m->size)
        return false;
    *out = (struct tdl_pb){.data = m->data, .size = (size_t)size};
    m->data += size;
    m->size -= (size_t)size;
    return true;
}

static bool take_field(struct tdl_pb *m, struct tdl_pb_field *out)
{
    uint64_t tag;

    if (!take_varint(m, &tag) || tag >> 3 == 0 || tag >> 32)
        return false;
    *out = (struct tdl_pb_field){.number = (uint32_t)(tag >> 3), .type = tag & 7};
    switch (out->type) {
    case VARINT:
        return take_varint(m, &out->value);
    case FIXED64:
        return take_fixed(m, 8, &out->value);
    case BYTES:
        return take_bytes(m, &out->in);
    case FIXED32:
        return take_fixed(m, 4, &out->value);
    default:
        return false;
    }
}

bool tdl_pb_next(struct tdl_pb *message, struct tdl_pb_field *out)
{
    if (message->size == 0)
        return false;
    if (take_field(message, out))
        return true;
    message->broken = true;
    message->size = 0;
    return false;
}

bool tdl_pb_is(const struct tdl_pb *string, const char *text)
{
    const size_t length = strlen(text);

    return string->size == length && (length == 0 || !memcmp(string->data, text, length));
}

bool tdl_pb_equal(const struct tdl_pb *a, const struct tdl_pb *b)
{
    return a->size == b->size && (a->size == 0 || !memcmp(a->data, b->data, a->size));
}

const char *tdl_pb_text(const struct tdl_pb *string, char *text, size_t size)
{
    size_t length = string->size < size - 1 ? string->size : size - 1;

    for (size_t i = 0; i < length; i++)
        text[i] = string->data[i] < 0x20 || string->data[i] > 0x7e ? '?' : (char)string->data[i];
    text[length] = 0;
    return text;
}

const char *tdl_pb_name(const struct tdl_pb *string, char *text, size_t size)
{
    const size_t length = string->size < size - 1 ? string->size : size - 1;

    for (size_t i = 0; i < length; i++)
        text[i] = string->data[i] < 0x20 || string->data[i] == 0x7f ? '?' : (char)string->data[i];
    text[length] = 0;
    return text;
}

bool tdl_pb_varints(const struct tdl_pb_field *field, int64_t *list, size_t capacity, size_t *count)
{
    struct tdl_pb packed = field->in;
    uint64_t value = field->value;

    if (field->type == VARINT) {
        if (*count < capacity)
            list[*count] = (int64_t)value;
        ++*count;
        return true;
    }
    while (packed.size > 0) {
        if (!take_varint(&packed, &value))
            return false;
        if (*count < capacity)
            list[*count] = (int64_t)value;
        ++*count;
    }
    return field->type == BYTES;
}

bool tdl_pb_floats(const struct tdl_pb_field *field, float *list, size_t capacity, size_t *count)
{
    struct tdl_pb packed = field->in;
    uint64_t bits = field->value;
    bool one = field->type == FIXED32;

    while (one || (packed.size > 0 && take_fixed(&packed, 4, &bits))) {
        const uint32_t word = (uint32_t)bits;

        if (*count < capacity)
            memcpy(&list[*count], &word, sizeof(word));
        ++*count;
        if (one)
            return true;
    }
    return packed.size == 0 && field->type == BYTES;
}
