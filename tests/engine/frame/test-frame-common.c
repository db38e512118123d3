/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-frame-common.h"

#include "vulkan/context.h"

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
    const char *text = getenv("TDL_TEST_CASES");
    const long cases = text ? atol(text) : 0;
    return cases >= 100 || (row + random_seed()) % (cases == 1 ? 4 * n : n) == 0;
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
    enum tdl_result r =
        tdl_context_create(&(struct tdl_context_params){.validation = true, .log = log_line}, &ctx);
    if (r == TDL_ERROR_NO_DEVICE) {
        printf("skipped: %s\n", tdl_last_error());
        exit(SKIP);
    }
    CHECK(r == TDL_OK, "tdl_context_create: %s", tdl_last_error());
    if (argc > 1)
        ctx->info.type = strcmp(argv[1], "gpu") ? TDL_DEVICE_SOFTWARE : TDL_DEVICE_DISCRETE_GPU;
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
                              enum tdl_packing packing, uint32_t h, uint32_t w, uint32_t c)
{
    struct tdl_tensor *t;
    OK(tdl_tensor_create(ctx,
                         &(struct tdl_tensor_params){
                             .dtype = dtype,
                             .rank = 4,
                             .shape = {1, h, w, c},
                             .packing = packing,
                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE,
                             .label = "test",
                         },
                         &t));
    return t;
}

/* ----------------------------------------------------------------- formats */

/* Places of the components Y or R, Cb or G, Cr or B, and alpha, after GStreamer's list of raw video
 * formats: plane, bytes from one sample to the next, bytes before the first. A step of 0: the
 * format lacks the component. */
static const struct layout {
    bool rgb;
    int bytes, bits, shift; /* size of a sample */
    int half_x, half_y;     /* subsampling of components 1 and 2 */
    struct {
        int plane, step, first;
    } at[4];
} layouts[TDL_FORMAT_COUNT] = {
    [TDL_FORMAT_NV12] = {false, 1, 8, 0, 1, 1, {{0, 1, 0}, {1, 2, 0}, {1, 2, 1}}},
    [TDL_FORMAT_NV21] = {false, 1, 8, 0, 1, 1, {{0, 1, 0}, {1, 2, 1}, {1, 2, 0}}},
    [TDL_FORMAT_NV16] = {false, 1, 8, 0, 1, 0, {{0, 1, 0}, {1, 2, 0}, {1, 2, 1}}},
    [TDL_FORMAT_I420] = {false, 1, 8, 0, 1, 1, {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}},
    [TDL_FORMAT_YV12] = {false, 1, 8, 0, 1, 1, {{0, 1, 0}, {2, 1, 0}, {1, 1, 0}}},
    [TDL_FORMAT_Y42B] = {false, 1, 8, 0, 1, 0, {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}},
    [TDL_FORMAT_Y444] = {false, 1, 8, 0, 0, 0, {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}},
    [TDL_FORMAT_I420_10] = {false, 2, 10, 0, 1, 1, {{0, 2, 0}, {1, 2, 0}, {2, 2, 0}}},
    [TDL_FORMAT_I422_10] = {false, 2, 10, 0, 1, 0, {{0, 2, 0}, {1, 2, 0}, {2, 2, 0}}},
    [TDL_FORMAT_Y444_10] = {false, 2, 10, 0, 0, 0, {{0, 2, 0}, {1, 2, 0}, {2, 2, 0}}},
    [TDL_FORMAT_P010] = {false, 2, 10, 6, 1, 1, {{0, 2, 0}, {1, 4, 0}, {1, 4, 2}}},
    [TDL_FORMAT_YUY2] = {false, 1, 8, 0, 1, 0, {{0, 2, 0}, {0, 4, 1}, {0, 4, 3}}},
    [TDL_FORMAT_UYVY] = {false, 1, 8, 0, 1, 0, {{0, 2, 1}, {0, 4, 0}, {0, 4, 2}}},
    [TDL_FORMAT_GRAY8] = {false, 1, 8, 0, 0, 0, {{0, 1, 0}}},
    [TDL_FORMAT_GRAY16] = {false, 2, 16, 0, 0, 0, {{0, 2, 0}}},
    [TDL_FORMAT_RGBA] = {true, 1, 8, 0, 0, 0, {{0, 4, 0}, {0, 4, 1}, {0, 4, 2}, {0, 4, 3}}},
    [TDL_FORMAT_BGRA] = {true, 1, 8, 0, 0, 0, {{0, 4, 2}, {0, 4, 1}, {0, 4, 0}, {0, 4, 3}}},
    [TDL_FORMAT_ARGB] = {true, 1, 8, 0, 0, 0, {{0, 4, 1}, {0, 4, 2}, {0, 4, 3}, {0, 4, 0}}},
    [TDL_FORMAT_ABGR] = {true, 1, 8, 0, 0, 0, {{0, 4, 3}, {0, 4, 2}, {0, 4, 1}, {0, 4, 0}}},
    [TDL_FORMAT_RGBX] = {true, 1, 8, 0, 0, 0, {{0, 4, 0}, {0, 4, 1}, {0, 4, 2}}},
    [TDL_FORMAT_BGRX] = {true, 1, 8, 0, 0, 0, {{0, 4, 2}, {0, 4, 1}, {0, 4, 0}}},
    [TDL_FORMAT_XRGB] = {true, 1, 8, 0, 0, 0, {{0, 4, 1}, {0, 4, 2}, {0, 4, 3}}},
    [TDL_FORMAT_XBGR] = {true, 1, 8, 0, 0, 0, {{0, 4, 3}, {0, 4, 2}, {0, 4, 1}}},
    [TDL_FORMAT_RGB] = {true, 1, 8, 0, 0, 0, {{0, 3, 0}, {0, 3, 1}, {0, 3, 2}}},
    [TDL_FORMAT_BGR] = {true, 1, 8, 0, 0, 0, {{0, 3, 2}, {0, 3, 1}, {0, 3, 0}}},
};

