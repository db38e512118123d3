/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source and mask to target, at full size. Colours are blended in the target's own
 * codes: blending is affine, so it gives what blending in RGB would.
 */
#include "blocks.h"

/* A row of a blurred picture between its columns; chroma at the target's sampling. */
struct widened {
    int row; /* -1: none yet */
    tdl_tile_row c[4];
};
struct blurred {
    const float *planes;
    struct widened widened[2];
};

/* A row of the differences between their columns, at every pixel. */
struct differing {
    int row;   /* -1: none yet */
    bool some; /* some differences are not 0 */
    tdl_tile_row c[3];
};

struct scene {
    const struct tdl_cpu_compose *job;
    struct tdl_tile tile;
    tdl_tile_row behind_rows[2][4]; /* the background */
    float *behind[2][4];
    /* The background; or the means of it and of the foreground, and light. */
    struct blurred pictures[3];
    tdl_tile_row means[2][2][4];
    struct differing differing[2];
    tdl_tile_row differences[3][2];
    /* For luma and chroma: the columns on either side, and how far the sample is from the first. */
    struct {
        int32_t column[TDL_TILE], next[TDL_TILE];
        float part[TDL_TILE];
    } blurred[2];
};

/* -------------------------------------------------------------- backgrounds */

/* Place the tile's samples in the blurred pictures. A pair's pixels lie between the same two
 * columns: their mean is in the middle. */
static void place_blurred(struct scene *s)
{
    const struct tdl_blur_steps *blur = &s->job->blur;
    const int last = (int)blur->width - 1;
    for (int k = 0; k < 3; k++) {
        s->pictures[k].planes = s->job->blurred + 4 * (size_t)k * blur->width * blur->height;
        s->pictures[k].widened[0].row = s->pictures[k].widened[1].row = -1;
    }
    for (int k = 0; k < 2; k++) {
        const int shift = k ? s->job->blocks.target.part[1].shift_x : 0;
        const float step = (float)(1 << shift) / (float)blur->factor;
        for (int i = 0; i < s->tile.blocks >> shift; i++) {
            const float x = (float)((s->tile.x >> shift) + i) + 0.5f;
            const float u = tdl_clamp(x * step - 0.5f, 0, (float)last);
            s->blurred[k].column[i] = (int)u;
            s->blurred[k].next[i] = TDL_MIN((int)u + 1, last);
            s->blurred[k].part[i] = u - (float)(int)u;
        }
    }
}

/* Light has a fourth component, at every pixel. */
static bool is_chroma(int c)
{
    return c == 1 || c == 2;
}

static const struct widened *widen(struct scene *s, struct blurred *from, int row)
{
    const struct tdl_blur_steps *blur = &s->job->blur;
    const int held[2] = {from->widened[0].row, from->widened[1].row};
    if (held[0] == row || held[1] == row)
        return &from->widened[held[1] == row];
    struct widened *w = &from->widened[held[1] < held[0]];
    const size_t size = (size_t)blur->width * blur->height;
    w->row = row;
    for (int c = 0; c < (s->job->light ? 4 : 3); c++) {
        const int chroma = is_chroma(c);
        const int n = s->tile.blocks >> (chroma ? s->job->blocks.target.part[1].shift_x : 0);
        const int32_t *restrict column = s->blurred[chroma].column;
        const int32_t *restrict next = s->blurred[chroma].next;
        const float *restrict part = s->blurred[chroma].part;
        const float *restrict in = from->planes + (size_t)c * size + (size_t)row * blur->width;
        float *restrict out = w->c[c];
        for (int i = 0; i < n; i++)
            out[i] = in[column[i]] + (in[next[i]] - in[column[i]]) * part[i];
    }
    return w;
}

