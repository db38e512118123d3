/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Another layout for a whole tensor: a graph of one operator. */
#include "tensor.h"

#include "ir/builder.h"

#include <string.h>

/* A builder knows no packs: a tensor in packs is seen in the layout `plain`. */
static struct tdl_tensor_params seen_as(const struct tdl_tensor_params *params,
                                        enum tdl_layout plain)
{
    struct tdl_tensor_params seen = *params;
    const struct tdl_dims d = tdl_tensor_params_dims(params);
    const uint32_t nhwc[] = {d.n, d.h, d.w, d.c}, nchw[] = {d.n, d.c, d.h, d.w};
    if (params->layout != TDL_LAYOUT_NC4HW4)
        return seen;
    seen.layout = plain;
    memcpy(seen.shape, plain == TDL_LAYOUT_NCHW ? nchw : nhwc, sizeof(nhwc));
    return seen;
}

static enum tdl_result check(const struct tdl_tensor *t, enum tdl_layout layout)
{
    const bool packs = layout == TDL_LAYOUT_NC4HW4 || t->params.layout == TDL_LAYOUT_NC4HW4;
    char text[96];
    if ((unsigned)layout > TDL_LAYOUT_NC4HW4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: there is no layout %d", t->label, layout);
    if (t->params.rank != 4 || (packs && t->params.dtype != TDL_FLOAT32))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %s has no other layout; give rank 4, and float32 for NC4HW4", t->label,
                        tdl_tensor_params_text(&t->params, text, sizeof(text)));
    return TDL_OK;
}

/* The graph from one layout to the other. */
static enum tdl_result build(const struct tdl_tensor *t, enum tdl_layout layout,
                             struct tdl_graph **out_graph)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1}, same[] = {0, 1, 2, 3};
    const enum tdl_layout plain = layout == TDL_LAYOUT_NC4HW4 ? TDL_LAYOUT_NHWC : layout;
    const struct tdl_tensor_params from = seen_as(&t->params, plain);
    const struct tdl_build_params params = {
        .precision = TDL_PRECISION_FP32,
        .input_layout = t->params.layout,
        .output_layout = layout,
    };
    struct tdl_builder *b = NULL;
    enum tdl_result r;
    TRY(tdl_builder_create(t->buffer->ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "from", &from);
    if (params.input_layout == TDL_LAYOUT_NC4HW4 || layout == TDL_LAYOUT_NC4HW4)
        x = tdl_builder_identity(b, x);
    else
        x = tdl_builder_transpose(b, x,
                                  from.layout == layout       ? same
                                  : layout == TDL_LAYOUT_NCHW ? to_nchw
                                                              : to_nhwc);
    tdl_builder_output(b, "to", x);
    TRY(tdl_builder_build(b, &params, out_graph));
fail:
    tdl_builder_destroy(&b);
    return r;
}

enum tdl_result tdl_tensor_convert_layout(struct tdl_tensor *t, enum tdl_layout layout,
                                          struct tdl_tensor **out_tensor)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_graph *graph = NULL;
    struct tdl_tensor *to = NULL;
    enum tdl_result r;
    *out_tensor = NULL;
    TRY(check(t, layout));
    TRY(build(t, layout, &graph));
    struct tdl_tensor_params params = *tdl_graph_output(graph, 0, NULL);
    params.usage = t->params.usage;
    params.label = t->label;
    TRY(tdl_tensor_create(t->buffer->ctx, &params, &to));
    TRY(tdl_graph_dispatch(graph, &(struct tdl_binding){"from", t}, 1,
                           &(struct tdl_binding){"to", to}, 1, NULL));
    *out_tensor = to;
fail:
    tdl_graph_destroy(&graph); /* when it has run */
    if (r != TDL_OK)
        tdl_tensor_destroy(&to);
    return r;
}
