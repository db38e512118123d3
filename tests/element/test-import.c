/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How linear dma-bufs come in, and when they do not. */
#include "fakes.h"

#include <gst/allocators/gstdmabuf.h>
#include <string.h>
#include <unistd.h>

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
    fail_unless_equals_int(fake.live_buffers, 1);
    gst_buffer_unref(buffer);
    fail_unless_equals_int(fake.live_buffers, 0); /* dropped with the memory */
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

/* A dma-buf a plane, as NM12 comes. */
GST_START_TEST(two_fds)
{
    GstBuffer *buffer =
        buffer_with(memory_new(WIDTH * HEIGHT, 0), memory_new(WIDTH * HEIGHT / 2, 9), NULL, NULL);
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
    fail_unless_equals_int(fake.live_buffers, 0);
    gst_tdl_importer_forget(&importer);
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
    fail_unless_equals_int(fake.live_buffers, 1);
    gst_memory_unref(whole);
    fail_unless_equals_int(fake.live_buffers, 0);
    gst_tdl_importer_forget(&importer);
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

/* Dma-bufs that come in a new memory for each frame, as from unixfdsrc, are found again. */
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
        fail_unless_equals_int(fake.live_buffers, i < 2 ? 0 : MIN(i - 1, 2));
    }
    expect_calls("import import import import ");
    fail_unless_equals_uint64(importer.stats.imports, 4);
    fail_unless(made[0] != made[1]);
    gst_tdl_importer_forget(&importer);
    fail_unless_equals_int(fake.live_buffers, 0);
    fail_unless_equals_int(open_fds(), before);
    gst_memory_unref(files[0]);
    gst_memory_unref(files[1]);
}
GST_END_TEST;

/* A source that sends new files for ever has only its last ones kept. */
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
    fail_unless(fake.live_buffers > 8 && fake.live_buffers <= 32, "%u are kept", fake.live_buffers);
    gst_tdl_importer_forget(&importer);
    fail_unless_equals_int(fake.live_buffers, 0);
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
    { NO_EXTENSION, "dma-buf: the device cannot import dma-bufs (VK_EXT_external_memory_dma_buf)",
      0 },
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
    importer.device->able.host_pointer = FALSE;
    importer.device->able.dma_buf_in = declines[__i__].trouble != NO_EXTENSION;
    if (declines[__i__].trouble == REFUSED)
        fake.import = TDL_ERROR_UNSUPPORTED;
    fail_if(import(&importer, buffer, FALSE, &out, &error));
    fail_unless(strstr(error, declines[__i__].reason) && strstr(error, "require-zero-copy=false"),
                "%s", error);
    fail_unless_equals_uint64(importer.stats.cpu_copied_bytes, 0);

    fail_unless(import(&importer, buffer, TRUE, &out, NULL));
    fail_unless_equals_string(importer.path, gst_tdl_import_copy_path);
    fail_unless(strstr(importer.declined, declines[__i__].reason) != NULL, "%s",
                importer.declined);
    fail_unless_equals_uint64(importer.stats.cpu_copied_bytes, WIDTH * HEIGHT * 3 / 2);
    fail_unless_equals_uint64(importer.stats.cpu_mapped_bytes, gst_buffer_get_size(buffer));
    fail_unless_equals_uint64(importer.stats.cache_hits, 0);
    expect_calls(declines[__i__].imports ? "import " : "");
    gst_buffer_unref(buffer);
    gst_tdl_importer_forget(&importer);
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
    gst_tdl_importer_forget(&importer);
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
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

static bool nothing_is_local(const struct tdl_buffer *buffer)
{
    return buffer == NULL;
}

