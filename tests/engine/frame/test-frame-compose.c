/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Composition against the double-precision reference: every conversion, every
 * mode in every format, odd sizes and geometry, refinement, feather, inversion.
 */
#include "test-frame-reference.h"

#include <math.h>
#include <string.h>

static struct tdl_context *ctx;
static struct tdl_batch *batch;

static struct tdl_tensor *mask_tensor(struct map *mask)
{
    struct tdl_tensor *t = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, (uint32_t)mask->height,
                                      (uint32_t)mask->width, 1);
    const size_t count = (size_t)(mask->width * mask->height);
    float *values = malloc(count * sizeof(*values));
    CHECK(values, "no memory");
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)mask->at[i];
        mask->at[i] = values[i];
    }
    OK(tdl_tensor_write(t, values, count * sizeof(*values), NULL));
    free(values);
    return t;
}

/* Blobs with soft edges, so that interpolation and the step matter. */
static struct map random_mask(int width, int height)
{
    struct map m = map_new(width, height);
    const double fx = 1 + 3 * random_unit(), fy = 1 + 3 * random_unit(), phase = 6 * random_unit();
    for (int i = 0; i < width * height; i++)
        m.at[i] = 0.5 + 0.5 * sin(phase + fx * (i % width)) * cos(fy * (i / width));
    return m;
}

struct scene {
    struct picture source, target, background;
    bool has_background;
    struct tdl_compose_params params;
    int mask_width, mask_height;
};

static void run(struct scene *s, double tolerance, const char *what)
{
    char text[200];
    struct tdl_composer *composer;
    struct map mask = random_mask(s->mask_width, s->mask_height);
    struct tdl_tensor *t = mask_tensor(&mask);
    snprintf(text, sizeof(text), "%s, from %s, mask %d×%d%s", what,
             tdl_format_name(s->source.frame.format), s->mask_width, s->mask_height,
             s->params.refine ? ", refined" : "");
    s->params.background = s->has_background ? &s->background.frame : NULL;
    OK(tdl_composer_create(ctx, &composer));
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, composer, &s->source.frame, t, &s->target.frame, &s->params));
    run_batch(batch, ctx);
    struct samples want =
        s->params.mode == TDL_MODE_PASSTHROUGH
            ? convert(&s->source, &s->target.frame)
            : compose(&s->source, &mask, s->has_background ? &s->background : NULL,
                      &s->target.frame, &s->params);
    check_target(&s->target, &want, tolerance, text);
    picture_check_sentinels(&s->target, text);
    samples_free(&want);
    map_free(&mask);
    tdl_tensor_destroy(&t);
    tdl_composer_destroy(&composer);
}

static struct scene scene_new(enum tdl_format from, enum tdl_format to, uint32_t w, uint32_t h,
                              enum geometry geometry)
{
    struct scene s = {
        .source = picture_new(ctx, from, w, h, geometry),
        .target = picture_new(ctx, to, w, h, GEOMETRY_WORDS),
        .params = {.overlay_color = {0.1f, 0.9f, 0.3f, 0.75f},
                   .background_color = {0.8f, 0.25f, 0.5f, 0.5f},
                   .opacity = 0.8f,
                   .threshold = 0.45f,
                   .feather = 0.7f,
                   .blur_radius = 3},
        .mask_width = 5,
        .mask_height = 4,
    };
    s.source.frame.matrix = s.target.frame.matrix = (enum tdl_color_matrix)random_below(3);
    s.source.frame.range = s.target.frame.range = (enum tdl_range)random_below(2);
    return s;
}

static void scene_free(struct scene *s)
{
    picture_free(&s->source);
    picture_free(&s->target);
    if (s->has_background)
        picture_free(&s->background);
}

static const uint32_t sizes[][2] = {{1, 1}, {3, 5}, {17, 33}, {8, 2}, {5, 4}, {30, 7}, {2, 3}};

