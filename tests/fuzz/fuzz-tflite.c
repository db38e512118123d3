/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the TensorFlow Lite importer. It may refuse
 * them, with a text; it may not read outside them, overflow, leak or hang.
 * What it takes goes on through the passes of the compiler that need no
 * device, fused and not, on a device made up here.
 */
#include "compile.h"

#include <tdl/models.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdl_builder *builder = NULL;
    enum tdl_result r;

    if (tdl_builder_create(fuzz_context(), &builder) != TDL_OK)
        return 0;
    r = tdl_model_import(builder, data, size, NULL);
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

/* The file is a web of aligned 32-bit offsets, counts and numbers and of
 * 16-bit vtable entries. Random bit flips in weights find nothing; half of the
 * time put a telling value into one word, or copy one word over another. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static const uint32_t telling[] = {0, 1, 2, 3, 4, 5, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
                                       0x10000, 0x7fffffff, 0x80000000u, 0xffffffffu, 0xfffffffcu,
                                       0x40000000, 0x55555556};
    uint32_t state = seed;
    const size_t width = next(&state) % 2 ? 4 : 2;

    if (next(&state) % 2 || size < 64)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t i = next(&state) % 3; i < 3; i++) {
        const size_t to = next(&state) % (size / width) * width;
        const size_t from = next(&state) % (size / width) * width;
        uint32_t value = telling[next(&state) % (sizeof(telling) / sizeof(telling[0]))];

        switch (next(&state) % 4) {
        case 0: /* another word */
            memcpy(&value, data + from, width);
            break;
        case 1: /* a little more or less than now */
            memcpy(&value, data + to, width);
            value += next(&state) % 17 - 8;
            break;
        case 2: /* an offset to somewhere, or to just past the end */
            value = (uint32_t)(size - to) - (next(&state) % 2 ? 0 : next(&state) % (uint32_t)size);
            break;
        default:
            break;
        }
        memcpy(data + to, &value, width);
    }
    return size;
}
