/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element between dma-bufs. Memory files stand for dma-bufs: software
 * Vulkan imports whatever it can map, the CPU reads and writes them where they lie,
 * and where the device does neither, what is tested is that the element says so.
 * Real ones come in tests/vm.
 */
#include "util.h"

#include <gst/allocators/gstdmabuf.h>
#include <string.h>
#include <sys/mman.h>
#include <tdl/tdl.h>
#include <unistd.h>

#define FORMAT "width=64,height=48,framerate=30/1"
#define PLAIN "video/x-raw,format=NV12," FORMAT
#define DMA_BUF "video/x-raw(memory:DMABuf),format=NV12," FORMAT
#define DMA_DRM "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12," FORMAT

/* The device that the element will choose. */
static const struct tdl_device_info *device(void)
{
    static struct tdl_device_info info;
    struct tdl_context *context = NULL;

    if (info.name[0])
        return &info;
    fail_unless_equals_int(
        tdl_context_create(&(struct tdl_context_params){ .cache_dir = "" }, &context), TDL_OK);
    info = *tdl_context_device(context);
    tdl_context_destroy(&context);
    return &info;
}

static gboolean is_cpu(void)
{
    return device()->type == TDL_DEVICE_CPU;
}

/* Are they read where they lie, and written? */
static gboolean takes_dma_bufs(void)
{
    return is_cpu() || device()->external_memory_dma_buf;
}

/* A file with room behind the frame, as dma-bufs have. */
static GstMemory *file_new(gsize size)
{
    GstAllocator *allocator = gst_dmabuf_allocator_new();
    gint fd = memfd_create("dma-buf", MFD_CLOEXEC);
    GstMemory *memory;

    size = (size + 64 + 4095) / 4096 * 4096;
    fail_unless(fd >= 0 && ftruncate(fd, size) == 0);
    memory = gst_dmabuf_allocator_alloc(allocator, fd, size);
    gst_object_unref(allocator);
    return memory;
}

static void file_write(GstMemory *memory, GstBuffer *picture)
{
    GstMapInfo map;

    fail_unless(gst_buffer_map(picture, &map, GST_MAP_READ));
    fail_unless(pwrite(gst_dmabuf_memory_get_fd(memory), map.data, map.size, 0) ==
                (gssize)map.size);
    gst_buffer_unmap(picture, &map);
}

/* The picture in a file, with its meta, if it has one. */
static GstBuffer *dma_buf_with(GstMemory *memory, GstBuffer *picture)
{
    GstVideoMeta *meta = gst_buffer_get_video_meta(picture);
    GstBuffer *buffer = gst_buffer_new();

    file_write(memory, picture);
    gst_buffer_append_memory(buffer, gst_memory_ref(memory));
    if (meta)
        gst_buffer_add_video_meta_full(buffer, 0, meta->format, meta->width, meta->height,
                                       meta->n_planes, meta->offset, meta->stride);
    return buffer;
}

static void expect_string(struct filter *filter, const char *property, const char *expected)
{
    g_autofree gchar *value = NULL;

    g_object_get(filter->element, property, &value, NULL);
    fail_unless_equals_string(value, expected);
}

/* The one message of a fallback on `side`, or none. */
static GstStructure *take_fallback(struct filter *filter, const char *side)
{
    GstStructure *found = NULL;
    GstMessage *message;

    while ((message = gst_bus_pop_filtered(filter->bus, GST_MESSAGE_ELEMENT))) {
        const GstStructure *said = gst_message_get_structure(message);

        if (gst_structure_has_name(said, "tdl-fallback") &&
            !g_strcmp0(gst_structure_get_string(said, "side"), side)) {
            fail_unless(found == NULL, "said twice");
            found = gst_structure_copy(said);
        }
        gst_message_unref(message);
    }
    return found;
}

/* ------------------------------------------------------------------------ in */

static const struct {
    const char *name, *caps;
    guint padding;
} inputs[] = {
    { "plain caps, as v4l2src has by default", PLAIN, 0 },
    { "padded rows", PLAIN, 64 },
    { "odd rows", PLAIN, 7 },
    { "dma-buf caps", DMA_BUF, 32 },
    { "dma-buf caps as of 1.24", DMA_DRM, 0 },
};

