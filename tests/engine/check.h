/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the engine's tests: checks that go on after a failure and print their case, a seeded
 * random source, and contexts under validation.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <tdl/tdl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIP 77
/* Stages of batches, where a test times them. */
enum { PREPROCESS, NETWORK, COMPOSE, STAGES };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Say what is being tested, with its seed: the text before every failure. */
void check_begin(const char *format, ...) TDL_PRINTF(1, 2);
/* Counts a failure, prints its text, returns false. */
bool check_fail(const char *file, int line, const char *format, ...) TDL_PRINTF(3, 4);
bool check_error(const char *file, int line, const char *call, enum tdl_result r,
                 enum tdl_result expected, const char *part);
/* Failures so far. */
int check_failures(void);
/* Exit status for main(). */
int check_result(void);

static inline bool check_passed(bool passed)
{
    return passed;
}
/* True if the condition holds; else prints the text and the test fails. */
#define CHECK(condition, ...)                                                                      \
    check_passed((condition) || check_fail(__FILE__, __LINE__, __VA_ARGS__))
/* CHECK() that ends the test on failure, where nothing can go on. */
#define REQUIRE(condition, ...)                                                                    \
    do {                                                                                           \
        if (!CHECK(condition, __VA_ARGS__))                                                        \
            exit(EXIT_FAILURE);                                                                    \
    } while (0)
/* A builder whose operators have their channels last, as most tests' pictures do. */
static inline enum tdl_result check_builder(struct tdl_context *context,
                                            struct tdl_builder **out_builder)
{
    const enum tdl_result r = tdl_builder_create(context, out_builder);
    if (r == TDL_OK)
        tdl_builder_set_input_layout(*out_builder, TDL_LAYOUT_NHWC);
    return r;
}

#define OK(call) REQUIRE((call) == TDL_OK, "%s: %s", #call, tdl_last_error())
/* The call fails with this result, and its text holds this part. */
#define FAILS(call, expected, part) check_error(__FILE__, __LINE__, #call, call, expected, part)

/* ------------------------------------------------------------------ random */

struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *rng);
/* 0 … limit - 1. */
uint32_t rng_below(struct rng *rng, uint32_t limit);
/* One in `n`. */
bool rng_one_in(struct rng *rng, uint32_t n);
float rng_float(struct rng *rng, float low, float high);
/* Seed of random cases: argument `at`, else TDL_TEST_SEED, else a new number in every run. Printed,
 * so that a run can be repeated. */
uint64_t check_seed(int argc, char **argv, int at);
/* How many random cases to try: argument 1, else TDL_TEST_CASES, else `few`. */
long check_cases(int argc, char **argv, long few);
/* Stride of slow cases: one of so many is tried, others in other runs. It is `n`, but 4 `n` where
 * TDL_TEST_CASES is 1 (as under sanitizers), and 1 where it is 100 or more. */
uint64_t check_stride(uint64_t n);
/* One of the given numbers. */
#define RNG_PICK(rng, ...)                                                                         \
    ((const uint32_t[]){__VA_ARGS__})[rng_below(                                                   \
        rng, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))]

/* ---------------------------------------------------------------- contexts */

/* Prints what libtdl logs. */
void check_log(void *data, enum tdl_log_level level, const char *message);
/* A context under validation; the program is skipped if there is no device. */
struct tdl_context *check_context_open(void);
/* Skips it likewise, before anything else is tried. */
void check_device(void);
/* Fails if the validation layers had anything to say, or if something on the
 * device was not destroyed; destroys the context. */
void check_context_close(struct tdl_context *ctx);

/* ------------------------------------------------------------------ graphs */

/* Tensors, readable and writable, for the only input and the only output of a graph, by its
 * names for them. */
void check_bind(struct tdl_context *ctx, const struct tdl_graph *g, struct tdl_binding *in,
                struct tdl_binding *out);
void check_unbind(struct tdl_binding *in, struct tdl_binding *out);
/* One run of it, with all of the input's elements, to all of the output's. */
void check_dispatch(struct tdl_context *ctx, struct tdl_graph *g, const void *in, void *out);

#endif
