/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's products of matrices, and what attention makes of them. */
#include "ncnn.h"

#include <math.h>

/* With the last two dimensions exchanged. */
static struct tdl_operand *turned(struct ncnn_import *im, struct tdl_operand *x)
{
    uint32_t order[1 + NCNN_MAX_DIMS];
    const uint32_t rank = tdl_kit_rank(x);

    if (!x)
        return NULL;
    for (uint32_t i = 0; i < rank; i++)
        order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return tdl_builder_transpose(im->builder, x, order);
}

/* Vectors become a row of a, and a column of b, whose dimension of 1 the result lacks. */
static struct tdl_operand *add_matmul(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *a = ncnn_bottom(im, l, 0), *b = ncnn_bottom(im, l, 1), *y;
    uint32_t shape[NCNN_MAX_DIMS] = {1}, count = 0;
    const uint32_t *sizes;

    if (!a || !b)
        return NULL;
    const bool row = tdl_kit_rank(a) == 1, column = tdl_kit_rank(b) == 1;
    if (row)
        a = ncnn_reshape(im, a, 2, (const uint32_t[]){1, tdl_kit_shape(a)[0]});
    if (column)
        b = ncnn_reshape(im, b, 2, (const uint32_t[]){tdl_kit_shape(b)[0], 1});
    else if (ncnn_int(l, 0, 0))
        b = turned(im, b);
    y = tdl_builder_matmul(im->builder, a, b);
    if (!y || (!row && !column))
        return y;
    const uint32_t dims = ncnn_dims(y, &sizes);
    for (uint32_t i = 0; i < dims; i++)
        if (!(row && i == dims - 2) && !(column && i == dims - 1))
            shape[count++] = sizes[i];
    return ncnn_blob(im, y, count ? count : 1, shape);
}

/* ------------------------------------------------------------------------ Gemm */

enum { /* parameters of a Gemm */
       ALPHA = 0,
       BETA = 1,
       TURN_A = 2, /* and B */
       CONSTANT_A = 4,
       CONSTANT_B = 5,
       CONSTANT_C = 6,
       ROWS = 7,
       COLUMNS = 8,
       DEPTH = 9,
       KIND_OF_C = 10,
       IN_CHANNELS = 11,
       TURN_OUTPUT = 14,
       QUANTIZED = 18,
};

/* Rows may be channels of one row each. */
static struct tdl_operand *as_matrix(struct ncnn_import *im, struct tdl_operand *x)
{
    const uint32_t *in;

    if (!x)
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in);
    if (dims == 2)
        return x;
    if (dims != 3 || in[1] != 1)
        return tdl_kit_lacks_none(&im->kit, "a product of %u dimensions is not supported", dims);
    return ncnn_reshape(im, x, 2, (const uint32_t[]){in[0], in[2]});
}

/* Sizes of a constant matrix of the file; false with the builder in error. */
static bool constant_sizes(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t rows,
                           uint32_t columns, bool turn, uint32_t out[2])
{
    const uint32_t ids[2] = {turn ? columns : rows, turn ? rows : columns};

    for (int i = 0; i < 2; i++) {
        const int32_t size = ncnn_int(l, ids[i], 0);

        if (!ncnn_in_range(im, "size", size, 1))
            return false;
        out[i] = (uint32_t)size;
    }
    return true;
}

/* A constant of the file, or the next of the blobs. */
static struct tdl_operand *gemm_operand(struct ncnn_import *im, const struct ncnn_layer *l,
                                        bool constant, uint32_t rows, uint32_t columns, bool turn,
                                        uint32_t *next)
{
    uint32_t shape[2];

    if (constant)
        return constant_sizes(im, l, rows, columns, turn, shape) ? ncnn_weights(im, true, 2, shape)
                                                                 : NULL;
    if (*next < l->bottom_count)
        return as_matrix(im, ncnn_bottom(im, l, (*next)++));
    return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "a matrix is lacking");
}

