/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An output that is shown itself (mode=picture and mode=classes): from tensor to frame. */
#ifndef GST_TDL_SHOW_H
#define GST_TDL_SHOW_H

#include "gsttdlcompose.h"

/* Add to the batch: the part of the tensor that covers the frame, shown in the target.
 * Never blocks. */
enum tdl_result gst_tdl_show_record(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                    const struct tdl_frame_from_tensor_params *params,
                                    const struct gst_tdl_mask_part *part,
                                    const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                    const struct gst_tdl_frames *frames);
/* Compile what that will need. Blocking. */
enum tdl_result gst_tdl_show_prepare(struct tdl_tensor *tensor,
                                     const struct tdl_frame_from_tensor_params *params,
                                     const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                     const struct gst_tdl_frames *frames,
                                     const struct tdl_compile_params *compile);

#endif
