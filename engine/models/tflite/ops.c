/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of the files of operators: readers of options and of inputs. */
#include "ops.h"

#include <string.h>

/* Strides, windows and dilations beyond this are nonsense in an image network
 * and would only overflow sums further down. */
#define MAX_STEP 16384

bool tflite_in_step_range(struct tflite_import *im, const char *what, int64_t a, int64_t b)
{
    if (a >= 1 && a <= MAX_STEP && b >= 1 && b <= MAX_STEP)
        return true;
    return tdl_kit_damaged(&im->kit,
                           "the model file is damaged: %s %lldx%lld is not within 1 to %d", what,
                           (long long)a, (long long)b, MAX_STEP);
}

/* Vertical and horizontal numbers of an options table. */
bool tflite_read_pair(struct tflite_import *im, const struct tflite_op *op, const char *what,
                      uint32_t field_h, uint32_t field_w, int32_t fallback, uint32_t out[2])
{
    const int32_t h = tdl_fb_i32(&im->fb, &op->options, field_h, fallback);
    const int32_t w = tdl_fb_i32(&im->fb, &op->options, field_w, fallback);

    if (!tflite_check(im) || !tflite_in_step_range(im, what, h, w))
        return false;
    out[0] = (uint32_t)h;
    out[1] = (uint32_t)w;
    return true;
}

bool tflite_read_padding(struct tflite_import *im, const struct tflite_op *op,
                         enum tdl_padding *out)
{
    const uint8_t padding = tdl_fb_u8(&im->fb, &op->options, TFLITE_WINDOW_PADDING, 0);

    if (!tflite_check(im))
        return false;
    if (padding > TFLITE_PADDING_VALID)
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: padding %u is neither SAME nor VALID", padding);
    *out = padding == TFLITE_PADDING_SAME ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT;
    return true;
}

bool tflite_read_activation(struct tflite_import *im, const struct tflite_op *op, uint32_t field,
                            enum tdl_activation *out)
{
    const uint8_t code = tdl_fb_u8(&im->fb, &op->options, field, TFLITE_ACTIVATION_NONE);

    if (!tflite_check(im))
        return false;
    switch (code) {
    case TFLITE_ACTIVATION_NONE:
        *out = TDL_ACTIVATION_NONE;
        return true;
    case TFLITE_ACTIVATION_RELU:
        *out = TDL_ACTIVATION_RELU;
        return true;
    case TFLITE_ACTIVATION_RELU_N1_TO_1:
        im->bounded = true; /* tflite_give() cuts it */
        *out = TDL_ACTIVATION_NONE;
        return true;
    case TFLITE_ACTIVATION_RELU6:
        *out = TDL_ACTIVATION_RELU6;
        return true;
    case TFLITE_ACTIVATION_TANH:
        *out = TDL_ACTIVATION_TANH;
        return true;
    default:
        return tdl_kit_lacks(&im->kit,
                             "the fused activation function %u is not supported; libtdl has none, "
                             "RELU, RELU_N1_TO_1, RELU6 and TANH",
                             code);
    }
}

/* Input `number` of the operator as a rank-4 picture. */
struct tdl_operand *tflite_picture(struct tflite_import *im, const struct tflite_op *op,
                                   uint32_t number)
{
    struct tdl_operand *operand = tflite_operand(im, op->inputs[number]);

    if (operand && tdl_kit_rank(operand) != 4) {
        tdl_kit_lacks(&im->kit, "input %u has %u dimensions instead of 4", number,
                      tdl_kit_rank(operand));
        return NULL;
    }
    return operand;
}

struct tdl_operand *tflite_filter(struct tflite_import *im, const struct tflite_op *op,
                                  uint32_t number)
{
    struct tdl_operand *filter = tflite_picture(im, op, number);
    const uint32_t *shape = tdl_kit_shape(filter);

    return filter && tflite_in_step_range(im, "filter", (int32_t)shape[1], (int32_t)shape[2])
               ? filter
               : NULL;
}

bool tflite_read_bias(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      struct tdl_operand **out)
{
    *out = NULL;
    if (number >= op->input_count || op->inputs[number] < 0)
        return true;
    *out = tflite_operand(im, op->inputs[number]);
    return *out != NULL;
}

bool tflite_read_list(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t most, int64_t *out, uint32_t *out_count)
{
    const int32_t index = op->inputs[number];
    struct tflite_known known;
    struct tflite_tensor list;

    if (!tflite_get_known(im, index, &known))
        return tflite_get_constant(im, index, &list) && /* has a text for what is computed */
               tdl_kit_lacks(
                   &im->kit, "input %u is %llu numbers of type %s instead of up to %u of int32",
                   number, (unsigned long long)list.elements, tflite_type_name(list.type), most);
    *out_count = known.count;
    for (uint32_t i = 0; i < known.count; i++) {
        if (known.count > most || known.numbers[i] < INT32_MIN || known.numbers[i] > INT32_MAX)
            return tdl_kit_lacks(&im->kit,
                                 "input %u is %u numbers such as %lld instead of up to %u of int32",
                                 number, known.count, (long long)known.numbers[i], most);
        out[i] = known.numbers[i];
    }
    return true;
}

bool tflite_read_ints(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t count, int64_t *out)
{
    uint32_t got;

    if (!tflite_read_list(im, op, number, count, out, &got))
        return false;
    return got == count ||
           tdl_kit_damaged(&im->kit, "input %u is %u numbers instead of %u", number, got, count);
}

struct tdl_operand *tflite_zero(struct tflite_import *im, enum tdl_dtype dtype)
{
    static const uint64_t zero;
    const struct tdl_tensor_params desc = {.dtype = dtype};

    return tdl_builder_constant(im->builder, &desc, &zero, tdl_dtype_size(dtype));
}
