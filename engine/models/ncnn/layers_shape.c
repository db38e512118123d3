/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers that give elements another shape, or another order of dimensions. */
#include "ncnn.h"

static struct tdl_operand *add_flatten(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t count = 1;

    for (uint32_t i = 0; x && i < tdl_kit_rank(x); i++)
        count *= tdl_kit_shape(x)[i];
    return ncnn_blob(im, x, 1, &count);
}

/* -------------------------------------------------------------------- sizes */

/* Sizes of a blob, outermost first: as parameters 2, 11, 1 and 0 have them, as far as they
 * are given. A depth is one only between channels and height. */
static uint32_t given_sizes(const struct ncnn_layer *l, int32_t unset, int32_t out[NCNN_MAX_DIMS])
{
    static const uint32_t ids[] = {2, 11, 1, 0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < NCNN_MAX_DIMS; i++) {
        const int32_t size = ncnn_int(l, ids[i], unset);

        if (i == 3 || size != unset || (count > 0 && i != 1))
            out[count++] = size;
    }
    return count;
}

/* What the other sizes leave of all elements, in the place of -1. */
static bool fill_rest(struct ncnn_import *im, const struct tdl_operand *x, uint32_t dims,
                      const int32_t *sizes, uint32_t *shape)
{
    const uint64_t count = tdl_kit_elements(x);
    uint64_t product = 1;
    int rest = -1;

    for (uint32_t i = 0; i < dims; i++) {
        if (sizes[i] == -1 && rest < 0) {
            rest = (int)i;
            continue;
        }
        shape[i] = (uint32_t)sizes[i];
        if (sizes[i] < 1 || (product *= shape[i]) > count)
            return tdl_kit_damaged(&im->kit, "a size of %d, where there are %llu elements",
                                   sizes[i], (unsigned long long)count);
    }
    if (rest >= 0)
        shape[rest] = (uint32_t)(count / product);
    return count % product == 0 ||
           tdl_kit_damaged(&im->kit, "%llu elements are no parts of %llu",
                           (unsigned long long)count, (unsigned long long)product);
}

/* They stand there with the innermost first. */
static bool evaluate_sizes(struct ncnn_import *im, const struct ncnn_layer *l,
                           int32_t out[NCNN_MAX_DIMS], uint32_t *out_dims)
{
    int32_t sizes[NCNN_MAX_DIMS];

    if (!ncnn_evaluate(im, l, 6, sizes, NCNN_MAX_DIMS, out_dims))
        return false;
    for (uint32_t i = 0; i < *out_dims; i++)
        out[i] = sizes[*out_dims - 1 - i];
    return true;
}

/* 0 is the input's own size, -1 what the others leave. */
static struct tdl_operand *add_reshape(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t shape[NCNN_MAX_DIMS] = {0}, dims = 0;
    int32_t sizes[NCNN_MAX_DIMS];
    const uint32_t *in;

    if (!x)
        return NULL;
    if (ncnn_int(l, 3, 0) != 0 || ncnn_int(l, 12, 233) != 233 || ncnn_int(l, 13, 233) != 233)
        return tdl_kit_lacks_none(&im->kit,
                                  "a batch, or another order on the way, is not supported");
    if (l->params[6].text && !evaluate_sizes(im, l, sizes, &dims))
        return NULL;
    if (!l->params[6].text)
        dims = given_sizes(l, NCNN_UNSET, sizes);
    const uint32_t in_dims = ncnn_dims(x, &in);
    for (uint32_t i = 0; i < dims; i++) {
        const uint32_t inner = dims - i; /* keeps the dimension of the input */

        if (sizes[i] == 0 && inner <= in_dims)
            sizes[i] = (int32_t)in[in_dims - inner];
    }
    return fill_rest(im, x, dims, sizes, shape) ? ncnn_blob(im, x, dims, shape) : NULL;
}

static struct tdl_operand *add_memory_data(struct ncnn_import *im, const struct ncnn_layer *l)
{
    uint32_t shape[NCNN_MAX_DIMS] = {0}, dims;
    uint64_t elements = 1;
    int32_t sizes[NCNN_MAX_DIMS];

