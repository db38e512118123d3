/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The foreground's own colours, as networks for matting give them beside the mask: what they
 * differ by from the network's picture, against a reference in double precision, and how long
 * it stays with its mask.
 */
#include "test-frame-reference.h"

#include <math.h>
#include <string.h>

static struct tdl_context *ctx;
static struct tdl_batch *batch;

/* Both tensors, and what they differ by: red, green, blue of 0…1. */
struct colors {
    int width, height;
    struct tdl_tensor *foreground, *picture;
    struct tdl_compose_more more;
    struct map difference[3];
    int layouts[2]; /* layouts of the foreground and of the picture */
};

enum layout { NHWC, NCHW, PACKED, HALVES, LAYOUTS };

static struct tdl_tensor *picture_tensor(int w, int h, enum layout layout)
{
    const uint32_t width = (uint32_t)w, height = (uint32_t)h;
    if (layout == NCHW)
        return tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 3, height, width);
    return tensor_new(ctx, layout == HALVES ? TDL_FLOAT16 : TDL_FLOAT32,
                      layout == NHWC ? TDL_PACKING_NONE : TDL_PACKING_C4, height, width, 3);
}

/* Numbers that halves hold are written bit by bit: sign, exponent, ten bits of fraction. */
static uint16_t half_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    const int exponent = (int)(bits >> 23 & 255) - 127 + 15;
    if ((bits & 0x7f800000) == 0x7f800000)
        return (uint16_t)(bits >> 16 & 0x8000) | 0x7c00 | (bits & 0x7fffff ? 1 : 0);
    if (exponent <= 0)
        return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | (uint32_t)exponent << 10 | (bits >> 13 & 1023));
}

static void write_tensor(struct tdl_tensor *t, enum layout layout, int w, int h,
                         const float *values)
{
    const size_t pixels = (size_t)w * (size_t)h;
    float *floats = calloc(4 * pixels, sizeof(*floats));
    uint16_t *halves = calloc(4 * pixels, sizeof(*halves));
    CHECK(floats && halves, "no memory");
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < 3; c++) {
            const size_t at = layout == NCHW   ? c * pixels + i
                              : layout == NHWC ? 3 * i + c
                                               : 4 * i + c;
            floats[at] = values[3 * i + c];
            halves[at] = half_of(values[3 * i + c]);
        }
    const size_t count = (layout == NHWC || layout == NCHW ? 3 : 4) * pixels;
    if (layout == HALVES)
        OK(tdl_tensor_write(t, halves, 2 * count, NULL));
    else
        OK(tdl_tensor_write(t, floats, 4 * count, NULL));
    free(floats);
    free(halves);
}

/* A colour that its channel value, after scale and bias, and halves keep. */
static double steps_of(double v)
{
    return floor(v * 256) / 256;
}

/* Random colours whose difference is at most `most`; where `wild`, some are no numbers, and
 * some beyond 0…1. */
static struct colors colors_new(int w, int h, enum layout front, enum layout seen, double most,
                                bool wild)
{
    static const float scales[][3] = {{0, 0, 0}, {2, 2, 2}, {0.5f, 1, 4}};
    const float *scale = scales[random_below(COUNT(scales))];
    struct colors c = {
        .width = w, .height = h, .more = {.bgr = random_below(2)}, .layouts = {front, seen}};
    const size_t count = 3 * (size_t)w * (size_t)h;
    float *a = calloc(count, sizeof(*a)), *b = calloc(count, sizeof(*b));
    CHECK(a && b, "no memory");
    c.foreground = c.more.foreground = picture_tensor(w, h, front);
    c.picture = c.more.picture = picture_tensor(w, h, seen);
    for (int k = 0; k < 3; k++) {
        c.difference[k] = map_new(w, h);
        c.more.scale[k] = scale[k];
        c.more.bias[k] = (float)random_below(3) - 1;
    }
    for (int i = 0; i < w * h; i++) {
        const bool unknown = wild && !random_below(6);
        const int lost = (int)random_below(3);
        for (int k = 0; k < 3; k++) {
            const int color = c.more.bgr ? 2 - k : k;
            const double s = steps_of(random_unit());
            const double f = steps_of(clamp_double(s + most * (2 * random_unit() - 1), 0, 1));
            const float out = wild && f == 0 ? -3 : wild && f == 1 ? 7 : (float)f;
            a[3 * i + k] = unknown && k == lost ? (i % 2 ? NAN : -INFINITY) : out;
            b[3 * i + k] = (float)s * (scale[0] > 0 ? scale[k] : 1) + c.more.bias[k];
            c.difference[color].at[i] = unknown ? 0 : f - s;
        }
    }
    write_tensor(c.foreground, front, w, h, a);
    write_tensor(c.picture, seen, w, h, b);
    free(a);
    free(b);
    return c;
}

