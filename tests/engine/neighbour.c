/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "neighbour.h"

#include <vulkan/extensions.h>
#include <vulkan/instance.h>

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    struct neighbour *d = user;
    (void)severity;
    (void)types;
    atomic_fetch_add(&d->messages, 1);
    check_fail(__FILE__, __LINE__, "validation: %s", data->pMessage);
    return VK_FALSE;
}

static void lock(void *data)
{
    struct neighbour *d = data;
    pthread_mutex_lock(&d->lock);
    CHECK(!d->locked, "the queue was locked twice");
    d->locked = true;
    atomic_fetch_add(&d->locks, 1);
}

static void unlock(void *data)
{
    struct neighbour *d = data;
    CHECK(d->locked, "the queue was not locked");
    d->locked = false;
    pthread_mutex_unlock(&d->lock);
}

static bool layer_installed(const char *name)
{
    VkLayerProperties layers[64];
    uint32_t count = COUNT(layers);
    vkEnumerateInstanceLayerProperties(&count, layers);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(layers[i].layerName, name))
            return true;
    return false;
}

static void create_instance(struct neighbour *d)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation";
    static const char *const debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkValidationFeatureEnableEXT enable =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkValidationFeaturesEXT validation = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = &enable,
    };
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .pNext = &validation,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = d,
    };
    uint32_t layers = layer_installed(layer);
    if (!layers)
        printf("not run: validation (no %s)\n", layer);
    VkResult r = vkCreateInstance(
        &(VkInstanceCreateInfo){
            .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
            /* Also hears of what is left when the device goes. */
            .pNext = layers ? &messenger : NULL,
            .pApplicationInfo =
                &(VkApplicationInfo){
                    .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                    .pApplicationName = "neighbour",
                    .apiVersion = d->vk.instance_version,
                },
            .enabledLayerCount = layers,
            .ppEnabledLayerNames = &layer,
            .enabledExtensionCount = layers,
            .ppEnabledExtensionNames = &debug_utils,
        },
        NULL, &d->vk.instance);
    if (r == VK_ERROR_INCOMPATIBLE_DRIVER) {
        printf("skipped: there is no Vulkan driver\n");
        exit(EXIT_SKIP);
    }
    REQUIRE(r == VK_SUCCESS, "no instance: %d", r);
    if (!layers)
        return;
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            d->vk.instance, "vkCreateDebugUtilsMessengerEXT");
    VkDebugUtilsMessengerCreateInfoEXT plain = messenger;
    plain.pNext = NULL;
    REQUIRE(create(d->vk.instance, &plain, NULL, &d->messenger) == VK_SUCCESS, "no messenger");
}

static void pick_extensions(struct neighbour *d)
{
    static const char *const wanted[] = {
        VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
        VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME,
        VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
        VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME};
    struct tdl_extensions have;
    OK(tdl_extensions_init(&have, d->vk.physical_device));
    for (size_t i = 0; i < COUNT(wanted); i++)
        if (tdl_extensions_have(&have, wanted[i]))
            d->extensions[d->vk.extension_count++] = wanted[i];
    tdl_extensions_finish(&have);
}

void neighbour_open(struct neighbour *d, bool all_extensions)
{
    struct tdl_device_info info;
    const float priority = 1.0f;
    *d = (struct neighbour){.vk.instance_version = VK_API_VERSION_1_2};
    pthread_mutex_init(&d->lock, NULL);
    create_instance(d);
    if (tdl_device_select(d->vk.instance, NULL, &d->vk.physical_device, &info) != TDL_OK) {
        printf("skipped: %s\n", tdl_last_error());
        exit(EXIT_SKIP);
    }
    if (all_extensions)
        pick_extensions(d);
    d->timeline = (VkPhysicalDeviceTimelineSemaphoreFeatures){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    d->features = (VkPhysicalDeviceFeatures2){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &d->timeline};
    d->vk.queue_family = tdl_device_queue_family(d->vk.physical_device, NULL);
    VkResult r = vkCreateDevice(d->vk.physical_device,
                                &(VkDeviceCreateInfo){
                                    .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &d->features,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos =
                                        &(VkDeviceQueueCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = d->vk.queue_family,
                                            .queueCount = 1,
                                            .pQueuePriorities = &priority,
                                        },
                                    .enabledExtensionCount = d->vk.extension_count,
                                    .ppEnabledExtensionNames = d->extensions,
                                },
                                NULL, &d->vk.device);
    REQUIRE(r == VK_SUCCESS, "no device: %d", r);
    vkGetDeviceQueue(d->vk.device, d->vk.queue_family, 0, &d->vk.queue);
    d->vk.extensions = d->extensions;
    d->vk.features = &d->features;
    d->vk.lock_queue = lock;
    d->vk.unlock_queue = unlock;
    d->vk.lock_data = d;
}

bool neighbour_has(const struct neighbour *d, const char *extension)
{
    for (uint32_t i = 0; i < d->vk.extension_count; i++)
        if (!strcmp(d->extensions[i], extension))
            return true;
    return false;
}

void neighbour_close(struct neighbour *d)
{
    check_begin("the end of a device");
    vkDestroyDevice(d->vk.device, NULL);
    if (d->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                d->vk.instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(d->vk.instance, d->messenger, NULL);
    }
    vkDestroyInstance(d->vk.instance, NULL);
    CHECK(!d->messages, "%d validation messages", d->messages);
    pthread_mutex_destroy(&d->lock);
}

VkSemaphore semaphore_new(const struct tdl_vulkan_device *vk, VkSemaphoreType type)
{
    VkSemaphore semaphore;
    VkResult r = vkCreateSemaphore(vk->device,
                                   &(VkSemaphoreCreateInfo){
                                       .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext =
                                           &(VkSemaphoreTypeCreateInfo){
                                               .sType =
                                                   VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                               .semaphoreType = type,
                                           },
                                   },
                                   NULL, &semaphore);
    REQUIRE(r == VK_SUCCESS, "no semaphore: %d", r);
    return semaphore;
}

void semaphore_signal(const struct tdl_vulkan_device *vk, VkSemaphore semaphore, uint64_t value)
{
    PFN_vkSignalSemaphore signal =
        (PFN_vkSignalSemaphore)vkGetDeviceProcAddr(vk->device, "vkSignalSemaphore");
    VkResult r =
        signal(vk->device,
               &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = semaphore,
                                        .value = value});
    REQUIRE(r == VK_SUCCESS, "vkSignalSemaphore: %d", r);
}
