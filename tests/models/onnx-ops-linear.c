/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matrices, reductions, moves. */
#include "onnx-net.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct tdl_operand *add_gemm(struct onnx_net *net)
{
    const float alpha = onnx_attribute_float(net, "alpha", 1);
    const float beta = onnx_attribute_float(net, "beta", 1);
    if (alpha == 0)
        return onnx_lacks(net, "Gemm with alpha 0");
    return tdl_builder_gemm(net->builder, onnx_operand(net, 0), onnx_operand(net, 1),
                            &(struct tdl_gemm_params){
                                .c = beta != 0 ? onnx_operand(net, 2) : NULL,
                                .alpha = alpha,
                                .beta = beta,
                                .a_transpose = onnx_attribute_int(net, "transA", 0),
                                .b_transpose = onnx_attribute_int(net, "transB", 0),
                            });
}

static struct tdl_operand *add_matmul(struct onnx_net *net)
{
    struct tdl_operand *a = onnx_operand(net, 0), *b = onnx_operand(net, 1);
    if (onnx_rank(a) < 2 || onnx_rank(b) < 2)
        return onnx_lacks(net, "MatMul of vectors");
    return tdl_builder_matmul(net->builder, a, b);
}

static struct tdl_operand *add_softmax(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    return tdl_builder_softmax(net->builder, x,
                               onnx_axis(onnx_attribute_int(net, "axis", -1), onnx_rank(x)));
}

static struct tdl_operand *add_arg(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    const struct tdl_arg_min_max_params p = {
        .keep_dimensions = onnx_attribute_int(net, "keepdims", 1),
        .select_last_index = onnx_attribute_int(net, "select_last_index", 0),
        .output_dtype = TDL_INT64,
    };
    uint32_t axis = onnx_axis(onnx_attribute_int(net, "axis", 0), onnx_rank(x));
    return !strcmp(net->node->op_type, "ArgMax") ? tdl_builder_arg_max(net->builder, x, axis, &p)
                                                 : tdl_builder_arg_min(net->builder, x, axis, &p);
}

static const struct {
    const char *type;
    enum tdl_reduction reduction;
} reductions[] = {
    {"ReduceMean", TDL_REDUCE_MEAN},         {"ReduceSum", TDL_REDUCE_SUM},
    {"ReduceMax", TDL_REDUCE_MAX},           {"ReduceMin", TDL_REDUCE_MIN},
    {"ReduceProd", TDL_REDUCE_PRODUCT},      {"ReduceL1", TDL_REDUCE_L1},
    {"ReduceL2", TDL_REDUCE_L2},             {"ReduceSumSquare", TDL_REDUCE_SUM_SQUARE},
    {"ReduceLogSum", TDL_REDUCE_LOG_SUM},    {"ReduceLogSumExp", TDL_REDUCE_LOG_SUM_EXP},
};

/* The axes are an attribute, or an input where the operator was renewed. */
static struct tdl_operand *add_reduce(struct onnx_net *net)
{
    const Onnx__AttributeProto *axes = onnx_attribute(net, "axes");
    const Onnx__TensorProto *list = onnx_given(net, 1) ? onnx_tensor(net, 1) : NULL;
    struct tdl_operand *x = onnx_operand(net, 0);
    struct tdl_reduce_params p = {.keep_dimensions = onnx_attribute_int(net, "keepdims", 1)};
    size_t count = axes ? axes->n_ints : list ? onnx_tensor_count(list) : 0;
    if (*net->missing)
        return NULL;
    if (!count && onnx_attribute_int(net, "noop_with_empty_axes", 0))
        return onnx_lacks(net, "%s without axes, as no operation", net->node->op_type);
    for (size_t i = 0; i < count && i < TDL_MAX_RANK; i++)
        p.axes[p.axis_count++] =
            onnx_axis(axes ? axes->ints[i] : onnx_tensor_int(list, i), onnx_rank(x));
    for (size_t i = 0; i < COUNT(reductions); i++)
        if (!strcmp(reductions[i].type, net->node->op_type))
            return tdl_builder_reduce(net->builder, x, reductions[i].reduction, &p);
    return NULL;
}

static struct tdl_operand *add_transpose(struct onnx_net *net)
{
    const Onnx__AttributeProto *a = onnx_attribute(net, "perm");
    uint32_t permutation[TDL_MAX_RANK] = {0};
    for (size_t i = 0; a && i < a->n_ints && i < TDL_MAX_RANK; i++)
        permutation[i] = (uint32_t)a->ints[i];
    return tdl_builder_transpose(net->builder, onnx_operand(net, 0), a ? permutation : NULL);
}

static struct tdl_operand *add_gather(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0), *indices = onnx_operand(net, 1);
    uint32_t axis = onnx_axis(onnx_attribute_int(net, "axis", 0), onnx_rank(x));
    return !strcmp(net->node->op_type, "Gather")
               ? tdl_builder_gather(net->builder, x, indices, axis)
               : tdl_builder_gather_elements(net->builder, x, indices, axis);
}

static struct tdl_operand *add_cumsum(struct onnx_net *net)
{
    const Onnx__TensorProto *axis = onnx_tensor(net, 1);
    struct tdl_operand *x = onnx_operand(net, 0);
    if (!axis)
        return NULL;
    return tdl_builder_cumulative_sum(net->builder, x,
                                      onnx_axis(onnx_tensor_int(axis, 0), onnx_rank(x)),
                                      &(struct tdl_cumulative_sum_params){
                                          .exclusive = onnx_attribute_int(net, "exclusive", 0),
                                          .reversed = onnx_attribute_int(net, "reverse", 0),
                                      });
}

static struct tdl_operand *add_trilu(struct onnx_net *net)
{
    const Onnx__TensorProto *k = onnx_given(net, 1) ? onnx_tensor(net, 1) : NULL;
    return tdl_builder_triangular(net->builder, onnx_operand(net, 0),
                                  &(struct tdl_triangular_params){
                                      .lower = !onnx_attribute_int(net, "upper", 1),
                                      .diagonal = k ? (int32_t)onnx_tensor_int(k, 0) : 0,
                                  });
}

static struct tdl_operand *add_tile(struct onnx_net *net)
{
    const Onnx__TensorProto *list = onnx_tensor(net, 1);
    struct tdl_operand *x = onnx_operand(net, 0);
    uint32_t repetitions[TDL_MAX_RANK] = {0};
    for (size_t i = 0; list && i < onnx_rank(x); i++)
        repetitions[i] = (uint32_t)onnx_tensor_int(list, i);
    return list ? tdl_builder_tile(net->builder, x, repetitions) : NULL;
}

const struct onnx_operator onnx_operators_linear[] = {
    {"ArgMax", add_arg},
    {"ArgMin", add_arg},
    {"CumSum", add_cumsum},
    {"Gather", add_gather},
    {"GatherElements", add_gather},
    {"Gemm", add_gemm},
    {"MatMul", add_matmul},
    {"ReduceL1", add_reduce},
    {"ReduceL2", add_reduce},
    {"ReduceLogSum", add_reduce},
    {"ReduceLogSumExp", add_reduce},
    {"ReduceMax", add_reduce},
    {"ReduceMean", add_reduce},
    {"ReduceMin", add_reduce},
    {"ReduceProd", add_reduce},
    {"ReduceSum", add_reduce},
    {"ReduceSumSquare", add_reduce},
    {"Softmax", add_softmax},
    {"Tile", add_tile},
    {"Transpose", add_transpose},
    {"Trilu", add_trilu},
    {0},
};
