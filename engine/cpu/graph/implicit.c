/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions, and products with constant matrices, as products of matrices: rows are pixels,
 * columns output channels, and what is multiplied are the pixels under a window. Blocks
 * of rows and columns go to the threads one after the other, so that a core that has other
 * work takes fewer of them: XNNPACK's threads share the work out before, wait for the
 * slowest, and spin meanwhile on cores that other steps want. It takes what is worth two
 * threads, and what XNNPACK's tiles are too high for; all else is XNNPACK's.
 *
 * The depth goes in chunks. A chunk of a block's rows is brought together (im2col) unless it lies
 * so already, and stays in the cache while all columns are multiplied by it.
 */
#include "cpu/cores.h"
#include "hot.h"
#include "ops.h"

#include "ops/conv/conv.h"
#include "ops/matmul.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_CHANNELS = 16, /* a vector's, of the widest */
    LEAST_MACS = 200000, /* of which two threads have some microseconds each */
    ROWS = 48,           /* pixels of a block, about: a multiple of those at once */
    MANY = 8,            /* blocks, of which the last may have few */
    HEAVY = 1 << 20,     /* bytes of weights that do not stay there: they are read once, for */
    TALL = 256,          /* so many pixels */
    CHUNK = 768,         /* floats of a row, about */
    LINE = 16,           /* floats between rows, which else lie at the same sets */
    ALIASED = 256,       /* rows of multiples of it do */
    FEW_PIXELS = 16,     /* XNNPACK's tiles have 7 */
    LEAST_GROUP = 128,   /* columns, for which rows are brought together */
    PIECES = 4,          /* for each core */
    LEAST_PIECES = 8,
    MOST_PIECES = 64
};

/* Along an axis. */
struct axis {
    uint32_t in, out, kernel, stride, dilation, pad;
};

struct state {
    struct axis y, x;
    bool direct, copies;      /* rows lie so in the input; they are brought together */
    uint32_t in, out, block;  /* channels; pixels */
    uint32_t segment, taps;   /* floats that lie side by side under a window; its taps */
    uint32_t segments, chunk; /* of a window; floats of a chunk, which are whole segments */
    uint32_t columns, group;  /* output channels, and zeros up to a vector; of a piece */
    uint32_t depth, groups;   /* floats of a row; pieces of a block */
    size_t pixels, bias;      /* of all images; where it is in what is packed */
    float least, most;
};

/* ------------------------------------------------------------------- packing */

/* Weight of output channel `o` at `k` of the depth is at [o · o_step + k · k_step]. */
struct weights {
    const float *at, *bias;
    size_t o_step, k_step;
};

/* As hot->product() reads them: [chunk][columns of a tile][depth of the chunk][two vectors of
 * columns]; the last tile may have one vector. */
static void pack(const struct state *s, const struct weights *from, float *w)
{
    const uint32_t pair = tdl_cpu_hot()->columns, most = s->chunk;
    for (uint32_t o = 0; o < s->out; o++) {
        const uint32_t first = o / pair * pair, width = TDL_MIN(pair, s->columns - first);
        for (uint32_t k = 0; k < s->depth; k++) {
            const uint32_t start = k / most * most, depth = TDL_MIN(most, s->depth - start);
            w[(size_t)start * s->columns + (size_t)first * depth + (size_t)(k - start) * width + o -
              first] = from->at[o * from->o_step + k * from->k_step];
        }
        w[s->bias + o] = from->bias ? from->bias[o] : 0;
    }
}

/* Columns are shared out where there are few rows. No sum depends on it. */
static void choose_blocks(struct state *s)
{
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    const uint32_t pairs = TDL_DIV_UP(s->columns, hot->columns);
    const bool heavy = s->pixels <= TALL && s->bias * sizeof(float) >= HEAVY;
    const size_t blocks = heavy ? 1 : TDL_MAX((s->pixels + ROWS / 2) / ROWS, (size_t)1);
    s->block = blocks > MANY ? ROWS : (uint32_t)TDL_DIV_UP(s->pixels, blocks);
    const size_t pieces = TDL_MIN(TDL_MAX(PIECES * tdl_cpu_cores(), LEAST_PIECES), MOST_PIECES);
    const uint32_t wanted = (uint32_t)TDL_DIV_UP(pieces, TDL_MIN(blocks, pieces));
    s->group = TDL_DIV_UP(pairs, TDL_MIN(wanted, pairs)) * hot->columns;
    s->copies = !s->direct || (s->in % ALIASED == 0 && s->out >= LEAST_GROUP);
    if (s->copies) /* each piece brings its rows together anew */
        s->group = TDL_MIN(TDL_MAX(s->group, LEAST_GROUP), pairs * hot->columns);
    s->groups = TDL_DIV_UP(s->columns, s->group);
    s->chunk = s->direct ? TDL_MIN(CHUNK, s->depth)
                         : TDL_MIN(TDL_MAX(CHUNK / s->segment, 1u), s->segments) * s->segment;
}

