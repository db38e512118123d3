/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints what a pipeline finds, one line for each object: the frame's time in seconds, the class,
 * the score, and x, y, width and height in px of the frame. The pipeline is as for gst-launch-1.0,
 * up to the decoder; it needs GStreamer 1.26.
 *
 *     cc -o detections detections.c $(pkg-config --cflags --libs gstreamer-analytics-1.0)
 *     ./detections "v4l2src ! tdlinference model-file=yolov8s.onnx ! yolov8tensordec"
 */
#include <gst/analytics/analytics.h>
#include <gst/gst.h>

static GstPadProbeReturn print_objects(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    GstBuffer *frame = GST_PAD_PROBE_INFO_BUFFER(info);
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(frame);
    GstAnalyticsODMtd object;
    gpointer state = NULL;
    gint x, y, width, height;
    gfloat score;

    (void)pad, (void)data;
    while (relations && gst_analytics_relation_meta_iterate(
                            relations, &state, gst_analytics_od_mtd_get_mtd_type(), &object))
        if (gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &score))
            g_print("%.3f %s %.4f %d %d %d %d\n", GST_BUFFER_PTS(frame) / 1e9,
                    g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&object)), (double)score, x,
                    y, width, height);
    return GST_PAD_PROBE_OK;
}

int main(int argc, char **argv)
{
    g_autofree gchar *line = g_strdup_printf("%s ! fakesink name=end", argc > 1 ? argv[1] : "");
    GError *error = NULL;
    GstElement *pipeline, *end;
    GstMessage *last;
    GstPad *pad;

    gst_init(&argc, &argv);
    pipeline = gst_parse_launch(line, &error);
    if (error)
        g_error("%s", error->message);
    end = gst_bin_get_by_name(GST_BIN(pipeline), "end");
    pad = gst_element_get_static_pad(end, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, print_objects, NULL, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    last = gst_bus_timed_pop_filtered(GST_ELEMENT_BUS(pipeline), GST_CLOCK_TIME_NONE,
                                      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    if (GST_MESSAGE_TYPE(last) == GST_MESSAGE_ERROR)
        gst_message_parse_error(last, &error, NULL);
    if (error)
        g_printerr("%s\n", error->message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_message_unref(last);
    gst_object_unref(pad);
    gst_object_unref(end);
    gst_object_unref(pipeline);
    return error != NULL;
}
