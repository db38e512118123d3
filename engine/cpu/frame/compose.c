/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A composition, recorded: the mask's steps, the blur's, the picture's, the target's. */
#include "rooms.h"

#include "core/frame.h"
#include "core/tensor.h"
#include "frame/color.h"

#include <math.h>

/* Pairs of rows of the target, and rows of small pictures, that are worth a thread. */
enum { PAIRS_AT_LEAST = 8, ROWS_AT_LEAST = 4 };

static enum tdl_result run_compose(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_compose *c = (const struct tdl_cpu_compose *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->compose, work,
                     TDL_DIV_UP((size_t)c->blocks.target.height, 2), PAIRS_AT_LEAST);
    return TDL_OK;
}

static enum tdl_result run_picture(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_make_picture *p = (const struct tdl_cpu_make_picture *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->picture, work, (size_t)p->bands.bands,
                     1);
    return TDL_OK;
}

static enum tdl_result run_blur(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_blur *b = (const struct tdl_cpu_blur *)work;
    const struct tdl_cpu_frame_kernels *k = tdl_cpu_frame_kernels(NULL);
    if (b->light != 1)
        tdl_cpu_parallel(threads, k->blur_down, work, b->steps.height, ROWS_AT_LEAST);
    if (b->light)
        tdl_cpu_parallel(threads, k->light_down, work, b->steps.height, ROWS_AT_LEAST);
    tdl_cpu_parallel(threads, k->blur_across, work, b->steps.height, ROWS_AT_LEAST);
    tdl_cpu_parallel(threads, k->blur_along, work, b->steps.height, ROWS_AT_LEAST);
    return TDL_OK;
}

struct copy {
    struct tdl_cpu_work work;
    uint32_t planes;
    struct {
        const uint8_t *from;
        uint8_t *to;
        size_t from_stride, to_stride, bytes, rows;
    } plane[TDL_MAX_PLANES];
};

static void copy_planes(void *data, size_t begin, size_t end)
{
    const struct copy *c = data;
    for (uint32_t p = 0; p < c->planes; p++)
        for (size_t y = begin; y < TDL_MIN(end, c->plane[p].rows); y++) {
            const uint8_t *from = c->plane[p].from + y * c->plane[p].from_stride;
            memmove(c->plane[p].to + y * c->plane[p].to_stride, from, c->plane[p].bytes);
        }
}

static enum tdl_result run_copy(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    struct copy *c = (struct copy *)work;
    tdl_cpu_parallel(threads, copy_planes, c, c->plane[0].rows, 64);
    return TDL_OK;
}

static enum tdl_result add_copy(struct tdl_batch *batch, const struct tdl_frame *source,
                                const struct tdl_frame *target)
{
    struct copy *c = tdl_cpu_frame_add(batch, sizeof(*c), 0, NULL, run_copy);
    if (!c)
        return TDL_ERROR_OUT_OF_MEMORY;
    c->planes = tdl_format_planes(source->format);
    for (uint32_t p = 0; p < c->planes; p++) {
        const struct tdl_plane *from = &source->planes[p], *to = &target->planes[p];
        c->plane[p].from = tdl_cpu_memory(from->buffer) + from->offset;
        c->plane[p].to = tdl_cpu_memory(to->buffer) + to->offset;
        c->plane[p].from_stride = from->stride;
        c->plane[p].to_stride = to->stride;
        c->plane[p].bytes = tdl_frame_row_bytes(source, p);
        c->plane[p].rows = tdl_frame_rows(source, p);
    }
    return TDL_OK;
}

/* -------------------------------------------------------------- at full size */

static bool is_identity(const float m[3][4])
{
    bool same = true;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            same = same && m[i][j] == (float)(i == j);
    return same;
}

/* The frames' rows mean the same, wherever their samples lie. */
static bool same_rows(const struct tdl_frame *a, const struct tdl_frame *b, const float map[3][4])
{
    const uint32_t sampling =
        TDL_TRAIT_RGB | TDL_TRAIT_CHROMA | TDL_TRAIT_HALF_X | TDL_TRAIT_HALF_Y | TDL_TRAIT_FULL;
    const struct tdl_format_info *from = tdl_format_info(a->format);
    const struct tdl_format_info *to = tdl_format_info(b->format);
    return (from->traits & sampling) == (to->traits & sampling) && is_identity(map);
}

