/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata in and out: regions that the network looks at, and what it has found, as
 * GStreamer's standard metadata on the frames, which it has from 1.26 on. The reference
 * for labels is what mode=mask makes of the same frames in an element of its own. */
#include "util.h"

#define CAPS "video/x-raw,format=RGB,width=256,height=256,framerate=30/1"

#define PLAIN "smoothing=0 refine=false close-holes=false feather=1 "

#ifdef HAVE_ANALYTICS
#include <glib/gstdio.h>
#include <gst/analytics/analytics.h>
#include <string.h>
#endif

/* ---------------------------------------------------------- regions of interest */

#define LARGE "video/x-raw,format=RGB,width=512,height=512,framerate=30/1"
static const struct {
    guint boxes[2][4]; /* x, y, width, height */
    gboolean objects;  /* GstAnalyticsODMtd */
} regions[] = {
    { { { 160, 96, 192, 192 } }, FALSE },
    { { { 160, 96, 100, 192 }, { 252, 150, 100, 100 } }, FALSE },
#ifdef HAVE_ANALYTICS
    { { { 160, 96, 192, 192 } }, TRUE },
    { { { 160, 96, 100, 192 }, { 252, 150, 100, 100 } }, TRUE },
#endif
};

static void add_region(GstBuffer *frame, const guint box[4], gboolean object)
{
    if (!box[2])
        return;
#ifdef HAVE_ANALYTICS
    if (object)
        gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(frame),
                                               g_quark_from_static_string("person"), box[0],
                                               box[1], box[2], box[3], 0.5f, NULL);
#endif
    if (!object)
        gst_buffer_add_video_region_of_interest_meta(frame, "person", box[0], box[1], box[2],
                                                     box[3]);
}

/* The portrait in a larger frame, at 128,64: what the boxes above and their margin come to. */
static GstBuffer *portrait_inside(void)
{
    GstBuffer *large = gst_buffer_new_allocate(NULL, 3 * 512 * 512, NULL);
    GstBuffer *small = picture_portrait(0);
    GstMapInfo from, to;

    gst_buffer_memset(large, 0, 90, 3 * 512 * 512);
    fail_unless(gst_buffer_map(small, &from, GST_MAP_READ));
    fail_unless(gst_buffer_map(large, &to, GST_MAP_WRITE));
    for (guint y = 0; y < 256; y++)
        memcpy(to.data + 3 * (512 * (64 + y) + 128), from.data + 3 * 256 * y, 3 * 256);
    gst_buffer_unmap(small, &from);
    gst_buffer_unmap(large, &to);
    gst_buffer_unref(small);
    return large;
}

/* The network sees the portrait as if it was all there is, and outside is background. */
GST_START_TEST(looks_at_regions)
{
    struct filter filter, reference;
    GstBuffer *mask, *input = portrait_inside(), *output;
    GstMapInfo got, want;

    if (!util_in_turn(__i__, 2)) {
        gst_buffer_unref(input);
        return;
    }
    filter_start(&reference, PLAIN "mode=mask", CAPS);
    mask = filter_run(&reference, picture_portrait(0));
    filter_start(&filter, PLAIN "mode=mask roi=true", LARGE);
    add_region(input, regions[__i__].boxes[0], regions[__i__].objects);
    add_region(input, regions[__i__].boxes[1], regions[__i__].objects);
    output = filter_run(&filter, input);
    fail_unless(gst_buffer_map(mask, &want, GST_MAP_READ));
    fail_unless(gst_buffer_map(output, &got, GST_MAP_READ));
    for (guint i = 0; i < 512 * 512; i++) {
        /* px of the portrait; else outside of it */
        const guint x = i % 512 - 128, y = i / 512 - 64;
        const gint value = x < 256 && y < 256 ? want.data[256 * y + x] : 0;

        fail_unless(ABS(got.data[i] - value) <= 1, "%d at %u,%u, and the portrait has %d",
                    got.data[i], i % 512, i / 512, value);
    }
    gst_buffer_unmap(output, &got);
    gst_buffer_unmap(mask, &want);
    gst_buffer_unref(output);
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

/* A frame without any is looked at as a whole; so are those with some that nobody asks for. */
GST_START_TEST(no_regions)
{
    struct filter filter, reference;
    GstBuffer *expected, *input, *output;
    GstVideoInfo info;

    caps_info("video/x-raw,format=GRAY8,width=512,height=512,framerate=30/1", &info);
    filter_start(&reference, "smoothing=0 mode=mask", LARGE);
    input = portrait_inside();
    add_region(input, regions[0].boxes[0], FALSE);
    expected = filter_run(&reference, input);
    filter_start(&filter, "smoothing=0 mode=mask roi=true", LARGE);
    input = portrait_inside();
    add_region(input, regions[0].boxes[0], FALSE);
    gst_buffer_unref(filter_run(&filter, input));
    output = filter_run(&filter, portrait_inside());
    picture_compare(output, expected, &info, 0, "the whole frame");
    gst_buffer_unref(output);
    gst_buffer_unref(expected);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

static void add_region_tests(TCase *tc)
{
    tcase_add_loop_test(tc, looks_at_regions, 0, G_N_ELEMENTS(regions));
    tcase_add_test(tc, no_regions);
}

#ifdef HAVE_ANALYTICS

/* ------------------------------------------------------------------- readers */

/* The nth segmentation of a frame; FALSE: there is none. */
static gboolean find_segmentation(GstBuffer *frame, guint n, GstAnalyticsSegmentationMtd *out)
{
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(frame);
    gpointer state = NULL;

    for (guint i = 0; relations && i <= n; i++)
        if (!gst_analytics_relation_meta_iterate(relations, &state,
                                                 gst_analytics_segmentation_mtd_get_mtd_type(),
                                                 out))
            return FALSE;
    return relations != NULL;
}

struct labels {
    GstBuffer *mask;
    gint x, y;
    guint width, height; /* size of the place in the frame */
};

/* Metadata of the labels, without the pixels. */
static struct labels labels_of(GstBuffer *frame, const char *foreground)
{
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(frame);
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsClsMtd classes;
    struct labels l;
    gsize index;

    fail_unless(find_segmentation(frame, 0, &segmentation), "no segmentation");
    l.mask = gst_analytics_segmentation_mtd_get_mask(&segmentation, &l.x, &l.y, &l.width,
                                                     &l.height);
    fail_unless_equals_int(gst_analytics_segmentation_mtd_get_region_count(&segmentation), 2);
    for (guint id = 0; id < 2; id++)
        fail_unless(
            gst_analytics_segmentation_mtd_get_region_index(&segmentation, &index, id) &&
            index == id);
    fail_unless(gst_analytics_relation_meta_get_direct_related(
                    relations, segmentation.id, GST_ANALYTICS_REL_TYPE_N_TO_N,
                    gst_analytics_cls_mtd_get_mtd_type(), NULL, &classes),
                "no names");
    fail_unless_equals_int(gst_analytics_cls_mtd_get_length(&classes), 2);
    fail_unless_equals_string(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&classes, 0)),
                              "background");
    fail_unless_equals_string(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&classes, 1)),
                              foreground);
    fail_unless(gst_memory_is_type(gst_buffer_peek_memory(l.mask, 0), "TdlMemory"));
    return l;
}

