/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The import room from inside, with devices that are not there: the engine's
 * part is a table of fakes, dma-bufs are memory files, and every call is noted.
 */
#include "gsttdlerror.h"
#include "gsttdlsession.h"
#include "util.h"

#include <gst/allocators/gstdmabuf.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

GST_DEBUG_CATEGORY(gst_tdl_filter_debug);
GST_DEBUG_CATEGORY(gst_tdl_debug);

#define WIDTH 64
#define HEIGHT 48
#define CAPS "format=NV12,width=64,height=48,framerate=30/1"

static struct tdl_context *context;

/* -------------------------------------------------------------- fake engine */

static GString *calls; /* "import get-read wait want take set-read " */
static guint live_buffers;
static enum tdl_result import_result, fence_result, wait_result, want_result, set_result;
static int fence_fd_given; /* by get_fence; -1: nobody is at work */

static void note(const char *call)
{
    g_string_append_printf(calls, "%s ", call);
}

/* The pages of the file, or where the device takes no address, their copy. */
static enum tdl_result fake_import_fd(struct tdl_context *ctx, enum tdl_handle_type type, int fd,
                                      size_t size, struct tdl_buffer **out)
{
    off_t length = lseek(fd, 0, SEEK_END);
    enum tdl_result r;
    void *map;

    note("import");
    fail_unless_equals_int(type, TDL_HANDLE_DMA_BUF);
    fail_unless_equals_int(size, 0);
    if (import_result != TDL_OK)
        return import_result;
    map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    fail_unless(map != MAP_FAILED);
    r = tdl_buffer_create(ctx, length, TDL_BUFFER_UPLOAD, out);
    if (r == TDL_OK) {
        memcpy(tdl_buffer_data(*out), map, length);
        live_buffers++;
    }
    munmap(map, length);
    return r;
}

static void fake_destroy(struct tdl_buffer **buffer)
{
    live_buffers -= *buffer != NULL;
    tdl_buffer_destroy(buffer);
}

static enum tdl_result fake_get_fence(int fd, bool for_write, int *out)
{
    fail_unless(fd >= 0);
    note(for_write ? "get-write" : "get-read");
    *out = fence_result == TDL_OK && fence_fd_given ? dup(STDIN_FILENO) : -1;
    return fence_result;
}

/* Of whom it is noted how often a fence was attached before the work was done. */
static struct tdl_context *watched;
static guint early;

static enum tdl_result fake_set_fence(int fd, bool for_write, int sync_fd)
{
    fail_unless(fd >= 0 && sync_fd >= 0);
    if (watched && for_write)
        early += tdl_context_wait(watched, tdl_context_last_point(watched), 0) ==
                 TDL_ERROR_TIMEOUT;
    note(for_write ? "set-write" : "set-read");
    return set_result;
}

static enum tdl_result fake_wait_sync_fd(struct tdl_batch *batch, int sync_fd)
{
    fail_unless(batch != NULL);
    note("wait");
    if (wait_result == TDL_OK)
        close(sync_fd); /* consumed */
    return wait_result;
}

static enum tdl_result fake_want(struct tdl_batch *batch)
{
    fail_unless(batch != NULL);
    note("want");
    return want_result;
}

static enum tdl_result fake_take(struct tdl_batch *batch, int *out)
{
    fail_unless(batch != NULL);
    note("take");
    *out = dup(STDIN_FILENO);
    return TDL_OK;
}

static enum tdl_result fake_wait_point(struct tdl_context *ctx, uint64_t point, uint64_t timeout)
{
    note("cpu-wait");
    return tdl_context_wait(ctx, point, timeout);
}

static const struct gst_tdl_import_ops fakes = {
    .import_host = tdl_buffer_import_host,
    .import_fd = fake_import_fd,
    .destroy_buffer = fake_destroy,
    .destroy_image = tdl_image_destroy,
    .get_fence = fake_get_fence,
    .set_fence = fake_set_fence,
    .wait_sync_fd = fake_wait_sync_fd,
    .want_sync_fd = fake_want,
    .take_sync_fd = fake_take,
    .wait_point = fake_wait_point,
};

