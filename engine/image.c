/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Images of others: wrapped ones of this VkDevice, and planes of dma-bufs with
 * an explicit modifier. A dma-buf's planes become an image each, of one
 * plane's format: images of several planes are refused by drivers that take
 * the planes one by one (seen with lavapipe), and a copy needs no more.
 */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLOR VK_IMAGE_ASPECT_COLOR_BIT
#define PLANE_0 VK_IMAGE_ASPECT_PLANE_0_BIT
#define PLANE_1 VK_IMAGE_ASPECT_PLANE_1_BIT
#define PLANE_2 VK_IMAGE_ASPECT_PLANE_2_BIT

/* The first row of a format's plane is what dma-bufs are imported as. */
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

/* A vk_format of 0 takes the first row of the plane. */
static const struct tdl_texel *find_texel(enum tdl_format format, uint32_t plane,
                                          VkFormat vk_format, VkImageAspectFlags aspect)
{
    for (size_t i = 0; i < TDL_COUNT(texels); i++)
        if (texels[i].format == format && texels[i].plane == plane &&
            (!vk_format || (texels[i].vk_format == vk_format && texels[i].aspect == aspect)))
            return &texels[i];
    return NULL;
}

/* ---------------------------------------------------------------- lifetime */

static struct tdl_image *image_new(struct tdl_context *ctx, const struct tdl_texel *texel,
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
        vkDestroyImage(ctx->device, image->image, NULL);
        vkFreeMemory(ctx->device, image->memory, NULL);
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
    if (*image)
        tdl_image_release((*image)->ctx, *image);
    *image = NULL;
}

VkExtent3D tdl_image_extent(const struct tdl_image *image)
{
    const struct tdl_texel *t = image->texel;
    uint32_t width = (image->width + (1u << t->shift_x) - 1) >> t->shift_x;
    return (VkExtent3D){TDL_ALIGN(width, t->width),
                        (image->height + (1u << t->shift_y) - 1) >> t->shift_y, 1};
}

static enum tdl_result check_size(uint32_t width, uint32_t height)
{
    return width && height ? TDL_OK
                           : tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "an image of %u×%u px", width,
                                      height);
}

/* ----------------------------------------------------------------- wrapping */

enum tdl_result tdl_image_wrap(struct tdl_context *ctx, const struct tdl_image_wrap_params *p,
                               struct tdl_image **out_image)
{
    enum tdl_result r = tdl_context_check(ctx);
    *out_image = NULL;
    if (r == TDL_OK)
        r = check_size(p->width, p->height);
    if (r != TDL_OK)
        return r;
    const struct tdl_texel *texel =
        find_texel(p->format, p->plane, p->vk_format, p->aspect ? p->aspect : COLOR);
    if (!p->image || !p->vk_format || !texel)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "VkFormat %d, aspect 0x%x, is no plane %u of %s: its bytes lie otherwise",
                        p->vk_format, p->aspect, p->plane, tdl_format_name(p->format));
    struct tdl_image *image = image_new(ctx, texel, p->width, p->height);
    if (!image)
        return TDL_ERROR_OUT_OF_MEMORY;
    image->image = p->image;
    image->usage = p->usage ? p->usage
                            : VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    *out_image = image;
    return TDL_OK;
}

/* ------------------------------------------------------------------- import */

/* What a device can do with the modifiers of a format; how many there are. */
#define MAX_MODIFIERS 128
static uint32_t list_modifiers(const struct tdl_context *ctx, VkFormat format,
                               VkDrmFormatModifierPropertiesEXT out[MAX_MODIFIERS])
{
    VkDrmFormatModifierPropertiesListEXT list = {
        .sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT,
        .drmFormatModifierCount = MAX_MODIFIERS,
        .pDrmFormatModifierProperties = out,
    };
    VkFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2,
                                      .pNext = &list};
    vkGetPhysicalDeviceFormatProperties2(ctx->physical, format, &properties);
    return list.drmFormatModifierCount;
}

