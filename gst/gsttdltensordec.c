/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tdltensordec
 * @title: tdltensordec
 *
 * Makes objects of the tensors of networks like DETR (RT-DETR, D-FINE, RF-DETR): each query has a
 * box, as shares of the frame, and a score for each class, before a sigmoid. They become
 * GstAnalyticsODMtd, as those of GStreamer's own decoders.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! tdlinference model-file=rtdetr.onnx ! tdltensordec ! \
 *     objectdetectionoverlay ! videoconvert ! autovideosink
 * ]|
 */
#include "gsttdltensordec.h"

#include "base/gsttdlerror.h"
#include "base/gsttdlfile.h"

#include <gst/analytics/analytics.h>
#include <gst/base/gstbasetransform.h>
#include <math.h>
#include <string.h>

#define GROUP_ID "detr-out"
#define LOGITS_ID "detr-out-logits"
#define BOXES_ID "detr-out-boxes"

enum { PROP_SCORE_THRESHOLD = 1, PROP_LABEL_FILE };
#define DEFAULT_SCORE_THRESHOLD 0.5f

#define GST_TYPE_TDL_TENSOR_DEC (gst_tdl_tensor_dec_get_type())
G_DECLARE_FINAL_TYPE(GstTdlTensorDec, gst_tdl_tensor_dec, GST, TDL_TENSOR_DEC, GstBaseTransform)

struct _GstTdlTensorDec {
    GstBaseTransform base;

    gint width, height; /* of frames, px; streaming thread */
    /* Guarded by the object lock. */
    gfloat threshold;
    gchar *label_file; /* NULL: not set */
    GStrv labels; /* its lines, from class 0 on; NULL: none. Changed in start and stop alone. */
};

G_DEFINE_FINAL_TYPE(GstTdlTensorDec, gst_tdl_tensor_dec, GST_TYPE_BASE_TRANSFORM)

/* Any memory, as pixels are not looked at. From 1.28 on caps tell of tensors. */
#if GST_CHECK_VERSION(1, 28, 0)
#define TENSOR(id, last)                                                                           \
    "(GstCaps)[tensor/strided,tensor-id=(string)" id ",dims=<(int)[0,1],(int)[0,max]," last        \
    ">,dims-order=(string)row-major,type=(string)float32]"
#define FIELD                                                                                      \
    ",tensors=(structure)[tensorgroups," GROUP_ID                                                  \
    "=(/uniquelist){" TENSOR(LOGITS_ID, "(int)[0,max]") "," TENSOR(BOXES_ID, "(int)4") "}]"
#else
#define FIELD ""
#endif

/* ------------------------------------------------------------------ tensors */

/* Both of a frame, mapped. */
struct tensors {
    const GstTensor *logits, *boxes;
    GstMapInfo scores, places;
};

static const GstTensor *find_tensor(GstBuffer *frame, const gchar *id)
{
    const GQuark wanted = g_quark_from_string(id);
    gpointer state = NULL;
    GstMeta *meta;

    while ((meta = gst_buffer_iterate_meta_filtered(frame, &state, GST_TENSOR_META_API_TYPE))) {
        const GstTensorMeta *all = (const GstTensorMeta *)meta;

        for (gsize i = 0; i < all->num_tensors; i++)
            if (all->tensors[i]->id == wanted)
                return all->tensors[i];
    }
    return NULL;
}

static gboolean is_of(const GstTensor *tensor, gsize queries, gsize numbers)
{
    return tensor->data_type == GST_TENSOR_DATA_TYPE_FLOAT32 && tensor->num_dims == 3 &&
           tensor->dims[0] == 1 && tensor->dims[1] == queries && tensor->dims[2] == numbers &&
           gst_buffer_get_size(tensor->data) >= queries * numbers * sizeof(gfloat);
}

