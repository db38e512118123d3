/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that rewrite operators. */
#ifndef TDL_CPU_PERMUTE_H
#define TDL_CPU_PERMUTE_H

#include "ir/ir.h"

/* Let the attributes of a node on NCHW say what they say of NHWC. False, and nothing
 * changed, where they cannot. */
bool tdl_cpu_permute(struct tdl_node *n);

#endif
