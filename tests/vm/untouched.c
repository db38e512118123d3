/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * untouched [--touch map|copy] [--frames N] [--hold] LINE    (or jobs: see frames_jobs())
 *
 * Plays a pipeline with a tdlfilter named "filter", and fails if anything in
 * this process maps or copies a frame: by GStreamer's log of memories, by the
 * log of slow paths, and by the element's own counters. With --touch each frame
 * is mapped or copied on purpose before and behind the element, and the program
 * fails if it does NOT notice: what it counts is then known to count. With --hold
 * it waits, when all has been played, for the end of its standard input: so long
 * the last frame stays where it is shown.
 */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gint frames = 20;
static gboolean hold;
static gchar *touch;
static const GOptionEntry options[] = {
    { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "How many", "N" },
    { "hold", 0, 0, G_OPTION_ARG_NONE, &hold, "Keep the last one until input ends", NULL },
    { "touch", 0, 0, G_OPTION_ARG_STRING, &touch, "What to do to them", "map|copy" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
};

static gint maps, copies;

/* The text is GStreamer's: "%p: mapped, …" of a GstFdMemory, "memory %p, …" and
 * "copying …" of others. Small memories are no frames. */
static void note(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                 const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                 gpointer data)
{
    const char *name = gst_debug_category_get_name(category);
    gchar *text = g_ascii_strdown(gst_debug_message_get(message), -1);
    (void)level, (void)object, (void)data;

    if (!strcmp(name, "fdmemory") && strstr(text, ": mapped")) {
        g_atomic_int_inc(&maps);
        g_printerr("%s: %s\n", name, text);
    } else if ((!strcmp(name, "GST_PERFORMANCE") || !strcmp(name, "GST_MEMORY") ||
                !strcmp(name, "v4l2bufferpool") || !strcmp(name, "v4l2allocator")) &&
               (strstr(text, "copying") || strstr(text, "copy memory") ||
                strstr(text, "slow copy") || strstr(text, "memcpy")) &&
               !strstr(file, "gstcaps")) {
        g_atomic_int_inc(&copies);
        g_printerr("%s:%s:%d %s: %s\n", name, file, line, function, text);
    }
    g_free(text);
}

static GstPadProbeReturn passes(GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
    guint *dma_bufs = data;
    GstMapInfo map;
    (void)pad;

    *dma_bufs += frames_are_dma_buf(buffer);
    if (touch && !strcmp(touch, "map") && gst_buffer_map(buffer, &map, GST_MAP_READ))
        gst_buffer_unmap(buffer, &map);
    if (touch && !strcmp(touch, "copy"))
        gst_buffer_unref(gst_buffer_copy_deep(buffer));
    return GST_PAD_PROBE_OK;
}

static void watch(GstElement *pipeline, const char *pad_name, guint *dma_bufs)
{
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    GstPad *pad = gst_element_get_static_pad(filter, pad_name);

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, passes, dma_bufs, NULL);
    gst_object_unref(pad);
    gst_object_unref(filter);
}

static void listen(void)
{
    static const char *const categories[] = { "fdmemory", "GST_MEMORY", "GST_PERFORMANCE",
                                              "v4l2bufferpool", "v4l2allocator" };

    gst_debug_remove_log_function(gst_debug_log_default);
    gst_debug_add_log_function(note, NULL, NULL);
    gst_debug_set_active(TRUE);
    for (gsize i = 0; i < G_N_ELEMENTS(categories); i++)
        gst_debug_set_threshold_for_name(categories[i], GST_LEVEL_LOG);
}

static void tell_paths(GstElement *pipeline)
{
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    gchar *in = NULL, *out = NULL;
    GstStructure *stats = NULL;

    g_object_get(filter, "import-path", &in, "export-path", &out, "stats", &stats, NULL);
    gchar *text = gst_structure_to_string(stats);
    g_print("import-path %s, export-path %s, %s\n", in, out, text);
    g_free(text);
    gst_structure_free(stats);
    g_free(in);
    g_free(out);
    gst_object_unref(filter);
}

static gboolean parse(int *argc, char ***argv)
{
    GOptionContext *context = g_option_context_new("LINE");
    GError *error = NULL;

    frames = 20;
    hold = FALSE;
    g_clear_pointer(&touch, g_free);
    maps = copies = 0;
    g_option_context_add_main_entries(context, options, NULL);
    gboolean good = g_option_context_parse(context, argc, argv, &error) && *argc == 2;
    if (!good)
        g_printerr("%s\n", error ? error->message : "untouched [--touch map|copy] LINE");
    g_option_context_free(context);
    return good;
}

static int untouched(int argc, char **argv)
{
    guint in = 0, out = 0;

    if (!parse(&argc, &argv))
        return 2;
    GstElement *pipeline = harness_parse(argv[1]);
    watch(pipeline, "sink", &in);
    watch(pipeline, "src", &out);
    listen();
    frames_check(harness_run(pipeline, FRAMES_LIMIT_S), "the pipeline ends");
    fflush(stdout);
    while (hold && getchar() != EOF)
        continue;
    gst_debug_remove_log_function(note);

    tell_paths(pipeline);
    guint64 counted = harness_stat(pipeline, "frames");
    guint64 copied = harness_stat(pipeline, "cpu-copied-bytes");
    guint64 mapped = harness_stat(pipeline, "cpu-mapped-bytes");
    frames_check(counted == (guint64)frames,
                 "%" G_GUINT64_FORMAT " frames, in dma-bufs before the element %u, behind it %u",
                 counted, in, out);
    frames_check(touch || !copied, "the element copied %" G_GUINT64_FORMAT " bytes", copied);
    frames_check(touch || !mapped, "the element mapped %" G_GUINT64_FORMAT " bytes", mapped);
    frames_check(in == counted && out == counted, "all frames are dma-bufs");
    if (touch)
        frames_check(maps > 0 || copies > 0, "noticed what was done on purpose: %d maps, %d copies",
                     maps, copies);
    else
        frames_check(!maps && !copies, "the logs tell of %d maps and %d copies", maps, copies);
    harness_stop(pipeline);
    return 0;
}

int main(int argc, char **argv)
{
    return frames_jobs(argc, argv, untouched);
}
