/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How good the outline is that a viewer sees, where the truth is known: a drawn
 * person with hair and fingers moves before a drawn wall, and in the network's place
 * stands the true mask, shrunk to 256×256 px, blurred, and wavering from frame to
 * frame. The composition is the element's, with its defaults.
 *
 *   test-outline [WIDTHxHEIGHT [NAME=VALUE…]]
 *
 * NAME is a field of struct tdl_compose_params, or `pictures`: a folder for the last
 * frames. Two persons: one of other brightness than the wall, and one of other hue
 * alone. All lengths are px of the frame. What is printed of each motion:
 *
 * error    of the mask, its sum of differences by the length of the outline, px
 * F        share of the mask's outline within 2 px of the true one and the other way
 *          round (harmonic mean)
 * lag      how far the mask hangs behind: the shift of the truth that is nearest to it
 * trail    share of the frame that is wrong by more than 0.1 as if behind, less what is
 *          as if ahead, %
 * flicker  mean change of the mask from frame to frame, less that of the truth moving
 *          along, by the length of the outline, px
 * halo     mean difference of colours within 6 px of the outline from the true person
 *          before the new background, of 255
 * spill    the same from the true person by the mask that was there: the old background
 *          in the outline alone
 * missed   share of an arm that is gone when the network misses it for one frame, %
 */
#include "test-frame-common.h"

#include "tools/element_defaults.h"

#include <math.h>
#include <string.h>

enum { MASK = 256, FINE = 4, FRAMES = 16, SETTLED = 6, GRID = 33, MISS = FRAMES / 2 };
enum { ALIKE = 1 };

static struct tdl_context *ctx;
static struct tdl_batch *batch;
static int width = 320, height = 180;
static const char *pictures;
static struct tdl_compose_params params;

/* ------------------------------------------------------------------- drawing */

/* Distance of p from the line a to b of `l`, and the position along it in 0…1. */
static float from_line(float x, float y, const float l[4], float *along)
{
    const float dx = l[2] - l[0], dy = l[3] - l[1];
    *along = fminf(fmaxf(((x - l[0]) * dx + (y - l[1]) * dy) / (dx * dx + dy * dy), 0), 1);
    return hypotf(x - l[0] - *along * dx, y - l[1] - *along * dy);
}

/* In units of the frame's height, round the middle. */
static bool is_person(float x, float y)
{
    static const float arm[4] = {0.2f, 0.4f, 0.37f, 0.0f};
    float along;
    if (x * x / 0.08f + (y - 0.55f) * (y - 0.55f) / 0.11f < 1 ||
        x * x / 0.0225f + (y + 0.12f) * (y + 0.12f) / 0.04f < 1)
        return true;
    if (x > 0.1f && from_line(x, y, arm, &along) < 0.035f)
        return true;
    for (int i = 0; i < 4 && x > 0.3f && y < 0.05f; i++) {
        const float k = (float)i, finger[4] = {0.35f + 0.02f * k, 0.0f, 0.33f + 0.045f * k, -0.13f};
        if (from_line(x, y, finger, &along) < 0.009f)
            return true;
    }
    for (int i = 0; i < 12 && y < 0 && x < 0.25f; i++) {
        const float a = -0.25f - 0.24f * (float)i, c = cosf(a), s = sinf(a);
        const float hair[4] = {0.14f * c, -0.12f + 0.19f * s, 0.21f * c, -0.12f + 0.29f * s};
        if (from_line(x, y, hair, &along) < 0.006f * (1 - along) + 0.001f)
            return true;
    }
    return false;
}

/* FINE samples of every pixel either way, the person in the middle; summed down. */
static uint8_t *fine;

static void draw_fine(void)
{
    fine = calloc((size_t)width * FINE, (size_t)height);
    CHECK(fine, "no memory");
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * FINE; x++)
            for (int k = 0; k < FINE; k++) {
                const float u = ((float)x + 0.5f) / FINE - 0.5f * (float)width;
                const float v = (float)y + ((float)k + 0.5f) / FINE - 0.5f * (float)height;
                fine[y * width * FINE + x] += is_person(u / (float)height, v / (float)height);
            }
}

