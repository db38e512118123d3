/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the frame tests: a context with validation, frames of any geometry with sentinels round
 * every plane, and a reader of formats and colours in double precision. It is written from the
 * definitions and shares no code with the engine.
 */
#ifndef TEST_FRAME_COMMON_H
#define TEST_FRAME_COMMON_H

#include <tdl/frame.h>

#include <stdio.h>
#include <stdlib.h>

#define SKIP 77

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == TDL_OK, "%s: %s", #call, tdl_last_error())

/* Another one in every run, and printed: TDL_TEST_SEED repeats a run. */
uint32_t random_seed(void);
/* True for every nth row of a slow table, for other rows in other runs. All rows with
 * TDL_TEST_CASES of 100 or more, a quarter as many with 1. */
bool in_turn(size_t row, size_t n);
uint32_t random_below(uint32_t limit);
double random_unit(void);

/* Exits with SKIP when there is no device. Kernels differ for CPUs and GPUs:
 * "gpu" or "cpu" as the program's argument says which to take, whatever the
 * device is; else they follow the device. */
struct tdl_context *open_context(int argc, char **argv);
/* Fails when the validation layers said anything; destroys the context. */
void close_context(struct tdl_context *ctx);

/* A frame with its memory. `geometry` sources: random strides and offsets of
 * any residue; targets: multiples of four. All bytes are random (sources) or
 * sentinels (targets). */
struct picture {
    struct tdl_frame frame;
    struct tdl_buffer *buffer;
    uint8_t *bytes;    /* the mapping */
    uint8_t *before;   /* copy of the bytes before the GPU wrote */
    size_t size;
};
enum geometry { GEOMETRY_TIGHT, GEOMETRY_ODD, GEOMETRY_WORDS };
struct picture picture_new(struct tdl_context *ctx, enum tdl_format format, uint32_t width,
                           uint32_t height, enum geometry geometry);
void picture_free(struct picture *p);
/* Random codes within the format's range, in bytes that belong to pixels. */
void picture_randomise(struct picture *p);
/* Fails if a byte outside the rows (rounded up to words) has changed. */
void picture_check_sentinels(const struct picture *p, const char *what);

bool format_rgb(enum tdl_format f);
bool format_has(enum tdl_format f, int component);
bool format_full_chroma(enum tdl_format f); /* three codes for every pixel: RGB, 4:4:4 */
int chroma_shift_x(enum tdl_format f);
int chroma_shift_y(enum tdl_format f);
double format_full(enum tdl_format f); /* 255, 1023 or 65535 */
double format_unit(enum tdl_format f); /* codes to a code of eight bits */
/* Bytes of a row and rows of a plane. */
void plane_size(const struct tdl_frame *f, int plane, uint32_t *row, uint32_t *rows);

/* Component 0 (Y, R), 1 (Cb, G), 2 (Cr, B), 3 (alpha) at a sample of its
 * plane, as the stored code. */
double get_code(const struct picture *p, int component, int x, int y);
void set_code(struct picture *p, int component, int x, int y, unsigned value);

/* Codes ↔ R, G, B of 0…1 (not clamped), from BT.601/709/2020 and H.273. */
void to_rgb(const struct tdl_frame *frame, const double codes[3], double rgb[3]);
void from_rgb(const struct tdl_frame *frame, const double rgb[3], double codes[3]);

/* The colour of pixel (x, y) in the frame's codes, with its chroma linearly
 * interpolated: samples on the left pixel of a pair, half-way between rows. */
void pixel_codes(const struct picture *p, int x, int y, double codes[4]);

/* The codes round `centre` (pixel k's centre is k + ½) by a triangle whose half
 * width is `scale` pixels, one at least; pixels first … last count. */
void filtered_codes(const struct picture *p, const double centre[2], const double scale[2],
                    const int first[2], const int last[2], double codes[3]);

/* Submit and wait. */
void run_batch(struct tdl_batch *batch, struct tdl_context *ctx);
struct tdl_tensor *tensor_new(struct tdl_context *ctx, enum tdl_dtype dtype,
                              enum tdl_packing packing, uint32_t h, uint32_t w, uint32_t c);

static const enum tdl_format all_formats[] = {
    TDL_FORMAT_NV12, TDL_FORMAT_I420, TDL_FORMAT_YUY2, TDL_FORMAT_UYVY,
    TDL_FORMAT_P010, TDL_FORMAT_RGBA, TDL_FORMAT_BGRA, TDL_FORMAT_RGBX,
    TDL_FORMAT_BGRX, TDL_FORMAT_RGB,  TDL_FORMAT_BGR,  TDL_FORMAT_GRAY8,
    TDL_FORMAT_ARGB, TDL_FORMAT_ABGR, TDL_FORMAT_XRGB, TDL_FORMAT_XBGR,
    TDL_FORMAT_NV21, TDL_FORMAT_NV16, TDL_FORMAT_YV12, TDL_FORMAT_Y42B,
    TDL_FORMAT_Y444, TDL_FORMAT_I420_10, TDL_FORMAT_I422_10, TDL_FORMAT_Y444_10,
    TDL_FORMAT_GRAY16,
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline int at_most(int v, int limit)
{
    return v < limit ? v : limit;
}
static inline int clamp_int(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}
static inline double clamp_double(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

#endif
