/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite files: from the FlatBuffer to builder calls.
 *
 * A file has a list of tensors and a list of operators in an order in which
 * they can run. Constants are tensors with data. They become operands when an
 * operator first reads them, so unused ones cost nothing; those of weights
 * kept as float16 sit behind a DEQUANTIZE operator, which is only noted
 * (tflite_value.source) and looked through. Operators, and tensors, that share
 * their bytes share all that is made of them. What operators compute from shapes
 * and constants, the builder evaluates, so that it is numbers when an operator asks.
 *
 * Nothing in the file is believed: flatbuffer.c checks offsets, tensors.c
 * types and sizes, this file indices, ops_*.c options, the builder shapes;
 * at last the shape that the builder inferred must be the file's.
 */
#include "tflite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
            return tdl_kit_damaged(&im->kit,
                                   "the model file is damaged: there is no tensor %d, only %u",
                                   out_args[i], im->tensors.count);
    }
    return true;
}

/* Operators that converters leave in a file, and how one is had without them. */
static bool fail_unknown(struct tflite_import *im, const struct tflite_op *op, int32_t code)
{
    static const struct {
        const char *name, *reason;
    } refused[] = {
        {"CALL_ONCE", "convert the model from a function without tf.Variable"},
        {"IF", "convert the model without control flow"},
        {"WHILE", "convert the model without control flow: unroll loops and recurrent layers "
                  "(unroll=True)"},
    };
    const char *name = tflite_code_name(code), *reason = "convert the model without it, or cut it "
                                                         "off behind its inputs";

    for (size_t i = 0; name && i < sizeof(refused) / sizeof(refused[0]); i++)
        reason = !strcmp(name, refused[i].name) ? refused[i].reason : reason;
    return tdl_kit_refuse(&im->kit, "operator %u %s (builtin code %d) is not supported; %s",
                          op->index, name ? name : "of an unknown kind", code, reason);
}

static bool fail_custom(struct tflite_import *im, const struct tflite_op *op, const char *custom)
{
    const char *reason = "convert the model to TensorFlow Lite's builtin operators";

    custom = custom ? custom : "";
    if (!strncmp(custom, "Flex", 4))
        reason = "it is TensorFlow's own: convert the model with supported_ops = "
                 "[tf.lite.OpsSet.TFLITE_BUILTINS], without SELECT_TF_OPS";
    else if (!strcmp(custom, "TFLite_Detection_PostProcess"))
        reason = "export the model without non-maximum suppression at its end";
    return tdl_kit_refuse(&im->kit, "operator %u CUSTOM '%.64s' is not supported; %s", op->index,
                          custom, reason);
}

/* The name of its first output, where the file has one: damage is found by who reads that. */
static const char *output_name(struct tflite_import *im, const struct tdl_fb_table *table)
{
    const struct tdl_fb_vector outputs =
        tdl_fb_vector_of(&im->fb, table, TFLITE_OPERATOR_OUTPUTS, 4);
    const int32_t first = outputs.count ? tdl_fb_vector_i32(&im->fb, &outputs, 0) : -1;
    struct tdl_fb_table output;

    if (first < 0 || (uint32_t)first >= im->tensors.count)
        return NULL;
    output = tdl_fb_vector_table(&im->fb, &im->tensors, (uint32_t)first);
    return tdl_fb_string(&im->fb, &output, TFLITE_TENSOR_NAME);
}

/* The operator with its output's name, by which it is found in a viewer. */
static void set_label(struct tflite_import *im, const struct tdl_fb_table *table,
                      const struct tflite_op *op)
{
    const char *name = output_name(im, table);
    char label[160];
    int length;

    length = snprintf(label, sizeof(label), "operator %u %s", op->index, op->row->name);
    if (name && *name)
        length += snprintf(label + length, sizeof(label) - (size_t)length, " '%.60s'", name);
    if (im->depth)
        snprintf(label + length, sizeof(label) - (size_t)length, " of graph %u", im->graph);
    tdl_builder_set_label(im->builder, label);
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

    tdl_builder_set_label(im->builder, NULL);
    if (!tflite_check(im))
        return false;
    op->row = tflite_find_row(code, custom);
    if (!op->row && code == TFLITE_CUSTOM)
        return fail_custom(im, op, custom);
    if (!op->row)
        return fail_unknown(im, op, code);
    if (version < 1 || version > op->row->newest)
        return tdl_kit_refuse(
            &im->kit,
            "operator %u %s has version %d; libtdl knows versions 1 to %d: convert "
            "the model with an older TensorFlow",
            op->index, op->row->name, version, op->row->newest);
    set_label(im, table, op);
    return true;
}

