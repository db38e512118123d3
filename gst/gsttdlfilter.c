/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tdlfilter
 * @title: tdlfilter
 *
 * Runs a segmentation network on every frame, on the GPU, and hands on the
 * mask, or the picture with the person tinted, or with its background blurred,
 * replaced or made transparent. The CPU touches no pixel: upstream writes into memory that the
 * GPU reads, and downstream reads memory that the GPU has written.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! tdlfilter mode=blur ! videoconvert ! autovideosink
 * ]|
 *
 * Settings. `settings` is what the properties say now; `active` is the copy
 * that the current frame works with. The streaming thread takes it once per
 * frame, before negotiation, so that caps, buffers and work agree.
 */
#include "gsttdlfilter-private.h"

#include "gsttdlexport.h"
#include "gsttdlfitted.h"
#include "gsttdllegend.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* A new latency is announced when it differs by more. */
#define LATENCY_STEP (5 * GST_MSECOND)

G_DEFINE_FINAL_TYPE(GstTdlFilter, gst_tdl_filter, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(tdlfilter, "tdlfilter", GST_RANK_NONE, GST_TYPE_TDL_FILTER)

/* -------------------------------------------------------------- properties */

static guint first_own_property; /* of enum gst_tdl_told */

/* Work with the settings of now, but for a mode whose network is still to come: what was
 * shown is shown until then. Call with the object lock held. */
static void gst_tdl_filter_adopt(GstTdlFilter *self)
{
    gint before = self->active.mode;

    self->active = self->settings.live;
    if (!self->session || gst_tdl_output_fits(self->output, self->active.mode))
        return;
    self->active.mode = gst_tdl_output_fits(self->output, before) ? before : TDL_MODE_PASSTHROUGH;
}

static void gst_tdl_filter_set_property(GObject *object, guint id, const GValue *value,
                                        GParamSpec *pspec)
{
    GstTdlFilter *self = GST_TDL_FILTER(object);
    enum gst_tdl_effect effect = GST_TDL_LIVE;
    gboolean known;

    GST_OBJECT_LOCK(self);
    known = gst_tdl_settings_set(&self->settings, id, value, &effect);
    if (!self->streaming)
        gst_tdl_filter_adopt(self);
    GST_OBJECT_UNLOCK(self);
    if (!known)
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    else if (effect == GST_TDL_RENEGOTIATE)
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
    else if (effect == GST_TDL_MODEL || effect == GST_TDL_OTHER_OUTPUT)
        gst_tdl_reload_wish(&self->reload, GST_TDL_WISH_MODEL);
    else if (effect == GST_TDL_PICTURE)
        gst_tdl_reload_wish(&self->reload, GST_TDL_WISH_PICTURE);
}

static void gst_tdl_filter_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
    GstTdlFilter *self = GST_TDL_FILTER(object);

    GST_OBJECT_LOCK(self);
    if (id == first_own_property + GST_TDL_TOLD_IMPORT_PATH)
        g_value_set_string(value, self->import_path);
    else if (id == first_own_property + GST_TDL_TOLD_EXPORT_PATH)
        g_value_set_string(value, self->export_path);
    else if (id == first_own_property + GST_TDL_TOLD_STATS)
        g_value_take_boxed(value, gst_tdl_report_stats(&self->stats));
    else if (!gst_tdl_settings_get(&self->settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    GST_OBJECT_UNLOCK(self);
}

/* -------------------------------------------------------------- start, stop */

void gst_tdl_filter_tell_paths(GstTdlFilter *self, const gchar *import, const gchar *export)
{
    gboolean new_import, new_export;

    GST_OBJECT_LOCK(self);
    new_import = import && g_strcmp0(import, self->import_path);
    new_export = export && g_strcmp0(export, self->export_path);
    if (new_import)
        self->import_path = import;
    if (new_export)
        self->export_path = export;
    GST_OBJECT_UNLOCK(self);
    if (new_import)
        g_object_notify(G_OBJECT(self), "import-path");
    if (new_export)
        g_object_notify(G_OBJECT(self), "export-path");
}

/* Only mode=replace cannot do without; the others may become it. */
static gboolean gst_tdl_filter_load_picture(GstTdlFilter *self, struct gst_tdl_session *session,
                                            const gchar *name, gboolean needed)
{
    struct gst_tdl_picture *picture;
    GError *error = NULL;

    if (!*name)
        return TRUE;
    picture = gst_tdl_picture_load(session->device->context, name, &error);
    if (picture)
        error = gst_tdl_picture_notice(picture, name);
    if (error)
        gst_tdl_error_post(self, picture || !needed ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR,
                           error);
    gst_tdl_session_take_picture(session, picture);
    return picture || !needed;
}

/* Of the network that the session has now. Call with the object lock held. */
static void gst_tdl_filter_note_output(GstTdlFilter *self)
{
    self->output = self->session->infer->model->kind;
    self->scale = self->session->infer->model->scale;
}

static gboolean gst_tdl_filter_start(GstBaseTransform *base)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    struct gst_tdl_sources sources;
    struct gst_tdl_session *session;
    GError *error = NULL;
    gboolean replaces, complete;
    gint mode;

    GST_OBJECT_LOCK(self);
    mode = self->settings.live.mode;
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    replaces = self->settings.live.mode == TDL_MODE_REPLACE;
    gst_tdl_reload_begin(&self->reload);
    GST_OBJECT_UNLOCK(self);
    if ((!*sources.device || !strcmp(sources.device, "auto")) &&
        g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") != 0)
        gst_tdl_vulkan_find(&self->vulkan, GST_ELEMENT(self));
    session = gst_tdl_session_new(&sources, &self->vulkan, &error);
    if (!session)
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
    complete = session && gst_tdl_filter_load_picture(self, session, sources.background, replaces);
    gst_tdl_sources_clear(&sources);
    if (!complete) {
        gst_tdl_session_free(session);
        return FALSE;
    }
    session->compile = (struct tdl_compile_params){ .progress = gst_tdl_begin_goes_on,
                                                    .progress_data = &self->begin };
    self->report = (struct gst_tdl_report){ 0 };
    self->misfits = (struct gst_tdl_misfits){ 0 };
    gst_tdl_cut_init(&self->cut);
    self->fitted[0] = self->fitted[1] = 0;
    GST_OBJECT_LOCK(self);
    self->session = session;
    self->hinted = FALSE;
    gst_tdl_session_abilities(session, &self->abilities);
    self->active.mode = mode;
    gst_tdl_filter_note_output(self);
    gst_tdl_filter_adopt(self);
    self->latency = gst_tdl_session_latency(session, &self->active);
    self->stats = (struct gst_tdl_stats){ 0 };
    GST_OBJECT_UNLOCK(self);
    gst_tdl_filter_tell_paths(self, "none", "none");
    gst_tdl_begin_start(&self->begin, session->device, session->infer);
    return TRUE;
}

/* The first network is there, and wishes for another one are taken on. */
static void gst_tdl_filter_compiled(GstElement *element)
{
    GstTdlFilter *self = GST_TDL_FILTER(element);

    gst_tdl_reload_start(&self->reload, self->begin.device);
}

static GstStateChangeReturn gst_tdl_filter_change_state(GstElement *element,
                                                        GstStateChange transition)
{
    if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
        gst_tdl_begin_cancel(&GST_TDL_FILTER(element)->begin);
    return GST_ELEMENT_CLASS(gst_tdl_filter_parent_class)->change_state(element, transition);
}

static gboolean gst_tdl_filter_stop(GstBaseTransform *base)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    struct gst_tdl_session *session;

    gst_tdl_begin_stop(&self->begin);
    gst_tdl_reload_stop(&self->reload);
    gst_tdl_mask_pad_stop(&self->mask);
    GST_OBJECT_LOCK(self);
    session = g_steal_pointer(&self->session);
    gst_tdl_session_abilities(NULL, &self->abilities);
    self->streaming = FALSE;
    self->active = self->settings.live;
    GST_OBJECT_UNLOCK(self);
    gst_tdl_session_free(session);
    gst_tdl_vulkan_clear(&self->vulkan);
    return TRUE;
}

static GstPad *gst_tdl_filter_request_new_pad(GstElement *element, GstPadTemplate *templ,
                                              const gchar *name, const GstCaps *caps)
{
    (void)name, (void)caps;
    return gst_tdl_mask_pad_request(&GST_TDL_FILTER(element)->mask, templ);
}

static void gst_tdl_filter_release_pad(GstElement *element, GstPad *pad)
{
    gst_tdl_mask_pad_release(&GST_TDL_FILTER(element)->mask, pad);
}

static void gst_tdl_filter_set_context(GstElement *element, GstContext *context)
{
    gst_tdl_vulkan_set_context(&GST_TDL_FILTER(element)->vulkan, element, context);
    GST_ELEMENT_CLASS(gst_tdl_filter_parent_class)->set_context(element, context);
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
    gst_tdl_filter_adopt(self);
    self->streaming = TRUE;
    passthrough = self->active.mode == TDL_MODE_PASSTHROUGH;
    new_latency |= (old_mode == TDL_MODE_PASSTHROUGH) != passthrough;
    if (new_latency)
        self->latency = gst_tdl_session_latency(self->session, &self->active);
    GST_OBJECT_UNLOCK(self);
    if (passthrough)
        gst_tdl_filter_tell_paths(self, "passthrough", "passthrough");
    if (gst_base_transform_is_passthrough(base) != passthrough) {
        gst_tdl_session_reset(self->session);
        gst_base_transform_set_passthrough(base, passthrough);
        gst_base_transform_reconfigure_src(base);  /* for the output's pool */
        gst_base_transform_reconfigure_sink(base); /* for upstream's: whose is offered changes */
    }
    if (new_latency)
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/* A network was measured. */
static void gst_tdl_filter_update_latency(GstTdlFilter *self)
{
    GstClockTime latency;
    gboolean new_latency;

    GST_OBJECT_LOCK(self);
    latency = gst_tdl_session_latency(self->session, &self->active);
    new_latency = ABS(GST_CLOCK_DIFF(self->latency, latency)) > LATENCY_STEP;
    if (new_latency)
        self->latency = latency;
    GST_OBJECT_UNLOCK(self);
    if (new_latency)
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/* A network that shows classes comes to work. */
static void gst_tdl_filter_tell_legend(GstTdlFilter *self)
{
    struct gst_tdl_sources sources;

    if (self->output != GST_TDL_OUTPUT_CLASSES)
        return;
    GST_OBJECT_LOCK(self);
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    GST_OBJECT_UNLOCK(self);
    gst_tdl_legend_post(GST_ELEMENT(self), sources.labels, sources.palette);
    gst_tdl_sources_clear(&sources);
}

/* What was loaded meanwhile, before caps are agreed on, as these may follow from it. */
static void gst_tdl_filter_take_loaded(GstTdlFilter *self)
{
    struct gst_tdl_loaded loaded = gst_tdl_reload_take(&self->reload);

    if (loaded.has_picture)
        gst_tdl_session_take_picture(self->session, loaded.picture);
    if (!loaded.infer)
        return;
    gst_tdl_session_take_infer(self->session, loaded.infer);
    self->fitted[0] = self->fitted[1] = 0;
    GST_OBJECT_LOCK(self);
    gst_tdl_filter_note_output(self);
    GST_OBJECT_UNLOCK(self);
    gst_tdl_filter_update_latency(self);
    gst_tdl_filter_tell_legend(self);
    if (self->output != GST_TDL_OUTPUT_MASK || self->active.mode > TDL_MODE_PASSTHROUGH)
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
    GST_INFO_OBJECT(self, "the new model takes over");
}

/* Wait for the first network. */
static GstFlowReturn gst_tdl_filter_wait(GstTdlFilter *self)
{
    GstFlowReturn flow = gst_tdl_begin_wait(&self->begin);

    if (flow == GST_FLOW_OK && !self->session->ready) {
        gst_tdl_session_set_ready(self->session);
        gst_tdl_filter_update_latency(self);
        gst_tdl_filter_tell_legend(self);
    }
    return flow;
}

/* With model-size=frame: a network for frames as they are now. */
static GstFlowReturn gst_tdl_filter_fit(GstTdlFilter *self)
{
    const gint size[2] = { self->in.info.width, self->in.info.height };
    struct gst_tdl_infer *infer = NULL;
    struct gst_tdl_sources sources;
    GError *error = NULL;
    gboolean due;

    GST_OBJECT_LOCK(self);
    due = !strcmp(self->settings.sources.model_size, "frame") &&
          (self->fitted[0] != size[0] || self->fitted[1] != size[1]);
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    sources.output = self->output;
    GST_OBJECT_UNLOCK(self);
    if (due)
        infer = gst_tdl_fitted_load(self->session->device->context, &sources, size, &self->begin,
                                    &error);
    gst_tdl_sources_clear(&sources);
    if (error)
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
    if (!infer)
        return !due ? GST_FLOW_OK : error ? GST_FLOW_ERROR : GST_FLOW_FLUSHING;
    gst_tdl_session_take_infer(self->session, infer);
    self->fitted[0] = size[0];
    self->fitted[1] = size[1];
    gst_tdl_filter_update_latency(self);
    return GST_FLOW_OK;
}

/* The frame to the session, and its mask down its own pad, if anybody wants it.
 * `output` NULL: the mask alone. */
static GstFlowReturn gst_tdl_filter_compose(GstTdlFilter *self, GstBuffer *input, GstBuffer *output)
{
    struct gst_tdl_target source = { input, &self->in }, frame = { output, &self->out };
    struct gst_tdl_target mask = { NULL, &self->mask.video };
    GstFlowReturn flow = GST_FLOW_OK;
    GError *error = NULL;

    mask.buffer =
        gst_tdl_mask_pad_begin(&self->mask, self->session, &self->active, &self->in, input, &error);
    if (!error && (output || mask.buffer))
        flow = gst_tdl_filter_wait(self);
    if (flow == GST_FLOW_OK && !error && (output || mask.buffer))
        flow = gst_tdl_filter_fit(self);
    if (flow != GST_FLOW_OK) {
        gst_clear_buffer(&mask.buffer);
        return flow;
    }
    if (error ||
        ((output || mask.buffer) &&
         !gst_tdl_session_frame(self->session, &self->active, &source, &frame, &mask, &error))) {
        gst_clear_buffer(&mask.buffer);
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return GST_FLOW_ERROR;
    }
    GST_OBJECT_LOCK(self);
    gst_tdl_session_get_stats(self->session, &self->stats);
    GST_OBJECT_UNLOCK(self);
    if (mask.buffer)
        gst_tdl_mask_pad_push(&self->mask, mask.buffer);
    return GST_FLOW_OK;
}

/* The base class lets frames pass by transform: their masks are made here. */
static GstFlowReturn gst_tdl_filter_pass(GstTdlFilter *self, GstBuffer *input)
{
    if (!self->in.info.finfo ||
        gst_tdl_format(GST_VIDEO_INFO_FORMAT(&self->in.info)) == TDL_FORMAT_UNKNOWN ||
        !gst_tdl_misfit_meta_fits(&self->in, input))
        return GST_FLOW_OK;
    return gst_tdl_filter_compose(self, input, NULL);
}

/* In passthrough nobody here looks at the frame but for its mask. */
static GstFlowReturn gst_tdl_filter_judge(GstTdlFilter *self, GstBuffer *input)
{
    GError *error = NULL;
    enum gst_tdl_verdict verdict = GST_TDL_TAKE;

    if (self->active.mode == TDL_MODE_PASSTHROUGH)
        return gst_tdl_mask_pad_exists(&self->mask) ? gst_tdl_filter_pass(self, input)
                                                    : GST_FLOW_OK;
    if (self->in.info.finfo)
        verdict = gst_tdl_misfits_judge(&self->misfits, &self->in, input, &error);
    if (verdict == GST_TDL_TAKE)
        return GST_FLOW_OK;
    if (error)
        gst_tdl_error_post(self, verdict == GST_TDL_DROP ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR,
                           error);
    return verdict == GST_TDL_DROP ? GST_BASE_TRANSFORM_FLOW_DROPPED : GST_FLOW_ERROR;
}

/* A frame that does not follow the one before wears no mask of before: what is
 * to be hidden would show in the old outline. */
static void gst_tdl_filter_find_cut(GstTdlFilter *self, GstBuffer *input)
{
    if (gst_tdl_cut_before(&self->cut, GST_BUFFER_PTS(input)))
        gst_tdl_session_cut(self->session, TRUE);
    else if (GST_BUFFER_IS_DISCONT(input))
        gst_tdl_session_cut(self->session, FALSE);
}

static GstFlowReturn gst_tdl_filter_submit_input_buffer(GstBaseTransform *base, gboolean is_discont,
                                                        GstBuffer *input)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    gint old_mode = self->active.mode;
    GstClockTime time = GST_CLOCK_TIME_NONE;
    GstFlowReturn flow;

    if (base->segment.format == GST_FORMAT_TIME) /* files and programs may count bytes */
        time = gst_segment_to_stream_time(&base->segment, GST_FORMAT_TIME,
                                          GST_BUFFER_TIMESTAMP(input));
    if (GST_CLOCK_TIME_IS_VALID(time))
        gst_object_sync_values(GST_OBJECT(self), time);
    if (self->session->ready)
        gst_tdl_filter_take_loaded(self);
    gst_tdl_filter_activate(self);
    gst_tdl_filter_find_cut(self, input);
    flow = gst_tdl_filter_judge(self, input);
    if (flow == GST_FLOW_OK)
        flow = GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)
                   ->submit_input_buffer(base, is_discont, input);
    else
        gst_buffer_unref(input); /* the base class's from the call on */
    if (flow == GST_FLOW_NOT_NEGOTIATED && old_mode != self->active.mode)
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, gst_tdl_report_disagreement(self->active.mode));
    if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
        GST_OBJECT_LOCK(self);
        self->stats.dropped++;
        self->stats.mismatched = self->misfits.count;
        GST_OBJECT_UNLOCK(self);
    }
    return flow;
}

