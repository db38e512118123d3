/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's operators that take elements by their indices, or put some there.
 *
 * To scatter at places that are known is to gather: each row comes from the updates, behind the
 * data, or from where it was; or it is to join parts, where the places are neighbours.
 */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONDITIONS 4096 /* of Compress */
#define OPERATORS 4096      /* bytes that those take which one scatter becomes */

/* The result where there are no indices, which has their dimensions. */
static bool gather_nothing(struct onnx_import *im, const struct tdl_tensor_params *x,
                           const struct tdl_tensor_params *indices, uint32_t axis, bool whole)
{
    struct tdl_tensor_params out = *indices;

    out.dtype = x->dtype;
    if (whole && x->rank - 1 + indices->rank > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "%u dimensions of nothing", x->rank - 1 + indices->rank);
    out.rank = whole ? x->rank - 1 + indices->rank : indices->rank;
    for (uint32_t i = 0; whole && i < out.rank; i++)
        out.shape[i] = i < axis                   ? x->shape[i]
                       : i < axis + indices->rank ? indices->shape[i - axis]
                                                  : x->shape[i + 1 - indices->rank];
    return onnx_give_empty(im, 0, &out);
}

/* GatherElements' input as far as its indices reach along the other axes. */
static struct tdl_operand *within_indices(struct onnx_import *im, struct tdl_operand *x,
                                          const struct tdl_operand *indices, uint32_t axis)
{
    const uint32_t *s = tdl_kit_shape(x), *t = tdl_kit_shape(indices);
    struct tdl_slice_params p = {{0}};
    bool smaller = false;

    for (uint32_t i = 0; i < tdl_kit_rank(x) && tdl_kit_rank(x) == tdl_kit_rank(indices); i++) {
        const bool cut = i != axis && t[i] < s[i];

        p.size[i] = cut ? t[i] : s[i];
        smaller |= cut;
    }
    return smaller ? tdl_builder_slice(im->builder, x, &p) : x;
}

static bool add_gather(struct onnx_import *im)
{
    struct tdl_tensor_params desc, indices_desc;
    struct tdl_operand *x, *indices;
    uint32_t axis;

    if (!onnx_desc(im, 0, &desc) || !onnx_desc(im, 1, &indices_desc) ||
        !tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), desc.rank, &axis))
        return false;
    const bool whole = !strcmp(im->node.row->name, "Gather");
    if (onnx_is_empty(im, 1))
        return gather_nothing(im, &desc, &indices_desc, axis, whole);
    x = onnx_operand(im, 0);
    indices = x ? onnx_operand(im, 1) : NULL;
    if (!indices)
        return false;
    if (!whole && !(x = within_indices(im, x, indices, axis)))
        return false;
    return onnx_give(im, (whole ? tdl_builder_gather : tdl_builder_gather_elements)(im->builder, x,
                                                                                    indices, axis));
}

static uint64_t elements(const uint32_t *shape, uint32_t from, uint32_t to)
{
    uint64_t count = 1;

    for (uint32_t i = from; i < to; i++)
        count *= shape[i];
    return count;
}

/* Places are counted as int32. */
static bool countable(struct onnx_import *im, const struct tdl_operand *o)
{
    const uint64_t count = elements(tdl_kit_shape(o), 0, tdl_kit_rank(o));

    return count <= INT32_MAX ||
           tdl_kit_lacks(&im->kit, "%llu elements; libtdl finds places among up to 2^31",
                         (unsigned long long)count);
}

static bool add_gather_nd(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *indices = x ? onnx_operand(im, 1) : NULL;
    const int64_t batch = onnx_int(im, "batch_dims", 0);

    if (!indices)
        return false;
    if (batch < 0 || batch >= TDL_MAX_RANK)
        return tdl_kit_damaged(&im->kit, "batch_dims is %lld; it is 0 to %d", (long long)batch,
                               TDL_MAX_RANK - 1);
    if (tdl_kit_rank(indices) < 1)
        return tdl_kit_damaged(&im->kit, "indices of no dimensions are no tuples");
    return onnx_give(im, tdl_builder_gather_nd(im->builder, x, indices, (uint32_t)batch));
}

/* -------------------------------------------------------------------- scatter */

/* Rows of the data, and rows of updates with the place of each of them in the data. */
struct scattered {
    struct tdl_operand *x, *updates; /* [rows, elements of each] */
    uint32_t rows, more;
    int32_t *to;
};

