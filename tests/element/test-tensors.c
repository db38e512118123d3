/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meta=tensors: all outputs of a model, as GStreamer's own elements for inference hand them
 * out. The networks are written here, and what they compute of one colour is known.
 */
#include "written.h"

#ifdef HAVE_ANALYTICS

#include <glib/gstdio.h>
#include <gst/analytics/analytics.h>

#define SIDE 16 /* side of the networks' picture, px */
#define CAPS "video/x-raw,format=RGB,width=64,height=32,framerate=30/1"
#define LEAVE 5000 /* µs between frames, for the thread that loads a model */
#define ALONE "mode=passthrough meta=tensors smoothing=0 refine=false "

enum { FLOAT = 1, UINT8 = 2, INT8 = 3, INT32 = 6, INT64 = 7, FLOAT16 = 10 };

/* Each output is a hundred times the picture, as numbers of its own type. */
static const struct output {
    const char *name;
    gint onnx;
    GstTensorDataType type;
    gsize rank, dims[4];
} outputs[] = {
    { "real", FLOAT, GST_TENSOR_DATA_TYPE_FLOAT32, 3, { 1, 3, SIDE *SIDE } },
    /* the files here do not declare their outputs' types, and then such numbers are widened */
    { "half", FLOAT16, GST_TENSOR_DATA_TYPE_FLOAT32, 4, { 1, 3, SIDE, SIDE } },
    { "byte", UINT8, GST_TENSOR_DATA_TYPE_UINT8, 4, { 1, 3, SIDE, SIDE } },
    { "signed", INT8, GST_TENSOR_DATA_TYPE_INT8, 2, { 3, SIDE *SIDE } },
    { "whole", INT32, GST_TENSOR_DATA_TYPE_INT32, 3, { 3, SIDE, SIDE } },
    { "long", INT64, GST_TENSOR_DATA_TYPE_INT64, 1, { 3 * SIDE * SIDE } },
};

#define COUNT G_N_ELEMENTS(outputs)

static const struct {
    guint argb;
    gint hundredths[3]; /* of red, green and blue, without what is behind the point */
} colors[] = {
    { 0xff4080c0, { 25, 50, 75 } },
    { 0xff33cc1b, { 20, 80, 10 } },
};

static void add_output(struct onnx_bytes *graph, const struct output *o)
{
    g_autofree gchar *shape = g_strdup_printf("%s_shape", o->name);
    g_autofree gchar *cast = g_strdup_printf("%s_cast", o->name);
    g_autofree gchar *both = g_strdup_printf("%s %s", cast, shape);
    struct onnx_bytes attributes = { 0 };
    int64_t dims[4];

    for (guint i = 0; i < o->rank; i++)
        dims[i] = (int64_t)o->dims[i];
    onnx_attr_int(&attributes, "to", o->onnx);
    onnx_node(graph, "Cast", "hundredths", cast, &attributes);
    onnx_int64s(graph, shape, o->rank, dims);
    onnx_node(graph, "Reshape", both, o->name, NULL);
    onnx_output(graph, o->name);
}

