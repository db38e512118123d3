/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tflite-writer.h"

#include "file-order.h"

#include <stdlib.h>
#include <string.h>

/* The file grows forwards: a table first, then what it points to, since
 * offsets only point forwards. Each table has its vtable before it and a slot
 * of 8 bytes for each field. */
struct writer {
    uint8_t *data;
    size_t size, capacity;
};

static void put(struct writer *w, size_t pos, uint64_t value, size_t size)
{
    if (pos + size > w->capacity) {
        w->capacity = 2 * (pos + size) + 65536;
        w->data = realloc(w->data, w->capacity);
        if (!w->data)
            abort();
        memset(w->data + w->size, 0, w->capacity - w->size);
    }
    for (size_t i = 0; i < size; i++)
        w->data[pos + i] = (uint8_t)(value >> (8 * i));
    if (pos + size > w->size)
        w->size = pos + size;
}

static uint32_t get(const struct writer *w, size_t pos)
{
    return w->data[pos] | (uint32_t)w->data[pos + 1] << 8 | (uint32_t)w->data[pos + 2] << 16 |
           (uint32_t)w->data[pos + 3] << 24;
}

static void align(struct writer *w, size_t alignment)
{
    while (w->size % alignment)
        put(w, w->size, 0, 1);
}

/* A table with room for `fields` fields, all absent yet. */
static size_t table(struct writer *w, uint32_t fields)
{
    const size_t vtable = (align(w, 8), w->size);
    size_t pos;

    put(w, vtable, 4 + 2 * fields, 2);
    put(w, vtable + 2, 8 + 8 * fields, 2);
    for (uint32_t i = 0; i < fields; i++)
        put(w, vtable + 4 + 2 * i, 0, 2);
    pos = (align(w, 8), w->size);
    put(w, pos, pos - vtable, 4);
    put(w, pos + 4, 0, 4);
    for (uint32_t i = 0; i < fields; i++)
        put(w, pos + 8 + 8 * i, 0, 8);
    return pos;
}

/* Marks a field present and gives the position of its value. */
static size_t field(struct writer *w, size_t pos, uint32_t number)
{
    const size_t vtable = pos - w->data[pos] - 256u * w->data[pos + 1];

    put(w, vtable + 4 + 2 * number, 8 + 8 * number, 2);
    return pos + 8 + 8 * number;
}

static void scalar(struct writer *w, size_t pos, uint32_t number, uint64_t value, size_t size)
{
    put(w, field(w, pos, number), value, size);
}

/* Lets the offset stored at `slot` point to the end of the file. */
static void point(struct writer *w, size_t slot)
{
    put(w, slot, w->size - slot, 4);
}

static size_t vector(struct writer *w, size_t slot, size_t count, size_t alignment)
{
    while ((w->size + 4) % alignment)
        put(w, w->size, 0, 1);
    point(w, slot);
    put(w, w->size, count, 4);
    return w->size;
}

/* Numbers of `width` bytes, as they lie in memory. */
static void bytes(struct writer *w, size_t slot, const void *data, size_t size, size_t width,
                  size_t alignment)
{
    const size_t pos = vector(w, slot, size, alignment);

    for (size_t i = 0; i < size; i++)
        put(w, pos + i, ((const uint8_t *)data)[file_order(i, width, size)], 1);
}

static void string(struct writer *w, size_t slot, const char *text)
{
    bytes(w, slot, text, strlen(text), 1, 4);
    put(w, w->size, 0, 1);
}

static void ints(struct writer *w, size_t slot, const int *values, int count)
{
    vector(w, slot, (size_t)count, 4);
    for (int i = 0; i < count; i++)
        put(w, w->size, (uint32_t)values[i], 4);
}

/* A vector of `count` offsets to fill in; gives the position of the first. */
static size_t offsets(struct writer *w, size_t slot, int count)
{
    const size_t pos = vector(w, slot, (size_t)count, 4);

    for (int i = 0; i < count; i++)
        put(w, pos + 4 * (size_t)i, 0, 4);
    return pos;
}

