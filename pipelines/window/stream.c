/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream.h"

#include "display.h"

#include <stdarg.h>
#include <string.h>

#define NO_PICTURE "There is no picture in it, at most sound."

struct stream {
    GstElement *filter, *pipeline; /* the latter NULL where nothing is open */
    struct display *display;
    struct stream_listener listener;
    guint watch;
    const struct source *source;
    bool both, playing, has_end;
    bool in_memory; /* to the window in the system's memory: this device has no other */
};

/* -------------------------------------------------------------------- building */

static GstElement *add(GstElement *pipeline, const char *factory, GError **error)
{
    GstElement *element = gst_element_factory_make(factory, NULL);

    if (element)
        gst_bin_add(GST_BIN(pipeline), element);
    else if (error && !*error)
        g_set_error(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
                    "GStreamer's element %s is not installed.", factory);
    return element;
}

/* A thread of its own for what follows, and no more frames on the way than that takes: what
 * is set shows at once. */
static GstElement *add_queue(GstElement *pipeline, GError **error)
{
    GstElement *queue = add(pipeline, "queue", error);

    if (queue)
        g_object_set(queue, "max-size-buffers", 2, "max-size-bytes", 0, "max-size-time", (guint64)0,
                     NULL);
    return queue;
}

/* Link a chain that ends with NULL. */
static bool chain(GError **error, GstElement *first, ...)
{
    va_list args;
    GstElement *next;
    bool ok = true;

    va_start(args, first);
    for (; ok && (next = va_arg(args, GstElement *)); first = next)
        ok = gst_element_link(first, next);
    va_end(args);
    if (!ok)
        g_set_error(error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
                    "%s and %s do not fit together.", GST_OBJECT_NAME(first),
                    GST_OBJECT_NAME(next));
    return ok;
}

static bool build(struct stream *stream, GstElement *source, bool both, GError **error)
{
    GstElement *pipeline = stream->pipeline, *filtered = display_filtered_sink(stream->display);
    GstElement *convert = add(pipeline, "videoconvert", error);
    GstElement *queue = add_queue(pipeline, error);
    GstElement *to_window = add(pipeline, "videoconvert", error);
    GstElement *before, *tee, *to_filter, *aside, *aside_to_window;

    gst_bin_add_many(GST_BIN(pipeline), source, stream->filter, filtered, NULL);
    if (!convert || !queue || !to_window ||
        !chain(error, stream->filter, queue, to_window, filtered, NULL))
        return false;
    if (!both)
        return chain(error, source, convert, stream->filter, NULL);
    before = display_before_sink(stream->display);
    gst_bin_add(GST_BIN(pipeline), before);
    tee = add(pipeline, "tee", error);
    to_filter = add_queue(pipeline, error);
    aside = add_queue(pipeline, error);
    aside_to_window = add(pipeline, "videoconvert", error);
    return tee && to_filter && aside && aside_to_window &&
           chain(error, source, convert, tee, to_filter, stream->filter, NULL) &&
           chain(error, tee, aside, aside_to_window, before, NULL);
}

/* -------------------------------------------------------------------- messages */

static void fail(struct stream *stream, const char *text)
{
    stream_close(stream);
    stream->listener.failed(stream->listener.user, text);
}

static void on_progress(struct stream *stream, GstMessage *message)
{
    g_autofree char *code = NULL, *text = NULL;
    GstProgressType type;
    int percent = 0;

    gst_message_parse_progress(message, &type, &code, &text);
    gst_structure_get_int(gst_message_get_structure(message), "percent", &percent);
    if (type != GST_PROGRESS_TYPE_START && type != GST_PROGRESS_TYPE_CONTINUE)
        percent = 100;
    stream->listener.progressed(stream->listener.user, percent, text);
}

static void on_warning(struct stream *stream, GstMessage *message)
{
    g_autoptr(GError) error = NULL;

    gst_message_parse_warning(message, &error, NULL);
    stream->listener.warned(stream->listener.user, error->message);
}

/* GStreamer reports a missing plug-in for a file without pictures. True if all the lines "Missing
 * decoder: NAME (CAPS)" are about sound. */
static bool has_sound_alone(const char *more)
{
    g_auto(GStrv) lines = g_strsplit(more, "\n", -1);
    bool has_sound = false;

    for (int i = 0; lines[i]; i++) {
        if (!g_str_has_prefix(lines[i], "Missing "))
            continue;
        if (!strstr(lines[i], " (audio/"))
            return false;
        has_sound = true;
    }
    return has_sound;
}

/* Error text for people. The first element of a broken stream only says that it broke; the reason
 * is in the part for developers. */
static char *error_words(const GError *error, const char *more)
{
    if (g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) && more &&
        has_sound_alone(more))
        return g_strdup(NO_PICTURE);
    if (!g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) || !more)
        return g_strdup(error->message);
    if (strstr(more, "not-negotiated"))
        return g_strdup("The source and the filter have no format of pictures in common.");
    if (strstr(more, "not-linked"))
        return g_strdup(NO_PICTURE);
    return g_strdup(error->message);
}

