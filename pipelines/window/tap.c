/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tap.h"

struct tap {
    GstPad *pad;
    gulong probe;
    GMutex lock;
    guint64 frames;
    GstSample *last;
    struct outlet *outlets[TAP_USES];
};

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct tap *tap = data;
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    GstSample *sample = gst_sample_new(GST_PAD_PROBE_INFO_BUFFER(info), caps, NULL, NULL);

    g_mutex_lock(&tap->lock);
    tap->frames++;
    if (tap->last)
        gst_sample_unref(tap->last);
    tap->last = sample;
    for (int i = 0; i < TAP_USES; i++)
        if (tap->outlets[i])
            outlet_push(tap->outlets[i], sample);
    g_mutex_unlock(&tap->lock);
    return GST_PAD_PROBE_OK;
}

struct tap *tap_new(GstElement *filter)
{
    struct tap *tap = g_new0(struct tap, 1);

    g_mutex_init(&tap->lock);
    tap->pad = gst_element_get_static_pad(filter, "src");
    tap->probe = gst_pad_add_probe(tap->pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, tap, NULL);
    return tap;
}

void tap_destroy(struct tap *tap)
{
    gst_pad_remove_probe(tap->pad, tap->probe);
    gst_object_unref(tap->pad);
    tap_forget(tap);
    g_mutex_clear(&tap->lock);
    g_free(tap);
}

guint64 tap_frames(struct tap *tap)
{
    guint64 frames;

    g_mutex_lock(&tap->lock);
    frames = tap->frames;
    g_mutex_unlock(&tap->lock);
    return frames;
}

GstSample *tap_last(struct tap *tap)
{
    GstSample *last;

    g_mutex_lock(&tap->lock);
    last = tap->last ? gst_sample_ref(tap->last) : NULL;
    g_mutex_unlock(&tap->lock);
    return last;
}

void tap_forget(struct tap *tap)
{
    g_mutex_lock(&tap->lock);
    g_clear_pointer(&tap->last, gst_sample_unref);
    g_mutex_unlock(&tap->lock);
}

void tap_set_outlet(struct tap *tap, enum tap_use use, struct outlet *outlet)
{
    g_mutex_lock(&tap->lock);
    tap->outlets[use] = outlet;
    g_mutex_unlock(&tap->lock);
}
