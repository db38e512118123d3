/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pools whose windows follow each other without a stride along rows, of NHWC images: first the
 * rows under a window become one, then its columns do. So a window of 9×9 is 18 taps instead
 * of 81, and pixels of one channel fill vectors as those of many do.
 */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

#include <math.h>

enum { MOST_TAPS = 64 /* along an axis */ };

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_window *window;
    struct tdl_dims in, out;
    size_t width; /* floats of a row with its padding */
    void (*taps)(const float *const *taps, size_t count, float *out, size_t n);
    float outside;
    bool counts_padding;
};

static size_t padded_width(const struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    const struct tdl_dims out = tdl_operand_dims(n->output);
    return (out.w + (size_t)(w->kernel[1] - 1) * w->dilation[1]) * out.c;
}

/* Taps of the window at `start` that are inside of `size` pixels; `first`: the first of them. */
static int64_t count_inside(const struct tdl_window *w, int axis, int64_t start, int64_t size,
                            int64_t *first)
{
    const int64_t d = w->dilation[axis], from = start < 0 ? TDL_DIV_UP(-start, d) : 0;
    const int64_t end = size > start ? TDL_DIV_UP(size - start, d) : 0;
    *first = from;
    return TDL_MAX(TDL_MIN(end, (int64_t)w->kernel[axis]) - from, 0);
}

/* The rows under the windows of an output row as one, with its padding. Returns how many. */
static int64_t join_rows(const struct work *w, size_t image, int64_t y, float *row)
{
    const int64_t start = y * w->window->stride[0] - w->window->pad[0];
    const size_t line = (size_t)w->in.w * w->in.c;
    const size_t left = TDL_MIN((size_t)w->window->pad[2] * w->in.c, w->width);
    const size_t middle = TDL_MIN(line, w->width - left);
    const float *rows[MOST_TAPS];
    int64_t first;
    const int64_t count = count_inside(w->window, 0, start, w->in.h, &first);
    for (int64_t k = 0; k < count; k++)
        rows[k] = (const float *)w->call->inputs[0] +
                  (image * w->in.h + (size_t)(start + (first + k) * w->window->dilation[0])) * line;
    for (size_t i = 0; i < left; i++)
        row[i] = w->outside;
    w->taps(rows, (size_t)count, row + left, middle);
    for (size_t i = left + middle; i < w->width; i++)
        row[i] = w->outside;
    return count;
}

/* Taps of an axis that count for a mean: those in the padding, too, or not. */
static double count_taps(const struct work *w, int axis, int64_t start)
{
    const int64_t in = axis ? w->in.w : w->in.h;
    int64_t first;
    if (!w->counts_padding)
        return (double)count_inside(w->window, axis, start, in, &first);
    const int64_t room = in + w->window->pad[2 * axis + 1] - start;
    return (double)TDL_MIN(TDL_DIV_UP(TDL_MAX(room, 0), (int64_t)w->window->dilation[axis]),
                           (int64_t)w->window->kernel[axis]);
}

/* Sums as means: windows that count the same taps lie side by side. */
static void divide(const struct work *w, int64_t y, float *out)
{
    const double high = count_taps(w, 0, y * w->window->stride[0] - w->window->pad[0]);
    for (size_t x = 0, end; x < w->out.w; x = end) {
        const double wide = count_taps(w, 1, (int64_t)x - w->window->pad[2]);
        for (end = x + 1;
             end < w->out.w && count_taps(w, 1, (int64_t)end - w->window->pad[2]) == wide;)
            end++;
        tdl_cpu_hot()->scale(out + x * w->out.c, (float)(1 / (high * wide)), (end - x) * w->out.c);
    }
}

/* Pieces are rows. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t kernel = w->window->kernel[1], step = (size_t)w->window->dilation[1] * w->in.c;
    const size_t line = (size_t)w->out.w * w->out.c;
    float *row = tdl_cpu_scratch_take(w->call->scratch);
    const float *columns[MOST_TAPS];
    for (size_t k = 0; k < kernel; k++)
        columns[k] = row + k * step;
    for (size_t i = begin; i < end; i++) {
        float *out = (float *)w->call->output + i * line;
        const int64_t y = (int64_t)(i % w->out.h);
        join_rows(w, i / w->out.h, y, row);
        w->taps(columns, kernel, out, line);
        if (!isinf(w->outside))
            divide(w, y, out);
    }
    tdl_cpu_scratch_give(w->call->scratch, row);
}

static void run(const struct tdl_cpu_call *call, bool means)
{
    const struct tdl_node *n = call->node;
    struct work w = {
        .call = call,
        .window = &n->window,
        .in = tdl_operand_dims(n->inputs[0]),
        .out = tdl_operand_dims(n->output),
        .width = padded_width(n),
        .taps = means ? tdl_cpu_hot()->sum_taps : tdl_cpu_hot()->max_taps,
        .outside = means ? 0 : -HUGE_VALF,
        .counts_padding = n->attr.pool.count_include_pad,
    };
    const double taps = n->window.kernel[0] + n->window.kernel[1];
    tdl_cpu_parallel(call->threads, compute, &w, (size_t)w.out.n * w.out.h,
                     tdl_cpu_grain((double)w.width * taps / 8));
}

static void run_max(const struct tdl_cpu_call *call)
{
    run(call, false);
}

static void run_average(const struct tdl_cpu_call *call)
{
    run(call, true);
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    out->scratch_bytes = padded_width(n) * sizeof(float);
    return TDL_OK;
}

/* A window of the whole picture has nothing to share with its neighbours. */
static bool takes(const struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    const struct tdl_dims out = tdl_operand_dims(n->output);
    return w->stride[1] == 1 && out.w > 1 && w->kernel[0] <= MOST_TAPS && w->kernel[1] <= MOST_TAPS;
}

const struct tdl_cpu_kernel tdl_cpu_max_rows = {.takes = takes, .prepare = prepare, .run = run_max};
const struct tdl_cpu_kernel tdl_cpu_average_rows = {
    .takes = takes, .prepare = prepare, .run = run_average};
