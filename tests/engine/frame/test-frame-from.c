/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensor → frame against bilinear interpolation in double precision: every format,
 * odd sizes, strides and crops, growing and shrinking, one, three and four channels,
 * both layouts, with and without a source that shows through; and what is refused.
 */
#include "test-frame-common.h"

#include <math.h>
#include <string.h>

struct scene {
    struct tdl_frame_from_tensor_params params;
    struct tdl_tensor *tensor;
    const float *data;
    int step, channels, width; /* layout and size of the tensor */
    const struct picture *source;
    const struct tdl_frame *frame;
};

/* Alpha, or a colour times its alpha: colours are mixed as much as is seen of them. */
static double value(const struct scene *s, int x, int y, int c)
{
    const int i = ((int)s->params.crop.y + y) * s->width + (int)s->params.crop.x + x;
    const float *pixel = s->data + i * s->step;
    const double alpha = s->channels == 4 ? clamp_double((double)pixel[3], 0, 1) : 1;
    return c == 3 ? alpha : alpha * (double)pixel[c];
}

static double between(const struct scene *s, double u, double v, int c)
{
    const int last[2] = {(int)s->params.crop.width - 1, (int)s->params.crop.height - 1};
    u = clamp_double(u, 0, last[0]);
    v = clamp_double(v, 0, last[1]);
    const int x = (int)u, right = at_most(x + 1, last[0]);
    const int y = (int)v, low = at_most(y + 1, last[1]);
    const double fx = u - x, fy = v - y;
    return (1 - fy) * ((1 - fx) * value(s, x, y, c) + fx * value(s, right, y, c)) +
           fy * ((1 - fx) * value(s, x, low, c) + fx * value(s, right, low, c));
}

/* The codes of a pixel, and its alpha of 0…1; outside the frame its last ones repeat. */
static void pixel(const struct scene *s, int x, int y, double codes[3], double *alpha)
{
    const int w = (int)s->frame->width, h = (int)s->frame->height;
    x = clamp_int(x, 0, w - 1);
    y = clamp_int(y, 0, h - 1);
    const double u = (x + 0.5) * s->params.crop.width / w - 0.5;
    const double v = (y + 0.5) * s->params.crop.height / h - 0.5;
    double rgb[3];
    *alpha = s->channels == 4 ? between(s, u, v, 3) : 1;
    for (int c = 0; c < 3; c++)
        rgb[c] = clamp_double(between(s, u, v, s->channels > 1 ? c : 0) / fmax(*alpha, 1 / 1024.0) *
                                      (double)s->params.scale[c] +
                                  (double)s->params.bias[c],
                              0, 1);
    from_rgb(s->frame, rgb, codes);
}

/* Component c at its sample (x, y), and how much of the source it covers: chroma is
 * (1 2 1)/4 round the left pixel of a pair, and the mean of two rows. */
static double sample(const struct scene *s, int c, int x, int y, double *weight)
{
    const enum tdl_format f = s->frame->format;
    const bool sub = (c == 1 || c == 2) && !format_rgb(f);
    const int sx = sub ? chroma_shift_x(f) : 0, rows = 1 << (sub ? chroma_shift_y(f) : 0);
    double sum = 0, codes[3], alpha;
    *weight = 0;
    for (int r = 0; r < rows; r++) {
        const int row = y * rows + r;
        if (!sx) {
            pixel(s, x, row, codes, &alpha);
            sum += codes[c] / rows;
            *weight += alpha / rows;
            continue;
        }
        for (int k = -1; k < 2; k++) {
            pixel(s, 2 * x + k, row, codes, &alpha);
            sum += codes[c] * (k ? 0.25 : 0.5) / rows;
            *weight += k < 0 ? 0 : alpha / (2 * rows);
        }
    }
    return sum;
}

static double wanted(const struct scene *s, int c, int x, int y)
{
    double weight, codes[3];
    if (c == 3) {
        pixel(s, x, y, codes, &weight);
        return s->source ? get_code(s->source, 3, x, y) : 255 * weight;
    }
    const double front = sample(s, c, x, y, &weight);
    if (!s->source)
        return front;
    weight *= (double)s->params.opacity;
    return weight * front + (1 - weight) * get_code(s->source, c, x, y);
}

static void compare(const struct scene *s, const struct picture *p, const char *what)
{
    const enum tdl_format f = p->frame.format;
    /* Colours are divided by alpha, which may be 1/1024. */
    const double tolerance = 0.5 + (s->channels == 4 ? 1e-3 : 4e-5) * format_full(f);
    for (int c = 0; c < 4; c++) {
        const bool sub = (c == 1 || c == 2) && !format_rgb(f);
        const int sx = sub ? chroma_shift_x(f) : 0, sy = sub ? chroma_shift_y(f) : 0;
        if (!format_has(f, c))
            continue;
        for (int y = 0; y < ((int)p->frame.height + sy) >> sy; y++)
            for (int x = 0; x < ((int)p->frame.width + sx) >> sx; x++) {
                const double want = clamp_double(wanted(s, c, x, y), 0, format_full(f));
                const double got = get_code(p, c, x, y);
                CHECK(fabs(got - want) <= tolerance,
                      "%s: %s %u×%u of %u×%u px, %d channels in steps of %d: component %d at %d,%d "
                      "is %g, not %.3f (seed %u)",
                      what, tdl_format_name(f), p->frame.width, p->frame.height,
                      s->params.crop.width, s->params.crop.height, s->channels, s->step, c, x, y,
                      got, want, random_seed());
            }
    }
    picture_check_sentinels(p, what);
}

