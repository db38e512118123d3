/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tiled dma-bufs, in and out. What the element decides is looked at with a
 * device of fakes; what becomes of pixels with a real one, where there is one
 * that makes images with modifiers: a modifier of ours stands for the linear
 * one there, so that software devices, which have no other, go the tiled way.
 */
#include "fakes.h"
#include "export/gsttdlexportdmabufpool.h"
#include "memory/gsttdlpool.h"

#include <gst/allocators/gstdmabuf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TILED G_GUINT64_CONSTANT(0x7f00000000000001)

/* As caps of DMA_DRM have it; older GStreamers cannot say that. */
static struct gst_tdl_video tiled_video(GstVideoFormat format, guint width, guint height)
{
    struct gst_tdl_video video = { .memory = GST_TDL_MEMORY_DMA_BUF, .modifier = TILED };

    gst_video_info_set_format(&video.info, format, width, height);
    return video;
}

static GstCaps *tiled_caps(GstVideoFormat format, guint width, guint height)
{
    guint32 fourcc = gst_tdl_caps_drm_fourcc(format);
    g_autofree gchar *text = g_strdup_printf(
        "video/"
        "x-raw(memory:DMABuf),format=DMA_DRM,drm-format=(string)\"%.4s:0x%016" G_GINT64_MODIFIER
        "x\",width=%u,height=%u,framerate=30/1",
        (const gchar *)&fourcc, TILED, width, height);

    return gst_caps_from_string(text);
}

/* -------------------------------------------------------------- fake engine */

static enum tdl_result import_result;
static struct tdl_image_import_params imported[8];
static guint n_imported, live_images;
static struct tdl_frame copied;

static struct tdl_image *image_new(void)
{
    live_images++;
    return (struct tdl_image *)g_new0(guint8, 1);
}

static enum tdl_result fake_import_image(struct tdl_context *ctx,
                                         const struct tdl_image_import_params *params,
                                         struct tdl_image **out)
{
    fail_unless(ctx == fake.context);
    g_string_append(fake.calls, "import ");
    if (import_result != TDL_OK)
        return import_result;
    fail_unless(n_imported < G_N_ELEMENTS(imported));
    imported[n_imported++] = *params;
    *out = image_new();
    return TDL_OK;
}

static enum tdl_result fake_create_image(struct tdl_context *ctx, enum tdl_handle_type type,
                                         const struct tdl_image_create_params *params,
                                         struct tdl_image **out)
{
    fail_unless(ctx == fake.context);
    fail_unless_equals_int(type, TDL_HANDLE_DMA_BUF);
    fail_unless_equals_uint64(params->modifier, TILED);
    g_string_append_printf(fake.calls, "create-%u-%ux%u ", params->plane, params->width,
                           params->height);
    if (import_result != TDL_OK)
        return import_result;
    *out = image_new();
    return TDL_OK;
}

/* The driver's own idea of where pixels lie. */
static enum tdl_result fake_export_image(struct tdl_image *image, struct tdl_image_place *out)
{
    fail_unless(image != NULL);
    *out = (struct tdl_image_place){ .fd = memfd_create("tiled", MFD_CLOEXEC),
                                     .offset = 512,
                                     .stride = 384 };
    fail_unless(ftruncate(out->fd, 20000) == 0);
    return TDL_OK;
}

static void fake_destroy_image(struct tdl_image **image)
{
    live_images -= *image != NULL;
    g_clear_pointer(image, g_free);
}

static enum tdl_result fake_images_to_frame(struct tdl_batch *batch,
                                            struct tdl_image *const images[],
                                            struct tdl_image_state *const states[],
                                            const struct tdl_frame *target)
{
    (void)batch;
    (void)states;
    fail_unless(images[0] != NULL);
    g_string_append(fake.calls, "read ");
    copied = *target;
    return TDL_OK;
}

static enum tdl_result fake_frame_to_images(struct tdl_batch *batch,
                                            const struct tdl_frame *source,
                                            struct tdl_image *const images[],
                                            struct tdl_image_state *const states[])
{
    (void)batch;
    (void)states;
    fail_unless(images[0] != NULL);
    g_string_append(fake.calls, "write ");
    copied = *source;
    return TDL_OK;
}