/* A sink may ask for dma-bufs, which the filter's device cannot give. */
static bool wants_memory(const struct stream *stream, GstMessage *message, const GError *error)
{
    return GST_MESSAGE_SRC(message) == GST_OBJECT(stream->filter) &&
           g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS) &&
           display_takes_any_memory(stream->display);
}

static void begin_in_memory(struct stream *stream)
{
    stream->in_memory = true;
    stream_open(stream, stream->source, stream->both);
}

static void on_error(struct stream *stream, GstMessage *message)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *more = NULL, *words = NULL, *text = NULL;

    gst_message_parse_error(message, &error, &more);
    words = error_words(error, more);
    text = GST_MESSAGE_SRC(message) == GST_OBJECT(stream->filter)
               ? g_strdup(words)
               : g_strdup_printf("%s: %s", stream->source->name, words);
    if (wants_memory(stream, message, error))
        begin_in_memory(stream);
    else
        fail(stream, text);
}

/* A video begins anew at its end. */
static void on_end(struct stream *stream)
{
    if (!stream->has_end ||
        !gst_element_seek_simple(stream->pipeline, GST_FORMAT_TIME,
                                 GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT, 0))
        fail(stream, "The source has ended.");
}

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer data)
{
    struct stream *stream = data;

    (void)bus;
    switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
        on_error(stream, message);
        return G_SOURCE_CONTINUE; /* the watch has gone with the pipeline */
    case GST_MESSAGE_WARNING:
        on_warning(stream, message);
        break;
    case GST_MESSAGE_PROGRESS:
        on_progress(stream, message);
        break;
    case GST_MESSAGE_EOS:
        on_end(stream);
        break;
    case GST_MESSAGE_LATENCY:
        gst_bin_recalculate_latency(GST_BIN(stream->pipeline));
        break;
    case GST_MESSAGE_ELEMENT:
        if (GST_MESSAGE_SRC(message) == GST_OBJECT(stream->filter))
            stream->listener.told(stream->listener.user, gst_message_get_structure(message));
        break;
    default:
        break;
    }
    return G_SOURCE_CONTINUE;
}

/* --------------------------------------------------------------------- opening */

struct stream *stream_new(GstElement *filter, const struct stream_listener *listener)
{
    struct stream *stream = g_new0(struct stream, 1);

    stream->filter = gst_object_ref(filter);
    stream->listener = *listener;
    return stream;
}

void stream_close(struct stream *stream)
{
    if (!stream->pipeline)
        return;
    g_source_remove(stream->watch);
    gst_element_set_state(stream->pipeline, GST_STATE_NULL);
    if (GST_OBJECT_PARENT(stream->filter))
        gst_bin_remove(GST_BIN(stream->pipeline), stream->filter);
    g_clear_pointer(&stream->pipeline, gst_object_unref);
    g_clear_pointer(&stream->display, display_destroy);
    stream->playing = false;
    stream->listener.changed(stream->listener.user);
}

void stream_destroy(struct stream *stream)
{
    stream_close(stream);
    gst_object_unref(stream->filter);
    g_free(stream);
}

void stream_open(struct stream *stream, const struct source *source, bool both)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GstBus) bus = NULL;
    GstElement *from = source_make(source, &error);

    stream_close(stream);
    if (!from) {
        stream->listener.failed(stream->listener.user, error->message);
        return;
    }
    stream->pipeline = gst_pipeline_new(NULL);
    stream->display = display_new(both, stream->in_memory);
    stream->source = source;
    stream->both = both;
    stream->has_end = source_has_end(source);
    bus = gst_element_get_bus(stream->pipeline);
    stream->watch = gst_bus_add_watch(bus, on_message, stream);
    if (!build(stream, from, both, &error))
        fail(stream, error->message);
    else
        stream_set_playing(stream, true);
}

void stream_set_playing(struct stream *stream, bool playing)
{
    if (!stream->pipeline)
        return;
    stream->playing = playing;
    gst_element_set_state(stream->pipeline, playing ? GST_STATE_PLAYING : GST_STATE_PAUSED);
    stream->listener.changed(stream->listener.user);
}

bool stream_is_playing(const struct stream *stream)
{
    return stream->playing;
}

bool stream_is_open(const struct stream *stream)
{
    return stream->pipeline != NULL;
}

GdkPaintable *stream_filtered(const struct stream *stream)
{
    return stream->display ? display_filtered(stream->display) : NULL;
}

GdkPaintable *stream_before(const struct stream *stream)
{
    return stream->display ? display_before(stream->display) : NULL;
}

const char *stream_way(const struct stream *stream)
{
    return stream->display ? display_way(stream->display) : NULL;
}
