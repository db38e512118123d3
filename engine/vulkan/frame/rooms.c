/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rooms.h"

#include "vulkan/table.h"

/* Bits by words of 32 pixels. */
static size_t bits_bytes(uint32_t width, uint32_t height, uint32_t pictures)
{
    (void)pictures;
    return (size_t)TDL_DIV_UP(width, 32) * height * 4;
}

static size_t labels_bytes(uint32_t width, uint32_t height, uint32_t pictures)
{
    (void)pictures;
    return (size_t)width * height * 4;
}

static size_t regions_bytes(uint32_t width, uint32_t height, uint32_t pictures)
{
    (void)pictures;
    return (size_t)width * height * 8;
}

/* Enough for the least reduction, so that the radius may change freely. */
static size_t small_pixels(uint32_t width, uint32_t height)
{
    return (size_t)TDL_DIV_UP(width, 4) * TDL_DIV_UP(height, 4);
}

static size_t sums_bytes(uint32_t width, uint32_t height, uint32_t pictures)
{
    return pictures * small_pixels(width, height) * 8;
}

static size_t blurred_bytes(uint32_t width, uint32_t height, uint32_t pictures)
{
    (void)pictures;
    return 4 * small_pixels(width, height);
}

const struct tdl_composer_room tdl_vk_composer_mask[] = {
    [TDL_VK_BITS] = {"mask bits", bits_bytes},
    [TDL_VK_LABELS] = {"mask labels", labels_bytes},
    [TDL_VK_REGIONS] = {"mask regions", regions_bytes},
};
const struct tdl_composer_room tdl_vk_composer_blur[] = {
    [TDL_VK_SUMS] = {"blur sums", sums_bytes},
    [TDL_VK_SWEPT] = {"blur swept", sums_bytes},
    [TDL_VK_BLURRED] = {"blurred", blurred_bytes},
};

size_t tdl_composer_small_offset(const struct tdl_composer *c)
{
    return TDL_ALIGN((size_t)c->mask_width * c->mask_height * 8, 256);
}

enum tdl_result tdl_composer_need_room(struct tdl_composer *c, struct tdl_batch *batch, bool colors,
                                       const struct tdl_frame *source, uint32_t pictures)
{
    const size_t pixels = (size_t)c->mask_width * c->mask_height;
    const size_t small = 4 * pictures * small_pixels(source->width, source->height);
    const size_t bytes = small    ? tdl_composer_small_offset(c) + small
                         : colors ? pixels * 8
                                  : pixels * 4;
    struct tdl_buffer *buffer = NULL;
    enum tdl_result r = TDL_OK;
    if (bytes > c->coefficients->size) {
        TRY(tdl_composer_buffer(c, bytes, "mask coefficients", &buffer));
        if (c->have_colors)
            TRY(tdl_batch_copy(batch, c->coefficients, 0, buffer, 0, pixels * 8));
        tdl_buffer_destroy(&c->coefficients);
        c->coefficients = buffer;
        buffer = NULL;
    }
    c->have_colors |= colors;
fail:
    tdl_buffer_destroy(&buffer);
    return r;
}
