/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of the TensorFlow Lite reader: a table of changes to a small valid model, each with the
 * result and a part of the text. Then the person models are cut short and have bytes changed, which
 * may only fail with a text.
 */
#include "tflite-writer.h"

#include <tdl/models.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
    uint8_t *data;
    size_t size;
};

struct row {
    const char *name;
    void (*change)(struct writer_model *model); /* changes the description, or NULL */
    void (*patch)(struct file *file);           /* changes the bytes, or NULL */
    enum tdl_result result;
    const char *text; /* part of the error */
};

static int failures;

/* ---------------------------------------------- changes of the description */

static const float infinite = INFINITY;
static const int32_t zeros[4];

/* The filter as numbers with scales. */
static void int8(struct writer_model *m)
{
    static const float scales[5] = {1, 2, 3, 4, 5};
    static const int64_t middle[5] = {0};

    m->tensors[1].type = 9;
    m->tensors[1].data_size = 135;
    m->tensors[1].scales = scales;
    m->tensors[1].zeros = middle;
    m->tensors[1].scale_count = 1;
}

/* Operator 3 as another, with these inputs; all but the last two once. */
static void become(struct writer_model *m, int code, int inputs, int a, int b, int c)
{
    m->ops[3] = (struct writer_op){.code = code, .version = 1, .input_count = inputs,
                                   .inputs = {a, b, c, c}, .output_count = 1, .outputs = {7}};
}

static void weights(struct writer_model *m)
{
    static const float none[56];

    m->tensors[11] = (struct writer_tensor){"weights", 0, 2, {8, 7}, none, sizeof(none)};
    m->outputs[0] = 7;
    m->op_count = 5;
}

/* From 8 to 12 by 1, of five. */
static void places(struct writer_model *m)
{
    static const int32_t from = 8, to = 12, one = 1;

    m->tensors[9] = (struct writer_tensor){"from", 2, 1, {1}, &from, 4};
    m->tensors[10] = (struct writer_tensor){"to", 2, 1, {1}, &to, 4};
    m->tensors[11] = (struct writer_tensor){"one", 2, 1, {1}, &one, 4};
    m->ops[3].inputs[1] = 9;
    m->ops[3].inputs[2] = 10;
    m->outputs[0] = 7;
    m->op_count = 4;
}

#define CHANGE(name, statement)                                                                    \
    static void name(struct writer_model *m)                                                       \
    {                                                                                              \
        statement;                                                                                 \
    }

