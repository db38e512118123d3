/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts (counts.c) where dimensions are joined, moved, repeated or cut. */
#include "count_rules.h"

#include <string.h>

static uint64_t product(const uint32_t *shape, uint32_t from, uint32_t to)
{
    uint64_t all = 1;

    for (uint32_t d = from; d < to; d++)
        all *= shape[d];
    return all;
}

/* The dimension of `out` that begins where dimension `a` of `in` does; out->rank: none. */
static uint32_t find_dimension(const struct onnx_sizes *in, uint32_t a,
                               const struct onnx_sizes *out)
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
static struct tdl_operand *scale_count(struct onnx_import *im, const struct onnx_sizes *in,
                                       uint32_t a, uint32_t size)
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
    const struct onnx_value *v = onnx_output_value(im, 0);
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct onnx_sizes in, out;

    if (!v || !onnx_read_sizes(im, 0, &desc, &in))
        return !v;
    if (v->wide)
        return !onnx_counts(im, 0) || onnx_refuse_count(im, 0, onnx_uncountable);
    out = (struct onnx_sizes){.rank = tdl_kit_rank(v->operand), .shape = tdl_kit_shape(v->operand)};
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
    const struct onnx_value *v = onnx_output_value(im, 0);
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
    const struct onnx_value *v = onnx_output_value(im, 0);
    struct tdl_tensor_params desc;
    struct onnx_sizes in;

    if (!v || !onnx_read_sizes(im, 0, &desc, &in))
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
    const struct onnx_value *v = onnx_output_value(im, 0);
    struct tdl_tensor_params desc;
    struct onnx_sizes in;

    if (!v || !onnx_read_sizes(im, 0, &desc, &in))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++) {
        struct tdl_operand *times = onnx_counted_at(im, 1, d);

        if (in.counts.of[d] && (times || tdl_kit_shape(v->operand)[d] != in.shape[d]))
            return onnx_refuse_count(im, 0, onnx_uncountable);
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
        return onnx_refuse_count(im, onnx_is_counted(im, 0) ? 0 : 1, onnx_uncountable);
    if (!count || !onnx_ints(im, 0, &start, 1, &got) || !onnx_ints(im, 2, &step, 1, &got))
        return !count && tdl_builder_status(im->builder) == TDL_OK;
    if (step < 1)
        return onnx_refuse_count(im, 1, onnx_uncountable);
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
    struct onnx_sizes in;
    uint32_t count;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_int_list(im, "perm", list, ONNX_WIDE, &count))
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
    struct onnx_value *v = onnx_output_value(im, 0);
    bool closes = false;
    uint32_t axis;

    if (!v || !onnx_read_axis(im, 0, tdl_kit_rank(v->operand), &axis))
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
    struct onnx_sizes in;
    uint32_t axis;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_axis(im, 0, in.rank, &axis))
        return false;
    if (im->node.output_count > 1 && (in.counts.of[axis] || onnx_is_counted(im, 1)))
        return onnx_refuse_count(im, in.counts.of[axis] ? 0 : 1, onnx_uncountable);
    for (uint32_t i = 0; i < im->node.output_count; i++)
        if (onnx_output_value(im, i) && !onnx_set_counts(im, i, &in.counts))
            return false;
    return true;
}

static bool follow_pad(struct onnx_import *im)
{
    const struct onnx_value *v = onnx_output_value(im, 0);
    struct tdl_tensor_params desc;
    struct onnx_sizes in;

    if (!v || !onnx_read_sizes(im, 0, &desc, &in))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++)
        if (in.counts.of[d] && tdl_kit_shape(v->operand)[d] != in.shape[d])
            return onnx_refuse_count(im, 0, onnx_uncountable);
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
        return onnx_refuse_count(im, length ? 0 : last ? 2 : 1, onnx_uncountable);
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

const struct onnx_count_rule onnx_counts_shapes[] = {
    {"Concat", follow_concat, NULL, 0},
    {"ConstantOfShape", follow_constant_of_shape, NULL, 0},
    {"Expand", follow_expand, NULL, 0},
    {"Flatten", follow_shape, NULL, 0},
    {"Pad", follow_pad, NULL, 2 | 8},
    {"Range", follow_range, NULL, 0},
    {"Reshape", follow_shape, NULL, 0},
    {"Split", follow_split, NULL, 0},
    {"Squeeze", follow_shape, NULL, 2},
    {"Tile", follow_tile, NULL, 0},
    {"Transpose", follow_transpose, NULL, 0},
    {"Unsqueeze", follow_shape, NULL, 2},
    {0},
};