/* Frames that a device made go on in memory for the CPU. */
static gboolean gst_tdl_filter_falls_back(GstTdlFilter *self)
{
    return self->export_path == gst_tdl_export_pool && self->session->importer.gpu;
}

static GstFlowReturn gst_tdl_filter_report(GstTdlFilter *self)
{
    const struct gst_tdl_importer *importer = &self->session->importer;

    if (importer->path == gst_tdl_import_copy)
        gst_tdl_report_fallback(&self->report, GST_ELEMENT(self), GST_TDL_INPUT, importer->path,
                                importer->declined);
    if (!gst_tdl_filter_falls_back(self))
        return GST_FLOW_OK;
    if (!self->active.require_zero_copy) {
        gst_tdl_report_fallback(&self->report, GST_ELEMENT(self), GST_TDL_OUTPUT, self->export_path,
                                self->export_reason->str);
        return GST_FLOW_OK;
    }
    gst_tdl_error_post(self, GST_MESSAGE_ERROR,
                       gst_tdl_report_output_error(self->export_path, self->export_reason->str));
    return GST_FLOW_ERROR;
}

static GstFlowReturn gst_tdl_filter_transform(GstBaseTransform *base, GstBuffer *input,
                                              GstBuffer *output)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    GstFlowReturn flow = gst_tdl_filter_compose(self, input, output);

    if (flow != GST_FLOW_OK)
        return flow;
    gst_tdl_filter_tell_paths(self, self->session->importer.path, NULL);
    return gst_tdl_filter_report(self);
}

