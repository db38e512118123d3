/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Fourier transforms (Operators.md, DFT and STFT) as products with matrices that are
 * known: of the sizes that networks have, as fast as others, and on every device. Numbers are
 * pairs of a real and an imaginary part along the last dimension.
 */
#include "onnx.h"

#include <math.h>
#include <string.h>

#define MAX_LENGTH 16384 /* samples */
#define PI 3.14159265358979323846

typedef struct tdl_operand *O;

/* `in` numbers, of which as many count as the transform has samples, become `out` numbers. */
struct fourier {
    uint32_t samples, in, out;
    bool complex, inverse, half; /* half: the other half of the frequencies are conjugates */
};

/* What part `to` of number `k` has of part `from` of number `n`: of e^(∓2πikn / samples). */
static double factor(const struct fourier *f, uint32_t n, uint32_t from, uint32_t k, uint32_t to)
{
    const uint64_t turn = (uint64_t)k * n % f->samples;
    const double angle = 2 * PI * (double)turn / f->samples, sign = f->inverse ? 1 : -1;
    const bool alone = n == 0 || 2 * n == f->samples;
    const double scale = f->inverse ? (f->half && !alone ? 2.0 : 1.0) / f->samples : 1;

    if (n >= f->samples)
        return 0;
    return scale * (from == to ? cos(angle) : (from ? -1 : 1) * sign * sin(angle));
}

static uint32_t parts_in(const struct fourier *f)
{
    return f->complex ? 2 : 1;
}

/* Real signals are what is left of the inverse of half of the frequencies. */
static uint32_t parts_out(const struct fourier *f)
{
    return f->inverse && f->half ? 1 : 2;
}

/* [numbers and parts that go in, those that come out] */
static O matrix(struct onnx_import *im, const struct fourier *f)
{
    const uint32_t ins = parts_in(f), outs = parts_out(f), row = f->out * outs;
    const struct tdl_tensor_params desc = {.rank = 2, .shape = {f->in * ins, row}};
    float *data = tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc));

    if (!data)
        return NULL;
    for (uint32_t n = 0; n < f->in * ins; n++)
        for (uint32_t k = 0; k < row; k++)
            data[(size_t)n * row + k] = (float)factor(f, n / ins, n % ins, k / outs, k % outs);
    return tdl_builder_constant(im->builder, &desc, data, tdl_tensor_params_size(&desc));
}

/* All dimensions but the last in their order, the axis behind the others. */
static void move_axis(uint32_t rank, uint32_t axis, uint32_t *to, uint32_t *back)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i + 1 < rank; i++)
        if (i != axis)
            to[count++] = i;
    to[count++] = axis;
    to[count] = rank - 1;
    for (uint32_t i = 0; i < rank; i++)
        back[to[i]] = i;
}

/* x · matrix along the axis. */
static O transform(struct onnx_import *im, O x, uint32_t axis, const struct fourier *f)
{
    const uint32_t rank = tdl_kit_rank(x);
    uint32_t to[TDL_MAX_RANK], back[TDL_MAX_RANK], shape[TDL_MAX_RANK] = {0};
    const uint32_t flat[] = {(uint32_t)(tdl_kit_elements(x) / (f->in * parts_in(f))),
                             f->in * parts_in(f)};

    move_axis(rank, axis, to, back);
    for (uint32_t i = 0; i + 2 < rank; i++)
        shape[i] = tdl_kit_shape(x)[to[i]];
    shape[rank - 2] = f->out;
    shape[rank - 1] = parts_out(f);
    x = onnx_reshape(im, tdl_builder_transpose(im->builder, x, to), 2, flat);
    x = tdl_builder_matmul(im->builder, x, matrix(im, f));
    return tdl_builder_transpose(im->builder, onnx_reshape(im, x, rank, shape), back);
}

