/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of what becomes of counts (counts.c) in each operator, and what its files share. */
#include "count_rules.h"

#include <string.h>

const char onnx_uncountable[] = "which this operator does not take";

bool onnx_read_sizes(struct onnx_import *im, uint32_t i, struct tdl_tensor_params *desc,
                     struct onnx_sizes *out)
{
    const struct onnx_counts *counts = onnx_counts(im, i);

    *out = (struct onnx_sizes){0};
    if (!onnx_desc(im, i, desc))
        return false;
    out->rank = desc->rank;
    out->shape = desc->shape;
    if (counts)
        out->counts = *counts;
    return true;
}

struct onnx_value *onnx_output_value(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v = onnx_wanted(im, i) ? onnx_find(im, &im->node.outputs[i]) : NULL;

    return v && v->operand ? v : NULL;
}

bool onnx_read_axis(struct onnx_import *im, int64_t fallback, uint32_t rank, uint32_t *out)
{
    return tdl_kit_axis(&im->kit, onnx_int(im, "axis", fallback), rank, out);
}

/* The counts of input `i` at the dimensions of these bits. */
static struct onnx_counts counts_at(struct onnx_import *im, uint32_t i, uint32_t bits)
{
    const struct onnx_counts *counts = onnx_counts(im, i);
    struct onnx_counts some = {{NULL}};

    for (uint32_t d = 0; counts && d < TDL_MAX_RANK; d++)
        some.of[d] = bits >> d & 1 ? counts->of[d] : NULL;
    return some;
}

bool onnx_mask_input(struct onnx_import *im, uint32_t i, uint32_t bits, double value)
{
    const struct onnx_counts counts = counts_at(im, i, bits);
    struct tdl_operand *x = onnx_counts(im, i) ? onnx_operand(im, i) : NULL;

    if (!onnx_counts(im, i))
        return true;
    return x && (im->node.instead[i] = onnx_mask(im, x, &counts, value)) != NULL;
}

/* The least number of a type, or the largest. */
static double extreme(enum tdl_dtype dtype, bool largest)
{
    switch (dtype) {
    case TDL_INT32:
        return largest ? INT32_MAX : INT32_MIN;
    case TDL_INT64:
        return largest ? 0x7ffffffffffffc00p0 : -0x1p63;
    case TDL_INT8:
        return largest ? INT8_MAX : INT8_MIN;
    case TDL_UINT8:
        return largest ? UINT8_MAX : 0;
    case TDL_UINT32:
        return largest ? UINT32_MAX : 0;
    case TDL_UINT64:
        return largest ? 0xfffffffffffff800p0 : 0;
    default:
        return largest ? (double)__builtin_inff() : (double)-__builtin_inff();
    }
}

double onnx_extreme(struct onnx_import *im, uint32_t i, bool largest)
{
    struct tdl_tensor_params desc;

    return onnx_desc(im, i, &desc) ? extreme(desc.dtype, largest) : 0;
}

bool onnx_allow_counts(struct onnx_import *im, uint32_t i, uint32_t bits)
{
    const struct onnx_counts *counts = onnx_counts(im, i);

    for (uint32_t d = 0; counts && d < TDL_MAX_RANK; d++)
        if (counts->of[d] && !(bits >> d & 1))
            return onnx_refuse_count(im, i, onnx_uncountable);
    return true;
}

bool onnx_follow_itself(struct onnx_import *im)
{
    (void)im;
    return true;
}

/* ----------------------------------------------------------------------- table */

static const struct onnx_count_rule *const tables[] = {onnx_counts_elements, onnx_counts_indices,
                                                       onnx_counts_joins, onnx_counts_shapes};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

static const struct onnx_count_rule *find_rule(const struct onnx_import *im)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct onnx_count_rule *rule = tables[i]; rule->name; rule++)
            if (!strcmp(rule->name, im->node.row->name))
                return rule;
    return NULL;
}

static bool depends(struct onnx_import *im)
{
    bool any = false;

    for (uint32_t i = 0; i < im->node.input_count; i++)
        any |= onnx_counts(im, i) || onnx_is_counted(im, i);
    return any;
}

bool onnx_prepare_counts(struct onnx_import *im)
{
    const struct onnx_count_rule *rule = find_rule(im);

    for (uint32_t i = 0; i < im->node.input_count; i++)
        if ((onnx_counts(im, i) || onnx_is_counted(im, i)) &&
            (!rule || (i < 8 && rule->fixed >> i & 1)))
            return onnx_refuse_count(im, i, onnx_uncountable);
    return !rule || !rule->prepare || !depends(im) || rule->prepare(im);
}

bool onnx_follow_counts(struct onnx_import *im)
{
    return !depends(im) || find_rule(im)->follow(im);
}

bool onnx_keeps_order(struct onnx_import *im)
{
    static const char *const names[] = {
        "Add",        "And",       "Cast",        "Ceil",      "Concat",
        "Equal",      "Floor",     "Gather",      "Greater",   "GreaterOrEqual",
        "Identity",   "Less",      "LessOrEqual", "Max",       "Min",
        "Mul",        "Not",       "Or",          "ReduceMax", "ReduceMin",
        "ReduceProd", "ReduceSum", "Relu",        "Reshape",   "Slice",
        "Split",      "Squeeze",   "Sqrt",        "Sum",       "Transpose",
        "Unsqueeze",  "Where",     "Xor",         NULL};
    static const char *const of_first[] = {"Div", "Sub", NULL};
    const char *name = im->node.row->name;

    return is_one_of(name, names) || (is_one_of(name, of_first) && !onnx_is_counted(im, 1));
}
