/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "composer.h"

#include "vulkan/table.h"

#include <stdlib.h>
#include <string.h>

enum tdl_result tdl_vk_composer_create(struct tdl_context *ctx, struct tdl_composer **out_composer)
{
    struct tdl_vk_composer *c = calloc(1, sizeof(*c));
    if (!c)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a composer");
    c->base.ctx = tdl_context_ref(ctx);
    *out_composer = &c->base;
    return TDL_OK;
}

static void drop_mask(struct tdl_vk_composer *c)
{
    tdl_buffer_destroy(&c->state);
    tdl_buffer_destroy(&c->pairs);
    tdl_buffer_destroy(&c->grown);
    tdl_buffer_destroy(&c->bits);
    tdl_buffer_destroy(&c->labels);
    tdl_buffer_destroy(&c->regions);
    tdl_buffer_destroy(&c->lines);
    tdl_buffer_destroy(&c->coefficients);
    c->have_colors = false;
    c->coefficient_bytes = 0;
    c->mask_width = c->mask_height = 0;
    c->have_state = false;
}

static void drop_blur(struct tdl_vk_composer *c)
{
    tdl_buffer_destroy(&c->sums);
    tdl_buffer_destroy(&c->swept);
    tdl_buffer_destroy(&c->blurred);
    c->blur_width = c->blur_height = 0;
}

void tdl_vk_composer_destroy(struct tdl_composer *composer)
{
    struct tdl_vk_composer *c = tdl_vk_composer(composer);
    drop_mask(c);
    drop_blur(c);
    tdl_kept_picture_drop(&c->picture);
    tdl_buffer_destroy(&c->scratch);
    tdl_context_destroy(&c->base.ctx);
    free(c);
}

void tdl_vk_composer_reset(struct tdl_composer *composer)
{
    tdl_vk_composer(composer)->have_state = false;
    tdl_kept_picture_drop(&tdl_vk_composer(composer)->picture);
}

enum tdl_result tdl_composer_need_mask(struct tdl_vk_composer *c, uint32_t width, uint32_t height)
{
    const size_t pixels = (size_t)width * height;
    enum tdl_result r;
    if (c->mask_width == width && c->mask_height == height)
        return TDL_OK;
    drop_mask(c);
    const struct {
        struct tdl_buffer **buffer;
        size_t bytes; /* per pixel of the mask */
        const char *name;
    } buffers[] = {
        {&c->state, 4, "mask state"},
        {&c->pairs, 4, "mask pairs"},
        {&c->grown, 4, "mask grown"},
        {&c->labels, 4, "mask labels"},
        {&c->regions, 8, "mask regions"},
        {&c->lines, 4, "mask lines"},
        {&c->coefficients, 4, "mask coefficients"},
    };
    for (size_t i = 0; i < TDL_COUNT(buffers); i++)
        TRY(tdl_buffer_create_named(c->base.ctx, pixels * buffers[i].bytes, TDL_BUFFER_DEVICE,
                                    buffers[i].name, buffers[i].buffer));
    const size_t words = (size_t)TDL_DIV_UP(width, 32) * height;
    TRY(tdl_buffer_create_named(c->base.ctx, words * 4, TDL_BUFFER_DEVICE, "mask bits", &c->bits));
    c->mask_width = width;
    c->mask_height = height;
    c->coefficient_bytes = pixels * 4;
    return TDL_OK;
fail:
    drop_mask(c);
    return r;
}

/* Enough for the least reduction, so that the radius may change freely. */
static size_t small_pixels(uint32_t width, uint32_t height)
{
    return (size_t)TDL_DIV_UP(width, 4) * TDL_DIV_UP(height, 4);
}

size_t tdl_composer_small_offset(const struct tdl_vk_composer *c)
{
    return TDL_ALIGN((size_t)c->mask_width * c->mask_height * 8, 256);
}

enum tdl_result tdl_composer_need_room(struct tdl_vk_composer *c, struct tdl_batch *batch,
                                       bool colors, const struct tdl_frame *source,
                                       uint32_t pictures)
{
    const size_t pixels = (size_t)c->mask_width * c->mask_height;
    const size_t small = 4 * pictures * small_pixels(source->width, source->height);
    const size_t bytes = small    ? tdl_composer_small_offset(c) + small
                         : colors ? pixels * 8
                                  : pixels * 4;
    struct tdl_buffer *buffer = NULL;
    enum tdl_result r = TDL_OK;
    if (bytes > c->coefficient_bytes) {
        TRY(tdl_buffer_create_named(c->base.ctx, bytes, TDL_BUFFER_DEVICE, "mask coefficients",
                                    &buffer));
        if (c->have_colors)
            TRY(tdl_batch_copy(batch, c->coefficients, 0, buffer, 0, pixels * 8));
        tdl_buffer_destroy(&c->coefficients);
        c->coefficients = buffer;
        c->coefficient_bytes = bytes;
        buffer = NULL;
    }
    c->have_colors |= colors;
fail:
    tdl_buffer_destroy(&buffer);
    return r;
}

enum tdl_result tdl_composer_need_blur(struct tdl_vk_composer *c, uint32_t width, uint32_t height,
                                       uint32_t pictures)
{
    const size_t pixels = pictures * small_pixels(width, height);
    enum tdl_result r;
    if (c->blur_width == width && c->blur_height == height && c->blur_pictures >= pictures)
        return TDL_OK;
    drop_blur(c);
    TRY(tdl_buffer_create_named(c->base.ctx, pixels * 8, TDL_BUFFER_DEVICE, "blur sums", &c->sums));
    TRY(tdl_buffer_create_named(c->base.ctx, pixels * 8, TDL_BUFFER_DEVICE, "blur swept",
                                &c->swept));
    TRY(tdl_buffer_create_named(c->base.ctx, 4 * small_pixels(width, height), TDL_BUFFER_DEVICE,
                                "blurred", &c->blurred));
    c->blur_width = width;
    c->blur_height = height;
    c->blur_pictures = pictures;
    return TDL_OK;
fail:
    drop_blur(c);
    return r;
}
