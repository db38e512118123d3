/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlsettings.h"

#include "gsttdloutput.h"

#include <stddef.h>

enum kind {
    FLOAT,
    UINT,
    COLOR,
    BOOL,
    STRING,
    CLASSES,
    MODE, /* enumerations from here on */
    PRECISION,
    LATENCY,
    DECODER,
    FIT,
    ORDER,
    COLORMAP,
};

#define AT(field) offsetof(struct gst_tdl_settings, field)

/* Enumerations and booleans take `def` as their default, too. */
static const struct property {
    const gchar *name, *nick, *blurb;
    enum kind kind;
    enum gst_tdl_effect effect;
    gsize offset;
    gdouble min, max, def;
    const gchar *text; /* the default of a string; NULL: empty */
} properties[] = {
    { "model", "Model",
      "The network: \"person\" or empty for the bundled person model (256x256 px), "
      "\"person-landscape\" for its faster 256x144 px sister, a name that "
      "pipelines/fetch-models.sh has fetched (\"isnet\", \"text\", \"pose\", \"enlarge\"), or the "
      "path (or "
      "file:// URI) of a model file "
      "(TensorFlow Lite, ONNX or ncnn) with one picture in and a mask, or a probability for each "
      "class, out. When changed while PLAYING the old one "
      "works on until the new one is ready; if that cannot be loaded, a warning message says why",
      STRING, GST_TDL_MODEL, AT(sources.model), .text = "person" },
    { "mode", "Mode", "What becomes of the picture", MODE, GST_TDL_RENEGOTIATE, AT(live.mode),
      .def = TDL_MODE_OVERLAY },
    { "device", "Device",
      "What computes: \"auto\" or empty (a discrete GPU, else an integrated one, else the CPU; "
      "what "
      "TDL_DEVICE in the environment says comes first), \"cpu\", \"gpu\", \"vulkan\" (the best "
      "Vulkan device, be it software), an index, a UUID in hex, a DRM node such as "
      "/dev/dri/renderD128, or a part of the name; tdl-info lists them",
      STRING, GST_TDL_RESTART, AT(sources.device), .text = "auto" },
    { "threads", "Threads",
      "Most threads that compute on the CPU where that is the device, shared by all elements of "
      "the process with the same number; 0, and more than that: as many as cores that the process "
      "may use (its affinity mask, and the time that its control groups give it); with 0 a small "
      "network has one",
      UINT, GST_TDL_RESTART, AT(sources.threads), 0, 1024, 0 },
    { "precision", "Precision", "How the network stores its intermediate values", PRECISION,
      GST_TDL_RESTART, AT(sources.precision), .def = TDL_PRECISION_AUTO },
    { "fuse", "Fuse operators",
      "Compile several operators of the network into one GPU kernel; off is slower and there to "
      "look for mistakes in the fused kernels",
      BOOL, GST_TDL_RESTART, AT(sources.fuse), .def = TRUE },
    { "classes", "Classes",
      "Class indices that count as foreground, of models of several classes: the mask is the sum "
      "of their probabilities. Empty: all but class 0, which most models keep for the background; "
      "of YOLO models, which have none for it, all",
      CLASSES, GST_TDL_MODEL, AT(sources.classes) },
    { "model-size", "Model size",
      "Size of the picture as WIDTHxHEIGHT where the model's file leaves it open, or \"frame\": "
      "that "
      "of the frames, up to 1920x1080; empty: 256x256",
      STRING, GST_TDL_MODEL, AT(sources.model_size) },
    { "model-output", "Model output",
      "Name of the model's output that is the mask; empty: the first. tdl-run lists them", STRING,
      GST_TDL_MODEL, AT(sources.model_output) },
    { "model-state", "Model state",
      "Of a recurrent model, which inputs get what an output was in the run before, as "
      "\"r1i=r1o,r2i=r2o\"; zeros in the first run, and behind a discontinuity",
      STRING, GST_TDL_MODEL, AT(sources.model_state) },
    { "model-constants", "Model constants",
      "Inputs that are the same number in every run, as \"downsample_ratio=0.25\"", STRING,
      GST_TDL_MODEL, AT(sources.model_constants) },
    { "decoder", "Decoder", "What the model's output says", DECODER, GST_TDL_MODEL,
      AT(sources.decoder), .def = GST_TDL_DECODE_AUTO },
    { "score-threshold", "Score threshold",
      "How sure a model that finds objects in boxes (YOLO) must be of one, for its mask to count",
      FLOAT, GST_TDL_MODEL, AT(sources.score_threshold), 0, 1, 0.25 },
    { "iou-threshold", "IoU threshold",
      "Of two such objects of one class whose boxes have more than this in common, as a share of "
      "what both cover, the one with the lower score goes",
      FLOAT, GST_TDL_MODEL, AT(sources.iou_threshold), 0, 1, 0.45 },
    { "input-range", "Input range",
      "Numbers that the model wants for black and white, as \"0,1\" (what empty means), \"-1,1\" "
      "or "
      "\"0,255\"",
      STRING, GST_TDL_MODEL, AT(sources.input_range) },
    { "input-mean", "Input mean",
      "Red, green and blue that are taken off then, as \"0.485,0.456,0.406\"; empty: 0", STRING,
      GST_TDL_MODEL, AT(sources.input_mean) },
    { "input-deviation", "Input deviation",
      "Red, green and blue by which the rest is divided, as \"0.229,0.224,0.225\"; empty: 1",
      STRING, GST_TDL_MODEL, AT(sources.input_deviation) },
    { "input-fit", "Input fit", "How the frame comes to the size that the model wants", FIT,
      GST_TDL_MODEL, AT(sources.input_fit), .def = GST_TDL_FIT_STRETCH },
    { "input-order", "Input order", "Order of the colours in the model's picture", ORDER,
      GST_TDL_MODEL, AT(sources.input_order), .def = GST_TDL_ORDER_RGB },
    { "output-range", "Output range",
      "Numbers that stand for black and white in the model's output, in mode=picture, as \"0,1\" "
      "(what empty means), \"-1,1\" or \"0,255\"",
      STRING, GST_TDL_MODEL, AT(sources.output_range) },
    { "colormap", "Colour map", "Colours for one channel in mode=picture", COLORMAP, GST_TDL_MODEL,
      AT(sources.colormap), .def = GST_TDL_COLORMAP_NONE },
    { "palette", "Palette",
      "Colours of the classes in mode=classes, from class 0 on, as \"0x000000,0xff0000\"; empty, "
      "and for classes behind: those of PASCAL VOC",
      STRING, GST_TDL_MODEL, AT(sources.palette) },
    { "labels", "Labels",
      "File with the classes' names, one a line, from class 0 on: with mode=classes the element "
      "message tdl-legend has them with their colours",
      STRING, GST_TDL_MODEL, AT(sources.labels) },
    { "background", "Background picture",
      "Picture (a path or file:// URI of anything that GStreamer decodes) put behind the "
      "foreground in mode=replace, the right side up, scaled to cover the frame, what sticks out "
      "cut "
      "off evenly; background-color shows where it is transparent. Made smaller than 4096 px while "
      "it is loaded. A video stands still at its first frame. Empty: background-color",
      STRING, GST_TDL_PICTURE, AT(sources.background) },
    { "background-color", "Background colour",
      "Colour behind the foreground in mode=replace without a picture, as 0xAARRGGBB", COLOR,
      GST_TDL_LIVE, AT(live.background_color), .def = 0xff00b140 },
    { "overlay-color", "Overlay colour",
      "Colour that tints the foreground in mode=overlay, as 0xAARRGGBB", COLOR, GST_TDL_LIVE,
      AT(live.overlay_color), .def = 0xff00c8ff },
    { "opacity", "Opacity", "Strength of the overlay: 0 invisible, 1 opaque", FLOAT, GST_TDL_LIVE,
      AT(live.opacity), 0, 1, 0.5 },
    { "blur-radius", "Blur radius",
      "Standard deviation of the background's blur in mode=blur, in px of the frame", FLOAT,
      GST_TDL_LIVE, AT(live.blur_radius), 0, 128, 16 },
    { "blur-share", "Blur share",
      "The same as a share of the frame's height, so that frames of every size look alike (0.022 "
      "is "
      "16 px of 720; 128 px at most); 0: blur-radius counts",
      FLOAT, GST_TDL_LIVE, AT(live.blur_share), 0, 0.25, 0 },
    { "threshold", "Threshold",
      "How sure the network must be of the foreground (0 to 1): lower takes in more of the "
      "picture; "
      "0 without feather takes in everything",
      FLOAT, GST_TDL_LIVE, AT(live.threshold), 0, 1, 0.5 },
    { "feather", "Feather",
      "Width of the soft step around the threshold (0 to 1): 0 is a hard outline", FLOAT,
      GST_TDL_LIVE, AT(live.feather), 0, 1, 0.4 },
    { "smoothing", "Smoothing",
      "Share of the previous mask that is left after 1/30 s, by the frames' timestamps, where the "
      "picture stands still and the network wavers (0 to 0.99): more flickers less. What moves is "
      "not smoothed",
      FLOAT, GST_TDL_LIVE, AT(live.smoothing), 0, 0.99, 0.75 },
    { "refine", "Refine edges", "Let the mask's outline follow the edges of the full-size picture",
      BOOL, GST_TDL_LIVE, AT(live.refine), .def = TRUE },
    { "close-holes", "Close holes",
      "Close holes inside the foreground where the network is nowhere sure of the background, such "
      "as "
      "a badge on clothes",
      BOOL, GST_TDL_LIVE, AT(live.close_holes), .def = TRUE },
    { "min-area", "Minimum area",
      "Pieces of foreground or background that are smaller than this share of the frame's area go "
      "over to what is round them, background first (0 to 1): 0.01 is a hundredth of the frame, 0 "
      "keeps all",
      FLOAT, GST_TDL_LIVE, AT(live.min_area), 0, 1, 0 },
    { "grow", "Grow",
      "Let the mask of the person grow by this many px of the frame, or shrink where negative; "
      "before "
      "invert",
      FLOAT, GST_TDL_LIVE, AT(live.grow), -TDL_MAX_GROW, TDL_MAX_GROW, 0 },
    { "invert", "Invert", "Let foreground and background change places", BOOL, GST_TDL_LIVE,
      AT(live.invert), .def = FALSE },
    { "interval", "Interval",
      "Run the network on every Nth frame only; the frames between keep the last mask. After a "
      "discontinuity, a gap or in a new segment it runs at once",
      UINT, GST_TDL_LIVE, AT(live.interval), 1, G_MAXINT, 1 },
    { "latency-mode", "Latency mode", "Which mask a frame is composed with", LATENCY, GST_TDL_LIVE,
      AT(live.latency_mode), .def = GST_TDL_LATENCY_EXACT },
    { "require-zero-copy", "Require zero copy",
      "Stop with an error where the CPU would have to copy a frame, or where frames of a device "
      "would go on through its memory, instead of doing so, counting it (stats) and announcing it "
      "once (element message tdl-fallback: side, path, reason). Where the CPU itself computes, "
      "frames of a device are such an error, and those in memory are not",
      BOOL, GST_TDL_LIVE, AT(live.require_zero_copy), .def = FALSE },
};