static bool are_neighbours(const struct scattered *s)
{
    for (uint32_t i = 1; i < s->more; i++)
        if (s->to[i] != s->to[0] + (int32_t)i)
            return false;
    return true;
}

/* Updates of neighbours lie between the data before them and the data behind. */
static struct tdl_operand *replace_neighbours(struct onnx_import *im, const struct scattered *s)
{
    const uint32_t first = (uint32_t)s->to[0], behind = first + s->more;
    const uint32_t elements = tdl_kit_shape(s->x)[1];
    const struct tdl_slice_params before = {.size = {first, elements}};
    const struct tdl_slice_params after = {.start = {behind}, .size = {s->rows - behind, elements}};
    struct tdl_operand *parts[3];
    uint32_t count = 0;

    if (first > 0)
        parts[count++] = tdl_builder_slice(im->builder, s->x, &before);
    parts[count++] = s->updates;
    if (behind < s->rows)
        parts[count++] = tdl_builder_slice(im->builder, s->x, &after);
    return count > 1 ? tdl_builder_concat(im->builder, parts, count, 0) : s->updates;
}

/* The updates' places are known, so to scatter is to gather: each row of the result is from the
 * data, or the last update of its place. */
static struct tdl_operand *replace_rows(struct onnx_import *im, const struct scattered *s)
{
    const struct tdl_tensor_params desc = {.dtype = TDL_INT32, .rank = 1, .shape = {s->rows}};
    int32_t *from = tdl_kit_make(&im->kit, s->rows * sizeof(*from));
    struct tdl_operand *parts[] = {s->x, s->updates}, *indices;

    if (!from)
        return NULL;
    for (uint32_t i = 0; i < s->rows; i++)
        from[i] = (int32_t)i;
    for (uint32_t i = 0; i < s->more; i++)
        from[s->to[i]] = (int32_t)(s->rows + i);
    indices = tdl_builder_constant(im->builder, &desc, from, s->rows * sizeof(*from));
    return indices ? tdl_builder_gather(im->builder, tdl_builder_concat(im->builder, parts, 2, 0),
                                        indices, 0)
                   : NULL;
}

static bool give_scattered(struct onnx_import *im, struct tdl_operand *x,
                           struct tdl_operand *updates, uint32_t slice, int32_t *to)
{
    const uint32_t rank = tdl_kit_rank(x);
    uint32_t shape[TDL_MAX_RANK];
    struct scattered s = {.to = to};

    if (!tdl_kit_spend(&im->kit, OPERATORS))
        return false;
    memcpy(shape, tdl_kit_shape(x), rank * sizeof(*shape));
    s.rows = (uint32_t)(elements(shape, 0, rank) / slice);
    s.more = (uint32_t)(elements(tdl_kit_shape(updates), 0, tdl_kit_rank(updates)) / slice);
    s.x = onnx_reshape(im, x, 2, (const uint32_t[]){s.rows, slice});
    s.updates = onnx_reshape(im, updates, 2, (const uint32_t[]){s.more, slice});
    if (!s.x || !s.updates)
        return false;
    x = are_neighbours(&s) ? replace_neighbours(im, &s) : replace_rows(im, &s);
    return x && onnx_give(im, onnx_reshape(im, x, rank, shape));
}

/* ScatterND: the last dimension of the indices is a tuple, updates are what lies behind
 * the dimensions that it names, `out_slice` elements each. */
static bool scatter_tuples(struct onnx_import *im, const struct tdl_tensor_params *t,
                           const int64_t *indices, const uint32_t *s, uint32_t rank, uint64_t given,
                           int32_t *to, uint32_t *out_slice)
{
    const uint32_t tuple = t->rank ? t->shape[t->rank - 1] : 0;
    const uint32_t tuples = t->rank ? (uint32_t)elements(t->shape, 0, t->rank - 1) : 0;

    if (tuple < 1 || tuple > rank)
        return tdl_kit_damaged(&im->kit, "tuples of %u for %u dimensions", tuple, rank);
    *out_slice = (uint32_t)elements(s, tuple, rank);
    if ((uint64_t)tuples * *out_slice != given)
        return tdl_kit_damaged(&im->kit, "%u updates of %u elements from %llu", tuples, *out_slice,
                               (unsigned long long)given);
    for (uint32_t i = 0; i < tuples; i++) {
        uint64_t place = 0;

        for (uint32_t d = 0; d < tuple; d++) {
            const int64_t index = indices[(size_t)i * tuple + d], size = s[d];

            if (index < -size || index >= size)
                return tdl_kit_damaged(&im->kit, "there is no element %lld of %lld",
                                       (long long)index, (long long)size);
            place = place * s[d] + (uint64_t)(index < 0 ? index + size : index);
        }
        to[i] = (int32_t)place;
    }
    return true;
}

