/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The versions of ONNX's operators. */
#include "onnx.h"

#include <string.h>

#define USUAL_OPSET 7 /* from then on, shapes broadcast as NumPy's */
#define OLDEST_OPSET 1
#define NEWEST_OPSET 26 /* known when this was written */

/* Operators that are in version 7 what they were in older ones, from that one on. */
static const struct {
    const char *name;
    uint64_t first;
} unchanged[] = {
    {"Abs", 6},
    {"ArgMax", 1},
    {"ArgMin", 1},
    {"AveragePool", 1},
    {"Cast", 6},
    {"Ceil", 6},
    {"Clip", 6},
    {"Concat", 4},
    {"Constant", 1},
    {"Conv", 1},
    {"ConvTranspose", 1},
    {"DepthToSpace", 1},
    {"Elu", 6},
    {"Exp", 6},
    {"Flatten", 1},
    {"Floor", 6},
    {"Gather", 1},
    {"GlobalAveragePool", 1},
    {"GlobalLpPool", 2},
    {"GlobalMaxPool", 1},
    {"HardSigmoid", 6},
    {"Hardmax", 1},
    {"Identity", 1},
    {"InstanceNormalization", 6},
    {"LRN", 1},
    {"LeakyRelu", 6},
    {"Log", 6},
    {"LogSoftmax", 1},
    {"LpNormalization", 1},
    {"LpPool", 2},
    {"MatMul", 1},
    {"MaxPool", 1},
    {"Neg", 6},
    {"Not", 1},
    {"Pad", 2},
    {"Reciprocal", 6},
    {"ReduceL1", 1},
    {"ReduceL2", 1},
    {"ReduceLogSum", 1},
    {"ReduceLogSumExp", 1},
    {"ReduceMax", 1},
    {"ReduceMean", 1},
    {"ReduceMin", 1},
    {"ReduceProd", 1},
    {"ReduceSum", 1},
    {"ReduceSumSquare", 1},
    {"Relu", 6},
    {"Reshape", 5},
    {"Selu", 6},
    {"Shape", 1},
    {"Sigmoid", 6},
    {"Size", 1},
    {"Slice", 1},
    {"Softmax", 1},
    {"Softplus", 1},
    {"Softsign", 1},
    {"SpaceToDepth", 1},
    {"Split", 2},
    {"Sqrt", 6},
    {"Squeeze", 1},
    {"Sum", 6},
    {"Tanh", 6},
    {"Tile", 6},
    {"TopK", 1},
    {"Transpose", 1},
    {"Unsqueeze", 1},
};

/* For a file that is older than usual. */
static bool check_old(struct onnx_import *im)
{
    for (size_t i = 0; i < sizeof(unchanged) / sizeof(unchanged[0]); i++)
        if (!strcmp(unchanged[i].name, im->node.row->name) && im->opset >= unchanged[i].first)
            return true;
    return tdl_kit_refuse(&im->kit,
                          "the operator is of version %llu, and libtdl knows it from version %d "
                          "on: convert the file with onnx.version_converter",
                          (unsigned long long)im->opset, USUAL_OPSET);
}

bool onnx_check_opset(struct onnx_import *im)
{
    if (im->node.row && im->opset >= OLDEST_OPSET && im->opset < USUAL_OPSET)
        return check_old(im);
    return (im->opset >= OLDEST_OPSET && im->opset <= NEWEST_OPSET) ||
           tdl_kit_refuse(&im->kit,
                          "the model's operators are of version %llu; libtdl reads versions %d to "
                          "%d: convert it with onnx.version_converter",
                          (unsigned long long)im->opset, USUAL_OPSET, NEWEST_OPSET);
}

static bool read_opset(struct onnx_import *im, const struct tdl_pb *message)
{
    struct tdl_pb m = *message, domain = {0};
    struct tdl_pb_field f;
    uint64_t version = 0;

    while (tdl_pb_next(&m, &f)) {
        if (f.number == ONNX_OPSET_DOMAIN)
            domain = f.in;
        else if (f.number == ONNX_OPSET_VERSION)
            version = f.value;
    }
    if (m.broken)
        return onnx_fail_damaged(im, "a version of operators");
    if (domain.size == 0 || tdl_pb_is(&domain, "ai.onnx"))
        im->opset = version;
    return true;
}

bool onnx_read_opsets(struct onnx_import *im, const struct tdl_pb *message, uint32_t number)
{
    struct tdl_pb m = *message;
    struct tdl_pb_field f;

    while (tdl_pb_next(&m, &f))
        if (f.number == number && !read_opset(im, &f.in))
            return false;
    /* None may be said where all operators are functions, which say it themselves. */
    return (im->opset == 0 && im->functions) || onnx_check_opset(im);
}
