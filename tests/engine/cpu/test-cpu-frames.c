/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames on the CPU against the same on Vulkan: random formats, modes, sizes,
 * layouts and parameters, a few frames in a row. They may differ by one step of
 * eight bits. Two things magnify differences that are far below: a narrow step on
 * the mask (by one over its width, of coefficients in steps of 1/2048), and a
 * decision, such as whether a hole is closed, that falls on its edge. So a small
 * share of a case's samples may be off by more.
 */
#include "frame/test-frame-common.h"

#include <math.h>
#include <string.h>

enum { CPU, VULKAN, DEVICES };
static struct tdl_context *contexts[DEVICES];
static struct tdl_batch *batches[DEVICES];
static long samples_seen, samples_off, most_off;

static void log_line(void *data, enum tdl_log_level level, const char *message)
{
    fprintf(stderr, "[%s %d] %s\n", (const char *)data, (int)level, message);
}

static float unit(void)
{
    return (float)random_unit();
}
/* One time in n. */
static bool now_and_then(uint32_t n)
{
    return random_below(n) == 0;
}
static enum tdl_format any_format(void)
{
    return all_formats[random_below(COUNT(all_formats))];
}

/* One picture in the memory of each device, in different layouts. */
static void pictures_new(struct picture out[DEVICES], enum tdl_format format, uint32_t width,
                         uint32_t height, bool written)
{
    const int matrix = (int)random_below(3), range = (int)random_below(2);
    for (int d = 0; d < DEVICES; d++) {
        out[d] = picture_new(contexts[d], format, width, height,
                             written || now_and_then(2) ? GEOMETRY_WORDS : GEOMETRY_ODD);
        out[d].frame.matrix = (enum tdl_color_matrix)matrix;
        out[d].frame.range = (enum tdl_range)range;
    }
}

static void pictures_free(struct picture p[DEVICES])
{
    for (int d = 0; d < DEVICES; d++)
        picture_free(&p[d]);
}

static int across(const struct tdl_frame *f, int component)
{
    const bool half = (component == 1 || component == 2) && !format_rgb(f->format);
    return ((int)f->width + (half ? chroma_shift_x(f->format) : 0)) >>
           (half ? chroma_shift_x(f->format) : 0);
}
static int down(const struct tdl_frame *f, int component)
{
    const bool half = (component == 1 || component == 2) && !format_rgb(f->format);
    return ((int)f->height + (half ? chroma_shift_y(f->format) : 0)) >>
           (half ? chroma_shift_y(f->format) : 0);
}

/* Slopes, edges and noise; `shift` moves them. */
static void draw(struct picture p[DEVICES], double shift)
{
    const struct tdl_frame *f = &p[0].frame;
    const double fx = 0.2 * random_unit(), fy = 0.2 * random_unit();
    const double noise = now_and_then(2) ? 1 : 0.03, full = format_full(f->format);
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < down(f, c); y++)
            for (int x = 0; x < across(f, c); x++) {
                const double wave = 0.5 + 0.5 * sin(c + fx * x + fy * y + shift);
                const double v = (1 - noise) * wave + noise * random_unit();
                for (int d = 0; d < DEVICES; d++)
                    set_code(&p[d], c, x, y, (unsigned)(v * full + 0.5));
            }
    for (int d = 0; d < DEVICES; d++)
        memcpy(p[d].before, p[d].bytes, p[d].size);
}

/* Returns the samples that differ by more than a step. */
static long compare(const struct picture p[DEVICES], const char *what)
{
    const struct tdl_frame *f = &p[CPU].frame;
    const double step = format_unit(f->format);
    long off = 0, seen = 0;
    double most = 0;
    for (int c = 0; c < 4; c++)
        for (int y = 0; format_has(f->format, c) && y < down(f, c); y++)
            for (int x = 0; x < across(f, c); x++, seen++) {
                const double difference =
                    fabs(get_code(&p[CPU], c, x, y) - get_code(&p[VULKAN], c, x, y)) / step;
                off += difference > 1;
                most = fmax(most, difference);
            }
    picture_check_sentinels(&p[CPU], what);
    samples_seen += seen;
    samples_off += off;
    most_off = most > (double)most_off ? (long)ceil(most) : most_off;
    return off;
}

/* ------------------------------------------------------------------ tensors */

static double value_at(const float *values, size_t i, bool half)
{
    if (!half)
        return (double)values[i];
    const int bits = ((const uint16_t *)(const void *)values)[i];
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -v : v;
}

