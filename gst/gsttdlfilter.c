/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tdlfilter
 * @title: tdlfilter
 *
 * Runs a segmentation network on every frame, on the GPU, and hands on the
 * mask, or the picture with its background tinted, blurred, replaced or made
 * transparent. The CPU touches no pixel: upstream writes into memory that the
 * GPU reads, and downstream reads memory that the GPU has written.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! tdlfilter mode=blur ! autovideosink
 * ]|
 *
 * Settings. `settings` is what the properties say now; `active` is the copy
 * that the current frame works with. The streaming thread takes it once per
 * frame, before negotiation, so that caps, buffers and work agree.
 */
#include "gsttdlfilter.h"

#include "gsttdlcaps.h"
#include "gsttdlpool.h"
#include "gsttdlreload.h"
#include "gsttdlsession.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug
GST_DEBUG_CATEGORY_STATIC(performance);

/* Upstream needs this many buffers while the GPU holds its own. */
#define POOL_MIN (GST_TDL_FLIGHT_SLOTS + 1)
/* A new latency is announced when it differs by more. */
#define LATENCY_STEP (5 * GST_MSECOND)

struct _GstTdlFilter {
    GstBaseTransform base;

    /* Streaming thread. */
    GstVideoInfo in_info, out_info;
    gboolean announced_copy;

    /* Guarded by the object lock; `session` itself changes only in start and
     * stop, when nothing streams. */
    struct gst_tdl_settings settings;
    struct gst_tdl_live active;
    gboolean streaming; /* `active` follows the frames, not the properties */
    struct gst_tdl_session *session;
    struct gst_tdl_reload reload;
    GstClockTime latency;
    struct gst_tdl_stats stats;
    const gchar *import_path, *export_path;
};

G_DEFINE_FINAL_TYPE(GstTdlFilter, gst_tdl_filter, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(tdlfilter, "tdlfilter", GST_RANK_NONE, GST_TYPE_TDL_FILTER)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(GST_TDL_FORMATS)));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(GST_TDL_FORMATS)));

/* -------------------------------------------------------------- properties */

static guint first_own_property;
enum { IMPORT_PATH, EXPORT_PATH, STATS };

static void gst_tdl_filter_set_property(GObject *object, guint id, const GValue *value,
                                        GParamSpec *pspec)
{
    GstTdlFilter *self = GST_TDL_FILTER(object);
    enum gst_tdl_effect effect = GST_TDL_LIVE;
    gboolean known;

    GST_OBJECT_LOCK(self);
    known = gst_tdl_settings_set(&self->settings, id, value, &effect);
    if (!self->streaming)
        self->active = self->settings.live;
    GST_OBJECT_UNLOCK(self);
    if (!known)
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    else if (effect == GST_TDL_RENEGOTIATE)
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
    else if (effect == GST_TDL_MODEL)
        gst_tdl_reload_wish(&self->reload, GST_TDL_WISH_MODEL);
    else if (effect == GST_TDL_PICTURE)
        gst_tdl_reload_wish(&self->reload, GST_TDL_WISH_PICTURE);
}

/* Call with the object lock held. */
static GstStructure *gst_tdl_filter_stats(GstTdlFilter *self)
{
    const struct gst_tdl_stats *stats = &self->stats;

    return gst_structure_new(
        "tdl-stats", "frames", G_TYPE_UINT64, stats->frames, "dropped", G_TYPE_UINT64,
        stats->dropped, "network-runs", G_TYPE_UINT64, stats->network_runs, "imports",
        G_TYPE_UINT64, stats->import.imports, "cache-hits", G_TYPE_UINT64,
        stats->import.cache_hits, "cpu-copied-bytes", G_TYPE_UINT64,
        stats->import.cpu_copied_bytes, "preprocess-ns", G_TYPE_UINT64,
        stats->stage_ns[TDL_STAGE_PREPROCESS], "network-ns", G_TYPE_UINT64,
        stats->stage_ns[TDL_STAGE_NETWORK], "compose-ns", G_TYPE_UINT64,
        stats->stage_ns[TDL_STAGE_COMPOSE], NULL);
}

