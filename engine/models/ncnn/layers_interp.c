/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's Interp: pictures at other sizes; and products of matrices by which rows and columns
 * of pictures are mixed. */
#include "ncnn.h"

#include <math.h>
#include <stdlib.h>

/* Weights of the four pixels round a place, at a distance t behind the second: Keys,
 * "Cubic convolution interpolation", 1981, with a = −¾. */
static void cubic_weights(float t, float out[4])
{
    const float a = -0.75f, distance[4] = {t + 1, t, 1 - t, 2 - t};

    for (int i = 0; i < 4; i++) {
        const float d = distance[i];

        out[i] = i == 0 || i == 3 ? ((d - 5) * d + 8) * d * a - 4 * a
                                  : ((a + 2) * d - (a + 3)) * d * d + 1;
    }
}

/* Every `step`-th place between the same four pixels of a row and of a column: a
 * convolution of each channel for itself. */
static struct tdl_operand *cubic(struct ncnn_import *im, struct tdl_operand *x,
                                 const uint32_t step[2])
{
    const uint32_t channels = tdl_kit_shape(x)[1];
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {channels, 4, 4, 1}};
    struct tdl_conv2d_params params = {.groups = channels, .stride = {step[0], step[1]}};
    float weights[2][4], *filter = malloc((size_t)channels * 16 * sizeof(*filter));
    struct tdl_pad_params sides = {.mode = TDL_PAD_EDGE};
    uint32_t before[2];

    if (!filter)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, filter, free);
    for (uint32_t i = 0; i < 2; i++) { /* the first place is (step − 1) / 2 */
        cubic_weights(step[i] % 2 ? 0 : 0.5f, weights[i]);
        before[i] = (step[i] - 1) / 2;
        sides.before[2 + i] = before[i] == 0 ? 1 : 0;
        sides.after[2 + i] = step[i] < before[i] + 3 ? before[i] + 3 - step[i] : 0;
    }
    for (uint32_t i = 0; i < 16 * channels; i++)
        filter[i] = weights[0][i / 4 % 4] * weights[1][i % 4];
    x = tdl_builder_pad(im->builder, x, &sides);
    if (x && (before[0] > 1 || before[1] > 1)) {
        struct tdl_slice_params cut = {0};

        cut.start[2] = before[0] > 1 ? before[0] - 1 : 0;
        cut.start[3] = before[1] > 1 ? before[1] - 1 : 0;
        x = tdl_builder_slice(im->builder, x, &cut);
    }
    struct tdl_operand *constant =
        tdl_builder_constant(im->builder, &desc, filter, 16 * channels * sizeof(*filter));
    return x && constant ? tdl_builder_conv2d(im->builder, x, constant, &params) : NULL;
}

/* Elements of the matrices below, in all of a model. */
#define MAX_MATRICES ((uint64_t)1 << 23)

/* The matrix that makes a row of `out` elements of one of `in`; [out, in], or the other way
 * round with `turned`. */
static struct tdl_operand *mixing_matrix(struct ncnn_import *im, uint32_t in, uint32_t out,
                                         bool turned, ncnn_mixer *mixer)
{
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 2, .shape = {turned ? in : out, turned ? out : in}};
    float *matrix;

    im->matrices += (uint64_t)in * out;
    if (im->matrices > MAX_MATRICES)
        return tdl_kit_none(&im->kit, TDL_ERROR_UNSUPPORTED,
                            "%s from %u to %u px, in a picture of this size, is not supported; "
                            "give a smaller one",
                            im->layer->type[0] == 'I' ? "bicubic" : "adaptive", in, out);
    matrix = calloc((size_t)in * out, sizeof(*matrix));
    if (!matrix)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, matrix, free);
    for (uint32_t o = 0; o < out; o++)
        mixer(in, out, o, turned ? matrix + o : matrix + (size_t)o * in, turned ? out : 1);
    return tdl_builder_constant(im->builder, &desc, matrix, (size_t)in * out * sizeof(*matrix));
}

struct tdl_operand *ncnn_mix(struct ncnn_import *im, struct tdl_operand *x, const uint32_t size[2],
                             ncnn_mixer *mixer)
{
    const uint32_t *s = tdl_kit_shape(x);
    const uint32_t planes = s[1], in[2] = {s[2], s[3]};
    struct tdl_operand *down = mixing_matrix(im, in[0], size[0], false, mixer);
    struct tdl_operand *across = down ? mixing_matrix(im, in[1], size[1], true, mixer) : NULL;

    x = across ? ncnn_reshape(im, x, 3, (const uint32_t[]){planes, in[0], in[1]}) : NULL;
    x = x ? tdl_builder_matmul(im->builder, x, across) : NULL;
    x = x ? tdl_builder_matmul(im->builder, down, x) : NULL;
    return ncnn_reshape(im, x, 4, (const uint32_t[]){1, planes, size[0], size[1]});
}

