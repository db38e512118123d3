/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several streams in one process that run their network together: each gets what it gets
 * alone, in order, and nobody waits for one that has ended, flushes, pauses or is gone. The
 * timeouts here are ten minutes where waiting would be a mistake.
 */
#include "written.h"

#include <glib/gstdio.h>
#include <string.h>

#define SIDE 16 /* side of the network's picture and mask, px */
#define FOREVER "batch-timeout=600000 "
#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"
#define OTHER_CAPS "video/x-raw,format=RGB,width=40,height=24,framerate=30/1"

enum { FLOAT = 1, INT64 = 7 };

/* ------------------------------------------------------------------ models */

/* Each pixel of the mask from nine of the picture. */
static void add_network(struct onnx_bytes *graph, const gchar *output)
{
    struct onnx_bytes attributes = { 0 };
    float weights[3 * 3 * 3];

    for (guint i = 0; i < G_N_ELEMENTS(weights); i++)
        weights[i] = (gfloat)(i % 5) / 8 - (gfloat)(i % 3) / 6;
    onnx_input(graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(graph, "w", FLOAT, 4, (const int64_t[]){ 1, 3, 3, 3 }, weights,
                     sizeof(weights));
    onnx_attr_ints(&attributes, "pads", (const int64_t[]){ 1, 1, 1, 1 }, 4);
    onnx_node(graph, "Conv", "src w", "raw", &attributes);
    onnx_node(graph, "Sigmoid", "raw", output, NULL);
}

static gchar *network(void)
{
    struct onnx_bytes graph = { 0 };

    add_network(&graph, "mask");
    onnx_output(&graph, "mask");
    return written_model(&graph);
}

/* The mean of all pictures, of which there is one. */
static gchar *mixing_network(void)
{
    struct onnx_bytes graph = { 0 }, attributes = { 0 };

    add_network(&graph, "own");
    onnx_attr_ints(&attributes, "axes", (const int64_t[]){ 0 }, 1);
    onnx_node(&graph, "ReduceMean", "own", "mask", &attributes);
    onnx_output(&graph, "mask");
    return written_model(&graph);
}

/* Half of that, and half of what it was before. */
static gchar *remembering_network(void)
{
    struct onnx_bytes graph = { 0 };
    const gfloat half = 0.5f;

    add_network(&graph, "own");
    onnx_input(&graph, "before", FLOAT, 4, (const int64_t[]){ 1, 1, SIDE, SIDE });
    onnx_initializer(&graph, "half", FLOAT, 0, NULL, &half, sizeof(half));
    onnx_node(&graph, "Add", "own before", "sum", NULL);
    onnx_node(&graph, "Mul", "sum half", "mask", NULL);
    onnx_output(&graph, "mask");
    return written_model(&graph);
}

/* ----------------------------------------------------------------- streams */

struct stream {
    struct filter filter;
    GstVideoInfo info;
    GThread *thread;
    guint index, frames; /* pushed */
    guint wanted;        /* frames of the batch that ends the thread; 0: `count` frames do */
    guint count;
    guint cut;        /* the frame before which there is a discontinuity; 0: none */
    GPtrArray *masks; /* masks of all frames that a thread has pushed; NULL: not kept */
    GstFlowReturn flow;
};

static void stream_start(struct stream *s, guint index, const gchar *model, const gchar *properties)
{
    *s = (struct stream){ .index = index };
    written_start(&s->filter, model, properties, CAPS);
    caps_info(CAPS, &s->info);
}

static void stream_stop(struct stream *s)
{
    g_clear_pointer(&s->masks, g_ptr_array_unref);
    filter_stop(&s->filter);
}

static gchar *batching(struct stream *s)
{
    GstStructure *stats = NULL;
    gchar *text;

    g_object_get(s->filter.element, "stats", &stats, NULL);
    text = g_strdup(gst_structure_get_string(stats, "batching"));
    gst_structure_free(stats);
    fail_unless(text != NULL);
    return text;
}

/* Another picture in each stream and frame. */
static GstBuffer *stream_picture(const struct stream *s, guint frame)
{
    GstBuffer *picture = picture_new(&s->info, 7 * s->index + 3 * frame);

    GST_BUFFER_PTS(picture) = frame * GST_SECOND / 30;
    if (s->cut && frame == s->cut)
        GST_BUFFER_FLAG_SET(picture, GST_BUFFER_FLAG_DISCONT);
    return picture;
}

/* Same network, with the foreground's colours beside the mask: half of the picture's. */
static gchar *matting(void)
{
    struct onnx_bytes graph = { 0 };
    const gfloat half = 0.5f;

    add_network(&graph, "pha");
    onnx_initializer(&graph, "half", FLOAT, 0, NULL, &half, sizeof(half));
    onnx_node(&graph, "Mul", "src half", "fgr", NULL);
    onnx_output(&graph, "pha");
    onnx_output(&graph, "fgr");
    return written_model(&graph);
}

/* How many frames were in the batch of this one; 1: it went alone. */
static guint stream_push(struct stream *s)
{
    const guint64 batches = filter_stat(&s->filter, "batches");
    const guint64 frames = filter_stat(&s->filter, "batched-frames");
    GstBuffer *mask;

    s->flow = gst_harness_push(s->filter.harness, stream_picture(s, s->frames));
    if (s->flow != GST_FLOW_OK)
        return 0;
    mask = gst_harness_pull(s->filter.harness);
    fail_unless(mask != NULL);
    fail_unless_equals_uint64(GST_BUFFER_PTS(mask), s->frames * GST_SECOND / 30);
    s->frames++;
    if (s->masks)
        g_ptr_array_add(s->masks, mask);
    else
        gst_buffer_unref(mask);
    if (filter_stat(&s->filter, "batches") == batches)
        return 1;
    fail_unless_equals_uint64(filter_stat(&s->filter, "batches"), batches + 1);
    return filter_stat(&s->filter, "batched-frames") - frames;
}

static gpointer push_frames(gpointer data)
{
    struct stream *s = data;

    for (guint i = 0, batch = 0; s->wanted ? batch != s->wanted : i < s->count; i++) {
        batch = stream_push(s);
        if (s->flow != GST_FLOW_OK)
            break;
    }
    return NULL;
}

static void stream_go(struct stream *s, guint wanted, guint count)
{
    s->wanted = wanted;
    s->count = count;
    s->thread = g_thread_new("stream", push_frames, s);
}

static void stream_join(struct stream *s, GstFlowReturn flow)
{
    g_clear_pointer(&s->thread, g_thread_join);
    fail_unless(s->flow == flow, "stream %u: %s", s->index, gst_flow_get_name(s->flow));
}

/* Until graphs are compiled and all have had a frame in one batch, which is the last of each. */
static void run_until_together(struct stream *streams, guint count)
{
    for (guint i = 0; i < count; i++)
        stream_go(&streams[i], count, 0);
    for (guint i = 0; i < count; i++)
        stream_join(&streams[i], GST_FLOW_OK);
}

/* From a graph for four pictures, whatever the third stream's frames are. */
GST_START_TEST(as_alone)
{
    enum { STREAMS = 3, FRAMES = 6 };
    g_autofree gchar *model = __i__ ? matting() : network();
    const gchar *properties = __i__ ? "mode=replace " : "";
    g_autofree gchar *shared = g_strconcat(FOREVER "batch-size=0 ", properties, NULL);
    struct stream streams[STREAMS], lone;
    guint begin[STREAMS];
    guint64 before[STREAMS];

    for (guint i = 0; i < STREAMS; i++)
        stream_start(&streams[i], i, model, shared);
    run_until_together(streams, STREAMS);
    gst_harness_set_src_caps_str(streams[2].filter.harness, OTHER_CAPS);
    caps_info(OTHER_CAPS, &streams[2].info);
    for (guint i = 0; i < STREAMS; i++) {
        g_autofree gchar *state = batching(&streams[i]);

        fail_unless_equals_string(state, "shared");
        begin[i] = streams[i].frames;
        before[i] = filter_stat(&streams[i].filter, "network-ns");
        streams[i].masks = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
        stream_go(&streams[i], 0, FRAMES);
    }
    for (guint i = 0; i < STREAMS; i++)
        stream_join(&streams[i], GST_FLOW_OK);
    stream_start(&lone, 0, model, properties);
    for (guint i = 0; i < STREAMS; i++) {
        GstVideoInfo out;

        lone.index = i;
        lone.info = streams[i].info;
        lone.frames = begin[i];
        gst_harness_set_src_caps_str(lone.filter.harness, i == 2 ? OTHER_CAPS : CAPS);
        lone.masks = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
        for (guint k = 0; k < FRAMES; k++)
            fail_unless_equals_int(stream_push(&lone), 1);
        filter_output_info(&lone.filter, &out);
        for (guint k = 0; k < FRAMES; k++)
            picture_compare(g_ptr_array_index(streams[i].masks, k),
                            g_ptr_array_index(lone.masks, k), &out, 1, "of several");
        g_clear_pointer(&lone.masks, g_ptr_array_unref);
        fail_unless(filter_stat(&streams[i].filter, "batches") > FRAMES);
        fail_unless(filter_stat(&streams[i].filter, "network-ns") != before[i],
                    "runs of batches are not in network-ns");
        filter_expect_no_error(&streams[i].filter);
    }
    stream_stop(&lone);
    for (guint i = 0; i < STREAMS; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

/* Recurrent states belong to one stream, also when it shares runs with others, and when one of the
 * streams has a discontinuity. */
GST_START_TEST(memories)
{
    enum { MOST = 4, FRAMES = 12 };
    static const gchar *const ways[] = { "", "interval=2 " };
    const guint count = __i__ % 2 ? MOST : 2;
    g_autofree gchar *model = remembering_network();
    g_autofree gchar *properties =
        g_strconcat("model-state=before=mask model-output=mask decoder=probability batch-size=0 ",
                    ways[__i__ / 2], NULL);
    struct stream streams[MOST];

    for (guint i = 0; i < count; i++) {
        stream_start(&streams[i], i, model, properties);
        streams[i].masks = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
        streams[i].cut = 2 * i;
    }
    for (guint i = 0; i < count; i++)
        stream_go(&streams[i], 0, FRAMES);
    for (guint i = 0; i < count; i++)
        stream_join(&streams[i], GST_FLOW_OK);
    for (guint i = 0; i < count; i++) {
        g_autofree gchar *state = batching(&streams[i]);
        struct stream lone;
        GstVideoInfo out;

        fail_unless(strstr(state, "state of its own") != NULL, "%s", state);
        stream_start(&lone, i, model, properties);
        lone.cut = streams[i].cut;
        lone.masks = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
        for (guint k = 0; k < FRAMES; k++)
            fail_unless_equals_int(stream_push(&lone), 1);
        filter_output_info(&lone.filter, &out);
        for (guint k = 0; k < FRAMES; k++)
            picture_compare(g_ptr_array_index(streams[i].masks, k),
                            g_ptr_array_index(lone.masks, k), &out, 0, "of several");
        stream_stop(&lone);
    }
    for (guint i = 0; i < count; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

static gint paired; /* streams of at_most that have been in a batch */

static gpointer push_until_paired(gpointer data)
{
    struct stream *s = data;
    gboolean was = FALSE;

    while (g_atomic_int_get(&paired) < 3) {
        const gboolean is = stream_push(s) == 2;

        if (is && !was)
            g_atomic_int_inc(&paired);
        was |= is;
    }
    return NULL;
}

/* Batches of two out of three streams, each with its frames. */
GST_START_TEST(at_most)
{
    g_autofree gchar *model = network();
    struct stream streams[3];

    for (guint i = 0; i < 3; i++)
        stream_start(&streams[i], i, model, "batch-timeout=20 batch-size=2");
    for (guint i = 0; i < 3; i++)
        streams[i].thread = g_thread_new("stream", push_until_paired, &streams[i]);
    for (guint i = 0; i < 3; i++)
        stream_join(&streams[i], GST_FLOW_OK);
    for (guint i = 0; i < 3; i++) {
        fail_unless_equals_uint64(filter_stat(&streams[i].filter, "batched-frames"),
                                  2 * filter_stat(&streams[i].filter, "batches"));
        stream_stop(&streams[i]);
    }
    g_unlink(model);
}
GST_END_TEST;

static void end(struct stream *s)
{
    fail_unless(gst_harness_push_event(s->filter.harness, gst_event_new_eos()));
}

/* Two in a row, which one thread runs, wait for nobody but the other stream's. */
GST_START_TEST(in_a_row)
{
    g_autofree gchar *model = network();
    g_autofree gchar *line = g_strdup_printf(
        "videotestsrc num-buffers=6 ! video/x-raw,width=64,height=48 ! "
        "tdlfilter batch-size=0 " FOREVER "model=%s mode=blur ! "
        "tdlfilter batch-size=0 " FOREVER "model=%s mode=mask ! fakesink",
        model, model);
    struct stream streams[2];
    GstElement *pipeline;

    for (guint i = 0; i < 2; i++) /* while these keep the graphs */
        stream_start(&streams[i], i, model, FOREVER "batch-size=0");
    run_until_together(streams, 2);
    for (guint i = 0; i < 2; i++)
        end(&streams[i]);
    pipeline = gst_parse_launch(line, NULL);
    pipeline_play_to_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    for (guint i = 0; i < 2; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

/* ------------------------------------------------------------- who is away */

/* How one of three stops to bring frames, while the others wait for it. */
static void flush(struct stream *s)
{
    gst_harness_push_event(s->filter.harness, gst_event_new_flush_start());
}

static void pause(struct stream *s)
{
    gst_element_set_state(s->filter.element, GST_STATE_PAUSED);
}

static void go_down(struct stream *s)
{
    gst_element_set_state(s->filter.element, GST_STATE_NULL);
}

static void stop_sharing(struct stream *s)
{
    g_object_set(s->filter.element, "batch-size", 1, NULL);
    stream_push(s);
}

static void stand_still(struct stream *s)
{
    gst_util_set_object_arg(G_OBJECT(s->filter.element), "mode", "passthrough");
    gst_harness_push(s->filter.harness, stream_picture(s, s->frames));
    gst_buffer_unref(gst_harness_pull(s->filter.harness));
}

static void (*const away[])(struct stream *) = { end,     flush,        pause,
                                                 go_down, stop_sharing, stand_still };

GST_START_TEST(others_go_on)
{
    g_autofree gchar *model = network();
    struct stream streams[3];

    for (guint i = 0; i < 3; i++)
        stream_start(&streams[i], i, model, FOREVER "batch-size=0");
    run_until_together(streams, 3);
    for (guint i = 0; i < 2; i++)
        stream_go(&streams[i], 0, 4);
    away[__i__](&streams[2]);
    for (guint i = 0; i < 2; i++)
        stream_join(&streams[i], GST_FLOW_OK);
    for (guint i = 0; i < 2; i++)
        stream_go(&streams[i], 2, 0);
    for (guint i = 0; i < 2; i++)
        stream_join(&streams[i], GST_FLOW_OK);
    for (guint i = 0; i < 3; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

/* A stream that waits for others can be flushed, and comes back. */
GST_START_TEST(flushed_while_waiting)
{
    g_autofree gchar *model = network();
    struct stream streams[2];
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    for (guint i = 0; i < 2; i++)
        stream_start(&streams[i], i, model, FOREVER "batch-size=0");
    for (guint round = 0; round < 3; round++) {
        run_until_together(streams, 2);
        stream_go(&streams[1], 0, 1); /* and the other one brings nothing */
        flush(&streams[1]);
        stream_join(&streams[1], GST_FLOW_FLUSHING);
        gst_harness_push_event(streams[1].filter.harness, gst_event_new_flush_stop(TRUE));
        gst_harness_push_event(streams[1].filter.harness, gst_event_new_segment(&segment));
    }
    run_until_together(streams, 2);
    stream_go(&streams[1], 0, 1);
    go_down(&streams[1]);
    stream_join(&streams[1], GST_FLOW_FLUSHING);
    stream_go(&streams[0], 0, 2);
    stream_join(&streams[0], GST_FLOW_OK);
    for (guint i = 0; i < 2; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

/* Nobody says that it is blocked: it is waited for once, and not again. */
GST_START_TEST(blocked)
{
    g_autofree gchar *model = network();
    struct stream streams[2];
    g_autofree gchar *state = NULL;

    for (guint i = 0; i < 2; i++)
        stream_start(&streams[i], i, model, FOREVER "batch-size=0");
    run_until_together(streams, 2);
    g_object_set(streams[1].filter.element, "batch-timeout", 10.0, NULL);
    fail_unless_equals_int(stream_push(&streams[1]), 1);
    g_object_set(streams[1].filter.element, "batch-timeout", 600000.0, NULL);
    fail_unless_equals_int(stream_push(&streams[1]), 1);
    state = batching(&streams[1]);
    fail_unless_equals_string(state, "alone: no other stream is there");
    run_until_together(streams, 2);
    for (guint i = 0; i < 2; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

/* ------------------------------------------------------------ what is said */

GST_START_TEST(latency)
{
    g_autofree gchar *model = network();
    const GstClockTime wait = 400 * GST_MSECOND;
    struct stream streams[2];
    GstMessage *message;

    for (guint i = 0; i < 2; i++)
        stream_start(&streams[i], i, model, "batch-size=0 batch-timeout=400");
    stream_push(&streams[0]);
    fail_unless(gst_harness_query_latency(streams[0].filter.harness) < wait);
    run_until_together(streams, 2);
    for (guint i = 0; i < 2; i++) {
        fail_unless(gst_harness_query_latency(streams[i].filter.harness) >= wait);
        message = filter_message(&streams[i].filter, GST_MESSAGE_LATENCY);
        fail_unless(message != NULL, "nobody was told of the latency");
        gst_message_unref(message);
    }
    go_down(&streams[1]);
    stream_push(&streams[0]);
    fail_unless(gst_harness_query_latency(streams[0].filter.harness) < wait);
    for (guint i = 0; i < 2; i++)
        stream_stop(&streams[i]);
    g_unlink(model);
}
GST_END_TEST;

static void expect_batching(const gchar *model, const gchar *properties, const gchar *words)
{
    struct stream streams[2];
    gboolean said = FALSE;

    for (guint i = 0; i < 2; i++)
        stream_start(&streams[i], i, model, properties);
    while (!said) { /* messages from compiling come later */
        g_autofree gchar *state = NULL;

        for (guint i = 0; i < 2; i++)
            fail_unless_equals_int(stream_push(&streams[i]), 1);
        state = batching(&streams[1]);
        said = strstr(state, words) != NULL;
        fail_unless(said || strstr(state, "being compiled"), "%s, not %s", state, words);
    }
    for (guint i = 0; i < 2; i++)
        stream_stop(&streams[i]);
}

GST_START_TEST(reasons)
{
    g_autofree gchar *model = network(), *mixing = mixing_network();

    expect_batching(model, "", "off");
    expect_batching(model, "batch-size=4 latency-mode=freshest", "alone: latency-mode");
    expect_batching(model, "batch-size=0 mode=picture input-fit=tiles tile-overlap=2", "tiles");
    expect_batching(mixing, "batch-size=0", "apart");
    g_unlink(model);
    g_unlink(mixing);
}
GST_END_TEST;

int main(int argc, char **argv)
{
    Suite *suite = suite_create("batches");
    TCase *tcase = tcase_create("batches");

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, as_alone, 0, 2);
    tcase_add_loop_test(tcase, memories, 0, 4);
    tcase_add_test(tcase, at_most);
    tcase_add_test(tcase, in_a_row);
    tcase_add_loop_test(tcase, others_go_on, 0, G_N_ELEMENTS(away));
    tcase_add_test(tcase, flushed_while_waiting);
    tcase_add_test(tcase, blocked);
    tcase_add_test(tcase, latency);
    tcase_add_test(tcase, reasons);
    suite_add_tcase(suite, tcase);
    return util_main_one_device(argc, argv, suite, "batches");
}
