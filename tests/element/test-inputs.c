/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks that take several pictures: the frame at several sizes, and files' pictures. The
 * networks are written here. */
#include "written.h"

#include <glib/gstdio.h>

#define SIDE 16 /* side of the first picture and of the mask, px; SMALL of the second */
#define SMALL 8
#define WIDE "video/x-raw,format=RGB,width=64,height=32,framerate=30/1"
#define HEAD "[modelinfo]\nversion=1.0\n"

enum { FLOAT = 1, UINT8 = 2, INT32 = 6, FLOAT16 = 10 };

/* As long as converters make them. */
#define LONG "StatefulPartitionedCall/model/feature_pyramid_network/box_predictor/stage/of/many/"

/* mask = the first channel of `src` · the mean of those of `small`, of which a filter as
 * large makes one number. */
static gchar *write_model(gboolean open, gboolean third)
{
    static const gfloat first[] = { 1, 0, 0 };
    static gfloat mean[3 * SMALL * SMALL];
    const gint64 small = open ? -1 : SMALL;
    const gchar *name = open ? LONG "small" : "small";
    struct onnx_bytes graph = { 0 };

    for (guint i = 0; i < SMALL * SMALL; i++)
        mean[i] = 1.0f / (SMALL * SMALL);
    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_input(&graph, name, FLOAT, 4, (const int64_t[]){ 1, 3, small, small });
    if (third)
        onnx_input(&graph, "trimap", FLOAT, 4, (const int64_t[]){ 1, 1, SIDE, SIDE });
    onnx_initializer(&graph, "w", FLOAT, 4, (const int64_t[]){ 1, 3, 1, 1 }, first, sizeof(first));
    onnx_initializer(&graph, "m", FLOAT, 4, (const int64_t[]){ 1, 3, SMALL, SMALL }, mean,
                     sizeof(mean));
    onnx_node(&graph, "Conv", "src w", "a", NULL);
    onnx_node(&graph, "Identity", name, "s", NULL);
    onnx_node(&graph, "Conv", "s m", "b", NULL);
    onnx_node(&graph, "Mul", "a b", "c", NULL);
    onnx_node(&graph, third ? "Add" : "Identity", third ? "c trimap" : "c", "mask", NULL);
    onnx_output(&graph, "mask");
    return written_model(&graph);
}

static gchar *write_picture(guint argb)
{
    g_autofree gchar *line = NULL;
    GstElement *pipeline;
    gchar *path;
    gint fd = g_file_open_tmp("tdl-inputs-XXXXXX.png", &path, NULL);

    fail_unless(fd >= 0 && g_close(fd, NULL));
    line = g_strdup_printf("videotestsrc num-buffers=1 pattern=solid-color foreground-color=%u ! "
                           "video/x-raw,format=RGB,width=40,height=30 ! pngenc ! "
                           "filesink location=%s",
                           argb, path);
    pipeline = gst_parse_launch(line, NULL);
    fail_unless(pipeline != NULL);
    pipeline_play_to_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return path;
}

/* Expects one value all over the mask of a frame of one colour. */
static void expect(struct filter *f, guint argb, guint8 want)
{
    GstVideoInfo in, out;
    GstBuffer *mask;
    GstMapInfo map;

    caps_info(WIDE, &in);
    mask = filter_run(f, picture_new_color(&in, argb));
    filter_output_info(f, &out);
    fail_unless(gst_buffer_map(mask, &map, GST_MAP_READ));
    fail_unless(ABS(map.data[17] - want) < 4, "the mask is %u instead of %u", map.data[17], want);
    gst_buffer_unmap(mask, &map);
    gst_buffer_unref(mask);
}

