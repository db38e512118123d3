/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The replacement picture of a composer, kept in the target's format and size. */
#ifndef TDL_KEPT_PICTURE_H
#define TDL_KEPT_PICTURE_H

#include "core.h"

#include "frame/format.h"

struct tdl_kept_picture {
    struct tdl_frame frame;  /* in the target's format; its planes share a buffer */
    struct tdl_frame source; /* the picture that it was made from */
    struct tdl_frame target; /* … for */
    float aspect, color[4];
    uint64_t before; /* the last write of its buffer before it was to be made */
    struct tdl_buffer *refs[TDL_MAX_PLANES];
};

/* Make the buffer of params->background for `target`, if it is not there. `out_stale`:
 * the picture has to be made by this batch. */
enum tdl_result tdl_kept_picture_need(struct tdl_kept_picture *kept, struct tdl_context *ctx,
                                      const struct tdl_compose_params *params,
                                      const struct tdl_frame *target, bool *out_stale);
void tdl_kept_picture_drop(struct tdl_kept_picture *kept);

#endif
