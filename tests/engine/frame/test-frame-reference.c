/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-frame-reference.h"

#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------- samples */

struct samples samples_new(const struct tdl_frame *frame)
{
    struct samples s;
    for (int c = 0; c < 4; c++) {
        const bool sub = c == 1 || c == 2;
        const int sx = sub && !format_rgb(frame->format) ? chroma_shift_x(frame->format) : 0;
        const int sy = sub && !format_rgb(frame->format) ? chroma_shift_y(frame->format) : 0;
        s.width[c] = ((int)frame->width + sx) >> sx;
        s.height[c] = ((int)frame->height + sy) >> sy;
        s.at[c] = calloc((size_t)s.width[c] * (size_t)s.height[c], sizeof(double));
        CHECK(s.at[c], "no memory");
    }
    return s;
}

void samples_free(struct samples *s)
{
    for (int c = 0; c < 4; c++)
        free(s->at[c]);
}

struct map map_new(int width, int height)
{
    struct map m = {width, height, calloc((size_t)width * (size_t)height, sizeof(double))};
    CHECK(m.at, "no memory");
    return m;
}

void map_free(struct map *m)
{
    free(m->at);
}

/* -------------------------------------------------------------- conversion */

static void convert_pixel(const struct tdl_frame *from, const double codes[3],
                          const struct tdl_frame *to, double out[3])
{
    double rgb[3];
    struct tdl_frame neutral = *from;
    if (!format_has(from->format, 1) || !format_has(to->format, 1))
        neutral.matrix = to->matrix; /* grey has no matrix */
    to_rgb(format_rgb(to->format) ? from : &neutral, codes, rgb);
    from_rgb(to, rgb, out);
}

/* Source chroma, as codes, at a target's chroma sample (i, j) or, `luma_row`
 * ≥ 0, at the pair that pixel row belongs to. YUV with chroma only. */
static double chroma_at(const struct picture *p, int c, int i, int row, enum tdl_format to,
                        int luma_row)
{
    const int last = (int)p->frame.height - 1;
    if (chroma_shift_y(p->frame.format)) {
        if (chroma_shift_y(to))
            return get_code(p, c, i, row);
        const int other = clamp_int(row % 2 ? row / 2 + 1 : row / 2 - 1, 0, last / 2);
        return 0.75 * get_code(p, c, i, row / 2) + 0.25 * get_code(p, c, i, other);
    }
    if (!chroma_shift_y(to))
        return get_code(p, c, i, row);
    if (luma_row >= 0)
        return get_code(p, c, i, luma_row);
    return 0.5 * (get_code(p, c, i, 2 * row) + get_code(p, c, i, at_most(2 * row + 1, last)));
}

static void convert_yuv(const struct picture *p, const struct tdl_frame *to, struct samples *s)
{
    const bool grey = !format_has(p->frame.format, 1) || !format_has(to->format, 1);
    const double neutral = 128 * format_unit(p->frame.format);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < s->height[c]; y++)
            for (int x = 0; x < s->width[c]; x++) {
                double codes[3] = {neutral, neutral, neutral}, out[3];
                const int row = c || chroma_shift_y(to->format) == 0 ? y : y / 2;
                if (c == 0)
                    codes[0] = get_code(p, 0, x, y);
                for (int k = 1; k < 3 && !grey; k++)
                    codes[k] = chroma_at(p, k, c ? x : x / 2, row, to->format, c ? -1 : y);
                convert_pixel(&p->frame, codes, to, out);
                *sample(s, c, x, y) = out[c];
            }
}