static void gst_tdl_filter_get_property(GObject *object, guint id, GValue *value,
                                        GParamSpec *pspec)
{
    GstTdlFilter *self = GST_TDL_FILTER(object);

    GST_OBJECT_LOCK(self);
    if (id == first_own_property + IMPORT_PATH)
        g_value_set_string(value, self->import_path);
    else if (id == first_own_property + EXPORT_PATH)
        g_value_set_string(value, self->export_path);
    else if (id == first_own_property + STATS)
        g_value_take_boxed(value, gst_tdl_filter_stats(self));
    else if (!gst_tdl_settings_get(&self->settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    GST_OBJECT_UNLOCK(self);
}

static void install_own_properties(GObjectClass *klass)
{
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

    g_object_class_install_property(
        klass, first_own_property + IMPORT_PATH,
        g_param_spec_string("import-path", "Import path",
                            "How the last frame came to the GPU: \"pool\" (written into our own "
                            "memory), \"host-pointer\" (upstream's memory imported), \"copy\" (copied "
                            "by the CPU), \"none\" (no frame yet)", "none", flags));
    g_object_class_install_property(
        klass, first_own_property + EXPORT_PATH,
        g_param_spec_string("export-path", "Export path",
                            "How frames go downstream: \"pool\" (mapped memory that the GPU writes), "
                            "\"passthrough\" (upstream's own buffers), \"none\" (no caps yet)", "none",
                            flags));
    g_object_class_install_property(
        klass, first_own_property + STATS,
        g_param_spec_boxed("stats", "Statistics",
                           "Since the last start: frames, dropped, network-runs, imports, "
                           "cache-hits, cpu-copied-bytes, and the mean GPU time in ns of "
                           "preprocess-ns, network-ns and compose-ns (0 where the device has no "
                           "timestamps)", GST_TYPE_STRUCTURE, flags));
}

/* -------------------------------------------------------------- start, stop */

static gboolean gst_tdl_filter_start(GstBaseTransform *base)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    struct gst_tdl_sources sources;
    struct gst_tdl_session *session;
    GError *error = NULL;

    GST_OBJECT_LOCK(self);
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    gst_tdl_reload_begin(&self->reload);
    GST_OBJECT_UNLOCK(self);
    session = gst_tdl_session_new(&sources, &error);
    gst_tdl_sources_clear(&sources);
    if (!session) {
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return FALSE;
    }
    self->announced_copy = FALSE;
    GST_OBJECT_LOCK(self);
    self->session = session;
    self->active = self->settings.live;
    self->latency = gst_tdl_session_latency(session, &self->active);
    self->stats = (struct gst_tdl_stats){ 0 };
    self->import_path = self->export_path = "none";
    GST_OBJECT_UNLOCK(self);
    gst_tdl_reload_start(&self->reload, session->context);
    return TRUE;
}

static gboolean gst_tdl_filter_stop(GstBaseTransform *base)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    struct gst_tdl_session *session;

    gst_tdl_reload_stop(&self->reload);
    GST_OBJECT_LOCK(self);
    session = g_steal_pointer(&self->session);
    self->streaming = FALSE;
    self->active = self->settings.live;
    GST_OBJECT_UNLOCK(self);
    gst_tdl_session_free(session);
    return TRUE;
}

/* ---------------------------------------------------------------- streaming */

