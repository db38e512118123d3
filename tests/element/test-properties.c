/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptions of properties, controllers on them, and notifications of paths. */
#include "util.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

/* ------------------------------------------------------------- of themselves */

GST_START_TEST(defaults)
{
    static const struct {
        const char *name, *value;
    } rows[] = { { "model", "person" }, { "device", "auto" }, { "background", "" } };
    GstElement *element = gst_object_ref_sink(gst_element_factory_make("tdlfilter", NULL));

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        GParamSpec *spec =
            g_object_class_find_property(G_OBJECT_GET_CLASS(element), rows[i].name);
        g_autofree gchar *value = NULL;

        g_object_get(element, rows[i].name, &value, NULL);
        fail_unless_equals_string(value, rows[i].value);
        fail_unless_equals_string(G_PARAM_SPEC_STRING(spec)->default_value, rows[i].value);
    }
    gst_object_unref(element);
}
GST_END_TEST;

/* Properties of the picture's look can be controlled over time. */
GST_START_TEST(controllable)
{
    static const char yes[] =
        " mode background-color overlay-color opacity blur-radius blur-share threshold feather "
        "smoothing refine despill light-wrap invert interval ";
    static const char no[] = " model device precision fuse classes background latency-mode "
                             "require-zero-copy fail-closed batch-size batch-timeout presence "
                             "presence-share presence-delay meta roi max-interval max-rate "
                             "import-path export-path stats ";
    GstElement *element = gst_object_ref_sink(gst_element_factory_make("tdlfilter", NULL));
    GParamSpec **specs;
    guint count, seen = 0;

    specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    for (guint i = 0; i < count; i++) {
        g_autofree gchar *word = g_strdup_printf(" %s ", specs[i]->name);
        gboolean is = (specs[i]->flags & GST_PARAM_CONTROLLABLE) != 0;

        seen += strstr(yes, word) != NULL;
        fail_if(is && strstr(no, word), "%s is controllable", specs[i]->name);
        fail_if(!is && strstr(yes, word), "%s is not controllable", specs[i]->name);
    }
    fail_unless_equals_int(seen, 14);
    g_free(specs);
    gst_object_unref(element);
}
GST_END_TEST;

/* --------------------------------------------------------------- controllers */

/* `first` up to one second, `then` from there on: shares of the range, or with
 * `absolute` values. */
static void control(struct filter *filter, const char *name, gdouble first, gdouble then,
                    gboolean absolute)
{
    GstControlSource *source = gst_interpolation_control_source_new();
    GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE(source);
    GstObject *object = GST_OBJECT(filter->element);

    g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
    gst_timed_value_control_source_set(values, 0, first);
    gst_timed_value_control_source_set(values, GST_SECOND, then);
    gst_object_add_control_binding(
        object, absolute ? gst_direct_control_binding_new_absolute(object, name, source)
                         : gst_direct_control_binding_new(object, name, source));
    gst_object_unref(source);
}

static GstBuffer *run_at(struct filter *filter, const char *caps, GstClockTime time)
{
    GstVideoInfo info;
    GstBuffer *input;

    caps_info(caps, &info);
    input = picture_new_color(&info, 0xff406080);
    GST_BUFFER_PTS(input) = time;
    return filter_run(filter, input);
}

/* 0xRRGGBB of the first pixel; takes the buffer. */
static guint color_of(GstBuffer *buffer)
{
    guint8 p[3];

    gst_buffer_extract(buffer, 0, p, sizeof(p));
    gst_buffer_unref(buffer);
    return p[0] << 16 | p[1] << 8 | p[2];
}

