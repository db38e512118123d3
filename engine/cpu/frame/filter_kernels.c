/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of pictures: to tensors, to guides, to replacement pictures. */
#include "filter_rows.h"

#include "shape.h"

static int band_begin(const struct tdl_cpu_bands *b, size_t band)
{
    return (int)((int64_t)b->height * (int64_t)band / b->bands);
}

/* --------------------------------------------------------------- to tensors */

/* Codes to the tensor's values, in place. */
static void normalise(const struct tdl_cpu_to_tensor *t, int n, float *const codes[3])
{
    float *restrict a = codes[0], *restrict b = codes[1], *restrict c = codes[2];
    const float(*m)[4] = t->to_rgb;
    for (int i = 0; i < n; i++) {
        const float r = m[0][0] * a[i] + m[0][1] * b[i] + m[0][2] * c[i] + m[0][3];
        const float g = m[1][0] * a[i] + m[1][1] * b[i] + m[1][2] * c[i] + m[1][3];
        const float u = m[2][0] * a[i] + m[2][1] * b[i] + m[2][2] * c[i] + m[2][3];
        a[i] = tdl_clamp(r, 0, 1) * t->scale[0] + t->bias[0];
        b[i] = tdl_clamp(g, 0, 1) * t->scale[1] + t->bias[1];
        c[i] = tdl_clamp(u, 0, 1) * t->scale[2] + t->bias[2];
    }
}

static void store_tensor(const struct tdl_cpu_to_tensor *t, int y, int n, float *const rgb[3])
{
    const float *restrict r = rgb[0], *restrict g = rgb[1], *restrict b = rgb[2];
    const size_t first = (size_t)y * (size_t)n;
    if (t->half) {
        uint16_t *restrict out = (uint16_t *)t->tensor + 4 * first;
        for (int i = 0; i < n; i++) {
            for (int c = 0; c < 3; c++)
                out[4 * i + c] = tdl_float_to_half(rgb[c][i]);
            out[4 * i + 3] = 0;
        }
    } else if (t->packed) {
        float *restrict out = (float *)t->tensor + 4 * first;
        for (int i = 0; i < n; i++) {
            out[4 * i] = r[i];
            out[4 * i + 1] = g[i];
            out[4 * i + 2] = b[i];
            out[4 * i + 3] = 0;
        }
    } else {
        float *restrict out = (float *)t->tensor + 3 * first;
        for (int i = 0; i < n; i++) {
            out[3 * i] = r[i];
            out[3 * i + 1] = g[i];
            out[3 * i + 2] = b[i];
        }
    }
}

/* Round the picture: the columns left and right of it, or whole rows. */
static void pad_row(const struct tdl_cpu_to_tensor *t, int left, int n, float *const row[3])
{
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < left; i++)
            row[c][i] = t->pad[c];
        for (int i = left + n; i < t->width; i++)
            row[c][i] = t->pad[c];
    }
}

void TDL_CPU_NAME(to_tensor)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_to_tensor *t = work;
    const int n = t->filter.x[0].count, rows = t->filter.y[0].count;
    for (size_t band = begin; band < end; band++) {
        float *room = t->bands.room + band * t->bands.stride;
        float *row[3] = {room, room + t->width, room + 2 * t->width};
        float *codes[4] = {row[0] + t->left, row[1] + t->left, row[2] + t->left, NULL};
        for (int y = band_begin(&t->bands, band); y < band_begin(&t->bands, band + 1); y++) {
            const int at = y - t->top;
            if (at < 0 || at >= rows) {
                pad_row(t, 0, 0, row);
            } else {
                for (int i = 0; i < n && !t->filter.chroma; i++)
                    codes[1][i] = codes[2][i] = t->filter.source.neutral;
                tdl_filter_row(&t->filter, at, room + 3 * t->width, codes);
                normalise(t, n, codes);
                pad_row(t, t->left, n, row);
            }
            store_tensor(t, y, t->width, row);
        }
    }
}

/* ------------------------------------------------------------------ guides */

/* Differences of luma, 0…1, between which the picture passes from still to moving,
 * and changes of the mask between which it passes from wavering to sure; see
 * shaders/frame/guide.comp. */
static const float MOVING[2] = {0.025f, 0.075f}, SURE[2] = {0.1f, 0.3f};

static inline float smooth(const float edge[2], float v)
{
    const float t = tdl_clamp((v - edge[0]) / (edge[1] - edge[0]), 0, 1);
    return t * t * (3 - 2 * t);
}

