/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depthwise convolutions with windows of many taps. A tile of output
 * pixels, of one vector of channels, is made from a panel: its input pixels side by side,
 * and zeros where it goes beyond the picture. So no tap needs a question, whatever strides,
 * dilations and borders are, and the rows of a panel stay in the cache for all their taps.
 */
#include "hot.h"
#include "ops.h"

#include "ops/conv/conv.h"

#include <math.h>
#include <stdlib.h>

enum {
    TILE_HIGH = 8,          /* output pixels */
    TILE_WIDE = 64,         /* about: all columns of smaller pictures */
    MOST_PANEL = 512 << 10, /* bytes, which stay in the cache of a core */
    MOST_LANES = 16,        /* floats of a vector, of the widest */
    PIXELS = TDL_CPU_PANEL_PIXELS
};

/* Along an axis. */
struct axis {
    uint32_t in, out, kernel, stride, dilation, pad, tile;
};

struct state {
    struct axis y, x;
    uint32_t images, channels, vectors, lanes;
    uint32_t tiles_y, tiles_x;
    float least, most;
    size_t bias; /* in what is packed: [vector][tap][lanes], then biases and zeros */
};

/* Input pixels that `tile` output pixels and so many taps need. */
static size_t span(const struct axis *a, uint32_t tile, uint32_t taps)
{
    return (size_t)(tile - 1) * a->stride + (size_t)(taps - 1) * a->dilation + 1;
}

static struct axis axis_of(const struct tdl_window *w, int i, uint32_t in, uint32_t tile)
{
    return (struct axis){.in = in,
                         .out = w->out[i],
                         .kernel = w->kernel[i],
                         .stride = w->stride[i],
                         .dilation = w->dilation[i],
                         .pad = w->pad[2 * i],
                         .tile = TDL_MIN(w->out[i], tile)};
}

static void describe(const struct tdl_node *n, struct state *s)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    s->y = axis_of(&n->window, 0, in.h, TILE_HIGH);
    s->x = axis_of(&n->window, 1, in.w, TILE_WIDE);
    s->images = in.n;
    s->channels = in.c;
}

