/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the TensorFlow Lite importer: tflite.c reads the file,
 * tensors.c its tensors, ops_*.c turn operators into builder calls. */
#ifndef TDL_TFLITE_H
#define TDL_TFLITE_H

#include "flatbuffer.h"
#include "models/kit/kit.h"
#include "schema.h"

#include "map.h"

#define TFLITE_MAX_ARGS 64  /* inputs or outputs that a supported operator has */
#define TFLITE_MAX_KNOWN 64 /* numbers of a list of sizes, axes and the like */

/* The file's description of one tensor. */
struct tflite_tensor {
    const char *name; /* "" when it has none */
    uint8_t type;     /* enum tflite_type */
    uint32_t rank;
    uint32_t shape[TDL_MAX_RANK];
    bool open[TDL_MAX_RANK]; /* the converter could not tell that size */
    uint64_t elements;
    struct tdl_fb_vector scales, zeros; /* of a quantized one, along `axis` if several */
    uint32_t axis;
    const uint8_t *data; /* NULL unless constant; not aligned */
    uint64_t data_size;  /* bytes */
    bool sparse;         /* as they lie in the file, which tflite_get_constant() mends */
};

/* The importer's knowledge of one tensor while it walks the operators. */
struct tflite_value {
    struct tdl_operand *operand; /* NULL until made */
    int32_t source;              /* the constant that a DEQUANTIZE made it from, + 1; 0: none */
};

struct tflite_import {
    struct tdl_kit kit;
    struct tdl_builder *builder; /* the kit's */
    struct tdl_flatbuffer fb;
    struct tdl_fb_vector codes, buffers, subgraphs;
    struct tdl_fb_vector tensors, operators, inputs, outputs; /* of the graph that is read */
    struct tflite_value *values;                              /* one per tensor */
    bool bounded; /* the operator's result is cut to −1 … 1: RELU_N1_TO_1, which is no activation
                   * of the builder's */
    uint32_t graph, depth; /* its number; graphs within graphs */
    uint64_t inlined;      /* operators and tensors of these in all */
    /* tflite.c's: operators may hold graphs, which add theirs by it. */
    bool (*add_operator)(struct tflite_import *im, uint32_t index);
    /* Constants that were made, to be used by all operators that read them: by struct
     * tflite_made. */
    struct tdl_map made;
    uint64_t made_bytes;
    bool has_int4, has_sparse; /* among what was made */
};

/* A constant, and what was made of it. */
enum tflite_made_kind {
    TFLITE_MADE_ALIGNED,
    TFLITE_MADE_DEPTHWISE,
    TFLITE_MADE_WIDE,
    TFLITE_MADE_REAL,
    TFLITE_MADE_BYTES,
    TFLITE_MADE_FACTORS,
    TFLITE_MADE_SCALED,
    TFLITE_MADE_DENSE,
    TFLITE_MADE_NATIVE,
};
struct tflite_made {
    uint64_t from, size; /* the constant's place in memory; of WIDE and SCALED: the operand */
    uint64_t bytes;      /* of what is made */
    uint32_t kind, type;
    uint32_t taps, channels;
    uint64_t scales, zeros, inner; /* of REAL; of DENSE: where it is described */
};

/* One operator; tensors by index in the file, -1 for one left out. */
struct tflite_op {
    uint32_t index; /* in the file */
    const struct tflite_op_row *row;
    struct tdl_fb_table options;
    struct tdl_fb_vector custom_options;
    uint32_t input_count, output_count;
    int32_t inputs[TFLITE_MAX_ARGS], outputs[TFLITE_MAX_ARGS];
};

/* `add` ends in tflite_give(). A custom operator is found by its name. */
struct tflite_op_row {
    TDL_KIT_ROW(bool (*add)(struct tflite_import *im, const struct tflite_op *op));
    uint8_t code;     /* enum tflite_code */
    uint8_t options;  /* member of the options union, 0 for none */
    uint8_t options2; /* of the second one */
    uint8_t outputs;  /* at most; 0: one */
};
#define TFLITE_OP(op, version, ...)                                                                \
    {                                                                                              \
#op, __VA_ARGS__, .newest = version, .code = TFLITE_##op                                   \
    }

