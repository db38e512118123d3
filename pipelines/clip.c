/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Make a moving clip of a still picture, for want of a camera:
 *
 *     clip PICTURE.jpg OUT.mkv FRAMES
 *
 * A window of 16:9 pans and zooms over the picture, at 1280×720 and 25 frames
 * a second, motion JPEG in Matroska. The window's way is given by key frames
 * on the compositor's pad, whose picture moves and grows the other way round.
 */
#include <gst/controller/controller.h>
#include <gst/gst.h>
#include <stdlib.h>

#define WIDTH 1280
#define HEIGHT 720
#define RATE 25
/* The size of the portrait, to which the windows below refer. */
#define PICTURE_WIDTH 512
#define PICTURE_HEIGHT 600

/* Left, top and width of the window, in px of the picture. */
static const struct window {
    double left, top, width;
} windows[] = {
    {0, 60, 512}, {0, 190, 512}, {50, 110, 430}, {0, 120, 512}, {0, 60, 512},
};

enum quantity { XPOS, YPOS, PAD_WIDTH, PAD_HEIGHT, QUANTITIES };
static const char *const quantity_names[] = {"xpos", "ypos", "width", "height"};

static double pad_value(enum quantity quantity, const struct window *w)
{
    double scale = WIDTH / w->width;

    switch (quantity) {
    case XPOS:
        return -w->left * scale;
    case YPOS:
        return -w->top * scale;
    case PAD_WIDTH:
        return PICTURE_WIDTH * scale;
    default:
        return PICTURE_HEIGHT * scale;
    }
}

static void control_pad(GstPad *pad, guint frames)
{
    GstClockTime end = gst_util_uint64_scale(frames, GST_SECOND, RATE);

    for (int q = 0; q < QUANTITIES; q++) {
        GstControlSource *source = gst_interpolation_control_source_new();
        g_object_set(source, "mode", GST_INTERPOLATION_MODE_CUBIC_MONOTONIC, NULL);
        for (guint i = 0; i < G_N_ELEMENTS(windows); i++)
            gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source),
                                               end * i / (G_N_ELEMENTS(windows) - 1),
                                               pad_value(q, &windows[i]));
        gst_object_add_control_binding(
            GST_OBJECT(pad),
            gst_direct_control_binding_new_absolute(GST_OBJECT(pad), quantity_names[q], source));
        gst_object_unref(source);
    }
}

static void set(GstElement *pipeline, const char *name, const char *property, const char *value)
{
    GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);
    gst_util_set_object_arg(G_OBJECT(element), property, value);
    gst_object_unref(element);
}

static gboolean run(GstElement *pipeline)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 120 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gboolean done = message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;

    if (message && !done) {
        GError *error = NULL;
        gst_message_parse_error(message, &error, NULL);
        g_printerr("clip: %s\n", error->message);
        g_error_free(error);
    } else if (!done) {
        g_printerr("clip: no end after two minutes\n");
    }
    g_clear_pointer(&message, gst_message_unref);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    return done;
}

int main(int argc, char **argv)
{
    guint frames = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    GError *error = NULL;

    gst_init(NULL, NULL);
    if (!frames) {
        g_printerr("usage: clip PICTURE.jpg OUT.mkv FRAMES\n");
        return 2;
    }
    GstElement *pipeline = gst_parse_launch(
        "filesrc name=in ! jpegdec ! videoconvert ! imagefreeze name=still ! "
        "video/x-raw,framerate=" G_STRINGIFY(
            RATE) "/1 ! compositor name=window background=black ! "
                  "video/x-raw,format=I420,width=" G_STRINGIFY(WIDTH) ",height=" G_STRINGIFY(
                      HEIGHT) " ! "
                              "jpegenc quality=90 ! matroskamux ! filesink name=out",
        &error);
    if (!pipeline) {
        g_printerr("clip: %s\n", error->message);
        g_error_free(error);
        return 1;
    }
    set(pipeline, "in", "location", argv[1]);
    set(pipeline, "out", "location", argv[2]);
    set(pipeline, "still", "num-buffers", argv[3]);
    GstElement *compositor = gst_bin_get_by_name(GST_BIN(pipeline), "window");
    GstPad *pad = gst_element_get_static_pad(compositor, "sink_0");
    control_pad(pad, frames);
    gboolean done = run(pipeline);
    gst_object_unref(pad);
    gst_object_unref(compositor);
    gst_object_unref(pipeline);
    return done ? 0 : 1;
}