/* Appends a table that the offset at `slot` points to. */
static size_t table_for(struct writer *w, size_t slot, uint32_t fields)
{
    const size_t pos = table(w, fields);

    put(w, slot, pos - slot, 4);
    return pos;
}

static void write_quantization(struct writer *w, size_t slot, const struct writer_tensor *tensor)
{
    const size_t pos = table_for(w, slot, 7);
    size_t list;

    scalar(w, pos, 6, (uint32_t)tensor->axis, 4);
    bytes(w, field(w, pos, 2), tensor->scales, 4 * (size_t)tensor->scale_count, 4,
          4);
    put(w, w->size - 4 * (size_t)tensor->scale_count - 4, (uint64_t)tensor->scale_count, 4);
    if (tensor->zero_count == 0)
        return;
    list = vector(w, field(w, pos, 3), (size_t)tensor->zero_count, 8);
    for (int i = 0; i < tensor->zero_count; i++)
        put(w, list + 8 * (size_t)i, (uint64_t)tensor->zeros[i], 8);
}

static void write_list(struct writer *w, size_t pos, uint32_t number, int width, const int *list,
                       int count)
{
    static const size_t sizes[] = {1, 4, 2, 1};
    size_t values;

    scalar(w, pos, number, (uint64_t)width, 1);
    values = table_for(w, field(w, pos, number + 1), 1);
    values = vector(w, field(w, values, 0), (size_t)count, 4);
    for (int i = 0; i < count; i++)
        put(w, values + sizes[width & 3] * (size_t)i, (uint64_t)list[i], sizes[width & 3]);
}

static void write_sparsity(struct writer *w, size_t slot, const struct writer_sparsity *s)
{
    const size_t pos = table_for(w, slot, 3);
    size_t list;

    ints(w, field(w, pos, 0), s->order, s->order_count);
    ints(w, field(w, pos, 1), s->blocks, s->block_count);
    list = offsets(w, field(w, pos, 2), s->dim_count);
    for (int i = 0; i < s->dim_count; i++) {
        const struct writer_dimension *d = &s->dims[i];
        const size_t dim = table_for(w, list + 4 * (size_t)i, 6);

        scalar(w, dim, 0, (uint64_t)d->format, 1);
        scalar(w, dim, 1, (uint64_t)d->size, 4);
        if (!d->width)
            continue;
        write_list(w, dim, 2, d->width, d->segments, d->segment_count);
        write_list(w, dim, 4, d->width, d->indices, d->index_count);
    }
}

/* The position of its table. */
static size_t write_tensor(struct writer *w, size_t slot, const struct writer_tensor *tensor,
                           int number)
{
    const size_t pos = table_for(w, slot, 8);

    if (tensor->type)
        scalar(w, pos, 1, (uint64_t)tensor->type, 1);
    if (tensor->buffer || tensor->data)
        scalar(w, pos, 2, (uint64_t)(tensor->buffer ? tensor->buffer : number + 1), 4);
    if (tensor->variable)
        scalar(w, pos, 5, 1, 1);
    ints(w, field(w, pos, 0), tensor->shape, tensor->rank);
    if (tensor->name)
        string(w, field(w, pos, 3), tensor->name);
    if (tensor->open) {
        int signature[8];

        for (int i = 0; i < tensor->rank; i++)
            signature[i] = tensor->open >> i & 1 ? -1 : tensor->shape[i];
        ints(w, field(w, pos, 7), signature, tensor->rank);
    }
    if (tensor->scales)
        write_quantization(w, field(w, pos, 4), tensor);
    if (tensor->sparsity)
        write_sparsity(w, field(w, pos, 6), tensor->sparsity);
    else if (tensor->sparse)
        table_for(w, field(w, pos, 6), 1);
    return pos;
}

