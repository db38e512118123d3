/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exact and freshest. The device has one queue, on which work runs in the
 * order of its submission.
 *
 * exact: one batch a frame, preprocess → network → compose. The frame is
 * finished when its own mask is.
 *
 * freshest: the composition goes first, with the newest mask that is already
 * finished, and the network's run for this frame behind it in a batch of its
 * own, unless the run before has not finished yet. So a frame never waits for
 * its own mask, and a network that is too slow for the frame rate runs on as
 * many frames as it has time for.
 *
 * shared, where other streams are at the model's batcher: exact in two batches, the picture,
 * then the composition, and between the two the run for all of them.
 */
#include "gsttdlsession.h"

#include "gsttdlgeometry.h"
#include "gsttdlpool.h"
#include "gsttdltiles.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Of a CPU's network, until it was measured: near enough that an application need
 * not configure the latency of a live pipeline twice. */
#define GUESSED_LATENCY (10 * GST_MSECOND)

static gboolean open_device(struct gst_tdl_session *session, const struct gst_tdl_sources *sources,
                            struct gst_tdl_vulkan *vulkan, GError **error)
{
    GError *refusal = NULL;

    if (vulkan)
        session->device = gst_tdl_vulkan_acquire(vulkan, &refusal);
    if (refusal)
        GST_WARNING("frames do not stay in the neighbours' images: %s", refusal->message);
    g_clear_error(&refusal);
    if (!session->device)
        session->device = gst_tdl_device_acquire(sources->device, sources->threads, error);
    if (!session->device)
        return FALSE;
    gst_tdl_importer_init(&session->importer, session->device);
    session->upload = gst_tdl_allocator_new(session->device, TDL_BUFFER_UPLOAD);
    session->readback = gst_tdl_allocator_new(session->device, TDL_BUFFER_READBACK);
    return TRUE;
}

struct gst_tdl_session *gst_tdl_session_new(const struct gst_tdl_sources *sources,
                                            struct gst_tdl_vulkan *vulkan, GError **error)
{
    struct gst_tdl_session *session = g_new0(struct gst_tdl_session, 1);
    struct gst_tdl_model_params params = { .sources = sources };
    enum tdl_result r;

    if (!open_device(session, sources, vulkan, error))
        goto fail;
    r = gst_tdl_flight_init(&session->flight, session->device->context);
    if (r == TDL_OK)
        r = gst_tdl_compose_init(&session->compose, session->device->context);
    if (r != TDL_OK) {
        gst_tdl_error_set(error, r, "Cannot set up the device");
        goto fail;
    }
    params.context = session->device->context;
    session->infer = gst_tdl_infer_new(&params, error);
    if (!session->infer)
        goto fail;
    return session;
fail:
    gst_tdl_session_free(session);
    return NULL;
}

void gst_tdl_session_free(struct gst_tdl_session *session)
{
    if (!session)
        return;
    if (session->device)
        gst_tdl_flight_finish(&session->flight);
    if (session->seat)
        gst_tdl_seat_leave(session->seat);
    gst_tdl_importer_forget(&session->importer);
    gst_tdl_compose_finish(&session->compose);
    gst_tdl_infer_free(session->infer);
    gst_clear_object(&session->upload);
    gst_clear_object(&session->readback);
    gst_tdl_device_release(&session->device);
    g_free(session);
}

void gst_tdl_session_abilities(const struct gst_tdl_session *session,
                               struct gst_tdl_abilities *out_abilities)
{
    *out_abilities = session ? session->device->able
                             : (struct gst_tdl_abilities){
                                   .drm_caps = GST_TDL_DRM_CAPS,
                                   .dma_buf_in = TRUE,
                                   .dma_buf_out = TRUE,
                                   .vulkan_image = gst_tdl_vulkan_built,
                               };
}

void gst_tdl_session_offer(const struct gst_tdl_session *session, struct gst_tdl_offer *out_offer)
{
    *out_offer = (struct gst_tdl_offer){
        .device = gst_tdl_device_ref(session->device),
        .upload = gst_object_ref(session->upload),
    };
}

