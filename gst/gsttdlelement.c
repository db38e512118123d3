/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the plugin's elements have in common: all but which properties they have, what they begin
 * with, and how GStreamer's tools describe them.
 *
 * Settings. `settings` is what the properties say now; `active` is the copy
 * that the current frame works with. The streaming thread takes it once per
 * frame, before negotiation, so that caps, buffers and work agree.
 */
#include "gsttdlelement.h"
#include "loading/gsttdlfitted.h"

#include <string.h>

G_DEFINE_ABSTRACT_TYPE(GstTdlElement, gst_tdl_element, GST_TYPE_BASE_TRANSFORM)

/* -------------------------------------------------------------- properties */

void gst_tdl_element_adopt(GstTdlElement *self)
{
    gint before = self->active.mode;

    self->active = self->settings.live;
    if (!self->session || !self->session->infer ||
        gst_tdl_settings_output_fits(self->output, self->active.mode) ||
        gst_tdl_live_guards(&self->active))
        return;
    self->active.mode =
        gst_tdl_settings_output_fits(self->output, before) ? before : GST_TDL_MODE_PASSTHROUGH;
}

static void gst_tdl_element_set_property(GObject *object, guint id, const GValue *value,
                                         GParamSpec *pspec)
{
    GstTdlElement *self = GST_TDL_ELEMENT(object);
    enum gst_tdl_effect effect = GST_TDL_LIVE;
    struct gst_tdl_prompt asked = { 0 };
    GError *later = NULL;
    gint meta;
    gboolean known;

    GST_OBJECT_LOCK(self);
    meta = self->settings.live.meta;
    known = gst_tdl_settings_set(&self->settings, id, value, &effect);
    if (!self->streaming)
        gst_tdl_element_adopt(self);
    if (self->session && self->settings.live.meta != meta)
        gst_tdl_meta_check(&self->settings.live, &later);
    if (self->session && known && !strcmp(pspec->name, "prompt"))
        gst_tdl_prompt_parse(self->settings.sources.prompt, &asked, &later);
    if (self->session && known && effect == GST_TDL_RESTART)
        g_set_error(&later, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "\"%s\" is taken when the element starts: set it to READY, then on to PLAYING "
                    "again.",
                    pspec->name);
    GST_OBJECT_UNLOCK(self);
    if (!known)
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    else if (effect == GST_TDL_RENEGOTIATE || effect == GST_TDL_OTHER_OUTPUT)
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
    if (effect == GST_TDL_MODEL || effect == GST_TDL_OTHER_OUTPUT)
        gst_tdl_reload_request(&self->reload, GST_TDL_RELOAD_MODEL);
    else if (effect == GST_TDL_PICTURE)
        gst_tdl_reload_request(&self->reload, GST_TDL_RELOAD_PICTURE);
    if (later)
        gst_tdl_error_post(self, GST_MESSAGE_WARNING, later);
}

static void gst_tdl_element_get_property(GObject *object, guint id, GValue *value,
                                         GParamSpec *pspec)
{
    GstTdlElement *self = GST_TDL_ELEMENT(object);
    const guint first_own_property = gst_tdl_settings_first_free_id();

    GST_OBJECT_LOCK(self);
    if (id == first_own_property + GST_TDL_READONLY_IMPORT_PATH)
        g_value_set_string(value, self->import_path);
    else if (id == first_own_property + GST_TDL_READONLY_EXPORT_PATH)
        g_value_set_string(value, self->export_path);
    else if (id == first_own_property + GST_TDL_READONLY_STATS)
        g_value_take_boxed(value, gst_tdl_report_stats(&self->stats));
    else if (!gst_tdl_settings_get(&self->settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    GST_OBJECT_UNLOCK(self);
}

/* -------------------------------------------------------------- start, stop */

void gst_tdl_element_tell_paths(GstTdlElement *self, const gchar *import, const gchar *export)
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
static gboolean gst_tdl_element_load_picture(GstTdlElement *self, struct gst_tdl_session *session,
                                             const gchar *name, gboolean needed)
{
    struct gst_tdl_picture *picture;
    GError *error = NULL;

    if (!*name)
        return TRUE;
    picture =
        gst_tdl_picture_load(session->device->context, name, GST_TDL_PICTURE_BACKGROUND, &error);
    if (picture)
        error = gst_tdl_picture_notice(picture, name, GST_TDL_PICTURE_BACKGROUND);
    if (error)
        gst_tdl_error_post(self, picture || !needed ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR,
                           error);
    gst_tdl_session_take_picture(session, picture);
    return picture || !needed;
}

void gst_tdl_element_note_output(GstTdlElement *self)
{
    self->output = self->session->infer->model->kind;
    self->scale = self->session->infer->model->scale;
}

static gboolean are_equal(const GstStructure *a, const GstStructure *b)
{
    return a == b || (a && b && gst_structure_is_equal(a, b));
}

gboolean gst_tdl_element_note_tensors(GstTdlElement *self)
{
    GstStructure *now = gst_tdl_analytics_groups(&self->session->infer->model->tensors), *before;
    const gboolean any = now != NULL;
    gboolean others;

    GST_OBJECT_LOCK(self);
    before = self->tensors;
    others = !are_equal(before, now);
    self->tensors = now;
    GST_OBJECT_UNLOCK(self);
    gst_clear_structure(&before);
    /* Otherwise upstream would be asked to make the tensors itself. */
    gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), !any);
    return others;
}

