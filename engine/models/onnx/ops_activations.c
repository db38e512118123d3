/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's functions of one value that have parameters, or that WebNN has no operator
 * for: those are put together from others, by their definitions in ONNX's
 * Operators.md. */
#include "onnx.h"

#include <string.h>

static bool add_with_alpha(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    const char *type = im->node.row->name;

    if (!x)
        return false;
    if (!strcmp(type, "Elu"))
        return onnx_give(im, tdl_builder_elu(im->builder, x, onnx_float(im, "alpha", 1)));
    if (!strcmp(type, "LeakyRelu"))
        return onnx_give(im,
                         tdl_builder_leaky_relu(im->builder, x, onnx_float(im, "alpha", 0.01f)));
    return onnx_give(im, tdl_builder_hard_sigmoid(im->builder, x, onnx_float(im, "alpha", 0.2f),
                                                  onnx_float(im, "beta", 0.5f)));
}

/* gamma · elu(x, alpha); and Celu, alpha · elu(x / alpha, 1). */
static bool add_scaled_elu(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0);
    const bool celu = !strcmp(im->node.row->name, "Celu");
    const float alpha = onnx_float(im, "alpha", celu ? 1 : 1.67326324f);
    const float gamma = celu ? alpha : onnx_float(im, "gamma", 1.05070102f);

    if (!x)
        return false;
    if (celu)
        x = tdl_builder_linear(b, x, 1 / alpha, 0);
    x = tdl_builder_elu(b, x, celu ? 1 : alpha);
    return onnx_give(im, tdl_builder_linear(b, x, gamma, 0));
}

/* x · sigmoid(alpha · x), x · tanh(softplus(x)). */
static bool add_gated(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *gate;
    const float alpha = onnx_float(im, "alpha", 1);

    if (!x)
        return false;
    if (!strcmp(im->node.row->name, "Mish"))
        gate = tdl_builder_tanh(b, tdl_builder_softplus(b, x));
    else
        gate = tdl_builder_sigmoid(b, alpha == 1 ? x : tdl_builder_linear(b, x, alpha, 0));
    return onnx_give(im, tdl_builder_mul(b, x, gate));
}

struct tdl_operand *onnx_gelu_by_tanh(struct onnx_import *im, struct tdl_operand *x)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *y;

    y = tdl_builder_linear(b, tdl_builder_mul(b, x, x), 0.044715f, 1);
    y = tdl_builder_linear(b, tdl_builder_mul(b, x, y), 0.79788456f, 0);
    y = tdl_builder_linear(b, tdl_builder_tanh(b, y), 0.5f, 0.5f);
    return tdl_builder_mul(b, x, y);
}

static bool add_gelu(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);

    if (!x)
        return false;
    if (!onnx_string_is(im, "approximate", "tanh"))
        return onnx_give(im, tdl_builder_gelu(im->builder, x));
    return onnx_give(im, onnx_gelu_by_tanh(im, x));
}

/* x above alpha, else 0. */
static bool add_thresholded_relu(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0);

    if (!x)
        return false;
    struct tdl_operand *alpha = tdl_kit_like(&im->kit, x, (double)onnx_float(im, "alpha", 1));
    struct tdl_operand *zero = tdl_kit_like(&im->kit, x, 0);
    return onnx_give(im, tdl_builder_where(b, tdl_builder_greater(b, x, alpha), x, zero));
}

/* x + bias below −lambd, x − bias above lambd, else 0. */
static bool add_shrink(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0);
    const double lambd = (double)onnx_float(im, "lambd", 0.5f);
    const double bias = (double)onnx_float(im, "bias", 0);

    if (!x)
        return false;
    struct tdl_operand *low = tdl_kit_like(&im->kit, x, -lambd),
                       *high = tdl_kit_like(&im->kit, x, lambd);
    struct tdl_operand *shift = tdl_kit_like(&im->kit, x, bias),
                       *zero = tdl_kit_like(&im->kit, x, 0);
    struct tdl_operand *inner =
        tdl_builder_where(b, tdl_builder_greater(b, x, high), tdl_builder_sub(b, x, shift), zero);
    return onnx_give(im, tdl_builder_where(b, tdl_builder_lesser(b, x, low),
                                           tdl_builder_add(b, x, shift), inner));
}

static bool add_hyperbolic(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);

    return x && onnx_give(im, im->node.row->one(im->builder, x));
}

static bool add_inverse_circular(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    const char *type = im->node.row->name;

    if (!x)
        return false;
    return onnx_give(im, !strcmp(type, "Asin") ? tdl_kit_asin(&im->kit, x)
                         : !strcmp(type, "Acos")
                             ? tdl_kit_acos(&im->kit, x)
                             : tdl_kit_atan(im->builder, x, tdl_kit_like(&im->kit, x, 1)));
}

static bool add_is_nan(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);

    return x && onnx_give(im, tdl_builder_is_nan(im->builder, x));
}

static bool add_is_inf(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0);
    const bool up = onnx_int(im, "detect_positive", 1), down = onnx_int(im, "detect_negative", 1);

    if (!x)
        return false;
    const double infinity = (double)__builtin_inff();
    struct tdl_operand *high = tdl_kit_like(&im->kit, x, infinity),
                       *low = tdl_kit_like(&im->kit, x, -infinity);
    if (up && down)
        x = tdl_builder_abs(b, x);
    if (!up && !down)
        return onnx_give(im, tdl_builder_lesser(b, x, low));
    return onnx_give(im, tdl_builder_equal(b, x, up ? high : low));
}

const struct onnx_row onnx_rows_activations[] = {
    {"Acos", 1, 1, add_inverse_circular},
    {"Acosh", 1, 1, add_hyperbolic, .one = tdl_kit_acosh},
    {"Asin", 1, 1, add_inverse_circular},
    {"Asinh", 1, 1, add_hyperbolic, .one = tdl_kit_asinh},
    {"Atan", 1, 1, add_inverse_circular},
    {"Atanh", 1, 1, add_hyperbolic, .one = tdl_kit_atanh},
    {"Celu", 1, 1, add_scaled_elu},
    {"Cosh", 1, 1, add_hyperbolic, .one = tdl_kit_cosh},
    {"Elu", 1, 1, add_with_alpha},
    {"Gelu", 1, 1, add_gelu},
    {"HardSigmoid", 1, 1, add_with_alpha},
    {"IsInf", 1, 1, add_is_inf},
    {"IsNaN", 1, 1, add_is_nan},
    {"LeakyRelu", 1, 1, add_with_alpha},
    {"Mish", 1, 1, add_gated},
    {"Selu", 1, 1, add_scaled_elu},
    {"Shrink", 1, 1, add_shrink},
    {"Sinh", 1, 1, add_hyperbolic, .one = tdl_kit_sinh},
    {"Swish", 1, 1, add_gated},
    {"ThresholdedRelu", 1, 1, add_thresholded_relu},
    {0},
};
