/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Indices of rows that do not exist. They are -1 where NonMaxSuppression gives them and where
 * they are only moved. Arithmetic would make them indices of rows that do exist, so what it
 * makes of them is replaced by ONNX_ABSENT, and so on; no other number is touched.
 */
#include "onnx.h"

#include <string.h>

/* Below all that is computed of indices, and as a half still finite. */
#define ONNX_ABSENT (-65504)

/* Operators that move indices, or parts of them, and leave each as it is. */
static const char *const moves[] = {
    "Cast",  "Expand", "Flatten", "Gather", "GatherElements", "Identity",  "Reshape",
    "Slice", "Split",  "Squeeze", "Tile",   "Transpose",      "Unsqueeze", NULL};

/* Operators each of whose numbers is of one number of each input. */
static const char *const arithmetic[] = {"Abs",   "Add", "Ceil",  "Clip", "Div", "Floor",
                                         "Max",   "Min", "Mod",   "Mul",  "Neg", "Relu",
                                         "Round", "Sub", "Where", NULL};

static bool is_one_of(const struct onnx_import *im, const char *const *types)
{
    for (; *types; types++)
        if (!strcmp(im->node.row->name, *types))
            return true;
    return false;
}

static bool holds_indices(const struct tdl_operand *o)
{
    const enum tdl_dtype dtype = tdl_kit_desc(o)->dtype;

    return dtype == TDL_INT32 || dtype == TDL_INT64;
}

int32_t onnx_absent(struct onnx_import *im, uint32_t i)
{
    const struct onnx_value *v =
        im->has_absent && onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;

    return v ? v->absent : 0;
}

struct tdl_operand *onnx_exists(struct onnx_import *im, struct tdl_operand *indices, int32_t absent)
{
    struct tdl_operand *limit = tdl_kit_number(&im->kit, tdl_kit_desc(indices)->dtype, absent);

    return limit ? tdl_builder_greater(im->builder, indices, limit) : NULL;
}

/* The result of arithmetic, ONNX_ABSENT where one of the inputs is of no row. */
static int32_t compute(struct onnx_import *im, struct tdl_operand **result)
{
    const uint32_t first = !strcmp(im->node.row->name, "Where"); /* outputs follow the condition */
    int32_t mark = 0;

    for (uint32_t i = first; *result && i < im->node.input_count; i++) {
        const int32_t absent = onnx_absent(im, i);
        struct tdl_operand *x = absent ? onnx_operand(im, i) : NULL;
        struct tdl_operand *is = x ? onnx_exists(im, x, absent) : NULL;
        struct tdl_operand *none =
            is ? tdl_kit_number(&im->kit, tdl_kit_desc(*result)->dtype, ONNX_ABSENT) : NULL;

        if (!absent)
            continue;
        *result = none ? tdl_builder_where(im->builder, is, *result, none) : NULL;
        mark = ONNX_ABSENT;
    }
    return mark;
}

/* Other numbers than indices may be below 0, so floats count only if all are of indices. */
static int32_t join(struct onnx_import *im, const struct tdl_operand *result)
{
    int32_t mark = 0;
    bool all = true;

    for (uint32_t i = 0; i < im->node.input_count; i++) {
        const int32_t absent = onnx_absent(im, i);

        all = all && absent;
        mark = absent && (!mark || absent > mark) ? absent : mark;
    }
    return all || holds_indices(result) ? mark : 0;
}

int32_t onnx_follow_absent(struct onnx_import *im, struct tdl_operand **result)
{
    if (!im->has_absent || !*result || tdl_kit_desc(*result)->dtype == TDL_UINT8)
        return 0;
    if (is_one_of(im, moves))
        return onnx_absent(im, 0);
    if (is_one_of(im, arithmetic))
        return compute(im, result);
    return strcmp(im->node.row->name, "Concat") ? 0 : join(im, *result);
}

bool onnx_give_absent(struct onnx_import *im, struct tdl_operand *rows)
{
    if (!onnx_give(im, rows))
        return false;
    im->has_absent = true;
    if (onnx_wanted(im, 0))
        onnx_find(im, &im->node.outputs[0])->absent = -1;
    return true;
}

bool onnx_give_gathered(struct onnx_import *im, struct tdl_operand *x, struct tdl_operand *indices,
                        int32_t absent, const uint32_t *shape)
{
    struct tdl_operand *is = absent ? onnx_exists(im, indices, absent) : NULL;

    if (!absent || !x)
        return onnx_give(im, x);
    const bool again = holds_indices(x);
    struct tdl_operand *none = tdl_kit_number(&im->kit, tdl_kit_desc(x)->dtype, again ? -1 : 0);

    is = onnx_reshape(im, is, tdl_kit_rank(x), shape);
    x = is && none ? tdl_builder_where(im->builder, is, x, none) : NULL;
    return again ? onnx_give_absent(im, x) : onnx_give(im, x);
}
