/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mask at its own size: the guided filter's two passes (shaders/frame/
 * guided.comp) and growth (grow.comp). Rows are cut into tiles, with what lies round
 * them, that stay in the nearest cache.
 */
#include "kernels.h"
#include "rows.h"

enum { TILE = 512, RADIUS = 2, ROW = TILE + 2 * RADIUS };

static inline float low_unorm(uint32_t w)
{
    return (float)(int)(w & 65535) * (1 / 65535.f);
}
static inline float high_unorm(uint32_t w)
{
    return (float)(int)(w >> 16) * (1 / 65535.f);
}
static inline float low_snorm(uint32_t w)
{
    return (float)(int16_t)(w & 65535);
}
static inline float high_snorm(uint32_t w)
{
    return (float)((int32_t)w >> 16);
}
/* To the nearest of −32767 … 32767, of two's complement. */
static inline uint32_t round_snorm(float scaled)
{
    const float above = tdl_clamp(scaled, -32767, 32767) + 32768.5f;
    return (uint32_t)((int)above - 32768) & 65535;
}

/* Samples of the window that lie inside, across or down. */
static inline float inside(int at, int size)
{
    const int first = at - RADIUS > 0 ? at - RADIUS : 0;
    const int last = at + RADIUS < size - 1 ? at + RADIUS : size - 1;
    return (float)(last - first + 1);
}

/* Place of the tile's columns, and RADIUS on either side, in the mask. */
struct span {
    int x, n;       /* the tile */
    int begin, end; /* columns that exist: x - RADIUS … x + n + RADIUS at most */
    int offset;     /* index of `begin` in a row that begins at x - RADIUS */
};

static struct span span_of(int x, int width)
{
    struct span s = {.x = x, .n = width - x < TILE ? width - x : TILE};
    s.begin = x > RADIUS ? x - RADIUS : 0;
    s.end = x + s.n + RADIUS < width ? x + s.n + RADIUS : width;
    s.offset = s.begin - (x - RADIUS);
    return s;
}

static void clear_rows(const struct span *s, float (*sums)[ROW], int count)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < s->n + 2 * RADIUS; i++)
            sums[k][i] = 0;
}

/* The window's columns, summed: guide and mask, their product and their squares. */
static void sum_pairs(const struct tdl_cpu_guided *g, const struct span *s, int y,
                      float (*restrict sums)[ROW])
{
    const int first = y > RADIUS ? y - RADIUS : 0;
    const int last = y + RADIUS < g->height - 1 ? y + RADIUS : g->height - 1;
    clear_rows(s, sums, 5);
    for (int row = first; row <= last; row++) {
        const uint32_t *restrict in = g->pairs + (size_t)row * (size_t)g->width + s->begin;
        float *restrict guide = sums[0] + s->offset, *restrict mask = sums[1] + s->offset;
        float *restrict both = sums[2] + s->offset, *restrict square = sums[3] + s->offset;
        float *restrict other = sums[4] + s->offset;
        for (int i = 0; i < s->end - s->begin; i++) {
            const float u = low_unorm(in[i]), v = high_unorm(in[i]);
            guide[i] += u;
            mask[i] += v;
            both[i] += u * v;
            square[i] += u * u;
            other[i] += v * v;
        }
    }
}

static inline float window(const float *sums)
{
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4];
}

