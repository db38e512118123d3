/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's GridSample over volumes (Operators.md, GridSample): eight neighbours of each place, or
 * the nearest, which are gathered and weighed.
 */
#include "onnx.h"

typedef struct tdl_operand *O;

struct volume {
    struct onnx_import *im;
    struct tdl_grid_sample_params p;
    uint32_t batch, channels, sizes[3], places; /* depth, height, width; places of one batch */
};

/* A neighbour along an axis: its number, int32, and how much it counts, [batch, places]. */
struct neighbour {
    O at, weight;
};

static O number(const struct volume *v, double value)
{
    return tdl_kit_number(&v->im->kit, TDL_FLOAT32, value);
}

/* Coordinates of the grid along an axis (0: depth) in pixels. */
static O pixels(const struct volume *v, O grid, uint32_t axis)
{
    const struct tdl_slice_params s = {.start = {0, 0, 2 - axis}, .size = {v->batch, v->places, 1}};
    const float size = (float)v->sizes[axis];
    struct tdl_builder *b = v->im->builder;
    O x = onnx_reshape(v->im, tdl_builder_slice(b, grid, &s), 2,
                       (const uint32_t[]){v->batch, v->places});

    return v->p.align_corners ? tdl_builder_linear(b, x, (size - 1) / 2, (size - 1) / 2)
                              : tdl_builder_linear(b, x, size / 2, (size - 1) / 2);
}

/* Mirrored at the first pixel and the last, or at their edges, as often as it takes. */
static O reflect(const struct volume *v, O x, uint32_t axis)
{
    const float low = v->p.align_corners ? 0 : -0.5f;
    const float span = (float)v->sizes[axis] - (v->p.align_corners ? 1 : 0);
    struct tdl_builder *b = v->im->builder;
    O turns;

    if (span <= 0)
        return tdl_builder_mul(b, x, number(v, 0));
    x = tdl_builder_linear(b, x, 1 / span, -low / span); /* in spans, from the lower edge */
    turns = tdl_builder_floor(b, tdl_builder_linear(b, x, 0.5f, 0));
    x = tdl_builder_sub(b, x, tdl_builder_linear(b, turns, 2, 0)); /* 0 to 2 */
    x = tdl_builder_min(b, x, tdl_builder_linear(b, x, -1, 2));
    return tdl_builder_linear(b, x, span, low);
}

static struct neighbour neighbour(const struct volume *v, O at, O weight, uint32_t axis)
{
    static const float zero = 0;
    const float last = (float)v->sizes[axis] - 1;
    struct tdl_builder *b = v->im->builder;
    O inside = tdl_builder_clamp(b, at, &zero, &last);

    if (v->p.padding == TDL_GRID_ZEROS)
        weight = tdl_builder_mul(
            b, weight, tdl_builder_cast(b, tdl_builder_equal(b, inside, at), TDL_FLOAT32));
    return (struct neighbour){tdl_builder_cast(b, inside, TDL_INT32), weight};
}

/* One or two along an axis; how many. */
static uint32_t neighbours(const struct volume *v, O grid, uint32_t axis, struct neighbour *out)
{
    static const float zero = 0;
    const float last = (float)v->sizes[axis] - 1;
    struct tdl_builder *b = v->im->builder;
    O x = pixels(v, grid, axis), floor, rest;

    if (v->p.padding == TDL_GRID_REFLECTION)
        x = reflect(v, x, axis);
    if (v->p.padding != TDL_GRID_ZEROS)
        x = tdl_builder_clamp(b, x, &zero, &last);
    if (v->p.mode == TDL_GRID_NEAREST) {
        x = tdl_builder_round_even(b, x);
        out[0] = neighbour(v, x, tdl_builder_linear(b, x, 0, 1), axis);
        return 1;
    }
    floor = tdl_builder_floor(b, x);
    rest = tdl_builder_sub(b, x, floor);
    out[0] = neighbour(v, floor, tdl_builder_linear(b, rest, -1, 1), axis);
    out[1] = neighbour(v, tdl_builder_linear(b, floor, 1, 1), rest, axis);
    return 2;
}

/* Pixels of one of the corners by its weight, [batch, places, channels]. */
static O corner(const struct volume *v, O rows, O first, const struct neighbour *const n[3])
{
    struct tdl_builder *b = v->im->builder;
    const uint32_t shape[] = {v->batch, v->places, 1};
    O at = n[0]->at, weight = n[0]->weight;

    for (uint32_t i = 1; i < 3; i++) {
        at = tdl_builder_mul(b, at, tdl_kit_number(&v->im->kit, TDL_INT32, v->sizes[i]));
        at = tdl_builder_add(b, at, n[i]->at);
        weight = tdl_builder_mul(b, weight, n[i]->weight);
    }
    weight = onnx_reshape(v->im, weight, 3, shape);
    return weight ? tdl_builder_mul(
                        b, tdl_builder_gather(b, rows, tdl_builder_add(b, at, first), 0), weight)
                  : NULL;
}

static O sum_corners(const struct volume *v, O rows, O grid)
{
    const uint32_t volume = v->sizes[0] * v->sizes[1] * v->sizes[2];
    struct tdl_builder *b = v->im->builder;
    struct neighbour all[3][2];
    uint32_t each = 1;
    O first = onnx_sequence(v->im, TDL_INT32, v->batch, 0, volume), sum = NULL;

    first = onnx_reshape(v->im, first, 2, (const uint32_t[]){v->batch, 1});
    for (uint32_t i = 0; i < 3 && first; i++)
        each = neighbours(v, grid, i, all[i]);
    for (uint32_t i = 0; i < each * each * each && first; i++) {
        const struct neighbour *const n[3] = {&all[0][i / each / each], &all[1][i / each % each],
                                              &all[2][i % each]};
        O one = corner(v, rows, first, n);

        sum = sum ? tdl_builder_add(b, sum, one) : one;
    }
    return sum;
}

bool onnx_sample_volume(struct onnx_import *im, O x, O grid, const struct tdl_grid_sample_params *p)
{
    const uint32_t *s = tdl_kit_shape(x), *g = tdl_kit_shape(grid);
    struct volume v = {.im = im, .p = *p, .batch = s[0], .channels = s[1]};
    struct tdl_builder *b = im->builder;
    const uint32_t out[] = {s[0], s[1], g[1], g[2], g[3]};
    uint64_t pixels = s[0], places = g[1];

    if (tdl_kit_rank(grid) != 5 || g[0] != s[0] || g[4] != 3)
        return tdl_kit_damaged(&im->kit, "a grid that does not fit the volume");
    if (p->mode == TDL_GRID_CUBIC)
        return tdl_kit_lacks(&im->kit, "cubic sampling of volumes");
    for (uint32_t i = 0; i < 3; i++) {
        v.sizes[i] = s[2 + i];
        pixels *= s[2 + i];
        places *= i ? g[1 + i] : 1;
    }
    if (pixels > INT32_MAX || places > INT32_MAX)
        return tdl_kit_lacks(&im->kit, "volumes of more than 2^31 pixels");
    v.places = (uint32_t)places;
    x = tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 3, 4, 1});
    x = onnx_reshape(im, x, 2, (const uint32_t[]){(uint32_t)pixels, v.channels});
    grid = onnx_reshape(im, grid, 3, (const uint32_t[]){v.batch, v.places, 3});
    x = x && grid ? sum_corners(&v, x, grid) : NULL;
    x = x ? tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 1}) : NULL;
    return onnx_give(im, onnx_reshape(im, x, 5, out));
}
