/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnx-file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_file(const char *path, size_t *out_size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0)
        bytes = malloc((size_t)size + 1);
    if (bytes) {
        rewind(f);
        *out_size = fread(bytes, 1, (size_t)size, f);
        if (*out_size != (size_t)size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (f)
        fclose(f);
    return bytes;
}

/* NULL also when there is no such file: the last one was the one before. */
static Onnx__TensorProto *read_tensor(const char *folder, const char *kind, size_t index)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof(path), "%s/test_data_set_0/%s_%zu.pb", folder, kind, index);
    uint8_t *bytes = read_file(path, &size);
    Onnx__TensorProto *t = bytes ? onnx__tensor_proto__unpack(NULL, size, bytes) : NULL;
    free(bytes);
    return t;
}

void onnx_case_finish(struct onnx_case *c)
{
    for (size_t i = 0; i < c->input_count; i++)
        onnx__tensor_proto__free_unpacked(c->inputs[i], NULL);
    for (size_t i = 0; i < c->output_count; i++)
        onnx__tensor_proto__free_unpacked(c->outputs[i], NULL);
    if (c->model)
        onnx__model_proto__free_unpacked(c->model, NULL);
    memset(c, 0, sizeof(*c));
}

/* Not sequences and optionals, whose files look alike. */
static bool are_tensors(Onnx__ValueInfoProto *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!values[i]->type || values[i]->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
            return false;
    return true;
}

/* ONNX 1.12 has bfloat16 as uint16 in its data. */
static bool are_of_types(Onnx__ValueInfoProto *const *values, Onnx__TensorProto *const *data,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i]->type->tensor_type->elem_type != data[i]->data_type)
            return false;
    return true;
}

const char *onnx_case_read(const char *folder, struct onnx_case *c)
{
    char path[512];
    size_t size;
    memset(c, 0, sizeof(*c));
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    uint8_t *bytes = read_file(path, &size);
    c->model = bytes ? onnx__model_proto__unpack(NULL, size, bytes) : NULL;
    free(bytes);
    if (!c->model || !c->model->graph)
        return "the model cannot be read";
    while (c->input_count < ONNX_MAX_TENSORS &&
           (c->inputs[c->input_count] = read_tensor(folder, "input", c->input_count)))
        c->input_count++;
    while (c->output_count < ONNX_MAX_TENSORS &&
           (c->outputs[c->output_count] = read_tensor(folder, "output", c->output_count)))
        c->output_count++;
    const Onnx__GraphProto *g = c->model->graph;
    if (c->input_count == g->n_input && c->output_count == g->n_output &&
        are_tensors(g->input, g->n_input) && are_tensors(g->output, g->n_output)) {
        const char *why = NULL;
        struct tdl_tensor_params p;
        if (!are_of_types(g->input, c->inputs, g->n_input) ||
            !are_of_types(g->output, c->outputs, g->n_output))
            why = "its data are of another type than it says";
        for (size_t i = 0; i < c->output_count && !why; i++)
            why = onnx_case_params(c->outputs[i], &p);
        /* One without elements may still be a list of axes. */
        for (size_t i = 0; i < c->input_count && !why; i++)
            if (onnx_case_params(c->inputs[i], &p) && onnx_case_count(c->inputs[i]) > 0)
                why = "a data type that libtdl lacks, or too many dimensions";
        if (why)
            onnx_case_finish(c);
        return why;
    }
    onnx_case_finish(c);
    return "its inputs and outputs are no plain tensors, or too many";
}

/* ---------------------------------------------------------------- tensors */

