/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_EXTENSIONS_H
#define TDL_EXTENSIONS_H

#include "vk.h"

/* The extensions that a device offers, asked for once. */
struct tdl_extensions {
    VkExtensionProperties *list;
    uint32_t count;
};
enum tdl_result tdl_extensions_init(struct tdl_extensions *extensions, VkPhysicalDevice physical);
void tdl_extensions_finish(struct tdl_extensions *extensions);
bool tdl_extensions_have(const struct tdl_extensions *extensions, const char *name);

#endif
