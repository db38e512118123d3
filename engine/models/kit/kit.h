/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every reader of model files needs, written once: memory within bounds, constants,
 * numbers that are known when a model is loaded, and sizes that a file leaves open.
 *
 * Shapes are computed by the graph's own operators: what follows from constants alone is
 * evaluated as it is added (tdl_kit_settle()), so that sizes and axes are numbers when the
 * next operator asks for them (tdl_kit_ints()).
 */
#ifndef TDL_MODELS_KIT_H
#define TDL_MODELS_KIT_H

#include "models/format.h"

/* Bytes of an input's name with its NUL; one more than the builder takes, which says so. */
#define TDL_KIT_NAME (TDL_MAX_NAME + 2)

/* What people can do about a model that a reader refuses, as clauses of its messages. */
struct tdl_kit_ways {
    const char *other; /* "export it with …": for operators, options and types that are lacking */
    const char *fixed; /* how a model gets fixed shapes, in brackets; or "" */
};

struct tdl_kit {
    struct tdl_builder *builder;
    const struct tdl_model_source *source;
    const struct tdl_model_params *params; /* the source's */
    const struct tdl_kit_ways *ways;
    uint64_t file_bytes;      /* bytes of the source, and of files beside it */
    uint64_t made_bytes;      /* bytes of constants that were computed or converted */
    uint64_t bound, numbered; /* bits of the params' dimensions and numbers that were used */
};

/* Nothing used or made yet. */
static inline struct tdl_kit tdl_kit_begin(struct tdl_builder *builder,
                                           const struct tdl_model_source *source,
                                           const struct tdl_kit_ways *ways)
{
    return (struct tdl_kit){.builder = builder,
                            .source = source,
                            .params = source->params,
                            .ways = ways,
                            .file_bytes = source->size};
}

/* ------------------------------------------------------------------ errors */

/* Puts the builder in its error state; false for convenience. What a terminal would obey of
 * the file's names, and what is no UTF-8, becomes '?'. */
bool tdl_kit_fail(struct tdl_kit *kit, enum tdl_result result, const char *format, ...)
    TDL_PRINTF(3, 4);
/* For what is well said in the file, and not to be had here: the reader's way out follows. */
bool tdl_kit_lacks(struct tdl_kit *kit, const char *format, ...) TDL_PRINTF(2, 3);
#define tdl_kit_lacks_none(kit, ...) (tdl_kit_lacks(kit, __VA_ARGS__), (void *)NULL)
/* Likewise, with a text that says itself what to do. */
#define tdl_kit_refuse(kit, ...) tdl_kit_fail(kit, TDL_ERROR_UNSUPPORTED, __VA_ARGS__)
/* For a file that is not what its own format asks for. */
#define tdl_kit_damaged(kit, ...) tdl_kit_fail(kit, TDL_ERROR_INVALID_MODEL, __VA_ARGS__)
/* NULL for convenience. */
#define tdl_kit_none(kit, result, ...) (tdl_kit_fail(kit, result, __VA_ARGS__), (void *)NULL)
bool tdl_kit_fail_memory(struct tdl_kit *kit);

/* ------------------------------------------------- numbers of files and machines */

/* Files are little-endian: whether this machine has the bytes in another order. */
#define TDL_KIT_SWAPS (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* The bits of a number of 1 to 8 bytes: as a file has it, and as this machine has it. */
uint64_t tdl_kit_file_bits(const void *bytes, size_t size);
uint64_t tdl_kit_bits(const void *number, size_t size);
/* The lowest `size` bytes of `bits` as a number of this machine. */
void tdl_kit_put_bits(void *number, uint64_t bits, size_t size);
/* Numbers of `size` bytes each of a file, as this machine has them. */
void tdl_kit_from_file(void *to, const void *from, uint64_t count, size_t size);

/* --------------------------------------------------------------- constants */

/* Bytes that are made of the files, in a bound that follows their size. False with the builder
 * in error. */
