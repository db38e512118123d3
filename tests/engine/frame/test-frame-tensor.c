/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frame → tensor against both filters in double precision: every format,
 * odd sizes and geometry, crops, growing and shrinking, every matrix and
 * range, and the three kinds of tensor.
 */
#include "test-frame-common.h"

#include <math.h>
#include <string.h>

static void reference(const struct picture *p, const uint32_t crop[4], uint32_t w, uint32_t h,
                      uint32_t x, uint32_t y, bool bilinear, double rgb[3])
{
    const double sx = (double)crop[2] / w, sy = (double)crop[3] / h;
    const double cx = crop[0] + (x + 0.5) * sx, cy = crop[1] + (y + 0.5) * sy;
    const int first[2] = {(int)crop[0], (int)crop[1]};
    const int last[2] = {(int)(crop[0] + crop[2]) - 1, (int)(crop[1] + crop[3]) - 1};
    double codes[3];
    const double width[2] = {bilinear ? 1 : sx, bilinear ? 1 : sy};
    filtered_codes(p, (double[]){cx, cy}, width, first, last, codes);
    to_rgb(&p->frame, codes, rgb);
    for (int c = 0; c < 3; c++)
        rgb[c] = clamp_double(rgb[c], 0, 1);
}

static float half_to_float(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return (float)(h & 0x8000 ? -value : value);
}

/* The tensor's value at (x, y, c), c 3 being the padding of NC4HW4. */
static double tensor_value(const struct tdl_tensor *t, const void *data, uint32_t x, uint32_t y,
                           uint32_t c)
{
    const struct tdl_tensor_params *p = tdl_tensor_get_params(t);
    const size_t i = (size_t)y * p->shape[2] + x;
    if (p->packing == TDL_PACKING_NONE)
        return c < 3 ? ((const float *)data)[3 * i + c] : 0;
    if (p->dtype == TDL_FLOAT16)
        return half_to_float(((const uint16_t *)data)[4 * i + c]);
    return ((const float *)data)[4 * i + c];
}

struct kind {
    enum tdl_dtype dtype;
    enum tdl_packing packing;
    double tolerance;
};
static const struct kind kinds[] = {
    {TDL_FLOAT32, TDL_PACKING_NONE, 2e-5},
    {TDL_FLOAT32, TDL_PACKING_C4, 2e-5},
    {TDL_FLOAT16, TDL_PACKING_C4, 1.2e-3}, /* half's step below 2 is 2⁻¹⁰ */
};

/* A rectangle within one that is given with its origin at 0. */
static void random_part(uint32_t part[4])
{
    const uint32_t w = part[2], h = part[3];
    part[0] = random_below(w);
    part[1] = random_below(h);
    part[2] = 1 + random_below(w - part[0]);
    part[3] = 1 + random_below(h - part[1]);
}

static void check(struct tdl_context *ctx, struct tdl_batch *batch, struct picture *p,
                  const struct kind *kind, const uint32_t crop[4], uint32_t w, uint32_t h,
                  bool normalise)
{
    struct tdl_frame_to_tensor_params params = {.crop = {crop[0], crop[1], crop[2], crop[3]},
                                                .filter = random_below(2)};
    double scale[3] = {1, 1, 1}, bias[3] = {0, 0, 0};
    uint32_t inside[4] = {0, 0, w, h};
    struct tdl_tensor *t = tensor_new(ctx, kind->dtype, kind->packing, h, w, 3);
    const size_t size = tdl_tensor_params_size(tdl_tensor_get_params(t));
    void *data = malloc(size);
    CHECK(data, "no memory");
    for (int c = 0; c < 3 && normalise; c++) {
        scale[c] = params.scale[c] = 0.5f + 0.25f * (float)c;
        bias[c] = params.bias[c] = -0.125f * (float)(c + 1);
    }
    if (normalise) { /* nor in the whole tensor */
        random_part(inside);
        params.inside.x = inside[0];
        params.inside.y = inside[1];
        params.inside.width = inside[2];
        params.inside.height = inside[3];
        params.pad = 0.01f * (float)random_below(101);
        params.bgr = random_below(2);
    }
    OK(tdl_batch_begin(batch));
    OK(tdl_frame_to_tensor(batch, &p->frame, t, &params));
    run_batch(batch, ctx);
    OK(tdl_tensor_read(t, data, size));
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            double rgb[4] = {(double)params.pad, (double)params.pad, (double)params.pad};
            if (x - inside[0] < inside[2] && y - inside[1] < inside[3])
                reference(p, crop, inside[2], inside[3], x - inside[0], y - inside[1],
                          params.filter == TDL_FILTER_BILINEAR, rgb);
            for (uint32_t c = 0; c < 4; c++) {
                const double colour = rgb[c < 3 && params.bgr ? 2 - c : c];
                const double want = c < 3 ? colour * scale[c] + bias[c] : 0;
                const double got = tensor_value(t, data, x, y, c);
                CHECK(fabs(got - want) <= kind->tolerance,
                      "%s %u×%u crop %u,%u %u×%u → %u×%u, filter %u, matrix %d, range %d: pixel "
                      "%u,%u channel %u is %.6f, not %.6f (seed %#x)",
                      tdl_format_name(p->frame.format), p->frame.width, p->frame.height, crop[0],
                      crop[1], crop[2], crop[3], w, h, (unsigned)params.filter,
                      (int)p->frame.matrix, (int)p->frame.range, x, y, c, got, want, random_seed());
            }
        }
    free(data);
    tdl_tensor_destroy(&t);
}

