/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnx-writer.h"

#include "file-order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, BYTES = 2, FIXED32 = 5 };
enum { FLOAT = 1, INT64 = 7 };

/* -------------------------------------------------------------------- fields */

static void append(struct onnx_bytes *m, const void *data, size_t size)
{
    if (m->size + size > m->capacity) {
        m->capacity = 2 * (m->size + size) + 64;
        m->data = realloc(m->data, m->capacity);
        if (!m->data)
            abort();
    }
    if (size)
        memcpy(m->data + m->size, data, size);
    m->size += size;
}

static void append_numbers(struct onnx_bytes *m, const void *list, size_t size, size_t width)
{
    append(m, list, size);
    if (size)
        to_file_order(m->data + m->size - size, list, size, width);
}

void onnx_put_varint(struct onnx_bytes *m, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        append(m, &byte, 1);
        value >>= 7;
    } while (value);
}

static void tag(struct onnx_bytes *m, uint32_t field, int wire)
{
    onnx_put_varint(m, (uint64_t)field << 3 | (uint64_t)wire);
}

void onnx_put_int(struct onnx_bytes *m, uint32_t field, int64_t value)
{
    tag(m, field, VARINT);
    onnx_put_varint(m, (uint64_t)value);
}

void onnx_put_float(struct onnx_bytes *m, uint32_t field, float value)
{
    tag(m, field, FIXED32);
    append_numbers(m, &value, sizeof(value), sizeof(value));
}

void onnx_put_bytes(struct onnx_bytes *m, uint32_t field, const void *data, size_t size)
{
    tag(m, field, BYTES);
    onnx_put_varint(m, size);
    append(m, data, size);
}

void onnx_put_numbers(struct onnx_bytes *m, uint32_t field, const void *list, size_t size,
                      size_t width)
{
    tag(m, field, BYTES);
    onnx_put_varint(m, size);
    append_numbers(m, list, size, width);
}

void onnx_put_text(struct onnx_bytes *m, uint32_t field, const char *text)
{
    onnx_put_bytes(m, field, text, strlen(text));
}

void onnx_put_message(struct onnx_bytes *m, uint32_t field, struct onnx_bytes *inner)
{
    onnx_put_bytes(m, field, inner->data, inner->size);
    free(inner->data);
    *inner = (struct onnx_bytes){0};
}

void onnx_put_ints(struct onnx_bytes *m, uint32_t field, const int64_t *list, size_t count)
{
    struct onnx_bytes packed = {0};

    for (size_t i = 0; i < count; i++)
        onnx_put_varint(&packed, (uint64_t)list[i]);
    onnx_put_message(m, field, &packed);
}

/* ---------------------------------------------------------------- attributes */

static struct onnx_bytes attribute(const char *name, int kind)
{
    struct onnx_bytes a = {0};

    onnx_put_text(&a, 1, name);
    onnx_put_int(&a, 20, kind);
    return a;
}

void onnx_attr_int(struct onnx_bytes *attributes, const char *name, int64_t value)
{
    struct onnx_bytes a = attribute(name, 2);

    onnx_put_int(&a, 3, value);
    onnx_put_message(attributes, 5, &a);
}

void onnx_attr_float(struct onnx_bytes *attributes, const char *name, float value)
{
    struct onnx_bytes a = attribute(name, 1);

    onnx_put_float(&a, 2, value);
    onnx_put_message(attributes, 5, &a);
}

void onnx_attr_text(struct onnx_bytes *attributes, const char *name, const char *value)
{
    struct onnx_bytes a = attribute(name, 3);

    onnx_put_text(&a, 4, value);
    onnx_put_message(attributes, 5, &a);
}

/* Unpacked, as protobuf's second version writes lists. */
void onnx_attr_ints(struct onnx_bytes *attributes, const char *name, const int64_t *list,
                    size_t count)
{
    struct onnx_bytes a = attribute(name, 7);

    for (size_t i = 0; i < count; i++)
        onnx_put_int(&a, 8, list[i]);
    onnx_put_message(attributes, 5, &a);
}