static void colors_free(struct colors *c)
{
    tdl_tensor_destroy(&c->foreground);
    tdl_tensor_destroy(&c->picture);
    for (int k = 0; k < 3; k++)
        map_free(&c->difference[k]);
}

struct scene {
    struct picture source, target, background;
    struct map mask; /* mask of the tensor */
    struct tdl_tensor *tensor;
    struct tdl_composer *composer;
    struct colors colors;
    struct tdl_compose_params params;
};

static struct scene scene_new(enum tdl_format from, enum tdl_format to, uint32_t w, uint32_t h,
                              int mask_width, int mask_height)
{
    struct scene s = {
        .source = picture_new(ctx, from, w, h, GEOMETRY_ODD),
        .target = picture_new(ctx, to, w, h, GEOMETRY_WORDS),
        .mask = map_new(mask_width, mask_height),
        .tensor = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, (uint32_t)mask_height,
                             (uint32_t)mask_width, 1),
        .params = {.mode = to == TDL_FORMAT_BGRA ? TDL_MODE_ALPHA : TDL_MODE_REPLACE,
                   .background_color = {0.8f, 0.25f, 0.5f, 0.5f},
                   .threshold = 0.5f,
                   .feather = 0.8f},
    };
    s.source.frame.matrix = s.target.frame.matrix = (enum tdl_color_matrix)random_below(3);
    s.source.frame.range = s.target.frame.range = (enum tdl_range)random_below(2);
    float *values = malloc(sizeof(*values) * (size_t)(mask_width * mask_height));
    CHECK(values, "no memory");
    const double fx = 1 + 3 * random_unit(), fy = 1 + 3 * random_unit(), phase = 6 * random_unit();
    for (int i = 0; i < mask_width * mask_height; i++) {
        values[i] = (float)(0.5 + 0.7 * sin(phase + fx * (i % mask_width)) *
                                      cos(fy * (double)(i / mask_width)));
        s.mask.at[i] = clamp_double((double)values[i], 0, 1);
    }
    OK(tdl_tensor_write(s.tensor, values, sizeof(*values) * (size_t)(mask_width * mask_height),
                        NULL));
    free(values);
    OK(tdl_composer_create(ctx, &s.composer));
    return s;
}

static void scene_free(struct scene *s)
{
    picture_free(&s->source);
    picture_free(&s->target);
    if (s->background.buffer)
        picture_free(&s->background);
    map_free(&s->mask);
    tdl_tensor_destroy(&s->tensor);
    tdl_composer_destroy(&s->composer);
    if (s->colors.foreground)
        colors_free(&s->colors);
}

/* The part of a tensor's map that covers the frame; nothing round it. */
static struct map part_of(const struct map *m, const struct tdl_compose_params *p)
{
    const bool whole = !p->mask_part.width;
    struct map part = map_new(whole ? m->width : (int)p->mask_part.width,
                              whole ? m->height : (int)p->mask_part.height);
    for (int i = 0; i < part.width * part.height; i++) {
        const int x = i % part.width + p->mask_part.x, y = i / part.width + p->mask_part.y;
        const bool inside = x >= 0 && y >= 0 && x < m->width && y < m->height;
        part.at[i] = inside ? m->at[y * m->width + x] : 0;
    }
    return part;
}

/* Upper bound of the colour difference: the background can hold only its share of a pixel, so it
 * explains no more of a colour. */
static struct map bounded(const struct map *difference, const struct scene *s)
{
    struct map m = map_new(difference->width, difference->height);
    for (int i = 0; i < m.width * m.height; i++)
        m.at[i] = clamp_double(difference->at[i], s->mask.at[i] - 1, 1 - s->mask.at[i]);
    return m;
}

/* Over the pixels of a sample of component c, the mean of `m` at the frame's size. */
static double mean_over(const struct samples *s, int c, int x, int y, const struct map *m)
{
    const int across = s->width[0] > s->width[c] ? 2 : 1;
    const int down = s->height[0] > s->height[c] ? 2 : 1;
    double sum = 0;
    for (int k = 0; k < across * down; k++)
        sum += map_between(m, at_most(across * x + k % across, s->width[0] - 1),
                           at_most(down * y + k / across, s->height[0] - 1), s->width[0],
                           s->height[0]);
    return sum / (across * down);
}

