/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlshape.h"

#include <math.h>

#define STEP 16 /* px */

gboolean gst_tdl_shape_follows(const gchar *model_size)
{
    return *model_size == '~';
}

static gdouble side(gdouble pixels)
{
    return CLAMP(STEP * round(pixels / STEP), STEP, GST_TDL_MODEL_SIDE);
}

void gst_tdl_shape_fit(gdouble size[2], gdouble aspect)
{
    const gdouble area = size[0] * size[1];
    const gdouble shape = aspect > 0 ? aspect : GST_TDL_LIKELY_ASPECT;

    size[0] = side(sqrt(area * shape));
    size[1] = side(sqrt(area / shape));
}
