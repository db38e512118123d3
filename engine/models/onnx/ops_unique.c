/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Unique (Operators.md, Unique). Rows are sorted, so that equal ones are neighbours, and
 * the first of each kind stays: as many as there may be, and how many there are (counts.c).
 */
#include "onnx.h"

#define MOST_COLUMNS 256 /* numbers of a row, by each of which is sorted */

typedef struct tdl_operand *O;

struct unique {
    struct onnx_import *im;
    uint32_t rows, columns;
    O x;     /* [rows, columns] */
    O order; /* rows, sorted */
    O kind;  /* the row's, at each place of the order */
    O first; /* the first place of each kind */
    O count; /* how many kinds there are, [1] */
};

static O number(const struct unique *u, double value)
{
    return tdl_kit_number(&u->im->kit, TDL_INT32, value);
}

static O places(const struct unique *u)
{
    return tdl_kit_range(&u->im->kit, TDL_INT32, u->rows, 0, 1);
}

static O column(const struct unique *u, O x, uint32_t i)
{
    const struct tdl_slice_params p = {.start = {0, i}, .size = {u->rows, 1}};

    return onnx_reshape(u->im, tdl_builder_slice(u->im->builder, x, &p), 1, &u->rows);
}

static O sorted(const struct unique *u, O keys)
{
    const struct tdl_top_k_params p = {.count = u->rows, .smallest = true};

    return tdl_builder_top_k(u->im->builder, keys, 0, &p);
}

/* By the last column first: of equal numbers the order stays. */
static O sort_rows(const struct unique *u)
{
    struct tdl_builder *b = u->im->builder;
    O order = NULL;

    for (uint32_t i = u->columns; i-- > 0;) {
        O keys = column(u, u->x, i), next;

        keys = keys && order ? tdl_builder_gather(b, keys, order, 0) : keys;
        next = keys ? sorted(u, keys) : NULL;
        if (!next)
            return NULL;
        order = order ? tdl_builder_gather(b, order, next, 0) : next;
    }
    return order;
}

/* 1 for each row of the order that differs from the one before. */
static O differs(const struct unique *u)
{
    static const struct tdl_reduce_params over = {.axes = {1}, .axis_count = 1};
    struct tdl_builder *b = u->im->builder;
    const uint32_t others = u->rows - 1;
    const struct tdl_slice_params before = {.size = {others, u->columns}};
    const struct tdl_slice_params behind = {.start = {1}, .size = {others, u->columns}};
    O rows = tdl_builder_gather(b, u->x, u->order, 0), one[2];

    one[0] = onnx_constant(u->im, TDL_INT32, 1, &(uint32_t){1}, &(int32_t){1});
    if (others == 0 || !rows || !one[0])
        return one[0];
    rows = tdl_builder_not_equal(b, tdl_builder_slice(b, rows, &before),
                                 tdl_builder_slice(b, rows, &behind));
    rows = tdl_builder_cast(b, rows, TDL_INT32);
    one[1] = tdl_builder_reduce(b, rows, TDL_REDUCE_MAX, &over);
    return tdl_builder_concat(b, one, 2, 0);
}

/* Numbers of places of the order, at the rows that stand there. */
static O at_rows(const struct unique *u, O numbers)
{
    static const struct tdl_scatter_params replace = {0};
    struct tdl_builder *b = u->im->builder;
    O all = tdl_builder_expand(b, number(u, 0), 1, &u->rows);

    return tdl_builder_scatter_elements(b, all, u->order, numbers, 0, &replace);
}

static bool find_kinds(struct unique *u)
{
    struct tdl_builder *b = u->im->builder;
    O is;

    if (!(u->order = sort_rows(u)) || !(is = differs(u)))
        return false;
    u->kind = tdl_builder_sub(b, tdl_builder_cumulative_sum(b, is, 0, NULL), number(u, 1));
    u->first = onnx_find_places(u->im, is, &u->count);
    return u->first != NULL;
}

/* Kinds that are known by their first rows, in the order of these; those that do not exist
 * come last. */
