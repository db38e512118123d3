/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's functions of one element, and softmax. */
#include "ncnn.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------- activations */

static struct tdl_operand *clip(struct ncnn_import *im, struct tdl_operand *x, float least,
                                float most)
{
    return least > most ? tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "a clip from %g to %g",
                                       (double)least, (double)most)
                        : tdl_builder_clamp(im->builder, x, least > -FLT_MAX ? &least : NULL,
                                            most < FLT_MAX ? &most : NULL);
}

/* x · (alpha · x + beta within 0 … 1) */
static struct tdl_operand *hard_swish(struct ncnn_import *im, struct tdl_operand *x, float alpha,
                                      float beta)
{
    struct tdl_operand *gate;

    if (fabsf(alpha - 1 / 6.0f) < 1e-6f && beta == 0.5f)
        return tdl_builder_hard_swish(im->builder, x);
    gate = tdl_builder_hard_sigmoid(im->builder, x, alpha, beta);
    return gate ? tdl_builder_mul(im->builder, x, gate) : NULL;
}

/* x · tanh(ln(1 + eˣ)): Misra, arXiv:1908.08681. */
static struct tdl_operand *mish(struct tdl_builder *b, struct tdl_operand *x)
{
    struct tdl_operand *t = tdl_builder_softplus(b, x);

    t = t ? tdl_builder_tanh(b, t) : NULL;
    return t ? tdl_builder_mul(b, x, t) : NULL;
}

static struct tdl_operand *swish(struct tdl_builder *b, struct tdl_operand *x)
{
    struct tdl_operand *t = tdl_builder_sigmoid(b, x);

    return t ? tdl_builder_mul(b, x, t) : NULL;
}

struct tdl_operand *ncnn_activate(struct ncnn_import *im, const struct ncnn_layer *l,
                                  struct tdl_operand *x)
{
    if (!x)
        return NULL;
    switch (ncnn_int(l, 9, 0)) {
    case 0:
        return x;
    case 1:
        return tdl_builder_relu(im->builder, x);
    case 2:
        return tdl_builder_leaky_relu(im->builder, x, ncnn_value(l, 10, 0, 0));
    case 3:
        return clip(im, x, ncnn_value(l, 10, 0, -FLT_MAX), ncnn_value(l, 10, 1, FLT_MAX));
    case 4:
        return tdl_builder_sigmoid(im->builder, x);
    case 5:
        return mish(im->builder, x);
    case 6:
        return hard_swish(im, x, ncnn_value(l, 10, 0, 0.2f), ncnn_value(l, 10, 1, 0.5f));
    default:
        return tdl_kit_lacks_none(&im->kit,
                                  "the fused activation %d is not supported; libtdl has 0 to 6",
                                  ncnn_int(l, 9, 0));
    }
}

static struct tdl_operand *add_clip(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    return x ? clip(im, x, ncnn_float(l, 0, -FLT_MAX), ncnn_float(l, 1, FLT_MAX)) : NULL;
}

static struct tdl_operand *add_relu(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    const float slope = ncnn_float(l, 0, 0);

    return !x           ? NULL
           : slope == 0 ? tdl_builder_relu(im->builder, x)
                        : tdl_builder_leaky_relu(im->builder, x, slope);
}

static struct tdl_operand *add_prelu(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *slope;
    const int32_t count = ncnn_int(l, 0, 0);

    if (!x || !ncnn_in_range(im, "slopes", count, 1))
        return NULL;
    slope = ncnn_channel_weights(im, x, (uint32_t)count);
    return slope ? tdl_builder_prelu(im->builder, x, slope) : NULL;
}

static struct tdl_operand *add_elu(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    return x ? tdl_builder_elu(im->builder, x, ncnn_float(l, 0, 0.1f)) : NULL;
}

/* HardSigmoid and HardSwish. */
static struct tdl_operand *add_hard_sigmoid(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    const float alpha = ncnn_float(l, 0, 0.2f), beta = ncnn_float(l, 1, 0.5f);

    if (!x)
        return NULL;
    return strcmp(l->type, "HardSwish") ? tdl_builder_hard_sigmoid(im->builder, x, alpha, beta)
                                        : hard_swish(im, x, alpha, beta);
}

