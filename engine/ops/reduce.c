/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN's reductions: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-reduce */
#include "ir/builder.h"
#include "packs.h"
#include "rows.h"

#include <math.h>

static const char *const names[] = {
    [TDL_REDUCE_MEAN] = "reduceMean",       [TDL_REDUCE_SUM] = "reduceSum",
    [TDL_REDUCE_MAX] = "reduceMax",         [TDL_REDUCE_MIN] = "reduceMin",
    [TDL_REDUCE_PRODUCT] = "reduceProduct", [TDL_REDUCE_L1] = "reduceL1",
    [TDL_REDUCE_L2] = "reduceL2",           [TDL_REDUCE_SUM_SQUARE] = "reduceSumSquare",
    [TDL_REDUCE_LOG_SUM] = "reduceLogSum",  [TDL_REDUCE_LOG_SUM_EXP] = "reduceLogSumExp",
};

static bool takes(enum tdl_reduction reduction, enum tdl_dtype dtype)
{
    switch (reduction) {
    case TDL_REDUCE_MAX:
    case TDL_REDUCE_MIN:
        return true;
    case TDL_REDUCE_SUM:
    case TDL_REDUCE_PRODUCT:
    case TDL_REDUCE_L1:
    case TDL_REDUCE_SUM_SQUARE:
        return dtype != TDL_INT8 && dtype != TDL_UINT8;
    default:
        return tdl_is_float(dtype);
    }
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    const struct tdl_reduce_attr *p = &n->attr.reduce;
    if (!takes(p->reduction, x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s; it does not take %s, cast first",
                        names[p->reduction], tdl_operand_text(x), tdl_dtype_name(x->desc.dtype));
    *out = x->desc;
    out->rank = 0;
    for (uint32_t i = 0; i < x->desc.rank; i++) {
        bool reduced = p->axes >> i & 1;
        if (!reduced || p->keep_dimensions)
            out->shape[out->rank++] = reduced ? 1 : x->desc.shape[i];
    }
    return TDL_OK;
}

/* --------------------------------------------------------------- reference */

static long double step(enum tdl_reduction reduction, long double sum, long double x)
{
    switch (reduction) {
    case TDL_REDUCE_MAX:
        return x > sum || isnan(x) ? x : sum;
    case TDL_REDUCE_MIN:
        return x < sum || isnan(x) ? x : sum;
    case TDL_REDUCE_PRODUCT:
        return sum * x;
    case TDL_REDUCE_L1:
        return sum + fabsl(x);
    case TDL_REDUCE_L2:
    case TDL_REDUCE_SUM_SQUARE:
        return sum + x * x;
    case TDL_REDUCE_LOG_SUM_EXP:
        return sum + expl(x);
    default:
        return sum + x;
    }
}

static uint64_t step_whole(enum tdl_reduction reduction, uint64_t sum, uint64_t x, bool negative)
{
    switch (reduction) {
    case TDL_REDUCE_PRODUCT:
        return sum * x;
    case TDL_REDUCE_L1:
        return sum + (negative ? -x : x);
    case TDL_REDUCE_SUM_SQUARE:
        return sum + x * x;
    default:
        return sum + x;
    }
}

static long double finish(enum tdl_reduction reduction, long double sum, uint32_t count)
{
    switch (reduction) {
    case TDL_REDUCE_MEAN:
        return sum / count;
    case TDL_REDUCE_L2:
        return sqrtl(sum);
    case TDL_REDUCE_LOG_SUM:
    case TDL_REDUCE_LOG_SUM_EXP:
        return logl(sum);
    default:
        return sum;
    }
}

/* Where element `i` of the dimensions whose bits are set lies in the input, the others at 0. */
static size_t place(const struct tdl_tensor_params *in, uint32_t dims, uint32_t i)
{
    size_t at = 0, stride = 1;
    for (uint32_t d = in->rank; d-- > 0; stride *= in->shape[d])
        if (dims >> d & 1) {
            at += i % in->shape[d] * stride;
            i /= in->shape[d];
        }
    return at;
}

/* One result: `count` elements of the input, those with its own kept coordinates. */
static void reduce_one(const struct tdl_node *n, const void *input, size_t first, uint32_t count,
                       void *output, uint32_t index)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    const struct tdl_reduce_attr *p = &n->attr.reduce;
    bool extreme = p->reduction == TDL_REDUCE_MAX || p->reduction == TDL_REDUCE_MIN;
    uint64_t whole = p->reduction == TDL_REDUCE_PRODUCT;
    long double sum = (long double)whole;
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = first + place(in, p->axes, i);
        long double x = tdl_element_get(in->dtype, input, at);
        sum = extreme && !i ? x : step(p->reduction, sum, x);
        if (!tdl_is_float(in->dtype))
            whole = step_whole(p->reduction, whole, tdl_element_bits(in->dtype, input, at), x < 0);
    }
    if (tdl_is_float(in->dtype) || extreme)
        tdl_element_set(in->dtype, output, index, finish(p->reduction, sum, count));
    else
        tdl_element_set_bits(in->dtype, output, index, whole);
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    const uint32_t results = (uint32_t)tdl_operand_count(n->output);
    const uint32_t each = (uint32_t)tdl_operand_count(n->inputs[0]) / results;
    for (uint32_t i = 0; i < results; i++)
        reduce_one(n, inputs[0], place(in, ~n->attr.reduce.axes, i), each, output, i);
}

