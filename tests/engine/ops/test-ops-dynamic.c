/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters, biases and parameters that are bound at dispatch: operators give what they give of
 * constants with the same values, and refuse what they refuse of those.
 */
#include "check.h"

#include <math.h>

typedef struct tdl_operand *O;

enum { MOST = 1 << 14, PARAMETERS = 4 };

static struct tdl_context *ctx;

struct parameter {
    struct tdl_tensor_params desc;
    float values[1024];
};

/* One operator with parameters; `from` are operands of their values. */
struct form {
    unsigned kind;
    enum tdl_layout layout;
    struct tdl_tensor_params x;
    struct parameter parameters[PARAMETERS]; /* rank 0: no parameter */
    struct tdl_conv2d_params conv;
    struct tdl_conv_transpose2d_params transposed;
    enum tdl_activation activation;
};

static O build(struct tdl_builder *b, const struct form *f, O x, O const *from)
{
    struct tdl_conv2d_params conv = f->conv;
    struct tdl_conv_transpose2d_params transposed = f->transposed;
    conv.bias = transposed.bias = from[1];
    switch (f->kind) {
    case 0:
        return tdl_builder_conv2d(b, x, from[0], &conv);
    case 1:
        return tdl_builder_conv_transpose2d(b, x, from[0], &transposed);
    case 2:
        return tdl_builder_batch_normalization(
            b, x, from[0], from[1],
            &(struct tdl_batch_normalization_params){
                .scale = from[2], .bias = from[3], .activation = f->activation});
    default:
        return tdl_builder_instance_normalization(
            b, x,
            &(struct tdl_instance_normalization_params){
                .scale = from[2], .bias = from[3], .activation = f->activation});
    }
}

static void set(struct parameter *p, struct rng *rng, uint32_t rank, const uint32_t *shape)
{
    size_t count = 1;
    p->desc = (struct tdl_tensor_params){.rank = rank,
                                         .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    for (uint32_t i = 0; i < rank; i++)
        count *= p->desc.shape[i] = shape[i];
    REQUIRE(count <= COUNT(p->values), "%zu values", count);
    for (size_t i = 0; i < count; i++)
        p->values[i] = rng_float(rng, 0.25f, 1);
}

static void draw_windows(struct form *f, struct rng *rng)
{
    f->conv.activation = f->transposed.activation = f->activation;
    for (int i = 0; i < 2; i++) {
        f->conv.stride[i] = f->transposed.stride[i] = rng_below(rng, 4);
        f->conv.dilation[i] = f->transposed.dilation[i] = rng_below(rng, 3);
        f->transposed.output_padding[i] = rng_one_in(rng, 3) ? rng_below(rng, 3) : 0;
    }
    for (int i = 0; i < 4; i++)
        f->conv.pad[i] = f->transposed.pad[i] = rng_one_in(rng, 2) ? rng_below(rng, 4) : 0;
    if (rng_one_in(rng, 8)) {
        f->transposed = (struct tdl_conv_transpose2d_params){.padding = TDL_PADDING_SAME_UPPER};
        f->transposed.stride[0] = 1 + rng_below(rng, 3);
        f->transposed.stride[1] = 1 + rng_below(rng, 3);
    }
}

static void draw(struct form *f, struct rng *rng)
{
    *f = (struct form){.kind = rng_below(rng, 4),
                       .layout = rng_one_in(rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC,
                       .activation = rng_below(rng, 6)};
    const uint32_t groups = f->kind < 2 ? RNG_PICK(rng, 1, 1, 2, 3) : 1,
                   each = 1 + rng_below(rng, 3);
    const uint32_t n = 1 + rng_below(rng, 2), h = 1 + rng_below(rng, 5), w = 1 + rng_below(rng, 5);
    const uint32_t c = groups * each, outs = 1 + rng_below(rng, 5);
    const uint32_t kh = 1 + rng_below(rng, 3), kw = 1 + rng_below(rng, 3);
    const bool nchw = f->layout == TDL_LAYOUT_NCHW;
    f->x = (struct tdl_tensor_params){.rank = 4,
                                      .shape = {n, nchw ? c : h, nchw ? h : w, nchw ? w : c},
                                      .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    if (f->kind < 2) {
        draw_windows(f, rng);
        f->conv.groups = f->transposed.groups = groups;
        set(&f->parameters[0], rng, 4,
            f->kind ? (const uint32_t[]){outs, kh, kw, c}
                    : (const uint32_t[]){groups * outs, kh, kw, each});
        if (rng_one_in(rng, 2))
            set(&f->parameters[1], rng, 1, (const uint32_t[]){groups * outs});
        return;
    }
    for (uint32_t i = f->kind == 2 ? 0 : 2; i < PARAMETERS; i++)
        if (i < 2 || rng_one_in(rng, 2))
            set(&f->parameters[i], rng, 1, &c);
}

static struct tdl_builder *open(const struct form *f, uint32_t bound)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct tdl_builder *b;
    O from[PARAMETERS] = {NULL};
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, f->layout);
    O x = tdl_builder_input(b, "x", &f->x);
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        const struct parameter *p = &f->parameters[i];
        if (p->desc.rank)
            from[i] = bound >> i & 1 ? tdl_builder_input(b, names[i], &p->desc)
                                     : tdl_builder_constant(b, &p->desc, p->values,
                                                            tdl_tensor_params_size(&p->desc));
    }
    tdl_builder_output(b, "y", build(b, f, x, from));
    return b;
}

