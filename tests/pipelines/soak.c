/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thousands of small frames: memory stays flat once warm.
 *
 *     soak [FRAMES]
 *
 * The mark is set after 1,000 frames, or a fifth of them. From there on the heap in use
 * may grow by a few bytes a frame at most. Resident memory is what counts for
 * the user: it is taken without what malloc() keeps for later, which grows by
 * steps of 1 MiB for a while as threads touch new parts of their arenas.
 */
#include "harness.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAP_GROWTH_KIB 64
#define RESIDENT_GROWTH_KIB 1024

/* KiB at the mark, and the least seen in the last fifth: what is in use for
 * the length of a frame comes and goes. */
struct level {
    long at_mark, at_end;
};

struct watch {
    guint frames, total;
    struct level heap, resident;
};

static long resident_kib(void)
{
    long pages = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long heap_kib(void)
{
    struct mallinfo2 info = mallinfo2();
    return (info.uordblks + info.hblkhd) / 1024;
}

static GstPadProbeReturn count(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    struct watch *watch = data;
    const guint fifth = watch->total / 5, mark = MAX(fifth, MIN(1000, watch->total / 2));
    const guint late = watch->total - fifth;

    (void)pad, (void)info;
    watch->frames++;
    if (watch->frames == mark) {
        watch->heap.at_mark = heap_kib();
        watch->resident.at_mark = resident_kib();
    } else if (watch->frames == late) {
        watch->heap.at_end = heap_kib();
        watch->resident.at_end = resident_kib();
    } else if (watch->frames > late && watch->frames % 50 == 0) {
        watch->heap.at_end = MIN(watch->heap.at_end, heap_kib());
        watch->resident.at_end = MIN(watch->resident.at_end, resident_kib());
    }
    if (watch->frames % 1000 == 0)
        g_print("frame %u: heap %ld KiB, resident %ld KiB\n", watch->frames, heap_kib(),
                resident_kib());
    return GST_PAD_PROBE_OK;
}

static gboolean flat(const char *what, const struct level *level, long allowed)
{
    long growth = level->at_end - level->at_mark;

    g_print("%s: %s grew by %ld KiB, %ld KiB allowed\n", growth <= allowed ? "ok" : "FAILED", what,
            growth, allowed);
    return growth <= allowed;
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

    gboolean done = harness_run(pipeline, 36000);
    harness_stop(pipeline);
    gboolean good = done && watch.frames == watch.total;
    g_print("%s: %u of %u frames\n", good ? "ok" : "FAILED", watch.frames, watch.total);
    good = flat("heap in use", &watch.heap, HEAP_GROWTH_KIB) && good;
    good = flat("resident memory", &watch.resident, RESIDENT_GROWTH_KIB) && good;
    return good ? 0 : 1;
}
