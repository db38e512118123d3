/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of operators; meson reads the files to compile from it, too.
 * TDL_OP: an operator, and the file in this folder that holds its struct tdl_op.
 * TDL_COMPOSED: a file of functions that are made of other operators.
 * TDL_TAKES: what a function tdl_builder_... takes of its operands and gives, in the order of
 * operators.h. An operand that has to be a constant is a CONSTANT. tests/engine/ops/
 * test-operators.c holds this against graphs of each function.
 * TDL_FUNCTION: an element-wise function TDL_…, in the order of shaders/common/eltwise.glsl,
 * with its function tdl_builder_… and WebNN's name. ONE and TWO are made by the list of so many
 * values, OWN are written in eltwise_builder.c. Passes alone make MADE, and INNER, which are no
 * operators but stages behind one.
 * Who includes it defines what it wants of these.
 */
#ifndef TDL_OP
#define TDL_OP(name, file)
#endif
#ifndef TDL_COMPOSED
#define TDL_COMPOSED(file)
#endif
#ifndef TDL_FUNCTION
#define TDL_FUNCTION(kind, function, name, text)
#endif
#ifndef TDL_TAKES
#define TDL_TAKES(function, ...)
#endif
/* clang-format off */
TDL_OP(conv2d, conv2d)
TDL_OP(conv_transpose2d, conv_transpose2d)
TDL_OP(average_pool2d, average_pool2d)
TDL_OP(max_pool2d, max_pool2d)
TDL_OP(l2_pool2d, l2_pool2d)
TDL_OP(resample2d, resample2d)
TDL_OP(grid_sample, grid_sample)
TDL_OP(batch_normalization, batch_normalization)
TDL_OP(instance_normalization, instance_normalization)
TDL_OP(layer_normalization, layer_normalization)
TDL_OP(slice, slice)
TDL_OP(pad, pad)
TDL_OP(concat, concat)
TDL_OP(depth_to_space, depth_to_space)
TDL_OP(space_to_depth, depth_to_space)
TDL_OP(cast, cast)
TDL_OP(reshape, reshape)
TDL_OP(gemm, gemm)
TDL_OP(matmul, matmul)
TDL_OP(softmax, softmax)
TDL_OP(arg_max, arg_min_max)
TDL_OP(arg_min, arg_min_max)
TDL_OP(reduce, reduce)
TDL_OP(cumulative_sum, cumulative_sum)
TDL_OP(top_k, top_k)
TDL_OP(non_max_suppression, non_max_suppression)
TDL_OP(transpose, transpose)
TDL_OP(gather, gather)
TDL_OP(gather_elements, gather_elements)
TDL_OP(gather_nd, gather_nd)
TDL_OP(scatter_elements, scatter)
TDL_OP(scatter_nd, scatter)
TDL_OP(triangular, triangular)
TDL_OP(tile, tile)
TDL_OP(im2col, im2col)

/* Made by passes. */
TDL_OP(repack, repack)
TDL_OP(squeeze_excite, squeeze_excite)
TDL_OP(expand_depthwise, expand_depthwise)
TDL_OP(bottleneck, bottleneck)
TDL_OP(attention, attention)
TDL_OP(quantized, quantized)
TDL_OP(quantized_conv2d, quantized_conv2d)

TDL_COMPOSED(gru)
TDL_COMPOSED(lstm)
TDL_COMPOSED(quantize)
TDL_COMPOSED(reverse)
TDL_COMPOSED(rnn)
TDL_COMPOSED(split)