static enum tdl_result finish(const struct state *base, const struct weights *from,
                              struct tdl_cpu_prepared *out)
{
    struct state *s = out->state = malloc(sizeof(*s));
    out->packed_bytes = (base->bias + base->columns) * sizeof(float);
    out->packed = calloc(1, out->packed_bytes);
    /* Results of a block, and what is brought together. */
    out->scratch_bytes =
        sizeof(float) * base->block * (base->group + (base->copies ? base->chunk + LINE : 0));
    if (!s || !out->packed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = *base;
    pack(s, from, out->packed);
    return TDL_OK;
}

static struct axis axis_of(const struct tdl_window *w, int i, uint32_t in)
{
    return (struct axis){.in = in,
                         .out = w->out[i],
                         .kernel = w->kernel[i],
                         .stride = w->stride[i],
                         .dilation = w->dilation[i],
                         .pad = w->pad[2 * i]};
}

static void describe(const struct tdl_node *n, struct state *s)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims out = tdl_operand_dims(n->output);
    s->y = axis_of(&n->window, 0, in.h);
    s->x = axis_of(&n->window, 1, in.w);
    s->in = in.c;
    s->out = out.c;
    s->pixels = (size_t)out.n * out.h * out.w;
    s->direct = s->y.kernel == 1 && s->x.kernel == 1 && in.h == out.h && in.w == out.w;
    s->taps = s->x.dilation == 1 && s->x.kernel * s->in <= CHUNK ? s->x.kernel : 1;
    s->segment = s->taps * s->in;
    s->segments = s->y.kernel * (s->x.kernel / s->taps);
    s->depth = s->segments * s->segment;
    s->columns = TDL_ALIGN(s->out, tdl_cpu_hot()->columns / 2);
    s->bias = (size_t)s->depth * s->columns;
}

static enum tdl_result prepare_conv(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const enum tdl_activation a = n->attr.conv.p.activation;
    struct state s = {.least = a == TDL_ACTIVATION_NONE ? -INFINITY : 0,
                      .most = a == TDL_ACTIVATION_RELU6 ? 6 : INFINITY};
    describe(n, &s);
    choose_blocks(&s);
    return finish(&s,
                  &(struct weights){
                      n->inputs[TDL_CONV_FILTER]->data,
                      n->inputs[TDL_CONV_BIAS] ? n->inputs[TDL_CONV_BIAS]->data : NULL, s.depth, 1},
                  out);
}

/* ------------------------------------------------------------------- running */

struct work {
    const struct tdl_cpu_call *call;
    const struct state *s;
    const struct tdl_cpu_hot *hot;
};

/* Of a handful of floats a call of memcpy() takes longer. */
static inline void copy_floats(float *to, const float *from, size_t n)
{
    if (n >= 32) {
        memcpy(to, from, n * sizeof(*to));
        return;
    }
    for (; n >= 4; n -= 4, to += 4, from += 4)
        memcpy(to, from, 4 * sizeof(*to));
    for (; n; n--)
        *to++ = *from++;
}

/* `taps` pixels side by side, the first at (y, x), with zeros outside of the picture. False: all
 * of them are. */
static inline bool read_taps(const struct state *s, const float *image, int64_t y, int64_t x,
                             float *to)
{
    const int64_t taps = s->taps;
    const bool inside = y >= 0 && y < s->y.in;
    const int64_t first = inside ? TDL_MIN(TDL_MAX(-x, 0), taps) : taps;
    const int64_t end = TDL_MAX(TDL_MIN((int64_t)s->x.in - x, taps), first);
    const size_t left = (size_t)first * s->in, count = (size_t)(end - first) * s->in;
    const size_t right = s->segment - left - count;
    if (left)
        memset(to, 0, left * sizeof(*to));
    if (count)
        copy_floats(to + left, image + ((size_t)y * s->x.in + (size_t)(x + first)) * s->in, count);
    if (right)
        memset(to + left + count, 0, right * sizeof(*to));
    return count > 0;
}

/* Segments `first` to `end` of rows from a pixel on, which come to lie `step` floats apart.
 * False: all are zeros. */