static void add_hundredths(struct onnx_bytes *graph)
{
    static const float hundred = 100;

    onnx_input(graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(graph, "hundred", FLOAT, 0, NULL, &hundred, sizeof(hundred));
    onnx_node(graph, "Mul", "src hundred", "hundredths", NULL);
}

/* Without any output that could be a mask, but for `count` of all outputs. */
static gchar *write_outputs(guint count)
{
    struct onnx_bytes graph = { 0 };

    add_hundredths(&graph);
    for (guint i = 0; i < count; i++)
        add_output(&graph, &outputs[i]);
    return written_model(&graph);
}

/* Red as a mask, and behind it the hundredths. */
static gchar *write_mask_and_numbers(void)
{
    static const float first[] = { 1, 0, 0 };
    struct onnx_bytes graph = { 0 };

    add_hundredths(&graph);
    onnx_initializer(&graph, "w", FLOAT, 4, (const int64_t[]){ 1, 3, 1, 1 }, first, sizeof(first));
    onnx_node(&graph, "Conv", "src w", "mask", NULL);
    onnx_output(&graph, "mask");
    add_output(&graph, &outputs[0]);
    return written_model(&graph);
}

static GstBuffer *picture(guint color)
{
    GstVideoInfo info;

    caps_info(CAPS, &info);
    return picture_new_color(&info, colors[color].argb);
}

static gdouble number_at(const guint8 *data, GstTensorDataType type, gsize i)
{
    gconstpointer all = data;

    switch (type) {
    case GST_TENSOR_DATA_TYPE_FLOAT32:
        return (gdouble)((const gfloat *)all)[i];
    case GST_TENSOR_DATA_TYPE_UINT8:
        return data[i];
    case GST_TENSOR_DATA_TYPE_INT8:
        return ((const gint8 *)all)[i];
    case GST_TENSOR_DATA_TYPE_INT32:
        return ((const gint32 *)all)[i];
    default:
        fail_unless_equals_int(type, GST_TENSOR_DATA_TYPE_INT64);
        return (gdouble)((const gint64 *)all)[i];
    }
}

/* What the tensor says is what the network makes of the colour. */
static void expect_tensor(const GstTensor *tensor, const struct output *o, const gchar *id,
                          guint color)
{
    const gboolean real = o->onnx == FLOAT || o->onnx == FLOAT16;
    gsize count = 1;
    GstMapInfo map;

    fail_unless_equals_string(g_quark_to_string(tensor->id), id);
    fail_unless_equals_int(tensor->data_type, o->type);
    fail_unless_equals_int(tensor->num_dims, o->rank);
    for (gsize i = 0; i < o->rank; i++) {
        fail_unless_equals_int(tensor->dims[i], o->dims[i]);
        count *= o->dims[i];
    }
    fail_unless(gst_memory_is_type(gst_buffer_peek_memory(tensor->data, 0), "TdlMemory"));
    fail_unless(gst_buffer_map(tensor->data, &map, GST_MAP_READ));
    fail_unless_equals_int(map.size % count, 0);
    for (gsize i = 0; i < count; i++) {
        const gdouble got = number_at(map.data, o->type, i);
        const gint want = colors[color].hundredths[i * 3 / count];

        fail_unless(real ? got >= want && got < want + 1 : got == want,
                    "%s: %f at %zu, where %d was expected", o->name, got, i, want);
    }
    gst_buffer_unmap(tensor->data, &map);
}

static GstTensorMeta *tensors_of(GstBuffer *frame, gsize count)
{
    GstTensorMeta *meta = gst_buffer_get_tensor_meta(frame);

    fail_unless(meta != NULL, "no tensors");
    fail_unless_equals_int(meta->num_tensors, count);
    return meta;
}

/* ------------------------------------------------------------------ what is in them */

/* Every output, in the order of the file, by the name that the file gives it. */
GST_START_TEST(all_outputs)
{
    g_autofree gchar *model = write_outputs(COUNT);
    g_autofree gchar *line = g_strdup_printf(ALONE "model=%s", model);
    struct filter f;

    filter_start(&f, line, CAPS);
    for (guint color = 0; color < G_N_ELEMENTS(colors); color++) {
        GstBuffer *input = picture(color), *frame = filter_run(&f, gst_buffer_ref(input));
        GstTensorMeta *meta = tensors_of(frame, COUNT);

        for (guint i = 0; i < COUNT; i++) {
            const GstTensor *tensor = gst_tensor_meta_get(meta, i);

            expect_tensor(tensor, &outputs[i], outputs[i].name, color);
            fail_unless_equals_int(tensor->dims_order, GST_TENSOR_DIM_ORDER_ROW_MAJOR);
        }
        fail_unless(gst_buffer_peek_memory(frame, 0) == gst_buffer_peek_memory(input, 0),
                    "the frame was copied");
        gst_buffer_unref(frame);
        gst_buffer_unref(input);
    }
    fail_unless_equals_uint64(filter_stat(&f, "network-runs"), G_N_ELEMENTS(colors));
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* The file beside the model has the ids by which decoders know them, and the name of the order
 * that they want; it moves no number. */
GST_START_TEST(ids_of_the_sidecar)
{
    g_autofree gchar *model = write_outputs(2);
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *line = g_strdup_printf(ALONE "model=%s", model);
    struct filter f;
    GstBuffer *frame;
    GstTensorMeta *meta;

    fail_unless(g_file_set_contents(beside,
                                    "[modelinfo]\nversion=1.0\ngroup-id=known\n"
                                    "[real]\nid=known-out\ntype=float32\ndims=1,3,256\n"
                                    "dims-order=col-major\ndir=output\n",
                                    -1, NULL));
    filter_start(&f, line, CAPS);
    frame = filter_run(&f, picture(0));
    meta = tensors_of(frame, 2);
    expect_tensor(gst_tensor_meta_get(meta, 0), &outputs[0], "known-out", 0);
    fail_unless_equals_int(gst_tensor_meta_get(meta, 0)->dims_order,
                           GST_TENSOR_DIM_ORDER_COL_MAJOR);
    expect_tensor(gst_tensor_meta_get(meta, 1), &outputs[1], "half", 0);
    fail_unless_equals_int(gst_tensor_meta_get(meta, 1)->dims_order,
                           GST_TENSOR_DIM_ORDER_ROW_MAJOR);
    gst_buffer_unref(frame);
    filter_stop(&f);
    g_unlink(beside);
    g_unlink(model);
}
GST_END_TEST;

/* In other modes, too: the mask is what it is without, and its own tensor is the last. */
GST_START_TEST(beside_a_mask)
{
    static const char *const modes[] = { "mode=mask meta=tensors", "mode=blur meta=tensors",
                                         "mode=mask meta=all", "mode=passthrough meta=all" };
    const struct output mask = { "mask", 0, 0, 4, { 1, 1, SIDE, SIDE } };
    const gboolean all = __i__ >= 2;
    g_autofree gchar *model = write_mask_and_numbers();
    g_autofree gchar *line = g_strdup_printf("smoothing=0 refine=false model=%s %s", model,
                                             modes[__i__]);
    struct filter f;
    GstBuffer *frame;
    GstTensorMeta *meta;
    GstMapInfo map;

    filter_start(&f, line, CAPS);
    frame = filter_run(&f, picture(0));
    meta = tensors_of(frame, all ? 3 : 2);
    fail_unless_equals_string(g_quark_to_string(gst_tensor_meta_get(meta, 0)->id), "mask");
    for (gsize i = 0; i < mask.rank; i++)
        fail_unless_equals_int(gst_tensor_meta_get(meta, 0)->dims[i], mask.dims[i]);
    expect_tensor(gst_tensor_meta_get(meta, 1), &outputs[0], "real", 0);
    fail_unless_equals_int(gst_buffer_get_analytics_relation_meta(frame) != NULL, all);
    if (all)
        fail_unless_equals_string(g_quark_to_string(gst_tensor_meta_get(meta, 2)->id), "tdl-mask");
    fail_unless(gst_buffer_map(gst_tensor_meta_get(meta, 0)->data, &map, GST_MAP_READ));
    for (gsize i = 0; i < SIDE * SIDE; i++)
        fail_unless(ABS(((const gfloat *)(gconstpointer)map.data)[i] - 64 / 255.f) < 0.01f);
    gst_buffer_unmap(gst_tensor_meta_get(meta, 0)->data, &map);
    gst_buffer_unref(frame);
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* What a recurrent network keeps is handed out in the model's own shape, too. */
GST_START_TEST(with_a_state)
{
    g_autofree gchar *model = NULL;
    g_autofree gchar *line = NULL;
    struct onnx_bytes graph = { 0 };
    struct filter f;

    add_hundredths(&graph);
    onnx_input(&graph, "before", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_node(&graph, "Add", "before hundredths", "after", NULL);
    onnx_output(&graph, "after");
    model = written_model(&graph);
    line = g_strdup_printf(ALONE "model=%s model-state=before=after", model);
    filter_start(&f, line, CAPS);
    for (guint run = 1; run < 4; run++) {
        GstBuffer *frame = filter_run(&f, picture(0));
        const GstTensor *tensor = gst_tensor_meta_get(tensors_of(frame, 1), 0);
        GstMapInfo map;

        fail_unless_equals_int(tensor->num_dims, 4);
        fail_unless(tensor->dims[0] == 1 && tensor->dims[1] == 3 && tensor->dims[2] == SIDE &&
                    tensor->dims[3] == SIDE);
        fail_unless(gst_buffer_map(tensor->data, &map, GST_MAP_READ));
        fail_unless_equals_int(map.size, 3 * SIDE * SIDE * sizeof(gfloat));
        for (gsize i = 0; i < 3 * SIDE * SIDE; i++) {
            const gdouble got = (gdouble)((const gfloat *)(gconstpointer)map.data)[i] / run;
            const gint want = colors[0].hundredths[i / (SIDE * SIDE)];

            fail_unless(got >= want && got < want + 1, "run %u: %f at %zu", run, got, i);
        }
        gst_buffer_unmap(tensor->data, &map);
        gst_buffer_unref(frame);
    }
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* -------------------------------------------------------------------------- when */

/* Between two runs, and before one has ended, frames have those of the run before. */
GST_START_TEST(on_every_frame)
{
    static const struct {
        const char *more;
        guint runs; /* 0: as it comes */
    } rows[] = { { "interval=3", 2 }, { "latency-mode=freshest", 0 } };
    g_autofree gchar *model = write_outputs(1);
    g_autofree gchar *line = g_strdup_printf(ALONE "model=%s %s", model, rows[__i__].more);
    struct filter f;

    filter_start(&f, line, CAPS);
    for (guint i = 0; i < 5; i++) {
        GstBuffer *input = picture(0), *frame;

        GST_BUFFER_PTS(input) = i * GST_SECOND / 30;
        frame = filter_run(&f, input);
        expect_tensor(gst_tensor_meta_get(tensors_of(frame, 1), 0), &outputs[0], "real", 0);
        gst_buffer_unref(frame);
    }
    if (rows[__i__].runs)
        fail_unless_equals_uint64(filter_stat(&f, "network-runs"), rows[__i__].runs);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* Frames until one has tensors, or none has, as `on` says. */
static void run_until(struct filter *f, gboolean on)
{
    const gint64 end = g_get_monotonic_time() + (gint64)(UTIL_HANG / 1000);
    gboolean found = !on;

    while (found != on) {
        GstBuffer *frame = filter_run(f, picture(0));

        found = gst_buffer_get_tensor_meta(frame) != NULL;
        gst_buffer_unref(frame);
        fail_unless(g_get_monotonic_time() < end, "meta has changed nothing");
        g_usleep(LEAVE);
    }
}

/* The network for them is loaded while the stream goes on. */
GST_START_TEST(live)
{
    g_autofree gchar *model = write_mask_and_numbers();
    g_autofree gchar *line = g_strdup_printf("mode=mask smoothing=0 model=%s", model);
    struct filter f;

    filter_start(&f, line, CAPS);
    run_until(&f, FALSE);
    for (guint i = 0; i < 2; i++) {
        gst_util_set_object_arg(G_OBJECT(f.element), "meta", "tensors");
        run_until(&f, TRUE);
        gst_util_set_object_arg(G_OBJECT(f.element), "meta", "none");
        run_until(&f, FALSE);
    }
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
}
GST_END_TEST;

/* They outlive the element, and buffers of others are left alone. */
GST_START_TEST(kept)
{
    g_autofree gchar *model = write_outputs(1);
    g_autofree gchar *line = g_strdup_printf(ALONE "model=%s", model);
    GstBuffer *frames[3], *input = picture(1);
    struct filter f;

    filter_start(&f, line, CAPS);
    for (guint i = 0; i < G_N_ELEMENTS(frames); i++)
        frames[i] = filter_run(&f, i == 1 ? gst_buffer_ref(input) : picture(0));
    filter_stop(&f);
    fail_if(gst_buffer_get_tensor_meta(input), "somebody else's frame has changed");
    for (guint i = 0; i < G_N_ELEMENTS(frames); i++) {
        expect_tensor(gst_tensor_meta_get(tensors_of(frames[i], 1), 0), &outputs[0], "real",
                      i == 1);
        gst_buffer_unref(frames[i]);
    }
    gst_buffer_unref(input);
    g_unlink(model);
}
GST_END_TEST;

/* ------------------------------------------------------------------ tdlinference */

static gboolean has_property(GstElement *element, const gchar *name)
{
    return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name) != NULL;
}

/* The element that attaches tensors and nothing else: properties called as those of GStreamer's
 * own, which show nothing of masks, and the same tensors on the same frame. */
GST_START_TEST(inference)
{
    g_autofree gchar *model = write_outputs(COUNT);
    g_autofree gchar *line = g_strdup_printf("tdlinference model-file=%s", model);
    static const char *const none[] = { "model", "mode", "meta", "background", "classes",
                                        "overlay-color" };
    GstHarness *harness = gst_harness_new_parse(line);
    GstElement *element;
    g_autofree gchar *told = NULL;

    fail_unless(harness != NULL, "%s", line);
    element = gst_harness_find_element(harness, "tdlinference");
    for (guint i = 0; i < G_N_ELEMENTS(none); i++)
        fail_if(has_property(element, none[i]), "%s", none[i]);
    fail_unless(has_property(element, "interval") && has_property(element, "stats"));
    fail_if(gst_element_request_pad_simple(element, "mask_src"));
    g_object_get(element, "model-file", &told, NULL);
    fail_unless_equals_string(told, model);
    gst_harness_set_src_caps_str(harness, CAPS);
    for (guint color = 0; color < G_N_ELEMENTS(colors); color++) {
        GstBuffer *input = picture(color), *frame;

        fail_unless_equals_int(gst_harness_push(harness, gst_buffer_ref(input)), GST_FLOW_OK);
        frame = gst_harness_pull(harness);
        fail_unless(gst_buffer_peek_memory(frame, 0) == gst_buffer_peek_memory(input, 0),
                    "the frame was copied");
        for (guint i = 0; i < COUNT; i++)
            expect_tensor(gst_tensor_meta_get(tensors_of(frame, COUNT), i), &outputs[i],
                          outputs[i].name, color);
        gst_buffer_unref(frame);
        gst_buffer_unref(input);
    }
    gst_object_unref(element);
    gst_harness_teardown(harness);
    g_unlink(model);
}
GST_END_TEST;

/* So many tensors are in the caps that came out, where they tell of any. */
static void expect_length(GstHarness *harness, gsize count)
{
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(harness->sinkpad);
    const GValue *field =
        gst_structure_get_value(gst_caps_get_structure(caps, 0), "tensors");

    fail_unless_equals_int(field != NULL, GST_CHECK_VERSION(1, 28, 0));
#if GST_CHECK_VERSION(1, 28, 0)
    field = gst_structure_get_value(gst_value_get_structure(field), "tdl-tensors");
    fail_unless_equals_int(gst_value_unique_list_get_size(field), count);
#else
    (void)count;
#endif
}

/* A line of GStreamer's own element means the same here, or says in words why it does not. */
GST_START_TEST(names_of_others)
{
    static const char *const words[] = { "tdlinference has no execution-provider=vsi", "device",
                                         NULL };
    g_autoptr(GError) error = NULL;
    GstElement *element = gst_parse_launch(
        "tdlinference model-file=x execution-provider=cpu optimization-level=disable-all "
        "input-image-format=chw input-tensor-offset=-127.5 input-tensor-scale=127.5",
        &error);
    g_autofree gchar *device = NULL, *range = NULL, *provider = NULL;
    GstBus *bus = gst_bus_new();
    gboolean fuse = TRUE;

    fail_unless(element && !error);
    g_object_get(element, "device", &device, "fuse", &fuse, "input-range", &range,
                 "execution-provider", &provider, NULL);
    fail_unless_equals_string(device, "cpu");
    fail_unless_equals_string(range, "-1,1");
    fail_unless_equals_string(provider, "cpu");
    fail_if(fuse);
    g_object_set(element, "execution-provider", "vsi", NULL);
    gst_element_set_bus(element, bus);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY),
                           GST_STATE_CHANGE_FAILURE);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    g_object_set(element, "execution-provider", "cuda", NULL);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}
GST_END_TEST;

/* Messages call the element and its properties by the names that it has. */
GST_START_TEST(own_names)
{
    static const char *const words[] = { "tdlinference gives a model", "\"model-file\"", NULL };
    GstElement *element = gst_element_factory_make("tdlinference", NULL);
    struct onnx_bytes graph = { 0 };
    GstBus *bus = gst_bus_new();
    g_autofree gchar *model = NULL;

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 5, SIDE, SIDE });
    onnx_node(&graph, "Abs", "src", "all", NULL);
    onnx_output(&graph, "all");
    model = written_model(&graph);
    g_object_set(element, "model-file", model, NULL);
    gst_element_set_bus(element, bus);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
    g_unlink(model);
}
GST_END_TEST;

/* Those that model-outputs names, in the model's order; others are no outputs. */
GST_START_TEST(some_outputs)
{
    static const char *const words[] = { "model-outputs", "no-such", NULL };
    g_autofree gchar *model = write_outputs(COUNT);
    g_autofree gchar *line =
        g_strdup_printf("tdlinference model-file=%s model-outputs=\"whole, real\"", model);
    GstHarness *harness = gst_harness_new_parse(line);
    GstElement *element = gst_element_factory_make("tdlinference", NULL);
    GstBus *bus = gst_bus_new();
    GstBuffer *frame;

    gst_harness_set_src_caps_str(harness, CAPS);
    fail_unless_equals_int(gst_harness_push(harness, picture(1)), GST_FLOW_OK);
    frame = gst_harness_pull(harness);
    expect_tensor(gst_tensor_meta_get(tensors_of(frame, 2), 0), &outputs[0], "real", 1);
    expect_tensor(gst_tensor_meta_get(tensors_of(frame, 2), 1), &outputs[4], "whole", 1);
    gst_buffer_unref(frame);
    gst_harness_teardown(harness);

    g_object_set(element, "model-file", model, "model-outputs", "real,no-such", NULL);
    gst_element_set_bus(element, bus);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
    g_unlink(model);
}
GST_END_TEST;

/* Another model while frames go on: caps tell of it before the first frame. */
GST_START_TEST(inference_of_another)
{
    const gint64 end = g_get_monotonic_time() + (gint64)(UTIL_HANG / 1000);
    g_autofree gchar *one = write_outputs(1), *all = write_outputs(COUNT);
    g_autofree gchar *line = g_strdup_printf("tdlinference name=t model-file=%s", one);
    GstHarness *harness = gst_harness_new_parse(line);
    GstElement *element = gst_harness_find_element(harness, "tdlinference");
    gsize count = 1;

    gst_harness_set_src_caps_str(harness, CAPS);
    for (guint i = 0; count == 1; i++) {
        GstBuffer *frame;

        fail_unless_equals_int(gst_harness_push(harness, picture(0)), GST_FLOW_OK);
        frame = gst_harness_pull(harness);
        count = gst_buffer_get_tensor_meta(frame)->num_tensors;
        expect_tensor(gst_tensor_meta_get(tensors_of(frame, count), 0), &outputs[0], "real", 0);
        gst_buffer_unref(frame);
        expect_length(harness, count);
        if (i == 0)
            g_object_set(element, "model-file", all, NULL);
        fail_unless(g_get_monotonic_time() < end, "the other model does not come");
        g_usleep(LEAVE);
    }
    fail_unless_equals_int(count, COUNT);
    gst_object_unref(element);
    gst_harness_teardown(harness);
    g_unlink(one);
    g_unlink(all);
}
GST_END_TEST;

/* ---------------------------------------------------------------------- decoders */

static gboolean has_element(const gchar *name)
{
    GstElementFactory *factory = gst_element_factory_find(name);
    const gboolean found = factory != NULL;

    gst_clear_object(&factory);
    return found;
}

enum { BOXES = 3 };
#define SURE 0.15 /* the least score */

/* Of each: top, left, bottom, right, as shares of the frame. */
static const float boxes[BOXES][4] = { { 0.25f, 0.5f, 0.75f, 0.875f },
                                       { 0, 0, 0.5f, 0.25f },
                                       { 0.5f, 0.125f, 1, 0.375f } };

/* A detector as SSD has it: an object for each colour, as sure as there is of it. */
static gchar *write_detector(void)
{
    static const float none = 0, all = BOXES;
    const int64_t row[] = { 1, BOXES }, column[] = { 1, BOXES, 1 }, axis[] = { 1 };
    struct onnx_bytes graph = { 0 }, attributes = { 0 };

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(&graph, "none", FLOAT, 0, NULL, &none, sizeof(none));
    onnx_initializer(&graph, "all", FLOAT, 0, NULL, &all, sizeof(all));
    onnx_initializer(&graph, "known", FLOAT, 3, (const int64_t[]){ 1, BOXES, 4 }, boxes,
                     sizeof(boxes));
    onnx_int64s(&graph, "row", G_N_ELEMENTS(row), row);
    onnx_int64s(&graph, "column", G_N_ELEMENTS(column), column);
    onnx_node(&graph, "GlobalAveragePool", "src", "mean", NULL);
    onnx_node(&graph, "Reshape", "mean row", "scores", NULL);
    onnx_node(&graph, "Mul", "scores none", "nothing", NULL);
    onnx_node(&graph, "Reshape", "nothing column", "nothing_each", NULL);
    onnx_node(&graph, "Add", "known nothing_each", "places", NULL);
    onnx_attr_ints(&attributes, "axes", axis, 1);
    onnx_attr_int(&attributes, "keepdims", 0);
    onnx_node(&graph, "ReduceMean", "nothing", "nothing_more", &attributes);
    onnx_node(&graph, "Add", "nothing_more all", "count", NULL);
    onnx_output(&graph, "places");
    onnx_output(&graph, "scores");
    onnx_output(&graph, "count");
    onnx_node(&graph, "Identity", "nothing", "labels", NULL);
    onnx_output(&graph, "labels");
    return written_model(&graph);
}

/* GStreamer's decoders of such a detector, of which each version has one or the other. */
static const struct {
    const char *name, *sidecar;
} ssd_decoders[] = {
    { "ssdtensordec",
      "[modelinfo]\nversion=1.0\ngroup-id=ssd-mobilenet-v1-variant-1-out\n"
      "[places]\nid=ssd-mobilenet-v1-variant-1-out-boxes\ndims=-1,-1,4\ndir=output\n"
      "[scores]\nid=ssd-mobilenet-v1-variant-1-out-scores\ndims=-1,-1\ndir=output\n"
      "[labels]\nid=ssd-mobilenet-v1-variant-1-out-classes\ndims=-1,-1\ndir=output\n"
      "[count]\nid=generic-variant-1-out-count\ndims=-1\ndir=output\n" },
    { "ssdobjectdetector", "[modelinfo]\nversion=1.0\ngroup-id=detector\n"
                           "[places]\nid=Gst.Model.ObjectDetector.Boxes\ndir=output\n"
                           "[scores]\nid=Gst.Model.ObjectDetector.Scores\ndir=output\n"
                           "[labels]\nid=Gst.Model.ObjectDetector.Classes\ndir=output\n"
                           "[count]\nid=Gst.Model.ObjectDetector.NumDetections\ndir=output\n" },
};

/* GStreamer's own decoder finds its tensors by the sidecar's ids, and places boxes in the frame. */
GST_START_TEST(decoded)
{
    const guint which = has_element(ssd_decoders[0].name) ? 0 : 1;
    g_autofree gchar *model = write_detector();
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *line =
        g_strdup_printf("tdlinference model-file=%s ! %s score-threshold=%g", model,
                        ssd_decoders[which].name, SURE);
    const guint argb = colors[__i__].argb;
    GstAnalyticsRelationMeta *relations;
    GstAnalyticsODMtd object;
    gpointer state = NULL;
    GstHarness *harness;
    GstVideoInfo info;
    GstBuffer *frame;

    if (!has_element(ssd_decoders[which].name)) {
        g_unlink(model);
        return;
    }
    fail_unless(g_file_set_contents(beside, ssd_decoders[which].sidecar, -1, NULL));
    harness = gst_harness_new_parse(line);
    fail_unless(harness != NULL, "%s", line);
    gst_harness_set_src_caps_str(harness, CAPS);
    caps_info(CAPS, &info);
    fail_unless_equals_int(gst_harness_push(harness, picture(__i__)), GST_FLOW_OK);
    frame = gst_harness_pull(harness);
    relations = gst_buffer_get_analytics_relation_meta(frame);
    fail_unless(relations != NULL, "nothing was decoded");
    for (guint i = 0; i < BOXES; i++) {
        const gfloat share = (argb >> (16 - 8 * i) & 255) / 255.f;
        gint x, y, width, height;
        gfloat sure;

        if ((gdouble)share < SURE)
            continue;
        fail_unless(gst_analytics_relation_meta_iterate(
                        relations, &state, gst_analytics_od_mtd_get_mtd_type(), &object),
                    "no object of colour %u", i);
        fail_unless(gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &sure));
        fail_unless_equals_int(x, (gint)(boxes[i][1] * info.width));
        fail_unless_equals_int(y, (gint)(boxes[i][0] * info.height));
        fail_unless_equals_int(width, (gint)(boxes[i][3] * info.width) - x);
        fail_unless_equals_int(height, (gint)(boxes[i][2] * info.height) - y);
        fail_unless(ABS(sure - share) < 1e-3f, "%f, and there is %f", (gdouble)sure,
                    (gdouble)share);
    }
    fail_if(gst_analytics_relation_meta_iterate(relations, &state,
                                                gst_analytics_od_mtd_get_mtd_type(), &object),
            "more than there is");
    gst_buffer_unref(frame);
    gst_harness_teardown(harness);
    g_unlink(beside);
    g_unlink(model);
}
GST_END_TEST;