/* Labels against a mask of 0 to 255, but inside `part` only, where it is not NULL: outside
 * there is background. Takes the labels. */
static void compare(struct labels l, GstBuffer *mask, const GstVideoRectangle *part,
                    const char *what)
{
    const GstVideoMeta *meta = gst_buffer_get_video_meta(l.mask);
    guint width = meta->width, height = meta->height, people = 0;
    GstVideoInfo info;
    GstMapInfo got, want;

    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, width, height);
    fail_unless(meta->format == GST_VIDEO_FORMAT_GRAY8 && meta->stride[0] == info.stride[0],
                "%s: rows of %d bytes for %u px", what, meta->stride[0], width);
    fail_unless(l.width == width && l.height == height, "%s: it lies in %ux%u px", what, l.width,
                l.height);
    fail_unless(gst_buffer_map(l.mask, &got, GST_MAP_READ));
    fail_unless(gst_buffer_map(mask, &want, GST_MAP_READ));
    fail_unless(got.size == info.size && want.size == info.size, "%s: sizes", what);
    for (guint i = 0; i < width * height; i++) {
        const gint x = i % width, y = i / width;
        const gboolean in = !part || (x >= part->x && x < part->x + part->w && y >= part->y &&
                                      y < part->y + part->h);
        const guint8 label = got.data[y * info.stride[0] + x];
        const guint8 value = in ? want.data[y * info.stride[0] + x] : 0;

        people += label;
        /* Half foreground, up to rounding, may be either. */
        fail_unless(label <= 1 && (value == 127 || value == 128 || label == (value >= 128)),
                    "%s: %d at %d,%d, where the mask has %d", what, label, x, y, value);
    }
    fail_unless(people > 0 && people < width * height, "%s: all of one label", what);
    gst_buffer_unmap(l.mask, &got);
    gst_buffer_unmap(mask, &want);
    gst_buffer_unref(l.mask);
}

/* A frame of these caps, and one behind it with grey at the top: its mask has a share of the
 * first one's. */
static GstBuffer *run_second(struct filter *filter, const char *caps)
{
    GstBuffer *second = picture_portrait_as(caps, GST_SECOND / 30);

    gst_buffer_unref(filter_run(filter, picture_portrait_as(caps, 0)));
    gst_buffer_memset(second, 0, 128, gst_buffer_get_size(second) / 4);
    return filter_run(filter, second);
}

/* ----------------------------------------------------------------- the labels */

#define MORE "threshold=0.4 feather=0.6 smoothing=0.6 "
static const struct {
    const char *properties, *more, *caps, *foreground;
} rows[] = {
    { "mode=overlay", MORE, CAPS, "person" },
    { "mode=blur", MORE "invert=true", CAPS, "foreground" },
    { "mode=replace", MORE "input-fit=letterbox", "video/x-raw,format=NV12,width=180,height=101",
      "person" },
    { "mode=alpha", MORE "refine=false", "video/x-raw,format=I420,width=131,height=77", "person" },
    { "mode=mask", MORE "input-fit=crop", "video/x-raw,format=YUY2,width=201,height=90", "person" },
    { "mode=passthrough", MORE, "video/x-raw,format=RGB,width=133,height=99", "person" },
};

GST_START_TEST(labels_are_the_mask)
{
    g_autofree gchar *line = g_strdup_printf("%s %s meta=segmentation", rows[__i__].properties,
                                             rows[__i__].more);
    g_autofree gchar *plain = g_strdup_printf("mode=mask %s", rows[__i__].more);
    struct filter filter, reference;
    GstBuffer *frame, *mask;
    struct labels l;

    if (!util_in_turn(__i__, 3))
        return;
    filter_start(&reference, plain, rows[__i__].caps);
    mask = run_second(&reference, rows[__i__].caps);
    filter_start(&filter, line, rows[__i__].caps);
    frame = run_second(&filter, rows[__i__].caps);
    l = labels_of(frame, rows[__i__].foreground);
    fail_unless(l.x == 0 && l.y == 0);
    compare(l, mask, NULL, line);
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), 2);
    fail_unless_equals_uint64(filter_stat(&reference, "cpu-copied-bytes"),
                              filter_stat(&filter, "cpu-copied-bytes"));
    filter_expect_no_error(&filter);
    gst_buffer_unref(frame);
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

