/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of gsttdlmeta.h needs GStreamer's analytics library. */
#include "gsttdlmeta.h"

#include <gst/analytics/analytics.h>

const gboolean gst_tdl_analytics_built = TRUE;

#define UNKNOWN -1.0f /* a confidence, as the library has it for classes of pixels */
#define MAX_NAMES 256 /* of the values of a GRAY8 mask */

void gst_tdl_analytics_attach(GstBuffer *frame, GstBuffer *mask, const struct gst_tdl_rect *place,
                              const GQuark *names, guint count)
{
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(frame);
    GstAnalyticsSegmentationMtd segmentation;
    GstAnalyticsClsMtd classes;
    gfloat confidences[MAX_NAMES];
    GQuark quarks[MAX_NAMES];
    guint ids[MAX_NAMES];

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
