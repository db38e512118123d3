/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlboxes.h"

#include <string.h>

/* Before the number of the kind. */
#define FACTOR "boxes:factor:"
#define SUMMAND "boxes:summand:"
#define NUMBERS 4 /* of a box */

struct gst_tdl_boxes_kind {
    const gchar *id, *group; /* as in GStreamer's decoders; group NULL: any other */
    guint axis;              /* of the numbers of a box, of three axes */
    gboolean shares;         /* of the picture; else px */
    gboolean sizes;          /* centre and size; else two corners */
    gboolean down_first;     /* y before x */
};

static const struct gst_tdl_boxes_kind kinds[] = {
    { "yolo-v8-out", NULL, 1, FALSE, TRUE, FALSE },
    { "yolo-v8-segmentation-out-detections", NULL, 1, FALSE, TRUE, FALSE },
    { "ssd-mobilenet-v1-variant-1-out-boxes",
      "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out", 2, TRUE, FALSE, FALSE },
    { "ssd-mobilenet-v1-variant-1-out-boxes", NULL, 2, TRUE, FALSE, TRUE },
    { "detr-out-boxes", NULL, 2, TRUE, TRUE, FALSE },                 /* of tdltensordec */
    { "Gst.Model.ObjectDetector.Boxes", NULL, 2, TRUE, FALSE, TRUE }, /* of GStreamer 1.26 */
};

static const struct gst_tdl_boxes_kind *find_kind(const gchar *id, const gchar *group)
{
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (!strcmp(kinds[i].id, id) && (!kinds[i].group || !g_strcmp0(kinds[i].group, group)))
            return &kinds[i];
    return NULL;
}

static gboolean has_boxes(const struct gst_tdl_boxes_kind *kind, const struct tdl_tensor_params *p)
{
    return p->dtype == TDL_FLOAT32 && p->rank == 3 && p->shape[kind->axis] >= NUMBERS &&
           (kind->axis == 1 || p->shape[kind->axis] == NUMBERS);
}

struct tdl_operand *gst_tdl_boxes_move(struct tdl_builder *builder,
                                       const struct gst_tdl_sources *sources, const gchar *id,
                                       struct tdl_operand *operand, gboolean *moved)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(operand);
    const struct gst_tdl_boxes_kind *kind = find_kind(id, sources->group);
    struct tdl_tensor_params each = { .dtype = TDL_FLOAT32, .rank = 3, .shape = { 1, 1, 1 } };
    g_autofree gchar *factor_name = NULL, *summand_name = NULL;
    struct tdl_operand *factor, *summand;

    if (!sources->boxes_in_frame || *moved || !kind || !has_boxes(kind, p))
        return operand;
    *moved = TRUE;
    each.shape[kind->axis] = p->shape[kind->axis];
    factor_name = g_strdup_printf(FACTOR "%u", (guint)(kind - kinds));
    summand_name = g_strdup_printf(SUMMAND "%u", (guint)(kind - kinds));
    factor = tdl_builder_input(builder, factor_name, &each);
    summand = tdl_builder_input(builder, summand_name, &each);
    return tdl_builder_add(builder, tdl_builder_mul(builder, operand, factor), summand);
}

gboolean gst_tdl_boxes_is_name(const gchar *name)
{
    return g_str_has_prefix(name, FACTOR) || g_str_has_prefix(name, SUMMAND);
}

void gst_tdl_boxes_find(const struct tdl_graph *graph, struct gst_tdl_boxes *out)
{
    const struct tdl_tensor_params *p;
    const gchar *name;

    *out = (struct gst_tdl_boxes){ NULL, NULL, NULL, NULL };
    for (guint i = 0; (p = tdl_graph_input(graph, i, &name)) != NULL; i++) {
        if (g_str_has_prefix(name, SUMMAND))
            out->summand = name;
        if (!g_str_has_prefix(name, FACTOR))
            continue;
        out->factor = name;
        out->params = p;
        out->kind = &kinds[g_ascii_strtoull(name + strlen(FACTOR), NULL, 10)];
    }
}

void gst_tdl_boxes_fill(const struct gst_tdl_boxes *boxes, const struct gst_tdl_boxes_view *view,
                        gfloat *factors, gfloat *summands)
{
    const struct gst_tdl_boxes_kind *kind = boxes->kind;
    const guint count = boxes->params->shape[kind->axis];

    for (guint i = 0; i < count; i++) {
        factors[i] = 1;
        summands[i] = 0;
    }
    for (guint i = 0; i < NUMBERS; i++) {
        const guint d = (i % 2) ^ (kind->down_first ? 1 : 0);
        const gdouble inside = view->inside[2] ? view->inside[2 + d] : view->input[d];
        const gdouble begin = view->inside[2] ? view->inside[d] : 0;
        const gdouble px = view->seen[2 + d] / inside; /* of the frame, to one of the picture */

        factors[i] = (gfloat)(kind->shares ? px * view->input[d] / view->frame[d] : px);
        if (!kind->sizes || i < 2)
            summands[i] =
                (gfloat)((view->seen[d] - begin * px) / (kind->shares ? view->frame[d] : 1));
    }
}
