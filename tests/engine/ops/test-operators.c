/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operand limits that a context reports, against what its builders take: every reported type and
 * rank is built, every random call that was built had been reported, and every operator of the
 * header is tried.
 */
#include "examples.h"
#include "subject.h"

static struct tdl_context *ctx;

/* ---------------------------------------------------------------------- names */

/* Every function of the headers, several times (nulls.py); none is called here. */
#define RESULT(function, parameter, needed, call) function,
#define OPERAND(function, parameter, needed, call) function,
#define OTHER(function, parameter, needed, call)
#define NEWER_RESULT(function, parameter, call)
#define NEWER_OPERAND(function, parameter, call)
#define STRUCT(name, reserved)
static const char *const functions[] = {
#include "nulls.h"
};

/* Functions that append no operator, or one under another name. */
static const char *const others[] = {
    "create",   "status", "input",      "constant", "constant_tensor", "output", "evaluate",
    "build",    "stack",  "activation", "explain",  "set_dynamic",     "fail",   "resize",
    "set_remake"};

static bool has_name(const char *function)
{
    const char *name;
    const size_t length = strlen(function);
    for (size_t i = 0; i < COUNT(others); i++)
        if (!strcmp(function, others[i]))
            return true;
    for (uint32_t i = 0; (name = tdl_operator_name(i)); i++)
        if (!strcmp(function, name) ||
            (!strcmp(function, "reduce") && !strncmp(function, name, length)))
            return true;
    return false;
}

static void test_names(void)
{
    static const char prefix[] = "tdl_builder_";
    uint32_t builders = 0;
    check_begin("names");
    for (size_t i = 0; i < COUNT(functions); i++)
        if (!strncmp(functions[i], prefix, strlen(prefix))) {
            builders++;
            CHECK(has_name(functions[i] + strlen(prefix)), "%s is not in ops/list.h",
                  functions[i]);
        }
    CHECK(builders > 200, "%u calls: the list is not what it was", builders);
    struct tdl_operator_limits limits;
    FAILS(tdl_context_get_operator_limits(ctx, "convolution", &limits), TDL_ERROR_INVALID_ARGUMENT,
          "convolution");
    char text[1024];
    snprintf(text, sizeof(text), "%s", tdl_last_error());
    OK(tdl_context_get_operator_limits(ctx, "add", &limits));
    CHECK(!strcmp(tdl_last_error(), text), "\"%s\", where nothing has failed since \"%s\"",
          tdl_last_error(), text);
}

/* ------------------------------------------------------------------ random calls */

struct guess {
    struct tdl_tensor_params desc[TDL_MAX_OPERATOR_OPERANDS];
    bool there[TDL_MAX_OPERATOR_OPERANDS], constant[TDL_MAX_OPERATOR_OPERANDS];
};

/* Near to what fits: else nothing would be built. */
static void make_guess(const struct tdl_example *e, struct rng *rng, struct guess *g)
{
    const enum tdl_dtype common = subject_dtypes[rng_below(rng, 8)];
    const uint32_t rank = rng_below(rng, TDL_MAX_RANK + 1);
    const bool alike = rng_one_in(rng, 2);
    *g = (struct guess){.there = {false}};
    for (uint32_t i = 0; i < TDL_MAX_OPERATOR_OPERANDS && e->slots[i].name; i++) {
        const struct tdl_example_slot *s = &e->slots[i];
        struct tdl_tensor_params *p = &g->desc[i];
        p->dtype = rng_one_in(rng, 3) ? common
                   : rng_one_in(rng, 2) ? s->dtype : subject_dtypes[rng_below(rng, 8)];
        p->rank = alike ? rank : rng_one_in(rng, 3) ? rng_below(rng, TDL_MAX_RANK + 1) : s->rank;
        for (uint32_t d = 0; d < p->rank; d++)
            p->shape[d] = p->rank == s->rank && s->shape[0] ? s->shape[d]
                          : rng_one_in(rng, 8)              ? 1
                                                            : TDL_EXAMPLE_SIDE;
        if (p->rank && s->flags & TDL_EXAMPLE_TUPLES && !rng_one_in(rng, 4))
            p->shape[p->rank - 1] = 1;
        g->there[i] = !(s->flags & TDL_EXAMPLE_OPTIONAL) || rng_one_in(rng, 2);
        g->constant[i] = i && rng_one_in(rng, 2);
    }
}

