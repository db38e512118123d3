/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of farm.sh, which need an eye on single frames:
 *
 *     farm try FILTER ENCODER
 *         three frames, so that what cannot work is said before anything is cut
 *     farm cut VIDEO FOLDER SECONDS
 *         the first video stream, cut at keyframes into FOLDER/in-00000.mkv and so on,
 *         nothing encoded anew; prints the start of each in ns
 *     farm process OUT FILTER ENCODER FILE [PREDECESSOR LENGTH BEFORE]
 *         one piece through FILTER and ENCODER; the filter sees the last BEFORE frames
 *         of the predecessor first, which is LENGTH ns long
 *     farm join OUT VIDEO FOLDER
 *         the pieces FOLDER/out-00000.mkv and so on, one after the other, each at its time
 *         in FOLDER/starts, with the sound of VIDEO
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

static gboolean fail(const GError *error)
{
    g_printerr("farm: %s\n", error ? error->message : "no pipeline");
    return FALSE;
}

static void set(GstElement *pipeline, const char *name, const char *property, const char *value)
{
    GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
    gst_util_set_object_arg(G_OBJECT(element), property, value);
    gst_object_unref(element);
}

/* Where splitmuxsink cuts. */
static void print_start(GstMessage *message)
{
    const GstStructure *s = gst_message_get_structure(message);
    guint64 start;

    if (s && gst_structure_has_name(s, "splitmuxsink-fragment-opened") &&
        gst_structure_get_uint64(s, "running-time", &start))
        g_print("%" G_GUINT64_FORMAT "\n", start);
}

static gboolean is_end(GstMessage *message, gboolean *out_done)
{
    GError *error = NULL;

    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
        print_start(message);
    *out_done = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR)
        return *out_done;
    gst_message_parse_error(message, &error, NULL);
    fail(error);
    g_error_free(error);
    return TRUE;
}

/* Until the end or an error. */
static gboolean run(GstElement *pipeline)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    gboolean done = FALSE, ended = FALSE;

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (!ended) {
        GstMessage *message = gst_bus_timed_pop_filtered(
            bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
        ended = is_end(message, &done);
        gst_message_unref(message);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    return done;
}

/* ----------------------------------------------------- streams of a container */

/* The first stream whose caps begin so goes into the element "wanted"; the others are not
 * linked. */
struct stream {
    GstElement *pipeline;
    const char *kinds[2];
    gboolean found;
};

static gboolean is_wanted(const struct stream *stream, GstPad *pad)
{
    GstCaps *caps = gst_pad_get_current_caps(pad);
    const char *name = caps ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    gboolean is = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS(stream->kinds); i++)
        is |= stream->kinds[i] && g_str_has_prefix(name, stream->kinds[i]);
    gst_clear_caps(&caps);
    return is;
}

static void link_wanted(GstElement *parser, GstPad *pad, gpointer data)
{
    struct stream *stream = data;
    GstElement *to;
    GstPad *sink;

    (void)parser;
    if (stream->found || !is_wanted(stream, pad))
        return;
    stream->found = TRUE;
    to = gst_bin_get_by_name(GST_BIN(stream->pipeline), "wanted");
    sink = gst_element_get_static_pad(to, "sink");
    gst_pad_link(pad, sink);
    gst_object_unref(sink);
    gst_object_unref(to);
}

static void watch(GstElement *pipeline, struct stream *stream)
{
    GstElement *parser = gst_bin_get_by_name(GST_BIN(pipeline), "streams");

    stream->pipeline = pipeline;
    g_signal_connect(parser, "pad-added", G_CALLBACK(link_wanted), stream);
    gst_object_unref(parser);
}

/* Whether the file has such a stream; it may be none that GStreamer knows. */
static gboolean has(const char *file, GType kind)
{
    char *path = g_canonicalize_filename(file, NULL), *uri = g_filename_to_uri(path, NULL, NULL);
    GstDiscoverer *discoverer = uri ? gst_discoverer_new(30 * GST_SECOND, NULL) : NULL;
    GstDiscovererInfo *info =
        discoverer ? gst_discoverer_discover_uri(discoverer, uri, NULL) : NULL;
    GList *streams = info ? gst_discoverer_info_get_streams(info, kind) : NULL;
    const gboolean found = streams != NULL;

    gst_discoverer_stream_info_list_free(streams);
    g_clear_object(&info);
    g_clear_object(&discoverer);
    g_free(uri);
    g_free(path);
    return found;
}

