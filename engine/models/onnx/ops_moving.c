/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators that move elements, or give them another shape. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- other shapes */

/* Output 0 as input 0 in another shape, which may have no elements. */
static bool give_shape(struct onnx_import *im, uint32_t rank, const uint32_t *shape)
{
    struct tdl_tensor_params desc;
    struct tdl_operand *x;

    if (!onnx_desc(im, 0, &desc))
        return false;
    if (onnx_is_empty(im, 0)) {
        desc.rank = rank;
        memcpy(desc.shape, shape, sizeof(desc.shape));
        return onnx_give_empty(im, 0, &desc);
    }
    x = onnx_operand(im, 0);
    return x && onnx_give(im, onnx_reshape(im, x, rank, shape));
}

/* A list of sizes with ONNX's 0, the input's, and −1, the rest. */
static bool add_reshape(struct onnx_import *im)
{
    int64_t sizes[ONNX_WIDE], rest = -1;
    uint32_t shape[ONNX_WIDE] = {0}, rank;
    struct tdl_tensor_params desc;
    uint64_t count = 1, known = 1;

    if (!onnx_desc(im, 0, &desc) || !onnx_ints_of(im, "shape", 1, sizes, ONNX_WIDE, &rank))
        return false;
    const struct onnx_wide *wide = onnx_wide(im, 0);
    struct onnx_wide in = {.rank = desc.rank};
    memcpy(in.shape, desc.shape, desc.rank * sizeof(*desc.shape));
    in = wide ? *wide : in;
    for (uint32_t i = 0; i < in.rank; i++)
        count *= in.shape[i];
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] == 0 && !onnx_int(im, "allowzero", 0) && i < in.rank)
            sizes[i] = in.shape[i];
        if (sizes[i] < -1 || sizes[i] > INT32_MAX || (sizes[i] == -1 && rest >= 0))
            return tdl_kit_damaged(&im->kit, "a dimension of %lld elements", (long long)sizes[i]);
        if (sizes[i] == -1)
            rest = i;
        else
            known *= (uint64_t)sizes[i];
        if (known > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a shape of more than 2^31 elements");
        shape[i] = sizes[i] < 0 ? 0 : (uint32_t)sizes[i];
    }
    if (rest >= 0 && (known == 0 || count % known))
        return tdl_kit_damaged(&im->kit, "%llu elements cannot be divided among %llu",
                               (unsigned long long)count, (unsigned long long)known);
    if (rest >= 0)
        shape[rest] = (uint32_t)(count / known);
    if (rank > TDL_MAX_RANK && onnx_is_empty(im, 0))
        return tdl_kit_lacks(&im->kit, "%u dimensions of nothing; libtdl takes up to %d", rank,
                             TDL_MAX_RANK);
    return rank > TDL_MAX_RANK ? onnx_give_wide(im, onnx_operand(im, 0), rank, shape)
                               : give_shape(im, rank, shape);
}

static bool add_flatten(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    const int64_t axis = onnx_int(im, "axis", 1);

    if (!x)
        return false;
    const int64_t rank = tdl_kit_rank(x);
    if (axis < -rank || axis > rank)
        return tdl_kit_damaged(&im->kit, "there is no axis %lld in %lld dimensions",
                               (long long)axis, (long long)rank);
    return onnx_give(
        im, tdl_builder_flatten(im->builder, x, (uint32_t)(axis < 0 ? axis + rank : axis)));
}

/* Output 0 as input 0 in a shape of however many dimensions. */
static bool give_wide_shape(struct onnx_import *im, uint32_t rank, const uint32_t *shape)
{
    return rank > TDL_MAX_RANK ? onnx_give_wide(im, onnx_operand(im, 0), rank, shape)
                               : give_shape(im, rank, shape);
}

/* Of a value that has more dimensions than operands. */
static bool squeeze_wide(struct onnx_import *im)
{
    int64_t list[ONNX_WIDE];
    uint32_t shape[ONNX_WIDE], rank = 0, count, bits = 0;
    struct onnx_wide in;

    if (!onnx_dims(im, 0, &in) || !onnx_ints_of(im, "axes", 1, list, ONNX_WIDE, &count) ||
        !tdl_kit_axis_bits(&im->kit, list, count, in.rank, &bits))
        return false;
    for (uint32_t i = 0; i < in.rank; i++) {
        if (count ? !(bits >> i & 1) : in.shape[i] != 1)
            shape[rank++] = in.shape[i];
        else if (in.shape[i] != 1)
            return tdl_kit_damaged(&im->kit, "dimension %u is %u, not 1", i, in.shape[i]);
    }
    return give_wide_shape(im, rank, shape);
}

