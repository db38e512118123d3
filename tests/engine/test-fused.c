/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random graphs, fused and unfused: both against the references of the graph
 * as it was written.
 *
 *     test-fused [graphs [seed]]    that many, from that seed on
 */
#include "random-graph.h"

static void run_seed(struct tdl_context *ctx, uint64_t seed)
{
    struct tdl_builder *b;
    struct subject s;
    struct rng rng = {seed};
    OK(tdl_builder_create(ctx, &b));
    random_graph(b, seed);
    check_begin("seed %llu", (unsigned long long)seed);
    subject_open(&s, ctx, b, &rng);
    /* What saves dispatches is fused on GPUs only. */
    subject_pretend_gpu(ctx, seed % 4 != 0);
    check_begin("seed %llu, fused", (unsigned long long)seed);
    bool fine = subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    /* The unfused one says whose fault it is; else now and then. */
    check_begin("seed %llu, unfused", (unsigned long long)seed);
    if (!fine || seed % 4 == 0)
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32,
                                                   .no_fuse = true});
    check_begin("seed %llu, fused, fp16", (unsigned long long)seed);
    s.slack = 10; /* roundings add up over the operators */
    if (seed % 2 == 0)
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
    subject_close(&s);
}

int main(int argc, char **argv)
{
    uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    const long count = check_cases(argc, argv, subject_has_kernels(ctx) ? 3 : 8);
    for (long i = 0; i < count; i++)
        run_seed(ctx, seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
