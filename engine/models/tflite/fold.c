/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers that are known while the file is read: small lists of integers, such
 * as shapes, that operators compute from shapes and constants. Converters leave
 * such operators where a size was open when the model was made. Lists have one
 * dimension or none; what else there is, the builder computes.
 */
#include "tflite.h"

#include <stdlib.h>
#include <string.h>

bool tflite_get_known(struct tflite_import *im, int32_t index, struct tflite_known *out)
{
    struct tflite_tensor tensor;
    const struct tflite_value *value;

    if (index < 0 || (uint32_t)index >= im->tensors.count)
        return false;
    value = &im->values[index];
    if (value->known) {
        *out = (struct tflite_known){.rank = value->known_rank, .count = value->known_count};
        memcpy(out->numbers, value->known, out->count * sizeof(*out->numbers));
        return true;
    }
    if (value->operand || value->source || !tflite_get_tensor(im, index, &tensor) || !tensor.data)
        return false;
    if ((tensor.type != TFLITE_INT32 && tensor.type != TFLITE_INT64) ||
        tensor.elements > TFLITE_MAX_KNOWN || !tflite_get_constant(im, index, &tensor))
        return false;
    out->rank = tensor.rank;
    out->count = (uint32_t)tensor.elements;
    return tflite_integers(&tensor, out->numbers);
}

/* --------------------------------------------------------------- by operator */

#define MAX_INPUTS 16 /* of operators that are computed here */

struct fold {
    struct tflite_import *im;
    const struct tflite_op *op;
    struct tflite_known in[MAX_INPUTS], out;
};

/* The function of two numbers; false where it has no result. */
static bool of_two(int32_t code, int64_t a, int64_t b, int64_t *out)
{
    switch (code) {
    case TFLITE_ADD:
        return !__builtin_add_overflow(a, b, out);
    case TFLITE_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case TFLITE_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case TFLITE_MAXIMUM:
        *out = a > b ? a : b;
        return true;
    case TFLITE_MINIMUM:
        *out = a < b ? a : b;
        return true;
    default:
        break;
    }
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *out = a / b;
    if (code != TFLITE_DIV && a % b != 0 && (a % b < 0) != (b < 0))
        --*out;
    if (code == TFLITE_FLOOR_MOD)
        *out = a - *out * b;
    return true;
}

static bool fold_binary(struct fold *f)
{
    const struct tflite_known *a = &f->in[0], *b = &f->in[1];
    const struct tflite_known *longer = a->count > b->count || a->rank > b->rank ? a : b;

    if (a->rank > 1 || b->rank > 1 || (a->count != b->count && a->count != 1 && b->count != 1) ||
        tdl_fb_u8(&f->im->fb, &f->op->options, TFLITE_FUSED_ACTIVATION, 0) != 0)
        return false;
    f->out.rank = longer->rank;
    f->out.count = longer->count;
    for (uint32_t i = 0; i < f->out.count; i++)
        if (!of_two(f->op->row->code, a->numbers[a->count == 1 ? 0 : i],
                    b->numbers[b->count == 1 ? 0 : i], &f->out.numbers[i]))
            return false;
    return true;
}

static bool fold_shape(struct fold *f)
{
    const int32_t index = f->op->inputs[0];
    const struct tdl_tensor_params *desc = NULL;
    struct tflite_tensor tensor;

    if (index < 0 || !tflite_get_tensor(f->im, index, &tensor))
        return false;
    if (f->im->values[index].operand)
        desc = tdl_operand_get_desc(f->im->values[index].operand);
    else if (!tensor.data) /* read before it is written */
        return false;
    const uint32_t rank = desc ? desc->rank : tensor.rank;
    if (f->op->row->code == TFLITE_RANK) {
        f->out = (struct tflite_known){.count = 1, .numbers = {rank}};
        return true;
    }
    f->out.rank = 1;
    f->out.count = rank;
    for (uint32_t i = 0; i < rank; i++)
        f->out.numbers[i] = desc ? desc->shape[i] : tensor.shape[i];
    return true;
}

/* The same numbers in the file's rank for them. */
static bool fold_same(struct fold *f)
{
    struct tflite_tensor result;

    if (!tflite_get_tensor(f->im, f->op->outputs[0], &result))
        return false;
    f->out = f->in[0];
    f->out.rank = result.rank;
    return result.rank <= 1 && (result.rank == 1 || f->out.count == 1);
}