/* From three codes a pixel to subsampled chroma. */
static void convert_from_full(const struct picture *p, const struct tdl_frame *to,
                              struct samples *s)
{
    const int right = (int)p->frame.width - 1, bottom = (int)p->frame.height - 1;
    static const double taps[3] = {0.25, 0.5, 0.25};
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < s->height[c]; y++)
            for (int x = 0; x < s->width[c]; x++) {
                const bool sub = c > 0;
                const int rows = sub && chroma_shift_y(to->format) ? 2 : 1;
                double sum = 0;
                for (int j = 0; j < rows; j++)
                    for (int k = -1; k <= 1; k++) {
                        double codes[4], out[3];
                        const int px = sub ? clamp_int(2 * x + k, 0, right) : x;
                        const int py = rows == 2 ? at_most(2 * y + j, bottom) : y;
                        pixel_codes(p, px, py, codes);
                        convert_pixel(&p->frame, codes, to, out);
                        sum += out[c] * (sub ? taps[k + 1] : 1 / 3.0) / rows;
                    }
                *sample(s, c, x, y) = sum;
            }
}

struct samples convert(const struct picture *source, const struct tdl_frame *target)
{
    struct samples s = samples_new(target);
    if (format_full_chroma(target->format)) {
        for (int y = 0; y < s.height[0]; y++)
            for (int x = 0; x < s.width[0]; x++) {
                double codes[4], out[3];
                pixel_codes(source, x, y, codes);
                convert_pixel(&source->frame, codes, target, out);
                for (int c = 0; c < 3; c++)
                    *sample(&s, c, x, y) = out[c];
            }
    } else if (format_full_chroma(source->frame.format)) {
        convert_from_full(source, target, &s);
    } else {
        convert_yuv(source, target, &s);
    }
    for (int y = 0; y < s.height[3]; y++)
        for (int x = 0; x < s.width[3]; x++)
            *sample(&s, 3, x, y) = get_code(source, 3, x, y);
    return s;
}

/* -------------------------------------------------------------------- mask */

double map_between(const struct map *m, int x, int y, int width, int height)
{
    const double u = clamp_double((x + 0.5) * m->width / width - 0.5, 0, m->width - 1);
    const double v = clamp_double((y + 0.5) * m->height / height - 0.5, 0, m->height - 1);
    const int i = (int)u, j = (int)v;
    const int i1 = at_most(i + 1, m->width - 1), j1 = at_most(j + 1, m->height - 1);
    const double fx = u - i, fy = v - j;
    return (1 - fy) * ((1 - fx) * m->at[j * m->width + i] + fx * m->at[j * m->width + i1]) +
           fy * ((1 - fx) * m->at[j1 * m->width + i] + fx * m->at[j1 * m->width + i1]);
}

static double guide_of(const struct picture *p, int x, int y)
{
    if (!format_rgb(p->frame.format))
        return get_code(p, 0, x, y) / format_full(p->frame.format);
    return (0.2126 * get_code(p, 0, x, y) + 0.7152 * get_code(p, 1, x, y) +
            0.0722 * get_code(p, 2, x, y)) /
           255;
}

/* The guide of a pixel at full size: (1 2 1)/4 across and (3 1)/4 down, within
 * its block of 4×2 pixels, where the last pixel of the frame is repeated. */
static double soft_guide(const struct picture *p, int x, int y)
{
    const int right = (int)p->frame.width - 1, bottom = (int)p->frame.height - 1;
    const int first = x / 4 * 4, last = at_most(first + 3, right);
    double sum = 0;
    for (int j = 0; j < 2; j++) {
        const int row = at_most(j ? y ^ 1 : y, bottom);
        sum += (j ? 0.25 : 0.75) *
               (0.25 * guide_of(p, x > first ? x - 1 : x, row) + 0.5 * guide_of(p, x, row) +
                0.25 * guide_of(p, at_most(x + 1, last), row));
    }
    return sum;
}

/* The guide at mask resolution: a triangle three quarters of a mask pixel
 * wide, at least two frame pixels. */