static struct tdl_cpu_blocks blocks_of(const struct tdl_composer *c, const struct tdl_frame *source,
                                       const struct tdl_frame *target,
                                       const struct tdl_compose_params *params)
{
    struct tdl_cpu_blocks b = {
        .source = tdl_cpu_picture(source),
        .target = tdl_cpu_picture(target),
        .rematrix = tdl_color_rematrix(source, target),
        .coefficients = c->coefficients ? tdl_cpu_words(c->coefficients) : NULL,
        .mask_width = (int32_t)c->mask_width,
        .mask_height = (int32_t)c->mask_height,
        .soft = tdl_soft_step(params),
        .guided = params->refine,
    };
    tdl_color_convert(source, target, b.matrix);
    b.same = same_rows(source, target, (const float(*)[4])b.matrix);
    /* A pixel's filler byte is written, whatever the source has there. */
    b.copies = b.same && source->format == target->format &&
               !(b.source.part[0].step == 4 && !b.source.part[3].step);
    return b;
}

static float *blur_plane(const struct tdl_composer *c, const struct tdl_blur_steps *steps,
                         size_t planes)
{
    return (float *)(void *)tdl_cpu_memory(c->blur[0]) + planes * steps->width * steps->height;
}

/* The picture behind, where the mask is 0; for an overlay, the one in front. */
static struct tdl_cpu_behind behind_of(const struct tdl_composer *c, enum tdl_compose_kernel kernel,
                                       const struct tdl_frame *target,
                                       const struct tdl_compose_params *params)
{
    const bool overlay = kernel == TDL_KERNEL_OVERLAY;
    struct tdl_cpu_behind behind = {.is_picture = kernel == TDL_KERNEL_PICTURE};
    tdl_color_code(target, overlay ? params->overlay_color : params->background_color,
                   behind.color);
    if (behind.is_picture)
        behind.picture = tdl_cpu_picture(&c->picture.frame);
    return behind;
}

static enum tdl_result add_blur(struct tdl_batch *batch, const struct tdl_composer *c,
                                const struct tdl_cpu_blocks *blocks, enum tdl_compose_kernel kernel,
                                const struct tdl_frame *target,
                                const struct tdl_compose_params *params,
                                const struct tdl_blur_steps *steps)
{
    const size_t pictures = tdl_compose_small(params, kernel);
    const size_t weights = (size_t)steps->radius + 1;
    void *memory;
    enum tdl_result r = tdl_cpu_batch_use(batch, c->blur[0], true);
    if (r != TDL_OK)
        return r;
    struct tdl_cpu_blur *b =
        tdl_cpu_frame_add(batch, sizeof(*b), weights * sizeof(float), &memory, run_blur);
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    b->blocks = *blocks;
    b->steps = *steps;
    b->sums = blur_plane(c, steps, 0);
    b->pictures = (int)pictures;
    b->light = tdl_compose_wraps(params, kernel) ? b->pictures : 0;
    b->behind = behind_of(c, kernel, target, params);
    tdl_color_luma(target, &b->luma_scale, &b->luma_offset);
    b->swept = blur_plane(c, steps, 4 * pictures);
    b->blurred = blur_plane(c, steps, 8 * pictures);
    b->weights = memory;
    for (size_t k = 0; k < weights; k++)
        b->weights[k] = exp2f(steps->exponent * (float)(k * k)) * steps->scale;
    return TDL_OK;
}

