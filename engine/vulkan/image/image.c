/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The planes of pictures, the life of images, and VkImages that others made on this VkDevice. */
#include "image.h"

#include <stdlib.h>

#define COLOR VK_IMAGE_ASPECT_COLOR_BIT
#define PLANE_0 VK_IMAGE_ASPECT_PLANE_0_BIT
#define PLANE_1 VK_IMAGE_ASPECT_PLANE_1_BIT
#define PLANE_2 VK_IMAGE_ASPECT_PLANE_2_BIT

/* The first row of a format's plane is what images of dma-bufs are. */
static const struct tdl_texel texels[] = {
    {TDL_FORMAT_NV12, 0, VK_FORMAT_R8_UNORM, COLOR, 1, 1, 0, 0},
    {TDL_FORMAT_NV12, 1, VK_FORMAT_R8G8_UNORM, COLOR, 2, 1, 1, 1},
    {TDL_FORMAT_NV12, 0, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, PLANE_0, 1, 1, 0, 0},
    {TDL_FORMAT_NV12, 1, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, PLANE_1, 2, 1, 1, 1},
    {TDL_FORMAT_I420, 0, VK_FORMAT_R8_UNORM, COLOR, 1, 1, 0, 0},
    {TDL_FORMAT_I420, 1, VK_FORMAT_R8_UNORM, COLOR, 1, 1, 1, 1},
    {TDL_FORMAT_I420, 2, VK_FORMAT_R8_UNORM, COLOR, 1, 1, 1, 1},
    {TDL_FORMAT_I420, 0, VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, PLANE_0, 1, 1, 0, 0},
    {TDL_FORMAT_I420, 1, VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, PLANE_1, 1, 1, 1, 1},
    {TDL_FORMAT_I420, 2, VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, PLANE_2, 1, 1, 1, 1},
    {TDL_FORMAT_P010, 0, VK_FORMAT_R16_UNORM, COLOR, 2, 1, 0, 0},
    {TDL_FORMAT_P010, 1, VK_FORMAT_R16G16_UNORM, COLOR, 4, 1, 1, 1},
    {TDL_FORMAT_P010, 0, VK_FORMAT_R10X6_UNORM_PACK16, COLOR, 2, 1, 0, 0},
    {TDL_FORMAT_P010, 1, VK_FORMAT_R10X6G10X6_UNORM_2PACK16, COLOR, 4, 1, 1, 1},
    {TDL_FORMAT_P010, 0, VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, PLANE_0, 2, 1, 0, 0},
    {TDL_FORMAT_P010, 1, VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, PLANE_1, 4, 1, 1, 1},
    /* Two pixels are one texel here, or one texel block. */
    {TDL_FORMAT_YUY2, 0, VK_FORMAT_R8G8B8A8_UNORM, COLOR, 4, 1, 1, 0},
    {TDL_FORMAT_YUY2, 0, VK_FORMAT_G8B8G8R8_422_UNORM, COLOR, 4, 2, 0, 0},
    {TDL_FORMAT_YUY2, 0, VK_FORMAT_R8G8_UNORM, COLOR, 2, 1, 0, 0},
    {TDL_FORMAT_UYVY, 0, VK_FORMAT_R8G8B8A8_UNORM, COLOR, 4, 1, 1, 0},
    {TDL_FORMAT_UYVY, 0, VK_FORMAT_B8G8R8G8_422_UNORM, COLOR, 4, 2, 0, 0},
    {TDL_FORMAT_UYVY, 0, VK_FORMAT_R8G8_UNORM, COLOR, 2, 1, 0, 0},
    {TDL_FORMAT_RGBA, 0, VK_FORMAT_R8G8B8A8_UNORM, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_RGBA, 0, VK_FORMAT_R8G8B8A8_SRGB, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_RGBX, 0, VK_FORMAT_R8G8B8A8_UNORM, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_RGBX, 0, VK_FORMAT_R8G8B8A8_SRGB, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_BGRA, 0, VK_FORMAT_B8G8R8A8_UNORM, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_BGRA, 0, VK_FORMAT_B8G8R8A8_SRGB, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_BGRX, 0, VK_FORMAT_B8G8R8A8_UNORM, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_BGRX, 0, VK_FORMAT_B8G8R8A8_SRGB, COLOR, 4, 1, 0, 0},
    {TDL_FORMAT_RGB, 0, VK_FORMAT_R8G8B8_UNORM, COLOR, 3, 1, 0, 0},
    {TDL_FORMAT_BGR, 0, VK_FORMAT_B8G8R8_UNORM, COLOR, 3, 1, 0, 0},
    {TDL_FORMAT_GRAY8, 0, VK_FORMAT_R8_UNORM, COLOR, 1, 1, 0, 0},
};