/* A number that input `i` has, if it is there. */
static bool take_number(struct onnx_import *im, uint32_t i, int64_t *out)
{
    uint32_t count;

    return !onnx_given(im, i) || onnx_ints(im, i, out, 1, &count);
}

static bool add_dft(struct onnx_import *im)
{
    O x = onnx_operand(im, 0);
    struct fourier f = {.inverse = onnx_int(im, "inverse", 0) != 0,
                        .half = onnx_int(im, "onesided", 0) != 0};
    int64_t where = im->opset < 20 ? onnx_int(im, "axis", 1) : -2, length = 0;
    uint32_t axis;

    if (!x || !take_number(im, 1, &length) || !take_number(im, 2, &where) ||
        !tdl_kit_axis(&im->kit, where, tdl_kit_rank(x), &axis))
        return false;
    const uint32_t last = tdl_kit_rank(x) - 1, parts = tdl_kit_shape(x)[last];
    if (axis == last || parts > 2)
        return tdl_kit_damaged(&im->kit, "axis %u of numbers of %u parts", axis, parts);
    f.in = tdl_kit_shape(x)[axis];
    f.complex = parts == 2;
    if (!length)
        length = f.inverse && f.half ? 2 * ((int64_t)f.in - 1) : f.in;
    if (length < 1 || length > MAX_LENGTH || f.in > MAX_LENGTH)
        return tdl_kit_lacks(&im->kit, "%lld samples; libtdl transforms up to %d",
                             (long long)length, MAX_LENGTH);
    if (f.half && f.complex != f.inverse)
        return tdl_kit_damaged(&im->kit, "half of the frequencies of numbers of %u parts", parts);
    f.samples = f.out = (uint32_t)length;
    if (f.half && !f.inverse)
        f.out = f.samples / 2 + 1;
    if (f.half && f.inverse && f.in > f.samples / 2 + 1) /* the rest are their conjugates */
        return tdl_kit_damaged(&im->kit, "%u frequencies of %u samples", f.in, f.samples);
    return onnx_give(im, transform(im, x, axis, &f));
}

/* ------------------------------------------------------------------------- STFT */

/* As a filter of `in` samples for each part of each frequency, [outputs, parts, 1, samples]. */
static O windowed(struct onnx_import *im, const struct fourier *f, const float *window)
{
    const uint32_t ins = parts_in(f), outs = f->out * 2;
    const struct tdl_tensor_params desc = {.rank = 4, .shape = {outs, ins, 1, f->in}};
    float *data = tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc));

    if (!data)
        return NULL;
    for (uint32_t o = 0; o < outs; o++)
        for (uint32_t part = 0; part < ins; part++)
            for (uint32_t n = 0; n < f->in; n++)
                data[((size_t)o * ins + part) * f->in + n] =
                    (float)(factor(f, n, part, o / 2, o % 2) * (window ? (double)window[n] : 1));
    return tdl_builder_constant(im->builder, &desc, data, tdl_tensor_params_size(&desc));
}

/* Samples of a frame, by its window or by input 3; and the window, or NULL. */
static bool take_frame(struct onnx_import *im, int64_t *length, const float **window)
{
    O w = NULL;

    if (!take_number(im, 3, length) || !onnx_optional(im, 2, &w))
        return false;
    *window = w ? tdl_builder_evaluate(im->builder, w) : NULL;
    if (w && (!*window || tdl_kit_desc(w)->dtype != TDL_FLOAT32))
        return tdl_kit_lacks(&im->kit, "a window that is no constant of float32");
    const uint64_t own = w ? tdl_kit_elements(w) : 0;
    if (w && *length && (uint64_t)*length != own)
        return tdl_kit_damaged(&im->kit, "a window of %llu samples over %lld",
                               (unsigned long long)own, (long long)*length);
    *length = w ? (int64_t)own : *length;
    return true;
}

