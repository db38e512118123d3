/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN layerNormalization: (x − μ) / √(σ² + ε) · scale + bias, with mean and
 * variance over the given axes. In packs: over channels, over height and
 * width, and over all three. */
#include "normalize.h"
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Axes of an image whatever its layout. */
enum { H = 1, W = 2, C = 4 };

static uint32_t image_axes(const struct tdl_node *n)
{
    static const uint32_t nhwc[] = {8, H, W, C}, nchw[] = {8, C, H, W};
    const struct tdl_operand *x = n->inputs[TDL_NORM_INPUT];
    uint32_t axes = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (n->attr.norm.axes & 1u << i)
            axes |= x->layout == TDL_LAYOUT_NCHW ? nchw[i] : nhwc[i];
    return axes;
}

/* Scale and bias have the dimensions of the axes. */
static bool fits(const struct tdl_node *n, const struct tdl_operand *o)
{
    const struct tdl_tensor_params *x = &n->inputs[TDL_NORM_INPUT]->desc;
    uint32_t at = 0;
    if (o->desc.dtype != x->dtype)
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (n->attr.norm.axes & 1u << i)
            if (at >= o->desc.rank || o->desc.shape[at++] != x->shape[i])
                return false;
    return at == o->desc.rank;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_NORM_INPUT];
    if (!tdl_is_float(x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "layerNormalization: %s; it takes float32 and float16, cast first",
                        tdl_operand_text(x));
    for (uint32_t i = TDL_NORM_SCALE; i <= TDL_NORM_BIAS; i++)
        if (n->inputs[i] && !fits(n, n->inputs[i]))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "layerNormalization: %s has not the data type and, at the axes, the "
                            "dimensions of the input %s",
                            tdl_operand_text(n->inputs[i]), tdl_operand_text(x));
    *out = x->desc;
    return TDL_OK;
}

static bool is_constant(const struct tdl_operand *o)
{
    return !o || tdl_is_known(o);
}

static bool can_pack(const struct tdl_node *n)
{
    uint32_t axes = image_axes(n);
    return (axes == C || axes == (H | W) || axes == (H | W | C)) &&
           is_constant(n->inputs[TDL_NORM_SCALE]) && is_constant(n->inputs[TDL_NORM_BIAS]);
}

/* The places of an element's scale and bias. */
static size_t parameter_index(const struct tdl_node *n, uint32_t y, uint32_t x, uint32_t c)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    uint32_t axes = image_axes(n);
    size_t pixel = (size_t)y * d.w + x;
    if (axes == C)
        return c;
    if (axes == (H | W))
        return pixel;
    return n->inputs[TDL_NORM_INPUT]->layout == TDL_LAYOUT_NCHW ? (size_t)c * d.h * d.w + pixel
                                                                : pixel * d.c + c;
}

/* The number of an element among those that share its place at the axes, or,
 * `along`, among those that share its place elsewhere. */
static size_t number_of(const struct tdl_node *n, size_t i, bool along)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    size_t number = 0, stride = 1;
    for (uint32_t d = p->rank; d-- > 0; i /= p->shape[d])
        if (((n->attr.norm.axes >> d & 1) != 0) == along) {
            number += i % p->shape[d] * stride;
            stride *= p->shape[d];
        }
    return number;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    enum tdl_dtype dtype = n->output->desc.dtype;
    const void *scale = inputs[TDL_NORM_SCALE], *bias = inputs[TDL_NORM_BIAS];
    size_t count = tdl_operand_count(n->output);
    double *sums = calloc(count, 3 * sizeof(*sums)); /* of values, distances, elements; by row */
    for (int pass = 0; sums && pass < 3; pass++)
        for (size_t i = 0; i < count; i++) {
            double x = tdl_element_get(dtype, inputs[TDL_NORM_INPUT], i);
            double *row = sums + 3 * number_of(n, i, false);
            double d = x - row[0] / (row[2] > 0 ? row[2] : 1);
            size_t p = number_of(n, i, true);
            if (pass == 0) {
                row[0] += x;
                row[2] += 1;
            } else if (pass == 1) {
                row[1] += d * d;
            } else {
                d /= sqrt(row[1] / row[2] + tdl_norm_epsilon(n));
                d = d * (scale ? tdl_element_get(dtype, scale, p) : 1) +
                    (bias ? tdl_element_get(dtype, bias, p) : 0);
                tdl_element_set(dtype, output, i, tdl_activate(n->attr.norm.activation, (float)d));
            }
        }
    free(sums);
}

/* The constants of shaders/common/normalize_rows.glsl, with dimensions that
 * are of one kind joined. */
