/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs of a few nodes for tests of the passes: a line of calls each. */
#ifndef TEST_SKETCH_H
#define TEST_SKETCH_H

#include "subject.h"

struct sketch {
    struct tdl_builder *b;
    struct rng rng;
    struct tdl_operand *x; /* 8×8×4 */
};
typedef struct sketch *S;
typedef struct tdl_operand *O;

/* Convolutions have a random filter and bias, and keep the image's size:
 * sketch_conv1() and 3() are 1×1 and 3×3 to four channels. */
O sketch_conv(S s, O x, uint32_t out, uint32_t k, uint32_t groups, enum tdl_activation activation);
O sketch_conv1(S s, O x);
O sketch_conv3(S s, O x);
O sketch_depthwise(S s, O x);
O sketch_act(S s, O x, enum tdl_activation activation);
O sketch_relu(S s, O x);
O sketch_add(S s, O x, O y);
O sketch_mul(S s, O x, O y);
O sketch_pool(S s, O x);
O sketch_resample(S s, O x, uint32_t size);
O sketch_input(S s, const char *name, uint32_t n, uint32_t h, uint32_t w, uint32_t c);
O sketch_transpose(S s, O x);
void sketch_output(S s, const char *name, O o);
/* Every value has one producer, made before it is read; and windows are those of the nodes. */
void sketch_check_order(const struct tdl_ir *ir);

#endif
