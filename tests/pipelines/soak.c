/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thousands of small frames: resident memory stays flat once warm.
 *
 *     soak [FRAMES]
 *
 * The mark is set after a fifth of the frames; later growth beyond
 * GROWTH_KIB is a leak of more than a hundred bytes or so a frame.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GROWTH_KIB 512

struct watch {
    guint frames, total;
    long at_mark, highest; /* KiB */
};

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static GstPadProbeReturn count(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct watch *watch = data;

    (void)pad, (void)info;
    watch->frames++;
    if (watch->frames == watch->total / 5)
        watch->at_mark = watch->highest = resident_kib();
    else if (watch->frames > watch->total / 5 && watch->frames % 50 == 0)
        watch->highest = MAX(watch->highest, resident_kib());
    if (watch->frames % 1000 == 0)
        g_print("frame %u: %ld KiB\n", watch->frames, resident_kib());
    return GST_PAD_PROBE_OK;
}

int main(int argc, char **argv)
{
    struct watch watch = { .total = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000 };

    gst_init(NULL, NULL);
    if (!resident_kib()) {
        g_print("skipped: no /proc/self/statm to read resident memory from\n");
        return EXIT_SKIP;
    }
    char *line = g_strdup_printf(
        "videotestsrc num-buffers=%u pattern=ball ! video/x-raw,format=NV12,width=64,height=64 ! "
        "tdlfilter name=filter mode=overlay ! fakesink name=sink sync=false", watch.total);
    GstElement *pipeline = harness_parse(line);
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, &watch, NULL);
    gst_object_unref(pad);
    gst_object_unref(sink);
    g_free(line);

    gboolean done = harness_run(pipeline, 900);
    harness_stop(pipeline);
    long growth = watch.highest - watch.at_mark;
    gboolean good = done && watch.frames == watch.total && growth <= GROWTH_KIB;
    g_print("%s: %u of %u frames, resident memory grew by %ld KiB after frame %u, "
            "%d KiB allowed\n", good ? "ok" : "FAILED", watch.frames, watch.total, growth,
            watch.total / 5, GROWTH_KIB);
    return good ? 0 : 1;
}
