/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "composer.h"

#include "frame.h"
#include "tensor.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- colours */

/* Check the parts of `more` that are read where colours come with it, for a mask of that size. */
static enum tdl_result check_colors(const struct tdl_context *ctx, const struct tdl_mask_part *of,
                                    const struct tdl_compose_more *more)
{
    const struct tdl_tensor *const tensors[] = {more->foreground, more->picture};
    const uint32_t w = (uint32_t)of->mask_width, h = (uint32_t)of->mask_height;
    char text[64];
    if (!more->picture)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "compose: foreground is given, and picture is NULL");
    for (size_t i = 0; i < TDL_COUNT(tensors); i++) {
        const struct tdl_tensor_params *p = &tensors[i]->params;
        const struct tdl_dims d = tdl_picture_dims(p, 3);
        const bool half = p->dtype == TDL_FLOAT16 && p->packing == TDL_PACKING_C4;
        if (tensors[i]->buffer->ctx != ctx)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "compose: foreground or picture is of another context");
        if (p->rank != 4 || d.n != 1 || d.c != 3 || d.w != w || d.h != h ||
            (p->dtype != TDL_FLOAT32 && !half))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "compose: %s is %s; it has to be [1,h,w,3] of the mask's %u×%u px, "
                            "float32, or float16 in packs",
                            i ? "picture" : "foreground",
                            tdl_tensor_params_text(p, text, sizeof(text)), w, h);
    }
    const bool scaled = more->scale[0] != 0 || more->scale[1] != 0 || more->scale[2] != 0;
    for (int i = 0; i < 3; i++)
        if (!isfinite(more->scale[i]) || !isfinite(more->bias[i]) ||
            (scaled && more->scale[i] == 0))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "compose: the picture's scale is 0 or no number, or its bias is none");
    return TDL_OK;
}

static bool has_colors_for(const struct tdl_composer *c, const struct tdl_frame *target)
{
    return c->colors_for.format == target->format && c->colors_for.matrix == target->matrix &&
           c->colors_for.range == target->range;
}

/* Leaves `more` where it counts. */
static enum tdl_result settle_colors(const struct tdl_composer *composer,
                                     enum tdl_compose_kernel kernel, const struct tdl_frame *target,
                                     struct tdl_compose_params *p)
{
    if (tdl_compose_knows_colors(p, kernel) && p->more->foreground)
        return check_colors(composer->ctx, &composer->part, p->more);
    if (!tdl_compose_knows_colors(p, kernel) || !p->reuse_mask || !has_colors_for(composer, target))
        p->more = NULL;
    return TDL_OK;
}

/* A new mask, whatever comes of it. */
static void renew_mask(struct tdl_composer *composer, const struct tdl_tensor *mask,
                       const struct tdl_compose_params *params)
{
    const struct tdl_dims d = tdl_picture_dims(&mask->params, 1);
    composer->part = tdl_mask_part(params, d.w, d.h);
    composer->colors_for.format = TDL_FORMAT_UNKNOWN;
}

/* --------------------------------------------------------- what is kept */

enum tdl_result tdl_composer_buffer(struct tdl_composer *c, size_t size, const char *name,
                                    struct tdl_buffer **out_buffer)
{
    enum tdl_result r = tdl_buffer_create_named(c->ctx, size, TDL_BUFFER_DEVICE, name, out_buffer);
    if (r == TDL_OK && c->ctx->on->composer_clear)
        c->ctx->on->composer_clear(*out_buffer);
    return r;
}

static void drop_mask(struct tdl_composer *c)
{
    tdl_buffer_destroy(&c->state);
    tdl_buffer_destroy(&c->pairs);
    tdl_buffer_destroy(&c->grown);
    tdl_buffer_destroy(&c->lines);
    tdl_buffer_destroy(&c->coefficients);
    for (size_t i = 0; i < TDL_COUNT(c->own); i++)
        tdl_buffer_destroy(&c->own[i]);
    c->mask_width = c->mask_height = 0;
    c->have_state = c->have_colors = false;
}

