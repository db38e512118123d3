/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Visible properties: a mask that sits on its frame, no colour of the foreground in the blurred
 * background, a blur of the requested width. Each is measured, without the reference of the other
 * tests.
 */
#include "test-frame-common.h"

#include <math.h>
#include <string.h>

static struct tdl_context *ctx;
static struct tdl_batch *batch;

static void fill(struct picture *p, int component, int x0, int y0, int x1, int y1, unsigned code)
{
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            set_code(p, component, x, y, code);
}

static void compose_once(const struct picture *source, struct tdl_tensor *mask,
                         struct picture *target, const struct tdl_compose_params *params)
{
    struct tdl_composer *composer;
    OK(tdl_composer_create(ctx, &composer));
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, composer, &source->frame, mask, &target->frame, params));
    run_batch(batch, ctx);
    tdl_composer_destroy(&composer);
}

/* Position at which a line of values crosses the middle. Pixel k covers k … k + 1; the area under
 * the line gives the crossing. */
static double crossing(const struct picture *p, bool vertical, int line)
{
    const int count = (int)(vertical ? p->frame.height : p->frame.width);
    double covered = 0;
    for (int k = 0; k < count; k++)
        covered += get_code(p, 0, vertical ? line : k, vertical ? k : line) / 255;
    return count - covered; /* 0 before, 255 behind */
}

struct edge_case {
    uint32_t width, height, mask_width, mask_height;
};
static const struct edge_case edge_cases[] = {
    {320, 240, 32, 32}, {333, 77, 32, 20}, {160, 90, 64, 36},
    {40, 30, 64, 64},   {97, 61, 97, 61},  {1280, 16, 256, 8},
};

/* A step between two mask pixels lies at their border, scaled. */
static void test_mask_edge(void)
{
    for (size_t i = 0; i < COUNT(edge_cases); i++)
        for (int vertical = 0; vertical < 2; vertical++) {
            const struct edge_case *e = &edge_cases[i];
            const uint32_t w = e->mask_width, h = e->mask_height;
            const uint32_t at = (vertical ? h : w) / 2 + 1;
            struct picture source =
                picture_new(ctx, TDL_FORMAT_GRAY8, e->width, e->height, GEOMETRY_TIGHT);
            struct picture target =
                picture_new(ctx, TDL_FORMAT_GRAY8, e->width, e->height, GEOMETRY_TIGHT);
            struct tdl_tensor *mask = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, h, w, 1);
            float *values = calloc((size_t)w * h, sizeof(*values));
            CHECK(values, "no memory");
            for (uint32_t k = 0; k < w * h; k++)
                values[k] = (vertical ? k / w : k % w) >= at;
            OK(tdl_tensor_write(mask, values, (size_t)w * h * sizeof(*values), NULL));
            compose_once(&source, mask, &target,
                         &(struct tdl_compose_params){
                             .mode = TDL_MODE_MASK, .threshold = 0.5f, .feather = 1});
            const double want = (double)at * (vertical ? e->height : e->width) / (vertical ? h : w);
            for (int line = 0; line < 3; line++) {
                const double got = crossing(&target, vertical, line);
                CHECK(fabs(got - want) < 0.1, "%u×%u, mask %u×%u: edge at %.3f, not %.3f px",
                      e->width, e->height, w, h, got, want);
            }
            free(values);
            tdl_tensor_destroy(&mask);
            picture_free(&source);
            picture_free(&target);
        }
}

/* The whole way: a picture with an edge goes into a tensor, the tensor comes
 * back as the mask, and the mask's edge is the picture's, refined or not. */
static void test_round_trip(enum tdl_format format)
{
    const uint32_t w = 640, h = 360, mw = 64, mh = 36;
    for (int edge = 301; edge < 312; edge++)
        for (int refine = 0; refine < 2; refine++) {
            struct picture source = picture_new(ctx, format, w, h, GEOMETRY_ODD);
            struct picture target = picture_new(ctx, TDL_FORMAT_GRAY8, w, h, GEOMETRY_TIGHT);
            struct tdl_tensor *rgb = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, mh, mw, 3);
            struct tdl_tensor *mask = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, mh, mw, 1);
            float values[64 * 36 * 3];
            source.frame.range = TDL_RANGE_FULL;
            for (int c = 0; c < 3; c++) {
                const bool sub = c && !format_rgb(format);
                const int sx = sub ? chroma_shift_x(format) : 0;
                const int sy = sub ? chroma_shift_y(format) : 0;
                fill(&source, c, 0, 0, (int)(w >> sx), (int)(h >> sy), sub ? 128 : 0);
                if (!sub)
                    fill(&source, c, edge, 0, (int)w, (int)h, 255);
            }
            OK(tdl_batch_begin(batch));
            OK(tdl_frame_to_tensor(batch, &source.frame, rgb, NULL));
            run_batch(batch, ctx);
            OK(tdl_tensor_read(rgb, values, sizeof(values)));
            for (int i = 0; i < 64 * 36; i++)
                values[i] = values[3 * i];
            OK(tdl_tensor_write(mask, values, 64 * 36 * sizeof(float), NULL));
            compose_once(&source, mask, &target,
                         &(struct tdl_compose_params){.mode = TDL_MODE_MASK,
                                                      .threshold = 0.5f,
                                                      .feather = refine ? 0.5f : 1,
                                                      .refine = refine});
            for (int line = 100; line < 103; line++) {
                const double got = crossing(&target, false, line);
                CHECK(fabs(got - edge) < 0.5, "%s: edge at %.3f px, not %d%s",
                      tdl_format_name(format), got, edge, refine ? " (refined)" : "");
            }
            if (refine) {
                /* And it is as sharp as the picture. */
                CHECK(get_code(&target, 0, edge - 2, 50) < 20 &&
                          get_code(&target, 0, edge + 1, 50) > 235,
                      "%s: the refined edge is %g … %g", tdl_format_name(format),
                      get_code(&target, 0, edge - 2, 50), get_code(&target, 0, edge + 1, 50));
            }
            tdl_tensor_destroy(&rgb);
            tdl_tensor_destroy(&mask);
            picture_free(&source);
            picture_free(&target);
        }
}

