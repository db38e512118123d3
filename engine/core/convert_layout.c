/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Another layout for a whole tensor: a graph of one operator. */
#include "tensor.h"

#include "ir/builder.h"

#include <string.h>

static bool is_packs(enum tdl_layout layout)
{
    return layout == TDL_LAYOUT_NC4HW4;
}

static enum tdl_result check(const struct tdl_tensor *t, enum tdl_layout from, enum tdl_layout to)
{
    const bool packed = t->params.packing == TDL_PACKING_C4;
    char text[96];
    if (from - 1u >= TDL_LAYOUT_NC4HW4 || to - 1u >= TDL_LAYOUT_NC4HW4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: there is no layout %d; they are NCHW, NHWC and NC4HW4", t->label,
                        from - 1u >= TDL_LAYOUT_NC4HW4 ? from : to);
    if (t->params.rank != 4 || ((packed || is_packs(to)) && t->params.dtype != TDL_FLOAT32))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %s has no other layout; give rank 4, and float32 for NC4HW4", t->label,
                        tdl_tensor_params_text(&t->params, text, sizeof(text)));
    if (packed != is_packs(from))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s is %sin packs; it is not %s", t->label,
                        tdl_tensor_params_text(&t->params, text, sizeof(text)),
                        packed ? "" : "not ", tdl_layout_name(from));
    return TDL_OK;
}

/* The shape that the graph's operator sees: packs take the other side's layout. */
static struct tdl_tensor_params seen_as(const struct tdl_tensor_params *params,
                                        enum tdl_layout plain)
{
    const struct tdl_dims d = tdl_tensor_params_dims(params);
    const uint32_t nchw[] = {d.n, d.c, d.h, d.w};
    struct tdl_tensor_params seen = *params;
    if (params->packing && plain == TDL_LAYOUT_NCHW)
        memcpy(seen.shape, nchw, sizeof(nchw));
    seen.packing = TDL_PACKING_NONE;
    return seen;
}

/* The graph from one layout to the other. */
static enum tdl_result build(const struct tdl_tensor *t, enum tdl_layout from, enum tdl_layout to,
                             struct tdl_graph **out_graph)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1}, same[] = {0, 1, 2, 3};
    const enum tdl_layout plain = !is_packs(from) ? from : is_packs(to) ? TDL_LAYOUT_NHWC : to;
    const struct tdl_tensor_params seen = seen_as(&t->params, plain);
    const struct tdl_build_params params = {
        .precision = TDL_PRECISION_FP32,
        .input_packing = is_packs(from) ? TDL_PACKING_C4 : TDL_PACKING_NONE,
        .output_packing = is_packs(to) ? TDL_PACKING_C4 : TDL_PACKING_NONE,
    };
    struct tdl_builder *b = NULL;
    enum tdl_result r;
    TRY(tdl_builder_create(t->buffer->ctx, &b));
    tdl_builder_set_input_layout(b, plain);
    struct tdl_operand *x = tdl_builder_input(b, "from", &seen);
    if (is_packs(from) || is_packs(to))
        x = tdl_builder_identity(b, x);
    else
        x = tdl_builder_transpose(b, x,
                                  from == to              ? same
                                  : to == TDL_LAYOUT_NCHW ? to_nchw
                                                          : to_nhwc);
    tdl_builder_output(b, "to", x);
    TRY(tdl_builder_build(b, &params, out_graph));
fail:
    tdl_builder_destroy(&b);
    return r;
}

enum tdl_result tdl_tensor_convert_layout(struct tdl_tensor *t, enum tdl_layout from,
                                          enum tdl_layout to, struct tdl_tensor **out_tensor)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_graph *graph = NULL;
    struct tdl_tensor *made = NULL;
    enum tdl_result r;
    *out_tensor = NULL;
    TRY(check(t, from, to));
    TRY(build(t, from, to, &graph));
    struct tdl_tensor_params params = *tdl_graph_output(graph, 0, NULL);
    params.usage = t->params.usage;
    params.label = t->label;
    TRY(tdl_tensor_create(t->buffer->ctx, &params, &made));
    TRY(tdl_graph_dispatch(graph, &(struct tdl_binding){"from", t}, 1,
                           &(struct tdl_binding){"to", made}, 1, NULL));
    *out_tensor = made;
fail:
    tdl_graph_destroy(&graph); /* when it has run */
    if (r != TDL_OK)
        tdl_tensor_destroy(&made);
    return r;
}
