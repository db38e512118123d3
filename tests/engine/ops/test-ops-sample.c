/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gridSample on the device against its plain reference, and that against results worked out
 * by hand: places on the image and far outside, NaN, infinities, odd sizes, both layouts,
 * float16; and that one kernel does it.
 *
 *     test-ops-sample [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <ops/ops.h>

#include <math.h>

typedef struct tdl_grid_sample_params params;

static struct tdl_operand *sample(struct tdl_builder *b, const struct tdl_tensor_params *image,
                                  struct tdl_tensor_params grid, const params *p)
{
    struct tdl_operand *x = tdl_builder_input(b, "x", image);
    struct tdl_operand *y = tdl_builder_grid_sample(b, x, tdl_builder_input(b, "grid", &grid), p);
    REQUIRE(y, "%s", tdl_builder_error(b));
    tdl_builder_output(b, "y", y);
    return y;
}

/* ------------------------------------------------------------------- random cases */

/* What the places of the running case are for. */
static params how;
static uint32_t height, width;

/* The place of a pixel, as the definition has it, turned round. */
static float place_of(double pixel, uint32_t size)
{
    if (how.align_corners)
        return size > 1 ? (float)(2 * pixel / (size - 1) - 1) : 0;
    return (float)((2 * pixel + 1) / size - 1);
}

/* Where the nearest pixel is chosen, no place is so close to the middle of two that rounding
 * decides. */
static float random_place(struct rng *rng, uint32_t size)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e9f, -1e30f};
    const uint32_t around = 3 * size + 6;
    const double pixel = (double)rng_below(rng, around) - (double)around / 3;
    if (rng_one_in(rng, 20) && how.padding != TDL_GRID_REFLECTION)
        return odd[rng_below(rng, COUNT(odd))];
    return place_of(floor(pixel) + (double)rng_float(rng, -0.4f, 0.4f), size);
}

static void fill(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                 void *values)
{
    if (index == 0) {
        subject_fill(desc, rng, values);
        return;
    }
    for (size_t i = 0, n = tdl_tensor_params_size(desc) / tdl_dtype_size(desc->dtype); i < n; i++) {
        const float at = random_place(rng, i % 2 ? height : width);
        if (desc->dtype == TDL_FLOAT16)
            ((uint16_t *)values)[i] = tdl_float_to_half(at);
        else
            ((float *)values)[i] = at;
    }
}

static void run_case(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed * 7919 + 1};
    struct tdl_builder *b;
    struct subject s;
    const uint32_t n = RNG_PICK(&rng, 1, 1, 2, 3), c = RNG_PICK(&rng, 1, 2, 3, 4, 5, 16, 17, 37);
    const enum tdl_layout layout = rng_below(&rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    const bool half = rng_one_in(&rng, 3);
    height = RNG_PICK(&rng, 1, 2, 3, 7, 16, 17);
    width = RNG_PICK(&rng, 1, 2, 5, 8, 15, 33);
    how = (params){.mode = rng_below(&rng, 3),
                   .padding = rng_below(&rng, 3),
                   .align_corners = rng_one_in(&rng, 2)};
    struct tdl_tensor_params image = subject_image(layout, n, height, width, c);
    struct tdl_tensor_params grid =
        SUBJECT_SHAPE(TDL_FLOAT32, n, RNG_PICK(&rng, 1, 3, 9), RNG_PICK(&rng, 1, 7, 31), 2);
    if (rng_one_in(&rng, 4))
        image.dtype = TDL_FLOAT16;
    /* Halves are no places that are clear of the middle. */
    if (rng_one_in(&rng, 4) && how.mode != TDL_GRID_NEAREST)
        grid.dtype = TDL_FLOAT16;
    check_begin("seed %llu: %ux%ux%ux%u %s at %ux%u, mode %u padding %u%s%s%s%s",
                (unsigned long long)seed, n, height, width, c,
                layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC", grid.shape[1], grid.shape[2], how.mode,
                how.padding, how.align_corners ? " corners" : "", half ? " fp16" : "",
                image.dtype == TDL_FLOAT16 ? ", halves" : "",
                grid.dtype == TDL_FLOAT16 ? " at halves" : "");
    OK(check_builder(ctx, &b));
    how.input_layout = layout;
    sample(b, &image, grid, &how);
    subject_open_filled(&s, ctx, b, &rng, fill);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32});
    subject_close(&s);
}

/* ------------------------------------------------------------------ worked by hand */

enum { WIDTH = 4, MOST = 8 };
static const float *pixels, *places;

static void fill_by_hand(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                         void *values)
{
    (void)rng;
    if (index == 0) {
        memcpy(values, pixels, WIDTH * sizeof(*pixels));
        return;
    }
    for (uint32_t i = 0; i < desc->shape[2]; i++) {
        ((float *)values)[2 * i] = places[i];
        ((float *)values)[2 * i + 1] = 0; /* one row: its middle */
    }
}

