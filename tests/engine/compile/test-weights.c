/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs that have weights in common have them on the device once, compute what they
 * compute alone, and leave them to each other; and those that have little in common keep
 * nothing of each other alive.
 */
#include "subject.h"

#include <core/weights.h>
#include <digest.h>

#include <pthread.h>

typedef struct tdl_operand *O;

enum { CHANNELS = 32, LAYERS = 4, GRAPHS = 4, LARGE = 64 };

static struct tdl_context *ctx;

static uint64_t memory(void)
{
    struct tdl_context_stats stats;
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &stats);
    return stats.memory_bytes;
}

static struct tdl_graph_stats stats_of(const struct tdl_graph *g)
{
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(g, &stats);
    return stats;
}

/* Layers whose weights no way to compute them makes others of, and which XNNPACK, of
 * which each runtime has its own, does not take: products of the same matrices. */
static struct tdl_builder *open_builder(uint64_t seed, uint32_t rows, uint32_t layers)
{
    struct tdl_builder *b;
    struct rng rng = {seed};
    float values[CHANNELS * CHANNELS];
    OK(check_builder(ctx, &b));
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1, rows, CHANNELS));
    for (uint32_t i = 0; i < layers; i++) {
        for (size_t k = 0; k < COUNT(values); k++)
            values[k] = rng_float(&rng, -0.3f, 0.3f);
        O w = subject_constant(b, 3, (const uint32_t[]){1, CHANNELS, CHANNELS}, values);
        O c = subject_constant(b, 1, (const uint32_t[]){CHANNELS}, values);
        x = tdl_builder_add(b, tdl_builder_matmul(b, x, w), c);
    }
    OK(tdl_builder_output(b, "y", x));
    return b;
}

static struct tdl_graph *build(uint64_t seed, uint32_t rows, uint32_t layers)
{
    struct tdl_builder *b = open_builder(seed, rows, layers);
    struct tdl_graph *g;
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    return g;
}

/* Runs the graph on the same numbers. */
static void run(struct tdl_graph *g, float *out)
{
    const size_t count = tdl_tensor_params_size(tdl_graph_input(g, 0, NULL)) / sizeof(float);
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(i % 17) / 8 - 1;
    check_dispatch(ctx, g, out, out);
}

static void check_run(struct tdl_graph *g, const float *want, uint32_t rows)
{
    static float got[LARGE * CHANNELS];
    run(g, got);
    CHECK(!memcmp(want, got, rows * CHANNELS * sizeof(float)), "other results");
}

/* Built at two sizes, and twice at one; destroyed in every order. */
static void check_sizes(void)
{
    static const uint32_t rows[GRAPHS] = {1, 16, 16, LARGE};
    static float alone[GRAPHS][LARGE * CHANNELS];
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct tdl_graph *g = build(3, rows[i], LAYERS);
        run(g, alone[i]);
        tdl_graph_destroy(&g);
    }
    for (uint32_t order = 0; order < 24; order++) {
        struct tdl_graph *g[GRAPHS];
        uint32_t left[GRAPHS] = {0, 1, 2, 3}, count = GRAPHS, rest = order;
        const uint64_t before = memory();
        check_begin("weights: sizes, order %u", order);
        for (uint32_t i = 0; i < GRAPHS; i++) {
            const uint64_t with = memory();
            g[i] = build(3, rows[i], LAYERS);
            const struct tdl_graph_stats s = stats_of(g[i]);
            const uint64_t grown = memory() - with, arena = TDL_MAX(s.arena_bytes, 16);
            CHECK(s.weight_bytes >= LAYERS * CHANNELS * CHANNELS * sizeof(float), "no weights");
            if (i)
                CHECK(grown <= arena, "%llu bytes more for an arena of %llu",
                      (unsigned long long)grown, (unsigned long long)arena);
        }
        while (count) {
            const uint32_t at = rest % count;
            for (uint32_t i = 0; i < count; i++)
                check_run(g[left[i]], alone[left[i]], rows[left[i]]);
            tdl_graph_destroy(&g[left[at]]);
            rest /= count;
            left[at] = left[--count];
        }
        CHECK(memory() == before, "%llu bytes before, %llu after", (unsigned long long)before,
              (unsigned long long)memory());
        if (!subject_has_kernels(ctx) || check_stride(1) > 1)
            order += 6;
    }
}

/* Convolutions, whose weights kernels want in packs; the batch and the layout of tensors
 * do not matter to those. */
static void check_convolutions(void)
{
    struct tdl_build_params params[] = {
        {.conv2d_algorithm = "direct:1"},
        {.conv2d_algorithm = "direct:1", .input_packing = TDL_PACKING_C4},
        {.conv2d_algorithm = "direct:1", .output_packing = TDL_PACKING_C4}};
    struct tdl_graph *g[2][COUNT(params)];
    check_begin("weights: convolutions");
    if (!subject_has_kernels(ctx)) /* XNNPACK's */
        return;
    for (uint32_t i = 0; i < 2; i++) {
        struct rng rng = {9};
        struct tdl_builder *b;
        OK(check_builder(ctx, &b));
        O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, i ? 16 : 1, 8, 8, 8));
        O w = subject_filter(b, &rng, 8, 3, 3, 8), c = subject_bias(b, &rng, 8);
        OK(tdl_builder_output(b, "y",
                              tdl_builder_conv2d(b, x, w,
                                                 &(struct tdl_conv2d_params){.bias = c})));
        for (size_t k = 0; k < COUNT(params); k++) {
            const uint64_t before = memory();
            OK(tdl_builder_build(b, &params[k], &g[i][k]));
            const uint64_t arena = TDL_MAX(stats_of(g[i][k]).arena_bytes, 16);
            CHECK(memory() - before <= arena || (!i && !k), "batch %u, variant %zu: %llu bytes",
                  i ? 16 : 1, k, (unsigned long long)(memory() - before));
        }
        tdl_builder_destroy(&b);
    }
    for (size_t k = 0; k < 2 * COUNT(params); k++)
        tdl_graph_destroy(&g[k % 2][k / 2]);
}

