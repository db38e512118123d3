/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * life restart|flush|renegotiate|error|unplug|flat:FRAMES DEVICE PROPERTIES CAPS...
 *      (or jobs: see frames_jobs())
 *
 * "v4l2src ! CAPS ! tdlfilter PROPERTIES ! fakesink" through what happens to
 * pipelines, while dma-bufs are under way; after each event frames must flow
 * again. Who looks at file descriptors counts them when nothing is left.
 */
#include "frames.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 3
#define FRAMES_A_ROUND 8
#define PATIENCE_S 600 /* for the next frame */

struct life {
    GstElement *pipeline, *camera, *caps_filter, *filter;
    GstBuffer *held_in, *held_out; /* the last ones: still under way when things happen */
    GMutex lock;
    GCond frame;
    guint frames, dma_bufs;
    gint width; /* width of the last frame */
    guint fds;  /* the least that were open when a frame left, since it was reset */
};

static const char *device, *properties;
static guint flat_frames;

static guint count_fds(void)
{
    GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
    guint count = 0;

    while (g_dir_read_name(dir))
        count++;
    g_dir_close(dir);
    return count;
}

/* Memory that malloc() has given out, KiB. */
static glong heap_kib(void)
{
    struct mallinfo2 info = mallinfo2();

    return (glong)((info.uordblks + info.hblkhd) / 1024);
}

/* Resident memory but for pages of files, which come as code is first run, and
 * for what malloc() keeps after free(): its arenas grow by steps of what the
 * driver's compiler takes at once. KiB. */
static glong anonymous_kib(void)
{
    gchar *text = NULL;
    glong kib = 0;

    malloc_trim(0);
    g_file_get_contents("/proc/self/status", &text, NULL, NULL);
    const char *line = text ? strstr(text, "RssAnon:") : NULL;
    if (!line || sscanf(line, "RssAnon: %ld", &kib) != 1)
        frames_check(FALSE, "/proc/self/status cannot be read");
    g_free(text);
    return kib;
}

static GstPadProbeReturn arrived(GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
    struct life *life = data;
    (void)pad;

    g_mutex_lock(&life->lock);
    gst_buffer_replace(&life->held_in, GST_PAD_PROBE_INFO_BUFFER(probe));
    life->dma_bufs += frames_are_dma_buf(life->held_in);
    g_mutex_unlock(&life->lock);
    return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn left(GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
    struct life *life = data;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    guint fds = flat_frames ? count_fds() : 0;
    GstVideoInfo info;

    if (!frames_info(caps, &info))
        frames_check(FALSE, "understood the filter's caps");
    gst_caps_unref(caps);
    g_mutex_lock(&life->lock);
    gst_buffer_replace(&life->held_out, GST_PAD_PROBE_INFO_BUFFER(probe));
    life->width = info.width;
    life->fds = MIN(life->fds, fds);
    life->frames++;
    g_cond_signal(&life->frame);
    g_mutex_unlock(&life->lock);
    return GST_PAD_PROBE_OK;
}

static void probe(struct life *life, const char *name, GstPadProbeCallback callback)
{
    GstPad *pad = gst_element_get_static_pad(life->filter, name);

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, life, NULL);
    gst_object_unref(pad);
}

/* A camera that loses frames tells of each: what nobody reads must not pile up. */
static GstBusSyncReply keep_ends(GstBus *bus, GstMessage *message, gpointer data)
{
    (void)bus, (void)data;
    if (GST_MESSAGE_TYPE(message) & (GST_MESSAGE_ERROR | GST_MESSAGE_EOS))
        return GST_BUS_PASS;
    gst_message_unref(message);
    return GST_BUS_DROP;
}

