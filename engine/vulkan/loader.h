/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vulkan's loader, opened at run time: where it is not installed there is still the
 * CPU. All else calls Vulkan's functions by their own names.
 */
#ifndef TDL_LOADER_H
#define TDL_LOADER_H

#include "vk.h"

/* Before anything else of Vulkan is called: TDL_ERROR_NO_DEVICE, with what to install,
 * if there is no loader. Thread-safe. */
enum tdl_result tdl_loader_open(void);

/* Held where instances and devices come and go, and where the loader looks for a device among
 * all that there are (vkGetDeviceProcAddr, vkSetDebugUtilsObjectNameEXT): that of Debian 12
 * reads its lists without a lock, while other threads free what they hold. That of Debian 13
 * takes drivers without devices off the list, without its own lock, where it enumerates. */
void tdl_loader_lock(void);
void tdl_loader_unlock(void);

#endif