/* Frames between two runs, and before a run has ended, have labels, too. */
GST_START_TEST(every_frame_has_labels)
{
    static const char *const lines[] = {
        "mode=blur interval=3 smoothing=0 meta=segmentation",
        "mode=blur latency-mode=freshest smoothing=0 meta=segmentation",
        "mode=passthrough latency-mode=freshest interval=2 smoothing=0 meta=segmentation",
    };
    struct filter filter, reference;
    GstBuffer *mask;

    if (!util_in_turn(__i__, 3))
        return;
    filter_start(&reference, "mode=mask smoothing=0", CAPS);
    mask = filter_run(&reference, picture_portrait(0));
    filter_start(&filter, lines[__i__], CAPS);
    for (guint i = 0; i < 5; i++) {
        GstBuffer *frame = filter_run(&filter, picture_portrait(i * GST_SECOND / 30));

        compare(labels_of(frame, "person"), mask, NULL, lines[__i__]);
        gst_buffer_unref(frame);
    }
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

static void add_crop(GstBuffer *buffer, const GstVideoRectangle *part)
{
    GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(buffer);

    meta->x = part->x;
    meta->y = part->y;
    meta->width = part->w;
    meta->height = part->h;
}

/* Round a crop there is background, whatever becomes of the frame there. */
GST_START_TEST(round_a_crop)
{
    static const char *const lines[] = { "mode=overlay meta=segmentation",
                                         "mode=passthrough meta=segmentation" };
    const GstVideoRectangle part = { 32, 16, 160, 200 };
    struct filter filter, reference;
    GstBuffer *input = picture_portrait(0), *frame, *mask;

    add_crop(input, &part);
    filter_start(&reference, "mode=mask", CAPS);
    mask = filter_run(&reference, gst_buffer_ref(input));
    filter_start(&filter, lines[__i__], CAPS);
    frame = filter_run(&filter, input);
    compare(labels_of(frame, "person"), mask, &part, lines[__i__]);
    gst_buffer_unref(frame);
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

/* A buffer may hold more than its caps' picture. The labels are of that picture, at the place that
 * the crop gives; the output has no more in it. */
GST_START_TEST(part_of_a_buffer)
{
    static const char caps[] = "video/x-raw,format=RGB,width=180,height=150,framerate=30/1";
    const GstVideoRectangle part = { 41, 35, 180, 150 };
    const gboolean passes = __i__ == 1;
    struct filter filter, reference;
    GstBuffer *input = picture_portrait(0), *frame, *mask;
    struct labels l;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    gst_buffer_add_video_meta_full(input, 0, GST_VIDEO_FORMAT_RGB, 256, 256, 1, info.offset,
                                   info.stride);
    add_crop(input, &part);
    filter_start(&reference, "mode=mask", caps);
    mask = filter_run(&reference, gst_buffer_ref(input));
    filter_start(&filter, passes ? "mode=passthrough meta=segmentation" : "meta=segmentation",
                 caps);
    frame = filter_run(&filter, input);
    l = labels_of(frame, "person");
    fail_unless_equals_int(l.x, passes ? part.x : 0);
    fail_unless_equals_int(l.y, passes ? part.y : 0);
    compare(l, mask, NULL, "a part");
    gst_buffer_unref(frame);
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

/* ---------------------------------------------------------------- the tensor */

/* Compares the tensor with mode=mask, where frame and mask have one size, so the mask is the
 * network's output. Takes the frame's tensor as it is. */
static void compare_tensor(GstBuffer *frame, GstBuffer *mask, const char *what)
{
    GstTensorMeta *meta = gst_buffer_get_tensor_meta(frame);
    const GstTensor *tensor;
    GstMapInfo got, want;

    fail_unless(meta && meta->num_tensors == 1, "%s: no tensor", what);
    fail_unless_equals_int(
        gst_tensor_meta_get_index_from_id(meta, g_quark_from_string("tdl-mask")), 0);
    tensor = gst_tensor_meta_get(meta, 0);
    fail_unless(tensor->data_type == GST_TENSOR_DATA_TYPE_FLOAT32 &&
                tensor->dims_order == GST_TENSOR_DIM_ORDER_ROW_MAJOR && tensor->num_dims == 4);
    fail_unless(tensor->dims[0] == 1 && tensor->dims[1] == 256 && tensor->dims[2] == 256 &&
                tensor->dims[3] == 1);
    fail_unless(gst_memory_is_type(gst_buffer_peek_memory(tensor->data, 0), "TdlMemory"));
    fail_unless(gst_buffer_map(tensor->data, &got, GST_MAP_READ));
    fail_unless(gst_buffer_map(mask, &want, GST_MAP_READ));
    fail_unless_equals_uint64(got.size, 256 * 256 * sizeof(gfloat));
    for (guint i = 0; i < 256 * 256; i++) {
        const gfloat value = ((const gfloat *)(gconstpointer)got.data)[i];

        fail_unless(ABS(255 * value - want.data[i]) <= 1, "%s: %f at %u, where the mask has %d",
                    what, value, i, want.data[i]);
    }
    gst_buffer_unmap(tensor->data, &got);
    gst_buffer_unmap(mask, &want);
}

static const struct {
    const char *line;
    guint frames, runs;
} tensor_rows[] = {
    { PLAIN "mode=blur meta=both", 3, 3 },
    { PLAIN "mode=passthrough meta=tensor interval=3", 5, 2 },
    { PLAIN "mode=blur blur-radius=0 meta=tensor interval=2", 3, 2 },
    { PLAIN "mode=overlay meta=both latency-mode=freshest", 4, 0 },
    { PLAIN "mode=passthrough meta=tensor latency-mode=freshest", 4, 0 },
};

GST_START_TEST(tensor_is_the_networks_mask)
{
    const char *line = tensor_rows[__i__].line;
    GstAnalyticsSegmentationMtd segmentation;
    struct filter filter, reference;
    GstBuffer *mask;

    if (!util_in_turn(__i__, 3))
        return;
    filter_start(&reference, PLAIN "mode=mask", CAPS);
    mask = filter_run(&reference, picture_portrait(0));
    filter_start(&filter, line, CAPS);
    for (guint i = 0; i < tensor_rows[__i__].frames; i++) {
        GstBuffer *frame = filter_run(&filter, picture_portrait(i * GST_SECOND / 30));

        compare_tensor(frame, mask, line);
        fail_unless_equals_int(find_segmentation(frame, 0, &segmentation),
                               strstr(line, "both") != NULL);
        gst_buffer_unref(frame);
    }
    if (tensor_rows[__i__].runs)
        fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), tensor_rows[__i__].runs);
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

/* The one of before metadata was off is not of the mask that frames wear. */
GST_START_TEST(no_old_tensor)
{
    GstBuffer *grey = picture_portrait(GST_SECOND / 30), *frame, *mask;
    struct filter filter, reference;

    gst_buffer_memset(grey, 0, 128, gst_buffer_get_size(grey));
    filter_start(&reference, PLAIN "mode=mask", CAPS);
    mask = filter_run(&reference, gst_buffer_ref(grey));
    filter_start(&filter, PLAIN "mode=overlay interval=10 meta=tensor", CAPS);
    gst_buffer_unref(filter_run(&filter, picture_portrait(0)));
    gst_util_set_object_arg(G_OBJECT(filter.element), "meta", "none");
    frame = filter_run(&filter, gst_buffer_ref(grey));
    fail_if(gst_buffer_get_tensor_meta(frame));
    gst_buffer_unref(frame);
    gst_util_set_object_arg(G_OBJECT(filter.element), "meta", "both");
    frame = filter_run(&filter, grey);
    compare_tensor(frame, mask, "grey");
    gst_buffer_unref(frame);
    gst_buffer_unref(mask);
    filter_stop(&filter);
    filter_stop(&reference);
}
GST_END_TEST;

/* ------------------------------------------------------------------ the memory */

/* Frames that nobody looks at, and one whose labels somebody does. */
GST_START_TEST(read_back_by_readers_alone)
{
    struct filter filter;
    GstBuffer *frame;
    guint64 before;
    struct labels l;
    GstMapInfo map;

    filter_start(&filter, "meta=segmentation", CAPS);
    frame = filter_run(&filter, picture_portrait(0));
    before = filter_stat(&filter, "cpu-mapped-bytes");
    gst_buffer_unref(filter_run(&filter, picture_portrait(GST_SECOND / 30)));
    before = filter_stat(&filter, "cpu-mapped-bytes") - before; /* bytes of the portrait, or 0 */
    l = labels_of(frame, "person");
    fail_unless(gst_buffer_map(l.mask, &map, GST_MAP_READ));
    gst_buffer_unmap(l.mask, &map);
    before += filter_stat(&filter, "cpu-mapped-bytes");
    gst_buffer_unref(filter_run(&filter, picture_portrait(2 * GST_SECOND / 30)));
    fail_unless_equals_uint64(filter_stat(&filter, "cpu-mapped-bytes"), before + 256 * 256);
    gst_buffer_unref(l.mask);
    gst_buffer_unref(frame);
    filter_stop(&filter);
}
GST_END_TEST;

/* Metadata is made only while it is asked for, from that frame on. */
GST_START_TEST(live)
{
    static const char *const modes[] = { "mode=overlay", "mode=passthrough" };
    GstAnalyticsSegmentationMtd segmentation;
    struct filter filter;
    guint64 bytes = 0;

    filter_start(&filter, modes[__i__], CAPS);
    for (guint i = 0; i < 5; i++) {
        const gboolean on = i % 2;
        GstBuffer *frame;

        gst_util_set_object_arg(G_OBJECT(filter.element), "meta", on ? "segmentation" : "none");
        frame = filter_run(&filter, picture_portrait(i * GST_SECOND / 30));
        fail_unless_equals_int(find_segmentation(frame, 0, &segmentation), on);
        if (i == 0)
            bytes = filter_stat(&filter, "gpu-bytes-per-frame");
        else if (__i__ == 0)
            fail_unless_equals_uint64(filter_stat(&filter, "gpu-bytes-per-frame"),
                                      bytes + (on ? 256 * 256 : 0));
        gst_buffer_unref(frame);
    }
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), __i__ == 0 ? 5 : 2);
    filter_stop(&filter);
}
GST_END_TEST;

