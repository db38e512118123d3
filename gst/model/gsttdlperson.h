/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of the person model that sees most in frames of a shape, and how it is shown
 * them. */
#ifndef GST_TDL_PERSON_H
#define GST_TDL_PERSON_H

#include "settings/gsttdlsettings.h"

/* One way to look for people. */
struct gst_tdl_person {
    gdouble most;       /* frames up to this width to height, of square pixels */
    const gchar *model; /* the model's name */
    const gchar *fit;   /* the value of "input-fit" then, unless the user has set it */
};

/* The way for `sources->aspect`, or of that which is likely where it is 0. NULL: the model is
 * not the one that follows the frame, whose name is "person". */
const struct gst_tdl_person *gst_tdl_person_choose(const struct gst_tdl_sources *sources);

#endif
