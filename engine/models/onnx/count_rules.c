/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What becomes of counts (counts.c) in each operator: which dimensions of the result they are
 * of, and where elements that do not exist would take part and are masked before.
 */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

/* An input or an output with its counts. */
struct sizes {
    uint32_t rank;
    const uint32_t *shape;
    struct onnx_counts counts;
};

static const char unsupported[] = "which this operator does not take";

/* Of input `i`; false with the builder in error. What has no elements has no counts. */
static bool read_input(struct onnx_import *im, uint32_t i, struct tdl_tensor_params *desc,
                       struct sizes *out)
{
    const struct onnx_counts *counts = onnx_counts(im, i);

    *out = (struct sizes){0};
    if (!onnx_desc(im, i, desc))
        return false;
    out->rank = desc->rank;
    out->shape = desc->shape;
    if (counts)
        out->counts = *counts;
    return true;
}

/* The value of output `i`, or NULL where it is not wanted or has no elements. */
static struct onnx_value *output(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v = onnx_wanted(im, i) ? onnx_find(im, &im->node.outputs[i]) : NULL;

    return v && v->operand ? v : NULL;
}

static bool read_axis(struct onnx_import *im, int64_t fallback, uint32_t rank, uint32_t *out)
{
    return tdl_kit_axis(&im->kit, onnx_int(im, "axis", fallback), rank, out);
}

/* The counts of input `i` at the dimensions of these bits. */
static struct onnx_counts counts_at(struct onnx_import *im, uint32_t i, uint32_t bits)
{
    const struct onnx_counts *counts = onnx_counts(im, i);
    struct onnx_counts some = {{NULL}};

    for (uint32_t d = 0; counts && d < TDL_MAX_RANK; d++)
        some.of[d] = bits >> d & 1 ? counts->of[d] : NULL;
    return some;
}

/* Input `i` is read with `value` where elements along the dimensions of these bits do not
 * exist. */
static bool mask_input(struct onnx_import *im, uint32_t i, uint32_t bits, double value)
{
    const struct onnx_counts counts = counts_at(im, i, bits);
    struct tdl_operand *x = onnx_counts(im, i) ? onnx_operand(im, i) : NULL;

    if (!onnx_counts(im, i))
        return true;
    return x && (im->node.instead[i] = onnx_mask(im, x, &counts, value)) != NULL;
}

/* The least number of a type, or the largest. */
static double extreme(enum tdl_dtype dtype, bool largest)
{
    switch (dtype) {
    case TDL_INT32:
        return largest ? INT32_MAX : INT32_MIN;
    case TDL_INT64:
        return largest ? 0x7ffffffffffffc00p0 : -0x1p63;
    case TDL_INT8:
        return largest ? INT8_MAX : INT8_MIN;
    case TDL_UINT8:
        return largest ? UINT8_MAX : 0;
    case TDL_UINT32:
        return largest ? UINT32_MAX : 0;
    case TDL_UINT64:
        return largest ? 0xfffffffffffff800p0 : 0;
    default:
        return largest ? (double)__builtin_inff() : (double)-__builtin_inff();
    }
}

static double input_extreme(struct onnx_import *im, uint32_t i, bool largest)
{
    struct tdl_tensor_params desc;

    return onnx_desc(im, i, &desc) ? extreme(desc.dtype, largest) : 0;
}

/* -------------------------------------------------------- element by element */

/* Dimensions are aligned at the last: the least size of those of dimension `d` from the end
 * that are not 1. */
static bool least_size(struct onnx_import *im, uint32_t d, uint32_t *out)
{
    struct tdl_tensor_params desc;

    *out = 0;
    for (uint32_t i = 0; i < im->node.input_count; i++) {
        if (!onnx_given(im, i))
            continue;
        if (!onnx_desc(im, i, &desc))
            return false;
        const uint32_t size = d < desc.rank ? desc.shape[desc.rank - 1 - d] : 1;
        *out = size != 1 && (*out == 0 || size < *out) ? size : *out;
    }
    return true;
}

/* Sizes that are equal in truth may have different bounds: all take the least one. */
static bool prepare_elements(struct onnx_import *im)
{
    uint32_t least[TDL_MAX_RANK];
    struct tdl_tensor_params desc;

    for (uint32_t d = 0; d < TDL_MAX_RANK; d++)
        if (!least_size(im, d, &least[d]))
            return false;
    for (uint32_t i = 0; i < im->node.input_count && i < 3; i++) {
        struct tdl_slice_params p = {{0}};
        bool cut = false;

        if (!onnx_given(im, i) || !onnx_desc(im, i, &desc))
            continue;
        for (uint32_t d = 0; d < desc.rank; d++) {
            const uint32_t size = desc.shape[d], to = least[desc.rank - 1 - d];

            p.size[d] = size > 1 && to > 0 && to < size ? to : size;
            cut |= p.size[d] < size;
        }
        struct tdl_operand *x = cut ? onnx_operand(im, i) : NULL;
        if (cut && !(x && (im->node.instead[i] = tdl_builder_slice(im->builder, x, &p))))
            return false;
    }
    return true;
}