static const struct gst_tdl_device_ops image_fakes = {
    .destroy_buffer = tdl_buffer_destroy,
    .import_image = fake_import_image,
    .create_image = fake_create_image,
    .export_image = fake_export_image,
    .destroy_image = fake_destroy_image,
    .images_to_frame = fake_images_to_frame,
    .frame_to_images = fake_frame_to_images,
};

static void image_importer(struct gst_tdl_importer *importer)
{
    fake.device->ops = &image_fakes;
    fake.device->able.dma_buf_in = fake.device->able.modifiers = TRUE;
    gst_tdl_importer_init(importer, fake.device);
}

static void setup_images(void)
{
    setup();
    n_imported = live_images = 0;
    import_result = TDL_OK;
}

static gboolean import(struct gst_tdl_importer *importer, GstBuffer *buffer, gboolean may_copy,
                       struct gst_tdl_import *out, gchar **out_error)
{
    const struct gst_tdl_video video = tiled_video(GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
    struct gst_tdl_staging staging = { NULL };
    GError *error = NULL;
    gboolean ok = gst_tdl_import(importer, buffer, &video, may_copy, NULL, &staging, out, &error);

    fail_unless_equals_int(ok, error == NULL);
    if (out_error)
        *out_error = error ? g_strdup(error->message) : NULL;
    g_clear_error(&error);
    gst_tdl_staging_clear(&staging);
    return ok;
}

/* ---------------------------------------------------------------- decisions */

/* Planes of a dma-buf become images, once for all frames; offsets and strides
 * are the driver's words and need not be those of rows. */
GST_START_TEST(taken_in)
{
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, 8192 };
    const gint strides[GST_VIDEO_MAX_PLANES] = { 16, 16 }; /* shorter than a linear row */
    GstBuffer *buffer = buffer_with(memory_new(16384, 0), NULL, offsets, strides);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;

