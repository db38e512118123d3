/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlprogress.h"

#define CODE "compile"
#define LEAST_PAUSE (G_USEC_PER_SEC / 5)

static void say(struct gst_tdl_progress *progress, GstProgressType type, gint percent,
                const gchar *text)
{
    GstMessage *message;

    if (!progress->element)
        return;
    message = gst_message_new_progress(GST_OBJECT(progress->element), type, CODE, text);
    gst_structure_set(gst_message_writable_structure(message), "percent", G_TYPE_INT, percent,
                      NULL);
    progress->said_at = g_get_monotonic_time();
    gst_element_post_message(progress->element, message);
}

void gst_tdl_progress_begin(struct gst_tdl_progress *progress)
{
    say(progress, GST_PROGRESS_TYPE_START, 0, "Compiling kernels");
}

bool gst_tdl_progress_kernels(void *data, uint32_t done, uint32_t total)
{
    struct gst_tdl_progress *progress = data;
    g_autofree gchar *text = NULL;

    if (progress->cancelled && progress->cancelled(progress->data))
        return false;
    if (!done || done >= total || g_get_monotonic_time() - progress->said_at < LEAST_PAUSE)
        return true;
    text = g_strdup_printf("Compiling kernels: %u of %u", done, total);
    say(progress, GST_PROGRESS_TYPE_CONTINUE, (gint)(done * 100ull / total), text);
    return true;
}

void gst_tdl_progress_end(struct gst_tdl_progress *progress, gboolean ok, const GError *error)
{
    if (ok)
        say(progress, GST_PROGRESS_TYPE_COMPLETE, 100, "Kernels are compiled");
    else if (error)
        say(progress, GST_PROGRESS_TYPE_ERROR, 0, error->message);
    else
        say(progress, GST_PROGRESS_TYPE_CANCELED, 0, "Compiling was cancelled");
}
