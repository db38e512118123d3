/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of operators, one line each; meson reads the files to compile from it, too.
 * TDL_OP: an operator, and the file in this folder that holds its struct tdl_op.
 * TDL_COMPOSED: a file of functions that are made of other operators.
 */
/* clang-format off */
TDL_OP(conv2d, conv2d)
TDL_OP(conv_transpose2d, conv_transpose2d)
TDL_OP(average_pool2d, average_pool2d)
TDL_OP(max_pool2d, max_pool2d)
TDL_OP(l2_pool2d, l2_pool2d)
TDL_OP(resample2d, resample2d)
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

TDL_COMPOSED(gru)
TDL_COMPOSED(lstm)
TDL_COMPOSED(quantize)
TDL_COMPOSED(reverse)
TDL_COMPOSED(rnn)
TDL_COMPOSED(split)
