/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames as cameras of boards send them: dma-bufs under plain caps, with rows and lines
 * that the hardware pads, planes in one dma-buf or in several, at offsets, and in formats
 * of 10 bits. Memory files stand for dma-bufs, as in test-zero-copy.c; where the device
 * imports none, the copying importer has to find the same pixels.
 */
#include "util.h"

#include <gst/allocators/gstdmabuf.h>
#include <string.h>
#include <sys/mman.h>
#include <tdl/tdl.h>
#include <unistd.h>

#define PAGE 4096 /* bytes */

enum split {
    ONE,    /* memory with all planes */
    SHARED, /* a memory for each plane, all of one file */
    FILES,  /* a file for each plane */
};

static const struct camera {
    const char *name, *format;
    gint width, height; /* width and height of the caps, px */
    gsize align;        /* bytes; of rows in the first plane, and in proportion in others */
    gint lines;         /* rows that the planes have room for; 0: the height */
    enum split split;
    gsize front;        /* bytes in front of the pixels */
    gboolean meta;      /* a GstVideoMeta tells the layout */
    gint left, top;     /* with `coded`: where the picture lies in it, px */
    gboolean empty;     /* one memory more, with nothing in it */
    gint coded[2];      /* the size in the meta, of which a crop is the picture; 0: that */
} cameras[] = {
    { "libcamerasrc 0.4, padded rows", "NV12", 70, 46, 64, .split = SHARED },
    { "libcamerasrc 0.4, three planes", "I420", 70, 46, 128, .split = SHARED, .front = PAGE },
    { "libcamerasrc 0.4, tight rows", "NV12", 70, 46, 2, .split = SHARED },
    { "libcamerasrc 0.4, its virtual camera", "NV12", 322, 182, 2, .split = SHARED, .empty = TRUE },
    { "libcamerasrc 0.4, as GStreamer has them", "NV12", 64, 48, 64, .split = SHARED },
    { "libcamerasrc 0.5", "NV12", 70, 46, 64, .split = SHARED, .meta = TRUE },
    { "libcamerasrc 0.5, YUYV", "YUY2", 70, 46, 128, .meta = TRUE },
    { "libcamerasrc 0.5, RGB", "BGR", 70, 46, 64, .meta = TRUE },
    { "v4l2src, lines padded to 16", "NV12", 72, 40, 8, 48, .meta = TRUE },
    { "v4l2src, a file a plane", "NV12", 70, 46, 64, 64, .split = FILES, .meta = TRUE },
    { "v4l2src, pixels behind a header", "NV12", 70, 46, 64, .split = FILES, .front = PAGE,
      .meta = TRUE },
    { "v4l2src, three files", "I420", 70, 46, 64, 48, .split = FILES, .meta = TRUE },
    { "HDMI receiver, 4:2:2", "NV16", 70, 46, 64, .split = FILES, .meta = TRUE },
    { "USB camera", "YUY2", 64, 48, 4 },
    { "camera of 10 bits", "P010_10LE", 70, 46, 256, 48, .meta = TRUE },
    { "camera of 10 bits, a file a plane", "P010_10LE", 70, 46, 64, .split = FILES, .meta = TRUE },
    { "camera of 10 bits, no meta", "P010_10LE", 70, 46, 64, .split = SHARED },
    { "decoder of 10 bits", "I420_10LE", 70, 46, 64, 64, .split = FILES, .meta = TRUE },
    { "decoder of 10 bits, 4:2:2", "I422_10LE", 70, 46, 64, .meta = TRUE },
    { "infrared camera", "GRAY8", 70, 46, 64, .meta = TRUE },
    { "depth camera", "GRAY16_LE", 70, 46, 64, .split = FILES, .front = PAGE, .meta = TRUE },
    { "decoder's blocks with a crop", "NV12", 64, 44, 64, .meta = TRUE, .coded = { 80, 48 },
      .left = 8, .top = 2 },
};

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

static const char *expected_path(void)
{
    if (device()->type == TDL_DEVICE_CPU)
        return "dma-buf-mapped";
    return device()->external_memory_dma_buf ? "dma-buf" : "copy";
}

