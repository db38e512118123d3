/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of protocol buffers that trusts nothing and copies nothing: a message
 * is a range of bytes, its fields are met one after the other.
 *
 *     struct tdl_pb r = message;
 *     while (tdl_pb_next(&r, &field))
 *         switch (field.number) ...
 *
 * A generated parser would copy every weight, and make a structure of a hundred
 * bytes of each empty message of two. The wire format, in short ("Encoding",
 * protobuf.dev): a field is a varint of number · 8 + wire type; then a varint
 * (type 0), eight bytes (1), a length and as many bytes (2) or four bytes (5),
 * little-endian. Groups (3 and 4) are not in use any more and refused.
 */
#ifndef TDL_PROTOBUF_H
#define TDL_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a message, of a string, of a packed list; `data` NULL: absent. */
struct tdl_pb {
    const uint8_t *data;
    size_t size;
    bool broken; /* a fault ended the message */
};

struct tdl_pb_field {
    uint32_t number;
    uint8_t type;     /* the wire's */
    uint64_t value;   /* bits of varints and fixed numbers */
    struct tdl_pb in; /* bytes of a field with a length */
};

/* The next field; false at the end, and where the message is broken. */
bool tdl_pb_next(struct tdl_pb *message, struct tdl_pb_field *out);
/* Does the string equal `text`? */
bool tdl_pb_is(const struct tdl_pb *string, const char *text);
/* Are two strings the same? */
bool tdl_pb_equal(const struct tdl_pb *a, const struct tdl_pb *b);
/* The string as text, cut to what fits, with '?' for what no terminal should see. */
const char *tdl_pb_text(const struct tdl_pb *string, char *text, size_t size);
/* Gives a name by which callers go on: only control characters are '?'. */
const char *tdl_pb_name(const struct tdl_pb *string, char *text, size_t size);

/*
 * Repeated numbers come packed, one field with a length, or one field each.
 * Appends what the field has to a list of `count` numbers, as far as `capacity`
 * goes; `count` counts on behind it. False if the packed bytes are broken.
 */
bool tdl_pb_varints(const struct tdl_pb_field *field, int64_t *list, size_t capacity,
                    size_t *count);
bool tdl_pb_floats(const struct tdl_pb_field *field, float *list, size_t capacity, size_t *count);

#endif
