/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vulkan images through the element: when does the finished frame go on, and
 * is the GPU done with it then?
 *
 *     leave-early [FRAMES [WIDTH HEIGHT [MODE]]]
 *
 * Looks at the timeline semaphore that each outgoing image carries: a frame
 * that has left while its value was not reached yet left without waiting.
 * Prints the times from the sink pad to the source pad, and `stats`.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#include <gst/vulkan/vulkan.h>

struct watch {
    gint64 *entered, *took; /* µs, by frame */
    guint in, out, total, early, images;
};

static GstPadProbeReturn enters(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct watch *watch = data;
    (void)pad, (void)info;

    if (watch->in < watch->total)
        watch->entered[watch->in++] = g_get_monotonic_time();
    return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn leaves(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct watch *watch = data;
    GstMemory *memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
    gint64 now = g_get_monotonic_time();
    (void)pad;

    if (gst_is_vulkan_image_memory(memory) && watch->out < watch->in) {
        GstVulkanImageMemory *image = (GstVulkanImageMemory *)memory;
        const GstVulkanBarrierMemoryInfo *order = &image->barrier.parent;
        guint64 reached = 0;
        PFN_vkGetSemaphoreCounterValue get_value =
            (PFN_vkGetSemaphoreCounterValue)gst_vulkan_device_get_proc_address(
                image->device, "vkGetSemaphoreCounterValue");

        watch->images++;
        if (order->semaphore && get_value &&
            get_value(image->device->device, order->semaphore, &reached) == VK_SUCCESS)
            watch->early += reached < order->semaphore_value;
    }
    if (watch->out < watch->in)
        watch->took[watch->out] = now - watch->entered[watch->out];
    watch->out++;
    return GST_PAD_PROBE_OK;
}

static int compare(const void *a, const void *b)
{
    const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

static void watch_pad(GstElement *filter, const char *name, GstPadProbeCallback callback,
                      struct watch *watch)
{
    GstPad *pad = gst_element_get_static_pad(filter, name);

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, watch, NULL);
    gst_object_unref(pad);
}

static gboolean check(gboolean good, const char *what)
{
    g_print("%s: %s\n", good ? "ok" : "FAILED", what);
    return good;
}

int main(int argc, char **argv)
{
    struct watch watch = { .total = argc > 1 ? strtoul(argv[1], NULL, 10) : 20 };
    GstStructure *stats = NULL;

    gst_init(NULL, NULL);
    GstElementFactory *upload = gst_element_factory_find("vulkanupload");
    if (!upload) {
        g_print("skipped: there is no vulkanupload\n");
        return EXIT_SKIP;
    }
    gst_object_unref(upload);
    watch.entered = g_new0(gint64, watch.total);
    watch.took = g_new0(gint64, watch.total);
    char *line = g_strdup_printf(
        "videotestsrc num-buffers=%u pattern=ball ! video/x-raw,format=NV12,width=%s,height=%s ! "
        "vulkanupload ! tdlfilter name=filter qos=false mode=%s ! "
        "video/x-raw(memory:VulkanImage) ! fakesink sync=false",
        watch.total, argc > 3 ? argv[2] : "320", argc > 3 ? argv[3] : "240",
        argc > 4 ? argv[4] : "overlay");
    GstElement *pipeline = harness_parse(line);
    GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
    watch_pad(filter, "sink", enters, &watch);
    watch_pad(filter, "src", leaves, &watch);
    gboolean good = check(harness_run(pipeline, 300), line);
    g_object_get(filter, "stats", &stats, NULL);
    gchar *text = gst_structure_to_string(stats);
    qsort(watch.took, MIN(watch.out, watch.total), sizeof(*watch.took), compare);
    g_print("%u frames; sink pad to source pad: median %" G_GINT64_FORMAT " us, least %"
            G_GINT64_FORMAT " us\n%u left before the GPU was done with them\n%s\n",
            watch.out, watch.took[watch.out / 2], watch.took[0], watch.early, text);
    good = check(watch.out == watch.total && watch.images == watch.total, "all went as images") &&
           good;
    good = check(watch.early > 0, "frames left before the GPU was done with them") && good;
    good = check(!harness_stat(pipeline, "cpu-copied-bytes"), "the CPU copied nothing") && good;
    g_free(text);
    gst_structure_free(stats);
    gst_object_unref(filter);
    harness_stop(pipeline);
    g_free(watch.entered);
    g_free(watch.took);
    g_free(line);
    return good ? 0 : 1;
}
