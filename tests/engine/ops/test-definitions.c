/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that a device may compute by their plain references, which the other tests
 * hold against themselves then: here they are held against WebNN's definitions once
 * more, written out by coordinates.
 */
#include "subject.h"

#include <math.h>

enum { MOST = 4096 /* elements */ };

static struct tdl_context *ctx;

struct value {
    struct tdl_tensor_params desc;
    union {
        float f[MOST];
        int32_t i[MOST];
    };
};

static uint32_t count_of(const struct tdl_tensor_params *p)
{
    return (uint32_t)(tdl_tensor_params_size(p) / 4);
}

/* The coordinates of element `index`, and back. */
static void spread(const struct tdl_tensor_params *p, uint32_t index, int32_t at[TDL_MAX_RANK])
{
    for (uint32_t d = p->rank; d-- > 0; index /= p->shape[d])
        at[d] = (int32_t)(index % p->shape[d]);
}

static uint32_t index_at(const struct tdl_tensor_params *p, const int32_t at[TDL_MAX_RANK])
{
    uint32_t index = 0;
    for (uint32_t d = 0; d < p->rank; d++)
        index = index * p->shape[d] + (uint32_t)at[d];
    return index;
}

static void shape_randomly(struct rng *rng, struct value *v, uint32_t rank)
{
    uint32_t shape[TDL_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++)
        shape[d] = RNG_PICK(rng, 1, 2, 3, 4, 5);
    v->desc = subject_shape(TDL_FLOAT32, rank, shape);
}

static void fill(struct rng *rng, struct value *v)
{
    for (uint32_t i = 0; i < count_of(&v->desc); i++)
        v->f[i] = rng_float(rng, -4, 4);
}

/* Some of them negative, and some out of range. */
static void fill_indices(struct rng *rng, struct value *v, uint32_t size)
{
    v->desc.dtype = TDL_INT32;
    for (uint32_t i = 0; i < count_of(&v->desc); i++)
        v->i[i] = (int32_t)rng_below(rng, 3 * size) - (int32_t)size - 1;
}

/* Negative ones count from the end; then what is out of range is clamped. */
static int32_t resolve(int32_t index, uint32_t size)
{
    index = index < 0 ? index + (int32_t)size : index;
    return index < 0 ? 0 : index >= (int32_t)size ? (int32_t)size - 1 : index;
}

/* ------------------------------------------------------------------- a run */

static struct tdl_tensor *tensor_of(const struct tdl_tensor_params *desc)
{
    struct tdl_tensor_params p = *desc;
    struct tdl_tensor *t;
    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(ctx, &p, &t));
    return t;
}

static struct tdl_builder *begin(const struct value *x, const struct value *y,
                                 struct tdl_operand *out_inputs[2])
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    out_inputs[0] = tdl_builder_input(b, "x", &x->desc);
    out_inputs[1] = y ? tdl_builder_input(b, "y", &y->desc) : NULL;
    return b;
}