/* The replacement picture in the target's format and size. */
static enum tdl_result add_picture(struct tdl_batch *batch, const struct tdl_composer *c,
                                   const struct tdl_compose_params *params)
{
    const struct tdl_frame *from = params->background, *to = &c->picture.frame;
    const struct tdl_picture_place place = tdl_picture_place(params, to);
    struct tdl_cpu_grid grid = {.count = {to->width, to->height},
                                .high = {(int32_t)from->width - 1, (int32_t)from->height - 1}};
    struct tdl_cpu_filter filter;
    struct tdl_cpu_bands bands = {0};
    void *memory;
    enum tdl_result r;
    for (int i = 0; i < 2; i++) {
        grid.step[i] = grid.support[i] = (double)place.step[i];
        grid.centre[i] = (double)place.origin[i] + 0.5 * grid.step[i];
    }
    tdl_cpu_filter_begin(&filter, from, &grid, true);
    filter.over = tdl_cpu_picture_has(&filter.source, TDL_TRAIT_ALPHA);
    tdl_color_code(from, params->background_color, filter.color);
    tdl_cpu_bands_begin(&bands, batch, TDL_DIV_UP(to->height, 2),
                        8 * ((size_t)to->width + 1) + filter.room);
    TRY(tdl_cpu_use_frame(batch, from, false));
    TRY(tdl_cpu_use_frame(batch, to, true));
    struct tdl_cpu_make_picture *p = tdl_cpu_frame_add(
        batch, sizeof(*p), tdl_cpu_filter_bytes(&filter) + tdl_cpu_bands_bytes(&bands), &memory,
        run_picture);
    if (!p)
        return TDL_ERROR_OUT_OF_MEMORY;
    p->filter = filter;
    p->bands = bands;
    p->bands.room = tdl_cpu_filter_finish(&p->filter, memory);
    p->target = tdl_cpu_picture(to);
    tdl_color_convert(from, to, p->matrix);
fail:
    return r;
}

static enum tdl_result run_foreground(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_foreground *f = (const struct tdl_cpu_foreground *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->foreground, work, f->part.height,
                     ROWS_AT_LEAST);
    return TDL_OK;
}

/* The differences of the foreground's colours; where none come they are there. */
static enum tdl_result add_colors(struct tdl_batch *batch, const struct tdl_composer *c,
                                  const struct tdl_frame *target,
                                  const struct tdl_compose_more *more)
{
    enum tdl_result r;
    TRY(tdl_cpu_batch_use(batch, c->own[TDL_CPU_DIFFERENCES], more->foreground != NULL));
    if (!more->foreground)
        return TDL_OK;
    TRY(tdl_cpu_batch_use(batch, more->foreground->buffer, false));
    TRY(tdl_cpu_batch_use(batch, more->picture->buffer, false));
    struct tdl_cpu_foreground *f = tdl_cpu_frame_add(batch, sizeof(*f), 0, NULL, run_foreground);
    if (!f)
        return TDL_ERROR_OUT_OF_MEMORY;
    f->part = c->part;
    f->state = tdl_cpu_words(c->state);
    f->foreground = tdl_cpu_memory(more->foreground->buffer);
    f->picture = tdl_cpu_memory(more->picture->buffer);
    f->of_foreground = tdl_compose_color_reading(more, &more->foreground->params, false);
    f->of_picture = tdl_compose_color_reading(more, &more->picture->params, true);
    tdl_compose_color_steps(target, more->bgr, f->matrix);
    f->out = (float *)(void *)tdl_cpu_memory(c->own[TDL_CPU_DIFFERENCES]);
fail:
    return r;
}

static enum tdl_result add_target(struct tdl_batch *batch, const struct tdl_composer *c,
                                  const struct tdl_cpu_blocks *blocks,
                                  enum tdl_compose_kernel kernel, const struct tdl_frame *target,
                                  const struct tdl_compose_params *params,
                                  const struct tdl_blur_steps *blur)
{
    const uint32_t pictures = tdl_compose_small(params, kernel);
    struct tdl_cpu_compose *t = tdl_cpu_frame_add(batch, sizeof(*t), 0, NULL, run_compose);
    if (!t)
        return TDL_ERROR_OUT_OF_MEMORY;
    t->blocks = *blocks;
    t->kernel = kernel;
    t->opacity = kernel == TDL_KERNEL_MASK ? tdl_mask_value(params)
                                           : params->opacity * params->overlay_color[3];
    t->behind = behind_of(c, kernel, target, params);
    t->blur = *blur;
    if (tdl_compose_knows_colors(params, kernel))
        t->differences = (const float *)(const void *)tdl_cpu_memory(c->own[TDL_CPU_DIFFERENCES]);
    t->despills = tdl_compose_despills(params, kernel);
    t->light = tdl_compose_wraps(params, kernel) ? (int)pictures : 0;
    t->wrap = (float)params->light_wrap;
    if (pictures)
        t->blurred = blur_plane(c, blur, 8 * (size_t)pictures);
    return TDL_OK;
}

