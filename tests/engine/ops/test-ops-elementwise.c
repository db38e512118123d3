/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element-wise operators on the device against their references: every
 * function in every data type that it takes, shapes that broadcast, in packs
 * and in linear memory; and numbers worked out by hand for the references.
 *
 *     test-ops-elementwise [seed]
 */
#include "subject.h"

#include <math.h>
#include <ops/element.h>

typedef struct tdl_operand *O;
typedef O (*unary_fn)(struct tdl_builder *, O);
typedef O (*binary_fn)(struct tdl_builder *, O, O);

static struct tdl_context *ctx;
static uint64_t seed = 1;

static O leaky(struct tdl_builder *b, O x) { return tdl_builder_leaky_relu(b, x, 0.2f); }
static O elu(struct tdl_builder *b, O x) { return tdl_builder_elu(b, x, 0.7f); }
static O hard_sigmoid(struct tdl_builder *b, O x)
{
    return tdl_builder_hard_sigmoid(b, x, 0.3f, 0.4f);
}
static O linear(struct tdl_builder *b, O x) { return tdl_builder_linear(b, x, -1.5f, 0.25f); }
static O clamp(struct tdl_builder *b, O x)
{
    /* One element of whatever type, 1 or so, and none above. */
    static const uint16_t half = 0x3800;
    static const float single = 0.5f;
    static const uint64_t one = 1;
    const enum tdl_dtype dtype = x->desc.dtype;
    return tdl_builder_clamp(b, x, dtype == TDL_FLOAT32   ? (const void *)&single
                                   : dtype == TDL_FLOAT16 ? (const void *)&half
                                                          : &one,
                             NULL);
}

/* `what`: which values a function is asked for. */
enum values { ANY, POSITIVE, SMALL };
static const struct function {
    const char *name;
    unary_fn unary;
    binary_fn binary;
    enum values what;
} functions[] = {
    {"identity", tdl_builder_identity, NULL, ANY},
    {"relu", tdl_builder_relu, NULL, ANY},
    {"clamp", clamp, NULL, ANY},
    {"abs", tdl_builder_abs, NULL, ANY},
    {"neg", tdl_builder_neg, NULL, ANY},
    {"sign", tdl_builder_sign, NULL, ANY},
    {"logicalNot", tdl_builder_logical_not, NULL, ANY},
    {"sigmoid", tdl_builder_sigmoid, NULL, ANY},
    {"hardSwish", tdl_builder_hard_swish, NULL, ANY},
    {"tanh", tdl_builder_tanh, NULL, ANY},
    {"leakyRelu", leaky, NULL, ANY},
    {"elu", elu, NULL, ANY},
    {"gelu", tdl_builder_gelu, NULL, ANY},
    {"hardSigmoid", hard_sigmoid, NULL, ANY},
    {"softplus", tdl_builder_softplus, NULL, ANY},
    {"softsign", tdl_builder_softsign, NULL, ANY},
    {"linear", linear, NULL, ANY},
    {"ceil", tdl_builder_ceil, NULL, ANY},
    {"floor", tdl_builder_floor, NULL, ANY},
    {"roundEven", tdl_builder_round_even, NULL, ANY},
    {"exp", tdl_builder_exp, NULL, ANY},
    {"log", tdl_builder_log, NULL, POSITIVE},
    {"sqrt", tdl_builder_sqrt, NULL, POSITIVE},
    {"reciprocal", tdl_builder_reciprocal, NULL, POSITIVE},
    {"erf", tdl_builder_erf, NULL, ANY},
    {"sin", tdl_builder_sin, NULL, ANY},
    {"cos", tdl_builder_cos, NULL, ANY},
    {"tan", tdl_builder_tan, NULL, SMALL},
    {"add", NULL, tdl_builder_add, ANY},
    {"sub", NULL, tdl_builder_sub, ANY},
    {"mul", NULL, tdl_builder_mul, ANY},
    {"div", NULL, tdl_builder_div, POSITIVE},
    {"max", NULL, tdl_builder_max, ANY},
    {"min", NULL, tdl_builder_min, ANY},
    {"pow", NULL, tdl_builder_pow, POSITIVE},
    {"prelu", NULL, tdl_builder_prelu, ANY},
    {"bitwiseAnd", NULL, tdl_builder_bitwise_and, ANY},
    {"bitwiseOr", NULL, tdl_builder_bitwise_or, ANY},
    {"bitwiseXor", NULL, tdl_builder_bitwise_xor, ANY},
    {"equal", NULL, tdl_builder_equal, ANY},
    {"notEqual", NULL, tdl_builder_not_equal, ANY},
    {"greater", NULL, tdl_builder_greater, ANY},
    {"greaterOrEqual", NULL, tdl_builder_greater_or_equal, ANY},
    {"lesser", NULL, tdl_builder_lesser, ANY},
    {"lesserOrEqual", NULL, tdl_builder_lesser_or_equal, ANY},
    {"logicalAnd", NULL, tdl_builder_logical_and, ANY},
    {"logicalOr", NULL, tdl_builder_logical_or, ANY},
    {"logicalXor", NULL, tdl_builder_logical_xor, ANY},
};

