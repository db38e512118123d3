/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlmaskpad.h"

#include "export/gsttdlexport.h"
#include "gsttdlreport.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

#define NAME "mask_src"

/* Plain memory and linear dma-bufs: masks are no pictures that displays or
 * codecs tile. */
static struct gst_tdl_abilities linear(const struct gst_tdl_abilities *abilities)
{
    struct gst_tdl_abilities result = *abilities;

    result.vulkan_image = FALSE;
    result.tilings = NULL;
    result.n_tilings = 0;
    return result;
}

void gst_tdl_mask_pad_init(struct gst_tdl_mask_pad *mask, GstBaseTransform *base)
{
    *mask = (struct gst_tdl_mask_pad){ .base = base };
}

/* Pads that nobody released go with the element. */
void gst_tdl_mask_pad_finish(struct gst_tdl_mask_pad *mask)
{
    gst_clear_object(&mask->pad);
}

void gst_tdl_mask_pad_install(GstElementClass *klass)
{
    struct gst_tdl_abilities all;
    GstCaps *caps, *any;

    gst_tdl_session_abilities(NULL, &all);
    all = linear(&all);
    any = gst_tdl_caps_template(&all);
    caps = gst_tdl_caps_transform(GST_TDL_MODE_MASK, GST_PAD_SINK, &all, any, NULL);
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new(NAME, GST_PAD_SRC, GST_PAD_REQUEST, caps));
    gst_caps_unref(caps);
    gst_caps_unref(any);
}

/* ------------------------------------------------------- what the pad is asked */

/* Queries are answered as on the source pad, except for caps. */
static gboolean on_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
    GstBaseTransform *base = GST_BASE_TRANSFORM(parent);

    if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS || GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS)
        return gst_pad_query_default(pad, parent, query);
    return GST_BASE_TRANSFORM_GET_CLASS(base)->query(base, GST_PAD_SRC, query);
}

/* Masks that come too late do not slow the frames down. */
static gboolean on_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
    GstBaseTransform *base = GST_BASE_TRANSFORM(parent);

    (void)pad;
    if (GST_EVENT_TYPE(event) != GST_EVENT_QOS && GST_EVENT_TYPE(event) != GST_EVENT_RECONFIGURE)
        return GST_BASE_TRANSFORM_GET_CLASS(base)->src_event(base, event);
    gst_event_unref(event); /* the core notes that the pad needs new caps */
    return TRUE;
}

GstPad *gst_tdl_mask_pad_request(struct gst_tdl_mask_pad *mask, GstPadTemplate *templ)
{
    GstElement *element = GST_ELEMENT(mask->base);
    GstPad *pad = gst_pad_new_from_template(templ, NAME);
    gboolean taken;

    gst_pad_set_query_function(pad, on_query);
    gst_pad_set_event_function(pad, on_event);
    GST_OBJECT_LOCK(element);
    taken = mask->pad != NULL;
    if (!taken) {
        mask->pad = gst_object_ref(pad);
        mask->serial++;
    }
    GST_OBJECT_UNLOCK(element);
    if (taken) {
        gst_object_unref(gst_object_ref_sink(pad));
        return NULL;
    }
    if (GST_STATE(element) >= GST_STATE_PAUSED || GST_STATE_TARGET(element) >= GST_STATE_PAUSED)
        gst_pad_set_active(pad, TRUE);
    gst_element_add_pad(element, pad);
    return pad;
}

void gst_tdl_mask_pad_release(struct gst_tdl_mask_pad *mask, GstPad *pad)
{
    GstElement *element = GST_ELEMENT(mask->base);
    GstPad *ours = NULL;

    GST_OBJECT_LOCK(element);
    if (mask->pad == pad)
        ours = g_steal_pointer(&mask->pad);
    GST_OBJECT_UNLOCK(element);
    if (!ours)
        return;
    gst_pad_set_active(pad, FALSE);
    gst_element_remove_pad(element, pad);
    gst_object_unref(ours);
}

/* ------------------------------------------------------------------ streaming */

static void drop_pool(struct gst_tdl_mask_pad *mask)
{
    if (mask->pool)
        gst_buffer_pool_set_active(mask->pool, FALSE);
    gst_clear_object(&mask->pool);
    mask->negotiated = FALSE;
}

void gst_tdl_mask_pad_stop(struct gst_tdl_mask_pad *mask)
{
    drop_pool(mask);
    mask->known = 0;
    mask->started = mask->in_segment = FALSE;
    mask->flow = GST_FLOW_OK;
}

gboolean gst_tdl_mask_pad_exists(struct gst_tdl_mask_pad *mask)
{
    gboolean exists;

    GST_OBJECT_LOCK(mask->base);
    exists = mask->pad != NULL;
    GST_OBJECT_UNLOCK(mask->base);
    return exists;
}

/* The pad if it is there, with a reference. */
static GstPad *take_pad(struct gst_tdl_mask_pad *mask)
{
    GstPad *pad;
    guint serial;

    GST_OBJECT_LOCK(mask->base);
    pad = mask->pad ? gst_object_ref(mask->pad) : NULL;
    serial = pad ? mask->serial : 0;
    GST_OBJECT_UNLOCK(mask->base);
    if (serial != mask->known) { /* another one knows nothing yet */
        gst_tdl_mask_pad_stop(mask);
        mask->known = serial;
    }
    return pad;
}