/* A frame of others is left as it was; what others have found stays. */
GST_START_TEST(what_others_know_stays)
{
    static const char *const lines[] = { "mode=overlay meta=segmentation",
                                         "mode=passthrough meta=segmentation" };
    GstBuffer *input = picture_portrait(0), *frame;
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(input);
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsODMtd object;
    gpointer state = NULL;
    struct filter filter;
    gint x, y, w, h;
    gfloat sure;

    gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_static_string("face"), 3, 5, 7,
                                           9, 0.5f, NULL);
    filter_start(&filter, lines[__i__], CAPS);
    frame = filter_run(&filter, gst_buffer_ref(input));
    relations = gst_buffer_get_analytics_relation_meta(frame);
    fail_unless(gst_analytics_relation_meta_iterate(relations, &state,
                                                    gst_analytics_od_mtd_get_mtd_type(), &object));
    fail_unless(gst_analytics_od_mtd_get_location(&object, &x, &y, &w, &h, &sure));
    fail_unless(x == 3 && y == 5 && w == 7 && h == 9);
    fail_unless(find_segmentation(frame, 0, &segmentation));
    fail_if(find_segmentation(frame, 1, &segmentation), "two for one run");
    fail_if(find_segmentation(input, 0, &segmentation), "somebody else's frame has changed");
    gst_buffer_unref(frame);
    gst_buffer_unref(input);
    filter_stop(&filter);
}
GST_END_TEST;

