/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check.h"

#include <stdarg.h>
#include <time.h>

static int failures;
static char current[512];

void check_begin(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(current, sizeof(current), format, args);
    va_end(args);
}

bool check_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: %s%s", file, line, current, *current ? ": " : "");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    failures++;
    return false;
}

bool check_error(const char *file, int line, const char *call, enum tdl_result r,
                 enum tdl_result expected, const char *part)
{
    if (r != expected)
        return check_fail(file, line, "%s: \"%s\" instead of \"%s\"", call, tdl_result_string(r),
                          tdl_result_string(expected));
    return strstr(tdl_last_error(), part) ||
           check_fail(file, line, "%s: \"%s\" does not say \"%s\"", call, tdl_last_error(), part);
}

int check_failures(void)
{
    return failures;
}

int check_result(void)
{
    if (failures)
        fprintf(stderr, "%d checks failed\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014. */
uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t rng_below(struct rng *rng, uint32_t limit)
{
    return (uint32_t)(((rng_next(rng) >> 32) * limit) >> 32);
}

bool rng_one_in(struct rng *rng, uint32_t n)
{
    return rng_below(rng, n) == 0;
}

float rng_float(struct rng *rng, float low, float high)
{
    return low + (high - low) * (float)(rng_next(rng) >> 40) * 0x1p-24f;
}

uint64_t check_seed(int argc, char **argv, int at)
{
    struct timespec now;
    const char *text = argc > at ? argv[at] : getenv("TDL_TEST_SEED");
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed =
        text ? strtoull(text, NULL, 0)
             : ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) % 1000000000;
    printf("TDL_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

long check_cases(int argc, char **argv, long few)
{
    const char *text = argc > 1 ? argv[1] : getenv("TDL_TEST_CASES");
    return text ? atol(text) : few;
}

uint64_t check_stride(uint64_t n)
{
    const long cases = check_cases(0, NULL, 0);
    return cases >= 100 ? 1 : cases == 1 ? 4 * n : n;
}

void check_log(void *data, enum tdl_log_level level, const char *message)
{
    static const char *const names[] = {"", "error", "warning", "info", "debug", "trace"};
    (void)data;
    fprintf(stderr, "tdl %s: %s\n", names[level], message);
}

struct tdl_context *check_context_open(void)
{
    struct tdl_context *ctx;
    enum tdl_result r = tdl_context_create(
        &(struct tdl_context_params){.validation = true, .log = check_log}, &ctx);
    if (r == TDL_ERROR_NO_DEVICE) {
        printf("skipped: %s\n", tdl_last_error());
        exit(EXIT_SKIP);
    }
    REQUIRE(r == TDL_OK, "no context: %s", tdl_last_error());
    return ctx;
}

void check_device(void)
{
    struct tdl_context *ctx = check_context_open();
    tdl_context_destroy(&ctx);
}

void check_context_close(struct tdl_context *ctx)
{
    struct tdl_context_stats stats;
    check_begin("%s", "");
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &stats);
    CHECK(stats.validation_errors == 0, "%llu validation messages",
          (unsigned long long)stats.validation_errors);
    CHECK(stats.memory_bytes == 0, "%llu bytes of device memory are left",
          (unsigned long long)stats.memory_bytes);
    tdl_context_destroy(&ctx);
}

static void bind(struct tdl_context *ctx, struct tdl_tensor_params p, struct tdl_tensor **out)
{
    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(ctx, &p, out));
}

void check_bind(struct tdl_context *ctx, const struct tdl_graph *g, struct tdl_binding *in,
                struct tdl_binding *out)
{
    bind(ctx, *tdl_graph_input(g, 0, &in->name), &in->tensor);
    bind(ctx, *tdl_graph_output(g, 0, &out->name), &out->tensor);
}

void check_unbind(struct tdl_binding *in, struct tdl_binding *out)
{
    tdl_tensor_destroy(&in->tensor);
    tdl_tensor_destroy(&out->tensor);
}

void check_dispatch(struct tdl_context *ctx, struct tdl_graph *g, const void *in, void *out)
{
    struct tdl_binding x, y;
    check_bind(ctx, g, &x, &y);
    OK(tdl_tensor_write(x.tensor, in, tdl_tensor_params_size(tdl_graph_input(g, 0, NULL)), NULL));
    OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
    OK(tdl_tensor_read(y.tensor, out, tdl_tensor_params_size(tdl_graph_output(g, 0, NULL))));
    check_unbind(&x, &y);
}