/* Of one value, with parameters a and b. */
TDL_FUNCTION(ONE, IDENTITY, identity, "identity")
TDL_FUNCTION(ONE, RELU, relu, "relu")
TDL_FUNCTION(OWN, CLAMP, clamp, "clamp") /* a … b; of integers, attr.eltwise.bounds */
TDL_FUNCTION(ONE, SIGMOID, sigmoid, "sigmoid")
TDL_FUNCTION(ONE, HARD_SWISH, hard_swish, "hardSwish")
TDL_FUNCTION(ONE, TANH, tanh, "tanh")
TDL_FUNCTION(OWN, LEAKY_RELU, leaky_relu, "leakyRelu") /* x < 0: a · x */
TDL_FUNCTION(OWN, ELU, elu, "elu") /* x < 0: a · (eˣ − 1) */
TDL_FUNCTION(ONE, GELU, gelu, "gelu")
TDL_FUNCTION(OWN, HARD_SIGMOID, hard_sigmoid, "hardSigmoid") /* a · x + b, within 0 … 1 */
TDL_FUNCTION(ONE, SOFTPLUS, softplus, "softplus")
TDL_FUNCTION(ONE, SOFTSIGN, softsign, "softsign")
TDL_FUNCTION(OWN, LINEAR, linear, "linear") /* a · x + b */
TDL_FUNCTION(ONE, ABS, abs, "abs")
TDL_FUNCTION(ONE, CEIL, ceil, "ceil")
TDL_FUNCTION(ONE, FLOOR, floor, "floor")
TDL_FUNCTION(ONE, ROUND_EVEN, round_even, "roundEven")
TDL_FUNCTION(ONE, EXP, exp, "exp")
TDL_FUNCTION(ONE, LOG, log, "log")
TDL_FUNCTION(ONE, NEG, neg, "neg")
TDL_FUNCTION(ONE, SQRT, sqrt, "sqrt")
TDL_FUNCTION(ONE, RECIPROCAL, reciprocal, "reciprocal")
TDL_FUNCTION(ONE, ERF, erf, "erf")
TDL_FUNCTION(ONE, SIN, sin, "sin")
TDL_FUNCTION(ONE, COS, cos, "cos")
TDL_FUNCTION(ONE, TAN, tan, "tan")
TDL_FUNCTION(ONE, SIGN, sign, "sign")
TDL_FUNCTION(ONE, LOGICAL_NOT, logical_not, "logicalNot")
/* Of a value and a constant. */
TDL_FUNCTION(INNER, DIV_BY, div_by, NULL) /* x / a */
TDL_FUNCTION(INNER, DIV_OF, div_of, NULL) /* a / x */
TDL_FUNCTION(INNER, POW_BY, pow_by, NULL) /* x ^ a */
TDL_FUNCTION(INNER, POW_OF, pow_of, NULL) /* a ^ x */
/* Of one value, as models write it by others. */
TDL_FUNCTION(MADE, SWISH, swish, "swish") /* x · sigmoid(a · x) */
/* Of two values. */
TDL_FUNCTION(TWO, ADD, add, "add")
TDL_FUNCTION(TWO, SUB, sub, "sub")
TDL_FUNCTION(TWO, MUL, mul, "mul")
TDL_FUNCTION(TWO, DIV, div, "div")
TDL_FUNCTION(TWO, MAX_OF, max, "max")
TDL_FUNCTION(TWO, MIN_OF, min, "min")
TDL_FUNCTION(TWO, POW, pow, "pow")
TDL_FUNCTION(TWO, PRELU, prelu, "prelu") /* x < 0: y · x */
TDL_FUNCTION(TWO, BITWISE_AND, bitwise_and, "bitwiseAnd")
TDL_FUNCTION(TWO, BITWISE_OR, bitwise_or, "bitwiseOr")
TDL_FUNCTION(TWO, BITWISE_XOR, bitwise_xor, "bitwiseXor")
TDL_FUNCTION(TWO, EQUAL, equal, "equal")
TDL_FUNCTION(TWO, NOT_EQUAL, not_equal, "notEqual")
TDL_FUNCTION(TWO, GREATER, greater, "greater")
TDL_FUNCTION(TWO, GREATER_OR_EQUAL, greater_or_equal, "greaterOrEqual")
TDL_FUNCTION(TWO, LESSER, lesser, "lesser")
TDL_FUNCTION(TWO, LESSER_OR_EQUAL, lesser_or_equal, "lesserOrEqual")
TDL_FUNCTION(TWO, LOGICAL_AND, logical_and, "logicalAnd")
TDL_FUNCTION(TWO, LOGICAL_OR, logical_or, "logicalOr")
TDL_FUNCTION(TWO, LOGICAL_XOR, logical_xor, "logicalXor")
/* Of three: a condition, and the values where it is and is not. */
TDL_FUNCTION(OWN, WHERE, where, "where")
/* Of one, to another shape; IDENTITY for the kernels. */
TDL_FUNCTION(OWN, EXPAND, expand, "expand")