static float *random_tensor(struct tdl_context *ctx, struct scene *s, enum tdl_packing packing,
                            uint32_t w, uint32_t h)
{
    s->tensor = tensor_new(ctx, TDL_FLOAT32, packing, h, w, (uint32_t)s->channels);
    const size_t size = tdl_tensor_params_size(tdl_tensor_get_params(s->tensor));
    float *data = malloc(size);
    CHECK(data, "no memory");
    for (size_t i = 0; i < size / sizeof(float); i++)
        data[i] = (float)(random_unit() * 1.5 - 0.25);
    OK(tdl_tensor_write(s->tensor, data, size, NULL));
    s->data = data;
    s->width = (int)w;
    s->step = packing == TDL_PACKING_C4 ? 4 : s->channels;
    return data;
}

static void check(struct tdl_context *ctx, struct tdl_batch *batch, enum tdl_format format,
                  const uint32_t size[4], int channels, enum tdl_packing packing, bool over)
{
    struct scene s = {.channels = channels};
    struct picture p = picture_new(ctx, format, size[0], size[1], GEOMETRY_WORDS);
    struct picture source = picture_new(ctx, format, size[0], size[1], GEOMETRY_ODD);
    float *data = random_tensor(ctx, &s, packing, size[2], size[3]);
    p.frame.matrix = source.frame.matrix = (enum tdl_color_matrix)random_below(3);
    p.frame.range = source.frame.range = (enum tdl_range)random_below(2);
    s.frame = &p.frame;
    s.params.crop.x = random_below(size[2]);
    s.params.crop.y = random_below(2) ? random_below(size[3]) : 0;
    s.params.crop.width = 1 + random_below(size[2] - s.params.crop.x);
    s.params.crop.height = size[3] - s.params.crop.y;
    for (int c = 0; c < 3; c++) {
        s.params.scale[c] = 0.5f + (float)random_unit();
        s.params.bias[c] = 0.5f - (float)random_unit();
    }
    if (over) {
        picture_randomise(&source);
        s.source = &source;
        s.params.source = &source.frame;
        s.params.opacity = (float)random_unit();
    }
    OK(tdl_frame_from_tensor_prepare(s.tensor, &p.frame, &s.params, NULL));
    OK(tdl_batch_begin(batch));
    OK(tdl_frame_from_tensor(batch, s.tensor, &p.frame, &s.params));
    run_batch(batch, ctx);
    compare(&s, &p, over ? "over a source" : "alone");
    free(data);
    tdl_tensor_destroy(&s.tensor);
    picture_free(&p);
    picture_free(&source);
}

/* Frame, then tensor. */
static const uint32_t sizes[][4] = {
    {1, 1, 1, 1},   {1, 1, 7, 3},     {3, 5, 2, 2},  {16, 9, 16, 9},  {17, 11, 9, 13},
    {65, 7, 20, 4}, {33, 18, 70, 40}, {2, 64, 1, 5}, {300, 5, 75, 3},
};

static void test_formats(struct tdl_context *ctx, struct tdl_batch *batch)
{
    /* Nearly every case is a kernel of its own, where there are kernels. */
    const size_t every = tdl_context_device(ctx)->type == TDL_DEVICE_CPU ? 1 : 24;
    static const int channels[] = {3, 1, 4};
    for (size_t f = 0; f < COUNT(all_formats); f++)
        for (size_t i = 0; i < COUNT(sizes); i++)
            if (in_turn(f + i, every))
                check(ctx, batch, all_formats[f], sizes[i], channels[random_below(3)],
                      random_below(2) ? TDL_PACKING_NONE : TDL_PACKING_C4, random_below(2));
}

/* Without params: as it is, and white is white. */
static void test_plain(struct tdl_context *ctx, struct tdl_batch *batch)
{
    struct picture p = picture_new(ctx, TDL_FORMAT_NV12, 6, 4, GEOMETRY_TIGHT);
    struct tdl_tensor *t = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 2, 3, 3);
    const float white[18] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    OK(tdl_tensor_write(t, white, sizeof(white), NULL));
    OK(tdl_batch_begin(batch));
    OK(tdl_frame_from_tensor(batch, t, &p.frame, NULL));
    run_batch(batch, ctx);
    for (int i = 0; i < 24; i++)
        CHECK(get_code(&p, 0, i % 6, i / 6) == 235, "luma %d of white", i);
    for (int i = 0; i < 6; i++)
        CHECK(get_code(&p, 1, i % 3, i / 3) == 128 && get_code(&p, 2, i % 3, i / 3) == 128,
              "chroma %d of white", i);
    tdl_tensor_destroy(&t);
    picture_free(&p);
}

