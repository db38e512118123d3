/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file models.h
 * Model files of any kind that libtdl reads, through one door.
 *
 * TensorFlow Lite: quantized tensors (int8, uint8 and int16 with scales and zero
 * points) stand for real values and are computed as such, in float32: nothing is
 * rounded or saturated between operators. Such an input or output of the model is a float32
 * input or output of real values: scale · (number − zero point). Integers
 * without scales stay what they are, bool is uint8 of 0 and 1. Sizes that the
 * converter left open are the caller's (struct tdl_model_params), or else those that
 * the file notes beside them.
 *
 * ONNX: opsets 7 to 26. float64 and bfloat16 become float32, bool uint8, 16-bit
 * integers int32; quantized operators are computed in float32, or on the CPU in eight bits, and
 * each result is rounded within one step. Sizes, axes and all
 * that shapes depend on must follow from the file and struct tdl_model_params.
 * Inputs of rank 4 that no operator on channels reads are NCHW, but where they can only
 * be pictures with the channels last (tdl_operand_get_layout()). Sizes that depend
 * on numbers (NonZero, NonMaxSuppression, Compress, and all that follows from them) are the
 * largest there may be; what does not exist has no effect on what does, and struct
 * tdl_model_params says how many elements exist. An operator that does not take such sizes is
 * refused, by the tensor's name. Weights in
 * other files (external data) must lie in the model's own folder.
 *
 * ncnn: the path of the .param file, with the .bin file of the same name beside it, so
 * by tdl_model_load() only; weights of float32 and float16. Its blobs of three dimensions
 * are [1, c, h, w] in NCHW here, those of two [h, w], of one [w]; what no layer reads is
 * an output. Sizes of pictures are the caller's (struct tdl_model_params), or else those
 * that the file has as a hint.
 *
 * TensorFlow.js: the path of the .json file, with the files of its weights in the same
 * folder, so by tdl_model_load() only; graph models, and layers models of one output a
 * layer. Weights of float32, float16, int32, bool, and of uint8 and uint16 with scales, which
 * become float32. Inputs and outputs have the names of the signature without ":0". Of Switch
 * and Merge the branch that is taken must follow from the file and struct tdl_model_params. An
 * input without a shape whose name is an output's but for its end ("r1i", "r1o"; "in", "out")
 * is a state, and gets that output's shape.
 */
#ifndef TDL_MODELS_H
#define TDL_MODELS_H

#include <tdl/dynamic.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A size for a dimension that the file leaves open. */
struct tdl_model_dimension {
    /** The file's name for it ("height"), or its place in an input ("image:2"): the
     *  input's name, and the dimension from 0 on. */
    const char *name;
    uint32_t size; /**< elements, 1 or more */
    bool optional; /**< no error where the file leaves no such dimension open */
};
/** An input that gets the same number in every run: it becomes a constant, and is no
 *  input any more. What shapes depend on must be such a one. */
struct tdl_model_number {
    const char *input; /**< the input's name in the file */
    double value;      /**< of all its elements */
};
/** The part of struct tdl_model_params that may grow. */
struct tdl_model_more {
    /** Sizes that the file leaves open are dynamic (dynamic.h): the graph takes tensors of
     *  any, by the file's names for them; one that is said by its place is of its own. What
     *  `dimensions` and `size` say is then the size of the graph's first plan. Without it, that
     *  is what the file notes, the largest of its range, or for height and width of pictures
     *  256. For another size the file is read again, which has to be the same; data of
     *  tdl_model_import() must stay valid until the graphs are destroyed. So must what
     *  `output_data` and `input_data` point to; `output` and `input` are called for each plan,
     *  on the thread that makes it, and answer alike. An input that `input` gives is dynamic
     *  where it says so itself. */
    bool dynamic;
    /** Names and ranges of such sizes, by the file's name or place, as in `dimensions`; without
     *  `dynamic` these alone are dynamic. May be NULL. */
    const struct tdl_dynamic_dimension *ranges;
    uint32_t range_count; /**< ranges in the list */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/** Sizes that a file leaves open, as plans have fixed shapes. A zeroed struct says
 *  nothing: then the text of the error names what is open. Read before the call returns. */
struct tdl_model_params {
    const struct tdl_model_dimension *dimensions; /**< sizes by name; may be NULL */
    uint32_t dimension_count;                     /**< of these */
    const struct tdl_model_number *numbers;       /**< inputs that become constants; may be NULL */
    uint32_t number_count;                        /**< of these */
    /** Height and width of inputs that are pictures (rank 4), where the file leaves
     *  them open and no dimension above says more; 0: not known, and then an open
     *  one is an error that names it. A first dimension that is left open is 1. */
    uint32_t size[2];
    /** Called for each output of the file, in its order: what is returned becomes
     *  the graph's output of that name, the operand itself or what operators make
     *  of it (a softmax, a choice of channels); NULL leaves the output out, and with
     *  it all that only it needs. May fail the builder. NULL: all, as they are. */
    struct tdl_operand *(*output)(void *data, struct tdl_builder *builder, const char *name,
                                  struct tdl_operand *operand);
    void *output_data;
    /** Called for each input of the file that is no number, before it is added: what is
     *  returned stands for it, an operand of its shape and type (of float16, float32
     *  will do, too), such as what operators make of an input of another type that the caller
     *  adds; NULL: it is added as it is. May fail the builder. NULL: all, as they are. */
    struct tdl_operand *(*input)(void *data, struct tdl_builder *builder, const char *name,
                                 const struct tdl_tensor_params *params);
    void *input_data;
    /** Outputs of ONNX files have their largest shape where sizes depend on numbers, as of boxes
     *  that are left; the elements behind what exists are 0, and -1 of int32 and int64. With this
     *  field such an output NAME has another one, NAME.shape, behind all of the file's: int32,
     *  the sizes of what exists, one for each dimension. */
    bool output_shapes;
    /** Parameters that came later; NULL: none of them. Borrowed for the call. */
    const struct tdl_model_more *more;
};

/**
 * Add a model to a builder: inputs and outputs take the names of the file, whole, though
 * without control characters, and nameless ones of TensorFlow Lite "input_0" and such; a
 * name of more than TDL_MAX_NAME bytes is refused. The kind of file is recognised by its first
 * bytes. `data` is not copied and must stay
 * valid until the builder is destroyed. Every offset is checked; a damaged file, or one of no
 * kind that is known, is TDL_ERROR_INVALID_MODEL, an operator that libtdl lacks
 * TDL_ERROR_UNSUPPORTED naming it and its index.
 * Memory and time follow the size of the file: constants that operators share,
 * be it under several names, are kept once, and a file whose constants overlap
 * so that they would be many times the file is refused.
 * @param params  what the file leaves open; NULL: nothing is known
 */
TDL_API enum tdl_result tdl_model_import(struct tdl_builder *builder, const void *data, size_t size,
                                         const struct tdl_model_params *params);
/**
 * Read a model file and import it. Only regular files of up to 1 GiB are read: a
 * pipe, a device or a folder is TDL_ERROR_IO at once. Blocking: reads the file.
 */
TDL_API enum tdl_result tdl_model_load(struct tdl_builder *builder, const char *path,
                                       const struct tdl_model_params *params);
/** The name of the kind of file number `index`, from 0 on ("TensorFlow Lite"); NULL
 *  behind the last. */
TDL_API const char *tdl_model_format_name(uint32_t index);
/** The name, as the file spells it, of operator number `index` that libtdl reads from files of
 *  kind number `format`; NULL behind the last. */
TDL_API const char *tdl_model_operator_name(uint32_t format, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