static void pack(const struct tdl_node *n, const struct state *s, float *w)
{
    const float *filter = n->inputs[TDL_CONV_FILTER]->data;
    const float *bias = n->inputs[TDL_CONV_BIAS] ? n->inputs[TDL_CONV_BIAS]->data : NULL;
    const uint32_t taps = s->y.kernel * s->x.kernel;
    for (uint32_t c = 0; c < s->channels; c++) {
        float *to = w + (size_t)(c / s->lanes) * taps * s->lanes + c % s->lanes;
        for (uint32_t t = 0; t < taps; t++)
            to[(size_t)t * s->lanes] = filter[(size_t)c * taps + t];
        w[s->bias + c] = bias ? bias[c] : 0;
    }
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const enum tdl_activation a = n->attr.conv.p.activation;
    struct state base = {.lanes = tdl_cpu_hot()->columns / 2,
                         .least = a == TDL_ACTIVATION_NONE ? -INFINITY : 0,
                         .most = a == TDL_ACTIVATION_RELU6 ? 6 : INFINITY};
    describe(n, &base);
    base.vectors = TDL_DIV_UP(base.channels, base.lanes);
    base.tiles_y = TDL_DIV_UP(base.y.out, base.y.tile);
    base.tiles_x = TDL_DIV_UP(base.x.out, base.x.tile);
    base.bias = (size_t)base.vectors * base.lanes * base.y.kernel * base.x.kernel;
    struct state *s = out->state = malloc(sizeof(*s));
    out->packed_bytes = (base.bias + (size_t)base.vectors * base.lanes) * sizeof(float);
    out->packed = calloc(1, out->packed_bytes);
    out->scratch_bytes = span(&base.y, base.y.tile, base.y.kernel) *
                         span(&base.x, base.x.tile, base.x.kernel) * base.lanes * sizeof(float);
    if (!s || !out->packed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = base;
    pack(n, s, out->packed);
    return TDL_OK;
}

/* ------------------------------------------------------------------- running */

struct work {
    const struct tdl_cpu_call *call;
    const struct state *s;
    const struct tdl_cpu_hot *hot;
};

/* A tile along an axis: output pixels, and the taps of which any lies in the picture. */
struct part {
    uint32_t first, count, tap, taps;
    int64_t from; /* the input under the first of these taps */
};

static struct part part_of(const struct axis *a, size_t tile)
{
    struct part p = {.first = (uint32_t)tile * a->tile};
    p.count = TDL_MIN(a->out - p.first, a->tile);
    const int64_t start = (int64_t)p.first * a->stride - a->pad;
    const int64_t last = start + (int64_t)(p.count - 1) * a->stride;
    const int64_t d = a->dilation, left = (int64_t)a->in - 1 - start;
    const int64_t tap = last < 0 ? TDL_DIV_UP(-last, d) : 0;
    const int64_t end = left < 0 ? 0 : TDL_MIN(left / d + 1, (int64_t)a->kernel);
    p.tap = (uint32_t)TDL_MIN(tap, (int64_t)a->kernel);
    p.taps = (uint32_t)TDL_MAX(end - tap, 0);
    p.from = start + (int64_t)p.tap * d;
    return p;
}

/* Where a panel's row, or column, of so many lies in the picture: the first inside, and how
 * many are. */
static size_t count_inside(int64_t from, size_t count, uint32_t in, size_t *out_first)
{
    const int64_t first = TDL_MIN(TDL_MAX(-from, 0), (int64_t)count);
    const int64_t end = TDL_MIN((int64_t)in - from, (int64_t)count);
    *out_first = (size_t)first;
    return (size_t)TDL_MAX(end - first, 0);
}

struct tile {
    struct part y, x;
    size_t image, channel, channels; /* the first of the vector, and how many */
    size_t high, wide;               /* of the panel */
};

static void fill(const struct work *w, const struct tile *t, float *panel)
{
    const struct state *s = w->s;
    const size_t row = t->wide * s->lanes;
    size_t first, inside = count_inside(t->x.from, t->wide, s->x.in, &first);
    for (size_t y = 0; y < t->high; y++, panel += row) {
        const int64_t at = t->y.from + (int64_t)y;
        const bool is_inside = at >= 0 && at < s->y.in;
        const size_t left = is_inside ? first : t->wide, count = is_inside ? inside : 0;
        memset(panel, 0, left * s->lanes * sizeof(*panel));
        if (!count)
            continue;
        const size_t pixel =
            (t->image * s->y.in + (size_t)at) * s->x.in + (size_t)(t->x.from + (int64_t)first);
        w->hot->panel_fill((const float *)w->call->inputs[TDL_CONV_INPUT] + pixel * s->channels +
                               t->channel,
                           s->channels, count, t->channels, panel + left * s->lanes);
        memset(panel + (left + count) * s->lanes, 0,
               (t->wide - left - count) * s->lanes * sizeof(*panel));
    }
}

/* Pixels of the tile go in its order, whatever row they are in; behind the last come pixels
 * that are computed and not written. */
static void sum_up(const struct work *w, const struct tile *t, const float *panel)
{
    const struct state *s = w->s;
    const size_t pixels = (size_t)t->y.count * t->x.count, taps = (size_t)s->y.kernel * s->x.kernel;
    const size_t tap = t->channel * taps + ((size_t)t->y.tap * s->x.kernel + t->x.tap) * s->lanes;
    struct tdl_cpu_panel p = {.weights = w->call->packed + tap,
                              .weights_row = (size_t)s->x.kernel * s->lanes,
                              .high = t->y.taps,
                              .wide = t->x.taps,
                              .row = (size_t)s->y.dilation * t->wide * s->lanes,
                              .column = (size_t)s->x.dilation * s->lanes,
                              .bias = w->call->packed + s->bias + t->channel,
                              .least = s->least,
                              .most = s->most,
                              .channels = t->channels};
    for (size_t i = 0; i < pixels; i += PIXELS) {
        p.count = TDL_MIN(pixels - i, (size_t)PIXELS);
        for (size_t k = 0; k < PIXELS; k++) {
            const size_t at = TDL_MIN(i + k, pixels - 1), y = at / t->x.count, x = at % t->x.count;
            p.pixels[k] = panel + (y * s->y.stride * t->wide + x * s->x.stride) * s->lanes;
            p.out[k] =
                (float *)w->call->output +
                ((t->image * s->y.out + t->y.first + y) * s->x.out + t->x.first + x) * s->channels +
                t->channel;
        }
        w->hot->panel_depthwise(&p);
    }
}

/* Pieces are tiles of a vector; those of one tile lie side by side in memory. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    float *panel = tdl_cpu_scratch_take(w->call->scratch);
    for (size_t i = begin; i < end; i++) {
        const size_t vector = i % s->vectors, at = i / s->vectors;
        struct tile t = {.y = part_of(&s->y, at / s->tiles_x % s->tiles_y),
                         .x = part_of(&s->x, at % s->tiles_x),
                         .image = at / s->tiles_x / s->tiles_y,
                         .channel = vector * s->lanes};
        t.channels = TDL_MIN(s->channels - t.channel, (size_t)s->lanes);
        t.high = span(&s->y, t.y.count, TDL_MAX(t.y.taps, 1u));
        t.wide = span(&s->x, t.x.count, TDL_MAX(t.x.taps, 1u));
        fill(w, &t, panel);
        sum_up(w, &t, panel);
    }
    tdl_cpu_scratch_give(w->call->scratch, panel);
}

static void run(const struct tdl_cpu_call *call)
{
    const struct state *s = call->state;
    struct work w = {call, s, tdl_cpu_hot()};
    const double macs = (double)s->y.tile * s->x.tile * s->y.kernel * s->x.kernel * s->lanes;
    tdl_cpu_parallel(call->threads, compute, &w,
                     (size_t)s->images * s->tiles_y * s->tiles_x * s->vectors,
                     tdl_cpu_grain(macs / 30));
}

static bool fits(const struct state *s)
{
    enum { MOST_PIXELS = MOST_PANEL / MOST_LANES / sizeof(float) };
    const size_t high = span(&s->y, s->y.tile, s->y.kernel);
    const size_t wide = span(&s->x, s->x.tile, s->x.kernel);
    return high <= MOST_PIXELS && wide <= MOST_PIXELS && high * wide <= MOST_PIXELS;
}

/* XNNPACK has loops for 9 taps and for 25, which are as fast for the first, and for windows that
 * share little with their neighbours: measured. */
static bool is_worth_it(const struct state *s)
{
    const uint64_t taps = (uint64_t)s->y.kernel * s->x.kernel;
    return taps > 25 || (taps > 9 && s->y.stride == 1 && s->x.stride == 1);
}

static bool takes(const struct tdl_node *n)
{
    struct state s = {0};
    describe(n, &s);
    return tdl_cpu_is_depthwise(n) && is_worth_it(&s) && fits(&s);
}

const struct tdl_cpu_kernel tdl_cpu_depthwise = {
    .name = "depthwise",
    .takes = takes,
    .prepare = prepare,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .before_xnn = true,
};
