/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlperson.h"

#include "gsttdlrung.h"

/* Squeezed into a square, a wide frame's people become too thin to be found. The limits are
 * where the ways measured equal (doc/performance.md, "The shape of the frame"). */
static const struct gst_tdl_person ways[] = {
    { 1.15, "person-square", "stretch" },
    { 2.05, "person-landscape", "stretch" },
    { G_MAXDOUBLE, "person-square", "letterbox" },
};

const struct gst_tdl_person *gst_tdl_person_choose(const struct gst_tdl_sources *sources)
{
    const gdouble aspect = sources->aspect > 0 ? sources->aspect : GST_TDL_LIKELY_ASPECT;
    guint i = 0;

    if (gst_tdl_rung_of(sources) != GST_TDL_RUNG_PERSON && *sources->model &&
        g_strcmp0(sources->model, "person") != 0)
        return NULL;
    while (aspect > ways[i].most)
        i++;
    return &ways[i];
}
