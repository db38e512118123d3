/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes into a network and comes out of it, seen in masks: how frames lie in its
 * picture. The networks are written here. */
#include "onnx-writer.h"
#include "util.h"

#include <glib/gstdio.h>

#define SIDE 16 /* of the networks' pictures and masks, px */
#define PLAIN "mode=mask threshold=0.5 feather=1 refine=false smoothing=0 close-holes=false "

enum { FLOAT = 1 };

static gchar *write_model(struct onnx_bytes *graph)
{
    gchar *path;
    size_t size;
    uint8_t *data = onnx_model(graph, 13, &size);
    gint fd = g_file_open_tmp("tdl-model-XXXXXX.onnx", &path, NULL);

    fail_unless(fd >= 0 && g_close(fd, NULL));
    fail_unless(g_file_set_contents(path, (const gchar *)data, size, NULL));
    free(data);
    return path;
}

/* The first channel of the picture `src`, as `gray`. */
static void add_first_channel(struct onnx_bytes *graph)
{
    static const float first[] = { 1, 0, 0 };

    onnx_input(graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(graph, "w", FLOAT, 4, (const int64_t[]){ 1, 3, 1, 1 }, first, sizeof(first));
    onnx_node(graph, "Conv", "src w", "gray", NULL);
}

static void start(struct filter *f, const gchar *model, const gchar *properties, const gchar *caps)
{
    g_autofree gchar *all = g_strdup_printf(PLAIN "model=%s %s", model, properties);

    filter_start(f, all, caps);
}

/* ---------------------------------------------------------------- geometry */

#define WIDE "video/x-raw,format=RGB,width=64,height=32,framerate=30/1"
#define SQUEEZED "video/x-raw,format=RGB,width=32,height=32,framerate=30/1,pixel-aspect-ratio=2/1"
#define YUV "video/x-raw,format=I420,width=64,height=32,framerate=30/1"

static const struct {
    const gchar *caps, *properties;
    guint color;
    guint background; /* columns at either side that are */
} fits[] = {
    { WIDE, "input-fit=stretch", 0xffffffff, 0 },
    { WIDE, "input-fit=letterbox", 0xffffffff, 0 },
    { WIDE, "input-fit=crop", 0xffffffff, 16 },
    { SQUEEZED, "input-fit=crop", 0xffffffff, 8 },
    { SQUEEZED, "input-fit=letterbox", 0xffffffff, 0 },
    { YUV, "input-fit=crop", 0xffffffff, 16 },
    { YUV, "input-fit=letterbox", 0xffffffff, 0 },
    { WIDE, "input-fit=crop input-order=bgr", 0xff0000ff, 16 },
    { WIDE, "input-order=bgr input-mean=0,0,0", 0xff0000ff, 0 },
    { WIDE, "input-order=bgr", 0xffff0000, 64 },
};

static guint8 mask_at(GstBuffer *mask, const GstVideoInfo *info, guint x, guint y)
{
    GstVideoFrame frame;
    guint8 value;

    fail_unless(gst_video_frame_map(&frame, info, mask, GST_MAP_READ));
    value = ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0))
        [y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + x];
    gst_video_frame_unmap(&frame);
    return value;
}

static gchar *first_channel(void)
{
    struct onnx_bytes graph = { 0 };

    add_first_channel(&graph);
    onnx_node(&graph, "Identity", "gray", "mask", NULL);
    onnx_output(&graph, "mask");
    return write_model(&graph);
}

/* One colour all over: what is of the picture is white up to its border, as no grey
 * beside it has come in. */
GST_START_TEST(fit)
{
    g_autofree gchar *model = first_channel();
    struct filter f;
    GstVideoInfo in, out;
    GstBuffer *mask;

    start(&f, model, fits[__i__].properties, fits[__i__].caps);
    caps_info(fits[__i__].caps, &in);
    mask = filter_run(&f, picture_new_color(&in, fits[__i__].color));
    filter_output_info(&f, &out);
    for (gint x = 0; x < in.width; x++) {
        const gint edge = MIN(x, in.width - 1 - x), border = fits[__i__].background;
        const guint8 value = mask_at(mask, &out, x, 13);

        if (ABS(2 * edge + 1 - 2 * border) > 4) /* the mask is four times as coarse */
            fail_unless(edge < border ? value < 3 : value > 252, "column %d is %u", x, value);
    }
    gst_buffer_unref(mask);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* A corner of the picture is that corner of the mask. */
GST_START_TEST(corner)
{
    static const gchar *const ways[] = { "input-fit=letterbox", "input-fit=stretch" };
    g_autofree gchar *model = first_channel();
    struct filter f;
    GstVideoInfo in, out;
    GstBuffer *picture, *mask;
    GstMapInfo map;

    start(&f, model, ways[__i__], WIDE);
    caps_info(WIDE, &in);
    picture = picture_new_color(&in, 0xff000000);
    fail_unless(gst_buffer_map(picture, &map, GST_MAP_WRITE));
    for (guint y = 0; y < 16; y++)
        memset(map.data + y * GST_VIDEO_INFO_PLANE_STRIDE(&in, 0), 255, 32 * 3);
    gst_buffer_unmap(picture, &map);
    mask = filter_run(&f, picture);
    filter_output_info(&f, &out);
    for (guint y = 0; y < 32; y++)
        for (guint x = 0; x < 64; x++)
            if ((y < 9 || y > 22) && (x < 22 || x > 41)) /* scaling blurs what is between */
                fail_unless(mask_at(mask, &out, x, y) == (x < 32 && y < 16 ? 255 : 0),
                            "%s: pixel %u,%u is %u", ways[__i__], x, y,
                            mask_at(mask, &out, x, y));
    gst_buffer_unref(mask);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

static Suite *model_io_suite(void)
{
    Suite *suite = suite_create("model-io");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, fit, 0, G_N_ELEMENTS(fits));
    tcase_add_loop_test(tcase, corner, 0, 2);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, model_io_suite(), "model-io");
}
