/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools over windows of NHWC images: rows of a window's pixels at a time. */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

#include <math.h>

enum {
    BLOCK = 64, /* channels */
    FLUSH = 256 /* pixels whose sum is a float: more of them are summed in doubles */
};

struct work {
    const float *x;
    float *out;
    const struct tdl_window *window;
    bool counts_padding;
    const struct tdl_cpu_hot *hot;
    enum tdl_cpu_pool kind;
    struct tdl_dims in, out_dims;
};

/* Taps that are inside of `in` pixels, from `start` on. */
struct taps {
    int64_t first, end;
};

static struct taps taps_inside(const struct work *w, int axis, int64_t start, int64_t in)
{
    const int64_t d = w->window->dilation[axis], window = w->window->kernel[axis];
    struct taps t = {start < 0 ? TDL_DIV_UP(-start, d) : 0,
                     in > start ? TDL_DIV_UP(in - start, d) : 0};
    t.end = TDL_MIN(t.end, window);
    return t;
}

/* Sums of a block of channels of one window, and the count of its pixels. */
static int64_t sum_window(const struct work *w, const float *image, const int64_t start[2],
                          size_t channels, double *total)
{
    const struct taps ys = taps_inside(w, 0, start[0], w->in.h);
    const struct taps xs = taps_inside(w, 1, start[1], w->in.w);
    const float begin = w->kind == TDL_CPU_POOL_MAX ? -HUGE_VALF : 0;
    const size_t stride = (size_t)w->window->dilation[1] * w->in.c;
    float sums[BLOCK];
    int64_t pending = 0;
    for (size_t c = 0; c < channels; c++) {
        total[c] = (double)begin;
        sums[c] = begin;
    }
    for (int64_t y = ys.first; y < ys.end; y++) {
        const int64_t row = start[0] + y * w->window->dilation[0];
        for (int64_t x = xs.first, n; x < xs.end; x += n) {
            n = TDL_MIN(xs.end - x, FLUSH - pending);
            const int64_t column = start[1] + x * w->window->dilation[1];
            w->hot->pool(w->kind, image + ((size_t)row * w->in.w + (size_t)column) * w->in.c,
                         (size_t)n, stride, sums, channels);
            pending += n;
            if (pending < FLUSH && (x + n < xs.end || y + 1 < ys.end))
                continue;
            for (size_t c = 0; c < channels; c++) {
                total[c] =
                    w->kind != TDL_CPU_POOL_MAX ? total[c] + (double)sums[c] : (double)sums[c];
                sums[c] = w->kind != TDL_CPU_POOL_MAX ? 0 : sums[c];
            }
            pending = 0;
        }
    }
    return (ys.end - ys.first) * (xs.end - xs.first);
}

/* The largest of a small window. False: it is not one. */
static bool max_small(const struct work *w, const float *image, const int64_t start[2],
                      size_t channels, float *out)
{
    enum { MOST_TAPS = 64 };
    const float *taps[MOST_TAPS];
    const struct taps ys = taps_inside(w, 0, start[0], w->in.h);
    const struct taps xs = taps_inside(w, 1, start[1], w->in.w);
    size_t count = 0;
    if (w->kind != TDL_CPU_POOL_MAX ||
        (uint64_t)w->window->kernel[0] * w->window->kernel[1] > MOST_TAPS)
        return false;
    for (int64_t y = ys.first; y < ys.end; y++)
        for (int64_t x = xs.first; x < xs.end; x++) {
            const int64_t row = start[0] + y * w->window->dilation[0];
            const int64_t column = start[1] + x * w->window->dilation[1];
            taps[count++] = image + ((size_t)row * w->in.w + (size_t)column) * w->in.c;
        }
    w->hot->max_taps(taps, count, out, channels);
    return true;
}

/* Means of small windows of few channels, one behind the other along a row of the image, as
 * long as all of them is inside. Returns how many, `most` at most. */
