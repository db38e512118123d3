/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loops in which the time goes, compiled for each set of instructions (isa.h):
 * over contiguous floats, without branches that depend on them, so that the compiler
 * makes vectors of them.
 */
#ifndef TDL_CPU_HOT_H
#define TDL_CPU_HOT_H

#include "cpu/isa.h"

/* Rows of inputs that a tile multiplies, and what becomes of the products. */
struct tdl_cpu_tile {
    const float *const *rows;    /* [taps][TDL_CPU_TILE_ROWS] */
    const float *const *weights; /* by tap: [depth][columns of a tile] */
    uint32_t taps, depth;
    float *const *out; /* by row; NULL: none */
    uint32_t columns;  /* columns wanted */
    const float *bias; /* a tile's columns, or NULL */
    float alpha;       /* the products times alpha, plus the bias */
    float least, most;
};
enum { TDL_CPU_TILE_ROWS = 4 };

/* Pixels of a depthwise convolution, whose windows begin `step` floats apart. */
struct tdl_cpu_window {
    const float *const *pixels;  /* under the taps, those outside left out */
    const float *const *weights; /* weights of these taps */
    uint32_t taps;
    const float *bias;
    float least, most;
    size_t count, step;
};

/* Pixels of one vector of channels, which lie in a panel of depthwise.c. */
enum { TDL_CPU_PANEL_PIXELS = 8 };
struct tdl_cpu_panel {
    const float *pixels[TDL_CPU_PANEL_PIXELS]; /* each under its first tap */
    float *out[TDL_CPU_PANEL_PIXELS];
    size_t count;         /* of those that are written */
    const float *weights; /* vectors, by tap */
    size_t weights_row;   /* floats */
    size_t high, wide;    /* taps */
    size_t row, column;   /* floats from tap to tap in the panel */
    const float *bias;    /* a vector */
    float least, most;
    size_t channels; /* a vector's at most */
};

/* Four pixels side by side of a depthwise convolution, of all channels. */
enum { TDL_CPU_FOUR = 4, TDL_CPU_MOST_COLUMNS = 11 };
struct tdl_cpu_four {
    uint32_t kernel, stride;    /* along the row: 3 or 5, and 1 or 2 */
    uint32_t rows;              /* of the window */
    const float *const *pixels; /* [rows][(4 − 1) · stride + kernel], zeros outside */
    const float *weights;       /* [rows][kernel][channels] */
    const float *bias;
    float least, most;
    size_t channels; /* a vector's at least */
    float *out;      /* the first pixel, and others behind it */
    size_t count;    /* of those that are written */
};

/* Of tiles of winograd.c. */
enum { TDL_CPU_WINOGRAD_OUT = 4, TDL_CPU_WINOGRAD_SIDE = 6 };
struct tdl_cpu_winograd_tile {
    const float *products; /* at the first of the places, which lie `step` floats apart */
    size_t step;
    const float *bias;
    float least, most;
};

/* Rows of a times columns, which are whole vectors, and lie two by two: [columns / two
 * vectors][depth][two vectors]. */
struct tdl_cpu_product {
    const float *a, *b;
    size_t a_step, depth;
    float *sums; /* [rows][columns] */
    size_t rows, columns;
    bool add; /* to what is in `sums` */
    /* NULL: they stay sums; else results of the `wanted` first columns, whose bias is there for
     * all or NULL, and `sums` are not written. */
    float *out;
    size_t out_step, wanted;
    const float *bias;
    float least, most;
};

/* Of gridSample: one axis of a picture, and where pixels lie on it. */
struct tdl_cpu_grid_axis {
    uint32_t size, taps; /* 1, 2 or 4 */
    uint32_t padding;    /* enum tdl_grid_padding */
    bool align;
    float far;              /* places further out are there */
    float low, span, turns; /* of what is mirrored: its first end, and ½ / span */
};
enum { TDL_CPU_GRID_BLOCK = 64, TDL_CPU_GRID_TAPS = 4 };
struct tdl_cpu_grid_taps {
    uint32_t pixels[TDL_CPU_GRID_TAPS][TDL_CPU_GRID_BLOCK];
    float weights[TDL_CPU_GRID_TAPS][TDL_CPU_GRID_BLOCK];
};

enum tdl_cpu_pool { TDL_CPU_POOL_SUM, TDL_CPU_POOL_MAX, TDL_CPU_POOL_SQUARES };

struct tdl_cpu_hot {
    /* enum tdl_function of one value, and of two; `one`: the same for all. */
    void (*unary)(uint32_t function, float a, float b, const float *x, float *out, size_t n);
    void (*binary)(uint32_t function, const float *x, bool x_one, const float *y, bool y_one,
                   float *out, size_t n);
    void (*compare)(uint32_t function, const float *x, bool x_one, const float *y, bool y_one,
                    uint8_t *out, size_t n);
    void (*widen)(const uint16_t *halves, float *out, size_t n);
    void (*narrow)(const float *x, uint16_t *out, size_t n);
    /* int8 with a sign, uint8 without, to floats and from them. */
    void (*widen_bytes)(const uint8_t *x, bool has_sign, float *out, size_t n);
    void (*cut_to_bytes)(const float *x, bool has_sign, uint8_t *out, size_t n);
    /* (x − zero) · scale, and round(x / scale) + zero, of such numbers. */
    void (*dequantize)(const uint8_t *x, bool has_sign, float scale, float zero, float *out,
                       size_t n);
    void (*quantize)(const float *x, float scale, float zero, bool has_sign, uint8_t *out,
                     size_t n);