/* The base class passes the failure of a pool on without a word. */
static GstFlowReturn gst_tdl_filter_prepare_output_buffer(GstBaseTransform *base, GstBuffer *input,
                                                          GstBuffer **output)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);
    GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)
                             ->prepare_output_buffer(base, input, output);

    if (flow == GST_FLOW_ERROR)
        gst_tdl_error_post_no_frame(self, self->session->device->context, &self->out.info);
    return flow;
}

/* Frames that are on their way downstream may have come to nothing: no frame is
 * left that would say so. */
static void gst_tdl_filter_end(GstTdlFilter *self)
{
    enum tdl_result r = gst_tdl_session_drain(self->session);
    GError *error = NULL;

    if (r == TDL_OK)
        return;
    gst_tdl_error_set(&error, r, "Cannot finish the last frames");
    gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
}

/* The base class knows of one source pad. */
static GstFlowReturn gst_tdl_filter_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
    GstTdlFilter *self = GST_TDL_FILTER(parent);

    return gst_tdl_mask_pad_combine(&self->mask, self->chain(pad, parent, buffer));
}

static gboolean gst_tdl_filter_sink_event(GstBaseTransform *base, GstEvent *event)
{
    GstTdlFilter *self = GST_TDL_FILTER(base);

    gst_tdl_mask_pad_event(&self->mask, event);
    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
        gst_tdl_filter_activate(self);
        break;
    case GST_EVENT_FLUSH_START:
        gst_tdl_begin_set_flushing(&self->begin, TRUE);
        break;
    case GST_EVENT_FLUSH_STOP:
        gst_tdl_begin_set_flushing(&self->begin, FALSE);
        /* fall through */
    case GST_EVENT_STREAM_START:
        gst_tdl_session_drain(self->session);
        gst_tdl_session_reset(self->session);
        break;
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
        gst_tdl_cut_init(&self->cut);
        gst_tdl_session_cut(self->session, TRUE);
        break;
    case GST_EVENT_EOS:
        gst_tdl_filter_end(self);
        break;
    default:
        break;
    }
    return GST_BASE_TRANSFORM_CLASS(gst_tdl_filter_parent_class)->sink_event(base, event);
}

