/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "instance.h"

#include "buffer.h"
#include "cooperative_matrix.h"
#include "device.h"
#include "extensions.h"
#include "kernels.h"
#include "loader.h"

#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 32

static bool layer_installed(const char *name)
{
    VkLayerProperties layers[64];
    uint32_t count = TDL_COUNT(layers);
    if (vkEnumerateInstanceLayerProperties(&count, layers) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(layers[i].layerName, name))
            return true;
    return false;
}

static enum tdl_result create_instance(bool validate, VkInstance *out_instance)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation";
    static const char *const debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
    };
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = TDL_COUNT(enables),
        .pEnabledValidationFeatures = enables,
    };
    tdl_loader_lock();
    VkResult result = vkCreateInstance(
        &(VkInstanceCreateInfo){
            .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
            .pNext = validate ? &features : NULL,
            .pApplicationInfo =
                &(VkApplicationInfo){
                    .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                    .pApplicationName = "libtdl",
                    .apiVersion = TDL_INSTANCE_VERSION,
                },
            .enabledLayerCount = validate ? 1 : 0,
            .ppEnabledLayerNames = &layer,
            .enabledExtensionCount = validate ? 1 : 0,
            .ppEnabledExtensionNames = &debug_utils,
        },
        NULL, out_instance);
    tdl_loader_unlock();
    return result < 0 ? tdl_vk_fail(NULL, result, "vkCreateInstance(") : TDL_OK;
}

static void destroy_instance(VkInstance instance)
{
    tdl_loader_lock();
    vkDestroyInstance(instance, NULL);
    tdl_loader_unlock();
}

/* One plain instance serves the whole process and is never destroyed, so that
 * drivers stay loaded: loaded and unloaded again and again, NVIDIA's refuses
 * after some twenty times (seen with 580.159), and each time costs 0.1 s. */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static VkInstance shared_instance;
static uint32_t shared_users;

static enum tdl_result get_shared_instance(VkInstance *out_instance)
{
    enum tdl_result r = TDL_OK;
    pthread_mutex_lock(&shared_lock);
    if (!shared_instance)
        r = create_instance(false, &shared_instance);
    *out_instance = shared_instance;
    shared_users += r == TDL_OK;
    pthread_mutex_unlock(&shared_lock);
    return r;
}

/* False for another one. */
static bool leave_shared_instance(VkInstance instance)
{
    pthread_mutex_lock(&shared_lock);
    const bool shared = instance == shared_instance;
    shared_users -= shared;
    pthread_mutex_unlock(&shared_lock);
    return shared;
}

void tdl_instance_unload(void)
{
    pthread_mutex_lock(&shared_lock);
    if (shared_instance && !shared_users) {
        destroy_instance(shared_instance);
        shared_instance = VK_NULL_HANDLE;
    }
    pthread_mutex_unlock(&shared_lock);
}

enum tdl_result tdl_instance_create(bool validation, VkInstance *out_instance, bool *out_validation)
{
    enum tdl_result r = tdl_loader_open();
    if (r == TDL_OK)
        r = get_shared_instance(out_instance);
    *out_validation = r == TDL_OK && validation && layer_installed("VK_LAYER_KHRONOS_validation");
    if (!*out_validation)
        return r;
    leave_shared_instance(*out_instance);
    return create_instance(true, out_instance);
}

void tdl_instance_destroy(VkInstance instance)
{
    if (instance && !leave_shared_instance(instance))
        destroy_instance(instance);
}

uint32_t tdl_device_queue_family(VkPhysicalDevice physical, VkQueueFamilyProperties *out_family)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = TDL_COUNT(families), best = UINT32_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            continue;
        /* A compute-only family runs beside the desktop's graphics. */
        bool async = !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
        if (best == UINT32_MAX || (async && families[best].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            best = i;
    }
    if (out_family)
        *out_family = best == UINT32_MAX ? (VkQueueFamilyProperties){0} : families[best];
    return best;
}

static enum tdl_device_type device_type(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return TDL_DEVICE_INTEGRATED_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return TDL_DEVICE_DISCRETE_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return TDL_DEVICE_VIRTUAL_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return TDL_DEVICE_SOFTWARE;
    default:
        return TDL_DEVICE_OTHER;
    }
}

static void describe_memory(VkPhysicalDevice physical, struct tdl_device_info *info)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            info->memory_bytes = TDL_MAX(info->memory_bytes, memory.memoryHeaps[i].size);
}

static void describe_usable(VkPhysicalDevice physical, const VkPhysicalDeviceProperties *properties,
                            bool timeline, struct tdl_device_info *info)
{
    const char *reason = "";
    if (properties->apiVersion < VK_API_VERSION_1_1)
        reason = "its driver knows only Vulkan 1.0; 1.1 is needed";
    else if (!timeline)
        reason = "its driver has no timeline semaphores (Vulkan 1.2 or VK_KHR_timeline_semaphore)";
    else if (tdl_device_queue_family(physical, NULL) == UINT32_MAX)
        reason = "it has no compute queue";
    else if (properties->limits.maxPerStageDescriptorStorageBuffers < TDL_MAX_BINDS)
        reason = "it allows fewer than 8 storage buffers in a kernel";
    info->usable = !*reason;
    snprintf(info->unusable_reason, sizeof(info->unusable_reason), "%s", reason);
}