bool tdl_kit_spend(struct tdl_kit *kit, uint64_t size);
/* Zeroed memory that the builder owns, in a bound that follows the size of the files. NULL
 * with the builder in error. */
void *tdl_kit_make(struct tdl_kit *kit, uint64_t size);
/* A constant whose elements are copied; a scalar where `rank` is 0. */
struct tdl_operand *tdl_kit_constant(struct tdl_kit *kit, enum tdl_dtype dtype, uint32_t rank,
                                     const uint32_t *shape, const void *data);
/* One number as a scalar of any type. */
struct tdl_operand *tdl_kit_number(struct tdl_kit *kit, enum tdl_dtype dtype, double value);
/* One number as a scalar of an operand's type. */
struct tdl_operand *tdl_kit_like(struct tdl_kit *kit, const struct tdl_operand *like, double value);
/* One number over and over, of any shape. */
struct tdl_operand *tdl_kit_fill(struct tdl_kit *kit, const struct tdl_tensor_params *desc,
                                 double value);
/* start, start + step, …: `count` numbers, 1 or more, float32 or int32 of rank 1. */
struct tdl_operand *tdl_kit_range(struct tdl_kit *kit, enum tdl_dtype dtype, uint32_t count,
                                  double start, double step);
/* int32 of rank 1; `count` of 1 or more. */
struct tdl_operand *tdl_kit_int_list(struct tdl_kit *kit, const int32_t *list, uint32_t count);

/* ------------------------------------------------------- what is known now */

/* The operand, evaluated if it follows from constants and is small. NULL stays NULL. */
struct tdl_operand *tdl_kit_settle(struct tdl_kit *kit, struct tdl_operand *operand);
bool tdl_kit_is_known(struct tdl_kit *kit, struct tdl_operand *operand);
/* Numbers of an operand that are known now, at most `capacity`; `what` is for the message,
 * as "input 1". False with the builder in error. */
bool tdl_kit_ints(struct tdl_kit *kit, struct tdl_operand *operand, const char *what, int64_t *list,
                  uint32_t capacity, uint32_t *out_count);
bool tdl_kit_floats(struct tdl_kit *kit, struct tdl_operand *operand, const char *what,
                    double *list, uint32_t capacity, uint32_t *out_count);

/* An element of a constant of integers. */
int64_t tdl_kit_int_at(enum tdl_dtype dtype, const void *data, size_t i);

/* How many elements it has. */
uint64_t tdl_kit_elements(const struct tdl_operand *operand);
/* The operand's description; that of one element where there is none, as the builder has
 * failed. */
const struct tdl_tensor_params *tdl_kit_desc(const struct tdl_operand *operand);
static inline uint32_t tdl_kit_rank(const struct tdl_operand *operand)
{
    return tdl_kit_desc(operand)->rank;
}
static inline const uint32_t *tdl_kit_shape(const struct tdl_operand *operand)
{
    return tdl_kit_desc(operand)->shape;
}

/* -------------------------------------------------------------------- axes */

/* An axis that may count from the end; false with the builder in error, as all that follow. */
bool tdl_kit_axis(struct tdl_kit *kit, int64_t axis, uint32_t rank, uint32_t *out);
/* A list of them. */
bool tdl_kit_axes(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                  uint32_t *out);
/* A list in any order, be it several times, as bits; or as what a reduction takes. */
bool tdl_kit_axis_bits(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                       uint32_t *out);
bool tdl_kit_reduce_axes(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                         struct tdl_reduce_params *out);
/* An order of all dimensions. */
bool tdl_kit_permutation(struct tdl_kit *kit, const int64_t *list, uint32_t count, uint32_t rank,
                         uint32_t *out);
/* The shape without the dimensions of these bits; how many are left. */
uint32_t tdl_kit_without(const struct tdl_tensor_params *in, uint32_t bits, uint32_t *out);
/* The shape without the listed dimensions of 1, or without all such where none is listed. */
bool tdl_kit_squeeze(struct tdl_kit *kit, const struct tdl_tensor_params *in, const int64_t *list,
                     uint32_t count, uint32_t *out, uint32_t *out_rank);