static GstHarness *start_line(const gchar *line)
{
    GstHarness *harness = gst_harness_new_parse(line);

    fail_unless(harness != NULL, "%s", line);
    gst_harness_set_src_caps_str(harness, CAPS);
    return harness;
}

/* The frame that comes out of `color`. */
static GstBuffer *pass(GstHarness *harness, guint color)
{
    fail_unless_equals_int(gst_harness_push(harness, picture(color)), GST_FLOW_OK);
    return gst_harness_pull(harness);
}

/* ------------------------------------------------------------------------- boxes */

/* A box as decoders know it: by the ids of the sidecar, in px of the model's picture or shares of
 * it, as its middle and size, or as corners. */
static const struct box_kind {
    const char *id, *group;
    int64_t dims[3];
    float numbers[7]; /* with what is no place */
    gboolean shares, corners, down_first;
} box_kinds[] = {
    { "yolo-v8-out", "yolo-v8-out", { 1, 7, 1 }, { 4, 6, 2, 4, 0.5f, 0.25f, 0 }, 0, 0, 0 },
    { "yolo-v8-segmentation-out-detections",
      "yolo-v8-segmentation-out",
      { 1, 6, 1 },
      { 4, 6, 2, 4, 0.5f, 0.25f },
      0,
      0,
      0 },
    { "ssd-mobilenet-v1-variant-1-out-boxes",
      "ssd-mobilenet-v1-variant-1-out",
      { 1, 1, 4 },
      { 0.25f, 0.1875f, 0.5f, 0.3125f },
      1,
      1,
      1 },
    { "ssd-mobilenet-v1-variant-1-out-boxes",
      "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out",
      { 1, 1, 4 },
      { 0.1875f, 0.25f, 0.3125f, 0.5f },
      1,
      1,
      0 },
};

