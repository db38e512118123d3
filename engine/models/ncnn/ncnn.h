/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files of the reader of ncnn's models: ncnn.c walks the layers,
 * param.c reads their text, weights.c the binary file beside it, layers_*.c turn
 * layers into builder calls.
 *
 * ncnn's blobs have no batch. Here those of four dimensions are [1, c, d, h, w], those of
 * three [1, c, h, w] in NCHW, those of two [h, w], of one [w].
 */
#ifndef TDL_NCNN_H
#define TDL_NCNN_H

#include "models/kit/kit.h"

#define NCNN_MAX_ARGS 64   /* bottoms or tops of a layer */
#define NCNN_MAX_PARAMS 32 /* numbers of parameters are below this */
#define NCNN_MAX_VALUES 64 /* in all arrays of a layer */
#define NCNN_UNSET (-233)  /* "not given" in ncnn's files */
#define NCNN_MAX_DIMS 4    /* of a blob */

/* A cursor over text that has no end of its own. */
struct ncnn_text {
    const char *at, *end;
    uint32_t line; /* from 1 on */
};

/* One line of the file. Its bottoms and tops are numbers of blobs. */
struct ncnn_layer {
    uint32_t index; /* from 0 on */
    char type[48], name[64];
    uint32_t bottom_count, top_count;
    uint32_t bottoms[NCNN_MAX_ARGS], tops[NCNN_MAX_ARGS];
    struct {
        bool set;
        double number;         /* value of a scalar */
        uint32_t first, count; /* count of an array, in `values` */
        const char *text;      /* of a string, not terminated; else NULL */
        uint32_t length;
    } params[NCNN_MAX_PARAMS];
    double values[NCNN_MAX_VALUES];
    uint32_t value_count;
};

struct ncnn_blob {
    const char *name;            /* in the text, not terminated */
    struct tdl_operand *operand; /* NULL until a layer made it */
    uint32_t length;
    bool used;
};

struct ncnn_import {
    struct tdl_kit kit;
    struct tdl_builder *builder; /* the kit's */
    struct ncnn_text text;
    const uint8_t *bin;
    size_t bin_size, bin_pos;
    uint64_t matrices; /* elements of those that ncnn_mix() made */
    struct ncnn_blob *blobs;
    uint32_t *slots; /* numbers of blobs + 1 by their names, 0 where there is none */
    uint32_t blob_count, blob_capacity, slot_count;
    const struct ncnn_layer *layer; /* the layer being added */
    const struct ncnn_row *row;     /* its */
};

/* `add` returns the top. */
struct ncnn_row {
    TDL_KIT_ROW(struct tdl_operand *(*add)(struct ncnn_import *im, const struct ncnn_layer *l));
    bool many_tops; /* the same in each */
    /* In the place of `add`: each top for itself; false with the builder in error. */
    bool (*add_tops)(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **tops);
};

/* ---- param.c */
/* The next word of the line in `out`, cut to what fits; its length, 0 at the line's end. */
uint32_t ncnn_word(struct ncnn_text *text, char *out, uint32_t size, const char **out_start);
/* The rest of the line goes; false at the end of the text. */
bool ncnn_next_line(struct ncnn_text *text);
/* A number, whatever the locale; false if it is none. */
bool ncnn_number(const char *word, uint32_t length, double *out);
/* A count from 0 to `most`. */
bool ncnn_count(struct ncnn_text *text, uint32_t most, uint32_t *out);
/* "4=1 -23310=1,0.2 3=1,2" up to the line's end; false with the builder in error. */
bool ncnn_read_params(struct ncnn_import *im, struct ncnn_layer *l);
int32_t ncnn_int(const struct ncnn_layer *l, uint32_t id, int32_t fallback);
float ncnn_float(const struct ncnn_layer *l, uint32_t id, float fallback);
/* Value `i` of an array, or the fallback. */
int32_t ncnn_int_at(const struct ncnn_layer *l, uint32_t id, uint32_t i, int32_t fallback);
float ncnn_value(const struct ncnn_layer *l, uint32_t id, uint32_t i, float fallback);

/* ---- expression.c */
/* Numbers of a parameter that is a string, as it has them; false with the builder in error. */
bool ncnn_evaluate(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t id, int32_t *out,
                   uint32_t capacity, uint32_t *out_count);

/* ---- blobs.c */
/* The number of the blob of a name that is there, or with `fresh` that is not and is there
 * from now on; false with the builder in error. */
bool ncnn_find_blob(struct ncnn_import *im, const char *name, uint32_t length, bool fresh,
                    uint32_t *out);

