/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file models.h
 * Model files of any kind that libtdl reads, through one door. So far:
 * TensorFlow Lite.
 */
#ifndef TDL_MODELS_H
#define TDL_MODELS_H

#include <tdl/tdl.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Add a model to a builder: inputs and outputs take the names of the file, whose
 * kind is recognised by its first bytes. `data` is not copied and must stay
 * valid until the builder is destroyed. Every offset is checked; a damaged file, or one of no
 * kind that is known, is TDL_ERROR_INVALID_MODEL, an operator that libtdl lacks
 * TDL_ERROR_UNSUPPORTED naming it and its index.
 * Memory and time follow the size of the file: constants that operators share,
 * be it under several names, are kept once, and a file whose constants overlap
 * so that they would be many times the file is refused.
 */
TDL_API enum tdl_result tdl_model_import(struct tdl_builder *builder, const void *data,
                                         size_t size);
/**
 * Read a model file and import it. Only regular files of up to 1 GiB are read: a
 * pipe, a device or a folder is TDL_ERROR_IO at once. Blocking: reads the file.
 */
TDL_API enum tdl_result tdl_model_load(struct tdl_builder *builder, const char *path);
/** The name of the kind of file number `index`, from 0 on ("TensorFlow Lite"); NULL
 *  behind the last. */
TDL_API const char *tdl_model_format_name(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
