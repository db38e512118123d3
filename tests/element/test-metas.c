/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata on buffers, such as crops, and the time for which a buffer is held. */
#include "util.h"

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"

/* -------------------------------------------------------------------- metas */

GST_START_TEST(crop)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output, *expected;
    GstVideoCropMeta *meta;
    GstMapInfo map, got;

    caps_info("video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1", &info);
    filter_start(&filter, "mode=replace fail-closed=false background-color=0xffffffff",
                 "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1");
    filter_all_background(&filter);
    input = picture_new_color(&info, 0xff404040);
    meta = gst_buffer_add_video_crop_meta(input);
    meta->x = 16;
    meta->y = 10;
    meta->width = 24;
    meta->height = 20;
    output = filter_run(&filter, gst_buffer_ref(input));
    meta = gst_buffer_get_video_crop_meta(output);
    fail_unless(meta && meta->x == 16 && meta->y == 10 && meta->width == 24 && meta->height == 20);

    expected = gst_buffer_copy_deep(input);
    gst_buffer_map(expected, &map, GST_MAP_WRITE);
    for (guint y = 10; y < 30; y++)
        memset(map.data + y * info.stride[0] + 16, 255, 24);
    gst_buffer_unmap(expected, &map);
    gst_buffer_map(output, &got, GST_MAP_READ);
    picture_compare(output, expected, &info, 1, "crop");
    gst_buffer_unmap(output, &got);
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* The caps' picture is a part of what lies in the buffer, as videocrop makes it
 * of a frame when it is told that we read crops: what comes out is the part. */
static const struct {
    const char *format;
    guint x, y; /* corner of the crop */
} parts[] = {
    { "GRAY8", 17, 9 }, { "BGRx", 17, 9 }, { "RGB", 5, 1 },     { "NV12", 18, 10 },
    { "I420", 35, 3 },  { "YUY2", 19, 9 }, { "P010_10LE", 4, 6 }, { "NV12", 19, 11 },
};

GST_START_TEST(part_of_a_buffer)
{
    g_autofree gchar *caps = g_strdup_printf(
        "video/x-raw,format=%s,width=40,height=30,framerate=30/1", parts[__i__].format);
    const guint step = strcmp(parts[__i__].format, "YUY2") ? 1 : 2;
    GstBuffer *input, *output, *expected, *cut;
    GstVideoInfo whole, info;
    GstVideoCropMeta *crop;
    GstVideoFrame from, to;
    struct filter filter;

    caps_info(caps, &info);
    gst_video_info_set_format(&whole, GST_VIDEO_INFO_FORMAT(&info), 96, 64);
    whole.colorimetry = info.colorimetry;
    input = picture_new(&whole, 3);
    gst_buffer_add_video_meta_full(input, 0, GST_VIDEO_INFO_FORMAT(&whole), 96, 64,
                                   GST_VIDEO_INFO_N_PLANES(&whole), whole.offset, whole.stride);
    crop = gst_buffer_add_video_crop_meta(input);
    crop->x = parts[__i__].x;
    crop->y = parts[__i__].y;
    crop->width = 40;
    crop->height = 30;

    /* GStreamer copies the same part as the reference. */
    expected = gst_buffer_new_allocate(NULL, info.size, NULL);
    fail_unless(gst_video_frame_map(&from, &whole, input, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&to, &info, expected, GST_MAP_WRITE));
    for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&from); p++) {
        gint c[GST_VIDEO_MAX_COMPONENTS];

        gst_video_format_info_component(info.finfo, p, c);
        from.data[p] = (guint8 *)from.data[p] +
                       (crop->y >> GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, c[0])) *
                           GST_VIDEO_FRAME_PLANE_STRIDE(&from, p) +
                       ((crop->x - crop->x % step) >>
                        GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, c[0])) *
                           GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, c[0]);
    }
    from.info.width = 40;
    from.info.height = 30;
    fail_unless(gst_video_frame_copy(&to, &from));
    gst_video_frame_unmap(&to);
    from.info.width = 96;
    from.info.height = 64;
    gst_video_frame_unmap(&from);

    filter_start(&filter, "mode=overlay opacity=0", caps);
    output = filter_run(&filter, gst_buffer_ref(input));
    fail_if(gst_buffer_get_video_crop_meta(output), "the crop is applied, and still there");
    picture_compare(output, expected, &info, 1, parts[__i__].format);
    /* The other way: rows cut by hand, no metas. */
    cut = filter_run(&filter, gst_buffer_ref(expected));
    picture_compare(output, cut, &info, 0, "by meta against by hand");
    gst_buffer_unref(cut);
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

GST_START_TEST(metadata_survives)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output;
    GstVideoRegionOfInterestMeta *region;
    GstCaps *reference = gst_caps_new_empty_simple("timestamp/x-fixture");

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=mask", CAPS);
    input = picture_new(&info, 0);
    GST_BUFFER_PTS(input) = 3 * GST_SECOND;
    GST_BUFFER_DTS(input) = 2 * GST_SECOND;
    GST_BUFFER_DURATION(input) = GST_SECOND / 30;
    GST_BUFFER_OFFSET(input) = 90;
    GST_BUFFER_FLAG_SET(input, GST_BUFFER_FLAG_MARKER);
    gst_buffer_add_video_region_of_interest_meta(input, "face", 10, 12, 14, 16);
    gst_buffer_add_reference_timestamp_meta(input, reference, 42, 7);
    output = filter_run(&filter, input);
    fail_unless_equals_uint64(GST_BUFFER_PTS(output), 3 * GST_SECOND);
    fail_unless_equals_uint64(GST_BUFFER_DTS(output), 2 * GST_SECOND);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(output), GST_SECOND / 30);
    fail_unless_equals_uint64(GST_BUFFER_OFFSET(output), 90);
    fail_unless(GST_BUFFER_FLAG_IS_SET(output, GST_BUFFER_FLAG_MARKER));
    region = (GstVideoRegionOfInterestMeta *)gst_buffer_get_meta(
        output, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    fail_unless(region && region->x == 10 && region->y == 12 && region->w == 14 && region->h == 16);
    fail_unless(gst_buffer_get_reference_timestamp_meta(output, reference) != NULL);
    gst_buffer_unref(output);
    gst_caps_unref(reference);
    filter_stop(&filter);
}
GST_END_TEST;

