/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gridSample: pixels of a picture at places that a second operand names. WebNN has no such
 * operator; this one is ONNX's GridSample (Operators.md) of four dimensions.
 */
#include "ir/builder.h"
#include "ops.h"
#include "rows.h"

#include <math.h>

enum { GRID = 1, MOST_TAPS = 4 };

/* The grid is an image of two channels, x and y. */
static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0], *grid = n->inputs[GRID];
    const uint32_t *places = grid->desc.shape;
    if (x->desc.rank != 4 || !tdl_is_float(x->desc.dtype) || grid->desc.rank != 4 ||
        !tdl_is_float(grid->desc.dtype) || places[3] != 2 || places[0] != x->desc.shape[0])
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gridSample: %s at the places %s; both are floats of rank 4 for as many "
                        "images, and the places are [images, height, width, 2]",
                        tdl_operand_text(x), tdl_operand_text(grid));
    const struct tdl_dims d = tdl_operand_dims(x);
    *out = tdl_desc_like(x, (struct tdl_dims){d.n, places[1], places[2], d.c});
    return TDL_OK;
}

/* -------------------------------------------------------------- the reference */

/* In float32, since rounding to a pixel depends on it. */
static double place_of(const struct tdl_grid_sample_params *p, float grid, uint32_t size)
{
    const float one = (float)size - 1;
    const float g = grid > -TDL_GRID_FAR ? TDL_MIN(grid, TDL_GRID_FAR) : -TDL_GRID_FAR;
    return p->align_corners ? (g + 1) * 0.5f * one : ((g + 1) * (float)size - 1) * 0.5f;
}

/* Mirrored at both ends until it lies between them. */
static double reflect(double at, double low, double high)
{
    if (high <= low)
        return 0;
    const double period = 2 * (high - low), rest = fmod(fabs(at - low), period);
    return low + (rest > high - low ? period - rest : rest);
}

/* The pixel that stands for one that may be outside; −1 for a zero. */
static int64_t pixel_of(const struct tdl_grid_sample_params *p, double at, uint32_t size)
{
    const double most = size - 1.0, half = p->align_corners ? 0 : 0.5;
    if (p->padding == TDL_GRID_ZEROS && (at < 0 || at > most))
        return -1;
    if (p->padding == TDL_GRID_REFLECTION)
        at = reflect(at, -half, most + half);
    return (int64_t)TDL_MIN(TDL_MAX(at, 0), most);
}

/* Keys' cubic with a = −¾, at a distance of up to 2. */
static double cubic(double d)
{
    const double a = -0.75;
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

struct taps {
    uint32_t count;
    int64_t pixels[MOST_TAPS];
    double weights[MOST_TAPS];
};

static struct taps taps_of(const struct tdl_grid_sample_params *p, float grid, uint32_t size)
{
    static const uint32_t counts[] = {
        [TDL_GRID_LINEAR] = 2, [TDL_GRID_NEAREST] = 1, [TDL_GRID_CUBIC] = 4};
    const double at = place_of(p, grid, size), first = floor(at);
    struct taps taps = {.count = counts[p->mode]};
    for (int i = 0; i < (int)taps.count; i++) {
        const double pixel = taps.count == 1 ? nearbyint(at) : first + i - (taps.count == 4);
        const double distance = fabs(at - pixel);
        taps.pixels[i] = pixel_of(p, pixel, size);
        taps.weights[i] = taps.count == 1 ? 1 : taps.count == 2 ? 1 - distance : cubic(distance);
    }
    return taps;
}

static double sum_taps(const float *image, struct tdl_dims in, uint32_t c, const struct taps *y,
                       const struct taps *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < y->count; i++)
        for (uint32_t j = 0; j < x->count; j++) {
            const double weight = y->weights[i] * x->weights[j];
            if (y->pixels[i] >= 0 && x->pixels[j] >= 0 && weight != 0)
                sum +=
                    weight *
                    (double)image[((size_t)y->pixels[i] * in.w + (size_t)x->pixels[j]) * in.c + c];
        }
    return sum;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const struct tdl_grid_sample_params *p = &n->attr.grid_sample;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = tdl_operand_dims(n->output);
    const size_t pixels = (size_t)out.h * out.w, image = (size_t)in.h * in.w * in.c;
    for (size_t i = 0; i < out.n * pixels; i++) {
        const struct taps x = taps_of(p, inputs[GRID][2 * i], in.w);
        const struct taps y = taps_of(p, inputs[GRID][2 * i + 1], in.h);
        for (uint32_t c = 0; c < in.c; c++)
            *output++ = (float)sum_taps(inputs[0] + i / pixels * image, in, c, &y, &x);
    }
}

/* ------------------------------------------------------------------- kernels */

/* Packs of halves are too coarse for places; in linear memory they are what they are. */
static bool reads_linear(const struct tdl_node *n, uint32_t slot, const char *algorithm)
{
    (void)n;
    (void)algorithm;
    return slot == GRID;
}

/* Words from one place of the grid to the next: two numbers, or a pack of four. */
static uint32_t words_of(const struct tdl_plan *plan, const struct tdl_operand *grid, bool *half)
{
    const bool packed = grid->storage == TDL_STORAGE_PACKED;
    *half = (packed && !grid->wide ? plan->storage : grid->desc.dtype) == TDL_FLOAT16;
    return (packed ? 4u : 2u) / (*half ? 2 : 1);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_grid_sample_params *p = &n->attr.grid_sample;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = tdl_operand_dims(n->output);
    const uint32_t packs = tdl_packs(in.c), pixels = out.h * out.w, local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "grid_sample", n, local, 1, 1);
    bool half;
    const uint32_t words = words_of(plan, n->inputs[GRID], &half);
    const struct tdl_grid_sample_spec spec =
        tdl_grid_sample_spec(.in_w = in.w, .in_h = in.h, .pixels = pixels, .packs = packs,
                             .mode = p->mode, .padding = p->padding, .align = p->align_corners,
                             .words = words, .half_grid = half);
    TDL_PLAN_SPECS(s, grid_sample, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_read(s, 1, n->inputs[GRID]);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), packs, in.n);
    return plan->status;
}

/* Image by image, each with places of its own. */
static bool stack(struct tdl_node *n, uint32_t stacked)
{
    (void)n;
    return stacked == (1u | 1u << GRID);
}

const struct tdl_op tdl_op_grid_sample = {
    .name = "gridSample",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .reference = reference,
    .reads_linear = reads_linear,
    .nhwc_slots = 1u << GRID,
};

struct tdl_operand *tdl_builder_grid_sample(struct tdl_builder *b, struct tdl_operand *input,
                                            struct tdl_operand *grid,
                                            const struct tdl_grid_sample_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.grid_sample = params ? *params : (struct tdl_grid_sample_params){0}};
    struct tdl_grid_sample_params *p = &attr.grid_sample;
    if (!tdl_builder_known(b, &tdl_op_grid_sample, "mode", p->mode, TDL_GRID_CUBIC) ||
        !tdl_builder_known(b, &tdl_op_grid_sample, "padding", p->padding, TDL_GRID_REFLECTION))
        return NULL;
    const enum tdl_layout layout = tdl_builder_layout(b, &tdl_op_grid_sample, p->input_layout);
    p->input_layout = TDL_LAYOUT_DEFAULT;
    return tdl_builder_add_told(b, &tdl_op_grid_sample, layout, &attr,
                                (struct tdl_operand *[]){input, grid}, 2, 2);
}
