/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights that were given in fewer bits: they stay so in the builder, and what is computed
 * with them is to the bit what the floats give that they stand for.
 *
 *     test-compact [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <ops/ops.h>

typedef struct tdl_operand *O;

/* A filter as the numbers and the floats. */
struct weights {
    struct tdl_tensor_params desc; /* shape and type of the numbers */
    uint32_t axis, scales, zeros;  /* 0 zeros: none are given */
    uint8_t *numbers;
    float *floats, scale[64];
    uint8_t zero[64];
};

static float number(const struct weights *w, uint8_t byte)
{
    return w->desc.dtype == TDL_INT8 ? (int8_t)byte : byte;
}

static void fill(struct weights *w, struct rng *rng)
{
    const size_t count = tdl_tensor_params_size(&w->desc);
    size_t inner = 1;
    for (uint32_t i = w->axis + 1; i < w->desc.rank; i++)
        inner *= w->desc.shape[i];
    w->numbers = malloc(count);
    w->floats = malloc(count * sizeof(float));
    REQUIRE(w->numbers && w->floats, "out of memory");
    for (uint32_t i = 0; i < COUNT(w->scale); i++) {
        w->scale[i] = rng_float(rng, 0.001f, 0.01f);
        w->zero[i] = (uint8_t)(rng_below(rng, 9) + (w->desc.dtype == TDL_UINT8 ? 124 : 0));
    }
    for (size_t i = 0; i < count; i++) {
        const size_t k = i / inner % w->desc.shape[w->axis];
        const float zero = w->zeros ? number(w, w->zero[w->zeros > 1 ? k : 0]) : 0;
        w->numbers[i] = (uint8_t)rng_below(rng, 256);
        w->floats[i] = (number(w, w->numbers[i]) - zero) * w->scale[w->scales > 1 ? k : 0];
    }
}

/* One for each along the axis, or one. */
static O along(struct tdl_builder *b, const struct weights *w, enum tdl_dtype dtype,
               const void *data, uint32_t count)
{
    struct tdl_tensor_params p = {.dtype = dtype, .rank = count > 1 ? w->desc.rank : 0};
    for (uint32_t i = 0; i < p.rank; i++)
        p.shape[i] = i == w->axis ? count : 1;
    return tdl_builder_constant(b, &p, data, tdl_tensor_params_size(&p));
}

static O constant(struct tdl_builder *b, const struct weights *w, bool compact)
{
    struct tdl_tensor_params p = w->desc;
    if (!compact) {
        p.dtype = TDL_FLOAT32;
        return tdl_builder_constant(b, &p, w->floats, tdl_tensor_params_size(&p));
    }
    O x = tdl_builder_constant(b, &p, w->numbers, tdl_tensor_params_size(&p));
    O o = tdl_builder_dequantize_linear(
        b, x, along(b, w, TDL_FLOAT32, w->scale, w->scales),
        w->zeros ? along(b, w, p.dtype, w->zero, w->zeros) : NULL);
    CHECK(o && o->kind == TDL_OPERAND_CONSTANT && o->compact && !o->data, "not kept: %s",
          tdl_builder_error(b));
    return o;
}

enum use { CONV, TURNED, DEPTHWISE, PRODUCT, ADDED, MOVED, ROTATED, SCATTERED, USES };

/* y of x by what reads the weights. */
static O use(struct tdl_builder *b, const struct weights *w, enum use how, bool compact,
             uint32_t layout)
{
    O k = constant(b, w, compact), x;
    const uint32_t *s = w->desc.shape;
    const struct tdl_conv2d_params p = {.filter_layout = (enum tdl_filter_layout)layout,
                                        .groups = how == DEPTHWISE ? s[0] : 1,
                                        .padding = TDL_PADDING_SAME_UPPER};
    const uint32_t in[] = {s[3], s[1], s[2], s[0]}; /* by enum tdl_filter_layout */
    switch (how) {
    case CONV:
        x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 5, 6, in[layout]));
        return tdl_builder_conv2d(b, x, k, &p);
    case DEPTHWISE:
        tdl_builder_set_input_layout(b, TDL_LAYOUT_NCHW);
        x = subject_input(b, "x", subject_image(TDL_LAYOUT_NCHW, 1, 5, 6, s[0]));
        return tdl_builder_conv2d(b, x, k, &p);
    case TURNED:
        x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 5, 6, s[3]));
        return tdl_builder_conv_transpose2d(b, x, k, NULL);
    case PRODUCT:
        x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 3, s[0]));
        return tdl_builder_matmul(b, x, k);
    case ADDED:
        x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1, s[1]));
        return tdl_builder_add(b, x, k);
    case MOVED:
        x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 3, s[1]));
        return tdl_builder_matmul(b, x, tdl_builder_transpose(b, k, NULL));
    default: /* in three steps of their own, and in more */
        k = tdl_builder_transpose(b, k, how == ROTATED ? (const uint32_t[]){1, 2, 3, 0, 4}
                                                       : (const uint32_t[]){3, 1, 4, 0, 2});
        x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1));
        return tdl_builder_add(b, x, k);
    }
}