/* The true mask with the person `shift` quarters of a pixel right of the middle. */
static float true_mask(int shift, int x, int y)
{
    int sum = 0;
    for (int k = 0; k < FINE; k++) {
        const int at = x * FINE + k - shift;
        sum += at >= 0 && at < width * FINE ? fine[y * width * FINE + at] : 0;
    }
    return (float)sum / (FINE * FINE);
}

static void person_color(int who, float x, float y, float out[3])
{
    static const float colors[2][3][3] = {
        {{205, 150, 125}, {50, 60, 110}, {45, 30, 20}},
        {{196, 112, 110}, {190, 116, 96}, {206, 108, 112}},
    };
    const float u = x / (float)height, v = y / (float)height;
    const float *c = colors[who][v > 0.2f && u < 0.3f ? 1 : v < -0.22f && u < 0.25f ? 2 : 0];
    for (int i = 0; i < 3; i++)
        out[i] = c[i] + 6 * sinf(60 * u + 25 * v) * sinf(45 * v);
}

static void wall_color(int who, int x, int y, float out[3])
{
    static const float colors[2][3] = {{130, 190, 170}, {60, 140, 210}};
    const float u = (float)x / (float)height, v = (float)y / (float)height;
    const float stripes = who == ALIKE ? 0 : 30 * (float)(sinf(12 * u) > 0.8f);
    for (int i = 0; i < 3; i++)
        out[i] = colors[who][i] + stripes + 5 * sinf(40 * u) * sinf(33 * v);
}

/* -------------------------------------------------------------------- chance */

static float normal(void)
{
    float sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (float)random_unit();
    return sum;
}

/* ------------------------------------------------------------- the stand-in */

static void blur_cells(float *at, int step, int other)
{
    for (int j = 0; j < MASK; j++) {
        float before = at[j * other];
        for (int i = 0; i < MASK; i++) {
            float *p = &at[j * other + i * step];
            const float now = *p, next = i + 1 < MASK ? p[step] : now;
            *p = 0.25f * before + 0.5f * now + 0.25f * next;
            before = now;
        }
    }
}

/* Imitates a network's mask: soft, without fine detail, and different in each frame. */
static void stand_in(const float *truth, bool misses, float *cells)
{
    float waver[GRID][GRID];
    memset(cells, 0, sizeof(*cells) * MASK * MASK);
    for (int j = 0; j < GRID * GRID; j++)
        waver[j / GRID][j % GRID] = 0.8f * normal();
    for (int j = 0; j < MASK; j++)
        for (int i = 0; i < MASK; i++) {
            /* The mean of the pixels in the cell, in samples if there are few. */
            for (int k = 0; k < 16; k++) {
                const int x = (4 * i + k % 4) * width / (4 * MASK);
                const int y = (4 * j + k / 4) * height / (4 * MASK);
                cells[j * MASK + i] += truth[y * width + x] / 16;
            }
        }
    blur_cells(cells, 1, MASK);
    blur_cells(cells, MASK, 1);
    for (int j = 0; j < MASK; j++)
        for (int i = 0; i < MASK; i++) {
            const float u = (float)(i % 8) / 8, v = (float)(j % 8) / 8;
            const float *top = &waver[j / 8][i / 8], *low = &waver[j / 8 + 1][i / 8];
            const float noise =
                (1 - v) * (top[0] + u * (top[1] - top[0])) + v * (low[0] + u * (low[1] - low[0]));
            float *p = &cells[j * MASK + i];
            *p = 1 / (1 + expf(-8 * (*p - 0.5f) - noise));
            if (misses && i > MASK * 5 / 8 && j < MASK / 2)
                *p *= 0.1f;
        }
}

/* -------------------------------------------------------------------- frames */

struct stage {
    struct picture source, mask, replaced, blurred, wall;
    struct tdl_tensor *cells;
    float *truth;    /* the true mask of this frame, at full size */
    uint8_t *before; /* the mask of the last frame */
    int who, shift, last_shift;
};

