/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depthwise convolutions with windows of three or five columns. Four output pixels side by
 * side are made at once, all channels of them: what lies under two of their windows is loaded
 * once, and so are the weights. Pixels outside of the picture are pointers to zeros.
 */
#include "hot.h"
#include "ops.h"

#include "ops/conv/conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOUR = TDL_CPU_FOUR, MOST_ROWS = 7 };

struct state {
    struct tdl_dims in, out;
    uint32_t rows, columns; /* of the window; under four of them */
    float least, most;
    size_t bias, zeros; /* in what is packed: [tap][channel], then biases and zeros */
};

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const enum tdl_activation a = n->attr.conv.p.activation;
    const struct tdl_window *w = &n->window;
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    const float *filter = n->inputs[TDL_CONV_FILTER]->data;
    struct state base = {.in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]),
                         .out = tdl_operand_dims(n->output),
                         .rows = w->kernel[0],
                         .columns = (FOUR - 1) * w->stride[1] + w->kernel[1],
                         .least = a == TDL_ACTIVATION_NONE ? -INFINITY : 0,
                         .most = a == TDL_ACTIVATION_RELU6 ? 6 : INFINITY};
    const size_t channels = base.in.c, taps = (size_t)w->kernel[0] * w->kernel[1];
    base.bias = taps * channels;
    base.zeros = base.bias + channels;
    struct state *s = out->state = malloc(sizeof(*s));
    out->packed_bytes = (base.zeros + channels) * sizeof(float);
    out->packed = calloc(1, out->packed_bytes);
    if (!s || !out->packed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = base;
    for (size_t i = 0; i < taps * channels; i++)
        out->packed[i] = filter[i % channels * taps + i / channels];
    if (bias)
        memcpy(out->packed + base.bias, bias->data, channels * sizeof(float));
    return TDL_OK;
}

/* ------------------------------------------------------------------- running */

struct work {
    const struct tdl_cpu_call *call;
    const struct state *s;
    const struct tdl_cpu_hot *hot;
};

/* The rows of the window of output row `y` that lie in the picture: the first, and how many. */
static uint32_t find_rows(const struct work *w, int64_t y, uint32_t *first)
{
    const int64_t high = w->s->in.h, rows = w->s->rows;
    *first = (uint32_t)TDL_MIN(TDL_MAX(-y, 0), rows);
    return (uint32_t)TDL_MAX(TDL_MIN(high - y, rows) - *first, 0);
}

/* The pixels under four windows, from (y, x) on. */
static void look_at(const struct work *w, const float *image, int64_t y, int64_t x, uint32_t rows,
                    const float **pixels)
{
    const struct state *s = w->s;
    for (uint32_t r = 0; r < rows; r++) {
        const float *line = image + (size_t)(y + r) * s->in.w * s->in.c;
        for (int64_t c = 0; c < s->columns; c++)
            *pixels++ = x + c >= 0 && x + c < s->in.w ? line + (size_t)(x + c) * s->in.c
                                                      : w->call->packed + s->zeros;
    }
}

/* Pieces are rows. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    const struct tdl_window *window = &w->call->node->window;
    const size_t channels = s->in.c;
    const float *pixels[MOST_ROWS * TDL_CPU_MOST_COLUMNS];
    for (size_t i = begin; i < end; i++) {
        const float *image = (const float *)w->call->inputs[TDL_CONV_INPUT] +
                             i / s->out.h * s->in.h * s->in.w * channels;
        const int64_t top = (int64_t)(i % s->out.h) * window->stride[0] - window->pad[0];
        uint32_t first;
        struct tdl_cpu_four four = {.kernel = window->kernel[1],
                                    .stride = window->stride[1],
                                    .rows = find_rows(w, top, &first),
                                    .pixels = pixels,
                                    .bias = w->call->packed + s->bias,
                                    .least = s->least,
                                    .most = s->most,
                                    .channels = channels};
        four.weights = w->call->packed + (size_t)first * window->kernel[1] * channels;
        for (size_t x = 0; x < s->out.w; x += FOUR) {
            four.count = TDL_MIN(s->out.w - x, (size_t)FOUR);
            four.out = (float *)w->call->output + (i * s->out.w + x) * channels;
            look_at(w, image, top + first, (int64_t)x * window->stride[1] - window->pad[2],
                    four.rows, pixels);
            w->hot->four_depthwise(&four);
        }
    }
}

static void run(const struct tdl_cpu_call *call)
{
    const struct state *s = call->state;
    struct work w = {call, s, tdl_cpu_hot()};
    const double macs = (double)s->out.w * s->out.c * s->rows * call->node->window.kernel[1];
    tdl_cpu_parallel(call->threads, compute, &w, (size_t)s->out.n * s->out.h,
                     tdl_cpu_grain(macs / 20));
}

static bool takes(const struct tdl_node *n)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_window *w = &n->window;
    return tdl_cpu_is_depthwise(n) && in.c >= tdl_cpu_hot()->columns / 2 &&
           (w->kernel[1] == 3 || w->kernel[1] == 5) && w->kernel[0] <= MOST_ROWS &&
           w->stride[1] <= 2 && w->dilation[0] == 1 && w->dilation[1] == 1;
}

const struct tdl_cpu_kernel tdl_cpu_depthwise_pixels = {
    .name = "depthwise",
    .takes = takes,
    .prepare = prepare,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .before_xnn = true,
};