/* One of n on the CPU; on Vulkan, where nearly every case compiles kernels of its own, half
 * as many. */
static bool drawn(size_t row, size_t n)
{
    return in_turn(row, tdl_context_device(ctx)->type == TDL_DEVICE_CPU ? n : 2 * n);
}

/* Formats into each other, matrices and ranges at random. The kernels for GPUs,
 * of the same parts, are tried on every second pair. */
static void test_conversions(bool all)
{
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t j = all ? 0 : i % 2; j < COUNT(all_formats); j += all ? 1 : 2) {
            if (i == j && format_rgb(all_formats[i]))
                continue; /* a copy of bytes, tested by itself */
            if (!drawn((i + j) / (all ? 1 : 2), 16))
                continue;
            const uint32_t *size = sizes[(i * 5 + j) % COUNT(sizes)];
            const enum geometry g = (i + j) % 2 ? GEOMETRY_ODD : GEOMETRY_WORDS;
            struct scene s = scene_new(all_formats[i], all_formats[j], size[0], size[1], g);
            s.params.mode = TDL_MODE_PASSTHROUGH;
            s.target.frame.range = (enum tdl_range)random_below(2);
            if (j % 2)
                s.target.frame.matrix = (enum tdl_color_matrix)random_below(3);
            run(&s, 0.01, "conversion");
            scene_free(&s);
        }
}

/* Equal formats pass bit by bit, whatever the bytes are. */
static void test_passthrough_is_lossless(void)
{
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            struct scene s = scene_new(all_formats[i], all_formats[i], sizes[k][0], sizes[k][1],
                                       k % 2 ? GEOMETRY_ODD : GEOMETRY_WORDS);
            struct tdl_composer *composer;
            s.params.mode = TDL_MODE_PASSTHROUGH;
            OK(tdl_composer_create(ctx, &composer));
            OK(tdl_batch_begin(batch));
            OK(tdl_compose(batch, composer, &s.source.frame, NULL, &s.target.frame, &s.params));
            run_batch(batch, ctx);
            for (uint32_t p = 0; p < tdl_format_planes(all_formats[i]); p++) {
                uint32_t bytes, h;
                plane_size(&s.source.frame, (int)p, &bytes, &h);
                for (uint32_t y = 0; y < h; y++)
                    CHECK(!memcmp(s.source.bytes + s.source.frame.planes[p].offset +
                                      (size_t)y * s.source.frame.planes[p].stride,
                                  s.target.bytes + s.target.frame.planes[p].offset +
                                      (size_t)y * s.target.frame.planes[p].stride,
                                  bytes),
                          "%s %u×%u: row %u of plane %u differs", tdl_format_name(all_formats[i]),
                          sizes[k][0], sizes[k][1], y, p);
            }
            picture_check_sentinels(&s.target, "passthrough");
            tdl_composer_destroy(&composer);
            scene_free(&s);
        }
}

static void test_modes(void)
{
    static const enum tdl_mode modes[] = {TDL_MODE_MASK, TDL_MODE_OVERLAY, TDL_MODE_REPLACE,
                                          TDL_MODE_ALPHA};
    for (size_t m = 0; m < COUNT(modes); m++)
        for (size_t i = 0; i < COUNT(all_formats); i++)
            for (size_t k = i % 2; k < COUNT(sizes); k += 2) {
                if (!drawn(m + i + k / 2, 16))
                    continue;
                const enum tdl_format to = modes[m] == TDL_MODE_MASK    ? TDL_FORMAT_GRAY8
                                           : modes[m] == TDL_MODE_ALPHA ? TDL_FORMAT_BGRA
                                                                        : all_formats[i];
                struct scene s = scene_new(all_formats[i], to, sizes[k][0], sizes[k][1],
                                           i % 3 ? GEOMETRY_WORDS : GEOMETRY_ODD);
                s.params.mode = modes[m];
                s.params.invert = k == 2;
                /* Also a mask finer than the frame, and one of a single pixel. */
                s.mask_width = k == 4 ? 40 : k == 3 ? 1 : 5;
                s.mask_height = k == 4 ? 9 : k == 3 ? 1 : 4;
                /* Coefficients are coded in steps of 1 / 2048. */
                run(&s, 0.15, "mode");
                scene_free(&s);
            }
}

