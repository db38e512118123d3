/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN gatherND: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gathernd; the dimensions
 * that go in step as ONNX GatherND has them. */
#include "places.h"

#include <string.h>

/* The dimensions of x that lie behind those that a tuple names. */
static uint32_t first_behind(const struct tdl_node *n)
{
    const struct tdl_tensor_params *indices = &n->inputs[1]->desc;
    return n->attr.gather_nd.batch + indices->shape[indices->rank - 1];
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const uint32_t batch = n->attr.gather_nd.batch, last = indices->rank - 1;
    bool fits = tdl_is_index(indices->dtype) && indices->rank > 0 && batch <= last &&
                batch < x->rank && indices->shape[last] <= x->rank - batch;
    for (uint32_t i = 0; i < batch && fits; i++)
        fits = x->shape[i] == indices->shape[i];
    if (!fits)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gatherND: %s by indices %s, %u dimensions in step; they are int32, uint32 "
                        "or int64, tuples in their last dimension for the dimensions behind those",
                        tdl_operand_text(n->inputs[0]), tdl_operand_text(n->inputs[1]), batch);
    const uint32_t behind = first_behind(n), rank = last + x->rank - behind;
    if (rank > TDL_MAX_RANK)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gatherND: %s by indices %s would have %u dimensions, %d at most",
                        tdl_operand_text(n->inputs[0]), tdl_operand_text(n->inputs[1]), rank,
                        TDL_MAX_RANK);
    *out = *x;
    out->rank = rank;
    memcpy(out->shape, indices->shape, last * sizeof(*out->shape));
    memcpy(out->shape + last, x->shape + behind, (x->rank - behind) * sizeof(*out->shape));
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const struct tdl_places_part places = tdl_places_of_tuples(x, indices, n->attr.gather_nd.batch);
    const size_t tuples = tdl_places_count(indices, 0, indices->rank - 1);
    const size_t slice = tdl_places_count(x, places.rank, x->rank) * tdl_dtype_size(x->dtype);
    for (size_t t = 0; t < tuples; t++)
        memcpy((uint8_t *)output + t * slice,
               (const uint8_t *)inputs[0] + tdl_places_at(&places, inputs[1], t) * slice, slice);
}

/* The tuples' places first; then it is a gather along one axis. */
static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const uint32_t local = 64, behind = first_behind(n);
    const struct tdl_gather_places_spec spec =
        tdl_gather_places_spec(.places = tdl_places_of_tuples(x, indices, n->attr.gather_nd.batch),
                               .tuples = (uint32_t)tdl_places_count(indices, 0, indices->rank - 1));
    struct tdl_operand *places = tdl_plan_scratch(plan, TDL_ALIGN(4ull * spec.tuples, 16));
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "gather_places", TDL_UINT32, n, local, 1, 1);
    if (!places)
        return plan->status;
    TDL_PLAN_SPECS(s, gather_places, spec);
    tdl_plan_read(s, 1, n->inputs[1]);
    tdl_plan_write(s, 2, places);
    tdl_plan_flat_groups(s, TDL_DIV_UP(spec.tuples, local));
    tdl_gather_step(plan, n, places,
                    &(struct tdl_gather){.index_type = TDL_UINT32,
                                         .length = (uint32_t)tdl_places_count(x, 0, behind),
                                         .indices = spec.tuples,
                                         .inner = (uint32_t)tdl_places_count(x, behind, x->rank)});
    return plan->status;
}

const struct tdl_op tdl_op_gather_nd = {
    .name = "gatherND",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .lower = lower,
    .reference_linear = reference_linear,
    .work = tdl_output_work,
};

struct tdl_operand *tdl_builder_gather_nd(struct tdl_builder *b, struct tdl_operand *input,
                                          struct tdl_operand *indices, uint32_t batch_dimensions)
{
    union tdl_attr attr = {.gather_nd.batch = batch_dimensions};
    return tdl_builder_add_node(b, &tdl_op_gather_nd, &attr,
                                (struct tdl_operand *[]){input, indices}, 2, 2);
}
