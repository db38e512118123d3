/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dimensions of inputs whose sizes come with the tensors: names, ranges, checks. */
#ifndef TDL_IR_DYNAMIC_H
#define TDL_IR_DYNAMIC_H

#include "ir.h"

#include <tdl/dynamic.h>

struct tdl_dynamic {
    uint32_t input, dimension;          /* numbers */
    struct tdl_dynamic_dimension range; /* name owned by the list; min and max set */
};

struct tdl_dynamic_list {
    struct tdl_dynamic *list;
    uint32_t count;
};

/* Adds one, or changes it. The name is copied, what a terminal would obey in it as '?'. False
 * when out of memory. */
bool tdl_dynamic_add(struct tdl_dynamic_list *l, const char *input_name,
                     const struct tdl_dynamic *added);
bool tdl_dynamic_copy(const struct tdl_dynamic_list *from, struct tdl_dynamic_list *out);
void tdl_dynamic_finish(struct tdl_dynamic_list *l);
/* NULL: it is fixed. */
const struct tdl_dynamic *tdl_dynamic_find(const struct tdl_dynamic_list *l, uint32_t input,
                                           uint32_t dimension);

/* Shapes by input. */
typedef uint32_t tdl_shapes[TDL_MAX_INPUTS][TDL_MAX_RANK];

/* TDL_OK, or which dimension is out of its range, or unlike another of its name, or fixed and
 * not as `ir` has it. */
enum tdl_result tdl_dynamic_check(const struct tdl_dynamic_list *l, const struct tdl_ir *ir,
                                  const tdl_shapes shapes);
/* Dimensions have the size of those with the same name of the inputs of these bits. */
void tdl_dynamic_spread(const struct tdl_dynamic_list *l, uint64_t inputs, tdl_shapes shapes);

#endif
