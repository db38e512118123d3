/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlshow.h"

#include "network/gsttdlflight.h"

static struct tdl_frame_from_tensor_params params_of(
    const struct tdl_frame_from_tensor_params *params, const struct gst_tdl_live *live,
    enum gst_tdl_mode mode, const struct gst_tdl_frames *frames)
{
    struct tdl_frame_from_tensor_params all = *params;

    if (mode == GST_TDL_MODE_CLASSES) {
        all.source = &frames->source_part;
        all.opacity = live->opacity;
    }
    return all;
}

enum tdl_result gst_tdl_show_record(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                    const struct tdl_frame_from_tensor_params *params,
                                    const struct gst_tdl_mask_part *part,
                                    const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                    const struct gst_tdl_frames *frames)
{
    struct tdl_frame_from_tensor_params all = params_of(params, live, mode, frames);
    enum tdl_result r = tdl_batch_stage(batch, GST_TDL_STAGE_COMPOSE);

    if (part->width) {
        all.crop.x = part->x;
        all.crop.y = part->y;
        all.crop.width = part->width;
        all.crop.height = part->height;
    }

    return r == TDL_OK ? tdl_frame_from_tensor(batch, tensor, &frames->target_part, &all) : r;
}

enum tdl_result gst_tdl_show_prepare(struct tdl_tensor *tensor,
                                     const struct tdl_frame_from_tensor_params *params,
                                     const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                     const struct gst_tdl_frames *frames,
                                     const struct tdl_compile_params *compile)
{
    const struct tdl_frame_from_tensor_params all = params_of(params, live, mode, frames);

    return tdl_frame_from_tensor_prepare(tensor, &frames->target_part, &all, compile);
}
