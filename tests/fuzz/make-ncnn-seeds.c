/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First inputs of fuzz-ncnn, written to a folder: the models of the tests.
 *
 *   make-ncnn-seeds FOLDER */
#include "ncnn-rows.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t count = 0;

    for (size_t i = 0; argc == 2 && ncnn_test(i); i++) {
        char path[512];
        FILE *f;

        snprintf(path, sizeof(path), "%s/seed-%03zu", argv[1], i);
        f = fopen(path, "wb");
        if (!f || ncnn_test_seed(f, ncnn_test(i)) != 0 || fclose(f) != 0) {
            perror(path);
            return 1;
        }
        count++;
    }
    printf("%zu seeds\n", count);
    return argc == 2 ? 0 : 2;
}
