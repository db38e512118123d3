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

#include "base/gsttdlerror.h"

/* Properties of GStreamer's own elements, so that a line for one of them works with the name
 * changed. Each says something that a property here says, or that is refused in words. */
enum gst_tdl_alias {
    PROVIDER = 1000, /* behind all other ids */
    LEVEL,
    IMAGE_FORMAT,
    OFFSET,
    SCALE,
    ALIASES_END,
};
#define ALIASES (ALIASES_END - PROVIDER)

struct _GstTdlInference {
    GstTdlElement base;

    /* Guarded by the object lock. */
    gchar *texts[ALIASES]; /* of properties that are texts; NULL: not set */
    gfloat offset, scale;
    GError *refused[ALIASES];
};

G_DEFINE_FINAL_TYPE(GstTdlInference, gst_tdl_inference, GST_TYPE_TDL_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(tdlinference, "tdlinference", GST_RANK_NONE, GST_TYPE_TDL_INFERENCE)

/* ------------------------------------------------------------------ aliases */

/* Values of texts, and what they are here; `property` NULL: nothing has to be said. */
static const struct {
    guint alias;
    const gchar *text, *property, *value;
} meanings[] = {
    { PROVIDER, "cpu", "device", "cpu" },
    { PROVIDER, "cuda", "device", "gpu" },
    { PROVIDER, "hip", "device", "gpu" },
    { PROVIDER, "migraphx", "device", "gpu" },
    { PROVIDER, "directml", "device", "gpu" },
    { LEVEL, "disable-all", "fuse", "false" },
    { LEVEL, "enable-basic", "fuse", "true" },
    { LEVEL, "enable-extended", "fuse", "true" },
    { LEVEL, "enable-all", "fuse", "true" },
    { IMAGE_FORMAT, "hwc", NULL, NULL }, /* the model's file says it */
    { IMAGE_FORMAT, "chw", NULL, NULL },
};

static const gchar *const advice[ALIASES] = {
    [PROVIDER - PROVIDER] = "Here a network runs on the CPU or on any GPU with Vulkan, as "
                            "\"device\" says: give cpu, or cuda, hip, migraphx or directml for "
                            "the GPU, or leave it away.",
    [LEVEL - PROVIDER] = "Give disable-all, enable-basic, enable-extended or enable-all, or "
                         "\"fuse\" in its place.",
    [IMAGE_FORMAT - PROVIDER] = "Give hwc or chw, or leave it away: the model says it itself.",
};

static void set_text(GstTdlInference *self, guint alias, const GParamSpec *pspec, const gchar *text)
{
    GError *refused = NULL;
    guint i = 0;

    while (i < G_N_ELEMENTS(meanings) &&
           (meanings[i].alias != alias || g_strcmp0(meanings[i].text, text) != 0))
        i++;
    if (i == G_N_ELEMENTS(meanings) && text && *text)
        refused = g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                              "tdlinference has no %s=%s. %s", pspec->name, text,
                              advice[alias - PROVIDER]);
    else if (i < G_N_ELEMENTS(meanings) && meanings[i].property)
        gst_util_set_object_arg(G_OBJECT(self), meanings[i].property, meanings[i].value);
    GST_OBJECT_LOCK(self);
    g_free(self->texts[alias - PROVIDER]);
    self->texts[alias - PROVIDER] = g_strdup(text);
    g_clear_error(&self->refused[alias - PROVIDER]);
    self->refused[alias - PROVIDER] = refused;
    GST_OBJECT_UNLOCK(self);
}

