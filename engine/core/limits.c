/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find what operators take on a context. No table says so: an operator's checks lie in its
 * function, in what it infers, in how it is lowered, and in the device. So a graph is built
 * for each data type and each rank of an operand; those that build are supported.
 */
#include "graph.h"
#include "examples.h"

#include "ir/builder.h"

#include <stdio.h>

enum { DTYPES = TDL_UINT64 + 1, RANKS = TDL_MAX_RANK + 1, SLOTS = TDL_MAX_OPERATOR_OPERANDS };

/* One way to call an operator. */
struct trial {
    const struct tdl_example *example;
    struct {
        enum tdl_dtype dtype;
        uint32_t rank;
        bool there, constant;
    } slots[SLOTS];
    struct tdl_tensor_params output; /* if it was built */
};

static uint32_t count_slots(const struct tdl_example *e)
{
    uint32_t count = 0;
    while (count < SLOTS && e->slots[count].name)
        count++;
    return count;
}

/* Shapes follow from the ranks; false where there would be too many dimensions. */
static bool describe(const struct trial *t, uint32_t slot, struct tdl_tensor_params *out)
{
    const struct tdl_example_slot *s = &t->example->slots[slot];
    uint32_t rank = t->slots[slot].rank;
    if (s->flags & TDL_EXAMPLE_UPDATES)
        rank = t->slots[0].rank + t->slots[1].rank - 2;
    if (rank > TDL_MAX_RANK)
        return false;
    *out = (struct tdl_tensor_params){.dtype = t->slots[slot].dtype, .rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        out->shape[i] = rank == s->rank && s->shape[0] ? s->shape[i] : TDL_EXAMPLE_SIDE;
    if (rank && s->flags & TDL_EXAMPLE_TUPLES)
        out->shape[rank - 1] = 1;
    return true;
}

/* 8 bytes for each element of the largest operand. */
static const uint64_t zeros[1 << 2 * TDL_MAX_RANK];

static struct tdl_operand *make_operand(struct tdl_builder *b, const struct trial *t, uint32_t slot)
{
    struct tdl_tensor_params desc;
    char name[16];
    if (!describe(t, slot, &desc))
        return NULL;
    snprintf(name, sizeof(name), "%u", slot);
    return t->slots[slot].constant
               ? tdl_builder_constant(b, &desc, zeros, tdl_tensor_params_size(&desc))
               : tdl_builder_input(b, name, &desc);
}

/* Without the context, which would be told of each that is refused. */
static bool call(struct tdl_builder *b, struct trial *t)
{
    struct tdl_operand *operands[SLOTS] = {NULL};
    for (uint32_t i = 0; i < SLOTS; i++)
        if (t->slots[i].there && !(operands[i] = make_operand(b, t, i)))
            return false;
    struct tdl_operand *output = t->example->call(b, operands);
    if (!output || tdl_builder_output(b, "y", output) != TDL_OK)
        return false;
    t->output = *tdl_operand_get_desc(output);
    return true;
}

static enum tdl_result try(struct tdl_context *ctx, struct trial *t, bool *out_taken)
{
    const struct tdl_build_params params = {.defer_compile = true};
    const struct tdl_plan_policy policy = {.forced = NULL};
    struct tdl_builder *b = NULL;
    struct tdl_graph *g = NULL;
    enum tdl_result r = tdl_builder_create(NULL, &b);
    *out_taken = r == TDL_OK && call(b, t);
    if (*out_taken) {
        b->ctx = tdl_context_ref(ctx);
        r = tdl_builder_build_by(b, &params, 0, &policy, &g);
        *out_taken = r == TDL_OK;
    } else if (r == TDL_OK) {
        r = tdl_builder_status(b);
    }
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
    return r == TDL_ERROR_OUT_OF_MEMORY || r == TDL_ERROR_DEVICE_LOST ? r : TDL_OK;
}

/* With what may be constant as such, and with all of them computed. */
static enum tdl_result try_both(struct tdl_context *ctx, struct trial *t, uint32_t computed,
                                bool *out_taken)
{
    enum tdl_result r = TDL_OK;
    *out_taken = false;
    for (int constants = 0; constants < 2 && !*out_taken && r == TDL_OK; constants++) {
        for (uint32_t i = 1; i < SLOTS; i++)
            t->slots[i].constant = constants && i != computed;
        r = try(ctx, t, out_taken);
    }
    return r;
}

/* An example with an operand of this data type and rank; the others follow where they
 * have to be alike, or do not. */
static enum tdl_result ask(struct tdl_context *ctx, const struct tdl_example *e, uint32_t slot,
                           enum tdl_dtype dtype, uint32_t rank, uint32_t computed,
                           struct tdl_operator_limits *out, bool *out_taken)
{
    enum tdl_result r = TDL_OK;
    *out_taken = false;
    for (int follow = 0; follow < 2 && !*out_taken && r == TDL_OK; follow++) {
        struct trial t = {.example = e};
        for (uint32_t i = 0; i < out->operand_count; i++) {
            const struct tdl_example_slot *s = &e->slots[i];
            const bool same_type = i == slot || !i || s->flags & TDL_EXAMPLE_SAME_TYPE;
            const bool alike = (e->slots[slot].flags & TDL_EXAMPLE_SAME_RANK || !slot) &&
                               (!i || s->flags & TDL_EXAMPLE_SAME_RANK);
            const bool moves = (e->slots[slot].flags & TDL_EXAMPLE_SAME_TYPE || !slot) && same_type;
            t.slots[i].dtype = i == slot || (follow && moves) ? dtype : s->dtype;
            t.slots[i].rank = i == slot || alike ? rank : s->rank;
            t.slots[i].there = i == slot || !(s->flags & TDL_EXAMPLE_OPTIONAL);
        }
        if (e->slots[slot].flags & TDL_EXAMPLE_UPDATES && !rank)
            t.slots[0].rank = t.slots[1].rank = 1;
        r = try_both(ctx, &t, computed, out_taken);
        if (*out_taken) {
            out->output.dtypes |= 1u << t.output.dtype;
            out->output.ranks |= 1u << t.output.rank;
        }
    }
    return r;
}

static enum tdl_result ask_operand(struct tdl_context *ctx, const struct tdl_example *e,
                                   uint32_t slot, struct tdl_operator_limits *out)
{
    const struct tdl_example_slot *s = &e->slots[slot];
    struct tdl_operand_limits *limits = &out->operands[slot];
    bool taken;
    enum tdl_result r = TDL_OK;
    *limits = (struct tdl_operand_limits){.name = s->name,
                                          .optional = (s->flags & TDL_EXAMPLE_OPTIONAL) != 0};
    for (uint32_t i = 0; i < DTYPES && r == TDL_OK; i++) {
        if ((i == TDL_INT64 || i == TDL_UINT64) && !ctx->info.shader_int64)
            continue;
        r = ask(ctx, e, slot, (enum tdl_dtype)i, s->rank, SLOTS, out, &taken);
        limits->dtypes |= (uint32_t)taken << i;
    }
    /* One that it takes, for what it takes depends on it. */
    enum tdl_dtype dtype = s->dtype;
    for (uint32_t i = DTYPES; i-- > 0 && !(limits->dtypes >> s->dtype & 1);)
        if (limits->dtypes >> i & 1)
            dtype = (enum tdl_dtype)i;
    for (uint32_t i = 0; i < RANKS && r == TDL_OK; i++) {
        r = ask(ctx, e, slot, dtype, i, SLOTS, out, &taken);
        limits->ranks |= (uint32_t)taken << i;
    }
    if (slot && r == TDL_OK) {
        r = ask(ctx, e, slot, dtype, s->rank, slot, out, &taken);
        limits->constant = !taken;
    }
    return r;
}

/* -------------------------------------------------------------------- public */

const char *tdl_operator_name(uint32_t index)
{
    const struct tdl_example *e = tdl_example_get(index);
    return e ? e->name : NULL;
}

enum tdl_result tdl_context_get_operator_limits(struct tdl_context *context, const char *name,
                                                struct tdl_operator_limits *out)
{
    TDL_NEED(context, "context");
    TDL_NEED(name, "name");
    TDL_NEED(out, "out");
    const struct tdl_example *e = NULL;
    enum tdl_result r = tdl_context_check(context);
    char text[1024]; /* the last error, which is none of the trials' */
    snprintf(text, sizeof(text), "%s", tdl_last_error());
    *out = (struct tdl_operator_limits){.name = ""};
    for (uint32_t i = 0; (e = tdl_example_get(i)) && strcmp(e->name, name) != 0;)
        i++;
    if (!e)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "there is no operator \"%s\"; tdl_operator_name() has their names", name);
    out->name = e->name;
    out->operand_count = count_slots(e);
    out->output.name = "output";
    for (uint32_t i = 0; i < out->operand_count && r == TDL_OK; i++)
        r = ask_operand(context, e, i, out);
    if (r == TDL_OK)
        tdl_fail(r, "%s", text);
    return tdl_logged(context, r);
}

