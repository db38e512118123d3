/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model files built into the plugin; the table is generated at build time
 * (shaders/embed.py models). */
#ifndef GST_TDL_BUNDLED_H
#define GST_TDL_BUNDLED_H

#include <stddef.h>
#include <stdint.h>

struct gst_tdl_bundled_model {
    const char *name; /* the name in the `model` property */
    const uint32_t *data;
    size_t size; /* bytes */
};
extern const struct gst_tdl_bundled_model gst_tdl_bundled_models[];
extern const size_t gst_tdl_bundled_model_count;

#endif