/* ------------------------------------------------------------------- layouts */

/* Places of the pixels, written down a second time by planes and samples. */
struct layout {
    guint planes;
    gint width, height; /* size of the picture in memory, px */
    gsize row[3], rows[3], stride[3], size[3]; /* a plane's */
};

static void find_layout(const struct camera *camera, struct layout *out)
{
    const char *format = camera->format;
    const gsize depth = strstr(format, "10LE") || strstr(format, "16_LE") ? 2 : 1;
    const gboolean three = g_str_has_prefix(format, "I4");
    const gboolean packed = !strcmp(format, "YUY2"), rgb = !strcmp(format, "BGR");
    const gboolean gray = g_str_has_prefix(format, "GRAY");
    const gboolean tall = strstr(format, "NV16") || strstr(format, "I422");

    *out = (struct layout){ .planes = three ? 3 : packed || rgb || gray ? 1 : 2 };
    out->width = camera->coded[0] ? camera->coded[0] : camera->width;
    out->height = camera->coded[1] ? camera->coded[1] : camera->height;
    for (guint p = 0; p < out->planes; p++) {
        const gint lines = camera->lines ? camera->lines : out->height;
        const gsize samples = p && three ? out->width / 2 : out->width;

        out->row[p] = samples * depth * (packed ? 2 : rgb ? 3 : 1);
        out->rows[p] = p && !tall ? out->height / 2 : out->height;
        out->stride[p] = (out->row[0] + camera->align - 1) / camera->align * camera->align;
        out->stride[p] /= p && three ? 2 : 1;
        out->size[p] = out->stride[p] * (p && !tall ? lines / 2 : lines);
    }
}

static gint file_new(gsize size)
{
    gint fd = memfd_create("dma-buf", MFD_CLOEXEC);
    g_autofree guint8 *bytes = g_malloc(size);

    memset(bytes, 0xa5, size); /* a pattern that must not be seen */
    fail_unless(fd >= 0 && write(fd, bytes, size) == (gssize)size);
    return fd;
}

/* A part of a file as a memory; takes the file. */
static GstMemory *memory_new(gint fd, gsize offset, gsize size)
{
    GstAllocator *allocator = gst_dmabuf_allocator_new();
    GstMemory *memory = gst_dmabuf_allocator_alloc(allocator, fd, offset + size);

    gst_memory_resize(memory, offset, size);
    gst_object_unref(allocator);
    return memory;
}

/* A camera's buffer without a picture. */
static GstBuffer *buffer_new(const struct camera *camera)
{
    GstBuffer *buffer = gst_buffer_new();
    gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 }, total = 0;
    gint strides[GST_VIDEO_MAX_PLANES] = { 0 }, fd = -1;
    struct layout layout;

    find_layout(camera, &layout);
    for (guint p = 0; p < layout.planes; p++) {
        offsets[p] = total + (camera->split == ONE ? camera->front : 0);
        strides[p] = layout.stride[p];
        total += layout.size[p];
    }
    if (camera->split != FILES)
        fd = file_new(camera->front + total + PAGE);
    for (guint p = 0; p < layout.planes && camera->split != ONE; p++)
        gst_buffer_append_memory(
            buffer, camera->split == FILES
                        ? memory_new(file_new(camera->front + layout.size[p] + PAGE),
                                     camera->front, layout.size[p])
                        : memory_new(dup(fd), camera->front + offsets[p], layout.size[p]));
    if (camera->split == ONE)
        gst_buffer_append_memory(buffer, memory_new(dup(fd), 0, camera->front + total));
    if (camera->empty)
        gst_buffer_append_memory(buffer, memory_new(dup(fd), total, 0));
    if (fd >= 0)
        close(fd);
    if (camera->meta)
        gst_buffer_add_video_meta_full(buffer, 0, gst_video_format_from_string(camera->format),
                                       layout.width, layout.height, layout.planes, offsets,
                                       strides);
    if (camera->coded[0]) {
        GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);

        crop->x = camera->left;
        crop->y = camera->top;
        crop->width = camera->width;
        crop->height = camera->height;
    }
    return buffer;
}

