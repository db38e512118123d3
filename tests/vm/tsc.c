/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints how fast this processor's time stamp counter counts, kHz. QEMU's guest
 * reads that very counter. What the guest's kernel measures itself is wrong, tenfold
 * at times, where it has to share the processor; its clock then runs ahead.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
    int64_t ns;
    uint64_t ticks;
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Both clocks at one time: of many readings that between which the least passed. */
static struct moment look(void)
{
    struct moment best = { 0 };
    int64_t least = INT64_MAX;

    for (int i = 0; i < 200; i++) {
        int64_t before = now_ns();
        uint64_t ticks = __rdtsc();
        int64_t passed = now_ns() - before;

        if (passed < least) {
            least = passed;
            best = (struct moment){ before + passed / 2, ticks };
        }
    }
    return best;
}

int main(void)
{
    struct moment a = look();

    nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
    struct moment b = look();

    printf("%.0f\n", (double)(b.ticks - a.ticks) * 1e6 / (double)(b.ns - a.ns));
    return 0;
}