/* From any thread: what waits in the branch has to give way. */
static void flush(struct gst_tdl_mask_pad *mask, GstEvent *event)
{
    GstPad *pad;

    GST_OBJECT_LOCK(mask->base);
    pad = mask->pad ? gst_object_ref(mask->pad) : NULL;
    GST_OBJECT_UNLOCK(mask->base);
    if (pad)
        gst_pad_push_event(pad, gst_event_ref(event));
    gst_clear_object(&pad);
}

/* A pad that was released meanwhile refuses everything, and matters to nobody. */
static void settle(struct gst_tdl_mask_pad *mask, GstPad *pad, GError **error)
{
    gboolean released;

    GST_OBJECT_LOCK(mask->base);
    released = mask->pad != pad;
    GST_OBJECT_UNLOCK(mask->base);
    if (!released)
        return;
    mask->flow = GST_FLOW_NOT_LINKED;
    if (error)
        g_clear_error(error);
}

static void tell_start(struct gst_tdl_mask_pad *mask, GstPad *pad)
{
    GstEvent *upstream = gst_pad_get_sticky_event(mask->base->sinkpad, GST_EVENT_STREAM_START, 0);
    g_autofree gchar *id = gst_pad_create_stream_id(pad, GST_ELEMENT(mask->base), "mask");
    GstEvent *event = gst_event_new_stream_start(id);
    GstStreamFlags flags;
    guint group;

    if (upstream && gst_event_parse_group_id(upstream, &group))
        gst_event_set_group_id(event, group);
    if (upstream) {
        gst_event_parse_stream_flags(upstream, &flags);
        gst_event_set_stream_flags(event, flags);
        gst_event_unref(upstream);
    }
    mask->started = gst_pad_push_event(pad, event);
}

static void tell_segment(struct gst_tdl_mask_pad *mask, GstPad *pad)
{
    GstEvent *event = gst_pad_get_sticky_event(mask->base->sinkpad, GST_EVENT_SEGMENT, 0);

    mask->in_segment = event && gst_pad_push_event(pad, event);
}

/* Fixed caps that both sides take; NULL: there are none. */
static GstCaps *choose_caps(struct gst_tdl_mask_pad *mask, GstPad *pad,
                            const struct gst_tdl_session *session)
{
    struct gst_tdl_abilities able = linear(&session->device->able);
    GstCaps *in = gst_pad_get_current_caps(mask->base->sinkpad), *ours, *peer, *both;

    if (!in)
        return NULL;
    ours = gst_tdl_caps_transform(GST_TDL_MODE_MASK, GST_PAD_SINK, &able, in, NULL);
    peer = gst_pad_peer_query_caps(pad, NULL);
    both = gst_tdl_caps_prefer(&able, in,
                               gst_caps_intersect_full(ours, peer, GST_CAPS_INTERSECT_FIRST), peer);
    gst_caps_unref(in);
    gst_caps_unref(ours);
    gst_caps_unref(peer);
    if (!gst_caps_is_empty(both))
        return gst_caps_fixate(both);
    gst_caps_unref(both);
    return NULL;
}

/* Before a stream that begins without a frame: segments come behind caps. */
static void tell_caps(struct gst_tdl_mask_pad *mask, GstPad *pad,
                      const struct gst_tdl_session *session)
{
    GstCaps *caps =
        session && !gst_pad_has_current_caps(pad) ? choose_caps(mask, pad, session) : NULL;

    if (caps)
        gst_pad_push_event(pad, gst_event_new_caps(caps));
    gst_clear_caps(&caps);
}

void gst_tdl_mask_pad_event(struct gst_tdl_mask_pad *mask, const struct gst_tdl_session *session,
                            GstEvent *event)
{
    GstPad *pad;

    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) {
        flush(mask, event);
        return;
    }
    pad = GST_EVENT_IS_SERIALIZED(event) ? take_pad(mask) : NULL;
    if (!pad)
        return;
    switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_STREAM_START:
        mask->started = mask->in_segment = FALSE; /* told before the next mask */
        break;
    case GST_EVENT_CAPS:
        mask->negotiated = FALSE;
        break;
    case GST_EVENT_SEGMENT:
        mask->in_segment = FALSE;
        break;
    case GST_EVENT_FLUSH_STOP:
        mask->in_segment = FALSE;
        mask->flow = GST_FLOW_OK;
        gst_pad_push_event(pad, gst_event_ref(event));
        break;
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
        if (!mask->started)
            tell_start(mask, pad);
        tell_caps(mask, pad, session);
        if (!mask->in_segment)
            tell_segment(mask, pad);
        gst_pad_push_event(pad, gst_event_ref(event));
        break;
    default:
        break;
    }
    gst_object_unref(pad);
}

