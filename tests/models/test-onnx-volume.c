/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Conv over three dimensions of space through the reader, against its definition.
 * ONNX's node tests have pools over them, and no convolutions.
 *
 *     test-onnx-volume [cases [seed]]    that many random cases, from that seed on
 */
#include "../engine/check.h"
#include "onnx-writer.h"

#include <tdl/models.h>

#include <math.h>

enum { FLOAT = 1, MOST = 1 << 14 };

/* Convolution over depth, height and width. */
struct volume {
    int64_t n, in, out, groups, size[3], kernel[3], stride[3], dilation[3], pad[6], result[3];
    bool biased, known;
};

static float x[MOST], filter[MOST], bias[MOST], got[2 * MOST];

static struct volume draw_volume(struct rng *rng)
{
    struct volume v = {.n = RNG_PICK(rng, 1, 2), .groups = RNG_PICK(rng, 1, 1, 2)};
    v.in = v.groups * RNG_PICK(rng, 1, 2, 3);
    v.out = v.groups * RNG_PICK(rng, 1, 2, 5);
    v.biased = rng_one_in(rng, 2);
    v.known = rng_one_in(rng, 2);
    for (int i = 0; i < 3; i++) {
        v.kernel[i] = RNG_PICK(rng, 1, 2, 3);
        v.stride[i] = RNG_PICK(rng, 1, 1, 2);
        v.dilation[i] = RNG_PICK(rng, 1, 1, 2);
        v.pad[i] = rng_below(rng, 2);
        v.pad[3 + i] = rng_below(rng, 3);
        v.size[i] = 5 + rng_below(rng, 3);
        v.result[i] =
            (v.size[i] + v.pad[i] + v.pad[3 + i] - (v.kernel[i] - 1) * v.dilation[i] - 1) /
                v.stride[i] +
            1;
    }
    return v;
}

static uint8_t *write_model(const struct volume *v, size_t *size)
{
    struct onnx_bytes g = {0}, a = {0};
    const int64_t in[] = {v->n, v->in, v->size[0], v->size[1], v->size[2]};
    const int64_t window[] = {v->out, v->in / v->groups, v->kernel[0], v->kernel[1], v->kernel[2]};
    const size_t filter_size =
        4 * (size_t)(window[0] * window[1] * window[2] * window[3] * window[4]);
    onnx_input(&g, "x", FLOAT, 5, in);
    onnx_initializer(&g, "w", FLOAT, 5, window, filter, filter_size);
    if (v->biased)
        onnx_initializer(&g, "b", FLOAT, 1, &v->out, bias, 4 * (size_t)v->out);
    onnx_attr_ints(&a, "strides", v->stride, 3);
    onnx_attr_ints(&a, "dilations", v->dilation, 3);
    onnx_attr_ints(&a, "pads", v->pad, 6);
    onnx_attr_int(&a, "group", v->groups);
    if (v->known) /* otherwise the filter has them */
        onnx_attr_ints(&a, "kernel_shape", v->kernel, 3);
    onnx_node(&g, "Conv", v->biased ? "x w b" : "x w", "y", &a);
    onnx_output(&g, "y");
    return onnx_model(&g, 17, size);
}

/* Output channel `o` at `at`, of image `n`. */
static double convolve(const struct volume *v, int64_t n, int64_t o, const int64_t at[3])
{
    const int64_t per = v->in / v->groups, group = o / (v->out / v->groups);
    double sum = v->biased ? (double)bias[o] : 0;
    for (int64_t c = 0; c < per; c++)
        for (int64_t k = 0; k < v->kernel[0] * v->kernel[1] * v->kernel[2]; k++) {
            const int64_t tap[] = {k / (v->kernel[1] * v->kernel[2]),
                                   k / v->kernel[2] % v->kernel[1], k % v->kernel[2]};
            int64_t place = n * v->in + group * per + c;
            bool inside = true;
            for (int i = 0; i < 3; i++) {
                const int64_t p = at[i] * v->stride[i] + tap[i] * v->dilation[i] - v->pad[i];
                inside &= p >= 0 && p < v->size[i];
                place = place * v->size[i] + p;
            }
            if (inside)
                sum +=
                    (double)x[place] *
                    (double)filter[(o * per + c) * v->kernel[0] * v->kernel[1] * v->kernel[2] + k];
        }
    return sum;
}

static void compare(const struct volume *v)
{
    size_t i = 0;
    for (int64_t n = 0; n < v->n; n++)
        for (int64_t o = 0; o < v->out; o++)
            for (int64_t d = 0; d < v->result[0]; d++)
                for (int64_t h = 0; h < v->result[1]; h++)
                    for (int64_t w = 0; w < v->result[2]; w++, i++) {
                        const double want = convolve(v, n, o, (const int64_t[]){d, h, w});
                        if (!CHECK(fabs((double)got[i] - want) <= 1e-3 * (1 + fabs(want)),
                                   "element %zu is %g instead of %g", i, (double)got[i], want))
                            return;
                    }
}

static void check_volume(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    const struct volume v = draw_volume(&rng);
    struct tdl_binding in = {"x", NULL}, out = {"y", NULL};
    struct tdl_builder *b;
    struct tdl_graph *graph = NULL;
    size_t size;
    check_begin("seed %llu: %lld to %lld channels in %lld groups", (unsigned long long)seed,
                (long long)v.in, (long long)v.out, (long long)v.groups);
    for (size_t i = 0; i < MOST; i++) {
        x[i] = rng_float(&rng, -1, 1);
        filter[i] = rng_float(&rng, -1, 1);
        bias[i] = rng_float(&rng, -1, 1);
    }
    uint8_t *model = write_model(&v, &size);
    OK(tdl_builder_create(ctx, &b));
    OK(tdl_model_import(b, model, size, NULL));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}, &graph));
    struct tdl_tensor_params p = *tdl_graph_input(graph, 0, NULL);
    struct tdl_tensor_params q = *tdl_graph_output(graph, 0, NULL);
    p.usage = TDL_TENSOR_WRITABLE;
    q.usage = TDL_TENSOR_READABLE;
    OK(tdl_tensor_create(ctx, &p, &in.tensor));
    OK(tdl_tensor_create(ctx, &q, &out.tensor));
    OK(tdl_tensor_write(in.tensor, x, tdl_tensor_params_size(&p), NULL));
    OK(tdl_graph_dispatch(graph, &in, 1, &out, 1, NULL));
    bool same = q.rank == 5 && q.shape[0] == v.n && q.shape[1] == v.out;
    for (int i = 0; i < 3; i++)
        same = same && q.shape[2 + i] == v.result[i];
    if (CHECK(same && tdl_tensor_params_size(&q) <= sizeof(got), "the result has another shape")) {
        OK(tdl_tensor_read(out.tensor, got, tdl_tensor_params_size(&q)));
        compare(&v);
    }
    tdl_tensor_destroy(&in.tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
    free(model);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 8);
    const uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    for (long i = 0; i < cases; i++)
        check_volume(ctx, seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