static double small_guide(const struct picture *p, const struct map *mask, int x, int y)
{
    const double cell_x = (double)p->frame.width / mask->width;
    const double cell_y = (double)p->frame.height / mask->height;
    const double cx = (x + 0.5) * cell_x, cy = (y + 0.5) * cell_y;
    double sum = 0, weight = 0;
    for (int j = 0; j < (int)p->frame.height; j++)
        for (int i = 0; i < (int)p->frame.width; i++) {
            const double w = fmax(0, 1 - fabs(i + 0.5 - cx) / fmax(0.375 * cell_x, 1)) *
                             fmax(0, 1 - fabs(j + 0.5 - cy) / fmax(0.375 * cell_y, 1));
            if (w > 0)
                sum += w * guide_of(p, i, j);
            weight += w;
        }
    return sum / weight;
}

enum { RADIUS = 2 };
static const double penalty = 1e-3, no_variance = 1e-4;

/* Mean of f over the window round (x, y) that lies in the picture. */
static double window_mean(const struct map *f, int x, int y)
{
    double sum = 0;
    int count = 0;
    for (int j = y - RADIUS; j <= y + RADIUS; j++)
        for (int i = x - RADIUS; i <= x + RADIUS; i++)
            if (i >= 0 && j >= 0 && i < f->width && j < f->height) {
                sum += f->at[j * f->width + i];
                count++;
            }
    return sum / count;
}

/* The mean of the nine pixels round (x, y), the nearer twice as heavy in each direction;
 * the border repeats. */
static double near_mean(const struct map *f, int x, int y)
{
    double sum = 0, weights = 0;
    for (int v = y - 1; v <= y + 1; v++)
        for (int u = x - 1; u <= x + 1; u++) {
            const double weight = (u == x ? 2 : 1) * (v == y ? 2 : 1);
            const int column = u < 0 ? 0 : u < f->width ? u : f->width - 1;
            const int row = v < 0 ? 0 : v < f->height ? v : f->height - 1;
            sum += weight * f->at[row * f->width + column];
            weights += weight;
        }
    return sum / weights;
}

/* He, Sun, Tang: a = cov(I, p) / (var(I) + ε), b = mean(p) - a mean(I), each
 * averaged over the windows that hold the pixel. Of what that misses of p, the share
 * of its variance comes back that the line of the pixel's own window does not explain,
 * both blurred by 1 2 1. */
static void guided_lines(const struct picture *source, const struct map *p, struct map *a,
                         struct map *b)
{
    const int w = p->width, h = p->height;
    struct map guide = map_new(w, h), products = map_new(w, h), squares = map_new(w, h);
    struct map fit_a = map_new(w, h), fit_b = map_new(w, h), others = map_new(w, h);
    struct map left = map_new(w, h);
    for (int i = 0; i < w * h; i++) {
        guide.at[i] = small_guide(source, p, i % w, i / w);
        products.at[i] = guide.at[i] * p->at[i];
        squares.at[i] = guide.at[i] * guide.at[i];
        others.at[i] = p->at[i] * p->at[i];
    }
    for (int i = 0; i < w * h; i++) {
        const double mean_i = window_mean(&guide, i % w, i / w);
        const double mean_p = window_mean(p, i % w, i / w);
        const double covariance = window_mean(&products, i % w, i / w) - mean_i * mean_p;
        const double variance = window_mean(&squares, i % w, i / w) - mean_i * mean_i;
        fit_a.at[i] = covariance / (variance + penalty);
        fit_b.at[i] = mean_p - fit_a.at[i] * mean_i;
        const double variance_p = window_mean(&others, i % w, i / w) - mean_p * mean_p;
        left.at[i] = 1 - fit_a.at[i] * covariance / (variance_p + no_variance);
    }
    for (int i = 0; i < w * h; i++) {
        a->at[i] = window_mean(&fit_a, i % w, i / w);
        b->at[i] = window_mean(&fit_b, i % w, i / w);
        b->at[i] += left.at[i] * (near_mean(p, i % w, i / w) -
                                  a->at[i] * near_mean(&guide, i % w, i / w) - b->at[i]);
    }
    map_free(&others);
    map_free(&left);
    map_free(&guide);
    map_free(&products);
    map_free(&squares);
    map_free(&fit_a);
    map_free(&fit_b);
}