CHANGE(wrong_identifier, memcpy(m->identifier, "TFL2", 4))
CHANGE(version_2, m->version = 2)
CHANGE(two_subgraphs, m->subgraphs = 2)
CHANGE(no_subgraph, m->subgraphs = 0)
CHANGE(no_inputs, m->input_count = 0)
CHANGE(no_outputs, m->output_count = 0)
CHANGE(lstm, m->ops[3].code = 16)
CHANGE(multinomial, m->ops[3].code = 149)
CHANGE(unknown_code, m->ops[3].code = 4000)
CHANGE(unknown_custom, (m->ops[3].code = 32, m->ops[3].custom = "MaxUnpooling2D"))
CHANGE(flex, (m->ops[3].code = 32, m->ops[3].custom = "FlexErf"))
CHANGE(detections, (m->ops[3].code = 32, m->ops[3].custom = "TFLite_Detection_PostProcess"))
CHANGE(loop, m->ops[3].code = 119)
CHANGE(nameless_custom, m->ops[3].code = 32)
CHANGE(strange_custom, (m->ops[3].code = 32, m->ops[3].custom = "evil\n\x1b[2J\xff"))
CHANGE(new_version, m->ops[2].version = 99)
CHANGE(negative_version, m->ops[2].version = -1)
CHANGE(code_index_past_end, m->ops[5].code_index = 1)
CHANGE(wrong_options, m->ops[2].options_type = 5)
CHANGE(no_options, m->ops[2].options_type = 0)
CHANGE(zero_stride, m->ops[2].options[0].value = 0)
CHANGE(negative_stride, m->ops[2].options[1].value = -2)
CHANGE(huge_stride, m->ops[2].options[1].value = 0x7fffffff)
CHANGE(bad_padding, (m->ops[2].options[2] = (struct writer_option){0, 1, 7}))
CHANGE(fused_sign_bit, m->ops[2].options[2].value = 5)
CHANGE(zero_dilation, (m->ops[2].options[3] = (struct writer_option){4, 4, 0}))
CHANGE(missing_input, m->ops[2].input_count = 1)
CHANGE(too_many_inputs, m->ops[2].input_count = 9)
CHANGE(left_out_input, m->ops[2].inputs[0] = -1)
CHANGE(input_past_end, m->ops[2].inputs[1] = 12)
CHANGE(input_negative, m->ops[2].inputs[1] = -7)
CHANGE(two_outputs, (m->ops[2].output_count = 2, m->ops[2].outputs[1] = 8))
CHANGE(no_output, m->ops[2].output_count = 0)
CHANGE(read_before_write, m->ops[2].inputs[0] = 8)
CHANGE(written_twice, m->ops[3].outputs[0] = 5)
CHANGE(input_overwritten, m->ops[3].outputs[0] = 0)
CHANGE(constant_overwritten, m->ops[3].outputs[0] = 6)
CHANGE(dequantized_twice, m->ops[1].outputs[0] = 2)
CHANGE(int8_input, m->tensors[0].type = 9)
CHANGE(complex_input, m->tensors[0].type = 8)
CHANGE(int8_weights, (m->tensors[1].type = 9, m->tensors[1].data_size = 135))
CHANGE(int8_result, m->tensors[5].type = 9)
CHANGE(half_result, m->tensors[5].type = 1)
CHANGE(unknown_type, m->tensors[0].type = 77)
CHANGE(half_without_dequantize, m->ops[2].inputs[1] = 1)
CHANGE(int_activation, m->tensors[6].type = 2)
CHANGE(seven_dimensions, m->tensors[0].rank = 7)
CHANGE(dynamic_shape, m->tensors[0].shape[0] = -1)
CHANGE(empty_shape, m->tensors[0].shape[1] = 0)
CHANGE(huge_shape, (m->tensors[0].shape[1] = m->tensors[0].shape[2] = 0x7fffffff))
CHANGE(wrong_shape, m->tensors[5].shape[2] = 7)
CHANGE(wrong_rank, m->tensors[5].rank = 3)
CHANGE(short_data, m->tensors[1].data_size -= 2)
CHANGE(dequantize_shape, m->tensors[2].shape[0] = 4)
CHANGE(buffer_past_end, m->tensors[6].buffer = 13)
CHANGE(variable, m->tensors[6].variable = 1)
CHANGE(sparse, m->tensors[6].sparse = 1)
CHANGE(bad_axes, m->tensors[9].data = "\2\0\0\0\4\0\0\0")
CHANGE(huge_axis, m->tensors[9].data = "\1\0\0\0\0\0\0\x80")
CHANGE(dropped_dimensions, m->ops[4].options[0].value = 0)
CHANGE(scale_of_nothing, (int8(m), m->tensors[1].scales = &infinite))
CHANGE(two_scales, (int8(m), m->tensors[1].scale_count = 2))
CHANGE(far_scales, (int8(m), m->tensors[1].scale_count = 5, m->tensors[1].axis = 7))
CHANGE(two_zeros, (int8(m), m->tensors[1].scale_count = 5, m->tensors[1].zero_count = 2))
CHANGE(quantized_cast, (int8(m), m->ops[1].code = 53, m->ops[1].inputs[0] = 1))
CHANGE(computed_dequantize, m->ops[0].inputs[0] = 0)
CHANGE(computed_range, become(m, 96, 3, 5, 5, 5))
CHANGE(nine_parts, (become(m, 88, 1, 6, 0, 0), m->ops[3].output_count = 2,
                    m->ops[3].outputs[1] = 8))
CHANGE(split_axis, (become(m, 49, 2, 10, 5, 0), m->tensors[10].shape[0] = 1,
                    m->tensors[10].data_size = 4))
CHANGE(strange_weights, (become(m, 9, 2, 5, 11, 0), weights(m)))
CHANGE(shuffled, (become(m, 9, 2, 5, 11, 0), weights(m), m->ops[3].options_type = 8,
                  m->ops[3].options[0] = (struct writer_option){1, 1, 1}))