static void fit_tile(const struct tdl_cpu_guided *g, const struct span *s, int y)
{
    float sums[5][ROW], share[TILE];
    const size_t first = (size_t)y * (size_t)g->width + (size_t)s->x;
    uint32_t *restrict out = g->lines + first, *restrict left = g->coefficients + first;
    const float down = inside(y, g->height);
    const int n = s->n, x = s->x, width = g->width;
    sum_pairs(g, s, y, sums);
    for (int i = 0; i < n; i++)
        share[i] = 1 / (inside(x + i, width) * down);
    for (int i = 0; i < n; i++) {
        const float u = window(sums[0] + i) * share[i], v = window(sums[1] + i) * share[i];
        const float uv = window(sums[2] + i) * share[i], uu = window(sums[3] + i) * share[i];
        const float vv = window(sums[4] + i) * share[i];
        const float variance = uu - u * u, other = vv - v * v, both = uv - u * v;
        const float a = both / ((variance > 0 ? variance : 0) + TDL_GUIDED_PENALTY);
        const float b = v - a * u;
        const float told = a * both / ((other > 0 ? other : 0) + TDL_GUIDED_LEAST);
        left[i] = round_snorm((1 - told) * 32767);
        out[i] = round_snorm(a * (32767 / 16.f)) | round_snorm(b * (32767 / 16.f)) << 16;
    }
}

/* Guide and mask with weights 1 2 1 down; across, the border's repeats lie beside them. */
static void blur_down(const struct tdl_cpu_guided *g, const struct span *s, int y,
                      float (*restrict sums)[ROW])
{
    const int last = s->offset + s->end - s->begin;
    clear_rows(s, sums, 2);
    for (int k = -1; k <= 1; k++) {
        const int row = tdl_clamp_int(y + k, 0, g->height - 1);
        const uint32_t *restrict in = g->pairs + (size_t)row * (size_t)g->width + s->begin;
        float *restrict guide = sums[0] + s->offset, *restrict mask = sums[1] + s->offset;
        const float weight = k ? 0.25f : 0.5f;
        for (int i = 0; i < s->end - s->begin; i++) {
            guide[i] += weight * low_unorm(in[i]);
            mask[i] += weight * high_unorm(in[i]);
        }
    }
    for (int k = 0; k < 2; k++) {
        if (s->offset)
            sums[k][s->offset - 1] = sums[k][s->offset];
        if (last < ROW)
            sums[k][last] = sums[k][last - 1];
    }
}

static inline float blur_across(const float *sums)
{
    return 0.25f * sums[RADIUS - 1] + 0.5f * sums[RADIUS] + 0.25f * sums[RADIUS + 1];
}

static void mean_tile(const struct tdl_cpu_guided *g, const struct span *s, int y)
{
    float sums[2][ROW], blurred[2][ROW], share[TILE];
    uint32_t *restrict out = g->coefficients + (size_t)y * (size_t)g->width + (size_t)s->x;
    const int first = y > RADIUS ? y - RADIUS : 0;
    const int last = y + RADIUS < g->height - 1 ? y + RADIUS : g->height - 1;
    const float down = inside(y, g->height);
    const int n = s->n, x = s->x, width = g->width;
    clear_rows(s, sums, 2);
    for (int row = first; row <= last; row++) {
        const uint32_t *restrict in = g->lines + (size_t)row * (size_t)g->width + s->begin;
        float *restrict a = sums[0] + s->offset, *restrict b = sums[1] + s->offset;
        for (int i = 0; i < s->end - s->begin; i++) {
            a[i] += low_snorm(in[i]);
            b[i] += high_snorm(in[i]);
        }
    }
    blur_down(g, s, y, blurred);
    for (int i = 0; i < n; i++)
        share[i] = 1 / (inside(x + i, width) * down);
    for (int i = 0; i < n; i++) {
        const float a = window(sums[0] + i) * share[i], b = window(sums[1] + i) * share[i];
        const float mask = blur_across(blurred[1] + i) * (32767 / 16.f);
        const float rest = mask - a * blur_across(blurred[0] + i) - b;
        out[i] = round_snorm(a) | round_snorm(b + low_snorm(out[i]) * (1 / 32767.f) * rest) << 16;
    }
}

void TDL_CPU_NAME(fit)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_guided *g = work;
    for (int x = 0; x < g->width; x += TILE) {
        const struct span s = span_of(x, g->width);
        for (size_t y = begin; y < end; y++)
            fit_tile(g, &s, (int)y);
    }
}

