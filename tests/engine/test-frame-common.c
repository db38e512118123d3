/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-frame-common.h"

#include "context.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ random */

static uint32_t seed, state;

uint32_t random_seed(void)
{
    if (!seed) {
        const char *text = getenv("TDL_TEST_SEED");
        seed = text ? (uint32_t)strtoul(text, NULL, 0) : (uint32_t)time(NULL);
        seed += !seed;
        state = seed * 2654435761u; /* neighbours start far apart; odd, so never 0 */
        printf("TDL_TEST_SEED=%u\n", seed);
    }
    return seed;
}

bool in_turn(size_t row, size_t n)
{
    const char *cases = getenv("TDL_TEST_CASES");
    return (cases && atol(cases) >= 100) || (row + random_seed()) % n == 0;
}

uint32_t random_below(uint32_t limit)
{
    random_seed();
    /* Marsaglia's xorshift32. */
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (uint32_t)(((uint64_t)state * limit) >> 32);
}

double random_unit(void)
{
    return random_below(1u << 24) / (double)(1u << 24);
}

/* ----------------------------------------------------------------- context */

static void log_line(void *data, enum tdl_log_level level, const char *message)
{
    (void)data;
    fprintf(stderr, "[%d] %s\n", (int)level, message);
}

struct tdl_context *open_context(int argc, char **argv)
{
    struct tdl_context *ctx;
    enum tdl_result r = tdl_context_create(
        &(struct tdl_context_params){.validation = true, .log = log_line}, &ctx);
    if (r == TDL_ERROR_NO_DEVICE) {
        printf("skipped: %s\n", tdl_last_error());
        exit(SKIP);
    }
    CHECK(r == TDL_OK, "tdl_context_create: %s", tdl_last_error());
    if (argc > 1)
        ctx->info.type = strcmp(argv[1], "gpu") ? TDL_DEVICE_CPU : TDL_DEVICE_DISCRETE_GPU;
    return ctx;
}

void close_context(struct tdl_context *ctx)
{
    struct tdl_context_stats stats;
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &stats);
    CHECK(stats.validation_errors == 0, "%llu validation messages",
          (unsigned long long)stats.validation_errors);
    tdl_context_destroy(&ctx);
}

void run_batch(struct tdl_batch *batch, struct tdl_context *ctx)
{
    uint64_t point;
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
}

struct tdl_tensor *tensor_new(struct tdl_context *ctx, enum tdl_dtype dtype,
                              enum tdl_layout layout, uint32_t h, uint32_t w, uint32_t c)
{
    struct tdl_tensor *t;
    OK(tdl_tensor_create(ctx,
                         &(struct tdl_tensor_params){
                             .dtype = dtype,
                             .rank = 4,
                             .shape = {1, h, w, c},
                             .layout = layout,
                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE,
                             .label = "test",
                         },
                         &t));
    return t;
}

/* ----------------------------------------------------------------- formats */

bool format_rgb(enum tdl_format f)
{
    return f >= TDL_FORMAT_RGBA && f <= TDL_FORMAT_BGR;
}
int chroma_shift_x(enum tdl_format f)
{
    return f >= TDL_FORMAT_NV12 && f <= TDL_FORMAT_P010;
}
int chroma_shift_y(enum tdl_format f)
{
    return f == TDL_FORMAT_NV12 || f == TDL_FORMAT_I420 || f == TDL_FORMAT_P010;
}
double format_full(enum tdl_format f)
{
    return f == TDL_FORMAT_P010 ? 1023 : 255;
}

static uint32_t half(uint32_t v)
{
    return (v + 1) / 2;
}