/* Take the settings for what comes now. Streaming thread. */
static void gst_tdl_filter_activate(GstTdlFilter *self)
{
    GstBaseTransform *base = GST_BASE_TRANSFORM(self);
    gboolean passthrough, new_latency;
    gint old_mode;

    GST_OBJECT_LOCK(self);
    old_mode = self->active.mode;
    new_latency = self->active.latency_mode != self->settings.live.latency_mode;
    self->active = self->settings.live;
    self->streaming = TRUE;
    passthrough = self->active.mode == TDL_MODE_PASSTHROUGH;
    if (passthrough)
        self->export_path = "passthrough";
    new_latency |= (old_mode == TDL_MODE_PASSTHROUGH) != passthrough;
    if (new_latency)
        self->latency = gst_tdl_session_latency(self->session, &self->active);
    GST_OBJECT_UNLOCK(self);
    if (gst_base_transform_is_passthrough(base) != passthrough) {
        gst_tdl_session_reset(self->session);
        gst_base_transform_set_passthrough(base, passthrough);
        gst_base_transform_reconfigure_src(base); /* for the output's pool */
    }
    if (new_latency)
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static void gst_tdl_filter_take_loaded(GstTdlFilter *self)
{
    struct gst_tdl_loaded loaded = gst_tdl_reload_take(&self->reload);
    gboolean new_latency = FALSE;

    if (loaded.has_picture)
        gst_tdl_session_take_picture(self->session, loaded.picture);
    if (!loaded.infer)
        return;
    gst_tdl_session_take_infer(self->session, loaded.infer);
    GST_OBJECT_LOCK(self);
    new_latency = ABS(GST_CLOCK_DIFF(self->latency, gst_tdl_session_latency(
                                         self->session, &self->active))) > LATENCY_STEP;
    if (new_latency)
        self->latency = gst_tdl_session_latency(self->session, &self->active);
    GST_OBJECT_UNLOCK(self);
    GST_INFO_OBJECT(self, "the new model takes over");
    if (new_latency)
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static void gst_tdl_filter_refuse_mode(GstTdlFilter *self)
{
    g_autofree gchar *makes = self->active.mode == TDL_MODE_MASK
                                  ? g_strdup("mode=mask makes GRAY8")
                                  : self->active.mode == TDL_MODE_ALPHA
                                        ? g_strdup("mode=alpha makes RGBA or BGRA")
                                        : g_strdup("this mode keeps the input's format");

    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("The elements round tdlfilter do not agree with the mode: %s. Put a "
                       "videoconvert behind tdlfilter (and before it, if the source has none of "
                       "its formats).", makes),
                      (NULL));
}

static GstFlowReturn gst_tdl_filter_submit_input_buffer(GstBaseTransform *base,
                                                        gboolean is_discont, GstBuffer *input)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    gint old_mode = self->active.mode;
    GstClockTime time = gst_segment_to_stream_time(&base->segment, GST_FORMAT_TIME,
                                                   GST_BUFFER_TIMESTAMP(input));
    GstFlowReturn flow;

    if (GST_CLOCK_TIME_IS_VALID(time))
        gst_object_sync_values(GST_OBJECT(self), time);
    gst_tdl_filter_activate(self);
    flow = GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)
               ->submit_input_buffer(base, is_discont, input);
    if (flow == GST_FLOW_NOT_NEGOTIATED && old_mode != self->active.mode)
        gst_tdl_filter_refuse_mode(self);
    if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
        GST_OBJECT_LOCK(self);
        self->stats.dropped++;
        GST_OBJECT_UNLOCK(self);
    }
    return flow;
}

static void gst_tdl_filter_announce_copy(GstTdlFilter *self)
{
    const struct gst_tdl_importer *importer = &self->session->importer;

    if (importer->path != gst_tdl_import_copy || self->announced_copy)
        return;
    self->announced_copy = TRUE;
    GST_CAT_WARNING_OBJECT(performance, self, "the CPU copies every frame into GPU memory (%s)",
                           importer->declined);
    gst_element_post_message(
        GST_ELEMENT(self),
        gst_message_new_element(GST_OBJECT(self),
                                gst_structure_new("tdl-copy", "path", G_TYPE_STRING,
                                                  importer->path, "reason", G_TYPE_STRING,
                                                  importer->declined, NULL)));
}

static GstFlowReturn gst_tdl_filter_transform(GstBaseTransform *base, GstBuffer *input,
                                              GstBuffer *output)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    const gchar *old_path = self->import_path;
    GError *error = NULL;

    gst_tdl_filter_take_loaded(self);
    if (!gst_tdl_session_frame(self->session, &self->active, input, &self->in_info, output,
                               &self->out_info, &error)) {
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return GST_FLOW_ERROR;
    }
    GST_OBJECT_LOCK(self);
    gst_tdl_session_get_stats(self->session, &self->stats);
    self->import_path = self->session->importer.path;
    GST_OBJECT_UNLOCK(self);
    if (old_path != self->import_path)
        g_object_notify(G_OBJECT(self), "import-path");
    gst_tdl_filter_announce_copy(self);
    return GST_FLOW_OK;
}

/* The base class passes the failure of a pool on without a word. */
static GstFlowReturn gst_tdl_filter_prepare_output_buffer(GstBaseTransform *base,
                                                          GstBuffer *input, GstBuffer **output)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    GError *error = NULL;
    GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)
                             ->prepare_output_buffer(base, input, output);

    if (flow == GST_FLOW_ERROR) {
        gst_tdl_error_set(&error, TDL_ERROR_OUT_OF_MEMORY, "Cannot allocate a frame of %dx%d px",
                          self->out_info.width, self->out_info.height);
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
    }
    return flow;
}