static void blur_row(struct scene *s, struct blurred *from, int c, float y, float *out)
{
    const struct tdl_blur_steps *blur = &s->job->blur;
    const int last = (int)blur->height - 1;
    const int shift = is_chroma(c) ? s->job->blocks.target.part[1].shift_x : 0;
    const float v = tdl_clamp(y / (float)blur->factor - 0.5f, 0, (float)last);
    const int at = (int)v;
    const struct widened *top = widen(s, from, at);
    const struct widened *low = widen(s, from, at < last ? at + 1 : last);
    tdl_mix_rows(v - (float)at, s->tile.blocks >> shift, top->c[c], low->c[c], out);
}

/* Light has four components. */
static void blurred_rows(struct scene *s, struct blurred *from, int y, float *const rows[2][4])
{
    const struct tdl_cpu_picture *target = &s->job->blocks.target;
    const bool half = tdl_cpu_picture_has(target, TDL_TRAIT_HALF_Y);
    const bool grey = !tdl_cpu_picture_has(target, TDL_TRAIT_RGB | TDL_TRAIT_CHROMA);
    const int count = from + 1 == s->pictures + s->job->light ? 4 : 3;
    for (int c = 0; c < count; c++)
        for (int r = 0; r < (half && is_chroma(c) ? 1 : 2) && !(grey && is_chroma(c)); r++)
            blur_row(s, from, c, half && is_chroma(c) ? (float)y + 1 : (float)(y + r) + 0.5f,
                     rows[r][c]);
}

static void mean_rows(struct scene *s, int picture, int y, tdl_tile_row rows[2][4])
{
    float *const to[2][4] = {{rows[0][0], rows[0][1], rows[0][2], rows[0][3]},
                             {rows[1][0], rows[1][1], rows[1][2], rows[1][3]}};
    blurred_rows(s, &s->pictures[picture], y, to);
}

/* ----------------------------------------------------------------- blending */

/* weight = m · mask + n */
static void change_weights(struct tdl_tile *t, float m, float n)
{
    for (int r = 0; r < 2; r++) {
        float *restrict mask = t->mask[r];
        for (int i = 0; i < t->blocks; i++)
            mask[i] = m * mask[i] + n;
    }
}

/* ------------------------------------------------------------------- spill */

/* See shaders/common/frame_blend.glsl. */
static inline float limited(float value, float from, float max)
{
    return tdl_clamp(value, from < 0 ? from : 0, from > max ? from : max);
}

/* See shaders/common/frame_spill.glsl. */
static void take_spill(int n, float max, const float *restrict back, const float *restrict front,
                       const float *restrict mask, float *restrict row)
{
    for (int i = 0; i < n; i++) {
        const float likely = back[i] + (front[i] - back[i]) * mask[i];
        row[i] = limited(front[i] + mask[i] * (row[i] - likely), row[i], max);
    }
}

static void remove_spill(struct scene *s, int y)
{
    const struct tdl_cpu_picture *p = &s->job->blocks.target;
    struct tdl_tile *t = &s->tile;
    const bool chroma = tdl_cpu_picture_has(p, TDL_TRAIT_CHROMA);
    const bool half_x = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_X);
    const bool half_y = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_Y);
    const int count = chroma || tdl_cpu_picture_has(p, TDL_TRAIT_RGB) ? 3 : 1;
    tdl_tile_row(*m)[2][4] = s->means;
    for (int k = 0; k < 2; k++)
        mean_rows(s, k, y, m[k]);
    if (chroma && half_x)
        tdl_mean_weights(p, t->blocks, t->mask, t->pairs);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < (half_y && r ? 1 : count); c++) {
            const bool half = c && half_x;
            take_spill(half ? t->blocks / 2 : t->blocks, p->max, m[0][r][c], m[1][r][c],
                       half ? t->pairs[r] : t->mask[r], t->target[r][c]);
        }
}

/* ----------------------------------------------------- the foreground's colours */