/* The four pixels round a place, of which those beyond the ends are those at the ends. */
static void add_cubic(uint32_t in, double place, float *row, size_t step)
{
    const int64_t second = (int64_t)floor(place);
    float weights[4];

    cubic_weights((float)(place - (double)second), weights);
    for (int i = 0; i < 4; i++) {
        const int64_t at = second - 1 + i;

        row[(at < 0 ? 0 : at >= in ? in - 1 : (size_t)at) * step] += weights[i];
    }
}

static void between_centres(uint32_t in, uint32_t out, uint32_t o, float *row, size_t step)
{
    add_cubic(in, (o + 0.5) * ((double)in / out) - 0.5, row, step);
}

static void between_corners(uint32_t in, uint32_t out, uint32_t o, float *row, size_t step)
{
    add_cubic(in, out > 1 ? (double)o * (in - 1) / (out - 1) : 0, row, step);
}

/* Width and height, or a width alone. */
static bool evaluate_size(struct ncnn_import *im, const struct ncnn_layer *l, const uint32_t *in,
                          uint32_t out[2])
{
    int32_t sizes[2];
    uint32_t count;

    if (!ncnn_evaluate(im, l, 9, sizes, 2, &count))
        return false;
    if (count == 1)
        sizes[1] = (int32_t)in[0];
    for (uint32_t i = 0; i < 2; i++) {
        if (!ncnn_in_range(im, "size", sizes[1 - i], 1))
            return false;
        out[i] = (uint32_t)sizes[1 - i];
    }
    return true;
}

/* Height and width: another blob's, given, or the input's by a scale. */
static bool output_size(struct ncnn_import *im, const struct ncnn_layer *l, const uint32_t *in,
                        uint32_t out[2])
{
    const bool given = ncnn_int(l, 3, 0) != 0 && ncnn_int(l, 4, 0) != 0;

    if (l->params[9].text)
        return evaluate_size(im, l, in, out);
    if (ncnn_int(l, 5, 0) != 0 && l->bottom_count > 1) {
        const struct tdl_tensor_params *like = tdl_kit_desc(ncnn_bottom(im, l, 1));

        out[0] = like->rank > 1 ? like->shape[like->rank - 2] : 1;
        out[1] = like->shape[like->rank - 1];
        return ncnn_bottom(im, l, 1) != NULL;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const int32_t size = ncnn_int(l, 3 + i, 0);
        const float scaled = (float)in[i] * ncnn_float(l, 1 + i, 1);

        if (!ncnn_in_range(im, "size", size, 0) ||
            (!given && !ncnn_in_range(im, "size", scaled < 65536 ? (int64_t)scaled : -1, 1)))
            return false;
        out[i] = given ? (uint32_t)size : (uint32_t)scaled;
    }
    return true;
}

static struct tdl_operand *resize(struct ncnn_import *im, const struct ncnn_layer *l,
                                  struct tdl_operand *x, const uint32_t size[2])
{
    const uint32_t *in = tdl_kit_shape(x) + 2;
    const int32_t type = ncnn_int(l, 0, 0);
    const bool corners = ncnn_int(l, 6, 0) != 0;
    struct tdl_resample2d_params params = {.size = {size[0], size[1]}};

    if (in[0] == size[0] && in[1] == size[1])
        return x;
    if (type == 3 && !corners && in[0] % size[0] == 0 && in[1] % size[1] == 0)
        return cubic(im, x, (const uint32_t[]){in[0] / size[0], in[1] / size[1]});
    if (type == 3)
        return ncnn_mix(im, x, size, corners ? between_corners : between_centres);
    if (type != 1 && type != 2)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "the kind %d is none of 1 to 3",
                            type);
    params.mode = type == 1 ? TDL_RESAMPLE_NEAREST : TDL_RESAMPLE_LINEAR;
    params.coordinates = type == 1 ? TDL_RESAMPLE_ASYMMETRIC
                         : corners ? TDL_RESAMPLE_ALIGN_CORNERS
                                   : TDL_RESAMPLE_HALF_PIXEL;
    params.rounding = TDL_RESAMPLE_FLOOR;
    return tdl_builder_resample2d(im->builder, x, &params);
}

/* A vector's elements become planes; of a matrix only rows get another length. */
static struct tdl_operand *add_interp(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t size[2] = {1, 1};
    const uint32_t *in;

    if (!x)
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in), pixel[] = {1, 1}, count = in[0];
    if (!output_size(im, l, dims == 1 ? pixel : in + dims - 2, size))
        return NULL;
    if (dims == 1) {
        x = ncnn_blob(im, x, 3, (const uint32_t[]){count, 1, 1});
        return tdl_builder_expand(im->builder, x, 4,
                                  (const uint32_t[]){1, count, size[0], size[1]});
    }
    if (dims == 2) {
        x = ncnn_blob(im, x, 3, (const uint32_t[]){count, 1, in[1]});
        x = resize(im, l, x, (const uint32_t[]){1, size[1]});
        return ncnn_blob(im, x, 2, (const uint32_t[]){count, size[1]});
    }
    return dims == 3 ? resize(im, l, x, size)
                     : tdl_kit_lacks_none(&im->kit, "a blob of 4 dimensions");
}

const struct ncnn_row ncnn_rows_interp[] = {
    {"Interp", 1, 9, add_interp},
    {0},
};
