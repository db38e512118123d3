/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operators take on a context: as the list has it, of the data types that the device has. */
#include "graph.h"

enum { DTYPES = TDL_UINT64 + 1, SLOTS = TDL_MAX_OPERATOR_OPERANDS };

#define TYPE(type) (1u << (type))
#define FLOAT32 TYPE(TDL_FLOAT32)
#define FLOATS (FLOAT32 | TYPE(TDL_FLOAT16))
#define BYTES TYPE(TDL_UINT8)
#define INT32 TYPE(TDL_INT32)
#define INDICES (INT32 | TYPE(TDL_UINT32) | TYPE(TDL_INT64))
#define QUANTIZED (INT32 | TYPE(TDL_UINT32) | TYPE(TDL_INT8) | BYTES)
#define WIDE (TYPE(TDL_INT64) | TYPE(TDL_UINT64))
#define INTEGERS (QUANTIZED | WIDE)
#define SIGNED (FLOATS | INT32 | TYPE(TDL_INT8) | TYPE(TDL_INT64))
#define SUMMED (FLOATS | INT32 | TYPE(TDL_UINT32) | WIDE)
#define ANY (FLOATS | INTEGERS)
#define RANK(rank) (1u << (rank))
#define RANKS(least, most) ((1u << ((most) + 1)) - (1u << (least)))

struct taken {
    const char *name; /* NULL: what the function gives */
    uint32_t dtypes, ranks;
    bool optional, constant;
};

/* clang-format off */
#define IN(name, dtypes, ranks) {#name, dtypes, ranks, false, false}
#define OPTIONAL(name, dtypes, ranks) {#name, dtypes, ranks, true, false}
#define CONSTANT(name, dtypes, ranks) {#name, dtypes, ranks, false, true}
#define OUT(dtypes, ranks) {NULL, dtypes, ranks, false, false}
/* clang-format on */
#define TDL_TAKES(function, ...) {#function, {__VA_ARGS__}},

static const struct function {
    const char *name;
    struct taken taken[SLOTS + 1]; /* the last is the output */
} functions[] = {
#include "ops/list.h"
};

/* -------------------------------------------------------------------- public */

const char *tdl_operator_name(uint32_t index)
{
    return index < TDL_COUNT(functions) ? functions[index].name : NULL;
}

static const struct function *find(const char *name)
{
    for (size_t i = 0; i < TDL_COUNT(functions); i++)
        if (!strcmp(functions[i].name, name))
            return &functions[i];
    return NULL;
}

static struct tdl_operand_limits limits_of(const struct taken *t, const char *name, uint32_t dtypes)
{
    return (struct tdl_operand_limits){.name = name,
                                       .dtypes = t->dtypes & dtypes,
                                       .ranks = t->ranks,
                                       .optional = t->optional,
                                       .constant = t->constant};
}

enum tdl_result tdl_context_get_operator_limits(struct tdl_context *context, const char *name,
                                                struct tdl_operator_limits *out)
{
    TDL_NEED(context, "context");
    TDL_NEED(name, "name");
    TDL_NEED(out, "out");
    const enum tdl_result r = tdl_context_check(context);
    const uint32_t dtypes = context->info.shader_int64 ? ANY : ANY & ~WIDE;
    *out = (struct tdl_operator_limits){.name = ""};
    const struct function *f = find(name);
    if (!f)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "there is no operator \"%s\"; tdl_operator_name() has their names", name);
    out->name = f->name;
    const struct taken *t = f->taken;
    for (; t->name; t++)
        out->operands[out->operand_count++] = limits_of(t, t->name, dtypes);
    out->output = limits_of(t, "output", dtypes);
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
