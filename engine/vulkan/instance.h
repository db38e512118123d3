/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instances, and which physical device a context takes. */
#ifndef TDL_INSTANCE_H
#define TDL_INSTANCE_H

#include "vk.h"

/* VkApplicationInfo.apiVersion. Devices may have less, and the newest of it is asked for where
 * they have more. */
#define TDL_INSTANCE_VERSION VK_API_VERSION_1_3

/* Give an instance, a new one or the process's own; with `validation`, the Khronos
 * layer and debug utils if they are installed (out_validation says so). */
enum tdl_result tdl_instance_create(bool validation, VkInstance *out_instance,
                                    bool *out_validation);

/* Give it back. NULL is accepted. */
void tdl_instance_destroy(VkInstance instance);

/* Unload the drivers, if nobody has the process's own instance: what was found is not
 * to be used. */
void tdl_instance_unload(void);

/* Fill `out_info` for one physical device, `usable` included. */
void tdl_device_describe(VkPhysicalDevice physical, struct tdl_device_info *out_info);

/* The device that `selector` (tdl_context_params.device) means. */
enum tdl_result tdl_device_select(VkInstance instance, const char *selector,
                                  VkPhysicalDevice *out_physical, struct tdl_device_info *out_info);

/* The queue family libtdl uses: compute, without graphics if both exist.
 * UINT32_MAX if there is none. */
uint32_t tdl_device_queue_family(VkPhysicalDevice physical, VkQueueFamilyProperties *out_family);

#endif
