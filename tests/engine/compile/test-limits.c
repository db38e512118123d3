/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs on the smallest device that Vulkan allows: workgroups of 128
 * invocations, 16 KiB of shared memory, 65535 workgroups either way. What a
 * kernel asks for is read from its SPIR-V with the step's constants, so that
 * the plan cannot believe itself; and results have to stay right.
 */
#include "random-graph.h"

#include <vulkan/context.h>

enum { INVOCATIONS = 128, SHARED_MEMORY = 16384 };

/* ------------------------------------------------------------------- SPIR-V */

/* The Khronos numbers of what kernels' array sizes are made of. */
enum {
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT_FALSE = 42,
    OP_CONSTANT = 43,
    OP_SPEC_CONSTANT = 50,
    OP_SPEC_CONSTANT_COMPOSITE = 51,
    OP_SPEC_CONSTANT_OP = 52,
    OP_VARIABLE = 59,
    OP_DECORATE = 71,
    OP_COMPOSITE_EXTRACT = 81,
    OP_I_ADD = 128,
    OP_I_SUB = 130,
    OP_I_MUL = 132,
    OP_U_DIV = 134,
    OP_U_MOD = 137,
    OP_SELECT = 169,
    OP_I_EQUAL = 170,
    OP_I_NOT_EQUAL = 171,
    OP_U_GREATER_THAN = 172,
    OP_U_GREATER_THAN_EQUAL = 174,
    OP_U_LESS_THAN = 176,
    OP_U_LESS_THAN_EQUAL = 178,
    DECORATION_SPEC_ID = 1,
    STORAGE_WORKGROUP = 4,
};

/* An id of SPIR-V. Types have their size in bytes, constants their value. */
struct value {
    uint32_t spec_id; /* + 1; 0: none */
    uint64_t number;
    const uint32_t *members; /* members of a composite, or the pointer's target */
};

static uint64_t fold(const struct value *v, const uint32_t *op)
{
    const uint64_t a = v[op[1]].number, b = v[op[2]].number;
    switch (op[0]) {
    case OP_COMPOSITE_EXTRACT:
        return v[v[op[1]].members[op[2]]].number;
    case OP_I_ADD:
        return (uint32_t)(a + b);
    case OP_I_SUB:
        return (uint32_t)(a - b);
    case OP_I_MUL:
        return (uint32_t)(a * b);
    case OP_U_DIV:
        return b ? a / b : 0;
    case OP_U_MOD:
        return b ? a % b : 0;
    case OP_SELECT:
        return a ? b : v[op[3]].number;
    case OP_I_EQUAL:
        return a == b;
    case OP_I_NOT_EQUAL:
        return a != b;
    case OP_U_GREATER_THAN:
        return a > b;
    case OP_U_GREATER_THAN_EQUAL:
        return a >= b;
    case OP_U_LESS_THAN:
        return a < b;
    case OP_U_LESS_THAN_EQUAL:
        return a <= b;
    default:
        return 0; /* no size of an array uses it; else the sizes come out wrong */
    }
}

/* Bytes of shared memory that one instruction adds. */
static uint64_t read_instruction(struct value *v, uint32_t op, const uint32_t *w,
                                 const uint32_t *spec, uint32_t spec_count)
{
    switch (op) {
    case OP_DECORATE:
        if (w[1] == DECORATION_SPEC_ID)
            v[w[0]].spec_id = w[2] + 1;
        break;
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT:
        v[w[0]].number = w[1] / 8;
        break;
    case OP_TYPE_VECTOR:
        v[w[0]].number = v[w[1]].number * w[2];
        break;
    case OP_TYPE_ARRAY:
        v[w[0]].number = v[w[1]].number * v[w[2]].number;
        break;
    case OP_TYPE_POINTER:
        v[w[0]].members = &w[2];
        break;
    case OP_CONSTANT_TRUE:
    case OP_CONSTANT_FALSE:
        v[w[1]].number = op == OP_CONSTANT_TRUE;
        break;
    case OP_CONSTANT:
        v[w[1]].number = w[2];
        break;
    case OP_SPEC_CONSTANT: {
        uint32_t id = v[w[1]].spec_id;
        v[w[1]].number = id && id <= spec_count ? spec[id - 1] : w[2];
        break;
    }
    case OP_SPEC_CONSTANT_COMPOSITE:
        v[w[1]].members = &w[2];
        break;
    case OP_SPEC_CONSTANT_OP:
        v[w[1]].number = fold(v, &w[2]);
        break;
    case OP_VARIABLE:
        return w[2] == STORAGE_WORKGROUP ? v[*v[w[0]].members].number : 0;
    }
    return 0;
}

