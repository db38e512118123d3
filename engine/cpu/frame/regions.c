/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions of the mask, pixels that are neighbours across their sides: holes, below a
 * level, and islands, above another. Rows are cut into runs of such pixels; runs that
 * touch are one region, a tree whose root is its first run. Few pixels belong, so one
 * thread does it.
 */
#include "rooms.h"

struct run {
    uint32_t x, y, count;
    uint32_t up;     /* a run of the region that is nearer to its root */
    uint32_t area;   /* the region's pixels; in the root */
    uint32_t lowest; /* … lowest value, … */
    bool touches;    /* … and whether it touches the border, or what is not looked at */
};

size_t tdl_cpu_regions_room(uint32_t width, uint32_t height, uint32_t pictures)
{
    (void)pictures;
    return sizeof(struct run) * height * TDL_DIV_UP((size_t)width, 2) + width;
}

static uint32_t value_at(const struct tdl_cpu_regions *w, uint32_t x, uint32_t y)
{
    return w->pairs[(size_t)y * (size_t)w->width + x] >> 16;
}

static uint32_t root_of(struct run *runs, uint32_t i)
{
    while (runs[i].up != i) {
        runs[i].up = runs[runs[i].up].up;
        i = runs[i].up;
    }
    return i;
}

static void unite(struct run *runs, uint32_t a, uint32_t b)
{
    a = root_of(runs, a);
    b = root_of(runs, b);
    runs[TDL_MAX(a, b)].up = TDL_MIN(a, b);
}

/* Mark the pixels of row y that belong. */
static void mark_row(const struct tdl_cpu_regions *w, uint32_t y, uint8_t *marks)
{
    const uint32_t *row = w->pairs + (size_t)y * (size_t)w->width;
    const uint32_t low = w->what.low, high = w->what.high, least = w->what.least_value;
    for (int32_t x = 0; x < w->width; x++) {
        const uint32_t value = row[x] >> 16;
        marks[x] = w->islands ? value > high : (value < low) & (value >= least);
    }
}

/* Append the runs of row y; returns how many there are then. */
static uint32_t find_runs(const struct tdl_cpu_regions *w, uint32_t y, const uint8_t *marks,
                          struct run *runs, uint32_t count)
{
    const uint8_t *end = marks + w->width, *at = marks;
    while (at < end && (at = memchr(at, 1, (size_t)(end - at)))) {
        const uint8_t *behind = memchr(at, 0, (size_t)(end - at));
        if (!behind)
            behind = end;
        runs[count] = (struct run){.x = (uint32_t)(at - marks),
                                   .y = y,
                                   .count = (uint32_t)(behind - at),
                                   .up = count,
                                   .lowest = UINT16_MAX};
        count++;
        at = behind;
    }
    return count;
}

/* Runs `above` … here - 1 are those of the row before, here … end - 1 those of the row. */
static void merge_rows(struct run *runs, uint32_t above, uint32_t here, uint32_t end)
{
    uint32_t a = above, b = here;
    while (a < here && b < end) {
        const uint32_t end_a = runs[a].x + runs[a].count, end_b = runs[b].x + runs[b].count;
        if (runs[a].x < end_b && runs[b].x < end_a)
            unite(runs, a, b);
        if (end_a < end_b)
            a++;
        else
            b++;
    }
}

static bool touches(const struct tdl_cpu_regions *w, const struct run *r)
{
    const uint32_t right = (uint32_t)w->width - 1, bottom = (uint32_t)w->height - 1;
    const uint32_t least = w->what.least_value, end = r->x + r->count;
    if (r->y == 0 || r->y == bottom || r->x == 0 || end > right)
        return true;
    if (!least)
        return false;
    bool found = value_at(w, r->x - 1, r->y) < least || value_at(w, end, r->y) < least;
    for (uint32_t x = r->x; x < end && !found; x++)
        found = value_at(w, x, r->y - 1) < least || value_at(w, x, r->y + 1) < least;
    return found;
}

static void count_run(const struct tdl_cpu_regions *w, struct run *runs, uint32_t i)
{
    const struct run *r = &runs[i];
    struct run *root = &runs[root_of(runs, i)];
    root->area += r->count;
    if (w->islands || root->touches)
        return;
    root->touches = touches(w, r);
    for (uint32_t x = r->x; x < r->x + r->count; x++)
        root->lowest = TDL_MIN(root->lowest, value_at(w, x, r->y));
}

/* How far the value of a region's pixels goes to what is round it. */
static float share_of(const struct tdl_cpu_regions *w, const struct run *root)
{
    const float from = (float)w->what.doubt[0], to = (float)w->what.doubt[1];
    if (root->area < w->what.least_area)
        return 1;
    if (w->islands || root->touches)
        return 0;
    const float share = ((float)root->lowest - from) / TDL_MAX(to - from, 1);
    return TDL_MIN(TDL_MAX(share, 0), 1);
}

static void clean_run(const struct tdl_cpu_regions *w, const struct run *r, float share)
{
    uint32_t *row = w->pairs + (size_t)r->y * (size_t)w->width;
    for (uint32_t x = r->x; x < r->x + r->count; x++) {
        const float value = (float)(row[x] >> 16) / 65535;
        const float cleaned = value + ((w->islands ? 0 : 1) - value) * share;
        row[x] = (row[x] & 65535) | (uint32_t)(cleaned * 65535 + 0.5f) << 16;
    }
}

void tdl_cpu_clean_regions(const struct tdl_cpu_regions *w)
{
    struct run *runs = w->room;
    uint8_t *marks = (uint8_t *)w->room +
                     tdl_cpu_regions_room((uint32_t)w->width, (uint32_t)w->height, 1) - w->width;
    uint32_t above = 0, count = 0;
    for (uint32_t y = 0; y < (uint32_t)w->height; y++) {
        const uint32_t here = count;
        mark_row(w, y, marks);
        count = find_runs(w, y, marks, runs, count);
        merge_rows(runs, above, here, count);
        above = here;
    }
    for (uint32_t i = 0; i < count; i++)
        count_run(w, runs, i);
    for (uint32_t i = 0; i < count; i++) {
        const float share = share_of(w, &runs[root_of(runs, i)]);
        if (share > 0)
            clean_run(w, &runs[i], share);
    }
}
