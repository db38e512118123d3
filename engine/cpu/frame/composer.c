/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "composer.h"

#include <stdlib.h>

enum tdl_result tdl_cpu_composer_create(struct tdl_context *ctx, struct tdl_composer **out_composer)
{
    struct tdl_cpu_composer *c = calloc(1, sizeof(*c));
    if (!c)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a composer");
    c->base.ctx = tdl_context_ref(ctx);
    *out_composer = &c->base;
    return TDL_OK;
}

static void drop_mask(struct tdl_cpu_composer *c)
{
    tdl_buffer_destroy(&c->state);
    tdl_buffer_destroy(&c->pairs);
    tdl_buffer_destroy(&c->grown);
    tdl_buffer_destroy(&c->lines);
    tdl_buffer_destroy(&c->coefficients);
    tdl_buffer_destroy(&c->runs);
    tdl_buffer_destroy(&c->differences);
    c->mask_width = c->mask_height = 0;
    c->have_state = false;
}

void tdl_cpu_composer_destroy(struct tdl_composer *composer)
{
    struct tdl_cpu_composer *c = tdl_cpu_composer(composer);
    drop_mask(c);
    tdl_buffer_destroy(&c->blur);
    tdl_kept_picture_drop(&c->picture);
    tdl_context_destroy(&c->base.ctx);
    free(c);
}

/* Queued work keeps the state that it was given, so a reset waits for nothing. */
void tdl_cpu_composer_reset(struct tdl_composer *composer)
{
    tdl_cpu_composer(composer)->have_state = false;
    tdl_kept_picture_drop(&tdl_cpu_composer(composer)->picture);
}

/* Zeroed: a batch that should have written it may be cancelled. */
static enum tdl_result create_zeroed(struct tdl_context *ctx, size_t size, const char *name,
                                     struct tdl_buffer **out_buffer)
{
    enum tdl_result r = tdl_buffer_create_named(ctx, size, TDL_BUFFER_DEVICE, name, out_buffer);
    if (r == TDL_OK)
        memset(tdl_cpu_memory(*out_buffer), 0, size);
    return r;
}

enum tdl_result tdl_cpu_composer_need_mask(struct tdl_cpu_composer *c, uint32_t width,
                                           uint32_t height)
{
    const size_t bytes = (size_t)width * height * sizeof(uint32_t);
    struct tdl_context *ctx = c->base.ctx;
    enum tdl_result r;
    if (c->mask_width == width && c->mask_height == height)
        return TDL_OK;
    drop_mask(c);
    TRY(create_zeroed(ctx, bytes, "mask state", &c->state));
    TRY(create_zeroed(ctx, bytes, "mask pairs", &c->pairs));
    TRY(create_zeroed(ctx, bytes, "mask grown", &c->grown));
    TRY(create_zeroed(ctx, bytes, "mask lines", &c->lines));
    TRY(create_zeroed(ctx, bytes, "mask coefficients", &c->coefficients));
    TRY(tdl_buffer_create_named(ctx, tdl_cpu_regions_room(width, height), TDL_BUFFER_DEVICE,
                                "mask runs", &c->runs));
    c->mask_width = width;
    c->mask_height = height;
    return TDL_OK;
fail:
    drop_mask(c);
    return r;
}

enum tdl_result tdl_cpu_composer_need_colors(struct tdl_cpu_composer *c)
{
    const size_t pixels = (size_t)c->mask_width * c->mask_height;
    return c->differences ? TDL_OK
                          : create_zeroed(c->base.ctx, pixels * 3 * sizeof(float),
                                          "foreground's colours", &c->differences);
}

enum tdl_result tdl_cpu_composer_need_blur(struct tdl_cpu_composer *c, uint32_t width,
                                           uint32_t height, uint32_t pictures)
{
    /* Sums, those swept one way, and the result, of four floats a pixel.
     * Enough for the least reduction, so that the radius may change freely. */
    const size_t pixels = (size_t)pictures * TDL_DIV_UP(width, 4) * TDL_DIV_UP(height, 4);
    enum tdl_result r;
    if (c->blur_width == width && c->blur_height == height && c->blur_pictures >= pictures)
        return TDL_OK;
    tdl_buffer_destroy(&c->blur);
    c->blur_width = c->blur_height = 0;
    TRY(create_zeroed(c->base.ctx, pixels * 12 * sizeof(float), "blur", &c->blur));
    c->blur_width = width;
    c->blur_height = height;
    c->blur_pictures = pictures;
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
        return tdl_fail(TDL_ERROR_CANCELED, "preparing frames was canceled");
    return TDL_OK;
}
