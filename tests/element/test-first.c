/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first start, which loads or compiles for long: the state changes meanwhile, the bus
 * hears how far it is, and it can be stopped.
 *
 * The plugin's calls to Vulkan and to open() find those of this program first, where the
 * network's kernels, or the model's file, wait at a gate. */
#include "util.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <vulkan/vulkan.h>

/* --------------------------------------------------------------------- gate */

static struct {
    GMutex lock;
    GCond changed;
    gboolean open;
    guint came, passed; /* kernels */
    guint permits;      /* to pass while it is closed */
    VkResult result;    /* result of kernels that compile */
} gate;

/* Threads of the engine have the name of the one that began them. */
static gboolean is_gated(void)
{
    char name[16] = "";

    prctl(PR_GET_NAME, name);
    return !g_strcmp0(name, "tdl-compile");
}

static VkResult pass_gate(void)
{
    VkResult result;

    g_mutex_lock(&gate.lock);
    gate.came++;
    g_cond_broadcast(&gate.changed);
    while (!gate.open && !gate.permits)
        g_cond_wait(&gate.changed, &gate.lock);
    if (!gate.open)
        gate.permits--;
    gate.passed++;
    result = gate.result;
    g_cond_broadcast(&gate.changed);
    g_mutex_unlock(&gate.lock);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateComputePipelines(VkDevice device, VkPipelineCache cache,
                                                        uint32_t count,
                                                        const VkComputePipelineCreateInfo *infos,
                                                        const VkAllocationCallbacks *callbacks,
                                                        VkPipeline *out)
{
    PFN_vkCreateComputePipelines next =
        (PFN_vkCreateComputePipelines)dlsym(RTLD_NEXT, "vkCreateComputePipelines");
    VkResult result = is_gated() ? pass_gate() : VK_SUCCESS;

    return result ? result : next(device, cache, count, infos, callbacks, out);
}

/* The next model's file is to wait until it is released, and may have gone then. */
static gint hold_next, held, released, missing;

static int open_when_released(const char *path, int flags, mode_t mode)
{
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");

    if (g_str_has_suffix(path, ".tflite") && is_gated() &&
        g_atomic_int_compare_and_exchange(&hold_next, TRUE, FALSE)) {
        g_atomic_int_set(&held, TRUE);
        while (!g_atomic_int_get(&released))
            g_usleep(1000);
        if (missing) {
            errno = ENOENT;
            return -1;
        }
    }
    return next(path, flags, mode);
}

/* The name for large files is what the headers make of it. */
int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_when_released(path, flags, mode);
}

static void gate_set(gboolean open, VkResult result)
{
    g_mutex_lock(&gate.lock);
    gate.open = open;
    gate.result = result;
    gate.came = gate.passed = gate.permits = 0;
    g_cond_broadcast(&gate.changed);
    g_mutex_unlock(&gate.lock);
}

static void gate_open(void)
{
    g_mutex_lock(&gate.lock);
    gate.open = TRUE;
    g_cond_broadcast(&gate.changed);
    g_mutex_unlock(&gate.lock);
}

/* Until more than `before` have come. */
static void gate_wait(guint before)
{
    g_mutex_lock(&gate.lock);
    while (gate.came <= before)
        g_cond_wait(&gate.changed, &gate.lock);
    g_mutex_unlock(&gate.lock);
}

/* Let pass who has come. How many have since the gate was set. */
static guint gate_let_pass(void)
{
    guint came;

    g_mutex_lock(&gate.lock);
    came = gate.came;
    gate.permits = gate.came - gate.passed;
    g_cond_broadcast(&gate.changed);
    g_mutex_unlock(&gate.lock);
    return came;
}

static guint gate_passed(void)
{
    guint passed;

    g_mutex_lock(&gate.lock);
    passed = gate.passed;
    g_mutex_unlock(&gate.lock);
    return passed;
}

/* ------------------------------------------------------------------ messages */

#define SOURCE "videotestsrc num-buffers=3 ! video/x-raw,format=RGB,width=64,height=48 ! "

struct run {
    GstElement *pipeline;
    GstBus *bus;
};

static struct run run_new(const char *description)
{
    struct run run = { .pipeline = gst_parse_launch(description, NULL) };

    fail_unless(run.pipeline != NULL);
    run.bus = gst_element_get_bus(run.pipeline);
    return run;
}

