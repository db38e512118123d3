/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdllegend.h"

#include "base/gsttdlerror.h"
#include "base/gsttdlfile.h"
#include "gsttdloutput.h"

static void append(GValue *array, GType type, const gchar *name, guint color)
{
    GValue item = G_VALUE_INIT;

    g_value_init(&item, type);
    if (type == G_TYPE_STRING)
        g_value_set_string(&item, name);
    else
        g_value_set_uint(&item, color);
    gst_value_array_append_and_take_value(array, &item);
}

static GstStructure *make_legend(GStrv lines, const gchar *palette)
{
    GstStructure *legend = gst_structure_new_empty("tdl-legend");
    GValue names = G_VALUE_INIT, values = G_VALUE_INIT;
    guint32 colors[GST_TDL_MAX_COLORS];

    gst_tdl_output_colors(palette, colors);
    g_value_init(&names, GST_TYPE_ARRAY);
    g_value_init(&values, GST_TYPE_ARRAY);
    for (guint i = 0; lines[i] && i < GST_TDL_MAX_COLORS; i++) {
        append(&names, G_TYPE_STRING, lines[i], 0);
        append(&values, G_TYPE_UINT, NULL, colors[i]);
    }
    gst_structure_take_value(legend, "names", &names);
    gst_structure_take_value(legend, "colors", &values);
    return legend;
}

/* Only these names tell how many classes a model has whose output is a class for each
 * pixel. */
static void warn_of_classes(GstElement *element, const gchar *labels, guint count,
                            const GArray *classes)
{
    for (guint i = 0; i < classes->len; i++) {
        GError *error = NULL;

        if (g_array_index(classes, gint, i) < (gint)count)
            continue;
        g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "\"classes\" has %d, and the labels \"%s\" name %u classes: 0 to %u.",
                    g_array_index(classes, gint, i), labels, count, count - 1);
        gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
        return;
    }
}

/* Names without their class are another model's, or this one's output is not what they
 * are for. */
static void warn_of_labels(GstElement *element, const gchar *labels, guint lines, guint count)
{
    GError *error = NULL;

    if (!count || lines <= count)
        return;
    g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "The labels \"%s\" name %u classes, and the model's output has %u: give the labels "
                "of this model, or set \"model-output\".",
                labels, lines, count);
    gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
}

/* The class of each pixel in bytes is a mask of next to nothing then. */
static void warn_of_shares(GstElement *element, const gchar *labels)
{
    GError *error = NULL;

    g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "The labels \"%s\" name classes, and the model's output has bytes, which are taken "
                "for shares of 255: set \"decoder=labels\" if they are classes, or "
                "\"decoder=probability\".",
                labels);
    gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
}

GStrv gst_tdl_legend_post(GstElement *element, const struct gst_tdl_sources *sources,
                          gboolean shown, guint count, gboolean shares)
{
    g_autofree gchar *path = NULL, *text = NULL;
    const gchar *labels = sources->labels;
    g_autoptr(GError) failure = NULL;
    GError *error = NULL;
    gsize length = 0;
    GStrv lines;

    if (!*labels)
        return NULL;
    path = gst_tdl_file_path(labels, &error);
    if (path && gst_tdl_file_check(path, &error) &&
        !g_file_get_contents(path, &text, &length, &failure))
        g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                    "%s. Give a file with a name in each line.", failure->message);
    if (text && !g_utf8_validate(text, (gssize)length, NULL)) /* NUL is none, either */
        g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                    "it is no text in UTF-8. Give a file with a name in each line.");
    if (error) {
        g_prefix_error(&error, "Cannot read labels \"%s\": ", labels);
        gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
        return NULL;
    }
    lines = g_strsplit(g_strchomp(text), "\n", -1);
    for (guint i = 0; lines[i]; i++)
        g_strstrip(lines[i]);
    if (shown)
        gst_element_post_message(
            element,
            gst_message_new_element(GST_OBJECT(element), make_legend(lines, sources->palette)));
    if (lines[0])
        warn_of_classes(element, labels, g_strv_length(lines), sources->classes);
    if (shares)
        warn_of_shares(element, labels);
    else
        warn_of_labels(element, labels, g_strv_length(lines), count);
    return lines;
}
