/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions of 3×3, stride 1, by Winograd's minimal filtering F(4×4, 3×3) (Lavin and
 * Gray, arXiv:1509.09308): a quarter of the multiplications. A tile of 4×4 output pixels
 * is made from 6×6 of the input, which are transformed; at each of the 36 places the
 * channels of many tiles are one product of matrices; their sums are transformed back. A
 * block of tiles goes through all of it, and stays in the cache meanwhile. Where there are few
 * tiles, threads share them out for the transforms, and the places for the products.
 *
 * The transforms spread infinities and NaN over the whole tile. Where something of the
 * kind comes out, the block is computed anew, tap by tap.
 */
#include "hot.h"
#include "ops.h"

#include "ops/conv/conv.h"

#include <math.h>
#include <stdlib.h>

enum {
    SIDE = TDL_CPU_WINOGRAD_SIDE,
    OUT = TDL_CPU_WINOGRAD_OUT,
    PLACES = SIDE * SIDE,
    LEAST_CHANNELS = 16,    /* a vector's, of the widest */
    LEAST_TILES = 2,        /* for which it pays to read four times the weights */
    MOST_WEIGHTS = 4 << 20, /* bytes: four times those of the filter */
    IN_CACHE = 256 << 10,   /* bytes of a block */
    SHARED = 768 << 10,     /* bytes of so few tiles that threads share them */
    LINE = 16               /* floats between places, which else lie at the same sets */
};

struct state {
    struct tdl_dims in, out;
    uint32_t pad_top, pad_left;
    uint32_t tiles_y, tiles_x, tiles; /* of an image; of all */
    uint32_t block;                   /* tiles */
    uint32_t columns;                 /* output channels, and zeros up to a vector */
    float least, most;
    float *shared; /* of all tiles, or NULL: blocks are in what each thread has */
    /* In floats. */
    size_t in_step, out_step; /* from place to place in a block */
    size_t bias, zeros;       /* in what is packed, behind the weights: [place][columns of a
                               * tile][in][...], and a pixel */
};

/* ------------------------------------------------------------------- packing */

