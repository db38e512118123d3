/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that is lost, or out of memory, in the middle of a stream: whoever
 * writes into our memory or reads it goes on, and the pipeline ends with what the
 * element has to say of it.
 *
 * The calls of the plugin to Vulkan find those of this program first. */
#include "util.h"

#include <tflite-writer.h>

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <stdatomic.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

/* ------------------------------------------------------------------- faults */

enum call { CALL_SUBMIT, CALL_WAIT, CALL_VALUE, CALL_ALLOCATE };

/* From the time when it is armed on, every such call fails. */
static struct {
    atomic_bool armed;
    enum call call;
    VkResult result;
    atomic_int struck;
} fault;

static void arm(enum call call, VkResult result)
{
    fault.call = call;
    fault.result = result;
    atomic_store(&fault.struck, 0);
    atomic_store(&fault.armed, TRUE);
}

static gboolean fails(enum call call)
{
    if (!atomic_load(&fault.armed) || call != fault.call)
        return FALSE;
    atomic_fetch_add(&fault.struck, 1);
    return TRUE;
}

static PFN_vkVoidFunction next(const char *name)
{
    return (PFN_vkVoidFunction)dlsym(RTLD_NEXT, name);
}

VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo *infos, VkFence fence)
{
    return fails(CALL_SUBMIT)
               ? fault.result
               : ((PFN_vkQueueSubmit)next("vkQueueSubmit"))(queue, count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                const VkAllocationCallbacks *callbacks,
                                                VkDeviceMemory *out)
{
    return fails(CALL_ALLOCATE)
               ? fault.result
               : ((PFN_vkAllocateMemory)next("vkAllocateMemory"))(device, info, callbacks, out);
}

/* The driver's own functions, which the engine asks for. */
static PFN_vkWaitSemaphores real_wait;
static PFN_vkGetSemaphoreCounterValue real_value;

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    return fails(CALL_WAIT) ? fault.result : real_wait(device, info, timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL counter_value(VkDevice device, VkSemaphore semaphore,
                                                    uint64_t *out)
{
    return fails(CALL_VALUE) ? fault.result : real_value(device, semaphore, out);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char *name)
{
    PFN_vkVoidFunction function =
        ((PFN_vkGetDeviceProcAddr)next("vkGetDeviceProcAddr"))(device, name);

    if (g_str_has_prefix(name, "vkWaitSemaphores")) {
        real_wait = (PFN_vkWaitSemaphores)function;
        return (PFN_vkVoidFunction)wait_semaphores;
    }
    if (g_str_has_prefix(name, "vkGetSemaphoreCounterValue")) {
        real_value = (PFN_vkGetSemaphoreCounterValue)function;
        return (PFN_vkVoidFunction)counter_value;
    }
    return function;
}

/* -------------------------------------------------------------------- model */

enum { CONV_2D = 3, LOGISTIC = 14, CONV_2D_OPTIONS = 1 };

/* [1,8,8,3] -> convolution 1x1 -> logistic -> [1,8,8,1]: what it sees is all the same. */
static gchar *write_model(void)
{
    static const float filter[3] = { 1, 1, 1 }, bias[1] = { 0 };
    const struct writer_model model = {
        .identifier = "TFL3",
        .version = 3,
        .subgraphs = 1,
        .tensor_count = 5,
        .tensors = { { "image", 0, 4, { 1, 8, 8, 3 } },
                     { "filter", 0, 4, { 1, 1, 1, 3 }, filter, sizeof(filter) },
                     { "bias", 0, 1, { 1 }, bias, sizeof(bias) },
                     { "conv", 0, 4, { 1, 8, 8, 1 } },
                     { "mask", 0, 4, { 1, 8, 8, 1 } } },
        .op_count = 2,
        .ops = { { .code = CONV_2D, .version = 1, .input_count = 3, .inputs = { 0, 1, 2 },
                   .output_count = 1, .outputs = { 3 }, .options_type = CONV_2D_OPTIONS,
                   .options = { { 1, 4, 1 }, { 2, 4, 1 } } },
                 { .code = LOGISTIC, .version = 1, .input_count = 1, .inputs = { 3 },
                   .output_count = 1, .outputs = { 4 } } },
        .input_count = 1,
        .inputs = { 0 },
        .output_count = 1,
        .outputs = { 4 },
    };
    size_t size;
    uint8_t *data = write_tflite(&model, &size);
    gchar *path;
    gint fd = g_file_open_tmp("tdl-test-XXXXXX", &path, NULL);

    fail_unless(fd >= 0 && write(fd, data, size) == (gssize)size);
    close(fd);
    free(data);
    return path;
}

/* ---------------------------------------------------------------- pipelines */

#define SOURCE "videotestsrc name=source num-buffers=%d %s ! " \
               "video/x-raw,format=NV12,width=64,height=48 ! "
#define FILTER "tdlfilter name=filter model=%s"
#define SINK "fakesink name=sink signal-handoffs=true"

struct run {
    GstElement *pipeline;
    GstBus *bus;
    gint frames; /* until the fault */
    enum call call;
    VkResult result;
    gboolean ask;    /* map that frame, to have the device asked at once */
    gboolean mapped; /* TRUE if the frame could be mapped */
    GPtrArray *kept; /* or NULL: buffers that do not go back to their pool */
    gboolean looks;  /* at every frame: whether anything is seen in it */
};

/* Frames must be background only: one colour, or black, or partly both while a device that is
 * called lost still works. The input, which is snow, must not show. */
static void expect_no_snow(GstBuffer *buffer)
{
    GstMapInfo map;
    gint other = -1;

    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
    for (gsize i = 1; i < 64 * 48; i++) { /* luma comes first, in whole rows */
        if (map.data[i] == map.data[0])
            continue;
        if (other < 0)
            other = map.data[i];
        fail_unless(map.data[i] == other, "something is seen at %" G_GSIZE_FORMAT ": %u, %u, %d", i,
                    map.data[i], map.data[0], other);
    }
    gst_buffer_unmap(buffer, &map);
}

static void handoff(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
    struct run *run = data;
    GstMapInfo map;

    (void)sink;
    (void)pad;
    if (run->looks)
        expect_no_snow(buffer);
    if (run->kept)
        g_ptr_array_add(run->kept, gst_buffer_ref(buffer));
    if (--run->frames)
        return;
    arm(run->call, run->result);
    if (!run->ask)
        return;
    run->mapped = gst_buffer_map(buffer, &map, GST_MAP_READ);
    if (!run->mapped)
        return;
    for (gsize i = 0; i < map.size; i += 64)
        fail_unless(((volatile guint8 *)map.data)[i] <= 255);
    gst_buffer_unmap(buffer, &map);
}

static void run_start(struct run *run, gchar *description)
{
    GstElement *sink;

    run->pipeline = gst_parse_launch(description, NULL);
    g_free(description);
    run->bus = gst_element_get_bus(run->pipeline);
    sink = gst_bin_get_by_name(GST_BIN(run->pipeline), "sink");
    g_signal_connect(sink, "handoff", G_CALLBACK(handoff), run);
    gst_object_unref(sink);
}

static void run_end(struct run *run)
{
    gst_element_set_state(run->pipeline, GST_STATE_NULL);
    atomic_store(&fault.armed, FALSE);
    g_clear_pointer(&run->kept, g_ptr_array_unref);
    gst_object_unref(run->bus);
    gst_object_unref(run->pipeline);
}

/* The first error is the element's, and has both words. */
static void run_to_error(struct run *run, const char *word, const char *advice)
{
    g_autoptr(GError) error = NULL;
    g_autofree gchar *debug = NULL;
    GstMessage *message;

    gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered(run->bus, GST_CLOCK_TIME_NONE,
                                         GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    fail_unless(atomic_load(&fault.struck) > 0);
    fail_unless(run->mapped == run->ask, "a frame could not be mapped");
    fail_unless(GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR, "the stream ended well");
    gst_message_parse_error(message, &error, &debug);
    fail_unless(!g_strcmp0(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "filter"),
                "the error is of %s: %s (%s)", GST_OBJECT_NAME(GST_MESSAGE_SRC(message)),
                error->message, debug);
    fail_unless(strstr(error->message, word) && strstr(error->message, advice),
                "no \"%s\" or \"%s\" in: %s", word, advice, error->message);
    gst_message_unref(message);
    run_end(run);
}

/* -------------------------------------------------------------------- tests */

static const struct {
    enum call call;
    VkResult result;
    const char *word, *advice;
} faults[] = {
    { CALL_SUBMIT, VK_ERROR_DEVICE_LOST, "DEVICE_LOST", "start it again" },
    { CALL_WAIT, VK_ERROR_DEVICE_LOST, "driver gave the device up", "start it again" },
    { CALL_VALUE, VK_ERROR_DEVICE_LOST, "driver gave the device up", "start it again" },
    { CALL_SUBMIT, VK_ERROR_OUT_OF_HOST_MEMORY, "MEMORY", "smaller frames" },
    { CALL_VALUE, VK_ERROR_OUT_OF_HOST_MEMORY, "MEMORY", "smaller frames" },
};

/* The source fills frames of our pool from a picture that it keeps, and does not
 * look whether it may. */
GST_START_TEST(fault_in_a_stream)
{
    static const char *const patterns[] = { "", "pattern=ball" };
    g_autofree gchar *model = write_model();

    for (guint p = 0; p < G_N_ELEMENTS(patterns); p++)
        for (guint ask = 0; ask < 2; ask++) {
            struct run run = { .frames = 6, .call = faults[__i__].call,
                               .result = faults[__i__].result, .ask = ask };

            run_start(&run, g_strdup_printf(SOURCE FILTER " ! " SINK, 60, patterns[p], model));
            run_to_error(&run, faults[__i__].word, faults[__i__].advice);
        }
    g_unlink(model);
}
GST_END_TEST;

#define ALL_BACKGROUND " mode=replace threshold=1 feather=0 refine=false "

/* Memory that a lost device no longer writes must not show old contents. */
GST_START_TEST(nothing_is_seen)
{
    g_autofree gchar *model = write_model();
    struct run run = { .frames = 6, .call = faults[__i__].call, .result = faults[__i__].result,
                       .looks = TRUE };

    run_start(&run, g_strdup_printf(SOURCE FILTER ALL_BACKGROUND " ! " SINK, 60,
                                    "pattern=snow", model));
    run_to_error(&run, faults[__i__].word, faults[__i__].advice);
    g_unlink(model);
}
GST_END_TEST;

/* A wait that the driver has no memory for is made up for, so that no frame is lost,
 * and none is given back while it is read. Where no wait came to be, another try. */
GST_START_TEST(wait_without_memory)
{
    g_autofree gchar *model = write_model();
    guint tries = 20;

    do {
        struct run run = { .frames = 6, .call = CALL_WAIT,
                           .result = VK_ERROR_OUT_OF_HOST_MEMORY, .ask = __i__ };
        GstMessage *message;

        run_start(&run, g_strdup_printf(SOURCE FILTER " ! " SINK, 60, "", model));
        gst_element_set_state(run.pipeline, GST_STATE_PLAYING);
        message = gst_bus_timed_pop_filtered(run.bus, GST_CLOCK_TIME_NONE,
                                             GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
        fail_unless(GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "the stream ended in an error");
        fail_unless_equals_int(run.frames, 6 - 60);
        fail_unless(run.mapped == run.ask, "a frame could not be mapped");
        gst_message_unref(message);
        run_end(&run);
    } while (!atomic_load(&fault.struck) && --tries);
    fail_unless(tries > 0, "nothing was waited for");
    g_unlink(model);
}
GST_END_TEST;

/* The loss of the device with the last frame is reported, although no later frame can do so. */
GST_START_TEST(lost_with_the_last_frame)
{
    g_autofree gchar *model = write_model();
    struct run run = { .frames = 6, .call = CALL_VALUE, .result = VK_ERROR_DEVICE_LOST,
                       .ask = TRUE };

    run_start(&run, g_strdup_printf(SOURCE FILTER " ! " SINK, run.frames, "", model));
    run_to_error(&run, "last frames", "lost");
    g_unlink(model);
}
GST_END_TEST;

static GstPadProbeReturn keep_input(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct run *run = data;

    (void)pad;
    g_ptr_array_add(run->kept, gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
    return GST_PAD_PROBE_OK;
}

/* Nothing comes back to the pools, so that they have to allocate. */
GST_START_TEST(pool_without_memory)
{
    gboolean input = __i__ == 0;
    g_autofree gchar *model = write_model();
    struct run run = { .frames = 6, .call = CALL_ALLOCATE,
                       .result = VK_ERROR_OUT_OF_DEVICE_MEMORY,
                       .kept = g_ptr_array_new_with_free_func(
                           (GDestroyNotify)gst_mini_object_unref) };
    GstElement *filter;
    GstPad *pad;

    run_start(&run, g_strdup_printf(SOURCE FILTER " ! " SINK, 60, "", model));
    filter = gst_bin_get_by_name(GST_BIN(run.pipeline), "filter");
    pad = gst_element_get_static_pad(filter, "sink");
    if (input)
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, keep_input, &run, NULL);
    gst_object_unref(pad);
    gst_object_unref(filter);
    run_to_error(&run, "Cannot allocate a frame of 64x48 px", "smaller frames");
    g_unlink(model);
}
GST_END_TEST;

static GstPadProbeReturn arm_at_query(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    (void)pad;
    (void)data;
    if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) != GST_QUERY_ALLOCATION)
        return GST_PAD_PROBE_OK;
    arm(CALL_ALLOCATE, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    return GST_PAD_PROBE_REMOVE;
}

/* The source fills its pool before the first frame. */
GST_START_TEST(no_memory_at_the_start)
{
    g_autofree gchar *model = write_model();
    struct run run = { .frames = 0 };
    GstElement *filter;
    GstPad *pad;

    run_start(&run, g_strdup_printf(SOURCE FILTER " ! " SINK, 60, "", model));
    filter = gst_bin_get_by_name(GST_BIN(run.pipeline), "filter");
    pad = gst_element_get_static_pad(filter, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, arm_at_query, NULL, NULL);
    gst_object_unref(pad);
    gst_object_unref(filter);
    run_to_error(&run, "Cannot allocate a frame of 64x48 px", "smaller frames");
    g_unlink(model);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("faults");
    TCase *tc = tcase_create("faults");

    tcase_set_timeout(tc, 300);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, fault_in_a_stream, 0, G_N_ELEMENTS(faults));
    tcase_add_loop_test(tc, nothing_is_seen, 1, 3);
    tcase_add_loop_test(tc, wait_without_memory, 0, 2);
    tcase_add_test(tc, lost_with_the_last_frame);
    tcase_add_loop_test(tc, pool_without_memory, 0, 2);
    tcase_add_test(tc, no_memory_at_the_start);
    return s;
}

int main(int argc, char **argv)
{
    return util_main(argc, argv, suite(), "faults");
}