/* ------------------------------------------------------------------- values */

static enum values wanted;

static void fill(uint32_t index, const struct tdl_tensor_params *p, struct rng *rng, void *values)
{
    size_t count = tdl_tensor_params_size(p) / tdl_dtype_size(p->dtype);
    (void)index;
    subject_fill(p, rng, values);
    if (!tdl_is_float(p->dtype))
        return;
    for (size_t i = 0; i < count; i++) {
        /* Now and then a whole number, so that some are equal. */
        float whole = (float)rng_below(rng, 5) - 2;
        if (wanted == POSITIVE)
            tdl_element_set(p->dtype, values, i, rng_float(rng, 0.25f, 3));
        else if (wanted == SMALL)
            tdl_element_set(p->dtype, values, i, rng_float(rng, -1.2f, 1.2f));
        else if (rng_one_in(rng, 3))
            tdl_element_set(p->dtype, values, i, whole);
    }
}

/* -------------------------------------------------------------------- cases */

struct shapes {
    uint32_t rank[3], shape[3][TDL_MAX_RANK];
};
static const struct shapes pairs[] = {
    {{4, 4}, {{1, 5, 7, 3}, {1, 5, 7, 3}}},
    {{1, 0}, {{5}, {0}}},
    {{0, 0}, {{0}, {0}}},
    {{2, 1}, {{3, 17}, {17}}},
    {{1, 3}, {{1}, {2, 1, 9}}},
    {{3, 3}, {{4, 1, 5}, {1, 6, 1}}},
    {{4, 4}, {{2, 1, 3, 5}, {1, 4, 3, 1}}},
    {{6, 5}, {{2, 1, 3, 1, 2, 3}, {1, 3, 4, 2, 1}}},
    {{6, 3}, {{2, 3, 1, 4, 1, 5}, {4, 1, 5}}},
    {{1, 1}, {{1023}, {1023}}},
    {{2, 2}, {{64, 65}, {64, 1}}},
};

static struct tdl_tensor_params desc_of(enum tdl_dtype dtype, const struct shapes *s, int i)
{
    struct tdl_tensor_params p = {.dtype = dtype, .rank = s->rank[i]};
    memcpy(p.shape, s->shape[i], sizeof(p.shape));
    return p;
}