/* How the frame of 64x32 px comes to the picture of 16x16: the box of 2x4 px round (4, 6) in it
 * lies there in the frame. */
static const struct {
    const char *properties;
    float middle[2], size[2];
} box_fits[] = {
    { "input-fit=stretch", { 16, 12 }, { 8, 8 } },
    { "input-fit=letterbox", { 16, 8 }, { 8, 16 } }, /* 16x8 px from row 4 on */
    { "input-fit=crop", { 24, 12 }, { 4, 8 } },      /* 32x32 px from column 16 on */
};

static gchar *write_box(const struct box_kind *kind)
{
    static const float none = 0;
    struct onnx_bytes graph = { 0 };

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(&graph, "none", FLOAT, 0, NULL, &none, sizeof(none));
    onnx_initializer(&graph, "known", FLOAT, 3, kind->dims, kind->numbers,
                     (gsize)(kind->dims[1] * kind->dims[2]) * sizeof(float));
    onnx_int64s(&graph, "one", 3, (const int64_t[]){ 1, 1, 1 });
    onnx_node(&graph, "ReduceMean", "src", "mean", NULL);
    onnx_node(&graph, "Mul", "mean none", "nothing", NULL);
    onnx_node(&graph, "Reshape", "nothing one", "nothing_each", NULL);
    onnx_node(&graph, "Add", "known nothing_each", "places", NULL);
    onnx_output(&graph, "places");
    return written_model(&graph);
}