/* FALSE where the frame has no such tensors, or others: `why` says what is wrong with them. */
static gboolean open_tensors(GstBuffer *frame, struct tensors *t, const gchar **why)
{
    *why = NULL;
    t->logits = find_tensor(frame, LOGITS_ID);
    t->boxes = find_tensor(frame, BOXES_ID);
    if (!t->logits || !t->boxes)
        return FALSE;
    if (t->logits->num_dims != 3 || !t->logits->dims[2] ||
        !is_of(t->logits, t->logits->dims[1], t->logits->dims[2]) ||
        !is_of(t->boxes, t->logits->dims[1], 4)) {
        *why = "The tensors " LOGITS_ID " and " BOXES_ID " are float32 [1, queries, classes] and "
               "[1, queries, 4], and these are not. Correct the ids in the .modelinfo file.";
        return FALSE;
    }
    if (!gst_buffer_map(t->logits->data, &t->scores, GST_MAP_READ))
        return FALSE;
    if (gst_buffer_map(t->boxes->data, &t->places, GST_MAP_READ))
        return TRUE;
    gst_buffer_unmap(t->logits->data, &t->scores);
    return FALSE;
}

static void close_tensors(struct tensors *t)
{
    gst_buffer_unmap(t->boxes->data, &t->places);
    gst_buffer_unmap(t->logits->data, &t->scores);
}

/* ------------------------------------------------------------------ objects */

static gsize find_best(const gfloat *logits, gsize classes)
{
    gsize best = 0;

    for (gsize i = 1; i < classes; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static GQuark name_of(const GstTdlTensorDec *self, gsize class)
{
    g_autofree gchar *number = NULL;

    if (self->labels && class < g_strv_length(self->labels))
        return g_quark_from_string(self->labels[class]);
    number = g_strdup_printf("%" G_GSIZE_FORMAT, class);
    return g_quark_from_string(number);
}

/* The begin and the length of a box in px of the frame, within it. */
static void place(gfloat middle, gfloat size, gint frame, gint *out_begin, gint *out_length)
{
    const gdouble begin = CLAMP(((gdouble)middle - (gdouble)size / 2) * frame, 0, frame);
    const gdouble end = CLAMP(((gdouble)middle + (gdouble)size / 2) * frame, 0, frame);

    *out_begin = (gint)(begin + 0.5);
    *out_length = (gint)(end + 0.5) - *out_begin;
}

/* One query is one object at most: of its best class, if that is sure enough. */
static void add_objects(GstTdlTensorDec *self, const struct tensors *t, gfloat threshold,
                        GstBuffer *frame)
{
    const gsize classes = t->logits->dims[2];
    const gfloat *logits = (gconstpointer)t->scores.data, *box = (gconstpointer)t->places.data;
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(frame);

    for (gsize q = 0; q < t->logits->dims[1]; q++, logits += classes, box += 4) {
        const gsize best = find_best(logits, classes);
        const gfloat score = 1 / (1 + expf(-logits[best]));
        GstAnalyticsODMtd object;
        gint x, y, width, height;

        if (!(score >= threshold) || !isfinite(box[0] + box[1] + box[2] + box[3]))
            continue;
        place(box[0], box[2], self->width, &x, &width);
        place(box[1], box[3], self->height, &y, &height);
        if (width > 0 && height > 0)
            gst_analytics_relation_meta_add_od_mtd(relations, name_of(self, best), x, y, width,
                                                   height, score, &object);
    }
}

static GstFlowReturn gst_tdl_tensor_dec_transform_ip(GstBaseTransform *base, GstBuffer *frame)
{
    GstTdlTensorDec *self = GST_TDL_TENSOR_DEC(base);
    struct tensors tensors;
    const gchar *why;
    gfloat threshold;

    GST_OBJECT_LOCK(self);
    threshold = self->threshold;
    GST_OBJECT_UNLOCK(self);
    if (open_tensors(frame, &tensors, &why)) {
        add_objects(self, &tensors, threshold, frame);
        close_tensors(&tensors);
    }
    if (!why)
        return GST_FLOW_OK;
    gst_tdl_error_post(self, GST_MESSAGE_ERROR,
                       g_error_new_literal(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, why));
    return GST_FLOW_ERROR;
}

/* -------------------------------------------------------------- the element */

static gboolean gst_tdl_tensor_dec_set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
    GstTdlTensorDec *self = GST_TDL_TENSOR_DEC(base);
    const GstStructure *s = gst_caps_get_structure(in, 0);

    (void)out;
    return gst_structure_get_int(s, "width", &self->width) &&
           gst_structure_get_int(s, "height", &self->height);
}

static gboolean gst_tdl_tensor_dec_start(GstBaseTransform *base)
{
    GstTdlTensorDec *self = GST_TDL_TENSOR_DEC(base);
    g_autofree gchar *file = NULL, *text = NULL;
    GError *error = NULL;

    GST_OBJECT_LOCK(self);
    file = g_strdup(self->label_file);
    GST_OBJECT_UNLOCK(self);
    if (!file || !*file)
        return TRUE;
    if (!gst_tdl_file_check(file, &error) || !g_file_get_contents(file, &text, NULL, &error)) {
        g_prefix_error(&error, "Cannot read the labels \"%s\": ", file);
        gst_tdl_error_post(self, GST_MESSAGE_ERROR, error);
        return FALSE;
    }
    self->labels = g_strsplit(g_strchomp(text), "\n", -1);
    for (guint i = 0; self->labels[i]; i++)
        g_strchomp(self->labels[i]);
    return TRUE;
}

static gboolean gst_tdl_tensor_dec_stop(GstBaseTransform *base)
{
    g_clear_pointer(&GST_TDL_TENSOR_DEC(base)->labels, g_strfreev);
    return TRUE;
}

static void gst_tdl_tensor_dec_set_property(GObject *object, guint id, const GValue *value,
                                            GParamSpec *pspec)
{
    GstTdlTensorDec *self = GST_TDL_TENSOR_DEC(object);

    (void)pspec;
    GST_OBJECT_LOCK(self);
    if (id == PROP_SCORE_THRESHOLD) {
        self->threshold = g_value_get_float(value);
    } else {
        g_free(self->label_file);
        self->label_file = g_value_dup_string(value);
    }
    GST_OBJECT_UNLOCK(self);
}

static void gst_tdl_tensor_dec_get_property(GObject *object, guint id, GValue *value,
                                            GParamSpec *pspec)
{
    GstTdlTensorDec *self = GST_TDL_TENSOR_DEC(object);

    (void)pspec;
    GST_OBJECT_LOCK(self);
    if (id == PROP_SCORE_THRESHOLD)
        g_value_set_float(value, self->threshold);
    else
        g_value_set_string(value, self->label_file);
    GST_OBJECT_UNLOCK(self);
}

static void gst_tdl_tensor_dec_finalize(GObject *object)
{
    g_free(GST_TDL_TENSOR_DEC(object)->label_file);
    G_OBJECT_CLASS(gst_tdl_tensor_dec_parent_class)->finalize(object);
}

static void add_pads(GstElementClass *element)
{
    GstCaps *in = gst_caps_from_string("video/x-raw(ANY)" FIELD),
            *out = gst_caps_from_string("video/x-raw(ANY)");

    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, in));
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
    gst_caps_unref(in);
    gst_caps_unref(out);
}