/* ------------------------------------------------------------------- all of it */

/* Sums, those swept one way, and the result, of four floats a pixel. Enough for the least
 * reduction, so that the radius may change freely. */
static size_t blur_bytes(uint32_t width, uint32_t height, uint32_t pictures)
{
    const size_t pixels = (size_t)pictures * TDL_DIV_UP(width, 4) * TDL_DIV_UP(height, 4);
    return pixels * 12 * sizeof(float);
}

const struct tdl_composer_room tdl_cpu_composer_mask[] = {{"mask runs", tdl_cpu_regions_room}, {0}};
const struct tdl_composer_room tdl_cpu_composer_blur[] = {{"blur", blur_bytes}, {0}};

void tdl_cpu_composer_clear(struct tdl_buffer *buffer)
{
    memset(tdl_cpu_memory(buffer), 0, buffer->size);
}

static enum tdl_result need_colors(struct tdl_composer *c)
{
    const size_t pixels = (size_t)c->mask_width * c->mask_height;
    if (c->have_colors)
        return TDL_OK;
    const enum tdl_result r = tdl_composer_buffer(
        c, pixels * 3 * sizeof(float), "foreground's colours", &c->own[TDL_CPU_DIFFERENCES]);
    c->have_colors = r == TDL_OK;
    return r;
}

enum tdl_result tdl_cpu_compose(struct tdl_batch *batch, struct tdl_composer *c,
                                const struct tdl_frame *source, struct tdl_tensor *mask,
                                const struct tdl_frame *target,
                                const struct tdl_compose_params *params, bool picture_is_stale)
{
    const enum tdl_compose_kernel kernel = tdl_compose_choose(source, target, params);
    const uint32_t small = tdl_compose_small(params, kernel);
    const struct tdl_blur_steps blur = tdl_small_steps(params, kernel, source);
    const bool masked = tdl_compose_needs_mask(kernel);
    const bool colors = tdl_compose_knows_colors(params, kernel);
    enum tdl_result r;
    if (colors)
        TRY(need_colors(c));
    TRY(tdl_cpu_use_frame(batch, source, false));
    TRY(tdl_cpu_use_frame(batch, target, true));
    if (kernel == TDL_KERNEL_COPY)
        return add_copy(batch, source, target);
    if (masked)
        TRY(tdl_cpu_add_mask(batch, c, source, params->reuse_mask ? NULL : mask, params));
    if (colors)
        TRY(add_colors(batch, c, target, params->more));
    const struct tdl_cpu_blocks blocks = blocks_of(c, source, target, params);
    if (kernel == TDL_KERNEL_PICTURE && picture_is_stale)
        TRY(add_picture(batch, c, params));
    if (kernel == TDL_KERNEL_PICTURE)
        TRY(tdl_cpu_use_frame(batch, &c->picture.frame, false));
    if (small)
        TRY(add_blur(batch, c, &blocks, kernel, target, params, &blur));
    TRY(add_target(batch, c, &blocks, kernel, target, params, &blur));
fail:
    return r;
}

enum tdl_result tdl_cpu_composer_prepare(struct tdl_composer *composer,
                                         const struct tdl_frame *source,
                                         const struct tdl_frame *target,
                                         const struct tdl_compose_params *params,
                                         const struct tdl_compile_params *compile)
{
    (void)composer, (void)source, (void)target, (void)params;
    if (compile && compile->progress && !compile->progress(compile->progress_data, 0, 0))
        return tdl_fail(TDL_ERROR_CANCELED, "preparing frames was cancelled");
    return TDL_OK;
}