/* The soft step and the inversion. */
static double step_of(double q, const struct tdl_compose_params *params)
{
    q = clamp_double(q, 0, 1);
    if (params->feather > 0)
        q = clamp_double(0.5 + (q - params->threshold) / params->feather, 0, 1);
    else
        q = q > params->threshold || params->threshold <= 0;
    return params->invert ? 1 - q : q;
}

struct map full_mask(const struct picture *source, const struct map *mask,
                     const struct tdl_compose_params *params)
{
    const int w = (int)source->frame.width, h = (int)source->frame.height;
    struct map full = map_new(w, h);
    struct map a = map_new(mask->width, mask->height), b = map_new(mask->width, mask->height);
    if (params->refine)
        guided_lines(source, mask, &a, &b);
    else
        memcpy(b.at, mask->at, sizeof(double) * (size_t)(b.width * b.height));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double q = map_between(&b, x, y, w, h);
            if (params->refine)
                q += map_between(&a, x, y, w, h) * soft_guide(source, x, y);
            full.at[y * w + x] = step_of(q, params);
        }
    map_free(&a);
    map_free(&b);
    return full;
}

/* ------------------------------------------------------------- composition */

/* The mask's weight at a sample: the mean of the pixels that it serves. */
static double weight_at(const struct map *full, const struct samples *s, int c, int x, int y)
{
    const int across = s->width[0] > s->width[c] ? 2 : 1;
    const int down = s->height[0] > s->height[c] ? 2 : 1;
    double sum = 0;
    for (int j = 0; j < down; j++)
        for (int i = 0; i < across; i++)
            sum += full->at[at_most(down * y + j, full->height - 1) * full->width +
                            at_most(across * x + i, full->width - 1)];
    return sum / (across * down);
}

static void mix_to(struct samples *s, int c, const struct map *weight, const struct samples *other,
                   const double *color, bool keep_source)
{
    for (int y = 0; y < s->height[c]; y++)
        for (int x = 0; x < s->width[c]; x++) {
            double w = weight_at(weight, s, c, x, y);
            const double b = other ? *sample(other, c, x, y) : color[c];
            if (keep_source)
                w = 1 - w;
            *sample(s, c, x, y) = (1 - w) * *sample(s, c, x, y) + w * b;
        }
}

/* Opacity of the picture at a place, 0…1, and, in `codes`, its colours over `behind`. By the
 * definition of "over" with each pixel's alpha: premultiplied colours and alpha are filtered, the
 * colour behind is not. */
static double codes_over(const struct picture *p, const double centre[2], const double scale[2],
                         const float behind[4], double codes[3])
{
    const int first[2] = {0, 0}, last[2] = {(int)p->frame.width - 1, (int)p->frame.height - 1};
    double opaque = 0, weights = 0, sums[3] = {0, 0, 0};
    if (!format_has(p->frame.format, 3)) {
        filtered_codes(p, centre, scale, first, last, codes);
        return 1;
    }
    for (int y = 0; y <= last[1]; y++)
        for (int x = 0; x <= last[0]; x++) {
            const double wx = fmax(0, 1 - fabs(x + 0.5 - centre[0]) / fmax(scale[0], 1));
            const double wy = fmax(0, 1 - fabs(y + 0.5 - centre[1]) / fmax(scale[1], 1));
            const double a = get_code(p, 3, x, y) / 255;
            weights += wx * wy;
            opaque += wx * wy * a;
            for (int c = 0; c < 3; c++)
                sums[c] += wx * wy * a * get_code(p, c, x, y);
        }
    opaque /= weights;
    for (int c = 0; c < 3; c++)
        codes[c] = sums[c] / weights + (1 - opaque) * 255 * behind[c];
    return opaque;
}

