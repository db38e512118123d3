/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "isa.h"

#include <stdatomic.h>
#include <stdlib.h>

static const char *const names[TDL_CPU_ISA_COUNT] = {"baseline", "x86-64-v3", "x86-64-v4"};

const char *tdl_cpu_isa_name(enum tdl_cpu_isa isa)
{
    return names[isa];
}

/* The levels of the x86-64 psABI, as far as compilers make use of them. */
static bool has(enum tdl_cpu_isa isa)
{
#ifdef TDL_CPU_HAVE_LEVELS
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return isa == TDL_CPU_BASELINE || (isa == TDL_CPU_X86_64_V3 && v3) ||
           (isa == TDL_CPU_X86_64_V4 && v4);
#else
    return isa == TDL_CPU_BASELINE;
#endif
}

static enum tdl_cpu_isa best(void)
{
    enum tdl_cpu_isa isa = TDL_CPU_X86_64_V4;
    while (!has(isa))
        isa--;
    return isa;
}

static enum tdl_cpu_isa choose(const struct tdl_context *ctx)
{
    const char *wanted = getenv("TDL_CPU_ISA");
    if (!wanted || !*wanted)
        return best();
    for (enum tdl_cpu_isa isa = 0; isa < TDL_CPU_ISA_COUNT; isa++)
        if (!strcmp(wanted, names[isa]) && has(isa))
            return isa;
    tdl_log(ctx, TDL_LOG_WARNING,
            "TDL_CPU_ISA=%s: this CPU or this build has no such instructions; taking %s. Known are "
            "baseline, x86-64-v3 and x86-64-v4.",
            wanted, names[best()]);
    return best();
}

enum tdl_cpu_isa tdl_cpu_isa(const struct tdl_context *ctx)
{
    static atomic_int chosen = -1;
    int isa = atomic_load(&chosen);
    if (isa < 0) {
        isa = (int)choose(ctx);
        atomic_store(&chosen, isa);
    }
    return (enum tdl_cpu_isa)isa;
}
