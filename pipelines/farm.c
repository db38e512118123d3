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

/* Whether the file has such a stream; it may be none that GStreamer knows. How long it
 * says that it is: 0 if it does not say. */
static gboolean has(const char *file, GType kind, GstClockTime *out_length)
{
    char *path = g_canonicalize_filename(file, NULL), *uri = g_filename_to_uri(path, NULL, NULL);
    GstDiscoverer *discoverer = uri ? gst_discoverer_new(30 * GST_SECOND, NULL) : NULL;
    GstDiscovererInfo *info =
        discoverer ? gst_discoverer_discover_uri(discoverer, uri, NULL) : NULL;
    GList *streams = info ? gst_discoverer_info_get_streams(info, kind) : NULL;
    const gboolean found = streams != NULL;

    *out_length = info ? gst_discoverer_info_get_duration(info) : 0;
    if (!GST_CLOCK_TIME_IS_VALID(*out_length))
        *out_length = 0;
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

static void probe(GstElement *pipeline, const char *name, GstPadProbeCallback look, gpointer data)
{
    GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
    GstPad *pad = gst_element_get_static_pad(element, "sink");

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, look, data, NULL);
    gst_object_unref(pad);
    gst_object_unref(element);
}

static GstPadProbeReturn note_end(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    const GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    GstClockTime *end = data;

    (void)pad;
    if (GST_BUFFER_PTS_IS_VALID(buffer))
        *end = MAX(*end, GST_BUFFER_PTS(buffer));
    return GST_PAD_PROBE_OK;
}

/* Files that are cut short end like others, but before the length that they tell. */
static void compare_length(const char *file, GstClockTime end, GstClockTime length)
{
    if (end + 2 * GST_SECOND < length)
        g_printerr(
            "farm: the pictures of %s end after %.1f s, and it says that it has %.1f s: if it "
            "is cut short, what follows is missing in the result, too\n",
            file, (double)end / GST_SECOND, (double)length / GST_SECOND);
}

static gboolean cut(char **words, GError **error)
{
    struct stream pictures = {.kinds = {"video/", "image/"}};
    GstClockTime end = 0, length;
    GstElement *pipeline = NULL;
    char *pattern, *ns;
    gboolean done;

    if (!has(words[0], GST_TYPE_DISCOVERER_VIDEO_INFO, &length)) {
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
    probe(pipeline, "wanted", note_end, &end);
    done = run(pipeline);
    if (done)
        compare_length(words[0], end, length);
    gst_object_unref(pipeline);
    g_free(pattern);
    g_free(ns);
    return done;
}

/* --------------------------------------------------------------- files in a row */

/* One file among those that follow each other in one stream. */
struct part {
    char *file;
    GstClockTime at; /* where its first picture comes */
    guint last;      /* only so many frames before `end`, from a keyframe on; 0: all of it */
    GstClockTime end;
};

struct row {
    GstAppSrc *to;
    GArray *parts;
};

static void clear_part(gpointer part)
{
    g_free(((struct part *)part)->file);
}

static GArray *new_parts(void)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));

    g_array_set_clear_func(parts, clear_part);
    return parts;
}

/* Whether an error came, which is printed; waits for a message `until`, or does not wait. */
static gboolean broken(GstBus *bus, GstMessageType until)
{
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, until ? GST_CLOCK_TIME_NONE : 0, until | GST_MESSAGE_ERROR);
    GError *error = NULL;

    if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, NULL);
        fail(error);
        g_error_free(error);
    }
    until = message ? GST_MESSAGE_TYPE(message) : 0;
    g_clear_pointer(&message, gst_message_unref);
    return until == GST_MESSAGE_ERROR;
}

static GstClockTime length_of_frame(GstSample *sample)
{
    const GstStructure *s = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
    int n, d;

    if (gst_structure_get_fraction(s, "framerate", &n, &d) && n > 0)
        return gst_util_uint64_scale(GST_SECOND, d, n);
    return GST_SECOND / 30;
}

/* Waits for the first picture of all, which has time `out_first`; then goes to what is
 * wanted. */
static gboolean begin(GstElement *pipeline, GstAppSink *from, GstBus *bus, const struct part *part,
                      GstClockTime *out_first)
{
    GstClockTime back;
    GstSample *sample;

    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    if (broken(bus, GST_MESSAGE_ASYNC_DONE) || !(sample = gst_app_sink_pull_preroll(from)))
        return FALSE;
    *out_first = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    back = part->last * length_of_frame(sample);
    gst_sample_unref(sample);
    if (!part->last || part->end <= back)
        return TRUE;
    return gst_element_seek_simple(pipeline, GST_FORMAT_TIME,
                                   GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT |
                                       GST_SEEK_FLAG_SNAP_BEFORE,
                                   *out_first + part->end - back);
}

/* Pushes the sample, later by `at` - `first`. No gap is told of: the filter would forget
 * what it has seen. */
static gboolean pass_on(GstAppSrc *to, GstSample *sample, GstClockTime at, GstClockTime first)
{
    GstBuffer *buffer = gst_buffer_copy(gst_sample_get_buffer(sample));

    GST_BUFFER_PTS(buffer) += at - first;
    if (GST_BUFFER_DTS_IS_VALID(buffer))
        GST_BUFFER_DTS(buffer) = MAX(GST_BUFFER_DTS(buffer) + at, first) - first;
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
    gst_app_src_set_caps(to, gst_sample_get_caps(sample));
    return gst_app_src_push_buffer(to, buffer) == GST_FLOW_OK;
}

