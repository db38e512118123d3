/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An example of every operator: what a call of it with plain operands is. */
#ifndef TDL_EXAMPLES_H
#define TDL_EXAMPLES_H

#include <tdl/tdl.h>

/* How an operand is made in an example, apart from its data type and rank. */
enum {
    TDL_EXAMPLE_SAME_TYPE = 1, /* has the first operand's data type */
    TDL_EXAMPLE_SAME_RANK = 2, /* has the first operand's rank */
    TDL_EXAMPLE_OPTIONAL = 4,  /* left out while others are asked for */
    TDL_EXAMPLE_TUPLES = 8,    /* indices of one dimension in its last one */
    TDL_EXAMPLE_UPDATES = 16,  /* as many dimensions as the two before it select */
};

struct tdl_example_slot {
    const char *name;
    uint32_t flags;
    enum tdl_dtype dtype;
    uint32_t rank;
    uint32_t shape[4]; /* at that rank; zeros, and at others: TDL_EXAMPLE_SIDE each way */
};

#define TDL_EXAMPLE_SIDE 4

struct tdl_example {
    const char *name; /* the function's, without tdl_builder_ */
    struct tdl_example_slot slots[TDL_MAX_OPERATOR_OPERANDS];
    /* Operands that were left out are NULL. Returns the first output. */
    struct tdl_operand *(*call)(struct tdl_builder *b, struct tdl_operand *const *operands);
};

/* NULL past the end. */
const struct tdl_example *tdl_example_get(uint32_t index);

#endif