static bool find_modifier(const struct tdl_context *ctx, VkFormat format, uint64_t modifier,
                          VkDrmFormatModifierPropertiesEXT *out)
{
    VkDrmFormatModifierPropertiesEXT all[MAX_MODIFIERS];
    uint32_t count = list_modifiers(ctx, format, all);
    for (uint32_t i = 0; i < count; i++)
        if (all[i].drmFormatModifier == modifier) {
            *out = all[i];
            return true;
        }
    return false;
}

/* Can an image of this format and modifier be a dma-buf's, for this usage? */
static bool can_import(const struct tdl_context *ctx, VkFormat format, uint64_t modifier,
                       VkImageUsageFlags usage)
{
    VkExternalImageFormatProperties external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                           .pNext = &external};
    const VkPhysicalDeviceExternalImageFormatInfo handle = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    const VkPhysicalDeviceImageDrmFormatModifierInfoEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT,
        .pNext = &handle,
        .drmFormatModifier = modifier,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    const VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &drm,
        .format = format,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
        .usage = usage,
    };
    return vkGetPhysicalDeviceImageFormatProperties2(ctx->physical, &info, &properties) >= 0 &&
           external.externalMemoryProperties.externalMemoryFeatures &
               VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

/* The usage that an import of this plane can have; 0 with the reason. */
static VkImageUsageFlags import_usage(const struct tdl_context *ctx, const struct tdl_texel *texel,
                                      uint64_t modifier)
{
    const VkImageUsageFlags read = VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                            both = read | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    VkDrmFormatModifierPropertiesEXT properties;
    const char *name = tdl_format_name(texel->format);
    const char *reason = NULL;
    if (!find_modifier(ctx, texel->vk_format, modifier, &properties))
        reason = "the device does not know it";
    else if (properties.drmFormatModifierPlaneCount != 1)
        reason = "it has planes of its own (compression), which is not supported";
    else if (!(properties.drmFormatModifierTilingFeatures & VK_FORMAT_FEATURE_TRANSFER_SRC_BIT))
        reason = "the device cannot copy from it";
    else if (can_import(ctx, texel->vk_format, modifier, both))
        return both;
    else if (can_import(ctx, texel->vk_format, modifier, read))
        return read;
    else
        reason = "the device does not import it";
    tdl_fail(TDL_ERROR_UNSUPPORTED, "modifier 0x%llx of plane %u of %s: %s",
             (unsigned long long)modifier, texel->plane, name, reason);
    return 0;
}

static enum tdl_result create_image(struct tdl_image *image,
                                    const struct tdl_image_import_params *p)
{
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    const VkSubresourceLayout layout = {.offset = p->offset, .rowPitch = p->stride};
    const VkImageDrmFormatModifierExplicitCreateInfoEXT modifier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
        .pNext = &external,
        .drmFormatModifier = p->modifier,
        .drmFormatModifierPlaneCount = 1,
        .pPlaneLayouts = &layout,
    };
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &modifier,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = image->texel->vk_format,
        .extent = tdl_image_extent(image),
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
        .usage = image->usage,
    };
    VkResult result = vkCreateImage(image->ctx->device, &info, NULL, &image->image);
    if (result == VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the driver refuses a stride of %u bytes at offset %llu for %u×%u px of %s",
                        p->stride, (unsigned long long)p->offset, p->width, p->height,
                        tdl_format_name(p->format));
    return result < 0 ? tdl_vk_fail(image->ctx, result, "vkCreateImage(") : TDL_OK;
}

static enum tdl_result bind_dma_buf(struct tdl_image *image, int fd)
{
    const VkExternalMemoryHandleTypeFlagBits handle =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    struct tdl_context *ctx = image->ctx;
    VkMemoryRequirements requirements;
    VkMemoryFdPropertiesKHR properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    vkGetImageMemoryRequirements(ctx->device, image->image, &requirements);
    enum tdl_result r =
        VK(ctx, ctx->fn.get_memory_fd_properties(ctx->device, handle, fd, &properties));
    if (r != TDL_OK)
        return r;
    off_t size = lseek(fd, 0, SEEK_END);
    lseek(fd, 0, SEEK_SET);
    uint32_t type = tdl_memory_type_find(
        ctx, requirements.memoryTypeBits & properties.memoryTypeBits, 0, 0, 0);
    if (size < 0 || requirements.size > (uint64_t)size)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the driver wants %llu bytes for this image; the dma-buf has %lld",
                        (unsigned long long)requirements.size, (long long)size);
    if (type == TDL_NO_MEMORY_TYPE)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "no memory type takes this dma-buf for an image");
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return tdl_fail(TDL_ERROR_IO, "the fd cannot be duplicated: %s", strerror(errno));
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .image = image->image};
    const VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .pNext = &dedicated,
        .handleType = handle,
        .fd = own,
    };
    r = VK(ctx, vkAllocateMemory(ctx->device,
                                 &(VkMemoryAllocateInfo){
                                     .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &import,
                                     .allocationSize = requirements.size,
                                     .memoryTypeIndex = type,
                                 },
                                 NULL, &image->memory));
    if (r != TDL_OK) {
        close(own);
        return r;
    }
    return VK(ctx, vkBindImageMemory(ctx->device, image->image, image->memory, 0));
}