static void life_init(struct life *life, const char *caps)
{
    gchar *line = g_strdup_printf(
        "v4l2src name=camera device=%s ! capsfilter name=caps caps=\"%s\" ! "
        "tdlfilter name=filter qos=false %s ! fakesink sync=false", device, caps, properties);

    life->pipeline = harness_parse(line);
    life->camera = gst_bin_get_by_name(GST_BIN(life->pipeline), "camera");
    life->caps_filter = gst_bin_get_by_name(GST_BIN(life->pipeline), "caps");
    life->filter = gst_bin_get_by_name(GST_BIN(life->pipeline), "filter");
    GstBus *bus = gst_element_get_bus(life->pipeline);
    gst_bus_set_sync_handler(bus, keep_ends, NULL, NULL);
    gst_object_unref(bus);
    g_mutex_init(&life->lock);
    g_cond_init(&life->frame);
    probe(life, "sink", arrived);
    probe(life, "src", left);
    g_free(line);
}

static void let_go(struct life *life)
{
    g_mutex_lock(&life->lock);
    gst_buffer_replace(&life->held_in, NULL);
    gst_buffer_replace(&life->held_out, NULL);
    g_mutex_unlock(&life->lock);
}

static void life_finish(struct life *life)
{
    gst_element_set_state(life->pipeline, GST_STATE_NULL);
    let_go(life);
    gst_object_unref(life->camera);
    gst_object_unref(life->caps_filter);
    gst_object_unref(life->filter);
    gst_object_unref(life->pipeline);
    g_mutex_clear(&life->lock);
    g_cond_clear(&life->frame);
}

/* Wait for more frames, `width` px wide unless that is 0. */
static void expect_frames(struct life *life, guint more, gint width, const char *when)
{
    gboolean in_time = TRUE;

    g_mutex_lock(&life->lock);
    guint wanted = life->frames + more;
    while (in_time && (life->frames < wanted || (width && life->width != width)))
        in_time = g_cond_wait_until(&life->frame, &life->lock,
                                    g_get_monotonic_time() + PATIENCE_S * G_TIME_SPAN_SECOND);
    guint frames = life->frames, dma_bufs = life->dma_bufs;
    g_mutex_unlock(&life->lock);
    GstBus *bus = gst_element_get_bus(life->pipeline);
    GstMessage *error = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    if (error) {
        gchar *text = gst_structure_to_string(gst_message_get_structure(error));
        g_print("error: %s\n", text);
        g_free(text);
    }
    frames_check(in_time && !error, "%s: %u frames", when, frames);
    frames_check(dma_bufs >= frames, "%u of them in dma-bufs", dma_bufs);
    gst_object_unref(bus);
}

static void play(struct life *life)
{
    gst_element_set_state(life->pipeline, GST_STATE_PLAYING);
}

/* ------------------------------------------------------------ what happens */

static void restart(struct life *life, char **caps)
{
    (void)caps;
    for (int i = 0; i < ROUNDS; i++) {
        play(life);
        expect_frames(life, FRAMES_A_ROUND, 0, "played");
        /* Somebody behind us is slow, and still holds our last frame. */
        g_mutex_lock(&life->lock);
        gst_buffer_replace(&life->held_in, NULL);
        g_mutex_unlock(&life->lock);
        gst_element_set_state(life->pipeline, GST_STATE_NULL);
    }
}

static void flush(struct life *life, char **caps)
{
    (void)caps;
    play(life);
    for (int i = 0; i < ROUNDS; i++) {
        expect_frames(life, FRAMES_A_ROUND, 0, i ? "flushed" : "played");
        gst_element_send_event(life->camera, gst_event_new_flush_start());
        gst_element_send_event(life->camera, gst_event_new_flush_stop(TRUE));
    }
    expect_frames(life, FRAMES_A_ROUND, 0, "flushed");
}

static void renegotiate(struct life *life, char **caps)
{
    play(life);
    expect_frames(life, FRAMES_A_ROUND, 0, "played");
    for (; *caps; caps++) {
        GstCaps *next = gst_caps_from_string(*caps);
        gint width = 0;

        gst_structure_get_int(gst_caps_get_structure(next, 0), "width", &width);
        g_object_set(life->caps_filter, "caps", next, NULL);
        gst_caps_unref(next);
        let_go(life); /* the driver takes no new format while buffers of the old one are out */
        expect_frames(life, FRAMES_A_ROUND, width, *caps);
    }
}

static void inject(const char *control)
{
    gchar *command = g_strdup_printf("v4l2-ctl -d %s -c %s=1", device, control);

    frames_check(system(command) == 0, "%s", command);
    g_free(command);
}

