/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers of one element each, and softmax. */
#include "ncnn.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number beside a blob. */
static struct tdl_operand *scalar(struct ncnn_import *im, const struct tdl_operand *x, float value)
{
    float *memory = malloc(sizeof(*memory));

    if (memory)
        *memory = value;
    return ncnn_per_channel(im, x, memory, 1);
}

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

static struct tdl_operand *add_dropout(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    const float scale = ncnn_float(l, 0, 1);

    return x && scale != 1 ? tdl_builder_linear(im->builder, x, scale, 0) : x;
}

static struct tdl_operand *add_softmax(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t axis;

    return x && ncnn_axis(im, x, ncnn_int(l, 0, 0), &axis)
               ? tdl_builder_softmax(im->builder, x, axis)
               : NULL;
}

/* ------------------------------------------------------------------ numbers */

/* (x − mean) / √(variance + epsilon) · slope + bias: one product and one sum. */
static struct tdl_operand *add_batch_norm(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *factor, *term;
    const int32_t channels = ncnn_int(l, 0, 0);
    const float epsilon = ncnn_float(l, 1, 0), *in[4];
    float *a, *b;

    if (!x || !ncnn_in_range(im, "channels", channels, 1))
        return NULL;
    for (int i = 0; i < 4; i++) /* slope, mean, variance, bias */
        if (!(in[i] = ncnn_floats(im, false, (uint64_t)channels)))
            return NULL;
    a = malloc((size_t)channels * sizeof(*a));
    b = malloc((size_t)channels * sizeof(*b));
    for (int32_t i = 0; a && b && i < channels; i++) {
        a[i] = in[0][i] / sqrtf(in[2][i] + epsilon);
        b[i] = in[3][i] - in[1][i] * a[i];
    }
    factor = ncnn_per_channel(im, x, a, (uint32_t)channels);
    term = ncnn_per_channel(im, x, b, (uint32_t)channels);
    x = factor && term ? tdl_builder_mul(im->builder, x, factor) : NULL;
    return x ? tdl_builder_add(im->builder, x, term) : NULL;
}

static struct tdl_operand *binary(struct ncnn_import *im, int32_t type, struct tdl_operand *a,
                                  struct tdl_operand *b);

/* A blob of fewer dimensions as the other has them: a vector has an element for each
 * channel (or row, of two dimensions) or else for each column; of more dimensions, these are
 * the outer ones. */
static struct tdl_operand *align(struct ncnn_import *im, struct tdl_operand *x,
                                 const struct tdl_operand *other)
{
    const uint32_t *in, *to;
    const uint32_t dims = ncnn_dims(x, &in), to_dims = ncnn_dims(other, &to);
    uint32_t shape[NCNN_MAX_DIMS] = {1, 1, 1, 1};
    const uint32_t first = dims == 1 && in[0] != to[0] ? to_dims - 1 : 0;

    if (dims >= to_dims)
        return x;
    memcpy(shape + first, in, dims * sizeof(*shape));
    return ncnn_blob(im, x, to_dims, shape);
}

static struct tdl_operand *add_scale(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const int32_t size = ncnn_int(l, 0, 0);
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *factor;
    uint32_t channels;

    if (!x)
        return NULL;
    channels = tdl_kit_shape(x)[ncnn_channel_axis(x)];
    if (size == NCNN_UNSET) {
        factor = l->bottom_count > 1
                     ? ncnn_bottom(im, l, 1)
                     : tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "there is no scale");
        return factor ? binary(im, 2, x, factor) : NULL;
    }
    if (!ncnn_in_range(im, "scales", size, 1) ||
        !(factor = ncnn_channel_weights(im, x, (uint32_t)size)))
        return NULL;
    x = tdl_builder_mul(im->builder, x, factor);
    if (!x || ncnn_int(l, 1, 0) == 0)
        return x;
    factor = ncnn_channel_weights(im, x, size == 1 ? 1 : channels);
    return factor ? tdl_builder_add(im->builder, x, factor) : NULL;
}

/* Kind of a BinaryOp; those from 7 on have their operands exchanged. */
static struct tdl_operand *binary(struct ncnn_import *im, int32_t type, struct tdl_operand *a,
                                  struct tdl_operand *b)
{
    static struct tdl_operand *(*const functions[])(struct tdl_builder *, struct tdl_operand *,
                                                    struct tdl_operand *) = {
        tdl_builder_add, tdl_builder_sub, tdl_builder_mul, tdl_builder_div, tdl_builder_max,
        tdl_builder_min, tdl_builder_pow, tdl_builder_sub, tdl_builder_div, tdl_builder_pow};