/* A small part of a large network's does not keep the others of it alive; more than half
 * is taken, and the rest is one's own. */
static void check_parts(void)
{
    check_begin("weights: parts");
    const uint64_t before = memory();
    struct tdl_graph *large = build(5, 4, LAYERS), *small = build(5, 4, 1);
    const uint64_t arena = TDL_MAX(stats_of(small).arena_bytes, 16);
    const uint64_t bytes = CHANNELS * CHANNELS * sizeof(float);
    tdl_graph_destroy(&large);
    CHECK(memory() - before <= arena + bytes + 1024, "%llu bytes are left for %llu of weights",
          (unsigned long long)(memory() - before), (unsigned long long)bytes);
    struct tdl_graph *more = build(5, 4, 3);
    const uint64_t both = memory() - before - arena - stats_of(more).arena_bytes;
    CHECK(both <= 3 * bytes + 4096, "%llu bytes for %llu of weights", (unsigned long long)both,
          (unsigned long long)(3 * bytes));
    tdl_graph_destroy(&small);
    float results[2][4 * CHANNELS];
    run(more, results[0]);
    tdl_graph_destroy(&more);
    CHECK(memory() == before, "memory is left");
    more = build(5, 4, 3);
    run(more, results[1]);
    CHECK(!memcmp(results[0], results[1], sizeof(results[0])), "other results");
    tdl_graph_destroy(&more);
}

/* Constants whose bytes the caller changes between two builds are others. */
static void check_changed(void)
{
    static float values[CHANNELS];
    struct tdl_builder *b;
    struct tdl_graph *g[2];
    float out[CHANNELS];
    check_begin("weights: changed bytes");
    OK(check_builder(ctx, &b));
    const struct tdl_tensor_params p = SUBJECT_SHAPE(TDL_FLOAT32, CHANNELS);
    O x = subject_input(b, "x", p), c = tdl_builder_constant(b, &p, values, sizeof(values));
    OK(tdl_builder_output(b, "y", tdl_builder_add(b, x, c)));
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < CHANNELS; k++)
            values[k] = (float)(i + 1);
        OK(tdl_builder_build(b, NULL, &g[i]));
    }
    tdl_builder_destroy(&b);
    for (int i = 0; i < 2; i++) {
        run(g[i], out);
        CHECK(out[0] == (float)i, "%g", (double)out[0]); /* -1 and what was added */
        tdl_graph_destroy(&g[i]);
    }
}

struct worker {
    pthread_t thread;
    uint64_t seed;
    float want[16 * CHANNELS];
};

static void *build_often(void *data)
{
    struct worker *w = data;
    static _Thread_local float got[16 * CHANNELS];
    for (int i = 0; i < 12; i++) {
        struct tdl_graph *one = build(w->seed, 16, 2), *two = build(w->seed, 16, 2);
        tdl_graph_destroy(&one);
        run(two, got);
        CHECK(!memcmp(w->want, got, sizeof(got)), "thread %u: other results", (unsigned)w->seed);
        tdl_graph_destroy(&two);
    }
    return NULL;
}

/* Two of them the same weights. */
static void check_threads(void)
{
    struct worker workers[4] = {{.seed = 1}, {.seed = 1}, {.seed = 2}, {.seed = 2}};
    check_begin("weights: threads");
    const uint64_t before = memory();
    for (size_t i = 0; i < COUNT(workers); i++) {
        struct tdl_graph *g = build(workers[i].seed, 16, 2);
        run(g, workers[i].want);
        tdl_graph_destroy(&g);
    }
    for (size_t i = 0; i < COUNT(workers); i++)
        REQUIRE(!pthread_create(&workers[i].thread, NULL, build_often, &workers[i]), "no thread");
    for (size_t i = 0; i < COUNT(workers); i++)
        pthread_join(workers[i].thread, NULL);
    CHECK(memory() == before, "memory is left");
}

/* The first of the authors' vectors for 128 bits, of no byte and of 00, by the key 00…0f. */
static void check_digest(void)
{
    static const uint8_t wanted[][16] = {
        {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
         0x93},
        {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
         0x45}};
    const uint16_t one = 1;
    struct tdl_digest key;
    uint8_t bytes[16];
    check_begin("digest");
    for (int i = 0; i < 16; i++)
        bytes[i] = (uint8_t)i;
    memcpy(&key, bytes, sizeof(key));
    for (size_t i = 0; i < COUNT(wanted) && *(const uint8_t *)&one; i++) {
        const struct tdl_digest got = tdl_digest_bytes(&key, bytes, i);
        CHECK(!memcmp(&got, wanted[i], sizeof(got)), "of %zu bytes", i);
    }
}

int main(void)
{
    ctx = check_context_open();
    check_digest();
    check_sizes();
    check_convolutions();
    check_parts();
    check_changed();
    check_threads();
    check_context_close(ctx);
    return check_result();
}
