/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work that may never end, such as reading from a network that is gone: it runs
 * in a thread of its own, and who waits for it may give up. */
#ifndef GST_TDL_DETACHED_H
#define GST_TDL_DETACHED_H

#include <glib.h>

/* Run `run(data)` and wait for its end, but no longer than `timeout_us`.
 * TRUE: it has ended, `data` is the caller's as before. FALSE: it goes on, and
 * `data` is its own: `destroy(data)` follows when it ends, if ever. */
gboolean gst_tdl_detached_run(const gchar *name, void (*run)(gpointer data), gpointer data,
                              GDestroyNotify destroy, gint64 timeout_us);

#endif
