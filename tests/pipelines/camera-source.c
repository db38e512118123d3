/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The demo window takes cameras that give raw pictures, and such that give JPEG alone: both
 * come out raw. One that gives neither is refused with words. Devices stand for cameras whose
 * element is a test picture.
 */
#include "../../pipelines/window/source.h"
#include "harness.h"

#include <string.h>

typedef struct {
    GstDevice base;
    const char *line; /* the element */
} FakeDevice;
typedef struct {
    GstDeviceClass base;
} FakeDeviceClass;
GType fake_device_get_type(void);
G_DEFINE_TYPE(FakeDevice, fake_device, GST_TYPE_DEVICE)

static GstElement *fake_create(GstDevice *device, const gchar *name)
{
    (void)name;
    return gst_parse_bin_from_description(((FakeDevice *)device)->line, TRUE, NULL);
}

static void fake_device_class_init(FakeDeviceClass *class)
{
    GST_DEVICE_CLASS(class)->create_element = fake_create;
}

static void fake_device_init(FakeDevice *self)
{
    (void)self;
}

#define PICTURE(format, size)                                                                     \
    "videotestsrc num-buffers=3 ! capsfilter caps=video/x-raw,format=" format "," size
#define SMALL "width=320,height=180,framerate="
static const struct {
    const char *name, *line;
    gboolean taken;
} rows[] = {
    { "raw pictures at a camera's rate", PICTURE("YUY2", SMALL "30/1"), TRUE },
    { "raw pictures, few a second", PICTURE("YUY2", SMALL "5/1"), TRUE },
    { "JPEG", PICTURE("I420", SMALL "30/1") " ! jpegenc", TRUE },
    { "JPEG of the size that is asked for first",
      PICTURE("Y42B", "width=1280,height=720,framerate=30/1") " ! jpegenc", TRUE },
    { "neither", "fakesrc num-buffers=3 ! capsfilter caps=video/x-h264", FALSE },
};

static void count(GstElement *sink, GstBuffer *buffer, GstPad *pad, guint *frames)
{
    GstCaps *caps = gst_pad_get_current_caps(pad);

    (void)sink, (void)buffer;
    *frames += gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw");
    gst_caps_unref(caps);
}

/* Raw frames that came, of three. */
static guint play(GstElement *from)
{
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    guint frames = 0;

    g_object_set(sink, "signal-handoffs", TRUE, NULL);
    g_signal_connect(sink, "handoff", G_CALLBACK(count), &frames);
    gst_bin_add_many(GST_BIN(pipeline), from, sink, NULL);
    if (!gst_element_link(from, sink) || !harness_run(pipeline, 120))
        frames = 0;
    harness_stop(pipeline);
    return frames;
}

static gboolean is_good(guint row)
{
    FakeDevice *device = g_object_new(fake_device_get_type(), "display-name", "fake", NULL);
    g_autoptr(GError) error = NULL;
    struct source *source;
    GstElement *from;
    gboolean good;

    device->line = rows[row].line;
    source = source_new_camera(GST_DEVICE(gst_object_ref_sink(device)));
    from = source_make(source, &error);
    if (rows[row].taken)
        good = from && play(from) == 3;
    else
        good = !from && error && strstr(error->message, "neither raw pictures nor JPEG");
    g_print("%s: %s%s%s\n", good ? "ok" : "FAILED", rows[row].name, error ? ": " : "",
            error ? error->message : "");
    source_destroy(source);
    gst_object_unref(device);
    return good;
}

int main(void)
{
    guint failed = 0;

    gst_init(NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        failed += !is_good(i);
    gst_deinit();
    return failed > 0;
}