static void test_tensor(void)
{
    const uint32_t width = 1 + random_below(90), height = 1 + random_below(60);
    const uint32_t tensor_width = 1 + random_below(40), tensor_height = 1 + random_below(40);
    const bool half = now_and_then(4), packed = half || now_and_then(3);
    struct tdl_frame_to_tensor_params params = {{0}};
    struct picture source[DEVICES];
    float *values[DEVICES];
    const uint32_t channels = packed ? 4 : 3;
    const size_t count = (size_t)tensor_width * tensor_height * channels;
    pictures_new(source, any_format(), width, height, false);
    draw(source, 0);
    if (now_and_then(2)) {
        params.crop.x = random_below(width);
        params.crop.y = random_below(height);
        params.crop.width = 1 + random_below(width - params.crop.x);
        params.crop.height = 1 + random_below(height - params.crop.y);
    }
    if (now_and_then(2)) {
        params.inside.x = random_below(tensor_width);
        params.inside.y = random_below(tensor_height);
        params.inside.width = 1 + random_below(tensor_width - params.inside.x);
        params.inside.height = 1 + random_below(tensor_height - params.inside.y);
        params.pad = unit();
        params.bgr = now_and_then(2);
    }
    for (int c = 0; c < 3 && now_and_then(2); c++) {
        params.scale[c] = 0.5f + unit();
        params.bias[c] = unit() - 0.5f;
    }
    for (int d = 0; d < DEVICES; d++) {
        struct tdl_tensor *t = tensor_new(contexts[d], half ? TDL_FLOAT16 : TDL_FLOAT32,
                                          packed ? TDL_PACKING_C4 : TDL_PACKING_NONE,
                                          tensor_height, tensor_width, 3);
        const size_t size = tdl_tensor_params_size(tdl_tensor_get_params(t));
        OK(tdl_batch_begin(batches[d]));
        OK(tdl_frame_to_tensor(batches[d], &source[d].frame, t, &params));
        run_batch(batches[d], contexts[d]);
        values[d] = calloc(count, sizeof(float));
        CHECK(values[d], "no memory");
        OK(tdl_tensor_read(t, values[d], size));
        tdl_tensor_destroy(&t);
    }
    for (size_t i = 0; i < count; i++) {
        const double a = value_at(values[CPU], i, half), b = value_at(values[VULKAN], i, half);
        CHECK(fabs(a - b) < (half ? 4e-5 + 1e-3 * fabs(b) : 4e-5),
              "%s %u×%u px to a tensor of %u×%u: value %zu is %g, on Vulkan %g (seed %u)",
              tdl_format_name(source[0].frame.format), width, height, tensor_width, tensor_height,
              i, a, b, random_seed());
    }
    free(values[CPU]);
    free(values[VULKAN]);
    pictures_free(source);
}

/* ------------------------------------------------------------------ composing */

struct scene {
    struct picture source[DEVICES], target[DEVICES], background[DEVICES];
    struct tdl_tensor *mask[DEVICES];
    struct tdl_compose_more more[DEVICES]; /* the foreground's colours, where there are any */
    struct tdl_composer *composer[DEVICES];
    uint32_t mask_width, mask_height;
    bool has_background;
    struct tdl_compose_params params;
};

static void random_params(struct tdl_compose_params *p)
{
    const float widths[] = {0, 0.05f, 0.3f, 1};
    for (int c = 0; c < 4; c++) {
        p->background_color[c] = unit();
        p->overlay_color[c] = unit();
    }
    p->opacity = unit();
    p->blur_radius = now_and_then(8) ? 0 : unit() * (now_and_then(2) ? 8 : 60);
    p->threshold = now_and_then(8) ? 0 : unit();
    p->feather = widths[random_below(COUNT(widths))];
    p->smoothing = now_and_then(2) ? 0.9f * unit() : 0;
    p->refine = now_and_then(2);
    p->invert = now_and_then(3);
    p->background_aspect = now_and_then(2) ? 0.5f + unit() : 0;
    p->close_holes = now_and_then(2);
    p->min_area = now_and_then(3) ? 0.2f * unit() : 0;
    p->grow = now_and_then(3) ? 16 * unit() - 8 : 0;
    p->despill = now_and_then(3);
    p->light_wrap = now_and_then(3) ? random_unit() : 0;
}

/* As the element has it: masks are grey, cut-outs have alpha, all else keeps its
 * format; conversions go from anything to anything. */
