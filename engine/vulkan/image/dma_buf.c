/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures in tiled dma-bufs: others' taken in with an explicit modifier, and
 * ours made for others. A picture's planes become an image each, of one
 * plane's format: images of several planes are refused by drivers that take
 * the planes one by one (seen with lavapipe), and a copy needs no more.
 */
#include "image.h"

#include "vulkan/share/external.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ VK_IMAGE_USAGE_TRANSFER_SRC_BIT
#define WRITE VK_IMAGE_USAGE_TRANSFER_DST_BIT
#define IMPORTABLE VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT
#define EXPORTABLE VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT

/* ---------------------------------------------------------------- modifiers */

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
    vkGetPhysicalDeviceFormatProperties2(tdl_vk(ctx)->physical, format, &properties);
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

/* How the driver can share the memory of such an image; 0 if it does not make the image. */
static VkExternalMemoryFeatureFlags features_of(const struct tdl_context *ctx,
                                                enum tdl_handle_type type, VkFormat format,
                                                uint64_t modifier, VkImageUsageFlags usage)
{
    VkExternalImageFormatProperties external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                           .pNext = &external};
    const VkPhysicalDeviceExternalImageFormatInfo handle = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = tdl_external_handle(type)};
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
    if (vkGetPhysicalDeviceImageFormatProperties2(tdl_vk(ctx)->physical, &info, &properties) < 0)
        return 0;
    return external.externalMemoryProperties.externalMemoryFeatures;
}

/* The usage that an image of this plane can have, if the driver has `feature`
 * for its memory: both ways, or at least reading; 0 with the reason. */
static VkImageUsageFlags find_usage(const struct tdl_context *ctx, enum tdl_handle_type type,
                                    const struct tdl_texel *texel, uint64_t modifier,
                                    VkExternalMemoryFeatureFlags feature)
{
    VkDrmFormatModifierPropertiesEXT properties;
    const char *reason = NULL;
    if (!find_modifier(ctx, texel->vk_format, modifier, &properties))
        reason = "the device does not know it";
    else if (properties.drmFormatModifierPlaneCount != 1)
        reason = "it has planes of its own (compression), which is not supported";
    else if (!(properties.drmFormatModifierTilingFeatures & VK_FORMAT_FEATURE_TRANSFER_SRC_BIT))
        reason = "the device cannot copy from it";
    else if (properties.drmFormatModifierTilingFeatures & VK_FORMAT_FEATURE_TRANSFER_DST_BIT &&
             features_of(ctx, type, texel->vk_format, modifier, READ | WRITE) & feature)
        return READ | WRITE;
    else if (features_of(ctx, type, texel->vk_format, modifier, READ) & feature)
        return READ;
    else
        reason = feature == IMPORTABLE ? "the device does not import it"
                                       : "the device does not export it";
    tdl_fail(TDL_ERROR_UNSUPPORTED, "modifier 0x%llx of plane %u of %s: %s",
             (unsigned long long)modifier, texel->plane, tdl_format_name(texel->format), reason);
    return 0;
}

static enum tdl_result check_writable(const struct tdl_texel *texel, uint64_t modifier,
                                      VkImageUsageFlags usage)
{
    return usage & WRITE
               ? TDL_OK
               : tdl_fail(TDL_ERROR_UNSUPPORTED,
                          "modifier 0x%llx of plane %u of %s: the device cannot copy to it",
                          (unsigned long long)modifier, texel->plane,
                          tdl_format_name(texel->format));
}

/* The usage that images of all planes can have. */
static VkImageUsageFlags find_common_usage(const struct tdl_context *ctx, enum tdl_format format,
                                           uint64_t modifier, VkExternalMemoryFeatureFlags feature)
{
    VkImageUsageFlags usage = READ | WRITE;
    for (uint32_t p = 0; p < tdl_format_planes(format) && usage; p++)
        usage &=
            find_usage(ctx, TDL_HANDLE_DMA_BUF, tdl_texel_find(format, p, 0, 0), modifier, feature);
    return usage;
}