static const struct differing *differ(struct scene *s, int row)
{
    const struct tdl_cpu_blocks *b = &s->job->blocks;
    const int held[2] = {s->differing[0].row, s->differing[1].row};
    if (held[0] == row || held[1] == row)
        return &s->differing[held[1] == row];
    struct differing *d = &s->differing[held[1] < held[0]]; /* rows only grow */
    const size_t size = (size_t)b->mask_width * (size_t)b->mask_height;
    const int32_t *restrict column = s->tile.column, *restrict next = s->tile.next_column;
    const float *restrict part = s->tile.part;
    d->row = row;
    d->some = false;
    for (int c = 0; c < 3; c++) {
        const float *restrict in =
            s->job->differences + (size_t)c * size + (size_t)row * (size_t)b->mask_width;
        float *restrict out = d->c[c];
        for (int i = 0; i < s->tile.blocks; i++)
            out[i] = (in[column[i]] + (in[next[i]] - in[column[i]]) * part[i]) * b->target.max;
        for (int i = 0; i < s->tile.blocks; i++)
            d->some |= out[i] < 0 || out[i] > 0;
    }
    return d;
}

static void add_difference(int n, float max, const float *restrict difference,
                           const float *restrict mask, float *restrict row)
{
    for (int i = 0; i < n; i++)
        row[i] = mask[i] > 0 ? limited(row[i] + difference[i], row[i], max) : row[i];
}

/* At every pixel of rows y and y + 1; false: they are all 0, as in most of the foreground. */
static bool load_differences(struct scene *s, int y)
{
    const struct tdl_cpu_blocks *b = &s->job->blocks;
    const float scale = (float)b->mask_height / (float)b->source.height;
    const int last = b->mask_height - 1;
    bool some = false;
    for (int r = 0; r < 2; r++) {
        const float v = tdl_position(TDL_MIN(y + r, b->source.height - 1), scale, (float)last);
        const int at = (int)v;
        const struct differing *top = differ(s, at);
        const struct differing *low = differ(s, at < last ? at + 1 : last);
        some |= top->some || low->some;
        for (int c = 0; c < 3 && (top->some || low->some); c++)
            tdl_mix_rows(v - (float)at, s->tile.blocks, top->c[c], low->c[c], s->differences[c][r]);
        for (int c = 0; c < 3 && !(top->some || low->some); c++)
            tdl_fill_row(0, s->tile.blocks, s->differences[c][r]);
    }
    return some;
}

/* See shaders/common/frame_foreground.glsl. */
static void add_differences(struct scene *s)
{
    const struct tdl_cpu_picture *p = &s->job->blocks.target;
    struct tdl_tile *t = &s->tile;
    const bool chroma = tdl_cpu_picture_has(p, TDL_TRAIT_CHROMA);
    const bool half_x = chroma && tdl_cpu_picture_has(p, TDL_TRAIT_HALF_X);
    const bool half_y = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_Y);
    const int count = chroma || tdl_cpu_picture_has(p, TDL_TRAIT_RGB) ? 3 : 1;
    tdl_tile_row(*rows)[2] = s->differences, pairs[2];
    if (half_x)
        tdl_mean_weights(p, t->blocks, t->mask, t->pairs);
    for (int c = 0; c < count; c++) {
        const bool half = c && half_x;
        if (half)
            tdl_mean_weights(p, t->blocks, rows[c], pairs);
        for (int r = 0; r < (c && half_y ? 1 : 2); r++)
            add_difference(half ? t->blocks / 2 : t->blocks, p->max, half ? pairs[r] : rows[c][r],
                           half ? t->pairs[r] : t->mask[r], t->target[r][c]);
    }
}

/* ------------------------------------------------------------------- light */

/* See shaders/common/frame_light.glsl. */
static void add_light(int n, float wrap, const float *restrict light, const float *restrict left,
                      float *restrict row)
{
    for (int i = 0; i < n; i++)
        row[i] = row[i] * left[i] + wrap * light[i];
}

