/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of TensorFlow.js models in a build without jansson: it says so. */
#include "models/format.h"
#include "recognise.h"

static const char *operator_name(uint32_t index)
{
    (void)index;
    return NULL;
}

static void import(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    (void)source;
    tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED,
                     "this libtdl was built without jansson, which reads TensorFlow.js models: "
                     "install its development files (on Debian: libjansson-dev) and build again");
}

const struct tdl_model_format tdl_model_tfjs = {
    .name = "TensorFlow.js",
    .recognises = tfjs_recognises,
    .operator_name = operator_name,
    .import = import,
};
