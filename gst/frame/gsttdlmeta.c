/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlmeta.h"

#include "memory/gsttdlpool.h"

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

static void drop_pool(GstBufferPool **pool)
{
    if (*pool)
        gst_buffer_pool_set_active(*pool, FALSE);
    gst_clear_object(pool);
}

static void free_pool(gpointer pool)
{
    GstBufferPool *mine = pool;

    drop_pool(&mine);
}

static void drop_outputs(struct gst_tdl_meta *meta)
{
    g_clear_pointer(&meta->outputs, g_ptr_array_unref);
    g_clear_pointer(&meta->last_outputs, gst_buffer_list_unref);
}

void gst_tdl_meta_stop(struct gst_tdl_meta *meta)
{
    drop_pool(&meta->labels);
    drop_pool(&meta->tensors);
    drop_pool(&meta->classes);
    gst_clear_buffer(&meta->last);
    drop_outputs(meta);
}

void gst_tdl_meta_name(struct gst_tdl_meta *meta, const gchar *const *names)
{
    for (guint i = 0; i < GST_TDL_MAX_COLORS; i++) {
        g_autofree gchar *number = g_strdup_printf("%u", i);

        names = names && names[0] ? names : NULL;
        meta->names[i] = g_quark_from_string(names && **names ? *names : number);
        names = names ? names + 1 : NULL;
    }
}

/* A pool of our memory. `caps` may be NULL. */
static GstBufferPool *make_pool(struct gst_tdl_session *session, GstCaps *caps, gsize size)
{
    GstBufferPool *pool = caps ? gst_tdl_pool_new(session->readback, NULL) : gst_buffer_pool_new();
    GstStructure *config = gst_buffer_pool_get_config(pool);

    gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
    gst_buffer_pool_config_set_allocator(config, session->readback, NULL);
    if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
        gst_clear_object(&pool);
    return pool;
}

