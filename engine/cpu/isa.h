/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instruction sets. A file of hot loops is compiled once for each, its functions
 * named by TDL_CPU_NAME(), and which of them run is decided when they are needed.
 * (No ifunc and no target_clones: those run before sanitizers are ready.)
 */
#ifndef TDL_CPU_ISA_H
#define TDL_CPU_ISA_H

#include "base.h"
#include "level.h"

/* The best that this build and this CPU have, or what TDL_CPU_ISA names (baseline,
 * x86-64-v3, x86-64-v4, sve) if they have it: looked up once. `ctx` hears of what the
 * variable names in vain. */
enum tdl_cpu_isa tdl_cpu_isa(const struct tdl_context *ctx);
const char *tdl_cpu_isa_name(enum tdl_cpu_isa isa);
/* UNSUPPORTED, with words, if this CPU has not what a build of -Dcpu-levels=native is for. */
enum tdl_result tdl_cpu_isa_check(void);

/* In files that are compiled for each: name → tdl_cpu_name_v3. */
#ifndef TDL_CPU_ISA_SUFFIX
#define TDL_CPU_ISA_SUFFIX baseline
#endif
#define TDL_CPU_PASTE(name, suffix) tdl_cpu_##name##_##suffix
#define TDL_CPU_PASTE_EXPANDED(name, suffix) TDL_CPU_PASTE(name, suffix)
#define TDL_CPU_NAME(name) TDL_CPU_PASTE_EXPANDED(name, TDL_CPU_ISA_SUFFIX)

#endif
