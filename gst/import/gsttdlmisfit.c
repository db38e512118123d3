/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlmisfit.h"

#include "caps/gsttdlgeometry.h"
#include "gsttdlimport.h"

/* Decoders pad to blocks, and say the padded size without a crop. px */
#define MAX_PADDING 128

/* RGBx is RGBA to who looks at the colours. */
static gboolean same_samples(const GstVideoFormatInfo *a, const GstVideoFormatInfo *b)
{
    guint components = MIN(a->n_components, 3);

    if (a == b)
        return TRUE;
    if (a->n_planes != b->n_planes || components != MIN(b->n_components, 3))
        return FALSE;
    for (guint c = 0; c < components; c++)
        if (a->plane[c] != b->plane[c] || a->poffset[c] != b->poffset[c] ||
            a->pixel_stride[c] != b->pixel_stride[c] || a->depth[c] != b->depth[c] ||
            a->w_sub[c] != b->w_sub[c] || a->h_sub[c] != b->h_sub[c])
            return FALSE;
    return GST_VIDEO_FORMAT_INFO_IS_YUV(a) == GST_VIDEO_FORMAT_INFO_IS_YUV(b);
}

static gboolean padded(guint of_meta, guint of_caps)
{
    return of_meta >= of_caps && of_meta - of_caps < MAX_PADDING;
}

/* The picture in the buffer, of which the caps' picture may be a part; FALSE: another
 * picture. */
static gboolean find_whole(const struct gst_tdl_video *video, GstBuffer *buffer,
                           struct gst_tdl_video *out_whole)
{
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    guint width = GST_VIDEO_INFO_WIDTH(&video->info), height = GST_VIDEO_INFO_HEIGHT(&video->info);
    struct gst_tdl_rect part;

    *out_whole = *video;
    /* For tilings and images the meta may say that it is none of its business. */
    if (!meta || video->modifier != GST_TDL_LINEAR || video->memory == GST_TDL_MEMORY_VULKAN)
        return TRUE;
    if (gst_tdl_caps_format(meta->format) != TDL_FORMAT_UNKNOWN &&
        !same_samples(gst_video_format_get_info(meta->format), video->info.finfo))
        return FALSE;
    return gst_tdl_video_is_part(video, buffer, out_whole, &part) ||
           (padded(meta->width, width) && padded(meta->height, height));
}

gboolean gst_tdl_misfit_meta_fits(const struct gst_tdl_video *video, GstBuffer *buffer)
{
    struct gst_tdl_video whole;

    return find_whole(video, buffer, &whole);
}

static gboolean fits(const struct gst_tdl_video *video, GstBuffer *buffer, GError **error)
{
    struct gst_tdl_video whole;
    const GstVideoMeta *meta;

    if (find_whole(video, buffer, &whole))
        return gst_tdl_import_fits(buffer, &whole, error);
    meta = gst_buffer_get_video_meta(buffer);
    g_set_error(
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "A frame of %ux%u px of %s came under caps of %dx%d px of %s. " GST_TDL_MISFIT_ADVICE,
        meta->width, meta->height, gst_video_format_to_string(meta->format),
        GST_VIDEO_INFO_WIDTH(&video->info), GST_VIDEO_INFO_HEIGHT(&video->info),
        GST_VIDEO_INFO_NAME(&video->info));
    return FALSE;
}

enum gst_tdl_misfit_verdict gst_tdl_misfits_judge(struct gst_tdl_misfits *misfits,
                                                  const struct gst_tdl_video *video,
                                                  GstBuffer *buffer, GError **error)
{
    GError *cause = NULL;

    if (fits(video, buffer, &cause)) {
        misfits->run = 0;
        misfits->fitted = TRUE;
        return GST_TDL_TAKE;
    }
    misfits->count++;
    misfits->run++;
    if (!misfits->fitted || misfits->run >= GST_TDL_MISFITS_MAX) {
        g_propagate_error(error, cause);
        if (misfits->fitted)
            g_prefix_error(error, "%u frames in a row are not what the caps say. ", misfits->run);
        return GST_TDL_REFUSE;
    }
    if (misfits->count == 1) {
        g_propagate_error(error, cause);
        g_prefix_error(error,
                       "A frame is dropped: something before tdlfilter switched sources, "
                       "and let it pass behind the other one's caps (input-selector does so now "
                       "and then; \"mismatched\" in \"stats\" counts such frames). ");
    } else {
        g_error_free(cause);
    }
    return GST_TDL_DROP;
}
