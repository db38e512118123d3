/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tdlfilter
 * @title: tdlfilter
 *
 * Runs a segmentation network on every frame, on the GPU, and hands on the
 * mask, or the picture with the person tinted, or with its background blurred,
 * replaced or made transparent. The CPU touches no pixel: upstream writes into memory that the
 * GPU reads, and downstream reads memory that the GPU has written.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! tdlfilter mode=blur ! videoconvert ! autovideosink
 * ]|
 */
#include "gsttdlfilter.h"

#include "gsttdlelement.h"

struct _GstTdlFilter {
    GstTdlElement base;
};

static void gst_tdl_filter_preset_init(gpointer interface, gpointer data);

G_DEFINE_FINAL_TYPE_WITH_CODE(GstTdlFilter, gst_tdl_filter, GST_TYPE_TDL_ELEMENT,
                              G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, gst_tdl_filter_preset_init))
GST_ELEMENT_REGISTER_DEFINE(tdlfilter, "tdlfilter", GST_RANK_NONE, GST_TYPE_TDL_FILTER)

/* ------------------------------------------------------------------ presets */

/* The default would store the name, the device and the model, too. */
static gchar **gst_tdl_filter_preset_names(GstPreset *preset)
{
    (void)preset;
    return gst_tdl_settings_preset_names();
}

static gboolean (*load_by_whole_name)(GstPreset *preset, const gchar *name);

/* Letters and digits alone, whatever their case: "chroma-key" is "Chroma key". */
static gboolean same_name(const gchar *a, const gchar *b)
{
    while (*a || *b) {
        if (*a && !g_ascii_isalnum(*a) && !(*a & 0x80))
            a++;
        else if (*b && !g_ascii_isalnum(*b) && !(*b & 0x80))
            b++;
        else if (g_ascii_tolower(*a++) != g_ascii_tolower(*b++))
            return FALSE;
    }
    return TRUE;
}

static gboolean gst_tdl_filter_load_preset(GstPreset *preset, const gchar *name)
{
    g_auto(GStrv) names = gst_preset_get_preset_names(preset);
    const gchar *found = name;

    if (name && names && !g_strv_contains((const gchar *const *)names, name))
        for (guint i = 0; names[i] && found == name; i++)
            found = same_name(names[i], name) ? names[i] : name;
    return load_by_whole_name(preset, found);
}

static void gst_tdl_filter_preset_init(gpointer interface, gpointer data)
{
    GstPresetInterface *presets = interface;

    (void)data;
    presets->get_property_names = gst_tdl_filter_preset_names;
    load_by_whole_name = presets->load_preset;
    presets->load_preset = gst_tdl_filter_load_preset;
}

/* -------------------------------------------------------------------- class */

static GstPad *gst_tdl_filter_request_new_pad(GstElement *element, GstPadTemplate *templ,
                                              const gchar *name, const GstCaps *caps)
{
    (void)name, (void)caps;
    return gst_tdl_mask_pad_request(&GST_TDL_ELEMENT(element)->mask, templ);
}

static void gst_tdl_filter_release_pad(GstElement *element, GstPad *pad)
{
    gst_tdl_mask_pad_release(&GST_TDL_ELEMENT(element)->mask, pad);
}

static void gst_tdl_filter_class_init(GstTdlFilterClass *klass)
{
    GstElementClass *element = GST_ELEMENT_CLASS(klass);

    gst_tdl_element_install(G_OBJECT_CLASS(klass), GST_TDL_OF_FILTER);
    gst_element_class_set_static_metadata(
        element, "Neural network filter", "Filter/Effect/Video",
        "Finds the person in every frame with a neural network on the GPU (Vulkan), or on the CPU, "
        "and tints the person, blurs, replaces or removes the background, or hands on the mask; "
        "with other models cuts out other things, enlarges pictures, or shows depth or classes",
        "The tdlfilter developers");
    gst_tdl_mask_pad_install(element);
    element->request_new_pad = gst_tdl_filter_request_new_pad;
    element->release_pad = gst_tdl_filter_release_pad;
}

static void gst_tdl_filter_init(GstTdlFilter *self)
{
    (void)self;
}
