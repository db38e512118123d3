/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cache_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
