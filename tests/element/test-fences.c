/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Order between devices: fences of dma-bufs, and frames that leave before they are finished. */
#include "fakes.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------- fences */

static const struct {
    const char *name;
    gboolean sync_fd;
    gint fence_given;
    enum tdl_result fence, wait, want, set;
    const char *calls; /* for an input and an output */
} fence_rows[] = {
    { "the GPU waits and signals", TRUE, 1, 0, 0, 0, 0,
      "get-read wait get-write wait want take set-read set-write " },
    { "nobody is at work", TRUE, 0, 0, 0, 0, 0,
      "get-read get-write want take set-read set-write " },
    { "a device without sync files: the output is waited for", FALSE, 1, 0, 0, 0, 0, "cpu-wait " },
    { "a kernel without them", TRUE, 1, TDL_ERROR_UNSUPPORTED, 0, 0, TDL_ERROR_UNSUPPORTED,
      "get-read get-write want take set-read set-write cpu-wait " },
    { "a driver that cannot wait", TRUE, 1, 0, TDL_ERROR_UNSUPPORTED, 0, 0,
      "get-read wait get-write wait want take set-read set-write " },
    { "a driver that cannot signal", TRUE, 1, 0, 0, TDL_ERROR_UNSUPPORTED, 0,
      "get-read wait get-write wait want cpu-wait " },
};

GST_START_TEST(fences)
{
    struct gst_tdl_import input = { .fds = { memfd_create("in", 0) }, .n_fds = 1 };
    struct gst_tdl_import output = { .fds = { memfd_create("out", 0) }, .n_fds = 1 };
    struct gst_tdl_fences list = { .count = 0 };
    struct gst_tdl_importer importer;
    struct tdl_batch *batch = NULL;
    guint before;

    fake_importer(&importer);
    importer.device->able.sync_fd = fence_rows[__i__].sync_fd;
    fake.fence_fd_given = fence_rows[__i__].fence_given;
    fake.fence = fence_rows[__i__].fence;
    fake.wait = fence_rows[__i__].wait;
    fake.want = fence_rows[__i__].want;
    fake.set = fence_rows[__i__].set;
    fail_unless_equals_int(tdl_batch_create(fake.context, &batch), TDL_OK);
    before = open_fds();
    gst_tdl_fences_add(&list, &input, FALSE);
    gst_tdl_fences_add(&list, &output, TRUE);
    fail_unless_equals_int(gst_tdl_fences_wait(&list, &importer, batch), TDL_OK);
    fail_unless_equals_int(gst_tdl_fences_attach(&list, &importer, batch, 0), TDL_OK);
    expect_calls(fence_rows[__i__].calls);
    fail_unless_equals_uint64(importer.stats.cpu_waits,
                              strstr(fence_rows[__i__].calls, "cpu-wait") != NULL);
    fail_unless_equals_int(open_fds(), before);
    tdl_batch_destroy(&batch);
    close(input.fds[0]);
    close(output.fds[0]);
}
GST_END_TEST;

static void on_signal(int number)
{
    (void)number;
}

struct disturber {
    pthread_t whom;
    gint fd; /* written to when the signals are over */
};

static gpointer disturb(gpointer data)
{
    struct disturber *disturber = data;

    for (guint i = 0; i < 20; i++) {
        g_usleep(5000);
        pthread_kill(disturber->whom, SIGUSR1);
    }
    fail_unless_equals_int(write(disturber->fd, "x", 1), 1);
    return NULL;
}

/* The signals of a program end no wait: a pipe stands for the camera's dma-buf. */
GST_START_TEST(fences_and_signals)
{
    struct sigaction action = { .sa_handler = on_signal };
    struct gst_tdl_fences list = { .count = 0 };
    struct gst_tdl_importer importer;
    struct gst_tdl_import input = { .n_fds = 1 };
    struct disturber disturber = { .whom = pthread_self() };
    GThread *thread;
    gint ends[2];

    fake_importer(&importer);
    importer.device->able.sync_fd = FALSE;
    sigaction(SIGUSR1, &action, NULL);
    fail_unless_equals_int(pipe(ends), 0);
    input.fds[0] = ends[0];
    disturber.fd = ends[1];
    gst_tdl_fences_add(&list, &input, FALSE);
    thread = g_thread_new("disturber", disturb, &disturber);
    fail_unless_equals_int(gst_tdl_fences_wait(&list, &importer, NULL), TDL_OK);
    g_thread_join(thread);
    fail_unless_equals_uint64(importer.stats.cpu_waits, 1);
    close(ends[0]);
    close(ends[1]);
}
GST_END_TEST;