static O sort_kinds(const struct unique *u, O rows)
{
    struct tdl_builder *b = u->im->builder;
    O exists = tdl_builder_lesser(b, places(u), u->count);

    return sorted(u, tdl_builder_where(b, exists, rows, number(u, u->rows)));
}

/* How many rows each kind has. */
static O sizes(const struct unique *u)
{
    struct tdl_builder *b = u->im->builder;
    const struct tdl_pad_params pad = {.after = {1}};
    const struct tdl_slice_params behind = {.start = {1}, .size = {u->rows}};
    O next = tdl_builder_slice(b, tdl_builder_pad(b, u->first, &pad), &behind);
    O last = tdl_builder_equal(b, tdl_builder_add(b, places(u), number(u, 1)), u->count);

    next = tdl_builder_where(b, last, number(u, u->rows), next);
    return tdl_builder_sub(b, next, u->first);
}

static bool give_one(const struct unique *u, uint32_t i, O value, O by)
{
    struct tdl_builder *b = u->im->builder;

    if (!onnx_wanted(u->im, i))
        return true;
    value = by ? tdl_builder_gather(b, value, by, 0) : value;
    return onnx_give_at(u->im, i, tdl_builder_cast(b, value, TDL_INT64)) &&
           onnx_set_count(u->im, i, 0, u->count);
}

static bool give_inverse(const struct unique *u, O by)
{
    static const struct tdl_scatter_params replace = {0};
    struct tdl_builder *b = u->im->builder;
    O kind = u->kind;

    if (by) /* the place of each kind in the other order */
        kind = tdl_builder_gather(
            b,
            tdl_builder_scatter_elements(b, tdl_builder_expand(b, number(u, 0), 1, &u->rows), by,
                                         places(u), 0, &replace),
            kind, 0);
    return !onnx_wanted(u->im, 2) ||
           onnx_give_at(u->im, 2, tdl_builder_cast(b, at_rows(u, kind), TDL_INT64));
}

static bool give_kinds(const struct unique *u, O x, uint32_t axis)
{
    struct tdl_builder *b = u->im->builder;
    O rows = tdl_builder_gather(b, u->order, u->first, 0);
    O by = onnx_int(u->im, "sorted", 1) ? NULL : sort_kinds(u, rows);
    O chosen = by ? tdl_builder_gather(b, rows, by, 0) : rows;

    return onnx_give(u->im, tdl_builder_gather(b, x, chosen, axis)) &&
           onnx_set_count(u->im, 0, axis, u->count) && give_one(u, 1, rows, by) &&
           give_inverse(u, by) && give_one(u, 3, sizes(u), by);
}

/* The axis' elements as rows. */
static bool read_rows(struct unique *u, O x, uint32_t axis)
{
    const struct tdl_tensor_params *desc = tdl_kit_desc(x);
    const uint64_t count = tdl_kit_elements(x);
    uint32_t order[TDL_MAX_RANK];

    u->rows = desc->shape[axis];
    if (count / u->rows > MOST_COLUMNS || u->rows > 1 << 16)
        return tdl_kit_lacks(&u->im->kit, "%u rows of %llu numbers; libtdl compares %d of %d",
                             u->rows, (unsigned long long)(count / u->rows), 1 << 16, MOST_COLUMNS);
    u->columns = (uint32_t)(count / u->rows);
    for (uint32_t d = 0; d < desc->rank; d++)
        order[d] = d == 0 ? axis : d - (d <= axis);
    x = axis ? tdl_builder_transpose(u->im->builder, x, order) : x;
    u->x = onnx_reshape(u->im, x, 2, (const uint32_t[]){u->rows, u->columns});
    return u->x != NULL;
}

bool onnx_add_unique(struct onnx_import *im)
{
    O x = onnx_operand(im, 0);
    struct unique u = {.im = im};
    uint32_t axis = 0, all;

    if (!x)
        return false;
    all = (uint32_t)tdl_kit_elements(x);
    if (!onnx_has(im, "axis"))
        x = onnx_reshape(im, x, 1, &all);
    else if (!tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(x), &axis))
        return false;
    return x && read_rows(&u, x, axis) && find_kinds(&u) && give_kinds(&u, x, axis);
}
