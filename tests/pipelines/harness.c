/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

GstElement *harness_parse(const char *line)
{
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch(line, &error);

    if (error) {
        g_printerr("not a pipeline: %s\n%s\n", line, error->message);
        exit(1);
    }
    return pipeline;
}

gboolean harness_run(GstElement *pipeline, unsigned seconds)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, seconds * GST_SECOND,
                                                     GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gboolean done = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;

    if (!message) {
        g_printerr("no end of stream after %u s\n", seconds);
    } else if (!done) {
        GError *error = NULL;
        char *debug = NULL;
        gst_message_parse_error(message, &error, &debug);
        g_printerr("%s: %s\n%s\n", GST_OBJECT_NAME(message->src), error->message,
                   debug ? debug : "");
        /* The engine's words when there is no loader or no driver. */
        if (strstr(error->message, "mesa-vulkan-drivers")) {
            g_printerr("skipped: there is no device of Vulkan's\n");
            exit(77);
        }
        g_error_free(error);
        g_free(debug);
    }
    g_clear_pointer(&message, gst_message_unref);
    gst_object_unref(bus);
    return done;
}

void harness_stop(GstElement *pipeline)
{
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

guint64 harness_stat(GstElement *pipeline, const char *field)
{
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    GstStructure *stats = NULL;
    guint64 value = 0;

    g_object_get(filter, "stats", &stats, NULL);
    if (!stats || !gst_structure_get_uint64(stats, field, &value)) {
        g_printerr("stats has no %s of type guint64\n", field);
        exit(1);
    }
    gst_structure_free(stats);
    gst_object_unref(filter);
    return value;
}