static const GEnumValue modes[] = {
    { TDL_MODE_MASK, "The mask as a GRAY8 picture, foreground white", "mask" },
    { TDL_MODE_OVERLAY, "Foreground tinted with overlay-color", "overlay" },
    { TDL_MODE_BLUR, "Background blurred", "blur" },
    { TDL_MODE_REPLACE, "Background replaced by a picture or a colour", "replace" },
    { TDL_MODE_ALPHA, "Background transparent, as an RGBA or BGRA picture", "alpha" },
    { TDL_MODE_PASSTHROUGH, "The picture untouched", "passthrough" },
    { GST_TDL_MODE_PICTURE,
      "The model's output, which is a picture, in the frame's place; as much larger as the model "
      "makes it",
      "picture" },
    { GST_TDL_MODE_CLASSES, "The classes of a model in their colours, laid over the picture",
      "classes" },
    { 0, NULL, NULL },
};

static const GEnumValue precisions[] = {
    { TDL_PRECISION_AUTO, "What suits any model: fp32", "auto" },
    { TDL_PRECISION_FP32, "32-bit floating point", "fp32" },
    { TDL_PRECISION_FP16, "Halves (up to 65504); computed with 32 bits", "fp16" },
    { 0, NULL, NULL },
};

static const GEnumValue latencies[] = {
    { GST_TDL_LATENCY_EXACT, "A frame is composed with its own mask, and waits for it", "exact" },
    { GST_TDL_LATENCY_FRESHEST,
      "A frame takes the newest finished mask; the network's time is not added to the latency, "
      "and frames that it has no time for keep the last mask",
      "freshest" },
    { 0, NULL, NULL },
};

