/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model files built into the plugin; the table is generated at build time
 * (shaders/embed.py models). */
#ifndef GST_TDL_MODELS_H
#define GST_TDL_MODELS_H

#include <stddef.h>
#include <stdint.h>

struct tdl_model {
    const char *name; /* the name in the `model` property */
    const uint32_t *data;
    size_t size; /* bytes */
};
extern const struct tdl_model tdl_models[];
extern const size_t tdl_model_count;

#endif