static struct tdl_operand *add_function(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    return x ? im->row->one(im->builder, x) : NULL;
}

/* By the tangent, as an option has it. */
static struct tdl_operand *add_gelu(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *t;

    if (!x || ncnn_int(l, 0, 0) == 0)
        return x ? tdl_builder_gelu(b, x) : NULL;
    t = tdl_builder_linear(b, tdl_builder_mul(b, x, x), 0.044715f, 1);
    t = tdl_builder_linear(b, tdl_builder_mul(b, x, t), 0.79788456f, 0); /* √(2 / π) */
    t = tdl_builder_linear(b, tdl_builder_tanh(b, t), 0.5f, 0.5f);
    return tdl_builder_mul(b, x, t);
}

/* alpha · lambda below 0, lambda above; or of CELU alpha · elu(x / alpha). */
static struct tdl_operand *add_scaled_elu(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const bool celu = l->type[0] == 'C';
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    const float alpha = ncnn_float(l, 0, celu ? 1 : 1.67326324f);
    const float factor = celu ? alpha : ncnn_float(l, 1, 1.050700987f);

    if (!x || (celu && alpha == 0))
        return x ? tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "an alpha of 0") : NULL;
    if (celu)
        x = tdl_builder_linear(im->builder, x, 1 / alpha, 0);
    x = tdl_builder_elu(im->builder, x, celu ? 1 : alpha);
    return tdl_builder_linear(im->builder, x, factor, 0);
}

/* ---------------------------------------------------------- with scale and shift */

static struct tdl_operand *add_dropout(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    const float scale = ncnn_float(l, 0, 1);

    return x && scale != 1 ? tdl_builder_linear(im->builder, x, scale, 0) : x;
}

/* shift + x · scale, of parameters 1 and 2. */
static struct tdl_operand *shifted(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    const float scale = ncnn_float(l, 1, 1), shift = ncnn_float(l, 2, 0);

    return x && (scale != 1 || shift != 0) ? tdl_builder_linear(im->builder, x, scale, shift) : x;
}

static struct tdl_operand *add_power(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = shifted(im, l);
    const float power = ncnn_float(l, 0, 1);

    return x && power != 1 ? tdl_builder_pow(im->builder, x,
                                             tdl_kit_number(&im->kit, TDL_FLOAT32, (double)power))
                           : x;
}

/* A base of -1 is e. */
static struct tdl_operand *add_exp(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = shifted(im, l);
    const float base = ncnn_float(l, 0, -1);

    return base == -1 ? tdl_builder_exp(im->builder, x)
                      : tdl_builder_pow(im->builder,
                                        tdl_kit_number(&im->kit, TDL_FLOAT32, (double)base), x);
}

static struct tdl_operand *add_log(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = tdl_builder_log(im->builder, shifted(im, l));
    const float base = ncnn_float(l, 0, -1);

    return base == -1 ? x : tdl_builder_linear(im->builder, x, 1 / logf(base), 0);
}

/* ---------------------------------------------------------------- by a threshold */

/* 1 above it, else 0. */
static struct tdl_operand *add_threshold(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *least;

    if (!x)
        return NULL;
    least = tdl_kit_number(&im->kit, TDL_FLOAT32, (double)ncnn_float(l, 0, 0));
    return tdl_builder_cast(im->builder, tdl_builder_greater(im->builder, x, least), TDL_FLOAT32);
}

/* Nearer to 0 by the bias where it is outside of -lambda to lambda, else 0. */
static struct tdl_operand *add_shrink(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *large, *near;

    if (!x)
        return NULL;
    large =
        tdl_builder_greater(b, tdl_builder_abs(b, x),
                            tdl_kit_number(&im->kit, TDL_FLOAT32, (double)ncnn_float(l, 1, 0.5f)));
    near = tdl_builder_linear(b, tdl_builder_sign(b, x), ncnn_float(l, 0, 0), 0);
    return tdl_builder_where(b, large, tdl_builder_sub(b, x, near),
                             tdl_kit_number(&im->kit, TDL_FLOAT32, 0));
}

static struct tdl_operand *add_softmax(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t axis;

    return x && ncnn_axis(im, x, ncnn_int(l, 0, 0), &axis)
               ? tdl_builder_softmax(im->builder, x, axis)
               : NULL;
}