static void drop_blur(struct tdl_composer *c)
{
    for (size_t i = 0; i < TDL_COUNT(c->blur); i++)
        tdl_buffer_destroy(&c->blur[i]);
    c->blur_width = c->blur_height = 0;
}

static enum tdl_result need_rooms(struct tdl_composer *c, const struct tdl_composer_room *rooms,
                                  uint32_t width, uint32_t height, uint32_t pictures,
                                  struct tdl_buffer **out_buffers)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < TDL_COMPOSER_ROOMS && rooms[i].name && r == TDL_OK; i++)
        r = tdl_composer_buffer(c, rooms[i].bytes(width, height, pictures), rooms[i].name,
                                &out_buffers[i]);
    return r;
}

static enum tdl_result need_mask(struct tdl_composer *c, uint32_t width, uint32_t height)
{
    const size_t bytes = (size_t)width * height * sizeof(uint32_t);
    enum tdl_result r;
    if (c->mask_width == width && c->mask_height == height)
        return TDL_OK;
    drop_mask(c);
    TRY(tdl_composer_buffer(c, bytes, "mask state", &c->state));
    TRY(tdl_composer_buffer(c, bytes, "mask pairs", &c->pairs));
    TRY(tdl_composer_buffer(c, bytes, "mask grown", &c->grown));
    TRY(tdl_composer_buffer(c, bytes, "mask lines", &c->lines));
    TRY(tdl_composer_buffer(c, bytes, "mask coefficients", &c->coefficients));
    TRY(need_rooms(c, c->ctx->on->composer_mask, width, height, 1, c->own));
    c->mask_width = width;
    c->mask_height = height;
    return TDL_OK;
fail:
    drop_mask(c);
    return r;
}

static enum tdl_result need_blur(struct tdl_composer *c, const struct tdl_frame *source,
                                 uint32_t pictures)
{
    const uint32_t width = source->width, height = source->height;
    if (c->blur_width == width && c->blur_height == height && c->blur_pictures >= pictures)
        return TDL_OK;
    drop_blur(c);
    enum tdl_result r = need_rooms(c, c->ctx->on->composer_blur, width, height, pictures, c->blur);
    if (r != TDL_OK) {
        drop_blur(c);
        return r;
    }
    c->blur_width = width;
    c->blur_height = height;
    c->blur_pictures = pictures;
    return TDL_OK;
}

static enum tdl_result ready_mask(struct tdl_composer *c, const struct tdl_tensor *mask,
                                  const struct tdl_compose_params *p)
{
    if (p->reuse_mask)
        return c->have_state ? TDL_OK
                             : tdl_fail(TDL_ERROR_INVALID_STATE,
                                        "compose: reuse_mask, but there is no mask yet");
    if (!mask)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: this mode needs a mask");
    const enum tdl_result r = tdl_mask_check(c->ctx, mask);
    return r == TDL_OK ? need_mask(c, c->part.width, c->part.height) : r;
}

/* All that the device's steps work on. `out_stale`: the replacement picture has to be made. */
static enum tdl_result need_all(struct tdl_composer *c, enum tdl_compose_kernel kernel,
                                const struct tdl_frame *source, const struct tdl_tensor *mask,
                                const struct tdl_frame *target,
                                const struct tdl_compose_params *params, bool *out_stale)
{
    const uint32_t small = tdl_compose_small_room(params, kernel);
    enum tdl_result r = TDL_OK;
    if (tdl_compose_needs_mask(kernel))
        TRY(ready_mask(c, mask, params));
    if (small)
        TRY(need_blur(c, source, small));
    if (kernel == TDL_KERNEL_PICTURE) {
        TRY(tdl_frame_check(c->ctx, params->background, false, "background"));
        TRY(tdl_kept_picture_need(&c->picture, c->ctx, params, target, out_stale));
    }
fail:
    return r;
}

/* ------------------------------------------------------------------ public */