static void wrap_light(struct scene *s, int y)
{
    const struct tdl_cpu_picture *p = &s->job->blocks.target;
    struct tdl_tile *t = &s->tile;
    const bool chroma = tdl_cpu_picture_has(p, TDL_TRAIT_CHROMA);
    const bool half_x = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_X);
    const bool half_y = tdl_cpu_picture_has(p, TDL_TRAIT_HALF_Y);
    const int count = chroma || tdl_cpu_picture_has(p, TDL_TRAIT_RGB) ? 3 : 1;
    tdl_tile_row(*light)[4] = s->means[0], *left = s->means[1][0], *pairs = s->means[1][1];
    mean_rows(s, s->job->light - 1, y, light);
    for (int r = 0; r < 2; r++)
        tdl_scale_row(-s->job->wrap, 1, t->blocks, light[r][3], left[r]);
    if (chroma && half_x)
        tdl_mean_weights(p, t->blocks, left, pairs);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < (half_y && r ? 1 : count); c++) {
            const bool half = c && half_x;
            add_light(half ? t->blocks / 2 : t->blocks, s->job->wrap, light[r][c],
                      half ? pairs[r] : left[r], t->target[r][c]);
        }
}

/* -------------------------------------------------------- what need not be blended */

static bool is_behind(enum tdl_compose_kernel kernel)
{
    return kernel == TDL_KERNEL_COLOR || kernel == TDL_KERNEL_PICTURE || kernel == TDL_KERNEL_BLUR;
}

/* The source stays as it is. */
static bool untouched(const struct tdl_cpu_compose *c, enum tdl_mask_kind kind)
{
    return (kind == TDL_MASK_NONE && c->kernel == TDL_KERNEL_OVERLAY) ||
           (kind == TDL_MASK_ALL && is_behind(c->kernel) && !c->light);
}

/* Nothing of the source is left. */
static bool covered(const struct tdl_cpu_compose *c, enum tdl_mask_kind kind)
{
    const bool alpha = tdl_cpu_picture_has(&c->blocks.target, TDL_TRAIT_ALPHA);
    return kind == TDL_MASK_NONE && is_behind(c->kernel) &&
           (c->kernel != TDL_KERNEL_BLUR || (c->blur.share >= 1 && !alpha));
}

static void copy_rows(const struct tdl_cpu_compose *c, const struct tdl_tile *t, int y, int rows)
{
    const struct tdl_cpu_picture *from = &c->blocks.source, *to = &c->blocks.target;
    for (uint32_t p = 0; p < from->planes; p++) {
        const uint32_t shift = from->layout[p].shift_x, step = from->layout[p].step;
        const size_t n = (size_t)(t->n + (1 << shift) - 1) >> shift, x = (size_t)(t->x >> shift);
        const int first = y >> from->layout[p].shift_y;
        for (int row = first; row < first + (from->layout[p].shift_y ? 1 : rows); row++) {
            const uint8_t *in = from->plane[p] + (size_t)row * from->stride[p] + x * step;
            uint8_t *out = to->plane[p] + (size_t)row * to->stride[p] + x * step;
            if (in != out)
                memcpy(out, in, n * step);
        }
    }
}

static void load_behind(struct scene *s, int y)
{
    if (s->job->kernel == TDL_KERNEL_PICTURE)
        tdl_tile_behind(&s->job->behind, &s->tile, y, s->behind);
    else if (s->job->kernel == TDL_KERNEL_BLUR)
        blurred_rows(s, &s->pictures[0], y, s->behind);
}

/* The background alone is the target. */
static void show_behind(struct scene *s, int y, int rows)
{
    load_behind(s, y);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 4; c++)
            s->tile.target[r][c] = s->behind[r][c];
    /* The filler byte of a pixel without alpha. */
    for (int r = 0; r < 2 && !tdl_cpu_picture_has(&s->job->blocks.target, TDL_TRAIT_ALPHA); r++) {
        s->tile.target[r][3] = s->tile.target_rows[r][3];
        tdl_fill_row(255, s->tile.blocks, s->tile.target[r][3]);
    }
    tdl_tile_store(&s->job->blocks.target, &s->tile, y, rows);
}