/* The shape with a dimension of 1 more, at `axis` of the result. */
bool tdl_kit_with(struct tdl_kit *kit, const struct tdl_tensor_params *in, int64_t axis,
                  uint32_t *out_axis, uint32_t *out);

/* What SpaceToBatchND makes of `x` by blocks along dimensions 1 and on, whose sizes they divide;
 * or with `back` what BatchToSpaceND does, whose batch they divide. NULL with the builder in
 * error. */
struct tdl_operand *tdl_kit_exchange_blocks(struct tdl_kit *kit, struct tdl_operand *x,
                                            const uint32_t *block, uint32_t spatial, bool back);

/* Entries of a StridedSlice, with masks of a bit for each. */
struct tdl_kit_places {
    uint32_t count;
    int64_t begin[2 * TDL_MAX_RANK], end[2 * TDL_MAX_RANK], step[2 * TDL_MAX_RANK];
    uint32_t begin_mask, end_mask, ellipsis, new_axis, shrink;
    bool may_be_empty; /* a result without elements is no error */
};
/* The slice that they are of `in`, and the result's shape, which differs by dimensions of 1, or
 * has a 0 where nothing is left. */
bool tdl_kit_take_places(struct tdl_kit *kit, const struct tdl_kit_places *places,
                         const struct tdl_tensor_params *in, struct tdl_slice_params *params,
                         struct tdl_tensor_params *out);
/* That slice of `x` in that shape, which has elements. NULL with the builder in error. */
struct tdl_operand *tdl_kit_slice_places(struct tdl_kit *kit, struct tdl_operand *x,
                                         const struct tdl_slice_params *params,
                                         const struct tdl_tensor_params *out);

/* ----------------------------------------------------------------- windows */

/* Padding that follows from sizes: on which side the odd pixel lies. */
enum tdl_kit_same {
    TDL_KIT_AS_GIVEN,   /* it does not follow */
    TDL_KIT_SAME_UPPER, /* behind, as in TensorFlow */
    TDL_KIT_SAME_LOWER, /* before */
};
/* What SAME pads before and behind an axis of `in` pixels; else `pad` stays as it is. */
void tdl_kit_pad_same(enum tdl_kit_same same, uint32_t in, uint32_t window, uint32_t dilation,
                      uint32_t stride, uint32_t pad[2]);
/* The pads of a transposed convolution whose output has that size: what its windows reach
 * beyond it is cut off, the odd pixel where `same` says; what they do not reach is padding of
 * the output. Sizes are height and width. */
void tdl_kit_crop(enum tdl_kit_same same, const uint32_t in[2], const uint32_t window[2],
                  const uint32_t out[2], struct tdl_conv_transpose2d_params *params);
/* Likewise as the gradient of a convolution, whose padding the params say: false, with the
 * builder in error, where no input of the output's size has an output of `in` pixels. */
bool tdl_kit_crop_gradient(struct tdl_kit *kit, const uint32_t in[2], const uint32_t window[2],
                           const int64_t out[2], struct tdl_conv_transpose2d_params *params);

/* -------------------------------------------------------- tables of operators */

typedef struct tdl_operand *tdl_kit_one(struct tdl_builder *builder, struct tdl_operand *x);
typedef struct tdl_operand *tdl_kit_two(struct tdl_builder *builder, struct tdl_operand *a,
                                        struct tdl_operand *b);

#define TDL_KIT_MANY 255 /* inputs: as many as it likes */
/* The fields that a reader's row begins with: how one operator of a file becomes builder calls.
 * `add` is declared by the reader; it returns false, or NULL, with the builder in error. */
#define TDL_KIT_ROW(add)                                                                           \
    const char *name;    /* as files spell it */                                                   \
    uint8_t least, most; /* inputs that are data */                                                \
    add;                                                                                           \
    tdl_kit_one *one; /* the function of each element, for operators on one */                     \
    tdl_kit_two *two; /* the function of two elements */                                           \
    int32_t detail;   /* tells apart the operators that one function adds */                       \
    uint8_t newest    /* version that is understood, of formats that have them */