/* 0 where what there are addresses for does. */
static uint64_t bound(const struct tdl_context *context)
{
    const uint64_t bytes = context->info.max_buffer_bytes;
    return bytes < SIZE_MAX / 2 ? bytes : 0;
}

void tdl_context_get_limits(struct tdl_context *context, struct tdl_limits *out)
{
    if (!out)
        return;
    *out = (struct tdl_limits){.max_rank = context ? TDL_MAX_RANK : 0};
    if (!context)
        return;
    *out = (struct tdl_limits){
        .max_rank = TDL_MAX_RANK,
        .max_inputs = TDL_MAX_INPUTS,
        .max_outputs = TDL_MAX_OUTPUTS,
        .dtypes = (1u << DTYPES) - 1,
        .max_tensor_bytes = bound(context),
        .max_value_bytes = bound(context),
    };
    if (!context->info.shader_int64)
        out->dtypes &= ~(1u << TDL_INT64 | 1u << TDL_UINT64);
    if (context->on->context_limits)
        context->on->context_limits(context, out);
}

enum tdl_result tdl_builder_explain(struct tdl_builder *builder,
                                    const struct tdl_build_params *params, tdl_step_fn report,
                                    void *report_data)
{
    TDL_NEED(builder, "builder");
    TDL_NEED_KNOWN(params);
    struct tdl_build_params deferred = params ? *params : (struct tdl_build_params){0};
    struct tdl_graph *g = NULL;
    deferred.defer_compile = true;
    const enum tdl_result r = tdl_builder_build(builder, &deferred, &g);
    for (uint32_t i = 0; g && report && i < g->step_count; i++)
        report(report_data, &g->steps[i]);
    tdl_graph_destroy(&g);
    return r;
}
