/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element's streaming thread: the settings for what comes now, networks that were
 * loaded meanwhile, and the way of a frame. */
#include "gsttdlelement.h"

#include "export/gsttdlexport.h"
#include "loading/gsttdlfitted.h"
#include "model/gsttdllegend.h"
#include "frame/gsttdlwork.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* A new latency is announced when it is higher by more, as frames would come too late. */
#define LATENCY_STEP (5 * GST_MSECOND)

static GstBaseTransformClass *parent_class;

/* A lower one only where a quarter is gained, as each measurement differs a little. */
static gboolean is_worth_telling(GstClockTime before, GstClockTime now)
{
    return now > before + LATENCY_STEP || now + MAX(LATENCY_STEP, before / 4) < before;
}

/* Take the settings for what comes now. Streaming thread. */
static void activate(GstTdlElement *self)
{
    GstBaseTransform *base = GST_BASE_TRANSFORM(self);
    GstClockTime latency = self->latency;
    gboolean passthrough, new_latency;
    gint old_mode;

    GST_OBJECT_LOCK(self);
    old_mode = self->active.mode;
    new_latency = self->active.latency_mode != self->settings.live.latency_mode;
    gst_tdl_element_adopt(self);
    self->active.tile_overlap = gst_tdl_overlap_known(&self->overlap, self->active.tile_overlap);
    self->streaming = TRUE;
    passthrough = self->active.mode == GST_TDL_MODE_PASSTHROUGH;
    new_latency |= (old_mode == GST_TDL_MODE_PASSTHROUGH) != passthrough;
    if (new_latency)
        latency = gst_tdl_session_latency(self->session, &self->active);
    new_latency = latency != self->latency;
    self->latency = latency;
    GST_OBJECT_UNLOCK(self);
    if (passthrough) {
        gst_tdl_element_tell_paths(self, "passthrough", "passthrough");
        gst_tdl_batch_slot_rest(&self->batch_slot);
    }
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
static void update_latency(GstTdlElement *self)
{
    GstClockTime latency;
    gboolean new_latency;

    GST_OBJECT_LOCK(self);
    latency = gst_tdl_session_latency(self->session, &self->active);
    new_latency = is_worth_telling(self->latency, latency);
    if (new_latency)
        self->latency = latency;
    GST_OBJECT_UNLOCK(self);
    if (new_latency)
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/* A network comes to work that may show classes. */
static void tell_legend(GstTdlElement *self)
{
    struct gst_tdl_sources sources;
    g_autofree gchar *path = NULL;
    g_auto(GStrv) names = NULL;

    GST_OBJECT_LOCK(self);
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    GST_OBJECT_UNLOCK(self);
    path = gst_tdl_model_resolve(&sources, NULL); /* "labels" and "palette" may be the file's */
    names = gst_tdl_legend_post(GST_ELEMENT(self), &sources, self->output == GST_TDL_OUTPUT_CLASSES,
                                self->session->infer->model->classes,
                                self->session->infer->model->shares);
    gst_tdl_meta_name(&self->meta, (const gchar *const *)names);
    gst_tdl_sources_clear(&sources);
}

static gboolean is_fitted(GstTdlElement *self)
{
    gboolean fitted;

    GST_OBJECT_LOCK(self);
    fitted = gst_tdl_fitted_is_sized(&self->settings.sources);
    GST_OBJECT_UNLOCK(self);
    return fitted;
}

/* The way to look for people in frames as they are now, whose shape is noted for whatever is
 * loaded from now on. NULL: the model does not follow them. */
static const struct gst_tdl_person *find_person(GstTdlElement *self)
{
    const GstVideoInfo *info = &self->in.info;
    const struct gst_tdl_person *person;

    GST_OBJECT_LOCK(self);
    if (info->finfo)
        self->settings.sources.aspect =
            gst_tdl_work_pixel_aspect(info) * (gdouble)info->width / info->height;
    person = gst_tdl_model_person(&self->settings.sources);
    GST_OBJECT_UNLOCK(self);
    return self->session->infer->choice.person ? person : NULL;
}

/* The model for frames as they are now. NULL with `error`, or without when cancelled. */
static struct gst_tdl_infer *load_fitted(GstTdlElement *self, enum gst_tdl_output output, gint rung,
                                         GError **error)
{
    const gint size[2] = { self->in.info.width, self->in.info.height };
    struct gst_tdl_infer *infer;
    struct gst_tdl_sources sources;

    GST_OBJECT_LOCK(self);
    gst_tdl_sources_copy(&self->settings.sources, &sources);
    GST_OBJECT_UNLOCK(self);
    sources.output = output;
    sources.tensors |= output == GST_TDL_OUTPUT_TENSORS; /* it is all that the network gives */
    sources.rung = MAX(rung, GST_TDL_RUNG_PERSON);       /* another one may be tried just now */
    infer = gst_tdl_fitted_load(self->session->device->context, &sources, size, &self->first_load,
                                error);
    gst_tdl_sources_clear(&sources);
    return infer;
}

/* A network that was loaded comes to work, where frames are to have one of their size with
 * that size. FALSE: it cannot, and the one that is there goes on. */
static gboolean take_infer(GstTdlElement *self, struct gst_tdl_infer *infer)
{
    const gboolean fits = is_fitted(self);
    const gboolean now = fits && self->session->counts.frames > 0 && self->in.info.finfo;
    GError *error = NULL;

    if (now) {
        struct gst_tdl_infer *fitted =
            load_fitted(self, infer->model->kind, infer->choice.rung, &error);

        gst_tdl_infer_free(infer);
        infer = fitted;
        if (error)
            gst_tdl_error_post(self, GST_MESSAGE_WARNING, error);
        if (!infer)
            return FALSE;
    }
    gst_tdl_session_take_infer(self->session, infer);
    self->fitted[0] = now ? self->in.info.width : fits ? GST_TDL_NOT_FITTED : 0;
    self->fitted[1] = now ? self->in.info.height : 0;
    return TRUE;
}

/* Takes networks and pictures that were loaded. This comes before negotiation, as caps may follow
 * from the network. */
static void take_loaded(GstTdlElement *self)
{
    struct gst_tdl_reload_result loaded = gst_tdl_reload_take(&self->reload);
    gboolean others;

    if (loaded.has_picture)
        gst_tdl_session_take_picture(self->session, loaded.picture);
    if (loaded.failed)
        gst_tdl_auto_failed(self, loaded.serial);
    if (loaded.infer && !gst_tdl_auto_admits(self, &loaded))
        g_clear_pointer(&loaded.infer, gst_tdl_infer_free);
    if (!loaded.infer || !take_infer(self, loaded.infer))
        return;
    gst_tdl_auto_took(self);
    GST_OBJECT_LOCK(self);
    gst_tdl_element_note_output(self);
    GST_OBJECT_UNLOCK(self);
    others = gst_tdl_element_note_tensors(self);
    update_latency(self);
    tell_legend(self);
    if (others || self->output != GST_TDL_OUTPUT_MASK ||
        self->active.mode > GST_TDL_MODE_PASSTHROUGH)
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
    GST_INFO_OBJECT(self, "the new model takes over");
}

/* Wait for the first network. */
static GstFlowReturn wait_for_network(GstTdlElement *self)
{
    GstFlowReturn flow = gst_tdl_first_load_wait(&self->first_load);

    if (flow == GST_FLOW_OK && !self->session->ready) {
        gst_tdl_session_set_ready(self->session);
        update_latency(self);
        tell_legend(self);
    }
    return flow;
}

/* A network of another size has taken over, whose tensors may have another one, too. */
static void tell_tensors(GstTdlElement *self)
{
    if (gst_tdl_element_note_tensors(self))
        gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

static gboolean has_another_shape(GstTdlElement *self)
{
    const struct gst_tdl_infer *infer = self->session->infer;
    const struct gst_tdl_sources now = { .model_size = infer->choice.follows,
                                         .aspect = self->settings.sources.aspect };

    return infer->choice.follows && gst_tdl_model_misfits(infer->model, &now);
}

/* Are the frames other ones than the network was made for? */
static gboolean is_misfit(GstTdlElement *self, const struct gst_tdl_person *person)
{
    if ((person && person != self->session->infer->choice.person) || has_another_shape(self))
        return TRUE;
    return self->fitted[0] && is_fitted(self) &&
           (self->fitted[0] != self->in.info.width || self->fitted[1] != self->in.info.height);
}

/* A network for frames as they are now, where it follows them. What cannot be had is an
 * error at the beginning; later what there is goes on. */
static GstFlowReturn fit(GstTdlElement *self)
{
    const struct gst_tdl_person *person = find_person(self);
    struct gst_tdl_infer *infer = NULL;
    GError *error = NULL;

    if (gst_tdl_session_is_closed(self->session, &self->active) || !is_misfit(self, person))
        return GST_FLOW_OK;
    infer = load_fitted(self, self->output, self->session->infer->choice.rung, &error);
    if (!infer && !error)
        return GST_FLOW_FLUSHING;
    if (error && !self->session->counts.frames) {
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return GST_FLOW_ERROR;
    }
    if (error) {
        gst_tdl_error_post(self, GST_MESSAGE_WARNING, error);
        self->session->infer->choice.person = person; /* not tried again */
        g_clear_pointer(&self->session->infer->choice.follows, g_free);
    } else {
        gst_tdl_session_take_infer(self->session, infer);
        tell_tensors(self);
    }
    if (self->fitted[0]) {
        self->fitted[0] = self->in.info.width;
        self->fitted[1] = self->in.info.height;
    }
    update_latency(self);
    gst_tdl_ladder_settle(&self->ladder);
    return GST_FLOW_OK;
}

/* An overlap that makes too many tiles of a frame leaves the one before: what cannot be at
 * the beginning is an error, but this was changed meanwhile. */
static void choose_overlap(GstTdlElement *self)
{
    const struct gst_tdl_model *model = self->session->infer->model;
    GError *error = NULL;
    guint overlap;

    if (model->fit != GST_TDL_FIT_TILES || !self->in.info.finfo)
        return;
    overlap = gst_tdl_overlap_choose(&self->overlap, model, self->in.info.width,
                                     self->in.info.height, self->active.tile_overlap, &error);
    GST_OBJECT_LOCK(self);
    self->active.tile_overlap = overlap;
    GST_OBJECT_UNLOCK(self);
    if (error)
        gst_tdl_error_post(self, GST_MESSAGE_WARNING, error);
}

/* A prompt that nothing is found by is worth a warning, once; what is lost later is not. */
static void tell_object(GstTdlElement *self)
{
    const struct gst_tdl_object *object = &self->session->object;
    GError *warning = NULL;

    gst_tdl_report_object(GST_ELEMENT(self), object);
    if (object->found || !object->is_new)
        return;
    GST_OBJECT_LOCK(self);
    warning = g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                          "The model finds no object by \"prompt\", \"%s\": the mask is empty "
                          "until it does. Name a place inside the object; with a model that finds "
                          "objects, a lower \"score-threshold\" or other \"classes\" may find "
                          "it.",
                          self->settings.sources.prompt);
    GST_OBJECT_UNLOCK(self);
    gst_tdl_error_post(self, GST_MESSAGE_WARNING, warning);
}

/* Posts changes that runs have seen. */
static void tell_presence(GstTdlElement *self)
{
    struct gst_tdl_moment since;
    guint changed;

    while ((changed = gst_tdl_session_watch(self->session, &self->active, &since)) != 0) {
        if (changed & GST_TDL_CHANGED_PRESENCE)
            gst_tdl_report_presence(GST_ELEMENT(self), &self->session->presence.watch, &since);
        if (changed & GST_TDL_CHANGED_OBJECT)
            tell_object(self);
    }
}

/* A model may do well on the black picture that warmed it up, and not on frames. */
static void tell_strange_mask(GstTdlElement *self)
{
    struct gst_tdl_session *session = self->session;
    GError *notice = session->counts.network_runs
                         ? gst_tdl_infer_notice(session->infer, session->counts.network_runs)
                         : NULL;

    if (notice)
        gst_tdl_error_post(self, GST_MESSAGE_WARNING, notice);
}

/* Frames without times are as far apart as their caps say. */
static void note_moment(GstTdlElement *self, GstBuffer *input)
{
    const GstSegment *segment = &GST_BASE_TRANSFORM(self)->segment;
    struct gst_tdl_moment *moment = &self->session->stream.moment;
    GstClockTime running = GST_CLOCK_TIME_NONE;

    moment->timestamp = GST_BUFFER_PTS(input);
    if (segment->format == GST_FORMAT_TIME)
        running = gst_segment_to_running_time(segment, GST_FORMAT_TIME, moment->timestamp);
    moment->running = GST_CLOCK_TIME_IS_VALID(running)
                          ? running
                          : moment->running + self->session->stream.interval;
}

/* Place of the caps' picture in a buffer. */
static struct gst_tdl_rect place_in(GstTdlElement *self, GstBuffer *input)
{
    struct gst_tdl_rect place = { 0, 0, self->in.info.width, self->in.info.height };
    struct gst_tdl_video whole;

    gst_tdl_video_is_part(&self->in, input, &whole, &place);
    return place;
}

/* A buffer for who wants masks as pictures. */
static void begin_masks(GstTdlElement *self, GstBuffer *input, struct gst_tdl_masks *out_masks,
                        GError **error)
{
    *out_masks = (struct gst_tdl_masks){ { NULL, &self->mask.video }, { NULL, &self->meta.video } };
    out_masks->mask.buffer =
        gst_tdl_mask_pad_begin(&self->mask, self->session, &self->active, &self->in, input, error);
}

/* The masks are submitted: they go to their pad, or with `frame` downstream. */
static void end_masks(GstTdlElement *self, GstBuffer *input, GstBuffer *frame, gboolean passes,
                      struct gst_tdl_masks *masks)
{
    const struct gst_tdl_rect whole = { 0, 0, self->in.info.width, self->in.info.height },
                              place = passes ? place_in(self, input) : whole;

    gst_tdl_meta_end(&self->meta, self->session, &self->active, masks, frame, &place);
    if (masks->mask.buffer)
        gst_tdl_mask_pad_push(&self->mask, masks->mask.buffer);
}

static void drop_masks(struct gst_tdl_masks *masks)
{
    gst_clear_buffer(&masks->mask.buffer);
    gst_clear_buffer(&masks->labels.buffer);
    gst_clear_buffer(&masks->tensor);
    g_clear_pointer(&masks->outputs, gst_buffer_list_unref);
    gst_clear_buffer(&masks->classes.buffer);
}

/* The frame to the session, and its mask down its own pad, if anybody wants it.
 * `output` NULL: the masks alone, or who is there, and `passed`, which has the same picture
 * as the input, goes downstream. */
static GstFlowReturn compose(GstTdlElement *self, GstBuffer *input, GstBuffer *output,
                             GstBuffer *passed)
{
    struct gst_tdl_target source = { input, &self->in }, frame = { output, &self->out };
    struct gst_tdl_masks masks;
    const gchar *batching = self->batch_slot.state;
    GstFlowReturn flow = GST_FLOW_OK;
    GError *error = NULL;
    gboolean wanted;

    note_moment(self, input);
    begin_masks(self, input, &masks, &error);
    wanted =
        output || masks.mask.buffer || gst_tdl_meta_wanted(&self->active) || self->active.presence;
    if (!error && wanted)
        flow = wait_for_network(self);
    if (flow == GST_FLOW_OK && !error && wanted)
        flow = fit(self);
    /* Labels have the size of the network that is in use now. */
    if (flow == GST_FLOW_OK && !error)
        gst_tdl_meta_begin(&self->meta, self->session, &self->active, &self->in, &masks, &error);
    wanted = output || masks.mask.buffer || masks.labels.buffer || masks.tensor || masks.outputs ||
             self->active.presence;
    choose_overlap(self);
    if (flow != GST_FLOW_OK) {
        drop_masks(&masks);
        return flow;
    }
    if (error || (wanted && !gst_tdl_session_frame(self->session, &self->active, &source, &frame,
                                                   &masks, &error))) {
        drop_masks(&masks);
        if (!error)
            return GST_FLOW_FLUSHING;
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return GST_FLOW_ERROR;
    }
    if (self->batch_slot.state != batching)
        update_latency(self);
    tell_presence(self);
    tell_strange_mask(self);
    gst_tdl_auto_weigh(self);
    GST_OBJECT_LOCK(self);
    gst_tdl_session_get_stats(self->session, &self->active, &self->stats);
    GST_OBJECT_UNLOCK(self);
    end_masks(self, input, output ? output : passed, !output, &masks);
    return GST_FLOW_OK;
}

/* The base class lets frames pass by transform: their masks are made here. */
static GstFlowReturn pass(GstTdlElement *self, GstBuffer *input, GstBuffer *passed)
{
    if (!self->in.info.finfo ||
        gst_tdl_caps_format(GST_VIDEO_INFO_FORMAT(&self->in.info)) == TDL_FORMAT_UNKNOWN ||
        !gst_tdl_misfit_meta_fits(&self->in, input))
        return GST_FLOW_OK;
    return compose(self, input, NULL, passed);
}

/* In passthrough nobody here looks at the frame but for its mask. */
static GstFlowReturn judge(GstTdlElement *self, GstBuffer *input, GstBuffer *passed)
{
    GError *error = NULL;
    enum gst_tdl_misfit_verdict verdict = GST_TDL_TAKE;

    if (self->active.mode == GST_TDL_MODE_PASSTHROUGH) {
        if (self->active.presence || gst_tdl_mask_pad_exists(&self->mask) ||
            gst_tdl_meta_wanted(&self->active))
            return pass(self, input, passed);
        if (self->session) {
            tell_presence(self); /* clears what presence saw before */
            gst_tdl_session_publish_load(self->session, NULL);
        }
        return GST_FLOW_OK;
    }
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
static void find_discontinuity(GstTdlElement *self, GstBuffer *input)
{
    if (gst_tdl_discontinuity_before(&self->discontinuity, GST_BUFFER_PTS(input)))
        gst_tdl_session_discontinue(self->session, TRUE);
    else if (GST_BUFFER_IS_DISCONT(input))
        gst_tdl_session_discontinue(self->session, FALSE);
}

/* Why no caps could be agreed on for pictures as they are now. */
static void explain(GstTdlElement *self)
{
    GstCaps *caps = gst_pad_get_current_caps(GST_BASE_TRANSFORM(self)->sinkpad);

    if (caps)
        gst_tdl_negotiate_explain(self, GST_MESSAGE_ERROR, caps);
    gst_clear_caps(&caps);
}

static GstFlowReturn submit_input_buffer(GstBaseTransform *base, gboolean is_discont,
                                         GstBuffer *input)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GstClockTime time = GST_CLOCK_TIME_NONE;
    GstBuffer *passed;
    GstFlowReturn flow;

    if (base->segment.format == GST_FORMAT_TIME) /* files and programs may count bytes */
        time = gst_segment_to_stream_time(&base->segment, GST_FORMAT_TIME,
                                          GST_BUFFER_TIMESTAMP(input));
    if (GST_CLOCK_TIME_IS_VALID(time))
        gst_object_sync_values(GST_OBJECT(self), time);
    if (self->session->ready)
        take_loaded(self);
    activate(self);
    find_discontinuity(self, input);
    if (self->active.mode == GST_TDL_MODE_PASSTHROUGH && gst_tdl_meta_wanted(&self->active))
        passed = gst_tdl_meta_copy(input);
    else
        passed = gst_buffer_ref(input);
    flow = judge(self, input, passed);
    gst_buffer_unref(input);
    if (flow == GST_FLOW_OK)
        flow = parent_class->submit_input_buffer(base, is_discont, passed);
    else
        gst_buffer_unref(passed); /* the base class's from the call on */
    if (flow == GST_FLOW_NOT_NEGOTIATED)
        explain(self);
    if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
        GST_OBJECT_LOCK(self);
        self->stats.dropped++;
        self->stats.mismatched = self->misfits.count;
        GST_OBJECT_UNLOCK(self);
    }
    return flow;
}

/* Frames that a device made go on in memory for the CPU. */
static gboolean falls_back(GstTdlElement *self)
{
    return self->export_path == gst_tdl_export_pool_path && self->session->importer.gpu;
}

static GstFlowReturn report(GstTdlElement *self)
{
    const struct gst_tdl_importer *importer = &self->session->importer;

    if (importer->path == gst_tdl_import_copy_path)
        gst_tdl_report_fallback(&self->report, GST_ELEMENT(self), GST_TDL_INPUT, importer->path,
                                importer->declined);
    if (!falls_back(self))
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

static GstFlowReturn transform(GstBaseTransform *base, GstBuffer *input, GstBuffer *output)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GstFlowReturn flow = compose(self, input, output, NULL);

    if (flow != GST_FLOW_OK)
        return flow;
    gst_tdl_element_tell_paths(self, self->session->importer.path, NULL);
    return report(self);
}

/* The base class passes the failure of a pool on without a word. */
static GstFlowReturn prepare_output_buffer(GstBaseTransform *base, GstBuffer *input,
                                           GstBuffer **output)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GstFlowReturn flow = parent_class->prepare_output_buffer(base, input, output);

    if (flow == GST_FLOW_ERROR)
        gst_tdl_error_post_no_frame(self, self->session->device->context, &self->out.info);
    return flow;
}