/* A device of which everything can be said. */
static void fake_importer(struct gst_tdl_importer *importer)
{
    gst_tdl_importer_init(importer, context, NULL);
    importer->ops = &fakes;
    importer->able.dma_buf = importer->able.sync_fd = TRUE;
}

static void expect_calls(const char *expected)
{
    fail_unless(!strcmp(calls->str, expected), "called \"%s\", not \"%s\"", calls->str, expected);
    g_string_truncate(calls, 0);
}

static guint open_fds(void)
{
    GDir *folder = g_dir_open("/proc/self/fd", 0, NULL);
    guint count = 0;

    while (g_dir_read_name(folder))
        count++;
    g_dir_close(folder);
    return count;
}

static void setup(void)
{
    GST_DEBUG_CATEGORY_INIT(gst_tdl_filter_debug, "tdlfilter", 0, "tdlfilter element");
    GST_DEBUG_CATEGORY_INIT(gst_tdl_debug, "tdl", 0, "libtdl");
    calls = g_string_new(NULL);
    live_buffers = 0;
    fence_fd_given = 1;
    import_result = fence_result = wait_result = want_result = set_result = TDL_OK;
    fail_unless_equals_int(
        tdl_context_create(&(struct tdl_context_params){ 0 }, &context), TDL_OK);
}

static void teardown(void)
{
    tdl_context_destroy(&context);
    g_string_free(calls, TRUE);
}

/* ----------------------------------------------------------------- dma-bufs */

static GstMemory *memory_new(gsize size, guint8 value)
{
    GstAllocator *allocator = gst_dmabuf_allocator_new();
    gint fd = memfd_create("dma-buf", MFD_CLOEXEC);
    g_autofree guint8 *bytes = g_malloc(size);
    GstMemory *memory;

    for (gsize i = 0; i < size; i++)
        bytes[i] = value + i % 13;
    fail_unless(fd >= 0 && write(fd, bytes, size) == (gssize)size);
    memory = gst_dmabuf_allocator_alloc(allocator, fd, size);
    gst_object_unref(allocator);
    return memory;
}

static void read_caps(struct gst_tdl_video *video, const char *features)
{
    g_autofree gchar *text = g_strdup_printf("video/x-raw%s," CAPS, features);
    GstCaps *caps = gst_caps_from_string(text);

    fail_unless(gst_tdl_video_from_caps(caps, video));
    gst_caps_unref(caps);
}

static GstBuffer *buffer_with(GstMemory *first, GstMemory *second, const gsize *offsets,
                              const gint *strides)
{
    GstBuffer *buffer = gst_buffer_new();

    gst_buffer_append_memory(buffer, first);
    if (second)
        gst_buffer_append_memory(buffer, second);
    if (offsets)
        gst_buffer_add_video_meta_full(buffer, 0, GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT, 2,
                                       (gsize *)offsets, (gint *)strides);
    return buffer;
}

static gboolean import(struct gst_tdl_importer *importer, GstBuffer *buffer, gboolean may_copy,
                       struct gst_tdl_import *out, gchar **out_error)
{
    struct gst_tdl_staging staging = { NULL };
    struct gst_tdl_video video;
    GError *error = NULL;
    gboolean ok;

    read_caps(&video, "");
    ok = gst_tdl_import(importer, buffer, &video, may_copy, NULL, &staging, out, &error);
    if (out_error)
        *out_error = error ? g_strdup(error->message) : NULL;
    fail_unless_equals_int(ok, error == NULL);
    g_clear_error(&error);
    gst_tdl_staging_clear(&staging);
    return ok;
}