/* The numbers of the box of the frame that is 64x32 px. */
static void expected_box(const struct box_kind *kind, guint fit, float *out)
{
    static const float frame[2] = { 64, 32 };

    memcpy(out, kind->numbers, sizeof(kind->numbers));
    for (guint i = 0; i < 4; i++) {
        const guint d = kind->down_first ? 1 - i % 2 : i % 2;
        const float half = box_fits[fit].size[d] / 2, middle = box_fits[fit].middle[d];

        out[i] = !kind->corners ? (i < 2 ? middle : 2 * half) : middle + (i < 2 ? -half : half);
        if (kind->shares)
            out[i] /= frame[d];
    }
}

/* Takes the frame, whose one tensor has these numbers. */
static void expect_numbers(GstBuffer *frame, const float *want, gsize count)
{
    const GstTensor *tensor = gst_tensor_meta_get(tensors_of(frame, 1), 0);
    GstMapInfo map;

    fail_unless(gst_buffer_map(tensor->data, &map, GST_MAP_READ));
    fail_unless_equals_int(map.size, count * sizeof(float));
    for (gsize i = 0; i < count; i++) {
        const float got = ((const float *)(gconstpointer)map.data)[i];

        fail_unless(ABS(got - want[i]) < 1e-4f, "number %zu is %f instead of %f", i, (gdouble)got,
                    (gdouble)want[i]);
    }
    gst_buffer_unmap(tensor->data, &map);
    gst_buffer_unref(frame);
}

