/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the reader of ncnn's models, as its two files:
 * the text up to a byte of 0, and the weights behind it. It may refuse them, with a
 * text; it may not read outside them, overflow, leak or hang. What it takes goes on
 * through the compiler, as fuzz-tflite.c says.
 */
#include "two-files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tdl_model_params params = {.size = {4, 6}};

    fuzz_two_files("param", data, size, &params);
    return 0;
}