/* ------------------------------------------------------------------------ try */

/* The line of elements, or NULL. */
static GstElement *parse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static GstElement *parse(GError **error, const char *format, ...)
{
    va_list arguments;
    GstElement *pipeline;
    char *line;

    va_start(arguments, format);
    line = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    pipeline = gst_parse_launch(line, error);
    g_free(line);
    if (*error) /* a property, say: there is a pipeline all the same */
        gst_clear_object(&pipeline);
    return pipeline;
}

static gboolean try(char **words, GError **error)
{
    GstElement *pipeline = parse(error,
                                 "videotestsrc num-buffers=3 ! video/x-raw,width=320,height=240 ! "
                                 "%s ! videoconvert ! %s ! matroskamux ! fakesink",
                                 words[0], words[1]);
    const gboolean done = pipeline && run(pipeline);

    gst_clear_object(&pipeline);
    return done;
}

/* ------------------------------------------------------------------------ cut */

static gboolean cut(char **words, GError **error)
{
    struct stream pictures = {.kinds = {"video/", "image/"}};
    GstElement *pipeline = NULL;
    char *pattern, *ns;
    gboolean done;

    if (!has(words[0], GST_TYPE_DISCOVERER_VIDEO_INFO)) {
        g_printerr("farm: %s is no video, or of a kind that GStreamer does not know here\n",
                   words[0]);
        return FALSE;
    }
    pipeline = parse(error, "filesrc name=in ! parsebin name=streams queue name=wanted "
                            "splitmuxsink name=cut muxer-factory=matroskamux wanted. ! cut.video");
    if (!pipeline)
        return FALSE;
    pattern = g_build_filename(words[1], "in-%05d.mkv", NULL);
    ns = g_strdup_printf("%.0f", g_ascii_strtod(words[2], NULL) * GST_SECOND);
    set(pipeline, "in", "location", words[0]);
    set(pipeline, "cut", "location", pattern);
    set(pipeline, "cut", "max-size-time", ns);
    watch(pipeline, &pictures);
    done = run(pipeline);
    gst_object_unref(pipeline);
    g_free(pattern);
    g_free(ns);
    return done;
}

/* -------------------------------------------------------------------- process */

struct piece {
    GstElement *pipeline;
    GstClockTime start; /* of what is kept, in stream time */
    guint before;       /* frames in front of it */
    GstSegment segment;
    GstClockTime frame; /* how long one is */
    gboolean started, sought, there;
    char *files[3];
};

static void look_at(struct piece *piece, GstEvent *event)
{
    GstVideoInfo info;
    GstCaps *caps;

    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
        piece->there = TRUE;
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT)
        gst_event_copy_segment(event, &piece->segment);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
        return;
    gst_event_parse_caps(event, &caps);
    if (gst_video_info_from_caps(&info, caps) && info.fps_n > 0)
        piece->frame = gst_util_uint64_scale(GST_SECOND, info.fps_d, info.fps_n);
}

/* The first frame of all says how long one is; from there on what the filter needs to
 * see is what comes. */
static gboolean seek(struct piece *piece, GstPad *pad)
{
    const GstClockTime back = piece->before * piece->frame;
    const GstClockTime to = piece->start > back ? piece->start - back : 0;

    return gst_pad_push_event(
        pad, gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
                                GST_SEEK_TYPE_SET, to, GST_SEEK_TYPE_NONE, GST_CLOCK_TIME_NONE));
}

static void seek_later(GstElement *pipeline, gpointer data)
{
    struct piece *piece = data;
    GstElement *gate = gst_bin_get_by_name(GST_BIN(pipeline), "gate");
    GstPad *pad = gst_element_get_static_pad(gate, "sink");

    if (!seek(piece, pad))
        GST_ELEMENT_ERROR(gate, STREAM, FAILED, ("The pieces cannot be sought in"), (NULL));
    gst_object_unref(pad);
    gst_object_unref(gate);
}

