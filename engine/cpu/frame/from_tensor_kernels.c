/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tensor's colours to the target, over a source of its coding. */
#include "blocks.h"

#include <string.h>

enum { MOST_COLUMNS = 2 * TDL_TILE_ROW };

/* The pixels of a tile and the one on its left, in the tensor: what a row of them is
 * mixed of, counted in floats. The tensor's rows are mixed first, where it has a column
 * that is wanted, and then columns: growing, there are fewer of these than pixels. */
struct canvas {
    const struct tdl_cpu_from_tensor *job;
    struct tdl_tile front, behind;
    int32_t from[MOST_COLUMNS], columns;              /* columns of the tensor, and how many */
    int32_t column[TDL_TILE_ROW], next[TDL_TILE_ROW]; /* among those, of each pixel */
    float part[TDL_TILE_ROW];
    bool whole; /* no pixel lies between two columns: they are the pixels */
    float mixed[MOST_COLUMNS];
};

/* The place of a column that is no less than those before, but maybe the last one. */
static int32_t place_column(struct canvas *c, int32_t from)
{
    int32_t i = TDL_MAX(c->columns - 2, 0);
    while (i < c->columns && c->from[i] != from)
        i++;
    if (i == c->columns)
        c->from[c->columns++] = from;
    return i;
}

static void place_columns(struct canvas *c)
{
    const struct tdl_cpu_from_tensor *f = c->job;
    const int width = f->front.target.width, last = f->width - 1;
    const float scale = (float)f->width / (float)width;
    c->whole = f->width == width;
    c->columns = 0;
    for (int i = 0; i <= c->front.blocks; i++) {
        const int x = tdl_clamp_int(c->front.x + i - 1, 0, width - 1);
        const float u = tdl_position(x, scale, (float)last);
        const int column = (int)u;
        if (c->whole) {
            c->from[c->columns++] = x * f->step;
            continue;
        }
        c->column[i] = place_column(c, column * f->step);
        c->next[i] = place_column(c, TDL_MIN(column + 1, last) * f->step);
        c->part[i] = u - (float)column;
    }
}

/* The two tensor rows that a row of the target lies between. */
struct row {
    const float *top, *low;
    float down; /* weight of the low row */
};

static struct row find_row(const struct tdl_cpu_from_tensor *f, int y)
{
    const float scale = (float)f->height / (float)f->front.target.height;
    const float v = tdl_position(y, scale, (float)(f->height - 1));
    const int row = f->height == f->front.target.height ? y : (int)v;
    const float down = f->height == f->front.target.height ? 0 : v - (float)row;
    const size_t stride = (size_t)f->tensor_width * (size_t)f->step;
    const float *top = f->tensor + (size_t)row * stride;
    return (struct row){top, down > 0 && row + 1 < f->height ? top + stride : top, down};
}

/* Mixed columns to n pixels. */
static void mix_columns(const struct canvas *c, int n, float *restrict out)
{
    const int32_t *restrict column = c->column, *restrict next = c->next;
    const float *restrict part = c->part, *restrict mixed = c->mixed;
    if (c->whole)
        memcpy(out, mixed, (size_t)n * sizeof(*out));
    else
        for (int i = 0; i < n; i++)
            out[i] = mixed[column[i]] + (mixed[next[i]] - mixed[column[i]]) * part[i];
}

/* Component k of a row, limited; n values. Grey is red, green and blue. */
static void mix_channel(struct canvas *c, int k, int y, int n, float *restrict out)
{
    const struct tdl_cpu_from_tensor *f = c->job;
    const struct row row = find_row(f, y);
    const int first = f->channels > 1 ? k : 0, columns = c->columns;
    const float *restrict top = row.top + first, *restrict low = row.low + first;
    const int32_t *restrict from = c->from;
    const float m = f->scale[k], b = f->bias[k];
    float *restrict mixed = c->mixed;
    for (int i = 0; i < columns; i++)
        mixed[i] = top[from[i]] + (low[from[i]] - top[from[i]]) * row.down;
    mix_columns(c, n, out);
    for (int i = 0; i < n; i++)
        out[i] = tdl_clamp(out[i] * m + b, 0, 1);
}