static GstBuffer *acquire(GstBufferPool *pool, guint width, guint height, GError **error)
{
    GstBuffer *buffer = NULL;

    if (!pool || gst_buffer_pool_acquire_buffer(pool, &buffer, NULL) != GST_FLOW_OK)
        gst_tdl_error_set(error, TDL_ERROR_OUT_OF_MEMORY, "Cannot allocate a mask of %ux%u px",
                          width, height);
    return buffer;
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

/* Labels of the frame's size. Rows have GStreamer's default strides, as some readers ignore
 * GstVideoMeta. */
static GstBuffer *begin_labels(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                               const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                               GError **error)
{
    GstVideoInfo *info = &meta->video.info;
    GstBuffer *mask;

    if (!meta->labels || info->width != in->info.width || info->height != in->info.height) {
        GstCaps *caps;

        drop_pool(&meta->labels);
        meta->video = (struct gst_tdl_video){ .memory = GST_TDL_MEMORY_SYSTEM };
        gst_video_info_set_format(info, GST_VIDEO_FORMAT_GRAY8, in->info.width, in->info.height);
        caps = gst_video_info_to_caps(info);
        meta->labels = make_pool(session, caps, info->size);
        gst_caps_unref(caps);
        if (!gst_tdl_session_prepare(session, live, in, &meta->video, error))
            return NULL;
    }
    mask = acquire(meta->labels, info->width, info->height, error);
    if (mask)
        describe(mask, info);
    return mask;
}

static GstBuffer *begin_tensor(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                               GError **error)
{
    const guint *shape = tdl_tensor_get_params(session->infer->mask)->shape;

    if (!meta->tensors || meta->size[0] != shape[2] || meta->size[1] != shape[1]) {
        drop_pool(&meta->tensors);
        gst_clear_buffer(&meta->last);
        meta->size[0] = shape[2];
        meta->size[1] = shape[1];
        meta->tensors = make_pool(session, NULL, sizeof(gfloat) * shape[1] * shape[2]);
    }
    return acquire(meta->tensors, meta->size[0], meta->size[1], error);
}

/* TRUE if the pools are of outputs of other sizes. */
static gboolean are_other_outputs(const struct gst_tdl_meta *meta,
                                  const struct gst_tdl_tensors *tensors)
{
    gboolean other = !meta->outputs || meta->outputs->len != tensors->count;

    for (guint i = 0; i < tensors->count && !other; i++) {
        GstStructure *config = gst_buffer_pool_get_config(g_ptr_array_index(meta->outputs, i));
        guint size = 0;

        gst_buffer_pool_config_get_params(config, NULL, &size, NULL, NULL);
        other = size != tdl_tensor_params_size(tensors->list[i].params);
        gst_structure_free(config);
    }
    return other;
}

static GstBufferList *begin_outputs(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                                    GError **error)
{
    const struct gst_tdl_tensors *tensors = &session->infer->model->tensors;
    GstBufferList *list = NULL;

    if (are_other_outputs(meta, tensors)) {
        drop_outputs(meta);
        meta->outputs = g_ptr_array_new_with_free_func(free_pool);
        for (guint i = 0; i < tensors->count; i++)
            g_ptr_array_add(
                meta->outputs,
                make_pool(session, NULL, tdl_tensor_params_size(tensors->list[i].params)));
    }
    if (tensors->count)
        list = gst_buffer_list_new_sized(tensors->count);
    for (guint i = 0; i < tensors->count && !*error; i++) {
        GstBuffer *buffer = acquire(g_ptr_array_index(meta->outputs, i), 0, 0, error);

        if (buffer)
            gst_buffer_list_add(list, buffer);
    }
    if (*error)
        g_clear_pointer(&list, gst_buffer_list_unref);
    return list;
}

/* Room for all of the network's picture, of which a frame covers a part. */
static GstBuffer *begin_classes(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                                GError **error)
{
    const guint *shape = session->infer->model->indices->shape;

    if (!meta->classes || meta->classes_size[0] != shape[2] || meta->classes_size[1] != shape[1]) {
        drop_pool(&meta->classes);
        meta->classes_size[0] = shape[2];
        meta->classes_size[1] = shape[1];
        meta->classes = make_pool(session, NULL, (gsize)shape[1] * shape[2]);
    }
    return acquire(meta->classes, shape[2], shape[1], error);
}

/* Attaches the output of a network that is itself shown, such as depth or classes. */
static void begin_shown(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                        const struct gst_tdl_live *live, struct gst_tdl_masks *masks,
                        GError **error)
{
    const enum gst_tdl_output wanted = gst_tdl_settings_output_of(live->mode);

    if (wanted == GST_TDL_OUTPUT_PICTURE)
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "There is no mask for \"meta\" in this mode, which shows the model's "
                    "output itself. Choose another mode, or set meta=none.");
    else if (wanted == GST_TDL_OUTPUT_CLASSES && live->meta & GST_TDL_META_TENSOR)
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "There is no tensor for \"meta\" in mode=classes, which has the class of each "
                    "pixel instead. Set meta=segmentation.");
    else if (wanted == session->infer->model->kind) /* or else another one is on its way */
        masks->classes.buffer = begin_classes(meta, session, error);
}

/* With `invert` it is everybody else. */
static const gchar *foreground(const struct gst_tdl_session *session,
                               const struct gst_tdl_live *live)
{
    const gchar *finds = session->infer->model->finds;

    return finds && !live->invert ? finds : "foreground";
}

GstBuffer *gst_tdl_meta_copy(GstBuffer *input)
{
    GstBuffer *passed = gst_buffer_copy(input);

    gst_tdl_analytics_keep_tensors(input, passed);
    gst_buffer_add_parent_buffer_meta(passed, input);
    return passed;
}