/* Queues to open on the device; 0: all. Each one takes time to open. A stream needs one, and
 * latency-mode=freshest another for its network. */
static guint count_queues(const struct gst_tdl_live *live)
{
    if (gst_tdl_device_expects_several() || live->batch_size != 1)
        return 0;
    return live->latency_mode == GST_TDL_LATENCY_FRESHEST ? 2 : 1;
}

/* To the bus, the log and the statistics. */
static void gst_tdl_element_tell_choice(GstTdlElement *self)
{
    const struct gst_tdl_device_chosen chosen = gst_tdl_device_choice_get(self->choice);

    GST_OBJECT_LOCK(self);
    self->stats.device_reason = chosen.reason;
    self->stats.auto_ns[0] = chosen.gpu_ns;
    self->stats.auto_ns[1] = chosen.cpu_ns;
    GST_OBJECT_UNLOCK(self);
    gst_tdl_report_device(GST_ELEMENT(self), chosen.device, chosen.reason, chosen.gpu_ns,
                          chosen.cpu_ns, gst_tdl_device_choice_fault(self->choice));
}

/* The device of "auto", where that takes measuring: neighbours' Vulkan device is not measured. */
static void gst_tdl_element_choose_device(GstTdlElement *self, struct gst_tdl_sources *sources)
{
    if ((*sources->device && strcmp(sources->device, "auto") != 0) ||
        (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") != 0 &&
         gst_tdl_vulkan_find(&self->vulkan, GST_ELEMENT(self))))
        return;
    self->choice = gst_tdl_device_choice_begin(&gst_tdl_device_choice_engine, sources,
                                               GST_TDL_DEVICE_CHOICE_PATIENCE);
    if (!self->choice)
        return;
    g_free(sources->device);
    sources->device = g_strdup(gst_tdl_device_choice_get(self->choice).device);
}

/* A model that is wrong fails the state change, unless it takes long to read: then whoever
 * changed the state goes on, and caps wait for the model. Microseconds. */
#define MODEL_PATIENCE (2 * G_TIME_SPAN_SECOND)

static gboolean gst_tdl_element_stop(GstBaseTransform *base)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    struct gst_tdl_session *session;

    gst_tdl_first_load_stop(&self->first_load);
    gst_tdl_device_choice_end(&self->choice);
    gst_tdl_reload_stop(&self->reload);
    gst_tdl_mask_pad_stop(&self->mask);
    gst_tdl_meta_stop(&self->meta);
    GST_OBJECT_LOCK(self);
    session = g_steal_pointer(&self->session);
    gst_tdl_session_abilities(NULL, &self->abilities);
    self->streaming = FALSE;
    self->active = self->settings.live;
    gst_clear_structure(&self->tensors);
    GST_OBJECT_UNLOCK(self);
    gst_tdl_session_free(session);
    gst_tdl_vulkan_clear(&self->vulkan);
    return TRUE;
}

