/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlreport.h"

GST_DEBUG_CATEGORY_STATIC(performance);

void gst_tdl_report_fallback(struct gst_tdl_report *report, GstElement *element,
                             enum gst_tdl_report_side side, const gchar *path, const gchar *reason)
{
    const gchar *name = side == GST_TDL_INPUT ? "input" : "output";

    if (report->said[side])
        return;
    report->said[side] = TRUE;
    GST_DEBUG_CATEGORY_GET(performance, "GST_PERFORMANCE");
    if (side == GST_TDL_INPUT)
        GST_CAT_WARNING_OBJECT(performance, element,
                               "the CPU copies every frame into the device's memory (%s)", reason);
    else
        GST_CAT_WARNING_OBJECT(performance, element,
                               "frames come from a device and go on in memory for the CPU (%s)",
                               reason);
    gst_element_post_message(
        element, gst_message_new_element(GST_OBJECT(element),
                                         gst_structure_new("tdl-fallback", "side", G_TYPE_STRING,
                                                           name, "path", G_TYPE_STRING, path,
                                                           "reason", G_TYPE_STRING, reason, NULL)));
}

GError *gst_tdl_report_output_error(const gchar *path, const gchar *reason)
{
    return g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       "require-zero-copy is set, frames come in as dma-bufs or Vulkan images, and "
                       "the output would go through the CPU's memory (path \"%s\"; %s). Use a sink "
                       "that takes dma-bufs (kmssink, waylandsink, glimagesink) or Vulkan images, "
                       "or set require-zero-copy=false.",
                       path, reason);
}

void gst_tdl_report_presence(GstElement *element, const struct gst_tdl_watch *watch,
                             const struct gst_tdl_moment *since)
{
    gst_element_post_message(
        element, gst_message_new_element(
                     GST_OBJECT(element),
                     gst_structure_new("tdl-presence", "present", G_TYPE_BOOLEAN, watch->present,
                                       "share", G_TYPE_DOUBLE, watch->share, "running-time",
                                       GST_TYPE_CLOCK_TIME, since->running, "timestamp",
                                       GST_TYPE_CLOCK_TIME, since->timestamp, NULL)));
}

void gst_tdl_report_object(GstElement *element, const struct gst_tdl_object *object)
{
    gst_element_post_message(
        element,
        gst_message_new_element(
            GST_OBJECT(element),
            gst_structure_new("tdl-object", "found", G_TYPE_BOOLEAN, object->found, "share",
                              G_TYPE_DOUBLE, object->seen.share, "running-time",
                              GST_TYPE_CLOCK_TIME, object->seen.moment.running, "timestamp",
                              GST_TYPE_CLOCK_TIME, object->seen.moment.timestamp, NULL)));
}

void gst_tdl_report_load(GstElement *element, guint interval, const gchar *reason)
{
    gst_element_post_message(
        element,
        gst_message_new_element(GST_OBJECT(element),
                                gst_structure_new("tdl-load", "interval", G_TYPE_UINT, interval,
                                                  "reason", G_TYPE_STRING, reason, NULL)));
}

void gst_tdl_report_model(GstElement *element, const gchar *model, const gchar *reason)
{
    gst_element_post_message(
        element,
        gst_message_new_element(GST_OBJECT(element),
                                gst_structure_new("tdl-model", "model", G_TYPE_STRING, model,
                                                  "reason", G_TYPE_STRING, reason, NULL)));
}

