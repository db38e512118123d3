/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Attention through the reader, against its definition: loops over heads, queries
 * and keys. ONNX's node tests have it only from 1.19 on.
 *
 *     test-onnx-attention [cases [seed]]    that many random cases, from that seed on
 */
#include "../engine/check.h"
#include "onnx-writer.h"

#include <tdl/models.h>

#include <math.h>

enum { FLOAT = 1, MOST = 4096, N = 2 };

/* Lengths and depths of queries and of keys and values. */
struct sizes {
    uint32_t heads, shared, queries, keys, depth, value_depth;
    bool flat, causal, masked;
    float scale, cap; /* 0: none given */
};

static struct sizes draw_sizes(struct rng *rng)
{
    struct sizes s = {
        .shared = RNG_PICK(rng, 1, 2, 3),
        .queries = RNG_PICK(rng, 1, 3, 5),
        .keys = RNG_PICK(rng, 5, 6),
        .depth = RNG_PICK(rng, 1, 4, 7),
        .value_depth = RNG_PICK(rng, 2, 5),
        .flat = rng_one_in(rng, 2),
        .causal = rng_one_in(rng, 2),
        .masked = rng_one_in(rng, 2),
        .scale = rng_one_in(rng, 2) ? 0 : 0.3f,
        .cap = rng_one_in(rng, 2) ? 0 : 1.5f,
    };
    s.heads = s.shared * RNG_PICK(rng, 1, 2);
    return s;
}

static uint8_t *write_model(const struct sizes *s, size_t *size)
{
    struct onnx_bytes g = {0}, a = {0};
    const struct {
        const char *name;
        uint32_t heads, length, depth;
    } inputs[] = {{"q", s->heads, s->queries, s->depth},
                  {"k", s->shared, s->keys, s->depth},
                  {"v", s->shared, s->keys, s->value_depth}};
    const int64_t mask[] = {s->queries, s->keys};
    for (size_t i = 0; i < COUNT(inputs); i++) {
        const int64_t heads = inputs[i].heads, length = inputs[i].length, depth = inputs[i].depth;
        const int64_t flat[] = {N, length, heads * depth}, deep[] = {N, heads, length, depth};
        onnx_input(&g, inputs[i].name, FLOAT, s->flat ? 3 : 4, s->flat ? flat : deep);
    }
    if (s->masked)
        onnx_input(&g, "mask", FLOAT, 2, mask);
    onnx_attr_int(&a, "is_causal", s->causal);
    onnx_attr_int(&a, "q_num_heads", s->heads);
    onnx_attr_int(&a, "kv_num_heads", s->shared);
    if (s->scale != 0)
        onnx_attr_float(&a, "scale", s->scale);
    if (s->cap != 0)
        onnx_attr_float(&a, "softcap", s->cap);
    onnx_node(&g, "Attention", s->masked ? "q k v mask" : "q k v", "y", &a);
    onnx_output(&g, "y");
    return onnx_model(&g, 23, size);
}

/* Element d of place `at` of a head. */
static size_t place(const struct sizes *s, uint32_t heads, uint32_t length, uint32_t depth,
                    uint32_t n, uint32_t head, uint32_t at, uint32_t d)
{
    return s->flat ? ((size_t)(n * length + at) * heads + head) * depth + d
                   : ((size_t)(n * heads + head) * length + at) * depth + d;
}

/* One query's result. */
static void attend(const struct sizes *s, float values[4][MOST], uint32_t n, uint32_t head,
                   uint32_t query, double *out)
{
    const uint32_t from = head / (s->heads / s->shared);
    const double scale = s->scale != 0 ? (double)s->scale : 1 / sqrt(s->depth);
    double weights[16], all = 0;
    memset(out, 0, s->value_depth * sizeof(*out));
    for (uint32_t k = 0; k < s->keys; k++) {
        double x = 0;
        for (uint32_t d = 0; d < s->depth; d++)
            x += (double)values[0][place(s, s->heads, s->queries, s->depth, n, head, query, d)] *
                 (double)values[1][place(s, s->shared, s->keys, s->depth, n, from, k, d)];
        x = x * scale + (s->masked ? (double)values[3][query * s->keys + k] : 0);
        if (s->cap != 0)
            x = (double)s->cap * tanh(x / (double)s->cap);
        weights[k] = s->causal && k > query && s->cap == 0 ? 0 : exp(x);
        if (s->causal && k > query && s->cap != 0) /* the cap comes behind the mask */
            weights[k] = exp(-(double)s->cap);
        all += weights[k];
    }
    for (uint32_t k = 0; k < s->keys; k++)
        for (uint32_t d = 0; d < s->value_depth; d++)
            out[d] +=
                weights[k] / all *
                (double)values[2][place(s, s->shared, s->keys, s->value_depth, n, from, k, d)];
}

static void compare(const struct sizes *s, float values[4][MOST], const float *got)
{
    double want[8];
    for (uint32_t n = 0; n < N; n++)
        for (uint32_t head = 0; head < s->heads; head++)
            for (uint32_t query = 0; query < s->queries; query++) {
                attend(s, values, n, head, query, want);
                for (uint32_t d = 0; d < s->value_depth; d++) {
                    const double is = (double)
                        got[place(s, s->heads, s->queries, s->value_depth, n, head, query, d)];
                    CHECK(fabs(is - want[d]) < 1e-4, "query %u of head %u is %g instead of %g",
                          query, head, is, want[d]);
                }
            }
}

static void run(struct tdl_context *ctx, uint64_t seed)
{
    static float values[4][MOST], got[MOST];
    struct rng rng = {seed};
    const struct sizes s = draw_sizes(&rng);
    struct tdl_binding in[4] = {{0}}, out = {"y", NULL};
    struct tdl_graph *graph = NULL;
    struct tdl_builder *b;
    uint32_t count = 0;
    size_t size;
    check_begin("seed %llu", (unsigned long long)seed);
    uint8_t *model = write_model(&s, &size);
    OK(tdl_builder_create(ctx, &b));
    OK(tdl_model_import(b, model, size, NULL));
    OK(tdl_builder_build(b, NULL, &graph));
    for (const struct tdl_tensor_params *p; (p = tdl_graph_input(graph, count, &in[count].name));
         count++) {
        struct tdl_tensor_params q = *p;
        q.usage = TDL_TENSOR_WRITABLE;
        for (size_t i = 0; i < tdl_tensor_params_size(p) / 4; i++)
            values[count][i] = rng_float(&rng, -1, 1);
        OK(tdl_tensor_create(ctx, &q, &in[count].tensor));
        OK(tdl_tensor_write(in[count].tensor, values[count], tdl_tensor_params_size(p), NULL));
        if (count == 3)
            break;
    }
    count = s.masked ? 4 : 3;
    struct tdl_tensor_params p = *tdl_graph_output(graph, 0, NULL);
    p.usage = TDL_TENSOR_READABLE;
    OK(tdl_tensor_create(ctx, &p, &out.tensor));
    OK(tdl_graph_dispatch(graph, in, count, &out, 1, NULL));
    OK(tdl_tensor_read(out.tensor, got, tdl_tensor_params_size(&p)));
    compare(&s, values, got);
    for (uint32_t i = 0; i < count; i++)
        tdl_tensor_destroy(&in[i].tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
    free(model);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 2);
    const uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    for (long i = 0; i < cases; i++)
        run(ctx, seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