/* The background picture scaled to cover, in the target's codes, rounded. */
static struct samples cover(const struct picture *p, const struct tdl_frame *target,
                            const struct tdl_compose_params *params)
{
    struct samples s = samples_new(target);
    const double aspect = params->background_aspect > 0 ? params->background_aspect : 1;
    const double step[2] = {
        fmin(p->frame.width / (double)target->width, p->frame.height / aspect / target->height),
        fmin(p->frame.width * aspect / target->width, p->frame.height / (double)target->height)};
    const double ox = (p->frame.width - step[0] * target->width) / 2;
    const double oy = (p->frame.height - step[1] * target->height) / 2;
    const bool rgb = format_rgb(target->format), sub = chroma_shift_x(target->format);
    const double most = format_full(target->format);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < s.height[c]; y++)
            for (int x = 0; x < s.width[c]; x++) {
                const int across = c && !rgb && sub ? 2 : 1;
                const int down = c && !rgb && chroma_shift_y(target->format) ? 2 : 1;
                double sum = 0;
                for (int k = 0; k < across * down; k++) {
                    double codes[3], out[3];
                    const int px = at_most(across * x + k % across, (int)target->width - 1);
                    const int py = at_most(down * y + k / across, (int)target->height - 1);
                    const double centre[2] = {ox + (px + 0.5) * step[0], oy + (py + 0.5) * step[1]};
                    codes_over(p, centre, step, params->background_color, codes);
                    convert_pixel(&p->frame, codes, target, out);
                    sum += out[c] / (across * down);
                }
                *sample(&s, c, x, y) = floor(clamp_double(sum, 0, most) + 0.5);
            }
    for (int i = 0; i < s.width[3] * s.height[3]; i++) {
        const double centre[2] = {ox + (i % s.width[3] + 0.5) * step[0],
                                  oy + (i / s.width[3] + 0.5) * step[1]};
        double codes[3];
        const double a = codes_over(p, centre, step, params->background_color, codes);
        s.at[3][i] = floor(255 * (a + (1 - a) * params->background_color[3]) + 0.5);
    }
    return s;
}

static struct samples local_means(const struct samples *s, const struct map *mask,
                                  const struct tdl_frame *target,
                                  const struct tdl_compose_params *params, double sigma,
                                  bool foreground);

double limited(double value, double from, const struct tdl_frame *target)
{
    return clamp_double(value, fmin(from, 0), fmax(from, format_full(target->format)));
}

/* Forte: F = F' + m (C - m F' - (1 - m) B'), where F' and B' are the means of what is
 * clearly foreground and background. No refinement. */
static void despill(struct samples *s, const struct map *mask, const struct map *full,
                    const struct tdl_frame *target, const struct tdl_compose_params *params)
{
    const double sigma = clamp_double(target->height / 45.0, 3, 128);
    struct samples front = local_means(s, mask, target, params, sigma, true);
    struct samples back = local_means(s, mask, target, params, sigma, false);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < s->height[c]; y++)
            for (int x = 0; x < s->width[c]; x++) {
                const double m = weight_at(full, s, c, x, y);
                const double f = *sample(&front, c, x, y), b = *sample(&back, c, x, y);
                double *color = sample(s, c, x, y);
                *color = limited(f + m * (*color - m * f - (1 - m) * b), *color, target);
            }
    samples_free(&front);
    samples_free(&back);
}

static void light_wrap(struct samples *s, const struct map *mask, const struct samples *behind,
                       const double color[4], const struct tdl_frame *target,
                       const struct tdl_compose_params *params);