static void test_sizes(struct tdl_context *ctx, struct tdl_batch *batch)
{
    static const uint32_t sizes[][4] = {
        {1, 1, 1, 1},    {1, 1, 5, 3},     {3, 5, 2, 2},    {5, 3, 16, 9}, {17, 33, 8, 8},
        {64, 36, 16, 9}, {33, 17, 33, 17}, {50, 40, 7, 31}, {2, 64, 9, 1},
    };
    for (size_t f = 0; f < COUNT(all_formats); f++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            const uint32_t w = sizes[i][0], h = sizes[i][1];
            struct picture p =
                picture_new(ctx, all_formats[f], w, h, i % 2 ? GEOMETRY_ODD : GEOMETRY_WORDS);
            p.frame.matrix = (enum tdl_color_matrix)random_below(3);
            p.frame.range = (enum tdl_range)random_below(2);
            const uint32_t whole[4] = {0, 0, w, h};
            uint32_t part[4] = {0, 0, w, h};
            random_part(part);
            check(ctx, batch, &p, &kinds[0], whole, sizes[i][2], sizes[i][3], false);
            check(ctx, batch, &p, &kinds[0], part, sizes[i][2], sizes[i][3], i % 3 == 0);
            picture_free(&p);
        }
}

static void test_kinds_and_colours(struct tdl_context *ctx, struct tdl_batch *batch)
{
    static const enum tdl_format formats[] = {TDL_FORMAT_NV12, TDL_FORMAT_P010, TDL_FORMAT_RGB};
    for (size_t f = 0; f < COUNT(formats); f++) {
        struct picture p = picture_new(ctx, formats[f], 30, 20, GEOMETRY_TIGHT);
        const uint32_t whole[4] = {0, 0, 30, 20};
        for (size_t k = 0; k < COUNT(kinds); k++)
            for (int m = 0; m < 6; m++) {
                p.frame.matrix = (enum tdl_color_matrix)(m / 2);
                p.frame.range = (enum tdl_range)(m % 2);
                check(ctx, batch, &p, &kinds[k], whole, 13, 11, m & 1);
            }
        picture_free(&p);
    }
}

/* Known points: white, black and the primaries' corners in BT.601 limited. */
static void test_known_colours(struct tdl_context *ctx, struct tdl_batch *batch)
{
    static const struct {
        unsigned yuv[3];
        double rgb[3];
    } known[] = {
        {{235, 128, 128}, {1, 1, 1}}, {{16, 128, 128}, {0, 0, 0}}, {{81, 90, 240}, {1, 0, 0}},
        {{145, 54, 34}, {0, 1, 0}},   {{41, 240, 110}, {0, 0, 1}}, {{126, 128, 128}, {.5, .5, .5}},
    };
    struct picture p = picture_new(ctx, TDL_FORMAT_I420, 4, 4, GEOMETRY_TIGHT);
    struct tdl_tensor *t = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 1, 1, 3);
    for (size_t i = 0; i < COUNT(known); i++) {
        float rgb[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < (c ? 4 : 16); k++)
                set_code(&p, c, c ? k % 2 : k % 4, c ? k / 2 : k / 4, known[i].yuv[c]);
        OK(tdl_batch_begin(batch));
        OK(tdl_frame_to_tensor(batch, &p.frame, t, NULL));
        run_batch(batch, ctx);
        OK(tdl_tensor_read(t, rgb, sizeof(rgb)));
        for (int c = 0; c < 3; c++)
            CHECK(fabs(rgb[c] - known[i].rgb[c]) < 0.006, "known colour %zu, channel %d: %f", i, c,
                  (double)rgb[c]);
    }
    tdl_tensor_destroy(&t);
    picture_free(&p);
}

static void test_wrong(struct tdl_context *ctx, struct tdl_batch *batch)
{
    struct picture p = picture_new(ctx, TDL_FORMAT_RGB, 4, 4, GEOMETRY_TIGHT);
    struct tdl_tensor *t = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 4, 4, 3);
    const struct tdl_frame_to_tensor_params wrong[] = {
        {.inside = {4, 0, 1, 1}},
        {.inside = {0, 0, 5, 1}},
        {.inside = {0, 2, 1, 0}},
        {.inside = {1, 1, 4294967295u, 1}},
        {.pad = 2},
        {.pad = (float)NAN},
    };
    OK(tdl_batch_begin(batch));
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(tdl_frame_to_tensor(batch, &p.frame, t, &wrong[i]) == TDL_ERROR_INVALID_ARGUMENT,
              "wrong params %zu are taken", i);
    tdl_batch_cancel(batch);
    tdl_tensor_destroy(&t);
    picture_free(&p);
}

int main(int argc, char **argv)
{
    struct tdl_context *ctx = open_context(argc, argv);
    struct tdl_batch *batch;
    OK(tdl_batch_create(ctx, &batch));
    test_known_colours(ctx, batch);
    test_wrong(ctx, batch);
    test_sizes(ctx, batch);
    test_kinds_and_colours(ctx, batch);
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("frame to tensor: ok\n");
    return 0;
}