/* The first refusal of a data type must be one that the docs tell. */
static bool takes(const struct function *f, enum tdl_dtype dtype)
{
    struct tdl_tensor_params p = {.dtype = dtype};
    struct tdl_builder *b;
    OK(check_builder(NULL, &b));
    O x = tdl_builder_input(b, "x", &p);
    O y = f->unary ? f->unary(b, x) : f->binary(b, x, x);
    bool ok = y;
    if (!ok)
        CHECK(tdl_builder_status(b) == TDL_ERROR_INVALID_ARGUMENT &&
                  strstr(tdl_builder_error(b), f->name),
              "\"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    return ok;
}

static void run_function(const struct function *f, enum tdl_dtype dtype,
                         const struct shapes *shapes)
{
    struct rng rng = {seed++};
    struct subject s;
    struct tdl_builder *b;
    struct tdl_tensor_params x = desc_of(dtype, shapes, 0), y = desc_of(dtype, shapes, 1);
    char text[2][96];
    check_begin("seed %llu: %s of %s, %s", (unsigned long long)seed - 1, f->name,
                tdl_tensor_params_text(&x, text[0], sizeof(text[0])),
                tdl_tensor_params_text(&y, text[1], sizeof(text[1])));
    OK(check_builder(ctx, &b));
    O first = tdl_builder_input(b, "x", &x);
    O result = f->unary ? f->unary(b, first)
                        : f->binary(b, first, tdl_builder_input(b, "y", &y));
    tdl_builder_output(b, "result", result);
    wanted = f->what;
    subject_open_filled(&s, ctx, b, &rng, fill);
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    subject_close(&s);
}

static void check_functions(void)
{
    const bool wide = tdl_context_device(ctx)->shader_int64;
    const uint64_t start = seed, stride = subject_stride(ctx, 5);
    size_t row = 0;
    if (!wide)
        printf("no shaderInt64: 64-bit types are not tested\n");
    for (size_t i = 0; i < COUNT(functions); i++)
        for (size_t k = 0; k < COUNT(subject_dtypes); k++) {
            enum tdl_dtype dtype = subject_dtypes[k];
            if ((tdl_dtype_size(dtype) == 8 && !wide) || !takes(&functions[i], dtype))
                continue;
            if ((start + ++row) % stride == 0)
                run_function(&functions[i], dtype, &pairs[row % COUNT(pairs)]);
        }
}

/* All shapes, with few functions. */
static void check_shapes(void)
{
    static const struct function add = {"add", NULL, tdl_builder_add, ANY};
    static const struct function less = {"lesser", NULL, tdl_builder_lesser, ANY};
    const uint64_t start = seed, stride = subject_stride(ctx, 2);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        if ((start + i) % stride)
            continue;
        run_function(&add, TDL_FLOAT32, &pairs[i]);
        run_function(&add, TDL_INT8, &pairs[i]);
        run_function(&less, TDL_FLOAT16, &pairs[i]);
    }
}

/* In packs, between convolutions, where channels are filled up. */
static void run_packed(const struct function *f, enum tdl_layout layout, bool half)
{
    struct rng rng = {seed++};
    struct subject s;
    struct tdl_builder *b;
    uint32_t c = RNG_PICK(&rng, 1, 3, 5, 17);
    struct tdl_tensor_params x = subject_image(layout, 2, 3, 7, c);
    struct tdl_tensor_params y = subject_image(layout, rng_one_in(&rng, 2) ? 2 : 1,
                                               rng_one_in(&rng, 2) ? 3 : 1, 7,
                                               rng_one_in(&rng, 2) ? c : 1);
    if (y.shape[0] == 1 && rng_one_in(&rng, 2)) { /* without the image's dimension */
        memmove(y.shape, y.shape + 1, 3 * sizeof(y.shape[0]));
        y.rank = 3;
    }
    check_begin("seed %llu: %s in packs, %u channels, layout %d, rank %u%s",
                (unsigned long long)seed - 1, f->name, c, layout, y.rank, half ? ", fp16" : "");
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    O first = tdl_builder_average_pool2d(b, tdl_builder_input(b, "x", &x),
                                         &(struct tdl_pool2d_params){.window = {1, 1}});
    O result = f->unary ? f->unary(b, first)
                        : f->binary(b, first, tdl_builder_input(b, "y", &y));
    /* The mean over channels of what is there sees the filling, too. */
    O mean = tdl_builder_conv2d(b, result, subject_filter(b, &rng, 1, 1, 1, c), NULL);
    tdl_builder_output(b, "result", result);
    tdl_builder_output(b, "mean", mean);
    wanted = f->what;
    subject_open_filled(&s, ctx, b, &rng, fill);
    s.slack = half ? 4 : 1;
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                        .no_fuse = true,
                    });
    subject_close(&s);
}