static const struct {
    int onnx;
    enum tdl_dtype dtype;
} types[] = {
    {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, TDL_FLOAT32},
    /* No device computes with them; float32 agrees to ONNX's own tolerance. */
    {ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, TDL_FLOAT32},
    {ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, TDL_FLOAT16},
    /* Nor with these, which are wider in libtdl. */
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT16, TDL_INT32},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT16, TDL_INT32},
    {ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, TDL_FLOAT32},
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT32, TDL_INT32},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT32, TDL_UINT32},
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT8, TDL_INT8},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, TDL_UINT8},
    {ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, TDL_UINT8}, /* as in WebNN */
    {ONNX__TENSOR_PROTO__DATA_TYPE__INT64, TDL_INT64},
    {ONNX__TENSOR_PROTO__DATA_TYPE__UINT64, TDL_UINT64},
};

const char *onnx_case_params(const Onnx__TensorProto *t, struct tdl_tensor_params *out)
{
    *out = (struct tdl_tensor_params){0};
    size_t type = 0;
    while (type < sizeof(types) / sizeof(*types) && types[type].onnx != t->data_type)
        type++;
    if (type == sizeof(types) / sizeof(*types))
        return "a data type that libtdl lacks";
    if (t->n_dims > TDL_MAX_RANK)
        return "more dimensions than libtdl has";
    out->dtype = types[type].dtype;
    out->rank = (uint32_t)t->n_dims;
    for (size_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] < 1 || t->dims[i] > INT32_MAX)
            return "a tensor without elements";
        out->shape[i] = (uint32_t)t->dims[i];
    }
    return NULL;
}

size_t onnx_case_count(const Onnx__TensorProto *t)
{
    size_t count = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        count *= (size_t)t->dims[i];
    return count;
}

/* The narrow types lie in int32_data, one element each (onnx.proto). */
static void spread(const Onnx__TensorProto *t, size_t element, size_t count, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        if (i < t->n_float_data)
            memcpy(&bits, &t->float_data[i], sizeof(float));
        else if (i < t->n_int32_data)
            bits = (uint64_t)t->int32_data[i];
        else if (i < t->n_int64_data)
            bits = (uint64_t)t->int64_data[i];
        else if (i < t->n_uint64_data)
            bits = t->uint64_data[i];
        memcpy(to + i * element, &bits, element); /* little-endian, like raw_data */
    }
}

static void round_doubles(const Onnx__TensorProto *t, size_t count, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        double value = i < t->n_double_data ? t->double_data[i] : 0;
        if (t->has_raw_data && (i + 1) * sizeof(value) <= t->raw_data.len)
            memcpy(&value, t->raw_data.data + i * sizeof(value), sizeof(value));
        float single = (float)value;
        memcpy(to + i * sizeof(single), &single, sizeof(single));
    }
}

/* Numbers of 16 bits, as they are wider. */
static void widen(const Onnx__TensorProto *t, size_t count, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t narrow = i < t->n_int32_data ? (uint16_t)t->int32_data[i] : 0;
        if (t->has_raw_data && (i + 1) * sizeof(narrow) <= t->raw_data.len)
            memcpy(&narrow, t->raw_data.data + i * sizeof(narrow), sizeof(narrow));
        uint32_t wide = narrow;
        if (t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16)
            wide = (uint32_t)(int32_t)(int16_t)narrow;
        else if (t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
            wide = (uint32_t)narrow << 16;
        memcpy(to + i * sizeof(wide), &wide, sizeof(wide));
    }
}

static bool is_narrow(const Onnx__TensorProto *t)
{
    return t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16 ||
           t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT16 ||
           t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

void *onnx_case_data(const Onnx__TensorProto *t, size_t *out_size)
{
    struct tdl_tensor_params p;
    size_t count = onnx_case_count(t);
    onnx_case_params(t, &p);
    *out_size = count * tdl_dtype_size(p.dtype);
    uint8_t *bytes = calloc(1, *out_size ? *out_size : 1);
    if (bytes && t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE)
        round_doubles(t, count, bytes);
    else if (bytes && is_narrow(t))
        widen(t, count, bytes);
    else if (bytes && t->has_raw_data && t->raw_data.len == *out_size)
        memcpy(bytes, t->raw_data.data, *out_size);
    else if (bytes)
        spread(t, tdl_dtype_size(p.dtype), count, bytes);
    return bytes;
}
