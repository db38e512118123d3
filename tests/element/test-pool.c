/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools of frames of which one cannot be allocated: nothing stays behind, the device least. */
#include "memory/gsttdlpool.h"

#include <gst/check/gstcheck.h>

#define FRAMES 5

static gint made, first_failing; /* buffers of the engine; the number of one that fails */

enum tdl_result __wrap_tdl_buffer_create(struct tdl_context *ctx, size_t size,
                                         enum tdl_buffer_access access, struct tdl_buffer **out);
enum tdl_result __real_tdl_buffer_create(struct tdl_context *ctx, size_t size,
                                         enum tdl_buffer_access access, struct tdl_buffer **out);
enum tdl_result __wrap_tdl_buffer_create(struct tdl_context *ctx, size_t size,
                                         enum tdl_buffer_access access, struct tdl_buffer **out)
{
    if (made++ < first_failing)
        return __real_tdl_buffer_create(ctx, size, access, out);
    *out = NULL;
    return TDL_ERROR_OUT_OF_MEMORY;
}

static void note_end(gpointer ended, GObject *object)
{
    (void)object;
    *(gboolean *)ended = TRUE;
}

GST_START_TEST(frames_before_the_failing_one_go)
{
    const struct tdl_context_params params = { .device = "cpu" };
    GObject *keeper = g_object_new(G_TYPE_OBJECT, NULL); /* goes with the device */
    struct tdl_context *context;
    struct gst_tdl_device *device;
    GstAllocator *allocator;
    GstBufferPool *pool;
    GstStructure *config;
    gboolean ended = FALSE;
    GstCaps *caps = gst_caps_from_string("video/x-raw,format=NV12,width=64,height=48");

    fail_unless(tdl_context_create(&params, &context) == TDL_OK);
    g_object_weak_ref(keeper, note_end, &ended);
    device = gst_tdl_device_new(context, keeper);
    g_object_unref(keeper);
    allocator = gst_tdl_allocator_new(device, TDL_BUFFER_READBACK);
    pool = gst_tdl_pool_new(allocator, NULL);
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, 64 * 48 * 3 / 2, FRAMES, 0);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    made = 0;
    first_failing = __i__;
    fail_unless(gst_buffer_pool_set_active(pool, TRUE) == (__i__ >= FRAMES));
    fail_unless_equals_int(made, MIN(__i__ + 1, FRAMES));
    gst_buffer_pool_set_active(pool, FALSE);
    gst_caps_unref(caps);
    gst_object_unref(pool);
    gst_object_unref(allocator);
    gst_tdl_device_unref(device);
    fail_unless(ended, "the device is kept");
}
GST_END_TEST;

int main(void)
{
    Suite *s = suite_create("pool");
    TCase *tc = tcase_create("pool");

    gst_check_init(NULL, NULL);
    tcase_add_loop_test(tc, frames_before_the_failing_one_go, 0, FRAMES + 1);
    suite_add_tcase(s, tc);
    return gst_check_run_suite(s, "pool", __FILE__);
}
