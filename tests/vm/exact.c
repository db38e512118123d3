/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exact [OPTION...] SOURCE PROPERTIES    (or jobs: see frames_jobs())
 *
 * Runs "SOURCE ! tdlfilter PROPERTIES" and, beside it, a second tdlfilter that
 * is fed with copies, in system memory, of the very frames that reach the
 * first. Their pictures must be the same to the last byte: no stride, offset or
 * colour is taken differently from a dma-buf, and no frame is a stale one.
 */
#include "frames.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <string.h>

static gint frames = 20;
static gchar *import_path;
static gboolean dma_buf, padded, moving;
static const GOptionEntry options[] = {
    { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "How many", "N" },
    { "import-path", 0, 0, G_OPTION_ARG_STRING, &import_path, "Which one they must take", "NAME" },
    { "dma-buf", 0, 0, G_OPTION_ARG_NONE, &dma_buf, "They must come in dma-bufs", NULL },
    { "padded", 0, 0, G_OPTION_ARG_NONE, &padded, "Their rows must be padded", NULL },
    { "moving", 0, 0, G_OPTION_ARG_NONE, &moving, "Each must differ from the one before", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
};

struct side {
    GstElement *pipeline, *filter;
    GAsyncQueue *pictures; /* queue of GstBuffer, as frames_copy() makes them */
};

struct test {
    struct side camera, reference;
    GstElement *feed;    /* the reference's appsrc */
    GstBuffer *previous; /* the camera's last picture */
    guint fed, in_dma_buf, in_padding, different;
};

static gboolean same(GstBuffer *a, GstBuffer *b, gsize *out_at)
{
    GstMapInfo x, y;
    gboolean equal = FALSE;

    gst_buffer_map(a, &x, GST_MAP_READ);
    gst_buffer_map(b, &y, GST_MAP_READ);
    *out_at = 0;
    while (*out_at < MIN(x.size, y.size) && x.data[*out_at] == y.data[*out_at])
        ++*out_at;
    equal = x.size == y.size && *out_at == x.size;
    gst_buffer_unmap(a, &x);
    gst_buffer_unmap(b, &y);
    return equal;
}

static GstPadProbeReturn arrived(GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
    struct test *test = data;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
    GstCaps *caps = gst_pad_get_current_caps(pad);
    GstVideoInfo info;
    gsize at;

    if (!frames_info(caps, &info))
        frames_check(FALSE, "understood the camera's caps");
    if (!test->fed) {
        GstCaps *plain = gst_video_info_to_caps(&info);

        frames_tell(caps);
        g_print("stride %d\n", frames_stride(buffer, &info));
        gst_app_src_set_caps(GST_APP_SRC(test->feed), plain);
        gst_caps_unref(plain);
    }
    GstBuffer *copy = frames_copy(buffer, &info);

    test->fed++;
    test->in_dma_buf += frames_are_dma_buf(buffer);
    test->in_padding += frames_stride(buffer, &info) > GST_VIDEO_INFO_PLANE_STRIDE(&info, 0);
    test->different += test->previous && !same(test->previous, copy, &at);
    gst_buffer_replace(&test->previous, copy);
    gst_app_src_push_buffer(GST_APP_SRC(test->feed), copy);
    gst_caps_unref(caps);
    return GST_PAD_PROBE_OK;
}

static GstFlowReturn made(GstAppSink *sink, gpointer data)
{
    struct side *side = data;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    GstVideoInfo info;

    if (!sample)
        return GST_FLOW_EOS;
    if (!frames_info(gst_sample_get_caps(sample), &info))
        frames_check(FALSE, "understood the filter's caps");
    g_async_queue_push(side->pictures, frames_copy(gst_sample_get_buffer(sample), &info));
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

static void side_init(struct side *side, const char *source, const char *properties)
{
    GstAppSinkCallbacks callbacks = { .new_sample = made };
    gchar *line = g_strdup_printf("%s ! tdlfilter name=filter qos=false %s ! "
                                  "appsink name=sink sync=false", source, properties);

    side->pipeline = harness_parse(line);
    side->filter = gst_bin_get_by_name(GST_BIN(side->pipeline), "filter");
    side->pictures = g_async_queue_new_full((GDestroyNotify)gst_buffer_unref);
    GstElement *sink = gst_bin_get_by_name(GST_BIN(side->pipeline), "sink");
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, side, NULL);
    gst_object_unref(sink);
    g_free(line);
}

static void side_finish(struct side *side)
{
    gst_object_unref(side->filter);
    harness_stop(side->pipeline);
    g_async_queue_unref(side->pictures);
}

static void check_source(struct test *test)
{
    gchar *path = NULL;
    g_object_get(test->camera.filter, "import-path", &path, NULL);
    frames_check(test->fed == (guint)frames, "%u of %d frames came", test->fed, frames);
    frames_check(!dma_buf || test->in_dma_buf == test->fed, "%u in dma-bufs", test->in_dma_buf);
    frames_check(!padded || test->in_padding == test->fed, "%u with padded rows",
                 test->in_padding);
    frames_check(!moving || test->different == test->fed - 1, "%u differ from the one before",
                 test->different);
    frames_check(!import_path || !g_strcmp0(path, import_path), "import-path %s", path);
    frames_check(!import_path || !g_str_has_prefix(import_path, "dma-buf") ||
                     !harness_stat(test->camera.pipeline, "cpu-copied-bytes"),
                 "%" G_GUINT64_FORMAT " bytes copied by the CPU",
                 harness_stat(test->camera.pipeline, "cpu-copied-bytes"));
    g_free(path);
    g_object_get(test->reference.filter, "import-path", &path, NULL);
    frames_check(!g_str_has_prefix(path, "dma-buf"), "the reference's import-path is %s", path);
    g_free(path);
}

static void compare(struct test *test)
{
    gint count = g_async_queue_length(test->camera.pictures);
    gint other = g_async_queue_length(test->reference.pictures);

    frames_check(count == frames && other == frames, "%d and %d pictures", count, other);
    for (gint i = 0; i < count; i++) {
        GstBuffer *a = g_async_queue_pop(test->camera.pictures);
        GstBuffer *b = g_async_queue_pop(test->reference.pictures);
        gsize at;

        if (!same(a, b, &at))
            frames_check(FALSE, "picture %d differs from the reference at byte %" G_GSIZE_FORMAT,
                         i, at);
        gst_buffer_unref(a);
        gst_buffer_unref(b);
    }
    frames_check(TRUE, "%d pictures are the same", count);
}

static int exact(int argc, char **argv)
{
    GOptionContext *context = g_option_context_new("SOURCE PROPERTIES");
    struct test test = { 0 };
    GError *error = NULL;

    frames = 20;
    g_clear_pointer(&import_path, g_free);
    dma_buf = padded = moving = FALSE;
    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 3) {
        g_printerr("%s\n", error ? error->message : "exact [OPTION...] SOURCE PROPERTIES");
        return 2;
    }
    side_init(&test.camera, argv[1], argv[2]);
    side_init(&test.reference, "appsrc name=feed format=time max-bytes=0", argv[2]);
    test.feed = gst_bin_get_by_name(GST_BIN(test.reference.pipeline), "feed");
    GstPad *pad = gst_element_get_static_pad(test.camera.filter, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, arrived, &test, NULL);
    gst_object_unref(pad);

    gst_element_set_state(test.reference.pipeline, GST_STATE_PLAYING);
    frames_check(harness_run(test.camera.pipeline, FRAMES_LIMIT_S), "the camera's pipeline ends");
    gst_app_src_end_of_stream(GST_APP_SRC(test.feed));
    frames_check(harness_run(test.reference.pipeline, FRAMES_LIMIT_S),
                 "the reference's pipeline ends");
    check_source(&test);
    compare(&test);

    gst_buffer_replace(&test.previous, NULL);
    gst_object_unref(test.feed);
    side_finish(&test.camera);
    side_finish(&test.reference);
    g_option_context_free(context);
    return 0;
}

int main(int argc, char **argv)
{
    return frames_jobs(argc, argv, exact);
}
