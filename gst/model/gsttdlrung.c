/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlrung.h"

#include "gsttdlpreset.h"

#include <string.h>

static const gchar *const names[GST_TDL_RUNGS] = { "person", "matting-small", "matting",
                                                   "matting-hd" };

const gchar *gst_tdl_rung_name(gint rung)
{
    return names[rung];
}

static gboolean has_mask(const struct gst_tdl_sources *sources)
{
    return sources->output == GST_TDL_OUTPUT_MASK;
}

gint gst_tdl_rung_of(const struct gst_tdl_sources *sources)
{
    if (strcmp(sources->model, "auto") != 0)
        return GST_TDL_NO_RUNG;
    return has_mask(sources) ? sources->rung : GST_TDL_RUNG_PERSON;
}

guint gst_tdl_rungs_here(const struct gst_tdl_sources *sources)
{
    guint here = 0;

    if (gst_tdl_rung_of(sources) == GST_TDL_NO_RUNG)
        return 0;
    for (gint i = GST_TDL_RUNG_PERSON + 1; i < GST_TDL_RUNGS && has_mask(sources); i++)
        here |= gst_tdl_preset_exists(gst_tdl_rung_name(i)) ? 1u << i : 0;
    return here | 1u << GST_TDL_RUNG_PERSON;
}