static void write_op(struct writer *w, size_t slot, const struct writer_op *op, int number)
{
    const size_t pos = table_for(w, slot, 6);

    scalar(w, pos, 0, (uint64_t)(number + op->code_index), 4);
    ints(w, field(w, pos, 1), op->inputs, op->input_count);
    ints(w, field(w, pos, 2), op->outputs, op->output_count);
    if (op->options_type) {
        size_t options;

        scalar(w, pos, 3, (uint64_t)op->options_type, 1);
        options = table_for(w, field(w, pos, 4), 8);
        for (int i = 0; i < 8 && op->options[i].size; i++)
            if (!op->options[i].list)
                scalar(w, options, (uint32_t)op->options[i].field, (uint32_t)op->options[i].value,
                       (size_t)op->options[i].size);
        for (int i = 0; i < 8 && op->options[i].size; i++)
            if (op->options[i].list)
                ints(w, field(w, options, (uint32_t)op->options[i].field), op->options[i].list,
                     op->options[i].size);
    }
    if (op->custom_options)
        bytes(w, field(w, pos, 5), op->custom_options, op->custom_size, 1, 16);
}

static void write_tensors(struct writer *w, size_t slot, const struct writer_model *model)
{
    const int count = model->tensor_count + model->more_tensor_count;
    const size_t list = offsets(w, slot, count);
    size_t *tables = calloc((size_t)count + 1, sizeof(*tables));

    if (!tables)
        abort();
    for (int i = 0; i < count; i++) {
        const struct writer_tensor *tensor = i < model->tensor_count
                                                 ? &model->tensors[i]
                                                 : &model->more_tensors[i - model->tensor_count];
        const size_t entry = list + 4 * (size_t)i;

        if (tensor->table) {
            tables[i] = tables[tensor->table - 1];
            put(w, entry, tables[i] - entry, 4);
        } else {
            tables[i] = write_tensor(w, entry, tensor, i);
        }
    }
    free(tables);
}

static void write_subgraph(struct writer *w, size_t slot, const struct writer_model *model)
{
    const size_t pos = table_for(w, slot, 5);
    size_t list;

    write_tensors(w, field(w, pos, 0), model);
    ints(w, field(w, pos, 1), model->inputs, model->input_count);
    ints(w, field(w, pos, 2), model->outputs, model->output_count);
    list = offsets(w, field(w, pos, 3), model->op_count + model->more_op_count);
    for (int i = 0; i < model->op_count; i++)
        write_op(w, list + 4 * (size_t)i, &model->ops[i], i);
    for (int i = 0; i < model->more_op_count; i++)
        write_op(w, list + 4 * (size_t)(model->op_count + i), &model->more_ops[i], 0);
}

/* One operator code for each operator, old and new field as converters do. */
static void write_code(struct writer *w, size_t slot, const struct writer_op *op)
{
    const size_t pos = table_for(w, slot, 4);

    scalar(w, pos, 0, (uint64_t)(op->code < 127 ? op->code : 127), 1);
    scalar(w, pos, 3, (uint64_t)op->code, 4);
    if (op->version)
        scalar(w, pos, 2, (uint64_t)op->version, 4);
    if (op->custom)
        string(w, field(w, pos, 1), op->custom);
}

/* Of a TensorType. */
static size_t width_of(int type)
{
    static const uint8_t widths[] = {[0] = 4, [1] = 2, [2] = 4, [4] = 8, [7] = 2};
    const size_t count = sizeof(widths) / sizeof(widths[0]);

    return (size_t)type < count && widths[type] ? widths[type] : 1;
}

/* Buffer 0 is empty by convention, tensor i has buffer i + 1. */
static void write_buffers(struct writer *w, size_t slot, const struct writer_model *model)
{
    const int count = model->tensor_count + 1;
    const size_t list = offsets(w, slot, count + model->overlaps);
    size_t first = 0;

    for (int i = count; i < count + model->overlaps; i++)
        field(w, table_for(w, list + 4 * (size_t)i, 1), 0);
    for (int i = 0; i < count; i++) {
        const struct writer_tensor *tensor = i > 0 ? &model->tensors[i - 1] : NULL;
        const size_t buffer = table_for(w, list + 4 * (size_t)i, 1);

        if (!tensor || !tensor->data)
            continue;
        bytes(w, field(w, buffer, 0), tensor->data, tensor->data_size, width_of(tensor->type),
              16);
        first = first ? first : w->size - tensor->data_size;
    }
    for (int i = 0; i < model->overlaps; i++) {
        const size_t entry = list + 4 * (size_t)(count + i);
        const size_t data = entry + get(w, entry) + 8;

        put(w, data, first + 4 * (size_t)i - data, 4);
    }
}

