/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "outlet.h"

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#define MOST_QUEUED 4
#define LONGEST_END (5 * GST_SECOND)
#define FROM                                                                                       \
    "appsrc name=from is-live=true do-timestamp=true format=time max-buffers=0 ! videoconvert ! "  \
    "videoscale ! capsfilter name=size ! "

struct outlet {
    GstElement *pipeline;
    GstAppSrc *from;
    guint watch;
    outlet_ended ended;
    void *user;
    guint64 taken, lost; /* while frames come, that thread's */
};

static void finish(struct outlet *outlet, const char *error)
{
    gst_element_set_state(outlet->pipeline, GST_STATE_NULL);
    outlet->ended(outlet->user, error); /* the callee may destroy the outlet */
}

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer data)
{
    g_autoptr(GError) error = NULL;

    (void)bus;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, NULL);
        finish(data, error->message);
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
        finish(data, NULL);
    }
    return G_SOURCE_CONTINUE;
}

static void set_size(struct outlet *outlet, const GstCaps *like)
{
    g_autoptr(GstElement) filter = gst_bin_get_by_name(GST_BIN(outlet->pipeline), "size");
    g_autoptr(GstCaps) caps = NULL;
    GstVideoInfo info;

    if (!gst_video_info_from_caps(&info, like))
        return;
    caps = gst_caps_new_simple("video/x-raw", "width", G_TYPE_INT, info.width, "height", G_TYPE_INT,
                               info.height, NULL);
    g_object_set(filter, "caps", caps, NULL);
}

struct outlet *outlet_new(const GstCaps *like, const char *rest, const char *property,
                          const char *location, outlet_ended ended, void *user, GError **error)
{
    g_autofree char *description = g_strconcat(FROM, rest, NULL);
    GstElement *pipeline =
        gst_parse_launch_full(description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
    g_autoptr(GstElement) to = NULL;
    g_autoptr(GstBus) bus = NULL;
    struct outlet *outlet;

    if (!pipeline)
        return NULL;
    outlet = g_new0(struct outlet, 1);
    outlet->pipeline = pipeline;
    outlet->ended = ended;
    outlet->user = user;
    outlet->from = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "from"));
    to = gst_bin_get_by_name(GST_BIN(pipeline), "to");
    g_object_set(to, property, location, NULL);
    set_size(outlet, like);
    bus = gst_element_get_bus(pipeline);
    outlet->watch = gst_bus_add_watch(bus, on_message, outlet);
    return outlet;
}

void outlet_destroy(struct outlet *outlet)
{
    if (!outlet)
        return;
    g_source_remove(outlet->watch);
    gst_element_set_state(outlet->pipeline, GST_STATE_NULL);
    gst_object_unref(outlet->from);
    gst_object_unref(outlet->pipeline);
    g_free(outlet);
}

void outlet_push(struct outlet *outlet, GstSample *sample)
{
    GstBuffer *buffer;

    if (gst_app_src_get_current_level_buffers(outlet->from) >= MOST_QUEUED) {
        outlet->lost++;
        return;
    }
    if (!outlet->taken &&
        gst_element_set_state(outlet->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        return; /* the bus gets the error */
    /* Frames are stamped as they come, since a video that begins again repeats its times. */
    buffer = gst_buffer_copy(gst_sample_get_buffer(sample));
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
    gst_app_src_set_caps(outlet->from, gst_sample_get_caps(sample));
    gst_app_src_push_buffer(outlet->from, buffer);
    outlet->taken++;
}

void outlet_end(struct outlet *outlet)
{
    if (outlet->taken)
        gst_app_src_end_of_stream(outlet->from);
    else
        finish(outlet, NULL);
}

void outlet_wait(struct outlet *outlet)
{
    g_autoptr(GstBus) bus = gst_element_get_bus(outlet->pipeline);
    GstMessage *message;

    if (!outlet->taken)
        return;
    gst_app_src_end_of_stream(outlet->from);
    message = gst_bus_timed_pop_filtered(bus, LONGEST_END,
                                         (GstMessageType)(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    g_clear_pointer(&message, gst_message_unref);
}

guint64 outlet_taken(struct outlet *outlet)
{
    return outlet->taken;
}

guint64 outlet_lost(struct outlet *outlet)
{
    return outlet->lost;
}