static void draw(struct stage *s, bool person)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float at = (float)s->shift / FINE, a = person ? true_mask(s->shift, x, y) : 0;
            float front[3], back[3];
            s->truth[y * width + x] = a;
            person_color(s->who, (float)x - at - 0.5f * (float)width,
                         (float)y - 0.5f * (float)height, front);
            wall_color(s->who, x, y, back);
            for (int c = 0; c < 3; c++) {
                const float v = back[c] + a * (front[c] - back[c]) + 2 * normal() + 0.5f;
                set_code(&s->source, c, x, y, (unsigned)fminf(fmaxf(v, 0), 255));
            }
        }
}

static void compose_as(const struct stage *s, struct tdl_composer *composer, enum tdl_mode mode,
                       const struct picture *target)
{
    struct tdl_compose_params p = params;
    p.mode = mode;
    OK(tdl_compose(batch, composer, &s->source.frame, s->cells, &target->frame, &p));
}

static void run_frame(struct stage *s, struct tdl_composer *composers[3], bool misses)
{
    static float cells[MASK * MASK];
    draw(s, true);
    stand_in(s->truth, misses, cells);
    OK(tdl_tensor_write(s->cells, cells, sizeof(cells), NULL));
    OK(tdl_batch_begin(batch));
    compose_as(s, composers[0], TDL_MODE_MASK, &s->mask);
    compose_as(s, composers[1], TDL_MODE_REPLACE, &s->replaced);
    compose_as(s, composers[2], TDL_MODE_BLUR, &s->blurred);
    run_batch(batch, ctx);
}

/* ------------------------------------------------------------------ measures */

struct figures {
    double error, f, lag, trail, flicker, halo[2], spill[2], missed;
};

static float mask_at(const struct stage *s, int x, int y)
{
    return (float)(get_code(&s->mask, 0, x, y) / 255);
}

static bool near_outline(const uint8_t *inside, int x, int y, int reach, int value)
{
    for (int j = y - reach; j <= y + reach; j++)
        for (int i = x - reach; i <= x + reach; i++)
            if (i >= 0 && j >= 0 && i < width && j < height && inside[j * width + i] == value)
                return true;
    return false;
}

/* Bits 0 and 1: the pixel is on the outline of the truth, of the mask; 2 and 3: within 2 px
 * of that; 4: within 6 px of the true one. */
static void find_outlines(const struct stage *s, uint8_t *out)
{
    uint8_t *inside[2] = {malloc((size_t)(width * height)), malloc((size_t)(width * height))};
    CHECK(inside[0] && inside[1], "no memory");
    memset(out, 0, (size_t)(width * height));
    for (int i = 0; i < width * height; i++) {
        inside[0][i] = s->truth[i] > 0.5f;
        inside[1][i] = mask_at(s, i % width, i / width) > 0.5f;
    }
    for (int k = 0; k < 2; k++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                if (!inside[k][y * width + x] || !near_outline(inside[k], x, y, 1, 0))
                    continue;
                const int reach = k ? 2 : 6;
                out[y * width + x] |= (uint8_t)(1 << k);
                for (int j = -reach; j <= reach; j++)
                    for (int i = -reach; i <= reach; i++) {
                        const bool close = j * j + i * i <= 4;
                        if (x + i >= 0 && y + j >= 0 && x + i < width && y + j < height)
                            out[(y + j) * width + x + i] |=
                                (uint8_t)((close ? 4 << k : 0) | (k ? 0 : 16));
                    }
            }
    free(inside[0]);
    free(inside[1]);
}

/* The shift of the truth, px, at which it is nearest to the mask; behind is positive. */
static double find_lag(const struct stage *s)
{
    enum { REACH = 32 }; /* quarters of a pixel */
    double sums[2 * REACH + 1];
    int best = REACH;
    for (int k = -REACH; k <= REACH; k++) {
        sums[k + REACH] = 0;
        for (int y = 0; y < height; y += 4)
            for (int x = 0; x < width; x++)
                sums[k + REACH] += fabsf(mask_at(s, x, y) - true_mask(s->shift - k, x, y));
    }
    for (int k = 1; k < 2 * REACH; k++)
        if (sums[k] < sums[best])
            best = k;
    if (best < 1)
        return -(double)REACH / FINE;
    const double bend = sums[best - 1] - 2 * sums[best] + sums[best + 1];
    const double part = bend > 0 ? 0.5 * (sums[best - 1] - sums[best + 1]) / bend : 0;
    return (best - REACH + part) / FINE;
}

