/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* device=auto as an element does it: on a device that is to be measured, be it a pretended one
 * (tests/profiles), the first start measures, and the second one knows. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <glib/gstdio.h>
#include <string.h>
#include <tdl/tdl.h>

/* The sentence of the message about the choice; NULL: there was none. */
static gchar *pop_sentence(GstBus *bus)
{
    gchar *text = NULL;
    GstMessage *message;

    while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)) != NULL) {
        const GstStructure *told = gst_message_get_structure(message);

        if (gst_structure_has_name(told, "tdl-device")) {
            g_free(text);
            text = g_strdup(gst_structure_get_string(told, "text"));
        }
        gst_message_unref(message);
    }
    return text;
}

static GstStructure *run_element(const gchar *device, gchar **out_sentence)
{
    GstElement *element = gst_element_factory_make("tdlfilter", NULL);
    GstBus *bus = gst_bus_new();
    GstStructure *stats = NULL;
    GstBuffer *buffer;
    GstHarness *h;

    fail_unless(element != NULL, "no tdlfilter");
    gst_element_set_bus(element, bus);
    g_object_set(element, "device", device, NULL); /* taken when it starts */
    h = gst_harness_new_with_element(element, "sink", "src");
    gst_object_unref(element);
    gst_harness_set_src_caps_str(h, "video/x-raw,format=RGBA,width=64,height=48,framerate=30/1");
    buffer = gst_harness_create_buffer(h, 64 * 48 * 4);
    gst_buffer_memset(buffer, 0, 90, 64 * 48 * 4);
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
    g_object_get(h->element, "stats", &stats, NULL);
    *out_sentence = pop_sentence(bus);
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(h);
    return stats;
}

static guint64 number(const GstStructure *stats, const gchar *name)
{
    guint64 value = G_MAXUINT64;

    fail_unless(gst_structure_get_uint64(stats, name, &value), "no %s", name);
    return value;
}

GST_START_TEST(test_element)
{
    const struct tdl_auto_params params = { .model = "any" };
    g_autofree gchar *sentence = NULL;
    const gchar *reason;
    GstStructure *stats;
    struct tdl_auto found;

    fail_unless_equals_int(tdl_auto_find(&params, &found), TDL_OK);
    stats = run_element("cpu", &sentence);
    fail_unless(!sentence, "of what was not chosen: %s", sentence);
    fail_unless_equals_string(gst_structure_get_string(stats, "device-reason"), "");
    fail_unless_equals_uint64(number(stats, "auto-gpu-ns"), 0);
    gst_structure_free(stats);
    if (!found.measures) {
        g_print("not run: nothing is measured on this machine's devices\n");
        return;
    }
    stats = run_element("auto", &sentence);
    fail_unless(sentence && g_str_has_prefix(sentence, "device=auto takes the "), "%s", sentence);
    g_clear_pointer(&sentence, g_free);
    reason = gst_structure_get_string(stats, "device-reason");
    /* With sanitizers, or on a busy machine, a run may take longer than the start waits. */
    if (!strcmp(reason, "slow")) {
        fail_unless(strcmp(gst_structure_get_string(stats, "device"), found.name) != 0,
                    "a slow GPU was taken");
        gst_structure_free(stats);
        g_print("not run: what a second start knows, as the GPU was too slow to be measured\n");
        return;
    }
    fail_unless(!strcmp(reason, "measured") || !strcmp(reason, "timing"), "\"%s\"", reason);
    fail_unless(!strcmp(reason, "timing") || (number(stats, "auto-gpu-ns") > 0 &&
                                             number(stats, "auto-cpu-ns") > 0));
    gst_structure_free(stats);
    stats = run_element("auto", &sentence);
    reason = gst_structure_get_string(stats, "device-reason");
    fail_unless_equals_string(reason, "kept");
    fail_unless(number(stats, "auto-gpu-ns") > 0 && number(stats, "auto-cpu-ns") > 0);
    fail_unless_equals_int(
        tdl_auto_prefers_cpu(number(stats, "auto-gpu-ns"), number(stats, "auto-cpu-ns")),
        strcmp(gst_structure_get_string(stats, "device"), found.name) != 0);
    fail_unless(sentence && strstr(sentence, "as measured before: a run takes "), "%s", sentence);
    fail_unless(strstr(sentence, strcmp(gst_structure_get_string(stats, "device"), found.name)
                                     ? "takes the CPU"
                                     : "takes the GPU") != NULL,
                "%s", sentence);
    gst_structure_free(stats);
}
GST_END_TEST;

/* Kernels that were compiled before stay: what was measured before does not. */
static void forget(void)
{
    g_autofree gchar *folder = g_build_filename(g_get_user_cache_dir(), "tdl", NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const gchar *name;

    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree gchar *path = g_build_filename(folder, name, NULL);

        if (g_str_has_prefix(name, "auto-"))
            g_unlink(path);
    }
    g_clear_pointer(&dir, g_dir_close);
    g_unsetenv("TDL_DEVICE");
}

static Suite *measured_suite(void)
{
    Suite *suite = suite_create("measured");
    TCase *cases = tcase_create("element");

    tcase_set_timeout(cases, 600);
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, forget, NULL);
    tcase_add_test(cases, test_element);
    return suite;
}

GST_CHECK_MAIN(measured);