/* Build it, run it, and compare with what the definition wants. */
static void finish(struct tdl_builder *b, struct tdl_operand *result, const struct value *x,
                   const struct value *y, const struct value *want)
{
    static struct value got;
    struct tdl_binding inputs[2] = {{"x", NULL}, {"y", NULL}}, output = {"result", NULL};
    struct tdl_graph *graph = NULL;
    OK(tdl_builder_output(b, "result", result));
    OK(tdl_builder_build(b, NULL, &graph));
    const struct tdl_tensor_params *desc = tdl_graph_output(graph, 0, NULL);
    REQUIRE(desc->rank == want->desc.rank &&
                !memcmp(desc->shape, want->desc.shape, desc->rank * sizeof(desc->shape[0])),
            "the result has another shape");
    inputs[0].tensor = tensor_of(&x->desc);
    OK(tdl_tensor_write(inputs[0].tensor, x->f, tdl_tensor_params_size(&x->desc), NULL));
    if (y) {
        inputs[1].tensor = tensor_of(&y->desc);
        OK(tdl_tensor_write(inputs[1].tensor, y->i, tdl_tensor_params_size(&y->desc), NULL));
    }
    output.tensor = tensor_of(desc);
    OK(tdl_graph_dispatch(graph, inputs, y ? 2 : 1, &output, 1, NULL));
    OK(tdl_tensor_read(output.tensor, got.f, tdl_tensor_params_size(desc)));
    subject_compare("result", desc, want->f, got.f, false, 4);
    tdl_tensor_destroy(&inputs[0].tensor);
    tdl_tensor_destroy(&inputs[1].tensor);
    tdl_tensor_destroy(&output.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
}

static struct value x, y, want;

/* --------------------------------------------------------------- operators */

static void check_gather(struct rng *rng)
{
    const uint32_t rank = 1 + rng_below(rng, 3), wide = rng_below(rng, 3);
    const uint32_t axis = rng_below(rng, rank);
    struct tdl_operand *in[2];
    shape_randomly(rng, &x, rank);
    shape_randomly(rng, &y, wide);
    fill(rng, &x);
    fill_indices(rng, &y, x.desc.shape[axis]);
    want.desc = x.desc;
    want.desc.rank = rank - 1 + wide;
    memcpy(want.desc.shape + axis, y.desc.shape, wide * sizeof(uint32_t));
    memcpy(want.desc.shape + axis + wide, x.desc.shape + axis + 1,
           (rank - axis - 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < count_of(&want.desc); i++) {
        int32_t at[TDL_MAX_RANK] = {0}, from[TDL_MAX_RANK] = {0};
        spread(&want.desc, i, at);
        memcpy(from, at, axis * sizeof(*at));
        from[axis] = resolve(y.i[index_at(&y.desc, at + axis)], x.desc.shape[axis]);
        memcpy(from + axis + 1, at + axis + wide, (rank - axis - 1) * sizeof(*at));
        want.f[i] = x.f[index_at(&x.desc, from)];
    }
    struct tdl_builder *b = begin(&x, &y, in);
    finish(b, tdl_builder_gather(b, in[0], in[1], axis), &x, &y, &want);
}

static void check_gather_elements(struct rng *rng)
{
    const uint32_t rank = 1 + rng_below(rng, 4), axis = rng_below(rng, rank);
    struct tdl_operand *in[2];
    shape_randomly(rng, &x, rank);
    fill(rng, &x);
    y.desc = x.desc;
    y.desc.shape[axis] = RNG_PICK(rng, 1, 2, 6);
    want.desc = y.desc;
    fill_indices(rng, &y, x.desc.shape[axis]);
    for (uint32_t i = 0; i < count_of(&want.desc); i++) {
        int32_t at[TDL_MAX_RANK] = {0};
        spread(&want.desc, i, at);
        at[axis] = resolve(y.i[i], x.desc.shape[axis]);
        want.f[i] = x.f[index_at(&x.desc, at)];
    }
    struct tdl_builder *b = begin(&x, &y, in);
    finish(b, tdl_builder_gather_elements(b, in[0], in[1], axis), &x, &y, &want);
}

static void check_triangular(struct rng *rng)
{
    const uint32_t rank = 2 + rng_below(rng, 3);
    const struct tdl_triangular_params p = {.lower = rng_one_in(rng, 2),
                                            .diagonal = (int32_t)rng_below(rng, 12) - 6};
    struct tdl_operand *in[2];
    shape_randomly(rng, &x, rank);
    fill(rng, &x);
    want.desc = x.desc;
    for (uint32_t i = 0; i < count_of(&want.desc); i++) {
        int32_t at[TDL_MAX_RANK] = {0};
        spread(&want.desc, i, at);
        const int32_t above = at[rank - 1] - at[rank - 2] - p.diagonal;
        want.f[i] = above == 0 || (above < 0) == p.lower ? x.f[i] : 0;
    }
    struct tdl_builder *b = begin(&x, NULL, in);
    finish(b, tdl_builder_triangular(b, in[0], &p), &x, NULL, &want);
}

/* Do they agree in all coordinates but those of the axes? */
static bool same_row(const struct tdl_tensor_params *d, uint32_t axes, uint32_t i, uint32_t j)
{
    int32_t a[TDL_MAX_RANK], b[TDL_MAX_RANK];
    bool same = true;
    spread(d, i, a);
    spread(d, j, b);
    for (uint32_t k = 0; k < d->rank; k++)
        same &= (axes >> k & 1) || a[k] == b[k];
    return same;
}

/* Over any axes, which need be neither the last nor neighbours. */
static void check_layer_normalization(struct rng *rng)
{
    struct tdl_layer_normalization_params p = {.epsilon = 0.01f};
    const uint32_t rank = 2 + rng_below(rng, 4), axes = 1 + rng_below(rng, (1u << rank) - 1);
    struct tdl_operand *in[2];
    shape_randomly(rng, &x, rank);
    fill(rng, &x);
    want.desc = x.desc;
    for (uint32_t d = 0; d < rank; d++)
        if (axes >> d & 1)
            p.axes[p.axis_count++] = d;
    const uint32_t count = count_of(&x.desc);
    for (uint32_t i = 0; i < count; i++) {
        double sum = 0, squares = 0, n = 0;
        for (uint32_t j = 0; j < count; j++)
            if (same_row(&x.desc, axes, i, j))
                sum += (double)x.f[j], n++;
        for (uint32_t j = 0; j < count; j++)
            if (same_row(&x.desc, axes, i, j))
                squares += ((double)x.f[j] - sum / n) * ((double)x.f[j] - sum / n);
        want.f[i] = (float)(((double)x.f[i] - sum / n) / sqrt(squares / n + 0.01));
    }
    struct tdl_builder *b = begin(&x, NULL, in);
    finish(b, tdl_builder_layer_normalization(b, in[0], &p), &x, NULL, &want);
}

static void check_im2col(struct rng *rng)
{
    const uint32_t h = 4 + rng_below(rng, 4), w = 4 + rng_below(rng, 4), c = 1 + rng_below(rng, 5);
    const struct tdl_im2col_params p = {
        .kernel = {1 + rng_below(rng, 3), 1 + rng_below(rng, 3)},
        .stride = {1 + rng_below(rng, 2), 1 + rng_below(rng, 2)},
        .dilation = {1, 1},
        .pad = {rng_below(rng, 2), rng_below(rng, 2), rng_below(rng, 2), rng_below(rng, 2)},
    };
    struct tdl_operand *in[2];
    x.desc = subject_image(TDL_LAYOUT_NHWC, 1, h, w, c);
    fill(rng, &x);
    want.desc = subject_image(
        TDL_LAYOUT_NHWC, 1, (h + p.pad[0] + p.pad[1] - p.kernel[0]) / p.stride[0] + 1,
        (w + p.pad[2] + p.pad[3] - p.kernel[1]) / p.stride[1] + 1, p.kernel[0] * p.kernel[1] * c);
    for (uint32_t i = 0; i < count_of(&want.desc); i++) {
        int32_t at[TDL_MAX_RANK];
        spread(&want.desc, i, at);
        const int32_t tap = at[3] / (int32_t)c, across = (int32_t)p.kernel[1];
        const int32_t row = at[1] * (int32_t)p.stride[0] + tap / across - (int32_t)p.pad[0];
        const int32_t column = at[2] * (int32_t)p.stride[1] + tap % across - (int32_t)p.pad[2];
        const bool inside = row >= 0 && row < (int32_t)h && column >= 0 && column < (int32_t)w;
        want.f[i] = inside ? x.f[((uint32_t)row * w + (uint32_t)column) * c + (uint32_t)at[3] % c]
                           : 0;
    }
    struct tdl_builder *b = begin(&x, NULL, in);
    finish(b, tdl_builder_im2col(b, in[0], &p), &x, NULL, &want);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(struct rng *rng);
    } rows[] = {
        {"gather", check_gather},
        {"gatherElements", check_gather_elements},
        {"triangular", check_triangular},
        {"layerNormalization", check_layer_normalization},
        {"im2col", check_im2col},
    };
    const long cases = check_cases(argc, argv, 10);
    const uint64_t seed = check_seed(argc, argv, 2);
    ctx = check_context_open();
    for (uint64_t i = 0; i < (uint64_t)cases; i++)
        for (size_t k = 0; k < COUNT(rows); k++) {
            struct rng rng = {seed + i};
            check_begin("seed %llu: %s", (unsigned long long)(seed + i), rows[k].name);
            rows[k].check(&rng);
        }
    check_context_close(ctx);
    return check_result();
}