static void add_colors(const struct stage *s, const uint8_t *outlines, struct figures *f)
{
    const struct picture *made[2] = {&s->replaced, &s->blurred};
    double halo[2] = {0}, spill[2] = {0};
    size_t count = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float front[3];
            if (!(outlines[y * width + x] & 16))
                continue;
            count += 3;
            person_color(s->who, (float)x - (float)s->shift / FINE - 0.5f * (float)width,
                         (float)y - 0.5f * (float)height, front);
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 2; k++) {
                    const double back = k ? get_code(&s->wall, c, x, y)
                                          : (double)(255 * params.background_color[c]);
                    const double got = get_code(made[k], c, x, y);
                    const double a = (double)s->truth[y * width + x], m = (double)mask_at(s, x, y);
                    halo[k] += fabs(got - (a * (double)front[c] + (1 - a) * back));
                    spill[k] += fabs(got - (m * (double)front[c] + (1 - m) * back));
                }
        }
    for (int k = 0; k < 2; k++) {
        f->halo[k] += halo[k] / (double)count;
        f->spill[k] += spill[k] / (double)count;
    }
}

static void add_mask(const struct stage *s, const uint8_t *outlines, struct figures *f)
{
    double error = 0, change = 0;
    size_t length[2] = {0}, found[2] = {0};
    long behind = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int i = y * width + x;
            const float a = s->truth[i], m = mask_at(s, x, y);
            const float before = (float)s->before[i] / 255;
            const float moved = a - true_mask(s->last_shift, x, y);
            error += (double)fabsf(m - a);
            change += (double)fabsf(m - before - moved);
            if (moved != 0 && fabsf(m - a) > 0.1f)
                behind += (m - a) * moved < 0 ? 1 : -1;
            for (int k = 0; k < 2; k++) {
                length[k] += outlines[i] >> k & 1;
                found[k] += (outlines[i] >> k & 1) && (outlines[i] & 4 << !k);
            }
        }
    const double recall = (double)found[0] / (double)length[0];
    const double precision = (double)found[1] / (double)length[1];
    f->error += error / (double)length[0];
    f->flicker += change / (double)length[0];
    f->f += 2 * recall * precision / (recall + precision);
    f->trail += 100.0 * (double)behind / (width * height);
}

/* Share of the arm that is missed, in its middle. */
static double missed(const struct stage *s)
{
    double want = 0, got = 0;
    for (int y = 0; y < height / 2; y++)
        for (int x = width * 5 / 8 + height / 32; x < width; x++) {
            want += (double)s->truth[y * width + x];
            got += (double)fminf(s->truth[y * width + x], mask_at(s, x, y));
        }
    return 100 * (1 - got / want);
}

static void keep_picture(const struct picture *p, const char *name)
{
    char path[1024];
    const bool grey = p->frame.format == TDL_FORMAT_GRAY8;
    snprintf(path, sizeof(path), "%s/%s.ppm", pictures, name);
    FILE *file = fopen(path, "wb");
    CHECK(file, "cannot write %s", path);
    fprintf(file, "P6 %d %d 255\n", width, height);
    for (int i = 0; i < 3 * width * height; i++)
        fputc((int)get_code(p, grey ? 0 : i % 3, i / 3 % width, i / 3 / width), file);
    CHECK(!fclose(file), "cannot write %s", path);
}

/* ---------------------------------------------------------------- the course */

/* Quarters of a px in frame `f`: at `speed` px a frame, or gathering it. */
static int place(float speed, bool gathers, int f)
{
    const float t = (float)f - FRAMES / 2.f, all = FRAMES / 2.f;
    return (int)lrintf(FINE * speed * (gathers ? (t + all) * (t + all) / (4 * all) : t));
}

