/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlsession.h"

#include "memory/gsttdlallocator.h"
#include "gsttdlshow.h"
#include "network/gsttdltiles.h"
#include "gsttdlwork.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Latency of a network on the CPU until it is measured. A rough guess suffices: the application
 * need not configure a live pipeline's latency twice. */
#define GUESSED_LATENCY (10 * GST_MSECOND)

#define LOAD_UNIT 1e6 /* unit of gst_tdl_device.load */
#define MOST_LOAD 4   /* limit for one stream; a higher load adds no information */

static gboolean open_device(struct gst_tdl_session *session, const struct gst_tdl_sources *sources,
                            guint queues, struct gst_tdl_vulkan *vulkan, GError **error)
{
    GError *refusal = NULL;

    if (vulkan)
        session->device = gst_tdl_vulkan_acquire(vulkan, &refusal);
    if (refusal)
        GST_WARNING("frames do not stay in the neighbours' images: %s", refusal->message);
    g_clear_error(&refusal);
    if (!session->device)
        session->device = gst_tdl_device_acquire(sources->device, sources->threads, queues, error);
    if (!session->device)
        return FALSE;
    gst_tdl_importer_init(&session->importer, session->device);
    session->upload = gst_tdl_allocator_new(session->device, TDL_BUFFER_UPLOAD);
    session->readback = gst_tdl_allocator_new(session->device, TDL_BUFFER_READBACK);
    return TRUE;
}

struct gst_tdl_session *gst_tdl_session_new(const struct gst_tdl_sources *sources, guint queues,
                                            struct gst_tdl_vulkan *vulkan, GError **error)
{
    struct gst_tdl_session *session = g_new0(struct gst_tdl_session, 1);
    enum tdl_result r;

    if (!open_device(session, sources, queues, vulkan, error))
        goto fail;
    r = gst_tdl_flight_init(&session->flight, session->device->context,
                            gst_tdl_device_next_queue(session->device));
    if (r == TDL_OK)
        r = gst_tdl_compose_init(&session->compose, session->device->context);
    if (r != TDL_OK) {
        gst_tdl_error_set(error, r, "Cannot set up the device");
        goto fail;
    }
    gst_tdl_presence_finish(&session->presence); /* empty */
    gst_tdl_load_init(&session->usage.load);
    return session;
fail:
    gst_tdl_session_free(session);
    return NULL;
}

