/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of the frame at full size, two rows of it: loaded, turned into the target's
 * codes at the target's sampling, and the mask of its pixels. What the shaders do in
 * blocks of 4×2 pixels (shaders/common/frame_block.glsl, frame_mask.glsl) is done
 * here for rows of them; what lies outside the frame repeats its last column and row.
 */
#ifndef TDL_CPU_BLOCKS_H
#define TDL_CPU_BLOCKS_H

#include "kernels.h"
#include "rows.h"

/* Tiles begin at whole blocks, and have room for a pixel on their left, and for what
 * comes behind their last block. */
enum { TDL_TILE = 256, TDL_LEFT = 16, TDL_TILE_ROW = TDL_LEFT + TDL_TILE + 16 };
typedef float tdl_tile_row[TDL_TILE_ROW];

/* A row of the mask's coefficients between its columns, one for each pixel. */
struct tdl_expanded {
    int row; /* -1: none yet */
    tdl_tile_row a, b;
};

/* Between which values the mask of the tile's pixels lies, by a row of coefficients. */
struct tdl_bounds {
    int row; /* -1: not known */
    float low, high;
};

struct tdl_tile {
    int x, n, blocks; /* first pixel, number of pixels, and these rounded up to whole blocks */
    /* Rows of components; chroma at its own sampling. What is in the target's codes
     * may be the source's own rows. */
    float *source[2][4], *target[2][4];
    tdl_tile_row source_rows[2][4], target_rows[2][4], chroma[3][2], wide[2][2];
    tdl_tile_row guide[2], mask[2], pairs[2];
    struct tdl_expanded expanded[2];
    struct tdl_bounds bounds[4];
    /* The mask's columns on either side of each pixel, and how far it is from the left. */
    int32_t column[TDL_TILE], next_column[TDL_TILE];
    float part[TDL_TILE];
};

static inline float tdl_position(int x, float scale, float last)
{
    return tdl_clamp(((float)x + 0.5f) * scale - 0.5f, 0, last);
}

static inline void tdl_tile_begin(const struct tdl_cpu_blocks *b, struct tdl_tile *t, int x)
{
    const int width = b->source.width, last = b->mask_width - 1;
    const float scale = (float)b->mask_width / (float)width;
    t->x = x;
    t->n = width - x < TDL_TILE ? width - x : TDL_TILE;
    t->blocks = (t->n + 3) / 4 * 4;
    t->expanded[0].row = t->expanded[1].row = -1;
    for (int k = 0; k < 4; k++)
        t->bounds[k].row = -1;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 4; c++) {
            t->source[r][c] = t->source_rows[r][c] + TDL_LEFT;
            t->target[r][c] = t->target_rows[r][c] + TDL_LEFT;
        }
    for (int i = 0; i < t->blocks && b->coefficients; i++) {
        const float u = tdl_position(TDL_MIN(x + i, width - 1), scale, (float)last);
        t->column[i] = (int)u;
        t->next_column[i] = TDL_MIN((int)u + 1, last);
        t->part[i] = u - (float)(int)u;
    }
}

/* ----------------------------------------------------------------- the source */

/* out = m · a + n */
TDL_ONCE void tdl_scale_row(float m, float n, int count, const float *restrict a,
                            float *restrict out)
{
    for (int i = 0; i < count; i++)
        out[i] = m * a[i] + n;
}

TDL_ONCE void tdl_apply_row(const float m[4], int count, const float *restrict a,
                            const float *restrict b, const float *restrict c, float *restrict out)
{
    for (int i = 0; i < count; i++)
        out[i] = m[0] * a[i] + m[1] * b[i] + m[2] * c[i] + m[3];
}

TDL_ONCE void tdl_mix_rows(float share, int count, const float *restrict a, const float *restrict b,
                           float *restrict out)
{
    for (int i = 0; i < count; i++)
        out[i] = a[i] + (b[i] - a[i]) * share;
}

TDL_ONCE void tdl_fill_row(float v, int count, float *restrict out)
{
    for (int i = 0; i < count; i++)
        out[i] = v;
}

/* (1 2 1)/4 round every second pixel. */
TDL_ONCE void tdl_chroma_down(int pairs, const float *restrict in, float *restrict out)
{
    for (int i = 0; i < pairs; i++)
        out[i] = 0.25f * (in[2 * i - 1] + 2 * in[2 * i] + in[2 * i + 1]);
}
TDL_ONCE void tdl_chroma_up(int pairs, const float *restrict in, float *restrict out)
{
    for (int i = 0; i < pairs; i++) {
        out[2 * i] = in[i];
        out[2 * i + 1] = 0.5f * (in[i] + in[i + 1]);
    }
}