/* Each of 0 to 255 becomes (colour + offset) / scale. */
static void set_range(GstTdlInference *self, guint alias, gfloat number)
{
    gchar black[G_ASCII_DTOSTR_BUF_SIZE], white[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree gchar *range = NULL;

    GST_OBJECT_LOCK(self);
    *(alias == OFFSET ? &self->offset : &self->scale) = number;
    g_ascii_dtostr(black, sizeof(black), (gdouble)self->offset / (gdouble)self->scale);
    g_ascii_dtostr(white, sizeof(white), (255 + (gdouble)self->offset) / (gdouble)self->scale);
    GST_OBJECT_UNLOCK(self);
    range = g_strconcat(black, ",", white, NULL);
    g_object_set(self, "input-range", range, NULL);
}

static void (*set_own)(GObject *object, guint id, const GValue *value, GParamSpec *pspec);
static void (*get_own)(GObject *object, guint id, GValue *value, GParamSpec *pspec);

static void gst_tdl_inference_set_property(GObject *object, guint id, const GValue *value,
                                           GParamSpec *pspec)
{
    GstTdlInference *self = GST_TDL_INFERENCE(object);

    if (id < PROVIDER)
        set_own(object, id, value, pspec);
    else if (id == OFFSET || id == SCALE)
        set_range(self, id, g_value_get_float(value));
    else
        set_text(self, id, pspec, g_value_get_string(value));
}

static void gst_tdl_inference_get_property(GObject *object, guint id, GValue *value,
                                           GParamSpec *pspec)
{
    GstTdlInference *self = GST_TDL_INFERENCE(object);

    if (id < PROVIDER) {
        get_own(object, id, value, pspec);
        return;
    }
    GST_OBJECT_LOCK(self);
    if (id == OFFSET || id == SCALE)
        g_value_set_float(value, id == OFFSET ? self->offset : self->scale);
    else
        g_value_set_string(value, self->texts[id - PROVIDER]);
    GST_OBJECT_UNLOCK(self);
}

static void install_aliases(GObjectClass *object)
{
    static const struct {
        const gchar *name, *nick, *blurb;
    } texts[] = {
        { "execution-provider", "Execution provider",
          "For lines of onnxinference: cpu is device=cpu, cuda and its like are device=gpu" },
        { "optimization-level", "Optimization level",
          "For lines of onnxinference: disable-all is fuse=false, the others are fuse=true" },
        { "input-image-format", "Input image format",
          "For lines of onnxinference: hwc or chw, which the model's file says itself" },
    };
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_object_class_install_property(
            object, PROVIDER + i,
            g_param_spec_string(texts[i].name, texts[i].nick, texts[i].blurb, NULL, flags));
    g_object_class_install_property(
        object, OFFSET,
        g_param_spec_float("input-tensor-offset", "Input tensor offset",
                           "For lines of onnxinference: what is added to colours of 0 to 255; it "
                           "sets input-range",
                           -G_MAXFLOAT, G_MAXFLOAT, 0, flags));
    g_object_class_install_property(
        object, SCALE,
        g_param_spec_float("input-tensor-scale", "Input tensor scale",
                           "For lines of onnxinference: by what the sum is divided; it sets "
                           "input-range",
                           G_MINFLOAT, G_MAXFLOAT, 1, flags));
}

/* -------------------------------------------------------------------- class */

static GstStateChangeReturn gst_tdl_inference_change_state(GstElement *element,
                                                           GstStateChange transition)
{
    GstTdlInference *self = GST_TDL_INFERENCE(element);
    GError *refused = NULL;

    GST_OBJECT_LOCK(self);
    for (guint i = 0; i < ALIASES && !refused; i++)
        if (self->refused[i])
            refused = g_error_copy(self->refused[i]);
    GST_OBJECT_UNLOCK(self);
    if (!refused || transition != GST_STATE_CHANGE_NULL_TO_READY) {
        g_clear_error(&refused);
        return GST_ELEMENT_CLASS(gst_tdl_inference_parent_class)->change_state(element, transition);
    }
    gst_tdl_error_post(self, GST_MESSAGE_ERROR, refused);
    return GST_STATE_CHANGE_FAILURE;
}

static void gst_tdl_inference_finalize(GObject *object)
{
    GstTdlInference *self = GST_TDL_INFERENCE(object);

    for (guint i = 0; i < ALIASES; i++) {
        g_free(self->texts[i]);
        g_clear_error(&self->refused[i]);
    }
    G_OBJECT_CLASS(gst_tdl_inference_parent_class)->finalize(object);
}

static void gst_tdl_inference_class_init(GstTdlInferenceClass *klass)
{
    GObjectClass *object = G_OBJECT_CLASS(klass);

    gst_tdl_element_install(object, GST_TDL_OF_INFERENCE);
    set_own = object->set_property;
    get_own = object->get_property;
    object->set_property = gst_tdl_inference_set_property;
    object->get_property = gst_tdl_inference_get_property;
    object->finalize = gst_tdl_inference_finalize;
    install_aliases(object);
    GST_ELEMENT_CLASS(klass)->change_state = gst_tdl_inference_change_state;
    gst_element_class_set_static_metadata(
        GST_ELEMENT_CLASS(klass), "Neural network inference", "Filter/Video",
        "Runs a neural network on every frame, on the GPU (Vulkan) or on the CPU, and attaches its "
        "outputs as tensors, for elements that decode them",
        "The tdlfilter developers");
}

static void gst_tdl_inference_init(GstTdlInference *self)
{
    struct gst_tdl_settings *settings = &GST_TDL_ELEMENT(self)->settings;

    self->scale = 1;
    gst_tdl_settings_want_tensors_alone(settings);
    GST_TDL_ELEMENT(self)->active = settings->live;
}
