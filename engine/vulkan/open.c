/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "open.h"

#include "extensions.h"
#include "instance.h"
#include "loader.h"

#include <stdlib.h>
#include <string.h>

static enum tdl_result copy_extensions(struct tdl_setup *setup, const char *const *names,
                                       uint32_t count)
{
    setup->extensions = calloc(count ? count : 1, sizeof(*setup->extensions));
    for (uint32_t i = 0; i < count && setup->extensions; i++) {
        setup->extensions[i] = strdup(names[i]);
        if (!setup->extensions[i])
            break;
        setup->extension_count++;
    }
    return setup->extensions && setup->extension_count == count
               ? TDL_OK
               : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a context");
}

/* The functions that belong to extensions, and to versions above 1.1. */
static void load_functions(struct tdl_context *ctx)
{
    VkDevice d = tdl_vk(ctx)->device;
    bool v12 = ctx->info.api_version >= VK_API_VERSION_1_2;
    tdl_loader_lock();
    struct tdl_device_functions *fn = &tdl_vk(ctx)->fn;
#define LOAD(field, type, name) fn->field = (type)(void *)vkGetDeviceProcAddr(d, name)
#define LOAD_IF(extension, field, type, name)                                                      \
    if (tdl_setup_has(&tdl_vk(ctx)->setup, extension))                                             \
    LOAD(field, type, name)
    LOAD(wait_semaphores, PFN_vkWaitSemaphores, v12 ? "vkWaitSemaphores" : "vkWaitSemaphoresKHR");
    LOAD(get_semaphore_value, PFN_vkGetSemaphoreCounterValue,
         v12 ? "vkGetSemaphoreCounterValue" : "vkGetSemaphoreCounterValueKHR");
    LOAD_IF(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, get_host_pointer_properties,
            PFN_vkGetMemoryHostPointerPropertiesEXT, "vkGetMemoryHostPointerPropertiesEXT");
    LOAD_IF(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, get_memory_fd, PFN_vkGetMemoryFdKHR,
            "vkGetMemoryFdKHR");
    LOAD_IF(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, get_memory_fd_properties,
            PFN_vkGetMemoryFdPropertiesKHR, "vkGetMemoryFdPropertiesKHR");
    LOAD_IF(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, get_semaphore_fd, PFN_vkGetSemaphoreFdKHR,
            "vkGetSemaphoreFdKHR");
    LOAD_IF(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, import_semaphore_fd,
            PFN_vkImportSemaphoreFdKHR, "vkImportSemaphoreFdKHR");
    tdl_loader_unlock();
#undef LOAD_IF
#undef LOAD
}

/* -------------------------------------------------------------- a new device */

static uint32_t pick_extensions(const struct tdl_context *ctx,
                                const struct tdl_extensions *extensions, const char **out_names)
{
    const bool v12 = ctx->info.api_version >= VK_API_VERSION_1_2;
    const struct {
        const char *name;
        bool wanted;
    } table[] = {
        {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, !v12},
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, true},
        {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, true},
        {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, true},
        {VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME, true},
        {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, true},
        {VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME, !v12},
        {VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, ctx->info.drm_format_modifiers},
        {TDL_COOPERATIVE_MATRIX_EXTENSION, ctx->info.cooperative_matrix[0] > 0},
        {TDL_WORKGROUP_MATRIX_EXTENSION, ctx->info.workgroup_matrix > 0},
        {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, ctx->info.cooperative_matrix[0] > 0},
    };
    uint32_t count = 0;
    for (size_t i = 0; i < TDL_COUNT(table); i++)
        if (table[i].wanted && tdl_extensions_have(extensions, table[i].name))
            out_names[count++] = table[i].name;
    return count;
}