enum tdl_result tdl_image_modifiers(struct tdl_context *ctx, enum tdl_format format,
                                    struct tdl_image_modifier *out_modifiers, uint32_t capacity,
                                    uint32_t *out_count)
{
    TDL_NEED(ctx, "context");
    TDL_NEED(out_count, "out_count");
    VkDrmFormatModifierPropertiesEXT all[MAX_MODIFIERS];
    const struct tdl_texel *first = tdl_texel_find(format, 0, 0, 0);
    *out_count = 0;
    if (!first)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%d is no format", (int)format);
    enum tdl_result r = tdl_vk_context_check(ctx);
    if (r != TDL_OK)
        return r;
    if (!ctx->info.drm_format_modifiers || !ctx->info.external_memory_dma_buf)
        return TDL_OK;
    uint32_t count = list_modifiers(ctx, first->vk_format, all);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t modifier = all[i].drmFormatModifier;
        VkImageUsageFlags in = find_common_usage(ctx, format, modifier, IMPORTABLE);
        VkImageUsageFlags out = find_common_usage(ctx, format, modifier, EXPORTABLE);
        if (!in && !(out & WRITE))
            continue;
        if (out_modifiers && *out_count < capacity)
            out_modifiers[*out_count] = (struct tdl_image_modifier){
                .modifier = modifier,
                .readable = in & READ,
                .writable = in & WRITE,
                .exportable = out & WRITE,
            };
        ++*out_count;
    }
    return TDL_OK;
}

/* ------------------------------------------------------------------- images */

static enum tdl_result check_device(const struct tdl_context *ctx)
{
    return ctx->info.drm_format_modifiers
               ? TDL_OK
               : tdl_fail(TDL_ERROR_UNSUPPORTED,
                          "%s has no tiled images for others: it lacks "
                          "VK_EXT_image_drm_format_modifier, or that was not enabled",
                          ctx->info.name);
}

static enum tdl_result find_plane(enum tdl_format format, uint32_t plane,
                                  const struct tdl_texel **out_texel)
{
    *out_texel = tdl_texel_find(format, plane, 0, 0);
    return *out_texel ? TDL_OK
                      : tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s has no plane %u",
                                 tdl_format_name(format), plane);
}

/* `modifier` is the structure that says which, its pNext free. */
static VkResult create_vk(struct tdl_image *image, enum tdl_handle_type type,
                          VkBaseOutStructure *modifier)
{
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = tdl_external_handle(type)};
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = modifier,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = image->texel->vk_format,
        .extent = tdl_image_extent(image),
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
        .usage = image->usage,
    };
    modifier->pNext = (VkBaseOutStructure *)&external;
    return vkCreateImage(tdl_vk(image->ctx)->device, &info, NULL, &image->image);
}

static enum tdl_result create_at(struct tdl_image *image, const struct tdl_image_import_params *p)
{
    const VkSubresourceLayout layout = {.offset = p->offset, .rowPitch = p->stride};
    VkImageDrmFormatModifierExplicitCreateInfoEXT modifier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
        .drmFormatModifier = p->modifier,
        .drmFormatModifierPlaneCount = 1,
        .pPlaneLayouts = &layout,
    };
    VkResult result = create_vk(image, TDL_HANDLE_DMA_BUF, (VkBaseOutStructure *)&modifier);
    if (result == VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the driver refuses a stride of %u bytes at offset %llu for %u×%u px of %s",
                        p->stride, (unsigned long long)p->offset, p->width, p->height,
                        tdl_format_name(p->format));
    return result < 0 ? tdl_vk_fail(image->ctx, result, "vkCreateImage(") : TDL_OK;
}

static enum tdl_result allocate(struct tdl_image *image, VkDeviceSize size, uint32_t memory_type,
                                const void *next)
{
    struct tdl_context *ctx = image->ctx;
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = next,
        .image = image->image,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &dedicated,
        .allocationSize = size,
        .memoryTypeIndex = memory_type,
    };
    return VK(ctx, vkAllocateMemory(tdl_vk(ctx)->device, &info, NULL, &image->memory));
}

static enum tdl_result bind(struct tdl_image *image)
{
    return VK(image->ctx,
              vkBindImageMemory(tdl_vk(image->ctx)->device, image->image, image->memory, 0));
}