/* Plain caps, one dma-buf, padded rows: planes lie where the meta says. */
GST_START_TEST(one_fd)
{
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { 256, 256 + 128 * HEIGHT + 64 };
    const gint strides[GST_VIDEO_MAX_PLANES] = { 128, 96 };
    GstBuffer *buffer = buffer_with(memory_new(16384, 0), NULL, offsets, strides);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;

    fake_importer(&importer);
    for (guint i = 0; i < 3; i++)
        fail_unless(import(&importer, buffer, FALSE, &out, NULL));
    fail_unless_equals_string(importer.path, "dma-buf");
    expect_calls("import "); /* once for two planes and three frames */
    fail_unless_equals_uint64(importer.stats.imports, 1);
    fail_unless_equals_uint64(importer.stats.cache_hits, 5);
    fail_unless_equals_uint64(importer.stats.cpu_mapped_bytes, 0);
    fail_unless_equals_uint64(importer.stats.cpu_copied_bytes, 0);
    for (guint p = 0; p < 2; p++) {
        fail_unless_equals_uint64(out.frame.planes[p].offset, offsets[p]);
        fail_unless_equals_int(out.frame.planes[p].stride, strides[p]);
    }
    fail_unless(out.frame.planes[0].buffer == out.frame.planes[1].buffer);
    fail_unless_equals_int(out.n_fds, 1);
    fail_unless_equals_int(live_buffers, 1);
    gst_buffer_unref(buffer);
    fail_unless_equals_int(live_buffers, 0); /* dropped with the memory */
}
GST_END_TEST;

/* A dma-buf a plane, as NM12 comes. */
GST_START_TEST(two_fds)
{
    GstBuffer *buffer = buffer_with(memory_new(WIDTH * HEIGHT, 0), memory_new(WIDTH * HEIGHT / 2, 9),
                                    NULL, NULL);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;

    fake_importer(&importer);
    fail_unless(import(&importer, buffer, FALSE, &out, NULL));
    fail_unless(out.frame.planes[0].buffer != out.frame.planes[1].buffer);
    fail_unless_equals_uint64(out.frame.planes[1].offset, 0);
    fail_unless_equals_int(out.n_fds, 2);
    fail_unless(out.fds[0] != out.fds[1]);
    fail_unless_equals_uint64(importer.stats.imports, 2);
    gst_buffer_unref(buffer);
    fail_unless_equals_int(live_buffers, 0);
}
GST_END_TEST;

/* Parts of parts, as pipewiresrc and others make them anew for every frame:
 * the cache is at the memory that they are parts of. */
GST_START_TEST(shares)
{
    GstMemory *whole = memory_new(16384, 0);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;

    fake_importer(&importer);
    for (guint i = 0; i < 3; i++) {
        GstMemory *part = gst_memory_share(whole, 512, -1), *piece = gst_memory_share(part, 64, -1);
        GstBuffer *buffer = buffer_with(piece, NULL, NULL, NULL);

        fail_unless(import(&importer, buffer, FALSE, &out, NULL));
        fail_unless_equals_uint64(out.frame.planes[0].offset, 576);
        fail_unless_equals_uint64(out.frame.planes[1].offset, 576 + WIDTH * HEIGHT);
        gst_buffer_unref(buffer);
        gst_memory_unref(part);
    }
    expect_calls("import ");
    fail_unless_equals_int(live_buffers, 1);
    gst_memory_unref(whole);
    fail_unless_equals_int(live_buffers, 0);
}
GST_END_TEST;

static GstMemory *again(GstMemory *memory)
{
    GstAllocator *allocator = gst_dmabuf_allocator_new();
    GstMemory *other = gst_dmabuf_allocator_alloc(
        allocator, dup(gst_dmabuf_memory_get_fd(memory)), memory->size);

    gst_object_unref(allocator);
    return other;
}

/* The same dma-bufs in a new memory for each frame, as unixfdsrc sends them: the
 * second time they are kept. */