/* Buffers that are only read are held instead: no fence, no wait. */
GST_START_TEST(fences_of_input)
{
    struct gst_tdl_import input = { .fds = { memfd_create("in", 0) }, .n_fds = 1 };
    struct gst_tdl_fences list = { .count = 0 };
    struct gst_tdl_importer importer;

    fake_importer(&importer);
    importer.device->able.sync_fd = FALSE;
    gst_tdl_fences_add(&list, &input, FALSE);
    fail_unless_equals_int(gst_tdl_fences_wait(&list, &importer, NULL), TDL_OK);
    fail_unless_equals_int(gst_tdl_fences_attach(&list, &importer, NULL, 0), TDL_OK);
    expect_calls("");
    close(input.fds[0]);
}
GST_END_TEST;

/* -------------------------------------------------------------- whole frames */

#define FRAMES 6
#define LARGE "video/x-raw(memory:DMABuf),format=NV12,width=640,height=360,framerate=30/1"
#define LARGE_BYTES (640 * 360 * 3 / 2)

/* Waits of the streaming thread; that of the thread that gives inputs back is none. */
static GThread *streaming;
static guint waited;

/* A submission that others wait for until it is let go. */
static struct {
    GMutex lock;
    GCond changed;
    uint64_t point;
    guint waiting;
} slow;

/* TRUE if `point` is the slow submission, which is still held back. */
static gboolean wait_if_slow(uint64_t point, gboolean look_only)
{
    gboolean is_slow;

    g_mutex_lock(&slow.lock);
    while (slow.point && slow.point == point && !look_only) {
        slow.waiting++;
        g_cond_broadcast(&slow.changed);
        g_cond_wait(&slow.changed, &slow.lock);
    }
    is_slow = slow.point && slow.point == point;
    g_mutex_unlock(&slow.lock);
    return is_slow;
}

enum tdl_result __real_tdl_context_wait(struct tdl_context *context, uint64_t point,
                                        uint64_t timeout);
enum tdl_result __wrap_tdl_context_wait(struct tdl_context *context, uint64_t point,
                                        uint64_t timeout);
enum tdl_result __wrap_tdl_context_wait(struct tdl_context *context, uint64_t point,
                                        uint64_t timeout)
{
    if (wait_if_slow(point, timeout == 0))
        return TDL_ERROR_TIMEOUT;
    waited += timeout && g_thread_self() == streaming &&
              __real_tdl_context_wait(context, point, 0) == TDL_ERROR_TIMEOUT;
    return __real_tdl_context_wait(context, point, timeout);
}

/* From dma-buf to dma-buf without a wait of the CPU's: frames leave, with a
 * fence, while the GPU is still at work on them. */