/* Other sizes, a flush, and labels that outlive the element. */
GST_START_TEST(flush_and_sizes)
{
    static const char *const caps[] = { CAPS, "video/x-raw,format=NV12,width=70,height=46",
                                        "video/x-raw,format=I420,width=96,height=64" };
    struct labels kept[G_N_ELEMENTS(caps)];
    GstBuffer *masks[G_N_ELEMENTS(caps)];
    struct filter filter, reference;
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    filter_start(&filter, "smoothing=0 meta=segmentation", NULL);
    filter_start(&reference, "smoothing=0 mode=mask", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(caps); i++) {
        GstBuffer *frame;

        gst_harness_set_src_caps_str(filter.harness, caps[i]);
        gst_harness_set_src_caps_str(reference.harness, caps[i]);
        masks[i] = filter_run(&reference, picture_portrait_as(caps[i], 0));
        gst_buffer_unref(filter_run(&filter, picture_portrait_as(caps[i], 0)));
        gst_harness_push_event(filter.harness, gst_event_new_flush_start());
        gst_harness_push_event(filter.harness, gst_event_new_flush_stop(TRUE));
        gst_harness_push_event(filter.harness, gst_event_new_segment(&segment));
        frame = filter_run(&filter, picture_portrait_as(caps[i], 0));
        kept[i] = labels_of(frame, "person");
        gst_buffer_unref(frame);
    }
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    for (guint i = 0; i < G_N_ELEMENTS(caps); i++) {
        compare(kept[i], masks[i], NULL, caps[i]);
        gst_buffer_unref(masks[i]);
    }
    filter_stop(&reference);
}
GST_END_TEST;

/* --------------------------------------------------------------------- classes */

static gchar *folder; /* folder of models in ncnn's text */

/* A network as small as can be, and its weights. */
static gchar *write_model(const char *name, const char *layer, const gfloat *weights, gsize count)
{
    g_autofree gchar *path = g_strdup_printf("%s/%s.param", folder, name);
    g_autofree gchar *bin = g_strdup_printf("%s/%s.bin", folder, name);
    g_autofree gchar *text =
        g_strdup_printf("7767517\n2 2\nInput in 0 1 data 2=3\n%s\n", layer);

    fail_unless(g_file_set_contents(path, text, -1, NULL));
    fail_unless(g_file_set_contents(bin, (const gchar *)weights, count * sizeof(gfloat), NULL));
    return g_steal_pointer(&path);
}

/* The picture's red, green and blue are the classes; its red is the one number; class 299 of
 * 300, whatever the picture. */
enum network { COLORS, RED, MANY };

static gchar *write_network(enum network network)
{
    gfloat weights[1 + 3 * 300 + 300] = { 0 }; /* weights, behind a tag for float32 */

    if (network == COLORS)
        return write_model("colors", "ReLU same 1 1 data out", NULL, 0);
    if (network == RED)
        return write_model("red", "Crop red 1 1 data out 0=0 1=0 2=0 3=0 4=0 5=1", NULL, 0);
    weights[G_N_ELEMENTS(weights) - 1] = 1;
    return write_model("many", "Convolution c 1 1 data out 0=300 1=1 5=1 6=900", weights,
                       G_N_ELEMENTS(weights));
}

/* Class that the network gives a pixel. */
static guint class_of(enum network network, const guint8 *rgb, gboolean is_number)
{
    if (network == MANY)
        return 255; /* the last one that a byte can say */
    if (network == RED)
        return is_number ? rgb[0] : rgb[0] >= 128;
    return rgb[1] > rgb[0] ? (rgb[2] > rgb[1] ? 2 : 1) : (rgb[2] > rgb[0] ? 2 : 0);
}

/* Noise in which a pixel's largest colour is so by far, and no red is near a half. */
static GstBuffer *noise(const GstVideoInfo *info, GRand *rand, GstClockTime time)
{
    GstBuffer *picture = gst_buffer_new_allocate(NULL, info->size, NULL);
    GstMapInfo map;

    fail_unless(gst_buffer_map(picture, &map, GST_MAP_WRITE));
    for (gint y = 0; y < info->height; y++)
        for (gint x = 0; x < info->width; x++) {
            guint8 *rgb = map.data + y * info->stride[0] + 3 * x;

            for (guint c = 0; c < 3; c++)
                rgb[c] = g_rand_int_range(rand, 0, 120);
            rgb[g_rand_int_range(rand, 0, 3)] = g_rand_int_range(rand, 136, 256);
        }
    gst_buffer_unmap(picture, &map);
    GST_BUFFER_PTS(picture) = time;
    GST_BUFFER_DURATION(picture) = GST_SECOND / 30;
    return picture;
}

struct area {
    gint x, y;
    guint width, height;
};

/* A frame's classes are those of that picture's pixels in that area, which is where they say
 * that they lie; each has a region, and is called so. */