/* ScatterElements: each update goes where it stands itself, but for the axis. */
static bool scatter_elements(struct onnx_import *im, const struct tdl_tensor_params *t,
                             const int64_t *indices, const uint32_t *s, uint32_t rank,
                             uint32_t axis, uint64_t given, int32_t *to)
{
    const uint32_t numbers = (uint32_t)elements(t->shape, 0, t->rank);

    if (t->rank != rank || numbers != given)
        return tdl_kit_damaged(&im->kit,
                               "%u indices in %u dimensions for %u dimensions and %llu updates",
                               numbers, t->rank, rank, (unsigned long long)given);
    for (uint32_t i = 0; i < numbers; i++) {
        uint64_t place = 0, stride = 1;

        for (uint32_t d = rank, left = i; d-- > 0; stride *= s[d]) {
            int64_t at = left % t->shape[d];

            left /= t->shape[d];
            if (d == axis)
                at = indices[i] < 0 ? indices[i] + s[d] : indices[i];
            if (at < 0 || at >= s[d])
                return tdl_kit_damaged(&im->kit, "there is no element %lld of %u", (long long)at,
                                       s[d]);
            place += (uint64_t)at * stride;
        }
        to[i] = (int32_t)place;
    }
    return true;
}

/* Updates whose places are known replace what is there. */
static bool replace_known(struct onnx_import *im, struct tdl_operand *x,
                          struct tdl_operand *updates, const struct tdl_tensor_params *t, bool nd,
                          uint32_t axis)
{
    const uint32_t *s = tdl_kit_shape(x), rank = tdl_kit_rank(x);
    const uint32_t numbers = (uint32_t)elements(t->shape, 0, t->rank);
    const uint64_t given = elements(tdl_kit_shape(updates), 0, tdl_kit_rank(updates));
    int64_t *indices = calloc(numbers, sizeof(*indices));
    int32_t *to = calloc(numbers, sizeof(*to));
    uint32_t got, slice = 1;
    bool ok = false;

    if (!to || !indices)
        tdl_kit_fail_memory(&im->kit);
    else if (onnx_ints(im, 1, indices, numbers, &got))
        ok = nd ? scatter_tuples(im, t, indices, s, rank, given, to, &slice)
                : scatter_elements(im, t, indices, s, rank, axis, given, to);
    ok = ok && give_scattered(im, x, updates, slice, to);
    free(indices);
    free(to);
    return ok;
}

static bool take_reduction(struct onnx_import *im, struct tdl_scatter_params *out)
{
    static const char *const names[] = {
        [TDL_SCATTER_REPLACE] = "none", [TDL_SCATTER_ADD] = "add", [TDL_SCATTER_MUL] = "mul",
        [TDL_SCATTER_MAX] = "max",      [TDL_SCATTER_MIN] = "min",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (onnx_string_is(im, "reduction", names[i])) {
            out->reduction = (enum tdl_scatter_reduction)i;
            return true;
        }
    return !onnx_has(im, "reduction") || tdl_kit_lacks(&im->kit, "a reduction by an unknown name");
}

/* Input 0, which may have no elements. */
static bool give_unchanged(struct onnx_import *im)
{
    struct tdl_tensor_params desc;

    if (!onnx_desc(im, 0, &desc))
        return false;
    return onnx_is_empty(im, 0) ? onnx_give_empty(im, 0, &desc)
                                : onnx_give(im, onnx_operand(im, 0));
}

/* The updates take the place of what is there, or join it. */
static bool add_scatter(struct onnx_import *im)
{
    const bool nd = !strcmp(im->node.row->name, "ScatterND");

    if (onnx_is_empty(im, 0) || onnx_is_empty(im, 2) || onnx_is_empty(im, 1))
        return give_unchanged(im);
    struct tdl_operand *x = onnx_operand(im, 0), *updates = x ? onnx_operand(im, 2) : NULL;
    struct tdl_operand *indices = updates ? onnx_operand(im, 1) : NULL;
    struct tdl_scatter_params how = {0};
    uint32_t axis = 0;

    if (!indices || !take_reduction(im, &how) ||
        (!nd && !tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(x), &axis)))
        return false;
    if (onnx_is_constant(im, 1) && how.reduction == TDL_SCATTER_REPLACE)
        return countable(im, x) && countable(im, updates) && countable(im, indices) &&
               replace_known(im, x, updates, tdl_kit_desc(indices), nd, axis);
    return onnx_give(
        im, nd ? tdl_builder_scatter_nd(im->builder, x, indices, updates, &how)
               : tdl_builder_scatter_elements(im->builder, x, indices, updates, axis, &how));
}