uint8_t *write_tflite(const struct writer_model *model, size_t *out_size)
{
    struct writer w = {0};
    size_t pos, list;

    put(&w, 0, 0, 4);
    for (size_t i = 0; i < 4; i++)
        put(&w, 4 + i, (uint8_t)model->identifier[i], 1);
    pos = table_for(&w, 0, 5);
    scalar(&w, pos, 0, (uint64_t)model->version, 4);
    list = offsets(&w, field(&w, pos, 1), model->op_count);
    for (int i = 0; i < model->op_count; i++)
        write_code(&w, list + 4 * (size_t)i, &model->ops[i]);
    list = offsets(&w, field(&w, pos, 2), model->subgraphs);
    for (int i = 0; i < model->subgraphs; i++)
        write_subgraph(&w, list + 4 * (size_t)i, model);
    write_buffers(&w, field(&w, pos, 4), model);
    *out_size = w.size;
    return w.data;
}

struct writer_model writer_example(void)
{
    static const uint16_t filter[5 * 3 * 3 * 3] = {0x3c00, 0xbc00, 0x3800, 0x0001, 0x7bff};
    static const uint16_t bias[5] = {0x3c00, 0x4000, 0xc000, 0x0000, 0x3555};
    static const float offset[5] = {0.5f, -0.5f, 1.0f, 2.0f, 0.0f};
    static const int32_t axes[2] = {1, 2}, size[2] = {8, 12};

    return (struct writer_model){
        .identifier = "TFL3",
        .version = 3,
        .subgraphs = 1,
        .tensor_count = 12,
        .tensors =
            {
                {"image", 0, 4, {1, 4, 6, 3}},
                {"filter_f16", 1, 4, {5, 3, 3, 3}, filter, sizeof(filter)},
                {"filter", 0, 4, {5, 3, 3, 3}},
                {"bias_f16", 1, 1, {5}, bias, sizeof(bias)},
                {"bias", 0, 1, {5}},
                {"conv", 0, 4, {1, 4, 6, 5}},
                {"offset", 0, 1, {5}, offset, sizeof(offset)},
                {"sum", 0, 4, {1, 4, 6, 5}},
                {"mean", 0, 4, {1, 1, 1, 5}},
                {"axes", 2, 1, {2}, axes, sizeof(axes)},
                {"size", 2, 1, {2}, size, sizeof(size)},
                {"mask", 0, 4, {1, 8, 12, 5}},
            },
        .op_count = 6,
        .ops =
            {
                {.code = 6, .version = 2, .input_count = 1, .inputs = {1}, .output_count = 1,
                 .outputs = {2}},
                {.code = 6, .version = 2, .input_count = 1, .inputs = {3}, .output_count = 1,
                 .outputs = {4}},
                {.code = 3, .version = 1, .input_count = 3, .inputs = {0, 2, 4},
                 .output_count = 1, .outputs = {5}, .options_type = 1,
                 .options = {{1, 4, 1}, {2, 4, 1}, {3, 1, 1}}},
                {.code = 0, .version = 1, .input_count = 2, .inputs = {5, 6}, .output_count = 1,
                 .outputs = {7}, .options_type = 11},
                {.code = 40, .version = 1, .input_count = 2, .inputs = {7, 9}, .output_count = 1,
                 .outputs = {8}, .options_type = 27, .options = {{0, 1, 1}}},
                {.code = 23, .version = 3, .input_count = 2, .inputs = {7, 10},
                 .output_count = 1, .outputs = {11}, .options_type = 15,
                 .options = {{3, 1, 1}}},
            },
        .input_count = 1,
        .inputs = {0},
        .output_count = 1,
        .outputs = {11},
    };
}
