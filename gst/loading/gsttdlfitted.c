/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlfitted.h"

#include <string.h>

#define MOST (1920 * 1080) /* px */

gboolean gst_tdl_fitted_is_sized(const struct gst_tdl_sources *sources)
{
    return !strcmp(sources->model_size, "frame");
}

static gboolean is_cancelled(gpointer first_load)
{
    return !gst_tdl_first_load_goes_on(first_load, 0, 0);
}

/* The cost of a network grows with its picture. */
static gboolean check_size(const gint size[2], GError **error)
{
    if ((gint64)size[0] * size[1] <= MOST)
        return TRUE;
    g_set_error(
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "model-size=frame is for frames of up to 1920x1080 px, and these have %dx%d. Put a "
        "videoscale before tdlfilter, or give a size, in mode=picture with input-fit=tiles.",
        size[0], size[1]);
    return FALSE;
}

static gboolean check_model(const struct gst_tdl_model *model, const gint size[2], GError **error)
{
    if (gst_tdl_model_takes(model, size[0], size[1]))
        return TRUE;
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "model-size=frame is for models that take pictures of any size, and \"%s\" does "
                "not take the frame's %dx%d px. Leave model-size empty.",
                model->name, size[0], size[1]);
    return FALSE;
}

struct gst_tdl_infer *gst_tdl_fitted_load(struct tdl_context *context,
                                          struct gst_tdl_sources *sources, const gint size[2],
                                          struct gst_tdl_first_load *first_load, GError **error)
{
    const gboolean sized = gst_tdl_fitted_is_sized(sources);
    const struct gst_tdl_model_params params = { context, sources };
    struct gst_tdl_progress progress = { .element = first_load->element,
                                         .cancelled = is_cancelled,
                                         .data = first_load };
    struct gst_tdl_infer *infer;

    if (sized && !check_size(size, error))
        return NULL;
    if (sized) {
        g_free(sources->model_size);
        sources->model_size = g_strdup_printf("%dx%d", size[0], size[1]);
    }
    infer = gst_tdl_infer_new(&params, error);
    if (infer && ((sized && !check_model(infer->model, size, error)) ||
                  !gst_tdl_infer_compile(infer, context, &progress, error)))
        g_clear_pointer(&infer, gst_tdl_infer_free);
    return infer;
}