static bool add_squeeze(struct onnx_import *im)
{
    uint32_t shape[TDL_MAX_RANK], rank, count;
    int64_t list[TDL_MAX_RANK];
    struct tdl_tensor_params in;

    if (onnx_wide(im, 0))
        return squeeze_wide(im);
    return onnx_desc(im, 0, &in) && onnx_ints_of(im, "axes", 1, list, TDL_MAX_RANK, &count) &&
           tdl_kit_squeeze(&im->kit, &in, list, count, shape, &rank) && give_shape(im, rank, shape);
}

static bool add_unsqueeze(struct onnx_import *im)
{
    uint32_t shape[ONNX_WIDE] = {0}, added, count, from = 0;
    int64_t list[ONNX_WIDE];
    struct onnx_wide in;

    if (!onnx_dims(im, 0, &in) || !onnx_ints_of(im, "axes", 1, list, ONNX_WIDE, &count))
        return false;
    const uint32_t rank = in.rank + count;
    if (rank > (onnx_is_empty(im, 0) ? TDL_MAX_RANK : ONNX_WIDE))
        return tdl_kit_lacks(&im->kit, "%u dimensions; libtdl takes up to %d", rank, ONNX_WIDE);
    if (!tdl_kit_axis_bits(&im->kit, list, count, rank, &added) ||
        (uint32_t)__builtin_popcount(added) != count)
        return tdl_kit_damaged(&im->kit, "an axis that is listed twice, or is none");
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = added >> i & 1 ? 1 : in.shape[from++];
    return give_wide_shape(im, rank, shape);
}

/* Both ways: a dimension of the list may be 1, too, and dimensions are aligned at
 * the last. */
static bool add_expand(struct onnx_import *im)
{
    int64_t sizes[TDL_MAX_RANK];
    uint32_t shape[TDL_MAX_RANK], count, rank;
    struct tdl_tensor_params in;
    bool empty = false;

    if (!onnx_desc(im, 0, &in) || !onnx_ints(im, 1, sizes, TDL_MAX_RANK, &count))
        return false;
    rank = count > in.rank ? count : in.rank;
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t own = i + in.rank >= rank ? in.shape[i + in.rank - rank] : 1;
        const int64_t wanted = i + count >= rank ? sizes[i + count - rank] : 1;

        if (wanted < 0 || wanted > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a dimension of %lld elements", (long long)wanted);
        shape[i] = wanted == 1 ? own : (uint32_t)wanted;
        empty |= shape[i] == 0;
    }
    if (empty) {
        in.rank = rank;
        memcpy(in.shape, shape, rank * sizeof(*shape));
        return onnx_give_empty(im, 0, &in);
    }
    struct tdl_operand *x = onnx_operand(im, 0);
    return x && onnx_give(im, tdl_builder_expand(im->builder, x, rank, shape));
}

/* -------------------------------------------------------------------- joining */

static bool add_concat(struct onnx_import *im)
{
    const uint32_t count = im->node.input_count;
    struct tdl_operand **inputs = calloc(count, sizeof(*inputs));
    struct tdl_tensor_params desc;
    uint32_t filled = 0, axis;
    bool ok = inputs || tdl_kit_fail_memory(&im->kit);

    /* What has no elements adds none. */
    for (uint32_t i = 0; i < count && ok; i++) {
        if (onnx_is_empty(im, i))
            continue;
        inputs[filled] = onnx_operand(im, i);
        ok = inputs[filled++] != NULL;
    }
    if (ok && filled == 0)
        ok = onnx_desc(im, 0, &desc) && onnx_give_empty(im, 0, &desc);
    else if (ok)
        ok = tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(inputs[0]), &axis) &&
             onnx_give(im, filled == 1 ? inputs[0]
                                       : tdl_builder_concat(im->builder, inputs, filled, axis));
    free(inputs);
    return ok;
}