const struct tdl_texel *tdl_texel_find(enum tdl_format format, uint32_t plane, VkFormat vk_format,
                                       VkImageAspectFlags aspect)
{
    for (size_t i = 0; i < TDL_COUNT(texels); i++)
        if (texels[i].format == format && texels[i].plane == plane &&
            (!vk_format || (texels[i].vk_format == vk_format && texels[i].aspect == aspect)))
            return &texels[i];
    return NULL;
}

/* ---------------------------------------------------------------- lifetime */

struct tdl_image *tdl_image_new(struct tdl_context *ctx, const struct tdl_texel *texel,
                                uint32_t width, uint32_t height)
{
    struct tdl_image *image = calloc(1, sizeof(*image));
    if (!image) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while taking an image");
        return NULL;
    }
    image->ctx = tdl_context_ref(ctx);
    atomic_init(&image->refs, 1);
    image->texel = texel;
    image->width = width;
    image->height = height;
    return image;
}

static void image_free(struct tdl_context *ctx, void *data)
{
    struct tdl_image *image = data;
    if (image->memory) {
        vkDestroyImage(tdl_vk(ctx)->device, image->image, NULL);
        vkFreeMemory(tdl_vk(ctx)->device, image->memory, NULL);
    }
    free(image);
}

struct tdl_image *tdl_image_ref(struct tdl_image *image)
{
    atomic_fetch_add(&image->refs, 1);
    return image;
}

void tdl_image_release(struct tdl_context *ctx, void *data)
{
    struct tdl_image *image = data;
    if (atomic_fetch_sub(&image->refs, 1) != 1)
        return;
    ctx = image->ctx;
    tdl_context_defer(ctx, tdl_context_last_point(ctx), image_free, image);
    tdl_context_destroy(&ctx);
}

void tdl_image_destroy(struct tdl_image **image)
{
    struct tdl_image *i = tdl_take(image);
    if (i && !tdl_context_is_forked(i->ctx))
        tdl_image_release(i->ctx, i);
}

VkExtent3D tdl_image_extent(const struct tdl_image *image)
{
    const struct tdl_texel *t = image->texel;
    uint32_t width = (image->width + (1u << t->shift_x) - 1) >> t->shift_x;
    return (VkExtent3D){TDL_ALIGN(width, t->width),
                        (image->height + (1u << t->shift_y) - 1) >> t->shift_y, 1};
}

enum tdl_result tdl_image_check_size(uint32_t width, uint32_t height)
{
    return width && height
               ? TDL_OK
               : tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "an image of %u×%u px", width, height);
}

/* ----------------------------------------------------------------- wrapping */

enum tdl_result tdl_image_wrap(struct tdl_context *ctx, const struct tdl_image_wrap_params *p,
                               struct tdl_image **out_image)
{
    TDL_NEED_KNOWN(p);
    TDL_NEED(ctx, "context");
    TDL_NEED(p, "params");
    TDL_NEED(out_image, "out_image");
    enum tdl_result r = tdl_vk_context_check(ctx);
    *out_image = NULL;
    if (r == TDL_OK)
        r = tdl_image_check_size(p->width, p->height);
    if (r != TDL_OK)
        return r;
    const struct tdl_texel *texel =
        tdl_texel_find(p->format, p->plane, p->vk_format, p->aspect ? p->aspect : COLOR);
    if (!p->image || !p->vk_format || !texel)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "VkFormat %d, aspect 0x%x, is no plane %u of %s: its bytes lie otherwise",
                        p->vk_format, p->aspect, p->plane, tdl_format_name(p->format));
    struct tdl_image *image = tdl_image_new(ctx, texel, p->width, p->height);
    if (!image)
        return TDL_ERROR_OUT_OF_MEMORY;
    image->image = p->image;
    image->usage =
        p->usage ? p->usage : VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    *out_image = image;
    return TDL_OK;
}
