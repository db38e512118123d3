/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gridSample of NHWC images: where some pixels of the output lie, along each axis, and then
 * what is there. */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

struct work {
    const struct tdl_cpu_call *call;
    struct tdl_dims in;
    size_t pixels; /* of an image of the output */
    struct tdl_cpu_grid_axis y, x;
};

static struct tdl_cpu_grid_axis axis_of(const struct tdl_grid_sample_params *p, uint32_t size)
{
    static const uint32_t taps[] = {
        [TDL_GRID_LINEAR] = 2, [TDL_GRID_NEAREST] = 1, [TDL_GRID_CUBIC] = 4};
    const float span = p->align_corners ? (float)size - 1 : (float)size;
    return (struct tdl_cpu_grid_axis){
        .size = size,
        .taps = taps[p->mode],
        .padding = p->padding,
        .align = p->align_corners,
        .far = TDL_GRID_FAR,
        .low = p->align_corners ? 0 : -0.5f,
        .span = span,
        .turns = span > 0 ? 0.5f / span : 0,
    };
}

/* Blocks of one image's pixels. */
static void sample(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    const float *images = w->call->inputs[0], *grid = w->call->inputs[1];
    const size_t size = (size_t)w->in.h * w->in.w * w->in.c;
    struct tdl_cpu_grid_taps y, x;
    for (size_t i = begin, n; i < end; i += n) {
        n = TDL_MIN(TDL_MIN(end - i, w->pixels - i % w->pixels), (size_t)TDL_CPU_GRID_BLOCK);
        hot->grid_axis(&w->x, grid + 2 * i, n, &x);
        hot->grid_axis(&w->y, grid + 2 * i + 1, n, &y);
        hot->grid_sum(images + i / w->pixels * size, w->in.w, w->x.taps, &y, &x, n,
                      (float *)w->call->output + i * w->in.c, w->in.c);
    }
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = tdl_operand_dims(n->output);
    const struct work w = {
        .call = call,
        .in = in,
        .pixels = (size_t)out.h * out.w,
        .y = axis_of(&n->attr.grid_sample, in.h),
        .x = axis_of(&n->attr.grid_sample, in.w),
    };
    const double taps = (double)w.x.taps * w.x.taps;
    tdl_cpu_parallel(call->threads, sample, (void *)&w, out.n * w.pixels,
                     tdl_cpu_grain(taps * (2 + 0.1 * in.c)));
}

/* Channels of few are counted with 32 bits. */
static bool takes(const struct tdl_node *n)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]);
    return (uint64_t)in.h * in.w <= INT32_MAX && TDL_MAX(in.h, in.w) <= 1u << 24;
}

const struct tdl_cpu_kernel tdl_cpu_grid_sample = {.takes = takes, .run = run};
