/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file becomes a picture in two steps. Reading, decoding, scaling and turning
 * it is an task, which may be given up, and touches no device. What it brings
 * home is copied into a buffer of the GPU.
 */
#include "gsttdlpicture.h"

#include "caps/gsttdlcaps.h"
#include "base/gsttdldetached.h"
#include "base/gsttdlerror.h"
#include "base/gsttdlfile.h"

#include <string.h>

#define DECODE_TIMEOUT (20 * GST_SECOND)
#define LOAD_TIMEOUT (30 * G_USEC_PER_SEC) /* with files that do not answer, and scaling */

struct load {
    gchar *path;
    enum gst_tdl_picture_use use;
    guint orientation;
    gboolean is_video;
    GstBuffer *pixels; /* RGBA, packed, of `info` */
    GstVideoInfo info;
    GError *error;
};

static void load_free(gpointer data)
{
    struct load *load = data;

    gst_clear_buffer(&load->pixels);
    g_clear_error(&load->error);
    g_free(load->path);
    g_free(load);
}

/* ------------------------------------------------------------------- decode */

static void on_pad(GstElement *decoder, GstPad *pad, GstElement *filter)
{
    GstPad *sink = gst_element_get_static_pad(filter, "sink");

    (void)decoder;
    if (!gst_pad_is_linked(sink))
        gst_pad_link(pad, sink); /* a pad of another kind than video brings nothing */
    gst_object_unref(sink);
}

/* filesrc ! decodebin ! video/x-raw ! fakesink, whose preroll is the picture.
 * Elements owned by the pipeline. */
static GstElement *make_pipeline(const gchar *path, GstElement **out_decoder, GstElement **out_sink,
                                 GError **error)
{
    GstElement *pipeline = gst_pipeline_new("background");
    GstElement *source = gst_element_factory_make("filesrc", NULL);
    GstElement *decoder = gst_element_factory_make("decodebin", NULL);
    GstElement *filter = gst_element_factory_make("capsfilter", NULL);
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    GstElement *made[] = { source, decoder, filter, sink };

    if (!source || !decoder || !filter || !sink) {
        for (guint i = 0; i < G_N_ELEMENTS(made); i++)
            if (made[i])
                gst_object_unref(gst_object_ref_sink(made[i]));
        gst_object_unref(pipeline);
        g_set_error(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
                    "Pictures from files need GStreamer's filesrc and decodebin. Install "
                    "gst-plugins-base (Debian: gstreamer1.0-plugins-base).");
        return NULL;
    }
    g_object_set(source, "location", path, NULL);
    gst_util_set_object_arg(G_OBJECT(filter), "caps", "video/x-raw");
    gst_bin_add_many(GST_BIN(pipeline), source, decoder, filter, sink, NULL);
    gst_element_link(source, decoder);
    gst_element_link(filter, sink);
    g_signal_connect(decoder, "pad-added", G_CALLBACK(on_pad), filter);
    *out_decoder = decoder;
    *out_sink = sink;
    return pipeline;
}

/* Words for the picture's purpose, before its name. */
static const gchar *kind(enum gst_tdl_picture_use use)
{
    return use == GST_TDL_PICTURE_BACKGROUND ? "The background picture" : "The picture";
}

static void set_error(struct load *load, const gchar *cause)
{
    const gboolean missing = !g_file_test(load->path, G_FILE_TEST_EXISTS);
    const gboolean sentence = !cause || g_str_has_suffix(cause, ".");
    const gboolean background = load->use == GST_TDL_PICTURE_BACKGROUND;

    g_set_error(
        &load->error, GST_RESOURCE_ERROR,
        missing ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
        "%s \"%s\" %s: %s%s %s that GStreamer decodes (try: gst-launch-1.0 filesrc location=FILE ! "
        "decodebin ! fakesink)%s.",
        kind(load->use), load->path, missing ? "does not exist" : "cannot be decoded",
        cause ? cause : "there is no picture in the file.", sentence ? "" : ".",
        background ? "Set \"background\" to a picture" : "Give the input a picture",
        background ? ", or leave it empty for background-color" : "");
}

static gboolean is_video(GstElement *decoder)
{
    GstElement *find = gst_bin_get_by_name(GST_BIN(decoder), "typefind");
    GstCaps *caps = NULL;
    gboolean yes;

    if (!find)
        return FALSE;
    g_object_get(find, "caps", &caps, NULL);
    yes = caps && gst_caps_get_size(caps) > 0 &&
          !g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), "image/");
    gst_clear_caps(&caps);
    gst_object_unref(find);
    return yes;
}

static void take_tags(GstMessage *message, struct load *load)
{
    GstTagList *tags = NULL;
    gchar *tag = NULL;

    gst_message_parse_tag(message, &tags);
    if (gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &tag))
        load->orientation = gst_tdl_file_orientation_of_tag(tag);
    g_free(tag);
    gst_tag_list_unref(tags);
}

