/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transformers with queries, each of which is an object's classes and its mask: Mask2Former and
 * its kin (Cheng et al. 2022), and DETRs with masks. */
#ifndef GST_TDL_QUERIES_H
#define GST_TDL_QUERIES_H

#include "gsttdlobjects.h"

/* Scores of classes [1, Q, C] and masks [1, Q, h, w] or [1, h, w, Q], before sigmoid or softmax.
 * Where Q is h, too, it is the former. Unless the decoder is said, the masks have the picture's
 * aspect, and no boxes are beside. */
gboolean gst_tdl_queries_find(const struct gst_tdl_objects *objects,
                              struct tdl_operand **out_parts);
/* The same with boxes [1, Q, 4] beside them, which may be missing where the decoder is said. */
gboolean gst_tdl_queries_find_boxed(const struct gst_tdl_objects *objects,
                                    struct tdl_operand **out_parts);
/* The union of the objects' masks, [1, h, w, 1] float32 from 0 to 1; NULL once the builder has
 * failed. A softmax is over all classes, the last of which is "no object". */
struct tdl_operand *gst_tdl_queries_mask_by_softmax(const struct gst_tdl_objects *objects,
                                                    struct tdl_operand *const *parts);
/* With a sigmoid each class stands for itself, and none is "no object". */
struct tdl_operand *gst_tdl_queries_mask_by_sigmoid(const struct gst_tdl_objects *objects,
                                                    struct tdl_operand *const *parts);

#endif