/* The file's: a number, one for each row (1 and 2), a matrix, or one for each column. */
static bool constant_c(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **out)
{
    const int32_t kind = ncnn_int(l, KIND_OF_C, 0);
    const bool rows = kind >= 1 && kind <= 3, columns = kind >= 3;
    uint32_t shape[2];

    if (kind == -1)
        return true;
    if (kind < 0 || kind > 4)
        return tdl_kit_damaged(&im->kit, "a term of kind %d", kind);
    const int32_t m = rows ? ncnn_int(l, ROWS, 0) : 1, n = columns ? ncnn_int(l, COLUMNS, 0) : 1;
    if (!ncnn_in_range(im, "rows", m, 1) || !ncnn_in_range(im, "columns", n, 1))
        return false;
    shape[0] = (uint32_t)m;
    shape[1] = (uint32_t)n;
    *out = ncnn_weights(im, true, 2, shape);
    return *out != NULL;
}

/* A blob's: a vector of as many elements as columns, or else rows. */
static struct tdl_operand *blob_c(struct ncnn_import *im, struct tdl_operand *c, uint32_t columns)
{
    if (tdl_kit_rank(c) != 1)
        return as_matrix(im, c);
    const uint32_t count = tdl_kit_shape(c)[0], rows = count != columns ? count : 1;
    return ncnn_reshape(im, c, 2, (const uint32_t[]){rows, count / rows});
}

/* alpha · (a · b + beta · c): alpha is c's, too. */
static struct tdl_operand *add_gemm(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const float alpha = ncnn_float(l, ALPHA, 1), beta = ncnn_float(l, BETA, 1);
    const bool turn_a = ncnn_int(l, TURN_A, 0) != 0, turn_b = ncnn_int(l, TURN_A + 1, 0) != 0;
    struct tdl_gemm_params params = {
        .alpha = alpha, .beta = alpha * beta, .a_transpose = turn_a, .b_transpose = turn_b};
    struct tdl_operand *a, *b, *y;
    uint32_t next = 0;

    if (ncnn_int(l, QUANTIZED, 0) != 0)
        return tdl_kit_none(&im->kit, TDL_ERROR_UNSUPPORTED,
                            "quantized products of matrices are not supported; convert the model "
                            "without int8");
    a = gemm_operand(im, l, ncnn_int(l, CONSTANT_A, 0) == 1, ROWS, DEPTH, turn_a, &next);
    b = a ? gemm_operand(im, l, ncnn_int(l, CONSTANT_B, 0) == 1, DEPTH, COLUMNS, turn_b, &next)
          : NULL;
    if (!b || (ncnn_int(l, CONSTANT_C, 0) == 1 && !constant_c(im, l, &params.c)))
        return NULL;
    if (ncnn_int(l, CONSTANT_C, 0) != 1 && next < l->bottom_count) {
        params.c = ncnn_bottom(im, l, next);
        params.c = params.c ? blob_c(im, params.c, tdl_kit_shape(b)[!turn_b]) : NULL;
    }
    if (beta == 0) /* 0 would mean 1 */
        params.c = NULL;
    if (alpha == 0)
        return tdl_kit_lacks_none(&im->kit, "a product times 0 is not supported");
    y = tdl_builder_gemm(im->builder, a, b, &params);
    if (ncnn_int(l, TURN_OUTPUT, 0))
        y = turned(im, y);
    if (!y || !ncnn_int(l, IN_CHANNELS, 0))
        return y;
    return ncnn_blob(im, y, 3, (const uint32_t[]){tdl_kit_shape(y)[0], 1, tdl_kit_shape(y)[1]});
}

/* -------------------------------------------------------------------- attention */

/* softmax(q · kᵀ + mask) · v over the last two dimensions; k comes turned. */
static struct tdl_operand *attend(struct ncnn_import *im, struct tdl_operand *q,
                                  struct tdl_operand *k, struct tdl_operand *v,
                                  struct tdl_operand *mask)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *y = tdl_builder_matmul(b, q, k);

    if (mask)
        y = tdl_builder_add(b, y, mask);
    y = y ? tdl_builder_softmax(b, y, tdl_kit_rank(y) - 1) : NULL;
    return tdl_builder_matmul(b, y, v);
}

struct attention {
    uint32_t embed, heads, inputs[4]; /* of query, key, value, and the result's projection */
    float scale;
};