static VkExternalMemoryFeatureFlags buffer_features(VkPhysicalDevice physical,
                                                    VkExternalMemoryHandleTypeFlagBits type)
{
    VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(
        physical,
        &(VkPhysicalDeviceExternalBufferInfo){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
            .usage = TDL_BUFFER_USAGE,
            .handleType = type,
        },
        &properties);
    return properties.externalMemoryProperties.externalMemoryFeatures;
}

static bool shares_semaphores(VkPhysicalDevice physical, VkSemaphoreType type,
                              VkExternalSemaphoreHandleTypeFlagBits handle)
{
    const VkExternalSemaphoreFeatureFlags both =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
    VkExternalSemaphoreProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vkGetPhysicalDeviceExternalSemaphoreProperties(
        physical,
        &(VkPhysicalDeviceExternalSemaphoreInfo){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
            .pNext =
                &(VkSemaphoreTypeCreateInfo){
                    .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                    .semaphoreType = type,
                },
            .handleType = handle,
        },
        &properties);
    return (properties.externalSemaphoreFeatures & both) == both;
}

/* Describe which file descriptors others can be given and which can be taken from them. Needs
 * Vulkan 1.1. */
static void describe_sharing(VkPhysicalDevice physical, const struct tdl_extensions *extensions,
                             bool timeline, struct tdl_device_info *info)
{
    const VkExternalMemoryFeatureFlags both =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    bool memory = tdl_extensions_have(extensions, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    bool semaphores = tdl_extensions_have(extensions, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    info->external_memory_fd =
        memory &&
        (buffer_features(physical, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) & both) == both;
    if (memory && tdl_extensions_have(extensions, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME)) {
        VkExternalMemoryFeatureFlags features =
            buffer_features(physical, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT);
        info->external_memory_dma_buf = features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
        info->dma_buf_export = features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
    }
    info->sync_fd = semaphores && shares_semaphores(physical, VK_SEMAPHORE_TYPE_BINARY,
                                                    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    info->timeline_fd = semaphores && timeline &&
                        shares_semaphores(physical, VK_SEMAPHORE_TYPE_TIMELINE,
                                          VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT);
    info->drm_format_modifiers =
        tdl_extensions_have(extensions, VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME);
}

void tdl_device_describe(VkPhysicalDevice physical, struct tdl_device_info *info)
{
    memset(info, 0, sizeof(*info));
    VkPhysicalDeviceProperties plain;
    vkGetPhysicalDeviceProperties(physical, &plain);
    bool v11 = plain.apiVersion >= VK_API_VERSION_1_1;
    struct tdl_extensions extensions;
    enum tdl_result listed = tdl_extensions_init(&extensions, physical);
    bool has_driver = plain.apiVersion >= VK_API_VERSION_1_2 ||
                      tdl_extensions_have(&extensions, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
    bool has_drm = tdl_extensions_have(&extensions, VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME);
    bool has_timeline = plain.apiVersion >= VK_API_VERSION_1_2 ||
                        tdl_extensions_have(&extensions, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
    bool has_sizes = plain.apiVersion >= VK_API_VERSION_1_3 ||
                     tdl_extensions_have(&extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);

    VkPhysicalDeviceDrmPropertiesEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT};
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
        .pNext = has_drm ? &drm : NULL};
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
        .pNext = has_driver ? (void *)&driver : driver.pNext};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
        .pNext = &subgroup};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                       .pNext = has_sizes ? (void *)&sizes : sizes.pNext};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDevice16BitStorageFeatures storage16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
        .pNext = has_timeline ? &timeline : NULL};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &storage16};
    if (v11) {
        vkGetPhysicalDeviceProperties2(physical, &properties);
        vkGetPhysicalDeviceFeatures2(physical, &features);
    }

    snprintf(info->name, sizeof(info->name), "%s", plain.deviceName);
    snprintf(info->driver, sizeof(info->driver), "%.120s %.120s", driver.driverName,
             driver.driverInfo);
    if (drm.hasRender)
        snprintf(info->drm_node, sizeof(info->drm_node), "/dev/dri/renderD%lld",
                 (long long)drm.renderMinor);
    memcpy(info->uuid, id.deviceUUID, TDL_UUID_SIZE);
    info->type = device_type(plain.deviceType);
    info->vendor_id = plain.vendorID;
    info->device_id = plain.deviceID;
    info->api_version = plain.apiVersion;
    info->subgroup_size = subgroup.subgroupSize;
    info->least_subgroup_size = sizes.minSubgroupSize;
    info->max_workgroup_invocations = plain.limits.maxComputeWorkGroupInvocations;
    info->max_shared_memory = plain.limits.maxComputeSharedMemorySize;
    info->max_buffer_bytes = plain.limits.maxStorageBufferRange;
    info->storage_16bit = storage16.storageBuffer16BitAccess;
    info->shader_int64 = features.features.shaderInt64;
    info->external_memory_host =
        tdl_extensions_have(&extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    if (v11)
        describe_sharing(physical, &extensions, timeline.timelineSemaphore, info);
    VkQueueFamilyProperties family;
    tdl_device_queue_family(physical, &family);
    info->timestamps = family.timestampValidBits > 0 && plain.limits.timestampPeriod > 0;
    info->queues = tdl_queue_count_wanted(family.queueFlags, family.queueCount);
    describe_memory(physical, info);
    describe_usable(physical, &plain, v11 && timeline.timelineSemaphore, info);
    if (listed != TDL_OK) {
        info->usable = false;
        snprintf(info->unusable_reason, sizeof(info->unusable_reason), "%.100s", tdl_last_error());
    }
    tdl_extensions_finish(&extensions);
}

