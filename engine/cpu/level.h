/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processor's instruction sets. A file of its own, since the build asks it, too
 * (-Dcpu-levels=native). */
#ifndef TDL_CPU_LEVEL_H
#define TDL_CPU_LEVEL_H

#include <stdbool.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

enum tdl_cpu_isa {
    TDL_CPU_BASELINE,  /* every CPU of the architecture has it */
    TDL_CPU_X86_64_V3, /* AVX2, FMA */
    TDL_CPU_X86_64_V4, /* AVX-512 */
    TDL_CPU_SVE,       /* of ARM, with vectors of 256 bits or more */
    TDL_CPU_ISA_COUNT
};

#ifdef __x86_64__
/* The levels of the x86-64 psABI, as far as compilers make use of them. */
static inline enum tdl_cpu_isa tdl_cpu_level(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return TDL_CPU_BASELINE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return TDL_CPU_X86_64_V3;
    return TDL_CPU_X86_64_V4;
}
#elif defined(__aarch64__)
/* Counted in instructions, vectors of 128 bits gain as often as they lose against NEON. What
 * ARMv8.2 adds besides (dotprod, fp16) changes no loop of float32. */
static inline enum tdl_cpu_isa tdl_cpu_level(void)
{
    enum { LEAST_BYTES = 32 };
    const int length = getauxval(AT_HWCAP) & HWCAP_SVE ? prctl(PR_SVE_GET_VL) : -1;
    return length >= 0 && (length & PR_SVE_VL_LEN_MASK) >= LEAST_BYTES ? TDL_CPU_SVE
                                                                       : TDL_CPU_BASELINE;
}
#else
static inline enum tdl_cpu_isa tdl_cpu_level(void)
{
    return TDL_CPU_BASELINE;
}
#endif

/* Each set has those before it, but for those of another architecture. */
static inline bool tdl_cpu_has(enum tdl_cpu_isa isa)
{
#ifdef __aarch64__
    const enum tdl_cpu_isa first = TDL_CPU_SVE;
#else
    const enum tdl_cpu_isa first = TDL_CPU_X86_64_V3;
#endif
    return isa == TDL_CPU_BASELINE || (isa >= first && isa <= tdl_cpu_level());
}

#endif