static void chain_features(struct tdl_setup *setup, bool int64)
{
    setup->features = (VkPhysicalDeviceFeatures2){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &setup->timeline};
    setup->features.features.shaderInt64 = int64;
    setup->timeline = (VkPhysicalDeviceTimelineSemaphoreFeatures){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
}

enum tdl_result tdl_setup_create_device(struct tdl_context *ctx, uint64_t max_queues)
{
    const char *names[16];
    const float priorities[TDL_MAX_QUEUES] = {1.0f, 1.0f, 1.0f, 1.0f};
    VkQueueFamilyProperties family;
    struct tdl_extensions extensions;
    enum tdl_result r = tdl_extensions_init(&extensions, tdl_vk(ctx)->physical);
    if (r != TDL_OK)
        return r;
    uint32_t count = pick_extensions(ctx, &extensions, names);
    tdl_extensions_finish(&extensions);
    r = copy_extensions(&tdl_vk(ctx)->setup, names, count);
    if (r != TDL_OK)
        return r;
    tdl_vk(ctx)->setup.instance_version = TDL_INSTANCE_VERSION;
    tdl_vk(ctx)->queue_family = tdl_device_queue_family(tdl_vk(ctx)->physical, &family);
    tdl_vk(ctx)->timestamp_bits = family.timestampValidBits;
    tdl_vk(ctx)->queue_count =
        (uint32_t)(max_queues ? TDL_MIN(max_queues, ctx->info.queues) : ctx->info.queues);
    const uint32_t handles = TDL_MIN(tdl_vk(ctx)->queue_count, family.queueCount);
    chain_features(&tdl_vk(ctx)->setup, ctx->info.shader_int64);
    struct tdl_setup *setup = &tdl_vk(ctx)->setup;
    if (ctx->info.workgroup_matrix)
        setup->timeline.pNext = tdl_workgroup_matrix_enable(&setup->workgroup_matrix, NULL);
    if (ctx->info.cooperative_matrix[0])
        setup->timeline.pNext =
            tdl_cooperative_matrix_enable(&setup->cooperative_matrix, setup->timeline.pNext);
    tdl_loader_lock();
    r = VK(ctx, vkCreateDevice(tdl_vk(ctx)->physical,
                               &(VkDeviceCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &tdl_vk(ctx)->setup.features,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos =
                                       &(VkDeviceQueueCreateInfo){
                                           .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = tdl_vk(ctx)->queue_family,
                                           .queueCount = handles,
                                           .pQueuePriorities = priorities,
                                       },
                                   .enabledExtensionCount = count,
                                   .ppEnabledExtensionNames = tdl_vk(ctx)->setup.extensions,
                               },
                               NULL, &tdl_vk(ctx)->device));
    tdl_loader_unlock();
    if (r != TDL_OK)
        return r;
    for (uint32_t i = 0; i < tdl_vk(ctx)->queue_count; i++)
        vkGetDeviceQueue(tdl_vk(ctx)->device, tdl_vk(ctx)->queue_family, i % handles,
                         &tdl_vk(ctx)->queues[i].handle);
    load_functions(ctx);
    return TDL_OK;
}

/* --------------------------------------------------------- somebody else's */

/* Was the timeline feature enabled? It may be told in either of two structs. */
static bool timeline_enabled(const VkPhysicalDeviceFeatures2 *features)
{
    const VkBaseInStructure *s = features ? features->pNext : NULL;
    for (; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES &&
            ((const VkPhysicalDeviceTimelineSemaphoreFeatures *)s)->timelineSemaphore)
            return true;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES &&
            ((const VkPhysicalDeviceVulkan12Features *)s)->timelineSemaphore)
            return true;
    }
    return false;
}