static void expect_box(GstHarness *harness, const struct box_kind *kind, const float *want)
{
    expect_numbers(pass(harness, 0), want, (gsize)(kind->dims[1] * kind->dims[2]));
}

/* Boxes are places in the frame, however the model sees it, unless that is switched off. */
GST_START_TEST(boxes_in_the_frame)
{
    const struct box_kind *kind = &box_kinds[__i__];
    g_autofree gchar *model = write_box(kind);
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *text =
        g_strdup_printf("[modelinfo]\nversion=1.0\ngroup-id=%s\n[places]\nid=%s\ndir=output\n",
                        kind->group, kind->id);
    const gboolean slow = g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") != 0;
    float want[7];

    fail_unless(g_file_set_contents(beside, text, -1, NULL));
    for (guint fit = 0; fit < G_N_ELEMENTS(box_fits); fit++) {
        g_autofree gchar *line = g_strdup_printf("tdlinference model-file=%s %s", model,
                                                 box_fits[fit].properties);
        g_autofree gchar *as_it_is = g_strconcat(line, " boxes-in-frame=false", NULL);
        GstHarness *harness;

        if (slow && fit != (guint)__i__ % G_N_ELEMENTS(box_fits))
            continue; /* each is a network that a GPU's driver compiles */
        harness = start_line(line);
        expected_box(kind, fit, want);
        expect_box(harness, kind, want);
        expect_box(harness, kind, want);
        gst_harness_teardown(harness);
        harness = start_line(as_it_is);
        expect_box(harness, kind, kind->numbers);
        gst_harness_teardown(harness);
    }
    g_unlink(beside);
    g_unlink(model);
}
GST_END_TEST;

/* Frames of another size, and a crop of them, while the stream goes on. */
GST_START_TEST(boxes_of_other_frames)
{
    const struct box_kind *kind = &box_kinds[0];
    g_autofree gchar *model = write_box(kind);
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *line = g_strdup_printf("tdlinference model-file=%s", model);
    static const char caps[] = "video/x-raw,format=RGB,width=160,height=48,framerate=30/1";
    static const float larger[7] = { 40, 18, 20, 12, 0.5f, 0.25f, 0 };
    GstHarness *harness;
    GstVideoInfo info;
    float want[7];

    fail_unless(g_file_set_contents(beside,
                                    "[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n"
                                    "[places]\nid=yolo-v8-out\ndir=output\n",
                                    -1, NULL));
    harness = start_line(line);
    expected_box(kind, 0, want);
    expect_box(harness, kind, want);
    gst_harness_set_src_caps_str(harness, caps);
    caps_info(caps, &info);
    fail_unless_equals_int(
        gst_harness_push(harness, picture_new_color(&info, colors[0].argb)), GST_FLOW_OK);
    expect_numbers(gst_harness_pull(harness), larger, 7);
    gst_harness_teardown(harness);
    g_unlink(beside);
    g_unlink(model);
}
GST_END_TEST;

/* ------------------------------------------------------------------ our own decoder */

enum { QUERIES = 3, CLASSES = 2 };

static const float query_logits[QUERIES][CLASSES] = { { 2, -2 }, { -3, 1 }, { -1, -1 } };
/* Middle and size, as shares of the picture of 16x16 px. */
static const float query_boxes[QUERIES][4] = { { 0.25f, 0.375f, 0.125f, 0.25f },
                                               { 0.5f, 0.5f, 1, 0.5f },
                                               { 0.5f, 0.5f, 0.5f, 0.5f } };

/* Of the frame of 64x32 px, which is 16x8 px of the picture from row 4 on. */
static const struct {
    const char *name;
    gint x, y, width, height;
    gdouble score;
} query_objects[] = { { "cat", 12, 0, 8, 16, 0.880797 }, { "dog", 0, 0, 64, 32, 0.731059 } };

static void add_known(struct onnx_bytes *graph, const char *name, guint columns, const float *data)
{
    g_autofree gchar *known = g_strconcat("known_", name, NULL);
    g_autofree gchar *sum = g_strconcat(known, " nothing_each", NULL);

    onnx_initializer(graph, known, FLOAT, 3, (const int64_t[]){ 1, QUERIES, columns }, data,
                     sizeof(float) * QUERIES * columns);
    onnx_node(graph, "Add", sum, name, NULL);
    onnx_output(graph, name);
}

/* A network like DETR, and the file beside it with these ids. */
static gchar *write_detr(const gchar *logits_id, const gchar *boxes_id)
{
    static const float none = 0;
    struct onnx_bytes graph = { 0 };
    g_autofree gchar *beside = NULL, *text = NULL;
    gchar *model;

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(&graph, "none", FLOAT, 0, NULL, &none, sizeof(none));
    onnx_int64s(&graph, "one", 3, (const int64_t[]){ 1, 1, 1 });
    onnx_node(&graph, "ReduceMean", "src", "mean", NULL);
    onnx_node(&graph, "Mul", "mean none", "nothing", NULL);
    onnx_node(&graph, "Reshape", "nothing one", "nothing_each", NULL);
    add_known(&graph, "logits", CLASSES, query_logits[0]);
    add_known(&graph, "boxes", 4, query_boxes[0]);
    model = written_model(&graph);
    beside = g_strconcat(model, ".modelinfo", NULL);
    text = g_strdup_printf("[modelinfo]\nversion=1.0\ngroup-id=detr-out\n"
                           "[logits]\nid=%s\ndir=output\n[boxes]\nid=%s\ndir=output\n",
                           logits_id, boxes_id);
    fail_unless(g_file_set_contents(beside, text, -1, NULL));
    return model;
}

static void unlink_both(const gchar *model)
{
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);

    g_unlink(beside);
    g_unlink(model);
}

