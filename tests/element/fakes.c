/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fakes.h"

#include "base/gsttdlerror.h"

#include <gst/allocators/gstdmabuf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fake fake;

/* -------------------------------------------------------------- fake engine */


static void note(const char *call)
{
    g_string_append_printf(fake.calls, "%s ", call);
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
    if (fake.import != TDL_OK)
        return fake.import;
    map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    fail_unless(map != MAP_FAILED);
    r = tdl_buffer_create(ctx, length, TDL_BUFFER_UPLOAD, out);
    if (r == TDL_OK) {
        memcpy(tdl_buffer_data(*out), map, length);
        fake.live_buffers++;
    }
    munmap(map, length);
    return r;
}

static void fake_destroy(struct tdl_buffer **buffer)
{
    fake.live_buffers -= *buffer != NULL;
    tdl_buffer_destroy(buffer);
}

static bool fake_is_local(const struct tdl_buffer *buffer)
{
    fail_unless(buffer != NULL);
    return true;
}

static enum tdl_result fake_get_fence(int fd, bool for_write, int *out)
{
    fail_unless(fd >= 0);
    note(for_write ? "get-write" : "get-read");
    *out = fake.fence == TDL_OK && fake.fence_fd_given ? dup(STDIN_FILENO) : -1;
    return fake.fence;
}

static enum tdl_result fake_set_fence(int fd, bool for_write, int sync_fd)
{
    fail_unless(fd >= 0 && sync_fd >= 0);
    if (fake.watched && for_write)
        fake.early += tdl_context_wait(fake.watched, tdl_context_last_point(fake.watched), 0) ==
                 TDL_ERROR_TIMEOUT;
    note(for_write ? "set-write" : "set-read");
    return fake.set;
}

static enum tdl_result fake_wait_sync_fd(struct tdl_batch *batch, int sync_fd)
{
    fail_unless(batch != NULL);
    note("wait");
    if (fake.wait == TDL_OK)
        close(sync_fd); /* consumed */
    return fake.wait;
}

static enum tdl_result fake_want(struct tdl_batch *batch)
{
    fail_unless(batch != NULL);
    note("want");
    return fake.want;
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

const struct gst_tdl_device_ops fakes = {
    .import_host = tdl_buffer_import_host,
    .import_fd = fake_import_fd,
    .destroy_buffer = fake_destroy,
    .is_local = fake_is_local,
    .destroy_image = tdl_image_destroy,
    .get_fence = fake_get_fence,
    .set_fence = fake_set_fence,
    .wait_sync_fd = fake_wait_sync_fd,
    .want_sync_fd = fake_want,
    .take_sync_fd = fake_take,
    .wait_point = fake_wait_point,
};

/* A device of which everything can be said. */
void fake_importer(struct gst_tdl_importer *importer)
{
    fake.device->ops = &fakes;
    fake.device->able.dma_buf_in = fake.device->able.sync_fd = TRUE;
    gst_tdl_importer_init(importer, fake.device);
}

void expect_calls(const char *expected)
{
    fail_unless(!strcmp(fake.calls->str, expected), "called \"%s\", not \"%s\"", fake.calls->str,
                expected);
    g_string_truncate(fake.calls, 0);
}

guint open_fds(void)
{
    GDir *folder = g_dir_open("/proc/self/fd", 0, NULL);
    guint count = 0;

    while (g_dir_read_name(folder))
        count++;
    g_dir_close(folder);
    return count;
}

void setup(void)
{
    gst_tdl_error_init();
    fake = (struct fake){ .calls = g_string_new(NULL), .fence_fd_given = 1 };
    fail_unless_equals_int(
        tdl_context_create(&(struct tdl_context_params){ 0 }, &fake.context), TDL_OK);
    fake.device = gst_tdl_device_new(tdl_context_ref(fake.context), NULL);
}

void teardown(void)
{
    g_clear_pointer(&fake.device, gst_tdl_device_unref);
    tdl_context_destroy(&fake.context);
    g_string_free(fake.calls, TRUE);
}

/* ------------------------------------------------------------------ buffers */

GstMemory *memory_new(gsize size, guint8 value)
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

void read_caps(struct gst_tdl_video *video, const char *features)
{
    g_autofree gchar *text = g_strdup_printf("video/x-raw%s," CAPS, features);
    GstCaps *caps = gst_caps_from_string(text);

    fail_unless(gst_tdl_video_from_caps(caps, video));
    gst_caps_unref(caps);
}

GstBuffer *buffer_with(GstMemory *first, GstMemory *second, const gsize *offsets,
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

struct gst_tdl_session *session_new(void)
{
    const gchar *model = g_getenv("TDL_TEST_MODEL"); /* a smaller one, for slow machines */
    struct gst_tdl_settings settings;
    struct gst_tdl_progress silent = { NULL };
    struct gst_tdl_session *session;
    GError *error = NULL;

    gst_tdl_settings_init(&settings);
    g_free(settings.sources.model);
    settings.sources.model = g_strdup(model ? model : "");
    session = gst_tdl_session_new(&settings.sources, 1, NULL, &error);
    fail_unless(session != NULL, "%s", error ? error->message : "");
    session->infer = gst_tdl_infer_new(
        &(struct gst_tdl_model_params){ session->device->context, &settings.sources }, &error);
    fail_unless(session->infer != NULL, "%s", error ? error->message : "");
    fail_unless(gst_tdl_infer_compile(session->infer, session->device->context, &silent, &error));
    gst_tdl_settings_finish(&settings);
    return session;
}
