/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files of the fuse pass. */
#ifndef TDL_FUSE_H
#define TDL_FUSE_H

#include "ir/ir.h"

/* The activation a node ends with, or NULL if it has no room for one. */
enum tdl_activation *tdl_fuse_activation_of(struct tdl_node *n);
void tdl_fuse_append_label(struct tdl_node *to, const struct tdl_node *from);
/* Let `n` make what `last`, its only reader, made. */
void tdl_fuse_take_output(struct tdl_node *n, struct tdl_node *last);

/* Of fuse_chain.c: a function of one value, or of a value and a constant, behind
 * a node that has room for one. */
bool tdl_fuse_chain(struct tdl_ir *ir, struct tdl_node *n);
/* Patterns of absorb.c. */
bool tdl_fuse_clamp(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_channel_constant(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_normalization(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_pad(struct tdl_ir *ir, struct tdl_node *n);

#endif
