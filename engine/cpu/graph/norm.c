/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalizations: (x − mean) · a + b, of constants or of the input. */
#include "hot.h"
#include "ops.h"

#include "ops/normalize.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 14 /* values, about, whose sums are one piece of work */ };

/* ------------------------------------------------- by channel, of NHWC images */

/* For each image: the channels' means, then a, then b. */
struct factors {
    size_t images;
    size_t chunk, chunks; /* pixels; of an image */
    double *sums;         /* by image and chunk: the channels' sums, then those of squares */
    float values[];
};

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_cpu_hot *hot;
    struct factors *factors;
    size_t pixels, channels;
};

static enum tdl_result prepare(const struct tdl_node *n, size_t images, size_t chunks,
                               struct factors **out)
{
    const size_t c = tdl_operand_dims(n->output).c, count = 3 * images * c;
    const size_t floats = TDL_ALIGN(sizeof(**out) + count * sizeof(float), sizeof(double));
    *out = calloc(1, floats + 2 * images * chunks * c * sizeof(double));
    if (!*out)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    (*out)->images = images;
    (*out)->chunks = chunks;
    (*out)->sums = (double *)(void *)((char *)*out + floats);
    return TDL_OK;
}

static enum tdl_result prepare_batch(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    struct factors *f;
    enum tdl_result r = prepare(n, 1, 0, &f);
    const size_t c = tdl_operand_dims(n->output).c;
    out->state = f;
    return r == TDL_OK
               ? tdl_batch_normalization_factors(n, f->values + c, f->values + 2 * c, f->values)
               : r;
}

static enum tdl_result prepare_instance(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const struct tdl_dims d = tdl_operand_dims(n->output);
    const size_t pixels = (size_t)d.h * d.w, chunk = TDL_DIV_UP((size_t)CHUNK, d.c);
    struct factors *f;
    enum tdl_result r = prepare(n, d.n, TDL_DIV_UP(pixels, chunk), &f);
    out->state = f;
    if (f)
        f->chunk = chunk;
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

/* Pieces are chunks of an image's pixels. */
static void sum_chunks(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct factors *f = w->factors;
    const size_t c = w->channels;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i % f->chunks * f->chunk, count = TDL_MIN(f->chunk, w->pixels - first);
        const float *x =
            (const float *)w->call->inputs[0] + (i / f->chunks * w->pixels + first) * c;
        double *sums = f->sums + 2 * i * c, *squares = sums + c;
        memset(sums, 0, 2 * c * sizeof(*sums));
        if (c == 1) { /* pixels are a row */
            *sums = w->hot->row_sum(x, count);
            const float mean = (float)(*sums / (double)count);
            *squares = w->hot->row_squares(x, mean, count) +
                       (double)mean * (2 * *sums - (double)count * (double)mean);
            continue;
        }
        for (size_t p = 0; p < count; p++, x += c) {
            w->hot->add_row(TDL_REDUCE_SUM, x, NULL, sums, c);
            w->hot->add_row(TDL_REDUCE_SUM_SQUARE, x, NULL, squares, c);
        }
    }
}

static void find_factors(const struct work *w, size_t image)
{
    const struct tdl_node *n = w->call->node;
    const float *scales = w->call->inputs[TDL_NORM_SCALE], *biases = w->call->inputs[TDL_NORM_BIAS];
    const size_t channels = w->channels, chunks = w->factors->chunks;
    float *means = w->factors->values + 3 * image * channels, *a = means + channels,
          *b = a + channels;
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, squares = 0;
        for (size_t i = image * chunks; i < (image + 1) * chunks; i++) {
            sum += w->factors->sums[2 * i * channels + c];
            squares += w->factors->sums[(2 * i + 1) * channels + c];
        }
        const double mean = sum / (double)w->pixels;
        const double variance = squares / (double)w->pixels - mean * mean;
        means[c] = (float)mean;
        a[c] = (float)((scales ? (double)scales[c] : 1) /
                       sqrt((variance < 0 ? 0 : variance) + (double)tdl_norm_epsilon(n)));
        b[c] = biases ? biases[c] : 0;
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
        tdl_cpu_parallel(call->threads, sum_chunks, &w, d.n * w.factors->chunks,
                         tdl_cpu_grain((double)w.factors->chunk * (double)w.channels / 4));
    for (size_t i = 0; i < d.n && moments; i++)
        find_factors(&w, i);
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
