/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers that libtdl has not, and what people can do about each. */
#include "ncnn.h"

#include <stdio.h>
#include <string.h>

#define VOLUMES "volumes are not supported; give the ONNX file that the model came from"
#define BOXES "boxes of this kind are not supported; give the ONNX file that the model came from"
#define BYTES "it computes in int8; convert the model without int8"

static const struct {
    const char *type, *why; /* NULL: it gives as many rows as it finds */
} refused[] = {
    {"Convolution3D", VOLUMES},
    {"ConvolutionDepthWise3D", VOLUMES},
    {"Deconvolution3D", VOLUMES},
    {"DeconvolutionDepthWise3D", VOLUMES},
    {"DeformableConv2D", "deformable windows are not supported; give the ONNX file that the model "
                         "came from"},
    {"Dequantize", BYTES},
    {"DetectionOutput", NULL},
    {"Diag", "diagonals are not supported; give the ONNX file that the model came from"},
    {"Einsum", "Einstein's sums are not supported; give the ONNX file that the model came from"},
    {"Fold", "blocks that overlap are not supported; give the ONNX file that the model came from"},
    {"InverseSpectrogram", "sound is not supported"},
    {"PSROIPooling", BOXES},
    {"Pooling3D", VOLUMES},
    {"PriorBox", "boxes of anchors are computed behind the model; take its line out of the .param, "
                 "those of layers that read it, and DetectionOutput's"},
    {"Proposal", NULL},
    {"Quantize", BYTES},
    {"ROIAlign", BOXES},
    {"ROIPooling", BOXES},
    {"Requantize", BYTES},
    {"SPP", "it is not supported; give the ONNX file that the model came from"},
    {"Spectrogram", "sound is not supported"},
    {"YoloDetectionOutput", NULL},
    {"Yolov3DetectionOutput", NULL},
};

/* Its bottoms are what is known without it. */
static bool refuse_rows(struct ncnn_import *im, const struct ncnn_layer *l)
{
    char names[256] = "";
    size_t length = 0;

    for (uint32_t i = 0; i < l->bottom_count && length + 48 < sizeof(names); i++) {
        const struct ncnn_blob *blob = &im->blobs[l->bottoms[i]];
        const int shown = blob->length < 32 ? (int)blob->length : 32;

        length += (size_t)snprintf(names + length, sizeof(names) - length, "%s'%.*s'",
                                   i ? ", " : "", shown, blob->name);
    }
    return tdl_kit_refuse(&im->kit,
                          "it gives as many rows as it finds: cut the model at %s, which are "
                          "outputs when its line is taken out of the .param, with one layer less "
                          "in the second line",
                          names);
}

bool ncnn_refuse(struct ncnn_import *im, const struct ncnn_layer *l)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (!strcmp(refused[i].type, l->type))
            return refused[i].why ? tdl_kit_refuse(&im->kit, "%s", refused[i].why)
                                  : refuse_rows(im, l);
    return tdl_kit_refuse(&im->kit,
                          "libtdl has no layer of this type; convert the model without it");
}