/* The pipeline's preroll, or NULL with the load's error. */
static GstSample *preroll(GstElement *pipeline, GstElement *sink, struct load *load)
{
    const GstMessageType ends = GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_EOS;
    gint64 end = g_get_monotonic_time() + DECODE_TIMEOUT / GST_USECOND;
    g_autoptr(GError) cause = NULL;
    GstBus *bus = gst_element_get_bus(pipeline);
    GstSample *sample = NULL;
    gboolean ended = FALSE;

    while (!ended) {
        gint64 left = MAX(end - g_get_monotonic_time(), 0);
        GstMessage *message =
            gst_bus_timed_pop_filtered(bus, left * GST_USECOND, ends | GST_MESSAGE_TAG);

        ended = !message || GST_MESSAGE_TYPE(message) & ends;
        if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_TAG)
            take_tags(message, load);
        else if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
            gst_message_parse_error(message, &cause, NULL);
        else if (message)
            g_object_get(sink, "last-sample", &sample, NULL);
        g_clear_pointer(&message, gst_message_unref);
    }
    gst_object_unref(bus);
    if (!sample)
        set_error(load, cause ? cause->message : NULL);
    return sample;
}

/* ---------------------------------------------------------- scale and turn */

void gst_tdl_picture_size(guint width, guint height, guint *out_width, guint *out_height)
{
    guint side = MAX(width, height);

    *out_width = width;
    *out_height = height;
    if (side <= GST_TDL_PICTURE_MAX)
        return;
    *out_width = MAX(gst_util_uint64_scale_round(width, GST_TDL_PICTURE_MAX, side), 1);
    *out_height = MAX(gst_util_uint64_scale_round(height, GST_TDL_PICTURE_MAX, side), 1);
}

void gst_tdl_picture_turn(guint orientation, guint width, guint height, guint x, guint y,
                          guint *out_x, guint *out_y)
{
    gboolean across = orientation >= 5; /* rows of the file are columns */
    guint u = across ? y : x, v = across ? x : y;
    gboolean right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    gboolean below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;

    *out_x = right ? width - 1 - u : u;
    *out_y = below ? height - 1 - v : v;
}

static GstBuffer *turn(GstBuffer *pixels, GstVideoInfo *info, guint orientation)
{
    guint width = info->width, height = info->height;
    gboolean across = orientation >= 5;
    guint to_width = across ? height : width, to_height = across ? width : height;
    GstBuffer *turned = gst_buffer_new_allocate(NULL, (gsize)width * height * 4, NULL);
    gint par_n = GST_VIDEO_INFO_PAR_N(info), par_d = GST_VIDEO_INFO_PAR_D(info);
    GstMapInfo from, to;

    gst_buffer_map(pixels, &from, GST_MAP_READ);
    gst_buffer_map(turned, &to, GST_MAP_WRITE);
    for (guint y = 0; y < to_height; y++)
        for (guint x = 0; x < to_width; x++) {
            guint u, v;

            gst_tdl_picture_turn(orientation, width, height, x, y, &u, &v);
            memcpy(to.data + ((gsize)y * to_width + x) * 4, from.data + ((gsize)v * width + u) * 4,
                   4);
        }
    gst_buffer_unmap(pixels, &from);
    gst_buffer_unmap(turned, &to);
    gst_buffer_unref(pixels);
    gst_video_info_set_format(info, GST_VIDEO_FORMAT_RGBA, to_width, to_height);
    GST_VIDEO_INFO_PAR_N(info) = across ? par_d : par_n;
    GST_VIDEO_INFO_PAR_D(info) = across ? par_n : par_d;
    return turned;
}

