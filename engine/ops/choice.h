/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an operator with several ways to compute a layer chooses. In this order: what the
 * caller forces, what was measured, the lowest estimate.
 */
#ifndef TDL_CHOICE_H
#define TDL_CHOICE_H

#include "ir/plan.h"

struct tdl_conv_algorithm;
struct tdl_conv_variant;

/* A way with one of its variants. */
struct tdl_candidate {
    const char *name, *variant; /* "" where there is just one */
    double cost;                /* an estimate in ns */
    /* The operator's own: */
    const struct tdl_conv_algorithm *row;
    const struct tdl_conv_variant *sizes;
};

enum { TDL_MAX_CANDIDATES = 128 };

/* True if `text` is the way's name, or "name:variant" of this variant. */
bool tdl_candidate_is_named(const struct tdl_candidate *c, const char *text);
/* One of the list, which is not empty; of equals the first. `layer` is the key of the tuning
 * file: what decides between candidates, in words. Counts what the policy counts. */
const struct tdl_candidate *tdl_choose(struct tdl_plan *plan, const char *layer,
                                       const struct tdl_candidate *list, uint32_t count,
                                       enum tdl_choice *out_choice);
/* The steps from number `first` on are one layer, computed so. */
void tdl_name_layer(struct tdl_plan *plan, uint32_t first, const struct tdl_candidate *c,
                    const char *layer, enum tdl_choice choice);

#endif