/* Ten frames in three recycled dma-bufs: none stale, each imported once. */
GST_START_TEST(input)
{
    GstMemory *files[3];
    struct filter filter;
    GstVideoInfo info;

    if (inputs[__i__].caps == (const char *)DMA_DRM && !GST_CHECK_VERSION(1, 24, 0))
        return;
    caps_info(PLAIN, &info);
    filter_start(&filter, "mode=overlay opacity=0", NULL);
    gst_harness_set_sink_caps_str(filter.harness, PLAIN);
    gst_harness_set_src_caps_str(filter.harness, inputs[__i__].caps);
    for (guint i = 0; i < 3; i++)
        files[i] = file_new(16384);
    for (guint i = 0; i < 10; i++) {
        GstBuffer *plain = picture_new(&info, 3 * i), *picture = plain, *output;

        if (inputs[__i__].padding)
            picture = picture_restride(plain, &info, inputs[__i__].padding);
        output = filter_run(&filter, dma_buf_with(files[i % 3], picture));
        picture_compare(output, plain, &info, 2, inputs[__i__].name);
        gst_buffer_unref(output);
        if (picture != plain)
            gst_buffer_unref(picture);
        gst_buffer_unref(plain);
    }
    if (takes_dma_bufs()) {
        expect_string(&filter, "import-path", is_cpu() ? "dma-buf-mapped" : "dma-buf");
        fail_unless_equals_uint64(filter_stat(&filter, "imports"), 3);
        fail_unless_equals_uint64(filter_stat(&filter, "cache-hits"), 2 * 10 - 3);
        fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
        fail_unless_equals_uint64(filter_stat(&filter, "gpu-bytes-per-frame"), 2 * 64 * 48 * 3 / 2);
        if (is_cpu())
            fail_unless(filter_stat(&filter, "cpu-mapped-bytes") >= 10 * 64 * 48 * 3 / 2);
    } else {
        expect_string(&filter, "import-path", "copy");
        fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 10 * 64 * 48 * 3 / 2);
        fail_unless(filter_stat(&filter, "cpu-mapped-bytes") >= 10 * 64 * 48 * 3 / 2);
    }
    for (guint i = 0; i < 3; i++)
        gst_memory_unref(files[i]);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* Upstream is offered our dma-bufs with padded rows where the device makes them. In any case there
 * is a pool in the answer: without one v4l2src copies when it runs low. */
GST_START_TEST(offer)
{
    GstCaps *caps = gst_caps_from_string(DMA_BUF);
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    GstBufferPool *pool = NULL;
    struct filter filter;
    guint size, min, max;

    filter_start(&filter, "", NULL);
    gst_harness_set_src_caps(filter.harness, gst_caps_ref(caps));
    fail_unless(gst_pad_peer_query(filter.harness->srcpad, query));
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
    fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 1);
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    fail_unless(size >= 64 * 48 * 3 / 2 && min >= 2 && max == 0);
    fail_unless_equals_int(pool != NULL, device()->dma_buf_export);
    if (pool) {
        GstBuffer *buffer = NULL;

        gst_buffer_pool_set_active(pool, TRUE);
        fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), GST_FLOW_OK);
        fail_unless(gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, 0)));
        fail_unless_equals_int(gst_buffer_get_video_meta(buffer)->stride[0], 256);
        gst_buffer_unref(buffer);
        gst_buffer_pool_set_active(pool, FALSE);
        gst_object_unref(pool);
    }
    gst_query_unref(query);
    gst_caps_unref(caps);
    filter_stop(&filter);
}
GST_END_TEST;

/* ---------------------------------------------------------------- fallbacks */