GST_START_TEST(new_memories)
{
    GstMemory *files[2] = { memory_new(16384, 0), memory_new(16384, 7) };
    struct gst_tdl_importer importer;
    struct tdl_buffer *made[2];
    struct gst_tdl_import out;
    guint before;

    fake_importer(&importer);
    before = open_fds();
    for (guint i = 0; i < 10; i++) {
        GstBuffer *buffer = buffer_with(again(files[i % 2]), NULL, NULL, NULL);

        fail_unless(import(&importer, buffer, FALSE, &out, NULL));
        if (i < 4)
            made[i % 2] = out.frame.planes[0].buffer;
        else
            fail_unless(out.frame.planes[0].buffer == made[i % 2]);
        gst_buffer_unref(buffer);
        fail_unless_equals_int(live_buffers, i < 2 ? 0 : MIN(i - 1, 2));
    }
    expect_calls("import import import import ");
    fail_unless_equals_uint64(importer.stats.imports, 4);
    fail_unless(made[0] != made[1]);
    gst_tdl_importer_forget(&importer);
    fail_unless_equals_int(live_buffers, 0);
    fail_unless_equals_int(open_fds(), before);
    gst_memory_unref(files[0]);
    gst_memory_unref(files[1]);
}
GST_END_TEST;

/* Of a source that never comes to an end of them only the last ones are kept. */
GST_START_TEST(ever_new_files)
{
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;
    guint before;

    fake_importer(&importer);
    before = open_fds();
    for (guint i = 0; i < 100; i++) {
        GstMemory *file = memory_new(WIDTH * HEIGHT * 3 / 2, i);

        for (guint time = 0; time < 3; time++) {
            GstBuffer *buffer = buffer_with(again(file), NULL, NULL, NULL);

            fail_unless(import(&importer, buffer, FALSE, &out, NULL));
            gst_buffer_unref(buffer);
        }
        gst_memory_unref(file);
    }
    fail_unless_equals_uint64(importer.stats.imports, 200);
    fail_unless(live_buffers > 8 && live_buffers <= 32, "%u are kept", live_buffers);
    gst_tdl_importer_forget(&importer);
    fail_unless_equals_int(live_buffers, 0);
    fail_unless_equals_int(open_fds(), before);
}
GST_END_TEST;

/* One row, one device or buffer that cannot: the reason, and what is done then. */
enum trouble { NO_EXTENSION, REFUSED, NOT_DMA_BUF, UPSIDE_DOWN, SPREAD };
static const struct {
    enum trouble trouble;
    const char *reason;
    guint imports; /* tried in two frames */
} declines[] = {
    { NO_EXTENSION, "dma-buf: the device cannot import dma-bufs (VK_EXT_external_memory_dma_buf)", 0 },
    { REFUSED, "dma-buf: ", 1 }, /* and not asked again */
    { NOT_DMA_BUF, "dma-buf: the memory is not a dma-buf", 0 },
    { UPSIDE_DOWN, "dma-buf: a plane is spread over several memories, or upside down", 0 },
    { SPREAD, "dma-buf: a plane is spread over several memories, or upside down", 0 },
};

static GstBuffer *troubled_buffer(enum trouble trouble)
{
    const gsize size = WIDTH * HEIGHT * 3 / 2;
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { WIDTH * (HEIGHT - 1), size - WIDTH };
    const gint strides[GST_VIDEO_MAX_PLANES] = { -WIDTH, -WIDTH };

    if (trouble == NOT_DMA_BUF)
        return buffer_with(gst_allocator_alloc(NULL, size, NULL), NULL, NULL, NULL);
    if (trouble == UPSIDE_DOWN)
        return buffer_with(memory_new(size, 0), NULL, offsets, strides);
    if (trouble == SPREAD)
        return buffer_with(memory_new(1024, 0), memory_new(size - 1024, 0), NULL, NULL);
    return buffer_with(memory_new(size, 0), NULL, NULL, NULL);
}