/* [rows, inputs] as [rows, outputs], with weights and bias of the file, times a factor. */
static struct tdl_operand *project(struct ncnn_import *im, struct tdl_operand *x, uint32_t outputs,
                                   uint32_t inputs, float factor)
{
    struct tdl_gemm_params params = {.alpha = factor, .beta = factor, .b_transpose = true};
    struct tdl_operand *weights = ncnn_weights(im, true, 2, (const uint32_t[]){outputs, inputs});

    params.c = weights ? ncnn_weights(im, false, 1, &outputs) : NULL;
    return params.c ? tdl_builder_gemm(im->builder, x, weights, &params) : NULL;
}

/* [rows, heads · size] as [heads, rows, size], or turned as [heads, size, rows]. */
static struct tdl_operand *split_heads(struct ncnn_import *im, struct tdl_operand *x,
                                       uint32_t heads, bool turn)
{
    const uint32_t order[] = {1, turn ? 2 : 0, turn ? 0 : 2}, *in = tdl_kit_shape(x);

    if (!x)
        return NULL;
    x = ncnn_reshape(im, x, 3, (const uint32_t[]){in[0], heads, in[1] / heads});
    return tdl_builder_transpose(im->builder, x, order);
}

static bool read_attention(struct ncnn_import *im, const struct ncnn_layer *l, struct attention *a)
{
    const int32_t embed = ncnn_int(l, 0, 0), heads = ncnn_int(l, 1, 1), size = ncnn_int(l, 2, 0);
    const int32_t key = ncnn_int(l, 3, embed), value = ncnn_int(l, 4, embed);

    if (ncnn_int(l, 7, 0) != 0 || ncnn_int(l, 18, 0) != 0)
        return tdl_kit_lacks(&im->kit, "attention with a cache, or quantized, is not supported");
    if (!ncnn_in_range(im, "embedding", embed, 1) || !ncnn_in_range(im, "heads", heads, 1) ||
        !ncnn_in_range(im, "key", key, 1) || !ncnn_in_range(im, "value", value, 1))
        return false;
    if (embed % heads || size < embed || size % embed)
        return tdl_kit_damaged(&im->kit, "%d weights for an embedding of %d in %d heads", size,
                               embed, heads);
    *a = (struct attention){
        .embed = (uint32_t)embed,
        .heads = (uint32_t)heads,
        .inputs = {(uint32_t)(size / embed), (uint32_t)key, (uint32_t)value},
        .scale = ncnn_float(l, 6, 1 / sqrtf((float)(embed / heads))),
    };
    return a->scale != 0 || tdl_kit_damaged(&im->kit, "scores times 0");
}

/* A mask for all heads is a matrix; [1, heads, rows, columns] where each has its own. */
static struct tdl_operand *read_mask(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t i)
{
    struct tdl_operand *mask = ncnn_bottom(im, l, i);

    return mask && tdl_kit_rank(mask) == 4 ? ncnn_reshape(im, mask, 3, tdl_kit_shape(mask) + 1)
                                           : mask;
}

/* Vaswani et al., arXiv:1706.03762. One blob is query, key and value; of two, the second is
 * key and value. */
static struct tdl_operand *add_attention(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const bool masked = ncnn_int(l, 5, 0) != 0;
    const uint32_t count = l->bottom_count - masked;
    struct tdl_operand *parts[3], *mask = NULL, *y;
    struct attention a = {0};

    if (count < 1 || count > 3)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%u blobs to attend to", count);
    if (!read_attention(im, l, &a) || (masked && !(mask = read_mask(im, l, count))))
        return NULL;
    for (uint32_t i = 0; i < 3; i++) { /* weights follow each other in this order */
        parts[i] = ncnn_bottom(im, l, i < count ? i : count - 1);
        if (parts[i] && tdl_kit_rank(parts[i]) != 2)
            return tdl_kit_lacks_none(&im->kit, "attention of %u dimensions instead of 2",
                                      tdl_kit_rank(parts[i]));
        parts[i] =
            parts[i] ? project(im, parts[i], a.embed, a.inputs[i], i == 0 ? a.scale : 1) : NULL;
        parts[i] = split_heads(im, parts[i], a.heads, i == 1);
        if (!parts[i])
            return NULL;
    }
    const uint32_t rows = tdl_kit_shape(parts[0])[1];
    y = attend(im, parts[0], parts[1], parts[2], mask);
    y = tdl_builder_transpose(im->builder, y, (const uint32_t[]){1, 0, 2});
    y = ncnn_reshape(im, y, 2, (const uint32_t[]){rows, a.embed});
    return y ? project(im, y, a.inputs[0], a.embed, 1) : NULL;
}

