/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work on a mask at its own size, recorded. */
#include "rooms.h"

#include "core/tensor.h"

#include <math.h>

static enum tdl_result run_guide(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_guide *g = (const struct tdl_cpu_guide *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->guide, work, (size_t)g->bands.bands, 1);
    return TDL_OK;
}

static enum tdl_result run_regions(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    (void)threads;
    tdl_cpu_clean_regions((const struct tdl_cpu_regions *)work);
    return TDL_OK;
}

static enum tdl_result run_grow(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_grow *g = (const struct tdl_cpu_grow *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->grow, work, (size_t)g->height, 8);
    return TDL_OK;
}

static enum tdl_result run_fit(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_guided *g = (const struct tdl_cpu_guided *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->fit, work, (size_t)g->height, 8);
    return TDL_OK;
}

static enum tdl_result run_mean(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_guided *g = (const struct tdl_cpu_guided *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->mean, work, (size_t)g->height, 8);
    return TDL_OK;
}

/* ------------------------------------------------------------------- guides */

/* A triangle of three quarters of a mask pixel: enough against aliasing. */
static struct tdl_cpu_grid guide_grid(const struct tdl_frame *source, uint32_t width,
                                      uint32_t height)
{
    const uint32_t size[2] = {source->width, source->height};
    struct tdl_cpu_grid g = {.count = {width, height}};
    for (int i = 0; i < 2; i++) {
        g.step[i] = (double)size[i] / g.count[i];
        g.centre[i] = 0.5 * g.step[i];
        g.support[i] = 0.375 * g.step[i];
        g.high[i] = (int32_t)size[i] - 1;
    }
    return g;
}

static enum tdl_result add_guide(struct tdl_batch *batch, const struct tdl_composer *c,
                                 const struct tdl_frame *source, const struct tdl_tensor *mask,
                                 const struct tdl_compose_params *params,
                                 const struct tdl_mask_steps *steps)
{
    const struct tdl_cpu_grid grid = guide_grid(source, c->mask_width, c->mask_height);
    struct tdl_cpu_filter filter;
    struct tdl_cpu_bands bands = {0};
    void *memory;
    tdl_cpu_filter_begin(&filter, source, &grid, false);
    tdl_cpu_bands_begin(&bands, batch, c->mask_height, 3 * (size_t)c->mask_width + filter.room);
    struct tdl_cpu_guide *g = tdl_cpu_frame_add(
        batch, sizeof(*g), tdl_cpu_filter_bytes(&filter) + tdl_cpu_bands_bytes(&bands), &memory,
        run_guide);
    if (!g)
        return TDL_ERROR_OUT_OF_MEMORY;
    g->filter = filter;
    g->bands = bands;
    g->bands.room = tdl_cpu_filter_finish(&g->filter, memory);
    g->width = (int32_t)c->mask_width;
    g->height = (int32_t)c->mask_height;
    g->look = steps->look;
    g->reuse = !mask;
    g->pairs = !steps->plain;
    g->inverted = params->invert;
    g->keep = steps->keep;
    if (mask) {
        const struct tdl_dims d = tdl_picture_dims(&mask->params, 1);
        g->mask = (const float *)(void *)tdl_cpu_memory(mask->buffer);
        g->part = tdl_mask_part(params, d.w, d.h);
    }
    g->state = tdl_cpu_words(c->state);
    g->out = tdl_cpu_words(steps->plain ? c->coefficients : c->pairs);
    return TDL_OK;
}

/* ------------------------------------------------------------------ regions */

static enum tdl_result add_regions(struct tdl_batch *batch, const struct tdl_composer *c,
                                   const struct tdl_compose_params *params, bool islands)
{
    struct tdl_cpu_regions *g = tdl_cpu_frame_add(batch, sizeof(*g), 0, NULL, run_regions);
    if (!g)
        return TDL_ERROR_OUT_OF_MEMORY;
    g->width = (int32_t)c->mask_width;
    g->height = (int32_t)c->mask_height;
    g->islands = islands;
    g->what = tdl_mask_regions(params, c->mask_width, c->mask_height);
    g->pairs = tdl_cpu_words(c->pairs);
    g->room = tdl_cpu_memory(c->own[TDL_CPU_RUNS]);
    return TDL_OK;
}

/* ------------------------------------------------------------------- growth */

/* As shaders/frame/grow.comp looks round a pixel: at those in the ellipse, and where
 * the way to one leaves it at most a pixel and a half before its end. `probes` NULL:
 * count them. */
static uint32_t find_probes(float across, float down, const int32_t reach[2],
                            struct tdl_cpu_probe *probes)
{
    uint32_t count = 0;
    for (int32_t y = -reach[1]; y <= reach[1]; y++)
        for (int32_t x = -reach[0]; x <= reach[0]; x++) {
            const float fx = (float)x, fy = (float)y;
            const float out_of = hypotf(fx / across, fy / down);
            struct tdl_cpu_probe p = {.x = x, .y = y};
            if (out_of > 1) {
                if (hypotf(fx, fy) * (1 - 1 / out_of) >= 1.5f)
                    continue;
                p.x = (int32_t)floorf(fx / out_of);
                p.y = (int32_t)floorf(fy / out_of);
                p.right = fx / out_of - (float)p.x;
                p.below = fy / out_of - (float)p.y;
            }
            if (probes)
                probes[count] = p;
            count++;
        }
    return count;
}

