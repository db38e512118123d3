/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network for several pictures at once, with room for them on the device. */
#ifndef GST_TDL_STACKED_H
#define GST_TDL_STACKED_H

#include "gsttdlinfer.h"

#include <tdl/batch.h>

struct gst_tdl_stacked {
    guint count; /* pictures */
    struct tdl_graph *graph;
    struct gst_tdl_stack {
        const gchar *name; /* name in the graph; NULL: none */
        struct tdl_buffer *buffer;
        struct tdl_tensor *tensor; /* tensor of that output */
        gsize size;                /* bytes of one picture */
    } input, output, indices, foreground;
    guint64 network_ns; /* wall time of a run on an idle device */
};

/* Loads the file of `model` with `params->stack` pictures: compiled, and run once.
 * Blocking, some seconds with cold caches. NULL with `error`, or without when `compile`
 * was cancelled. */
struct gst_tdl_stacked *gst_tdl_stacked_new(const struct gst_tdl_model *model,
                                            const struct gst_tdl_model_params *params,
                                            const gchar *path,
                                            const struct tdl_compile_params *compile,
                                            GError **error);
void gst_tdl_stacked_free(struct gst_tdl_stacked *stacked);

/* Add to the batch: the inputs of the networks from one picture each, the run, and their
 * outputs. There may be fewer than pictures: what is left over is computed for nobody. */
enum tdl_result gst_tdl_stacked_record(struct gst_tdl_stacked *stacked, struct tdl_batch *batch,
                                       struct gst_tdl_infer *const *infers, guint count);

#endif