static gboolean gst_tdl_element_start(GstBaseTransform *base)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    struct gst_tdl_sources sources;
    struct gst_tdl_session *session;
    GError *error = NULL;
    gboolean replaces, complete, loads;
    guint queues;
    gint mode;

    GST_OBJECT_LOCK(self);
    mode = self->settings.live.mode;
    queues = count_queues(&self->settings.live);
    gst_tdl_meta_check(&self->settings.live, &error);
    GST_OBJECT_UNLOCK(self);
    if (error) {
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return FALSE;
    }
    self->on_ladder = FALSE;
    GST_OBJECT_LOCK(self);
    self->settings.sources.rung = GST_TDL_RUNG_PERSON;
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    replaces = self->settings.live.mode == GST_TDL_MODE_REPLACE;
    gst_tdl_reload_begin(&self->reload);
    GST_OBJECT_UNLOCK(self);
    gst_tdl_element_choose_device(self, &sources);
    session = gst_tdl_session_new(&sources, queues, &self->vulkan, &error);
    if (!session)
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
    self->fitted[0] = gst_tdl_fitted_is_sized(&sources) ? GST_TDL_NOT_FITTED : 0;
    complete = session && gst_tdl_element_load_picture(self, session, sources.background, replaces);
    if (!complete) {
        gst_tdl_sources_clear(&sources);
        gst_tdl_session_free(session);
        gst_tdl_device_choice_end(&self->choice);
        return FALSE;
    }
    session->compile = (struct tdl_compile_params){ .progress = gst_tdl_first_load_goes_on,
                                                    .progress_data = &self->first_load };
    self->batch_slot = (struct gst_tdl_batch_slot){ 0 };
    session->batch_slot = &self->batch_slot;
    self->report = (struct gst_tdl_report){ 0 };
    self->misfits = (struct gst_tdl_misfits){ 0 };
    g_atomic_int_set(&self->late, FALSE);
    gst_tdl_discontinuity_init(&self->discontinuity);
    GST_OBJECT_LOCK(self);
    self->session = session;
    self->hinted = self->refused = FALSE;
    gst_tdl_session_abilities(session, &self->abilities);
    self->active.mode = mode;
    self->latency = gst_tdl_session_latency(session, &self->active);
    self->stats = (struct gst_tdl_stats){ 0 };
    GST_OBJECT_UNLOCK(self);
    gst_tdl_element_tell_paths(self, "none", "none");
    if (self->choice)
        gst_tdl_element_tell_choice(self);
    loads = gst_tdl_first_load_start(&self->first_load, session->device, &sources) &&
            gst_tdl_first_load_wait_model(&self->first_load, MODEL_PATIENCE) >= GST_FLOW_OK;
    gst_tdl_sources_clear(&sources);
    if (!loads)
        gst_tdl_element_stop(base);
    return loads;
}

/* The first model is there, and what can be shown is known. */
static void gst_tdl_element_loaded(GstElement *element, struct gst_tdl_infer *infer,
                                   const struct gst_tdl_sources *sources)
{
    GstTdlElement *self = GST_TDL_ELEMENT(element);
    GError *notice = gst_tdl_model_notice(infer->model, sources);

    if (notice)
        gst_tdl_error_post(self, GST_MESSAGE_WARNING, notice);
    GST_OBJECT_LOCK(self);
    gst_tdl_session_give_infer(self->session, infer);
    gst_tdl_element_note_output(self);
    gst_tdl_element_adopt(self);
    self->latency = gst_tdl_session_latency(self->session, &self->active);
    GST_OBJECT_UNLOCK(self);
    gst_tdl_element_note_tensors(self);
}

/* A GPU that took too long to compile is timed now, for choices to come. */
static void gst_tdl_element_time_gpu(GstTdlElement *self)
{
    struct gst_tdl_progress progress = { .element = NULL };
    const guint64 ns = gst_tdl_infer_time(self->session->infer, self->session->device->context,
                                          GST_TDL_DEVICE_CHOICE_MOMENT, &progress);

    if (!ns)
        return;
    gst_tdl_device_choice_tell_gpu(self->choice, ns);
    gst_tdl_element_tell_choice(self);
}

