/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool that upstream is offered, where upstream does with it what upstreams do: it
 * keeps buffers, wants more or has too few, changes its caps, and writes some frames
 * elsewhere. On devices that take no memory of others this is the way without a copy.
 */
#include "util.h"

#include <tdl/tdl.h>

#define CAPS(format, width, height)                                                               \
    "video/x-raw,format=" format ",width=" #width ",height=" #height ",framerate=30/1"
/* Only the place of frames matters here: the network runs once. */
#define FILTER "mode=overlay opacity=0 interval=1000"

struct upstream {
    GstCaps *caps;
    GstVideoInfo info;
    GstBufferPool *pool; /* active */
    guint min;           /* as it was answered */
    guint seen;          /* distinct buffers */
};

static GQuark mark(void)
{
    return g_quark_from_static_string("test-offered");
}

/* Sends caps, asks, and sets the pool up with `most` buffers (0: no bound). */
static void upstream_begin(struct upstream *up, struct filter *filter, const char *caps, guint most,
                           gboolean meta)
{
    GstQuery *query;
    GstStructure *config;
    guint size, max;

    *up = (struct upstream){ .caps = gst_caps_from_string(caps) };
    caps_info(caps, &up->info);
    gst_harness_set_src_caps(filter->harness, gst_caps_ref(up->caps));
    query = gst_query_new_allocation(up->caps, TRUE);
    fail_unless(gst_pad_peer_query(filter->harness->srcpad, query));
    gst_query_parse_nth_allocation_pool(query, 0, &up->pool, &size, &up->min, &max);
    fail_unless(up->pool && size >= up->info.size && max == 0);
    config = gst_buffer_pool_get_config(up->pool);
    gst_buffer_pool_config_set_params(config, up->caps, size, most ? MIN(most, up->min) : up->min,
                                      most);
    if (meta)
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    fail_unless(gst_buffer_pool_set_config(up->pool, config));
    fail_unless(gst_buffer_pool_set_active(up->pool, TRUE));
    gst_query_unref(query);
}

static void upstream_end(struct upstream *up)
{
    gst_buffer_pool_set_active(up->pool, FALSE);
    gst_object_unref(up->pool);
    gst_caps_unref(up->caps);
}

/* A buffer of the pool with this picture; waits for one where the pool has a bound. */
static GstBuffer *upstream_draw(struct upstream *up, GstBuffer *picture)
{
    GstVideoFrame from, to;
    GstBuffer *buffer;

    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(up->pool, &buffer, NULL), GST_FLOW_OK);
    if (!gst_mini_object_get_qdata(GST_MINI_OBJECT(buffer), mark())) {
        gst_mini_object_set_qdata(GST_MINI_OBJECT(buffer), mark(), up, NULL);
        up->seen++;
    }
    fail_unless(gst_video_frame_map(&from, &up->info, picture, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&to, &up->info, buffer, GST_MAP_WRITE));
    gst_video_frame_copy(&to, &from);
    gst_video_frame_unmap(&from);
    gst_video_frame_unmap(&to);
    return buffer;
}

static void push(struct filter *filter, GstBuffer *buffer)
{
    fail_unless_equals_int(gst_harness_push(filter->harness, buffer), GST_FLOW_OK);
}

/* Push what was drawn; it comes out as it went in. */
static void run(struct filter *filter, struct upstream *up, GstBuffer *buffer, GstBuffer *picture)
{
    GstBuffer *output = filter_run(filter, buffer);

    picture_compare(output, picture, &up->info, 2, "a frame of the pool");
    gst_buffer_unref(output);
}

static void expect_counts(struct filter *filter, guint64 pool, guint64 copied)
{
    fail_unless_equals_uint64(filter_stat(filter, "pool-frames"), pool);
    fail_unless_equals_uint64(filter_stat(filter, "copied-frames"), copied);
    filter_expect_no_error(filter);
}

/* ------------------------------------------------------------------- layouts */

static const char *const layouts[] = {
    CAPS("NV12", 70, 46), CAPS("YUY2", 70, 46), CAPS("P010_10LE", 70, 46), CAPS("RGB", 37, 23),
    CAPS("I420", 1080, 8),
};

