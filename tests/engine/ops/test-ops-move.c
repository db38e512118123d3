/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that move elements without computing, against their plain C
 * references: slice, split, concat, pad, depthToSpace, spaceToDepth; linear
 * values of every type and rank, and packs in both layouts and precisions.
 *
 *     test-ops-move [cases [seed]]    that many random cases a family
 */
#include "subject.h"

#include <math.h>
#include <ops/ops.h>

typedef struct tdl_operand *(*add_fn)(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                      char text[256]);

static struct tdl_operand *add_slice(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                     char text[256])
{
    const struct tdl_tensor_params *d = tdl_operand_get_desc(x);
    struct tdl_slice_params p = {0};
    int used = 0;
    for (uint32_t i = 0; i < d->rank; i++) {
        p.start[i] = rng_below(rng, d->shape[i]);
        if (rng_one_in(rng, 2))
            p.start[i] = p.start[i] / 4 * 4;
        p.step[i] = (int32_t)RNG_PICK(rng, 0, 1, 1, 2, 3) * (rng_one_in(rng, 4) ? -1 : 1);
        uint32_t room = p.step[i] < 0 ? p.start[i] + 1 : d->shape[i] - p.start[i];
        p.size[i] = rng_below(rng, room + 1);
        used += snprintf(text + used, 256 - (size_t)used, "%u+%u/%d ", p.start[i], p.size[i],
                         p.step[i]);
    }
    return tdl_builder_slice(b, x, &p);
}

static struct tdl_operand *add_pad(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                   char text[256])
{
    const struct tdl_tensor_params *d = tdl_operand_get_desc(x);
    struct tdl_pad_params p = {.mode = rng_below(rng, 3)};
    int used = snprintf(text, 256, "mode %u ", p.mode);
    p.value = RNG_PICK(rng, 0, 3, 7) - (d->dtype == TDL_UINT64 ? 0 : 2.0);
    for (uint32_t i = 0; i < d->rank; i++) {
        uint32_t most = p.mode == TDL_PAD_REFLECTION ? d->shape[i] : 6;
        p.before[i] = rng_one_in(rng, 2) ? rng_below(rng, most) : 0;
        p.after[i] = rng_one_in(rng, 2) ? rng_below(rng, most) : 0;
        used += snprintf(text + used, 256 - (size_t)used, "%u,%u ", p.before[i], p.after[i]);
    }
    return tdl_builder_pad(b, x, &p);
}

/* Parts of one input in another order, some twice: split and concat. */
static struct tdl_operand *add_concat(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                      char text[256])
{
    const struct tdl_tensor_params *d = tdl_operand_get_desc(x);
    uint32_t axis = rng_below(rng, TDL_MAX(d->rank, 1)), sizes[3], count;
    struct tdl_operand *parts[4] = {0}, *inputs[11];
    uint32_t rest = d->shape[axis], n = 0;
    while (n < 3 && rest) {
        sizes[n] = n == 2 ? rest : 1 + rng_below(rng, rest);
        if (rng_one_in(rng, 2) && sizes[n] > 4)
            sizes[n] = sizes[n] / 4 * 4;
        rest -= sizes[n++];
    }
    if (rest)
        sizes[n - 1] += rest;
    tdl_builder_split(b, x, n, sizes, axis, parts);
    count = rng_one_in(rng, 4) ? 11 : 1 + rng_below(rng, 4);
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = parts[rng_below(rng, n)];
    snprintf(text, 256, "axis %u, %u inputs of %u parts", axis, count, n);
    return tdl_builder_concat(b, inputs, count, axis);
}

static struct tdl_operand *add_blocks(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                      char text[256])
{
    struct tdl_dims d = subject_dims(x);
    uint32_t block = RNG_PICK(rng, 1, 2, 2, 3);
    enum tdl_block_order order = rng_below(rng, 2);
    bool deep = d.h % block || d.w % block;
    if (deep && d.c % (block * block))
        block = 1;
    snprintf(text, 256, "%s block %u order %u", deep ? "to space" : "to depth", block, order);
    return deep ? tdl_builder_depth_to_space(b, x, block, order)
                : tdl_builder_space_to_depth(b, x, block, order);
}

