/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The largest byte of windows over NHWC images, each of which has a pixel in it: of columns
 * first, and then of these. */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

#include <string.h>

struct work {
    const struct tdl_cpu_call *call;
    struct tdl_dims in, out;
    size_t row; /* bytes of a row with what windows reach beyond its ends */
    bool has_sign;
};

/* Bytes that the windows of a row of the output reach over. */
static size_t row_bytes(const struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    return ((size_t)(w->out[1] - 1) * w->stride[1] + w->kernel[1]) * tdl_operand_dims(n->output).c;
}

/* The largest of each column under the windows of a row, and the least number at both ends. */
static void max_columns(const struct work *w, size_t image, size_t oy, uint8_t *to)
{
    enum { TAPS = 64 };
    const struct tdl_window *window = &w->call->node->window;
    const size_t row = (size_t)w->in.w * w->in.c, before = (size_t)window->pad[2] * w->in.c;
    const size_t n = TDL_MIN(row, w->row - before), start = oy * window->stride[0];
    const size_t end = TDL_MIN(start + window->kernel[0] - window->pad[0], w->in.h);
    const uint8_t *taps[TAPS];
    size_t count = 0;
    memset(to, w->has_sign ? 0x80 : 0, w->row);
    for (size_t y = start > window->pad[0] ? start - window->pad[0] : 0; y < end; y++) {
        if (count == TAPS) {
            tdl_cpu_hot()->max_bytes(taps, count, w->has_sign, to + before, n);
            taps[0] = to + before;
            count = 1;
        }
        taps[count++] = (const uint8_t *)w->call->inputs[0] + (image * w->in.h + y) * row;
    }
    tdl_cpu_hot()->max_bytes(taps, count, w->has_sign, to + before, n);
}

/* Of columns that are side by side in windows: all windows at once where they follow one
 * another. */
static void max_windows(const struct work *w, const uint8_t *columns, uint8_t *out)
{
    enum { TAPS = 64 };
    const struct tdl_window *window = &w->call->node->window;
    const bool dense = window->stride[1] == 1;
    const size_t c = w->in.c, n = dense ? w->out.w * c : c;
    const uint8_t *taps[TAPS];
    for (size_t i = 0; i < (dense ? 1 : w->out.w); i++) {
        const uint8_t *first = columns + i * window->stride[1] * c;
        for (size_t x = 0, count = 0; x < window->kernel[1]; x++) {
            taps[count++] = first + x * c;
            if (count < TAPS && x + 1 < window->kernel[1])
                continue;
            tdl_cpu_hot()->max_bytes(taps, count, w->has_sign, out + i * c, n);
            taps[0] = out + i * c;
            count = 1;
        }
    }
}

static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    uint8_t *columns = tdl_cpu_scratch_take(w->call->scratch);
    for (size_t i = begin; i < end; i++) {
        max_columns(w, i / w->out.h, i % w->out.h, columns);
        max_windows(w, columns, (uint8_t *)w->call->output + i * w->out.w * w->out.c);
    }
    tdl_cpu_scratch_give(w->call->scratch, columns);
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    out->scratch_bytes = row_bytes(n);
    return TDL_OK;
}

static bool takes(const struct tdl_node *n)
{
    return n->inputs[0]->desc.dtype != TDL_FLOAT32;
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    struct work w = {.call = call,
                     .in = tdl_operand_dims(n->inputs[0]),
                     .out = tdl_operand_dims(n->output),
                     .row = row_bytes(n),
                     .has_sign = n->output->desc.dtype == TDL_INT8};
    const double taps = (double)n->window.kernel[0] + n->window.kernel[1];
    tdl_cpu_parallel(call->threads, compute, &w, (size_t)w.out.n * w.out.h,
                     tdl_cpu_grain(20 + taps * (double)w.row / 16));
}

const struct tdl_cpu_kernel tdl_cpu_max_pool_bytes = {
    .takes = takes, .prepare = prepare, .run = run};