static void run_free(struct run *run)
{
    fail_unless_equals_int(gst_element_set_state(run->pipeline, GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
    gst_object_unref(run->bus);
    gst_object_unref(run->pipeline);
}

static GstProgressType parse(GstMessage *message, gint *percent, gchar **text)
{
    GstProgressType type;
    g_autofree gchar *code = NULL, *own = NULL;

    gst_message_parse_progress(message, &type, &code, &own);
    fail_unless_equals_string(code, "compile");
    fail_unless(gst_structure_get_int(gst_message_get_structure(message), "percent", percent));
    if (text)
        *text = g_steal_pointer(&own);
    return type;
}

/* Wait for the next one that `name` posts. */
static GstMessage *next_progress(struct run *run, const char *name)
{
    for (;;) {
        GstMessage *message = gst_bus_timed_pop_filtered(
            run->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_PROGRESS | GST_MESSAGE_ERROR);

        fail_unless(GST_MESSAGE_TYPE(message) == GST_MESSAGE_PROGRESS, "an error");
        if (!g_strcmp0(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), name))
            return message;
        gst_message_unref(message);
    }
}

static void expect_next(struct run *run, const char *name, GstProgressType expected)
{
    GstMessage *message = next_progress(run, name);
    gint percent;

    fail_unless_equals_int(parse(message, &percent, NULL), expected);
    gst_message_unref(message);
}

/* From the one after START on: CONTINUE, ever nearer, then `last`. */
static void expect_rest(struct run *run, const char *name, GstProgressType last)
{
    gint before = 0, percent = 0;

    for (;;) {
        GstMessage *message = next_progress(run, name);
        GstProgressType type = parse(message, &percent, NULL);

        gst_message_unref(message);
        if (type != GST_PROGRESS_TYPE_CONTINUE) {
            fail_unless_equals_int(type, last);
            break;
        }
        fail_unless(percent >= before && percent < 100, "%d %% after %d %%", percent, before);
        before = percent;
    }
    fail_unless_equals_int(percent, last == GST_PROGRESS_TYPE_COMPLETE ? 100 : 0);
}

/* To PAUSED with the gate closed: the first kernels have come there. */
static void pause_at_gate(struct run *run)
{
    gate_set(FALSE, VK_SUCCESS);
    fail_unless_equals_int(gst_element_set_state(run->pipeline, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_ASYNC);
    gate_wait(0);
}

/* -------------------------------------------------------------------- tests */

GST_START_TEST(paused_meanwhile)
{
    struct run run = run_new(SOURCE "tdlfilter name=filter ! fakesink");

    pause_at_gate(&run);
    fail_unless_equals_int(gate_passed(), 0);
    expect_next(&run, "filter", GST_PROGRESS_TYPE_START);
    fail_unless_equals_int(gst_element_get_state(run.pipeline, NULL, NULL, 0),
                           GST_STATE_CHANGE_ASYNC);
    gate_open();
    fail_unless_equals_int(gst_element_get_state(run.pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(gate_passed() > 20, "%u kernels", gate_passed());
    expect_rest(&run, "filter", GST_PROGRESS_TYPE_COMPLETE);
    pipeline_play_to_end(run.pipeline);
    run_free(&run);
}
GST_END_TEST;

/* Progress is reported, with numbers. */
GST_START_TEST(goes_on)
{
    struct run run = run_new(SOURCE "tdlfilter name=filter ! fakesink");
    g_autofree gchar *text = NULL;
    GstMessage *message = NULL;
    guint came = 0, done, total;
    gint percent;

    pause_at_gate(&run);
    expect_next(&run, "filter", GST_PROGRESS_TYPE_START);
    while (!message) {
        g_usleep(G_USEC_PER_SEC / 50); /* messages come no more often than people can read */
        came = gate_let_pass();
        gate_wait(came);
        message = gst_bus_pop_filtered(run.bus, GST_MESSAGE_PROGRESS);
    }
    fail_unless_equals_int(parse(message, &percent, &text), GST_PROGRESS_TYPE_CONTINUE);
    gst_message_unref(message);
    fail_unless(sscanf(text, "Compiling kernels: %u of %u", &done, &total) == 2, "%s", text);
    fail_unless(done > 0 && done <= came && total > came && percent == (gint)(done * 100 / total),
                "%s at %d %%, %u passed", text, percent, came);
    gate_open();
    expect_rest(&run, "filter", GST_PROGRESS_TYPE_COMPLETE);
    run_free(&run);
}
GST_END_TEST;

static gpointer go_down(gpointer pipeline)
{
    return GINT_TO_POINTER(gst_element_set_state(pipeline, GST_STATE_READY));
}

/* Until the filter has begun to go down. */
static void wait_for_inactive(struct run *run, const char *name)
{
    GstElement *filter = gst_bin_get_by_name(GST_BIN(run->pipeline), name);
    GstPad *pad = gst_element_get_static_pad(filter, "src");

    while (!GST_PAD_IS_FLUSHING(pad))
        g_usleep(1000);
    gst_object_unref(pad);
    gst_object_unref(filter);
}

/* Stop the pipeline; no kernel but those at the gate are compiled. */
static void stop_at_gate(struct run *run)
{
    GThread *thread = g_thread_new("state", go_down, run->pipeline);
    guint came;

    wait_for_inactive(run, "filter");
    came = gate_let_pass();
    fail_unless_equals_int(GPOINTER_TO_INT(g_thread_join(thread)), GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int(gate_passed(), came);
}

GST_START_TEST(stopped)
{
    struct run run = run_new(SOURCE "tdlfilter name=filter ! fakesink");

    pause_at_gate(&run);
    expect_next(&run, "filter", GST_PROGRESS_TYPE_START);
    stop_at_gate(&run);
    expect_rest(&run, "filter", GST_PROGRESS_TYPE_CANCELED);
    fail_unless(gst_bus_pop_filtered(run.bus, GST_MESSAGE_ERROR) == NULL);
    gate_set(TRUE, VK_SUCCESS); /* and up again */
    pipeline_play_to_end(run.pipeline);
    run_free(&run);
}
GST_END_TEST;

/* Stopped by NULL, before anything came to it. */
GST_START_TEST(stopped_at_once)
{
    gate_set(TRUE, VK_SUCCESS);
    for (guint i = 0; i < 5; i++) {
        GstElement *filter = gst_object_ref_sink(gst_element_factory_make("tdlfilter", NULL));

        fail_unless_equals_int(gst_element_set_state(filter, GST_STATE_PAUSED),
                               GST_STATE_CHANGE_SUCCESS);
        fail_unless_equals_int(gst_element_set_state(filter, GST_STATE_NULL),
                               GST_STATE_CHANGE_SUCCESS);
        gst_object_unref(filter);
    }
}
GST_END_TEST;

static GstFlowReturn pushed;
static gint arrived;

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    (void)pad;
    (void)info;
    (void)data;
    g_atomic_int_set(&arrived, TRUE);
    return GST_PAD_PROBE_REMOVE;
}

static gpointer push(gpointer data)
{
    struct filter *filter = data;
    GstVideoInfo info;

    caps_info("video/x-raw,format=RGB,width=64,height=48,framerate=30/1", &info);
    pushed = gst_harness_push(filter->harness, picture_new(&info, 0));
    return NULL;
}

/* A seek does not wait for the kernels, and does not stop them. */
GST_START_TEST(flushed)
{
    struct filter filter;
    GThread *thread;
    GstPad *pad;

    gate_set(FALSE, VK_SUCCESS);
    filter_start(&filter, "", "video/x-raw,format=RGB,width=64,height=48,framerate=30/1");
    gate_wait(0);
    pad = gst_element_get_static_pad(filter.element, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, NULL, NULL);
    gst_object_unref(pad);
    thread = g_thread_new("push", push, &filter);
    while (!g_atomic_int_get(&arrived))
        g_usleep(1000);
    g_usleep(G_USEC_PER_SEC / 20); /* most likely it waits by now; otherwise it will not */
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_flush_start()));
    g_thread_join(thread);
    fail_unless_equals_int(pushed, GST_FLOW_FLUSHING);
    fail_unless_equals_int(gate_passed(), 0);
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_flush_stop(FALSE)));
    gate_open();
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(failed)
{
    struct run run = run_new(SOURCE "tdlfilter name=filter ! fakesink");
    g_autoptr(GError) error = NULL;
    GstMessage *message;

    pause_at_gate(&run);
    expect_next(&run, "filter", GST_PROGRESS_TYPE_START);
    g_mutex_lock(&gate.lock);
    gate.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    g_mutex_unlock(&gate.lock);
    gate_open();
    expect_rest(&run, "filter", GST_PROGRESS_TYPE_ERROR);
    message = gst_bus_timed_pop_filtered(run.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
    gst_message_parse_error(message, &error, NULL);
    fail_unless_equals_string(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "filter");
    fail_unless(strstr(error->message, "vkCreateComputePipelines") != NULL, "%s", error->message);
    gst_message_unref(message);
    fail_unless_equals_int(gst_element_get_state(run.pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                           GST_STATE_CHANGE_FAILURE);
    run_free(&run);
}
GST_END_TEST;

/* Two that want the same network: one compiles, both hear; when it is stopped
 * the other one goes on. */
GST_START_TEST(shared)
{
    struct run one = run_new(SOURCE "tdlfilter name=filter ! fakesink");
    struct run two = run_new(SOURCE "tdlfilter name=filter ! fakesink");
    guint came;

    pause_at_gate(&one);
    fail_unless_equals_int(gst_element_set_state(two.pipeline, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_ASYNC);
    expect_next(&one, "filter", GST_PROGRESS_TYPE_START);
    expect_next(&two, "filter", GST_PROGRESS_TYPE_START);
    came = gate_passed();
    fail_unless_equals_int(came, 0);
    stop_at_gate(&one);
    expect_rest(&one, "filter", GST_PROGRESS_TYPE_CANCELED);
    gate_wait(gate_passed());
    gate_open();
    expect_rest(&two, "filter", GST_PROGRESS_TYPE_COMPLETE);
    came = gate_passed();
    gst_element_set_state(one.pipeline, GST_STATE_PAUSED);
    expect_next(&one, "filter", GST_PROGRESS_TYPE_START);
    expect_rest(&one, "filter", GST_PROGRESS_TYPE_COMPLETE);
    pipeline_play_to_end(one.pipeline);
    pipeline_play_to_end(two.pipeline);
    fail_unless_equals_int(gate_passed(), came);
    run_free(&one);
    run_free(&two);
}
GST_END_TEST;

/* Another model while frames flow: the same messages. */
GST_START_TEST(switched)
{
    struct run run = run_new("videotestsrc ! video/x-raw,format=RGB,width=64,height=48 ! "
                             "tdlfilter name=filter ! fakesink sync=true");
    GstElement *filter = gst_bin_get_by_name(GST_BIN(run.pipeline), "filter");

    gate_set(TRUE, VK_SUCCESS);
    gst_element_set_state(run.pipeline, GST_STATE_PLAYING);
    expect_next(&run, "filter", GST_PROGRESS_TYPE_START);
    expect_rest(&run, "filter", GST_PROGRESS_TYPE_COMPLETE);
    g_object_set(filter, "model", "person-landscape", NULL);
    expect_next(&run, "filter", GST_PROGRESS_TYPE_START);
    expect_rest(&run, "filter", GST_PROGRESS_TYPE_COMPLETE);
    gst_object_unref(filter);
    run_free(&run);
}
GST_END_TEST;

/* To PAUSED while the model's file is held. */
static struct run pause_at_file(gboolean is_missing)
{
    g_autofree gchar *text = g_strdup_printf(
        SOURCE "tdlfilter name=filter model=%s/selfie_segmentation.tflite ! fakesink",
        g_getenv("TDL_TEST_MODELS"));
    struct run run = run_new(text);

    gate_set(TRUE, VK_SUCCESS);
    held = released = FALSE;
    missing = is_missing;
    g_atomic_int_set(&hold_next, TRUE);
    fail_unless_equals_int(gst_element_set_state(run.pipeline, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_ASYNC);
    fail_unless(g_atomic_int_get(&held), "nobody opened the model");
    return run;
}

/* State changes do not wait for a model that takes long to read. */
GST_START_TEST(loads_meanwhile)
{
    struct run run = pause_at_file(FALSE);

    g_atomic_int_set(&released, TRUE);
    pipeline_play_to_end(run.pipeline);
    run_free(&run);
}
GST_END_TEST;

/* … nor who stops it; what was read then is dropped. */
GST_START_TEST(stopped_while_it_loads)
{
    struct run run = pause_at_file(FALSE);
    GstElement *filter = gst_bin_get_by_name(GST_BIN(run.pipeline), "filter");
    GWeakRef left;

    g_weak_ref_init(&left, filter);
    fail_unless_equals_int(gst_element_set_state(run.pipeline, GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless(gst_bus_pop_filtered(run.bus, GST_MESSAGE_ERROR) == NULL);
    g_object_set(filter, "model", "person", NULL);
    gst_object_unref(filter);
    pipeline_play_to_end(run.pipeline); /* up again beside it */
    run_free(&run);
    filter = g_weak_ref_get(&left);
    fail_unless(filter != NULL, "the thread that loads has lost its element");
    gst_object_unref(filter);
    g_atomic_int_set(&released, TRUE);
    while ((filter = g_weak_ref_get(&left)) != NULL) {
        gst_object_unref(filter);
        g_usleep(1000);
    }
    g_weak_ref_clear(&left);
}
GST_END_TEST;

GST_START_TEST(fails_to_load)
{
    struct run run = pause_at_file(TRUE);
    GstMessage *message;

    g_atomic_int_set(&released, TRUE);
    message = gst_bus_timed_pop_filtered(run.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
    fail_unless_equals_string(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "filter");
    gst_message_unref(message);
    fail_unless_equals_int(gst_element_get_state(run.pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                           GST_STATE_CHANGE_FAILURE);
    run_free(&run);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("begin");
    TCase *tc = tcase_create("begin");

    tcase_set_timeout(tc, 300);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, paused_meanwhile);
    tcase_add_test(tc, goes_on);
    tcase_add_test(tc, stopped);
    tcase_add_test(tc, stopped_at_once);
    tcase_add_test(tc, flushed);
    tcase_add_test(tc, failed);
    tcase_add_test(tc, shared);
    tcase_add_test(tc, switched);
    tcase_add_test(tc, loads_meanwhile);
    tcase_add_test(tc, stopped_while_it_loads);
    tcase_add_test(tc, fails_to_load);
    return s;
}

int main(int argc, char **argv)
{
    return util_main(argc, argv, suite(), "begin");
}