struct samples compose(const struct picture *source, const struct map *mask,
                       const struct picture *background, const struct tdl_frame *target,
                       const struct tdl_compose_params *params)
{
    struct samples s = convert(source, target), other = {0};
    struct map full = full_mask(source, mask, params);
    const bool overlay = params->mode == TDL_MODE_OVERLAY;
    const float *rgba = overlay ? params->overlay_color : params->background_color;
    double rgb[3] = {rgba[0], rgba[1], rgba[2]}, color[4];
    from_rgb(target, rgb, color);
    color[3] = 255 * rgba[3];
    if (params->despill && (params->mode == TDL_MODE_REPLACE || params->mode == TDL_MODE_ALPHA))
        despill(&s, mask, &full, target, params);
    if (params->mode == TDL_MODE_MASK || params->mode == TDL_MODE_ALPHA) {
        const int c = params->mode == TDL_MODE_MASK ? 0 : 3;
        const double white = params->mask_value ? (double)params->mask_value : 255;
        for (int i = 0; i < s.width[c] * s.height[c]; i++)
            s.at[c][i] = (c == 3 ? s.at[c][i] : white) * full.at[i];
    } else if (overlay) {
        for (int i = 0; i < full.width * full.height; i++)
            full.at[i] *= params->opacity * rgba[3];
        for (int c = 0; c < 3; c++)
            mix_to(&s, c, &full, NULL, color, false);
    } else {
        if (params->mode == TDL_MODE_BLUR)
            other = blurred(&s, mask, target, params);
        else if (background)
            other = cover(background, target, params);
        if (params->mode == TDL_MODE_REPLACE && params->light_wrap > 0)
            light_wrap(&s, mask, background ? &other : NULL, color, target, params);
        for (int c = 0; c < (params->mode == TDL_MODE_BLUR ? 3 : 4); c++)
            mix_to(&s, c, &full, other.at[0] ? &other : NULL, color, true);
    }
    if (other.at[0])
        samples_free(&other);
    map_free(&full);
    return s;
}

/* ------------------------------------------------------------------- blur */

/* Gaussian of a map of weighted values, borders empty. */
static void gaussian(struct map *m, double sigma)
{
    const int radius = (int)ceil(3 * sigma);
    struct map copy = map_new(m->width, m->height);
    for (int pass = 0; pass < 2; pass++) {
        memcpy(copy.at, m->at, sizeof(double) * (size_t)(m->width * m->height));
        for (int y = 0; y < m->height; y++)
            for (int x = 0; x < m->width; x++) {
                double sum = 0, norm = 0;
                for (int k = -radius; k <= radius; k++) {
                    const int u = pass ? x : x + k, v = pass ? y + k : y;
                    const double g = radius ? exp(-0.5 * k * k / (sigma * sigma)) : 1;
                    norm += g;
                    if (u >= 0 && v >= 0 && u < m->width && v < m->height)
                        sum += g * copy.at[v * m->width + u];
                }
                m->at[y * m->width + x] = sum / norm;
            }
    }
    map_free(&copy);
}

/* Masks are kept in steps of 16/32767: next to nothing, but a cell without any clear
 * background has its colour of what it makes of weights near 0. */
static double kept(const struct map *mask, int x, int y)
{
    return round(mask->at[y * mask->width + x] * 32767 / 16) * 16 / 32767;
}

/* The mask at the middle of a pixel's block of 4×2 pixels. */
static double block_step(const struct map *mask, const struct tdl_compose_params *params, int x,
                         int y, int width, int height)
{
    const double u = (x / 4 * 4 + 2.0) * mask->width / width - 0.5;
    const double v = (y / 2 * 2 + 1.0) * mask->height / height - 0.5;
    const double cu = clamp_double(u, 0, mask->width - 1);
    const double cv = clamp_double(v, 0, mask->height - 1);
    const int i = (int)cu, j = (int)cv;
    const int i1 = at_most(i + 1, mask->width - 1), j1 = at_most(j + 1, mask->height - 1);
    const double top = kept(mask, i, j) + (cu - i) * (kept(mask, i1, j) - kept(mask, i, j));
    const double low = kept(mask, i, j1) + (cu - i) * (kept(mask, i1, j1) - kept(mask, i, j1));
    return step_of(top + (cv - j) * (low - top), params);
}

/* How much a pixel counts: what is clearly background, or foreground. */
static double blur_weight(const struct map *mask, const struct tdl_compose_params *params, int x,
                          int y, int width, int height, bool foreground)
{
    const double background = 1 - 2 * block_step(mask, params, x, y, width, height);
    return fmax(foreground ? -background : background, 0) + 1 / 8192.0;
}

