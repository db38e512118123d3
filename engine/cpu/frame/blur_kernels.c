/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blurred background at reduced size (shaders/frame/blur_down.comp, blur.comp).
 * Only what is clearly background counts, and its weight goes along: the blur
 * divides by it at the end, so no foreground colour reaches the background around it.
 * For means of either, what is clearly foreground is blurred likewise. Light
 * (shaders/frame/light.comp) is what will be seen of the new background, and keeps its
 * weight.
 */
#include "blocks.h"

/* The weight is so small that it only matters where there is no background at all. */
#define LEAST_WEIGHT (1 / 8192.f)

/* Blocks of a tile, and of these the ones whose pixels are all inside. */
struct blocks {
    float sum[4][TDL_TILE / 4 + 1]; /* colour and count, or the guide in the last */
    float guide[TDL_TILE / 4 + 1], mask[TDL_TILE / 4 + 1];
    float weight[2][TDL_TILE / 4 + 1]; /* weights of background and foreground */
};

/* Four neighbours of two rows to one; `rows` 1: the second is not there. What lies
 * behind pixel n - 1 does not count. */
static void add_pixels(int n, int rows, const float *restrict a, const float *restrict b,
                       float *restrict out)
{
    const float second = rows > 1 ? 1 : 0;
    for (int i = 0; i < n / 4; i++) {
        const int k = 4 * i;
        out[i] = (a[k] + a[k + 1] + a[k + 2] + a[k + 3]) +
                 (b[k] + b[k + 1] + b[k + 2] + b[k + 3]) * second;
    }
    if (n % 4)
        out[n / 4] = 0;
    for (int k = n / 4 * 4; k < n; k++)
        out[n / 4] += a[k] + b[k] * second;
}

/* As add_pixels(), for samples that two pixels share. */
static void add_pairs(int n, int rows, const float *restrict a, const float *restrict b,
                      float *restrict out)
{
    const float second = rows > 1 ? 1 : 0;
    for (int i = 0; i < n / 4; i++)
        out[i] = 2 * (a[2 * i] + a[2 * i + 1]) + 2 * (b[2 * i] + b[2 * i + 1]) * second;
    if (n % 4)
        out[n / 4] = 0;
    for (int k = n / 4 * 4; k < n; k++)
        out[n / 4] += a[k / 2] + b[k / 2] * second;
}

static void sum_blocks(const struct tdl_cpu_picture *p, const struct tdl_tile *t, int rows,
                       float *const in[2][4], struct blocks *out)
{
    const int blocks = t->blocks / 4;
    const bool half_y = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_Y);
    add_pixels(t->n, rows, in[0][0], in[1][0], out->sum[0]);
    for (int i = 0; i < blocks; i++)
        out->sum[3][i] = (float)((t->n - 4 * i < 4 ? t->n - 4 * i : 4) * rows);
    for (int c = 1; c < 3; c++)
        if (tdl_cpu_picture_has(p, TDL_TRAIT_FULL))
            add_pixels(t->n, rows, in[0][c], in[1][c], out->sum[c]);
        else if (tdl_cpu_picture_has(p, TDL_TRAIT_CHROMA))
            add_pairs(t->n, rows, in[0][c], in[half_y ? 0 : 1][c], out->sum[c]);
        else
            tdl_scale_row(p->neutral, 0, blocks, out->sum[3], out->sum[c]);
}

static void sum_guide(const struct tdl_cpu_blocks *b, struct tdl_tile *t, int rows,
                      struct blocks *out)
{
    if (!b->guided)
        return;
    tdl_tile_guide(b, t);
    add_pixels(t->n, rows, t->guide[0] + TDL_LEFT, t->guide[1] + TDL_LEFT, out->guide);
    for (int i = 0; i < t->blocks / 4; i++)
        out->guide[i] /= out->sum[3][i];
}

/* The mask in the middle of each block: `mask`. */
static void mask_blocks(const struct tdl_cpu_blocks *b, const struct tdl_tile *t, int y,
                        struct blocks *blocks)
{
    const float across = (float)b->mask_width / (float)b->source.width;
    const float down = (float)b->mask_height / (float)b->source.height;
    const int right = b->mask_width - 1, bottom = b->mask_height - 1;
    const float v = tdl_clamp((float)(y + 1) * down - 0.5f, 0, (float)bottom);
    const int row = (int)v, next_row = row < bottom ? row + 1 : bottom;
    const uint32_t *restrict top = b->coefficients + (size_t)row * (size_t)b->mask_width;
    const uint32_t *restrict low = b->coefficients + (size_t)next_row * (size_t)b->mask_width;
    const float part_y = v - (float)row;
    for (int i = 0; i < t->blocks / 4; i++) {
        const float u = tdl_clamp((float)(t->x + 4 * i + 2) * across - 0.5f, 0, (float)right);
        const int at = (int)u, next = at < right ? at + 1 : right;
        const float part = u - (float)at;
        const uint32_t c[4] = {top[at], top[next], low[at], low[next]};
        float a[4], k[4];
        for (int j = 0; j < 4; j++) {
            a[j] = (float)(int16_t)(c[j] & 65535);
            k[j] = (float)((int32_t)c[j] >> 16);
        }
        const float a0 = a[0] + (a[1] - a[0]) * part, a1 = a[2] + (a[3] - a[2]) * part;
        const float k0 = k[0] + (k[1] - k[0]) * part, k1 = k[2] + (k[3] - k[2]) * part;
        const float slope = (a0 + (a1 - a0) * part_y) * TDL_COEFFICIENT;
        const float base = (k0 + (k1 - k0) * part_y) * TDL_COEFFICIENT;
        blocks->mask[i] = tdl_step_of(b->soft, b->guided ? slope * blocks->guide[i] + base : base);
    }
}