/* ---------------------------------------------------------------- lifetimes */

static void expect_pool(struct filter *filter)
{
    g_autofree gchar *path = NULL;

    g_object_get(filter->element, "import-path", &path, NULL);
    fail_unless_equals_string(path, "pool");
}

static void on_input_freed(gpointer data, GstMiniObject *object)
{
    (void)object;
    g_atomic_int_inc((gint *)data);
}

/* EOS with frames in flight: nobody has looked at an output yet, and all
 * inputs are given back, as a camera or a decoder needs it. */
GST_START_TEST(inputs_come_back)
{
    struct filter filter;
    GstVideoInfo info;
    gint freed = 0;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=blur", CAPS);
    for (guint i = 0; i < 6; i++) {
        GstBuffer *input = picture_new(&info, i);

        gst_mini_object_weak_ref(GST_MINI_OBJECT(input), on_input_freed, &freed);
        fail_unless_equals_int(gst_harness_push(filter.harness, input), GST_FLOW_OK);
    }
    fail_unless(g_atomic_int_get(&freed) >= 2, "only %d of 6 are back", freed);
    fail_unless(gst_harness_push_event(filter.harness, gst_event_new_eos()));
    fail_unless_equals_int(g_atomic_int_get(&freed), 6);
    fail_unless_equals_int(gst_harness_buffers_in_queue(filter.harness), 6);
    for (guint i = 0; i < 6; i++)
        gst_buffer_unref(gst_harness_pull(filter.harness));
    filter_stop(&filter);
}
GST_END_TEST;

/* An upstream with few buffers (a camera, shared memory of another program)
 * sends the next frame when it has one back, and nobody looks at the outputs:
 * without the next frame, too, buffers come back. A hang fails the test. */
GST_START_TEST(few_inputs_come_back)
{
    struct filter filter;
    GstBufferPool *pool = gst_buffer_pool_new();
    GstStructure *config = gst_buffer_pool_get_config(pool);
    GstCaps *caps = gst_caps_from_string(CAPS);
    GstVideoInfo info;

    caps_info(CAPS, &info);
    gst_buffer_pool_config_set_params(config, caps, info.size, 1, __i__);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    fail_unless(gst_buffer_pool_set_active(pool, TRUE));
    filter_start(&filter, "mode=blur", CAPS);
    for (guint i = 0; i < 6; i++) {
        GstBuffer *input;

        fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &input, NULL), GST_FLOW_OK);
        gst_buffer_memset(input, 0, 128, info.size);
        fail_unless_equals_int(gst_harness_push(filter.harness, input), GST_FLOW_OK);
    }
    fail_unless_equals_int(gst_harness_buffers_in_queue(filter.harness), 6);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
    gst_caps_unref(caps);
}
GST_END_TEST;

/* Outputs outlive the element. */
GST_START_TEST(outputs_outlive)
{
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *input, *output;

    caps_info(CAPS, &info);
    filter_start(&filter, "mode=overlay opacity=0", CAPS);
    input = picture_new(&info, 0);
    output = filter_run(&filter, gst_buffer_ref(input));
    filter_stop(&filter);
    picture_compare(output, input, &info, 2, "output after the element is gone");
    gst_buffer_unref(output);
    gst_buffer_unref(input);
}
GST_END_TEST;

/* From one tdlfilter to the next the frame stays on the GPU: the second one
 * knows the first one's memory. */
GST_START_TEST(chained)
{
    struct filter one, two;
    GstVideoInfo info;
    GstBuffer *input, *output;

    caps_info(CAPS, &info);
    filter_start(&one, "mode=overlay opacity=0", CAPS);
    filter_start(&two, "mode=overlay opacity=0 model=person-landscape", CAPS);
    input = picture_new(&info, 0);
    output = filter_run(&two, filter_run(&one, gst_buffer_ref(input)));
    picture_compare(output, input, &info, 3, "two in a row");
    expect_pool(&two);
    fail_unless_equals_uint64(filter_stat(&two, "cpu-copied-bytes"), 0);
    filter_stop(&one); /* in any order */
    gst_buffer_unref(output);
    output = filter_run(&two, gst_buffer_ref(input));
    picture_compare(output, input, &info, 2, "the second alone");
    gst_buffer_unref(output);
    gst_buffer_unref(input);
    filter_stop(&two);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("metas");
    TCase *tc = tcase_create("metas");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, crop);
    tcase_add_loop_test(tc, part_of_a_buffer, 0, G_N_ELEMENTS(parts));
    tcase_add_test(tc, metadata_survives);
    tcase_add_test(tc, inputs_come_back);
    tcase_add_loop_test(tc, few_inputs_come_back, 1, 4); /* buffers */
    tcase_add_test(tc, outputs_outlive);
    tcase_add_test(tc, chained);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "metas");
}