void onnx_attr_message(struct onnx_bytes *attributes, const char *name, uint32_t field,
                       struct onnx_bytes *inner)
{
    struct onnx_bytes a = attribute(name, (int)field - 1);

    onnx_put_message(&a, field, inner);
    onnx_put_message(attributes, 5, &a);
}

/* -------------------------------------------------------------------- graphs */

/* Of a TensorProto.DataType. */
static size_t width_of(int type)
{
    static const uint8_t widths[] = {[1] = 4, [4] = 2, [5] = 2,  [6] = 4,  [7] = 8, [10] = 2,
                                     [11] = 8, [12] = 4, [13] = 8, [16] = 2};
    const size_t count = sizeof(widths) / sizeof(widths[0]);

    return (size_t)type < count && widths[type] ? widths[type] : 1;
}

void onnx_tensor_message(struct onnx_bytes *t, const char *name, int type, size_t rank,
                         const int64_t *dims, const void *data, size_t size)
{
    for (size_t i = 0; i < rank; i++)
        onnx_put_int(t, 1, dims[i]);
    onnx_put_int(t, 2, type);
    if (name)
        onnx_put_text(t, 8, name);
    if (data)
        onnx_put_numbers(t, 9, data, size, width_of(type));
}

static void put_names(struct onnx_bytes *m, uint32_t field, const char *names)
{
    while (*names) {
        const size_t length = strcspn(names, " ");

        onnx_put_bytes(m, field, names, length == 1 && *names == '-' ? 0 : length);
        names += length + (names[length] == ' ');
    }
}

static void put_node(struct onnx_bytes *m, uint32_t field, const char *type, const char *inputs,
                     const char *outputs, struct onnx_bytes *attributes)
{
    struct onnx_bytes n = {0};

    put_names(&n, 1, inputs);
    put_names(&n, 2, outputs);
    onnx_put_text(&n, 4, type);
    if (attributes) {
        append(&n, attributes->data, attributes->size);
        free(attributes->data);
        *attributes = (struct onnx_bytes){0};
    }
    onnx_put_message(m, field, &n);
}

void onnx_node(struct onnx_bytes *graph, const char *type, const char *inputs,
               const char *outputs, struct onnx_bytes *attributes)
{
    put_node(graph, 1, type, inputs, outputs, attributes);
}

void onnx_function_node(struct onnx_bytes *nodes, const char *type, const char *inputs,
                        const char *outputs, struct onnx_bytes *attributes)
{
    put_node(nodes, 7, type, inputs, outputs, attributes);
}

void onnx_function(struct onnx_bytes *functions, const char *name, const char *inputs,
                   const char *outputs, int64_t opset, struct onnx_bytes *nodes)
{
    struct onnx_bytes f = {0}, version = {0};

    onnx_put_text(&f, 1, name);
    put_names(&f, 4, inputs);
    put_names(&f, 5, outputs);
    append(&f, nodes->data, nodes->size);
    free(nodes->data);
    *nodes = (struct onnx_bytes){0};
    onnx_put_int(&version, 2, opset);
    onnx_put_message(&f, 9, &version);
    onnx_put_text(&f, 10, "own");
    onnx_put_message(functions, 25, &f);
}

void onnx_function_default(struct onnx_bytes *nodes, const char *name, float value)
{
    struct onnx_bytes a = attribute(name, 1);

    onnx_put_float(&a, 2, value);
    onnx_put_message(nodes, 11, &a);
}

void onnx_attr_own(struct onnx_bytes *attributes)
{
    onnx_put_text(attributes, 7, "own");
}

void onnx_attr_of_call(struct onnx_bytes *attributes, const char *name, int kind, const char *of)
{
    struct onnx_bytes a = attribute(name, kind);

    onnx_put_text(&a, 21, of);
    onnx_put_message(attributes, 5, &a);
}

void onnx_initializer(struct onnx_bytes *graph, const char *name, int type, size_t rank,
                      const int64_t *dims, const void *data, size_t size)
{
    struct onnx_bytes t = {0};

    onnx_tensor_message(&t, name, type, rank, dims, data, size);
    onnx_put_message(graph, 5, &t);
}

