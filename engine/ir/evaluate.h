/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between fold, which looks at whole graphs, and builders, which look at one value. */
#ifndef TDL_EVALUATE_H
#define TDL_EVALUATE_H

#include "ir.h"

/* What tdl_builder_evaluate() may make and go through in a builder, in bytes, before constants
 * that it is given raise that (tdl_ir_budget_grow()). References take up to a second for it. */
#define TDL_EVALUATED_BYTES ((uint64_t)32 << 20)
#define TDL_EVALUATED_WORK ((uint64_t)128 << 20)

/* Bytes that the reference reads and writes. */
uint64_t tdl_node_work(const struct tdl_node *node);
/* Does it depend on constants only, and makes no more than they are, or little? Results that
 * somebody wants to have are left to the device. */
bool tdl_node_can_fold(const struct tdl_node *node);
/* The node's output becomes a constant with this data, and the node is dead. */
void tdl_node_make_constant(struct tdl_node *node, const void *data);
/* As above, with what the reference makes of the node's inputs. */
enum tdl_result tdl_node_fold(struct tdl_ir *ir, struct tdl_node *node);

#endif
