/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite files: from the FlatBuffer to builder calls.
 *
 * A file has a list of tensors and a list of operators in an order in which
 * they can run. Constants are tensors with data. They become operands when an
 * operator first reads them, so unused ones cost nothing; those of weights
 * kept as float16 sit behind a DEQUANTIZE operator, which is only noted
 * (tflite_value.source) and looked through. Operators, and tensors, that share
 * their bytes share all that is made of them.
 *
 * Nothing in the file is believed: flatbuffer.c checks offsets, this file
 * checks indices, types and sizes, ops.c options, the builder shapes;
 * at last the shape that the builder inferred must be the file's.
 */
#include "tflite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of one tensor; more would not fit the 32-bit sizes of kernels. */
#define MAX_ELEMENTS (UINT64_C(1) << 30)
/* Copies of constants in another order, in sizes of the file. */
#define MADE_TIMES 4

/* ----------------------------------------------------------------- errors */

bool tflite_fail(struct tflite_import *im, enum tdl_result result, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    /* Names come from the file; a terminal or GLib must not choke on them. */
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
    }
    tdl_builder_fail(im->builder, result, "%s", text);
    return false;
}

bool tflite_check(struct tflite_import *im)
{
    if (!im->fb.error)
        return true;
    return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                       "the model file is damaged: %s (byte %llu of %llu); get the file again",
                       im->fb.error, (unsigned long long)im->fb.error_pos,
                       (unsigned long long)im->fb.size);
}

const char *tflite_type_name(uint8_t type)
{
    static const char *const names[] = {
        "float32", "float16",   "int32",  "uint8",   "int64",      "string", "bool",
        "int16",   "complex64", "int8",   "float64", "complex128", "uint64", "resource",
        "variant", "uint32",    "uint16", "int4",    "bfloat16",
    };

    return type < sizeof(names) / sizeof(names[0]) ? names[type] : "an unknown type";
}

/* ---------------------------------------------------------------- tensors */

static bool read_shape(struct tflite_import *im, const struct tdl_fb_table *table, int32_t index,
                       struct tflite_tensor *out)
{
    const struct tdl_fb_vector shape = tdl_fb_vector_of(&im->fb, table, TFLITE_TENSOR_SHAPE, 4);

    if (!tflite_check(im))
        return false;
    if (shape.count > TDL_MAX_RANK)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "tensor %d '%.80s' has %u dimensions; libtdl takes up to %u", index,
                           out->name, shape.count, TDL_MAX_RANK);
    out->rank = shape.count;
    out->elements = 1;
    for (uint32_t i = 0; i < shape.count; i++) {
        const int32_t size = tdl_fb_vector_i32(&im->fb, &shape, i);

        if (size < 1)
            return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                               "tensor %d '%.80s' has size %d in dimension %u; convert the model "
                               "with fixed shapes",
                               index, out->name, size, i);
        out->shape[i] = (uint32_t)size;
        out->elements *= (uint32_t)size; /* ≤ 2^30 · 2^31 */
        if (out->elements > MAX_ELEMENTS)
            return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                               "tensor %d '%.80s' has more than 2^30 elements", index, out->name);
    }
    return true;
}

/* The bytes of a constant: inside the Buffer table, or (schema 3c) further
 * behind in the file. */
static bool read_buffer(struct tflite_import *im, const struct tdl_fb_table *tensor, int32_t index,
                        struct tflite_tensor *out)
{
    const uint32_t number = (uint32_t)tdl_fb_i32(&im->fb, tensor, TFLITE_TENSOR_BUFFER, 0);
    struct tdl_fb_table buffer;
    struct tdl_fb_vector data;
    uint64_t offset, size;

    if (number == 0) /* by convention the empty one */
        return tflite_check(im);
    buffer = tdl_fb_vector_table(&im->fb, &im->buffers, number);
    data = tdl_fb_vector_of(&im->fb, &buffer, TFLITE_BUFFER_DATA, 1);
    offset = tdl_fb_u64(&im->fb, &buffer, TFLITE_BUFFER_OFFSET, 0);
    size = tdl_fb_u64(&im->fb, &buffer, TFLITE_BUFFER_SIZE, 0);
    if (!tflite_check(im))
        return false;
    if (data.count > 0) {
        out->data = im->fb.data + data.pos;
        out->data_size = data.count;
    } else if (offset > 1) { /* 0 and 1 mean none */
        if (offset > im->fb.size || size > im->fb.size - offset)
            return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                               "the model file is damaged: the data of tensor %d '%.80s' lie "
                               "outside the file",
                               index, out->name);
        out->data = size > 0 ? im->fb.data + offset : NULL;
        out->data_size = size;
    }
    return true;
}

