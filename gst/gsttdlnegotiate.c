/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element's caps and memory: what it agrees on with its neighbours. */
#include "gsttdlelement.h"

#include "caps/gsttdldisagree.h"
#include "export/gsttdlexport.h"
#include "caps/gsttdlgeometry.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

#define MAX_SIDE 32767 /* px, of frames that the engine takes */

static GstBaseTransformClass *parent_class;

/* A message of caps; each kind once, as every frame that comes meets them. Takes `error`. */
static void say_once(GstTdlElement *self, GstMessageType type, GError *error)
{
    gboolean said;

    GST_OBJECT_LOCK(self);
    said = type == GST_MESSAGE_ERROR ? self->refused : self->hinted;
    self->hinted = TRUE;
    self->refused |= type == GST_MESSAGE_ERROR;
    GST_OBJECT_UNLOCK(self);
    if (said)
        g_error_free(error);
    else
        gst_tdl_error_post(self, type, error);
}

void gst_tdl_negotiate_explain(GstTdlElement *self, GstMessageType type, GstCaps *in)
{
    GstCaps *peer = gst_pad_peer_query_caps(GST_BASE_TRANSFORM(self)->srcpad, NULL);
    GError *error = NULL;

    GST_OBJECT_LOCK(self); /* the tilings are the session's */
    if (self->session && !gst_caps_is_empty(peer))
        error = gst_tdl_disagreement(
            self->active.mode, &self->abilities,
            self->active.mode == GST_TDL_MODE_PICTURE ? &self->scale : NULL, in, peer);
    GST_OBJECT_UNLOCK(self);
    gst_caps_unref(peer);
    if (error)
        say_once(self, type, error);
}

static GstCaps *transform_caps(GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GstCaps *result, *both;
    gboolean grows, known, changes;

    /* The model decides which caps are possible, so its load is awaited. */
    known = gst_tdl_first_load_wait_model(&self->first_load, -1) == GST_FLOW_OK;
    GST_OBJECT_LOCK(self); /* the tilings are the session's */
    grows = self->active.mode == GST_TDL_MODE_PICTURE;
    changes = grows || self->tensors;
    result = gst_tdl_caps_transform(self->active.mode, direction, &self->abilities, caps,
                                    changes ? NULL : filter);
    if (grows)
        result = gst_tdl_caps_scale(result, direction, known ? &self->scale : NULL);
    result = gst_tdl_caps_tensors(result, direction, self->tensors);
    GST_OBJECT_UNLOCK(self);
    if (!changes || !filter)
        return result;
    both = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    return both;
}

static GstCaps *fixate_caps(GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                            GstCaps *candidates)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);

    if (direction == GST_PAD_SINK) {
        GstCaps *peer = gst_pad_peer_query_caps(base->srcpad, NULL);

        GST_OBJECT_LOCK(self);
        candidates = gst_tdl_caps_prefer(&self->abilities, caps, candidates, peer);
        GST_OBJECT_UNLOCK(self);
        gst_caps_unref(peer);
    }
    return parent_class->fixate_caps(base, direction, caps, candidates);
}

/* Said here, as upstream would say nothing of why it got no buffer of our pool. */
static gboolean check_sides(GstCaps *caps, GError **error)
{
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    gint width = 0, height = 0;

    gst_structure_get_int(s, "width", &width);
    gst_structure_get_int(s, "height", &height);
    if (MAX(width, height) <= MAX_SIDE)
        return TRUE;
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "Frames of %dx%d px are too large: either side has %d px at most. Use smaller "
                "frames (a videoscale before tdlfilter).",
                width, height, MAX_SIDE);
    return FALSE;
}

static gboolean check_size(GstTdlElement *self, const GstVideoInfo *info, GError **error)
{
    const struct tdl_device_info *device = tdl_context_device(self->session->device->context);
    struct tdl_frame frame;
    gsize size = tdl_frame_layout(&frame, gst_tdl_caps_format(GST_VIDEO_INFO_FORMAT(info)),
                                  info->width, info->height, 64);

    if (size && size <= device->max_buffer_bytes)
        return TRUE;
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "Frames of %dx%d px of %s are too large for %s: they have %" G_GSIZE_FORMAT
                " bytes, and it reaches %" G_GUINT64_FORMAT
                ". Use smaller frames (a videoscale before tdlfilter), or choose another device.",
                info->width, info->height, GST_VIDEO_INFO_NAME(info), device->name, size,
                device->max_buffer_bytes);
    return FALSE;
}

static gboolean set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    gboolean passthrough = gst_base_transform_is_passthrough(base);
    GError *error = NULL;

    if (!passthrough && !(check_sides(in, &error) && check_sides(out, &error))) {
        say_once(self, GST_MESSAGE_ERROR, error);
        return FALSE;
    }
    /* Passthrough takes pictures that nobody here can read; the caps of others
     * are of use when the mode changes, as the base class does not say them again. */
    if (!(gst_tdl_video_from_caps(in, &self->in) && gst_tdl_video_from_caps(out, &self->out)) &&
        !passthrough) {
        GST_ERROR_OBJECT(self, "cannot parse %" GST_PTR_FORMAT " or %" GST_PTR_FORMAT, in, out);
        return FALSE;
    }
    gst_tdl_session_reset(self->session);
    self->overlap.refused = 0; /* by frames of another size, it may be */
    if (passthrough ||
        (check_size(self, &self->in.info, &error) && check_size(self, &self->out.info, &error) &&
         gst_tdl_session_prepare(self->session, &self->active, &self->in, &self->out, &error)))
        return TRUE;
    say_once(self, GST_MESSAGE_ERROR, error);
    return FALSE;
}

