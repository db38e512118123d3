/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers of two elements, or of one and numbers of the file. */
#include "ncnn.h"

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

/* a − b · (a / b without its fraction): the sign is a's. */
static struct tdl_operand *truncated_rest(struct tdl_kit *kit, struct tdl_operand *a,
                                          struct tdl_operand *b)
{
    struct tdl_operand *times = tdl_kit_trunc(kit, tdl_builder_div(kit->builder, a, b));

    return tdl_builder_sub(kit->builder, a, tdl_builder_mul(kit->builder, b, times));
}

static struct tdl_operand *floored_quotient(struct tdl_kit *kit, struct tdl_operand *a,
                                            struct tdl_operand *b)
{
    return tdl_builder_floor(kit->builder, tdl_builder_div(kit->builder, a, b));
}

/* Likewise to the nearest whole number, as IEEE 754's remainder. */
static struct tdl_operand *rounded_rest(struct tdl_kit *kit, struct tdl_operand *a,
                                        struct tdl_operand *b)
{
    struct tdl_operand *times =
        tdl_builder_round_even(kit->builder, tdl_builder_div(kit->builder, a, b));

    return tdl_builder_sub(kit->builder, a, tdl_builder_mul(kit->builder, b, times));
}

/* ln(eᵃ + eᵇ), without overflow on the way. */
static struct tdl_operand *log_add_exp(struct tdl_kit *kit, struct tdl_operand *a,
                                       struct tdl_operand *b)
{
    struct tdl_builder *build = kit->builder;
    struct tdl_operand *apart = tdl_builder_abs(build, tdl_builder_sub(build, a, b));

    return tdl_builder_add(build, tdl_builder_max(build, a, b),
                           tdl_builder_softplus(build, tdl_builder_neg(build, apart)));
}

/* BinaryOp by the numbers of its kinds; some have their operands exchanged. */
static const struct {
    tdl_kit_two *two;
    struct tdl_operand *(*own)(struct tdl_kit *kit, struct tdl_operand *a, struct tdl_operand *b);
    bool exchanged;
} binaries[] = {
    {.two = tdl_builder_add},
    {.two = tdl_builder_sub},
    {.two = tdl_builder_mul},
    {.two = tdl_builder_div},
    {.two = tdl_builder_max},
    {.two = tdl_builder_min},
    {.two = tdl_builder_pow},
    {.two = tdl_builder_sub, .exchanged = true},
    {.two = tdl_builder_div, .exchanged = true},
    {.two = tdl_builder_pow, .exchanged = true},
    {.own = tdl_kit_atan2},
    {.own = tdl_kit_atan2, .exchanged = true},
    {.own = truncated_rest},
    {.own = truncated_rest, .exchanged = true},
    {.own = log_add_exp},
    {.own = floored_quotient},
    {.own = floored_quotient, .exchanged = true},
    {.own = rounded_rest},
    {.own = rounded_rest, .exchanged = true},
};

static struct tdl_operand *binary(struct ncnn_import *im, int32_t type, struct tdl_operand *a,
                                  struct tdl_operand *b)
{
    const int32_t count = sizeof(binaries) / sizeof(binaries[0]);

    if (type < 0 || type >= count)
        return tdl_kit_lacks_none(&im->kit, "the kind %d is not supported; libtdl has 0 to %d",
                                  type, count - 1);
    a = align(im, a, b);
    b = a ? align(im, b, a) : NULL;
    if (!b)
        return NULL;
    struct tdl_operand *first = binaries[type].exchanged ? b : a;
    struct tdl_operand *second = binaries[type].exchanged ? a : b;
    return binaries[type].two ? binaries[type].two(im->builder, first, second)
                              : binaries[type].own(&im->kit, first, second);
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

static struct tdl_operand *add_bias(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const int32_t size = ncnn_int(l, 0, 0);
    struct tdl_operand *x = ncnn_picture(im, l, 0), *term;

    if (!x || !ncnn_in_range(im, "terms", size, 1) ||
        !(term = ncnn_channel_weights(im, x, (uint32_t)size)))
        return NULL;
    return tdl_builder_add(im->builder, x, term);
}

const struct ncnn_row ncnn_rows_eltwise[] = {
    {"BatchNorm", 1, 1, add_batch_norm}, {"Bias", 1, 1, add_bias},
    {"BinaryOp", 1, 2, add_binary},      {"Eltwise", 1, NCNN_MAX_ARGS, add_eltwise},
    {"Scale", 1, 2, add_scale},          {0},
};
