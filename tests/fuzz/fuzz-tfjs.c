/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the reader of TensorFlow.js models, as its two files:
 * the JSON up to a byte of 0, and the weights behind it. It may refuse them, with a text;
 * it may not read outside them, overflow, leak or hang. What it takes goes on through the
 * compiler, as fuzz-tflite.c says. Mutations keep to one of the two parts.
 */
#define _GNU_SOURCE /* memmem() */
#include "two-files.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

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
    const size_t text = fuzz_text_length(data, size);

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

    fuzz_two_files("json", data, size, &params);
    return 0;
}
