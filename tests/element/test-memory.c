/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of frames: pools, imports, and copies, which are counted and announced. */
#include "util.h"

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"

static gchar *import_path(struct filter *filter)
{
    gchar *path;

    g_object_get(filter->element, "import-path", &path, NULL);
    return path;
}

static void expect_path(struct filter *filter, const char *expected)
{
    g_autofree gchar *path = import_path(filter);

    fail_unless_equals_string(path, expected);
}

/* Memory of no kind that the element knows, so that it must be copied. */
static GstBuffer *foreign_buffer(GstBuffer *picture)
{
    GstAllocator *allocator = gst_allocator_find("fixture-foreign");
    GstBuffer *buffer;
    GstMapInfo map;

    buffer = gst_buffer_new_allocate(allocator, gst_buffer_get_size(picture), NULL);
    gst_buffer_map(picture, &map, GST_MAP_READ);
    gst_buffer_fill(buffer, 0, map.data, map.size);
    gst_buffer_unmap(picture, &map);
    gst_object_unref(allocator);
    gst_buffer_unref(picture);
    return buffer;
}

typedef struct {
    GstAllocator base;
} ForeignAllocator;
typedef struct {
    GstAllocatorClass base;
} ForeignAllocatorClass;
GType foreign_allocator_get_type(void);
G_DEFINE_TYPE(ForeignAllocator, foreign_allocator, GST_TYPE_ALLOCATOR)

struct foreign_memory {
    GstMemory base;
    guint8 *data;
};

static GstMemory *foreign_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
    struct foreign_memory *memory = g_new0(struct foreign_memory, 1);

    memory->data = g_malloc(size);
    gst_memory_init(&memory->base, params->flags, allocator, NULL, size, 0, 0, size);
    return &memory->base;
}

static void foreign_free(GstAllocator *allocator, GstMemory *memory)
{
    (void)allocator;
    g_free(((struct foreign_memory *)memory)->data);
    g_free(memory);
}

static gpointer foreign_map(GstMemory *memory, gsize size, GstMapFlags flags)
{
    (void)size, (void)flags;
    return ((struct foreign_memory *)memory)->data;
}

static void foreign_unmap(GstMemory *memory)
{
    (void)memory;
}

static void foreign_allocator_class_init(ForeignAllocatorClass *klass)
{
    GST_ALLOCATOR_CLASS(klass)->alloc = foreign_alloc;
    GST_ALLOCATOR_CLASS(klass)->free = foreign_free;
}

static void foreign_allocator_init(ForeignAllocator *self)
{
    GST_ALLOCATOR(self)->mem_type = "FixtureForeign";
    GST_ALLOCATOR(self)->mem_map = foreign_map;
    GST_ALLOCATOR(self)->mem_unmap = foreign_unmap;
}

static void register_foreign(void)
{
    GstAllocator *allocator = g_object_new(foreign_allocator_get_type(), NULL);

    gst_allocator_register("fixture-foreign", gst_object_ref_sink(allocator));
}

/* ------------------------------------------------------------------- paths */

GST_START_TEST(pool_is_offered)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output, *expected;
    GstMapInfo from, to;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    /* a buffer of the pool that is offered */
    input = gst_harness_create_buffer(filter.harness, info.size);
    fail_if(gst_memory_is_type(gst_buffer_peek_memory(input, 0), GST_ALLOCATOR_SYSMEM));
    expected = picture_new(&info, 0);
    gst_buffer_map(expected, &from, GST_MAP_READ);
    gst_buffer_map(input, &to, GST_MAP_WRITE);
    memcpy(to.data, from.data, from.size); /* no VideoMeta was asked for: default strides */
    gst_buffer_unmap(input, &to);
    gst_buffer_unmap(expected, &from);

    output = filter_run(&filter, input);
    picture_compare(output, expected, &info, 2, "frame from the pool");
    expect_path(&filter, "pool");
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    fail_unless_equals_uint64(filter_stat(&filter, "imports"), 0);
    fail_unless(filter_message(&filter, GST_MESSAGE_ELEMENT) == NULL);
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
    filter_stop(&filter);
}
GST_END_TEST;