static uint64_t shared_memory(const struct tdl_shader *shader, const uint32_t *spec,
                              uint32_t spec_count)
{
    const uint32_t *code = shader->code, words = (uint32_t)(shader->size / 4);
    struct value *values = calloc(code[3], sizeof(*values));
    uint64_t bytes = 0;
    REQUIRE(values, "out of memory");
    for (uint32_t at = 5; at < words && code[at] >> 16; at += code[at] >> 16)
        bytes += read_instruction(values, code[at] & 0xffff, &code[at + 1], spec, spec_count);
    free(values);
    return bytes;
}

/* ------------------------------------------------------------------- checks */

static void check_step(const struct tdl_plan_step *s)
{
    const uint32_t *local = s->spec;
    const uint64_t shared = shared_memory(s->kernel, s->spec, s->spec_count);
    CHECK(local[0] * local[1] * local[2] <= INVOCATIONS && local[0] * local[1] * local[2] > 0,
          "%s: workgroups of %ux%ux%u invocations", s->kernel->name, local[0], local[1], local[2]);
    CHECK(shared <= SHARED_MEMORY, "%s: %llu bytes of shared memory", s->kernel->name,
          (unsigned long long)shared);
    CHECK(shared == s->shared_bytes, "%s: %llu bytes of shared memory, planned %llu",
          s->kernel->name, (unsigned long long)shared, (unsigned long long)s->shared_bytes);
    for (int i = 0; i < 3; i++)
        CHECK(s->groups[i] >= 1 && s->groups[i] <= 65535, "%s: %u workgroups", s->kernel->name,
              s->groups[i]);
}

/* How many steps have this kernel. */
static uint32_t count_steps(struct tdl_graph *g, const char *kernel)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->plan.step_count; i++)
        count += !strncmp(g->plan.steps[i].kernel->name, kernel, strlen(kernel));
    return count;
}

/* Compiling takes long: one graph of twelve is computed in a run, others in others. */
static bool is_computed(void)
{
    static uint64_t seed, graph;
    if (!graph)
        seed = check_seed(0, NULL, 0);
    return (seed + graph++) % check_stride(12) == 0;
}

/* Check the kernels, chosen as for a GPU and as for a CPU, and what they compute.
 * Takes the builder over. */
static void run(struct tdl_context *ctx, struct tdl_builder *b, const char *kernel, uint32_t count)
{
    const struct tdl_build_params params = {.precision = TDL_PRECISION_FP32};
    const struct tdl_build_params planned = {.precision = TDL_PRECISION_FP32,
                                             .defer_compile = true};
    const bool computed = is_computed();
    struct rng rng = {7};
    struct subject s;
    subject_open(&s, ctx, b, &rng);
    for (int gpu = 0; gpu < 2; gpu++) {
        struct tdl_graph *g;
        subject_pretend_gpu(ctx, gpu);
        OK(tdl_builder_build(b, &planned, &g));
        for (uint32_t i = 0; i < g->plan.step_count; i++)
            check_step(&g->plan.steps[i]);
        if (kernel && gpu)
            CHECK(count_steps(g, kernel) == count, "%u steps of %s, expected %u",
                  count_steps(g, kernel), kernel, count);
        tdl_graph_destroy(&g);
        if (computed)
            subject_run(&s, &params);
    }
    subject_close(&s);
}

/* -------------------------------------------------------------------- graphs */

