/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Appending to a plan: steps, and the weights that these read. */
#include "plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tdl_plan_step *add_step(struct tdl_plan *plan, const char *shader,
                                      const char *variant, const struct tdl_node *node,
                                      const uint32_t local[3])
{
    const struct tdl_shader *kernel = tdl_shader_variant(shader, variant, node->chain.count > 0);
    if (plan->status == TDL_OK && !kernel)
        plan->status =
            tdl_fail(TDL_ERROR_UNSUPPORTED, "this build has no shader %s%s", shader, variant);
    if (plan->status != TDL_OK)
        return NULL;
    if (plan->step_count == plan->step_capacity) {
        uint32_t capacity = plan->step_capacity ? plan->step_capacity * 2 : 64;
        struct tdl_plan_step *steps = realloc(plan->steps, capacity * sizeof(*steps));
        if (!steps) {
            plan->status = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
            return NULL;
        }
        plan->steps = steps;
        plan->step_capacity = capacity;
    }
    struct tdl_plan_step *s = &plan->steps[plan->step_count++];
    memset(s, 0, sizeof(*s));
    s->plan = plan;
    s->kernel = kernel;
    snprintf(s->label, sizeof(s->label), "%s", node->label);
    s->macs = node->op->macs ? node->op->macs(node) : 0;
    s->stem = shader;
    s->spec_count = 3;
    memcpy(s->spec, local, 3 * sizeof(*local));
    tdl_plan_chain(s, &node->chain);
    return s;
}

struct tdl_plan_step *tdl_plan_add_step(struct tdl_plan *plan, const char *shader,
                                        const struct tdl_node *node, uint32_t local_x,
                                        uint32_t local_y, uint32_t local_z)
{
    return add_step(plan, shader, plan->storage == TDL_FLOAT16 ? "_f16" : "_f32", node,
                    (const uint32_t[]){local_x, local_y, local_z});
}

struct tdl_plan_step *tdl_plan_add_linear_step(struct tdl_plan *plan, const char *shader,
                                               enum tdl_dtype dtype, const struct tdl_node *node,
                                               uint32_t local_x, uint32_t local_y, uint32_t local_z)
{
    static const char *const variants[] = {
        [TDL_FLOAT32] = "_float", [TDL_FLOAT16] = "_float", [TDL_INT32] = "_int",
        [TDL_INT8] = "_int",      [TDL_UINT32] = "_uint",   [TDL_UINT8] = "_uint",
        [TDL_INT64] = "_i64",     [TDL_UINT64] = "_u64",
    };
    bool wide = dtype == TDL_INT64 || dtype == TDL_UINT64;
    if (plan->status == TDL_OK && wide && !plan->device->shader_int64)
        plan->status = tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: %s needs shaderInt64, which %s lacks",
                                node->label, tdl_dtype_name(dtype), plan->device->name);
    return add_step(plan, shader, variants[dtype], node,
                    (const uint32_t[]){local_x, local_y, local_z});
}

void tdl_plan_flat_groups(struct tdl_plan_step *s, uint64_t count)
{
    uint64_t rows = TDL_DIV_UP(count, TDL_LEAST_GROUPS);
    tdl_plan_groups(s, (uint32_t)TDL_DIV_UP(count, rows), (uint32_t)rows, 1);
}

void tdl_plan_linear_groups(struct tdl_plan_step *s, const struct tdl_operand *o)
{
    uint64_t size = tdl_tensor_params_size(&o->desc), element = tdl_dtype_size(o->desc.dtype);
    if (s)
        tdl_plan_flat_groups(s, TDL_DIV_UP(size, TDL_MAX(element, 4) * s->spec[0]));
}

void tdl_plan_chain(struct tdl_plan_step *s, const struct tdl_chain *chain)
{
    if (!s || !chain->count)
        return;
    s->chain[0] = chain->count;
    s->chain_count = 1 + 3 * chain->count;
    for (uint32_t i = 0; i < chain->count; i++) {
        s->chain[1 + 3 * i] = chain->stages[i].function;
        memcpy(&s->chain[2 + 3 * i], &chain->stages[i].a, sizeof(uint32_t));
        memcpy(&s->chain[3 + 3 * i], &chain->stages[i].b, sizeof(uint32_t));
    }
}

void tdl_plan_specs(struct tdl_plan_step *s, const char *kernel, const void *spec, size_t size)
{
    if (!s)
        return;
    assert(!strcmp(s->stem, kernel) && s->spec_count == 3);
    memcpy(&s->spec[3], spec, size);
    s->spec_count += (uint32_t)(size / sizeof(uint32_t));
}

