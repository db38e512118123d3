/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that exporters leave in a file, and how one is had without them. */
#include "onnx.h"

#include <string.h>

static const char sequences[] = "lists of tensors are not supported: export the model with "
                                "dynamo=True, or simplify the file (onnxsim IN OUT)";
static const char loops[] = "loops are supported where their count is known: export the model with "
                            "dynamo=True, by torch.jit.trace in place of script, or with fixed "
                            "shapes, and simplify the file (onnxsim IN OUT)";
static const char noise[] = "random numbers are not supported: give them to the model as an input";
static const char sounds[] = "sound is not supported; cut the model off behind this operator "
                             "(onnx.utils.extract_model)";
static const char texts[] = "text is not supported; cut the model off before this operator "
                            "(onnx.utils.extract_model)";
static const char plugins[] = "this operator is TensorRT's: export the model without NMS at its "
                              "end; overlapping boxes go elsewhere";
static const char gradients[] = "training is not supported: export the model for inference "
                                "(model.eval())";

static const struct {
    const char *type, *reason;
} refused[] = {
    {"BatchedNMS_TRT", plugins},
    {"EfficientNMS_TRT", plugins},
    {"Gradient", gradients},
    {"MelWeightMatrix", sounds},
    {"Multinomial", noise},
    {"RegexFullMatch", texts},
    {"Scan", loops},
    {"SequenceMap", sequences},
    {"StringConcat", texts},
    {"StringNormalizer", texts},
    {"StringSplit", texts},
    {"TfIdfVectorizer", texts},
};

static const char optimised[] =
    "it is of ONNX Runtime's optimizer, or its quantizer: give the file as it was before, or write "
    "it with ORT_ENABLE_BASIC and QuantFormat.QDQ";
static const char for_one_processor[] =
    "ONNX Runtime's optimizer wrote the file for one processor: give the file as it was before, or "
    "write it with ORT_ENABLE_EXTENDED";
static const char untranslated[] =
    "PyTorch's exporter did not translate it: export the model with dynamo=True, or without "
    "operator_export_type";

/* By the beginnings of their names. */
static const struct {
    const char *domain, *reason;
} domains[] = {
    {"com.microsoft.extensions",
     "it is of onnxruntime-extensions, which put it round the model: give the file without"},
    {"ai.onnx.contrib",
     "it is of onnxruntime-extensions, which put it round the model: give the file without"},
    {"com.microsoft.nchwc", for_one_processor},
    {"com.microsoft", optimised},
    {"com.ms.internal", for_one_processor},
    {"aten", untranslated},
    {"org.pytorch", untranslated},
    {"pkg.onnxscript", untranslated},
    {"prim", untranslated},
    {"mmdeploy", "it is MMDeploy's: export the model with its onnxruntime backend, or by "
                 "torch.onnx.export"},
    {"ai.onnx.ml", "trees, scalers and the like are no networks: cut the model off before "
                   "(onnx.utils.extract_model)"},
    {"ai.onnx.preview.training", gradients},
    {"TRT", plugins},
    {"trt", plugins},
};

bool onnx_refuse_operator(struct onnx_import *im, const struct onnx_node *n)
{
    char type[48];

    tdl_pb_text(&n->type, type, sizeof(type));
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (!strcmp(refused[i].type, type))
            return tdl_kit_refuse(&im->kit, "the operator is not supported; %s", refused[i].reason);
    return tdl_kit_lacks(&im->kit,
                         "the operator is not supported; tdl-info --known lists those that are");
}

bool onnx_refuse_domain(struct onnx_import *im, const struct onnx_node *n)
{
    const char *reason = "export the model with ONNX's own operators";
    char domain[48];

    tdl_pb_text(&n->domain, domain, sizeof(domain));
    for (size_t i = sizeof(domains) / sizeof(domains[0]); i-- > 0;)
        if (!strncmp(domain, domains[i].domain, strlen(domains[i].domain)))
            reason = domains[i].reason;
    if (tdl_pb_is(&n->domain, "com.microsoft"))
        return tdl_kit_refuse(&im->kit, "the operator of '%s' is not supported; %s", domain,
                              reason);
    return tdl_kit_refuse(&im->kit, "operators of the domain '%s' are not supported; %s", domain,
                          reason);
}
