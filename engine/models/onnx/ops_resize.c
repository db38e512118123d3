/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Resize. Pictures by nearest pixels or between four are resample2d. All else,
 * cubic, antialiased, other dimensions, other coordinates, is a product with a matrix
 * of weights for each dimension that changes, which holds every formula of the
 * standard (ONNX, Operators.md, Resize).
 */
#include "onnx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum way {
    HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    PYTORCH_HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    CROP_AND_RESIZE,
    TF_HALF_PIXEL, /* of opsets 11 and 12, for nearest pixels */
    WAYS,
};
enum mode { NEAREST, LINEAR, CUBIC };

struct resize {
    enum way way;
    enum mode mode;
    uint32_t rounding; /* enum tdl_resample_rounding */
    bool antialias, exclude_outside;
    double cubic; /* the coefficient a */
    uint32_t rank;
    uint32_t in[TDL_MAX_RANK], out[TDL_MAX_RANK];
    double scale[TDL_MAX_RANK];
    double roi[2 * TDL_MAX_RANK]; /* starts, then ends */
    bool sizes;                   /* were given, not scales */
};

/* ------------------------------------------------------------------- weights */

/* Where on the input the output's element lies. */
static double source(const struct resize *r, uint32_t axis, uint32_t i)
{
    const double in = r->in[axis], out = r->out[axis], scale = r->scale[axis];
    const double start = r->roi[axis], end = r->roi[r->rank + axis];

    switch (r->way) {
    case ALIGN_CORNERS:
        /* Coordinates by the size as the scale gives it, unrounded. */
        return scale * in > 1 ? i * (in - 1) / (scale * in - 1) : 0;
    case ASYMMETRIC:
        return i / scale;
    case PYTORCH_HALF_PIXEL:
        return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
    case TF_HALF_PIXEL:
        return (i + 0.5) / scale;
    case HALF_PIXEL_SYMMETRIC:
        return in / 2 * (1 - out / (scale * in)) + (i + 0.5) / scale - 0.5;
    case CROP_AND_RESIZE:
        return out > 1 ? start * (in - 1) + i * (end - start) * (in - 1) / (out - 1)
                       : 0.5 * (start + end) * (in - 1);
    default:
        return (i + 0.5) / scale - 0.5;
    }
}

static double nearest(double x, uint32_t rounding)
{
    switch (rounding) {
    case TDL_RESAMPLE_PREFER_CEIL:
        return floor(x + 0.5);
    case TDL_RESAMPLE_FLOOR:
        return floor(x);
    case TDL_RESAMPLE_CEIL:
        return ceil(x);
    default:
        return ceil(x - 0.5);
    }
}

/* The weight of a pixel at a distance: a tent, or Keys' cubic convolution. */
static double kernel(const struct resize *r, double distance)
{
    const double d = fabs(distance), a = r->cubic;

    if (r->mode == LINEAR)
        return d < 1 ? 1 - d : 0;
    if (d < 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* The weights of one output element, added to `row`. */
static void fill_row(const struct resize *r, uint32_t axis, uint32_t i, float *row)
{
    const double x = source(r, axis, i), last = r->in[axis] - 1.0;
    const double shrink = r->antialias && r->scale[axis] < 1 ? r->scale[axis] : 1;
    const double reach = (r->mode == CUBIC ? 2 : 1) / shrink;
    double sum = 0;

    if (r->way == CROP_AND_RESIZE && (x < 0 || x > last))
        return; /* extrapolated: 0 */
    if (r->mode == NEAREST) {
        row[(uint32_t)fmin(fmax(nearest(x, r->rounding), 0), last)] = 1;
        return;
    }
    const double from = floor(x - reach) + 1, to = ceil(x + reach) - 1;
    for (double tap = from; tap <= fmax(to, from); tap++)
        if (!r->exclude_outside || (tap >= 0 && tap <= last))
            sum += kernel(r, (tap - x) * shrink);
    for (double tap = from; tap <= fmax(to, from); tap++)
        if (!r->exclude_outside || (tap >= 0 && tap <= last))
            row[(uint32_t)fmin(fmax(tap, 0), last)] +=
                (float)(kernel(r, (tap - x) * shrink) / (sum != 0 ? sum : 1));
}

/* ------------------------------------------------------------------- products */

/* [in, out], or [out, in] where it stands on the left. */
static struct tdl_operand *matrix(struct onnx_import *im, const struct resize *r, uint32_t axis,
                                  bool left)
{
    const uint32_t in = r->in[axis], out = r->out[axis];
    const struct tdl_tensor_params desc = {.rank = 2, .shape = {left ? out : in, left ? in : out}};
    float *data, *row;

    data = tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc));
    row = data ? calloc(in, sizeof(*row)) : NULL;
    if (!row)
        return tdl_builder_fail(im->builder, TDL_ERROR_OUT_OF_MEMORY,
                                "no memory to import the model");
    for (uint32_t o = 0; o < out; o++) {
        memset(row, 0, in * sizeof(*row));
        fill_row(r, axis, o, row);
        for (uint32_t i = 0; i < in; i++)
            data[left ? (size_t)o * in + i : (size_t)i * out + o] = row[i];
    }
    free(row);
    return tdl_builder_constant(im->builder, &desc, data, tdl_tensor_params_size(&desc));
}

