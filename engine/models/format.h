/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a reader of model files is to the door (model.c): one row of its table. */
#ifndef TDL_MODEL_FORMAT_H
#define TDL_MODEL_FORMAT_H

#include <tdl/models.h>

#include <stdbool.h>
#include <stddef.h>

/* First bytes of a file by which it can be recognised. */
#define TDL_MODEL_HEAD 8

struct tdl_model_format {
    const char *name;
    /* Is it a file of this kind, by its first bytes (fewer than TDL_MODEL_HEAD, if it
     * has no more)? */
    bool (*recognises)(const void *head, size_t size);
    /* The builder is there and has not failed, and there is data. Errors go to the
     * builder. */
    void (*import)(struct tdl_builder *builder, const void *data, size_t size);
};

extern const struct tdl_model_format tdl_model_tflite;

#endif
