/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processor's instruction sets. A file of its own, since the build asks it, too
 * (-Dcpu-levels=native). */
#ifndef TDL_CPU_LEVEL_H
#define TDL_CPU_LEVEL_H

enum tdl_cpu_isa {
    TDL_CPU_BASELINE,  /* every CPU of the architecture has it */
    TDL_CPU_X86_64_V3, /* AVX2, FMA */
    TDL_CPU_X86_64_V4, /* AVX-512 */
    TDL_CPU_ISA_COUNT
};

/* The levels of the x86-64 psABI, as far as compilers make use of them. */
static inline enum tdl_cpu_isa tdl_cpu_level(void)
{
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return TDL_CPU_BASELINE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return TDL_CPU_X86_64_V3;
    return TDL_CPU_X86_64_V4;
#else
    return TDL_CPU_BASELINE;
#endif
}

#endif
