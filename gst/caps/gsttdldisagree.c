/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldisagree.h"

#include "settings/gsttdlsettings.h"

/* Caps of any size. */
static GstCaps *without_size(const GstCaps *caps)
{
    GstCaps *copy = gst_caps_copy(caps);

    for (guint i = 0; i < gst_caps_get_size(copy); i++)
        gst_structure_remove_fields(gst_caps_get_structure(copy, i), "width", "height", NULL);
    return copy;
}

static gboolean meet_but_for_size(const GstCaps *made, const GstCaps *out)
{
    GstCaps *a = without_size(made), *b = without_size(out);
    gboolean meet = gst_caps_can_intersect(a, b);

    gst_caps_unref(a);
    gst_caps_unref(b);
    return meet;
}

static gchar *side_text(const GstCaps *caps, const gchar *field)
{
    const GValue *value = gst_caps_is_any(caps) || gst_caps_is_empty(caps)
                              ? NULL
                              : gst_structure_get_value(gst_caps_get_structure(caps, 0), field);

    return value ? gst_value_serialize(value) : g_strdup("any");
}

static gchar *size_text(const GstCaps *caps)
{
    g_autofree gchar *width = side_text(caps, "width"), *height = side_text(caps, "height");

    return g_strdup_printf("%sx%s", width, height);
}

static GError *sizes_differ(gboolean grows, const GstCaps *in, const GstCaps *made,
                            const GstCaps *out)
{
    g_autofree gchar *before = size_text(in), *after = size_text(made), *wanted = size_text(out);

    if (grows)
        return g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                           "The model makes pictures of %s px of %s, and downstream takes %s. Put "
                           "a videoscale behind tdlfilter.",
                           after, before, wanted);
    return g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                       "tdlfilter keeps the size of pictures, %s px, and downstream takes %s. Put "
                       "a videoscale behind tdlfilter.",
                       before, wanted);
}

static GError *formats_differ(enum gst_tdl_mode mode)
{
    const gchar *makes = mode == GST_TDL_MODE_MASK    ? "mode=mask makes GRAY8"
                         : mode == GST_TDL_MODE_ALPHA ? "mode=alpha makes RGBA or BGRA"
                                                      : "this mode keeps the input's format";

    return g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                       "The elements round tdlfilter do not agree with the mode: %s. Put a "
                       "videoconvert behind tdlfilter (and before it, if the source has none of "
                       "its formats).",
                       makes);
}

GError *gst_tdl_disagreement(enum gst_tdl_mode mode, const struct gst_tdl_abilities *abilities,
                             const struct gst_tdl_scale *scale, GstCaps *in, GstCaps *out)
{
    GstCaps *made = gst_tdl_caps_transform(mode, GST_PAD_SINK, abilities, in, NULL);
    const gboolean grows =
        scale && (scale->width[0] != scale->width[1] || scale->height[0] != scale->height[1]);
    GError *error = NULL;

    if (grows)
        made = gst_tdl_caps_scale(made, GST_PAD_SINK, scale);
    if (!gst_caps_can_intersect(made, out))
        error = meet_but_for_size(made, out) ? sizes_differ(grows, in, made, out)
                                             : formats_differ(mode);
    gst_caps_unref(made);
    return error;
}