static const gchar *find_words(const gchar *reason)
{
    static const struct {
        const gchar *reason, *words;
    } rows[] = {
        { "measured", "as measured now" },
        { "kept", "as measured before" },
        { "timing", "as measuring takes longer; the next start knows more" },
        { "silent", "as the GPU has not opened in time" },
        { "slow", "as a run on the GPU has not ended in time" },
        { "failed", "as the other fails" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (!strcmp(rows[i].reason, reason))
            return rows[i].words;
    return reason;
}

static gchar *describe_run(guint64 ns)
{
    return ns ? g_strdup_printf("%.1f ms", ns / 1e6) : g_strdup("a time not known yet");
}

/* One line: what was taken, and why. */
static gchar *describe_choice(const gchar *device, const gchar *reason, guint64 gpu_ns,
                              guint64 cpu_ns)
{
    gchar *gpu = describe_run(gpu_ns), *cpu = describe_run(cpu_ns);
    gchar *text =
        g_strdup_printf("device=auto takes the %s, %s: a run takes %s on the GPU, %s on "
                        "the CPU",
                        strcmp(device, "cpu") ? "GPU" : "CPU", find_words(reason), gpu, cpu);

    g_free(gpu);
    g_free(cpu);
    return text;
}

void gst_tdl_report_device(GstElement *element, const gchar *device, const gchar *reason,
                           guint64 gpu_ns, guint64 cpu_ns, const gchar *fault)
{
    gchar *text = describe_choice(device, reason, gpu_ns, cpu_ns);

    GST_CAT_INFO_OBJECT(gst_tdl_debug, element, "%s", text);
    if (fault)
        GST_CAT_WARNING_OBJECT(gst_tdl_debug, element, "device=auto goes without the GPU: %s",
                               fault);
    gst_element_post_message(
        element, gst_message_new_element(
                     GST_OBJECT(element),
                     gst_structure_new("tdl-device", "device", G_TYPE_STRING, device, "reason",
                                       G_TYPE_STRING, reason, "gpu-ns", G_TYPE_UINT64, gpu_ns,
                                       "cpu-ns", G_TYPE_UINT64, cpu_ns, "fault", G_TYPE_STRING,
                                       fault, "text", G_TYPE_STRING, text, NULL)));
    g_free(text);
}

void gst_tdl_report_install(GObjectClass *klass, guint first)
{
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

    g_object_class_install_property(
        klass, first + GST_TDL_READONLY_IMPORT_PATH,
        g_param_spec_string(
            "import-path", "Import path",
            "How the last frame came to the device: \"vulkan-image\" (copied by the GPU "
            "from the neighbour's image), \"dma-buf\" (imported as it is), "
            "\"dma-buf-image\" (tiled, copied by the GPU), \"dma-buf-mapped\" and \"mapped\" "
            "(read where it lies, by the CPU as the device), \"pool\" (written into "
            "our own memory), \"host-pointer\" (upstream's memory imported), "
            "\"copy\" (copied by the CPU), \"passthrough\" (not at all), \"none\" (no frame "
            "yet)",
            "none", flags));
    g_object_class_install_property(
        klass, first + GST_TDL_READONLY_EXPORT_PATH,
        g_param_spec_string(
            "export-path", "Export path",
            "How frames go downstream: \"dma-buf-downstream\" (written into the "
            "dma-bufs of its pool), \"dma-buf\" (in dma-bufs of ours), "
            "\"dma-buf-image\" (in tiled ones of ours, copied by the GPU), "
            "\"vulkan-image\" (copied by the GPU into an image), \"downstream\" "
            "(written into its pool by the CPU as the device), \"pool\" "
            "(mapped memory that the device writes), \"passthrough\" (upstream's own "
            "buffers), \"none\" (no caps yet)",
            "none", flags));
    g_object_class_install_property(
        klass, first + GST_TDL_READONLY_STATS,
        g_param_spec_boxed(
            "stats", "Statistics",
            "Since the last start: device (its name), device-reason (of device=auto, where that "
            "was "
            "measured: \"kept\" from before, \"measured\" now, \"timing\", \"slow\", "
            "\"silent\" or \"failed\" GPU), auto-gpu-ns and auto-cpu-ns (of a run there, 0: not "
            "known), model (that works: its name, or its file), "
            "frames, dropped, mismatched (of the dropped: "
            "not the picture that the caps say), closed (frames that were all background for want "
            "of a mask: fail-closed), network-runs, batching (\"off\", \"shared\" with "
            "other streams, or \"alone: \" and why), batches (that frames of this stream were in) "
            "and batched-frames (of all streams in these), imports, "
            "cache-hits, cpu-mapped-bytes (of frames mapped, by the element and by "
            "its neighbours from its pools), cpu-copied-bytes, of copied-frames; pool-frames "
            "(that upstream wrote into the element's own memory), cpu-waits (for fences "
            "of dma-bufs that the GPU cannot wait for or give), gpu-bytes-per-frame "
            "(pixels read and written by the device, be it the CPU), and the mean time of the "
            "device in ns of "
            "preprocess-ns, network-ns (of a run, be it for several streams) and compose-ns (0 "
            "where the device has no "
            "timestamps); interval (in effect); with presence: present, and share (of the frame, "
            "that is somebody)",
            GST_TYPE_STRUCTURE, flags));
}

GstStructure *gst_tdl_report_stats(const struct gst_tdl_stats *stats)
{
    return gst_structure_new(
        "tdl-stats", "device", G_TYPE_STRING, stats->device, "device-reason", G_TYPE_STRING,
        stats->device_reason ? stats->device_reason : "", "auto-gpu-ns", G_TYPE_UINT64,
        stats->auto_ns[0], "auto-cpu-ns", G_TYPE_UINT64, stats->auto_ns[1], "model", G_TYPE_STRING,
        stats->model ? stats->model : "", "frames", G_TYPE_UINT64, stats->frames, "dropped",
        G_TYPE_UINT64, stats->dropped, "mismatched", G_TYPE_UINT64, stats->mismatched, "closed",
        G_TYPE_UINT64, stats->closed, "network-runs", G_TYPE_UINT64, stats->network_runs,
        "batching", G_TYPE_STRING, stats->batching ? stats->batching : "off", "batches",
        G_TYPE_UINT64, stats->batches, "batched-frames", G_TYPE_UINT64, stats->batched_frames,
        "imports", G_TYPE_UINT64, stats->import.imports, "cache-hits", G_TYPE_UINT64,
        stats->import.cache_hits, "cpu-mapped-bytes", G_TYPE_UINT64, stats->import.cpu_mapped_bytes,
        "cpu-copied-bytes", G_TYPE_UINT64, stats->import.cpu_copied_bytes, "copied-frames",
        G_TYPE_UINT64, stats->import.copied_frames, "pool-frames", G_TYPE_UINT64,
        stats->import.pool_frames, "cpu-waits", G_TYPE_UINT64, stats->import.cpu_waits,
        "gpu-bytes-per-frame", G_TYPE_UINT64, stats->import.gpu_bytes, "preprocess-ns",
        G_TYPE_UINT64, stats->stage_ns[GST_TDL_STAGE_PREPROCESS], "network-ns", G_TYPE_UINT64,
        stats->stage_ns[GST_TDL_STAGE_NETWORK], "compose-ns", G_TYPE_UINT64,
        stats->stage_ns[GST_TDL_STAGE_COMPOSE], "interval", G_TYPE_UINT, stats->interval, "present",
        G_TYPE_BOOLEAN, stats->present, "share", G_TYPE_DOUBLE, stats->share, NULL);
}