void gst_tdl_offer_clear(struct gst_tdl_offer *offer)
{
    gst_clear_object(&offer->upload);
    g_clear_pointer(&offer->device, gst_tdl_device_unref);
}

void gst_tdl_session_cut(struct gst_tdl_session *session, gboolean forget)
{
    session->cut = TRUE;
    gst_tdl_infer_forget(session->infer);
    if (!forget)
        return;
    gst_tdl_compose_reset(&session->compose);
    session->has_mask = FALSE;
    session->running = FALSE;
}

void gst_tdl_session_reset(struct gst_tdl_session *session)
{
    gst_tdl_importer_forget(&session->importer);
    gst_tdl_session_cut(session, TRUE);
}

enum tdl_result gst_tdl_session_drain(struct gst_tdl_session *session)
{
    return gst_tdl_flight_retire(&session->flight, TRUE);
}

void gst_tdl_session_set_ready(struct gst_tdl_session *session)
{
    session->ready = TRUE;
}

void gst_tdl_session_take_infer(struct gst_tdl_session *session, struct gst_tdl_infer *infer)
{
    if (session->seat)
        gst_tdl_seat_leave(session->seat);
    gst_tdl_infer_free(session->infer);
    session->infer = infer;
    gst_tdl_session_reset(session); /* masks of two models do not mix */
}

void gst_tdl_session_take_picture(struct gst_tdl_session *session, struct gst_tdl_picture *picture)
{
    g_clear_pointer(&session->compose.picture, gst_tdl_picture_free);
    session->compose.picture = picture;
}

static enum tdl_mode frame_mode(const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                                const struct gst_tdl_video *out)
{
    return gst_tdl_caps_mode(live->mode, GST_VIDEO_INFO_FORMAT(&in->info),
                             GST_VIDEO_INFO_FORMAT(&out->info));
}

static gboolean in_tiles(const struct gst_tdl_session *session)
{
    return session->infer->model->fit == GST_TDL_FIT_TILES;
}

static gfloat pixel_aspect(const GstVideoInfo *info)
{
    return (gfloat)GST_VIDEO_INFO_PAR_N(info) / GST_VIDEO_INFO_PAR_D(info);
}

gboolean gst_tdl_session_prepare(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                                 const struct gst_tdl_video *in, const struct gst_tdl_video *out,
                                 GError **error)
{
    enum tdl_mode mode = frame_mode(live, in, out);
    struct gst_tdl_frames frames = { .pixel_aspect = pixel_aspect(&in->info) };
    enum tdl_result r;

    gst_tdl_caps_frame(&in->info, &frames.source_part);
    gst_tdl_caps_frame(&out->info, &frames.target_part);
    session->tiles = in_tiles(session)
                         ? gst_tdl_tiles_count(session->infer->model, frames.source_part.width,
                                               frames.source_part.height, live->tile_overlap)
                         : 1;
    if (session->tiles > GST_TDL_MAX_TILES) {
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "%dx%d px are %u tiles, and a frame may have %d: have the model take more at "
                    "once (model-size), or less tile-overlap",
                    in->info.width, in->info.height, session->tiles, GST_TDL_MAX_TILES);
        return FALSE;
    }
    r = gst_tdl_infer_prepare(session->infer, &frames.source_part, &session->compile);
    if (r == TDL_OK && gst_tdl_output_of(mode) != GST_TDL_OUTPUT_MASK)
        r = gst_tdl_output_prepare(session->infer->mask, &session->infer->model->shown, live, mode,
                                   &frames, &session->compile);
    else if (r == TDL_OK)
        r = gst_tdl_compose_prepare(&session->compose, live, mode, &frames, &session->compile);
    if (r != TDL_OK && r != TDL_ERROR_CANCELED)
        return gst_tdl_error_set(error, r, "Cannot prepare for %dx%d px of %s", in->info.width,
                                 in->info.height, GST_VIDEO_INFO_NAME(&in->info));
    return TRUE;
}

/* One frame's way through the batches. */
struct work {
    GstBuffer *input;
    enum tdl_mode mode;
    gboolean has_target, has_mask;
    struct gst_tdl_import source, target, mask;
    struct gst_tdl_frames frames, mask_frames; /* of one source */
    struct gst_tdl_rect crop;                  /* of these, if they are cropped */
};