/* Bytes of a row and rows of a plane, spelled out per format. */
static void plane_size(const struct tdl_frame *f, int plane, uint32_t *row, uint32_t *rows)
{
    *row = 0;
    *rows = f->height;
    switch (f->format) {
    case TDL_FORMAT_NV12:
        *row = plane ? 2 * half(f->width) : f->width;
        *rows = plane ? half(f->height) : f->height;
        break;
    case TDL_FORMAT_I420:
        *row = plane ? half(f->width) : f->width;
        *rows = plane ? half(f->height) : f->height;
        break;
    case TDL_FORMAT_P010:
        *row = plane ? 4 * half(f->width) : 2 * f->width;
        *rows = plane ? half(f->height) : f->height;
        break;
    case TDL_FORMAT_YUY2:
    case TDL_FORMAT_UYVY:
        *row = 4 * half(f->width);
        break;
    case TDL_FORMAT_RGB:
    case TDL_FORMAT_BGR:
        *row = 3 * f->width;
        break;
    case TDL_FORMAT_GRAY8:
        *row = f->width;
        break;
    default:
        *row = 4 * f->width;
        break;
    }
}

struct picture picture_new(struct tdl_context *ctx, enum tdl_format format, uint32_t width,
                           uint32_t height, enum geometry geometry)
{
    struct picture p = {.frame = {.format = format, .width = width, .height = height}};
    const uint32_t guard = geometry == GEOMETRY_TIGHT ? 0 : 16;
    size_t size = guard;
    for (uint32_t i = 0; i < tdl_format_planes(format); i++) {
        uint32_t row, rows;
        plane_size(&p.frame, (int)i, &row, &rows);
        if (geometry == GEOMETRY_ODD) {
            size += random_below(300);
            p.frame.planes[i].stride = row + random_below(9);
        } else {
            size = (size + 3) / 4 * 4;
            p.frame.planes[i].stride = (row + 3) / 4 * 4;
            if (geometry == GEOMETRY_WORDS) {
                size += 4 * random_below(80);
                p.frame.planes[i].stride += 4 * random_below(3);
            }
        }
        p.frame.planes[i].offset = size;
        size += (size_t)p.frame.planes[i].stride * rows + guard;
    }
    p.size = size;
    OK(tdl_buffer_create(ctx, size, TDL_BUFFER_READBACK, &p.buffer));
    p.bytes = tdl_buffer_data(p.buffer);
    p.before = malloc(size);
    CHECK(p.bytes && p.before, "no memory");
    for (uint32_t i = 0; i < tdl_format_planes(format); i++)
        p.frame.planes[i].buffer = p.buffer;
    for (size_t i = 0; i < size; i++)
        p.bytes[i] = (uint8_t)random_below(256);
    memcpy(p.before, p.bytes, size);
    return p;
}

void picture_free(struct picture *p)
{
    tdl_buffer_destroy(&p->buffer);
    free(p->before);
}

void picture_randomise(struct picture *p)
{
    const int w = (int)p->frame.width, h = (int)p->frame.height;
    const unsigned full = (unsigned)format_full(p->frame.format);
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const bool sub = (c == 1 || c == 2) && !format_rgb(p->frame.format);
                const int sx = sub ? chroma_shift_x(p->frame.format) : 0;
                const int sy = sub ? chroma_shift_y(p->frame.format) : 0;
                set_code(p, c, x >> sx, y >> sy, random_below(full + 1));
            }
    memcpy(p->before, p->bytes, p->size);
}

void picture_check_sentinels(const struct picture *p, const char *what)
{
    uint8_t *allowed = calloc(1, p->size);
    CHECK(allowed, "no memory");
    for (uint32_t i = 0; i < tdl_format_planes(p->frame.format); i++) {
        uint32_t row, rows;
        plane_size(&p->frame, (int)i, &row, &rows);
        for (uint32_t y = 0; y < rows; y++)
            memset(allowed + p->frame.planes[i].offset + (size_t)y * p->frame.planes[i].stride, 1,
                   (row + 3) / 4 * 4);
    }
    for (size_t i = 0; i < p->size; i++)
        CHECK(allowed[i] || p->bytes[i] == p->before[i],
              "%s: byte %zu of %s, %u×%u px, lies outside the rows and was written", what, i,
              tdl_format_name(p->frame.format), p->frame.width, p->frame.height);
    free(allowed);
}

/* Address of a component's sample; NULL where the format has none. `shift` and
 * `bytes`: P010 has two bytes, shifted by six. */
