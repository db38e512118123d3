/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Nobody else decides what is read from there, or written. */
static bool is_own_folder(const char *path)
{
    struct stat st;
    errno = EPERM;
    return !stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Without O_NONBLOCK, opening a pipe waits for its writer. */
FILE *tdl_cache_open(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[1300];
    struct stat st;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    const int fd =
        is_own_folder(folder) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0)
        return NULL;
    FILE *f =
        !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() ? fdopen(fd, "rb") : NULL;
    if (!f)
        close(fd);
    return f;
}

static bool put(FILE *f, const void *data, size_t size)
{
    return !size || fwrite(data, size, 1, f) == 1;
}

enum tdl_result tdl_cache_write(struct tdl_context *ctx, const char *path, const void *header,
                                size_t header_size, const void *data, size_t size)
{
    char temporary[1300], folder[1100];
    snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
    make_folders(folder);
    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    int fd = is_own_folder(folder) ? mkstemp(temporary) : -1;
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
