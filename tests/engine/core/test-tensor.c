/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors and what graphs are given: what is kept, and what is refused with
 * which text.
 */
#include "line.h"

static struct tdl_context *ctx;

/* ------------------------------------------------------------------ tensors */

static void check_round_trip(void)
{
    static const struct tdl_tensor_params all[] = {
        {.dtype = TDL_FLOAT32, .rank = 0},
        {.dtype = TDL_FLOAT16, .rank = 1, .shape = {3}},
        {.dtype = TDL_INT32, .rank = 2, .shape = {5, 7}},
        {.dtype = TDL_UINT32, .rank = 3, .shape = {2, 3, 1}},
        {.dtype = TDL_INT8, .rank = 1, .shape = {1}},
        {.dtype = TDL_UINT8, .rank = 4, .shape = {1, 3, 5, 3}},
        {.dtype = TDL_INT64, .rank = 1, .shape = {9}},
        {.dtype = TDL_INT32, .rank = 6, .shape = {2, 1, 3, 2, 1, 4}},
        {.dtype = TDL_UINT64, .rank = 4, .shape = {1, 2, 2, 5}, .packing = TDL_PACKING_C4},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        struct tdl_tensor_params p = all[i];
        struct tdl_tensor *t;
        uint8_t in[512], got[512];
        struct rng rng = {i};
        size_t size = tdl_tensor_params_size(&p);
        check_begin("round trip of %s, rank %u", tdl_dtype_name(p.dtype), p.rank);
        if (tdl_dtype_size(p.dtype) == 8 && !tdl_context_device(ctx)->shader_int64)
            continue;
        p.usage = READ | WRITE;
        REQUIRE(size && size <= sizeof(in), "%zu bytes", size);
        OK(tdl_tensor_create(ctx, &p, &t));
        OK(tdl_tensor_read(t, got, size));
        memset(in, 0, size);
        CHECK(!memcmp(in, got, size), "a new tensor is not zero");
        for (size_t k = 0; k < size; k++)
            in[k] = (uint8_t)rng_next(&rng);
        OK(tdl_tensor_write(t, in, size, NULL));
        OK(tdl_tensor_read(t, got, size));
        CHECK(!memcmp(in, got, size), "what was read is not what was written");
        CHECK(tdl_tensor_get_params(t)->dtype == p.dtype && tdl_tensor_get_params(t)->label,
              "the params are not kept");
        tdl_tensor_destroy(&t);
    }
    check_begin("sizes");
    const struct tdl_tensor_params packed = {
        .rank = 4, .shape = {2, 3, 5, 6}, .packing = TDL_PACKING_C4};
    CHECK(tdl_tensor_params_size(&packed) == 2 * 2 * 3 * 5 * 4 * 4, "NC4HW4 has %zu bytes",
          tdl_tensor_params_size(&packed));
    CHECK(tdl_dtype_size((enum tdl_dtype)99) == 0 && tdl_dtype_name((enum tdl_dtype)99),
          "a data type 99");
}