static void gst_tdl_tensor_dec_class_init(GstTdlTensorDecClass *klass)
{
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
    GObjectClass *object = G_OBJECT_CLASS(klass);
    GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);

    object->set_property = gst_tdl_tensor_dec_set_property;
    object->get_property = gst_tdl_tensor_dec_get_property;
    object->finalize = gst_tdl_tensor_dec_finalize;
    g_object_class_install_property(object, PROP_SCORE_THRESHOLD,
                                    g_param_spec_float("score-threshold", "Score threshold",
                                                       "How sure the network must be of an object",
                                                       0, 1, DEFAULT_SCORE_THRESHOLD, flags));
    g_object_class_install_property(
        object, PROP_LABEL_FILE,
        g_param_spec_string("label-file", "Label file",
                            "File with the classes' names, one a line, from class 0 on; classes "
                            "without one are called by their number",
                            NULL, flags));
    base->transform_ip = gst_tdl_tensor_dec_transform_ip;
    base->set_caps = gst_tdl_tensor_dec_set_caps;
    base->start = gst_tdl_tensor_dec_start;
    base->stop = gst_tdl_tensor_dec_stop;
    add_pads(GST_ELEMENT_CLASS(klass));
    gst_element_class_set_static_metadata(
        GST_ELEMENT_CLASS(klass), "Decoder of DETR's tensors", "Tensordecoder/Video",
        "Makes objects of the boxes and scores that networks like DETR have for each query",
        "The tdlfilter developers");
}

static void gst_tdl_tensor_dec_init(GstTdlTensorDec *self)
{
    self->threshold = DEFAULT_SCORE_THRESHOLD;
}

gboolean gst_tdl_tensor_dec_register(GstPlugin *plugin)
{
    return gst_element_register(plugin, "tdltensordec", GST_RANK_SECONDARY,
                                GST_TYPE_TDL_TENSOR_DEC);
}
