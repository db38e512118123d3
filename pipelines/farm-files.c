/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "farm-files.h"

#include <gst/pbutils/pbutils.h>

/* The best element of this type for the caps, or NULL. */
static GstElementFactory *factory_for(const GstCaps *caps, GstElementFactoryListType type)
{
    GList *all = gst_element_factory_list_get_elements(type, GST_RANK_MARGINAL);
    GList *fit = gst_element_factory_list_filter(all, caps, GST_PAD_SINK, TRUE);
    GstElementFactory *factory = fit ? gst_object_ref(fit->data) : NULL;

    gst_plugin_feature_list_free(fit);
    gst_plugin_feature_list_free(all);
    return factory;
}

/* Lets parsebin look into containers only. Parsers that it puts behind them take the format of the
 * installed decoders, which may differ from the container to write, and their pads have no caps
 * yet. */
static gboolean is_container(GstElement *parsebin, GstPad *pad, GstCaps *caps, gpointer data)
{
    GstElementFactory *factory = factory_for(caps, GST_ELEMENT_FACTORY_TYPE_DEMUXER);
    const gboolean is = factory != NULL;

    (void)parsebin;
    (void)pad;
    (void)data;
    g_clear_pointer(&factory, gst_object_unref);
    return is;
}

static gboolean is_wanted(const struct stream *stream, const GstCaps *caps)
{
    const char *name = caps ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    gboolean is = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS(stream->kinds); i++)
        is |= stream->kinds[i] && g_str_has_prefix(name, stream->kinds[i]);
    return is;
}

static gboolean link_stream(const struct stream *stream, GstPad *pad, const GstCaps *caps,
                            GstElement *to)
{
    GstElementFactory *factory =
        stream->parse ? factory_for(caps, GST_ELEMENT_FACTORY_TYPE_PARSER) : NULL;
    GstElement *parser = factory ? gst_element_factory_create(factory, NULL) : NULL;
    GstPad *sink;
    gboolean linked = TRUE;

    if (parser) {
        gst_bin_add(GST_BIN(stream->pipeline), parser);
        linked = gst_element_link(parser, to) && gst_element_sync_state_with_parent(parser);
    }
    sink = gst_element_get_static_pad(parser ? parser : to, "sink");
    linked = linked && gst_pad_link(pad, sink) == GST_PAD_LINK_OK;
    gst_object_unref(sink);
    g_clear_pointer(&factory, gst_object_unref);
    return linked;
}

static void link_wanted(GstElement *parser, GstPad *pad, gpointer data)
{
    struct stream *stream = data;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    GstElement *to;

    if (!stream->found && is_wanted(stream, caps)) {
        stream->found = TRUE;
        to = gst_bin_get_by_name(GST_BIN(stream->pipeline), "wanted");
        if (!link_stream(stream, pad, caps, to))
            GST_ELEMENT_ERROR(parser, STREAM, FORMAT,
                              ("%s cannot be taken from its container",
                               gst_structure_get_name(gst_caps_get_structure(caps, 0))),
                              (NULL));
        gst_object_unref(to);
    }
    gst_clear_caps(&caps);
}

/* Nobody else would say so: the pipeline would wait for ever. */
static void miss_wanted(GstElement *parser, gpointer data)
{
    const struct stream *stream = data;

    if (!stream->found)
        GST_ELEMENT_ERROR(parser, STREAM, WRONG_TYPE,
                          ("there is no stream of %s", stream->kinds[0]), (NULL));
}

void farm_watch(GstElement *pipeline, struct stream *stream)
{
    GstElement *parser = gst_bin_get_by_name(GST_BIN(pipeline), "streams");

    stream->pipeline = pipeline;
    g_signal_connect(parser, "pad-added", G_CALLBACK(link_wanted), stream);
    g_signal_connect(parser, "no-more-pads", G_CALLBACK(miss_wanted), stream);
    if (g_signal_lookup("autoplug-continue", G_OBJECT_TYPE(parser)))
        g_signal_connect(parser, "autoplug-continue", G_CALLBACK(is_container), NULL);
    gst_object_unref(parser);
}

/* `details`: "gstreamer|1.0|PROGRAM|a decoder in words|decoder-CAPS". */
static void note_missing(const char *details, struct recording *recording)
{
    char **fields = g_strsplit(details, "|", 5);

    if (g_strv_length(fields) == 5) {
        if (g_str_has_prefix(fields[4], "decoder-audio/"))
            recording->sound = TRUE;
        else if (!recording->missing && (g_str_has_prefix(fields[4], "decoder-video/") ||
                                         g_str_has_prefix(fields[4], "decoder-image/")))
            recording->missing = g_strdup(fields[3]);
    }
    g_strfreev(fields);
}

static gboolean has_kind(GstDiscovererInfo *info, GType kind)
{
    GList *streams = gst_discoverer_info_get_streams(info, kind);
    const gboolean has = streams != NULL;

    gst_discoverer_stream_info_list_free(streams);
    return has;
}

struct recording farm_look_at(const char *file)
{
    char *path = g_canonicalize_filename(file, NULL), *uri = g_filename_to_uri(path, NULL, NULL);
    GstDiscoverer *discoverer = uri ? gst_discoverer_new(30 * GST_SECOND, NULL) : NULL;
    GstDiscovererInfo *info =
        discoverer ? gst_discoverer_discover_uri(discoverer, uri, NULL) : NULL;
    struct recording recording = {0};

    if (info) {
        const char **details = gst_discoverer_info_get_missing_elements_installer_details(info);

        recording.pictures = has_kind(info, GST_TYPE_DISCOVERER_VIDEO_INFO);
        recording.sound = has_kind(info, GST_TYPE_DISCOVERER_AUDIO_INFO);
        for (; details && *details; details++)
            note_missing(*details, &recording);
        recording.length = gst_discoverer_info_get_duration(info);
    }
    if (!GST_CLOCK_TIME_IS_VALID(recording.length))
        recording.length = 0;
    g_clear_object(&info);
    g_clear_object(&discoverer);
    g_free(uri);
    g_free(path);
    return recording;
}