void gst_tdl_session_free(struct gst_tdl_session *session)
{
    if (!session)
        return;
    if (session->device) {
        gst_tdl_session_publish_load(session, NULL);
        gst_tdl_flight_finish(&session->flight);
    }
    if (session->batch_slot)
        gst_tdl_batch_slot_leave(session->batch_slot);
    gst_tdl_presence_finish(&session->presence);
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

/* A stage's time in all runs so far, and their number: of this stream alone and of batches. */
static guint64 stage_sum(const struct gst_tdl_session *session, guint stage, guint64 *out_runs)
{
    const struct gst_tdl_batch_slot *batch_slot =
        stage == GST_TDL_STAGE_NETWORK ? session->batch_slot : NULL;

    *out_runs = session->flight.stage_runs[stage] + (batch_slot ? batch_slot->network_runs : 0);
    return session->flight.stage_ns[stage] + (batch_slot ? batch_slot->network_ns : 0);
}

/* The mean of a stage since the last judgement; `before` if there was no run. */
static guint64 mean_since(struct gst_tdl_session *session, guint stage, guint64 before)
{
    guint64 runs, ns = stage_sum(session, stage, &runs);
    const guint64 new_runs = runs - session->usage.stage_runs[stage];
    const guint64 new_ns = ns - session->usage.stage_ns[stage];

    session->usage.stage_runs[stage] = runs;
    session->usage.stage_ns[stage] = ns;
    return new_runs ? new_ns / new_runs : before;
}

gboolean gst_tdl_session_is_due(struct gst_tdl_session *session)
{
    if (!gst_tdl_load_is_due(&session->usage.load, session->stream.moment.running))
        return FALSE;
    gst_tdl_session_measure(session);
    return TRUE;
}

/* The device has no timestamps: all of a frame's work counts as the network's, where that ran. */
static void measure_by_clock(struct gst_tdl_session *session)
{
    const guint64 busy = gst_tdl_flight_busy_ns(&session->flight);
    const guint64 ns = busy - session->usage.busy_ns;
    const guint64 frames = session->counts.frames - session->usage.busy_frames;
    const guint64 runs = session->counts.network_runs - session->usage.busy_runs;
    const guint64 shared =
        session->batch_slot ? gst_tdl_batch_slot_network_ns(session->batch_slot) : 0;

    session->usage.busy_ns = busy;
    session->usage.busy_frames = session->counts.frames;
    session->usage.busy_runs = session->counts.network_runs;
    if (runs)
        session->usage.cost = (struct gst_tdl_cost){ .network = ns / runs + shared };
    else if (frames)
        session->usage.cost.frame = ns / frames;
}

void gst_tdl_session_measure(struct gst_tdl_session *session)
{
    if (!tdl_context_device(session->device->context)->timestamps) {
        measure_by_clock(session);
        return;
    }
    session->usage.cost.picture =
        mean_since(session, GST_TDL_STAGE_PREPROCESS, session->usage.cost.picture);
    session->usage.cost.network =
        mean_since(session, GST_TDL_STAGE_NETWORK, session->usage.cost.network);
    session->usage.cost.frame =
        mean_since(session, GST_TDL_STAGE_COMPOSE, session->usage.cost.frame);
}

void gst_tdl_session_strain(const struct gst_tdl_session *session, const struct gst_tdl_live *live,
                            gboolean late, struct gst_tdl_strain *out_strain)
{
    const gint others = g_atomic_int_get(&session->device->load) - session->usage.published;
    const guint interval = gst_tdl_load_interval(&session->usage.load, live);
    const gdouble duration = MAX(session->stream.interval, 1);
    const gdouble runs = 1. / MAX(interval, 1),
                  rate = live->max_rate > 0 ? live->max_rate * duration / GST_SECOND : runs;

    *out_strain = (struct gst_tdl_strain){ .cost = session->usage.cost,
                                           .duration = duration,
                                           .runs = MIN(runs, rate),
                                           .others = MAX(others, 0) / LOAD_UNIT,
                                           .late = late,
                                           .thinned = interval > live->interval };
}

void gst_tdl_session_publish_load(struct gst_tdl_session *session,
                                  const struct gst_tdl_strain *strain)
{
    gdouble share = 0;
    gint published;

    if (strain)
        share =
            (strain->cost.frame + (strain->cost.picture + strain->cost.network) * strain->runs) /
            strain->duration;
    published = (gint)(MIN(share, MOST_LOAD) * LOAD_UNIT);
    g_atomic_int_add(&session->device->load, published - session->usage.published);
    session->usage.published = published;
}

/* TRUE where that is another answer than before, or one to another prompt. */
static gboolean see_object(struct gst_tdl_object *object, const struct gst_tdl_seen *seen)
{
    const gboolean is_new = seen->prompt != object->seen.prompt, found = seen->share > 0;

    if (!seen->prompt || (!is_new && found == object->found))
        return FALSE;
    *object = (struct gst_tdl_object){ *seen, found, is_new };
    return TRUE;
}

guint gst_tdl_session_watch(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                            struct gst_tdl_moment *out_since)
{
    struct gst_tdl_presence *presence = &session->presence;
    struct gst_tdl_seen seen;
    guint changed = 0;

    if (!gst_tdl_plan_watches(live, GST_TDL_OUTPUT_MASK) && presence->graph)
        gst_tdl_presence_finish(presence);
    while (!changed && gst_tdl_presence_look(presence, session->device->context, &seen)) {
        if (live->presence &&
            gst_tdl_watch_see(&presence->watch, live, seen.share, &seen.moment, out_since))
            changed |= GST_TDL_CHANGED_PRESENCE;
        if (see_object(&session->object, &seen))
            changed |= GST_TDL_CHANGED_OBJECT;
    }
    return changed;
}

void gst_tdl_session_discontinue(struct gst_tdl_session *session, gboolean forget)
{
    session->stream.state.discontinuity = TRUE;
    if (session->infer)
        gst_tdl_infer_forget(session->infer);
    if (!forget)
        return;
    session->presence.watch.since.running = GST_CLOCK_TIME_NONE; /* time may be another */
    gst_tdl_compose_reset(&session->compose);
    session->stream.state.has_mask = FALSE;
    session->stream.state.running = FALSE;
}

void gst_tdl_session_reset(struct gst_tdl_session *session)
{
    gst_tdl_importer_forget(&session->importer);
    gst_tdl_session_discontinue(session, TRUE);
}

enum tdl_result gst_tdl_session_drain(struct gst_tdl_session *session)
{
    return gst_tdl_flight_retire(&session->flight, TRUE);
}

void gst_tdl_session_set_ready(struct gst_tdl_session *session)
{
    session->ready = TRUE;
}

void gst_tdl_session_give_infer(struct gst_tdl_session *session, struct gst_tdl_infer *infer)
{
    session->infer = infer;
    session->compose.look = infer->model->look;
    session->compose.colors = gst_tdl_infer_colors(infer, FALSE);
}

void gst_tdl_session_take_infer(struct gst_tdl_session *session, struct gst_tdl_infer *infer)
{
    if (session->batch_slot)
        gst_tdl_batch_slot_leave(session->batch_slot);
    gst_tdl_infer_free(session->infer);
    gst_tdl_session_give_infer(session, infer);
    gst_tdl_session_reset(session); /* masks of two models do not mix */
}

void gst_tdl_session_take_picture(struct gst_tdl_session *session, struct gst_tdl_picture *picture)
{
    g_clear_pointer(&session->compose.picture, gst_tdl_picture_free);
    session->compose.picture = picture;
}

gboolean gst_tdl_session_is_closed(const struct gst_tdl_session *session,
                                   const struct gst_tdl_live *live)
{
    return gst_tdl_plan_covers(live, session->infer->model->kind);
}

gboolean gst_tdl_session_in_tiles(const struct gst_tdl_session *session)
{
    return session->infer->model->fit == GST_TDL_FIT_TILES;
}

struct reading {
    struct gst_tdl_infer *infer;
    const struct tdl_frame *frame;
};

static gpointer prepare_reading(gpointer data)
{
    const struct reading *reading = data;

    gst_tdl_infer_prepare(reading->infer, reading->frame, NULL);
    return NULL;
}

/* Compiles the pipelines that read pictures in a second thread, beside those that compose; on
 * software Vulkan that gains nothing. A later call finds the pipelines, or returns the error. */
static GThread *begin_reading(struct gst_tdl_session *session, struct reading *reading)
{
    const enum tdl_device_type type = tdl_context_device(session->device->context)->type;

    if (type == TDL_DEVICE_SOFTWARE || type == TDL_DEVICE_CPU)
        return NULL;
    return g_thread_try_new("tdl-compile", prepare_reading, reading, NULL);
}

gboolean gst_tdl_session_prepare(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                                 const struct gst_tdl_video *in, const struct gst_tdl_video *out,
                                 GError **error)
{
    enum gst_tdl_mode mode = gst_tdl_work_mode(live, in, out);
    struct gst_tdl_frames frames = { .pixel_aspect = gst_tdl_work_pixel_aspect(&in->info) };
    struct reading reading = { session->infer, &frames.source_part };
    GThread *beside;
    enum tdl_result r;

    gst_tdl_caps_frame(&in->info, &frames.source_part);
    gst_tdl_caps_frame(&out->info, &frames.target_part);
    session->tiles = gst_tdl_session_in_tiles(session)
                         ? gst_tdl_tiles_count(session->infer->model, frames.source_part.width,
                                               frames.source_part.height, live->tile_overlap)
                         : 1;
    if (session->tiles > GST_TDL_MAX_TILES) {
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "%dx%d px are %u tiles, and a frame may have %d: have the model take more at "
                    "once (model-size, unless its file fixes that), or less tile-overlap.",
                    in->info.width, in->info.height, session->tiles, GST_TDL_MAX_TILES);
        return FALSE;
    }
    beside = begin_reading(session, &reading);
    if (gst_tdl_settings_output_of(mode) != GST_TDL_OUTPUT_MASK)
        r = gst_tdl_show_prepare(session->infer->mask, &session->infer->model->shown, live, mode,
                                 &frames, &session->compile);
    else
        r = gst_tdl_compose_prepare(&session->compose, live, mode, &frames, &session->compile);
    g_clear_pointer(&beside, g_thread_join);
    if (r == TDL_OK)
        r = gst_tdl_infer_prepare(session->infer, &frames.source_part, &session->compile);
    if (r != TDL_OK && r != TDL_ERROR_CANCELED)
        return gst_tdl_error_set(error, r, "Cannot prepare for %dx%d px of %s", in->info.width,
                                 in->info.height, GST_VIDEO_INFO_NAME(&in->info));
    return TRUE;
}