static bool build_guess(const struct tdl_example *e, const struct guess *g,
                        struct tdl_tensor_params *out)
{
    static const uint64_t zeros[1 << 2 * TDL_MAX_RANK];
    struct tdl_operand *operands[TDL_MAX_OPERATOR_OPERANDS] = {NULL}, *y = NULL;
    struct tdl_builder *b;
    bool complete = true;
    OK(check_builder(ctx, &b));
    for (uint32_t i = 0; i < TDL_MAX_OPERATOR_OPERANDS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", i);
        if (g->there[i] && g->constant[i])
            operands[i] = tdl_builder_constant(b, &g->desc[i], zeros,
                                               tdl_tensor_params_size(&g->desc[i]));
        else if (g->there[i])
            operands[i] = tdl_builder_input(b, name, &g->desc[i]);
        complete = complete && (operands[i] || !g->there[i]);
    }
    if (complete)
        y = e->call(b, operands);
    const bool built = y && tdl_builder_output(b, "y", y) == TDL_OK &&
                       tdl_builder_explain(b, NULL, NULL, NULL) == TDL_OK;
    if (built)
        *out = *tdl_operand_get_desc(y);
    tdl_builder_destroy(&b);
    return built;
}

/* True if it was built. */
static bool check_guess(const struct tdl_example *e, const struct tdl_operator_limits *limits,
                        struct rng *rng)
{
    struct tdl_tensor_params out;
    struct guess g;
    make_guess(e, rng, &g);
    if (!build_guess(e, &g, &out))
        return false;
    CHECK((limits->output.dtypes >> out.dtype & 1) && (limits->output.ranks >> out.rank & 1),
          "it gives %s of rank %u, and was said not to", tdl_dtype_name(out.dtype), out.rank);
    for (uint32_t i = 0; i < limits->operand_count; i++) {
        const struct tdl_operand_limits *o = &limits->operands[i];
        if (!g.there[i])
            continue;
        CHECK(o->dtypes >> g.desc[i].dtype & 1, "%s takes %s, and was said not to", o->name,
              tdl_dtype_name(g.desc[i].dtype));
        CHECK(o->ranks >> g.desc[i].rank & 1, "%s takes rank %u, and was said not to", o->name,
              g.desc[i].rank);
        CHECK(!o->constant || g.constant[i] || !i, "%s was to be a constant", o->name);
    }
    return true;
}

static void test_guesses(uint64_t seed, long cases)
{
    const struct tdl_example *e;
    long built = 0, all = 0;
    for (uint32_t i = 0; (e = tdl_example_get(i)); i++) {
        struct tdl_operator_limits limits;
        struct rng rng = {seed + i};
        check_begin("%s, seed %llu", e->name, (unsigned long long)seed);
        OK(tdl_context_get_operator_limits(ctx, e->name, &limits));
        CHECK(!strcmp(limits.name, e->name) && limits.operand_count, "another operator");
        for (uint32_t j = 0; j < limits.operand_count; j++)
            CHECK(limits.operands[j].dtypes && limits.operands[j].ranks, "%s takes nothing",
                  limits.operands[j].name);
        CHECK(limits.output.dtypes && limits.output.ranks, "it gives nothing");
        for (long j = 0; j < cases; j++, all++)
            built += check_guess(e, &limits, &rng);
    }
    check_begin("guesses");
    CHECK(built * 20 > all, "%ld of %ld guesses were built: that tests little", built, all);
}

/* ------------------------------------------------------- what is named is taken */

/* A call with an operand of this data type and rank; the others follow where they have to be
 * alike, or do not. */
static struct guess make_call(const struct tdl_example *e, uint32_t slot, enum tdl_dtype dtype,
                              uint32_t rank, bool follow, bool constants)
{
    const struct tdl_example_slot *asked = &e->slots[slot];
    struct guess g = {.there = {false}};
    for (uint32_t i = 0; i < TDL_MAX_OPERATOR_OPERANDS && e->slots[i].name; i++) {
        const struct tdl_example_slot *s = &e->slots[i];
        const bool alike = (asked->flags & TDL_EXAMPLE_SAME_RANK || !slot) &&
                           (!i || s->flags & TDL_EXAMPLE_SAME_RANK);
        const bool moves = (asked->flags & TDL_EXAMPLE_SAME_TYPE || !slot) &&
                           (i == slot || !i || s->flags & TDL_EXAMPLE_SAME_TYPE);
        struct tdl_tensor_params *p = &g.desc[i];
        p->dtype = i == slot || (follow && moves) ? dtype : s->dtype;
        p->rank = i == slot || alike ? rank : s->rank;
        if (asked->flags & TDL_EXAMPLE_UPDATES && !rank && i < 2)
            p->rank = 1;
        if (s->flags & TDL_EXAMPLE_UPDATES)
            p->rank = g.desc[0].rank + g.desc[1].rank - 2;
        for (uint32_t d = 0; d < p->rank && d < TDL_MAX_RANK; d++)
            p->shape[d] = p->rank == s->rank && s->shape[0] ? s->shape[d] : TDL_EXAMPLE_SIDE;
        if (p->rank && p->rank <= TDL_MAX_RANK && s->flags & TDL_EXAMPLE_TUPLES)
            p->shape[p->rank - 1] = 1;
        g.there[i] = i == slot || !(s->flags & TDL_EXAMPLE_OPTIONAL);
        g.constant[i] = i && constants;
    }
    return g;
}

