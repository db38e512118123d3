/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What readers of a file say that cannot be read. */
#include "onnx.h"

#include <stdarg.h>
#include <stdio.h>

bool onnx_fail(struct onnx_import *im, enum tdl_result result, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tdl_builder_fail(im->builder, result, "%s", text);
    return false;
}

bool onnx_fail_damaged(struct onnx_import *im, const char *what)
{
    return onnx_fail(im, TDL_ERROR_INVALID_MODEL,
                     "the model file is damaged: %s does not end where it should; get the file "
                     "again",
                     what);
}
