/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arguments of a call of WebNN's builder, with the specification's defaults, and the rooms of
 * its operators. */
#ifndef TEST_WEBNN_CALLS_H
#define TEST_WEBNN_CALLS_H

#include "case.h"

/* Arguments of every function that builds an operator. */
struct at {
    struct tdl_builder *b;
    struct webnn_case *c;
    const struct call *call;
};

O at_operand(const struct at *a, const char *key);
double at_number(const struct at *a, const char *key, double otherwise);
/* Number `i` of a list. */
uint32_t at_natural(const struct at *a, const char *key, uint32_t i, uint32_t otherwise);
/* The first `count` numbers of a list. */
void at_naturals(const struct at *a, const char *key, uint32_t *out, uint32_t count,
                 uint32_t otherwise);
/* How many numbers an argument has; -1 where it is left out. */
int32_t at_length(const struct at *a, const char *key);
/* Result `i` of the call. */
void at_result(const struct at *a, uint32_t i, O o);

uint32_t rank_of(O x);
enum tdl_dtype dtype_named(const char *name);
/* x with a dimension of 1 behind its own: what is over no axis is over that. */
O with_one(const struct at *a, O x);

struct webnn_row {
    const char *name;               /* NULL behind the last */
    O (*build)(const struct at *a); /* one result; or */
    void (*build_all)(const struct at *a);
};
extern const struct webnn_row webnn_images[], webnn_tensors[];

#endif