static bool gather(const struct work *w, size_t pixel, size_t rows, uint32_t first, uint32_t end,
                   float *to, size_t step)
{
    const struct state *s = w->s;
    const size_t size = (size_t)s->y.in * s->x.in * s->in, line = pixel / s->x.out;
    const float *image = (const float *)w->call->inputs[0] + line / s->y.out * size;
    const uint32_t of_row = s->x.kernel / s->taps;
    int64_t oy = (int64_t)(line % s->y.out), ox = (int64_t)(pixel % s->x.out);
    bool any = false;
    for (size_t i = 0; i < rows; i++, to += step) {
        const int64_t y = oy * s->y.stride - s->y.pad, x = ox * s->x.stride - s->x.pad;
        uint32_t ky = first / of_row, kx = first % of_row;
        float *segment = to;
        for (uint32_t k = first; k < end; k++, segment += s->segment) {
            any |= read_taps(s, image, y + (int64_t)ky * s->y.dilation,
                             x + (int64_t)kx * s->x.dilation, segment);
            if (++kx == of_row)
                kx = 0, ky++;
        }
        if (++ox == s->x.out) {
            ox = 0;
            if (++oy == s->y.out)
                oy = 0, image += size;
        }
    }
    return any;
}

/* Floats `start` to `end` of rows from a pixel on. */
static bool bring_together(const struct work *w, size_t pixel, size_t rows, size_t start,
                           size_t end, float *to)
{
    const struct state *s = w->s;
    const size_t step = s->chunk + LINE;
    if (!s->direct)
        return gather(w, pixel, rows, (uint32_t)start / s->segment, (uint32_t)end / s->segment, to,
                      step);
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * step, (const float *)w->call->inputs[0] + (pixel + i) * s->in + start,
               (end - start) * sizeof(*to));
    return true;
}

/* A block of rows and a group of columns. What has nothing but zeros, as most taps of a window
 * that is wider than the picture, adds nothing. */
static void multiply(const struct work *w, size_t pixel, size_t rows, size_t column, size_t columns,
                     float *sums, float *rest)
{
    const struct state *s = w->s;
    struct tdl_cpu_product p = {.sums = sums,
                                .rows = rows,
                                .columns = columns,
                                .out_step = s->out,
                                .wanted = TDL_MIN(columns, s->out - column),
                                .bias = w->call->packed + s->bias + column,
                                .least = s->least,
                                .most = s->most};
    for (size_t start = 0, end; start < s->depth; start = end) {
        const bool last = s->depth - start <= s->chunk;
        end = start + TDL_MIN(s->chunk, s->depth - start);
        const bool any = !s->copies || bring_together(w, pixel, rows, start, end, rest);
        if (!any && !last)
            continue;
        p.a = s->copies ? rest : (const float *)w->call->inputs[0] + pixel * s->in + start;
        p.a_step = s->copies ? s->chunk + LINE : s->in;
        p.b = w->call->packed + start * s->columns + column * (end - start);
        p.depth = any ? end - start : 0;
        if (last)
            p.out = (float *)w->call->output + pixel * s->out + column;
        w->hot->product(&p);
        p.add = true;
    }
}

/* Pieces are blocks' groups. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    float *sums = tdl_cpu_scratch_take(w->call->scratch);
    for (size_t i = begin; i < end; i++) {
        const size_t pixel = i / s->groups * s->block, column = i % s->groups * s->group;
        multiply(w, pixel, TDL_MIN(s->block, s->pixels - pixel), column,
                 TDL_MIN(s->group, s->columns - column), sums, sums + (size_t)s->block * s->group);
    }
    tdl_cpu_scratch_give(w->call->scratch, sums);
}

static void run(const struct tdl_cpu_call *call)
{
    const struct state *s = call->state;
    struct work w = {call, s, tdl_cpu_hot()};
    tdl_cpu_parallel(call->threads, compute, &w, TDL_DIV_UP(s->pixels, s->block) * s->groups,
                     tdl_cpu_grain((double)s->block * s->depth * s->group / 30));
}

/* ------------------------------------------------------------- what it takes */

static bool is_worth_it(const struct state *s)
{
    const uint64_t weights = (uint64_t)s->depth * s->out;
    return s->depth >= LEAST_CHANNELS && s->out >= LEAST_CHANNELS &&
           weights * s->pixels >= LEAST_MACS;
}

static bool takes_conv(const struct tdl_node *n, bool direct)
{
    struct state s = {0};
    describe(n, &s);
    return n->attr.conv.pre == TDL_PRE_NONE && n->input_count <= TDL_CONV_BIAS + 1 &&
           n->attr.conv.p.groups == 1 && s.direct == direct && is_worth_it(&s);
}

static bool takes_pointwise(const struct tdl_node *n)
{
    return takes_conv(n, true);
}

static bool takes_window(const struct tdl_node *n)
{
    return takes_conv(n, false);
}

