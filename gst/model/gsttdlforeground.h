/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The foreground's own colours, which networks for matting give beside the mask. */
#ifndef GST_TDL_FOREGROUND_H
#define GST_TDL_FOREGROUND_H

#include "gsttdldecode.h"

/* As an output of the graph: [1, h, w, 3] or [1, 3, h, w] float32 of the mask's size. */
#define GST_TDL_FOREGROUND "tdl-foreground"

/* TRUE where an output may be the foreground: by "foreground-output", or by its usual
 * name. */
gboolean gst_tdl_foreground_may_be(const struct gst_tdl_sources *sources, const gchar *name);
/* TRUE where outputs of the usual name lie beside a mask of this name. */
gboolean gst_tdl_foreground_is_beside(const gchar *mask);
/* Call after the mask: make GST_TDL_FOREGROUND an output of the builder where the model
 * has it. Where "foreground-output" asks for what is not so, the builder has failed. */
void gst_tdl_foreground_finish(struct gst_tdl_decode *decode, struct tdl_builder *builder);

#endif