static struct tdl_operand *swap(struct onnx_import *im, struct tdl_operand *x, uint32_t a,
                                uint32_t b)
{
    uint32_t permutation[TDL_MAX_RANK];

    for (uint32_t i = 0; i < tdl_kit_rank(x); i++)
        permutation[i] = i == a ? b : i == b ? a : i;
    return a == b ? x : tdl_builder_transpose(im->builder, x, permutation);
}

static struct tdl_operand *along(struct onnx_import *im, const struct resize *r,
                                 struct tdl_operand *x, uint32_t axis)
{
    const uint32_t last = tdl_kit_rank(x) - 1;
    const bool left = last > 0 && axis == last - 1;
    struct tdl_operand *weights = matrix(im, r, axis, left);

    if (!weights)
        return NULL;
    if (left)
        return tdl_builder_matmul(im->builder, weights, x);
    x = swap(im, x, axis, last);
    if (x && tdl_kit_rank(x) == 1) { /* a vector is a matrix of one row */
        x = onnx_reshape(im, x, 2, (const uint32_t[]){1, r->in[0]});
        x = tdl_builder_matmul(im->builder, x, weights);
        return onnx_reshape(im, x, 1, &r->out[0]);
    }
    x = tdl_builder_matmul(im->builder, x, weights);
    return x ? swap(im, x, axis, last) : NULL;
}

/* ---------------------------------------------------------------- attributes */

static uint32_t choose(const struct onnx_import *im, const char *name, const char *const *values,
                       uint32_t count, uint32_t fallback)
{
    uint32_t i = 0;

    if (!onnx_has(im, name))
        return fallback;
    while (i < count && !onnx_string_is(im, name, values[i]))
        i++;
    return i;
}

static bool read_ways(struct onnx_import *im, struct resize *r)
{
    static const char *const ways[] = {
        "half_pixel",           "align_corners",      "asymmetric",           "pytorch_half_pixel",
        "half_pixel_symmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn",
    };
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    const bool old = im->opset < 11;
    const uint32_t way =
        choose(im, "coordinate_transformation_mode", ways, WAYS, old ? ASYMMETRIC : HALF_PIXEL);
    const uint32_t mode = choose(im, "mode", modes, 3, NEAREST);

    r->rounding = choose(im, "nearest_mode", roundings, 4,
                         old ? TDL_RESAMPLE_FLOOR : TDL_RESAMPLE_PREFER_FLOOR);
    if (way == WAYS || mode == 3 || r->rounding == 4)
        return tdl_kit_lacks(&im->kit, "a mode, coordinates or a rounding by an unknown name");
    r->way = (enum way)way;
    r->mode = (enum mode)mode;
    r->antialias = onnx_int(im, "antialias", 0) != 0;
    r->exclude_outside = onnx_int(im, "exclude_outside", 0) != 0;
    r->cubic = (double)onnx_float(im, "cubic_coeff_a", -0.75f);
    if (r->way == CROP_AND_RESIZE && onnx_float(im, "extrapolation_value", 0) != 0)
        return tdl_kit_lacks(&im->kit, "an extrapolation value other than 0");
    return true;
}

/* Each listed dimension has a size or a scale; a policy keeps the sizes' ratio. Products are
 * of single precision, as ONNX Runtime has them: exporters write scales that meet a whole
 * number in that alone. */
