/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file beside a model's that says how it wants its picture: MODEL.modelinfo, as
 * GStreamer's own elements for inference read it since 1.28 (GstAnalyticsModelInfo), here
 * read with every version. */
#ifndef GST_TDL_MODELINFO_H
#define GST_TDL_MODELINFO_H

#include "settings/gsttdlsettings.h"

/* Fill with what the file beside the model at `path` says where the user has set
 * nothing; TRUE, too, without such a file. FALSE with `error`, which names the file, the
 * group and the key. Blocking. */
gboolean gst_tdl_modelinfo_apply(struct gst_tdl_sources *sources, const gchar *path,
                                 GError **error);

#endif