/* Half-made: nothing of it is in use. */
static void abandon(struct tdl_image *image)
{
    struct tdl_context *ctx;
    if (!image)
        return;
    ctx = image->ctx;
    vkDestroyImage(tdl_vk(ctx)->device, image->image, NULL);
    vkFreeMemory(tdl_vk(ctx)->device, image->memory, NULL);
    free(image);
    tdl_context_destroy(&ctx);
}

/* ------------------------------------------------------------------- import */

static enum tdl_result bind_dma_buf(struct tdl_image *image, int fd)
{
    const VkExternalMemoryHandleTypeFlagBits handle = tdl_external_handle(TDL_HANDLE_DMA_BUF);
    struct tdl_context *ctx = image->ctx;
    VkMemoryRequirements requirements;
    VkMemoryFdPropertiesKHR properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    vkGetImageMemoryRequirements(tdl_vk(ctx)->device, image->image, &requirements);
    enum tdl_result r = VK(ctx, tdl_vk(ctx)->fn.get_memory_fd_properties(tdl_vk(ctx)->device,
                                                                         handle, fd, &properties));
    if (r != TDL_OK)
        return r;
    off_t size = lseek(fd, 0, SEEK_END);
    lseek(fd, 0, SEEK_SET);
    uint32_t type =
        tdl_memory_type_find(ctx, requirements.memoryTypeBits & properties.memoryTypeBits, 0, 0, 0);
    if (size < 0 || requirements.size > (uint64_t)size)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the driver wants %llu bytes for this image; the dma-buf has %lld",
                        (unsigned long long)requirements.size, (long long)size);
    if (type == TDL_NO_MEMORY_TYPE)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "no memory type takes this dma-buf for an image");
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return tdl_fail(TDL_ERROR_IO, "the fd cannot be duplicated: %s", strerror(errno));
    r = allocate(image, requirements.size, type,
                 &(VkImportMemoryFdInfoKHR){
                     .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                     .handleType = handle,
                     .fd = own,
                 });
    if (r != TDL_OK)
        close(own); /* on success the driver owns it */
    return r == TDL_OK ? bind(image) : r;
}

static enum tdl_result check_import(struct tdl_context *ctx,
                                    const struct tdl_image_import_params *p)
{
    enum tdl_result r;
    TRY(check_device(ctx));
    if (!ctx->info.external_memory_dma_buf)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s imports no dma-bufs", ctx->info.name);
    if (fcntl(p->fd, F_GETFD) < 0)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%d is not an open file descriptor", p->fd);
    r = tdl_image_check_size(p->width, p->height);
fail:
    return r;
}

enum tdl_result tdl_image_import_dma_buf(struct tdl_context *ctx,
                                         const struct tdl_image_import_params *p,
                                         struct tdl_image **out_image)
{
    TDL_NEED_KNOWN(p);
    TDL_NEED(ctx, "context");
    TDL_NEED(p, "params");
    TDL_NEED(out_image, "out_image");
    const struct tdl_texel *texel;
    struct tdl_image *image = NULL;
    enum tdl_result r;
    *out_image = NULL;
    TRY(tdl_vk_context_check(ctx));
    TRY(check_import(ctx, p));
    TRY(find_plane(p->format, p->plane, &texel));
    VkImageUsageFlags usage = find_usage(ctx, TDL_HANDLE_DMA_BUF, texel, p->modifier, IMPORTABLE);
    if (!usage)
        return TDL_ERROR_UNSUPPORTED;
    if (p->for_write)
        TRY(check_writable(texel, p->modifier, usage));
    image = tdl_image_new(ctx, texel, p->width, p->height);
    if (!image)
        return TDL_ERROR_OUT_OF_MEMORY;
    image->usage = usage;
    TRY(create_at(image, p));
    TRY(bind_dma_buf(image, p->fd));
    image->state = (struct tdl_image_state){
        .layout = VK_IMAGE_LAYOUT_GENERAL,
        .queue_family = tdl_external_family(ctx, TDL_HANDLE_DMA_BUF),
    };
    tdl_context_name(ctx, VK_OBJECT_TYPE_IMAGE, TDL_HANDLE(image->image), "dma-buf plane");
    *out_image = image;
    return TDL_OK;
fail:
    abandon(image);
    return r;
}