static enum tdl_result check_theirs(const struct tdl_vulkan_device *d)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = TDL_COUNT(families);
    if (!d->instance || !d->physical_device || !d->device || !d->queue ||
        (d->extension_count && !d->extensions))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "a Vulkan device from outside needs instance, physical_device, device, "
                        "queue and the list of its extensions");
    if (!d->lock_queue != !d->unlock_queue)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "lock_queue and unlock_queue are given both or not at all");
    vkGetPhysicalDeviceQueueFamilyProperties(d->physical_device, &count, families);
    if (d->queue_family >= count)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "queue family %u does not exist; there are %u",
                        d->queue_family, count);
    if (!(families[d->queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "queue family %u cannot compute: give a queue with VK_QUEUE_COMPUTE_BIT",
                        d->queue_family);
    if (d->instance_version < VK_API_VERSION_1_1)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the instance was created for Vulkan %u.%u: ask for 1.1 or more in "
                        "VkApplicationInfo.apiVersion",
                        VK_API_VERSION_MAJOR(d->instance_version),
                        VK_API_VERSION_MINOR(d->instance_version));
    return TDL_OK;
}

/* Clear features that the hardware has, but that were not enabled. */
static void clamp_info(struct tdl_context *ctx)
{
    struct tdl_device_info *info = &ctx->info;
    const struct tdl_setup *s = &tdl_vk(ctx)->setup;
    bool memory_fd = tdl_setup_has(s, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    bool dma_buf = memory_fd && tdl_setup_has(s, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME);
    bool semaphore_fd = tdl_setup_has(s, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    info->external_memory_host &= tdl_setup_has(s, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    info->external_memory_fd &= memory_fd;
    info->external_memory_dma_buf &= dma_buf;
    info->dma_buf_export &= dma_buf;
    info->sync_fd &= semaphore_fd;
    info->timeline_fd &= semaphore_fd;
    info->drm_format_modifiers &= tdl_setup_has(s, VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME);
}

enum tdl_result tdl_setup_adopt_device(struct tdl_context *ctx, const struct tdl_vulkan_device *d)
{
    struct tdl_setup *setup = &tdl_vk(ctx)->setup;
    VkQueueFamilyProperties families[32];
    uint32_t count = TDL_COUNT(families);
    enum tdl_result r = tdl_loader_open();
    if (r == TDL_OK)
        r = check_theirs(d);
    if (r != TDL_OK)
        return r;
    setup->borrowed = true;
    tdl_vk(ctx)->instance = d->instance;
    tdl_vk(ctx)->physical = d->physical_device;
    tdl_device_describe(d->physical_device, &ctx->info);
    if (!ctx->info.usable)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s cannot be used: %s", ctx->info.name,
                        ctx->info.unusable_reason);
    ctx->info.api_version = TDL_MIN(ctx->info.api_version, d->instance_version);
    r = copy_extensions(setup, d->extensions, d->extension_count);
    if (r != TDL_OK)
        return r;
    if (!timeline_enabled(d->features))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the device was created without timeline semaphores: enable the feature "
                        "timelineSemaphore, and say so in tdl_vulkan_device.features");
    if (ctx->info.api_version < VK_API_VERSION_1_2 &&
        !tdl_setup_has(setup, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the device was created without timeline semaphores: enable "
                        "VK_KHR_timeline_semaphore, or create the instance for Vulkan 1.2");
    ctx->info.shader_int64 &= d->features->features.shaderInt64 == VK_TRUE;
    chain_features(setup, ctx->info.shader_int64);
    clamp_info(ctx);
    setup->instance_version = d->instance_version;
    setup->lock_queue = d->lock_queue;
    setup->unlock_queue = d->unlock_queue;
    setup->lock_data = d->lock_data;
    tdl_vk(ctx)->queue_family = d->queue_family;
    tdl_vk(ctx)->queues[0].handle = d->queue;
    tdl_vk(ctx)->queue_count = 1;
    ctx->info.queues = 1;
    vkGetPhysicalDeviceQueueFamilyProperties(d->physical_device, &count, families);
    tdl_vk(ctx)->timestamp_bits = families[d->queue_family].timestampValidBits;
    ctx->info.timestamps = tdl_vk(ctx)->timestamp_bits > 0 && ctx->info.timestamps;
    tdl_vk(ctx)->device = d->device;
    load_functions(ctx);
    return TDL_OK;
}