    /* (x − mean) · a + b for each channel: n elements from a channel 0 on. */
    void (*scale_channels)(const float *x, const float *mean, const float *a, const float *b,
                           size_t channels, float *out, size_t n);
    void (*scale)(float *x, float factor, size_t n);
    /* out = x · a + y · b */
    void (*mix)(const float *x, float a, const float *y, float b, float *out, size_t n);

    /* Pixels that lie `stride` floats apart, into sums (or maxima) of n channels. */
    void (*pool)(enum tdl_cpu_pool kind, const float *x, size_t pixels, size_t stride, float *sums,
                 size_t n);
    /* The largest of the taps, which lie anywhere, for each of n channels. */
    void (*max_taps)(const float *const *taps, size_t count, float *out, size_t n);
    void (*max_bytes)(const uint8_t *const *taps, size_t count, bool has_sign, uint8_t *out,
                      size_t n);
    void (*sum_taps)(const float *const *taps, size_t count, float *out, size_t n);
    /* Means of windows of `high` × `wide` pixels of up to four channels, whose rows lie `row`
     * floats apart and which begin `step` floats apart: as many as `windows`. */
    void (*mean_few)(const float *x, size_t row, size_t high, size_t wide, size_t step,
                     size_t windows, float *out, size_t channels);
    /* Pixels of n channels between two of a row each: out = x[a] + (x[b] − x[a]) · f */
    void (*between)(const float *row, const uint32_t *a, const uint32_t *b, const float *f,
                    size_t pixels, float *out, size_t n);
    void (*depthwise)(const struct tdl_cpu_window *w, float *out, size_t n);

    /* Bring pixels that lie `step` floats apart side by side, as vectors with zeros behind their
     * channels. */
    void (*panel_fill)(const float *from, size_t step, size_t pixels, size_t channels, float *to);
    void (*panel_depthwise)(const struct tdl_cpu_panel *panel);
    void (*four_depthwise)(const struct tdl_cpu_four *four);

    /* The taps along an axis at every other number of a grid; a block at most. */
    void (*grid_axis)(const struct tdl_cpu_grid_axis *axis, const float *grid, size_t n,
                      struct tdl_cpu_grid_taps *out);
    /* Pixels of an image of that width, summed by their taps along both axes. */
    void (*grid_sum)(const float *image, uint32_t width, uint32_t taps,
                     const struct tdl_cpu_grid_taps *y, const struct tdl_cpu_grid_taps *x, size_t n,
                     float *out, size_t channels);

    void (*multiply)(const struct tdl_cpu_tile *tile);
    uint32_t columns; /* columns per tile */

    /* Transform the pixels of a tile, of 16 channels at least, which lie anywhere, to
     * places `step` floats apart. */
    void (*winograd_in)(const float *const *pixels, size_t channels, float *out, size_t step);
    /* And back, to the pixels that are not NULL. False: among them are infinities or NaN. */
    bool (*winograd_out)(const struct tdl_cpu_winograd_tile *tile, float *const *out,
                         size_t channels);
    void (*product)(const struct tdl_cpu_product *p);
    uint32_t product_rows; /* at once */

    /* to[r][c] = from[c][r], of 32 bits each; steps are from row to row. */
    void (*turn)(const uint32_t *from, size_t step, size_t columns, size_t rows, uint32_t *to,
                 size_t to_step);

    /* Over rows. */
    bool (*all_finite)(const float *x, size_t n); /* neither an infinity nor NaN */
    float (*row_max)(const float *x, size_t n);
    double (*row_sum)(const float *x, size_t n);
    double (*row_squares)(const float *x, float mean, size_t n); /* Σ (x − mean)² */
    /* (x − mean) · factor · scale + bias; these two may be NULL */
    void (*center)(const float *x, float mean, float factor, const float *scale, const float *bias,
                   float *out, size_t n);
    double (*row_exp)(const float *x, float most, float *out, size_t n); /* and their sum */
    /* Into sums by column: Σ x, Σ |x|, Σ x², Σ exp (x − most), Π x, least, most */
    void (*add_row)(uint32_t reduction, const float *x, const float *most, double *sums, size_t n);
};
extern const struct tdl_cpu_hot tdl_cpu_hot_baseline;
#ifdef TDL_CPU_HAVE_LEVELS
extern const struct tdl_cpu_hot tdl_cpu_hot_v3, tdl_cpu_hot_v4, tdl_cpu_hot_sve;
#endif

/* The functions for this machine. */
const struct tdl_cpu_hot *tdl_cpu_hot(void);

#endif