/* Means over cells of `f` pixels, weighted by background or foreground; Gaussian less
 * what shrinking and growing blur by themselves; bilinear growth. They are colours that
 * the target has. No refinement. */
static struct samples local_means(const struct samples *s, const struct map *mask,
                                  const struct tdl_frame *target,
                                  const struct tdl_compose_params *params, double sigma,
                                  bool foreground)
{
    const int f = sigma >= 24 ? 16 : sigma >= 12 ? 8 : 4;
    const int width = (int)target->width, height = (int)target->height;
    const int w = (width + f - 1) / f, h = (height + f - 1) / f;
    const double small = sqrt(fmax(sigma * sigma / (f * f) - 0.25, 0.1225));
    struct samples out = samples_new(target);
    struct map weight = map_new(w, h);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            weight.at[y / f * w + x / f] +=
                blur_weight(mask, params, x, y, width, height, foreground);
    gaussian(&weight, small);
    for (int c = 0; c < 3; c++) {
        struct map m = map_new(w, h);
        const int across = s->width[0] > s->width[c] ? 2 : 1;
        const int down = s->height[0] > s->height[c] ? 2 : 1;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                m.at[y / f * w + x / f] +=
                    blur_weight(mask, params, x, y, width, height, foreground) *
                    *sample(s, c, x / across, y / down);
        gaussian(&m, small);
        for (int i = 0; i < w * h; i++)
            m.at[i] = clamp_double(m.at[i] / weight.at[i], 0, format_full(target->format));
        for (int y = 0; y < out.height[c]; y++)
            for (int x = 0; x < out.width[c]; x++) {
                double sum = 0;
                /* Cells are f pixels even at the border, where a frame may end
                 * inside one. */
                for (int k = 0; k < across * down; k++)
                    sum += map_between(&m, across * x + k % across, down * y + k / across, w * f,
                                       h * f);
                *sample(&out, c, x, y) = sum / (across * down);
            }
        map_free(&m);
    }
    map_free(&weight);
    return out;
}

/* Below two pixels and a half the blurred picture is mixed with the sharp one. */
struct samples blurred(const struct samples *s, const struct map *mask,
                       const struct tdl_frame *target, const struct tdl_compose_params *params)
{
    const double sigma = params->blur_radius, share = fmin(sigma * sigma / 5.96, 1);
    struct samples out = local_means(s, mask, target, params, sigma, false);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < s->width[c] * s->height[c]; i++)
            out.at[c][i] = share * out.at[c][i] + (1 - share) * s->at[c][i];
    return out;
}

/* ------------------------------------------------------------------ light */

/* Luma of three codes, 0…1. */
static double luma_of(const struct tdl_frame *f, const double code[3])
{
    const double most = format_full(f->format), unit = format_unit(f->format);
    if (format_rgb(f->format))
        return (0.2126 * code[0] + 0.7152 * code[1] + 0.0722 * code[2]) / 255;
    return clamp_double(
        f->range == TDL_RANGE_FULL ? code[0] / most : (code[0] - 16 * unit) / (219 * unit), 0, 1);
}

struct backdrop {
    const struct samples *picture; /* NULL: the colour */
    const double *color;
    const struct tdl_frame *target;
};

/* Component c behind pixel (x, y). */
static double behind_at(const struct backdrop *b, int c, int x, int y)
{
    const struct samples *p = b->picture;
    if (!p || !format_has(b->target->format, c))
        return b->color[c];
    return *sample(p, c, p->width[0] > p->width[c] ? x / 2 : x,
                   p->height[0] > p->height[c] ? y / 2 : y);
}

