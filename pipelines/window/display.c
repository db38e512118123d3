/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two appsinks, for filtered frames and for the frames before the filter. The filtered one keeps
 * the time. The other hands frames on at once, and each waits for the filtered frame of its time,
 * so both sides of the window show the same moment. With GStreamer's own sink each side follows the
 * pipeline's clock.
 */
#include "display.h"

#include "frame.h"

#include <gst/app/gstappsink.h>

#define OWN_SINK "appsink max-buffers=2 caps=video/x-raw,format=" FRAME_FORMATS
#define MOST_WAITING 32 /* frames before the filter; those in it are fewer */

struct display {
    gint references; /* main thread, and an idle call under way */
    GMutex lock;
    GQueue before;        /* samples that wait for their filtered ones */
    gint64 before_time;   /* time of the newest of them */
    GstSample *held;      /* filtered, and waits for its own */
    GstSample *newest[2]; /* filtered, and before: not shown yet */
    bool is_idle_queued, is_over;
    bool is_gtk, in_memory;
    GstElement *sinks[2];
    GdkPaintable *paintables[2];
};
enum { FILTERED, BEFORE };

static bool has_gtk_sink(void)
{
    g_autoptr(GstElementFactory) factory = gst_element_factory_find("gtk4paintablesink");

    return factory != NULL;
}

bool display_takes_any_memory(const struct display *display)
{
    return display->is_gtk && !display->in_memory;
}

const char *display_way(const struct display *display)
{
    if (display_takes_any_memory(display))
        return "by gtk4paintablesink, from the memory where frames are if it can";
    return display->in_memory
               ? "by gtk4paintablesink, from the system's memory: the device gives no dma-bufs"
               : "through the processor's memory, converted to RGB (install "
                 "GStreamer's gtk4paintablesink to spare that)";
}

/* ---------------------------------------------------------------- own sinks */

static void forget_waiting(struct display *display)
{
    g_queue_clear_full(&display->before, (GDestroyNotify)gst_sample_unref);
    g_clear_pointer(&display->held, gst_sample_unref);
    display->before_time = -1;
}

static void display_unref(struct display *display)
{
    if (!g_atomic_int_dec_and_test(&display->references))
        return;
    forget_waiting(display);
    for (int i = 0; i < 2; i++) {
        g_clear_pointer(&display->newest[i], gst_sample_unref);
        g_clear_object(&display->paintables[i]);
        g_clear_pointer(&display->sinks[i], gst_object_unref);
    }
    g_mutex_clear(&display->lock);
    g_free(display);
}

static void show_sample(FramePaintable *paintable, GstSample *sample)
{
    g_autoptr(GdkTexture) texture = sample ? frame_texture(sample) : NULL;

    if (texture)
        frame_paintable_set(paintable, texture);
    g_clear_pointer(&sample, gst_sample_unref);
}

static gboolean show_newest(gpointer data)
{
    struct display *display = data;
    GstSample *newest[2];

    g_mutex_lock(&display->lock);
    display->is_idle_queued = false;
    for (int i = 0; i < 2; i++)
        newest[i] = g_steal_pointer(&display->newest[i]);
    g_mutex_unlock(&display->lock);
    for (int i = 0; i < 2; i++)
        if (display->paintables[i])
            show_sample(FRAME_PAINTABLE(display->paintables[i]), newest[i]);
    display_unref(display);
    return G_SOURCE_REMOVE;
}

static void replace(GstSample **at, GstSample *sample)
{
    if (*at)
        gst_sample_unref(*at);
    *at = sample;
}

/* The frame of that time from before the filter; what is older is of no use any more. */
static GstSample *take_pair(struct display *display, GstClockTime time)
{
    GstSample *sample;

    while ((sample = g_queue_peek_head(&display->before))) {
        const GstClockTime its = GST_BUFFER_PTS(gst_sample_get_buffer(sample));

        if (its > time)
            return NULL;
        g_queue_pop_head(&display->before);
        if (its == time)
            return sample;
        gst_sample_unref(sample);
    }
    return NULL;
}

/* Both of a time go on together. */
static void match(struct display *display)
{
    GstSample *pair;
    GstClockTime time;

    if (!display->held)
        return;
    time = GST_BUFFER_PTS(gst_sample_get_buffer(display->held));
    pair = take_pair(display, time);
    if (!pair && display->sinks[BEFORE] && display->before_time < (gint64)time)
        return; /* the frame from before the filter is still to come */
    replace(&display->newest[FILTERED], g_steal_pointer(&display->held));
    if (pair)
        replace(&display->newest[BEFORE], pair);
    if (!display->is_idle_queued && !display->is_over) {
        display->is_idle_queued = true;
        g_atomic_int_inc(&display->references);
        g_idle_add_full(G_PRIORITY_DEFAULT, show_newest, display, NULL);
    }
}

