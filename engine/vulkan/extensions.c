/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "extensions.h"

#include <stdlib.h>
#include <string.h>

enum tdl_result tdl_extensions_init(struct tdl_extensions *extensions, VkPhysicalDevice physical)
{
    *extensions = (struct tdl_extensions){.count = 0};
    uint32_t count = 0;
    VkResult result = vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    if (result >= 0 && count) {
        extensions->list = calloc(count, sizeof(*extensions->list));
        if (!extensions->list)
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while listing extensions");
        result = vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions->list);
    }
    if (result < 0) {
        tdl_extensions_finish(extensions);
        return tdl_vk_fail(NULL, result, "vkEnumerateDeviceExtensionProperties(");
    }
    extensions->count = count;
    return TDL_OK;
}

void tdl_extensions_finish(struct tdl_extensions *extensions)
{
    free(extensions->list);
    *extensions = (struct tdl_extensions){.count = 0};
}

bool tdl_extensions_have(const struct tdl_extensions *extensions, const char *name)
{
    for (uint32_t i = 0; i < extensions->count; i++)
        if (!strcmp(extensions->list[i].extensionName, name))
            return true;
    return false;
}
