/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The outputs of operators: what the builder inferred must be what the file says. */
#include "tflite.h"

#include <stdio.h>

/* "[1,2,3]" */
static const char *shape_text(uint32_t rank, const uint32_t *shape, char text[80])
{
    int used = snprintf(text, 80, "[");

    for (uint32_t i = 0; i < rank; i++)
        used += snprintf(text + used, 80 - (size_t)used, "%s%u", i ? "," : "", shape[i]);
    snprintf(text + used, 80 - (size_t)used, "]");
    return text;
}

bool tflite_is_new(struct tflite_import *im, int32_t index, const struct tflite_tensor *tensor)
{
    const struct tflite_value *value = &im->values[index];

    if (!value->operand && !value->source && !tensor->data)
        return true;
    return tdl_kit_damaged(&im->kit,
                           "the model file is damaged: tensor %d '%.80s' is written twice", index,
                           tensor->name);
}

/* The sizes that the file knows, are what the builder inferred. */
static bool check_shape(struct tflite_import *im, int32_t index,
                        const struct tdl_tensor_params *desc, const struct tflite_tensor *tensor)
{
    bool same = desc->rank == tensor->rank;
    char got[80], file[80];

    for (uint32_t i = 0; same && i < desc->rank; i++)
        same = desc->shape[i] == tensor->shape[i] || tensor->open[i];
    return same || tdl_kit_damaged(
                       &im->kit, "the operator gives %s, the file says %s for tensor %d '%.80s'",
                       shape_text(desc->rank, desc->shape, got),
                       shape_text(tensor->rank, tensor->shape, file), index, tensor->name);
}

bool tflite_give_at(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                    struct tdl_operand *operand)
{
    const int32_t index = op->outputs[number];
    const struct tdl_tensor_params *desc;
    struct tflite_tensor tensor;
    enum tdl_dtype dtype;

    if (!operand || !tflite_get_tensor(im, index, &tensor) || !tflite_is_new(im, index, &tensor))
        return false;
    if (!tflite_dtype(&tensor, &dtype))
        return tflite_fail_type(im, index, &tensor);
    desc = tdl_kit_desc(operand);
    if (desc->dtype != dtype)
        return tdl_kit_lacks(
            &im->kit, "the operator gives %s, the file says %s%s for tensor %d '%.80s'",
            tdl_dtype_name(desc->dtype), tflite_is_quantized(&tensor) ? "quantized " : "",
            tflite_type_name(tensor.type), index, tensor.name);
    im->values[index].operand = operand;
    /* Lists of what was computed from shapes have the length that follows from these. */
    if ((dtype == TDL_INT32 || dtype == TDL_INT64) && tdl_kit_is_known(&im->kit, operand) &&
        desc->rank < 2)
        return true;
    return check_shape(im, index, desc, &tensor);
}

bool tflite_give(struct tflite_import *im, const struct tflite_op *op, struct tdl_operand *operand)
{
    static const float least = -1, most = 1;

    if (im->bounded && operand)
        operand = tdl_builder_clamp(im->builder, operand, &least, &most);
    return tflite_give_at(im, op, 0, operand);
}
