/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in flight on the CPU whose network takes minutes: they are given up, and what should
 * have been made is zeros. No time is measured: a run to its end would be longer than the
 * test may take. */
#include "base/gsttdlerror.h"
#include "network/gsttdlflight.h"
#include "import/gsttdlimport.h"
#include "memory/gsttdlallocator.h"

#include <gst/check/gstcheck.h>
#include <string.h>
#include <sys/resource.h>
#include <tdl/operators.h>

enum { PICTURE = 2000, WINDOW = 1001, SIDE = PICTURE - WINDOW + 1 };

static gdouble seconds_used(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (gdouble)usage.ru_utime.tv_sec + (gdouble)usage.ru_utime.tv_usec / 1e6;
}

/* Until so much was computed that the network is what does it. */
static void wait_for_run(gdouble from)
{
    while (seconds_used() < from + 1)
        g_usleep(1000);
}

struct network {
    struct tdl_graph *graph;
    struct tdl_tensor *in, *out;
};

static void network_init(struct network *n, struct tdl_context *context)
{
    const struct tdl_pool2d_params window = { .window = { WINDOW, WINDOW },
                                             .input_layout = TDL_LAYOUT_NHWC };
    struct tdl_tensor_params in = { .rank = 4, .shape = { 1, PICTURE, PICTURE, 1 } };
    struct tdl_tensor_params out = { .rank = 4, .shape = { 1, SIDE, SIDE, 1 } };
    struct tdl_builder *builder = NULL;

    out.usage = TDL_TENSOR_READABLE;
    fail_unless_equals_int(tdl_builder_create(context, &builder), TDL_OK);
    tdl_builder_output(builder, "y",
                       tdl_builder_average_pool2d(builder, tdl_builder_input(builder, "x", &in),
                                                  &window));
    fail_unless_equals_int(tdl_builder_build(builder, NULL, &n->graph), TDL_OK);
    tdl_builder_destroy(&builder);
    fail_unless_equals_int(tdl_tensor_create(context, &in, &n->in), TDL_OK);
    fail_unless_equals_int(tdl_tensor_create(context, &out, &n->out), TDL_OK);
}

static void network_finish(struct network *n)
{
    tdl_tensor_destroy(&n->in);
    tdl_tensor_destroy(&n->out);
    tdl_graph_destroy(&n->graph);
}

static gpointer abort_flight(gpointer flight)
{
    wait_for_run(seconds_used());
    gst_tdl_flight_abort(flight);
    return NULL;
}

/* A frame is in flight, and its buffer somewhere downstream. */
GST_START_TEST(in_flight)
{
    struct gst_tdl_device *device = gst_tdl_device_acquire("cpu", 0, 1, NULL);
    GstAllocator *allocator = gst_tdl_allocator_new(device, TDL_BUFFER_READBACK);
    GstMemory *memory = gst_allocator_alloc(allocator, 4 * SIDE * SIDE, NULL);
    GstBuffer *input = gst_buffer_new();
    struct gst_tdl_importer importer = { 0 };
    struct gst_tdl_fences fences = { .count = 0 };
    struct gst_tdl_flight flight;
    struct gst_tdl_slot *slot;
    struct network network;
    GThread *thread;
    GstMapInfo map;
    gsize offset = 0, left = 0;
    struct tdl_binding x, y;

    gst_tdl_importer_init(&importer, device);
    network_init(&network, device->context);
    x = (struct tdl_binding){ "x", network.in };
    y = (struct tdl_binding){ "y", network.out };
    fail_unless(gst_memory_map(memory, &map, GST_MAP_WRITE));
    memset(map.data, 0x55, map.size);
    gst_memory_unmap(memory, &map);
    fail_unless_equals_int(gst_tdl_flight_init(&flight, device->context, 0), TDL_OK);
    fail_unless_equals_int(gst_tdl_flight_begin(&flight, 0, &slot), TDL_OK);
    fail_unless_equals_int(tdl_batch_graph(slot->batch, network.graph, &x, 1, &y, 1), TDL_OK);
    fail_unless_equals_int(
        tdl_batch_tensor_to_buffer(slot->batch, network.out, 0,
                                   gst_tdl_allocator_find_buffer(memory, device, &offset), 0,
                                   map.size),
        TDL_OK);
    fail_unless_equals_int(gst_tdl_flight_submit(slot, input, &importer, &fences), TDL_OK);
    thread = g_thread_new("abort", abort_flight, &flight);
    fail_unless_equals_int(gst_tdl_flight_retire(&flight, TRUE), TDL_OK);
    g_thread_join(thread);
    fail_unless(gst_tdl_flight_is_aborted(&flight));
    fail_unless_equals_int(gst_tdl_flight_begin(&flight, 0, &slot), TDL_ERROR_CANCELED);
    fail_unless(gst_memory_map(memory, &map, GST_MAP_READ));
    for (gsize i = 0; i < map.size; i++)
        left += map.data[i] != 0;
    fail_unless_equals_uint64(left, 0);
    gst_memory_unmap(memory, &map);
    gst_tdl_flight_finish(&flight);
    gst_buffer_unref(input);
    gst_memory_unref(memory);
    network_finish(&network);
    gst_object_unref(allocator);
    gst_tdl_device_release(&device);
}
GST_END_TEST;

static Suite *abort_suite(void)
{
    Suite *suite = suite_create("abort");
    TCase *cases = tcase_create("general");

    gst_tdl_error_init();
    tcase_set_timeout(cases, 600);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, in_flight);
    return suite;
}

GST_CHECK_MAIN(abort);
