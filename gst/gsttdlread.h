/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model's file as a graph, what its output says made a mask or what is shown. */
#ifndef GST_TDL_READ_H
#define GST_TDL_READ_H

#include "gsttdlmodel.h"
#include "gsttdlmodels.h"

/* The bundled model of that name, "" for the first; NULL: it is none, or not in this
 * build, as which names of such are told apart by the other one. */
const struct tdl_model *gst_tdl_read_bundled(const gchar *name);
gboolean gst_tdl_read_is_bundled_name(const gchar *name);

/* Fills the model, but for its name and "fit". Blocking. FALSE with `error`. */
gboolean gst_tdl_read(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                      const gchar *path, GError **error);
/* The same network for `params->stack` pictures at once, not compiled. Blocking. NULL with
 * `error`. */
struct tdl_graph *gst_tdl_read_stacked(const struct gst_tdl_model_params *params, const gchar *path,
                                       GError **error);

#endif
