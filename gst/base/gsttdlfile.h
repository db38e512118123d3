/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that properties name. */
#ifndef GST_TDL_FILE_H
#define GST_TDL_FILE_H

#include <gst/gst.h>

/* The path that a property's text means: itself, or a file:// URI's. NULL with
 * `error` for other URIs. */
gchar *gst_tdl_file_path(const gchar *text, GError **error);

/* TRUE where the path may be opened and read without waiting for ever: FALSE with `error`
 * for a FIFO, a directory, a device, and for a file system that does not answer within
 * some seconds. What is not there or forbidden is TRUE: opening it says so. Blocking. */
gboolean gst_tdl_file_check(const gchar *path, GError **error);

/* A photograph's orientation, as EXIF counts (1 to 8), by the tags of a JPEG file; 1
 * where nothing is said. Call after the check. Blocking. */
guint gst_tdl_file_orientation(const gchar *path);
/* EXIF's number for GStreamer's tag, "rotate-90"; 1 for none (NULL). */
guint gst_tdl_file_orientation_of_tag(const gchar *tag);

#endif
