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

void gst_tdl_analytics_attach_tensor(GstBuffer *frame, GstBuffer *data, const guint size[2])
{
    gsize dims[] = { 1, size[1], size[0], 1 };
    GstTensor **tensors = g_new(GstTensor *, 1);

    tensors[0] =
        gst_tensor_new_simple(g_quark_from_static_string(TENSOR_ID), GST_TENSOR_DATA_TYPE_FLOAT32,
                              data, GST_TENSOR_DIM_ORDER_ROW_MAJOR, G_N_ELEMENTS(dims), dims);
    gst_tensor_meta_set(gst_buffer_add_tensor_meta(frame), 1, tensors);
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