/* Runs the graph; returns the output's shape. */
static struct tdl_tensor_params run(struct tdl_builder *b, const struct form *f, const float *x,
                                    float *y)
{
    struct tdl_binding in[PARAMETERS + 1], out = {"y", NULL};
    struct tdl_graph *g;
    uint32_t ins = 0;
    OK(tdl_builder_build(b, NULL, &g));
    for (const char *name; tdl_graph_input(g, ins, &name); ins++) {
        in[ins].name = name;
        const struct parameter *p = *name == 'x' ? NULL : &f->parameters[*name - 'a'];
        const struct tdl_tensor_params *desc = p ? &p->desc : &f->x;
        OK(tdl_tensor_create(ctx, desc, &in[ins].tensor));
        OK(tdl_tensor_write(in[ins].tensor, p ? p->values : x, tdl_tensor_params_size(desc), NULL));
    }
    struct tdl_tensor_params desc = *tdl_graph_output(g, 0, NULL);
    const size_t size = tdl_tensor_params_size(&desc);
    REQUIRE(size <= MOST * sizeof(*y), "%zu bytes", size);
    desc.usage = TDL_TENSOR_READABLE;
    desc.label = NULL;
    OK(tdl_tensor_create(ctx, &desc, &out.tensor));
    OK(tdl_graph_dispatch(g, in, ins, &out, 1, NULL));
    OK(tdl_tensor_read(out.tensor, y, size));
    for (uint32_t i = 0; i < ins; i++)
        tdl_tensor_destroy(&in[i].tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&g);
    return desc;
}

static void check(uint64_t seed)
{
    static struct form f;
    static float x[MOST], constant[MOST], bound[MOST];
    struct rng rng = {seed};
    draw(&f, &rng);
    for (size_t i = 0; i < tdl_tensor_params_size(&f.x) / sizeof(float); i++)
        x[i] = rng_float(&rng, -1, 1);
    check_begin("seed %llu: operator %u", (unsigned long long)seed, f.kind);
    struct tdl_builder *a = open(&f, 0), *b = open(&f, 1 + rng_below(&rng, 15));
    CHECK(tdl_builder_status(a) == tdl_builder_status(b), "\"%s\", of constants \"%s\"",
          tdl_builder_error(b), tdl_builder_error(a));
    if (tdl_builder_status(a) == TDL_OK && tdl_builder_status(b) == TDL_OK) {
        const struct tdl_tensor_params want = run(a, &f, x, constant), is = run(b, &f, x, bound);
        CHECK(!memcmp(want.shape, is.shape, sizeof(is.shape)),
              "another shape");
        for (size_t i = 0; i < tdl_tensor_params_size(&want) / sizeof(float); i++)
            if (!CHECK(fabsf(constant[i] - bound[i]) <= 2e-4f * (1 + fabsf(constant[i])),
                       "%zu: %g, of constants %g", i, (double)bound[i], (double)constant[i]))
                break;
    }
    tdl_builder_destroy(&a);
    tdl_builder_destroy(&b);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 6);
    const uint64_t seed = check_seed(argc, argv, 2);
    ctx = check_context_open();
    for (long i = 0; i < cases; i++)
        check(seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