static void take_filtered(struct display *display, GstSample *sample)
{
    g_mutex_lock(&display->lock);
    replace(&display->held, sample);
    match(display);
    g_mutex_unlock(&display->lock);
}

/* Not the sink's own sample: behind a flush it sets that one's caps, be it held here or not. */
static GstSample *pull(GstAppSink *sink)
{
    g_autoptr(GstSample) its = gst_app_sink_pull_sample(sink);

    return its ? gst_sample_new(gst_sample_get_buffer(its), gst_sample_get_caps(its), NULL, NULL)
               : NULL;
}

static GstFlowReturn on_filtered(GstAppSink *sink, gpointer data)
{
    GstSample *sample = pull(sink);

    if (sample)
        take_filtered(data, sample);
    return sample ? GST_FLOW_OK : GST_FLOW_EOS;
}

static GstFlowReturn on_preroll(GstAppSink *sink, gpointer data)
{
    GstSample *sample = gst_app_sink_pull_preroll(sink);

    if (sample)
        take_filtered(data, sample);
    return sample ? GST_FLOW_OK : GST_FLOW_EOS;
}

static GstFlowReturn on_before(GstAppSink *sink, gpointer data)
{
    struct display *display = data;
    GstSample *sample = pull(sink);

    if (!sample)
        return GST_FLOW_EOS;
    g_mutex_lock(&display->lock);
    g_queue_push_tail(&display->before, sample);
    display->before_time = (gint64)GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    match(display);
    if (g_queue_get_length(&display->before) > MOST_WAITING)
        gst_sample_unref(g_queue_pop_head(&display->before));
    g_mutex_unlock(&display->lock);
    return GST_FLOW_OK;
}

/* Times start anew behind a seek: what waited is of another time. */
static GstPadProbeReturn on_flush(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct display *display = data;

    (void)pad;
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_FLUSH_STOP) {
        g_mutex_lock(&display->lock);
        forget_waiting(display);
        g_mutex_unlock(&display->lock);
    }
    return GST_PAD_PROBE_OK;
}

static GstElement *own_sink(struct display *display, int which)
{
    GstAppSinkCallbacks callbacks = {0};
    GstElement *sink = gst_parse_launch(OWN_SINK, NULL);

    callbacks.new_sample = which == FILTERED ? on_filtered : on_before;
    if (which == FILTERED)
        callbacks.new_preroll = on_preroll;
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, display, NULL);
    if (which == BEFORE) {
        g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");

        g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH, on_flush, display, NULL);
    }
    display->paintables[which] = GDK_PAINTABLE(frame_paintable_new());
    return sink;
}

/* --------------------------------------------------------------------- all */

static GstElement *gtk_sink(struct display *display, int which)
{
    GstElement *sink = gst_element_factory_make("gtk4paintablesink", NULL);
    GstElement *bin, *caps;
    g_autoptr(GstPad) pad = NULL;

    g_object_get(sink, "paintable", &display->paintables[which], NULL);
    if (which == BEFORE || !display->in_memory)
        return sink;
    bin = gst_bin_new(NULL);
    caps = gst_parse_launch("capsfilter caps=video/x-raw", NULL);
    gst_bin_add_many(GST_BIN(bin), caps, sink, NULL);
    gst_element_link(caps, sink);
    pad = gst_element_get_static_pad(caps, "sink");
    gst_element_add_pad(bin, gst_ghost_pad_new("sink", pad));
    return bin;
}

static GstElement *make_sink(struct display *display, int which)
{
    return display->is_gtk ? gtk_sink(display, which) : own_sink(display, which);
}

struct display *display_new(bool both, bool in_memory)
{
    struct display *display = g_new0(struct display, 1);

    display->references = 1;
    display->is_gtk = has_gtk_sink();
    display->in_memory = in_memory && display->is_gtk;
    g_mutex_init(&display->lock);
    g_queue_init(&display->before);
    display->before_time = -1;
    for (int i = 0; i <= (both ? BEFORE : FILTERED); i++)
        display->sinks[i] = gst_object_ref_sink(make_sink(display, i));
    return display;
}

void display_destroy(struct display *display)
{
    if (!display)
        return;
    g_mutex_lock(&display->lock);
    display->is_over = true;
    g_mutex_unlock(&display->lock);
    display_unref(display);
}

GstElement *display_filtered_sink(struct display *display)
{
    return display->sinks[FILTERED];
}

GstElement *display_before_sink(struct display *display)
{
    return display->sinks[BEFORE];
}

GdkPaintable *display_filtered(struct display *display)
{
    return display->paintables[FILTERED];
}

GdkPaintable *display_before(struct display *display)
{
    return display->paintables[BEFORE];
}