static uint8_t *sample_at(const struct picture *p, int component, int x, int y)
{
    const struct tdl_frame *f = &p->frame;
    static const int rgba[4] = {0, 1, 2, 3}, bgra[4] = {2, 1, 0, 3};
    int plane = 0, offset = 0;
    switch (f->format) {
    case TDL_FORMAT_NV12:
        plane = component > 0;
        offset = component ? 2 * x + component - 1 : x;
        break;
    case TDL_FORMAT_I420:
        plane = component;
        offset = x;
        break;
    case TDL_FORMAT_P010:
        plane = component > 0;
        offset = component ? 4 * x + 2 * (component - 1) : 2 * x;
        break;
    case TDL_FORMAT_YUY2:
        offset = component ? 4 * x + 2 * component - 1 : 2 * x;
        break;
    case TDL_FORMAT_UYVY:
        offset = component ? 4 * x + 2 * component - 2 : 2 * x + 1;
        break;
    case TDL_FORMAT_RGBA:
    case TDL_FORMAT_RGBX:
        offset = 4 * x + rgba[component];
        break;
    case TDL_FORMAT_BGRA:
    case TDL_FORMAT_BGRX:
        offset = 4 * x + bgra[component];
        break;
    case TDL_FORMAT_RGB:
        offset = 3 * x + rgba[component];
        break;
    case TDL_FORMAT_BGR:
        offset = 3 * x + bgra[component];
        break;
    default:
        offset = x;
        break;
    }
    return p->bytes + f->planes[plane].offset + (size_t)y * f->planes[plane].stride + offset;
}

static bool has_component(enum tdl_format f, int component)
{
    if (component == 3)
        return f == TDL_FORMAT_RGBA || f == TDL_FORMAT_BGRA;
    return component == 0 || f != TDL_FORMAT_GRAY8;
}

double get_code(const struct picture *p, int component, int x, int y)
{
    if (!has_component(p->frame.format, component))
        return component == 3 ? 255 : 128;
    const uint8_t *s = sample_at(p, component, x, y);
    if (p->frame.format == TDL_FORMAT_P010)
        return (s[0] | s[1] << 8) >> 6;
    return s[0];
}

void set_code(struct picture *p, int component, int x, int y, unsigned value)
{
    if (!has_component(p->frame.format, component))
        return;
    uint8_t *s = sample_at(p, component, x, y);
    if (p->frame.format == TDL_FORMAT_P010) {
        s[0] = (uint8_t)(value << 6);
        s[1] = (uint8_t)(value >> 2);
    } else {
        s[0] = (uint8_t)value;
    }
}

/* ------------------------------------------------------------------ colours */

static void luma_weights(enum tdl_matrix matrix, double *kr, double *kb)
{
    *kr = matrix == TDL_MATRIX_BT601 ? 0.299 : matrix == TDL_MATRIX_BT709 ? 0.2126 : 0.2627;
    *kb = matrix == TDL_MATRIX_BT601 ? 0.114 : matrix == TDL_MATRIX_BT709 ? 0.0722 : 0.0593;
}

void to_rgb(const struct tdl_frame *frame, const double codes[3], double rgb[3])
{
    const double unit = frame->format == TDL_FORMAT_P010 ? 4 : 1, full = format_full(frame->format);
    double kr, kb, y, cb, cr;
    if (format_rgb(frame->format)) {
        for (int i = 0; i < 3; i++)
            rgb[i] = codes[i] / 255;
        return;
    }
    luma_weights(frame->matrix, &kr, &kb);
    if (frame->range == TDL_RANGE_FULL) {
        y = codes[0] / full;
        cb = (codes[1] - 128 * unit) / full;
        cr = (codes[2] - 128 * unit) / full;
    } else {
        y = (codes[0] / unit - 16) / 219;
        cb = (codes[1] / unit - 128) / 224;
        cr = (codes[2] / unit - 128) / 224;
    }
    /* Y = kr R + kg G + kb B, Cb = (B - Y) / 2(1 - kb), Cr = (R - Y) / 2(1 - kr) */
    rgb[0] = y + 2 * (1 - kr) * cr;
    rgb[2] = y + 2 * (1 - kb) * cb;
    rgb[1] = (y - kr * rgb[0] - kb * rgb[2]) / (1 - kr - kb);
}