static struct tdl_normalize_rows_part rows_of(const struct tdl_node *n)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    uint32_t size[TDL_MAX_RANK], mask = 0, rank = 0, rows = 1, length = 1;
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        size[i] = 1;
    for (uint32_t d = p->rank; d-- > 0;) {
        uint32_t along = n->attr.norm.axes >> d & 1;
        *(along ? &length : &rows) *= p->shape[d];
        if (rank && (mask >> (rank - 1) & 1) == along) {
            size[rank - 1] *= p->shape[d];
        } else {
            mask |= along << rank;
            size[rank++] = p->shape[d];
        }
    }
    struct tdl_normalize_rows_part spec =
        tdl_normalize_rows_part(.type = p->dtype, .rows = rows, .length = length, .axes = mask,
                                .rank = TDL_MAX(rank, 1), .size = {0});
    memcpy(spec.size, size, sizeof(spec.size));
    return spec;
}

static void bind_end(struct tdl_plan_step *s, struct tdl_node *n)
{
    struct tdl_operand *scale = n->inputs[TDL_NORM_SCALE], *bias = n->inputs[TDL_NORM_BIAS];
    if (scale)
        tdl_plan_read(s, 2, scale);
    if (bias)
        tdl_plan_read(s, 3, bias);
    tdl_plan_write(s, 4, n->output);
}

/* Rows of neighbours that a team keeps in registers; false, and no step: they are none, or too
 * long. */
static bool lower_whole(struct tdl_plan *plan, struct tdl_node *n,
                        const struct tdl_normalize_rows_part *part)
{
    enum { LEAST_LOCAL = 64 };
    const struct tdl_device_info *device = plan->device;
    const enum tdl_dtype dtype = n->output->desc.dtype;
    const uint32_t lanes = tdl_elements_per_word(dtype), words = part->length / lanes;
    const uint32_t team = tdl_team_of_row(device, part->rows, words);
    const uint32_t local = TDL_MAX(team, (uint32_t)LEAST_LOCAL);
    if (tdl_heuristics_of(device)->few_invocations || part->axes != 1 || part->length % lanes ||
        words > TDL_ROW_HELD * team)
        return false;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "normalize_whole_rows", dtype, n, local, 1, 1);
    const struct tdl_normalize_whole_rows_spec spec =
        tdl_normalize_whole_rows_spec(.reduce = tdl_reduce_part(.reduction = TDL_REDUCE_SUM,
                                                                .team = team, .neighbours = true,
                                                                .count = part->length),
                                      .type = dtype, .rows = part->rows,
                                      .epsilon = tdl_norm_epsilon(n),
                                      .activation = n->attr.norm.activation,
                                      .scaled = n->inputs[TDL_NORM_SCALE] != NULL,
                                      .biased = n->inputs[TDL_NORM_BIAS] != NULL);
    TDL_PLAN_SPECS(s, normalize_whole_rows, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    bind_end(s, n);
    tdl_plan_shared(s, (uint64_t)local * 4);
    tdl_plan_flat_groups(s, TDL_DIV_UP(part->rows, local / team));
    return true;
}

static void lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    enum tdl_dtype dtype = n->output->desc.dtype;
    const struct tdl_normalize_rows_part part = rows_of(n);
    if (lower_whole(plan, n, &part))
        return;
    const uint32_t local = 64, rows = part.rows, team = part.length >= 2 * local ? local : 1;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "normalize_rows", dtype, n, local, 1, 1);
    struct tdl_operand *stats = tdl_scratch_floats(plan, 2 * (uint64_t)rows);
    if (!stats)
        return;
    const struct tdl_normalize_rows_spec spec =
        tdl_normalize_rows_spec(.normalize_rows = part, .epsilon = tdl_norm_epsilon(n),
                                .team = team);
    TDL_PLAN_SPECS(s, normalize_rows, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    tdl_plan_write(s, 1, stats);
    tdl_plan_shared(s, (uint64_t)local * 4);
    tdl_plan_flat_groups(s, team > 1 ? rows : TDL_DIV_UP(rows, local));

    s = tdl_plan_add_linear_step(plan, "normalize_rows_apply", dtype, n, local, 1, 1);
    const struct tdl_normalize_rows_apply_spec apply =
        tdl_normalize_rows_apply_spec(.normalize_rows = part, .activation = n->attr.norm.activation,
                                      .scaled = n->inputs[TDL_NORM_SCALE] != NULL,
                                      .biased = n->inputs[TDL_NORM_BIAS] != NULL);
    TDL_PLAN_SPECS(s, normalize_rows_apply, apply);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    tdl_plan_read(s, 1, stats);
    bind_end(s, n);
    tdl_plan_linear_groups(s, n->output);
}