static void compare_classes(GstBuffer *frame, GstBuffer *picture, const GstVideoInfo *info,
                            const struct area *area, enum network network, guint count,
                            const char *const *names, const char *what)
{
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(frame);
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsClsMtd classes;
    GstBuffer *mask;
    const GstVideoMeta *meta;
    GstMapInfo got, rgb;
    struct area place;

    fail_unless(find_segmentation(frame, 0, &segmentation), "%s: none", what);
    fail_if(find_segmentation(frame, 1, &(GstAnalyticsSegmentationMtd){ 0 }), "%s: two", what);
    mask = gst_analytics_segmentation_mtd_get_mask(&segmentation, &place.x, &place.y, &place.width,
                                                   &place.height);
    fail_if(memcmp(&place, area, sizeof(place)), "%s: in %d,%d %ux%u", what, place.x, place.y,
            place.width, place.height);
    fail_unless_equals_int(gst_analytics_segmentation_mtd_get_region_count(&segmentation), count);
    fail_unless(gst_analytics_relation_meta_get_direct_related(
        relations, segmentation.id, GST_ANALYTICS_REL_TYPE_N_TO_N,
        gst_analytics_cls_mtd_get_mtd_type(), NULL, &classes));
    fail_unless_equals_int(gst_analytics_cls_mtd_get_length(&classes), count);
    for (guint i = 0; i < count; i++) {
        g_autofree gchar *number = g_strdup_printf("%u", i);

        fail_unless_equals_int(gst_analytics_segmentation_mtd_get_region_id(&segmentation, i), i);
        fail_unless_equals_string(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&classes, i)),
                                  names && i < 3 ? names[i] : number);
    }
    meta = gst_buffer_get_video_meta(mask);
    fail_unless(meta->format == GST_VIDEO_FORMAT_GRAY8 && meta->width == area->width &&
                meta->height == area->height && meta->stride[0] == (gint)area->width);
    fail_unless(gst_memory_is_type(gst_buffer_peek_memory(mask, 0), "TdlMemory"));
    fail_unless(gst_buffer_map(mask, &got, GST_MAP_READ));
    fail_unless(gst_buffer_map(picture, &rgb, GST_MAP_READ));
    fail_unless_equals_uint64(got.size, area->width * area->height);
    for (guint i = 0; i < got.size; i++) {
        const guint x = i % area->width, y = i / area->width;
        const guint8 *at = rgb.data + (area->y + y) * info->stride[0] + 3 * (area->x + x);
        const guint want = class_of(network, at, count == 256);

        fail_unless(got.data[i] == want, "%s: %d at %u,%u, not %u", what, got.data[i], x, y, want);
    }
    gst_buffer_unmap(mask, &got);
    gst_buffer_unmap(picture, &rgb);
    gst_buffer_unref(mask);
}

/* The network has the size of the frame, or of what it sees of it: px are px. */
static const struct {
    enum network network;
    guint width, height, count;
    const char *properties;
    guint model[2];
    GstVideoRectangle crop;
} class_rows[] = {
    { COLORS, 32, 18, 3, "", { 32, 18 } },
    { COLORS, 37, 19, 3, "classes=<2> opacity=1", { 37, 19 } }, /* all have classes */
    { COLORS, 32, 18, 3, "input-fit=letterbox", { 32, 32 } },
    { COLORS, 18, 32, 3, "input-fit=letterbox", { 33, 32 } },
    { COLORS, 64, 48, 3, "", { 24, 18 }, { 16, 6, 24, 18 } },
    { COLORS, 64, 48, 3, "input-fit=letterbox", { 24, 24 }, { 16, 6, 16, 24 } },
    { COLORS, 31, 22, 3, "model-size=frame", { 0 } },
    { COLORS, 64, 32, 3, "model-size=~32x64", { 0 } },
    { COLORS, 32, 64, 3, "model-size=~64x32", { 0 } }, /* unlike what is likely */
    { RED, 32, 18, 256, "decoder=labels input-range=0,255", { 32, 18 } },
    { RED, 32, 18, 2, "", { 32, 18 } },
    { MANY, 16, 12, 256, "", { 16, 12 } },
};

GST_START_TEST(classes_of_pixels)
{
    static const char *const names[] = { "sky", "1", "road" };
    g_autofree gchar *model = write_network(class_rows[__i__].network);
    g_autofree gchar *labels = g_strdup_printf("%s/labels.txt", folder);
    const GstVideoRectangle *crop = &class_rows[__i__].crop;
    const gboolean is_sized = class_rows[__i__].model[0] > 0, has_names = __i__ % 2;
    g_autofree gchar *size = g_strdup_printf("model-size=%ux%u", class_rows[__i__].model[0],
                                             class_rows[__i__].model[1]);
    g_autofree gchar *line = g_strdup_printf(
        "mode=classes meta=segmentation model=%s %s %s %s%s", model, is_sized ? size : "",
        class_rows[__i__].properties, has_names ? "labels=" : "", has_names ? labels : "");
    g_autofree gchar *caps =
        g_strdup_printf("video/x-raw,format=RGB,width=%u,height=%u,framerate=30/1",
                        class_rows[__i__].width, class_rows[__i__].height);
    struct area area = { 0, 0, class_rows[__i__].width, class_rows[__i__].height };
    GRand *rand = g_rand_new_with_seed(util_seed());
    struct filter filter;
    GstVideoInfo info;

    fail_unless(g_file_set_contents(labels, " sky\n\nroad\r\n", -1, NULL));
    if (crop->w)
        area = (struct area){ crop->x, crop->y, crop->w, crop->h };
    caps_info(caps, &info);
    filter_start(&filter, line, caps);
    for (guint i = 0; i < 3; i++) {
        GstBuffer *picture = noise(&info, rand, i * GST_SECOND / 30), *frame;

        if (crop->w)
            add_crop(picture, crop);
        frame = filter_run(&filter, gst_buffer_ref(picture));
        compare_classes(frame, picture, &info, &area, class_rows[__i__].network,
                        class_rows[__i__].count, has_names ? names : NULL, line);
        gst_buffer_unref(frame);
        gst_buffer_unref(picture);
    }
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    g_rand_free(rand);
}
GST_END_TEST;

#define SMALL "video/x-raw,format=RGB,width=32,height=18,framerate=30/1"
static const struct area all_small = { 0, 0, 32, 18 };