/* Parts of a dimension; the last is smaller where equal ones do not fit. */
static bool split_sizes(struct onnx_import *im, uint32_t length, uint32_t *sizes, uint32_t count)
{
    int64_t list[64];
    uint32_t given;

    if (!onnx_ints_of(im, "split", 1, list, 64, &given))
        return false;
    if (given && given != count)
        return tdl_kit_damaged(&im->kit, "%u sizes for %u parts", given, count);
    const uint32_t part = (length + count - 1) / count;
    for (uint32_t i = 0; i < count; i++) {
        int64_t size = given ? list[i] : part;

        if (!given && (uint64_t)part * (i + 1) > length)
            size = (int64_t)length - (int64_t)part * i;
        if (size < 0 || size > length)
            return tdl_kit_lacks(&im->kit, "a part of %lld elements", (long long)size);
        sizes[i] = (uint32_t)size;
    }
    return true;
}

static bool add_split(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *parts[64];
    const uint32_t count = im->node.output_count;
    uint32_t sizes[64], filled[64], some = 0, axis;

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(x), &axis))
        return false;
    if (count > 64)
        return tdl_kit_lacks(&im->kit, "%u parts; libtdl makes up to 64", count);
    if (!split_sizes(im, tdl_kit_shape(x)[axis], sizes, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (sizes[i])
            filled[some++] = sizes[i];
    if (tdl_builder_split(im->builder, x, some, filled, axis, parts) != TDL_OK)
        return false;
    for (uint32_t i = 0, part = 0; i < count; i++) {
        struct tdl_tensor_params desc = *tdl_kit_desc(x);

        desc.shape[axis] = 0;
        if (sizes[i] ? !onnx_give_at(im, i, parts[part++]) : !onnx_give_empty(im, i, &desc))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------- cutting */

/* One axis: bounds that may count from the end, and lie far outside. Gives how many
 * elements are walked over. */
static int64_t slice_axis(struct tdl_slice_params *p, uint32_t axis, int64_t length, int64_t start,
                          int64_t end, int64_t step)
{
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
    int64_t size;

    start += start < 0 ? length : 0;
    end += end < 0 && end >= -length ? length : 0;
    start = start < 0 ? 0 : start > high ? high : start;
    end = end < low ? low : end > length ? length : end;
    size = step < 0 ? start - end : end - start;
    p->start[axis] = (uint32_t)start;
    p->size[axis] = (uint32_t)(size > 0 ? size : 0);
    p->step[axis] = (int32_t)(step > INT32_MAX ? INT32_MAX : step < -INT32_MAX ? -INT32_MAX : step);
    return size > 0 ? size : 0;
}

struct bounds {
    int64_t starts[TDL_MAX_RANK], ends[TDL_MAX_RANK], axes[TDL_MAX_RANK], steps[TDL_MAX_RANK];
    uint32_t count;
};

static bool read_bounds(struct onnx_import *im, struct bounds *b)
{
    uint32_t ends, axes, steps;

    if (!onnx_ints_of(im, "starts", 1, b->starts, TDL_MAX_RANK, &b->count) ||
        !onnx_ints_of(im, "ends", 2, b->ends, TDL_MAX_RANK, &ends) ||
        !onnx_ints_of(im, "axes", 3, b->axes, TDL_MAX_RANK, &axes) ||
        !onnx_ints_of(im, "steps", 4, b->steps, TDL_MAX_RANK, &steps))
        return false;
    if (ends != b->count || (axes && axes != b->count) || (steps && steps != b->count))
        return tdl_kit_damaged(&im->kit, "%u starts, %u ends, %u axes and %u steps do not fit",
                               b->count, ends, axes, steps);
    for (uint32_t i = 0; i < b->count; i++) {
        b->axes[i] = axes ? b->axes[i] : i;
        b->steps[i] = steps ? b->steps[i] : 1;
        if (b->steps[i] == 0)
            return tdl_kit_damaged(&im->kit, "a step of 0");
    }
    return true;
}

static bool add_slice(struct onnx_import *im)
{
    const struct onnx_counts *of = onnx_counts(im, 0);
    struct onnx_counts counts = of ? *of : (struct onnx_counts){{NULL}};
    struct tdl_slice_params p = {0};
    struct tdl_tensor_params desc;
    struct bounds b;
    bool empty = onnx_is_empty(im, 0), whole = true;

    if (!onnx_desc(im, 0, &desc) || !read_bounds(im, &b))
        return false;
    for (uint32_t i = 0; i < b.count; i++) {
        uint32_t axis;

        if (!tdl_kit_axis(&im->kit, b.axes[i], desc.rank, &axis) ||
            (im->has_counts && !im->trial &&
             !onnx_slice_count(im, i, axis, b.starts[i], b.ends[i], b.steps[i], &counts.of[axis])))
            return false;
        const int64_t length = desc.shape[axis];
        const int64_t size = slice_axis(&p, axis, length, b.starts[i], b.ends[i], b.steps[i]);
        const int64_t step = b.steps[i] < 0 ? -(int64_t)p.step[axis] : p.step[axis];
        whole &= size == length && b.steps[i] == 1;
        desc.shape[axis] = (uint32_t)((size + step - 1) / step);
        empty |= size == 0;
    }
    if (empty)
        return onnx_give_empty(im, 0, &desc);
    struct tdl_operand *x = onnx_operand(im, 0);
    return x && onnx_give(im, whole ? x : tdl_builder_slice(im->builder, x, &p)) &&
           (im->trial || onnx_set_counts(im, 0, &counts));
}

/* ------------------------------------------------------------------- padding */

static bool cut_negative(struct onnx_import *im, struct tdl_operand **x, int64_t *begin,
                         int64_t *end)
{
    struct tdl_slice_params p = {0};
    bool any = false;

    for (uint32_t i = 0; i < tdl_kit_rank(*x); i++) {
        const int64_t length = tdl_kit_shape(*x)[i], low = begin[i] < 0 ? -begin[i] : 0;
        const int64_t high = end[i] < 0 ? -end[i] : 0;

        if (low > length || high > length - low || low + high == length)
            return tdl_kit_lacks(&im->kit, "padding that takes all %lld elements away",
                                 (long long)length);
        any |= low + high > 0;
        p.start[i] = (uint32_t)low;
        p.size[i] = (uint32_t)(length - low - high);
        begin[i] = begin[i] < 0 ? 0 : begin[i];
        end[i] = end[i] < 0 ? 0 : end[i];
    }
    if (any)
        *x = tdl_builder_slice(im->builder, *x, &p);
    return *x != NULL;
}

static bool read_pads(struct onnx_import *im, uint32_t rank, int64_t *begin, int64_t *end)
{
    int64_t pads[2 * TDL_MAX_RANK], axes[TDL_MAX_RANK];
    uint32_t count, axis_count = 0, axis;

    if (!onnx_ints_of(im, "pads", 1, pads, 2 * TDL_MAX_RANK, &count) ||
        (onnx_given(im, 3) && !onnx_ints(im, 3, axes, TDL_MAX_RANK, &axis_count)))
        return false;
    const uint32_t half = axis_count ? axis_count : rank;
    if (count != 2 * half)
        return tdl_kit_damaged(&im->kit, "%u paddings for %u dimensions", count, half);
    for (uint32_t i = 0; i < half; i++) {
        if (!tdl_kit_axis(&im->kit, axis_count ? axes[i] : i, rank, &axis))
            return false;
        if (pads[i] < -INT32_MAX || pads[i] > INT32_MAX || pads[half + i] < -INT32_MAX ||
            pads[half + i] > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "padding of more than 2^31 elements");
        begin[axis] = pads[i];
        end[axis] = pads[half + i];
    }
    return true;
}

/* As one kernel that wraps around is missing: the end before, the beginning behind. */
static struct tdl_operand *wrap(struct onnx_import *im, struct tdl_operand *x, uint32_t axis,
                                uint32_t before, uint32_t after)
{
    struct tdl_operand *parts[3];
    uint32_t count = 0;
    const uint32_t length = tdl_kit_shape(x)[axis];

    if (before > length || after > length) {
        tdl_kit_lacks(&im->kit, "padding that wraps around more than once");
        return NULL;
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct tdl_slice_params p = {0};

        p.start[axis] = i == 0 ? length - before : 0;
        p.size[axis] = i == 0 ? before : after;
        if (i == 1)
            parts[count++] = x;
        else if (p.size[axis])
            parts[count++] = tdl_builder_slice(im->builder, x, &p);
    }
    return tdl_builder_concat(im->builder, parts, count, axis);
}

static bool add_pad(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    struct tdl_pad_params p = {.mode = TDL_PAD_CONSTANT};
    int64_t begin[TDL_MAX_RANK] = {0}, end[TDL_MAX_RANK] = {0};
    uint32_t count;

    p.value = (double)onnx_float(im, "value", 0);
    if (!x || !read_pads(im, tdl_kit_rank(x), begin, end) ||
        (onnx_given(im, 2) && !onnx_floats(im, 2, &p.value, 1, &count)) ||
        !cut_negative(im, &x, begin, end))
        return false;
    if (onnx_string_is(im, "mode", "edge"))
        p.mode = TDL_PAD_EDGE;
    else if (onnx_string_is(im, "mode", "reflect"))
        p.mode = TDL_PAD_REFLECTION;
    for (uint32_t i = 0; i < tdl_kit_rank(x); i++) {
        p.before[i] = (uint32_t)begin[i];
        p.after[i] = (uint32_t)end[i];
    }
    if (!onnx_string_is(im, "mode", "wrap"))
        return onnx_give(im, tdl_builder_pad(im->builder, x, &p));
    for (uint32_t i = 0; i < tdl_kit_rank(x); i++)
        if ((p.before[i] || p.after[i]) && !(x = wrap(im, x, i, p.before[i], p.after[i])))
            return false;
    return onnx_give(im, x);
}

/* --------------------------------------------------------------------- turning */

static bool transpose_nothing(struct onnx_import *im, const uint32_t *permutation)
{
    struct tdl_tensor_params in, out;

    if (!onnx_desc(im, 0, &in))
        return false;
    out = in;
    for (uint32_t i = 0; i < in.rank; i++)
        out.shape[i] = in.shape[permutation[i]];
    return onnx_give_empty(im, 0, &out);
}

static bool add_transpose(struct onnx_import *im)
{
    const struct onnx_wide *wide = onnx_wide(im, 0);
    int64_t list[ONNX_WIDE];
    uint32_t permutation[ONNX_WIDE], count;
    struct onnx_wide in;

    if (!onnx_dims(im, 0, &in) || !onnx_int_list(im, "perm", list, ONNX_WIDE, &count))
        return false;
    for (const bool turned = count == 0; turned && count < in.rank; count++)
        list[count] = (int64_t)in.rank - 1 - count;
    if (!tdl_kit_permutation(&im->kit, list, count, in.rank, permutation))
        return false;
    if (wide)
        return onnx_transpose_wide(im, wide, permutation);
    if (onnx_is_empty(im, 0))
        return transpose_nothing(im, permutation);
    struct tdl_operand *x = onnx_operand(im, 0);
    return x && onnx_give(im, tdl_builder_transpose(im->builder, x, permutation));
}

static bool add_tile(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    int64_t list[TDL_MAX_RANK];
    uint32_t repetitions[TDL_MAX_RANK] = {0}, count;

    if (!x || !onnx_ints(im, 1, list, TDL_MAX_RANK, &count))
        return false;
    if (count != tdl_kit_rank(x))
        return tdl_kit_damaged(&im->kit, "%u repetitions for %u dimensions", count,
                               tdl_kit_rank(x));
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] < 1 || list[i] > INT32_MAX)
            return tdl_kit_lacks(&im->kit, "%lld repetitions", (long long)list[i]);
        repetitions[i] = (uint32_t)list[i];
    }
    return onnx_give(im, tdl_builder_tile(im->builder, x, repetitions));
}