/* Frames before the piece end here. Half a frame of tolerance: containers round times. */
static GstPadProbeReturn gate(GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
    struct piece *piece = data;
    GstClockTime time;

    (void)pad;
    if (!(probe->type & GST_PAD_PROBE_TYPE_BUFFER)) {
        look_at(piece, GST_PAD_PROBE_INFO_EVENT(probe));
        return GST_PAD_PROBE_OK;
    }
    if (!piece->sought && piece->start) {
        piece->sought = TRUE;
        gst_element_call_async(piece->pipeline, seek_later, piece, NULL);
    }
    if (!piece->there && piece->start)
        return GST_PAD_PROBE_DROP;
    time = gst_segment_to_stream_time(&piece->segment, GST_FORMAT_TIME,
                                      GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(probe)));
    return time + piece->frame / 2 < piece->start ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

/* A piece follows its predecessor without a gap, though the demuxer says otherwise: the
 * filter would forget what it has seen. */
static GstPadProbeReturn mend(GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
    struct piece *piece = data;
    gboolean again;

    (void)pad;
    if (probe->type & GST_PAD_PROBE_TYPE_BUFFER) {
        probe->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(probe));
        GST_BUFFER_FLAG_UNSET(GST_BUFFER(probe->data), GST_BUFFER_FLAG_DISCONT);
        return GST_PAD_PROBE_OK;
    }
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(probe)) != GST_EVENT_STREAM_START)
        return GST_PAD_PROBE_OK;
    again = piece->started;
    piece->started = TRUE;
    return again ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static void probe_pad(GstElement *pipeline, const char *name, GstPadProbeType type,
                      GstPadProbeCallback callback, gpointer data)
{
    GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
    GstPad *pad = gst_element_get_static_pad(element, "sink");

    gst_pad_add_probe(pad, type, callback, data, NULL);
    gst_object_unref(pad);
    gst_object_unref(element);
}

/* The order that counts. */
static char **name_files(GstElement *source, gpointer data)
{
    (void)source;
    return g_strdupv(((struct piece *)data)->files);
}

static gboolean process(char **words, GError **error)
{
    const gboolean follows = words[4] != NULL;
    struct piece piece = {.frame = GST_SECOND / 30};
    GstElement *pipeline = parse(error,
                                 "splitmuxsrc name=in ! decodebin ! identity name=seam ! "
                                 "%s ! identity name=gate ! "
                                 "videoconvert ! %s ! matroskamux ! filesink name=out",
                                 words[1], words[2]),
               *element;
    gboolean done;

    if (!pipeline)
        return FALSE;
    piece.pipeline = pipeline;
    piece.files[0] = follows ? words[4] : words[3];
    piece.files[1] = follows ? words[3] : NULL;
    piece.start = follows ? g_ascii_strtoull(words[5], NULL, 10) : 0;
    piece.before = follows ? strtoul(words[6], NULL, 10) : 0;
    set(pipeline, "out", "location", words[0]);
    element = gst_bin_get_by_name(GST_BIN(pipeline), "in");
    g_signal_connect(element, "format-location", G_CALLBACK(name_files), &piece);
    gst_object_unref(element);
    probe_pad(pipeline, "seam", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
              mend, &piece);
    probe_pad(pipeline, "gate",
              GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                  GST_PAD_PROBE_TYPE_EVENT_FLUSH,
              gate, &piece);
    done = run(pipeline);
    gst_object_unref(pipeline);
    return done;
}

/* ----------------------------------------------------------------------- join */

