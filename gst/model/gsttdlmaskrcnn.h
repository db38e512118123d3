/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detectors that have chosen their objects already, with a box, a class, a score and a mask for
 * each: Mask R-CNN (He et al. 2017) and what is exported like it. */
#ifndef GST_TDL_MASK_RCNN_H
#define GST_TDL_MASK_RCNN_H

#include "gsttdlobjects.h"

/* Masks [N, 1, h, w], [N, h, w] or [1, N, h, w], boxes [N, 4], labels [N] and scores [N]; or boxes
 * [N, 5] with their scores, and no fourth part. Without boxes, as SOLO (Wang et al. 2020) has none,
 * the masks are of the whole picture. All but the masks may have a dimension of 1 before
 * the others. Labels are whole numbers. */
gboolean gst_tdl_mask_rcnn_find(const struct gst_tdl_objects *objects,
                                struct tdl_operand **out_parts);
/* The union of the objects' masks, float32 from 0 to 1; NULL once the builder has failed.
 * [1, h, w, 1] where the masks have the picture's shape. Square ones, which lie in the boxes, are
 * put into a mask of a quarter of the picture's size. */
struct tdl_operand *gst_tdl_mask_rcnn_mask(const struct gst_tdl_objects *objects,
                                           struct tdl_operand *const *parts);

#endif
