/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlpicture.h"

#include "gsttdlcaps.h"
#include "gsttdlerror.h"

#include <string.h>

#define DECODE_TIMEOUT (10 * GST_SECOND)

static void on_pad(GstElement *decoder, GstPad *pad, GstElement *converter)
{
    GstPad *sink = gst_element_get_static_pad(converter, "sink");

    (void)decoder;
    if (!gst_pad_is_linked(sink))
        gst_pad_link(pad, sink); /* of another kind than video: nothing arrives */
    gst_object_unref(sink);
}

/* filesrc ! decodebin ! videoconvert ! RGBA ! fakesink, whose preroll is the
 * picture. Elements owned by the pipeline. */
static GstElement *make_pipeline(const gchar *path, GstElement **out_sink, GError **error)
{
    GstElement *pipeline = gst_pipeline_new("background");
    GstElement *source = gst_element_factory_make("filesrc", NULL);
    GstElement *decoder = gst_element_factory_make("decodebin", NULL);
    GstElement *converter = gst_element_factory_make("videoconvert", NULL);
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    GstCaps *caps;

    if (!source || !decoder || !converter || !sink) {
        GstElement *made[] = { source, decoder, converter, sink };

        for (guint i = 0; i < G_N_ELEMENTS(made); i++)
            if (made[i])
                gst_object_unref(gst_object_ref_sink(made[i]));
        gst_object_unref(pipeline);
        g_set_error(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
                    "The background picture needs GStreamer's filesrc, decodebin and videoconvert. "
                    "Install gst-plugins-base (Debian: gstreamer1.0-plugins-base).");
        return NULL;
    }
    g_object_set(source, "location", path, NULL);
    gst_bin_add_many(GST_BIN(pipeline), source, decoder, converter, sink, NULL);
    caps = gst_caps_from_string("video/x-raw, format = RGBA");
    gst_element_link(source, decoder);
    gst_element_link_filtered(converter, sink, caps);
    gst_caps_unref(caps);
    g_signal_connect(decoder, "pad-added", G_CALLBACK(on_pad), converter);
    *out_sink = sink;
    return pipeline;
}

static void set_error(GstMessage *message, const gchar *path, GError **error)
{
    g_autoptr(GError) cause = NULL;
    gboolean missing = !g_file_test(path, G_FILE_TEST_EXISTS);

    if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &cause, NULL);
    g_set_error(error, GST_RESOURCE_ERROR,
                missing ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
                "The background picture \"%s\" %s: %s Set \"background\" to a picture that GStreamer "
                "decodes (try: gst-launch-1.0 filesrc location=FILE ! decodebin ! fakesink), or "
                "leave it empty for background-color.",
                path, missing ? "does not exist" : "cannot be decoded",
                cause ? cause->message : "there is no picture in the file.");
}

static struct gst_tdl_picture *upload(struct tdl_context *context, GstSample *sample,
                                      GError **error)
{
    struct gst_tdl_picture *picture = g_new0(struct gst_tdl_picture, 1);
    GstVideoInfo info;
    GstVideoFrame video;
    enum tdl_result r;
    gsize size;

    if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
        !gst_video_frame_map(&video, &info, gst_sample_get_buffer(sample), GST_MAP_READ)) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                    "The decoded background picture cannot be mapped. Use another file.");
        g_free(picture);
        return NULL;
    }
    gst_tdl_caps_frame(&info, &picture->frame);
    size = tdl_frame_layout(&picture->frame, TDL_FORMAT_RGBA, info.width, info.height, 64);
    r = tdl_buffer_create(context, size, TDL_BUFFER_UPLOAD, &picture->buffer);
    if (r == TDL_OK) {
        guint8 *to = tdl_buffer_data(picture->buffer);
        const guint8 *from = GST_VIDEO_FRAME_PLANE_DATA(&video, 0);

        for (gint y = 0; y < info.height; y++)
            memcpy(to + (gsize)y * picture->frame.planes[0].stride,
                   from + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(&video, 0), info.width * 4);
        picture->frame.planes[0].buffer = picture->buffer;
    } else {
        gst_tdl_error_set(error, r, "No memory for the background picture");
        g_clear_pointer(&picture, g_free);
    }
    gst_video_frame_unmap(&video);
    return picture;
}

struct gst_tdl_picture *gst_tdl_picture_load(struct tdl_context *context, const gchar *path,
                                             GError **error)
{
    struct gst_tdl_picture *picture = NULL;
    GstSample *sample = NULL;
    GstElement *sink = NULL, *pipeline = make_pipeline(path, &sink, error);
    GstMessage *message;
    GstBus *bus;

    if (!pipeline)
        return NULL;
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    bus = gst_element_get_bus(pipeline);
    message = gst_bus_timed_pop_filtered(bus, DECODE_TIMEOUT, GST_MESSAGE_ERROR |
                                         GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_EOS);
    if (message && GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR)
        g_object_get(sink, "last-sample", &sample, NULL);
    if (sample)
        picture = upload(context, sample, error);
    else
        set_error(message, path, error);
    g_clear_pointer(&sample, gst_sample_unref);
    g_clear_pointer(&message, gst_message_unref);
    gst_object_unref(bus);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return picture;
}

void gst_tdl_picture_free(struct gst_tdl_picture *picture)
{
    if (!picture)
        return;
    tdl_buffer_destroy(&picture->buffer);
    g_free(picture);
}