static void test_refinement(void)
{
    for (size_t i = 0; i < COUNT(all_formats); i++) {
        if (!drawn(i, 2))
            continue;
        const uint32_t *size = sizes[i % 2 ? 2 : 5];
        struct scene s = scene_new(all_formats[i], TDL_FORMAT_GRAY8, size[0], size[1],
                                   i % 3 ? GEOMETRY_WORDS : GEOMETRY_ODD);
        s.params.mode = TDL_MODE_MASK;
        s.params.refine = true;
        s.params.mask_value = i % 4 ? 0 : 77;
        s.mask_width = 9;
        s.mask_height = 6;
        run(&s, 0.5, "mode mask");
        scene_free(&s);
    }
}

/* Feather 0: 0 or the mask's value, whichever side of the threshold the mask is on; pixels
 * on the threshold, up to the coding's step, may be anything. */
static void test_hard_edge_of(uint32_t value)
{
    const double white = value ? value : 255;
    struct scene s = scene_new(TDL_FORMAT_NV12, TDL_FORMAT_GRAY8, 33, 17, GEOMETRY_TIGHT);
    struct tdl_composer *composer;
    struct map mask = random_mask(5, 4);
    struct tdl_tensor *t = mask_tensor(&mask);
    int sides[2] = {0, 0};
    s.params.mode = TDL_MODE_MASK;
    s.params.mask_value = value;
    OK(tdl_composer_create(ctx, &composer));
    for (int invert = 0; invert < 2; invert++) {
        s.params.invert = invert;
        s.params.feather = 0;
        OK(tdl_batch_begin(batch));
        OK(tdl_compose(batch, composer, &s.source.frame, t, &s.target.frame, &s.params));
        run_batch(batch, ctx);
        s.params.feather = 0.002f;
        struct map want = full_mask(&s.source, &mask, &s.params);
        for (int i = 0; i < 33 * 17; i++) {
            const double got = get_code(&s.target, 0, i % 33, i / 33);
            if (want.at[i] > 0 && want.at[i] < 1)
                continue;
            CHECK(got == white * want.at[i], "hard edge: pixel %d is %g (seed %#x)", i, got,
                  random_seed());
            sides[got > 0]++;
        }
        map_free(&want);
    }
    CHECK(sides[0] > 100 && sides[1] > 100, "the mask has one side only");
    for (int invert = 0; invert < 2; invert++) {
        s.params.invert = invert;
        s.params.refine = invert;
        s.params.feather = s.params.threshold = 0;
        OK(tdl_batch_begin(batch));
        OK(tdl_compose(batch, composer, &s.source.frame, t, &s.target.frame, &s.params));
        run_batch(batch, ctx);
        for (int i = 0; i < 33 * 17; i++)
            CHECK(get_code(&s.target, 0, i % 33, i / 33) == (invert ? 0 : white),
                  "a threshold of 0 leaves pixel %d out", i);
    }
    map_free(&mask);
    tdl_tensor_destroy(&t);
    tdl_composer_destroy(&composer);
    scene_free(&s);
}

static void test_hard_edge(void)
{
    test_hard_edge_of(0);
    test_hard_edge_of(1);
    test_hard_edge_of(200);
}