    dims = given_sizes(l, 0, sizes);
    for (uint32_t i = 0; i < dims; i++) {
        shape[i] = (uint32_t)sizes[i];
        if (!ncnn_in_range(im, "size", sizes[i], 1))
            return NULL;
        elements *= shape[i]; /* below 2^32, times 2^16 */
        if (elements > UINT32_MAX)
            return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "too many numbers");
    }
    return ncnn_blob(
        im, ncnn_weights(im, ncnn_int(l, 21, 1) == 0, 1, (const uint32_t[]){(uint32_t)elements}),
        dims, shape);
}

/* ------------------------------------------------------------ dimensions of 1 */

/* Axes of an array as bits of `dims` dimensions; false with the builder in error. */
static bool axis_bits(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t dims,
                      uint32_t *out)
{
    int64_t axes[NCNN_MAX_VALUES];

    for (uint32_t i = 0; i < l->params[3].count; i++)
        axes[i] = ncnn_int_at(l, 3, i, 0);
    *out = 0;
    return tdl_kit_axis_bits(&im->kit, axes, l->params[3].count, dims, out);
}

static struct tdl_operand *add_expand_dims(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t shape[NCNN_MAX_DIMS], bits, dims;
    const uint32_t *in;

    if (!x)
        return NULL;
    dims = ncnn_dims(x, &in) + l->params[3].count;
    if (dims > NCNN_MAX_DIMS)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "a blob of %u dimensions", dims);
    if (!axis_bits(im, l, dims, &bits))
        return NULL;
    if (__builtin_popcount(bits) != (int)l->params[3].count)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "an axis stands there twice");
    for (uint32_t i = 0; i < dims; i++)
        shape[i] = bits >> i & 1 ? 1 : *in++;
    return ncnn_blob(im, x, dims, shape);
}

/* By an array of axes, or by a parameter for each dimension; what is no 1 stays. */
static struct tdl_operand *add_squeeze(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const uint32_t ids[][NCNN_MAX_DIMS] = {{0}, {1, 0}, {2, 1, 0}, {2, 11, 1, 0}};
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t shape[NCNN_MAX_DIMS] = {1}, bits = 0, dims, left = 0;
    const uint32_t *in;

    if (!x)
        return NULL;
    dims = ncnn_dims(x, &in);
    if (!axis_bits(im, l, dims, &bits))
        return NULL;
    for (uint32_t i = 0; i < dims && l->params[3].count == 0; i++)
        bits |= (uint32_t)(ncnn_int(l, ids[dims - 1][i], 0) != 0) << i;
    for (uint32_t i = 0; i < dims; i++)
        if (in[i] != 1 || !(bits >> i & 1))
            shape[left++] = in[i];
    return ncnn_blob(im, x, left ? left : 1, shape);
}

/* -------------------------------------------------------------------- Permute */

/* Order `n` of all orders of `dims` dimensions, sorted; outermost first. */
static void find_order(uint32_t n, uint32_t dims, uint32_t count, uint32_t *out)
{
    uint32_t left[NCNN_MAX_DIMS] = {0, 1, 2, 3};

    for (uint32_t i = 0; i < dims; i++) {
        count /= dims - i;
        const uint32_t pick = n / count;

        n %= count;
        out[i] = left[pick];
        for (uint32_t k = pick; k + 1 < dims - i; k++)
            left[k] = left[k + 1];
    }
}

static struct tdl_operand *add_permute(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const uint32_t counts[] = {1, 1, 2, 6, 24};
    const int32_t type = ncnn_int(l, 0, 0);
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t shape[NCNN_MAX_DIMS], order[NCNN_MAX_DIMS];
    const uint32_t *in;

    if (!x)
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in);
    if (type < 0 || type >= (int32_t)counts[dims])
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                            "there is no order %d of %u dimensions", type, dims);
    if (type == 0)
        return x;
    find_order((uint32_t)type, dims, counts[dims], order);
    for (uint32_t i = 0; i < dims; i++)
        shape[i] = in[order[i]];
    x = ncnn_reshape(im, x, dims, in);
    return ncnn_blob(im, tdl_builder_transpose(im->builder, x, order), dims, shape);
}

const struct ncnn_row ncnn_rows_shape[] = {
    {"ExpandDims", 1, 1, add_expand_dims},
    {"Flatten", 1, 1, add_flatten},
    {"MemoryData", 0, 0, add_memory_data},
    {"Permute", 1, 1, add_permute},
    {"Reshape", 1, 9, add_reshape},
    {"Squeeze", 1, 1, add_squeeze},
    {0},
};