/* Taps of an axis that see the picture from any pixel: nothing is computed of the others. */
static double share_inside(const struct axis *a)
{
    int64_t inside = 0;
    for (int64_t i = 0; i < a->kernel; i++) {
        const int64_t first = i * a->dilation - a->pad;
        const int64_t last = first + (int64_t)(a->out - 1) * a->stride;
        inside += last >= 0 && first < a->in;
    }
    return (double)inside / a->kernel;
}

/* What XNNPACK is slower at with one thread, too: its tiles have more rows than these have
 * pixels, or most taps see nothing. */
static bool takes_alone(const struct tdl_node *n)
{
    struct state s = {0};
    describe(n, &s);
    return (takes_conv(n, true) || takes_conv(n, false)) &&
           (s.pixels <= FEW_PIXELS || share_inside(&s.y) * share_inside(&s.x) < 0.75);
}

const struct tdl_cpu_kernel tdl_cpu_few_taps = {
    .name = "implicit",
    .takes = takes_alone,
    .prepare = prepare_conv,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .before_xnn = true,
};

const struct tdl_cpu_kernel tdl_cpu_pointwise = {
    .name = "pointwise",
    .takes = takes_pointwise,
    .prepare = prepare_conv,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .before_xnn = true,
    .by_threads = true,
};

const struct tdl_cpu_kernel tdl_cpu_implicit = {
    .name = "implicit",
    .takes = takes_window,
    .prepare = prepare_conv,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .before_xnn = true,
    .by_threads = true,
};

/* --------------------------------------------------- products with constants */

static const struct tdl_operand *addend_of(const struct tdl_node *n)
{
    return n->input_count > TDL_MATMUL_C ? n->inputs[TDL_MATMUL_C] : NULL;
}

static void describe_product(const struct tdl_node *n, struct state *s)
{
    const struct tdl_tensor_params *a = &n->inputs[TDL_MATMUL_A]->desc, *out = &n->output->desc;
    s->direct = true;
    s->in = s->segment = s->depth = a->shape[a->rank - 1];
    s->out = out->shape[out->rank - 1];
    s->segments = s->taps = 1;
    s->pixels = tdl_operand_count(n->output) / s->out;
    s->columns = TDL_ALIGN(s->out, tdl_cpu_hot()->columns / 2);
    s->bias = (size_t)s->depth * s->columns;
}

static enum tdl_result prepare_product(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const struct tdl_operand *c = addend_of(n);
    const bool transposed = n->attr.matmul.b_transpose;
    struct state s = {.least = -INFINITY, .most = INFINITY};
    describe_product(n, &s);
    choose_blocks(&s);
    return finish(&s,
                  &(struct weights){n->inputs[TDL_MATMUL_B]->data, c ? c->data : NULL,
                                    transposed ? s.depth : 1, transposed ? 1 : s.out},
                  out);
}

/* a · constant + constant, of any count of rows. */
static bool takes_product(const struct tdl_node *n)
{
    const struct tdl_matmul_attr *p = &n->attr.matmul;
    const struct tdl_operand *b = n->inputs[TDL_MATMUL_B], *c = addend_of(n);
    struct state s = {0};
    if (p->a_transpose || p->alpha != 1 || p->activation != TDL_ACTIVATION_NONE ||
        b->desc.rank != 2 || !tdl_is_known(b))
        return false;
    describe_product(n, &s);
    return is_worth_it(&s) &&
           (!c || (p->beta == 1 && tdl_is_known(c) && tdl_operand_count(c) == s.out &&
                   c->desc.rank > 0 && c->desc.shape[c->desc.rank - 1] == s.out));
}

const struct tdl_cpu_kernel tdl_cpu_product = {
    .name = "product",
    .takes = takes_product,
    .prepare = prepare_product,
    .run = run,
    .packs = 1u << TDL_MATMUL_B | 1u << TDL_MATMUL_C,
    .before_xnn = true,
    .by_threads = true,
};

/* -------------------------------------------------------------------- im2col */

/* Pieces are pixels. */
static void bring(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    gather(w, begin, end - begin, 0, w->s->segments, (float *)w->call->output + begin * w->s->depth,
           w->s->depth);
}

static void run_im2col(const struct tdl_cpu_call *call)
{
    struct state s = {0};
    describe(call->node, &s);
    struct work w = {.call = call, .s = &s};
    tdl_cpu_parallel(call->threads, bring, &w, s.pixels,
                     tdl_cpu_grain(20.0 * s.segments + s.depth / 8.0));
}

const struct tdl_cpu_kernel tdl_cpu_im2col = {.run = run_im2col};
