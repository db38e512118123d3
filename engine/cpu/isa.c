/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "isa.h"

#include <stdatomic.h>
#include <stdlib.h>

static const char *const names[TDL_CPU_ISA_COUNT] = {"baseline", "x86-64-v3", "x86-64-v4", "sve"};

const char *tdl_cpu_isa_name(enum tdl_cpu_isa isa)
{
    return names[isa];
}

/* The one set that the loops are compiled for, where there are not several. */
#ifndef TDL_CPU_ONLY
#define TDL_CPU_ONLY TDL_CPU_BASELINE
#endif

static enum tdl_cpu_isa best(void)
{
#ifdef TDL_CPU_HAVE_LEVELS
    return tdl_cpu_level();
#else
    return TDL_CPU_ONLY;
#endif
}

static bool has(enum tdl_cpu_isa isa)
{
#ifdef TDL_CPU_HAVE_LEVELS
    return tdl_cpu_has(isa);
#else
    return isa == TDL_CPU_ONLY;
#endif
}

enum tdl_result tdl_cpu_isa_check(void)
{
    if (tdl_cpu_has(best()))
        return TDL_OK;
    return tdl_fail(TDL_ERROR_UNSUPPORTED,
                    "built with -Dcpu-levels=native where the CPU has %s; this one has %s: build "
                    "it here, or with -Dcpu-levels=all",
                    names[best()], names[tdl_cpu_level()]);
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
            "baseline, x86-64-v3, x86-64-v4 and sve.",
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