static inline uint32_t unorm16(float v)
{
    return (uint32_t)(int)(tdl_clamp(v, 0, 1) * 65535 + 0.5f);
}
static inline uint32_t snorm16(float v)
{
    const float scaled = tdl_clamp(v, -1, 1) * 32767;
    return (uint32_t)(int)(scaled + (scaled < 0 ? -0.5f : 0.5f)) & 65535;
}

/* The bits of a float, 0…1; `unknown` where it is no number, or infinite: what was none may
 * have become that on its way. The compiler need not know of either here. */
static inline float number_of(uint32_t bits, uint32_t unknown)
{
    const uint32_t exponent = 0x7f800000;
    union {
        uint32_t bits;
        float value;
    } v = {.bits = (bits & exponent) == exponent ? unknown : bits};
    return tdl_clamp(v.value, 0, 1);
}

/* A row of the new mask; outside of it there is background. */
static void read_mask(const struct tdl_cpu_guide *g, int y, float *restrict mask)
{
    const struct tdl_mask_part *p = &g->part;
    const uint32_t unknown = g->inverted ? 0x3f800000 : 0; /* the bits of 1 and 0 */
    const int row = y + p->y, left = p->x < 0 ? -p->x : 0;
    int begin = left < g->width ? left : g->width;
    int end = p->mask_width - p->x < g->width ? p->mask_width - p->x : g->width;
    if (row < 0 || row >= p->mask_height || end < begin)
        end = begin;
    const tdl_pixel *restrict in =
        (const tdl_pixel *)g->mask + (begin < end ? (ptrdiff_t)row * p->mask_width : 0);
    for (int i = 0; i < begin; i++)
        mask[i] = 0;
    for (int i = begin; i < end; i++)
        mask[i] = number_of(in[i + p->x], unknown);
    for (int i = end; i < g->width; i++)
        mask[i] = 0;
}

static void smooth_mask(const struct tdl_cpu_guide *g, int y, float *restrict guide,
                        float *restrict mask)
{
    const int n = g->width;
    const size_t first = (size_t)y * (size_t)n;
    const float most = g->keep;
    uint32_t *restrict state = g->state + first;
    if (g->reuse) {
        for (int i = 0; i < n; i++)
            mask[i] = (float)(int)(state[i] >> 16) / 65535;
        return;
    }
    read_mask(g, y, mask);
    if (most > 0)
        for (int i = 0; i < n; i++) {
            const float luma = (float)(int)(state[i] & 65535) / 65535;
            const float before = (float)(int)(state[i] >> 16) / 65535;
            const float keep = most * (1 - smooth(MOVING, __builtin_fabsf(guide[i] - luma))) *
                               (1 - smooth(SURE, __builtin_fabsf(mask[i] - before)));
            guide[i] += (luma - guide[i]) * keep;
            mask[i] += (before - mask[i]) * keep;
        }
    for (int i = 0; i < n; i++)
        state[i] = unorm16(guide[i]) | unorm16(mask[i]) << 16;
}

static void look(const struct tdl_cpu_guide *g, int y, float *room, float *const codes[3])
{
    const struct tdl_cpu_picture *p = &g->filter.source;
    float *restrict a = codes[0];
    const float *restrict b = codes[1], *restrict c = codes[2];
    if (!g->look) {
        for (int i = 0; i < g->width; i++)
            a[i] = 0;
        return;
    }
    tdl_filter_row(&g->filter, y, room, (float *const[4]){codes[0], codes[1], codes[2], NULL});
    if (tdl_cpu_picture_has(p, TDL_TRAIT_RGB))
        for (int i = 0; i < g->width; i++)
            a[i] = (0.2126f * a[i] + 0.7152f * b[i] + 0.0722f * c[i]) * (1 / 255.f);
    else
        for (int i = 0; i < g->width; i++)
            a[i] *= 1 / p->max;
}

void TDL_CPU_NAME(guide)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_guide *g = work;
    const int n = g->width;
    for (size_t band = begin; band < end; band++) {
        float *room = g->bands.room + band * g->bands.stride;
        float *codes[3] = {room, room + n, room + 2 * n};
        float *restrict guide = codes[0], *restrict mask = codes[1];
        for (int y = band_begin(&g->bands, band); y < band_begin(&g->bands, band + 1); y++) {
            uint32_t *restrict out = g->out + (size_t)y * (size_t)n;
            look(g, y, room + 3 * n, codes);
            smooth_mask(g, y, guide, mask);
            if (g->pairs)
                for (int i = 0; i < n; i++)
                    out[i] = unorm16(guide[i]) | unorm16(mask[i]) << 16;
            else
                for (int i = 0; i < n; i++)
                    out[i] = snorm16(mask[i] * (1 / 16.f)) << 16;
        }
    }
}

/* ---------------------------------------------------------------- pictures */