/* The network is compiled, too: from now on requests for another one are served. */
static void gst_tdl_element_compiled(GstElement *element)
{
    GstTdlElement *self = GST_TDL_ELEMENT(element);

    if (self->choice && gst_tdl_device_choice_wants_gpu(self->choice))
        gst_tdl_element_time_gpu(self);
    gst_tdl_reload_start(&self->reload, self->session->device);
}

static const struct gst_tdl_first_load_calls begin_calls = { gst_tdl_element_loaded,
                                                             gst_tdl_element_compiled };

static GstStateChangeReturn gst_tdl_element_change_state(GstElement *element,
                                                         GstStateChange transition)
{
    GstTdlElement *self = GST_TDL_ELEMENT(element);
    struct gst_tdl_session *session;

    if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
        gst_tdl_batch_slot_rest(&self->batch_slot);
    if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
        gst_tdl_first_load_cancel(&self->first_load);
        gst_tdl_batch_slot_set_flushing(&self->batch_slot, TRUE);
        GST_OBJECT_LOCK(self);
        session = self->session; /* stop() clears self->session in this thread only */
        GST_OBJECT_UNLOCK(self);
        if (session)
            gst_tdl_flight_abort(&session->flight);
    }
    return GST_ELEMENT_CLASS(gst_tdl_element_parent_class)->change_state(element, transition);
}

static void gst_tdl_element_set_context(GstElement *element, GstContext *context)
{
    gst_tdl_vulkan_set_context(&GST_TDL_ELEMENT(element)->vulkan, element, context);
    GST_ELEMENT_CLASS(gst_tdl_element_parent_class)->set_context(element, context);
}

/* -------------------------------------------------------------------- class */

static void gst_tdl_element_finalize(GObject *object)
{
    gst_tdl_mask_pad_finish(&GST_TDL_ELEMENT(object)->mask);
    gst_tdl_settings_finish(&GST_TDL_ELEMENT(object)->settings);
    gst_tdl_vulkan_finish(&GST_TDL_ELEMENT(object)->vulkan);
    gst_tdl_first_load_finish(&GST_TDL_ELEMENT(object)->first_load);
    gst_tdl_device_expect(-1);
    g_string_free(GST_TDL_ELEMENT(object)->export_reason, TRUE);
    G_OBJECT_CLASS(gst_tdl_element_parent_class)->finalize(object);
}

void gst_tdl_element_install(GObjectClass *klass, enum gst_tdl_kind kind)
{
    klass->set_property =
        gst_tdl_element_set_property; /* each class has its own: GObject clears it */
    klass->get_property = gst_tdl_element_get_property;
    gst_tdl_settings_install(klass, kind);
    gst_tdl_report_install(klass, gst_tdl_settings_first_free_id());
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

static void gst_tdl_element_class_init(GstTdlElementClass *klass)
{
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstElementClass *element = GST_ELEMENT_CLASS(klass);
    GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);

    object->finalize = gst_tdl_element_finalize;

    element->change_state = gst_tdl_element_change_state;
    element->set_context = gst_tdl_element_set_context;
    add_pad_templates(element);

    base->start = gst_tdl_element_start;
    base->stop = gst_tdl_element_stop;
    gst_tdl_stream_install(base);
    gst_tdl_negotiate_install(base);
}

static void gst_tdl_element_init(GstTdlElement *self)
{
    gst_tdl_device_expect(1);
    gst_tdl_settings_init(&self->settings);
    gst_tdl_reload_init(&self->reload, GST_ELEMENT(self), &self->settings.sources);
    self->active = self->settings.live;
    self->export_reason = g_string_new(NULL);
    gst_tdl_vulkan_init(&self->vulkan);
    gst_tdl_first_load_init(&self->first_load, GST_ELEMENT(self), &begin_calls);
    gst_tdl_session_abilities(NULL, &self->abilities);
    self->import_path = self->export_path = "none";
    gst_tdl_mask_pad_init(&self->mask, GST_BASE_TRANSFORM(self));
    self->chain = GST_PAD_CHAINFUNC(GST_BASE_TRANSFORM(self)->sinkpad);
    gst_pad_set_chain_function(GST_BASE_TRANSFORM(self)->sinkpad, gst_tdl_stream_chain);
    gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}