/* How bright and opaque the block of 4×2 pixels is that (x, y) is in. */
static double shine(const struct backdrop *b, int x, int y)
{
    double mean[4] = {0, 0, 0, 0};
    int count = 0;
    for (int v = y / 2 * 2; v < y / 2 * 2 + 2 && v < (int)b->target->height; v++)
        for (int u = x / 4 * 4; u < x / 4 * 4 + 4 && u < (int)b->target->width; u++, count++)
            for (int c = 0; c < 4; c++)
                mean[c] += behind_at(b, c, u, v);
    for (int c = 0; c < 4; c++)
        mean[c] /= count;
    return luma_of(b->target, mean) * (format_has(b->target->format, 3) ? mean[3] / 255 : 1);
}

/* Light wrap: the visible background, weighted by its brightness, is blurred as despill's means
 * are, with nothing outside the frame, and added over the foreground. No refinement. */
static void light_wrap(struct samples *s, const struct map *mask, const struct samples *behind,
                       const double color[4], const struct tdl_frame *target,
                       const struct tdl_compose_params *params)
{
    const struct backdrop b = {behind, color, target};
    const double sigma = clamp_double(target->height / 45.0, 3, 128);
    const int f = sigma >= 24 ? 16 : sigma >= 12 ? 8 : 4;
    const int width = (int)target->width, height = (int)target->height;
    const int w = (width + f - 1) / f, h = (height + f - 1) / f;
    const double small = sqrt(fmax(sigma * sigma / (f * f) - 0.25, 0.1225));
    struct map light[4];
    for (int c = 0; c < 4; c++)
        light[c] = map_new(w, h);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const double weight =
                (1 - block_step(mask, params, x, y, width, height)) * shine(&b, x, y) / (f * f);
            for (int c = 0; c < 4; c++)
                light[c].at[y / f * w + x / f] += weight * (c < 3 ? behind_at(&b, c, x, y) : 1);
        }
    for (int c = 0; c < 4; c++)
        gaussian(&light[c], small);
    for (int c = 0; c < 3; c++) {
        const int across = s->width[0] > s->width[c] ? 2 : 1;
        const int down = s->height[0] > s->height[c] ? 2 : 1;
        for (int y = 0; y < s->height[c]; y++)
            for (int x = 0; x < s->width[c]; x++) {
                double over = 0, covers = 0;
                for (int k = 0; k < across * down; k++) {
                    const int u = across * x + k % across, v = down * y + k / across;
                    over += map_between(&light[c], u, v, w * f, h * f) / (across * down);
                    covers += map_between(&light[3], u, v, w * f, h * f) / (across * down);
                }
                double *at = sample(s, c, x, y);
                *at = (1 - params->light_wrap * covers) * *at + params->light_wrap * over;
            }
    }
    for (int c = 0; c < 4; c++)
        map_free(&light[c]);
}

/* -------------------------------------------------------------- comparison */

void check_target(const struct picture *target, const struct samples *want, double tolerance,
                  const char *what)
{
    const enum tdl_format f = target->frame.format;
    const double most = format_full(f);
    for (int c = 0; c < 4; c++) {
        if (!format_has(f, c))
            continue;
        for (int y = 0; y < want->height[c]; y++)
            for (int x = 0; x < want->width[c]; x++) {
                const double expected = clamp_double(*sample(want, c, x, y), 0, most);
                const double got = get_code(target, c, x, y);
                CHECK(fabs(got - expected) <= 0.5 + tolerance * (most + 1) / 256,
                      "%s: %s %u×%u, component %d at %d,%d is %g, not %.3f (seed %#x)", what,
                      tdl_format_name(f), target->frame.width, target->frame.height, c, x, y, got,
                      expected, random_seed());
            }
    }
    const bool first = f == TDL_FORMAT_XRGB || f == TDL_FORMAT_XBGR;
    if (first || f == TDL_FORMAT_RGBX || f == TDL_FORMAT_BGRX)
        for (int y = 0; y < want->height[0]; y++)
            for (int x = 0; x < want->width[0]; x++)
                CHECK(target->bytes[target->frame.planes[0].offset +
                                    (size_t)y * target->frame.planes[0].stride + 4 * (size_t)x +
                                    (first ? 0 : 3)] == 255,
                      "%s: the unused byte of a pixel is not 255", what);
}
