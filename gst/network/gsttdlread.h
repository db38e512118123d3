/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model's file as a graph, what its output says made a mask or what is shown. */
#ifndef GST_TDL_READ_H
#define GST_TDL_READ_H

#include "gsttdlmodel.h"
#include "model/gsttdlbundled.h"

/* The model of that name in this build, "" for the first; or NULL. */
const struct gst_tdl_bundled_model *gst_tdl_read_bundled(const gchar *name);

/* Fills the model, but for its name and "fit". Blocking. FALSE with `error`. */
gboolean gst_tdl_read(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                      const gchar *path, GError **error);
/* Reads the network for `params->stack` pictures at once, not compiled. Blocking. NULL
 * with `error`. */
struct tdl_graph *gst_tdl_read_stacked(const struct gst_tdl_model_params *params, const gchar *path,
                                       GError **error);

#endif
