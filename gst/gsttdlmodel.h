/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled networks, shared: elements that ask for the same model, precision
 * and device get the same tdl_graph. */
#ifndef GST_TDL_MODEL_H
#define GST_TDL_MODEL_H

#include "gsttdlerror.h"

struct gst_tdl_model_params {
    struct tdl_context *context;
    const gchar *model; /* as the property: "", a bundled name or a path */
    enum tdl_precision precision;
    gboolean fuse;
};

struct gst_tdl_model {
    struct tdl_graph *graph;
    const gchar *input, *output; /* names; owned by the graph */
    const struct tdl_tensor_params *input_params, *output_params;
};

/* Blocking while it compiles, unless somebody has it compiled already.
 * Thread-safe. NULL with `error`. Give back by gst_tdl_model_release(). */
const struct gst_tdl_model *gst_tdl_model_acquire(const struct gst_tdl_model_params *params,
                                                  GError **error);
/* Never waits for a compilation that goes on elsewhere. */
void gst_tdl_model_release(const struct gst_tdl_model **model);

#endif