/* The target's rows are there, unblended, and the mask. */
static void finish_rows(struct scene *s, int y)
{
    const struct tdl_cpu_compose *c = s->job;
    struct tdl_tile *t = &s->tile;
    switch (c->kernel) {
    case TDL_KERNEL_OVERLAY: /* the colour is in front */
        change_weights(t, -c->opacity, 1);
        tdl_tile_blend(&c->blocks.target, t, s->behind, false);
        break;
    case TDL_KERNEL_COLOR:
    case TDL_KERNEL_PICTURE:
        load_behind(s, y);
        tdl_tile_blend(&c->blocks.target, t, s->behind, true);
        break;
    case TDL_KERNEL_BLUR:
        load_behind(s, y);
        change_weights(t, c->blur.share, 1 - c->blur.share);
        tdl_tile_blend(&c->blocks.target, t, s->behind, false);
        break;
    case TDL_KERNEL_ALPHA:
        tdl_fill_row(0, t->blocks, s->behind[0][0]);
        for (int r = 0; r < 2; r++)
            tdl_blend_row(t->blocks, s->behind[0][0], t->mask[r], t->target[r][3]);
        break;
    case TDL_KERNEL_MASK:
        for (int r = 0; r < 2; r++) {
            t->target[r][0] = t->target_rows[r][0];
            tdl_scale_row(c->opacity, 0, t->blocks, t->mask[r], t->target[r][0]);
        }
        break;
    case TDL_KERNEL_CONVERT:
    case TDL_KERNEL_COPY:
        break;
    }
}

static void compose_rows(struct scene *s, int y)
{
    const struct tdl_cpu_compose *c = s->job;
    struct tdl_tile *t = &s->tile;
    const int rows = y + 1 < c->blocks.target.height ? 2 : 1;
    const bool masked = c->kernel != TDL_KERNEL_CONVERT;
    const enum tdl_mask_kind kind = masked ? tdl_tile_kind(&c->blocks, t, y) : TDL_MASK_MIXED;
    const bool differs = c->differences && kind != TDL_MASK_NONE && load_differences(s, y);
    if (masked && untouched(c, kind) && !differs && c->blocks.copies) {
        copy_rows(c, t, y, rows);
        return;
    }
    if (masked && covered(c, kind)) {
        show_behind(s, y, rows);
        return;
    }
    if (c->kernel != TDL_KERNEL_MASK || (c->blocks.guided && kind == TDL_MASK_MIXED))
        tdl_tile_load(&c->blocks, t, y, c->kernel != TDL_KERNEL_MASK);
    if (masked && kind == TDL_MASK_MIXED)
        tdl_tile_mask(&c->blocks, t, y);
    for (int r = 0; r < 2 && kind != TDL_MASK_MIXED; r++)
        tdl_fill_row(kind == TDL_MASK_ALL, t->blocks, t->mask[r]);
    if (differs)
        add_differences(s);
    if (c->despills && kind != TDL_MASK_ALL) /* a weight of 1 all over changes nothing */
        remove_spill(s, y);
    if (c->light)
        wrap_light(s, y);
    finish_rows(s, y);
    tdl_tile_store(&c->blocks.target, t, y, rows);
}

void TDL_CPU_NAME(compose)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_compose *c = work;
    struct scene s;
    s.job = c;
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 4; k++)
            s.behind[r][k] = s.behind_rows[r][k];
    if (c->kernel == TDL_KERNEL_OVERLAY || c->kernel == TDL_KERNEL_COLOR)
        tdl_fill_behind(&c->behind, s.behind);
    for (int x = 0; x < c->blocks.source.width; x += TDL_TILE) {
        tdl_tile_begin(&c->blocks, &s.tile, x);
        s.differing[0].row = s.differing[1].row = -1;
        if (c->blurred)
            place_blurred(&s);
        for (size_t pair = begin; pair < end; pair++)
            compose_rows(&s, 2 * (int)pair);
    }
}
