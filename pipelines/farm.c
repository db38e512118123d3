/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of farm.sh, which need an eye on single frames:
 *
 *     farm cut VIDEO FOLDER SECONDS
 *         the first video stream, cut at keyframes into FOLDER/in-00000.mkv and so on,
 *         nothing encoded anew; prints the start of each in ns
 *     farm process OUT FILTER ENCODER FILE [PREDECESSOR LENGTH BEFORE]
 *         one piece through FILTER and ENCODER; the filter sees the last BEFORE frames
 *         of the predecessor first, which is LENGTH ns long
 *     farm join OUT VIDEO PATTERN
 *         the pieces one after the other, with the sound of VIDEO
 */
#include <gst/gst.h>
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

struct wanted {
    GstElement *pipeline;
    const char *kinds[2]; /* how their caps begin */
    const char *to;       /* the element by name that takes the first of them */
    const char *pad;      /* its template */
    gboolean found;
};

static gboolean is_wanted(const struct wanted *wanted, GstPad *pad)
{
    GstCaps *caps = gst_pad_get_current_caps(pad);
    const char *name = caps ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    gboolean is = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS(wanted->kinds); i++)
        is |= wanted->kinds[i] && g_str_has_prefix(name, wanted->kinds[i]);
    gst_clear_caps(&caps);
    return is && !wanted->found;
}

/* The first stream that is wanted; the others come to nothing. */
static void link_stream(GstElement *parser, GstPad *pad, gpointer data)
{
    struct wanted *wanted = data;
    GstElement *queue = gst_element_factory_make("queue", NULL), *to;
    GstPad *sink = gst_element_get_static_pad(queue, "sink");

    (void)parser;
    to = is_wanted(wanted, pad) ? gst_bin_get_by_name(GST_BIN(wanted->pipeline), wanted->to)
                                : gst_element_factory_make("fakesink", NULL);
    gst_bin_add(GST_BIN(wanted->pipeline), queue);
    if (GST_OBJECT_PARENT(to)) {
        wanted->found = TRUE;
        gst_element_link_pads(queue, "src", to, wanted->pad);
        gst_object_unref(to);
    } else {
        g_object_set(to, "async", FALSE, NULL);
        gst_bin_add(GST_BIN(wanted->pipeline), to);
        gst_element_link(queue, to);
        gst_element_sync_state_with_parent(to);
    }
    gst_element_sync_state_with_parent(queue);
    gst_pad_link(pad, sink);
    gst_object_unref(sink);
}

static void watch(GstElement *pipeline, struct wanted *wanted)
{
    GstElement *parser = gst_bin_get_by_name(GST_BIN(pipeline), "streams");

    wanted->pipeline = pipeline;
    g_signal_connect(parser, "pad-added", G_CALLBACK(link_stream), wanted);
    gst_object_unref(parser);
}

/* ------------------------------------------------------------------------ cut */

static gboolean cut(char **words, GError **error)
{
    struct wanted video = {.kinds = {"video/", "image/"}, .to = "cut", .pad = "video"};
    GstElement *pipeline = gst_parse_launch("filesrc name=in ! parsebin name=streams "
                                            "splitmuxsink name=cut muxer-factory=matroskamux",
                                            error);
    char *pattern = g_build_filename(words[1], "in-%05d.mkv", NULL);
    char *ns = g_strdup_printf("%.0f", g_ascii_strtod(words[2], NULL) * GST_SECOND);
    gboolean done = FALSE;

    if (pipeline) {
        set(pipeline, "in", "location", words[0]);
        set(pipeline, "cut", "location", pattern);
        set(pipeline, "cut", "max-size-time", ns);
        watch(pipeline, &video);
        done = run(pipeline);
        gst_object_unref(pipeline);
    }
    if (done && !video.found)
        g_printerr("farm: %s has no video\n", words[0]);
    g_free(pattern);
    g_free(ns);
    return done && video.found;
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
    char *line = g_strdup_printf("splitmuxsrc name=in ! decodebin ! identity name=seam ! "
                                 "%s ! identity name=gate ! "
                                 "videoconvert ! %s ! matroskamux ! filesink name=out",
                                 words[1], words[2]);
    GstElement *pipeline = gst_parse_launch(line, error), *element;
    gboolean done;

    g_free(line);
    if (*error) { /* a property, say: there is a pipeline all the same */
        gst_clear_object(&pipeline);
        return FALSE;
    }
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

static gboolean join(char **words, GError **error)
{
    struct wanted sound = {.kinds = {"audio/"}, .to = "mux", .pad = "audio_%u"};
    GstElement *pipeline =
        gst_parse_launch("splitmuxsrc name=in ! queue ! matroskamux name=mux ! filesink name=out "
                         "filesrc name=source ! parsebin name=streams",
                         error);
    gboolean done;

    if (!pipeline)
        return FALSE;
    set(pipeline, "in", "location", words[2]);
    set(pipeline, "source", "location", words[1]);
    set(pipeline, "out", "location", words[0]);
    watch(pipeline, &sound);
    done = run(pipeline);
    gst_object_unref(pipeline);
    return done;
}

static const struct {
    const char *name;
    int words[2];
    gboolean (*run)(char **words, GError **error);
} steps[] = {{"cut", {3, 3}, cut}, {"process", {4, 7}, process}, {"join", {3, 3}, join}};

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
