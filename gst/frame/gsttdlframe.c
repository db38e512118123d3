/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Carries out what gsttdlplan.h says of a frame. */
#include "network/gsttdltiles.h"
#include "gsttdlplan.h"
#include "gsttdlwork.h"

#include <string.h>

/* TRUE if other streams run the same network, so that runs can be batched. */
static gboolean is_shared(struct gst_tdl_session *session, const struct gst_tdl_live *live)
{
    const gchar *why = session->infer->model->tensors.count             ? "alone: meta=tensors"
                       : live->batch_size == 1                          ? "off"
                       : live->latency_mode == GST_TDL_LATENCY_FRESHEST ? "alone: latency-mode="
                                                                          "freshest waits for none"
                                                                        : NULL;

    if (!session->batch_slot || (live->batch_size == 1 && !session->batch_slot->batcher))
        return FALSE;
    return gst_tdl_batch_slot_take(session->batch_slot, session->infer, live->batch_size, why);
}

/* Sets `out_finished` if the last run of freshest is done; no frame has used its mask yet. */
static enum tdl_result look_for_mask(const struct gst_tdl_session *session, gboolean *out_finished)
{
    const struct gst_tdl_plan_state *state = &session->stream.state;
    enum tdl_result r = TDL_ERROR_TIMEOUT;

    if (state->running)
        r = tdl_context_wait(session->device->context, state->running_point, 0);
    *out_finished = r == TDL_OK;
    return r == TDL_ERROR_TIMEOUT ? TDL_OK : r;
}

static enum tdl_result make_plan(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                                 const struct gst_tdl_work *work, struct gst_tdl_plan *out_plan)
{
    struct gst_tdl_plan_network runs = {
        .kind = session->infer->model->kind,
        .in_tiles = gst_tdl_session_in_tiles(session),
        .interval = gst_tdl_load_interval(&session->usage.load, live),
        .may_run = gst_tdl_load_may_run(&session->usage.load, live, session->stream.moment.running),
    };
    enum tdl_result r = TDL_OK;

    if (live->latency_mode == GST_TDL_LATENCY_FRESHEST)
        r = look_for_mask(session, &runs.finished);
    if (r == TDL_OK)
        gst_tdl_plan_frame(live, &session->stream.state, &runs, &work->wanted, out_plan);
    return r;
}

/* The batcher hears of the frame, with whose streams the network may run then. */
static void tell_batcher(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                         struct gst_tdl_plan *plan)
{
    gboolean shared = FALSE;

    if (plan->notice == GST_TDL_NOTICE_RUN || plan->notice == GST_TDL_NOTICE_ALONE)
        shared = is_shared(session, live);
    else if (plan->notice == GST_TDL_NOTICE_REST && session->batch_slot &&
             session->batch_slot->batcher)
        gst_tdl_batch_slot_rest(session->batch_slot);
    if (shared && plan->notice == GST_TDL_NOTICE_RUN)
        gst_tdl_plan_share(plan);
}

static enum tdl_result record_tiles(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    const struct gst_tdl_live *live,
                                    const struct gst_tdl_work_output *output)
{
    enum tdl_result r = TDL_OK;

    if (output->frames.cropped)
        r = gst_tdl_compose_around(&session->compose, slot->batch, live, output->mode,
                                   &output->frames);
    return r == TDL_OK ? gst_tdl_tiles_record(session->infer, slot->batch, &output->frames,
                                              output->video->info.finfo, live->tile_overlap)
                       : r;
}

/* Records a batch: its steps, in their order. */
static enum tdl_result record(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                              const struct gst_tdl_live *live, struct gst_tdl_work *work,
                              guint steps, gboolean new_mask)
{
    const struct gst_tdl_work_output *output = &work->outputs[GST_TDL_PICTURE_FRAME];
    enum tdl_result r = TDL_OK;

    if (steps & GST_TDL_STEP_COVER)
        r = gst_tdl_compose_closed(&session->compose, slot->batch, live, output->mode,
                                   &output->frames);
    if (r == TDL_OK && steps & GST_TDL_STEP_TILES)
        r = record_tiles(session, slot, live, output);
    if (r == TDL_OK && steps & GST_TDL_STEP_PICTURE)
        r = gst_tdl_infer_picture(session->infer, slot->batch, &work->frames.source_part,
                                  work->frames.pixel_aspect);
    if (r == TDL_OK && steps & GST_TDL_STEP_NETWORK)
        r = gst_tdl_infer_network(session->infer, slot->batch);
    if (r == TDL_OK && steps & GST_TDL_STEP_WATCH)
        r = gst_tdl_presence_record(&session->presence, session->device->context, slot->batch,
                                    session->infer, &session->stream.moment);
    if (r == TDL_OK && steps & GST_TDL_STEP_COMPOSE)
        r = gst_tdl_work_compose(session, slot, live, work, new_mask);
    return r;
}