    if (type < 0 || type > 9)
        return tdl_kit_lacks_none(&im->kit, "the kind %d is not supported; libtdl has 0 to 9",
                                  type);
    a = align(im, a, b);
    b = a ? align(im, b, a) : NULL;
    if (!b)
        return NULL;
    return type >= 7 ? functions[type](im->builder, b, a) : functions[type](im->builder, a, b);
}

static struct tdl_operand *add_binary(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *a = ncnn_bottom(im, l, 0), *b = NULL;

    if (!a)
        return NULL;
    if (ncnn_int(l, 1, 0) != 0)
        b = scalar(im, a, ncnn_float(l, 2, 0));
    else if (l->bottom_count > 1)
        b = ncnn_bottom(im, l, 1);
    else
        tdl_kit_damaged(&im->kit, "there is nothing to compute with");
    return b ? binary(im, ncnn_int(l, 0, 0), a, b) : NULL;
}

/* Products, sums with factors, or the largest. */
static struct tdl_operand *add_eltwise(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const int32_t kinds[] = {2, 0, 4}; /* for BinaryOp */
    const int32_t type = ncnn_int(l, 0, 0);
    struct tdl_operand *sum = NULL;

    if (type < 0 || type > 2)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "the kind %d is none of 0 to 2",
                            type);
    for (uint32_t i = 0; i < l->bottom_count; i++) {
        struct tdl_operand *x = ncnn_bottom(im, l, i);
        const float factor = type == 1 ? ncnn_value(l, 1, i, 1) : 1;

        if (x && factor != 1)
            x = tdl_builder_linear(im->builder, x, factor, 0);
        sum = x && sum ? binary(im, kinds[type], sum, x) : x;
        if (!sum)
            return NULL;
    }
    return sum;
}

static struct tdl_operand *square(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_mul(b, x, x);
}

static struct tdl_operand *reciprocal_sqrt(struct tdl_builder *b, struct tdl_operand *x)
{
    x = tdl_builder_sqrt(b, x);
    return x ? tdl_builder_reciprocal(b, x) : NULL;
}

static struct tdl_operand *log10_of(struct tdl_builder *b, struct tdl_operand *x)
{
    x = tdl_builder_log(b, x);
    return x ? tdl_builder_linear(b, x, 0.4342944819f, 0) : NULL;
}

static struct tdl_operand *add_unary(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static struct tdl_operand *(*const functions[])(struct tdl_builder *, struct tdl_operand *) = {
        tdl_builder_abs,
        tdl_builder_neg,
        tdl_builder_floor,
        tdl_builder_ceil,
        square,
        tdl_builder_sqrt,
        reciprocal_sqrt,
        tdl_builder_exp,
        tdl_builder_log,
        tdl_builder_sin,
        tdl_builder_cos,
        tdl_builder_tan,
        NULL,
        NULL,
        NULL,
        tdl_builder_reciprocal,
        tdl_builder_tanh,
        log10_of,
        tdl_builder_round_even};
    const int32_t type = ncnn_int(l, 0, 0), count = sizeof(functions) / sizeof(functions[0]);
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    if (type < 0 || type >= count || !functions[type])
        return tdl_kit_lacks_none(
            &im->kit, "the kind %d is not supported; libtdl has 0 to 11 and 15 to 18", type);
    return x ? functions[type](im->builder, x) : NULL;
}

const struct ncnn_row ncnn_rows_eltwise[] = {
    {"BatchNorm", 1, 1, add_batch_norm},
    {"BinaryOp", 1, 2, add_binary},
    {"Clip", 1, 1, add_clip},
    {"Dropout", 1, 1, add_dropout},
    {"ELU", 1, 1, add_elu},
    {"Eltwise", 1, NCNN_MAX_ARGS, add_eltwise},
    {"GELU", 1, 1, add_function, .one = tdl_builder_gelu},
    {"HardSigmoid", 1, 1, add_hard_sigmoid},
    {"HardSwish", 1, 1, add_hard_sigmoid},
    {"Mish", 1, 1, add_function, .one = mish},
    {"PReLU", 1, 1, add_prelu},
    {"ReLU", 1, 1, add_relu},
    {"Scale", 1, 2, add_scale},
    {"Sigmoid", 1, 1, add_function, .one = tdl_builder_sigmoid},
    {"Softmax", 1, 1, add_softmax},
    {"Softplus", 1, 1, add_function, .one = tdl_builder_softplus},
    {"Swish", 1, 1, add_function, .one = swish},
    {"TanH", 1, 1, add_function, .one = tdl_builder_tanh},
    {"UnaryOp", 1, 1, add_unary},
    {0},
};