static bool add_stft(struct onnx_import *im)
{
    O x = onnx_operand(im, 0), filter;
    struct fourier f = {.half = onnx_int(im, "onesided", 1) != 0};
    int64_t step = 0, length = 0;
    const float *window;

    if (!x || !take_number(im, 1, &step) || !take_frame(im, &length, &window))
        return false;
    const uint32_t rank = tdl_kit_rank(x), *s = tdl_kit_shape(x);
    f.complex = rank == 3 && s[2] == 2;
    if (rank < 2 || rank > 3 || (rank == 3 && s[2] > 2) || (f.half && f.complex))
        return tdl_kit_damaged(&im->kit, "a signal of %u dimensions", rank);
    length = length ? length : s[1];
    if (length < 1 || length > MAX_LENGTH || length > s[1] || step < 1 || step > INT32_MAX)
        return tdl_kit_damaged(&im->kit, "frames of %lld in %u samples, %lld apart",
                               (long long)length, s[1], (long long)step);
    f.samples = f.in = (uint32_t)length;
    f.out = f.half ? f.samples / 2 + 1 : f.samples;
    const uint32_t batch = s[0], samples = s[1], parts = parts_in(&f);
    const uint32_t frames = (samples - f.in) / (uint32_t)step + 1;
    x = onnx_reshape(im, x, 3, (const uint32_t[]){batch, samples, parts});
    x = tdl_builder_transpose(im->builder, x, (const uint32_t[]){0, 2, 1});
    x = onnx_reshape(im, x, 4, (const uint32_t[]){batch, parts, 1, samples});
    filter = x ? windowed(im, &f, window) : NULL;
    if (!filter)
        return false;
    x = tdl_builder_conv2d(im->builder, x, filter,
                           &(struct tdl_conv2d_params){.stride = {1, (uint32_t)step},
                                                       .filter_layout = TDL_FILTER_OIHW,
                                                       .input_layout = TDL_LAYOUT_NCHW});
    x = onnx_reshape(im, x, 4, (const uint32_t[]){batch, f.out, 2, frames});
    return onnx_give(im, tdl_builder_transpose(im->builder, x, (const uint32_t[]){0, 3, 1, 2}));
}

/* HannWindow and its kin: three terms of cosines. */
static bool add_window(struct onnx_import *im)
{
    static const struct {
        const char *name;
        double terms[3];
    } windows[] = {
        {"BlackmanWindow", {0.42, -0.5, 0.08}},
        {"HammingWindow", {25.0 / 46, -21.0 / 46, 0}},
        {"HannWindow", {0.5, -0.5, 0}},
    };
    int64_t size = 0;
    float list[MAX_LENGTH];
    enum tdl_dtype dtype;
    size_t w = 0;
    O o;

    while (strcmp(windows[w].name, im->node.row->name))
        w++;
    if (!take_number(im, 0, &size) || !onnx_dtype(im, onnx_int(im, "output_datatype", 1), &dtype))
        return false;
    if (size < 1 || size > MAX_LENGTH)
        return tdl_kit_lacks(&im->kit, "a window of %lld samples", (long long)size);
    const double period = onnx_int(im, "periodic", 1) ? (double)size : (double)size - 1;
    const uint32_t count = (uint32_t)size;
    for (uint32_t i = 0; i < count; i++) {
        const double turn = period > 0 ? 6.283185307179586 * i / period : 0;

        list[i] = (float)(windows[w].terms[0] + windows[w].terms[1] * cos(turn) +
                          windows[w].terms[2] * cos(2 * turn));
    }
    o = onnx_constant(im, TDL_FLOAT32, 1, &count, list);
    return onnx_give(im, o && dtype != TDL_FLOAT32 ? tdl_builder_cast(im->builder, o, dtype) : o);
}

const struct onnx_row onnx_rows_fourier[] = {
    {"BlackmanWindow", 1, 1, add_window},
    {"DFT", 1, 3, add_dft},
    {"HammingWindow", 1, 1, add_window},
    {"HannWindow", 1, 1, add_window},
    {"STFT", 2, 4, add_stft},
    {0},
};
