/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalizations: (x − mean) · a + b, of constants or of the input. */
#include "hot.h"
#include "ops.h"

#include "ops/normalize.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 64 /* channels */ };

/* ------------------------------------------------- by channel, of NHWC images */

/* For each image: the channels' means, then a, then b. */
struct factors {
    size_t images;
    float values[];
};

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_cpu_hot *hot;
    struct factors *factors;
    size_t pixels, channels;
};

static enum tdl_result prepare(const struct tdl_node *n, size_t images, struct factors **out)
{
    const size_t count = 3 * images * tdl_operand_dims(n->output).c;
    *out = calloc(1, sizeof(**out) + count * sizeof(float));
    if (!*out)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    (*out)->images = images;
    return TDL_OK;
}

static enum tdl_result prepare_batch(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    struct factors *f;
    enum tdl_result r = prepare(n, 1, &f);
    const size_t c = tdl_operand_dims(n->output).c;
    out->state = f;
    return r == TDL_OK
               ? tdl_batch_normalization_factors(n, f->values + c, f->values + 2 * c, f->values)
               : r;
}

static enum tdl_result prepare_instance(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    struct factors *f;
    enum tdl_result r = prepare(n, tdl_operand_dims(n->output).n, &f);
    out->state = f;
    return r;
}

/* Pieces are pixels. */
static void scale(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t c = w->channels;
    for (size_t p = begin, n; p < end; p += n) {
        const size_t image = w->factors->images > 1 ? p / w->pixels : 0;
        const float *mean = w->factors->values + 3 * image * c;
        n = w->factors->images > 1 ? TDL_MIN(end - p, w->pixels - p % w->pixels) : end - p;
        w->hot->scale_channels((const float *)w->call->inputs[0] + p * c, mean, mean + c,
                               mean + 2 * c, c, (float *)w->call->output + p * c, n * c);
    }
}

/* Pieces are blocks of channels of an image. */
static void find_moments(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct tdl_node *n = w->call->node;
    const float *scales = w->call->inputs[TDL_NORM_SCALE], *biases = w->call->inputs[TDL_NORM_BIAS];
    const size_t blocks = TDL_DIV_UP(w->channels, BLOCK);
    for (size_t i = begin; i < end; i++) {
        const size_t image = i / blocks, first = i % blocks * BLOCK;
        const size_t count = TDL_MIN(w->channels - first, (size_t)BLOCK);
        const float *x =
            (const float *)w->call->inputs[0] + image * w->pixels * w->channels + first;
        float *means = w->factors->values + 3 * image * w->channels + first;
        float *a = means + w->channels, *b = a + w->channels;
        double sums[BLOCK] = {0}, squares[BLOCK] = {0};
        for (size_t p = 0; p < w->pixels; p++) {
            w->hot->add_row(TDL_REDUCE_SUM, x + p * w->channels, NULL, sums, count);
            w->hot->add_row(TDL_REDUCE_SUM_SQUARE, x + p * w->channels, NULL, squares, count);
        }
        for (size_t c = 0; c < count; c++) {
            const double mean = sums[c] / (double)w->pixels;
            const double variance = squares[c] / (double)w->pixels - mean * mean;
            const double factor = (scales ? (double)scales[first + c] : 1) /
                                  sqrt((variance < 0 ? 0 : variance) + (double)tdl_norm_epsilon(n));
            means[c] = (float)mean;
            a[c] = (float)factor;
            b[c] = biases ? biases[first + c] : 0;
        }
    }
}

static void run_channels(const struct tdl_cpu_call *call, bool moments)
{
    const struct tdl_dims d = tdl_operand_dims(call->node->output);
    struct work w = {.call = call,
                     .hot = tdl_cpu_hot(),
                     .factors = call->state,
                     .pixels = (size_t)d.h * d.w,
                     .channels = d.c};
    if (moments)
        tdl_cpu_parallel(call->threads, find_moments, &w, d.n * TDL_DIV_UP(w.channels, BLOCK),
                         tdl_cpu_grain((double)w.pixels * 20));
    tdl_cpu_parallel(call->threads, scale, &w, d.n * w.pixels, tdl_cpu_grain((double)d.c));
}

static void run_batch(const struct tdl_cpu_call *call)
{
    run_channels(call, false);
}

static void run_instance(const struct tdl_cpu_call *call)
{
    run_channels(call, true);
}

/* ------------------------------------------------------------- along the end */

/* The axes are the last ones, those of one element aside. */
static bool is_along_end(const struct tdl_node *n)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    bool end = true;
    for (uint32_t d = p->rank; d-- > 0;) {
        const bool axis = n->attr.norm.axes >> d & 1;
        if (p->shape[d] > 1 && axis && !end)
            return false;
        end &= axis || p->shape[d] == 1;
    }
    return true;
}

static size_t row_length(const struct tdl_node *n)
{
    size_t length = 1;
    for (uint32_t d = 0; d < n->output->desc.rank; d++)
        length *= n->attr.norm.axes >> d & 1 ? n->output->desc.shape[d] : 1;
    return length;
}

static void normalize_rows(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t n = w->pixels;
    const float *scales = w->call->inputs[TDL_NORM_SCALE], *biases = w->call->inputs[TDL_NORM_BIAS];
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)w->call->inputs[0] + i * n;
        float *out = (float *)w->call->output + i * n;
        const float mean = (float)(w->hot->row_sum(x, n) / (double)n);
        const double variance = w->hot->row_squares(x, mean, n) / (double)n;
        const float factor = (float)(1 / sqrt(variance + (double)tdl_norm_epsilon(w->call->node)));
        w->hot->center(x, mean, factor, scales, biases, out, n);
    }
}

static void run_layer(const struct tdl_cpu_call *call)
{
    struct work w = {.call = call, .hot = tdl_cpu_hot(), .pixels = row_length(call->node)};
    tdl_cpu_parallel(call->threads, normalize_rows, &w,
                     tdl_operand_count(call->node->output) / w.pixels,
                     tdl_cpu_grain(20 + 2 * (double)w.pixels));
}

const struct tdl_cpu_kernel tdl_cpu_batch_normalization = {
    .prepare = prepare_batch, .run = run_batch, .packs = TDL_NORM_WEIGHTS};
const struct tdl_cpu_kernel tdl_cpu_instance_normalization = {.prepare = prepare_instance,
                                                              .run = run_instance};
const struct tdl_cpu_kernel tdl_cpu_layer_normalization = {.takes = is_along_end, .run = run_layer};
