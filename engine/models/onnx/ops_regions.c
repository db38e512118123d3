/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators on parts of pictures and of sequences, put together from others by
 * their definitions in Operators.md. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- CenterCropPad */

/* Along some axes, or all: the middle of what is too long, zeros round what is too short. */
static bool add_center_crop_pad(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    int64_t sizes[TDL_MAX_RANK], axes[TDL_MAX_RANK];
    struct tdl_slice_params slice = {0};
    struct tdl_pad_params pad = {0};
    uint32_t count, axis_count, axis;

    if (!x || !onnx_ints(im, 1, sizes, TDL_MAX_RANK, &count) ||
        !onnx_int_list(im, "axes", axes, TDL_MAX_RANK, &axis_count))
        return false;
    const uint32_t wants = axis_count ? axis_count : tdl_kit_rank(x);
    if (count != wants)
        return tdl_kit_damaged(&im->kit, "%u sizes for %u axes", count, wants);
    for (uint32_t i = 0; i < count; i++) {
        if (!tdl_kit_axis(&im->kit, axis_count ? axes[i] : i, tdl_kit_rank(x), &axis))
            return false;
        const int64_t is = tdl_kit_shape(x)[axis], wanted = sizes[i];
        if (wanted < 1 || wanted > INT32_MAX)
            return tdl_kit_lacks(&im->kit, "a dimension of %lld elements", (long long)wanted);
        if (wanted < is) {
            slice.start[axis] = (uint32_t)(is - wanted) / 2;
            slice.size[axis] = (uint32_t)wanted;
        } else {
            pad.before[axis] = (uint32_t)(wanted - is) / 2;
            pad.after[axis] = (uint32_t)(wanted - is) - pad.before[axis];
        }
    }
    x = tdl_builder_slice(im->builder, x, &slice);
    return onnx_give(im, tdl_builder_pad(im->builder, x, &pad));
}

/* ----------------------------------------------------------------------- Col2Im */

static bool take_pairs(struct onnx_import *im, const char *name, uint32_t count, uint32_t fallback,
                       uint32_t *out)
{
    int64_t list[4];
    uint32_t got;

    if (!onnx_int_list(im, name, list, count, &got))
        return false;
    if (got && got != count)
        return tdl_kit_damaged(&im->kit, "%u %s instead of %u", got, name, count);
    for (uint32_t i = 0; i < count; i++) {
        if (got && (list[i] < (int64_t)fallback || list[i] > 16384))
            return tdl_kit_damaged(&im->kit, "%s of %lld", name, (long long)list[i]);
        out[i] = got ? (uint32_t)list[i] : fallback;
    }
    return true;
}

struct blocks {
    uint32_t image[2], size[2], channels, places[2];
    struct tdl_conv_transpose2d_params p;
};

static bool read_blocks(struct onnx_import *im, const uint32_t *in, struct blocks *k)
{
    int64_t image[TDL_MAX_RANK], size[TDL_MAX_RANK];
    uint32_t images, sizes, pad[4];

    *k = (struct blocks){.p.input_layout = TDL_LAYOUT_NCHW};
    if (!onnx_ints(im, 1, image, TDL_MAX_RANK, &images) ||
        !onnx_ints(im, 2, size, TDL_MAX_RANK, &sizes))
        return false;
    if (images != 2 || sizes != 2)
        return tdl_kit_lacks(&im->kit, "blocks of %u dimensions; libtdl has pictures", sizes);
    if (!take_pairs(im, "dilations", 2, 1, k->p.dilation) ||
        !take_pairs(im, "strides", 2, 1, k->p.stride) || !take_pairs(im, "pads", 4, 0, pad))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (image[i] < 1 || image[i] > 65536 || size[i] < 1 || size[i] > 256)
            return tdl_kit_damaged(&im->kit, "blocks of %lld in a picture of %lld",
                                   (long long)size[i], (long long)image[i]);
        k->image[i] = k->p.output_size[i] = (uint32_t)image[i];
        k->size[i] = (uint32_t)size[i];
        k->p.pad[2 * i] = pad[i];
        k->p.pad[2 * i + 1] = pad[2 + i];
        const int64_t room = image[i] + pad[i] + pad[2 + i] - (size[i] - 1) * k->p.dilation[i] - 1;
        k->places[i] = room < 0 ? 0 : (uint32_t)room / k->p.stride[i] + 1;
    }
    k->channels = in[1] / (k->size[0] * k->size[1]);
    if (in[1] != k->channels * k->size[0] * k->size[1] || k->channels == 0 ||
        (uint64_t)k->places[0] * k->places[1] != in[2])
        return tdl_kit_damaged(&im->kit, "columns [%u, %u] are not those of %u places of blocks",
                               in[1], in[2], k->places[0] * k->places[1]);
    k->p.groups = k->channels;
    return true;
}