/* U = G g Gᵀ, element (y, x) at u[y · SIDE + x]. */
static void transform_filter(const double taps[9], double u[PLACES])
{
    static const double g[SIDE][3] = {{1.0 / 4, 0, 0},
                                      {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                      {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                      {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                      {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                      {0, 0, 1}};
    double half[SIDE][3];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < 3; x++)
            half[y][x] = g[y][0] * taps[x] + g[y][1] * taps[3 + x] + g[y][2] * taps[6 + x];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            u[y * SIDE + x] = half[y][0] * g[x][0] + half[y][1] * g[x][1] + half[y][2] * g[x][2];
}

/* As hot->product() reads them: two vectors of columns by input channel, then the next
 * two; the last may be one vector. */
static void pack(const struct tdl_node *n, const struct state *s, float *w)
{
    const uint32_t pair = tdl_cpu_hot()->columns;
    const float *filter = n->inputs[TDL_CONV_FILTER]->data;
    const float *bias = n->inputs[TDL_CONV_BIAS] ? n->inputs[TDL_CONV_BIAS]->data : NULL;
    const size_t place = (size_t)s->in.c * s->columns;
    for (uint32_t o = 0; o < s->out.c; o++)
        for (uint32_t i = 0; i < s->in.c; i++) {
            const uint32_t first = o / pair * pair, width = TDL_MIN(pair, s->columns - first);
            double taps[9], u[PLACES];
            for (uint32_t k = 0; k < 9; k++)
                taps[k] = (double)filter[((size_t)o * 9 + k) * s->in.c + i];
            transform_filter(taps, u);
            for (uint32_t k = 0; k < PLACES; k++)
                w[k * place + (size_t)first * s->in.c + (size_t)i * width + o - first] =
                    (float)u[k];
        }
    for (uint32_t o = 0; bias && o < s->out.c; o++)
        w[s->bias + o] = bias[o];
}

/* As many tiles as stay in the cache beside what they are multiplied by; and enough
 * blocks for all threads. */
static uint32_t choose_block(const struct state *s, uint32_t rows)
{
    enum { LEAST_BLOCKS = 16 };
    const size_t tile = PLACES * sizeof(float) * (s->in.c + (size_t)s->columns);
    const size_t weights = PLACES * sizeof(float) * s->in.c * s->columns;
    const size_t fit = TDL_MAX((size_t)IN_CACHE, weights / 4) / tile;
    const size_t most = TDL_MIN(fit, (size_t)TDL_DIV_UP(s->tiles, LEAST_BLOCKS));
    return (uint32_t)TDL_MAX(most / rows, (size_t)1) * rows;
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    const enum tdl_activation a = n->attr.conv.p.activation;
    struct tdl_conv_geometry g = {0};
    tdl_conv_describe(n, &g);
    struct state base = {
        .in = g.in,
        .out = g.out,
        .pad_top = g.window.pad[0],
        .pad_left = g.window.pad[2],
        .tiles_y = TDL_DIV_UP(g.out.h, OUT),
        .tiles_x = TDL_DIV_UP(g.out.w, OUT),
        .columns = TDL_ALIGN(g.out.c, hot->columns / 2),
        .least = a == TDL_ACTIVATION_NONE ? -INFINITY : 0,
        .most = a == TDL_ACTIVATION_RELU6 ? 6 : INFINITY,
    };
    base.tiles = g.out.n * base.tiles_y * base.tiles_x;
    const bool shared =
        PLACES * sizeof(float) * base.tiles * (base.in.c + (size_t)base.columns) <= SHARED;
    base.block = shared ? base.tiles : choose_block(&base, hot->product_rows);
    base.in_step = (size_t)base.block * g.in.c + LINE;
    base.out_step = (size_t)base.block * base.columns + LINE;
    base.bias = (size_t)PLACES * g.in.c * base.columns;
    base.zeros = base.bias + base.columns;
    const size_t tiles_bytes = PLACES * (base.in_step + base.out_step) * sizeof(float);
    struct state *s = out->state = malloc(sizeof(*s) + (shared ? tiles_bytes : 0));
    out->packed_bytes = (base.zeros + g.in.c) * sizeof(float);
    out->packed = calloc(1, out->packed_bytes);
    out->scratch_bytes = shared ? 0 : tiles_bytes;
    if (!s || !out->packed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = base;
    s->shared = shared ? (float *)(s + 1) : NULL;
    pack(n, s, out->packed);
    return TDL_OK;
}

/* ------------------------------------------------------------------- running */

struct work {
    const struct tdl_cpu_call *call;
    const struct state *s;
    const struct tdl_cpu_hot *hot;
};

/* Where a tile lies: its first output pixel. */
struct place {
    uint32_t image, y, x;
};

static struct place place_of(const struct state *s, size_t tile)
{
    return (struct place){(uint32_t)(tile / s->tiles_x / s->tiles_y),
                          (uint32_t)(tile / s->tiles_x % s->tiles_y) * OUT,
                          (uint32_t)(tile % s->tiles_x) * OUT};
}

/* The pixel of the input at (y, x), or one of zeros outside. */
static const float *pixel_at(const struct work *w, uint32_t image, int64_t y, int64_t x)
{
    const struct state *s = w->s;
    if (y < 0 || x < 0 || y >= s->in.h || x >= s->in.w)
        return w->call->packed + s->zeros;
    return (const float *)w->call->inputs[TDL_CONV_INPUT] +
           (((size_t)image * s->in.h + (size_t)y) * s->in.w + (size_t)x) * s->in.c;
}

static float *output_at(const struct work *w, const struct place *p, uint32_t i)
{
    const struct state *s = w->s;
    const size_t y = p->y + i / OUT, x = p->x + i % OUT;
    if (y >= s->out.h || x >= s->out.w)
        return NULL;
    return (float *)w->call->output + ((p->image * (size_t)s->out.h + y) * s->out.w + x) * s->out.c;
}

static void read_tile(const struct work *w, size_t tile, float *to)
{
    const struct state *s = w->s;
    const struct place p = place_of(s, tile);
    const float *pixels[PLACES];
    for (uint32_t i = 0; i < PLACES; i++)
        pixels[i] = pixel_at(w, p.image, (int64_t)p.y + i / SIDE - s->pad_top,
                             (int64_t)p.x + i % SIDE - s->pad_left);
    w->hot->winograd_in(pixels, s->in.c, to, s->in_step);
}

static bool write_tile(const struct work *w, size_t tile, const float *products)
{
    const struct state *s = w->s;
    const struct place p = place_of(s, tile);
    float *out[OUT * OUT];
    for (uint32_t i = 0; i < OUT * OUT; i++)
        out[i] = output_at(w, &p, i);
    return w->hot->winograd_out(&(struct tdl_cpu_winograd_tile){products, s->out_step,
                                                                w->call->packed + s->bias, s->least,
                                                                s->most},
                                out, s->out.c);
}

static float sum_of_taps(const struct work *w, const struct place *p, uint32_t i, uint32_t o)
{
    const struct state *s = w->s;
    const float *f = (const float *)w->call->inputs[TDL_CONV_FILTER] + (size_t)o * 9 * s->in.c;
    float sum = w->call->packed[s->bias + o];
    for (uint32_t k = 0; k < 9; k++, f += s->in.c) {
        const float *x = pixel_at(w, p->image, (int64_t)p->y + i / OUT + k / 3 - s->pad_top,
                                  (int64_t)p->x + i % OUT + k % 3 - s->pad_left);
        for (uint32_t c = 0; c < s->in.c && x != w->call->packed + s->zeros; c++)
            sum += x[c] * f[c];
    }
    sum = sum < s->least ? s->least : sum; /* NaN stays */
    return sum > s->most ? s->most : sum;
}

static void compute_by_taps(const struct work *w, size_t tile)
{
    const struct place p = place_of(w->s, tile);
    for (uint32_t i = 0; i < OUT * OUT; i++) {
        float *out = output_at(w, &p, i);
        for (uint32_t o = 0; out && o < w->s->out.c; o++)
            out[o] = sum_of_taps(w, &p, i, o);
    }
}

static void write_or_compute(const struct work *w, size_t tile, const float *products)
{
    if (!write_tile(w, tile, products))
        compute_by_taps(w, tile);
}

/* The products at a place of `count` tiles. */
static void multiply(const struct work *w, size_t place, size_t count, const float *in, float *out)
{
    const struct state *s = w->s;
    w->hot->product(&(struct tdl_cpu_product){
        .a = in + place * s->in_step,
        .a_step = s->in.c,
        .b = w->call->packed + place * s->in.c * s->columns,
        .depth = s->in.c,
        .sums = out + place * s->out_step,
        .rows = count,
        .columns = s->columns,
    });
}

/* Pieces are blocks. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    float *in = tdl_cpu_scratch_take(w->call->scratch), *out = in + PLACES * s->in_step;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i * s->block, count = TDL_MIN(s->block, s->tiles - first);
        for (size_t t = 0; t < count; t++)
            read_tile(w, first + t, in + t * s->in.c);
        for (size_t k = 0; k < PLACES; k++)
            multiply(w, k, count, in, out);
        for (size_t t = 0; t < count; t++)
            write_or_compute(w, first + t, out + t * s->columns);
    }
    tdl_cpu_scratch_give(w->call->scratch, in);
}

/* Pieces are tiles, or places, of all tiles. */
static void read_shared(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    for (size_t t = begin; t < end; t++)
        read_tile(w, t, w->s->shared + t * w->s->in.c);
}

static void multiply_shared(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    for (size_t k = begin; k < end; k++)
        multiply(w, k, w->s->tiles, w->s->shared, w->s->shared + PLACES * w->s->in_step);
}

static void write_shared(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const float *out = w->s->shared + PLACES * w->s->in_step;
    for (size_t t = begin; t < end; t++)
        write_or_compute(w, t, out + t * w->s->columns);
}

static void run(const struct tdl_cpu_call *call)
{
    const struct state *s = call->state;
    struct work w = {call, s, tdl_cpu_hot()};
    const double macs = (double)s->block * s->in.c * s->columns;
    if (!s->shared) {
        tdl_cpu_parallel(call->threads, compute, &w, TDL_DIV_UP(s->tiles, s->block),
                         tdl_cpu_grain(macs * PLACES / 30));
        return;
    }
    tdl_cpu_parallel(call->threads, read_shared, &w, s->tiles, tdl_cpu_grain(s->in.c * 4.0));
    tdl_cpu_parallel(call->threads, multiply_shared, &w, PLACES, tdl_cpu_grain(macs / 30));
    tdl_cpu_parallel(call->threads, write_shared, &w, s->tiles, tdl_cpu_grain(s->columns * 4.0));
}

/* Worth it where tiles are whole, more or less, and channels many enough for the
 * transforms: measured. */
static bool takes(const struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims out = tdl_operand_dims(n->output);
    const uint64_t padded = (uint64_t)TDL_ALIGN(out.h, OUT) * TDL_ALIGN(out.w, OUT);
    return n->attr.conv.pre == TDL_PRE_NONE && n->input_count <= TDL_CONV_BIAS + 1 &&
           n->attr.conv.p.groups == 1 && w->kernel[0] == 3 && w->kernel[1] == 3 &&
           w->stride[0] == 1 && w->stride[1] == 1 && w->dilation[0] == 1 && w->dilation[1] == 1 &&
           in.c >= LEAST_CHANNELS && out.c >= LEAST_CHANNELS &&
           padded * 2 <= (uint64_t)out.h * out.w * 3 && padded * out.n >= LEAST_TILES * OUT * OUT &&
           (uint64_t)in.c * out.c <= MOST_WEIGHTS / PLACES / sizeof(float);
}

const struct tdl_cpu_kernel tdl_cpu_winograd = {
    .name = "winograd",
    .takes = takes,
    .prepare = prepare,
    .run = run,
    .packs = 1u << TDL_CONV_BIAS,
    .before_xnn = true,
};
