/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resample2d of NHWC images: between two rows first, then between their pixels. */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

/* For each output row or column: the two inputs between which it lies, and how far. */
struct axis {
    uint32_t *low, *high;
    float *far;
};

struct state {
    struct axis y, x;
    bool linear;
    uint32_t parts; /* rows that are made at once */
    float *rows;
};

struct work {
    const struct state *s;
    const float *from;
    float *to;
    struct tdl_dims in, out;
    uint32_t part_rows;
};

/* Input coordinate of the centre of output pixel i, as ops/resample2d.c defines it. */
static double coordinate(const struct tdl_resample2d_params *p, int axis, uint32_t i, uint32_t in,
                         uint32_t out)
{
    const double scale = p->size[axis] ? (double)out / in : (double)p->scale[axis];
    if (p->coordinates == TDL_RESAMPLE_HALF_PIXEL)
        return (p->size[axis] ? (i + 0.5) * in / out : (i + 0.5) / scale) - 0.5;
    if (p->coordinates == TDL_RESAMPLE_ASYMMETRIC)
        return p->size[axis] ? (double)i * in / out : i / scale;
    return out > 1 ? (double)i * (in - 1) / (out - 1) : 0;
}

static double to_whole(enum tdl_resample_rounding rounding, double s)
{
    switch (rounding) {
    case TDL_RESAMPLE_PREFER_FLOOR:
        return ceil(s - 0.5);
    case TDL_RESAMPLE_PREFER_CEIL:
        return floor(s + 0.5);
    case TDL_RESAMPLE_FLOOR:
        return floor(s);
    default:
        return ceil(s);
    }
}

static void fill_axis(const struct tdl_resample2d_params *p, int axis, uint32_t in, uint32_t out,
                      struct axis *a)
{
    for (uint32_t i = 0; i < out; i++) {
        double s = coordinate(p, axis, i, in, out);
        if (p->mode == TDL_RESAMPLE_NEAREST)
            s = to_whole(p->rounding, s);
        s = TDL_MIN(TDL_MAX(s, 0), in - 1.0);
        a->low[i] = (uint32_t)s;
        a->high[i] = TDL_MIN(a->low[i] + 1, in - 1);
        a->far[i] = (float)(s - a->low[i]);
    }
}

enum { MOST_PARTS = 64 };

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *made)
{
    const struct tdl_resample2d_params *p = &n->attr.resample;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = tdl_operand_dims(n->output);
    const uint32_t parts = TDL_MIN(MOST_PARTS, out.n * out.h);
    const size_t sum = (size_t)out.h + out.w, row = (size_t)in.w * in.c;
    struct state *s = malloc(sizeof(*s) + (3 * sum + parts * row) * sizeof(float));
    made->state = s;
    if (!s)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    uint32_t *indices = (uint32_t *)(s + 1);
    float *floats = (float *)(indices + 2 * sum);
    *s = (struct state){
        .y = {indices, indices + out.h, floats},
        .x = {indices + 2 * (size_t)out.h, indices + 2 * (size_t)out.h + out.w, floats + out.h},
        .linear = p->mode == TDL_RESAMPLE_LINEAR,
        .parts = parts,
        .rows = floats + sum,
    };
    fill_axis(p, 0, in.h, out.h, &s->y);
    fill_axis(p, 1, in.w, out.w, &s->x);
    return TDL_OK;
}

static void nearest_row(const struct work *w, const float *row, float *to)
{
    const size_t c = w->in.c;
    if (c == 1)
        for (size_t x = 0; x < w->out.w; x++)
            to[x] = row[w->s->x.low[x]];
    else
        for (size_t x = 0; x < w->out.w; x++)
            memcpy(to + x * c, row + w->s->x.low[x] * c, c * sizeof(*to));
}

/* Parts are some rows each, with a row of memory of their own. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    const size_t row = (size_t)w->in.w * w->in.c, out_row = (size_t)w->out.w * w->in.c;
    for (size_t part = begin; part < end; part++) {
        float *made = s->rows + part * row;
        const size_t last = TDL_MIN((part + 1) * w->part_rows, (size_t)w->out.n * w->out.h);
        for (size_t i = part * w->part_rows; i < last; i++) {
            const size_t y = i % w->out.h;
            const float *image = w->from + i / w->out.h * w->in.h * row;
            const float *low = image + s->y.low[y] * row;
            if (!s->linear) {
                nearest_row(w, low, w->to + i * out_row);
                continue;
            }
            hot->mix(low, 1 - s->y.far[y], image + s->y.high[y] * row, s->y.far[y], made, row);
            hot->between(made, s->x.low, s->x.high, s->x.far, w->out.w, w->to + i * out_row,
                         w->in.c);
        }
    }
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    struct work w = {.s = call->state,
                     .from = call->inputs[0],
                     .to = call->output,
                     .in = tdl_operand_dims(n->inputs[0]),
                     .out = tdl_operand_dims(n->output)};
    const uint32_t rows = w.out.n * w.out.h;
    w.part_rows = TDL_DIV_UP(rows, w.s->parts);
    tdl_cpu_parallel(call->threads, compute, &w, TDL_DIV_UP(rows, w.part_rows),
                     tdl_cpu_grain((double)w.part_rows * w.out.w * (2 + w.in.c)));
}

const struct tdl_cpu_kernel tdl_cpu_resample = {.prepare = prepare, .run = run};