GST_START_TEST(decline)
{
    GstBuffer *buffer = troubled_buffer(declines[__i__].trouble);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;
    g_autofree gchar *error = NULL;

    fake_importer(&importer);
    importer.able.host_pointer = FALSE;
    importer.able.dma_buf = declines[__i__].trouble != NO_EXTENSION;
    if (declines[__i__].trouble == REFUSED)
        import_result = TDL_ERROR_UNSUPPORTED;
    fail_if(import(&importer, buffer, FALSE, &out, &error));
    fail_unless(strstr(error, declines[__i__].reason) && strstr(error, "require-zero-copy=false"),
                "%s", error);
    fail_unless_equals_uint64(importer.stats.cpu_copied_bytes, 0);

    fail_unless(import(&importer, buffer, TRUE, &out, NULL));
    fail_unless_equals_string(importer.path, gst_tdl_import_copy);
    fail_unless(g_str_has_prefix(importer.declined, declines[__i__].reason), "%s",
                importer.declined);
    fail_unless_equals_uint64(importer.stats.cpu_copied_bytes, WIDTH * HEIGHT * 3 / 2);
    fail_unless_equals_uint64(importer.stats.cpu_mapped_bytes, gst_buffer_get_size(buffer));
    fail_unless_equals_uint64(importer.stats.cache_hits, 0);
    expect_calls(declines[__i__].imports ? "import " : "");
    gst_buffer_unref(buffer);
}
GST_END_TEST;

/* A dma-buf that is smaller than the caps say is the source's mistake, not ours. */
GST_START_TEST(too_small)
{
    GstBuffer *buffer = buffer_with(memory_new(1000, 0), NULL, NULL, NULL);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;
    g_autofree gchar *error = NULL;

    fake_importer(&importer);
    fail_if(import(&importer, buffer, TRUE, &out, &error));
    fail_unless(strstr(error, "1000 bytes is too small for 64x48 px of NV12"), "%s", error);
    expect_calls("");
    gst_buffer_unref(buffer);
}
GST_END_TEST;

GST_START_TEST(targets)
{
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, 66 * HEIGHT };
    const gint strides[GST_VIDEO_MAX_PLANES] = { 66, 66 };
    GstBuffer *good = buffer_with(memory_new(16384, 0), NULL, NULL, NULL);
    GstBuffer *odd = buffer_with(memory_new(16384, 0), NULL, offsets, strides);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;
    struct gst_tdl_video video;
    GError *error = NULL;

    read_caps(&video, "(memory:DMABuf)");
    fake_importer(&importer);
    fail_unless(gst_tdl_import_target(&importer, good, &video, NULL, &out, &error));
    fail_unless_equals_int(out.n_fds, 1);
    fail_if(gst_tdl_import_target(&importer, odd, &video, NULL, &out, &error));
    fail_unless(strstr(error->message, "whole words of four bytes"), "%s", error->message);
    g_error_free(error);
    gst_buffer_unref(good);
    gst_buffer_unref(odd);
}
GST_END_TEST;

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
    importer.able.sync_fd = fence_rows[__i__].sync_fd;
    fence_fd_given = fence_rows[__i__].fence_given;
    fence_result = fence_rows[__i__].fence;
    wait_result = fence_rows[__i__].wait;
    want_result = fence_rows[__i__].want;
    set_result = fence_rows[__i__].set;
    fail_unless_equals_int(tdl_batch_create(context, &batch), TDL_OK);
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
    importer.able.sync_fd = FALSE;
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