static const GEnumValue decoders[] = {
    { GST_TDL_DECODE_AUTO,
      "Candidates and prototypes: yolo-seg; one channel: probability; several: softmax; whole "
      "numbers: labels",
      "auto" },
    { GST_TDL_DECODE_PROBABILITY, "From 0 to 1, for each class", "probability" },
    { GST_TDL_DECODE_LOGIT, "Before a sigmoid, for each class", "logit" },
    { GST_TDL_DECODE_SOFTMAX, "Before a softmax over the classes", "softmax" },
    { GST_TDL_DECODE_LABELS, "The class of each pixel, as a number", "labels" },
    { GST_TDL_DECODE_DEPTH,
      "Distances to any scale: in mode=picture stretched between the frame's least and greatest",
      "depth" },
    { GST_TDL_DECODE_YOLO_SEG, "Objects in boxes, with coefficients of prototypes of their masks",
      "yolo-seg" },
    { 0, NULL, NULL },
};

static const GEnumValue fits[] = {
    { GST_TDL_FIT_STRETCH, "Stretched, whatever becomes of its aspect", "stretch" },
    { GST_TDL_FIT_LETTERBOX, "Whole in its aspect, in the middle, with grey (114 of 255) round it",
      "letterbox" },
    { GST_TDL_FIT_CROP, "Its middle in the model's aspect; the rest is background", "crop" },
    { 0, NULL, NULL },
};

