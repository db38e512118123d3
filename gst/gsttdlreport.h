/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports of the element: read-only properties, and one warning a side when frames leave the
 * zero-copy path. */
#ifndef GST_TDL_REPORT_H
#define GST_TDL_REPORT_H

#include "frame/gsttdlsession.h"

enum gst_tdl_report_side { GST_TDL_INPUT = 0, GST_TDL_OUTPUT };

struct gst_tdl_report {
    gboolean said[2]; /* by enum gst_tdl_report_side, since the last start */
};

/* A warning in the log and an element message "tdl-fallback" with the strings
 * side ("input", "output"), path and reason; the first time only. */
void gst_tdl_report_fallback(struct gst_tdl_report *report, GstElement *element,
                             enum gst_tdl_report_side side, const gchar *path, const gchar *reason);

/* The error that require-zero-copy makes of an output in CPU memory. */
GError *gst_tdl_report_output_error(const gchar *path, const gchar *reason);

/* The element message "tdl-presence" of what holds since that moment. */
void gst_tdl_report_presence(GstElement *element, const struct gst_tdl_watch *watch,
                             const struct gst_tdl_moment *since);

/* The element message "tdl-object": whether the one that the prompt means is found. */
void gst_tdl_report_object(GstElement *element, const struct gst_tdl_object *object);

/* The element message "tdl-load": the network runs on every so many frames now. */
void gst_tdl_report_load(GstElement *element, guint interval, const gchar *reason);

/* The element message "tdl-model": model=auto is that one now. */
void gst_tdl_report_model(GstElement *element, const gchar *model, const gchar *reason);

/* Read-only properties, in the order of their ids. */
enum gst_tdl_report_property {
    GST_TDL_READONLY_IMPORT_PATH,
    GST_TDL_READONLY_EXPORT_PATH,
    GST_TDL_READONLY_STATS
};
/* The device of device=auto, and why: the fields of struct gst_tdl_device_chosen, and what the GPU
 * failed by, or NULL. */
void gst_tdl_report_device(GstElement *element, const gchar *device, const gchar *reason,
                           guint64 gpu_ns, guint64 cpu_ns, const gchar *fault);
void gst_tdl_report_install(GObjectClass *klass, guint first_id);
/* The value of the last one. */
GstStructure *gst_tdl_report_stats(const struct gst_tdl_stats *stats);

#endif
