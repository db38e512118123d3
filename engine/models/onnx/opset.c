/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The versions of ONNX's operators. */
#include "onnx.h"

#define OLDEST_OPSET 7  /* from then on, shapes broadcast as NumPy's */
#define NEWEST_OPSET 26 /* known when this was written */

bool onnx_check_opset(struct onnx_import *im)
{
    return (im->opset >= OLDEST_OPSET && im->opset <= NEWEST_OPSET) ||
           tdl_kit_refuse(&im->kit,
                          "the model's operators are of version %llu; libtdl reads versions %d to "
                          "%d: convert it with onnx.version_converter",
                          (unsigned long long)im->opset, OLDEST_OPSET, NEWEST_OPSET);
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
