/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pictures that a network takes. One is the frame's, and its size is the network's;
 * others are the frame, too, at sizes of their own, or a file's picture, the same in every
 * run ("model-pictures").
 */
#ifndef GST_TDL_INPUTS_H
#define GST_TDL_INPUTS_H

#include "gsttdlfit.h"
#include "gsttdllinks.h"
#include "import/gsttdlpicture.h"

#define GST_TDL_MAX_OTHERS (GST_TDL_MAX_PICTURES - 1)

struct gst_tdl_model_picture {
    const gchar *name;                      /* owned by the graph */
    const struct tdl_tensor_params *params; /* borrowed from the graph; floats lie in packs */
    enum tdl_layout layout;                 /* the graph's */
    struct tdl_frame_to_tensor_params how;  /* the input's colours as numbers */
    gchar *file;                            /* NULL: the frame */
};

/* All pictures of a model, the frame's first. */
struct gst_tdl_model_pictures {
    guint count;
    struct gst_tdl_model_picture list[GST_TDL_MAX_PICTURES];
};
/* For tdl_model_params.input, with a struct gst_tdl_links: pictures of float16 and of
 * bytes take float32 from here on. */
struct tdl_operand *gst_tdl_inputs_read(void *links, struct tdl_builder *builder, const char *name,
                                        const struct tdl_tensor_params *params);
/* Read the graph's inputs `ids`; `how` is what the properties say of all. NULL, or what
 * is wrong, to be freed. */
gchar *gst_tdl_inputs_find(struct gst_tdl_model_pictures *out, const struct gst_tdl_links *links,
                           const struct gst_tdl_sources *sources, const struct tdl_graph *graph,
                           const guint *ids, guint count,
                           const struct tdl_frame_to_tensor_params *how);
void gst_tdl_inputs_clear(struct gst_tdl_model_pictures *pictures);
/* Sizes that a file leaves open, and that nothing else has given. */
guint gst_tdl_inputs_dimensions(const struct gst_tdl_sources *sources,
                                struct tdl_model_dimension *dimensions, gchar **places, guint room);

/* An element's tensors for all but the first, in their order. */
struct gst_tdl_aux_inputs {
    struct tdl_tensor *tensors[GST_TDL_MAX_OTHERS];
    struct gst_tdl_picture *files[GST_TDL_MAX_OTHERS];
};
/* Blocking, as files are read. */
gboolean gst_tdl_aux_inputs_init(struct gst_tdl_aux_inputs *others, struct tdl_context *context,
                                 const struct gst_tdl_model_pictures *pictures, GError **error);
void gst_tdl_aux_inputs_finish(struct gst_tdl_aux_inputs *others);
/* Put the files' pictures where they belong, once and for all. Blocking. */
enum tdl_result gst_tdl_aux_inputs_fill(struct gst_tdl_aux_inputs *others,
                                        struct tdl_context *context,
                                        const struct gst_tdl_model_pictures *pictures, gint fit);
/* Compile what frames like this one need. Blocking. */
enum tdl_result gst_tdl_aux_inputs_prepare(const struct gst_tdl_aux_inputs *others,
                                           const struct gst_tdl_model_pictures *pictures,
                                           const struct tdl_frame *frame,
                                           const struct tdl_compile_params *compile);
/* The frame to each that takes it. */
enum tdl_result gst_tdl_aux_inputs_record(const struct gst_tdl_aux_inputs *others,
                                          const struct gst_tdl_model_pictures *pictures, gint fit,
                                          struct tdl_batch *batch, const struct tdl_frame *frame,
                                          gfloat pixel_aspect);
guint gst_tdl_aux_inputs_bind(const struct gst_tdl_aux_inputs *others,
                              const struct gst_tdl_model_pictures *pictures,
                              struct tdl_binding *inputs);

#endif