/* Frames that are on their way downstream may have come to nothing: no frame is
 * left that would say so. */
static void end(GstTdlElement *self)
{
    enum tdl_result r = gst_tdl_session_drain(self->session);
    GError *error = NULL;

    gst_tdl_session_publish_load(self->session, NULL);
    tell_presence(self);
    GST_OBJECT_LOCK(self);
    gst_tdl_session_get_stats(self->session, &self->active, &self->stats);
    GST_OBJECT_UNLOCK(self);
    if (r == TDL_OK)
        return;
    gst_tdl_error_set(&error, r, "Cannot finish the last frames");
    gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
}

/* The base class knows of one source pad. */
GstFlowReturn gst_tdl_stream_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
    GstTdlElement *self = GST_TDL_ELEMENT(parent);

    return gst_tdl_mask_pad_combine(&self->mask, self->chain(pad, parent, buffer));
}

static gboolean sink_event(GstBaseTransform *base, GstEvent *event)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GstCaps *caps = NULL;
    gboolean ok;

    gst_tdl_mask_pad_event(&self->mask, self->session, event);
    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
        if (gst_tdl_first_load_wait_model(&self->first_load, -1) != GST_FLOW_OK) {
            gst_event_unref(event);
            return FALSE;
        }
        gst_event_parse_caps(event, &caps);
        gst_caps_ref(caps);
        activate(self);
        break;
    case GST_EVENT_FLUSH_START:
        gst_tdl_first_load_set_flushing(&self->first_load, TRUE);
        gst_tdl_batch_slot_set_flushing(&self->batch_slot, TRUE);
        break;
    case GST_EVENT_FLUSH_STOP:
        gst_tdl_first_load_set_flushing(&self->first_load, FALSE);
        gst_tdl_batch_slot_set_flushing(&self->batch_slot, FALSE);
        /* fall through */
    case GST_EVENT_STREAM_START:
        gst_tdl_session_drain(self->session);
        gst_tdl_session_reset(self->session);
        break;
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
        gst_tdl_discontinuity_init(&self->discontinuity);
        gst_tdl_session_discontinue(self->session, TRUE);
        break;
    case GST_EVENT_EOS:
        gst_tdl_batch_slot_rest(&self->batch_slot);
        end(self);
        break;
    default:
        break;
    }
    ok = parent_class->sink_event(base, event);
    if (!ok && caps && !GST_PAD_IS_FLUSHING(base->srcpad))
        gst_tdl_negotiate_explain(self, GST_MESSAGE_ERROR, caps);
    gst_clear_caps(&caps);
    return ok;
}

/* Late frames, whoever says so: the sink, or what encodes. Any thread. */
static gboolean src_event(GstBaseTransform *base, GstEvent *event)
{
    GstClockTimeDiff jitter;
    gdouble proportion;
    GstQOSType type;

    if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
        gst_event_parse_qos(event, &type, &proportion, &jitter, NULL);
        if (type != GST_QOS_TYPE_THROTTLE && proportion > 1 && jitter > 0)
            g_atomic_int_set(&GST_TDL_ELEMENT(base)->late, TRUE);
    }
    return parent_class->src_event(base, event);
}

void gst_tdl_stream_install(GstBaseTransformClass *klass)
{
    parent_class = g_type_class_peek_parent(klass);
    klass->submit_input_buffer = submit_input_buffer;
    klass->prepare_output_buffer = prepare_output_buffer;
    klass->transform = transform;
    klass->sink_event = sink_event;
    klass->src_event = src_event;
}
