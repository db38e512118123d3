/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of farm.sh, which need an eye on single frames:
 *
 *     farm try FILTER ENCODER
 *         three frames, so that what cannot work is said before anything is cut
 *     farm cut VIDEO FOLDER SECONDS
 *         the first video stream, cut at keyframes into FOLDER/in-00000.mkv and so on,
 *         nothing encoded anew; prints the time of the keyframe of each in ns
 *     farm process OUT FILTER ENCODER FILE [PREDECESSOR START BEFORE]
 *         one piece, which starts at START ns, through FILTER and ENCODER; the filter sees
 *         the last BEFORE frames of the predecessor first
 *     farm join OUT VIDEO FOLDER
 *         the pieces FOLDER/out-00000.mkv and so on, as many as FOLDER/starts has lines, one
 *         after the other, with the sound of VIDEO
 *
 * Times in pieces are those of the recording.
 */
#include "farm-files.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

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

/* Prints the start of each fragment that splitmuxsink opens. */
static void print_start(GstMessage *message)
{
    const GstStructure *s = gst_message_get_structure(message);
    guint64 start;

    if (s && gst_structure_has_name(s, "splitmuxsink-fragment-opened") &&
        gst_structure_get_uint64(s, "running-time", &start))
        g_print("%" G_GUINT64_FORMAT "\n", start);
}

/* Elements often give the reason in the last line of what is meant for debugging alone. */
static void print_error(GstMessage *message)
{
    GError *error = NULL;
    char *debug = NULL;
    const char *line;

    gst_message_parse_error(message, &error, &debug);
    line = debug ? strrchr(debug, '\n') : NULL;
    g_printerr("farm: %s%s%s%s\n", error->message, line ? " (" : "", line ? line + 1 : "",
               line ? ")" : "");
    g_error_free(error);
    g_free(debug);
}

static gboolean is_end(GstMessage *message, gboolean *out_done)
{
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
        print_start(message);
    *out_done = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR)
        return *out_done;
    print_error(message);
    return TRUE;
}

/* Seconds: a model may be built before the first picture, and a disk may wake up. */
#define PATIENCE_COMPUTING 900
#define PATIENCE_COPYING 120

/* Counts what moves: pictures in, pictures out. */
static gint moved;

/* A pipeline that stands still may not even be stopped any more. */
static void give_up(guint seconds)
{
    g_printerr("farm: nothing has moved for %u s: the pipeline stands still\n", seconds);
    _exit(1);
}

/* Until the end or an error, or until nothing moves for so many seconds: $TDL_FARM_PATIENCE,
 * or else `patience`. */
