/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps on the mask before composition, against plain C written from frame.h: smoothing over time,
 * closed holes, small regions, growing and shrinking. With and without refinement, on odd sizes.
 */
#include "test-frame-reference.h"

#include <math.h>
#include <string.h>

static struct tdl_context *ctx;
static struct tdl_batch *batch;

struct stage {
    struct picture source, target;
    struct tdl_composer *composer;
    struct tdl_tensor *tensor;
    struct map mask;
    struct tdl_compose_params params;
};

static struct stage stage_new(uint32_t width, uint32_t height, int mask_width, int mask_height)
{
    struct stage s = {
        .source = picture_new(ctx, TDL_FORMAT_GRAY8, width, height, GEOMETRY_TIGHT),
        .target = picture_new(ctx, TDL_FORMAT_GRAY8, width, height, GEOMETRY_WORDS),
        .tensor = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, (uint32_t)mask_height,
                             (uint32_t)mask_width, 1),
        .mask = map_new(mask_width, mask_height),
        .params = {.mode = TDL_MODE_MASK, .threshold = 0.5f, .feather = 1},
    };
    OK(tdl_composer_create(ctx, &s.composer));
    return s;
}

static void stage_free(struct stage *s)
{
    picture_free(&s->source);
    picture_free(&s->target);
    tdl_tensor_destroy(&s->tensor);
    tdl_composer_destroy(&s->composer);
    map_free(&s->mask);
}

static void frame(struct stage *s)
{
    const int count = s->mask.width * s->mask.height;
    float *values = malloc(sizeof(*values) * (size_t)count);
    CHECK(values, "no memory");
    for (int i = 0; i < count; i++)
        values[i] = (float)s->mask.at[i];
    OK(tdl_tensor_write(s->tensor, values, sizeof(*values) * (size_t)count, NULL));
    free(values);
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s->composer, &s->source.frame, s->tensor, &s->target.frame, &s->params));
    run_batch(batch, ctx);
}

/* The target against what becomes of `mask` from here on. */
static void expect(struct stage *s, const struct map *mask, double tolerance, const char *what)
{
    struct tdl_compose_params params = s->params;
    char text[200];
    snprintf(text, sizeof(text), "%s, mask %d×%d%s", what, mask->width, mask->height,
             params.refine ? ", refined" : "");
    struct samples want = compose(&s->source, mask, NULL, &s->target.frame, &params);
    check_target(&s->target, &want, tolerance, text);
    picture_check_sentinels(&s->target, text);
    samples_free(&want);
}

/* ------------------------------------------------------------ what is no number */

/* Background either way, and in what is smoothed over time. */
static void test_no_number(void)
{
    static const float none[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int invert = 0; invert < 2; invert++) {
        struct stage s = stage_new(19, 11, 7, 5);
        struct map known = map_new(7, 5);
        s.params.invert = invert;
        for (int f = 0; f < 3; f++) {
            for (int i = 0; i < 7 * 5; i++) {
                const bool is_number = random_below(2);
                known.at[i] = is_number ? (double)random_below(2) : invert;
                s.mask.at[i] = is_number ? known.at[i] : (double)none[random_below(COUNT(none))];
            }
            frame(&s);
            expect(&s, &known, 0.3, invert ? "no number, inverted" : "no number");
        }
        map_free(&known);
        stage_free(&s);
    }
}

/* --------------------------------------------------------------- smoothing */

