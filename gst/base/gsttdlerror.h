/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How an engine's result becomes an element's error message. The rooms below
 * the element return GErrors in GStreamer's domains; only the element posts. */
#ifndef GST_TDL_ERROR_H
#define GST_TDL_ERROR_H

#include <gst/gst.h>
#include <gst/video/video.h>
#include <tdl/tdl.h>

/* Once, before anything is logged: the plugin's start. */
void gst_tdl_error_init(void);
GST_DEBUG_CATEGORY_EXTERN(gst_tdl_filter_debug); /* "tdlfilter": the element */
GST_DEBUG_CATEGORY_EXTERN(gst_tdl_debug);        /* "tdl": the engine's log */

/* Advice for systems that give no thread. */
#define GST_TDL_THREAD_ADVICE                                                                      \
    "Raise the limits of processes and memory (ulimit -u, ulimit -v, a service's TasksMax), or "   \
    "close other programs."

/* Fills `error` with "WHAT: text of the engine. Next step." and returns FALSE. */
gboolean gst_tdl_error_set(GError **error, enum tdl_result result, const gchar *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Posts as ERROR or WARNING message of `element`, in the names that it has for its properties, and
 * frees the error. */
void gst_tdl_error_post(gpointer element, GstMessageType type, GError *error);

/* Posts the error of a pool that could not allocate a frame of `info`; a lost
 * device has no memory either. `element` may be NULL. */
void gst_tdl_error_post_no_frame(gpointer element, struct tdl_context *context,
                                 const GstVideoInfo *info);

#endif
