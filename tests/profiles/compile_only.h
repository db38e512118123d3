/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that compiles and does nothing else, for drivers whose hardware is not here. */
#ifndef TDL_TEST_COMPILE_ONLY_H
#define TDL_TEST_COMPILE_ONLY_H

#include <vulkan/vulkan.h>

/* Replacement for a device's function; NULL: the driver's own is used. */
PFN_vkVoidFunction compile_only_function(const char *name);

/* A new device, whose driver has VK_KHR_pipeline_executable_properties, and what asks it. */
void compile_only_start(VkDevice device, PFN_vkGetDeviceProcAddr get);

#endif
