/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and outputs of networks, seen in masks: the place of frames in the network's picture, and
 * recurrent states. The networks are written here. */
#include "written.h"

#include <glib/gstdio.h>

#define SIDE 16 /* side of the networks' pictures and masks, px */

enum { FLOAT = 1, UINT8 = 2, INT64 = 7 };

/* The first channel of the picture `src`, as `gray`; `side` −1: of any size. */
static void add_first_channel_of(struct onnx_bytes *graph, gint64 side)
{
    static const float first[] = { 1, 0, 0 };

    onnx_input(graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, side, side });
    onnx_initializer(graph, "w", FLOAT, 4, (const int64_t[]){ 1, 3, 1, 1 }, first, sizeof(first));
    onnx_node(graph, "Conv", "src w", "gray", NULL);
}

static void add_first_channel(struct onnx_bytes *graph)
{
    add_first_channel_of(graph, SIDE);
}

/* ---------------------------------------------------------------- geometry */

#define WIDE "video/x-raw,format=RGB,width=64,height=32,framerate=30/1"
#define UPRIGHT "video/x-raw,format=RGB,width=32,height=64,framerate=30/1"
#define SQUARE "video/x-raw,format=RGB,width=48,height=48,framerate=30/1"
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
    return written_model(&graph);
}

/* One colour all over: what is of the picture is white up to its border, as no grey
 * beside it has come in. */
