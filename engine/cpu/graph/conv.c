/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions, and transposed ones, of NHWC images, for builds without XNNPACK and
 * for what it does not take. Both are sums over taps: an output pixel is made of the
 * input pixels under them, of which some are outside. Of a transposed one only every
 * stride-th tap lies on a pixel, the same ones for every stride-th output pixel.
 *
 * Four such pixels of a row, and some output channels, are a tile, of which the sums
 * are in registers. Depthwise ones go pixel by pixel.
 */
#include "hot.h"
#include "ops.h"

#include "ops/conv/conv.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = TDL_CPU_TILE_ROWS };

/* Along an axis: output o and tap k are at input (o · scale + shift + k · step) / divisor,
 * where that is whole. */
struct axis {
    int64_t in, out, kernel;
    int64_t scale, shift, step, divisor;
};

struct state {
    bool transposed;
    struct axis y, x;
    struct tdl_dims in, out;
    uint32_t groups, in_group, out_group;
    uint32_t taps, tiles; /* tiles of output channels in a group */
    bool depthwise;
    float least, most;
    /* In what is packed. */
    size_t bias;  /* [group][tile][columns], behind the weights, which are
                   * [group][tile][tap][in_group][columns]; depthwise [tap][channels] */
    size_t zeros; /* a pixel */
};

/* ------------------------------------------------------------------- packing */

static struct axis axis_of(const struct tdl_node *n, int i, bool transposed, uint32_t in)
{
    const struct tdl_window *w = &n->window;
    const int64_t pad = w->pad[2 * i], step = w->dilation[i];
    return (struct axis){
        .in = in,
        .out = w->out[i],
        .kernel = w->kernel[i],
        .scale = transposed ? 1 : w->stride[i],
        .divisor = transposed ? w->stride[i] : 1,
        .shift = transposed ? pad : -pad,
        .step = transposed ? -step : step,
    };
}

static void describe(const struct tdl_node *n, struct state *s)
{
    s->in = tdl_operand_dims(n->inputs[0]);
    s->out = tdl_operand_dims(n->output);
    s->groups = s->transposed ? n->attr.conv_transpose.groups : n->attr.conv.p.groups;
    s->in_group = s->in.c / s->groups;
    s->out_group = s->out.c / s->groups;
    s->taps = n->window.kernel[0] * n->window.kernel[1];
    s->y = axis_of(n, 0, s->transposed, s->in.h);
    s->x = axis_of(n, 1, s->transposed, s->in.w);
}

/* Weight of tap, input and output channel in the group. */
static float weight_at(const struct tdl_node *n, const struct state *s, uint32_t group,
                       uint32_t tap, uint32_t i, uint32_t o)
{
    const float *f = n->inputs[TDL_CONV_FILTER]->data;
    if (s->transposed)
        return f[((size_t)o * s->taps + tap) * s->in.c + group * s->in_group + i];
    return f[(((size_t)group * s->out_group + o) * s->taps + tap) * s->in_group + i];
}

static void pack(const struct tdl_node *n, const struct state *s, uint32_t columns, float *w)
{
    const float *bias = n->inputs[TDL_CONV_BIAS] ? n->inputs[TDL_CONV_BIAS]->data : NULL;
    float *b = w + s->bias;
    for (uint32_t group = 0; group < s->groups; group++)
        for (uint32_t tile = 0; tile < s->tiles; tile++) {
            const uint32_t first = tile * columns, left = s->out_group - first;
            for (uint32_t tap = 0; tap < s->taps; tap++)
                for (uint32_t i = 0; i < s->in_group; i++)
                    for (uint32_t c = 0; c < columns; c++)
                        *w++ = c < left ? weight_at(n, s, group, tap, i, first + c) : 0;
            for (uint32_t c = 0; c < columns; c++)
                *b++ = bias && c < left ? bias[group * s->out_group + first + c] : 0;
        }
}

static void pack_depthwise(const struct tdl_node *n, const struct state *s, float *w)
{
    const float *bias = n->inputs[TDL_CONV_BIAS] ? n->inputs[TDL_CONV_BIAS]->data : NULL;
    for (uint32_t c = 0; c < s->out.c; c++) {
        for (uint32_t tap = 0; tap < s->taps; tap++)
            w[(size_t)tap * s->out.c + c] = weight_at(n, s, c, tap, 0, 0);
        w[s->bias + c] = bias ? bias[c] : 0;
    }
}