static void bind_operand(struct tdl_plan_step *s, uint32_t binding, struct tdl_operand *o,
                         bool write)
{
    if (!s)
        return;
    o = tdl_operand_root(o);
    assert(s->kernel->binds >> binding & 1);
    s->binds[binding] =
        (struct tdl_plan_bind){.kind = TDL_PLAN_BIND_OPERAND, .operand = o, .write = write};
    s->bytes += o->size;
}

/* Packs of `storage`: [image][pack][pixel][4]. */
static void fill_packs(const struct tdl_operand *o, enum tdl_dtype storage, void *packs)
{
    const struct tdl_dims d = tdl_operand_dims(o);
    const uint64_t pixels = (uint64_t)d.h * d.w;
    const bool nchw = o->layout == TDL_LAYOUT_NCHW;
    for (uint64_t i = 0; i < d.n; i++)
        for (uint64_t c = 0; c < d.c; c++)
            for (uint64_t p = 0; p < pixels; p++) {
                const uint64_t from = (i * d.c + (nchw ? c : 0)) * pixels;
                const uint64_t at = from + (nchw ? p : p * d.c + c);
                const uint64_t to = ((i * tdl_packs(d.c) + c / 4) * pixels + p) * 4 + c % 4;
                const float v = o->desc.dtype == TDL_FLOAT16
                                    ? tdl_half_to_float(((const uint16_t *)o->data)[at])
                                    : ((const float *)o->data)[at];
                if (storage == TDL_FLOAT16)
                    ((uint16_t *)packs)[to] = tdl_float_to_half(v);
                else
                    ((float *)packs)[to] = v;
            }
}

static uint64_t packs_size(const struct tdl_operand *o, enum tdl_dtype storage)
{
    const struct tdl_dims d = tdl_operand_dims(o);
    return 4 * tdl_dtype_size(storage) * (uint64_t)d.n * tdl_packs(d.c) * d.h * d.w;
}

/* As they are, or in packs; a second reader gets the same ones, and so does one of another
 * constant that has the same bytes. */
static void bind_constant(struct tdl_plan_step *s, uint32_t binding, struct tdl_operand *o)
{
    const bool packed = o->storage == TDL_STORAGE_PACKED;
    const uint64_t size =
        packed ? packs_size(o, s->plan->storage) : tdl_tensor_params_size(&o->desc);
    const uint64_t data = (uintptr_t)(o->compact ? (const void *)o->compact : o->data);
    const struct tdl_dims d = tdl_operand_dims(o);
    struct tdl_weights_key key = {
        .layout = TDL_WEIGHTS_LAYOUT(bind_constant),
        .params = {(uint32_t)data, (uint32_t)(data >> 32), (uint32_t)size, (uint32_t)(size >> 32)}};
    if (packed) {
        const uint32_t shape[] = {1, o->layout, d.n, d.c, d.h, d.w};
        memcpy(key.params + 4, shape, sizeof(shape));
    }
    o->size = TDL_ALIGN(size, 16);
    float *w = tdl_plan_weights(s->plan, s, binding, o->size / sizeof(float), &key);
    if (w && packed)
        fill_packs(o, s->plan->storage, w);
    else if (w)
        memcpy(w, o->data, size);
}

void tdl_plan_read(struct tdl_plan_step *s, uint32_t binding, struct tdl_operand *operand)
{
    operand = tdl_operand_root(operand);
    if (s && operand->kind == TDL_OPERAND_CONSTANT)
        bind_constant(s, binding, operand);
    else
        bind_operand(s, binding, operand, false);
}

void tdl_plan_write(struct tdl_plan_step *s, uint32_t binding, struct tdl_operand *operand)
{
    bind_operand(s, binding, operand, true);
}

/* Weights stay in proportion to the constants that were given, too: kernels want
 * them filled up to packs and tiles, Winograd's are four times as many. */
enum { WEIGHT_TIMES = 32 };
#define WEIGHT_FREE ((uint64_t)32 << 20)

