/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models by name, with what they want: those of models.ini, which
 * pipelines/fetch-models.sh and tdl-fetch-models fetch. */
#ifndef GST_TDL_PRESET_H
#define GST_TDL_PRESET_H

#include "settings/gsttdlsettings.h"

/* All names, for a sentence. */
gchar *gst_tdl_preset_names(void);

/* Is the file of that name fetched? */
gboolean gst_tdl_preset_exists(const gchar *name);

/* The foreground's name for a model, by that model's name, where it is built in, or the
 * path of its fetched file: interned, or NULL: not known. Blocking. */
const gchar *gst_tdl_preset_finds(const gchar *model);

/* Apply the model's wishes where the user has set nothing. Other names are left alone. */
void gst_tdl_preset_fill(struct gst_tdl_sources *sources);
/* Apply them, and the path of its file takes the name's place ("" is "person"). FALSE
 * with `error` when it is not fetched. */
gboolean gst_tdl_preset_apply(struct gst_tdl_sources *sources, GError **error);

#endif