static bool follow_elements(struct onnx_import *im)
{
    for (uint32_t o = 0; o < im->node.output_count; o++) {
        struct onnx_value *v = output(im, o);
        struct onnx_counts counts = {{NULL}};
        struct tdl_tensor_params desc;
        struct sizes in;

        for (uint32_t i = 0; v && i < im->node.input_count; i++) {
            const uint32_t rank = tdl_kit_rank(v->operand);

            if (!onnx_counts(im, i))
                continue;
            if (!read_input(im, i, &desc, &in))
                return false;
            for (uint32_t d = 0; d < in.rank && in.rank <= rank; d++) {
                const uint32_t to = d + rank - in.rank;

                if (in.counts.of[d] && !counts.of[to])
                    counts.of[to] = in.counts.of[d];
            }
        }
        if (v && !onnx_set_counts(im, o, &counts))
            return false;
    }
    return true;
}

/* The first dimension is of pictures, or of rows, that know nothing of each other. */
static bool follow_batch(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct sizes in;

    for (uint32_t i = 1; i < im->node.input_count; i++)
        if (onnx_counts(im, i))
            return onnx_refuse_count(im, i, unsupported);
    if (!read_input(im, 0, &desc, &in))
        return false;
    for (uint32_t d = 1; d < in.rank; d++)
        if (in.counts.of[d])
            return onnx_refuse_count(im, 0, unsupported);
    for (uint32_t i = 0; i < im->node.output_count; i++)
        if (output(im, i) && !onnx_set_counts(im, i, &in.counts))
            return false;
    return true;
}

/* ------------------------------------------------------------------- other shapes */

static uint64_t product(const uint32_t *shape, uint32_t from, uint32_t to)
{
    uint64_t all = 1;

    for (uint32_t d = from; d < to; d++)
        all *= shape[d];
    return all;
}

/* The dimension of `out` that begins where dimension `a` of `in` does; out->rank: none. */
static uint32_t find_dimension(const struct sizes *in, uint32_t a, const struct sizes *out)
{
    const uint64_t before = product(in->shape, 0, a);
    const int64_t guess = (int64_t)a + out->rank - in->rank;

    if (in->shape[a] == 1) /* any of several, so one at the same place from the end, or the start */
        for (int64_t d = guess > (int64_t)a ? guess : a; d >= 0; d--)
            if (d < out->rank && out->shape[d] == 1 &&
                product(out->shape, 0, (uint32_t)d) == before)
                return (uint32_t)d;
    for (uint32_t d = 0; d < out->rank; d++)
        if (out->shape[d] != 1 && product(out->shape, 0, d) == before)
            return d;
    return out->rank;
}

/* The count of dimension `o` of the result, of that of dimension `a`: the same, or by what
 * joins it or goes. NULL where it does not follow. */
static struct tdl_operand *scale_count(struct onnx_import *im, const struct sizes *in, uint32_t a,
                                       uint32_t size)
{
    struct tdl_operand *count = in->counts.of[a];
    const uint32_t own = in->shape[a];
    uint64_t joined = own;

    if (size == own)
        return count;
    if (size < own)
        return own % size ? NULL
                          : tdl_builder_div(im->builder, count, onnx_count_number(im, own / size));
    for (uint32_t d = a + 1; d < in->rank && joined < size; d++) {
        if (in->counts.of[d])
            return NULL;
        joined *= in->shape[d];
    }
    return size % own ? NULL
                      : tdl_builder_mul(im->builder, count, onnx_count_number(im, size / own));
}

static bool follow_shape(struct onnx_import *im)
{
    const struct onnx_value *v = output(im, 0);
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct sizes in, out;

    if (!v || !read_input(im, 0, &desc, &in))
        return !v;
    if (v->wide)
        return !onnx_counts(im, 0) || onnx_refuse_count(im, 0, unsupported);
    out = (struct sizes){.rank = tdl_kit_rank(v->operand), .shape = tdl_kit_shape(v->operand)};
    for (uint32_t d = 0; d < out.rank && !strcmp(im->node.row->name, "Reshape"); d++)
        counts.of[d] = onnx_counted_at(im, 1, d);
    for (uint32_t a = 0; a < in.rank; a++) {
        const uint32_t o = in.counts.of[a] ? find_dimension(&in, a, &out) : 0;

        if (!in.counts.of[a] || (out.rank == 0 && in.shape[a] == 1) ||
            (o < out.rank && counts.of[o]))
            continue;
        if (o == out.rank || !(counts.of[o] = scale_count(im, &in, a, out.shape[o])))
            return onnx_refuse_count(im, 0,
                                     "and its elements would not be the first ones of the result");
    }
    return onnx_set_counts(im, 0, &counts);
}

