/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exact and freshest. A stream's work is on one queue of the device, in the order of its
 * submission, but for freshest's networks, which are on the next one.
 *
 * exact: one batch a frame, preprocess → network → compose. The frame is
 * finished when its own mask is.
 *
 * freshest: the composition goes first, with the newest mask that is already
 * finished, and the network's run for this frame behind it in a batch of its
 * own, unless the run before has not finished yet. So a frame never waits for
 * its own mask, nor, where the device has several queues, for any, and a network
 * that is too slow for the frame rate runs on as many frames as it has time for.
 *
 * shared, where other streams are at the model's batcher: exact in two batches, the picture,
 * then the composition, and between the two the run for all of them.
 */
#include "network/gsttdltiles.h"
#include "gsttdlwork.h"

#include <string.h>

/* Is it time for the network? The interval counts frames, run or not. */
static gboolean network_is_due(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                               const struct gst_tdl_work *work)
{
    const gboolean shown = gst_tdl_work_shows_mask(live, work);

    if (!shown)
        session->has_mask = FALSE; /* it would be an old one when one is wanted */
    if (!shown && !work->tensor && !gst_tdl_session_watches(session, live)) {
        gst_tdl_infer_forget(session->infer); /* likewise its memory */
        return FALSE;
    }
    if ((shown && !session->has_mask) || (work->tensor && work->tensor_due) || session->cut)
        return TRUE;
    return ++session->since_run >= gst_tdl_load_interval(&session->load, live) &&
           gst_tdl_load_may_run(&session->load, live, session->moment.running);
}

static void network_ran(struct gst_tdl_session *session, const struct gst_tdl_live *live)
{
    gst_tdl_infer_ran(session->infer);
    session->since_run = 0;
    gst_tdl_load_ran(&session->load, live, session->moment.running);
    session->network_runs++;
}

/* Whether a frame can do with what others have left. */
static gboolean has_masks(const struct gst_tdl_session *session, const struct gst_tdl_live *live,
                          const struct gst_tdl_work *work)
{
    const gboolean shown = gst_tdl_work_shows_mask(live, work);

    return (shown ? session->has_mask : work->tensor != NULL) &&
           !(work->tensor && work->tensor_due) && !session->cut;
}

/* A finished run's mask that no frame has used yet; at most once per run. */
static enum tdl_result take_finished_mask(struct gst_tdl_session *session,
                                          struct tdl_tensor **out_mask)
{
    enum tdl_result r = TDL_ERROR_TIMEOUT;

    *out_mask = NULL;
    if (session->running)
        r = tdl_context_wait(session->device->context, session->running_point, 0);
    if (r == TDL_OK) {
        session->running = FALSE;
        *out_mask = session->infer->mask;
    }
    return r == TDL_ERROR_TIMEOUT ? TDL_OK : r;
}

/* Whether other streams are there to run the network with. */
static gboolean is_shared(struct gst_tdl_session *session, const struct gst_tdl_live *live)
{
    const gchar *why = live->batch_size == 1                            ? "off"
                       : live->latency_mode == GST_TDL_LATENCY_FRESHEST ? "alone: latency-mode="
                                                                          "freshest waits for none"
                                                                        : NULL;

    if (!session->batch_slot || (live->batch_size == 1 && !session->batch_slot->batcher))
        return FALSE;
    return gst_tdl_batch_slot_take(session->batch_slot, session->infer, live->batch_size, why);
}

/* Every frame, as the network keeps none of them. */
static enum tdl_result frame_tiles(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                   const struct gst_tdl_live *live, const GstVideoInfo *out,
                                   struct gst_tdl_work *work)
{
    enum tdl_result r = TDL_OK;

    is_shared(session, live); /* it says why not */
    if (work->frames.cropped)
        r = gst_tdl_compose_around(&session->compose, slot->batch, live, work->mode, &work->frames);
    if (r == TDL_OK)
        r = gst_tdl_tiles_record(session->infer, slot->batch, &work->frames, out->finfo,
                                 live->tile_overlap);
    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_COMPOSES | GST_TDL_PART_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK)
        network_ran(session, live);
    return r;
}