/* ---- weights.c */
/* The next constant, of `rank` sizes: float32, or with a tag before it what the tag says.
 * NULL with the builder in error. */
struct tdl_operand *ncnn_weights(struct ncnn_import *im, bool tagged, uint32_t rank,
                                 const uint32_t *shape);
/* Likewise with a tag; int8 where they are, for ncnn_scaled(). */
struct tdl_operand *ncnn_maybe_bytes(struct ncnn_import *im, uint32_t rank, const uint32_t *shape);
/* Reads the scales that follow bias and weights of layers in int8, `count` of weights, one of
 * the input, and with `results` one of the output: the weights in float32. */
struct tdl_operand *ncnn_scaled(struct ncnn_import *im, struct tdl_operand *weights, uint32_t count,
                                bool results);
/* Reads weights as plain numbers; memory is the builder's, or the file's. */
const float *ncnn_floats(struct ncnn_import *im, bool tagged, uint64_t count);
/* `count` numbers for each channel of `x`, or for each element of a vector; memory of
 * malloc() that becomes the builder's, or NULL. */
struct tdl_operand *ncnn_per_channel(struct ncnn_import *im, const struct tdl_operand *x,
                                     float *memory, uint32_t count);
/* Likewise the next `count` numbers of the file. */
struct tdl_operand *ncnn_channel_weights(struct ncnn_import *im, const struct tdl_operand *x,
                                         uint32_t count);

/* ---- layer.c */
/* How many dimensions ncnn's blob has, and their sizes in `shape`, outermost first. */
uint32_t ncnn_dims(const struct tdl_operand *x, const uint32_t **out_shape);
/* The blob of these elements in `dims` sizes. NULL for NULL. */
struct tdl_operand *ncnn_blob(struct ncnn_import *im, struct tdl_operand *x, uint32_t dims,
                              const uint32_t *shape);
/* The axis of its operand on which a blob has its channels, or its rows, or elements. */
static inline uint32_t ncnn_channel_axis(const struct tdl_operand *x)
{
    return tdl_kit_rank(x) >= 4;
}
struct tdl_operand *ncnn_bottom(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t i);
/* Whether it is a layer of one dimension, "…1D". */
bool ncnn_is_line(const struct ncnn_layer *l);
/* What a layer of windows reads: as a picture, of height 1 where it has one dimension. */
struct tdl_operand *ncnn_plane(struct ncnn_import *im, const struct ncnn_layer *l);
/* The other way round. NULL for NULL. */
struct tdl_operand *ncnn_from_plane(struct ncnn_import *im, const struct ncnn_layer *l,
                                    struct tdl_operand *x);
/* One of three dimensions. */
struct tdl_operand *ncnn_picture(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t i);
/* tdl_builder_reshape(). NULL for NULL. */
struct tdl_operand *ncnn_reshape(struct ncnn_import *im, struct tdl_operand *x, uint32_t rank,
                                 const uint32_t *shape);
/* Within what windows, steps and sizes are; false with the builder in error. */
bool ncnn_in_range(struct ncnn_import *im, const char *what, int64_t value, int64_t least);
/* An axis of a blob, outermost first, as one of its operand. */
bool ncnn_axis(struct ncnn_import *im, const struct tdl_operand *x, int32_t axis, uint32_t *out);
/* layers_interp.c: the weights by which `in` elements make element `o` of `out`, in a row of
 * zeros whose elements are `step` apart. */
typedef void ncnn_mixer(uint32_t in, uint32_t out, uint32_t o, float *row, size_t step);
/* Rows and columns of a picture mixed so to those of another size; the matrices of all of a
 * model are bounded. */
struct tdl_operand *ncnn_mix(struct ncnn_import *im, struct tdl_operand *x, const uint32_t size[2],
                             ncnn_mixer *mixer);
/* layers_functions.c: what layers have fused behind them: parameters 9 and 10. */
struct tdl_operand *ncnn_activate(struct ncnn_import *im, const struct ncnn_layer *l,
                                  struct tdl_operand *x);

/* refused.c: a layer that is in no table below; false. */
bool ncnn_refuse(struct ncnn_import *im, const struct ncnn_layer *l);

/* Tables of rows, each ends with an empty one. */
extern const struct ncnn_row ncnn_rows_conv[], ncnn_rows_eltwise[], ncnn_rows_functions[],
    ncnn_rows_image[], ncnn_rows_interp[], ncnn_rows_matrix[], ncnn_rows_move[], ncnn_rows_norm[],
    ncnn_rows_recurrent[], ncnn_rows_reduce[], ncnn_rows_shape[];

#endif