static struct tdl_operand *image(struct tdl_builder *b, uint32_t h, uint32_t w, uint32_t c)
{
    struct tdl_tensor_params desc = subject_image(TDL_LAYOUT_NHWC, 1, h, w, c);
    return tdl_builder_input(b, "input", &desc);
}

static struct tdl_operand *conv(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                uint32_t out, uint32_t k, uint32_t stride, bool depthwise)
{
    const uint32_t in = subject_dims(x).c;
    return tdl_builder_conv2d(b, x, subject_filter(b, rng, out, k, k, depthwise ? 1 : in),
                              &(struct tdl_conv2d_params){
                                  .stride = {stride, stride},
                                  .padding = TDL_PADDING_SAME_UPPER,
                                  .groups = depthwise ? in : 1,
                                  .activation = TDL_ACTIVATION_RELU,
                                  .bias = subject_bias(b, rng, out),
                              });
}

static struct tdl_builder *open_builder(struct tdl_context *ctx)
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    return b;
}

/* A gate fits one workgroup, which has its weights read in time, or is not made. */
static void test_gates(struct tdl_context *ctx)
{
    static const struct {
        uint32_t channels, middle;
        bool fits;
    } rows[] = {{4, 1, true},      {16, 8, true},     {72, 24, true},    {128, 128, true},
                {513, 31, true},   {960, 17, true},   {1000, 16, true},  {960, 240, false},
                {1100, 400, false}, {1280, 320, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tdl_builder *b = open_builder(ctx);
        struct rng rng = {i + 1};
        check_begin("gate of %u channels, %u in the middle", rows[i].channels, rows[i].middle);
        struct tdl_operand *x = image(b, 9, 11, rows[i].channels);
        struct tdl_operand *y = conv(b, &rng, tdl_builder_global_average_pool(b, x),
                                     rows[i].middle, 1, 1, false);
        y = tdl_builder_mul(b, x, conv(b, &rng, y, rows[i].channels, 1, 1, false));
        OK(tdl_builder_output(b, "output", y));
        run(ctx, b, "squeeze_excite", rows[i].fits);
    }
}

static void test_bottlenecks(struct tdl_context *ctx)
{
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t k = i & 1 ? 5 : 3, stride = i & 2 ? 2 : 1, in = i & 4 ? 128 : 13;
        struct tdl_builder *b = open_builder(ctx);
        struct rng rng = {i + 1};
        check_begin("bottleneck of %u channels, %ux%u, stride %u", in, k, k, stride);
        struct tdl_operand *x = conv(b, &rng, image(b, 37, 41, in), 20, 1, 1, false);
        OK(tdl_builder_output(b, "output", conv(b, &rng, x, 20, k, stride, true)));
        run(ctx, b, "conv2d_expand_depthwise", 1);
    }
}

/* The kernel of masks holds all weights at once, up to a limit. */
static void test_blocks(struct tdl_context *ctx)
{
    for (uint32_t in = 255; in < 1300; in += in < 257 ? 1 : 1000) {
        struct tdl_builder *b = open_builder(ctx);
        struct rng rng = {in};
        check_begin("transposed convolution of %u channels", in);
        struct tdl_operand *x = tdl_builder_conv_transpose2d(
            b, image(b, 5, 7, in), subject_filter(b, &rng, 1, 2, 2, in),
            &(struct tdl_conv_transpose2d_params){.stride = {2, 2}});
        OK(tdl_builder_output(b, "output", x));
        run(ctx, b, "conv_transpose2d_block", in <= 256);
    }
}

/* More large windows than workgroups. */
static void test_many_windows(struct tdl_context *ctx)
{
    struct tdl_builder *b = open_builder(ctx);
    check_begin("windows");
    struct tdl_operand *x = tdl_builder_average_pool2d(
        b, image(b, 300, 280, 1), &(struct tdl_pool2d_params){.window = {8, 8}});
    OK(tdl_builder_output(b, "output", x));
    run(ctx, b, "pool2d", 1);
}