static void test_background_pictures(void)
{
    static const uint32_t pictures[][2] = {{17, 33}, {40, 10}, {5, 3}, {64, 70}};
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t k = 0; k < 2; k++) {
            if (!drawn(i + k, 8))
                continue;
            const size_t n = (2 * i + k) % COUNT(pictures);
            struct scene s = scene_new(all_formats[i], all_formats[i], sizes[2][0] + (uint32_t)k,
                                       sizes[2][1], GEOMETRY_WORDS);
            s.background = picture_new(ctx, all_formats[(5 * i + 3 * k) % COUNT(all_formats)],
                                       pictures[n][0], pictures[n][1], GEOMETRY_ODD);
            s.background.frame.matrix = s.source.frame.matrix;
            s.has_background = true;
            s.params.mode = TDL_MODE_REPLACE;
            s.params.background_aspect = k ? (i % 2 ? 1.9f : 0.55f) : 0;
            /* One code: the picture is rounded once more. */
            run(&s, 1.01, "background picture");
            scene_free(&s);
        }
}

static void test_blur(void)
{
    static const float sigmas[] = {0.5f, 3, 10, 20, 50};
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t k = 0; k < COUNT(sigmas); k++) {
            if (!drawn(i + k, 2 * COUNT(sigmas)))
                continue;
            struct scene s = scene_new(all_formats[i], all_formats[i], 45 - (uint32_t)k,
                                       31 + (uint32_t)k, k % 2 ? GEOMETRY_WORDS : GEOMETRY_ODD);
            s.params.mode = TDL_MODE_BLUR;
            s.params.blur_radius = sigmas[k];
            run(&s, 1.0, "blur");
            scene_free(&s);
        }
}

/* A colour or a picture behind, or nothing, without the old background's colours. */
static void test_despill(void)
{
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t k = 0; k < 3; k++) {
            if (!drawn(i + k, 8))
                continue;
            const enum tdl_format to = k == 2 ? TDL_FORMAT_BGRA : all_formats[i];
            struct scene s = scene_new(all_formats[i], to, 45 - (uint32_t)k, 31 + (uint32_t)k,
                                       k % 2 ? GEOMETRY_WORDS : GEOMETRY_ODD);
            if (k == 1) {
                s.background = picture_new(ctx, TDL_FORMAT_NV12, 17, 33, GEOMETRY_ODD);
                s.background.frame.matrix = s.source.frame.matrix;
                s.has_background = true;
            }
            s.params.mode = k == 2 ? TDL_MODE_ALPHA : TDL_MODE_REPLACE;
            s.params.despill = true;
            s.params.invert = i % 3 == 0;
            /* The means have eight bits. */
            run(&s, 1.5, "despilled");
            scene_free(&s);
        }
}

/* The new background's light, of a colour, a picture, and where despill has its means. */
static void test_light(void)
{
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t k = 0; k < 3; k++) {
            if (!drawn(i + k, 8))
                continue;
            /* The means of the higher ones are of cells of eight pixels. */
            struct scene s =
                scene_new(all_formats[i], all_formats[i], 45 - (uint32_t)k,
                          i % 3 ? 31 + (uint32_t)k : 545, k % 2 ? GEOMETRY_WORDS : GEOMETRY_ODD);
            if (k) {
                s.background = picture_new(ctx, k == 1 ? TDL_FORMAT_NV12 : TDL_FORMAT_RGBA, 17, 33,
                                           GEOMETRY_ODD);
                s.background.frame.matrix = s.source.frame.matrix;
                s.has_background = true;
            }
            s.params.mode = TDL_MODE_REPLACE;
            s.params.light_wrap = 0.25 + 0.75 * random_unit();
            s.params.despill = k == 2;
            s.params.invert = i % 4 == 0;
            run(&s, 2, "light");
            scene_free(&s);
        }
}

enum { EDGE = 96, EDGE_REACH = 20 };

