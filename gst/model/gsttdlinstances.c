/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlinstances.h"

#include "gsttdlmaskrcnn.h"
#include "gsttdlqueries.h"
#include "gsttdlyolo.h"

/* In the order in which `auto` looks: the more outputs belong together, the surer. */
static const struct family {
    gint decoder;
    const gchar *name, *wanted;
    gboolean (*find)(const struct gst_tdl_objects *objects, struct tdl_operand **out_parts);
    struct tdl_operand *(*mask)(const struct gst_tdl_objects *objects,
                                struct tdl_operand *const *parts);
} families[] = {
    { GST_TDL_DECODE_YOLO_SEG, "a YOLO",
      "decoder=yolo-seg wants two outputs, candidates [1, 4 + classes + M, N] and "
      "prototypes [1, M, h, w]",
      gst_tdl_yolo_find, gst_tdl_yolo_mask },
    { GST_TDL_DECODE_MASK_RCNN, "a Mask R-CNN",
      "decoder=mask-rcnn wants labels [N] in whole numbers, scores [N], masks [N, 1, h, w] and, "
      "unless these are of the whole picture, boxes [N, 4]; [N, 5] are boxes with their scores, "
      "and "
      "a dimension of 1 may lead",
      gst_tdl_mask_rcnn_find, gst_tdl_mask_rcnn_mask },
    { GST_TDL_DECODE_RF_DETR_SEG, "an RF-DETR",
      "decoder=rf-detr-seg wants boxes [1, Q, 4], scores [1, Q, classes] and masks [1, Q, h, w]",
      gst_tdl_queries_find_boxed, gst_tdl_queries_mask_by_sigmoid },
    { GST_TDL_DECODE_MASK2FORMER, "a Mask2Former",
      "decoder=mask2former wants scores [1, Q, classes + 1] and masks [1, Q, h, w]",
      gst_tdl_queries_find, gst_tdl_queries_mask_by_softmax },
};

static const struct family *family_of(gint decoder)
{
    for (gsize i = 0; i < G_N_ELEMENTS(families); i++)
        if (families[i].decoder == decoder)
            return &families[i];
    return NULL;
}

gboolean gst_tdl_instances_are(gint decoder)
{
    return family_of(decoder) != NULL;
}

const gchar *gst_tdl_instances_wanted(gint decoder)
{
    return family_of(decoder)->wanted;
}

static const struct family *recognize(const struct gst_tdl_objects *o, struct tdl_operand **parts)
{
    for (gsize i = 0; i < G_N_ELEMENTS(families); i++)
        if ((o->sources->decoder == GST_TDL_DECODE_AUTO ||
             o->sources->decoder == families[i].decoder) &&
            families[i].find(o, parts))
            return &families[i];
    return NULL;
}

struct tdl_operand *gst_tdl_instances_decode(const struct gst_tdl_objects *o, gboolean *out_found)
{
    struct tdl_operand *parts[GST_TDL_OBJECTS_PARTS] = { NULL };
    const struct family *family = recognize(o, parts);

    *out_found = family != NULL;
    if (!family)
        return NULL;
    if (o->sources->output != GST_TDL_OUTPUT_MASK)
        return tdl_builder_fail(o->builder, TDL_ERROR_UNSUPPORTED,
                                "it is %s, of whose objects tdlfilter makes a mask: any other "
                                "mode than picture and classes shows it",
                                family->name);
    return family->mask(o, parts);
}