GST_START_TEST(fit)
{
    g_autofree gchar *model = first_channel();
    struct filter f;
    GstVideoInfo in, out;
    GstBuffer *mask;

    written_start(&f, model, fits[__i__].properties, fits[__i__].caps);
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

/* Four columns become one, and the middle ones are black. Plain bilinear reads only these; the
 * triangle counts as many white ones. */
GST_START_TEST(filter)
{
    static const struct {
        const gchar *properties;
        guint8 expected;
    } rows[] = {
        { "", 128 },
        { "input-filter=triangle", 128 },
        { "input-filter=bilinear", 0 },
    };
    g_autofree gchar *model = first_channel();
    struct filter f;
    GstVideoInfo in, out;
    GstVideoFrame frame;
    GstBuffer *picture, *mask;

    written_start(&f, model, rows[__i__].properties, WIDE);
    caps_info(WIDE, &in);
    picture = picture_new_color(&in, 0xff000000);
    fail_unless(gst_video_frame_map(&frame, &in, picture, GST_MAP_WRITE));
    for (gint y = 0; y < in.height; y++)
        for (gint x = 0; x < in.width; x++)
            memset((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                       y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 3 * x,
                   x % 4 == 0 || x % 4 == 3 ? 255 : 0, 3);
    gst_video_frame_unmap(&frame);
    mask = filter_run(&f, picture);
    filter_output_info(&f, &out);
    fail_unless(ABS(mask_at(mask, &out, 30, 13) - rows[__i__].expected) < 2, "%u",
                mask_at(mask, &out, 30, 13));
    gst_buffer_unref(mask);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* How the mask is made may be the model's own, unless the user says it, be it the default. A
 * quarter of foreground is none with the usual feather of 0.4, and seen with 1. */
GST_START_TEST(look)
{
    static const struct {
        const gchar *info, *properties;
        guint8 expected;
    } rows[] = {
        { "", "", 0 },
        { "feather=1\n", "", 64 },
        { "feather=1\n", "feather=0.4", 0 },
        { "feather=1\n", "threshold=0.6", 38 },
        { "threshold=0.25\nfeather=0.5\nrefine=false\nclose-holes=false\n", "", 129 },
    };
    g_autofree gchar *model = first_channel();
    g_autofree gchar *info = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *text = g_strconcat("[modelinfo]\nversion=1.0\n[tdlfilter]\n",
                                         rows[__i__].info, NULL);
    g_autofree gchar *all = g_strdup_printf("mode=mask smoothing=0 model=%s %s", model,
                                            rows[__i__].properties);
    struct filter f;
    GstVideoInfo in, out;
    GstBuffer *mask;

    fail_unless(g_file_set_contents(info, text, -1, NULL));
    filter_start(&f, all, WIDE);
    caps_info(WIDE, &in);
    filter_output_info(&f, &out);
    mask = filter_run(&f, picture_new_color(&in, 0xff404040));
    fail_unless(ABS(mask_at(mask, &out, 30, 13) - rows[__i__].expected) < 2, "%u",
                mask_at(mask, &out, 30, 13));
    gst_buffer_unref(mask);
    /* Said meanwhile. */
    g_object_set(f.element, "feather", 0.0f, "threshold", 0.2f, NULL);
    mask = filter_run(&f, picture_new_color(&in, 0xff404040));
    fail_unless_equals_int(mask_at(mask, &out, 30, 13), 255);
    gst_buffer_unref(mask);
    filter_stop(&f);
    g_unlink(info);
    g_unlink(model);
}
GST_END_TEST;

/* A mask of 5 or 0 and 250: without a word of its range it is none, and then it is background. */
GST_START_TEST(far_from_probabilities)
{
    static const struct {
        const gchar *properties;
        float black;
        gboolean warned;
        guint8 expected; /* mask where the picture is white */
    } rows[] = {
        { "", 5, TRUE, 0 },
        { "", 0, TRUE, 0 }, /* black gives a valid mask */
        { "invert=true", 5, TRUE, 0 },
        { "latency-mode=freshest", 0, TRUE, 0 },
        { "output-range=0,255", 5, FALSE, 250 },
        { "output-range=0,255 invert=true", 5, FALSE, 5 },
        { "decoder=logit", 5, FALSE, 255 },
    };
    struct onnx_bytes graph = { 0 };
    const float offset = rows[__i__].black, scale = 250 - offset;
    g_autofree gchar *model = NULL;
    struct filter f;
    GstVideoInfo in, out;
    GstMessage *warning;
    GstBuffer *mask;

    add_first_channel(&graph);
    onnx_initializer(&graph, "scale", FLOAT, 0, NULL, &scale, sizeof(scale));
    onnx_initializer(&graph, "offset", FLOAT, 0, NULL, &offset, sizeof(offset));
    onnx_node(&graph, "Mul", "gray scale", "scaled", NULL);
    onnx_node(&graph, "Add", "scaled offset", "mask", NULL);
    onnx_output(&graph, "mask");
    model = written_model(&graph);
    written_start(&f, model, rows[__i__].properties, WIDE);
    caps_info(WIDE, &in);
    mask = filter_run(&f, picture_new_color(&in, 0xffffffff));
    filter_output_info(&f, &out);
    fail_unless_equals_int(mask_at(mask, &out, 30, 13), rows[__i__].expected);
    warning = filter_message(&f, GST_MESSAGE_WARNING);
    if (rows[__i__].warned)
        message_expect(warning, GST_MESSAGE_WARNING,
                       (const char *const[]){ "far from 0 to 1", "output-range=0,255", NULL });
    else
        fail_unless(warning == NULL, "a warning");
    gst_buffer_unref(mask);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Columns of one pixel survive where the model sees each of them, whatever frames come next. */
GST_START_TEST(in_the_shape_of_frames)
{
    static const gchar *const frames[] = { WIDE, UPRIGHT, SQUARE };
    struct onnx_bytes graph = { 0 };
    g_autofree gchar *model = NULL;
    struct filter f;

    add_first_channel_of(&graph, -1);
    onnx_node(&graph, "Identity", "gray", "mask", NULL);
    onnx_output(&graph, "mask");
    model = written_model(&graph);
    written_start(&f, model, "model-size=~64x32 refine=false smoothing=0 feather=1", frames[0]);
    for (guint i = 0; i < G_N_ELEMENTS(frames); i++) {
        GstBuffer *picture, *mask;
        GstVideoInfo in, out;
        GstMapInfo map;

        caps_info(frames[i], &in);
        if (i)
            gst_harness_set_src_caps_str(f.harness, frames[i]);
        picture = picture_new_color(&in, 0xff000000);
        fail_unless(gst_buffer_map(picture, &map, GST_MAP_WRITE));
        for (guint k = 0; k < map.size; k += 6)
            memset(map.data + k, 255, 3);
        gst_buffer_unmap(picture, &map);
        mask = filter_run(&f, picture);
        filter_output_info(&f, &out);
        for (guint x = 0; x < (guint)in.width; x++)
            fail_unless_equals_int(mask_at(mask, &out, x, 13), x % 2 ? 0 : 255);
        gst_buffer_unref(mask);
    }
    filter_expect_no_error(&f);
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

    written_start(&f, model, ways[__i__], WIDE);
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

/* ------------------------------------------------------------------ states */

static void add_number(struct onnx_bytes *graph, const gchar *name, float value)
{
    onnx_initializer(graph, name, FLOAT, 1, (const int64_t[]){ 1 }, &value, sizeof(value));
}

/* avg = (gray + prev) / 2 */
static gchar *average(void)
{
    struct onnx_bytes graph = { 0 };

    add_first_channel(&graph);
    onnx_input(&graph, "prev", FLOAT, 4, (const int64_t[]){ 1, 1, SIDE, SIDE });
    add_number(&graph, "half", 0.5f);
    onnx_node(&graph, "Add", "gray prev", "sum", NULL);
    onnx_node(&graph, "Mul", "sum half", "avg", NULL);
    onnx_output(&graph, "avg");
    return written_model(&graph);
}

/* The names and the open sizes of RobustVideoMatting's files: r1o is the picture's first
 * channel in two, r2o that at half size, each added to half of what it was; the mask is a
 * channel of r1o times the number, and r2o's maximum counts for a fourth more. */
static gchar *matting(void)
{
    static const float both[] = { 1, 1 }, one[] = { 1, 0 };
    static const int64_t open[] = { -1, -1, -1, -1 }, two[] = { 2, 2 };
    struct onnx_bytes graph = { 0 }, attributes = { 0 };

    add_first_channel(&graph);
    onnx_input(&graph, "r1i", FLOAT, 4, open);
    onnx_input(&graph, "r2i", FLOAT, 4, open);
    onnx_input(&graph, "downsample_ratio", FLOAT, 1, (const int64_t[]){ 1 });
    add_number(&graph, "half", 0.5f);
    add_number(&graph, "fourth", 0.25f);
    onnx_initializer(&graph, "two", FLOAT, 4, (const int64_t[]){ 2, 1, 1, 1 }, both, sizeof(both));
    onnx_initializer(&graph, "one", FLOAT, 4, (const int64_t[]){ 1, 2, 1, 1 }, one, sizeof(one));
    onnx_node(&graph, "Conv", "gray two", "wide", NULL);
    onnx_node(&graph, "Mul", "r1i half", "r1half", NULL);
    onnx_node(&graph, "Add", "wide r1half", "r1o", NULL);
    onnx_attr_ints(&attributes, "kernel_shape", two, 2);
    onnx_attr_ints(&attributes, "strides", two, 2);
    onnx_node(&graph, "AveragePool", "gray", "small", &attributes);
    onnx_node(&graph, "Mul", "r2i half", "r2half", NULL);
    onnx_node(&graph, "Add", "small r2half", "r2o", NULL);
    onnx_node(&graph, "GlobalMaxPool", "r2o", "most", NULL);
    onnx_node(&graph, "Mul", "most fourth", "more", NULL);
    onnx_node(&graph, "Conv", "r1o one", "first", NULL);
    onnx_node(&graph, "Add", "first more", "all", NULL);
    onnx_node(&graph, "Mul", "all downsample_ratio", "pha", NULL);
    onnx_node(&graph, "Identity", "src", "fgr", NULL);
    onnx_output(&graph, "fgr");
    onnx_output(&graph, "pha");
    onnx_output(&graph, "r1o");
    onnx_output(&graph, "r2o");
    return written_model(&graph);
}

/* The mask of one more white frame, 0 to 1. */
static gdouble next(struct filter *f, gboolean discont)
{
    GstVideoInfo in, out;
    GstBuffer *picture, *mask;
    gdouble value;

    caps_info(WIDE, &in);
    picture = picture_new_color(&in, 0xffffffff);
    if (discont)
        GST_BUFFER_FLAG_SET(picture, GST_BUFFER_FLAG_DISCONT);
    mask = filter_run(f, picture);
    filter_output_info(f, &out);
    value = mask_at(mask, &out, 31, 13) / 255.0;
    gst_buffer_unref(mask);
    return value;
}

static void expect(struct filter *f, gdouble wanted)
{
    const gdouble got = next(f, FALSE);

    fail_unless(ABS(got - wanted) < 0.01, "the mask is %.3f, not %.3f", got, wanted);
}

#define AVERAGE "model-state=prev=avg model-output=avg decoder=probability "

GST_START_TEST(remembers)
{
    g_autofree gchar *model = average();
    GstSegment segment;
    gdouble got;
    struct filter f;

    written_start(&f, model, AVERAGE, WIDE);
    expect(&f, 0.5);
    expect(&f, 0.75);
    expect(&f, 0.875);
    got = next(&f, TRUE); /* a discontinuity */
    fail_unless(ABS(got - 0.5) < 0.01, "the mask behind a discontinuity is %.3f", got);
    expect(&f, 0.75);
    gst_harness_push_event(f.harness, gst_event_new_flush_start());
    gst_harness_push_event(f.harness, gst_event_new_flush_stop(FALSE));
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(f.harness, gst_event_new_segment(&segment));
    expect(&f, 0.5);
    expect(&f, 0.75);
    gst_harness_set_src_caps_str(f.harness,
                                 "video/x-raw,format=RGB,width=64,height=40,framerate=30/1");
    gst_harness_set_src_caps_str(f.harness, WIDE);
    expect(&f, 0.5);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Frames between have no part in it. */
GST_START_TEST(every_second_frame)
{
    static const gdouble wanted[] = { 0.5, 0.5, 0.75, 0.75, 0.875 };
    g_autofree gchar *model = average();
    struct filter f;

    written_start(&f, model, AVERAGE "interval=2", WIDE);
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++)
        expect(&f, wanted[i]);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Whichever runs have finished, each was of the one before. */
GST_START_TEST(in_order_when_freshest)
{
    g_autofree gchar *model = average();
    gdouble before = 0;
    struct filter f;

    written_start(&f, model, AVERAGE "latency-mode=freshest", WIDE);
    for (guint i = 0; i < 8; i++) {
        const gdouble got = next(&f, FALSE);
        gboolean known = FALSE;

        for (guint runs = 1; runs <= 9; runs++)
            known |= ABS(got - (1 - 1.0 / (1 << runs))) < 0.01;
        fail_unless(known && got >= before - 0.01, "the mask is %.3f behind %.3f", got, before);
        before = got;
    }
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Another model begins with nothing, be it the same in another file. */
GST_START_TEST(another_model)
{
    g_autofree gchar *model = average(), *other = average();
    struct filter f;
    gdouble got;

    written_start(&f, model, AVERAGE, WIDE);
    for (guint i = 0; i < 8; i++)
        got = next(&f, FALSE);
    fail_unless(got > 0.99, "the mask is %.3f", got);
    g_object_set(f.element, "model", other, NULL);
    do
        g_usleep(1000);
    while ((got = next(&f, FALSE)) > 0.99);
    fail_unless(ABS(got - 0.5) < 0.01, "the mask of another model is %.3f", got);
    expect(&f, 0.75);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
    g_unlink(other);
}
GST_END_TEST;

GST_START_TEST(open_states_and_constants)
{
    g_autofree gchar *model = matting();
    struct filter f;

    written_start(&f, model,
          "model-state=r1i=r1o,r2i=r2o model-constants=downsample_ratio=0.25 model-output=pha "
          "decoder=probability",
          WIDE);
    expect(&f, 0.25 * 1.25);
    expect(&f, 0.25 * 1.25 * 1.5);
    expect(&f, 0.25 * 1.25 * 1.75);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* A picture that comes out beside states is as it was. */
GST_START_TEST(picture_beside_states)
{
    g_autofree gchar *model = matting();
    GstVideoInfo in, out;
    GstBuffer *input, *picture;
    GstVideoFrame frame;
    struct filter f;

    written_start(&f, model,
          "mode=picture model-state=r1i=r1o,r2i=r2o model-constants=downsample_ratio=0.25 "
          "model-output=fgr",
          WIDE);
    caps_info(WIDE, &in);
    input = picture_new_color(&in, 0xff20c080);
    picture = filter_run(&f, input);
    filter_output_info(&f, &out);
    fail_unless(gst_video_frame_map(&frame, &out, picture, GST_MAP_READ));
    for (guint c = 0; c < 3; c++) {
        static const guint8 wanted[] = { 0x20, 0xc0, 0x80 };
        const guint8 *row = GST_VIDEO_FRAME_COMP_DATA(&frame, c);

        fail_unless(ABS(row[3 * 7] - wanted[c]) <= 1, "component %u is %u", c, row[3 * 7]);
    }
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(picture);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* ------------------------------------------------------------- of frames' size */

/* Frames until there is a warning; all come out. */
static void run_to_warning(struct filter *f, const char *const *words)
{
    GstMessage *message;

    do {
        g_usleep(1000);
        next(f, FALSE);
        message = gst_bus_pop_filtered(f->bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
    } while (!message);
    message_expect(message, GST_MESSAGE_WARNING, words);
    next(f, FALSE);
    filter_expect_no_error(f);
}

static gchar *of_any_size(void)
{
    struct onnx_bytes graph = { 0 };

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, -1, -1 });
    onnx_node(&graph, "ReduceMean", "src", "mean", NULL);
    onnx_node(&graph, "Sub", "src mean", "none", NULL);
    onnx_output(&graph, "none");
    return written_model(&graph);
}

/* An old model that stays because the new one is wrong keeps its size, too. */
GST_START_TEST(not_of_frames_size)
{
    static const char *const words[] = { "model-size=frame", "any size", "64x32", NULL };
    g_autofree gchar *fixed = first_channel(), *any = of_any_size();
    struct filter f;

    written_start(&f, fixed, "", WIDE);
    expect(&f, 1);
    g_object_set(f.element, "model-size", "frame", NULL);
    run_to_warning(&f, words);
    expect(&f, 1);
    filter_stop(&f);

    written_start(&f, any, "model-size=frame decoder=probability classes=<0>", WIDE);
    expect(&f, 0);
    g_object_set(f.element, "model", fixed, NULL);
    run_to_warning(&f, words);
    expect(&f, 0);
    filter_stop(&f);
    g_unlink(fixed);
    g_unlink(any);
}
GST_END_TEST;

/* Each half of what the average was: one output feeds two inputs, in a model whose only
 * output it is. */
GST_START_TEST(one_output_feeds_two)
{
    static const int64_t state[] = { 1, 1, -1, -1 };
    struct onnx_bytes graph = { 0 };
    g_autofree gchar *model = NULL;
    struct filter f;

    add_first_channel(&graph);
    onnx_input(&graph, "a", FLOAT, 4, state);
    onnx_input(&graph, "b", FLOAT, 4, state);
    add_number(&graph, "half", 0.5f);
    add_number(&graph, "fourth", 0.25f);
    onnx_node(&graph, "Add", "a b", "before", NULL);
    onnx_node(&graph, "Mul", "before fourth", "rest", NULL);
    onnx_node(&graph, "Mul", "gray half", "now", NULL);
    onnx_node(&graph, "Add", "now rest", "avg", NULL);
    onnx_output(&graph, "avg");
    model = written_model(&graph);
    written_start(&f, model, "decoder=probability model-state=\" a = avg , b=avg \"", WIDE);
    expect(&f, 0.5);
    expect(&f, 0.75);
    expect(&f, 0.875);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

static const struct {
    const gchar *properties;
    const char *words[4];
} wrong[] = {
    { "model-output=avg", { "\"prev\"", "model-constants", "model-state" } },
    { AVERAGE "model-state=before=avg", { "model-state", "input \"before\"" } },
    { AVERAGE "model-state=prev=mean", { "model-state", "output \"mean\"" } },
    { AVERAGE "model-state=prev", { "model-state", "INPUT=OUTPUT" } },
    { AVERAGE "model-state=prev=avg,prev=avg", { "model-state", "\"prev\" twice" } },
    { "model-state=prev=avg decoder=yolo-seg", { "yolo-seg", "avg [" } },
    { AVERAGE "model-constants=prev", { "model-constants", "NAME=NUMBER" } },
    { AVERAGE "model-constants=prev=1e39", { "model-constants", "up to 3.4e38" } },
    { AVERAGE "model-constants=prev=x", { "model-constants", "NAME=NUMBER" } },
    { "model-output=avg model-constants=before=1",
      { "no input 'before'", "Check \"model-constants\"" } },
    { "model-output=avg model-state=src=avg", { "\"avg\"", "to its input \"src\"" } },
};

static void expect_refused(const gchar *model, const gchar *properties, const char *const *words)
{
    g_autofree gchar *line = g_strdup_printf("tdlfilter model=%s %s", model, properties);
    GstElement *element = gst_parse_launch(line, NULL);
    GstBus *bus = gst_bus_new();

    gst_object_ref_sink(element);
    gst_element_set_bus(element, bus);
    /* Fails, or goes on meanwhile where the model is long to read. */
    gst_element_set_state(element, GST_STATE_PAUSED);
    message_expect(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR),
                   GST_MESSAGE_ERROR, words);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

GST_START_TEST(wrong_links)
{
    g_autofree gchar *model = average();

    expect_refused(model, wrong[__i__].properties, wrong[__i__].words);
    g_unlink(model);
}
GST_END_TEST;

/* A table with the numbers of a picture, but none of its sides. */
GST_START_TEST(table_is_no_picture)
{
    static const int64_t shape[] = { 1, SIDE / 2, 6 * SIDE };
    static const char *const words[] = { "none of its outputs is a picture", "\"table\"",
                                         G_STRINGIFY(SIDE) "x" G_STRINGIFY(SIDE), NULL };
    struct onnx_bytes graph = { 0 };
    g_autofree gchar *model = NULL;

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(&graph, "shape", INT64, 1, (const int64_t[]){ 3 }, shape, sizeof(shape));
    onnx_node(&graph, "Reshape", "src shape", "table", NULL);
    onnx_output(&graph, "table");
    model = written_model(&graph);
    expect_refused(model, "", words);
    expect_refused(model, "mode=picture", words);
    expect_refused(model, "mode=classes", words);
    g_unlink(model);
}
GST_END_TEST;

/* Bytes with names may be classes: it says what they are taken for, unless it is told. */
GST_START_TEST(bytes_with_labels)
{
    static const char *const words[] = { "The labels \"", "taken for shares of 255",
                                         "decoder=labels", NULL };
    static const gchar *const told[] = { "", "decoder=labels", "decoder=probability",
                                         "classes=<1>" };
    g_autofree gchar *labels = NULL, *properties = NULL, *model = NULL;
    struct onnx_bytes graph = { 0 }, to = { 0 };
    gint fd = g_file_open_tmp("tdl-labels-XXXXXX.txt", &labels, NULL);
    GstMessage *message;
    GstVideoInfo in;
    struct filter f;

    fail_unless(fd >= 0 && g_close(fd, NULL));
    fail_unless(g_file_set_contents(labels, "background\nperson\n", -1, NULL));
    add_first_channel(&graph);
    onnx_attr_int(&to, "to", UINT8);
    onnx_node(&graph, "Cast", "gray", "classes", &to);
    onnx_output(&graph, "classes");
    model = written_model(&graph);
    properties = g_strdup_printf("labels=%s %s", labels, told[__i__]);
    written_start(&f, model, properties, WIDE);
    caps_info(WIDE, &in);
    gst_buffer_unref(filter_run(&f, picture_new_color(&in, 0xffffffff)));
    message = filter_message(&f, GST_MESSAGE_WARNING);
    if (__i__ == 0)
        message_expect(message, GST_MESSAGE_WARNING, words);
    else
        fail_unless(message == NULL);
    filter_stop(&f);
    g_unlink(model);
    g_unlink(labels);
}
GST_END_TEST;

/* A small file that doubles its picture again and again, to more than a GiB. */
GST_START_TEST(out_of_proportion)
{
    static const char *const words[] = { "does not fit", "out of all proportion", NULL };
    struct onnx_bytes graph = { 0 }, attributes = { 0 };
    g_autofree gchar *model = NULL;
    const int64_t axes[] = { 2 };
    gchar from[16] = "gray";

    add_first_channel(&graph);
    for (int i = 0; i < 20; i++) {
        g_autofree gchar *both = g_strdup_printf("%s %s", from, from);

        g_snprintf(from, sizeof(from), "c%d", i);
        onnx_attr_int(&attributes, "axis", 2);
        onnx_node(&graph, "Concat", both, from, &attributes);
    }
    onnx_attr_ints(&attributes, "axes", axes, 1);
    onnx_node(&graph, "ReduceMean", from, "mean", &attributes);
    onnx_node(&graph, "Add", "gray mean", "y", NULL);
    onnx_output(&graph, "y");
    model = written_model(&graph);
    expect_refused(model, "device=cpu", words);
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
    tcase_add_loop_test(tcase, filter, 0, 3);
    tcase_add_loop_test(tcase, look, 0, 5);
    tcase_add_loop_test(tcase, far_from_probabilities, 0, 7);
    tcase_add_test(tcase, in_the_shape_of_frames);
    tcase_add_loop_test(tcase, corner, 0, 2);
    tcase_add_test(tcase, remembers);
    tcase_add_test(tcase, every_second_frame);
    tcase_add_test(tcase, in_order_when_freshest);
    tcase_add_test(tcase, another_model);
    tcase_add_test(tcase, open_states_and_constants);
    tcase_add_test(tcase, picture_beside_states);
    tcase_add_test(tcase, one_output_feeds_two);
    tcase_add_test(tcase, not_of_frames_size);
    tcase_add_loop_test(tcase, wrong_links, 0, G_N_ELEMENTS(wrong));
    tcase_add_test(tcase, table_is_no_picture);
    tcase_add_test(tcase, out_of_proportion);
    tcase_add_loop_test(tcase, bytes_with_labels, 0, 4);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, model_io_suite(), "model-io");
}
