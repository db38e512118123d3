/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's GridSample over pictures (Operators.md, GridSample): each output pixel lies
 * somewhere on the input, between pixels that are gathered by computed indices and
 * summed by weights.
 */
#include "onnx.h"

#include <string.h>

enum padding { ZEROS, BORDER, REFLECTION };

/* One of the two axes: where output pixels lie on it, [images, 1, pixels]. */
struct axis {
    struct tdl_operand *at;
    uint32_t size;
};

struct sample {
    struct onnx_import *im;
    enum padding padding;
    bool align;
    uint32_t images, channels, pixels;
    struct axis axes[2]; /* y, x */
};

static struct tdl_operand *within(struct sample *s, struct tdl_operand *x, float low, float high)
{
    return tdl_builder_clamp(s->im->builder, x, &low, &high);
}

/* Mirrored at both ends, as often as it takes: t = |x − low| in periods of the span, of
 * which every second one runs backwards. */
static struct tdl_operand *reflect(struct sample *s, struct tdl_operand *x, uint32_t size)
{
    struct tdl_builder *b = s->im->builder;
    const float low = s->align ? 0 : -0.5f, span = s->align ? (float)size - 1 : (float)size;

    if (span == 0)
        return within(s, x, 0, 0);
    struct tdl_operand *t = tdl_builder_abs(b, tdl_builder_linear(b, x, 1, -low));
    struct tdl_operand *turns = tdl_builder_floor(b, tdl_builder_linear(b, t, 1 / span, 0));
    struct tdl_operand *rest = tdl_builder_sub(b, t, tdl_builder_linear(b, turns, span, 0));
    struct tdl_operand *pairs = tdl_builder_floor(b, tdl_builder_linear(b, turns, 0.5f, 0));
    struct tdl_operand *odd = tdl_builder_sub(b, turns, tdl_builder_linear(b, pairs, 2, 0));
    struct tdl_operand *back = tdl_builder_linear(b, rest, -1, span);
    /* rest + odd · (back − rest) */
    struct tdl_operand *way =
        tdl_builder_add(b, rest, tdl_builder_mul(b, odd, tdl_builder_sub(b, back, rest)));
    return within(s, tdl_builder_linear(b, way, 1, low), 0, (float)size - 1);
}

static struct tdl_operand *pad(struct sample *s, struct tdl_operand *x, uint32_t size)
{
    return s->padding == REFLECTION ? reflect(s, x, size)
           : s->padding == BORDER   ? within(s, x, 0, (float)size - 1)
                                    : x;
}

/* 1 where a whole coordinate is on the picture, else 0: padding by zeros only. */
static struct tdl_operand *inside(struct sample *s, struct tdl_operand *x, uint32_t size)
{
    struct tdl_builder *b = s->im->builder;

    return tdl_builder_cast(b, tdl_builder_equal(b, x, within(s, x, 0, (float)size - 1)),
                            TDL_FLOAT32);
}

/* Pixels at whole coordinates, [images, channels, pixels]. */
static struct tdl_operand *fetch(struct sample *s, struct tdl_operand *x, struct tdl_operand *at_y,
                                 struct tdl_operand *at_x)
{
    struct tdl_builder *b = s->im->builder;
    const uint32_t h = s->axes[0].size, w = s->axes[1].size;
    const uint32_t shape[] = {s->images, s->channels, s->pixels};
    struct tdl_operand *y = pad(s, at_y, h), *place, *value;

    at_x = pad(s, at_x, w);
    /* In whole numbers: float32 ends at 2^24. */
    place = tdl_builder_cast(b, within(s, y, 0, (float)h - 1), TDL_INT32);
    place = tdl_builder_mul(b, place, tdl_kit_number(&s->im->kit, TDL_INT32, w));
    place =
        tdl_builder_add(b, place, tdl_builder_cast(b, within(s, at_x, 0, (float)w - 1), TDL_INT32));
    value = tdl_builder_gather_elements(b, x, tdl_builder_expand(b, place, 3, shape), 2);
    if (s->padding != ZEROS)
        return value;
    value = tdl_builder_mul(b, value, inside(s, y, h));
    return tdl_builder_mul(b, value, inside(s, at_x, w));
}

/* Keys' cubic at a distance within 1, or from 1 to 2; a = −0.75. */
static struct tdl_operand *cubic(struct tdl_builder *b, struct tdl_operand *d, bool near)
{
    const float a = -0.75f;
    struct tdl_operand *y = tdl_builder_linear(b, d, near ? a + 2 : a, near ? -(a + 3) : -5 * a);

    y = tdl_builder_mul(b, y, d);
    if (!near)
        y = tdl_builder_linear(b, y, 1, 8 * a);
    y = tdl_builder_mul(b, y, d);
    return tdl_builder_linear(b, y, 1, near ? 1 : -4 * a);
}