/* Behind a run in the batch: what presence looks at. */
static enum tdl_result watch(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                             const struct gst_tdl_live *live)
{
    return gst_tdl_session_watches(session, live)
               ? gst_tdl_presence_record(&session->presence, session->device->context, slot->batch,
                                         session->infer, &session->moment)
               : TDL_OK;
}

/* A mask of the frame's own is submitted. */
static void mask_made(struct gst_tdl_session *session, const struct gst_tdl_slot *slot,
                      const struct gst_tdl_live *live, const struct gst_tdl_work *work)
{
    network_ran(session, live);
    gst_tdl_presence_submitted(&session->presence, slot->point);
    session->has_mask = gst_tdl_work_shows_mask(live, work);
    session->cut = FALSE;
    session->running = FALSE; /* this mask is newer than any run's before */
}

static enum tdl_result frame_shared(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    const struct gst_tdl_live *live, struct gst_tdl_work *work)
{
    enum gst_tdl_turn turn = GST_TDL_TURN_FLUSHING;
    enum tdl_result r = gst_tdl_infer_picture(session->infer, slot->batch,
                                              &work->frames.source_part, work->frames.pixel_aspect);

    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_READS | GST_TDL_PART_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK)
        turn =
            gst_tdl_batch_slot_run(session->batch_slot, gst_tdl_session_batch_wait(session, live));
    if (r == TDL_OK && turn == GST_TDL_TURN_FLUSHING)
        r = TDL_ERROR_CANCELED;
    if (r == TDL_OK)
        r = gst_tdl_flight_begin(&session->flight, 0, &slot);
    if (r != TDL_OK)
        return r;
    if (turn == GST_TDL_TURN_ALONE)
        r = gst_tdl_infer_network(session->infer, slot->batch);
    if (r == TDL_OK)
        r = watch(session, slot, live);
    if (r == TDL_OK)
        r = gst_tdl_work_compose(session, slot, live, work, session->infer->mask);
    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_COMPOSES);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK)
        mask_made(session, slot, live, work);
    return r;
}

static enum tdl_result frame_exact(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                   const struct gst_tdl_live *live, struct gst_tdl_work *work)
{
    gboolean run = network_is_due(session, live, work);
    enum tdl_result r = TDL_OK;

    if (run && is_shared(session, live))
        return frame_shared(session, slot, live, work);
    if (!run && session->batch_slot && session->batch_slot->batcher)
        gst_tdl_batch_slot_rest(session->batch_slot);
    if (run)
        r = gst_tdl_infer_record(session->infer, slot->batch, &work->frames.source_part,
                                 work->frames.pixel_aspect);
    if (r == TDL_OK && run)
        r = watch(session, slot, live);
    if (r == TDL_OK)
        r = gst_tdl_work_compose(session, slot, live, work, run ? session->infer->mask : NULL);
    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_COMPOSES | GST_TDL_PART_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK && run)
        mask_made(session, slot, live, work);
    return r;
}

static enum tdl_result run_behind(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                                  struct gst_tdl_work *work)
{
    struct gst_tdl_slot *slot;
    enum tdl_result r = gst_tdl_flight_begin(&session->flight, 1, &slot);

    if (r != TDL_OK)
        return r;
    r = gst_tdl_infer_record(session->infer, slot->batch, &work->frames.source_part,
                             work->frames.pixel_aspect);
    if (r == TDL_OK)
        r = watch(session, slot, live);
    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_READS);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK) {
        network_ran(session, live);
        gst_tdl_presence_submitted(&session->presence, slot->point);
        session->running = TRUE;
        session->running_point = slot->point;
    }
    return r;
}

static enum tdl_result frame_freshest(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                      const struct gst_tdl_live *live, struct gst_tdl_work *work)
{
    struct tdl_tensor *mask;
    enum tdl_result r = take_finished_mask(session, &mask);

    if (r == TDL_OK)
        r = gst_tdl_work_compose(session, slot, live, work, mask);
    is_shared(session, live); /* it says why not */
    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_COMPOSES | GST_TDL_PART_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK && network_is_due(session, live, work) && !session->running)
        r = run_behind(session, live, work);
    return r;
}

/* There is no mask, nor will there be one of this frame: nothing is seen of it. */
static enum tdl_result frame_closed(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    const struct gst_tdl_live *live, struct gst_tdl_work *work)
{
    enum tdl_result r =
        gst_tdl_compose_closed(&session->compose, slot->batch, live, work->mode, &work->frames);