/* Queries of a network like DETR become objects, by name or by GStreamer's bin of decoders. */
GST_START_TEST(queries_decoded)
{
    static const char *const decoders[] = { "tdltensordec", "tensordecodebin" };
    g_autofree gchar *model = write_detr("detr-out-logits", "detr-out-boxes");
    g_autofree gchar *labels = g_strconcat(model, ".txt", NULL);
    g_autofree gchar *options =
        __i__ ? g_strdup("") : g_strdup_printf("name=d label-file=%s", labels);
    g_autofree gchar *line =
        g_strdup_printf("tdlinference model-file=%s input-fit=letterbox ! %s %s", model,
                        decoders[__i__], options);
    gpointer state = NULL;
    GstAnalyticsODMtd object;
    GstHarness *harness;
    GstBuffer *frame;

    fail_unless(has_element("tdltensordec"));
    if (!has_element(decoders[__i__])) {
        unlink_both(model);
        return;
    }
    fail_unless(g_file_set_contents(labels, "cat\r\ndog\n", -1, NULL));
    harness = start_line(line);
    frame = pass(harness, 0);
    for (guint i = 0; i < G_N_ELEMENTS(query_objects); i++) {
        g_autofree gchar *number = g_strdup_printf("%u", i);
        gint x, y, width, height;
        gfloat score;

        fail_unless(gst_analytics_relation_meta_iterate(
                        gst_buffer_get_analytics_relation_meta(frame), &state,
                        gst_analytics_od_mtd_get_mtd_type(), &object),
                    "no object %u", i);
        fail_unless(gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &score));
        fail_unless_equals_string(g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&object)),
                                  __i__ ? number : query_objects[i].name);
        fail_unless_equals_int(x, query_objects[i].x);
        fail_unless_equals_int(y, query_objects[i].y);
        fail_unless_equals_int(width, query_objects[i].width);
        fail_unless_equals_int(height, query_objects[i].height);
        fail_unless(ABS((gdouble)score - query_objects[i].score) < 1e-5, "%f", (gdouble)score);
    }
    fail_if(gst_analytics_relation_meta_iterate(gst_buffer_get_analytics_relation_meta(frame),
                                                &state, gst_analytics_od_mtd_get_mtd_type(),
                                                &object),
            "more than is sure");
    gst_buffer_unref(frame);
    gst_harness_teardown(harness);
    g_unlink(labels);
    unlink_both(model);
}
GST_END_TEST;

/* Tensors of other shapes are an error in words, and a frame without any passes. */
GST_START_TEST(queries_of_another_shape)
{
    static const char *const words[] = { "detr-out-logits", ".modelinfo", NULL };
    GstElement *decoder = gst_element_factory_make("tdltensordec", NULL);
    GstHarness *harness = gst_harness_new_with_element(decoder, "sink", "src");
    gsize dims[] = { 1, 2, 3 };
    GstBuffer *frame = picture(0);
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(decoder, bus);
    gst_harness_set_src_caps_str(
        harness, GST_CHECK_VERSION(1, 28, 0)
                     ? CAPS ",tensors=(structure)[tensorgroups,detr-out=(/uniquelist){(GstCaps)["
                            "tensor/strided,tensor-id=(string)detr-out-logits,dims=<(int)1,(int)2,"
                            "(int)3>,dims-order=(string)row-major,type=(string)float32],(GstCaps)["
                            "tensor/strided,tensor-id=(string)detr-out-boxes,dims=<(int)1,(int)2,"
                            "(int)4>,dims-order=(string)row-major,type=(string)float32]}]"
                     : CAPS);
    fail_unless_equals_int(gst_harness_push(harness, picture(0)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(harness));
    for (guint i = 0; i < 2; i++) {
        GstTensor **tensors = g_new(GstTensor *, 1);

        tensors[0] = gst_tensor_new_simple(
            g_quark_from_string(i ? "detr-out-boxes" : "detr-out-logits"),
            GST_TENSOR_DATA_TYPE_FLOAT32, gst_buffer_new_allocate(NULL, 24, NULL),
            GST_TENSOR_DIM_ORDER_ROW_MAJOR, G_N_ELEMENTS(dims), dims);
        if (gst_buffer_get_tensor_meta(frame) && !GST_CHECK_VERSION(1, 28, 0)) {
            GstTensorMeta *meta = gst_buffer_get_tensor_meta(frame);

            tensors = g_renew(GstTensor *, tensors, 2);
            tensors[1] = gst_tensor_copy(meta->tensors[0]);
            gst_tensor_meta_set(meta, 2, tensors);
        } else {
            gst_tensor_meta_set(gst_buffer_add_tensor_meta(frame), 1, tensors);
        }
    }
    fail_unless_equals_int(gst_harness_push(harness, frame), GST_FLOW_ERROR);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    gst_element_set_bus(decoder, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(harness);
    gst_object_unref(decoder);
}
GST_END_TEST;

/* -------------------------------------------------------------------------- caps */

/* Caps that come out have this field, in words; NULL: they have none. */
static void expect_field(GstHarness *harness, const gchar *text)
{
    g_autoptr(GstCaps) got = gst_pad_get_current_caps(harness->sinkpad), want = NULL;
    const GValue *field;

    fail_unless(got != NULL);
    field = gst_structure_get_value(gst_caps_get_structure(got, 0), "tensors");
    if (!text) {
        fail_if(field != NULL, "%s", gst_structure_to_string(gst_caps_get_structure(got, 0)));
        return;
    }
    want = gst_caps_from_string(text);
    fail_unless(want != NULL, "%s", text);
    fail_unless(field && gst_value_compare(field, gst_structure_get_value(
                                                      gst_caps_get_structure(want, 0),
                                                      "tensors")) == GST_VALUE_EQUAL,
                "%s instead of %s", gst_structure_to_string(gst_caps_get_structure(got, 0)), text);
}

#define FIELD(groups) "video/x-raw,tensors=(structure)[tensorgroups," groups "]"
#define REAL(group, id, order)                                                                     \
    group "=(/uniquelist){(GstCaps)[tensor/strided,tensor-id=(string)" id ",dims=<(int)1,(int)3,"  \
          "(int)256>,dims-order=(string)" order ",type=(string)float32]}"

/* From GStreamer 1.28 on caps tell of tensors, and upstream is asked for none. */
GST_START_TEST(told_in_caps)
{
    g_autofree gchar *model = write_outputs(1);
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *line = g_strdup_printf("tdlinference model-file=%s", model);
    const gboolean known = GST_CHECK_VERSION(1, 28, 0);
    GstHarness *harness;
    GstCaps *asked;

    if (__i__)
        fail_unless(g_file_set_contents(beside,
                                        "[modelinfo]\nversion=1.0\ngroup-id=ours\n"
                                        "[real]\nid=one\ndims-order=col-major\ndir=output\n",
                                        -1, NULL));
    harness = start_line(line);
    gst_buffer_unref(pass(harness, 0));
    expect_field(harness, !known  ? NULL
                          : __i__ ? FIELD(REAL("ours", "one", "col-major"))
                                  : FIELD(REAL("tdl-tensors", "real", "row-major")));
    asked = gst_pad_peer_query_caps(harness->srcpad, NULL);
    for (guint i = 0; i < gst_caps_get_size(asked); i++)
        fail_if(gst_structure_has_field(gst_caps_get_structure(asked, i), "tensors"));
    gst_caps_unref(asked);
    gst_harness_teardown(harness);
    g_unlink(beside);
    g_unlink(model);
}
GST_END_TEST;

/* Of all that a frame has. */
static const GstTensor *find_tensor(GstBuffer *frame, const gchar *id)
{
    gpointer state = NULL;
    GstMeta *meta;

    while ((meta = gst_buffer_iterate_meta_filtered(frame, &state, GST_TENSOR_META_API_TYPE))) {
        const GstTensorMeta *tensors = (const GstTensorMeta *)meta;

        for (gsize i = 0; i < tensors->num_tensors; i++)
            if (!g_strcmp0(g_quark_to_string(tensors->tensors[i]->id), id))
                return tensors->tensors[i];
    }
    return NULL;
}

/* Two networks one behind the other: frames have the tensors of both, and caps tell of both. */
GST_START_TEST(two_in_a_row)
{
    static const char *const groups[] = { "first", "second" };
    g_autofree gchar *first = write_outputs(1), *second = write_outputs(1);
    const gchar *const models[] = { first, second };
    g_autofree gchar *line = g_strdup_printf(
        "tdlinference model-file=%s ! tdlinference model-file=%s", models[0], models[1]);
    GstHarness *harness;
    GstBuffer *frame;

    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        g_autofree gchar *beside = g_strconcat(models[i], ".modelinfo", NULL);
        g_autofree gchar *text = g_strdup_printf("[modelinfo]\nversion=1.0\ngroup-id=%s\n"
                                                 "[real]\nid=of-%s\ndir=output\n",
                                                 groups[i], groups[i]);

        fail_unless(g_file_set_contents(beside, text, -1, NULL));
    }
    harness = start_line(line);
    frame = pass(harness, 1);
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        g_autofree gchar *id = g_strconcat("of-", groups[i], NULL);
        const GstTensor *tensor = find_tensor(frame, id);

        fail_unless(tensor != NULL, "no tensor of the %s", groups[i]);
        expect_tensor(tensor, &outputs[0], id, 1);
    }
    gst_buffer_unref(frame);
    if (GST_CHECK_VERSION(1, 28, 0))
        expect_field(harness, FIELD(REAL("first", "of-first", "row-major") "," REAL(
                                  "second", "of-second", "row-major")));
    gst_harness_teardown(harness);
    for (guint i = 0; i < G_N_ELEMENTS(models); i++) {
        g_autofree gchar *beside = g_strconcat(models[i], ".modelinfo", NULL);

        g_unlink(beside);
        g_unlink(models[i]);
    }
}
GST_END_TEST;

