/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small graphs y = x · factor + summand, whose results say how often and in
 * which order they ran.
 */
#ifndef TEST_LINE_H
#define TEST_LINE_H

#include "subject.h"

#include <tdl/frame.h>

#define READ TDL_TENSOR_READABLE
#define WRITE TDL_TENSOR_WRITABLE

/* The shape of x and y. */
enum { H = 5, W = 7, C = 6, ELEMENTS = H * W * C };

struct tdl_tensor_params image(uint32_t usage);
struct tdl_tensor *tensor_of(struct tdl_context *context, uint32_t usage);
/* y = x · factor + summand. */
struct tdl_graph *line_graph(struct tdl_context *context, float factor, float summand);
enum tdl_result dispatch(struct tdl_graph *g, struct tdl_tensor *x, struct tdl_tensor *y);
enum tdl_result add_to_batch(struct tdl_batch *b, struct tdl_graph *g, struct tdl_tensor *x,
                             struct tdl_tensor *y);
void write_all(struct tdl_tensor *t, float value);
/* Every element of `t` is exactly `value`. */
bool expect_all(struct tdl_tensor *t, float value);
struct tdl_context_stats stats_of(struct tdl_context *context);

#endif
