/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

#include "plot.h"
#include "tell.h"

#include <sys/resource.h>

#define PAUSE_MS 500

struct look {
    guint64 frames; /* frames that left the filter */
    gint64 time_us, processor_us;
};

struct status {
    GstElement *filter;
    struct tap *tap;
    GtkWidget *rate, *ways, *events;
    struct plot *plot;
    struct look last;
    const char *way;  /* to the window, or NULL */
    char *reasons[2]; /* why frames are copied at the input, at the output; or NULL */
    guint timer;
};

/* Values of import-path and export-path, with words for people. */
static const struct way {
    const char *path, *in, *out;
} ways[] = {
    {"vulkan-image", "GPU copies them from images", "GPU copies them into images"},
    {"dma-buf", "read where they are (dma-buf)", "dma-bufs of the device"},
    {"dma-buf-image", "GPU copies them from tiled dma-bufs", "tiled dma-bufs, by a GPU copy"},
    {"dma-buf-mapped", "processor reads dma-bufs", "dma-bufs, mapped"},
    {"dma-buf-downstream", "", "written into the neighbour's dma-bufs"},
    {"mapped", "processor reads them where they are", "mapped"},
    {"pool", "source fills the device's memory", "memory that both see"},
    {"host-pointer", "source's memory, lent to the device", ""},
    {"copy", "processor copies them", ""},
    {"downstream", "", "processor writes the neighbour's memory"},
    {"passthrough", "untouched", "untouched"},
    {"none", "no frame yet", "no frame yet"},
};

static const char *words(const char *path, bool is_input)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
        if (!g_strcmp0(ways[i].path, path))
            return is_input ? ways[i].in : ways[i].out;
    return "";
}

static void show_ways(struct status *status)
{
    g_autofree char *in = NULL, *out = NULL, *text = NULL;

    g_object_get(status->filter, "import-path", &in, "export-path", &out, NULL);
    text = g_strdup_printf(
        "In: %s, %s%s%s\nOut: %s, %s%s%s\nTo the window: %s", in, words(in, true),
        status->reasons[0] ? ": " : "", status->reasons[0] ? status->reasons[0] : "", out,
        words(out, false), status->reasons[1] ? ": " : "",
        status->reasons[1] ? status->reasons[1] : "", status->way ? status->way : "nothing");
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(status->ways)), text)) {
        gtk_label_set_text(GTK_LABEL(status->ways), text);
        tell("import-path", "%s", in);
        tell("export-path", "%s", out);
    }
}

/* ------------------------------------------------------------------------ times */

static gint64 processor_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * G_USEC_PER_SEC + used.ru_utime.tv_usec +
           used.ru_stime.tv_usec;
}

static void show_times(struct status *status, const struct look *now, const GstStructure *stats)
{
    static const char *const fields[PLOT_PROCESSOR] = {"preprocess-ns", "network-ns", "compose-ns"};
    const struct look *last = &status->last;
    const double frames = (double)(now->frames - last->frames);
    const double rate = frames * G_USEC_PER_SEC / (double)(now->time_us - last->time_us);
    const char *device = gst_structure_get_string(stats, "device");
    g_autofree char *text = g_strdup_printf("%.1f frames/s on %s", rate, device ? device : "?");
    double ms[PLOT_SERIES];

    gtk_label_set_text(GTK_LABEL(status->rate), text);
    tell("rate", "%.1f", rate);
    if (!frames)
        return; /* paused */
    for (int i = 0; i < PLOT_PROCESSOR; i++) {
        guint64 ns = 0;

        gst_structure_get_uint64(stats, fields[i], &ns);
        ms[i] = (double)ns / 1e6;
    }
    ms[PLOT_PROCESSOR] = (double)(now->processor_us - last->processor_us) / 1e3 / frames;
    plot_add(status->plot, ms);
}

static gboolean on_time(gpointer data)
{
    struct status *status = data;
    g_autoptr(GstStructure) stats = NULL;
    struct look now;

    g_object_get(status->filter, "stats", &stats, NULL);
    now = (struct look){tap_frames(status->tap), g_get_monotonic_time(), processor_us()};
    if (status->last.time_us)
        show_times(status, &now, stats);
    status->last = now;
    show_ways(status);
    return G_SOURCE_CONTINUE;
}

/* ---------------------------------------------------------------------- events */

static void forget_reasons(struct status *status)
{
    for (int i = 0; i < 2; i++)
        g_clear_pointer(&status->reasons[i], g_free);
}

void status_begin(struct status *status)
{
    memset(&status->last, 0, sizeof(status->last));
    forget_reasons(status);
    gtk_label_set_text(GTK_LABEL(status->events), "");
}

void status_set_way(struct status *status, const char *way)
{
    status->way = way;
}

void status_told(struct status *status, const GstStructure *message)
{
    g_autofree char *text = NULL;
    gboolean present = FALSE;
    guint interval = 1;

    if (gst_structure_has_name(message, "tdl-fallback")) {
        const int side = g_strcmp0(gst_structure_get_string(message, "side"), "input") ? 1 : 0;

        g_free(status->reasons[side]);
        status->reasons[side] = g_strdup(gst_structure_get_string(message, "reason"));
        return;
    }
    if (gst_structure_get_boolean(message, "present", &present))
        text = g_strdup(present ? "Somebody is there." : "Nobody is there.");
    else if (gst_structure_has_name(message, "tdl-load") &&
             gst_structure_get_uint(message, "interval", &interval))
        text = g_strdup_printf("To keep up, the network runs on one frame of %u.", interval);
    else if (gst_structure_has_name(message, "tdl-model"))
        text =
            g_strdup_printf("The model is %s now (%s).", gst_structure_get_string(message, "model"),
                            gst_structure_get_string(message, "reason"));
    if (text)
        gtk_label_set_text(GTK_LABEL(status->events), text);
}

/* --------------------------------------------------------------------------- all */

static GtkWidget *new_label(GtkWidget *box)
{
    GtkWidget *label = gtk_label_new("");

    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_box_append(GTK_BOX(box), label);
    return label;
}

GtkWidget *status_new(GstElement *filter, struct tap *tap, struct status **out)
{
    struct status *status = g_new0(struct status, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);

    status->filter = filter;
    status->tap = tap;
    gtk_widget_set_margin_start(box, 8);
    gtk_widget_set_margin_end(box, 8);
    gtk_widget_set_margin_bottom(box, 4);
    status->rate = new_label(box);
    status->ways = new_label(box);
    status->events = new_label(box);
    gtk_box_append(GTK_BOX(box), plot_new(&status->plot));
    status->timer = g_timeout_add(PAUSE_MS, on_time, status);
    *out = status;
    return box;
}

void status_destroy(struct status *status)
{
    g_source_remove(status->timer);
    forget_reasons(status);
    g_free(status);
}
