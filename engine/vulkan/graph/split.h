/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_SPLIT_H
#define TDL_SPLIT_H

#include "heuristics.h"

#define TDL_MAX_PARTS 64 /* of one run */

/* What a graph knows of its time. */
struct tdl_split {
    double bound_ns; /* of a submission; 0: none */
    double scale;    /* of the estimate, by what was measured */
    bool measured;
};

/* The parts of a run: step starts[i] begins the part, and ns[i] is what it is thought to take. */
struct tdl_parts {
    uint32_t count, starts[TDL_MAX_PARTS];
    double ns[TDL_MAX_PARTS];
    bool timed; /* it is long enough to be measured */
};

/* For tests: the bound of every device, in ns; 0: that of its kind. */
extern uint64_t tdl_split_ns;

void tdl_split_init(struct tdl_split *split, const struct tdl_device_info *device);
void tdl_split_steps(const struct tdl_split *split, const struct tdl_device_info *device,
                     const struct tdl_graph_step *steps, uint32_t count,
                     struct tdl_parts *out_parts);
/* A run in these parts took so long. False: that was known. */
bool tdl_split_learn(struct tdl_split *split, const struct tdl_parts *parts, uint64_t run_ns);

#endif