static gboolean get_unit_size(GstBaseTransform *base, GstCaps *caps, gsize *size)
{
    struct gst_tdl_video video;

    (void)base;
    if (!gst_tdl_video_from_caps(caps, &video))
        return FALSE;
    *size = GST_VIDEO_INFO_SIZE(&video.info);
    return TRUE;
}

/* Upstream is offered our pool, whose memory the GPU reads in place. In passthrough the buffers go
 * downstream, which may not support padded rows and crops: downstream answers. */
static gboolean propose_allocation(GstBaseTransform *base, GstQuery *decide_query, GstQuery *query)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    struct gst_tdl_offer offer = { .device = NULL };
    GstPad *upstream;
    gboolean ok;

    (void)decide_query;
    if (gst_base_transform_is_passthrough(base))
        return parent_class->propose_allocation(base, NULL, query);
    GST_OBJECT_LOCK(self);
    if (self->session)
        gst_tdl_session_offer(self->session, &offer);
    GST_OBJECT_UNLOCK(self);
    if (!offer.device)
        return FALSE;
    offer.element = GST_ELEMENT(self);
    upstream = gst_pad_get_peer(base->sinkpad);
    ok = gst_tdl_export_propose(&offer, query, upstream);
    gst_clear_object(&upstream);
    gst_tdl_offer_clear(&offer);
    return ok;
}

static gboolean decide_allocation(GstBaseTransform *base, GstQuery *query)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GError *error = NULL;
    const gchar *path;

    path = gst_tdl_export_decide(self->session, query, &self->out, self->export_reason, &error);
    if (path == gst_tdl_export_pool_path && self->active.require_zero_copy &&
        self->in.memory != GST_TDL_MEMORY_SYSTEM)
        error = gst_tdl_report_output_error(path, self->export_reason->str);
    if (error) {
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return FALSE;
    }
    GST_INFO_OBJECT(self, "frames go by \"%s\"%s%s", path, self->export_reason->len ? ", as " : "",
                    self->export_reason->str);
    gst_tdl_element_tell_paths(self, NULL, path);
    return TRUE;
}

/* Metadata stays valid where the output has the input's size; only the crop does not. */
static gboolean transform_meta(GstBaseTransform *base, GstBuffer *output, GstMeta *meta,
                               GstBuffer *input)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    gboolean grows = self->out.info.width != self->in.info.width ||
                     self->out.info.height != self->in.info.height;
    struct gst_tdl_video whole;
    struct gst_tdl_rect part;

    (void)output;
    if (grows && gst_meta_api_type_has_tag(meta->info->api, g_quark_from_string("size")))
        return FALSE;
    if (grows && meta->info->api == GST_VIDEO_CROP_META_API_TYPE)
        return FALSE;
    return meta->info->api != GST_VIDEO_CROP_META_API_TYPE ||
           !gst_tdl_video_is_part(&self->in, input, &whole, &part);
}

/* An upstream element that asks with its own caps, before any are set, stops at an empty answer:
 * that is explained as an error. Queries for other media are not explained. */
static void explain_answer(GstTdlElement *self, GstQuery *query)
{
    GstBaseTransform *base = GST_BASE_TRANSFORM(self);
    GstCaps *filter, *result, *sink, *both;
    gboolean begins;

    gst_query_parse_caps(query, &filter);
    gst_query_parse_caps_result(query, &result);
    if (!gst_caps_is_empty(result))
        return;
    sink = gst_pad_get_pad_template_caps(base->sinkpad);
    both = filter ? gst_caps_intersect(filter, sink) : gst_caps_ref(sink);
    begins = filter && !gst_pad_has_current_caps(base->sinkpad);
    if (!gst_caps_is_empty(both))
        gst_tdl_negotiate_explain(self, begins ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING, both);
    gst_caps_unref(both);
    gst_caps_unref(sink);
}

static gboolean answer_query(GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
    GstTdlElement *self = GST_TDL_ELEMENT(base);
    GstClockTime min, max;
    gboolean ok, live;

    if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && /* one side has what the other wants */
        gst_tdl_vulkan_answer(&self->vulkan, GST_ELEMENT(self), query))
        return TRUE;
    if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN && direction == GST_PAD_SINK && self->session)
        gst_tdl_session_drain(self->session); /* serialised with the stream */
    ok = parent_class->query(base, direction, query);
    if (ok && GST_QUERY_TYPE(query) == GST_QUERY_CAPS && direction == GST_PAD_SINK)
        explain_answer(self, query);
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

void gst_tdl_negotiate_install(GstBaseTransformClass *klass)
{
    parent_class = g_type_class_peek_parent(klass);
    klass->transform_caps = transform_caps;
    klass->fixate_caps = fixate_caps;
    klass->set_caps = set_caps;
    klass->get_unit_size = get_unit_size;
    klass->propose_allocation = propose_allocation;
    klass->decide_allocation = decide_allocation;
    klass->transform_meta = transform_meta;
    klass->query = answer_query;
}
