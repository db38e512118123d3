/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layers of ncnn that libtdl has, a row each. */
#include "ncnn.h"

#include <string.h>

/* clang-format off */
static const struct ncnn_row rows[] = {
    {"BatchNorm", 1, 1, ncnn_add_batch_norm},
    {"BinaryOp", 1, 2, ncnn_add_binary},
    {"Clip", 1, 1, ncnn_add_clip},
    {"Concat", 1, NCNN_MAX_ARGS, ncnn_add_concat},
    {"Convolution", 1, 1, ncnn_add_convolution},
    {"ConvolutionDepthWise", 1, 1, ncnn_add_convolution},
    {"Crop", 1, 2, ncnn_add_crop},
    {"Deconvolution", 1, 1, ncnn_add_deconvolution},
    {"DeconvolutionDepthWise", 1, 1, ncnn_add_deconvolution},
    {"Dropout", 1, 1, ncnn_add_dropout},
    {"ELU", 1, 1, ncnn_add_elu},
    {"Eltwise", 1, NCNN_MAX_ARGS, ncnn_add_eltwise},
    {"Flatten", 1, 1, ncnn_add_flatten},
    {"GELU", 1, 1, ncnn_add_function},
    {"HardSigmoid", 1, 1, ncnn_add_hard_sigmoid},
    {"HardSwish", 1, 1, ncnn_add_hard_sigmoid},
    {"InnerProduct", 1, 1, ncnn_add_inner_product},
    {"Interp", 1, 1, ncnn_add_interp},
    {"MemoryData", 0, 0, ncnn_add_memory_data},
    {"Mish", 1, 1, ncnn_add_function},
    {"Noop", 1, 1, ncnn_add_same},
    {"PReLU", 1, 1, ncnn_add_prelu},
    {"Padding", 1, 1, ncnn_add_padding},
    {"Permute", 1, 1, ncnn_add_permute},
    {"PixelShuffle", 1, 1, ncnn_add_pixel_shuffle},
    {"Pooling", 1, 1, ncnn_add_pooling},
    {"ReLU", 1, 1, ncnn_add_relu},
    {"Reshape", 1, 1, ncnn_add_reshape},
    {"Scale", 1, 2, ncnn_add_scale},
    {"Sigmoid", 1, 1, ncnn_add_function},
    {"Softmax", 1, 1, ncnn_add_softmax},
    {"Softplus", 1, 1, ncnn_add_function},
    {"Split", 1, 1, ncnn_add_same},
    {"Swish", 1, 1, ncnn_add_function},
    {"TanH", 1, 1, ncnn_add_function},
    {"UnaryOp", 1, 1, ncnn_add_unary},
};
/* clang-format on */

const struct ncnn_row *ncnn_find_row(const char *type)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].type, type) == 0)
            return &rows[i];
    return NULL;
}

const char *ncnn_row_name(uint32_t index)
{
    return index < sizeof(rows) / sizeof(rows[0]) ? rows[index].type : NULL;
}