/* -------------------------------------------------------------------- class */

static void gst_tdl_filter_finalize(GObject *object)
{
    gst_tdl_mask_pad_finish(&GST_TDL_FILTER(object)->mask);
    gst_tdl_settings_finish(&GST_TDL_FILTER(object)->settings);
    gst_tdl_vulkan_finish(&GST_TDL_FILTER(object)->vulkan);
    gst_tdl_begin_finish(&GST_TDL_FILTER(object)->begin);
    g_string_free(GST_TDL_FILTER(object)->export_reason, TRUE);
    G_OBJECT_CLASS(gst_tdl_filter_parent_class)->finalize(object);
}

static void add_pad_templates(GstElementClass *element)
{
    struct gst_tdl_abilities all;
    GstCaps *caps;

    gst_tdl_session_abilities(NULL, &all);
    caps = gst_tdl_caps_template(&all);
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
}

static void gst_tdl_filter_class_init(GstTdlFilterClass *klass)
{
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);

    object->set_property = gst_tdl_filter_set_property;
    object->get_property = gst_tdl_filter_get_property;
    object->finalize = gst_tdl_filter_finalize;
    first_own_property = gst_tdl_settings_install(object);
    gst_tdl_report_install(object, first_own_property);

    element->change_state = gst_tdl_filter_change_state;
    element->set_context = gst_tdl_filter_set_context;
    gst_element_class_set_static_metadata(
        element, "Neural network filter", "Filter/Effect/Video",
        "Finds the person in every frame with a neural network on the GPU (Vulkan), or on the CPU, "
        "and tints the person, blurs, replaces or removes the background, or hands on the mask; "
        "with other models cuts out other things, enlarges pictures, or shows depth or classes",
        "The tdlfilter developers");
    add_pad_templates(element);
    gst_tdl_mask_pad_install(element);
    element->request_new_pad = gst_tdl_filter_request_new_pad;
    element->release_pad = gst_tdl_filter_release_pad;

    base->start = gst_tdl_filter_start;
    base->stop = gst_tdl_filter_stop;
    base->submit_input_buffer = gst_tdl_filter_submit_input_buffer;
    base->prepare_output_buffer = gst_tdl_filter_prepare_output_buffer;
    base->transform = gst_tdl_filter_transform;
    base->sink_event = gst_tdl_filter_sink_event;
    gst_tdl_negotiate_install(base);
}

static void gst_tdl_filter_init(GstTdlFilter *self)
{
    gst_tdl_settings_init(&self->settings);
    gst_tdl_reload_init(&self->reload, GST_ELEMENT(self), &self->settings.sources);
    self->active = self->settings.live;
    self->export_reason = g_string_new(NULL);
    gst_tdl_vulkan_init(&self->vulkan);
    gst_tdl_begin_init(&self->begin, GST_ELEMENT(self), gst_tdl_filter_compiled);
    gst_tdl_session_abilities(NULL, &self->abilities);
    self->import_path = self->export_path = "none";
    gst_tdl_mask_pad_init(&self->mask, GST_BASE_TRANSFORM(self));
    self->chain = GST_PAD_CHAINFUNC(GST_BASE_TRANSFORM(self)->sinkpad);
    gst_pad_set_chain_function(GST_BASE_TRANSFORM(self)->sinkpad, gst_tdl_filter_chain);
    gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}
