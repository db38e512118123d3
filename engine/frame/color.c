/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "color.h"

#include <string.h>

struct affine {
    double m[3][4];
};

/* ITU-T H.273, MatrixCoefficients 6 (BT.601), 1 (BT.709), 9 (BT.2020 NCL). */
static const struct {
    double kr, kb;
} weights[] = {
    [TDL_COLOR_MATRIX_BT601] = {0.299, 0.114},
    [TDL_COLOR_MATRIX_BT709] = {0.2126, 0.0722},
    [TDL_COLOR_MATRIX_BT2020] = {0.2627, 0.0593},
};

/* Code = zero + span · value, with Y in 0…1 and Cb, Cr in -½…½ (H.273, 8.3). */
struct coding {
    double y_zero, y_span, c_zero, c_span;
};

static struct coding coding_of(const struct tdl_frame *frame)
{
    const int bits = tdl_format_info(frame->format)->bits;
    const double unit = 1 << (bits - 8), most = (1 << bits) - 1;
    if (frame->range == TDL_RANGE_FULL)
        return (struct coding){0, most, 128 * unit, most};
    return (struct coding){16 * unit, 219 * unit, 128 * unit, 224 * unit};
}

static bool is_yuv(const struct tdl_frame *frame)
{
    return !tdl_format_has(tdl_format_info(frame->format), TDL_TRAIT_RGB);
}

static bool has_chroma(const struct tdl_frame *frame)
{
    return tdl_format_has(tdl_format_info(frame->format), TDL_TRAIT_CHROMA);
}

static struct affine multiply(const struct affine *a, const struct affine *b)
{
    struct affine c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            c.m[i][j] = j == 3 ? a->m[i][3] : 0;
            for (int k = 0; k < 3; k++)
                c.m[i][j] += a->m[i][k] * b->m[k][j];
        }
    return c;
}

/* Codes to R, G, B of 0…1. */
static struct affine decode(const struct tdl_frame *frame, enum tdl_color_matrix matrix)
{
    if (!is_yuv(frame))
        return (struct affine){{{1 / 255., 0, 0, 0}, {0, 1 / 255., 0, 0}, {0, 0, 1 / 255., 0}}};
    const double kr = weights[matrix].kr, kb = weights[matrix].kb, kg = 1 - kr - kb;
    const struct coding c = coding_of(frame);
    const struct affine normalise = {{{1 / c.y_span, 0, 0, -c.y_zero / c.y_span},
                                      {0, 1 / c.c_span, 0, -c.c_zero / c.c_span},
                                      {0, 0, 1 / c.c_span, -c.c_zero / c.c_span}}};
    const struct affine rgb = {{{1, 0, 2 * (1 - kr), 0},
                                {1, -2 * (1 - kb) * kb / kg, -2 * (1 - kr) * kr / kg, 0},
                                {1, 2 * (1 - kb), 0, 0}}};
    return multiply(&rgb, &normalise);
}

/* R, G, B of 0…1 to codes. */
static struct affine encode(const struct tdl_frame *frame, enum tdl_color_matrix matrix)
{
    if (!is_yuv(frame))
        return (struct affine){{{255, 0, 0, 0}, {0, 255, 0, 0}, {0, 0, 255, 0}}};
    const double kr = weights[matrix].kr, kb = weights[matrix].kb, kg = 1 - kr - kb;
    const double u = 0.5 / (1 - kb), v = 0.5 / (1 - kr);
    const struct coding c = coding_of(frame);
    return (struct affine){
        {{kr * c.y_span, kg * c.y_span, kb * c.y_span, c.y_zero},
         {-kr * u * c.c_span, -kg * u * c.c_span, (1 - kb) * u * c.c_span, c.c_zero},
         {(1 - kr) * v * c.c_span, -kg * v * c.c_span, -kb * v * c.c_span, c.c_zero}}};
}

/* Between two codings of the same YUV: no trip through RGB, exact where equal. */
static struct affine recode(const struct coding *a, const struct coding *b)
{
    const double y = b->y_span / a->y_span, c = b->c_span / a->c_span;
    return (struct affine){{{y, 0, 0, b->y_zero - y * a->y_zero},
                            {0, c, 0, b->c_zero - c * a->c_zero},
                            {0, 0, c, b->c_zero - c * a->c_zero}}};
}

static void to_float(const struct affine *a, float out[3][4])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            out[i][j] = (float)a->m[i][j];
}

bool tdl_color_rematrix(const struct tdl_frame *from, const struct tdl_frame *to)
{
    return has_chroma(from) && has_chroma(to) && from->matrix != to->matrix;
}

void tdl_color_convert(const struct tdl_frame *from, const struct tdl_frame *to, float out[3][4])
{
    const bool both_yuv = is_yuv(from) && is_yuv(to);
    struct affine map;
    if (both_yuv && !tdl_color_rematrix(from, to)) {
        const struct coding a = coding_of(from), b = coding_of(to);
        map = recode(&a, &b);
    } else {
        const struct affine a = decode(from, from->matrix), b = encode(to, to->matrix);
        map = multiply(&b, &a);
    }
    if (!is_yuv(from) && !is_yuv(to))
        map = (struct affine){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    to_float(&map, out);
}

void tdl_color_to_rgb(const struct tdl_frame *from, float out[3][4])
{
    const struct affine map = decode(from, from->matrix);
    to_float(&map, out);
}

void tdl_color_from_rgb(const struct tdl_frame *to, float out[3][4])
{
    const struct affine map = encode(to, to->matrix);
    to_float(&map, out);
}

void tdl_color_to_channels(const struct tdl_frame *from, bool bgr, float out[3][4])
{
    tdl_color_to_rgb(from, out);
    for (int i = 0; i < 4 && bgr; i++) {
        const float red = out[0][i];
        out[0][i] = out[2][i];
        out[2][i] = red;
    }
}

void tdl_color_code(const struct tdl_frame *to, const float rgba[4], float out[4])
{
    const struct affine map = encode(to, to->matrix);
    for (int i = 0; i < 3; i++)
        out[i] = (float)(map.m[i][0] * rgba[0] + map.m[i][1] * rgba[1] + map.m[i][2] * rgba[2] +
                         map.m[i][3]);
    out[3] = 255 * rgba[3];
}

void tdl_color_luma(const struct tdl_frame *of, float *out_scale, float *out_offset)
{
    const struct coding c = coding_of(of);
    *out_scale = (float)(is_yuv(of) ? 1 / c.y_span : 1 / 255.);
    *out_offset = (float)(is_yuv(of) ? -c.y_zero / c.y_span : 0);
}
