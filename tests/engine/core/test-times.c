/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A batch's times are those of its last submission: not before that has
 * finished, and never those of the one before, which lie in the same queries.
 * Asking for them waits for nothing.
 */
#include "check.h"

#include <core/core.h>

enum { BYTES = 32 << 20, COPIES = 24, ROUNDS = 12 };

static void record(struct tdl_batch *b, struct tdl_buffer *const buffers[2], uint32_t stage)
{
    OK(tdl_batch_begin(b));
    OK(tdl_batch_stage(b, stage));
    for (uint32_t i = 0; i < COPIES; i++)
        OK(tdl_batch_copy(b, buffers[i & 1], 0, buffers[1 - (i & 1)], 0, BYTES));
}

int main(void)
{
    struct tdl_context *ctx = check_context_open();
    struct tdl_buffer *buffers[2];
    struct tdl_batch *b;
    uint64_t point, times[STAGES];
    uint32_t early = 0;
    if (!tdl_context_device(ctx)->timestamps) {
        printf("skipped: %s has no timestamps\n", tdl_context_device(ctx)->name);
        tdl_context_destroy(&ctx);
        return EXIT_SKIP;
    }
    OK(tdl_batch_create(ctx, &b));
    for (int i = 0; i < 2; i++)
        OK(tdl_buffer_create(ctx, BYTES, TDL_BUFFER_DEVICE, &buffers[i]));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        /* Another stage than the round before: an old time would be seen. */
        const uint32_t stage = round % 2 ? COMPOSE : NETWORK;
        check_begin("round %u", round);
        record(b, buffers, stage);
        OK(tdl_batch_submit(b, &point));
        bool got = tdl_batch_stage_times(b, times, STAGES);
        bool done = tdl_context_wait(ctx, point, 0) == TDL_OK;
        early += !done;
        CHECK(!got || done, "times of %llu ns before the work was done",
              (unsigned long long)times[stage]);
        OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
        CHECK(tdl_batch_stage_times(b, times, STAGES) && times[stage] > 0,
              "no times of finished work");
        for (int other = 0; other < STAGES; other++)
            CHECK(other == (int)stage || !times[other], "a time of stage %d, which was not run",
                  other);
    }
    check_begin("%s", "");
    CHECK(early > 0, "work was always done already: something waits for it");
    for (int i = 0; i < 2; i++)
        tdl_buffer_destroy(&buffers[i]);
    tdl_batch_destroy(&b);
    check_context_close(ctx);
    return check_result();
}