static bool add_blocks(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    const int64_t block = onnx_int(im, "blocksize", 1);
    const enum tdl_block_order order =
        onnx_string_is(im, "mode", "CRD") ? TDL_BLOCK_COLUMN_FIRST : TDL_BLOCK_DEPTH_FIRST;

    if (!x)
        return false;
    if (block < 1 || block > 16384)
        return tdl_kit_damaged(&im->kit, "blocks of %lld pixels", (long long)block);
    if (!strcmp(im->node.row->name, "SpaceToDepth"))
        return onnx_give(im, tdl_builder_space_to_depth(im->builder, x, (uint32_t)block, order));
    return onnx_give(im, tdl_builder_depth_to_space(im->builder, x, (uint32_t)block, order));
}

const struct onnx_row onnx_rows_moving[] = {
    {"Concat", 1, TDL_KIT_MANY, add_concat},
    {"DepthToSpace", 1, 1, add_blocks},
    {"Expand", 2, 2, add_expand},
    {"Flatten", 1, 1, add_flatten},
    {"Pad", 1, 4, add_pad},
    {"Reshape", 1, 2, add_reshape},
    {"Slice", 1, 5, add_slice},
    {"SpaceToDepth", 1, 1, add_blocks},
    {"Split", 1, 2, add_split},
    {"Squeeze", 1, 2, add_squeeze},
    {"Tile", 2, 2, add_tile},
    {"Transpose", 1, 1, add_transpose},
    {"Unsqueeze", 1, 2, add_unsqueeze},
    {0},
};