/* PACK of scalars, CONCATENATION of lists. */
static bool fold_join(struct fold *f)
{
    const uint32_t rank = f->op->row->code == TFLITE_PACK ? 0 : 1;

    f->out = (struct tflite_known){.rank = 1};
    for (uint32_t i = 0; i < f->op->input_count; i++) {
        if (f->in[i].rank != rank || f->out.count + f->in[i].count > TFLITE_MAX_KNOWN)
            return false;
        memcpy(f->out.numbers + f->out.count, f->in[i].numbers,
               f->in[i].count * sizeof(*f->out.numbers));
        f->out.count += f->in[i].count;
    }
    return true;
}

static bool fold_gather(struct fold *f)
{
    const struct tflite_known *list = &f->in[0], *at = &f->in[1];

    if (list->rank != 1 || at->rank > 1)
        return false;
    f->out.rank = at->rank;
    f->out.count = at->count;
    for (uint32_t i = 0; i < at->count; i++) {
        if (at->numbers[i] < 0 || at->numbers[i] >= list->count)
            return false;
        f->out.numbers[i] = list->numbers[at->numbers[i]];
    }
    return true;
}

/* `count` numbers from `begin` on by steps. */
static bool pick(struct fold *f, int64_t begin, int64_t count, int64_t step)
{
    if (begin < 0 || count < 1 || count > TFLITE_MAX_KNOWN)
        return false;
    f->out = (struct tflite_known){.rank = 1, .count = (uint32_t)count};
    for (uint32_t i = 0; i < count; i++) {
        const int64_t at = begin + i * step;

        if (at < 0 || at >= f->in[0].count)
            return false;
        f->out.numbers[i] = f->in[0].numbers[at];
    }
    return true;
}

static bool fold_slice(struct fold *f)
{
    const int64_t begin = f->in[1].numbers[0], size = f->in[2].numbers[0];

    return f->in[0].rank == 1 && f->in[1].count == 1 && f->in[2].count == 1 &&
           pick(f, begin, size == -1 ? (int64_t)f->in[0].count - begin : size, 1);
}

static bool fold_strided_slice(struct fold *f)
{
    struct tdl_flatbuffer *fb = &f->im->fb;
    const struct tdl_fb_table *options = &f->op->options;
    const int64_t size = f->in[0].count, step = f->in[3].numbers[0];
    const bool shrink = tdl_fb_i32(fb, options, TFLITE_STRIDED_SHRINK, 0) & 1;
    int64_t begin = f->in[1].numbers[0], end = f->in[2].numbers[0];

    if (f->in[0].rank != 1 || f->in[1].count != 1 || f->in[2].count != 1 || f->in[3].count != 1 ||
        step < 1 || step > TFLITE_MAX_KNOWN ||
        tdl_fb_i32(fb, options, TFLITE_STRIDED_ELLIPSIS, 0) != 0 ||
        tdl_fb_i32(fb, options, TFLITE_STRIDED_NEW_AXIS, 0) != 0 ||
        tdl_fb_u8(fb, options, TFLITE_STRIDED_OFFSET, 0) != 0)
        return false;
    begin += begin < 0 ? size : 0;
    end += end < 0 ? size : 0;
    if ((tdl_fb_i32(fb, options, TFLITE_STRIDED_BEGIN, 0) & 1) && !shrink)
        begin = 0;
    if ((tdl_fb_i32(fb, options, TFLITE_STRIDED_END, 0) & 1) || end > size)
        end = size;
    if (begin < 0 || begin >= size || (!shrink && end <= begin) ||
        !pick(f, begin, shrink ? 1 : (end - begin + step - 1) / step, step))
        return false;
    f->out.rank = shrink ? 0 : 1;
    return true;
}

/* REDUCE_PROD and SUM of a whole list. */
static bool fold_reduce(struct fold *f)
{
    const bool product = f->op->row->code == TFLITE_REDUCE_PROD;
    int64_t sum = product;

    if (f->in[0].rank != 1 || f->in[1].count != 1 ||
        (f->in[1].numbers[0] != 0 && f->in[1].numbers[0] != -1))
        return false;
    for (uint32_t i = 0; i < f->in[0].count; i++)
        if (!of_two(product ? TFLITE_MUL : TFLITE_ADD, sum, f->in[0].numbers[i], &sum))
            return false;
    f->out = (struct tflite_known){.count = 1, .numbers = {sum}};
    f->out.rank = tdl_fb_u8(&f->im->fb, &f->op->options, TFLITE_REDUCER_KEEP_DIMS, 0) ? 1 : 0;
    return true;
}