/* The picture in a buffer, which may be a part of what lies there, or of which only
 * a part is to be looked at: the caps are of the whole then. */
static gboolean import_source(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                              struct gst_tdl_slot *slot, const struct gst_tdl_video *in,
                              struct work *work, GError **error)
{
    const GstVideoCropMeta *meta = gst_buffer_get_video_crop_meta(work->input);
    struct gst_tdl_frames *frames = &work->frames;
    struct gst_tdl_video whole = *in;
    struct gst_tdl_rect part;
    gboolean is_part = gst_tdl_video_is_part(in, work->input, &whole, &part);

    if (!gst_tdl_import(&session->importer, work->input, &whole, !live->require_zero_copy,
                        slot->batch, &slot->staging, &work->source, error))
        return FALSE;
    frames->pixel_aspect = pixel_aspect(&in->info);
    frames->source = work->source.frame;
    if (is_part)
        gst_tdl_frame_crop(&work->source.frame, in->info.finfo, &part, &frames->source);
    frames->source_part = frames->source;
    if (!meta || is_part)
        return TRUE;
    work->crop = (struct gst_tdl_rect){ meta->x, meta->y, meta->width, meta->height };
    frames->cropped = gst_tdl_rect_align(frames->source.width, frames->source.height, &work->crop);
    if (frames->cropped)
        gst_tdl_frame_crop(&frames->source, in->info.finfo, &work->crop, &frames->source_part);
    return TRUE;
}

/* From the source to that target. */
static void set_target(const struct work *work, const struct tdl_frame *target,
                       const GstVideoInfo *info, struct gst_tdl_frames *out_frames)
{
    *out_frames = work->frames;
    out_frames->target = out_frames->target_part = *target;
    if (target->width != work->frames.source.width || target->height != work->frames.source.height)
        out_frames->cropped = FALSE; /* a larger picture of all of it */
    if (!out_frames->cropped)
        out_frames->source_part = out_frames->source;
    if (out_frames->cropped)
        gst_tdl_frame_crop(target, info->finfo, &work->crop, &out_frames->target_part);
}

/* The outputs' buffers as the GPU sees them. */
static gboolean import_targets(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                               const struct gst_tdl_target *output,
                               const struct gst_tdl_target *mask, struct work *work, GError **error)
{
    work->has_target = output->buffer != NULL;
    work->has_mask = mask->buffer != NULL;
    if (work->has_target &&
        !gst_tdl_import_target(&session->importer, output->buffer, output->video, &slot->staging,
                               &work->target, error))
        return FALSE;
    if (work->has_mask && !gst_tdl_import_target(&session->importer, mask->buffer, mask->video,
                                                 &slot->staging, &work->mask, error))
        return FALSE;
    if (work->has_mask)
        set_target(work, &work->mask.frame, &mask->video->info, &work->mask_frames);
    if (work->has_target)
        set_target(work, &work->target.frame, &output->video->info, &work->frames);
    else
        work->frames = work->mask_frames; /* what the network looks at */
    return TRUE;
}

/* Whether any output shows the mask. */
static gboolean shows_mask(const struct gst_tdl_live *live, const struct work *work)
{
    return work->has_mask || (work->mode != TDL_MODE_PASSTHROUGH &&
                              (work->mode != TDL_MODE_BLUR ||
                               gst_tdl_compose_blur(live, work->frames.source.height) > 0));
}

/* Is it time for the network? The interval counts frames, run or not. */
static gboolean network_is_due(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                               const struct work *work)
{
    if (!shows_mask(live, work))
        return FALSE;
    return !session->has_mask || session->cut || ++session->since_run >= live->interval;
}

static void network_ran(struct gst_tdl_session *session)
{
    gst_tdl_infer_ran(session->infer);
    session->since_run = 0;
    session->network_runs++;
}

/* A finished run's mask that no frame has used yet; at most once per run. */
static struct tdl_tensor *take_finished_mask(struct gst_tdl_session *session)
{
    if (!session->running ||
        tdl_context_wait(session->device->context, session->running_point, 0) != TDL_OK)
        return NULL;
    session->running = FALSE;
    return session->infer->mask;
}

