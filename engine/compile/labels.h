/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a builder's values have their channels, before a graph is made of them. */
#ifndef TDL_LABELS_H
#define TDL_LABELS_H

#include "ir/ir.h"

/* NCHW or NHWC; 0 where no operator says it, of what is no picture or follows from constants,
 * and when out of memory. */
enum tdl_layout tdl_find_layout(const struct tdl_operand *operand);

#endif