/* Weights may be more than kernels reach of a buffer: no single one is. */
static void test_reach(struct tdl_context *ctx)
{
    const uint64_t all = ctx->info.max_buffer_bytes;
    struct tdl_builder *b = open_builder(ctx);
    struct rng rng = {1};
    struct tdl_graph *g;
    struct tdl_operand *x = image(b, 8, 8, 32);
    check_begin("parts of a buffer");
    for (int i = 0; i < 4; i++)
        x = conv(b, &rng, x, 32, 3, 1, false); /* 36 KiB of weights each */
    OK(tdl_builder_output(b, "output", x));
    ctx->info.max_buffer_bytes = 128 << 10;
    run(ctx, b, NULL, 0);
    b = open_builder(ctx);
    OK(tdl_builder_output(b, "output", conv(b, &rng, image(b, 8, 8, 64), 64, 3, 1, false)));
    FAILS(tdl_builder_build(b, &(struct tdl_build_params){0}, &g), TDL_ERROR_UNSUPPORTED,
          "its constant needs a buffer of 147712 bytes; this device's kernels reach 131072. Use a "
          "smaller model, float16, or the CPU as the device");
    tdl_builder_destroy(&b);
    b = open_builder(ctx); /* a value between two operators */
    x = conv(b, &rng, image(b, 32, 32, 8), 64, 3, 1, false);
    OK(tdl_builder_output(b, "output", conv(b, &rng, x, 8, 3, 1, false)));
    FAILS(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = true}, &g),
          TDL_ERROR_UNSUPPORTED,
          "its operand needs a buffer of 262144 bytes; this device's kernels reach 131072. Use a "
          "smaller picture, or fewer at once, float16, or the CPU as the device");
    ctx->info.max_buffer_bytes = all;
    tdl_builder_destroy(&b);
}

/* Programs beyond a limit are refused with a text, before anything is compiled. */
static void test_refusals(struct tdl_context *ctx)
{
    const struct tdl_build_params params = {.precision = TDL_PRECISION_FP32, .no_fuse = true};
    const uint32_t shared = ctx->info.max_shared_memory;
    struct tdl_builder *b = open_builder(ctx);
    struct rng rng = {1};
    struct tdl_graph *g;
    check_begin("refusals");
    if (tdl_vk(ctx)->properties.limits.maxComputeWorkGroupCount[0] == 65535) {
        struct tdl_operand *x = image(b, 5000, 1000, 1);
        x = tdl_builder_average_pool2d(b, x, &(struct tdl_pool2d_params){.window = {1, 1}});
        OK(tdl_builder_output(b, "output", x));
        FAILS(tdl_builder_build(b, &params, &g), TDL_ERROR_UNSUPPORTED, "78125 workgroups");
    }
    tdl_builder_destroy(&b);
    b = open_builder(ctx);
    OK(tdl_builder_output(b, "output", conv(b, &rng, image(b, 8, 8, 8), 8, 3, 1, false)));
    ctx->info.max_shared_memory = 64;
    FAILS(tdl_builder_build(b, &params, &g), TDL_ERROR_UNSUPPORTED, "of shared memory");
    ctx->info.max_shared_memory = shared;
    ctx->info.max_workgroup_invocations = 32;
    FAILS(tdl_builder_build(b, &params, &g), TDL_ERROR_UNSUPPORTED, "invocations");
    ctx->info.max_workgroup_invocations = INVOCATIONS;
    OK(tdl_builder_build(b, &params, &g));
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

int main(void)
{
    struct tdl_context *ctx = check_context_open();
    ctx->info.max_workgroup_invocations = INVOCATIONS;
    ctx->info.max_shared_memory = SHARED_MEMORY;
    test_gates(ctx);
    test_bottlenecks(ctx);
    test_blocks(ctx);
    test_many_windows(ctx);
    for (uint64_t seed = 100; seed < 106; seed++) {
        struct tdl_builder *b = open_builder(ctx);
        check_begin("seed %llu", (unsigned long long)seed);
        random_graph(b, seed);
        run(ctx, b, NULL, 0);
    }
    subject_pretend_gpu(ctx, false);
    test_refusals(ctx);
    test_reach(ctx);
    check_context_close(ctx);
    return check_result();
}