/* Colour differences in the target's codes are added to the source before blending. Blending is
 * affine, so the mask's share of them is added to the plain composition. */
static void add_colors(const struct scene *s, const struct map *full, struct samples *want)
{
    static const double black[3] = {0, 0, 0};
    const struct tdl_frame *target = &s->target.frame;
    struct samples plain = convert(&s->source, target);
    struct map difference[3];
    double zero[3];
    from_rgb(target, black, zero);
    for (int k = 0; k < 3; k++) {
        struct map all = bounded(&s->colors.difference[k], s);
        difference[k] = part_of(&all, &s->params);
        map_free(&all);
    }
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < want->height[c] && format_has(target->format, c); y++)
            for (int x = 0; x < want->width[c]; x++) {
                double rgb[3], codes[3];
                const double m = mean_over(&plain, c, x, y, full), was = *sample(&plain, c, x, y);
                for (int k = 0; k < 3; k++)
                    rgb[k] = mean_over(&plain, c, x, y, &difference[k]);
                from_rgb(target, rgb, codes);
                const double is = limited(was + codes[c] - zero[c], was, target);
                const double got = get_code(&s->target, c, x, y);
                /* Rounding decides whether what is nearly 0 is above it. */
                const bool either = m > 0 && m < 1e-3 && fabs(got - was) < fabs(got - is);
                if (s->params.mode != TDL_MODE_ALPHA)
                    *sample(want, c, x, y) += m * (is - was);
                else if (m > 0 && !either)
                    *sample(want, c, x, y) += is - was;
            }
    for (int k = 0; k < 3; k++)
        map_free(&difference[k]);
    samples_free(&plain);
}

static void compose_scene(struct scene *s)
{
    s->params.background = s->background.buffer ? &s->background.frame : NULL;
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s->composer, &s->source.frame, s->params.reuse_mask ? NULL : s->tensor,
                   &s->target.frame, &s->params));
    run_batch(batch, ctx);
}

/* The frame as the reference has it, with the colours or without. */
static void expect(struct scene *s, bool colors, double tolerance, const char *what)
{
    struct tdl_compose_params plain = s->params;
    char text[200];
    struct map mask = part_of(&s->mask, &s->params);
    struct map full = full_mask(&s->source, &mask, &s->params);
    plain.despill = plain.despill && !colors;
    struct samples want = compose(&s->source, &mask, s->background.buffer ? &s->background : NULL,
                                  &s->target.frame, &plain);
    if (colors)
        add_colors(s, &full, &want);
    snprintf(text, sizeof(text), "%s, from %s, mask %d×%d%s%s, layouts %d and %d", what,
             tdl_format_name(s->source.frame.format), s->mask.width, s->mask.height,
             s->params.refine ? ", refined" : "", s->colors.more.bgr ? ", blue first" : "",
             s->colors.layouts[0], s->colors.layouts[1]);
    check_target(&s->target, &want, tolerance, text);
    picture_check_sentinels(&s->target, text);
    samples_free(&want);
    map_free(&full);
    map_free(&mask);
}

/* A colour or a picture behind, or nothing; masks smaller and larger than the frame. */
static void test_formats(void)
{
    static const int masks[][2] = {{9, 7}, {45, 31}, {70, 5}, {1, 1}, {16, 40}};
    const size_t n = tdl_context_device(ctx)->type == TDL_DEVICE_CPU ? 8 : 16;
    for (size_t i = 0; i < COUNT(all_formats); i++)
        for (size_t k = 0; k < 3; k++) {
            if (!in_turn(i + k, n))
                continue;
            const int *size = masks[(i + k) % COUNT(masks)];
            struct scene s =
                scene_new(all_formats[i], k == 2 ? TDL_FORMAT_BGRA : all_formats[i],
                          45 - (uint32_t)k, 31 + (uint32_t)k, size[0], size[1]);
            if (k == 1) {
                s.background = picture_new(ctx, TDL_FORMAT_NV12, 17, 33, GEOMETRY_ODD);
                s.background.frame.matrix = s.source.frame.matrix;
            }
            s.colors = colors_new(size[0], size[1], (enum layout)random_below(LAYOUTS),
                                  (enum layout)random_below(LAYOUTS), 0.5, i % 2);
            s.params.more = &s.colors.more;
            s.params.despill = true; /* despill gives way to the foreground's colours */
            s.params.refine = i % 3 == 0;
            /* Differences have 10 bits and a sign at least, and so have those that their means are
             * made of; a refined mask is one of 16 bits. */
            compose_scene(&s);
            expect(&s, true, s.params.refine ? 2 : 1, "foreground");
            scene_free(&s);
        }
}