/* Alpha likewise, and with `k` a colour that counts as much as its alpha. */
static void mix_alpha(struct canvas *c, int y, int n, float *restrict out)
{
    const struct row row = find_row(c->job, y);
    const float *restrict top = row.top + 3, *restrict low = row.low + 3;
    const int32_t *restrict from = c->from;
    const int columns = c->columns;
    float *restrict mixed = c->mixed;
    for (int i = 0; i < columns; i++) {
        const float a = tdl_clamp(top[from[i]], 0, 1);
        mixed[i] = a + (tdl_clamp(low[from[i]], 0, 1) - a) * row.down;
    }
    mix_columns(c, n, out);
}

static void mix_by_alpha(struct canvas *c, int k, int y, int n, const float *restrict alpha,
                         float *restrict out)
{
    const struct tdl_cpu_from_tensor *f = c->job;
    const struct row row = find_row(f, y);
    const float *restrict top = row.top, *restrict low = row.low;
    const int32_t *restrict from = c->from;
    const float m = f->scale[k], b = f->bias[k], least = 1 / 1024.f; /* seen: nothing */
    const int columns = c->columns;
    float *restrict mixed = c->mixed;
    for (int i = 0; i < columns; i++) {
        const float a = top[from[i] + k] * tdl_clamp(top[from[i] + 3], 0, 1);
        mixed[i] = a + (low[from[i] + k] * tdl_clamp(low[from[i] + 3], 0, 1) - a) * row.down;
    }
    mix_columns(c, n, out);
    for (int i = 0; i < n; i++)
        out[i] = tdl_clamp(out[i] / (alpha[i] > least ? alpha[i] : least) * m + b, 0, 1);
}

/* Two rows of the tensor, from the pixel on the tile's left on, and their alpha. */
static void load_tensor(struct canvas *c, int y)
{
    const struct tdl_cpu_from_tensor *f = c->job;
    struct tdl_tile *t = &c->front;
    const int n = t->blocks + 1, last = f->front.target.height - 1;
    for (int r = 0; r < 2; r++) {
        const int row = TDL_MIN(y + r, last);
        if (f->channels == 4)
            mix_alpha(c, row, n, t->source[r][3] - 1);
        else
            tdl_fill_row(1, n, t->source[r][3] - 1);
        for (int k = 0; k < 3; k++)
            if (f->channels == 4)
                mix_by_alpha(c, k, row, n, t->source[r][3] - 1, t->source[r][k] - 1);
            else
                mix_channel(c, k, row, n, t->source[r][k] - 1);
    }
}

static void lay_over(struct canvas *c, int y)
{
    const struct tdl_cpu_from_tensor *f = c->job;
    struct tdl_tile *front = &c->front, *behind = &c->behind;
    tdl_tile_load(&f->behind, behind, y, true);
    for (int r = 0; r < 2; r++)
        tdl_scale_row(f->opacity, 0, front->blocks, front->source[r][3], front->mask[r]);
    /* The picture in front goes over the one behind where the weight is 1. */
    for (int r = 0; r < 2; r++)
        tdl_scale_row(-1, 1, front->blocks, front->mask[r], behind->mask[r]);
    tdl_tile_blend(&f->behind.target, behind, front->target, false);
}

static void make_rows(struct canvas *c, int y)
{
    const struct tdl_cpu_from_tensor *f = c->job;
    const struct tdl_cpu_picture *target = &f->front.target;
    struct tdl_tile *t = &c->front;
    const int rows = y + 1 < target->height ? 2 : 1;
    load_tensor(c, y);
    if (tdl_cpu_picture_has(target, TDL_TRAIT_FULL))
        tdl_any_to_full(&f->front, t);
    else
        tdl_full_to_subsampled(&f->front, t);
    for (int r = 0; r < 2; r++)
        tdl_scale_row(255, 0, t->blocks, t->source[r][3], t->target[r][3]);
    if (f->over)
        lay_over(c, y);
    tdl_tile_store(target, f->over ? &c->behind : t, y, rows);
}

void TDL_CPU_NAME(from_tensor)(void *work, size_t begin, size_t end)
{
    const struct tdl_cpu_from_tensor *f = work;
    struct canvas c;
    c.job = f;
    for (int x = 0; x < f->front.target.width; x += TDL_TILE) {
        tdl_tile_begin(&f->front, &c.front, x);
        if (f->over)
            tdl_tile_begin(&f->behind, &c.behind, x);
        place_columns(&c);
        for (size_t pair = begin; pair < end; pair++)
            make_rows(&c, 2 * (int)pair);
    }
}