static const struct family {
    const char *name;
    add_fn add;
    bool image; /* rank 4 only */
} families[] = {
    {"slice", add_slice, false},
    {"pad", add_pad, false},
    {"split and concat", add_concat, false},
    {"depthToSpace and spaceToDepth", add_blocks, true},
};

static struct tdl_tensor_params random_desc(struct rng *rng, enum tdl_layout layout, bool image,
                                            bool packs)
{
    struct tdl_tensor_params p;
    uint32_t c = RNG_PICK(rng, 1, 3, 4, 5, 8, 9, 12, 16, 17, 36);
    p = subject_image(layout, RNG_PICK(rng, 1, 1, 2), RNG_PICK(rng, 1, 2, 4, 6, 9, 17),
                      RNG_PICK(rng, 1, 3, 4, 6, 8, 16), c);
    if (packs)
        return p;
    p.dtype = rng_below(rng, TDL_UINT64 + 1);
    if (image)
        return p;
    p.rank = 1 + rng_below(rng, TDL_MAX_RANK);
    for (uint32_t i = 0; i < p.rank; i++)
        p.shape[i] = RNG_PICK(rng, 1, 2, 3, 4, 5, 7);
    return p;
}

static void run_case(struct tdl_context *ctx, const struct family *f, uint64_t seed)
{
    struct rng rng = {seed * 104729 + 3};
    bool packs = rng_below(&rng, 2), half = packs && rng_below(&rng, 2);
    const enum tdl_layout layout = rng_below(&rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    struct tdl_tensor_params desc = random_desc(&rng, layout, f->image, packs);
    struct tdl_builder *b;
    struct subject s;
    char text[256], shape[96];
    if (!ctx->info.shader_int64 && tdl_dtype_size(desc.dtype) == 8)
        desc.dtype = TDL_INT8;
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = tdl_builder_input(b, "x", &desc);
    if (packs) /* an operator that works on packs, as a neighbour */
        x = tdl_builder_max_pool2d(b, x, &(struct tdl_pool2d_params){.window = {1, 1}});
    struct tdl_operand *y = f->add(b, &rng, x, text);
    check_begin("%s seed %llu: %s %s%s%s %s", f->name, (unsigned long long)seed,
                tdl_tensor_params_text(&desc, shape, sizeof(shape)),
                layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC", packs ? " packs" : "",
                half ? " fp16" : "", text);
    REQUIRE(y, "%s", tdl_builder_error(b));
    if (!packs && rng_one_in(&rng, 2)) /* an inner value may be its input */
        y = tdl_builder_identity(b, y);
    tdl_builder_output(b, "y", y);
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                        .no_fuse = true,
                    });
    subject_close(&s);
}

/* ----------------------------------------------------------- worked by hand */

#define LIST(...) (const int32_t[]){__VA_ARGS__}

static struct tdl_operand *numbers(struct tdl_builder **b, uint32_t rows, uint32_t columns)
{
    struct tdl_tensor_params d = {.dtype = TDL_INT32, .rank = 2, .shape = {rows, columns}};
    OK(check_builder(NULL, b));
    return tdl_builder_input(*b, "x", &d);
}

/* The input is 0, 1, 2, …; takes the builder over. */
static void expect(const char *what, struct tdl_builder *b, struct tdl_operand *y, uint32_t count,
                   const int32_t *want)
{
    int32_t input[64];
    struct tdl_ir *ir = tdl_builder_ir(b);
    check_begin("worked by hand: %s", what);
    REQUIRE(y, "%s", tdl_builder_error(b));
    for (int32_t i = 0; i < 64; i++)
        input[i] = i;
    void **values = calloc(ir->operand_count, sizeof(*values));
    REQUIRE(values, "out of memory");
    OK(tdl_ir_run_reference(ir, (const void *const[]){input}, values));
    CHECK(tdl_operand_count(y) == count, "%zu elements", tdl_operand_count(y));
    for (uint32_t i = 0; i < count && i < tdl_operand_count(y); i++)
        CHECK(((int32_t *)values[y->id])[i] == want[i], "element %u is %d instead of %d", i,
              ((int32_t *)values[y->id])[i], want[i]);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    tdl_builder_destroy(&b);
}

