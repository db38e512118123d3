/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models that model=auto chooses from: a ladder, from the one that any device holds to the
 * best (gsttdlladder.h decides). */
#ifndef GST_TDL_RUNG_H
#define GST_TDL_RUNG_H

#include "settings/gsttdlsettings.h"

enum gst_tdl_rung {
    GST_TDL_NO_RUNG = -1, /* the model is another one, by its name */
    GST_TDL_RUNG_PERSON = 0,
    GST_TDL_RUNG_MATTING_SMALL,
    GST_TDL_RUNG_MATTING,
    GST_TDL_RUNG_MATTING_HD,
    GST_TDL_RUNGS,
};

/* The model's name. */
const gchar *gst_tdl_rung_name(gint rung);
/* The model that "auto" is in `sources`; modes without a mask have the person model. */
gint gst_tdl_rung_of(const struct gst_tdl_sources *sources);
/* Bits of those to choose from, which is what is fetched, and the person model. 0: the model
 * is another one. Looks for files. */
guint gst_tdl_rungs_here(const struct gst_tdl_sources *sources);

#endif