/* The weight of tap `i` of `taps`, whose distance from the first follows from `rest`. */
static struct tdl_operand *weight(struct tdl_builder *b, struct tdl_operand *rest, uint32_t taps,
                                  int i)
{
    if (taps == 2)
        return i ? rest : tdl_builder_linear(b, rest, -1, 1);
    /* Distances of taps −1, 0, 1, 2. */
    struct tdl_operand *d = i <= 1 ? tdl_builder_linear(b, rest, 1, (float)(1 - i))
                                   : tdl_builder_linear(b, rest, -1, (float)(i - 1));
    return cubic(b, d, i == 1 || i == 2);
}

static struct tdl_operand *sum_taps(struct sample *s, struct tdl_operand *x, uint32_t taps)
{
    struct tdl_builder *b = s->im->builder;
    struct tdl_operand *first[2], *rest[2], *sum = NULL;

    for (int i = 0; i < 2; i++) {
        first[i] = tdl_builder_floor(b, s->axes[i].at);
        rest[i] = tdl_builder_sub(b, s->axes[i].at, first[i]);
    }
    for (int i = 0; i < (int)(taps * taps); i++) {
        const int y = i / (int)taps, at_x = i % (int)taps, before = taps == 4;
        struct tdl_operand *v = fetch(s, x, tdl_builder_linear(b, first[0], 1, (float)(y - before)),
                                      tdl_builder_linear(b, first[1], 1, (float)(at_x - before)));

        v = tdl_builder_mul(b, v, weight(b, rest[0], taps, y));
        v = tdl_builder_mul(b, v, weight(b, rest[1], taps, at_x));
        sum = sum ? tdl_builder_add(b, sum, v) : v;
    }
    return sum;
}

/* Coordinates of −1 to 1 as those of pixels. */
static void locate(struct sample *s, struct tdl_operand *grid)
{
    struct tdl_builder *b = s->im->builder;
    const uint32_t flat[] = {s->images, s->pixels, 2}, one[] = {s->images, 1, s->pixels};

    grid = tdl_builder_reshape(b, grid, 3, flat);
    for (uint32_t i = 0; i < 2; i++) {
        const float size = (float)s->axes[i].size;
        const struct tdl_slice_params p = {.start = {0, 0, 1 - i}, .size = {0, 0, 1}};

        s->axes[i].at =
            tdl_builder_linear(b, tdl_builder_reshape(b, tdl_builder_slice(b, grid, &p), 3, one),
                               s->align ? (size - 1) / 2 : size / 2, (size - 1) / 2);
    }
}

static bool read_attributes(struct onnx_import *im, struct sample *s, uint32_t *taps)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    static const char *const modes[] = {"nearest", "bilinear", "bicubic", "linear", "cubic"};
    static const uint32_t mode_taps[] = {1, 2, 4, 2, 4};
    uint32_t padding = 0, mode = onnx_has(im, "mode") ? 0 : 1;

    while (onnx_has(im, "padding_mode") && padding < 3 &&
           !onnx_string_is(im, "padding_mode", paddings[padding]))
        padding++;
    while (onnx_has(im, "mode") && mode < 5 && !onnx_string_is(im, "mode", modes[mode]))
        mode++;
    if (padding == 3 || mode == 5)
        return tdl_kit_lacks(&im->kit, "a mode or padding by an unknown name");
    s->padding = (enum padding)padding;
    s->align = onnx_int(im, "align_corners", 0) != 0;
    *taps = mode_taps[mode];
    return true;
}

bool onnx_add_grid_sample(struct onnx_import *im)
{
    struct sample s = {.im = im};
    struct tdl_operand *x = onnx_operand(im, 0), *grid = x ? onnx_operand(im, 1) : NULL, *y;
    uint32_t taps = 0;

    if (!grid || !read_attributes(im, &s, &taps))
        return false;
    if (tdl_kit_rank(x) != 4 || tdl_kit_rank(grid) != 4)
        return tdl_kit_lacks(&im->kit, "%u dimensions; libtdl samples pictures", tdl_kit_rank(x));
    const uint32_t *in = tdl_kit_shape(x), *out = tdl_kit_shape(grid);
    if (out[0] != in[0] || out[3] != 2)
        return tdl_kit_damaged(&im->kit, "a grid that does not fit the picture");
    s.images = in[0];
    s.channels = in[1];
    s.pixels = out[1] * out[2];
    for (uint32_t i = 0; i < 2; i++)
        s.axes[i].size = in[2 + i];
    const uint32_t shape[] = {in[0], in[1], out[1], out[2]};
    locate(&s, grid);
    x = onnx_reshape(im, x, 3, (const uint32_t[]){in[0], in[1], in[2] * in[3]});
    if (taps == 1)
        y = fetch(&s, x, tdl_builder_round_even(im->builder, s.axes[0].at),
                  tdl_builder_round_even(im->builder, s.axes[1].at));
    else
        y = sum_taps(&s, x, taps);
    return onnx_give(im, onnx_reshape(im, y, 4, shape));
}