/* What the network has made, shown: of this frame, or of one before. */
static enum tdl_result show(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                            const struct gst_tdl_live *live, const struct work *work)
{
    enum tdl_result r = TDL_OK;

    if (work->frames.cropped)
        r = gst_tdl_compose_around(&session->compose, slot->batch, live, &work->frames);
    return r == TDL_OK ? gst_tdl_output_record(slot->batch, session->infer->mask,
                                               &session->infer->model->shown, &session->infer->part,
                                               live, work->mode, &work->frames)
                       : r;
}

/* All outputs, of one mask: the first one takes it in, the others use it again. */
static enum tdl_result compose(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                               const struct gst_tdl_live *live, const struct work *work,
                               struct tdl_tensor *mask)
{
    GstClockTime time = GST_BUFFER_PTS(work->input);
    enum tdl_result r = TDL_OK;

    if (mask)
        session->compose.mask_part = session->infer->part;
    if (work->has_mask) {
        r = gst_tdl_compose_record(&session->compose, slot->batch, live, TDL_MODE_MASK,
                                   &work->mask_frames, mask, time);
        mask = NULL;
    }
    if (r == TDL_OK && work->has_target && gst_tdl_output_of(work->mode) != GST_TDL_OUTPUT_MASK)
        r = show(session, slot, live, work);
    else if (r == TDL_OK && work->has_target)
        r = gst_tdl_compose_record(&session->compose, slot->batch, live, work->mode, &work->frames,
                                   mask, time);
    return r;
}

/* What a batch of a frame does. The first one that has the input copies its images. */
enum part { READS = 1, COMPOSES = 2, IS_FIRST = 4 };

static enum tdl_result submit(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                              struct work *work, enum part part)
{
    gboolean target = part & COMPOSES && work->has_target, mask = part & COMPOSES && work->has_mask;
    struct gst_tdl_fences fences = { .count = 0 };
    enum tdl_result r = TDL_OK;

    if (target)
        r = gst_tdl_import_write_images(&session->importer, &work->target, slot->batch);
    if (r != TDL_OK) {
        gst_tdl_flight_cancel(slot);
        return r;
    }
    gst_tdl_fences_add(&fences, &work->source, FALSE);
    if (target)
        gst_tdl_fences_add(&fences, &work->target, TRUE);
    if (mask)
        gst_tdl_fences_add(&fences, &work->mask, TRUE);
    r = gst_tdl_flight_submit(slot, work->input, &session->importer, &fences);
    if (r == TDL_OK && part & IS_FIRST)
        gst_tdl_import_submitted(&work->source, slot->point);
    if (r == TDL_OK && target)
        gst_tdl_import_submitted(&work->target, slot->point);
    return r;
}

/* Whether other streams are there to run the network with. */
static gboolean is_shared(struct gst_tdl_session *session, const struct gst_tdl_live *live)
{
    const gchar *why = live->batch_size == 1                            ? "off"
                       : live->latency_mode == GST_TDL_LATENCY_FRESHEST ? "alone: latency-mode="
                                                                          "freshest waits for none"
                                                                        : NULL;

    if (!session->seat || (live->batch_size == 1 && !session->seat->batcher))
        return FALSE;
    return gst_tdl_seat_take(session->seat, session->infer, live->batch_size, why);
}

/* Every frame, as the network keeps none of them. */
static enum tdl_result frame_tiles(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                   const struct gst_tdl_live *live, const GstVideoInfo *out,
                                   struct work *work)
{
    enum tdl_result r = TDL_OK;

    is_shared(session, live); /* it says why not */
    if (work->frames.cropped)
        r = gst_tdl_compose_around(&session->compose, slot->batch, live, &work->frames);
    if (r == TDL_OK)
        r = gst_tdl_tiles_record(session->infer, slot->batch, &work->frames, out->finfo,
                                 live->tile_overlap);
    if (r == TDL_OK)
        r = submit(session, slot, work, COMPOSES | IS_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK)
        network_ran(session);
    return r;
}

