/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layout pass is made of: which operators have packs, and what follows from it. */
#ifndef TDL_LAYOUT_H
#define TDL_LAYOUT_H

#include "ir/ir.h"

/* An input that layout may convert; constants in weight slots are lower()'s. */
struct tdl_operand *tdl_layout_value(const struct tdl_node *n, uint32_t slot);
/* Can the node read this input in the storage that it has not got itself? `algorithm` as
 * tdl_build_params.conv2d_algorithm. */
bool tdl_layout_reads_other(const struct tdl_node *n, uint32_t slot, enum tdl_storage storage,
                            const char *algorithm);
/* Every node's storage. Inputs have theirs, and the outputs in `packed_outputs`, bits, are bound
 * to packs. */
enum tdl_result tdl_choose_storages(struct tdl_ir *ir, const char *algorithm,
                                    uint64_t packed_outputs);

/* The cheapest cut between two sides of a network, of which the first two nodes are the ends. */
struct tdl_cut {
    struct tdl_cut_edge {
        uint32_t to, next; /* UINT32_MAX: the last of its node's */
        uint64_t room;
    } * edges; /* each beside the one that leads back */
    uint32_t *first;
    uint32_t node_count, edge_count, edge_capacity;
    bool out_of_memory;
};
#define TDL_CUT_NEVER (UINT64_MAX / 4)
enum { TDL_CUT_FIRST = 0, TDL_CUT_SECOND };

bool tdl_cut_init(struct tdl_cut *cut, uint32_t node_count);
void tdl_cut_finish(struct tdl_cut *cut);
/* What it costs to have `from` on the first side, and `to` on the second. */
void tdl_cut_add(struct tdl_cut *cut, uint32_t from, uint32_t to, uint64_t cost);
/* Which nodes are on the second side; of cuts of one cost that with the fewest. False when
 * out of memory, or where it takes too long. */
bool tdl_cut_solve(struct tdl_cut *cut, bool *second);

#endif
