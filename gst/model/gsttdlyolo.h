/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segmentation networks of the YOLO family: boxes with coefficients, and prototypes that
 * these add up to a mask for each box (Bolya et al. 2019, "YOLACT"). */
#ifndef GST_TDL_YOLO_H
#define GST_TDL_YOLO_H

#include "gsttdlobjects.h"

/* Are these two a network's candidates, [1, 4 + classes + M, N] or the other way round,
 * and its prototypes, M channels, in that layout? Of networks that are known N follows from the
 * prototypes' size; with `sure` other numbers will do, too. */
gboolean gst_tdl_yolo_fits(const struct tdl_tensor_params *candidates,
                           const struct tdl_tensor_params *prototypes, enum tdl_layout layout,
                           gboolean sure);
/* The first two outputs that fit each other, candidates before prototypes. */
gboolean gst_tdl_yolo_find(const struct gst_tdl_objects *objects, struct tdl_operand **out_parts);
/* The union of the objects' masks, [1, h, w, 1] float32 from 0 to 1, of two that were found. NULL
 * once the builder has failed. */
struct tdl_operand *gst_tdl_yolo_mask(const struct gst_tdl_objects *objects,
                                      struct tdl_operand *const *parts);

#endif