static struct tdl_tensor *box_mask(uint32_t w, uint32_t h, uint32_t x0, uint32_t y0, uint32_t x1,
                                   uint32_t y1)
{
    struct tdl_tensor *mask = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, h, w, 1);
    float *values = calloc((size_t)w * h, sizeof(*values));
    CHECK(values, "no memory");
    for (uint32_t y = y0; y < y1; y++)
        for (uint32_t x = x0; x < x1; x++)
            values[y * w + x] = 1;
    OK(tdl_tensor_write(mask, values, (size_t)w * h * sizeof(*values), NULL));
    free(values);
    return mask;
}

/* A red person before a grey wall: the wall stays grey up to the edge. */
static void test_no_halo(void)
{
    static const float sigmas[] = {1, 3, 6, 12, 24, 60, 128};
    const int w = 256, h = 192, x0 = 101, x1 = 170, y0 = 50, y1 = 192;
    struct picture source =
        picture_new(ctx, TDL_FORMAT_RGBX, (uint32_t)w, (uint32_t)h, GEOMETRY_TIGHT);
    struct picture target =
        picture_new(ctx, TDL_FORMAT_RGBX, (uint32_t)w, (uint32_t)h, GEOMETRY_TIGHT);
    struct tdl_tensor *mask =
        box_mask((uint32_t)w, (uint32_t)h, (uint32_t)x0, (uint32_t)y0, (uint32_t)x1, (uint32_t)y1);
    for (int c = 0; c < 3; c++) {
        fill(&source, c, 0, 0, w, h, 90);
        fill(&source, c, x0, y0, x1, y1, c == 0 ? 255 : 0);
    }
    for (size_t i = 0; i < COUNT(sigmas); i++) {
        compose_once(&source, mask, &target,
                     &(struct tdl_compose_params){.mode = TDL_MODE_BLUR,
                                                  .blur_radius = sigmas[i],
                                                  .threshold = 0.5f,
                                                  .feather = 0.2f});
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const bool inside = x >= x0 && x < x1 && y >= y0;
                for (int c = 0; c < 3; c++) {
                    const double want = inside ? (c == 0 ? 255 : 0) : 90;
                    /* Blocks of 4×2 pixels that the edge cuts are worth 1/8192. */
                    CHECK(fabs(get_code(&target, c, x, y) - want) <= 2,
                          "σ %g: component %d at %d,%d is %g, not %g", (double)sigmas[i], c, x, y,
                          get_code(&target, c, x, y), want);
                }
            }
    }
    tdl_tensor_destroy(&mask);
    picture_free(&source);
    picture_free(&target);
}

/* The picture of a step is the integral of the blur: its spread is σ. */
static void test_blur_width(void)
{
    static const float sigmas[] = {0.7f, 1.5f, 2, 4, 7, 11, 12, 20, 24, 40, 80};
    const int w = 1024, h = 32, edge = 517;
    struct picture source =
        picture_new(ctx, TDL_FORMAT_GRAY8, (uint32_t)w, (uint32_t)h, GEOMETRY_TIGHT);
    struct picture target =
        picture_new(ctx, TDL_FORMAT_GRAY8, (uint32_t)w, (uint32_t)h, GEOMETRY_TIGHT);
    struct tdl_tensor *mask = box_mask(16, 16, 0, 0, 0, 0);
    fill(&source, 0, 0, 0, w, h, 0);
    fill(&source, 0, edge, 0, w, h, 250);
    for (size_t i = 0; i < COUNT(sigmas); i++) {
        compose_once(&source, mask, &target,
                     &(struct tdl_compose_params){.mode = TDL_MODE_BLUR,
                                                  .blur_radius = sigmas[i],
                                                  .threshold = 0.5f,
                                                  .feather = 0.2f});
        double mean = 0, square = 0, before = 0;
        for (int x = 0; x < w; x++) {
            const double slope = (get_code(&target, 0, x, 15) - before) / 250;
            before = get_code(&target, 0, x, 15);
            mean += slope * x;
            square += slope * x * x;
        }
        const double spread = sqrt(square - mean * mean);
        CHECK(fabs(mean - edge) < 0.5, "σ %g: the edge moved to %.2f", (double)sigmas[i], mean);
        CHECK(fabs(spread - sigmas[i]) < 0.1 * sigmas[i] + 0.4, "σ %g: the blur's is %.2f px",
              (double)sigmas[i], spread);
    }
    tdl_tensor_destroy(&mask);
    picture_free(&source);
    picture_free(&target);
}

int main(int argc, char **argv)
{
    ctx = open_context(argc, argv);
    OK(tdl_batch_create(ctx, &batch));
    test_mask_edge();
    test_round_trip(TDL_FORMAT_NV12);
    test_round_trip(TDL_FORMAT_RGB);
    test_no_halo();
    test_blur_width();
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("edges: ok\n");
    return 0;
}
