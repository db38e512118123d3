/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's random numbers. They are drawn when the model is loaded, by the node's seed or by its
 * place in the file: results can be repeated, and every run has the same ones.
 */
#include "onnx.h"

#include <math.h>
#include <string.h>

typedef struct tdl_operand *O;

/* Steele, Lea and Flood's SplitMix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From 0 on, below 1, of as many bits as a float has. */
static double uniform(uint64_t *state)
{
    return (double)(draw(state) >> 40) / 16777216.0;
}

/* Box and Muller's. */
static double normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(1 - uniform(state)));

    return radius * cos(6.283185307179586 * uniform(state));
}

static uint64_t seed_of(struct onnx_import *im)
{
    const float seed = onnx_float(im, "seed", 0);
    uint32_t bits = im->node_number;

    if (onnx_has(im, "seed"))
        memcpy(&bits, &seed, sizeof(bits));
    return bits;
}

/* `scale` times what was drawn, plus `offset`. */
static O numbers(struct onnx_import *im, const struct tdl_tensor_params *shape, bool is_normal,
                 double scale, double offset)
{
    struct tdl_tensor_params desc = *shape;
    uint64_t state = seed_of(im);

    desc.dtype = TDL_FLOAT32;
    const uint64_t size = tdl_tensor_params_size(&desc);
    float *data = tdl_kit_make(&im->kit, size);
    for (uint64_t i = 0; data && i < size / sizeof(*data); i++)
        data[i] = (float)(offset + scale * (is_normal ? normal : uniform)(&state));
    return data ? tdl_builder_constant(im->builder, &desc, data, size) : NULL;
}

/* In an attribute, or as input 0 has it. */
static bool take_shape(struct onnx_import *im, struct tdl_tensor_params *out)
{
    int64_t list[TDL_MAX_RANK];

    if (im->node.input_count)
        return onnx_desc(im, 0, out);
    *out = (struct tdl_tensor_params){.dtype = TDL_FLOAT32};
    if (!onnx_int_list(im, "shape", list, TDL_MAX_RANK, &out->rank))
        return false;
    for (uint32_t i = 0; i < out->rank; i++) {
        if (list[i] < 0 || list[i] > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a dimension of %lld elements", (long long)list[i]);
        out->shape[i] = (uint32_t)list[i];
    }
    return true;
}

static bool is_nothing(const struct tdl_tensor_params *p)
{
    for (uint32_t i = 0; i < p->rank; i++)
        if (p->shape[i] == 0)
            return true;
    return false;
}

static bool add_random(struct onnx_import *im)
{
    const bool is_normal = strstr(im->node.row->name, "Normal") != NULL;
    const int64_t type = onnx_int(im, "dtype", 0);
    struct tdl_tensor_params p;

    if (!take_shape(im, &p) || (type && !onnx_dtype(im, type, &p.dtype)))
        return false;
    if (p.dtype != TDL_FLOAT32 && p.dtype != TDL_FLOAT16)
        return tdl_kit_damaged(&im->kit, "random numbers of %s", tdl_dtype_name(p.dtype));
    const double low = (double)onnx_float(im, is_normal ? "mean" : "low", 0);
    const double high = (double)onnx_float(im, is_normal ? "scale" : "high", 1);
    return is_nothing(&p)
               ? onnx_give_empty(im, 0, &p)
               : onnx_give(im, numbers(im, &p, is_normal, is_normal ? high : high - low, low));
}

/* 1 by the probability that the input has. */
static bool add_bernoulli(struct onnx_import *im)
{
    O x = onnx_operand(im, 0), y;
    const int64_t type = onnx_int(im, "dtype", 0);
    enum tdl_dtype dtype = x ? tdl_kit_desc(x)->dtype : TDL_FLOAT32;

    if (!x || (type && !onnx_dtype(im, type, &dtype)))
        return false;
    y = numbers(im, tdl_kit_desc(x), false, 1, 0);
    y = y ? tdl_builder_lesser(im->builder, y, x) : NULL;
    if (y && tdl_kit_desc(y)->dtype != dtype)
        y = tdl_builder_cast(im->builder, y, dtype);
    return onnx_give(im, y);
}

const struct onnx_row onnx_rows_random[] = {
    {"Bernoulli", 1, 1, add_bernoulli},      {"RandomNormal", 0, 0, add_random},
    {"RandomNormalLike", 1, 1, add_random},  {"RandomUniform", 0, 0, add_random},
    {"RandomUniformLike", 1, 1, add_random}, {0},
};
