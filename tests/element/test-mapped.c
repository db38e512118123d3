/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU as the device: frames are read where they lie, be they in dma-bufs (memory
 * files stand for them) or in memory of some other kind, and written straight into
 * downstream's. What was begun on a memory is ended before anybody else has it.
 */
#include "util.h"

#include <dlfcn.h>
#include <gst/allocators/gstdmabuf.h>
#include <linux/dma-buf.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FORMAT "width=64,height=48,framerate=30/1"
#define PLAIN "video/x-raw,format=NV12," FORMAT
#define SIZE (64 * 48 * 3 / 2)
#define FILE_SIZE 12345 /* a size that nothing else has */

/* ------------------------------------------------------- what is done to dma-bufs */

static gint started, ended, written, mappings; /* atomic */

/* In the place of libc's: the exporter of memory files. */
int ioctl(int fd, unsigned long request, ...)
{
    int (*next)(int, unsigned long, ...) =
        (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list list;
    void *argument;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    if (request == DMA_BUF_IOCTL_SYNC) {
        guint64 flags = ((struct dma_buf_sync *)argument)->flags;

        g_atomic_int_inc(flags & DMA_BUF_SYNC_END ? &ended : &started);
        if ((flags & DMA_BUF_SYNC_WRITE) && (flags & DMA_BUF_SYNC_END))
            g_atomic_int_inc(&written);
        return 0;
    }
    return next(fd, request, argument);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*next)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");

    if (fd >= 0 && size == FILE_SIZE && (flags & MAP_SHARED))
        g_atomic_int_inc(&mappings);
    return next(address, size, protection, flags, fd, offset);
}

