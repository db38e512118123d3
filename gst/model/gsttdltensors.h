/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model's outputs as they are, for who decodes them downstream (meta=tensors). */
#ifndef GST_TDL_TENSORS_H
#define GST_TDL_TENSORS_H

#include <tdl/tdl.h>

#include "gsttdlboxes.h"

#define GST_TDL_MAX_TENSORS 40 /* graphs have 64 outputs, and masks and states need some */

struct gst_tdl_tensor {
    const gchar *binding; /* the graph's name for it; owned by the graph */
    gboolean col_major;   /* what the modelinfo file calls its order */
    GQuark id;            /* the modelinfo file's, or else the model's name for it */
    const struct tdl_tensor_params *params; /* in memory; row-major */
    guint rank, shape[TDL_MAX_RANK];        /* as the model has it */
    gboolean open[TDL_MAX_RANK];            /* the modelinfo file calls this dimension open */
};

struct gst_tdl_tensors {
    guint count;        /* 0: nobody asked for them */
    const gchar *group; /* interned: the id of them together; NULL: none was given */
    struct gst_tdl_tensor list[GST_TDL_MAX_TENSORS];
    struct gst_tdl_boxes boxes; /* of one of them */
};

/* Make the operand, which is the model's output `name`, one of these outputs of the graph, if it
 * is wanted. `moved` begins as FALSE for each graph. */
void gst_tdl_tensors_output(struct tdl_builder *builder, const struct gst_tdl_sources *sources,
                            const gchar *name, struct tdl_operand *operand, gboolean *moved);
/* TRUE for the name of such an output of a graph. */
gboolean gst_tdl_tensors_is_name(const gchar *name);
/* Find them in the graph, in its order. NULL, or what is wrong, to be freed. */
gchar *gst_tdl_tensors_find(const struct tdl_graph *graph, const struct gst_tdl_sources *sources,
                            struct gst_tdl_tensors *out);

#endif