static gboolean gst_tdl_filter_sink_event(GstBaseTransform *base, GstEvent *event)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);

    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
        gst_tdl_filter_activate(self);
        break;
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_STREAM_START:
        gst_tdl_session_drain(self->session);
        gst_tdl_session_reset(self->session);
        break;
    case GST_EVENT_EOS:
        gst_tdl_session_drain(self->session);
        break;
    default:
        break;
    }
    return GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)->sink_event(base, event);
}

/* ------------------------------------------------------ caps and allocation */

static enum tdl_mode gst_tdl_filter_mode(GstTdlFilter *self)
{
    enum tdl_mode mode;

    GST_OBJECT_LOCK(self);
    mode = self->active.mode;
    GST_OBJECT_UNLOCK(self);
    return mode;
}

static GstCaps *gst_tdl_filter_transform_caps(GstBaseTransform *base, GstPadDirection direction,
                                              GstCaps *caps, GstCaps *filter)
{
    return gst_tdl_caps_transform(gst_tdl_filter_mode(GST_TDL_FILTER(base)), direction, caps,
                                  filter);
}

static gboolean gst_tdl_filter_set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    GError *error = NULL;

    if (!gst_video_info_from_caps(&self->in_info, in) ||
        !gst_video_info_from_caps(&self->out_info, out)) {
        GST_ERROR_OBJECT(self, "cannot parse %" GST_PTR_FORMAT " or %" GST_PTR_FORMAT, in, out);
        return FALSE;
    }
    gst_tdl_session_reset(self->session);
    if (gst_base_transform_is_passthrough(base) ||
        gst_tdl_session_prepare(self->session, &self->active, &self->in_info, &self->out_info,
                                &error))
        return TRUE;
    gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
    return FALSE;
}

static gboolean gst_tdl_filter_get_unit_size(GstBaseTransform *base, GstCaps *caps, gsize *size)
{
    GstVideoInfo info;

    (void)base;
    if (!gst_video_info_from_caps(&info, caps))
        return FALSE;
    *size = GST_VIDEO_INFO_SIZE(&info);
    return TRUE;
}

static GstAllocator *gst_tdl_filter_ref_allocator(GstTdlFilter *self, gboolean upload)
{
    GstAllocator *allocator = NULL;

    GST_OBJECT_LOCK(self);
    if (self->session)
        allocator = gst_object_ref(upload ? self->session->upload : self->session->readback);
    GST_OBJECT_UNLOCK(self);
    return allocator;
}

/* What upstream writes goes straight to the GPU. It is offered in passthrough,
 * too, so that a change of mode finds frames where they ought to be. */
static gboolean gst_tdl_filter_propose_allocation(GstBaseTransform *base, GstQuery *decide_query,
                                                  GstQuery *query)
{
    GstAllocator *allocator = gst_tdl_filter_ref_allocator(GST_TDL_FILTER(base), TRUE);
    GstBufferPool *pool = NULL;
    GstVideoInfo info;
    gboolean need_pool;
    GstCaps *caps;

    (void)decide_query;
    gst_query_parse_allocation(query, &caps, &need_pool);
    if (!allocator || !caps || !gst_video_info_from_caps(&info, caps)) {
        gst_clear_object(&allocator);
        return FALSE;
    }
    if (need_pool) {
        GstStructure *config;

        pool = gst_tdl_pool_new(allocator);
        config = gst_buffer_pool_get_config(pool);
        gst_buffer_pool_config_set_params(config, caps, info.size, POOL_MIN, 0);
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        gst_buffer_pool_set_config(pool, config);
    }
    gst_query_add_allocation_param(query, allocator, NULL);
    gst_query_add_allocation_pool(query, pool, info.size, POOL_MIN, 0);
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL);
    gst_clear_object(&pool);
    gst_object_unref(allocator);
    return TRUE;
}

/* Downstream's pool would make the CPU copy or wait: always ours, whose map
 * waits for the GPU. (A pool of dma-bufs will be another matter.) */
