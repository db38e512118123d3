/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader of model files, as the door (model.c) sees it: one row of its table. */
#ifndef TDL_MODEL_FORMAT_H
#define TDL_MODEL_FORMAT_H

#include <tdl/models.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First bytes of a file by which it can be recognised. */
#define TDL_MODEL_HEAD 8

/* A model, and where it came from. */
struct tdl_model_source {
    const void *data; /* valid until the builder is destroyed */
    size_t size;
    const char *path; /* path of the model's file; NULL where it was given as memory */
    bool writable;    /* the memory is the door's own: readers may change it */
    const struct tdl_model_params *params; /* never NULL */
};

struct tdl_model_format {
    const char *name;
    /* Is it a file of this kind, by its first bytes (fewer than TDL_MODEL_HEAD, if it
     * has no more)? */
    bool (*recognises)(const void *head, size_t size);
    /* The builder is there and has not failed, and there is data. Errors go to the
     * builder. */
    /* The operators that it knows, one after the other; NULL behind the last. */
    const char *(*operator_name)(uint32_t index);
    void (*import)(struct tdl_builder *builder, const struct tdl_model_source *source);
};

/* An output of the file becomes one of the graph, unless the caller has other plans
 * for it. False with the builder in error. */
bool tdl_model_output(struct tdl_builder *builder, const struct tdl_model_source *source,
                      const char *name, struct tdl_operand *operand);

/* An input of the file, or what the caller has for it, which is told; of float16 it may be
 * float32. NULL with the builder in error. */
struct tdl_operand *tdl_model_input(struct tdl_builder *builder,
                                    const struct tdl_model_source *source, const char *name,
                                    const struct tdl_tensor_params *desc, bool *out_given);
/* remake.c: where sizes are dynamic, have the builder know how the model is read at others. */
void tdl_model_remember(struct tdl_builder *builder, const struct tdl_model_source *source);

/* A regular file of up to 1 GiB, opened; -1 with the builder in error. */
int tdl_model_open_file(struct tdl_builder *builder, const char *path, size_t *out_size);
/* Bytes `start` to `end` of it into the same place of `data`. */
bool tdl_model_read_range(struct tdl_builder *builder, const char *path, int fd,
                          unsigned char *data, size_t start, size_t end);
/* All of it, in memory that the builder owns; NULL with the builder in error. */
void *tdl_model_read_file(struct tdl_builder *builder, const char *path, int fd, size_t size);

/* The file `name` in the folder of the source's own, read into memory that the builder
 * owns. Names come from files: what has a folder in it is refused, and what is no
 * regular file of up to 1 GiB. False with the builder in error, also where the source
 * has no path. */
bool tdl_model_read_companion(struct tdl_builder *builder, const struct tdl_model_source *source,
                              const char *name, const void **out_data, size_t *out_size);

extern const struct tdl_model_format tdl_model_ncnn;
extern const struct tdl_model_format tdl_model_onnx;
extern const struct tdl_model_format tdl_model_tfjs;
extern const struct tdl_model_format tdl_model_tflite;

#endif
