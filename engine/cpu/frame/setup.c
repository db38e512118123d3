/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "setup.h"

#include <math.h>

extern const struct tdl_cpu_frame_kernels tdl_cpu_frame_kernels_baseline;
#ifdef TDL_CPU_HAVE_LEVELS
extern const struct tdl_cpu_frame_kernels tdl_cpu_frame_kernels_v3, tdl_cpu_frame_kernels_sve;
#endif

const struct tdl_cpu_frame_kernels *tdl_cpu_frame_kernels(const struct tdl_context *ctx)
{
    switch (tdl_cpu_isa(ctx)) {
#if defined(TDL_CPU_HAVE_LEVELS) && defined(__x86_64__)
    case TDL_CPU_X86_64_V3:
    case TDL_CPU_X86_64_V4: /* measured: to a tensor half as slow again */
        return &tdl_cpu_frame_kernels_v3;
#elif defined(TDL_CPU_HAVE_LEVELS)
    case TDL_CPU_SVE:
        return &tdl_cpu_frame_kernels_sve;
#endif
    default:
        return &tdl_cpu_frame_kernels_baseline;
    }
}

struct tdl_cpu_picture tdl_cpu_picture(const struct tdl_frame *frame)
{
    const struct tdl_format_info *info = tdl_format_info(frame->format);
    struct tdl_cpu_picture p = {
        .width = (int32_t)frame->width,
        .height = (int32_t)frame->height,
        .traits = info->traits,
        .shift = info->shift,
        .bits = info->bits,
        .max = (float)((1u << info->bits) - 1),
        .neutral = (float)(1u << (info->bits - 1)),
        .planes = info->planes,
    };
    for (uint32_t c = 0; c < TDL_COUNT(p.part); c++)
        p.part[c] = tdl_format_component(frame->format, c);
    for (uint32_t i = 0; i < info->planes; i++) {
        const struct tdl_plane *plane = &frame->planes[i];
        p.plane[i] = plane->buffer ? tdl_cpu_memory(plane->buffer) + plane->offset : NULL;
        p.stride[i] = plane->stride;
        p.layout[i].step = info->plane[i].step;
        p.layout[i].shift_x = info->plane[i].shift_x;
        p.layout[i].shift_y = info->plane[i].shift_y;
    }
    return p;
}

enum tdl_result tdl_cpu_use_frame(struct tdl_batch *batch, const struct tdl_frame *frame,
                                  bool write)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < tdl_format_planes(frame->format) && r == TDL_OK; i++)
        r = tdl_cpu_batch_use(batch, frame->planes[i].buffer, write);
    return r;
}

/* ------------------------------------------------------------------ filters */

/* The narrowest triangle is a pixel wide to either side: bilinear interpolation. */
static void begin_axis(struct tdl_cpu_axis *a, const struct tdl_cpu_grid *g, int way, int shift)
{
    const double half = shift ? 0.5 : 1;
    a->count = (int32_t)g->count[way];
    a->low = g->low[way] >> shift;
    a->high = g->high[way] >> shift;
    /* Chroma lies on the left pixel of a pair, and between two rows. Pixel k's centre
     * is k + ½. */
    a->centre = g->centre[way] * half + (shift && way == 0 ? 0.25 : 0) - 0.5;
    a->step = g->step[way] * half;
    a->support = fmax(g->support[way] * half, 1);
    a->taps = TDL_MIN(a->high - a->low + 1, (int32_t)(2 * a->support) + 1);
}

void tdl_cpu_filter_begin(struct tdl_cpu_filter *f, const struct tdl_frame *source,
                          const struct tdl_cpu_grid *grid, bool chroma)
{
    *f = (struct tdl_cpu_filter){.source = tdl_cpu_picture(source)};
    f->chroma = chroma && tdl_cpu_picture_has(&f->source, TDL_TRAIT_CHROMA);
    for (int i = 0; i < (f->chroma ? 2 : 1); i++) {
        const struct tdl_component *part = &f->source.part[i];
        const int32_t low = grid->low[0] >> part->shift_x, high = grid->high[0] >> part->shift_x;
        begin_axis(&f->x[i], grid, 0, part->shift_x);
        begin_axis(&f->y[i], grid, 1, part->shift_y);
        f->room = TDL_MAX(f->room, (size_t)(high - low + 3) * part->step);
    }
}

static size_t axis_bytes(const struct tdl_cpu_axis *a)
{
    return (size_t)a->count * ((size_t)a->taps + 1) * 4;
}

size_t tdl_cpu_filter_bytes(const struct tdl_cpu_filter *f)
{
    size_t bytes = 0;
    for (int i = 0; i < 2; i++)
        bytes += axis_bytes(&f->x[i]) + axis_bytes(&f->y[i]);
    return bytes;
}

static void finish_axis(struct tdl_cpu_axis *a, void *memory)
{
    a->first = memory;
    a->weight = (float *)(a->first + a->count);
    for (int32_t i = 0; i < a->count; i++) {
        const double centre = a->centre + i * a->step;
        const int32_t first = (int32_t)TDL_MAX(ceil(centre - a->support), a->low);
        double total = 0;
        /* All taps are samples that count; those too many weigh nothing. */
        a->first[i] = TDL_MAX(TDL_MIN(first, a->high + 1 - a->taps), a->low);
        for (int32_t t = 0; t < a->taps; t++)
            total += fmax(0, 1 - fabs(a->first[i] + t - centre) / a->support);
        for (int32_t t = 0; t < a->taps; t++) {
            const double w = fmax(0, 1 - fabs(a->first[i] + t - centre) / a->support);
            a->weight[(size_t)t * (size_t)a->count + (size_t)i] =
                (float)(total > 0 ? w / total : t == 0);
        }
    }
}

void *tdl_cpu_filter_finish(struct tdl_cpu_filter *f, void *memory)
{
    uint8_t *at = memory;
    for (int i = 0; i < 4; i++) {
        struct tdl_cpu_axis *a = i % 2 ? &f->y[i / 2] : &f->x[i / 2];
        finish_axis(a, at);
        at += axis_bytes(a);
    }
    return at;
}

/* --------------------------------------------------------------------- work */

void tdl_cpu_bands_begin(struct tdl_cpu_bands *b, const struct tdl_batch *batch, uint32_t height,
                         size_t room)
{
    enum { BANDS_PER_THREAD = 4 };
    const uint32_t most = BANDS_PER_THREAD * tdl_cpu_threads_count(tdl_cpu(batch->ctx)->threads);
    b->height = (int32_t)height;
    b->bands = (int32_t)TDL_MIN(height, most);
    b->stride = TDL_ALIGN(room, 16);
}

void *tdl_cpu_frame_add(struct tdl_batch *batch, size_t size, size_t more, void **out_more,
                        enum tdl_result (*run)(struct tdl_cpu_work *, struct tdl_cpu_threads *))
{
    const size_t before = TDL_ALIGN(size, 16);
    uint8_t *work = tdl_cpu_batch_add(batch, before + more, run);
    if (work)
        atomic_fetch_add(&batch->ctx->stats.dispatches, 1);
    if (work && out_more)
        *out_more = work + before;
    return work;
}
