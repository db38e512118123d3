/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FUZZ_TWO_FILES_H
#define FUZZ_TWO_FILES_H

#include <tdl/models.h>

/* Length of the text at the start of the bytes, which ends with a 0 byte or with the data. */
size_t fuzz_text_length(const uint8_t *data, size_t size);

/* The bytes as a model of two files through its reader and, if it takes them, fuzz_compile():
 * the text as "it.`ending`", what lies behind its 0 as the weights "it.bin". */
void fuzz_two_files(const char *ending, const uint8_t *data, size_t size,
                    const struct tdl_model_params *params);

#endif