/* The pixels as they are: RGB and 4:4:4 with one on the left. */
static inline void tdl_load_rows(const struct tdl_cpu_blocks *b, struct tdl_tile *t, int y,
                                 bool colour)
{
    const struct tdl_cpu_picture *p = &b->source;
    const bool rgb = tdl_cpu_picture_has(p, TDL_TRAIT_RGB);
    const bool full = tdl_cpu_picture_has(p, TDL_TRAIT_FULL);
    for (int r = 0; r < 2; r++) {
        const int row = y + r < p->height ? y + r : p->height - 1;
        float *const *s = t->source[r];
        if (rgb) {
            float *const left[4] = {s[0] - 1, s[1] - 1, s[2] - 1, s[3] - 1};
            tdl_load_rgb(p, row, t->x - 1, t->blocks + 1, left);
            continue;
        }
        tdl_load_luma(p, row, t->x - full, t->blocks + full, s[0] - full);
        if (full && colour)
            tdl_load_chroma(p, row, t->x - 1, t->blocks + 1, s[1] - 1, s[2] - 1);
    }
}

/* Chroma of fewer samples than pixels, of the two rows of the tile, and one sample
 * more than needed: source[r][1] and [2]. In 4:2:0 that goes to 4:2:0, one row. */
static inline void tdl_load_subsampled(const struct tdl_cpu_blocks *b, struct tdl_tile *t, int y)
{
    const struct tdl_cpu_picture *p = &b->source;
    const int n = t->blocks / 2 + 1, x = t->x / 2, bottom = tdl_cpu_chroma_height(p) - 1;
    const bool half = p->part[1].shift_y;
    const bool own = half && tdl_cpu_picture_has(&b->target, TDL_TRAIT_HALF_Y);
    if (!half || own) {
        for (int r = 0; r < (own ? 1 : 2); r++)
            tdl_load_chroma(p, tdl_clamp_int(own ? y / 2 : y + r, 0, bottom), x, n, t->source[r][1],
                            t->source[r][2]);
        return;
    }
    for (int k = 0; k < 3; k++)
        tdl_load_chroma(p, tdl_clamp_int(y / 2 + k - 1, 0, bottom), x, n, t->chroma[k][0],
                        t->chroma[k][1]);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++)
            tdl_mix_rows(0.25f, n, t->chroma[1][c], t->chroma[2 * r][c], t->source[r][1 + c]);
}

/* --------------------------------------------------------------- to the target */

/* Three codes a pixel to subsampled YUV, or grey. */
static inline void tdl_full_to_subsampled(const struct tdl_cpu_blocks *b, struct tdl_tile *t)
{
    const bool half = tdl_cpu_picture_has(&b->target, TDL_TRAIT_HALF_Y);
    for (int r = 0; r < 2; r++) {
        float *const *s = t->source[r];
        tdl_apply_row(b->matrix[0], t->blocks, s[0], s[1], s[2], t->target[r][0]);
        for (int c = 1; c < 3 && tdl_cpu_picture_has(&b->target, TDL_TRAIT_CHROMA); c++) {
            float *wide = t->wide[r][c - 1] + TDL_LEFT;
            tdl_apply_row(b->matrix[c], t->blocks + 1, s[0] - 1, s[1] - 1, s[2] - 1, wide - 1);
            tdl_chroma_down(t->blocks / 2, wide, half && r ? t->chroma[0][c - 1] : t->target[r][c]);
            if (half && r)
                for (int i = 0; i < t->blocks / 2; i++)
                    t->target[0][c][i] = 0.5f * (t->target[0][c][i] + t->chroma[0][c - 1][i]);
        }
    }
}