static const GEnumValue orders[] = {
    { GST_TDL_ORDER_RGB, "Red, green, blue", "rgb" },
    { GST_TDL_ORDER_BGR, "Blue, green, red", "bgr" },
    { 0, NULL, NULL },
};

static const GEnumValue colormaps[] = {
    { GST_TDL_COLORMAP_NONE, "Grey", "none" },
    { GST_TDL_COLORMAP_TURBO, "From blue over green to red", "turbo" },
    { 0, NULL, NULL },
};

static struct {
    const gchar *name;
    const GEnumValue *values;
    gsize type; /* 0: not registered yet */
} enums[] = {
    [MODE - MODE] = { "GstTdlMode", modes, 0 },
    [PRECISION - MODE] = { "GstTdlPrecision", precisions, 0 },
    [LATENCY - MODE] = { "GstTdlLatencyMode", latencies, 0 },
    [DECODER - MODE] = { "GstTdlDecoder", decoders, 0 },
    [FIT - MODE] = { "GstTdlInputFit", fits, 0 },
    [ORDER - MODE] = { "GstTdlInputOrder", orders, 0 },
    [COLORMAP - MODE] = { "GstTdlColormap", colormaps, 0 },
};

static GType enum_type(enum kind kind)
{
    gsize *type = &enums[kind - MODE].type;

    if (g_once_init_enter(type)) {
        GType new_type = g_enum_register_static(enums[kind - MODE].name, enums[kind - MODE].values);

        gst_type_mark_as_plugin_api(new_type, 0);
        g_once_init_leave(type, new_type);
    }
    return *type;
}

/* What is a matter of the picture; how frames travel is not a matter of time. */
static gboolean is_controllable(const struct property *p)
{
    return (p->effect == GST_TDL_LIVE || p->effect == GST_TDL_RENEGOTIATE) && p->kind != CLASSES &&
           p->kind != LATENCY && p->offset != AT(live.require_zero_copy);
}

static GParamFlags param_flags(const struct property *p)
{
    GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

    if (p->effect == GST_TDL_RESTART)
        return flags | GST_PARAM_MUTABLE_READY;
    if (is_controllable(p))
        flags |= GST_PARAM_CONTROLLABLE;
    return flags | GST_PARAM_MUTABLE_PLAYING;
}

