/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers in, pictures for the device out of them, and the batches on their way. */
#include "gsttdlwork.h"

#include "memory/gsttdlallocator.h"
#include "gsttdlshow.h"

#include <string.h>

G_STATIC_ASSERT(1 + GST_TDL_PICTURES <= GST_TDL_FENCED_IMPORTS);

enum gst_tdl_mode gst_tdl_work_mode(const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                                    const struct gst_tdl_video *out)
{
    const enum gst_tdl_mode wanted = live->mode,
                            mode = gst_tdl_caps_mode(wanted, GST_VIDEO_INFO_FORMAT(&in->info),
                                                     GST_VIDEO_INFO_FORMAT(&out->info));

    /* Caps of the mode before, and what those show of the frame is not to be seen. */
    return gst_tdl_live_guards(live) && mode != GST_TDL_MODE_MASK ? wanted : mode;
}

gfloat gst_tdl_work_pixel_aspect(const GstVideoInfo *info)
{
    return (gfloat)GST_VIDEO_INFO_PAR_N(info) / GST_VIDEO_INFO_PAR_D(info);
}

/* The picture in a buffer, which may be a part of what lies there, or of which only
 * a part is to be looked at: the caps are of the whole then. */
static gboolean import_source(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                              struct gst_tdl_slot *slot, const struct gst_tdl_video *in,
                              struct gst_tdl_work *work, GError **error)
{
    const GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta(work->input);
    struct gst_tdl_frames *frames = &work->frames;
    struct gst_tdl_video whole = *in;
    struct gst_tdl_rect part;
    gboolean is_part = gst_tdl_video_is_part(in, work->input, &whole, &part);

    if (!gst_tdl_import(&session->importer, work->input, &whole, !live->require_zero_copy,
                        slot->batch, &slot->staging, &work->source, error))
        return FALSE;
    frames->pixel_aspect = gst_tdl_work_pixel_aspect(&in->info);
    frames->source = work->source.frame;
    if (is_part)
        gst_tdl_geometry_crop(&work->source.frame, in->info.finfo, &part, &frames->source);
    frames->source_part = frames->source;
    if (!meta || is_part)
        return TRUE;
    work->crop = (struct gst_tdl_rect){ meta->x, meta->y, meta->width, meta->height };
    frames->cropped = gst_tdl_rect_align(frames->source.width, frames->source.height, &work->crop);
    if (frames->cropped)
        gst_tdl_geometry_crop(&frames->source, in->info.finfo, &work->crop, &frames->source_part);
    return TRUE;
}

/* Region for the network, in px of the part of the frame that it sees. */
static void find_region(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                        const struct gst_tdl_video *in, const struct gst_tdl_work *work)
{
    const struct tdl_frame *seen = &work->frames.source_part;
    const guint frame[2] = { seen->width, seen->height };
    struct gst_tdl_infer *infer = session->infer;
    struct gst_tdl_rect wanted, part = { 0 }, moved = { 0 };
    struct gst_tdl_video whole;

    memset(infer->region, 0, sizeof(infer->region));
    infer->whole[0] = work->frames.cropped ? work->crop.x : 0;
    infer->whole[1] = work->frames.cropped ? work->crop.y : 0;
    infer->whole[2] = work->frames.source.width;
    infer->whole[3] = work->frames.source.height;
    if (!live->roi || infer->model->kind != GST_TDL_OUTPUT_MASK ||
        !gst_tdl_region_find(work->input, &wanted))
        return;
    if (work->frames.cropped)
        part = work->crop;
    gst_tdl_video_is_part(in, work->input, &whole, &part);
    gst_tdl_rect_unite(&moved, (gint64)wanted.x - part.x, (gint64)wanted.y - part.y, wanted.width,
                       wanted.height);
    if (!gst_tdl_region_choose(&session->stream.region, &moved, frame, infer->region))
        memset(infer->region, 0, sizeof(infer->region));
}