TDL_TAKES(conv2d, IN(input, FLOATS, RANK(4)), IN(filter, FLOATS, RANK(4)),
          OPTIONAL(bias, FLOATS, RANK(1)), OUT(FLOATS, RANK(4)))
TDL_TAKES(im2col, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(conv_transpose2d, IN(input, FLOATS, RANK(4)), IN(filter, FLOATS, RANK(4)),
          OPTIONAL(bias, FLOATS, RANK(1)), OUT(FLOATS, RANK(4)))
TDL_TAKES(average_pool2d, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(max_pool2d, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(l2_pool2d, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(global_average_pool, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(global_max_pool, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(global_l2_pool, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(resample2d, IN(input, FLOATS, RANK(4)), OUT(FLOATS, RANK(4)))
TDL_TAKES(grid_sample, IN(input, FLOATS, RANK(4)), IN(grid, FLOATS, RANK(4)),
          OUT(FLOATS, RANK(4)))
TDL_TAKES(slice, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(reverse, IN(input, ANY, RANKS(1, 6)), OUT(ANY, RANKS(1, 6)))
TDL_TAKES(split, IN(input, ANY, RANKS(1, 6)), OUT(ANY, RANKS(1, 6)))
TDL_TAKES(concat, IN(input, ANY, RANKS(1, 6)), IN(others, ANY, RANKS(1, 6)),
          OUT(ANY, RANKS(1, 6)))
TDL_TAKES(pad, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(depth_to_space, IN(input, ANY, RANK(4)), OUT(ANY, RANK(4)))
TDL_TAKES(space_to_depth, IN(input, ANY, RANK(4)), OUT(ANY, RANK(4)))
TDL_TAKES(batch_normalization, IN(input, FLOATS, RANK(4)), IN(mean, ANY, RANK(1)),
          IN(variance, ANY, RANK(1)), OPTIONAL(scale, ANY, RANK(1)),
          OPTIONAL(bias, ANY, RANK(1)), OUT(FLOATS, RANK(4)))
TDL_TAKES(instance_normalization, IN(input, FLOATS, RANK(4)), OPTIONAL(scale, ANY, RANK(1)),
          OPTIONAL(bias, ANY, RANK(1)), OUT(FLOATS, RANK(4)))
TDL_TAKES(layer_normalization, IN(input, FLOATS, RANKS(0, 6)),
          OPTIONAL(scale, FLOATS, RANKS(0, 6)), OPTIONAL(bias, FLOATS, RANKS(0, 6)),
          OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(where, IN(x, ANY, RANKS(0, 6)), IN(y, ANY, RANKS(0, 6)),
          IN(condition, BYTES, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(add, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(sub, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(mul, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(div, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(max, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(min, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(pow, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(bitwise_and, IN(a, INTEGERS, RANKS(0, 6)), IN(b, INTEGERS, RANKS(0, 6)),
          OUT(INTEGERS, RANKS(0, 6)))
TDL_TAKES(bitwise_or, IN(a, INTEGERS, RANKS(0, 6)), IN(b, INTEGERS, RANKS(0, 6)),
          OUT(INTEGERS, RANKS(0, 6)))
TDL_TAKES(bitwise_xor, IN(a, INTEGERS, RANKS(0, 6)), IN(b, INTEGERS, RANKS(0, 6)),
          OUT(INTEGERS, RANKS(0, 6)))
TDL_TAKES(equal, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(not_equal, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(greater, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(greater_or_equal, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)),
          OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(lesser, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(lesser_or_equal, IN(a, ANY, RANKS(0, 6)), IN(b, ANY, RANKS(0, 6)),
          OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(logical_and, IN(a, BYTES, RANKS(0, 6)), IN(b, BYTES, RANKS(0, 6)),
          OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(logical_or, IN(a, BYTES, RANKS(0, 6)), IN(b, BYTES, RANKS(0, 6)),
          OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(logical_xor, IN(a, BYTES, RANKS(0, 6)), IN(b, BYTES, RANKS(0, 6)),
          OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(logical_not, IN(x, BYTES, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(is_nan, IN(x, FLOATS, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(is_infinite, IN(x, FLOATS, RANKS(0, 6)), OUT(BYTES, RANKS(0, 6)))
TDL_TAKES(identity, IN(x, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(abs, IN(x, SIGNED, RANKS(0, 6)), OUT(SIGNED, RANKS(0, 6)))
TDL_TAKES(neg, IN(x, SIGNED, RANKS(0, 6)), OUT(SIGNED, RANKS(0, 6)))
TDL_TAKES(sign, IN(x, SIGNED, RANKS(0, 6)), OUT(SIGNED, RANKS(0, 6)))
TDL_TAKES(ceil, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(floor, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(round_even, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(exp, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(log, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(sqrt, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(reciprocal, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(erf, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(sin, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(cos, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(tan, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(relu, IN(x, SIGNED, RANKS(0, 6)), OUT(SIGNED, RANKS(0, 6)))
TDL_TAKES(gelu, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(sigmoid, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(hard_swish, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(tanh, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(softplus, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(softsign, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(leaky_relu, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(prelu, IN(x, SIGNED, RANKS(0, 6)), IN(slope, SIGNED, RANKS(0, 6)),
          OUT(SIGNED, RANKS(0, 6)))
TDL_TAKES(elu, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(hard_sigmoid, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(linear, IN(x, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(clamp, IN(x, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(reshape, IN(x, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(flatten, IN(x, ANY, RANKS(0, 6)), OUT(ANY, RANK(2)))
TDL_TAKES(expand, IN(x, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(cast, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(quantize_linear, IN(input, FLOATS, RANKS(0, 6)), IN(scale, FLOATS, RANKS(0, 6)),
          IN(zero_point, QUANTIZED, RANKS(0, 6)), OUT(QUANTIZED, RANKS(0, 6)))
TDL_TAKES(dequantize_linear, IN(input, QUANTIZED, RANKS(0, 6)), IN(scale, FLOATS, RANKS(0, 6)),
          OPTIONAL(zero_point, QUANTIZED, RANKS(0, 6)), OUT(FLOATS, RANKS(0, 6)))
TDL_TAKES(matmul, IN(a, FLOATS, RANKS(2, 6)), IN(b, FLOATS, RANKS(2, 6)),
          OUT(FLOATS, RANKS(2, 6)))
TDL_TAKES(gemm, IN(a, FLOATS, RANK(2)), IN(b, FLOATS, RANK(2)), OPTIONAL(c, FLOATS, RANKS(0, 2)),
          OUT(FLOATS, RANK(2)))
TDL_TAKES(lstm, IN(input, FLOATS, RANK(3)), IN(weight, FLOATS, RANK(3)),
          IN(recurrent_weight, FLOATS, RANK(3)), OPTIONAL(bias, FLOATS, RANK(2)),
          OPTIONAL(recurrent_bias, FLOATS, RANK(2)), OPTIONAL(peephole, FLOATS, RANK(2)),
          OPTIONAL(initial_hidden, FLOATS, RANK(3)), OPTIONAL(initial_cell, FLOATS, RANK(3)),
          OUT(FLOATS, RANK(3)))
TDL_TAKES(lstm_cell, IN(input, FLOATS, RANK(2)), IN(weight, FLOATS, RANK(2)),
          IN(recurrent_weight, FLOATS, RANK(2)), IN(hidden_state, FLOATS, RANK(2)),
          IN(cell_state, FLOATS, RANK(2)), OPTIONAL(bias, FLOATS, RANK(1)),
          OPTIONAL(recurrent_bias, FLOATS, RANK(1)), OPTIONAL(peephole, FLOATS, RANK(1)),
          OUT(FLOATS, RANK(2)))
TDL_TAKES(gru, IN(input, FLOATS, RANK(3)), IN(weight, FLOATS, RANK(3)),
          IN(recurrent_weight, FLOATS, RANK(3)), OPTIONAL(bias, FLOATS, RANK(2)),
          OPTIONAL(recurrent_bias, FLOATS, RANK(2)), OPTIONAL(initial_hidden, FLOATS, RANK(3)),
          OUT(FLOATS, RANK(3)))
TDL_TAKES(gru_cell, IN(input, FLOATS, RANK(2)), IN(weight, FLOATS, RANK(2)),
          IN(recurrent_weight, FLOATS, RANK(2)), IN(hidden_state, FLOATS, RANK(2)),
          OPTIONAL(bias, FLOATS, RANK(1)), OPTIONAL(recurrent_bias, FLOATS, RANK(1)),
          OUT(FLOATS, RANK(2)))
TDL_TAKES(rnn, IN(input, FLOATS, RANK(3)), IN(weight, FLOATS, RANK(3)),
          IN(recurrent_weight, FLOATS, RANK(3)), OPTIONAL(bias, FLOATS, RANK(2)),
          OPTIONAL(recurrent_bias, FLOATS, RANK(2)), OPTIONAL(initial_hidden, FLOATS, RANK(3)),
          OUT(FLOATS, RANK(3)))
TDL_TAKES(softmax, IN(input, FLOATS, RANKS(1, 6)), OUT(FLOATS, RANKS(1, 6)))
TDL_TAKES(arg_max, IN(input, ANY, RANKS(1, 6)), OUT(INT32, RANKS(0, 5)))
TDL_TAKES(arg_min, IN(input, ANY, RANKS(1, 6)), OUT(INT32, RANKS(0, 5)))
TDL_TAKES(reduce_mean, IN(input, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANK(0)))
TDL_TAKES(reduce_sum, IN(input, SUMMED, RANKS(0, 6)), OUT(SUMMED, RANK(0)))
TDL_TAKES(reduce_max, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANK(0)))
TDL_TAKES(reduce_min, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANK(0)))
TDL_TAKES(reduce_product, IN(input, SUMMED, RANKS(0, 6)), OUT(SUMMED, RANK(0)))
TDL_TAKES(reduce_l1, IN(input, SUMMED, RANKS(0, 6)), OUT(SUMMED, RANK(0)))
TDL_TAKES(reduce_l2, IN(input, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANK(0)))
TDL_TAKES(reduce_sum_square, IN(input, SUMMED, RANKS(0, 6)), OUT(SUMMED, RANK(0)))
TDL_TAKES(reduce_log_sum, IN(input, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANK(0)))
TDL_TAKES(reduce_log_sum_exp, IN(input, FLOATS, RANKS(0, 6)), OUT(FLOATS, RANK(0)))
TDL_TAKES(cumulative_sum, IN(input, SUMMED, RANKS(1, 6)), OUT(SUMMED, RANKS(1, 6)))
TDL_TAKES(top_k, IN(input, ANY, RANKS(1, 6)), OUT(INT32, RANKS(1, 6)))
TDL_TAKES(non_max_suppression, IN(boxes, FLOAT32, RANKS(2, 6)), OUT(INT32, RANKS(1, 5)))
TDL_TAKES(transpose, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
TDL_TAKES(gather, IN(input, ANY, RANKS(1, 6)), IN(indices, INDICES, RANKS(0, 6)),
          OUT(ANY, RANKS(0, 6)))
TDL_TAKES(gather_elements, IN(input, ANY, RANKS(1, 6)), IN(indices, INDICES, RANKS(1, 6)),
          OUT(ANY, RANKS(1, 6)))
TDL_TAKES(gather_nd, IN(input, ANY, RANKS(1, 6)), IN(indices, INDICES, RANKS(1, 6)),
          OUT(ANY, RANKS(0, 6)))
TDL_TAKES(scatter_elements, IN(input, ANY, RANKS(1, 6)), IN(indices, INDICES, RANKS(1, 6)),
          IN(updates, ANY, RANKS(1, 6)), OUT(ANY, RANKS(1, 6)))
TDL_TAKES(scatter_nd, IN(input, ANY, RANKS(1, 6)), IN(indices, INDICES, RANKS(1, 6)),
          IN(updates, ANY, RANKS(0, 6)), OUT(ANY, RANKS(1, 6)))
TDL_TAKES(triangular, IN(input, ANY, RANKS(2, 6)), OUT(ANY, RANKS(2, 6)))
TDL_TAKES(tile, IN(input, ANY, RANKS(0, 6)), OUT(ANY, RANKS(0, 6)))
#undef TDL_OP
#undef TDL_COMPOSED
#undef TDL_FUNCTION
#undef TDL_TAKES
