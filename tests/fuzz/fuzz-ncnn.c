/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the reader of ncnn's models, as its two files:
 * the text up to a byte of 0, and the weights behind it. It may refuse them, with a
 * text; it may not read outside them, overflow, leak or hang. What it takes goes on
 * through the compiler, as fuzz-tflite.c says.
 */
#include "compile.h"

#include <tdl/models.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

    snprintf(path, sizeof(path), "%s/it.param", folder());
    unlink(path);
    snprintf(path, sizeof(path), "%s/it.bin", folder());
    unlink(path);
    rmdir(folder());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tdl_model_params params = {.size = {4, 6}};
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    const size_t text = end ? (size_t)(end - data) : size, rest = end ? size - text - 1 : 0;
    struct tdl_builder *builder = NULL;
    static bool registered;
    char path[96];
    enum tdl_result r;

    if (!registered)
        atexit(clean_up);
    registered = true;
    if (tdl_builder_create(fuzz_context(), &builder) != TDL_OK)
        return 0;
    snprintf(path, sizeof(path), "%s/it.bin", folder());
    write_file(path, data + size - rest, rest);
    snprintf(path, sizeof(path), "%s/it.param", folder());
    write_file(path, data, text);
    r = tdl_model_load(builder, path, &params);
    fuzz_check_status(builder, r);
    if (r == TDL_OK)
        fuzz_compile(builder);
    tdl_builder_destroy(&builder);
    return 0;
}