/* ------------------------------------------------------------------- lower */

enum { MAX_PARTS = TDL_MAX_RANK / 2 };

/* Dimensions that are kept, or reduced, the last one first; neighbours of one
 * kind are one. Strides in elements of the input. */
struct parts {
    uint32_t count, size[MAX_PARTS], stride[MAX_PARTS];
    uint32_t elements;
};

static void split(const uint32_t *shape, uint32_t rank, uint32_t axes, struct parts out[2])
{
    uint32_t stride = 1;
    int last = -1; /* kind of the dimension behind */
    for (int i = 0; i < 2; i++)
        out[i] = (struct parts){.elements = 1, .size = {1, 1, 1}};
    for (uint32_t d = rank; d-- > 0; stride *= shape[d]) {
        int kind = axes >> d & 1;
        struct parts *p = &out[kind];
        if (shape[d] == 1)
            continue;
        if (kind != last)
            p->stride[p->count++] = stride;
        p->size[p->count - 1] *= shape[d];
        p->elements *= shape[d];
        last = kind;
    }
}

/* The dimensions as shaders/reduce.comp and reduce_packed.comp have them. */
#define FILL_PARTS(spec, parts)                                                                    \
    do {                                                                                           \
        _Static_assert(TDL_COUNT((spec)->kept) == MAX_PARTS - 1, "dimensions");                    \
        _Static_assert(TDL_COUNT((spec)->stride) == MAX_PARTS, "dimensions");                      \
        memcpy((spec)->kept, (parts)[0].size, sizeof((spec)->kept));                               \
        memcpy((spec)->kept_stride, (parts)[0].stride, sizeof((spec)->kept_stride));               \
        memcpy((spec)->reduced, (parts)[1].size, sizeof((spec)->reduced));                         \
        memcpy((spec)->stride, (parts)[1].stride, sizeof((spec)->stride));                         \
    } while (0)

/* The constants of shaders/common/reduce.glsl. */
static struct tdl_reduce_part team_of(const struct tdl_plan *plan, enum tdl_reduction reduction,
                                      const struct parts parts[2], uint32_t words)
{
    return tdl_reduce_part(.reduction = reduction,
                           .team = tdl_team_of(plan->device, words, parts[1].elements),
                           .neighbours = parts[1].stride[0] == 1, .count = parts[1].elements);
}

/* One dispatch. */
struct pass {
    struct tdl_operand *in, *out;
    enum tdl_dtype in_type, out_type;
    enum tdl_reduction reduction;
    struct parts parts[2];
    uint32_t slices; /* of each row, as results of their own */
    float scale;
};

