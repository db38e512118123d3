/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "normalize.h"
#include "rows.h"

bool tdl_norm_constant(const struct tdl_node *n, uint32_t slot, const float **out)
{
    const struct tdl_operand *o = slot < n->input_count ? n->inputs[slot] : NULL;
    *out = tdl_constant_data(o);
    if (!o || *out)
        return true;
    tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: scale, bias, mean and variance of %s must be constants",
             n->label, n->op->name);
    return false;
}

enum tdl_result tdl_norm_check(const struct tdl_node *n, uint32_t first, uint32_t last)
{
    const struct tdl_operand *x = n->inputs[TDL_NORM_INPUT];
    if (x->desc.rank != 4 || !tdl_is_float(x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: the input %s is not float32 or float16 of rank 4", n->op->name,
                        tdl_operand_text(x));
    for (uint32_t i = first; i <= last; i++) {
        const struct tdl_operand *o = i < n->input_count ? n->inputs[i] : NULL;
        if (o && (o->desc.rank != 1 || o->desc.shape[0] != tdl_operand_dims(x).c))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "%s: %s is not one value for each channel of the input %s", n->op->name,
                            tdl_operand_text(o), tdl_operand_text(x));
    }
    return TDL_OK;
}

void tdl_norm_interleave(const float *first, float missing_first, const float *second,
                         uint32_t count, float *out)
{
    for (uint32_t i = 0; i < tdl_packs(count) * 4; i++) {
        float *to = out + i / 4 * 8 + i % 4;
        to[0] = i >= count ? 0 : first ? first[i] : missing_first;
        to[4] = i >= count || !second ? 0 : second[i];
    }
}

struct tdl_weights_key tdl_norm_weights_key(const struct tdl_node *n, uintptr_t layout)
{
    const struct tdl_dims d = tdl_operand_dims(n->output);
    struct tdl_weights_key key = {.layout = layout,
                                  .params = {(uint32_t)(uintptr_t)n->op,
                                             (uint32_t)((uint64_t)(uintptr_t)n->op >> 32), d.h, d.w,
                                             d.c, tdl_bits_of(tdl_norm_epsilon(n)),
                                             n->attr.norm.axes, n->output->layout}};
    for (uint32_t i = TDL_NORM_SCALE; i <= TDL_NORM_VARIANCE && i < n->input_count; i++)
        key.constants[i - TDL_NORM_SCALE] = n->inputs[i];
    return key;
}

static void bind_pairs(struct tdl_plan *plan, struct tdl_plan_step *s, uint32_t binding,
                       const struct tdl_node *n, const float *scale, const float *bias,
                       uint32_t channels)
{
    const struct tdl_weights_key key = tdl_norm_weights_key(n, TDL_WEIGHTS_LAYOUT(bind_pairs));
    float *w = tdl_plan_weights(plan, s, binding, (uint64_t)tdl_packs(channels) * 8, &key);
    if (w)
        tdl_norm_interleave(scale, 1, bias, channels, w);
}