static enum tdl_format target_format(enum tdl_mode mode, enum tdl_format source)
{
    static const enum tdl_format with_alpha[] = {TDL_FORMAT_RGBA, TDL_FORMAT_BGRA, TDL_FORMAT_ARGB,
                                                 TDL_FORMAT_ABGR};
    if (mode == TDL_MODE_MASK)
        return TDL_FORMAT_GRAY8;
    if (mode == TDL_MODE_ALPHA)
        return with_alpha[random_below(COUNT(with_alpha))];
    return mode == TDL_MODE_PASSTHROUGH || now_and_then(3) ? any_format() : source;
}

static struct scene scene_new(enum tdl_mode mode)
{
    struct scene s = {.params = {.mode = mode}};
    const uint32_t width = 1 + random_below(now_and_then(3) ? 700 : 80);
    const uint32_t height = 1 + random_below(60);
    const enum tdl_format from = any_format(), to = target_format(mode, from);
    random_params(&s.params);
    s.mask_width = 1 + random_below(now_and_then(4) ? 90 : 30);
    s.mask_height = 1 + random_below(30);
    pictures_new(s.source, from, width, height, false);
    pictures_new(s.target, to, width, height, true);
    for (int d = 0; d < DEVICES && !now_and_then(4); d++) {
        s.target[d].frame.matrix = s.source[0].frame.matrix;
        s.target[d].frame.range = s.source[0].frame.range;
    }
    s.target[CPU].frame.matrix = s.target[VULKAN].frame.matrix;
    s.target[CPU].frame.range = s.target[VULKAN].frame.range;
    const bool colors = now_and_then(3);
    s.has_background = mode == TDL_MODE_REPLACE && !now_and_then(3);
    if (s.has_background) {
        pictures_new(s.background, any_format(), 1 + random_below(60), 1 + random_below(60), false);
        draw(s.background, 1);
    }
    for (int d = 0; d < DEVICES; d++) {
        s.mask[d] =
            tensor_new(contexts[d], TDL_FLOAT32, TDL_PACKING_NONE, s.mask_height, s.mask_width, 1);
        OK(tdl_composer_create(contexts[d], &s.composer[d]));
        for (int k = 0; k < 2 && colors; k++)
            *(k ? &s.more[d].picture : &s.more[d].foreground) = tensor_new(
                contexts[d], TDL_FLOAT32, k ? TDL_PACKING_C4 : TDL_PACKING_NONE, s.mask_height,
                s.mask_width, 3);
        s.more[d].keep_foreground = colors;
    }
    return s;
}

static void scene_free(struct scene *s)
{
    pictures_free(s->source);
    pictures_free(s->target);
    if (s->has_background)
        pictures_free(s->background);
    for (int d = 0; d < DEVICES; d++) {
        tdl_tensor_destroy(&s->mask[d]);
        tdl_tensor_destroy(&s->more[d].foreground);
        tdl_tensor_destroy(&s->more[d].picture);
        tdl_composer_destroy(&s->composer[d]);
    }
}

/* Blobs that waver a little from frame to frame. */
static void draw_mask(struct scene *s, double shift)
{
    const size_t count = (size_t)s->mask_width * s->mask_height;
    float *values = malloc(count * sizeof(*values));
    const double fx = 4.0 / s->mask_width, fy = 4.0 / s->mask_height;
    CHECK(values, "no memory");
    for (size_t i = 0; i < count; i++) {
        const double x = (double)(i % s->mask_width), y = (double)(i / s->mask_width);
        const double wave = 0.9 * sin(fx * x + shift) * cos(fy * y);
        values[i] = (float)(0.5 + wave + 0.2 * (random_unit() - 0.5));
    }
    for (int d = 0; d < DEVICES; d++)
        OK(tdl_tensor_write(s->mask[d], values, count * sizeof(*values), NULL));
    free(values);
}

/* The foreground's colours, and the picture that it was found in. */
static void draw_colors(struct scene *s)
{
    const size_t count = (size_t)s->mask_width * s->mask_height;
    float *values = malloc(4 * count * sizeof(*values));
    CHECK(values, "no memory");
    for (int k = 0; k < 2 && s->more[0].keep_foreground; k++) {
        for (size_t i = 0; i < 4 * count; i++)
            values[i] = now_and_then(50) ? NAN : 0.4f * (float)k + 0.6f * unit();
        for (int d = 0; d < DEVICES; d++)
            OK(tdl_tensor_write(k ? s->more[d].picture : s->more[d].foreground, values,
                                (k ? 4 : 3) * count * sizeof(*values), NULL));
    }
    free(values);
}

