/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compare a mask that a pipeline wrote with a mask of the reference network:
 *
 *     iou MASK.gray WIDTH HEIGHT REFERENCE.f32 WIDTH HEIGHT LEAST
 *
 * MASK.gray is 8-bit without padding; REFERENCE.f32 (little endian, 0…1) is
 * scaled to its size with pixel centres aligned. Both are cut at one half;
 * the intersection over the union must be at least LEAST.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *read_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(size + 1);
    size_t got = file && data ? fread(data, 1, size + 1, file) : 0;

    if (file)
        fclose(file);
    if (got != size) {
        fprintf(stderr, "%s: expected %zu bytes, got %zu\n", path, size, got);
        exit(1);
    }
    return data;
}

static float clamped(const float *image, int width, int height, int x, int y)
{
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return image[(size_t)y * width + x];
}

static double sample(const float *image, int width, int height, double x, double y)
{
    int left = floor(x), top = floor(y);
    double fx = x - left, fy = y - top;
    double upper = clamped(image, width, height, left, top) * (1 - fx) +
                   clamped(image, width, height, left + 1, top) * fx;
    double lower = clamped(image, width, height, left, top + 1) * (1 - fx) +
                   clamped(image, width, height, left + 1, top + 1) * fx;

    return upper * (1 - fy) + lower * fy;
}

int main(int argc, char **argv)
{
    if (argc != 8) {
        fprintf(stderr, "usage: iou MASK.gray WIDTH HEIGHT REFERENCE.f32 WIDTH HEIGHT LEAST\n");
        return 2;
    }
    int width = atoi(argv[2]), height = atoi(argv[3]);
    int ref_width = atoi(argv[5]), ref_height = atoi(argv[6]);
    double least = atof(argv[7]);
    unsigned char *mask = read_file(argv[1], (size_t)width * height);
    float *reference = read_file(argv[4], sizeof(float) * ref_width * ref_height);
    unsigned long both = 0, either = 0;

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int ours = mask[(size_t)y * width + x] >= 128;
            int theirs = sample(reference, ref_width, ref_height,
                                (x + 0.5) * ref_width / width - 0.5,
                                (y + 0.5) * ref_height / height - 0.5) >= 0.5;
            both += ours && theirs;
            either += ours || theirs;
        }
    }
    double iou = either ? (double)both / either : 0;
    printf("IoU %.4f, at least %.4f is asked for\n", iou, least);
    free(mask);
    free(reference);
    return iou >= least ? 0 : 1;
}