struct tdl_operand *tdl_norm_moments(struct tdl_plan *plan, struct tdl_node *n, bool channels,
                                     const float *scale, const float *bias)
{
    enum { LEAST_CHUNK = 1024, MOST_PARTS = 64 };
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    uint32_t pixels = d.h * d.w, packs = tdl_packs(d.c), local = 64;
    uint32_t chunk = TDL_MAX(LEAST_CHUNK, TDL_DIV_UP(pixels, MOST_PARTS));
    uint32_t parts = TDL_DIV_UP(pixels, chunk);
    bool affine = !channels && (scale || bias);
    struct tdl_operand *stats = tdl_plan_scratch(plan, (uint64_t)d.n * packs * parts * 32);
    struct tdl_operand *factors = tdl_plan_scratch(plan, (uint64_t)d.n * packs * 32);
    if (!stats || !factors)
        return NULL;

    struct tdl_plan_step *s = tdl_plan_add_step(plan, "normalize_stats", n, local, 1, 1);
    const struct tdl_normalize_stats_spec first =
        tdl_normalize_stats_spec(.pixels = pixels, .packs = packs, .parts = parts, .chunk = chunk);
    TDL_PLAN_SPECS(s, normalize_stats, first);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    tdl_plan_write(s, 1, stats);
    tdl_plan_shared(s, (uint64_t)local * 16);
    tdl_plan_groups(s, parts, packs, d.n);

    s = tdl_plan_add_step(plan, "normalize_merge", n, local, 1, 1);
    const struct tdl_normalize_merge_spec second =
        tdl_normalize_merge_spec(.pixels = pixels, .packs = packs, .parts = parts, .chunk = chunk,
                                 .channels = d.c, .all = channels, .affine = affine,
                                 .epsilon = tdl_norm_epsilon(n));
    TDL_PLAN_SPECS(s, normalize_merge, second);
    tdl_plan_read(s, 0, stats);
    if (affine)
        bind_pairs(plan, s, 1, n, scale, bias, d.c);
    tdl_plan_write(s, 2, factors);
    tdl_plan_shared(s, (uint64_t)local * 16);
    tdl_plan_groups(s, channels ? 1 : TDL_DIV_UP(packs, local), 1, d.n);
    return factors;
}

/* Scale and bias of each element, in the order of packs. */
static void bind_elements(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n,
                          struct tdl_dims d, const float *scale, const float *bias)
{
    const struct tdl_weights_key key = tdl_norm_weights_key(n, TDL_WEIGHTS_LAYOUT(bind_elements));
    uint32_t pixels = d.h * d.w;
    float *w = tdl_plan_weights(plan, s, 2, (uint64_t)tdl_packs(d.c) * pixels * 8, &key);
    for (uint32_t c = 0; w && c < d.c; c++)
        for (uint32_t i = 0; i < pixels; i++) {
            float *to = w + ((size_t)c / 4 * pixels + i) * 8 + c % 4;
            to[0] = scale ? scale[(size_t)i * d.c + c] : 1;
            to[4] = bias ? bias[(size_t)i * d.c + c] : 0;
        }
}

/* Packs of factor, offset and mean of each channel. */
static void bind_parts(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n,
                       const float *parts, uint32_t channels)
{
    const struct tdl_weights_key key = tdl_norm_weights_key(n, TDL_WEIGHTS_LAYOUT(bind_parts));
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)tdl_packs(channels) * 12, &key);
    for (uint32_t i = 0; w && i < tdl_packs(channels) * 4; i++)
        for (uint32_t part = 0; part < 3; part++)
            w[i / 4 * 12 + part * 4 + i % 4] = i < channels ? parts[part * channels + i] : 0;
}

void tdl_norm_apply(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *factors,
                    const float *parts, const float *scale, const float *bias)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    uint32_t pixels = d.h * d.w, packs = tdl_packs(d.c), local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "normalize_apply", n, local, 1, 1);
    const struct tdl_normalize_apply_spec spec =
        tdl_normalize_apply_spec(.pixels = pixels, .packs = packs,
                                 .last_channels = tdl_last_channels(d.c),
                                 .each_image = factors != NULL, .elements = scale || bias,
                                 .activation = n->attr.norm.activation);
    TDL_PLAN_SPECS(s, normalize_apply, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    if (factors)
        tdl_plan_read(s, 1, factors);
    else
        bind_parts(plan, s, n, parts, d.c);
    if (scale || bias)
        bind_elements(plan, s, n, d, scale, bias);
    tdl_plan_write(s, 3, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), packs, d.n);
}

bool tdl_norm_known(struct tdl_builder *b, const struct tdl_op *op, float epsilon,
                    enum tdl_activation activation)
{
    if (!(epsilon >= 0))
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "%s: epsilon is %g; it is added to a variance, and has to be 0 or more",
                         op->name, (double)epsilon);
    return epsilon >= 0 && tdl_builder_known_window(b, op, 0, NULL, activation);
}

enum tdl_activation *tdl_norm_activation(struct tdl_node *n)
{
    return &n->attr.norm.activation;
}