static void add_pass(struct tdl_plan *plan, struct tdl_node *n, const struct pass *p)
{
    const uint32_t local = tdl_team_local(plan->device), results = p->parts[0].elements * p->slices;
    uint32_t words = TDL_DIV_UP(results, tdl_elements_per_word(p->out_type));
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "reduce", p->in_type, n, local, 1, 1);
    struct tdl_reduce_spec spec =
        tdl_reduce_spec(.reduce = team_of(plan, p->reduction, p->parts, words), .results = results,
                        .in_type = p->in_type, .out_type = p->out_type, .kept = {0},
                        .kept_stride = {0}, .reduced = {0}, .stride = {0}, .slices = p->slices,
                        .scale = p->scale);
    FILL_PARTS(&spec, p->parts);
    TDL_PLAN_SPECS(s, reduce, spec);
    tdl_plan_read(s, 0, p->in);
    tdl_plan_write(s, 1, p->out);
    tdl_plan_flat_groups(s, TDL_DIV_UP(words, local / spec.reduce.team));
}

/* How many slices of a row to reduce on their own, so that few long rows keep
 * the device busy. */
static uint32_t slices_of(const struct tdl_device_info *device, const struct parts parts[2])
{
    enum { LEAST = 16 }; /* steps of an invocation */
    const uint32_t team = tdl_team_local(device);
    uint64_t room = tdl_heuristics_of(device)->busy_teams / ((uint64_t)parts[0].elements * team);
    uint32_t slices = (uint32_t)TDL_MIN(room, parts[1].elements / (team * LEAST));
    if (slices < 2)
        return 1;
    /* None of them may be empty. */
    return TDL_DIV_UP(parts[1].elements, TDL_DIV_UP(parts[1].elements, slices));
}

/* Reductions of the slices, and then of these results. */
static enum tdl_reduction first_of(enum tdl_reduction r)
{
    return r == TDL_REDUCE_MEAN || r == TDL_REDUCE_LOG_SUM ? TDL_REDUCE_SUM : r;
}
static enum tdl_reduction second_of(enum tdl_reduction r)
{
    return r == TDL_REDUCE_L1 || r == TDL_REDUCE_SUM_SQUARE ? TDL_REDUCE_SUM : r;
}

/* The type of 4 or 8 bytes that the class of kernels has. */
static enum tdl_dtype whole_type(enum tdl_dtype dtype)
{
    return dtype == TDL_FLOAT16 ? TDL_FLOAT32
           : dtype == TDL_INT8  ? TDL_INT32
           : dtype == TDL_UINT8 ? TDL_UINT32
                                : dtype;
}

static void add_steps(struct tdl_plan *plan, struct tdl_node *n, enum tdl_reduction reduction,
                      uint32_t axes, struct tdl_operand *out, enum tdl_dtype out_type)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    struct pass p = {.in = n->inputs[0],
                     .out = out,
                     .in_type = in->dtype,
                     .out_type = out_type,
                     .reduction = reduction,
                     .slices = 1};
    split(in->shape, in->rank, axes, p.parts);
    p.scale = 1.0f / (float)p.parts[1].elements;
    const uint32_t results = p.parts[0].elements, slices = slices_of(plan->device, p.parts);
    if (slices > 1) {
        struct pass first = p;
        first.out_type = p.in_type = whole_type(in->dtype);
        first.out = p.in = tdl_plan_scratch(
            plan, TDL_ALIGN((uint64_t)results * slices * tdl_dtype_size(p.in_type), 16));
        if (!p.in)
            return;
        first.reduction = first_of(reduction);
        first.slices = slices;
        add_pass(plan, n, &first);
        p.reduction = second_of(reduction);
        split((const uint32_t[]){results, slices}, 2, 2, p.parts);
    }
    add_pass(plan, n, &p);
}

void tdl_reduce_rows(struct tdl_plan *plan, struct tdl_node *n, enum tdl_reduction reduction,
                     uint32_t axis, struct tdl_operand *out)
{
    add_steps(plan, n, reduction, 1u << axis, out, TDL_FLOAT32);
}

