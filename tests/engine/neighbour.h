/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A VkInstance and VkDevice of the test's own, as a program has them that
 * gives them to libtdl: under validation, with the features that it likes. */
#ifndef TEST_NEIGHBOUR_H
#define TEST_NEIGHBOUR_H

#include "check.h"

#include <tdl/vulkan.h>

#include <pthread.h>
#include <stdatomic.h>

struct neighbour {
    struct tdl_vulkan_device vk;
    VkDebugUtilsMessengerEXT messenger;
    atomic_int messages; /* messages of the validation layers */
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceFeatures2 features;
    const char *extensions[16];
    pthread_mutex_t lock;
    atomic_int locks; /* times that the queue was locked */
    bool locked;
};

/* Create them on libtdl's choice of physical device with the extensions that
 * it has of those that libtdl can use, or with none. Skips without a device. */
void neighbour_open(struct neighbour *d, bool all_extensions);
/* Fails if the layers had anything to say, or an object was left. */
void neighbour_close(struct neighbour *d);
bool neighbour_has(const struct neighbour *d, const char *extension);

VkSemaphore semaphore_new(const struct tdl_vulkan_device *vk, VkSemaphoreType type);
/* By the CPU: a timeline semaphore. */
void semaphore_signal(const struct tdl_vulkan_device *vk, VkSemaphore semaphore, uint64_t value);

#endif