/* ---------------------------------------------------------------------- UnaryOp */

static struct tdl_operand *square(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_mul(b, x, x);
}

static struct tdl_operand *reciprocal_sqrt(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_reciprocal(b, tdl_builder_sqrt(b, x));
}

static struct tdl_operand *log10_of(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_linear(b, tdl_builder_log(b, x), 0.4342944819f, 0);
}

static struct tdl_operand *exp_minus_1(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_linear(b, tdl_builder_exp(b, x), 1, -1);
}

static struct tdl_operand *log_plus_1(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_log(b, tdl_builder_linear(b, x, 1, 1));
}

static struct tdl_operand *atan_of(struct tdl_kit *kit, struct tdl_operand *x)
{
    return tdl_kit_atan(kit->builder, x, tdl_kit_like(kit, x, 1));
}

/* By the numbers of the kinds. */
static const struct {
    tdl_kit_one *one;
    struct tdl_operand *(*own)(struct tdl_kit *kit, struct tdl_operand *x);
} unaries[] = {
    {.one = tdl_builder_abs},
    {.one = tdl_builder_neg},
    {.one = tdl_builder_floor},
    {.one = tdl_builder_ceil},
    {.one = square},
    {.one = tdl_builder_sqrt},
    {.one = reciprocal_sqrt},
    {.one = tdl_builder_exp},
    {.one = tdl_builder_log},
    {.one = tdl_builder_sin},
    {.one = tdl_builder_cos},
    {.one = tdl_builder_tan},
    {.own = tdl_kit_asin},
    {.own = tdl_kit_acos},
    {.own = atan_of},
    {.one = tdl_builder_reciprocal},
    {.one = tdl_builder_tanh},
    {.one = log10_of},
    {.one = tdl_builder_round_even},
    {.own = tdl_kit_trunc},
    {.one = tdl_builder_sign},
    {.one = exp_minus_1},
    {.one = tdl_kit_sinh},
    {.one = tdl_kit_asinh},
    {.one = tdl_kit_cosh},
    {.one = tdl_kit_acosh},
    {.one = tdl_kit_atanh},
    {.one = log_plus_1},
};

static struct tdl_operand *add_unary(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const int32_t type = ncnn_int(l, 0, 0), count = sizeof(unaries) / sizeof(unaries[0]);
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    if (type < 0 || type >= count)
        return tdl_kit_lacks_none(&im->kit, "the kind %d is not supported; libtdl has 0 to %d",
                                  type, count - 1);
    if (!x)
        return NULL;
    return unaries[type].one ? unaries[type].one(im->builder, x) : unaries[type].own(&im->kit, x);
}

const struct ncnn_row ncnn_rows_functions[] = {
    {"AbsVal", 1, 1, add_function, .one = tdl_builder_abs},
    {"BNLL", 1, 1, add_function, .one = tdl_builder_softplus},
    {"CELU", 1, 1, add_scaled_elu},
    {"Clip", 1, 1, add_clip},
    {"Dropout", 1, 1, add_dropout},
    {"ELU", 1, 1, add_elu},
    {"Erf", 1, 1, add_function, .one = tdl_builder_erf},
    {"Exp", 1, 1, add_exp},
    {"GELU", 1, 1, add_gelu},
    {"HardSigmoid", 1, 1, add_hard_sigmoid},
    {"HardSwish", 1, 1, add_hard_sigmoid},
    {"Log", 1, 1, add_log},
    {"Mish", 1, 1, add_function, .one = mish},
    {"PReLU", 1, 1, add_prelu},
    {"Power", 1, 1, add_power},
    {"ReLU", 1, 1, add_relu},
    {"SELU", 1, 1, add_scaled_elu},
    {"Shrink", 1, 1, add_shrink},
    {"Sigmoid", 1, 1, add_function, .one = tdl_builder_sigmoid},
    {"Softmax", 1, 1, add_softmax},
    {"Softplus", 1, 1, add_function, .one = tdl_builder_softplus},
    {"Swish", 1, 1, add_function, .one = swish},
    {"TanH", 1, 1, add_function, .one = tdl_builder_tanh},
    {"Threshold", 1, 1, add_threshold},
    {"UnaryOp", 1, 1, add_unary},
    {0},
};