gint64 gst_tdl_session_batch_wait(const struct gst_tdl_session *session,
                                  const struct gst_tdl_live *live)
{
    return live->batch_timeout < 0 ? session->stream.interval / 1000 : live->batch_timeout * 1000;
}

const gchar *gst_tdl_session_model(const struct gst_tdl_session *session)
{
    const struct gst_tdl_infer *infer = session->infer;

    if (!infer)
        return "";
    return infer->choice.rung == GST_TDL_NO_RUNG ? g_intern_string(infer->model->name)
                                                 : gst_tdl_rung_name(infer->choice.rung);
}

GstClockTime gst_tdl_session_latency(const struct gst_tdl_session *session,
                                     const struct gst_tdl_live *live)
{
    enum tdl_device_type type;
    guint64 shared;

    if (live->mode == GST_TDL_MODE_PASSTHROUGH || live->latency_mode == GST_TDL_LATENCY_FRESHEST)
        return 0;
    shared = session->batch_slot ? gst_tdl_batch_slot_network_ns(session->batch_slot) : 0;
    if (shared)
        return MAX(shared, session->infer->network_ns) +
               gst_tdl_session_batch_wait(session, live) * 1000;
    if (session->ready)
        return session->infer->network_ns * MAX(session->tiles, 1);
    type = tdl_context_device(session->device->context)->type;
    return type == TDL_DEVICE_SOFTWARE || type == TDL_DEVICE_CPU ? GUESSED_LATENCY : 0;
}