/* A source whose colours the target has no codes for: they are cut off behind the blending,
 * not where there are differences, nor where the outline's spill is taken out. */
static void test_beyond_codes(void)
{
    enum { DIFFERENT, EQUAL, DESPILLED };
    for (int k = DIFFERENT; k <= DESPILLED; k++) {
        struct scene s = scene_new(TDL_FORMAT_I420, TDL_FORMAT_RGB, 45, 31, 9, 7);
        s.colors = colors_new(9, 7, NHWC, NHWC, k == EQUAL ? 0 : 0.4, false);
        s.params.more = k == DESPILLED ? NULL : &s.colors.more;
        s.params.despill = k == DESPILLED;
        s.params.light_wrap = k == DESPILLED ? 0.7 : 0;
        compose_scene(&s);
        expect(&s, k != DESPILLED, k == DESPILLED ? 2 : 1, "beyond the target's codes");
        scene_free(&s);
    }
}

/* The part of the tensors that covers the frame, where they reach beyond it, and do not
 * reach its borders. */
static void test_parts(void)
{
    static const int parts[][4] = {{2, 1, 5, 6}, {-3, -2, 15, 12}, {0, 3, 9, 2}, {-2, 0, 4, 8}};
    for (size_t i = 0; i < COUNT(parts); i++) {
        struct scene s = scene_new(TDL_FORMAT_NV12, TDL_FORMAT_NV12, 38, 26, 9, 8);
        s.colors = colors_new(9, 8, NHWC, PACKED, 0.3, false);
        s.params.more = &s.colors.more;
        s.params.mask_part.x = parts[i][0];
        s.params.mask_part.y = parts[i][1];
        s.params.mask_part.width = (uint32_t)parts[i][2];
        s.params.mask_part.height = (uint32_t)parts[i][3];
        compose_scene(&s);
        expect(&s, true, 0.6, "a part");
        scene_free(&s);
    }
}

/* Colours last as long as their mask, and only for the same target. */
static void test_reuse(void)
{
    struct scene s = scene_new(TDL_FORMAT_I420, TDL_FORMAT_I420, 37, 29, 8, 6);
    struct scene other = scene_new(TDL_FORMAT_I420, TDL_FORMAT_RGB, 37, 29, 8, 6);
    const struct tdl_compose_more absent = {0}, kept = {.keep_foreground = true};
    s.colors = colors_new(8, 6, NHWC, NHWC, 0.4, false);
    s.params.more = &s.colors.more;
    compose_scene(&s);
    expect(&s, true, 0.6, "with the mask");
    s.params.reuse_mask = true;
    s.params.more = &kept;
    picture_randomise(&s.source);
    compose_scene(&s);
    expect(&s, true, 0.6, "the mask used again");
    s.params.light_wrap = 0.5; /* its picture is stored behind the colours, which may move */
    compose_scene(&s);
    s.params.light_wrap = 0;
    compose_scene(&s);
    expect(&s, true, 0.6, "after light");
    s.params.invert = true;
    compose_scene(&s);
    expect(&s, false, 0.6, "inverted");
    s.params.invert = false;
    s.params.more = &absent;
    compose_scene(&s);
    expect(&s, false, 0.6, "not asked for");
    s.params.more = &kept;
    compose_scene(&s);
    expect(&s, true, 0.6, "asked for again");

    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s.composer, &s.source.frame, NULL, &other.target.frame, &s.params));
    run_batch(batch, ctx);
    compose_scene(&s);
    expect(&s, true, 0.6, "after another target");

    s.params.reuse_mask = false;
    s.params.more = NULL;
    compose_scene(&s);
    s.params.reuse_mask = true;
    s.params.more = &kept;
    compose_scene(&s);
    expect(&s, false, 0.6, "a mask that came without");
    s.params.more = &s.colors.more;
    compose_scene(&s);
    expect(&s, true, 0.6, "colours that come later");
    s.params.more = &kept;
    compose_scene(&s);
    expect(&s, true, 0.6, "colours that came later");

    s.params.reuse_mask = false;
    s.params.more = &s.colors.more;
    s.params.invert = true;
    compose_scene(&s);
    expect(&s, false, 0.6, "a mask that came inverted");
    s.params.reuse_mask = true;
    s.params.invert = false;
    s.params.more = &kept;
    compose_scene(&s);
    expect(&s, false, 0.6, "no longer inverted");
    scene_free(&s);
    scene_free(&other);
}

