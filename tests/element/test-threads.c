/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that the system does not give: from the first on, or from a later one on, until all
 * are there. Each time the element works or says what is missing; the program goes on. */
#include "util.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"
#define MOST 64 /* most threads that the element may ask for */

static gint asked;          /* since refuse_from() */
static gint allowed = MOST; /* number of threads that can be made; others are refused */

/* Seen by all of the process, as its symbols come first. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *data)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (!create)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return g_atomic_int_add(&asked, 1) < g_atomic_int_get(&allowed)
               ? create(thread, attr, run, data)
               : EAGAIN;
}

static void refuse_from(gint number)
{
    g_atomic_int_set(&asked, 0);
    g_atomic_int_set(&allowed, number);
}

/* From NULL to a frame. FALSE: there was none, and an error that says what to do. */
static gboolean tries(const char *line, gint threads)
{
    GstElement *element = gst_object_ref_sink(gst_parse_launch(line, NULL));
    GstBus *bus = gst_bus_new();
    GstHarness *harness = NULL;
    GstMessage *message;
    GstVideoInfo info;
    gboolean frame = FALSE;
    GstBuffer *out;

    caps_info(CAPS, &info);
    gst_element_set_bus(element, bus);
    refuse_from(threads);
    if (gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE) {
        harness = gst_harness_new_with_element(element, "sink", "src");
        gst_harness_set_src_caps_str(harness, CAPS);
        gst_harness_push(harness, picture_new(&info, 0));
        out = gst_harness_try_pull(harness);
        frame = out != NULL;
        gst_clear_buffer(&out);
    }
    refuse_from(MOST);
    message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    fail_unless(frame == (message == NULL), "%d threads, %s: %s", threads, line,
                frame ? "a frame and an error" : "neither frame nor error");
    if (message) {
        g_autoptr(GError) error = NULL;

        gst_message_parse_error(message, &error, NULL);
        fail_unless(strstr(error->message, "thread") && strstr(error->message, "ulimit -u"),
                    "%d threads: %s", threads, error->message);
        gst_message_unref(message);
    }
    gst_element_set_bus(element, NULL);
    if (harness)
        gst_harness_teardown(harness);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
    gst_bus_set_flushing(bus, TRUE);
    gst_object_unref(bus);
    return frame;
}

static const char *const lines[] = {
    "tdlfilter mode=blur",
    "tdlfilter mode=blur latency-mode=freshest batch-size=0",
};

GST_START_TEST(none_left)
{
    gint threads = 0;

    while (threads < MOST && !tries(lines[__i__], threads))
        threads++;
    fail_unless(threads > 0 && threads < MOST, "%d threads", threads);
}
GST_END_TEST;

int main(int argc, char **argv)
{
    Suite *s = suite_create("threads");
    TCase *tc = tcase_create("threads");

    tcase_add_loop_test(tc, none_left, 0, G_N_ELEMENTS(lines));
    suite_add_tcase(s, tc);
    return util_main(argc, argv, s, "threads");
}