/* From the source to that output. */
static void set_frames(const struct gst_tdl_work *work, struct gst_tdl_work_output *output)
{
    const struct tdl_frame *target = &output->import.frame;
    struct gst_tdl_frames *frames = &output->frames;

    *frames = work->frames;
    frames->target = frames->target_part = *target;
    if (target->width != work->frames.source.width || target->height != work->frames.source.height)
        frames->cropped = FALSE; /* a larger picture of all of it */
    if (!frames->cropped)
        frames->source_part = frames->source;
    if (frames->cropped)
        gst_tdl_geometry_crop(target, output->video->info.finfo, &work->crop, &frames->target_part);
}

/* The outputs' buffers as the GPU sees them. */
static gboolean import_targets(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                               const struct gst_tdl_target *const targets[GST_TDL_PICTURES],
                               struct gst_tdl_work *work, GError **error)
{
    gint first = -1;

    for (gint i = 0; i < GST_TDL_PICTURES; i++) {
        struct gst_tdl_work_output *output = &work->outputs[i];

        if (!work->wanted.pictures[i])
            continue;
        if (!gst_tdl_import_target(&session->importer, targets[i]->buffer, targets[i]->video,
                                   &slot->staging, &output->import, error))
            return FALSE;
        output->video = targets[i]->video;
        output->mode = i == GST_TDL_PICTURE_FRAME ? work->wanted.mode : GST_TDL_MODE_MASK;
        set_frames(work, output);
        output->frames.label = i == GST_TDL_PICTURE_LABELS;
        first = first < 0 ? i : first;
    }
    if (first >= 0)
        work->frames = work->outputs[first].frames;
    return TRUE;
}

/* Copies the classes of the shown mask. The part that covers the frame is a picture of its own. */
static enum tdl_result copy_classes(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    struct gst_tdl_work *work)
{
    const guint *shape = session->infer->model->indices->shape; /* 1, height, width */
    const struct gst_tdl_mask_part whole = { 0, 0, shape[2], shape[1] },
                                   part = session->infer->part.width ? session->infer->part : whole;
    const guint runs = part.width == shape[2] ? 1 : part.height;
    const gsize size = (gsize)part.width * part.height / runs;
    enum tdl_result r = TDL_OK;
    gsize offset = 0;
    struct tdl_buffer *buffer = gst_tdl_allocator_find_buffer(
        gst_buffer_peek_memory(work->classes, 0), session->device, &offset);

    for (guint i = 0; i < runs && r == TDL_OK; i++)
        r = tdl_batch_tensor_to_buffer(slot->batch, session->infer->indices,
                                       (gsize)(part.y + i) * shape[2] + part.x, buffer,
                                       offset + i * size, size);
    work->classes_size[0] = part.width;
    work->classes_size[1] = part.height;
    return r;
}

/* Shows the network's output: that of this frame, or an earlier one. */
static enum tdl_result show(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                            const struct gst_tdl_live *live, struct gst_tdl_work *work,
                            const struct gst_tdl_work_output *output)
{
    enum tdl_result r = TDL_OK;

    if (output->frames.cropped)
        r = gst_tdl_compose_around(&session->compose, slot->batch, live, output->mode,
                                   &output->frames);
    if (r == TDL_OK)
        r = gst_tdl_show_record(slot->batch, session->infer->mask, &session->infer->model->shown,
                                &session->infer->part, live, output->mode, &output->frames);
    return r == TDL_OK && work->classes ? copy_classes(session, slot, work) : r;
}

/* As it is now, for who reads it later. */
static enum tdl_result copy_tensor(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                   struct tdl_tensor *tensor, GstBuffer *to)
{
    gsize offset = 0;
    struct tdl_buffer *buffer =
        gst_tdl_allocator_find_buffer(gst_buffer_peek_memory(to, 0), session->device, &offset);

    return tdl_batch_tensor_to_buffer(slot->batch, tensor, 0, buffer, offset,
                                      gst_buffer_get_size(to));
}

/* The mask, and all outputs, of those that are wanted. */
static enum tdl_result copy_tensors(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    struct gst_tdl_work *work)
{
    const guint count = work->tensors ? gst_buffer_list_length(work->tensors) : 0;
    enum tdl_result r = TDL_OK;

    work->tensor_made = TRUE;
    if (work->tensor)
        r = copy_tensor(session, slot, session->infer->mask, work->tensor);
    for (guint i = 0; i < count && r == TDL_OK; i++)
        r = copy_tensor(session, slot, session->infer->tensors[i],
                        gst_buffer_list_get(work->tensors, i));
    return r;
}