static void check_tensor_errors(void)
{
    static const struct {
        const char *name;
        struct tdl_tensor_params p;
        enum tdl_result want;
        const char *says;
    } wrong[] = {
        {"rank 7", {.rank = 7}, TDL_ERROR_INVALID_ARGUMENT, "rank 7"},
        {"no elements", {.rank = 2, .shape = {4, 0}}, TDL_ERROR_INVALID_ARGUMENT, "dimension"},
        {"data type", {.dtype = 99}, TDL_ERROR_INVALID_ARGUMENT, "99"},
        {"packing", {.rank = 4, .shape = {1, 1, 1, 1}, .packing = 9}, TDL_ERROR_INVALID_ARGUMENT,
         "packing"},
        {"packs of rank 3", {.rank = 3, .shape = {4, 4, 4}, .packing = TDL_PACKING_C4},
         TDL_ERROR_INVALID_ARGUMENT, "rank 4"},
        {"2^96 elements", {.rank = 4, .shape = {1u << 24, 1u << 24, 1u << 24, 1u << 24}},
         TDL_ERROR_INVALID_ARGUMENT, "size"},
        {"2^63 bytes", {.rank = 3, .shape = {1u << 31, 1u << 30, 1}}, TDL_ERROR_UNSUPPORTED,
         "bytes"},
        {"2^63 bytes, exportable",
         {.rank = 3, .shape = {1u << 31, 1u << 30, 1}, .usage = TDL_TENSOR_EXPORTABLE},
         TDL_ERROR_UNSUPPORTED, "bytes"},
    };
    struct tdl_context_stats before = stats_of(ctx);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct tdl_tensor_params p = wrong[i].p;
        struct tdl_tensor *t = (struct tdl_tensor *)&p;
        check_begin("tensor: %s", wrong[i].name);
        p.label = "my tensor";
        FAILS(tdl_tensor_create(ctx, &p, &t), wrong[i].want, wrong[i].says);
        CHECK(strstr(tdl_last_error(), "my tensor"), "\"%s\" does not name the tensor",
              tdl_last_error());
        CHECK(!t, "a tensor in spite of the error");
    }
    CHECK(stats_of(ctx).memory_bytes == before.memory_bytes, "memory was left");

    check_begin("tensor: access");
    float data[ELEMENTS + 1] = {0};
    struct tdl_tensor *none = tensor_of(ctx, 0), *reader = tensor_of(ctx, READ);
    struct tdl_tensor *writer = tensor_of(ctx, WRITE);
    FAILS(tdl_tensor_write(none, data, ELEMENTS * 4, NULL), TDL_ERROR_INVALID_ARGUMENT, "WRITABLE");
    FAILS(tdl_tensor_write(reader, data, ELEMENTS * 4, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "WRITABLE");
    FAILS(tdl_tensor_read(none, data, ELEMENTS * 4), TDL_ERROR_INVALID_ARGUMENT, "READABLE");
    FAILS(tdl_tensor_read(writer, data, ELEMENTS * 4), TDL_ERROR_INVALID_ARGUMENT, "READABLE");
    FAILS(tdl_tensor_read(reader, data, sizeof(data)), TDL_ERROR_INVALID_ARGUMENT,
          "float32[1,5,7,6]");
    FAILS(tdl_tensor_write(writer, data, ELEMENTS * 4 - 1, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "839 bytes");
    FAILS(tdl_tensor_write(writer, data, 0, NULL), TDL_ERROR_INVALID_ARGUMENT, "840");
    tdl_tensor_destroy(&none);
    tdl_tensor_destroy(&reader);
    tdl_tensor_destroy(&writer);
    tdl_tensor_destroy(&writer);
}

static void check_reshape(void)
{
    struct tdl_tensor *t = tensor_of(ctx, READ | WRITE), *view, *again, *none;
    struct tdl_tensor_params p = image(READ);
    float data[ELEMENTS], got[ELEMENTS];
    check_begin("reshape");
    for (int i = 0; i < ELEMENTS; i++)
        data[i] = (float)i;
    OK(tdl_tensor_reshape(t, 2, (uint32_t[]){H * W, C}, &view));
    OK(tdl_tensor_reshape(view, 1, (uint32_t[]){ELEMENTS}, &again));
    CHECK(tdl_tensor_get_params(view)->rank == 2 && tdl_tensor_get_params(view)->shape[1] == C,
          "the view has another shape");
    OK(tdl_tensor_write(again, data, sizeof(data), NULL));
    tdl_tensor_destroy(&again);
    tdl_tensor_destroy(&t);
    OK(tdl_tensor_read(view, got, sizeof(got)));
    CHECK(!memcmp(data, got, sizeof(got)), "the views do not share their memory");
    FAILS(tdl_tensor_reshape(view, 2, (uint32_t[]){H, W}, &none), TDL_ERROR_INVALID_ARGUMENT,
          "float32[35,6] cannot be reshaped to float32[5,7]");
    CHECK(!none, "a view in spite of the error");
    FAILS(tdl_tensor_reshape(view, 7, (uint32_t[]){1, 1, 1, 1, 1, 1, 1}, &none),
          TDL_ERROR_INVALID_ARGUMENT, "rank 7");
    FAILS(tdl_tensor_reshape(view, 1, (uint32_t[]){0}, &none), TDL_ERROR_INVALID_ARGUMENT,
          "reshaped");
    tdl_tensor_destroy(&view);
    p.packing = TDL_PACKING_C4;
    OK(tdl_tensor_create(ctx, &p, &t));
    FAILS(tdl_tensor_reshape(t, 1, (uint32_t[]){ELEMENTS}, &none), TDL_ERROR_INVALID_ARGUMENT,
          "packs");
    tdl_tensor_destroy(&t);
}

/* ----------------------------------------------------------------- bindings */

/* Element (n, y, x, c) of an image in plain memory or in packs, by definition. */
static size_t place_of(enum tdl_layout layout, const uint32_t d[4], const uint32_t at[4])
{
    const size_t h = d[1], w = d[2], c = d[3];
    switch (layout) {
    case TDL_LAYOUT_NCHW:
        return ((at[0] * c + at[3]) * h + at[1]) * w + at[2];
    case TDL_LAYOUT_NC4HW4:
        return (((at[0] * ((c + 3) / 4) + at[3] / 4) * h + at[1]) * w + at[2]) * 4 + at[3] % 4;
    default:
        return ((at[0] * h + at[1]) * w + at[2]) * c + at[3];
    }
}

/* An image whose elements count up in the order n, y, x, c. */
static struct tdl_tensor_params counting_image(enum tdl_dtype dtype, enum tdl_layout layout,
                                               const uint32_t d[4], uint8_t *data)
{
    struct tdl_tensor_params p = {
        .dtype = dtype, .rank = 4, .usage = READ | WRITE, .label = "image"};
    p.packing = layout == TDL_LAYOUT_NC4HW4 ? TDL_PACKING_C4 : TDL_PACKING_NONE;
    const uint32_t nchw[] = {d[0], d[3], d[1], d[2]};
    const size_t size = tdl_dtype_size(dtype);
    uint32_t value = 0;
    memcpy(p.shape, layout == TDL_LAYOUT_NCHW ? nchw : d, sizeof(nchw));
    memset(data, 0, tdl_tensor_params_size(&p));
    for (uint32_t i = 0; i < d[0] * d[1] * d[2] * d[3]; i++) {
        const uint32_t at[] = {i / (d[1] * d[2] * d[3]), i / (d[2] * d[3]) % d[1], i / d[3] % d[2],
                               i % d[3]};
        const float number = (float)++value;
        uint8_t *to = data + place_of(layout, d, at) * size;
        if (dtype == TDL_FLOAT32)
            memcpy(to, &number, 4);
        else
            memcpy(to, &value, size < 4 ? size : 4); /* little endian */
    }
    return p;
}

static void check_layouts(void)
{
    static const uint32_t sizes[][4] = {{1, 1, 1, 1}, {2, 3, 5, 7}, {1, 4, 9, 3}, {3, 1, 2, 17}};
    uint8_t from[4096], want[4096], got[4096];
    for (uint32_t i = 0; i < COUNT(sizes) * 3 * 3 * 3; i++) {
        const uint32_t *d = sizes[i / 27];
        const enum tdl_dtype dtype =
            ((enum tdl_dtype[]){TDL_FLOAT32, TDL_UINT8, TDL_FLOAT16})[i / 9 % 3];
        const enum tdl_layout a = 1 + i / 3 % 3, b = 1 + i % 3;
        struct tdl_tensor *t, *other = NULL;
        check_begin("layout %s to %s, %s[%u,%u,%u,%u]", tdl_layout_name(a), tdl_layout_name(b),
                    tdl_dtype_name(dtype), d[0], d[1], d[2], d[3]);
        struct tdl_tensor_params p = counting_image(dtype, a, d, from);
        const struct tdl_tensor_params q = counting_image(dtype, b, d, want);
        OK(tdl_tensor_create(ctx, &p, &t));
        OK(tdl_tensor_write(t, from, tdl_tensor_params_size(&p), NULL));
        if (dtype != TDL_FLOAT32 && (a == TDL_LAYOUT_NC4HW4 || b == TDL_LAYOUT_NC4HW4)) {
            FAILS(tdl_tensor_convert_layout(t, a, b, &other), TDL_ERROR_INVALID_ARGUMENT,
                  "float32");
        } else if (CHECK(tdl_tensor_convert_layout(t, a, b, &other) == TDL_OK, "%s",
                         tdl_last_error())) {
            const size_t size = tdl_tensor_params_size(&q);
            const struct tdl_tensor_params *is = tdl_tensor_get_params(other);
            CHECK(is->packing == q.packing && is->dtype == dtype &&
                      !memcmp(is->shape, q.shape, sizeof(uint32_t[4])), "another kind of tensor");
            OK(tdl_tensor_read(other, got, size));
            CHECK(!memcmp(got, want, size), "other elements");
        }
        tdl_tensor_destroy(&t);
        tdl_tensor_destroy(&other);
    }
    check_begin("layout: nonsense");
    struct tdl_tensor_params p = {.rank = 3, .shape = {2, 2, 2}, .label = "cube"};
    struct tdl_tensor *t, *other;
    OK(tdl_tensor_create(ctx, &p, &t));
    FAILS(tdl_tensor_convert_layout(t, TDL_LAYOUT_NHWC, TDL_LAYOUT_NCHW, &other),
          TDL_ERROR_INVALID_ARGUMENT, "cube");
    FAILS(tdl_tensor_convert_layout(t, TDL_LAYOUT_NHWC, (enum tdl_layout)4, &other),
          TDL_ERROR_INVALID_ARGUMENT, "no layout 4");
    FAILS(tdl_tensor_convert_layout(t, TDL_LAYOUT_DEFAULT, TDL_LAYOUT_NCHW, &other),
          TDL_ERROR_INVALID_ARGUMENT, "no layout 0");
    tdl_tensor_destroy(&t);
    p = (struct tdl_tensor_params){.rank = 4, .shape = {1, 2, 2, 2}, .label = "picture"};
    OK(tdl_tensor_create(ctx, &p, &t));
    FAILS(tdl_tensor_convert_layout(t, TDL_LAYOUT_NC4HW4, TDL_LAYOUT_NCHW, &other),
          TDL_ERROR_INVALID_ARGUMENT, "not in packs");
    tdl_tensor_destroy(&t);
}

/* A graph may write packs for the next one to read, whatever made them. */
static void check_packed_outputs(void)
{
    enum { SIZE = 2 * 3 * 5 };
    static const uint32_t swap[] = {0, 2, 1, 3};
    const struct tdl_tensor_params p = {.rank = 4, .shape = {1, 2, 3, 5}, .usage = WRITE};
    struct tdl_tensor *x, *y, *plain;
    float in[SIZE], out[SIZE];
    for (int i = 0; i < SIZE; i++)
        in[i] = (float)(i - 11);
    OK(tdl_tensor_create(ctx, &p, &x));
    OK(tdl_tensor_write(x, in, sizeof(in), NULL));
    for (int i = 0; i < 4; i++) {
        struct tdl_builder *b;
        struct tdl_graph *g;
        struct tdl_build_params params = {.output_packing = TDL_PACKING_C4};
        params.precision = i & 1 ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32;
        check_begin("packs out of a graph, %s, %s", i & 1 ? "fp16" : "fp32",
                    i & 2 ? "of a linear operator" : "of a packed one");
        OK(check_builder(ctx, &b));
        struct tdl_operand *v = tdl_builder_input(b, "x", &p);
        v = i & 2 ? tdl_builder_transpose(b, v, swap)
                  : tdl_builder_average_pool2d(b, v, &(struct tdl_pool2d_params){.window = {1, 1}});
        tdl_builder_output(b, "y", v);
        OK(tdl_builder_build(b, &params, &g));
        struct tdl_tensor_params q = *tdl_graph_output(g, 0, NULL);
        CHECK(q.packing == TDL_PACKING_C4 && q.shape[3] == 5, "not in packs");
        q.usage = READ;
        OK(tdl_tensor_create(ctx, &q, &y));
        OK(tdl_graph_dispatch(g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y}, 1,
                              NULL));
        OK(tdl_tensor_convert_layout(y, TDL_LAYOUT_NC4HW4, TDL_LAYOUT_NHWC, &plain));
        OK(tdl_tensor_read(plain, out, sizeof(out)));
        for (int e = 0; e < SIZE; e++) {
            const int h = e / 5 % 2, w = e / 10; /* place in the transposed picture, [1,3,2,5] */
            const float want = in[i & 2 ? (h * 3 + w) * 5 + e % 5 : e];
            if (!CHECK(out[e] == want, "element %d is %g instead of %g", e, (double)out[e],
                       (double)want))
                break;
        }
        tdl_tensor_destroy(&y);
        tdl_tensor_destroy(&plain);
        tdl_graph_destroy(&g);
        tdl_builder_destroy(&b);
    }
    tdl_tensor_destroy(&x);
}