    image_importer(&importer);
    for (guint i = 0; i < 3; i++)
        fail_unless(import(&importer, buffer, FALSE, &out, NULL));
    fail_unless_equals_string(importer.path, "dma-buf-image");
    expect_calls("import import read read read ");
    for (guint p = 0; p < 2; p++) {
        fail_unless_equals_int(imported[p].plane, p);
        fail_unless_equals_uint64(imported[p].modifier, TILED);
        fail_unless_equals_uint64(imported[p].offset, offsets[p]);
        fail_unless_equals_int(imported[p].stride, strides[p]);
        fail_unless_equals_int(imported[p].width, WIDTH);
        fail_unless_equals_int(imported[p].height, HEIGHT);
        fail_unless_equals_int(imported[p].format, TDL_FORMAT_NV12);
        fail_unless(!imported[p].for_write);
    }
    fail_unless_equals_int(out.n_images, 2);
    fail_unless_equals_int(out.n_fds, 1);
    fail_unless(copied.planes[0].buffer && copied.planes[0].buffer == out.frame.planes[0].buffer);
    fail_unless_equals_int(copied.planes[0].stride, 256);
    fail_unless_equals_uint64(importer.stats.cpu_mapped_bytes, 0);
    fail_unless_equals_uint64(importer.stats.cpu_copied_bytes, 0);
    gst_buffer_unref(buffer);
    fail_unless_equals_int(live_images, 0); /* gone with the memory */
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

/* A dma-buf a plane; offsets count through the memories. */
GST_START_TEST(two_fds)
{
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { 512, 8192 + 1024 };
    const gint strides[GST_VIDEO_MAX_PLANES] = { 128, 128 };
    GstBuffer *buffer = buffer_with(memory_new(8192, 0), memory_new(8192, 0), offsets, strides);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;

    image_importer(&importer);
    fail_unless(import(&importer, buffer, FALSE, &out, NULL));
    fail_unless_equals_int(out.n_fds, 2);
    fail_unless_equals_uint64(imported[0].offset, 512);
    fail_unless_equals_uint64(imported[1].offset, 1024);
    fail_unless(imported[0].fd != imported[1].fd);
    gst_buffer_unref(buffer);
    fail_unless_equals_int(live_images, 0);
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

/* Nobody else reads a tiling: without images there is an error, also where
 * copies are allowed. */
enum trouble { NO_MODIFIERS, REFUSED, NOT_DMA_BUF, NO_PLANE };
static const struct {
    enum trouble trouble;
    const char *reason, *calls; /* reason, and calls, for two frames */
} declines[] = {
    { NO_MODIFIERS,
      "dma-buf-image: the device knows no tilings (VK_EXT_image_drm_format_modifier)", "" },
    { REFUSED, "dma-buf-image: ", "import " }, /* and not asked again */
    { NOT_DMA_BUF, "dma-buf-image: the memory is not a dma-buf", "" },
    { NO_PLANE, "dma-buf-image: the buffer lacks a plane", "import " }, /* the first plane */
};

GST_START_TEST(declined)
{
    const enum trouble trouble = declines[__i__].trouble;
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, trouble == NO_PLANE ? 20000 : 8192 };
    const gint strides[GST_VIDEO_MAX_PLANES] = { 128, 128 };
    GstMemory *memory = trouble == NOT_DMA_BUF ? gst_allocator_alloc(NULL, 16384, NULL)
                                               : memory_new(16384, 0);
    GstBuffer *buffer = buffer_with(memory, NULL, offsets, strides);
    struct gst_tdl_importer importer;
    struct gst_tdl_import out;

    image_importer(&importer);
    importer.device->able.modifiers = trouble != NO_MODIFIERS;
    import_result = trouble == REFUSED ? TDL_ERROR_UNSUPPORTED : TDL_OK;
    for (guint i = 0; i < 2; i++) {
        g_autofree gchar *error = NULL;

        fail_if(import(&importer, buffer, TRUE, &out, &error));
        fail_unless(strstr(error, declines[__i__].reason) &&
                        strstr(error, "copy: the CPU cannot read this tiling"), "%s", error);
    }
    expect_calls(declines[__i__].calls);
    fail_unless_equals_uint64(importer.stats.cpu_mapped_bytes, 0);
    gst_buffer_unref(buffer);
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

static GstBufferPool *pool_new(const struct gst_tdl_device_ops *ops, GstVideoFormat format,
                               guint width, guint height)
{
    GstBufferPool *pool = gst_tdl_export_dma_buf_pool_new(fake.device, NULL);
    GstCaps *caps = tiled_caps(format, width, height);
    GstStructure *config = gst_buffer_pool_get_config(pool);

    fake.device->ops = ops;
    gst_buffer_pool_config_set_params(config, caps, 1, 0, 0);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
        gst_clear_object(&pool);
    gst_caps_unref(caps);
    return pool;
}

/* The pool's buffers: a dma-buf a plane, known to our device as what they are,
 * used again and again. */
GST_START_TEST(given_out)
{
    const struct gst_tdl_video video = tiled_video(GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
    GstBufferPool *pool = pool_new(&image_fakes, GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
    struct gst_tdl_staging staging = { NULL };
    struct gst_tdl_importer importer;
    struct gst_tdl_import target;
    GError *error = NULL;

    fail_unless(pool != NULL);
    expect_calls("create-0-64x48 create-1-64x48 "); /* to learn their size */
    fail_unless_equals_int(live_images, 0);
    image_importer(&importer);
    for (guint i = 0; i < 3; i++) {
        GstBuffer *buffer;
        GstVideoMeta *meta;

        fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), GST_FLOW_OK);
        fail_unless_equals_int(gst_buffer_n_memory(buffer), 2);
        meta = gst_buffer_get_video_meta(buffer);
        fail_unless_equals_uint64(meta->offset[0], 512);
        fail_unless_equals_uint64(meta->offset[1], 20000 + 512);
        fail_unless_equals_int(meta->stride[1], 384);
        fail_unless(gst_tdl_import_target(&importer, buffer, &video, &staging, &target, &error),
                    "%s", error ? error->message : "");
        fail_unless_equals_int(target.n_images, 2);
        fail_unless_equals_int(target.n_fds, 2);
        fail_unless_equals_int(gst_tdl_import_images_write(&importer, &target, NULL), TDL_OK);
        fail_unless(copied.planes[0].buffer == staging.target);
        expect_calls(i ? "write " : "create-0-64x48 create-1-64x48 write ");
        gst_buffer_unref(buffer);
    }
    fail_unless_equals_uint64(importer.stats.imports, 0);
    fail_unless_equals_int(live_images, 2);
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
    fail_unless_equals_int(live_images, 0);
    gst_tdl_staging_clear(&staging);
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

/* Downstream's own: taken for writing. */
GST_START_TEST(written_downstream)
{
    const struct gst_tdl_video video = tiled_video(GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
    const gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, 8192 };
    const gint strides[GST_VIDEO_MAX_PLANES] = { 128, 128 };
    GstBuffer *buffer = buffer_with(memory_new(16384, 0), NULL, offsets, strides);
    struct gst_tdl_staging staging = { NULL };
    struct gst_tdl_importer importer;
    struct gst_tdl_import target;
    GError *error = NULL;

    image_importer(&importer);
    fail_unless(gst_tdl_import_target(&importer, buffer, &video, &staging, &target, &error));
    expect_calls("import import ");
    fail_unless(imported[0].for_write && imported[1].for_write);
    gst_buffer_unref(buffer);
    gst_tdl_staging_clear(&staging);
    gst_tdl_importer_forget(&importer);
}
GST_END_TEST;

GST_START_TEST(not_made)
{
    import_result = TDL_ERROR_UNSUPPORTED;
    fail_unless(pool_new(&image_fakes, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT) == NULL);
    expect_calls("create-0-64x48 ");
    fail_unless_equals_int(live_images, 0);
}
GST_END_TEST;

/* ------------------------------------------------------------- a real device */

#define LARGE_WIDTH 320
#define LARGE_HEIGHT 180

static enum tdl_result real_import(struct tdl_context *ctx,
                                   const struct tdl_image_import_params *params,
                                   struct tdl_image **out)
{
    struct tdl_image_import_params linear = *params;

    fail_unless_equals_uint64(params->modifier, TILED);
    linear.modifier = 0;
    return tdl_image_import_dma_buf(ctx, &linear, out);
}

static enum tdl_result real_create(struct tdl_context *ctx, enum tdl_handle_type type,
                                   const struct tdl_image_create_params *params,
                                   struct tdl_image **out)
{
    struct tdl_image_create_params linear = *params;

    fail_unless_equals_uint64(params->modifier, TILED);
    linear.modifier = 0;
    return tdl_image_create_exportable(ctx, type, &linear, out);
}

static struct gst_tdl_device_ops real; /* the engine's, but for the modifier */

static void run_frame(struct gst_tdl_session *session, GstBuffer *input,
                      const struct gst_tdl_video *in, GstBuffer *output,
                      const struct gst_tdl_video *out)
{
    /* No network is surer than a threshold of 1: all is painted. */
    const struct gst_tdl_live live = { .mode = GST_TDL_MODE_OVERLAY, .threshold = 1, .invert = TRUE,
                                       .opacity = 0.6f, .overlay_color = 0xff00ff00,
                                       .interval = 1,
                                       .require_zero_copy = in->modifier == TILED };
    GError *error = NULL;

    fail_unless(gst_tdl_session_prepare(session, &live, in, out, &error));
    fail_unless(gst_tdl_session_frame(session, &live, &(struct gst_tdl_target){ input, in },
                                      &(struct gst_tdl_target){ output, out }, NULL, &error), "%s",
                error ? error->message : "");
    gst_tdl_session_drain(session);
}

/* Into dma-bufs, whose rows lie as their meta says. */
static void fill(GstBuffer *buffer, GstBuffer *picture, const GstVideoInfo *info)
{
    GstVideoFrame from, to;

    fail_unless(gst_video_frame_map(&from, info, picture, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&to, info, buffer, GST_MAP_WRITE));
    fail_unless(gst_video_frame_copy(&to, &from));
    gst_video_frame_unmap(&from);
    gst_video_frame_unmap(&to);
}

static GstBuffer *acquire(GstBufferPool *pool)
{
    GstBuffer *buffer = NULL;

    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), GST_FLOW_OK);
    return buffer;
}

/* Wraps the same dma-bufs in new memories, as another process would. */
static GstBuffer *in_other_memories(GstBuffer *buffer)
{
    GstBuffer *theirs = gst_buffer_new();
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    GstAllocator *allocator = gst_dmabuf_allocator_new();

    for (guint m = 0; m < gst_buffer_n_memory(buffer); m++) {
        GstMemory *memory = gst_buffer_peek_memory(buffer, m);

        gst_buffer_append_memory(
            theirs, gst_dmabuf_allocator_alloc(allocator, dup(gst_dmabuf_memory_get_fd(memory)),
                                               memory->size));
    }
    gst_object_unref(allocator);
    gst_buffer_add_video_meta_full(theirs, 0, meta->format, meta->width, meta->height,
                                   meta->n_planes, meta->offset, meta->stride);
    return theirs;
}

static const GstVideoFormat real_formats[] = { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_BGRx };

/* Are there images with modifiers, and can they be handed out? Asked by the test
 * itself: software devices do not outlive a fork. */
static gboolean device_makes_them(void)
{
    struct tdl_image_create_params params = { .format = TDL_FORMAT_NV12,
                                              .width = 64,
                                              .height = 64 };
    struct tdl_image *image = NULL;
    gboolean makes =
        tdl_image_create_exportable(fake.context, TDL_HANDLE_DMA_BUF, &params, &image) == TDL_OK;

    if (!makes)
        g_print("not run: pixels of tiled dma-bufs: %s\n", tdl_last_error());
    tdl_image_destroy(&image);
    return makes;
}

/* From tiled dma-bufs of others into tiled ones of ours: the same picture as
 * from plain memory into plain memory, frame after frame. */
GST_START_TEST(pixels)
{
    const GstVideoFormat format = real_formats[__i__];
    const struct gst_tdl_video tiled = tiled_video(format, LARGE_WIDTH, LARGE_HEIGHT);
    struct gst_tdl_video plain = { .info = tiled.info };
    struct gst_tdl_session *session;
    GstBufferPool *inputs, *outputs;

    if (!device_makes_them())
        return;
    session = session_new();
    tdl_context_destroy(&fake.context);
    fake.context = tdl_context_ref(session->device->context);
    gst_tdl_device_unref(fake.device); /* the pools' has other functions than the session's */
    fake.device = gst_tdl_device_new(tdl_context_ref(fake.context), NULL);
    inputs = pool_new(&real, format, LARGE_WIDTH, LARGE_HEIGHT);
    outputs = pool_new(&real, format, LARGE_WIDTH, LARGE_HEIGHT);
    fail_unless(inputs && outputs);
    for (guint i = 0; i < 3; i++) {
        GstBuffer *picture = picture_new(&plain.info, 20 * i), *theirs;
        GstBuffer *input = acquire(inputs), *output = acquire(outputs);
        GstBuffer *expected = gst_buffer_new();

        gst_buffer_append_memory(expected, gst_allocator_alloc(session->readback, plain.info.size,
                                                               NULL));
        session->device->ops = &gst_tdl_device_engine;
        gst_tdl_session_reset(session);
        run_frame(session, picture, &plain, expected, &plain);

        fill(input, picture, &plain.info);
        theirs = in_other_memories(input);
        session->device->ops = &real;
        gst_tdl_session_reset(session);
        run_frame(session, theirs, &tiled, output, &tiled);
        fail_unless_equals_string(session->importer.path, "dma-buf-image");
        picture_compare(output, expected, &plain.info, 0, "tiled against plain");
        fail_unless(picture_difference(output, picture, &plain.info, (gchar[64]){ 0 }) > 20,
                    "nothing was painted");
        gst_buffer_unref(picture);
        gst_buffer_unref(theirs);
        gst_buffer_unref(input);
        gst_buffer_unref(output);
        gst_buffer_unref(expected);
    }
    gst_buffer_pool_set_active(inputs, FALSE);
    gst_buffer_pool_set_active(outputs, FALSE);
    gst_object_unref(inputs);
    gst_object_unref(outputs);
    gst_tdl_session_free(session);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("tiled");
    TCase *tc = tcase_create("tiled");

    real = gst_tdl_device_engine;
    real.import_image = real_import;
    real.create_image = real_create;
    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(tc, setup_images, teardown);
    tcase_set_timeout(tc, 600); /* one loads a model */
    tcase_add_test(tc, taken_in);
    tcase_add_test(tc, two_fds);
    tcase_add_loop_test(tc, declined, 0, G_N_ELEMENTS(declines));
    tcase_add_test(tc, given_out);
    tcase_add_test(tc, written_downstream);
    tcase_add_test(tc, not_made);
    tcase_add_loop_test(tc, pixels, 0, G_N_ELEMENTS(real_formats));
    return s;
}

int main(int argc, char **argv)
{
    return util_main(argc, argv, suite(), "tiled");
}