void gst_tdl_meta_begin(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                        const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                        struct gst_tdl_masks *masks, GError **error)
{
    if (!(live->meta & GST_TDL_META_TENSOR))
        gst_clear_buffer(&meta->last);
    if (!(live->meta & GST_TDL_META_TENSORS))
        g_clear_pointer(&meta->last_outputs, gst_buffer_list_unref);
    if (!gst_tdl_meta_wanted(live))
        return;
    if (live->meta & GST_TDL_META_TENSORS)
        masks->outputs = begin_outputs(meta, session, error);
    masks->tensor_due = masks->outputs && !meta->last_outputs;
    if (*error || !(live->meta & GST_TDL_META_BOTH))
        return;
    if (session->infer->model->kind != GST_TDL_OUTPUT_MASK) {
        begin_shown(meta, session, live, masks, error);
        return;
    }
    if (live->meta & GST_TDL_META_SEGMENTATION)
        masks->labels.buffer = begin_labels(meta, session, live, in, error);
    if (!*error && live->meta & GST_TDL_META_TENSOR)
        masks->tensor = begin_tensor(meta, session, error);
    masks->tensor_due |= masks->tensor && !meta->last;
}

/* One region for each class that a pixel may have. Takes the buffer out. */
static void attach_classes(struct gst_tdl_meta *meta, const struct gst_tdl_session *session,
                           struct gst_tdl_classes *classes, GstBuffer *frame,
                           const struct gst_tdl_rect *place)
{
    const guint known = session->infer->model->classes, *size = classes->size;
    gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
    gint stride[GST_VIDEO_MAX_PLANES] = { (gint)size[0] };
    GstBuffer *mask = g_steal_pointer(&classes->buffer);
    struct gst_tdl_rect where = classes->part;

    if (!where.width)
        where = (struct gst_tdl_rect){ 0, 0, place->width, place->height };
    where.x += place->x;
    where.y += place->y;
    gst_buffer_set_size(mask, (gssize)size[0] * size[1]);
    gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, size[0],
                                   size[1], 1, offset, stride);
    gst_tdl_analytics_attach(frame, mask, &where, meta->names,
                             known ? MIN(known, GST_TDL_MAX_COLORS) : GST_TDL_MAX_COLORS);
}

/* Those of this frame's run, or else of the last one. Takes the buffers out. */
static void attach_tensors(struct gst_tdl_meta *meta, const struct gst_tdl_session *session,
                           struct gst_tdl_masks *masks, GstBuffer *frame)
{
    g_autoptr(GstBufferList) outputs = g_steal_pointer(&masks->outputs);
    g_autoptr(GstBuffer) tensor = g_steal_pointer(&masks->tensor);
    GstBufferList *list;
    GstBuffer *mask;

    if (masks->tensor_made && tensor)
        gst_buffer_replace(&meta->last, tensor);
    if (masks->tensor_made && outputs)
        gst_buffer_list_replace(&meta->last_outputs, outputs);
    list = outputs ? meta->last_outputs : NULL;
    mask = tensor ? meta->last : NULL;
    if (list || mask)
        gst_tdl_analytics_attach_tensors(frame, &session->infer->model->tensors, list, mask,
                                         meta->size);
}

void gst_tdl_meta_end(struct gst_tdl_meta *meta, const struct gst_tdl_session *session,
                      const struct gst_tdl_live *live, struct gst_tdl_masks *masks,
                      GstBuffer *frame, const struct gst_tdl_rect *place)
{
    if (masks->labels.buffer) {
        const GQuark names[] = { g_quark_from_static_string("background"),
                                 g_quark_from_string(foreground(session, live)) };

        gst_tdl_analytics_attach(frame, g_steal_pointer(&masks->labels.buffer), place, names,
                                 G_N_ELEMENTS(names));
    }
    if (masks->classes.size[0])
        attach_classes(meta, session, &masks->classes, frame, place);
    gst_clear_buffer(&masks->classes.buffer);
    attach_tensors(meta, session, masks, frame);
}
