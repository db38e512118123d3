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

#endif