/* From a dma-buf into system memory: said once, and once only. */
GST_START_TEST(fallback_is_said)
{
    GstMemory *file = file_new(16384);
    struct filter filter;
    GstStructure *said;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "mode=overlay opacity=0", NULL);
    gst_harness_set_sink_caps_str(filter.harness, PLAIN);
    gst_harness_set_src_caps_str(filter.harness, DMA_BUF);
    for (guint i = 0; i < 3; i++) {
        GstBuffer *picture = picture_new(&info, i);

        gst_buffer_unref(filter_run(&filter, dma_buf_with(file, picture)));
        gst_buffer_unref(picture);
    }
    expect_string(&filter, "export-path", "pool");
    if (takes_dma_bufs()) {
        said = take_fallback(&filter, "output");
        fail_unless(said != NULL, "a camera's frames go through the CPU's memory in silence");
        fail_unless_equals_string(gst_structure_get_string(said, "path"), "pool");
        fail_unless(strstr(gst_structure_get_string(said, "reason"), "system memory") != NULL);
    } else {
        said = take_fallback(&filter, "input");
        fail_unless(said != NULL, "frames are copied in silence");
        fail_unless_equals_string(gst_structure_get_string(said, "path"), "copy");
        fail_unless(strstr(gst_structure_get_string(said, "reason"),
                           "dma-buf: the device cannot import dma-bufs") != NULL, "%s",
                    gst_structure_get_string(said, "reason"));
    }
    gst_structure_free(said);
    gst_memory_unref(file);
    filter_stop(&filter);
}
GST_END_TEST;

/* Nothing is said where nothing falls back. */
GST_START_TEST(system_memory_is_no_fallback)
{
    struct filter filter;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "require-zero-copy=true mode=overlay opacity=0", PLAIN);
    if (device()->external_memory_host)
        gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    gst_buffer_unref(filter_run(&filter, gst_harness_create_buffer(filter.harness, info.size)));
    fail_unless(filter_message(&filter, GST_MESSAGE_ELEMENT) == NULL);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

/* A sink of system memory only, behind a camera's dma-bufs: an error with what
 * to do, no frame lost in silence; under dma-buf caps and under plain ones. */
static const char *const required[] = { DMA_BUF, PLAIN };

GST_START_TEST(zero_copy_is_required)
{
    GstMemory *file = file_new(16384);
    GstFlowReturn flow;
    GstMessage *message;
    struct filter filter;
    GError *error = NULL;
    GstVideoInfo info;
    GstBuffer *picture;

    caps_info(PLAIN, &info);
    filter_start(&filter, "require-zero-copy=true mode=overlay", NULL);
    gst_harness_set_sink_caps_str(filter.harness, PLAIN);
    gst_harness_set_src_caps_str(filter.harness, required[__i__]);
    picture = picture_new(&info, 0);
    flow = gst_harness_push(filter.harness, dma_buf_with(file, picture));
    fail_unless(flow == GST_FLOW_ERROR || flow == GST_FLOW_NOT_NEGOTIATED, "%s",
                gst_flow_get_name(flow));
    message = filter_message(&filter, GST_MESSAGE_ERROR);
    fail_unless(message != NULL);
    gst_message_parse_error(message, &error, NULL);
    fail_unless(strstr(error->message, "require-zero-copy") != NULL, "%s", error->message);
    if (required[__i__] == (const char *)DMA_BUF || device()->external_memory_dma_buf)
        fail_unless(strstr(error->message, "kmssink") != NULL, "%s", error->message);
    else
        fail_unless(strstr(error->message, is_cpu() ? "choose a GPU"
                                                    : "the device cannot import dma-bufs") != NULL,
                    "%s", error->message);
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    fail_unless_equals_int(gst_harness_buffers_received(filter.harness), 0);
    g_error_free(error);
    gst_message_unref(message);
    gst_buffer_unref(picture);
    gst_memory_unref(file);
    filter_stop(&filter);
}
GST_END_TEST;

/* Masks likewise: the frame passes as it is, only its mask would be copied. */
GST_START_TEST(zero_copy_is_required_of_masks)
{
    GstMemory *file = file_new(16384);
    GstMessage *message;
    struct filter filter;
    GError *error = NULL;
    GstBuffer *picture;
    GstVideoInfo info;
    GstHarness *mask;

    caps_info(PLAIN, &info);
    filter_start(&filter, "require-zero-copy=true mode=passthrough", NULL);
    gst_harness_set_sink_caps_str(filter.harness, DMA_BUF);
    mask = gst_harness_new_with_element(filter.element, NULL, "mask_src");
    gst_harness_set_src_caps_str(filter.harness, DMA_BUF);
    picture = picture_new(&info, 0);
    gst_harness_push(filter.harness, dma_buf_with(file, picture));
    message = filter_message(&filter, GST_MESSAGE_ERROR);
    fail_unless(message != NULL, "the mask is copied in silence");
    gst_message_parse_error(message, &error, NULL);
    fail_unless(strstr(error->message, "kmssink") != NULL, "%s", error->message);
    fail_unless_equals_int(gst_harness_buffers_received(mask), 0);
    g_error_free(error);
    gst_message_unref(message);
    gst_buffer_unref(picture);
    gst_memory_unref(file);
    gst_harness_teardown(mask);
    filter_stop(&filter);
}
GST_END_TEST;