static struct stage stage_new(int who)
{
    struct stage s = {.who = who};
    const uint32_t w = (uint32_t)width, h = (uint32_t)height;
    s.source = picture_new(ctx, TDL_FORMAT_RGBX, w, h, GEOMETRY_TIGHT);
    s.mask = picture_new(ctx, TDL_FORMAT_GRAY8, w, h, GEOMETRY_WORDS);
    s.replaced = picture_new(ctx, TDL_FORMAT_RGBX, w, h, GEOMETRY_TIGHT);
    s.blurred = picture_new(ctx, TDL_FORMAT_RGBX, w, h, GEOMETRY_TIGHT);
    s.wall = picture_new(ctx, TDL_FORMAT_RGBX, w, h, GEOMETRY_TIGHT);
    s.cells = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, MASK, MASK, 1);
    s.truth = calloc((size_t)(width * height), sizeof(*s.truth));
    s.before = calloc((size_t)(width * height), 1);
    CHECK(s.truth && s.before, "no memory");
    return s;
}

static void stage_free(struct stage *s)
{
    struct picture *const all[] = {&s->source, &s->mask, &s->replaced, &s->blurred, &s->wall};
    for (size_t i = 0; i < COUNT(all); i++)
        picture_free(all[i]);
    tdl_tensor_destroy(&s->cells);
    free(s->truth);
    free(s->before);
}

/* The blurred wall without anybody. */
static void blur_wall(struct stage *s)
{
    static const float nobody[MASK * MASK];
    struct tdl_composer *composer;
    OK(tdl_composer_create(ctx, &composer));
    draw(s, false);
    OK(tdl_tensor_write(s->cells, nobody, sizeof(nobody), NULL));
    OK(tdl_batch_begin(batch));
    compose_as(s, composer, TDL_MODE_BLUR, &s->wall);
    run_batch(batch, ctx);
    tdl_composer_destroy(&composer);
}

static struct figures follow(int who, float speed, bool gathers)
{
    struct stage s = stage_new(who);
    struct tdl_composer *composers[3];
    uint8_t *outlines = malloc((size_t)(width * height));
    struct figures sum = {0};
    const double count = FRAMES - SETTLED;
    CHECK(outlines, "no memory");
    for (int i = 0; i < 3; i++)
        OK(tdl_composer_create(ctx, &composers[i]));
    blur_wall(&s);
    for (int f = 0; f < FRAMES; f++) {
        const bool misses = speed <= 0 && f == MISS;
        s.shift = place(speed, gathers, f);
        run_frame(&s, composers, misses);
        if (misses)
            sum.missed = missed(&s);
        if (f >= SETTLED) {
            find_outlines(&s, outlines);
            add_mask(&s, outlines, &sum);
            add_colors(&s, outlines, &sum);
            sum.lag += speed > 0 ? find_lag(&s) : 0;
        }
        for (int i = 0; i < width * height; i++)
            s.before[i] = (uint8_t)get_code(&s.mask, 0, i % width, i / width);
        s.last_shift = s.shift;
    }
    if (pictures) {
        keep_picture(&s.source, "source");
        keep_picture(&s.mask, "mask");
        keep_picture(&s.replaced, "replace");
        keep_picture(&s.blurred, "blur");
    }
    for (int i = 0; i < 3; i++)
        tdl_composer_destroy(&composers[i]);
    stage_free(&s);
    free(outlines);
    return (struct figures){
        .error = sum.error / count,
        .f = sum.f / count,
        .lag = sum.lag / count,
        .trail = sum.trail / count,
        .flicker = sum.flicker / count,
        .halo = {sum.halo[0] / count, sum.halo[1] / count},
        .spill = {sum.spill[0] / count, sum.spill[1] / count},
        .missed = sum.missed,
    };
}