static bool read_options2(struct tflite_import *im, const struct tdl_fb_table *table,
                          struct tflite_op *op)
{
    const uint8_t type = tdl_fb_u8(&im->fb, table, TFLITE_OPERATOR_OPTIONS2_TYPE, 0);

    if (tflite_check(im) && type != op->row->options2)
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: options of kind %u instead of %u", type,
                               op->row->options2);
    op->options = tdl_fb_sub_table(&im->fb, table, TFLITE_OPERATOR_OPTIONS2);
    return tflite_check(im);
}

static bool read_options(struct tflite_import *im, const struct tdl_fb_table *table,
                         struct tflite_op *op)
{
    const uint8_t type = tdl_fb_u8(&im->fb, table, TFLITE_OPERATOR_OPTIONS_TYPE, 0);

    op->custom_options = tdl_fb_vector_of(&im->fb, table, TFLITE_OPERATOR_CUSTOM_OPTIONS, 1);
    if (!tflite_check(im))
        return false;
    if (op->row->options2)
        return read_options2(im, table, op);
    if (op->row->options == 0 || type == 0) /* none needed, or all of them defaults */
        return true;
    if (type != op->row->options)
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: options of kind %u instead of %u", type,
                               op->row->options);
    op->options = tdl_fb_sub_table(&im->fb, table, TFLITE_OPERATOR_OPTIONS);
    return tflite_check(im);
}

static bool import_operator(struct tflite_import *im, uint32_t index)
{
    const struct tdl_fb_table table = tdl_fb_vector_table(&im->fb, &im->operators, index);
    struct tflite_op op = {.index = index};

    im->bounded = false;
    if (!resolve_code(im, &table, &op) || !read_options(im, &table, &op) ||
        !read_args(im, &table, TFLITE_OPERATOR_INPUTS, op.inputs, &op.input_count) ||
        !read_args(im, &table, TFLITE_OPERATOR_OUTPUTS, op.outputs, &op.output_count))
        return false;
    const uint32_t most = op.row->outputs ? op.row->outputs : 1;
    if (op.input_count < op.row->least || op.input_count > op.row->most)
        return tdl_kit_damaged(&im->kit, "%u inputs instead of %u to %u", op.input_count,
                               op.row->least, op.row->most);
    if (op.output_count < 1 || op.output_count > most || op.outputs[0] < 0)
        return tdl_kit_damaged(
            &im->kit, most == 1 ? "%u outputs instead of one" : "%u outputs instead of 1 to %u",
            op.output_count, most);
    return op.row->add(im, &op) && tdl_builder_status(im->builder) == TDL_OK;
}

/* ------------------------------------------------------------------- file */

static bool open_model(struct tflite_import *im)
{
    struct tdl_fb_table model = tdl_fb_root(&im->fb, TFLITE_IDENTIFIER);
    int32_t version;

    if (im->fb.error)
        return tdl_kit_damaged(&im->kit, "not a TensorFlow Lite model: %s; give a .tflite file",
                               im->fb.error);
    version = tdl_fb_i32(&im->fb, &model, TFLITE_MODEL_VERSION, 0);
    im->subgraphs = tdl_fb_vector_of(&im->fb, &model, TFLITE_MODEL_SUBGRAPHS, 4);
    im->codes = tdl_fb_vector_of(&im->fb, &model, TFLITE_MODEL_OPERATOR_CODES, 4);
    im->buffers = tdl_fb_vector_of(&im->fb, &model, TFLITE_MODEL_BUFFERS, 4);
    if (!tflite_check(im))
        return false;
    if (version != TFLITE_VERSION)
        return tdl_kit_refuse(
            &im->kit,
            "the model has schema version %d; libtdl reads version %d: convert it "
            "with TensorFlow 2",
            version, TFLITE_VERSION);
    if (im->subgraphs.count == 0)
        return tdl_kit_damaged(&im->kit, "the model has no graph");
    if (!tflite_open_subgraph(im, 0))
        return false;
    if (im->inputs.count == 0 || im->outputs.count == 0)
        return tdl_kit_damaged(&im->kit, "the model has %u inputs and %u outputs", im->inputs.count,
                               im->outputs.count);
    return true;
}

