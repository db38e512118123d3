/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shape.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [TDL_FLOAT32] = {"float32", 4}, [TDL_FLOAT16] = {"float16", 2}, [TDL_INT32] = {"int32", 4},
    [TDL_UINT32] = {"uint32", 4},   [TDL_INT8] = {"int8", 1},       [TDL_UINT8] = {"uint8", 1},
    [TDL_INT64] = {"int64", 8},     [TDL_UINT64] = {"uint64", 8},
};

size_t tdl_dtype_size(enum tdl_dtype dtype)
{
    return (unsigned)dtype < TDL_COUNT(dtypes) ? dtypes[dtype].size : 0;
}

const char *tdl_dtype_name(enum tdl_dtype dtype)
{
    return (unsigned)dtype < TDL_COUNT(dtypes) ? dtypes[dtype].name : "unknown";
}

const char *tdl_layout_name(enum tdl_layout layout)
{
    static const char *const names[] = {
        [TDL_LAYOUT_NHWC] = "NHWC",
        [TDL_LAYOUT_NCHW] = "NCHW",
        [TDL_LAYOUT_NC4HW4] = "NC4HW4",
    };
    return (unsigned)layout < TDL_COUNT(names) ? names[layout] : "unknown";
}

struct tdl_dims tdl_dims_in(const struct tdl_tensor_params *params, enum tdl_layout layout)
{
    uint32_t s[4] = {1, 1, 1, 1};
    for (uint32_t i = 0; i < params->rank; i++) {
        /* Dimensions beyond four count as many images. */
        uint32_t at = i + 4 > params->rank ? i + 4 - params->rank : 0;
        s[at] *= params->shape[i];
    }
    if (params->rank == 4 && layout == TDL_LAYOUT_NCHW)
        return (struct tdl_dims){.n = s[0], .c = s[1], .h = s[2], .w = s[3]};
    return (struct tdl_dims){.n = s[0], .h = s[1], .w = s[2], .c = s[3]};
}

bool tdl_has_channels_first(const struct tdl_tensor_params *params, uint32_t channels)
{
    return params->rank == 4 && !params->packing && params->shape[3] != channels &&
           params->shape[1] == channels;
}

struct tdl_dims tdl_tensor_params_dims(const struct tdl_tensor_params *params)
{
    return tdl_dims_in(params, TDL_LAYOUT_NHWC);
}

char *tdl_tensor_params_text(const struct tdl_tensor_params *params, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s[", tdl_dtype_name(params->dtype));
    for (uint32_t i = 0; i < params->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%u", i ? "," : "", params->shape[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

size_t tdl_tensor_params_size(const struct tdl_tensor_params *params)
{
    size_t count = 1, element = params ? tdl_dtype_size(params->dtype) : 0;
    if (!element || params->rank > TDL_MAX_RANK)
        return 0;
    if (params->packing == TDL_PACKING_C4) {
        struct tdl_dims d = tdl_tensor_params_dims(params);
        uint32_t packed[] = {d.n, TDL_DIV_UP(d.c, 4), d.h, d.w, 4};
        for (size_t i = 0; i < TDL_COUNT(packed); i++)
            if (__builtin_mul_overflow(count, packed[i], &count))
                return 0;
    } else {
        for (uint32_t i = 0; i < params->rank; i++)
            if (__builtin_mul_overflow(count, params->shape[i], &count))
                return 0;
    }
    return __builtin_mul_overflow(count, element, &count) ? 0 : count;
}

enum tdl_result tdl_tensor_params_check(const struct tdl_tensor_params *params)
{
    TDL_NEED(params, "params");
    const char *label = params->label ? params->label : "tensor";
    if (TDL_IS_UNKNOWN(params))
        return tdl_fail_unknown(label);
    if (!tdl_dtype_size(params->dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: data type %d does not exist", label,
                        params->dtype);
    if (params->rank > TDL_MAX_RANK)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: rank %u; %d at most", label, params->rank,
                        TDL_MAX_RANK);
    if ((unsigned)params->packing > TDL_PACKING_C4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: there is no packing %d", label,
                        params->packing);
    if (params->packing == TDL_PACKING_C4 && params->rank != 4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: packs need rank 4", label);
    if (!tdl_tensor_params_size(params))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: every dimension must be 1 or more, and the size fit in memory", label);
    return TDL_OK;
}

/* --------------------------------------------------------------- values */

float tdl_half_to_float(uint16_t half)
{
    /* IEEE 754 binary16, section 3.4. */
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 0x1f;
    uint32_t fraction = half & 0x3ff, bits;
    float value;
    if (exponent == 31) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint16_t tdl_float_to_half(float value)
{
    /* Round to nearest, ties to even, as IEEE 754 section 4.3.1. */
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint16_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) /* a NaN stays one */
        return (uint16_t)(sign | 0x7e00);
    if (bits >= 0x477ff000) /* 65520 and more */
        return (uint16_t)(sign | 0x7c00);
    if (bits < 0x38800000) /* less than 2^-14: in units of 2^-24 */
        return (uint16_t)(sign | (uint32_t)lrintf(fabsf(value) * 0x1p24f));
    bits += 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits - 0x38000000) >> 13));
}

uint64_t tdl_double_to_integer(enum tdl_dtype dtype, double value)
{
    static const struct {
        double limit; /* the first that is too large */
        uint64_t most;
        bool has_sign;
    } ranges[] = {
        [TDL_INT32] = {0x1p31, INT32_MAX, true}, [TDL_UINT32] = {0x1p32, UINT32_MAX, false},
        [TDL_INT8] = {0x1p7, INT8_MAX, true},    [TDL_UINT8] = {0x1p8, UINT8_MAX, false},
        [TDL_INT64] = {0x1p63, INT64_MAX, true}, [TDL_UINT64] = {0x1p64, UINT64_MAX, false},
    };
    double v = trunc(value);
    if (isnan(v))
        return 0;
    if (v >= ranges[dtype].limit)
        return ranges[dtype].most;
    if (v < 0 && !ranges[dtype].has_sign)
        return 0;
    if (v < -ranges[dtype].limit)
        return ~ranges[dtype].most;
    return v < 0 ? 0 - (uint64_t)-v : (uint64_t)v;
}
