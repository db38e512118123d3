/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plane of a picture in a VkImage. */
#ifndef TDL_IMAGE_H
#define TDL_IMAGE_H

#include "vulkan/buffer.h"

#include <tdl/vulkan.h>

/* How one plane of a frame's format lies in an image. */
struct tdl_texel {
    enum tdl_format format;
    uint32_t plane;
    VkFormat vk_format;
    VkImageAspectFlagBits aspect;
    uint8_t bytes; /* per texel block */
    uint8_t width; /* a texel block's, in the image's texels */
    /* Frame pixels that one texel covers: 1 << shift. */
    uint8_t shift_x, shift_y;
};

struct tdl_image {
    struct tdl_context *ctx;
    atomic_int refs;
    const struct tdl_texel *texel;
    VkImage image;
    VkDeviceMemory memory; /* VK_NULL_HANDLE: the image is somebody else's */
    VkImageUsageFlags usage;
    uint32_t width, height;       /* the picture's, px */
    struct tdl_image_state state; /* for memory of our own, whose states nobody else tracks */
    bool exportable;
    enum tdl_handle_type export_type;
};

/* The row of the plane; a vk_format of 0 takes the first. NULL: none. */
const struct tdl_texel *tdl_texel_find(enum tdl_format format, uint32_t plane, VkFormat vk_format,
                                       VkImageAspectFlags aspect);

/* One reference, neither VkImage nor memory. NULL with an error. */
struct tdl_image *tdl_image_new(struct tdl_context *ctx, const struct tdl_texel *texel,
                                uint32_t width, uint32_t height);
enum tdl_result tdl_image_check_size(uint32_t width, uint32_t height);

struct tdl_image *tdl_image_ref(struct tdl_image *image);
/* Drop a reference: a release function of struct tdl_hold. */
void tdl_image_release(struct tdl_context *ctx, void *image);
/* Texels of the plane. */
VkExtent3D tdl_image_extent(const struct tdl_image *image);

#endif