/* All outputs, of one mask: the first one takes it in, the others use it again. The frame is
 * the last one, as it may be shown by other means than the composer. */
enum tdl_result gst_tdl_work_compose(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                     const struct gst_tdl_live *live, struct gst_tdl_work *work,
                                     gboolean new_mask)
{
    struct tdl_tensor *mask = new_mask ? session->infer->mask : NULL;
    enum tdl_result r = TDL_OK;

    if (mask)
        session->compose.mask_part = session->infer->part;
    session->compose.colors = gst_tdl_infer_colors(session->infer, mask != NULL);
    if (new_mask)
        r = copy_tensors(session, slot, work);
    for (guint i = 1; i <= GST_TDL_PICTURES && r == TDL_OK; i++) {
        const struct gst_tdl_work_output *output = &work->outputs[i % GST_TDL_PICTURES];

        if (!output->video)
            continue;
        if (gst_tdl_settings_output_of(output->mode) != GST_TDL_OUTPUT_MASK)
            r = show(session, slot, live, work, output);
        else
            r = gst_tdl_compose_record(&session->compose, slot->batch, live, output->mode,
                                       &output->frames, mask, GST_BUFFER_PTS(work->input));
        mask = NULL;
    }
    return r;
}

enum tdl_result gst_tdl_work_submit(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    struct gst_tdl_work *work, guint steps, gboolean first)
{
    const guint count = steps & GST_TDL_STEPS_OUT ? GST_TDL_PICTURES : 0;
    struct gst_tdl_fences fences = { .count = 0 };
    enum tdl_result r = TDL_OK;

    /* Unwanted outputs have no images and no fences. */
    for (guint i = 0; i < count && r == TDL_OK; i++)
        r = gst_tdl_import_images_write(&session->importer, &work->outputs[i].import, slot->batch);
    if (r != TDL_OK) {
        gst_tdl_flight_cancel(slot);
        return r;
    }
    gst_tdl_fences_add(&fences, &work->source, FALSE);
    for (guint i = 0; i < count; i++)
        gst_tdl_fences_add(&fences, &work->outputs[i].import, TRUE);
    r = gst_tdl_flight_submit(slot, work->input, &session->importer, &fences);
    if (r == TDL_OK && first)
        gst_tdl_import_submitted(&work->source, slot->point);
    for (guint i = 0; i < count && r == TDL_OK; i++)
        gst_tdl_import_submitted(&work->outputs[i].import, slot->point);
    return r;
}

void gst_tdl_work_release(struct gst_tdl_work *work)
{
    gst_tdl_import_release(&work->source);
    for (guint i = 0; i < GST_TDL_PICTURES; i++)
        gst_tdl_import_release(&work->outputs[i].import);
}

gboolean gst_tdl_work_import(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                             struct gst_tdl_slot *slot, const struct gst_tdl_video *in,
                             const struct gst_tdl_target *output, const struct gst_tdl_masks *masks,
                             struct gst_tdl_work *work, GError **error)
{
    const struct gst_tdl_target *const targets[GST_TDL_PICTURES] = {
        [GST_TDL_PICTURE_FRAME] = output,
        [GST_TDL_PICTURE_MASK] = &masks->mask,
        [GST_TDL_PICTURE_LABELS] = &masks->labels,
    };

    work->tensor = masks->tensor;
    work->classes = masks->classes.buffer;
    work->tensors = masks->outputs;
    work->wanted.tensor = masks->tensor != NULL || masks->outputs != NULL;
    work->wanted.tensor_due = masks->tensor_due;
    for (guint i = 0; i < GST_TDL_PICTURES; i++)
        work->wanted.pictures[i] = targets[i]->buffer != NULL;
    if (output->buffer)
        work->wanted.mode = gst_tdl_work_mode(live, in, output->video);
    if (!import_source(session, live, slot, in, work, error) ||
        !import_targets(session, slot, targets, work, error))
        return FALSE;
    work->wanted.height = work->frames.source.height;
    find_region(session, live, in, work);
    return TRUE;
}
