/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the list of devices calls of Vulkan's: without Vulkan's headers. */
#ifndef TDL_VULKAN_DEVICE_H
#define TDL_VULKAN_DEVICE_H

#include "core/device.h"

/* A context of the best of the devices behind Vulkan that the params name. */
enum tdl_result tdl_vulkan_context_create(const struct tdl_context_params *params,
                                          struct tdl_context **out_context);
/* Describe all devices behind Vulkan. `out_infos` may be NULL, to count them. */
enum tdl_result tdl_vulkan_device_list(struct tdl_device_info *out_infos, uint32_t capacity,
                                       uint32_t *out_count);

#endif