/* Into the files, behind GStreamer's back, as a camera does. */
static void expose(const struct camera *camera, GstBuffer *buffer, GstBuffer *picture,
                   const GstVideoInfo *info)
{
    struct layout layout;
    GstVideoFrame frame;
    gsize start = camera->front;

    find_layout(camera, &layout);
    fail_unless(gst_video_frame_map(&frame, info, picture, GST_MAP_READ));
    for (guint p = 0; p < layout.planes; p++) {
        GstMemory *memory = gst_buffer_peek_memory(buffer, camera->split == ONE ? 0 : p);
        const gint fd = gst_dmabuf_memory_get_fd(memory);
        /* One byte a sample, and chroma of half the lines. */
        const gsize left = camera->left, top = p ? camera->top / 2 : camera->top;
        const gsize row = camera->coded[0] ? (gsize)camera->width : layout.row[p];
        const gsize rows = layout.rows[p] * camera->height / layout.height;

        for (gsize y = 0; y < rows; y++)
            fail_unless(pwrite(fd, (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, p) +
                                       y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
                               row, start + (top + y) * layout.stride[p] + left) == (gssize)row);
        start += camera->split == FILES ? 0 : layout.size[p];
    }
    gst_video_frame_unmap(&frame);
}

/* --------------------------------------------------------------------- cases */

/* Five pictures in two buffers that go round: none stale, and each file imported no more
 * often than it has memories. */
GST_START_TEST(camera)
{
    const struct camera *is = &cameras[__i__];
    g_autofree gchar *path = NULL, *caps = NULL;
    guint64 imported = 0;
    struct filter filter;
    GstVideoInfo info;
    GstBuffer *two[2];

    if (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") && !util_in_turn(__i__, 5))
        return; /* software Vulkan compiles kernels for every format */
    caps = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", is->format,
                           is->width, is->height);
    caps_info(caps, &info);
    filter_start(&filter, "mode=overlay opacity=0 interval=1000", caps);
    for (guint i = 0; i < 2; i++)
        two[i] = buffer_new(is);
    for (guint i = 0; i < 5; i++) {
        GstBuffer *picture = picture_new(&info, 5 * i), *output;

        expose(is, two[i % 2], picture, &info);
        output = filter_run(&filter, gst_buffer_ref(two[i % 2]));
        picture_compare(output, picture, &info, 2, is->name);
        gst_buffer_unref(output);
        gst_buffer_unref(picture);
        if (i == 1)
            imported = filter_stat(&filter, "imports");
    }
    g_object_get(filter.element, "import-path", &path, NULL);
    fail_unless_equals_string(path, expected_path());
    fail_unless_equals_uint64(filter_stat(&filter, "imports"), imported);
    fail_unless(imported <= 2 * gst_buffer_n_memory(two[0]));
    fail_unless_equals_uint64(filter_stat(&filter, "copied-frames"),
                              strcmp(path, "copy") ? 0 : 5);
    filter_expect_no_error(&filter);
    filter_stop(&filter);
    for (guint i = 0; i < 2; i++)
        gst_buffer_unref(two[i]);
}
GST_END_TEST;

/* Offsets that no padding of rows explains are refused, not shown askew. */
GST_START_TEST(unexplained)
{
    static const char *const words[] = { "too small", NULL };
    struct camera is = { "rows that do not fill", "NV12", 70, 46, 2, .split = SHARED };
    struct filter filter;
    GstBuffer *buffer = buffer_new(&is);

    gst_memory_resize(gst_buffer_peek_memory(buffer, 0), 0, 70 * 46 - 3);
    filter_start(&filter, "", "video/x-raw,format=NV12,width=70,height=46,framerate=30/1");
    fail_unless_equals_int(gst_harness_push(filter.harness, buffer), GST_FLOW_ERROR);
    message_expect(filter_message(&filter, GST_MESSAGE_ERROR), GST_MESSAGE_ERROR, words);
    filter_stop(&filter);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("cameras");
    TCase *tc = tcase_create("cameras");

    tcase_set_timeout(tc, 300);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, camera, 0, G_N_ELEMENTS(cameras));
    tcase_add_test(tc, unexplained);
    return s;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, suite(), "cameras");
}