void TDL_CPU_NAME(mean)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_guided *g = work;
    for (int x = 0; x < g->width; x += TILE) {
        const struct span s = span_of(x, g->width);
        for (size_t y = begin; y < end; y++)
            mean_tile(g, &s, (int)y);
    }
}

/* ------------------------------------------------------------------ growing */

enum { MOST_ROWS = 2 * TDL_COMPOSE_MAX_REACH + 2, WIDE = TILE + MOST_ROWS };

/* Rows of the mask's values from `reach` before the tile on; what is outside repeats
 * the border, and where the mask shrinks, background is what grows. */
static void load_values(const struct tdl_cpu_grow *g, int x, int y, int n, float *restrict out)
{
    const uint32_t *restrict in =
        g->in + (size_t)tdl_clamp_int(y, 0, g->height - 1) * (size_t)g->width;
    const int first = x - g->reach[0], last = x + n + g->reach[0] + 1;
    const int begin = first > 0 ? first : 0, end = last < g->width ? last : g->width;
    for (int i = begin; i < end; i++)
        out[i - first] = g->shrink ? 1 - high_unorm(in[i]) : high_unorm(in[i]);
    for (int i = first; i < begin; i++)
        out[i - first] = out[begin - first];
    for (int i = end; i < last; i++)
        out[i - first] = out[end - 1 - first];
}

static void grow_tile(const struct tdl_cpu_grow *g, int x, int y, int n, float *const *rows)
{
    const size_t first = (size_t)y * (size_t)g->width + (size_t)x;
    const int across = g->reach[0], down = g->reach[1];
    const uint32_t *restrict in = g->in + first;
    uint32_t *restrict out = g->out + first;
    float greatest[TILE];
    for (int i = 0; i < n; i++)
        greatest[i] = rows[down][across + i];
    for (uint32_t k = 0; k < g->probe_count; k++) {
        const struct tdl_cpu_probe p = g->probes[k];
        const float *restrict a = rows[down + p.y] + across + p.x;
        const float *restrict b = rows[down + p.y + 1] + across + p.x;
        if (p.right == 0 && p.below == 0)
            for (int i = 0; i < n; i++)
                greatest[i] = greatest[i] > a[i] ? greatest[i] : a[i];
        else
            for (int i = 0; i < n; i++) {
                const float top = a[i] + (a[i + 1] - a[i]) * p.right;
                const float low = b[i] + (b[i + 1] - b[i]) * p.right;
                const float v = top + (low - top) * p.below;
                greatest[i] = greatest[i] > v ? greatest[i] : v;
            }
    }
    for (int i = 0; i < n && g->shrink; i++)
        greatest[i] = 1 - greatest[i];
    if (g->coefficients)
        for (int i = 0; i < n; i++)
            out[i] = round_snorm(greatest[i] * (32767 / 16.f)) << 16;
    else
        for (int i = 0; i < n; i++)
            out[i] = (in[i] & 65535) | (uint32_t)(int)(tdl_clamp(greatest[i], 0, 1) * 65535 + 0.5f)
                                           << 16;
}

void TDL_CPU_NAME(grow)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_grow *g = work;
    float values[MOST_ROWS][WIDE], *rows[MOST_ROWS];
    const int around = 2 * g->reach[1] + 2, down = g->reach[1];
    for (int x = 0; x < g->width; x += TILE) {
        const int n = g->width - x < TILE ? g->width - x : TILE;
        for (int k = 0; k < around; k++) {
            rows[k] = values[k];
            load_values(g, x, (int)begin - down + k, n, rows[k]);
        }
        for (int y = (int)begin; y < (int)end; y++) {
            float *oldest = rows[0];
            grow_tile(g, x, y, n, rows);
            for (int k = 1; k < around; k++)
                rows[k - 1] = rows[k];
            rows[around - 1] = oldest;
            if (y + 1 < (int)end)
                load_values(g, x, y + 1 + around - 1 - down, n, oldest);
        }
    }
}