/* With rows for the GPU where upstream takes GstVideoMeta, with GStreamer's where not. */
GST_START_TEST(layout)
{
    const gboolean meta = __i__ & 1;
    struct filter filter;
    struct upstream up;

    filter_start(&filter, FILTER, NULL);
    upstream_begin(&up, &filter, layouts[__i__ / 2], 0, meta);
    for (guint i = 0; i < 2; i++) {
        GstBuffer *picture = picture_new(&up.info, i), *drawn = upstream_draw(&up, picture);
        GstVideoMeta *of_rows = gst_buffer_get_video_meta(drawn);

        fail_unless_equals_int((of_rows ? of_rows->stride[0] : up.info.stride[0]) % 64 == 0,
                               meta || up.info.stride[0] % 64 == 0);
        run(&filter, &up, drawn, picture);
        gst_buffer_unref(picture);
    }
    expect_counts(&filter, 2, 0);
    upstream_end(&up);
    filter_stop(&filter);
}
GST_END_TEST;

/* Upstream that takes the allocator, and has a pool of its own. */
GST_START_TEST(allocator)
{
    const char *text = CAPS("NV12", 64, 48);
    GstCaps *caps = gst_caps_from_string(text);
    GstQuery *query = gst_query_new_allocation(caps, FALSE);
    GstAllocationParams params;
    GstAllocator *allocator = NULL;
    struct filter filter;
    GstVideoInfo info;
    GstBufferPool *pool = NULL;

    caps_info(text, &info);
    filter_start(&filter, FILTER, NULL);
    gst_harness_set_src_caps(filter.harness, caps);
    fail_unless(gst_pad_peer_query(filter.harness->srcpad, query));
    gst_query_parse_nth_allocation_pool(query, 0, &pool, NULL, NULL, NULL);
    fail_unless(pool == NULL, "nobody asked for a pool");
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
    fail_unless(allocator != NULL);
    for (guint i = 0; i < 3; i++) {
        GstBuffer *picture = picture_new(&info, i), *output;
        GstBuffer *buffer = gst_buffer_new_allocate(allocator, info.size, &params);
        GstMapInfo map;

        gst_buffer_map(picture, &map, GST_MAP_READ);
        gst_buffer_fill(buffer, 0, map.data, map.size);
        gst_buffer_unmap(picture, &map);
        output = filter_run(&filter, buffer);
        picture_compare(output, picture, &info, 2, "memory of the allocator");
        gst_buffer_unref(output);
        gst_buffer_unref(picture);
    }
    expect_counts(&filter, 3, 0);
    gst_object_unref(allocator);
    gst_query_unref(query);
    filter_stop(&filter);
}
GST_END_TEST;

/* ---------------------------------------------------------- how it is treated */

#define KEPT 20

/* Upstream keeps all, longer than the element lives: the pool grows, nothing is copied,
 * and what lies in its buffers stays. */
GST_START_TEST(kept)
{
    GstBuffer *kept[KEPT], *pictures[KEPT];
    struct filter filter;
    struct upstream up;
    GstMapInfo map;

    filter_start(&filter, FILTER, NULL);
    upstream_begin(&up, &filter, CAPS("NV12", 64, 48), 0, FALSE);
    for (guint i = 0; i < KEPT; i++) {
        pictures[i] = picture_new(&up.info, i);
        kept[i] = upstream_draw(&up, pictures[i]);
        run(&filter, &up, gst_buffer_ref(kept[i]), pictures[i]);
    }
    fail_unless_equals_int(up.seen, KEPT);
    expect_counts(&filter, KEPT, 0);
    filter_stop(&filter);
    for (guint i = 0; i < KEPT; i++) {
        picture_compare(kept[i], pictures[i], &up.info, 0, "a kept frame");
        fail_unless(gst_buffer_map(kept[i], &map, GST_MAP_WRITE), "kept by somebody else");
        memset(map.data, 0, map.size);
        gst_buffer_unmap(kept[i], &map);
        gst_buffer_unref(kept[i]);
        gst_buffer_unref(pictures[i]);
    }
    upstream_end(&up);
}
GST_END_TEST;

/* Upstream has `__i__` buffers and waits for one of them: they come back by themselves,
 * though nobody takes the output, and no frame follows. */
GST_START_TEST(bounded)
{
    const guint frames = 12;
    GstBuffer *pictures[12], *output;
    struct filter filter;
    struct upstream up;

    filter_start(&filter, FILTER, NULL);
    upstream_begin(&up, &filter, CAPS("NV12", 64, 48), __i__, FALSE);
    for (guint i = 0; i < frames; i++) {
        pictures[i] = picture_new(&up.info, 2 * i);
        push(&filter, upstream_draw(&up, pictures[i]));
    }
    fail_unless(up.seen <= (guint)__i__, "%u buffers", up.seen);
    for (guint i = 0; i < frames; i++) {
        output = gst_harness_pull(filter.harness);
        picture_compare(output, pictures[i], &up.info, 2, "a late frame");
        gst_buffer_unref(output);
        gst_buffer_unref(pictures[i]);
    }
    expect_counts(&filter, frames, 0);
    upstream_end(&up);
    filter_stop(&filter);
}
GST_END_TEST;