/* A frame over a bus is fetched by the device, with its padding, and then composed as ever. */
GST_START_TEST(far_frames)
{
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {256, 256 + 128 * HEIGHT + 64};
    const gint strides[GST_VIDEO_MAX_PLANES] = {128, 96};
    struct gst_tdl_live live = { .mode = GST_TDL_MODE_OVERLAY, .opacity = 1, .threshold = 0.5f,
                                 .overlay_color = 0xff00ff00, .feather = 0.4f, .interval = 1 };
    struct gst_tdl_device_ops far = gst_tdl_device_engine;
    struct gst_tdl_session *session = session_new();
    guint8 bytes[2][WIDTH * HEIGHT * 3 / 2];
    struct gst_tdl_video video;
    GError *error = NULL;
    guint64 moved[2];

    far.is_local = nothing_is_local;
    read_caps(&video, "");
    fail_unless(gst_tdl_session_prepare(session, &live, &video, &video, &error));
    for (guint i = 0; i < 2; i++) {
        GstBuffer *input =
            buffer_with(gst_allocator_alloc(NULL, 16384, NULL), NULL, offsets, strides);
        GstBuffer *output = buffer_with(
            gst_allocator_alloc(session->readback, sizeof(bytes[i]), NULL), NULL, NULL, NULL);
        struct gst_tdl_target from = {input, &video}, to = {output, &video};
        GstMapInfo map;

        fail_unless(gst_buffer_map(input, &map, GST_MAP_WRITE));
        for (gsize b = 0; b < map.size; b++)
            map.data[b] = 37 * b ^ b / 128;
        gst_buffer_unmap(input, &map);
        session->device->ops = i ? &far : &gst_tdl_device_engine;
        fail_unless(gst_tdl_session_frame(session, &live, &from, &to, NULL, &error), "%s",
                    error ? error->message : "");
        moved[i] = session->importer.stats.gpu_bytes;
        fail_unless_equals_int(gst_buffer_extract(output, 0, bytes[i], sizeof(bytes[i])),
                               sizeof(bytes[i]));
        gst_buffer_unref(input);
        gst_buffer_unref(output);
    }
    fail_unless(memcmp(bytes[0], bytes[1], sizeof(bytes[0])) == 0);
    /* From the first pixel to the last, once more read and once written. */
    fail_unless_equals_uint64(moved[1] - moved[0],
                              2 * ((HEIGHT - 1) * 128 + WIDTH + (HEIGHT / 2 - 1) * 96 + WIDTH));
    gst_tdl_session_free(session);
}
GST_END_TEST;

/* A device without timestamps has its frames timed by the clock, as a whole. */
GST_START_TEST(without_timestamps)
{
    struct gst_tdl_live live = { .mode = GST_TDL_MODE_OVERLAY, .opacity = 1, .threshold = 0.5f,
                                 .overlay_color = 0xff00ff00, .feather = 0.4f, .interval = 1 };
    struct gst_tdl_session *session = session_new();
    struct tdl_device_info *info =
        (struct tdl_device_info *)tdl_context_device(session->device->context);
    struct gst_tdl_video video;
    GError *error = NULL;
    guint64 before, frame;

    info->timestamps = false;
    read_caps(&video, "");
    fail_unless(gst_tdl_session_prepare(session, &live, &video, &video, &error));
    for (guint i = 0; i < 2; i++) {
        GstBuffer *input = gst_buffer_new_allocate(NULL, WIDTH * HEIGHT * 3 / 2, NULL);
        GstBuffer *output = buffer_with(
            gst_allocator_alloc(session->readback, WIDTH * HEIGHT * 3 / 2, NULL), NULL, NULL, NULL);
        struct gst_tdl_target from = { input, &video }, to = { output, &video };

        gst_buffer_memset(input, 0, 100, WIDTH * HEIGHT * 3 / 2);
        if (i) /* keep its mask */
            live.interval = 2;
        fail_unless(gst_tdl_session_frame(session, &live, &from, &to, NULL, &error), "%s",
                    error ? error->message : "");
        fail_unless_equals_int(gst_tdl_flight_retire(&session->flight, TRUE), TDL_OK);
        gst_tdl_session_measure(session);
        gst_buffer_unref(input);
        gst_buffer_unref(output);
        fail_unless_equals_uint64(session->counts.network_runs, 1);
        fail_unless(session->usage.cost.network > 0 && session->usage.cost.picture == 0);
        fail_unless((session->usage.cost.frame > 0) == i);
        frame = session->usage.cost.frame;
    }
    before = session->usage.cost.network;
    gst_tdl_session_measure(session); /* nothing has happened */
    fail_unless_equals_uint64(session->usage.cost.network, before);
    fail_unless_equals_uint64(session->usage.cost.frame, frame);
    info->timestamps = true;
    gst_tdl_session_free(session);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("import");
    TCase *tc = tcase_create("fakes");

    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, one_fd);
    tcase_add_test(tc, two_fds);
    tcase_add_test(tc, shares);
    tcase_add_test(tc, new_memories);
    tcase_add_test(tc, ever_new_files);
    tcase_add_loop_test(tc, decline, 0, G_N_ELEMENTS(declines));
    tcase_add_test(tc, too_small);
    tcase_add_test(tc, targets);
    tcase_add_test(tc, far_frames);
    tcase_add_test(tc, without_timestamps);
    return s;
}

int main(int argc, char **argv)
{
    return util_main(argc, argv, suite(), "import");
}