void from_rgb(const struct tdl_frame *frame, const double rgb[3], double codes[3])
{
    const double unit = frame->format == TDL_FORMAT_P010 ? 4 : 1, full = format_full(frame->format);
    double kr, kb;
    if (format_rgb(frame->format)) {
        for (int i = 0; i < 3; i++)
            codes[i] = rgb[i] * 255;
        return;
    }
    luma_weights(frame->matrix, &kr, &kb);
    const double y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
    const double cb = (rgb[2] - y) / (2 * (1 - kb)), cr = (rgb[0] - y) / (2 * (1 - kr));
    if (frame->range == TDL_RANGE_FULL) {
        codes[0] = y * full;
        codes[1] = cb * full + 128 * unit;
        codes[2] = cr * full + 128 * unit;
    } else {
        codes[0] = (219 * y + 16) * unit;
        codes[1] = (224 * cb + 128) * unit;
        codes[2] = (224 * cr + 128) * unit;
    }
}

void pixel_codes(const struct picture *p, int x, int y, double codes[4])
{
    const enum tdl_format f = p->frame.format;
    codes[0] = get_code(p, 0, x, y);
    codes[3] = get_code(p, 3, x, y);
    for (int c = 1; c < 3; c++) {
        if (!chroma_shift_x(f)) {
            codes[c] = get_code(p, c, x, y);
            continue;
        }
        /* Sample i lies at pixel 2i; in 4:2:0 row j lies at pixel 2j + ½. */
        const int i = x / 2, right = at_most(i + 1, (int)(p->frame.width - 1) / 2);
        const double fx = x % 2 * 0.5;
        int j = y, other = y;
        double fy = 0;
        if (chroma_shift_y(f)) {
            j = y / 2;
            other = clamp_int(y % 2 ? j + 1 : j - 1, 0, (int)(p->frame.height - 1) / 2);
            fy = 0.25;
        }
        codes[c] = (1 - fy) * ((1 - fx) * get_code(p, c, i, j) + fx * get_code(p, c, right, j)) +
                   fy * ((1 - fx) * get_code(p, c, i, other) + fx * get_code(p, c, right, other));
    }
}

/* ---------------------------------------------------------------- filter */

/* Value of one plane's component round `centre` (pixel k's centre is k + ½):
 * a triangle of half width max(scale, 1) over the samples first … last. */
static double filter(const struct picture *p, int component, double cx, double cy, double sx,
                     double sy, const int first[2], const int last[2])
{
    const double wide = fmax(sx, 1), high = fmax(sy, 1);
    double sum = 0, weight = 0;
    for (int y = first[1]; y <= last[1]; y++)
        for (int x = first[0]; x <= last[0]; x++) {
            const double w = fmax(0, 1 - fabs(x + 0.5 - cx) / wide) *
                             fmax(0, 1 - fabs(y + 0.5 - cy) / high);
            if (w > 0)
                sum += w * get_code(p, component, x, y);
            weight += w;
        }
    return sum / weight;
}

void filtered_codes(const struct picture *p, const double centre[2], const double scale[2],
                    const int first[2], const int last[2], double codes[3])
{
    const enum tdl_format f = p->frame.format;
    codes[0] = filter(p, 0, centre[0], centre[1], scale[0], scale[1], first, last);
    for (int c = 1; c < 3; c++) {
        if (f == TDL_FORMAT_GRAY8) {
            codes[c] = 128;
        } else if (format_rgb(f)) {
            codes[c] = filter(p, c, centre[0], centre[1], scale[0], scale[1], first, last);
        } else {
            /* Chroma in its own grid: sample i at pixel 2i across; down at
             * pixel j, or half-way between 2j and 2j + 1. */
            const bool both = chroma_shift_y(f);
            const int cfirst[2] = {first[0] / 2, both ? first[1] / 2 : first[1]};
            const int clast[2] = {last[0] / 2, both ? last[1] / 2 : last[1]};
            codes[c] = filter(p, c, (centre[0] - 0.5) / 2 + 0.5, both ? centre[1] / 2 : centre[1],
                              scale[0] / 2, both ? scale[1] / 2 : scale[1], cfirst, clast);
        }
    }
}
