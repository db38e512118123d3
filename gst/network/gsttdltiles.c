/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdltiles.h"

#include "gsttdlflight.h"

/* Whole words of every plane, as gst_tdl_rect_align() has them. */
enum { ALIGN_X = 8, ALIGN_Y = 2 };

/* The pixels that a tile within the frame keeps. */
static guint kept(const struct gst_tdl_tile_axis *t)
{
    const guint most = t->tile > t->align ? (t->tile - t->align) / 2 : 0;
    const guint length = t->tile - 2 * MIN(t->margin, most);

    return MAX(length - length % t->align, MIN(t->align, t->tile));
}

guint gst_tdl_tile_axis_count(const struct gst_tdl_tile_axis *t)
{
    return t->length <= t->tile ? 1 : (t->length + kept(t) - 1) / kept(t);
}

void gst_tdl_tile_axis_get(const struct gst_tdl_tile_axis *t, guint number, guint *out_start,
                           guint *out_begin, guint *out_end)
{
    const guint length = kept(t), before = (t->tile - length) / 2;

    if (t->length <= t->tile) {
        *out_start = *out_begin = 0;
        *out_end = t->length;
        return;
    }
    *out_begin = number * length;
    *out_end = MIN(*out_begin + length, t->length);
    *out_start = MIN(*out_begin > before ? *out_begin - before : 0, t->length - t->tile);
}

static void axes_of(const struct gst_tdl_model *model, guint width, guint height, guint margin,
                    struct gst_tdl_tile_axis *out_x, struct gst_tdl_tile_axis *out_y)
{
    const struct tdl_tensor_params *p = model->input_params;

    *out_x = (struct gst_tdl_tile_axis){ width, p->shape[2], margin, ALIGN_X };
    *out_y = (struct gst_tdl_tile_axis){ height, p->shape[1], margin, ALIGN_Y };
}

guint gst_tdl_tiles_count(const struct gst_tdl_model *model, guint width, guint height,
                          guint margin)
{
    struct gst_tdl_tile_axis x, y;

    axes_of(model, width, height, margin, &x, &y);
    return gst_tdl_tile_axis_count(&x) * gst_tdl_tile_axis_count(&y);
}

guint gst_tdl_overlap_known(struct gst_tdl_overlap *overlap, guint wanted)
{
    if (!overlap->refused || wanted != overlap->refused)
        overlap->refused = 0;
    return overlap->refused ? overlap->used : wanted;
}

guint gst_tdl_overlap_choose(struct gst_tdl_overlap *overlap, const struct gst_tdl_model *model,
                             guint width, guint height, guint wanted, GError **error)
{
    const guint tiles = gst_tdl_tiles_count(model, width, height, wanted);

    if (tiles <= GST_TDL_MAX_TILES)
        return overlap->used = wanted;
    overlap->refused = wanted;
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "tile-overlap=%u makes %u tiles of %ux%u px, and a frame may have %d: it goes on "
                "with %u. Have the model take more at once (model-size), or less tile-overlap.",
                wanted, tiles, width, height, GST_TDL_MAX_TILES, overlap->used);
    return overlap->used;
}

/* One tile: a run of the network, and what is kept of it in its place. */
static enum tdl_result record(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                              const struct gst_tdl_frames *frames, const GstVideoFormatInfo *target,
                              const struct gst_tdl_tile_axis *x, guint column,
                              const struct gst_tdl_tile_axis *y, guint row)
{
    const struct gst_tdl_model *model = infer->model;
    const guint wide = model->scale.width[0], high = model->scale.height[0]; /* as check() wants */
    struct tdl_frame_to_tensor_params picture = model->picture;
    struct tdl_frame_from_tensor_params shown = model->shown;
    guint left, top, begin[2], end[2];
    struct gst_tdl_rect place;
    struct tdl_frame part;
    enum tdl_result r;

    gst_tdl_tile_axis_get(x, column, &left, &begin[0], &end[0]);
    gst_tdl_tile_axis_get(y, row, &top, &begin[1], &end[1]);
    picture.crop.x = left;
    picture.crop.y = top;
    picture.crop.width = picture.inside.width = MIN(x->tile, x->length);
    picture.crop.height = picture.inside.height = MIN(y->tile, y->length);
    picture.pad = GST_TDL_FIT_PAD;
    r = gst_tdl_infer_run(infer, batch, &frames->source_part, &picture);
    shown.crop.x = (begin[0] - left) * wide;
    shown.crop.y = (begin[1] - top) * high;
    shown.crop.width = (end[0] - begin[0]) * wide;
    shown.crop.height = (end[1] - begin[1]) * high;
    place = (struct gst_tdl_rect){ begin[0] * wide, begin[1] * high, shown.crop.width,
                                   shown.crop.height };
    gst_tdl_geometry_crop(&frames->target_part, target, &place, &part);
    return r == TDL_OK ? tdl_frame_from_tensor(batch, infer->mask, &part, &shown) : r;
}

enum tdl_result gst_tdl_tiles_record(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                     const struct gst_tdl_frames *frames,
                                     const GstVideoFormatInfo *target, guint margin)
{
    enum tdl_result r = tdl_batch_stage(batch, GST_TDL_STAGE_NETWORK); /* all of it */
    struct gst_tdl_tile_axis x, y;

    axes_of(infer->model, frames->source_part.width, frames->source_part.height, margin, &x, &y);
    for (guint row = 0; row < gst_tdl_tile_axis_count(&y); row++)
        for (guint column = 0; column < gst_tdl_tile_axis_count(&x) && r == TDL_OK; column++)
            r = record(infer, batch, frames, target, &x, column, &y, row);
    return r;
}
