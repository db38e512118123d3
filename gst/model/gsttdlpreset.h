/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models by name, with what they want: those of models.ini, which
 * pipelines/fetch-models.sh and tdl-fetch-models fetch. */
#ifndef GST_TDL_PRESET_H
#define GST_TDL_PRESET_H

#include "gsttdlsettings.h"

/* All names, for a sentence. */
gchar *gst_tdl_preset_names(void);

/* The path of its file takes the name's place ("" is "person"), and what the model wants
 * stands where the user has set nothing. FALSE with `error` when it is not fetched. Other
 * names are left alone. */
gboolean gst_tdl_preset_apply(struct gst_tdl_sources *sources, GError **error);

#endif