/* Nameless inputs and outputs take a name from their place. */
static const char *binding_name(const struct tflite_tensor *tensor, const char *kind,
                                uint32_t number, char text[TDL_KIT_NAME])
{
    if (tensor->name[0])
        snprintf(text, TDL_KIT_NAME, "%s", tensor->name);
    else
        snprintf(text, TDL_KIT_NAME, "%s_%u", kind, number);
    return text;
}

/* Sizes that were open when the file was made are what it notes, unless the caller says. */
static bool import_input(struct tflite_import *im, uint32_t number, struct tdl_kit_open *open)
{
    const int32_t index = tdl_fb_vector_i32(&im->fb, &im->inputs, number);
    struct tdl_kit_input in = {.has_rank = true};
    struct tdl_tensor_params desc;
    struct tflite_tensor tensor;
    struct tdl_operand *x;

    if (!tflite_check(im) || !tflite_get_tensor(im, index, &tensor))
        return false;
    if (!tflite_dtype(&tensor, &in.dtype))
        return tflite_fail_type(im, index, &tensor);
    if (im->values[index].operand || tensor.data)
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: input %u, tensor %d '%.80s', is %s", number,
            index, tensor.name, tensor.data ? "constant" : "listed twice");
    binding_name(&tensor, "input", number, in.name);
    in.rank = tensor.rank;
    for (uint32_t d = 0; d < in.rank; d++) {
        in.size[d] = tensor.open[d] ? 0 : tensor.shape[d];
        in.hint[d] = tensor.shape[d];
    }
    const struct tdl_model_number *said = tdl_kit_find_number(&im->kit, in.name);
    if (!tdl_kit_bind(&im->kit, &in, &desc, open))
        return false;
    x = said ? tdl_kit_fill(&im->kit, &desc, said->value) : tdl_kit_add_input(&im->kit, &in, &desc);
    if (x && tdl_kit_desc(x)->dtype != in.dtype)
        x = tdl_builder_cast(im->builder, x, in.dtype);
    return (im->values[index].operand = x) != NULL;
}

static bool import_inputs(struct tflite_import *im)
{
    struct tdl_kit_open open = {0};

    for (uint32_t i = 0; i < im->inputs.count; i++)
        if (!import_input(im, i, &open))
            return false;
    return tdl_kit_check_bound(&im->kit, &open);
}

static bool import_outputs(struct tflite_import *im, const struct tdl_model_source *source)
{
    for (uint32_t i = 0; i < im->outputs.count; i++) {
        const int32_t index = tdl_fb_vector_i32(&im->fb, &im->outputs, i);
        struct tflite_tensor tensor;
        char text[TDL_KIT_NAME];

        if (!tflite_check(im) || !tflite_get_tensor(im, index, &tensor))
            return false;
        if (tensor.data || im->values[index].source || !im->values[index].operand)
            return tdl_kit_damaged(
                &im->kit,
                "the model file is damaged: no operator writes output %u, tensor "
                "%d '%.80s'",
                i, index, tensor.name);
        if (!tflite_operand(im, index) ||
            !tdl_model_output(im->builder, source, binding_name(&tensor, "output", i, text),
                              tflite_operand(im, index)))
            return false;
    }
    return true;
}

static const struct tdl_kit_ways ways = {
    .other = "convert the model anew with supported_ops = "
             "[tf.lite.OpsSet.TFLITE_BUILTINS] and no optimizations, or to ONNX (python -m "
             "tf2onnx.convert --tflite FILE --output model.onnx)",
    .fixed = " (a concrete function whose input signature has no None)",
};

static void import(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    struct tflite_import im = {.kit = tdl_kit_begin(builder, source, &ways),
                               .builder = builder,
                               .add_operator = import_operator,
                               .fb = {.data = source->data, .size = source->size}};
    tdl_builder_set_input_layout(builder, TDL_LAYOUT_NHWC);
    bool ok = open_model(&im) && import_inputs(&im);
    for (uint32_t i = 0; ok && i < im.operators.count; i++)
        ok = import_operator(&im, i);
    tdl_builder_set_label(builder, NULL);
    if (ok)
        import_outputs(&im, source);
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
    .operator_name = tflite_row_name,
    .import = import,
};
