/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of Mesa's drivers, read in Mesa 25.0, but for PanVK's memory, which is Mesa 26's; the
 * last rows are what Vulkan 1.1 guarantees ("Required Limits" of its specification). */
#include "profiles.h"

#include <stdlib.h>
#include <string.h>

#define HOST " VK_EXT_external_memory_host "
#define MODIFIERS " VK_EXT_image_drm_format_modifier "
#define SHARING                                                                                   \
    HOST MODIFIERS " VK_KHR_external_memory_fd VK_EXT_external_memory_dma_buf "                   \
                   "VK_KHR_external_semaphore_fd VK_KHR_external_fence_fd "
#define INTEGRATED VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
#define DISCRETE VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU

static const struct profile profiles[] = {
    {
        .name = "v3dv", /* Raspberry Pi 4 and 5 */
        .device = "V3D", .type = INTEGRATED, .vendor = 0x14e4, .subgroup = 16,
        .invocations = 256, .shared_bytes = 16384, .buffers = 8, .images = 4, .push_bytes = 128,
        .range_mib = 1024, .offset_bytes = 32, .image_size = 4096,
        .no_fp16 = true, .no_int16 = true, .no_int64 = true, .one_queue = true, .hidden = HOST,
    },
    {
        .name = "panvk", /* Mali: RK3588 and its like */
        .device = "Mali", .type = INTEGRATED, .vendor = 0x13b5, .subgroup = 16,
        .invocations = 512, .shared_bytes = 32768, .buffers = 64, .push_bytes = 128,
        .no_fp16 = true, .no_timestamps = true, .one_queue = true,
        .memory = PROFILE_MEMORY_INCOHERENT, .hidden = HOST,
    },
    {
        .name = "turnip", /* Adreno: Qualcomm */
        .device = "Adreno", .type = INTEGRATED, .vendor = 0x5143, .subgroup = 128,
        .invocations = 1024, .shared_bytes = 32768, .push_bytes = 256, .range_mib = 128,
        .offset_bytes = 64, .no_int64 = true, .one_queue = true,
        .memory = PROFILE_MEMORY_INCOHERENT, .hidden = HOST,
    },
    {
        .name = "powervr",
        .device = "PowerVR", .type = INTEGRATED, .vendor = 0x1010, .subgroup = 1,
        .invocations = 512, .shared_bytes = 16384, .buffers = 28, .push_bytes = 256,
        .range_mib = 128, .offset_bytes = 64, .no_storage16 = true, .no_fp16 = true,
        .no_int16 = true, .no_int64 = true, .one_queue = true, .hidden = HOST MODIFIERS,
    },
    {
        .name = "radv", /* AMD, a card */
        .device = "Radeon", .type = DISCRETE, .vendor = 0x1002, .subgroup = 64,
        .invocations = 1024, .shared_bytes = 65536, .push_bytes = 256,
        .memory = PROFILE_MEMORY_SEPARATE,
    },
    {
        .name = "radv-gcn", /* AMD before 2019, and many of its processors' own GPUs */
        .device = "Radeon", .type = DISCRETE, .vendor = 0x1002, .subgroup = 64,
        .least_subgroup = 64, .invocations = 1024, .shared_bytes = 65536, .push_bytes = 256,
    },
    {
        .name = "anv", /* Intel */
        .device = "Intel", .type = INTEGRATED, .vendor = 0x8086, .subgroup = 32,
        .invocations = 1024, .shared_bytes = 65536, .push_bytes = 256, .one_queue = true,
    },
    {
        .name = "nvk", /* NVIDIA by Mesa */
        .device = "NVK", .type = DISCRETE, .vendor = 0x10de, .subgroup = 32,
        .invocations = 1024, .shared_bytes = 49152, .push_bytes = 256, .offset_bytes = 64,
        .memory = PROFILE_MEMORY_SEPARATE, .hidden = HOST,
    },
    {
        .name = "honeykrisp", /* Apple */
        .device = "Apple", .type = INTEGRATED, .vendor = 0x106b, .subgroup = 32,
        .invocations = 1024, .shared_bytes = 32768, .push_bytes = 256, .no_fp16 = false,
        .one_queue = true, .hidden = HOST,
    },
    {
        .name = "least", /* eight buffers, and nothing else that Vulkan 1.1 does not promise */
        .device = "Least", .type = VK_PHYSICAL_DEVICE_TYPE_OTHER, .vendor = 0x10000, .subgroup = 1,
        .invocations = 128, .shared_bytes = 16384, .buffers = 8, .images = 4, .push_bytes = 128,
        .range_mib = 128, .offset_bytes = 256, .workgroups = 65535, .image_size = 4096,
        .no_storage16 = true, .no_fp16 = true, .no_int16 = true, .no_int64 = true,
        .no_timestamps = true, .one_queue = true, .memory = PROFILE_MEMORY_INCOHERENT,
        .hidden = SHARING,
    },
    {
        .name = "four-buffers",
        .device = "Least", .type = VK_PHYSICAL_DEVICE_TYPE_OTHER, .vendor = 0x10000, .subgroup = 1,
        .invocations = 128, .shared_bytes = 16384, .buffers = 4, .images = 4, .push_bytes = 128,
        .range_mib = 128, .offset_bytes = 256, .workgroups = 65535,
        .no_storage16 = true, .no_fp16 = true, .no_int16 = true, .no_int64 = true,
        .no_timestamps = true, .one_queue = true, .hidden = SHARING,
    },
    {
        .name = "compile-only", /* with the driver's own limits */
        .compile_only = true, .memory = PROFILE_MEMORY_SEPARATE, .hidden = SHARING,
    },
    {
        .name = "no-timeline",
        .device = "Old", .type = INTEGRATED, .vendor = 0x10000, .no_timeline = true,
        .hidden = " VK_KHR_timeline_semaphore ",
    },
};

const struct profile *profile_chosen(void)
{
    const char *name = getenv("TDL_PROFILE");
    for (size_t i = 0; name && i < sizeof(profiles) / sizeof(*profiles); i++)
        if (strcmp(name, profiles[i].name) == 0)
            return &profiles[i];
    return NULL;
}
