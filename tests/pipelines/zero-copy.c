/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU copies no pixel: neither the element's own count nor GStreamer's
 * performance log knows of a copy, whether downstream looks at the frames or
 * not. The log is first shown to speak up when there is a copy.
 */
#include "harness.h"

#include <gst/app/gstappsink.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 20
#define SOURCE \
    "videotestsrc num-buffers=" G_STRINGIFY(FRAMES) " pattern=ball ! " \
    "video/x-raw,format=NV12,width=640,height=360,framerate=30/1 ! "

static gint copies_logged;
static gboolean print_copies;

static void note(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                 const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                 gpointer data)
{
    (void)level, (void)object, (void)data;
    if (strcmp(gst_debug_category_get_name(category), "GST_PERFORMANCE") != 0)
        return;
    char *text = g_ascii_strdown(gst_debug_message_get(message), -1);
    /* Negotiation copies descriptions (caps), which hold no pixels. */
    gboolean caps = g_str_has_suffix(file, "gstcaps.c") || strstr(text, "gstcaps");
    if (!caps && (strstr(text, "copy") || strstr(text, "copie") || strstr(text, "memcpy"))) {
        g_atomic_int_inc(&copies_logged);
        if (print_copies)
            g_printerr("%s:%d %s: %s\n", file, line, function, text);
    }
    g_free(text);
}

static void check(gboolean good, const char *what, guint64 value)
{
    g_print("%s: %s: %" G_GUINT64_FORMAT "\n", good ? "ok" : "FAILED", what, value);
    if (!good)
        exit(1);
}

static void log_speaks_of_copies(void)
{
    GstMemory *memory = gst_allocator_alloc(NULL, 4096, NULL);
    GstMemory *copy = gst_memory_copy(memory, 0, -1);

    gst_memory_unref(copy);
    gst_memory_unref(memory);
    check(g_atomic_int_get(&copies_logged) > 0, "the log tells of a copy made on purpose",
          g_atomic_int_get(&copies_logged));
    g_atomic_int_set(&copies_logged, 0);
    print_copies = TRUE;
}

static void check_no_copies(GstElement *pipeline, guint64 frames)
{
    guint64 counted = harness_stat(pipeline, "frames");
    guint64 copied = harness_stat(pipeline, "cpu-copied-bytes");

    check(counted == frames, "frames", counted);
    check(copied == 0, "bytes copied by the CPU", copied);
    check(g_atomic_int_get(&copies_logged) == 0, "copies in the performance log",
          g_atomic_int_get(&copies_logged));
}

static void into_fakesink(void)
{
    GstElement *pipeline = harness_parse(SOURCE "tdlfilter name=filter mode=blur ! fakesink");

    check(harness_run(pipeline, 600), "videotestsrc ! tdlfilter ! fakesink ends", 0);
    check_no_copies(pipeline, FRAMES);
    harness_stop(pipeline);
}

struct seen {
    guint64 frames;
    guint64 differing; /* frames that differ from the one before */
    guint64 sum;
};

static GstFlowReturn look(GstAppSink *sink, gpointer data)
{
    struct seen *seen = data;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    GstMapInfo map;
    guint64 sum = 0;

    if (!sample)
        return GST_FLOW_EOS;
    if (!gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ)) {
        gst_sample_unref(sample);
        return GST_FLOW_ERROR;
    }
    for (gsize i = 0; i < map.size; i++)
        sum = sum * 31 + map.data[i];
    seen->frames++;
    seen->differing += sum != seen->sum;
    seen->sum = sum;
    gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

static void into_appsink(void)
{
    GstElement *pipeline =
        harness_parse(SOURCE "tdlfilter name=filter mode=blur ! appsink name=sink");
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    GstAppSinkCallbacks callbacks = { .new_sample = look };
    struct seen seen = { 0 };

    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &seen, NULL);
    check(harness_run(pipeline, 600), "videotestsrc ! tdlfilter ! appsink ends", 0);
    check(seen.frames == FRAMES, "frames mapped", seen.frames);
    check(seen.differing == FRAMES, "frames that moved on", seen.differing);
    check_no_copies(pipeline, FRAMES);
    gst_object_unref(sink);
    harness_stop(pipeline);
}

int main(void)
{
    gst_init(NULL, NULL);
    gst_debug_remove_log_function(gst_debug_log_default);
    gst_debug_add_log_function(note, NULL, NULL);
    gst_debug_set_active(TRUE);
    gst_debug_set_threshold_for_name("GST_PERFORMANCE", GST_LEVEL_DEBUG);
    log_speaks_of_copies();
    into_fakesink();
    into_appsink();
    gst_debug_remove_log_function(note);
    gst_deinit();
    return 0;
}