static enum tdl_result check_import(struct tdl_context *ctx,
                                    const struct tdl_image_import_params *p)
{
    if (!ctx->info.drm_format_modifiers || !ctx->info.external_memory_dma_buf)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s imports no dma-bufs as images: it lacks "
                        "VK_EXT_image_drm_format_modifier, or that was not enabled",
                        ctx->info.name);
    if (fcntl(p->fd, F_GETFD) < 0)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%d is not an open file descriptor", p->fd);
    return check_size(p->width, p->height);
}

enum tdl_result tdl_image_import_dma_buf(struct tdl_context *ctx,
                                         const struct tdl_image_import_params *p,
                                         struct tdl_image **out_image)
{
    struct tdl_image *image = NULL;
    enum tdl_result r;
    *out_image = NULL;
    TRY(tdl_context_check(ctx));
    TRY(check_import(ctx, p));
    const struct tdl_texel *texel = find_texel(p->format, p->plane, 0, 0);
    if (!texel)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s has no plane %u",
                        tdl_format_name(p->format), p->plane);
    VkImageUsageFlags usage = import_usage(ctx, texel, p->modifier);
    if (!usage)
        return TDL_ERROR_UNSUPPORTED;
    image = image_new(ctx, texel, p->width, p->height);
    if (!image)
        return TDL_ERROR_OUT_OF_MEMORY;
    image->usage = usage;
    TRY(create_image(image, p));
    TRY(bind_dma_buf(image, p->fd));
    image->state = (struct tdl_image_state){
        .layout = VK_IMAGE_LAYOUT_GENERAL,
        .queue_family = tdl_setup_has(&ctx->setup, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME)
                            ? VK_QUEUE_FAMILY_FOREIGN_EXT
                            : VK_QUEUE_FAMILY_EXTERNAL,
    };
    tdl_context_name(ctx, VK_OBJECT_TYPE_IMAGE, (uint64_t)(uintptr_t)image->image,
                     "dma-buf plane");
    *out_image = image;
    return TDL_OK;
fail:
    if (image) {
        if (!image->memory)
            vkDestroyImage(ctx->device, image->image, NULL);
        image_free(ctx, image);
        tdl_context_destroy(&ctx);
    }
    return r;
}

enum tdl_result tdl_image_modifiers(struct tdl_context *ctx, enum tdl_format format,
                                    uint64_t *out_modifiers, uint32_t capacity,
                                    uint32_t *out_count)
{
    VkDrmFormatModifierPropertiesEXT all[MAX_MODIFIERS];
    const struct tdl_texel *first = find_texel(format, 0, 0, 0);
    *out_count = 0;
    if (!first)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%d is no format", (int)format);
    if (!ctx->info.drm_format_modifiers || !ctx->info.external_memory_dma_buf)
        return TDL_OK;
    uint32_t count = list_modifiers(ctx, first->vk_format, all);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t modifier = all[i].drmFormatModifier;
        bool all_planes = true;
        for (uint32_t p = 0; p < tdl_format_planes(format) && all_planes; p++)
            all_planes = import_usage(ctx, find_texel(format, p, 0, 0), modifier) != 0;
        if (!all_planes)
            continue;
        if (out_modifiers && *out_count < capacity)
            out_modifiers[*out_count] = modifier;
        ++*out_count;
    }
    return TDL_OK;
}