static gboolean run(GstElement *pipeline, guint patience)
{
    const char *other = g_getenv("TDL_FARM_PATIENCE");
    GstBus *bus = gst_element_get_bus(pipeline);
    gboolean done = FALSE, ended = FALSE;
    guint still = 0;

    if (other && *other)
        patience = strtoul(other, NULL, 10);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (!ended) {
        const gint before = g_atomic_int_get(&moved);
        GstMessage *message = gst_bus_timed_pop_filtered(
            bus, GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);

        if (message)
            ended = is_end(message, &done);
        still = message || g_atomic_int_get(&moved) != before ? 0 : still + 1;
        if (still >= patience)
            give_up(patience);
        g_clear_pointer(&message, gst_message_unref);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    return done;
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
    const gboolean done = pipeline && run(pipeline, PATIENCE_COMPUTING);

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
    g_atomic_int_inc(&moved);
    if (GST_BUFFER_PTS_IS_VALID(buffer) &&
        (*end == GST_CLOCK_TIME_NONE || *end < GST_BUFFER_PTS(buffer)))
        *end = GST_BUFFER_PTS(buffer);
    return GST_PAD_PROBE_OK;
}

/* Files that are cut short end like others, but before the length that they tell; no
 * container, no times. */
static gboolean is_complete(const char *file, GstClockTime end, GstClockTime length)
{
    if (end == GST_CLOCK_TIME_NONE)
        g_printerr("farm: the pictures of %s have no times: put them into a container first\n",
                   file);
    else if (end + 2 * GST_SECOND < length)
        g_printerr(
            "farm: the pictures of %s end after %.1f s, and it says that it has %.1f s: if it "
            "is cut short, what follows is missing in the result, too\n",
            file, (double)end / GST_SECOND, (double)length / GST_SECOND);
    return end != GST_CLOCK_TIME_NONE;
}

/* Checks that the file can be decoded, so that the error comes once and not from every piece. */
static gboolean can_be_cut(const char *file, GstClockTime *out_length)
{
    const struct recording recording = farm_look_at(file);

    *out_length = recording.length;
    if (recording.missing)
        g_printerr("farm: the pictures of %s need a %s, and GStreamer has none here: "
                   "gstreamer1.0-libav and gstreamer1.0-plugins-bad have most\n",
                   file, recording.missing);
    else if (!recording.pictures)
        g_printerr("farm: %s is no video, or of a kind that GStreamer does not know here\n", file);
    g_free(recording.missing);
    return recording.pictures && !recording.missing;
}

/* splitmuxsink takes its location for printf()'s format: a folder's own "%" stands for itself. */
static char *in_pattern(const char *folder)
{
    g_auto(GStrv) parts = g_strsplit(folder, "%", -1);
    g_autofree char *escaped = g_strjoinv("%%", parts);

    return g_build_filename(escaped, "in-%05d.mkv", NULL);
}

static gboolean cut(char **words, GError **error)
{
    struct stream pictures = {.kinds = {"video/", "image/"}, .parse = TRUE};
    GstClockTime end = GST_CLOCK_TIME_NONE, length;
    GstElement *pipeline = NULL;
    char *pattern, *ns;
    gboolean done;

    if (!can_be_cut(words[0], &length))
        return FALSE;
    pipeline = parse(error, "filesrc name=in ! parsebin name=streams queue name=wanted "
                            "splitmuxsink name=cut muxer-factory=matroskamux wanted. ! cut.video");
    if (!pipeline)
        return FALSE;
    pattern = in_pattern(words[1]);
    ns = g_strdup_printf("%.0f", g_ascii_strtod(words[2], NULL) * GST_SECOND);
    set(pipeline, "in", "location", words[0]);
    set(pipeline, "cut", "location", pattern);
    set(pipeline, "cut", "max-size-time", ns);
    farm_watch(pipeline, &pictures);
    probe(pipeline, "wanted", note_end, &end);
    done = run(pipeline, PATIENCE_COPYING) && is_complete(words[0], end, length);
    gst_object_unref(pipeline);
    g_free(pattern);
    g_free(ns);
    return done;
}

/* --------------------------------------------------------------- files in a row */

/* One file among those that follow each other in one stream. */
struct part {
    char *file;
    guint last; /* only so many frames before `end`, from a keyframe on; 0: all of it */
    GstClockTime end;
};

struct row {
    GstAppSrc *to;
    GArray *parts;
    GMutex lock;       /* for what follows */
    GstClockTime from; /* pictures earlier than that are of the parts that are not whole */
    guint in, out;     /* frames of the whole ones, and pictures made of them */
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

/* True after an error, which is printed. With `until` it waits for such a message, and a timeout is
 * an error, too; with 0 it does not wait. */
static gboolean broken(GstBus *bus, GstMessageType until)
{
    GstMessage *message = gst_bus_timed_pop_filtered(bus, until ? PATIENCE_COPYING * GST_SECOND : 0,
                                                     until | GST_MESSAGE_ERROR);

    if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        print_error(message);
    if (message)
        until = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    g_clear_pointer(&message, gst_message_unref);
    return until != 0;
}

static GstClockTime length_of_frame(GstSample *sample)
{
    const GstStructure *s = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
    int n, d;

    if (gst_structure_get_fraction(s, "framerate", &n, &d) && n > 0)
        return gst_util_uint64_scale(GST_SECOND, d, n);
    return GST_SECOND / 30;
}

/* Waits for the first picture of all; then goes to what is wanted. */
static gboolean begin(GstElement *pipeline, GstAppSink *from, GstBus *bus, const struct part *part)
{
    GstClockTime back;
    GstSample *sample;

    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    if (broken(bus, GST_MESSAGE_ASYNC_DONE) || !(sample = gst_app_sink_pull_preroll(from)))
        return FALSE;
    back = part->last * length_of_frame(sample);
    gst_sample_unref(sample);
    if (!part->last || part->end <= back)
        return TRUE;
    return gst_element_seek_simple(
        pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_BEFORE, part->end - back);
}

/* True if the buffer is to be passed on. Headers have no time, and are passed on once. */
static gboolean count_in(struct row *row, const struct part *part, const GstBuffer *buffer)
{
    const gboolean is_frame = GST_BUFFER_PTS_IS_VALID(buffer);
    gboolean passes;

    g_mutex_lock(&row->lock);
    passes = is_frame || (!row->in && !row->from);
    if (is_frame && part->last)
        row->from = MAX(row->from, GST_BUFFER_PTS(buffer) + 1);
    else if (is_frame)
        row->in++;
    g_mutex_unlock(&row->lock);
    g_atomic_int_inc(&moved);
    return passes;
}

/* No gap is told of: the filter would forget what it has seen. */
static gboolean pass_on(struct row *row, const struct part *part, GstSample *sample)
{
    GstBuffer *buffer;

    if (!count_in(row, part, gst_sample_get_buffer(sample)))
        return TRUE;
    buffer = gst_buffer_copy(gst_sample_get_buffer(sample));
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
    gst_app_src_set_caps(row->to, gst_sample_get_caps(sample));
    return gst_app_src_push_buffer(row->to, buffer) == GST_FLOW_OK;
}

static gboolean append(struct row *row, const struct part *part)
{
    GstElement *pipeline = gst_parse_launch(
        "filesrc name=in ! matroskademux name=streams appsink name=wanted sync=false", NULL);
    struct stream pictures = {.kinds = {"video/", "image/"}};
    gboolean done, ended = FALSE;
    GstAppSink *from;
    GstBus *bus;

    if (!pipeline)
        return FALSE;
    set(pipeline, "in", "location", part->file);
    farm_watch(pipeline, &pictures);
    from = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), "wanted"));
    bus = gst_element_get_bus(pipeline);
    done = begin(pipeline, from, bus, part);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    while (done && !ended) {
        GstSample *sample = gst_app_sink_try_pull_sample(from, GST_SECOND / 10);

        if (sample)
            ended = !pass_on(row, part, sample); /* nobody reads on */
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
        done = append(row, &g_array_index(row->parts, struct part, i));
    if (!done)
        GST_ELEMENT_ERROR(row->to, STREAM, FAILED, ("A piece is missing or broken"), (NULL));
    gst_app_src_end_of_stream(row->to);
    return NULL;
}

