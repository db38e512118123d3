/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that speak to XNNPACK. */
#ifndef TDL_CPU_XNN_DEFINE_H
#define TDL_CPU_XNN_DEFINE_H

#include "graph.h"

#include <xnnpack.h>

/* A runtime in the making: values in the order of their external ids. */
struct tdl_cpu_xnn_making {
    xnn_subgraph_t subgraph;
    struct tdl_operand **operands;
    uint32_t *ids;
    uint32_t count;
    void **owned; /* memory until it is made, one a node at most */
    uint32_t owned_count;
};

/* TDL_OK, or an error with text. */
enum tdl_result tdl_cpu_xnn_check(enum xnn_status status, const char *what);
/* The value of an operand; `made`: by a node of this run. */
enum tdl_result tdl_cpu_xnn_value(struct tdl_cpu_xnn_making *m, struct tdl_operand *o, bool made,
                                  uint32_t *out_id);
/* Likewise, of int8. */
enum tdl_result tdl_cpu_xnn_bytes(struct tdl_cpu_xnn_making *m, struct tdl_operand *o,
                                  const struct tdl_quantization *q, bool made, uint32_t *out_id);
/* xnn_quantized.c: define a quantizedConv2d. */
enum tdl_result tdl_cpu_xnn_define_quantized(struct tdl_cpu_xnn_making *m,
                                             const struct tdl_node *n);
/* Room for floats, zeroed; NULL with text. */
float *tdl_cpu_xnn_memory(struct tdl_cpu_xnn_making *m, size_t count);
/* Bounds of what a convolution with that activation gives. */
struct tdl_cpu_xnn_bounds {
    float least, most;
};
struct tdl_cpu_xnn_bounds tdl_cpu_xnn_bounds_of(enum tdl_activation activation);
/* Define a node that tdl_cpu_xnn_takes(). */
enum tdl_result tdl_cpu_xnn_define(struct tdl_cpu_xnn_making *m, const struct tdl_node *n);

#endif