/* A mask of the frame's own is submitted. */
static void mask_made(struct gst_tdl_session *session)
{
    network_ran(session);
    session->has_mask = TRUE;
    session->cut = FALSE;
    session->running = FALSE; /* this mask is newer than any run's before */
}

static gint64 batch_wait(const struct gst_tdl_session *session, const struct gst_tdl_live *live)
{
    return live->batch_timeout < 0 ? session->interval / 1000 : live->batch_timeout * 1000;
}

static enum tdl_result frame_shared(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                    const struct gst_tdl_live *live, struct work *work)
{
    enum gst_tdl_turn turn = GST_TDL_TURN_FLUSHING;
    enum tdl_result r = gst_tdl_infer_picture(session->infer, slot->batch,
                                              &work->frames.source_part, work->frames.pixel_aspect);

    if (r == TDL_OK)
        r = submit(session, slot, work, READS | IS_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK)
        turn = gst_tdl_seat_run(session->seat, batch_wait(session, live));
    if (r == TDL_OK && turn == GST_TDL_TURN_FLUSHING)
        r = TDL_ERROR_CANCELED;
    if (r == TDL_OK)
        r = gst_tdl_flight_begin(&session->flight, &slot);
    if (r != TDL_OK)
        return r;
    if (turn == GST_TDL_TURN_ALONE)
        r = gst_tdl_infer_network(session->infer, slot->batch);
    if (r == TDL_OK)
        r = compose(session, slot, live, work, session->infer->mask);
    if (r == TDL_OK)
        r = submit(session, slot, work, COMPOSES);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK)
        mask_made(session);
    return r;
}

static enum tdl_result frame_exact(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                   const struct gst_tdl_live *live, struct work *work)
{
    gboolean run = network_is_due(session, live, work);
    enum tdl_result r = TDL_OK;

    if (run && is_shared(session, live))
        return frame_shared(session, slot, live, work);
    if (!run && session->seat && session->seat->batcher)
        gst_tdl_seat_rest(session->seat);
    if (run)
        r = gst_tdl_infer_record(session->infer, slot->batch, &work->frames.source_part,
                                 work->frames.pixel_aspect);
    if (r == TDL_OK)
        r = compose(session, slot, live, work, run ? session->infer->mask : NULL);
    if (r == TDL_OK)
        r = submit(session, slot, work, COMPOSES | IS_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK && run)
        mask_made(session);
    return r;
}

static enum tdl_result run_behind(struct gst_tdl_session *session, struct work *work)
{
    struct gst_tdl_slot *slot;
    enum tdl_result r = gst_tdl_flight_begin(&session->flight, &slot);

    if (r != TDL_OK)
        return r;
    r = gst_tdl_infer_record(session->infer, slot->batch, &work->frames.source_part,
                             work->frames.pixel_aspect);
    if (r == TDL_OK)
        r = submit(session, slot, work, READS);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK) {
        network_ran(session);
        session->running = TRUE;
        session->running_point = slot->point;
    }
    return r;
}

static enum tdl_result frame_freshest(struct gst_tdl_session *session, struct gst_tdl_slot *slot,
                                      const struct gst_tdl_live *live, struct work *work)
{
    enum tdl_result r = compose(session, slot, live, work, take_finished_mask(session));

    is_shared(session, live); /* it says why not */
    if (r == TDL_OK)
        r = submit(session, slot, work, COMPOSES | IS_FIRST);
    else
        gst_tdl_flight_cancel(slot);
    if (r == TDL_OK && network_is_due(session, live, work) && !session->running)
        r = run_behind(session, work);
    return r;
}

static guint64 frame_bytes(const GstVideoInfo *info)
{
    guint64 bytes = 0;

    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
        bytes += (guint64)gst_tdl_plane_row(info->finfo, p, info->width) *
                 gst_tdl_plane_rows(info->finfo, p, info->height);
    return bytes;
}

/* Of frames in these caps; where they say nothing, what most cameras have. */
static GstClockTime frame_interval(const GstVideoInfo *info)
{
    if (info->fps_n <= 0 || info->fps_d <= 0)
        return GST_SECOND / 30;
    return MIN(gst_util_uint64_scale(GST_SECOND, info->fps_d, info->fps_n), GST_SECOND);
}

