/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models of ncnn, of a layer or few, as text and numbers. Their results were worked out by
 * hand from ncnn's documentation of its layers (ncnn-rows.c), or are those of ncnn itself
 * (ncnn-results.c). */
#ifndef NCNN_ROWS_H
#define NCNN_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ncnn_test {
    const char *name;
    const char *input;  /* parameters of the input: 0=width 1=height 2=channels */
    const char *layers; /* a line each, from "data" to "out" */
    const float *bin;
    int bin_count;
    const float *want;
    int want_count;
    int from;           /* the first number of the input, which counts up */
};

/* Lists of rows. */
extern const struct ncnn_test ncnn_rows[], ncnn_results[];
extern const size_t ncnn_row_count, ncnn_result_count;
/* Row `i` of both; NULL behind the last. */
const struct ncnn_test *ncnn_test(size_t i);

/* Beginning and elements of a list of numbers, in a row. */
#define LIST(...)                                                                                  \
    (const float[]){__VA_ARGS__}, (int)(sizeof((const float[]){__VA_ARGS__}) / sizeof(float))
#define NONE NULL, 0
/* Before weights that could be stored otherwise: float32. */
#define TAG 0.0f

/* Writes the two files, `path` without ".param" and ".bin". */
void ncnn_test_write(const char *path, const struct ncnn_test *test);
/* Both as one file: a byte of 0 lies between them. 0 for success. */
int ncnn_test_seed(FILE *f, const struct ncnn_test *test);
void ncnn_write_files(const char *path, const void *param, size_t param_size, const void *bin,
                      size_t bin_size);

#endif
