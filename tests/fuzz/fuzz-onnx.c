/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the ONNX reader. It may refuse them, with a text;
 * it may not read outside them, overflow, leak or hang. What it takes goes on through
 * the compiler, and on the CPU, as far as that takes no time.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "compile.h"

#include <tdl/models.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Sizes for what models leave open, which are few names. */
static const struct tdl_model_params sizes = {.size = {16, 24}};

/* From a file, whose memory is the reader's: it moves and turns weights in it. */
static enum tdl_result load(struct tdl_builder *builder, const uint8_t *data, size_t size,
                            const struct tdl_model_params *params)
{
    static int fd = -1;
    char path[64];

    if (fd < 0)
        fd = memfd_create("model", 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return tdl_model_load(builder, path, params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tdl_model_params *params = size % 2 ? &sizes : NULL;
    struct tdl_builder *builder = NULL;
    enum tdl_result r;

    if (tdl_builder_create(fuzz_context(), &builder) != TDL_OK)
        return 0;
    r = size % 4 < 2 ? load(builder, data, size, params)
                     : tdl_model_import(builder, data, size, params);
    fuzz_check_status(builder, r);
    if (r == TDL_OK)
        fuzz_compile(builder);
    tdl_builder_destroy(&builder);
    return 0;
}

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Another number of as many bytes: lengths, of which each message around has one, stay
 * right where only its value changes. */
static void change_varint(uint8_t *at, const uint8_t *end, uint32_t *state)
{
    static const uint8_t telling[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 0x20, 0x40, 0x7e, 0x7f};

    while (at < end && (*at & 0x80))
        *at++ = (uint8_t)(next(state) % 2 ? 0xff : 0x80 | next(state));
    if (at < end)
        *at = telling[next(state) % sizeof(telling)];
}

/* Eight bytes are often an int64, four a float: shapes, axes, bounds. */
static void change_word(uint8_t *at, size_t left, uint32_t *state)
{
    static const int64_t telling[] = {0,         1,       -1,        2,          3,
                                      4,         -2,      INT64_MAX, INT64_MIN,  INT32_MAX,
                                      INT32_MIN, 1 << 20, 65536,     0x7f800000, 0x7fc00000};
    const int64_t value = telling[next(state) % (sizeof(telling) / sizeof(telling[0]))];
    const size_t size = next(state) % 2 ? 8 : 4;

    memcpy(at, &value, size < left ? size : left);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    uint32_t state = seed;

    if (next(&state) % 4 == 0 || size < 32)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t i = next(&state) % 3; i < 3; i++) {
        const size_t at = next(&state) % size, from = next(&state) % size;
        const size_t length = next(&state) % 8, room = size - (at > from ? at : from);

        switch (next(&state) % 3) {
        case 0:
            change_varint(data + at, data + size, &state);
            break;
        case 1:
            change_word(data + at, size - at, &state);
            break;
        default: /* one name, or number, over another */
            memmove(data + at, data + from, length < room ? length : room);
            break;
        }
    }
    return size;
}