/* A dark foreground in half of the frame, before a colour, as `light_wrap` says. */
static void compose_edge(struct scene *s, struct tdl_tensor *mask, double light_wrap, uint8_t *out)
{
    struct tdl_composer *composer;
    s->params.light_wrap = light_wrap;
    OK(tdl_composer_create(ctx, &composer));
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, composer, &s->source.frame, mask, &s->target.frame, &s->params));
    run_batch(batch, ctx);
    for (int y = 0; y < EDGE; y++)
        for (int x = 0; x < EDGE; x++)
            for (int c = 0; c < 3; c++)
                *out++ = (uint8_t)get_code(&s->target, c, x, y);
    tdl_composer_destroy(&composer);
}

/* More light moves the foreground's edge towards the background, and nothing farther
 * inside; none, or next to none, and a black background, leave every bit. */
static void test_light_at_edge(bool refine, bool above)
{
    static const double steps[] = {0, 1e-12, 0.25, 0.5, 1};
    static uint8_t frames[COUNT(steps)][EDGE][EDGE][3];
    struct scene s = scene_new(TDL_FORMAT_RGBA, TDL_FORMAT_RGBA, EDGE, EDGE, GEOMETRY_WORDS);
    struct map map = map_new(EDGE / 2, EDGE / 2);
    int moved = 0;
    for (int i = 0; i < map.width * map.height; i++)
        map.at[i] = (above ? i / map.width : i % map.width) < map.width / 2;
    for (int y = 0; y < EDGE; y++)
        for (int x = 0; x < EDGE; x++)
            for (int c = 0; c < 3; c++)
                set_code(&s.source, c, x, y,
                         (above ? y : x) < EDGE / 2 ? 20 + random_below(40) : 110);
    struct tdl_tensor *mask = mask_tensor(&map);
    s.params = (struct tdl_compose_params){.mode = TDL_MODE_REPLACE,
                                           .background_color = {1, 0.9f, 0.7f, 1},
                                           .threshold = 0.5f,
                                           .feather = 0.4f,
                                           .refine = refine};
    for (size_t k = 0; k < COUNT(steps); k++)
        compose_edge(&s, mask, steps[k], frames[k][0][0]);
    CHECK(memcmp(frames[0], frames[1], sizeof(frames[0])) == 0,
          "next to no light changes the frame");
    for (size_t k = 2; k < COUNT(steps); k++)
        for (int y = 0; y < EDGE; y++)
            for (int x = 0; x < EDGE; x++)
                for (int c = 0; c < 3; c++) {
                    const int before = frames[k - 1][y][x][c], now = frames[k][y][x][c];
                    const int most = (int)lround(255 * (double)s.params.background_color[c]);
                    CHECK(now >= before && now <= (before > most ? before : most),
                          "light_wrap %g: component %d at %d,%d goes from %d to %d", steps[k], c, x,
                          y, before, now);
                    CHECK(now == before || (above ? y : x) >= EDGE / 2 - EDGE_REACH,
                          "light_wrap %g: %d,%d changes, far inside", steps[k], x, y);
                    if ((above ? y : x) == EDGE / 2 - 4)
                        moved += now > before;
                }
    CHECK(moved >= (int)(COUNT(steps) - 2) * 2 * EDGE, "light moves %d samples alone", moved);
    memset(s.params.background_color, 0, 3 * sizeof(float));
    for (size_t k = 0; k < 2; k++)
        compose_edge(&s, mask, (double)k, frames[k][0][0]);
    CHECK(memcmp(frames[0], frames[1], sizeof(frames[0])) == 0, "black shines");
    map_free(&map);
    tdl_tensor_destroy(&mask);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    ctx = open_context(argc, argv);
    OK(tdl_batch_create(ctx, &batch));
    random_seed();
    test_passthrough_is_lossless();
    test_conversions(argc < 2 || strcmp(argv[1], "gpu"));
    test_modes();
    test_refinement();
    test_hard_edge();
    test_background_pictures();
    test_blur();
    test_despill();
    test_light();
    for (int k = 0; k < 4; k++)
        test_light_at_edge(k % 2, k / 2);
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("composition: ok\n");
    return 0;
}