static long run_frame(struct scene *s, const char *what)
{
    for (int d = 0; d < DEVICES; d++) {
        struct tdl_compose_params params = s->params;
        struct tdl_compose_more more = s->more[d];
        params.background = s->has_background ? &s->background[d].frame : NULL;
        params.more = &more;
        if (params.reuse_mask)
            more.foreground = more.picture = NULL;
        OK(tdl_batch_begin(batches[d]));
        OK(tdl_compose(batches[d], s->composer[d], &s->source[d].frame,
                       params.reuse_mask ? NULL : s->mask[d], &s->target[d].frame, &params));
        run_batch(batches[d], contexts[d]);
    }
    return compare(s->target, what);
}

static void test_composing(enum tdl_mode mode)
{
    struct scene s = scene_new(mode);
    const struct tdl_compose_params *p = &s.params;
    const struct tdl_frame *f = &s.target[0].frame;
    char text[400];
    /* One sample in a thousand. A step of the mask magnifies what rounding makes of its
     * values, the more the narrower it is; refinement divides by small differences before. */
    const long all = (long)f->width * f->height;
    const float each = p->refine ? 2e-3f : 1e-3f;
    const long allowed = 4 + (long)((float)all * each * fmaxf(1, 1 / fmaxf(p->feather, 0.01f)));
    draw(s.source, 0);
    for (int frame = 0; frame < 3; frame++) {
        snprintf(text, sizeof(text),
                 "mode %d, frame %d, %s to %s, %u×%u px, mask %u×%u, feather %g, threshold %g, "
                 "smoothing %g, blur %g, area %g, grow %g, light %g%s%s%s%s%s%s%s (seed %u)",
                 (int)mode, frame, tdl_format_name(s.source[0].frame.format),
                 tdl_format_name(f->format), f->width, f->height, s.mask_width, s.mask_height,
                 (double)p->feather, (double)p->threshold, (double)p->smoothing,
                 (double)p->blur_radius, (double)p->min_area, (double)p->grow, p->light_wrap,
                 s.has_background ? ", a picture behind" : "", p->despill ? ", despilled" : "",
                 s.more[0].keep_foreground ? ", with colours" : "", p->refine ? ", refined" : "",
                 p->invert ? ", inverted" : "", p->close_holes ? ", holes closed" : "",
                 p->reuse_mask ? ", used again" : "", random_seed());
        if (frame && now_and_then(2))
            draw(s.source, 0.02 * frame);
        draw_mask(&s, 0.05 * frame);
        draw_colors(&s);
        const long off = run_frame(&s, text);
        CHECK(off <= allowed, "%s: %ld of %ld samples differ by more than a step", text, off, all);
        s.params.reuse_mask = now_and_then(3);
        if (now_and_then(5)) {
            s.params.reuse_mask = false;
            tdl_composer_reset(s.composer[CPU]);
            tdl_composer_reset(s.composer[VULKAN]);
        }
    }
    scene_free(&s);
}

/* The first device of Vulkan's; the CPU is the last of all. */
static void open_contexts(void)
{
    uint32_t count = 0;
    OK(tdl_device_list(NULL, 0, &count));
    if (count < 2) {
        printf("skipped: there is no Vulkan to compare with\n");
        exit(SKIP);
    }
    OK(tdl_context_create(&(struct tdl_context_params){.device = "cpu",
                                                       .log = log_line,
                                                       .log_data = (void *)(uintptr_t) "cpu"},
                          &contexts[CPU]));
    OK(tdl_context_create(&(struct tdl_context_params){.device = "0",
                                                       .log = log_line,
                                                       .log_data = (void *)(uintptr_t) "vulkan"},
                          &contexts[VULKAN]));
    for (int d = 0; d < DEVICES; d++)
        OK(tdl_batch_create(contexts[d], &batches[d]));
}

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : getenv("TDL_TEST_CASES");
    const long cases = text ? atol(text) : 5;
    random_seed();
    open_contexts();
    for (long i = 0; i < cases; i++) {
        for (int k = 0; k < 4; k++)
            test_tensor();
        for (int mode = TDL_MODE_MASK; mode <= TDL_MODE_PASSTHROUGH; mode++)
            test_composing((enum tdl_mode)mode);
    }
    for (int d = 0; d < DEVICES; d++) {
        tdl_batch_destroy(&batches[d]);
        close_context(contexts[d]);
    }
    printf("%ld of %ld samples differ by more than a step, by %ld at most\n", samples_off,
           samples_seen, most_off);
    return 0;
}