/* The camera fails in mid-stream: its own error, and nobody else's; then all
 * over again. */
static void fail(struct life *life, const char *control)
{
    for (int i = 0; i < 2; i++) {
        GstBus *bus = gst_element_get_bus(life->pipeline);

        play(life);
        expect_frames(life, FRAMES_A_ROUND, 0, "played");
        inject(control);
        GstMessage *message = gst_bus_timed_pop_filtered(bus, PATIENCE_S * GST_SECOND,
                                                         GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
        frames_check(message != NULL, "a message tells of it");
        frames_check(message->src == GST_OBJECT(life->camera), "it is %s by %s",
                     GST_MESSAGE_TYPE_NAME(message), GST_OBJECT_NAME(message->src));
        gst_message_unref(message);
        gst_element_set_state(life->pipeline, GST_STATE_NULL);
        let_go(life);
        gst_bus_set_flushing(bus, TRUE); /* drop further messages of the failure */
        gst_bus_set_flushing(bus, FALSE);
        gst_object_unref(bus);
    }
}

static void error(struct life *life, char **caps)
{
    (void)caps;
    fail(life, "inject_fatal_streaming_error");
}

static void unplug(struct life *life, char **caps)
{
    (void)caps;
    fail(life, "disconnect");
}

/* A frame under way has fds of its own for a while: they are counted where frames
 * leave, and the least counts. */
static guint least_fds(struct life *life)
{
    g_mutex_lock(&life->lock);
    life->fds = G_MAXUINT;
    g_mutex_unlock(&life->lock);
    expect_frames(life, 20, 0, "counted file descriptors");
    return life->fds;
}

static void flat(struct life *life, char **caps)
{
    (void)caps;
    play(life);
    expect_frames(life, flat_frames / 5, 0, "warmed up");
    guint fds = least_fds(life), fds_after = fds;
    glong heap = 0, anonymous = G_MAXLONG;
    /* A driver takes memory in steps, some of them late, which end; a leak does not. */
    for (guint round = 0; round < 3 && anonymous >= flat_frames * 64L; round++) {
        glong heap_before = heap_kib(), anonymous_before = anonymous_kib();

        expect_frames(life, flat_frames - flat_frames / 5, 0, "went on");
        fds_after = least_fds(life);
        heap = heap_kib() - heap_before;
        anonymous = anonymous_kib() - anonymous_before;
    }

    frames_check(fds_after <= fds, "%u file descriptors, then %u", fds, fds_after);
    frames_check(heap < flat_frames * 64L / 1000, "the heap in use grew by %ld KiB", heap);
    frames_check(anonymous < flat_frames * 64L, "anonymous memory grew by %ld KiB", anonymous);
}

static const struct {
    const char *name;
    void (*run)(struct life *life, char **caps);
} happenings[] = { { "restart", restart }, { "flush", flush }, { "renegotiate", renegotiate },
                   { "error", error },     { "unplug", unplug }, { "flat", flat } };

static int life(int argc, char **argv)
{
    if (argc < 5) {
        g_printerr("life WHAT DEVICE PROPERTIES CAPS...\n");
        return 2;
    }
    device = argv[2];
    properties = argv[3];
    char *what = argv[1], *colon = strchr(what, ':');
    flat_frames = colon ? (guint)atoi(colon + 1) : 0;
    if (colon)
        *colon = '\0';
    for (gsize i = 0; i < G_N_ELEMENTS(happenings); i++) {
        if (strcmp(happenings[i].name, what) != 0)
            continue;
        guint fds[2];
        /* The first round makes the objects that a process makes once. */
        for (int round = 0; round < (flat_frames == 0 ? 2 : 1); round++) {
            struct life life = { 0 };

            life_init(&life, argv[4]);
            happenings[i].run(&life, argv + 5);
            life_finish(&life);
            fds[round] = count_fds();
            fds[1] = count_fds();
        }
        frames_check(fds[1] <= fds[0], "%u file descriptors stay, later %u", fds[0], fds[1]);
        return 0;
    }
    g_printerr("nothing is called %s\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    return frames_jobs(argc, argv, life);
}