static gboolean append(GstAppSrc *to, const struct part *part)
{
    GstElement *pipeline = gst_parse_launch(
        "filesrc name=in ! matroskademux name=streams appsink name=wanted sync=false", NULL);
    struct stream pictures = {.kinds = {"video/", "image/"}};
    GstClockTime first = GST_CLOCK_TIME_NONE;
    gboolean done, ended = FALSE;
    GstAppSink *from;
    GstBus *bus;

    if (!pipeline)
        return FALSE;
    set(pipeline, "in", "location", part->file);
    watch(pipeline, &pictures);
    from = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), "wanted"));
    bus = gst_element_get_bus(pipeline);
    done = begin(pipeline, from, bus, part, &first);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (done && !ended) {
        GstSample *sample = gst_app_sink_try_pull_sample(from, GST_SECOND / 10);

        if (sample)
            ended = !pass_on(to, sample, part->at, first); /* nobody reads on */
        else
            ended = gst_app_sink_is_eos(from);
        g_clear_pointer(&sample, gst_sample_unref);
        done = done && !broken(bus, 0);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(from);
    gst_object_unref(pipeline);
    if (!done)
        g_printerr("farm: cannot read %s to its end\n", part->file);
    return done;
}

/* In a thread of its own. */
static gpointer append_all(gpointer data)
{
    struct row *row = data;
    gboolean done = TRUE;

    for (guint i = 0; done && i < row->parts->len; i++)
        done = append(row->to, &g_array_index(row->parts, struct part, i));
    if (!done)
        GST_ELEMENT_ERROR(row->to, STREAM, FAILED, ("A piece is missing or broken"), (NULL));
    gst_app_src_end_of_stream(row->to);
    return NULL;
}

#define PICTURES "appsrc name=pictures format=time block=true max-bytes=16000000 ! "

/* The pipeline begins with PICTURES, which are those of the parts. */
static gboolean run_row(GstElement *pipeline, GArray *parts)
{
    struct row row = {.parts = parts};
    gboolean done;
    GThread *thread;

    row.to = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "pictures"));
    thread = g_thread_new("pieces", append_all, &row);
    done = run(pipeline);
    g_thread_join(thread);
    gst_object_unref(row.to);
    return done;
}

/* -------------------------------------------------------------------- process */

/* Frames before the piece, whose start is `data`, end here. Containers round times. */
static GstPadProbeReturn gate(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    const GstClockTime *start = data;

    (void)pad;
    return GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) + 2 * GST_MSECOND < *start
               ? GST_PAD_PROBE_DROP
               : GST_PAD_PROBE_OK;
}

static gboolean process(char **words, GError **error)
{
    GstElement *pipeline = parse(error,
                                 PICTURES "decodebin ! %s ! identity name=gate ! "
                                          "videoconvert ! %s ! matroskamux ! filesink name=out",
                                 words[1], words[2]);
    GstClockTime start = words[4] ? g_ascii_strtoull(words[5], NULL, 10) : 0;
    struct part before = {.end = start}, piece = {.at = start};
    GArray *parts;
    gboolean done;

    if (!pipeline)
        return FALSE;
    set(pipeline, "out", "location", words[0]);
    probe(pipeline, "gate", gate, &start);
    parts = new_parts();
    before.last = words[4] ? strtoul(words[6], NULL, 10) : 0;
    if (before.last) {
        before.file = g_strdup(words[4]);
        g_array_append_val(parts, before);
    }
    piece.file = g_strdup(words[3]);
    g_array_append_val(parts, piece);
    done = run_row(pipeline, parts);
    g_array_unref(parts);
    gst_object_unref(pipeline);
    return done;
}

/* ----------------------------------------------------------------------- join */

/* The pieces in the folder, by their starts. */
static GArray *list_pieces(const char *folder, const char *text)
{
    GArray *parts = new_parts();
    char **starts = g_strsplit(text, "\n", -1);

    for (guint i = 0; starts[i] && *starts[i]; i++) {
        struct part part = {.at = g_ascii_strtoull(starts[i], NULL, 10)};

        part.file = g_strdup_printf("%s/out-%05u.mkv", folder, i);
        g_array_append_val(parts, part);
    }
    g_strfreev(starts);
    return parts;
}

static gboolean join(char **words, GError **error)
{
    GstClockTime length;
    const gboolean sounds = has(words[1], GST_TYPE_DISCOVERER_AUDIO_INFO, &length);
    struct stream sound = {.kinds = {"audio/"}};
    char *starts = g_build_filename(words[2], "starts", NULL), *text = NULL;
    GstElement *pipeline = NULL;
    gboolean done = FALSE;
    GArray *parts;

    if (g_file_get_contents(starts, &text, NULL, error))
        pipeline = parse(error, PICTURES "matroskamux name=mux ! filesink name=out %s",
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
    parts = list_pieces(words[2], text);
    done = run_row(pipeline, parts);
    g_array_unref(parts);
    gst_object_unref(pipeline);
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
