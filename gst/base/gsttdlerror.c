/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlerror.h"

GST_DEBUG_CATEGORY(gst_tdl_filter_debug);
GST_DEBUG_CATEGORY(gst_tdl_debug);

void gst_tdl_error_init(void)
{
    GST_DEBUG_CATEGORY_INIT(gst_tdl_filter_debug, "tdlfilter", 0, "tdlfilter element");
    GST_DEBUG_CATEGORY_INIT(gst_tdl_debug, "tdl", 0, "libtdl, the inference engine of tdlfilter");
}

/* The property or option, in C's words, that gives sizes which a model leaves open. */
#define C_NAME " (tdl_model_params)"

static const struct row {
    enum tdl_result result;
    gint code;       /* in the domain below */
    gboolean stream; /* GST_STREAM_ERROR rather than GST_RESOURCE_ERROR */
    const gchar *next_step;
} rows[] = {
    { TDL_ERROR_NO_DEVICE, GST_RESOURCE_ERROR_NOT_FOUND, FALSE,
      "Run tdl-info to list the devices and set the \"device\" property to one of them: \"cpu\" is "
      "always there, others need a build with Vulkan, and a Vulkan driver (Debian: "
      "libvulkan1, mesa-vulkan-drivers)." },
    { TDL_ERROR_OUT_OF_MEMORY, GST_RESOURCE_ERROR_NO_SPACE_LEFT, FALSE,
      "Close other programs (of a GPU those that use it), raise what limits this one (ulimit -v, a "
      "container's memory), use smaller frames, or choose another device." },
    { TDL_ERROR_DEVICE_LOST, GST_RESOURCE_ERROR_FAILED, FALSE,
      "The driver gave the device up: stop the pipeline and start it again; if that does not help "
      "look into the kernel's log and update the driver." },
    { TDL_ERROR_INVALID_MODEL, GST_STREAM_ERROR_WRONG_TYPE, TRUE,
      "Give a model that libtdl reads, or leave \"model\" empty for the person model." },
    { TDL_ERROR_UNSUPPORTED, GST_STREAM_ERROR_FORMAT, TRUE,
      "Choose another model, precision or device, or leave \"model\" empty for the person "
      "model." },
    { TDL_ERROR_IO, GST_RESOURCE_ERROR_OPEN_READ, FALSE, "Check the path and its permissions." },
    { TDL_ERROR_INVALID_ARGUMENT, GST_RESOURCE_ERROR_SETTINGS, FALSE,
      "Check the element's properties (gst-inspect-1.0 tdlfilter)." },
    { TDL_ERROR_INVALID_STATE, GST_RESOURCE_ERROR_FAILED, FALSE,
      "This is a mistake in tdlfilter: please report it with a log of GST_DEBUG=tdl*:6." },
    { TDL_ERROR_TIMEOUT, GST_RESOURCE_ERROR_BUSY, FALSE,
      "The device is busy or hangs: try again, or choose another device." },
};

gboolean gst_tdl_error_set(GError **error, enum tdl_result result, const gchar *format, ...)
{
    const struct row *row = &rows[G_N_ELEMENTS(rows) - 1];
    g_auto(GStrv) parts = g_strsplit(tdl_last_error(), C_NAME, 2);
    g_autofree gchar *what = NULL, *said = g_strjoinv("", parts);
    const gchar *detail = *said ? said : tdl_result_string(result), *next_step;
    va_list args;

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].result == result)
            row = &rows[i];
    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    next_step = row->next_step;
    if (parts[0] && parts[1]) /* sizes that the model leaves open */
        next_step =
            "\"model-size\" is the size of pictures, \"model-constants\" gives inputs that are one "
            "number theirs (such as downsample_ratio=0.25), \"model-state\" gives inputs of a "
            "recurrent model the sizes of its outputs (such as r1i=r1o,r2i=r2o); have other sizes "
            "fixed where the model is exported.";
    else if (strstr(detail, "-Dcpu-levels=")) /* the detail says what to do */
        next_step = "";
    else if (strstr(detail, "was forked")) /* a mistake of nobody's here */
        next_step = "Stop this pipeline: another one, made in this process, works.";
    else if (strstr(detail, "no thread"))
        next_step = GST_TDL_THREAD_ADVICE;
    else if (strstr(detail, "that could be a number") ||
             strstr(detail, "a number in place of a tensor"))
        next_step = "Check \"model-constants\": tdl-run lists the inputs of a model.";
    g_set_error(error, row->stream ? GST_STREAM_ERROR : GST_RESOURCE_ERROR, row->code,
                "%s: %s%s%s%s", what, detail, g_str_has_suffix(detail, ".") ? "" : ".",
                *next_step ? " " : "", next_step);
    return FALSE;
}

/* Texts name the element and its properties as tdlfilter has them; tdlinference has others. A
 * folder, a package or a group of a file that is called tdlfilter is none of these. */
static const struct {
    const gchar *pattern, *instead;
} inference_names[] = {
    { "(?<![\\[/\\w-])tdlfilter(?![\\]/\\w-])", "tdlinference" },
    { "\"model\"", "\"model-file\"" },
    { "(?<![\\w-])model=", "model-file=" },
};

static gchar *in_names_of(GstElement *element, const gchar *text)
{
    GstElementFactory *factory = gst_element_get_factory(element);
    gchar *named = g_utf8_make_valid(text, -1);

    if (!factory || g_strcmp0(GST_OBJECT_NAME(factory), "tdlinference") != 0)
        return named;
    for (guint i = 0; i < G_N_ELEMENTS(inference_names); i++) {
        g_autoptr(GRegex) regex = g_regex_new(inference_names[i].pattern, 0, 0, NULL);
        gchar *before = named;

        named = g_regex_replace_literal(regex, before, -1, 0, inference_names[i].instead, 0, NULL);
        g_free(before);
    }
    return named;
}

void gst_tdl_error_post(gpointer element, GstMessageType type, GError *error)
{
    gst_element_message_full(GST_ELEMENT(element), type, error->domain, error->code,
                             in_names_of(GST_ELEMENT(element), error->message), NULL, __FILE__,
                             G_STRFUNC, __LINE__);
    g_error_free(error);
}

void gst_tdl_error_post_no_frame(gpointer element, struct tdl_context *context,
                                 const GstVideoInfo *info)
{
    enum tdl_result r = tdl_context_wait(context, 0, 0);
    GError *error = NULL;

    if (!element)
        return;
    gst_tdl_error_set(&error, r == TDL_ERROR_DEVICE_LOST ? r : TDL_ERROR_OUT_OF_MEMORY,
                      "Cannot allocate a frame of %dx%d px", info->width, info->height);
    gst_tdl_error_post(element, GST_MESSAGE_ERROR, error);
}