static const struct course {
    const char *name;
    int who;
    float speed;
    bool gathers;
    /* Largest errors at the default size; 0: the case has no such limit. */
    double error, f, lag, flicker, halo;
} courses[] = {
    {"other brightness, still", 0, 0, false, 0, 0, 0, 0, 0},
    {"  slow", 0, 1, false, 0, 0, 0, 0, 0},
    {"  walking", 0, 4, false, 0.27, 0.95, 0.2, 0.55, 3.5},
    {"  waving", 0, 16, false, 0, 0, 0, 0, 0},
    {"  starting", 0, 16, true, 0, 0, 0, 0, 0},
    {"other hue alone, still", ALIKE, 0, false, 0.32, 0.93, 0, 0.18, 4.4},
    {"  slow", ALIKE, 1, false, 0, 0, 0, 0, 0},
    {"  walking", ALIKE, 4, false, 0, 0, 0, 0, 0},
    {"  waving", ALIKE, 16, false, 0, 0, 0, 0, 0},
    {"  starting", ALIKE, 16, true, 0, 0, 0, 0, 0},
};

static void check(const struct course *c, const struct figures *f)
{
    CHECK(f->error <= c->error && f->f >= c->f, "%s: the outline is off by %.3f px, F %.3f",
          c->name, f->error, f->f);
    CHECK(fabs(f->lag) <= c->lag, "%s: the mask lags by %.3f px", c->name, f->lag);
    CHECK(f->flicker <= c->flicker, "%s: the mask flickers by %.3f px", c->name, f->flicker);
    CHECK(f->halo[0] <= c->halo, "%s: the outline's colours are off by %.2f", c->name, f->halo[0]);
}

/* Without the old background's colours the outline is closer to what it should be. */
static void check_despill(void)
{
    double spill[2];
    for (int k = 0; k < 2; k++) {
        params.despill = k;
        spill[k] = follow(0, 4, false).spill[0];
    }
    CHECK(spill[1] < 0.8 * spill[0], "spill of %.2f, of %.2f without despill", spill[1], spill[0]);
}

static void take_option(const char *text)
{
    const struct {
        const char *name;
        float *number;
        bool *truth;
    } options[] = {
        {"threshold", &params.threshold, NULL},
        {"feather", &params.feather, NULL},
        {"smoothing", &params.smoothing, NULL},
        {"blur_radius", &params.blur_radius, NULL},
        {"grow", &params.grow, NULL},
        {"refine", NULL, &params.refine},
        {"close_holes", NULL, &params.close_holes},
        {"despill", NULL, &params.despill},
    };
    const char *value = strchr(text, '=');
    for (size_t i = 0; i < COUNT(options) && value; i++) {
        if (strncmp(text, options[i].name, (size_t)(value - text)) || options[i].name[value - text])
            continue;
        if (options[i].number)
            *options[i].number = strtof(value + 1, NULL);
        else
            *options[i].truth = atoi(value + 1) != 0;
        return;
    }
    CHECK(value && !strncmp(text, "pictures=", 9), "no such option: %s", text);
    pictures = value + 1;
}

int main(int argc, char **argv)
{
    static const float dark_blue[4] = {0.1f, 0.1f, 0.3f, 1};
    const bool measures = argc > 1;
    params = element_defaults;
    memcpy(params.background_color, dark_blue, sizeof(dark_blue));
    if (measures)
        CHECK(sscanf(argv[1], "%dx%d", &width, &height) == 2, "what size is %s?", argv[1]);
    for (int i = 2; i < argc; i++)
        take_option(argv[i]);
    ctx = open_context(1, argv);
    OK(tdl_batch_create(ctx, &batch));
    draw_fine();
    printf("%-25s%6s%6s%6s%7s%8s%13s%13s%7s\n", "", "error", "F", "lag", "trail", "flicker",
           "halo r/b", "spill r/b", "missed");
    for (size_t i = 0; i < COUNT(courses); i++) {
        const struct course *c = &courses[i];
        if (!measures && c->error <= 0)
            continue;
        const struct figures f = follow(c->who, c->speed, c->gathers);
        printf("%-25s%6.2f%6.2f%6.2f%7.2f%8.2f%7.1f%6.1f%7.1f%6.1f%7.0f\n", c->name, f.error, f.f,
               f.lag, f.trail, f.flicker, f.halo[0], f.halo[1], f.spill[0], f.spill[1], f.missed);
        if (!measures)
            check(c, &f);
    }
    if (!measures)
        check_despill();
    free(fine);
    tdl_batch_destroy(&batch);
    close_context(ctx);
    return 0;
}