/* Sizes of a list that is input `i`, whose last one is of the last dimension. */
static bool add_listed(struct onnx_import *im, uint32_t i, struct onnx_counts *counts)
{
    const struct onnx_value *v = output(im, 0);
    struct tdl_tensor_params list;

    if (!v || !onnx_desc(im, i, &list))
        return !v;
    const uint32_t rank = tdl_kit_rank(v->operand), count = list.rank ? list.shape[0] : 1;
    for (uint32_t k = 0; k < count && count <= rank; k++) {
        struct tdl_operand *size = onnx_counted_at(im, i, k);

        if (size && !counts->of[rank - count + k])
            counts->of[rank - count + k] = size;
    }
    return true;
}

static bool follow_expand(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};
    const struct onnx_value *v = output(im, 0);
    struct tdl_tensor_params desc;
    struct sizes in;

    if (!v || !read_input(im, 0, &desc, &in))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++)
        counts.of[d + tdl_kit_rank(v->operand) - in.rank] = in.counts.of[d];
    return add_listed(im, 1, &counts) && onnx_set_counts(im, 0, &counts);
}

static bool follow_constant_of_shape(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};

    return add_listed(im, 0, &counts) && onnx_set_counts(im, 0, &counts);
}

static bool follow_tile(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};
    const struct onnx_value *v = output(im, 0);
    struct tdl_tensor_params desc;
    struct sizes in;

    if (!v || !read_input(im, 0, &desc, &in))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++) {
        struct tdl_operand *times = onnx_counted_at(im, 1, d);

        if (in.counts.of[d] && (times || tdl_kit_shape(v->operand)[d] != in.shape[d]))
            return onnx_refuse_count(im, 0, unsupported);
        if (times)
            times = tdl_builder_mul(im->builder, times, onnx_count_number(im, in.shape[d]));
        counts.of[d] = times ? times : in.counts.of[d];
    }
    return onnx_set_counts(im, 0, &counts);
}

static bool follow_range(struct onnx_import *im)
{
    struct tdl_operand *count = onnx_counted_at(im, 1, 0);
    int64_t start, step;
    uint32_t got;

    if (onnx_is_counted(im, 0) || onnx_is_counted(im, 2) || (onnx_is_counted(im, 1) && !count))
        return onnx_refuse_count(im, onnx_is_counted(im, 0) ? 0 : 1, unsupported);
    if (!count || !onnx_ints(im, 0, &start, 1, &got) || !onnx_ints(im, 2, &step, 1, &got))
        return !count && tdl_builder_status(im->builder) == TDL_OK;
    if (step < 1)
        return onnx_refuse_count(im, 1, unsupported);
    count = tdl_builder_sub(im->builder, count, onnx_count_number(im, start - step + 1));
    count = tdl_builder_div(im->builder, count, onnx_count_number(im, step));
    count = tdl_builder_max(im->builder, count, onnx_count_number(im, 0));
    return onnx_set_count(im, 0, 0, count);
}

/* ----------------------------------------------------------------------- moving */

static bool follow_transpose(struct onnx_import *im)
{
    int64_t list[ONNX_WIDE];
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct sizes in;
    uint32_t count;

    if (!read_input(im, 0, &desc, &in) || !onnx_int_list(im, "perm", list, ONNX_WIDE, &count))
        return false;
    for (uint32_t d = 0; d < in.rank; d++)
        counts.of[d] = in.counts.of[count ? (uint32_t)list[d] : in.rank - 1 - d];
    return onnx_set_counts(im, 0, &counts);
}

/* Elements of several inputs, of which some do not exist, close up: element j comes from j and
 * the gaps behind the inputs that end before. */
static struct tdl_operand *close_up(struct onnx_import *im, struct tdl_operand *joined,
                                    uint32_t axis, struct tdl_operand **out_count)
{
    const uint32_t total = tdl_kit_shape(joined)[axis];
    struct tdl_builder *b = im->builder;
    struct tdl_operand *place = tdl_kit_range(&im->kit, TDL_INT32, total, 0, 1), *from = place;
    struct tdl_operand *end = onnx_count_number(im, 0);

    for (uint32_t i = 0; i < im->node.input_count && from && end; i++) {
        struct tdl_tensor_params desc;
        struct tdl_operand *count = onnx_count(im, i, axis);

        if (onnx_is_empty(im, i) || !onnx_desc(im, i, &desc))
            continue;
        struct tdl_operand *size = onnx_count_number(im, desc.shape[axis]);

        end = tdl_builder_add(b, end, count ? count : size);
        if (!count)
            continue;
        struct tdl_operand *behind =
            tdl_builder_cast(b, tdl_builder_greater_or_equal(b, place, end), TDL_INT32);

        from =
            tdl_builder_add(b, from, tdl_builder_mul(b, tdl_builder_sub(b, size, count), behind));
    }
    *out_count = end;
    return tdl_builder_gather(b, joined, from, axis);
}