/* Runs the same input on the device; destroys the builder. */
static void run(struct tdl_context *ctx, struct tdl_builder *b, uint64_t seed, float *out,
                size_t room)
{
    struct rng rng = {seed};
    struct tdl_tensor *x, *y;
    struct tdl_graph *g;
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    struct tdl_tensor_params p = *tdl_graph_input(g, 0, NULL), q = *tdl_graph_output(g, 0, NULL);
    const size_t size = tdl_tensor_params_size(&p), made = tdl_tensor_params_size(&q);
    REQUIRE(size <= room && made <= room, "no room for %zu and %zu bytes", size, made);
    p.usage = q.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(ctx, &p, &x));
    OK(tdl_tensor_create(ctx, &q, &y));
    for (size_t i = 0; i < size / sizeof(float); i++)
        out[i] = rng_float(&rng, -1, 1);
    OK(tdl_tensor_write(x, out, size, NULL));
    OK(tdl_graph_dispatch(g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y}, 1,
                          NULL));
    memset(out, 0, room);
    OK(tdl_tensor_read(y, out, made));
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
}

static void check_use(struct tdl_context *ctx, uint64_t seed, enum use how)
{
    static float got[2][8192];
    struct rng rng = {seed};
    const uint32_t layout = how == CONV ? rng_below(&rng, 4) : 0;
    struct weights w = {.desc = {.dtype = RNG_PICK(&rng, TDL_INT8, TDL_UINT8),
                                 .rank = how < PRODUCT ? 4 : how < ROTATED ? 2 : 5}};
    static const uint32_t shapes[USES][5] = {{24, 3, 5, 24}, {13, 3, 3, 37}, {57, 9, 9, 1},
                                             {60, 80},       {64, 70},       {63, 70},
                                             {7, 5, 3, 6, 8}, {4, 6, 5, 9, 7}};
    memcpy(w.desc.shape, shapes[how], sizeof(shapes[how]));
    if (how == CONV && layout == TDL_FILTER_OIHW)
        memcpy(w.desc.shape, (uint32_t[]){24, 23, 3, 5}, 4 * sizeof(uint32_t));
    if (how == CONV && layout == TDL_FILTER_HWIO)
        memcpy(w.desc.shape, (uint32_t[]){3, 5, 23, 24}, 4 * sizeof(uint32_t));
    w.axis = rng_below(&rng, w.desc.rank);
    const uint32_t all = w.desc.shape[w.axis] <= COUNT(w.scale) ? w.desc.shape[w.axis] : 1;
    w.scales = RNG_PICK(&rng, 1, all);
    w.zeros = RNG_PICK(&rng, 0, 1, all);
    check_begin("seed %llu: use %d, layout %u, %u scales and %u zeros along %u",
                (unsigned long long)seed, how, layout, w.scales, w.zeros, w.axis);
    fill(&w, &rng);
    for (int compact = 0; compact < 2; compact++) {
        struct tdl_builder *b;
        OK(check_builder(ctx, &b));
        OK(tdl_builder_output(b, "y", use(b, &w, how, compact, layout)));
        run(ctx, b, seed, got[compact], sizeof(got[compact]));
    }
    CHECK(!memcmp(got[0], got[1], sizeof(got[0])), "other results");
    free(w.numbers);
    free(w.floats);
}

/* Filters of halves in each order. */
static void check_halves(struct tdl_context *ctx, uint64_t seed, uint32_t layout)
{
    enum { COUNT_OF = 24 * 23 * 15 };
    static const uint32_t shapes[][4] = {{24, 3, 5, 23}, {24, 23, 3, 5}, {3, 5, 23, 24},
                                         {23, 3, 5, 24}};
    static uint16_t halves[COUNT_OF];
    static float floats[COUNT_OF], got[2][8192];
    struct rng rng = {seed};
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT32, .rank = 4};
    const struct tdl_conv2d_params conv = {.filter_layout = (enum tdl_filter_layout)layout};
    memcpy(p.shape, shapes[layout], sizeof(shapes[layout]));
    check_begin("seed %llu: halves in order %u", (unsigned long long)seed, layout);
    for (size_t i = 0; i < COUNT_OF; i++) {
        halves[i] = tdl_float_to_half(rng_float(&rng, -1, 1));
        floats[i] = tdl_half_to_float(halves[i]);
    }
    for (int half = 0; half < 2; half++) {
        struct tdl_builder *b;
        OK(check_builder(ctx, &b));
        p.dtype = half ? TDL_FLOAT16 : TDL_FLOAT32;
        O k = tdl_builder_constant(b, &p, half ? (const void *)halves : floats,
                                   tdl_tensor_params_size(&p));
        k = half ? tdl_builder_cast(b, k, TDL_FLOAT32) : k;
        O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 5, 6, 23));
        OK(tdl_builder_output(b, "y", tdl_builder_conv2d(b, x, k, &conv)));
        run(ctx, b, seed, got[half], sizeof(got[half]));
    }
    CHECK(!memcmp(got[0], got[1], sizeof(got[0])), "other results");
}

/* A constant of another shape, or one that passes look into, is not compacted. */
static void check_known(void)
{
    struct weights w = {.desc = SUBJECT_SHAPE(TDL_INT8, 50, 90), .scales = 50, .axis = 0};
    struct rng rng = {1};
    struct tdl_builder *b;
    check_begin("evaluated");
    fill(&w, &rng);
    OK(check_builder(NULL, &b));
    O o = tdl_builder_reshape(b, constant(b, &w, true), 1, (const uint32_t[]){50 * 90});
    const void *data = tdl_builder_evaluate(b, o);
    CHECK(data && !memcmp(data, w.floats, 50 * 90 * sizeof(float)), "other numbers");
    tdl_builder_destroy(&b);
    free(w.numbers);
    free(w.floats);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 3);
    const uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    check_known();
    for (uint32_t layout = 0; layout < 4; layout++)
        check_halves(ctx, seed, layout);
    for (long i = 0; i < cases; i++)
        for (enum use how = 0; how < USES; how++)
            check_use(ctx, seed + (uint64_t)i, how);
    check_context_close(ctx);
    return check_result();
}