static void refuse(struct tdl_batch *batch, struct tdl_tensor *t, const struct tdl_frame *frame,
                   const struct tdl_frame_from_tensor_params *params, const char *word)
{
    CHECK(tdl_frame_from_tensor(batch, t, frame, params) == TDL_ERROR_INVALID_ARGUMENT,
          "\"%s\" was not refused", word);
    CHECK(strstr(tdl_last_error(), word), "\"%s\" says nothing of \"%s\"", tdl_last_error(), word);
}

static void test_refused(struct tdl_context *ctx, struct tdl_batch *batch)
{
    struct picture p = picture_new(ctx, TDL_FORMAT_NV12, 8, 8, GEOMETRY_TIGHT);
    struct picture other = picture_new(ctx, TDL_FORMAT_I420, 8, 8, GEOMETRY_TIGHT);
    struct picture small = picture_new(ctx, TDL_FORMAT_NV12, 8, 6, GEOMETRY_TIGHT);
    struct tdl_tensor *t = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 4, 4, 3);
    struct tdl_tensor *two = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 4, 4, 2);
    struct tdl_tensor *half = tensor_new(ctx, TDL_FLOAT16, TDL_PACKING_C4, 4, 4, 3);
    struct tdl_frame odd = p.frame;
    OK(tdl_batch_begin(batch));
    refuse(batch, two, &p.frame, NULL, "channels");
    refuse(batch, half, &p.frame, NULL, "float32");
    refuse(batch, t, &p.frame, &(struct tdl_frame_from_tensor_params){.crop = {2, 0, 3, 4}},
           "crop");
    refuse(batch, t, &p.frame,
           &(struct tdl_frame_from_tensor_params){.source = &other.frame, .opacity = 1}, "agree");
    refuse(batch, t, &p.frame,
           &(struct tdl_frame_from_tensor_params){.source = &small.frame, .opacity = 1}, "equal");
    refuse(batch, t, &p.frame,
           &(struct tdl_frame_from_tensor_params){.source = &p.frame, .opacity = NAN}, "opacity");
    refuse(batch, t, &p.frame, &(struct tdl_frame_from_tensor_params){.bias = {INFINITY}},
           "finite");
    odd.planes[0].stride = 9;
    refuse(batch, t, &odd, NULL, "multiples of 4");
    refuse(batch, t, NULL, NULL, "frame");
    refuse(batch, NULL, &p.frame, NULL, "tensor");
    tdl_batch_cancel(batch);
    tdl_tensor_destroy(&t);
    tdl_tensor_destroy(&two);
    tdl_tensor_destroy(&half);
    picture_free(&p);
    picture_free(&other);
    picture_free(&small);
}

/* A batch that is full of dispatches of one kernel takes as many of another one then, however
 * often: their bindings differ. */
static void test_full_batches(struct tdl_context *ctx, struct tdl_batch *batch)
{
    enum { DISPATCHES = 128, SIDE = 8, LAPS = 3 };
    struct picture source = picture_new(ctx, TDL_FORMAT_RGBA, SIDE, SIDE, GEOMETRY_TIGHT);
    struct picture target = picture_new(ctx, TDL_FORMAT_RGBA, SIDE, SIDE, GEOMETRY_WORDS);
    struct tdl_tensor *tensor = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, SIDE, SIDE, 3);
    const struct tdl_frame_to_tensor_params to = {.crop = {0, 0, SIDE, SIDE}};
    const struct tdl_frame_from_tensor_params from = {
        .crop = {0, 0, SIDE, SIDE}, .scale = {1, 1, 1}, .opacity = 1};
    const struct tdl_compose_params copy = {.mode = TDL_MODE_PASSTHROUGH};
    struct tdl_composer *composer;
    OK(tdl_composer_create(ctx, &composer));
    picture_randomise(&source);
    for (int kind = 0; kind < 3 * LAPS; kind++) {
        OK(tdl_batch_begin(batch));
        for (int i = 0; i < DISPATCHES; i++)
            if (kind % 3 == 0)
                OK(tdl_frame_to_tensor(batch, &source.frame, tensor, &to));
            else if (kind % 3 == 1)
                OK(tdl_frame_from_tensor(batch, tensor, &target.frame, &from));
            else
                OK(tdl_compose(batch, composer, &source.frame, NULL, &target.frame, &copy));
        run_batch(batch, ctx);
        for (int c = 0; c < 3 && kind; c++)
            CHECK(get_code(&target, c, 5, 6) == get_code(&source, c, 5, 6), "batch %d", kind);
    }
    tdl_composer_destroy(&composer);
    tdl_tensor_destroy(&tensor);
    picture_free(&source);
    picture_free(&target);
}

int main(int argc, char **argv)
{
    struct tdl_context *ctx = open_context(argc, argv);
    struct tdl_batch *batch;
    OK(tdl_batch_create(ctx, &batch));
    test_plain(ctx, batch);
    test_refused(ctx, batch);
    test_formats(ctx, batch);
    test_full_batches(ctx, batch);
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("frame from tensor: ok\n");
    return 0;
}