/* ALLOCATION as upstream sees it: a pool, whose rows are aligned for those
 * who take GstVideoMeta, whatever allocator they put into its configuration. */
GST_START_TEST(allocation_query)
{
    GstCaps *caps =
        gst_caps_from_string("video/x-raw,format=NV12,width=70,height=48,framerate=30/1");
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    GstBufferPool *pool;
    GstStructure *config;
    GstBuffer *buffer;
    GstVideoMeta *meta;
    GstAllocationParams params;
    struct filter filter;
    guint size, min, max;

    filter_start(&filter, "", NULL);
    gst_harness_set_src_caps(filter.harness, gst_caps_ref(caps));
    fail_unless(gst_pad_peer_query(filter.harness->srcpad, query));
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL));
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    fail_unless(pool != NULL);
    fail_unless(min >= 2 && max == 0, "min %u, max %u", min, max);

    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    gst_allocation_params_init(&params);
    gst_buffer_pool_config_set_allocator(config, NULL, &params);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    gst_buffer_pool_set_active(pool, TRUE);
    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), GST_FLOW_OK);
    meta = gst_buffer_get_video_meta(buffer);
    fail_unless(meta && meta->stride[0] == 128 && meta->stride[1] == 128, "stride %d",
                meta ? meta->stride[0] : 0);
    fail_unless_equals_int(gst_buffer_n_memory(buffer), 1);
    fail_if(gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), GST_ALLOCATOR_SYSMEM));
    gst_buffer_unref(buffer);
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
    gst_query_unref(query);
    gst_caps_unref(caps);
    filter_stop(&filter);
}
GST_END_TEST;

/* In passthrough frames go to a downstream that knows nothing of padded rows
 * and crops (the harness answers no query): nothing of ours is offered, and
 * upstream is told when that changes. */
GST_START_TEST(passthrough_offers_nothing)
{
    GstCaps *caps =
        gst_caps_from_string("video/x-raw,format=GRAY8,width=100,height=48,framerate=30/1");
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    struct filter filter;
    GstVideoInfo info;
    guint told;

    fail_unless(gst_video_info_from_caps(&info, caps));
    filter_start(&filter, "mode=passthrough", NULL);
    gst_harness_set_src_caps(filter.harness, gst_caps_ref(caps));
    gst_pad_peer_query(filter.harness->srcpad, query);
    fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 0);
    fail_if(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
    fail_if(gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL));
    gst_query_unref(query);

    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    told = gst_harness_upstream_events_received(filter.harness);
    gst_util_set_object_arg(G_OBJECT(filter.element), "mode", "blur");
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 1)));
    fail_unless(gst_harness_upstream_events_received(filter.harness) > told);
    query = gst_query_new_allocation(caps, TRUE);
    fail_unless(gst_pad_peer_query(filter.harness->srcpad, query));
    fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 1);
    gst_query_unref(query);
    gst_caps_unref(caps);
    filter_stop(&filter);
}
GST_END_TEST;

/* Parts of the pool's memory, as pipewiresrc and others make them. */
GST_START_TEST(shared_memory)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output, *expected, *part = gst_buffer_new();
    GstMapInfo from;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    input = gst_harness_create_buffer(filter.harness, info.size);
    expected = picture_new(&info, 0);
    gst_buffer_map(expected, &from, GST_MAP_READ);
    gst_buffer_fill(input, 0, from.data, from.size);
    gst_buffer_unmap(expected, &from);
    gst_buffer_append_memory(part, gst_memory_share(gst_buffer_peek_memory(input, 0), 0, -1));

    output = filter_run(&filter, part);
    picture_compare(output, expected, &info, 2, "shared memory");
    expect_path(&filter, "pool");
    gst_buffer_unref(output);
    gst_buffer_unref(input);
    gst_buffer_unref(expected);
    filter_stop(&filter);
}
GST_END_TEST;