/* A row of pixels at places on it. */
static const struct row {
    const char *what;
    params p;
    float pixels[WIDTH];
    uint32_t count;
    float places[MOST], want[MOST];
} rows[] = {
    /* Pixels 1½, −½, 4½ and 3½. */
    {"linear", {0}, {1, 2, 4, 8}, 4, {0, -1, 1.5f, 1}, {3, 0.5f, 0, 4}},
    {"linear, border", {.padding = TDL_GRID_BORDER}, {1, 2, 4, 8}, 4, {0, -1, 1.5f, 1},
     {3, 1, 8, 8}},
    /* 4½ is between what mirrors 2 and 3; 6½ between 0 and 1. */
    {"linear, mirrored", {.padding = TDL_GRID_REFLECTION}, {1, 2, 4, 8}, 4, {0, -1, 1.5f, 2.5f},
     {3, 1, 6, 1.5f}},
    /* 0, 3, 1½, 4½. */
    {"linear, corners", {.align_corners = true}, {1, 2, 4, 8}, 4, {-1, 1, 0, 2}, {1, 8, 3, 0}},
    {"linear, corners, mirrored", {.align_corners = true, .padding = TDL_GRID_REFLECTION},
     {1, 2, 4, 8}, 3, {-1, 1, 2}, {1, 8, 3}},
    /* 1½, 2½, 3½ go to 2, 2 and 4. */
    {"nearest", {.mode = TDL_GRID_NEAREST}, {1, 2, 4, 8}, 4, {0, 0.5f, 1, -0.75f}, {4, 4, 0, 1}},
    {"nearest, mirrored", {.mode = TDL_GRID_NEAREST, .padding = TDL_GRID_REFLECTION},
     {1, 2, 4, 8}, 2, {1, 1.5f}, {8, 8}},
    /* Weights at ½ are 19/32 and −3/32. */
    {"cubic, border", {.mode = TDL_GRID_CUBIC, .padding = TDL_GRID_BORDER}, {1, 2, 4, 8}, 2,
     {0, -0.5f}, {2.71875f, 1.3125f}},
    {"cubic", {.mode = TDL_GRID_CUBIC}, {1, 2, 4, 8}, 2, {0, -1}, {2.71875f, 0.40625f}},
    {"no numbers", {0}, {1, 2, 4, 8}, 3, {NAN, INFINITY, -INFINITY}, {0, 0, 0}},
    {"no numbers, border", {.padding = TDL_GRID_BORDER}, {1, 2, 4, 8}, 3,
     {NAN, INFINITY, -INFINITY}, {1, 8, 1}},
    /* Pixels 2, 0 and −2, next to which there is, or counts, none that is infinite. */
    {"beside infinity", {0}, {INFINITY, 2, 4, INFINITY}, 3, {0.25f, -0.25f, -1.25f}, {4, 2, 0}},
};

static void check_by_hand(struct tdl_context *ctx, const struct row *r)
{
    struct rng rng = {1};
    struct tdl_builder *b;
    struct subject s;
    const struct tdl_tensor_params image = subject_image(TDL_LAYOUT_NHWC, 1, 1, WIDTH, 1);
    check_begin("worked by hand: %s", r->what);
    OK(check_builder(ctx, &b));
    struct tdl_operand *y = sample(b, &image, SUBJECT_SHAPE(TDL_FLOAT32, 1, 1, r->count, 2), &r->p);
    pixels = r->pixels;
    places = r->places;
    subject_open_filled(&s, ctx, b, &rng, fill_by_hand);
    subject_compare("the reference", &y->desc, r->want, s.values[y->id], false, 1);
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

/* ----------------------------------------------------------------------- the rest */

/* What does not fit, by what its message says. */
static void check_refused(struct tdl_context *ctx)
{
    static const struct {
        const char *says;
        uint32_t rank, shape[4];
        params p;
    } table[] = {
        {"as many images", 4, {2, 1, 1, 2}, {0}},
        {"height, width, 2", 4, {1, 1, 1, 3}, {0}},
        {"rank 4", 3, {1, 1, 2}, {0}},
        {"mode", 4, {1, 1, 1, 2}, {.mode = (enum tdl_grid_mode)3}},
        {"padding", 4, {1, 1, 1, 2}, {.padding = (enum tdl_grid_padding)3}},
        {"input layout", 4, {1, 1, 1, 2}, {.input_layout = 9}},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct tdl_tensor_params image = subject_image(TDL_LAYOUT_NHWC, 1, 3, 3, 1);
        const struct tdl_tensor_params grid =
            subject_shape(TDL_FLOAT32, table[i].rank, table[i].shape);
        struct tdl_builder *b;
        check_begin("refused: %s", table[i].says);
        OK(check_builder(ctx, &b));
        struct tdl_operand *x = tdl_builder_input(b, "x", &image);
        CHECK(!tdl_builder_grid_sample(b, x, tdl_builder_input(b, "grid", &grid), &table[i].p),
              "taken");
        CHECK(strstr(tdl_builder_error(b), table[i].says), "%s", tdl_builder_error(b));
        tdl_builder_destroy(&b);
    }
}

static void check_one_kernel(struct tdl_context *ctx)
{
    struct tdl_builder *b;
    const struct tdl_tensor_params image = subject_image(TDL_LAYOUT_NHWC, 1, 9, 9, 5);
    check_begin("one kernel");
    OK(check_builder(ctx, &b));
    sample(b, &image, SUBJECT_SHAPE(TDL_FLOAT32, 1, 9, 9, 2), NULL);
    const uint32_t steps = subject_steps(b, false, "grid_sample");
    CHECK(steps == 1, "%u steps", steps);
    tdl_builder_destroy(&b);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 24);
    const uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    for (size_t i = 0; i < COUNT(rows); i++)
        check_by_hand(ctx, &rows[i]);
    check_refused(ctx);
    if (subject_has_kernels(ctx))
        check_one_kernel(ctx);
    for (long i = 0; i < cases; i++)
        run_case(ctx, seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