static void release(struct work *work)
{
    gst_tdl_import_release(&work->source);
    gst_tdl_import_release(&work->target);
    gst_tdl_import_release(&work->mask);
}

gboolean gst_tdl_session_frame(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                               const struct gst_tdl_target *input,
                               const struct gst_tdl_target *output,
                               const struct gst_tdl_target *mask, GError **error)
{
    static const struct gst_tdl_target none = { NULL, NULL };
    struct gst_tdl_importer *importer = &session->importer;
    const struct gst_tdl_video *in = input->video;
    struct work work = { .input = input->buffer, .mode = TDL_MODE_MASK };
    struct gst_tdl_slot *slot;
    enum tdl_result r = gst_tdl_flight_begin(&session->flight, &slot);

    if (r != TDL_OK)
        return gst_tdl_error_set(error, r, "Cannot begin a frame");
    if (!mask)
        mask = &none;
    session->interval = frame_interval(&in->info);
    if (output->buffer)
        work.mode = frame_mode(live, in, output->video);
    importer->stats.gpu_bytes = frame_bytes(&in->info) +
                                (output->buffer ? frame_bytes(&output->video->info) : 0) +
                                (mask->buffer ? frame_bytes(&mask->video->info) : 0);
    if (!import_source(session, live, slot, in, &work, error) ||
        !import_targets(session, slot, output, mask, &work, error)) {
        release(&work);
        gst_tdl_flight_cancel(slot);
        return FALSE;
    }
    if (work.mode == (enum tdl_mode)GST_TDL_MODE_PICTURE && in_tiles(session))
        r = frame_tiles(session, slot, live, &output->video->info, &work);
    else if (live->latency_mode == GST_TDL_LATENCY_FRESHEST && session->has_mask && !session->cut)
        r = frame_freshest(session, slot, live, &work);
    else
        r = frame_exact(session, slot, live, &work);
    release(&work);
    if (r == TDL_ERROR_CANCELED)
        return FALSE;
    if (r != TDL_OK)
        return gst_tdl_error_set(error, r, "Cannot process a frame of %dx%d px of %s",
                                 in->info.width, in->info.height, GST_VIDEO_INFO_NAME(&in->info));
    session->frames++;
    return TRUE;
}

GstClockTime gst_tdl_session_latency(const struct gst_tdl_session *session,
                                     const struct gst_tdl_live *live)
{
    enum tdl_device_type type;
    guint64 shared;

    if (live->mode == TDL_MODE_PASSTHROUGH || live->latency_mode == GST_TDL_LATENCY_FRESHEST)
        return 0;
    shared = session->seat ? gst_tdl_seat_network_ns(session->seat) : 0;
    if (shared)
        return MAX(shared, session->infer->network_ns) + batch_wait(session, live) * 1000;
    if (session->ready)
        return session->infer->network_ns * MAX(session->tiles, 1);
    type = tdl_context_device(session->device->context)->type;
    return type == TDL_DEVICE_SOFTWARE || type == TDL_DEVICE_CPU ? GUESSED_LATENCY : 0;
}

void gst_tdl_session_get_stats(const struct gst_tdl_session *session,
                               struct gst_tdl_stats *out_stats)
{
    const struct gst_tdl_flight *flight = &session->flight;

    out_stats->device = g_intern_string(tdl_context_device(session->device->context)->name);
    out_stats->frames = session->frames;
    out_stats->network_runs = session->network_runs;
    out_stats->batching = session->seat ? session->seat->state : NULL;
    out_stats->batches = session->seat ? session->seat->batches : 0;
    out_stats->batched_frames = session->seat ? session->seat->frames : 0;
    out_stats->import = session->importer.stats;
    out_stats->import.cpu_mapped_bytes += gst_tdl_allocator_mapped_bytes(session->upload) +
                                          gst_tdl_allocator_mapped_bytes(session->readback);
    for (guint i = 0; i < GST_TDL_STAGES; i++)
        out_stats->stage_ns[i] =
            flight->stage_runs[i] ? flight->stage_ns[i] / flight->stage_runs[i] : 0;
}
