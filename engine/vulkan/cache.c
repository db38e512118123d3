/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cache.h"

#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        snprintf(&uuid[2 * i], 3, "%02x", ctx->properties.pipelineCacheUUID[i]);
    int length = snprintf(path, size, "%s/%s-%04x-%04x-%x-%s-%016llx.%s", ctx->cache_dir, kind,
                          ctx->properties.vendorID, ctx->properties.deviceID,
                          ctx->properties.driverVersion, uuid, (unsigned long long)shaders,
                          extension);
    return length > 0 && (size_t)length < size;
}

static void make_folders(const char *path)
{
    char part[1100];
    snprintf(part, sizeof(part), "%s", path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        mkdir(part, 0700);
        *p = '/';
    }
    mkdir(part, 0700);
}

static bool put(FILE *f, const void *data, size_t size)
{
    return !size || fwrite(data, size, 1, f) == 1;
}

enum tdl_result tdl_cache_write(struct tdl_context *ctx, const char *path, const void *header,
                                size_t header_size, const void *data, size_t size)
{
    char temporary[1300];
    make_folders(ctx->cache_dir);
    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool ok = f && put(f, header, header_size) && put(f, data, size);
    if (f)
        ok = fclose(f) == 0 && ok;
    if (ok)
        ok = rename(temporary, path) == 0;
    if (!ok) {
        int error = errno;
        if (fd >= 0)
            unlink(temporary);
        tdl_log(ctx, TDL_LOG_WARNING, "the cache file %s cannot be written: %s", path,
                strerror(error));
        return tdl_fail(TDL_ERROR_IO, "the cache file %s cannot be written: %s", path,
                        strerror(error));
    }
    return TDL_OK;
}