/* The frame goes to both, red to the one as to the other. */
GST_START_TEST(frame_at_two_sizes)
{
    g_autofree gchar *model = write_model(FALSE, FALSE);
    struct filter f;

    written_start(&f, model, __i__ ? "input-fit=letterbox" : "input-fit=stretch", WIDE);
    if (__i__) /* half of the small one is grey, 114 of 255 */
        expect(&f, 0xffff0000, 255 / 2 + 114 / 2);
    else
        expect(&f, 0xffff0000, 255);
    expect(&f, 0xff00ffff, 0);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Ranges and open sizes of each, beside the model; a property speaks for all. */
GST_START_TEST(sidecar)
{
    static const struct {
        const gchar *text, *properties;
        guint8 white;
    } rows[] = {
        { HEAD "[" LONG "small]\ndir=input\ndims=1,3,8,8\n", "", 255 },
        { HEAD "[src]\ndir=input\nranges=0,1\n[" LONG
               "small]\ndir=input\ndims=1,3,8,8\nranges=1,0.5\n",
          "", 128 },
        { HEAD "[" LONG
               "small]\ndir=input\ndims=1,3,8,8\nranges=1,0\n[src]\ndir=input\nranges=0,1\n",
          "", 0 },
        { HEAD "[" LONG "small]\ndir=input\ndims=1,3,8,8\nranges=1,0\n", "input-range=0,1", 255 },
    };
    g_autofree gchar *model = write_model(TRUE, FALSE);
    g_autofree gchar *info = g_strconcat(model, ".modelinfo", NULL);
    struct filter f;

    fail_unless(g_file_set_contents(info, rows[__i__].text, -1, NULL));
    written_start(&f, model, rows[__i__].properties, WIDE);
    expect(&f, 0xffffffff, rows[__i__].white);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(info);
    g_unlink(model);
}
GST_END_TEST;

/* A file's picture for either of them, in every run, and another one while playing. */
GST_START_TEST(file)
{
    static const gchar *const inputs[] = { "small", "src" };
    g_autofree gchar *model = write_model(FALSE, FALSE);
    g_autofree gchar *white = write_picture(0xffffffff), *black = write_picture(0xff000000);
    g_autofree gchar *one = g_strdup_printf("model-pictures=%s=%s", inputs[__i__], white);
    g_autofree gchar *other = g_strdup_printf("model-pictures=%s=%s", inputs[__i__], black);
    struct filter f;

    written_start(&f, model, one, WIDE);
    for (guint i = 0; i < 3; i++)
        expect(&f, 0xffff0000, 255);
    expect(&f, 0xff000000, 0);
    filter_expect_no_error(&f);
    filter_stop(&f);
    written_start(&f, model, other, WIDE);
    expect(&f, 0xffffffff, 0);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(white);
    g_unlink(black);
    g_unlink(model);
}
GST_END_TEST;

/* y: the mean over an axis of x, a number of another type perhaps, or x transposed. */
struct small {
    int type;
    int64_t dims[4];
    int64_t axis;    /* axis of the mean; 0: no mean */
    int64_t perm[4]; /* order of a transposition, which comes then */
};

static gchar *write_small(const struct small *small)
{
    struct onnx_bytes graph = { 0 }, to = { 0 }, how = { 0 };

    onnx_input(&graph, "x", small->type, 4, small->dims);
    onnx_attr_int(&to, "to", FLOAT);
    onnx_node(&graph, "Cast", "x", "f", &to);
    if (small->axis)
        onnx_attr_ints(&how, "axes", &small->axis, 1);
    else
        onnx_attr_ints(&how, "perm", small->perm, 4);
    onnx_node(&graph, small->axis ? "ReduceMean" : "Transpose", "f", "y", &how);
    onnx_output(&graph, "y");
    return written_model(&graph);
}

/* A frame of blue, 204 of 255. Bytes come as 0 to 255, unless the range says otherwise. Of
 * layouts that are read wrongly other numbers come out, as classes of a softmax. */
static const struct {
    struct small model;
    const gchar *properties;
    guint8 want;
} smalls[] = {
    { { FLOAT16, { 1, 3, 16, 16 }, 1 }, "", 68 },
    { { FLOAT16, { 1, 16, 16, 3 }, 3 }, "", 68 },
    { { FLOAT16, { 1, 3, 16, 16 }, 1 }, "input-range=0,3", 204 },
    { { UINT8, { 1, 3, 16, 16 }, 1 }, "mode=picture output-range=0,255", 68 },
    { { UINT8, { 1, 16, 16, 3 }, 3 }, "mode=picture output-range=0,255", 68 },
    { { UINT8, { 1, 3, 16, 16 }, 1 }, "input-range=0,3", 170 }, /* 2.4 is 2 */
    { { FLOAT, { 1, 16, 24, 3 }, 3 }, "", 68 },
    { { FLOAT, { 1, 64, 40, 3 }, 3 }, "mode=picture", 68 },
    { { FLOAT, { 1, 16, 24, 3 }, 0, { 0, 3, 1, 2 } }, "mode=picture", 204 },
    { { FLOAT, { 1, 3, 16, 24 }, 0, { 0, 2, 3, 1 } }, "mode=picture", 204 },
    { { FLOAT, { 1, 3, 16, 24 }, 1 }, "", 68 },
};

GST_START_TEST(types_and_layouts)
{
    g_autofree gchar *model = write_small(&smalls[__i__].model);
    struct filter f;

    written_start(&f, model, smalls[__i__].properties, WIDE);
    expect(&f, 0xff0000cc, smalls[__i__].want);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

static void expect_refusal(const gchar *model, const gchar *properties, const char *const *words)
{
    g_autofree gchar *line = g_strdup_printf("tdlfilter model=%s %s", model, properties);
    GstElement *element = gst_parse_launch(line, NULL);
    GstBus *bus = gst_bus_new();

    gst_object_ref_sink(element);
    gst_element_set_bus(element, bus);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

GST_START_TEST(wrong_types_and_layouts)
{
    static const struct {
        struct small model;
        const char *words[4];
    } rows[] = {
        { { INT32, { 1, 3, 16, 16 }, 1 }, { "\"x\" has 3, of int32", "float16 or uint8" } },
        { { FLOAT, { 2, 3, 16, 16 }, 1 }, { "\"x\" takes batches of 2", "batch of 1" } },
        { { FLOAT, { 1, 16, 24, 3 }, 1 }, { "none of its outputs", "aspect", "[1,1,24,3]" } },
    };
    g_autofree gchar *model = write_small(&rows[__i__].model);

    expect_refusal(model, "", rows[__i__].words);
    g_unlink(model);
}
GST_END_TEST;

static const struct {
    const gchar *properties;
    gboolean third;
    const char *words[5];
} wrong[] = {
    { "model-pictures=back=/nonexistent.png", FALSE, { "model-pictures", "\"back\"" } },
    { "model-pictures=small=/nonexistent.png", FALSE,
      { "model-pictures", "\"small\"", "The picture \"/nonexistent.png\" does not exist",
        "Give the input a picture" } },
    { "model-pictures=a=b,c=d,e=f,g=h", FALSE, { "model-pictures", "3 at most" } },
    { "model-pictures=small", FALSE, { "model-pictures", "INPUT=FILE" } },
    { "model-pictures=small=a,small=b", FALSE, { "model-pictures", "\"small\" twice" } },
    { "model-pictures=small=a,src=b", FALSE, { "model-pictures", "none for the frame" } },
    { "mode=picture input-fit=tiles", FALSE, { "tiles", "\"src\"", "\"small\"" } },
    { "model-output=mask", TRUE, { "\"trimap\" has 1, of float32", "3 channels", "model-state" } },
};

GST_START_TEST(wrong_pictures)
{
    g_autofree gchar *model = write_model(FALSE, wrong[__i__].third);

    expect_refusal(model, wrong[__i__].properties, wrong[__i__].words);
    g_unlink(model);
}
GST_END_TEST;

static GstMessage *next_warning(struct filter *f)
{
    return gst_bus_timed_pop_filtered(f->bus, UTIL_HANG, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
}

/* A group of no input is one that is spelt wrong. */
GST_START_TEST(modelinfo_of_no_input)
{
    static const char *const words[] = { ".modelinfo", "an input \"pictrue\"", "gets the frame",
                                         "[pictrue]", NULL };
    static const struct small small = { FLOAT, { 1, 3, 16, 16 }, 1 };
    g_autofree gchar *model = write_small(&small);
    g_autofree gchar *info = g_strconcat(model, ".modelinfo", NULL);
    struct filter f;

    fail_unless(g_file_set_contents(info, HEAD "[pictrue]\ndir=input\n", -1, NULL));
    written_start(&f, model, "", WIDE);
    message_expect(next_warning(&f), GST_MESSAGE_WARNING, words);
    expect(&f, 0xff0000cc, 68);
    filter_stop(&f);
    g_unlink(info);
    g_unlink(model);
}
GST_END_TEST;

/* One output with a name that the model does not have. */
GST_START_TEST(modelinfo_of_no_output)
{
    static const char *const words[] = { "does not fit", ".modelinfo file has one output", NULL };
    static const struct small small = { FLOAT, { 1, 3, 16, 16 }, 1 };
    g_autofree gchar *model = write_small(&small);
    g_autofree gchar *info = g_strconcat(model, ".modelinfo", NULL);

    fail_unless(g_file_set_contents(info, HEAD "[maks]\ndir=output\n", -1, NULL));
    expect_refusal(model, "", words);
    g_unlink(info);
    g_unlink(model);
}
GST_END_TEST;

/* Sizes that the model does not have; how many pictures are given at once is not its own. */
GST_START_TEST(modelinfo_of_other_sizes)
{
    static const char *const channels[] = { "\"x\" is float32[1,3,16,16]", "has 4 as number 2",
                                            "[x]", NULL };
    static const char *const width[] = { "has 17 as number 4", NULL };
    static const struct small small = { FLOAT, { 1, 3, 16, 16 }, 1 };
    g_autofree gchar *model = write_small(&small);
    g_autofree gchar *info = g_strconcat(model, ".modelinfo", NULL);
    struct filter f;

    fail_unless(g_file_set_contents(info, HEAD "[x]\ndir=input\ndims=1,4,-1,-1\n", -1, NULL));
    expect_refusal(model, "", channels);
    fail_unless(g_file_set_contents(info, HEAD "[x]\ndir=input\ndims=1,3,16,17\n", -1, NULL));
    expect_refusal(model, "", width);
    fail_unless(g_file_set_contents(info, HEAD "[x]\ndir=input\ndims=4,3,-1,16\n", -1, NULL));
    written_start(&f, model, "", WIDE);
    expect(&f, 0xff0000cc, 68);
    filter_stop(&f);
    g_unlink(info);
    g_unlink(model);
}
GST_END_TEST;

/* Said at the start and while playing; the size that it has is no mistake. */
GST_START_TEST(size_that_is_fixed)
{
    static const char *const words[] = { "model-size=64x48 changes nothing", "16x16 px", NULL };
    static const struct small small = { FLOAT, { 1, 3, 16, 16 }, 1 };
    g_autofree gchar *model = write_small(&small);
    struct filter f;

    written_start(&f, model, "model-size=64x48", WIDE);
    message_expect(next_warning(&f), GST_MESSAGE_WARNING, words);
    expect(&f, 0xff0000cc, 68);
    g_object_set(f.element, "model-size", "16x16", NULL);
    expect(&f, 0xff0000cc, 68);
    filter_expect_no_error(&f);
    g_object_set(f.element, "model-size", "64x48", NULL);
    message_expect(next_warning(&f), GST_MESSAGE_WARNING, words);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

static Suite *inputs_suite(void)
{
    Suite *suite = suite_create("inputs");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, frame_at_two_sizes, 0, 2);
    tcase_add_loop_test(tcase, sidecar, 0, 4);
    tcase_add_loop_test(tcase, file, 0, 2);
    tcase_add_loop_test(tcase, wrong_pictures, 0, G_N_ELEMENTS(wrong));
    tcase_add_loop_test(tcase, types_and_layouts, 0, G_N_ELEMENTS(smalls));
    tcase_add_test(tcase, modelinfo_of_no_input);
    tcase_add_test(tcase, modelinfo_of_no_output);
    tcase_add_test(tcase, modelinfo_of_other_sizes);
    tcase_add_test(tcase, size_that_is_fixed);
    tcase_add_loop_test(tcase, wrong_types_and_layouts, 0, 3);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, inputs_suite(), "inputs");
}