static enum tdl_result prepare_any(const struct tdl_node *n, bool transposed,
                                   struct tdl_cpu_prepared *out)
{
    const uint32_t columns = tdl_cpu_hot()->columns;
    const enum tdl_activation a = *n->op->activation((struct tdl_node *)n);
    struct state base = {.transposed = transposed};
    describe(n, &base);
    base.depthwise = base.in_group == 1 && base.out_group == 1;
    base.tiles = base.depthwise ? 1 : TDL_DIV_UP(base.out_group, columns);
    base.least = a == TDL_ACTIVATION_NONE ? -INFINITY : 0;
    base.most = a == TDL_ACTIVATION_RELU6 ? 6 : INFINITY;
    const size_t lanes = base.depthwise ? base.out.c : (size_t)base.groups * base.tiles * columns;
    const size_t weights = lanes * base.taps * base.in_group;
    base.bias = weights;
    base.zeros = weights + lanes;
    struct state *s = out->state = malloc(sizeof(*s));
    out->packed_bytes = (weights + lanes + base.in.c) * sizeof(float);
    out->packed = malloc(out->packed_bytes);
    if (!s || !out->packed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = base;
    memset(out->packed + s->zeros, 0, base.in.c * sizeof(float));
    if (s->depthwise)
        pack_depthwise(n, s, out->packed);
    else
        pack(n, s, columns, out->packed);
    return TDL_OK;
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    return prepare_any(n, false, out);
}

static enum tdl_result prepare_transposed(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    return prepare_any(n, true, out);
}

/* ------------------------------------------------------------------- running */

struct work {
    const struct state *s;
    const struct tdl_cpu_hot *hot;
    const float *packed;
    const float *from;
    float *to;
};

/* The input under a tap, or −1. */
static int64_t under(const struct axis *a, int64_t out, int64_t tap)
{
    const int64_t at = out * a->scale + a->shift + tap * a->step;
    if (a->divisor == 1) /* no division for each pixel and tap */
        return at < a->in ? at : -1;
    return at < 0 || at % a->divisor || at / a->divisor >= a->in ? -1 : at / a->divisor;
}

/* As many taps at once; the sums of further ones would have to be kept. */
enum { MOST_TAPS = 256 };

/* How many output pixels from `ox` on have all taps inside, or all the same. */
static int64_t count_alike(const struct axis *x, int64_t ox)
{
    const int64_t first = ox * x->scale + x->shift, last = first + (x->kernel - 1) * x->step;
    const int64_t left = TDL_MIN(first, last), right = TDL_MAX(first, last); /* step may be < 0 */
    if (x->divisor > 1 || left < 0 || right >= x->in)
        return 1;
    return TDL_MIN((x->in - 1 - right) / x->scale + 1, x->out - ox);
}

static void depthwise_row(const struct work *w, size_t image, int64_t oy)
{
    const struct state *s = w->s;
    const float *pixels[MOST_TAPS], *weights[MOST_TAPS];
    float *out = w->to + (image * s->out.h + (size_t)oy) * s->out.w * s->out.c;
    for (int64_t ox = 0, n; ox < s->out.w; ox += n) {
        n = count_alike(&s->x, ox);
        struct tdl_cpu_window window = {.pixels = pixels,
                                        .weights = weights,
                                        .bias = w->packed + s->bias,
                                        .least = s->least,
                                        .most = s->most,
                                        .count = (size_t)n,
                                        .step = (size_t)s->x.scale * s->in.c};
        for (int64_t ky = 0; ky < s->y.kernel; ky++) {
            const int64_t y = under(&s->y, oy, ky);
            for (int64_t kx = 0; kx < s->x.kernel && y >= 0; kx++) {
                const int64_t x = under(&s->x, ox, kx);
                if (x < 0)
                    continue;
                pixels[window.taps] =
                    w->from + ((image * s->in.h + (size_t)y) * s->in.w + (size_t)x) * s->in.c;
                weights[window.taps++] = w->packed + (size_t)(ky * s->x.kernel + kx) * s->out.c;
            }
        }
        w->hot->depthwise(&window, out + (size_t)ox * s->out.c, s->out.c);
    }
}

/* The taps of four output pixels: where they look, and which they are. */
struct look {
    const float *rows[MOST_TAPS * ROWS];
    uint32_t taps[MOST_TAPS], count;
    float *out[ROWS];
};

/* From pixel (oy, ox) on, `step` apart. */
static void look_at(const struct work *w, size_t image, int64_t oy, int64_t ox, int64_t step,
                    struct look *look)
{
    const struct state *s = w->s;
    look->count = 0;
    for (int r = 0; r < ROWS; r++) {
        const int64_t x = ox + r * step;
        look->out[r] =
            x < s->out.w
                ? w->to + ((image * s->out.h + (size_t)oy) * s->out.w + (size_t)x) * s->out.c
                : NULL;
    }
    for (int64_t ky = 0; ky < s->y.kernel; ky++) {
        const int64_t y = under(&s->y, oy, ky);
        const float *row = w->from + (image * s->in.h + (size_t)TDL_MAX(y, 0)) * s->in.w * s->in.c;
        for (int64_t kx = 0; kx < s->x.kernel && y >= 0; kx++) {
            const float **rows = look->rows + (size_t)look->count * ROWS;
            bool any = false;
            for (int r = 0; r < ROWS; r++) {
                const int64_t x = look->out[r] ? under(&s->x, ox + r * step, kx) : -1;
                rows[r] = x >= 0 ? row + (size_t)x * s->in.c : w->packed + s->zeros;
                any |= x >= 0;
            }
            if (any)
                look->taps[look->count++] = (uint32_t)(ky * s->x.kernel + kx);
        }
    }
}

static void multiply(const struct work *w, const struct look *look)
{
    const struct state *s = w->s;
    const uint32_t columns = w->hot->columns;
    const size_t step = (size_t)s->in_group * columns;
    const float *rows[MOST_TAPS * ROWS], *weights[MOST_TAPS];
    for (uint32_t group = 0; group < s->groups; group++) {
        const float *const *from = look->rows;
        if (group) {
            for (uint32_t i = 0; i < look->count * ROWS; i++)
                rows[i] = look->rows[i] + (size_t)group * s->in_group;
            from = rows;
        }
        for (uint32_t tile = 0; tile < s->tiles; tile++) {
            const size_t at = (size_t)group * s->tiles + tile;
            const uint32_t first = tile * columns;
            float *out[ROWS];
            for (uint32_t i = 0; i < look->count; i++)
                weights[i] = w->packed + (at * s->taps + look->taps[i]) * step;
            for (int r = 0; r < ROWS; r++)
                out[r] = look->out[r] ? look->out[r] + group * s->out_group + first : NULL;
            w->hot->multiply(&(struct tdl_cpu_tile){
                .rows = from,
                .weights = weights,
                .taps = look->count,
                .depth = s->in_group,
                .out = out,
                .columns = TDL_MIN(columns, s->out_group - first),
                .bias = w->packed + s->bias + at * columns,
                .alpha = 1,
                .least = s->least,
                .most = s->most,
            });
        }
    }
}

/* Pieces are rows. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    struct look look;
    for (size_t i = begin; i < end; i++) {
        const size_t image = i / s->out.h;
        const int64_t oy = (int64_t)(i % s->out.h), step = s->x.divisor;
        if (s->depthwise) {
            depthwise_row(w, image, oy);
            continue;
        }
        for (int64_t phase = 0; phase < step && phase < s->out.w; phase++)
            for (int64_t ox = phase; ox < s->out.w; ox += ROWS * step) {
                look_at(w, image, oy, ox, step, &look);
                multiply(w, &look);
            }
    }
}

static void run(const struct tdl_cpu_call *call)
{
    const struct state *s = call->state;
    const struct work w = {s, tdl_cpu_hot(), call->packed, call->inputs[0], call->output};
    const double macs = (double)s->out.w * s->out.c * s->taps * s->in_group;
    tdl_cpu_parallel(call->threads, compute, (void *)&w, (size_t)s->out.n * s->out.h,
                     tdl_cpu_grain(macs / 8));
}

static bool takes(const struct tdl_node *n)
{
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    return (uint64_t)f.h * f.w <= MOST_TAPS && n->input_count <= TDL_CONV_BIAS + 1;
}

const struct tdl_cpu_kernel tdl_cpu_conv = {
    .takes = takes,
    .prepare = prepare,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
};

const struct tdl_cpu_kernel tdl_cpu_conv_transpose = {
    .takes = takes,
    .prepare = prepare_transposed,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
};
