/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the builder lacks, as several of its operators. */
#include "kit.h"

/* For 0 to 1 (Abramowitz and Stegun, 4.4.49): x · Σ aᵢ · x²ⁱ. */
static struct tdl_operand *atan_below_one(struct tdl_builder *b, struct tdl_operand *x)
{
    static const float factors[] = {-0.0161657367f, 0.0429096138f, -0.0752896400f, 0.1065626393f,
                                    -0.1420889944f, 0.1999355085f, -0.3333314528f, 1};
    struct tdl_operand *square = tdl_builder_mul(b, x, x), *sum;

    sum = tdl_builder_linear(b, square, 0.0028662257f, factors[0]);
    for (size_t i = 1; i < sizeof(factors) / sizeof(*factors); i++)
        sum = tdl_builder_linear(b, tdl_builder_mul(b, sum, square), 1, factors[i]);
    return tdl_builder_mul(b, x, sum);
}

/* Above 1, π/2 less that of 1 / x. */
struct tdl_operand *tdl_kit_atan(struct tdl_builder *b, struct tdl_operand *x,
                                 struct tdl_operand *one)
{
    struct tdl_operand *size = tdl_builder_abs(b, x);
    struct tdl_operand *large = tdl_builder_greater(b, size, one), *y;

    y = atan_below_one(b, tdl_builder_where(b, large, tdl_builder_reciprocal(b, size), size));
    y = tdl_builder_where(b, large, tdl_builder_linear(b, y, -1, 1.57079633f), y);
    return tdl_builder_mul(b, tdl_builder_sign(b, x), y);
}

/* Behind the y axis, π more or less; on it, half of that. */
struct tdl_operand *tdl_kit_atan2(struct tdl_kit *kit, struct tdl_operand *y, struct tdl_operand *x)
{
    struct tdl_builder *b = kit->builder;
    struct tdl_operand *zero = tdl_kit_number(kit, TDL_FLOAT32, 0);
    struct tdl_operand *one = tdl_kit_number(kit, TDL_FLOAT32, 1);
    struct tdl_operand *side, *angle, *on_axis = tdl_builder_equal(b, x, zero);

    side = tdl_builder_where(b, tdl_builder_lesser(b, y, zero), tdl_builder_neg(b, one), one);
    angle = tdl_kit_atan(b, tdl_builder_div(b, y, tdl_builder_where(b, on_axis, one, x)), one);
    angle = tdl_builder_where(
        b, tdl_builder_lesser(b, x, zero),
        tdl_builder_add(b, angle, tdl_builder_linear(b, side, 3.14159265f, 0)), angle);
    angle = tdl_builder_where(b, on_axis, tdl_builder_linear(b, side, 1.57079633f, 0), angle);
    /* The angle of (0, 0) is 0. */
    return tdl_builder_where(b, tdl_builder_logical_and(b, on_axis, tdl_builder_equal(b, y, zero)),
                             zero, angle);
}

/* asin x = atan(x / √(1 − x²)), and acos what is left of π/2. */
struct tdl_operand *tdl_kit_asin(struct tdl_kit *kit, struct tdl_operand *x)
{
    struct tdl_builder *b = kit->builder;
    struct tdl_operand *rest =
        tdl_builder_mul(b, tdl_builder_linear(b, x, 1, 1), tdl_builder_linear(b, x, -1, 1));

    x = tdl_builder_div(b, x, tdl_builder_sqrt(b, rest));
    return x ? tdl_kit_atan(b, x, tdl_kit_like(kit, x, 1)) : NULL;
}

struct tdl_operand *tdl_kit_acos(struct tdl_kit *kit, struct tdl_operand *x)
{
    return tdl_builder_linear(kit->builder, tdl_kit_asin(kit, x), -1, 1.57079633f);
}

struct tdl_operand *tdl_kit_trunc(struct tdl_kit *kit, struct tdl_operand *x)
{
    struct tdl_builder *b = kit->builder;

    return tdl_builder_mul(b, tdl_builder_sign(b, x), tdl_builder_floor(b, tdl_builder_abs(b, x)));
}

/* (eˣ ± e⁻ˣ) / 2. */
struct tdl_operand *tdl_kit_sinh(struct tdl_builder *b, struct tdl_operand *x)
{
    struct tdl_operand *up = tdl_builder_exp(b, x);

    x = tdl_builder_sub(b, up, tdl_builder_exp(b, tdl_builder_neg(b, x)));
    return tdl_builder_linear(b, x, 0.5f, 0);
}

struct tdl_operand *tdl_kit_cosh(struct tdl_builder *b, struct tdl_operand *x)
{
    struct tdl_operand *up = tdl_builder_exp(b, x);

    x = tdl_builder_add(b, up, tdl_builder_exp(b, tdl_builder_neg(b, x)));
    return tdl_builder_linear(b, x, 0.5f, 0);
}

/* ln(x + √(x² ± 1)), ln((1 + x) / (1 − x)) / 2. */
static struct tdl_operand *log_of_root(struct tdl_builder *b, struct tdl_operand *x, float one)
{
    struct tdl_operand *root =
        tdl_builder_sqrt(b, tdl_builder_linear(b, tdl_builder_mul(b, x, x), 1, one));

    return tdl_builder_log(b, tdl_builder_add(b, x, root));
}

struct tdl_operand *tdl_kit_asinh(struct tdl_builder *b, struct tdl_operand *x)
{
    return log_of_root(b, x, 1);
}

struct tdl_operand *tdl_kit_acosh(struct tdl_builder *b, struct tdl_operand *x)
{
    return log_of_root(b, x, -1);
}

struct tdl_operand *tdl_kit_atanh(struct tdl_builder *b, struct tdl_operand *x)
{
    struct tdl_operand *ratio =
        tdl_builder_div(b, tdl_builder_linear(b, x, 1, 1), tdl_builder_linear(b, x, -1, 1));

    return tdl_builder_linear(b, tdl_builder_log(b, ratio), 0.5f, 0);
}