static GstMemory *file_new(void)
{
    GstAllocator *allocator = gst_dmabuf_allocator_new();
    gint fd = memfd_create("dma-buf", MFD_CLOEXEC);
    GstMemory *memory;

    fail_unless(fd >= 0 && ftruncate(fd, FILE_SIZE) == 0);
    memory = gst_dmabuf_allocator_alloc(allocator, fd, FILE_SIZE);
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

/* ------------------------------------------------- memory that is no plain memory */

typedef struct {
    GstMemory base;
    guint8 *data;
    GstMemory *file; /* to lie in, or NULL */
} Odd;
typedef GstAllocator OddAllocator;
typedef GstAllocatorClass OddAllocatorClass;

static gint odd_maps, odd_write_maps, odd_unmaps; /* atomic */

GType odd_allocator_get_type(void);
G_DEFINE_TYPE(OddAllocator, odd_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *odd_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
    Odd *odd = g_new0(Odd, 1);

    odd->data = g_malloc0(size);
    gst_memory_init(&odd->base, params ? params->flags : 0, allocator, NULL, size, 0, 0, size);
    return &odd->base;
}

static void odd_free(GstAllocator *allocator, GstMemory *memory)
{
    (void)allocator;
    g_free(((Odd *)memory)->data);
    g_free(memory);
}

static gpointer odd_map(GstMemory *memory, gsize size, GstMapFlags flags)
{
    (void)size;
    g_atomic_int_inc(&odd_maps);
    if (flags & GST_MAP_WRITE)
        g_atomic_int_inc(&odd_write_maps);
    return ((Odd *)memory)->data;
}

static void odd_unmap(GstMemory *memory)
{
    (void)memory;
    g_atomic_int_inc(&odd_unmaps);
}

static void odd_allocator_class_init(OddAllocatorClass *klass)
{
    klass->alloc = odd_alloc;
    klass->free = odd_free;
}

static void odd_allocator_init(OddAllocator *allocator)
{
    allocator->mem_type = "Odd";
    allocator->mem_map = odd_map;
    allocator->mem_unmap = odd_unmap;
    GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstAllocator *odd_allocator_new(void)
{
    return gst_object_ref_sink(g_object_new(odd_allocator_get_type(), NULL));
}

static void expect_string(struct filter *filter, const char *property, const char *expected)
{
    g_autofree gchar *value = NULL;

    g_object_get(filter->element, property, &value, NULL);
    fail_unless_equals_string(value, expected);
}

/* ------------------------------------------------------------------------ tests */

/* Ten frames in three recycled dma-bufs: each is mapped once, none is stale. */
GST_START_TEST(dma_bufs_are_mapped_once)
{
    GstMemory *files[3];
    struct filter filter;
    GstVideoInfo info;
    gint before;

    caps_info(PLAIN, &info);
    filter_start(&filter, "device=cpu mode=overlay opacity=0", PLAIN);
    for (guint i = 0; i < 3; i++)
        files[i] = file_new();
    before = g_atomic_int_get(&mappings);
    for (guint i = 0; i < 10; i++) {
        GstBuffer *plain = picture_new(&info, 3 * i), *input = gst_buffer_new(), *output;

        file_write(files[i % 3], plain);
        gst_buffer_append_memory(input, gst_memory_ref(files[i % 3]));
        output = filter_run(&filter, input);
        picture_compare(output, plain, &info, 1, "a mapped dma-buf");
        gst_buffer_unref(output);
        gst_buffer_unref(plain);
    }
    expect_string(&filter, "import-path", "dma-buf-mapped");
    expect_string(&filter, "export-path", "pool");
    fail_unless_equals_int(g_atomic_int_get(&mappings) - before, 3);
    fail_unless_equals_uint64(filter_stat(&filter, "imports"), 3);
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    fail_unless_equals_int(g_atomic_int_get(&started), 10);
    fail_unless_equals_int(g_atomic_int_get(&ended), 10);
    for (guint i = 0; i < 3; i++)
        gst_memory_unref(files[i]);
}
GST_END_TEST

/* The CPU would read what a device has made, which is what this forbids. */
GST_START_TEST(zero_copy_wants_a_gpu)
{
    static const char *const words[] = { "require-zero-copy", "choose a GPU", NULL };
    GstMemory *file = file_new();
    GstBuffer *input = gst_buffer_new();
    struct filter filter;

    filter_start(&filter, "device=cpu require-zero-copy=true", PLAIN);
    gst_buffer_append_memory(input, file);
    fail_unless_equals_int(gst_harness_push(filter.harness, input), GST_FLOW_ERROR);
    message_expect(filter_message(&filter, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    filter_stop(&filter);
    fail_unless_equals_int(g_atomic_int_get(&started), g_atomic_int_get(&ended));
}
GST_END_TEST

/* Mapped while the device reads it, and not after. */
GST_START_TEST(other_memory_is_held)
{
    GstAllocator *allocator = odd_allocator_new();
    struct filter filter;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "device=cpu mode=overlay opacity=0 require-zero-copy=true", PLAIN);
    for (guint i = 0; i < 6; i++) {
        GstBuffer *plain = picture_new(&info, 5 * i), *input = gst_buffer_new(), *output;
        GstMemory *memory = gst_allocator_alloc(allocator, SIZE, NULL);

        fail_unless_equals_int(gst_buffer_extract(plain, 0, ((Odd *)memory)->data, SIZE), SIZE);
        gst_buffer_append_memory(input, memory);
        output = filter_run(&filter, input);
        picture_compare(output, plain, &info, 1, "memory of another kind");
        gst_buffer_unref(output);
        gst_buffer_unref(plain);
    }
    expect_string(&filter, "import-path", "mapped");
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-mapped-bytes") >= 6 * SIZE, TRUE);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    fail_unless_equals_int(g_atomic_int_get(&odd_maps), 6);
    fail_unless_equals_int(g_atomic_int_get(&odd_unmaps), 6);
    fail_unless_equals_int(g_atomic_int_get(&odd_write_maps), 0);
    gst_object_unref(allocator);
}
GST_END_TEST

/* Downstream's pool has memory of its own kind: it is written in place, and is
 * finished and unmapped when it arrives. */
static void propose(GstHarness *harness, GstAllocator *allocator)
{
    GstBufferPool *pool = gst_video_buffer_pool_new();
    GstStructure *config = gst_buffer_pool_get_config(pool);
    GstCaps *caps = gst_caps_from_string(PLAIN);

    gst_buffer_pool_config_set_params(config, caps, SIZE, 0, 0);
    gst_buffer_pool_config_set_allocator(config, allocator, NULL);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    gst_harness_set_propose_allocator(harness, NULL, NULL);
    g_object_set_data_full(G_OBJECT(harness->sinkpad), "pool", pool, gst_object_unref);
    gst_caps_unref(caps);
}

static gboolean answer(GstPad *pad, GstObject *parent, GstQuery *query)
{
    GstBufferPool *pool = g_object_get_data(G_OBJECT(pad), "pool");
    GstAllocator *allocator = g_object_get_data(G_OBJECT(pad), "allocator");

    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || (!pool && !allocator))
        return gst_pad_query_default(pad, parent, query);
    if (pool)
        gst_query_add_allocation_pool(query, pool, SIZE, 0, 0);
    else
        gst_query_add_allocation_param(query, allocator, NULL);
    return TRUE;
}

/* With its pool (0), or with its allocator alone, as unixfdsink has it (1). */
GST_START_TEST(output_in_downstreams_memory)
{
    GstAllocator *allocator = odd_allocator_new();
    struct filter filter;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "device=cpu mode=overlay opacity=0", NULL);
    if (__i__ == 0)
        propose(filter.harness, allocator);
    else
        g_object_set_data(G_OBJECT(filter.harness->sinkpad), "allocator", allocator);
    gst_pad_set_query_function(filter.harness->sinkpad, answer);
    gst_harness_set_sink_caps_str(filter.harness, PLAIN);
    gst_harness_set_src_caps_str(filter.harness, PLAIN);
    for (guint i = 0; i < 5; i++) {
        GstBuffer *plain = picture_new(&info, 7 * i), *output;

        output = filter_run(&filter, gst_buffer_copy_deep(plain));
        fail_unless(gst_memory_is_type(gst_buffer_peek_memory(output, 0), "Odd"));
        fail_unless_equals_int(g_atomic_int_get(&odd_maps), g_atomic_int_get(&odd_unmaps));
        picture_compare(output, plain, &info, 1, "downstream's memory");
        gst_buffer_unref(output);
        gst_buffer_unref(plain);
    }
    expect_string(&filter, "export-path", "downstream");
    fail_unless(g_atomic_int_get(&odd_write_maps) >= 5);
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    gst_object_unref(allocator);
}
GST_END_TEST

/* The log names the device that computes. */
GST_START_TEST(device_is_told)
{
    struct filter filter;
    GstStructure *stats = NULL;
    GstVideoInfo info;

    caps_info(PLAIN, &info);
    filter_start(&filter, "device=cpu threads=1", PLAIN);
    for (guint i = 0; i < 8; i++) /* times are told when the batch comes round again */
        gst_buffer_unref(filter_run(&filter, picture_new(&info, i)));
    g_object_get(filter.element, "stats", &stats, NULL);
    fail_unless(g_str_has_prefix(gst_structure_get_string(stats, "device"), "CPU"));
    fail_unless(filter_stat(&filter, "network-ns") > 0);
    fail_unless(filter_stat(&filter, "compose-ns") > 0);
    gst_structure_free(stats);
    filter_stop(&filter);
}
GST_END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("mapped");
    TCase *tests = tcase_create("mapped");

    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, dma_bufs_are_mapped_once);
    tcase_add_test(tests, zero_copy_wants_a_gpu);
    tcase_add_test(tests, other_memory_is_held);
    tcase_add_loop_test(tests, output_in_downstreams_memory, 0, 2);
    tcase_add_test(tests, device_is_told);
    suite_add_tcase(suite, tests);
    return util_main(argc, argv, suite, "test-mapped");
}