/* ----------------------------------------------------------------------- out */

/* A downstream whose pool hands out files as dma-bufs, with rows of its own. */
typedef struct {
    GstBufferPool base;
    GstCaps *caps;
} FilePool;
typedef struct {
    GstBufferPoolClass base;
} FilePoolClass;
GType file_pool_get_type(void);
G_DEFINE_TYPE(FilePool, file_pool, GST_TYPE_BUFFER_POOL)

#define FILE_STRIDE 512

static GstFlowReturn file_pool_alloc(GstBufferPool *pool, GstBuffer **out,
                                     GstBufferPoolAcquireParams *params)
{
    gsize offset[GST_VIDEO_MAX_PLANES] = { 128, 128 + FILE_STRIDE * 48 };
    gint stride[GST_VIDEO_MAX_PLANES] = { FILE_STRIDE, FILE_STRIDE };

    (void)pool, (void)params;
    *out = gst_buffer_new();
    gst_buffer_append_memory(*out, file_new(offset[1] + FILE_STRIDE * 24));
    gst_buffer_add_video_meta_full(*out, 0, GST_VIDEO_FORMAT_NV12, 64, 48, 2, offset, stride);
    return GST_FLOW_OK;
}

static void file_pool_class_init(FilePoolClass *klass)
{
    GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = file_pool_alloc;
}

static void file_pool_init(FilePool *self)
{
    (void)self;
}

/* Reads the file that the filter's output was written to. */
static GstBuffer *read_file(GstBuffer *output, const GstVideoInfo *info)
{
    GstBuffer *copy = gst_buffer_new_allocate(NULL, info->size, NULL);
    gint fd = gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(output, 0));
    GstVideoMeta *meta = gst_buffer_get_video_meta(output);
    GstMapInfo map;

    gst_buffer_map(copy, &map, GST_MAP_WRITE);
    for (guint p = 0; p < 2; p++)
        for (gint y = 0; y < (p ? 24 : 48); y++)
            fail_unless_equals_int(pread(fd, map.data + info->offset[p] + y * info->stride[p], 64,
                                         meta->offset[p] + (gsize)y * meta->stride[p]), 64);
    gst_buffer_unmap(copy, &map);
    return copy;
}

/* Answers ALLOCATION as a sink with a pool of its own would. */
static GstPadProbeReturn offer_pool(GstPad *pad, GstPadProbeInfo *probe, gpointer pool)
{
    GstQuery *query = GST_PAD_PROBE_INFO_QUERY(probe);

    (void)pad;
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
        return GST_PAD_PROBE_OK;
    gst_query_add_allocation_pool(query, pool, 128 + FILE_STRIDE * 72, 2, 4);
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    return GST_PAD_PROBE_HANDLED;
}

/* Ten frames through four of the sink's dma-bufs: written in place, and where
 * the rows of the sink are. That the CPU does it is no zero copy. */
GST_START_TEST(downstream_pool)
{
    GstBufferPool *pool = g_object_new(file_pool_get_type(), NULL);
    GstMemory *file = file_new(16384);
    struct filter filter;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "mode=overlay opacity=0", NULL);
    g_object_set(filter.element, "require-zero-copy", !is_cpu(), NULL);
    gst_pad_add_probe(filter.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool,
                      pool, NULL);
    gst_harness_set_sink_caps_str(filter.harness, DMA_BUF);
    gst_harness_set_src_caps_str(filter.harness, DMA_BUF);
    for (guint i = 0; i < 10 && takes_dma_bufs(); i++) {
        GstBuffer *picture = picture_new(&info, 3 * i), *got;
        GstBuffer *output = filter_run(&filter, dma_buf_with(file, picture));

        fail_unless(output->pool == pool);
        got = read_file(output, &info);
        picture_compare(got, picture, &info, 2, "frame in the sink's dma-buf");
        gst_buffer_unref(got);
        gst_buffer_unref(output);
        gst_buffer_unref(picture);
    }
    if (takes_dma_bufs()) {
        expect_string(&filter, "export-path", "dma-buf-downstream");
        fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
        fail_unless_equals_int(filter_stat(&filter, "cpu-mapped-bytes") > 0, is_cpu());
        fail_unless(filter_message(&filter, GST_MESSAGE_ELEMENT) == NULL);
    }
    gst_memory_unref(file);
    filter_stop(&filter);
    gst_object_unref(pool);
}
GST_END_TEST;