static bool fit(struct onnx_import *im, struct resize *r, const uint32_t *axes, uint32_t count,
                const double *list)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
    const uint32_t policy = choose(im, "keep_aspect_ratio_policy", policies, 3, 0);
    double common = 0;

    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = axes[k];
        const double scale = r->sizes ? list[k] / r->in[i] : list[k];
        const double out = r->sizes ? list[k] : floorf((float)r->in[i] * (float)list[k]);

        if (!(out >= 1 && out <= 1 << 24) || !(scale > 0))
            return tdl_kit_damaged(&im->kit, "%u elements become %g", r->in[i], out);
        r->scale[i] = scale;
        r->out[i] = (uint32_t)out;
        common = k == 0 || (policy == 1 ? scale < common : scale > common) ? scale : common;
    }
    for (uint32_t k = 0; k < count && r->sizes && policy > 0; k++) {
        r->scale[axes[k]] = common;
        r->out[axes[k]] = (uint32_t)roundf((float)common * (float)r->in[axes[k]]);
        if (r->out[axes[k]] < 1 || r->out[axes[k]] > 1 << 24)
            return tdl_kit_damaged(&im->kit, "%u elements become %u", r->in[axes[k]],
                                   r->out[axes[k]]);
    }
    return true;
}

/* Where the product of scales is no whole number, exporters may have had more digits than
 * the file: sizes that it declares decide, if all of them are near. */
static bool fit_declared(struct onnx_import *im, struct resize *r)
{
    uint32_t declared[TDL_MAX_RANK];
    bool near = !r->sizes && onnx_declared_shape(im, r->rank, declared);

    for (uint32_t i = 0; near && i < r->rank; i++) {
        const double product = r->scale[i] * r->in[i];
        const bool whole = product == floor(product);

        near = !declared[i] || declared[i] == r->out[i] ||
               (!whole && fabs((double)declared[i] - r->out[i]) <= 1);
    }
    for (uint32_t i = 0; near && i < r->rank; i++)
        r->out[i] = declared[i] ? declared[i] : r->out[i];
    return tdl_builder_status(im->builder) == TDL_OK;
}

static bool read_roi(struct onnx_import *im, struct resize *r, const uint32_t *axes, uint32_t count)
{
    double list[2 * TDL_MAX_RANK];
    uint32_t given;

    if (r->way != CROP_AND_RESIZE)
        return true;
    if (!onnx_floats(im, 1, list, 2 * TDL_MAX_RANK, &given))
        return false;
    if (given != 2 * count)
        return tdl_kit_damaged(&im->kit, "a region of %u numbers", given);
    for (uint32_t k = 0; k < count; k++) {
        r->roi[axes[k]] = list[k];
        r->roi[r->rank + axes[k]] = list[count + k];
    }
    return true;
}

/* Reads the inputs; older versions have one list of scales behind the picture. */
static bool read_sizes(struct onnx_import *im, struct resize *r)
{
    const uint32_t scales = im->opset < 11 ? 1 : 2;
    int64_t chosen[TDL_MAX_RANK];
    uint32_t axes[TDL_MAX_RANK], axis_count, count;
    double list[TDL_MAX_RANK];

    if (!onnx_int_list(im, "axes", chosen, TDL_MAX_RANK, &axis_count))
        return false;
    if (!tdl_kit_axes(&im->kit, chosen, axis_count, r->rank, axes))
        return false;
    for (uint32_t i = 0; i < r->rank && !axis_count; i++)
        axes[i] = i;
    axis_count = axis_count ? axis_count : r->rank;
    r->sizes = onnx_given(im, 3) && !onnx_is_empty(im, 3);
    if (!onnx_floats(im, r->sizes ? 3 : scales, list, TDL_MAX_RANK, &count))
        return false;
    if (count != axis_count)
        return tdl_kit_damaged(&im->kit, "%u sizes or scales for %u dimensions", count, axis_count);
    return fit(im, r, axes, count, list) && fit_declared(im, r) && read_roi(im, r, axes, count);
}

/* -------------------------------------------------------------------- operators */

/* A scale that is rounded to single precision meets its size, or nearly so. */
static bool meets(const struct resize *r, uint32_t axis)
{
    return fabs(r->scale[axis] * r->in[axis] - r->out[axis]) < 1e-5 * r->out[axis];
}

/* resample2d takes the sizes of both dimensions, or the scales of both, and then computes
 * sizes of its own. */
static bool fits(const struct resize *r)
{
    bool sizes = true, scales = true;

    for (uint32_t i = 2; i < 4; i++) {
        sizes = sizes && meets(r, i);
        scales = scales && floor(r->in[i] * (double)(float)r->scale[i]) == r->out[i];
    }
    return sizes || scales;
}

