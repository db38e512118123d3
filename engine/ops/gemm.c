/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN gemm: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gemm */
#include "ir/builder.h"
#include "matmul.h"

#include <math.h>

static bool broadcasts(const struct tdl_tensor_params *c, uint32_t m, uint32_t n)
{
    uint32_t rows = c->rank == 2 ? c->shape[0] : 1, columns = c->rank ? c->shape[c->rank - 1] : 1;
    return c->rank <= 2 && (rows == 1 || rows == m) && (columns == 1 || columns == n);
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *a = n->inputs[TDL_MATMUL_A], *b = n->inputs[TDL_MATMUL_B];
    const struct tdl_operand *c = n->inputs[TDL_MATMUL_C];
    const struct tdl_matmul_attr *p = &n->attr.matmul;
    if (a->desc.rank != 2 || b->desc.rank != 2 || !tdl_is_float(a->desc.dtype) ||
        a->desc.dtype != b->desc.dtype)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gemm: %s and %s; a and b are matrices of one type, float32 or float16",
                        tdl_operand_text(a), tdl_operand_text(b));
    if (a->desc.shape[!p->a_transpose] != b->desc.shape[p->b_transpose])
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gemm: %s%s and %s%s; the inner dimensions differ (%u and %u)",
                        tdl_operand_text(a), p->a_transpose ? " transposed" : "",
                        tdl_operand_text(b), p->b_transpose ? " transposed" : "",
                        a->desc.shape[!p->a_transpose], b->desc.shape[p->b_transpose]);
    *out = (struct tdl_tensor_params){
        .dtype = a->desc.dtype,
        .rank = 2,
        .shape = {a->desc.shape[p->a_transpose], b->desc.shape[!p->b_transpose]},
    };
    if (c && (c->desc.dtype != out->dtype || !broadcasts(&c->desc, out->shape[0], out->shape[1])))
        return tdl_fail(
            TDL_ERROR_INVALID_ARGUMENT, "gemm: c is %s; it has to be %s and broadcast to [%u,%u]",
            tdl_operand_text(c), tdl_dtype_name(out->dtype), out->shape[0], out->shape[1]);
    return TDL_OK;
}

/* Rows of a, with the same b and c for each. */
static bool stack(struct tdl_node *n, uint32_t stacked)
{
    const struct tdl_operand *c = n->inputs[TDL_MATMUL_C];
    return stacked == 1u << TDL_MATMUL_A && !n->attr.matmul.a_transpose &&
           (!c || c->desc.rank < 2 || c->desc.shape[0] == 1);
}

const struct tdl_op tdl_op_gemm = {
    .name = "gemm",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = tdl_matmul_lower,
    .reference_linear = tdl_matmul_reference,
    .macs = tdl_matmul_macs,
    .activation = tdl_matmul_activation,
    .floats = true,
};

struct tdl_operand *tdl_builder_gemm(struct tdl_builder *b, struct tdl_operand *x,
                                     struct tdl_operand *y, const struct tdl_gemm_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    struct tdl_gemm_params p = params ? *params : (struct tdl_gemm_params){0};
    union tdl_attr attr = {.matmul = {
                               .alpha = p.alpha != 0 ? p.alpha : 1,
                               .beta = p.beta != 0 ? p.beta : 1,
                               .a_transpose = p.a_transpose,
                               .b_transpose = p.b_transpose,
                               .activation = p.activation,
                           }};
    if (!tdl_builder_known(b, &tdl_op_gemm, "activation", p.activation, TDL_ACTIVATION_TANH))
        return NULL;
    if (isnan(p.alpha) || isnan(p.beta))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "gemm: %s is no number",
                                isnan(p.alpha) ? "alpha" : "beta");
    return tdl_builder_add_node(b, &tdl_op_gemm, &attr, (struct tdl_operand *[]){x, y, p.c}, 3, 2);
}
