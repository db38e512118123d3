/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network of one element: a shared compiled model with tensors of its
 * own. Knows nothing of caps. */
#ifndef GST_TDL_INFER_H
#define GST_TDL_INFER_H

#include "gsttdlmodel.h"

#include <tdl/frame.h>

struct gst_tdl_infer {
    const struct gst_tdl_model *model;
    struct tdl_tensor *input, *mask; /* the mask: [1, h, w, 1] float32 */
    guint64 network_ns;              /* wall time of a run on an idle device */
};

/* Loads, compiles and warms up: blocking, seconds with cold caches. */
struct gst_tdl_infer *gst_tdl_infer_new(const struct gst_tdl_model_params *params,
                                        GError **error);
void gst_tdl_infer_free(struct gst_tdl_infer *infer);

/* Add to the batch: frame → input tensor → network → mask. Never blocks. */
enum tdl_result gst_tdl_infer_record(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                     const struct tdl_frame *frame);

#endif