static void lower_channels(struct tdl_plan *plan, struct tdl_node *n, const float *scale,
                           const float *bias)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    uint32_t pixels = d.h * d.w, packs = tdl_packs(d.c);
    const bool few = tdl_heuristics_of(plan->device)->few_invocations;
    /* Few pixels of many channels need more invocations than pixels. */
    uint32_t team = few || packs < 8 ? 1 : packs < 32 ? 4 : 16, local = 64 / team;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "normalize_channels", n, local, team, 1);
    const struct tdl_normalize_channels_spec spec =
        tdl_normalize_channels_spec(.pixels = pixels, .packs = packs, .channels = d.c,
                                    .affine = scale || bias, .epsilon = tdl_norm_epsilon(n),
                                    .activation = n->attr.norm.activation);
    TDL_PLAN_SPECS(s, normalize_channels, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    if (scale || bias) {
        const struct tdl_weights_key key =
            tdl_norm_weights_key(n, TDL_WEIGHTS_LAYOUT(lower_channels));
        float *w = tdl_plan_weights(plan, s, 1, (uint64_t)packs * 8, &key);
        if (w)
            tdl_norm_interleave(scale, 1, bias, d.c, w);
    }
    tdl_plan_write(s, 2, n->output);
    tdl_plan_shared(s, (uint64_t)local * team * 4);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), 1, d.n);
}

/* Parameters by element, in NHWC. */
static void spread(const struct tdl_node *n, const float *parameter, float *out)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    for (uint32_t y = 0; parameter && y < d.h; y++)
        for (uint32_t x = 0; x < d.w; x++)
            for (uint32_t c = 0; c < d.c; c++)
                *out++ = parameter[parameter_index(n, y, x, c)];
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    size_t count = (size_t)d.h * d.w * d.c;
    const float *scale, *bias;
    if (n->storage == TDL_STORAGE_LINEAR) {
        lower_linear(plan, n);
        return plan->status;
    }
    if (!tdl_norm_constant(n, TDL_NORM_SCALE, &scale) ||
        !tdl_norm_constant(n, TDL_NORM_BIAS, &bias))
        return TDL_ERROR_UNSUPPORTED;
    if (image_axes(n) == C) {
        lower_channels(plan, n, scale, bias);
        return plan->status;
    }
    struct tdl_operand *factors = tdl_norm_moments(plan, n, (image_axes(n) & C) != 0, NULL, NULL);
    float *elements = calloc(count, 2 * sizeof(*elements));
    if (!elements)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
    spread(n, scale, elements);
    spread(n, bias, elements + count);
    if (factors)
        tdl_norm_apply(plan, n, factors, NULL, scale ? elements : NULL,
                       bias ? elements + count : NULL);
    free(elements);
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && !(n->attr.norm.axes & 1);
}

/* Scale and bias are of the axes in their order. */
static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    const uint32_t axes = n->attr.norm.axes;
    const bool affine =
        n->inputs[TDL_NORM_SCALE] || (n->input_count > TDL_NORM_BIAS && n->inputs[TDL_NORM_BIAS]);
    if (affine && !tdl_renumber_keeps_order(axes, place))
        return false;
    n->attr.norm.axes = tdl_renumber_axes(axes, place);
    return true;
}

const struct tdl_op tdl_op_layer_normalization = {
    .name = "layerNormalization",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .storage = TDL_STORAGE_EITHER,
    .can_pack = can_pack,
    .reference_linear = reference,
    .weight_slots = TDL_NORM_WEIGHTS,
    .activation = tdl_norm_activation,
    .floats = true,
    .renumber = renumber,
};

struct tdl_operand *tdl_builder_layer_normalization(
    struct tdl_builder *b, struct tdl_operand *input,
    const struct tdl_layer_normalization_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    struct tdl_layer_normalization_params p = {0};
    if (params)
        p = *params;
    union tdl_attr attr = {.norm = {.epsilon = p.epsilon, .activation = p.activation}};
    struct tdl_operand *inputs[] = {input, p.scale, p.bias};
    if (!tdl_norm_known(b, &tdl_op_layer_normalization, p.epsilon, p.activation))
        return NULL;
    for (uint32_t i = 0; tdl_builder_status(b) == TDL_OK && input && i < p.axis_count; i++) {
        if (p.axis_count > TDL_MAX_RANK || p.axes[i] >= input->desc.rank ||
            (i && p.axes[i] <= p.axes[i - 1]))
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "layerNormalization: axes must rise and be below the rank of "
                                    "%s",
                                    tdl_operand_text(input));
        attr.norm.axes |= 1u << p.axes[i];
    }
    if (tdl_builder_status(b) == TDL_OK && input && !p.axis_count && input->desc.rank)
        attr.norm.axes = (1u << input->desc.rank) - 2;
    return tdl_builder_add_node(b, &tdl_op_layer_normalization, &attr, inputs, TDL_COUNT(inputs),
                                1);
}