static void check_packed(void)
{
    const uint64_t start = seed, stride = subject_stride(ctx, 4);
    for (size_t i = 0; i < COUNT(functions); i++) {
        const struct function *f = &functions[i];
        /* Steps double the error of halves where they jump. */
        bool jumps = strstr("ceil floor roundEven sign", f->name);
        if (f->binary == tdl_builder_equal) /* from there on, no floats come out */
            break;
        if (takes(f, TDL_FLOAT32) && (start + i) % stride == 0)
            run_packed(f, i % 2 ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC, i % 3 == 0 && !jumps);
    }
}

/* -------------------------------------------------------------------- where */

static void check_where(enum tdl_dtype dtype)
{
    static const struct shapes triples[] = {
        {{2, 1, 3}, {{3, 5}, {5}, {2, 1, 1}}},
        {{4, 4, 4}, {{1, 4, 4, 3}, {1, 4, 4, 3}, {1, 4, 4, 3}}},
        {{0, 1, 1}, {{0}, {7}, {7}}},
    };
    for (size_t i = 0; i < COUNT(triples); i++) {
        struct rng rng = {seed++};
        struct subject s;
        struct tdl_builder *b;
        struct tdl_tensor_params x = desc_of(dtype, &triples[i], 0);
        struct tdl_tensor_params y = desc_of(dtype, &triples[i], 1);
        struct tdl_tensor_params c = desc_of(TDL_UINT8, &triples[i], 2);
        check_begin("where of %s, shapes %zu", tdl_dtype_name(dtype), i);
        OK(check_builder(ctx, &b));
        O condition = tdl_builder_input(b, "c", &c);
        O truth = tdl_builder_greater(b, condition, tdl_builder_logical_not(b, condition));
        tdl_builder_output(b, "result",
                           tdl_builder_where(b, truth, tdl_builder_input(b, "x", &x),
                                             tdl_builder_input(b, "y", &y)));
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, &(struct tdl_build_params){0});
        subject_close(&s);
    }
}

/* ---------------------------------------------------------- numbers by hand */

/* The references' results, and through subject_run() the device's. */
static void check_golden(const char *name, O (*build)(struct tdl_builder *, O, O),
                         enum tdl_dtype dtype, uint32_t count, const void *x, const void *y,
                         const void *want)
{
    const struct tdl_tensor_params p = {.dtype = dtype, .rank = 1, .shape = {count}};
    struct tdl_builder *b;
    struct tdl_graph *graph;
    struct tdl_tensor *t;
    uint8_t got[256];
    void **values;
    check_begin("by hand: %s", name);
    OK(check_builder(ctx, &b));
    O o = build(b, subject_typed_constant(b, &p, x), y ? subject_typed_constant(b, &p, y) : NULL);
    REQUIRE(o, "%s", tdl_builder_error(b));
    struct tdl_ir *ir = tdl_builder_ir(b);
    values = calloc(ir->operand_count, sizeof(*values));
    REQUIRE(values, "out of memory");
    OK(tdl_ir_run_reference(ir, NULL, values));
    subject_compare("the reference", &o->desc, want, values[o->id], false, 1);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    /* An output is not folded away, so the device computes it. */
    tdl_builder_output(b, "result", o);
    OK(tdl_builder_build(b, NULL, &graph));
    struct tdl_tensor_params out = *tdl_graph_output(graph, 0, NULL);
    out.usage = TDL_TENSOR_READABLE;
    OK(tdl_tensor_create(ctx, &out, &t));
    OK(tdl_graph_dispatch(graph, NULL, 0, &(struct tdl_binding){"result", t}, 1, NULL));
    OK(tdl_tensor_read(t, got, tdl_tensor_params_size(&out)));
    subject_compare("the device", &o->desc, want, got, false, 1);
    tdl_tensor_destroy(&t);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
}

