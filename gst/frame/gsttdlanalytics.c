/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of gsttdlmeta.h that need GStreamer's analytics library. */
#include "gsttdlmeta.h"
#include "gsttdlregion.h"

#include <gst/analytics/analytics.h>

const gboolean gst_tdl_analytics_built = TRUE;

#define TENSOR_ID "tdl-mask"
#define UNKNOWN -1.0f /* a confidence, as the library has it for classes of pixels */

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

static GstTensor *new_tensor(const struct gst_tdl_tensor *tensor, GstBuffer *data)
{
    static const GstTensorDataType types[] = {
        [TDL_FLOAT32] = GST_TENSOR_DATA_TYPE_FLOAT32, [TDL_FLOAT16] = GST_TENSOR_DATA_TYPE_FLOAT16,
        [TDL_INT64] = GST_TENSOR_DATA_TYPE_INT64,     [TDL_UINT64] = GST_TENSOR_DATA_TYPE_UINT64,
        [TDL_INT32] = GST_TENSOR_DATA_TYPE_INT32,     [TDL_UINT32] = GST_TENSOR_DATA_TYPE_UINT32,
        [TDL_INT8] = GST_TENSOR_DATA_TYPE_INT8,       [TDL_UINT8] = GST_TENSOR_DATA_TYPE_UINT8,
    };
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
    GstTensor **tensors = g_new(GstTensor *, count + 1);

    for (guint i = 0; i < count; i++)
        tensors[i] = new_tensor(&model->list[i], gst_buffer_list_get(data, i));
    if (mask)
        tensors[count] = new_mask(mask, size);
    gst_tensor_meta_set(gst_buffer_add_tensor_meta(frame), count + (mask != NULL), tensors);
}

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