static GParamSpec *param_spec(const struct property *p)
{
    GParamFlags flags = param_flags(p);

    switch (p->kind) {
    case FLOAT:
        return g_param_spec_float(p->name, p->nick, p->blurb, p->min, p->max, p->def, flags);
    case UINT:
        return g_param_spec_uint(p->name, p->nick, p->blurb, p->min, p->max, p->def, flags);
    case COLOR:
        return g_param_spec_uint(p->name, p->nick, p->blurb, 0, G_MAXUINT32, p->def, flags);
    case BOOL:
        return g_param_spec_boolean(p->name, p->nick, p->blurb, p->def != 0, flags);
    case STRING:
        return g_param_spec_string(p->name, p->nick, p->blurb, p->text ? p->text : "", flags);
    case CLASSES:
        return gst_param_spec_array(p->name, p->nick, p->blurb,
                                    g_param_spec_int("class", "Class", "Class index", 0, G_MAXINT,
                                                     0, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
                                    flags);
    default:
        return g_param_spec_enum(p->name, p->nick, p->blurb, enum_type(p->kind), p->def, flags);
    }
}

guint gst_tdl_settings_install(GObjectClass *klass)
{
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
        g_object_class_install_property(klass, i + 1, param_spec(&properties[i]));
    return G_N_ELEMENTS(properties) + 1;
}

void gst_tdl_settings_init(struct gst_tdl_settings *settings)
{
    *settings = (struct gst_tdl_settings){ 0 }; /* what is no property, too */
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        const struct property *p = &properties[i];
        gpointer field = (guint8 *)settings + p->offset;

        if (p->kind == FLOAT)
            *(gfloat *)field = p->def;
        else if (p->kind == STRING)
            *(gchar **)field = g_strdup(p->text ? p->text : "");
        else if (p->kind == CLASSES)
            *(GArray **)field = g_array_new(FALSE, FALSE, sizeof(gint));
        else
            *(guint *)field = p->def; /* gint, guint, gboolean */
    }
}

void gst_tdl_settings_finish(struct gst_tdl_settings *settings)
{
    gst_tdl_sources_clear(&settings->sources);
}

static void set_classes(GArray *classes, const GValue *value)
{
    g_array_set_size(classes, 0);
    for (guint i = 0; i < gst_value_array_get_size(value); i++) {
        gint index = g_value_get_int(gst_value_array_get_value(value, i));

        g_array_append_val(classes, index);
    }
}

static void get_classes(const GArray *classes, GValue *value)
{
    for (guint i = 0; i < classes->len; i++) {
        GValue item = G_VALUE_INIT;

        g_value_init(&item, G_TYPE_INT);
        g_value_set_int(&item, g_array_index(classes, gint, i));
        gst_value_array_append_and_take_value(value, &item);
    }
}

/* Another kind of output is another network. Passing through wants none in particular. */
static void set_output(struct gst_tdl_settings *settings, enum gst_tdl_effect *effect)
{
    gint output = gst_tdl_output_of(settings->live.mode);

    if (settings->live.mode == TDL_MODE_PASSTHROUGH || settings->sources.output == output)
        return;
    settings->sources.output = output;
    *effect = GST_TDL_OTHER_OUTPUT;
}

gboolean gst_tdl_settings_set(struct gst_tdl_settings *settings, guint id, const GValue *value,
                              enum gst_tdl_effect *out_effect)
{
    const struct property *p;
    gpointer field;

    if (id < 1 || id > G_N_ELEMENTS(properties))
        return FALSE;
    p = &properties[id - 1];
    field = (guint8 *)settings + p->offset;
    *out_effect = p->effect;
    switch (p->kind) {
    case FLOAT:
        *(gfloat *)field = g_value_get_float(value);
        break;
    case UINT:
    case COLOR:
        *(guint *)field = g_value_get_uint(value);
        break;
    case BOOL:
        *(gboolean *)field = g_value_get_boolean(value);
        break;
    case STRING:
        g_free(*(gchar **)field);
        *(gchar **)field = g_value_get_string(value) ? g_value_dup_string(value) : g_strdup("");
        break;
    case CLASSES:
        set_classes(*(GArray **)field, value);
        break;
    default:
        if (*(gint *)field == g_value_get_enum(value))
            *out_effect = GST_TDL_LIVE; /* controllers set it for every frame */
        *(gint *)field = g_value_get_enum(value);
        if (p->kind == MODE)
            set_output(settings, out_effect);
    }
    return TRUE;
}

