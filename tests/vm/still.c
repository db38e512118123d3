/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * still [OPTION...] LINE    (or jobs: see frames_jobs())
 *
 * Plays a pipeline whose camera stands still and whose last element is
 * "appsink name=sink", and looks at each picture that comes out:
 *
 *   --write FILE     store the last one, as frames_copy() makes it
 *   --ppm FILE       and as a PPM (of BGRx only)
 *   --compare FILE   all must be the one stored there
 *   --dma-buf        all must come in dma-bufs
 *   --frames N       so many at least
 *   --imports N      so many at most by the element "filter"
 */
#include "frames.h"

#include <gst/app/gstappsink.h>
#include <stdlib.h>
#include <string.h>

static gint frames = 1, imports = -1;
static gchar *write_file, *ppm_file, *compare_file;
static gboolean dma_buf;
static const GOptionEntry options[] = {
    { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "At least so many", "N" },
    { "write", 0, 0, G_OPTION_ARG_FILENAME, &write_file, "Store the last picture", "FILE" },
    { "ppm", 0, 0, G_OPTION_ARG_FILENAME, &ppm_file, "Store it as a PPM", "FILE" },
    { "compare", 0, 0, G_OPTION_ARG_FILENAME, &compare_file, "Expect this picture", "FILE" },
    { "dma-buf", 0, 0, G_OPTION_ARG_NONE, &dma_buf, "Expect dma-bufs", NULL },
    { "imports", 0, 0, G_OPTION_ARG_INT, &imports, "At most so many imports", "N" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
};

struct seen {
    GstVideoInfo info;
    GstBuffer *last;
    gchar *expected;
    gsize expected_size;
    gint stride;
    guint pictures, dma_bufs, wrong;
};

static void compare(struct seen *seen, GstBuffer *copy)
{
    GstMapInfo map;
    gsize at = 0, wrong = 0;

    gst_buffer_map(copy, &map, GST_MAP_READ);
    for (gsize i = MIN(map.size, seen->expected_size); i-- > 0;)
        if (map.data[i] != (guint8)seen->expected[i])
            wrong++, at = i;
    if (wrong || map.size != seen->expected_size) {
        seen->wrong++;
        g_print("picture %u, stride %d: %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " bytes (%"
                G_GSIZE_FORMAT " expected) differ, first at %" G_GSIZE_FORMAT "\n",
                seen->pictures - 1, seen->stride, wrong, map.size, seen->expected_size, at);
    }
    gst_buffer_unmap(copy, &map);
}

static GstFlowReturn look(GstAppSink *sink, gpointer data)
{
    struct seen *seen = data;
    GstSample *sample = gst_app_sink_pull_sample(sink);

    if (!sample)
        return GST_FLOW_EOS;
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    if (!frames_info(gst_sample_get_caps(sample), &seen->info))
        frames_check(FALSE, "understood the caps");
    GstBuffer *copy = frames_copy(buffer, &seen->info);

    if (!seen->pictures++)
        frames_tell(gst_sample_get_caps(sample));
    seen->dma_bufs += frames_are_dma_buf(buffer);
    seen->stride = frames_stride(buffer, &seen->info);
    if (seen->expected)
        compare(seen, copy);
    gst_buffer_replace(&seen->last, copy);
    gst_buffer_unref(copy);
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

static void save(const char *name, const gchar *data, gsize size)
{
    GError *error = NULL;

    g_file_set_contents(name, data, (gssize)size, &error);
    frames_check(!error, "wrote %s", name);
}

static void save_ppm(const char *name, const guint8 *bgrx, const GstVideoInfo *info)
{
    GString *ppm = g_string_new(NULL);

    frames_check(GST_VIDEO_INFO_FORMAT(info) == GST_VIDEO_FORMAT_BGRx, "a picture for a PPM");
    g_string_printf(ppm, "P6\n%d %d\n255\n", info->width, info->height);
    for (gint i = 0; i < info->width * info->height; i++)
        for (gint c = 2; c >= 0; c--)
            g_string_append_c(ppm, (gchar)bgrx[4 * i + c]);
    save(name, ppm->str, ppm->len);
    g_string_free(ppm, TRUE);
}

static void store(struct seen *seen)
{
    GstMapInfo map;

    gst_buffer_map(seen->last, &map, GST_MAP_READ);
    if (write_file)
        save(write_file, (const gchar *)map.data, map.size);
    if (ppm_file)
        save_ppm(ppm_file, map.data, &seen->info);
    gst_buffer_unmap(seen->last, &map);
}

static gboolean parse(int *argc, char ***argv)
{
    GOptionContext *context = g_option_context_new("LINE");
    GError *error = NULL;

    frames = 1, imports = -1;
    dma_buf = FALSE;
    g_clear_pointer(&write_file, g_free);
    g_clear_pointer(&ppm_file, g_free);
    g_clear_pointer(&compare_file, g_free);
    g_option_context_add_main_entries(context, options, NULL);
    gboolean good = g_option_context_parse(context, argc, argv, &error) && *argc == 2;
    if (!good)
        g_printerr("%s\n", error ? error->message : "still [OPTION...] LINE");
    g_clear_error(&error);
    g_option_context_free(context);
    return good;
}

static int still(int argc, char **argv)
{
    GstAppSinkCallbacks callbacks = { .new_sample = look };
    struct seen seen = { 0 };

    if (!parse(&argc, &argv))
        return 2;
    if (compare_file)
        frames_check(g_file_get_contents(compare_file, &seen.expected, &seen.expected_size, NULL),
                     "read %s", compare_file);
    GstElement *pipeline = harness_parse(argv[1]);
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &seen, NULL);
    gst_object_unref(sink);

    frames_check(harness_run(pipeline, FRAMES_LIMIT_S), "the pipeline ends");
    frames_check(seen.pictures >= (guint)frames, "%u pictures, %d wanted", seen.pictures, frames);
    frames_check(!dma_buf || seen.dma_bufs == seen.pictures, "%u in dma-bufs", seen.dma_bufs);
    frames_check(!compare_file || !seen.wrong, "%u other than expected", seen.wrong);
    if (imports >= 0) {
        guint64 made = harness_stat(pipeline, "imports");
        frames_check(made > 0 && made <= (guint64)imports, "%" G_GUINT64_FORMAT " imports, %"
                     G_GUINT64_FORMAT " cache hits", made, harness_stat(pipeline, "cache-hits"));
    }
    store(&seen);
    gst_buffer_replace(&seen.last, NULL);
    g_free(seen.expected);
    harness_stop(pipeline);
    return 0;
}

int main(int argc, char **argv)
{
    return frames_jobs(argc, argv, still);
}