/* What is only read is held instead: no fence, no wait. */
GST_START_TEST(fences_of_input)
{
    struct gst_tdl_import input = { .fds = { memfd_create("in", 0) }, .n_fds = 1 };
    struct gst_tdl_fences list = { .count = 0 };
    struct gst_tdl_importer importer;

    fake_importer(&importer);
    importer.able.sync_fd = FALSE;
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

static struct gst_tdl_session *session_new(void)
{
    const gchar *model = g_getenv("TDL_TEST_MODEL"); /* a smaller one, for slow machines */
    struct gst_tdl_sources sources = { .model = (gchar *)(model ? model : ""),
                                       .device = (gchar *)"", .background = (gchar *)"",
                                       .fuse = TRUE };
    struct gst_tdl_session *session;
    GError *error = NULL;

    sources.classes = g_array_new(FALSE, FALSE, sizeof(gint));
    session = gst_tdl_session_new(&sources, NULL, &error);
    fail_unless(session != NULL, "%s", error ? error->message : "");
    g_array_unref(sources.classes);
    session->importer.ops = &fakes;
    session->importer.able.dma_buf = session->importer.able.sync_fd = TRUE;
    return session;
}

/* From dma-buf to dma-buf without a wait of the CPU's: frames leave, with a
 * fence, while the GPU is still at work on them. */
GST_START_TEST(frames_leave_early)
{
    struct gst_tdl_live live = { .mode = TDL_MODE_BLUR, .blur_radius = 16, .threshold = 0.5f,
                                 .feather = 0.4f, .refine = TRUE, .require_zero_copy = TRUE,
                                 .interval = 1 };
    struct gst_tdl_session *session = session_new();
    GstCaps *caps = gst_caps_from_string(LARGE);
    struct tdl_context_stats before, after;
    struct gst_tdl_video video;
    GError *error = NULL;

    fail_unless(gst_tdl_video_from_caps(caps, &video));
    fail_unless(gst_tdl_session_prepare(session, &live, &video, &video, &error));
    watched = session->context;
    early = 0;
    for (guint i = 0; i < FRAMES; i++) {
        GstBuffer *input = buffer_with(memory_new(LARGE_BYTES, i), NULL, NULL, NULL);
        GstBuffer *output = buffer_with(memory_new(LARGE_BYTES, 0), NULL, NULL, NULL);

        tdl_context_get_stats(session->context, &before);
        fail_unless(gst_tdl_session_frame(session, &live, input, &video, output, &video, &error),
                    "%s", error ? error->message : "");
        tdl_context_get_stats(session->context, &after);
        if (i < GST_TDL_FLIGHT_SLOTS) /* later ones wait for a slot */
            fail_unless_equals_uint64(after.waits, before.waits);
        expect_calls("import import get-read wait get-write wait want take set-read set-write ");
        gst_buffer_unref(input); /* held until it is read */
        gst_buffer_unref(output);
    }
    fail_unless(early > 0, "no frame left before it was finished");
    fail_unless_equals_uint64(session->importer.stats.cpu_waits, 0);
    fail_unless_equals_uint64(session->importer.stats.cpu_copied_bytes, 0);
    fail_unless_equals_string(session->importer.path, "dma-buf");
    watched = NULL;
    gst_tdl_session_free(session);
    fail_unless_equals_int(live_buffers, 0);
    gst_caps_unref(caps);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("import");
    TCase *tc = tcase_create("fakes");

    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 600); /* one loads a model */
    tcase_add_test(tc, one_fd);
    tcase_add_test(tc, two_fds);
    tcase_add_test(tc, shares);
    tcase_add_test(tc, new_memories);
    tcase_add_test(tc, ever_new_files);
    tcase_add_loop_test(tc, decline, 0, G_N_ELEMENTS(declines));
    tcase_add_test(tc, too_small);
    tcase_add_test(tc, targets);
    tcase_add_loop_test(tc, fences, 0, G_N_ELEMENTS(fence_rows));
    tcase_add_test(tc, fences_and_signals);
    tcase_add_test(tc, fences_of_input);
    tcase_add_test(tc, frames_leave_early);
    return s;
}

int main(int argc, char **argv)
{
    return util_main(argc, argv, suite(), "import");
}
