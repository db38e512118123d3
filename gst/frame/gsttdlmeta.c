/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlmeta.h"

#include "gsttdlpool.h"

#include <string.h>

gboolean gst_tdl_meta_wanted(const struct gst_tdl_live *live)
{
    return gst_tdl_analytics_built && live->meta != GST_TDL_META_NONE;
}

gboolean gst_tdl_meta_check(const struct gst_tdl_live *live, GError **error)
{
    if (gst_tdl_analytics_built || live->meta == GST_TDL_META_NONE)
        return TRUE;
    g_set_error(error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                "This tdlfilter was built without GStreamer's analytics library, and attaches no "
                "metadata. Set meta=none, and take masks from the pad mask_src; or build with "
                "GStreamer 1.26 or later and its gstreamer-analytics-1.0 (Debian 13: "
                "libgstreamer-plugins-bad1.0-dev).");
    return FALSE;
}

void gst_tdl_meta_stop(struct gst_tdl_meta *meta)
{
    if (meta->pool)
        gst_buffer_pool_set_active(meta->pool, FALSE);
    gst_clear_object(&meta->pool);
}

/* Masks of the frame's size, in rows as GStreamer has them without a GstVideoMeta: some
 * readers look at none. */
static gboolean make_pool(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                          const struct gst_tdl_video *in)
{
    GstStructure *config;
    GstCaps *caps;

    gst_tdl_meta_stop(meta);
    meta->video = (struct gst_tdl_video){ .memory = GST_TDL_MEMORY_SYSTEM };
    gst_video_info_set_format(&meta->video.info, GST_VIDEO_FORMAT_GRAY8, in->info.width,
                              in->info.height);
    caps = gst_video_info_to_caps(&meta->video.info);
    meta->pool = gst_tdl_pool_new(session->readback, NULL);
    config = gst_buffer_pool_get_config(meta->pool);
    gst_buffer_pool_config_set_params(config, caps, meta->video.info.size, 0, 0);
    gst_caps_unref(caps);
    return gst_buffer_pool_set_config(meta->pool, config) &&
           gst_buffer_pool_set_active(meta->pool, TRUE);
}

/* The rows are said in any case, and for as long as the buffer is the pool's. */
static void describe(GstBuffer *mask, GstVideoInfo *info)
{
    GstVideoMeta *meta;

    if (gst_buffer_get_video_meta(mask))
        return;
    meta = gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                          info->width, info->height, 1, info->offset, info->stride);
    GST_META_FLAG_SET(meta, GST_META_FLAG_POOLED);
}

static GstBuffer *acquire(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                          const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                          GError **error)
{
    GstVideoInfo *info = &meta->video.info;
    const gboolean fits =
        meta->pool && info->width == in->info.width && info->height == in->info.height;
    GstBuffer *mask = NULL;

    if (!fits && make_pool(meta, session, in) &&
        !gst_tdl_session_prepare(session, live, in, &meta->video, error))
        return NULL;
    if (gst_buffer_pool_acquire_buffer(meta->pool, &mask, NULL) == GST_FLOW_OK)
        describe(mask, info);
    else
        gst_tdl_error_set(error, TDL_ERROR_OUT_OF_MEMORY, "Cannot allocate a mask of %dx%d px",
                          in->info.width, in->info.height);
    return mask;
}

/* With `invert` it is everybody else. */
static const gchar *foreground(const struct gst_tdl_session *session,
                               const struct gst_tdl_live *live)
{
    const gchar *name = session->infer->model->name;

    const gboolean person = !strcmp(name, "person") || !strcmp(name, "person-landscape");

    return person && !live->invert ? "person" : "foreground";
}

GstBuffer *gst_tdl_meta_begin(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                              const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                              GstBuffer *frame, const struct gst_tdl_rect *place, GError **error)
{
    GQuark names[2];
    GstBuffer *mask;

    if (!gst_tdl_meta_wanted(live))
        return NULL;
    if (session->infer->model->kind != GST_TDL_OUTPUT_MASK) {
        if (gst_tdl_output_of(live->mode) != GST_TDL_OUTPUT_MASK)
            g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                        "There is no mask for \"meta\" in this mode, which shows the model's "
                        "output itself. Choose another mode, or set meta=none.");
        return NULL; /* or else the network for masks is on its way */
    }
    mask = acquire(meta, session, live, in, error);
    if (!mask)
        return NULL;
    names[0] = g_quark_from_static_string("background");
    names[1] = g_quark_from_string(foreground(session, live));
    gst_tdl_analytics_attach(frame, gst_buffer_ref(mask), place, names, G_N_ELEMENTS(names));
    return mask;
}
