/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the reader of TensorFlow.js models, as its two files:
 * the JSON up to a byte of 0, and the weights behind it. It may refuse them, with a text;
 * it may not read outside them, overflow, leak or hang. What it takes goes on through the
 * compiler, as fuzz-tflite.c says. Mutations keep to one of the two parts.
 */
#define _GNU_SOURCE /* memmem() */
#include "compile.h"

#include <tdl/models.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

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

    snprintf(path, sizeof(path), "%s/it.json", folder());
    unlink(path);
    snprintf(path, sizeof(path), "%s/it.bin", folder());
    unlink(path);
    rmdir(folder());
}

static size_t length_of_text(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;

    return end ? (size_t)(end - data) : size;
}

/* A number, a letter or a name of JSON takes another's place: what is no JSON any more is
 * refused before the reader sees it. */
static void change_text(uint8_t *data, size_t text, unsigned int seed)
{
    static const char letters[] = "0123456789-";
    size_t at = text ? seed % text : 0;

    for (size_t i = 0; i < text; i++, at = (at + 1) % text)
        if (strchr(letters, data[at]) && data[at]) {
            data[at] = (uint8_t)letters[seed / 7 % (sizeof(letters) - 1)];
            return;
        }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    const size_t text = length_of_text(data, size);

    if (seed % 4 != 0)
        return LLVMFuzzerMutate(data, size, max_size);
    change_text(data, text, seed / 4);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tdl_model_number number = {.input = "ratio", .value = 0.5};
    const bool asks = size && memmem(data, size, "\"ratio\"", 7);
    const struct tdl_model_params params = {
        .size = {4, 6}, .numbers = &number, .number_count = asks};
    const size_t text = length_of_text(data, size), rest = size > text ? size - text - 1 : 0;
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
    snprintf(path, sizeof(path), "%s/it.json", folder());
    write_file(path, data, text);
    r = tdl_model_load(builder, path, &params);
    fuzz_check_status(builder, r);
    if (r == TDL_OK)
        fuzz_compile(builder);
    tdl_builder_destroy(&builder);
    return 0;
}