enum tdl_result tdl_composer_create(struct tdl_context *context, struct tdl_composer **out_composer)
{
    TDL_NEED(context, "context");
    TDL_NEED(out_composer, "out_composer");
    enum tdl_result r = tdl_context_check(context);
    *out_composer = NULL;
    if (r == TDL_OK && !context->on->compose)
        r = tdl_fail_no_frames(context);
    if (r != TDL_OK)
        return tdl_logged(context, r);
    struct tdl_composer *c = calloc(1, sizeof(*c));
    if (!c)
        return tdl_logged(
            context, tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a composer"));
    c->ctx = tdl_context_ref(context);
    *out_composer = c;
    return TDL_OK;
}

void tdl_composer_destroy(struct tdl_composer **composer)
{
    struct tdl_composer *c = tdl_take(composer);
    if (!c || tdl_context_is_forked(c->ctx))
        return;
    drop_mask(c);
    drop_blur(c);
    tdl_kept_picture_drop(&c->picture);
    tdl_buffer_destroy(&c->scratch);
    tdl_context_destroy(&c->ctx);
    free(c);
}

/* Queued work keeps the state that it was given, so a reset waits for nothing. */
void tdl_composer_reset(struct tdl_composer *composer)
{
    if (!composer || tdl_context_is_forked(composer->ctx))
        return;
    composer->colors_for.format = TDL_FORMAT_UNKNOWN;
    composer->have_state = false;
    tdl_kept_picture_drop(&composer->picture);
}

enum tdl_result tdl_composer_prepare(struct tdl_composer *composer, const struct tdl_frame *source,
                                     const struct tdl_frame *target,
                                     const struct tdl_compose_params *params,
                                     const struct tdl_compile_params *compile)
{
    TDL_NEED_KNOWN(source);
    TDL_NEED_KNOWN(target);
    TDL_NEED_KNOWN(compile);
    TDL_NEED_KNOWN(params ? params->more : NULL);
    TDL_NEED(composer, "composer");
    TDL_NEED(source, "source");
    TDL_NEED(target, "target");
    TDL_NEED(params, "params");
    enum tdl_result r = tdl_compose_check(source, target, params);
    if (r == TDL_OK && params->background && !tdl_format_info(params->background->format))
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: the background has no format");
    if (r == TDL_OK)
        r = composer->ctx->on->composer_prepare(composer, source, target, params, compile);
    return tdl_logged(composer->ctx, r);
}

enum tdl_result tdl_compose(struct tdl_batch *batch, struct tdl_composer *composer,
                            const struct tdl_frame *source, struct tdl_tensor *mask,
                            const struct tdl_frame *target, const struct tdl_compose_params *params)
{
    TDL_NEED_KNOWN(source);
    TDL_NEED_KNOWN(target);
    TDL_NEED_KNOWN(params ? params->more : NULL);
    TDL_NEED(batch, "batch");
    TDL_NEED(composer, "composer");
    TDL_NEED(source, "source");
    TDL_NEED(target, "target");
    TDL_NEED(params, "params");
    struct tdl_context *ctx = composer->ctx;
    struct tdl_compose_params p = *params;
    const struct tdl_mask_part part = composer->part;
    bool stale = false;
    enum tdl_result r;
    if (batch->ctx != ctx)
        return tdl_logged(ctx, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                        "compose: batch and composer are of different contexts"));
    TRY(tdl_compose_check(source, target, params));
    TRY(tdl_frame_check(ctx, source, false, "source"));
    TRY(tdl_frame_check(ctx, target, true, "target"));
    const enum tdl_compose_kernel kernel = tdl_compose_choose(source, target, params);
    if (tdl_compose_needs_mask(kernel) && !p.reuse_mask && mask)
        renew_mask(composer, mask, params);
    if (tdl_compose_needs_mask(kernel) && (p.reuse_mask || mask))
        TRY(settle_colors(composer, kernel, target, &p));
    TRY(need_all(composer, kernel, source, mask, target, &p, &stale));
    TRY(ctx->on->compose(batch, composer, source, mask, target, &p, stale));
    if (tdl_compose_needs_mask(kernel))
        composer->have_state = true;
    if (p.more && p.more->foreground && tdl_compose_knows_colors(&p, kernel))
        composer->colors_for = *target;
fail:
    if (r != TDL_OK) /* what is kept is of the mask before */
        composer->part = part;
    return tdl_logged(ctx, r);
}