/* Describe a device that is to be created here, with all that it has. */
static void describe(VkInstance instance, VkPhysicalDevice physical, struct tdl_device_info *info)
{
    tdl_device_describe(physical, info);
    tdl_cooperative_matrix_describe(instance, physical, info->cooperative_matrix);
    if (info->cooperative_matrix[0])
        info->workgroup_matrix = tdl_workgroup_matrix_describe(instance, physical);
}

static enum tdl_result enumerate(VkInstance instance, VkPhysicalDevice *devices, uint32_t *count)
{
    *count = MAX_DEVICES;
    tdl_loader_lock();
    VkResult result = vkEnumeratePhysicalDevices(instance, count, devices);
    tdl_loader_unlock();
    if (result < 0)
        return tdl_vk_fail(NULL, result, "vkEnumeratePhysicalDevices(");
    if (!*count)
        return tdl_fail(TDL_ERROR_NO_DEVICE,
                        "there is no Vulkan device; install a driver (on Debian: "
                        "mesa-vulkan-drivers, which also has a software device)");
    return TDL_OK;
}

enum tdl_result tdl_vulkan_device_list(struct tdl_device_info *out_infos, uint32_t capacity,
                                       uint32_t *out_count)
{
    VkInstance instance;
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count;
    bool validation;
    *out_count = 0;
    enum tdl_result r = tdl_instance_create(false, &instance, &validation);
    if (r != TDL_OK)
        return r;
    r = enumerate(instance, devices, &count);
    if (r == TDL_OK) {
        *out_count = count;
        for (uint32_t i = 0; i < count && out_infos && i < capacity; i++)
            describe(instance, devices[i], &out_infos[i]);
    }
    tdl_instance_destroy(instance);
    return r;
}

/* One of a list, with what speaks against it. */
static size_t list_device(char *list, size_t size, size_t used, uint32_t i,
                          const struct tdl_device_info *info)
{
    const char *against = !info->usable                       ? ", not usable: "
                          : info->type == TDL_DEVICE_SOFTWARE ? ", software"
                                                              : "";
    if (used < size)
        used += (size_t)snprintf(list + used, size - used, "%s%u: %.64s%s%s", i ? "; " : "", i,
                                 info->name, against, info->usable ? "" : info->unusable_reason);
    return used;
}

enum tdl_result tdl_device_select(VkInstance instance, const char *selector,
                                  VkPhysicalDevice *out_physical, struct tdl_device_info *out_info)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count, best = UINT32_MAX;
    const bool gpu = selector && !strcmp(selector, "gpu");
    const bool any = !selector || !strcmp(selector, "vulkan") || gpu;
    char list[768] = "";
    size_t used = 0;
    enum tdl_result r = enumerate(instance, devices, &count);
    if (r != TDL_OK)
        return r;
    struct tdl_device_info *infos = calloc(count, sizeof(*infos));
    if (!infos)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while listing devices");
    for (uint32_t i = 0; i < count; i++) {
        describe(instance, devices[i], &infos[i]);
        used = list_device(list, sizeof(list), used, i, &infos[i]);
        if (!infos[i].usable || (!any && !tdl_device_matches(&infos[i], i, selector)) ||
            (gpu && infos[i].type == TDL_DEVICE_SOFTWARE))
            continue;
        if (best == UINT32_MAX ||
            tdl_device_rank(infos[i].type) < tdl_device_rank(infos[best].type))
            best = i;
    }
    if (best == UINT32_MAX) {
        r = gpu   ? tdl_fail(TDL_ERROR_NO_DEVICE, "Vulkan has no GPU here (%s)", list)
            : any ? tdl_fail(TDL_ERROR_NO_DEVICE, "no Vulkan device can be used (%s)", list)
                  : tdl_fail(TDL_ERROR_NO_DEVICE,
                             "no usable device matches \"%.100s\"; there are: %s", selector, list);
    } else {
        *out_physical = devices[best];
        *out_info = infos[best];
    }
    free(infos);
    return r;
}
