/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element keeps up with the stream: model=auto becomes another model, and where that does
 * not help the network runs less often. Streaming thread. */
#include "gsttdlelement.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

static gboolean is_processor(const struct gst_tdl_session *session)
{
    const enum tdl_device_type type = tdl_context_device(session->device->context)->type;

    return type == TDL_DEVICE_CPU || type == TDL_DEVICE_SOFTWARE;
}

static void begin_ladder(GstTdlElement *self)
{
    const struct gst_tdl_infer *infer = self->session->infer;

    gst_tdl_ladder_init(&self->ladder, infer->choice.rungs, infer->choice.rung, infer->network_ns,
                        is_processor(self->session));
    if (infer->model->kind != GST_TDL_OUTPUT_MASK)
        GST_INFO_OBJECT(self, "model=auto is the person model in modes without a mask");
    else if (infer->choice.rungs == 1u << GST_TDL_RUNG_PERSON)
        GST_INFO_OBJECT(self, "model=auto has no better one than \"person\": to fetch them, run "
                              "tdl-fetch-models matting (in the source tree of tdlfilter "
                              "pipelines/fetch-models.sh matting)");
}

/* As long as a model of the ladder works. TRUE: its first frame. */
static gboolean follow_ladder(GstTdlElement *self)
{
    const gboolean before = self->on_ladder;

    self->on_ladder = self->session->infer && self->session->infer->choice.rung != GST_TDL_NO_RUNG;
    if (!self->on_ladder || before)
        return FALSE;
    begin_ladder(self);
    return TRUE;
}

/* One that is to do more must not hold up what works well; one that is to do less is wanted at
 * once. */
static guint request_rung(GstTdlElement *self, gint rung)
{
    struct tdl_frame frame = { 0 };

    if (self->in.info.finfo)
        gst_tdl_caps_frame(&self->in.info, &frame);
    return gst_tdl_reload_request_rung(&self->reload, rung, rung > self->ladder.at, &frame);
}

static void judge_ladder(GstTdlElement *self, const struct gst_tdl_strain *strain)
{
    const gboolean begun = self->ladder.begins;
    gint rung = gst_tdl_ladder_judge(&self->ladder, strain);

    if (begun && !self->ladder.begins && rung == GST_TDL_NO_RUNG)
        GST_INFO_OBJECT(self, "model=auto begins with \"%s\", a run of which takes %.1f ms",
                        gst_tdl_rung_name(self->ladder.at),
                        self->ladder.least[self->ladder.at] / 1e6);
    if (rung == GST_TDL_NO_RUNG)
        return;
    GST_INFO_OBJECT(self,
                    "model=auto loads \"%s\" (%s): of %.1f ms a frame takes %.1f, a run of "
                    "\"%s\" %.1f",
                    gst_tdl_rung_name(rung), self->ladder.reason, strain->duration / 1e6,
                    strain->cost.frame / 1e6, gst_tdl_rung_name(self->ladder.at),
                    (strain->cost.picture + strain->cost.network) / 1e6);
    self->try_serial = request_rung(self, rung);
}

/* A smaller model comes before an interval. */
static void judge_interval(GstTdlElement *self, gboolean late)
{
    struct gst_tdl_session *session = self->session;
    struct gst_tdl_live live = self->active;
    const gchar *reason;

    if (self->on_ladder && gst_tdl_ladder_can_fall(&self->ladder))
        live.max_interval =
            MIN(live.max_interval, gst_tdl_load_interval(&session->usage.load, &live));
    reason = gst_tdl_load_judge(&session->usage.load, &live, &session->usage.cost,
                                session->stream.interval, late);
    if (reason)
        gst_tdl_report_load(GST_ELEMENT(self),
                            gst_tdl_load_interval(&session->usage.load, &self->active), reason);
}

void gst_tdl_auto_weigh(GstTdlElement *self)
{
    const gboolean begins = follow_ladder(self);
    const gboolean due = gst_tdl_session_is_due(self->session);
    struct gst_tdl_strain strain;
    gboolean late = FALSE;

    if (!due && !begins)
        return;
    if (due) {
        late = g_atomic_int_compare_and_exchange(&self->late, TRUE, FALSE);
        judge_interval(self, late);
    }
    gst_tdl_session_strain(self->session, &self->active, late, &strain);
    if (due)
        gst_tdl_session_publish_load(self->session, &strain);
    /* A processor's frames may take all its time: that is known when some have been. */
    if (self->on_ladder && (due || !is_processor(self->session)))
        judge_ladder(self, &strain);
}

/* The one that works stays. Was a property set while the other one was loaded, it has to be
 * loaded anew for that. */
static void stay(GstTdlElement *self, guint serial)
{
    if (serial != self->try_serial)
        request_rung(self, self->ladder.at);
    else
        gst_tdl_reload_keep_rung(&self->reload, self->ladder.at);
}

gboolean gst_tdl_auto_admits(GstTdlElement *self, const struct gst_tdl_reload_result *loaded)
{
    const gint before = self->ladder.at;
    struct gst_tdl_infer *infer = loaded->infer;
    struct gst_tdl_strain strain;
    gboolean admits;

    if (!self->on_ladder || infer->choice.rung != self->ladder.wanted ||
        infer->choice.rung == self->ladder.at) /* a property was set */
        return TRUE;
    /* no measurement yet; a later one would include the load itself */
    if (!self->session->usage.cost.network)
        gst_tdl_session_measure(self->session);
    gst_tdl_session_strain(self->session, &self->active, FALSE, &strain);
    admits = gst_tdl_ladder_admits(&self->ladder, infer->choice.rung, infer->network_ns, &strain);
    GST_INFO_OBJECT(self,
                    "model=auto: a run of \"%s\" takes %.1f ms, and of %.1f a frame beside that "
                    "%.1f, other streams %.1f: %s",
                    gst_tdl_rung_name(infer->choice.rung), infer->network_ns / 1e6,
                    strain.duration / 1e6, (strain.cost.frame + strain.cost.picture) / 1e6,
                    strain.others * strain.duration / 1e6, admits ? "it takes over" : "too long");
    if (!admits)
        stay(self, loaded->serial);
    else if (infer->choice.rung < before) /* timed on a busy device: the latency follows from it */
        infer->network_ns = self->ladder.least[infer->choice.rung];
    if (admits) { /* before the others' are judged */
        strain.cost.network = infer->network_ns;
        gst_tdl_session_publish_load(self->session, &strain);
    }
    return admits;
}

void gst_tdl_auto_took(GstTdlElement *self)
{
    const gint rung = self->session->infer->choice.rung;
    gboolean changes;

    GST_OBJECT_LOCK(self);
    changes = self->settings.sources.rung != rung;
    self->settings.sources.rung = MAX(rung, GST_TDL_RUNG_PERSON);
    GST_OBJECT_UNLOCK(self);
    if (self->on_ladder && rung == self->ladder.at && changes)
        gst_tdl_report_model(GST_ELEMENT(self), gst_tdl_rung_name(rung), self->ladder.reason);
    else if (rung != self->ladder.at || self->session->infer->choice.rungs != self->ladder.here)
        self->on_ladder = FALSE; /* another model, or to begin anew */
    if (!self->on_ladder)
        gst_tdl_reload_keep_rung(&self->reload, MAX(rung, GST_TDL_RUNG_PERSON));
}

void gst_tdl_auto_failed(GstTdlElement *self, guint serial)
{
    if (!self->on_ladder || self->ladder.wanted == self->ladder.at)
        return;
    gst_tdl_ladder_fail(&self->ladder);
    stay(self, serial);
}