/* ------------------------------------------------------------------- export */

static enum tdl_result check_create(struct tdl_context *ctx, enum tdl_handle_type type,
                                    const struct tdl_image_create_params *p)
{
    enum tdl_result r;
    TRY(check_device(ctx));
    TRY(tdl_external_check_export(ctx, type));
    r = tdl_image_check_size(p->width, p->height);
fail:
    return r;
}

static enum tdl_result bind_exportable(struct tdl_image *image, enum tdl_handle_type type)
{
    struct tdl_context *ctx = image->ctx;
    VkMemoryRequirements requirements;
    vkGetImageMemoryRequirements(tdl_vk(ctx)->device, image->image, &requirements);
    uint32_t memory_type = tdl_memory_type_for(ctx, requirements.memoryTypeBits, TDL_BUFFER_DEVICE);
    if (memory_type == TDL_NO_MEMORY_TYPE)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the device has no memory for an image of others");
    enum tdl_result r = allocate(image, requirements.size, memory_type,
                                 &(VkExportMemoryAllocateInfo){
                                     .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                     .handleTypes = tdl_external_handle(type),
                                 });
    image->export_type = type;
    image->exportable = true;
    return r == TDL_OK ? bind(image) : r;
}

enum tdl_result tdl_image_create_exportable(struct tdl_context *ctx, enum tdl_handle_type type,
                                            const struct tdl_image_create_params *p,
                                            struct tdl_image **out_image)
{
    TDL_NEED_KNOWN(p);
    TDL_NEED(ctx, "context");
    TDL_NEED(p, "params");
    TDL_NEED(out_image, "out_image");
    const struct tdl_texel *texel;
    struct tdl_image *image = NULL;
    enum tdl_result r;
    *out_image = NULL;
    TRY(tdl_vk_context_check(ctx));
    TRY(check_create(ctx, type, p));
    TRY(find_plane(p->format, p->plane, &texel));
    VkImageUsageFlags usage = find_usage(ctx, type, texel, p->modifier, EXPORTABLE);
    if (!usage)
        return TDL_ERROR_UNSUPPORTED;
    TRY(check_writable(texel, p->modifier, usage));
    image = tdl_image_new(ctx, texel, p->width, p->height);
    if (!image)
        return TDL_ERROR_OUT_OF_MEMORY;
    image->usage = usage;
    VkImageDrmFormatModifierListCreateInfoEXT modifier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
        .drmFormatModifierCount = 1,
        .pDrmFormatModifiers = &p->modifier,
    };
    TRY(VK(ctx, create_vk(image, type, (VkBaseOutStructure *)&modifier)));
    TRY(bind_exportable(image, type));
    /* Given away after each copy, with what it holds. */
    image->state = (struct tdl_image_state){
        .layout = VK_IMAGE_LAYOUT_UNDEFINED,
        .queue_family = tdl_external_family(ctx, type),
    };
    tdl_context_name(ctx, VK_OBJECT_TYPE_IMAGE, TDL_HANDLE(image->image), "exportable plane");
    *out_image = image;
    return TDL_OK;
fail:
    abandon(image);
    return r;
}

enum tdl_result tdl_image_export(struct tdl_image *image, struct tdl_image_place *out_place)
{
    TDL_NEED(image, "image");
    TDL_NEED(out_place, "out_place");
    struct tdl_context *ctx = image->ctx;
    VkSubresourceLayout layout;
    *out_place = (struct tdl_image_place){.fd = -1};
    if (!image->exportable)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "only images of tdl_image_create_exportable() can be exported");
    enum tdl_result r = tdl_external_export(ctx, image->memory, image->export_type, &out_place->fd);
    if (r != TDL_OK)
        return r;
    vkGetImageSubresourceLayout(
        tdl_vk(ctx)->device, image->image,
        &(VkImageSubresource){.aspectMask = VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT}, &layout);
    out_place->offset = layout.offset;
    out_place->stride = (uint32_t)layout.rowPitch;
    if (image->state.layout == VK_IMAGE_LAYOUT_UNDEFINED) /* others may write it first */
        image->state.layout = VK_IMAGE_LAYOUT_GENERAL;
    return TDL_OK;
}