gboolean gst_tdl_settings_get(const struct gst_tdl_settings *settings, guint id, GValue *value)
{
    const struct property *p;
    gconstpointer field;

    if (id < 1 || id > G_N_ELEMENTS(properties))
        return FALSE;
    p = &properties[id - 1];
    field = (const guint8 *)settings + p->offset;
    switch (p->kind) {
    case FLOAT:
        g_value_set_float(value, *(const gfloat *)field);
        break;
    case UINT:
    case COLOR:
        g_value_set_uint(value, *(const guint *)field);
        break;
    case BOOL:
        g_value_set_boolean(value, *(const gboolean *)field);
        break;
    case STRING:
        g_value_set_string(value, *(gchar *const *)field);
        break;
    case CLASSES:
        get_classes(*(GArray *const *)field, value);
        break;
    default:
        g_value_set_enum(value, *(const gint *)field);
    }
    return TRUE;
}

/* Whether the property is as it was before anybody set it. */
static gboolean is_unset(const struct property *p, gconstpointer field)
{
    if (p->kind == STRING)
        return !strcmp(*(gchar *const *)field, p->text ? p->text : "");
    if (p->kind == CLASSES)
        return (*(GArray *const *)field)->len == 0;
    return *(const gint *)field == (gint)p->def;
}

static gboolean fill_classes(GArray *classes, const gchar *text)
{
    GValue value = G_VALUE_INIT;
    gboolean ok;

    g_value_init(&value, GST_TYPE_ARRAY);
    ok = gst_value_deserialize(&value, text);
    for (guint i = 0; ok && i < gst_value_array_get_size(&value); i++)
        ok = G_VALUE_HOLDS_INT(gst_value_array_get_value(&value, i));
    if (ok)
        set_classes(classes, &value);
    g_value_unset(&value);
    return ok;
}

static gboolean fill(const struct property *p, gpointer field, const gchar *text)
{
    if (p->kind == CLASSES)
        return fill_classes(*(GArray **)field, text);
    if (p->kind == STRING) {
        g_free(*(gchar **)field);
        *(gchar **)field = g_strdup(text);
        return TRUE;
    }
    for (const GEnumValue *v = p->kind >= MODE ? enums[p->kind - MODE].values : NULL;
         v && v->value_nick; v++) {
        if (!strcmp(v->value_nick, text)) {
            *(gint *)field = v->value;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean gst_tdl_sources_fill(struct gst_tdl_sources *sources, const gchar *name, const gchar *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        const struct property *p = &properties[i];
        gpointer field = (guint8 *)sources + p->offset - AT(sources);

        if (p->effect == GST_TDL_MODEL && p->offset != AT(sources.model) && !strcmp(p->name, name))
            return !is_unset(p, field) || fill(p, field, text);
    }
    return FALSE;
}

void gst_tdl_sources_copy(const struct gst_tdl_sources *from, struct gst_tdl_sources *to)
{
    *to = *from;
    to->model = g_strdup(from->model);
    to->device = g_strdup(from->device);
    to->background = g_strdup(from->background);
    to->model_size = g_strdup(from->model_size);
    to->model_output = g_strdup(from->model_output);
    to->input_range = g_strdup(from->input_range);
    to->model_state = g_strdup(from->model_state);
    to->model_constants = g_strdup(from->model_constants);
    to->input_mean = g_strdup(from->input_mean);
    to->input_deviation = g_strdup(from->input_deviation);
    to->output_range = g_strdup(from->output_range);
    to->palette = g_strdup(from->palette);
    to->labels = g_strdup(from->labels);
    to->classes = g_array_copy(from->classes);
}

void gst_tdl_sources_clear(struct gst_tdl_sources *sources)
{
    g_clear_pointer(&sources->model, g_free);
    g_clear_pointer(&sources->device, g_free);
    g_clear_pointer(&sources->background, g_free);
    g_clear_pointer(&sources->model_size, g_free);
    g_clear_pointer(&sources->model_output, g_free);
    g_clear_pointer(&sources->input_range, g_free);
    g_clear_pointer(&sources->model_state, g_free);
    g_clear_pointer(&sources->model_constants, g_free);
    g_clear_pointer(&sources->input_mean, g_free);
    g_clear_pointer(&sources->input_deviation, g_free);
    g_clear_pointer(&sources->output_range, g_free);
    g_clear_pointer(&sources->palette, g_free);
    g_clear_pointer(&sources->labels, g_free);
    g_clear_pointer(&sources->classes, g_array_unref);
}
