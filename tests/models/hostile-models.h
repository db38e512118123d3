/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Model files that are valid, small, and cost too much where something grows
 * by more than the file: made with the writer, for tests and the fuzzer.
 */
#ifndef HOSTILE_MODELS_H
#define HOSTILE_MODELS_H

#include "tflite-writer.h"

struct hostile {
    const char *name, *about;
    /* The file in malloc'ed memory; `n` operators, more or less. */
    uint8_t *(*write)(int n, size_t *out_size);
};

extern const struct hostile hostile_models[];
extern const size_t hostile_model_count;

/* NULL if there is none. */
const struct hostile *hostile_find(const char *name);

#endif