GST_START_TEST(frames_leave_early)
{
    struct gst_tdl_live live = { .mode = GST_TDL_MODE_BLUR, .blur_radius = 16, .threshold = 0.5f,
                                 .feather = 0.4f, .refine = TRUE, .require_zero_copy = TRUE,
                                 .interval = 1 };
    struct gst_tdl_session *session = session_new();
    GstCaps *caps = gst_caps_from_string(LARGE);
    struct gst_tdl_video video;
    GError *error = NULL;

    session->device->ops = &fakes;
    session->device->able.dma_buf_in = session->device->able.sync_fd = TRUE;
    fail_unless(gst_tdl_video_from_caps(caps, &video));
    fail_unless(gst_tdl_session_prepare(session, &live, &video, &video, &error));
    fake.watched = session->device->context;
    streaming = g_thread_self();
    fake.early = 0;
    for (guint i = 0; i < FRAMES; i++) {
        GstBuffer *input = buffer_with(memory_new(LARGE_BYTES, i), NULL, NULL, NULL);
        GstBuffer *output = buffer_with(memory_new(LARGE_BYTES, 0), NULL, NULL, NULL);
        struct gst_tdl_target from = { input, &video }, to = { output, &video };

        waited = 0;
        fail_unless(gst_tdl_session_frame(session, &live, &from, &to, NULL, &error), "%s",
                    error ? error->message : "");
        if (i < GST_TDL_FLIGHT_SLOTS) /* later ones wait for a slot */
            fail_unless_equals_int(waited, 0);
        expect_calls("import import get-read wait get-write wait want take set-read set-write ");
        gst_buffer_unref(input); /* held until it is read */
        gst_buffer_unref(output);
    }
    fail_unless(fake.early > 0, "no frame left before it was finished");
    fail_unless_equals_uint64(session->importer.stats.cpu_waits, 0);
    fail_unless_equals_uint64(session->importer.stats.cpu_copied_bytes, 0);
    fail_unless_equals_string(session->importer.path, "dma-buf");
    fake.watched = NULL;
    gst_tdl_session_free(session);
    fail_unless_equals_int(fake.live_buffers, 0);
    gst_caps_unref(caps);
}
GST_END_TEST;

/* Counts the inputs that have gone back. */
static void went_back(gpointer count, GstMiniObject *where)
{
    (void)where;
    g_mutex_lock(&slow.lock);
    ++*(guint *)count;
    g_cond_broadcast(&slow.changed);
    g_mutex_unlock(&slow.lock);
}

static void submit_input(struct gst_tdl_flight *flight, guint lane, guint *back, uint64_t *point)
{
    struct gst_tdl_fences none = { .count = 0 };
    GstBuffer *input = gst_buffer_new();
    struct gst_tdl_importer importer;
    struct gst_tdl_slot *slot;

    fake_importer(&importer);
    gst_mini_object_weak_ref(GST_MINI_OBJECT(input), went_back, back);
    fail_unless_equals_int(gst_tdl_flight_begin(flight, lane, &slot), TDL_OK);
    g_mutex_lock(&slow.lock);
    fail_unless_equals_int(gst_tdl_flight_submit(slot, input, &importer, &none), TDL_OK);
    if (point)
        *point = slot->point;
    g_mutex_unlock(&slow.lock);
    gst_buffer_unref(input);
}

/* The input of a slow network on a queue of its own keeps back no other. */
GST_START_TEST(slow_lane)
{
    struct gst_tdl_flight flight;
    guint slow_back = 0, back = 0;

    streaming = g_thread_self();
    fail_unless_equals_int(gst_tdl_flight_init(&flight, fake.context, 0), TDL_OK);
    submit_input(&flight, 1, &slow_back, &slow.point);
    g_mutex_lock(&slow.lock);
    while (!slow.waiting)
        g_cond_wait(&slow.changed, &slow.lock);
    g_mutex_unlock(&slow.lock);
    submit_input(&flight, 0, &back, NULL);
    g_mutex_lock(&slow.lock);
    while (!back)
        g_cond_wait(&slow.changed, &slow.lock);
    fail_unless_equals_int(slow_back, 0);
    slow.point = 0;
    g_cond_broadcast(&slow.changed);
    while (!slow_back)
        g_cond_wait(&slow.changed, &slow.lock);
    g_mutex_unlock(&slow.lock);
    gst_tdl_flight_finish(&flight);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("fences");
    TCase *tc = tcase_create("fakes");

    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 600); /* one loads a model */
    tcase_add_loop_test(tc, fences, 0, G_N_ELEMENTS(fence_rows));
    tcase_add_test(tc, fences_and_signals);
    tcase_add_test(tc, fences_of_input);
    tcase_add_test(tc, slow_lane);
    tcase_add_test(tc, frames_leave_early);
    return s;
}

int main(int argc, char **argv)
{
    return util_main(argc, argv, suite(), "fences");
}