/* Each element of a block goes to a place of its own: a transposed convolution by ones. */
static struct tdl_operand *filter_of_ones(struct onnx_import *im, const struct blocks *k)
{
    const uint32_t area = k->size[0] * k->size[1], ins = area * k->channels;
    const struct tdl_tensor_params p = {.rank = 4, .shape = {1, k->size[0], k->size[1], ins}};
    float *ones = tdl_kit_make(&im->kit, (uint64_t)area * ins * sizeof(*ones));

    for (uint32_t i = 0; ones && i < area; i++)
        for (uint32_t c = 0; c < k->channels; c++)
            ones[(size_t)i * ins + c * area + i] = 1;
    return ones ? tdl_builder_constant(im->builder, &p, ones, tdl_tensor_params_size(&p)) : NULL;
}

static bool add_col2im(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *filter;
    struct tdl_builder *b = im->builder;
    struct blocks k;

    if (!x)
        return false;
    if (tdl_kit_rank(x) != 3)
        return tdl_kit_damaged(&im->kit, "columns of %u dimensions, not 3", tdl_kit_rank(x));
    const uint32_t *in = tdl_kit_shape(x);
    if (!read_blocks(im, in, &k) || !(filter = filter_of_ones(im, &k)))
        return false;
    x = onnx_reshape(im, x, 4, (const uint32_t[]){in[0], in[1], k.places[0], k.places[1]});
    return onnx_give(im, tdl_builder_conv_transpose2d(b, x, filter, &k.p));
}

/* --------------------------------------------------------------- ReverseSequence */

/* Along the time, step t of a sequence of n comes from n − 1 − t, and those behind it stay. */
static bool add_reverse_sequence(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *lengths = x ? onnx_operand(im, 1) : NULL;
    const int64_t batch = onnx_int(im, "batch_axis", 1), time = onnx_int(im, "time_axis", 0);
    uint32_t shape[TDL_MAX_RANK] = {1, 1, 1, 1, 1, 1}, whole[TDL_MAX_RANK];
    struct tdl_builder *b = im->builder;

    if (!lengths)
        return false;
    const uint32_t rank = tdl_kit_rank(x);
    if (rank < 2 || batch + time != 1 || batch * time != 0 || tdl_kit_rank(lengths) != 1 ||
        tdl_kit_shape(lengths)[0] != tdl_kit_shape(x)[batch])
        return tdl_kit_damaged(
            &im->kit, "batch and time are not the first two dimensions, or lengths are missing");
    memcpy(whole, tdl_kit_shape(x), sizeof(whole));
    const uint32_t steps = whole[time];
    struct tdl_operand *t = onnx_sequence(im, TDL_INT32, steps, 0, 1), *from;
    shape[batch] = whole[batch];
    lengths = onnx_reshape(im, tdl_builder_cast(b, lengths, TDL_INT32), rank, shape);
    shape[batch] = 1;
    shape[time] = steps;
    t = t ? onnx_reshape(im, t, rank, shape) : NULL;
    from =
        tdl_builder_sub(b, tdl_builder_sub(b, lengths, t), tdl_kit_number(&im->kit, TDL_INT32, 1));
    from = tdl_builder_where(b, tdl_builder_lesser(b, t, lengths), from, t);
    from = tdl_builder_expand(b, from, rank, whole);
    return onnx_give(im, tdl_builder_gather_elements(b, x, from, (uint32_t)time));
}

/* ---------------------------------------------------------------------- NonZero */

#define MOST_PLACES (1 << 20) /* of a value that is not known when the model is loaded */

struct tdl_operand *onnx_find_places(struct onnx_import *im, struct tdl_operand *x,
                                     struct tdl_operand **out_count)
{
    static const struct tdl_scatter_params replace = {0};
    struct tdl_builder *b = im->builder;
    const uint32_t all = (uint32_t)tdl_kit_elements(x), more = all + 1;
    const struct tdl_slice_params last = {.start = {all - 1}, .size = {1}}, first = {.size = {all}};
    struct tdl_operand *is, *sum, *to, *places;