/* Subsampled YUV, or grey, to the like. */
static inline void tdl_subsampled_to_subsampled(const struct tdl_cpu_blocks *b, struct tdl_tile *t)
{
    const bool from_chroma = tdl_cpu_picture_has(&b->source, TDL_TRAIT_CHROMA);
    const bool to_chroma = tdl_cpu_picture_has(&b->target, TDL_TRAIT_CHROMA);
    const bool from_half = tdl_cpu_picture_has(&b->source, TDL_TRAIT_HALF_Y);
    const bool to_half = tdl_cpu_picture_has(&b->target, TDL_TRAIT_HALF_Y);
    const int pairs = t->blocks / 2;
    for (int r = 0; r < 2; r++) {
        float *const *s = t->source[from_half && to_half ? 0 : r];
        const float *restrict luma = t->source[r][0];
        float *restrict out = t->target[r][0];
        const float(*m)[4] = b->matrix;
        if (b->rematrix)
            for (int i = 0; i < pairs; i++) {
                const float c = m[0][1] * s[1][i] + m[0][2] * s[2][i] + m[0][3];
                out[2 * i] = m[0][0] * luma[2 * i] + c;
                out[2 * i + 1] = m[0][0] * luma[2 * i + 1] + c;
            }
        else
            tdl_scale_row(m[0][0], m[0][3], t->blocks, luma, out);
        if (!to_chroma || (r && to_half && (from_half || !from_chroma)))
            continue;
        for (int c = 1; c < 3; c++)
            if (!from_chroma)
                tdl_fill_row(m[c][c] * b->source.neutral + m[c][3], pairs, t->target[r][c]);
            else if (b->rematrix) /* grey stays grey: luma does not count */
                tdl_apply_row((const float[4]){0, m[c][1], m[c][2], m[c][3]}, pairs, s[1], s[1],
                              s[2], t->target[r][c]);
            else
                tdl_scale_row(m[c][c], m[c][3], pairs, s[c], t->target[r][c]);
    }
    for (int c = 1; c < 3 && from_chroma && to_half && !from_half; c++) {
        float *restrict own = t->target[0][c];
        const float *restrict other = t->target[1][c];
        for (int i = 0; i < pairs; i++)
            own[i] = 0.5f * (own[i] + other[i]);
    }
}

/* Anything to three codes a pixel. */
static inline void tdl_any_to_full(const struct tdl_cpu_blocks *b, struct tdl_tile *t)
{
    const bool full = tdl_cpu_picture_has(&b->source, TDL_TRAIT_FULL);
    const bool chroma = tdl_cpu_picture_has(&b->source, TDL_TRAIT_CHROMA);
    for (int r = 0; r < 2; r++) {
        const float *s[3] = {t->source[r][0], t->source[r][1], t->source[r][2]};
        for (int c = 1; c < 3 && !full; c++) {
            float *wide = t->wide[r][c - 1];
            if (chroma)
                tdl_chroma_up(t->blocks / 2, s[c], wide);
            else
                tdl_fill_row(b->source.neutral, t->blocks, wide);
            s[c] = wide;
        }
        for (int c = 0; c < 3; c++)
            tdl_apply_row(b->matrix[c], t->blocks, s[0], s[1], s[2], t->target[r][c]);
    }
}

/* Rows y and y + 1 of the tile, in the source's codes and in the target's, with
 * alpha in both; without `colour` luma alone, or RGB. */
static inline void tdl_tile_load(const struct tdl_cpu_blocks *b, struct tdl_tile *t, int y,
                                 bool colour)
{
    const bool from_full = tdl_cpu_picture_has(&b->source, TDL_TRAIT_FULL);
    const bool to_full = tdl_cpu_picture_has(&b->target, TDL_TRAIT_FULL);
    tdl_load_rows(b, t, y, colour);
    if (!colour)
        return;
    if (!from_full && tdl_cpu_picture_has(&b->source, TDL_TRAIT_CHROMA) &&
        (to_full || tdl_cpu_picture_has(&b->target, TDL_TRAIT_CHROMA)))
        tdl_load_subsampled(b, t, y);
    for (int r = 0; r < 2; r++) {
        for (int c = 0; c < 3; c++)
            t->target[r][c] = b->same ? t->source[r][c] : t->target_rows[r][c] + TDL_LEFT;
        t->target[r][3] = t->source[r][3]; /* to be blended in place */
        if (!tdl_cpu_picture_has(&b->source, TDL_TRAIT_ALPHA) ||
            !tdl_cpu_picture_has(&b->target, TDL_TRAIT_ALPHA))
            tdl_fill_row(255, t->blocks, t->target[r][3]);
    }
    if (b->same)
        return;
    if (to_full)
        tdl_any_to_full(b, t);
    else if (from_full)
        tdl_full_to_subsampled(b, t);
    else
        tdl_subsampled_to_subsampled(b, t);
}

