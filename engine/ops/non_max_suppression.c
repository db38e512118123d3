/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The greedy choice of ONNX NonMaxSuppression, among boxes in their order:
 * https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html */
#include "ir/builder.h"
#include "rows.h"
#include "stop.h"

#include <math.h>

#define MAX_BOXES 65536 /* a bit of shared memory each */

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    const uint32_t rank = x->desc.rank;
    if (x->desc.dtype != TDL_FLOAT32 || rank < 2 || x->desc.shape[rank - 1] != 4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "nonMaxSuppression: %s; boxes are float32 […, boxes, 4]",
                        tdl_operand_text(x));
    if (x->desc.shape[rank - 2] > MAX_BOXES)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "nonMaxSuppression: %u boxes; choose up to %d of them by topK first",
                        x->desc.shape[rank - 2], MAX_BOXES);
    *out = x->desc;
    out->dtype = TDL_INT32;
    out->rank = rank - 1;
    return TDL_OK;
}

static float area(const float *box)
{
    return fabsf(box[2] - box[0]) * fabsf(box[3] - box[1]);
}

/* Intersection over union above the threshold; of boxes without area there is none. */
static bool overlap(const float *a, const float *b, float threshold)
{
    float size[2];
    for (int i = 0; i < 2; i++) {
        const float a0 = TDL_MIN(a[i], a[i + 2]), a1 = TDL_MAX(a[i], a[i + 2]);
        const float b0 = TDL_MIN(b[i], b[i + 2]), b1 = TDL_MAX(b[i], b[i + 2]);
        size[i] = TDL_MAX(TDL_MIN(a1, b1) - TDL_MAX(a0, b0), 0);
    }
    const float both = size[0] * size[1];
    return both > 0 && both > threshold * (area(a) + area(b) - both);
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    const uint32_t boxes = p->shape[p->rank - 1];
    const size_t rows = tdl_operand_count(n->output) / boxes;
    const float threshold = n->attr.suppression.iou_threshold;
    const atomic_bool *stop = tdl_heeded(); /* as it takes the square of the boxes */
    for (size_t row = 0; row < rows; row++) {
        const float *box = (const float *)inputs[0] + row * boxes * 4;
        int32_t *kept = (int32_t *)output + row * boxes;
        for (uint32_t j = 0; j < boxes && !tdl_is_stopped(stop); j++) {
            const bool overlaps = area(box + 4 * (size_t)j) > 0;
            kept[j] = 1;
            for (uint32_t i = 0; overlaps && i < j && kept[j]; i++)
                kept[j] = !kept[i] || !overlap(box + 4 * (size_t)i, box + 4 * (size_t)j, threshold);
        }
    }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    const uint32_t boxes = p->shape[p->rank - 1], local = 128;
    const uint32_t rows = (uint32_t)tdl_operand_count(n->output) / boxes;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "non_max_suppression", TDL_FLOAT32, n, local, 1, 1);
    const struct tdl_non_max_suppression_spec spec =
        tdl_non_max_suppression_spec(.boxes = boxes, .rows = rows,
                                     .threshold = tdl_bits_of(n->attr.suppression.iou_threshold));
    TDL_PLAN_SPECS(s, non_max_suppression, spec);
    tdl_plan_shared(s, (boxes + 31) / 32 * sizeof(uint32_t));
    return tdl_finish_step(s, plan, n, rows);
}

static uint64_t work(const struct tdl_node *n)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    return (uint64_t)tdl_operand_count(n->output) * p->shape[p->rank - 1] * 16;
}

const struct tdl_op tdl_op_non_max_suppression = {
    .name = "nonMaxSuppression",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .lower = lower,
    .reference_linear = reference_linear,
    .work = work,
};

struct tdl_operand *tdl_builder_non_max_suppression(struct tdl_builder *b,
                                                    struct tdl_operand *boxes, float iou_threshold)
{
    const union tdl_attr attr = {.suppression.iou_threshold = iou_threshold};
    if (isnan(iou_threshold))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "nonMaxSuppression: the threshold is no number");
    return tdl_builder_add_node(b, &tdl_op_non_max_suppression, &attr, &boxes, 1, 1);
}
