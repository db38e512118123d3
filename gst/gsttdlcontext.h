/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One tdl_context per device and process: elements that ask for the same
 * device share its queue, its compiled pipelines and its memory, so a frame
 * goes from one tdlfilter to the next without leaving the GPU. */
#ifndef GST_TDL_CONTEXT_H
#define GST_TDL_CONTEXT_H

#include "gsttdlerror.h"

/* `device` as in tdl_context_params; NULL and "" are "auto". Blocking on first
 * use. Give back by gst_tdl_context_release(). Thread-safe. */
struct tdl_context *gst_tdl_context_acquire(const gchar *device, GError **error);
void gst_tdl_context_release(struct tdl_context **context);

#endif