static gboolean choose_pool(struct gst_tdl_mask_pad *mask, GstPad *pad,
                            struct gst_tdl_session *session, GstCaps *caps, gboolean may_copy,
                            GError **error)
{
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    g_autoptr(GString) reason = g_string_new(NULL);
    const gchar *path;

    if (!gst_pad_peer_query(pad, query))
        GST_DEBUG_OBJECT(pad, "downstream has nothing to say of memory");
    path = gst_tdl_export_decide(session, query, &mask->video, reason, error);
    if (path) {
        GST_INFO_OBJECT(pad, "masks go by \"%s\"%s%s", path, reason->len ? ", as " : "",
                        reason->str);
        gst_query_parse_nth_allocation_pool(query, 0, &mask->pool, NULL, NULL, NULL);
    }
    gst_query_unref(query);
    if (path == gst_tdl_export_pool_path && !may_copy)
        *error = gst_tdl_report_output_error(path, reason->str);
    return path && !*error && gst_buffer_pool_set_active(mask->pool, TRUE);
}

static gboolean negotiate(struct gst_tdl_mask_pad *mask, GstPad *pad,
                          struct gst_tdl_session *session, const struct gst_tdl_live *live,
                          const struct gst_tdl_video *in, GError **error)
{
    GstCaps *caps;
    gboolean ok;

    drop_pool(mask);
    caps = choose_caps(mask, pad, session);
    ok = caps && gst_tdl_video_from_caps(caps, &mask->video) &&
         gst_pad_push_event(pad, gst_event_new_caps(caps));
    ok = ok &&
         choose_pool(mask, pad, session, caps,
                     !live->require_zero_copy || in->memory == GST_TDL_MEMORY_SYSTEM, error) &&
         gst_tdl_session_prepare(session, live, in, &mask->video, error);
    gst_clear_caps(&caps);
    mask->negotiated = ok;
    if (ok)
        return TRUE;
    mask->flow = GST_PAD_IS_FLUSHING(pad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    if (mask->flow == GST_FLOW_FLUSHING)
        g_clear_error(error);
    else if (!*error)
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "The element behind mask_src does not take GRAY8 of the frames' size. Put a "
                    "videoconvert there.");
    return FALSE;
}

GstBuffer *gst_tdl_mask_pad_begin(struct gst_tdl_mask_pad *mask, struct gst_tdl_session *session,
                                  const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                                  GstBuffer *input, GError **error)
{
    GstPad *pad = take_pad(mask);
    GstBuffer *buffer = NULL;

    if (!pad)
        return NULL;
    if (session->infer->model->kind != GST_TDL_OUTPUT_MASK) {
        if (gst_tdl_live_wants_tensors_alone(live))
            g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                        "mask_src has no mask where meta=tensors is all that is asked for. Set "
                        "meta=segmentation-tensors, or leave mask_src unlinked and release it.");
        else if (gst_tdl_settings_output_of(live->mode) != GST_TDL_OUTPUT_MASK)
            g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                        "mask_src has no mask in this mode, which shows the model's output itself. "
                        "Choose another mode, or leave mask_src unlinked and release it.");
        settle(mask, pad, error);
        gst_object_unref(pad);
        return NULL; /* or else the network for masks is on its way */
    }
    mask->flow = gst_pad_is_linked(pad) ? GST_FLOW_OK : GST_FLOW_NOT_LINKED;
    if (mask->flow == GST_FLOW_OK && !mask->started)
        tell_start(mask, pad);
    if (gst_pad_check_reconfigure(pad))
        mask->negotiated = FALSE;
    if (mask->flow == GST_FLOW_OK &&
        (mask->negotiated || negotiate(mask, pad, session, live, in, error))) {
        if (!mask->in_segment)
            tell_segment(mask, pad);
        mask->flow = gst_buffer_pool_acquire_buffer(mask->pool, &buffer, NULL);
        if (buffer)
            gst_buffer_copy_into(buffer, input, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS,
                                 0, -1);
    }
    settle(mask, pad, error);
    gst_object_unref(pad);
    return buffer;
}

void gst_tdl_mask_pad_push(struct gst_tdl_mask_pad *mask, GstBuffer *buffer)
{
    guint known = mask->known;
    GstPad *pad = take_pad(mask);

    if (!pad || mask->known != known) { /* released meanwhile */
        gst_buffer_unref(buffer);
        gst_clear_object(&pad);
        return;
    }
    mask->flow = gst_pad_push(pad, buffer);
    settle(mask, pad, NULL);
    gst_object_unref(pad);
}

GstFlowReturn gst_tdl_mask_pad_combine(const struct gst_tdl_mask_pad *mask, GstFlowReturn flow)
{
    gboolean done = flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_EOS;
    gboolean mask_done = mask->flow == GST_FLOW_NOT_LINKED || mask->flow == GST_FLOW_EOS;

    if (!mask->known)
        return flow;
    if (done && !mask_done)
        return mask->flow;
    if (done && mask_done)
        return MIN(flow, mask->flow); /* the end rather than that nobody is there */
    if (mask->flow < GST_FLOW_EOS || mask->flow == GST_FLOW_FLUSHING)
        return flow < GST_FLOW_EOS ? flow : mask->flow;
    return flow;
}