GST_START_TEST(controlled_mode)
{
    struct filter filter;

    filter_start(&filter, "opacity=0 background-color=0xffff0000", CAPS);
    filter_all_background(&filter);
    control(&filter, "mode", 1.5 / 7, 3.5 / 7, FALSE); /* the second and the fourth of eight */
    fail_unless_equals_int(color_of(run_at(&filter, CAPS, 0)), 0x406080);
    fail_unless_equals_int(color_of(run_at(&filter, CAPS, GST_SECOND)), 0xff0000);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(controlled_booleans)
{
    struct filter filter;

    filter_start(&filter, "mode=replace background-color=0xffff0000", CAPS);
    filter_all_background(&filter);
    control(&filter, "invert", 0, 1, FALSE);
    control(&filter, "refine", 0, 1, FALSE);
    fail_unless_equals_int(color_of(run_at(&filter, CAPS, 0)), 0xff0000);
    fail_unless_equals_int(color_of(run_at(&filter, CAPS, GST_SECOND)), 0x406080);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(controlled_interval)
{
    struct filter filter;

    filter_start(&filter, "", CAPS);
    control(&filter, "interval", 3, 3, TRUE);
    for (guint i = 0; i < 10; i++)
        gst_buffer_unref(run_at(&filter, CAPS, i * GST_SECOND / 30));
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), 4); /* 0, 3, 6, 9 */
    filter_stop(&filter);
}
GST_END_TEST;

static GstPadProbeReturn count_allocations(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    (void)pad;
    if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION)
        (*(guint *)data)++;
    return GST_PAD_PROBE_OK;
}

/* A controller sets the mode for every frame; only a change negotiates anew. */
GST_START_TEST(same_mode_negotiates_once)
{
    struct filter filter;
    guint count = 0;

    filter_start(&filter, "", NULL);
    gst_pad_add_probe(filter.harness->sinkpad,
                      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH,
                      count_allocations, &count, NULL);
    gst_harness_set_src_caps_str(filter.harness, CAPS);
    for (guint i = 0; i < 4; i++) {
        gst_util_set_object_arg(G_OBJECT(filter.element), "mode", i < 3 ? "overlay" : "blur");
        gst_buffer_unref(run_at(&filter, CAPS, i * GST_SECOND / 30));
    }
    fail_unless_equals_int(count, 2);
    filter_stop(&filter);
}
GST_END_TEST;

/* ---------------------------------------------------------------------- paths */

static void on_notify(GObject *object, GParamSpec *spec, gpointer data)
{
    g_autofree gchar *value = NULL;

    g_object_get(object, spec->name, &value, NULL);
    g_string_append_printf(data, "%s=%s ", spec->name, value);
}

GST_START_TEST(paths_are_told)
{
    g_autoptr(GString) told = g_string_new(NULL);
    GstElement *element;
    struct filter filter;
    const char *expected;

    filter_start(&filter, "mode=passthrough", CAPS);
    element = filter.element;
    g_signal_connect(element, "notify::import-path", G_CALLBACK(on_notify), told);
    g_signal_connect(element, "notify::export-path", G_CALLBACK(on_notify), told);
    gst_util_set_object_arg(G_OBJECT(element), "mode", "blur");
    for (guint i = 0; i < 3; i++)
        gst_buffer_unref(run_at(&filter, CAPS, i * GST_SECOND / 30));
    /* Plain memory comes by its address, or is copied where the device cannot. */
    expected = strstr(told->str, "host-pointer") ? "export-path=pool import-path=host-pointer "
                                                 : "export-path=pool import-path=copy ";
    fail_unless_equals_string(told->str, expected);
    g_string_truncate(told, 0);
    gst_util_set_object_arg(G_OBJECT(element), "mode", "passthrough");
    for (guint i = 3; i < 6; i++)
        gst_buffer_unref(run_at(&filter, CAPS, i * GST_SECOND / 30));
    fail_unless_equals_string(told->str, "import-path=passthrough export-path=passthrough ");
    filter_stop(&filter);
}
GST_END_TEST;

static gint pool_warnings;

static void on_log(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                   const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                   gpointer data)
{
    (void)file, (void)function, (void)line, (void)object, (void)message, (void)data;
    if (level <= GST_LEVEL_WARNING && !strcmp(gst_debug_category_get_name(category), "videopool"))
        g_atomic_int_inc(&pool_warnings);
}

/* GStreamer finds nothing to mend in how our pools are set up. */
GST_START_TEST(pools_are_quiet)
{
    GstElement *pipeline;

    gst_debug_add_log_function(on_log, NULL, NULL);
    pipeline = gst_parse_launch("videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=100,"
                                "height=50 ! tdlfilter ! videoconvert ! fakesink", NULL);
    gst_object_unref(gst_video_buffer_pool_new()); /* makes the category */
    gst_debug_set_threshold_for_name("videopool", GST_LEVEL_WARNING);
    pipeline_play_to_end(pipeline);
    fail_unless_equals_int(pool_warnings, 0);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    gst_debug_remove_log_function(on_log);
}
GST_END_TEST;

