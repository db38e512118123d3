/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void frames_check(gboolean good, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    gchar *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_print("%s: %s\n", good ? "ok" : "FAILED", text);
    g_free(text);
    if (!good) { /* with no destructors, under the feet of running threads */
        fflush(NULL);
        _exit(1);
    }
}

void frames_tell(const GstCaps *caps)
{
    gchar *text = gst_caps_to_string(caps);

    g_print("%s\n", text);
    g_free(text);
}

gboolean frames_info(const GstCaps *caps, GstVideoInfo *out_info)
{
    GstVideoInfoDmaDrm drm;

    if (!gst_video_is_dma_drm_caps(caps))
        return gst_video_info_from_caps(out_info, caps);
    return gst_video_info_dma_drm_from_caps(&drm, caps) &&
           gst_video_info_dma_drm_to_video_info(&drm, out_info);
}

static gint first_component(const GstVideoInfo *info, guint plane)
{
    for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(info); i++)
        if (GST_VIDEO_INFO_COMP_PLANE(info, i) == (gint)plane)
            return (gint)i;
    return 0;
}

/* Of planes in memories of their own, of another size than the caps' picture, and without a
 * meta: where plane `p` begins, and its stride. */
static gboolean own_rows(GstBuffer *buffer, const GstVideoInfo *info, guint p, gsize *out_offset,
                         gint *out_stride)
{
    if (gst_buffer_get_video_meta(buffer) ||
        gst_buffer_n_memory(buffer) < GST_VIDEO_INFO_N_PLANES(info) ||
        gst_buffer_get_size(buffer) == GST_VIDEO_INFO_SIZE(info))
        return FALSE;
    *out_offset = 0;
    for (guint i = 0; i < p; i++)
        *out_offset += gst_buffer_peek_memory(buffer, i)->size;
    *out_stride = (gint)(gst_buffer_peek_memory(buffer, p)->size /
                         (gsize)GST_VIDEO_INFO_COMP_HEIGHT(info, first_component(info, p)));
    return TRUE;
}

/* Not gst_video_frame_map(): what that believes of DMA_DRM formats differs
 * between releases, and here GstVideoMeta's offsets and strides are tested. */
GstBuffer *frames_copy(GstBuffer *buffer, const GstVideoInfo *info)
{
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    GstBuffer *copy = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    /* Mapping several memories puts one of the CPU's in their place: not in the frame. */
    GstBuffer *view = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 0, -1);
    GstMapInfo from, to;

    if (!gst_buffer_map(view, &from, GST_MAP_READ) || !gst_buffer_map(copy, &to, GST_MAP_WRITE))
        frames_check(FALSE, "a frame cannot be mapped");
    memset(to.data, 0, to.size);
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        gint c = first_component(info, p);
        gsize offset = meta ? meta->offset[p] : GST_VIDEO_INFO_PLANE_OFFSET(info, p);
        gint stride = meta ? meta->stride[p] : GST_VIDEO_INFO_PLANE_STRIDE(info, p);
        own_rows(buffer, info, p, &offset, &stride);
        gsize row =
            (gsize)GST_VIDEO_INFO_COMP_WIDTH(info, c) * GST_VIDEO_INFO_COMP_PSTRIDE(info, c);

        for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(info, c); y++)
            memcpy(to.data + GST_VIDEO_INFO_PLANE_OFFSET(info, p) +
                       (gsize)y * GST_VIDEO_INFO_PLANE_STRIDE(info, p),
                   from.data + offset + (gsize)y * stride, row);
    }
    gst_buffer_unmap(copy, &to);
    gst_buffer_unmap(view, &from);
    gst_buffer_unref(view);
    gst_buffer_copy_into(copy, buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    return copy;
}

gint frames_stride(GstBuffer *buffer, const GstVideoInfo *info)
{
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

    return meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE(info, 0);
}

gboolean frames_are_dma_buf(GstBuffer *buffer)
{
    for (guint i = 0; i < gst_buffer_n_memory(buffer); i++)
        if (!gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, i)))
            return FALSE;
    return gst_buffer_n_memory(buffer) > 0;
}

/* Playing or not, an element that is more than READY holds its device. */
static GstElement *keep_device(void)
{
    gchar *line = g_strdup_printf("tdlfilter model=%s", getenv("TDL_TEST_MODEL"));
    GstElement *keeper = gst_object_ref_sink(harness_parse(line));

    if (gst_element_set_state(keeper, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
        frames_check(FALSE, "the device is kept");
    g_free(line);
    return keeper;
}

/* argv: "LOG ARGUMENT...", `count` of them. */
static int run_job(char *program, char **argv, int count, int told,
                   int (*one)(int argc, char **argv))
{
    int log = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    char **own = g_new0(char *, (gsize)count + 1);

    if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        frames_check(FALSE, "%s can be written", argv[0]);
    close(log);
    own[0] = program;
    memcpy(own + 1, argv + 1, ((gsize)count - 1) * sizeof(*own));
    int status = one(count, own);
    fflush(NULL);
    if (status == 0)
        dprintf(told, "done: %s\n", argv[0]);
    g_free(own);
    return status;
}

int frames_jobs(int argc, char **argv, int (*one)(int argc, char **argv))
{
    int status = 0, end;

    gst_init(&argc, &argv);
    if (argc < 3 || strcmp(argv[1], "--job") != 0) {
        status = one(argc, argv);
    } else {
        GstElement *keeper = keep_device();
        int told = dup(STDOUT_FILENO);

        for (int i = 2; status == 0 && i < argc; i = end + 1) {
            for (end = i; end < argc && strcmp(argv[end], "--job") != 0;)
                end++;
            status = run_job(argv[0], argv + i, end - i, told, one);
        }
        harness_stop(keeper);
    }
    gst_deinit();
    return status;
}
