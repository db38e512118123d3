/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "source.h"

#include <gio/gio.h>

/* Debian's package python-matplotlib-data has it. */
#define PORTRAIT "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg"

/* A still picture as a camera would show it. */
#define STILL                                                                                      \
    "filesrc name=in ! decodebin ! videoconvert ! imagefreeze is-live=true ! "                     \
    "capsfilter name=out caps=video/x-raw,framerate=25/1"
#define COLOUR_BARS                                                                                \
    "videotestsrc is-live=true ! capsfilter name=out "                                             \
    "caps=video/x-raw,width=640,height=480,framerate=25/1"
/* A camera has raw pictures of that size at that rate, or else as JPEG; what it has else comes
 * behind these, as USB cameras have large raw pictures at a few frames a second only. */
#define CAMERA_PICTURE ",width=1280,height=720,framerate=30/1;"
#define CAMERA_RATE ",framerate=[24/1,2147483647/1];"
#define CAMERA                                                                                     \
    "capsfilter name=in caps=\"video/x-raw" CAMERA_PICTURE "image/jpeg" CAMERA_PICTURE             \
    "video/x-raw" CAMERA_RATE "image/jpeg" CAMERA_RATE "video/x-raw;image/jpeg\" ! "               \
    "decodebin ! queue name=out max-size-buffers=2 max-size-bytes=0 max-size-time=0"
#define VIDEO "uridecodebin name=in expose-all-streams=false caps=video/x-raw(ANY) ! queue name=out"

static struct source *create(char *id, char *name)
{
    struct source *source = g_new0(struct source, 1);

    source->id = id;
    source->name = name;
    return source;
}

struct source *source_new_test(void)
{
    return create(g_strdup("test"), g_strdup("Test picture"));
}

struct source *source_new_camera(GstDevice *device)
{
    char *name = gst_device_get_display_name(device);
    struct source *source = create(g_strconcat("camera:", name, NULL), name);

    source->device = gst_object_ref(device);
    return source;
}

struct source *source_new_file(const char *file_or_uri)
{
    g_autoptr(GFile) file = g_file_new_for_commandline_arg(file_or_uri);
    g_autofree char *base = g_file_get_basename(file);

    return create(g_file_get_uri(file), g_filename_display_name(base));
}

void source_destroy(struct source *source)
{
    if (!source)
        return;
    g_clear_pointer(&source->device, gst_object_unref);
    g_free(source->id);
    g_free(source->name);
    g_free(source);
}

/* By its name: a file that is missing is what the pipeline says best. */
static char *picture_path(const struct source *source)
{
    g_autofree char *path = g_filename_from_uri(source->id, NULL, NULL);
    g_autofree char *type = path ? g_content_type_guess(path, NULL, 0, NULL) : NULL;
    g_autofree char *mime = type ? g_content_type_get_mime_type(type) : NULL;

    return mime && g_str_has_prefix(mime, "image/") ? g_steal_pointer(&path) : NULL;
}

bool source_has_end(const struct source *source)
{
    g_autofree char *picture = picture_path(source);

    return !source->device && strcmp(source->id, "test") != 0 && !picture;
}

/* The bin's pad is made from `out` by hand. GStreamer would also make pads of the bin out of those
 * that wait for a delayed link. */
static GstElement *make_bin(const char *description, const char *property, const char *value,
                            GError **error)
{
    GstElement *bin = gst_parse_bin_from_description(description, FALSE, error);
    g_autoptr(GstElement) in = NULL, out = NULL;
    g_autoptr(GstPad) pad = NULL;

    if (!bin)
        return NULL;
    in = gst_bin_get_by_name(GST_BIN(bin), "in");
    out = gst_bin_get_by_name(GST_BIN(bin), "out");
    pad = gst_element_get_static_pad(out, "src");
    if (property)
        g_object_set(in, property, value, NULL);
    gst_element_add_pad(bin, gst_ghost_pad_new("src", pad));
    return bin;
}

static GstElement *make_camera(GstDevice *device, GError **error)
{
    GstElement *camera = gst_device_create_element(device, NULL), *bin;
    g_autoptr(GstElement) in = NULL;

    if (!camera) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                    "This camera has gone.");
        return NULL;
    }
    bin = make_bin(CAMERA, NULL, NULL, error);
    if (!bin) {
        gst_object_unref(gst_object_ref_sink(camera));
        return NULL;
    }
    in = gst_bin_get_by_name(GST_BIN(bin), "in");
    gst_bin_add(GST_BIN(bin), camera);
    if (gst_element_link(camera, in))
        return bin;
    g_set_error(error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
                "This camera gives neither raw pictures nor JPEG.");
    gst_object_unref(gst_object_ref_sink(bin));
    return NULL;
}

GstElement *source_make(const struct source *source, GError **error)
{
    g_autofree char *picture = picture_path(source);

    if (source->device)
        return make_camera(source->device, error);
    if (picture)
        return make_bin(STILL, "location", picture, error);
    if (strcmp(source->id, "test"))
        return make_bin(VIDEO, "uri", source->id, error);
    if (g_file_test(PORTRAIT, G_FILE_TEST_EXISTS))
        return make_bin(STILL, "location", PORTRAIT, error);
    return make_bin(COLOUR_BARS, NULL, NULL, error);
}
