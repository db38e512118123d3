/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Families of networks that find objects, and which of them a model's outputs belong to. */
#ifndef GST_TDL_INSTANCES_H
#define GST_TDL_INSTANCES_H

#include "gsttdlobjects.h"

/* Is that decoder one of such a family, whose outputs belong together? */
gboolean gst_tdl_instances_are(gint decoder);
/* Part of an error message: which outputs such a decoder wants. */
const gchar *gst_tdl_instances_wanted(gint decoder);
/* The union of the objects' masks, [1, h, w, 1] float32 from 0 to 1. The family is that of
 * "decoder", or with `auto` the first whose outputs are there. NULL where there is none; with
 * *out_found NULL means that the builder has failed. */
struct tdl_operand *gst_tdl_instances_decode(const struct gst_tdl_objects *objects,
                                             gboolean *out_found);

#endif