    if (r == TDL_OK)
        r = gst_tdl_work_submit(session, slot, work, GST_TDL_PART_COMPOSES | GST_TDL_PART_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    session->closed += r == TDL_OK;
    return r;
}

/* A mask lies where the crop was that it was made of, and so does what the network keeps. */
static void find_moved_crop(struct gst_tdl_session *session, const struct gst_tdl_work *work)
{
    const struct gst_tdl_rect none = { 0 }, crop = work->frames.cropped ? work->crop : none;

    if (memcmp(&crop, &session->crop, sizeof(crop)) != 0)
        gst_tdl_session_discontinue(session, FALSE);
    session->crop = crop;
}

static guint64 frame_bytes(const GstVideoInfo *info)
{
    guint64 bytes = 0;

    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
        bytes += (guint64)gst_tdl_plane_row(info->finfo, p, info->width) *
                 gst_tdl_plane_rows(info->finfo, p, info->height);
    return bytes;
}

static guint64 target_bytes(const struct gst_tdl_target *target)
{
    return target->buffer ? frame_bytes(&target->video->info) : 0;
}

/* Of frames in these caps; where they say nothing, what most cameras have. */
static GstClockTime frame_interval(const GstVideoInfo *info)
{
    if (info->fps_n <= 0 || info->fps_d <= 0)
        return GST_SECOND / 30;
    return MIN(gst_util_uint64_scale(GST_SECOND, info->fps_d, info->fps_n), GST_SECOND);
}

gboolean gst_tdl_session_frame(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                               const struct gst_tdl_target *input,
                               const struct gst_tdl_target *output, struct gst_tdl_masks *masks,
                               GError **error)
{
    struct gst_tdl_masks none = { 0 };
    struct gst_tdl_importer *importer = &session->importer;
    const struct gst_tdl_video *in = input->video;
    struct gst_tdl_work work = { .input = input->buffer, .mode = GST_TDL_MODE_MASK };
    struct gst_tdl_slot *slot;
    enum tdl_result r = gst_tdl_flight_begin(&session->flight, 0, &slot);

    if (r == TDL_ERROR_CANCELED)
        return FALSE;
    if (r != TDL_OK)
        return gst_tdl_error_set(error, r, "Cannot begin a frame");
    if (!masks)
        masks = &none;
    session->interval = frame_interval(&in->info);
    if (output->buffer)
        work.mode = gst_tdl_work_mode(live, in, output->video);
    importer->stats.gpu_bytes = frame_bytes(&in->info) + target_bytes(output) +
                                target_bytes(&masks->mask) + target_bytes(&masks->labels);
    if (!gst_tdl_work_import(session, live, slot, in, output, masks, &work, error)) {
        gst_tdl_work_release(&work);
        gst_tdl_flight_cancel(slot);
        return FALSE;
    }
    find_moved_crop(session, &work);
    if (work.has_target && gst_tdl_session_is_closed(session, live))
        r = frame_closed(session, slot, live, &work);
    else if (work.mode == GST_TDL_MODE_PICTURE && gst_tdl_session_in_tiles(session))
        r = frame_tiles(session, slot, live, &output->video->info, &work);
    else if (live->latency_mode == GST_TDL_LATENCY_FRESHEST && has_masks(session, live, &work))
        r = frame_freshest(session, slot, live, &work);
    else
        r = frame_exact(session, slot, live, &work);
    gst_tdl_work_release(&work);
    gst_tdl_presence_submitted(&session->presence, 0); /* what was recorded in vain */
    /* The element stops, and the frame may lack all or a part. */
    if (r == TDL_ERROR_CANCELED || gst_tdl_flight_is_aborted(&session->flight))
        return FALSE;
    if (r != TDL_OK)
        return gst_tdl_error_set(error, r, "Cannot process a frame of %dx%d px of %s",
                                 in->info.width, in->info.height, GST_VIDEO_INFO_NAME(&in->info));
    masks->tensor_made = work.tensor_made;
    memcpy(masks->classes.size, work.classes_size, sizeof(work.classes_size));
    if (work.frames.cropped)
        masks->classes.part = work.crop;
    session->frames++;
    return TRUE;
}