/* Codes of the picture to those of the target, in place. */
static void recode(const struct tdl_cpu_make_picture *p, int n, float *const row[4])
{
    float *restrict a = row[0], *restrict b = row[1], *restrict c = row[2];
    const float(*m)[4] = p->matrix;
    for (int i = 0; i < n; i++) {
        const float x = a[i], y = b[i], z = c[i];
        a[i] = m[0][0] * x + m[0][1] * y + m[0][2] * z + m[0][3];
        b[i] = m[1][0] * x + m[1][1] * y + m[1][2] * z + m[1][3];
        c[i] = m[2][0] * x + m[2][1] * y + m[2][2] * z + m[2][3];
    }
    for (int k = 0; k < 4; k++)
        row[k][n] = row[k][n - 1]; /* the last pixel of an odd width */
}

static void make_row(const struct tdl_cpu_make_picture *p, int y, float *room, float *const row[4])
{
    const int n = p->target.width;
    for (int i = 0; i < n; i++) {
        row[1][i] = row[2][i] = p->filter.source.neutral;
        row[3][i] = 255;
    }
    tdl_filter_row(&p->filter, y, room, row);
    recode(p, n, row);
    if (!p->filter.over && tdl_cpu_picture_has(&p->target, TDL_TRAIT_RGB))
        for (int i = 0; i < n; i++)
            row[3][i] = 255;
}

/* Chroma of two rows to one sample for two columns; `out` may be one of the rows. */
static void halve(int n, const float *a, const float *b, float *out)
{
    for (int i = 0; i < (n + 1) / 2; i++)
        out[i] = 0.25f * (a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1]);
}

static void store_row(const struct tdl_cpu_picture *t, int y, float *const row[4])
{
    const int n = t->width;
    if (tdl_cpu_picture_has(t, TDL_TRAIT_RGB)) {
        tdl_store_rgb(t, y, 0, n, (const float *const[4]){row[0], row[1], row[2], row[3]});
        return;
    }
    const bool paired = tdl_cpu_picture_has(t, TDL_TRAIT_PAIRED);
    if (paired) {
        halve(n, row[1], row[1], row[1]);
        halve(n, row[2], row[2], row[2]);
        tdl_store_paired(t, y, 0, n, row[0], row[1], row[2]);
    } else {
        tdl_store_part(t, 0, 1, y, 0, n, (const float *const[1]){row[0]});
    }
}

static void store_chroma(const struct tdl_cpu_picture *t, int y, int n, const float *cb,
                         const float *cr)
{
    if (tdl_cpu_picture_has(t, TDL_TRAIT_MIXED)) {
        tdl_store_part(t, 1, 2, y, 0, n, (const float *const[2]){cb, cr});
    } else {
        tdl_store_part(t, 1, 1, y, 0, n, &cb);
        tdl_store_part(t, 2, 1, y, 0, n, &cr);
    }
}

/* Rows y and y + 1, where there are two. */
static void store_rows(const struct tdl_cpu_picture *t, int y, int rows, float *const row[2][4])
{
    const bool half_y = tdl_cpu_picture_has(t, TDL_TRAIT_HALF_Y);
    const bool half_x = tdl_cpu_picture_has(t, TDL_TRAIT_HALF_X);
    for (int r = 0; r < rows; r++)
        store_row(t, y + r, row[r]);
    if (!tdl_cpu_picture_has(t, TDL_TRAIT_CHROMA) || tdl_cpu_picture_has(t, TDL_TRAIT_PAIRED))
        return;
    for (int r = 0; r < (half_y ? 1 : rows); r++) {
        float *const *other = half_y ? row[rows - 1] : row[r];
        for (int c = 1; c < 3 && half_x; c++)
            halve(t->width, row[r][c], other[c], row[r][c]);
        store_chroma(t, half_y ? y / 2 : y + r, half_x ? (t->width + 1) / 2 : t->width, row[r][1],
                     row[r][2]);
    }
}

void TDL_CPU_NAME(picture)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_make_picture *p = work;
    const size_t n = (size_t)p->target.width + 1;
    for (size_t band = begin; band < end; band++) {
        float *room = p->bands.room + band * p->bands.stride, *row[2][4];
        for (size_t i = 0; i < 8; i++)
            row[i / 4][i % 4] = room + i * n;
        for (int pair = band_begin(&p->bands, band); pair < band_begin(&p->bands, band + 1);
             pair++) {
            const int y = 2 * pair, rows = y + 1 < p->target.height ? 2 : 1;
            for (int r = 0; r < rows; r++)
                make_row(p, y + r, room + 8 * n, row[r]);
            store_rows(&p->target, y, rows, (float *const(*)[4])row);
        }
    }
}