void gst_tdl_session_get_stats(const struct gst_tdl_session *session,
                               const struct gst_tdl_live *live, struct gst_tdl_stats *out_stats)
{
    out_stats->device = g_intern_string(tdl_context_device(session->device->context)->name);
    out_stats->model = gst_tdl_session_model(session);
    out_stats->frames = session->counts.frames;
    out_stats->closed = session->counts.closed;
    out_stats->network_runs = session->counts.network_runs;
    out_stats->interval = gst_tdl_load_interval(&session->usage.load, live);
    out_stats->present = session->presence.watch.present;
    out_stats->share = session->presence.watch.share;
    out_stats->batching = session->batch_slot ? session->batch_slot->state : NULL;
    out_stats->batches = session->batch_slot ? session->batch_slot->batches : 0;
    out_stats->batched_frames = session->batch_slot ? session->batch_slot->frames : 0;
    out_stats->import = session->importer.stats;
    out_stats->import.cpu_mapped_bytes += gst_tdl_allocator_mapped_bytes(session->upload) +
                                          gst_tdl_allocator_mapped_bytes(session->readback);
    for (guint i = 0; i < GST_TDL_STAGES; i++) {
        guint64 runs, ns = stage_sum(session, i, &runs);

        out_stats->stage_ns[i] = runs ? ns / runs : 0;
    }
}