/* Elements of a picture of 3 channels in packs, read as NHWC. */
static void expect_packs(struct tdl_tensor *t, int pixels, float scale, const char *name)
{
    struct tdl_tensor *plain;
    float out[64];
    OK(tdl_tensor_convert_layout(t, TDL_LAYOUT_NC4HW4, TDL_LAYOUT_NHWC, &plain));
    OK(tdl_tensor_read(plain, out, sizeof(float) * 3 * (size_t)pixels));
    for (int e = 0; e < 3 * pixels; e++) {
        const float want = scale * (float)(4 * (e / 3) + e % 3 + 1);
        if (!CHECK(out[e] == want, "%s: element %d is %g instead of %g", name, e, (double)out[e],
                   (double)want))
            break;
    }
    tdl_tensor_destroy(&plain);
}

/* A half of 0…2047. */
static uint16_t half_of(uint32_t v)
{
    uint32_t e = 0;
    while (v >> (e + 1))
        e++;
    return (uint16_t)(v ? (e + 15) << 10 | (v << (10 - e) & 1023) : 0);
}

/* Transpositions that only rename axes leave packs as they are: between tensors, and for values
 * that are outputs in both layouts, or twice. */
static void check_renamed_packs(void)
{
    enum { H4 = 2, W5 = 5, PIXELS = H4 * W5, CASES = 4 };
    static const uint32_t to_nhwc[] = {0, 2, 3, 1};
    static const char *const cases[CASES] = {"of a tensor", "of a value", "of an output", "twice"};
    static const float half = 0.5f;
    const struct tdl_tensor_params p = {.rank = 4, .shape = {1, 3, H4, W5}};
    for (int i = 0; i < 2 * CASES; i++) {
        const int kind = i / 2;
        const struct tdl_build_params params = {
            .input_packing = TDL_PACKING_C4,
            .output_packing = TDL_PACKING_C4,
            .precision = i & 1 ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32};
        struct tdl_builder *b;
        struct tdl_graph *g;
        struct tdl_tensor *x, *y[2] = {NULL, NULL};
        struct tdl_binding bindings[2];
        float in[4 * PIXELS];
        check_begin("another layout in packs, %s, %s", cases[kind], i & 1 ? "fp16" : "fp32");
        OK(check_builder(ctx, &b));
        tdl_builder_set_input_layout(b, TDL_LAYOUT_NCHW);
        struct tdl_operand *v = tdl_builder_input(b, "x", &p);
        if (kind)
            v = tdl_builder_mul(b, v, tdl_builder_constant(b, &(struct tdl_tensor_params){0}, &half,
                                                           sizeof(half)));
        tdl_builder_output(b, "y", tdl_builder_transpose(b, v, to_nhwc));
        if (kind >= 2)
            tdl_builder_output(b, "z", kind == 2 ? v : tdl_builder_transpose(b, v, to_nhwc));
        OK(tdl_builder_build(b, &params, &g));
        struct tdl_tensor_params q = *tdl_graph_input(g, 0, NULL);
        q.usage = WRITE;
        OK(tdl_tensor_create(ctx, &q, &x));
        for (int e = 0; e < 4 * PIXELS; e++)
            in[e] = (float)(e % 4 < 3 ? e + 1 : 0);
        uint16_t halves[4 * PIXELS];
        for (int e = 0; e < 4 * PIXELS; e++)
            halves[e] = half_of((uint32_t)in[e]);
        if (q.dtype == TDL_FLOAT16)
            OK(tdl_tensor_write(x, halves, sizeof(halves), NULL));
        else
            OK(tdl_tensor_write(x, in, sizeof(in), NULL));
        for (uint32_t k = 0; k < (kind >= 2 ? 2u : 1u); k++) {
            q = *tdl_graph_output(g, k, &bindings[k].name);
            CHECK(q.packing == TDL_PACKING_C4, "not in packs");
            q.usage = READ;
            OK(tdl_tensor_create(ctx, &q, &y[k]));
            bindings[k].tensor = y[k];
        }
        OK(tdl_graph_dispatch(g, &(struct tdl_binding){"x", x}, 1, bindings, kind >= 2 ? 2 : 1,
                              NULL));
        for (int k = 0; k < 2; k++)
            if (y[k])
                expect_packs(y[k], PIXELS, kind ? 0.5f : 1, bindings[k].name);
        tdl_tensor_destroy(&x);
        tdl_tensor_destroy(&y[0]);
        tdl_tensor_destroy(&y[1]);
        tdl_graph_destroy(&g);
        tdl_builder_destroy(&b);
    }
}