/* Downstream takes nothing for long: what was asked for in the answer is enough. */
GST_START_TEST(slow_downstream)
{
    const guint frames = 40;
    struct filter filter;
    struct upstream up;
    GstBuffer *picture;

    filter_start(&filter, FILTER, NULL);
    upstream_begin(&up, &filter, CAPS("NV12", 64, 48), 0, FALSE);
    picture = picture_new(&up.info, 0);
    for (guint i = 0; i < frames; i++)
        push(&filter, upstream_draw(&up, picture));
    fail_unless(up.seen <= up.min, "%u buffers, %u were asked for", up.seen, up.min);
    fail_unless_equals_int(gst_harness_buffers_in_queue(filter.harness), frames);
    expect_counts(&filter, frames, 0);
    gst_buffer_unref(picture);
    upstream_end(&up);
    filter_stop(&filter);
}
GST_END_TEST;

/* Another size, and back, while buffers of the first pool are still about. */
GST_START_TEST(other_caps)
{
    GstBuffer *small, *large, *late;
    struct upstream first, second;
    struct filter filter;

    filter_start(&filter, FILTER, NULL);
    upstream_begin(&first, &filter, CAPS("NV12", 64, 48), 0, TRUE);
    small = picture_new(&first.info, 0);
    run(&filter, &first, upstream_draw(&first, small), small);
    late = upstream_draw(&first, small);

    upstream_begin(&second, &filter, CAPS("NV12", 150, 90), 0, TRUE);
    fail_unless(second.pool != first.pool);
    large = picture_new(&second.info, 7);
    for (guint i = 0; i < 3; i++)
        run(&filter, &second, upstream_draw(&second, large), large);

    gst_harness_set_src_caps(filter.harness, gst_caps_ref(first.caps));
    run(&filter, &first, late, small);
    run(&filter, &first, upstream_draw(&first, small), small);
    expect_counts(&filter, 6, 0);
    gst_buffer_unref(small);
    gst_buffer_unref(large);
    upstream_end(&first);
    upstream_end(&second);
    filter_stop(&filter);
}
GST_END_TEST;

/* Does the device reach plain memory by its address? */
static gboolean takes_addresses(void)
{
    struct tdl_context *context = NULL;
    gboolean takes;

    fail_unless_equals_int(
        tdl_context_create(&(struct tdl_context_params){ .cache_dir = "" }, &context), TDL_OK);
    takes = tdl_context_device(context)->external_memory_host;
    tdl_context_destroy(&context);
    return takes;
}

/* Every other frame lies in upstream's own memory: these are copied where the device
 * does not take their address, once each, and counted. */
GST_START_TEST(elsewhere)
{
    const guint frames = 6, copied = takes_addresses() ? 0 : frames / 2;
    g_autofree gchar *path = NULL;
    struct filter filter;
    struct upstream up;

    filter_start(&filter, FILTER, NULL);
    upstream_begin(&up, &filter, CAPS("NV12", 64, 48), 0, FALSE);
    for (guint i = 0; i < frames; i++) {
        GstBuffer *picture = picture_new(&up.info, 3 * i);

        run(&filter, &up, i % 2 ? gst_buffer_ref(picture) : upstream_draw(&up, picture), picture);
        gst_buffer_unref(picture);
    }
    expect_counts(&filter, frames / 2, copied);
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-copied-bytes"), copied * 64 * 48 * 3 / 2);
    g_object_get(filter.element, "import-path", &path, NULL);
    fail_unless_equals_string(path, copied ? "copy" : "host-pointer");
    upstream_end(&up);
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("offered");
    TCase *tc = tcase_create("offered");

    tcase_set_timeout(tc, 300);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, layout, 0, 2 * G_N_ELEMENTS(layouts));
    tcase_add_test(tc, allocator);
    tcase_add_test(tc, kept);
    tcase_add_loop_test(tc, bounded, 1, 4);
    tcase_add_test(tc, slow_downstream);
    tcase_add_test(tc, other_caps);
    tcase_add_test(tc, elsewhere);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "offered");
}