bool tflite_get_tensor(struct tflite_import *im, int32_t index, struct tflite_tensor *out)
{
    struct tdl_fb_table table;
    const char *name;

    memset(out, 0, sizeof(*out));
    if (index < 0 || (uint32_t)index >= im->tensors.count)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL, "there is no tensor %d, only %u", index,
                           im->tensors.count);
    table = tdl_fb_vector_table(&im->fb, &im->tensors, (uint32_t)index);
    name = tdl_fb_string(&im->fb, &table, TFLITE_TENSOR_NAME);
    out->name = name ? name : "";
    out->type = tdl_fb_u8(&im->fb, &table, TFLITE_TENSOR_TYPE, TFLITE_FLOAT32);
    if (!read_shape(im, &table, index, out))
        return false;
    if (tdl_fb_u8(&im->fb, &table, TFLITE_TENSOR_IS_VARIABLE, 0))
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "tensor %d '%.80s' is a variable kept between runs; convert the model "
                           "with its state as inputs and outputs",
                           index, out->name);
    if (tdl_fb_has(&im->fb, &table, TFLITE_TENSOR_SPARSITY))
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "tensor %d '%.80s' is sparse; convert the model with dense weights",
                           index, out->name);
    return read_buffer(im, &table, index, out);
}

static bool fail_type(struct tflite_import *im, int32_t index, const struct tflite_tensor *tensor)
{
    return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                       "tensor %d '%.80s' is %s; libtdl takes float32 models with float32 or "
                       "float16 weights: convert without integer quantisation",
                       index, tensor->name, tflite_type_name(tensor->type));
}

static uint32_t type_size(uint8_t type)
{
    return type == TFLITE_FLOAT16 ? 2 : type == TFLITE_FLOAT32 || type == TFLITE_INT32 ? 4 : 0;
}

bool tflite_get_constant(struct tflite_import *im, int32_t index, struct tflite_tensor *out)
{
    if (index >= 0 && (uint32_t)index < im->tensors.count && im->values[index].source)
        index = im->values[index].source - 1;
    if (!tflite_get_tensor(im, index, out))
        return false;
    if (!out->data)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "tensor %d '%.80s' must be constant and is computed", index, out->name);
    if (type_size(out->type) == 0)
        return fail_type(im, index, out);
    if (out->data_size != out->elements * type_size(out->type))
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the model file is damaged: tensor %d '%.80s' has %llu bytes of data "
                           "and needs %llu",
                           index, out->name, (unsigned long long)out->data_size,
                           (unsigned long long)(out->elements * type_size(out->type)));
    return true;
}

void *tflite_make(struct tflite_import *im, const struct tflite_made *key, bool *out_found)
{
    const uint64_t *found = tdl_map_find(&im->made, key, sizeof(*key));
    void *memory;

    *out_found = found != NULL;
    if (found)
        return (void *)(uintptr_t)*found;
    /* Different constants have different bytes, but nothing in the format says
     * so; and the same ones can be read in many shapes. */
    im->made_bytes += key->size;
    if (im->made_bytes > MADE_TIMES * im->fb.size) {
        tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                    "the model file is damaged: its constants overlap, and together are more than "
                    "%d times the file",
                    MADE_TIMES);
        return NULL;
    }
    memory = malloc(key->size);
    if (memory)
        tdl_builder_own(im->builder, memory, free);
    if (!memory || !tdl_map_add(&im->made, key, sizeof(*key), (uintptr_t)memory)) {
        tflite_fail(im, TDL_ERROR_OUT_OF_MEMORY, "no memory for a constant of %llu bytes",
                    (unsigned long long)key->size);
        return NULL;
    }
    return memory;
}

/* Kernels read constants through typed pointers. Converters align them; the
 * odd one out, or a file mapped at an odd address, is copied. */
static const void *aligned_data(struct tflite_import *im, const struct tflite_tensor *constant)
{
    const struct tflite_made key = {.from = (uintptr_t)constant->data,
                                    .size = constant->data_size,
                                    .kind = TFLITE_MADE_ALIGNED};
    void *copy;
    bool found;

    if ((uintptr_t)constant->data % 4 == 0)
        return constant->data;
    copy = tflite_make(im, &key, &found);
    if (copy && !found)
        memcpy(copy, constant->data, constant->data_size);
    return copy;
}