/* ----------------------------------------------------------------- the target */

/* Rows y … y + rows - 1 of the tile, one or two. */
static inline void tdl_tile_store(const struct tdl_cpu_picture *p, const struct tdl_tile *t, int y,
                                  int rows)
{
    const bool paired = tdl_cpu_picture_has(p, TDL_TRAIT_PAIRED);
    const bool half_y = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_Y);
    const int shift = p->part[1].shift_x, n = (t->n + shift) >> shift;
    for (int r = 0; r < rows; r++) {
        const float *const row[4] = {t->target[r][0], t->target[r][1], t->target[r][2],
                                     t->target[r][3]};
        if (tdl_cpu_picture_has(p, TDL_TRAIT_RGB))
            tdl_store_rgb(p, y + r, t->x, t->n, row);
        else if (paired)
            tdl_store_paired(p, y + r, t->x, t->n, row[0], row[1], row[2]);
        else
            tdl_store_part(p, 0, 1, y + r, t->x, t->n, row);
        if (paired || !tdl_cpu_picture_has(p, TDL_TRAIT_CHROMA) || (half_y && r))
            continue;
        const int at = half_y ? y / 2 : y + r, x = t->x >> shift;
        if (tdl_cpu_picture_has(p, TDL_TRAIT_MIXED)) {
            tdl_store_part(p, 1, 2, at, x, n, row + 1);
        } else {
            tdl_store_part(p, 1, 1, at, x, n, row + 1);
            tdl_store_part(p, 2, 1, at, x, n, row + 2);
        }
    }
}

/* -------------------------------------------------------------- what is behind */

static inline void tdl_fill_behind(const struct tdl_cpu_behind *behind, float *const rows[2][4])
{
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 4; c++)
            tdl_fill_row(behind->color[c], TDL_TILE, rows[r][c]);
}

/* The picture has the target's format and size: its rows as they are. */
static inline void tdl_tile_behind(const struct tdl_cpu_behind *behind, const struct tdl_tile *t,
                                   int y, float *const rows[2][4])
{
    const struct tdl_cpu_picture *p = &behind->picture;
    const int shift = p->part[1].shift_x, n = t->blocks >> shift;
    const bool half = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_Y);
    for (int r = 0; r < 2; r++) {
        const int row = y + r < p->height ? y + r : p->height - 1;
        float *const *to = rows[r];
        if (tdl_cpu_picture_has(p, TDL_TRAIT_RGB)) {
            tdl_load_rgb(p, row, t->x, t->blocks, to);
            continue;
        }
        tdl_load_luma(p, row, t->x, t->blocks, to[0]);
        if (tdl_cpu_picture_has(p, TDL_TRAIT_CHROMA) && !(half && r))
            tdl_load_chroma(p, half ? y / 2 : row, t->x >> shift, n, to[1], to[2]);
    }
}

/* ----------------------------------------------------------------- blending */

/* Weights at the chroma samples: the mean of the pixels they span. */
TDL_ONCE void tdl_mean_weights(const struct tdl_cpu_picture *target, int blocks,
                               const tdl_tile_row rows[2], tdl_tile_row out[2])
{
    const int pairs = blocks / 2;
    const float *restrict a = rows[0], *restrict b = rows[1];
    float *restrict first = out[0], *restrict second = out[1];
    if (tdl_cpu_picture_has(target, TDL_TRAIT_HALF_Y))
        for (int i = 0; i < pairs; i++)
            first[i] = 0.25f * ((a[2 * i] + a[2 * i + 1]) + (b[2 * i] + b[2 * i + 1]));
    else
        for (int i = 0; i < pairs; i++) {
            first[i] = 0.5f * (a[2 * i] + a[2 * i + 1]);
            second[i] = 0.5f * (b[2 * i] + b[2 * i + 1]);
        }
}

/* Show what is behind where the weight is 0, in place. */
TDL_ONCE void tdl_blend_row(int n, const float *restrict behind, const float *restrict weight,
                            float *restrict row)
{
    for (int i = 0; i < n; i++)
        row[i] = behind[i] + (row[i] - behind[i]) * weight[i];
}