/* The tables of a reader. Each ends with a row without a name, and a row has `size` bytes. */
struct tdl_kit_tables {
    const void *const *tables;
    size_t count, size;
};
/* The row of the name of `length` bytes, or NULL. */
const void *tdl_kit_find_row(const struct tdl_kit_tables *tables, const char *name, size_t length);
/* The name of row `index` of all tables; NULL behind the last. */
const char *tdl_kit_row_name(const struct tdl_kit_tables *tables, uint32_t index);

/* ------------------------------------------------- functions of operators */

/* The arc tangent, within 2e-8 for numbers from −1 to 1; `one` is a scalar 1 of x's type. Of
 * float32 y / x in all four quadrants. */
struct tdl_operand *tdl_kit_atan(struct tdl_builder *builder, struct tdl_operand *x,
                                 struct tdl_operand *one);
struct tdl_operand *tdl_kit_atan2(struct tdl_kit *kit, struct tdl_operand *y,
                                  struct tdl_operand *x);

/* The arc sine and cosine by it, and x without its fraction; x is of float32. */
struct tdl_operand *tdl_kit_asin(struct tdl_kit *kit, struct tdl_operand *x);
struct tdl_operand *tdl_kit_acos(struct tdl_kit *kit, struct tdl_operand *x);
struct tdl_operand *tdl_kit_trunc(struct tdl_kit *kit, struct tdl_operand *x);
/* Hyperbolic functions, and their inverses. */
tdl_kit_one tdl_kit_sinh, tdl_kit_cosh, tdl_kit_asinh, tdl_kit_acosh, tdl_kit_atanh;

/* ----------------------------------------------------- what is left open */

/* An input as the file describes it. */
struct tdl_kit_input {
    char name[TDL_KIT_NAME];
    enum tdl_dtype dtype;
    enum tdl_layout layout; /* where its operators do not say it */
    bool has_rank;          /* without it the caller's sizes say how many dimensions there are */
    uint32_t rank;
    uint32_t guess;             /* dimensions where neither says how many; 0: then it is an error */
    int64_t size[TDL_MAX_RANK]; /* 0 or less: open */
    int64_t hint[TDL_MAX_RANK]; /* open sizes, where the caller says nothing; 0: none */
    struct {
        const char *data;  /* not terminated */
        size_t size;       /* 0: it has none */
    } named[TDL_MAX_RANK]; /* the file's names of dimensions */
};
/* Sizes that are still open, of all inputs: told at once. */
struct tdl_kit_open {
    uint32_t count, dimension;
    char input[256], names[640]; /* the first one's; "'h', 'w'" */
};

/* The size that the caller gave dimension `i` of the input, by the file's name for it or by its
 * place; 0: none. */
uint32_t tdl_kit_said(struct tdl_kit *kit, const struct tdl_kit_input *in, uint32_t i);
/* The number that the caller has for an input, or NULL. */
const struct tdl_model_number *tdl_kit_find_number(struct tdl_kit *kit, const char *name);
/* The shape with the caller's sizes in it; what stays open is noted, and 1 meanwhile. False
 * with the builder in error. */
bool tdl_kit_bind(struct tdl_kit *kit, const struct tdl_kit_input *in,
                  struct tdl_tensor_params *out, struct tdl_kit_open *open);
/* The graph's input, as tdl_model_input(): with what of it is dynamic. NULL with the builder in
 * error. */
struct tdl_operand *tdl_kit_add_input(struct tdl_kit *kit, const struct tdl_kit_input *in,
                                      const struct tdl_tensor_params *desc);
/* Call after the last input: is nothing open, and was everything used that the caller
 * said? False with the builder in error. */
bool tdl_kit_check_bound(struct tdl_kit *kit, const struct tdl_kit_open *open);

#endif