static double between(double low, double high, double v)
{
    const double t = clamp_double((v - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

static void fill_grey(struct picture *p, unsigned code)
{
    for (uint32_t i = 0; i < p->frame.width * p->frame.height; i++)
        set_code(p, 0, (int)(i % p->frame.width), (int)(i / p->frame.width), code);
}

/* Weight `keep`, less where the picture moves (by 0.025 to 0.1 − 0.025 of luma)
 * and where the mask changes a lot (by 0.1 to 0.3). The luma that the picture is
 * held against follows with the same weight. */
static void test_smoothing(void)
{
    static const unsigned greys[] = {100, 102, 104, 110, 118, 130, 190, 192, 187, 180};
    struct stage s = stage_new(19, 11, 6, 5);
    const int count = s.mask.width * s.mask.height;
    struct map state = map_new(s.mask.width, s.mask.height), luma = map_new(6, 5);
    int kept = 0, dropped = 0;
    s.params.smoothing = 0.8f;
    for (size_t f = 0; f < COUNT(greys); f++) {
        fill_grey(&s.source, greys[f]);
        for (int i = 0; i < count; i++) {
            const double step = random_below(4) ? 0.3 : 1;
            s.mask.at[i] =
                f ? clamp_double(state.at[i] + step * (random_unit() - 0.5), 0, 1) : random_unit();
            const double moved = fabs(greys[f] / 255. - luma.at[i]);
            const double changed = fabs(s.mask.at[i] - state.at[i]);
            const double keep =
                f ? 0.8 * (1 - between(0.025, 0.075, moved)) * (1 - between(0.1, 0.3, changed)) : 0;
            state.at[i] = (1 - keep) * s.mask.at[i] + keep * state.at[i];
            luma.at[i] = (1 - keep) * greys[f] / 255. + keep * luma.at[i];
            kept += keep > 0.7;
            dropped += f && keep < 0.1;
        }
        frame(&s);
        expect(&s, &state, 0.3, "smoothing");
    }
    CHECK(kept > 10 && dropped > 10, "only one kind of change was tried (%d, %d)", kept, dropped);
    map_free(&state);
    map_free(&luma);
    stage_free(&s);
}

/* ----------------------------------------------------------------- regions */

/* Pixels of the region round (x, y), whose membership `in` says; their number. */
static int flood(const bool *in, int width, int height, int start, int *pixels, bool *seen)
{
    int count = 0;
    pixels[count++] = start;
    seen[start] = true;
    for (int n = 0; n < count; n++) {
        const int x = pixels[n] % width, y = pixels[n] / width;
        const int next[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
        for (int k = 0; k < 4; k++) {
            const int i = next[k][1] * width + next[k][0];
            if (next[k][0] < 0 || next[k][1] < 0 || next[k][0] >= width || next[k][1] >= height ||
                !in[i] || seen[i])
                continue;
            seen[i] = true;
            pixels[count++] = i;
        }
    }
    return count;
}

struct tally {
    int closed, small_holes, small_islands, left;
};

static double share_of(const struct map *m, const struct tdl_compose_params *p, const int *pixels,
                       int count, bool hole, struct tally *tally)
{
    double lowest = 1;
    bool border = false;
    for (int n = 0; n < count; n++) {
        const int x = pixels[n] % m->width, y = pixels[n] / m->width;
        lowest = fmin(lowest, m->at[pixels[n]]);
        border = border || x == 0 || y == 0 || x == m->width - 1 || y == m->height - 1;
    }
    if (count < p->min_area * m->width * m->height) {
        *(hole ? &tally->small_holes : &tally->small_islands) += 1;
        return 1;
    }
    const double share = clamp_double((lowest / p->threshold - 0.6) / 0.3, 0, 1);
    if (!hole || border || !p->close_holes || share <= 0) {
        tally->left++;
        return 0;
    }
    tally->closed++;
    return share;
}

/* Holes are below threshold + half the feather, islands above threshold − half
 * the feather, 0.2 at most. Islands are looked for when holes are gone. */
static struct map cleaned(const struct map *m, const struct tdl_compose_params *p,
                          struct tally *tally)
{
    const int count = m->width * m->height;
    struct map result = map_new(m->width, m->height);
    bool *in = calloc((size_t)count, sizeof(*in)), *seen = calloc((size_t)count, sizeof(*seen));
    int *pixels = calloc((size_t)count, sizeof(*pixels));
    const double soft = fmin(p->feather / 2, 0.2);
    CHECK(in && seen && pixels, "no memory");
    memcpy(result.at, m->at, sizeof(double) * (size_t)count);
    for (int kind = 0; kind < (p->min_area > 0 ? 2 : 1); kind++) {
        memset(seen, 0, (size_t)count * sizeof(*seen));
        for (int i = 0; i < count; i++)
            in[i] = kind ? result.at[i] > p->threshold - soft : m->at[i] < p->threshold + soft;
        for (int i = 0; i < count; i++) {
            if (!in[i] || seen[i])
                continue;
            const int size = flood(in, m->width, m->height, i, pixels, seen);
            const double share = share_of(m, p, pixels, size, !kind, tally);
            for (int n = 0; n < size; n++)
                result.at[pixels[n]] += share * (!kind - result.at[pixels[n]]);
        }
    }
    free(in);
    free(seen);
    free(pixels);
    return result;
}

/* Values that lie clear of every level of the tests below. */
static const double levels[] = {0, 0.1, 0.2, 0.38, 0.42, 0.48, 0.6, 0.8, 1};

/* Blobs of random values and sizes on a field of foreground or background. */
static void draw_blobs(struct map *m, double field, int blobs)
{
    for (int i = 0; i < m->width * m->height; i++)
        m->at[i] = field;
    for (int b = 0; b < blobs; b++) {
        const double value = levels[random_below(COUNT(levels))];
        const int cx = (int)random_below((uint32_t)m->width);
        const int cy = (int)random_below((uint32_t)m->height);
        const int rx = (int)random_below((uint32_t)m->width / 4 + 1);
        const int ry = (int)random_below((uint32_t)m->height / 4 + 1);
        for (int y = cy - ry; y <= cy + ry; y++)
            for (int x = cx - rx; x <= cx + rx; x++)
                if (x >= 0 && y >= 0 && x < m->width && y < m->height)
                    m->at[y * m->width + x] = value;
    }
}

/* A corridor one pixel wide that winds inwards: one region of many runs. */
static void draw_spiral(struct map *m, double wall, double corridor)
{
    int x = 1, y = 1, dx = 1, dy = 0, turns = 0;
    for (int i = 0; i < m->width * m->height; i++)
        m->at[i] = wall;
    while (turns < 2) {
        const int nx = x + dx, ny = y + dy, fx = nx + dx, fy = ny + dy;
        m->at[y * m->width + x] = corridor;
        const bool free_way = nx > 0 && ny > 0 && nx < m->width - 1 && ny < m->height - 1 &&
                              (fx < 0 || fy < 0 || fx >= m->width || fy >= m->height ||
                               m->at[fy * m->width + fx] != corridor);
        if (free_way) {
            x = nx;
            y = ny;
            turns = 0;
        } else {
            const int turn = dx;
            dx = -dy;
            dy = turn;
            turns++;
        }
    }
}

static void check_regions(struct stage *s, struct tally *tally, const char *what)
{
    frame(s);
    struct map want = cleaned(&s->mask, &s->params, tally);
    /* Coefficients are coded in steps of 1 / 2048; the soft step magnifies. */
    expect(s, &want, (s->params.refine ? 0.4 : 0.15) / (double)s->params.feather, what);
    map_free(&want);
}

static void test_regions(void)
{
    static const int sizes[][2] = {{1, 1}, {3, 1}, {1, 70}, {31, 17}, {33, 9}, {64, 40}, {97, 35}};
    struct tally tally = {0};
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (int round = 0; round < 18; round++) {
            struct stage s = stage_new(41, 23, sizes[k][0], sizes[k][1]);
            s.params.close_holes = round % 3 != 1;
            s.params.min_area = round % 3 ? 0.02f : 0;
            s.params.refine = round >= 9;
            s.params.feather = round % 2 ? 0.3f : 1;
            draw_blobs(&s.mask, round % 4 != 1, 12);
            check_regions(&s, &tally, "regions");
            stage_free(&s);
        }
    CHECK(tally.closed && tally.small_holes && tally.small_islands && tally.left,
          "some kind of region was not there: %d closed, %d small holes, %d small islands, %d left",
          tally.closed, tally.small_holes, tally.small_islands, tally.left);
}

/* A small ring goes with what is inside, a hole of a great piece does not. */
static void test_rings(void)
{
    struct stage s = stage_new(64, 48, 64, 48);
    struct tally tally = {0};
    for (int i = 0; i < 64 * 48; i++) {
        const int x = abs(i % 64 - 40), y = abs(i / 64 - 20), far = x > y ? x : y;
        s.mask.at[i] = i % 64 < 20 || (far <= 6 && far >= 4);
    }
    s.params.feather = 0.4f;
    s.params.min_area = 0.06f;
    check_regions(&s, &tally, "a ring");
    CHECK(tally.small_holes == 1 && tally.small_islands == 1, "%d holes and %d islands went",
          tally.small_holes, tally.small_islands);
    CHECK(get_code(&s.target, 0, 40, 20) == 0 && get_code(&s.target, 0, 35, 20) == 0 &&
              get_code(&s.target, 0, 5, 20) == 255,
          "something of the ring is left, or the great piece is not");
    stage_free(&s);
}

/* Found whole however they wind; what touches sure background is no hole. */
static void test_spirals(void)
{
    struct stage s = stage_new(71, 67, 71, 67);
    struct tally tally = {0};
    s.params.close_holes = true;
    s.params.feather = 0.4f;
    draw_spiral(&s.mask, 1, 0.48);
    check_regions(&s, &tally, "a winding hole");
    CHECK(tally.closed == 1 && tally.left == 0, "the corridor is %d regions", tally.closed);
    s.mask.at[1 * 71 + 1] = 0.1;
    check_regions(&s, &tally, "a winding hole with a sure end");
    CHECK(tally.closed == 1 && tally.left == 1, "the sure end was not seen");
    draw_spiral(&s.mask, 0, 0.9);
    s.params.min_area = 0.499f; /* less than all the walls */
    tally = (struct tally){0};
    check_regions(&s, &tally, "a winding island");
    CHECK(tally.small_islands == 1, "the island is %d", tally.small_islands);
    stage_free(&s);
}

/* ------------------------------------------------------------------ growing */

static double map_at(const struct map *m, double u, double v)
{
    const int i = (int)floor(u), j = (int)floor(v);
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        const int x = clamp_int(i + k % 2, 0, m->width - 1);
        const int y = clamp_int(j + k / 2, 0, m->height - 1);
        sum +=
            (k % 2 ? u - i : 1 - (u - i)) * (k / 2 ? v - j : 1 - (v - j)) * m->at[y * m->width + x];
    }
    return sum;
}

/* The greatest, or least, of the interpolated mask within `grow` px of the
 * frame, searched for closely. */
static struct map grown(const struct map *m, double grow, double width, double height)
{
    struct map result = map_new(m->width, m->height);
    const double across = fabs(grow) * m->width / width, down = fabs(grow) * m->height / height;
    for (int i = 0; i < m->width * m->height; i++) {
        double best = m->at[i];
        for (int ring = 1; ring <= 24; ring++)
            for (int k = 0; k < 64; k++) {
                const double angle = 2 * 3.14159265358979 * k / 64;
                const double v = map_at(m, i % m->width + across * ring / 24 * cos(angle),
                                        i / m->width + down * ring / 24 * sin(angle));
                best = grow > 0 ? fmax(best, v) : fmin(best, v);
            }
        result.at[i] = best;
    }
    return result;
}

static void draw_hill(struct map *m)
{
    const double cx = m->width * (0.3 + 0.4 * random_unit()), r = 0.25 + 0.2 * random_unit();
    const double cy = m->height * (0.3 + 0.4 * random_unit());
    for (int i = 0; i < m->width * m->height; i++) {
        const double dx = (i % m->width - cx) / m->width, dy = (i / m->width - cy) / m->height;
        m->at[i] = clamp_double(0.5 + 1.5 * (r - sqrt(dx * dx + dy * dy)), 0, 1);
    }
}

static void test_growing(void)
{
    static const struct {
        int width, height, mask_width, mask_height;
        float grow;
    } rows[] = {
        {40, 30, 40, 30, 2},    {40, 30, 40, 30, -3}, {61, 33, 32, 32, 1.5f}, {61, 33, 32, 32, -4},
        {90, 50, 31, 17, 0.7f}, {90, 50, 31, 17, 9},  {50, 50, 64, 40, 12},   {33, 21, 50, 7, -5},
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int refine = 0; refine < 2; refine++) {
            struct stage s = stage_new((uint32_t)rows[r].width, (uint32_t)rows[r].height,
                                       rows[r].mask_width, rows[r].mask_height);
            char text[64];
            draw_hill(&s.mask);
            s.params.grow = rows[r].grow;
            s.params.refine = refine;
            snprintf(text, sizeof(text), "grown by %g of %d×%d px", (double)rows[r].grow,
                     rows[r].width, rows[r].height);
            frame(&s);
            struct map want = grown(&s.mask, (double)rows[r].grow, rows[r].width, rows[r].height);
            /* A quarter of a mask pixel where the hill is steepest: corners between
             * pixels are looked at from the pixels. */
            expect(&s, &want, 2 + 0.25 * 255 * 1.5 / at_most(s.mask.width, s.mask.height), text);
            map_free(&want);
            stage_free(&s);
        }
}

/* A frame much smaller than its mask asks for more than there is: it takes what a
 * pixel may look at, and no longer. */
static void test_growth_has_an_end(void)
{
    struct stage s = stage_new(3, 1, 40, 36);
    const uint32_t shift = (uint32_t)random_below(40 * 36);
    for (uint32_t i = 0; i < 40 * 36; i++)
        s.mask.at[i] = i == shift ? 0.75 : 0.25;
    s.params.grow = 32;
    struct map want = map_new(40, 36);
    for (int i = 0; i < 40 * 36; i++)
        want.at[i] = 0.75;
    frame(&s);
    expect(&s, &want, 1, "grown by more than the mask");
    map_free(&want);
    stage_free(&s);
}

/* A straight outline moves by as many px of the frame as asked for. */
static void test_growth_is_in_px(void)
{
    static const float grows[] = {1, -1, 2.5f, -6, 10, 32, -32};
    for (size_t k = 0; k < COUNT(grows); k++)
        for (int upright = 0; upright < 2; upright++) {
            struct stage s = stage_new(128, 96, 64, 24);
            double area = 0;
            for (int i = 0; i < 64 * 24; i++)
                s.mask.at[i] = upright ? clamp_double(0.5 + (i % 64 - 31.5) / 4, 0, 1)
                                       : clamp_double(0.5 + (i / 64 - 11.5) / 4, 0, 1);
            s.params.grow = grows[k];
            frame(&s);
            for (int i = 0; i < 128 * 96; i++)
                area += get_code(&s.target, 0, i % 128, i / 128) / 255;
            const double got = upright ? area / 96 - 64 : area / 128 - 48;
            CHECK(fabs(got - (double)grows[k]) < 0.1, "grow %g moves the outline by %.2f px",
                  (double)grows[k], got);
            stage_free(&s);
        }
}

/* A part of the mask, within it or over its borders, does what a mask does that has
 * those values, and 0 outside. */
static void test_part(void)
{
    for (int turn = 0; turn < 12; turn++) {
        const int width = 1 + (int)random_below(30), height = 1 + (int)random_below(20);
        const int part_width = 1 + (int)random_below(40), part_height = 1 + (int)random_below(30);
        const int x = (int)random_below(40) - 15, y = (int)random_below(30) - 10;
        struct stage whole = stage_new(37, 29, part_width, part_height);
        struct stage s = stage_new(37, 29, width, height);
        for (int i = 0; i < width * height; i++)
            s.mask.at[i] = random_below(101) / 100.0;
        for (int i = 0; i < part_width * part_height; i++) {
            const int px = x + i % part_width, py = y + i / part_width;
            whole.mask.at[i] =
                px >= 0 && px < width && py >= 0 && py < height ? s.mask.at[py * width + px] : 0;
        }
        memcpy(whole.source.bytes, s.source.bytes, s.source.size);
        whole.source.frame = s.source.frame;
        whole.source.frame.planes[0].buffer = whole.source.buffer;
        whole.params.refine = s.params.refine = turn % 2;
        s.params.mask_part.x = x;
        s.params.mask_part.y = y;
        s.params.mask_part.width = (uint32_t)part_width;
        s.params.mask_part.height = (uint32_t)part_height;
        frame(&whole);
        frame(&s);
        for (int i = 0; i < 37 * 29; i++) {
            const double got = get_code(&s.target, 0, i % 37, i / 37);
            const double want = get_code(&whole.target, 0, i % 37, i / 37);
            CHECK(got == want,
                  "part %d,%d %d×%d of a mask of %d×%d: pixel %d,%d is %.0f, not %.0f "
                  "(seed %#x)",
                  x, y, part_width, part_height, width, height, i % 37, i / 37, got, want,
                  random_seed());
        }
        stage_free(&whole);
        stage_free(&s);
    }
}

static void test_wrong_parts(void)
{
    static const struct {
        int32_t x, y;
        uint32_t width, height;
    } wrong[] = {{1, 0, 0, 0}, {0, 0, 4, 0}, {0, 0, 1 << 20, 4}, {INT32_MIN, 0, 4, 4}};
    struct stage s = stage_new(8, 8, 4, 4);
    OK(tdl_batch_begin(batch));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        s.params.mask_part.x = wrong[i].x;
        s.params.mask_part.y = wrong[i].y;
        s.params.mask_part.width = wrong[i].width;
        s.params.mask_part.height = wrong[i].height;
        CHECK(tdl_compose(batch, s.composer, &s.source.frame, s.tensor, &s.target.frame,
                          &s.params) == TDL_ERROR_INVALID_ARGUMENT &&
                  strstr(tdl_last_error(), "part"),
              "wrong part %zu was taken: %s", i, tdl_last_error());
    }
    tdl_batch_cancel(batch);
    stage_free(&s);
}

int main(int argc, char **argv)
{
    ctx = open_context(argc, argv);
    OK(tdl_batch_create(ctx, &batch));
    random_seed();
    test_no_number();
    test_smoothing();
    test_regions();
    test_rings();
    test_spirals();
    test_growing();
    test_growth_has_an_end();
    test_growth_is_in_px();
    test_part();
    test_wrong_parts();
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("mask: ok\n");
    return 0;
}