/* By a condition that is known. */
static bool take_known(struct onnx_import *im, struct tdl_operand *x, uint32_t axis)
{
    int64_t conditions[MAX_CONDITIONS];
    int32_t kept[MAX_CONDITIONS];
    uint32_t count, length = 0;

    if (!onnx_ints(im, 1, conditions, MAX_CONDITIONS, &count))
        return false;
    for (uint32_t i = 0; i < count && i < tdl_kit_shape(x)[axis]; i++)
        if (conditions[i])
            kept[length++] = (int32_t)i;
    if (length == 0)
        return tdl_kit_lacks(&im->kit, "a condition that keeps nothing");
    return onnx_give(im, tdl_builder_gather(im->builder, x,
                                            onnx_constant(im, TDL_INT32, 1, &length, kept), axis));
}

/* By one that is not: as many as there may be, and how many there are. */
static bool take_found(struct onnx_import *im, struct tdl_operand *x, uint32_t axis)
{
    struct tdl_operand *condition = onnx_operand(im, 1), *places, *count;
    struct onnx_counts counts = {{NULL}};

    if (!condition)
        return false;
    if (tdl_kit_rank(condition) != 1 || tdl_kit_elements(condition) > tdl_kit_shape(x)[axis])
        return tdl_kit_damaged(&im->kit, "%llu conditions for %u elements",
                               (unsigned long long)tdl_kit_elements(condition),
                               tdl_kit_shape(x)[axis]);
    places = onnx_find_places(im, condition, &count);
    for (uint32_t d = 0; d < tdl_kit_rank(x) && onnx_has(im, "axis"); d++)
        counts.of[d] = onnx_count(im, 0, d);
    counts.of[axis] = count;
    return onnx_give(im, tdl_builder_gather(im->builder, x, places, axis)) &&
           onnx_set_counts(im, 0, &counts);
}

/* Those elements along an axis, or of the flattened value, whose condition is true. */
static bool add_compress(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    uint32_t axis = 0, all;

    if (!x)
        return false;
    if (onnx_has(im, "axis")) {
        if (!tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(x), &axis))
            return false;
    } else {
        all = (uint32_t)elements(tdl_kit_shape(x), 0, tdl_kit_rank(x));
        x = onnx_reshape(im, x, 1, &all);
    }
    return x && (onnx_is_constant(im, 1) ? take_known : take_found)(im, x, axis);
}

/* Places and, by them, elements. */
static bool add_top_k(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *indices;
    struct tdl_top_k_params p = {.smallest = !onnx_int(im, "largest", 1)};
    uint32_t axis, count;
    int64_t k = onnx_int(im, "k", 0); /* an attribute before opset 10 */

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", -1), tdl_kit_rank(x), &axis) ||
        (im->node.input_count > 1 && !onnx_ints(im, 1, &k, 1, &count)))
        return false;
    if (k < 1 || k > tdl_kit_shape(x)[axis])
        return tdl_kit_lacks(&im->kit, "%lld elements of %u", (long long)k, tdl_kit_shape(x)[axis]);
    p.count = (uint32_t)k;
    indices = tdl_builder_top_k(im->builder, x, axis, &p);
    if (onnx_wanted(im, 1) &&
        !onnx_give_at(im, 1, tdl_builder_cast(im->builder, indices, TDL_INT64)))
        return false;
    return onnx_give(im, tdl_builder_gather_elements(im->builder, x, indices, axis));
}

const struct onnx_row onnx_rows_indices[] = {
    {"Compress", 2, 2, add_compress},
    {"Gather", 2, 2, add_gather},
    {"GatherElements", 2, 2, add_gather},
    {"GatherND", 2, 2, add_gather_nd},
    {"Scatter", 3, 3, add_scatter},
    {"ScatterElements", 3, 3, add_scatter},
    {"ScatterND", 3, 3, add_scatter},
    {"TopK", 1, 2, add_top_k},
    {0},
};
