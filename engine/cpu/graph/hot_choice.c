/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hot.h"

const struct tdl_cpu_hot *tdl_cpu_hot(void)
{
    switch (tdl_cpu_isa(NULL)) {
#if defined(TDL_CPU_HAVE_LEVELS) && defined(__x86_64__)
    case TDL_CPU_X86_64_V3:
        return &tdl_cpu_hot_v3;
    case TDL_CPU_X86_64_V4:
        return &tdl_cpu_hot_v4;
#elif defined(TDL_CPU_HAVE_LEVELS)
    case TDL_CPU_SVE:
        return &tdl_cpu_hot_sve;
#endif
    default:
        return &tdl_cpu_hot_baseline;
    }
}
