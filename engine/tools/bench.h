/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of tdl-bench: bench_op.c builds one operator, bench.c runs a graph,
 * bench_print.c reports. */
#ifndef TDL_BENCH_H
#define TDL_BENCH_H

#include "tool.h"

#include <tdl/frame.h>

#define BENCH_MAX_BINDINGS 16

/* What --op and its options ask for; zero: not given. */
struct bench_operator {
    const char *name;
    uint32_t shape[4], kernel[2], size[2];
    uint32_t out, stride, dilation, groups;
    enum tdl_activation activation;
};

struct bench {
    const char *model, *device;
    struct bench_operator op;
    struct tdl_build_params build;
    uint32_t warmup, iterations;
    bool json;

    struct tdl_context *context;
    struct tdl_builder *builder;
    struct tdl_graph *graph;
    struct tdl_binding inputs[BENCH_MAX_BINDINGS], outputs[BENCH_MAX_BINDINGS];
    uint32_t input_count, output_count;

    double first_ms, build_ms;        /* first run; load and compile */
    struct tdl_batch *batch;
    double *wall_ms, *gpu_ms;         /* one per iteration */
    struct tool_summary wall;
    struct tool_summary gpu;          /* of a whole run by two timestamps; 0 without them */
    uint32_t step_count;
    double *step_us;                  /* median per dispatch; NULL without timestamps */
    double steps_us;                  /* median of the sum of all dispatches */
    uint64_t allocations, pipelines, submits; /* during the timed runs */
};

/* One operator with random weights into the builder. */
int bench_build_operator(const struct bench_operator *op, struct tdl_builder *builder);

/* Load, compile, run and measure. Prints its own error. */
int bench_run(struct bench *bench);
/* Safe after a bench_run() that failed. */
void bench_finish(struct bench *bench);

void bench_print_text(const struct bench *bench);
void bench_print_json(const struct bench *bench);

#endif