/* As float32: once, however many tensors are the same constant. */
static struct tdl_operand *widen(struct tflite_import *im, struct tdl_operand *half)
{
    const struct tflite_made key = {.from = (uintptr_t)half, .kind = TFLITE_MADE_WIDE};
    const uint64_t *found = tdl_map_find(&im->made, &key, sizeof(key));
    struct tdl_operand *wide;

    if (found)
        return (struct tdl_operand *)(uintptr_t)*found;
    wide = tdl_builder_cast(im->builder, half, TDL_FLOAT32);
    if (wide && !tdl_map_add(&im->made, &key, sizeof(key), (uintptr_t)wide)) {
        tflite_fail(im, TDL_ERROR_OUT_OF_MEMORY, "no memory to import the model");
        return NULL;
    }
    return wide;
}

struct tdl_operand *tflite_constant_operand(struct tflite_import *im,
                                            const struct tflite_tensor *constant)
{
    const bool half = constant->type == TFLITE_FLOAT16;
    const void *data = aligned_data(im, constant);
    struct tdl_tensor_params desc = {
        .dtype = half ? TDL_FLOAT16 : TDL_FLOAT32,
        .rank = constant->rank,
    };
    struct tdl_operand *operand;

    if (!data)
        return NULL;
    memcpy(desc.shape, constant->shape, sizeof(desc.shape));
    operand = tdl_builder_constant(im->builder, &desc, data, constant->data_size);
    return operand && half ? widen(im, operand) : operand;
}

struct tdl_operand *tflite_operand(struct tflite_import *im, int32_t index)
{
    struct tflite_tensor tensor;
    struct tflite_value *value;

    if (!tflite_get_tensor(im, index, &tensor))
        return NULL;
    value = &im->values[index];
    if (value->operand)
        return value->operand;
    if (!value->source && !tensor.data) {
        tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                    "the model file is damaged: tensor %d '%.80s' is read before an operator "
                    "writes it",
                    index, tensor.name);
        return NULL;
    }
    if (tensor.type != TFLITE_FLOAT32) {
        fail_type(im, index, &tensor);
        return NULL;
    }
    if (!tflite_get_constant(im, index, &tensor))
        return NULL;
    value->operand = tflite_constant_operand(im, &tensor);
    return value->operand;
}

/* -------------------------------------------------------------- operators */

/* A list of tensor indices of an operator, at most TFLITE_MAX_ARGS. */
static bool read_args(struct tflite_import *im, const struct tdl_fb_table *table, uint32_t field,
                      int32_t *out_args, uint32_t *out_count)
{
    const struct tdl_fb_vector list = tdl_fb_vector_of(&im->fb, table, field, 4);

    if (!tflite_check(im))
        return false;
    *out_count = list.count;
    for (uint32_t i = 0; i < list.count && i < TFLITE_MAX_ARGS; i++) {
        out_args[i] = tdl_fb_vector_i32(&im->fb, &list, i);
        if (out_args[i] < -1 || out_args[i] >= (int64_t)im->tensors.count)
            return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                               "the model file is damaged: there is no tensor %d, only %u",
                               out_args[i], im->tensors.count);
    }
    return true;
}

static bool fail_unknown(struct tflite_import *im, const struct tflite_op *op, int32_t code)
{
    const char *name = tflite_code_name(code);
    char known[576];

    return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                       "operator %u %s (builtin code %d) is not supported; libtdl has %s",
                       op->index, name ? name : "of an unknown kind", code,
                       tflite_known_names(known, sizeof(known)));
}

/* Finds the row for an operator's code and checks the version. Sets the label
 * under which all later errors of this operator appear; until then errors name
 * it themselves. */
static bool resolve_code(struct tflite_import *im, const struct tdl_fb_table *table,
                         struct tflite_op *op)
{
    const int32_t number = tdl_fb_i32(&im->fb, table, TFLITE_OPERATOR_CODE_INDEX, 0);
    const struct tdl_fb_table entry = tdl_fb_vector_table(&im->fb, &im->codes, (uint32_t)number);
    const int32_t old_code = (int8_t)tdl_fb_u8(&im->fb, &entry, TFLITE_OPCODE_DEPRECATED_CODE, 0);
    const int32_t new_code = tdl_fb_i32(&im->fb, &entry, TFLITE_OPCODE_CODE, 0);
    const char *custom = tdl_fb_string(&im->fb, &entry, TFLITE_OPCODE_CUSTOM_CODE);
    const int32_t version = tdl_fb_i32(&im->fb, &entry, TFLITE_OPCODE_VERSION, 1);
    const int32_t code = old_code > new_code ? old_code : new_code;
    char label[96];