/* Classes belong to the run whose mask the frame shows, which may be an earlier one. */
GST_START_TEST(classes_between_runs)
{
    g_autofree gchar *model = write_network(COLORS);
    g_autofree gchar *line = g_strdup_printf(
        "mode=classes meta=segmentation model=%s model-size=32x18 interval=3", model);
    GRand *rand = g_rand_new_with_seed(util_seed());
    GstBuffer *picture = NULL;
    struct filter filter;
    GstVideoInfo info;

    caps_info(SMALL, &info);
    filter_start(&filter, line, SMALL);
    for (guint i = 0; i < 7; i++) {
        GstBuffer *next = noise(&info, rand, i * GST_SECOND / 30), *frame;

        if (i % 3 == 0)
            gst_buffer_replace(&picture, next);
        frame = filter_run(&filter, next);
        compare_classes(frame, picture, &info, &all_small, COLORS, 3, NULL, "interval=3");
        gst_buffer_unref(frame);
    }
    fail_unless_equals_uint64(filter_stat(&filter, "network-runs"), 3);
    gst_util_set_object_arg(G_OBJECT(filter.element), "interval", "1");
    gst_util_set_object_arg(G_OBJECT(filter.element), "latency-mode", "freshest");
    for (guint i = 7; i < 11; i++) { /* once it has seen it, it is the newest */
        GstBuffer *same = gst_buffer_copy(picture), *frame;

        GST_BUFFER_PTS(same) = i * GST_SECOND / 30;
        frame = filter_run(&filter, same);
        compare_classes(frame, picture, &info, &all_small, COLORS, 3, NULL, "freshest");
        gst_buffer_unref(frame);
    }
    gst_buffer_unref(picture);
    filter_stop(&filter);
    g_rand_free(rand);
}
GST_END_TEST;

struct class_stream {
    struct filter filter;
    guint seed;
    gint *together; /* streams that have been in a batch */
};

static gpointer run_stream(gpointer data)
{
    struct class_stream *stream = data;
    GRand *rand = g_rand_new_with_seed(stream->seed);
    gboolean was = FALSE;
    GstVideoInfo info;

    caps_info(SMALL, &info);
    for (guint i = 0; g_atomic_int_get(stream->together) < 2; i++) {
        GstBuffer *picture = noise(&info, rand, i * GST_SECOND / 30);
        GstBuffer *frame = filter_run(&stream->filter, gst_buffer_ref(picture));
        const gboolean is = filter_stat(&stream->filter, "batches") > 0;

        compare_classes(frame, picture, &info, &all_small, COLORS, 3, NULL, "a stream of two");
        if (is && !was)
            g_atomic_int_inc(stream->together);
        was |= is;
        gst_buffer_unref(frame);
        gst_buffer_unref(picture);
    }
    g_rand_free(rand);
    return NULL;
}

/* Streams whose network runs on both frames at once have their own each. */
GST_START_TEST(classes_of_two_streams)
{
    g_autofree gchar *model = write_network(COLORS);
    g_autofree gchar *line = g_strdup_printf("mode=classes meta=segmentation model=%s "
                                             "model-size=32x18 batch-size=2 batch-timeout=20",
                                             model);
    struct class_stream streams[2];
    GThread *threads[2];
    gint together = 0;

    for (guint i = 0; i < 2; i++) {
        streams[i] = (struct class_stream){ .seed = util_seed() + i, .together = &together };
        filter_start(&streams[i].filter, line, SMALL);
    }
    for (guint i = 0; i < 2; i++)
        threads[i] = g_thread_new("stream", run_stream, &streams[i]);
    for (guint i = 0; i < 2; i++)
        g_thread_join(threads[i]);
    for (guint i = 0; i < 2; i++) {
        filter_expect_no_error(&streams[i].filter);
        filter_stop(&streams[i].filter);
    }
}
GST_END_TEST;

/* From classes to a mask and back, while frames come. */
GST_START_TEST(classes_come_and_go)
{
    static const char *const modes[] = { "overlay", "classes" };
    g_autofree gchar *model = write_network(COLORS);
    g_autofree gchar *line = g_strdup_printf(
        "mode=classes meta=segmentation model=%s model-size=32x18 decoder=softmax", model);
    GRand *rand = g_rand_new_with_seed(util_seed());
    GstAnalyticsSegmentationMtd segmentation;
    struct filter filter;
    GstVideoInfo info;
    guint time = 0;

    caps_info(SMALL, &info);
    filter_start(&filter, line, SMALL);
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        gsize count = 0;

        gst_util_set_object_arg(G_OBJECT(filter.element), "mode", modes[i]);
        while (count != 2 + i) {
            GstBuffer *frame = filter_run(&filter, noise(&info, rand, time++ * GST_SECOND / 30));

            if (find_segmentation(frame, 0, &segmentation))
                count = gst_analytics_segmentation_mtd_get_region_count(&segmentation);
            gst_buffer_unref(frame);
            g_usleep(1000);
        }
    }
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    g_rand_free(rand);
}
GST_END_TEST;

/* Networks and settings whose frames cannot have the metadata that is asked for. */
static const struct {
    const char *line;
    const char *words[4];
} misuses[] = {
    { "mode=classes meta=tensor", { "no tensor", "mode=classes", "meta=segmentation" } },
    { "mode=classes meta=both", { "no tensor", "meta=segmentation" } },
    { "mode=picture meta=segmentation", { "no mask", "meta=none" } },
};