static bool follow_concat(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};
    struct onnx_value *v = output(im, 0);
    bool closes = false;
    uint32_t axis;

    if (!v || !read_axis(im, 0, tdl_kit_rank(v->operand), &axis))
        return !v;
    for (uint32_t i = 0; i < im->node.input_count; i++) {
        const struct onnx_counts *of = onnx_counts(im, i);

        for (uint32_t d = 0; of && d < TDL_MAX_RANK; d++)
            counts.of[d] = counts.of[d] ? counts.of[d] : of->of[d];
    }
    closes = counts.of[axis] != NULL;
    if (closes && !(v->operand = close_up(im, v->operand, axis, &counts.of[axis])))
        return false;
    return onnx_set_counts(im, 0, &counts);
}

static bool follow_split(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct sizes in;
    uint32_t axis;

    if (!read_input(im, 0, &desc, &in) || !read_axis(im, 0, in.rank, &axis))
        return false;
    if (im->node.output_count > 1 && (in.counts.of[axis] || onnx_is_counted(im, 1)))
        return onnx_refuse_count(im, in.counts.of[axis] ? 0 : 1, unsupported);
    for (uint32_t i = 0; i < im->node.output_count; i++)
        if (output(im, i) && !onnx_set_counts(im, i, &in.counts))
            return false;
    return true;
}

static bool follow_pad(struct onnx_import *im)
{
    const struct onnx_value *v = output(im, 0);
    struct tdl_tensor_params desc;
    struct sizes in;

    if (!v || !read_input(im, 0, &desc, &in))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++)
        if (in.counts.of[d] && tdl_kit_shape(v->operand)[d] != in.shape[d])
            return onnx_refuse_count(im, 0, unsupported);
    return onnx_set_counts(im, 0, &in.counts);
}

/* Bounds that count from the end do so from the count's. */
bool onnx_slice_count(struct onnx_import *im, uint32_t i, uint32_t axis, int64_t start, int64_t end,
                      int64_t step, struct tdl_operand **out)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *length = onnx_count(im, 0, axis), *last = onnx_counted_at(im, 2, i);
    struct tdl_tensor_params desc;

    *out = NULL;
    if (!onnx_desc(im, 0, &desc) || (!length && !last && !onnx_counted_at(im, 1, i)))
        return tdl_builder_status(b) == TDL_OK;
    if (start < 0 || step < 1 || onnx_counted_at(im, 1, i))
        return onnx_refuse_count(im, length ? 0 : last ? 2 : 1, unsupported);
    length = length ? length : onnx_count_number(im, desc.shape[axis]);
    if (last || end < 0) {
        last = last ? last : onnx_count_number(im, end);
        last = tdl_builder_where(b, tdl_builder_lesser(b, last, onnx_count_number(im, 0)),
                                 tdl_builder_add(b, last, length), last);
    } else {
        last = onnx_count_number(im, end);
    }
    last = tdl_builder_min(b, last, length);
    last = tdl_builder_sub(b, last, onnx_count_number(im, start - step + 1));
    last = step > 1 ? tdl_builder_div(b, last, onnx_count_number(im, step)) : last;
    *out = tdl_builder_max(b, last, onnx_count_number(im, 0));
    return *out != NULL;
}

/* --------------------------------------------------------------------- indices */

/* Indices from the end count from that of what exists. */
static bool prepare_gather(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *count, *at;
    struct tdl_tensor_params desc;
    uint32_t axis;

    if (!onnx_desc(im, 0, &desc) || !read_axis(im, 0, desc.rank, &axis))
        return false;
    count = onnx_count(im, 0, axis);
    at = count ? onnx_operand(im, 1) : NULL;
    if (!at)
        return !count;
    const enum tdl_dtype dtype = tdl_kit_desc(at)->dtype;
    struct tdl_operand *below = tdl_builder_lesser(b, at, tdl_kit_like(&im->kit, at, 0));
    count = tdl_builder_cast(b, onnx_reshape(im, count, 0, NULL), dtype);
    im->node.instead[1] = tdl_builder_where(b, below, tdl_builder_add(b, at, count), at);
    return im->node.instead[1] != NULL;
}