    tdl_builder_set_label(im->builder, NULL);
    if (!tflite_check(im))
        return false;
    op->row = tflite_find_row(code, custom);
    if (!op->row && code == TFLITE_CUSTOM)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "operator %u CUSTOM '%.64s' is not supported; convert the model to "
                           "TensorFlow Lite's builtin operators",
                           op->index, custom ? custom : "");
    if (!op->row)
        return fail_unknown(im, op, code);
    if (version < 1 || version > op->row->max_version)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "operator %u %s has version %d; libtdl knows versions 1 to %d: convert "
                           "the model with an older TensorFlow",
                           op->index, op->row->name, version, op->row->max_version);
    snprintf(label, sizeof(label), "operator %u %s", op->index, op->row->name);
    tdl_builder_set_label(im->builder, label);
    return true;
}

static bool read_options(struct tflite_import *im, const struct tdl_fb_table *table,
                         struct tflite_op *op)
{
    const uint8_t type = tdl_fb_u8(&im->fb, table, TFLITE_OPERATOR_OPTIONS_TYPE, 0);

    op->custom_options = tdl_fb_vector_of(&im->fb, table, TFLITE_OPERATOR_CUSTOM_OPTIONS, 1);
    if (!tflite_check(im))
        return false;
    if (op->row->options_type == 0 || type == 0) /* none needed, or all of them defaults */
        return true;
    if (type != op->row->options_type)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the model file is damaged: options of kind %u instead of %u", type,
                           op->row->options_type);
    op->options = tdl_fb_sub_table(&im->fb, table, TFLITE_OPERATOR_OPTIONS);
    return tflite_check(im);
}

static bool import_operator(struct tflite_import *im, uint32_t index)
{
    const struct tdl_fb_table table = tdl_fb_vector_table(&im->fb, &im->operators, index);
    struct tflite_op op = {.index = index};

    if (!resolve_code(im, &table, &op) || !read_options(im, &table, &op) ||
        !read_args(im, &table, TFLITE_OPERATOR_INPUTS, op.inputs, &op.input_count) ||
        !read_args(im, &table, TFLITE_OPERATOR_OUTPUTS, op.outputs, &op.output_count))
        return false;
    if (op.input_count < op.row->min_inputs || op.input_count > op.row->max_inputs)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL, "%u inputs instead of %u to %u",
                           op.input_count, op.row->min_inputs, op.row->max_inputs);
    if (op.output_count != 1 || op.outputs[0] < 0)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL, "%u outputs instead of one",
                           op.output_count);
    return op.row->add(im, &op) && tdl_builder_status(im->builder) == TDL_OK;
}

bool tflite_set_output(struct tflite_import *im, const struct tflite_op *op,
                       struct tdl_operand *operand)
{
    const int32_t index = op->outputs[0];
    const struct tdl_tensor_params *desc;
    struct tflite_tensor tensor;

    if (!operand || !tflite_get_tensor(im, index, &tensor))
        return false;
    if (im->values[index].operand || im->values[index].source || tensor.data)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the model file is damaged: tensor %d '%.80s' is written twice", index,
                           tensor.name);
    if (tensor.type != TFLITE_FLOAT32)
        return fail_type(im, index, &tensor);
    desc = tdl_operand_get_desc(operand);
    if (desc->rank != tensor.rank ||
        memcmp(desc->shape, tensor.shape, tensor.rank * sizeof(tensor.shape[0])) != 0)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the operator gives [%u,%u,%u,%u], the file says [%u,%u,%u,%u] for "
                           "tensor %d '%.80s'",
                           desc->shape[0], desc->shape[1], desc->shape[2], desc->shape[3],
                           tensor.shape[0], tensor.shape[1], tensor.shape[2], tensor.shape[3],
                           index, tensor.name);
    im->values[index].operand = operand;
    return true;
}

/* ------------------------------------------------------------------- file */