/* Every component, each at its own sampling; alpha only where it is asked for. */
static inline void tdl_tile_blend(const struct tdl_cpu_picture *target, struct tdl_tile *t,
                                  float *const behind[2][4], bool alpha)
{
    const bool rgb = tdl_cpu_picture_has(target, TDL_TRAIT_RGB);
    const bool chroma = tdl_cpu_picture_has(target, TDL_TRAIT_CHROMA);
    const bool half_x = tdl_cpu_picture_has(target, TDL_TRAIT_HALF_X);
    const bool half_y = tdl_cpu_picture_has(target, TDL_TRAIT_HALF_Y);
    if (chroma && half_x)
        tdl_mean_weights(target, t->blocks, t->mask, t->pairs);
    for (int r = 0; r < 2; r++) {
        tdl_blend_row(t->blocks, behind[r][0], t->mask[r], t->target[r][0]);
        for (int c = 1; c < 3 && (rgb || chroma) && !(half_y && r); c++)
            tdl_blend_row(half_x ? t->blocks / 2 : t->blocks, behind[r][c],
                          half_x ? t->pairs[r] : t->mask[r], t->target[r][c]);
        if (alpha && tdl_cpu_picture_has(target, TDL_TRAIT_ALPHA))
            tdl_blend_row(t->blocks, behind[r][3], t->mask[r], t->target[r][3]);
    }
}

/* ------------------------------------------------------------------- the mask */

/* Coefficients lie in ±16. */
#define TDL_COEFFICIENT (16 / 32767.f)

/* Row `row` of the coefficients, between columns, at the tile's pixels. */
TDL_ONCE const struct tdl_expanded *tdl_expand(const struct tdl_cpu_blocks *b, struct tdl_tile *t,
                                               int row)
{
    const int held[2] = {t->expanded[0].row, t->expanded[1].row};
    if (held[0] == row || held[1] == row)
        return &t->expanded[held[1] == row];
    struct tdl_expanded *e = &t->expanded[held[1] < held[0]]; /* rows only grow */
    const uint32_t *restrict in = b->coefficients + (size_t)row * (size_t)b->mask_width;
    const int32_t *restrict column = t->column, *restrict next = t->next_column;
    const float *restrict part = t->part;
    float *restrict to_a = e->a, *restrict to_b = e->b;
    e->row = row;
    for (int i = 0; i < t->blocks; i++) {
        const uint32_t v = in[column[i]], w = in[next[i]];
        const float a = (float)(int16_t)(v & 65535), next_a = (float)(int16_t)(w & 65535);
        const float c = (float)((int32_t)v >> 16), next_c = (float)((int32_t)w >> 16);
        to_a[i] = (a + (next_a - a) * part[i]) * TDL_COEFFICIENT;
        to_b[i] = (c + (next_c - c) * part[i]) * TDL_COEFFICIENT;
    }
    return e;
}

static inline float tdl_step_of(struct tdl_soft_step s, float v)
{
    return tdl_clamp(tdl_clamp(v, 0, 1) * s.scale + s.offset, 0, 1);
}