static gboolean imports_host_pointers(struct filter *filter)
{
    g_autofree gchar *path = import_path(filter);

    return !strcmp(path, "host-pointer");
}

GST_START_TEST(host_pointer)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    input = picture_new(&info, 0);
    for (guint i = 0; i < 5; i++) {
        output = filter_run(&filter, gst_buffer_ref(input));
        picture_compare(output, input, &info, 2, "host pointer");
        gst_buffer_unref(output);
    }
    if (imports_host_pointers(&filter)) { /* other devices copy */
        fail_unless_equals_uint64(filter_stat(&filter, "imports"), 1);
        fail_unless_equals_uint64(filter_stat(&filter, "cache-hits"), 2 * 5 - 1); /* planes */
        fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    }
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* The importers see the memory's present contents, not those of the first time. */
GST_START_TEST(host_pointer_rewritten)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output, *other;
    GstMapInfo from, to;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    input = picture_new(&info, 0);
    output = filter_run(&filter, gst_buffer_ref(input));
    picture_compare(output, input, &info, 2, "memory as it was");
    gst_buffer_unref(output);
    /* The GPU is done. The buffer may still be held, so write round it, as a
     * camera does. */
    other = picture_new(&info, 31);
    gst_buffer_map(other, &from, GST_MAP_READ);
    gst_buffer_map(input, &to, GST_MAP_READ);
    memcpy(to.data, from.data, from.size);
    gst_buffer_unmap(input, &to);
    gst_buffer_unmap(other, &from);
    output = filter_run(&filter, gst_buffer_ref(input));
    picture_compare(output, other, &info, 2, "rewritten memory");
    gst_buffer_unref(output);
    gst_buffer_unref(other);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* One memory that shows another part of itself for each frame, and more than at
 * first: what is read is what it shows. */
GST_START_TEST(memory_that_moves)
{
    const gsize frame = 64 * 64;
    guint8 *pages = g_malloc(4 * frame);
    GstMemory *memory = gst_memory_new_wrapped(0, pages, 4 * frame, 0, frame, pages, g_free);
    struct filter filter;
    GstMapInfo map;

    for (guint i = 0; i < 4; i++)
        memset(pages + i * frame, 40 + 50 * i, frame);
    filter_start(&filter, "mode=overlay opacity=0",
                 "video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1");
    for (guint i = 0; i < 4; i++) {
        GstBuffer *input = gst_buffer_new(), *output;

        gst_buffer_append_memory(input, gst_memory_ref(memory));
        output = filter_run(&filter, input);
        fail_unless(gst_buffer_map(output, &map, GST_MAP_READ));
        fail_unless(ABS(map.data[100] - (gint)(40 + 50 * i)) <= 1, "frame %u shows %u", i,
                    map.data[100]);
        gst_buffer_unmap(output, &map);
        gst_buffer_unref(output);
        /* A thread gives inputs back when the device is done with them. */
        while (!gst_memory_is_writable(memory))
            g_thread_yield();
        if (i < 3)
            gst_memory_resize(memory, frame, frame);
    }
    if (imports_host_pointers(&filter))
        fail_unless_equals_uint64(filter_stat(&filter, "imports"), 1);
    gst_memory_unref(memory);
    filter_stop(&filter);
}
GST_END_TEST;

/* Planes in memories of their own, and such that begin in one and end in another, with the
 * layout in a GstVideoMeta or in the caps. */
