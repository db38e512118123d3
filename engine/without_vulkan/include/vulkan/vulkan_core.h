/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In the place of Vulkan's header in a build without Vulkan: what <tdl/vulkan.h>
 * names, and nothing more, so that those who include that compile. No value of
 * these types is ever made.
 */
#ifndef TDL_WITHOUT_VULKAN_CORE_H
#define TDL_WITHOUT_VULKAN_CORE_H

#include <stdint.h>

typedef struct tdl_no_instance *VkInstance;
typedef struct tdl_no_physical_device *VkPhysicalDevice;
typedef struct tdl_no_device *VkDevice;
typedef struct tdl_no_queue *VkQueue;
typedef struct tdl_no_buffer *VkBuffer;
typedef struct tdl_no_image *VkImage;
typedef struct tdl_no_semaphore *VkSemaphore;
typedef struct tdl_no_features VkPhysicalDeviceFeatures2;

typedef uint32_t VkFormat, VkImageLayout;
typedef uint32_t VkBufferUsageFlags, VkImageUsageFlags, VkImageAspectFlags;
typedef uint32_t VkExternalMemoryHandleTypeFlags;
typedef uint64_t VkAccessFlags2, VkPipelineStageFlags2;

#endif