/* [groups, …] beside [groups, heads of each, …]; the last two dimensions stay. */
static struct tdl_operand *in_groups(struct ncnn_import *im, struct tdl_operand *x, uint32_t groups)
{
    const uint32_t *in = tdl_kit_shape(x);

    return ncnn_reshape(im, x, 4, (const uint32_t[]){groups, in[1] / groups, in[2], in[3]});
}

/* Heads are channels; several may share a key and a value. */
static struct tdl_operand *add_sdpa(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const bool masked = ncnn_int(l, 5, 0) != 0;
    struct tdl_operand *q = ncnn_picture(im, l, 0), *k, *v, *mask = NULL, *y;
    float scale = ncnn_float(l, 6, 0);

    if (!q || !(k = ncnn_picture(im, l, 1)) || !(v = ncnn_picture(im, l, 2)))
        return NULL;
    if (ncnn_int(l, 7, 0) != 0 || ncnn_int(l, 18, 0) != 0)
        return tdl_kit_lacks_none(&im->kit,
                                  "attention with a cache, or quantized, is not supported");
    const uint32_t *in = tdl_kit_shape(q);
    const uint32_t groups = tdl_kit_shape(k)[1], columns = tdl_kit_shape(v)[3];
    if (in[1] % groups || tdl_kit_shape(v)[1] != groups || l->bottom_count != 3u + masked)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%u heads, %u keys, %u blobs", in[1],
                            groups, l->bottom_count);
    if (masked && !(mask = ncnn_bottom(im, l, 3)))
        return NULL;
    if (mask && tdl_kit_rank(mask) == 4 && tdl_kit_shape(mask)[1] > 1)
        mask = in_groups(im, mask, groups);
    if (scale == 0)
        scale = 1 / sqrtf((float)in[3]);
    q = tdl_builder_linear(im->builder, in_groups(im, q, groups), scale, 0);
    y = attend(im, q, turned(im, in_groups(im, k, groups)), in_groups(im, v, groups), mask);
    return ncnn_blob(im, y, 3, (const uint32_t[]){in[1], in[2], columns});
}

/* ------------------------------------------------------------------------ Embed */

/* Rows of a table by their numbers, which stay within it. */
static struct tdl_operand *add_embed(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const int32_t outputs = ncnn_int(l, 0, 0), rows = ncnn_int(l, 1, 0), size = ncnn_int(l, 3, 0);
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *table, *bias = NULL;

    if (!x || !ncnn_in_range(im, "outputs", outputs, 1))
        return NULL;
    if (rows < 1 || (int64_t)rows * outputs != size || tdl_kit_rank(x) != 1)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                            "%d weights for %d rows of %d, of %u dimensions", size, rows, outputs,
                            tdl_kit_rank(x));
    if (ncnn_int(l, 18, 0) != 0)
        return tdl_kit_lacks_none(&im->kit, "a quantized table is not supported");
    const uint32_t shape[] = {(uint32_t)rows, (uint32_t)outputs};
    const float least = 0, most = (float)(rows - 1);
    table = ncnn_weights(im, true, 2, shape);
    if (table && ncnn_int(l, 2, 0))
        bias = ncnn_weights(im, false, 1, shape + 1);
    x = tdl_builder_cast(im->builder, tdl_builder_clamp(im->builder, x, &least, &most), TDL_INT32);
    x = tdl_builder_gather(im->builder, table, x, 0);
    return ncnn_int(l, 2, 0) ? tdl_builder_add(im->builder, x, bias) : x;
}

const struct ncnn_row ncnn_rows_matrix[] = {
    {"Embed", 1, 1, add_embed},   {"Gemm", 0, 3, add_gemm},
    {"MatMul", 2, 2, add_matmul}, {"MultiHeadAttention", 1, 4, add_attention},
    {"SDPA", 3, 4, add_sdpa},     {0},
};