/* How much each block is background or foreground. */
static void weigh_blocks(int n, struct blocks *blocks)
{
    for (int i = 0; i < n; i++) {
        const float background = 1 - 2 * blocks->mask[i];
        blocks->weight[0][i] = (background > 0 ? background : 0) + LEAST_WEIGHT;
        blocks->weight[1][i] = (background < 0 ? -background : 0) + LEAST_WEIGHT;
    }
}

/* Colour · weight and weight of a row of blocks to the pixels of picture `picture` that
 * begin at `out`. */
static void add_blocks(const struct tdl_cpu_blur *b, int n, const struct blocks *blocks,
                       const float *restrict weight, float *restrict out)
{
    const int factor = (int)b->steps.factor, each = factor / 4;
    const size_t size = (size_t)b->steps.width * b->steps.height;
    const float share = 1 / (float)(factor * factor);
    for (int c = 0; c < 4; c++) {
        const float *restrict sum = blocks->sum[c];
        const float unit = c < 3 ? share / b->blocks.target.max : share;
        for (int i = 0; i < n; i++)
            out[(size_t)c * size + (size_t)(i / each)] += sum[i] * weight[i] * unit;
    }
}

static void clear_pixels(const struct tdl_cpu_blur *b, int n, int pictures, float *out)
{
    const size_t size = (size_t)b->steps.width * b->steps.height;
    for (int c = 0; c < 4 * pictures; c++)
        memset(out + (size_t)c * size, 0, (size_t)n * sizeof(float));
}

/* Parts are rows of the small picture. */
void TDL_CPU_NAME(blur_down)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_blur *b = work;
    const struct tdl_cpu_picture *p = &b->blocks.source;
    const int factor = (int)b->steps.factor, width = (int)b->steps.width;
    const int pictures = b->light ? 2 : b->pictures;
    const size_t size = (size_t)b->steps.width * b->steps.height;
    struct tdl_tile t;
    struct blocks blocks;
    for (int x = 0; x < p->width; x += TDL_TILE) {
        tdl_tile_begin(&b->blocks, &t, x);
        for (size_t row = begin; row < end; row++) {
            float *out = b->sums + row * (size_t)width + x / factor;
            const int bottom = TDL_MIN(((int)row + 1) * factor, p->height);
            clear_pixels(b, TDL_DIV_UP(t.n, factor), pictures, out);
            for (int y = (int)row * factor; y < bottom; y += 2) {
                const int rows = y + 1 < p->height ? 2 : 1;
                tdl_tile_load(&b->blocks, &t, y, true);
                sum_blocks(&b->blocks.target, &t, rows, t.target, &blocks);
                sum_guide(&b->blocks, &t, rows, &blocks);
                mask_blocks(&b->blocks, &t, y, &blocks);
                weigh_blocks(t.blocks / 4, &blocks);
                for (int k = 0; k < pictures; k++)
                    add_blocks(b, t.blocks / 4, &blocks, blocks.weight[k],
                               out + 4 * (size_t)k * size);
            }
        }
    }
}

/* How much each block shines; `alpha` its sums, NULL: opaque. */
static void weigh_light(const struct tdl_cpu_blur *b, int n, const float *restrict alpha,
                        struct blocks *blocks)
{
    const bool rgb = tdl_cpu_picture_has(&b->blocks.target, TDL_TRAIT_RGB);
    float(*sum)[TDL_TILE / 4 + 1] = blocks->sum;
    for (int i = 0; i < n; i++) {
        const float count = sum[3][i];
        const float luma =
            rgb ? 0.2126f * sum[0][i] + 0.7152f * sum[1][i] + 0.0722f * sum[2][i] : sum[0][i];
        const float shine = tdl_clamp(luma / count * b->luma_scale + b->luma_offset, 0, 1);
        const float seen = (1 - blocks->mask[i]) * (alpha ? alpha[i] / (255 * count) : 1);
        blocks->weight[0][i] = seen * shine;
    }
}