/* RGBA of a size that is kept. */
static gboolean convert(GstSample *sample, struct load *load)
{
    GstVideoConverter *converter = NULL;
    GstVideoFrame in, out;
    GstVideoInfo info;
    guint width, height;

    if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
        !gst_video_frame_map(&in, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
        return FALSE;
    gst_tdl_picture_size(info.width, info.height, &width, &height);
    gst_video_info_set_format(&load->info, GST_VIDEO_FORMAT_RGBA, width, height);
    load->info.fps_n = info.fps_n; /* the converter insists */
    load->info.fps_d = info.fps_d;
    load->info.interlace_mode = info.interlace_mode;
    GST_VIDEO_INFO_PAR_N(&load->info) = GST_VIDEO_INFO_PAR_N(&info);
    GST_VIDEO_INFO_PAR_D(&load->info) = GST_VIDEO_INFO_PAR_D(&info);
    load->pixels = gst_buffer_new_allocate(NULL, load->info.size, NULL);
    converter = gst_video_converter_new(&info, &load->info, NULL);
    if (converter && gst_video_frame_map(&out, &load->info, load->pixels, GST_MAP_WRITE)) {
        gst_video_converter_frame(converter, &in, &out);
        gst_video_frame_unmap(&out);
    } else {
        gst_clear_buffer(&load->pixels);
    }
    g_clear_pointer(&converter, gst_video_converter_free);
    gst_video_frame_unmap(&in);
    if (load->pixels && load->orientation != 1)
        load->pixels = turn(load->pixels, &load->info, load->orientation);
    return load->pixels != NULL;
}

/* The task. */
static void load_run(gpointer data)
{
    struct load *load = data;
    GstElement *decoder = NULL, *sink = NULL, *pipeline;
    GError *cause = NULL;
    GstSample *sample;

    if (!gst_tdl_file_check(load->path, &cause)) {
        set_error(load, cause->message);
        g_error_free(cause);
        return;
    }
    load->orientation = gst_tdl_file_orientation(load->path);
    pipeline = make_pipeline(load->path, &decoder, &sink, &load->error);
    if (!pipeline)
        return;
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    sample = preroll(pipeline, sink, load);
    if (sample) {
        load->is_video = is_video(decoder);
        if (!convert(sample, load))
            set_error(load, "its pixels cannot be converted.");
        gst_sample_unref(sample);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

/* ------------------------------------------------------------------- upload */

static gboolean has_transparency(const GstMapInfo *map)
{
    for (gsize i = 3; i < map->size; i += 4)
        if (map->data[i] != 255)
            return TRUE;
    return FALSE;
}

static struct gst_tdl_picture *upload(struct tdl_context *context, const struct load *load,
                                      GError **error)
{
    struct gst_tdl_picture *picture = g_new0(struct gst_tdl_picture, 1);
    guint width = load->info.width, height = load->info.height;
    enum tdl_result r;
    GstMapInfo map;
    gsize size;

    gst_tdl_caps_frame(&load->info, &picture->frame);
    picture->is_video = load->is_video;
    picture->aspect = (gfloat)GST_VIDEO_INFO_PAR_N(&load->info) / GST_VIDEO_INFO_PAR_D(&load->info);
    gst_buffer_map(load->pixels, &map, GST_MAP_READ);
    size = tdl_frame_layout(&picture->frame,
                            has_transparency(&map) ? TDL_FORMAT_RGBA : TDL_FORMAT_RGBX, width,
                            height, 64);
    r = tdl_buffer_create(context, size, TDL_BUFFER_UPLOAD, &picture->buffer);
    if (r == TDL_OK) {
        guint8 *to = tdl_buffer_data(picture->buffer);

        for (guint y = 0; y < height; y++)
            memcpy(to + (gsize)y * picture->frame.planes[0].stride, map.data + (gsize)y * width * 4,
                   width * 4);
        picture->frame.planes[0].buffer = picture->buffer;
    } else {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                    "No memory on the device for a picture of %ux%u px: %s. Use a smaller one.",
                    width, height, tdl_last_error());
        g_clear_pointer(&picture, g_free);
    }
    gst_buffer_unmap(load->pixels, &map);
    return picture;
}

struct gst_tdl_picture *gst_tdl_picture_load(struct tdl_context *context, const gchar *text,
                                             enum gst_tdl_picture_use use, GError **error)
{
    struct gst_tdl_picture *picture = NULL;
    struct load *load = g_new0(struct load, 1);

    load->use = use;
    load->path = gst_tdl_file_path(text, error);
    if (!load->path) {
        g_prefix_error(error, "%s: ", kind(use));
    } else if (!gst_tdl_detached_run("tdl-picture", load_run, load, load_free, LOAD_TIMEOUT)) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                    "%s \"%s\" was not decoded within %d s, and is given up. Copy it to a disk of "
                    "this machine, or use another one.",
                    kind(use), text, (gint)(LOAD_TIMEOUT / G_USEC_PER_SEC));
        return NULL; /* the picture is the task's */
    } else if (load->error) {
        g_propagate_error(error, g_steal_pointer(&load->error));
    } else {
        picture = upload(context, load, error);
    }
    load_free(load);
    return picture;
}

GError *gst_tdl_picture_notice(const struct gst_tdl_picture *picture, const gchar *text,
                               enum gst_tdl_picture_use use)
{
    if (!picture || !picture->is_video)
        return NULL;
    if (use != GST_TDL_PICTURE_BACKGROUND)
        return g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                           "\"%s\" is a video, and the input gets its first frame.", text);
    return g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                       "The background \"%s\" is a video, and stands still at its first frame: "
                       "\"background\" takes pictures. To put the person in front of a video use "
                       "mode=alpha and a compositor.",
                       text);
}

void gst_tdl_picture_free(struct gst_tdl_picture *picture)
{
    if (!picture)
        return;
    tdl_buffer_destroy(&picture->buffer);
    g_free(picture);
}