static void check_bindings(void)
{
    struct tdl_context *other = check_context_open();
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ), *view;
    struct tdl_tensor *foreign = tensor_of(other, READ), *wrong[4];
    struct tdl_tensor_params p = image(0);
    struct tdl_binding in = {"x", x}, out = {"y", y};
    const char *name;
    check_begin("bindings");
    CHECK(tdl_graph_input(g, 0, &name) && !strcmp(name, "x") && !tdl_graph_input(g, 1, NULL),
          "the inputs are wrong");
    CHECK(tdl_graph_output(g, 0, &name) && !strcmp(name, "y") && !tdl_graph_output(g, 1, NULL),
          "the outputs are wrong");
    p.shape[1]++;
    OK(tdl_tensor_create(ctx, &p, &wrong[0]));
    p = image(0);
    p.dtype = TDL_FLOAT16;
    OK(tdl_tensor_create(ctx, &p, &wrong[1]));
    p = image(0);
    p.packing = TDL_PACKING_C4;
    OK(tdl_tensor_create(ctx, &p, &wrong[2]));
    OK(tdl_tensor_reshape(x, 2, (uint32_t[]){H * W, C}, &wrong[3]));
    static const char *const says[] = {"float32[1,6,7,6]", "float16[1,5,7,6]", "in packs",
                                       "float32[35,6]"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        FAILS(dispatch(g, wrong[i], y), TDL_ERROR_INVALID_ARGUMENT, says[i]);
        CHECK(strstr(tdl_last_error(), "\"x\"") && strstr(tdl_last_error(), "float32[1,5,7,6]"),
              "\"%s\"", tdl_last_error());
        FAILS(dispatch(g, x, wrong[i]), TDL_ERROR_INVALID_ARGUMENT, "\"y\"");
        tdl_tensor_destroy(&wrong[i]);
    }
    FAILS(dispatch(g, NULL, y), TDL_ERROR_INVALID_ARGUMENT, "\"x\" has no tensor");
    FAILS(dispatch(g, foreign, y), TDL_ERROR_INVALID_ARGUMENT, "another context");
    FAILS(dispatch(g, x, foreign), TDL_ERROR_INVALID_ARGUMENT, "another context");
    FAILS(dispatch(g, x, x), TDL_ERROR_INVALID_ARGUMENT, "shares");
    OK(tdl_tensor_reshape(x, 4, (uint32_t[]){1, H, W, C}, &view));
    FAILS(dispatch(g, x, view), TDL_ERROR_INVALID_ARGUMENT, "shares");
    FAILS(tdl_graph_dispatch(g, NULL, 0, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "1 inputs");
    FAILS(tdl_graph_dispatch(g, &in, 1, NULL, 0, NULL), TDL_ERROR_INVALID_ARGUMENT, "1 outputs");
    in.name = "z";
    FAILS(tdl_graph_dispatch(g, &in, 1, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "\"x\"");
    in.name = NULL;
    FAILS(tdl_graph_dispatch(g, &in, 1, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "\"x\"");
    /* After all that, it works. */
    write_all(x, 4);
    OK(dispatch(g, view, y));
    expect_all(y, 5);
    tdl_tensor_destroy(&view);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_tensor_destroy(&foreign);
    tdl_graph_destroy(&g);
    tdl_graph_destroy(&g);
    check_context_close(other);
}

/* Outputs are needed, and what the builder refused stays refused. */
static void check_build_errors(void)
{
    struct tdl_tensor_params p = image(0), m = {.rank = 1, .shape = {C + 1}};
    struct tdl_builder *b;
    struct tdl_graph *g;
    check_begin("build");
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &p);
    FAILS(tdl_builder_build(b, NULL, &g), TDL_ERROR_INVALID_STATE, "no output");
    struct tdl_operand *mean = tdl_builder_input(b, "mean", &m);
    tdl_builder_output(b, "y", tdl_builder_batch_normalization(b, x, mean, mean, NULL));
    FAILS(tdl_builder_build(b, NULL, &g), TDL_ERROR_INVALID_ARGUMENT, "each channel");
    CHECK(!g, "a graph in spite of the error");
    tdl_builder_destroy(&b);
}

int main(void)
{
    ctx = check_context_open();
    check_round_trip();
    check_tensor_errors();
    check_reshape();
    check_layouts();
    check_packed_outputs();
    check_renamed_packs();
    check_bindings();
    check_build_errors();
    check_context_close(ctx);
    return check_result();
}