void TDL_CPU_NAME(light_down)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_blur *b = work;
    const struct tdl_cpu_picture *p = &b->blocks.source;
    const int factor = (int)b->steps.factor, width = (int)b->steps.width;
    const size_t size = (size_t)b->steps.width * b->steps.height;
    const bool opaque = !tdl_cpu_picture_has(&b->blocks.target, TDL_TRAIT_ALPHA);
    float *sums = b->sums + 4 * (size_t)(b->light - 1) * size, alpha[TDL_TILE / 4 + 1];
    tdl_tile_row behind[2][4];
    float *const rows[2][4] = {{behind[0][0], behind[0][1], behind[0][2], behind[0][3]},
                               {behind[1][0], behind[1][1], behind[1][2], behind[1][3]}};
    struct tdl_tile t;
    struct blocks blocks;
    tdl_fill_behind(&b->behind, rows);
    for (int x = 0; x < p->width; x += TDL_TILE) {
        tdl_tile_begin(&b->blocks, &t, x);
        for (size_t row = begin; row < end; row++) {
            float *out = sums + row * (size_t)width + x / factor;
            const int bottom = TDL_MIN(((int)row + 1) * factor, p->height);
            clear_pixels(b, TDL_DIV_UP(t.n, factor), 1, out);
            for (int y = (int)row * factor; y < bottom; y += 2) {
                const int count = y + 1 < p->height ? 2 : 1;
                if (b->behind.is_picture)
                    tdl_tile_behind(&b->behind, &t, y, rows);
                sum_blocks(&b->blocks.target, &t, count, rows, &blocks);
                if (b->blocks.guided)
                    tdl_tile_load(&b->blocks, &t, y, false);
                sum_guide(&b->blocks, &t, count, &blocks);
                mask_blocks(&b->blocks, &t, y, &blocks);
                add_pixels(t.n, count, rows[0][3], rows[1][3], alpha);
                weigh_light(b, t.blocks / 4, opaque ? NULL : alpha, &blocks);
                add_blocks(b, t.blocks / 4, &blocks, blocks.weight[0], out);
            }
        }
    }
}

/* ------------------------------------------------------------------- sweeps */

/* out += w · in, where `in` lies `shift` samples behind. */
static void add_shifted(int n, int shift, float w, const float *restrict in, float *restrict out)
{
    const int begin = shift < 0 ? -shift : 0, end = shift > 0 ? n - shift : n;
    for (int i = begin; i < end; i++)
        out[i] += w * in[i + shift];
}

void TDL_CPU_NAME(blur_across)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_blur *b = work;
    const int n = (int)b->steps.width;
    const size_t size = (size_t)b->steps.width * b->steps.height;
    for (int c = 0; c < 4 * b->pictures; c++)
        for (size_t row = begin; row < end; row++) {
            const float *in = b->sums + (size_t)c * size + row * (size_t)n;
            float *out = b->swept + (size_t)c * size + row * (size_t)n;
            memset(out, 0, (size_t)n * sizeof(*out));
            for (int k = -b->steps.radius; k <= b->steps.radius; k++)
                add_shifted(n, k, b->weights[k < 0 ? -k : k], in, out);
        }
}

static void finish_light(int n, float max, float (*restrict sums)[TDL_TILE], float *const out[4])
{
    for (int c = 0; c < 4; c++)
        tdl_scale_row(c < 3 ? max : 1, 0, n, sums[c], out[c]);
}

static void finish_row(int n, float max, float (*restrict sums)[TDL_TILE], float *const out[4])
{
    const float *restrict weight = sums[3];
    for (int c = 0; c < 3; c++) {
        const float *restrict in = sums[c];
        float *restrict to = out[c];
        for (int i = 0; i < n; i++)
            to[i] = tdl_clamp(in[i] / (weight[i] > 1e-6f ? weight[i] : 1e-6f), 0, 1) * max;
    }
}

/* The other direction, and the division by the weight, which light keeps. */
static void sweep_along(const struct tdl_cpu_blur *b, const float *in, float *out, int x, int row,
                        bool light)
{
    const int width = (int)b->steps.width, n = TDL_MIN(width - x, TDL_TILE);
    const int first = TDL_MAX(row - b->steps.radius, 0);
    const int last = TDL_MIN(row + b->steps.radius, (int)b->steps.height - 1);
    const size_t size = (size_t)b->steps.width * b->steps.height;
    const size_t at = (size_t)row * (size_t)width + (size_t)x;
    float sums[4][TDL_TILE];
    memset(sums, 0, sizeof(sums));
    for (int c = 0; c < 4; c++)
        for (int k = first; k <= last; k++)
            add_shifted(n, 0, b->weights[k < row ? row - k : k - row],
                        in + (size_t)c * size + (size_t)k * (size_t)width + x, sums[c]);
    (light ? finish_light : finish_row)(
        n, b->blocks.target.max, sums,
        (float *const[4]){out + at, out + size + at, out + 2 * size + at, out + 3 * size + at});
}

void TDL_CPU_NAME(blur_along)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_blur *b = work;
    const size_t size = (size_t)b->steps.width * b->steps.height;
    for (int k = 0; k < b->pictures; k++)
        for (int x = 0; x < (int)b->steps.width; x += TDL_TILE)
            for (size_t row = begin; row < end; row++)
                sweep_along(b, b->swept + 4 * (size_t)k * size, b->blurred + 4 * (size_t)k * size,
                            x, (int)row, k + 1 == b->light);
}