/* No pool downstream: dma-bufs of ours, or an error that says which is missing. */
GST_START_TEST(own_pool)
{
    GstMemory *file = file_new(16384);
    struct filter filter;
    GstBuffer *picture;
    GstVideoInfo info;
    GstFlowReturn flow;

    caps_info(PLAIN, &info);
    filter_start(&filter, "mode=overlay opacity=0", NULL);
    gst_harness_set_sink_caps_str(filter.harness, DMA_BUF);
    gst_harness_set_src_caps_str(filter.harness, DMA_BUF);
    picture = picture_new(&info, 0);
    flow = gst_harness_push(filter.harness, dma_buf_with(file, picture));
    if (device()->dma_buf_export) {
        GstBuffer *output = gst_harness_pull(filter.harness), *got;
        GstVideoMeta *meta = gst_buffer_get_video_meta(output);

        fail_unless_equals_int(flow, GST_FLOW_OK);
        fail_unless(meta && meta->stride[0] == 256 && meta->stride[1] == 256);
        fail_unless(gst_is_dmabuf_memory(gst_buffer_peek_memory(output, 0)));
        expect_string(&filter, "export-path", "dma-buf");
        got = gst_buffer_copy_deep(output);
        picture_compare(got, picture, &info, 2, "frame in our dma-buf");
        gst_buffer_unref(got);
        gst_buffer_unref(output);
        filter_expect_no_error(&filter);
    } else {
        fail_if(flow == GST_FLOW_OK, "dma-bufs out of a device that makes none");
    }
    gst_buffer_unref(picture);
    gst_memory_unref(file);
    filter_stop(&filter);
}
GST_END_TEST;

/* Sinks of OpenGL name dma-bufs first once there is a window. A device that makes none gives the
 * memory that is named next. */
GST_START_TEST(names_what_it_has_not)
{
    static const char *const offers[] = {
        "video/x-raw,format=NV12," FORMAT,
#if GST_CHECK_VERSION(1, 24, 0)
        DMA_DRM ";" PLAIN,
#endif
        DMA_BUF ";" PLAIN,
    };
    struct filter filter;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "device=cpu mode=blur", PLAIN);
    for (guint i = 0; i < G_N_ELEMENTS(offers); i++) { /* one renegotiation after the other */
        GstBuffer *output;
        GstCaps *caps;

        gst_harness_set_sink_caps_str(filter.harness, offers[i]);
        output = filter_run(&filter, picture_new(&info, i));
        filter_expect_no_error(&filter);
        caps = gst_pad_get_current_caps(filter.harness->sinkpad);
        fail_unless(gst_caps_features_is_equal(gst_caps_get_features(caps, 0),
                                               GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY),
                    "%s", gst_caps_to_string(caps));
        gst_caps_unref(caps);
        gst_buffer_unref(output);
    }
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("zero-copy");
    TCase *tc = tcase_create("dma-buf");

    suite_add_tcase(s, tc);
    tcase_set_timeout(tc, 600); /* the first one compiles, on software Vulkan */
    tcase_add_loop_test(tc, input, 0, G_N_ELEMENTS(inputs));
    tcase_add_test(tc, offer);
    tcase_add_test(tc, fallback_is_said);
    tcase_add_test(tc, system_memory_is_no_fallback);
    tcase_add_loop_test(tc, zero_copy_is_required, 0, G_N_ELEMENTS(required));
    tcase_add_test(tc, zero_copy_is_required_of_masks);
    tcase_add_test(tc, downstream_pool);
    tcase_add_test(tc, own_pool);
    tcase_add_test(tc, names_what_it_has_not);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "zero-copy");
}