    x = onnx_reshape(im, x, 1, &all);
    is = tdl_builder_not_equal(b, x, tdl_kit_like(&im->kit, x, 0));
    sum = tdl_builder_cumulative_sum(b, tdl_builder_cast(b, is, TDL_INT32), 0, NULL);
    *out_count = tdl_builder_slice(b, sum, &last);
    /* Behind all of them goes what is 0. */
    to = tdl_builder_sub(b, sum, tdl_kit_number(&im->kit, TDL_INT32, 1));
    to = tdl_builder_where(b, is, to, tdl_kit_number(&im->kit, TDL_INT32, all));
    places = tdl_builder_expand(b, tdl_kit_number(&im->kit, TDL_INT32, 0), 1, &more);
    places = tdl_builder_scatter_elements(
        b, places, to, tdl_kit_range(&im->kit, TDL_INT32, all, 0, 1), 0, &replace);
    return tdl_builder_slice(b, places, &first);
}

/* Of numbers that are not known: a place in each dimension, of as many as there may be. */
static bool find_non_zero(struct onnx_import *im, struct tdl_operand *x)
{
    const struct tdl_tensor_params in = *tdl_kit_desc(x);
    struct tdl_operand *rows[TDL_MAX_RANK], *places, *count;
    struct tdl_builder *b = im->builder;
    const uint64_t all = tdl_kit_elements(x);
    uint64_t stride = all;

    if (in.rank == 0 || all > MOST_PLACES)
        return onnx_refuse_count(im, 0, "and libtdl finds up to 1048576 of at least one dimension");
    places = onnx_find_places(im, x, &count);
    for (uint32_t d = 0; d < in.rank && places; d++) {
        struct tdl_operand *size = tdl_kit_number(&im->kit, TDL_INT32, in.shape[d]), *at = places;

        stride /= in.shape[d];
        if (stride > 1)
            at = tdl_builder_div(b, at, tdl_kit_number(&im->kit, TDL_INT32, (double)stride));
        if (d > 0) /* the rest of the division by the size */
            at = tdl_builder_sub(b, at, tdl_builder_mul(b, tdl_builder_div(b, at, size), size));
        rows[d] = onnx_reshape(im, at, 2, (const uint32_t[]){1, (uint32_t)all});
    }
    places = places ? tdl_builder_concat(b, rows, in.rank, 0) : NULL;
    return onnx_give(im, tdl_builder_cast(b, places, TDL_INT64)) &&
           (!onnx_wanted(im, 0) || onnx_set_count(im, 0, 1, count));
}

static bool add_non_zero(struct onnx_import *im)
{
    struct tdl_tensor_params in, out = {.dtype = TDL_INT64, .rank = 2};
    struct tdl_operand *x;
    const uint8_t *data;
    uint32_t count = 0;

    if (!onnx_desc(im, 0, &in) || !(x = onnx_operand(im, 0)))
        return false;
    data = tdl_builder_evaluate(im->builder, x);
    if (!data)
        return find_non_zero(im, x);
    const size_t size = tdl_dtype_size(in.dtype), all = tdl_tensor_params_size(&in) / size;
    uint32_t *places = tdl_kit_make(&im->kit, all * sizeof(*places));
    for (size_t i = 0; places && i < all; i++) {
        bool some = false;

        for (size_t k = 0; k < size; k++) /* the sign of a zero is none */
            some |=
                (data[i * size + k] & (k == size - 1 && in.dtype <= TDL_FLOAT16 ? 127 : 255)) != 0;
        if (some)
            places[count++] = (uint32_t)i;
    }
    out.shape[0] = in.rank;
    out.shape[1] = count;
    if (places && (count == 0 || in.rank == 0))
        return onnx_give_empty(im, 0, &out);
    int64_t *list =
        places ? tdl_kit_make(&im->kit, (uint64_t)count * in.rank * sizeof(*list)) : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        for (uint32_t d = in.rank, left = places[i]; d-- > 0; left /= in.shape[d])
            list[(size_t)d * count + i] = left % in.shape[d];
    return list && onnx_give(im, onnx_constant(im, TDL_INT64, 2, out.shape, list));
}

const struct onnx_row onnx_rows_regions[] = {
    {"CenterCropPad", 2, 2, add_center_crop_pad},
    {"Col2Im", 3, 3, add_col2im},
    {"NonZero", 1, 1, add_non_zero},
    {"ReverseSequence", 2, 2, add_reverse_sequence},
    {"RoiAlign", 3, 3, onnx_add_roi_align},
    {"Unique", 1, 1, onnx_add_unique},
    {0},
};