/* GStreamer's bin finds the decoder by the caps alone. */
GST_START_TEST(decoder_by_caps)
{
    g_autofree gchar *model = write_detector();
    g_autofree gchar *beside = g_strconcat(model, ".modelinfo", NULL);
    g_autofree gchar *line =
        g_strdup_printf("tdlinference model-file=%s ! tensordecodebin", model);
    GstAnalyticsODMtd object;
    gpointer state = NULL;
    GstHarness *harness;
    GstBuffer *frame;

    if (!has_element("tensordecodebin")) {
        g_unlink(model);
        return;
    }
    fail_unless(g_file_set_contents(beside, ssd_decoders[0].sidecar, -1, NULL));
    harness = start_line(line);
    frame = pass(harness, 0);
    fail_unless(gst_analytics_relation_meta_iterate(
                    gst_buffer_get_analytics_relation_meta(frame), &state,
                    gst_analytics_od_mtd_get_mtd_type(), &object),
                "nothing was decoded");
    gst_buffer_unref(frame);
    gst_harness_teardown(harness);
    g_unlink(beside);
    g_unlink(model);
}
GST_END_TEST;

/* ----------------------------------------------------------------------- errors */

/* A model without a mask is for tensors alone. */
GST_START_TEST(no_mask)
{
    static const char *const lines[] = { "mode=overlay meta=tensors",
                                         "mode=passthrough meta=segmentation-tensors",
                                         "mode=passthrough meta=tensors presence=true" };
    static const char *const words[] = { "does not fit", NULL };
    g_autofree gchar *model = write_outputs(1);
    GstElement *element = gst_element_factory_make("tdlfilter", NULL);
    GstBus *bus = gst_bus_new();
    gchar **properties = g_strsplit(lines[__i__], " ", -1);

    for (guint i = 0; properties[i]; i++) {
        g_auto(GStrv) sides = g_strsplit(properties[i], "=", 2);

        gst_util_set_object_arg(G_OBJECT(element), sides[0], sides[1]);
    }
    g_object_set(element, "model", model, NULL);
    gst_element_set_bus(element, bus);
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
    g_strfreev(properties);
    g_unlink(model);
}
GST_END_TEST;

static Suite *tensors_suite(void)
{
    Suite *suite = suite_create("tensors");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, all_outputs);
    tcase_add_test(tcase, ids_of_the_sidecar);
    tcase_add_loop_test(tcase, beside_a_mask, 0, 4);
    tcase_add_test(tcase, with_a_state);
    tcase_add_loop_test(tcase, on_every_frame, 0, 2);
    tcase_add_test(tcase, live);
    tcase_add_test(tcase, kept);
    tcase_add_test(tcase, inference);
    tcase_add_test(tcase, inference_of_another);
    tcase_add_loop_test(tcase, decoded, 0, G_N_ELEMENTS(colors));
    tcase_add_loop_test(tcase, boxes_in_the_frame, 0, G_N_ELEMENTS(box_kinds));
    tcase_add_test(tcase, boxes_of_other_frames);
    tcase_add_loop_test(tcase, queries_decoded, 0, 2);
    tcase_add_test(tcase, queries_of_another_shape);
    tcase_add_test(tcase, some_outputs);
    tcase_add_test(tcase, names_of_others);
    tcase_add_test(tcase, own_names);
    tcase_add_loop_test(tcase, told_in_caps, 0, 2);
    tcase_add_test(tcase, two_in_a_row);
    tcase_add_test(tcase, decoder_by_caps);
    tcase_add_loop_test(tcase, no_mask, 0, 3);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, tensors_suite(), "tensors");
}

#else

int main(void)
{
    g_print("skipped: tdlfilter is built without gstreamer-analytics-1.0 >= 1.26\n");
    return 77;
}

#endif