/* The target's coding decides what kept differences mean. */
static void test_other_target(void)
{
    struct scene s = scene_new(TDL_FORMAT_I420, TDL_FORMAT_I420, 37, 29, 8, 6);
    const struct tdl_compose_more kept = {.keep_foreground = true};
    struct picture first = s.target;
    s.colors = colors_new(8, 6, NHWC, NHWC, 0.4, false);
    s.params.more = &s.colors.more;
    compose_scene(&s);
    s.target = picture_new(ctx, TDL_FORMAT_RGB, 37, 29, GEOMETRY_WORDS);
    s.params.reuse_mask = true;
    s.params.more = &kept;
    compose_scene(&s);
    expect(&s, false, 0.6, "for another target");
    picture_free(&first);
    scene_free(&s);
}

/* Several pictures are composed of one mask, the mask itself first. */
static void test_behind_mask(void)
{
    struct scene s = scene_new(TDL_FORMAT_I420, TDL_FORMAT_I420, 37, 29, 8, 6);
    struct picture grey = picture_new(ctx, TDL_FORMAT_GRAY8, 37, 29, GEOMETRY_WORDS);
    struct tdl_compose_params params = s.params;
    s.colors = colors_new(8, 6, NHWC, NHWC, 0.4, false);
    params.mode = TDL_MODE_MASK;
    s.params.mask_part.x = params.mask_part.x = -1;
    s.params.mask_part.width = params.mask_part.width = 9;
    s.params.mask_part.height = params.mask_part.height = 5;
    s.params.more = params.more = &s.colors.more;
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s.composer, &s.source.frame, s.tensor, &grey.frame, &params));
    s.params.reuse_mask = true;
    OK(tdl_compose(batch, s.composer, &s.source.frame, NULL, &s.target.frame, &s.params));
    run_batch(batch, ctx);
    expect(&s, true, 0.6, "behind the mask");
    picture_free(&grey);
    scene_free(&s);
}

static void test_reset(void)
{
    const struct tdl_compose_more kept = {.keep_foreground = true};
    struct scene s = scene_new(TDL_FORMAT_RGB, TDL_FORMAT_RGB, 12, 9, 8, 6);
    s.colors = colors_new(8, 6, NHWC, NHWC, 0.4, false);
    s.params.more = &s.colors.more;
    compose_scene(&s);
    tdl_composer_reset(s.composer);
    s.params.more = NULL;
    compose_scene(&s);
    s.params.more = &kept;
    s.params.reuse_mask = true;
    compose_scene(&s);
    expect(&s, false, 0.6, "after a reset");
    scene_free(&s);
}

static void refuse(struct scene *s, const char *word)
{
    OK(tdl_batch_begin(batch));
    const enum tdl_result r = tdl_compose(batch, s->composer, &s->source.frame, s->tensor,
                                          &s->target.frame, &s->params);
    tdl_batch_cancel(batch);
    CHECK(r == TDL_ERROR_INVALID_ARGUMENT && strstr(tdl_last_error(), word),
          "result %d, \"%s\", does not speak of %s", (int)r, tdl_last_error(), word);
}

static void test_refusals(void)
{
    struct scene s = scene_new(TDL_FORMAT_RGB, TDL_FORMAT_RGB, 12, 9, 8, 6);
    struct tdl_tensor *other = picture_tensor(8, 5, NHWC);
    struct tdl_tensor *integers = tensor_new(ctx, TDL_INT32, TDL_PACKING_NONE, 6, 8, 3);
    s.colors = colors_new(8, 6, NHWC, NHWC, 0.4, false);
    struct tdl_compose_more more = s.colors.more;
    s.params.more = &more;
    more.picture = NULL;
    refuse(&s, "picture is NULL");
    more.picture = other;
    refuse(&s, "picture");
    more.picture = s.colors.picture;
    more.foreground = other;
    refuse(&s, "8×6");
    more.foreground = s.tensor;
    refuse(&s, "[1,h,w,3]");
    more.foreground = integers;
    refuse(&s, "float32");
    more.foreground = s.colors.foreground;
    more.scale[0] = 1;
    more.scale[1] = 0;
    refuse(&s, "scale");
    more.scale[1] = NAN;
    refuse(&s, "scale");
    more.reserved[3] = 1;
    refuse(&s, "does not know");
    tdl_tensor_destroy(&other);
    tdl_tensor_destroy(&integers);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    ctx = open_context(argc, argv);
    OK(tdl_batch_create(ctx, &batch));
    random_seed();
    test_formats();
    test_beyond_codes();
    test_parts();
    test_reuse();
    test_other_target();
    test_behind_mask();
    test_reset();
    test_refusals();
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("the foreground's colours: ok\n");
    return 0;
}