static size_t mean_small(const struct work *w, const float *image, const int64_t start[2],
                         size_t most, float *out)
{
    enum { FEW = 4, SMALL = 16 };
    const size_t c = w->in.c;
    const int64_t rows = w->window->kernel[0], columns = w->window->kernel[1],
                  step = w->window->stride[1];
    const int64_t room = (int64_t)w->in.w - columns - start[1]; /* to the last window's start */
    if (w->kind != TDL_CPU_POOL_SUM || c > FEW || rows * columns > SMALL ||
        w->window->dilation[0] != 1 || w->window->dilation[1] != 1 || start[0] < 0 ||
        start[1] < 0 || start[0] + rows > w->in.h || room < 0)
        return 0;
    const size_t count = TDL_MIN(most, (size_t)(room / step) + 1);
    w->hot->mean_few(image + ((size_t)start[0] * w->in.w + (size_t)start[1]) * c, w->in.w * c,
                     (size_t)rows, (size_t)columns, (size_t)step * c, count, out, c);
    return count;
}

/* Taps that count for the mean where padding does. */
static int64_t count_taps(const struct work *w, const int64_t start[2])
{
    int64_t count = 1;
    for (int i = 0; i < 2; i++) {
        const int64_t in = (int64_t)(i ? w->in.w : w->in.h) + w->window->pad[2 * i + 1] - start[i];
        count *= TDL_MIN(TDL_DIV_UP(TDL_MAX(in, 0), w->window->dilation[i]), w->window->kernel[i]);
    }
    return count;
}

/* Pieces are an output pixel's blocks of channels. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t blocks = TDL_DIV_UP(w->in.c, BLOCK);
    for (size_t i = begin, n; i < end; i += n) {
        const size_t pixel = i / blocks, first = i % blocks * BLOCK;
        const size_t channels = TDL_MIN(w->in.c - first, BLOCK);
        const size_t ox = pixel % w->out_dims.w, oy = pixel / w->out_dims.w % w->out_dims.h;
        const size_t image = pixel / w->out_dims.w / w->out_dims.h;
        const int64_t start[2] = {(int64_t)oy * w->window->stride[0] - w->window->pad[0],
                                  (int64_t)ox * w->window->stride[1] - w->window->pad[2]};
        float *out = w->out + pixel * w->in.c + first;
        double total[BLOCK];
        const float *from = w->x + image * w->in.h * w->in.w * w->in.c + first;
        n = mean_small(w, from, start, TDL_MIN(end - i, w->out_dims.w - ox), out);
        if (n)
            continue;
        n = 1;
        if (max_small(w, from, start, channels, out))
            continue;
        int64_t count = sum_window(w, from, start, channels, total);
        if (w->counts_padding)
            count = count_taps(w, start);
        for (size_t c = 0; c < channels; c++)
            out[c] = (float)(w->kind == TDL_CPU_POOL_SUM       ? total[c] / (double)count
                             : w->kind == TDL_CPU_POOL_SQUARES ? sqrt(total[c])
                                                               : total[c]);
    }
}

static void run(const struct tdl_cpu_call *call, enum tdl_cpu_pool kind)
{
    const struct tdl_node *n = call->node;
    struct work w = {
        .x = call->inputs[0],
        .out = call->output,
        .window = &n->window,
        .counts_padding = n->attr.pool.count_include_pad,
        .hot = tdl_cpu_hot(),
        .kind = kind,
        .in = tdl_operand_dims(n->inputs[0]),
        .out_dims = tdl_operand_dims(n->output),
    };
    const size_t blocks = TDL_DIV_UP(w.in.c, BLOCK);
    const double taps = (double)n->window.kernel[0] * n->window.kernel[1];
    tdl_cpu_parallel(call->threads, compute, &w,
                     (size_t)w.out_dims.n * w.out_dims.h * w.out_dims.w * blocks,
                     tdl_cpu_grain(20 + 2 * taps));
}

static void run_average(const struct tdl_cpu_call *call)
{
    run(call, TDL_CPU_POOL_SUM);
}

static void run_max(const struct tdl_cpu_call *call)
{
    run(call, TDL_CPU_POOL_MAX);
}

static void run_l2(const struct tdl_cpu_call *call)
{
    run(call, TDL_CPU_POOL_SQUARES);
}

const struct tdl_cpu_kernel tdl_cpu_average_pool = {.run = run_average};
const struct tdl_cpu_kernel tdl_cpu_max_pool = {.run = run_max};
const struct tdl_cpu_kernel tdl_cpu_l2_pool = {.run = run_l2};