static O to_int8(struct tdl_builder *b, O x, O y)
{
    (void)y;
    return tdl_builder_cast(b, x, TDL_INT8);
}
static O to_uint32(struct tdl_builder *b, O x, O y)
{
    (void)y;
    return tdl_builder_cast(b, x, TDL_UINT32);
}
static O log_of(struct tdl_builder *b, O x, O y) { (void)y; return tdl_builder_log(b, x); }
static O relu_of(struct tdl_builder *b, O x, O y) { (void)y; return tdl_builder_relu(b, x); }
static O round_of(struct tdl_builder *b, O x, O y) { (void)y; return tdl_builder_round_even(b, x); }

static void check_goldens(void)
{
    const float nan = NAN, inf = INFINITY;
    const float a[] = {1, nan, 2, nan, -1, 3}, b[] = {nan, 1, 2, nan, 5, -4};
    const float most[] = {nan, nan, 2, nan, 5, 3}, least[] = {nan, nan, 2, nan, -1, -4};
    const uint8_t same[] = {0, 0, 1, 0, 0, 0}, other[] = {1, 1, 0, 1, 1, 1};
    const uint8_t larger[] = {0, 0, 0, 0, 0, 1}, no_less[] = {0, 0, 1, 0, 0, 1};
    check_golden("max and NaN", tdl_builder_max, TDL_FLOAT32, 6, a, b, most);
    check_golden("min and NaN", tdl_builder_min, TDL_FLOAT32, 6, a, b, least);
    check_golden("equal and NaN", tdl_builder_equal, TDL_FLOAT32, 6, a, b, same);
    check_golden("notEqual and NaN", tdl_builder_not_equal, TDL_FLOAT32, 6, a, b, other);
    check_golden("greater and NaN", tdl_builder_greater, TDL_FLOAT32, 6, a, b, larger);
    check_golden("greaterOrEqual and NaN", tdl_builder_greater_or_equal, TDL_FLOAT32, 6, a, b,
                 no_less);

    const float bases[] = {-2, -2, -2, 0, 0, 0, 4, nan}, powers[] = {3, 2, 0.5f, 0, 2, -1, 0.5f, 0};
    const float raised[] = {-8, 4, nan, 1, 0, inf, 2, 1};
    check_golden("pow of floats", tdl_builder_pow, TDL_FLOAT32, 8, bases, powers, raised);
    const float logs[] = {1, 0, -1, 2.718281828f}, log_want[] = {0, -inf, nan, 1};
    check_golden("log", log_of, TDL_FLOAT32, 4, logs, NULL, log_want);
    const float relus[] = {nan, -1, 2, -inf}, relu_want[] = {nan, 0, 2, 0};
    check_golden("relu", relu_of, TDL_FLOAT32, 4, relus, NULL, relu_want);
    const float halves[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f}, rounded[] = {0, 2, 2, 0, -2};
    check_golden("roundEven", round_of, TDL_FLOAT32, 5, halves, NULL, rounded);

    const int32_t x[] = {7, -7, 7, -7, 5, INT32_MIN}, y[] = {2, 2, -2, -2, 0, -1};
    const int32_t quotients[] = {3, -3, -3, 3, 0, INT32_MIN};
    check_golden("div of int32", tdl_builder_div, TDL_INT32, 6, x, y, quotients);
    const int8_t small[] = {-128, 100, -128}, by[] = {-1, 3, 1}, few[] = {-128, 33, -128};
    check_golden("div of int8", tdl_builder_div, TDL_INT8, 3, small, by, few);
    const int32_t p[] = {2, -1, -1, 1, 3, 0}, q[] = {10, -3, -2, -9, -1, 0};
    const int32_t wholes[] = {1024, -1, 1, 1, 0, 1};
    check_golden("pow of int32", tdl_builder_pow, TDL_INT32, 6, p, q, wholes);
    const uint8_t u[] = {200, 3}, v[] = {100, 250}, sums[] = {44, 253};
    check_golden("add of uint8", tdl_builder_add, TDL_UINT8, 2, u, v, sums);
    const int32_t m[] = {-1, 12, INT32_MIN}, n[] = {5, 10, -1}, and[] = {5, 8, INT32_MIN};
    const int32_t either[] = {-1, 14, -1}, one[] = {-6, 6, INT32_MAX};
    check_golden("bitwiseAnd", tdl_builder_bitwise_and, TDL_INT32, 3, m, n, and);
    check_golden("bitwiseOr", tdl_builder_bitwise_or, TDL_INT32, 3, m, n, either);
    check_golden("bitwiseXor", tdl_builder_bitwise_xor, TDL_INT32, 3, m, n, one);

    const float f[] = {-1.9f, 127.9f, 128, -500, nan, inf};
    const int8_t f8[] = {-1, 127, 127, -128, 0, 127};
    const uint32_t f32[] = {0, 127, 128, 0, 0, UINT32_MAX};
    check_golden("float32 to int8", to_int8, TDL_FLOAT32, 6, f, NULL, f8);
    check_golden("float32 to uint32", to_uint32, TDL_FLOAT32, 6, f, NULL, f32);
    const int32_t i[] = {-1, 300, 128}, *none = NULL;
    const int8_t i8[] = {-1, 44, -128};
    check_golden("int32 to int8", to_int8, TDL_INT32, 3, i, none, i8);
}

