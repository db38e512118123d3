/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the targets whose models are a text and a file of weights beside it. */
#include "two-files.h"

#include "compile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *text_ending;

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        perror(path);
        abort();
    }
    close(fd);
}

/* In memory, where there is a file system for that. */
static const char *folder(void)
{
    static char path[64];
    struct stat st;

    if (!*path) {
        snprintf(path, sizeof(path), "%s/tdl-fuzz-XXXXXX",
                 stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(path))
            abort();
    }
    return path;
}

static void clean_up(void)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/it.%s", folder(), text_ending);
    unlink(path);
    snprintf(path, sizeof(path), "%s/it.bin", folder());
    unlink(path);
    rmdir(folder());
}

size_t fuzz_text_length(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;

    return end ? (size_t)(end - data) : size;
}

void fuzz_two_files(const char *ending, const uint8_t *data, size_t size,
                    const struct tdl_model_params *params)
{
    const size_t text = fuzz_text_length(data, size), rest = size > text ? size - text - 1 : 0;
    struct tdl_builder *builder = NULL;
    char path[96];
    enum tdl_result r;

    if (!text_ending)
        atexit(clean_up);
    text_ending = ending;
    if (tdl_builder_create(fuzz_context(), &builder) != TDL_OK)
        return;
    snprintf(path, sizeof(path), "%s/it.bin", folder());
    write_file(path, data + size - rest, rest);
    snprintf(path, sizeof(path), "%s/it.%s", folder(), ending);
    write_file(path, data, text);
    r = tdl_model_load(builder, path, params);
    fuzz_check_status(builder, r);
    if (r == TDL_OK)
        fuzz_compile(builder);
    tdl_builder_destroy(&builder);
}