static enum tdl_result lower_packed(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = tdl_team_local(plan->device);
    struct tdl_dims d = tdl_operand_dims(n->inputs[0]), e = tdl_operand_dims(n->output);
    const uint32_t shape[] = {d.n, tdl_packs(d.c), d.h, d.w};
    uint32_t axes = 0;
    struct parts parts[2];
    for (uint32_t i = 0; i < 4; i++)
        if (n->attr.reduce.axes >> i & 1)
            axes |= 1u << tdl_pack_axis(n->inputs[0]->layout, i);
    split(shape, 4, axes, parts);
    uint32_t share = (d.n * d.h * d.w * d.c) / (e.n * e.h * e.w * e.c);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "reduce_packed", n, local, 1, 1);
    struct tdl_reduce_packed_spec spec =
        tdl_reduce_packed_spec(.reduce = team_of(plan, n->attr.reduce.reduction, parts,
                                                 parts[0].elements),
                               .results = parts[0].elements, .kept = {0}, .kept_stride = {0},
                               .reduced = {0}, .stride = {0}, .channels = d.c,
                               .across = axes >> TDL_PACK_C & 1, .pixels = d.h * d.w,
                               .out_pixels = e.h * e.w, .share = 1.0f / (float)share);
    FILL_PARTS(&spec, parts);
    TDL_PLAN_SPECS(s, reduce_packed, spec);
    return tdl_finish_step(s, plan, n, TDL_DIV_UP(parts[0].elements, local / spec.reduce.team));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_reduce_attr *p = &n->attr.reduce;
    if (n->storage == TDL_STORAGE_PACKED)
        return lower_packed(plan, n);
    add_steps(plan, n, p->reduction, p->axes, n->output, n->output->desc.dtype);
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && !(n->attr.reduce.axes & 1);
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    if (!n->attr.reduce.keep_dimensions &&
        !tdl_renumber_keeps_order(~n->attr.reduce.axes & 15, place))
        return false;
    n->attr.reduce.axes = tdl_renumber_axes(n->attr.reduce.axes, place);
    return true;
}

const struct tdl_op tdl_op_reduce = {
    .name = "reduce",
    .storage = TDL_STORAGE_EITHER,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
    .floats = true,
    .renumber = renumber,
};

/* An image may lie in packs, which have rank 4: the reduced dimensions stay
 * until after, so that only what is left of it has to leave them. */
static struct tdl_operand *add_image(struct tdl_builder *b, struct tdl_operand *input,
                                     union tdl_attr *attr)
{
    uint32_t shape[4], rank = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (!(attr->reduce.axes >> i & 1))
            shape[rank++] = input->desc.shape[i];
    attr->reduce.keep_dimensions = true;
    struct tdl_operand *kept = tdl_builder_add_node(b, &tdl_op_reduce, attr, &input, 1, 1);
    return kept ? tdl_builder_reshape(b, kept, rank, shape) : NULL;
}

struct tdl_operand *tdl_builder_reduce(struct tdl_builder *b, struct tdl_operand *input,
                                       enum tdl_reduction reduction,
                                       const struct tdl_reduce_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    struct tdl_reduce_params p = params ? *params : (struct tdl_reduce_params){0};
    union tdl_attr attr = {
        .reduce = {.reduction = reduction, .keep_dimensions = p.keep_dimensions}};
    if (tdl_builder_status(b) != TDL_OK ||
        !tdl_builder_known(b, &tdl_op_reduce, "reduction", reduction, TDL_REDUCE_LOG_SUM_EXP))
        return NULL;
    uint32_t rank = input ? input->desc.rank : 0;
    if (p.axis_count > rank)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: %u axes of %u dimensions",
                                names[reduction], p.axis_count, rank);
    for (uint32_t i = 0; i < p.axis_count; i++) {
        if (p.axes[i] >= rank || attr.reduce.axes >> p.axes[i] & 1)
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "%s: %s has no axis %u, or it is named twice", names[reduction],
                                    tdl_operand_text(input), p.axes[i]);
        attr.reduce.axes |= 1u << p.axes[i];
    }
    if (!p.axis_count)
        attr.reduce.axes = (1u << rank) - 1;
    if (input && !p.keep_dimensions && rank == 4 && tdl_is_float(input->desc.dtype))
        return add_image(b, input, &attr);
    return tdl_builder_add_node(b, &tdl_op_reduce, &attr, &input, 1, 1);
}