static void check_goldens(void)
{
    struct tdl_builder *b;
    struct tdl_operand *x = numbers(&b, 3, 4), *parts[2];
    expect("slice", b,
           tdl_builder_slice(b, x, &(struct tdl_slice_params){.start = {2, 1}, .size = {3, 3},
                                                              .step = {-2, 2}}),
           4, LIST(9, 11, 1, 3));
    x = numbers(&b, 2, 3);
    expect("slice of whole rows backwards", b,
           tdl_builder_slice(b, x, &(struct tdl_slice_params){.start = {0, 2}, .step = {1, -1}}), 6,
           LIST(2, 1, 0, 5, 4, 3));
    x = numbers(&b, 2, 3);
    expect("slice of rows from the last on", b,
           tdl_builder_slice(b, x, &(struct tdl_slice_params){.start = {1}, .step = {-1}}), 6,
           LIST(3, 4, 5, 0, 1, 2));
    x = numbers(&b, 2, 2);
    struct tdl_pad_params p = {.before = {1}, .after = {0, 2}, .value = -5};
    expect("pad with a value", b, tdl_builder_pad(b, x, &p), 12,
           LIST(-5, -5, -5, -5, 0, 1, -5, -5, 2, 3, -5, -5));
    x = numbers(&b, 1, 3);
    p = (struct tdl_pad_params){.before = {1, 2}, .after = {0, 1}, .mode = TDL_PAD_EDGE};
    expect("pad with edges", b, tdl_builder_pad(b, x, &p), 12,
           LIST(0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 2, 2));
    x = numbers(&b, 1, 3);
    p = (struct tdl_pad_params){.before = {0, 2}, .after = {0, 1}, .mode = TDL_PAD_REFLECTION};
    expect("pad with a reflection", b, tdl_builder_pad(b, x, &p), 6, LIST(2, 1, 0, 1, 2, 1));
    x = numbers(&b, 2, 3);
    tdl_builder_split(b, x, 2, (const uint32_t[]){1, 2}, 1, parts);
    expect("split and concat", b,
           tdl_builder_concat(b, (struct tdl_operand *[]){parts[1], parts[0]}, 2, 1), 6,
           LIST(1, 2, 0, 4, 5, 3));
}

static void check_block_goldens(void)
{
    struct tdl_tensor_params d = subject_image(TDL_LAYOUT_NHWC, 1, 1, 1, 8);
    struct tdl_builder *b;
    d.dtype = TDL_INT32;
    for (int order = 0; order < 2; order++) {
        OK(check_builder(NULL, &b));
        struct tdl_operand *x = tdl_builder_input(b, "x", &d);
        expect(order ? "depthToSpace, CRD" : "depthToSpace, DCR", b,
               tdl_builder_depth_to_space(b, x, 2, (enum tdl_block_order)order), 8,
               order ? LIST(0, 4, 1, 5, 2, 6, 3, 7) : LIST(0, 1, 2, 3, 4, 5, 6, 7));
    }
    d = subject_image(TDL_LAYOUT_NHWC, 1, 2, 2, 2);
    d.dtype = TDL_INT32;
    for (int order = 0; order < 2; order++) {
        OK(check_builder(NULL, &b));
        struct tdl_operand *x = tdl_builder_input(b, "x", &d);
        expect(order ? "spaceToDepth, CRD" : "spaceToDepth, DCR", b,
               tdl_builder_space_to_depth(b, x, 2, (enum tdl_block_order)order), 8,
               order ? LIST(0, 2, 4, 6, 1, 3, 5, 7) : LIST(0, 1, 2, 3, 4, 5, 6, 7));
    }
}