#define PICTURES "appsrc name=pictures format=time block=true max-bytes=16000000 ! "

/* The pipeline begins with PICTURES, which are those of the parts. */
static gboolean run_row(GstElement *pipeline, struct row *row, guint patience)
{
    GError *error = NULL;
    gboolean done;
    GThread *thread;

    row->to = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "pictures"));
    thread = g_thread_try_new("pieces", append_all, row, &error);
    done = thread ? run(pipeline, patience) : fail(error);
    if (thread)
        g_thread_join(thread);
    g_clear_error(&error);
    gst_object_unref(row->to);
    return done;
}

/* -------------------------------------------------------------------- process */

/* Pictures before the piece end here. Those of the piece come later than all of them, some
 * of them earlier than its keyframe. */
static GstPadProbeReturn gate(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct row *row = data;
    const GstClockTime time = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
    gboolean passes;

    (void)pad;
    g_mutex_lock(&row->lock);
    passes = time >= row->from;
    row->out += passes;
    g_mutex_unlock(&row->lock);
    g_atomic_int_inc(&moved);
    return passes ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/* A decoder may drop what it does not understand, and say nothing. */
static gboolean is_there(const char *file, const struct row *row)
{
    if (row->out < row->in)
        g_printerr("farm: %s has %u frames, and %u of them came through\n", file, row->in,
                   row->out);
    return row->out > 0;
}

static gboolean process(char **words, GError **error)
{
    GstElement *pipeline = parse(error,
                                 PICTURES "decodebin ! %s ! identity name=gate ! "
                                          "videoconvert ! %s ! matroskamux ! filesink name=out",
                                 words[1], words[2]);
    struct part before = {.end = words[4] ? g_ascii_strtoull(words[5], NULL, 10) : 0}, piece = {0};
    struct row row = {0};
    gboolean done;

    if (!pipeline)
        return FALSE;
    set(pipeline, "out", "location", words[0]);
    probe(pipeline, "gate", gate, &row);
    g_mutex_init(&row.lock);
    row.parts = new_parts();
    before.last = words[4] ? strtoul(words[6], NULL, 10) : 0;
    if (before.last) {
        before.file = g_strdup(words[4]);
        g_array_append_val(row.parts, before);
    }
    piece.file = g_strdup(words[3]);
    g_array_append_val(row.parts, piece);
    done = run_row(pipeline, &row, PATIENCE_COMPUTING) && is_there(words[3], &row);
    g_array_unref(row.parts);
    g_mutex_clear(&row.lock);
    gst_object_unref(pipeline);
    return done;
}

/* ----------------------------------------------------------------------- join */

/* The pieces in the folder, one a line of the starts. */
static GArray *list_pieces(const char *folder, const char *text)
{
    GArray *parts = new_parts();
    char **starts = g_strsplit(text, "\n", -1);

    for (guint i = 0; starts[i] && *starts[i]; i++) {
        struct part part = {.file = g_strdup_printf("%s/out-%05u.mkv", folder, i)};

        g_array_append_val(parts, part);
    }
    g_strfreev(starts);
    return parts;
}

static gboolean join(char **words, GError **error)
{
    const struct recording recording = farm_look_at(words[1]);
    struct stream sound = {.kinds = {"audio/"}, .parse = TRUE};
    char *starts = g_build_filename(words[2], "starts", NULL), *text = NULL;
    struct row row = {0};
    GstElement *pipeline = NULL;
    gboolean done = FALSE;

    if (g_file_get_contents(starts, &text, NULL, error))
        pipeline = parse(error, PICTURES "matroskamux name=mux ! filesink name=out %s",
                         recording.sound ? "filesrc name=source ! parsebin name=streams "
                                           "queue name=wanted wanted. ! mux.audio_0"
                                         : "");
    g_free(starts);
    if (!pipeline)
        goto out;
    set(pipeline, "out", "location", words[0]);
    if (recording.sound) {
        set(pipeline, "source", "location", words[1]);
        farm_watch(pipeline, &sound);
    }
    g_mutex_init(&row.lock);
    row.parts = list_pieces(words[2], text);
    done = run_row(pipeline, &row, PATIENCE_COPYING);
    g_array_unref(row.parts);
    g_mutex_clear(&row.lock);
    gst_object_unref(pipeline);
out:
    g_free(recording.missing);
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

    prctl(PR_SET_PDEATHSIG, SIGTERM); /* ends with the script that started it */
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