static bool fold_range(struct fold *f)
{
    const int64_t start = f->in[0].numbers[0], limit = f->in[1].numbers[0];
    const int64_t step = f->in[2].numbers[0];

    f->out = (struct tflite_known){.rank = 1};
    if (f->in[0].count != 1 || f->in[1].count != 1 || f->in[2].count != 1 || step == 0 ||
        start > INT32_MAX || start < INT32_MIN || step > INT32_MAX || step < INT32_MIN)
        return false;
    for (int64_t at = start; step > 0 ? at < limit : at > limit; at += step) {
        if (f->out.count == TFLITE_MAX_KNOWN)
            return false;
        f->out.numbers[f->out.count++] = at;
    }
    return f->out.count > 0;
}

static const struct {
    int32_t code;
    uint32_t known; /* inputs that must be; MAX_INPUTS: all */
    bool (*fold)(struct fold *f);
} folds[] = {
    {TFLITE_ADD, 2, fold_binary},
    {TFLITE_SUB, 2, fold_binary},
    {TFLITE_MUL, 2, fold_binary},
    {TFLITE_DIV, 2, fold_binary},
    {TFLITE_FLOOR_DIV, 2, fold_binary},
    {TFLITE_FLOOR_MOD, 2, fold_binary},
    {TFLITE_MAXIMUM, 2, fold_binary},
    {TFLITE_MINIMUM, 2, fold_binary},
    {TFLITE_SHAPE, 0, fold_shape},
    {TFLITE_RANK, 0, fold_shape},
    {TFLITE_CAST, 1, fold_same},
    {TFLITE_RESHAPE, 1, fold_same},
    {TFLITE_SQUEEZE, 1, fold_same},
    {TFLITE_EXPAND_DIMS, 1, fold_same},
    {TFLITE_PACK, MAX_INPUTS, fold_join},
    {TFLITE_CONCATENATION, MAX_INPUTS, fold_join},
    {TFLITE_GATHER, 2, fold_gather},
    {TFLITE_SLICE, 3, fold_slice},
    {TFLITE_STRIDED_SLICE, 4, fold_strided_slice},
    {TFLITE_REDUCE_PROD, 2, fold_reduce},
    {TFLITE_SUM, 2, fold_reduce},
    {TFLITE_RANGE, 3, fold_range},
};

/* Keeps the result, unless it does not fit the output's type. */
static bool keep(struct fold *f, const struct tflite_tensor *result, bool *out_done)
{
    struct tflite_value *value = &f->im->values[f->op->outputs[0]];
    const size_t size = f->out.count * sizeof(*value->known);

    for (uint32_t i = 0; i < f->out.count; i++)
        if (result->type == TFLITE_INT32 &&
            (f->out.numbers[i] < INT32_MIN || f->out.numbers[i] > INT32_MAX))
            return true;
    if (f->out.count == 0)
        return true;
    value->known = malloc(size);
    if (!value->known)
        return tdl_kit_fail_memory(&f->im->kit);
    memcpy(value->known, f->out.numbers, size);
    value->known_count = f->out.count;
    value->known_rank = f->out.rank;
    *out_done = true;
    return true;
}

bool tflite_fold(struct tflite_import *im, const struct tflite_op *op, bool *out_done)
{
    struct tflite_tensor result;
    struct fold f;
    size_t i = 0;

    *out_done = false;
    while (i < sizeof(folds) / sizeof(folds[0]) && folds[i].code != op->row->code)
        i++;
    if (i == sizeof(folds) / sizeof(folds[0]) || op->input_count > MAX_INPUTS)
        return true;
    if (!tflite_get_tensor(im, op->outputs[0], &result) ||
        !tflite_is_new(im, op->outputs[0], &result))
        return false;
    if (result.type != TFLITE_INT32 && result.type != TFLITE_INT64)
        return true;
    f.im = im;
    f.op = op;
    f.out = (struct tflite_known){0};
    for (uint32_t n = 0; n < op->input_count && n < folds[i].known; n++)
        if (!tflite_get_known(im, op->inputs[n], &f.in[n]))
            return tdl_builder_status(im->builder) == TDL_OK;
    if (!folds[i].fold(&f))
        return tflite_check(im) && tdl_builder_status(im->builder) == TDL_OK;
    return keep(&f, &result, out_done);
}
