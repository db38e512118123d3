/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FUZZ_COMPILE_H
#define FUZZ_COMPILE_H

#include <tdl/tdl.h>

/* The CPU, for all builders. */
struct tdl_context *fuzz_context(void);

/* Take a builder that has no error through every pass that needs no device,
 * fused in 16 bits and not fused in 32, on a device made up here; and run on the CPU,
 * in both ways, what takes no time. */
void fuzz_compile(struct tdl_builder *builder);

/* A builder has a text for its error, and `r` is that error; aborts if not. */
void fuzz_check_status(struct tdl_builder *builder, enum tdl_result r);

#endif