/* A batch is submitted that has these steps, or with `shared` whose run others may have had. */
static void note_submitted(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                           const struct gst_tdl_slot *slot, guint steps, gboolean shared)
{
    session->counts.closed += steps & GST_TDL_STEP_COVER ? 1 : 0;
    if (!shared && !(steps & (GST_TDL_STEP_NETWORK | GST_TDL_STEP_TILES)))
        return;
    gst_tdl_infer_ran(session->infer);
    gst_tdl_load_ran(&session->usage.load, live, session->stream.moment.running);
    session->counts.network_runs++;
    if (steps & GST_TDL_STEP_TILES) /* tiles leave no mask to keep */
        return;
    session->stream.state.running_point = slot->point;
    gst_tdl_presence_submitted(&session->presence, slot->point);
}

/* The run for all streams; afterwards the next batch. Where nobody came, that has it. */
static enum tdl_result run_shared(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                                  guint *steps)
{
    const enum gst_tdl_turn turn =
        gst_tdl_batch_slot_run(session->batch_slot, gst_tdl_session_batch_wait(session, live));

    if (turn == GST_TDL_TURN_ALONE)
        *steps |= GST_TDL_STEP_NETWORK;
    return turn == GST_TDL_TURN_FLUSHING ? TDL_ERROR_CANCELED : TDL_OK;
}

/* The batches of the plan, the first of which is begun in `slot`. */
static enum tdl_result execute(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                               const struct gst_tdl_live *live, struct gst_tdl_work *work,
                               const struct gst_tdl_plan *plan)
{
    enum tdl_result r = TDL_OK;

    if (plan->forgets)
        gst_tdl_infer_forget(session->infer);
    for (guint i = 0; i < plan->count && r == TDL_OK; i++) {
        const gboolean shared = plan->shared && i > 0;
        guint steps = plan->batches[i].steps;

        if (shared)
            r = run_shared(session, live, &steps);
        if (r == TDL_OK && i > 0)
            r = gst_tdl_flight_begin(&session->flight, plan->batches[i].lane, &slot);
        if (r != TDL_OK)
            return r;
        r = record(session, slot, live, work, steps, plan->new_mask);
        if (r == TDL_OK)
            r = gst_tdl_work_submit(session, slot, work, steps, i == 0);
        else
            gst_tdl_flight_cancel(slot);
        if (r == TDL_OK)
            note_submitted(session, live, slot, steps, shared);
    }
    return r;
}

/* As the plan of this frame has it. */
static enum tdl_result process(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                               const struct gst_tdl_live *live, struct gst_tdl_work *work)
{
    struct gst_tdl_plan plan;
    enum tdl_result r = make_plan(session, live, work, &plan);

    if (r != TDL_OK) {
        gst_tdl_flight_cancel(slot);
        return r;
    }
    tell_batcher(session, live, &plan);
    r = execute(session, slot, live, work, &plan);
    if (r == TDL_OK) {
        plan.after.running_point = session->stream.state.running_point;
        session->stream.state = plan.after;
    }
    return r;
}

/* A mask lies where the crop was that it was made of, and so does what the network keeps. */
static void find_moved_crop(struct gst_tdl_session *session, const struct gst_tdl_work *work)
{
    const struct gst_tdl_rect none = { 0 }, crop = work->frames.cropped ? work->crop : none;

    if (memcmp(&crop, &session->stream.crop, sizeof(crop)) != 0)
        gst_tdl_session_discontinue(session, FALSE);
    session->stream.crop = crop;
}

/* A mask of what was meant before is none of what is meant now. */
static void find_new_prompt(struct gst_tdl_session *session, const struct gst_tdl_live *live)
{
    if (gst_tdl_infer_ask(session->infer, &live->prompt))
        gst_tdl_session_discontinue(session, TRUE);
}

static guint64 frame_bytes(const GstVideoInfo *info)
{
    guint64 bytes = 0;

    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
        bytes += (guint64)gst_tdl_geometry_plane_row(info->finfo, p, info->width) *
                 gst_tdl_geometry_plane_rows(info->finfo, p, info->height);
    return bytes;
}

static guint64 target_bytes(const struct gst_tdl_target *target)
{
    return target->buffer ? frame_bytes(&target->video->info) : 0;
}

/* Duration of a frame by its caps; without a frame rate there, that of most cameras. */
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
    struct gst_tdl_work work = { .input = input->buffer };
    struct gst_tdl_slot *slot;
    enum tdl_result r = gst_tdl_flight_begin(&session->flight, 0, &slot);

    if (r == TDL_ERROR_CANCELED)
        return FALSE;
    if (r != TDL_OK)
        return gst_tdl_error_set(error, r, "Cannot begin a frame");
    if (!masks)
        masks = &none;
    session->stream.interval = frame_interval(&in->info);
    importer->stats.gpu_bytes = frame_bytes(&in->info) + target_bytes(output) +
                                target_bytes(&masks->mask) + target_bytes(&masks->labels);
    if (!gst_tdl_work_import(session, live, slot, in, output, masks, &work, error)) {
        gst_tdl_work_release(&work);
        gst_tdl_flight_cancel(slot);
        return FALSE;
    }
    find_moved_crop(session, &work);
    find_new_prompt(session, live);
    r = process(session, slot, live, &work);
    gst_tdl_work_release(&work);
    /* the presence that was recorded will never be submitted */
    gst_tdl_presence_submitted(&session->presence, 0);
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
    session->counts.frames++;
    return TRUE;
}
