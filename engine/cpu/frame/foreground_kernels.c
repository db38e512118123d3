/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Differences between a network's foreground colours and the picture that it saw, at the
 * mask's size (shaders/frame/foreground.comp).
 */
#include "kernels.h"

#include "shape.h"

#include <string.h>

/* A channel, and whether it is a finite number: of its bits, for what is compiled here may
 * take every float for one. */
static float channel_at(const void *tensor, const struct tdl_color_reading *r, size_t i,
                        bool *known)
{
    uint32_t bits;
    float v;
    if (r->half) {
        const uint16_t half = ((const uint16_t *)tensor)[i];
        *known = *known && (half & 0x7c00) != 0x7c00;
        return tdl_half_to_float(half);
    }
    memcpy(&bits, (const float *)tensor + i, sizeof(bits));
    memcpy(&v, &bits, sizeof(v));
    *known = *known && (bits & 0x7f800000) != 0x7f800000;
    return v;
}

static float limited(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* Differences of one pixel's channels, `most` either way; 0 where a value is NaN or infinite. */
static void take_pixel(const struct tdl_cpu_foreground *f, size_t pixel, float most, float d[3])
{
    const struct tdl_color_reading *a = &f->of_foreground, *b = &f->of_picture;
    bool known = true;
    for (size_t c = 0; c < 3; c++) {
        const float front = channel_at(f->foreground, a, pixel * a->pixel + c * a->channel, &known);
        const float seen = channel_at(f->picture, b, pixel * b->pixel + c * b->channel, &known);
        d[c] = limited(front) - limited(seen * b->scale[c] + b->offset[c]);
        d[c] = d[c] < -most ? -most : d[c] > most ? most : d[c];
    }
    for (int c = 0; c < 3 && !known; c++)
        d[c] = 0;
}

void TDL_CPU_NAME(foreground)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_foreground *f = work;
    const struct tdl_mask_part *p = &f->part;
    const size_t size = (size_t)p->width * p->height;
    for (size_t y = begin; y < end; y++)
        for (size_t x = 0; x < p->width; x++) {
            const int64_t u = (int64_t)x + p->x, v = (int64_t)y + p->y;
            const uint32_t mask = f->state[y * p->width + x] >> 16;
            float *out = f->out + y * p->width + x, d[3] = {0, 0, 0};
            if (mask < 65535 && u >= 0 && v >= 0 && u < p->mask_width && v < p->mask_height)
                take_pixel(f, (size_t)v * (size_t)p->mask_width + (size_t)u,
                           (float)(int)(65535 - mask) * (1 / 65535.f), d);
            for (size_t c = 0; c < 3; c++)
                out[c * size] =
                    f->matrix[c][0] * d[0] + f->matrix[c][1] * d[1] + f->matrix[c][2] * d[2];
        }
}