/* Calls that are refused, each with its text. */
static void check_refusals(void)
{
    static const uint32_t shape[] = {2, 6}, other[] = {5, 2}, low[] = {1, 6};
    static const float least = 2, most = 1;
    for (int i = 0; i < 6; i++) {
        static const char *const says[] = {"float32[2,6] cannot become float32[5,2]", "rank 9",
                                           "axis 3 of float32[2,6]", "does not broadcast to",
                                           "the least value is more", "condition"};
        struct tdl_builder *b;
        check_begin("refusal %d", i);
        OK(check_builder(NULL, &b));
        O x = subject_input(b, "x", subject_shape(TDL_FLOAT32, 2, shape));
        if (i == 0)
            tdl_builder_reshape(b, x, 2, other);
        else if (i == 1)
            tdl_builder_reshape(b, x, 9, shape);
        else if (i == 2)
            tdl_builder_flatten(b, x, 3);
        else if (i == 3)
            tdl_builder_expand(b, x, 2, low);
        else if (i == 4)
            tdl_builder_clamp(b, x, &least, &most);
        else
            tdl_builder_where(b, x, x, x);
        CHECK(tdl_builder_status(b) == TDL_ERROR_INVALID_ARGUMENT &&
                  strstr(tdl_builder_error(b), says[i]),
              "\"%s\"", tdl_builder_error(b));
        tdl_builder_destroy(&b);
    }
}

int main(int argc, char **argv)
{
    seed = check_seed(argc, argv, 1);
    ctx = check_context_open();
    check_goldens();
    check_functions();
    check_shapes();
    check_packed();
    check_where(TDL_FLOAT16);
    check_where(TDL_FLOAT32);
    check_where(TDL_UINT8);
    if (tdl_context_device(ctx)->shader_int64)
        check_where(TDL_INT64);
    check_refusals();
    check_context_close(ctx);
    return check_result();
}