static bool reserve_weights(struct tdl_plan *plan, const struct tdl_plan_step *s, uint64_t count)
{
    const uint64_t bytes = count * sizeof(float);
    const uint64_t limit = WEIGHT_TIMES * plan->ir->budget.given + WEIGHT_FREE;
    uint64_t capacity = TDL_MIN(plan->weight_capacity * 2, limit / sizeof(float));
    capacity = TDL_MAX(capacity, count);
    if (count <= plan->weight_capacity)
        return true;
    if (bytes > limit)
        plan->status = tdl_fail(TDL_ERROR_UNSUPPORTED,
                                "%s: as its kernels want them, the weights are more than %llu "
                                "bytes; the model has %llu of constants",
                                s->label, (unsigned long long)bytes,
                                (unsigned long long)plan->ir->budget.given);
    float *weights =
        plan->status == TDL_OK ? realloc(plan->weights, capacity * sizeof(float)) : NULL;
    if (!weights) {
        if (plan->status == TDL_OK)
            plan->status = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory for %llu weights",
                                    (unsigned long long)count);
        return false;
    }
    plan->weights = weights;
    plan->weight_capacity = capacity;
    return true;
}

/* Room for one more. */
static bool reserve_block(struct tdl_plan *plan)
{
    if (plan->block_count < plan->block_capacity)
        return true;
    const uint32_t capacity = plan->block_capacity ? 2 * plan->block_capacity : 64;
    struct tdl_plan_block *blocks = realloc(plan->blocks, capacity * sizeof(*blocks));
    if (!blocks) {
        plan->status = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
        return false;
    }
    plan->blocks = blocks;
    plan->block_capacity = capacity;
    return true;
}

float *tdl_plan_weights(struct tdl_plan *plan, struct tdl_plan_step *s, uint32_t binding,
                        uint64_t count, const struct tdl_weights_key *key)
{
    const struct {
        struct tdl_weights_key key;
        uint64_t count;
    } id = {*key, count};
    _Static_assert(sizeof(id) <= TDL_MAP_KEY, "the key is cut");
    if (!s || plan->status != TDL_OK)
        return NULL;
    const uint64_t *found = tdl_map_find(&plan->shared_weights, &id, sizeof(id));
    const uint32_t block = found ? (uint32_t)*found : plan->block_count;
    uint64_t start = TDL_ALIGN(plan->weight_count, TDL_PLAN_ALIGNMENT / sizeof(float));
    if (found)
        start = plan->blocks[block].offset / sizeof(float);
    uint64_t end = start + count, guard = plan->guard / sizeof(float);
    if (!found && (!reserve_weights(plan, s, end + guard) || !reserve_block(plan)))
        return NULL;
    assert(s->kernel->binds >> binding & 1);
    s->binds[binding] = (struct tdl_plan_bind){.kind = TDL_PLAN_BIND_WEIGHTS,
                                               .offset = start * sizeof(float),
                                               .size = count * sizeof(float),
                                               .block = block};
    s->bytes += count * sizeof(float);
    if (found)
        return NULL;
    memset(plan->weights + plan->weight_count, 0, (end - plan->weight_count) * sizeof(float));
    /* Bytes of ones are NaN, in float32 and in float16. */
    memset(plan->weights + end, 0xff, guard * sizeof(float));
    plan->weight_count = end + guard;
    plan->blocks[plan->block_count++] =
        (struct tdl_plan_block){start * sizeof(float), (count + guard) * sizeof(float)};
    if (!tdl_map_add(&plan->shared_weights, &id, sizeof(id), block))
        plan->status = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
    return plan->status == TDL_OK ? plan->weights + start : NULL;
}

struct tdl_operand *tdl_plan_scratch(struct tdl_plan *plan, uint64_t bytes)
{
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = 1};
    struct tdl_operand *o = NULL;
    if (plan->status != TDL_OK)
        return NULL;
    desc.shape[0] = (uint32_t)(bytes / sizeof(float));
    if (bytes > UINT32_MAX)
        plan->status = tdl_fail(TDL_ERROR_UNSUPPORTED,
                                "%llu bytes for intermediate results are "
                                "more than 4 GiB",
                                (unsigned long long)bytes);
    else if (!(o = tdl_ir_add_operand(plan->ir, TDL_OPERAND_VALUE, &desc)))
        plan->status = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
    else
        o->size = bytes;
    return o;
}

void tdl_plan_groups(struct tdl_plan_step *s, uint32_t x, uint32_t y, uint32_t z)
{
    if (!s)
        return;
    s->groups[0] = x;
    s->groups[1] = y;
    s->groups[2] = z;
}

void tdl_plan_shared(struct tdl_plan_step *s, uint64_t bytes)
{
    if (s)
        s->shared_bytes = bytes;
}

void tdl_plan_finish(struct tdl_plan *plan)
{
    free(plan->steps);
    free(plan->weights);
    free(plan->blocks);
    tdl_map_finish(&plan->shared_weights);
    tdl_ir_destroy(&plan->ir);
    memset(plan, 0, sizeof(*plan));
}