CHANGE(other_count, become(m, 22, 2, 5, 10, 0))
CHANGE(no_place, become(m, 45, 4, 6, 10, 10))
CHANGE(nothing_left, (become(m, 45, 4, 6, 10, 11), places(m)))
CHANGE(blocks_of_words, (become(m, 38, 3, 5, 10, 9), m->tensors[9].shape[0] = 4,
                         m->tensors[9].data = zeros, m->tensors[9].data_size = 16))
CHANGE(classes, (become(m, 85, 4, 9, 10, 6), m->tensors[10].shape[0] = 1,
                 m->tensors[10].data_size = 4, m->tensors[10].data = "\0\0\0\x10"))
CHANGE(computed_size, m->ops[5].inputs[1] = 8)
CHANGE(negative_size, m->tensors[10].data = "\xff\xff\xff\xff\1\0\0\0")
CHANGE(both_grids, (m->ops[5].options[1] = (struct writer_option){2, 1, 1}))
CHANGE(input_is_constant, m->inputs[0] = 6)
CHANGE(input_twice, (m->input_count = 2, m->inputs[1] = 0))
CHANGE(model_input_past_end, m->inputs[0] = 12)
CHANGE(output_not_written, m->outputs[0] = 2)
CHANGE(model_output_past_end, m->outputs[0] = -3)
CHANGE(short_transpose_options,
       (m->ops[2] = (struct writer_op){.code = 32, .version = 1, .input_count = 3,
                                       .custom = "Convolution2DTransposeBias",
                                       .inputs = {0, 2, 4}, .output_count = 1, .outputs = {5},
                                       .custom_options = "\1\0\0\0\2\0\0\0", .custom_size = 8}))
CHANGE(depthwise_filter,
       (m->ops[2].code = 4, m->ops[2].options_type = 2, m->ops[2].options[2].value = 0))

/* -------------------------------------------------------- changes of bytes */