bool format_rgb(enum tdl_format f)
{
    return layouts[f].rgb;
}
bool format_full_chroma(enum tdl_format f)
{
    return format_has(f, 1) && !layouts[f].half_x;
}
int chroma_shift_x(enum tdl_format f)
{
    return layouts[f].half_x;
}
int chroma_shift_y(enum tdl_format f)
{
    return layouts[f].half_y;
}
double format_full(enum tdl_format f)
{
    return (1 << layouts[f].bits) - 1;
}
double format_unit(enum tdl_format f)
{
    return 1 << (layouts[f].bits - 8);
}
bool format_has(enum tdl_format f, int component)
{
    return layouts[f].at[component].step > 0;
}

static int samples_across(const struct tdl_frame *f, int component)
{
    const int shift = component == 1 || component == 2 ? layouts[f->format].half_x : 0;
    return ((int)f->width + shift) >> shift;
}
static int samples_down(const struct tdl_frame *f, int component)
{
    const int shift = component == 1 || component == 2 ? layouts[f->format].half_y : 0;
    return ((int)f->height + shift) >> shift;
}

void plane_size(const struct tdl_frame *f, int plane, uint32_t *row, uint32_t *rows)
{
    *row = *rows = 0;
    for (int c = 0; c < 4; c++) {
        if (!format_has(f->format, c) || layouts[f->format].at[c].plane != plane)
            continue;
        const int bytes = samples_across(f, c) * layouts[f->format].at[c].step;
        *row = bytes > (int)*row ? (uint32_t)bytes : *row;
        *rows = (uint32_t)samples_down(f, c);
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

static uint8_t *sample_at(const struct picture *p, int component, int x, int y)
{
    const struct layout *l = &layouts[p->frame.format];
    const struct tdl_plane *plane = &p->frame.planes[l->at[component].plane];
    return p->bytes + plane->offset + (size_t)y * plane->stride + l->at[component].first +
           x * l->at[component].step;
}

double get_code(const struct picture *p, int component, int x, int y)
{
    const struct layout *l = &layouts[p->frame.format];
    if (!format_has(p->frame.format, component))
        return component == 3 ? 255 : 128 * format_unit(p->frame.format);
    const uint8_t *s = sample_at(p, component, x, y);
    const unsigned value = l->bytes == 2 ? (unsigned)(s[0] | s[1] << 8) : s[0];
    return value >> l->shift & ((1u << l->bits) - 1);
}

void set_code(struct picture *p, int component, int x, int y, unsigned value)
{
    const struct layout *l = &layouts[p->frame.format];
    if (!format_has(p->frame.format, component))
        return;
    uint8_t *s = sample_at(p, component, x, y);
    s[0] = (uint8_t)(value << l->shift);
    if (l->bytes == 2)
        s[1] = (uint8_t)(value << l->shift >> 8);
}

/* ------------------------------------------------------------------ colours */

static void luma_weights(enum tdl_color_matrix matrix, double *kr, double *kb)
{
    *kr = matrix == TDL_COLOR_MATRIX_BT601   ? 0.299
          : matrix == TDL_COLOR_MATRIX_BT709 ? 0.2126
                                             : 0.2627;
    *kb = matrix == TDL_COLOR_MATRIX_BT601   ? 0.114
          : matrix == TDL_COLOR_MATRIX_BT709 ? 0.0722
                                             : 0.0593;
}

void to_rgb(const struct tdl_frame *frame, const double codes[3], double rgb[3])
{
    const double unit = format_unit(frame->format), full = format_full(frame->format);
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
    const double unit = format_unit(frame->format), full = format_full(frame->format);
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
            const double w =
                fmax(0, 1 - fabs(x + 0.5 - cx) / wide) * fmax(0, 1 - fabs(y + 0.5 - cy) / high);
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
        if (!format_has(f, c)) {
            codes[c] = 128 * format_unit(f);
        } else if (format_full_chroma(f)) {
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