/* A property that decides how the network is compiled waits for the next start, and says so. */
GST_START_TEST(taken_at_start)
{
    static const gchar *const names[] = { "device", "threads", "precision", "fuse" };
    GstElement *pipeline =
        gst_parse_launch("videotestsrc ! tdlfilter name=filter ! fakesink sync=true", NULL);
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);

    g_object_set(filter, "threads", 1, "fuse", TRUE, NULL);
    fail_unless(!gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING));
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int(gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                           GST_STATE_CHANGE_SUCCESS);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree gchar *named = g_strdup_printf("\"%s\" is taken when", names[i]);
        GstMessage *message;

        gst_util_set_object_arg(G_OBJECT(filter), names[i], i == 0 ? "cpu" : "1");
        message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
        fail_unless(message != NULL, "%s", names[i]);
        gst_message_parse_warning(message, &error, NULL);
        fail_unless(g_str_has_prefix(error->message, named), "%s", error->message);
        gst_message_unref(message);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(filter);
    gst_object_unref(pipeline);
}
GST_END_TEST;

static GstBusSyncReply count_progress(GstBus *bus, GstMessage *message, gpointer data)
{
    (void)bus;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS)
        g_atomic_int_inc((gint *)data);
    return GST_BUS_PASS;
}

/* The bus hears of compiling where kernels are compiled. */
GST_START_TEST(cpu_compiles_nothing)
{
    GstElement *pipeline =
        gst_parse_launch("videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=100,"
                         "height=50 ! tdlfilter device=cpu ! fakesink", NULL);
    GstBus *bus = gst_element_get_bus(pipeline);
    gint messages = 0;

    gst_bus_set_sync_handler(bus, count_progress, &messages, NULL);
    pipeline_play_to_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    fail_unless_equals_int(g_atomic_int_get(&messages), 0);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
}
GST_END_TEST;

/* ------------------------------------------------------------------- values */

/* "Lower takes in more", to the end: the network is nowhere less sure than 0. */
GST_START_TEST(threshold_of_zero)
{
    struct filter filter;
    GstBuffer *output;
    GstMapInfo map;

    filter_start(&filter, "mode=mask threshold=0 feather=0", CAPS);
    g_object_set(filter.element, "refine", __i__ == 1, NULL);
    output = run_at(&filter, CAPS, 0);
    fail_unless(gst_buffer_map(output, &map, GST_MAP_READ));
    for (gsize i = 0; i < map.size; i++)
        fail_unless(map.data[i] == 255, "pixel %u is %u", (guint)i, map.data[i]);
    gst_buffer_unmap(output, &map);
    gst_buffer_unref(output);
    filter_stop(&filter);
}
GST_END_TEST;

/* The share of the height is the same blur as its number of pixels. */
GST_START_TEST(blur_share)
{
    static const char *const blurs[] = { "blur-radius=6", "blur-share=0.125 blur-radius=40" };
    GstBuffer *outputs[2];
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    for (guint i = 0; i < 2; i++) {
        g_autofree gchar *line = g_strdup_printf("mode=blur %s", blurs[i]);

        filter_start(&filter, line, CAPS);
        filter_all_background(&filter);
        outputs[i] = filter_run(&filter, picture_new(&info, 0));
        filter_stop(&filter);
    }
    picture_compare(outputs[0], outputs[1], &info, 0, "an eighth of 48 px");
    gst_buffer_unref(outputs[0]);
    gst_buffer_unref(outputs[1]);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("properties");
    TCase *tc = tcase_create("properties");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, defaults);
    tcase_add_test(tc, controllable);
    tcase_add_test(tc, controlled_mode);
    tcase_add_test(tc, controlled_booleans);
    tcase_add_test(tc, controlled_interval);
    tcase_add_test(tc, same_mode_negotiates_once);
    tcase_add_test(tc, paths_are_told);
    tcase_add_test(tc, pools_are_quiet);
    tcase_add_test(tc, taken_at_start);
    tcase_add_test(tc, cpu_compiles_nothing);
    tcase_add_loop_test(tc, threshold_of_zero, 0, 2);
    tcase_add_test(tc, blur_share);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "properties");
}
