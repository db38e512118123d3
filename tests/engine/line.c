/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "line.h"

struct tdl_tensor_params image(uint32_t usage)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, H, W, C);
    p.usage = usage;
    return p;
}

struct tdl_tensor *tensor_of(struct tdl_context *context, uint32_t usage)
{
    struct tdl_tensor_params p = image(usage);
    struct tdl_tensor *t;
    OK(tdl_tensor_create(context, &p, &t));
    return t;
}

struct tdl_graph *line_graph(struct tdl_context *context, float factor, float summand)
{
    struct tdl_tensor_params p = image(0);
    struct tdl_builder *b;
    struct tdl_graph *graph;
    OK(check_builder(context, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &p);
    struct tdl_operand *m = subject_constant(b, 4, (uint32_t[]){1, 1, 1, 1}, &factor);
    struct tdl_operand *s = subject_constant(b, 4, (uint32_t[]){1, 1, 1, 1}, &summand);
    tdl_builder_output(b, "y", tdl_builder_add(b, tdl_builder_mul(b, x, m), s));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}, &graph));
    tdl_builder_destroy(&b);
    return graph;
}

enum tdl_result dispatch(struct tdl_graph *g, struct tdl_tensor *x, struct tdl_tensor *y)
{
    return tdl_graph_dispatch(g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y}, 1,
                              NULL);
}

enum tdl_result add_to_batch(struct tdl_batch *b, struct tdl_graph *g, struct tdl_tensor *x,
                             struct tdl_tensor *y)
{
    return tdl_batch_graph(b, g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y},
                           1);
}

void write_all(struct tdl_tensor *t, float value)
{
    float data[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++)
        data[i] = value;
    OK(tdl_tensor_write(t, data, sizeof(data), NULL));
}

bool expect_all(struct tdl_tensor *t, float value)
{
    float data[ELEMENTS];
    OK(tdl_tensor_read(t, data, sizeof(data)));
    for (int i = 0; i < ELEMENTS; i++)
        if (data[i] != value)
            return CHECK(false, "element %d is %g instead of %g", i, (double)data[i],
                         (double)value);
    return true;
}

struct tdl_context_stats stats_of(struct tdl_context *context)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(context, &stats);
    return stats;
}