static gboolean gst_tdl_filter_decide_allocation(GstBaseTransform *base, GstQuery *query)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    GstAllocator *allocator = gst_tdl_filter_ref_allocator(self, FALSE);
    GstBufferPool *pool;
    GstStructure *config;
    guint size = 0, min = 0, max = 0;
    gboolean ok, exists = gst_query_get_n_allocation_pools(query) > 0;
    GstCaps *caps;

    if (!allocator)
        return FALSE;
    gst_query_parse_allocation(query, &caps, NULL);
    if (exists)
        gst_query_parse_nth_allocation_pool(query, 0, NULL, &size, &min, &max);
    pool = gst_tdl_pool_new(allocator);
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&self->out_info), min, 0);
    if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL))
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    ok = gst_buffer_pool_set_config(pool, config);
    if (exists)
        gst_query_set_nth_allocation_pool(query, 0, pool, self->out_info.size, min, 0);
    else
        gst_query_add_allocation_pool(query, pool, self->out_info.size, min, 0);
    GST_OBJECT_LOCK(self);
    self->export_path = "pool";
    GST_OBJECT_UNLOCK(self);
    gst_object_unref(pool);
    gst_object_unref(allocator);
    return ok;
}

/* The output has the input's size: what is said of the picture stays true. */
static gboolean gst_tdl_filter_transform_meta(GstBaseTransform *base, GstBuffer *output,
                                              GstMeta *meta, GstBuffer *input)
{
    (void)base;
    (void)output;
    (void)meta;
    (void)input;
    return TRUE;
}

static gboolean gst_tdl_filter_query(GstBaseTransform *base, GstPadDirection direction,
                                     GstQuery *query)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    GstClockTime min, max;
    gboolean ok, live;

    if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN && direction == GST_PAD_SINK && self->session)
        gst_tdl_session_drain(self->session); /* serialised with the stream */
    ok = GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)->query(base, direction, query);
    if (!ok || GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
        return ok;
    gst_query_parse_latency(query, &live, &min, &max);
    GST_OBJECT_LOCK(self);
    min += self->latency;
    if (GST_CLOCK_TIME_IS_VALID(max))
        max += self->latency;
    GST_OBJECT_UNLOCK(self);
    gst_query_set_latency(query, live, min, max);
    return TRUE;
}

/* -------------------------------------------------------------------- class */

static void gst_tdl_filter_finalize(GObject *object)
{
    gst_tdl_settings_finish(&GST_TDL_FILTER(object)->settings);
    G_OBJECT_CLASS(gst_tdl_filter_parent_class)->finalize(object);
}

static void gst_tdl_filter_class_init(GstTdlFilterClass *klass)
{
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);

    GST_DEBUG_CATEGORY_GET(performance, "GST_PERFORMANCE");
    object->set_property = gst_tdl_filter_set_property;
    object->get_property = gst_tdl_filter_get_property;
    object->finalize = gst_tdl_filter_finalize;
    first_own_property = gst_tdl_settings_install(object);
    install_own_properties(object);

    gst_element_class_set_static_metadata(
        element, "Background filter on the GPU", "Filter/Effect/Video",
        "Finds the person in every frame with a neural network on the GPU (Vulkan) and tints, "
        "blurs, replaces or removes the background, or hands on the mask",
        "The tdlfilter developers");
    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_add_static_pad_template(element, &src_template);

    base->start = gst_tdl_filter_start;
    base->stop = gst_tdl_filter_stop;
    base->submit_input_buffer = gst_tdl_filter_submit_input_buffer;
    base->prepare_output_buffer = gst_tdl_filter_prepare_output_buffer;
    base->transform = gst_tdl_filter_transform;
    base->sink_event = gst_tdl_filter_sink_event;
    base->transform_caps = gst_tdl_filter_transform_caps;
    base->set_caps = gst_tdl_filter_set_caps;
    base->get_unit_size = gst_tdl_filter_get_unit_size;
    base->propose_allocation = gst_tdl_filter_propose_allocation;
    base->decide_allocation = gst_tdl_filter_decide_allocation;
    base->transform_meta = gst_tdl_filter_transform_meta;
    base->query = gst_tdl_filter_query;
}

static void gst_tdl_filter_init(GstTdlFilter *self)
{
    gst_tdl_settings_init(&self->settings);
    gst_tdl_reload_init(&self->reload, GST_ELEMENT(self), &self->settings.sources);
    self->active = self->settings.live;
    self->import_path = self->export_path = "none";
    gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}