static bool follow_gather(struct onnx_import *im)
{
    struct tdl_tensor_params desc, at_desc;
    struct onnx_counts counts = {{NULL}};
    struct sizes in, at;
    uint32_t axis, to = 0;

    if (!read_input(im, 0, &desc, &in) || !read_input(im, 1, &at_desc, &at) ||
        !read_axis(im, 0, in.rank, &axis))
        return false;
    if (!strcmp(im->node.row->name, "GatherElements"))
        return onnx_set_counts(im, 0, &at.counts);
    for (uint32_t d = 0; d < axis; d++)
        counts.of[to++] = in.counts.of[d];
    for (uint32_t d = 0; d < at.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = at.counts.of[d];
    for (uint32_t d = axis + 1; d < in.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = in.counts.of[d];
    return !output(im, 0) || onnx_set_counts(im, 0, &counts);
}

static bool follow_gather_nd(struct onnx_import *im)
{
    struct tdl_tensor_params desc, at_desc;
    struct onnx_counts counts = {{NULL}};
    struct sizes in, at;
    uint32_t to = 0;

    if (!read_input(im, 0, &desc, &in) || !read_input(im, 1, &at_desc, &at))
        return false;
    const uint32_t batch = (uint32_t)onnx_int(im, "batch_dims", 0);
    for (uint32_t d = 0; d + 1 < at.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = at.counts.of[d];
    for (uint32_t d = batch + at.shape[at.rank - 1]; d < in.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = in.counts.of[d];
    return onnx_set_counts(im, 0, &counts);
}

/* Updates that do not exist go to a place behind the data, which is cut off. */
static bool prepare_scatter(struct onnx_import *im)
{
    const bool nd = !strcmp(im->node.row->name, "ScatterND");
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *at = x ? onnx_operand(im, 1) : NULL;
    struct tdl_pad_params pad = {{0}};
    struct onnx_counts counts = {{NULL}};
    uint32_t axis = 0, own = 0;

    if (!at || (!nd && !read_axis(im, 0, tdl_kit_rank(x), &axis)))
        return false;
    if (tdl_kit_rank(at) == 0 || tdl_kit_rank(x) == 0 ||
        (nd && tdl_kit_shape(at)[tdl_kit_rank(at) - 1] > tdl_kit_rank(x)))
        return true; /* and is refused */
    for (uint32_t d = 0; d < tdl_kit_rank(at); d++) {
        struct tdl_operand *count = onnx_count(im, 1, d);

        counts.of[d] = count ? count : d + nd < tdl_kit_rank(at) ? onnx_count(im, 2, d) : NULL;
        /* Rows that do not exist here do not exist there, either. */
        own |= !nd && d != axis && onnx_count(im, 0, d) ? 0 : counts.of[d] != NULL;
    }
    if (!own)
        return true;
    const int32_t size = (int32_t)tdl_kit_shape(x)[axis];
    struct tdl_operand *sizes = nd ? tdl_kit_int_list(&im->kit, (const int32_t *)tdl_kit_shape(x),
                                                      tdl_kit_shape(at)[tdl_kit_rank(at) - 1])
                                   : onnx_count_number(im, size);
    const enum tdl_dtype dtype = tdl_kit_desc(at)->dtype;
    struct tdl_operand *below = tdl_builder_lesser(b, at, tdl_kit_like(&im->kit, at, 0));
    at = sizes ? tdl_builder_where(b, below,
                                   tdl_builder_add(b, at, tdl_builder_cast(b, sizes, dtype)), at)
               : NULL;
    pad.after[axis] = 1;
    im->node.instead[0] = tdl_builder_pad(b, x, &pad);
    im->node.instead[1] = at ? onnx_mask(im, at, &counts, size) : NULL;
    return im->node.instead[0] && im->node.instead[1];
}

static bool follow_scatter(struct onnx_import *im)
{
    struct onnx_value *v = output(im, 0);
    struct tdl_slice_params p = {{0}};
    struct tdl_tensor_params desc;
    struct sizes in;

    if (!v || !read_input(im, 0, &desc, &in))
        return !v;
    memcpy(p.size, in.shape, in.rank * sizeof(*p.size));
    if (im->node.instead[0] && !(v->operand = tdl_builder_slice(im->builder, v->operand, &p)))
        return false;
    return onnx_set_counts(im, 0, &in.counts);
}

static bool prepare_top_k(struct onnx_import *im)
{
    return mask_input(im, 0, ~0u, input_extreme(im, 0, !onnx_int(im, "largest", 1)));
}

static bool follow_top_k(struct onnx_import *im)
{
    struct tdl_operand *wanted = onnx_counted_at(im, 1, 0), *count;
    struct tdl_tensor_params desc;
    struct sizes in;
    uint32_t axis;

    if (!read_input(im, 0, &desc, &in) || !read_axis(im, -1, in.rank, &axis))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct onnx_value *v = output(im, i);

        if (!v)
            continue;
        count = in.counts.of[axis];
        if (count && !wanted)
            wanted = onnx_count_number(im, tdl_kit_shape(v->operand)[axis]);
        struct onnx_counts counts = in.counts;
        counts.of[axis] = count ? tdl_builder_min(im->builder, count, wanted) : wanted;
        if (!onnx_set_counts(im, i, &counts))
            return false;
    }
    return true;
}

static bool follow_one_hot(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct sizes in;
    uint32_t axis;

    if (!read_input(im, 0, &desc, &in) || !read_axis(im, -1, in.rank + 1, &axis))
        return false;
    for (uint32_t d = 0; d < in.rank; d++)
        counts.of[d + (d >= axis)] = in.counts.of[d];
    return onnx_set_counts(im, 0, &counts);
}

/* --------------------------------------------------------------------- joining */

/* The dimensions that a reduction takes together, as bits. */
static bool reduced(struct onnx_import *im, uint32_t rank, uint32_t *out)
{
    const bool arg = !strncmp(im->node.row->name, "Arg", 3);
    int64_t axes[TDL_MAX_RANK];
    uint32_t count, axis = 0;

    if (arg) {
        const bool ok = read_axis(im, 0, rank, &axis);
        *out = 1u << axis;
        return ok;
    }
    if (!onnx_ints_of(im, "axes", 1, axes, TDL_MAX_RANK, &count))
        return false;
    if (count)
        return tdl_kit_axis_bits(&im->kit, axes, count, rank, out);
    *out = onnx_int(im, "noop_with_empty_axes", 0) ? 0 : (1u << rank) - 1;
    return true;
}

static double neutral(struct onnx_import *im)
{
    const char *name = im->node.row->name;

    if (!strcmp(name, "ReduceProd"))
        return 1;
    if (!strcmp(name, "ReduceMax") || !strcmp(name, "ArgMax") || !strcmp(name, "ReduceLogSumExp"))
        return input_extreme(im, 0, false);
    return !strcmp(name, "ReduceMin") || !strcmp(name, "ArgMin") ? input_extreme(im, 0, true) : 0;
}

static bool prepare_reduce(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    uint32_t bits;

    return onnx_desc(im, 0, &desc) && reduced(im, desc.rank, &bits) &&
           mask_input(im, 0, bits, neutral(im));
}

/* A mean of the largest size as one of what exists. */
static struct tdl_operand *scale_mean(struct onnx_import *im, struct tdl_operand *y, uint32_t size,
                                      struct tdl_operand *count)
{
    struct tdl_builder *b = im->builder;

    count = tdl_builder_max(b, count, onnx_count_number(im, 1));
    count = tdl_builder_cast(b, onnx_reshape(im, count, 0, NULL), tdl_kit_desc(y)->dtype);
    return tdl_builder_div(b, tdl_builder_mul(b, y, tdl_kit_like(&im->kit, y, size)), count);
}

static bool follow_reduce(struct onnx_import *im)
{
    const bool mean = !strcmp(im->node.row->name, "ReduceMean");
    struct onnx_counts counts = {{NULL}};
    struct onnx_value *v = output(im, 0);
    struct tdl_tensor_params desc;
    uint32_t bits, to = 0;
    struct sizes in;

    if (!v || !read_input(im, 0, &desc, &in) || !reduced(im, in.rank, &bits))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++) {
        if (bits >> d & 1) {
            if (mean && in.counts.of[d])
                v->operand = scale_mean(im, v->operand, in.shape[d], in.counts.of[d]);
            to += onnx_int(im, "keepdims", 1) != 0;
        } else {
            counts.of[to++] = in.counts.of[d];
        }
    }
    return v->operand && onnx_set_counts(im, 0, &counts);
}

/* Before opset 13 all dimensions from the axis on are one. */
static bool prepare_softmax(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct sizes in;
    uint32_t axis;

    if (!read_input(im, 0, &desc, &in) || !read_axis(im, im->opset < 13 ? 1 : -1, in.rank, &axis))
        return false;
    for (uint32_t d = axis; im->opset < 13 && axis + 1 < in.rank && d < in.rank; d++)
        if (in.counts.of[d])
            return onnx_refuse_count(im, 0, unsupported);
    return mask_input(im, 0, 1u << axis, (double)-__builtin_inff());
}

/* What is normalized together must all exist. */
static bool follow_normalized(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct sizes in;
    uint32_t axis;

    if (!read_input(im, 0, &desc, &in) || !read_axis(im, -1, in.rank, &axis))
        return false;
    for (uint32_t d = axis; d < in.rank; d++)
        if (in.counts.of[d])
            return onnx_refuse_count(im, 0, unsupported);
    return onnx_set_counts(im, 0, &in.counts);
}

static bool follow_cumulative_sum(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct sizes in;

    if (!read_input(im, 0, &desc, &in))
        return false;
    if (onnx_int(im, "reverse", 0))
        return onnx_refuse_count(im, 0, unsupported);
    return onnx_set_counts(im, 0, &in.counts);
}

/* The dimension of input `i` of a product that is summed over. */
static uint32_t summed(struct onnx_import *im, uint32_t i, uint32_t rank)
{
    if (!strcmp(im->node.row->name, "Gemm"))
        return (onnx_int(im, i ? "transB" : "transA", 0) != 0) == (i == 0) ? 0 : 1;
    return rank < 2 ? 0 : i == 0 ? rank - 1 : rank - 2;
}

static bool prepare_product(struct onnx_import *im)
{
    struct tdl_tensor_params desc;

    for (uint32_t i = 0; i < 2; i++)
        if (!onnx_desc(im, i, &desc) || !mask_input(im, i, 1u << summed(im, i, desc.rank), 0))
            return false;
    return true;
}

static bool follow_product(struct onnx_import *im)
{
    const struct onnx_value *v = output(im, 0);
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct sizes in;

    for (uint32_t i = 0; v && i < 2; i++) {
        const uint32_t rank = tdl_kit_rank(v->operand);

        if (!read_input(im, i, &desc, &in))
            return false;
        if (in.rank < 2 && onnx_counts(im, i))
            return onnx_refuse_count(im, i, unsupported);
        const uint32_t gone = summed(im, i, in.rank);
        for (uint32_t d = 0; d < in.rank && in.rank > 1; d++) {
            const bool row = d + 2 >= in.rank;
            const uint32_t to = row ? rank - 2 + i : d + rank - in.rank;

            if (d != gone && in.counts.of[d] && to < rank && !counts.of[to])
                counts.of[to] = in.counts.of[d];
        }
    }
    return !v || onnx_set_counts(im, 0, &counts);
}

/* ----------------------------------------------------------- what finds things */

static bool prepare_non_zero(struct onnx_import *im)
{
    return mask_input(im, 0, ~0u, 0);
}

static bool prepare_compress(struct onnx_import *im)
{
    return mask_input(im, 1, ~0u, 0);
}

static bool prepare_suppression(struct onnx_import *im)
{
    return mask_input(im, 1, ~0u, (double)-__builtin_inff());
}

/* RoiAlign: regions are the second input's rows. */
static bool follow_regions(struct onnx_import *im)
{
    if (onnx_counts(im, 0))
        return onnx_refuse_count(im, 0, unsupported);
    return !onnx_count(im, 1, 0) || onnx_set_count(im, 0, 0, onnx_count(im, 1, 0));
}

static bool follow_grid(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};

    if (onnx_counts(im, 0))
        return onnx_refuse_count(im, 0, unsupported);
    for (uint32_t d = 0; d < 2; d++)
        counts.of[2 + d] = onnx_count(im, 1, 1 + d);
    return onnx_set_counts(im, 0, &counts);
}

static bool gives_itself(struct onnx_import *im)
{
    (void)im;
    return true;
}

/* ----------------------------------------------------------------------- table */

struct rule {
    const char *name;
    bool (*follow)(struct onnx_import *im), (*prepare)(struct onnx_import *im);
    uint8_t fixed; /* bits of inputs that must not depend on counts */
};

/* Operators each of whose numbers is of one number of each input. */
static const char *const of_elements[] = {"Abs",
                                          "Acos",
                                          "Acosh",
                                          "Add",
                                          "And",
                                          "Asin",
                                          "Asinh",
                                          "Atan",
                                          "Atanh",
                                          "BitShift",
                                          "BitwiseAnd",
                                          "BitwiseNot",
                                          "BitwiseOr",
                                          "BitwiseXor",
                                          "Cast",
                                          "CastLike",
                                          "Ceil",
                                          "Celu",
                                          "Clip",
                                          "Cos",
                                          "Cosh",
                                          "DequantizeLinear",
                                          "Div",
                                          "Dropout",
                                          "Elu",
                                          "Equal",
                                          "Erf",
                                          "Exp",
                                          "Floor",
                                          "Gelu",
                                          "Greater",
                                          "GreaterOrEqual",
                                          "HardSigmoid",
                                          "HardSwish",
                                          "Identity",
                                          "IsInf",
                                          "IsNaN",
                                          "LeakyRelu",
                                          "Less",
                                          "LessOrEqual",
                                          "Log",
                                          "Max",
                                          "Mean",
                                          "Min",
                                          "Mish",
                                          "Mod",
                                          "Mul",
                                          "Neg",
                                          "Not",
                                          "Or",
                                          "PRelu",
                                          "Pow",
                                          "QuantizeLinear",
                                          "Reciprocal",
                                          "Relu",
                                          "Round",
                                          "Selu",
                                          "Shrink",
                                          "Sigmoid",
                                          "Sign",
                                          "Sin",
                                          "Sinh",
                                          "Softplus",
                                          "Softsign",
                                          "Sqrt",
                                          "Sub",
                                          "Sum",
                                          "Swish",
                                          "Tan",
                                          "Tanh",
                                          "ThresholdedRelu",
                                          "Where",
                                          "Xor",
                                          NULL};
static const struct rule elements_rule = {"", follow_elements, prepare_elements, 0};

static const struct rule rules[] = {
    {"ArgMax", follow_reduce, prepare_reduce, 0},
    {"ArgMin", follow_reduce, prepare_reduce, 0},
    {"AveragePool", follow_batch, NULL, 0},
    {"BatchNormalization", follow_batch, NULL, 0},
    {"Compress", gives_itself, prepare_compress, 0},
    {"Concat", follow_concat, NULL, 0},
    {"ConstantOfShape", follow_constant_of_shape, NULL, 0},
    {"Conv", follow_batch, NULL, 0},
    {"ConvTranspose", follow_batch, NULL, 0},
    {"CumSum", follow_cumulative_sum, NULL, 2},
    {"Expand", follow_expand, NULL, 0},
    {"Flatten", follow_shape, NULL, 0},
    {"Gather", follow_gather, prepare_gather, 0},
    {"GatherElements", follow_gather, prepare_gather, 0},
    {"GatherND", follow_gather_nd, NULL, 0},
    {"Gemm", follow_product, prepare_product, 0},
    {"GlobalAveragePool", follow_batch, NULL, 0},
    {"GlobalMaxPool", follow_batch, NULL, 0},
    {"GridSample", follow_grid, NULL, 0},
    {"If", gives_itself, NULL, 0},
    {"LayerNormalization", follow_normalized, NULL, 0},
    {"LogSoftmax", follow_elements, prepare_softmax, 0},
    {"LpNormalization", follow_normalized, NULL, 0},
    {"MatMul", follow_product, prepare_product, 0},
    {"MaxPool", follow_batch, NULL, 0},
    {"NonMaxSuppression", gives_itself, prepare_suppression, 4 | 8 | 16},
    {"NonZero", gives_itself, prepare_non_zero, 0},
    {"OneHot", follow_one_hot, NULL, 2},
    {"Pad", follow_pad, NULL, 2 | 8},
    {"Range", follow_range, NULL, 0},
    {"ReduceL1", follow_reduce, prepare_reduce, 2},
    {"ReduceL2", follow_reduce, prepare_reduce, 2},
    {"ReduceLogSum", follow_reduce, prepare_reduce, 2},
    {"ReduceLogSumExp", follow_reduce, prepare_reduce, 2},
    {"ReduceMax", follow_reduce, prepare_reduce, 2},
    {"ReduceMean", follow_reduce, prepare_reduce, 2},
    {"ReduceMin", follow_reduce, prepare_reduce, 2},
    {"ReduceProd", follow_reduce, prepare_reduce, 2},
    {"ReduceSum", follow_reduce, prepare_reduce, 2},
    {"ReduceSumSquare", follow_reduce, prepare_reduce, 2},
    {"Reshape", follow_shape, NULL, 0},
    {"Resize", follow_batch, NULL, 4 | 8},
    {"RoiAlign", follow_regions, NULL, 0},
    {"Scatter", follow_scatter, prepare_scatter, 0},
    {"ScatterElements", follow_scatter, prepare_scatter, 0},
    {"ScatterND", follow_scatter, prepare_scatter, 0},
    {"Shape", gives_itself, NULL, 0},
    {"Size", gives_itself, NULL, 0},
    {"Slice", gives_itself, NULL, 8 | 16},
    {"Softmax", follow_elements, prepare_softmax, 0},
    {"Split", follow_split, NULL, 0},
    {"Squeeze", follow_shape, NULL, 2},
    {"Tile", follow_tile, NULL, 0},
    {"TopK", follow_top_k, prepare_top_k, 0},
    {"Transpose", follow_transpose, NULL, 0},
    {"Trilu", follow_elements, NULL, 2},
    {"Unsqueeze", follow_shape, NULL, 2},
};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

static const struct rule *find_rule(const struct onnx_import *im)
{
    const char *name = im->node.row->name;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (!strcmp(rules[i].name, name))
            return &rules[i];
    return is_one_of(name, of_elements) ? &elements_rule : NULL;
}

static bool depends(struct onnx_import *im)
{
    bool any = false;

    for (uint32_t i = 0; i < im->node.input_count; i++)
        any |= onnx_counts(im, i) || onnx_is_counted(im, i);
    return any;
}

bool onnx_prepare_counts(struct onnx_import *im)
{
    const struct rule *rule = find_rule(im);

    for (uint32_t i = 0; i < im->node.input_count; i++)
        if ((onnx_counts(im, i) || onnx_is_counted(im, i)) &&
            (!rule || (i < 8 && rule->fixed >> i & 1)))
            return onnx_refuse_count(im, i, unsupported);
    return !rule || !rule->prepare || !depends(im) || rule->prepare(im);
}

bool onnx_follow_counts(struct onnx_import *im)
{
    return !depends(im) || find_rule(im)->follow(im);
}

bool onnx_keeps_order(struct onnx_import *im)
{
    static const char *const names[] = {
        "Add",        "And",       "Cast",        "Ceil",      "Concat",
        "Equal",      "Floor",     "Gather",      "Greater",   "GreaterOrEqual",
        "Identity",   "Less",      "LessOrEqual", "Max",       "Min",
        "Mul",        "Not",       "Or",          "ReduceMax", "ReduceMin",
        "ReduceProd", "ReduceSum", "Relu",        "Reshape",   "Slice",
        "Split",      "Squeeze",   "Sqrt",        "Sum",       "Transpose",
        "Unsqueeze",  "Where",     "Xor",         NULL};
    static const char *const of_first[] = {"Div", "Sub", NULL};
    const char *name = im->node.row->name;

    return is_one_of(name, names) || (is_one_of(name, of_first) && !onnx_is_counted(im, 1));
}