static enum tdl_result add_growth_pass(struct tdl_batch *batch, const struct tdl_composer *c,
                                       const struct tdl_mask_growth *growth, bool shrink,
                                       const struct tdl_buffer *from, const struct tdl_buffer *to)
{
    const bool grows = growth->across > 0;
    const int32_t reach[2] = {(int32_t)ceilf(growth->across), (int32_t)ceilf(growth->down)};
    const uint32_t probes = grows ? find_probes(growth->across, growth->down, reach, NULL) : 0;
    void *memory;
    struct tdl_cpu_grow *g = tdl_cpu_frame_add(
        batch, sizeof(*g), probes * sizeof(struct tdl_cpu_probe), &memory, run_grow);
    if (!g)
        return TDL_ERROR_OUT_OF_MEMORY;
    g->width = (int32_t)c->mask_width;
    g->height = (int32_t)c->mask_height;
    memcpy(g->reach, reach, sizeof(reach));
    g->shrink = shrink;
    g->coefficients = to == c->coefficients;
    g->probes = memory;
    g->probe_count = probes;
    if (grows)
        find_probes(growth->across, growth->down, reach, g->probes);
    g->in = tdl_cpu_words(from);
    g->out = tdl_cpu_words(to);
    return TDL_OK;
}

/* Grows the mask in `pairs`, to and fro between it and `grown`; the end of it, if no
 * guided filter follows, are the coefficients. */
static enum tdl_result add_growth(struct tdl_batch *batch, const struct tdl_composer *c,
                                  const struct tdl_frame *source,
                                  const struct tdl_compose_params *params,
                                  struct tdl_buffer **out_pairs)
{
    const struct tdl_mask_growth growth =
        tdl_mask_growth(params, source, c->mask_width, c->mask_height);
    enum tdl_result r = TDL_OK;
    *out_pairs = c->pairs;
    for (uint32_t i = 0; i < growth.passes && r == TDL_OK; i++) {
        struct tdl_buffer *from = *out_pairs;
        *out_pairs = from == c->pairs ? c->grown : c->pairs;
        if (!params->refine && i + 1 == growth.passes)
            *out_pairs = c->coefficients;
        r = add_growth_pass(batch, c, &growth, params->grow < 0, from, *out_pairs);
    }
    return r;
}

/* ------------------------------------------------------------- guided filter */

static enum tdl_result add_guided(struct tdl_batch *batch, const struct tdl_composer *c,
                                  const struct tdl_buffer *pairs, bool fit)
{
    struct tdl_cpu_guided *g =
        tdl_cpu_frame_add(batch, sizeof(*g), 0, NULL, fit ? run_fit : run_mean);
    if (!g)
        return TDL_ERROR_OUT_OF_MEMORY;
    g->width = (int32_t)c->mask_width;
    g->height = (int32_t)c->mask_height;
    g->pairs = tdl_cpu_words(pairs);
    g->lines = tdl_cpu_words(c->lines);
    g->coefficients = tdl_cpu_words(c->coefficients);
    return TDL_OK;
}

static enum tdl_result use_buffers(struct tdl_batch *batch, const struct tdl_composer *c,
                                   const struct tdl_frame *source, struct tdl_tensor *mask)
{
    struct tdl_buffer *const own[] = {c->state, c->pairs,        c->grown,
                                      c->lines, c->coefficients, c->own[TDL_CPU_RUNS]};
    enum tdl_result r = tdl_cpu_use_frame(batch, source, false);
    if (r == TDL_OK && mask)
        r = tdl_cpu_batch_use(batch, mask->buffer, false);
    for (size_t i = 0; i < TDL_COUNT(own) && r == TDL_OK; i++)
        r = tdl_cpu_batch_use(batch, own[i], true);
    return r;
}

enum tdl_result tdl_cpu_add_mask(struct tdl_batch *batch, const struct tdl_composer *c,
                                 const struct tdl_frame *source, struct tdl_tensor *mask,
                                 const struct tdl_compose_params *params)
{
    const struct tdl_mask_steps steps = tdl_mask_steps(params, c->have_state);
    struct tdl_buffer *pairs = c->pairs;
    enum tdl_result r;
    TRY(use_buffers(batch, c, source, mask));
    TRY(add_guide(batch, c, source, mask, params, &steps));
    if (steps.holes)
        TRY(add_regions(batch, c, params, false));
    if (steps.islands)
        TRY(add_regions(batch, c, params, true));
    if (steps.grows)
        TRY(add_growth(batch, c, source, params, &pairs));
    if (steps.refines) {
        TRY(add_guided(batch, c, pairs, true));
        TRY(add_guided(batch, c, pairs, false));
    }
fail:
    return r;
}
