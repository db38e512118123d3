/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Composition in double precision, written from frame.h's words. */
#ifndef TEST_FRAME_REFERENCE_H
#define TEST_FRAME_REFERENCE_H

#include "test-frame-common.h"

/* The samples of a frame before rounding; component 3 is alpha. */
struct samples {
    int width[4], height[4];
    double *at[4];
};
struct samples samples_new(const struct tdl_frame *frame);
void samples_free(struct samples *s);
static inline double *sample(const struct samples *s, int component, int x, int y)
{
    return &s->at[component][y * s->width[component] + x];
}

/* The source in the target's codes and sampling. */
struct samples convert(const struct picture *source, const struct tdl_frame *target);

/* The value within the target's codes, or as far outside as the colour it was made of: what
 * neither needs to change is not changed. */
double limited(double value, double from, const struct tdl_frame *target);

/* A value per pixel of a small picture. */
struct map {
    int width, height;
    double *at;
};
struct map map_new(int width, int height);
void map_free(struct map *m);
/* Bilinear, pixel centres aligned, borders repeated: pixel x of `size`. */
double map_between(const struct map *m, int x, int y, int width, int height);

/* The mask at full size: interpolated, or by the guided filter (radius 2,
 * penalty 1e-3) and what it cannot tell, then the soft step and the inversion. */
struct map full_mask(const struct picture *source, const struct map *mask,
                     const struct tdl_compose_params *params);

/* The whole composition but for blur. `picture` is params->background. */
struct samples compose(const struct picture *source, const struct map *mask,
                       const struct picture *background, const struct tdl_frame *target,
                       const struct tdl_compose_params *params);
/* The background of mode blur in the target's codes. */
struct samples blurred(const struct samples *converted, const struct map *mask,
                       const struct tdl_frame *target, const struct tdl_compose_params *params);

/* Compares what the GPU wrote; fails when a sample is off by more than
 * `tolerance` codes of 8 bits. */
void check_target(const struct picture *target, const struct samples *want, double tolerance,
                  const char *what);

#endif