void onnx_int64s(struct onnx_bytes *graph, const char *name, size_t count, const int64_t *list)
{
    onnx_initializer(graph, name, INT64, 1, &(int64_t){(int64_t)count}, list,
                     count * sizeof(*list));
}

static void put_value(struct onnx_bytes *graph, uint32_t field, const char *name, int type,
                      size_t rank, const int64_t *dims)
{
    struct onnx_bytes shape = {0}, tensor = {0}, kind = {0}, value = {0};

    for (size_t i = 0; i < rank; i++) {
        struct onnx_bytes d = {0};
        char open[24];

        if (dims[i] >= 0) {
            onnx_put_int(&d, 1, dims[i]);
        } else if (dims[i] < -1) {
            snprintf(open, sizeof(open), "d%lld", (long long)(-2 - dims[i]));
            onnx_put_text(&d, 2, open);
        }
        onnx_put_message(&shape, 1, &d);
    }
    onnx_put_int(&tensor, 1, type);
    onnx_put_message(&tensor, 2, &shape);
    onnx_put_message(&kind, 1, &tensor);
    onnx_put_text(&value, 1, name);
    onnx_put_message(&value, 2, &kind);
    onnx_put_message(graph, field, &value);
}

void onnx_input(struct onnx_bytes *graph, const char *name, int type, size_t rank,
                const int64_t *dims)
{
    put_value(graph, 11, name, type, rank, dims);
}

void onnx_declare(struct onnx_bytes *graph, const char *name, int type, size_t rank,
                  const int64_t *dims)
{
    put_value(graph, 13, name, type, rank, dims);
}

void onnx_output(struct onnx_bytes *graph, const char *name)
{
    struct onnx_bytes value = {0};

    onnx_put_text(&value, 1, name);
    onnx_put_message(graph, 12, &value);
}

uint8_t *onnx_model_with(struct onnx_bytes *graph, struct onnx_bytes *functions, int64_t opset,
                         size_t *out_size)
{
    struct onnx_bytes m = {0}, version = {0};

    onnx_put_int(&m, 1, 8);
    onnx_put_text(&m, 2, "test");
    onnx_put_message(&m, 7, graph);
    onnx_put_int(&version, 2, opset);
    onnx_put_message(&m, 8, &version);
    if (functions) {
        append(&m, functions->data, functions->size);
        free(functions->data);
        *functions = (struct onnx_bytes){0};
    }
    *out_size = m.size;
    return m.data;
}

uint8_t *onnx_model(struct onnx_bytes *graph, int64_t opset, size_t *out_size)
{
    return onnx_model_with(graph, NULL, opset, out_size);
}

uint8_t *onnx_example(size_t *out_size)
{
    static const float filter[4 * 3 * 3 * 3] = {0.5f, -1, 0.25f}, bias[4] = {1, -2};
    static const int64_t sizes[] = {1, 4, 8, 12}, three[] = {3, 3}, one[] = {1, 1, 1, 1};
    struct onnx_bytes g = {0}, a = {0};

    onnx_attr_ints(&a, "kernel_shape", three, 2);
    onnx_attr_ints(&a, "pads", one, 4);
    onnx_node(&g, "Conv", "image filter bias", "conv", &a);
    onnx_node(&g, "Relu", "conv", "relu", NULL);
    onnx_node(&g, "GlobalAveragePool", "relu", "mean", NULL);
    onnx_node(&g, "Mul", "relu mean", "scaled", NULL);
    onnx_attr_text(&a, "mode", "linear");
    onnx_node(&g, "Resize", "scaled - - sizes", "mask", &a);
    onnx_initializer(&g, "filter", FLOAT, 4, (const int64_t[]){4, 3, 3, 3}, filter,
                     sizeof(filter));
    onnx_initializer(&g, "bias", FLOAT, 1, (const int64_t[]){4}, bias, sizeof(bias));
    onnx_int64s(&g, "sizes", 4, sizes);
    onnx_input(&g, "image", FLOAT, 4, (const int64_t[]){1, 3, 4, 6});
    onnx_output(&g, "mask");
    return onnx_model(&g, 13, out_size);
}