static bool is_simple(const struct resize *r, bool real)
{
    bool whole = r->rank == 4 && fits(r);

    for (uint32_t i = 2; i < 4 && whole; i++)
        whole &= r->sizes || r->way != ALIGN_CORNERS || r->scale[i] * r->in[i] == (double)r->out[i];
    return real && whole && r->out[0] == r->in[0] && r->out[1] == r->in[1] && r->mode != CUBIC &&
           !r->antialias && !r->exclude_outside &&
           (r->way <= ASYMMETRIC ||
            (r->way == PYTORCH_HALF_PIXEL && r->out[2] > 1 && r->out[3] > 1));
}

static struct tdl_operand *resample(struct onnx_import *im, const struct resize *r,
                                    struct tdl_operand *x)
{
    struct tdl_resample2d_params p = {
        .mode = r->mode == LINEAR ? TDL_RESAMPLE_LINEAR : TDL_RESAMPLE_NEAREST,
        .coordinates = r->way == PYTORCH_HALF_PIXEL ? TDL_RESAMPLE_HALF_PIXEL
                                                    : (enum tdl_resample_coordinates)r->way,
        .rounding = (enum tdl_resample_rounding)r->rounding,
        .input_layout = TDL_LAYOUT_NCHW,
    };
    const bool sizes = meets(r, 2) && meets(r, 3);

    for (uint32_t i = 0; i < 2; i++) {
        p.size[i] = sizes ? r->out[2 + i] : 0;
        p.scale[i] = sizes ? 0 : (float)r->scale[2 + i];
    }
    return tdl_builder_resample2d(im->builder, x, &p);
}

static bool give_resized(struct onnx_import *im, const struct resize *r, struct tdl_operand *x)
{
    const enum tdl_dtype dtype = tdl_kit_desc(x)->dtype;
    const bool real = dtype == TDL_FLOAT32 || dtype == TDL_FLOAT16;

    if (is_simple(r, real))
        return onnx_give(im, resample(im, r, x));
    if (dtype != TDL_FLOAT32)
        x = tdl_builder_cast(im->builder, x, TDL_FLOAT32);
    for (uint32_t i = 0; i < r->rank && x; i++)
        if (r->out[i] != r->in[i] || r->way == CROP_AND_RESIZE || r->scale[i] != 1)
            x = along(im, r, x, i);
    if (x && dtype != TDL_FLOAT32)
        x = tdl_builder_cast(im->builder, x, dtype);
    return onnx_give(im, x);
}

static struct tdl_operand *begin(struct onnx_import *im, struct resize *r)
{
    struct tdl_operand *x = onnx_operand(im, 0);

    *r = (struct resize){0};
    if (!x)
        return NULL;
    r->rank = tdl_kit_rank(x);
    for (uint32_t i = 0; i < r->rank; i++) {
        r->in[i] = r->out[i] = tdl_kit_shape(x)[i];
        r->scale[i] = 1;
        r->roi[r->rank + i] = 1;
    }
    return x;
}

bool onnx_add_resize(struct onnx_import *im)
{
    struct resize r;
    struct tdl_operand *x = begin(im, &r);

    return x && read_ways(im, &r) && read_sizes(im, &r) && give_resized(im, &r, x);
}

/* Resize as it was before: by scales, from the corner. */
bool onnx_add_upsample(struct onnx_import *im)
{
    struct resize r;
    struct tdl_operand *x = begin(im, &r);
    double list[TDL_MAX_RANK];
    float scales[TDL_MAX_RANK];
    uint32_t count, axes[TDL_MAX_RANK];

    if (!x)
        return false;
    if (onnx_given(im, 1)) {
        if (!onnx_floats(im, 1, list, TDL_MAX_RANK, &count))
            return false;
    } else {
        if (!onnx_float_list(im, "scales", scales, TDL_MAX_RANK, &count))
            return false;
        for (uint32_t i = 0; i < count; i++)
            list[i] = (double)scales[i];
    }
    if (count != r.rank)
        return tdl_kit_damaged(&im->kit, "%u scales for %u dimensions", count, r.rank);
    for (uint32_t i = 0; i < count; i++)
        axes[i] = i;
    r.way = ASYMMETRIC;
    r.rounding = TDL_RESAMPLE_FLOOR;
    r.mode = onnx_string_is(im, "mode", "linear") ? LINEAR : NEAREST;
    return fit(im, &r, axes, count, list) && fit_declared(im, &r) && give_resized(im, &r, x);
}
