/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tdlinference
 * @title: tdlinference
 *
 * Runs a network on every frame, on the GPU or on the CPU, and attaches all its outputs to the
 * frame as a GstTensorMeta, for elements that decode them. The frame goes on as it came.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvertscale ! tdlinference model-file=yolov8s.onnx ! \
 *     yolov8tensordec ! objectdetectionoverlay ! videoconvert ! autovideosink
 * ]|
 */
#include "gsttdlinference.h"

struct _GstTdlInference {
    GstTdlElement base;
};

G_DEFINE_FINAL_TYPE(GstTdlInference, gst_tdl_inference, GST_TYPE_TDL_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(tdlinference, "tdlinference", GST_RANK_NONE, GST_TYPE_TDL_INFERENCE)

static void gst_tdl_inference_class_init(GstTdlInferenceClass *klass)
{
    gst_tdl_element_install(G_OBJECT_CLASS(klass), GST_TDL_OF_INFERENCE);
    gst_element_class_set_static_metadata(
        GST_ELEMENT_CLASS(klass), "Neural network inference", "Filter/Video",
        "Runs a neural network on every frame, on the GPU (Vulkan) or on the CPU, and attaches its "
        "outputs as tensors, for elements that decode them",
        "The tdlfilter developers");
}

static void gst_tdl_inference_init(GstTdlInference *self)
{
    struct gst_tdl_settings *settings = &GST_TDL_ELEMENT(self)->settings;

    gst_tdl_settings_want_tensors_alone(settings);
    GST_TDL_ELEMENT(self)->active = settings->live;
}
