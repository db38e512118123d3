/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sharing of devices, and the number of queues that they are opened with. Software Vulkan has one
 * queue, which stands for three here. */
#include "memory/gsttdldevice.h"
#include "gsttdlfilter.h"

#include "base/gsttdlerror.h"

#include <gst/check/check.h>

#define QUEUES 3

static struct gst_tdl_device *acquire(const gchar *name, guint queues)
{
    GError *error = NULL;
    struct gst_tdl_device *device = gst_tdl_device_acquire(name, 0, queues, &error);

    fail_unless(device != NULL, "%s", error ? error->message : "");
    return device;
}

/* Batches that run beside each other: points of a context's queue are its number modulo their
 * number. */
static guint used_queues(struct gst_tdl_device *device)
{
    guint64 first = 0, second = 0;
    struct tdl_batch *batch;

    fail_unless(tdl_batch_create(device->context, &batch) == TDL_OK);
    for (guint i = 0; i < 2; i++) {
        tdl_batch_set_queue(batch, 0);
        fail_unless(tdl_batch_begin(batch) == TDL_OK);
        fail_unless(tdl_batch_submit(batch, i ? &second : &first) == TDL_OK);
    }
    tdl_batch_destroy(&batch);
    return (guint)(second - first);
}

GST_START_TEST(test_queues)
{
    struct gst_tdl_device *one = acquire("auto", 1), *same = acquire("", 1);
    struct gst_tdl_device *all = acquire("auto", 0), *two = acquire("auto", 2);
    struct gst_tdl_device *more = acquire("auto", QUEUES + 1), *least = acquire("0", 1);

    fail_unless(one == same);
    fail_unless_equals_int(used_queues(one), 1);
    fail_unless(all != one, "a stream among several shares the one queue of the first");
    fail_unless_equals_int(used_queues(all), QUEUES);
    fail_unless(two == all);
    fail_unless(more == all, "asked for more queues than there are, another was opened");
    fail_unless(least == one || least == all);
    gst_tdl_device_release(&least);
    gst_tdl_device_release(&more);
    gst_tdl_device_release(&two);
    gst_tdl_device_release(&same);
    gst_tdl_device_release(&one);
    one = acquire("auto", 1);
    fail_unless(one == all, "a device was opened with fewer queues beside one that has them");
    gst_tdl_device_release(&one);
    gst_tdl_device_release(&all);
    one = acquire("auto", 1);
    fail_unless_equals_int(used_queues(one), 1);
    gst_tdl_device_release(&one);
}
GST_END_TEST;

GST_START_TEST(test_expectations)
{
    GstElement *elements[2];

    fail_if(gst_tdl_device_expects_several());
    elements[0] = gst_object_ref_sink(g_object_new(GST_TYPE_TDL_FILTER, NULL));
    fail_if(gst_tdl_device_expects_several());
    elements[1] = gst_object_ref_sink(g_object_new(GST_TYPE_TDL_FILTER, NULL));
    fail_unless(gst_tdl_device_expects_several());
    gst_object_unref(elements[0]);
    fail_if(gst_tdl_device_expects_several());
    gst_object_unref(elements[1]);
}
GST_END_TEST;

static Suite *devices_suite(void)
{
    Suite *suite = suite_create("devices");
    TCase *cases = tcase_create("general");

    gst_tdl_error_init();
    g_setenv("TDL_QUEUES", G_STRINGIFY(QUEUES), TRUE);
    tcase_set_timeout(cases, 120);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, test_queues);
    tcase_add_test(cases, test_expectations);
    return suite;
}

GST_CHECK_MAIN(devices);
