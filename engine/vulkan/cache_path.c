/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cache_path.h"

#include "kernels.h"

#include <stdio.h>

bool tdl_cache_path(const struct tdl_context *ctx, const char *kind, const char *extension,
                    char *path, size_t size)
{
    uint64_t shaders = TDL_HASH_START;
    char uuid[2 * VK_UUID_SIZE + 1];
    if (!ctx->cache_dir)
        return false;
    for (size_t i = 0; i < tdl_shader_count; i++)
        shaders = tdl_hash_bytes(shaders, tdl_shaders[i].code, tdl_shaders[i].size);
    for (size_t i = 0; i < VK_UUID_SIZE; i++)
        snprintf(&uuid[2 * i], 3, "%02x", tdl_vk(ctx)->properties.pipelineCacheUUID[i]);
    int length = snprintf(path, size, "%s/%s-%04x-%04x-%x-%s-%016llx.%s", ctx->cache_dir, kind,
                          tdl_vk(ctx)->properties.vendorID, tdl_vk(ctx)->properties.deviceID,
                          tdl_vk(ctx)->properties.driverVersion, uuid, (unsigned long long)shaders,
                          extension);
    return length > 0 && (size_t)length < size;
}