static bool is_taken(const struct tdl_example *e, uint32_t slot, enum tdl_dtype dtype,
                     uint32_t rank)
{
    for (int way = 0; way < 4; way++) {
        const struct guess g = make_call(e, slot, dtype, rank, way & 1, way & 2);
        struct tdl_tensor_params out;
        bool fits = true;
        for (uint32_t i = 0; i < TDL_MAX_OPERATOR_OPERANDS; i++)
            fits = fits && g.desc[i].rank <= TDL_MAX_RANK;
        if (fits && build_guess(e, &g, &out))
            return true;
    }
    return false;
}

static void check_operand(const struct tdl_example *e, uint32_t slot,
                          const struct tdl_operand_limits *o)
{
    const struct tdl_example_slot *s = &e->slots[slot];
    enum tdl_dtype some = s->dtype;
    CHECK(s->name && !strcmp(o->name, s->name), "operand %u is %s, and its example has %s", slot,
          o->name, s->name);
    CHECK(o->optional == !!(s->flags & TDL_EXAMPLE_OPTIONAL), "%s: optional", o->name);
    for (uint32_t i = 0; i <= TDL_UINT64; i++)
        if ((o->dtypes >> i & 1) && !(o->dtypes >> some & 1))
            some = (enum tdl_dtype)i;
    for (uint32_t i = 0; i <= TDL_UINT64; i++)
        CHECK(!(o->dtypes >> i & 1) || is_taken(e, slot, (enum tdl_dtype)i, s->rank),
              "%s does not take %s, and was said to", o->name, tdl_dtype_name((enum tdl_dtype)i));
    for (uint32_t i = 0; i <= TDL_MAX_RANK; i++)
        CHECK(!(o->ranks >> i & 1) || is_taken(e, slot, some, i),
              "%s does not take rank %u, and was said to", o->name, i);
}

static void test_named(void)
{
    const struct tdl_example *e;
    uint32_t i = 0;
    for (; (e = tdl_example_get(i)); i++) {
        struct tdl_operator_limits limits;
        check_begin("%s", e->name);
        CHECK(tdl_operator_name(i) && !strcmp(tdl_operator_name(i), e->name),
              "operator %u is %s by its name", i, tdl_operator_name(i));
        OK(tdl_context_get_operator_limits(ctx, e->name, &limits));
        for (uint32_t j = 0; j < limits.operand_count; j++)
            check_operand(e, j, &limits.operands[j]);
    }
    CHECK(!tdl_operator_name(i), "%s has no example in examples.c", tdl_operator_name(i));
}

/* ----------------------------------------------------------------------- facts */

#define FLOATS (1u << TDL_FLOAT32 | 1u << TDL_FLOAT16)
#define ANY 0xffu

/* From the comments of operators.h. */
static const struct fact {
    const char *op;
    uint32_t operand, dtypes, ranks;
    bool constant, optional;
} facts[] = {
    {"conv2d", 0, FLOATS, 1 << 4, false, false},
    {"conv2d", 2, FLOATS, 1 << 1, false, true},
    {"add", 1, ANY, 0x7f, false, false},
    {"logical_and", 0, 1u << TDL_UINT8, 0x7f, false, false},
    {"where", 2, 1u << TDL_UINT8, 0x7f, false, false},
    {"matmul", 0, FLOATS, 0x7c, false, false},
    {"gemm", 2, FLOATS, 0x7, false, true},
    {"gather", 1, 1u << TDL_INT32 | 1u << TDL_UINT32 | 1u << TDL_INT64, 0x7f, false, false},
    {"transpose", 0, ANY, 0x7f, false, false},
    {"reduce_max", 0, ANY, 0x7f, false, false},
    {"reduce_mean", 0, FLOATS, 0x7f, false, false},
    {"non_max_suppression", 0, 1u << TDL_FLOAT32, 0x7c, false, false},
    {"quantize_linear", 2,
     1u << TDL_INT8 | 1u << TDL_UINT8 | 1u << TDL_INT32 | 1u << TDL_UINT32, 0x7f, false, false},
};