static void put_u32(struct file *file, size_t pos, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        file->data[pos + i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_u32(const struct file *file, size_t pos)
{
    return file->data[pos] | (uint32_t)file->data[pos + 1] << 8 |
           (uint32_t)file->data[pos + 2] << 16 | (uint32_t)file->data[pos + 3] << 24;
}

/* Position of a field of the model's root table, by the writer's slots. */
static size_t root_field(const struct file *file, uint32_t field)
{
    return get_u32(file, 0) + 8 + 8 * (size_t)field;
}

static void empty_file(struct file *file) { file->size = 0; }
static void three_bytes(struct file *file) { file->size = 3; }
static void header_only(struct file *file) { file->size = 8; }
static void root_past_end(struct file *file) { put_u32(file, 0, (uint32_t)file->size); }
static void root_huge(struct file *file) { put_u32(file, 0, UINT32_MAX); }
static void root_in_header(struct file *file) { put_u32(file, 0, 4); }
static void vtable_before_file(struct file *file)
{
    put_u32(file, get_u32(file, 0), 0x7fffffff);
}
static void vtable_past_end(struct file *file)
{
    put_u32(file, get_u32(file, 0), 0x80000000u);
}
static void vtable_odd(struct file *file)
{
    const size_t root = get_u32(file, 0);

    file->data[root - get_u32(file, root)] = 7;
}
static void field_outside_table(struct file *file)
{
    const size_t root = get_u32(file, 0);

    file->data[root - get_u32(file, root) + 4] = 250;
}
static void subgraphs_past_end(struct file *file)
{
    put_u32(file, root_field(file, 2), UINT32_MAX - 8);
}
static void subgraphs_at_itself(struct file *file) { put_u32(file, root_field(file, 2), 0); }
static void buffers_count_huge(struct file *file)
{
    const size_t slot = root_field(file, 4);

    put_u32(file, slot + get_u32(file, slot), UINT32_MAX);
}

/* ------------------------------------------------------------------ table */

#define DAMAGED TDL_ERROR_INVALID_MODEL, "the model file is damaged: "

static const struct row rows[] = {
    {"empty file", NULL, empty_file, TDL_ERROR_INVALID_ARGUMENT, "it is empty"},
    {"three bytes", NULL, three_bytes, TDL_ERROR_INVALID_MODEL, "of a kind that libtdl reads"},
    {"header only", NULL, header_only, TDL_ERROR_INVALID_MODEL, "not a TensorFlow Lite model"},
    {"identifier", wrong_identifier, NULL, TDL_ERROR_INVALID_MODEL, "of a kind that"},
    {"root past end", NULL, root_past_end, TDL_ERROR_INVALID_MODEL, "outside the file"},
    {"root huge", NULL, root_huge, TDL_ERROR_INVALID_MODEL, "outside the file"},
    {"root in header", NULL, root_in_header, TDL_ERROR_INVALID_MODEL, "overlaps the header"},
    {"vtable before file", NULL, vtable_before_file, TDL_ERROR_INVALID_MODEL, "before the file"},
    {"vtable past end", NULL, vtable_past_end, TDL_ERROR_INVALID_MODEL, "outside the file"},
    {"vtable odd", NULL, vtable_odd, TDL_ERROR_INVALID_MODEL, "impossible size"},
    {"field outside table", NULL, field_outside_table, DAMAGED "a field lies outside its table"},
    {"subgraphs past end", NULL, subgraphs_past_end, DAMAGED "an offset points outside"},
    {"subgraphs at itself", NULL, subgraphs_at_itself, DAMAGED "an offset points at itself"},
    {"buffer list huge", NULL, buffers_count_huge, DAMAGED "an offset points outside"},
    {"schema version", version_2, NULL, TDL_ERROR_UNSUPPORTED, "schema version 2"},
    {"two subgraphs", two_subgraphs, NULL, TDL_OK, ""},
    {"no subgraph", no_subgraph, NULL, TDL_ERROR_INVALID_MODEL, "the model has no graph"},
    {"no inputs", no_inputs, NULL, TDL_ERROR_INVALID_MODEL, "0 inputs and 1 outputs"},
    {"no outputs", no_outputs, NULL, TDL_ERROR_INVALID_MODEL, "1 inputs and 0 outputs"},
    {"known but unsupported", lstm, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 3 LSTM (builtin code 16) is not supported; convert the model"},
    {"code above a byte", multinomial, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 3 MULTINOMIAL (builtin code 149)"},
    {"unknown code", unknown_code, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 3 of an unknown kind (builtin code 4000)"},
    {"unknown custom", unknown_custom, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 3 CUSTOM 'MaxUnpooling2D' is not supported"},
    {"TensorFlow's own", flex, NULL, TDL_ERROR_UNSUPPORTED, "without SELECT_TF_OPS"},
    {"detections", detections, NULL, TDL_ERROR_UNSUPPORTED, "without non-maximum suppression"},
    {"a loop", loop, NULL, TDL_ERROR_UNSUPPORTED, "operator 3 WHILE (builtin code 119) is not "
                                                  "supported; convert the model without control"},
    {"nameless custom", nameless_custom, NULL, TDL_ERROR_UNSUPPORTED, "operator 3 CUSTOM ''"},
    {"strange custom", strange_custom, NULL, TDL_ERROR_UNSUPPORTED, "CUSTOM 'evil??[2J?'"},
    {"operator version", new_version, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 2 CONV_2D has version 99; libtdl knows versions 1 to 8"},
    {"negative version", negative_version, NULL, TDL_ERROR_UNSUPPORTED, "has version -1"},
    {"code index", code_index_past_end, NULL, DAMAGED "an index is larger than its list"},
    {"other options", wrong_options, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 2 CONV_2D 'conv': the model file is damaged: options of kind 5 instead of 1"},
    {"no options", no_options, NULL, TDL_ERROR_INVALID_MODEL, "stride 0x0"},
    {"zero stride", zero_stride, NULL, TDL_ERROR_INVALID_MODEL, "stride 1x0"},
    {"negative stride", negative_stride, NULL, TDL_ERROR_INVALID_MODEL, "stride -2x1"},
    {"huge stride", huge_stride, NULL, TDL_ERROR_INVALID_MODEL, "stride 2147483647x1"},
    {"padding", bad_padding, NULL, TDL_ERROR_INVALID_MODEL, "padding 7"},
    {"fused function", fused_sign_bit, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 2 CONV_2D 'conv': the fused activation function 5"},
    {"zero dilation", zero_dilation, NULL, TDL_ERROR_INVALID_MODEL, "dilation 1x0"},
    {"missing input", missing_input, NULL, TDL_ERROR_INVALID_MODEL, "1 inputs instead of 2 to 3"},
    {"too many inputs", too_many_inputs, NULL, TDL_ERROR_INVALID_MODEL, "9 inputs instead of 2"},
    {"left out input", left_out_input, NULL, TDL_ERROR_INVALID_MODEL, "there is no tensor -1"},
    {"input past end", input_past_end, NULL, TDL_ERROR_INVALID_MODEL, "no tensor 12, only 12"},
    {"negative input", input_negative, NULL, TDL_ERROR_INVALID_MODEL, "no tensor -7"},
    {"two outputs", two_outputs, NULL, TDL_ERROR_INVALID_MODEL, "2 outputs instead of one"},
    {"no output", no_output, NULL, TDL_ERROR_INVALID_MODEL, "0 outputs instead of one"},
    {"read before write", read_before_write, NULL, TDL_ERROR_INVALID_MODEL,
     "tensor 8 'mean' is read before"},
    {"written twice", written_twice, NULL, TDL_ERROR_INVALID_MODEL, "'conv' is written twice"},
    {"input overwritten", input_overwritten, NULL, TDL_ERROR_INVALID_MODEL,
     "'image' is written twice"},
    {"constant overwritten", constant_overwritten, NULL, TDL_ERROR_INVALID_MODEL,
     "'offset' is written twice"},
    {"dequantized twice", dequantized_twice, NULL, TDL_ERROR_INVALID_MODEL,
     "'filter' is written twice"},
    {"int8 input", int8_input, NULL, TDL_ERROR_INVALID_ARGUMENT,
     "operator 2 CONV_2D 'conv': conv2d: input 0 is int8[1,4,6,3]"},
    {"complex input", complex_input, NULL, TDL_ERROR_UNSUPPORTED,
     "tensor 0 'image' is complex64"},
    {"int8 weights without a scale", int8_weights, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 0 DEQUANTIZE 'filter': int8 to float32 is not supported"},
    {"int8 result", int8_result, NULL, TDL_ERROR_UNSUPPORTED,
     "the operator gives float32, the file says int8 for tensor 5 'conv'"},
    {"float16 result", half_result, NULL, TDL_ERROR_UNSUPPORTED, "tensor 5 'conv' is float16"},
    {"unknown type", unknown_type, NULL, TDL_ERROR_UNSUPPORTED, "'image' is an unknown type"},
    {"float16 weights as they are", half_without_dequantize, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 2 CONV_2D 'conv': tensor 1 'filter_f16' is float16"},
    {"int32 operand", int_activation, NULL, TDL_ERROR_INVALID_ARGUMENT,
     "operator 3 ADD 'sum': add: float32[1,4,6,5] and int32[5]"},
    {"seven dimensions", seven_dimensions, NULL, TDL_ERROR_UNSUPPORTED, "has 7 dimensions"},
    {"dynamic shape", dynamic_shape, NULL, TDL_ERROR_UNSUPPORTED, "size -1 in dimension 0"},
    {"empty shape", empty_shape, NULL, TDL_ERROR_UNSUPPORTED, "size 0 in dimension 1"},
    {"huge shape", huge_shape, NULL, TDL_ERROR_UNSUPPORTED, "more than 2^30 elements"},
    {"wrong shape", wrong_shape, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 2 CONV_2D 'conv': the operator gives [1,4,6,5], the file says [1,4,7,5] for "
     "tensor 5"},
    {"wrong rank", wrong_rank, NULL, TDL_ERROR_INVALID_MODEL, "the operator gives [1,4,6,5]"},
    {"short data", short_data, NULL, TDL_ERROR_INVALID_MODEL, "268 bytes of data and needs 270"},
    {"shape of a DEQUANTIZE", dequantize_shape, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 0 DEQUANTIZE 'filter': the model file is damaged: tensors 1 and 2 differ"},
    {"buffer past end", buffer_past_end, NULL, DAMAGED "an index is larger than its list"},
    {"variable", variable, NULL, TDL_ERROR_UNSUPPORTED, "'offset' is a variable"},
    {"sparse", sparse, NULL, DAMAGED "what the sparse tensor 'offset' has does not fit"},
    {"axes", bad_axes, NULL, TDL_ERROR_INVALID_MODEL, "operator 4 MEAN 'mean': there is no axis 4"},
    {"huge axis", huge_axis, NULL, TDL_ERROR_INVALID_MODEL, "no axis -2147483648"},
    {"dropped dimensions", dropped_dimensions, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 4 MEAN 'mean': the operator gives [1,5], the file says [1,1,1,5]"},
    {"scale that is no number", scale_of_nothing, NULL, DAMAGED "tensor 'filter_f16' has a scale"},
    {"two scales", two_scales, NULL, DAMAGED "tensor 1 'filter_f16' has 2 scales along"},
    {"scales along nothing", far_scales, NULL, DAMAGED "tensor 1 'filter_f16' has 5 scales along"},
    {"scales and zero points", two_zeros, NULL, DAMAGED
     "tensor 1 'filter_f16' has 5 scales and 2 zero points"},
    {"cast of a quantized tensor", quantized_cast, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 1 CAST 'bias': tensors 1 and 4, one of them quantized"},
    {"what is computed, dequantized", computed_dequantize, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 0 DEQUANTIZE 'filter': tensor 0 'image' is float32"},
    {"a range of what is computed", computed_range, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 3 RANGE 'sum': the start depends on what the graph is run with"},
    {"several outputs", nine_parts, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 UNPACK 'sum': 2 outputs for 5 parts"},
    {"an axis for SPLIT", split_axis, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 SPLIT 'sum': there is no axis 8"},
    {"a product of strangers", strange_weights, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 FULLY_CONNECTED 'sum': weights of 2 dimensions, [8,7]"},
    {"weights that were shuffled", shuffled, NULL, TDL_ERROR_UNSUPPORTED, "weights in format 1"},
    {"a shape of other elements", other_count, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 RESHAPE 'sum': a shape of 96 elements for an input of 120"},
    {"a place that there is not", no_place, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 STRIDED_SLICE 'sum': 2 places in 1 dimensions"},
    {"a slice of nothing", nothing_left, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 STRIDED_SLICE 'sum': nothing is left of 5 elements from 8 to 12 by steps of 1"},
    {"blocks", blocks_of_words, NULL, TDL_ERROR_INVALID_MODEL,
     "operator 3 SPACE_TO_BATCH_ND 'sum': blocks of 8 do not divide"},
    {"too many classes", classes, NULL, TDL_ERROR_UNSUPPORTED, "operator 3 ONE_HOT 'sum': "},
    {"computed size", computed_size, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 5 RESIZE_BILINEAR 'mask': tensor 8 'mean' must be constant"},
    {"negative size", negative_size, NULL, TDL_ERROR_INVALID_MODEL, "size -1x1"},
    {"both grids", both_grids, NULL, TDL_ERROR_INVALID_MODEL, "exclude each other"},
    {"input is constant", input_is_constant, NULL, TDL_ERROR_INVALID_MODEL, "is constant"},
    {"input twice", input_twice, NULL, TDL_ERROR_INVALID_MODEL, "is listed twice"},
    {"model input past end", model_input_past_end, NULL, TDL_ERROR_INVALID_MODEL,
     "no tensor 12, only 12"},
    {"output not written", output_not_written, NULL, TDL_ERROR_INVALID_MODEL,
     "no operator writes output 0, tensor 2 'filter'"},
    {"model output past end", model_output_past_end, NULL, TDL_ERROR_INVALID_MODEL,
     "no tensor -3"},
    {"transposed convolution options", short_transpose_options, NULL, TDL_ERROR_UNSUPPORTED,
     "operator 2 Convolution2DTransposeBias 'conv': options (8 bytes"},
    {"depthwise filter", depthwise_filter, NULL, TDL_ERROR_INVALID_MODEL,
     "a depthwise filter float16[5,3,3,3] does not fit 3 channels"},
};

static enum tdl_result import(const struct file *file, char *text, size_t text_size)
{
    /* A copy of just the right size, so that a sanitizer sees any overrun; at
     * an odd address, so that it sees any assumption about alignment. */
    uint8_t *copy = malloc(file->size + 1);
    struct tdl_builder *builder = NULL;
    enum tdl_result r = tdl_builder_create(NULL, &builder);

    if (!copy || r != TDL_OK)
        abort();
    if (file->size > 0)
        memcpy(copy + 1, file->data, file->size);
    r = tdl_model_import(builder, copy + 1, file->size, NULL);
    if (r != tdl_builder_status(builder)) {
        printf("FAIL: the import returned %d, the builder has %d\n", r,
               tdl_builder_status(builder));
        failures++;
    }
    snprintf(text, text_size, "%s", tdl_builder_error(builder));
    tdl_builder_destroy(&builder);
    free(copy);
    return r;
}

/* How often the text names an operator by its number. */
static int operators_named(const char *text)
{
    int count = 0;

    while ((text = strstr(text, "operator "))) {
        text += strlen("operator ");
        count += *text >= '0' && *text <= '9';
    }
    return count;
}

static void test_row(const struct row *row)
{
    struct writer_model model = writer_example();
    struct file file;
    char text[600];
    enum tdl_result r;

    if (row->change)
        row->change(&model);
    file.data = write_tflite(&model, &file.size);
    if (row->patch)
        row->patch(&file);
    r = import(&file, text, sizeof(text));
    if (r != row->result || !strstr(text, row->text)) {
        printf("FAIL %s: %d \"%s\", expected %d \"…%s…\"\n", row->name, r, text, row->result,
               row->text);
        failures++;
    }
    if (operators_named(text) > 1) {
        printf("FAIL %s: \"%s\" names more than one operator\n", row->name, text);
        failures++;
    }
    free(file.data);
}

/* --------------------------------------------------------- person models */

static bool read_model(const char *name, struct file *out)
{
    const char *folder = getenv("TDL_TEST_MODELS");
    char path[1024];
    FILE *stream;

    snprintf(path, sizeof(path), "%s/%s", folder ? folder : "models", name);
    stream = fopen(path, "rb");
    if (!stream)
        return false;
    out->data = malloc(1 << 20);
    out->size = out->data ? fread(out->data, 1, 1 << 20, stream) : 0;
    fclose(stream);
    return out->size > 0;
}

static void expect_failure(const struct file *file, const char *what, size_t where)
{
    char text[600];
    const enum tdl_result r = import(file, text, sizeof(text));

    if (r == TDL_OK || !text[0]) {
        printf("FAIL: %s at %zu of %zu gave %d \"%s\"\n", what, where, file->size, r, text);
        failures++;
    }
}

/* A changed byte may hit a weight, which nobody can tell; but nothing may
 * break, and a failure must have a text. */
static void test_changed_bytes(const struct file *file, const char *name)
{
    static const uint8_t masks[] = {0xff, 0x80, 0x01};
    uint32_t seed = 20;
    unsigned refused = 0;

    for (int i = 0; i < 600; i++) {
        size_t pos;
        char text[600];
        uint8_t old;

        seed = seed * 1664525u + 1013904223u;
        pos = (seed >> 4) % file->size;
        old = file->data[pos];
        file->data[pos] ^= masks[i % 3];
        if (import(file, text, sizeof(text)) != TDL_OK) {
            refused++;
            if (!text[0]) {
                printf("FAIL: %s with byte %zu changed has no error text\n", name, pos);
                failures++;
            }
        }
        file->data[pos] = old;
    }
    printf("%s: %u of 600 changed bytes refused\n", name, refused);
    if (refused == 0) {
        printf("FAIL: no change was noticed\n");
        failures++;
    }
}

static bool test_person_model(const char *name)
{
    struct file file = {0}, cut;
    char text[600];

    if (!read_model(name, &file))
        return false;
    if (import(&file, text, sizeof(text)) != TDL_OK) {
        printf("FAIL %s: \"%s\"\n", name, text);
        failures++;
    }
    cut = file;
    for (cut.size = 0; cut.size < file.size - 64; cut.size += cut.size < 4096 ? 61 : 1999)
        expect_failure(&cut, name, cut.size);
    test_changed_bytes(&file, name);
    free(file.data);
    return true;
}

int main(void)
{
    struct writer_model model = writer_example();
    struct file file;
    char text[600];
    bool models;

    file.data = write_tflite(&model, &file.size);
    if (import(&file, text, sizeof(text)) != TDL_OK) {
        printf("FAIL: the example itself: \"%s\"\n", text);
        failures++;
    }
    /* The file ends in the table of a buffer that nobody asks for. */
    for (size_t size = 0; size + 32 < file.size; size++)
        expect_failure(&(struct file){file.data, size}, "the example cut", size);
    free(file.data);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        test_row(&rows[i]);
    models = test_person_model("selfie_segmentation.tflite");
    models = test_person_model("selfie_segmentation_landscape.tflite") && models;
    printf("%zu rows, %d failures%s\n", sizeof(rows) / sizeof(rows[0]), failures,
           models ? "" : "; person models not found (run pipelines/fetch-models.sh)");
    return failures ? 1 : models ? 0 : 77;
}