/* The row of a builtin code or (code TFLITE_CUSTOM) of a custom name, or NULL. */
const struct tflite_op_row *tflite_find_row(int32_t code, const char *custom);
/* The name of row `index`; NULL behind the last. */
const char *tflite_row_name(uint32_t index);
/* The schema's name of a builtin operator, or NULL. */
const char *tflite_code_name(int32_t code);
/* "float16" and so on, for messages. */
const char *tflite_type_name(uint8_t type);

/* INVALID_MODEL if the reader found a wrong offset, false for convenience; else true. */
bool tflite_check(struct tflite_import *im);
/* "it is of a type that libtdl does not take": false for convenience. */
bool tflite_fail_type(struct tflite_import *im, int32_t index, const struct tflite_tensor *tensor);

/* subgraphs.c: the tensors and operators of that graph become those of the import. */
bool tflite_open_subgraph(struct tflite_import *im, uint32_t index);

/* Bytes of an element; 0: of a type that libtdl does not take. */
uint32_t tflite_type_size(uint8_t type);
/* Description of a tensor of the file; false with the builder in error. */
bool tflite_get_tensor(struct tflite_import *im, int32_t index, struct tflite_tensor *out);
/* Do its numbers stand for real values? */
bool tflite_is_quantized(const struct tflite_tensor *tensor);
/* The type of its operand; false where there is none. */
bool tflite_dtype(const struct tflite_tensor *tensor, enum tdl_dtype *out);
/* The operand of a tensor: an earlier result or a constant. NULL on error. */
struct tdl_operand *tflite_operand(struct tflite_import *im, int32_t index);
/* The constant behind a tensor, looking through DEQUANTIZE. False when it is
 * not constant or damaged, with the builder in error. */
bool tflite_get_constant(struct tflite_import *im, int32_t index, struct tflite_tensor *out);
/* Gives the input, a quantized one as float32, or where it is large as int8 or uint8. */
bool tflite_get_weights(struct tflite_import *im, int32_t index, struct tflite_tensor *out);
/* sparse.c: the data of a sparse constant as those of a dense one. */
bool tflite_densify(struct tflite_import *im, const struct tdl_fb_table *sparsity,
                    struct tflite_tensor *tensor);
/* The numbers of a constant of integers, as many as it has; false for floats. */
bool tflite_integers(const struct tflite_tensor *constant, int64_t *out);
/* Makes `operand` (NULL after a builder's error) the operator's output `number`,
 * after a check of its type and shape against the file's. */
bool tflite_give_at(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                    struct tdl_operand *operand);
/* Checks the one output. */
bool tflite_give(struct tflite_import *im, const struct tflite_op *op, struct tdl_operand *operand);
/* A tensor that nothing was made of yet; false with the builder in error. */
bool tflite_is_new(struct tflite_import *im, int32_t index, const struct tflite_tensor *tensor);
/* Memory for what is made of a constant, owned by the builder; *out_found says
 * that it was made already. NULL with the builder in error, also where a file
 * asks for many times its own size. */
void *tflite_make(struct tflite_import *im, const struct tflite_made *key, bool *out_found);
/* An operand for a constant whose description (data, type, shape) is given;
 * float16 is widened to float32. */
struct tdl_operand *tflite_constant_operand(struct tflite_import *im,
                                            const struct tflite_tensor *constant);

/* Integers that are known while the file is read. */
struct tflite_known {
    uint32_t count;
    int64_t numbers[TFLITE_MAX_KNOWN];
};
/* False, without an error, where they are not known, no int32 or int64, or too many. */
bool tflite_get_known(struct tflite_import *im, int32_t index, struct tflite_known *out);

#endif