static void test_facts(void)
{
    const uint32_t wide = 1u << TDL_INT64 | 1u << TDL_UINT64;
    for (size_t i = 0; i < COUNT(facts); i++) {
        const struct fact *f = &facts[i];
        const uint32_t dtypes = f->dtypes & ~(ctx->info.shader_int64 ? 0 : wide);
        struct tdl_operator_limits limits;
        OK(tdl_context_get_operator_limits(ctx, f->op, &limits));
        const struct tdl_operand_limits *o = &limits.operands[f->operand];
        check_begin("%s, %s", f->op, o->name);
        CHECK(o->dtypes == dtypes, "data types %#x, not %#x", o->dtypes, dtypes);
        CHECK(o->ranks == f->ranks, "ranks %#x, not %#x", o->ranks, f->ranks);
        CHECK(o->constant == f->constant && o->optional == f->optional, "constant or optional");
    }
}

static void test_context_limits(void)
{
    struct tdl_operator_limits add;
    struct tdl_limits limits;
    check_begin("limits");
    tdl_context_get_limits(ctx, &limits);
    CHECK(limits.max_rank == TDL_MAX_RANK && limits.max_inputs == TDL_MAX_INPUTS &&
              limits.max_outputs == TDL_MAX_OUTPUTS &&
              (limits.max_tensor_bytes >= 1 << 27 || !subject_has_kernels(ctx)) &&
              (!limits.max_value_bytes || limits.max_value_bytes >= 1 << 27),
          "ranks, inputs, outputs or sizes");
    CHECK((limits.max_planes >= 65535 && limits.max_batch_graphs == 250) ||
              (!subject_has_kernels(ctx) && !limits.max_planes && !limits.max_batch_graphs),
          "%u planes, %u graphs", limits.max_planes, limits.max_batch_graphs);
    CHECK(subject_has_kernels(ctx) || !limits.max_tensor_bytes, "a bound of %llu bytes",
          (unsigned long long)limits.max_tensor_bytes);
    OK(tdl_context_get_operator_limits(ctx, "add", &add));
    CHECK(limits.dtypes == add.operands[0].dtypes, "other data types than add's");

    check_begin("limits without integers of 64 bits");
    const bool has = ctx->info.shader_int64;
    ctx->info.shader_int64 = false;
    tdl_context_get_limits(ctx, &limits);
    OK(tdl_context_get_operator_limits(ctx, "add", &add));
    CHECK(limits.dtypes == 0x3f && add.operands[0].dtypes == 0x3f, "data types %#x, add's %#x",
          limits.dtypes, add.operands[0].dtypes);
    ctx->info.shader_int64 = has;
}

/* --------------------------------------------------------------------- explain */

struct steps {
    uint32_t count;
    char kernels[256];
};

static void note_step(void *data, const struct tdl_graph_step *step)
{
    struct steps *s = data;
    const size_t used = strlen(s->kernels);
    s->count++;
    snprintf(s->kernels + used, sizeof(s->kernels) - used, "%s;", step->kernel);
}

static void test_explain(void)
{
    struct steps told = {.count = 0}, want = {.count = 0};
    const struct tdl_graph_step *step;
    struct tdl_builder *b;
    struct tdl_graph *g;
    check_begin("explain");
    OK(check_builder(ctx, &b));
    FAILS(tdl_builder_explain(b, NULL, note_step, &told), TDL_ERROR_INVALID_STATE, "no output");
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1, 4, 4, 3));
    subject_output(b, tdl_builder_softmax(b, tdl_builder_max_pool2d(b, x, NULL), 3));
    OK(tdl_builder_explain(b, &(struct tdl_build_params){.no_fuse = true}, note_step, &told));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = true}, &g));
    for (uint32_t i = 0; (step = tdl_graph_get_step(g, i)); i++)
        note_step(&want, step);
    CHECK(told.count && told.count == want.count && !strcmp(told.kernels, want.kernels),
          "\"%s\", and built \"%s\"", told.kernels, want.kernels);
    tdl_graph_destroy(&g);
    OK(tdl_builder_explain(b, NULL, NULL, NULL));
    tdl_builder_destroy(&b);

    /* Why not. */
    OK(check_builder(ctx, &b));
    x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1, 4, 4, 3));
    subject_output(b, tdl_builder_softmax(b, x, 3));
    FAILS(tdl_builder_explain(b, &(struct tdl_build_params){.conv2d_algorithm = "direct"},
                              note_step, &told),
          TDL_ERROR_UNSUPPORTED, "direct");
    CHECK(strstr(tdl_builder_error(b), "direct"), "the builder: \"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 12);
    const uint64_t seed = check_seed(argc, argv, 2);
    ctx = check_context_open();
    test_names();
    test_named();
    test_guesses(seed, cases);
    test_facts();
    test_context_limits();
    test_explain();
    check_context_close(ctx);
    return check_result();
}