GST_START_TEST(what_a_mode_has_not)
{
    g_autofree gchar *model = write_network(COLORS);
    g_autofree gchar *line =
        g_strdup_printf("%s model=%s model-size=32x18", misuses[__i__].line, model);
    GRand *rand = g_rand_new_with_seed(util_seed());
    struct filter filter;
    GstVideoInfo info;

    caps_info(SMALL, &info);
    filter_start(&filter, line, SMALL);
    fail_unless_equals_int(gst_harness_push(filter.harness, noise(&info, rand, 0)), GST_FLOW_ERROR);
    message_expect(filter_message(&filter, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR,
                   misuses[__i__].words);
    filter_stop(&filter);
    g_rand_free(rand);
}
GST_END_TEST;

/* A network of the frame's size is loaded when that is known, and its tensor has that size. */
GST_START_TEST(tensor_of_the_frames_size)
{
    g_autofree gchar *model = write_network(RED);
    g_autofree gchar *line = g_strdup_printf(
        PLAIN "mode=overlay meta=tensor model=%s model-size=frame decoder=probability", model);
    GRand *rand = g_rand_new_with_seed(util_seed());
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *picture, *frame;
    const GstTensor *tensor;
    GstMapInfo got, rgb;

    caps_info(SMALL, &info);
    filter_start(&filter, line, SMALL);
    picture = noise(&info, rand, 0);
    frame = filter_run(&filter, gst_buffer_ref(picture));
    tensor = gst_tensor_meta_get(gst_buffer_get_tensor_meta(frame), 0);
    fail_unless(tensor->dims[1] == 18 && tensor->dims[2] == 32);
    fail_unless(gst_buffer_map(tensor->data, &got, GST_MAP_READ));
    fail_unless(gst_buffer_map(picture, &rgb, GST_MAP_READ));
    fail_unless_equals_uint64(got.size, 32 * 18 * sizeof(gfloat));
    for (guint i = 0; i < 32 * 18; i++) {
        const gfloat value = ((const gfloat *)(gconstpointer)got.data)[i];

        fail_unless(ABS(255 * value - rgb.data[3 * i]) < 0.01f, "%f at %u, not %d / 255", value, i,
                    rgb.data[3 * i]);
    }
    gst_buffer_unmap(tensor->data, &got);
    gst_buffer_unmap(picture, &rgb);
    gst_buffer_unref(frame);
    gst_buffer_unref(picture);
    filter_stop(&filter);
    g_rand_free(rand);
}
GST_END_TEST;

static void remove_models(void)
{
    static const char *const files[] = { "colors.param", "colors.bin", "red.param", "red.bin",
                                         "many.param",   "many.bin",   "labels.txt" };

    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree gchar *path = g_build_filename(folder, files[i], NULL);

        g_unlink(path);
    }
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
}

static void add_tests(TCase *tc)
{
    folder = g_dir_make_tmp("tdl-meta-XXXXXX", NULL);
    tcase_add_loop_test(tc, classes_of_pixels, 0, G_N_ELEMENTS(class_rows));
    tcase_add_test(tc, classes_between_runs);
    tcase_add_test(tc, classes_of_two_streams);
    tcase_add_test(tc, classes_come_and_go);
    tcase_add_loop_test(tc, what_a_mode_has_not, 0, G_N_ELEMENTS(misuses));
    tcase_add_test(tc, tensor_of_the_frames_size);
    tcase_add_loop_test(tc, labels_are_the_mask, 0, G_N_ELEMENTS(rows));
    tcase_add_loop_test(tc, every_frame_has_labels, 0, 3);
    tcase_add_loop_test(tc, round_a_crop, 0, 2);
    tcase_add_loop_test(tc, part_of_a_buffer, 0, 2);
    tcase_add_loop_test(tc, tensor_is_the_networks_mask, 0, G_N_ELEMENTS(tensor_rows));
    tcase_add_test(tc, no_old_tensor);
    tcase_add_test(tc, read_back_by_readers_alone);
    tcase_add_loop_test(tc, live, 0, 2);
    tcase_add_loop_test(tc, what_others_know_stays, 0, 2);
    tcase_add_test(tc, flush_and_sizes);
}

#else

static const char *const words[] = { "meta=none", "mask_src", "1.26", NULL };

GST_START_TEST(missing_at_the_start)
{
    GstElement *pipeline = gst_parse_launch(
        "videotestsrc num-buffers=1 ! tdlfilter meta=segmentation ! fakesink", NULL);
    GstBus *bus = gst_element_get_bus(pipeline);

    fail_unless_equals_int(gst_element_set_state(pipeline, GST_STATE_PLAYING),
                           GST_STATE_CHANGE_FAILURE);
    message_expect(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
}
GST_END_TEST;

/* Setting it later warns once, and frames go on. */
GST_START_TEST(missing_later)
{
    struct filter filter;
    GstVideoInfo info;

    caps_info(CAPS, &info);
    filter_start(&filter, "meta=none", CAPS);
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    fail_if(filter_message(&filter, GST_MESSAGE_WARNING));
    gst_util_set_object_arg(G_OBJECT(filter.element), "meta", "segmentation");
    message_expect(filter_message(&filter, GST_MESSAGE_WARNING), GST_MESSAGE_WARNING, words);
    gst_buffer_unref(filter_run(&filter, picture_new(&info, 0)));
    fail_if(filter_message(&filter, GST_MESSAGE_WARNING));
    gst_util_set_object_arg(G_OBJECT(filter.element), "meta", "none");
    fail_if(filter_message(&filter, GST_MESSAGE_WARNING));
    filter_expect_no_error(&filter);
    filter_stop(&filter);
}
GST_END_TEST;

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, missing_at_the_start);
    tcase_add_test(tc, missing_later);
}
#endif

static Suite *suite(void)
{
    Suite *s = suite_create("meta");
    TCase *tc = tcase_create("meta");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    add_region_tests(tc);
    add_tests(tc);
    return s;
}

int main(int argc, char **argv)
{
    int result = util_main_one_device(argc, argv, suite(), "meta");

#ifdef HAVE_ANALYTICS
    remove_models();
#else
    if (!result) {
        g_print("skipped but for messages and regions: no gstreamer-analytics-1.0 >= 1.26\n");
        result = 77;
    }
#endif
    return result;
}