/* A guide of 0…1 takes a pixel's mask from b to a + b. */
static inline const struct tdl_bounds *tdl_find_bounds(const struct tdl_cpu_blocks *b,
                                                       struct tdl_tile *t, int row)
{
    struct tdl_bounds *bounds = &t->bounds[row % 4];
    if (bounds->row == row)
        return bounds;
    const uint32_t *restrict in = b->coefficients + (size_t)row * (size_t)b->mask_width;
    const int begin = t->column[0], end = t->next_column[t->blocks - 1];
    int least = INT16_MAX, most = -INT16_MAX;
    for (int i = begin; i <= end; i++) {
        const int slope = (int16_t)(in[i] & 65535), base = (int32_t)in[i] >> 16;
        const int low = base + (slope < 0 ? slope : 0), high = base + (slope > 0 ? slope : 0);
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    *bounds =
        (struct tdl_bounds){row, (float)least * TDL_COEFFICIENT, (float)most * TDL_COEFFICIENT};
    return bounds;
}

/* A quick judgement of the mask's rows y and y + 1: most tiles are wholly foreground or
 * background. */
enum tdl_mask_kind { TDL_MASK_MIXED, TDL_MASK_NONE, TDL_MASK_ALL };
static inline enum tdl_mask_kind tdl_tile_kind(const struct tdl_cpu_blocks *b, struct tdl_tile *t,
                                               int y)
{
    const float scale = (float)b->mask_height / (float)b->source.height, rounding = 1e-4f;
    const int last = b->mask_height - 1;
    float low = 1, high = 0;
    for (int r = 0; r < 2; r++) {
        const int row = y + r < b->source.height ? y + r : b->source.height - 1;
        const int at = (int)tdl_position(row, scale, (float)last);
        for (int k = 0; k < 2; k++) {
            const struct tdl_bounds *v = tdl_find_bounds(b, t, at + k < last ? at + k : last);
            low = v->low < low ? v->low : low;
            high = v->high > high ? v->high : high;
        }
    }
    const float from = tdl_step_of(b->soft, low - rounding);
    const float to = tdl_step_of(b->soft, high + rounding);
    if (from <= 0 && to <= 0)
        return TDL_MASK_NONE;
    return from >= 1 && to >= 1 ? TDL_MASK_ALL : TDL_MASK_MIXED;
}

/* The guide of the tile's pixels, 0…1. */
TDL_ONCE void tdl_tile_guide(const struct tdl_cpu_blocks *b, struct tdl_tile *t)
{
    for (int r = 0; r < 2; r++) {
        float *restrict out = t->guide[r] + TDL_LEFT;
        const float *restrict x = t->source[r][0], *restrict y = t->source[r][1];
        const float *restrict z = t->source[r][2];
        if (tdl_cpu_picture_has(&b->source, TDL_TRAIT_RGB))
            for (int i = 0; i < t->blocks; i++)
                out[i] = (0.2126f * x[i] + 0.7152f * y[i] + 0.0722f * z[i]) * (1 / 255.f);
        else
            tdl_scale_row(1 / b->source.max, 0, t->blocks, x, out);
    }
}

/* Noise of single pixels, which the coefficients would bring into the outline. A
 * block looks at itself alone: (1 2 1)/4 across, and a quarter of what is between
 * its rows. */
static inline void tdl_soften(struct tdl_tile *t)
{
    static const float sides[4][3] = {
        {0, .75f, .25f}, {.25f, .5f, .25f}, {.25f, .5f, .25f}, {.25f, .75f, 0}};
    for (int r = 0; r < 2; r++) {
        float *restrict in = t->guide[r] + TDL_LEFT, *restrict out = t->wide[r][0];
        in[-1] = in[t->blocks] = 0;
        for (int i = 0; i < t->blocks; i += 4)
            for (int k = 0; k < 4; k++)
                out[i + k] = sides[k][0] * in[i + k - 1] + sides[k][1] * in[i + k] +
                             sides[k][2] * in[i + k + 1];
    }
    float *restrict a = t->guide[0] + TDL_LEFT, *restrict c = t->guide[1] + TDL_LEFT;
    const float *restrict top = t->wide[0][0], *restrict low = t->wide[1][0];
    for (int i = 0; i < t->blocks; i++) {
        const float lean = 0.25f * (low[i] - top[i]);
        a[i] = top[i] + lean;
        c[i] = low[i] - lean;
    }
}

/* The mask of rows y and y + 1 after the soft step, 0…1; the source's rows are
 * loaded where it is guided. */
TDL_ONCE void tdl_tile_mask(const struct tdl_cpu_blocks *b, struct tdl_tile *t, int y)
{
    const float scale = (float)b->mask_height / (float)b->source.height;
    const int last = b->mask_height - 1;
    if (b->guided) {
        tdl_tile_guide(b, t);
        tdl_soften(t);
    }
    for (int r = 0; r < 2; r++) {
        const int row = y + r < b->source.height ? y + r : b->source.height - 1;
        const float v = tdl_position(row, scale, (float)last);
        const int at = (int)v;
        const float part = v - (float)at;
        const struct tdl_expanded *top = tdl_expand(b, t, at);
        const struct tdl_expanded *low = tdl_expand(b, t, at < last ? at + 1 : last);
        const float *restrict b0 = top->b, *restrict b1 = low->b, *restrict a0 = top->a;
        const float *restrict a1 = low->a, *restrict g = t->guide[r] + TDL_LEFT;
        float *restrict out = t->mask[r];
        if (b->guided)
            for (int i = 0; i < t->blocks; i++)
                out[i] = tdl_step_of(b->soft, (a0[i] + (a1[i] - a0[i]) * part) * g[i] + b0[i] +
                                                  (b1[i] - b0[i]) * part);
        else
            for (int i = 0; i < t->blocks; i++)
                out[i] = tdl_step_of(b->soft, b0[i] + (b1[i] - b0[i]) * part);
    }
}

#endif
