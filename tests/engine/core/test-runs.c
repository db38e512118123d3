/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many runs of one graph, each on what the last one made: every one has
 * counted in the end, and none has left anything behind.
 *
 *     test-runs [runs]    2000; a million in tests/run.sh --nightly
 */
#include "line.h"

int main(int argc, char **argv)
{
    const long runs = argc > 1 ? atol(argv[1]) : 2000, round = 1000;
    struct tdl_context *ctx = check_context_open();
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *t[2] = {tensor_of(ctx, READ | WRITE), tensor_of(ctx, READ | WRITE)};
    struct tdl_context_stats before = {0}, after;
    uint64_t memory = 0;
    REQUIRE(runs <= 1 << 24, "floats count no further than 2^24");
    write_all(t[0], 0);
    for (long i = 0; i < runs; i++) {
        check_begin("run %ld", i);
        OK(dispatch(g, t[i & 1], t[~i & 1]));
        if (i % round == 0 && i) /* the first ones make what is made once */
            before = stats_of(ctx);
        if (i % round != round - 1)
            continue;
        after = stats_of(ctx);
        if (i > round && !CHECK(after.allocations == before.allocations &&
                                    (i < 2 * round || after.memory_bytes == memory),
                                "%llu allocations, %llu bytes, %llu before",
                                (unsigned long long)(after.allocations - before.allocations),
                                (unsigned long long)after.memory_bytes,
                                (unsigned long long)memory))
            break;
        memory = after.memory_bytes;
        if (!expect_all(t[~i & 1], (float)(i + 1)))
            break;
    }
    for (int i = 0; i < 2; i++)
        tdl_tensor_destroy(&t[i]);
    tdl_graph_destroy(&g);
    check_context_close(ctx);
    return check_result();
}
