/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of gsttdlmeta.h that need GStreamer's analytics library. */
#include "gsttdlmeta.h"
#include "gsttdlregion.h"

#include <gst/analytics/analytics.h>

const gboolean gst_tdl_analytics_built = TRUE;

#define TENSOR_ID "tdl-mask"
#define GROUP_ID "tdl-tensors" /* of models whose group nobody has named */
#define UNKNOWN -1.0f          /* a confidence, as the library has it for classes of pixels */

void gst_tdl_analytics_attach(GstBuffer *frame, GstBuffer *mask, const struct gst_tdl_rect *place,
                              const GQuark *names, guint count)
{
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(frame);
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsClsMtd classes;
    gfloat confidences[GST_TDL_MAX_COLORS];
    GQuark quarks[GST_TDL_MAX_COLORS];
    guint ids[GST_TDL_MAX_COLORS];

    for (guint i = 0; i < count; i++) {
        ids[i] = i;
        confidences[i] = UNKNOWN;
        quarks[i] = names[i];
    }
    gst_analytics_relation_meta_add_segmentation_mtd(
        relations, mask, GST_SEGMENTATION_TYPE_SEMANTIC, count, ids, (gint)place->x, (gint)place->y,
        place->width, place->height, &segmentation);
    gst_analytics_relation_meta_add_cls_mtd(relations, count, confidences, quarks, &classes);
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_N_TO_N,
                                             segmentation.id, classes.id);
}

static GstTensor *new_mask(GstBuffer *data, const guint size[2])
{
    gsize dims[] = { 1, size[1], size[0], 1 };

    return gst_tensor_new_simple(g_quark_from_static_string(TENSOR_ID),
                                 GST_TENSOR_DATA_TYPE_FLOAT32, gst_buffer_ref(data),
                                 GST_TENSOR_DIM_ORDER_ROW_MAJOR, G_N_ELEMENTS(dims), dims);
}

static const GstTensorDataType types[] = {
    [TDL_FLOAT32] = GST_TENSOR_DATA_TYPE_FLOAT32, [TDL_FLOAT16] = GST_TENSOR_DATA_TYPE_FLOAT16,
    [TDL_INT64] = GST_TENSOR_DATA_TYPE_INT64,     [TDL_UINT64] = GST_TENSOR_DATA_TYPE_UINT64,
    [TDL_INT32] = GST_TENSOR_DATA_TYPE_INT32,     [TDL_UINT32] = GST_TENSOR_DATA_TYPE_UINT32,
    [TDL_INT8] = GST_TENSOR_DATA_TYPE_INT8,       [TDL_UINT8] = GST_TENSOR_DATA_TYPE_UINT8,
};

static GstTensor *new_tensor(const struct gst_tdl_tensor *tensor, GstBuffer *data)
{
    gsize dims[TDL_MAX_RANK];

    for (guint i = 0; i < tensor->rank; i++)
        dims[i] = tensor->shape[i];
    return gst_tensor_new_simple(tensor->id, types[tensor->params->dtype], gst_buffer_ref(data),
                                 tensor->col_major ? GST_TENSOR_DIM_ORDER_COL_MAJOR
                                                   : GST_TENSOR_DIM_ORDER_ROW_MAJOR,
                                 tensor->rank, dims);
}

void gst_tdl_analytics_attach_tensors(GstBuffer *frame, const struct gst_tdl_tensors *model,
                                      GstBufferList *data, GstBuffer *mask, const guint size[2])
{
    const guint count = data ? gst_buffer_list_length(data) : 0;
    /* Before GStreamer 1.28 a buffer has one such metadata, which may be of an element upstream. */
    GstTensorMeta *meta = gst_buffer_add_tensor_meta(frame);
    const gsize had = meta->num_tensors;
    GstTensor **tensors = g_new(GstTensor *, had + count + 1), **mine = tensors + had;

    for (gsize i = 0; i < had; i++)
        tensors[i] = gst_tensor_copy(meta->tensors[i]);
    for (guint i = 0; i < count; i++)
        mine[i] = new_tensor(&model->list[i], gst_buffer_list_get(data, i));
    if (mask)
        mine[count] = new_mask(mask, size);
    gst_tensor_meta_set(meta, had + count + (mask != NULL), tensors);
}

void gst_tdl_analytics_keep_tensors(const GstBuffer *input, GstBuffer *frame)
{
    gpointer state = NULL;
    GstMeta *meta;

    if (gst_buffer_get_meta(frame, GST_TENSOR_META_API_TYPE))
        return;
    while ((meta = gst_buffer_iterate_meta_filtered((GstBuffer *)input, &state,
                                                    GST_TENSOR_META_API_TYPE))) {
        const GstTensorMeta *had = (const GstTensorMeta *)meta;
        GstTensor **tensors = g_new(GstTensor *, had->num_tensors);

        for (gsize i = 0; i < had->num_tensors; i++)
            tensors[i] = gst_tensor_copy(had->tensors[i]);
        gst_tensor_meta_set(gst_buffer_add_tensor_meta(frame), had->num_tensors, tensors);
    }
}

#if GST_CHECK_VERSION(1, 28, 0)
/* A dimension that the modelinfo file leaves open is 0, as GStreamer's own elements have it. */
static void append_description(GValue *group, const struct gst_tdl_tensor *tensor)
{
    GstStructure *s = gst_structure_new(
        "tensor/strided", "tensor-id", G_TYPE_STRING, g_quark_to_string(tensor->id), "dims-order",
        G_TYPE_STRING, tensor->col_major ? "col-major" : "row-major", "type", G_TYPE_STRING,
        gst_tensor_data_type_get_name(types[tensor->params->dtype]), NULL);
    GValue dims = G_VALUE_INIT, dim = G_VALUE_INIT, caps = G_VALUE_INIT;

    gst_value_array_init(&dims, tensor->rank);
    g_value_init(&dim, G_TYPE_INT);
    for (guint i = 0; i < tensor->rank; i++) {
        g_value_set_int(&dim, tensor->open[i] ? 0 : (gint)tensor->shape[i]);
        gst_value_array_append_value(&dims, &dim);
    }
    gst_structure_take_value(s, "dims", &dims);
    g_value_init(&caps, GST_TYPE_CAPS);
    g_value_take_boxed(&caps, gst_caps_new_full(s, NULL));
    gst_value_unique_list_append_and_take_value(group, &caps);
}

GstStructure *gst_tdl_analytics_groups(const struct gst_tdl_tensors *model)
{
    GstStructure *groups;
    GValue group = G_VALUE_INIT;

    if (!model->count)
        return NULL;
    g_value_init(&group, GST_TYPE_UNIQUE_LIST);
    for (guint i = 0; i < model->count; i++)
        append_description(&group, &model->list[i]);
    groups = gst_structure_new_empty("tensorgroups");
    gst_structure_take_value(groups, model->group ? model->group : GROUP_ID, &group);
    return groups;
}
#else
GstStructure *gst_tdl_analytics_groups(const struct gst_tdl_tensors *model)
{
    (void)model;
    return NULL;
}
#endif

void gst_tdl_analytics_regions(GstBuffer *frame, struct gst_tdl_rect *rect)
{
    GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(frame);
    GstAnalyticsODMtd object;
    gint x, y, width, height;
    gpointer state = NULL;

    while (relations && gst_analytics_relation_meta_iterate(
                            relations, &state, gst_analytics_od_mtd_get_mtd_type(), &object))
        if (gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, NULL))
            gst_tdl_rect_unite(rect, x, y, width, height);
}