GST_START_TEST(two_memories)
{
    const gboolean spread = __i__ & 1, meta = __i__ & 2;
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output, *split = gst_buffer_new();
    GstMapInfo map;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    input = picture_new(&info, 0);
    gst_buffer_map(input, &map, GST_MAP_READ);
    for (guint p = 0; p < 2; p++) {
        const gsize border = spread ? info.size / 3 + 5 : info.offset[1];
        const gsize size = p ? info.size - border : border;
        guint8 *part = g_malloc(size + info.size);

        memcpy(part, map.data + (p ? border : 0), size);
        memset(part + size, p ? 0x00 : 0xff, info.size); /* for who reads on */
        gst_buffer_append_memory(split,
                                 gst_memory_new_wrapped(0, part, size, 0, size, part, g_free));
    }
    gst_buffer_unmap(input, &map);
    if (meta)
        gst_buffer_add_video_meta_full(split, 0, GST_VIDEO_INFO_FORMAT(&info), info.width,
                                       info.height, info.finfo->n_planes, info.offset, info.stride);
    output = filter_run(&filter, split);
    picture_compare(output, input, &info, 2,
                    spread ? "a plane in two memories" : "a memory a plane");
    gst_buffer_unref(output);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* ------------------------------------------------------------------- copies */

GST_START_TEST(copy_is_counted_and_announced)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *picture, *output;
    GstMessage *message;
    guint announced = 0;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    for (guint i = 0; i < 3; i++) {
        picture = picture_new(&info, i);
        output = filter_run(&filter, foreign_buffer(gst_buffer_copy_deep(picture)));
        picture_compare(output, picture, &info, 2, "copied frame");
        gst_buffer_unref(output);
        gst_buffer_unref(picture);
    }
    expect_path(&filter, "copy");
    /* 64·48 luma and as much again by two chroma samples in four pixels. */
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 3 * (64 * 48 * 3 / 2));
    while ((message = gst_bus_pop_filtered(filter.bus, GST_MESSAGE_ELEMENT))) {
        const GstStructure *said = gst_message_get_structure(message);

        fail_unless(gst_structure_has_name(said, "tdl-fallback"));
        fail_unless(strstr(gst_structure_get_string(said, "reason"), "pool: ") != NULL, "%s",
                    gst_structure_get_string(said, "reason"));
        announced++;
        gst_message_unref(message);
    }
    fail_unless_equals_int(announced, 1);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(copy_is_refused)
{
    static const char *const words[] = { "require-zero-copy=false", NULL };
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, "require-zero-copy=true", CAPS);
    fail_unless_equals_int(
        gst_harness_push(filter.harness, foreign_buffer(picture_new(&info, 0))), GST_FLOW_ERROR);
    message_expect(filter_message(&filter, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), 0);
    filter_stop(&filter);
}
GST_END_TEST;

/* Odd strides cannot be written to by the GPU, but they can be read. */
GST_START_TEST(odd_strides_copied)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *picture, *odd, *output;
    GstVideoMeta *meta;

    caps_info("video/x-raw,format=I420,width=37,height=23,framerate=30/1", &info);
    filter_start(&filter, "mode=overlay opacity=0",
                 "video/x-raw,format=I420,width=37,height=23,framerate=30/1");
    picture = picture_new(&info, 0);
    odd = picture_restride(picture, &info, 7);
    meta = gst_buffer_get_video_meta(odd);
    {
        GstBuffer *copy = foreign_buffer(gst_buffer_ref(odd));

        gst_buffer_add_video_meta_full(copy, 0, meta->format, meta->width, meta->height,
                                       meta->n_planes, meta->offset, meta->stride);
        output = filter_run(&filter, copy);
    }
    expect_path(&filter, "copy");
    picture_compare(output, picture, &info, 2, "copied odd strides");
    gst_buffer_unref(output);
    gst_buffer_unref(odd);
    gst_buffer_unref(picture);
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("memory");
    TCase *tc = tcase_create("memory");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, register_foreign, NULL);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, pool_is_offered);
    tcase_add_test(tc, allocation_query);
    tcase_add_test(tc, passthrough_offers_nothing);
    tcase_add_test(tc, shared_memory);
    tcase_add_test(tc, host_pointer);
    tcase_add_test(tc, host_pointer_rewritten);
    tcase_add_test(tc, memory_that_moves);
    tcase_add_loop_test(tc, two_memories, 0, 4);
    tcase_add_test(tc, copy_is_counted_and_announced);
    tcase_add_test(tc, copy_is_refused);
    tcase_add_test(tc, odd_strides_copied);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "memory");
}