/* The value of a padding in every type; what does not fit saturates. */
static void check_pad_values(struct tdl_context *ctx)
{
    static const struct {
        enum tdl_dtype dtype;
        double value;
        uint64_t want; /* the element's memory */
    } rows[] = {
        {TDL_FLOAT32, 1.5, 0x3fc00000},       {TDL_FLOAT32, 1e300, 0x7f800000},
        {TDL_FLOAT16, 1.5, 0x3e00},           {TDL_FLOAT16, -1e5, 0xfc00},
        {TDL_INT8, -3, 0xfd},                 {TDL_INT8, 128, 0x7f},
        {TDL_INT8, -1e9, 0x80},               {TDL_UINT8, 255.9, 0xff},
        {TDL_UINT8, -1, 0},                   {TDL_INT32, (double)NAN, 0},
        {TDL_INT32, 0x1p31, 0x7fffffff},      {TDL_INT32, -0x1p70, 0x80000000},
        {TDL_UINT32, 0x1p31, 0x80000000},     {TDL_UINT32, (double)INFINITY, 0xffffffff},
        {TDL_INT64, 0x1p62, 1ull << 62},      {TDL_INT64, 0x1p63, INT64_MAX},
        {TDL_INT64, (double)-INFINITY, 1ull << 63},
        {TDL_UINT64, 0x1p63, 1ull << 63},     {TDL_UINT64, 1e300, UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct tdl_tensor_params desc = {.dtype = rows[i].dtype, .rank = 1, .shape = {3}};
        const size_t size = tdl_dtype_size(rows[i].dtype);
        struct rng rng = {i};
        struct tdl_builder *b;
        struct subject s;
        if (size == 8 && !ctx->info.shader_int64)
            continue;
        check_begin("%g as %s", rows[i].value, tdl_dtype_name(rows[i].dtype));
        OK(check_builder(ctx, &b));
        struct tdl_pad_params p = {.before = {1}, .value = rows[i].value};
        tdl_builder_output(b, "y", tdl_builder_pad(b, tdl_builder_input(b, "x", &desc), &p));
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, &(struct tdl_build_params){.no_fuse = true});
        CHECK(!memcmp(s.plain[0], &rows[i].want, size), "the device wrote another element");
        CHECK(!memcmp(s.values[s.ir->outputs[0]->id], &rows[i].want, size),
              "the reference has another element");
        subject_close(&s);
    }
}

/* An infinity of 64 bits' doubles or of 32 bits' floats is none of 16-bit packs. */
static void check_pad_infinity(struct tdl_context *ctx)
{
    const struct tdl_tensor_params desc = subject_image(TDL_LAYOUT_NHWC, 1, 2, 3, 4);
    struct tdl_pad_params p = {.before = {0, 1}, .after = {0, 0, 0, 2}};
    for (int i = 0; i < 4; i++) {
        struct rng rng = {99};
        struct tdl_builder *b;
        struct subject s;
        p.value = i < 2 ? 1e300 : (double)-INFINITY;
        check_begin("an image padded with %g in packs, fp%d", p.value, i % 2 ? 16 : 32);
        OK(check_builder(ctx, &b));
        struct tdl_operand *x = tdl_builder_input(b, "x", &desc);
        x = tdl_builder_max_pool2d(b, x, &(struct tdl_pool2d_params){.window = {1, 1}});
        tdl_builder_output(b, "y", tdl_builder_pad(b, x, &p));
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, &(struct tdl_build_params){
                            .precision = i % 2 ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                            .no_fuse = true,
                        });
        subject_close(&s);
    }
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 6);
    uint64_t seed = check_seed(argc, argv, 2);
    check_goldens();
    check_block_goldens();
    struct tdl_context *ctx = check_context_open();
    check_pad_values(ctx);
    check_pad_infinity(ctx);
    for (size_t f = 0; f < COUNT(families); f++)
        for (long i = 0; i < cases; i++)
            run_case(ctx, &families[f], seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