static bool open_model(struct tflite_import *im)
{
    struct tdl_fb_table model = tdl_fb_root(&im->fb, TFLITE_IDENTIFIER);
    struct tdl_fb_vector subgraphs;
    struct tdl_fb_table subgraph;
    int32_t version;

    if (im->fb.error)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "not a TensorFlow Lite model: %s; give a .tflite file", im->fb.error);
    version = tdl_fb_i32(&im->fb, &model, TFLITE_MODEL_VERSION, 0);
    subgraphs = tdl_fb_vector_of(&im->fb, &model, TFLITE_MODEL_SUBGRAPHS, 4);
    im->codes = tdl_fb_vector_of(&im->fb, &model, TFLITE_MODEL_OPERATOR_CODES, 4);
    im->buffers = tdl_fb_vector_of(&im->fb, &model, TFLITE_MODEL_BUFFERS, 4);
    if (!tflite_check(im))
        return false;
    if (version != TFLITE_VERSION)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "the model has schema version %d; libtdl reads version %d: convert it "
                           "with TensorFlow 2",
                           version, TFLITE_VERSION);
    if (subgraphs.count != 1)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "the model has %u subgraphs; libtdl takes one: convert it without "
                           "control flow",
                           subgraphs.count);
    subgraph = tdl_fb_vector_table(&im->fb, &subgraphs, 0);
    im->tensors = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_TENSORS, 4);
    im->inputs = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_INPUTS, 4);
    im->outputs = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_OUTPUTS, 4);
    im->operators = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_OPERATORS, 4);
    if (!tflite_check(im))
        return false;
    if (im->inputs.count == 0 || im->outputs.count == 0)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL, "the model has %u inputs and %u outputs",
                           im->inputs.count, im->outputs.count);
    im->values = calloc((size_t)im->tensors.count + 1, sizeof(*im->values));
    if (!im->values)
        return tflite_fail(im, TDL_ERROR_OUT_OF_MEMORY, "no memory for %u tensors",
                           im->tensors.count);
    return true;
}

#define MAX_NAME 64 /* of an input or output, with its NUL; the builder's limit */

/* Nameless inputs and outputs take a name from their place, long names are cut. */
static const char *binding_name(const struct tflite_tensor *tensor, const char *kind,
                                uint32_t number, char text[MAX_NAME])
{
    if (tensor->name[0])
        snprintf(text, MAX_NAME, "%s", tensor->name);
    else
        snprintf(text, MAX_NAME, "%s_%u", kind, number);
    return text;
}

static bool import_inputs(struct tflite_import *im)
{
    for (uint32_t i = 0; i < im->inputs.count; i++) {
        const int32_t index = tdl_fb_vector_i32(&im->fb, &im->inputs, i);
        struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32};
        struct tflite_tensor tensor;
        char text[MAX_NAME];

        if (!tflite_check(im) || !tflite_get_tensor(im, index, &tensor))
            return false;
        if (tensor.type != TFLITE_FLOAT32)
            return fail_type(im, index, &tensor);
        if (im->values[index].operand || tensor.data)
            return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                               "the model file is damaged: input %u, tensor %d '%.80s', is %s", i,
                               index, tensor.name, tensor.data ? "constant" : "listed twice");
        desc.rank = tensor.rank;
        memcpy(desc.shape, tensor.shape, sizeof(desc.shape));
        im->values[index].operand =
            tdl_builder_input(im->builder, binding_name(&tensor, "input", i, text), &desc);
        if (!im->values[index].operand)
            return false;
    }
    return true;
}

static bool import_outputs(struct tflite_import *im)
{
    for (uint32_t i = 0; i < im->outputs.count; i++) {
        const int32_t index = tdl_fb_vector_i32(&im->fb, &im->outputs, i);
        struct tflite_tensor tensor;
        char text[MAX_NAME];

        if (!tflite_check(im) || !tflite_get_tensor(im, index, &tensor))
            return false;
        if (!im->values[index].operand || im->values[index].source || tensor.data)
            return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                               "the model file is damaged: no operator writes output %u, tensor "
                               "%d '%.80s'",
                               i, index, tensor.name);
        if (tdl_builder_output(im->builder, binding_name(&tensor, "output", i, text),
                               im->values[index].operand) != TDL_OK)
            return false;
    }
    return true;
}

static void import(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    struct tflite_import im = {.builder = builder,
                               .fb = {.data = source->data, .size = source->size}};
    bool ok = open_model(&im) && import_inputs(&im);
    for (uint32_t i = 0; ok && i < im.operators.count; i++)
        ok = import_operator(&im, i);
    tdl_builder_set_label(builder, NULL);
    if (ok)
        import_outputs(&im);
    free(im.values);
    tdl_map_finish(&im.made);
}

/* The offset of the root, then the identifier. */
static bool recognises(const void *head, size_t size)
{
    return size >= 8 && !memcmp((const char *)head + 4, TFLITE_IDENTIFIER, 4);
}

const struct tdl_model_format tdl_model_tflite = {
    .name = "TensorFlow Lite",
    .recognises = recognises,
    .import = import,
};