/* What a piece holds goes on, its first picture at `start`. */
static gboolean append(GstAppSrc *to, const char *file, GstClockTime start)
{
    GstElement *pipeline =
        gst_parse_launch("filesrc name=in ! matroskademux ! appsink name=out sync=false", NULL);
    GstClockTime first = GST_CLOCK_TIME_NONE;
    GstElement *from;
    GstSample *sample;
    gboolean done;

    if (!pipeline)
        return FALSE;
    set(pipeline, "in", "location", file);
    from = gst_bin_get_by_name(GST_BIN(pipeline), "out");
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while ((sample = gst_app_sink_pull_sample(GST_APP_SINK(from)))) {
        GstBuffer *buffer = gst_buffer_copy(gst_sample_get_buffer(sample));

        if (!GST_CLOCK_TIME_IS_VALID(first))
            first = GST_BUFFER_PTS(buffer);
        GST_BUFFER_PTS(buffer) += start - first;
        if (GST_BUFFER_DTS_IS_VALID(buffer))
            GST_BUFFER_DTS(buffer) = MAX(GST_BUFFER_DTS(buffer) + start, first) - first;
        gst_app_src_set_caps(to, gst_sample_get_caps(sample));
        gst_sample_unref(sample);
        if (gst_app_src_push_buffer(to, buffer) != GST_FLOW_OK)
            break;
    }
    done = GST_CLOCK_TIME_IS_VALID(first) && gst_app_sink_is_eos(GST_APP_SINK(from));
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(from);
    gst_object_unref(pipeline);
    if (!done)
        g_printerr("farm: cannot join %s\n", file);
    return done;
}

struct joined {
    GstAppSrc *to;
    const char *folder;
    char **starts;
};

/* All of them, one after the other, in a thread of its own. */
static gpointer append_all(gpointer data)
{
    struct joined *joined = data;
    gboolean done = TRUE;

    for (guint i = 0; done && joined->starts[i] && *joined->starts[i]; i++) {
        char *file = g_strdup_printf("%s/out-%05u.mkv", joined->folder, i);

        done = append(joined->to, file, g_ascii_strtoull(joined->starts[i], NULL, 10));
        g_free(file);
    }
    if (!done)
        GST_ELEMENT_ERROR(joined->to, STREAM, FAILED, ("A piece is missing or broken"), (NULL));
    gst_app_src_end_of_stream(joined->to);
    return NULL;
}

static gboolean join(char **words, GError **error)
{
    const gboolean sounds = has(words[1], GST_TYPE_DISCOVERER_AUDIO_INFO);
    struct stream sound = {.kinds = {"audio/"}};
    struct joined joined = {.folder = words[2]};
    char *starts = g_build_filename(words[2], "starts", NULL), *text = NULL;
    GstElement *pipeline = NULL;
    gboolean done = FALSE;
    GThread *thread;

    if (g_file_get_contents(starts, &text, NULL, error))
        pipeline = parse(error,
                         "appsrc name=pictures format=time block=true max-bytes=16000000 ! "
                         "matroskamux name=mux ! filesink name=out %s",
                         sounds ? "filesrc name=source ! parsebin name=streams "
                                  "queue name=wanted wanted. ! mux.audio_0"
                                : "");
    g_free(starts);
    if (!pipeline)
        goto out;
    set(pipeline, "out", "location", words[0]);
    if (sounds) {
        set(pipeline, "source", "location", words[1]);
        watch(pipeline, &sound);
    }
    joined.starts = g_strsplit(text, "\n", -1);
    joined.to = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "pictures"));
    thread = g_thread_new("pieces", append_all, &joined);
    done = run(pipeline);
    g_thread_join(thread);
    gst_object_unref(joined.to);
    gst_object_unref(pipeline);
    g_strfreev(joined.starts);
out:
    g_free(text);
    return done;
}

static const struct {
    const char *name;
    int words[2];
    gboolean (*run)(char **words, GError **error);
} steps[] = {{"try", {2, 2}, try},
             {"cut", {3, 3}, cut},
             {"process", {4, 7}, process},
             {"join", {3, 3}, join}};

int main(int argc, char **argv)
{
    const int words = argc - 2;
    GError *error = NULL;

    gst_init(NULL, NULL);
    for (guint i = 0; words > 0 && i < G_N_ELEMENTS(steps); i++)
        if (!strcmp(argv[1], steps[i].name) &&
            (words == steps[i].words[0] || words == steps[i].words[1])) {
            const gboolean done = steps[i].run(argv + 2, &error);

            if (error)
                fail(error);
            g_clear_error(&error);
            return done ? 0 : 1;
        }
    g_printerr("usage: see pipelines/farm.c\n");
    return 2;
}
